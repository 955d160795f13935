//! PLAN: what it does with settings. What it shares with INDEX is tested in [`super::again`].

use dissent_core::dialect::Setting;
use dissent_core::engine::{ErrorClass, Reply};
use dissent_core::render;
use dissent_core::sql::Statement;

use super::again::{self, SETUP, assert_agreement, changing};
use super::common::{Fixture, assert_skipped, evidence, failed, without_last_row};

#[test]
fn rule_7_1_a_subject_is_a_query_and_settings() {
    let mut case = changing("plan", SETUP, "SELECT c0 FROM t0", "PRAGMA automatic_index = 0");
    case.subject.tests.swap(0, 1);
    assert_skipped(again::lossy().check(&case), "not a query followed by settings");
}

#[test]
fn rule_7_1_a_setting_that_answers_may_depend_on_is_not_touched() {
    let case = changing("plan", SETUP, "SELECT c0 FROM t0", "PRAGMA case_sensitive_like = 1");
    assert_skipped(again::lossy().check(&case), "setting that may change results");
}

#[test]
fn rule_7_1_what_cannot_be_set_or_set_back_is_not_touched() {
    let case = changing("plan", SETUP, "SELECT c0 FROM t0", "PRAGMA automatic_index = 0");
    let reason = "no setting can be changed and restored";
    // Neither a setting that does not tell its value, nor one that cannot be set; all else goes wrong.
    for refused in ["PRAGMA automatic_index", "PRAGMA automatic_index = 0"] {
        let mut asked = 0;
        let mut fixture = Fixture::tampered(move |sql, reply| {
            asked += u32::from(sql.starts_with("SELECT"));
            match sql == refused {
                true => failed(ErrorClass::Semantic, "no such setting"),
                false if asked > 1 => without_last_row(reply),
                false => reply,
            }
        });
        assert_skipped(fixture.check(&case), reason);
    }
    let nothing = changing("plan", SETUP, "SELECT c0 FROM t0", "");
    assert_skipped(again::lossy().check(&nothing), reason);
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "plan", 3_000);
}

#[test]
fn duckdb_agrees_with_itself() {
    assert_agreement("duckdb", "plan", 400);
}

#[test]
fn postgres_agrees_with_itself() {
    assert_agreement("postgres", "plan", 400);
}

/// SQLite's switches have no SQL: they are written as its shell has them, and their initial value is known.
#[test]
fn optimizations_of_sqlite_are_switched_off_and_on_again() {
    let mut case = changing("plan", SETUP, "SELECT c0 FROM t0", "");
    case.subject.tests.push(set("optimizations", "0xffffffff"));
    let mut off = false;
    let mut log = Vec::new();
    let mut unoptimised = Fixture::tampered(move |sql, reply| {
        if let Some(mask) = sql.strip_prefix(".testctrl optimizations ") {
            log.push(mask.to_string());
            off = mask == "0xffffffff";
            assert!(log.len() < 3 && !matches!(reply, Reply::Failed(_)), "{log:?}");
        }
        if off && sql.starts_with("SELECT") { without_last_row(reply) } else { reply }
    });
    let evidence = evidence(unoptimised.check(&case));
    let shown: Vec<&str> = evidence.arms.iter().map(|arm| arm.sql.as_str()).collect();
    assert_eq!(shown[1], ".testctrl optimizations 0xffffffff", "{shown:?}");
}

/// The switch does what it says, and a reset forgets it.
#[test]
fn sqlite_plans_otherwise_with_optimizations_off() {
    let mut sqlite = Fixture::sqlite();
    let plan = |sqlite: &mut Fixture| {
        let rows = sqlite.rows("EXPLAIN QUERY PLAN SELECT c0 FROM t0 WHERE c0 = 1 OR c1 = 2").unwrap();
        sqlite.dialect.plan_text(&rows)
    };
    let setup = ["CREATE TABLE t0(c0, c1)", "CREATE INDEX i0 ON t0(c0)", "CREATE INDEX i1 ON t0(c1)"];
    let build = |sqlite: &mut Fixture| {
        sqlite.engine.reset().unwrap();
        setup.iter().for_each(|statement| drop(sqlite.engine.execute(statement).unwrap()));
        plan(sqlite)
    };
    let usual = build(&mut sqlite);
    sqlite.engine.execute(".testctrl optimizations 0xffffffff").unwrap();
    let select = "EXPLAIN SELECT 1 FROM t0 AS a LEFT JOIN t0 AS b ON a.c0 = b.c0 GROUP BY a.c0 ORDER BY a.c0";
    let without = sqlite.rows(select).unwrap();
    assert_eq!(build(&mut sqlite), usual);
    assert_ne!(sqlite.rows(select).unwrap(), without, "a reset forgets the switch");
}

/// What an engine lists can be read, set and set back.
#[test]
fn settings_that_engines_list_can_be_set() {
    for (target, least) in
        [("duckdb", 40), ("postgres", 40), ("mysql", 25), ("mariadb", 35), ("clickhouse", 100)]
    {
        let Some(mut fixture) = Fixture::open(target) else { continue };
        fixture.dialect.discover(fixture.engine.as_mut()).unwrap();
        fixture.engine.reset().unwrap();
        let dialect = fixture.dialect.clone();
        let values =
            |setting: &Setting| setting.values.iter().map(|value| set(&setting.name, value)).collect();
        let statements: Vec<Statement> = dialect.settings.iter().flat_map::<Vec<_>, _>(values).collect();
        let refused: Vec<String> = statements
            .iter()
            .map(|statement| render::to_sql(statement, &dialect))
            .filter(|sql| matches!(fixture.engine.execute(sql), Ok(Reply::Failed(_))))
            .collect();
        assert!(statements.len() >= least, "{target} lists {} values", statements.len());
        assert!(refused.len() * 10 <= statements.len(), "{target} refuses {refused:?}");
    }
}

/// The first bug that this project found needs an optimizer that no list of ours had.
#[test]
fn duckdb_names_every_optimizer_it_has() {
    let Some(mut duckdb) = Fixture::open("duckdb") else { return };
    duckdb.dialect.discover(duckdb.engine.as_mut()).unwrap();
    let disabled = duckdb.dialect.setting("disabled_optimizers").unwrap();
    assert!(disabled.values.iter().any(|value| *value == *"'common_subplan'"), "{:?}", disabled.values);
    assert!(disabled.values[0].contains("join_order,") && disabled.values[0].contains("common_subplan"));
}

fn set(name: &str, value: &str) -> Statement {
    Statement::Set { name: name.into(), value: value.into() }
}
