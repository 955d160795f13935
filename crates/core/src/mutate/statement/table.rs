//! Changes a table's constraint, type, or storage.

use crate::generate::{Generator, Named, choices};
use crate::mutate::Mutation;
use crate::sql::*;

choices! {
    choose enum {
        CHANGE: Change = "mutate.statement.table" {
            DropConstraint: 8,
            Type: 4,
            Storage: 4,
            Unique: 1,
            NotNull: 1,
            Reverse: 2,
        },
    }
}

pub(super) struct Table;

impl Mutation<Statement> for Table {
    fn applies(&self, statement: &Statement, _: Option<&Statement>) -> bool {
        // The columns of a module's table have no types and constraints.
        matches!(statement, Statement::CreateTable(create) if !create.columns.is_empty() && create.module.is_none())
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn apply(&self, generator: &mut Generator, statement: &mut Statement, _: Option<&Statement>) {
        let Statement::CreateTable(create) = statement else { return };
        let at = generator.rng.below(create.columns.len());
        let constrained = !create.columns[at].constraints.is_empty() || !create.constraints.is_empty();
        match generator.choose_where(&CHANGE, |change| change != Change::DropConstraint || constrained) {
            Change::DropConstraint => drop_constraint(generator, create, at),
            Change::Type => {
                if let Some(entry) = generator.rng.choose(&generator.dialect.types) {
                    create.columns[at].ty = entry.ty.clone();
                }
            }
            // As another table of this name would be stored.
            Change::Storage => {
                let other = generator.table();
                if other.columns.len() == create.columns.len() {
                    create.options = other.options;
                }
            }
            Change::Unique => add(&mut create.columns[at], ColumnConstraint::Unique { on_conflict: None }),
            Change::NotNull => add(&mut create.columns[at], ColumnConstraint::NotNull),
            Change::Reverse => create.columns.reverse(),
        }
    }
}

fn drop_constraint(generator: &mut Generator, create: &mut CreateTable, column: usize) {
    let constraints = &mut create.columns[column].constraints;
    if !constraints.is_empty() {
        constraints.remove(generator.rng.below(constraints.len()));
    } else if !create.constraints.is_empty() {
        create.constraints.remove(generator.rng.below(create.constraints.len()));
    }
}

fn add(column: &mut ColumnDef, constraint: ColumnConstraint) {
    if !column.constraints.contains(&constraint) {
        column.constraints.push(constraint);
    }
}
