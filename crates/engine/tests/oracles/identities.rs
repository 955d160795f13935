//! IDENTITIES: both forms are asked, a form that loses a row is reported, and engines agree on every identity.

use dissent_core::finding::Class;
use dissent_core::subject::{Subject, TestCase};

use super::again::assert_agreement;
use super::common::{Fixture, assert_reported, assert_skipped, evidence, over, query, without_last_row};

const SETUP: &str = "CREATE TABLE t0(c0 INT, c1 TEXT COLLATE NOCASE, c2 REAL);
    INSERT INTO t0 VALUES (1, 'a', 0.5), (2, 'A', 1.5), (NULL, 'b', NULL);
    CREATE TABLE t1(c0 INT, c1 TEXT COLLATE NOCASE); INSERT INTO t1 VALUES (2, 'A'), (4, 'c');
    CREATE VIEW v0(x) AS SELECT t0.c0 FROM t0";

#[track_caller]
fn under(identity: &str, select: &str) -> TestCase {
    over(SETUP, Subject::new("identities", query(select)).with_choice("identity", identity))
}

/// SQLite with a bug: what holds this text loses its last row.
fn lossy(text: &'static str) -> Fixture {
    Fixture::tampered(move |sql, reply| match sql.contains(text) {
        true => without_last_row(reply),
        false => reply,
    })
}

#[test]
fn a_form_that_loses_a_row_is_reported() {
    for (text, identity, select) in [
        ("BETWEEN", "between", "SELECT t0.c0 FROM t0 WHERE t0.c0 BETWEEN 1 AND 2"),
        (" IN (", "in-list", "SELECT t0.c0 FROM t0 WHERE t0.c0 IN (1, 2)"),
        ("LEFT JOIN t1 ON t0", "left-join", "SELECT t0.c0 FROM t0 LEFT JOIN t1 ON t0.c0 = t1.c0"),
        ("CROSS JOIN", "join-condition", "SELECT t0.c0 FROM t0 JOIN t1 ON t0.c0 = t1.c0"),
        ("UNION ALL", "disjunction", "SELECT t0.c0 FROM t0 WHERE t0.c0 = 1 OR t0.c2 > 1"),
        ("DISTINCT", "distinct", "SELECT DISTINCT t0.c0 FROM t0"),
        ("FROM v0 WHERE", "view", "SELECT v0.x FROM v0 WHERE v0.x > 0"),
        ("HAVING", "having", "SELECT t0.c0, COUNT(*) FROM t0 GROUP BY t0.c0 HAVING COUNT(*) = 1"),
        ("ORDER BY", "order-by", "SELECT t0.c0 FROM t0 ORDER BY t0.c0"),
    ] {
        let found = assert_reported(lossy(text), &under(identity, select));
        assert_eq!(found.class, Class::WrongRows, "{identity}");
    }
}

/// Which of 'a' and 'A' is returned is not defined, but they are one.
#[test]
fn rule_0_8_of_rows_that_may_be_either_only_the_number_is_compared() {
    let merged = under("distinct", "SELECT DISTINCT t0.c1 FROM t0");
    assert_eq!(evidence(lossy("DISTINCT").check(&merged)).class, Class::WrongRows);
    let other =
        Fixture::rewriting(|sql| sql.replace("SELECT DISTINCT t0.c1", "SELECT DISTINCT upper(t0.c1)"));
    assert_skipped({ other }.check(&merged), "equal values that are not identical");
    let partner = under("set-operator", "SELECT t0.c1 FROM t0 INTERSECT SELECT t1.c1 FROM t1");
    assert_eq!(evidence(lossy("INTERSECT").check(&partner)).class, Class::WrongRows);
}

#[test]
fn rule_8_1_an_identity_applies_or_the_check_is_skipped() {
    let reason = "identity that does not apply to the query";
    for (identity, select) in [
        ("between", "SELECT t0.c0 FROM t0"),
        ("flipped-comparison", "SELECT t0.c0 FROM t0 JOIN t1 ON t0.c2 = t1.c1"),
        ("left-join", "SELECT COUNT(*) FROM t0 LEFT JOIN t1 ON t0.c0 = t1.c0"),
    ] {
        assert_skipped(lossy("SELECT").check(&under(identity, select)), reason);
    }
    let unknown = under("no-such-identity", "SELECT t0.c0 FROM t0");
    assert_skipped(lossy("SELECT").check(&unknown), "no identity given");
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "identities", 6_000);
}

#[test]
fn duckdb_agrees_with_itself() {
    assert_agreement("duckdb", "identities", 500);
}

#[test]
fn postgres_agrees_with_itself() {
    assert_agreement("postgres", "identities", 1_500);
}
