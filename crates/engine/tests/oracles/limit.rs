//! LIMIT: the first rows are the first of all rows, and only under a total order.

use dissent_core::finding::Class;
use dissent_core::subject::{Subject, TestCase};

use super::again::assert_agreement;
use super::common::{Fixture, assert_reported, assert_skipped, evidence, over, query};

/// c1 is a text that folds; the others have one order.
#[track_caller]
fn limited(select: &str) -> TestCase {
    let setup = "CREATE TABLE t0(c0 INT, c1 TEXT COLLATE NOCASE, c2 INT);
        INSERT INTO t0 VALUES (3, 'b', 1), (1, 'a', 2), (2, 'A', 3)";
    over(setup, Subject::new("limit", query(select)))
}

/// SQLite with a bug: what is limited begins one row too late.
fn late() -> Fixture {
    Fixture::rewriting(|sql| match sql.contains(" LIMIT ") {
        true => format!("{sql} OFFSET 1"),
        false => sql.to_string(),
    })
}

#[test]
fn other_rows_than_the_first_are_reported() {
    for (select, class) in [
        ("SELECT c0 FROM t0 ORDER BY c0 LIMIT 2", Class::WrongValues),
        ("SELECT c0 FROM t0 ORDER BY c0 DESC LIMIT 1", Class::WrongValues),
        ("SELECT DISTINCT c0, c2 FROM t0 WHERE c0 > 0 ORDER BY c2, c0 LIMIT 1", Class::WrongValues),
        ("SELECT c0 FROM t0 ORDER BY c0 LIMIT 9", Class::WrongRows),
    ] {
        assert_eq!(assert_reported(late(), &limited(select)).class, class, "{select}");
    }
}

#[test]
fn rule_0_4_only_a_number_of_rows_under_a_total_order_is_asked_about() {
    for select in [
        "SELECT c0, c2 FROM t0 ORDER BY c0 LIMIT 1",
        "SELECT c0 FROM t0 LIMIT 1",
        "SELECT c0 FROM t0 ORDER BY c0",
        "SELECT c0 FROM t0 ORDER BY c0 LIMIT 1 OFFSET 1",
        "SELECT c0 FROM t0 ORDER BY c0 LIMIT 1 + 1",
        "SELECT c0 FROM t0 ORDER BY c0 LIMIT -1",
        "SELECT * FROM t0 ORDER BY c0, c1, c2 LIMIT 1",
        "SELECT c0 FROM t0 UNION SELECT c2 FROM t0 ORDER BY c0 LIMIT 1",
    ] {
        let verdict = late().check(&limited(select));
        assert_skipped(verdict, "not a single SELECT with LIMIT and a total order");
    }
}

/// `a` and `A` tie: either may be the first.
#[test]
fn rule_0_8_what_is_cut_has_one_representative() {
    let folded = late().check(&limited("SELECT c1 FROM t0 ORDER BY c1 LIMIT 1"));
    assert_skipped(folded, "equal values that are not identical");
    assert_eq!(
        evidence(late().check(&limited("SELECT c2 FROM t0 ORDER BY c2 LIMIT 1"))).class,
        Class::WrongValues
    );
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "limit", 4_000);
}

#[test]
fn postgres_agrees_with_itself() {
    assert_agreement("postgres", "limit", 1_000);
}
