//! Reads a subject: steps that create their own tables, and the conditions they must meet.

use super::places::objection;
use super::{ROAD, SQL};
use crate::dialect::{Dialect, Feature, PrepareSyntax};
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
        let case = Case::of(&subject.tests, road);
        case.steps.iter().try_for_each(|step| case.admit(step, dialect))?;
        Ok(case)
    }

    /// The case of these steps, whatever they are.
    pub fn of(steps: &'a [Statement], road: Road) -> Case<'a> {
        let tables = steps.iter().filter_map(|step| match step {
            Statement::CreateTable(create) => Some(create.name.clone()),
            _ => None,
        });
        let views = steps.iter().filter_map(|step| match step {
            Statement::CreateView(create) => Some(create.name.clone()),
            _ => None,
        });
        Case { steps, road, tables: tables.collect(), views: views.collect() }
    }

    /// The condition that a step does not meet, if there is one.
    pub fn admit(&self, step: &Statement, dialect: &Dialect) -> Result<(), &'static str> {
        let types = dialect.preparing.types(self.road != Road::Interface);
        if let Some(objection) = objection(step, types, dialect) {
            return Err(objection);
        }
        let own = |name: &Name| match self.tables.contains(name) {
            true => Ok(()),
            // Both arms start with the existing database, so it must not change.
            false => Err("change to a table that the test case did not create"),
        };
        match step {
            Statement::CreateTable(_) | Statement::CreateView(_) => {}
            Statement::CreateIndex(create) => own(&create.table)?,
            Statement::AlterTable { table, action: AlterAction::AddColumn(_) } => own(table)?,
            Statement::Insert(insert) => {
                own(&insert.table)?;
                // Which of two rows comes first is the engine's to choose.
                if matches!(insert.source, InsertSource::Query(_)) && self.has_key(&insert.table) {
                    return Err("INSERT … SELECT into a table with a key");
                }
                if dialect.can(Feature::RowidAlias) && self.draws_rowid(insert) {
                    return Err("rowid chosen by the engine");
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
            _ => return Err("statement that EPSC does not support"),
        }
        Ok(())
    }

    /// Whether the engine has to find a number for the rowid: once the largest is used up, any.
    fn draws_rowid(&self, insert: &Insert) -> bool {
        let Some(create) = self.created(&insert.table) else { return false };
        let keys = self.keys(&insert.table);
        let alias = |column: &&ColumnDef| {
            column.ty.name.eq_ignore_ascii_case("integer")
                && keys.contains(&Expr::bare_column(column.name.clone()))
        };
        let aliases: Vec<&Name> = create.columns.iter().filter(alias).map(|column| &column.name).collect();
        if aliases.is_empty() {
            return false;
        }
        let InsertSource::Values(rows) = &insert.source else { return true };
        let names: Vec<&Name> = match insert.columns.is_empty() {
            true => create.columns.iter().map(|column| &column.name).collect(),
            false => insert.columns.iter().collect(),
        };
        // Whichever of several keys is the alias.
        aliases.into_iter().any(|alias| {
            let at = names.iter().position(|name| *name == alias);
            let given = |row: &Vec<Expr>| {
                let value = at.and_then(|at| row.get(at));
                matches!(value, Some(Expr::Literal(value) | Expr::Bound(value)) if !value.is_null())
            };
            !rows.iter().all(given)
        })
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
