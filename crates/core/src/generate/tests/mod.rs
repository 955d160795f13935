//! Generated trees, without an engine.

pub(crate) mod recorded;

use super::{Column, Generator, Policy, Stage, State};
use crate::dialect::Dialect;
use crate::render::to_sql;
use crate::rng::Rng;
use crate::sql::*;

fn dialect(name: &str) -> Dialect {
    let version = match name {
        "sqlite" => "3.54.1",
        "duckdb" => "1.5.6",
        "postgres" => "18.4",
        "mysql" => "9.7.4",
        _ => "26.7",
    };
    Dialect::load(name, version).unwrap()
}

/// A database of one to three tables with rows.
fn database(rng: Rng, dialect: &Dialect, policy: &Policy) -> (State, Vec<Statement>) {
    let mut state = State::default();
    let mut statements = Vec::new();
    let mut rng = rng;
    for stage in [Stage::Table, Stage::Table, Stage::Rows(0), Stage::Rows(1)] {
        let mut generator = Generator::new(rng.clone(), dialect, &state, policy);
        let drawn = generator.stage(stage);
        rng = generator.rng;
        drawn.iter().for_each(|statement| state.apply(statement, dialect));
        statements.extend(drawn);
    }
    (state, statements)
}

#[test]
fn tables_in_partitions_have_no_keys_and_come_with_their_partitions() {
    for (name, with_tables) in [("postgres", true), ("mysql", false), ("clickhouse", false)] {
        let (dialect, policy, state) = (dialect(name), Policy::default(), State::default());
        let mut drawn = 0;
        for seed in 0..400 {
            let statements = Generator::new(Rng::new(seed), &dialect, &state, &policy).stage(Stage::Table);
            let sql: Vec<String> = statements.iter().map(|statement| to_sql(statement, &dialect)).collect();
            if !sql[0].contains("PARTITION BY") {
                assert_eq!(sql.len(), 1);
                continue;
            }
            drawn += 1;
            assert!(!sql[0].contains("UNIQUE") && !sql[0].contains("PRIMARY"), "{}", sql[0]);
            assert_eq!(sql.len() > 1, with_tables, "{sql:?}");
            assert!(
                sql[1..].iter().all(|made| made.contains("PARTITION OF t0") && dialect.is_maintenance(made))
            );
        }
        assert!(drawn > 3, "{name} draws {drawn} tables in partitions");
    }
}

/// A script may bring a view over something that is not understood.
#[test]
fn relations_without_known_columns_do_no_harm() {
    for name in ["sqlite", "duckdb", "postgres", "mysql"] {
        let dialect = dialect(name);
        let policy = Policy::default();
        for seed in 0..400 {
            let (mut state, _) = database(Rng::new(seed), &dialect, &policy);
            let from = vec![TableRef::table("unknown")];
            let query =
                Query::select(Select { items: vec![SelectItem::Wildcard], from, ..Select::default() });
            let view = CreateView { name: "v9".into(), temporary: false, columns: Vec::new(), query };
            state.apply(&Statement::CreateView(view), &dialect);
            assert!(state.table("v9").is_some_and(|view| view.columns.is_empty()));
            let mut generator = Generator::new(Rng::new(seed), &dialect, &state, &policy);
            for _ in 0..30 {
                generator.change();
                generator.start_over();
                generator.any_query();
            }
        }
    }
}

#[test]
fn what_can_be_null_by_its_type_is_null_in_spite_of_not_null() {
    let dialect = dialect("clickhouse");
    let column = |ty: &str| ColumnDef {
        name: "c0".into(),
        ty: DataType::new(ty, Kind::Text),
        constraints: vec![ColumnConstraint::NotNull],
    };
    assert!(Column::from_def(&column("String"), &dialect).not_null);
    assert!(!Column::from_def(&column("LowCardinality(Nullable(String))"), &dialect).not_null);
}
