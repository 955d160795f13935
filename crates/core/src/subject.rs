//! A test case as a value: what an oracle proposes, what is replayed, what is reduced.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sql::{Expr, Query, Statement};

/// Everything `check` needs. It can be written, read back, edited, and checked again: the arms are
/// derived from it anew each time, so an edit cannot break the relation between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The oracle that proposed it, by name.
    pub oracle: String,
    /// The statements that build the state, in order. While hunting, the worker's database is the state and
    /// only what the oracle wants built beside it is here; the statements of the database are put before
    /// that when a subject leaves the worker.
    #[serde(default)]
    pub setup: Vec<Statement>,
    /// The query or statements under test.
    pub tests: Vec<Statement>,
    /// Expressions the oracle works with apart from the tests: a predicate to partition by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exprs: Vec<Expr>,
    /// The oracle's other choices, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub choices: BTreeMap<String, String>,
}

impl Subject {
    pub fn new(oracle: &str, test: Query) -> Self {
        Subject {
            oracle: oracle.to_string(),
            setup: Vec::new(),
            tests: vec![test.into()],
            exprs: Vec::new(),
            choices: BTreeMap::new(),
        }
    }

    pub fn with_expr(mut self, expr: Expr) -> Self {
        self.exprs.push(expr);
        self
    }

    pub fn with_choice(mut self, name: &str, choice: &str) -> Self {
        self.choices.insert(name.to_string(), choice.to_string());
        self
    }

    pub fn choice(&self, name: &str) -> Option<&str> {
        self.choices.get(name).map(String::as_str)
    }

    /// The test if it is one query: what most oracles work on.
    pub fn query(&self) -> Option<&Query> {
        match self.tests.as_slice() {
            [Statement::Query(query)] => Some(query),
            _ => None,
        }
    }
}
