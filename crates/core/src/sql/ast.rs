//! Statements.

use serde::{Deserialize, Serialize};

use super::{DataType, Expr, Name, Query};

/// A statement: something a session can run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statement {
    /// `CREATE TABLE`.
    CreateTable(CreateTable),
    /// `CREATE INDEX`.
    CreateIndex(CreateIndex),
    /// `CREATE VIEW`.
    CreateView(CreateView),
    /// `ALTER TABLE`.
    AlterTable {
        /// The table to change.
        table: Name,
        /// What to change about it.
        action: AlterAction,
    },
    /// `DROP TABLE`, `DROP INDEX`, `DROP VIEW`.
    Drop {
        /// What kind of thing goes.
        object: ObjectKind,
        /// Its name.
        name: Name,
        /// The table of an index, if the dialect requires it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<Name>,
        /// `IF EXISTS`: no error if it is not there.
        if_exists: bool,
    },
    /// `INSERT`.
    Insert(Insert),
    /// `UPDATE`.
    Update(Update),
    /// `DELETE`.
    Delete(Delete),
    /// Gather statistics, of one table or of everything.
    Analyze(Option<Name>),
    /// Build an index or a table's indexes again, or all there are.
    Reindex(Option<Name>),
    /// `VACUUM`, where the dialect has it.
    Vacuum,
    /// A session or database setting: `PRAGMA name = value` or `SET name = value`.
    Set {
        /// The setting.
        name: Name,
        /// Its value as it is written.
        value: Name,
    },
    /// Begin a transaction.
    Begin,
    /// Commit the transaction.
    Commit,
    /// Roll the transaction back.
    Rollback,
    /// Set a savepoint of this name.
    Savepoint(Name),
    /// `RELEASE`, which forgets a savepoint and keeps what was done since.
    Release(Name),
    /// `ROLLBACK TO`, which undoes what was done since a savepoint.
    RollbackTo(Name),
    /// SQL-level preparation; the statement inside holds `Expr::Param`.
    Prepare {
        /// What it is executed by.
        name: Name,
        /// The types of its parameters, where the dialect wants them.
        types: Vec<DataType>,
        /// What is prepared.
        statement: Box<Statement>,
    },
    /// Executes what was prepared.
    Execute {
        /// The name it was prepared under.
        name: Name,
        /// The values of its parameters.
        args: Vec<Expr>,
    },
    /// Forgets what was prepared under this name.
    Deallocate(Name),
    /// A query.
    Query(Box<Query>),
    /// Ask for the plan of a statement without running it.
    Explain(Box<Statement>),
    /// Text no node describes: imported scripts, crash journals.
    Raw(String),
}

impl From<Query> for Statement {
    fn from(query: Query) -> Self {
        Statement::Query(Box::new(query))
    }
}

/// What kind of thing of a schema is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectKind {
    /// A table.
    Table,
    /// An index.
    Index,
    /// A view.
    View,
}

/// `CREATE TABLE name (columns, constraints) options`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreateTable {
    /// The table.
    pub name: Name,
    /// `TEMPORARY`: it ends with the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// Its columns in order.
    pub columns: Vec<ColumnDef>,
    /// The constraints that stand behind the columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<TableConstraint>,
    /// What follows the closing parenthesis: `WITHOUT ROWID`, `STRICT`, `ENGINE=InnoDB`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Name>,
    /// The module that holds it: `CREATE VIRTUAL TABLE name USING module(columns, options)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<Name>,
    /// `CREATE TABLE … AS query`; then `columns` is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<Box<Query>>,
}

/// A column of a new table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnDef {
    /// Its name.
    pub name: Name,
    /// Its declared type.
    pub ty: DataType,
    /// The constraints that stand behind its type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<ColumnConstraint>,
}

/// A constraint that is written with its column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnConstraint {
    /// `NOT NULL`.
    NotNull,
    /// `PRIMARY KEY`.
    PrimaryKey {
        /// `DESC`, which on SQLite keeps an INTEGER key from being the rowid.
        desc: bool,
        /// SQLite's `AUTOINCREMENT`, MySQL's `AUTO_INCREMENT`.
        autoincrement: bool,
        /// SQLite's `ON CONFLICT`.
        on_conflict: Option<OnConflict>,
    },
    /// `UNIQUE`.
    Unique {
        /// SQLite's `ON CONFLICT`.
        on_conflict: Option<OnConflict>,
    },
    /// `CHECK (condition)`.
    Check(Expr),
    /// `DEFAULT value`.
    Default(Expr),
    /// `COLLATE name`.
    Collate(Name),
    /// `GENERATED ALWAYS AS (expr)`.
    Generated {
        /// What it is computed from.
        expr: Expr,
        /// `STORED` in place of `VIRTUAL`.
        stored: bool,
    },
    /// `REFERENCES table (column)`.
    References {
        /// The table it refers to.
        table: Name,
        /// The column it refers to.
        column: Name,
    },
}

/// A constraint of a whole table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableConstraint {
    /// `PRIMARY KEY (keys)`.
    PrimaryKey(Vec<IndexKey>),
    /// `UNIQUE (keys)`.
    Unique(Vec<IndexKey>),
    /// `CHECK (condition)`.
    Check(Expr),
    /// `FOREIGN KEY (columns) REFERENCES table (parents)`.
    ForeignKey {
        /// The columns that refer.
        columns: Vec<Name>,
        /// The table they refer to.
        table: Name,
        /// The columns they refer to, one for each.
        parents: Vec<Name>,
    },
    /// An index that is made with its table: MySQL's KEY.
    Index {
        /// Its name; without one the engine finds a name.
        name: Option<Name>,
        /// What it indexes.
        keys: Vec<IndexKey>,
    },
}

/// What a violated constraint does: `OR IGNORE`, `ON CONFLICT REPLACE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnConflict {
    /// Undo the statement: what happens if nothing is said.
    Abort,
    /// Stop where it is, and keep what the statement did so far.
    Fail,
    /// Skip the row.
    Ignore,
    /// Delete the rows in the way.
    Replace,
    /// Undo the whole transaction.
    Rollback,
}

/// A key of an index: a column or an expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexKey {
    /// What is indexed.
    pub expr: Expr,
    /// Only so many characters of it: `c0(5)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<u32>,
    /// The collation by which it is ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collation: Option<Name>,
    /// `DESC`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desc: bool,
}

/// `CREATE INDEX name ON table (keys) WHERE filter`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreateIndex {
    /// The index.
    pub name: Name,
    /// `UNIQUE`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unique: bool,
    /// The table it belongs to.
    pub table: Name,
    /// `USING hash`, where the dialect has kinds of index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Name>,
    /// What it indexes, in order.
    pub keys: Vec<IndexKey>,
    /// The condition of a partial index: other rows are not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}

/// `CREATE VIEW name (columns) AS query`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreateView {
    /// The view.
    pub name: Name,
    /// `TEMPORARY`: it ends with the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// New names for its columns; empty: those of its query.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Name>,
    /// What it shows.
    pub query: Query,
}

/// A change of a table's definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlterAction {
    /// `RENAME TO`, with the new name.
    RenameTable(Name),
    /// `RENAME COLUMN from TO to`.
    RenameColumn {
        /// The name it has.
        from: Name,
        /// The name it gets.
        to: Name,
    },
    /// `ADD COLUMN`.
    AddColumn(ColumnDef),
    /// `DROP COLUMN`.
    DropColumn(Name),
}

/// `INSERT OR or INTO table (columns) source ON CONFLICT upsert`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Insert {
    /// The table that gets rows.
    pub table: Name,
    /// What a violated constraint does to the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub or: Option<OnConflict>,
    /// The columns named; empty: all in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Name>,
    /// Where the rows come from.
    pub source: InsertSource,
    /// What to do with a row that is there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upsert: Option<Upsert>,
}

/// The rows of an INSERT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InsertSource {
    /// Rows written out.
    Values(Vec<Vec<Expr>>),
    /// The rows of a query.
    Query(Box<Query>),
    /// One row of defaults: `DEFAULT VALUES`.
    Defaults,
}

/// `ON CONFLICT (target) DO UPDATE SET assignments WHERE filter`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Upsert {
    /// The conflict target's columns; empty: any conflict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target: Vec<Name>,
    /// The assignments; empty: DO NOTHING.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<Assignment>,
    /// Which of the rows in conflict are updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}

/// `column = value`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The column that is set.
    pub column: Name,
    /// What it is set to.
    pub value: Expr,
}

/// `UPDATE OR or table SET assignments WHERE filter`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// The table whose rows change.
    pub table: Name,
    /// What a violated constraint does to the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub or: Option<OnConflict>,
    /// What is set.
    pub assignments: Vec<Assignment>,
    /// Which rows change; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}

/// `DELETE FROM table WHERE filter`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delete {
    /// The table that loses rows.
    pub table: Name,
    /// Which rows go; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}
