//! Durations as users type and read them: `30s`, `10m`, `2h`.

use std::time::Duration;

pub fn parse(text: &str) -> Result<Duration, String> {
    let hint = || format!("'{text}' is no duration: write a number and s, m or h, such as 30s, 10m or 2h");
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        _ => return Err(hint()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| hint())?;
    let seconds = number.checked_mul(unit).filter(|s| *s <= MAX_SECONDS).ok_or_else(hint)?;
    if seconds == 0 {
        return Err(format!("'{text}' is no time at all"));
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

/// A moment as a date and a time of day, in UTC.
pub struct UtcTime {
    year: u64,
    month: u64,
    day: u64,
    second_of_day: u64,
}

impl UtcTime {
    /// From seconds since 1970, by counting days in 400-year eras that begin on 1 March.
    pub fn from_unix(seconds: u64) -> UtcTime {
        let (days, second_of_day) = (seconds / 86_400 + 719_468, seconds % 86_400);
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        UtcTime { year, month, day, second_of_day }
    }

    pub fn now() -> UtcTime {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        UtcTime::from_unix(since.map(|d| d.as_secs()).unwrap_or(0))
    }

    fn time_of_day(&self) -> (u64, u64, u64) {
        (self.second_of_day / 3600, self.second_of_day / 60 % 60, self.second_of_day % 60)
    }

    /// `20240229-235959`: sorts as text, fits in a file name.
    pub fn compact(&self) -> String {
        let (h, m, s) = self.time_of_day();
        format!("{:04}{:02}{:02}-{h:02}{m:02}{s:02}", self.year, self.month, self.day)
    }

    /// `2024-02-29T23:59:59Z`.
    pub fn rfc3339(&self) -> String {
        let (h, m, s) = self.time_of_day();
        format!("{:04}-{:02}-{:02}T{h:02}:{m:02}:{s:02}Z", self.year, self.month, self.day)
    }
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
    fn dates_are_right_over_leap_days_and_centuries() {
        let at = |seconds| UtcTime::from_unix(seconds).rfc3339();
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(at(1_709_251_200), "2024-03-01T00:00:00Z");
        assert_eq!(at(4_102_444_800), "2100-01-01T00:00:00Z");
        assert_eq!(UtcTime::from_unix(1_709_251_199).compact(), "20240229-235959");
    }

    #[test]
    fn clocks_show_hours_only_when_there_are_some() {
        assert_eq!(clock(Duration::from_secs(62)), "1:02");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
    }
}
