//! TLP: what each of its oracles catches, and the shapes it takes.

use dissent_core::dialect::Dialect;
use dissent_core::sql::Grouping;
use dissent_core::subject::{Subject, TestCase};

use super::common::{self, Fixture, assert_skipped, expr, over, query, sql};
use super::norec::{SETUP, lossy};

#[track_caller]
pub fn tlp(oracle: &str, select: &str, predicate: &str) -> TestCase {
    over(SETUP, Subject::new(oracle, query(select)).with_expr(expr(predicate)))
}

/// The query that each of these oracles takes, and a predicate.
const SHAPES: &[(&str, &str, &str)] = &[
    ("tlp-where", "SELECT t0.c0 FROM t0", "t0.c0 >= 1"),
    ("tlp-distinct", "SELECT DISTINCT t0.c0 FROM t0", "t0.c0 >= 1"),
    ("tlp-group-by", "SELECT t0.c0 FROM t0 GROUP BY t0.c0", "t0.c0 >= 1"),
    ("tlp-having", "SELECT t0.c0 FROM t0 GROUP BY t0.c0", "COUNT(*) >= 1"),
    ("tlp-aggregate", "SELECT MAX(t0.c0) FROM t0", "t0.c0 >= 1"),
    ("tlp-aggregate", "SELECT COUNT(*) FROM t0", "t0.c0 >= 1"),
    ("tlp-aggregate", "SELECT SUM(length(t0.c1)) FROM t0", "t0.c0 >= 1"),
    ("tlp-aggregate", "SELECT SUM(CAST(t0.c0 AS INTEGER) % 7) FROM t0", "t0.c0 >= 1"),
];

#[track_caller]
fn skipped(case: &TestCase, reason: &str) {
    assert_skipped(lossy().check(case), reason);
}

#[test]
fn a_lost_row_is_reported_in_each_form() {
    for (oracle, select, predicate) in SHAPES {
        for form in ["separate", "compound"] {
            let TestCase { setup, subject } = tlp(oracle, select, predicate);
            let case = TestCase { setup, subject: subject.with_choice("form", form) };
            common::assert_reported(lossy(), &case);
        }
    }
}

const NOT_APPLICABLE: &str = "not a query that this oracle can partition";

/// What none of them takes.
#[test]
fn rule_1_2_only_one_select_with_one_predicate_is_partitioned() {
    for (oracle, select, predicate) in SHAPES {
        let more = |more: &str| tlp(oracle, &format!("{select} {more}"), predicate);
        skipped(&more("ORDER BY 1"), NOT_APPLICABLE);
        skipped(&more("LIMIT 9"), NOT_APPLICABLE);
        skipped(&more("LIMIT 9 OFFSET 1"), NOT_APPLICABLE);
        skipped(&more("UNION ALL SELECT 1"), NOT_APPLICABLE);
        let mut two = more("");
        two.subject.exprs.push(expr(predicate));
        skipped(&two, NOT_APPLICABLE);
        let mut none = more("");
        none.subject.exprs.clear();
        skipped(&none, NOT_APPLICABLE);
        // Each partition would have subtotals of its own.
        let mut subtotals = query(select);
        subtotals.as_select_mut().expect("one SELECT").grouping = Grouping::Rollup;
        let mut subtotaled = more("");
        subtotaled.subject.tests = vec![subtotals.into()];
        skipped(&subtotaled, NOT_APPLICABLE);
    }
}

#[test]
fn rule_1_each_oracle_takes_only_its_own_shape() {
    const PLAIN: &str = "t0.c0 >= 1";
    const AGGREGATE: &str = "COUNT(*) >= 1";
    for (oracle, select, predicate) in [
        ("tlp-where", "SELECT DISTINCT t0.c0 FROM t0", PLAIN),
        ("tlp-where", "SELECT COUNT(*) FROM t0", PLAIN),
        ("tlp-where", "SELECT t0.c0 FROM t0 GROUP BY t0.c0", PLAIN),
        ("tlp-where", "SELECT t0.c0 FROM t0 HAVING t0.c0 >= 1", PLAIN),
        // What a window sees is what is left of the rows, not what is beside them.
        ("tlp-where", "SELECT RANK() OVER (ORDER BY t0.c0) FROM t0", PLAIN),
        ("tlp-where", "SELECT t0.c0 FROM t0", AGGREGATE),
        ("tlp-distinct", "SELECT t0.c0 FROM t0", PLAIN),
        ("tlp-distinct", "SELECT DISTINCT COUNT(*) FROM t0", PLAIN),
        ("tlp-distinct", "SELECT DISTINCT t0.c0 FROM t0 GROUP BY t0.c0", PLAIN),
        ("tlp-distinct", "SELECT DISTINCT t0.c0 FROM t0", AGGREGATE),
        // Only the keys are selected.
        ("tlp-group-by", "SELECT t0.c0, COUNT(*) FROM t0 GROUP BY t0.c0", PLAIN),
        ("tlp-group-by", "SELECT t0.c0 FROM t0", PLAIN),
        ("tlp-group-by", "SELECT DISTINCT t0.c0 FROM t0 GROUP BY t0.c0", PLAIN),
        ("tlp-group-by", "SELECT t0.c0 FROM t0 GROUP BY t0.c0 HAVING COUNT(*) > 0", PLAIN),
        ("tlp-group-by", "SELECT t0.c0 FROM t0 GROUP BY t0.c0", AGGREGATE),
        ("tlp-having", "SELECT t0.c0, COUNT(*) FROM t0 GROUP BY t0.c0", AGGREGATE),
        ("tlp-having", "SELECT t0.c0 FROM t0 GROUP BY t0.c0 HAVING COUNT(*) > 0", AGGREGATE),
        ("tlp-aggregate", "SELECT t0.c0 FROM t0", PLAIN),
        ("tlp-aggregate", "SELECT COUNT(*), MAX(t0.c0) FROM t0", PLAIN),
        ("tlp-aggregate", "SELECT COUNT(*) + 1 FROM t0", PLAIN),
        ("tlp-aggregate", "SELECT DISTINCT COUNT(*) FROM t0", PLAIN),
        ("tlp-aggregate", "SELECT COUNT(*) FROM t0 GROUP BY t0.c0", PLAIN),
        ("tlp-aggregate", "SELECT COUNT(*) FROM t0 HAVING COUNT(*) > 0", PLAIN),
        ("tlp-aggregate", "SELECT COUNT(DISTINCT t0.c0) FROM t0", PLAIN),
        ("tlp-aggregate", "SELECT COUNT(t0.c0) FILTER (WHERE t0.c0 > 0) FROM t0", PLAIN),
        ("tlp-aggregate", "SELECT COUNT(*) FROM t0", AGGREGATE),
    ] {
        skipped(&tlp(oracle, select, predicate), NOT_APPLICABLE);
    }
}

#[test]
fn rule_1_5_an_aggregate_is_put_together_from_parts() {
    let aggregate = |of: &str| tlp("tlp-aggregate", &format!("SELECT {of} FROM t0"), "t0.c0 >= 1");
    skipped(&aggregate("AVG(t0.c0)"), "aggregate that is not decomposable");
    for sum in ["SUM(t0.c0)", "SUM(1000001)", "SUM(CAST(t0.c0 AS INTEGER) % 0)", "SUM(t0.c0 % 7)"] {
        skipped(&aggregate(sum), "sum that may round or overflow");
    }
    // Where columns have types, the remainder of a whole number is one.
    let Some(mut duckdb) = Fixture::open("duckdb") else { return };
    let mut of = |ty: &str| {
        let setup = sql(&format!("CREATE TABLE t0(c0 {ty}); INSERT INTO t0 VALUES (1), (2)"));
        duckdb.check(&TestCase { setup, ..aggregate("SUM(t0.c0 % 7)") })
    };
    assert_skipped(of("DOUBLE"), "sum that may round or overflow");
    common::assert_passes(of("INTEGER"));
}

const REPRESENTATIVES: &str = "collation in deduplicated values";

#[test]
fn rule_1_6_what_is_deduplicated_has_one_representative() {
    let folded = "t0.c1 COLLATE NOCASE";
    let predicate = "t0.c0 >= 1";
    skipped(&tlp("tlp-distinct", &format!("SELECT DISTINCT {folded} FROM t0"), predicate), REPRESENTATIVES);
    let grouped = format!("SELECT {folded} FROM t0 GROUP BY {folded}");
    skipped(&tlp("tlp-group-by", &grouped, predicate), REPRESENTATIVES);
    skipped(&tlp("tlp-having", &grouped, "COUNT(*) >= 1"), REPRESENTATIVES);
    skipped(&tlp("tlp-aggregate", &format!("SELECT MAX({folded}) FROM t0"), predicate), REPRESENTATIVES);
    // Declared with the column instead, or by its type.
    for (definition, unique) in [("c0 TEXT", true), ("c0 TEXT COLLATE NOCASE", false), ("c0", false)] {
        for (oracle, select, predicate) in [
            ("tlp-distinct", "SELECT DISTINCT t0.c0 FROM t0", predicate),
            ("tlp-group-by", "SELECT t0.c0 FROM t0 GROUP BY t0.c0", predicate),
            ("tlp-having", "SELECT t0.c0 FROM t0 GROUP BY t0.c0", "COUNT(*) >= 1"),
            ("tlp-aggregate", "SELECT MIN(t0.c0) FROM t0", predicate),
        ] {
            let mut case = tlp(oracle, select, predicate);
            case.setup = sql(&format!("CREATE TABLE t0({definition}); INSERT INTO t0 VALUES ('a'), ('b')"));
            match unique {
                true => drop(common::assert_reported(lossy(), &case)),
                false => skipped(&case, REPRESENTATIVES),
            }
        }
    }
    let cast = "CAST(t0.c0 AS BLOB)";
    skipped(&tlp("tlp-distinct", &format!("SELECT DISTINCT {cast} FROM t0"), predicate), REPRESENTATIVES);
    // A count does not show which of them it counted.
    common::assert_reported(lossy(), &tlp("tlp-aggregate", "SELECT COUNT(t0.c2) FROM t0", predicate));
}

/// Where texts fold unless a column says otherwise, nothing that is computed is deduplicated.
#[test]
fn rule_1_6_computed_text_folds_on_mysql() {
    let mut fixture = Fixture { dialect: Dialect::load("mysql", "9.7").expect("it reads"), ..lossy() };
    let computed = tlp("tlp-distinct", "SELECT DISTINCT upper(t0.c1) FROM t0", "t0.c0 >= 1");
    assert_skipped(fixture.check(&computed), REPRESENTATIVES);
}
