//! INDEX: the bugs it was made for, and what it does with indexes. What it shares with PLAN is tested in [`super::again`].

use dissent_core::finding::Class;
use dissent_core::subject::TestCase;

use super::again::{self, SETUP, assert_agreement, changing};
use super::common::{self, Fixture, assert_passes, assert_skipped, check, evidence};

/// Listing 1 of SQLRight: DISTINCT is left out because of a unique index that holds only some of the rows.
fn listing_1() -> TestCase {
    changing(
        "index",
        "CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (2), (7), (7)",
        "SELECT DISTINCT c0 FROM t0 WHERE c0 = 7",
        "CREATE UNIQUE INDEX i0 ON t0(c0) WHERE c0 = 2",
    )
}

/// Listing 6: an index beside a descending primary key.
fn listing_6() -> TestCase {
    changing(
        "index",
        "CREATE TABLE t0(c0 INT PRIMARY KEY DESC, c1 INT) WITHOUT ROWID; INSERT INTO t0 VALUES (4, 5)",
        "SELECT * FROM t0 WHERE c1 = 5 AND c0 < 9",
        "CREATE INDEX i0 ON t0(c1)",
    )
}

/// Listing 14: an index without rows is taken for one of the rows that are not NULL.
fn listing_14() -> TestCase {
    changing(
        "index",
        "CREATE TABLE t0(c0 INT, c1 INT); INSERT INTO t0 VALUES (6, 6)",
        "SELECT * FROM t0 WHERE c0 IS NOT NULL",
        "CREATE INDEX i0 ON t0(c1) WHERE c0 > NULL",
    )
}

#[test]
fn the_bugs_that_sqlright_found_are_caught_and_gone_from_the_newest() {
    for case in [listing_1(), listing_6(), listing_14()] {
        assert_passes(check(&case));
        let Some(mut old) = Fixture::open("sqlite@3.34.0") else { return };
        assert_eq!(evidence(old.check(&case)).class, Class::WrongRows);
    }
}

#[test]
fn a_report_shows_the_change_between_the_questions() {
    let Some(mut old) = Fixture::open("sqlite@3.34.0") else { return };
    let found = evidence(old.check(&listing_14()));
    let arms: Vec<_> = found.arms.iter().map(|arm| (arm.label.as_str(), arm.sql.as_str())).collect();
    let query = "SELECT * FROM t0 WHERE c0 IS NOT NULL";
    assert_eq!(
        arms,
        [
            ("without the index", query),
            ("the index is added", "CREATE INDEX i0 ON t0(c1) WHERE c0 > NULL"),
            ("with the index", query),
        ]
    );
    // Each plan is that of its time.
    let plan = |at: usize| found.arms[at].plan.clone().unwrap_or_default();
    assert!(!plan(0).contains("i0") && plan(2).contains("i0"), "{} / {}", plan(0), plan(2));
}

#[test]
fn rule_6_2_a_subject_is_a_query_and_indexes() {
    let mut case = changing("index", SETUP, "SELECT c0 FROM t0", "CREATE INDEX i0 ON t0(c0)");
    case.subject.tests.swap(0, 1);
    assert_skipped(again::lossy().check(&case), "not a query followed by indexes");
}

#[test]
fn rule_6_2_an_index_that_cannot_be_built_is_in_neither_arm() {
    let with = |indexes: &str| changing("index", SETUP, "SELECT c0 FROM t0", indexes);
    let reason = "no index can be built";
    let repeated = "CREATE UNIQUE INDEX i0 ON t0(c1)";
    assert_skipped(again::lossy().check(&with(repeated)), reason);
    assert_skipped(again::lossy().check(&with("")), reason);
    // Nor can one be dropped that is not there.
    let mut dropped = with("CREATE INDEX i0 ON t0(c0)");
    dropped.subject = dropped.subject.with_choice("indexes", "dropped");
    assert_skipped(again::lossy().check(&dropped), reason);
    // Beside it another may be built.
    common::assert_reported(again::lossy(), &with(&format!("{repeated}; CREATE INDEX i0 ON t0(c0)")));
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "index", 4_000);
}

#[test]
fn duckdb_agrees_with_itself() {
    assert_agreement("duckdb", "index", 400);
}

#[test]
fn postgres_agrees_with_itself() {
    assert_agreement("postgres", "index", 400);
}
