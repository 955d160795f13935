//! However the program ends, nothing of it stays: no process, no directory, no database on somebody's server.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use support::traces::{Somebodys, Watched};
use support::{BINARY, dissent, norec_finding, run, wait_for, write_finding};

fn program(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args).current_dir(directory).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// What a hunt has checked so far, by its summary.
fn checks(summary: &Path) -> u64 {
    let text = fs::read_to_string(summary).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    summary["checks"]["total"].as_u64().unwrap_or(0)
}

/// A script that keeps `check` busy for a while.
fn long_script(directory: &Path) {
    let mut script = "CREATE TABLE t0(c0 INT);\nINSERT INTO t0 VALUES (1), (2);\n".to_string();
    (0..3000).for_each(|n| script.push_str(&format!("SELECT c0 FROM t0 WHERE c0 > {n};\n")));
    fs::write(directory.join("long.sql"), script).unwrap();
}

#[test]
fn a_check_that_is_broken_off_leaves_no_database() {
    let directory = tempfile::tempdir().unwrap();
    long_script(directory.path());
    for engine in ["postgres", "mariadb"] {
        let Some(mut server) = Somebodys::start(engine) else { continue };
        for signal in ["INT", "TERM", "HUP"] {
            let address = server.address.clone();
            let args = ["check", "long.sql", "--target", address.as_str()];
            let mut check = Watched::start(&mut program(directory.path(), &args));
            wait_for("check makes its database", || (!server.databases().is_empty()).then_some(()));
            check.watch(Duration::from_millis(100));
            check.signal(signal);
            let status = check.finish();
            use std::os::unix::process::ExitStatusExt;
            assert!(status.signal().is_some(), "{signal}: {status}");
            assert_eq!(server.databases(), [""; 0], "{engine} {signal}");
            check.assert_gone();
        }
    }
}

#[test]
fn a_check_that_fails_after_it_opened_the_server_leaves_no_database() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut server) = Somebodys::start("postgres") else { return };
    fs::write(directory.path().join("a.sql"), "SELECT 1;").unwrap();
    fs::write(directory.path().join("known.toml"), "no entries").unwrap();
    let args = ["check", "a.sql", "--known", "known.toml", "--out", "out", "--target"];
    let said = run(dissent(directory.path()).args(args).arg(&server.address));
    assert_eq!(said.code, Some(2), "{}\n{}", said.stdout, said.stderr);
    assert_eq!(server.databases(), [""; 0]);
}

#[test]
fn clean_drops_what_is_left_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    for engine in ["postgres", "mariadb"] {
        let Some(mut server) = Somebodys::start(engine) else { continue };
        let address = server.address.clone();
        server.execute("CREATE DATABASE dissent_0_1_1_shop");
        let hunt = |out: &str| {
            let out = format!("{engine}-{out}");
            let args = ["hunt", &address, "--jobs", "1", "--out", &out];
            Watched::start(&mut program(directory, &args))
        };
        let (mut killed, mut living) = (hunt("killed"), hunt("living"));
        let (dead, alive) = (killed.child.id(), living.child.id());
        let mut has = |process: u32| {
            server.databases().iter().filter(|name| name.contains(&format!("_{process}_"))).count()
        };
        wait_for("both hunt", || {
            let started = |out: &&str| directory.join(format!("{engine}-{out}")).exists();
            ["killed", "living"].iter().all(started).then_some(())
        });
        wait_for("both have databases", || (has(dead) > 0 && has(alive) > 0).then_some(()));
        killed.child.kill().unwrap();
        killed.finish();
        assert!(has(dead) > 0);

        let said = run(dissent(directory).args(["clean", &address]));
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.contains("nothing was dropped; --yes drops "), "{}", said.stderr);
        assert!(said.stdout.contains("left behind"), "{}", said.stdout);
        assert!(said.stdout.contains(&format!("in use by process {alive}")), "{}", said.stdout);
        assert!(!said.stdout.contains("shop"), "{}", said.stdout);
        assert!(has(dead) > 0);

        let said = run(dissent(directory).args(["clean", "--yes", &address]));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert!(said.stdout.contains("dropped "), "{}", said.stdout);
        assert!(has(dead) == 0 && has(alive) > 0);
        living.watch(Duration::from_millis(300));
        assert!(living.child.try_wait().unwrap().is_none(), "the hunt goes on");

        let summary = directory.join(format!("{engine}-living/summary.json"));
        wait_for("the hunt has checked something", || (checks(&summary) > 0).then_some(()));
        living.signal("TERM");
        let ended = living.finish();
        assert!(matches!(ended.code(), Some(0 | 1)), "{ended}");
        assert_eq!(server.databases(), ["dissent_0_1_1_shop"]);
        let said = run(dissent(directory).args(["clean", "--yes", &address]));
        assert_eq!((said.code, said.stdout.contains("nothing to drop")), (Some(0), true), "{}", said.stdout);
    }
    run(dissent(directory).args(["clean", "sqlite"])).refused_with("sqlite is not a server");
}

#[test]
fn the_next_start_drops_what_a_killed_hunt_left_on_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut server) = Somebodys::start("mariadb") else { return };
    let address = server.address.clone();
    let args = ["hunt", &address, "--jobs", "2", "--out", "killed"];
    let mut hunt = Watched::start(&mut program(directory.path(), &args));
    wait_for("both workers make databases", || (server.databases().len() >= 2).then_some(()));
    hunt.child.kill().unwrap();
    hunt.finish();
    assert!(!server.databases().is_empty());
    fs::write(directory.path().join("a.sql"), "SELECT 1;").unwrap();
    let said = run(dissent(directory.path()).args(["check", "a.sql", "--target", &address]));
    assert_eq!(said.code, Some(0), "{}\n{}", said.stdout, said.stderr);
    assert_eq!(server.databases(), [""; 0]);
}

/// A second Ctrl-C ends a hunt at once, SIGHUP as SIGTERM does: with its summary.
#[test]
fn a_hunt_that_is_told_to_end_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for target in ["postgres", "mariadb", "clickhouse", "duckdb"] {
        if Somebodys::start_any(target).is_none() {
            continue;
        }
        for signals in [&["INT", "INT"][..], &["HUP"]] {
            let out = format!("{target}-{}", signals.join("-"));
            let args = ["hunt", target, "--jobs", "2", "--oracles", "norec", "--out", &out];
            let mut hunt = Watched::start(&mut program(directory.path(), &args));
            let summary = directory.path().join(&out).join("summary.json");
            wait_for("the hunt has checked something", || {
                hunt.look();
                (checks(&summary) > 0).then_some(())
            });
            for signal in signals {
                hunt.signal(signal);
                hunt.watch(Duration::from_millis(30));
            }
            let ended = hunt.finish().code();
            // Between two signals it may have ended by itself.
            let expected = ended == Some(2) && signals.len() == 2 || matches!(ended, Some(0 | 1));
            assert!(expected, "{target} {signals:?}: {ended:?}");
            let text = fs::read_to_string(&summary).unwrap();
            let written: serde_json::Value = serde_json::from_str(&text).unwrap();
            let last = written["running"].is_null();
            assert!(last || signals.len() == 2, "{target} {signals:?}: the last summary is written");
            hunt.assert_gone();
        }
    }
}

/// Every check of such a reduction kills a process and its server.
#[test]
fn reducing_a_crash_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    if Somebodys::start_any("postgres").is_none() {
        return;
    }
    let mut finding = norec_finding(&["CREATE TABLE t0(c0 INT)", "INSERT INTO t0 VALUES (1)"]);
    (finding.target, finding.dialect) = ("postgres".to_string(), "postgres".to_string());
    finding.engine_version = "17".to_string();
    finding.evidence.class = dissent_core::finding::Class::Crash;
    let path = write_finding(directory.path(), &finding);
    let mut command = program(directory.path(), &["reduce", path.to_str().unwrap()]);
    let mut reduce = Watched::start(command.env("DISSENT_TEST_FAULT", "crash@1"));
    reduce.finish();
    assert!(!reduce.homes.is_empty(), "a server was started");
    reduce.assert_gone();
}
