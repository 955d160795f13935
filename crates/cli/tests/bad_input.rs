//! What a user may get wrong: one clear sentence, exit code 2, nothing overwritten.

mod support;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;

use support::{BINARY, dissent, norec_finding, run, write_finding};

/// Hunts with these arguments; the working directory must stay as it was.
#[track_caller]
fn hunt_is_refused(directory: &Path, args: &[&str], part: &str) {
    let before = listing(directory);
    run(dissent(directory).arg("hunt").args(args).args(["--time", "1s"])).refused_with(part);
    assert_eq!(before, listing(directory), "something was written");
}

fn listing(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            let inside = if path.is_dir() { listing(&path) } else { Vec::new() };
            inside.into_iter().chain([path.display().to_string()])
        })
        .collect();
    names.sort();
    names
}

#[test]
fn unknown_targets() {
    let directory = tempfile::tempdir().unwrap();
    hunt_is_refused(directory.path(), &["oracle9i"], "oracle9i");
    hunt_is_refused(directory.path(), &["sqlite@1.2.3"], "1.2.3");
    hunt_is_refused(directory.path(), &["sqlite:path=/no/such/libsqlite3.so"], "/no/such/libsqlite3.so");
}

#[test]
fn a_library_that_is_no_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("libnothing.so");
    fs::write(&library, "not a library").unwrap();
    let target = format!("sqlite:path={}", library.display());
    hunt_is_refused(directory.path(), &[&target], "libnothing.so");
}

#[test]
fn unknown_oracles() {
    let directory = tempfile::tempdir().unwrap();
    hunt_is_refused(
        directory.path(),
        &["--oracles", "norec,astrology"],
        "unknown oracle 'astrology'; available: norec, ",
    );
}

#[test]
fn durations_and_limits() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(dissent(directory.path()).args(["hunt", "--time", "10 minutes"]));
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.starts_with("dissent: ") && said.stderr.contains("30s, 10m or 2h"),
        "{}",
        said.stderr
    );
    hunt_is_refused(directory.path(), &["--hang-limit", "1s"], "at least 3s");
}

#[test]
fn output_directories_that_hold_something() {
    let directory = tempfile::tempdir().unwrap();
    let theirs = directory.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("thesis.txt"), "years of work").unwrap();
    hunt_is_refused(directory.path(), &["--out", "theirs"], "is not empty");
    assert_eq!(fs::read_to_string(theirs.join("thesis.txt")).unwrap(), "years of work");
    hunt_is_refused(directory.path(), &["--out", "theirs/thesis.txt"], "is a file");

    // An empty one is fine, and a campaign is never written over.
    fs::create_dir(directory.path().join("ours")).unwrap();
    let hunt = ["hunt", "--max-cases", "5", "--out", "ours"];
    assert!(matches!(run(dissent(directory.path()).args(hunt)).code, Some(0 | 1)));
    hunt_is_refused(directory.path(), &["--out", "ours"], "already contains a campaign");
}

#[test]
fn findings_that_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let replay = |path: &Path| run(dissent(directory.path()).arg("replay").arg(path));
    replay(Path::new("nowhere")).refused_with("cannot read nowhere");
    replay(directory.path()).refused_with("finding.json");

    let path = write_finding(directory.path(), &norec_finding(&[]));
    let good = fs::read_to_string(&path).unwrap();
    let damaged = |text: &str, part: &str| {
        fs::write(&path, text).unwrap();
        replay(&path).refused_with(part);
    };
    damaged("", "is not JSON");
    damaged(&good[..good.len() / 2], "is not JSON");
    damaged("{\"hello\": 1}", "is not a finding");
    damaged(&good.replace("\"format\": 2", "\"format\": 99"), "format 99");
    damaged(&good.replace("\"subject\"", "\"sbject\""), "is damaged");
    damaged(&good.replace("\"norec\"", "\"tarot\""), "oracle 'tarot'");
    fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    replay(&path).refused_with("is not JSON");
}

#[test]
fn no_command_shows_the_help() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(&mut dissent(directory.path()));
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("Usage: dissent [OPTIONS] <COMMAND>"), "{}", said.stderr);
}

#[test]
fn a_worker_is_not_for_users() {
    let directory = tempfile::tempdir().unwrap();
    let mut worker = std::process::Command::new(BINARY);
    worker.arg0("dissent-worker").current_dir(directory.path()).stdin(std::process::Stdio::null());
    let said = worker.output().unwrap();
    assert_eq!(said.status.code(), Some(2));
    let stderr = String::from_utf8(said.stderr).unwrap();
    assert!(stderr.starts_with("dissent: workers are started by Dissent itself"), "{stderr}");
    let said = run(dissent(directory.path()).arg("worker"));
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("unrecognized subcommand 'worker'"), "{}", said.stderr);
}
