//! Catalogs as real engines give them, and how replies become signatures.

use std::collections::BTreeSet;

use dissent_core::catalog::{Catalog, OperationKind, Why};
use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, ErrorClass, Reply, Rows};
use dissent_core::oracle;
use dissent_core::probe::Prober;
use dissent_core::session::{NoJournal, Session};
use dissent_core::sql::Value;
use dissent_engine::fake::FakeEngine;

use super::common::{Counting, Fixture, failed};

fn catalog(engine: &mut dyn Engine, dialect: &Dialect) -> Catalog {
    let mut journal = NoJournal;
    let mut session = Session::new(engine, dialect, &mut journal, || 0);
    Prober::begin(&mut session).and_then(|prober| prober.catalog(1)).expect("the engine answers")
}

fn of_sqlite() -> (Catalog, Vec<String>) {
    let (mut recording, log) = Fixture::recording();
    let catalog = catalog(recording.engine.as_mut(), &recording.dialect);
    (catalog, log.take())
}

fn usable_names(catalog: &Catalog) -> BTreeSet<&str> {
    catalog.usable().map(|operation| &*operation.name).collect()
}

/// Without casts, which are as many as there are pairs of types.
fn usable(catalog: &Catalog) -> usize {
    catalog.usable().filter(|operation| operation.kind != OperationKind::Cast).count()
}

#[test]
fn nearly_every_deterministic_function_of_sqlite_is_usable() {
    let (catalog, _) = of_sqlite();
    let usable = usable_names(&catalog);
    let list = "SELECT DISTINCT name FROM pragma_function_list WHERE type = 's' AND flags & 2048";
    let listed = Fixture::sqlite().rows(list).unwrap();
    let names: Vec<String> = listed
        .iter()
        .map(|row| match &row[0] {
            // The list has the two arrows as functions, which nobody can call by that name.
            Value::Text(name) if name.starts_with("->") => format!("{{}} {name} {{}}"),
            Value::Text(name) => name.clone(),
            other => panic!("{other}"),
        })
        .collect();
    let missing: Vec<&String> = names.iter().filter(|name| !usable.contains(name.as_str())).collect();
    assert!(names.len() > 80, "{} names", names.len());
    assert!(missing.len() * 20 <= names.len(), "{} of {}: {missing:?}", missing.len(), names.len());
}

#[test]
fn what_is_denied_or_volatile_is_never_called() {
    let (catalog, statements) = of_sqlite();
    let usable = usable_names(&catalog);
    for name in ["load_extension", "random", "randomblob", "sqlite_log", "changes", "current_timestamp"] {
        assert!(!usable.contains(name), "{name} is usable");
        let call = format!("{name}(");
        assert!(!statements.iter().any(|sql| sql.contains(&call)), "{name} was called");
    }
    for clock in ["SELECT date()", "SELECT strftime(p0)", "SELECT datetime()"] {
        assert!(!statements.iter().any(|sql| sql.contains(clock)), "{clock} reads the clock");
    }
}

#[test]
fn a_catalog_is_the_same_each_time_and_survives_being_kept() {
    let (first, _) = of_sqlite();
    let (second, _) = of_sqlite();
    assert_eq!(first, second);
    let kept: Catalog = serde_json::from_str(&serde_json::to_string(&first).unwrap()).unwrap();
    assert_eq!(first, kept);
}

#[test]
fn a_version_without_a_list_of_functions_is_asked_for_names_in_the_file() {
    let mut unlisted = Fixture::tampered(|sql, reply| match sql.contains("pragma_function_list") {
        true => failed(ErrorClass::Semantic, "no such table"),
        false => reply,
    });
    let catalog = catalog(unlisted.engine.as_mut(), &unlisted.dialect);
    let usable = usable_names(&catalog);
    assert!(["abs", "substr", "json_extract", "count"].iter().all(|name| usable.contains(name)));
}

#[test]
fn duckdb_lists_its_overloads() {
    let Some(mut duckdb) = Fixture::open("duckdb") else { return };
    let catalog = catalog(duckdb.engine.as_mut(), &duckdb.dialect);
    assert!(usable(&catalog) >= 400, "{}", usable(&catalog));
    let names = usable_names(&catalog);
    assert!(["abs", "list_contains", "last_day", "+", "count"].iter().all(|name| names.contains(name)));
    assert!(["random", "now", "nextval", "current_setting"].iter().all(|name| !names.contains(name)));
}

/// Why DuckDB's overloads of an aggregate are not usable, if the dialect's file lists no names.
fn found_out(duckdb: &mut Fixture, name: &str) -> Vec<Option<Why>> {
    duckdb.dialect.order_dependent.clear();
    duckdb.session(|session| {
        let mut prober = Prober::begin(session).expect("the engine answers");
        let mut candidates = prober.candidates().expect("the engine answers");
        candidates.retain(|candidate| &*candidate.name == name);
        candidates.truncate(20);
        let probed =
            candidates.iter().flat_map(|candidate| prober.probe(candidate).expect("the engine answers"));
        probed.map(|operation| operation.unusable.map(|unusable| unusable.why)).collect()
    })
}

/// The row with the greatest key is not one row when two have it; the names of such aggregates are in the dialect's
/// file, and those that are not there are found out.
#[test]
fn an_aggregate_that_picks_one_of_a_tie_depends_on_the_order_of_rows() {
    let Some(mut duckdb) = Fixture::open("duckdb") else { return };
    let reasons = found_out(&mut duckdb, "argmax");
    assert!(!reasons.is_empty());
    assert!(reasons.iter().all(|why| *why == Some(Why::OrderDependent)), "{reasons:?}");
}

/// An average of floats is rounded at every step, also that of a constant.
#[test]
fn an_aggregate_that_adds_floats_depends_on_the_order_of_rows() {
    let Some(mut duckdb) = Fixture::open("duckdb") else { return };
    let reasons = found_out(&mut duckdb, "regr_avgx");
    assert!(!reasons.is_empty());
    assert!(reasons.iter().all(|why| *why == Some(Why::OrderDependent)), "{reasons:?}");
    // The greatest float is the same in any order.
    assert!(found_out(&mut duckdb, "max").contains(&None));
}

/// Every usable operation is drawn sooner or later, most statements are valid, and seeds keep their meaning.
#[test]
fn the_generator_draws_from_the_catalog() {
    let (catalog, _) = of_sqlite();
    let run = || {
        let (mut recording, log) = Fixture::recording();
        recording.dialect.learn(&catalog);
        let (watcher, counts) = recording.walk(oracle::select("all"), 3, Counting::cases(40_000));
        (counts, watcher, log.take())
    };
    let (counts, watcher, first) = run();
    let (_, _, second) = run();
    assert_eq!(first, second);
    let valid = counts.statements_ok as f64 / counts.statements as f64;
    assert!(valid >= 0.95, "{:.1} % of {} statements succeed", 100.0 * valid, counts.statements);
    let seen = watcher.operations.len() as f64 / catalog.usable().count() as f64;
    assert!(seen >= 0.8, "{:.1} % of the usable operations were in valid cases", 100.0 * seen);
    let sql = first.join("\n").to_lowercase();
    for window in ["row_number()", "lag(", "ntile(", "nth_value("] {
        assert!(sql.contains(window), "never drawn: {window}");
    }
    let noted = |note: &str| counts.notes.get(note).copied().unwrap_or(0) as f64;
    let (none, some, all) = (
        noted(oracle::norec::SELECTS_NONE),
        noted(oracle::norec::SELECTS_SOME),
        noted(oracle::norec::SELECTS_ALL),
    );
    let third = (none + some + all) / 3.0;
    assert!(none <= third && all <= third, "{none} select no row, {some} some, {all} all");
    assert!(watcher.findings.is_empty(), "{:#?}", watcher.findings);
}

/// Six answers to a call over the table of samples, or the two typical ones.
fn answers(sql: &str, value: impl Fn(i64) -> Value) -> Reply {
    let count = if sql.contains(" IN (0, 5)") { 2 } else { 6 };
    let values = (0..count).map(|row| value(if row == count - 1 { 0 } else { row })).collect();
    Reply::Rows(Rows { columns: 1, values })
}

/// A pretended SQLite with the functions `steady`, `moody`, `picky`, `edgy` and `fatal` of one argument.
fn pretended() -> FakeEngine {
    let text = |text: &str| Value::Text(text.into());
    let mut asked = 0;
    FakeEngine::new(move |sql| {
        asked += 1;
        let reply = if sql.contains("pragma_function_list") {
            let line = |name: &str| [text("function"), text(name), text("?"), Value::Null, text("immutable")];
            let names = ["steady", "moody", "picky", "edgy", "fatal"];
            Reply::Rows(Rows { columns: 5, values: names.iter().flat_map(|name| line(name)).collect() })
        } else if !sql.starts_with("SELECT") {
            Reply::Done { changed: 0 }
        } else if sql.contains("steady(") {
            answers(sql, Value::Int)
        } else if sql.contains("moody(") {
            answers(sql, |row| Value::Int(row + asked))
        } else if sql.contains("picky(p0)") {
            answers(sql, |_| Value::Text("x".into()))
        } else if sql.contains("edgy(") && sql.contains(" IN (0, 5)") {
            answers(sql, |_| Value::Real(0.5))
        } else if sql.contains("fatal(") {
            failed(ErrorClass::Internal, "no")
        } else {
            failed(ErrorClass::Runtime, "no")
        };
        Ok(reply)
    })
    .with_version("3.54.1")
}

#[test]
fn replies_become_signatures() {
    let mut engine = pretended();
    let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
    let catalog = catalog(&mut engine, &dialect);
    let operation = |name: &str| {
        let named = |operation: &&dissent_core::catalog::Operation| operation.name == name;
        catalog.operations.iter().find(named).unwrap_or_else(|| panic!("{name} is missing"))
    };
    let ty = |name: &str| catalog.types.iter().position(|ty| ty.name == name).map(|at| at as u16);

    let steady = &operation("steady").signatures[0];
    assert_eq!(steady.args[0].types.len(), catalog.types.len(), "it takes every type");
    assert_eq!((steady.returns, steady.fragile), (ty("INTEGER"), false));

    let picky = &operation("picky").signatures[0];
    assert_eq!(picky.args[0].types, [ty("TEXT").unwrap()]);
    assert_eq!(picky.returns, ty("TEXT"));

    assert!(operation("edgy").signatures.iter().all(|signature| signature.fragile));
    assert_eq!(operation("moody").unusable.as_ref().map(|unusable| unusable.why), Some(Why::Unsteady));
    assert_eq!(operation("fatal").unusable.as_ref().map(|unusable| unusable.why), Some(Why::Crashes));
    assert!(engine.resets > 1, "after harm the tables are built again");
}
