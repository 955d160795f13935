use std::collections::BTreeSet;

use super::*;
use crate::dialect::Dialect;
use crate::generate::{Generator, Policy};
use crate::import;
use crate::render::to_sql;
use crate::rng::Rng;
use crate::sql::*;
use crate::state::State;

fn dialect() -> Dialect {
    Dialect::load("sqlite", "3.50.0").expect("SQLite's dialect loads")
}

fn parsed(sql: &str) -> Vec<Statement> {
    import::file("x.sql", sql, &dialect()).into_iter().map(|one| one.statement).collect()
}

fn state(sql: &str) -> State {
    let mut state = State::default();
    parsed(sql).iter().for_each(|statement| state.apply(statement, &dialect()));
    state
}

/// What statements become in another state, one after the other.
fn bound(context: &str, sql: &str) -> String {
    let (dialect, mut state, policy) = (dialect(), state(context), Policy::default());
    let mut renames = rebind::Renames::new();
    let mut texts = Vec::new();
    for statement in parsed(sql) {
        let mut generator = Generator::new(Rng::new(1), &dialect, &state, &policy);
        let Some(statement) = rebind::statement(&mut generator, &mut renames, statement) else { continue };
        texts.push(to_sql(&statement, &dialect));
        state.apply(&statement, &dialect);
    }
    texts.join("; ").replace('"', "")
}

const CONTEXT: &str = "CREATE TABLE t0 (c0 INT); CREATE VIEW v0 AS SELECT c0 AS c0 FROM t0";

#[test]
fn names_that_exist_are_kept() {
    let sql = "SELECT t0.c0 FROM t0 WHERE t0.c0 > 1";
    assert_eq!(bound(CONTEXT, sql), to_sql(&parsed(sql)[0], &dialect()));
}

#[test]
fn a_table_that_is_not_there_becomes_one_that_is() {
    let context = "CREATE TABLE t0 (c0 INT)";
    assert_eq!(
        bound(context, "SELECT other.x FROM other WHERE other.y IN (SELECT z FROM third)"),
        "SELECT other.c0 FROM t0 AS other WHERE other.c0 IN (SELECT c0 FROM t0 AS third)"
    );
    assert_eq!(bound(context, "DELETE FROM gone WHERE x = 1"), "DELETE FROM t0 WHERE c0 = 1");
    assert_eq!(bound(context, "CREATE INDEX i0 ON gone (x)"), "CREATE INDEX i0 ON t0(c0)");
}

#[test]
fn a_new_object_gets_a_name_that_nothing_has() {
    let texts = bound(CONTEXT, "CREATE TABLE t0 (a, b); INSERT INTO t0 VALUES (1)");
    assert!(texts.starts_with("CREATE TABLE t1(a, b); INSERT INTO t1 VALUES (1, "), "{texts}");
}

#[test]
fn rows_have_as_many_values_as_there_are_columns() {
    let context = "CREATE TABLE t0 (c0 INT, c1 TEXT, c2 AS (c0) STORED)";
    assert_eq!(bound(context, "INSERT INTO t0 VALUES (1, 'a', 3, 4)"), "INSERT INTO t0 VALUES (1, 'a')");
    assert_eq!(bound(context, "INSERT INTO t0 (c1, x) VALUES ('a', 2)"), "INSERT INTO t0(c1) VALUES ('a')");
}

#[test]
fn common_tables_and_derived_tables_are_looked_into() {
    let sql = "WITH w AS (SELECT x AS n FROM gone) SELECT w.n, d.m FROM w, (SELECT y AS m FROM gone) AS d";
    assert_eq!(
        bound("CREATE TABLE t0 (c0 INT)", sql),
        "WITH w AS (SELECT c0 AS n FROM t0 AS gone) SELECT w.n, d.m FROM w, (SELECT c0 AS m FROM t0 AS gone) AS d"
    );
}

#[test]
fn without_any_table_there_is_nothing_to_be_about() {
    assert_eq!(bound("", "UPDATE t0 SET c0 = 1"), "");
}

/// Whatever is changed, the text still reads as SQL: sqlparser takes it, and it is another text than before.
#[test]
fn changed_queries_are_sql_and_mostly_others() {
    let (dialect, policy) = (dialect(), Policy::default());
    let state = state("CREATE TABLE t0 (c0 INT, c1 TEXT); CREATE TABLE t1 (c0 REAL)");
    let base =
        "SELECT t0.c0, t1.c0 FROM t0 LEFT JOIN t1 ON t0.c0 = t1.c0 WHERE t0.c1 > 'a' AND t0.c0 IN (1, 2)";
    let donor = "SELECT DISTINCT length(t0.c1) FROM t0 WHERE t0.c1 LIKE 'x%'";
    let [Statement::Query(base), Statement::Query(donor)] = [parsed(base).remove(0), parsed(donor).remove(0)]
    else {
        panic!("not queries");
    };
    let mut changed = 0;
    for seed in 0..500 {
        let mut generator = Generator::new(Rng::new(seed), &dialect, &state, &policy);
        let mut other = (*base).clone();
        query(&mut generator, &mut other, Some(&donor));
        rebind::query(&mut generator, &mut other);
        changed += usize::from(other != *base);
        let text = to_sql(&Statement::from(other), &dialect);
        let tables: Vec<&str> = text.split("FROM ").skip(1).collect();
        assert!(tables.iter().all(|rest| rest.starts_with(['t', '(', 'a', 'w'])), "{text}");
    }
    assert!(changed > 400, "{changed} of 500 were changed");
}

/// What one mutation of queries makes of a query, by twenty seeds.
pub(super) fn changed_by(mutation: &str, context: &str, sql: &str) -> BTreeSet<String> {
    let mutation = format!("mutate.query/{mutation}");
    let others = every_choice().flat_map(|choice| choice.listed()).map(|choice| choice.name);
    let others = others.filter(|name| name.starts_with("mutate.query/") && *name != mutation);
    let policy = Policy::profile(&others.map(|name| (name, 0)).collect()).expect("names of mutations");
    let (dialect, state) = (dialect(), state(context));
    let Statement::Query(base) = parsed(sql).remove(0) else { panic!("not a query") };
    let changed = (0..20).map(|seed| {
        let mut other = (*base).clone();
        query(&mut Generator::new(Rng::new(seed), &dialect, &state, &policy), &mut other, None);
        to_sql(&Statement::from(other), &dialect).replace('"', "")
    });
    changed.collect()
}

#[test]
fn constants_are_changed_wherever_they_stand() {
    for base in [
        "SELECT CASE WHEN t0.c0 THEN 1 END FROM t0",
        "SELECT t0.c0 FROM t0 WHERE t0.c1 LIKE 'a%'",
        "SELECT MAX(t0.c0 + 1) FROM t0",
        "SELECT t0.c0 FROM t0 JOIN t0 AS t1 ON t1.c0 IN (1)",
        "SELECT COUNT(t0.c0) FILTER (WHERE t0.c0 > 1) FROM t0",
    ] {
        let changed = changed_by("constant", "CREATE TABLE t0 (c0 INT, c1 TEXT)", base);
        assert!(changed.len() > 5, "{changed:?}");
    }
}
