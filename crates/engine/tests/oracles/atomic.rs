//! ATOMIC: what is rolled back, and what fails, leaves nothing behind.

use dissent_core::finding::{Class, Verdict};
use dissent_core::sql::{OnConflict, Statement};
use dissent_core::subject::{Subject, TestCase};

use super::again::{assert_agreement, assert_agreement_of};
use super::common::{
    Fixture, assert_passes, assert_reported, assert_skipped, check, evidence, over, query, sql,
};

const SETUP: &str = "CREATE TABLE t0(c0 INT PRIMARY KEY, c1 TEXT); INSERT INTO t0 VALUES (1, 'a'), (2, 'b')";

#[track_caller]
fn undone(by: &str, setup: &str, changes: &str) -> TestCase {
    let mut subject = Subject::new("atomic", query("SELECT c1 FROM t0 WHERE c0 > 1"));
    subject.tests.extend(sql(changes));
    over(setup, subject.with_choice("by", by))
}

/// SQLite in which no transaction is rolled back.
fn forgetful() -> Fixture {
    Fixture::rewriting(|sql| match sql {
        "ROLLBACK" => "COMMIT".to_string(),
        "ROLLBACK TO SAVEPOINT atomic0" => "RELEASE SAVEPOINT atomic0".to_string(),
        other => other.to_string(),
    })
}

#[test]
fn what_a_rollback_leaves_is_reported() {
    for by in ["rollback", "savepoint"] {
        for changes in [
            "INSERT INTO t0 VALUES (3, 'c')",
            "UPDATE t0 SET c1 = 'z' WHERE c0 = 2",
            "DELETE FROM t0 WHERE c0 = 2",
            "CREATE INDEX i1 ON t0(c1); INSERT INTO t0 VALUES (4, 'd')",
            // A statement that fails on the way changes nothing about that.
            "INSERT INTO t0 VALUES (1, 'x'); DELETE FROM t0",
        ] {
            assert_reported(forgetful(), &undone(by, SETUP, changes));
        }
    }
    let renamed = undone("rollback", SETUP, "ALTER TABLE t0 RENAME TO t9");
    assert_eq!(assert_reported(forgetful(), &renamed).class, Class::ErrorDivergence);
}

/// SQLite that keeps the rows before the one that fails.
#[test]
fn what_a_failed_statement_leaves_is_reported() {
    let keeping = || Fixture::rewriting(|sql| sql.replace("INSERT INTO t0", "INSERT OR FAIL INTO t0"));
    let case = undone("failure", SETUP, "INSERT INTO t0 VALUES (3, 'c'), (3, 'd')");
    assert_reported(keeping(), &case);
    let none_fails = undone("failure", SETUP, "INSERT INTO t0 VALUES (3, 'c')");
    assert_skipped(check(&none_fails), "no statement fails");
}

#[test]
fn a_check_leaves_no_transaction_open() {
    for by in ["rollback", "savepoint", "failure"] {
        let mut fixture = Fixture::sqlite();
        let case = undone(by, SETUP, "INSERT INTO t0 VALUES (1, 'x')");
        assert_passes(fixture.check(&case));
        assert_eq!(fixture.rows("BEGIN").unwrap_or_default().len(), 0, "{by}");
        assert_eq!(fixture.rows("SELECT * FROM t0").unwrap().len(), 2, "{by}");
    }
}

#[test]
fn rule_14_1_only_what_a_transaction_undoes() {
    let reason = "statement that a transaction does not undo";
    for changes in
        ["VACUUM", "PRAGMA cache_size = 10", "ANALYZE", "INSERT OR FAIL INTO t0 VALUES (3, 'c'), (1, 'd')"]
    {
        assert_skipped(forgetful().check(&undone("rollback", SETUP, changes)), reason);
    }
    let ending =
        "CREATE TABLE t0(c0 INT PRIMARY KEY ON CONFLICT ROLLBACK, c1 TEXT); INSERT INTO t0 VALUES (1, 'a')";
    assert_skipped(forgetful().check(&undone("rollback", ending, "DELETE FROM t0")), reason);
    let mut case = undone("rollback", SETUP, "UPDATE t0 SET c1 = 'z'");
    if let Some(Statement::Update(update)) = case.subject.tests.last_mut() {
        update.or = Some(OnConflict::Rollback);
    }
    assert_skipped(forgetful().check(&case), reason);
}

#[test]
fn rule_14_2_only_tables_that_are_transactional() {
    let Some(mut mariadb) = Fixture::open("mariadb") else { return };
    for (engine, expected) in [
        ("InnoDB", None),
        ("MyISAM", Some("table that is not transactional")),
        ("Aria", Some("table that is not transactional")),
        ("MEMORY", Some("table that is not transactional")),
    ] {
        let setup = format!("CREATE TABLE t0(c0 INT PRIMARY KEY) ENGINE={engine}; INSERT INTO t0 VALUES (1)");
        let mut subject = Subject::new("atomic", mariadb.query("SELECT c0 FROM t0"));
        subject.tests.extend(mariadb.sql("INSERT INTO t0 VALUES (2)"));
        let case = TestCase { setup: mariadb.sql(&setup), subject: subject.with_choice("by", "rollback") };
        match expected {
            Some(reason) => assert_skipped(mariadb.check(&case), reason),
            None => assert_passes(mariadb.check(&case)),
        }
    }
    // A statement that changes the schema commits first.
    let mut subject = Subject::new("atomic", mariadb.query("SELECT c0 FROM t0"));
    subject.tests.extend(mariadb.sql("CREATE INDEX i0 ON t0(c0)"));
    let setup = mariadb.sql("CREATE TABLE t0(c0 INT) ENGINE=InnoDB");
    let case = TestCase { setup, subject: subject.with_choice("by", "rollback") };
    assert_skipped(mariadb.check(&case), "statement that a transaction does not undo");
}

#[test]
fn rule_14_3_a_way_to_undo_that_the_dialect_lacks_says_nothing() {
    let Some(mut duckdb) = Fixture::open("duckdb") else { return };
    for by in ["savepoint", "failure"] {
        let mut subject = Subject::new("atomic", duckdb.query("SELECT c0 FROM t0"));
        subject.tests.extend(duckdb.sql("DELETE FROM t0"));
        let setup = duckdb.sql("CREATE TABLE t0(c0 INT)");
        let case = TestCase { setup, subject: subject.with_choice("by", by) };
        assert_skipped(duckdb.check(&case), "no way to undo changes");
    }
}

#[test]
fn a_difference_names_the_statements_that_were_undone() {
    let found = evidence(forgetful().check(&undone("rollback", SETUP, "DELETE FROM t0")));
    let ran: Vec<&str> = found.arms.iter().map(|arm| arm.sql.as_str()).collect();
    assert_eq!(ran[1..4], ["BEGIN", "DELETE FROM t0", "ROLLBACK"]);
    assert!(matches!(check(&undone("rollback", SETUP, "DELETE FROM t0")), Verdict::Pass { nonempty: true }));
}

#[test]
fn engines_agree_with_themselves() {
    for (target, quick) in [("sqlite", 3000), ("postgres", 300), ("duckdb", 420)] {
        assert_agreement(target, "atomic", quick);
    }
}

/// With all their tables, most changes would be to some that are not transactional.
#[test]
fn mysql_and_mariadb_agree_with_themselves_over_transactional_tables() {
    for target in ["mariadb", "mysql"] {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        fixture.dialect.table_options.retain(|option| option.transactional);
        assert_agreement_of(fixture, target, "atomic", 800);
    }
}

#[test]
fn mysql_and_mariadb_undo_in_every_way() {
    for target in ["mariadb", "mysql"] {
        let Some(mut server) = Fixture::open(target) else { continue };
        for (by, change) in [
            ("rollback", "DELETE FROM t0"),
            ("savepoint", "UPDATE t0 SET c1 = 'z'"),
            ("failure", "INSERT INTO t0 VALUES (3, 'c'), (3, 'd')"),
        ] {
            let mut subject = Subject::new("atomic", server.query("SELECT c1 FROM t0 WHERE c0 > 1"));
            subject.tests.extend(server.sql(change));
            let setup = server.sql(SETUP);
            let case = TestCase { setup, subject: subject.with_choice("by", by) };
            assert_passes(server.check(&case));
        }
    }
}
