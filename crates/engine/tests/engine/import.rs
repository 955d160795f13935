//! Foreign SQL against a real engine: what is lowered is believed only if it is answered the same, and oracles that
//! adopt the queries of scripts stay silent on an engine without fault.

use dissent_core::check;
use dissent_core::engine::Reply;
use dissent_core::generate::{Generator, Policy};
use dissent_core::import::{self, Imported};
use dissent_core::oracle;
use dissent_core::render::to_sql;
use dissent_core::report;
use dissent_core::rng::Rng;
use dissent_core::seeds;
use dissent_core::sql::Statement;
use dissent_core::state::State;

use super::common::{Counting, Fixture};

fn verified(script: &mut [Imported]) {
    Fixture::sqlite().session(|session| import::verify(script, session).expect("the engine answers"));
}

fn refusals(script: &[Imported]) -> Vec<bool> {
    script.iter().map(|imported| imported.refused.is_some()).collect()
}

#[test]
fn a_script_is_understood_and_what_is_not_is_kept_as_text() {
    let dialect = Fixture::sqlite().dialect;
    let text = "CREATE TABLE Stock(id INTEGER PRIMARY KEY, Name TEXT COLLATE NOCASE);\n\
        INSERT INTO stock VALUES (1, 'nut'), (2, 'bolt');\n\
        CREATE TRIGGER g AFTER INSERT ON stock BEGIN SELECT 1; END;\n\
        PRAGMA automatic_index = 0;\n\
        SELECT s.Name FROM stock s WHERE s.id ISNULL OR s.id == 2;\n\
        SELECT 0x1F;\n\
        SELECT name FROM stock INDEXED BY nothing;\n";
    let mut script = import::file("s.sql", text, &dialect);
    verified(&mut script);
    assert_eq!(refusals(&script), [false, false, true, false, false, true, true], "{script:#?}");
    let rendered = to_sql(&script[4].statement, &dialect);
    assert_eq!(
        rendered,
        "SELECT \"s\".\"name\" FROM \"stock\" AS \"s\" WHERE \"s\".\"id\" IS NULL OR \"s\".\"id\" = 2"
    );
    assert_eq!(script[2].statement, Statement::Raw(script[2].text.clone()));
}

#[test]
fn a_tree_that_is_answered_otherwise_is_not_believed() {
    let dialect = Fixture::sqlite().dialect;
    let read = |sql: &str| import::statement(sql, 1, &dialect);
    let misread = |text: &str, tree: &str| Imported { text: text.to_string(), ..read(tree) };
    let create = || read("CREATE TABLE t0(c0 INT)");

    let mut query = [create(), misread("SELECT 1", "SELECT 2"), read("SELECT 3")];
    verified(&mut query);
    assert_eq!(refusals(&query), [false, true, false]);

    // As many rows are changed, but other ones are there afterwards.
    let mut change =
        [create(), misread("INSERT INTO t0 VALUES (1)", "INSERT INTO t0 VALUES (2)"), read("SELECT 3")];
    verified(&mut change);
    assert_eq!(refusals(&change), [true, true, false]);

    let mut failure =
        [create(), misread("INSERT INTO t0 VALUES (1)", "INSERT INTO t1 VALUES (1)"), read("SELECT 3")];
    verified(&mut failure);
    assert_eq!(refusals(&failure), [false, true, false]);
}

/// A seed that its engine does not take, or that is only text to us, is none.
#[test]
fn the_seeds_of_every_dialect_are_taken_and_understood() {
    for (target, least) in
        [("sqlite", 85), ("duckdb", 75), ("postgres", 85), ("mysql", 85), ("clickhouse", 85)]
    {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        let (mut statements, mut understood) = (0, 0);
        for (name, text) in seeds::of(target) {
            let mut script = import::file(name, text, &fixture.dialect);
            let replies =
                fixture.session(|session| import::verify(&mut script, session).expect("the engine answers"));
            for (imported, reply) in script.iter().zip(&replies) {
                let taken = !matches!(reply, Reply::Failed(_));
                assert!(taken, "{target}/{name}:{}: {reply:?}", imported.line);
            }
            statements += script.len();
            understood += script.iter().filter(|imported| imported.refused.is_none()).count();
        }
        let share = 100 * understood / statements;
        assert!(share >= least, "{target}: {understood} of {statements} statements are understood");
    }
}

/// Scripts as a hunt would draw them, read back as foreign ones: no oracle may find anything in their queries.
#[test]
fn adopted_queries_raise_no_false_alarm() {
    let mut sqlite = Fixture::sqlite();
    let (dialect, policy) = (sqlite.dialect.clone(), Policy::default());
    let mut told = Counting::cases(u64::MAX);
    for database in 0..25 {
        let mut state = State::default();
        let mut statements = Vec::new();
        let mut rng = Rng::for_case(77, database, 0);
        let mut generator = Generator::new(rng, &dialect, &state, &policy);
        let plan = generator.plan();
        rng = generator.rng;
        for stage in plan {
            let mut generator = Generator::new(rng, &dialect, &state, &policy);
            let drawn = generator.stage(stage);
            rng = generator.rng;
            drawn.iter().for_each(|statement| state.apply(statement, &dialect));
            statements.extend(drawn);
        }
        for case in 1..12 {
            let mut generator = Generator::new(Rng::for_case(77, database, case), &dialect, &state, &policy);
            statements.extend(generator.composed_query().map(Statement::from));
        }
        let text: String = statements.iter().map(|statement| to_sql(statement, &dialect) + ";\n").collect();
        let script = import::file("drawn.sql", &text, &dialect);
        sqlite.session(|session| {
            check::script(database, script, oracle::all(), session, &mut told).expect("the engine answers")
        });
    }
    println!("{} checks, {} with rows, {} skipped", told.passes, told.nonempty, told.skips);
    for (case, evidence) in &told.findings {
        println!("{}: {}\n{}", case.subject.oracle, report::failure(evidence), evidence.arms[0].sql);
    }
    assert!(told.findings.is_empty(), "{} findings", told.findings.len());
    assert!(told.passes > 2_000 && told.nonempty > 500, "{} {}", told.passes, told.nonempty);
}

/// Of a virtual table and of the engine's own it is not known what their columns are. A query that an oracle finds nothing
/// in is counted as well.
#[test]
fn what_a_script_asks_of_unknown_relations_or_of_no_oracle_is_skipped() {
    let reasons = |script: &str| {
        let mut told = Counting::default();
        Fixture::sqlite().session(|session| {
            let statements = import::file("s.sql", script, session.dialect());
            check::script(0, statements, &oracle::select("norec"), session, &mut told)
                .expect("the engine answers")
        });
        (told.reasons.into_keys().collect::<Vec<String>>(), told.passes)
    };
    let refused = |reason: &str| (vec![reason.to_string()], 0);
    let made = "CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (1); CREATE VIEW v0 AS SELECT c0 FROM t0;
        CREATE VIRTUAL TABLE f0 USING fts5(c0); CREATE VIEW v1 AS SELECT c0 FROM f0;
        CREATE VIRTUAL TABLE r0 USING rtree(c0, c1, c2); CREATE VIEW v3 AS SELECT c0 FROM r0;
        CREATE INDEX i0 ON t0(c0); CREATE VIEW v2 AS SELECT c0 FROM t0 INDEXED BY i0;";
    // Of a view that is kept as text it is not known whether its rows are defined.
    for unknown in ["f0", "v1", "v2", "sqlite_schema", "t0, f0"] {
        assert_eq!(reasons(&format!("{made} SELECT 1 FROM {unknown} WHERE 1;")), refused(check::NOT_A_TABLE));
    }
    for known in ["t0", "v0", "t0, v0", "r0", "v3"] {
        let (reasons, passes) = reasons(&format!("{made} SELECT 1 FROM {known} WHERE 1;"));
        assert!(reasons.is_empty() && passes > 0, "{known}: {reasons:?}");
    }
    assert_eq!(reasons("SELECT 1;"), refused(check::NO_SUBJECT));
}
