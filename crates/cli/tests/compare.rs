//! Hunts that end by processor time, side by side.

mod support;

use support::{dissent, run};

#[test]
fn hunts_of_equal_processor_time_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let hunt = |out: &str, guide: &str, seed: &str| {
        let mut hunt = dissent(directory.path());
        hunt.args(["hunt", "sqlite@3.30.1", "--oracles", "norec", "--jobs", "1", "--cpu-time", "3s"]);
        let said = run(hunt.args(["--out", out, "--guide", guide, "--seed", seed, "--summary", "json"]));
        assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
        let summary: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        // It looks every two seconds, and a case is not broken off.
        let used = summary["worker_cpu_seconds"].as_f64().unwrap();
        assert!((2.9..8.0).contains(&used), "{used}");
    };
    hunt("a", "none", "1");
    hunt("b", "none", "2");
    hunt("c", "plan", "1");
    let said = run(dissent(directory.path()).args(["stats", "compare", "a", "b", "c"]));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let row = |way: &str| said.stdout.lines().find(|line| line.starts_with(&format!("| {way} |")));
    let (unguided, guided) = (row("unguided | 2"), row("guided by plans | 1"));
    assert!(unguided.is_some() && guided.is_some(), "{}", said.stdout);
    let said = run(dissent(directory.path()).args(["stats", "compare", "nothing"]));
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("nothing is not a campaign of Dissent"), "{}", said.stderr);
}
