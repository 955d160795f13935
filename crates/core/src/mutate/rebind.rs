//! Context-based instantiation: binds a statement that was made for one state to another. Names that exist are
//! kept, tables and columns that do not exist are replaced by ones that do, and new objects get unused names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::generate::Generator;
use crate::sql::visit::{Editor, edit_expr};
use crate::sql::*;
use crate::state::Column;

/// What the objects of one source are called in the state that is being built.
pub type Renames = BTreeMap<Name, Name>;

type Relation = (Name, Arc<Vec<Column>>);

/// Binds a statement of a setup to the current state. `None`: there is nothing it could be about.
pub fn statement(
    generator: &mut Generator,
    renames: &mut Renames,
    mut statement: Statement,
) -> Option<Statement> {
    let mut binder = Binder { generator, renames: Some(renames), scope: Vec::new(), common: Vec::new() };
    binder.bind(&mut statement).then_some(statement)
}

/// Binds a query to the current state.
pub fn query(generator: &mut Generator, query: &mut Query) {
    Binder { generator, renames: None, scope: Vec::new(), common: Vec::new() }.query_in(query);
}

struct Binder<'g, 'a> {
    generator: &'g mut Generator<'a>,
    renames: Option<&'g mut Renames>,
    /// The relations in scope, those of enclosing queries first.
    scope: Vec<Relation>,
    /// Common table expressions in scope.
    common: Vec<CommonTable>,
}

impl Binder<'_, '_> {
    /// `false`: it can be about nothing.
    fn bind(&mut self, statement: &mut Statement) -> bool {
        match statement {
            Statement::CreateTable(create) => {
                if let Some(query) = &mut create.query {
                    self.query_in(query);
                }
                for constraint in &mut create.constraints {
                    if let TableConstraint::ForeignKey { table, .. } = constraint {
                        *table = self.known(table);
                    }
                }
                create.name = self.new_name(&create.name, 't');
            }
            Statement::CreateView(create) => {
                self.query_in(&mut create.query);
                create.name = self.new_name(&create.name, 'v');
            }
            Statement::CreateIndex(create) => {
                if !self.about(&mut create.table) {
                    return false;
                }
                create.name = self.new_name(&create.name, 'i');
                create.keys.iter_mut().for_each(|key| self.expr(&mut key.expr));
                create.filter.iter_mut().for_each(|filter| self.expr(filter));
            }
            Statement::AlterTable { table, action } => return self.about(table) && self.alter(action),
            Statement::Drop { object: ObjectKind::Index, name, on, .. } => {
                let state = self.generator.state;
                let Some(index) = self.generator.rng.choose(&state.indexes) else { return false };
                let known = state.indexes.iter().find(|known| known.name == *name).unwrap_or(index);
                (*name, *on) = (known.name.clone(), on.as_ref().map(|_| known.table.clone()));
            }
            // There is little enough to ask about.
            Statement::Drop { .. } => return false,
            Statement::Insert(insert) => return self.insert(insert),
            Statement::Update(update) => {
                if !self.about(&mut update.table) {
                    return false;
                }
                self.assignments(&mut update.assignments);
                update.filter.iter_mut().for_each(|filter| self.expr(filter));
            }
            Statement::Delete(delete) => {
                if !self.about(&mut delete.table) {
                    return false;
                }
                delete.filter.iter_mut().for_each(|filter| self.expr(filter));
            }
            Statement::Analyze(Some(name)) | Statement::Reindex(Some(name)) => *name = self.known(name),
            Statement::Query(query) => self.query_in(query),
            _ => {}
        }
        true
    }

    /// A name for a new object: its own, if nothing has it.
    fn new_name(&mut self, name: &Name, prefix: char) -> Name {
        let state = self.generator.state;
        let taken = state.table(name).is_some() || state.indexes.iter().any(|index| index.name == *name);
        let given = if taken { self.generator.fresh_name(prefix) } else { name.clone() };
        if let Some(renames) = &mut self.renames {
            renames.insert(name.clone(), given.clone());
        }
        given
    }

    /// The table that a name now stands for: the one of its source, or else any.
    fn known(&mut self, name: &Name) -> Name {
        let renamed = self.renames.as_ref().and_then(|renames| renames.get(name)).unwrap_or(name);
        let state = self.generator.state;
        if state.table(renamed).is_some() {
            return renamed.clone();
        }
        let tables: Vec<&Name> = state.tables.iter().map(|table| &table.name).collect();
        let chosen =
            self.generator.rng.choose(&tables).map_or_else(|| name.clone(), |table| (*table).clone());
        if let Some(renames) = &mut self.renames {
            renames.insert(name.clone(), chosen.clone());
        }
        chosen
    }

    /// Sets the table of a statement, whose columns are then in scope. `false`: there is no table.
    fn about(&mut self, name: &mut Name) -> bool {
        *name = self.known(name);
        let state = self.generator.state;
        let Some(table) = state.table(name).filter(|table| !table.is_view) else { return false };
        self.scope = vec![(table.name.clone(), table.columns.clone())];
        true
    }

    /// The columns of the table in scope that values can be put into.
    fn columns(&self) -> Vec<Column> {
        let columns = self.scope.first().map(|(_, columns)| columns.iter()).into_iter().flatten();
        columns.filter(|column| !column.generated).cloned().collect()
    }

    fn alter(&mut self, action: &mut AlterAction) -> bool {
        match action {
            AlterAction::RenameTable(name) => {
                *name = self.new_name(&name.clone(), 't');
                true
            }
            AlterAction::AddColumn(column) => {
                let columns = self.columns();
                while columns.iter().any(|known| known.name == column.name) {
                    column.name = self.generator.fresh_name('c');
                }
                true
            }
            AlterAction::RenameColumn { from: column, .. } | AlterAction::DropColumn(column) => {
                let free: Vec<Column> = self.columns().into_iter().filter(|column| !column.pinned).collect();
                match free.iter().find(|known| known.name == *column).or(free.first()) {
                    Some(known) => *column = known.name.clone(),
                    None => return false,
                }
                true
            }
        }
    }

    fn insert(&mut self, insert: &mut Insert) -> bool {
        if !self.about(&mut insert.table) {
            return false;
        }
        let columns = self.columns();
        if columns.is_empty() {
            return false;
        }
        let all = insert.columns.is_empty();
        insert.columns.retain(|name| columns.iter().any(|column| column.name == *name));
        if insert.columns.is_empty() && !all {
            insert.columns = columns.iter().map(|column| column.name.clone()).collect();
        }
        let width = if insert.columns.is_empty() { columns.len() } else { insert.columns.len() };
        let scope = std::mem::take(&mut self.scope);
        match &mut insert.source {
            InsertSource::Values(rows) => {
                for row in rows {
                    row.truncate(width);
                    while row.len() < width {
                        let at = row.len();
                        let named = insert.columns.get(at);
                        let column = columns.iter().find(|column| Some(&column.name) == named);
                        let ty = &column.unwrap_or(&columns[at]).ty;
                        row.push(Expr::Literal(self.generator.stored_value(ty, false)));
                    }
                    row.iter_mut().for_each(|value| self.expr(value));
                }
            }
            InsertSource::Query(query) => self.query_in(query),
            InsertSource::Defaults => {}
        }
        self.scope = scope;
        if let Some(upsert) = &mut insert.upsert {
            upsert.target.retain(|name| columns.iter().any(|column| column.name == *name));
            self.assignments(&mut upsert.assignments);
            upsert.filter.iter_mut().for_each(|filter| self.expr(filter));
        }
        true
    }

    fn assignments(&mut self, assignments: &mut Vec<Assignment>) {
        let columns = self.columns();
        for assignment in assignments.iter_mut() {
            if !columns.iter().any(|column| column.name == assignment.column)
                && let Some(column) = self.generator.rng.choose(&columns)
            {
                assignment.column = column.name.clone();
            }
            self.expr(&mut assignment.value);
        }
        let mut assigned: Vec<Name> = Vec::new();
        assignments.retain(|assignment| {
            let first = !assigned.contains(&assignment.column);
            assigned.push(assignment.column.clone());
            first
        });
    }

    fn query_in(&mut self, query: &mut Query) {
        let (scope, common) = (self.scope.len(), self.common.len());
        if let Some(with) = &mut query.with {
            for table in &mut with.tables {
                // What is recursive sees itself.
                if with.recursive {
                    self.common.push(table.clone());
                }
                self.query_in(&mut table.query);
                if with.recursive {
                    self.common.pop();
                }
                self.common.push(table.clone());
            }
        }
        self.body_in(&mut query.body, &mut query.order_by);
        self.scope.truncate(scope);
        self.common.truncate(common);
    }

    fn body_in(&mut self, body: &mut Body, order_by: &mut [OrderItem]) {
        match body {
            Body::Select(select) => self.select_in(select, order_by),
            Body::Compound { left, right, .. } => {
                self.body_in(left, &mut []);
                self.body_in(right, &mut []);
            }
            Body::Values(rows) => rows.iter_mut().flatten().for_each(|expr| self.expr(expr)),
            Body::Nested(query) => self.query_in(query),
        }
    }

    fn select_in(&mut self, select: &mut Select, order_by: &mut [OrderItem]) {
        let outer = self.scope.len();
        select.from.iter_mut().for_each(|table| self.table_in(table));
        let aliases: Vec<Name> = select
            .items
            .iter()
            .filter_map(|item| match item {
                SelectItem::Expr { alias, .. } => alias.clone(),
                _ => None,
            })
            .collect();
        for item in &mut select.items {
            match item {
                SelectItem::Expr { expr, .. } => self.expr(expr),
                SelectItem::TableWildcard(table) => {
                    let own = &self.scope[outer..];
                    if let Some((first, _)) = own.first()
                        && !own.iter().any(|(name, _)| name == table)
                    {
                        *table = first.clone();
                    }
                }
                SelectItem::Wildcard => {}
            }
        }
        select.filter.iter_mut().for_each(|filter| self.expr(filter));
        let order_by = order_by.iter_mut().map(|item| &mut item.expr);
        for expr in select.group_by.iter_mut().chain(&mut select.having).chain(order_by) {
            let names_item = |expr: &Expr| matches!(expr, Expr::Column(ColumnRef { table: None, column }) if aliases.contains(column));
            if !names_item(expr) {
                self.expr(expr);
            }
        }
        for window in &mut select.windows {
            window.spec.partition_by.iter_mut().for_each(|expr| self.expr(expr));
            window.spec.order_by.iter_mut().for_each(|item| self.expr(&mut item.expr));
        }
        self.scope.truncate(outer);
    }

    /// Binds the tables of a FROM and brings what they are into scope.
    fn table_in(&mut self, table: &mut TableRef) {
        match table {
            TableRef::Table { name, alias, hint } => {
                if !self.common.iter().any(|common| common.name == *name) {
                    let known = self.known(name);
                    if known != *name {
                        // Columns are named by what the table was called.
                        alias.get_or_insert_with(|| name.clone());
                        *name = known;
                    }
                }
                let table = name.clone();
                let indexes = &self.generator.state.indexes;
                if let Some(IndexHint::IndexedBy(index)) = hint
                    && !indexes.iter().any(|known| known.name == *index && known.table == table)
                {
                    *hint = None;
                }
            }
            TableRef::Derived { query, lateral, .. } => {
                // It sees what stands before it only if it is lateral.
                let hidden = if *lateral { Vec::new() } else { std::mem::take(&mut self.scope) };
                self.query_in(query);
                if !hidden.is_empty() {
                    self.scope = hidden;
                }
            }
            TableRef::Join { kind, left, right, on } => {
                self.table_in(left);
                self.table_in(right);
                // A condition sees what stands before it.
                self.condition_in(kind, on);
                return;
            }
            TableRef::Function { args, .. } => args.iter_mut().for_each(|arg| self.expr(arg)),
        }
        let with = (!self.common.is_empty()).then(|| With { recursive: false, tables: self.common.clone() });
        let (state, dialect) = (self.generator.state, self.generator.dialect);
        state.relations_of(table, with.as_ref(), dialect, &mut self.scope);
    }

    fn condition_in(&mut self, kind: &mut JoinKind, on: &mut JoinOn) {
        match on {
            JoinOn::On(condition) => self.expr(condition),
            JoinOn::Using(names) => {
                let has = |columns: &Arc<Vec<Column>>, name: &Name| columns.iter().any(|c| c.name == *name);
                names.retain(|name| {
                    self.scope.iter().filter(|(_, columns)| columns.is_empty() || has(columns, name)).count()
                        > 1
                });
                if names.is_empty() {
                    (*kind, *on) = (JoinKind::Cross, JoinOn::Nothing);
                }
            }
            JoinOn::Natural | JoinOn::Nothing => {}
        }
    }

    fn column_in(&mut self, reference: &mut ColumnRef) {
        // Hidden columns that every table may have.
        if ["rowid", "oid", "_rowid_"].iter().any(|hidden| reference.column.eq_ignore_ascii_case(hidden)) {
            return;
        }
        let has = |columns: &Arc<Vec<Column>>, name: &Name| columns.iter().any(|c| c.name == *name);
        let relation = match &reference.table {
            Some(table) => self.scope.iter().rev().find(|(name, _)| name == table),
            None => self.scope.iter().rev().find(|(_, columns)| has(columns, &reference.column)),
        };
        if reference.table.is_none() {
            // Which of several is meant must be said.
            let owners = self.scope.iter().filter(|(_, columns)| has(columns, &reference.column)).count();
            reference.table = relation.filter(|_| owners > 1).map(|(name, _)| name.clone());
        }
        match relation {
            // Of a relation that is not known, any column might be.
            Some((_, columns)) if columns.is_empty() || has(columns, &reference.column) => {}
            Some((_, columns)) => {
                let columns = columns.clone();
                reference.column = self.generator.rng.pick(&columns).name.clone();
            }
            None => {
                let known: Vec<&Relation> =
                    self.scope.iter().filter(|(_, columns)| !columns.is_empty()).collect();
                let at = known
                    .len()
                    .checked_sub(1)
                    .map(|last| last - self.generator.rng.below(known.len().min(2)));
                if let Some((name, columns)) = at.map(|at| known[at]) {
                    reference.table = reference.table.is_some().then(|| name.clone());
                    reference.column = self.generator.rng.pick(columns).name.clone();
                }
            }
        }
    }
}

impl Editor for Binder<'_, '_> {
    fn query(&mut self, query: &mut Query) {
        self.query_in(query);
    }

    fn expr(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Column(reference) => self.column_in(reference),
            _ => edit_expr(self, expr),
        }
    }
}
