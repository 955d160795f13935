//! Processes of this machine.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a process may take to end when it is killed: the kernel has to free its memory.
const PATIENCE: Duration = Duration::from_secs(3);

/// When a process started, in clock ticks since the machine did: with its number it is told from every other
/// process. None if it is not running.
pub fn process_start(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may hold anything, spaces and parentheses too.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    // A zombie has ended and waits to be noticed.
    if state == "Z" { None } else { fields.nth(18)?.parse().ok() }
}

/// Kills all child processes of this one, and waits until they have ended. Theirs die with them.
pub(crate) fn kill_children() {
    let children: Vec<u32> =
        processes().filter(|process| parent(*process) == Some(std::process::id())).collect();
    for child in &children {
        // SAFETY: sends a signal to a process of ours; nothing else can have its number until it was waited for.
        unsafe { libc::kill(*child as libc::pid_t, libc::SIGKILL) };
    }
    let start = Instant::now();
    while children.iter().any(|child| process_start(*child).is_some()) && start.elapsed() < PATIENCE {
        sleep(Duration::from_millis(5));
    }
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_start_until_it_ends() {
        let own = process_start(std::process::id()).expect("this test is running");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let started = process_start(child.id()).expect("the child is running");
        assert!(started >= own, "{started} {own}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(process_start(child.id()), None);
    }
}
