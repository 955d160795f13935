//! ROWID: a table and its twin that is placed by its key. Conditions that all twins share are tested in
//! [`super::storage`].

use dissent_core::engine::ErrorClass;
use dissent_core::finding::{Class, Verdict};
use dissent_core::sql::Statement;
use dissent_core::subject::{Subject, TestCase};

use super::again::{assert_agreement, assert_undone};
use super::common::{
    Fixture, assert_passes, assert_reported, assert_skipped, check, evidence, failed, over, query,
    without_last_row,
};

/// A twin without rowid of the table of a script.
#[track_caller]
fn rowid(setup: &str) -> TestCase {
    let subject = Subject::new("rowid", query("SELECT * FROM t0 WHERE c0 >= 0"));
    over(setup, subject.with_choice("storage", "WITHOUT ROWID"))
}

const KEYED: &str =
    "CREATE TABLE t0(c0 INT PRIMARY KEY NOT NULL, c1 INT); INSERT INTO t0 VALUES (1, 5), (2, 5)";

/// SQLite with a bug: a query of the twin loses the last row.
pub fn lossy() -> Fixture {
    Fixture::tampered(|sql, reply| {
        let of_twin = sql.starts_with("SELECT") && sql.contains("FROM twin0 WHERE");
        if of_twin { without_last_row(reply) } else { reply }
    })
}

#[test]
fn a_lost_row_is_reported() {
    let found = assert_reported(lossy(), &rowid(KEYED));
    let sql: Vec<&str> = found.arms.iter().map(|arm| arm.sql.as_str()).collect();
    assert_eq!(
        sql,
        [
            "SELECT * FROM t0 WHERE c0 >= 0",
            "CREATE TABLE twin0(c0 INT PRIMARY KEY NOT NULL, c1 INT) WITHOUT ROWID",
            "INSERT INTO twin0 VALUES (1, 5), (2, 5)",
            "SELECT * FROM twin0 WHERE c0 >= 0",
        ]
    );
}

/// A twin with a rowid of a table without, after listing 13 of SQLRight: a column that was added is taken for a part of
/// the key.
fn listing_13() -> TestCase {
    let setup = "CREATE TABLE t0(c0 INT PRIMARY KEY NOT NULL) WITHOUT ROWID; INSERT INTO t0 VALUES (3);
        ALTER TABLE t0 ADD COLUMN c1 INT";
    let subject = Subject::new("rowid", query("SELECT * FROM t0 WHERE c0 = 8 OR (c0 = 3 AND c1 = 3)"));
    over(setup, subject.with_choice("storage", "plain"))
}

/// What 3.34.0 reads behind the end of a key depends on what was in that memory before: other tables, in one of a
/// hundred ways.
#[test]
fn listing_13_is_caught_once_memory_lies_right() {
    assert_passes(check(&listing_13()));
    let Some(mut old) = Fixture::open("sqlite@3.34.0") else { return };
    let caught = (0..100).find_map(|others| {
        let mut case = listing_13();
        let other = |at: usize| Statement::Raw(format!("CREATE TABLE o{at}(a INT PRIMARY KEY, b, c)"));
        case.setup.splice(0..0, (0..others).map(other));
        match old.check(&case) {
            Verdict::Bug(evidence) => Some((others, evidence.class)),
            _ => None,
        }
    });
    println!("caught with {caught:?} other tables");
    assert!(matches!(caught, Some((_, Class::WrongRows))), "{caught:?}");
}

#[test]
fn rule_6_4_rows_are_placed_by_a_key_that_is_never_null_and_not_their_number() {
    let row = "INSERT INTO t0 VALUES (1, 5), (2, 5)";
    for (table, reason) in [
        ("c0 INTEGER PRIMARY KEY NOT NULL, c1 INT", "primary key is the rowid"),
        ("c0 INTEGER NOT NULL, c1 INT, PRIMARY KEY (c0)", "primary key is the rowid"),
        ("c0 INT PRIMARY KEY, c1 INT", "primary key may be NULL"),
        ("c0 INT NOT NULL, c1 INT, PRIMARY KEY (c0, c1)", "primary key may be NULL"),
        ("c0 INT NOT NULL, c1 INT", "no primary key"),
        ("c0 INT NOT NULL UNIQUE, c1 INT", "no primary key"),
    ] {
        assert_skipped(lossy().check(&rowid(&format!("CREATE TABLE t0({table}); {row}"))), reason);
    }
    // It is also the other way round that one of the two is placed by its key.
    let mut nullable = listing_13();
    nullable.setup = rowid("CREATE TABLE t0(c0 INT PRIMARY KEY, c1 INT) WITHOUT ROWID").setup;
    assert_skipped(lossy().check(&nullable), "primary key may be NULL");
}

#[test]
fn rule_6_4_every_row_names_all_its_values() {
    for rows in ["INSERT INTO t0(c0) VALUES (7)", "INSERT INTO t0 SELECT c0 + 7, c1 FROM t0"] {
        assert_skipped(lossy().check(&rowid(&format!("{KEYED}; {rows}"))), "INSERT that omits values");
    }
    // Values that are computed cannot be named, and a column may be added later.
    let generated = "CREATE TABLE t0(c0 INT PRIMARY KEY NOT NULL, c1 INT GENERATED ALWAYS AS (c0 + 1));
        INSERT INTO t0(c0) VALUES (1), (2)";
    assert_reported(lossy(), &rowid(generated));
    assert_reported(lossy(), &rowid(&format!("{KEYED}; ALTER TABLE t0 ADD COLUMN c2 INT")));
}

/// Not what came after it: the engine was gone by then.
#[test]
fn the_query_that_ended_the_engine_is_reported() {
    let mut gone = false;
    let mut fixture = Fixture::tampered(move |sql, reply| {
        gone |= sql.starts_with("SELECT") && sql.contains("WHERE");
        if gone { failed(ErrorClass::ConnectionLost, "gone") } else { reply }
    });
    let found = evidence(fixture.check(&rowid(KEYED)));
    assert_eq!(found.class, Class::Crash);
    assert_eq!(found.arms.len(), 1);
    assert_eq!(found.arms[0].sql, "SELECT * FROM t0 WHERE c0 >= 0");
}

#[test]
fn the_twin_is_dropped() {
    assert_undone(&rowid(KEYED), lossy());
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "rowid", 2_500);
}
