//! Constants: boundary values, and above all values that occur in the data.

use super::{Generator, choices};
use crate::dialect::Feature;
use crate::sql::{DataType, Kind, Value};

choices! {
    odds {
        NULL = "value.null": 8,
        TRUE = "value.true": 50,
        WHOLE_DECIMAL = "value.decimal.whole": 60,
        /// A value of a kind that the column is not declared with.
        CROSSING = "value.crossing": 15,
    }
    choose {
        ANY_KIND: Kind = "value.kind" { Int: 45, Text: 35, Real: 15, Blob: 5 },
    }
    choose enum {
        INT: Int = "value.int" { Small: 6, Medium: 1, Boundary: 3 },
        REAL: Real = "value.real" { Quarters: 5, Boundary: 5 },
        TEXT: Text = "value.text" { Known: 6, Number: 2, Letters: 2 },
    }
}

const INTS: &[i64] = &[
    0,
    1,
    -1,
    2,
    3,
    10,
    -5,
    127,
    255,
    256,
    -128,
    32767,
    65536,
    2147483647,
    -2147483648,
    4294967296,
    9007199254740993,
    i64::MAX,
    i64::MIN,
];

const REALS: &[f64] = &[
    0.0,
    0.5,
    1.0,
    -1.0,
    1.5,
    -0.1,
    0.1,
    2.0,
    1e10,
    1e-7,
    123456.789,
    -1e300,
    1e300,
    9007199254740992.0,
    9.223372036854776e18,
    -9.223372036854776e18,
    5e-324,
];

/// Longer than what engines keep in place.
const LONG: &str = "abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc\
                    abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc\
                    abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc";

const TEXTS: &[&str] = &[
    "",
    "a",
    "A",
    "b",
    "ab",
    "aB",
    "Ab",
    " ",
    "a ",
    " a",
    "0",
    "1",
    "-1",
    "1.0",
    "0.5",
    "1e3",
    "1a",
    "abc",
    "%",
    "_",
    "a%",
    "%a",
    "_b",
    "*",
    "a*",
    "?",
    "[a]",
    "./",
    "null",
    "é",
    "É",
    "ß",
    "x'61'",
    "日本",
    "😀",
    "a😀b",
    "e\u{301}",
    LONG,
    "0x1F",
    "+1",
    "NaN",
    "inf",
    "2020-02-29",
    "\t",
    "\\",
    "'",
    "\"",
];

const BLOBS: &[&[u8]] = &[b"", b"a", b"A", b"ab", b"1", b"\0", b"0", b"\xff\xfe"];

const DATES: &[&str] = &["2020-02-29", "1970-01-01", "2000-01-01", "1999-12-31", "2021-06-15"];

const TIMES: &[&str] = &["00:00:00", "23:59:59", "12:30:00", "01:02:03"];

const INTERVALS: &[&str] = &["1 day", "0 days", "1 month", "2 hours"];

const UUIDS: &[&str] = &[
    "00000000-0000-0000-0000-000000000000",
    "6fa459ea-ee8a-3ca4-894e-db77e160355e",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
];

const JSONS: &[&str] = &["null", "1", "\"a\"", "[]", "[1, 2]", "{}", "{\"a\": 1}", "{\"a\": [1, null]}"];

const ARRAYS: &[&str] = &["[]", "[1]", "[1, 2]", "[NULL]"];

fn other(kind: Kind, text: &str) -> Value {
    Value::Other { kind, text: text.to_string() }
}

impl Generator<'_> {
    /// A value of the kind; `Any` is any of them. Sometimes NULL.
    pub fn value(&mut self, kind: Kind) -> Value {
        if self.odds(&NULL) { Value::Null } else { self.some_value(kind) }
    }

    /// A value of the kind that is not NULL.
    pub fn some_value(&mut self, kind: Kind) -> Value {
        match kind {
            Kind::Bool if self.dialect.can(Feature::BoolLiterals) => Value::Bool(self.odds(&TRUE)),
            Kind::Bool => Value::Int(self.rng.below(2) as i64),
            Kind::Int => Value::Int(self.int()),
            Kind::Real => Value::Real(self.real()),
            // Digits that every fixed-point type of a schema holds.
            Kind::Decimal if self.dialect.is_typed() => {
                let hundredths = self.int().clamp(-999_999, 999_999);
                let sign = if hundredths < 0 { "-" } else { "" };
                let size = hundredths.abs();
                Value::Decimal(format!("{sign}{}.{:02}", size / 100, size % 100))
            }
            Kind::Decimal if self.odds(&WHOLE_DECIMAL) => Value::Int(self.int()),
            Kind::Decimal => Value::Real(self.real()),
            Kind::Blob => Value::Blob(self.rng.pick(BLOBS).to_vec()),
            Kind::Any => {
                let kind = self.choose(&ANY_KIND);
                self.some_value(kind)
            }
            Kind::Text => Value::Text(self.text()),
            Kind::Date => self.spelled(kind, DATES),
            Kind::Time => self.spelled(kind, TIMES),
            Kind::Timestamp => {
                let (date, time) = (self.rng.pick(DATES), self.rng.pick(TIMES));
                other(kind, &format!("{date} {time}"))
            }
            Kind::Interval => self.spelled(kind, INTERVALS),
            Kind::Uuid => self.spelled(kind, UUIDS),
            Kind::Json => self.spelled(kind, JSONS),
            Kind::Array => self.spelled(kind, ARRAYS),
        }
    }

    /// A value to store in a column of this type: its own kind and within its range, or, where the
    /// engine takes anything, sometimes not.
    pub fn stored_value(&mut self, ty: &DataType, crossing: bool) -> Value {
        if crossing && self.odds(&CROSSING) {
            return self.some_value(Kind::Any);
        }
        let mut value = self.some_value(ty.kind);
        if let Some(entry) = self.dialect.type_entry(ty) {
            match (&mut value, entry.range, entry.length) {
                (Value::Int(int), Some((low, high)), _) => *int = (*int).clamp(low, high),
                (Value::Real(real), Some((low, high)), _) => {
                    // What is too small for the type is as bad as what is too large.
                    *real = if real.abs() < 1e-30 { 0.0 } else { real.clamp(low as f64, high as f64) };
                }
                (Value::Text(text), _, Some(length)) => *text = text.chars().take(length).collect(),
                _ => {}
            }
        }
        value
    }

    fn spelled(&mut self, kind: Kind, texts: &[&str]) -> Value {
        let text: &str = texts[self.rng.below(texts.len())];
        other(kind, text)
    }

    fn int(&mut self) -> i64 {
        match self.choose(&INT) {
            Int::Small => self.rng.below(8) as i64 - 2,
            Int::Medium => self.rng.below(2000) as i64 - 1000,
            Int::Boundary => *self.rng.pick(INTS),
        }
    }

    fn real(&mut self) -> f64 {
        match self.choose(&REAL) {
            Real::Quarters => (self.rng.below(40) as f64 - 10.0) / 4.0,
            Real::Boundary => *self.rng.pick(REALS),
        }
    }

    fn text(&mut self) -> String {
        match self.choose(&TEXT) {
            Text::Known => self.rng.pick(TEXTS).to_string(),
            Text::Number => self.int().to_string(),
            Text::Letters => {
                let letters = b"aAbB01 %_.";
                (0..self.rng.between(1, 4)).map(|_| char::from(*self.rng.pick(letters))).collect()
            }
        }
    }
}
