//! The example does what it says.

use std::path::PathBuf;
use std::process::Command;

/// Examples are built with the tests, into a directory beside theirs.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.ancestors().nth(2).unwrap().join("examples").join(name)
}

#[test]
fn a_program_of_ones_own_hunts_in_processes_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let output = Command::new(example("hunt")).arg(&out).current_dir(directory.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let last = said.lines().last().unwrap_or_default();
    let statements: u64 = last.split(' ').next().unwrap().parse().unwrap();
    assert!(statements > 100 && last.ends_with("new bugs"), "{said}");
    let summary = dissent_campaign::store::read_summary(&out).unwrap();
    assert_eq!((summary.statements, summary.seed, summary.jobs), (statements, 1, 1));
    assert_eq!(summary.worker_failures, Vec::<String>::new());
}
