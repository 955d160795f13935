//! What is drawn, by its trees alone.

use super::{Column, Generator, Policy, Stage, State};
use crate::dialect::Dialect;
use crate::oracle::gate;
use crate::rng::Rng;
use crate::sql::render::to_sql;
use crate::sql::*;
use crate::subject::Subject;

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

/// The queries of any shape that are drawn over many databases, each with what makes its database.
fn queries(dialect: &Dialect) -> Vec<Subject> {
    let policy = Policy::default();
    let mut queries = Vec::new();
    for seed in 0..150 {
        let (state, setup) = database(Rng::new(seed), dialect, &policy);
        let mut generator = Generator::new(Rng::new(seed + 1000), dialect, &state, &policy);
        for _ in 0..20 {
            if let Some(query) = generator.any_query() {
                queries.push(Subject { setup: setup.clone(), ..Subject::new("norec", query) });
            }
        }
    }
    queries
}

#[test]
fn every_recursion_that_is_drawn_ends_and_is_understood() {
    for name in ["sqlite", "duckdb", "postgres", "mysql", "clickhouse"] {
        let dialect = dialect(name);
        let mut drawn = 0;
        for subject in queries(&dialect) {
            assert!(subject.tests.iter().all(recursion::ends), "{:?}", subject.tests);
            let with = subject.query().and_then(|query| query.with.as_ref());
            let tables: Vec<&CommonTable> = with.iter().flat_map(|with| &with.tables).collect();
            for table in tables.iter().filter(|table| table.reads_itself()) {
                drawn += 1;
                assert!(with.is_some_and(|with| with.recursive));
                let recursion = table.recursion().expect("an anchor and a step");
                assert!(recursion.is_of_one_affinity(), "{table:?}");
                let mut state = State::default();
                subject.setup.iter().for_each(|statement| state.apply(statement, &dialect));
                let columns = state.columns_of_common(table, &dialect);
                assert_eq!(columns.len(), recursion.anchor.items.len());
                assert_eq!(columns[0].pool.first(), Some(&Value::Int(1)));
            }
            // What is undefined is not drawn, recursive or not.
            assert_eq!(gate::undefined(&subject, &dialect), None, "{}", to_sql(&subject.tests[0], &dialect));
        }
        assert!(drawn > 10, "{name} draws {drawn} recursions");
    }
}

#[test]
fn what_numbers_rows_has_a_total_order() {
    let dialect = dialect("postgres");
    let rows = |sql: &str| sql.contains("ROWS BETWEEN");
    let framed = queries(&dialect).into_iter().filter(|subject| rows(&to_sql(&subject.tests[0], &dialect)));
    let mut framed: Vec<Subject> = framed.collect();
    assert!(framed.len() > 5, "{} frames of rows", framed.len());
    for subject in &mut framed {
        // The same query over tables whose keys were taken away.
        for statement in &mut subject.setup {
            if let Statement::CreateTable(create) = statement {
                create.columns.iter_mut().for_each(|column| column.constraints.clear());
                create.constraints.clear();
            }
        }
        assert_eq!(gate::undefined(subject, &dialect), Some("window without a total order"));
    }
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
