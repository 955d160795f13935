//! The process of a worker, and the lines to and from it.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::confine::Confinement;

/// Bytes of address space: a worker that wants more fails to get it, not the machine.
const MEMORY: u64 = 8 << 30;
/// What Rust says when there is no memory left, before it aborts.
const NO_MEMORY: &str = "memory allocation of";

/// Ended with the value, and by the kernel if our process dies first.
pub struct Pipe {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
    words: Words,
    /// What was read and belongs to no line yet.
    rest: Vec<u8>,
}

/// Why there is no answer.
pub enum Lost {
    /// It takes too long.
    Late,
    /// The process asked for more memory than it may have.
    Memory(String),
    /// The process is gone: its last words, and how it ended.
    Crashed(String),
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Lost::Late => f.write_str("it does not answer"),
            Lost::Memory(words) | Lost::Crashed(words) => f.write_str(words),
        }
    }
}

impl Pipe {
    pub fn start(mut command: Command) -> io::Result<Pipe> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C at the terminal is for us alone.
        command.process_group(0).env("RUST_BACKTRACE", "0");
        let confinement =
            Confinement { memory_bytes: Some(MEMORY), without_core: true, ..Confinement::default() };
        confinement.apply(&mut command);
        let mut child = command.spawn()?;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(to), Some(from), Some(errors)) => {
                Ok(Pipe { child, to, from, words: Words::of(errors), rest: Vec::new() })
            }
            _ => Err(io::Error::other("the worker process has no pipes")),
        }
    }

    /// Sends a line and waits for the answer.
    pub fn ask(&mut self, line: &str, limit: Duration) -> Result<String, Lost> {
        self.words.forget();
        // In one piece: the worker would wake up twice.
        match self.to.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.to.flush()) {
            Ok(()) => self.read(limit),
            Err(_) => Err(self.ended()),
        }
    }

    /// The next line.
    pub fn read(&mut self, limit: Duration) -> Result<String, Lost> {
        let start = Instant::now();
        let mut looked_at = 0;
        loop {
            if let Some(end) = self.rest[looked_at..].iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=looked_at + end).collect();
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
            looked_at = self.rest.len();
            let left = limit.checked_sub(start.elapsed()).ok_or(Lost::Late)?;
            if !self.has_more(left) {
                return Err(Lost::Late);
            }
            let mut bytes = [0; 1 << 16];
            match self.from.read(&mut bytes) {
                Ok(0) | Err(_) => return Err(self.ended()),
                Ok(count) => self.rest.extend(&bytes[..count]),
            }
        }
    }

    /// Waits until there is something to read, or the end of it.
    fn has_more(&self, limit: Duration) -> bool {
        let mut wanted = libc::pollfd { fd: self.from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let millis = libc::c_int::try_from(limit.as_millis().max(1)).unwrap_or(libc::c_int::MAX);
        // SAFETY: one entry, which outlives the call; its descriptor is open as long as we are.
        unsafe { libc::poll(&mut wanted, 1, millis) != 0 }
    }

    /// How the process ended, which has closed its pipes.
    fn ended(&mut self) -> Lost {
        let _ = self.child.kill();
        let status = self.child.wait().map(|status| status.to_string()).unwrap_or_default();
        let words = self.words.last();
        let mut lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
        match (lines.clone().find(|line| line.starts_with(NO_MEMORY)), lines.next()) {
            (Some(line), _) => Lost::Memory(line.to_string()),
            (None, Some(line)) => Lost::Crashed(format!("{line} ({status})")),
            (None, None) => Lost::Crashed(status),
        }
    }
}

/// What a worker has printed to its standard error since the last question. It is read all the time: a worker that fills
/// the pipe would wait for ever. Panics that the worker catches are printed, too, and must not be taken for the reason
/// of a later crash.
struct Words {
    since: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Words {
    /// Bytes that are kept: the first line tells most.
    const MOST: usize = 1 << 14;

    fn of(mut errors: ChildStderr) -> Words {
        let since = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&since);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 1 << 12];
            while let Ok(count @ 1..) = errors.read(&mut bytes) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = Words::MOST - kept.len();
                kept.extend(&bytes[..count.min(room)]);
            }
        });
        Words { since, reader: Some(reader) }
    }

    fn forget(&self) {
        self.since.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Of a process that has ended.
    fn last(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        String::from_utf8_lossy(&self.since.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// A worker that does what it is told in the shell's words.
    fn shell() -> Pipe {
        let mut command = Command::new("sh");
        command.args(["-c", "while read -r line; do eval \"$line\"; done"]);
        Pipe::start(command).unwrap()
    }

    #[test]
    fn a_crash_is_not_blamed_on_an_older_panic() {
        let mut pipe = shell();
        // The answer comes last, and what is printed before it may arrive after it.
        let caught = "echo 'thread main panicked at old.rs' >&2; sleep 0.2; echo answer";
        assert_eq!(pipe.ask(caught, LONG).ok().as_deref(), Some("answer\n"));
        let Err(Lost::Crashed(words)) = pipe.ask("echo 'panicked at new.rs' >&2; exit 3", LONG) else {
            panic!("it crashes");
        };
        assert_eq!(words, "panicked at new.rs (exit status: 3)");
    }

    #[test]
    fn a_lack_of_memory_after_a_panic_is_a_limit() {
        let told = "echo 'panicked' >&2; echo 'memory allocation of 9 bytes failed' >&2; exit 1";
        let Err(Lost::Memory(words)) = shell().ask(told, LONG) else { panic!("it lacks memory") };
        assert_eq!(words, "memory allocation of 9 bytes failed");
    }

    #[test]
    fn a_worker_that_prints_a_lot_still_answers() {
        let told = "yes panicked | head -c 1000000 >&2; echo answer";
        assert_eq!(shell().ask(told, LONG).ok().as_deref(), Some("answer\n"));
    }
}
