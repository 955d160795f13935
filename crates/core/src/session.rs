//! The one way to run a statement: journal it, run it, count it.

mod account;
mod other;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::database::{Database, Mark};
use crate::dialect::Dialect;
use crate::engine::{Engine, ErrorClass, Harm, Prepared, Reply, SqlError, Stop, Trouble};
use crate::finding::{Arm, ArmOutcome};
use crate::render::render;
use crate::sql::{DataType, Query, Statement, Value};
pub use account::{Account, Checking, Purpose, Spent};
pub use other::FromOther;
use other::Other;

/// Sees each statement before it runs, so that it is known if the engine crashes the process.
pub trait Journal {
    /// The engine is about to run this.
    fn before(&mut self, sql: &str);
    /// The engine has answered.
    fn after(&mut self);
    /// What the statements that follow are run for.
    fn purpose(&mut self, _purpose: Purpose) {}
    /// The statement that ran last built something.
    fn built(&mut self, _sql: &str) {}
    /// The database is empty again.
    fn reset(&mut self) {}
}

/// Records nothing: for tests and replays in this process.
pub struct NoJournal;

impl Journal for NoJournal {
    fn before(&mut self, _: &str) {}
    fn after(&mut self) {}
}

/// Nanoseconds since an arbitrary start. Core has no clock of its own.
pub type Clock = fn() -> u64;

/// What a session has run so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Statements that were run.
    pub statements: u64,
    /// Those of them that did not fail.
    pub statements_ok: u64,
    /// Statements that ran again to find out what to keep of a database; counted apart, because some are expected
    /// to fail.
    #[serde(default)]
    pub rehearsed: u64,
    /// Failed statements, by class of error.
    pub errors: BTreeMap<ErrorClass, u64>,
    /// Time spent inside the engine.
    pub engine_nanos: u64,
    /// What it was spent on.
    #[serde(default)]
    pub account: Account,
    /// Time spent generating statements.
    #[serde(default)]
    pub generator_nanos: u64,
    /// What oracles count besides their verdicts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<Cow<'static, str>, u64>,
    /// What oracles tried, where the number of different ones matters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variety: BTreeMap<Cow<'static, str>, BTreeSet<String>>,
}

impl Counts {
    /// Adds what was counted elsewhere or later.
    pub fn add(&mut self, other: Counts) {
        self.statements += other.statements;
        self.statements_ok += other.statements_ok;
        self.rehearsed += other.rehearsed;
        self.engine_nanos += other.engine_nanos;
        self.account.add(other.account);
        self.generator_nanos += other.generator_nanos;
        for (class, count) in other.errors {
            *self.errors.entry(class).or_insert(0) += count;
        }
        for (note, count) in other.notes {
            *self.notes.entry(note).or_insert(0) += count;
        }
        for (what, which) in other.variety {
            self.variety.entry(what).or_default().extend(which);
        }
    }
}

/// The one way to run statements: it renders, runs and counts them, and knows the database they built.
pub struct Session<'a> {
    engine: &'a mut dyn Engine,
    dialect: &'a Dialect,
    journal: &'a mut dyn Journal,
    clock: Clock,
    /// What has been run.
    pub counts: Counts,
    /// Whether an error in one arm only is validated before it counts as a finding (SOUNDNESS 5). Without it, every
    /// such error is a finding; only to measure what validation is worth.
    pub validates_errors: bool,
    /// What the next statements are run for.
    purpose: Purpose,
    database: Database,
    /// Another version or build, which oracles can ask as well.
    other: Option<Other<'a>>,
    sql: String,
}

impl<'a> Session<'a> {
    /// A session over an engine, whose database is taken for empty until [`Session::reset`] makes it so.
    pub fn new(
        engine: &'a mut dyn Engine,
        dialect: &'a Dialect,
        journal: &'a mut dyn Journal,
        clock: Clock,
    ) -> Self {
        Session {
            engine,
            dialect,
            journal,
            clock,
            counts: Counts::default(),
            validates_errors: true,
            purpose: Purpose::default(),
            database: Database::default(),
            other: None,
            sql: String::new(),
        }
    }

    /// The dialect that statements are written in.
    pub fn dialect(&self) -> &'a Dialect {
        self.dialect
    }

    /// The version that the engine says it has.
    pub fn engine_version(&self) -> &str {
        self.engine.version()
    }

    /// The text of the statement that ran last.
    pub fn last_sql(&self) -> &str {
        &self.sql
    }

    /// The database as it is now.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// An empty database again.
    pub fn reset(&mut self) -> Result<(), Trouble> {
        self.database = Database::default();
        self.other.iter_mut().for_each(Other::start_over);
        self.journal.reset();
        let purpose = self.purpose;
        if purpose == Purpose::Build {
            self.purpose = Purpose::Reset;
        }
        let returned = self.clocked(1, |engine| engine.reset());
        self.purpose = purpose;
        returned
    }

    /// Closes the database and opens it again, as its file would hold it. `false`: the engine cannot do that.
    pub fn reopen(&mut self) -> Result<bool, Trouble> {
        self.aside(|session| match session.save()? {
            Some(saved) => session.clocked(1, |engine| engine.open_saved(&saved)),
            None => Ok(false),
        })
    }

    fn save(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        self.clocked(1, |engine| engine.save())
    }

    /// Says what the next statements are run for; gives what the last ones were.
    pub fn spend_on(&mut self, purpose: Purpose) -> Purpose {
        self.journal.purpose(purpose);
        std::mem::replace(&mut self.purpose, purpose)
    }

    /// Runs statements of a check that are not its queries.
    pub(crate) fn aside<T>(&mut self, run: impl FnOnce(&mut Session<'a>) -> T) -> T {
        let purpose = self.spend_on(self.purpose.aside());
        let returned = run(self);
        self.spend_on(purpose);
        returned
    }

    /// Runs a statement, whatever happens.
    pub fn try_run(&mut self, statement: &Statement) -> Result<Reply, Trouble> {
        let mut sql = std::mem::take(&mut self.sql);
        sql.clear();
        render(statement, self.dialect, &mut sql);
        let reply = self.run_text(&sql);
        self.sql = sql;
        if leaves_something(statement, reply.as_ref().ok()) {
            self.database.lived_through(statement);
        }
        reply
    }

    /// Runs a statement.
    pub fn run(&mut self, statement: &Statement) -> Result<Reply, Stop> {
        let reply = self.try_run(statement)?;
        self.stop_if_harmed(reply.failure(), || statement.clone())?;
        Ok(reply)
    }

    /// Runs a statement that changes the database under test, whatever happens.
    pub fn try_build(&mut self, statement: &Statement) -> Result<Reply, Trouble> {
        let reply = self.try_run(statement)?;
        match &reply {
            Reply::Failed(_) => {}
            Reply::Done { changed } => self.grow(statement, Some(*changed)),
            Reply::Rows(_) => self.grow(statement, None),
        }
        Ok(reply)
    }

    /// Runs a statement that changes the database under test.
    pub fn build(&mut self, statement: &Statement) -> Result<Reply, Stop> {
        let reply = self.try_build(statement)?;
        self.stop_if_harmed(reply.failure(), || statement.clone())?;
        Ok(reply)
    }

    /// The same, for a statement that belongs to what builds the database even if it fails.
    pub fn build_regardless(&mut self, statement: &Statement) -> Result<Reply, Stop> {
        let reply = self.build(statement)?;
        if matches!(reply, Reply::Failed(_)) {
            self.journal.built(&self.sql);
            self.database.suffer(statement);
        }
        Ok(reply)
    }

    fn grow(&mut self, statement: &Statement, changed: Option<u64>) {
        self.journal.built(&self.sql);
        self.database.grow(statement, changed, self.dialect);
    }

    /// Runs a statement by which a check builds something of its own and removes it again: not part of the database
    /// under test, but recorded in case the engine crashes meanwhile.
    pub fn scaffold(&mut self, statement: &Statement) -> Result<Reply, Stop> {
        self.aside(|session| session.step(statement))
    }

    /// The same for a statement that is itself under test, a step of an arm.
    pub fn step(&mut self, statement: &Statement) -> Result<Reply, Stop> {
        let reply = self.run(statement)?;
        if !matches!(reply, Reply::Failed(_)) {
            self.journal.built(&self.sql);
        }
        Ok(reply)
    }

    /// A statement of a check's scaffold has run in another form.
    pub fn scaffolded(&mut self, statement: &Statement) {
        self.journal.built(&crate::render::to_sql(statement, self.dialect));
        self.database.lived_through(statement);
    }

    pub(crate) fn mark(&self) -> Mark {
        self.database.mark()
    }

    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.database.rewind(mark);
    }

    /// Runs a query, whatever happens.
    pub fn try_query(&mut self, query: &Query) -> Result<Reply, Trouble> {
        let mut sql = std::mem::take(&mut self.sql);
        sql.clear();
        crate::render::render_query(query, self.dialect, &mut sql);
        let reply = self.run_text(&sql);
        self.sql = sql;
        reply
    }

    /// Asks a query.
    pub fn query(&mut self, query: &Query) -> Result<Reply, Stop> {
        let reply = self.try_query(query)?;
        self.stop_if_harmed(reply.failure(), || query.clone().into())?;
        Ok(reply)
    }

    /// The one place where harm is seen.
    fn stop_if_harmed(
        &self,
        failure: Option<&SqlError>,
        statement: impl FnOnce() -> Statement,
    ) -> Result<(), Stop> {
        match failure.filter(|error| error.class.is_harm()) {
            Some(error) => {
                let stack = self.engine.stack();
                let harm =
                    Harm { statement: statement(), sql: self.sql.clone(), error: error.clone(), stack };
                Err(Stop::Harm(Box::new(harm)))
            }
            None => Ok(()),
        }
    }

    /// Prepares a statement through the engine's interface; its parameters have these types. Text of the kind
    /// `PREPARE … AS …` is a statement like any other.
    pub fn prepare(
        &mut self,
        statement: &Statement,
        types: &[DataType],
    ) -> Result<Result<Prepared, SqlError>, Stop> {
        let mut sql = String::new();
        render(statement, self.dialect, &mut sql);
        let told = Prepared::told(&sql);
        let prepared = self.timed(&told, |engine| engine.prepare(&sql, types))?;
        self.count(prepared.as_ref().err());
        self.sql = told;
        self.stop_if_harmed(prepared.as_ref().err(), || Statement::Raw(sql))?;
        Ok(prepared)
    }

    /// Executes a prepared statement, with a value for each parameter.
    pub fn run_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Stop> {
        let told = statement.told_with(values);
        let reply = self.timed(&told, |engine| engine.execute_prepared(statement, values))?;
        self.count_reply(&reply);
        self.sql = told;
        self.stop_if_harmed(reply.failure(), || Statement::Raw(statement.sql.clone()))?;
        Ok(reply)
    }

    /// Lets the engine forget a prepared statement.
    pub fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        self.clocked(0, |engine| engine.close_prepared(statement))
    }

    fn run_text(&mut self, sql: &str) -> Result<Reply, Trouble> {
        let reply = self.timed(sql, |engine| engine.execute(sql))?;
        self.count_reply(&reply);
        Ok(reply)
    }

    /// Everything that may crash the engine is in the journal before it runs.
    fn timed<T>(&mut self, told: &str, run: impl FnOnce(&mut dyn Engine) -> T) -> T {
        self.journal.before(told);
        let returned = self.clocked(1, run);
        self.journal.after();
        returned
    }

    /// The one place where the engine's time is counted.
    fn clocked<T>(&mut self, statements: u64, run: impl FnOnce(&mut dyn Engine) -> T) -> T {
        let start = (self.clock)();
        let returned = run(self.engine);
        let nanos = (self.clock)() - start;
        self.counts.engine_nanos += nanos;
        self.counts.account.charge(self.purpose, Spent { statements, nanos });
        returned
    }

    fn count_reply(&mut self, reply: &Reply) {
        self.count(reply.failure());
    }

    fn count(&mut self, failure: Option<&SqlError>) {
        self.counts.statements += 1;
        match failure {
            Some(error) => *self.counts.errors.entry(error.class).or_insert(0) += 1,
            None => self.counts.statements_ok += 1,
        }
    }

    /// Names the edges of the engine's code that were passed since this was asked last; none if it does not count.
    pub fn take_coverage(&mut self, passed: &mut dyn FnMut(u32)) -> Option<u32> {
        self.engine.take_coverage(passed)
    }

    /// Runs statements that are counted apart.
    pub fn rehearsed<T>(&mut self, run: impl FnOnce(&mut Session<'a>) -> T) -> T {
        let purpose = self.spend_on(Purpose::Rehearsal);
        let counts = (self.counts.statements, self.counts.statements_ok, self.counts.errors.clone());
        let result = run(self);
        self.counts.rehearsed += self.counts.statements - counts.0;
        (self.counts.statements, self.counts.statements_ok, self.counts.errors) = counts;
        self.spend_on(purpose);
        result
    }

    /// The time, for [`drew_since`](Session::drew_since).
    pub fn now(&self) -> u64 {
        (self.clock)()
    }

    /// Counts the time since then as spent on generating.
    pub fn drew_since(&mut self, start: u64) {
        self.counts.generator_nanos += self.now() - start;
    }

    /// Statements that failed so far.
    pub fn failures(&self) -> u64 {
        self.counts.statements - self.counts.statements_ok
    }

    /// Counts something about an oracle's subjects.
    pub fn note(&mut self, what: &'static str) {
        *self.counts.notes.entry(Cow::Borrowed(what)).or_insert(0) += 1;
    }

    /// Remembers which of many an oracle has tried: they are counted once each.
    pub fn note_which(&mut self, what: &'static str, which: String) {
        self.counts.variety.entry(Cow::Borrowed(what)).or_default().insert(which);
    }

    /// The engine's plan for a query, if the dialect has EXPLAIN.
    pub fn plan(&mut self, query: &Query) -> Result<Option<String>, Stop> {
        if self.dialect.explain.is_none() {
            return Ok(None);
        }
        Ok(match self.run(&Statement::Explain(Box::new(query.clone().into())))? {
            Reply::Rows(rows) => Some(self.dialect.plan_text(&rows)),
            _ => None,
        })
    }

    /// The same for evidence, which does without if EXPLAIN harms the engine.
    pub fn explain(&mut self, query: &Query) -> Result<Option<String>, Trouble> {
        let Some(prefix) = self.dialect.explain.as_deref() else { return Ok(None) };
        let mut sql = format!("{prefix} ");
        crate::render::render_query(query, self.dialect, &mut sql);
        Ok(match self.aside(|session| session.run_text(&sql))? {
            Reply::Rows(rows) => Some(self.dialect.plan_text(&rows)),
            _ => None,
        })
    }

    /// Makes an arm of the evidence out of a statement that ran and what it returned.
    pub fn arm(&self, label: &str, statement: &Statement, reply: Reply, plan: Option<String>) -> Arm {
        let sql = crate::render::to_sql(statement, self.dialect);
        let outcome = match reply {
            Reply::Rows(rows) => ArmOutcome::Rows(rows),
            Reply::Done { .. } => ArmOutcome::Done,
            Reply::Failed(error) => ArmOutcome::Error(error),
        };
        Arm { label: label.to_string(), sql, outcome, plan }
    }
}

/// Whether a statement may change the database. Of those that prepare others, what they run is told apart
/// ([`Session::scaffolded`]); text is not understood, but what returns rows asks.
fn leaves_something(statement: &Statement, reply: Option<&Reply>) -> bool {
    match statement {
        Statement::Query(_)
        | Statement::Explain(_)
        | Statement::Prepare { .. }
        | Statement::Execute { .. }
        | Statement::Deallocate(_) => false,
        Statement::Raw(_) => !matches!(reply, Some(Reply::Rows(_))),
        _ => true,
    }
}
