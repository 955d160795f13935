//! DML: changes touch the rows that a query returns, and leave what a rebuild gives.

use dissent_core::engine::{ErrorClass, Reply};
use dissent_core::finding::{Class, Verdict};
use dissent_core::subject::{Subject, TestCase};

use super::again::{assert_agreement, assert_undone};
use super::common::{
    Fixture, assert_passes, assert_reported, assert_skipped, check, evidence, failed, over, query, sql,
    without_last_row,
};

const SETUP: &str = "CREATE TABLE t0(c0 INT UNIQUE NOT NULL, c1 TEXT COLLATE NOCASE, c2 INT,
        c3 INT GENERATED ALWAYS AS (c2 + 1));
    CREATE INDEX i0 ON t0(c2);
    INSERT INTO t0(c0, c1, c2) VALUES (1, 'a', 5), (2, 'A', 6), (3, 'b', NULL)";

const FORMS: [&str; 6] = ["delete", "update", "delete-returning", "update-returning", "insert", "upsert"];

#[track_caller]
fn changed(form: &str, select: &str) -> TestCase {
    over(SETUP, Subject::new("dml", query(select)).with_choice("form", form))
}

#[track_caller]
fn rebuilt(select: &str, changes: &str) -> TestCase {
    let mut subject = Subject::new("dml", query(select));
    subject.tests.extend(sql(changes));
    over(SETUP, subject.with_choice("form", "rebuilt").with_choice("table", "t0"))
}

/// SQLite that changes fewer rows than it should.
fn lazy() -> Fixture {
    Fixture::rewriting(|sql| match sql.split_once(" WHERE ") {
        Some((head, filter)) if sql.contains("twin0") && !sql.starts_with("SELECT") => {
            format!("{head} WHERE c0 <> 2 AND {filter}")
        }
        _ => sql.to_string(),
    })
}

#[test]
fn a_row_that_is_not_changed_is_reported() {
    for form in FORMS {
        for select in ["SELECT c0 FROM t0 WHERE c2 > 4", "SELECT * FROM t0 WHERE t0.c1 = 'a'"] {
            assert_eq!(assert_reported(lazy(), &changed(form, select)).class, Class::WrongRows, "{form}");
        }
    }
}

#[test]
fn rows_that_returning_loses_are_reported() {
    let silent = || {
        Fixture::tampered(|sql, reply| match sql.contains(" RETURNING ") {
            true => without_last_row(reply),
            false => reply,
        })
    };
    for form in ["delete-returning", "update-returning"] {
        assert_reported(silent(), &changed(form, "SELECT c0 FROM t0"));
    }
}

#[test]
fn postgres_and_duckdb_merge_what_a_query_returns() {
    for target in ["postgres", "duckdb"] {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        let setup = "CREATE TABLE t0(c0 INT PRIMARY KEY, c1 INT); INSERT INTO t0 VALUES (1, 5), (2, 6)";
        let setup = fixture.sql(setup);
        for form in FORMS.iter().chain(&["merge"]) {
            let case = changed(form, "SELECT c0, c1 FROM t0 WHERE t0.c1 > 5");
            let case = TestCase { setup: setup.clone(), ..case };
            assert_eq!(fixture.check(&case), Verdict::Pass { nonempty: true }, "{target} {form}");
        }
    }
}

#[test]
fn subqueries_see_the_table_as_it_was() {
    for form in FORMS {
        let select = "SELECT c0 FROM t0 WHERE t0.c2 >= (SELECT MAX(a.c2) FROM t0 AS a) OR EXISTS
            (SELECT 1 FROM t0 AS a WHERE a.c0 > t0.c0)";
        assert_passes(check(&changed(form, select)));
    }
}

#[test]
fn rule_10_1_only_rows_of_one_table_are_asked_about() {
    for select in [
        "SELECT c0 FROM t0, t0 AS a",
        "SELECT c0 FROM t0 AS a WHERE c0 > 1",
        "SELECT DISTINCT c1 FROM t0 WHERE c0 > 1",
        "SELECT COUNT(*) FROM t0 WHERE c0 > 1",
        "SELECT c0 FROM t0 WHERE c0 > 1 GROUP BY c0",
        "SELECT c0 FROM t0 WHERE c0 > 1 ORDER BY c0 LIMIT 1",
        "SELECT c0 FROM t0 UNION SELECT c2 FROM t0",
        "SELECT 1",
    ] {
        for form in FORMS {
            assert_skipped(lazy().check(&changed(form, select)), "not rows of a single table");
        }
    }
    assert_skipped(lazy().check(&changed("?", "SELECT c0 FROM t0")), "not rows of a single table");
    assert_skipped(lazy().check(&changed("delete", "SELECT c0 FROM t9")), "no table");
}

/// A statement that failed says nothing about the table, and a name may be a keyword.
#[test]
fn the_copy_is_of_the_table_as_it_is() {
    for target in ["sqlite", "postgres", "duckdb"] {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        let setup = fixture.sql(
            "CREATE TABLE t0(\"order\" INT NOT NULL UNIQUE, \"a b\" INT); CREATE TABLE t0(c9 INT);
            INSERT INTO t0 VALUES (1, 5), (2, 6)",
        );
        for form in FORMS.iter().chain((target != "sqlite").then_some(&"merge")) {
            let select = fixture.query("SELECT \"order\" FROM t0 WHERE \"a b\" > 5");
            let subject = Subject::new("dml", select).with_choice("form", form);
            let verdict = fixture.check(&TestCase { setup: setup.clone(), subject });
            assert_eq!(verdict, Verdict::Pass { nonempty: true }, "{target} {form}");
        }
    }
}

#[test]
fn rule_10_1_rows_are_found_by_a_key() {
    let unkeyed = SETUP.replace(" UNIQUE NOT NULL", "");
    let case = changed("upsert", "SELECT c0 FROM t0 WHERE c2 > 4");
    assert_skipped(lazy().check(&over(&unkeyed, case.subject)), "no key");
}

/// A change that fails where a query does not is a finding, unless changes are strict.
#[test]
fn rule_10_2_an_error_that_only_a_change_raises_is_validated() {
    let failing = |fixture: Fixture| {
        fixture.with_bug(|sql, reply| match sql.starts_with("UPDATE") || sql.starts_with("DELETE") {
            true => failed(ErrorClass::Runtime, "out of range"),
            false => reply,
        })
    };
    let case = changed("update", "SELECT c0 FROM t0 WHERE c2 > 4");
    assert_eq!(evidence(failing(Fixture::sqlite()).check(&case)).class, Class::ErrorDivergence);
    let Some(mariadb) = Fixture::open("mariadb") else { return };
    let setup = mariadb.sql("CREATE TABLE t0(c0 INT, c2 INT); INSERT INTO t0 VALUES (1, 5)");
    assert_skipped(failing(mariadb).check(&TestCase { setup, ..case }), "one arm avoids the error");
}

/// What a query converts with a warning is NULL in a strict change.
#[test]
fn rule_10_2_a_query_that_warns_is_not_compared_with_a_strict_change() {
    let Some(mut mariadb) = Fixture::open("mariadb") else { return };
    let setup = mariadb.sql("CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (1)");
    let select = "SELECT c0 FROM t0 WHERE c0 + CAST(0 AS DATE)";
    let case = changed("delete", "SELECT c0 FROM t0");
    let subject = Subject::new("dml", mariadb.query(select)).with_choice("form", "delete");
    let verdict = mariadb.check(&TestCase { setup: setup.clone(), subject });
    assert_skipped(verdict, "query that warns where a change is strict");
    // RETURNING of no row has no columns there.
    let subject = Subject::new("dml", query("SELECT c0 FROM t0 WHERE c0 > 5"));
    let none = TestCase { setup: setup.clone(), subject: subject.with_choice("form", "delete-returning") };
    assert_passes(mariadb.check(&none));
    assert_passes(mariadb.check(&TestCase { setup, ..case }));
}

/// An index that is not kept up to date.
#[test]
fn what_a_change_leaves_behind_is_reported() {
    let change =
        "UPDATE t0 SET c2 = 8 WHERE c0 = 1; DELETE FROM t0 WHERE c0 = 2; INSERT INTO t0(c0) VALUES (9)";
    for select in ["SELECT c0 FROM t0 WHERE c2 = 8", "SELECT t0.c3 FROM t0"] {
        let stale =
            Fixture::tampered(|sql, reply| match sql.contains("FROM twin0") && sql.contains("SELECT ") {
                true if sql.contains("c2 = 8") || sql.contains("twin0.c3") => without_last_row(reply),
                _ => reply,
            });
        assert_eq!(assert_reported(stale, &rebuilt(select, change)).class, Class::WrongRows);
    }
}

#[test]
fn rule_10_3_after_changes_nothing_is_known_of_what_is_stored() {
    let stale = || {
        Fixture::tampered(|sql, reply| match (sql.contains("twin1"), reply) {
            (true, Reply::Rows(rows)) if sql.contains("m0") => without_last_row(Reply::Rows(rows)),
            (_, reply) => reply,
        })
    };
    let change = "UPDATE t0 SET c2 = 8 WHERE c0 = 1";
    for select in ["SELECT DISTINCT c1 AS m0 FROM t0", "SELECT SUM(c2) AS m0 FROM t0"] {
        // All rows are compared, and agree.
        assert_passes(stale().check(&rebuilt(select, change)));
    }
    assert_reported(stale(), &rebuilt("SELECT c1 AS m0 FROM t0", change));
    let addresses = rebuilt("SELECT rowid AS m0 FROM t0", change);
    assert_skipped(stale().check(&addresses), "query that reads row addresses");
}

#[test]
fn rule_10_3_a_rebuild_with_other_rows_is_not_compared() {
    let mut other = Fixture::tampered(|sql, reply| match sql.ends_with("FROM twin1") {
        true => without_last_row(reply),
        false => reply,
    });
    let case = rebuilt("SELECT c0 FROM t0", "DELETE FROM t0 WHERE c0 = 1");
    assert_skipped(other.check(&case), "twin table has different rows");
}

#[test]
fn the_copies_are_dropped() {
    for form in FORMS {
        assert_undone(&changed(form, "SELECT c0 FROM t0 WHERE c2 > 4"), lazy());
    }
    assert_undone(&rebuilt("SELECT c0 FROM t0", "DELETE FROM t0 WHERE c0 = 1"), lazy());
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "dml", 3_000);
}

#[test]
fn duckdb_agrees_with_itself() {
    assert_agreement("duckdb", "dml", 450);
}

#[test]
fn postgres_agrees_with_itself() {
    assert_agreement("postgres", "dml", 400);
}
