//! The one generator: schemas, rows, expressions, queries and statements for a dialect.
//!
//! (It cannot be called `gen`: that word is reserved in Rust 2024.)
//!
//! A [`Generator`] serves one test case. It owns the test case's randomness and the scopes of the current query,
//! and reads the [`State`] of the database. What it generates is valid by construction, as far as the state tells.

mod aggregate;
mod alone;
mod change;
mod choice;
mod compose;
pub mod cost;
mod expr;
mod module;
mod nested;
mod operation;
mod plan;
pub mod policy;
mod predicate;
mod query;
mod recursion;
mod rows;
mod schema;
#[cfg(test)]
pub(crate) mod tests;
mod values;
mod window;

pub(crate) use change::CHANGE_FIRST;
pub(crate) use choice::choices;
pub use choice::{Choice, Listed, Named, Odds, Outcome, Weights};
pub use operation::Luck;
pub use plan::Stage;
pub use policy::Policy;

use crate::dialect::Dialect;
use crate::rng::Rng;
use crate::sql::{CommonTable, Expr, Kind, Name};
use crate::state::{Column, Relation, State};

/// Every choice of the generator, file by file.
pub(crate) fn every_choice() -> impl Iterator<Item = &'static dyn Named> {
    let files = [
        plan::CHOICES,
        schema::CHOICES,
        module::CHOICES,
        values::CHOICES,
        change::CHOICES,
        rows::CHOICES,
        alone::CHOICES,
        query::CHOICES,
        nested::CHOICES,
        recursion::CHOICES,
        compose::CHOICES,
        window::CHOICES,
        aggregate::CHOICES,
        predicate::CHOICES,
        expr::CHOICES,
        operation::CHOICES,
    ];
    files.into_iter().flatten().copied()
}

/// Draws statements and their parts for one case.
pub struct Generator<'a> {
    /// The randomness of the case.
    pub rng: Rng,
    /// What can be drawn at all.
    pub dialect: &'a Dialect,
    /// The database that is drawn over.
    pub state: &'a State,
    /// How large and how often.
    pub policy: &'a Policy,
    /// What happened to operations in this database; none: nothing is known.
    luck: Option<&'a Luck>,
    /// The relations in scope: enclosing queries first, the innermost query's from `inner` on.
    scope: Vec<Relation>,
    inner: usize,
    /// Common table expressions drawn for the query being generated.
    common_tables: Vec<CommonTable>,
    given_names: usize,
    /// Rows of the FROM being generated, if nothing filtered them.
    product: usize,
    /// What may stand in the expression being generated.
    pub rules: Rules,
    /// The catalog's numbers of the operations that were drawn.
    pub drawn_operations: Vec<u32>,
}

/// What an expression may hold where it is going to stand.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Subqueries may appear.
    pub subqueries: bool,
    /// Columns are qualified by their table; not so in index keys and constraints.
    pub qualified: bool,
    /// Only columns whose equal values are identical, and no COLLATE: for what is deduplicated or
    /// grouped, where the engine may return any of several equal values (SOUNDNESS 0.8).
    pub identity: bool,
    /// Columns of enclosing queries may appear.
    pub outer: bool,
    /// Only functions that may stand in an index, a CHECK or a generated column.
    pub indexable: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Rules { subqueries: true, qualified: true, identity: false, outer: true, indexable: false }
    }
}

impl<'a> Generator<'a> {
    /// A generator with nothing in scope yet.
    pub fn new(rng: Rng, dialect: &'a Dialect, state: &'a State, policy: &'a Policy) -> Self {
        Generator {
            rng,
            dialect,
            state,
            policy,
            luck: None,
            scope: Vec::new(),
            inner: 0,
            common_tables: Vec::new(),
            given_names: 0,
            product: 1,
            rules: Rules::default(),
            drawn_operations: Vec::new(),
        }
    }

    /// Follows what happened to operations as another generator does.
    pub fn share_luck(&mut self, other: &Generator<'a>) {
        self.luck = other.luck;
    }

    /// Draws with what happened to operations in this database so far.
    pub fn with_luck(mut self, luck: &'a Luck) -> Self {
        self.luck = Some(luck);
        self
    }

    /// A name that nothing in the database and nothing drawn in this case has.
    pub(crate) fn fresh_name(&mut self, prefix: char) -> Name {
        self.given_names += 1;
        Name::from(format!("{prefix}{}", self.state.unused(prefix) + self.given_names - 1))
    }

    /// Draws under other rules, then returns to the current ones.
    pub fn under<T>(&mut self, rules: Rules, draw: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.rules, rules);
        let drawn = draw(self);
        self.rules = before;
        drawn
    }

    /// Draws with just this table in scope, its columns unqualified and no subqueries: for keys,
    /// constraints and the WHERE of a statement that changes the table.
    fn over_table<T>(&mut self, table: &Relation, rules: Rules, draw: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.scope.len();
        let inner = std::mem::replace(&mut self.inner, depth);
        self.scope.push(table.clone());
        let drawn = self.under(rules, draw);
        self.scope.truncate(depth);
        self.inner = inner;
        drawn
    }

    /// Draws with just these relations in scope: into a query that is already there.
    pub(crate) fn within<T>(&mut self, relations: Vec<Relation>, draw: impl FnOnce(&mut Self) -> T) -> T {
        let scope = std::mem::replace(&mut self.scope, relations);
        let inner = std::mem::replace(&mut self.inner, 0);
        let drawn = draw(self);
        self.scope = scope;
        self.inner = inner;
        drawn
    }

    /// Forgets the query being generated.
    pub fn start_over(&mut self) {
        self.scope.clear();
        self.common_tables.clear();
        self.product = 1;
    }

    /// The relations of the query being drawn.
    pub fn relations(&self) -> &[Relation] {
        &self.scope[self.inner..]
    }

    fn column_expr(&self, relation: &Relation, column: &Column) -> Expr {
        if self.rules.qualified {
            Expr::column(relation.alias.clone(), column.name.clone())
        } else {
            Expr::bare_column(column.name.clone())
        }
    }
}

/// An expression with what is known of its values.
pub(crate) struct Drawn {
    pub expr: Expr,
    pub kind: Kind,
    /// If it is a column: its relation in scope and its place there.
    pub column: Option<(usize, usize)>,
}
