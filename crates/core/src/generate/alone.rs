//! A table on its own, and what is done to it before anything is asked.

use super::{Generator, State};
use crate::sql::*;

impl Generator<'_> {
    /// The statements that give a table rows and indexes and change it now and then; the table is among them.
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
        if self.rng.chance(30) {
            take(self, &mut |g| g.create_index(false));
        }
        for _ in 0..self.rng.between(1, 3) {
            take(self, &mut |g| g.insert_rows(&table));
        }
        if self.rng.chance(40) {
            take(self, &mut |g| g.create_index(false));
        }
        for _ in 0..self.rng.below(3) {
            take(self, &mut |g| match g.rng.below(6) {
                0 => g.delete(),
                1 | 2 => g.update(),
                3 => g.insert_rows(&table),
                // The table keeps its name: by that it is known.
                _ => g.alter().filter(|statement| {
                    !matches!(statement, Statement::AlterTable { action: AlterAction::RenameTable(_), .. })
                }),
            });
        }
        statements
    }
}
