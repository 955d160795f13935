//! `dissent replay` over the built binary and the bundled SQLite.

mod support;

use support::{BROKEN_INDEX, dissent, norec_finding, run, write_finding};

#[test]
fn a_finding_that_still_fails() {
    let directory = tempfile::tempdir().unwrap();
    let path = write_finding(directory.path(), &norec_finding(BROKEN_INDEX));
    // By its directory or by its file.
    for argument in [directory.path(), path.as_path()] {
        let said = run(dissent(directory.path()).arg("replay").arg(argument));
        assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
        for part in ["setup: 6 statements", "SELECT COUNT(*) FROM t0 WHERE", "still fails (wrong-rows): "] {
            assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
        }
    }
}

#[test]
fn a_finding_that_no_longer_fails_shows_its_arms_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = write_finding(directory.path(), &norec_finding(&BROKEN_INDEX[..2]));
    let said = run(dissent(directory.path()).arg("replay").arg(path));
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert_eq!(said.stdout.matches("returned 1 row:\n    1\n").count(), 2, "{}", said.stdout);
    assert!(said.stdout.contains("no longer fails"), "{}", said.stdout);
}

#[test]
fn a_check_that_is_impossible_cannot_tell() {
    let directory = tempfile::tempdir().unwrap();
    let without_table = write_finding(directory.path(), &norec_finding(&[]));
    let said = run(dissent(directory.path()).arg("replay").arg(without_table));
    assert_eq!(said.code, Some(2), "{}", said.stdout);
    assert!(said.stdout.contains("cannot tell: "), "{}", said.stdout);
    let refused = "\nthis target refuses: SELECT";
    assert!(said.stdout.contains(refused) && said.stdout.contains("no such table"), "{}", said.stdout);
}

#[test]
fn a_baseline_that_cannot_run_the_setup_cannot_tell_what_is_new() {
    let directory = tempfile::tempdir().unwrap();
    // STRICT came with 3.37.
    let setup = [&["CREATE TABLE t0(c0 INT) STRICT"][..], &BROKEN_INDEX[1..]].concat();
    let path = write_finding(directory.path(), &norec_finding(&setup));
    let replay = |baseline: &str| {
        run(dissent(directory.path()).arg("replay").arg(&path).args(["--baseline", baseline]))
    };
    let said = replay("sqlite@3.30.1");
    assert_eq!(said.code, Some(2), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("cannot tell whether it is new: "), "{}", said.stdout);
    let said = replay("sqlite");
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
}

#[test]
fn agreement_on_another_state_is_no_agreement() {
    let directory = tempfile::tempdir().unwrap();
    let setup = ["CREATE TABLE t0(c0 INT)", "INSERT INTO t0 VALUES (no_such_function_0(1))"];
    let path = write_finding(directory.path(), &norec_finding(&setup));
    let said = run(dissent(directory.path()).arg("replay").arg(path));
    assert_eq!(said.code, Some(2), "{}", said.stdout);
    assert!(said.stdout.contains("cannot tell: 1 of 2 setup statements fail"), "{}", said.stdout);
    assert!(said.stdout.contains("no such function"), "{}", said.stdout);
}
