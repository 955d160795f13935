//! What a program leaves behind on this machine: processes, directories of servers, segments of shared memory.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use dissent_core::engine::{Engine, Reply};
use dissent_core::sql::Value;
use dissent_engine::Target;

use super::{children_of, is_alive};

/// A program that runs, and all that was seen of it.
pub struct Watched {
    pub child: Child,
    pub processes: BTreeSet<u32>,
    pub homes: BTreeSet<PathBuf>,
    /// Segments that were there before: numbers of processes are used again.
    foreign: Vec<(String, u32)>,
}

impl Watched {
    pub fn start(command: &mut Command) -> Watched {
        let foreign = segments();
        let child = command.spawn().expect("the program starts");
        let processes = BTreeSet::from([child.id()]);
        Watched { child, processes, homes: BTreeSet::new(), foreign }
    }

    /// Looks around for so long, or until the program ends.
    pub fn watch(&mut self, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time && matches!(self.child.try_wait(), Ok(None)) {
            self.look();
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the program to end.
    #[track_caller]
    pub fn finish(&mut self) -> std::process::ExitStatus {
        const MOST: Duration = Duration::from_secs(300);
        let start = Instant::now();
        loop {
            self.look();
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < MOST, "the program has not ended after {MOST:?}: {:?}", self.left());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn look(&mut self) {
        let mut todo: Vec<u32> = self.processes.iter().copied().collect();
        while let Some(parent) = todo.pop() {
            for child in children_of(parent) {
                if self.processes.insert(child) {
                    todo.push(child);
                }
            }
        }
        let mine = |home: &PathBuf| owner(home).is_some_and(|owner| self.processes.contains(&owner));
        let found: Vec<PathBuf> = homes().into_iter().filter(mine).collect();
        self.homes.extend(found);
    }

    pub fn signal(&self, name: &str) {
        let _ = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
    }

    /// Everything of it that is still there.
    pub fn left(&self) -> Vec<String> {
        let own = |process: &u32| *process != self.child.id() && is_alive(*process);
        let processes = self.processes.iter().filter(|process| own(process)).map(|process| {
            let title = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
            format!("process {process} {}", title.replace('\0', " "))
        });
        let homes = self.homes.iter().filter(|home| home.exists()).map(|home| home.display().to_string());
        let own =
            |segment: &(String, u32)| self.processes.contains(&segment.1) && !self.foreign.contains(segment);
        let segments = segments().into_iter().filter(own);
        processes.chain(homes).chain(segments.map(|(id, _)| format!("segment {id}"))).collect()
    }

    /// Nothing is left, or will not be in a moment.
    #[track_caller]
    pub fn assert_gone(&self) {
        let start = Instant::now();
        while !self.left().is_empty() && start.elapsed() < Duration::from_secs(2) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(self.left(), [""; 0], "something was left behind");
    }
}

/// A program that a failed test leaves running ends with it.
impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The directories of private servers.
fn homes() -> Vec<PathBuf> {
    let bases = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
    let entries = bases.iter().filter_map(|base| std::fs::read_dir(base).ok()).flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| owner(path).is_some()).collect()
}

/// `4711` of `dissent-server-mysql-4711-Xy3`.
fn owner(home: &std::path::Path) -> Option<u32> {
    let name = home.file_name()?.to_str()?.strip_prefix("dissent-server-")?;
    name.rsplit('-').nth(1)?.parse().ok()
}

/// Segments of shared memory, each with the process that made it.
fn segments() -> Vec<(String, u32)> {
    let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let lines = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.filter_map(|words| Some((words.get(1)?.to_string(), words.get(4)?.parse().ok()?))).collect()
}

/// A server that somebody else runs, as far as the program under test knows: ours, which ends with the test.
pub struct Somebodys {
    engine: Box<dyn Engine>,
    pub address: String,
    list: &'static str,
}

impl Somebodys {
    /// `None`: the engine is not available here, which was said loudly.
    pub fn start(name: &str) -> Option<Somebodys> {
        let mut engine = open(name)?;
        let (user, place, list) = match name {
            "postgres" => ("postgres", "SHOW unix_socket_directories", "SELECT datname FROM pg_database"),
            _ => ("root", "SELECT @@socket", "SHOW DATABASES"),
        };
        let place = texts(&mut *engine, place).remove(0).replace('/', "%2F");
        Some(Somebodys { engine, address: format!("{name}://{user}@{place}/"), list })
    }

    /// Whether this engine is available; if not, says so loudly.
    pub fn start_any(name: &str) -> Option<()> {
        open(name).map(drop)
    }

    /// Whether it survived what was asked of it.
    pub fn is_alive(&mut self) -> bool {
        self.engine.execute("SELECT 1").unwrap().failure().is_none()
    }

    /// The databases that Dissent made there by this address.
    pub fn databases(&mut self) -> Vec<String> {
        let all = texts(&mut *self.engine, self.list).into_iter();
        // The shorter one is the server's own, which this test made.
        all.filter(|name| name.starts_with("dissent_") && name.matches('_').count() > 1).collect()
    }

    /// As the one who runs the server, who may do more than the tests on it.
    pub fn execute(&mut self, sql: &str) {
        let reply = open(&self.address).unwrap().execute(sql).unwrap();
        assert!(reply.failure().is_none(), "{sql}: {reply:?}");
    }
}

fn open(name: &str) -> Option<Box<dyn Engine>> {
    let opened = Target::parse(name).unwrap().obtain(&mut |_| {}).and_then(|source| source.open());
    match opened {
        Ok(engine) => Some(engine),
        Err(error) => {
            let required = std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some();
            assert!(!required, "{name} is required: {error}");
            eprintln!("SKIPPED, not passed: {name} is not available: {error}");
            None
        }
    }
}

fn texts(engine: &mut dyn Engine, sql: &str) -> Vec<String> {
    let text = |value| match value {
        Value::Text(text) => text,
        other => panic!("{sql}: {other:?}"),
    };
    match engine.execute(sql).unwrap() {
        Reply::Rows(rows) => rows.values.into_iter().map(text).collect(),
        other => panic!("{sql}: {other:?}"),
    }
}
