//! What a user sees while a campaign runs: one live line on a terminal, a plain line now and then in a
//! pipe, and a line for each finding.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::time::{Duration, Instant};

use dissent_core::finding::Class;

use dissent_campaign::Observer;
use dissent_campaign::bugs::Bug;
use dissent_campaign::duration;
use dissent_campaign::system;
use dissent_campaign::worker::protocol::Tally;

const LIVE_PAUSE: Duration = Duration::from_millis(250);
const PLAIN_PAUSE: Duration = Duration::from_secs(10);

pub struct Progress {
    start: Instant,
    live: bool,
    /// Findings go to standard error, because standard output is for the summary alone.
    quiet_stdout: bool,
    shown: Instant,
    classes: BTreeMap<Class, u64>,
}

impl Progress {
    pub fn new(quiet_stdout: bool) -> Progress {
        let now = Instant::now();
        let live = stderr().is_terminal();
        Progress { start: now, live, quiet_stdout, shown: now, classes: BTreeMap::new() }
    }
}

impl Observer for Progress {
    /// Shows something only when it is time.
    fn tick(&mut self, tally: &Tally, waiting: usize) {
        let pause = if self.live { LIVE_PAUSE } else { PLAIN_PAUSE };
        if self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        let mut line = self.line(tally, waiting);
        if self.live {
            // A line that wraps could not be taken back.
            let width = system::terminal_width().unwrap_or(80).saturating_sub(1);
            line = line.chars().take(width).collect();
            let _ = write!(stderr(), "\r\x1b[2K{line}");
            let _ = stderr().flush();
        } else {
            let _ = writeln!(stderr(), "{line}");
        }
    }

    fn finding(&mut self, bug: &Bug) {
        *self.classes.entry(bug.class).or_insert(0) += 1;
        let Bug { oracle, class, statements, tokens, directory, .. } = bug;
        let size =
            format!("{statements} statement{}, {tokens} tokens", if *statements == 1 { "" } else { "s" });
        let line = format!("{:<16}  {oracle:<13}  {size:<26}  {}", class.name(), directory.display());
        self.clear();
        let _ = if self.quiet_stdout { writeln!(stderr(), "{line}") } else { writeln!(stdout(), "{line}") };
    }

    fn note(&mut self, text: &str) {
        self.clear();
        let _ = writeln!(stderr(), "dissent: {text}");
    }

    /// Takes the live line away, so that something lasting can be printed.
    fn clear(&mut self) {
        if self.live {
            let _ = write!(stderr(), "\r\x1b[2K");
            let _ = stderr().flush();
        }
    }
}

impl Progress {
    fn line(&self, tally: &Tally, waiting: usize) -> String {
        let elapsed = self.start.elapsed();
        let rate = |count: u64| short(count as f64 / elapsed.as_secs_f64().max(0.001));
        format!(
            "{}  {} databases  {} stmt/s  {} checks/s  {} valid  found: {}{}",
            duration::clock(elapsed),
            grouped(tally.databases),
            rate(tally.counts.statements),
            rate(tally.checks()),
            percent(tally.counts.statements_ok, tally.counts.statements),
            by_class(&self.classes),
            if waiting > 0 { format!("  ({waiting} being reduced)") } else { String::new() },
        )
    }
}

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
