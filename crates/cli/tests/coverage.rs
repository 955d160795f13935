//! Hunts that watch the engine's code, over the built binary.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use dissent_core::guide::Entry;
use dissent_coverage::Map;
use support::{BINARY, children_of, dissent, kill, run, wait_for};

const TARGET: &str = "sqlite@3.34.0";

fn hunt(directory: &Path, arguments: &[&str]) -> support::Said {
    run(dissent(directory)
        .args(["hunt", TARGET, "--jobs", "1", "--seed", "3", "--summary", "json"])
        .args(arguments))
}

#[test]
fn counting_coverage_changes_no_statement_and_no_finding() {
    let directory = tempfile::tempdir().unwrap();
    let hunted = |name: &str, more: &[&str]| {
        let log = format!("{name}.sql");
        let all =
            ["--guide", "none", "--max-cases", "400", "--no-reduce", "--out", name, "--log-statements", &log];
        let said = hunt(directory.path(), &[&all[..], more].concat());
        let summary = said.json();
        assert_eq!(summary["worker_failures"], serde_json::json!([]), "{}", said.stderr);
        let findings: Vec<String> = summary["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| format!("{} {}", finding["oracle"], finding["title"]))
            .collect();
        (std::fs::read(directory.path().join(log)).unwrap(), findings, summary)
    };
    let (plain, findings, _) = hunted("plain", &[]);
    let (counted, same, summary) = hunted("counted", &["--count-coverage"]);
    assert!(plain == counted, "the statements differ");
    assert_eq!(findings, same);
    let guide = &summary["guide"];
    assert_eq!((guide["guide"].as_str(), guide["kept"].as_u64()), (Some("coverage"), Some(0)));
    assert!(guide["features"].as_u64() > Some(5_000), "{guide}");
}

#[test]
fn a_guided_hunt_keeps_what_reaches_new_code_and_shows_it() {
    let directory = tempfile::tempdir().unwrap();
    let said = hunt(directory.path(), &["--guide", "coverage", "--max-cases", "600", "--out", "c"]);
    let summary = said.json();
    assert_eq!(summary["worker_failures"], serde_json::json!([]), "{}", said.stderr);
    let guide = &summary["guide"];
    let features = guide["features"].as_u64().unwrap();
    assert!(features > 5_000 && guide["kept"].as_u64() > Some(0), "{guide}");
    // What is new is known at once: nothing is run again to find out.
    assert_eq!(guide["rehearsed_statements"].as_u64(), Some(0));

    let stats = |more: &[&str]| run(dissent(directory.path()).args(["stats", "coverage", "c"]).args(more));
    let table = stats(&[]);
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    let all = table.stdout.lines().nth(2).unwrap().replace(',', "");
    assert!(all.contains(&format!("| {features} of ")), "{all}");
    assert!(table.stdout.contains("| sqlite3Vdbe | "), "{}", table.stdout);
    let spatial = stats(&["--group", "rtree"]);
    assert!(spatial.stdout.contains("| rtreeInit | "), "{}", spatial.stdout);
    let nothing = stats(&["--group", "nonsense"]);
    assert!(nothing.code == Some(2) && nothing.stderr.contains("no function is in the group 'nonsense'"));

    // A campaign that goes on knows what it has seen; here its cases are used up.
    let resumed = run(dissent(directory.path()).args(["hunt", "--resume", "c", "--summary", "json"]));
    assert_eq!(resumed.json()["guide"]["features"].as_u64(), Some(features), "{}", resumed.stderr);
    let plan = hunt(directory.path(), &["--guide", "plan", "--max-cases", "20", "--out", "p"]);
    assert!(plan.code < Some(2), "{}", plan.stderr);
    let none = run(dissent(directory.path()).args(["stats", "coverage", "p"]));
    assert!(none.stderr.contains("has no coverage: hunt with --guide coverage"), "{}", none.stderr);
    // What several have seen is in each of them.
    let merged = run(dissent(directory.path()).args(["merge", "c", "--out", "m"]));
    assert!(merged.code < Some(2), "{}", merged.stderr);
    let none = run(dissent(directory.path()).args(["stats", "coverage", "m"]));
    none.refused_with("m was made of other campaigns: name one of those");
}

#[test]
fn a_campaign_goes_on_with_the_build_that_it_watched() {
    let directory = tempfile::tempdir().unwrap();
    // Its file is here once it was hunted.
    let said = hunt(directory.path(), &["--guide", "coverage", "--max-cases", "50", "--out", "c"]);
    assert!(said.code < Some(2), "{}", said.stderr);
    let map = directory.path().join("c/coverage.map");
    let mut bytes = std::fs::read(&map).unwrap();
    // A digit of the build's id.
    bytes[32] = if bytes[32] == b'0' { b'1' } else { b'0' };
    std::fs::write(&map, &bytes).unwrap();
    let resumed = run(dissent(directory.path()).args(["hunt", "--resume", "c"]));
    assert_eq!(resumed.code, Some(2), "{}", resumed.stderr);
    assert!(
        resumed.stderr.contains("this campaign watched another build of the engine"),
        "{}",
        resumed.stderr
    );
    assert!(std::fs::read(&map).unwrap() == bytes);
}

/// What a campaign has kept, by the names of files.
fn kept(campaign: &Path) -> BTreeMap<String, Entry> {
    let files =
        std::fs::read_dir(campaign.join("corpus")).into_iter().flatten().map(|file| file.unwrap().path());
    let entries = files.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let read = |path: PathBuf| {
        let text = std::fs::read(&path).unwrap();
        let entry =
            serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path.file_name().unwrap().to_str().unwrap().to_string(), entry)
    };
    entries.map(read).collect()
}

#[test]
fn a_worker_that_is_killed_while_watched_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("c");
    // Without reducers: all its children are workers.
    let mut hunt = std::process::Command::new(BINARY)
        .current_dir(directory.path())
        .args([
            "hunt",
            TARGET,
            "--jobs",
            "1",
            "--seed",
            "3",
            "--guide",
            "coverage",
            "--no-reduce",
            "--out",
            "c",
        ])
        .arg("--plain")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let hits = || Map::open(&out.join("coverage.map")).unwrap().hits();
    let (mut before, mut seen) = (BTreeMap::new(), 0);
    for _ in 0..3 {
        let worker = wait_for("a worker keeps something", || {
            assert!(hunt.try_wait().unwrap().is_none(), "the hunt ended by itself");
            children_of(hunt.id()).pop().filter(|_| kept(&out).len() > before.len())
        });
        (before, seen) = (kept(&out), hits());
        kill(worker);
        wait_for("it is dead", || (!children_of(hunt.id()).contains(&worker)).then_some(()));
        let now = kept(&out);
        assert!(before.iter().all(|(name, entry)| now.get(name) == Some(entry)), "an entry is lost");
    }
    wait_for("the next one keeps something", || (kept(&out).len() > before.len()).then_some(()));
    // SAFETY: the process is our own child and has not been waited for, so the number is still its.
    unsafe { libc::kill(hunt.id() as libc::pid_t, libc::SIGINT) };
    let status = hunt.wait().unwrap();
    assert!(matches!(status.code(), Some(0 | 1)), "{status}");
    // The map is shared by all workers: what a killed one saw and did not report is there, too.
    let map = Map::open(&out.join("coverage.map")).unwrap();
    assert!(seen > 5_000 && map.hits() > seen, "{seen} {}", map.hits());
    let entries = kept(&out);
    assert!(before.iter().all(|(name, entry)| entries.get(name) == Some(entry)), "an entry is lost");
    let features = || entries.values().flat_map(|entry| &entry.features);
    assert!(features().all(|feature| map.is_seen(*feature as usize)));
    // Each place is the first worker's to see it, whoever took its place.
    let different: BTreeSet<&u32> = features().collect();
    assert_eq!(different.len(), features().count());
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["guide"]["features"].as_u64(), Some(map.hits()), "{}", summary["guide"]);
}

#[test]
fn a_server_by_url_says_that_it_has_no_coverage() {
    let directory = tempfile::tempdir().unwrap();
    let said =
        run(dissent(directory.path()).args(["hunt", "postgres://me@127.0.0.1:1/db", "--guide", "coverage"]));
    said.refused_with("a server by URL has no code coverage");
}
