//! The state of a database as the generator knows it. It follows every statement, so a dropped or renamed column is
//! never used again.

mod resolve;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use resolve::{kind_within, tables_named, tables_read};

use crate::dialect::{Dialect, Feature, Module};
use crate::sql::*;

/// Values kept per column to draw constants from.
const POOL_SIZE: usize = 24;

/// What a database holds, as far as its statements tell.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Tables and views, in the order in which they were made.
    pub tables: Vec<Table>,
    /// Indexes, in the order in which they were made.
    pub indexes: Vec<Index>,
    /// For each prefix the first number that no name has had: names are never used twice.
    unused: BTreeMap<char, usize>,
}

/// A table or a view.
#[derive(Clone, Debug)]
pub struct Table {
    /// What queries call it.
    pub name: Name,
    /// It is a view.
    pub is_view: bool,
    /// It lasts as long as the session.
    pub temporary: bool,
    /// It takes only values of its columns' types, where the dialect has both kinds of tables.
    pub strict: bool,
    /// Its rows have a number of their own.
    pub has_rowid: bool,
    /// Rows inserted less rows deleted, as far as it is known; of a view, as if its tables were joined on nothing.
    pub rows: usize,
    /// Shared with every query that uses the table.
    pub columns: Arc<Vec<Column>>,
    /// Tables a view reads, as often as it does; they cannot be dropped while it stands.
    pub reads: Vec<Name>,
    /// How a view was made; none once something that it may name was renamed.
    pub view: Option<Arc<CreateView>>,
    /// The module that holds it, if rows are not stored as usual.
    pub module: Option<Name>,
    /// Divided by a column: no key without it.
    pub partitioned: bool,
    /// An INSERT or UPDATE may violate something: a key, a CHECK.
    pub constrained: bool,
    /// It has a key that an INSERT may collide with.
    pub keyed: bool,
    /// It may violate what `OR REPLACE` does not mend: a CHECK, a NOT NULL.
    pub unreplaceable: bool,
}

/// A column of a table, a view or a derived table.
#[derive(Clone, Debug)]
pub struct Column {
    /// What expressions call it.
    pub name: Name,
    /// As it is declared; without a name if it is computed.
    pub ty: DataType,
    /// Declared NOT NULL, or a key that implies it.
    pub not_null: bool,
    /// No two rows have the same value.
    pub unique: bool,
    /// Computed from others: nothing can be put in.
    pub generated: bool,
    /// Takes integers only: SQLite's `INTEGER PRIMARY KEY`.
    pub rowid_alias: bool,
    /// As it is declared.
    pub collation: Option<Name>,
    /// Some constraint, index or view names it: it cannot be dropped.
    pub pinned: bool,
    /// Two values that compare equal are the same value. False under a collation that folds, and for
    /// columns that may hold both 1 and 1.0; such columns have no one representative (SOUNDNESS 0.8).
    pub identity: bool,
    /// Declared never to be negative, and kept small: `CHECK (c >= 0)`.
    pub counts: bool,
    /// The numbers that it stores as they are, if they are few.
    pub range: Option<(i64, i64)>,
    /// Never less than the column before it.
    pub follows: bool,
    /// The whole numbers that bound all that was put in, 0 among them; none once anything else may be there.
    pub whole: Option<(i64, i64)>,
    /// Values that were put in, for constants that meet the data.
    pub pool: Vec<Value>,
}

/// An index that was made by a statement of its own.
#[derive(Clone, Debug)]
pub struct Index {
    /// By which it can be dropped.
    pub name: Name,
    /// The table that it is on.
    pub table: Name,
    /// The statement that would make it again; none once its table was altered.
    pub definition: Option<CreateIndex>,
}

impl Column {
    /// A column as its definition describes it.
    pub fn from_def(def: &ColumnDef, dialect: &Dialect) -> Column {
        let mut column = Column {
            name: def.name.clone(),
            ty: def.ty.clone(),
            not_null: false,
            unique: false,
            generated: false,
            rowid_alias: false,
            collation: None,
            pinned: false,
            identity: false,
            counts: false,
            range: None,
            follows: false,
            whole: Some((0, 0)),
            pool: Vec::new(),
        };
        let nullable = dialect.type_entry(&def.ty).is_some_and(|entry| entry.nullable);
        for constraint in &def.constraints {
            match constraint {
                ColumnConstraint::NotNull => column.not_null = !nullable,
                ColumnConstraint::PrimaryKey { desc, .. } => {
                    column.unique = true;
                    column.pinned = true;
                    column.not_null |= !dialect.can(Feature::NullableKeys);
                    column.rowid_alias = dialect.can(Feature::RowidAlias)
                        && !desc
                        && def.ty.name.eq_ignore_ascii_case("integer");
                }
                ColumnConstraint::Unique { .. } => {
                    column.unique = true;
                    column.pinned = true;
                }
                ColumnConstraint::Check(check) => {
                    column.pinned = true;
                    column.counts |= *check == never_negative(&def.name);
                }
                ColumnConstraint::Collate(name) => column.collation = Some(name.clone()),
                ColumnConstraint::Generated { .. } => {
                    column.generated = true;
                    column.whole = None;
                }
                ColumnConstraint::Default(value) => column.widen(value),
                ColumnConstraint::References { .. } => column.pinned = true,
            }
        }
        column.identity = dialect.is_identical(&column.ty) && column.has_plain_collation();
        column
    }

    /// Takes in that a value may be there.
    fn widen(&mut self, value: &Expr) {
        let int = match value {
            Expr::Literal(Value::Null) => return,
            Expr::Literal(Value::Int(int)) => Some(*int),
            Expr::Literal(Value::Bool(truth)) => Some(i64::from(*truth)),
            _ => None,
        };
        self.whole = match (self.whole, int) {
            (Some((low, high)), Some(int)) => Some((low.min(int), high.max(int))),
            _ => None,
        };
    }

    /// No row has NULL here: declared so, or the rowid by another name.
    pub fn is_never_null(&self) -> bool {
        self.not_null || self.rowid_alias
    }

    /// Never NULL, and no two rows have it in common.
    pub fn is_key(&self) -> bool {
        self.rowid_alias || (self.unique && self.not_null)
    }

    /// Text compares byte by byte.
    pub fn has_plain_collation(&self) -> bool {
        self.collation.as_deref().is_none_or(|collation| collation.eq_ignore_ascii_case("binary"))
    }
}

impl State {
    /// A table or view by its name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    fn table_mut(&mut self, name: &str) -> Option<&mut Table> {
        self.tables.iter_mut().find(|table| table.name == name)
    }

    /// The tables that are no views, and whose rows no module holds: they can be indexed, altered and copied.
    pub fn stored_tables(&self) -> impl Iterator<Item = &Table> {
        self.base_tables().filter(|table| table.module.is_none())
    }

    /// The tables that are no views.
    pub fn base_tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(|table| !table.is_view)
    }

    /// The first number that no name with this prefix has had.
    pub fn unused(&self, prefix: char) -> usize {
        self.unused.get(&prefix).copied().unwrap_or(0)
    }

    fn note_name(&mut self, name: &str) {
        let mut letters = name.chars();
        if let (Some(prefix), Ok(number)) = (letters.next(), letters.as_str().parse::<usize>()) {
            let unused = self.unused.entry(prefix).or_insert(0);
            *unused = (*unused).max(number + 1);
        }
    }

    /// Takes in a statement that the engine has accepted.
    pub fn apply(&mut self, statement: &Statement, dialect: &Dialect) {
        match statement {
            Statement::CreateTable(create) => self.create_table(create, dialect),
            Statement::CreateIndex(create) => self.create_index(create),
            Statement::CreateView(create) => self.create_view(create, dialect),
            Statement::AlterTable { table, action } => self.alter(table, action, dialect),
            Statement::Drop { object: ObjectKind::Index, name, .. } => {
                self.indexes.retain(|index| index.name != *name);
            }
            Statement::Drop { name, .. } => {
                self.tables.retain(|table| table.name != *name);
                self.indexes.retain(|index| index.table != *name);
            }
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.assign(&update.table, &update.assignments),
            // What is stored differently is stored still; any other text may do anything.
            Statement::Raw(text) if !dialect.is_maintenance(text) => {
                for table in &mut self.tables {
                    Arc::make_mut(&mut table.columns).iter_mut().for_each(|column| column.whole = None);
                }
            }
            Statement::Delete(Delete { table, filter: None }) => {
                if let Some(table) = self.table_mut(table) {
                    table.rows = 0;
                }
            }
            _ => {}
        }
    }

    /// What the engine says of a statement that was applied: how many rows a query put into a table, or a condition
    /// took out of it.
    pub fn count(&mut self, statement: &Statement, changed: u64) {
        let changed = usize::try_from(changed).unwrap_or(usize::MAX);
        match statement {
            Statement::Insert(Insert { table, source: InsertSource::Query(_), .. }) => {
                if let Some(table) = self.table_mut(table) {
                    // One was counted already.
                    table.rows = table.rows.saturating_add(changed.saturating_sub(1));
                }
            }
            Statement::Delete(Delete { table, filter: Some(_) }) => {
                if let Some(table) = self.table_mut(table) {
                    table.rows = table.rows.saturating_sub(changed);
                }
            }
            Statement::Insert(_) => {}
            _ => return,
        }
        self.recount_views();
    }

    fn joined_rows(&self, tables: &[Name]) -> usize {
        let rows = tables.iter().filter_map(|name| self.table(name)).map(|table| table.rows.max(1));
        rows.fold(1, usize::saturating_mul)
    }

    /// Views grow with their tables; those that read views come after them.
    fn recount_views(&mut self) {
        for at in 0..self.tables.len() {
            if self.tables[at].is_view {
                self.tables[at].rows = self.joined_rows(&self.tables[at].reads);
            }
        }
    }

    fn create_view(&mut self, view: &CreateView, dialect: &Dialect) {
        self.note_name(&view.name);
        let mut columns = self.columns_of(&view.query, dialect);
        // What is put into its tables later is not followed to here.
        columns.iter_mut().for_each(|column| column.whole = None);
        let reads = tables_named(&view.query);
        for table in &reads {
            if let Some(table) = self.table_mut(table) {
                for column in Arc::make_mut(&mut table.columns) {
                    column.pinned = true;
                }
            }
        }
        let rows = self.joined_rows(&reads);
        self.tables.push(Table {
            name: view.name.clone(),
            is_view: true,
            temporary: view.temporary,
            strict: false,
            has_rowid: false,
            partitioned: false,
            rows,
            columns: Arc::new(columns),
            reads,
            view: Some(Arc::new(view.clone())),
            module: None,
            constrained: false,
            keyed: false,
            unreplaceable: false,
        });
    }

    fn create_table(&mut self, create: &CreateTable, dialect: &Dialect) {
        self.note_name(&create.name);
        create.columns.iter().for_each(|column| self.note_name(&column.name));
        let mut columns: Vec<Column> =
            create.columns.iter().map(|def| Column::from_def(def, dialect)).collect();
        let options = || create.options.iter().filter_map(|option| dialect.table_option(option));
        let has_rowid = !options().any(|option| option.keyed);
        let unfitting = |column: &Column| column.generated && dialect.can(Feature::StrictChanges);
        let mut constrained =
            columns.iter().any(|column| column.pinned || column.not_null || unfitting(column));
        let mut keyed = columns.iter().any(|column| column.unique);
        let mut checked = false;
        for constraint in &create.constraints {
            constrained |= !matches!(constraint, TableConstraint::Index { .. });
            match constraint {
                TableConstraint::PrimaryKey(keys) => {
                    keyed = true;
                    pin(&mut columns, keys);
                    // What stands in for the rowid cannot be NULL, nor can any key in most dialects.
                    if !has_rowid || !dialect.can(Feature::NullableKeys) {
                        let key = |column: &Column| keys.iter().any(|key| names(&key.expr, &column.name));
                        columns.iter_mut().filter(|c| key(c)).for_each(|column| column.not_null = true);
                    }
                }
                TableConstraint::Unique(keys) => {
                    keyed = true;
                    pin(&mut columns, keys);
                }
                TableConstraint::Check(_) => {
                    checked = true;
                    columns.iter_mut().for_each(|column| column.pinned = true);
                }
                TableConstraint::ForeignKey { .. } => {
                    columns.iter_mut().for_each(|column| column.pinned = true);
                }
                TableConstraint::Index { keys, .. } => pin(&mut columns, keys),
            }
        }
        if !has_rowid {
            let key = |def: &&ColumnDef| {
                def.constraints.iter().any(|c| matches!(c, ColumnConstraint::PrimaryKey { .. }))
            };
            for def in create.columns.iter().filter(key) {
                columns.iter_mut().filter(|c| c.name == def.name).for_each(|c| {
                    c.not_null = true;
                    c.rowid_alias = false;
                });
            }
        }
        if let Some(module) = create.module.as_ref().and_then(|module| dialect.module(module)) {
            columns.iter_mut().enumerate().for_each(|(at, column)| held_by(module, at, column));
            constrained = columns.iter().any(|column| column.rowid_alias || column.follows);
            // What its keys are is no matter of ON CONFLICT.
            keyed = false;
        }
        // What an option names can be neither changed nor dropped.
        let in_options = |column: &Column| {
            let words = |option: &Name| {
                option.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == &*column.name)
            };
            create.options.iter().any(words)
        };
        columns.iter_mut().for_each(|column| column.pinned |= in_options(column));
        // A generated column names its sources.
        if columns.iter().any(|column| column.generated) {
            columns.iter_mut().for_each(|column| column.pinned = true);
        }
        self.tables.push(Table {
            name: create.name.clone(),
            is_view: false,
            temporary: create.temporary,
            strict: options().any(|option| option.strict),
            has_rowid,
            partitioned: create.options.iter().any(|option| dialect.is_partitioning(option)),
            rows: 0,
            unreplaceable: checked || columns.iter().any(|column| column.not_null),
            columns: Arc::new(columns),
            reads: Vec::new(),
            view: None,
            module: create.module.clone(),
            constrained,
            keyed,
        });
    }

    fn create_index(&mut self, create: &CreateIndex) {
        self.note_name(&create.name);
        let (name, table) = (create.name.clone(), create.table.clone());
        self.indexes.push(Index { name, table, definition: Some(create.clone()) });
        if let Some(table) = self.table_mut(&create.table) {
            table.constrained |= create.unique;
            table.keyed |= create.unique;
            let columns = Arc::make_mut(&mut table.columns);
            if create.filter.is_some() {
                columns.iter_mut().for_each(|column| column.pinned = true);
            }
            pin(columns, &create.keys);
        }
    }

    fn alter(&mut self, table: &Name, action: &AlterAction, dialect: &Dialect) {
        for index in self.indexes.iter_mut().filter(|index| index.table == *table) {
            index.definition = None;
        }
        self.tables.iter_mut().for_each(|table| table.view = None);
        match action {
            AlterAction::RenameTable(to) => {
                self.note_name(to);
                for index in self.indexes.iter_mut().filter(|index| index.table == *table) {
                    index.table = to.clone();
                }
                for view in &mut self.tables {
                    for read in view.reads.iter_mut().filter(|read| **read == *table) {
                        *read = to.clone();
                    }
                }
                if let Some(table) = self.table_mut(table) {
                    table.name = to.clone();
                }
            }
            AlterAction::RenameColumn { from, to } => {
                self.note_name(to);
                if let Some(column) = self.column_mut(table, from) {
                    column.name = to.clone();
                }
            }
            AlterAction::AddColumn(def) => {
                self.note_name(&def.name);
                if let Some(table) = self.table_mut(table) {
                    Arc::make_mut(&mut table.columns).push(Column::from_def(def, dialect));
                }
            }
            AlterAction::DropColumn(name) => {
                if let Some(table) = self.table_mut(table) {
                    Arc::make_mut(&mut table.columns).retain(|column| column.name != *name);
                }
            }
        }
    }

    fn assign(&mut self, table: &Name, assignments: &[Assignment]) {
        for assignment in assignments {
            self.remember(table, &assignment.column, &assignment.value);
        }
    }

    fn insert(&mut self, insert: &Insert) {
        let columns = match self.table(&insert.table) {
            Some(table) if insert.columns.is_empty() => {
                table.columns.iter().map(|c| c.name.clone()).collect()
            }
            _ => insert.columns.clone(),
        };
        if let Some(upsert) = &insert.upsert {
            self.assign(&insert.table, &upsert.assignments);
        }
        if let InsertSource::Query(_) = insert.source {
            let mut unknown = |name: &Name| {
                if let Some(column) = self.column_mut(&insert.table, name) {
                    column.whole = None;
                }
            };
            columns.iter().for_each(&mut unknown);
        }
        match &insert.source {
            InsertSource::Values(rows) => {
                for row in rows {
                    for (expr, column) in row.iter().zip(&columns) {
                        self.remember(&insert.table, column, expr);
                    }
                }
                if let Some(table) = self.table_mut(&insert.table) {
                    table.rows += rows.len();
                }
            }
            InsertSource::Query(_) | InsertSource::Defaults => {
                if let Some(table) = self.table_mut(&insert.table) {
                    table.rows += 1;
                }
            }
        }
    }

    fn column_mut(&mut self, table: &str, column: &str) -> Option<&mut Column> {
        let table = self.table_mut(table)?;
        Arc::make_mut(&mut table.columns).iter_mut().find(|c| c.name == column)
    }

    fn remember(&mut self, table: &str, column: &str, value: &Expr) {
        let Some(column) = self.column_mut(table, column) else { return };
        column.widen(value);
        if let Expr::Literal(value) = value
            && column.pool.len() < POOL_SIZE
            && !column.pool.contains(value)
        {
            column.pool.push(value.clone());
        }
    }
}

/// What a module makes of a column of its table.
fn held_by(module: &Module, at: usize, column: &mut Column) {
    column.pinned = true;
    // What is not declared to be whole may be anything.
    column.whole = None;
    let Some(held) = module.column(at) else { return };
    column.rowid_alias = held.rowid;
    column.unique = held.rowid;
    column.not_null = held.not_null;
    column.identity = held.identity || held.rowid;
    column.range = held.range;
    column.follows = held.follows;
}

/// The constraint of a column that counts something.
pub fn never_negative(column: &Name) -> Expr {
    Expr::binary(BinaryOp::Ge, Expr::bare_column(column.clone()), Expr::int(0))
}

/// Marks the columns that keys name.
fn pin(columns: &mut [Column], keys: &[IndexKey]) {
    for key in keys {
        for column in columns.iter_mut() {
            column.pinned |= names(&key.expr, &column.name);
        }
    }
}

fn names(expr: &Expr, column: &Name) -> bool {
    visit::any_expr(expr, |inner| matches!(inner, Expr::Column(reference) if reference.column == *column))
}

/// A table, view or derived table that a query can name columns of.
#[derive(Clone, Debug)]
pub struct Relation {
    /// What its columns are qualified with.
    pub alias: Name,
    /// What is known of them.
    pub columns: Arc<Vec<Column>>,
}
