//! One query, asked again after a change that no answer may depend on: what INDEX and PLAN have in common.

use dissent_core::engine::{ErrorClass, Reply};
use dissent_core::finding::Class;
use dissent_core::sql::{Statement, Value};
use dissent_core::subject::{Subject, TestCase};
use dissent_core::{oracle, report};

use super::common::{
    self, Counting, Fixture, assert_skipped, cases, evidence, failed, over, query, rows, sql,
    without_last_row,
};

/// c0 and c1 are whole numbers, c2 text that folds, c3 floats.
pub const SETUP: &str = "CREATE TABLE t0(c0 INT, c1 INT, c2 TEXT COLLATE NOCASE, c3 REAL);
    INSERT INTO t0 VALUES (1, 1, 'a', 1.1), (2, 1, 'A', 2.1), (3, 1, 'b', 3.1)";

/// A query, and what is changed before it is asked again.
#[track_caller]
pub fn changing(oracle: &str, setup: &str, select: &str, changes: &str) -> TestCase {
    let mut subject = Subject::new(oracle, query(select));
    subject.tests.extend(sql(changes));
    over(setup, subject)
}

/// Both oracles that ask one query again.
#[track_caller]
fn asked_again(select: &str) -> [TestCase; 2] {
    [
        changing("index", SETUP, select, "CREATE INDEX i0 ON t0(c0)"),
        changing("plan", SETUP, select, "PRAGMA automatic_index = 0"),
    ]
}

/// SQLite whose answers go wrong while there is an index i0 or an odd setting.
fn changed(mut wrong: impl FnMut(Reply) -> Reply + 'static) -> Fixture {
    let mut changed = false;
    Fixture::tampered(move |sql, reply| {
        match sql {
            _ if matches!(reply, Reply::Failed(_)) => {}
            sql if sql.contains("INDEX i0") => changed = sql.starts_with("CREATE"),
            sql if sql.starts_with("PRAGMA automatic_index =") => changed = sql.ends_with("= 0"),
            _ => {}
        }
        if changed && sql.starts_with("SELECT") { wrong(reply) } else { reply }
    })
}

pub fn lossy() -> Fixture {
    changed(without_last_row)
}

#[test]
fn a_lost_row_is_reported() {
    for select in [
        "SELECT c0, c2 FROM t0",
        "SELECT c0 FROM t0 ORDER BY c0 LIMIT 2",
        "SELECT SUM(c0) FROM t0",
        "SELECT MAX(c3) FROM t0",
        "SELECT DISTINCT c1 FROM t0",
        "SELECT c0 FROM t0 UNION ALL SELECT c2 FROM t0",
    ] {
        asked_again(select).iter().for_each(|case| drop(common::assert_reported(lossy(), case)));
    }
}

#[test]
fn rule_6_1_an_answer_that_depends_on_the_order_of_rows_is_not_compared() {
    let representative = "equal values that are not identical";
    let rounded = "sum whose rounding depends on row order";
    for (select, reason) in [
        ("SELECT c0 FROM t0 LIMIT 2", "LIMIT without a total order"),
        ("SELECT group_concat(c0) FROM t0", "order-dependent aggregate"),
        ("SELECT c0, COUNT(c1) FROM t0", "bare column next to an aggregate"),
        ("SELECT DISTINCT c2 FROM t0", representative),
        ("SELECT DISTINCT * FROM t0", representative),
        ("SELECT DISTINCT CAST(c0 AS BLOB) FROM t0", representative),
        ("SELECT DISTINCT c0 COLLATE NOCASE FROM t0", representative),
        ("SELECT COUNT(*) FROM t0 GROUP BY c2", representative),
        ("SELECT MAX(c2) FROM t0", representative),
        ("SELECT c2 FROM t0 UNION SELECT c2 FROM t0", representative),
        ("SELECT c2 FROM t0 EXCEPT SELECT 'b'", representative),
        // Ties at the cut.
        ("SELECT c2 FROM t0 ORDER BY c2 LIMIT 2", representative),
        ("SELECT 1 FROM t0 WHERE 'a' IN (SELECT MIN(c2) FROM t0)", representative),
        ("SELECT SUM(c3) FROM t0", rounded),
        ("SELECT AVG(c0 * 0.5) FROM t0", rounded),
        ("SELECT c0 FROM t0 GROUP BY c0 HAVING SUM(c3) > 0", rounded),
    ] {
        asked_again(select).iter().for_each(|case| assert_skipped(lossy().check(case), reason));
    }
}

/// How a variance is rounded may be shown, but not decide about rows.
#[test]
fn rule_6_1_a_variance_does_not_decide_about_rows() {
    let Some(duckdb) = Fixture::open("duckdb") else { return };
    let mut indexed = false;
    let mut lossy = duckdb.with_bug(move |sql, reply| {
        indexed |= sql.starts_with("CREATE INDEX");
        if indexed && sql.starts_with("SELECT") { without_last_row(reply) } else { reply }
    });
    let setup = "CREATE TABLE t0(c0 INTEGER); INSERT INTO t0 VALUES (1), (2)";
    let select = "SELECT c0 FROM t0 GROUP BY c0 HAVING VAR_POP(c0) >= 0";
    let case = changing("index", setup, select, "CREATE INDEX i0 ON t0(c0)");
    assert_skipped(lossy.check(&case), "sum whose rounding depends on row order");
}

#[test]
fn rule_0_7_floats_that_differ_by_rounding_are_not_compared() {
    let differing_by = |factor: f64| {
        changed(move |mut reply| {
            if let Reply::Rows(rows) = &mut reply {
                for value in &mut rows.values {
                    if let Value::Real(real) = value {
                        *real *= factor;
                    }
                }
            }
            reply
        })
    };
    for case in asked_again("SELECT c3 FROM t0") {
        assert_skipped(differing_by(1.0 + 1e-12).check(&case), "floats differ only by rounding");
        assert_eq!(evidence(differing_by(1.0 + 1e-6).check(&case)).class, Class::WrongValues);
    }
}

/// An index may spare an error, but not make one up. A setting may do both: an optimizer may remove errors, and show them
/// once it is switched off.
#[test]
fn rule_6_1_an_error_of_one_arm_is_validated() {
    let failing = || changed(|_| failed(ErrorClass::Runtime, "integer overflow"));
    let [index, plan] = asked_again("SELECT c0 FROM t0");
    assert_eq!(evidence(failing().check(&index)).class, Class::ErrorDivergence);
    assert_skipped(failing().check(&plan), "one arm avoids the error");
    let overflows = "SELECT c0 FROM t0 WHERE c0 > 9 AND abs(-9223372036854775807 - c1) > 0";
    for case in asked_again(overflows) {
        assert_skipped(failing().check(&case), "one arm avoids the error");
    }
    for case in asked_again("SELECT c9 FROM t0") {
        assert_skipped(lossy().check(&case), "all arms fail");
    }
}

/// Whatever came of a check, the schema and the settings are as they were.
#[track_caller]
pub fn assert_undone(case: &TestCase, with_bug: Fixture) {
    let look = "/* look */ SELECT (SELECT group_concat(name) FROM sqlite_schema),
        (SELECT automatic_index FROM pragma_automatic_index)";
    let look = Statement::Raw(look.to_string());
    let oracle = oracle::by_name(&case.subject.oracle).expect("it exists");
    for mut fixture in [with_bug, Fixture::sqlite()] {
        fixture.session(|session| {
            dissent_core::walk::rebuild(case, session).expect("it builds");
            let before = rows(session.run(&look).expect("it answers"));
            oracle.check(&case.subject, session).expect("it answers");
            let after = rows(session.run(&look).expect("it answers"));
            assert_eq!(before, after, "{}", case.subject.oracle);
        });
    }
}

#[test]
fn what_is_changed_is_changed_back() {
    let [added, set] = asked_again("SELECT c0 FROM t0");
    let mut dropped = added.clone();
    dropped.setup.push(dropped.subject.tests[1].clone());
    dropped.subject = dropped.subject.with_choice("indexes", "dropped");
    let twice = "PRAGMA automatic_index = 1; PRAGMA automatic_index = 0";
    let set_twice = changing("plan", SETUP, "SELECT c0 FROM t0", twice);
    let [failed, _] = asked_again("SELECT c9 FROM t0");
    for case in [added, set, dropped, set_twice, failed] {
        assert_undone(&case, lossy());
    }
}

/// Checks of one oracle on an engine that agrees with itself, so many that pass: most subjects are compared, and with rows.
#[track_caller]
pub fn assert_agreement(target: &str, name: &str, quick: u64) {
    if let Some(fixture) = Fixture::open(target) {
        assert_agreement_of(fixture, target, name, quick);
    }
}

/// The same of an engine that is open.
#[track_caller]
pub fn assert_agreement_of(mut fixture: Fixture, target: &str, name: &str, quick: u64) {
    let wanted = cases(quick);
    let counting = Counting { wanted: Some(wanted), ..Counting::cases(2 * wanted) };
    let (watcher, _) = fixture.walk(oracle::select(name), 11, counting.until_found());
    if let Some((case, evidence)) = watcher.findings.first() {
        panic!("{}: {evidence:#?}\nagain: {:?}", report::failure(evidence), fixture.check(case));
    }
    let (passes, skips, reasons) = (watcher.passes, watcher.skips, &watcher.reasons);
    println!("{target} {name}: {passes} agree, {} with rows, {skips} skipped: {reasons:?}", watcher.nonempty);
    assert!(watcher.unstable.is_empty(), "{:#?}", watcher.unstable);
    assert!(passes >= wanted, "{passes} of {wanted} checks: {reasons:?}");
    assert!(passes * 100 >= (passes + skips) * 75, "{passes} passes, {skips} skips: {reasons:?}");
    assert!(watcher.nonempty * 100 >= passes * 40, "{} of {passes} have rows", watcher.nonempty);
}
