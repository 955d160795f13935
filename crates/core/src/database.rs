//! The database under test, as its statements built it: one value, owned by the session.

use crate::dialect::Dialect;
use crate::sql::visit::{Visitor, walk_table};
use crate::sql::{CreateView, Name, Statement, TableRef};
use crate::state::State;
use crate::subject::Subject;

/// What was done to a database since it was empty, and what follows about it.
#[derive(Clone, Debug, Default)]
pub struct Database {
    setup: Vec<Statement>,
    /// The places of those that failed.
    failed: Vec<usize>,
    state: State,
    history: Vec<Statement>,
}

impl Database {
    /// The database that these statements would build if none of them failed.
    pub fn of(setup: &[Statement], dialect: &Dialect) -> Database {
        let mut database = Database::default();
        setup.iter().for_each(|statement| database.grow(statement, None, dialect));
        database
    }

    /// The statements that build it: run again on an empty database, they should make the same one.
    pub fn setup(&self) -> &[Statement] {
        &self.setup
    }

    /// Whether the statement at this place of the setup failed when it ran.
    pub(crate) fn has_failed(&self, at: usize) -> bool {
        self.failed.contains(&at)
    }

    /// The statements of the setup that did what they say: without those that failed.
    pub fn built(&self) -> impl DoubleEndedIterator<Item = &Statement> + Clone {
        let built = self.setup.iter().enumerate().filter(|(at, _)| !self.has_failed(*at));
        built.map(|(_, statement)| statement)
    }

    /// Its tables, columns, views and indexes.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Everything since it was empty that may have left something behind, whoever ran it: also statements that
    /// failed, and what an oracle did and undid.
    pub fn history(&self) -> &[Statement] {
        &self.history
    }

    /// The views that a subject reads, directly or through others.
    pub fn views_read(&self, subject: &Subject) -> Vec<&CreateView> {
        let mut read = TableNames::default();
        subject.tests.iter().for_each(|test| read.statement(test));
        subject.exprs.iter().for_each(|expr| read.expr(expr));
        let mut views: Vec<&CreateView> = Vec::new();
        let mut at = 0;
        while let Some(name) = read.0.get(at).cloned() {
            at += 1;
            let Some(view) = self.view(&name) else { continue };
            if !views.iter().any(|known| known.name == view.name) {
                read.query(&view.query);
                views.push(view);
            }
        }
        views
    }

    fn view(&self, name: &Name) -> Option<&CreateView> {
        self.setup.iter().rev().find_map(|statement| match statement {
            Statement::CreateView(view) if view.name.eq_ignore_ascii_case(name) => Some(view),
            _ => None,
        })
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
        self.failed.push(self.setup.len());
        self.setup.push(statement.clone());
    }

    /// The current point, to come back to it.
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
        self.failed.retain(|at| *at < mark.setup);
        self.state = mark.state;
    }
}

/// A point in the life of a database.
pub(crate) struct Mark {
    setup: usize,
    state: State,
}

/// The tables that are named in FROM, wherever it stands.
#[derive(Default)]
struct TableNames(Vec<Name>);

impl Visitor for TableNames {
    fn table(&mut self, table: &TableRef) {
        if let TableRef::Table { name, .. } = table {
            self.0.push(name.clone());
        }
        walk_table(self, table);
    }
}
