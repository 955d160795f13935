//! EDC: what is stored stands for what is computed where the conditions say so, and nowhere else.

use dissent_core::engine::Reply;
use dissent_core::finding::{Class, Verdict};
use dissent_core::oracle;
use dissent_core::reduce::{self, Budget, reduce};
use dissent_core::sql::visit::{Editor, edit_expr};
use dissent_core::sql::{Expr, Query, Statement, Value};
use dissent_core::subject::{Subject, TestCase};

use super::common::{
    Counting, Fixture, assert_passes, assert_skipped, check, evidence, query, sql, without_last_row,
};

/// A table e0, an operation over its columns, and a query.
#[track_caller]
fn edc(table: &str, operation: &str, select: &str) -> TestCase {
    in_words_of(&Fixture::sqlite(), table, operation, select)
}

#[track_caller]
fn in_words_of(fixture: &Fixture, table: &str, operation: &str, select: &str) -> TestCase {
    let subject = Subject::new("edc", fixture.query(select)).with_expr(fixture.expr(operation));
    TestCase { setup: fixture.sql(&format!("CREATE TABLE e0{table}")), subject }
}

/// A case by its parts, whatever the engine.
type Figure = fn(&Fixture) -> TestCase;

/// A text of a number whose whole part is zero, as a condition.
fn figure_1(on: &Fixture) -> TestCase {
    let concat = "CONCAT(e0.c0, e0.c1)";
    let table = "(c0 VARCHAR(10), c1 TEXT); INSERT INTO e0 VALUES ('0', '.5')";
    in_words_of(on, table, concat, &format!("SELECT {concat} FROM e0 WHERE {concat}"))
}

#[test]
fn looking_whether_results_are_stored_as_computed_is_no_arm() {
    let mut sqlite = Fixture::sqlite();
    let case = figure_1(&sqlite);
    assert_eq!(sqlite.arms(&case), 2);
}

/// A BIT through a function that returns it unchanged.
fn figure_4(on: &Fixture) -> TestCase {
    let table = "(c0 BIT(1), c1 BIT(1)); INSERT INTO e0 VALUES (NULL, 1)";
    in_words_of(on, table, "COALESCE(e0.c0, e0.c1)", "SELECT COALESCE(e0.c0, e0.c1) FROM e0")
}

/// A computed date between a number and a text.
fn figure_5(on: &Fixture) -> TestCase {
    let table = "(c0 DATETIME, c1 INT); INSERT INTO e0 VALUES ('2020-02-29 01:02:03', 40)";
    let later = "ADDDATE(e0.c0, e0.c1)";
    let select = format!("SELECT {later} FROM e0 WHERE {later} BETWEEN -3e38 AND '2935-07-28 18:13:52'");
    in_words_of(on, table, later, &select)
}

/// A shape among the collections of shapes; in groups, or over the whole table as the paper has it.
fn figure_6(on: &Fixture, grouped: bool) -> TestCase {
    let table = "(c0 POLYGON, c1 INT);
        INSERT INTO e0 VALUES (ST_GeomFromText('POLYGON((0 0, 4 0, 2 3, 0 0))'), 7)";
    let line = "ST_GeomFromText('LINESTRING(0 0, 2 1)')";
    let (inner, outer, clause) = match grouped {
        true => (" GROUP BY a0.c1", " GROUP BY e0.c1", "HAVING"),
        false => ("", "", "WHERE"),
    };
    let collected = "(SELECT max(a0.c0) FROM e0 AS a0";
    let select = format!("SELECT max(e0.c0) FROM e0{outer} {clause} {line} IN {collected}{inner})");
    with_aggregate(in_words_of(on, table, "max(e0.c0)", &select), "ST_Collect")
}

/// With an aggregate that the importer does not know for one.
fn with_aggregate(mut case: TestCase, name: &str) -> TestCase {
    struct Rename<'a>(&'a str);
    impl Editor for Rename<'_> {
        fn expr(&mut self, expr: &mut Expr) {
            if let Expr::Aggregate(aggregate) = expr {
                aggregate.name = self.0.into();
            }
            edit_expr(self, expr);
        }
    }
    case.subject.tests.iter_mut().for_each(|test| Rename(name).statement(test));
    case.subject.exprs.iter_mut().for_each(|expr| Rename(name).expr(expr));
    case
}

/// JSON compared with a truth value.
fn figure_7(on: &Fixture) -> TestCase {
    let table = "(c0 DOUBLE, c1 JSON, c2 BIGINT); INSERT INTO e0 VALUES (-2.5e28, 'false', 77)";
    in_words_of(on, table, "e0.c0 IS NULL", "SELECT e0.c1, e0.c2 FROM e0 WHERE e0.c1 <= (e0.c0 IS NULL)")
}

/// Bytes taken for truth, among bytes; with whole numbers, since the order of adding floats is free.
fn figure_8(on: &Fixture) -> TestCase {
    let table = "(c0 INT, c1 VARBINARY(20)); INSERT INTO e0 VALUES (-32, X'0226'), (45, X'02BA')";
    let select = "SELECT SUM(e0.c0), e0.c1 FROM e0
        WHERE (e0.c1 OR e0.c1) IN (SELECT a0.c1 FROM e0 AS a0 WHERE a0.c1 <= X'99')
        GROUP BY e0.c1 HAVING SUM(e0.c0)";
    in_words_of(on, table, "SUM(e0.c0)", select)
}

/// NaN in a table that is sorted by it.
fn figure_9(on: &Fixture) -> TestCase {
    let table = "(c0 Int16, c1 UInt32); INSERT INTO e0 VALUES (-29, 75)";
    let select = "SELECT max(e0.c0), e0.c1 FROM e0 GROUP BY e0.c1 HAVING max(e0.c0) <> -8e37";
    let case = with_aggregate(in_words_of(on, table, "max(e0.c0)", select), "varSamp");
    let TestCase { mut setup, subject } = case;
    if let Statement::CreateTable(create) = &mut setup[0] {
        create.options = vec!["ENGINE = MergeTree ORDER BY c1 SETTINGS allow_nullable_key = 1".into()];
    }
    let storage = "ENGINE = MergeTree ORDER BY result0 SETTINGS allow_nullable_key = 1";
    TestCase { setup, subject: subject.with_choice("storage", storage) }
}

/// What cases come to: a class, that the arms agree, or why nothing is said.
#[track_caller]
fn assert_outcomes(target: &str, figures: &[(Figure, &str)]) {
    let Some(mut fixture) = Fixture::open(target) else { return };
    for (figure, expected) in figures {
        let case = figure(&fixture);
        let verdict = fixture.check(&case);
        let outcome = match &verdict {
            Verdict::Bug(evidence) => evidence.class.name(),
            Verdict::Pass { .. } => "agree",
            Verdict::Skip(reason) => reason,
        };
        assert_eq!(outcome, *expected, "{target}: {:?}\n{verdict:#?}", case.subject.tests);
    }
}

const NOT_ACCEPTED: &str = "operation that rejects these types or values";

/// The paper saw figures 4 and 5 on MySQL: they are there still, and figure 4 in MariaDB as well.
#[test]
fn figures_4_and_5_of_the_paper_fail_on_mysql() {
    assert_outcomes("mysql", &[(figure_4, "representation"), (figure_5, "wrong-rows")]);
    assert_outcomes("mariadb", &[(figure_4, "representation"), (figure_5, "agree")]);
    assert_outcomes("oceanbase", &[(figure_4, "agree"), (figure_5, "agree")]);
}

/// Figure 6 as it is printed is no bug: without groups, an aggregate over no rows is still a row. Figure 7 is
/// MySQL's as well as TiDB's: a truth value is JSON's `true` where it is computed and a number where it is
/// stored. MariaDB's JSON is a text.
#[test]
fn the_other_figures_of_the_mysql_family() {
    let without_groups = "WHERE before an aggregate without groups";
    let figures: [Figure; 5] =
        [figure_1, |on| figure_6(on, true), |on| figure_6(on, false), figure_7, figure_8];
    let expected = [
        ("mysql", ["agree", "agree", without_groups, "wrong-rows", "agree"]),
        ("mariadb", ["agree", NOT_ACCEPTED, NOT_ACCEPTED, "agree", "agree"]),
        ("oceanbase", ["agree", NOT_ACCEPTED, NOT_ACCEPTED, "wrong-rows", "agree"]),
    ];
    for (target, outcomes) in expected {
        assert_outcomes(target, &std::iter::zip(figures, outcomes).collect::<Vec<_>>());
    }
}

#[test]
fn figure_9_holds_on_clickhouse() {
    assert_outcomes("clickhouse", &[(figure_9, "agree")]);
}

const LOST: &str = "collation lost or weakened by storing";
const CHANGED: &str = "result changed by storing it";

/// On SQLite an operation has a collation if it passes that of a column on, and an affinity if it is a CAST. `max` compares
/// by the collation of the first argument that has one: 'C' is the greatest without case, 'a' by BINARY.
#[test]
fn rule_2_4_the_stored_column_compares_as_the_operation_does() {
    for (operation, greatest) in [
        ("CAST(e0.c0 || '' AS TEXT)", "C"),
        ("CAST(CAST(e0.c0 || '' AS TEXT) AS TEXT)", "C"),
        ("CAST(e0.c0 AS TEXT)", "a"),
        ("CAST(+e0.c0 AS TEXT)", "a"),
        ("+e0.c0", "a"),
        ("+(e0.c0 || '')", "C"),
        ("e0.c0 || ''", "C"),
    ] {
        for (value, test, result) in [
            ("B", format!("max({operation}, 'C' COLLATE NOCASE, 'a')"), Some(greatest)),
            ("7", format!("{operation} = 7"), None),
        ] {
            let table = format!("(c0 TEXT); INSERT INTO e0 VALUES ('{value}')");
            let select = format!("SELECT {test} FROM e0");
            assert_eq!(check(&edc(&table, operation, &select)), Verdict::Pass { nonempty: true }, "{test}");
            let mut sqlite = Fixture::sqlite();
            for sql in format!("CREATE TABLE e0{table}").split("; ") {
                assert!(matches!(sqlite.engine.execute(sql), Ok(Reply::Done { .. })), "{sql}");
            }
            let values = sqlite.rows(&select).unwrap().values;
            assert!(result.is_none_or(|text| values == [Value::Text(text.into())]), "{test}: {values:?}");
        }
    }
}

#[test]
fn rule_2_2_an_operation_is_over_the_columns_of_one_table() {
    let reason = "no operation over the columns of one table";
    for operation in [
        "1 + 1",
        "e0.c9",
        "e0.c0 + e0.c9",
        "e0.c0 + (SELECT 1)",
        "e0.c0 IN (SELECT 1)",
        "EXISTS (SELECT e0.c0)",
        "SUM(e0.c0) OVER ()",
    ] {
        let case = edc("(c0 INT); INSERT INTO e0 VALUES (1)", operation, "SELECT e0.c0 FROM e0");
        assert_skipped(check(&case), reason);
    }
    let plain = edc("(c0 INT); INSERT INTO e0 VALUES (1)", "e0.c0 + 1", "SELECT e0.c0 + 1 FROM e0");
    assert_passes(check(&plain));
    let without_query =
        TestCase { subject: Subject { tests: Vec::new(), ..plain.subject.clone() }, ..plain.clone() };
    assert_skipped(check(&without_query), reason);
    let without_operation =
        TestCase { subject: Subject { exprs: Vec::new(), ..plain.subject.clone() }, ..plain.clone() };
    assert_skipped(check(&without_operation), reason);
    let derived = sql("CREATE TABLE t0(c0 INT); CREATE TABLE e0 AS SELECT c0 FROM t0");
    assert_skipped(check(&TestCase { setup: derived, ..plain }), reason);
}

#[test]
fn rule_2_2_an_aggregate_is_the_whole_operation() {
    let case = edc("(c0 INT); INSERT INTO e0 VALUES (1)", "MAX(e0.c0) + 1", "SELECT MAX(e0.c0) + 1 FROM e0");
    assert_skipped(check(&case), "aggregate inside the operation");
}

#[test]
fn rule_2_2_the_engine_takes_the_operation() {
    for (rows, accepted) in [("('[1]')", true), ("('[1')", false)] {
        let case =
            edc(&format!("(c0); INSERT INTO e0 VALUES {rows}"), "json(e0.c0)", "SELECT json(e0.c0) FROM e0");
        match accepted {
            true => assert_passes(check(&case)),
            false => assert_skipped(check(&case), NOT_ACCEPTED),
        }
    }
}

/// A column of numeric affinity makes 1 of 1.0.
#[test]
fn rule_2_3_what_changes_its_storage_class_by_storing_is_skipped() {
    let cast = |row: &str| {
        edc(
            &format!("(c0); INSERT INTO e0 VALUES ({row})"),
            "CAST(e0.c0 AS NUMERIC)",
            "SELECT CAST(e0.c0 AS NUMERIC) FROM e0",
        )
    };
    assert_skipped(check(&cast("1.0")), CHANGED);
    assert_eq!(check(&cast("1.5")), Verdict::Pass { nonempty: true });
}

/// A quotient has more digits inside an expression than in a column.
#[test]
fn rule_2_3_what_is_cut_by_storing_is_skipped() {
    fn quotient(on: &Fixture, by: i64) -> TestCase {
        let table = format!("(c0 INT, c1 INT); INSERT INTO e0 VALUES (1, {by})");
        in_words_of(on, &table, "e0.c0 / e0.c1", "SELECT e0.c0 / e0.c1 * e0.c1 FROM e0")
    }
    assert_outcomes("mariadb", &[(|on| quotient(on, 3), CHANGED), (|on| quotient(on, 4), "agree")]);
}

/// `'1' = 1` is false for an expression and true for a column of text. A CAST has an affinity: there the text 1 equals
/// the number.
#[test]
fn rule_2_4_an_operation_is_stood_for_by_what_has_its_affinity() {
    for (operation, nonempty) in [("e0.c0 || ''", false), ("CAST(e0.c0 AS TEXT)", true)] {
        for types in ["", "inferred"] {
            let select = format!("SELECT {operation} FROM e0 WHERE {operation} = 1");
            let TestCase { setup, subject } = edc("(c0 INT); INSERT INTO e0 VALUES (1)", operation, &select);
            let case = TestCase { setup, subject: subject.with_choice("types", types) };
            assert_eq!(check(&case), Verdict::Pass { nonempty }, "{operation} {types}");
        }
    }
}

/// What is compared with a column that folds case folds it, unless it is a column itself.
#[test]
fn rule_2_4_an_operation_is_stood_for_by_what_has_no_collation() {
    let table = "(c0 TEXT); INSERT INTO e0 VALUES ('a'); CREATE TABLE t9(c9 TEXT COLLATE NOCASE);
        INSERT INTO t9 VALUES ('A')";
    let select = "SELECT e0.c0 || '' FROM e0 JOIN t9 ON e0.c0 || '' = t9.c9";
    assert_eq!(check(&edc(table, "e0.c0 || ''", select)), Verdict::Pass { nonempty: true });
}

#[test]
fn rule_2_4_collations_that_storing_drops_are_skipped() {
    let of = |definition: &str, operation: &str| {
        let table = format!("({definition}); INSERT INTO e0 VALUES ('a'), ('A')");
        edc(&table, operation, &format!("SELECT {operation} FROM e0"))
    };
    assert_eq!(check(&of("c0 TEXT", "upper(e0.c0)")), Verdict::Pass { nonempty: true });
    assert_skipped(check(&of("c0 TEXT COLLATE NOCASE", "upper(e0.c0)")), LOST);
    assert_skipped(check(&of("c0 TEXT", "upper(e0.c0) COLLATE NOCASE")), LOST);
    // Where types are declared, a collation is lost only if it is not declared again.
    let Some(mut duckdb) = Fixture::open("duckdb") else { return };
    let TestCase { setup, subject } = of("c0 VARCHAR COLLATE NOCASE", "upper(e0.c0)");
    let inferred =
        TestCase { setup: setup.clone(), subject: subject.clone().with_choice("types", "inferred") };
    assert_skipped(duckdb.check(&inferred), LOST);
    assert_eq!(duckdb.check(&TestCase { setup, subject }), Verdict::Pass { nonempty: true });
}

/// `json_array(json(x))` holds JSON, `json_array(stored)` a text.
#[test]
fn rule_2_4_a_mark_of_json_is_not_read() {
    let asked = |select: &str| check(&edc("(c0); INSERT INTO e0 VALUES ('[1]')", "json(e0.c0)", select));
    assert_eq!(asked("SELECT json(e0.c0) FROM e0"), Verdict::Pass { nonempty: true });
    let reason = "JSON whose subtype is lost by storing it";
    assert_skipped(asked("SELECT json_array(json(e0.c0)) FROM e0"), reason);
    assert_skipped(asked("SELECT json(e0.c0) -> '$[0]' FROM e0"), reason);
}

/// A literal of bytes is a number where one is wanted, but not so a column of bytes.
#[test]
fn rule_2_4_what_columns_read_otherwise_is_skipped() {
    fn asked(on: &Fixture, operation: &str) -> TestCase {
        let table = "(c0 INT); INSERT INTO e0 VALUES (NULL), (20200229)";
        in_words_of(on, table, operation, &format!("SELECT 1 FROM e0 WHERE {operation} > 1"))
    }
    let reason = "result that compares differently in a column";
    let bytes: Figure = |on| asked(on, "COALESCE(e0.c0, X'41')");
    assert_outcomes("mysql", &[(bytes, reason), (|on| asked(on, "YEAR(e0.c0)"), reason)]);
}

/// Whole numbers in c0 and c2, and a key between them.
#[track_caller]
fn grouped(key: &str, rows: &str, operation: &str, select: &str) -> TestCase {
    edc(&format!("(c0 INT, c1 {key}, c2 INT); INSERT INTO e0 VALUES {rows}"), operation, select)
}

const BY_KEY: &str = "SELECT MAX(e0.c0), e0.c1 FROM e0 GROUP BY e0.c1";
const ROWS: &str = "(1, 0, 1), (2, 0, 1), (3, 1, 1)";

#[test]
fn rule_2_5_groups_are_told_apart_by_what_is_identical() {
    assert_eq!(check(&grouped("INT", ROWS, "MAX(e0.c0)", BY_KEY)), Verdict::Pass { nonempty: true });
    let reason = "grouping column with equal values that are not identical";
    for key in ["REAL", ""] {
        assert_skipped(check(&grouped(key, ROWS, "MAX(e0.c0)", BY_KEY)), reason);
    }
    // The usual collation of MySQL folds case.
    fn folded(on: &Fixture) -> TestCase {
        let table = "(c0 INT, c1 VARCHAR(5), c2 INT); INSERT INTO e0 VALUES (1, 'a', 1), (2, 'A', 1)";
        in_words_of(on, table, "MAX(e0.c0)", BY_KEY)
    }
    assert_outcomes("mysql", &[(folded, reason)]);
}

#[test]
fn rule_2_5_an_aggregate_is_over_values_that_are_identical_when_equal() {
    let reason = "aggregate over equal values that are not identical";
    for aggregate in ["MIN(e0.c0)", "MAX(e0.c0)", "COUNT(DISTINCT e0.c0)"] {
        let of = |ty: &str| {
            edc(
                &format!("(c0 {ty}); INSERT INTO e0 VALUES (1)"),
                aggregate,
                &format!("SELECT {aggregate} FROM e0"),
            )
        };
        assert_passes(check(&of("INT")));
        assert_skipped(check(&of("")), reason);
    }
    // How many there are does not show which.
    assert_passes(check(&edc(
        "(c0); INSERT INTO e0 VALUES (1)",
        "COUNT(e0.c0)",
        "SELECT COUNT(e0.c0) FROM e0",
    )));
}

/// The order in which floats are added is the engine's.
#[test]
fn rule_2_5_sums_of_floats_and_aggregates_that_round_are_skipped() {
    let floats = "float aggregate that depends on row order";
    let sum = "SELECT SUM(e0.c0) FROM e0 GROUP BY e0.c1";
    for ty in ["REAL", "INT"] {
        let table = format!("(c0 {ty}, c1 INT); INSERT INTO e0 VALUES (0.1, 1), (0.2, 1)");
        assert_skipped(check(&edc(&table, "SUM(e0.c0)", sum)), floats);
    }
    fn of(on: &Fixture, ty: &str, aggregate: &str) -> TestCase {
        let table = format!("(c0 {ty}); INSERT INTO e0 VALUES (1), (2)");
        in_words_of(on, &table, &format!("{aggregate}(e0.c0)"), &format!("SELECT {aggregate}(e0.c0) FROM e0"))
    }
    let outcomes: [(Figure, &str); 3] = [
        (|on| of(on, "DOUBLE", "SUM"), floats),
        (|on| of(on, "INTEGER", "STDDEV_POP"), "aggregate whose rounding depends on row order"),
        (|on| of(on, "INTEGER", "SUM"), "agree"),
    ];
    assert_outcomes("duckdb", &outcomes);
}

#[test]
fn rule_2_5_groups_are_asked_by_their_keys_only() {
    let of = |select: &str| check(&grouped("INT", ROWS, "MAX(e0.c0)", select));
    for (select, reason) in [
        (
            "SELECT MAX(e0.c0), e0.c1 FROM e0 WHERE e0.c0 > 1 GROUP BY e0.c1",
            "WHERE over other columns than the grouping keys",
        ),
        ("SELECT MAX(e0.c0), e0.c1, COUNT(*) FROM e0 GROUP BY e0.c1", "another aggregate in the query"),
        ("SELECT MAX(e0.c0) FROM e0 WHERE 0", "WHERE before an aggregate without groups"),
        ("SELECT MAX(e0.c0) FROM e0, e0 AS a0 GROUP BY e0.c1", "aggregate over more than the base table"),
    ] {
        assert_skipped(of(select), reason);
    }
    let having = "SELECT MAX(e0.c0), e0.c1 FROM e0 WHERE e0.c1 < 9 GROUP BY e0.c1 HAVING MAX(e0.c0) > 2";
    assert_eq!(of(having), Verdict::Pass { nonempty: true });
}

/// The keys are those of the first query: what others ask for is held against them.
#[test]
fn rule_2_5_every_query_is_one_over_the_groups() {
    let then = |select: &str| {
        let mut case = grouped("INT", ROWS, "MAX(e0.c0)", BY_KEY);
        // The first is asked, too, but fails: its answer must not hide that of the second.
        let first = Query { limit: Some(Expr::bare_column("nothing")), ..query(BY_KEY) };
        case.subject.tests = vec![first.into(), query(select).into()];
        check(&case)
    };
    let other_keys = "not grouped by the keys of the stored table";
    assert_skipped(then("SELECT MAX(e0.c0) FROM e0 GROUP BY e0.c2"), other_keys);
    assert_skipped(then("SELECT MAX(e0.c0) FROM e0 GROUP BY e0.c1, e0.c2"), other_keys);
    assert_skipped(then("SELECT MAX(e0.c0) FROM e0"), other_keys);
    let rows = "rows that are not grouped";
    assert_skipped(then("SELECT e0.c1 FROM e0"), rows);
    let among =
        |filter: &str| then(&format!("{BY_KEY} HAVING e0.c1 IN (SELECT a0.c1 FROM e0 AS a0 WHERE {filter})"));
    // They are the same set of rows.
    assert_eq!(among("a0.c1 > 0"), Verdict::Pass { nonempty: true });
    assert_skipped(among("a0.c0 > 0"), rows);
}

/// `coalesce(NULL, 0)` is 0 in a row that an outer join padded; its stored result is NULL there.
#[test]
fn rule_2_6_padded_rows_and_all_columns_are_skipped() {
    let asked = |items: &str, from: &str| {
        let select = format!("SELECT {items} FROM {from}");
        check(&edc("(c0 INT); INSERT INTO e0 VALUES (1), (2)", "coalesce(e0.c0, 0)", &select))
    };
    let zero = "coalesce(e0.c0, 0)";
    let padded = "base table on the padded side of an outer join";
    let all = "* or NATURAL JOIN, but the stored table has other columns";
    for kind in ["LEFT", "RIGHT", "FULL"] {
        assert_skipped(asked(zero, &format!("e0 AS a0 {kind} JOIN e0 ON a0.c0 < e0.c0")), padded);
    }
    assert_skipped(asked(zero, "e0 AS a0 NATURAL JOIN e0"), all);
    assert_skipped(asked(&format!("{zero}, *"), "e0"), all);
    assert_eq!(asked(zero, "e0 AS a0 JOIN e0 ON a0.c0 < e0.c0"), Verdict::Pass { nonempty: true });
}

/// Of several values that are equal, another one may come of the stored table.
#[test]
fn rule_2_7_what_is_deduplicated_has_one_representative() {
    let loses = |sql: &str| sql.contains("stored0") && sql.contains("DISTINCT");
    let mut lossy = lossy_where(loses);
    let rows = "INSERT INTO e0 VALUES (1), (2)";
    let mut distinct = |ty: &str, operation: &str, item: &str| {
        lossy.check(&edc(
            &format!("(c0 {ty}); {rows}"),
            operation,
            &format!("SELECT DISTINCT {item} FROM e0"),
        ))
    };
    let reason = "equal values that are not identical";
    assert_skipped(distinct("INT", "e0.c0 + 0.5", "e0.c0 + 0.5"), reason);
    assert_skipped(distinct("", "typeof(e0.c0)", "e0.c0"), reason);
    assert_skipped(distinct("TEXT", "length(e0.c0)", "length(e0.c0) COLLATE NOCASE"), reason);
    assert_eq!(evidence(distinct("INT", "length(e0.c0)", "e0.c0")).class, Class::WrongRows);
}

#[test]
fn stored_results_stand_for_operations_on_sqlite() {
    let mut sqlite = Fixture::sqlite();
    // Of bytes these two make text with what happened to be in memory, where texts are UTF-16.
    sqlite.dialect = sqlite.dialect.without(&[], &["concat".into(), "concat_ws".into()]);
    let (watcher, counts) = sqlite.walk(oracle::select("edc"), 5, Counting::cases(400).until_found());
    let shown: Vec<_> = watcher.findings.iter().map(|(_, evidence)| &evidence.arms).collect();
    assert!(watcher.findings.is_empty(), "{shown:#?}");
    println!("{} pass, {} skips, {:?}", watcher.passes, watcher.skips, counts.notes);
    assert!(watcher.passes > 200, "{} passes, {} skips", watcher.passes, watcher.skips);
    // Building a pair of tables is paid for by many queries.
    let (compared, statements) = (2 * counts.notes["edc: pairs compared"], counts.statements);
    assert!(compared * 100 >= statements * 70, "{compared} of {statements} statements are compared");
}

fn lossy_where(loses: impl Fn(&str) -> bool + 'static) -> Fixture {
    Fixture::tampered(move |sql, reply| if loses(sql) { without_last_row(reply) } else { reply })
}

/// Loses the last row of what is asked of the stored table with BETWEEN.
fn lossy() -> Fixture {
    lossy_where(|sql| sql.contains("stored0") && sql.contains(" BETWEEN "))
}

#[test]
fn a_planted_bug_is_found_and_reduced_to_one_query() {
    let (watcher, _) = lossy().walk(oracle::select("edc"), 5, Counting::cases(400).until_found());
    let (case, evidence) = watcher.findings.into_iter().next().expect("the planted bug is found");
    assert_eq!(evidence.class, Class::WrongRows);
    // The finding tells how the stored table came to be, and its base table is part of its setup.
    assert!(evidence.arms[0].sql.contains("CREATE TABLE stored0"), "{:?}", evidence.arms);
    let base =
        |statement: &Statement| matches!(statement, Statement::CreateTable(create) if create.name == "e0");
    assert!(case.setup.iter().any(base));
    assert!(case.subject.tests.len() > 1);
    let mut fixture = lossy();
    let dialect = fixture.dialect.clone();
    let mut fails = |case: &TestCase| {
        let verdict = fixture.check(case);
        Ok(matches!(verdict, Verdict::Bug(evidence) if evidence.class == Class::WrongRows))
    };
    let budget = Budget { checks: 400, over: &|| false };
    let reduced =
        reduce(case, &dialect, reduce::all(), &budget, &mut fails).expect("the engine answers").case;
    assert_eq!(reduced.subject.tests.len(), 1);
    assert!(reduced.setup.len() <= 3, "{:?}", reduced.setup);
}
