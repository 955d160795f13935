//! What a user sees while something runs: one live line on a terminal, and what stays above it.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::time::{Duration, Instant};

use dissent_campaign::{Bug, Observer, Progress, Step};
use dissent_core::finding::{Class, Finding};

use crate::numbers::{by_class, clock, grouped, percent, short};

/// Often enough to look alive.
const PAUSE: Duration = Duration::from_millis(100);

/// A live line on standard error; nothing if that is not a terminal.
pub struct LiveLine {
    is_terminal: bool,
    shown: Option<Instant>,
}

impl LiveLine {
    pub fn new() -> LiveLine {
        LiveLine { is_terminal: stderr().is_terminal(), shown: None }
    }

    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Shows what the line is to say now, unless it said something a moment ago.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        if !self.is_terminal || self.shown.is_some_and(|shown| shown.elapsed() < PAUSE) {
            return;
        }
        self.shown = Some(Instant::now());
        // A line that wraps could not be taken back.
        let width = terminal_size::terminal_size_of(stderr()).map_or(80, |(width, _)| usize::from(width.0));
        let line: String = line().chars().take(width.saturating_sub(1)).collect();
        let _ = write!(stderr(), "\r\x1b[2K{line}");
        let _ = stderr().flush();
    }

    /// Takes the line away, so that something lasting can be printed.
    pub fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(stderr(), "\r\x1b[2K");
            let _ = stderr().flush();
        }
    }
}

/// Says what takes time, and nothing else.
impl Observer for LiveLine {
    fn note(&mut self, text: &str) {
        self.clear();
        let _ = writeln!(stderr(), "dissent: {text}");
    }

    fn step(&mut self, Step { what, name, done, all }: &Step) {
        self.show(|| format!("{what} {name:.40}: {done} of {all}"));
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Without a terminal, a plain line now and then shows that the hunt is running.
const PLAIN_PAUSE: Duration = Duration::from_secs(10);

/// The progress of a hunt, and a line for each finding.
pub struct HuntProgress {
    line: LiveLine,
    /// Findings go to standard error, because standard output is for the summary alone.
    quiet_stdout: bool,
    /// When a plain line was printed last.
    shown: Instant,
    classes: BTreeMap<Class, u64>,
}

impl HuntProgress {
    pub fn new(quiet_stdout: bool) -> HuntProgress {
        HuntProgress { line: LiveLine::new(), quiet_stdout, shown: Instant::now(), classes: BTreeMap::new() }
    }

    fn text(&self, progress: &Progress) -> String {
        let Progress { elapsed, databases, statements, statements_ok, checks, waiting } = *progress;
        let rate = |count: u64| short(count as f64 / elapsed.as_secs_f64().max(0.001));
        format!(
            "{}  {} databases  {} stmt/s  {} checks/s  {} valid  found: {}{}",
            clock(elapsed),
            grouped(databases),
            rate(statements),
            rate(checks),
            percent(statements_ok, statements),
            by_class(&self.classes),
            if waiting > 0 { format!("  ({waiting} being reduced)") } else { String::new() },
        )
    }
}

impl Observer for HuntProgress {
    fn note(&mut self, text: &str) {
        self.line.note(text);
    }

    fn step(&mut self, step: &Step) {
        self.line.step(step);
    }

    fn progress(&mut self, progress: &Progress) {
        let text = self.text(progress);
        if self.line.is_terminal() {
            self.line.show(|| text);
        } else if self.shown.elapsed() >= PLAIN_PAUSE {
            self.shown = Instant::now();
            let _ = writeln!(stderr(), "{text}");
        }
    }

    fn found(&mut self, bug: &Bug, _: &Finding) {
        *self.classes.entry(bug.class).or_insert(0) += 1;
        let Bug { oracle, class, statements, tokens, directory, .. } = bug;
        let size =
            format!("{statements} statement{}, {tokens} tokens", if *statements == 1 { "" } else { "s" });
        let line = format!("{:<16}  {oracle:<13}  {size:<26}  {}", class.name(), directory.display());
        self.line.clear();
        let _ = if self.quiet_stdout { writeln!(stderr(), "{line}") } else { writeln!(stdout(), "{line}") };
    }
}
