//! A released server that really crashes, told from end to end: one statement is to blame, and nobody's path is in it.

mod support;

use std::fs;
use std::path::Path;

use dissent_core::finding::{Failure, Finding};
use dissent_core::sql::Statement;
use support::traces::Somebodys;
use support::{Said, dissent, only_finding, run};

/// A version that does not change any more. It and its successors die of the third statement (`Item_func_issimple`).
const TARGET: &str = "mariadb@10.2.11";
const DEADLY: &str =
    "SELECT 0 FROM (SELECT 0 AS c0) AS a WHERE c0 IN (ST_ISSIMPLE(ST_GeomFromText('LINESTRING(0 0,5 5)')))";

fn read(path: &Path) -> Finding {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What a user passes on names no place of this machine.
#[track_caller]
fn names_no_place(directory: &Path) {
    let cache = dissent_engine::cache_directory().unwrap();
    let own = [std::env::temp_dir(), "/dev/shm".into(), cache, env!("CARGO_MANIFEST_DIR").into()];
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for place in
            own.iter().map(|place| place.display().to_string()).chain(["dissent-server-".to_string()])
        {
            assert!(!text.contains(&place), "{place} in {}: {text}", path.display());
        }
    }
}

#[test]
fn a_server_that_crashes_is_told_truly() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    if Somebodys::start_any(TARGET).is_none() {
        return;
    }
    let script = format!(
        "CREATE TABLE t0(c0 INT);\nINSERT INTO t0 VALUES (1), (2);\nSELECT c0 FROM t0 WHERE c0 < 2;\n{DEADLY};\n\
         INSERT INTO t0 VALUES (3);\nSELECT c0 FROM t0 WHERE c0 > 1;\n"
    );
    fs::write(place.join("crash.sql"), script).unwrap();
    let check = |more: &[&str]| -> Said {
        let args = ["check", "crash.sql", "--target", TARGET, "--oracles", "norec,tlp-where"];
        run(dissent(place).args(args).args(more))
    };

    // Those before and after it were answered, by one server or the next, and are checked.
    let said = check(&["--out", "out"]);
    assert_eq!(said.code, Some(1), "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("6 statements, 2 queries checked\n"), "{}", said.stdout);
    let blamed: Vec<&str> = said.stdout.lines().filter(|line| line.contains("fails here")).collect();
    let [blamed] = &blamed[..] else { panic!("{}", said.stdout) };
    assert!(blamed.contains("crash.sql:4: the server died: signal: 11 (SIGSEGV)"), "{blamed}");
    assert!(!blamed.contains("more like it"), "{blamed}");

    // One statement, alone, with the stack of the server's log; no oracle had a part in it.
    let found = only_finding(&place.join("out"));
    assert!(found.file_name().unwrap().to_str().unwrap().starts_with("crash-"), "{}", found.display());
    let finding = read(&found.join("finding.json"));
    assert!(finding.case.setup.is_empty(), "{:?}", finding.case.setup);
    assert_eq!((finding.evidence.arms.len(), finding.case.subject.tests.len()), (1, 1));
    assert!(matches!(&finding.case.subject.tests[0], Statement::Query(_)), "{:?}", finding.case.subject);
    let Failure::Harm { stack, .. } = &finding.evidence.failure else { panic!("{:?}", finding.evidence) };
    assert!(stack.iter().any(|frame| frame.contains("Item_func_issimple")), "{stack:?}");
    let report = fs::read_to_string(found.join("report.md")).unwrap();
    for part in
        ["crashes the server\n", "SIGSEGV", "Item_func_issimple", "returns a result or an ordinary error"]
    {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(!report.contains("not been reduced yet") && !report.to_lowercase().contains("norec"), "{report}");
    names_no_place(&found);

    let replayed = run(dissent(place).arg("replay").arg(&found));
    assert_eq!(replayed.code, Some(1), "{}\n{}", replayed.stdout, replayed.stderr);
    assert!(replayed.stdout.contains("the server died: signal: 11 (SIGSEGV)"), "{}", replayed.stdout);

    // As it was found it says so.
    let original = read(&found.join("finding.original.json"));
    assert!(original.case.setup.len() >= 2 && original.triage.reduction.is_none());
    fs::create_dir_all(place.join("unreduced")).unwrap();
    let alone = place.join("unreduced/finding.json");
    fs::copy(found.join("finding.original.json"), &alone).unwrap();
    let printed = run(dissent(place).arg("report").arg(place.join("unreduced")));
    assert!(printed.stdout.contains("not been reduced yet"), "{}\n{}", printed.stdout, printed.stderr);
    let said = check(&[]);
    assert!(said.stdout.contains("\nnot reduced; use --out DIR "), "{}", said.stdout);
}
