//! EDC: what is stored stands for what is computed where the conditions say so, and nowhere else.

mod common;

use std::collections::BTreeMap;

use common::{Counting, check_on, open, raw, sqlite, with_session};
use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Reply};
use dissent_core::finding::{Class, Verdict};
use dissent_core::generate::Policy;
use dissent_core::oracle;
use dissent_core::reduce::{self, Budget, reduce};
use dissent_core::sql::*;
use dissent_core::subject::Subject;
use dissent_core::walk::Walk;
use dissent_engine::fake::Tampered;
use dissent_engine::sqlite::SqliteEngine;

fn column(name: &str) -> Expr {
    Expr::column("e0", name)
}

fn create(columns: &[(&str, &str, Kind)]) -> Statement {
    let column = |(name, ty, kind): &(&str, &str, Kind)| ColumnDef {
        name: Name::from(*name),
        ty: DataType::new(*ty, *kind),
        constraints: Vec::new(),
    };
    Statement::CreateTable(CreateTable {
        name: "e0".into(),
        temporary: false,
        columns: columns.iter().map(column).collect(),
        constraints: Vec::new(),
        options: Vec::new(),
        query: None,
    })
}

/// `SELECT items FROM e0 WHERE filter`.
fn select(items: Vec<Expr>, filter: Option<Expr>) -> Select {
    let from = vec![TableRef::table("e0")];
    Select { items: items.into_iter().map(SelectItem::from).collect(), from, filter, ..Select::default() }
}

fn subject(columns: &[(&str, &str, Kind)], rows: &str, operation: Expr, select: Select) -> Subject {
    let mut setup = vec![create(columns)];
    setup.extend(raw(&[&format!("INSERT INTO e0 VALUES {rows}")]));
    let subject = Subject::new("edc", Query::select(select)).with_expr(operation);
    Subject { setup, ..subject }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn call(name: &str, args: &[&str]) -> Expr {
    Expr::function(name, args.iter().map(|name| column(name)).collect())
}

/// A text of a number whose whole part is zero, as a condition.
fn figure_1() -> Subject {
    let concat = call("CONCAT", &["c0", "c1"]);
    let columns = [("c0", "VARCHAR(10)", Kind::Text), ("c1", "TEXT", Kind::Text)];
    subject(&columns, "('0', '.5')", concat.clone(), select(vec![concat.clone()], Some(concat)))
}

/// A BIT through a function that returns it unchanged.
fn figure_4() -> Subject {
    let coalesce = call("COALESCE", &["c0", "c1"]);
    let columns = [("c0", "BIT(1)", Kind::Int), ("c1", "BIT(1)", Kind::Int)];
    subject(&columns, "(NULL, 1)", coalesce.clone(), select(vec![coalesce], None))
}

/// A computed date between a number and a text.
fn figure_5() -> Subject {
    let later = call("ADDDATE", &["c0", "c1"]);
    let filter = Expr::Between {
        expr: Box::new(later.clone()),
        low: Box::new(Expr::Literal(Value::Real(-3e38))),
        high: Box::new(Expr::text("2935-07-28 18:13:52")),
        negated: false,
    };
    let columns = [("c0", "DATETIME", Kind::Timestamp), ("c1", "INT", Kind::Int)];
    let rows = "('2020-02-29 01:02:03', 40)";
    subject(&columns, rows, later.clone(), select(vec![later], Some(filter)))
}

/// A shape among the collections of shapes; `grouped` or over the whole table as the paper has it.
fn figure_6(grouped: bool) -> Subject {
    let collected = |table: &str| Expr::aggregate("ST_Collect", vec![Expr::column(table, "c0")]);
    let keys = |table: &str| if grouped { vec![Expr::column(table, "c1")] } else { Vec::new() };
    let inner = Select {
        items: vec![collected("a0").into()],
        from: vec![TableRef::Table { name: "e0".into(), alias: Some("a0".into()), hint: None }],
        group_by: keys("a0"),
        ..Select::default()
    };
    let line = Expr::function("ST_GeomFromText", vec![Expr::text("LINESTRING(0 0, 2 1)")]);
    let member =
        Expr::InQuery { expr: Box::new(line), query: Box::new(Query::select(inner)), negated: false };
    let mut outer = select(vec![collected("e0")], None);
    outer.group_by = keys("e0");
    *(if grouped { &mut outer.having } else { &mut outer.filter }) = Some(member);
    let columns = [("c0", "POLYGON", Kind::Any), ("c1", "INT", Kind::Int)];
    subject(&columns, "(ST_GeomFromText('POLYGON((0 0, 4 0, 2 3, 0 0))'), 7)", collected("e0"), outer)
}

/// JSON compared with a truth value.
fn figure_7() -> Subject {
    let null = column("c0").is(Truth::Null);
    let filter = binary(BinaryOp::Le, column("c1"), null.clone());
    let columns = [("c0", "DOUBLE", Kind::Real), ("c1", "JSON", Kind::Json), ("c2", "BIGINT", Kind::Int)];
    let asked = select(vec![column("c1"), column("c2")], Some(filter));
    subject(&columns, "(-2.5e28, 'false', 77)", null, asked)
}

/// Bytes taken for truth, among bytes; with whole numbers, since the order of adding floats is free.
fn figure_8() -> Subject {
    let sum = Expr::aggregate("SUM", vec![column("c0")]);
    let inner = Select {
        items: vec![Expr::column("a0", "c1").into()],
        from: vec![TableRef::Table { name: "e0".into(), alias: Some("a0".into()), hint: None }],
        filter: Some(binary(BinaryOp::Le, Expr::column("a0", "c1"), Expr::Literal(Value::Blob(vec![0x99])))),
        ..Select::default()
    };
    let truth = binary(BinaryOp::Or, column("c1"), column("c1"));
    let member =
        Expr::InQuery { expr: Box::new(truth), query: Box::new(Query::select(inner)), negated: false };
    let mut asked = select(vec![sum.clone(), column("c1")], Some(member));
    asked.group_by = vec![column("c1")];
    asked.having = Some(sum.clone());
    let columns = [("c0", "INT", Kind::Int), ("c1", "VARBINARY(20)", Kind::Blob)];
    subject(&columns, "(-32, x'0226'), (45, x'02BA')", sum, asked)
}

/// NaN in a table that is sorted by it.
fn figure_9() -> Subject {
    let variance = Expr::aggregate("varSamp", vec![column("c0")]);
    let mut asked = select(vec![variance.clone(), column("c1")], None);
    asked.group_by = vec![column("c1")];
    asked.having = Some(binary(BinaryOp::Ne, variance.clone(), Expr::Literal(Value::Real(-8e37))));
    let columns = [("c0", "Int16", Kind::Int), ("c1", "UInt32", Kind::Int)];
    let mut subject = subject(&columns, "(-29, 75)", variance, asked);
    if let Statement::CreateTable(create) = &mut subject.setup[0] {
        create.options = vec!["ENGINE = MergeTree ORDER BY c1 SETTINGS allow_nullable_key = 1".into()];
    }
    subject.with_choice("storage", "ENGINE = MergeTree ORDER BY result0 SETTINGS allow_nullable_key = 1")
}

/// What subjects come to: a class, that the arms agree, or why nothing is said.
#[track_caller]
fn assert_outcomes(target: &str, subjects: &[(Subject, &str)]) {
    let Some((mut engine, dialect)) = open(target) else { return };
    for (subject, expected) in subjects {
        let verdict = check_on(engine.as_mut(), &dialect, subject);
        let outcome = match &verdict {
            Verdict::Bug(evidence) => evidence.class.name(),
            Verdict::Pass { .. } => "agree",
            Verdict::Skip(reason) => reason,
        };
        assert_eq!(outcome, *expected, "{target}: {:?}\n{verdict:#?}", subject.tests);
    }
}

const NOT_ACCEPTED: &str = "operation that these types or values do not take";

/// The paper saw figures 4 and 5 on MySQL: they are there still, and figure 4 in MariaDB as well.
#[test]
fn figures_4_and_5_of_the_paper_fail_on_mysql() {
    assert_outcomes("mysql", &[(figure_4(), "representation"), (figure_5(), "wrong-rows")]);
    assert_outcomes("mariadb", &[(figure_4(), "representation"), (figure_5(), "agree")]);
    assert_outcomes("oceanbase", &[(figure_4(), "agree"), (figure_5(), "agree")]);
}

/// Figure 6 as it is printed is no bug: without groups, an aggregate over no rows is still a row. Figure 7 is
/// MySQL's as well as TiDB's: a truth value is JSON's `true` where it is computed and a number where it is
/// stored. MariaDB's JSON is a text.
#[test]
fn the_other_figures_of_the_mysql_family() {
    let without_groups = "WHERE before an aggregate without groups";
    let figures = || [figure_1(), figure_6(true), figure_6(false), figure_7(), figure_8()];
    let expected = [
        ("mysql", ["agree", "agree", without_groups, "wrong-rows", "agree"]),
        ("mariadb", ["agree", NOT_ACCEPTED, NOT_ACCEPTED, "agree", "agree"]),
        ("oceanbase", ["agree", NOT_ACCEPTED, NOT_ACCEPTED, "wrong-rows", "agree"]),
    ];
    for (target, outcomes) in expected {
        assert_outcomes(target, &std::iter::zip(figures(), outcomes).collect::<Vec<_>>());
    }
}

#[test]
fn figure_9_holds_on_clickhouse() {
    assert_outcomes("clickhouse", &[(figure_9(), "agree")]);
}

fn check(subject: &Subject) -> Verdict {
    let (mut engine, dialect) = sqlite();
    check_on(engine.as_mut(), &dialect, subject)
}

const ANY: (&str, &str, Kind) = ("c0", "", Kind::Any);
const INT: (&str, &str, Kind) = ("c0", "INT", Kind::Int);
const LOST: &str = "collation that is lost or weakened by storing";
const CHANGED: &str = "result that is changed by storing it";

/// `'1' = 1` is false for an expression and true for a column of text: `+column` stands for the former.
#[test]
fn an_operation_without_affinity_is_stood_for_by_one_without() {
    let text = binary(BinaryOp::Concat, column("c0"), Expr::text(""));
    let asked = select(vec![text.clone()], Some(binary(BinaryOp::Eq, text.clone(), Expr::int(1))));
    for types in ["", "inferred"] {
        let subject = subject(&[INT], "(1)", text.clone(), asked.clone()).with_choice("types", types);
        assert_eq!(check(&subject), Verdict::Pass { nonempty: false });
    }
}

/// A CAST has an affinity: here the text 1 equals the number.
#[test]
fn a_cast_is_stood_for_by_a_column_of_its_type() {
    let cast = Expr::Cast { expr: Box::new(column("c0")), ty: DataType::new("TEXT", Kind::Text) };
    let asked = select(vec![cast.clone()], Some(binary(BinaryOp::Eq, cast.clone(), Expr::int(1))));
    for types in ["", "inferred"] {
        let subject = subject(&[INT], "(1)", cast.clone(), asked.clone()).with_choice("types", types);
        assert_eq!(check(&subject), Verdict::Pass { nonempty: true });
    }
}

/// A column of numeric affinity makes 1 of 1.0.
#[test]
fn what_changes_its_storage_class_by_storing_is_skipped() {
    let cast = Expr::Cast { expr: Box::new(column("c0")), ty: DataType::new("NUMERIC", Kind::Decimal) };
    let asked = |cast: &Expr| select(vec![cast.clone()], None);
    assert_eq!(check(&subject(&[ANY], "(1.0)", cast.clone(), asked(&cast))), Verdict::skip(CHANGED));
    assert_eq!(
        check(&subject(&[ANY], "(1.5)", cast.clone(), asked(&cast))),
        Verdict::Pass { nonempty: true }
    );
}

#[test]
fn collations_that_storing_drops_are_skipped() {
    let upper = call("upper", &["c0"]);
    let asked = select(vec![upper.clone()], None);
    let plain = subject(&[("c0", "TEXT", Kind::Text)], "('a'), ('A')", upper.clone(), asked);
    assert_eq!(check(&plain), Verdict::Pass { nonempty: true });
    let mut of_column = plain.clone();
    if let Statement::CreateTable(create) = &mut of_column.setup[0] {
        create.columns[0].constraints.push(ColumnConstraint::Collate("NOCASE".into()));
    }
    assert_eq!(check(&of_column), Verdict::skip(LOST));
    let collated = Expr::Collate { expr: Box::new(upper), collation: "NOCASE".into() };
    let mut of_operation = plain;
    of_operation.exprs[0] = collated.clone();
    of_operation.tests = vec![Query::select(select(vec![collated], None)).into()];
    assert_eq!(check(&of_operation), Verdict::skip(LOST));
}

/// `json_array(json(x))` holds JSON, `json_array(stored)` a text.
#[test]
fn a_mark_of_json_is_not_read() {
    let json = call("json", &["c0"]);
    let plain = subject(&[ANY], "('[1]')", json.clone(), select(vec![json.clone()], None));
    assert_eq!(check(&plain), Verdict::Pass { nonempty: true });
    let mut read = plain;
    let array = Expr::function("json_array", vec![json]);
    read.tests = vec![Query::select(select(vec![array], None)).into()];
    assert_eq!(check(&read), Verdict::skip("JSON that is marked as such and read by the query"));
}

/// `SELECT MAX(c0), c1 FROM e0 GROUP BY c1`.
fn grouped(key: (&'static str, Kind), rows: &str, edit: impl FnOnce(&mut Select)) -> Subject {
    let most = Expr::aggregate("MAX", vec![column("c0")]);
    let mut asked = select(vec![most.clone(), column("c1")], None);
    asked.group_by = vec![column("c1")];
    edit(&mut asked);
    subject(&[INT, ("c1", key.0, key.1), ("c2", "INT", Kind::Int)], rows, most, asked)
}

#[test]
fn groups_are_told_apart_by_what_is_identical() {
    let rows = "(1, 0, 1), (2, 0, 1), (3, 1, 1)";
    let plain = grouped(("INT", Kind::Int), rows, |_| {});
    assert_eq!(check(&plain), Verdict::Pass { nonempty: true });
    let reason = Verdict::skip("grouping column whose equal values need not be identical");
    assert_eq!(check(&grouped(("REAL", Kind::Real), rows, |_| {})), reason);
    assert_eq!(check(&grouped(("", Kind::Any), rows, |_| {})), reason);
    // The usual collation of MySQL folds case.
    if let Some((mut engine, dialect)) = open("mysql") {
        let folded = grouped(("VARCHAR(5)", Kind::Text), "(1, 'a', 1), (2, 'A', 1)", |_| {});
        let folded = retyped(folded, &dialect);
        assert_eq!(check_on(engine.as_mut(), &dialect, &folded), reason);
    }
}

/// With the key's type as the dialect spells it.
fn retyped(mut subject: Subject, dialect: &Dialect) -> Subject {
    let text = dialect.types.iter().find(|entry| entry.ty.kind == Kind::Text).expect("a type of text");
    if let Statement::CreateTable(create) = &mut subject.setup[0] {
        create.columns[1].ty = text.ty.clone();
    }
    subject
}

#[test]
fn groups_are_asked_by_their_keys_only() {
    let rows = "(1, 0, 1), (2, 0, 1), (3, 1, 1)";
    let skipped = |edit: fn(&mut Select), reason: &'static str| {
        assert_eq!(check(&grouped(("INT", Kind::Int), rows, edit)), Verdict::skip(reason));
    };
    skipped(
        |select| select.filter = Some(binary(BinaryOp::Gt, column("c0"), Expr::int(1))),
        "WHERE over more than the grouping columns",
    );
    skipped(|select| select.items.push(Expr::count_rows().into()), "another aggregate beside the operation");
    skipped(
        |select| {
            select.group_by.clear();
            select.items.pop();
            select.filter = Some(Expr::int(0));
        },
        "WHERE before an aggregate without groups",
    );
    let having = |select: &mut Select| {
        let most = Expr::aggregate("MAX", vec![column("c0")]);
        select.filter = Some(binary(BinaryOp::Lt, column("c1"), Expr::int(9)));
        select.having = Some(binary(BinaryOp::Gt, most, Expr::int(2)));
    };
    assert_eq!(check(&grouped(("INT", Kind::Int), rows, having)), Verdict::Pass { nonempty: true });
}

/// The order in which floats are added is the engine's.
#[test]
fn sums_of_floats_are_skipped() {
    let sum = Expr::aggregate("SUM", vec![column("c0")]);
    let mut asked = select(vec![sum.clone()], None);
    asked.group_by = vec![column("c1")];
    let columns = [("c0", "REAL", Kind::Real), ("c1", "INT", Kind::Int)];
    let verdict = check(&subject(&columns, "(0.1, 1), (0.2, 1)", sum, asked));
    assert_eq!(verdict, Verdict::skip("aggregate over floats, which depends on their order"));
}

/// A quotient has more digits inside an expression than in a column.
#[test]
fn what_is_cut_by_storing_is_skipped() {
    let third = binary(BinaryOp::Div, column("c0"), column("c1"));
    let back = binary(BinaryOp::Mul, third.clone(), column("c1"));
    let asked = select(vec![back], None);
    let columns = [("c0", "INT", Kind::Int), ("c1", "INT", Kind::Int)];
    let subject = |rows| subject(&columns, rows, third.clone(), asked.clone());
    assert_outcomes("mariadb", &[(subject("(1, 3)"), CHANGED), (subject("(1, 4)"), "agree")]);
}

/// A literal of bytes is a number where one is wanted, but not so a column of bytes.
#[test]
fn what_columns_read_otherwise_is_skipped() {
    let bytes = Expr::Literal(Value::Blob(vec![0x41]));
    let either = Expr::function("COALESCE", vec![column("c0"), bytes]);
    let year = call("YEAR", &["c0"]);
    let asked = |operation: &Expr| {
        let filter = binary(BinaryOp::Gt, operation.clone(), Expr::int(1));
        subject(&[INT], "(NULL), (20200229)", operation.clone(), select(vec![Expr::int(1)], Some(filter)))
    };
    let reason = "result that a column of its type is not compared like";
    assert_outcomes("mysql", &[(asked(&either), reason), (asked(&year), reason)]);
}

/// `coalesce(NULL, 0)` is 0 in a row that an outer join padded; its stored result is NULL there.
#[test]
fn padded_rows_and_all_columns_are_skipped() {
    let zero = Expr::function("coalesce", vec![column("c0"), Expr::int(0)]);
    let asked = |edit: &dyn Fn(&mut Select)| {
        let mut asked = select(vec![zero.clone()], None);
        edit(&mut asked);
        check(&subject(&[INT], "(1), (2)", zero.clone(), asked))
    };
    let other = || TableRef::Table { name: "e0".into(), alias: Some("a0".into()), hint: None };
    let join = |kind, on| TableRef::join(kind, other(), TableRef::table("e0"), on);
    let on = || JoinOn::On(binary(BinaryOp::Lt, Expr::column("a0", "c0"), column("c0")));
    let padded = "outer join, where a stored result is NULL and a computed one need not be";
    let all = "query that means all columns, of which the stored table has others";
    assert_eq!(asked(&|select| select.from = vec![join(JoinKind::Left, on())]), Verdict::skip(padded));
    let natural = |select: &mut Select| select.from = vec![join(JoinKind::Inner, JoinOn::Natural)];
    assert_eq!(asked(&natural), Verdict::skip(all));
    assert_eq!(asked(&|select| select.items.push(SelectItem::Wildcard)), Verdict::skip(all));
    let inner = |select: &mut Select| select.from = vec![join(JoinKind::Inner, on())];
    assert_eq!(asked(&inner), Verdict::Pass { nonempty: true });
}

fn walk(engine: &mut dyn Engine, dialect: &Dialect, cases: u64) -> (Counting, BTreeMap<String, u64>, u64) {
    let oracles = oracle::select("edc");
    let walk = Walk { dialect, calm: None, oracles, seed: 5, policy: Policy::default() };
    let mut watcher = Counting { cases_left: cases, ..Counting::default() };
    let (notes, statements) = with_session(engine, dialect, |session| {
        for number in 0.. {
            if !watcher.findings.is_empty()
                || !walk.database(number, session, &mut watcher).expect("the engine answers")
            {
                break;
            }
        }
        let notes = session.counts.notes.iter().map(|(note, count)| (note.to_string(), *count)).collect();
        (notes, session.counts.statements)
    });
    (watcher, notes, statements)
}

#[test]
fn stored_results_stand_for_operations_on_sqlite() {
    let (mut engine, dialect) = sqlite();
    // Of bytes these two make text with what happened to be in memory, where texts are UTF-16.
    let dialect = dialect.without(&[], &["concat".into(), "concat_ws".into()]);
    let (watcher, notes, statements) = walk(engine.as_mut(), &dialect, 400);
    let shown: Vec<_> = watcher.findings.iter().map(|(_, evidence)| &evidence.arms).collect();
    assert!(watcher.findings.is_empty(), "{shown:#?}");
    println!("{} pass, {} skips, {notes:?}, {statements} statements", watcher.passes, watcher.skips);
    assert!(watcher.passes > 200, "{} passes, {} skips", watcher.passes, watcher.skips);
    // Building a pair of tables is paid for by many queries.
    let compared = 2 * notes["edc: pairs compared"];
    assert!(compared * 100 >= statements * 70, "{compared} of {statements} statements are compared");
}

/// Loses the last row of what is asked of the stored table with BETWEEN.
fn lossy() -> Tampered<SqliteEngine> {
    let lose = |sql: &str, mut reply: Reply| {
        if sql.contains("stored0")
            && sql.contains(" BETWEEN ")
            && let Reply::Rows(rows) = &mut reply
        {
            rows.values.truncate(rows.values.len().saturating_sub(rows.columns));
        }
        reply
    };
    Tampered::new(SqliteEngine::bundled().expect("the bundled SQLite opens"), lose)
}

#[test]
fn a_planted_bug_is_found_and_reduced_to_one_query() {
    let (_, dialect) = sqlite();
    let (watcher, ..) = walk(&mut lossy(), &dialect, 400);
    let (subject, evidence) = watcher.findings.into_iter().next().expect("the planted bug is found");
    assert_eq!(evidence.class, Class::WrongRows);
    // The finding tells how the stored table came to be, and its base table is part of its setup.
    assert!(evidence.arms[0].sql.contains("CREATE TABLE stored0"), "{:?}", evidence.arms);
    let base =
        |statement: &Statement| matches!(statement, Statement::CreateTable(create) if create.name == "e0");
    assert!(subject.setup.iter().any(base));
    assert!(subject.tests.len() > 1);
    let mut engine = lossy();
    let mut fails = |subject: &Subject| {
        let verdict = check_on(&mut engine, &dialect, subject);
        Ok(matches!(verdict, Verdict::Bug(evidence) if evidence.class == Class::WrongRows))
    };
    let budget = Budget { checks: 400, over: &|| false };
    let reduced = reduce(subject, &dialect, reduce::all(), &budget, &mut fails).expect("the engine answers");
    assert_eq!(reduced.subject.tests.len(), 1);
    assert!(reduced.subject.setup.len() <= 3, "{:?}", reduced.subject.setup);
}
