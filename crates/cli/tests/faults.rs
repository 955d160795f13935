//! Engines that crash, hang or use up all memory: the campaign goes on, and the finding holds the statement.

mod support;

use std::process::{Command, Stdio};

use dissent_core::finding::{Class, Finding};
use dissent_core::report;
use dissent_core::sql::Statement;
use support::{BINARY, children_of, dissent, is_alive, only_finding, run, wait_for};

const FAULT: &str = "DISSENT_TEST_FAULT";

/// Hunts with a fault in database 0, in case 5 or the next that runs a statement; gives the one finding there must be.
fn hunt_with(fault: &str, class: Class, more: &[&str]) -> (tempfile::TempDir, Finding) {
    let directory = tempfile::tempdir().unwrap();
    let args = ["hunt", "--seed", "11", "--jobs", "1", "--max-cases", "300", "--summary", "json"];
    let out = ["--out", "out", "--no-reduce"];
    let said = run(dissent(directory.path()).args(args).args(out).args(more).env(FAULT, fault));
    let summary = said.json();
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert_eq!(summary["worker_failures"], serde_json::json!([]));
    assert!(summary["databases"].as_u64().unwrap() >= 2, "the campaign went on: {summary}");
    assert_eq!(summary["findings"][0]["class"], class.name());
    assert_eq!(summary["findings"][0]["oracle"], "crash");

    let path = only_finding(&directory.path().join("out"));
    let finding: Finding =
        serde_json::from_slice(&std::fs::read(path.join("finding.json")).unwrap()).unwrap();
    assert_eq!(finding.evidence.class, class);
    assert!(finding.origin.database == 0 && (5..10).contains(&finding.origin.case), "{:?}", finding.origin);
    (directory, finding)
}

/// What a hunt without fault runs: the first cases of database 0.
fn statements_without_fault() -> String {
    let directory = tempfile::tempdir().unwrap();
    let args = ["hunt", "--seed", "11", "--jobs", "1", "--max-cases", "10", "--log-statements", "log.sql"];
    run(dissent(directory.path()).args(args));
    std::fs::read_to_string(directory.path().join("log.sql")).unwrap()
}

#[test]
fn a_crash_is_a_finding_with_its_statement_and_replays() {
    let (directory, finding) = hunt_with("crash@5", Class::Crash, &[]);
    assert!(report::failure(&finding.evidence).contains("SIGABRT"), "{:?}", finding.evidence);
    let log = statements_without_fault();
    let Statement::Raw(sql) = &finding.case.subject.tests[0] else {
        panic!("{:?}", finding.case.subject.tests)
    };
    assert!(log.contains(sql), "{sql}");
    assert!(!finding.case.setup.is_empty());
    for statement in &finding.case.setup {
        let Statement::Raw(sql) = statement else { panic!("{statement:?}") };
        assert!(log.contains(sql), "{sql}");
    }

    let path = only_finding(&directory.path().join("out"));
    let replay = |fault: Option<&str>| {
        let mut command = dissent(directory.path());
        command.arg("replay").arg(&path);
        fault.map(|fault| command.env(FAULT, fault));
        run(&mut command)
    };
    let still = replay(Some("crash@5"));
    assert_eq!(still.code, Some(1), "{}", still.stderr);
    assert!(still.stdout.contains("still fails: the process crashes with SIGABRT"), "{}", still.stdout);
    let healthy = replay(None);
    assert_eq!(healthy.code, Some(0), "{}{}", healthy.stdout, healthy.stderr);
    assert!(healthy.stdout.contains("no longer fails"), "{}", healthy.stdout);
}

#[test]
fn a_crash_that_is_not_reduced_says_so() {
    let (directory, finding) = hunt_with("crash@5", Class::Crash, &[]);
    assert!(finding.triage.reduction.is_none());
    let path = only_finding(&directory.path().join("out"));
    let report = std::fs::read_to_string(path.join("report.md")).unwrap();
    assert!(report.contains("The script is shown as found; it has not been reduced yet."), "{report}");
    let listed = run(dissent(directory.path()).args(["findings", "out"]));
    assert!(listed.stdout.contains("as found"), "{}", listed.stdout);
}

#[test]
fn a_crash_is_reduced_beside_the_hunt() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["hunt", "--seed", "11", "--jobs", "1", "--max-cases", "300", "--summary", "json"];
    let said = run(dissent(directory.path()).args(args).args(["--out", "out"]).env(FAULT, "crash@5"));
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let summary = said.json();
    assert_eq!(summary["findings"].as_array().unwrap().len(), 1, "{summary}");
    // The fault strikes in the first statement of whatever is checked.
    assert_eq!(summary["findings"][0]["statements"], 0, "{summary}");
    let path = only_finding(&directory.path().join("out"));
    let finding: Finding =
        serde_json::from_slice(&std::fs::read(path.join("finding.json")).unwrap()).unwrap();
    assert!(finding.triage.reduction.is_some_and(|note| note.complete && note.statements_before > 0));
    assert!(path.join("finding.original.json").is_file());
    let original = std::fs::read_to_string(path.join("original.sql")).unwrap();
    assert!(original.contains("CREATE TABLE"), "{original}");
}

#[test]
fn a_hang_is_a_finding_and_replays() {
    let (directory, finding) = hunt_with("hang@5", Class::Hang, &["--hang-limit", "3s"]);
    assert!(!finding.case.setup.is_empty());
    let path = only_finding(&directory.path().join("out"));
    let mut command = dissent(directory.path());
    let still = run(command.arg("replay").arg(&path).args(["--hang-limit", "3s"]).env(FAULT, "hang@5"));
    assert_eq!(still.code, Some(1), "{}", still.stderr);
    assert!(still.stdout.contains("hangs"), "{}", still.stdout);
}

#[test]
fn memory_without_end_is_a_finding() {
    let (_directory, finding) = hunt_with("oom@5", Class::Crash, &["--worker-memory", "1024"]);
    assert!(report::failure(&finding.evidence).contains("out of memory"), "{:?}", finding.evidence);
}

#[test]
fn max_findings_ends_a_hunt() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["hunt", "--jobs", "2", "--max-findings", "1", "--summary", "json"];
    let said = run(dissent(directory.path()).args(args).env(FAULT, "crash@5"));
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert_eq!(said.json()["findings"].as_array().unwrap().len(), 1);
}

#[test]
fn workers_that_never_start_end_the_campaign_with_a_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(dissent(directory.path()).args(["hunt", "--time", "30s"]).env(FAULT, "early"));
    said.refused_with("cannot open");
}

#[test]
fn workers_that_keep_dying_before_a_statement_end_the_campaign() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(dissent(directory.path()).args(["hunt", "--time", "30s"]).env(FAULT, "start"));
    assert_eq!(said.code, Some(2));
    let last = said.stderr.trim_end().lines().last().unwrap();
    assert!(last.starts_with("dissent: workers keep failing before the first statement"), "{}", said.stderr);
}

#[test]
fn a_supervisor_that_is_killed_leaves_no_worker() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = Command::new(BINARY)
        .args(["hunt", "--jobs", "2", "--out", "out"])
        .current_dir(directory.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let supervisor = child.id();
    let workers = wait_for("two workers hunt", || {
        let workers = children_of(supervisor);
        (workers.len() == 2 && directory.path().join("out/campaign.json").exists()).then_some(workers)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("no worker outlives its supervisor", || {
        workers.iter().all(|worker| !is_alive(*worker)).then_some(())
    });
}
