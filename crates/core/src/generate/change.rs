//! Statements that change a state that is already there: rows, schema, settings.

use super::{Column, Generator, Relation, Rules, Table};
use crate::dialect::{Feature, Setting, TypeEntry};
use crate::sql::*;

/// What may stand in the WHERE of a statement that changes a table.
pub(super) const IN_CHANGE: Rules =
    Rules { subqueries: false, qualified: false, identity: false, indexable: false };

impl<'a> Generator<'a> {
    /// A change to the state: one statement, or a few that belong together.
    pub fn change(&mut self) -> Vec<Statement> {
        let can = |feature, weight| if self.dialect.can(feature) { weight } else { 0 };
        let weights = [
            28,
            26,
            4,
            8,
            10,
            can(Feature::Reindex, 4),
            can(Feature::Analyze, 8),
            can(Feature::Vacuum, 1),
            can(Feature::Indexes, 8),
            can(Feature::Indexes, 4),
            can(Feature::Transactions, 3),
            if self.dialect.maintenance.is_empty() { 0 } else { 8 },
        ];
        let one = match self.rng.weighted(&weights) {
            0 => self.any_table().and_then(|table| self.insert_rows(&table.name)),
            1 => self.update(),
            2 => self.delete(),
            3 => self.alter(),
            4 => self.setting(),
            5 => Some(Statement::Reindex(None)),
            6 => Some(Statement::Analyze(None)),
            7 => Some(Statement::Vacuum),
            8 => self.create_index(false),
            9 => self.drop_index(),
            10 => return self.transaction(),
            _ => self.maintenance(),
        };
        one.into_iter().collect()
    }

    /// Changes that are made and taken back, or made in one go.
    fn transaction(&mut self) -> Vec<Statement> {
        let Some(update) = self.update() else { return Vec::new() };
        match self.rng.below(if self.dialect.can(Feature::Savepoints) { 3 } else { 2 }) {
            0 => vec![Statement::Begin, update, Statement::Commit],
            1 => vec![Statement::Begin, update, Statement::Rollback],
            _ => {
                let name = self.fresh_name('s');
                let mut statements = vec![
                    Statement::Savepoint(name.clone()),
                    update,
                    Statement::RollbackTo(name.clone()),
                    Statement::Release(name),
                ];
                if !self.dialect.can(Feature::BareSavepoints) {
                    statements.insert(0, Statement::Begin);
                    statements.push(Statement::Commit);
                }
                statements
            }
        }
    }

    /// A statement that changes how a table is stored, or what is known of it.
    pub fn maintenance(&mut self) -> Option<Statement> {
        let table = self.any_table()?;
        let dialect = self.dialect;
        let (before, after) = self.rng.choose(&dialect.maintenance)?.split_once("{}")?;
        Some(Statement::Raw(format!("{before}{}{after}", table.name)))
    }

    fn any_table(&mut self) -> Option<&'a Table> {
        let count = self.state.base_tables().count();
        if count == 0 {
            return None;
        }
        let at = self.rng.below(count);
        self.state.base_tables().nth(at)
    }

    pub fn setting(&mut self) -> Option<Statement> {
        let dialect = self.dialect;
        self.pick_setting(&dialect.settings)
    }

    pub(super) fn initial_setting(&mut self) -> Option<Statement> {
        let dialect = self.dialect;
        self.pick_setting(&dialect.initial_settings)
    }

    pub fn pick_setting(&mut self, settings: &[Setting]) -> Option<Statement> {
        let setting = self.rng.choose(settings)?;
        Some(Statement::Set { name: setting.name.clone(), value: self.rng.pick(&setting.values).clone() })
    }

    /// Rows for a table: values that are already somewhere, boundary values, NULLs.
    pub fn insert_rows(&mut self, table: &str) -> Option<Statement> {
        let table = self.state.table(table)?;
        let mut columns: Vec<&Column> = table.columns.iter().filter(|column| !column.generated).collect();
        // Now and then a column is left to its default.
        if columns.len() > 1 && self.rng.chance(15) {
            let at = self.rng.below(columns.len());
            if !columns[at].not_null && !columns[at].pinned {
                columns.remove(at);
            }
        }
        let or = self.conflict_policy(table);
        let names = columns.iter().map(|column| column.name.clone()).collect();
        if self.rng.chance(4)
            && or.is_some()
            && !table.strict
            && columns.iter().all(|c| !c.rowid_alias && !c.counts)
        {
            return Some(self.insert_from_query(table, names, columns.len(), or));
        }
        let count = if self.rng.chance(self.policy.many_rows_share) {
            self.rng.between(self.policy.few_rows, self.policy.many_rows)
        } else {
            self.rng.between(1, self.policy.few_rows)
        };
        let rows = (0..count)
            .map(|_| columns.iter().map(|column| Expr::Literal(self.cell(table, column))).collect())
            .collect();
        // Without a word for it in INSERT itself, a violated key is passed over like this.
        let needed = or.is_none() && table.constrained;
        let wanted = self.dialect.can(Feature::Upsert) && table.keyed && (needed || self.rng.chance(6));
        let upsert = wanted.then(|| Upsert { target: Vec::new(), assignments: Vec::new(), filter: None });
        Some(Statement::Insert(Insert {
            table: table.name.clone(),
            or,
            columns: names,
            source: InsertSource::Values(rows),
            upsert: upsert.or_else(|| self.upsert_update(table)),
        }))
    }

    /// `ON CONFLICT (key) DO UPDATE` for a table with a key of one column.
    fn upsert_update(&mut self, table: &Table) -> Option<Upsert> {
        let key = table.columns.iter().find(|column| column.unique)?;
        let changed = table.columns.iter().find(|c| !c.generated && !c.unique && !c.not_null)?;
        if !self.dialect.can(Feature::Upsert) || !self.rng.chance(8) {
            return None;
        }
        let value = self.cell(table, changed);
        Some(Upsert {
            target: vec![key.name.clone()],
            assignments: vec![Assignment { column: changed.name.clone(), value: Expr::Literal(value) }],
            filter: None,
        })
    }

    fn insert_from_query(
        &mut self,
        table: &Table,
        columns: Vec<Name>,
        count: usize,
        or: Option<OnConflict>,
    ) -> Statement {
        // Of a view that came with a script the columns may not be known.
        let known = self.state.tables.iter().filter(|source| !source.columns.is_empty());
        let known: Vec<&Table> = known.collect();
        let source = self.rng.choose(&known).copied().unwrap_or(table);
        let items = (0..count)
            .map(|_| {
                let column = self.rng.pick(&source.columns);
                SelectItem::from(Expr::column(source.name.clone(), column.name.clone()))
            })
            .collect();
        let from = vec![TableRef::table(source.name.clone())];
        let query = Query::select(Select { items, from, ..Select::default() });
        let source = InsertSource::Query(Box::new(query));
        Statement::Insert(Insert { table: table.name.clone(), or, columns, source, upsert: None })
    }

    /// What a violation does. A table that can be violated gets a clause under which the statement
    /// still succeeds.
    pub(super) fn conflict_policy(&mut self, table: &Table) -> Option<OnConflict> {
        if !(table.constrained || self.rng.chance(10)) {
            return None;
        }
        if self.dialect.can(Feature::InsertIgnore) {
            return Some(OnConflict::Ignore);
        }
        if !self.dialect.can(Feature::ConflictClauses) {
            return None;
        }
        let replace = !table.unreplaceable && self.rng.chance(25);
        Some(if replace { OnConflict::Replace } else { OnConflict::Ignore })
    }

    /// A value that a column takes.
    pub(super) fn cell(&mut self, table: &Table, column: &Column) -> Value {
        if column.rowid_alias {
            return Value::Int(self.rng.below(20) as i64 - 2);
        }
        if !column.not_null && self.rng.chance(15) {
            return Value::Null;
        }
        if column.counts {
            let most = if self.rng.chance(80) { 8 } else { 128 };
            return Value::Int(self.rng.below(most) as i64);
        }
        let crossing = self.dialect.can(Feature::DynamicTyping) && !table.strict;
        // Shared values make joins match and keys collide.
        if self.rng.chance(45)
            && let Some(other) = self.rng.choose(&self.state.tables)
            && let Some(source) = self.rng.choose(&other.columns)
            && (crossing && self.rng.chance(60) || source.ty == column.ty)
            && let Some(value) = self.rng.choose(&source.pool)
            && !value.is_null()
            && (crossing || value.kind() == column.ty.kind)
        {
            return value.clone();
        }
        self.stored_value(&column.ty, crossing)
    }

    pub(super) fn relation_of(&self, table: &Table) -> Relation {
        Relation { alias: table.name.clone(), columns: table.columns.clone() }
    }

    pub(super) fn update(&mut self) -> Option<Statement> {
        let table = self.any_table()?;
        let mut or = self.conflict_policy(table);
        if self.dialect.can(Feature::StrictChanges) {
            or = Some(OnConflict::Ignore);
        }
        // What nothing forgives must not be violated.
        let changeable = |column: &&Column| !column.generated && (or.is_some() || !column.pinned);
        let candidates: Vec<&Column> = table.columns.iter().filter(changeable).collect();
        let column = *self.rng.choose(&candidates)?;
        let relation = self.relation_of(table);
        let free = self.dialect.can(Feature::DynamicTyping)
            && !table.strict
            && !column.rowid_alias
            && !column.counts;
        let value = if free && self.rng.chance(35) && (or.is_some() || !table.constrained) {
            self.over_table(&relation, IN_CHANGE, |g| g.value_expr(column.ty.kind, 1))
        } else {
            Expr::Literal(self.cell(table, column))
        };
        let filter = self.rng.chance(75).then(|| self.over_table(&relation, IN_CHANGE, |g| g.predicate(1)));
        let assignments = vec![Assignment { column: column.name.clone(), value }];
        Some(Statement::Update(Update { table: table.name.clone(), or, assignments, filter }))
    }

    pub(super) fn delete(&mut self) -> Option<Statement> {
        let table = self.any_table()?;
        let relation = self.relation_of(table);
        let filter = self.over_table(&relation, IN_CHANGE, |g| g.predicate(0));
        Some(Statement::Delete(Delete { table: table.name.clone(), filter: Some(filter) }))
    }

    fn drop_index(&mut self) -> Option<Statement> {
        let index = self.rng.choose(&self.state.indexes)?;
        let on = self.dialect.can(Feature::DropIndexOn).then(|| index.table.clone());
        Some(Statement::Drop { object: ObjectKind::Index, name: index.name.clone(), on, if_exists: false })
    }

    pub(super) fn alter(&mut self) -> Option<Statement> {
        let table = self.any_table()?;
        let indexed = self.state.indexes.iter().any(|index| index.table == table.name);
        if indexed && !self.dialect.can(Feature::AlterIndexed) {
            return None;
        }
        let read_by_view = self.state.tables.iter().any(|view| view.reads.contains(&table.name));
        let action = match self.rng.below(4) {
            0 if !read_by_view => AlterAction::RenameTable(self.fresh_name('t')),
            1 if self.dialect.can(Feature::RenameColumn) && !read_by_view => {
                let column = self.rng.choose(&table.columns)?;
                AlterAction::RenameColumn { from: column.name.clone(), to: self.fresh_name('c') }
            }
            2 if self.dialect.can(Feature::DropColumn) && table.columns.len() > 1 => {
                let droppable: Vec<&Column> = table.columns.iter().filter(|c| !c.pinned).collect();
                AlterAction::DropColumn(self.rng.choose(&droppable)?.name.clone())
            }
            _ => {
                let strict = table.strict;
                let drawn = |entry: &&TypeEntry| entry.weight > 0 && (!strict || entry.strict);
                let entries: Vec<_> = self.dialect.types.iter().filter(drawn).collect();
                let ty = self.rng.pick(&entries).ty.clone();
                let mut constraints = Vec::new();
                if self.rng.chance(50) && !self.dialect.is_prefixed(&ty) {
                    let value = self.stored_value(&ty, false);
                    constraints.push(ColumnConstraint::Default(Expr::Literal(value)));
                }
                AlterAction::AddColumn(ColumnDef { name: self.fresh_name('c'), ty, constraints })
            }
        };
        Some(Statement::AlterTable { table: table.name.clone(), action })
    }
}
