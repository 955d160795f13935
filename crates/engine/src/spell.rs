//! The one spelling of values that are not numbers, text or bytes.

use dissent_core::sql::value::hex;
use dissent_core::sql::{Kind, Value};

/// Units of a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Millis,
    Micros,
    Nanos,
}

pub fn other(kind: Kind, text: String) -> Value {
    Value::Other { kind, text }
}

/// Whole numbers of any width.
pub fn signed(number: i128) -> Value {
    match i64::try_from(number) {
        Ok(number) => Value::Int(number),
        Err(_) => Value::Decimal(number.to_string()),
    }
}

pub fn unsigned(number: u128) -> Value {
    match i64::try_from(number) {
        Ok(number) => Value::Int(number),
        Err(_) => Value::Decimal(number.to_string()),
    }
}

/// `1.50` for 150 at scale 2.
pub fn decimal(number: i128, scale: usize) -> Value {
    let sign = if number < 0 { "-" } else { "" };
    let digits = number.unsigned_abs().to_string();
    Value::Decimal(if scale == 0 {
        format!("{sign}{digits}")
    } else {
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        format!("{sign}{whole}.{fraction}")
    })
}

pub fn date(days: i32) -> String {
    match days {
        i32::MAX => return "infinity".to_string(),
        days if days == -i32::MAX => return "-infinity".to_string(),
        _ => {}
    }
    let (year, month, day) = civil(days.into());
    if year > 0 {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{:04}-{month:02}-{day:02} BC", 1 - year)
    }
}

/// The Gregorian date that many days after 1970-01-01, in years of 365.2425 days that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// `12:30:00.5`.
pub fn time(micros: i64) -> String {
    clock(micros, 1_000_000, 6)
}

fn clock(amount: i64, per_second: i64, digits: usize) -> String {
    let (seconds, fraction) = (amount / per_second, amount % per_second);
    let whole = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction == 0 {
        return whole;
    }
    let fraction = format!("{fraction:0digits$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

pub fn timestamp(amount: i64, unit: Unit, utc: bool) -> String {
    match amount {
        i64::MAX => return "infinity".to_string(),
        amount if amount == -i64::MAX => return "-infinity".to_string(),
        _ => {}
    }
    let (per_second, digits) = match unit {
        Unit::Seconds => (1, 0),
        Unit::Millis => (1_000, 3),
        Unit::Micros => (1_000_000, 6),
        Unit::Nanos => (1_000_000_000, 9),
    };
    let day = 86_400 * per_second;
    let days = i32::try_from(amount.div_euclid(day)).unwrap_or(i32::MAX - 1);
    let zone = if utc { "+00" } else { "" };
    format!("{} {}{zone}", date(days), clock(amount.rem_euclid(day), per_second, digits))
}

/// Its three parts: how many days a month has is left open.
pub fn interval(months: i32, days: i32, micros: i64) -> String {
    format!("{months} months {days} days {micros} us")
}

pub fn uuid(number: u128) -> String {
    let digits = format!("{number:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// Bytes that should be UTF-8. What is not must compare equal only to itself.
pub fn text(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_string()),
        Err(_) => other(Kind::Text, format!("text x'{}'", hex(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_gregorian_calendar() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(-1), "1969-12-31");
        assert_eq!(date(18_321), "2020-02-29");
        assert_eq!(date(-719_163), "0001-12-31 BC");
        assert_eq!(date(i32::MAX), "infinity");
    }

    #[test]
    fn times_lose_trailing_zeros_only() {
        assert_eq!(time(45_000_500_000), "12:30:00.5");
        assert_eq!(timestamp(-1, Unit::Nanos, false), "1969-12-31 23:59:59.999999999");
        assert_eq!(timestamp(86_400, Unit::Seconds, true), "1970-01-02 00:00:00+00");
    }

    #[test]
    fn decimals_keep_their_scale() {
        assert_eq!(decimal(150, 2), Value::Decimal("1.50".into()));
        assert_eq!(decimal(-5, 3), Value::Decimal("-0.005".into()));
        assert_eq!(decimal(7, 0), Value::Decimal("7".into()));
        assert_eq!(unsigned(u64::MAX.into()), Value::Decimal("18446744073709551615".into()));
    }

    #[test]
    fn a_uuid_is_spelled_as_usual() {
        assert_eq!(uuid(0), "00000000-0000-0000-0000-000000000000");
        assert_eq!(uuid(u128::MAX), "ffffffff-ffff-ffff-ffff-ffffffffffff");
    }
}
