//! Runs a query again after a change that must not affect its result: an index, a setting, another way to store a
//! table. The change is made between the two queries, shown between them in a report, and undone whatever happens.

use super::arms::Arms;
use super::forms::{self, Equals};
use super::gate;
use super::judge::{self, Equality};
use crate::engine::{ErrorClass, Reply, Stop};
use crate::finding::Verdict;
use crate::session::Session;
use crate::sql::{Query, Statement};
use crate::subject::Subject;

/// A change between two queries, and the statement that undoes it.
pub struct Change {
    /// The statement that makes the change.
    pub make: Statement,
    /// The statement that takes it back.
    pub back: Statement,
}

/// The words for what is compared.
pub struct Words {
    /// What must hold.
    pub relation: &'static str,
    /// The label of the question before the change.
    pub before: &'static str,
    /// The label of the change itself.
    pub change: &'static str,
    /// The label of the question after it.
    pub after: &'static str,
    /// The reason to skip if no change could be made.
    pub unchanged: &'static str,
    /// The change may bring an error to light: an optimizer may remove one, so switching it off may show it.
    pub may_raise: bool,
}

/// Runs a query, then again after each of the changes. Changes that the engine rejects are left out.
pub fn ask(
    query: &Query,
    changes: &[Change],
    words: &Words,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let first = session.query(query)?;
    let mut arms = Arms::new(words.relation);
    if let Reply::Failed(_) = &first {
        arms.answered(words.before, query, first);
        return Ok(arms.unanswered(subject, session)?.unwrap_or(Verdict::skip("all arms fail")));
    }
    let mut made: Vec<&Change> = Vec::new();
    let mut statements = Vec::new();
    let mut second = None;
    let mut spared = false;
    for change in changes {
        if let Reply::Failed(_) = session.scaffold(&change.make)? {
            continue;
        }
        made.push(change);
        statements.push(session.last_sql().to_string());
        let reply = session.query(query)?;
        if words.may_raise && reply.failure().is_some_and(|error| error.class == ErrorClass::Runtime) {
            spared = true;
            continue;
        }
        if !same(query, &first, &reply) {
            second = Some(reply);
            break;
        }
    }
    let nonempty = matches!(&first, Reply::Rows(rows) if !rows.is_empty());
    arms.answered(words.before, query, first);
    let differs = second.is_some();
    if let Some(reply) = second {
        statements.into_iter().for_each(|sql| arms.ran(words.change, sql));
        arms.answered(words.after, query, reply);
        arms.explain_last(session)?;
    }
    // The values of one setting are all taken back by the same statement.
    let mut undone: Vec<&Statement> = Vec::new();
    for Change { back, .. } in made.iter().rev() {
        if !undone.contains(&back) {
            session.scaffold(back)?;
            undone.push(back);
        }
    }
    match made.is_empty() {
        _ if differs => settle(arms, query, subject, session),
        true => Ok(Verdict::skip(words.unchanged)),
        false if spared => Ok(Verdict::skip("one arm avoids the error")),
        false => Ok(Verdict::Pass { nonempty }),
    }
}

/// Equal under the freedom that the query itself leaves.
fn equality(query: &Query) -> Equality {
    if gate::deduplicates(query, false) { Equality::Engine } else { Equality::Exact }
}

/// Whether two answers to one query are the same; not if either is an error.
pub fn same(query: &Query, first: &Reply, second: &Reply) -> bool {
    match (first, second) {
        (Reply::Rows(first), Reply::Rows(second)) => judge::compare(first, second, equality(query)).is_none(),
        _ => false,
    }
}

/// The verdict on the two arms of a query that should return the same rows.
pub fn settle(
    mut arms: Arms,
    query: &Query,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    // The gate looks at this query, not at others of the subject.
    let alone = subject.about(query);
    if let Some(verdict) = arms.unanswered(&alone, session)? {
        return Ok(verdict);
    }
    forms::settle(arms, [query, query], Equals::Open, &alone, session)
}
