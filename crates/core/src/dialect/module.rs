//! Relations that are neither stored rows nor queries: tables of a module and functions in FROM.

use serde::Deserialize;

use super::yes;
use crate::sql::{Kind, Name, Value};

/// A module that can hold a table: `CREATE VIRTUAL TABLE t0 USING rtree(c0, c1, c2)`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// As it is called.
    pub name: Name,
    /// How often it is drawn among the modules.
    #[serde(default = "super::one")]
    pub weight: u32,
    /// The columns that every table begins with.
    #[serde(default)]
    pub columns: Vec<ModuleColumn>,
    /// The columns that follow, all of them once or several times.
    #[serde(default)]
    pub more: Vec<ModuleColumn>,
    /// How often they may follow.
    #[serde(default = "super::one")]
    pub most: u32,
    /// Arguments behind the columns, of which a table may have one.
    #[serde(default)]
    pub arguments: Vec<Name>,
    /// The operator that searches a column, and patterns that it takes. It can only stand among the conditions of WHERE.
    #[serde(default)]
    pub search: Option<Search>,
    /// The first version that has it; absent: all.
    #[serde(default)]
    pub since: Option<String>,
}

/// How a module's columns are searched: `c0 MATCH 'a'`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The operator, with `{}` for the column and the pattern.
    pub form: Name,
    /// What is searched for.
    pub patterns: Vec<String>,
}

/// A column of a module's table. It has no declared type.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleColumn {
    /// The kind of its values.
    pub kind: Kind,
    /// How it is written; `{}` is its name.
    #[serde(default = "plain_name")]
    pub form: Name,
    /// It is the row's number.
    #[serde(default)]
    pub rowid: bool,
    /// It is never NULL.
    #[serde(default)]
    pub not_null: bool,
    /// Equal values are the same value (SOUNDNESS 0.8).
    #[serde(default)]
    pub identity: bool,
    /// Values are whole numbers or quarters between these two, which the module stores as they are.
    #[serde(default)]
    pub range: Option<(i64, i64)>,
    /// Never less than the column before it.
    #[serde(default)]
    pub follows: bool,
}

fn plain_name() -> Name {
    "{}".into()
}

impl Module {
    /// What is known of a column by its place.
    pub fn column(&self, at: usize) -> Option<&ModuleColumn> {
        match at.checked_sub(self.columns.len()) {
            None => self.columns.get(at),
            Some(_) if self.more.is_empty() => None,
            Some(more) => self.more.get(more % self.more.len()),
        }
    }
}

/// A function that can stand in FROM.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableFunction {
    /// The function, or a form with a `{}` for each argument.
    pub name: Name,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<TableArgument>,
    /// The columns of its rows.
    pub columns: Vec<FunctionColumn>,
    /// The query names the columns: `generate_series(1, 3) AS a0(c0)`.
    #[serde(default)]
    pub renamed: bool,
    /// The most rows that it returns.
    #[serde(default = "some_rows")]
    pub rows: usize,
    /// The first version that has it; absent: all.
    #[serde(default)]
    pub since: Option<String>,
}

fn some_rows() -> usize {
    4
}

/// An argument of a function in FROM.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableArgument {
    /// The kind of its values.
    pub kind: Kind,
    /// The constants it is drawn from.
    pub values: Vec<String>,
    /// How a column of an operand before it becomes an argument that gives few rows, and which kind that column has.
    /// Every `{}` is the column.
    #[serde(default)]
    pub lateral: Option<(Kind, Name)>,
}

impl TableArgument {
    /// A constant as a value.
    pub fn value(&self, text: &str) -> Value {
        match self.kind {
            Kind::Int => text.parse().map_or(Value::Null, Value::Int),
            Kind::Text | Kind::Any => Value::Text(text.to_string()),
            kind => Value::Other { kind, text: text.to_string() },
        }
    }
}

/// A column of the rows of a function in FROM.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionColumn {
    /// What the function calls it, or what the query does.
    pub name: Name,
    /// The kind of its values.
    pub kind: Kind,
    /// Equal values are the same value (SOUNDNESS 0.8).
    #[serde(default = "yes")]
    pub identity: bool,
}
