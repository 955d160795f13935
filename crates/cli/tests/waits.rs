//! Who waits is told what for.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use support::traces::{Somebodys, Watched};
use support::{BINARY, Said, dissent, run, wait_for};

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

/// ClickHouse has thousands of functions. A library by its path has no catalog yet, whatever was probed before.
#[test]
fn probing_says_how_far_it_is_and_how_long_it_takes() {
    let directory = tempfile::tempdir().unwrap();
    let Ok(source) = dissent_engine::Target::parse("clickhouse@26.7").unwrap().obtain(&mut |_| {}) else {
        let required = std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some();
        assert!(!required, "ClickHouse is required");
        eprintln!("SKIPPED, not passed: ClickHouse is not available");
        return;
    };
    let library = directory.path().join("libchdb.so");
    std::os::unix::fs::symlink(source.path().unwrap(), &library).unwrap();
    let told = directory.path().join("told");
    let mut hunt = Command::new(BINARY);
    hunt.arg("hunt").arg(format!("clickhouse:path={}", library.display()));
    hunt.args(["--seed", "1", "--jobs", "1", "--out", "out"]).current_dir(directory.path());
    hunt.env("DISSENT_CACHE", directory.path().join("cache"));
    hunt.stdout(Stdio::null()).stderr(fs::File::create(&told).unwrap());
    let mut hunt = Watched::start(&mut hunt);
    let read = || fs::read_to_string(&told).unwrap();
    wait_for("probing says how far it is", || read().contains(" left\n").then_some(()));
    hunt.look();
    hunt.signal("TERM");
    hunt.finish();
    let told = read();
    assert!(told.contains("dissent: probing the functions and operators of clickhouse:path="), "{told}");
    let far = told.lines().find(|line| line.starts_with("dissent: probing: ")).expect(&told);
    let words: Vec<&str> = far.split_whitespace().collect();
    // `dissent: probing: 27 of 2,361, 24:52 left`
    assert!(words.len() == 7 && words[3] == "of" && words[4].contains(','), "{far}");
    assert!(words[5].contains(':') && words[6] == "left", "{far}");
    hunt.assert_gone();
}

#[test]
fn the_end_of_a_hunt_says_what_it_still_does() {
    if Somebodys::start_any("sqlite@3.30.1").is_none() {
        return;
    }
    // Whether a reduction is going on when the time is up depends on the machine: one of some hunts is enough.
    let told = |seed: u64| {
        let directory = tempfile::tempdir().unwrap();
        let mut command = dissent(directory.path());
        command.args(["hunt", "sqlite@3.30.1", "--jobs", "1", "--time", "3s", "--oracles", "norec,tlp"]);
        let said = run(command.args(["--out", "out", "--seed", &seed.to_string()]));
        assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
        said
    };
    let waiting = |said: &Said| {
        let ends = [" reduction", " reductions"];
        said.stderr.lines().any(|line| {
            line.starts_with("dissent: time is up, finishing ") && ends.iter().any(|end| line.ends_with(end))
        })
    };
    let mut last = told(1);
    for seed in 2..12 {
        if waiting(&last) {
            return;
        }
        last = told(seed);
    }
    assert!(waiting(&last), "{}", last.stderr);
}
