//! `dissent reduce`, `findings` and `bisect` over the built binary and the bundled SQLite.

mod support;

use std::fs;

use dissent_core::finding::{Class, Finding, Signature};
use dissent_core::report;
use dissent_core::sql::Statement;
use support::{BROKEN_INDEX, dissent, norec_finding, run, write_finding};

fn read(path: &std::path::Path) -> Finding {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The broken index among statements that have nothing to do with it.
fn finding_with_noise() -> Finding {
    let mut finding = norec_finding(BROKEN_INDEX);
    let noise = ["CREATE TABLE t8(c0)", "INSERT INTO t8 VALUES (1)", "ANALYZE"];
    for (at, sql) in noise.iter().enumerate() {
        finding.case.setup.insert(2 * at, Statement::Raw(sql.to_string()));
    }
    finding
}

#[test]
fn a_finding_becomes_small_and_what_was_found_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let finding = finding_with_noise();
    let path = write_finding(directory.path(), &finding);
    let said = run(dissent(directory.path()).arg("reduce").arg(&path));
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("9 → 6 statements"), "{}", said.stdout);

    let reduced = read(&path);
    let sql = |finding: &Finding| -> Vec<String> {
        let raw = |statement: &Statement| match statement {
            Statement::Raw(sql) => sql.clone(),
            other => panic!("{other:?}"),
        };
        finding.case.setup.iter().map(raw).collect()
    };
    assert_eq!(sql(&reduced), BROKEN_INDEX);
    assert_eq!(reduced.evidence.class, Class::WrongRows);
    assert!(reduced.triage.reduction.as_ref().is_some_and(|note| note.complete && note.seconds.is_some()));
    assert!(reduced.triage.signature.is_some());
    let original = read(&directory.path().join("finding.original.json"));
    assert_eq!(original.case, finding.case);
    let script = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    assert!(script("original.sql").contains("t8") && !script("repro.sql").contains("t8"));
    assert!(!script("report.md").contains("t8"));

    // Again: the original stays the original, and there is nothing left to take away.
    let said = run(dissent(directory.path()).arg("reduce").arg(directory.path()));
    assert!(said.stdout.contains("6 → 6 statements"), "{}", said.stdout);
    assert_eq!(read(&directory.path().join("finding.original.json")).case, finding.case);
}

#[test]
fn what_does_not_fail_is_not_reduced() {
    let directory = tempfile::tempdir().unwrap();
    let path = write_finding(directory.path(), &norec_finding(&BROKEN_INDEX[..2]));
    let before = fs::read(&path).unwrap();
    let said = run(dissent(directory.path()).arg("reduce").arg(&path));
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("does not fail"), "{}", said.stdout);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_crash_is_reduced_in_processes_that_crash() {
    let directory = tempfile::tempdir().unwrap();
    let mut finding = norec_finding(BROKEN_INDEX);
    finding.evidence.class = Class::Crash;
    let path = write_finding(directory.path(), &finding);
    let said = run(dissent(directory.path()).arg("reduce").arg(&path).env("DISSENT_TEST_FAULT", "crash@1"));
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    let reduced = read(&path);
    assert!(reduced.case.setup.is_empty(), "{:?}", reduced.case.setup);
    assert_eq!(reduced.evidence.class, Class::Crash);
    assert!(report::failure(&reduced.evidence).contains("SIGABRT"), "{:?}", reduced.evidence);
}

#[test]
fn the_text_of_a_crash_is_read_and_reduced_inside() {
    let directory = tempfile::tempdir().unwrap();
    let mut finding = norec_finding(BROKEN_INDEX);
    finding.evidence.class = Class::Crash;
    finding.case.subject.oracle = "crash".to_string();
    let text = "SELECT c0, c0 + 1 FROM t0 WHERE c0 = 1 AND c0 < 5 OR c0 IS NULL";
    finding.case.subject.tests = vec![Statement::Raw(text.to_string())];
    let path = write_finding(directory.path(), &finding);
    let said = run(dissent(directory.path()).arg("reduce").arg(&path).env("DISSENT_TEST_FAULT", "crash@1"));
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    let reduced = read(&path);
    assert!(
        matches!(reduced.case.subject.tests.as_slice(), [Statement::Query(_)]),
        "{:?}",
        reduced.case.subject.tests
    );
    assert!(reduced.triage.reduction.is_some_and(|note| note.tokens <= 4), "{}", said.stdout);
}

#[test]
fn a_budget_of_checks_is_kept_to_and_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = write_finding(directory.path(), &finding_with_noise());
    let said = run(dissent(directory.path()).arg("reduce").arg(&path).args(["--checks", "2"]));
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("2 checks, stopped before the end"), "{}", said.stdout);
    assert!(read(&path).triage.reduction.is_some_and(|note| !note.complete && note.checks == 2));
}

#[test]
fn only_a_directory_of_findings_is_rewritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = write_finding(directory.path(), &finding_with_noise());
    let other = directory.path().join("mine.json");
    fs::copy(&path, &other).unwrap();
    run(dissent(directory.path()).args(["reduce", "mine.json"])).refused_with("mine.json");
    run(dissent(directory.path()).args(["reduce", "nowhere"])).refused_with("nowhere");
}

#[test]
fn a_bisection_over_what_is_here_dates_a_finding() {
    let directory = tempfile::tempdir().unwrap();
    let path = write_finding(directory.path(), &norec_finding(BROKEN_INDEX));
    // An empty store: only the bundled version is here.
    let bisect = |more: &[&str]| {
        let mut command = dissent(directory.path());
        command.env("DISSENT_CACHE", directory.path().join("cache"));
        run(command.arg("bisect").arg(&path).arg("--installed").args(more))
    };
    let said = bisect(&[]);
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("(1 version checked)"), "{}", said.stdout);
    let finding = read(&path);
    assert!(finding.triage.history.is_some_and(|history| history.checked == 1));
    let report = fs::read_to_string(directory.path().join("report.md")).unwrap();
    assert!(report.contains("**Affected:** Fails since"), "{report}");

    bisect(&["--versions", "3.20"]).refused_with("invalid version range");
    bisect(&["--versions", "9.0.0.."]).refused_with("no released version");

    write_finding(directory.path(), &norec_finding(&BROKEN_INDEX[..2]));
    let said = bisect(&[]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("no version that was checked fails"), "{}", said.stdout);
}

/// A campaign on disk, with findings made by hand: some listed, some kept beside them.
fn campaign(directory: &std::path::Path, findings: &[(&str, &str, &Finding)]) -> std::path::PathBuf {
    run(dissent(directory)
        .args(["hunt", "--seed", "1", "--jobs", "1", "--max-cases", "1", "--keep-duplicates"])
        .args(["--out", "made"]));
    let made = directory.join("made");
    for (place, id, finding) in findings {
        let home = made.join(place).join(id);
        fs::create_dir_all(&home).unwrap();
        write_finding(&home, finding);
    }
    made
}

#[test]
fn a_campaign_is_dated_and_sorted_anew() {
    let directory = tempfile::tempdir().unwrap();
    let named = |setup: &[&str], features: &str| {
        let mut finding = norec_finding(setup);
        finding.triage.signature = Some(Signature {
            fails: "wrong-result".to_string(),
            message: Vec::new(),
            features: features.split(' ').map(str::to_string).collect(),
        });
        finding
    };
    // The first two came together and differ in the predicate alone; the third needs something else.
    let first = named(BROKEN_INDEX, "compare index-partial");
    let second = named(BROKEN_INDEX, "between index-partial");
    let third = named(BROKEN_INDEX, "compare index-partial row-value");
    let sound = named(&BROKEN_INDEX[..2], "compare");
    let made = campaign(
        directory.path(),
        &[
            ("findings", "a", &first),
            ("findings", "b", &second),
            ("duplicates", "c", &third),
            ("duplicates", "d", &sound),
        ],
    );
    let bisect = || {
        let mut command = dissent(directory.path());
        command.env("DISSENT_CACHE", directory.path().join("cache"));
        run(command.args(["bisect", "made", "--installed"]))
    };
    let said = bisect();
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("3 of 4 findings dated; 1 version to look at; 2 bugs"), "{}", said.stdout);
    for place in ["findings/a", "duplicates/b", "findings/c", "duplicates/d"] {
        assert!(made.join(place).join("finding.json").is_file(), "{place}");
    }
    let listed = run(dissent(directory.path()).args(["findings", "made", "--format", "json"])).json();
    let counts: Vec<_> = listed.as_array().unwrap().iter().map(|bug| (&bug["id"], &bug["count"])).collect();
    assert_eq!(format!("{counts:?}"), r#"[(String("a"), Number(2)), (String("c"), Number(1))]"#);

    // Again: what was sorted stays so.
    let again = bisect();
    assert_eq!(again.stdout, said.stdout);

    let said = run(dissent(directory.path()).args(["stats", "reduction", "made"]));
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("| sqlite | 3 | 1 | 3 | 0 | 2 | 2.00 |"), "{}", said.stdout);
    assert!(said.stdout.contains("Not reduced, and not in the table: 4."), "{}", said.stdout);
}

#[test]
fn a_bisection_goes_over_builds_of_the_users_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = write_finding(directory.path(), &norec_finding(BROKEN_INDEX));
    let bisect =
        |builds: &str| run(dissent(directory.path()).arg("bisect").arg(&path).args(["--builds", builds]));
    let script = directory.path().join("build");
    let built = directory.path().join("built");
    let build = format!("echo $1 >> {}; echo made $1; echo sqlite", built.display());
    fs::write(&script, format!("[ $# = 0 ] && printf 'rev-a\\nrev-b\\nrev-c\\n' || {{ {build}; }}")).unwrap();
    let said = bisect(&format!("sh {}", script.display()));
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("rev-a … rev-c"), "{}", said.stdout);
    assert_eq!(read(&path).triage.history.unwrap().first_bad, "rev-a");
    // What was built once is remembered.
    let made = fs::read_to_string(&built).unwrap();
    let again = bisect(&format!("sh {}", script.display()));
    assert_eq!(again.stdout, said.stdout);
    assert!(again.stderr.contains("checked already"), "{}", again.stderr);
    assert_eq!(fs::read_to_string(&built).unwrap(), made);

    // One that does not build is skipped, and remembered.
    fs::remove_file(path.with_file_name("bisect.json")).unwrap();
    let skipping = format!("[ $1 = rev-a ] && exit 125; {build}");
    fs::write(&script, format!("[ $# = 0 ] && printf 'rev-a\\nrev-b\\nrev-c\\n' || {{ {skipping}; }}"))
        .unwrap();
    for _ in 0..2 {
        let said = bisect(&format!("sh {}", script.display()));
        assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
        assert!(said.stdout.contains("cannot tell  rev-a"), "{}", said.stdout);
        assert!(said.stdout.contains("rev-b … rev-c"), "{}", said.stdout);
        fs::write(&script, "[ $# = 0 ] && printf 'rev-a\nrev-b\nrev-c\n' || exit 1").unwrap();
    }

    // Only what is wrong, not what would run.
    let refused = |builds: &str| {
        run(dissent(directory.path()).args(["-q", "bisect"]).arg(&path).args(["--builds", builds]))
    };
    let empty = directory.path().join("builds");
    fs::create_dir(&empty).unwrap();
    refused(&empty.display().to_string()).refused_with("no builds in");
    fs::write(empty.join("libsqlite3-1.so"), "no library").unwrap();
    refused(&empty.display().to_string()).refused_with("libsqlite3-1.so");
    refused("false").refused_with("failed");
}

#[test]
fn the_bugs_of_a_campaign_are_listed() {
    let directory = tempfile::tempdir().unwrap();
    run(dissent(directory.path()).arg("findings")).refused_with("no campaign in dissent-out");
    run(dissent(directory.path()).args(["findings", "."])).refused_with("is not a campaign");
    let hunt = ["hunt", "--seed", "11", "--jobs", "1", "--max-cases", "300"];
    run(dissent(directory.path()).args(hunt).env("DISSENT_TEST_FAULT", "crash@5"));
    let said = run(dissent(directory.path()).arg("findings"));
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("1 bug in dissent-out"), "{}", said.stdout);
    assert!(said.stdout.contains("crash") && said.stdout.contains("reduced"), "{}", said.stdout);
    let said = run(dissent(directory.path()).args(["findings", "--format", "json"]));
    assert_eq!(said.json()[0]["count"], 1, "{}", said.stdout);
}
