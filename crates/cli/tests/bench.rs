//! `dissent bench` over the built binary and the bundled SQLite.

mod support;

use std::time::Duration;

use support::{BINARY, dissent, run};

/// The number in front of this.
#[track_caller]
fn before(line: &str, words: &str) -> f64 {
    let number = line.split_once(words).and_then(|(head, _)| head.rsplit([' ', '(']).next());
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

#[test]
fn a_hunt_is_measured_against_the_bare_client() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(dissent(directory.path()).args(["bench", "sqlite", "--cases", "400", "--rounds", "2"]));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let lines: Vec<&str> = said.stdout.lines().collect();
    let [what, first, _, checks, useful, share] = lines[..] else { panic!("{}", said.stdout) };
    assert!(what.ends_with(" statements of a hunt of sqlite with norec"), "{what}");
    assert!(before(first, " checks per CPU second") > 10.0);
    assert!((1.0..100.0).contains(&before(first, " % useful")));
    assert!(checks.starts_with("checks per CPU second: ") && useful.starts_with("useful share: 0."));
    assert!((0.001..1.5).contains(&before(share, " of the bare client")), "{share}");
}

#[test]
fn costs_are_printed_as_a_dialect_keeps_them() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["bench", "--costs", "--oracles", "norec,edc", "--cases", "600", "--rounds", "1"];
    let said = run(dissent(directory.path()).args(args));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let cost = |name: &str| -> u64 {
        let line = said.stdout.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
        line.unwrap_or_else(|| panic!("{name}: {}", said.stdout)).parse().unwrap()
    };
    assert!(cost("edc") > 2 * cost("norec"), "{}", said.stdout);
    assert!(["reset", "build", "query", "explain"].iter().all(|name| cost(name) > 0), "{}", said.stdout);
}

/// The version inside the program is another build than the library that is watched.
#[test]
fn counting_coverage_is_measured_on_one_build() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["bench", "sqlite", "--coverage", "--rounds", "1", "--time", "2s"];
    // The library may have to be compiled first.
    let said = run(dissent(directory.path()).timeout(Duration::from_secs(600)).args(args));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let lines: Vec<&str> = said.stdout.lines().collect();
    let [code, round, ratio, by_clock, start, arming, memory] = lines[..] else { panic!("{}", said.stdout) };
    assert!(code.contains(" blocks, found in ") && round.contains(" cases"), "{}", said.stdout);
    for ratio in [ratio, by_clock] {
        assert!((0.2..5.0).contains(&before(ratio, " times without")), "{ratio}");
    }
    assert!(
        start.starts_with("start-up, left out: ") && arming.starts_with("breakpoints of an engine set in ")
    );
    assert!(memory.starts_with("largest process: ") && before(memory, " MB without") > 10.0, "{memory}");
}

#[test]
fn two_builds_are_compared_in_turns() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["bench", "--against", BINARY, "--rounds", "2", "--time", "1s", "--oracles", "norec"];
    let said = run(dissent(directory.path()).args(args));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let lines: Vec<&str> = said.stdout.lines().collect();
    let [_, _, by_cpu, by_clock] = lines[..] else { panic!("{}", said.stdout) };
    assert!(by_cpu.starts_with("checks per CPU second: "), "{}", said.stdout);
    assert!(by_clock.starts_with("checks per second: "), "{}", said.stdout);
    for line in [by_cpu, by_clock] {
        assert!((0.2..5.0).contains(&before(line, " times the other")), "{}", said.stdout);
    }
    let said =
        run(dissent(directory.path()).args(["bench", "--against", "/no/such/program", "--time", "1s"]));
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("cannot run /no/such/program"), "{}", said.stderr);
}
