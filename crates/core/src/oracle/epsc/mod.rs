//! EPSC: compares statements with the same statements prepared, with some of their literals as parameters
//! (equivalent prepared statement construction). They return the same rows and leave the same rows behind.
//!
//! ```sql
//! CREATE TABLE t0(c0);                 -- both arms build their own tables,
//! SELECT max(c0) AND 0 FROM t0;        -- ordinary: no row
//! SELECT max(c0) AND ?1 FROM t0;       -- prepared, with (0): one row, 0
//! ```
//!
//! The tests of a subject are steps: DDL, changes of rows and queries. One arm runs them as they are written. Then its
//! tables are dropped, and the other arm runs them prepared, wherever the engine can. Every result is compared, and at
//! the end the rows of every table. Literals that become parameters are marked in the tree (`Expr::Bound`). A step that
//! differs from an earlier one only in these executes the statement that is still open, whatever was defined, analysed
//! or set in between.
//!
//! There are two ways to prepare: the engine's interface (its protocol, its C functions) and PREPARE/EXECUTE in SQL,
//! where texts, types and collations take another path.
//!
//! Conditions (SOUNDNESS 5), each a skip with its reason:
//! - A parameter has the literal's type. Where a literal adapts to its place and a parameter does not, both are under
//!   a cast, and the type is declared. Bare parameters only of kinds that the dialect lists.
//! - No parameter in GROUP BY or ORDER BY, where a number alone is a column, and none in an item that has to match one
//!   there; none in ESCAPE, a window, or arguments that must be literals.
//! - Steps change only tables that they created, so both arms start with the same database.
//! - No change whose outcome depends on the order of rows: updates of keys, INSERT … SELECT into keys.
//! - A difference in representation alone does not count where parameters have no cast and values have types.
//! - The result is defined (SOUNDNESS 0); sums of floats may be rounded in another order.
//! - An error in one arm only is validated first. What differs after a change that failed in one arm says nothing, so
//!   the test case ends there.

mod case;
mod draw;
mod places;
mod run;
mod script;

use crate::dialect::{Dialect, Feature};
use crate::engine::{ErrorClass, Reply, SqlError, Stop};
use crate::finding::{Arm, Class, Evidence, Failure, Switch, Verdict};
use crate::generate::{Generator, Named};
use crate::oracle::kit::judge::{self, Difference, Equality};
use crate::oracle::kit::{freedom, gate, validate};
use crate::oracle::{Given, Oracle, Step};
use crate::render::to_sql;
use crate::session::Session;
use crate::sql::*;
use crate::subject::{Proposal, Subject, TestCase};

use case::{Case, Road};
use run::{PreparedArm, Ran};

/// See [the module](self).
pub struct Epsc;

/// The road: by the interface unless it says SQL.
const ROAD: &str = "road";
const SQL: &str = "sql";

const RELATION: &str =
    "a statement and its prepared form return the same rows and leave the same rows behind";

/// What is counted of changes of rows.
pub const CHANGES: &str = "epsc: changes of rows";
/// Those of them that ran as prepared statements.
pub const CHANGES_PREPARED: &str = "epsc: changes of rows, prepared";

impl Oracle for Epsc {
    fn name(&self) -> &'static str {
        "epsc"
    }

    fn about(&self) -> &'static str {
        "a prepared statement does the same as the ordinary one"
    }

    fn suits(&self, dialect: &Dialect) -> bool {
        dialect.preparing.is_possible()
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        draw::proposal(self.name(), generator)
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        draw::CHOICES
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        draw::adopted(self.name(), given)
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let case = match Case::read(subject, session.dialect()) {
            Ok(case) => case,
            Err(reason) => return Ok(Verdict::skip(reason)),
        };
        let ordinary = ordinary_arm(&case, session)?;
        run::undo(&case, session)?;
        let mut prepared = PreparedArm::new(case.road);
        let mut trial =
            Trial { case: &case, subject, ordinary, told: Vec::new(), compared: 0, nonempty: false };
        let verdict = trial.prepared_arm(&mut prepared, session)?;
        prepared.close(session)?;
        let verdict = match verdict {
            Some(verdict) => verdict,
            None => trial.states(session)?,
        };
        if !matches!(verdict, Verdict::Bug(_)) {
            run::undo(&case, session)?;
        }
        Ok(verdict)
    }

    fn script(&self, case: &TestCase, _: &Evidence, dialect: &Dialect) -> Option<Vec<Step>> {
        script::script(&case.subject, dialect)
    }

    fn switch(&self, _: &TestCase, _: &Dialect) -> Option<Switch> {
        Some(Switch::Unprepared)
    }

    fn complaint(&self, _: &TestCase) -> String {
        "depends on whether the statement is prepared".to_string()
    }
}

/// What the steps returned as they are written, and the rows they left.
struct Ordinary {
    replies: Vec<Reply>,
    rows: Vec<Reply>,
}

/// The steps as they are written.
fn ordinary_arm(case: &Case, session: &mut Session) -> Result<Ordinary, Stop> {
    let mut ordinary = Ordinary { replies: Vec::new(), rows: Vec::new() };
    for step in case.steps {
        ordinary.replies.push(run::ordinarily(step, session)?);
    }
    for table in &case.tables {
        ordinary.rows.push(session.query(&run::contents(table))?);
    }
    Ok(ordinary)
}

const ORDINARY: &str = "as it is written";
const PREPARED: &str = "prepared, with parameters";

/// The prepared arm against what the ordinary one returned.
struct Trial<'a> {
    case: &'a Case<'a>,
    subject: &'a Subject,
    ordinary: Ordinary,
    /// The prepared steps so far, as text.
    told: Vec<String>,
    compared: u64,
    nonempty: bool,
}

impl Trial<'_> {
    /// A verdict if the steps come to one; otherwise their answers are the same.
    fn prepared_arm(
        &mut self,
        arm: &mut PreparedArm,
        session: &mut Session,
    ) -> Result<Option<Verdict>, Stop> {
        for (at, step) in self.case.steps.iter().enumerate() {
            let Ran { reply, told, prepared } = arm.run(step, session)?;
            self.told.push(told);
            if run::is_change(step) {
                session.note(CHANGES);
                if prepared {
                    session.note(CHANGES_PREPARED);
                }
            }
            match (&self.ordinary.replies[at], &reply) {
                (Reply::Failed(_), Reply::Failed(_)) => {}
                (Reply::Failed(error), _) | (_, Reply::Failed(error)) => {
                    let error = error.clone();
                    if let Some(verdict) = self.one_failed(at, step, &error, reply, session)? {
                        return Ok(Some(verdict));
                    }
                }
                (Reply::Rows(ordinary), Reply::Rows(rows)) => {
                    // Some engines answer a change of rows with how many they were.
                    let Statement::Query(query) = step else { continue };
                    self.compared += 1;
                    self.nonempty |= !rows.is_empty();
                    session.note("epsc: answers compared");
                    if let Some(difference) = judge::compare(ordinary, rows, equality(query)) {
                        return self.differ(at, difference, reply, session).map(Some);
                    }
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// The rows of every table at the end.
    fn states(&mut self, session: &mut Session) -> Result<Verdict, Stop> {
        for (at, table) in self.case.tables.iter().enumerate() {
            let query = run::contents(table);
            let reply = session.query(&query)?;
            let (Reply::Rows(before), Reply::Rows(after)) = (&self.ordinary.rows[at], &reply) else {
                continue;
            };
            self.compared += 1;
            self.nonempty |= !after.is_empty();
            if let Some(difference) = judge::compare(before, after, Equality::Exact) {
                let steps = self.case.steps.len();
                self.told.push(session.last_sql().to_string());
                self.ordinary.replies.push(self.ordinary.rows[at].clone());
                return self.differ(steps, difference, reply, session);
            }
        }
        Ok(match self.compared {
            0 => Verdict::skip("no result to compare"),
            _ => Verdict::Pass { nonempty: self.nonempty },
        })
    }

    /// One arm failed where the other did not. A verdict if nothing can be compared from here on.
    fn one_failed(
        &mut self,
        at: usize,
        step: &Statement,
        error: &SqlError,
        reply: Reply,
        session: &mut Session,
    ) -> Result<Option<Verdict>, Stop> {
        let prepared_failed = matches!(reply, Reply::Failed(_));
        let skip = if error.class == ErrorClass::Limit {
            Some("one arm exceeds a limit")
        } else if !session.validates_errors {
            None
        } else if prepared_failed && is_refusal(error, session) {
            Some("parameter rejected where a literal is accepted")
        } else if self.is_spared(at, step, error, prepared_failed, session)? {
            Some("one arm avoids the error")
        } else {
            None
        };
        let Some(reason) = skip else {
            let failure = Failure::OneSided { error: error.clone() };
            let difference = Difference::new(Class::ErrorDivergence, failure);
            return self.differ(at, difference, reply, session).map(Some);
        };
        session.note("epsc: errors of one arm, skipped");
        // What a query did not return changes nothing.
        Ok((!matches!(step, Statement::Query(_))).then(|| Verdict::skip(reason)))
    }

    /// Whether an expression of the step, forced, fails as the other arm did. The state must be that before
    /// the step.
    fn is_spared(
        &self,
        at: usize,
        step: &Statement,
        error: &SqlError,
        unchanged: bool,
        session: &mut Session,
    ) -> Result<bool, Stop> {
        if !unchanged && !matches!(step, Statement::Query(_)) {
            run::undo(self.case, session)?;
            for earlier in &self.case.steps[..at] {
                run::ordinarily(earlier, session)?;
            }
        }
        validate::is_spared(step, error, &self.case.steps[..at], session)
    }

    /// A difference is a bug, unless the answer is not defined.
    fn differ(
        &mut self,
        at: usize,
        difference: Difference,
        reply: Reply,
        session: &mut Session,
    ) -> Result<Verdict, Stop> {
        let dialect = session.dialect();
        let before = &self.case.steps[..at.min(self.case.steps.len())];
        let changes = before.iter().filter(|step| run::is_change(step)).cloned();
        let test = self.case.steps.get(at);
        let looked_at = Subject::of(&self.subject.oracle, changes.chain(test.cloned()).collect());
        let mut database = session.database().clone();
        before.iter().for_each(|step| database.grow(step, None, dialect));
        if let Some(reason) = gate::undefined(&looked_at, &database, dialect) {
            return Ok(Verdict::skip(reason));
        }
        if difference.class == Class::Representation && infers_types(self.case, dialect) {
            return Ok(Verdict::skip("parameter type inferred from its context"));
        }
        if let Some(Statement::Query(query)) = test {
            if let (Reply::Rows(one), Reply::Rows(other)) = (&self.ordinary.replies[at], &reply)
                && judge::compare(&judge::rounded(one), &judge::rounded(other), equality(query)).is_none()
            {
                return Ok(Verdict::skip("floats differ only by rounding"));
            }
            // Whatever its value is, an aggregate over all rows is one row.
            let settled = difference.class == Class::ErrorDivergence
                || (difference.class == Class::WrongRows && is_one_row(query));
            if let Some(reason) = freedom::left_open(query, database.state(), dialect).filter(|_| !settled) {
                return Ok(Verdict::skip(reason));
            }
        }
        self.bug(at, difference, reply, session)
    }

    fn bug(
        &mut self,
        at: usize,
        difference: Difference,
        reply: Reply,
        session: &mut Session,
    ) -> Result<Verdict, Stop> {
        let dialect = session.dialect();
        let written = self.case.steps.iter().take(at + 1).map(|step| to_sql(step, dialect));
        let end = self.told.last().filter(|_| at == self.case.steps.len()).cloned();
        let written: Vec<String> = written.chain(end).collect();
        let plan = match self.case.steps.get(at) {
            Some(Statement::Query(query)) => session.explain(query)?,
            _ => None,
        };
        let ordinary = self.ordinary.replies[at].clone();
        let arm = |label: &str, steps: &[String], reply: Reply, plan| Arm {
            label: label.to_string(),
            sql: steps.join(";\n"),
            outcome: reply.into(),
            plan,
        };
        Ok(Verdict::Bug(Box::new(Evidence {
            class: difference.class,
            relation: RELATION.to_string(),
            arms: vec![arm(ORDINARY, &written, ordinary, plan), arm(PREPARED, &self.told, reply, None)],
            failure: difference.failure,
            explanation: difference.explanation,
        })))
    }
}

fn is_refusal(error: &SqlError, session: &Session) -> bool {
    session.dialect().preparing.refusals.iter().any(|part| error.message.contains(&**part))
}

/// Parameters without a cast, where values have types: what is computed of them may be of another one.
fn infers_types(case: &Case, dialect: &Dialect) -> bool {
    let types = dialect.preparing.types(case.road != Road::Interface);
    !dialect.can(Feature::DynamicTyping) && types.iter().any(|ty| ty.name.is_empty())
}

/// Of several values that are equal to the engine any may be returned.
fn equality(query: &Query) -> Equality {
    if gate::deduplicates(query, false) { Equality::Engine } else { Equality::Exact }
}

/// Aggregates over all rows, and nothing that could take their row away.
fn is_one_row(query: &Query) -> bool {
    query.limit.is_none()
        && query.as_select().is_some_and(|select| {
            let aggregates = |item: &SelectItem| match item {
                SelectItem::Expr { expr, .. } => gate::has_aggregate(expr),
                _ => false,
            };
            select.group_by.is_empty() && select.having.is_none() && select.items.iter().any(aggregates)
        })
}
