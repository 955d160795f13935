//! What a user sees while a campaign runs: one live line on a terminal, a plain line now and then in a
//! pipe, and a line for each finding.

use std::collections::BTreeMap;
use std::io::{Write, stderr, stdout};
use std::time::{Duration, Instant};

use dissent_campaign::{Bug, Observer, Progress, Step};
use dissent_core::finding::{Class, Finding};

use crate::duration;
use crate::live::LiveLine;
use crate::numbers::{by_class, grouped, percent, short};

const PLAIN_PAUSE: Duration = Duration::from_secs(10);

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
            duration::clock(elapsed),
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
