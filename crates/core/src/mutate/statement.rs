//! Changing a statement that builds a database, within.

use super::query;
use crate::generate::Generator;
use crate::sql::*;

/// Changes one thing in a statement; the present state is the one it is going to meet.
pub fn statement(generator: &mut Generator, statement: &mut Statement) {
    match statement {
        Statement::CreateTable(create) => table(generator, create),
        Statement::CreateIndex(create) => index(generator, create),
        Statement::CreateView(create) => {
            let columns = create.query.as_select().map(|select| select.items.len());
            let before = create.query.clone();
            query(generator, &mut create.query, None);
            // Its columns are named by others.
            if create.query.as_select().map(|select| select.items.len()) != columns {
                create.query = before;
            }
        }
        Statement::Insert(insert) => rows(generator, insert),
        Statement::Update(update) => filter(generator, &mut update.filter),
        Statement::Delete(delete) => filter(generator, &mut delete.filter),
        Statement::Set { name, value } => {
            let dialect = generator.dialect;
            if let Some(setting) = dialect.settings.iter().find(|setting| setting.name == *name)
                && let Some(other) = generator.rng.choose(&setting.values)
            {
                *value = other.clone();
            }
        }
        _ => {}
    }
}

fn table(generator: &mut Generator, create: &mut CreateTable) {
    if create.columns.is_empty() {
        return;
    }
    let at = generator.rng.below(create.columns.len());
    match generator.rng.below(5) {
        // A constraint less.
        0 | 1 => {
            let constraints = &mut create.columns[at].constraints;
            if !constraints.is_empty() {
                constraints.remove(generator.rng.below(constraints.len()));
            } else if !create.constraints.is_empty() {
                create.constraints.remove(generator.rng.below(create.constraints.len()));
            }
        }
        2 => {
            if let Some(entry) = generator.rng.choose(&generator.dialect.types) {
                create.columns[at].ty = entry.ty.clone();
            }
        }
        // As another table of this name would be stored.
        3 => {
            let other = generator.table();
            if other.columns.len() == create.columns.len() {
                create.options = other.options;
            }
        }
        _ => {
            let constraint = match generator.rng.below(4) {
                0 => ColumnConstraint::Unique { on_conflict: None },
                1 => ColumnConstraint::NotNull,
                _ => return create.columns.reverse(),
            };
            if !create.columns[at].constraints.contains(&constraint) {
                create.columns[at].constraints.push(constraint);
            }
        }
    }
}

fn index(generator: &mut Generator, create: &mut CreateIndex) {
    let Some(at) = (!create.keys.is_empty()).then(|| generator.rng.below(create.keys.len())) else { return };
    match generator.rng.below(5) {
        0 => create.unique = !create.unique,
        1 => create.keys[at].desc = !create.keys[at].desc,
        2 if create.keys.len() > 1 => drop(create.keys.remove(at)),
        2 => create.keys.push(create.keys[at].clone()),
        3 => create.filter = None,
        _ => create.keys.reverse(),
    }
}

fn rows(generator: &mut Generator, insert: &mut Insert) {
    let InsertSource::Values(rows) = &mut insert.source else { return };
    let Some(at) = (!rows.is_empty()).then(|| generator.rng.below(rows.len())) else { return };
    match generator.rng.below(4) {
        0 if rows.len() > 1 => drop(rows.remove(at)),
        1 => rows.push(rows[at].clone()),
        2 => insert.or = None,
        _ => {
            let values = &mut rows[at];
            let Some(value) = (!values.is_empty()).then(|| generator.rng.below(values.len())) else { return };
            let kind = match &values[value] {
                Expr::Literal(value) if !value.is_null() => value.kind(),
                _ => return values[value] = Expr::null(),
            };
            values[value] = Expr::Literal(generator.value(kind));
        }
    }
}

fn filter(generator: &mut Generator, filter: &mut Option<Expr>) {
    *filter = match filter.take() {
        Some(condition) if generator.rng.chance(60) => Some(condition.negate()),
        _ => None,
    };
}
