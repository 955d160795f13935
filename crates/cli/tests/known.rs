//! `dissent known` and `dissent report`: what is known is counted, what is new is reported.

mod support;

use std::fs;
use std::path::Path;

use support::{BROKEN_INDEX, Said, dissent, norec_finding, run, write_finding};

const FAULT: &str = "DISSENT_TEST_FAULT";

fn add(directory: &Path, finding: &Path, more: &[&str]) -> Said {
    let reason = ["--reason", "the index is broken", "--link", "https://example.org/1"];
    run(dissent(directory).args(["known", "add"]).arg(finding).args(reason).args(more))
}

#[test]
fn an_entry_holds_what_the_finding_needs_and_is_written_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = write_finding(directory.path(), &norec_finding(BROKEN_INDEX));
    add(directory.path(), &path, &[]).refused_with("is not reduced");

    run(dissent(directory.path()).arg("reduce").arg(&path));
    let said = add(directory.path(), &path, &["--id", "broken-index"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.starts_with("broken-index in known/sqlite.toml: "), "{}", said.stdout);
    let written = fs::read_to_string(directory.path().join("known/sqlite.toml")).unwrap();
    assert!(
        written.contains("fails = \"wrong-result\"") && written.contains("the index is broken"),
        "{written}"
    );
    add(directory.path(), &path, &["--id", "broken-index"]).refused_with("already has an entry broken-index");

    let listed = run(dissent(directory.path()).args(["known", "sqlite", "--known", "known"]));
    assert!(
        listed.stdout.contains("broken-index") && listed.stdout.contains("example.org"),
        "{}",
        listed.stdout
    );
}

#[test]
fn entries_that_no_longer_fail_are_named_and_pruned() {
    let directory = tempfile::tempdir().unwrap();
    let path = write_finding(directory.path(), &norec_finding(BROKEN_INDEX));
    run(dissent(directory.path()).arg("reduce").arg(&path));
    for id in ["broken", "mended"] {
        assert_eq!(add(directory.path(), &path, &["--id", id]).code, Some(0));
    }
    let check = |more: &[&str]| run(dissent(directory.path()).args(["known", "check", "sqlite"]).args(more));
    let said = check(&[]);
    assert_eq!((said.code, said.stdout.matches("still fails on ").count()), (Some(0), 2), "{}", said.stdout);
    assert!(said.stdout.contains("added 20") && said.stdout.contains("example.org"), "{}", said.stdout);

    // As if the engine had been mended.
    let healthy = norec_finding(&["CREATE TABLE t0(c0 INT)", "INSERT INTO t0 VALUES (1), (2)"]);
    let example = directory.path().join("known/examples/mended.json");
    fs::write(&example, serde_json::to_string(&healthy).unwrap()).unwrap();
    let said = check(&[]);
    assert_eq!(said.code, Some(1), "{}", said.stdout);
    assert!(said.stdout.contains("mended") && said.stdout.contains("no longer fails on "), "{}", said.stdout);
    let said = check(&["--prune"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("removed from known/sqlite.toml") && !example.exists(), "{}", said.stdout);
    let left = fs::read_to_string(directory.path().join("known/sqlite.toml")).unwrap();
    assert!(left.contains("\"broken\"") && !left.contains("\"mended\""), "{left}");
}

#[test]
fn findings_of_many_campaigns_are_checked_again() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(
        directory.path().join("broken.sql"),
        BROKEN_INDEX.join(";\n") + ";\nSELECT 1 FROM t0 WHERE c0 = 1;\n",
    )
    .unwrap();
    for out in ["first", "second"] {
        let args = ["check", "broken.sql", "--oracles", "norec", "--out", out];
        assert_eq!(run(dissent(directory.path()).args(args)).code, Some(1));
    }
    let recheck =
        |campaigns: &[&str]| run(dissent(directory.path()).args(["findings", "--recheck"]).args(campaigns));
    let said = recheck(&["first", "second"]);
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("1 bug: 0 new, 1 still failing, 0 fixed"), "{}", said.stdout);

    // One campaign lists only different bugs, though they may look the same.
    let (mended, alike) =
        (norec_finding(&BROKEN_INDEX[..2]), support::only_finding(&directory.path().join("second")));
    let mut twin = dissent_campaign::record::read(&alike).unwrap();
    twin.case.setup = mended.case.setup;
    let beside = alike.with_file_name("norec-wrong-rows-twin00");
    fs::create_dir(&beside).unwrap();
    write_finding(&beside, &twin);
    let said = recheck(&["second"]);
    assert!(said.stdout.contains("2 bugs: 0 new, 1 still failing, 1 fixed"), "{}", said.stdout);
    fs::remove_dir_all(&beside).unwrap();

    // The second campaign finds something else, and what the first one found is mended.
    let found = support::only_finding(&directory.path().join("first"));
    let mut finding = norec_finding(&["CREATE TABLE t0(c0 INT)"]);
    finding.triage.signature = Some(dissent_core::finding::Signature {
        fails: "wrong-result".to_string(),
        message: Vec::new(),
        features: ["window".to_string()].into(),
    });
    write_finding(&found, &finding);
    let said = recheck(&["first", "second"]);
    assert!(
        said.stdout.contains("fixed in ") && said.stdout.contains("2 bugs: 1 new, 0 still failing, 1 fixed"),
        "{}",
        said.stdout
    );
}

#[test]
fn a_hunt_counts_what_is_known_and_does_not_report_it() {
    let directory = tempfile::tempdir().unwrap();
    let hunt = |out: &str| {
        let args =
            ["hunt", "--seed", "11", "--jobs", "1", "--max-cases", "40", "--summary", "json", "--out", out];
        run(dissent(directory.path()).args(args).env(FAULT, "crash@5"))
    };
    let first = hunt("first");
    assert_eq!(first.code, Some(1), "{}", first.stderr);
    let found = first.json()["findings"][0]["directory"].as_str().unwrap().to_string();
    let said = add(directory.path(), Path::new(&found), &["--id", "the-crash"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);

    let second = hunt("second");
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert_eq!(second.json()["findings"][0]["known"], "the-crash");
    let listed = run(dissent(directory.path()).args(["findings", "second"]));
    assert_eq!(listed.code, Some(0));
    assert!(listed.stdout.contains("known") && listed.stdout.contains("the-crash"), "{}", listed.stdout);
    let report = run(dissent(directory.path()).args(["report", "second", "--format", "junit"]));
    assert!(report.stdout.contains("failures=\"0\" errors=\"0\""), "{}", report.stdout);
}

#[test]
fn a_campaign_is_reported_in_every_form() {
    let directory = tempfile::tempdir().unwrap();
    let args = ["hunt", "--seed", "11", "--jobs", "1", "--max-cases", "40", "--out", "out"];
    run(dissent(directory.path()).args(args).env(FAULT, "crash@5"));
    for (format, part) in [
        ("markdown", "crashes SQLite"),
        ("sql", "crashes SQLite"),
        ("slt", "statement ok"),
        ("json", "\"evidence\""),
        ("junit", "<error type=\"crash\""),
    ] {
        let said = run(dissent(directory.path()).args(["report", "out", "--format", format]));
        assert_eq!(said.code, Some(1), "{}", said.stderr);
        assert!(said.stdout.contains(part), "{format}: {}", said.stdout);
    }
    let said = run(dissent(directory.path()).args(["report", "out", "--format", "xls"]));
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("[possible values: markdown, sql, slt, json, junit"), "{}", said.stderr);
}

#[test]
fn what_is_known_is_listed_from_where_hunts_read_it() {
    let directory = tempfile::tempdir().unwrap();
    let own = directory.path().join("known");
    fs::create_dir(&own).unwrap();
    let entry = "[[known]]\nid = \"mine\"\nstatus = \"bug\"\nfails = \"wrong-result\"\nreason = \"of my own\"\nfeatures = []\n";
    fs::write(own.join("duckdb.toml"), entry).unwrap();
    let said = run(dissent(directory.path()).arg("known"));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("mine") && said.stdout.contains("of my own"), "{}", said.stdout);

    fs::write(own.join("duckdb.toml"), "[[known]\n").unwrap();
    run(dissent(directory.path()).arg("known")).refused_with_part("cannot parse known/duckdb.toml");
    fs::remove_file(own.join("duckdb.toml")).unwrap();
    fs::write(own.join("nosuch.toml"), entry).unwrap();
    run(dissent(directory.path()).arg("known"))
        .refused_with("known/nosuch.toml is not named after an engine");
    run(dissent(directory.path()).args(["known", "nosuch"])).refused_with("unknown engine 'nosuch'");
}
