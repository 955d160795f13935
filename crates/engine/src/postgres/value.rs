//! Values as the server writes them, by the type it reports.

use dissent_core::sql::{DataType, Kind, Value};

/// The type numbers that never change, from the server's catalog.
mod oid {
    pub const BOOL: u32 = 16;
    pub const BYTEA: u32 = 17;
    pub const CHAR: u32 = 18;
    pub const NAME: u32 = 19;
    pub const INT8: u32 = 20;
    pub const INT2: u32 = 21;
    pub const INT4: u32 = 23;
    pub const TEXT: u32 = 25;
    pub const OID: u32 = 26;
    pub const JSON: u32 = 114;
    pub const FLOAT4: u32 = 700;
    pub const FLOAT8: u32 = 701;
    pub const UNKNOWN: u32 = 705;
    pub const BPCHAR: u32 = 1042;
    pub const VARCHAR: u32 = 1043;
    pub const DATE: u32 = 1082;
    pub const TIME: u32 = 1083;
    pub const TIMESTAMP: u32 = 1114;
    pub const TIMESTAMPTZ: u32 = 1184;
    pub const INTERVAL: u32 = 1186;
    pub const TIMETZ: u32 = 1266;
    pub const NUMERIC: u32 = 1700;
    pub const UUID: u32 = 2950;
    pub const JSONB: u32 = 3802;
}

/// The formats of values, as the protocol numbers them.
pub const TEXT_FORMAT: i16 = 0;
const BINARY_FORMAT: i16 = 1;

/// The number of a parameter's type; 0 leaves it to the server.
pub fn oid_of(ty: &DataType) -> u32 {
    // `VARCHAR(10)` is `VARCHAR` to the protocol.
    let name = ty.name.split('(').next().unwrap_or_default().trim().to_ascii_uppercase();
    match name.as_str() {
        "SMALLINT" | "INT2" => oid::INT2,
        "INTEGER" | "INT" | "INT4" => oid::INT4,
        "BIGINT" | "INT8" => oid::INT8,
        "REAL" | "FLOAT4" => oid::FLOAT4,
        "DOUBLE PRECISION" | "FLOAT8" => oid::FLOAT8,
        "CHAR" | "CHARACTER" | "BPCHAR" => oid::BPCHAR,
        "VARCHAR" | "CHARACTER VARYING" => oid::VARCHAR,
        "TIMESTAMPTZ" => oid::TIMESTAMPTZ,
        "TIMETZ" => oid::TIMETZ,
        "JSON" => oid::JSON,
        _ => match ty.kind {
            Kind::Bool => oid::BOOL,
            Kind::Int => oid::INT8,
            Kind::Real => oid::FLOAT8,
            Kind::Decimal => oid::NUMERIC,
            Kind::Text => oid::TEXT,
            Kind::Blob => oid::BYTEA,
            Kind::Date => oid::DATE,
            Kind::Time => oid::TIME,
            Kind::Timestamp => oid::TIMESTAMP,
            Kind::Interval => oid::INTERVAL,
            Kind::Json => oid::JSONB,
            Kind::Uuid => oid::UUID,
            Kind::Any | Kind::Array => 0,
        },
    }
}

/// A parameter's value as the server reads it; `None` is NULL.
pub struct Written {
    pub format: i16,
    pub bytes: Option<Vec<u8>>,
}

/// Bytes go as they are: H2 takes `\x00ff` for six letters. Everything else is text.
pub fn write(value: &Value) -> Written {
    let text = match value {
        Value::Null => return Written { format: TEXT_FORMAT, bytes: None },
        Value::Blob(bytes) => return Written { format: BINARY_FORMAT, bytes: Some(bytes.clone()) },
        Value::Bool(truth) => truth.to_string(),
        Value::Int(int) => int.to_string(),
        Value::Real(real) if real.is_infinite() => {
            if *real > 0.0 { "Infinity" } else { "-Infinity" }.to_string()
        }
        Value::Real(real) => format!("{real:?}"),
        Value::Decimal(text) | Value::Text(text) | Value::Other { text, .. } => text.clone(),
    };
    Written { format: TEXT_FORMAT, bytes: Some(text.into_bytes()) }
}

/// A cell that is not NULL. What the type does not explain is kept as it is written.
pub fn read(type_oid: u32, bytes: &[u8]) -> Value {
    let text = String::from_utf8_lossy(bytes);
    let other = |kind| Value::Other { kind, text: text.to_string() };
    let read = match type_oid {
        oid::BOOL => match &*text {
            "t" => Some(Value::Bool(true)),
            "f" => Some(Value::Bool(false)),
            _ => None,
        },
        oid::INT2 | oid::INT4 | oid::INT8 | oid::OID => text.parse().ok().map(Value::Int),
        // The shortest digits of the narrower float: they name another number among the wider ones.
        oid::FLOAT4 => text.parse().ok().map(|real: f32| Value::Real(f64::from(real))),
        oid::FLOAT8 => text.parse().ok().map(Value::Real),
        oid::NUMERIC => Some(decimal(&text)),
        oid::BYTEA => text.strip_prefix("\\x").and_then(unhex).or_else(|| unescaped(bytes)).map(Value::Blob),
        oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME | oid::CHAR | oid::UNKNOWN => {
            return Value::Text(text.into_owned());
        }
        _ => None,
    };
    read.unwrap_or_else(|| other(kind(type_oid, &text)))
}

/// Bytes as servers write them that know nothing of hexadecimal digits: `\\` and `\377`.
fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = match (first, after) {
            (b'\\', [b'\\', after @ ..]) => {
                bytes.push(b'\\');
                after
            }
            (b'\\', [a, b, c, after @ ..]) => {
                let digits = std::str::from_utf8(&[*a, *b, *c]).ok().map(str::to_string)?;
                bytes.push(u8::from_str_radix(&digits, 8).ok()?);
                after
            }
            (b'\\', _) => return None,
            (plain, after) => {
                bytes.push(*plain);
                after
            }
        };
    }
    Some(bytes)
}

fn kind(type_oid: u32, text: &str) -> Kind {
    match type_oid {
        oid::DATE => Kind::Date,
        oid::TIME | oid::TIMETZ => Kind::Time,
        oid::TIMESTAMP | oid::TIMESTAMPTZ => Kind::Timestamp,
        oid::INTERVAL => Kind::Interval,
        oid::UUID => Kind::Uuid,
        oid::JSON | oid::JSONB => Kind::Json,
        _ if text.starts_with('{') && text.ends_with('}') => Kind::Array,
        _ => Kind::Any,
    }
}

/// Without zeros at its end: 1.50 and 1.5 are one value. What has no digits (NaN, infinity) is a float.
fn decimal(text: &str) -> Value {
    if !text.ends_with(|last: char| last.is_ascii_digit()) {
        return text.parse().map_or_else(|_| Value::Decimal(text.to_string()), Value::Real);
    }
    let trimmed = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    };
    Value::Decimal(trimmed.to_string())
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let pair = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_the_types_they_are_declared_with() {
        let oid = |name: &'static str, kind| oid_of(&DataType::new(name, kind));
        assert_eq!(oid("SMALLINT", Kind::Int), oid::INT2);
        assert_eq!(oid("VARCHAR(10)", Kind::Text), oid::VARCHAR);
        assert_eq!(oid("NUMERIC", Kind::Decimal), oid::NUMERIC);
        assert_eq!(oid("", Kind::Any), 0);
    }

    #[test]
    fn bytes_are_written_as_they_are_and_the_rest_as_text() {
        let written = |value: Value| {
            let written = write(&value);
            (written.format, written.bytes)
        };
        assert_eq!(written(Value::Null), (TEXT_FORMAT, None));
        assert_eq!(written(Value::Int(-7)), (TEXT_FORMAT, Some(b"-7".to_vec())));
        assert_eq!(written(Value::Real(f64::NEG_INFINITY)), (TEXT_FORMAT, Some(b"-Infinity".to_vec())));
        assert_eq!(written(Value::Blob(vec![0, 255])), (BINARY_FORMAT, Some(vec![0, 255])));
    }

    #[test]
    fn values_are_read_by_their_type() {
        let text = |text: &str| Value::Text(text.into());
        let decimal = |digits: &str| Value::Decimal(digits.into());
        for (type_oid, written, expected) in [
            (oid::BOOL, "t", Value::Bool(true)),
            (oid::INT8, "-9223372036854775808", Value::Int(i64::MIN)),
            (oid::FLOAT4, "0.1", Value::Real(f64::from(0.1f32))),
            (oid::FLOAT8, "-Infinity", Value::Real(f64::NEG_INFINITY)),
            (oid::NUMERIC, "1.500", decimal("1.5")),
            (oid::NUMERIC, "100", decimal("100")),
            (oid::NUMERIC, "0.00", decimal("0")),
            (oid::NUMERIC, "Infinity", Value::Real(f64::INFINITY)),
            (oid::BYTEA, "\\x00ff", Value::Blob(vec![0, 255])),
            (oid::BPCHAR, "a  ", text("a  ")),
            (oid::DATE, "2020-02-29", Value::Other { kind: Kind::Date, text: "2020-02-29".into() }),
            (1007, "{1,NULL}", Value::Other { kind: Kind::Array, text: "{1,NULL}".into() }),
        ] {
            assert_eq!(read(type_oid, written.as_bytes()), expected, "{type_oid} {written}");
        }
        assert!(matches!(read(oid::NUMERIC, b"NaN"), Value::Real(nan) if nan.is_nan()));
    }
}
