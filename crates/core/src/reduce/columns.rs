//! Drops a column from its table, its rows and its keys in one edit. Queries that use it are not changed: then the
//! edit does not reproduce.

use super::sites::statements;
use super::{Edit, Pass};
use crate::sql::visit::any_expr;
use crate::sql::*;
use crate::subject::TestCase;

pub struct Columns;

impl Pass for Columns {
    fn name(&self) -> &'static str {
        "columns"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = Vec::new();
        for statement in statements(case) {
            let Statement::CreateTable(create) = statement else { continue };
            // The columns that an INSERT without a list fills, in order.
            let filled: Vec<Name> = create
                .columns
                .iter()
                .filter(|column| !is_generated(column))
                .map(|c| c.name.clone())
                .collect();
            for column in create.columns.iter().rev() {
                let (table, column, filled) = (create.name.clone(), column.name.clone(), filled.clone());
                edits.push(Edit::new(move |case| {
                    case.setup.retain_mut(|statement| without(statement, &table, &column, &filled));
                    case.subject.tests.retain_mut(|statement| without(statement, &table, &column, &filled));
                    !case.subject.tests.is_empty()
                }));
            }
        }
        edits
    }
}

fn is_generated(column: &ColumnDef) -> bool {
    column.constraints.iter().any(|constraint| matches!(constraint, ColumnConstraint::Generated { .. }))
}

/// Takes the column out of a statement; `false` if nothing is left of the statement.
fn without(statement: &mut Statement, table: &Name, column: &Name, filled: &[Name]) -> bool {
    let names = |expr: &Expr| {
        any_expr(expr, |inner| matches!(inner, Expr::Column(reference) if reference.column == *column))
    };
    match statement {
        Statement::CreateTable(create) if create.name == *table => {
            create.columns.retain(|other| other.name != *column);
            create.constraints.retain_mut(|constraint| match constraint {
                TableConstraint::PrimaryKey(keys)
                | TableConstraint::Unique(keys)
                | TableConstraint::Index { keys, .. } => {
                    keys.retain(|key| !names(&key.expr));
                    !keys.is_empty()
                }
                TableConstraint::Check(expr) => !names(expr),
                TableConstraint::ForeignKey { columns, .. } => !columns.contains(column),
            });
            !create.columns.is_empty()
        }
        Statement::CreateIndex(create) if create.table == *table => {
            create.keys.retain(|key| !names(&key.expr));
            create.filter.take_if(|filter| names(filter));
            !create.keys.is_empty()
        }
        Statement::Insert(insert) if insert.table == *table => {
            without_value(insert, column, filled);
            true
        }
        Statement::Update(update) if update.table == *table => {
            update.assignments.retain(|assignment| assignment.column != *column);
            !update.assignments.is_empty()
        }
        _ => true,
    }
}

fn without_value(insert: &mut Insert, column: &Name, filled: &[Name]) {
    let names = if insert.columns.is_empty() { filled } else { &insert.columns };
    let Some(at) = names.iter().position(|name| name == column) else { return };
    if let InsertSource::Values(rows) = &mut insert.source {
        for row in rows.iter_mut().filter(|row| at < row.len()) {
            row.remove(at);
        }
    }
    if at < insert.columns.len() {
        insert.columns.remove(at);
    }
}
