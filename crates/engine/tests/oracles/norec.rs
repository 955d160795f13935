//! NoREC: what it catches, and the shapes it takes.

use dissent_core::engine::Reply;
use dissent_core::finding::{Class, Failure, Verdict};
use dissent_core::report;
use dissent_core::sql::Value;
use dissent_core::subject::{Subject, TestCase};

use super::common::{
    Fixture, assert_reported, assert_skipped, check, evidence, over, query, without_last_row,
};

pub const SETUP: &str = "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT, c2 TEXT COLLATE NOCASE);
    INSERT INTO t0 VALUES (1, 'a', 'x'), (2, 'b', 'X'), (3, NULL, 'y')";

/// SQLite with a bug: whatever is filtered loses its last row, and a lone number loses one.
pub fn lossy() -> Fixture {
    Fixture::tampered(|sql, mut reply| {
        if !sql.contains(" WHERE ") && !sql.contains(" HAVING ") {
            return reply;
        }
        if let Reply::Rows(rows) = &mut reply
            && let [Value::Int(number)] = rows.values.as_mut_slice()
        {
            *number -= 1;
            return reply;
        }
        without_last_row(reply)
    })
}

#[track_caller]
pub fn norec(form: &str, select: &str) -> TestCase {
    over(SETUP, Subject::new("norec", query(select)).with_choice("form", form))
}

#[test]
fn a_lost_row_is_reported() {
    for form in ["count", "rows"] {
        assert_reported(lossy(), &norec(form, "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1"));
    }
}

#[test]
fn a_missing_row_is_told_with_both_plans() {
    let found = evidence(lossy().check(&norec("rows", "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1")));
    assert_eq!(found.class, Class::WrongRows);
    assert_eq!(found.arms.len(), 2);
    assert!(found.arms.iter().all(|arm| arm.plan.is_some()), "both plans are there");
    let Failure::Rows { first, second } = &found.failure else { panic!("{:?}", found.failure) };
    assert_eq!((first.rows, first.only, second.rows, second.only), (2, 0, 3, 1));
    assert_eq!(second.examples, [vec![Value::Int(3)]]);
    assert!(report::failure(&found).contains("(3)"), "{}", report::failure(&found));
    let counted = evidence(lossy().check(&norec("count", "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1")));
    assert_eq!((counted.class, counted.failure), (Class::WrongRows, Failure::Counts { first: 2, second: 3 }));
}

#[test]
fn rule_1_1_only_one_plain_select_is_taken() {
    for select in [
        "SELECT DISTINCT t0.c0 FROM t0 WHERE t0.c0 >= 1",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1 GROUP BY t0.c0",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1 HAVING t0.c0 >= 1",
        "SELECT COUNT(*) FROM t0 WHERE t0.c0 >= 1",
        "SELECT RANK() OVER (ORDER BY t0.c0) FROM t0 WHERE t0.c0 >= 1",
        "SELECT t0.c0 FROM t0",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1 ORDER BY t0.c0",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1 LIMIT 1",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1 UNION SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1",
    ] {
        for form in ["rows", "count"] {
            assert_skipped(lossy().check(&norec(form, select)), "not a single plain SELECT with WHERE");
        }
    }
    // In WHERE, SQLite knows the name of an item; in the select list it would be text.
    let named = norec("rows", "SELECT t0.c0 AS x FROM t0 WHERE \"x\" >= 1");
    assert_skipped(lossy().check(&named), "not a single plain SELECT with WHERE");
    let mut two = norec("rows", "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1");
    two.subject.tests.push(two.subject.tests[0].clone());
    assert_skipped(lossy().check(&two), "not a single plain SELECT with WHERE");
}

/// 0.5 is true, and as an integer it is 0.
#[test]
fn rule_1_1_truth_is_asked_for_and_not_a_cast() {
    assert_eq!(check(&norec("count", "SELECT t0.c0 FROM t0 WHERE 0.5")), Verdict::Pass { nonempty: true });
}

#[test]
fn rule_1_1_a_count_is_a_number() {
    let mut fixture = Fixture::tampered(|sql, mut reply| {
        if let (true, Reply::Rows(rows)) = (sql.contains("COUNT("), &mut reply) {
            rows.values = vec![Value::Text("three".into())];
        }
        reply
    });
    let case = norec("count", "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1");
    assert_skipped(fixture.check(&case), "an arm did not return a number");
}

/// Listings 7 and 12 of SQLRight: a constant takes the place of a column that is compared otherwise, and a hint about a
/// comparison makes it vanish.
#[test]
fn two_bugs_that_sqlright_found_are_caught_and_gone_from_the_newest() {
    let rows = |setup, select| over(setup, Subject::new("norec", query(select)).with_choice("form", "rows"));
    let listing_7 = rows(
        "CREATE TABLE t0(c0, c1 PRIMARY KEY); CREATE INDEX i1 ON t0(c1, c1); INSERT INTO t0 VALUES (3, 'k')",
        "SELECT a0.c0 FROM t0 AS a0, t0 AS a1 WHERE a0.c0 = a0.c1 AND a0.c0 = 'k'",
    );
    let listing_12 = rows(
        "CREATE TABLE t0(c0 PRIMARY KEY, c1, c2); INSERT INTO t0 VALUES ('a', 'b', 'c');
         CREATE TABLE t1(c0 PRIMARY KEY); INSERT INTO t1 VALUES ('d')",
        "SELECT t0.c1 FROM t1, t0 WHERE likely(t0.c2 = t0.c0) AND t0.c2 = 'a'",
    );
    for (number, case) in [(7, listing_7), (12, listing_12)] {
        assert!(matches!(check(&case), Verdict::Pass { .. }), "listing {number}");
        let Some(mut old) = Fixture::open("sqlite@3.34.0") else { return };
        assert_eq!(evidence(old.check(&case)).class, Class::WrongRows, "listing {number}");
    }
}
