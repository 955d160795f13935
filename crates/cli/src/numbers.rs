//! Numbers and durations as people type and read them.

use std::collections::BTreeMap;
use std::time::Duration;

use dissent_core::finding::Class;
pub use dissent_core::report::numbers::{clock, counted, grouped, percent, short};

/// `2 wrong-rows, 1 crash`, or `none`.
pub fn by_class(classes: &BTreeMap<Class, u64>) -> String {
    if classes.is_empty() {
        return "none".to_string();
    }
    let parts: Vec<String> =
        classes.iter().map(|(class, count)| format!("{} {class}", grouped(*count))).collect();
    parts.join(", ")
}

/// `once`, `twice`, `1,204 times`.
pub fn times(count: u64) -> String {
    match count {
        1 => "once".to_string(),
        2 => "twice".to_string(),
        count => format!("{} times", grouped(count)),
    }
}

/// `120 of 1,500`, or that it has begun.
pub fn part((done, all): (usize, usize)) -> String {
    if done <= all && all < usize::MAX && all > 0 {
        format!("{} of {}", grouped(done as u64), grouped(all as u64))
    } else {
        "begun".to_string()
    }
}

/// `30s`, `10m`, `2h` as a duration.
pub fn duration(text: &str) -> Result<Duration, String> {
    let hint = || format!("invalid duration '{text}': write a number and s, m or h, such as 30s, 10m or 2h");
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        _ => return Err(hint()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| hint())?;
    let seconds = number.checked_mul(unit).filter(|s| *s <= MAX_SECONDS).ok_or_else(hint)?;
    if seconds == 0 {
        return Err(format!("invalid duration '{text}': it must be longer than zero"));
    }
    Ok(Duration::from_secs(seconds))
}

/// Ten years: beyond it adding to a clock may overflow.
const MAX_SECONDS: u64 = 10 * 365 * 24 * 3600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_readable() {
        assert_eq!([1, 2, 1200].map(|n| counted(n, "query")), ["1 query", "2 queries", "1,200 queries"]);
        assert_eq!([1, 2, 1200].map(times), ["once", "twice", "1,200 times"]);
    }

    #[test]
    fn durations_have_a_number_and_a_unit() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for bad in ["", "s", "10", "10 m", "-1s", "1.5h", "10x", "99999999999999999999h", "0s", "5µ"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
