//! VERSIONS: two engines side by side, and when a difference between them says something.

use dissent_core::engine::{ErrorClass, Reply, SqlError};
use dissent_core::finding::{Class, Failure, Verdict};
use dissent_core::oracle::versions::Versions;
use dissent_core::session::{NoJournal, Session};
use dissent_core::subject::{Subject, TestCase};
use dissent_core::walk;

use super::common::{Fixture, assert_passes, assert_skipped, evidence};

fn case(setup: &str, query: &str) -> TestCase {
    let dialect = Fixture::sqlite();
    TestCase { setup: dialect.sql(setup), subject: Subject::new("versions", dialect.query(query)) }
}

fn compared(mut here: Fixture, mut there: Fixture, case: &TestCase) -> Verdict {
    let mut journal = NoJournal;
    let mut session = Session::new(here.engine.as_mut(), &here.dialect, &mut journal, || 0);
    session.compare_with(there.engine.as_mut());
    walk::replay(case, &Versions, &mut session).expect("the engines answer")
}

/// SQLite with a bug: it loses all rows of queries that hold this text.
fn losing(part: &'static str) -> Fixture {
    Fixture::tampered(move |sql, reply| match reply {
        Reply::Rows(mut rows) if sql.contains(part) => {
            rows.values.clear();
            Reply::Rows(rows)
        }
        other => other,
    })
}

const SETUP: &str = "CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (1), (2)";

/// NOT IN overlooks a NULL in a descending index: no rewriting of the query shows that, another version does.
#[test]
fn an_answer_that_is_wrong_in_every_form_differs_from_another_version() {
    let Some(old) = Fixture::open("sqlite@3.30.1") else { return };
    let case = case(
        "CREATE TABLE t0(c0); CREATE INDEX i0 ON t0(c0 DESC); INSERT INTO t0 VALUES (NULL), (0)",
        "SELECT 0 WHERE 1 NOT IN (SELECT c0 FROM t0)",
    );
    let newest = Fixture::sqlite();
    let labels =
        [old.engine.version(), newest.engine.version()].map(|version| format!("on SQLite {version}"));
    let found = evidence(compared(old, newest, &case));
    assert_eq!(found.class, Class::Changed);
    assert_eq!(found.arms.iter().map(|arm| arm.label.clone()).collect::<Vec<_>>(), labels);
    assert_passes(compared(Fixture::sqlite(), Fixture::sqlite(), &case));
}

#[test]
fn either_side_may_be_the_one_that_differs() {
    let case = case(SETUP, "SELECT c0 FROM t0 WHERE c0 > 1");
    for (here, there) in [(losing("> 1"), Fixture::sqlite()), (Fixture::sqlite(), losing("> 1"))] {
        assert_eq!(evidence(compared(here, there, &case)).class, Class::Changed);
    }
    assert_passes(compared(Fixture::sqlite(), Fixture::sqlite(), &case));
}

#[test]
fn without_another_version_nothing_is_compared() {
    let case = case(SETUP, "SELECT c0 FROM t0");
    assert_skipped(Fixture::sqlite().check(&case), "no other version to compare with");
}

#[test]
fn databases_that_differ_by_a_rejected_statement_are_not_compared() {
    let refusing = || {
        Fixture::tampered(|sql, reply| match sql.contains("UPDATE") {
            true => Reply::Failed(error(ErrorClass::Runtime)),
            false => reply,
        })
    };
    let case = case(&format!("{SETUP}; UPDATE t0 SET c0 = 9"), "SELECT c0 FROM t0");
    let reason = "statement that only one version accepts";
    assert_skipped(compared(Fixture::sqlite(), refusing(), &case), reason);
    assert_skipped(compared(refusing(), Fixture::sqlite(), &case), reason);
    assert_passes(compared(refusing(), refusing(), &case));
}

#[test]
fn an_error_of_one_version_counts_only_if_it_says_that_the_engine_is_broken() {
    let failing = |class| {
        Fixture::tampered(move |sql, reply| match sql.contains("> 1") {
            true => Reply::Failed(error(class)),
            false => reply,
        })
    };
    let case = case(SETUP, "SELECT c0 FROM t0 WHERE c0 > 1");
    for (class, reason) in [
        (ErrorClass::Semantic, "one arm is rejected"),
        (ErrorClass::Runtime, "one arm fails at run time"),
        (ErrorClass::Limit, "one arm exceeds a limit"),
    ] {
        assert_skipped(compared(Fixture::sqlite(), failing(class), &case), reason);
    }
    let found = evidence(compared(Fixture::sqlite(), failing(ErrorClass::Internal), &case));
    assert!(matches!(found.failure, Failure::OneSided { .. }) && found.class == Class::Changed);
}

#[test]
fn tables_may_differ_if_their_rows_came_in_any_order() {
    // Rows get their numbers in the order in which the query returns them.
    let backwards = || {
        Fixture::rewriting(|sql| {
            if sql.starts_with("INSERT INTO t1") { format!("{sql} ORDER BY 1 DESC") } else { sql.to_string() }
        })
    };
    let query = "SELECT c0 FROM t1 WHERE c1 = 1";
    let numbered = case(
        &format!(
            "{SETUP}; CREATE TABLE t1(c1 INTEGER PRIMARY KEY, c0 INT); INSERT INTO t1(c0) SELECT c0 FROM t0"
        ),
        query,
    );
    assert_skipped(
        compared(Fixture::sqlite(), backwards(), &numbered),
        "setup that depends on the order of rows",
    );
    // What is written out is stored as it is.
    let written = case("CREATE TABLE t1(c1 INT, c0 INT); INSERT INTO t1 VALUES (1, 1)", query);
    let otherwise = Fixture::rewriting(|sql| sql.replace("(1, 1)", "(1, 2)"));
    assert_eq!(evidence(compared(Fixture::sqlite(), otherwise, &written)).class, Class::Changed);
}

#[test]
fn what_is_not_defined_or_only_rounded_is_not_compared() {
    let limited = case(SETUP, "SELECT c0 FROM t0 LIMIT 1");
    let backwards = Fixture::rewriting(|sql| sql.replace("FROM t0 LIMIT", "FROM t0 ORDER BY 1 DESC LIMIT"));
    assert_skipped(compared(Fixture::sqlite(), backwards, &limited), "LIMIT without a total order");
    let float = case(SETUP, "SELECT c0 / 3.0 FROM t0");
    let rounding = Fixture::rewriting(|sql| sql.replace("/ 3.0", "/ 3.0000000000001"));
    assert_skipped(compared(Fixture::sqlite(), rounding, &float), "floats differ only by rounding");
}

fn error(class: ErrorClass) -> SqlError {
    SqlError { class, code: "X".to_string(), message: "no".to_string() }
}
