//! Foreign SQL as our own trees: scripts are split ([`script`]), their statements parsed by sqlparser's dialects
//! ([`reading`]) and lowered to the one AST ([`lower`]).
//!
//! A statement that cannot be lowered is kept as text that builds state. What was lowered counts only once an
//! engine has answered the same for the original and for our rendering of it ([`verify`]).

pub mod header;
mod lower;
mod reading;
mod resolve;
pub mod script;
mod verify;

pub use resolve::resolved;
pub use verify::{is_same, verify};

use crate::dialect::Dialect;
use crate::sql::{Query, Statement};

/// One statement of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// As it was written.
    pub text: String,
    /// The line of the script that it begins at, from 1.
    pub line: usize,
    /// As a tree, or as text ([`Statement::Raw`]).
    pub statement: Statement,
    /// Why it is not a tree.
    pub refused: Option<String>,
}

impl Imported {
    pub fn query(&self) -> Option<&Query> {
        match &self.statement {
            Statement::Query(query) => Some(query),
            _ => None,
        }
    }

    /// Keeps the statement as text.
    pub fn refuse(&mut self, why: impl Into<String>) {
        self.statement = Statement::Raw(self.text.clone());
        self.refused = Some(why.into());
    }
}

/// The statements of a script; its name's ending and its text tell what kind of script it is.
pub fn file(name: &str, text: &str, dialect: &Dialect) -> Vec<Imported> {
    let parts = script::split(name, text);
    parts.into_iter().map(|part| statement(&part.sql, part.line, dialect)).collect()
}

/// One statement: as a tree if it can be lowered.
pub fn statement(text: &str, line: usize, dialect: &Dialect) -> Imported {
    let (statement, refused) = match lower::statement(text, dialect) {
        Ok(statement) => (statement, None),
        Err(why) => (Statement::Raw(text.to_string()), Some(why)),
    };
    Imported { text: text.to_string(), line, statement, refused }
}

#[cfg(test)]
mod tests;
