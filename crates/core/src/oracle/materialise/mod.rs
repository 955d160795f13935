//! MATERIALISE: a query returns the same rows whether a relation in it is computed or stored first (constant folding of
//! whole relations: Zhang and Rigger's CODDTest, "Constant Optimization Driven Database System Testing", 2025).
//!
//! ```sql
//! SELECT d0.c0 FROM (SELECT t0.c0 AS c0 FROM t0 WHERE t0.c1 > 2) AS d0 JOIN t1 ON d0.c0 = t1.c0;
//! CREATE TABLE stored0 AS SELECT t0.c0 AS c0 FROM t0 WHERE t0.c1 > 2;
//! SELECT d0.c0 FROM stored0 AS d0 JOIN t1 ON d0.c0 = t1.c0;
//! ```
//!
//! A subject is a query and the name of a common table, a derived table or a view in it. `check` stores its rows again
//! each time.
//!
//! Conditions (SOUNDNESS 8.3):
//! - The relation does not look at the query around it, and its rows are defined by the gate.
//! - What is stored reads back as it was computed, by value and type.
//! - A stored column compares as the computed one does. Where types are dynamic, a column has an affinity and a collation
//!   and an expression has neither: a column of a stored table and a CAST are read as they are, anything else through a
//!   CASE. No column with a collation, which storing drops; no JSON, whose subtype it drops.
//! - Not in the MySQL family, where length, precision and coercibility change in a table.

mod site;

use crate::dialect::{Dialect, Feature};
use crate::engine::{Reply, Stop};
use crate::finding::Verdict;
use crate::generate::Generator;
use crate::oracle::Oracle;
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::forms::{self, Equals};
use crate::oracle::kit::given::Given;
use crate::oracle::kit::judge::{self, Equality};
use crate::session::Session;
use crate::sql::*;
use crate::subject::{Proposal, Subject, TestCase};

use site::Site;

/// See [the module](self).
pub struct Materialise;

const NAME: &str = "materialise";

/// The choice that names the relation.
const RELATION: &str = "relation";

/// The table that holds its rows.
const STORED: &str = "stored0";

/// Queries that are drawn to find one with a relation to store.
const DRAWS: usize = 16;

impl Oracle for Materialise {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows whether a view, common table expression or derived table is computed or stored"
    }

    fn suits(&self, dialect: &Dialect) -> bool {
        dialect.can(Feature::CreateTableAs)
            && !dialect.can(Feature::FoldedText)
            && !dialect.can(Feature::TableOptionNeeded)
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        (0..DRAWS).find_map(|_| {
            let query = generator.any_query()?;
            let (state, dialect) = (generator.state, generator.dialect);
            let mut names = site::names(&query, state);
            names.retain(|name| Site::find(name, &query, state, dialect).is_ok());
            let name = generator.rng.choose(&names)?.clone();
            Some(Subject::new(NAME, query).with_choice(RELATION, &name).into())
        })
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let of = |name: &Name| Subject::new(NAME, given.query.clone()).with_choice(RELATION, name);
        site::names(given.query, given.state).iter().map(of).collect()
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let (Some(name), Some(query)) = (subject.choice(RELATION), subject.query()) else {
            return Ok(Verdict::skip("not a query with a relation to store"));
        };
        let (state, dialect) = (session.database().state(), session.dialect());
        let site = match Site::find(&name.into(), query, state, dialect) {
            Ok(site) => site,
            Err(reason) => return Ok(Verdict::skip(reason)),
        };
        let create = Statement::CreateTable(CreateTable {
            name: STORED.into(),
            temporary: false,
            columns: Vec::new(),
            constraints: Vec::new(),
            options: Vec::new(),
            module: None,
            query: Some(Box::new(site.contents.clone())),
        });
        if let Reply::Failed(_) = session.scaffold(&create)? {
            return Ok(Verdict::skip("relation that cannot be stored"));
        }
        let built = session.last_sql().to_string();
        let verdict = compare(&site, query, built, subject, session)?;
        if !matches!(verdict, Verdict::Bug(_)) {
            drop_stored(session)?;
        }
        Ok(verdict)
    }

    fn complaint(&self, _: &TestCase) -> String {
        "depends on whether a relation is computed or stored".to_string()
    }
}

fn drop_stored(session: &mut Session) -> Result<(), Stop> {
    let drop = Statement::Drop { object: ObjectKind::Table, name: STORED.into(), on: None, if_exists: true };
    session.scaffold(&drop)?;
    Ok(())
}

/// Verifies what was stored, then asks both.
fn compare(
    site: &Site,
    query: &Query,
    built: String,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let computed = session.aside(|session| session.query(&site.contents))?;
    let everything = Select {
        items: vec![SelectItem::Wildcard],
        from: vec![TableRef::table(STORED)],
        ..Select::default()
    };
    let stored = session.aside(|session| session.query(&Query::select(everything)))?;
    let same = match (&computed, &stored) {
        (Reply::Rows(computed), Reply::Rows(stored)) => {
            judge::compare(computed, stored, Equality::Exact).is_none()
        }
        _ => false,
    };
    if !same {
        return Ok(Verdict::skip("rows changed by storing them"));
    }
    let mut arms = Arms::new("a query over a relation and one over its stored rows return the same rows");
    arms.ask("computed: the relation is part of the query", query, session)?;
    arms.ran("the stored rows", built);
    arms.ask("stored: the relation is a table", &site.over_stored, session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    forms::settle(arms, [query, &site.over_stored], Equals::Open, subject, session)
}
