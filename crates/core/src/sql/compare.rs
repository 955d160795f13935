//! One order over all values.

use std::cmp::Ordering;

use super::Value;

/// A total order in which numbers of all types are one line: -0.0 = 0.0, NaN = NaN, 1 = 1.0.
pub fn compare_values(a: &Value, b: &Value) -> Ordering {
    use Value::*;
    match (a, b) {
        (Int(a), Int(b)) => a.cmp(b),
        (Real(a), Real(b)) => compare_reals(*a, *b),
        (Int(a), Real(b)) => compare_int_real(*a, *b),
        (Real(a), Int(b)) => compare_int_real(*b, *a).reverse(),
        (Bool(a), b) if rank(b) == rank(&Int(0)) => compare_values(&Int(i64::from(*a)), b),
        (a, Bool(b)) if rank(a) == rank(&Int(0)) => compare_values(a, &Int(i64::from(*b))),
        (Decimal(a), Decimal(b)) => compare_decimals(a, b),
        (Decimal(a), Int(b)) => compare_decimals(a, &b.to_string()),
        (Int(a), Decimal(b)) => compare_decimals(&a.to_string(), b),
        (Decimal(a), Real(b)) => compare_reals(a.parse().unwrap_or(f64::NAN), *b),
        (Real(a), Decimal(b)) => compare_reals(*a, b.parse().unwrap_or(f64::NAN)),
        (Text(a), Text(b)) => a.cmp(b),
        (Blob(a), Blob(b)) => a.cmp(b),
        (Other { kind: ka, text: ta }, Other { kind: kb, text: tb }) => ka.cmp(kb).then_with(|| ta.cmp(tb)),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Whether one number is at most another; what a division has rounded, up to that rounding.
pub fn at_most(a: &Value, b: &Value, rounded: bool) -> bool {
    if compare_values(a, b) != Ordering::Greater {
        return true;
    }
    let real = |value: &Value| match value {
        Value::Int(int) => Some(*int as f64),
        Value::Real(real) => Some(*real),
        Value::Decimal(digits) => digits.parse().ok(),
        _ => None,
    };
    match (real(a), real(b)) {
        (Some(a), Some(b)) if rounded => a - b <= 1e-9 * a.abs().max(b.abs()),
        _ => false,
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::Decimal(_) => 1,
        Value::Text(_) => 2,
        Value::Blob(_) => 3,
        Value::Other { .. } => 4,
    }
}

fn compare_reals(a: f64, b: f64) -> Ordering {
    match a.partial_cmp(&b) {
        Some(order) => order,
        None => a.is_nan().cmp(&b.is_nan()),
    }
}

/// Exact: a float is never rounded to an integer nor an integer to a float.
fn compare_int_real(int: i64, real: f64) -> Ordering {
    if real.is_nan() {
        return Ordering::Less;
    }
    // 2^63 is a float; every float below it in size truncates to an i64.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if real >= LIMIT {
        return Ordering::Less;
    }
    if real < -LIMIT {
        return Ordering::Greater;
    }
    int.cmp(&(real.trunc() as i64)).then_with(|| compare_reals(0.0, real.fract()))
}

/// Compares two numbers written as decimal digits.
fn compare_decimals(a: &str, b: &str) -> Ordering {
    fn parts(text: &str) -> (bool, &str, &str) {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        (negative && !(whole.is_empty() && fraction.is_empty()), whole, fraction)
    }
    let (a_negative, a_whole, a_fraction) = parts(a);
    let (b_negative, b_whole, b_fraction) = parts(b);
    if a_negative != b_negative {
        return if a_negative { Ordering::Less } else { Ordering::Greater };
    }
    let size = (a_whole.len().cmp(&b_whole.len()))
        .then_with(|| a_whole.cmp(b_whole))
        .then_with(|| a_fraction.cmp(b_fraction));
    if a_negative { size.reverse() } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_floats_compare_exactly() {
        let big = i64::MAX;
        assert_eq!(compare_values(&Value::Int(big), &Value::Real(big as f64)), Ordering::Less);
        assert_eq!(
            compare_values(&Value::Int(9007199254740993), &Value::Real(9007199254740992.0)),
            Ordering::Greater
        );
        assert_eq!(compare_values(&Value::Int(1), &Value::Real(1.5)), Ordering::Less);
        assert_eq!(compare_values(&Value::Int(-1), &Value::Real(-1.5)), Ordering::Greater);
    }

    #[test]
    fn decimals_compare_by_value() {
        let decimal = |text: &str| Value::Decimal(text.into());
        assert_eq!(compare_values(&decimal("1.50"), &decimal("1.5")), Ordering::Equal);
        assert_eq!(compare_values(&decimal("-10.5"), &decimal("-9")), Ordering::Less);
        assert_eq!(compare_values(&decimal("007"), &Value::Int(7)), Ordering::Equal);
        assert_eq!(compare_values(&decimal("-0.0"), &Value::Int(0)), Ordering::Equal);
    }
}
