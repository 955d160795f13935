//! Numbers as people read them.

use std::collections::BTreeMap;

use dissent_core::finding::Class;

/// `2 wrong-rows, 1 crash`, or `none`.
pub fn by_class(classes: &BTreeMap<Class, u64>) -> String {
    if classes.is_empty() {
        return "none".to_string();
    }
    let parts: Vec<String> = classes.iter().map(|(class, count)| format!("{count} {class}")).collect();
    parts.join(", ")
}

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
}
