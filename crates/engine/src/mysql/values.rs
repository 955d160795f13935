//! Cells of the text protocol as typed values, by the type of their column.

use dissent_core::sql::{Kind, Value};
use mysql::Column;
use mysql::consts::{ColumnFlags, ColumnType};

/// The character set of bytes that are no text.
const BINARY: u16 = 63;

/// A cell; `None` is NULL.
pub fn value(cell: Option<Vec<u8>>, column: &Column) -> Value {
    use ColumnType::*;
    let Some(bytes) = cell else { return Value::Null };
    match column.column_type() {
        MYSQL_TYPE_TINY | MYSQL_TYPE_SHORT | MYSQL_TYPE_INT24 | MYSQL_TYPE_LONG | MYSQL_TYPE_LONGLONG
        | MYSQL_TYPE_YEAR => integer(bytes),
        MYSQL_TYPE_DECIMAL | MYSQL_TYPE_NEWDECIMAL => decimal(bytes),
        MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE => real(bytes),
        MYSQL_TYPE_DATE | MYSQL_TYPE_NEWDATE => other(Kind::Date, bytes),
        MYSQL_TYPE_TIME | MYSQL_TYPE_TIME2 => moment(Kind::Time, bytes),
        MYSQL_TYPE_DATETIME | MYSQL_TYPE_DATETIME2 | MYSQL_TYPE_TIMESTAMP | MYSQL_TYPE_TIMESTAMP2 => {
            moment(Kind::Timestamp, bytes)
        }
        MYSQL_TYPE_JSON => other(Kind::Json, bytes),
        MYSQL_TYPE_BIT | MYSQL_TYPE_GEOMETRY | MYSQL_TYPE_VECTOR => Value::Blob(bytes),
        _ if is_binary(column) => Value::Blob(bytes),
        _ => text(bytes),
    }
}

/// ENUM and SET are words even if they are marked as binary.
fn is_binary(column: &Column) -> bool {
    column.character_set() == BINARY
        && !column.flags().intersects(ColumnFlags::ENUM_FLAG | ColumnFlags::SET_FLAG)
}

fn text(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Value::Text(text),
        Err(error) => Value::Blob(error.into_bytes()),
    }
}

fn other(kind: Kind, bytes: Vec<u8>) -> Value {
    Value::Other { kind, text: String::from_utf8_lossy(&bytes).into_owned() }
}

/// Without the zeros that only tell how finely it is kept: a set operator makes DATETIME and DATETIME(3) one type.
fn moment(kind: Kind, bytes: Vec<u8>) -> Value {
    let text = String::from_utf8_lossy(&bytes);
    let shortest = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    Value::Other { kind, text: shortest.to_string() }
}

fn integer(bytes: Vec<u8>) -> Value {
    match std::str::from_utf8(&bytes).ok().and_then(|digits| digits.parse().ok()) {
        Some(int) => Value::Int(int),
        // Unsigned and beyond an i64.
        None => decimal(bytes),
    }
}

fn real(bytes: Vec<u8>) -> Value {
    match std::str::from_utf8(&bytes).ok().and_then(|digits| digits.parse().ok()) {
        Some(real) => Value::Real(real),
        None => text(bytes),
    }
}

/// Without the zeros that only tell the scale (SOUNDNESS 0.9): the same number is spelled one way.
fn decimal(bytes: Vec<u8>) -> Value {
    let Ok(digits) = String::from_utf8(bytes) else { return Value::Null };
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits.as_str()),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    Value::Decimal(match (whole, fraction) {
        ("", "") => "0".to_string(),
        (whole, "") => format!("{sign}{whole}"),
        ("", fraction) => format!("{sign}0.{fraction}"),
        (whole, fraction) => format!("{sign}{whole}.{fraction}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(column_type: ColumnType, cell: &str) -> Value {
        value(Some(cell.as_bytes().to_vec()), &Column::new(column_type).with_character_set(45))
    }

    #[test]
    fn a_cell_is_what_its_column_says() {
        use ColumnType::*;
        assert_eq!(read(MYSQL_TYPE_LONG, "-7"), Value::Int(-7));
        assert_eq!(read(MYSQL_TYPE_LONGLONG, "18446744073709551615").to_string(), "18446744073709551615");
        assert_eq!(read(MYSQL_TYPE_DOUBLE, "1e300"), Value::Real(1e300));
        assert_eq!(read(MYSQL_TYPE_VAR_STRING, "7"), Value::Text("7".into()));
        let bytes = Column::new(MYSQL_TYPE_BLOB).with_character_set(BINARY);
        assert_eq!(value(Some(vec![0xff]), &bytes), Value::Blob(vec![0xff]));
        assert_eq!(value(None, &bytes), Value::Null);
    }

    #[test]
    fn a_moment_has_one_spelling() {
        let spelled = |text: &str| match read(ColumnType::MYSQL_TYPE_DATETIME, text) {
            Value::Other { kind: Kind::Timestamp, text } => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(spelled("2021-06-15 01:02:00"), "2021-06-15 01:02:00");
        assert_eq!(spelled("2021-06-15 01:02:00.000"), "2021-06-15 01:02:00");
        assert_eq!(spelled("2021-06-15 01:02:00.250"), "2021-06-15 01:02:00.25");
    }

    #[test]
    fn a_decimal_has_one_spelling() {
        let spelled = |digits: &str| read(ColumnType::MYSQL_TYPE_NEWDECIMAL, digits).to_string();
        for (given, kept) in
            [("1.50", "1.5"), ("-0.00", "0"), ("007.0", "7"), ("-0.10", "-0.1"), ("100", "100"), ("0", "0")]
        {
            assert_eq!(spelled(given), kept);
        }
    }
}
