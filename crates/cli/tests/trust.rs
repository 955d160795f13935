//! What a file from elsewhere may not do, and what "nothing found" may not mean.

mod support;
mod terminal;

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
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

/// A link in a directory that came from elsewhere may lead to any file of the user's.
#[test]
fn a_link_in_a_foreign_finding_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let precious = directory.path().join("precious");
    fs::write(&precious, "gold").unwrap();
    write_finding(directory.path(), &norec_finding(BROKEN_INDEX));
    let names = ["finding.json", "finding.original.json", "original.sql", "repro.sql", "report.md"];
    for name in names {
        symlink(&precious, directory.path().join(format!(".{name}.tmp"))).unwrap();
    }
    let said = run(dissent(directory.path()).args(["reduce", "."]));
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "gold");
    for name in names {
        let written = directory.path().join(name).symlink_metadata().unwrap();
        assert!(written.is_file() && written.len() > 0, "{name}");
    }
}

#[test]
fn a_link_in_a_foreign_campaign_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let hunt =
        ["hunt", "--seed", "1", "--jobs", "2", "--time", "2s", "--log-statements", "log", "--out", "out"];
    assert!(matches!(run(dissent(place).args(hunt)).code, Some(0 | 1)));
    let (precious, lock, log) = (place.join("precious"), place.join("out/.lock"), place.join("log.1"));
    fs::write(&precious, "gold").unwrap();
    let kept = || fs::read_to_string(&precious).unwrap() == "gold";
    let resume = ["hunt", "--resume", "out", "--time", "2s"];

    fs::remove_file(&lock).unwrap();
    symlink(&precious, &lock).unwrap();
    run(dissent(place).args(resume)).refused_with("cannot write out/.lock");
    assert!(kept());
    fs::remove_file(&lock).unwrap();

    fs::remove_file(&log).unwrap();
    symlink(&precious, &log).unwrap();
    for name in ["position.json", "summary.json"] {
        symlink(&precious, place.join(format!("out/.{name}.tmp"))).unwrap();
    }
    let said = run(dissent(place).args(resume));
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    assert!(kept(), "{}", fs::read_to_string(&precious).unwrap());
}

/// Options of somebody else's project.
#[test]
fn settings_that_lie_about_run_no_program() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("prog");
    fs::write(&program, "#!/bin/sh\ntouch ran\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(directory.path().join("dissent.toml"), "[bench]\nagainst = './prog'\n").unwrap();
    run(dissent(directory.path()).arg("bench"))
        .refused_with("[bench] against: type it, or name the file with --config");
    assert!(!directory.path().join("ran").exists());
}

#[test]
fn a_parameter_of_the_shell_is_looked_at_like_a_statement() {
    let directory = tempfile::tempdir().unwrap();
    let script = ".parameter set ?1 \"load_extension('./x.so')\"\n.parameter set ?2 \"1 + 1\"\nSELECT ?2;\n";
    let said = run(dissent(directory.path()).args(["shell", "sqlite"]).write_stdin(script));
    assert_eq!(said.stdout, "Error: not run: load_extension() loads code\n2\n", "{}", said.stderr);
}

#[test]
fn a_script_that_reads_itself_ends() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("loop.sql"), ".read loop.sql\n").unwrap();
    let said =
        run(dissent(directory.path()).args(["shell", "sqlite"]).write_stdin(".read loop.sql\nSELECT 7;\n"));
    let told = "Error: not read: loop.sql: scripts can read each other only 16 deep\n7\n";
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), told), "{}", said.stderr);
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
