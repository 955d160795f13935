//! STORAGE: a table and its twin that is stored otherwise, and the conditions of all twins.

use dissent_core::engine::{ErrorClass, Reply};
use dissent_core::finding::{Class, Failure, Verdict};
use dissent_core::sql::{Statement, Value};
use dissent_core::subject::{Subject, TestCase};

use super::again::{assert_agreement, assert_undone};
use super::common::{Fixture, assert_reported, assert_skipped, evidence, failed, over, query, raw};
use super::rowid::lossy;

#[track_caller]
fn stored(setup: &str, way: &str) -> TestCase {
    let subject = Subject::new("storage", query("SELECT * FROM t0 WHERE c0 >= 0"));
    over(setup, subject.with_choice("storage", way))
}

const PLAIN: &str = "CREATE TABLE t0(c0 INT, c1 INT); INSERT INTO t0 VALUES (1, 5), (2, 5)";

#[track_caller]
fn skipped(case: &TestCase, reason: &str) {
    assert_skipped(lossy().check(case), reason);
}

#[test]
fn a_lost_row_is_reported_however_the_twin_is_stored() {
    for way in ["TEMPORARY", "STRICT", "column dropped early", "column dropped late"] {
        assert_reported(lossy(), &stored(PLAIN, way));
    }
    assert_reported(lossy(), &stored(&PLAIN.replace("INT);", "INT) STRICT;"), "plain"));
}

#[test]
fn rule_6_3_the_statements_say_what_the_table_is() {
    let then = |more: &str| stored(&format!("{PLAIN}; {more}"), "STRICT");
    skipped(&stored("ANALYZE", "STRICT"), "no table");
    skipped(&then("DROP TABLE t0"), "no table");
    skipped(&then("ALTER TABLE t0 RENAME TO t1"), "renamed table");
    let derived = "CREATE TABLE t1(c0 INT); CREATE TABLE t0 AS SELECT c0 FROM t1";
    skipped(&stored(derived, "STRICT"), "table with unknown columns");
    let mut text = stored(PLAIN, "STRICT");
    text.setup.extend(raw(&["INSERT INTO t0 VALUES (8, 8)"]));
    skipped(&text, "SQL that Dissent cannot parse");
    text.setup.pop();
    text.subject.tests.clear();
    skipped(&text, "no query");
    // What is understood is done to the twin as well.
    for more in
        ["CREATE INDEX i0 ON t0(c1)", "ALTER TABLE t0 RENAME COLUMN c1 TO c2", "DELETE FROM t0 WHERE c0 = 1"]
    {
        assert_reported(lossy(), &then(more));
    }
}

#[test]
fn rule_6_3_a_subject_names_another_way_to_store_the_table() {
    skipped(&stored(PLAIN, "UPSIDE DOWN"), "unknown storage option");
    let mut unnamed = stored(PLAIN, "STRICT");
    unnamed.subject.choices.clear();
    skipped(&unnamed, "no storage option given");
}

#[test]
fn rule_6_3_a_table_that_cannot_be_stored_otherwise_has_no_twin() {
    let reason = "table that this storage does not support";
    let generated =
        "CREATE TABLE t0(c0 INT, c1 INT GENERATED ALWAYS AS (c0 + 1)); INSERT INTO t0(c0) VALUES (1)";
    skipped(&stored(generated, "STRICT"), reason);
    // Also by a column that was added.
    let added = format!("{PLAIN}; ALTER TABLE t0 ADD COLUMN c2 INT GENERATED ALWAYS AS (c0 + 1)");
    skipped(&stored(&added, "STRICT"), reason);
    let on = |target: &str, setup: &str, way: &str| {
        let mut fixture = Fixture::open(target)?;
        let setup = fixture.sql(setup);
        Some(fixture.check(&TestCase { setup, ..stored("", way) }))
    };
    // A unique key would have to hold the column that partitions; a table in memory holds no long values.
    let unique = "CREATE TABLE t0(c0 INTEGER UNIQUE); INSERT INTO t0 VALUES (1)";
    if let Some(verdict) = on("postgres", unique, "PARTITION BY HASH ({columns})") {
        assert_skipped(verdict, reason);
    }
    if let Some(verdict) = on("mysql", "CREATE TABLE t0(c0 TEXT)", "ENGINE=MEMORY") {
        assert_skipped(verdict, reason);
    }
}

/// In a STRICT table a column of type ANY keeps the text '1', in another it makes a number of it.
#[test]
fn rule_6_3_types_that_are_stored_otherwise_are_not_compared() {
    let any = "CREATE TABLE t0(c0 ANY); INSERT INTO t0 VALUES ('1')";
    let reason = "type that this storage compares differently";
    skipped(&stored(any, "STRICT"), reason);
    skipped(&stored(&any.replace("ANY);", "ANY) STRICT;"), "plain"), reason);
}

#[test]
fn rule_6_3_a_twin_that_cannot_be_made_is_not_asked() {
    for refused in ["CREATE TABLE twin0", "INSERT INTO twin0"] {
        let mut fixture = Fixture::tampered(move |sql, reply| match sql.starts_with(refused) {
            true => failed(ErrorClass::Constraint, "not here"),
            false => reply,
        });
        assert_skipped(fixture.check(&stored(PLAIN, "STRICT")), "twin table cannot be created");
    }
}

/// Rows that were changed, and not in the same way, say nothing about queries.
#[test]
fn rule_6_3_twins_that_do_not_hold_the_same_rows_are_not_compared() {
    let verdict = |more: &str| {
        let mut fixture = Fixture::tampered(|sql, mut reply| {
            if let (Reply::Rows(rows), "SELECT * FROM twin0") = (&mut reply, sql) {
                rows.values.truncate(2);
            }
            reply
        });
        fixture.check(&stored(&format!("{PLAIN}; {more}"), "STRICT"))
    };
    for more in [
        "UPDATE t0 SET c1 = 6",
        "DELETE FROM t0 WHERE c0 = 7",
        "INSERT OR IGNORE INTO t0 VALUES (3, 3)",
        "INSERT INTO t0 SELECT c0, c1 FROM t0 WHERE c0 = 1",
    ] {
        assert_skipped(verdict(more), "twin table has different rows");
    }
    // But rows of literals are what they are.
    assert_eq!(evidence(verdict("")).class, Class::WrongRows);
}

/// A query that loses rows says more than one that shows them differently, and one of which nothing is said hides no
/// other.
#[test]
fn the_gravest_difference_of_several_queries_is_told() {
    let mut fixture = Fixture::tampered(|sql, mut reply| {
        if let Reply::Rows(rows) = &mut reply {
            match sql {
                "SELECT c0 FROM twin0" => rows.values = vec![Value::Real(1.0), Value::Real(2.0)],
                "SELECT c1 FROM twin0" => rows.values.truncate(1),
                _ => {}
            }
        }
        reply
    });
    let mut case = stored(PLAIN, "STRICT");
    let queries = ["SELECT c0 FROM t0 LIMIT 1", "SELECT c0 FROM t0", "SELECT c1 FROM t0"];
    let test = |at: usize| Statement::from(query(queries[at]));
    case.subject.tests = vec![test(0), test(1), test(2)];
    let gravest = evidence(fixture.check(&case));
    assert_eq!(gravest.class, Class::WrongRows);
    let Failure::Rows { first, second } = gravest.failure else { panic!("{:?}", gravest.failure) };
    assert_eq!((first.rows, second.rows), (2, 1));
    case.subject.tests = vec![test(0), test(1)];
    assert_eq!(evidence(fixture.check(&case)).class, Class::Representation);
    case.subject.tests = vec![test(0), query("SELECT * FROM t0 WHERE c0 > 0").into()];
    assert_eq!(fixture.check(&case), Verdict::Pass { nonempty: true });
}

#[test]
fn the_twin_is_dropped() {
    assert_undone(&stored(PLAIN, "STRICT"), lossy());
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "storage", 2_500);
}

#[test]
fn duckdb_agrees_with_itself() {
    assert_agreement("duckdb", "storage", 200);
}
