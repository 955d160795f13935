//! What a file from elsewhere may not do, and what "nothing found" may not mean.

mod support;
mod terminal;

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use support::{BINARY, BROKEN_INDEX, dissent, kill, norec_finding, run, wait_for, write_finding};
use terminal::Terminal;

const SETUP: &[&str] = &["CREATE TABLE t0(c0 INT)", "INSERT INTO t0 VALUES (1)"];

/// Loading a library runs its code, and reaching a server sends it a password: only the command line decides on that.
#[test]
fn a_finding_does_not_choose_a_library_or_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let server = format!("postgres://somebody@{}/", listener.local_addr().unwrap());
    for (target, dialect) in [("sqlite:path=/nowhere/libx.so", "sqlite"), (&server, "postgres")] {
        let mut finding = norec_finding(SETUP);
        (finding.target, finding.dialect) = (target.to_string(), dialect.to_string());
        let path = write_finding(directory.path(), &finding);
        for command in ["replay", "reduce"] {
            run(dissent(directory.path()).arg(command).arg(&path).env("PGPASSWORD", "s3cret"))
                .refused_with("name the target on the command line");
        }
        let said = run(dissent(directory.path()).arg("replay").arg(&path).args(["--target", "sqlite"]));
        assert!(!said.stderr.contains("command line"), "{}", said.stderr);
    }
    let reached = listener.accept();
    assert!(reached.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "{reached:?}");
}

/// It may come from somebody else: what it runs is told first, and cannot be hidden.
#[test]
fn a_finding_is_shown_before_it_runs() {
    let directory = tempfile::tempdir().unwrap();
    let hidden = "INSERT INTO t0 VALUES ('\u{1b}[2K\u{1b}[1A \u{202e}')";
    let setup: Vec<&str> = BROKEN_INDEX.iter().copied().chain([hidden]).collect();
    let path = write_finding(directory.path(), &norec_finding(&setup));
    for command in ["replay", "reduce", "bisect"] {
        let mut asked = dissent(directory.path());
        asked.env("DISSENT_CACHE", directory.path().join("cache")).arg(command).arg(&path);
        // Only the bundled version is here.
        let said = run(asked.args((command == "bisect").then_some("--installed")));
        let (place, script) = said.stderr.split_once(":\n").expect(&said.stderr);
        assert!(place.starts_with("running on ") && place.ends_with("sqlite"), "{command}: {place}");
        assert!(script.starts_with("  CREATE TABLE t0(c0 INT);\n  INSERT INTO t0 "), "{command}: {script}");
        // A reduction ends by writing the finding anew, without what is not needed.
        if command == "replay" {
            assert!(script.contains("VALUES ('\\u{1b}[2K\\u{1b}[1A \\u{202e}');\n"), "{script}");
            assert!(script.contains("  SELECT 1 FROM t0 WHERE "), "{script}");
        }
        let told = format!("{}{}", said.stdout, said.stderr);
        assert!(!told.contains(['\u{1b}', '\u{202e}']), "{told}");
    }
}

/// A report goes to a file as it is; on a terminal nothing of it can hide.
#[test]
fn a_report_hides_nothing_on_a_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let hidden = "INSERT INTO t0 VALUES ('\u{1b}[2K\u{1b}[1A\u{202e}')";
    let setup: Vec<&str> = BROKEN_INDEX.iter().copied().chain([hidden]).collect();
    write_finding(directory.path(), &norec_finding(&setup));
    for format in ["markdown", "sql", "slt"] {
        let args = ["report", ".", "--format", format];
        let piped = run(dissent(directory.path()).args(args));
        assert!(piped.stdout.contains(hidden), "{format}: {}", piped.stdout);
        let mut shown = Terminal::start(terminal::dissent(directory.path(), &args), 60, 200);
        assert_eq!(shown.finish(), Some(1));
        let text = String::from_utf8(shown.output()).unwrap();
        assert!(text.contains("'\\u{1b}[2K\\u{1b}[1A\\u{202e}'"), "{format}: {text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{format}: {text}");
    }
}

#[test]
fn a_campaign_does_not_choose_a_library_or_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let hunt = ["hunt", "--max-cases", "200", "--seed", "1", "--jobs", "1", "--out", "out"];
    assert!(matches!(run(dissent(directory.path()).args(hunt)).code, Some(0 | 1)));
    let file = directory.path().join("out/campaign.json");
    let text = fs::read_to_string(&file).unwrap();
    let foreign = text.replacen("\"target\": \"sqlite\"", "\"target\": \"sqlite:path=/nowhere/libx.so\"", 1);
    assert_ne!(text, foreign);
    fs::write(&file, foreign).unwrap();
    let resume = ["hunt", "--resume", "out", "--time", "1s"];
    run(dissent(directory.path()).args(resume)).refused_with("name the target on the command line");
    let named = ["hunt", "sqlite:path=/nowhere/libx.so", "--resume", "out", "--time", "1s"];
    run(dissent(directory.path()).args(named)).refused_with("no such file: /nowhere/libx.so");
}

#[test]
fn a_running_campaign_is_not_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let mut hunt = Command::new(BINARY)
        .args(["hunt", "--seed", "1", "--jobs", "1", "--out", "out"])
        .current_dir(directory.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the campaign starts", || directory.path().join("out/campaign.json").exists().then_some(()));
    let resume = ["hunt", "--resume", "out", "--time", "1s"];
    run(dissent(directory.path()).args(resume)).refused_with("another dissent is working on out");
    kill(hunt.id());
    hunt.wait().unwrap();
    let said = run(dissent(directory.path()).args(resume));
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
}

#[test]
fn nothing_checked_is_not_nothing_found() {
    let directory = tempfile::tempdir().unwrap();
    for (name, script) in [
        ("empty.sql", ""),
        ("typo.sql", "SELEKT 1;"),
        ("tables.sql", "CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (1);"),
    ] {
        fs::write(directory.path().join(name), script).unwrap();
        let said = run(dissent(directory.path()).args(["check", name]));
        assert_eq!(said.code, Some(2), "{name}: {}\n{}", said.stdout, said.stderr);
        assert!(said.stderr.contains("nothing was checked"), "{}", said.stderr);
    }
    // Understood, but no oracle can say anything of it.
    fs::write(directory.path().join("one.sql"), "CREATE TABLE t0(c0 INT); SELECT c0 FROM t0;").unwrap();
    let said = run(dissent(directory.path()).args(["check", "one.sql", "--oracles", "joinequiv"]));
    assert_eq!(said.code, Some(2), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("every oracle skipped every query"), "{}", said.stderr);
}

#[test]
fn an_oracle_that_cannot_test_an_engine_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    if support::traces::Somebodys::start_any("duckdb").is_none() {
        return;
    }
    let hunt = |oracles: &str| {
        let args = [
            "hunt",
            "duckdb",
            "--max-cases",
            "100",
            "--seed",
            "1",
            "--jobs",
            "1",
            "--out",
            oracles,
            "--oracles",
        ];
        run(dissent(directory.path()).args(args).arg(oracles))
    };
    hunt("rowid").refused_with("rowid cannot test DuckDB");
    let said = hunt("rowid,norec");
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    assert!(said.stderr.contains("leaving out rowid, which cannot test DuckDB"), "{}", said.stderr);
}
