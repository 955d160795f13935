//! Who waits is told what for.

mod support;

use std::path::Path;
use std::process::Command;

use support::traces::Somebodys;
use support::{BINARY, Said, dissent, run};

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
    // Whether a reduction is going on when the time is up depends on the machine: one of some hunts is enough.
    let told = |seed: u64| {
        let directory = tempfile::tempdir().unwrap();
        let mut command = dissent(directory.path());
        command.args(["hunt", "sqlite@3.30.1", "--jobs", "1", "--time", "3s", "--oracles", "norec,tlp"]);
        run(command.args(["--out", "out", "--seed", &seed.to_string()]))
    };
    let waiting = |said: &Said| {
        let ends = [" reduction", " reductions"];
        said.stderr.lines().any(|line| {
            line.starts_with("dissent: time is up, finishing ") && ends.iter().any(|end| line.ends_with(end))
        })
    };
    let mut last = told(1);
    if last.code == Some(2) {
        eprintln!("SKIPPED, not passed: {}", last.stderr);
        return;
    }
    for seed in 2..12 {
        if waiting(&last) {
            return;
        }
        last = told(seed);
    }
    assert!(waiting(&last), "{}", last.stderr);
}
