//! EPSC on real engines: the paper's listings, the conditions under which it speaks, and error validation.

use dissent_core::dialect::{Feature, TypeEntry};
use dissent_core::engine::{ErrorClass, Reply};
use dissent_core::finding::{Arm, ArmOutcome, Class, Evidence, Verdict};
use dissent_core::sql::*;
use dissent_core::subject::{Subject, TestCase};
use dissent_core::{oracle, report};

use super::common::{
    Fixture, assert_passes, assert_reported, assert_skipped, check, evidence, failed, sql, without_last_row,
};

/// Steps that bring their own tables; a literal in `bound()` is a parameter where they are prepared.
#[track_caller]
fn steps(text: &str) -> TestCase {
    of(sql(text))
}

fn of(steps: Vec<Statement>) -> TestCase {
    TestCase { setup: Vec::new(), subject: Subject::of("epsc", steps) }
}

/// By PREPARE and EXECUTE, not by the engine's interface.
fn in_sql(case: TestCase) -> TestCase {
    TestCase { subject: case.subject.with_choice("road", "sql"), ..case }
}

fn on(target: &str, case: &TestCase) -> Option<Verdict> {
    Some(Fixture::open(target)?.check(case))
}

fn number_of_rows(arm: &Arm) -> Option<usize> {
    match &arm.outcome {
        ArmOutcome::Rows(rows) => Some(rows.len()),
        _ => None,
    }
}

/// What an error of either arm says.
fn message(evidence: &Evidence) -> String {
    evidence.error().map(|error| error.message.clone()).unwrap_or_default()
}

const NO_PLACE: &str = "parameter where only a literal means the same";
const NO_TYPE: &str = "parameter with another type than its literal";

// What the paper's listings say of the engines that are here. Listings 1 and 5 are of CockroachDB, 6, 9, 11 and
// 15 of TiDB.

/// PostgreSQL and DuckDB fail where they divide by zero, or divide integers otherwise; a root of less fails in
/// both.
#[test]
fn listing_2_an_error_that_one_arm_is_spared() {
    let Some(mut postgres) = Fixture::open("postgres") else { return };
    let steps = postgres.sql(
        "CREATE TABLE t0(c0 INTEGER); INSERT INTO t0(c0) VALUES (0);
         SET plan_cache_mode = force_generic_plan;
         SELECT c0 FROM t0 WHERE 10 / c0 = 1 OR CAST(bound(TRUE) AS BOOLEAN)",
    );
    // The query is passed over; the rows of the table are compared all the same.
    assert_passes(postgres.check(&of(steps)));
}

#[test]
fn listing_3_a_key_that_is_found_again_only_if_it_is_written_alike() {
    let case = steps(
        "CREATE TABLE t0(c0 BOOLEAN);
         SELECT CAST(bound(FALSE) AS BOOLEAN) IN (c0) FROM t0 GROUP BY FALSE IN (c0)",
    );
    let Some(verdict) = on("duckdb", &case) else { return };
    assert_skipped(verdict, NO_PLACE);
}

#[test]
fn listing_4_the_smallest_integer_is_no_parameter() {
    let smallest = steps("SELECT -CAST(bound(-9223372036854775808) AS BIGINT)");
    let Some(verdict) = on("duckdb", &in_sql(smallest)) else { return };
    assert_skipped(verdict, NO_TYPE);
}

#[test]
fn listing_7_an_aggregate_that_sqlite_folded_away() {
    let case = steps("CREATE TABLE t0(c0); SELECT max(c0) AND bound(0) FROM t0");
    assert_passes(check(&case));
    let Some(old) = on("sqlite@3.34.0", &case) else { return };
    let found = evidence(old);
    assert_eq!(found.class, Class::WrongRows);
    let rows: Vec<Option<usize>> = found.arms.iter().map(number_of_rows).collect();
    assert_eq!(rows, [Some(0), Some(1)], "{found:?}");
    assert!(found.arms[1].sql.ends_with("SELECT MAX(c0) AND ?1 FROM t0"), "{}", found.arms[1].sql);
}

/// Both arms return the padded row in every version that is here.
#[test]
fn listing_8_an_outer_join_that_mariadb_made_an_inner_one() {
    for (target, value) in [
        ("mariadb@11.8", "bound(FALSE)"),
        ("mariadb@10.5", "bound(FALSE)"),
        ("mysql@9.7", "CAST(bound(0) AS SIGNED)"),
    ] {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        let steps = fixture.sql(&format!(
            "CREATE TABLE t0(c0 INT); CREATE TABLE t1(c0 INT);
             INSERT INTO t0(c0) VALUES (1); INSERT INTO t1(c0) VALUES (1);
             SELECT t0.c0 FROM t1 LEFT JOIN t0 ON FALSE WHERE {value} OR (t0.c0 IS TRUE) IN (FALSE)"
        ));
        assert_eq!(fixture.check(&of(steps)), Verdict::Pass { nonempty: true }, "{target}");
    }
}

/// Text that is escaped is escaped again inside PREPARE … FROM: no difference, and no bug of MySQL's.
#[test]
fn listing_10_what_is_unescaped_twice_is_escaped_twice() {
    let case = steps(
        r#"CREATE TABLE t0(c0 VARCHAR(20)); INSERT INTO t0(c0) VALUES (CAST(bound('1\''#"') AS CHAR));
           SELECT c0 FROM t0 WHERE '1''#\' AND FALSE;
           SELECT '\n''' FROM t0 WHERE c0 = CAST(bound('1\''#"') AS CHAR)"#,
    );
    for target in ["mysql", "mariadb"] {
        let Some(verdict) = on(target, &in_sql(case.clone())) else { continue };
        assert_eq!(verdict, Verdict::Pass { nonempty: true }, "{target}");
    }
}

/// A sequence that is advanced before a value fails is not set back. It is documented so, and no table that is
/// drawn has one.
#[test]
fn listing_12_a_sequence_that_a_failed_insert_advances() {
    for target in ["postgres@18", "postgres@16"] {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        let steps = fixture.sql(
            "SET plan_cache_mode = force_generic_plan; CREATE TABLE t0(c0 serial, c1 INTEGER);
             INSERT INTO t0(c1) VALUES (CAST(bound(1) AS INTEGER) / CAST(bound(0) AS INTEGER));
             INSERT INTO t0(c1) VALUES (CAST(bound(2) AS INTEGER))",
        );
        let found = evidence(fixture.check(&in_sql(of(steps))));
        assert_eq!(found.class, Class::WrongValues, "{target}: {found:?}");
    }
}

#[test]
fn listing_13_bytes_that_are_read_by_the_encoding_of_the_database() {
    let mut case =
        steps("CREATE TABLE t0(c0 TEXT CHECK (c0 IS TRUE)); INSERT INTO t0(c0) VALUES (bound(x'310a'))");
    case.setup = sql("PRAGMA encoding = 'UTF-16'");
    assert_passes(check(&case));
    let Some(old) = on("sqlite@3.50.4", &case) else { return };
    // The prepared INSERT stores what the CHECK forbids.
    let found = evidence(old);
    assert_eq!(found.class, Class::ErrorDivergence);
    assert!(message(&found).contains("CHECK constraint failed"), "{found:?}");
}

/// A parameter in the list of a query that is grouped by a constant is not drawn; it is the engine's to say.
#[test]
fn listing_14_an_error_of_the_ordinary_statement_alone() {
    let case = steps(
        "CREATE TABLE t0(c0 INTEGER); INSERT INTO t0(c0) VALUES (CAST(bound(1) AS INTEGER));
         SELECT length(NULL) FROM t0 GROUP BY NULL",
    );
    for target in ["duckdb@1.4.0", "duckdb"] {
        let Some(verdict) = on(target, &case) else { continue };
        assert_passes(verdict);
    }
}

// Conditions, each violated alone.

/// SQLite with a bug: what is prepared goes wrong.
fn prepared(mut wrong: impl FnMut(&str, Reply) -> Reply + 'static) -> Fixture {
    Fixture::tampered(move |sql, reply| match sql.starts_with("/* prepared") {
        true => wrong(sql, reply),
        false => reply,
    })
}

/// It loses the last row of a query.
fn lossy() -> Fixture {
    prepared(|_, reply| without_last_row(reply))
}

/// A table of two rows, and one step more.
#[track_caller]
fn with(step: &str) -> TestCase {
    steps(&format!(
        "CREATE TABLE t0(c0 INT, c1 TEXT); INSERT INTO t0(c0, c1) VALUES (bound(2), bound('a'));
         INSERT INTO t0(c0, c1) VALUES (bound(1), bound('b')); {step}"
    ))
}

#[track_caller]
fn skipped(case: &TestCase, reason: &str) {
    assert_skipped(lossy().check(case), reason);
}

#[test]
fn a_lost_row_is_found_and_without_the_bug_there_is_none() {
    let found = assert_reported(lossy(), &with("SELECT c0 FROM t0 WHERE c0 > bound(0)"));
    assert_eq!(found.class, Class::WrongRows);
    assert!(found.arms[0].sql.ends_with("SELECT c0 FROM t0 WHERE c0 > 0"), "{}", found.arms[0].sql);
}

#[test]
fn rule_5_1_there_is_something_to_prepare_and_to_compare() {
    skipped(&in_sql(with("SELECT c0 FROM t0")), "no PREPARE in this dialect");
    skipped(&steps("SELECT c9"), "no result to compare");
    skipped(&steps("PRAGMA automatic_index = 1"), "no result to compare");
}

#[test]
fn rule_5_2_a_number_is_bound_as_the_type_it_has() {
    let half = |bound: &str| {
        steps(&format!(
            "CREATE TABLE t0(c0 INT); INSERT INTO t0(c0) VALUES (1); SELECT c0 FROM t0 WHERE c0 < {bound}"
        ))
    };
    for (target, double) in
        [("postgres", "DOUBLE PRECISION"), ("duckdb", "DOUBLE"), ("mysql", "DOUBLE"), ("mariadb", "DOUBLE")]
    {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        // A literal with a point is a decimal; a bound float is not.
        assert_skipped(fixture.check(&half("bound(1.5)")), NO_TYPE);
        // An integer's place takes no float.
        assert_skipped(fixture.check(&half("CAST(bound(1.5) AS INTEGER)")), NO_TYPE);
        assert_passes(fixture.check(&half(&format!("CAST(bound(1.5) AS {double})"))));
    }
}

#[test]
fn rule_5_2_a_user_variable_has_a_collation_of_its_own() {
    let compare = |text: &str| {
        steps(&format!(
            "CREATE TABLE t0(c0 VARCHAR(20) COLLATE utf8mb4_bin); INSERT INTO t0(c0) VALUES ('a');
             SELECT c0 FROM t0 WHERE c0 = {text}"
        ))
    };
    for target in ["mysql", "mariadb"] {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        assert_skipped(fixture.check(&in_sql(compare("bound('a')"))), NO_TYPE);
        assert_passes(fixture.check(&in_sql(compare("CAST(bound('a') AS CHAR)"))));
        // By the protocol it has that of a literal, where it is not inferred from what is around it.
        if target == "mariadb" {
            assert_passes(fixture.check(&compare("bound('a')")));
        }
    }
}

#[test]
fn rule_5_2_an_untyped_parameter_is_none_where_literals_adapt() {
    let Some(mut duckdb) = Fixture::open("duckdb") else { return };
    let with = |value: &str| {
        steps(&format!(
            "CREATE TABLE t0(c0 BIGINT); INSERT INTO t0(c0) VALUES ({value}); SELECT c0 FROM t0 WHERE c0 = {value}"
        ))
    };
    for road in [std::convert::identity, in_sql] {
        assert_skipped(duckdb.check(&road(with("bound(5)"))), NO_TYPE);
        let typed = duckdb.check(&road(with("CAST(bound(5) AS INTEGER)")));
        assert_eq!(typed, Verdict::Pass { nonempty: true });
    }
}

/// A number alone in ORDER BY or GROUP BY is a column and a parameter is not, and elsewhere only a literal is found
/// again or allowed.
#[test]
fn rule_5_3_a_parameter_stands_where_a_literal_is_a_value() {
    for (literal, bound) in [
        ("SELECT c0 FROM t0 ORDER BY 1", "SELECT c0 FROM t0 ORDER BY bound(1)"),
        ("SELECT COUNT(*) FROM t0 GROUP BY c0", "SELECT COUNT(*) FROM t0 GROUP BY bound(1)"),
        ("SELECT c0 + 1 FROM t0 ORDER BY c0", "SELECT c0 + bound(1) FROM t0 ORDER BY c0"),
        ("SELECT c0 + 1 FROM t0 GROUP BY c0 + 1", "SELECT c0 + bound(1) FROM t0 GROUP BY c0 + 1"),
        (
            "SELECT 1 FROM t0 GROUP BY c0 + 1 HAVING c0 + 1 > 0",
            "SELECT 1 FROM t0 GROUP BY c0 + 1 HAVING c0 + 1 > bound(0)",
        ),
        ("SELECT c1 LIKE 'a' ESCAPE 'x' FROM t0", "SELECT c1 LIKE 'a' ESCAPE bound('x') FROM t0"),
        ("SELECT c0 FROM t0 ORDER BY c0 LIMIT -1", "SELECT c0 FROM t0 ORDER BY c0 LIMIT bound(-1)"),
        ("SELECT c0 IS TRUE FROM t0", "SELECT c0 IS bound(TRUE) FROM t0"),
        ("SELECT max(c0, TRUE) FROM t0", "SELECT max(c0, bound(TRUE)) FROM t0"),
        ("SELECT likelihood(c0, 0.5) FROM t0", "SELECT likelihood(c0, bound(0.5)) FROM t0"),
        ("SELECT SUM(c0) OVER (ORDER BY c0) FROM t0", "SELECT SUM(c0) OVER (ORDER BY c0 + bound(1)) FROM t0"),
        (
            "SELECT group_concat(c1, ',' ORDER BY c0 + 1) FROM t0",
            "SELECT group_concat(c1, ',' ORDER BY c0 + bound(1)) FROM t0",
        ),
        (
            "WITH RECURSIVE d0 AS (SELECT 1 AS c0 UNION ALL SELECT c0 + 1 FROM d0 WHERE c0 < 3) SELECT c0 FROM d0",
            "WITH RECURSIVE d0 AS (SELECT 1 AS c0 UNION ALL SELECT c0 + 1 FROM d0 WHERE c0 < bound(3))
                SELECT c0 FROM d0",
        ),
        ("CREATE INDEX i0 ON t0(c0) WHERE c0 > 1", "CREATE INDEX i0 ON t0(c0) WHERE c0 > bound(1)"),
        (
            "CREATE VIEW v0 AS SELECT c0 FROM t0 WHERE c0 > 1",
            "CREATE VIEW v0 AS SELECT c0 FROM t0 WHERE c0 > bound(1)",
        ),
    ] {
        assert_passes(check(&with(literal)));
        skipped(&with(bound), NO_PLACE);
    }
    assert_passes(check(&with("SELECT c0 FROM t0 LIMIT bound(1)")));
}

#[test]
fn rule_5_4_nothing_is_changed_that_both_arms_begin_with() {
    for step in [
        "INSERT INTO t9 VALUES (1)",
        "UPDATE t9 SET c0 = 1",
        "DELETE FROM t9",
        "CREATE INDEX i0 ON t9(c0)",
        "ALTER TABLE t9 ADD COLUMN c1 INT",
    ] {
        let mut case = with(step);
        case.setup = sql("CREATE TABLE t9(c0 INT)");
        skipped(&case, "change to a table that the test case did not create");
    }
    for step in ["DROP TABLE t0", "BEGIN", "ALTER TABLE t0 RENAME TO t1"] {
        skipped(&with(step), "statement that EPSC does not support");
    }
}

#[test]
fn rule_5_5_no_step_depends_on_which_row_comes_first() {
    let keyed = |table: &str, step: &str| with(&format!("CREATE TABLE t1({table}); {step}"));
    let update = "UPDATE OR IGNORE t1 SET c0 = bound(1)";
    for table in [
        "c0 INT UNIQUE",
        "c0 INT, UNIQUE (c0)",
        // Through what is computed of it.
        "c0 INT, c1 INT UNIQUE, c2 INT GENERATED ALWAYS AS (c0)",
    ] {
        skipped(&keyed(table, update), "update of a key");
    }
    assert_passes(check(&keyed("c0 INT, c1 INT UNIQUE", update)));
    skipped(&keyed("c0 INT", &format!("CREATE UNIQUE INDEX i0 ON t1(c0); {update}")), "update of a key");
    let rows = "INSERT OR REPLACE INTO t1 SELECT c0 FROM t0";
    skipped(&keyed("c0 INT UNIQUE", rows), "INSERT … SELECT into a table with a key");
    assert_passes(check(&keyed("c0 INT", rows)));
}

/// Once the largest number is used up, SQLite draws any for a key that is the row's number. Which of two keys that
/// is does not matter.
#[test]
fn rule_5_5_a_row_number_that_the_engine_draws_is_skipped() {
    let keyed = |insert: &str| {
        with(&format!(
            "CREATE TABLE t1(c0 INTEGER UNIQUE, c1 INTEGER, PRIMARY KEY (c1)); INSERT INTO t1{insert}"
        ))
    };
    let reason = "rowid chosen by the engine";
    skipped(&keyed("(c0, c1) VALUES (1, NULL)"), reason);
    skipped(&keyed("(c0) VALUES (1)"), reason);
    skipped(&keyed("(c0, c1) VALUES (1, bound(5)), (2, 3 + 3)"), reason);
    assert_passes(check(&keyed("(c0, c1) VALUES (1, 5)")));
}

#[test]
fn rule_5_6_the_gate_looks_at_queries_and_at_changes_before_them() {
    for (step, reason) in [
        ("SELECT c0 FROM t0 LIMIT 2", "LIMIT without a total order"),
        ("INSERT INTO t0(c0) VALUES (random()); SELECT c0 FROM t0", "volatile function"),
        ("INSERT INTO t0(c0) VALUES (random())", "volatile function"),
        ("SELECT SUM(c0 * 0.5) FROM t0 GROUP BY c0", "sum whose rounding depends on row order"),
        (
            "CREATE TABLE t1(c0); INSERT INTO t1 VALUES (1), (2); SELECT DISTINCT c0 FROM t1",
            "equal values that are not identical",
        ),
    ] {
        skipped(&with(step), reason);
    }
    // Whatever its value is, an aggregate over all rows is one row.
    let sum = assert_reported(lossy(), &with("SELECT SUM(c0 * 0.5) FROM t0"));
    assert_eq!(sum.class, Class::WrongRows);
}

#[test]
fn rule_0_7_floats_that_differ_by_rounding_are_not_compared() {
    let differing_by = |factor: f64| {
        prepared(move |_, mut reply| {
            if let Reply::Rows(rows) = &mut reply {
                rows.values = vec![Value::Real(0.5 * factor)];
            }
            reply
        })
    };
    let case = with("SELECT AVG(0.5) FROM t0");
    assert_skipped(differing_by(1.0 + 1e-12).check(&case), "floats differ only by rounding");
    let case = with("SELECT 0.5");
    assert_eq!(evidence(differing_by(1.0 + 1e-6).check(&case)).class, Class::WrongValues);
}

/// Where a parameter has no cast, what is computed of it may be of another type.
#[test]
fn rule_5_6_a_type_may_follow_from_a_parameters_place() {
    let Some(mariadb) = Fixture::open("mariadb") else { return };
    let mut fixture = mariadb.with_bug(|sql, mut reply| {
        if let (true, Reply::Rows(rows)) = (sql.starts_with("/* prepared"), &mut reply) {
            rows.values = vec![Value::Decimal("5".into())];
        }
        reply
    });
    assert_skipped(fixture.check(&steps("SELECT bound(5)")), "parameter type inferred from its context");
    // In SQL every parameter is cast.
    let steps = fixture.sql("SELECT CAST(bound(5) AS SIGNED)");
    assert_passes(fixture.check(&in_sql(of(steps))));
}

/// A change of rows that only one arm makes leaves nothing to compare; a query that only one arm answers is left out.
#[test]
fn rule_5_6_an_error_of_one_arm_that_says_nothing_ends_the_case_if_it_was_a_change() {
    let failing = |class, message: &'static str| {
        prepared(move |sql, reply| match sql.contains("INSERT INTO t9") || sql.contains("SELECT 9") {
            true => failed(class, message),
            false => reply,
        })
    };
    let change = |value: &str| with(&format!("CREATE TABLE t9(c0); INSERT INTO t9(c0) VALUES ({value})"));
    let limit = || failing(ErrorClass::Limit, "too much");
    assert_skipped(limit().check(&change("bound(1)")), "one arm exceeds a limit");
    assert_passes(limit().check(&with("SELECT 9")));
    let overflow = || failing(ErrorClass::Runtime, "malformed JSON");
    let spared = change("CASE WHEN 0 THEN json('{') ELSE bound(1) END");
    assert_skipped(overflow().check(&spared), "one arm avoids the error");
    assert_eq!(evidence(overflow().check(&change("bound(1)"))).class, Class::ErrorDivergence);
}

#[test]
fn rule_5_6_a_parameter_may_be_refused_where_a_literal_is_not() {
    let Some(postgres) = Fixture::open("postgres") else { return };
    let mut fixture =
        postgres.with_bug(|sql, reply| match sql.starts_with("/* prepared") && sql.contains("INSERT") {
            true => failed(ErrorClass::Semantic, "column \"c0\" must appear in the GROUP BY clause"),
            false => reply,
        });
    let case = steps("CREATE TABLE t0(c0 INTEGER); INSERT INTO t0(c0) VALUES (CAST(bound(1) AS INTEGER))");
    assert_skipped(fixture.check(&case), "parameter rejected where a literal is accepted");
}

// Values that change, changes of rows, and both roads.

#[test]
fn what_stays_open_is_run_again_across_definitions() {
    let matching = |value: i64| format!("SELECT c0 FROM t0 WHERE c0 >= bound({value})");
    let case = with(&format!(
        "{}; CREATE INDEX i0 ON t0(c0); {}; ANALYZE; {}",
        matching(1),
        matching(2),
        matching(3)
    ));
    Fixture::sqlite().session(|session| {
        let verdict = oracle::by_name("epsc").unwrap().check(&case.subject, session).unwrap();
        assert_eq!(verdict, Verdict::Pass { nonempty: true });
        // The two INSERTs are one statement, too.
        assert_eq!(session.counts.notes["epsc: statements run again"], 3);
    });
}

/// An UPDATE that does nothing when it is prepared shows in the table.
#[test]
fn a_change_that_differs_is_seen_in_the_rows_that_are_left() {
    let forgetful = Fixture::rewriting(|sql| sql.replace("SET c0 = ?1", "SET c0 = ?1 WHERE 0"));
    let found = assert_reported(forgetful, &with("UPDATE t0 SET c0 = bound(7)"));
    assert_eq!(found.class, Class::WrongValues);
    assert!(found.arms[0].sql.ends_with("SELECT * FROM t0"), "{}", found.arms[0].sql);
}

/// The same steps by both roads, on every engine: what can be prepared is, and nothing differs.
#[test]
fn every_engine_agrees_with_itself_on_both_roads() {
    for target in ["sqlite", "duckdb", "postgres", "mysql", "mariadb", "clickhouse"] {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        let has_prepare = fixture.dialect.preparing.sql.is_some();
        for by_sql in [false, true].into_iter().filter(|by_sql| !by_sql || has_prepare) {
            let case = of(changes_and_questions(&fixture, by_sql));
            let case = if by_sql { in_sql(case) } else { case };
            assert_eq!(fixture.check(&case), Verdict::Pass { nonempty: true }, "{target}, in SQL: {by_sql}");
        }
    }
}

/// A table of the dialect's types, and parameters of the types that it takes.
fn changes_and_questions(fixture: &Fixture, by_sql: bool) -> Vec<Statement> {
    let dialect = &fixture.dialect;
    let types = dialect.preparing.types(by_sql);
    let mut steps = sql(
        "CREATE TABLE t0(c0 INT, c1 TEXT); INSERT INTO t0(c0, c1) VALUES (bound(1), bound('a'));
         INSERT INTO t0(c0, c1) VALUES (bound(2), bound('b')); INSERT INTO t0(c0, c1) VALUES (bound(3), bound(''));
         SELECT c0 FROM t0 WHERE c0 > bound(0); SELECT c0 FROM t0 WHERE c0 > bound(1);
         UPDATE t0 SET c1 = bound('c') WHERE c0 > bound(1); DELETE FROM t0 WHERE c0 > bound(2);
         SELECT c0 FROM t0 WHERE c0 > bound(-1)",
    );
    if let Statement::CreateTable(create) = &mut steps[0] {
        for column in &mut create.columns {
            let fits = |entry: &&TypeEntry| entry.weight > 5 && entry.ty.kind == column.ty.kind;
            column.ty = dialect.types.iter().find(fits).expect("a type for it").ty.clone();
        }
        let option = dialect.table_options.first().filter(|_| dialect.can(Feature::TableOptionNeeded));
        create.options.extend(option.map(|option| option.name.clone()));
    }
    // Texts that are hard to spell, and the casts that parameters need.
    struct Typed<'a>(&'a dyn Fn(Value) -> Expr);
    impl visit::Editor for Typed<'_> {
        fn expr(&mut self, expr: &mut Expr) {
            match expr {
                Expr::Bound(value) => *expr = (self.0)(value.clone()),
                other => visit::edit_expr(self, other),
            }
        }
    }
    let typed = |value: Value| {
        let value = match value {
            Value::Text(text) if text == "b" => Value::Text("it's \\n".to_string()),
            Value::Text(text) if text == "c" => Value::Text("it's \\ \" \u{e9}".to_string()),
            other => other,
        };
        let ty = types.iter().find(|ty| ty.holds(&value)).expect("a type for it").data_type();
        match ty.name.is_empty() {
            true => Expr::Bound(value),
            false => Expr::Cast { expr: Box::new(Expr::Bound(value)), ty },
        }
    };
    steps.iter_mut().for_each(|step| visit::Editor::statement(&mut Typed(&typed), step));
    steps
}

// Error validation.

/// PostgreSQL, where a prepared statement comes back with an error of its own making.
#[test]
fn rule_5_7_an_error_that_no_expression_raises_is_a_finding_with_both_answers() {
    let Some(postgres) = Fixture::open("postgres") else { return };
    let mut fixture =
        postgres.with_bug(|sql, reply| match sql.starts_with("/* prepared") && sql.contains("SELECT") {
            true => failed(ErrorClass::Runtime, "division by zero"),
            false => reply,
        });
    let mut verdict = |filter: &str| {
        fixture.check(&steps(&format!(
            "CREATE TABLE t0(c0 INTEGER); INSERT INTO t0(c0) VALUES (CAST(bound(0) AS INTEGER));
             SELECT c0 FROM t0 WHERE {filter}"
        )))
    };
    let harmless = "c0 >= CAST(bound(0) AS INTEGER)";
    let found = evidence(verdict(harmless));
    assert_eq!(found.class, Class::ErrorDivergence);
    assert!(report::failure(&found).contains("division by zero"), "{}", report::failure(&found));
    assert_eq!(number_of_rows(&found.arms[0]), Some(1));
    assert_eq!(message(&found), "division by zero");
    // Somewhere in it something divides by zero: then the other arm may have been spared.
    assert_passes(verdict(&format!("{harmless} OR 1 / c0 > CAST(bound(0) AS INTEGER)")));
}

// What was found.

/// With the sessions that hunts have; `bugs/found/mariadb/second-execution-mixes-groups.sql` sets the mode itself.
#[test]
fn the_second_execution_of_a_prepared_statement_fails_on_mariadb() {
    let Some(mut mariadb) = Fixture::open("mariadb@11.8") else { return };
    mariadb.engine.reset().unwrap();
    let mut replies = Vec::new();
    for sql in [
        "CREATE TABLE t0(c0 INT)",
        "CREATE VIEW v0 AS SELECT c0 AS c1 FROM t0",
        "CREATE VIEW v1 AS SELECT 0",
        "PREPARE p FROM 'SELECT 0 FROM (SELECT 0 AS c0 FROM v1 WHERE 0) AS a0 LEFT JOIN v0 ON ?
                WHERE (SELECT SUM(c1) FROM v0 AS a1 WHERE c1)'",
        "SET @a = 0",
        "EXECUTE p USING @a",
        "EXECUTE p USING @a",
    ] {
        replies.push(mariadb.engine.execute(sql).unwrap());
    }
    let failed: Vec<bool> = replies.iter().map(|reply| matches!(reply, Reply::Failed(_))).collect();
    assert_eq!(failed, [false, false, false, false, false, false, true], "{replies:?}");
}
