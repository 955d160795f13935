//! Runs the arms of a check and turns their results into a verdict.

use std::borrow::{Borrow, Cow};

use super::judge::{self, Difference, Equality};
use super::{gate, validate};
use crate::engine::{ErrorClass, Reply, Rows, SqlError, Stop};
use crate::finding::{Arm, ArmOutcome, Class, Evidence, Failure, Verdict};
use crate::session::Session;
use crate::sql::{Query, Statement};
use crate::subject::Subject;

/// The queries of one check and their results so far.
pub struct Arms<'q> {
    /// The relation between the arms, in one sentence.
    relation: Cow<'static, str>,
    asked: Vec<Asked<'q>>,
    /// What ran since the last query.
    ran: Vec<Arm>,
}

struct Asked<'q> {
    label: &'static str,
    question: Question<'q>,
    reply: Reply,
    /// What ran between the previous query and this one.
    before: Vec<Arm>,
    /// The plan, where it had to be asked for at the time.
    plan: Option<Option<String>>,
}

/// What an arm asks. Most queries outlive the check, and only evidence needs them as statements.
pub enum Question<'q> {
    /// A query.
    Query(Cow<'q, Query>),
    /// A statement that changes rows.
    Change(Statement),
}

impl Question<'_> {
    fn statement(&self) -> Statement {
        match self {
            Question::Query(query) => Statement::from(Query::clone(query)),
            Question::Change(change) => change.clone(),
        }
    }
}

impl From<Query> for Question<'_> {
    fn from(query: Query) -> Self {
        Question::Query(Cow::Owned(query))
    }
}

impl<'q> From<&'q Query> for Question<'q> {
    fn from(query: &'q Query) -> Self {
        Question::Query(Cow::Borrowed(query))
    }
}

impl From<Statement> for Question<'_> {
    fn from(change: Statement) -> Self {
        Question::Change(change)
    }
}

impl<'q> Arms<'q> {
    /// No arm asked yet; `relation` says what must hold between them.
    pub fn new(relation: impl Into<Cow<'static, str>>) -> Arms<'q> {
        Arms { relation: relation.into(), asked: Vec::new(), ran: Vec::new() }
    }

    /// Asks a query and keeps the answer under this label.
    pub fn ask<Q: Borrow<Query> + Into<Question<'q>>>(
        &mut self,
        label: &'static str,
        query: Q,
        session: &mut Session,
    ) -> Result<(), Stop> {
        let reply = session.query(query.borrow())?;
        self.answered(label, query, reply);
        Ok(())
    }

    /// Runs a statement that changes rows, and may return them.
    pub fn change(
        &mut self,
        label: &'static str,
        statement: Statement,
        session: &mut Session,
    ) -> Result<(), Stop> {
        let reply = session.step(&statement)?;
        self.answered(label, statement, reply);
        Ok(())
    }

    /// A query or a change that already ran.
    pub fn answered(&mut self, label: &'static str, question: impl Into<Question<'q>>, reply: Reply) {
        let (question, before) = (question.into(), std::mem::take(&mut self.ran));
        self.asked.push(Asked { label, question, reply, before, plan: None });
    }

    /// Whether the arm of this number failed.
    pub fn failed(&self, at: usize) -> bool {
        self.asked.get(at).is_some_and(|asked| asked.reply.failure().is_some())
    }

    /// A statement that ran between two queries; a report shows it there.
    pub fn ran(&mut self, label: &str, sql: String) {
        let label = label.to_string();
        self.ran.push(Arm { label, sql, outcome: ArmOutcome::Done, plan: None });
    }

    /// Gets the plan of the last query now: later the database is different.
    pub fn explain_last(&mut self, session: &mut Session) -> Result<(), Stop> {
        if let Some(asked) = self.asked.last_mut() {
            asked.plan = Some(plan_of(&asked.question, session)?);
        }
        Ok(())
    }

    /// The rows of the arm of this number; empty if it did not return any.
    pub fn rows(&self, at: usize) -> &Rows {
        static NOTHING: Rows = Rows { columns: 0, values: Vec::new() };
        match self.asked.get(at).map(|asked| &asked.reply) {
            Some(Reply::Rows(rows)) => rows,
            _ => &NOTHING,
        }
    }

    /// The rows of several arms combined.
    pub fn union_all(&self, arms: std::ops::Range<usize>) -> Rows {
        let columns = self.rows(arms.start).columns;
        Rows { columns, values: arms.flat_map(|at| self.rows(at).values.iter().cloned()).collect() }
    }

    /// A verdict that does not need a comparison: some arm failed. `None` if all of them succeeded.
    pub fn unanswered(&mut self, subject: &Subject, session: &mut Session) -> Result<Option<Verdict>, Stop> {
        let settled = judge::settle_errors(self.asked.iter().map(|asked| &asked.reply));
        let Some(error) = self.one_sided() else { return Ok(settled) };
        if session.validates_errors && self.is_spared(&error, session)? {
            return Ok(Some(Verdict::skip("one arm avoids the error")));
        }
        let difference = Difference::new(Class::ErrorDivergence, Failure::OneSided { error });
        self.differ(difference, subject, session).map(Some)
    }

    /// An error that values raise in some arms and not in others. If an arm is refused for the way it is written,
    /// that says nothing.
    fn one_sided(&self) -> Option<SqlError> {
        let answered = self.asked.iter().any(|asked| !matches!(asked.reply, Reply::Failed(_)));
        let mut failed = self.asked.iter().filter_map(|asked| asked.reply.failure());
        let error = failed.next()?;
        let raised =
            error.class == ErrorClass::Runtime && failed.all(|error| error.class == ErrorClass::Runtime);
        (answered && raised).then(|| error.clone())
    }

    /// Whether an expression of any arm, forced, fails like this.
    fn is_spared(&self, error: &SqlError, session: &mut Session) -> Result<bool, Stop> {
        for asked in &self.asked {
            if validate::is_spared(&asked.question.statement(), error, &[], session)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The verdict on two results that should be the same multiset.
    pub fn verdict(
        &mut self,
        left: &Rows,
        right: &Rows,
        equality: Equality,
        subject: &Subject,
        session: &mut Session,
    ) -> Result<Verdict, Stop> {
        match judge::compare(left, right, equality) {
            None => Ok(Verdict::Pass { nonempty: !left.is_empty() || !right.is_empty() }),
            Some(difference) => self.differ(difference, subject, session),
        }
    }

    /// The same for the rows of an arm and those that it should have returned.
    pub fn verdict_on(
        &mut self,
        at: usize,
        expected: &Rows,
        equality: Equality,
        subject: &Subject,
        session: &mut Session,
    ) -> Result<Verdict, Stop> {
        let rows = self.rows(at);
        match judge::compare(rows, expected, equality) {
            None => Ok(Verdict::Pass { nonempty: !rows.is_empty() || !expected.is_empty() }),
            Some(difference) => self.differ(difference, subject, session),
        }
    }

    /// The verdict on a difference: a bug, unless the subject is one whose answer is not defined.
    pub fn differ(
        &mut self,
        difference: Difference,
        subject: &Subject,
        session: &mut Session,
    ) -> Result<Verdict, Stop> {
        match gate::undefined(subject, session.database(), session.dialect()) {
            Some(reason) => Ok(Verdict::skip(reason)),
            None => self.bug(difference, session),
        }
    }

    fn bug(&mut self, difference: Difference, session: &mut Session) -> Result<Verdict, Stop> {
        let mut arms = Vec::new();
        for asked in self.asked.drain(..) {
            arms.extend(asked.before);
            let plan = match asked.plan {
                Some(plan) => plan,
                None => plan_of(&asked.question, session)?,
            };
            arms.push(session.arm(asked.label, &asked.question.statement(), asked.reply, plan));
        }
        Ok(Verdict::Bug(Box::new(Evidence {
            class: difference.class,
            relation: self.relation.to_string(),
            arms,
            failure: difference.failure,
            explanation: difference.explanation,
        })))
    }
}

fn plan_of(question: &Question, session: &mut Session) -> Result<Option<String>, Stop> {
    match question {
        Question::Query(query) => Ok(session.explain(query)?),
        Question::Change(_) => Ok(None),
    }
}
