//! Hunts that watch the engine's code, over the built binary.

mod support;

use std::path::Path;

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
}

#[test]
fn a_worker_that_is_killed_while_watched_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("c");
    let mut child = std::process::Command::new(BINARY)
        .current_dir(directory.path())
        .args([
            "hunt",
            TARGET,
            "--jobs",
            "1",
            "--guide",
            "coverage",
            "--max-cases",
            "3000",
            "--out",
            "c",
            "--plain",
        ])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..3 {
        let before = std::fs::read_dir(out.join("corpus")).map_or(0, |files| files.count());
        wait_for("something to be kept", || {
            let ended = child.try_wait().unwrap().is_some();
            let kept = std::fs::read_dir(out.join("corpus")).map_or(0, |files| files.count());
            (ended || kept > before).then_some(())
        });
        children_of(child.id()).into_iter().for_each(kill);
    }
    let status = child.wait().unwrap();
    assert!(status.code() < Some(2), "{status}");
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
    // The map is shared by all workers: what a killed one saw and did not report is there, too.
    let seen = Map::open(&out.join("coverage.map")).unwrap().hits();
    assert!(seen > 5_000, "{seen}");
    assert_eq!(summary["guide"]["features"].as_u64(), Some(seen), "{summary}");
}

#[test]
fn a_server_by_url_says_that_it_has_no_coverage() {
    let directory = tempfile::tempdir().unwrap();
    let said =
        run(dissent(directory.path()).args(["hunt", "postgres://me@127.0.0.1:1/db", "--guide", "coverage"]));
    said.refused_with("a server by URL has no code coverage");
}
