//! A test case as values: what an oracle proposes, what is checked, what is replayed and reduced.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sql::{Expr, Query, Statement};

/// What an oracle asks of a database: everything `check` needs besides the database itself. The arms are derived
/// from it again each time, so an edit cannot break the relation between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The oracle that proposed it, by name.
    pub oracle: String,
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
    /// A subject about one query.
    pub fn new(oracle: &str, test: Query) -> Self {
        Subject::of(oracle, vec![test.into()])
    }

    /// A subject about several statements.
    pub fn of(oracle: &str, tests: Vec<Statement>) -> Self {
        Subject { oracle: oracle.to_string(), tests, exprs: Vec::new(), choices: BTreeMap::new() }
    }

    /// The same with one more expression.
    pub fn with_expr(mut self, expr: Expr) -> Self {
        self.exprs.push(expr);
        self
    }

    /// The same with a choice.
    pub fn with_choice(mut self, name: &str, choice: &str) -> Self {
        self.choices.insert(name.to_string(), choice.to_string());
        self
    }

    /// A choice by its name.
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

    /// The same about one query alone.
    pub fn about(&self, query: &Query) -> Subject {
        Subject {
            oracle: self.oracle.clone(),
            tests: vec![query.clone().into()],
            exprs: self.exprs.clone(),
            choices: self.choices.clone(),
        }
    }

    /// All tests that are queries.
    pub fn queries(&self) -> impl Iterator<Item = &Query> {
        self.tests.iter().filter_map(|test| match test {
            Statement::Query(query) => Some(&**query),
            _ => None,
        })
    }
}

/// What an oracle proposes: a subject, and statements that have to run before it is checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Tables of the oracle's own, with their rows. They are built next to the database for this one check and
    /// dropped after it; if it fails, they become part of the test case's setup.
    pub brings: Vec<Statement>,
    /// What is checked then.
    pub subject: Subject,
}

impl From<Subject> for Proposal {
    fn from(subject: Subject) -> Proposal {
        Proposal { brings: Vec::new(), subject }
    }
}

/// A subject and the database it is about: enough to check it again anywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestCase {
    /// The statements that build the database, in order.
    pub setup: Vec<Statement>,
    /// The subject that is checked on it.
    pub subject: Subject,
}
