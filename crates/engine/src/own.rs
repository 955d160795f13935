//! The databases that Dissent creates on servers: it never touches others.
//!
//! Their names say who made them, so that what a process left behind when it was killed can be dropped later:
//! `dissent_MACHINE_PROCESS_START_RANDOM_CHECK`. The machine is one boot of one kernel (and one container of it), a
//! process has its number and the moment it was started, and the check is a hash of the rest: a database that somebody
//! else called `dissent_…` is never taken for one of ours.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dissent_core::hash::fnv1a;

use crate::process::{self, process_start};
use crate::server;
use crate::source::Source;

const PREFIX: &str = "dissent_";

/// Whose a database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This process.
    This,
    /// A process of this machine that is running.
    Running(u32),
    /// A process of this machine that has ended.
    Ended,
    /// Another machine, or this one before it was started again: whether it is in use cannot be seen from here.
    Elsewhere,
}

/// What the names of all databases contain that this process and its workers make.
pub fn mark() -> &'static str {
    static MARK: LazyLock<String> = LazyLock::new(|| {
        let process = std::process::id();
        format!("{:08x}_{process}_{:x}", machine(), process_start(process).unwrap_or(0))
    });
    &MARK
}

/// A boot of a kernel, and in it what the numbers of processes refer to.
fn machine() -> u32 {
    static MACHINE: LazyLock<u32> = LazyLock::new(|| {
        let boot = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        short_hash(&[boot.as_slice(), space.as_os_str().as_encoded_bytes()].concat())
    });
    *MACHINE
}

fn short_hash(bytes: &[u8]) -> u32 {
    let hash = fnv1a(bytes);
    (hash ^ (hash >> 32)) as u32
}

/// An unused name, with the mark of the process that cleans up; without one `dissent_0123456789abcdef`, on a server that
/// ends with its user.
pub fn fresh_name(mark: Option<&str>) -> String {
    let random = RandomState::new().build_hasher().finish();
    match mark {
        Some(mark) => checked(format!("{PREFIX}{mark}_{:08x}", random as u32)),
        None => format!("{PREFIX}{random:016x}"),
    }
}

fn checked(name: String) -> String {
    let check = short_hash(name.as_bytes());
    format!("{name}_{check:08x}")
}

/// Who made the database of this name, if Dissent did. Such a name may be part of a statement as it is.
pub fn owner(name: &str) -> Option<Owner> {
    let (start, _) = name.rsplit_once('_')?;
    if checked(start.to_string()) != name {
        return None;
    }
    let mut parts = start.strip_prefix(PREFIX)?.split('_');
    let (made_on, process, started) = (parts.next()?, parts.next()?, parts.next()?);
    let made_on = u32::from_str_radix(made_on, 16).ok()?;
    let (process, started) = (process.parse().ok()?, u64::from_str_radix(started, 16).ok()?);
    let random = parts.next().filter(|random| u32::from_str_radix(random, 16).is_ok());
    if random.is_none() || parts.next().is_some() {
        return None;
    }
    Some(match process_start(process) == Some(started) {
        _ if made_on != machine() => Owner::Elsewhere,
        true if process == std::process::id() => Owner::This,
        true => Owner::Running(process),
        false => Owner::Ended,
    })
}

/// The servers that this process uses.
pub(crate) static VISITED: Mutex<Vec<Source>> = Mutex::new(Vec::new());

/// How long a server may take to make a database.
const MAKING: Duration = Duration::from_secs(3);

/// Waits while databases of ours are being made: a process that was killed may have asked for one a moment ago, and the
/// server does not stop for that. `is_running` says whether statements run that begin with the text it is given.
pub fn wait_until_made(mut is_running: impl FnMut(&str) -> bool) {
    let start = Instant::now();
    // The underscore would stand for any character.
    while is_running("CREATE DATABASE dissent") && start.elapsed() < MAKING {
        sleep(Duration::from_millis(10));
    }
}

/// Removes all that this process, its children and dead processes have left: databases on the servers that were used,
/// directories of private servers. It is the last thing that a program does: its children are killed.
///
/// # Errors
///
/// What could not be removed from a server. Whoever uses that next drops it.
pub fn leave() -> Result<(), crate::EngineError> {
    process::kill_children();
    server::remove_homes();
    server::sweep_all();
    let mut visited = std::mem::take(&mut *VISITED.lock().unwrap_or_else(PoisonError::into_inner));
    visited.dedup();
    visited.iter().map(Source::leave).fold(Ok(()), Result::and)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_whose_a_database_is() {
        let (first, second) = (fresh_name(Some(mark())), fresh_name(Some(mark())));
        assert_ne!(first, second);
        assert_eq!(owner(&first), Some(Owner::This));
        assert!(first.len() < 63, "{first}");

        let of = |mark: String| owner(&fresh_name(Some(&mark)));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let started = process_start(child.id()).unwrap();
        let its = format!("{:08x}_{}_{started:x}", machine(), child.id());
        assert_eq!(of(its.clone()), Some(Owner::Running(child.id())));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(of(its), Some(Owner::Ended));
        assert_eq!(of(format!("{:08x}_1_1", machine() ^ 1)), Some(Owner::Elsewhere));
    }

    #[test]
    fn what_others_called_so_is_not_ours() {
        let ours = fresh_name(Some(mark()));
        for name in [
            "dissent_shop".to_string(),
            "dissent_00000000_1_1_00000000_00000000".to_string(),
            format!("{ours}_2"),
            ours.replace("dissent", "Dissent"),
            checked("dissent_x; DROP DATABASE shop".to_string()),
            checked("dissent_00000001_1_1_x`".to_string()),
            checked("dissent_00000001_1_1_0_0".to_string()),
            fresh_name(None),
        ] {
            assert_eq!(owner(&name), None, "{name}");
        }
    }
}
