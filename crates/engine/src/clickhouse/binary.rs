//! Results in ClickHouse's binary format: names and types, then rows of values back to back.

use dissent_core::engine::Rows;
use dissent_core::sql::value::hex;
use dissent_core::sql::{Kind, Value};

use super::types::Type;
use crate::spell::{self, Unit, other};

pub const FORMAT: &str = "RowBinaryWithNamesAndTypes";

/// Why a result could not be read.
pub enum Unread {
    /// It holds more rows than it may.
    TooLong,
    /// A type that is not known, or bytes that are no such result.
    Strange(String),
}

pub fn read(bytes: &[u8], most_rows: usize) -> Result<Rows, Unread> {
    let mut bytes = Bytes(bytes);
    let cut = || Unread::Strange("it ends too early".to_string());
    let columns = bytes.length().ok_or_else(cut)?;
    let mut types = Vec::with_capacity(columns);
    for _ in 0..columns {
        bytes.text().ok_or_else(cut)?;
    }
    for _ in 0..columns {
        let name = String::from_utf8_lossy(bytes.text().ok_or_else(cut)?).into_owned();
        types.push(Type::parse(&name).ok_or(Unread::Strange(name))?);
    }
    let mut values = Vec::new();
    while !bytes.0.is_empty() && columns > 0 {
        if values.len() / columns >= most_rows {
            return Err(Unread::TooLong);
        }
        for ty in &types {
            values.push(bytes.value(ty).ok_or_else(cut)?);
        }
    }
    Ok(Rows { columns, values })
}

/// What is left to read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of which each byte holds seven bits.
    fn length(&mut self) -> Option<usize> {
        let mut length = 0;
        for shift in (0..63).step_by(7) {
            let byte = *self.take(1)?.first()?;
            length |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(length);
            }
        }
        None
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    fn unsigned(&mut self, bytes: usize) -> Option<u128> {
        let taken = self.take(bytes)?;
        Some(taken.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }

    fn signed(&mut self, bytes: usize) -> Option<i128> {
        let unused = 128 - 8 * bytes;
        Some((self.unsigned(bytes)? << unused) as i128 >> unused)
    }

    fn value(&mut self, ty: &Type) -> Option<Value> {
        Some(match ty {
            Type::Bool => Value::Bool(self.unsigned(1)? != 0),
            // Wider than any number here: its bytes tell it apart.
            Type::Int { bytes: 32, .. } | Type::Decimal { bytes: 32, .. } => {
                other(Kind::Decimal, format!("256 bits x'{}'", hex(self.take(32)?)))
            }
            Type::Int { bytes, signed: true } => spell::signed(self.signed(*bytes)?),
            Type::Int { bytes, signed: false } => spell::unsigned(self.unsigned(*bytes)?),
            Type::Float { bytes: 4 } => Value::Real(f32::from_bits(self.unsigned(4)? as u32).into()),
            Type::Float { .. } => Value::Real(f64::from_bits(self.unsigned(8)? as u64)),
            Type::Decimal { bytes, scale } => spell::decimal(self.signed(*bytes)?, *scale),
            Type::Text => spell::text(self.text()?),
            Type::FixedText(length) => spell::text(self.take(*length)?),
            Type::Date { bytes: 2 } => other(Kind::Date, spell::date(self.unsigned(2)? as i32)),
            Type::Date { .. } => other(Kind::Date, spell::date(self.signed(4)? as i32)),
            Type::DateTime => {
                let text = spell::timestamp(self.unsigned(4)? as i64, Unit::Seconds, false);
                other(Kind::Timestamp, text)
            }
            Type::DateTime64 { digits } => {
                let nanos = (self.signed(8)? as i64).checked_mul(10_i64.pow(9 - digits.min(&9)));
                let text = nanos.map(|nanos| spell::timestamp(nanos, Unit::Nanos, false));
                other(Kind::Timestamp, text.unwrap_or_else(|| "out of range".to_string()))
            }
            Type::Time => other(Kind::Time, spell::time(self.signed(4)? as i64 * 1_000_000)),
            Type::Uuid => {
                // Two halves, each with its bytes reversed.
                let (high, low) = (self.unsigned(8)?, self.unsigned(8)?);
                other(Kind::Uuid, spell::uuid(high << 64 | low))
            }
            Type::Enum { bytes, labels } => {
                let number = self.signed(*bytes)? as i64;
                let label = labels.iter().find(|(known, _)| *known == number);
                other(Kind::Text, label.map_or_else(|| number.to_string(), |(_, label)| label.clone()))
            }
            Type::Interval => other(Kind::Interval, self.signed(8)?.to_string()),
            Type::Nothing => Value::Null,
            Type::Nullable(inner) => match self.unsigned(1)? {
                0 => self.value(inner)?,
                _ => Value::Null,
            },
            Type::Array(inner) => {
                let count = self.length()?;
                let items = (0..count).map(|_| self.value(inner)).collect::<Option<Vec<_>>>()?;
                other(Kind::Array, format!("[{}]", joined(&items)))
            }
            Type::Tuple(types) => {
                let items = types.iter().map(|ty| self.value(ty)).collect::<Option<Vec<_>>>()?;
                other(Kind::Array, format!("({})", joined(&items)))
            }
            Type::Map(entry) => {
                let count = self.length()?;
                let mut items = Vec::new();
                for _ in 0..count {
                    items.push(format!("{}: {}", self.value(&entry.0)?, self.value(&entry.1)?));
                }
                other(Kind::Array, format!("{{{}}}", items.join(", ")))
            }
        })
    }
}

fn joined(items: &[Value]) -> String {
    items.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_read() {
        let bytes = b"\x02\x01a\x01b\x0fNullable(Int32)\x06String\x00\xff\xff\xff\xff\x01a\x01\x01b";
        let Ok(rows) = read(bytes, 2) else { panic!() };
        let text = |text: &str| Value::Text(text.to_string());
        assert_eq!(rows.values, [Value::Int(-1), text("a"), Value::Null, text("b")]);
        assert!(matches!(read(bytes, 1), Err(Unread::TooLong)));
        assert!(matches!(read(&bytes[..bytes.len() - 1], 2), Err(Unread::Strange(_))));
    }
}
