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
        let args = ["check", "join.sql", "--target", &broken, "--baseline", baseline, "--out", out];
        run(dissent(directory.path()).args(args))
    };
    let new = check("sqlite", "check-new");
    assert_eq!(new.code, Some(1), "{}\n{}", new.stdout, new.stderr);
    let old = check(&broken, "check-old");
    assert_eq!(old.code, Some(0), "{}\n{}", old.stdout, old.stderr);
    assert!(old.stdout.contains("known: also on"), "{}", old.stdout);
}

#[test]
fn a_baseline_is_another_version_of_the_same_engine() {
    let directory = tempfile::tempdir().unwrap();
    let hunt = |args: &[&str]| run(dissent(directory.path()).args(["hunt", "--max-cases", "1"]).args(args));
    hunt(&["--baseline", "sqlite@3.0"]).refused_with("is not available");
    hunt(&["--baseline", "sqlite", "--no-reduce"]).refused_with("leave out --no-reduce");
}
