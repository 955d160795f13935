//! SQL from outside as our own trees: scripts are split ([`script`]), their statements parsed with sqlparser's
//! dialects (`reading`) and lowered to the one AST (`lower`).
//!
//! A statement that cannot be lowered stays text, which still builds the database. A lowered statement counts only
//! once an engine has given the same answer to the original and to our rendering of it ([`verify`]).

mod depth;
pub mod found;
pub mod header;
mod lower;
mod mysqltest;
pub(crate) mod reading;
mod records;
mod resolve;
pub mod script;
mod tcl;
mod verify;

pub use resolve::resolved;
pub use verify::{is_same, verify};

use crate::dialect::Dialect;
use crate::sql::{Query, Statement};
use script::{Habits, Part};

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
    /// The statement if it is a query that was understood.
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

/// The statements of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// Those to run.
    pub statements: Vec<Imported>,
    /// The lines of the others, and why they are not to be run.
    pub left_out: Vec<(usize, String)>,
}

/// The statements of a script; its name's ending and its text tell what kind of script it is.
pub fn read(name: &str, text: &str, dialect: &Dialect) -> File {
    let mut file = File::default();
    for part in script::split(name, text, Habits::of(dialect)) {
        match part.left_out {
            Some(why) => file.left_out.push((part.line, why.to_string())),
            None => file.statements.push(imported(part, dialect)),
        }
    }
    file
}

/// The statements of a script that are to be run.
pub fn file(name: &str, text: &str, dialect: &Dialect) -> Vec<Imported> {
    read(name, text, dialect).statements
}

fn imported(part: Part, dialect: &Dialect) -> Imported {
    match part.is_data {
        true => {
            let statement = Statement::Raw(part.sql.clone());
            Imported { text: part.sql, line: part.line, statement, refused: None }
        }
        false => statement(&part.sql, part.line, dialect),
    }
}

/// The scripts that a file holds: one, unless each of its lines is one (`.jsonl`): a record whose lists of SQL are its
/// statements, in this order.
pub fn scripts(name: &str, text: &str) -> Vec<String> {
    const LISTS: [&str; 5] = ["test", "repro_setup", "repro_queries", "setup", "queries"];
    if !name.to_ascii_lowercase().ends_with(".jsonl") {
        return vec![text.to_string()];
    }
    let sql = |item: &serde_json::Value| item.as_str().or(item["sql"].as_str()).map(str::to_string);
    let script = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).ok()?;
        let lists = LISTS.iter().filter_map(|list| record[list].as_array());
        let statements: Vec<String> = lists.flatten().filter_map(sql).collect();
        (!statements.is_empty()).then(|| statements.join(";\n"))
    };
    text.lines().filter_map(script).collect()
}

/// Whether a statement is a query, by its first word.
pub fn reads_as_query(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
    let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    ["select", "with", "values", "from", "table"].iter().any(|query| word.eq_ignore_ascii_case(query))
}

/// Whether text that is no tree may go into a database's setup: it changes what the database holds or how it is asked,
/// and nothing of the engine's own. (What reaches beyond the database was refused before.) Settings are not for any text
/// to change: answers may depend on them.
pub fn builds_state(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let inside = ["create", "insert", "replace", "update", "delete", "alter", "analyze", "reindex"];
    let objects = ["table", "index", "view", "trigger", "unique", "temp", "temporary"];
    inside.contains(&first)
        && (first != "create" || words.clone().next().is_some_and(|word| objects.contains(&word)))
        && !words.any(|word| word.starts_with("sqlite_"))
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
pub(crate) mod tests;
