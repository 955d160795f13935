//! ValScope: every rule is held against real engines, and stops where it must.

use dissent_core::database::Database;
use dissent_core::dialect::Dialect;
use dissent_core::engine::Reply;
use dissent_core::finding::{Class, Verdict};
use dissent_core::oracle::valscope::derive;
use dissent_core::oracle::valscope::relation::{Change, Direction, Nulls, Span};
use dissent_core::oracle::valscope::rules::{Rule, Stopped};
use dissent_core::render::{Parens, query_to_sql};
use dissent_core::sql::{Expr, Grouping, Select, TableRef, Value};
use dissent_core::subject::{Subject, TestCase};
use dissent_core::{oracle, report};

use super::common::{
    Counting, Fixture, SQLITE, assert_passes, assert_skipped, check, evidence, over, query, without_last_row,
};

/// How many subjects a property is tried on; all of them with `DISSENT_FULL_PROPERTIES=1`.
fn subjects(few: u64, all: u64) -> u64 {
    if std::env::var("DISSENT_FULL_PROPERTIES").as_deref() == Ok("1") { all } else { few }
}

/// The rules as a property: the predicted relation holds on a correct engine, and every rule is used.
fn every_rule_holds(target: &str, checks: u64) {
    let Some(mut fixture) = Fixture::open(target) else { return };
    let (watcher, counts) =
        fixture.walk(oracle::select("valscope"), 7, Counting::passes(checks).until_found());
    if let Some((case, evidence)) = watcher.findings.first() {
        let json = serde_json::to_string(case).unwrap_or_default();
        panic!("{target}: {evidence:#?}\n{:?}\n{json}", case.subject.choices);
    }
    println!(
        "{target}: {} passes ({} not empty), {} skips, {} unstable",
        watcher.passes,
        watcher.nonempty,
        watcher.skips,
        watcher.unstable.len()
    );
    println!("{:#?}", watcher.reasons);
    counts.notes.iter().for_each(|(note, count)| println!("{count:8}  {note}"));
    assert!(watcher.nonempty * 2 > watcher.passes, "too many subjects without a row");
    let count = |rule: &Rule| counts.notes.get(rule.note()).copied().unwrap_or(0);
    let least = if checks < 10_000 { 1 } else { 100 };
    let seldom: Vec<_> =
        Rule::ALL.iter().filter(|r| r.is_for(&fixture.dialect) && count(r) < least).collect();
    assert!(seldom.is_empty(), "used less than {least} times: {seldom:?}");
}

#[test]
fn every_rule_holds_on_sqlite() {
    every_rule_holds("sqlite", subjects(20_000, 100_000));
}

#[test]
fn every_rule_holds_on_duckdb() {
    every_rule_holds("duckdb", subjects(1_500, 10_000));
}

#[test]
fn every_rule_holds_on_postgres() {
    every_rule_holds("postgres", subjects(4_000, 10_000));
}

// Planted bugs.

/// Which of two plans a statement gets: decided by its text, as the chance of a plan is. A bug on every plan
/// that is monotone itself is no contradiction, so most are planted on one.
fn is_on_the_bad_plan(sql: &str) -> bool {
    sql.bytes().fold(7u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte))) % 2 == 1
}

#[track_caller]
fn assert_found(what: &str, mut with_bug: Fixture) {
    let (watcher, _) = with_bug.walk(oracle::select("valscope"), 3, Counting::passes(20_000).until_found());
    assert!(!watcher.findings.is_empty(), "{what}: not found in {} checks", watcher.passes);
    let told = report::failure(&watcher.findings[0].1);
    println!("{what}: found after {} checks: {told}", watcher.passes);
}

/// The parts of a statement's SELECT list, and its only GROUP BY, outside all parentheses.
fn outline(sql: &str) -> (Vec<String>, Option<String>) {
    let mut depth = 0;
    let mut flat = String::new();
    for letter in sql.chars() {
        depth -= i32::from(letter == ')');
        flat.push(if depth == 0 { letter } else { '\u{1}' });
        depth += i32::from(letter == '(');
    }
    let Some(list) = flat.strip_prefix("SELECT ").and_then(|rest| rest.split(" FROM ").next()) else {
        return (Vec::new(), None);
    };
    let items = list.split(", ").map(str::to_string).collect();
    let keys =
        flat.split(" GROUP BY ").nth(1).map(|rest| rest.split(" HAVING ").next().unwrap_or("").to_string());
    (items, keys)
}

fn keep_rows(reply: Reply, keep: impl Fn(&[Value]) -> bool) -> Reply {
    match reply {
        Reply::Rows(mut rows) => {
            rows.values = rows.iter().filter(|row| keep(row)).flatten().cloned().collect();
            Reply::Rows(rows)
        }
        other => other,
    }
}

#[test]
fn a_dropped_row_of_a_left_join_is_found() {
    let drop_last = |sql: &str, reply| match sql.contains(" LEFT JOIN ") {
        true => without_last_row(reply),
        false => reply,
    };
    assert_found("a dropped row of a LEFT JOIN", Fixture::tampered(drop_last));
}

#[test]
fn an_ignored_having_is_found() {
    let ignore = |sql: &str| match is_on_the_bad_plan(sql) {
        true => sql.replace(" HAVING ", " HAVING 1 OR "),
        false => sql.to_string(),
    };
    assert_found("an ignored HAVING", Fixture::rewriting(ignore));
}

#[test]
fn max_for_min_is_found() {
    assert_found("MAX for MIN", Fixture::rewriting(|sql| sql.replace("MIN(", "MAX(")));
}

#[test]
fn union_all_for_union_is_found() {
    let keep_all = |sql: &str| match is_on_the_bad_plan(sql) {
        true => sql.replace(" UNION SELECT ", " UNION ALL SELECT "),
        false => sql.to_string(),
    };
    assert_found("UNION ALL for UNION", Fixture::rewriting(keep_all));
}

#[test]
fn a_lost_null_group_is_found() {
    let lose = |sql: &str, reply: Reply| {
        let (items, keys) = outline(sql);
        let grouped =
            keys.is_some_and(|keys| items.first().is_some_and(|first| keys.starts_with(first.as_str())));
        let bad = grouped && is_on_the_bad_plan(sql);
        keep_rows(reply, |row| !bad || row.first() != Some(&Value::Null))
    };
    assert_found("a lost NULL group", Fixture::tampered(lose));
}

#[test]
fn a_rounded_sum_is_found() {
    let round = |sql: &str, mut reply: Reply| {
        let (items, _) = outline(sql);
        if let Reply::Rows(rows) = &mut reply
            && rows.columns == items.len()
            && is_on_the_bad_plan(sql)
        {
            for (at, value) in rows.values.iter_mut().enumerate() {
                if let (Value::Int(int), true) = (value, items[at % items.len()].starts_with("SUM(")) {
                    *int = *int / 10 * 10;
                }
            }
        }
        reply
    };
    assert_found("a rounded SUM", Fixture::tampered(round));
}

// Subjects by hand: whole numbers, some of them negative in c1 and a large one in c4, a text that folds and one that
// does not.

const SETUP: &str = "CREATE TABLE t1(c1 INT, c2 INT, c3 TEXT COLLATE NOCASE, c4 INT, c5 TEXT);
    INSERT INTO t1 VALUES (-5, 1, 'a', 9223372036854775807, 'p'), (150, 120, 'A', 0, 'q'), (7, NULL, 'b', 2, 'r')";

/// A query and what is mutated in it, by mutator and site; several are divided by commas.
#[track_caller]
fn mutating(select: &str, mutations: &str) -> TestCase {
    let mut subject = Subject::new("valscope", query(select));
    for (at, mutation) in mutations.split(", ").enumerate() {
        subject = subject.with_choice(&format!("mutation-{}", at + 1), mutation);
    }
    over(SETUP, subject)
}

fn derived(case: &TestCase, dialect: &Dialect) -> Result<(Span, Change, String), &'static str> {
    let database = Database::of(&case.setup, dialect);
    let derived = derive(&case.subject, database.state(), dialect).map_err(|Stopped(reason)| reason)?;
    let mutated = query_to_sql(&derived.mutated, dialect, Parens::Needed);
    Ok((derived.relation.span, derived.relation.columns[0].change, mutated))
}

/// The relation that a subject's mutation is predicted to have, and has: its rows, and its first column.
#[track_caller]
fn predicted(select: &str, mutation: &str) -> (Span, Change) {
    let case = mutating(select, mutation);
    assert_passes(check(&case));
    let (span, change, _) = derived(&case, &SQLITE).unwrap_or_else(|reason| panic!("refused: {reason}"));
    (span, change)
}

#[track_caller]
fn assert_refused(select: &str, mutation: &str, reason: &str) {
    assert_skipped(check(&mutating(select, mutation)), reason);
}

const OVER_MAX: &str = "FROM (SELECT MAX(t1.c1) AS x FROM t1) AS d WHERE d.x > 100";

#[test]
fn example_3_3_a_wider_filter_does_not_lower_the_maximum() {
    // Sites: MAX(c1), c1, c2, and the constant.
    let grown = Change::toward(Direction::Up).or_null(Nulls::Original);
    let select = "SELECT MAX(t1.c1) FROM t1 WHERE t1.c2 < 100";
    assert_eq!(predicted(select, "add-constant 3"), (Span::Bijective, grown));
}

#[test]
fn example_3_4_a_minimum_passes_the_filter_less_often_than_a_maximum() {
    let smaller = (Span::Shrinks, Change::toward(Direction::Down));
    assert_eq!(predicted(&format!("SELECT d.x {OVER_MAX}"), "max-to-min 0"), smaller);
}

/// The paper multiplies the signs to the opposite.
#[test]
fn figure_3_counts_no_more_with_the_minimum() {
    let smaller = (Span::Bijective, Change::toward(Direction::Down));
    assert_eq!(predicted(&format!("SELECT COUNT(*) {OVER_MAX}"), "max-to-min 0"), smaller);
}

/// What the engine answers is held against the prediction.
#[test]
fn a_broken_prediction_is_reported_unless_it_is_rounding() {
    // The mutation is the query with a condition that is always true.
    let mutated = |change: fn(Reply) -> Reply| {
        Fixture::tampered(move |sql, reply| if sql.contains(" WHERE TRUE") { change(reply) } else { reply })
    };
    let case = mutating("SELECT t1.c2 * 0.5 FROM t1 WHERE t1.c2 < 130", "condition-true 0");
    assert_passes(check(&case));
    let lost = evidence(mutated(|reply| keep_rows(reply, |row| row[0].is_null())).check(&case));
    assert_eq!(lost.class, Class::WrongRows);
    let rounded = |mut reply: Reply| {
        if let Reply::Rows(rows) = &mut reply {
            for value in &mut rows.values {
                if let Value::Real(real) = value {
                    *real *= 1.0 + 1e-12;
                }
            }
        }
        reply
    };
    assert_skipped(mutated(rounded).check(&case), "floats differ only by rounding");
}

#[test]
fn a_sum_of_negative_values_does_not_follow_its_rows() {
    let sum = |column: &str| format!("SELECT SUM(t1.{column}) FROM t1 WHERE t1.c2 < 100");
    assert_refused(&sum("c1"), "condition-true 0", "SUM of values that may be negative");
    let grown = Change::toward(Direction::Up).or_null(Nulls::Original);
    assert_eq!(predicted(&sum("c2"), "condition-true 0"), (Span::Bijective, grown));
}

#[test]
fn the_on_of_an_outer_join_does_not_change() {
    let joined = |kind: &str| format!("SELECT t1.c1 FROM t1 {kind} JOIN t1 AS b ON t1.c1 < b.c2");
    assert_refused(&joined("LEFT"), "condition-true 0", "ON of an outer join");
    assert_refused(&joined("RIGHT"), "condition-true 0", "ON of an outer join");
    assert_refused(&joined("FULL"), "condition-true 0", "FULL JOIN of a changed input");
    assert_eq!(predicted(&joined(""), "condition-true 0").0, Span::Grows);
}

#[test]
fn the_padded_side_of_a_join_does_not_change() {
    let padded = |kind: &str| {
        let part = "(SELECT t1.c1 AS x FROM t1 WHERE t1.c2 < 100) AS d";
        format!("SELECT t1.c1 FROM t1 {kind} JOIN {part} ON t1.c1 > 0")
    };
    assert_refused(&padded("LEFT"), "condition-true 0", "ON of an outer join");
    // The ON comes after what it joins: the WHERE of the derived table is the second site.
    assert_refused(&padded("LEFT"), "condition-true 1", "padded side of an outer join");
    assert_eq!(predicted(&padded("RIGHT"), "condition-true 1").0, Span::Grows);
    assert_refused(&padded("FULL"), "condition-true 1", "FULL JOIN of a changed input");
}

/// A subquery whose inner condition is the second site.
const NULLABLE: &str = "(SELECT MAX(t1.c1) FROM t1 WHERE t1.c2 < 100)";

#[test]
fn not_and_is_false_need_a_strong_predicate() {
    let weak = |condition: &str| {
        let condition = condition.replace('p', &format!("({NULLABLE} > 3)"));
        format!("SELECT t1.c1 FROM t1 WHERE {condition}")
    };
    assert_eq!(predicted(&weak("p"), "condition-true 1").0, Span::Grows);
    assert_refused(&weak("NOT p"), "condition-true 1", "NOT over a weak predicate");
    assert_refused(&weak("p IS FALSE"), "condition-true 1", "IS FALSE over a weak predicate");
    assert_eq!(predicted(&weak("p IS NOT TRUE"), "condition-true 1").0, Span::Shrinks);
    let strong = "SELECT t1.c1 FROM t1 WHERE NOT t1.c2 < 100";
    assert_eq!(predicted(strong, "comparison-wider 0").0, Span::Shrinks);
}

#[test]
fn a_value_that_may_become_null_is_not_compared_the_other_way() {
    let less = format!("SELECT t1.c1 FROM t1 WHERE {NULLABLE} < 3");
    assert_refused(&less, "condition-true 1", "comparison with a value that may be NULL on the larger side");
}

#[test]
fn averages_of_a_changed_set_go_anywhere() {
    let average = |name: &str| format!("SELECT {name}(t1.c1) FROM t1 WHERE t1.c2 < 100");
    assert_refused(&average("AVG"), "condition-true 0", "AVG of a changed set");
    assert_refused(&average("VAR_POP"), "condition-true 0", "variance or other aggregate of a changed set");
    let deviation = "SELECT STDDEV(t1.c1) FROM t1";
    assert_refused(deviation, "stddev-to-var 0", "STDDEV exceeds VAR below 1");
}

#[test]
fn what_is_grouped_or_deduplicated_does_not_change() {
    // Sites: COUNT(*), and the key.
    let grouped = "SELECT COUNT(*) FROM t1 GROUP BY t1.c1";
    assert_refused(grouped, "add-constant 1", "GROUP BY a changed value");
    assert_refused("SELECT DISTINCT t1.c1 FROM t1", "add-constant 0", "DISTINCT over a changed value");
    let set = |op: &str| format!("SELECT t1.c1 FROM t1 {op} SELECT t1.c1 FROM t1");
    let reason = "changed value compared by a set operator";
    for op in ["EXCEPT", "INTERSECT", "UNION"] {
        assert_refused(&set(op), "add-constant 0", reason);
    }
    assert_eq!(predicted(&set("UNION ALL"), "add-constant 0").1, Change::toward(Direction::Up));
}

/// The names of a compound are those of its first branch.
#[test]
fn a_branch_that_is_left_alone_takes_the_names_of_the_first() {
    let compound = "SELECT 0, 1 AS c1 FROM t1 UNION ALL SELECT t1.c1, 1 FROM t1";
    let case = mutating(&format!("SELECT d0.c1 FROM ({compound}) AS d0"), "drop-branch 1");
    let postgres = Dialect::load("postgres", "18").expect("the dialect reads");
    let (_, _, mutated) = derived(&case, &postgres).unwrap_or_else(|reason| panic!("refused: {reason}"));
    assert_eq!(mutated, "SELECT d0.c1 FROM (SELECT t1.c1 AS unnamed0, 1 AS c1 FROM t1) AS d0");
}

/// Where columns have types, a branch alone may be of another type than the compound: also when nothing but
/// the query is left of a subject.
#[test]
fn a_branch_of_another_type_is_not_left_alone() {
    let refusal = |left: &str, right: &str| {
        let mut case = mutating(&format!("SELECT {left} UNION ALL SELECT {right}"), "drop-branch 0");
        case.setup.clear();
        derived(&case, &Dialect::load("mysql", "9.7").expect("the dialect reads")).err()
    };
    let converts = "set operator that converts its branches";
    assert_eq!(refusal("0", "'a'"), Some(converts));
    assert_eq!(refusal("0", "1"), None);
    // Texts may be of several types: CHAR is padded, TEXT is not.
    let postgres = Dialect::load("postgres", "18").expect("the dialect reads");
    let of = |ty: &str| {
        let mut case = mutating("SELECT t1.c1 FROM t1 UNION ALL SELECT t1.c2 FROM t1", "drop-branch 0");
        let create = format!("CREATE TABLE t1(c1 {ty}, c2 TEXT)");
        case.setup = vec![dissent_core::import::statement(&create, 1, &postgres).statement];
        derived(&case, &postgres).err()
    };
    assert_eq!(of("CHAR(5)"), Some(converts));
    assert_eq!(of("TEXT"), None);
}

#[test]
fn what_is_grouped_or_deduplicated_has_one_representative() {
    let grouped = "SELECT t1.c3, COUNT(*) FROM t1 WHERE t1.c2 < 100 GROUP BY t1.c3";
    assert_refused(grouped, "condition-true 0", "GROUP BY equal values that are not identical");
    let distinct = "SELECT DISTINCT t1.c3 FROM t1 WHERE t1.c2 < 100";
    assert_refused(distinct, "condition-true 0", "deduplicated values that are equal but not identical");
    let most = "SELECT MAX(t1.c3) FROM t1 WHERE t1.c2 < 100";
    assert_refused(most, "condition-true 0", "MIN or MAX of equal values that are not identical");
}

#[test]
fn a_limit_needs_a_total_order_over_rows_that_do_not_change() {
    let limited =
        |keys: &str| format!("SELECT t1.c1, t1.c2 FROM t1 WHERE t1.c2 < 100 ORDER BY {keys} LIMIT 1");
    let total = limited("t1.c2, t1.c1");
    assert_eq!(predicted(&total, "limit-more 0").0, Span::Grows);
    assert_refused(&limited("t1.c1"), "limit-more 0", "LIMIT without a total order");
    assert_refused(&total, "condition-true 0", "LIMIT over changed rows");
    // No rule knows its number.
    assert_refused(&total, "add-constant 6", "mutation that no rule covers");
    // A text that folds has no one order.
    let folded = "SELECT t1.c3 FROM t1 ORDER BY t1.c3 LIMIT 1";
    assert_refused(folded, "limit-more 0", "LIMIT without a total order");
}

#[test]
fn arithmetic_is_over_small_whole_numbers() {
    let reason = "arithmetic that may overflow or round";
    assert_refused("SELECT t1.c4 FROM t1", "add-constant 0", reason);
    assert_refused("SELECT t1.c3 FROM t1", "add-constant 0", reason);
    assert_refused("SELECT t1.c1 + t1.c4 FROM t1", "add-constant 0", reason);
    let sum = "SELECT SUM(t1.c4) FROM t1 WHERE t1.c2 < 100";
    assert_refused(sum, "condition-true 0", "sum that may overflow or round");
    assert_refused("SELECT MAX(t1.c4) FROM t1", "max-to-avg 0", "average that may overflow or round");
}

#[test]
fn a_product_follows_the_sign_of_an_unchanged_constant() {
    assert_eq!(predicted("SELECT t1.c1 * -2 FROM t1", "add-constant 0").1, Change::toward(Direction::Down));
    assert_eq!(predicted("SELECT t1.c1 * 2 FROM t1", "add-constant 0").1, Change::toward(Direction::Up));
    let reason = "changed value multiplied by a non-constant";
    assert_refused("SELECT t1.c1 * 2 FROM t1", "add-constant 1", reason);
}

#[test]
fn a_changed_value_is_compared_with_numbers_only() {
    let reason = "changed value compared with a non-number";
    assert_refused("SELECT t1.c1 FROM t1 WHERE t1.c2 > t1.c3", "add-constant 1", reason);
    // Where there are types, a comparison is widened between operands of one kind only.
    let mixed = mutating("SELECT t1.c1 FROM t1 WHERE t1.c2 > '1'", "comparison-wider 0");
    let mysql = Dialect::load("mysql", "9").expect("the dialect reads");
    assert_eq!(derived(&mixed, &mysql), Err("comparison of different kinds"));
}

#[test]
fn any_and_all_are_of_values_that_do_not_change() {
    let postgres = Dialect::load("postgres", "18").expect("the dialect reads");
    let refusal = |left: &str, mutation: &str| {
        let mut case = mutating("SELECT 1", mutation);
        let text = format!("SELECT t1.c1 FROM t1 WHERE {left} > ANY (SELECT b0.c1 FROM t1 AS b0)");
        let statement = dissent_core::import::statement(&text, 1, &postgres);
        assert_eq!(statement.refused, None);
        case.subject.tests = vec![statement.statement];
        derived(&case, &postgres).err()
    };
    // Sites: the item, the left side, and the column of the subquery.
    assert_eq!(refusal("t1.c1", "add-constant 1"), None);
    assert_eq!(refusal("t1.c1", "add-constant 2"), Some("ANY or ALL of changed values"));
    assert_eq!(refusal(NULLABLE, "condition-true 1"), Some("ANY or ALL of a value that may be NULL"));
}

/// A changed value, condition or set of rows under what no rule is about.
#[test]
fn what_no_rule_is_about_is_refused() {
    const FILTER: &str = "WHERE t1.c2 < 100";
    for (select, mutation, reason) in [
        ("SELECT CAST(t1.c1 AS TEXT) FROM t1", "add-constant 0", "CAST of a changed value"),
        ("SELECT t1.c1 COLLATE NOCASE FROM t1", "add-constant 0", "COLLATE of a changed value"),
        ("SELECT CASE t1.c1 WHEN 1 THEN 2 END FROM t1", "add-constant 0", "CASE over a changed value"),
        ("SELECT CASE WHEN t1.c1 > 1 THEN 2 END FROM t1", "comparison-wider 0", "CASE over a changed value"),
        ("SELECT CASE WHEN t1.c1 > 1 THEN 2 END FROM t1", "add-constant 2", "CASE over a changed value"),
        ("SELECT abs(t1.c1) FROM t1", "add-constant 0", "function of a changed value"),
        ("SELECT t1.c1 / 2 FROM t1", "add-constant 0", "function of a changed value"),
        ("SELECT ~t1.c1 FROM t1", "add-constant 0", "bit operation on a changed value"),
        ("SELECT (t1.c1, 1) = (1, 1) FROM t1", "add-constant 0", "row with a changed value"),
        ("SELECT t1.c1 IS NULL FROM t1", "add-constant 0", "IS NULL of a changed operand"),
        (
            "SELECT t1.c1 FROM t1 WHERE (t1.c2 < 1) IS NULL",
            "comparison-wider 0",
            "IS NULL of a changed operand",
        ),
        ("SELECT t1.c1 > 1 FROM t1", "comparison-wider 0", "changed condition used as a value"),
        ("SELECT t1.c1 FROM t1 WHERE t1.c1", "add-constant 1", "changed value used as a condition"),
        ("SELECT t1.c1 FROM t1 WHERE t1.c1 = 1", "add-constant 1", "= or <> of a changed value"),
        ("SELECT t1.c1 FROM t1 WHERE t1.c1 LIKE 'a%'", "add-constant 1", "pattern match of a changed value"),
        ("SELECT t1.c1 FROM t1 WHERE t1.c1 BETWEEN 1 AND 5", "add-constant 1", "BETWEEN of a changed value"),
        ("SELECT t1.c1 FROM t1 WHERE t1.c1 IN (1, 2)", "add-constant 1", "IN of a changed value"),
        (
            "SELECT t1.c1 FROM t1 WHERE t1.c1 IN (SELECT b.c1 FROM t1 AS b)",
            "add-constant 2",
            "IN of a changed value",
        ),
        (
            "SELECT t1.c1 FROM t1 WHERE t1.c1 IN (VALUES (1), (2))",
            "add-constant 2",
            "changed value in VALUES",
        ),
        ("SELECT COUNT(DISTINCT t1.c1) FROM t1", "add-constant 1", "COUNT(DISTINCT) of a changed value"),
        ("SELECT MAX(t1.c5) FROM t1", "max-to-min 0", "aggregate of non-numbers"),
        (
            "SELECT t1.c1 FROM t1 JOIN (SELECT b.c1 FROM t1 AS b) AS d USING (c1)",
            "add-constant 1",
            "USING or NATURAL over a changed value",
        ),
        (
            "SELECT j.value FROM generate_series(1, 5) AS j",
            "add-constant 1",
            "changed argument of a table function",
        ),
        ("SELECT t1.c1 FROM t1 WHERE MAX(t1.c1) > 1", "comparison-wider 0", "aggregate outside a group"),
        (
            "SELECT t1.c1 FROM t1 WHERE (SELECT MAX(t1.c1) FROM t1 AS b) > 1",
            "comparison-wider 0",
            "aggregate of an outer query",
        ),
        (
            "SELECT t1.c1 FROM t1 WHERE (SELECT b.c1 FROM t1 AS b WHERE b.c2 < 100) > 1",
            "condition-true 1",
            "scalar subquery without an aggregate",
        ),
    ] {
        assert_refused(select, mutation, reason);
    }
    for (select, reason) in [
        ("SELECT * FROM t1", "SELECT * is not analysed"),
        ("SELECT t9.c1 FROM t1", "column of unknown origin"),
        ("SELECT t1.c2, COUNT(*) FROM t1", "bare column next to an aggregate"),
        ("SELECT RANK() OVER (ORDER BY t1.c1) FROM t1", "window"),
        ("SELECT (SELECT MIN(b.c1), MAX(b.c1) FROM t1 AS b) FROM t1", "subquery of several columns"),
        ("SELECT group_concat(t1.c5, ',') FROM t1", "unknown aggregate"),
        ("SELECT SUM(DISTINCT t1.c2) FROM t1", "DISTINCT in an aggregate of changed rows"),
        ("SELECT MAX(t1.c5) FROM t1", "aggregate of non-numbers"),
    ] {
        assert_refused(&format!("{select} {FILTER}"), "condition-true 0", reason);
    }
    let having = "SELECT t1.c1 FROM t1 WHERE t1.c2 < 100 HAVING t1.c1 > 1";
    assert_refused(having, "condition-true 0", "HAVING without a group");
    let recursive = "WITH RECURSIVE d AS (SELECT t1.c1 FROM t1 WHERE t1.c2 < 100) SELECT d.c1 FROM d";
    assert_refused(recursive, "condition-true 0", "recursive common table expression");
    for relation in ["SELECT DISTINCT t1.c1 FROM t1", "SELECT t1.c1 FROM t1 UNION ALL SELECT t1.c2 FROM t1"] {
        let select = format!("SELECT d.c1 FROM ({relation}) AS d WHERE d.c1 > 1");
        assert_refused(&select, "condition-true 0", "relation whose column affinity is not defined");
    }
}

/// What no SQL of SQLite says, or the importer does not read.
#[test]
fn shapes_that_are_not_looked_into_are_refused() {
    let edited = |select: &str, edit: fn(&mut Select)| {
        let mut case = mutating(select, "condition-true 0");
        let mut edited = query(select);
        edit(edited.as_select_mut().expect("one SELECT"));
        case.subject.tests = vec![edited.into()];
        check(&case)
    };
    let grouped = "SELECT t1.c2 FROM t1 WHERE t1.c2 < 100 GROUP BY t1.c2";
    assert_skipped(edited(grouped, |select| select.grouping = Grouping::Cube), "GROUPING SETS");
    let plain = "SELECT t1.c1 FROM t1 WHERE t1.c2 < 100";
    let text = |select: &mut Select| select.items = vec![Expr::Raw("t1.c1".into()).into()];
    assert_skipped(edited(plain, text), "SQL that Dissent cannot parse");
    // An operation over what does not change does not change either.
    let operation = |select: &mut Select| {
        select.items = vec![Expr::operation("abs({})", vec![Expr::column("t1", "c1")]).into()];
    };
    assert!(matches!(edited(plain, operation), Verdict::Pass { .. }));
    let beside = "SELECT t1.c1 FROM t1, (SELECT b.c1 FROM t1 AS b WHERE b.c2 < 100) AS d";
    let lateral = |select: &mut Select| {
        if let Some(TableRef::Derived { lateral, .. }) = select.from.last_mut() {
            *lateral = true;
        }
    };
    assert_skipped(edited(beside, lateral), "LATERAL");
}

/// Two mutations whose changes meet must go the same way.
#[test]
fn changes_that_go_opposite_ways_are_refused() {
    let opposite = "changes in opposite directions";
    assert_refused("SELECT t1.c1 + t1.c2 FROM t1", "add-constant 0, subtract-constant 1", opposite);
    assert_eq!(
        predicted("SELECT t1.c1 - t1.c2 FROM t1", "add-constant 0, subtract-constant 1").1,
        Change::toward(Direction::Up)
    );
    let both = "SELECT t1.c1 FROM t1 WHERE t1.c1 > 1 AND t1.c2 >= 1";
    assert_refused(both, "comparison-wider 0, comparison-narrower 0", opposite);
    let most = "SELECT MAX(t1.c1) FROM t1 WHERE t1.c2 < 100";
    let reason = "aggregate of values that move the opposite way";
    assert_refused(most, "condition-true 0, subtract-constant 1", reason);
}

#[test]
fn a_site_that_reduction_took_away_is_skipped() {
    let select = "SELECT t1.c1 FROM t1";
    assert_refused(select, "condition-true 0", "unknown mutation site");
    assert_refused(select, "no-such-thing 0", "unknown mutator");
    let mut case = mutating(select, "add-constant 0");
    case.subject.choices.clear();
    assert_eq!(check(&case), Verdict::skip("no mutation chosen"));
    case.subject.tests.push(case.subject.tests[0].clone());
    assert_eq!(check(&case), Verdict::skip("not a single query"));
}

#[test]
fn an_error_of_one_arm_is_no_difference() {
    // No row has c2 > 1000, so abs is not asked for the one value that it has no answer to.
    let select = "SELECT t1.c1 FROM t1 WHERE t1.c2 > 1000 AND abs(-t1.c4 - 1) > 0";
    assert_passes(check(&mutating(select, "drop-conjunct 0")));
    assert_refused(select, "drop-conjunct 1", "one arm avoids the error");
}
