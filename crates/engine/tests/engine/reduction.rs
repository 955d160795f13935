//! Reduction over the bundled SQLite with bugs built in: a test case, the passes, the SQL that is left.

use std::cell::Cell;

use dissent_core::dialect::Dialect;
use dissent_core::finding::Verdict;
use dissent_core::oracle;
use dissent_core::reduce::{self, Budget, Pass, Reduction, Weight};
use dissent_core::render::{expr_to_sql, to_sql};
use dissent_core::subject::{Subject, TestCase};
use dissent_core::walk::{Rebuilt, rebuild};

use super::common::{Counting, Fixture, expr, over, query, raw, without_last_row};

/// A SQLite that loses the last row of every SELECT that holds all of these texts.
fn losing_a_row(texts: &'static [&'static str]) -> Fixture {
    Fixture::tampered(move |sql, reply| {
        let loses = sql.starts_with("SELECT") && texts.iter().all(|text| sql.contains(text));
        if loses { without_last_row(reply) } else { reply }
    })
}

fn reduced_on(fixture: &mut Fixture, case: TestCase, passes: &[&dyn Pass]) -> Reduction {
    let budget = Budget { checks: 100_000, over: &|| false };
    reduced_within(fixture, case, passes, &budget)
}

fn reduced_within(fixture: &mut Fixture, case: TestCase, passes: &[&dyn Pass], budget: &Budget) -> Reduction {
    let oracle = oracle::by_name(&case.subject.oracle).unwrap();
    let dialect = fixture.dialect.clone();
    fixture.session(|session| {
        let mut fails = |candidate: &TestCase| {
            let Rebuilt::Whole { failed } = rebuild(candidate, session)? else { return Ok(false) };
            let verdict = oracle::check(oracle, &candidate.subject, session)?;
            Ok(failed.is_empty() && matches!(verdict, Verdict::Bug(_)))
        };
        assert!(fails(&case).unwrap(), "the test case does not fail to begin with");
        let reduction = reduce::reduce(case, &dialect, passes, budget, &mut fails).unwrap();
        assert!(fails(&reduction.case).unwrap(), "the reduced test case does not fail");
        reduction
    })
}

fn text(case: &TestCase, dialect: &Dialect) -> String {
    let statements = case.setup.iter().chain(&case.subject.tests);
    let mut lines: Vec<String> = statements.map(|statement| to_sql(statement, dialect)).collect();
    lines.extend(case.subject.exprs.iter().map(|expr| format!("-- {}", expr_to_sql(expr, dialect))));
    lines.join("\n")
}

/// Reduces with passes by name (`all` for all) and compares what is left.
#[track_caller]
fn assert_reduced(bug: &'static [&'static str], passes: &str, case: TestCase, expected: &[&str]) {
    let mut fixture = losing_a_row(bug);
    let passes: Vec<&dyn Pass> = match passes {
        "all" => reduce::all().to_vec(),
        names => names.split(' ').map(|name| reduce::by_name(name).expect(name)).collect(),
    };
    let reduction = reduced_on(&mut fixture, case, &passes);
    assert_eq!(text(&reduction.case, &fixture.dialect), expected.join("\n"));
    assert!(reduction.complete);
}

#[track_caller]
fn norec(setup: &str, select: &str) -> TestCase {
    over(setup, Subject::new("norec", query(select)).with_choice("form", "rows"))
}

const TWO_TABLES: &str = "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT);
    CREATE TABLE t1(c0);
    CREATE INDEX i0 ON t0(c1 DESC, c0 DESC) WHERE c1 IS NOT NULL;
    INSERT INTO t0(c0, c1) VALUES (17, 1), (18, 2), (19, 3);
    INSERT INTO t0(c0, c1) VALUES (25, 4);
    INSERT INTO t1(c0) VALUES (1), (2);
    ANALYZE";

const POSITIVE: &str = "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0";

const OUTER_JOIN: &str =
    "SELECT t1.c0 FROM t0 LEFT JOIN t1 ON t0.c0 = t1.c0 WHERE t0.c0 > 0 AND t1.c0 IS NULL";

#[test]
fn statements() {
    let expected = [
        "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT)",
        "INSERT INTO t0(c0, c1) VALUES (17, 1), (18, 2), (19, 3)",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "statements", norec(TWO_TABLES, POSITIVE), &expected);
}

#[test]
fn a_table_goes_with_all_that_names_it() {
    let expected = [
        "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT)",
        "CREATE INDEX i0 ON t0(c1 DESC, c0 DESC) WHERE c1 IS NOT NULL",
        "INSERT INTO t0(c0, c1) VALUES (17, 1), (18, 2), (19, 3)",
        "INSERT INTO t0(c0, c1) VALUES (25, 4)",
        "ANALYZE",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "tables", norec(TWO_TABLES, POSITIVE), &expected);
}

#[test]
fn rows_and_columns() {
    let expected = [
        "CREATE TABLE t0(c0 INT NOT NULL)",
        "INSERT INTO t0(c0) VALUES (19)",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "statements rows columns", norec(TWO_TABLES, POSITIVE), &expected);
}

#[test]
fn rows_come_as_an_update_leaves_them() {
    let setup = "CREATE TABLE t0(c0 INT, c1 INT); INSERT INTO t0 VALUES (1, 2), (3, 4);
        UPDATE t0 SET c1 = 7; UPDATE t0 SET c0 = 5, c1 = 6";
    let expected = [
        "CREATE TABLE t0(c0 INT, c1 INT)",
        "INSERT INTO t0 VALUES (5, 6), (5, 6)",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "merge-updates", norec(setup, POSITIVE), &expected);
}

#[test]
fn a_key_may_be_a_column_that_is_never_null_and_an_index_over_one() {
    let setup = "CREATE TABLE t0(c0 INT PRIMARY KEY) WITHOUT ROWID;
        CREATE INDEX i0 ON t0(0 DESC) WHERE c0 IS NOT NULL";
    let case = norec(setup, POSITIVE);
    let dialect = Fixture::sqlite().dialect;
    let edits = reduce::by_name("schema").unwrap().candidates(&case);
    let edited: Vec<String> =
        edits.iter().filter_map(|edit| Some(text(&edit.apply(&case)?, &dialect))).collect();
    for expected in ["CREATE TABLE t0(c0 INT NOT NULL)\n", "CREATE INDEX i0 ON t0(c0 DESC) WHERE"] {
        assert!(edited.iter().any(|sql| sql.contains(expected)), "{expected}\n{edited:#?}");
    }
}

#[test]
fn inserts_become_one() {
    let expected = [
        "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT)",
        "CREATE TABLE t1(c0)",
        "CREATE INDEX i0 ON t0(c1 DESC, c0 DESC) WHERE c1 IS NOT NULL",
        "INSERT INTO t0(c0, c1) VALUES (17, 1), (18, 2), (19, 3), (25, 4)",
        "INSERT INTO t1(c0) VALUES (1), (2)",
        "ANALYZE",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "merge-inserts", norec(TWO_TABLES, POSITIVE), &expected);
}

#[test]
fn schema_that_is_not_needed() {
    let expected = [
        "CREATE TABLE t0(c0, c1)",
        "CREATE TABLE t1(c0)",
        "CREATE INDEX i0 ON t0(c1)",
        "INSERT INTO t0 VALUES (17, 1), (18, 2), (19, 3)",
        "INSERT INTO t0 VALUES (25, 4)",
        "INSERT INTO t1 VALUES (1), (2)",
        "ANALYZE",
        "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0",
    ];
    assert_reduced(&["WHERE"], "schema", norec(TWO_TABLES, POSITIVE), &expected);
}

#[test]
fn a_join_that_is_not_needed() {
    let setup = [
        "CREATE TABLE t0(c0 INT NOT NULL, c1 TEXT)",
        "CREATE TABLE t1(c0)",
        "CREATE INDEX i0 ON t0(c1 DESC, c0 DESC) WHERE c1 IS NOT NULL",
        "INSERT INTO t0(c0, c1) VALUES (17, 1), (18, 2), (19, 3)",
        "INSERT INTO t0(c0, c1) VALUES (25, 4)",
        "INSERT INTO t1(c0) VALUES (1), (2)",
        "ANALYZE",
    ];
    let with = |query| [&setup[..], &[query]].concat();
    let gone = with("SELECT NULL FROM t0 WHERE t0.c0 > 0 AND NULL IS NULL");
    assert_reduced(&["FROM t0", "WHERE"], "joins", norec(TWO_TABLES, OUTER_JOIN), &gone);
    let needed = with("SELECT t1.c0 FROM t0 LEFT JOIN t1 WHERE t0.c0 > 0 AND t1.c0 IS NULL");
    let needed: Vec<&str> = needed.into_iter().filter(|line| !line.starts_with("INSERT INTO t1")).collect();
    let mut emptied = norec(TWO_TABLES, OUTER_JOIN);
    emptied.setup.remove(5);
    assert_reduced(&["LEFT JOIN", "WHERE"], "joins", emptied, &needed);
}

#[test]
fn expressions_become_their_parts() {
    let case = norec(
        "CREATE TABLE t0(c0); INSERT INTO t0 VALUES (25)",
        "SELECT t0.c0 FROM t0
            WHERE CASE WHEN 0 THEN NULL WHEN t0.c0 > 0 THEN 1 END AND t0.c0 IN (17, 18, 25)",
    );
    let expressions = |bug, left: &str| {
        let expected = ["CREATE TABLE t0(c0)", "INSERT INTO t0 VALUES (25)", left];
        assert_reduced(bug, "expressions", case.clone(), &expected);
    };
    expressions(&["WHERE"], "SELECT 1 FROM t0 WHERE 1");
    expressions(&["WHERE", "IN ("], "SELECT 1 FROM t0 WHERE t0.c0 IN (25)");
    expressions(&["WHERE CASE", "t0.c0 >"], "SELECT 1 FROM t0 WHERE CASE WHEN t0.c0 > 0 THEN 1 END");
}

#[test]
fn a_key_and_its_item_change_together() {
    let query = query("SELECT abs(t0.c0) FROM t0 GROUP BY abs(t0.c0)");
    let subject = Subject::new("tlp-group-by", query).with_expr(expr("t0.c0 > 0"));
    let case = over("CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (25)", subject);
    let expected =
        ["CREATE TABLE t0(c0 INT)", "INSERT INTO t0 VALUES (25)", "SELECT 1 FROM t0 GROUP BY 1", "-- t0.c0"];
    assert_reduced(&["WHERE", "GROUP BY", "t0.c0"], "together expressions", case, &expected);
}

#[test]
fn constants_keep_meeting_the_data() {
    let case = norec(
        "CREATE TABLE t0(c0); INSERT INTO t0 VALUES ('it''s')",
        "SELECT 1 FROM t0 WHERE t0.c0 = 'it''s'",
    );
    let expected = ["CREATE TABLE t0(c0)", "INSERT INTO t0 VALUES (0)", "SELECT 0 FROM t0 WHERE t0.c0 = 0"];
    assert_reduced(&["WHERE"], "constants", case, &expected);
}

#[test]
fn views_and_derived_tables_dissolve() {
    let setup = "CREATE TABLE t0(c0); INSERT INTO t0 VALUES (25);
        CREATE VIEW v0 AS SELECT t0.c0 AS c9 FROM t0";
    let case = norec(setup, "SELECT v0.c9 FROM v0 WHERE v0.c9 > 0");
    let expected =
        ["CREATE TABLE t0(c0)", "INSERT INTO t0 VALUES (25)", "SELECT t0.c0 FROM t0 WHERE t0.c0 > 0"];
    assert_reduced(&["WHERE"], "inline", case, &expected);
}

#[test]
fn names_become_plain() {
    let setup = "CREATE TABLE t7(c4); CREATE INDEX i3 ON t7(c4 DESC) WHERE c4 IS NOT NULL;
        INSERT INTO t7(c4) VALUES (25)";
    let expected = [
        "CREATE TABLE t0(c0)",
        "CREATE INDEX i0 ON t0(c0 DESC) WHERE c0 IS NOT NULL",
        "INSERT INTO t0(c0) VALUES (25)",
        "SELECT c0 FROM t0 WHERE c0 > 0",
    ];
    let case = norec(setup, "SELECT t7.c4 FROM t7 WHERE t7.c4 > 0");
    assert_reduced(&["WHERE"], "qualifiers rename", case, &expected);
}

#[test]
fn text_that_is_not_understood_is_kept_whole_or_dropped() {
    let mut case = norec(TWO_TABLES, POSITIVE);
    case.setup = raw(&[
        "CREATE TABLE t0(c0 INT, c1 TEXT)",
        "CREATE TABLE t1(c0)",
        "INSERT INTO t0 VALUES (1, 2), (3, 4)",
    ]);
    let expected = [
        "CREATE TABLE t0(c0 INT, c1 TEXT)",
        "INSERT INTO t0 VALUES (1, 2), (3, 4)",
        "SELECT 0 FROM t0 WHERE 1",
    ];
    assert_reduced(&["FROM t0 WHERE"], "all", case, &expected);
}

#[test]
fn all_passes_together() {
    let expected = [
        "CREATE TABLE t0(c0)",
        "INSERT INTO t0 VALUES (0)",
        "SELECT 0 FROM t0 LEFT JOIN t0 WHERE NULL IS NULL",
    ];
    assert_reduced(&["LEFT JOIN", "WHERE", "IS NULL"], "all", norec(TWO_TABLES, OUTER_JOIN), &expected);
}

/// What a hunt finds on an engine with this bug. Not by EDC: both its queries are worded alike and lose a row
/// (its reduction is tested beside it).
fn hunted(bug: &'static [&'static str], cases: u64) -> Vec<TestCase> {
    let oracles = oracle::all().iter().copied().filter(|oracle| oracle.name() != "edc").collect();
    let (watcher, _) = losing_a_row(bug).walk(oracles, 7, Counting::cases(cases));
    watcher.findings.into_iter().map(|(case, _)| case).collect()
}

#[test]
fn what_a_hunt_finds_becomes_small() {
    const BUG: &[&str] = &["JOIN", "WHERE", " AND "];
    let mut fixture = losing_a_row(BUG);
    let dialect = fixture.dialect.clone();
    let cases = hunted(BUG, 1500);
    assert!(cases.len() >= 10, "{} findings", cases.len());
    for case in cases {
        let before = text(&case, &dialect);
        let reduction = reduced_on(&mut fixture, case.clone(), reduce::all());
        let after = text(&reduction.case, &dialect);
        assert!(reduction.complete && reduction.case.setup.len() <= 4, "{before}\n\n{after}");
        assert!(Weight::of(&reduction.case, &dialect).tokens <= 70, "{before}\n\n{after}");
        // Nothing but the test case decides.
        let again = reduced_on(&mut fixture, case, reduce::all());
        assert_eq!(after, text(&again.case, &dialect));
    }
}

#[test]
fn a_budget_is_kept_to() {
    let reduced = |budget: &Budget| {
        let case = norec(TWO_TABLES, POSITIVE);
        let reduction = reduced_within(&mut losing_a_row(&["WHERE"]), case, reduce::all(), budget);
        (reduction.checks, reduction.complete)
    };
    assert_eq!(reduced(&Budget { checks: 3, over: &|| false }), (3, false));
    let asked = Cell::new(0);
    let over = || asked.replace(asked.get() + 1) >= 2;
    assert_eq!(reduced(&Budget { checks: 1000, over: &over }), (2, false));
}

#[test]
fn passes_have_names_of_their_own() {
    for pass in reduce::all() {
        assert_eq!(reduce::by_name(pass.name()).map(|found| found.name()), Some(pass.name()));
    }
}
