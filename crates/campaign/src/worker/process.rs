//! The supervisor's side of a worker: start it, watch its pulse, end it, read what it left.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::journal::{self, Journal, Remains};
use super::protocol::{Event, Job, Task, read_events};
use crate::system;

pub struct WorkerProcess {
    child: Child,
    /// Open only where the task takes more than the job.
    pub input: Option<ChildStdin>,
    pub journal: Journal,
    stderr: File,
    watch: StallWatch,
}

impl WorkerProcess {
    /// Starts a worker on a task. Its events come out of the stream. Call this only from a thread that
    /// lives as long as the worker may (see [`system::confine`]).
    pub fn spawn(task: &Task, memory_bytes: u64) -> anyhow::Result<(WorkerProcess, ChildStdout)> {
        let memory = system::memory_file(journal::BYTES as u64).context("cannot make a journal")?;
        let journal = Journal::new(&memory)?;
        let stderr = system::memory_file(0).context("cannot make a file for a worker's messages")?;
        // Not `current_exe`: this one still works after the program on disk was replaced or removed.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("dissent").arg("worker").env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr.try_clone()?);
        system::confine(&mut command, &memory, memory_bytes);
        let mut child = command.spawn().context("cannot start a worker process")?;
        let job = Job { journal: system::inherited_path(memory.as_raw_fd()), task: task.clone() };
        let mut input = child.stdin.take();
        if let Some(stdin) = &mut input {
            let mut line = serde_json::to_vec(&job)?;
            line.push(b'\n');
            // A worker that is already dead cannot read its job; its death is seen soon enough.
            let _ = stdin.write_all(&line);
        }
        let input = input.filter(|_| matches!(task, Task::Check(_)));
        let events = child.stdout.take().context("a worker has no standard output")?;
        Ok((WorkerProcess { child, input, journal, stderr, watch: StallWatch::new() }, events))
    }

    /// How long the worker has not moved, and whether the engine is running a statement.
    pub fn stalled(&mut self) -> (Duration, bool) {
        let pulse = self.journal.pulse();
        (self.watch.look(pulse.sequence, Instant::now()), pulse.running)
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// Waits for a worker whose event stream has ended.
    pub fn bury(mut self) -> anyhow::Result<Dead> {
        let status = self.child.wait().context("cannot wait for a worker")?;
        let last_words = last_words(&mut self.stderr);
        Ok(Dead { status, last_words, remains: self.journal.remains() })
    }
}

/// A supervisor that fails on the way leaves no worker behind, not even as a zombie.
impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A worker that has ended.
pub struct Dead {
    status: ExitStatus,
    /// The last line on its standard error.
    pub last_words: String,
    pub remains: Remains,
}

impl Dead {
    pub fn finished_well(&self) -> bool {
        self.status.success()
    }

    /// It fell over a mistake in its own address space: the engine's, unless Rust's runtime says that
    /// our own code, outside any statement, used up the stack or the memory.
    pub fn crashed(&self) -> bool {
        let ours = !self.remains.running
            && (self.out_of_memory() || self.last_words.contains("overflowed its stack"));
        self.status.signal().is_some_and(system::is_crash_signal) && self.remains.statement.is_some() && !ours
    }

    /// By a signal that is nobody's mistake: somebody sent it.
    pub fn was_ended_from_outside(&self) -> bool {
        self.status.signal().is_some_and(|signal| !system::is_crash_signal(signal))
    }

    pub fn out_of_memory(&self) -> bool {
        self.last_words.contains("memory allocation of")
    }

    /// `SIGSEGV`, `exit code 101`.
    pub fn cause(&self) -> String {
        match (self.status.signal(), self.status.code()) {
            (Some(signal), _) => system::signal_name(signal),
            (None, Some(code)) => format!("exit code {code}"),
            (None, None) => "an unknown cause".to_string(),
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

/// Runs a task that ends by itself; gives its events and how it ended. `hung` if it had to be killed.
pub fn run_to_end(task: &Task, memory_bytes: u64, hang_limit: Duration) -> anyhow::Result<Ended> {
    let (mut worker, stream) = WorkerProcess::spawn(task, memory_bytes)?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || read_events(stream, |event| drop(sender.send(event))));
    let (events, hung) = collect(&mut worker, &receiver, hang_limit);
    Ok(Ended { events, hung, dead: worker.bury()? })
}

pub struct Ended {
    pub events: Vec<Event>,
    pub hung: bool,
    pub dead: Dead,
}

/// The stream of a worker that was killed ends too, so this always returns.
fn collect(
    worker: &mut WorkerProcess,
    receiver: &Receiver<Event>,
    hang_limit: Duration,
) -> (Vec<Event>, bool) {
    let (mut events, mut hung) = (Vec::new(), false);
    loop {
        match receiver.recv_timeout(Duration::from_millis(100)) {
            Ok(event) => events.push(event),
            Err(RecvTimeoutError::Disconnected) => return (events, hung),
            Err(RecvTimeoutError::Timeout) => {
                let (stalled, running) = worker.stalled();
                let limit = if running { hang_limit } else { STUCK_LIMIT };
                if stalled > limit && !hung {
                    hung = true;
                    worker.kill();
                }
            }
        }
    }
}

/// A worker that has run no statement for so long is stuck in our own code, or in starting a server, which on
/// a busy machine takes its time.
pub const STUCK_LIMIT: Duration = Duration::from_secs(180);

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
