//! Statements.

use serde::{Deserialize, Serialize};

use super::{DataType, Expr, Name, Query};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statement {
    CreateTable(CreateTable),
    CreateIndex(CreateIndex),
    CreateView(CreateView),
    AlterTable {
        table: Name,
        action: AlterAction,
    },
    Drop {
        object: ObjectKind,
        name: Name,
        /// The table of an index, where the dialect wants it named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<Name>,
        if_exists: bool,
    },
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    Analyze(Option<Name>),
    Reindex(Option<Name>),
    Vacuum,
    /// A session or database setting: `PRAGMA name = value` or `SET name = value`.
    Set {
        name: Name,
        value: Name,
    },
    Begin,
    Commit,
    Rollback,
    Savepoint(Name),
    Release(Name),
    RollbackTo(Name),
    /// SQL-level preparation; the statement inside holds `Expr::Param`.
    Prepare {
        name: Name,
        types: Vec<DataType>,
        statement: Box<Statement>,
    },
    Execute {
        name: Name,
        args: Vec<Expr>,
    },
    Deallocate(Name),
    Query(Box<Query>),
    Explain(Box<Statement>),
    /// Text no node describes: imported scripts, crash journals.
    Raw(String),
}

impl From<Query> for Statement {
    fn from(query: Query) -> Self {
        Statement::Query(Box::new(query))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectKind {
    Table,
    Index,
    View,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreateTable {
    pub name: Name,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    pub columns: Vec<ColumnDef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<TableConstraint>,
    /// What follows the closing parenthesis: `WITHOUT ROWID`, `STRICT`, `ENGINE=InnoDB`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Name>,
    /// `CREATE TABLE … AS query`; then `columns` is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<Box<Query>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnDef {
    pub name: Name,
    pub ty: DataType,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<ColumnConstraint>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnConstraint {
    NotNull,
    PrimaryKey { desc: bool, autoincrement: bool, on_conflict: Option<OnConflict> },
    Unique { on_conflict: Option<OnConflict> },
    Check(Expr),
    Default(Expr),
    Collate(Name),
    Generated { expr: Expr, stored: bool },
    References { table: Name, column: Name },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableConstraint {
    PrimaryKey(Vec<IndexKey>),
    Unique(Vec<IndexKey>),
    Check(Expr),
    ForeignKey {
        columns: Vec<Name>,
        table: Name,
        parents: Vec<Name>,
    },
    /// An index that is made with its table: MySQL's KEY.
    Index {
        name: Option<Name>,
        keys: Vec<IndexKey>,
    },
}

/// What a violated constraint does: `OR IGNORE`, `ON CONFLICT REPLACE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnConflict {
    Abort,
    Fail,
    Ignore,
    Replace,
    Rollback,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexKey {
    pub expr: Expr,
    /// Only so many characters of it: `c0(5)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collation: Option<Name>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desc: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreateIndex {
    pub name: Name,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unique: bool,
    pub table: Name,
    /// `USING hash`, where the dialect has kinds of index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Name>,
    pub keys: Vec<IndexKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreateView {
    pub name: Name,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Name>,
    pub query: Query,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlterAction {
    RenameTable(Name),
    RenameColumn { from: Name, to: Name },
    AddColumn(ColumnDef),
    DropColumn(Name),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Insert {
    pub table: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub or: Option<OnConflict>,
    /// The columns named; empty: all in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Name>,
    pub source: InsertSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upsert: Option<Upsert>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InsertSource {
    Values(Vec<Vec<Expr>>),
    Query(Box<Query>),
    Defaults,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Upsert {
    /// The conflict target's columns; empty: any conflict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target: Vec<Name>,
    /// The assignments; empty: DO NOTHING.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<Assignment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    pub column: Name,
    pub value: Expr,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Update {
    pub table: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub or: Option<OnConflict>,
    pub assignments: Vec<Assignment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delete {
    pub table: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}
