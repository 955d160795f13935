//! CONSTRAINTS: a table and a copy with other constraints.

use dissent_core::finding::Class;
use dissent_core::subject::{Subject, TestCase};

use super::again::{assert_agreement, assert_undone};
use super::common::{
    Fixture, assert_passes, assert_reported, assert_skipped, check, over, query, raw, without_last_row,
};

const SETUP: &str = "CREATE TABLE t0(c0 INTEGER PRIMARY KEY, c1 TEXT COLLATE NOCASE NOT NULL, c2 INT,
        c3 INT GENERATED ALWAYS AS (c0 + 1), CHECK (c0 > 0));
    INSERT INTO t0(c0, c1, c2) VALUES (1, 'a', 5), (2, 'A', 6), (3, 'b', NULL)";

const CHANGES: [&str; 5] =
    ["without constraints", "with NOT NULL", "with UNIQUE", "with CHECK", "with more constraints"];

#[track_caller]
fn copied(setup: &str, select: &str, change: &str) -> TestCase {
    let subject = Subject::new("constraints", query(select));
    over(setup, subject.with_choice("table", "t0").with_choice("copy", change))
}

/// SQLite that loses a row of the copy, but not when all rows are compared.
fn lossy() -> Fixture {
    Fixture::tampered(|sql, reply| match sql.contains("twin0") && sql.starts_with("SELECT c") {
        true => without_last_row(reply),
        false => reply,
    })
}

#[test]
fn a_lost_row_is_reported_whatever_the_copy_has() {
    for change in CHANGES {
        for select in ["SELECT c0, c1 FROM t0 WHERE c0 > 1", "SELECT c3 FROM t0 WHERE c1 = 'a'"] {
            let found = assert_reported(lossy(), &copied(SETUP, select, change));
            assert_eq!(found.class, Class::WrongRows);
        }
    }
}

/// What the copies are made of.
#[test]
fn copies_have_fewer_or_more_constraints() {
    let created = |change: &str| {
        let (mut fixture, log) = Fixture::recording();
        assert_passes(fixture.check(&copied(SETUP, "SELECT c0 FROM t0", change)));
        let log = log.borrow();
        log.iter().find(|sql| sql.starts_with("CREATE TABLE twin0")).cloned().unwrap_or_default()
    };
    let bare = "CREATE TABLE twin0(c0 INTEGER, c1 TEXT COLLATE NOCASE, c2 INT, c3 INT)";
    assert_eq!(created("without constraints"), bare);
    let more = created("with more constraints");
    assert!(more.contains("c2 INT UNIQUE CHECK (c2 >= 5 AND c2 <= 6)"), "{more}");
    assert!(more.contains("c0 INTEGER PRIMARY KEY NOT NULL CHECK (c0 >= 1 AND c0 <= 3)"), "{more}");
    // 'a' and 'A' are equal.
    assert!(!more.contains("NOCASE NOT NULL UNIQUE"), "{more}");
}

#[test]
fn views_and_altered_tables_are_copied_too() {
    let setup = format!(
        "{SETUP}; ALTER TABLE t0 RENAME TO t1; ALTER TABLE t1 ADD COLUMN c4 INT DEFAULT 7;
        ALTER TABLE t1 RENAME COLUMN c2 TO c5; ALTER TABLE t1 RENAME TO t0;
        CREATE VIEW v0 AS SELECT t0.c5 AS c0 FROM t0; CREATE VIEW v1 AS SELECT c0 FROM v0 WHERE c0 > 5"
    );
    for change in CHANGES {
        for select in ["SELECT c0 FROM v1", "SELECT c4 + c5 FROM t0 NATURAL JOIN t0 AS a"] {
            assert_passes(check(&copied(&setup, select, change)));
        }
        let found = assert_reported(
            Fixture::tampered(|sql, reply| match sql.starts_with("SELECT c0 FROM twin0_v1") {
                true => without_last_row(reply),
                false => reply,
            }),
            &copied(&setup, "SELECT c0 FROM v1", change),
        );
        assert_eq!(found.class, Class::WrongRows);
    }
}

#[test]
fn rule_6_6_the_statements_say_what_the_table_is() {
    let select = "SELECT c0 FROM t0";
    let skipped = |setup: &str, reason: &str| {
        assert_skipped(lossy().check(&copied(setup, select, "without constraints")), reason);
    };
    skipped("ANALYZE", "no table");
    skipped(&format!("{SETUP}; DROP TABLE t0"), "no table");
    skipped("CREATE TABLE t1(c0 INT); CREATE TABLE t0 AS SELECT c0 FROM t1", "table with unknown columns");
    let mut text = copied(SETUP, select, "without constraints");
    text.setup.extend(raw(&["ALTER TABLE t0 ADD COLUMN c9"]));
    assert_skipped(lossy().check(&text), "SQL that Dissent cannot parse");
    text.setup.pop();
    text.subject.choices.remove("copy");
    assert_skipped(lossy().check(&text), "no copy described");
}

/// A statement that failed says nothing about the table.
#[test]
fn rule_6_6_only_statements_that_succeeded_say_what_the_table_is() {
    let setup = "CREATE TABLE t0(c0 TEXT); CREATE TABLE t0(c0 TEXT COLLATE NOCASE);
        INSERT INTO t0 VALUES ('a'), ('A')";
    for change in ["without constraints", "with more constraints"] {
        assert_passes(check(&copied(setup, "SELECT c0 FROM t0 WHERE c0 = 'A'", change)));
    }
}

/// Which of two relations of one name is meant depends on where the name stands.
#[test]
fn rule_6_3_nothing_else_has_the_name_of_the_table() {
    let reason = "alias or common table with the name of the table";
    let setup = "CREATE TABLE u0(c9 INT); CREATE TABLE t0(c0 INT);
        INSERT INTO u0 VALUES (7); INSERT INTO t0 VALUES (1)";
    for select in [
        "WITH t0 AS (SELECT c9 AS c0 FROM u0) SELECT t0.c0 FROM t0",
        "SELECT c9 FROM u0 WHERE 7 IN (WITH t0 AS (SELECT c9 AS c0 FROM u0) SELECT t0.c0 FROM t0)",
        "SELECT (SELECT COUNT(t0.c9) FROM u0 AS t0) FROM t0",
        "SELECT T0.c9 FROM (SELECT c9 FROM u0) AS T0",
    ] {
        assert_skipped(check(&copied(setup, select, "without constraints")), reason);
    }
    let view = format!("{setup}; CREATE VIEW v0 AS WITH t0 AS (SELECT c9 AS c0 FROM u0) SELECT c0 FROM t0");
    assert_skipped(check(&copied(&view, "SELECT c0 FROM v0", "without constraints")), reason);
}

#[test]
fn rule_6_6_row_addresses_are_not_copied() {
    let reason = "query that reads row addresses";
    for select in
        ["SELECT c0 FROM t0 WHERE rowid = 1", "SELECT c0 FROM t0 WHERE _rowid_ IN (SELECT c2 FROM t0)"]
    {
        assert_skipped(lossy().check(&copied(SETUP, select, "without constraints")), reason);
    }
    let view = format!("{SETUP}; CREATE VIEW v0 AS SELECT oid AS c0 FROM t0");
    assert_skipped(lossy().check(&copied(&view, "SELECT c0 FROM v0", "without constraints")), reason);
    // A column of that name is a column.
    let declared = "CREATE TABLE t0(oid INT); INSERT INTO t0 VALUES (4)";
    assert_passes(check(&copied(declared, "SELECT oid FROM t0 WHERE oid > 1", "without constraints")));
}

#[test]
fn rule_6_6_copies_with_other_rows_are_not_compared() {
    let mut other = Fixture::tampered(|sql, reply| match sql == "SELECT * FROM twin0" {
        true => without_last_row(reply),
        false => reply,
    });
    let case = copied(SETUP, "SELECT c0 FROM t0", "without constraints");
    assert_skipped(other.check(&case), "twin table has different rows");
}

#[test]
fn rule_6_6_without_anything_to_add_there_is_no_copy() {
    let setup = "CREATE TABLE t0(c0 TEXT); INSERT INTO t0 VALUES ('a'), ('a'), (NULL)";
    assert_skipped(
        lossy().check(&copied(setup, "SELECT c0 FROM t0", "with more constraints")),
        "no constraint to add",
    );
}

#[test]
fn the_copy_is_dropped() {
    let setup = format!("{SETUP}; CREATE VIEW v0 AS SELECT c0 FROM t0; CREATE INDEX i0 ON t0(c2)");
    for change in CHANGES {
        assert_undone(&copied(&setup, "SELECT c0 FROM v0", change), lossy());
    }
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "constraints", 1_500);
}

#[test]
fn duckdb_agrees_with_itself() {
    assert_agreement("duckdb", "constraints", 700);
}

#[test]
fn postgres_agrees_with_itself() {
    assert_agreement("postgres", "constraints", 300);
}
