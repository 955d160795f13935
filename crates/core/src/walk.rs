//! The walk of a test case: build a database, then propose and check until its cases are used up.
//!
//! Pure but for the engine inside the session: the same seed, engine and settings give the same
//! statements in the same order.

use crate::dialect::Dialect;
use crate::engine::Trouble;
use crate::finding::{Evidence, Origin, Verdict};
use crate::oracle::Oracle;
use crate::session::Session;
use crate::subject::Subject;

/// What a walk tells while it goes.
pub trait Watcher {
    /// A case of a database begins (case 0 builds it). `false` ends the walk.
    fn case(&mut self, database: u64, case: u64) -> bool;

    /// A statement became part of the database's state.
    fn built(&mut self, sql: &str);

    /// An oracle came to a verdict.
    fn verdict(&mut self, oracle: &'static str, verdict: &Verdict);

    /// A difference that held when the subject was built again on a fresh database.
    fn finding(&mut self, origin: Origin, subject: Subject, evidence: Evidence);

    /// A difference that did not hold on a fresh database: kept and counted, never reported.
    fn unstable(&mut self, origin: Origin, subject: Subject, evidence: Evidence);
}

pub struct Walk<'a> {
    pub dialect: &'a Dialect,
    pub oracles: Vec<&'static dyn Oracle>,
    pub seed: u64,
}

impl Walk<'_> {
    /// Builds the database of this number and runs its cases. `Ok(false)`: the watcher ended it.
    pub fn database(
        &self,
        number: u64,
        session: &mut Session,
        watcher: &mut dyn Watcher,
    ) -> Result<bool, Trouble> {
        let _ = (number, session, watcher);
        Ok(false)
    }
}

/// Builds a subject's state on an empty database and checks it.
pub fn replay(subject: &Subject, oracle: &dyn Oracle, session: &mut Session) -> Result<Verdict, Trouble> {
    session.reset()?;
    for statement in &subject.setup {
        session.run(statement)?;
    }
    oracle.check(subject, session)
}
