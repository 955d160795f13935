//! One line on a terminal that is written over and over, and messages that stay above it.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use dissent_campaign::{Observer, Step};

/// Often enough to look alive.
const PAUSE: Duration = Duration::from_millis(100);

/// A live line on standard error; nothing where that is no terminal.
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
