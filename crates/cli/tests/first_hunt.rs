//! The first hunt of a version: it does not wait until the engine's functions are probed, unless it has to be
//! repeatable.

mod support;

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value as Json;
use support::{BINARY, dissent, run, wait_for};

fn read(path: &Path) -> Json {
    std::fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Starts a first hunt and waits until its workers have the catalog: the database from which each has it.
fn taken_up(directory: &Path) -> (Child, Vec<u64>) {
    let hunt = Command::new(BINARY)
        .args(["hunt", "--jobs", "2", "--summary", "json", "--out", "out"])
        .current_dir(directory)
        .env("DISSENT_CACHE", directory.join("cache"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let from = wait_for("the catalog is taken up", || {
        read(&directory.join("out/campaign.json"))["catalog_from"].as_array().cloned()
    });
    (hunt, from.iter().filter_map(Json::as_u64).collect())
}

/// SQLite is probed within half a second. A busy machine may give all of that to the process that probes, but not always.
const TRIES: usize = 8;

#[test]
fn it_starts_at_once_and_takes_up_what_the_engine_can_compute() {
    let started = (0..TRIES).find_map(|_| {
        let directory = tempfile::tempdir().unwrap();
        let (mut hunt, from) = taken_up(directory.path());
        assert_eq!(from.len(), 2);
        if from.iter().any(|database| *database > 1) {
            return Some((directory, hunt, from));
        }
        hunt.kill().unwrap();
        hunt.wait().unwrap();
        None
    });
    let Some((directory, mut hunt, from)) = started else {
        panic!("nothing is hunted before the catalog is there")
    };
    let out = directory.path().join("out");
    wait_for("workers that know it have done something", || {
        let position = read(&out.join("position.json"));
        let next: Vec<u64> = position["next_databases"].as_array()?.iter().filter_map(Json::as_u64).collect();
        next.iter().zip(&from).all(|(next, from)| *next > from + 20).then_some(())
    });
    // SAFETY: the process is our own child and has not been waited for, so the number is still its.
    unsafe { libc::kill(hunt.id() as libc::pid_t, libc::SIGINT) };
    let mut text = String::new();
    hunt.stdout.as_mut().unwrap().read_to_string(&mut text).unwrap();
    hunt.wait().unwrap();
    let summary: Json = serde_json::from_str(&text).unwrap();
    assert!(summary["operations"]["seen"].as_u64().is_some_and(|seen| seen > 0), "{}", summary["operations"]);
    assert_eq!(summary["worker_failures"], serde_json::json!([]));
}

#[test]
fn a_hunt_that_can_be_repeated_waits() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("cache");
    let mut hunt = dissent(directory.path());
    hunt.env("DISSENT_CACHE", &cache).args(["hunt", "--jobs", "1", "--max-cases", "50", "--out", "out"]);
    let said = run(hunt.args(["--summary", "json"]));
    assert!(said.stderr.contains("probed "), "{}", said.stderr);
    assert!(said.json()["operations"]["seen"].as_u64().is_some_and(|seen| seen > 0));
    assert_eq!(read(&directory.path().join("out/campaign.json"))["catalog_from"], Json::Null);
    let kept = || std::fs::read_dir(cache.join("catalogs")).unwrap().map(|file| file.unwrap().file_name());
    assert_eq!(kept().count(), 1, "only the finished one: {:?}", kept().collect::<Vec<_>>());
}
