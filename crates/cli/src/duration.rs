//! Durations as users type and read them: `30s`, `10m`, `2h`.

use std::time::Duration;

pub fn parse(text: &str) -> Result<Duration, String> {
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

/// `1:02:03` or `2:03`, as a clock shows it.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_number_and_a_unit() {
        assert_eq!(parse("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(parse("2h"), Ok(Duration::from_secs(7200)));
        for bad in ["", "s", "10", "10 m", "-1s", "1.5h", "10x", "99999999999999999999h", "0s", "5µ"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn clocks_show_hours_only_when_there_are_some() {
        assert_eq!(clock(Duration::from_secs(62)), "1:02");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
    }
}
