//! Machines of a fleet: hunts of the built binary, each with its own directory.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::support::{BINARY, Said, dissent, run, without_virtual_tables};

/// An old version with bugs that are found in seconds.
pub const TARGET: &str = "sqlite@3.30.1";
const COMMON: [&str; 6] = ["--seed", "5", "--oracles", "norec,tlp", "--jobs", "1"];
/// How long a machine is silent before it counts as dead.
pub const SILENCE: Duration = Duration::from_secs(8);

/// Starts a machine, or one that was killed again. What it says is added to `NAME.said` and `NAME.err`, the databases that it
/// visits to `NAME.visits`.
pub fn machine(directory: &Path, name: &str, url: &str, more: &[&str]) -> Child {
    let file = |end: &str| {
        let path = directory.join(format!("{name}.{end}"));
        File::options().create(true).append(true).open(path).unwrap()
    };
    let mut command = Command::new(BINARY);
    command.args(["hunt", TARGET, "--join", url, "--plain"]).current_dir(directory);
    match directory.join(name).join("campaign.json").exists() {
        true => command.args(["--resume", name]),
        false => {
            command.args(COMMON).args(without_virtual_tables(directory)).args(["--out", name]).args(more)
        }
    };
    command
        .env("DISSENT_TEST_SILENCE", SILENCE.as_secs().to_string())
        .env("DISSENT_TEST_VISITS", directory.join(format!("{name}.visits")));
    command.stdout(file("said")).stderr(file("err")).stdin(Stdio::null()).spawn().unwrap()
}

pub fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("m{number}")).collect()
}

/// Waits until all have ended without an error.
pub fn wait_all(machines: &mut [Child], within: Duration) {
    let start = Instant::now();
    for machine in machines {
        let code = wait(machine, start, within);
        assert!(matches!(code, Some(0 | 1)), "{code:?}");
    }
}

/// The exit code of a machine, which ends in time.
pub fn wait(machine: &mut Child, start: Instant, within: Duration) -> Option<i32> {
    loop {
        if let Some(status) = machine.try_wait().unwrap() {
            return status.code();
        }
        assert!(start.elapsed() < within, "a machine does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub fn json(path: &Path) -> Json {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

pub fn signatures(bugs: &Json) -> Vec<String> {
    let mut all: Vec<String> =
        bugs.as_array().unwrap().iter().map(|bug| bug["signature"].to_string()).collect();
    all.sort();
    all
}

/// The databases that a machine visited, in that order.
pub fn visits_of(directory: &Path, name: &str) -> Vec<u64> {
    let text = fs::read_to_string(directory.join(format!("{name}.visits"))).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// All databases that were visited.
pub fn visits(directory: &Path, names: &[String]) -> Vec<u64> {
    let mut all: Vec<u64> = names.iter().flat_map(|name| visits_of(directory, name)).collect();
    all.sort();
    all
}

/// A hunt of a moment, as one machine of a fleet, with variables of the environment.
pub fn join_with(path: &Path, url: &str, target: &str, out: &str, variables: &[(&str, &str)]) -> Said {
    let short = ["--time", "1s", "--oracles", "norec", "--no-reduce", "--jobs", "1", "--plain"];
    let mut command = dissent(path);
    command.args(["hunt", target, "--join", url, "--out", out]).args(short);
    run(command.envs(variables.iter().copied()))
}

pub fn join(path: &Path, url: &str, target: &str, out: &str) -> Said {
    join_with(path, url, target, out, &[])
}

#[track_caller]
pub fn hunted(said: &Said) {
    assert!(matches!(said.code, Some(0 | 1)), "{}\n{}", said.stdout, said.stderr);
}
