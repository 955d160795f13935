//! What is drawn has one answer: the gate, which knows undefined queries, lets all of it through.

use dissent_core::database::Database;
use dissent_core::dialect::Dialect;
use dissent_core::generate::{Generator, Policy, Stage};
use dissent_core::oracle::kit::{freedom, gate};
use dissent_core::render::to_sql;
use dissent_core::rng::Rng;
use dissent_core::sql::*;
use dissent_core::state::State;
use dissent_core::subject::{Subject, TestCase};

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
fn queries(dialect: &Dialect) -> Vec<TestCase> {
    let policy = Policy::default();
    let mut queries = Vec::new();
    for seed in 0..150 {
        let (state, setup) = database(Rng::new(seed), dialect, &policy);
        let mut generator = Generator::new(Rng::new(seed + 1000), dialect, &state, &policy);
        for _ in 0..20 {
            if let Some(query) = generator.any_query() {
                queries.push(TestCase { setup: setup.clone(), subject: Subject::new("norec", query) });
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
        for TestCase { setup, subject } in queries(&dialect) {
            let database = Database::of(&setup, &dialect);
            assert!(subject.tests.iter().all(recursion::ends), "{:?}", subject.tests);
            let with = subject.query().and_then(|query| query.with.as_ref());
            let tables: Vec<&CommonTable> = with.iter().flat_map(|with| &with.tables).collect();
            for table in tables.iter().filter(|table| table.reads_itself()) {
                drawn += 1;
                assert!(with.is_some_and(|with| with.recursive));
                let recursion = table.recursion().expect("an anchor and a step");
                assert!(recursion.is_of_one_affinity(), "{table:?}");
                let columns = database.state().columns_of_common(table, &dialect);
                assert_eq!(columns.len(), recursion.anchor.items.len());
                assert_eq!(columns[0].pool.first(), Some(&Value::Int(1)));
            }
            // What is undefined is not drawn, recursive or not.
            let sql = to_sql(&subject.tests[0], &dialect);
            match gate::undefined(&subject, &database, &dialect) {
                // A variance rounds in the order in which its rows come.
                Some("sum whose rounding depends on row order") => {
                    assert!(sql.contains("VAR") || sql.contains("STD"), "{sql}");
                }
                undefined => assert_eq!(undefined, None, "{sql}"),
            }
        }
        assert!(drawn > 10, "{name} draws {drawn} recursions");
    }
}

/// What is skipped whenever it differs finds nothing: it must be little of what is drawn.
#[test]
fn few_queries_leave_their_answer_open() {
    for name in ["sqlite", "duckdb", "postgres", "mysql", "clickhouse"] {
        let dialect = dialect(name);
        let drawn = queries(&dialect);
        let open = drawn.iter().filter(|case| {
            let database = Database::of(&case.setup, &dialect);
            let query = case.subject.query().expect("one query");
            freedom::left_open(query, database.state(), &dialect).is_some()
        });
        let open = open.count();
        assert!(open * 100 <= drawn.len() * 8, "{name}: {open} of {} queries", drawn.len());
    }
}

#[test]
fn what_numbers_rows_has_a_total_order() {
    let dialect = dialect("postgres");
    let rows = |sql: &str| sql.contains("ROWS BETWEEN");
    let framed = queries(&dialect).into_iter().filter(|case| rows(&to_sql(&case.subject.tests[0], &dialect)));
    let mut framed: Vec<TestCase> = framed.collect();
    assert!(framed.len() > 5, "{} frames of rows", framed.len());
    for TestCase { setup, subject } in &mut framed {
        // The same query over tables whose keys were taken away.
        for statement in setup.iter_mut() {
            if let Statement::CreateTable(create) = statement {
                create.columns.iter_mut().for_each(|column| column.constraints.clear());
                create.constraints.clear();
            }
        }
        let database = Database::of(setup, &dialect);
        assert_eq!(gate::undefined(subject, &database, &dialect), Some("window without a total order"));
    }
}
