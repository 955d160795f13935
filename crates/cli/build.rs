//! The commit that this is built from, for `--version`; nothing where there is no repository.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The log of HEAD grows with every commit and checkout.
    for file in ["../../.git/logs/HEAD", "../../.git/HEAD"] {
        if Path::new(file).exists() {
            println!("cargo:rerun-if-changed={file}");
            break;
        }
    }
    if let Some(commit) = commit() {
        println!("cargo:rustc-env=DISSENT_COMMIT={commit}");
    }
}

/// `bad5abb0c 2026-11-18`, if this is the repository's own directory and not one inside another's.
fn commit() -> Option<String> {
    if !Path::new("../../.git").exists() {
        return None;
    }
    let git = Command::new("git").args(["log", "-1", "--format=%h %cs"]).output().ok()?;
    let said = String::from_utf8(git.stdout).ok()?.trim().to_string();
    (git.status.success() && !said.is_empty()).then_some(said)
}
