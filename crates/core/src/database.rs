//! The database under test, as the statements made it: one value, kept by the session.

use crate::dialect::Dialect;
use crate::generate::State;
use crate::sql::Statement;

/// What was done to a database since it was empty, and what is known of it by that.
#[derive(Clone, Debug, Default)]
pub struct Database {
    setup: Vec<Statement>,
    state: State,
    history: Vec<Statement>,
}

impl Database {
    /// The database that these statements would make if none of them failed.
    pub fn of(setup: &[Statement], dialect: &Dialect) -> Database {
        let mut database = Database::default();
        setup.iter().for_each(|statement| database.grow(statement, None, dialect));
        database
    }

    /// The statements that build it: run again on an empty database, they should make the same one.
    pub fn setup(&self) -> &[Statement] {
        &self.setup
    }

    /// Its tables, columns, views and indexes.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Everything since it was empty that may have left something behind, whoever ran it: also statements that
    /// failed, and what an oracle did and took back.
    pub fn history(&self) -> &[Statement] {
        &self.history
    }

    /// A statement ran that may have left something behind.
    pub(crate) fn lived_through(&mut self, statement: &Statement) {
        self.history.push(statement.clone());
    }

    /// A statement became part of it; `changed` is how many rows the engine says it changed.
    pub(crate) fn grow(&mut self, statement: &Statement, changed: Option<u64>, dialect: &Dialect) {
        self.state.apply(statement, dialect);
        if let Some(changed) = changed {
            self.state.count(statement, changed);
        }
        self.setup.push(statement.clone());
    }

    /// A statement belongs to what builds it, though it failed: what it left behind is part of the database.
    pub(crate) fn suffer(&mut self, statement: &Statement) {
        self.setup.push(statement.clone());
    }

    /// Where it stands, to come back to it.
    pub(crate) fn mark(&self) -> Mark {
        Mark { setup: self.setup.len(), state: self.state.clone() }
    }

    /// What was built since.
    pub(crate) fn since(&self, mark: &Mark) -> &[Statement] {
        &self.setup[mark.setup..]
    }

    /// Forgets what was built since, because it was dropped again. The history stays.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.setup.truncate(mark.setup);
        self.state = mark.state;
    }
}

/// A point in the life of a database.
pub(crate) struct Mark {
    setup: usize,
    state: State,
}
