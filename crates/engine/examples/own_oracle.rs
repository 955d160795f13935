//! An oracle of one's own, hunting in this process.
//!
//! `cargo run -p dissent-engine --example own_oracle`
//!
//! Whatever implements [`Oracle`] can hunt. The idea of this one: a query returns the same rows when it stands in FROM.
//!
//! ```sql
//! SELECT t0.c0 FROM t0 WHERE t0.c1 > 3;
//! SELECT * FROM (SELECT t0.c0 FROM t0 WHERE t0.c1 > 3) AS inner0;
//! ```
//!
//! Its conditions: the query has no ORDER BY and no LIMIT, which mean something else in a subquery. That its answer is
//! defined at all is looked at by the gate when the answers differ.
//!
//! First it hunts in the bundled SQLite, which has no such bug. Then in one that loses the last row of a subquery: an
//! oracle that has never found anything may be unable to.

use std::collections::BTreeMap;

use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Reply, Stop};
use dissent_core::finding::{Evidence, Origin, Verdict};
use dissent_core::generate::{Generator, Policy};
use dissent_core::oracle::kit::arms::Arms;
use dissent_core::oracle::kit::judge::Equality;
use dissent_core::oracle::{Given, Oracle};
use dissent_core::render::to_sql;
use dissent_core::session::{NoJournal, Session};
use dissent_core::sql::{Expr, Query, Select, SelectItem, TableRef};
use dissent_core::subject::{Proposal, Subject, TestCase};
use dissent_core::walk::{Walk, Watcher};
use dissent_engine::fake::Tampered;
use dissent_engine::sqlite::SqliteEngine;

const CASES: u64 = 600;

struct InFrom;

impl Oracle for InFrom {
    fn name(&self) -> &'static str {
        "in-from"
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows when it stands in FROM"
    }

    /// Random, and touches no engine.
    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let from = generator.from_clause(2)?.tables;
        let items = generator.select_items(2).into_iter().enumerate().map(named).collect();
        let filter = Some(generator.filter(2));
        let query = generator.finish(Select { items, from, filter, ..Select::default() });
        Some(Subject::new(self.name(), query).into())
    }

    /// Also for queries that somebody wrote: `dissent check` would hand them over here.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        vec![Subject::new(self.name(), given.query.clone())]
    }

    /// Touches the engine, and is not random: so a finding can be replayed and reduced.
    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some(plain) = subject.query() else { return Ok(Verdict::skip("not a query")) };
        // Subjects come back reduced, in shapes that were never proposed.
        if !plain.order_by.is_empty() || plain.limit.is_some() || plain.offset.is_some() {
            return Ok(Verdict::skip("ORDER BY or LIMIT"));
        }
        let mut arms = Arms::new(self.about());
        arms.ask("plain", plain.clone(), session)?;
        arms.ask("in FROM", in_from(plain.clone()), session)?;
        if let Some(verdict) = arms.unanswered(subject, session)? {
            return Ok(verdict);
        }
        let (plain, wrapped) = (arms.rows(0).clone(), arms.rows(1).clone());
        arms.verdict(&plain, &wrapped, Equality::Exact, subject, session)
    }
}

/// Columns of a subquery want names, and no two the same.
fn named((at, expr): (usize, Expr)) -> SelectItem {
    SelectItem::Expr { expr, alias: Some(format!("x{at}").into()) }
}

fn in_from(query: Query) -> Query {
    let derived = TableRef::Derived {
        query: Box::new(query),
        alias: "inner0".into(),
        columns: Vec::new(),
        lateral: false,
    };
    let items = vec![SelectItem::Wildcard];
    Query::select(Select { items, from: vec![derived], ..Select::default() })
}

/// Counts verdicts and ends the hunt with the first finding.
#[derive(Default)]
struct Tally {
    cases: u64,
    verdicts: BTreeMap<&'static str, u64>,
    found: Option<(TestCase, Evidence)>,
}

impl Watcher for Tally {
    fn case(&mut self, _database: u64, _case: u64) -> bool {
        self.cases += 1;
        self.found.is_none() && self.cases <= CASES
    }

    fn verdict(&mut self, _oracle: &'static str, verdict: &Verdict) {
        let name = match verdict {
            Verdict::Pass { .. } => "pass",
            Verdict::Skip(_) => "skip",
            Verdict::Bug(_) => "bug",
        };
        *self.verdicts.entry(name).or_default() += 1;
    }

    fn finding(&mut self, _origin: Origin, case: TestCase, evidence: Evidence) {
        self.found = Some((case, evidence));
    }

    fn unstable(&mut self, _origin: Origin, _case: TestCase, _evidence: Evidence) {}
}

fn hunt(engine: &mut dyn Engine) -> Result<Tally, Box<dyn std::error::Error>> {
    let dialect = Dialect::load("sqlite", engine.version())?;
    let mut journal = NoJournal;
    let mut session = Session::new(engine, &dialect, &mut journal, || 0);
    // Here it could stand beside others: `oracle::select("norec")`.
    let oracles: Vec<&'static dyn Oracle> = vec![&InFrom];
    let walk = Walk { dialect: &dialect, calm: None, oracles, seed: 1, policy: Policy::default() };
    let mut tally = Tally::default();
    for database in 0.. {
        if !walk.database(database, &mut session, &mut tally)? {
            break;
        }
    }
    if let Some((case, evidence)) = &tally.found {
        println!("A finding of class {}, by the oracle {}:", evidence.class.name(), case.subject.oracle);
        for statement in case.setup.iter().chain(&case.subject.tests) {
            println!("  {};", to_sql(statement, &dialect));
        }
    }
    Ok(tally)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sound = hunt(&mut SqliteEngine::bundled()?)?;
    println!("SQLite: {:?}", sound.verdicts);
    let mut faulty = Tampered::new(SqliteEngine::bundled()?, |sql, mut reply| {
        if let (true, Reply::Rows(rows)) = (sql.contains("FROM (SELECT"), &mut reply) {
            rows.values.truncate(rows.values.len().saturating_sub(rows.columns));
        }
        reply
    });
    let unsound = hunt(&mut faulty)?;
    println!("SQLite that loses a row of subqueries: {:?}", unsound.verdicts);
    Ok(())
}
