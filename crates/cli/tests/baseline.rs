//! `--baseline`: a hunt or a check of a change fails only for what the change broke. Here the change is a wrong
//! optimization in SQLite's own source: a LEFT JOIN becomes an inner join if WHERE asks for NULLs of its right table.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::packages::packages;
use support::{dissent, only_finding, run};

/// SQLite's source, as it comes with its Rust package.
fn source() -> String {
    let packages = packages();
    let package = packages.iter().find(|package| package["name"] == "libsqlite3-sys").unwrap();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    fs::read_to_string(manifest.with_file_name("sqlite3").join("sqlite3.c")).unwrap()
}

/// A build of it with a mistake; none, and loudly, without a C compiler.
fn broken_build(directory: &Path) -> Option<PathBuf> {
    let source = source();
    let sound = "sqlite3ExprImpliesNonNullRow(Expr *p, int iTab, int isRJ){\n  Walker w;\n";
    let broken = source.replacen(sound, &format!("{sound}  if( p && p->op==TK_ISNULL ) return 1;\n"), 1);
    assert_ne!(source, broken, "SQLite's source has changed");
    let (unit, library) = (directory.join("broken.c"), directory.join("libbroken.so"));
    fs::write(&unit, broken).unwrap();
    let arguments = ["-shared", "-fPIC", "-O0", "-w", "-Wl,-Bsymbolic", "-DSQLITE_THREADSAFE=0", "-o"];
    let compiled = Command::new("cc").args(arguments).arg(&library).arg(&unit).status();
    match compiled {
        Ok(status) => assert!(status.success()),
        Err(error) => {
            assert!(std::env::var_os("DISSENT_REQUIRE_ENGINES").is_none(), "cc is required: {error}");
            eprintln!("SKIPPED, not passed: cc: {error}");
            return None;
        }
    }
    Some(library)
}

#[test]
fn only_what_the_baseline_does_not_show_is_new() {
    let directory = tempfile::tempdir().unwrap();
    let Some(library) = broken_build(directory.path()) else { return };
    let broken = format!("sqlite:path={}", library.display());
    let hunt = |baseline: &str, more: &[&str]| {
        let args =
            ["hunt", &broken, "--baseline", baseline, "--oracles", "norec,tlp-where,joinequiv", "--plain"];
        run(dissent(directory.path()).args(args).args(more))
    };
    // As in CI: the build of a change against a release.
    let new = hunt("sqlite", &["--time", "110s", "--max-findings", "1", "--out", "new"]);
    assert_eq!(new.code, Some(1), "{}\n{}", new.stdout, new.stderr);
    let finding = only_finding(&directory.path().join("new"));
    let script = fs::read_to_string(finding.join("repro.sql")).unwrap();
    let outer = ["LEFT JOIN", "RIGHT JOIN", "FULL JOIN"];
    assert!(outer.iter().any(|join| script.contains(join)), "{script}");

    // The same build on both sides: everything is found again, and nothing of it is new.
    let same = hunt(&broken, &["--max-cases", "1500", "--jobs", "1", "--seed", "1", "--out", "same"]);
    assert_eq!(same.code, Some(0), "{}\n{}", same.stdout, same.stderr);
    let bugs = fs::read_to_string(directory.path().join("same/bugs.json")).unwrap();
    assert!(bugs.contains("also on sqlite:path="), "{bugs}");

    let replay = |baseline: &str| {
        let args = ["--target", &broken, "--baseline", baseline];
        run(dissent(directory.path()).arg("replay").arg(&finding).args(args))
    };
    let new = replay("sqlite");
    assert_eq!(new.code, Some(1), "{}\n{}", new.stdout, new.stderr);
    assert!(new.stdout.contains("new: it does not fail on sqlite (version"), "{}", new.stdout);
    let old = replay(&broken);
    assert_eq!(old.code, Some(0), "{}\n{}", old.stdout, old.stderr);
    assert!(old.stdout.contains("not new: it also fails on sqlite:path="), "{}", old.stdout);

    // A check of a script, in the same way.
    let script = "CREATE TABLE a(x INT);\nCREATE TABLE b(y INT);\nINSERT INTO a VALUES (1);\n\
                  SELECT x FROM a LEFT JOIN b ON x = y WHERE y IS NULL;\n";
    fs::write(directory.path().join("join.sql"), script).unwrap();
    let check = |baseline: &str, out: &str| {
        let args = ["check", "join.sql", "--target", &broken, "--baseline", baseline, "--oracles", "norec"];
        run(dissent(directory.path()).args(args).args(["--out", out]))
    };
    let new = check("sqlite", "check-new");
    assert_eq!(new.code, Some(1), "{}\n{}", new.stdout, new.stderr);
    let old = check(&broken, "check-old");
    assert_eq!(old.code, Some(0), "{}\n{}", old.stdout, old.stderr);
    assert!(old.stdout.contains("known: also on"), "{}", old.stdout);

    // What is old is not looked into. Of what is new the cause is found, with time enough: the optimization that the
    // mistake is in.
    let old = only_finding(&directory.path().join("check-old"));
    let text = fs::read_to_string(old.join("finding.json")).unwrap();
    assert!(text.contains("\"also_on\"") && !text.contains("\"cause\""), "{text}");
    let finding = only_finding(&directory.path().join("check-new"));
    let reduce = ["reduce", "--target", &broken, "--time", "100s"];
    let said = run(dissent(directory.path()).args(reduce).arg(&finding));
    assert_eq!(said.code, Some(1), "{}\n{}", said.stdout, said.stderr);
    let report = fs::read_to_string(finding.join("report.md")).unwrap();
    assert!(report.contains("**Cause:** ") && report.contains("(SimplifyJoin off)"), "{report}");
}

/// Both versions take this LEFT JOIN for an inner one, but NULLS LAST, which has nothing to do with it, came with 3.30.
#[test]
fn what_the_baseline_cannot_run_does_not_make_an_old_bug_new() {
    let directory = tempfile::tempdir().unwrap();
    let script = "CREATE TABLE t0(c0 INT);\nCREATE TABLE t1(c1 INT);\nINSERT INTO t0 VALUES (1);\n\
                  SELECT c0 FROM (SELECT c0 FROM t0 ORDER BY c0 NULLS LAST) AS s LEFT JOIN t1 ON c0 = c1\n\
                  WHERE (c0, c1) < (2, 3);\n";
    fs::write(directory.path().join("join.sql"), script).unwrap();
    let args = ["check", "join.sql", "--target", "sqlite@3.30.1", "--baseline", "sqlite@3.29.0"];
    let said = run(dissent(directory.path()).args(args).args(["--oracles", "norec", "--out", "out"]));
    assert_eq!(said.code, Some(0), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("known: also on sqlite@3.29.0"), "{}", said.stdout);
}

#[test]
fn a_baseline_is_another_version_of_the_same_engine() {
    let directory = tempfile::tempdir().unwrap();
    let hunt = |args: &[&str]| run(dissent(directory.path()).args(["hunt", "--max-cases", "1"]).args(args));
    hunt(&["--baseline", "sqlite@3.0"]).refused_with("is not available");
    hunt(&["--baseline", "sqlite", "--no-reduce"]).refused_with("leave out --no-reduce");
}
