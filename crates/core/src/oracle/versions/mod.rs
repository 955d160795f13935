//! VERSIONS: two versions or builds of one engine give the same answer to the same statements; two engines do, too, where
//! SQL means the same to both.
//!
//! ```sql
//! SELECT c0 FROM t0 LEFT JOIN t1 ON c0 = c1 WHERE c1 IS NOT 3;   -- on 3.30.1
//! SELECT c0 FROM t0 LEFT JOIN t1 ON c0 = c1 WHERE c1 IS NOT 3;   -- on 3.54.1
//! ```
//!
//! No other oracle sees an answer that is wrong in the same way however the question is put. But a difference between
//! versions is first a *change*: it may be a bug of either, or intended. So its class is `changed`.
//!
//! Conditions (SOUNDNESS 13):
//! - Both versions ran the same statements, and each of these succeeded in both or failed in both.
//! - The result is defined, as for [`index`](super::index): it depends neither on the order of rows nor on how a sum of
//!   floats is rounded.
//! - If the tables already differ, every statement that stored their rows is one whose outcome is defined, too.
//! - An error of one version only is skipped: versions may reject more or less. One that says that the engine is broken
//!   is reported.
//! - Of two engines, every statement of the setup and the query belong to the part of SQL on which they agree (`common.rs`).

mod common;

use crate::dialect::Dialect;
use crate::engine::{Reply, Rows, Stop};
use crate::finding::{Class, Evidence, Failure, Verdict};
use crate::generate::Generator;
use crate::oracle::kit::judge::{self, Difference, Equality};
use crate::oracle::kit::{freedom, gate};
use crate::oracle::{Given, Oracle, Step};
use crate::session::Session;
use crate::sql::*;
use crate::subject::{Proposal, Subject, TestCase};

/// See [the module](self).
pub struct Versions;

/// The name a user reads; a hunt uses it when it is given another version.
pub const NAME: &str = "versions";

const RELATION: &str = "both versions return the same rows";

impl Oracle for Versions {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "two versions of an engine return the same rows"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        Some(Subject::new(self.name(), generator.any_query()?).into())
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        vec![Subject::new(self.name(), given.query.clone())]
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some(query) = subject.query() else { return Ok(Verdict::skip("not a query")) };
        if let Some(shared) = session.shared_dialect()
            && let Some(reason) = common::outside(query, session.database(), shared)
        {
            return Ok(Verdict::skip(reason));
        }
        let there = match session.ask_other(query)? {
            Ok(reply) => reply,
            Err(reason) => return Ok(Verdict::skip(reason)),
        };
        let here = session.query(query)?;
        if matches!((&here, &there), (Reply::Rows(here), Reply::Rows(there)) if differ(here, there, query))
            && session.database().setup().iter().any(depends_on_order)
            && tables_differ(session)?
        {
            return Ok(Verdict::skip("setup that depends on the order of rows"));
        }
        compare(query, here, there, subject, session)
    }

    /// The statements can run on one version only, so the other's answer is only told.
    fn script(&self, _: &TestCase, evidence: &Evidence, _: &Dialect) -> Option<Vec<Step>> {
        let [here, there] = evidence.arms.as_slice() else { return None };
        Some(vec![
            Step::Label(here.label.clone()),
            Step::Run(here.sql.clone()),
            Step::Outcome(0),
            Step::Label(format!("{}, after the same statements", there.label)),
            Step::Outcome(1),
        ])
    }

    fn complaint(&self, _: &TestCase) -> String {
        "changed between versions".to_string()
    }
}

/// The verdict on the answers of two versions to one query, over the same rows.
pub(crate) fn compare(
    query: &Query,
    here: Reply,
    there: Reply,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let (here, there) = match session.shared_dialect() {
        Some(_) => match (in_whole_numbers(here), in_whole_numbers(there)) {
            (Some(here), Some(there)) => (here, there),
            _ => return Ok(Verdict::skip("number beyond all whole numbers")),
        },
        None => (here, there),
    };
    let difference = match (&here, &there) {
        (Reply::Rows(here), Reply::Rows(there)) => match difference(here, there, query) {
            Ok(None) => return Ok(Verdict::Pass { nonempty: !here.is_empty() }),
            Ok(Some(difference)) => difference,
            Err(reason) => return Ok(Verdict::skip(reason)),
        },
        (Reply::Rows(_), Reply::Failed(error)) if error.class.is_harm() => {
            Difference::new(Class::Changed, Failure::OneSided { error: error.clone() })
        }
        _ => {
            let settled = judge::settle_errors([&here, &there]);
            return Ok(settled.unwrap_or(Verdict::skip("not a query")));
        }
    };
    let raised = matches!(difference.failure, Failure::OneSided { .. });
    match undefined(query, subject, session) {
        Some(reason) if !raised => Ok(Verdict::skip(reason)),
        _ => evidence(query, here, there, difference, session),
    }
}

/// An answer as other engines give it; none: it cannot be compared.
fn in_whole_numbers(reply: Reply) -> Option<Reply> {
    match reply {
        Reply::Rows(rows) => common::as_whole_numbers(&rows).map(Reply::Rows),
        other => Some(other),
    }
}

fn differ(here: &Rows, there: &Rows, query: &Query) -> bool {
    matches!(difference(here, there, query), Ok(Some(_)))
}

/// How two answers differ; `Err`: in a way that says nothing.
fn difference(here: &Rows, there: &Rows, query: &Query) -> Result<Option<Difference>, &'static str> {
    let equality = if gate::deduplicates(query, false) { Equality::Engine } else { Equality::Exact };
    let Some(difference) = judge::compare(here, there, equality) else { return Ok(None) };
    if judge::compare(&judge::rounded(here), &judge::rounded(there), equality).is_none() {
        return Err("floats differ only by rounding");
    }
    Ok(Some(Difference { class: Class::Changed, ..difference }))
}

/// Why two versions may differ here, if they may.
fn undefined(query: &Query, subject: &Subject, session: &Session) -> Option<&'static str> {
    let (database, dialect) = (session.database(), session.dialect());
    gate::undefined(subject, database, dialect)
        .or_else(|| freedom::left_open(query, database.state(), dialect))
}

/// Whether the rows that are stored differ, so that no query is to blame.
fn tables_differ(session: &mut Session) -> Result<bool, Stop> {
    let tables: Vec<Name> =
        session.database().state().base_tables().map(|table| table.name.clone()).collect();
    for name in tables {
        let from = vec![TableRef::table(name)];
        let all = Query::select(Select { items: vec![SelectItem::Wildcard], from, ..Select::default() });
        let there = session.ask_other(&all)?;
        let here = session.aside(|session| session.query(&all))?;
        match (&here, &there) {
            (Reply::Rows(here), Ok(Reply::Rows(there)))
                if judge::compare(here, there, Equality::Exact).is_none() => {}
            _ => return Ok(true),
        }
    }
    Ok(false)
}

/// Whether a statement may store one thing or another: rows that come out of a query are numbered in any order, and
/// of two rows that collide either may be first.
fn depends_on_order(statement: &Statement) -> bool {
    match statement {
        Statement::Insert(Insert { or, source, upsert, .. }) => {
            or.is_some() || upsert.is_some() || matches!(source, InsertSource::Query(_))
        }
        Statement::Update(update) => update.or.is_some(),
        Statement::CreateTable(create) => create.query.is_some(),
        // Text is not understood.
        Statement::Raw(text) => {
            let text = text.to_ascii_lowercase();
            ["select", "replace", "ignore", "conflict"].iter().any(|word| text.contains(word))
        }
        _ => false,
    }
}

fn evidence(
    query: &Query,
    here: Reply,
    there: Reply,
    difference: Difference,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let plans = [session.explain(query)?, session.explain_on_other(query)?];
    let titles = [&*session.dialect().engine.title, session.other_title()];
    let versions = [session.engine_version(), session.other_version().unwrap_or_default()];
    let labels = titles.into_iter().zip(versions).map(|(title, version)| format!("on {title} {version}"));
    let arms = [here, there]
        .into_iter()
        .zip(labels)
        .zip(plans)
        .map(|((reply, label), plan)| session.arm(&label, &query.clone().into(), reply, plan));
    Ok(Verdict::Bug(Box::new(Evidence {
        class: difference.class,
        relation: RELATION.to_string(),
        arms: arms.collect(),
        failure: difference.failure,
        explanation: None,
    })))
}
