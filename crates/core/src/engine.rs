//! What Dissent needs of a database: the trait every adapter implements, and what comes back.
//!
//! A failure of SQL is a value ([`Reply::Failed`]); `Err` means the engine itself is gone or our own
//! plumbing broke.

use serde::{Deserialize, Serialize};

use crate::sql::Value;

/// One database, used by one thread. Statements are text: the session renders them.
pub trait Engine {
    /// The engine's own word for its version: `3.30.1`.
    fn version(&self) -> &str;

    /// Leaves an empty database with default settings, whatever was there before.
    fn reset(&mut self) -> Result<(), Trouble>;

    /// Runs one statement to its end, within the limits.
    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble>;

    /// The limits for every statement from now on.
    fn set_limits(&mut self, limits: Limits);
}

/// What a single statement may use. A statement over a limit fails with [`ErrorClass::Limit`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Work units of the engine (SQLite: virtual machine instructions); the same on every machine,
    /// so that a case that is cut off here is cut off everywhere.
    pub steps: u64,
    /// Wall time; a safety net above `steps`.
    pub millis: u64,
    pub memory_bytes: u64,
    pub rows: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 1_000_000, millis: 5_000, memory_bytes: 256 << 20, rows: 20_000 }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Rows(Rows),
    /// A statement without a result set: how many rows it changed, as the engine counts.
    Done {
        changed: u64,
    },
    Failed(SqlError),
}

/// A result set, row after row in one vector: small results are the common case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    pub columns: usize,
    pub values: Vec<Value>,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn iter(&self) -> std::slice::ChunksExact<'_, Value> {
        self.values.chunks_exact(self.columns.max(1))
    }

    /// The only cell of a result of one row and one column.
    pub fn single(&self) -> Option<&Value> {
        match (self.columns, self.values.as_slice()) {
            (1, [value]) => Some(value),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct SqlError {
    pub class: ErrorClass,
    /// The engine's code, as it spells it: `SQLITE_CONSTRAINT`, an SQLSTATE.
    pub code: String,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    Syntax,
    /// Unknown names, wrong types: found before a row is read.
    Semantic,
    Constraint,
    /// Raised by a value: overflow, division by zero, malformed JSON.
    Runtime,
    /// Over one of our [`Limits`], or the engine's own.
    Limit,
    /// The engine says of itself that it is broken: corruption, internal errors. Always a finding.
    Internal,
    ConnectionLost,
}

impl ErrorClass {
    pub fn name(self) -> &'static str {
        match self {
            ErrorClass::Syntax => "syntax",
            ErrorClass::Semantic => "semantic",
            ErrorClass::Constraint => "constraint",
            ErrorClass::Runtime => "runtime",
            ErrorClass::Limit => "limit",
            ErrorClass::Internal => "internal",
            ErrorClass::ConnectionLost => "connection-lost",
        }
    }
}

/// Trouble of our own, or an engine that is gone: never an answer of the database.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);
