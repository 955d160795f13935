//! The examples do what they say.

use std::path::PathBuf;
use std::process::Command;

/// `cargo test` builds examples beside the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test is a file");
    let profile = test.parent().and_then(|deps| deps.parent()).expect("it is two directories down");
    profile.join("examples").join(name)
}

#[test]
fn an_engine_of_ones_own_is_hunted_and_its_bug_is_found() {
    let output = Command::new(example("own_engine")).output().expect("it was built");
    let told = String::from_utf8(output.stdout).expect("it prints text");
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    for part in ["noticed something", "WHERE with BETWEEN", "SELECT 0 WHERE 0 BETWEEN 0 AND 0;"] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
}

#[test]
fn an_oracle_of_ones_own_passes_sqlite_and_finds_a_bug_built_in() {
    let output = Command::new(example("own_oracle")).output().expect("it was built");
    let told = String::from_utf8(output.stdout).expect("it prints text");
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = told.lines().collect();
    let sound = lines.iter().find(|line| line.starts_with("SQLite: ")).expect("the first hunt is told");
    assert!(sound.contains("\"pass\": ") && !sound.contains("bug"), "{told}");
    assert!(told.contains("by the oracle in-from:") && told.contains("\"bug\": 1"), "{told}");
}
