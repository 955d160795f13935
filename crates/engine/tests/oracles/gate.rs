//! What holds for every oracle: errors are not compared, and a difference passes the gate before it is called a bug.
//! Asked through NoREC and TLP.

use dissent_core::engine::ErrorClass;
use dissent_core::finding::{Class, Verdict};
use dissent_core::sql::*;
use dissent_core::subject::TestCase;

use super::common::{self, Fixture, assert_skipped, evidence, expr, failed, sql, without_last_row};
use super::norec::{lossy, norec};
use super::tlp::tlp;

#[track_caller]
fn skipped(case: &TestCase, reason: &str) {
    assert_skipped(lossy().check(case), reason);
}

#[track_caller]
fn reported(case: &TestCase) {
    common::assert_reported(lossy(), case);
}

/// A query beside a derived table, a common table and a view that are all of one query. The engine loses a row only where
/// the whole is filtered, whatever is below it.
fn below(relation: &str) -> [(Fixture, TestCase); 3] {
    let beside = |with: &str, relation: &str| {
        norec("rows", &format!("{with} SELECT t0.c0 FROM t0, {relation} WHERE t0.c0 >= 1"))
    };
    let mut view = beside("", "v0");
    view.setup.extend(sql(&format!("CREATE VIEW v0 AS {relation}")));
    let derived = beside("", &format!("({relation}) AS d0"));
    let common = beside(&format!("WITH d0 AS ({relation})"), "d0");
    let lossy = || {
        Fixture::tampered(|sql, reply| match sql.ends_with("WHERE t0.c0 >= 1") {
            true => without_last_row(reply),
            false => reply,
        })
    };
    [derived, common, view].map(|case| (lossy(), case))
}

#[track_caller]
fn skipped_below(relation: &str, reason: &str) {
    for (mut lossy, case) in below(relation) {
        assert_skipped(lossy.check(&case), reason);
    }
}

#[track_caller]
fn reported_below(relation: &str) {
    for (lossy, case) in below(relation) {
        common::assert_reported(lossy, &case);
    }
}

/// Fails wherever a SELECT contains one text, or is the other.
fn failing(class: ErrorClass, part: &'static str, other: &'static str) -> Fixture {
    Fixture::tampered(move |sql, reply| {
        let fails = sql.starts_with("SELECT") && (sql.contains(part) || sql == other);
        if fails { failed(class, "message") } else { reply }
    })
}

#[test]
fn rule_0_2_errors_are_not_compared() {
    let case = norec("count", "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1");
    let one_arm = |class| failing(class, "WHERE", "").check(&case);
    assert_skipped(failing(ErrorClass::Runtime, "", "").check(&case), "all arms fail");
    // Forced, the predicate fails as well: an optimizer may spare an error.
    let spared = failing(ErrorClass::Runtime, "WHERE", "SELECT t0.c0 >= 1 FROM t0").check(&case);
    assert_skipped(spared, "one arm avoids the error");
    // So does a column that is computed when it is read.
    let computed = failing(ErrorClass::Runtime, "WHERE", "SELECT * FROM t0").check(&case);
    assert_skipped(computed, "one arm avoids the error");
    // It may not make one up.
    assert_eq!(evidence(one_arm(ErrorClass::Runtime)).class, Class::ErrorDivergence);
    assert_skipped(one_arm(ErrorClass::Limit), "one arm exceeds a limit");
    assert_skipped(one_arm(ErrorClass::Constraint), "one arm fails on a constraint");
    assert_skipped(one_arm(ErrorClass::Semantic), "one arm is rejected");
    assert_skipped(one_arm(ErrorClass::Syntax), "one arm is rejected");
    // What the engine calls internal is a finding whatever the other arm says.
    assert_eq!(evidence(one_arm(ErrorClass::Internal)).class, Class::InternalError);
}

/// Of a query in a common table, the common tables around it are not taken apart again, nor are views that came and went
/// and read each other.
#[test]
fn rule_5_7_validation_ends_whatever_relations_are_made_of() {
    let common = norec(
        "count",
        "WITH d0 AS (SELECT d1.c0 FROM (SELECT c0 FROM t0) AS d1) SELECT d0.c0 FROM d0 WHERE d0.c0 >= 1",
    );
    let mut views = norec("count", "SELECT v0.c0 FROM v0 WHERE v0.c0 >= 1");
    views.setup.extend(sql(
        "CREATE VIEW v1 AS SELECT c0 FROM t0; CREATE VIEW v0 AS SELECT c0 FROM v1; DROP VIEW v0; DROP VIEW v1;
         CREATE VIEW v0 AS SELECT c0 FROM t0; CREATE VIEW v1 AS SELECT c0 FROM v0",
    ));
    for case in [common, views] {
        let mut fixture = Fixture::tampered(|sql, reply| match sql.contains(" WHERE ") {
            true => failed(ErrorClass::Runtime, "message"),
            false => reply,
        });
        // Whatever it comes to: one arm fails, so it was validated.
        let verdict = fixture.check(&case);
        assert!(!matches!(verdict, Verdict::Pass { .. }), "{verdict:?}");
    }
}

#[test]
fn rule_0_2_errors_of_several_kinds_are_not_compared() {
    let case = tlp("tlp-where", "SELECT t0.c0 FROM t0", "t0.c0 >= 1");
    let two_arms = |of_null, of_not| {
        let mut fixture = Fixture::tampered(move |sql, reply| match sql {
            _ if sql.ends_with("IS NULL") => failed(of_null, "message"),
            _ if sql.contains("WHERE NOT") => failed(of_not, "message"),
            _ => reply,
        });
        fixture.check(&case)
    };
    assert_skipped(two_arms(ErrorClass::Runtime, ErrorClass::Limit), "one arm fails at run time");
    assert_skipped(two_arms(ErrorClass::Limit, ErrorClass::Runtime), "one arm exceeds a limit");
}

/// A planner may ask a CHECK whether a table has such rows at all, and meet an error that no row has raised.
#[test]
fn rule_0_2_an_error_of_a_check_is_spared_as_well() {
    let verdict = |setup: &str| {
        let mut fixture = Fixture::tampered(|sql, reply| {
            let fails = sql.contains(" WHERE ") || sql == "SELECT c0 >= 77 FROM t0";
            if fails { failed(ErrorClass::Runtime, "out of range") } else { reply }
        });
        let case = norec("count", "SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1");
        fixture.check(&TestCase { setup: sql(setup), ..case })
    };
    assert!(matches!(verdict("CREATE TABLE t0(c0 INT)"), Verdict::Bug(_)));
    assert_skipped(verdict("CREATE TABLE t0(c0 INT, CHECK (c0 >= 77))"), "one arm avoids the error");
}

/// Other oracles than EPSC ask the validator as well.
#[test]
fn rule_5_7_an_error_of_one_arm_is_validated() {
    let Some(postgres) = Fixture::open("postgres") else { return };
    let mut fixture = postgres.with_bug(|sql, reply| match sql.contains("COUNT(*) FROM t0 WHERE") {
        true => failed(ErrorClass::Runtime, "division by zero"),
        false => reply,
    });
    let mut verdict = |filter: &str| {
        let case = norec("count", &format!("SELECT 1 FROM t0 WHERE {filter}"));
        fixture
            .check(&TestCase { setup: sql("CREATE TABLE t0(c0 INTEGER); INSERT INTO t0 VALUES (0)"), ..case })
    };
    assert_eq!(evidence(verdict("c0 >= 0")).class, Class::ErrorDivergence);
    // Somewhere it divides by zero: then the other arm may have been spared.
    assert_skipped(verdict("c0 >= 0 OR 1 / c0 > 0"), "one arm avoids the error");
}

#[test]
fn rule_0_3_volatile_functions_and_the_present_time_are_skipped() {
    let random = norec("rows", "SELECT random() FROM t0 WHERE t0.c0 >= 1");
    skipped(&random, "volatile function");
    skipped(&tlp("tlp-where", "SELECT t0.c0 FROM t0", "random() <> 0"), "volatile function");
    // Without an argument it is that of today.
    skipped(&norec("count", "SELECT 1 FROM t0 WHERE date() <> ''"), "volatile function");
    reported(&norec("count", "SELECT 1 FROM t0 WHERE date('2020-02-29') <> ''"));
    skipped(
        &norec("count", "SELECT 1 FROM t0 WHERE date('Now') <> ''"),
        "text that may mean the current time",
    );
    // Also where it is a cast that reads the clock.
    let Some(duckdb) = Fixture::open("duckdb") else { return };
    let mut lossy = duckdb.with_bug(|sql, reply| match sql.contains(" WHERE ") {
        true => without_last_row(reply),
        false => reply,
    });
    let mut verdict = |text: &str| {
        let filter = format!("SELECT t0.c0 FROM t0 WHERE CAST('{text}' AS VARCHAR) <> ''");
        lossy.check(&TestCase {
            setup: sql("CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (1)"),
            ..norec("rows", &filter)
        })
    };
    assert_skipped(verdict("now"), "text that may mean the current time");
    assert_eq!(evidence(verdict("then")).class, Class::WrongRows);
}

/// What a function in FROM returns is a matter of its arguments only if the dialect's file knows it.
#[test]
fn rule_0_3_functions_in_from_are_known() {
    let from =
        |function: &str| norec("rows", &format!("SELECT t0.c0 FROM t0, {function} AS j0 WHERE t0.c0 >= 1"));
    reported(&from("json_each('[1]')"));
    skipped(&from("pragma_function_list()"), "function in FROM that Dissent does not know");
    // Of their columns, those that say how the engine works are not.
    let of =
        |item: &str| norec("rows", &format!("SELECT {item} FROM json_each('[1]') AS j0 WHERE j0.atom >= 1"));
    reported(&of("j0.atom"));
    for item in ["j0.id", "j0.value", "parent", "*", "j0.*"] {
        skipped(&of(item), "column of a function in FROM that Dissent does not know");
    }
}

#[test]
fn rule_0_4_a_limit_has_a_total_order() {
    let within = |subquery: &str| {
        norec("count", &format!("SELECT 1 FROM t0 WHERE t0.c0 IN (SELECT t0.c0 FROM t0 {subquery})"))
    };
    let reason = "LIMIT without a total order";
    skipped(&within("LIMIT 1"), reason);
    skipped(&within("ORDER BY t0.c1 LIMIT 1"), reason);
    skipped(&within("UNION ALL SELECT 1 LIMIT 1"), reason);
    reported(&within("ORDER BY t0.c0 LIMIT 2"));
    // Rows that DISTINCT returns as one may differ in a key that is not returned.
    let distinct = |keys: &str| {
        let subquery = format!("SELECT DISTINCT t0.c0 FROM t0 ORDER BY {keys} LIMIT 2");
        norec("count", &format!("SELECT 1 FROM t0 WHERE t0.c0 IN ({subquery})"))
    };
    skipped(&distinct("t0.c1, t0.c0"), reason);
    reported(&distinct("t0.c0 DESC"));
    skipped_below("SELECT c0 FROM t0 LIMIT 1", reason);
    reported_below("SELECT c0 FROM t0 ORDER BY c0 LIMIT 2");
    // A view is looked into if the query reads it, also by way of another.
    let over = |from: &str| {
        let mut case = norec("count", &format!("SELECT 1 FROM {from} WHERE t0.c0 >= 1"));
        case.setup.extend(sql("CREATE VIEW v0 AS SELECT c0 FROM t0 LIMIT 1"));
        case.setup.extend(sql("CREATE VIEW v1 AS SELECT c0 FROM v0"));
        case
    };
    reported(&over("t0"));
    skipped(&over("t0, v1"), reason);
}

#[test]
fn rule_0_5_order_dependent_aggregates_are_skipped() {
    let having = |predicate: &str| tlp("tlp-having", "SELECT t0.c0 FROM t0 GROUP BY t0.c0", predicate);
    let reason = "order-dependent aggregate";
    skipped(&having("GROUP_CONCAT(t0.c1) <> 'a'"), reason);
    // Rows that tie are not alike if the order is by something else.
    skipped(&having("GROUP_CONCAT(t0.c1, ',' ORDER BY t0.c0) <> 'a'"), reason);
    skipped_below("SELECT GROUP_CONCAT(t0.c1) FROM t0", reason);
    reported(&having("GROUP_CONCAT(t0.c1, ',' ORDER BY t0.c1) <> 'a'"));
    // Nor if the order takes values for equal that are not identical.
    let mut folded = having("GROUP_CONCAT(t0.c1, ',' ORDER BY t0.c1) <> 'a'");
    folded.setup = sql("CREATE TABLE t0(c0 INT, c1 TEXT COLLATE NOCASE, c2 INT); \
                        INSERT INTO t0 VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)");
    skipped(&folded, reason);
}

#[test]
fn rule_0_5_windows_have_a_total_order() {
    let over = |window: &str| {
        norec("rows", &format!("SELECT t0.c0 FROM (SELECT {window} AS c0 FROM t0) AS t0 WHERE t0.c0 >= 1"))
    };
    let reason = "window without a total order";
    skipped(&over("ROW_NUMBER() OVER (ORDER BY t0.c0)"), reason);
    reported(&over("RANK() OVER (ORDER BY t0.c0)"));
    // Rows that are alike for the order have one frame, unless it counts them.
    let to_here = "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW";
    skipped(&over(&format!("COUNT(t0.c0) OVER (ORDER BY t0.c0 ROWS {to_here})")), reason);
    reported(&over(&format!("COUNT(t0.c0) OVER (ORDER BY t0.c0 RANGE {to_here})")));
    skipped(&over("FIRST_VALUE(t0.c2) OVER (ORDER BY t0.c0)"), reason);
    reported(&over("FIRST_VALUE(t0.c0) OVER (ORDER BY t0.c0)"));
    skipped(&over("COUNT(t0.c0) OVER (ORDER BY t0.c0 ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"), reason);
    reported(&over("COUNT(t0.c0) OVER (ORDER BY t0.c0 GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW)"));
    reported(&over("COUNT(t0.c0) OVER (ORDER BY t0.c0 RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)"));
    // A window by its name is the one of that name.
    let named = |function: &str, order: &str| {
        let windowed = format!("SELECT {function}() OVER w AS c0 FROM t0 WINDOW w AS ({order})");
        norec("rows", &format!("SELECT t0.c0 FROM ({windowed}) AS t0 WHERE t0.c0 >= 1"))
    };
    reported(&named("RANK", "ORDER BY t0.c0"));
    skipped(&named("ROW_NUMBER", "ORDER BY t0.c0"), reason);
    // A key tells every row apart.
    let mut keyed = over("ROW_NUMBER() OVER (ORDER BY t0.c0)");
    keyed.setup = sql("CREATE TABLE t0(c0 INT NOT NULL UNIQUE); INSERT INTO t0 VALUES (1), (2), (3)");
    reported(&keyed);
}

/// `(SELECT MAX(t0.c0))` is an aggregate of the query around it, which then has one row whatever WHERE keeps.
#[test]
fn rule_0_6_aggregates_of_an_enclosing_query_are_skipped() {
    let reason = "aggregate of an enclosing query";
    skipped(&tlp("tlp-where", "SELECT (SELECT MAX(t0.c0)) FROM t0", "t0.c0 >= 1"), reason);
    // Nor does another table make it its own that has no such column.
    let of_other = |column: &str| {
        let mut case = tlp("tlp-where", "SELECT (SELECT MAX(c0) FROM t1) FROM t0", "t0.c0 >= 1");
        case.setup.extend(sql(&format!("CREATE TABLE t1({column} INT)")));
        case
    };
    skipped(&of_other("c9"), reason);
    reported(&of_other("c0"));
}

#[test]
fn rule_0_6_bare_columns_are_skipped() {
    for relation in [
        "SELECT COUNT(*), t0.c1 FROM t0",
        "SELECT t0.c1 FROM t0 GROUP BY t0.c0",
        "SELECT COUNT(*) FROM t0 HAVING t0.c1 > ''",
        "SELECT COUNT(*) FROM t0 GROUP BY t0.c0 ORDER BY t0.c1",
        "SELECT COUNT(*), (SELECT MAX(a0.c0) FROM t0 AS a0 WHERE a0.c1 = t0.c1) FROM t0",
        "SELECT COUNT(*), t0.c1 IN (SELECT a0.c1 FROM t0 AS a0) FROM t0",
    ] {
        skipped_below(relation, "bare column next to an aggregate");
    }
    for relation in [
        "SELECT COUNT(*), t0.c0 FROM t0 GROUP BY t0.c0",
        "SELECT COUNT(*) FROM t0 GROUP BY t0.c0 HAVING t0.c0 > 0 ORDER BY t0.c0",
        "SELECT COUNT(*), (SELECT MAX(a0.c0) FROM t0 AS a0 WHERE a0.c0 = t0.c0) FROM t0 GROUP BY t0.c0",
        "SELECT COUNT(*), (SELECT MAX(a0.c0) FROM t0 AS a0) FROM t0",
    ] {
        reported_below(relation);
    }
}

/// What a query reads may hold any of several equal values, or a sum that is rounded as its rows come.
#[test]
fn rules_0_7_and_0_8_hold_below_the_query() {
    let representatives = "equal values that are not identical";
    skipped_below("SELECT MAX(t0.c2) FROM t0", representatives);
    skipped_below("SELECT COUNT(*) FROM t0 GROUP BY t0.c2", representatives);
    skipped_below("SELECT SUM(t0.c0 * 0.5) FROM t0", "sum whose rounding depends on row order");
    reported_below("SELECT MAX(t0.c0), SUM(t0.c0) FROM t0");
    let among = |subquery: &str| norec("count", &format!("SELECT 1 FROM t0 WHERE 'x' IN ({subquery})"));
    skipped(&among("SELECT MIN(t0.c2) FROM t0"), representatives);
    reported(&among("SELECT 'x'"));
}

#[test]
fn rule_0_10_what_has_no_defined_answer_is_skipped() {
    let several = "SELECT t0.c0 FROM t0 WHERE t0.c0 >= (SELECT t0.c0 FROM t0)";
    skipped(&norec("count", several), "scalar subquery that may return several rows");
    reported(&norec("count", "SELECT t0.c0 FROM t0 WHERE t0.c0 >= (SELECT MIN(t0.c0) FROM t0)"));
    let mut text = tlp("tlp-where", "SELECT t0.c0 FROM t0", "t0.c0 >= 1");
    text.subject.exprs = vec![Expr::Raw("t0.c0 >= 1".into())];
    skipped(&text, "SQL that Dissent cannot parse");
    text.subject.exprs = vec![expr("t0.c0 >= 1")];
    reported(&text);
}

#[test]
fn rule_1_7_relations_have_a_defined_affinity() {
    let reason = "relation whose column affinity is not defined";
    skipped_below("SELECT t0.c0 FROM t0 UNION ALL SELECT t0.c1 FROM t0", reason);
    skipped_below("SELECT DISTINCT t0.c0 FROM t0", reason);
    reported_below("SELECT t0.c0 FROM t0");
    // A recursion is a compound, but its columns may be of one affinity all the same.
    let recursive = |first: &str| {
        let [_, (lossy, mut case), _] = below("SELECT 1");
        let next = "SELECT d0.c0 + 1 FROM d0 WHERE d0.c0 < 3";
        let with = format!("WITH RECURSIVE d0 AS (SELECT {first} AS c0 UNION ALL {next})");
        case.subject.tests = sql(&format!("{with} SELECT t0.c0 FROM t0, d0 WHERE t0.c0 >= 1"));
        (lossy, case)
    };
    let (mut lossy, converted) = recursive("CAST(1 AS TEXT)");
    assert_skipped(lossy.check(&converted), reason);
    let (lossy, counted) = recursive("1");
    common::assert_reported(lossy, &counted);
}
