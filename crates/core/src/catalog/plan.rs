//! How to ask an engine for its operations: the `[catalog]` table of the dialect's file.

use serde::Deserialize;

use crate::sql::{Kind, Name};

/// How an engine is asked what it can compute: the table `[catalog]` of a dialect's file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Queries whose rows are: kind (function, aggregate, window, operator), name, the types of its
    /// arguments separated by `|` (`?` for one that is not told, `...` for more of the last; NULL if not
    /// even their number is told), the type of its answer or NULL, volatility (immutable, stable, volatile)
    /// or NULL. One that fails is passed over: an older version may lack the table.
    #[serde(default)]
    pub lists: Vec<String>,
    /// Names to try if the engine has no list, or in addition to it.
    #[serde(default)]
    pub functions: Vec<Name>,
    /// Aggregate functions that no query lists.
    #[serde(default)]
    pub aggregates: Vec<Name>,
    /// Window functions.
    #[serde(default)]
    pub windows: Vec<Name>,
    /// Operators and functions of their own syntax: `{} << {}`.
    #[serde(default)]
    pub operators: Vec<Name>,
    /// The word for the type of an expression: `typeof({})`. Without it the kind of the answer tells.
    #[serde(default)]
    pub type_of: Option<String>,
    /// What follows the columns of a table.
    #[serde(default)]
    pub table_suffix: String,
    /// Codes of the error that says: not so many arguments.
    #[serde(default)]
    pub wrong_arity: Vec<String>,
    /// Codes of the error that says: no such function.
    #[serde(default)]
    pub unknown_name: Vec<String>,
    /// The most arguments to try if their number is unknown.
    #[serde(default = "four")]
    pub max_args: usize,
    /// How many tuples of types are tried for one number of arguments: fewer where a statement takes long.
    #[serde(default = "two_hundred")]
    pub tries: usize,
    /// The types to probe with, the most useful first.
    #[serde(default)]
    pub types: Vec<TypeLine>,
    /// Words of the engine's catalog that stand for several types; in one signature all groups move together.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Arguments that often go together: tried first.
    #[serde(default)]
    pub shapes: Vec<Vec<Name>>,
    /// Functions whose answer is of a type that its kind does not tell.
    #[serde(default)]
    pub returns: std::collections::BTreeMap<Name, Vec<String>>,
    /// Functions that may stand in an index and a CHECK, where the engine does not tell.
    #[serde(default)]
    pub immutable: bool,
    /// What is never called.
    #[serde(default)]
    pub deny: Vec<Denial>,
    /// Aggregates that compute a float of exact values, and exactly: in no order of rows otherwise.
    #[serde(default)]
    pub exact_aggregates: Vec<Name>,
}

fn two_hundred() -> usize {
    200
}

fn four() -> usize {
    4
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeLine {
    pub name: Name,
    pub kind: Kind,
    /// Typical first, then boundaries.
    pub values: Vec<String>,
    /// Other names of it in the engine's catalog, in lower case and without lengths.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Written as a literal of its kind rather than as a cast from text.
    #[serde(default)]
    pub plain: bool,
    /// A way to use values of another type (JSON in text): no column holds it.
    #[serde(default)]
    pub pseudo: bool,
    /// Where it stands only a constant is accepted: the name of a unit, a path.
    #[serde(default)]
    pub constant: bool,
    /// A function around the text of a value, `ST_GeomFromText({})`, where there is no cast from text.
    #[serde(default)]
    pub literal: Option<Name>,
    /// How a column of it is declared, if not by its name.
    #[serde(default)]
    pub column: Option<Name>,
    /// A column of it is never NULL.
    #[serde(default)]
    pub required: bool,
    #[serde(default)]
    pub since: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub name: String,
    pub types: Vec<Name>,
}

/// Names that are never used, `*` standing for anything, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Denial {
    /// Why they must not be used.
    pub reason: String,
    /// The names.
    pub names: Vec<String>,
}

impl Denial {
    /// Whether a name is one of these.
    pub fn covers(&self, name: &str) -> bool {
        covered(&self.names, name)
    }
}

/// Whether a name, in letters of any case, fits one of some patterns in lower case with `*`.
pub(crate) fn covered(patterns: &[String], name: &str) -> bool {
    let name = name.to_lowercase();
    patterns.iter().any(|pattern| matches(pattern, &name))
}

impl Plan {
    /// Why a name must not be called, if so.
    pub fn denied(&self, name: &str) -> Option<&str> {
        self.deny.iter().find(|denial| denial.covers(name)).map(|denial| denial.reason.as_str())
    }

    /// Whether there is nothing to ask, because the dialect's file has no such table.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

/// Whether a name fits a pattern in lower case with `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name) in
            [("sleep", "sleep"), ("pg_*", "pg_sleep"), ("*now*", "utc_now_x"), ("a*c", "abc")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("sleep", "sleeps"), ("pg_*", "apg_x"), ("a*c", "abd"), ("*x*y", "xz")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn a_denied_name_comes_with_its_reason() {
        let deny = vec![Denial { reason: "waits".into(), names: vec!["*sleep*".into()] }];
        let plan = Plan { deny, ..Plan::default() };
        assert_eq!(plan.denied("PG_SLEEP_FOR"), Some("waits"));
        assert_eq!(plan.denied("abs"), None);
    }
}
