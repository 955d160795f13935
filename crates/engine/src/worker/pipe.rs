//! The process of a worker, and the lines to and from it.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
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
    errors: ChildStderr,
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
            (Some(to), Some(from), Some(errors)) => Ok(Pipe { child, to, from, errors, rest: Vec::new() }),
            _ => Err(io::Error::other("the worker process has no pipes")),
        }
    }

    /// Sends a line and waits for the answer.
    pub fn ask(&mut self, line: &str, limit: Duration) -> Result<String, Lost> {
        let sent = self.to.write_all(line.as_bytes()).and_then(|()| self.to.write_all(b"\n"));
        match sent.and_then(|()| self.to.flush()) {
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
        let mut words = Vec::new();
        let _ = self.errors.read_to_end(&mut words);
        let words = String::from_utf8_lossy(&words);
        match words.lines().map(str::trim).find(|line| !line.is_empty()) {
            Some(line) if line.starts_with(NO_MEMORY) => Lost::Memory(line.to_string()),
            Some(line) => Lost::Crashed(format!("{line} ({status})")),
            None => Lost::Crashed(status),
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
