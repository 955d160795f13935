//! Values as an engine returns them: typed, never strings.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::types::Kind;

/// One cell of a result, or a literal in a statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// NULL.
    Null,
    /// A truth value of an engine that tells it from a number.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A floating-point number; all bits count when it is written and read again.
    Real(#[serde(with = "exact_real")] f64),
    /// An exact number that is no `i64`: its canonical decimal digits.
    Decimal(String),
    /// A text.
    Text(String),
    /// Bytes, written as hexadecimal digits.
    Blob(#[serde(with = "hex_bytes")] Vec<u8>),
    /// Everything else (dates, arrays, text that is not UTF-8): its kind and its canonical spelling.
    Other {
        /// The family of its type.
        kind: Kind,
        /// Its spelling, the same for equal values.
        text: String,
    },
}

impl Value {
    /// Whether it is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The family that its type belongs to; [`Kind::Any`] for NULL.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Any,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Real(_) => Kind::Real,
            Value::Decimal(_) => Kind::Decimal,
            Value::Text(_) => Kind::Text,
            Value::Blob(_) => Kind::Blob,
            Value::Other { kind, .. } => *kind,
        }
    }

    /// The integer a count or a truth value came back as.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(*i),
            Value::Bool(b) => Some(i64::from(*b)),
            Value::Real(r) if r.fract() == 0.0 && r.abs() < 9e15 => Some(*r as i64),
            Value::Decimal(digits) => digits.parse().ok(),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("NULL"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            // Debug prints the shortest digits that read back to the same float, and always a point.
            Value::Real(r) => write!(f, "{r:?}"),
            Value::Decimal(digits) => f.write_str(digits),
            Value::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Value::Blob(bytes) => write!(f, "x'{}'", hex(bytes)),
            Value::Other { text, .. } => f.write_str(text),
        }
    }
}

/// Bytes as lowercase hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// The bytes that hexadecimal digits stand for; `None` if the text is anything else.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || text.len() % 2 == 1 {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// JSON has no NaN and no infinities; they are written as words.
mod exact_real {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Spelling {
        Number(f64),
        Word(String),
    }

    pub fn serialize<S: Serializer>(real: &f64, to: S) -> Result<S::Ok, S::Error> {
        if real.is_finite() { Spelling::Number(*real) } else { Spelling::Word(real.to_string()) }
            .serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        match Spelling::deserialize(from)? {
            Spelling::Number(real) => Ok(real),
            Spelling::Word(word) => word.parse().map_err(D::Error::custom),
        }
    }
}

mod hex_bytes {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::hex(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        super::unhex(&text).ok_or_else(|| D::Error::custom("not a string of hexadecimal bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_survives_json() {
        let values = vec![
            Value::Null,
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Real(0.1 + 0.2),
            Value::Real(f64::NEG_INFINITY),
            Value::Real(5e-324),
            Value::Decimal("18446744073709551616".into()),
            Value::Text("it's \u{1F980}\0".into()),
            Value::Blob(vec![0, 255, 16]),
            Value::Other { kind: Kind::Date, text: "2020-02-30".into() },
        ];
        let json = serde_json::to_string(&values).unwrap();
        let back: Vec<Value> = serde_json::from_str(&json).unwrap();
        assert_eq!(values, back);

        let nan = serde_json::to_string(&Value::Real(f64::NAN)).unwrap();
        let back: Value = serde_json::from_str(&nan).unwrap();
        assert!(matches!(back, Value::Real(r) if r.is_nan()));
    }
}
