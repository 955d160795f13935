//! `dissent hunt` over the built binary and the bundled SQLite.

mod support;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::{BINARY, children_of, dissent, is_idle, run, wait_for};

#[test]
fn a_short_hunt_gives_a_summary_in_json() {
    let directory = tempfile::tempdir().unwrap();
    let said =
        run(dissent(directory.path()).args(["hunt", "--time", "3s", "--summary", "json", "--seed", "7"]));
    let summary = said.json();
    assert_eq!(said.code, Some(i32::from(summary["findings"].as_array().is_some_and(|f| !f.is_empty()))));
    assert_eq!(summary["target"], "sqlite");
    assert_eq!(summary["seed"], 7);
    for count in ["databases", "cases", "statements", "statements_ok", "nonempty_checks"] {
        assert!(summary[count].as_u64().is_some_and(|n| n > 0), "{count}: {summary}");
    }
    for seconds in ["wall_seconds", "worker_cpu_seconds", "engine_cpu_seconds"] {
        assert!(summary[seconds].as_f64().is_some_and(|s| s > 0.0), "{seconds}: {summary}");
    }
    assert!(summary["engine_version"].as_str().is_some_and(|version| version.starts_with("3.")));
    assert_eq!(summary["worker_failures"], serde_json::json!([]));
    let checks = summary["checks"].as_object().unwrap();
    let total = checks["total"].as_u64().unwrap();
    let sum: u64 = checks.iter().filter(|(name, _)| *name != "total").map(|(_, n)| n.as_u64().unwrap()).sum();
    assert!(total > 0 && total == sum && checks.contains_key("norec"));
    // What the time was spent on: no part is missing, and the oracles' shares are shares of one whole.
    let parts: f64 = summary["time"].as_object().unwrap().values().map(|part| part.as_f64().unwrap()).sum();
    assert!((0.95..1.05).contains(&parts), "{}", summary["time"]);
    let oracles = summary["oracles"].as_object().unwrap();
    let shares: f64 = oracles.values().map(|oracle| oracle["share"].as_f64().unwrap()).sum();
    assert!((0.99..1.01).contains(&shares), "{}", summary["oracles"]);
    assert_eq!(oracles["norec"]["checks"], checks["norec"]);

    // The same summary, and what was run, are in the default output directory.
    let campaigns: Vec<_> = std::fs::read_dir(directory.path().join("dissent-out")).unwrap().collect();
    assert_eq!(campaigns.len(), 1);
    let campaign = campaigns[0].as_ref().unwrap().path();
    assert!(campaign.file_name().unwrap().to_str().unwrap().starts_with("sqlite-"));
    assert_eq!(std::fs::read_to_string(campaign.join("summary.json")).unwrap(), said.stdout);
    let json = std::fs::read(campaign.join("campaign.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!((&json["format"], &json["config"]["seed"]), (&2.into(), &7.into()));

    // Its figures as a row of a table.
    let table = run(dissent(directory.path()).args(["stats", "validity"]).arg(&campaign));
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    let rows: Vec<&str> = table.stdout.lines().collect();
    let [_, _, row] = rows[..] else { panic!("{}", table.stdout) };
    let version = summary["engine_version"].as_str().unwrap();
    assert!(row.starts_with(&format!("| sqlite {version} | ")), "{row}");
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[2].replace(',', ""), summary["statements"].to_string());
    let seen = cells[5].split_once(' ').unwrap().0;
    assert_eq!(seen, summary["operations"]["seen"].to_string());
    let other = run(dissent(directory.path()).args(["stats", "validity", "."]));
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("has no summary yet"), "{}", other.stderr);
}

#[test]
fn a_hunt_in_a_pipe_has_no_terminal_codes() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(dissent(directory.path()).args(["hunt", "--time", "1s", "--jobs", "1"]));
    assert!(said.code == Some(0) || said.code == Some(1), "{}", said.stderr);
    for text in [&said.stdout, &said.stderr] {
        assert!(!text.contains(['\x1b', '\r']), "{text:?}");
    }
    for row in ["tested ", "ran ", "checked ", "found ", "Next:"] {
        assert!(said.stdout.contains(&format!("\n{row}")), "{row}: {}", said.stdout);
    }
    let is_command = |line: &&str| line.starts_with("  dissent ");
    for line in said.stdout.lines().filter(|line| !is_command(line)) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // What left the page is in tables.
    for (table, part) in
        [("oracles", "| norec | "), ("skips", "skipped because"), ("counters", "| in the engine | ")]
    {
        let said = run(dissent(directory.path()).args(["stats", table]));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert!(said.stdout.contains(part), "{table}: {}", said.stdout);
    }
    assert!(said.stderr.contains("seed "), "the seed is told at the beginning: {}", said.stderr);
}

#[test]
fn the_same_seed_gives_the_same_statements() {
    let directory = tempfile::tempdir().unwrap();
    let hunt = |seed: &str, name: &str| {
        let args = ["hunt", "--seed", seed, "--jobs", "1", "--max-cases", "600", "--log-statements", name];
        let said = run(dissent(directory.path()).args(args).args(["--out", &format!("out-{name}")]));
        assert!(said.code == Some(0) || said.code == Some(1), "{}", said.stderr);
        std::fs::read_to_string(directory.path().join(name)).unwrap()
    };
    let first = hunt("42", "a.sql");
    assert!(first.lines().count() > 1000, "{} lines", first.lines().count());
    assert!(first.starts_with("-- reset\n"));
    assert!(first == hunt("42", "b.sql"), "two hunts of one seed ran different statements");
    assert!(first != hunt("43", "c.sql"), "two seeds gave one hunt");
}

#[test]
fn max_cases_is_kept_to_whatever_the_number_of_workers() {
    let directory = tempfile::tempdir().unwrap();
    for jobs in ["1", "3"] {
        let args = ["hunt", "--max-cases", "100", "--jobs", jobs, "--summary", "json", "--out", jobs];
        let summary = run(dissent(directory.path()).args(args)).json();
        assert_eq!(summary["cases"], 100, "{jobs} workers");
    }
}

#[test]
fn oracles_are_chosen_by_name_and_group() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["hunt", "--max-cases", "20", "--jobs", "1", "--summary", "json", "--oracles", "tlp"];
    let summary = run(dissent(directory.path()).args(args)).json();
    let checks = summary["checks"].as_object().unwrap();
    assert!(checks.contains_key("tlp-where") && !checks.contains_key("norec"), "{checks:?}");

    let said = run(dissent(directory.path()).arg("oracles"));
    assert_eq!(said.code, Some(0));
    assert!(said.stdout.lines().any(|line| line.starts_with("norec  ")), "{}", said.stdout);
}

fn hunt_in_background(directory: &std::path::Path, fault: &str) -> Child {
    Command::new(BINARY)
        .args([
            "hunt",
            "--summary",
            "json",
            "--jobs",
            "2",
            "--hang-limit",
            "1h",
            "--guide",
            "plan",
            "--out",
            "out",
        ])
        .current_dir(directory)
        .env("DISSENT_TEST_FAULT", fault)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, signal: libc::c_int) {
    // SAFETY: the process is our own child and has not been waited for, so the number is still its.
    unsafe { libc::kill(child.id() as libc::pid_t, signal) };
}

#[test]
fn an_interrupt_ends_a_hunt_with_its_summary() {
    for number in [libc::SIGINT, libc::SIGTERM] {
        let directory = tempfile::tempdir().unwrap();
        let mut child = hunt_in_background(directory.path(), "crash@1000000");
        // What is kept has been run.
        let kept = directory.path().join("out/corpus/0-000000.json");
        wait_for("something new is seen", || kept.exists().then_some(()));
        let start = Instant::now();
        signal(&child, number);
        let mut text = String::new();
        child.stdout.as_mut().unwrap().read_to_string(&mut text).unwrap();
        let status = child.wait().unwrap();
        assert!(matches!(status.code(), Some(0 | 1)), "{status:?}");
        assert!(start.elapsed() < Duration::from_secs(10));
        let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(summary["statements"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_second_interrupt_does_not_wait_for_a_worker_that_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = hunt_in_background(directory.path(), "hang@1");
    let workers = || children_of(child.id());
    wait_for("the campaign begins", || directory.path().join("out").exists().then_some(()));
    let hung = wait_for("a worker hangs", || workers().into_iter().find(|worker| is_idle(*worker)));
    signal(&child, libc::SIGINT);
    wait_for("the other worker stops", || (workers() == [hung]).then_some(()));
    assert!(child.try_wait().unwrap().is_none(), "the first one waits for the worker");
    let start = Instant::now();
    signal(&child, libc::SIGINT);
    child.wait().unwrap();
    // Workers that do not stop are killed after six.
    assert!(start.elapsed() < Duration::from_secs(4));
}
