//! What the end-to-end tests share: the built binary, and findings made by hand.

#![allow(dead_code, reason = "each test binary uses its own part")]

#[path = "../../../engine/tests/common/certificates.rs"]
pub mod certificates;
pub mod packages;
pub mod served;
pub mod traces;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use dissent_core::finding::{Class, Evidence, FINDING_FORMAT, Failure, Finding, Origin};
use dissent_core::sql::{BinaryOp, Expr, Query, Select, Statement, TableRef};
use dissent_core::subject::{Subject, TestCase};
use serde_json::Value as Json;

pub const BINARY: &str = env!("CARGO_BIN_EXE_dissent");

/// The binary, in a directory where it may leave things.
pub fn dissent(directory: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command.current_dir(directory).timeout(Duration::from_secs(120));
    command
}

pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

pub fn run(command: &mut Command) -> Said {
    let output = command.output().expect("the binary runs");
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

/// Runs a command of the shell, which succeeds.
pub fn shell(command: &str) {
    let output = std::process::Command::new("sh").args(["-ec", command]).output().expect("there is a shell");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Options of a hunt whose bugs get the same signatures in whatever order they are found: without virtual tables, whose bugs
/// show in examples of several signatures. Writes the profile into the directory.
pub fn without_virtual_tables(directory: &Path) -> [&'static str; 2] {
    std::fs::write(directory.join("plain.toml"), "\"schema.module\" = 0\n")
        .expect("a profile can be written");
    ["--profile", "plain.toml"]
}

impl Said {
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout, self.stderr))
    }

    /// Exit code 2 and one sentence, on standard error alone.
    #[track_caller]
    pub fn refused_with(&self, part: &str) {
        assert_eq!(self.code, Some(2), "{}\n{}", self.stdout, self.stderr);
        assert!(self.stderr.starts_with("dissent: "), "{}", self.stderr);
        assert_eq!(self.stderr.trim_end().lines().count(), 1, "{}", self.stderr);
        assert!(self.stderr.contains(part), "{}", self.stderr);
        assert_eq!(self.stdout, "");
    }
}

impl Said {
    /// The same where the message may have several lines, as those of other parsers do.
    #[track_caller]
    pub fn refused_with_part(&self, part: &str) {
        assert_eq!(self.code, Some(2), "{}\n{}", self.stdout, self.stderr);
        assert!(self.stderr.starts_with("dissent: ") && self.stderr.contains(part), "{}", self.stderr);
    }
}

pub fn only_finding(out: &Path) -> PathBuf {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(out.join("findings")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries.remove(0)
}

/// A finding of NoREC over `SELECT … FROM t0 WHERE c0 = 1`, with the setup given.
pub fn norec_finding(setup: &[&str]) -> Finding {
    let filter = Expr::binary(BinaryOp::Eq, Expr::column("t0", "c0"), Expr::int(1));
    let query = Query::select(Select {
        items: vec![Expr::int(1).into()],
        from: vec![TableRef::table("t0")],
        filter: Some(filter),
        ..Select::default()
    });
    let setup = setup.iter().map(|sql| Statement::Raw(sql.to_string())).collect();
    Finding {
        format: FINDING_FORMAT,
        target: "sqlite".to_string(),
        dialect: "sqlite".to_string(),
        engine_version: "3.0.0".to_string(),
        case: TestCase { setup, subject: Subject::new("norec", query) },
        evidence: Evidence {
            class: Class::WrongRows,
            relation: "WHERE keeps as many rows as make the predicate TRUE".to_string(),
            arms: Vec::new(),
            failure: Failure::Counts { first: 0, second: 1 },
            explanation: None,
        },
        origin: Origin { seed: 1, case: 1, ..Origin::default() },
        triage: Default::default(),
    }
}

/// An index that does not hold every row, on an engine without fault: the schema is edited so that a
/// partial index passes for a full one.
pub const BROKEN_INDEX: &[&str] = &[
    "CREATE TABLE t0(c0 INT)",
    "INSERT INTO t0 VALUES (1), (2)",
    "CREATE INDEX i0 ON t0(c0) WHERE c0 > 1",
    "PRAGMA writable_schema = ON",
    "UPDATE sqlite_master SET sql = 'CREATE INDEX i0 ON t0(c0)' WHERE name = 'i0'",
    "PRAGMA writable_schema = RESET",
];

pub fn write_finding(directory: &Path, finding: &Finding) -> PathBuf {
    let path = directory.join("finding.json");
    std::fs::write(&path, serde_json::to_string_pretty(finding).unwrap()).unwrap();
    path
}

/// Looks again and again until there is something to see.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The state and the parent of a process, from `/proc/PID/stat`.
fn stat(process: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

pub fn children_of(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    processes.filter(|process| stat(*process).is_some_and(|(_, its)| its == parent)).collect()
}

/// A zombie that nobody has waited for is dead too.
pub fn is_alive(process: u32) -> bool {
    stat(process).is_some_and(|(state, _)| state != 'Z')
}

/// Whether a process does nothing for a while: one that hunts always computes.
pub fn is_idle(process: u32) -> bool {
    (0..25).all(|_| {
        std::thread::sleep(Duration::from_millis(20));
        stat(process).is_some_and(|(state, _)| state == 'S')
    })
}

/// Kills a process that a test has started, or a child of one, as the system does when memory runs out.
pub fn kill(process: u32) {
    try_kill(process);
}

/// Whether it was still there.
pub fn try_kill(process: u32) -> bool {
    let killed = std::process::Command::new("kill").args(["-9", &process.to_string()]).output();
    killed.is_ok_and(|killed| killed.status.success())
}
