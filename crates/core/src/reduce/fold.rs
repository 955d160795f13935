//! Folds a later ALTER TABLE into the CREATE TABLE.

use super::names::{rename_column, rename_relation};
use super::statements::mentions;
use super::{Edit, Pass};
use crate::sql::*;
use crate::subject::TestCase;

pub struct Fold;

impl Pass for Fold {
    fn name(&self) -> &'static str {
        "fold"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let altered = |statement: &Statement| matches!(statement, Statement::AlterTable { .. });
        let places = (0..case.setup.len()).rev().filter(|at| altered(&case.setup[*at]));
        places.map(|at| Edit::new(move |case| fold(case, at))).collect()
    }
}

fn fold(case: &mut TestCase, at: usize) -> bool {
    if at >= case.setup.len() {
        return false;
    }
    let Statement::AlterTable { table, action } = case.setup.remove(at) else { return false };
    let before = &mut case.setup[..at];
    match action {
        AlterAction::AddColumn(column) => add_column(before, &table, column),
        AlterAction::RenameTable(to) => {
            before.iter_mut().for_each(|statement| rename_relation(statement, &table, &to));
            true
        }
        AlterAction::RenameColumn { from, to } => {
            let concerned = before.iter_mut().filter(|statement| mentions(statement, &table));
            concerned.for_each(|statement| rename_column(statement, &from, &to));
            true
        }
        AlterAction::DropColumn(_) => false,
    }
}

/// Rows that were there before the column was have NULL in it.
fn add_column(before: &mut [Statement], table: &Name, column: ColumnDef) -> bool {
    let mut found = false;
    for statement in before {
        match statement {
            Statement::CreateTable(create) if create.name == *table => {
                create.columns.push(column.clone());
                found = true;
            }
            Statement::Insert(insert) if insert.table == *table && insert.columns.is_empty() => {
                if let InsertSource::Values(rows) = &mut insert.source {
                    rows.iter_mut().for_each(|row| row.push(Expr::null()));
                }
            }
            _ => {}
        }
    }
    found
}
