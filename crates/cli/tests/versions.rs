//! `--against`: the same statements on two versions.

mod support;

use std::fs;
use std::path::Path;

use support::{dissent, only_finding, run};

/// Right since 3.32.0; wrong in the same way however the question is put.
const SCRIPT: &str = "CREATE TABLE t0(c0);
CREATE INDEX i0 ON t0(c0 DESC);
INSERT INTO t0 VALUES (NULL), (0);
SELECT 'unrelated' FROM t0;
SELECT 0 WHERE 1 NOT IN (SELECT c0 FROM t0);
";

fn script(directory: &Path) {
    fs::write(directory.join("null.sql"), SCRIPT).unwrap();
}

#[test]
fn a_query_that_two_versions_answer_differently_has_changed() {
    let directory = tempfile::tempdir().unwrap();
    script(directory.path());
    let check = |args: &[&str]| run(dissent(directory.path()).args(["check", "null.sql"]).args(args));

    let same = check(&["--against", "sqlite"]);
    assert_eq!(same.code, Some(0), "{}\n{}", same.stdout, same.stderr);
    let old = ["--target", "sqlite@3.30.1", "--against", "sqlite"];
    let said = check(&old);
    assert_eq!(said.code, Some(1), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("null.sql:5: changed (versions)"), "{}", said.stdout);
    assert!(!said.stdout.contains("null.sql:4"), "{}", said.stdout);

    let kept = check(&[&old[..], &["--out", "out"]].concat());
    assert_eq!(kept.code, Some(1), "{}\n{}", kept.stdout, kept.stderr);
    let finding = only_finding(&directory.path().join("out"));
    let report = fs::read_to_string(finding.join("report.md")).unwrap();
    assert!(report.contains("**Compared with:** SQLite 3.5"), "{report}");

    // Replayed with both versions, as the finding names them; or with others, as they are typed.
    let replay = |args: &[&str]| run(dissent(directory.path()).arg("replay").arg(&finding).args(args));
    let again = replay(&[]);
    assert_eq!(again.code, Some(1), "{}\n{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("still fails (changed)"), "{}", again.stdout);
    assert_eq!(replay(&["--against", "sqlite@3.30.1"]).code, Some(0));
    assert_eq!(replay(&["--target", "sqlite"]).code, Some(0));

    // An intended change is accepted like any other behaviour.
    let add = ["known", "add", "--accepted", "--reason", "as the notes of 3.32.0 say", "--file", "mine.toml"];
    assert_eq!(run(dissent(directory.path()).args(add).arg(&finding)).code, Some(0));
    let accepted = check(&[&old[..], &["--out", "again", "--known", "mine.toml"]].concat());
    assert_eq!(accepted.code, Some(0), "{}\n{}", accepted.stdout, accepted.stderr);

    // It is checked on the two versions that differ: the newest one always agrees with itself.
    let args = ["known", "check", "sqlite", "--known", "mine.toml", "--prune"];
    let said = run(dissent(directory.path()).args(args));
    assert_eq!(said.code, Some(0), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("still fails on 3.30.1 against sqlite (version 3."), "{}", said.stdout);
    let kept = fs::read_to_string(directory.path().join("mine.toml")).unwrap();
    assert!(kept.contains("accepted"), "{kept}");
    let said = run(dissent(directory.path()).args(["findings", "--recheck", "out"]));
    assert_eq!(said.code, Some(1), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("1 bug: 0 new, 1 still failing, 0 fixed"), "{}", said.stdout);
}

/// Wrong up to 3.30.1, which takes the LEFT JOIN for an inner one.
#[test]
fn the_report_of_a_change_says_which_version_is_wrong_since_when_and_why() {
    let directory = tempfile::tempdir().unwrap();
    let script = "CREATE TABLE t0(c0 INT);\nCREATE TABLE t1(c1 INT);\nINSERT INTO t0 VALUES (1);\n\
                  SELECT c0 FROM t0 LEFT JOIN t1 ON c0 = c1 WHERE (c0, c1) < (2, 3);\n";
    fs::write(directory.path().join("join.sql"), script).unwrap();
    let args = ["check", "join.sql", "--target", "sqlite@3.30.1", "--against", "sqlite", "--out", "out"];
    assert_eq!(run(dissent(directory.path()).args(args)).code, Some(1));
    let finding = only_finding(&directory.path().join("out"));
    // With time enough on any machine.
    let said = run(dissent(directory.path()).args(["reduce", "--time", "100s"]).arg(&finding));
    assert_eq!(said.code, Some(1), "{}\n{}", said.stdout, said.stderr);
    let report = fs::read_to_string(finding.join("report.md")).unwrap();
    for part in [
        "**Wrong:** 3.30.1, as ",
        "**Changed:** in 3.",
        ", or after 3.30.1",
        "**Cause:** vanishes with `.testctrl optimizations 0x00002000` (SimplifyJoin off)",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn a_hunt_compares_two_versions() {
    let directory = tempfile::tempdir().unwrap();
    let hunt = |target: &str, more: &[&str]| {
        let args = ["hunt", target, "--against", "sqlite", "--seed", "1", "--jobs", "1", "--plain"];
        run(dissent(directory.path()).args(args).args(more))
    };
    let old = hunt("sqlite@3.30.1", &["--max-findings", "1", "--max-cases", "3000", "--out", "old"]);
    assert_eq!(old.code, Some(1), "{}\n{}", old.stdout, old.stderr);
    assert!(old.stderr.contains("against sqlite (version 3."), "{}", old.stderr);
    let bugs = fs::read_to_string(directory.path().join("old/bugs.json")).unwrap();
    assert!(bugs.contains("\"changed\""), "{bugs}");

    let same = hunt("sqlite", &["--max-cases", "400", "--out", "same"]);
    assert_eq!(same.code, Some(0), "{}\n{}", same.stdout, same.stderr);
    assert!(same.stdout.contains("by 1 oracle"), "{}", same.stdout);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    script(directory.path());
    let check = |args: &[&str]| run(dissent(directory.path()).args(["check", "null.sql"]).args(args));
    check(&["--against", "duckdb@0.0.1"]).refused_with("DuckDB 0.0.1 is not available");
    check(&["--oracles", "versions"]).refused_with("name the other one with --against");
    check(&["--against", "sqlite:path=/nowhere.so"]).refused_with("no such file: /nowhere.so");

    let old = ["--target", "sqlite@3.30.1", "--against", "sqlite", "--out", "out"];
    assert_eq!(check(&old).code, Some(1));
    let path = only_finding(&directory.path().join("out")).join("finding.json");
    let text = fs::read_to_string(&path).unwrap();
    let foreign = text.replacen("\"target\": \"sqlite\"", "\"target\": \"sqlite:path=/nowhere.so\"", 1);
    assert_ne!(text, foreign);
    fs::write(&path, foreign).unwrap();
    run(dissent(directory.path()).arg("replay").arg(&path)).refused_with("on the command line");

    // One that cannot be checked takes nothing from the others.
    let recheck = || run(dissent(directory.path()).args(["findings", "--recheck", "out"]));
    let said = recheck();
    assert_eq!(said.code, Some(2), "{}\n{}", said.stdout, said.stderr);
    assert!(
        said.stdout.contains("cannot be checked: ") && said.stdout.contains(" 1 not checked"),
        "{}",
        said.stdout
    );
    let beside = path.parent().unwrap().with_file_name("versions-changed-beside");
    fs::create_dir(&beside).unwrap();
    fs::write(beside.join("finding.json"), &text).unwrap();
    let said = recheck();
    assert_eq!(said.code, Some(1), "{}\n{}", said.stdout, said.stderr);
    assert!(
        said.stdout.contains("2 bugs: 0 new, 1 still failing, 0 fixed, 0 unclear, 1 not checked"),
        "{}",
        said.stdout
    );
}

#[test]
fn another_engine_shows_an_answer_that_is_wrong_in_every_form() {
    let directory = tempfile::tempdir().unwrap();
    let script = SCRIPT.replace("t0(c0);", "t0(c0 INTEGER);");
    fs::write(directory.path().join("null.sql"), script).unwrap();
    let check = |args: &[&str]| run(dissent(directory.path()).args(["check", "null.sql"]).args(args));
    let old = check(&["--target", "sqlite@3.30.1", "--against", "duckdb", "--out", "out"]);
    assert_eq!(old.code, Some(1), "{}\n{}", old.stdout, old.stderr);
    let finding = only_finding(&directory.path().join("out"));
    let report = fs::read_to_string(finding.join("report.md")).unwrap();
    assert!(report.contains("**Compared with:** DuckDB "), "{report}");
    let replay = |args: &[&str]| run(dissent(directory.path()).arg("replay").arg(&finding).args(args)).code;
    assert_eq!([replay(&[]), replay(&["--target", "sqlite"])], [Some(1), Some(0)]);
    assert_eq!(check(&["--target", "sqlite", "--against", "duckdb"]).code, Some(0));

    let hunt = [
        "hunt",
        "duckdb",
        "--against",
        "sqlite",
        "--seed",
        "1",
        "--jobs",
        "1",
        "--max-cases",
        "150",
        "--plain",
    ];
    let agreed = run(dissent(directory.path()).args(hunt));
    assert_eq!(agreed.code, Some(0), "{}\n{}", agreed.stdout, agreed.stderr);

    check(&["--against", "mariadb"]).refused_with("which SQL means the same to MariaDB");
    run(dissent(directory.path()).args(["hunt", "--baseline", "duckdb"]))
        .refused_with("cannot be the baseline");
}
