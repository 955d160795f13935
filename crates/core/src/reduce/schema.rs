//! Drops what definitions and changes of rows do not need: constraints, options, types, keys, filters, clauses.

use super::sites::{columns_of, statement_mut, statements};
use super::{Edit, Pass};
use crate::sql::*;
use crate::subject::TestCase;

pub struct Schema;

type Change = Box<dyn Fn(&mut Statement) -> bool>;

impl Pass for Schema {
    fn name(&self) -> &'static str {
        "schema"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (at, statement) in statements(case).enumerate() {
            for change in changes(statement, case) {
                edits.push(Edit::new(move |case| statement_mut(case, at).is_some_and(&change)));
            }
        }
        edits
    }
}

fn changes(statement: &Statement, case: &TestCase) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    match statement {
        Statement::CreateTable(create) => of_table(create, &mut changes),
        Statement::CreateIndex(create) => of_index(create, &columns_of(case, &create.table), &mut changes),
        Statement::CreateView(view) => {
            if view.temporary {
                changes.push(on(as_view, |view| std::mem::take(&mut view.temporary)));
            }
            changes.push(on(as_view, |view| !std::mem::take(&mut view.columns).is_empty()));
        }
        Statement::Insert(insert) => {
            if insert.or.is_some() {
                changes.push(on(as_insert, |insert| insert.or.take().is_some()));
            }
            if insert.upsert.is_some() {
                changes.push(on(as_insert, |insert| insert.upsert.take().is_some()));
            }
            changes.push(on(as_insert, |insert| !std::mem::take(&mut insert.columns).is_empty()));
        }
        Statement::Update(update) => {
            if update.or.is_some() {
                changes.push(on(as_update, |update| update.or.take().is_some()));
            }
            if update.filter.is_some() {
                changes.push(on(as_update, |update| update.filter.take().is_some()));
            }
            for at in (0..update.assignments.len()).rev() {
                changes.push(on(as_update, move |update| {
                    update.assignments.len() > 1 && remove(&mut update.assignments, at)
                }));
            }
        }
        Statement::Delete(delete) if delete.filter.is_some() => {
            changes.push(Box::new(|statement| match statement {
                Statement::Delete(delete) => delete.filter.take().is_some(),
                _ => false,
            }));
        }
        Statement::Analyze(Some(_)) | Statement::Reindex(Some(_)) => {
            changes.push(Box::new(|statement| match statement {
                Statement::Analyze(name) | Statement::Reindex(name) => name.take().is_some(),
                _ => false,
            }));
        }
        Statement::AlterTable { action: AlterAction::AddColumn(column), .. } => {
            of_column(column, as_added_column, &mut changes);
        }
        _ => {}
    }
    changes
}

fn of_table(create: &CreateTable, changes: &mut Vec<Change>) {
    if create.temporary {
        changes.push(on(as_table, |create| std::mem::take(&mut create.temporary)));
    }
    for at in (0..create.options.len()).rev() {
        changes.push(on(as_table, move |create| remove(&mut create.options, at)));
    }
    changes.push(on(as_table, without_key));
    for (at, constraint) in create.constraints.iter().enumerate().rev() {
        changes.push(on(as_table, move |create| remove(&mut create.constraints, at)));
        if let TableConstraint::PrimaryKey(keys)
        | TableConstraint::Unique(keys)
        | TableConstraint::Index { keys, .. } = constraint
        {
            of_keys(keys.len(), move |statement| constraint_keys(statement, at), changes);
        }
    }
    for (at, column) in create.columns.iter().enumerate() {
        of_column(column, move |statement| as_table(statement)?.columns.get_mut(at), changes);
    }
}

/// Many oracles only need a key that is never NULL. The storage that depends on it goes as well.
fn without_key(create: &mut CreateTable) -> bool {
    create.options.clear();
    let is_key = |constraint: &TableConstraint| matches!(constraint, TableConstraint::PrimaryKey(_));
    if let Some(at) = create.constraints.iter().position(is_key) {
        let TableConstraint::PrimaryKey(keys) = create.constraints.remove(at) else { return false };
        for column in &mut create.columns {
            let is_key = |key: &IndexKey| matches!(&key.expr, Expr::Column(key) if key.column == column.name);
            if keys.iter().any(is_key) {
                column.constraints.push(ColumnConstraint::NotNull);
            }
        }
        return true;
    }
    let is_key = |constraint: &ColumnConstraint| matches!(constraint, ColumnConstraint::PrimaryKey { .. });
    let mut found = create.columns.iter_mut().filter_map(|column| {
        let at = column.constraints.iter().position(is_key)?;
        Some(not_null(column, at))
    });
    found.next().unwrap_or(false)
}

fn not_null(column: &mut ColumnDef, key: usize) -> bool {
    let there = remove(&mut column.constraints, key);
    if there && !column.constraints.contains(&ColumnConstraint::NotNull) {
        column.constraints.push(ColumnConstraint::NotNull);
    }
    there
}

fn of_column<F>(column: &ColumnDef, find: F, changes: &mut Vec<Change>)
where
    F: Fn(&mut Statement) -> Option<&mut ColumnDef> + Copy + 'static,
{
    for (at, constraint) in column.constraints.iter().enumerate().rev() {
        changes.push(on(find, move |column| remove(&mut column.constraints, at)));
        if let ColumnConstraint::PrimaryKey { .. } = constraint {
            changes.push(on(find, move |column| not_null(column, at)));
        }
        if let ColumnConstraint::PrimaryKey { .. } | ColumnConstraint::Unique { .. } = constraint {
            changes
                .push(on(find, move |column| column.constraints.get_mut(at).is_some_and(without_modifiers)));
        }
        if let ColumnConstraint::Generated { stored: true, .. } = constraint {
            changes.push(on(find, move |column| match column.constraints.get_mut(at) {
                Some(ColumnConstraint::Generated { stored, .. }) => std::mem::take(stored),
                _ => false,
            }));
        }
    }
    for (name, kind) in [("", Kind::Any), ("INT", Kind::Int), ("REAL", Kind::Real), ("TEXT", Kind::Text)] {
        if column.ty.name != name {
            changes.push(on(find, move |column| {
                column.ty = DataType::new(name, kind);
                true
            }));
        }
    }
}

fn without_modifiers(constraint: &mut ColumnConstraint) -> bool {
    match constraint {
        ColumnConstraint::PrimaryKey { desc, autoincrement, on_conflict } => {
            std::mem::take(desc) | std::mem::take(autoincrement) | on_conflict.take().is_some()
        }
        ColumnConstraint::Unique { on_conflict } => on_conflict.take().is_some(),
        _ => false,
    }
}

fn of_index(create: &CreateIndex, columns: &[Name], changes: &mut Vec<Change>) {
    if create.filter.is_some() {
        changes.push(on(as_index, |create| create.filter.take().is_some()));
    }
    if create.unique {
        changes.push(on(as_index, |create| std::mem::take(&mut create.unique)));
    }
    if create.method.is_some() {
        changes.push(on(as_index, |create| create.method.take().is_some()));
    }
    for (at, key) in create.keys.iter().enumerate() {
        if matches!(key.expr, Expr::Column(_)) {
            continue;
        }
        for column in columns {
            let column = column.clone();
            changes.push(on(as_index, move |create| {
                let Some(key) = create.keys.get_mut(at) else { return false };
                key.expr = Expr::bare_column(column.clone());
                true
            }));
        }
    }
    of_keys(create.keys.len(), |statement| as_index(statement).map(|create| &mut create.keys), changes);
}

fn of_keys<F>(count: usize, find: F, changes: &mut Vec<Change>)
where
    F: Fn(&mut Statement) -> Option<&mut Vec<IndexKey>> + Copy + 'static,
{
    for at in (0..count).rev() {
        changes.push(on(find, move |keys| keys.len() > 1 && remove(keys, at)));
        changes
            .push(on(find, move |keys| keys.get_mut(at).is_some_and(|key| key.collation.take().is_some())));
        changes.push(on(find, move |keys| keys.get_mut(at).is_some_and(|key| std::mem::take(&mut key.desc))));
    }
}

/// A change of one part of a statement, if it has that part.
fn on<T, F, C>(find: F, change: C) -> Change
where
    T: 'static,
    F: Fn(&mut Statement) -> Option<&mut T> + 'static,
    C: Fn(&mut T) -> bool + 'static,
{
    Box::new(move |statement| find(statement).is_some_and(&change))
}

fn remove<T>(list: &mut Vec<T>, at: usize) -> bool {
    let there = at < list.len();
    if there {
        list.remove(at);
    }
    there
}

fn as_table(statement: &mut Statement) -> Option<&mut CreateTable> {
    if let Statement::CreateTable(create) = statement { Some(create) } else { None }
}

fn as_index(statement: &mut Statement) -> Option<&mut CreateIndex> {
    if let Statement::CreateIndex(create) = statement { Some(create) } else { None }
}

fn as_view(statement: &mut Statement) -> Option<&mut CreateView> {
    if let Statement::CreateView(view) = statement { Some(view) } else { None }
}

fn as_insert(statement: &mut Statement) -> Option<&mut Insert> {
    if let Statement::Insert(insert) = statement { Some(insert) } else { None }
}

fn as_update(statement: &mut Statement) -> Option<&mut Update> {
    if let Statement::Update(update) = statement { Some(update) } else { None }
}

fn as_added_column(statement: &mut Statement) -> Option<&mut ColumnDef> {
    match statement {
        Statement::AlterTable { action: AlterAction::AddColumn(column), .. } => Some(column),
        _ => None,
    }
}

fn constraint_keys(statement: &mut Statement, at: usize) -> Option<&mut Vec<IndexKey>> {
    match as_table(statement)?.constraints.get_mut(at)? {
        TableConstraint::PrimaryKey(keys)
        | TableConstraint::Unique(keys)
        | TableConstraint::Index { keys, .. } => Some(keys),
        _ => None,
    }
}
