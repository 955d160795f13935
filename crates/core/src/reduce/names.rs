//! Drops qualifiers that are not needed, and gives plain names to what is left.

use std::collections::BTreeMap;

use super::sites::{change_expr, each_expr, replace_in_tests};
use super::{Edit, Pass};
use crate::sql::visit::*;
use crate::sql::*;
use crate::subject::TestCase;

/// `t0.c0` as `c0`: all at once, else one by one.
pub struct Qualifiers;

impl Pass for Qualifiers {
    fn name(&self) -> &'static str {
        "qualifiers"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = Vec::new();
        let (mut tables, mut columns, mut places) = (Vec::<Name>::new(), Vec::<Name>::new(), Vec::new());
        each_expr(case, |at, expr| {
            if let Expr::Column(ColumnRef { table: Some(table), column }) = expr {
                places.push(at);
                if !tables.contains(table) {
                    tables.push(table.clone());
                }
                if !columns.contains(column) {
                    columns.push(column.clone());
                }
            }
        });
        let bare = |keep: Box<dyn Fn(&ColumnRef) -> bool>| {
            Edit::new(move |case| {
                replace_in_tests(case, |expr| match expr {
                    Expr::Column(reference) if reference.table.is_some() && !keep(reference) => {
                        Some(Expr::bare_column(reference.column.clone()))
                    }
                    _ => None,
                })
            })
        };
        edits.push(bare(Box::new(|_| false)));
        for table in tables {
            edits.push(bare(Box::new(move |reference| reference.table.as_ref() != Some(&table))));
        }
        for column in columns {
            edits.push(bare(Box::new(move |reference| reference.column != column)));
        }
        for at in places {
            edits.push(Edit::new(move |case| {
                change_expr(case, at, |expr| match expr {
                    Expr::Column(reference) => reference.table.take().is_some(),
                    _ => false,
                })
            }));
        }
        edits
    }
}

/// Tables become `t0`, `t1`, columns `c0`, `c1`, in the order in which they appear.
pub struct Rename;

impl Pass for Rename {
    fn name(&self) -> &'static str {
        "rename"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        // Text that is not understood may hold any name.
        if case.setup.iter().chain(&case.subject.tests).any(|s| matches!(s, Statement::Raw(_))) {
            return Vec::new();
        }
        vec![Edit::new(|case| {
            let mut names = Names::default();
            let mut statements = case.setup.clone();
            statements.extend(case.subject.tests.iter().cloned());
            statements.iter().for_each(|statement| names.declared_by(statement));
            names.number();
            let mut renamer = Renamer { names };
            case.setup.iter_mut().for_each(|statement| renamer.statement(statement));
            case.subject.tests.iter_mut().for_each(|statement| renamer.statement(statement));
            case.subject.exprs.iter_mut().for_each(|expr| renamer.expr(expr));
            true
        })]
    }
}

/// The names a test case declares, and what they are to be called. A name means the same everywhere: one
/// map for relations (tables, views, aliases), one for columns, one for indexes.
#[derive(Default)]
struct Names {
    relations: Vec<(Name, char)>,
    columns: Vec<Name>,
    indexes: Vec<Name>,
    new_relations: BTreeMap<Name, Name>,
    new_columns: BTreeMap<Name, Name>,
    new_indexes: BTreeMap<Name, Name>,
}

impl Names {
    fn relation(&mut self, name: &Name, prefix: char) {
        if !self.relations.iter().any(|(known, _)| known == name) {
            self.relations.push((name.clone(), prefix));
        }
    }

    fn column(&mut self, name: &Name) {
        if !self.columns.contains(name) {
            self.columns.push(name.clone());
        }
    }

    fn declared_by(&mut self, statement: &Statement) {
        match statement {
            Statement::CreateTable(create) => {
                self.relation(&create.name, 't');
                create.columns.iter().for_each(|column| self.column(&column.name));
            }
            Statement::CreateView(view) => {
                self.relation(&view.name, 'v');
                view.columns.iter().for_each(|column| self.column(column));
            }
            Statement::CreateIndex(create) => self.indexes.push(create.name.clone()),
            Statement::AlterTable { action, .. } => match action {
                AlterAction::RenameTable(to) => self.relation(to, 't'),
                AlterAction::RenameColumn { to, .. } => self.column(to),
                AlterAction::AddColumn(column) => self.column(&column.name),
                AlterAction::DropColumn(_) => {}
            },
            _ => {}
        }
        struct Declared<'a>(&'a mut Names);
        impl Visitor for Declared<'_> {
            fn query(&mut self, query: &Query) {
                for table in query.with.iter().flat_map(|with| &with.tables) {
                    self.0.relation(&table.name, 'w');
                    table.columns.iter().for_each(|column| self.0.column(column));
                }
                walk_query(self, query);
            }
            fn select(&mut self, select: &Select) {
                for item in &select.items {
                    if let SelectItem::Expr { alias: Some(alias), .. } = item {
                        self.0.column(alias);
                    }
                }
                walk_select(self, select);
            }
            fn table(&mut self, table: &TableRef) {
                match table {
                    TableRef::Table { alias: Some(alias), .. }
                    | TableRef::Derived { alias, .. }
                    | TableRef::Function { alias, .. } => self.0.relation(alias, 'a'),
                    _ => {}
                }
                walk_table(self, table);
            }
        }
        walk_statement(&mut Declared(self), statement);
    }

    fn number(&mut self) {
        let mut next: BTreeMap<char, usize> = BTreeMap::new();
        for (name, prefix) in &self.relations {
            let number = next.entry(*prefix).or_insert(0);
            self.new_relations.insert(name.clone(), Name::from(format!("{prefix}{number}")));
            *number += 1;
        }
        let numbered = |names: &[Name], prefix: char| {
            let new = |(at, name): (usize, &Name)| (name.clone(), Name::from(format!("{prefix}{at}")));
            names.iter().enumerate().map(new).collect()
        };
        self.new_columns = numbered(&self.columns, 'c');
        self.new_indexes = numbered(&self.indexes, 'i');
    }
}

/// Calls one relation something else.
pub(super) fn rename_relation(statement: &mut Statement, from: &Name, to: &Name) {
    let new_relations = BTreeMap::from([(from.clone(), to.clone())]);
    Renamer { names: Names { new_relations, ..Names::default() } }.statement(statement);
}

/// Calls one column something else, of whatever relation.
pub(super) fn rename_column(statement: &mut Statement, from: &Name, to: &Name) {
    let new_columns = BTreeMap::from([(from.clone(), to.clone())]);
    Renamer { names: Names { new_columns, ..Names::default() } }.statement(statement);
}

struct Renamer {
    names: Names,
}

impl Renamer {
    fn relation(&self, name: &mut Name) {
        if let Some(new) = self.names.new_relations.get(name) {
            *name = new.clone();
        }
    }

    fn column(&self, name: &mut Name) {
        if let Some(new) = self.names.new_columns.get(name) {
            *name = new.clone();
        }
    }

    fn index(&self, name: &mut Name) {
        if let Some(new) = self.names.new_indexes.get(name) {
            *name = new.clone();
        }
    }

    fn column_def(&self, column: &mut ColumnDef) {
        self.column(&mut column.name);
        for constraint in &mut column.constraints {
            if let ColumnConstraint::References { table, column } = constraint {
                self.relation(table);
                self.column(column);
            }
        }
    }

    fn alter(&self, action: &mut AlterAction) {
        match action {
            AlterAction::RenameTable(to) => self.relation(to),
            AlterAction::RenameColumn { from, to } => {
                self.column(from);
                self.column(to);
            }
            AlterAction::AddColumn(column) => self.column_def(column),
            AlterAction::DropColumn(name) => self.column(name),
        }
    }
}

impl Editor for Renamer {
    fn statement(&mut self, statement: &mut Statement) {
        match statement {
            Statement::CreateTable(create) => {
                self.relation(&mut create.name);
                create.columns.iter_mut().for_each(|column| self.column_def(column));
                for constraint in &mut create.constraints {
                    if let TableConstraint::ForeignKey { columns, table, parents } = constraint {
                        self.relation(table);
                        columns.iter_mut().chain(parents).for_each(|name| self.column(name));
                    }
                }
            }
            Statement::CreateIndex(create) => {
                self.index(&mut create.name);
                self.relation(&mut create.table);
            }
            Statement::CreateView(view) => {
                self.relation(&mut view.name);
                view.columns.iter_mut().for_each(|name| self.column(name));
            }
            Statement::AlterTable { table, action } => {
                self.relation(table);
                self.alter(action);
            }
            Statement::Drop { object, name, .. } => match object {
                ObjectKind::Index => self.index(name),
                _ => self.relation(name),
            },
            Statement::Insert(insert) => {
                self.relation(&mut insert.table);
                insert.columns.iter_mut().for_each(|name| self.column(name));
                if let Some(upsert) = &mut insert.upsert {
                    upsert.target.iter_mut().for_each(|name| self.column(name));
                    upsert.assignments.iter_mut().for_each(|assignment| self.column(&mut assignment.column));
                }
            }
            Statement::Update(update) => {
                self.relation(&mut update.table);
                update.assignments.iter_mut().for_each(|assignment| self.column(&mut assignment.column));
            }
            Statement::Delete(delete) => self.relation(&mut delete.table),
            Statement::Analyze(Some(name)) | Statement::Reindex(Some(name)) => {
                self.relation(name);
                self.index(name);
            }
            _ => {}
        }
        edit_statement(self, statement);
    }

    fn query(&mut self, query: &mut Query) {
        for table in query.with.iter_mut().flat_map(|with| &mut with.tables) {
            self.relation(&mut table.name);
            table.columns.iter_mut().for_each(|name| self.column(name));
        }
        edit_query(self, query);
    }

    fn select(&mut self, select: &mut Select) {
        for item in &mut select.items {
            match item {
                SelectItem::Expr { alias: Some(alias), .. } => self.column(alias),
                SelectItem::TableWildcard(table) => self.relation(table),
                _ => {}
            }
        }
        edit_select(self, select);
    }

    fn table(&mut self, table: &mut TableRef) {
        match table {
            TableRef::Table { name, alias, hint } => {
                self.relation(name);
                alias.iter_mut().for_each(|alias| self.relation(alias));
                if let Some(IndexHint::IndexedBy(index)) = hint {
                    self.index(index);
                }
            }
            TableRef::Derived { alias, columns, .. } => {
                self.relation(alias);
                columns.iter_mut().for_each(|name| self.column(name));
            }
            TableRef::Function { alias, .. } => self.relation(alias),
            TableRef::Join { on: JoinOn::Using(columns), .. } => {
                columns.iter_mut().for_each(|name| self.column(name));
            }
            TableRef::Join { .. } => {}
        }
        edit_table(self, table);
    }

    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(reference) = expr {
            reference.table.iter_mut().for_each(|table| self.relation(table));
            self.column(&mut reference.column);
        }
        edit_expr(self, expr);
    }
}
