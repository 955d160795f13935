//! ValScope: every rule is held against real engines, and stops where it must.

mod common;

use std::collections::BTreeMap;

use common::{Counting, check, open, sqlite, with_session};
use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Reply};
use dissent_core::finding::{Class, Verdict};
use dissent_core::generate::Policy;
use dissent_core::oracle;
use dissent_core::oracle::valscope::derive;
use dissent_core::oracle::valscope::relation::{Change, Direction, Nulls, Span};
use dissent_core::oracle::valscope::rules::{Rule, Stop};
use dissent_core::sql::*;
use dissent_core::subject::Subject;
use dissent_core::walk::Walk;
use dissent_engine::fake::Tampered;
use dissent_engine::sqlite::SqliteEngine;

type Notes = BTreeMap<String, u64>;

fn walk(engine: &mut dyn Engine, dialect: &Dialect, seed: u64, checks: u64) -> (Counting, Notes) {
    let oracles = oracle::select("valscope");
    let walk = Walk { dialect, oracles, seed, policy: Policy::default(), calm: None };
    let mut watcher = Counting { cases_left: u64::MAX, ..Counting::default() };
    let notes = with_session(engine, dialect, |session| {
        for number in 0.. {
            // What an engine itself calls an internal error is a bug of its own, not of a rule.
            watcher.findings.retain(|(_, evidence)| evidence.class != Class::InternalError);
            if !watcher.findings.is_empty() || watcher.passes >= checks {
                break;
            }
            walk.database(number, session, &mut watcher).expect("the engine answers");
        }
        session.counts.notes.iter().map(|(note, count)| (note.to_string(), *count)).collect()
    });
    (watcher, notes)
}

/// How many subjects a property is tried on; all of them with `DISSENT_FULL_PROPERTIES=1`.
fn subjects(few: u64, all: u64) -> u64 {
    if std::env::var("DISSENT_FULL_PROPERTIES").as_deref() == Ok("1") { all } else { few }
}

/// The rules as a property: the predicted relation holds on a correct engine, and every rule is used.
fn every_rule_holds(target: &str, checks: u64) {
    let Some((mut engine, dialect)) = open(target) else { return };
    let (watcher, notes) = walk(engine.as_mut(), &dialect, 7, checks);
    if let Some((subject, evidence)) = watcher.findings.first() {
        let json = serde_json::to_string(subject).unwrap_or_default();
        panic!("{target}: {evidence:#?}\n{:?}\n{json}", subject.choices);
    }
    println!(
        "{target}: {} passes ({} not empty), {} skips, {} unstable",
        watcher.passes, watcher.nonempty, watcher.skips, watcher.unstable
    );
    println!("{:#?}", watcher.reasons);
    notes.iter().for_each(|(note, count)| println!("{count:8}  {note}"));
    assert!(watcher.nonempty * 2 > watcher.passes, "too many subjects without a row");
    let count = |rule: &Rule| notes.get(rule.note()).copied().unwrap_or(0);
    let least = if checks < 10_000 { 1 } else { 100 };
    let seldom: Vec<_> = Rule::ALL.iter().filter(|r| r.is_for(&dialect) && count(r) < least).collect();
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
fn assert_found(what: &str, mut engine: Tampered<SqliteEngine>) {
    let (_, dialect) = sqlite();
    let (watcher, _) = walk(&mut engine, &dialect, 3, 20_000);
    assert!(!watcher.findings.is_empty(), "{what}: not found in {} checks", watcher.passes);
    println!("{what}: found after {} checks: {}", watcher.passes, watcher.findings[0].1.difference);
}

fn bundled() -> SqliteEngine {
    SqliteEngine::bundled().expect("the bundled SQLite opens")
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
    let drop_last = |sql: &str, mut reply: Reply| {
        if let Reply::Rows(rows) = &mut reply
            && sql.contains(" LEFT JOIN ")
        {
            rows.values.truncate(rows.values.len().saturating_sub(rows.columns));
        }
        reply
    };
    assert_found("a dropped row of a LEFT JOIN", Tampered::new(bundled(), drop_last));
}

#[test]
fn an_ignored_having_is_found() {
    let ignore = |sql: &str| match is_on_the_bad_plan(sql) {
        true => sql.replace(" HAVING ", " HAVING 1 OR "),
        false => sql.to_string(),
    };
    assert_found("an ignored HAVING", Tampered::rewriting(bundled(), ignore));
}

#[test]
fn max_for_min_is_found() {
    assert_found("MAX for MIN", Tampered::rewriting(bundled(), |sql| sql.replace("MIN(", "MAX(")));
}

#[test]
fn union_all_for_union_is_found() {
    let keep_all = |sql: &str| match is_on_the_bad_plan(sql) {
        true => sql.replace(" UNION SELECT ", " UNION ALL SELECT "),
        false => sql.to_string(),
    };
    assert_found("UNION ALL for UNION", Tampered::rewriting(bundled(), keep_all));
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
    assert_found("a lost NULL group", Tampered::new(bundled(), lose));
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
    assert_found("a rounded SUM", Tampered::new(bundled(), round));
}

// Subjects by hand: t1(c1, c2, c3) with whole numbers, some of them negative in c1, and a text that folds.

fn setup() -> Vec<Statement> {
    let column = |name: &str, ty: DataType, constraints| ColumnDef { name: name.into(), ty, constraints };
    let int = || DataType::new("INT", Kind::Int);
    let folded = vec![ColumnConstraint::Collate("NOCASE".into())];
    let columns = vec![
        column("c1", int(), Vec::new()),
        column("c2", int(), Vec::new()),
        column("c3", DataType::new("TEXT", Kind::Text), folded),
        column("c4", int(), Vec::new()),
    ];
    let row = |c1: i64, c2: Value, c3: &str, c4: i64| {
        vec![Expr::int(c1), Expr::Literal(c2), Expr::text(c3), Expr::int(c4)]
    };
    let rows = vec![
        row(-5, Value::Int(1), "a", i64::MAX),
        row(150, Value::Int(120), "A", 0),
        row(7, Value::Null, "b", 2),
    ];
    vec![
        Statement::CreateTable(CreateTable {
            name: "t1".into(),
            temporary: false,
            columns,
            constraints: Vec::new(),
            options: Vec::new(),
            query: None,
        }),
        Statement::Insert(Insert {
            table: "t1".into(),
            or: None,
            columns: Vec::new(),
            source: InsertSource::Values(rows),
            upsert: None,
        }),
    ]
}

fn c(name: &str) -> Expr {
    Expr::column("t1", name)
}

fn compare(op: BinaryOp, left: Expr, right: i64) -> Expr {
    Expr::binary(op, left, Expr::int(right))
}

/// SELECT items FROM t1 WHERE filter.
fn from_t1(items: Vec<Expr>, filter: Option<Expr>) -> Select {
    let items = items.into_iter().map(SelectItem::from).collect();
    Select { items, from: vec![TableRef::table("t1")], filter, ..Select::default() }
}

fn max(column: &str) -> Expr {
    Expr::aggregate("MAX", vec![c(column)])
}

fn under_100() -> Option<Expr> {
    Some(compare(BinaryOp::Lt, c("c2"), 100))
}

fn subject(query: impl Into<Query>, mutation: &str) -> Subject {
    let subject = Subject::new("valscope", query.into()).with_choice("mutation-1", mutation);
    Subject { setup: setup(), ..subject }
}

/// The relation that a subject's mutation is predicted to have: its rows, and its first column.
#[track_caller]
fn predicted(query: impl Into<Query>, mutation: &str) -> (Span, Change) {
    let (_, dialect) = sqlite();
    let subject = subject(query, mutation);
    let derived = derive(&subject, &dialect).unwrap_or_else(|Stop(reason)| panic!("refused: {reason}"));
    assert!(matches!(check(&subject), Verdict::Pass { .. }), "{:?}", check(&subject));
    (derived.relation.span, derived.relation.columns[0].change)
}

#[track_caller]
fn assert_refused(query: impl Into<Query>, mutation: &str, reason: &'static str) {
    assert_eq!(check(&subject(query, mutation)), Verdict::skip(reason));
}

fn select(select: Select) -> Query {
    Query::select(select)
}

/// SELECT item FROM (SELECT MAX(c1) AS x FROM t1) AS d WHERE d.x > 100.
fn over_max(item: Expr) -> Query {
    let mut inner = from_t1(vec![max("c1")], None);
    inner.items = vec![SelectItem::Expr { expr: max("c1"), alias: Some("x".into()) }];
    let derived = TableRef::Derived {
        query: Box::new(select(inner)),
        alias: "d".into(),
        columns: Vec::new(),
        lateral: false,
    };
    select(Select {
        items: vec![item.into()],
        from: vec![derived],
        filter: Some(compare(BinaryOp::Gt, Expr::column("d", "x"), 100)),
        ..Select::default()
    })
}

#[test]
fn example_3_3_a_wider_filter_does_not_lower_the_maximum() {
    // Sites: MAX(c1), c1, c2, and the constant.
    let query = select(from_t1(vec![max("c1")], under_100()));
    let grown = Change::toward(Direction::Up).or_null(Nulls::Original);
    assert_eq!(predicted(query, "add-constant 3"), (Span::Bijective, grown));
}

#[test]
fn example_3_4_a_minimum_passes_the_filter_less_often_than_a_maximum() {
    let smaller = (Span::Shrinks, Change::toward(Direction::Down));
    assert_eq!(predicted(over_max(Expr::column("d", "x")), "max-to-min 0"), smaller);
}

/// The paper multiplies the signs to the opposite.
#[test]
fn figure_3_counts_no_more_with_the_minimum() {
    let smaller = (Span::Bijective, Change::toward(Direction::Down));
    assert_eq!(predicted(over_max(Expr::count_rows()), "max-to-min 0"), smaller);
}

#[test]
fn a_deviation_is_not_below_its_variance() {
    let query = select(from_t1(vec![Expr::aggregate("STDDEV", vec![c("c1")])], None));
    assert_refused(query, "stddev-to-var 0", "STDDEV exceeds VAR where that is below 1");
}

#[test]
fn a_sum_of_negative_values_does_not_follow_its_rows() {
    let sum = |column: &str| select(from_t1(vec![Expr::aggregate("SUM", vec![c(column)])], under_100()));
    assert_refused(sum("c1"), "condition-true 0", "SUM of values that may be negative");
    let grown = Change::toward(Direction::Up).or_null(Nulls::Original);
    assert_eq!(predicted(sum("c2"), "condition-true 0"), (Span::Bijective, grown));
}

fn joined(kind: JoinKind, items: Vec<Expr>) -> Select {
    let other = TableRef::Table { name: "t1".into(), alias: Some("b".into()), hint: None };
    let on = Expr::binary(BinaryOp::Lt, c("c1"), Expr::column("b", "c2"));
    let from = vec![TableRef::join(kind, TableRef::table("t1"), other, JoinOn::On(on))];
    Select { from, ..from_t1(items, None) }
}

#[test]
fn the_on_of_a_left_join_does_not_change() {
    assert_refused(select(joined(JoinKind::Left, vec![c("c1")])), "condition-true 0", "ON of an outer join");
    let (span, _) = predicted(select(joined(JoinKind::Inner, vec![c("c1")])), "condition-true 0");
    assert_eq!(span, Span::Grows);
}

#[test]
fn the_padded_side_of_a_join_does_not_change() {
    let summary = |filter| {
        let mut inner = from_t1(vec![c("c1")], filter);
        inner.items = vec![SelectItem::Expr { expr: c("c1"), alias: Some("x".into()) }];
        let query = Box::new(select(inner));
        TableRef::Derived { query, alias: "d".into(), columns: Vec::new(), lateral: false }
    };
    let on = JoinOn::On(compare(BinaryOp::Gt, c("c1"), 0));
    let left = TableRef::join(JoinKind::Left, TableRef::table("t1"), summary(under_100()), on.clone());
    let padded = Select { from: vec![left], ..from_t1(vec![c("c1")], None) };
    assert_refused(select(padded), "condition-true 0", "ON of an outer join");
    let padded = |kind| {
        let join = TableRef::join(kind, TableRef::table("t1"), summary(under_100()), on.clone());
        select(Select { from: vec![join], ..from_t1(vec![c("c1")], None) })
    };
    // The ON comes after what it joins: the WHERE of the derived table is the second site.
    assert_refused(padded(JoinKind::Left), "condition-true 1", "padded side of an outer join");
    assert_eq!(predicted(padded(JoinKind::Right), "condition-true 1").0, Span::Grows);
    assert_refused(padded(JoinKind::Full), "condition-true 1", "FULL JOIN of a changed input");
}

/// WHERE wrap((SELECT MAX(c1) FROM t1 WHERE c2 < 100) > 3), whose inner condition is the second site.
fn weak(wrap: impl FnOnce(Expr) -> Expr) -> Query {
    let inner = Expr::Subquery(Box::new(select(from_t1(vec![max("c1")], under_100()))));
    select(from_t1(vec![c("c1")], Some(wrap(compare(BinaryOp::Gt, inner, 3)))))
}

#[test]
fn not_and_is_false_need_a_strong_predicate() {
    assert_eq!(predicted(weak(|p| p), "condition-true 1").0, Span::Grows);
    assert_refused(weak(Expr::negate), "condition-true 1", "NOT over a weak predicate");
    assert_refused(weak(|p| p.is(Truth::False)), "condition-true 1", "IS FALSE over a weak predicate");
    assert_eq!(predicted(weak(|p| p.is_not(Truth::True)), "condition-true 1").0, Span::Shrinks);
    let strong = select(from_t1(vec![c("c1")], under_100().map(Expr::negate)));
    assert_eq!(predicted(strong, "comparison-wider 0").0, Span::Shrinks);
}

#[test]
fn a_value_that_may_become_null_is_not_compared_the_other_way() {
    let inner = Expr::Subquery(Box::new(select(from_t1(vec![max("c1")], under_100()))));
    let less = select(from_t1(vec![c("c1")], Some(compare(BinaryOp::Lt, inner, 3))));
    let reason = "comparison with a value that may be NULL on the larger side";
    assert_refused(less, "condition-true 1", reason);
}

#[test]
fn averages_of_a_changed_set_go_anywhere() {
    let average = |name: &str| select(from_t1(vec![Expr::aggregate(name, vec![c("c1")])], under_100()));
    assert_refused(average("AVG"), "condition-true 0", "AVG of a changed set");
    let other = "variance or other aggregate of a changed set";
    assert_refused(average("VAR_POP"), "condition-true 0", other);
}

#[test]
fn what_is_grouped_or_deduplicated_does_not_change() {
    let mut grouped = from_t1(vec![Expr::count_rows()], None);
    grouped.group_by = vec![c("c1")];
    // Sites: COUNT(*), and the key.
    assert_refused(select(grouped), "add-constant 1", "GROUP BY a changed value");
    let distinct = Select { distinct: true, ..from_t1(vec![c("c1")], None) };
    assert_refused(select(distinct.clone()), "add-constant 0", "DISTINCT over a changed value");
    let plain = |select: &Select| Body::Select(Box::new(Select { distinct: false, ..select.clone() }));
    let set = |op, all| Query::compound(op, all, plain(&distinct), plain(&distinct));
    let reason = "changed value in what a set operator compares";
    assert_refused(set(SetOp::Except, false), "add-constant 0", reason);
    assert_eq!(predicted(set(SetOp::Union, true), "add-constant 0").1, Change::toward(Direction::Up));
}

/// The names of a compound are those of its first branch.
#[test]
fn a_branch_that_is_left_alone_takes_the_names_of_the_first() {
    let branch = |items: [Expr; 2], alias: Option<&str>| {
        let item = |expr| SelectItem::Expr { expr, alias: alias.map(Name::from) };
        let [first, second] = items;
        let items = vec![SelectItem::from(first), item(second)];
        Body::Select(Box::new(Select { items, ..from_t1(Vec::new(), None) }))
    };
    let left = branch([Expr::int(0), Expr::int(1)], Some("c1"));
    let right = branch([c("c1"), Expr::int(1)], None);
    let query = Box::new(Query::compound(SetOp::Union, true, left, right));
    let derived = TableRef::Derived { query, alias: "d0".into(), columns: Vec::new(), lateral: false };
    let items = vec![Expr::column("d0", "c1").into()];
    let subject =
        subject(select(Select { items, from: vec![derived], ..Select::default() }), "drop-branch 1");
    let postgres = Dialect::load("postgres", "18").expect("the dialect reads");
    let mutated =
        derive(&subject, &postgres).unwrap_or_else(|Stop(reason)| panic!("refused: {reason}")).mutated;
    let mut sql = String::new();
    dissent_core::render::render_query(&mutated, &postgres, &mut sql);
    assert_eq!(sql, "SELECT d0.c1 FROM (SELECT t1.c1 AS unnamed0, 1 AS c1 FROM t1) AS d0");
}

/// Where columns have types, a branch alone may be of another type than the compound: also when nothing but
/// the query is left of a subject.
#[test]
fn a_branch_of_another_type_is_not_left_alone() {
    let branch =
        |expr: Expr| Body::Select(Box::new(Select { items: vec![expr.into()], ..Select::default() }));
    let refusal = |left: Expr, right: Expr| {
        let query = Query::compound(SetOp::Union, true, branch(left), branch(right));
        let subject = Subject::new("valscope", query).with_choice("mutation-1", "drop-branch 0");
        let mysql = Dialect::load("mysql", "9.7").expect("the dialect reads");
        derive(&subject, &mysql).err()
    };
    let text = || Expr::Literal(Value::Text("a".into()));
    assert_eq!(refusal(Expr::int(0), text()), Some(Stop("set operator that converts its branches")));
    assert_eq!(refusal(Expr::int(0), Expr::int(1)), None);
}

#[test]
fn what_is_grouped_or_deduplicated_has_one_representative() {
    let mut grouped = from_t1(vec![c("c3"), Expr::count_rows()], under_100());
    grouped.group_by = vec![c("c3")];
    let reason = "GROUP BY values without one representative";
    assert_refused(select(grouped), "condition-true 0", reason);
    let distinct = Select { distinct: true, ..from_t1(vec![c("c3")], under_100()) };
    let reason = "values without one representative are deduplicated";
    assert_refused(select(distinct), "condition-true 0", reason);
}

#[test]
fn a_limit_needs_a_total_order_over_rows_that_do_not_change() {
    let limited = |keys: &[&str]| Query {
        order_by: keys.iter().map(|key| OrderItem { expr: c(key), desc: false, nulls: None }).collect(),
        limit: Some(Expr::int(1)),
        ..select(from_t1(vec![c("c1"), c("c2")], under_100()))
    };
    assert_eq!(predicted(limited(&["c2", "c1"]), "limit-more 0").0, Span::Grows);
    assert_refused(limited(&["c1"]), "limit-more 0", "LIMIT without a total order");
    assert_refused(limited(&["c2", "c1"]), "condition-true 0", "LIMIT over changed rows");
    // Its number is no value that a rule knows of.
    assert_refused(limited(&["c2", "c1"]), "add-constant 6", "mutation that no rule is about");
}

#[test]
fn arithmetic_is_over_small_whole_numbers() {
    let reason = "arithmetic that may overflow or round";
    assert_refused(select(from_t1(vec![c("c4")], None)), "add-constant 0", reason);
    assert_refused(select(from_t1(vec![c("c3")], None)), "add-constant 0", reason);
    let sum = select(from_t1(vec![Expr::aggregate("SUM", vec![c("c4")])], under_100()));
    assert_refused(sum, "condition-true 0", "sum that may overflow or round");
}

#[test]
fn a_product_follows_the_sign_of_an_unchanged_constant() {
    let product = |by| select(from_t1(vec![Expr::binary(BinaryOp::Mul, c("c1"), Expr::int(by))], None));
    assert_eq!(predicted(product(-2), "add-constant 0").1, Change::toward(Direction::Down));
    assert_eq!(predicted(product(2), "add-constant 0").1, Change::toward(Direction::Up));
    assert_refused(product(2), "add-constant 1", "product of a changed value and no constant");
}

#[test]
fn a_changed_value_is_compared_with_numbers_only() {
    let query = select(from_t1(vec![c("c1")], Some(Expr::binary(BinaryOp::Gt, c("c2"), c("c3")))));
    assert_refused(query, "add-constant 1", "changed value compared with what is no number");
    // Where there are types, a comparison is widened between operands of one kind only.
    let mixed = Expr::binary(BinaryOp::Gt, c("c2"), Expr::text("1"));
    let subject = subject(select(from_t1(vec![c("c1")], Some(mixed))), "comparison-wider 0");
    let mysql = Dialect::load("mysql", "9").expect("the dialect reads");
    assert_eq!(derive(&subject, &mysql).err(), Some(Stop("comparison of several kinds")));
}

#[test]
fn a_site_that_reduction_took_away_is_skipped() {
    let query = select(from_t1(vec![c("c1")], None));
    assert_refused(query.clone(), "condition-true 0", "mutation site that is not there");
    assert_refused(query.clone(), "no-such-thing 0", "mutator that does not exist");
    let bare = Subject { setup: setup(), ..Subject::new("valscope", query) };
    assert_eq!(check(&bare), Verdict::skip("no mutation chosen"));
}

#[test]
fn an_error_of_one_arm_is_no_difference() {
    // No row has c2 > 1000, so abs is not asked for the one value that it has no answer to.
    let least = Expr::binary(BinaryOp::Sub, Expr::unary(UnaryOp::Minus, c("c4")), Expr::int(1));
    let overflows = compare(BinaryOp::Gt, Expr::function("abs", vec![least]), 0);
    let query = select(from_t1(vec![c("c1")], Some(compare(BinaryOp::Gt, c("c2"), 1000).and(overflows))));
    assert!(matches!(check(&subject(query.clone(), "drop-conjunct 0")), Verdict::Pass { .. }));
    assert_refused(query, "drop-conjunct 1", "one arm is spared an error");
}
