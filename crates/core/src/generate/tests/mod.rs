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

/// What a module stores is what was inserted: pairs of an R-tree in order, numbers that 32 bits hold.
#[test]
fn tables_of_modules_are_made_and_filled_as_their_module_wants() {
    let (dialect, policy) = (dialect("sqlite"), Policy::default());
    let mut filled = 0;
    for seed in 0..400 {
        let (state, statements) = database(Rng::new(seed), &dialect, &policy);
        for table in state.base_tables() {
            let Some(module) = table.module.as_ref().and_then(|module| dialect.module(module)) else {
                continue;
            };
            let made = statements.iter().map(|statement| to_sql(statement, &dialect));
            let start = format!("CREATE VIRTUAL TABLE {} USING {}(c0", table.name, module.name);
            assert!(made.into_iter().any(|sql| sql.starts_with(&start)), "{start}");
            let inserts = statements.iter().filter_map(|statement| match statement {
                Statement::Insert(insert) if insert.table == table.name => Some(insert),
                _ => None,
            });
            for insert in inserts {
                let InsertSource::Values(rows) = &insert.source else { continue };
                assert!(insert.upsert.is_none(), "a virtual table takes no ON CONFLICT");
                let follows = |at: &usize| module.column(*at).is_some_and(|column| column.follows);
                let number = |expr: &Expr| match expr {
                    Expr::Literal(Value::Int(int)) => *int as f64,
                    Expr::Literal(Value::Real(real)) => *real,
                    other => panic!("{other:?}"),
                };
                for row in rows.iter().filter(|row| row.len() == table.columns.len()) {
                    for at in (1..row.len()).filter(follows) {
                        assert!(number(&row[at - 1]) <= number(&row[at]), "{row:?}");
                        assert_eq!(number(&row[at]), f64::from(number(&row[at]) as f32));
                        filled += 1;
                    }
                }
            }
        }
    }
    assert!(filled > 20, "{filled}");
}

/// The gate and the generator agree on what a FROM brings into scope.
#[test]
fn the_columns_of_every_relation_are_known() {
    for name in ["sqlite", "duckdb", "postgres", "mysql", "clickhouse"] {
        let (dialect, policy) = (dialect(name), Policy::default());
        let (mut functions, mut lists) = (0, 0);
        for seed in 0..600 {
            let (state, _) = database(Rng::new(seed), &dialect, &policy);
            let mut generator = Generator::new(Rng::new(seed), &dialect, &state, &policy);
            let Some(from) = generator.from_clause(3) else { continue };
            let with = generator.common_tables.clone();
            let with = With { recursive: true, tables: with };
            let mut relations = Vec::new();
            for table in &from.tables {
                state.relations_of(table, Some(&with), &dialect, &mut relations);
                functions += usize::from(matches!(table, TableRef::Function { .. }));
                let is_list = |query: &Query| matches!(query.body, Body::Values(_));
                lists += usize::from(matches!(table, TableRef::Derived { query, .. } if is_list(query)));
            }
            let known: Vec<(Name, Vec<Name>)> = relations
                .iter()
                .map(|(alias, columns)| (alias.clone(), columns.iter().map(|c| c.name.clone()).collect()))
                .collect();
            let drawn: Vec<(Name, Vec<Name>)> = generator
                .relations()
                .iter()
                .map(|it| (it.alias.clone(), it.columns.iter().map(|c| c.name.clone()).collect()))
                .collect();
            assert_eq!(known, drawn);
        }
        assert_eq!(functions > 3, !dialect.table_functions.is_empty(), "{name}: {functions} functions");
        assert_eq!(lists > 0, dialect.can(crate::dialect::Feature::ValuesInFrom), "{name}");
    }
}
