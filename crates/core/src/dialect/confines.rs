//! How SQL from outside could get out of its database: the table `[confine]` of a dialect's file. A dialect that inherits
//! from another adds to its lists.

use serde::Deserialize;

use crate::catalog::covered;

/// What an engine's statements can reach. The rules are applied by [`crate::confine`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confines {
    /// The kinds of statement that stay inside their database, by their first words: `SELECT`, `CREATE TABLE`. Nothing
    /// else runs on a server that others use.
    #[serde(default)]
    pub statements: Vec<String>,
    /// A name before a dot may be another database.
    #[serde(default)]
    pub databases: bool,
    /// The storage engines that keep a table where the server keeps its own, `*` standing for anything. Empty: there
    /// is nothing to choose.
    #[serde(default)]
    pub engines: Vec<String>,
    /// Tables and schemas of the server itself, which may be read but not changed.
    #[serde(default)]
    pub system: Vec<String>,
    /// How comments begin that the server runs.
    #[serde(default)]
    pub run_comments: Vec<String>,
    /// What reaches files, programs, other machines or code: refused on every engine.
    #[serde(default)]
    pub machine: Vec<Escape>,
    /// What changes or stops the server for others: refused on servers that others use.
    #[serde(default)]
    pub server: Vec<Escape>,
}

/// Some ways out, and what they do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Escape {
    /// What they do, to follow their name in a sentence: `reads files`.
    pub reason: String,
    /// Functions, `*` standing for anything.
    #[serde(default)]
    pub functions: Vec<String>,
    /// Functions that look like these, but are harmless.
    #[serde(default)]
    pub except: Vec<String>,
    /// Words that follow each other: `into outfile`. A `^` before the first: where a statement begins, and wherever one
    /// may begin behind EXPLAIN. A `*` is any one word or sign.
    #[serde(default)]
    pub words: Vec<String>,
}

impl Escape {
    /// Whether a function is one of these.
    pub fn has_function(&self, name: &str) -> bool {
        covered(&self.functions, name) && !covered(&self.except, name)
    }
}

impl Confines {
    /// Whether a storage engine keeps its tables where they belong.
    pub fn knows_engine(&self, name: &str) -> bool {
        self.engines.is_empty() || covered(&self.engines, name)
    }

    /// Whether a name belongs to the server itself.
    pub fn is_system(&self, name: &str) -> bool {
        covered(&self.system, name)
    }
}
