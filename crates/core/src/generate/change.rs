//! Statements that change an existing database: rows, schema, settings.

use super::{Generator, Rules, choices};
use crate::dialect::{Feature, Setting, TypeEntry};
use crate::sql::*;
use crate::state::{Column, Relation, Table};

choices! {
    odds {
        /// A case first changes the state: DML, DDL, settings.
        CHANGE_FIRST = "case.change": 10,
        /// A column is left to its default.
        OMITTED_COLUMN = "insert.omit-column": 15,
        FROM_QUERY = "insert.from-query": 4,
        MANY_ROWS = "insert.many-rows": 4,
        DO_NOTHING = "insert.do-nothing": 6,
        DO_UPDATE = "insert.do-update": 8,
        CONFLICT_CLAUSE = "change.conflict": 10,
        OR_REPLACE = "change.conflict.replace": 25,
        NULL_CELL = "cell.null": 15,
        SMALL_COUNT = "cell.small-count": 80,
        /// A value that is already somewhere: it makes joins match and keys collide.
        SHARED_CELL = "cell.shared": 45,
        OF_ANY_TYPE = "cell.shared.any-type": 60,
        COMPUTED = "update.expression": 35,
        UPDATE_FILTER = "update.filter": 75,
        SECOND_COLUMN = "update.second-column": 25,
        /// The condition of an UPDATE or DELETE may hold subqueries.
        CHANGE_SUBQUERY = "change.subquery": 25,
        ADDED_DEFAULT = "alter.add-column.default": 50,
    }
    choose enum {
        CHANGE: Change = "change" {
            Insert: 28,
            Update: 26,
            Delete: 4,
            Alter: 8,
            Setting: 10,
            Reindex: 4,
            Analyze: 8,
            Vacuum: 1,
            CreateIndex: 8,
            DropIndex: 4,
            Transaction: 3,
            Maintenance: 8,
            Statistics: 4,
        },
        TRANSACTION: Transaction = "change.transaction" { Commit: 1, Rollback: 1, Savepoint: 1 },
        ALTER: Alter = "alter" { RenameTable: 1, RenameColumn: 1, DropColumn: 1, AddColumn: 1 },
    }
}

/// What may stand in the WHERE of a statement that changes a table.
pub(super) const IN_CHANGE: Rules =
    Rules { subqueries: false, qualified: false, identity: false, outer: true, indexable: false };

impl<'a> Generator<'a> {
    /// A change to the state: one statement, or a few that belong together.
    pub fn change(&mut self) -> Vec<Statement> {
        let dialect = self.dialect;
        let applies = |change| match change {
            Change::Reindex => dialect.can(Feature::Reindex),
            Change::Analyze => dialect.can(Feature::Analyze),
            Change::Vacuum => dialect.can(Feature::Vacuum),
            Change::CreateIndex | Change::DropIndex => dialect.can(Feature::Indexes),
            Change::Transaction => dialect.can(Feature::Transactions),
            Change::Maintenance => !dialect.maintenance.is_empty(),
            Change::Statistics => !dialect.statistics.is_empty(),
            _ => true,
        };
        let one = match self.choose_where(&CHANGE, applies) {
            Change::Insert => self.any_table().and_then(|table| self.insert_rows(&table.name)),
            Change::Update => self.update(),
            Change::Delete => self.delete(),
            Change::Alter => self.alter(),
            Change::Setting => self.setting(),
            Change::Reindex => Some(Statement::Reindex(None)),
            Change::Analyze => Some(Statement::Analyze(None)),
            Change::Vacuum => Some(Statement::Vacuum),
            Change::CreateIndex => self.create_index(false),
            Change::DropIndex => self.drop_index(),
            Change::Transaction => return self.transaction(),
            Change::Maintenance => self.maintenance(),
            Change::Statistics => return self.statistics(),
        };
        one.into_iter().collect()
    }

    /// Changes that are made and taken back, or made in one go.
    fn transaction(&mut self) -> Vec<Statement> {
        let Some(update) = self.update() else { return Vec::new() };
        let savepoints = self.dialect.can(Feature::Savepoints);
        match self.choose_where(&TRANSACTION, |end| end != Transaction::Savepoint || savepoints) {
            Transaction::Commit => vec![Statement::Begin, update, Statement::Commit],
            Transaction::Rollback => vec![Statement::Begin, update, Statement::Rollback],
            Transaction::Savepoint => {
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
        let table = self.stored_table()?;
        let dialect = self.dialect;
        let (before, after) = self.rng.choose(&dialect.maintenance)?.split_once("{}")?;
        Some(Statement::Raw(format!("{before}{}{after}", table.name)))
    }

    /// Statistics of a table that make it look larger or smaller than it is: a plan for a million rows over a few.
    fn statistics(&mut self) -> Vec<Statement> {
        let dialect = self.dialect;
        let (Some(table), Some(way)) = (self.stored_table(), self.rng.choose(&dialect.statistics)) else {
            return Vec::new();
        };
        way.statements.iter().map(|form| Statement::Raw(form.replace("{}", &table.name))).collect()
    }

    /// A table whose rows no module holds.
    fn stored_table(&mut self) -> Option<&'a Table> {
        let state = self.state;
        let stored: Vec<&Table> = state.stored_tables().collect();
        self.rng.choose(&stored).copied()
    }

    fn any_table(&mut self) -> Option<&'a Table> {
        let count = self.state.base_tables().count();
        if count == 0 {
            return None;
        }
        let at = self.rng.below(count);
        self.state.base_tables().nth(at)
    }

    /// Another value for one of the dialect's settings.
    pub fn setting(&mut self) -> Option<Statement> {
        let dialect = self.dialect;
        let drawn = self.pick_setting(&dialect.settings)?;
        let is_kept_back =
            |name: &Name| dialect.setting(name).is_some_and(|setting| setting.between_questions);
        (!matches!(&drawn, Statement::Set { name, .. } if is_kept_back(name))).then_some(drawn)
    }

    pub(super) fn initial_setting(&mut self) -> Option<Statement> {
        let dialect = self.dialect;
        self.pick_setting(&dialect.initial_settings)
    }

    /// One of these settings with one of its values.
    pub fn pick_setting(&mut self, settings: &[Setting]) -> Option<Statement> {
        let setting = self.rng.choose(settings)?;
        Some(Statement::Set { name: setting.name.clone(), value: self.rng.pick(&setting.values).clone() })
    }

    /// Rows for a table: values that are already somewhere, boundary values, NULLs.
    pub fn insert_rows(&mut self, table: &str) -> Option<Statement> {
        let table = self.state.table(table)?;
        let mut columns: Vec<&Column> = table.columns.iter().filter(|column| !column.generated).collect();
        // Sometimes a column is left to its default.
        if columns.len() > 1 && self.odds(&OMITTED_COLUMN) {
            let at = self.rng.below(columns.len());
            if !columns[at].not_null && !columns[at].pinned {
                columns.remove(at);
            }
        }
        let or = self.conflict_policy(table);
        let names = columns.iter().map(|column| column.name.clone()).collect();
        if self.odds(&FROM_QUERY)
            && or.is_some()
            && !table.strict
            && columns.iter().all(|c| !c.rowid_alias && !c.counts)
        {
            return Some(self.insert_from_query(table, names, columns.len(), or));
        }
        let few = self.policy.few_rows;
        let count = match self.odds(&MANY_ROWS) {
            true => self.rng.between(few, self.policy.many_rows.max(few)),
            false => self.rng.between(1, few),
        };
        let mut rows: Vec<Vec<Expr>> = (0..count)
            .map(|_| {
                let mut row: Vec<Value> = columns.iter().map(|column| self.cell(table, column)).collect();
                in_order(&mut row, &columns);
                row.into_iter().map(Expr::Literal).collect()
            })
            .collect();
        // Without a word for it in INSERT itself, a violated key is passed over like this.
        let needed = or.is_none() && table.constrained;
        let can = self.dialect.can(Feature::Upsert) && table.keyed;
        let nothing = || Upsert { target: Vec::new(), assignments: Vec::new(), filter: None };
        let upsert = match can && needed {
            true => {
                let update = self.upsert_update(table);
                if update.is_some() {
                    // PostgreSQL refuses to update a row twice.
                    rows.truncate(1);
                }
                update.or_else(|| Some(nothing()))
            }
            false if can && self.odds(&DO_NOTHING) => Some(nothing()),
            false => self.upsert_update(table),
        };
        Some(Statement::Insert(Insert {
            table: table.name.clone(),
            or,
            columns: names,
            source: InsertSource::Values(rows),
            upsert,
        }))
    }

    /// `ON CONFLICT (key) DO UPDATE` for a table with a key of one column.
    fn upsert_update(&mut self, table: &Table) -> Option<Upsert> {
        let key = table.columns.iter().find(|column| column.unique)?;
        let changed = table.columns.iter().find(|c| !c.generated && !c.unique && !c.not_null)?;
        if !self.dialect.can(Feature::Upsert) || table.module.is_some() || !self.odds(&DO_UPDATE) {
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
        if !(table.constrained || self.odds(&CONFLICT_CLAUSE)) {
            return None;
        }
        if self.dialect.can(Feature::InsertIgnore) {
            return Some(OnConflict::Ignore);
        }
        if !self.dialect.can(Feature::ConflictClauses) {
            return None;
        }
        let replace = !table.unreplaceable && self.odds(&OR_REPLACE);
        Some(if replace { OnConflict::Replace } else { OnConflict::Ignore })
    }

    /// A value that a column takes.
    pub(super) fn cell(&mut self, table: &Table, column: &Column) -> Value {
        if column.rowid_alias {
            return Value::Int(self.rng.below(20) as i64 - 2);
        }
        if !column.not_null && self.odds(&NULL_CELL) {
            return Value::Null;
        }
        if column.counts {
            let most = if self.odds(&SMALL_COUNT) { 8 } else { 128 };
            return Value::Int(self.rng.below(most) as i64);
        }
        if let Some((low, high)) = column.range {
            return self.value_within(column.ty.kind, low, high);
        }
        let crossing = self.dialect.can(Feature::DynamicTyping) && !table.strict;
        if self.odds(&SHARED_CELL)
            && let Some(other) = self.rng.choose(&self.state.tables)
            && let Some(source) = self.rng.choose(&other.columns)
            && (crossing && self.odds(&OF_ANY_TYPE) || source.ty == column.ty)
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
        let changeable = |column: &&Column| {
            !column.generated && (or.is_some() || !column.pinned || table.module.is_some())
        };
        let candidates: Vec<&Column> = table.columns.iter().filter(changeable).collect();
        let column = *self.rng.choose(&candidates)?;
        let mut assignments = vec![self.assignment(table, column, or)];
        if self.odds(&SECOND_COLUMN)
            && let Some(other) = self.rng.choose(&candidates)
            && other.name != column.name
            && !column.follows
            && !other.follows
        {
            assignments.push(self.assignment(table, other, or));
        }
        let filter = self.odds(&UPDATE_FILTER).then(|| self.change_filter(table, 1));
        Some(Statement::Update(Update { table: table.name.clone(), or, assignments, filter }))
    }

    /// A value that an UPDATE gives a column.
    fn assignment(&mut self, table: &Table, column: &Column, or: Option<OnConflict>) -> Assignment {
        let free = self.dialect.can(Feature::DynamicTyping)
            && !table.strict
            && !column.rowid_alias
            && !column.counts
            && column.range.is_none();
        let relation = self.relation_of(table);
        let value = if free && self.odds(&COMPUTED) && (or.is_some() || !table.constrained) {
            self.over_table(&relation, IN_CHANGE, |g| g.value_expr(column.ty.kind, 1))
        } else {
            Expr::Literal(self.cell(table, column))
        };
        Assignment { column: column.name.clone(), value }
    }

    /// The condition of a statement that changes a table, sometimes with subqueries.
    fn change_filter(&mut self, table: &Table, depth: usize) -> Expr {
        let relation = self.relation_of(table);
        let nested = self.dialect.can(Feature::ChangesWithSubqueries) && self.odds(&CHANGE_SUBQUERY);
        match nested {
            true => self.over_table(&relation, Rules::default(), |g| g.predicate(2)),
            false => self.over_table(&relation, IN_CHANGE, |g| g.predicate(depth)),
        }
    }

    pub(super) fn delete(&mut self) -> Option<Statement> {
        let table = self.any_table()?;
        let filter = self.change_filter(table, 0);
        Some(Statement::Delete(Delete { table: table.name.clone(), filter: Some(filter) }))
    }

    fn drop_index(&mut self) -> Option<Statement> {
        let index = self.rng.choose(&self.state.indexes)?;
        let on = self.dialect.can(Feature::DropIndexOn).then(|| index.table.clone());
        Some(Statement::Drop { object: ObjectKind::Index, name: index.name.clone(), on, if_exists: false })
    }

    pub(super) fn alter(&mut self) -> Option<Statement> {
        let table = self.stored_table()?;
        let indexed = self.state.indexes.iter().any(|index| index.table == table.name);
        if indexed && !self.dialect.can(Feature::AlterIndexed) {
            return None;
        }
        let read_by_view = self.state.tables.iter().any(|view| view.reads.contains(&table.name));
        let dialect = self.dialect;
        let applies = |alter| match alter {
            Alter::RenameTable => !read_by_view,
            Alter::RenameColumn => dialect.can(Feature::RenameColumn) && !read_by_view,
            Alter::DropColumn => dialect.can(Feature::DropColumn) && table.columns.len() > 1,
            Alter::AddColumn => true,
        };
        let action = match self.choose_or(&ALTER, Alter::AddColumn, applies) {
            Alter::RenameTable => AlterAction::RenameTable(self.fresh_name('t')),
            Alter::RenameColumn => {
                let column = self.rng.choose(&table.columns)?;
                AlterAction::RenameColumn { from: column.name.clone(), to: self.fresh_name('c') }
            }
            Alter::DropColumn => {
                let droppable: Vec<&Column> = table.columns.iter().filter(|c| !c.pinned).collect();
                AlterAction::DropColumn(self.rng.choose(&droppable)?.name.clone())
            }
            Alter::AddColumn => {
                let strict = table.strict;
                let drawn = |entry: &&TypeEntry| entry.weight > 0 && (!strict || entry.strict);
                let entries: Vec<_> = dialect.types.iter().filter(drawn).collect();
                let ty = self.rng.pick(&entries).ty.clone();
                let mut constraints = Vec::new();
                if self.odds(&ADDED_DEFAULT) && !dialect.is_prefixed(&ty) {
                    let value = self.stored_value(&ty, false);
                    constraints.push(ColumnConstraint::Default(Expr::Literal(value)));
                }
                AlterAction::AddColumn(ColumnDef { name: self.fresh_name('c'), ty, constraints })
            }
        };
        Some(Statement::AlterTable { table: table.name.clone(), action })
    }
}

/// Exchanges values so that no column that follows another is less than it.
fn in_order(row: &mut [Value], columns: &[&Column]) {
    let number = |value: &Value| match value {
        Value::Int(int) => Some(*int as f64),
        Value::Real(real) => Some(*real),
        _ => None,
    };
    for at in 1..row.len() {
        if columns[at].follows && number(&row[at]) < number(&row[at - 1]) {
            row.swap(at - 1, at);
        }
    }
}
