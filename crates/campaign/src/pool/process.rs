//! One worker process, as its supervisor sees it: start it, watch its pulse, kill it, read what it left behind.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use dissent_engine::{Confinement, password_variables};
use serde::Serialize;

use super::Workplace;
use crate::system;
use crate::worker::journal::{self, Journal, Pulse, Remains};
use crate::worker::protocol::{Job, Task};
use crate::worker::{self, NAME};

/// A worker that has run no statement for so long is stuck in our own code, or in starting a server, which on
/// a busy machine takes its time.
pub const STUCK_LIMIT: Duration = Duration::from_secs(180);

/// Adds up the processor time of workers that have ended, and of what they started: private servers, too.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<AtomicU64>);

impl Meter {
    fn add(&self, seconds: f64) {
        self.0.fetch_add((seconds * 1e9) as u64, Ordering::Relaxed);
    }

    pub fn cpu_seconds(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 / 1e9
    }
}

pub struct Process {
    child: Child,
    /// How it ended, once it was waited for.
    status: Option<ExitStatus>,
    meter: Meter,
    /// The processor time of the servers that it has, when that was last looked up.
    servers: Cell<f64>,
    /// Open only where the task takes more than the job.
    input: Option<ChildStdin>,
    journal: Journal,
    stderr: File,
    watch: StallWatch,
    /// Why it was killed, if it was.
    pub killed: Option<End>,
    /// What it said was wrong before it ended.
    pub trouble: Option<String>,
}

impl Process {
    /// Starts a worker on a task. Its events come out of the stream, its processor time goes to the meter.
    pub fn spawn(place: &Workplace, task: &Task, meter: Meter) -> anyhow::Result<(Process, ChildStdout)> {
        if worker::is_asked() {
            bail!("call dissent_campaign::run_worker_if_asked() first in main");
        }
        let memory = system::memory_file(journal::BYTES as u64).context("cannot create a journal")?;
        let journal = Journal::new(&memory)?;
        let stderr = system::memory_file(0).context("cannot create a file for a worker's messages")?;
        // Not `current_exe`: this one still works after the program on disk was replaced or removed.
        let mut command = Command::new("/proc/self/exe");
        command.arg0(NAME).env("RUST_BACKTRACE", "0");
        // A password comes with its server's address, and statements of strangers may read the environment.
        for variable in password_variables() {
            command.env_remove(variable);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr.try_clone()?);
        confinement(place, &memory).apply(&mut command);
        let mut child = command.spawn().context("cannot start a worker process")?;
        let input = child.stdin.take();
        let events = child.stdout.take().context("a worker process has no standard output")?;
        let mut process = Process {
            child,
            status: None,
            meter,
            servers: Cell::new(0.0),
            input,
            journal,
            stderr,
            watch: StallWatch::new(),
            killed: None,
            trouble: None,
        };
        process.send(&Job {
            journal: system::inherited_path(memory.as_raw_fd()),
            source: place.source.clone(),
            other: place.other.clone(),
            dialect: place.dialect.clone(),
            task: task.clone(),
        })?;
        process.input = process.input.take().filter(|_| task.takes_more());
        Ok((process, events))
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn send(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        if let Some(input) = &mut self.input {
            // One that is already dead cannot read; its death is seen soon enough.
            let _ = input.write_all(&line).and_then(|()| input.flush());
        }
        Ok(())
    }

    /// How long the worker has not moved, and whether the engine is running a statement.
    pub fn stalled(&mut self) -> (Duration, bool) {
        let pulse = self.journal.pulse();
        (self.watch.look(pulse.sequence, Instant::now()), pulse.running)
    }

    /// What it is doing, and for how long nothing has changed.
    pub fn look(&self) -> (Pulse, Duration) {
        (self.journal.pulse(), self.watch.still)
    }

    pub fn ask_to_pause(&self, pause: bool) {
        self.journal.ask_to_pause(pause);
    }

    pub fn ask_to_stop(&self) {
        self.journal.ask_to_stop();
    }

    /// The first reason counts.
    pub fn kill(&mut self, reason: End) {
        if self.killed.is_none() {
            self.killed = Some(reason);
            self.look_at_servers();
            let _ = self.child.kill();
        }
    }

    fn look_at_servers(&self) {
        self.servers.set(system::offspring_cpu_seconds(self.id()));
    }

    /// Its processor time so far, and that of its servers.
    pub fn cpu_seconds(&self) -> f64 {
        self.look_at_servers();
        system::trees_cpu_seconds(&[self.id()])
    }

    /// Waits for it. The standard library's own way does not tell the processor time, and must not be used beside it.
    fn reap(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        let (status, cpu_seconds) = system::wait_for(self.id())?;
        // One that was killed could not wait for its servers, which end with it.
        let left_behind = if status.signal().is_some() { self.servers.get() } else { 0.0 };
        self.meter.add(cpu_seconds + left_behind);
        self.status = Some(status);
        Ok(status)
    }

    /// Waits for a worker whose event stream has ended, and reads what it left.
    pub fn end(mut self) -> anyhow::Result<Ended> {
        let status = self.reap().context("cannot wait for a worker")?;
        let last_words = last_words(&mut self.stderr);
        let remains = self.journal.remains();
        let how = match self.killed {
            _ if status.success() => End::Well,
            Some(reason) => reason,
            None => End::of(status, &last_words, &remains),
        };
        Ok(Ended { how, status, trouble: self.trouble.take(), last_words, remains })
    }
}

/// A worker dies with us, leaves Ctrl-C to us, has bounded memory, dumps no core, and inherits its journal.
fn confinement(place: &Workplace, journal: &File) -> Confinement {
    Confinement {
        memory_bytes: Some(place.memory_bytes),
        without_core: true,
        without_interrupt: true,
        inherited: Some(journal.as_raw_fd()),
        ..Confinement::default()
    }
}

/// A supervisor that fails on the way leaves no worker behind, not even as a zombie.
impl Drop for Process {
    fn drop(&mut self) {
        if self.status.is_none() {
            // What was killed before has left its servers already.
            self.kill(End::Stopped);
            let _ = self.reap();
        }
    }
}

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Well,
    /// It was asked to stop, did not, and was killed.
    Stopped,
    /// A statement ran longer than it may.
    Hung {
        after: Duration,
    },
    /// It ran no statement for [`STUCK_LIMIT`].
    Stuck,
    /// By a mistake in its own address space: the engine's.
    Crashed,
    /// By a signal that somebody else sent.
    FromOutside,
    /// For a reason of our own.
    Failed,
}

impl End {
    /// Of one that nobody here killed. A crash is the engine's fault, unless Rust's runtime says that our own code,
    /// outside any statement, used up the stack or the memory.
    fn of(status: ExitStatus, last_words: &str, remains: &Remains) -> End {
        let exhausted = last_words.contains(OUT_OF_MEMORY) || last_words.contains("overflowed its stack");
        let ours = remains.statement.is_none() || (exhausted && !remains.running);
        match status.signal() {
            Some(signal) if !system::is_crash_signal(signal) => End::FromOutside,
            Some(_) if !ours => End::Crashed,
            _ => End::Failed,
        }
    }
}

/// What Rust's runtime says when there is no more memory.
const OUT_OF_MEMORY: &str = "memory allocation of";

/// A worker that has ended.
pub struct Ended {
    pub how: End,
    status: ExitStatus,
    /// What it said was wrong.
    trouble: Option<String>,
    /// The last line on its standard error.
    pub last_words: String,
    pub remains: Remains,
}

impl Ended {
    pub fn out_of_memory(&self) -> bool {
        self.last_words.contains(OUT_OF_MEMORY)
    }

    /// `SIGSEGV`, `exit code 101`.
    pub fn cause(&self) -> String {
        match (self.status.signal(), self.status.code()) {
            (Some(signal), _) => system::signal_name(signal),
            (None, Some(code)) => format!("exit code {code}"),
            (None, None) => "an unknown cause".to_string(),
        }
    }

    /// Why it did not do what it was to do: in its own words, if it had any.
    pub fn why(&self) -> String {
        match (&self.trouble, self.how, self.last_words.as_str()) {
            (Some(trouble), _, _) => trouble.clone(),
            (None, End::Stuck, _) => format!("it ran no statement for {} s", STUCK_LIMIT.as_secs()),
            (None, _, "") => self.cause(),
            (None, _, words) => format!("{}: {words}", self.cause()),
        }
    }

    /// The same as an error: what failed, unless the worker itself said what is wrong.
    pub fn failure(&self, what: &str) -> anyhow::Error {
        match &self.trouble {
            Some(trouble) => anyhow!("{trouble}"),
            None => anyhow!("{what}: {}", self.why()),
        }
    }
}

/// The last line a worker wrote, without the advice of Rust's runtime that follows it.
fn last_words(stderr: &mut File) -> String {
    const TAIL: u64 = 4096;
    let mut bytes = Vec::new();
    let length = stderr.metadata().map(|meta| meta.len()).unwrap_or(0);
    if stderr.seek(SeekFrom::Start(length.saturating_sub(TAIL))).is_ok() {
        let _ = stderr.read_to_end(&mut bytes);
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut lines =
        text.lines().rev().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("note: "));
    lines.next().unwrap_or_default().to_string()
}

/// Adds up the time in which a number did not change, as far as the watcher itself was awake: a campaign
/// that was suspended (Ctrl-Z) and goes on must not take its own sleep for a hang.
struct StallWatch {
    sequence: u64,
    looked: Instant,
    still: Duration,
}

impl StallWatch {
    const LONGEST_LOOK: Duration = Duration::from_secs(1);

    fn new() -> Self {
        StallWatch { sequence: 0, looked: Instant::now(), still: Duration::ZERO }
    }

    fn look(&mut self, sequence: u64, now: Instant) -> Duration {
        let since = now.saturating_duration_since(self.looked).min(Self::LONGEST_LOOK);
        self.looked = now;
        if sequence == self.sequence {
            self.still += since;
        } else {
            self.sequence = sequence;
            self.still = Duration::ZERO;
        }
        self.still
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_that_stays_while_we_watch_is_a_stall() {
        let start = Instant::now();
        let second = |n: u64| start + Duration::from_secs(n);
        let mut watch = StallWatch { sequence: 0, looked: start, still: Duration::ZERO };
        assert_eq!(watch.look(1, second(1)), Duration::ZERO);
        assert_eq!(watch.look(1, second(2)), Duration::from_secs(1));
        assert_eq!(watch.look(1, second(3)), Duration::from_secs(2));
        // An hour asleep counts as one look.
        assert_eq!(watch.look(1, second(3603)), Duration::from_secs(3));
        assert_eq!(watch.look(2, second(3604)), Duration::ZERO);
    }
}
