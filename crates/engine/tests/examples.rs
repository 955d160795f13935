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
    for part in ["noticed something", "returns wrong rows", "SELECT 0 WHERE 0 BETWEEN 0 AND 0;"] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
}
