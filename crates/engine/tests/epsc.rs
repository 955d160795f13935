//! EPSC on real engines: the paper's listings, the conditions under which it speaks, and error validation.

mod common;

use common::{check, check_on, open, sqlite};
use dissent_core::engine::{Engine, Reply};
use dissent_core::finding::{Arm, ArmOutcome, Class, Evidence, Verdict};
use dissent_core::sql::*;
use dissent_core::subject::Subject;
use dissent_engine::fake::Tampered;
use dissent_engine::sqlite::SqliteEngine;

fn subject(steps: Vec<Statement>) -> Subject {
    Subject {
        oracle: "epsc".to_string(),
        setup: Vec::new(),
        tests: steps,
        exprs: Vec::new(),
        choices: Default::default(),
    }
}

fn in_sql(steps: Vec<Statement>) -> Subject {
    subject(steps).with_choice("road", "sql")
}

fn bound(value: impl Into<Parameter>) -> Expr {
    Expr::Bound(value.into().0)
}

/// A parameter under a cast.
fn cast(value: impl Into<Parameter>, ty: &str, kind: Kind) -> Expr {
    Expr::Cast { expr: Box::new(bound(value)), ty: DataType::new(ty, kind) }
}

struct Parameter(Value);

impl From<i64> for Parameter {
    fn from(int: i64) -> Self {
        Parameter(Value::Int(int))
    }
}

impl From<&str> for Parameter {
    fn from(text: &str) -> Self {
        Parameter(Value::Text(text.to_string()))
    }
}

impl From<Value> for Parameter {
    fn from(value: Value) -> Self {
        Parameter(value)
    }
}

fn create(table: &str, columns: &[(&str, &str)]) -> Statement {
    let column = |(name, ty): &(&str, &str)| ColumnDef {
        name: Name::from(*name),
        ty: DataType::new(*ty, Kind::Any),
        constraints: Vec::new(),
    };
    Statement::CreateTable(CreateTable {
        name: table.into(),
        temporary: false,
        columns: columns.iter().map(column).collect(),
        constraints: Vec::new(),
        options: Vec::new(),
        query: None,
    })
}

fn insert(table: &str, columns: &[&str], values: Vec<Expr>) -> Statement {
    Statement::Insert(Insert {
        table: table.into(),
        or: None,
        columns: columns.iter().map(|name| Name::from(*name)).collect(),
        source: InsertSource::Values(vec![values]),
        upsert: None,
    })
}

fn select(item: Expr, table: &str) -> Select {
    Select { items: vec![item.into()], from: vec![TableRef::table(table)], ..Select::default() }
}

fn query(select: Select) -> Statement {
    Statement::from(Query::select(select))
}

fn c0() -> Expr {
    Expr::bare_column("c0")
}

#[track_caller]
fn evidence(verdict: Verdict) -> Evidence {
    match verdict {
        Verdict::Bug(evidence) => *evidence,
        other => panic!("no finding: {other:?}"),
    }
}

#[track_caller]
fn assert_passes(verdict: Verdict) {
    assert!(matches!(verdict, Verdict::Pass { .. }), "{verdict:?}");
}

#[track_caller]
fn assert_skipped(verdict: Verdict, reason: &str) {
    assert_eq!(verdict, Verdict::Skip(reason.to_string().into()));
}

fn on(target: &str, subject: &Subject) -> Option<Verdict> {
    let (mut engine, dialect) = open(target)?;
    Some(check_on(engine.as_mut(), &dialect, subject))
}

fn number_of_rows(arm: &Arm) -> Option<usize> {
    match &arm.outcome {
        ArmOutcome::Rows(rows) => Some(rows.len()),
        _ => None,
    }
}

const NO_PLACE: &str = "parameter where only a literal means the same";
const NO_TYPE: &str = "parameter of another type than its literal";

// What the paper's listings say of the engines that are here. Listings 1 and 5 are of CockroachDB, 6, 9, 11 and
// 15 of TiDB.

fn listing_7() -> Subject {
    let max = Expr::aggregate("max", vec![c0()]);
    subject(vec![create("t0", &[("c0", "")]), query(select(max.and(bound(0)), "t0"))])
}

#[test]
fn listing_7_an_aggregate_that_sqlite_folded_away() {
    assert_passes(check(&listing_7()));
    let Some(old) = on("sqlite@3.34.0", &listing_7()) else { return };
    let evidence = evidence(old);
    assert_eq!(evidence.class, Class::WrongRows);
    let rows: Vec<Option<usize>> = evidence.arms.iter().map(number_of_rows).collect();
    assert_eq!(rows, [Some(0), Some(1)], "{evidence:?}");
    assert!(evidence.arms[1].sql.ends_with("SELECT max(c0) AND ?1 FROM t0"), "{}", evidence.arms[1].sql);
}
