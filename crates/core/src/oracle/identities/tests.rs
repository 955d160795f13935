//! Each row of the table does what its example says, and refuses what breaks its conditions.

use super::*;
use crate::database::Database;
use crate::generate::Policy;
use crate::generate::tests::recorded::statements;
use crate::import;
use crate::render::to_sql;
use crate::rng::Rng;
use crate::sql::Statement;
use crate::state::State;

const SETUP: [&str; 3] = [
    "CREATE TABLE t(a INT, b TEXT, n TEXT COLLATE NOCASE)",
    "CREATE TABLE u(a INT, b TEXT)",
    "CREATE VIEW v(x) AS SELECT t.a FROM t",
];

fn query(sql: &str, dialect: &Dialect) -> Query {
    match import::statement(sql, 1, dialect).statement {
        Statement::Query(query) => *query,
        other => panic!("{sql}: {other:?}"),
    }
}

fn database(dialect: &Dialect) -> Database {
    Database::of(&SETUP.map(|sql| import::statement(sql, 1, dialect).statement), dialect)
}

fn printed(query: &Query, dialect: &Dialect) -> String {
    to_sql(&Statement::from(query.clone()), dialect)
}

#[test]
fn every_example_has_its_other_form() {
    let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
    let database = database(&dialect);
    let known = Known { state: database.state(), dialect: &dialect };
    for Identity { name, example: (before, after), .. } in
        TABLE.iter().filter(|row| !row.example.0.is_empty())
    {
        let identity = table::by_name(name).unwrap();
        let asked = match *name {
            // Their first form is made of a plainer query.
            "except-itself" | "intersect-itself" => "SELECT t.a FROM t",
            "materialized" => "WITH d AS (SELECT t.a FROM t) SELECT d.a FROM d",
            _ => before,
        };
        let Some((one, other)) = both(identity, &query(asked, &dialect), known) else {
            panic!("{name} does not apply to {asked}")
        };
        for (form, text) in [(one, before), (other, after)] {
            let shown = printed(&form, &dialect);
            let as_written = shown.replace('"', "") == *text;
            assert!(as_written || shown == printed(&query(text, &dialect), &dialect), "{name}: {shown}");
        }
    }
}

#[test]
fn what_breaks_a_condition_has_no_other_form() {
    let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
    let database = database(&dialect);
    let known = Known { state: database.state(), dialect: &dialect };
    for identity in TABLE {
        for sql in identity.refused {
            assert!(both(identity, &query(sql, &dialect), known).is_none(), "{}: {sql}", identity.name);
        }
    }
}

/// Where each value has a type, what is compared has one.
#[test]
fn types_decide_how_a_list_is_compared() {
    let dialect = Dialect::load("postgres", "18.4").unwrap();
    let setup = ["CREATE TABLE t(a INT, b TEXT, d DATE)"];
    let database = Database::of(&setup.map(|sql| import::statement(sql, 1, &dialect).statement), &dialect);
    let known = Known { state: database.state(), dialect: &dialect };
    let applies =
        |name: &str, sql: &str| both(table::by_name(name).unwrap(), &query(sql, &dialect), known).is_some();
    for (name, fits, mixed) in [
        ("between", "t.a BETWEEN 1 AND 2", "t.a BETWEEN 1 AND 2.5"),
        ("in-list", "t.a IN (1, NULL)", "t.a IN (1, 2.5)"),
        ("in-list", "t.b IN ('a', 'b')", "t.d IN ('2020-01-01', '2020-01-02')"),
        ("simple-case", "CASE t.a WHEN 1 THEN TRUE END", "CASE t.d WHEN '2020-01-01' THEN TRUE END"),
        ("quantified", "t.a < ANY (SELECT u.a FROM t AS u)", "t.a < ANY (SELECT u.b FROM t AS u)"),
    ] {
        assert!(applies(name, &format!("SELECT t.a FROM t WHERE {fits}")), "{fits}");
        assert!(!applies(name, &format!("SELECT t.a FROM t WHERE {mixed}")), "{mixed}");
    }
    let rollup = "SELECT t.a, COUNT(*) FROM t GROUP BY ROLLUP (t.a)";
    let (_, each) = both(table::by_name("grouping-sets").unwrap(), &query(rollup, &dialect), known).unwrap();
    let expected = "SELECT t.a, COUNT(*) FROM t GROUP BY t.a UNION ALL SELECT NULL, COUNT(*) FROM t";
    assert_eq!(printed(&each, &dialect), printed(&query(expected, &dialect), &dialect));
}

#[test]
fn names_are_unique_and_a_query_is_adopted_under_every_identity_that_applies() {
    let mut names: Vec<&str> = TABLE.iter().map(|identity| identity.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), TABLE.len());
    let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
    let database = database(&dialect);
    let query = query("SELECT t.a FROM t WHERE t.a BETWEEN 1 AND 2 ORDER BY t.a", &dialect);
    let given = Given { query: &query, state: database.state(), dialect: &dialect };
    let adopted = Identities.adopt(&given);
    let chosen: Vec<&str> = adopted.iter().filter_map(|subject| subject.choice(IDENTITY)).collect();
    for name in ["between", "order-by", "derived-filter", "except-itself"] {
        assert!(chosen.contains(&name), "{name}: {chosen:?}");
    }
}

/// A window over one table and whole partitions comes about once in thousands of queries.
#[test]
fn the_generator_draws_queries_for_every_identity() {
    let policy = Policy::default();
    let dialects = [("sqlite", "3.54.1"), ("postgres", "18.4")];
    let dialects = dialects.map(|(name, version)| Dialect::load(name, version).unwrap());
    let mut missing: Vec<&Identity> = TABLE.iter().collect();
    for seed in 0..500 {
        for dialect in &dialects {
            let mut state = State::default();
            statements(dialect, &policy, seed, 1).iter().for_each(|it| state.apply(it, dialect));
            let known = Known { state: &state, dialect };
            for case in 0..40 {
                let mut generator = Generator::new(Rng::for_case(seed, 2, case), dialect, &state, &policy);
                if let Some(query) = generator.any_query() {
                    missing.retain(|identity| both(identity, &query, known).is_none());
                }
            }
            if missing.is_empty() {
                return;
            }
        }
    }
    panic!("never drawn: {:?}", missing.iter().map(|identity| identity.name).collect::<Vec<_>>());
}
