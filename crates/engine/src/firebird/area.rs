//! Rows on their way in and out: Firebird's descriptor area, and the values that it describes.

use std::ffi::c_short;

use dissent_core::sql::{Kind, Value};

use super::api::Quad;
use crate::spell::{self, Unit, other};

/// Why a parameter cannot be sent: its length has 16 bits.
pub fn too_long(values: &[Value]) -> Option<String> {
    let most = c_short::MAX as usize;
    let longest = values.iter().map(|value| bytes_of(value).len()).max().unwrap_or_default();
    (longest > most).then(|| format!("a parameter of {longest} bytes; Firebird takes {most}"))
}

/// `XSQLDA`: a head, followed by descriptions of columns.
#[repr(C)]
#[allow(dead_code, reason = "the layout is Firebird's")]
pub struct Area {
    version: c_short,
    id: [u8; 8],
    bytes: i32,
    room: c_short,
    used: c_short,
}

/// `XSQLVAR`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "the layout is Firebird's")]
struct Column {
    ty: c_short,
    scale: c_short,
    subtype: c_short,
    length: c_short,
    data: *mut u8,
    indicator: *mut c_short,
    names: [[u8; 34]; 4],
}

/// Eight bytes at a time, because pointers are in it.
const HEAD: usize = size_of::<Area>().div_ceil(8);
const COLUMN: usize = size_of::<Column>() / 8;
const AREA_VERSION: c_short = 1;

const TEXT: c_short = 452;
const VARYING: c_short = 448;
const SHORT: c_short = 500;
const LONG: c_short = 496;
const INT64: c_short = 580;
const INT128: c_short = 32752;
const FLOAT: c_short = 482;
const DOUBLE: c_short = 480;
const BOOLEAN: c_short = 32764;
const DATE: c_short = 570;
const TIME: c_short = 560;
const TIMESTAMP: c_short = 510;
const BLOB: c_short = 520;

/// Character sets, by number: bytes, and the one of our connection.
const OCTETS: c_short = 1;
const UTF8: c_short = 4;
/// Dates are days since 1858-11-17.
const EPOCH: i32 = 40_587;
/// The first bytes of a value of varying length are the length.
const PREFIX: usize = 2;

/// An area with the memory that its columns point to.
pub struct Row {
    words: Vec<u64>,
    data: Vec<Vec<u64>>,
    indicators: Vec<c_short>,
}

/// A value, or where it is.
pub enum Cell {
    Value(Value),
    /// A blob that has to be read.
    Blob {
        id: Quad,
        is_text: bool,
    },
}

impl Row {
    /// Room for the descriptions of so many columns.
    pub fn with_room(columns: usize) -> Row {
        let mut row =
            Row { words: vec![0; HEAD + COLUMN * columns.max(1)], data: Vec::new(), indicators: Vec::new() };
        let head = row.head();
        (head.version, head.room) = (AREA_VERSION, columns as c_short);
        row
    }

    fn head(&mut self) -> &mut Area {
        // SAFETY: the words begin with a head, and are aligned for it.
        unsafe { &mut *self.words.as_mut_ptr().cast::<Area>() }
    }

    pub fn area(&mut self) -> *mut Area {
        self.head()
    }

    /// How many columns there are; more than there is room for if it has to be described again.
    pub fn columns(&mut self) -> usize {
        self.head().used as usize
    }

    pub fn room(&mut self) -> usize {
        self.head().room as usize
    }

    fn column(&mut self, at: usize) -> &mut Column {
        assert!(HEAD + COLUMN * (at + 1) <= self.words.len());
        // SAFETY: inside the words, as was just checked, and aligned: head and columns are whole words.
        unsafe { &mut *self.words.as_mut_ptr().add(HEAD + COLUMN * at).cast::<Column>() }
    }

    /// Memory for a row of what was described.
    pub fn prepare_for_output(&mut self) {
        let columns = self.columns();
        self.indicators = vec![0; columns];
        self.data = (0..columns)
            .map(|at| vec![0; (self.column(at).length as usize + PREFIX).div_ceil(8) + 1])
            .collect();
        for at in 0..columns {
            let (data, indicator) = (self.data[at].as_mut_ptr(), &raw mut self.indicators[at]);
            let column = self.column(at);
            // The last bit says that it may be NULL.
            column.ty |= 1;
            (column.data, column.indicator) = (data.cast(), indicator);
        }
    }

    /// Puts these values where the parameters are; each brings its own type, which the engine converts.
    pub fn fill(&mut self, values: &[Value]) {
        self.indicators = vec![0; values.len()];
        self.data = values.iter().map(|value| words(&bytes_of(value))).collect();
        for (at, value) in values.iter().enumerate() {
            if value.is_null() {
                self.indicators[at] = -1;
            }
            let length = bytes_of(value).len() as c_short;
            let (data, indicator) = (self.data[at].as_mut_ptr(), &raw mut self.indicators[at]);
            let column = self.column(at);
            match value {
                Value::Null => column.ty |= 1,
                value => {
                    let (ty, subtype) = type_of(value);
                    (column.ty, column.subtype, column.scale, column.length) = (ty | 1, subtype, 0, length);
                    if ty == VARYING {
                        column.length = length - PREFIX as c_short;
                    }
                }
            }
            (column.data, column.indicator) = (data.cast(), indicator);
        }
    }

    /// A value of the row that was fetched last.
    pub fn cell(&mut self, at: usize) -> Cell {
        if self.indicators[at] < 0 {
            return Cell::Value(Value::Null);
        }
        let Column { ty, scale, subtype, length, .. } = *self.column(at);
        let bytes: Vec<u8> = self.data[at].iter().flat_map(|word| word.to_le_bytes()).collect();
        Cell::Value(match ty & !1 {
            SHORT => number(i16::from_le_bytes(array(&bytes, 0)).into(), scale),
            LONG => number(i32::from_le_bytes(array(&bytes, 0)).into(), scale),
            INT64 => number(i64::from_le_bytes(array(&bytes, 0)).into(), scale),
            INT128 => number(i128::from_le_bytes(array(&bytes, 0)), scale),
            FLOAT => Value::Real(f32::from_le_bytes(array(&bytes, 0)).into()),
            DOUBLE => Value::Real(f64::from_le_bytes(array(&bytes, 0))),
            BOOLEAN => Value::Bool(bytes[0] != 0),
            DATE => other(Kind::Date, spell::date(i32::from_le_bytes(array(&bytes, 0)) - EPOCH)),
            TIME => other(Kind::Time, spell::time(micros(u32::from_le_bytes(array(&bytes, 0))))),
            TIMESTAMP => {
                let days = i64::from(i32::from_le_bytes(array(&bytes, 0)) - EPOCH);
                let time = micros(u32::from_le_bytes(array(&bytes, 4)));
                let text = spell::timestamp(days * 86_400_000_000 + time, Unit::Micros, false);
                other(Kind::Timestamp, text)
            }
            TEXT => text(&bytes[..length as usize], subtype, true),
            VARYING => {
                let length = u16::from_le_bytes(array(&bytes, 0)) as usize;
                text(&bytes[PREFIX..PREFIX + length], subtype, false)
            }
            BLOB => {
                let [high, low] = [array(&bytes, 0), array(&bytes, 4)];
                let id = Quad { high: i32::from_le_bytes(high), low: u32::from_le_bytes(low) };
                return Cell::Blob { id, is_text: subtype == 1 };
            }
            unknown => other(Kind::Any, format!("a value of type {unknown}")),
        })
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

/// Without zeros at its end: 1.50 and 1.5 are one value.
fn number(mut number: i128, scale: c_short) -> Value {
    let mut digits = usize::try_from(-scale).unwrap_or(0);
    if digits == 0 {
        return spell::signed(number);
    }
    while digits > 0 && number % 10 == 0 {
        (number, digits) = (number / 10, digits - 1);
    }
    spell::decimal(number, digits)
}

/// Times are told in tenths of milliseconds.
fn micros(time: u32) -> i64 {
    i64::from(time) * 100
}

/// A text of fixed length comes with blanks for all bytes that its characters could have taken.
fn text(bytes: &[u8], subtype: c_short, fixed: bool) -> Value {
    match subtype & 0xff {
        OCTETS => Value::Blob(bytes.to_vec()),
        set if fixed => {
            let width = if set == UTF8 { 4 } else { 1 };
            let text = String::from_utf8_lossy(bytes);
            let characters: String = text.chars().take(bytes.len() / width).collect();
            spell::text(characters.trim_end_matches(' ').as_bytes())
        }
        _ => spell::text(bytes),
    }
}

fn type_of(value: &Value) -> (c_short, c_short) {
    match value {
        Value::Int(_) => (INT64, 0),
        Value::Real(_) => (DOUBLE, 0),
        Value::Bool(_) => (BOOLEAN, 0),
        Value::Blob(_) => (VARYING, OCTETS),
        _ => (VARYING, UTF8),
    }
}

fn bytes_of(value: &Value) -> Vec<u8> {
    let varying = |bytes: &[u8]| [&(bytes.len() as u16).to_le_bytes()[..], bytes].concat();
    match value {
        Value::Null => vec![0; 8],
        Value::Int(int) => int.to_le_bytes().to_vec(),
        Value::Real(real) => real.to_le_bytes().to_vec(),
        Value::Bool(truth) => vec![u8::from(*truth)],
        Value::Blob(bytes) => varying(bytes),
        Value::Decimal(text) | Value::Text(text) | Value::Other { text, .. } => varying(text.as_bytes()),
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_that_of_the_interface() {
        assert_eq!((HEAD * 8, size_of::<Column>()), (24, 160));
    }

    #[test]
    fn texts_of_fixed_length_lose_their_blanks() {
        assert_eq!(text("é       ".as_bytes(), UTF8, true), Value::Text("é".into()));
        assert_eq!(text(b"a ", UTF8, false), Value::Text("a ".into()));
        assert_eq!(text(b"a ", OCTETS, true), Value::Blob(b"a ".to_vec()));
    }
}
