//! Who waits is told what for.

mod support;

use std::path::Path;
use std::process::Command;

use support::traces::Somebodys;
use support::{BINARY, dissent, run};

/// In a namespace of its own, whose /dev/shm is small.
#[test]
fn a_small_dev_shm_is_named() {
    let directory = tempfile::tempdir().unwrap();
    if Somebodys::start_any("mariadb").is_none() {
        return;
    }
    let script = format!(
        "mount -t tmpfs -o size=32m tmpfs /dev/shm && exec {BINARY} hunt mariadb --jobs 1 --time 2s --oracles norec --out out"
    );
    let output =
        Command::new("unshare").args(["--mount", "sh", "-c", &script]).current_dir(directory.path()).output();
    let told = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).unwrap_or_default();
    if !Path::new(&directory.path().join("out")).exists() {
        eprintln!("SKIPPED, not passed: no namespace of its own: {told}");
        return;
    }
    assert!(told.contains("/dev/shm has only 3"), "{told}");
    assert!(told.contains("MariaDB keeps data on disk, which can be several times slower"), "{told}");
}

#[test]
fn the_end_of_a_hunt_says_what_it_still_does() {
    let directory = tempfile::tempdir().unwrap();
    // It fails in every second, and reducing takes longer than that.
    let args = [
        "hunt",
        "sqlite@3.30.1",
        "--jobs",
        "1",
        "--seed",
        "1",
        "--time",
        "5s",
        "--oracles",
        "norec,tlp",
        "--out",
        "out",
    ];
    let said = run(dissent(directory.path()).args(args));
    if said.code == Some(2) {
        eprintln!("SKIPPED, not passed: {}", said.stderr);
        return;
    }
    let waiting = said.stderr.contains("dissent: time is up, finishing 1 reduction\n")
        || said
            .stderr
            .lines()
            .any(|line| line.starts_with("dissent: time is up, finishing ") && line.ends_with(" reductions"));
    assert!(waiting, "{}", said.stderr);
}
