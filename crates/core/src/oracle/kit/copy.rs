//! A copy of a table of the database: the same definition, changed as an oracle wants it, and the same rows, put in by
//! INSERT … SELECT. Views that read the table are copied with it.
//!
//! The definition is what the statements that built the database say. If they say too little (text that was not
//! understood, CREATE TABLE AS), there is no copy. That both tables have the same rows is checked by whoever uses one.

use super::twin::{Rename, TWIN};
use crate::dialect::{Dialect, TableOption};
use crate::sql::visit::{Editor, edit_expr};
use crate::sql::*;
use crate::state::State;

/// A table as it is now.
pub struct Original {
    /// What would create it.
    pub create: CreateTable,
    /// Its indexes.
    pub indexes: Vec<CreateIndex>,
    /// The views that read it, directly or through others, in the order in which they were made.
    pub views: Vec<CreateView>,
}

/// What makes a copy, and what it is called.
pub struct Copied {
    /// The statements that make it.
    pub make: Vec<Statement>,
    /// What is dropped afterwards, views first.
    pub drop: Vec<Statement>,
    /// The table and its views, each with the name of its copy.
    pub names: Vec<(Name, Name)>,
}

impl Original {
    /// A table of the database that these statements built, none of which failed.
    pub fn of<'s>(
        table: &Name,
        setup: impl DoubleEndedIterator<Item = &'s Statement> + Clone,
        dialect: &Dialect,
    ) -> Result<Original, &'static str> {
        let mut name = first_name(table, setup.clone());
        let mut original: Option<Original> = None;
        for statement in setup {
            match statement {
                Statement::CreateTable(create) if create.name == name => {
                    let (indexes, views) = (Vec::new(), Vec::new());
                    original = Some(Original { create: create.clone(), indexes, views });
                }
                Statement::Raw(text) if !dialect.is_maintenance(text) && alters(text, &name) => {
                    return Err("SQL that Dissent cannot parse");
                }
                other => original = original.and_then(|original| original.after(other)),
            }
            if let Some(original) = &original {
                name = original.create.name.clone();
            }
        }
        let original = original.ok_or("no table")?;
        if original.create.module.is_some() {
            return Err("table that a module holds");
        }
        if original.create.query.is_some() || original.create.columns.is_empty() {
            return Err("table with unknown columns");
        }
        Ok(original)
    }

    /// The table after one more statement; none if it is gone.
    fn after(mut self, statement: &Statement) -> Option<Original> {
        let table = &self.create.name;
        match statement {
            Statement::Drop { object: ObjectKind::Table, name, .. } if name == table => return None,
            Statement::AlterTable { table: altered, action } if altered == table => match action {
                AlterAction::RenameTable(to) => {
                    self.create.name = to.clone();
                    self.indexes.iter_mut().for_each(|index| index.table = to.clone());
                }
                AlterAction::AddColumn(column) => self.create.columns.push(column.clone()),
                AlterAction::DropColumn(name) => self.create.columns.retain(|column| column.name != *name),
                AlterAction::RenameColumn { from, to } => self.rename_column(from, to),
            },
            Statement::CreateIndex(index) if index.table == *table => self.indexes.push(index.clone()),
            Statement::Drop { object: ObjectKind::Index, name, .. } => {
                self.indexes.retain(|index| index.name != *name);
            }
            Statement::CreateView(view) => {
                let reads = crate::state::tables_named(&view.query);
                let is_read = |name: &Name| name == table || self.views.iter().any(|view| view.name == *name);
                if reads.iter().any(is_read) {
                    self.views.push(view.clone());
                }
            }
            Statement::Drop { object: ObjectKind::View, name, .. } => {
                self.views.retain(|view| view.name != *name);
            }
            _ => {}
        }
        Some(self)
    }

    fn rename_column(&mut self, from: &Name, to: &Name) {
        let mut rename = RenameColumn { from, to };
        let columns = self.create.columns.iter_mut();
        columns.filter(|column| column.name == *from).for_each(|column| column.name = to.clone());
        rename.statement_parts(&mut self.create);
        for index in &mut self.indexes {
            index.keys.iter_mut().for_each(|key| rename.expr(&mut key.expr));
            index.filter.iter_mut().for_each(|filter| rename.expr(filter));
        }
    }

    /// Whether a column is declared PRIMARY KEY or UNIQUE by itself.
    pub fn declares_key(&self, name: &Name) -> bool {
        let is_key = |constraint: &ColumnConstraint| {
            matches!(constraint, ColumnConstraint::PrimaryKey { .. } | ColumnConstraint::Unique { .. })
        };
        let mut named = self.create.columns.iter().filter(|column| column.name == *name);
        named.any(|column| column.constraints.iter().any(is_key))
    }

    /// The columns that can be written.
    pub fn written(&self) -> Vec<Name> {
        let columns =
            self.create.columns.iter().filter(|column| !column.constraints.iter().any(is_generated));
        columns.map(|column| column.name.clone()).collect()
    }

    /// The statements that copy the table under the name `twin0`. `create` is its definition as the copy has it, `indexes`
    /// are made before it has rows.
    pub fn copied(&self, create: CreateTable, indexes: &[CreateIndex]) -> Copied {
        self.copied_from(&self.create.name, TWIN, create, indexes)
    }

    /// The same under another name, with the rows of another table.
    pub fn copied_from(
        &self,
        source: &Name,
        to: &str,
        mut create: CreateTable,
        indexes: &[CreateIndex],
    ) -> Copied {
        let mut names = vec![(self.create.name.clone(), Name::from(to))];
        let views = self.views.iter().map(|view| (view.name.clone(), format!("{to}_{}", view.name).into()));
        names.extend(views);
        let mut rename = Rename { names: &names };
        create.columns.iter_mut().for_each(without_autoincrement);
        let generated = |name: &Name| {
            let column = create.columns.iter().find(|column| column.name == *name);
            column.is_none_or(|column| column.constraints.iter().any(is_generated))
        };
        let both = self.create.columns.iter().map(|column| column.name.clone());
        let columns: Vec<Name> = both.filter(|name| !generated(name)).collect();
        let mut make = vec![Statement::CreateTable(create)];
        make.extend(indexes.iter().cloned().map(Statement::CreateIndex));
        make.extend(self.views.iter().cloned().map(Statement::CreateView));
        make.iter_mut().for_each(|statement| rename.whole(statement));
        let items = columns.iter().map(|name| Expr::bare_column(name.clone()).into()).collect();
        let from = vec![TableRef::table(source.clone())];
        let rows = Query::select(Select { items, from, ..Select::default() });
        let fill = Insert {
            table: to.into(),
            or: None,
            columns,
            source: InsertSource::Query(Box::new(rows)),
            upsert: None,
        };
        // Views last: they need the table, not its rows, but rows may be refused.
        let at = make.len() - self.views.len();
        make.insert(at, Statement::Insert(fill));
        let drop =
            |object, name: &Name| Statement::Drop { object, name: name.clone(), on: None, if_exists: true };
        let mut drops: Vec<Statement> =
            names[1..].iter().rev().map(|(_, copy)| drop(ObjectKind::View, copy)).collect();
        drops.push(drop(ObjectKind::Table, &to.into()));
        Copied { make, drop: drops, names }
    }
}

/// What a table was called when it was made.
fn first_name<'s>(table: &Name, setup: impl DoubleEndedIterator<Item = &'s Statement>) -> Name {
    setup.rev().fold(table.clone(), |name, statement| match statement {
        Statement::AlterTable { table, action: AlterAction::RenameTable(to) } if *to == name => table.clone(),
        _ => name,
    })
}

/// Whether text may change the definition of a table.
fn alters(text: &str, table: &Name) -> bool {
    let text = text.to_ascii_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.next().is_some_and(|word| matches!(word, "alter" | "create" | "drop" | "rename"))
        && words.any(|word| word == table.to_ascii_lowercase())
}

/// Whether a column is computed.
pub fn is_generated(constraint: &ColumnConstraint) -> bool {
    matches!(constraint, ColumnConstraint::Generated { .. })
}

/// The values are there already: nothing is to be counted.
fn without_autoincrement(column: &mut ColumnDef) {
    for constraint in &mut column.constraints {
        if let ColumnConstraint::PrimaryKey { autoincrement, .. } = constraint {
            *autoincrement = false;
        }
    }
}

/// The options of a table without those that need a key or divide it.
pub fn plain_options(create: &mut CreateTable, dialect: &Dialect) {
    let special = |option: &TableOption| option.keyed || option.partitions;
    let is_special =
        |name: &Name| dialect.table_option(name).is_some_and(special) || dialect.is_partitioning(name);
    create.options.retain(|option| !is_special(option));
}

/// Whether a query names where a row is stored, which no copy keeps.
pub fn reads_addresses(query: &Query, state: &State) -> bool {
    const ADDRESSES: [&str; 9] =
        ["rowid", "oid", "_rowid_", "ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"];
    let declared = |name: &Name| {
        state.tables.iter().any(|table| table.columns.iter().any(|column| column.name == *name))
    };
    let mut found = false;
    visit::each_expr(query, |expr| {
        if let Expr::Column(reference) = expr {
            let is_address = ADDRESSES.iter().any(|name| reference.column.eq_ignore_ascii_case(name));
            found |= is_address && !declared(&reference.column);
        }
    });
    found
}

/// One column's name for another's.
struct RenameColumn<'a> {
    from: &'a Name,
    to: &'a Name,
}

impl RenameColumn<'_> {
    fn statement_parts(&mut self, create: &mut CreateTable) {
        let mut statement = Statement::CreateTable(create.clone());
        self.statement(&mut statement);
        if let Statement::CreateTable(renamed) = statement {
            *create = renamed;
        }
    }
}

impl Editor for RenameColumn<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(reference) = expr
            && reference.column == *self.from
        {
            reference.column = self.to.clone();
        }
        edit_expr(self, expr);
    }
}
