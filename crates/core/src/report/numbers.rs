//! Numbers as people read them.

use std::time::Duration;

/// `98.7 %`, or a dash where there is nothing to take a share of.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_string() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `41.2k`: as much as a glance takes in.
pub fn short(number: f64) -> String {
    match number {
        n if n >= 999_500.0 => format!("{:.1}M", n / 1e6),
        n if n >= 999.5 => format!("{:.1}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

/// `1:02:03` or `2:03`, as a clock shows it.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// `1 worker`, `2,048 databases`.
pub fn counted(number: u64, what: &str) -> String {
    let plural = match what {
        _ if number == 1 => what.to_string(),
        "query" => "queries".to_string(),
        what => format!("{what}s"),
    };
    format!("{} {plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.4, 999.0, 41_234.0, 2_500_000.0].map(short), ["0", "999", "41.2k", "2.5M"]);
        assert_eq!(percent(987, 1000), "98.7 %");
        assert_eq!(percent(0, 0), "–");
    }

    #[test]
    fn clocks_show_hours_only_when_there_are_some() {
        assert_eq!(clock(Duration::from_secs(62)), "1:02");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
    }
}
