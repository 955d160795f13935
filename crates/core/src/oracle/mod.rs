//! The oracles: one file each, one line each in [`all`].

mod again;
pub mod arms;
pub mod edc;
pub mod epsc;
mod freedom;
pub mod gate;
pub mod given;
pub mod health;
pub mod index;
pub mod joinequiv;
pub mod judge;
pub mod norec;
pub mod plan;
pub mod rowid;
pub mod storage;
pub mod tlp;
pub(crate) mod twin;
mod validate;
pub mod valscope;

pub use given::Given;

use crate::engine::Trouble;
use crate::finding::Verdict;
use crate::generate::Generator;
use crate::session::Session;
use crate::subject::Subject;

/// A way to ask one question twice.
///
/// `propose` is random and touches no engine; `check` touches the engine and is not random. So a
/// replay is `check(subject)`, and a reduction step is "edit the subject, `check` again".
pub trait Oracle: Sync {
    /// The name a user types: `norec`.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn about(&self) -> &'static str;

    /// About how many statements a check runs. All oracles of a hunt get their share of its time, so one
    /// that asks much of each subject is asked for fewer.
    fn cost(&self) -> u32 {
        2
    }

    /// A subject over the generator's schema, or `None` if the schema or the dialect has no room for one.
    fn propose(&self, generator: &mut Generator) -> Option<Subject>;

    /// Subjects made of a query that was given rather than drawn, one for each choice that there is; none if the
    /// query has nothing that this oracle can work on. Not random either.
    fn adopt(&self, _given: &Given) -> Vec<Subject> {
        Vec::new()
    }

    /// Asks the engine both ways. The subject's state is already built when this is called.
    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Trouble>;
}

/// Every oracle. A new one joins by one line here.
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
    ]
}

/// An oracle by its exact name, also the one that only replays crashes.
pub fn by_name(name: &str) -> Option<&'static dyn Oracle> {
    all().iter().copied().chain([&health::Health as &dyn Oracle]).find(|oracle| oracle.name() == name)
}

/// The oracles a user's word stands for: a name, a group (`tlp` for all `tlp-…`), or `all`.
pub fn select(word: &str) -> Vec<&'static dyn Oracle> {
    let belongs = |name: &str| {
        word == "all" || name == word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with('-'))
    };
    all().iter().copied().filter(|oracle| belongs(oracle.name())).collect()
}
