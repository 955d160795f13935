//! A subject as EPSC reads it: steps that bring their own tables, and the conditions they meet.

use super::places::objection;
use super::{ROAD, SQL};
use crate::dialect::{Dialect, ParameterType, PrepareSyntax};
use crate::sql::*;
use crate::subject::Subject;

/// How statements come to be prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Road {
    /// By the engine's protocol or C interface.
    Interface,
    /// By PREPARE and EXECUTE.
    Sql(PrepareSyntax),
}

pub struct Case<'a> {
    pub steps: &'a [Statement],
    pub road: Road,
    /// What the steps make, in order: the tables, whose rows are compared in the end, and the views.
    pub tables: Vec<Name>,
    pub views: Vec<Name>,
}

impl<'a> Case<'a> {
    /// The case, or the condition that the subject does not meet.
    pub fn read(subject: &'a Subject, dialect: &'a Dialect) -> Result<Case<'a>, &'static str> {
        let road = match (subject.choice(ROAD), dialect.preparing.sql) {
            (Some(SQL), Some(syntax)) => Road::Sql(syntax),
            (Some(SQL), None) => return Err("no PREPARE in this dialect"),
            _ => Road::Interface,
        };
        let types = dialect.preparing.types(road != Road::Interface);
        let mut case = Case { steps: &subject.tests, road, tables: Vec::new(), views: Vec::new() };
        for step in case.steps {
            case.admit(step, types, dialect)?;
        }
        Ok(case)
    }

    fn admit(
        &mut self,
        step: &Statement,
        types: &[ParameterType],
        dialect: &Dialect,
    ) -> Result<(), &'static str> {
        if let Some(objection) = objection(step, types, dialect) {
            return Err(objection);
        }
        let own = |name: &Name| match self.tables.contains(name) {
            true => Ok(()),
            // Both arms begin with what is there, so it must not change.
            false => Err("change of a table that the case has not made"),
        };
        match step {
            Statement::CreateTable(create) => self.tables.push(create.name.clone()),
            Statement::CreateView(create) => self.views.push(create.name.clone()),
            Statement::CreateIndex(create) => own(&create.table)?,
            Statement::AlterTable { table, action: AlterAction::AddColumn(_) } => own(table)?,
            Statement::Insert(insert) => {
                own(&insert.table)?;
                // Which of two rows comes first is the engine's to choose.
                if matches!(insert.source, InsertSource::Query(_)) && self.has_key(&insert.table) {
                    return Err("rows of a query that meet a key");
                }
            }
            Statement::Update(update) => {
                own(&update.table)?;
                let keyed = |column: &Name| self.is_key(&update.table, column);
                if update.assignments.iter().any(|assignment| keyed(&assignment.column)) {
                    return Err("update of a key");
                }
            }
            Statement::Delete(delete) => own(&delete.table)?,
            Statement::Analyze(_) | Statement::Reindex(_) | Statement::Vacuum | Statement::Set { .. } => {}
            Statement::Query(_) => {}
            Statement::Drop { object: ObjectKind::Index, .. } => {}
            Statement::Raw(text) if dialect.is_maintenance(text) => {}
            _ => return Err("statement that EPSC does not look at"),
        }
        Ok(())
    }

    fn has_key(&self, table: &Name) -> bool {
        !self.keys(table).is_empty()
    }

    /// Whether a column is a part of a key, or may be through one that is computed of it.
    fn is_key(&self, table: &Name, column: &Name) -> bool {
        let generated = self.created(table).is_some_and(|create| {
            let generated =
                |constraint: &ColumnConstraint| matches!(constraint, ColumnConstraint::Generated { .. });
            create.columns.iter().any(|column| column.constraints.iter().any(generated))
        });
        let keys = self.keys(table);
        let named = |key: &Expr| matches!(key, Expr::Column(reference) if reference.column == *column);
        let computed = |key: &Expr| !matches!(key, Expr::Column(_));
        keys.iter().any(|key| generated || computed(key) || named(key))
    }

    fn created(&self, table: &Name) -> Option<&'a CreateTable> {
        self.steps.iter().find_map(|step| match step {
            Statement::CreateTable(create) if create.name == *table => Some(create),
            _ => None,
        })
    }

    /// The parts of all keys that no two rows of a table share.
    fn keys(&self, table: &Name) -> Vec<Expr> {
        let mut keys = Vec::new();
        for column in self.created(table).iter().flat_map(|create| &create.columns) {
            let unique = |constraint: &ColumnConstraint| {
                matches!(constraint, ColumnConstraint::PrimaryKey { .. } | ColumnConstraint::Unique { .. })
            };
            if column.constraints.iter().any(unique) {
                keys.push(Expr::bare_column(column.name.clone()));
            }
        }
        for constraint in self.created(table).iter().flat_map(|create| &create.constraints) {
            if let TableConstraint::PrimaryKey(parts) | TableConstraint::Unique(parts) = constraint {
                keys.extend(parts.iter().map(|key| key.expr.clone()));
            }
        }
        for step in self.steps {
            if let Statement::CreateIndex(create) = step
                && create.unique
                && create.table == *table
            {
                keys.extend(create.keys.iter().map(|key| key.expr.clone()));
            }
        }
        keys
    }
}
