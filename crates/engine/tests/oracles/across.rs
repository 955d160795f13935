//! VERSIONS across engines: what two of them are compared in, and that they agree there.

use std::collections::BTreeMap;

use dissent_core::engine::Reply;
use dissent_core::finding::{Class, Verdict};
use dissent_core::generate::Policy;
use dissent_core::oracle::versions::Versions;
use dissent_core::session::{NoJournal, Session};
use dissent_core::subject::{Subject, TestCase};
use dissent_core::walk::{self, Walk};

use super::common::{Counting, Fixture, assert_passes, assert_skipped, cases, evidence};

const SETUP: &str =
    "CREATE TABLE t0(c0 INTEGER, c1 TEXT); INSERT INTO t0 VALUES (1, 'a'), (2, NULL), (NULL, '2');
    CREATE TABLE t1(c0 BIGINT PRIMARY KEY); INSERT INTO t1 VALUES (2), (3)";

fn case(setup: &str, query: &str) -> TestCase {
    let sqlite = Fixture::sqlite();
    TestCase { setup: sqlite.sql(setup), subject: Subject::new("versions", sqlite.query(query)) }
}

/// The answer of SQLite compared with that of another engine.
fn compared(mut there: Fixture, case: &TestCase) -> Verdict {
    let mut here = Fixture::sqlite();
    let mut journal = NoJournal;
    let mut session = Session::new(here.engine.as_mut(), &here.dialect, &mut journal, || 0);
    session.compare_with_engine(there.engine.as_mut(), &there.dialect);
    walk::replay(case, &Versions, &mut session).expect("the engines answer")
}

fn others() -> impl Iterator<Item = Fixture> {
    ["duckdb", "postgres"].into_iter().filter_map(Fixture::open)
}

#[test]
fn what_means_the_same_to_both_is_compared() {
    for query in [
        "SELECT c0 > 1, c1 || 'x' FROM t0",
        "SELECT COUNT(*), SUM(c0 % 10), MAX(c1) FROM t0 GROUP BY c1",
        "SELECT t0.c1, t1.c0 FROM t0 LEFT JOIN t1 ON t0.c0 = t1.c0 WHERE t0.c1 <> 'b' OR t1.c0 IN (2, NULL)",
        "SELECT c0 FROM t0 WHERE c0 IN (SELECT c0 FROM t1) AND NOT EXISTS (SELECT 1 FROM t1 WHERE t1.c0 = t0.c0 + 1)",
        "SELECT c0 FROM t0 EXCEPT SELECT c0 FROM t1",
        "SELECT CASE WHEN c0 BETWEEN 1 AND 2 THEN c1 ELSE COALESCE(c1, '') END FROM t0",
    ] {
        for there in others() {
            assert_passes(compared(there, &case(SETUP, query)));
        }
    }
}

/// Each of these is right on both sides, and not the same.
#[test]
fn what_engines_do_differently_is_left_alone() {
    let (clause, operation) =
        ("clause that engines may take differently", "operation that engines may compute differently");
    let mixed = "operands that engines may convert";
    for (query, reason) in [
        ("SELECT c0 / 2 FROM t0", operation),
        ("SELECT c1 LIKE 'A' FROM t0", operation),
        ("SELECT CAST(c1 AS INTEGER) FROM t0 WHERE c0 IS NULL", mixed),
        ("SELECT c0 FROM t0 WHERE c0 = '1'", mixed),
        ("SELECT c0 FROM t0 WHERE c0 IN (1, '2')", mixed),
        ("SELECT c0 FROM t0 WHERE c0 IN (SELECT c1 FROM t0)", mixed),
        ("SELECT c0 FROM t0 UNION SELECT c1 FROM t0", clause),
        ("SELECT c0 FROM t0 UNION SELECT '1'", clause),
        ("SELECT c0 FROM t0 UNION SELECT c0 FROM t1 UNION ALL SELECT c0 FROM t1", clause),
        ("SELECT c0 FROM t0 ORDER BY c0 LIMIT 1", clause),
        ("SELECT ROW_NUMBER() OVER (ORDER BY c0) FROM t0", operation),
        ("SELECT c0 FROM t0 WHERE (c0, c0) = (1, NULL)", operation),
        ("SELECT c0 + 9223372036854775807 FROM t0", "number that engines may compute differently"),
        ("SELECT SUM(c0) FROM t1", "number that engines may compute differently"),
        ("SELECT (SELECT c0 FROM t1) FROM t0", operation),
        ("SELECT * FROM t0 NATURAL JOIN t1", clause),
    ] {
        let Some(there) = Fixture::open("duckdb") else { return };
        let verdict = compared(there, &case(SETUP, query));
        assert_eq!(verdict, Verdict::skip(reason), "{query}");
    }
}

#[test]
fn tables_that_engines_may_take_differently_are_not_compared() {
    let reason = "statement that engines may take differently";
    for setup in [
        "CREATE TABLE t0(c0 REAL)",
        "CREATE TABLE t0(c0 TEXT COLLATE NOCASE)",
        "CREATE TABLE t0(c0 INTEGER PRIMARY KEY AUTOINCREMENT)",
        "CREATE TABLE t0(c0 INTEGER); INSERT INTO t0 VALUES ('a')",
        "CREATE TABLE t0(c0 INTEGER); INSERT OR REPLACE INTO t0 VALUES (1)",
        "CREATE TABLE t0(c0 INTEGER); UPDATE t0 SET c0 = c0 || 'x'",
        "CREATE TABLE t0(c0 INTEGER); PRAGMA case_sensitive_like = 1",
    ] {
        let Some(there) = Fixture::open("duckdb") else { return };
        assert_skipped(compared(there, &case(setup, "SELECT c0 FROM t0")), reason);
    }
}

#[test]
fn a_wrong_answer_of_either_engine_is_a_change() {
    for there in others() {
        let title = there.dialect.engine.title.clone();
        let losing = there.with_bug(|sql, reply| match reply {
            Reply::Rows(mut rows) if sql.contains("JOIN") => {
                rows.values.clear();
                Reply::Rows(rows)
            }
            other => other,
        });
        let case = case(SETUP, "SELECT t0.c0 FROM t0 JOIN t1 ON t0.c0 = t1.c0");
        let found = evidence(compared(losing, &case));
        assert_eq!(found.class, Class::Changed);
        assert!(found.arms[0].label.starts_with("on SQLite 3."), "{}", found.arms[0].label);
        assert!(found.arms[1].label.starts_with(&format!("on {title} ")), "{}", found.arms[1].label);
    }
}

/// Draws what two engines share and compares their answers.
fn assert_agreement(one: &str, other: &str, wanted: u64) {
    let (Some(mut here), Some(mut there)) = (Fixture::open(one), Fixture::open(other)) else { return };
    let shared = here.dialect.shared_with(&there.dialect);
    let mut journal = NoJournal;
    let mut session = Session::new(here.engine.as_mut(), &here.dialect, &mut journal, || 0);
    session.compare_with_engine(there.engine.as_mut(), &there.dialect);
    let oracles: Vec<&'static dyn dissent_core::oracle::Oracle> = vec![&Versions];
    let policy = Policy::for_shared(&BTreeMap::new(), &shared).expect("its names are right");
    let walk = Walk { dialect: &shared, calm: None, oracles, seed: 13, policy };
    let mut watcher = Counting::passes(wanted).until_found();
    let mut number = 0;
    while walk.database(number, &mut session, &mut watcher).expect("the engines answer") {
        number += 1;
    }
    assert!(watcher.findings.is_empty(), "{:#?}", watcher.findings);
    // A comparison that never comes to one proves nothing.
    assert!(watcher.passes > watcher.skips / 4, "{} passed, skipped: {:?}", watcher.passes, watcher.reasons);
    assert!(watcher.nonempty * 3 > watcher.passes, "{} of {} have rows", watcher.nonempty, watcher.passes);
}

#[test]
fn sqlite_agrees_with_duckdb() {
    assert_agreement("sqlite", "duckdb", cases(400));
}

#[test]
fn sqlite_agrees_with_postgres() {
    assert_agreement("sqlite", "postgres", cases(400));
}

#[test]
fn duckdb_agrees_with_postgres() {
    assert_agreement("duckdb", "postgres", cases(200));
}
