//! `dissent check`: a user's own scripts.

mod support;

use std::fs;
use std::path::Path;

use support::{BROKEN_INDEX, dissent, only_finding, run};

fn write(directory: &Path, name: &str, statements: &[&str]) {
    let text: String = statements.iter().map(|statement| format!("{statement};\n")).collect();
    fs::write(directory.join(name), text).unwrap();
}

#[test]
fn a_query_that_disagrees_with_itself_is_a_finding() {
    let directory = tempfile::tempdir().unwrap();
    let mut script = BROKEN_INDEX.to_vec();
    script.push("SELECT c0 FROM t0 WHERE c0 = 1");
    write(directory.path(), "broken.sql", &script);
    let said = run(dissent(directory.path()).args(["check", "broken.sql"]));
    assert_eq!(said.code, Some(1), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("broken.sql:7: wrong-rows (norec)"), "{}", said.stdout);

    let only_joins = run(dissent(directory.path()).args(["check", "broken.sql", "--oracles", "joinequiv"]));
    // What nobody could check is not in order.
    assert_eq!(only_joins.code, Some(2), "{}", only_joins.stdout);
    assert!(
        only_joins.stdout.contains("nothing in the query for this oracle (joinequiv 1)"),
        "{}",
        only_joins.stdout
    );

    let args = ["check", "broken.sql", "--oracles", "norec", "--out", "out"];
    assert_eq!(run(dissent(directory.path()).args(args)).code, Some(1));
    let finding = only_finding(&directory.path().join("out"));
    let replayed = run(dissent(directory.path()).arg("replay").arg(&finding));
    assert_eq!(replayed.code, Some(1), "{}", replayed.stdout);
    let listed = run(dissent(directory.path()).args(["findings", "out"]));
    assert!(listed.stdout.contains("norec"), "{}", listed.stdout);
}

/// A difference that is known is counted and no reason to fail, as in a hunt.
#[test]
fn what_is_kept_of_a_check_is_compared_with_what_is_known() {
    let directory = tempfile::tempdir().unwrap();
    let mut script = BROKEN_INDEX.to_vec();
    script.extend(["SELECT c0 FROM t0 WHERE c0 = 1", "SELECT 1 FROM t0 WHERE c0 = 1"]);
    write(directory.path(), "broken.sql", &script);
    let check = |out: &str, more: &[&str]| {
        let args = ["check", "broken.sql", "--oracles", "norec", "--out", out];
        run(dissent(directory.path()).args(args).args(more))
    };
    assert_eq!(check("first", &[]).code, Some(1));
    let found = only_finding(&directory.path().join("first"));
    let bugs = fs::read_to_string(directory.path().join("first/bugs.json")).unwrap();
    assert!(bugs.contains("\"count\": 2"), "one bug, seen twice: {bugs}");
    let known = ["known", "add", "--id", "broken-index", "--reason", "made so", "--file", "mine.toml"];
    assert_eq!(run(dissent(directory.path()).args(known).arg(&found)).code, Some(0));

    let again = check("second", &["--known", "mine.toml"]);
    assert_eq!(again.code, Some(0), "{}\n{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("known: broken-index (seen twice)"), "{}", again.stdout);
    // The user's own directory is asked without being named.
    fs::create_dir(directory.path().join("known")).unwrap();
    fs::rename(directory.path().join("mine.toml"), directory.path().join("known/sqlite.toml")).unwrap();
    assert_eq!(check("third", &[]).code, Some(0));
}

#[test]
fn a_sound_script_is_checked_and_what_is_not_understood_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let script = [
        "CREATE TABLE a(x INT NOT NULL)",
        "CREATE TABLE b(y INT NOT NULL)",
        "INSERT INTO a VALUES (1), (2), (3)",
        "INSERT INTO b VALUES (2), (3), (4)",
        "SELECT x FROM a WHERE x > 1 AND x < 9",
        "SELECT a.x, b.y FROM a JOIN b ON a.x = b.y",
        "SELECT DISTINCT x FROM a",
        "SELECT MAX(x) FROM a WHERE x > 1",
        "SELECT x, COUNT(*) FROM a GROUP BY x HAVING COUNT(*) > 0",
        "SELECT 0x1F",
    ];
    write(directory.path(), "sound.sql", &script);
    let said = run(dissent(directory.path()).args(["check", "."]));
    assert_eq!(said.code, Some(0), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("10 statements, 5 queries checked"), "{}", said.stdout);
    assert!(said.stdout.contains("sound.sql:10: a hexadecimal number"), "{}", said.stdout);
    for oracle in [
        "norec",
        "tlp-where",
        "tlp-distinct",
        "tlp-group-by",
        "tlp-having",
        "tlp-aggregate",
        "joinequiv",
        "valscope",
    ] {
        let line =
            said.stdout.lines().find(|line| line.starts_with(&format!("{oracle} "))).unwrap_or_default();
        let checks = line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok());
        assert!(checks.is_some_and(|checks| checks > 0), "{oracle}: {}", said.stdout);
    }
}

/// In WHERE, SQLite knows the names of the select list; a view can hold a common table of its own name.
#[test]
fn names_that_mean_two_things_are_no_bug() {
    let directory = tempfile::tempdir().unwrap();
    let script = [
        "CREATE TABLE a(x TEXT)",
        "INSERT INTO a VALUES ('aaa'), ('ccc')",
        "SELECT x AS y FROM a WHERE y < 'bbb'",
        "SELECT x AS y FROM a WHERE \"Y\" < 'bbb' AND x > ''",
        "CREATE VIEW v AS WITH v AS (SELECT 0 AS z) SELECT z FROM v",
        "SELECT z FROM v WHERE z >= 0",
        "SELECT x FROM a WHERE x < 'bbb'",
    ];
    write(directory.path(), "names.sql", &script);
    let said = run(dissent(directory.path()).args(["check", "names.sql", "--oracles", "norec"]));
    assert_eq!(said.code, Some(0), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("7 statements, 4 queries checked"), "{}", said.stdout);
}

#[test]
fn a_script_that_the_engine_does_not_survive_is_a_finding_and_the_next_one_is_checked() {
    let directory = tempfile::tempdir().unwrap();
    let script = ["CREATE TABLE t0(c0 INT)", "INSERT INTO t0 VALUES (1)", "SELECT c0 FROM t0 WHERE c0 > 0"];
    write(directory.path(), "a.sql", &script);
    write(directory.path(), "b.sql", &script);
    let args = ["check", "a.sql", "b.sql", "--oracles", "norec"];
    let said = run(dissent(directory.path()).args(args).env("DISSENT_TEST_FAULT", "crash@1"));
    assert_eq!(said.code, Some(1), "{}\n{}", said.stdout, said.stderr);
    assert!(
        said.stdout.contains("a.sql: crash (crash)") && !said.stdout.contains("b.sql:"),
        "{}",
        said.stdout
    );
    let norec = said.stdout.lines().find(|line| line.starts_with("norec")).unwrap_or_default();
    assert_eq!(norec.split_whitespace().nth(1), Some("2"), "{}", said.stdout);

    let hangs = run(dissent(directory.path())
        .args(args)
        .args(["--hang-limit", "3s"])
        .env("DISSENT_TEST_FAULT", "hang@0"));
    assert!(hangs.stdout.contains("a.sql: hang (crash)"), "{}\n{}", hangs.stdout, hangs.stderr);
}

#[test]
fn what_cannot_be_checked_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let check = |args: &[&str]| run(dissent(directory.path()).arg("check").args(args));
    check(&["nowhere.sql"]).refused_with("cannot read nowhere.sql");
    fs::create_dir(directory.path().join("empty")).unwrap();
    check(&["empty"]).refused_with("no scripts");
    write(directory.path(), "one.sql", &["SELECT 1"]);
    check(&["one.sql", "--oracles", "nothing"]).refused_with("unknown oracle 'nothing'");
    check(&["one.sql", "--target", "nosuch"]).refused_with("nosuch");
    run(dissent(directory.path()).args(["stats", "known-bugs", "one.sql"]))
        .refused_with("which version fails");
}

/// DuckDB before 0.2.9 has another C interface: results are a structure, and types have other numbers in each version.
#[test]
fn the_earliest_duckdb_answers_with_values_of_every_type() {
    let directory = tempfile::tempdir().unwrap();
    let script = "CREATE TABLE t(b BOOLEAN, s SMALLINT, i INTEGER, l BIGINT, r REAL, d DOUBLE, v VARCHAR, a DATE, z TIMESTAMP);
        INSERT INTO t VALUES (true, -3, 4, 5000000000, 0.5, 0.1, 'it''s', '2020-02-29', '1999-12-31 23:59:59');
        INSERT INTO t(i) VALUES (NULL);
        SELECT b, s, i, l, r, d, v, a, z FROM t;
        SELECT nothing FROM t;";
    for version in ["0.1.2", "0.1.9", "0.2.1", "0.2.7", "0.2.8", "0.2.9"] {
        let target = format!("duckdb@{version}");
        let said = run(dissent(directory.path()).args(["shell", &target]).write_stdin(script));
        if is_missing(&said, &target) {
            return;
        }
        let words: Vec<&str> = said.stdout.split_whitespace().filter(|word| *word != "|").collect();
        let first =
            ["true", "-3", "4", "5000000000", "0.5", "0.1", "it's", "2020-02-29", "1999-12-31", "23:59:59"];
        assert_eq!(words.get(..10), Some(&first[..]), "{target}: {}\n{}", said.stdout, said.stderr);
        assert_eq!(words.get(10..19), Some(&["NULL"; 9][..]), "{target}: {}", said.stdout);
        // The kind of error is told in other words.
        assert!(said.stdout.contains("(Binder)"), "{target}: {}", said.stdout);
    }
}

/// Whether the engine cannot be had here; says so loudly.
fn is_missing(said: &support::Said, target: &str) -> bool {
    let missing = said.code == Some(2) && said.stdout.is_empty();
    let required = std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some();
    assert!(!(missing && required), "{target} is required: {}", said.stderr);
    if missing {
        eprintln!("SKIPPED, not passed: {target} is not available: {}", said.stderr);
    }
    missing
}

/// It may crash the process, and it reads memory that it has not written: which oracles notice differs from run to run.
#[test]
fn known_bugs_of_the_earliest_duckdb_are_caught() {
    const TARGET: &str = "duckdb@0.1.5";
    let directory = tempfile::tempdir().unwrap();
    let scripts = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bugs/duckdb")).unwrap();
    let scripts = scripts.map(|entry| entry.unwrap().path());
    let texts = scripts.map(|path| (fs::read_to_string(&path).unwrap(), path));
    let line =
        |text: &str, start: &str| text.lines().find_map(|line| line.strip_prefix(start)).map(str::to_string);
    let mut caught = 0;
    for (text, path) in texts.filter(|(text, _)| line(text, "-- fails: ").as_deref() == Some(TARGET)) {
        let Some(oracles) = line(&text, "-- caught: ") else { continue };
        let said = run(dissent(directory.path()).arg("check").arg(&path).args(["--target", TARGET]));
        if is_missing(&said, TARGET) {
            return;
        }
        let noticed = oracles.split(", ").any(|oracle| said.stdout.contains(&format!("({oracle})")));
        assert!(said.code == Some(1) && noticed, "{}: {}\n{}", path.display(), said.stdout, said.stderr);
        caught += 1;
    }
    assert_eq!(caught, 4);
}
