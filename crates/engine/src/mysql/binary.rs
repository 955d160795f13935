//! Values of the binary protocol, which prepared statements use: as they are sent, and as they come back. They come
//! back in the spelling of the text protocol, so that results of both can be compared.

use dissent_core::sql::{Kind, Value};
use mysql::Column;

/// The protocol's own types as far as it has them. A decimal beyond 64 bits goes as text, and so does a blob:
/// a statement that depends on their type has to cast them.
pub fn bound(value: &Value) -> mysql::Value {
    match value {
        Value::Null => mysql::Value::NULL,
        Value::Bool(truth) => mysql::Value::Int(i64::from(*truth)),
        Value::Int(int) => mysql::Value::Int(*int),
        Value::Real(real) => mysql::Value::Double(*real),
        Value::Decimal(digits) => match digits.parse() {
            Ok(whole) => mysql::Value::UInt(whole),
            Err(_) => mysql::Value::Bytes(digits.clone().into_bytes()),
        },
        Value::Text(text) => mysql::Value::Bytes(text.clone().into_bytes()),
        Value::Blob(bytes) => mysql::Value::Bytes(bytes.clone()),
        Value::Other { kind: Kind::Date | Kind::Timestamp, text } => {
            moment(text).unwrap_or_else(|| mysql::Value::Bytes(text.clone().into_bytes()))
        }
        Value::Other { text, .. } => mysql::Value::Bytes(text.clone().into_bytes()),
    }
}

/// `2020-02-29`, `2020-02-29 12:30:00.5`.
fn moment(text: &str) -> Option<mysql::Value> {
    let (date, time) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let mut date = date.split('-');
    let (year, month, day) = (date.next()?, date.next()?, date.next()?);
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut time = time.split(':');
    let (hour, minute, second) = (time.next()?, time.next()?, time.next()?);
    if date.next().is_some() || time.next().is_some() || fraction.len() > 6 {
        return None;
    }
    Some(mysql::Value::Date(
        year.parse().ok()?,
        month.parse().ok()?,
        day.parse().ok()?,
        hour.parse().ok()?,
        minute.parse().ok()?,
        second.parse().ok()?,
        format!("{fraction:0<6}").parse().ok()?,
    ))
}

/// The bytes that the text protocol would have sent; `None` is NULL.
pub fn spelled(cell: mysql::Value, column: &Column) -> Option<Vec<u8>> {
    use mysql::consts::ColumnType::{MYSQL_TYPE_DATE, MYSQL_TYPE_NEWDATE};
    let text = match cell {
        mysql::Value::NULL => return None,
        mysql::Value::Bytes(bytes) => return Some(bytes),
        mysql::Value::Int(int) => int.to_string(),
        mysql::Value::UInt(int) => int.to_string(),
        mysql::Value::Float(real) => digits(real.into(), real.to_string(), column),
        mysql::Value::Double(real) => digits(real, real.to_string(), column),
        mysql::Value::Date(year, month, day, ..)
            if matches!(column.column_type(), MYSQL_TYPE_DATE | MYSQL_TYPE_NEWDATE) =>
        {
            format!("{year:04}-{month:02}-{day:02}")
        }
        mysql::Value::Date(year, month, day, hour, minute, second, micros) => {
            let fraction = fraction(micros, column);
            format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction}")
        }
        mysql::Value::Time(negative, days, hours, minutes, seconds, micros) => {
            let (sign, hours) = (if negative { "-" } else { "" }, days * 24 + u32::from(hours));
            format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{}", fraction(micros, column))
        }
    };
    Some(text.into_bytes())
}

/// As many digits as it takes.
const NOT_FIXED: u8 = 31;

/// A column whose floats keep their digits, whatever the server says of it.
pub fn with_all_digits(column: Column) -> Column {
    use mysql::consts::ColumnType::{MYSQL_TYPE_DOUBLE, MYSQL_TYPE_FLOAT};
    match column.column_type() {
        MYSQL_TYPE_DOUBLE | MYSQL_TYPE_FLOAT => column.with_decimals(NOT_FIXED),
        _ => column,
    }
}

/// A float of an expression may have a number of digits, and is cut to it as text.
fn digits(real: f64, shortest: String, column: &Column) -> String {
    match column.decimals() {
        fixed if fixed < NOT_FIXED => format!("{real:.*}", usize::from(fixed)),
        _ => shortest,
    }
}

/// As many digits as the column has.
fn fraction(micros: u32, column: &Column) -> String {
    match column.decimals() {
        0 => String::new(),
        digits => format!(".{}", &format!("{micros:06}")[..usize::from(digits.min(6))]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mysql::consts::ColumnType::{MYSQL_TYPE_DATE, MYSQL_TYPE_DATETIME, MYSQL_TYPE_TIME};

    #[test]
    fn moments_are_sent_as_such() {
        let other = |kind, text: &str| Value::Other { kind, text: text.to_string() };
        let date = mysql::Value::Date(2020, 2, 29, 0, 0, 0, 0);
        assert_eq!(bound(&other(Kind::Date, "2020-02-29")), date);
        let moment = mysql::Value::Date(1999, 12, 31, 23, 59, 59, 500_000);
        assert_eq!(bound(&other(Kind::Timestamp, "1999-12-31 23:59:59.5")), moment);
        let odd = mysql::Value::Bytes(b"some day".to_vec());
        assert_eq!(bound(&other(Kind::Date, "some day")), odd);
    }

    #[test]
    fn floats_come_back_with_the_digits_that_text_has() {
        use mysql::consts::ColumnType::MYSQL_TYPE_DOUBLE;
        let told = |real: f64, decimals| {
            let column = Column::new(MYSQL_TYPE_DOUBLE).with_decimals(decimals);
            String::from_utf8(spelled(mysql::Value::Double(real), &column).unwrap()).unwrap()
        };
        assert_eq!(told(0.4714045207910317, 4), "0.4714");
        assert_eq!(told(0.4714045207910317, 31), "0.4714045207910317");
        let hidden = with_all_digits(Column::new(MYSQL_TYPE_DOUBLE).with_decimals(0));
        assert_eq!(spelled(mysql::Value::Double(0.5), &hidden).unwrap(), b"0.5");
    }

    #[test]
    fn moments_come_back_as_text_has_them() {
        let told = |cell, ty, decimals| {
            let column = Column::new(ty).with_decimals(decimals);
            String::from_utf8(spelled(cell, &column).unwrap()).unwrap()
        };
        let moment = mysql::Value::Date(2020, 2, 29, 12, 30, 0, 500_000);
        assert_eq!(told(moment.clone(), MYSQL_TYPE_DATE, 0), "2020-02-29");
        assert_eq!(told(moment.clone(), MYSQL_TYPE_DATETIME, 0), "2020-02-29 12:30:00");
        assert_eq!(told(moment, MYSQL_TYPE_DATETIME, 1), "2020-02-29 12:30:00.5");
        assert_eq!(told(mysql::Value::Time(true, 1, 2, 3, 4, 0), MYSQL_TYPE_TIME, 0), "-26:03:04");
    }
}
