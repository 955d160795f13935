//! A single table, and the statements that change it before any query runs.

use super::{Generator, State, choices};
use crate::sql::*;

choices! {
    odds {
        FIRST_INDEX = "alone.index-before-rows": 30,
        LATER_INDEX = "alone.index": 40,
    }
    choose enum {
        ALONE: Alone = "alone.change" { Delete: 1, Update: 2, Insert: 1, Alter: 2 },
    }
}

impl Generator<'_> {
    /// The statements that give a table rows and indexes and sometimes change it; the table is among them.
    pub fn table_and_rows(&mut self, create: CreateTable) -> Vec<Statement> {
        let table = create.name.clone();
        let mut state = State::default();
        let mut statements = Vec::new();
        let mut take = |g: &mut Self, draw: &mut dyn FnMut(&mut Generator) -> Option<Statement>| {
            let mut inner = Generator::new(g.rng.clone(), g.dialect, &state, g.policy);
            let drawn = draw(&mut inner);
            g.drawn_operations.append(&mut inner.drawn_operations);
            g.rng = inner.rng;
            if let Some(statement) = drawn {
                state.apply(&statement, g.dialect);
                statements.push(statement);
            }
        };
        take(self, &mut |_| Some(Statement::CreateTable(create.clone())));
        if self.odds(&FIRST_INDEX) {
            take(self, &mut |g| g.create_index(false));
        }
        for _ in 0..self.rng.between(1, 3) {
            take(self, &mut |g| g.insert_rows(&table));
        }
        if self.odds(&LATER_INDEX) {
            take(self, &mut |g| g.create_index(false));
        }
        for _ in 0..self.rng.below(3) {
            take(self, &mut |g| match g.choose(&ALONE) {
                Alone::Delete => g.delete(),
                Alone::Update => g.update(),
                Alone::Insert => g.insert_rows(&table),
                // The table keeps its name: by that it is known.
                Alone::Alter => g.alter().filter(|statement| {
                    !matches!(statement, Statement::AlterTable { action: AlterAction::RenameTable(_), .. })
                }),
            });
        }
        statements
    }
}
