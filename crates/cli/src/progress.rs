//! What a user sees while something runs: one live line on a terminal, and what stays above it.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dissent_campaign::{Bug, Observer, Progress, Stage, Staged, Step};
use dissent_core::finding::{Class, Finding};

use crate::numbers::{by_class, clock, counted, grouped, part, percent, short};
use crate::text::{plain, truncated};
use crate::verbosity;

/// Often enough to look alive.
const PAUSE: Duration = Duration::from_millis(100);
/// A wait that is over sooner needs no clock.
const SHORT_WAIT: Duration = Duration::from_secs(1);

/// A live line on standard error; nothing if that is not a terminal that can take a line back.
pub struct LiveLine {
    is_terminal: bool,
    shown: Option<Instant>,
    waiting: Option<Ticker>,
    /// When the first step of what is being done was told.
    began: Option<(String, Instant)>,
    /// When a plain line last said how far it is, where there is no terminal.
    told: Instant,
}

impl LiveLine {
    pub fn new() -> LiveLine {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_terminal = stderr().is_terminal() && !dumb && !verbosity::is_quiet();
        LiveLine { is_terminal, shown: None, waiting: None, began: None, told: Instant::now() }
    }

    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Shows what the line is to say now, unless it said something a moment ago.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        self.waiting = None;
        if !self.is_terminal || self.shown.is_some_and(|shown| shown.elapsed() < PAUSE) {
            return;
        }
        self.shown = Some(Instant::now());
        write_live(&line());
    }

    /// Takes the line away, so that something lasting can be printed.
    pub fn clear(&mut self) {
        let ticked = self.waiting.take().is_some() && self.is_terminal;
        if self.shown.take().is_some() || ticked {
            let _ = write!(stderr(), "\r\x1b[2K");
            let _ = stderr().flush();
        }
    }

    /// `, 2:10 left`, once there is enough to judge by.
    fn left(&mut self, Step { what, done, all, .. }: &Step) -> String {
        let (_, began) = match &self.began {
            Some(known) if known.0 == *what => known,
            _ => self.began.insert((what.to_string(), Instant::now())),
        };
        let passed = began.elapsed();
        if *done == 0 || *all < *done || passed < SHORT_WAIT {
            return String::new();
        }
        let left = passed.mul_f64((all - done) as f64 / *done as f64);
        format!(", {} left", clock(left))
    }
}

/// In the place of the line that is there. A line that wraps could not be taken back.
fn write_live(line: &str) {
    let width = terminal_size::terminal_size_of(stderr()).map_or(80, |(width, _)| usize::from(width.0));
    let line = truncated(line, width.saturating_sub(1));
    let _ = write!(stderr(), "\r\x1b[2K{line}");
    let _ = stderr().flush();
}

/// Says what takes time, and nothing else.
impl Observer for LiveLine {
    fn note(&mut self, text: &str) {
        self.clear();
        if !verbosity::is_quiet() {
            // It may quote others.
            let _ = writeln!(stderr(), "dissent: {}", plain(text));
        }
    }

    fn wait(&mut self, what: &str) {
        self.note(what);
        if self.is_terminal {
            self.waiting = Some(Ticker::start(what.to_string()));
        }
    }

    fn step(&mut self, step: &Step) {
        let left = self.left(step);
        let Step { what, name, done, all } = step;
        let far = format!("{what}: {} of {}{left}", grouped(*done as u64), grouped(*all as u64));
        if !self.is_terminal && !verbosity::is_quiet() && self.told.elapsed() >= PLAIN_PAUSE {
            self.told = Instant::now();
            let _ = writeln!(stderr(), "dissent: {far}");
        }
        self.show(|| format!("{far}  {name:.40}"));
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Shows how long a wait has taken, in a thread of its own: whoever waits is busy.
struct Ticker {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(what: String) -> Ticker {
        let over = Arc::new(AtomicBool::new(false));
        let (began, is_over) = (Instant::now(), over.clone());
        let thread = std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                std::thread::park_timeout(PAUSE);
                if began.elapsed() >= SHORT_WAIT && !is_over.load(Ordering::Relaxed) {
                    write_live(&format!("{what}: {}", clock(began.elapsed())));
                }
            }
        });
        Ticker { over, thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
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
        let Progress { elapsed, databases, statements, statements_ok, checks, waiting, .. } = *progress;
        let rate = |count: u64| short(count as f64 / elapsed.as_secs_f64().max(0.001));
        let probing =
            progress.probing.map(|probed| format!("  probing: {}", part(probed))).unwrap_or_default();
        format!(
            "{}  {}  {} stmt/s  {} checks/s  {} valid  found: {}{}{probing}",
            clock(elapsed),
            counted(databases, "database"),
            rate(statements),
            rate(checks),
            percent(statements_ok, statements),
            by_class(&self.classes),
            if waiting > 0 {
                format!("  ({} being reduced)", grouped(waiting as u64))
            } else {
                String::new()
            },
        )
    }

    /// A line that stays, on one of the two streams. On a terminal it is cut before it wraps.
    fn print(&mut self, line: &str, to_stderr: bool) {
        self.line.clear();
        let size = match to_stderr {
            true => terminal_size::terminal_size_of(stderr()),
            false => terminal_size::terminal_size_of(stdout()),
        };
        let line = size.map_or_else(|| line.to_string(), |(width, _)| truncated(line, usize::from(width.0)));
        let _ = if to_stderr { writeln!(stderr(), "{line}") } else { writeln!(stdout(), "{line}") };
    }
}

impl Observer for HuntProgress {
    fn note(&mut self, text: &str) {
        self.line.note(text);
    }

    fn wait(&mut self, what: &str) {
        self.line.wait(what);
    }

    fn step(&mut self, step: &Step) {
        self.line.step(step);
    }

    fn progress(&mut self, progress: &Progress) {
        let text = self.text(progress);
        if self.line.is_terminal() {
            self.line.show(|| text);
        } else if self.shown.elapsed() >= PLAIN_PAUSE && !verbosity::is_quiet() {
            self.shown = Instant::now();
            let _ = writeln!(stderr(), "{text}");
        }
    }

    fn stage(&mut self, staged: &Staged) {
        if !verbosity::is_verbose() {
            return;
        }
        let state = match staged.stage {
            Stage::Waiting => "waits to be reduced".to_string(),
            Stage::Confirming => "is being confirmed".to_string(),
            Stage::Reducing => "is confirmed and being reduced".to_string(),
            Stage::New => "is a new bug".to_string(),
            Stage::Duplicate(of) => format!("is {of} again"),
            Stage::Known(id) => format!("is known: {id}"),
            Stage::Unstable => "does not hold".to_string(),
        };
        self.print(&format!("{} {state}", staged.id), true);
    }

    /// A script gets the directory; on a terminal that would take the whole line.
    fn found(&mut self, bug: &Bug, _: &Finding) {
        *self.classes.entry(bug.class).or_insert(0) += 1;
        let on_terminal = if self.quiet_stdout { stderr().is_terminal() } else { stdout().is_terminal() };
        let place = if on_terminal { bug.id.clone() } else { bug.directory.display().to_string() };
        self.print(&format!("{place}  {}", plain(&bug.title)), self.quiet_stdout);
    }
}
