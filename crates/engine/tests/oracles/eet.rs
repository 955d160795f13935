//! EET: a form that loses a row is reported, a form stands only where it keeps the meaning, and engines agree.

use dissent_core::finding::Class;
use dissent_core::sql::{Expr, Truth};
use dissent_core::subject::{Subject, TestCase};

use super::again::assert_agreement;
use super::common::{Fixture, assert_reported, assert_skipped, check, over, query, without_last_row};

const SETUP: &str =
    "CREATE TABLE t0(c0 INT, c1 TEXT COLLATE NOCASE); INSERT INTO t0 VALUES (1, 'a'), (2, 'A'), (3, NULL);
    CREATE TABLE t1(c0 INT); INSERT INTO t1 VALUES (2), (4)";

#[track_caller]
fn in_form(form: &str, select: &str) -> TestCase {
    let subject = Subject::new("eet", query(select)).with_choice("form", form).with_choice("place", "0");
    over(SETUP, subject.with_expr(Expr::column("t0", "c1").is(Truth::Null)))
}

/// SQLite with a bug: a CASE or a double negation loses a row.
fn lossy() -> Fixture {
    Fixture::tampered(|sql, reply| {
        match sql.contains("CASE") || sql.contains("NOT NOT") || sql.contains("IS NULL") {
            true => without_last_row(reply),
            false => reply,
        }
    })
}

#[test]
fn a_form_that_loses_a_row_is_reported() {
    for (form, select) in [
        ("case-truth", "SELECT t0.c0 FROM t0 WHERE t0.c0 > 1"),
        ("double-not", "SELECT t0.c0 FROM t0 JOIN t1 ON t0.c0 < t1.c0"),
        ("true-and", "SELECT t0.c0 FROM t0 WHERE t0.c0 > 1"),
        ("case-either", "SELECT t0.c0 FROM t0"),
        ("case-always", "SELECT t0.c0 FROM t0 WHERE t0.c0 + 1 > 2"),
    ] {
        assert_eq!(assert_reported(lossy(), &in_form(form, select)).class, Class::WrongRows, "{form}");
    }
}

#[test]
fn rule_8_2_a_form_stands_only_where_it_keeps_the_meaning() {
    let reason = "no expression that keeps its meaning in this form";
    for (form, select) in [
        // A number is returned, not a truth.
        ("double-not", "SELECT t0.c0 FROM t0"),
        // CASE has no collation.
        ("case-either", "SELECT DISTINCT t0.c1 FROM t0"),
        ("case-either", "SELECT MAX(t0.c1) FROM t0"),
        // Groups have no rows.
        ("true-and", "SELECT t0.c0 FROM t0 GROUP BY t0.c0 HAVING t0.c0 > 1"),
        // The other condition is about another table.
        ("true-and", "SELECT t1.c0 FROM t1 WHERE t1.c0 > 1"),
    ] {
        assert_skipped(lossy().check(&in_form(form, select)), reason);
    }
    let mut nothing = in_form("double-not", "SELECT t0.c0 FROM t0 WHERE t0.c0 > 1");
    nothing.subject.choices.remove("place");
    assert_skipped(lossy().check(&nothing), "not a query with a form and a place");
}

/// The condition fails of a row that the query itself never looks at.
#[test]
fn rule_5_7_an_error_of_the_other_condition_is_no_finding() {
    let mut case = in_form("true-and", "SELECT t0.c0 FROM t0 WHERE t0.c0 > 1");
    let overflow = query("SELECT abs(-9223372036854775807 - 1) = t0.c0 FROM t0");
    let select = overflow.as_select().expect("one SELECT");
    let dissent_core::sql::SelectItem::Expr { expr, .. } = &select.items[0] else { panic!("an expression") };
    case.subject.exprs = vec![expr.clone()];
    assert_skipped(check(&case), "one arm avoids the error");
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "eet", 6_000);
}

#[test]
fn duckdb_agrees_with_itself() {
    assert_agreement("duckdb", "eet", 500);
}

#[test]
fn postgres_agrees_with_itself() {
    assert_agreement("postgres", "eet", 1_500);
}
