//! Reduction: the same bug in a smaller test case.
//!
//! A [`Pass`] proposes edits of a test case. The [driver](reduce) applies each one, checks whether the test case
//! still fails in the same way, and keeps the edit if it does. Edits work on the tree, and the oracle's `check`
//! derives the arms again, so no edit can break the relation between them. An edit that makes no sense (it drops a
//! column that is used) just does not reproduce.

mod clauses;
mod columns;
mod constants;
mod driver;
mod expressions;
mod fold;
mod inline;
mod names;
mod relations;
mod rows;
mod schema;
mod sites;
mod statements;
mod weight;

pub use driver::{Budget, Reduction, reduce};
pub use weight::{Weight, tokens, tokens_beyond_keywords};

use crate::subject::TestCase;

/// One way to make a test case smaller.
pub trait Pass: Sync {
    /// The name reports and tests use: `statements`.
    fn name(&self) -> &'static str;

    /// The edits that could be made to this test case, the most promising first.
    ///
    /// The driver continues at the same place of the list after an edit that was kept, so a pass that removes
    /// things lists them in an order that removing one does not disturb.
    fn candidates(&self, case: &TestCase) -> Vec<Edit>;
}

/// A change of a test case; `false` if there was nothing to change after all.
pub struct Edit(Box<dyn Fn(&mut TestCase) -> bool>);

impl Edit {
    /// A change that says whether it found something to do.
    pub fn new(change: impl Fn(&mut TestCase) -> bool + 'static) -> Edit {
        Edit(Box::new(change))
    }

    /// The test case after the edit.
    pub fn apply(&self, case: &TestCase) -> Option<TestCase> {
        let mut edited = case.clone();
        (self.0)(&mut edited).then_some(edited)
    }
}

/// Every pass, in the order in which they run: those that remove most first, names last.
pub fn all() -> &'static [&'static dyn Pass] {
    &[
        &statements::Statements,
        &statements::Settle,
        &statements::Tables,
        &rows::Rows,
        &clauses::Choices,
        &clauses::Clauses,
        &relations::Joins,
        &clauses::Items,
        &expressions::Together,
        &expressions::Expressions,
        &inline::Inline,
        &relations::OneTable,
        &rows::Merge,
        &rows::Updates,
        &fold::Fold,
        &schema::Schema,
        &columns::Columns,
        &constants::Constants,
        &names::Qualifiers,
        &names::Rename,
    ]
}

/// A pass by its name.
pub fn by_name(name: &str) -> Option<&'static dyn Pass> {
    all().iter().copied().find(|pass| pass.name() == name)
}
