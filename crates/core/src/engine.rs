//! What Dissent needs from a database: the trait that every engine implements, and what it returns.
//!
//! An SQL error is a value ([`Reply::Failed`]). `Err` means that the engine itself is gone or that our own code
//! failed.

use serde::{Deserialize, Serialize};

use crate::sql::{DataType, Statement, Value};

/// One database, used by one thread. Statements are text: the session renders them.
pub trait Engine {
    /// The version, as the engine reports it: `3.30.1`.
    fn version(&self) -> &str;

    /// Resets to an empty database with default settings, whatever was there before; also after a statement
    /// failed with [`ErrorClass::ConnectionLost`], when the server is started again if it is ours.
    fn reset(&mut self) -> Result<(), Trouble>;

    /// Runs one statement to its end, within the limits.
    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble>;

    /// The limits for every statement from now on.
    fn set_limits(&mut self, limits: Limits);

    /// Has the engine prepare a statement, by its protocol or its C interface. Its parameters are spelled as
    /// the dialect spells them and have these types, as far as the engine can be told.
    fn prepare(&mut self, sql: &str, types: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble>;

    /// Executes a prepared statement, with a value for each parameter, any number of times.
    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble>;

    /// Closes a prepared statement; a reset closes all of them.
    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble>;

    /// Where a server was when it died, by its log: the innermost function first. Asked right after a statement that
    /// failed with [`ErrorClass::ConnectionLost`].
    fn stack(&self) -> Vec<String> {
        Vec::new()
    }

    /// The database as its file would hold it; `None`: it cannot be saved.
    fn save(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        Ok(None)
    }

    /// Closes the database and opens one that was saved, by this engine or another version of it. `false`: it cannot.
    fn open_saved(&mut self, _saved: &[u8]) -> Result<bool, Trouble> {
        Ok(false)
    }

    /// Names the edges of the engine's code that were passed since this was asked last, and says how many edges
    /// there are. `None`: it is not instrumented.
    fn take_coverage(&mut self, _passed: &mut dyn FnMut(u32)) -> Option<u32> {
        None
    }
}

/// A statement that the engine keeps prepared until it is closed or the database is reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The engine knows it by this.
    pub number: u64,
    /// Its text, with parameters as the dialect writes them.
    pub sql: String,
}

impl Prepared {
    /// How preparing is written in journals and logs.
    pub fn told(sql: &str) -> String {
        format!("/* prepare */ {sql}")
    }

    /// How an execution is written in journals and logs.
    pub fn told_with(&self, values: &[Value]) -> String {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        // Nothing in a value may end the comment.
        format!("/* prepared, with ({}) */ {}", values.join(", ").replace("*/", "* /"), self.sql)
    }

    /// An engine that no longer knows the statement lost it with a connection that was cut off.
    pub fn lost() -> SqlError {
        let message = "the prepared statement is gone".to_string();
        SqlError { class: ErrorClass::Limit, code: String::new(), message }
    }
}

/// What a single statement may use. A statement that exceeds a limit fails with [`ErrorClass::Limit`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Work units of the engine (SQLite: virtual machine instructions); the same on every machine,
    /// so that a case that is cut off here is cut off everywhere.
    pub steps: u64,
    /// Wall time; a safety net above `steps`.
    pub millis: u64,
    /// Memory of the engine, where it can be bounded.
    pub memory_bytes: u64,
    /// Rows of a result.
    pub rows: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 1_000_000, millis: 5_000, memory_bytes: 256 << 20, rows: 20_000 }
    }
}

/// What an engine says to a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A result set, perhaps empty.
    Rows(Rows),
    /// A statement without a result set: how many rows it changed, as the engine counts.
    Done {
        /// Rows that were inserted, updated or deleted.
        changed: u64,
    },
    /// An error, which is an answer like any other.
    Failed(SqlError),
}

impl Reply {
    /// The error, if it failed.
    pub fn failure(&self) -> Option<&SqlError> {
        match self {
            Reply::Failed(error) => Some(error),
            _ => None,
        }
    }
}

/// A result set, row after row in one vector: small results are the common case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// Columns of a row.
    pub columns: usize,
    /// The cells of all rows, one row after the other.
    pub values: Vec<Value>,
}

impl Rows {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Whether the result has no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The rows, each a slice of its cells.
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

/// An error of the engine: a value that oracles look at, not an error of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct SqlError {
    /// What kind of error it is.
    pub class: ErrorClass,
    /// The engine's code, as it spells it: `SQLITE_CONSTRAINT`, an SQLSTATE.
    pub code: String,
    /// The engine's own words.
    pub message: String,
}

impl SqlError {
    /// The words of the message that do not depend on the example.
    pub fn words(&self) -> Vec<String> {
        words(&self.message)
    }
}

/// A message without what belongs to the example: names, numbers, and everything in quotes or brackets.
fn words(message: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut open: Vec<char> = Vec::new();
    let mut before = ' ';
    for c in message.chars() {
        match c {
            _ if open.last() == Some(&c) => drop(open.pop()),
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            // Not the apostrophe within a word.
            '`' | '"' | '\'' if open.is_empty() && !before.is_alphanumeric() => open.push(c),
            _ if open.is_empty() => plain.push(c),
            _ => {}
        }
        before = c;
    }
    let words = plain.split_whitespace().map(|word| word.trim_matches([':', ',', '.', ';']));
    let is_word =
        |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || "-:'".contains(c));
    words.filter(is_word).map(str::to_string).collect()
}

/// What kind of error a statement ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// It cannot be parsed.
    Syntax,
    /// Unknown names, wrong types: found before a row is read.
    Semantic,
    /// A row violates a constraint.
    Constraint,
    /// Raised by a value: overflow, division by zero, malformed JSON.
    Runtime,
    /// Over one of our [`Limits`], or the engine's own.
    Limit,
    /// The engine reports that it is broken: corruption, internal errors. Always a finding.
    Internal,
    /// The server is gone: it crashed, or it ended the connection. Always a finding.
    ConnectionLost,
}

impl ErrorClass {
    /// The engine was harmed: a finding, whatever the statement was.
    pub fn is_harm(self) -> bool {
        matches!(self, ErrorClass::Internal | ErrorClass::ConnectionLost)
    }

    /// The word for it in statistics.
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

impl<E: Engine + ?Sized> Engine for Box<E> {
    fn version(&self) -> &str {
        (**self).version()
    }
    fn reset(&mut self) -> Result<(), Trouble> {
        (**self).reset()
    }
    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        (**self).execute(sql)
    }
    fn set_limits(&mut self, limits: Limits) {
        (**self).set_limits(limits);
    }
    fn prepare(&mut self, sql: &str, types: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        (**self).prepare(sql, types)
    }
    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        (**self).execute_prepared(statement, values)
    }
    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        (**self).close_prepared(statement)
    }
    fn stack(&self) -> Vec<String> {
        (**self).stack()
    }
    fn save(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        (**self).save()
    }
    fn open_saved(&mut self, saved: &[u8]) -> Result<bool, Trouble> {
        (**self).open_saved(saved)
    }
    fn take_coverage(&mut self, passed: &mut dyn FnMut(u32)) -> Option<u32> {
        (**self).take_coverage(passed)
    }
}

/// An error of Dissent itself: never an answer of the database.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);

/// Why a check, or a walk over a database, cannot go on. Carried by `?`.
#[derive(Debug)]
pub enum Stop {
    /// A statement harmed the engine: a finding, whatever the query was.
    Harm(Box<Harm>),
    /// An error of our own.
    Trouble(Trouble),
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Stop {
        Stop::Trouble(trouble)
    }
}

/// A statement that crashed the engine, or made it report that it is broken.
#[derive(Clone, Debug, PartialEq)]
pub struct Harm {
    /// The statement, as far as it is understood.
    pub statement: Statement,
    /// Its text.
    pub sql: String,
    /// The engine's message.
    pub error: SqlError,
    /// Where it was, if its log tells: the innermost function first.
    pub stack: Vec<String>,
}
