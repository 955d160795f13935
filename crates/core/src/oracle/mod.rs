//! The oracles: one folder each, one line each in [`all`]. What they share is in [`kit`].

pub mod atomic;
pub mod constraints;
pub mod crash;
pub mod dml;
pub mod edc;
pub mod eet;
pub mod epsc;
pub mod identities;
pub mod index;
pub mod joinequiv;
pub mod kit;
pub mod materialise;
pub mod norec;
pub mod order;
pub mod plan;
pub mod roundtrip;
pub mod rowid;
pub mod storage;
#[cfg(test)]
pub(crate) mod tests;
pub mod tlp;
pub mod valscope;
pub mod versions;

use std::collections::BTreeSet;

pub use kit::given::Given;

use crate::dialect::Dialect;
use crate::engine::{Rows, Stop, Trouble};
use crate::features::Features;
use crate::finding::{ArmOutcome, Evidence, Switch, Verdict};
use crate::generate::{Generator, Named};
use crate::session::Session;
use crate::sql::Value;
use crate::subject::{Proposal, Subject, TestCase};

/// A way to ask the same question twice.
///
/// `propose` is random and uses no engine; `check` uses the engine and is not random. So a
/// replay is `check(subject)`, and a reduction step is "edit the test case, `check` again".
pub trait Oracle: Sync {
    /// The name a user types: `norec`.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn about(&self) -> &'static str;

    /// Whether it applies to a dialect at all: `rowid` needs tables without row numbers.
    fn suits(&self, _dialect: &Dialect) -> bool {
        true
    }

    /// A subject over the generator's schema, or `None` if the schema or the dialect does not allow one.
    fn propose(&self, generator: &mut Generator) -> Option<Proposal>;

    /// Its own choices, so that a profile can weigh them. If several oracles share one, only one of them lists it.
    fn choices(&self) -> &'static [&'static dyn Named] {
        &[]
    }

    /// Subjects made from a given query, one for each choice; none if the query has nothing for this oracle. Not
    /// random either.
    fn adopt(&self, _given: &Given) -> Vec<Subject> {
        Vec::new()
    }

    /// Runs the arms on the database that the session has built, and compares them.
    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop>;

    /// The features of a reduced test case, to tell bugs apart. An oracle leaves out what it requires of every
    /// subject, whatever the bug is.
    fn features(&self, case: &TestCase) -> BTreeSet<String> {
        Features::default().of(case)
    }

    /// The same failure as test cases of another oracle, which may describe it better: several oracles may find
    /// one cause, some of them only indirectly.
    fn restate(&self, _case: &TestCase) -> Vec<TestCase> {
        Vec::new()
    }

    /// What tells the arms of a test case apart, where that is a switch: a setting, an index, a prepared statement.
    fn switch(&self, _case: &TestCase, _dialect: &Dialect) -> Option<Switch> {
        None
    }

    /// Which arm is likely wrong and what it should have returned, where the evidence tells.
    fn expected(&self, _evidence: &Evidence) -> Option<Expected> {
        None
    }

    /// The failure as a script, where the arms as they ran are not one that the engine's own shell can run.
    fn script(&self, _case: &TestCase, _evidence: &Evidence, _dialect: &Dialect) -> Option<Vec<Step>> {
        None
    }

    /// What is wrong where nobody can tell which arm is, to follow "the result of LEFT JOIN".
    fn complaint(&self, _case: &TestCase) -> String {
        "depends on how the query is written".to_string()
    }
}

/// The right answer of an arm that gave another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The arm that is likely wrong, by its place in the evidence.
    pub arm: usize,
    /// What it should have returned.
    pub rows: Rows,
    /// The arm that tells.
    pub by: usize,
    /// Why that is so, as a sentence without its full stop.
    pub why: &'static str,
}

/// A part of a script for the engine's own shell.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// What comes next, for the reader.
    Label(String),
    /// A statement.
    Run(String),
    /// The value of a parameter of the statements that follow, numbered from 1.
    Bind(usize, Value),
    /// Here the arm of this number has returned what it returned.
    Outcome(usize),
}

/// The arms that returned rows, with their places in the evidence: what ran between them is left out.
fn answers(evidence: &Evidence) -> Vec<(usize, &Rows)> {
    let arms = evidence.arms.iter().enumerate();
    arms.filter_map(|(at, arm)| match &arm.outcome {
        ArmOutcome::Rows(rows) => Some((at, rows)),
        ArmOutcome::Done | ArmOutcome::Error(_) => None,
    })
    .collect()
}

/// Every oracle. A new one needs one line here.
pub fn all() -> &'static [&'static dyn Oracle] {
    &[
        &norec::NoRec,
        &tlp::Where,
        &tlp::Having,
        &tlp::Aggregate,
        &tlp::Distinct,
        &tlp::GroupBy,
        &joinequiv::JoinEquiv,
        &valscope::ValScope,
        &edc::Edc,
        &epsc::Epsc,
        &index::Index,
        &rowid::Rowid,
        &storage::Storage,
        &plan::Plan,
        &order::Order,
        &identities::Identities,
        &constraints::Constraints,
        &dml::Dml,
        &eet::Eet,
        &materialise::Materialise,
        &atomic::Atomic,
        &roundtrip::Roundtrip,
    ]
}

/// Every choice of the oracles.
pub(crate) fn every_choice() -> impl Iterator<Item = &'static dyn Named> {
    all().iter().flat_map(|oracle| oracle.choices().iter().copied())
}

/// An oracle by its exact name, also those that are not among [`all`]: the one that is always on and proposes nothing,
/// and the one that needs a second version.
pub fn by_name(name: &str) -> Option<&'static dyn Oracle> {
    let others: [&dyn Oracle; 2] = [&crash::Crash, &versions::Versions];
    all().iter().copied().chain(others).find(|oracle| oracle.name() == name)
}

/// The oracles that a user's word stands for: a name, a group (`tlp` for all `tlp-…`), or `all`.
pub fn select(word: &str) -> Vec<&'static dyn Oracle> {
    let belongs = |name: &str| {
        word == "all" || name == word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with('-'))
    };
    all().iter().copied().filter(|oracle| belongs(oracle.name())).collect()
}

/// Checks a subject; harm to the engine is a verdict like any other.
pub fn check(oracle: &dyn Oracle, subject: &Subject, session: &mut Session) -> Result<Verdict, Trouble> {
    match oracle.check(subject, session) {
        Ok(verdict) => Ok(verdict),
        Err(Stop::Harm(harm)) => Ok(Verdict::Bug(Box::new(crash::evidence(*harm)))),
        Err(Stop::Trouble(trouble)) => Err(trouble),
    }
}
