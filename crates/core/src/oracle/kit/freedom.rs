//! Where an engine may return another result if it reads the same rows in another order: which of several equal
//! values it returns (SOUNDNESS 0.8), and how a sum of floats is rounded (SOUNDNESS 0.7).
//!
//! The generator avoids such queries; a reduced test case may contain one. Like the gate, this only looks at
//! differences.

use std::sync::Arc;

use crate::dialect::{Dialect, Feature};
use crate::sql::inspect::is_ordered;
use crate::sql::visit::{Visitor, any_expr, walk_expr, walk_query, walk_select};
use crate::sql::*;
use crate::state::{Column, State};

const REPRESENTATIVES: &str = "equal values that are not identical";
const ROUNDED_SUM: &str = "sum whose rounding depends on row order";
const TIES: &str = "order-dependent aggregate";

/// Why the answer to a query may differ with the order in which rows are read, if so.
pub fn left_open(query: &Query, state: &State, dialect: &Dialect) -> Option<&'static str> {
    let mut freedom = Freedom::new(state, dialect);
    // An aggregate that the query returns may be rounded; one that decides about rows may not.
    let returned = query.as_select().map(|select| select.items.as_slice()).unwrap_or_default();
    let returns = |aggregate: &Expr| {
        returned.iter().any(|item| matches!(item, SelectItem::Expr { expr, .. } if holds(expr, aggregate)))
    };
    crate::sql::visit::each_expr(query, |expr| {
        if let Expr::Aggregate(aggregate) = expr
            && is_variance(&aggregate.name)
            && !returns(expr)
        {
            freedom.refuse(ROUNDED_SUM);
        }
    });
    freedom.query(query);
    freedom.reasons.first().copied()
}

/// Why the aggregates with an ORDER BY in a query, if any, may put equal values in another order.
pub fn ties(query: &Query, state: &State, dialect: &Dialect) -> Option<&'static str> {
    let mut freedom = Freedom::new(state, dialect);
    freedom.query(query);
    freedom.reasons.into_iter().find(|reason| *reason == TIES)
}

/// The same for everything below the query: its derived tables, common table expressions and subqueries. The oracle
/// knows what the query itself deduplicates or sums up.
pub fn left_open_below(query: &Query, state: &State, dialect: &Dialect) -> Option<&'static str> {
    struct Below<'a> {
        state: &'a State,
        dialect: &'a Dialect,
        with: Vec<With>,
        depth: usize,
        reason: Option<&'static str>,
    }
    impl Visitor for Below<'_> {
        fn query(&mut self, query: &Query) {
            if self.depth > 0 && self.reason.is_none() {
                // What is named above is known below.
                let mut query = query.clone();
                let outer = self.with.iter().flat_map(|with| with.tables.iter().cloned());
                let own = query.with.take();
                let recursive = own.iter().chain(&self.with).any(|with| with.recursive);
                let tables = own.into_iter().flat_map(|with| with.tables).chain(outer).collect();
                query.with = Some(With { recursive, tables });
                self.reason = left_open(&query, self.state, self.dialect);
                return;
            }
            self.with.extend(query.with.clone());
            self.depth += 1;
            walk_query(self, query);
            self.depth -= 1;
        }
    }
    let mut below = Below { state, dialect, with: Vec::new(), depth: 0, reason: None };
    below.query(query);
    below.reason
}

fn holds(expr: &Expr, aggregate: &Expr) -> bool {
    any_expr(expr, |inner| inner == aggregate)
}

fn is_variance(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("var") || name.starts_with("std")
}

struct Freedom<'a> {
    dialect: &'a Dialect,
    state: &'a State,
    /// The relations in scope, innermost last.
    scope: Vec<(Name, Arc<Vec<Column>>)>,
    with: Vec<With>,
    /// The rows of this SELECT are merged with those of another by a set operator.
    merged: bool,
    reasons: Vec<&'static str>,
}

impl<'a> Freedom<'a> {
    fn new(state: &'a State, dialect: &'a Dialect) -> Self {
        let (scope, with, reasons) = (Vec::new(), Vec::new(), Vec::new());
        Freedom { dialect, state, scope, with, merged: false, reasons }
    }

    fn refuse(&mut self, reason: &'static str) {
        self.reasons.push(reason);
    }

    fn column(&self, reference: &ColumnRef) -> Option<&Column> {
        let owner = |alias: &Name| reference.table.as_ref().is_none_or(|table| table == alias);
        let mut relations = self.scope.iter().rev().filter(|(alias, _)| owner(alias));
        relations.find_map(|(_, columns)| columns.iter().find(|column| column.name == reference.column))
    }

    /// It holds a column, or makes a value, whose equals need not be identical. A whole number has one form, whatever it
    /// is computed of, and so has a constant.
    fn folds(&self, expr: &Expr) -> bool {
        let is_constant = !any_expr(expr, |inner| matches!(inner, Expr::Column(_)));
        !is_constant
            && !self.is_whole(expr)
            && any_expr(expr, |inner| match inner {
                Expr::Column(reference) => self.column(reference).is_some_and(|column| !column.identity),
                // `CAST('0' AS CHAR(5))` and '0' are equal, and not the same.
                Expr::Cast { ty, .. } => !self.dialect.is_identical(ty),
                Expr::Collate { .. } => true,
                _ => false,
            })
    }

    /// Summed up in any order it is the same number.
    fn is_exact(&self, expr: &Expr) -> bool {
        self.is_made_of(expr, &|column| {
            column.is_none_or(|column| self.holds_whole(column) || column.ty.kind == Kind::Decimal)
        })
    }

    /// Its values are whole numbers or NULL.
    fn is_whole(&self, expr: &Expr) -> bool {
        self.is_made_of(expr, &|column| column.is_some_and(|column| self.holds_whole(column)))
    }

    fn holds_whole(&self, column: &Column) -> bool {
        matches!(column.ty.kind, Kind::Int | Kind::Bool)
            && (!self.dialect.can(Feature::DynamicTyping) || column.whole.is_some())
    }

    /// A number that is computed without rounding of columns that are as wanted.
    fn is_made_of(&self, expr: &Expr, wanted: &dyn Fn(Option<&Column>) -> bool) -> bool {
        let is = |expr: &Expr| self.is_made_of(expr, wanted);
        match expr {
            Expr::Literal(value) | Expr::Bound(value) => {
                matches!(value, Value::Int(_) | Value::Bool(_) | Value::Null)
            }
            Expr::Column(reference) => wanted(self.column(reference)),
            Expr::Cast { ty, .. } => matches!(ty.kind, Kind::Int | Kind::Bool),
            Expr::Unary { expr, .. } => is(expr),
            // A remainder is a whole number, even if its operands are not known to be.
            Expr::Binary { op, left, right } => {
                matches!(op, BinaryOp::Mod | BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
                    && is(left)
                    && is(right)
            }
            Expr::Case { branches, otherwise, .. } => {
                branches.iter().all(|branch| is(&branch.then)) && otherwise.iter().all(|value| is(value))
            }
            Expr::Aggregate(aggregate) => aggregate.name.eq_ignore_ascii_case("COUNT"),
            Expr::Function { name, .. } => ["length", "instr", "ascii", "unicode", "sign"]
                .iter()
                .any(|whole| name.eq_ignore_ascii_case(whole)),
            other => matches!(other, Expr::Is { .. } | Expr::InList { .. } | Expr::Between { .. }),
        }
    }
}

impl Freedom<'_> {
    fn aggregate(&mut self, aggregate: &Aggregate) {
        let is = |names: &[&str]| names.iter().any(|name| aggregate.name.eq_ignore_ascii_case(name));
        // What an aggregate with an ORDER BY makes of ties is the same if they are identical.
        let folds = || aggregate.args.iter().any(|arg| self.folds(arg));
        if is_ordered(aggregate) {
            if folds() {
                self.refuse(TIES);
            }
        } else if is(&["MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE", "LAG", "LEAD"]) {
            if folds() {
                self.refuse(REPRESENTATIVES);
            }
        } else if !is(&["COUNT"]) && !aggregate.args.iter().all(|arg| self.is_exact(arg)) {
            self.refuse(ROUNDED_SUM);
        }
    }
}

impl Visitor for Freedom<'_> {
    fn query(&mut self, query: &Query) {
        let (scope, merged) = (self.scope.len(), self.merged);
        self.merged = false;
        self.with.extend(query.with.clone());
        // Ties at the cut.
        if query.limit.is_some()
            && let Some(select) = query.as_select()
        {
            self.merged = true;
            self.select(select);
            self.merged = false;
        }
        walk_query(self, query);
        if query.with.is_some() {
            self.with.pop();
        }
        self.scope.truncate(scope);
        self.merged = merged;
    }

    fn body(&mut self, body: &Body) {
        let merged = self.merged;
        if let Body::Compound { op, all, .. } = body {
            self.merged |= !all || *op != SetOp::Union;
        }
        crate::sql::visit::walk_body(self, body);
        self.merged = merged;
    }

    fn select(&mut self, select: &Select) {
        let scope = self.scope.len();
        let merged = std::mem::replace(&mut self.merged, false);
        let with = self.with.last().cloned();
        for table in &select.from {
            self.state.relations_of(table, with.as_ref(), self.dialect, &mut self.scope);
        }
        let folds = |item: &SelectItem| match item {
            SelectItem::Expr { expr, .. } => self.folds(expr),
            _ => self.scope[scope..].iter().any(|(_, columns)| columns.iter().any(|column| !column.identity)),
        };
        let one_of_several = select.distinct || merged;
        if (one_of_several && select.items.iter().any(folds))
            || select.group_by.iter().any(|key| self.folds(key))
        {
            self.refuse(REPRESENTATIVES);
        }
        walk_select(self, select);
        self.scope.truncate(scope);
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            Expr::Window(window) => self.aggregate(&window.function),
            _ => {}
        }
        walk_expr(self, expr);
    }
}
