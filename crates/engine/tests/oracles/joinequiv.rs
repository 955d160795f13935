//! JoinEquiv: the algebra holds where it says so, and is not used where it does not.

use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Limits, Prepared, Reply, SqlError, Trouble};
use dissent_core::finding::{Class, Verdict};
use dissent_core::sql::{DataType, Value};
use dissent_core::subject::{Subject, TestCase};
use dissent_core::{oracle, report};

use super::common::{
    Counting, Fixture, assert_passes, assert_skipped, cases, check, evidence, over, query, rows,
    without_last_row,
};

/// The proof as a property: random tables with NULLs, any ON and WHERE, a tag column.
#[track_caller]
fn assert_the_algebra_holds(fixture: &mut Fixture, cases: u64) {
    let (watcher, counts) =
        fixture.walk(oracle::select("joinequiv"), 4, Counting::cases(cases).until_found());
    let shown: Vec<_> = watcher
        .findings
        .iter()
        .map(|(_, evidence)| (&evidence.arms[0].sql, report::failure(evidence)))
        .collect();
    assert!(watcher.findings.is_empty(), "{shown:#?}");
    assert!(watcher.passes >= cases * 3 / 5, "{} passes, {} skips", watcher.passes, watcher.skips);
    // Joins that test something.
    let notes = counts.notes;
    let count = |note: &str| notes.get(note).copied().unwrap_or(0);
    let both = count("joinequiv: matched rows and both padded sides");
    let one = count("joinequiv: matched rows and one padded side");
    let all: u64 = notes.values().sum();
    println!("{}: {} subjects agree; {notes:?}", fixture.dialect.name, watcher.passes);
    assert!((both + one) * 100 >= all * 40, "{notes:?}");
    assert!(both * 100 >= all * 15, "{notes:?}");
}

#[test]
fn an_inner_join_is_what_its_outer_joins_have_in_common() {
    assert_the_algebra_holds(&mut Fixture::sqlite(), cases(150_000));
}

/// `DISSENT_CASES=120000` for the full count: a hundred thousand take half an hour.
#[test]
fn an_inner_join_of_duckdb_is_what_its_outer_joins_have_in_common() {
    let Some(Fixture { engine, dialect }) = Fixture::open("duckdb") else { return };
    // It has a bug of its own (see below); without the optimizer that has it, the algebra holds.
    let engine = Box::new(Configured { engine, setting: "SET disabled_optimizers = 'common_subplan'" });
    assert_the_algebra_holds(&mut Fixture { engine, dialect }, cases(3_000));
}

/// An engine with a setting that survives its resets, and whatever a walk sets it to.
struct Configured {
    engine: Box<dyn Engine>,
    setting: &'static str,
}

impl Engine for Configured {
    fn version(&self) -> &str {
        self.engine.version()
    }
    fn reset(&mut self) -> Result<(), Trouble> {
        self.engine.reset()?;
        let reply = self.engine.execute(self.setting)?;
        assert!(!matches!(reply, Reply::Failed(_)), "{reply:?}");
        Ok(())
    }
    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        let name = self.setting.split('=').next().unwrap_or_default();
        self.engine.execute(if sql.starts_with(name.trim_end()) { self.setting } else { sql })
    }
    fn set_limits(&mut self, limits: Limits) {
        self.engine.set_limits(limits);
    }
    fn prepare(&mut self, sql: &str, types: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        self.engine.prepare(sql, types)
    }
    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        self.engine.execute_prepared(statement, values)
    }
    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        self.engine.close_prepared(statement)
    }
}

#[track_caller]
fn joined(setup: &str, form: &str, rule: &str, select: &str) -> TestCase {
    let subject = Subject::new("joinequiv", query(select));
    over(setup, subject.with_choice("form", form).with_choice("rule", rule))
}

/// Since 1.5 DuckDB takes a left and a right join of one table with itself for the same subplan, and
/// computes the first of them only: found by this oracle.
#[test]
fn duckdb_takes_a_left_and_a_right_join_for_one() {
    let setup = "CREATE TABLE t0(c0 INT, c1 INT NOT NULL, c2 INT); INSERT INTO t0 VALUES (0, 0, NULL)";
    let case = joined(setup, "all", "sjt", "SELECT a0.c0, t0.c1 FROM t0 JOIN t0 AS a0 ON t0.c2 = a0.c2");
    if let Some(mut sound) = Fixture::open("duckdb@1.4.0") {
        assert_passes(sound.check(&case));
    }
    if let Some(mut wrong) = Fixture::open("duckdb@1.5.6") {
        let found = evidence(wrong.check(&case));
        let explanation = found.explanation.clone().unwrap_or_default();
        assert!(explanation.contains("the set operators are wrong"), "{found:#?}");
    }
}

#[track_caller]
fn assert_found(part: &str, loses: impl Fn(&str) -> bool + 'static) {
    let mut lossy = Fixture::tampered(move |sql, reply| match sql.starts_with("SELECT") && loses(sql) {
        true => without_last_row(reply),
        false => reply,
    });
    let (watcher, _) = lossy.walk(oracle::select("joinequiv"), 4, Counting::cases(20_000).until_found());
    let (_, evidence) = watcher.findings.first().expect("the planted bug is found");
    assert!(evidence.explanation.as_deref().is_some_and(|told| told.contains(part)), "{evidence:?}");
}

#[test]
fn a_planted_bug_is_found_and_localised() {
    let is_set = |sql: &str| sql.contains(" INTERSECT ") || sql.contains(" EXCEPT ");
    let is_outer =
        |sql: &str| sql.contains(" LEFT JOIN ") || sql.contains(" RIGHT JOIN ") || sql.contains("FULL");
    assert_found("the inner join is wrong", move |sql| !is_outer(sql) && !is_set(sql));
    assert_found("the left outer join is wrong", move |sql| sql.contains(" LEFT JOIN ") && !is_set(sql));
    assert_found("the set operators are wrong", is_set);
}

/// Two tables whose rows match nowhere, and which both have a NULL.
const NULLS: &str = "CREATE TABLE t0(c0 INT); CREATE TABLE t1(c0 INT, c1 INT NOT NULL);
    INSERT INTO t0 VALUES (NULL); INSERT INTO t1 VALUES (NULL, 1)";

/// Two tables with rows that match, and a NULL.
const MATCHED: &str = "CREATE TABLE t0(c0 INT); CREATE TABLE t1(c0 INT, c1 INT NOT NULL);
    INSERT INTO t0 VALUES (1), (2), (NULL); INSERT INTO t1 VALUES (1, 1), (2, 2)";

/// SQLite with a bug: what is no inner join loses a row.
fn lossy() -> Fixture {
    Fixture::tampered(|sql, reply| match sql.contains("LEFT JOIN") || sql.contains("RIGHT JOIN") {
        true => without_last_row(reply),
        false => reply,
    })
}

/// {NULL} against {NULL}: the classic false alarm.
#[test]
fn rule_3_2_without_a_tag_the_counter_example_is_skipped() {
    for (form, rule) in [("judge", "sjt"), ("judge", "adt"), ("distinct", "sjt"), ("distinct", "sdt")] {
        let asked = |items: &str| {
            let distinct = if form == "distinct" { "DISTINCT " } else { "" };
            let select = format!("SELECT {distinct}{items} FROM t0 JOIN t1 ON t0.c0 = t1.c0");
            check(&joined(NULLS, form, rule, &select))
        };
        assert_skipped(asked("t0.c0, t1.c0"), "no NOT NULL base column in the select list");
        assert_passes(asked("t0.c0, t1.c0, t1.c1"));
    }
}

/// A column that is never NULL is no tag if it comes through a view, a common table or a longer join.
#[test]
fn rule_3_2_a_tag_is_a_column_of_an_operand_itself() {
    let setup = format!("{MATCHED}; CREATE VIEW v1 AS SELECT c0, c1 FROM t1");
    for (select, tagged) in [
        ("SELECT t0.c0, a1.c1 FROM t0 JOIN t1 AS a1 ON t0.c0 = a1.c0", true),
        ("SELECT t0.c0, a1.c1 FROM t1 AS a1 JOIN t0 ON t0.c0 = a1.c0", true),
        ("SELECT t0.c0, v1.c1 FROM t0 JOIN v1 ON t0.c0 = v1.c0", false),
        ("WITH d1 AS (SELECT c0, c1 FROM t1) SELECT t0.c0, d1.c1 FROM t0 JOIN d1 ON t0.c0 = d1.c0", false),
        (
            "SELECT a1.c1, a0.c0 FROM t0 LEFT JOIN t1 AS a1 ON t0.c0 = a1.c0 JOIN t0 AS a0 ON a0.c0 = a1.c0",
            false,
        ),
    ] {
        let verdict = lossy().check(&joined(&setup, "judge", "sjt", select));
        match tagged {
            true => assert_eq!(evidence(verdict).class, Class::WrongRows, "{select}"),
            false => assert_skipped(verdict, "no NOT NULL base column in the select list"),
        }
    }
}

const NOT_A_JOIN: &str = "not a single inner join of plain columns";

#[test]
fn rule_3_3_only_one_inner_join_of_plain_columns_is_compared() {
    let join = "FROM t0 JOIN t1 ON t0.c0 = t1.c0";
    for select in [
        "SELECT t0.c0, t1.c1 FROM t0 LEFT JOIN t1 ON t0.c0 = t1.c0".to_string(),
        "SELECT t0.c0, t1.c1 FROM t0, t1 WHERE t0.c0 = t1.c0".to_string(),
        "SELECT t1.c1 FROM t1".to_string(),
        format!("SELECT t0.c0, t1.c1, 1 {join}"),
        format!("SELECT * {join}"),
        format!("SELECT t1.c1 {join} GROUP BY t1.c1"),
        format!("SELECT t1.c1 {join} HAVING t1.c1 > 0"),
        format!("SELECT t1.c1 {join} ORDER BY t1.c1"),
        format!("SELECT t1.c1 {join} LIMIT 1"),
        format!("SELECT t1.c1 {join} UNION ALL SELECT t1.c1 {join}"),
    ] {
        assert_skipped(lossy().check(&joined(MATCHED, "judge", "sjt", &select)), NOT_A_JOIN);
    }
    let filtered = format!("SELECT t0.c0, t1.c1 {join} WHERE t1.c1 > 0");
    assert_eq!(evidence(lossy().check(&joined(MATCHED, "judge", "sjt", &filtered))).class, Class::WrongRows);
}

#[test]
fn rule_3_4_rules_and_forms_are_for_bags_or_for_sets() {
    let reason = "rule that does not hold for bags";
    for (form, rule, distinct) in [
        ("judge", "sdt", ""),
        ("all", "sdt", ""),
        ("judge", "sjt", "DISTINCT"),
        ("distinct", "sjt", ""),
        ("judge", "no-such-rule", ""),
        ("no-such-form", "sjt", ""),
    ] {
        let select = format!("SELECT {distinct} t0.c0, t1.c1 FROM t0 JOIN t1 ON t0.c0 = t1.c0");
        assert_skipped(lossy().check(&joined(MATCHED, form, rule, &select)), reason);
    }
}

/// `c0` is the left table's in one outer join and the right table's in the other.
#[test]
fn rule_3_5_columns_that_using_merges_are_qualified() {
    let using =
        |items: &str| joined(NULLS, "judge", "sjt", &format!("SELECT {items} FROM t0 JOIN t1 USING (c0)"));
    assert_passes(check(&using("t0.c0, t1.c0, t1.c1")));
    assert_skipped(check(&using("c0, t1.c0, t1.c1")), NOT_A_JOIN);
    let natural = "SELECT t0.c0, t1.c1 FROM t0 NATURAL JOIN t1 WHERE c0 > 0";
    assert_skipped(check(&joined(NULLS, "judge", "sjt", natural)), NOT_A_JOIN);
    // Exchanging the operands exchanges the sides of `a.c0 = b.c0`, and with them its collation.
    let dialect = Dialect::load("sqlite", "3.38.0").expect("its dialect reads");
    let mut without_right_joins = Fixture { dialect, ..Fixture::sqlite() };
    assert_skipped(without_right_joins.check(&using("t0.c0, t1.c0, t1.c1")), NOT_A_JOIN);
}

/// Where the engine does the algebra, a set operator may return any of several equal values.
#[test]
fn rule_3_6_what_set_operators_compare_has_one_representative() {
    let Some(duckdb) = Fixture::open("duckdb") else { return };
    let mut lossy = duckdb.with_bug(|sql, reply| match sql.contains("LEFT JOIN") {
        true => without_last_row(reply),
        false => reply,
    });
    for (form, distinct) in [("judge", ""), ("all", ""), ("distinct", "DISTINCT")] {
        let mut verdict = |ty: &str| {
            let setup = format!(
                "CREATE TABLE t0(c0 {ty}); CREATE TABLE t1(c0 {ty}, c1 INTEGER NOT NULL);
                 INSERT INTO t0 VALUES ('a'), ('b'); INSERT INTO t1 VALUES ('a', 1), ('b', 2)"
            );
            let select = format!("SELECT {distinct} t0.c0, t1.c1 FROM t0 JOIN t1 ON t0.c0 = t1.c0");
            lossy.check(&joined(&setup, form, "sjt", &select))
        };
        assert_eq!(evidence(verdict("VARCHAR")).class, Class::WrongRows, "{form}");
        match form {
            "judge" => assert_eq!(evidence(verdict("VARCHAR COLLATE NOCASE")).class, Class::WrongRows),
            _ => assert_skipped(verdict("VARCHAR COLLATE NOCASE"), "equal values that are not identical"),
        }
    }
}

/// The paper's listings 3, 5 and 7 as their text describes them, and the answer each must have.
fn listings() -> Vec<(&'static str, TestCase, Vec<Vec<Value>>)> {
    let ints = "CREATE TABLE t0(c0 INT NOT NULL); CREATE TABLE t1(c0 INT NOT NULL);
        INSERT INTO t0 VALUES (0); INSERT INTO t1 VALUES (1)";
    let texts = "CREATE TABLE t0(c0 CHAR(4) NOT NULL); CREATE TABLE t1(c0 VARCHAR(5) NOT NULL);
        INSERT INTO t0 VALUES ('7'); INSERT INTO t1 VALUES ('-')";
    let text = |value: &str| Value::Text(value.to_string());
    let null_as_zero = "SELECT DISTINCT t0.c0 FROM t1 NATURAL JOIN t0";
    // A decimal by its last digit: 0.1 alone would be a float.
    let rounded_bound = "SELECT DISTINCT t0.c0, t1.c0 FROM t0 JOIN t1 ON t0.c0 < -0.10";
    let padded_text = "SELECT DISTINCT t0.c0, t1.c0 FROM t0 JOIN t1 ON t0.c0 IS NOT NULL";
    let case = |setup, rule, select| joined(setup, "distinct", rule, select);
    vec![
        ("listing 3: NULL taken for 0 by INTERSECT", case(ints, "sjt", null_as_zero), vec![]),
        ("listing 5: < -0.1 taken for <= 0", case(ints, "adt", rounded_bound), vec![]),
        (
            "listing 7: text padded by UNION",
            case(texts, "sdt", padded_text),
            vec![vec![text("7"), text("-")]],
        ),
    ]
}

/// What the paper saw on MySQL, Percona and TiDB, asked of the members of that family that are here.
#[test]
fn the_papers_listings_have_the_right_answer_on_mysql_and_mariadb() {
    for target in ["mysql", "mariadb"] {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        for (name, case, expected) in listings() {
            let verdict = fixture.check(&case);
            assert!(matches!(verdict, Verdict::Pass { .. }), "{target}, {name}: {verdict:#?}");
            let query = case.subject.query().expect("one query");
            let answer = fixture.session(|session| rows(session.query(query).expect("the engine answers")));
            let answer: Vec<Vec<Value>> = answer.expect(name).iter().map(<[Value]>::to_vec).collect();
            assert_eq!(answer, expected, "{target}, {name}");
        }
    }
}
