//! Rewrites expressions where they stand: with the relations in scope there, and with what becomes of the value.

use std::sync::Arc;

use crate::dialect::Dialect;
use crate::sql::visit::{Editor, edit_expr, edit_query};
use crate::sql::*;
use crate::state::{Column, Relation, State, kind_within};

/// What becomes of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Only whether it is TRUE, FALSE or NULL matters.
    Truth,
    /// Only its value matters: it is returned, computed with, or tested for NULL.
    Value,
    /// It may be compared with other values, so its type, affinity and collation matter too.
    Comparison,
    /// It is a key that other clauses name, or a position: it must stay as it is written.
    Key,
}

/// Where an expression stands.
pub struct Place<'a> {
    /// What is known of the database.
    pub state: &'a State,
    /// The dialect.
    pub dialect: &'a Dialect,
    /// The relations in scope, those of enclosing queries first.
    pub relations: &'a [Relation],
    /// Where those of the innermost query begin.
    pub own: usize,
    /// What becomes of it.
    pub used: Use,
    /// The innermost query is grouped and this is outside its aggregates: only its keys can be named.
    pub grouped: bool,
    /// This is inside an aggregate of the innermost query: with a column of another query it may become that one's.
    pub aggregated: bool,
    /// How many SELECTs enclose the one it stands in.
    pub depth: usize,
}

impl Place<'_> {
    /// The kind of an expression's values, `Any` where it is not known.
    pub fn kind(&self, expr: &Expr) -> Kind {
        // The innermost relations first: a name means the nearest.
        let nearest: Vec<Relation> = self.relations.iter().rev().cloned().collect();
        kind_within(expr, &nearest, self.dialect)
    }

    /// Whether a reference means a column of the innermost query.
    pub fn is_own(&self, reference: &ColumnRef) -> bool {
        let own = &self.relations[self.own.min(self.relations.len())..];
        own.iter().any(|relation| reference.table.as_ref() == Some(&relation.alias))
    }

    /// The column that a reference means.
    pub fn column(&self, reference: &ColumnRef) -> Option<&Column> {
        let is_owner =
            |relation: &&Relation| reference.table.as_ref().is_none_or(|table| *table == relation.alias);
        let named = |column: &&Column| column.name.eq_ignore_ascii_case(&reference.column);
        self.relations.iter().rev().filter(is_owner).find_map(|relation| relation.columns.iter().find(named))
    }
}

/// COLLATE, as a node or as an operation of the catalog.
pub fn is_collated(expr: &Expr) -> bool {
    match expr {
        Expr::Collate { .. } => true,
        Expr::Operation { form, .. } => form.contains(" COLLATE "),
        _ => false,
    }
}

/// The type that an expression casts to, as a node or as an operation of the catalog.
pub fn cast_type(expr: &Expr) -> Option<DataType> {
    match expr {
        Expr::Cast { ty, .. } => Some(ty.clone()),
        Expr::Operation { form, .. } => {
            let ty = form.strip_prefix("CAST({} AS ")?.strip_suffix(')')?;
            Some(DataType::new(ty, Kind::Any))
        }
        _ => None,
    }
}

/// The operand whose collation an expression has where types are dynamic: CAST and unary plus pass it on.
pub fn collated_operand(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Cast { expr, .. } | Expr::Unary { op: UnaryOp::Plus, expr } => Some(expr),
        Expr::Operation { args, .. } if cast_type(expr).is_some() => args.first(),
        _ => None,
    }
}

/// Rewrites expressions from the inside out: operands before what holds them. `rewrite` gives the substitute, if any.
pub fn rewrite<'a>(
    query: &Query,
    state: &'a State,
    dialect: &'a Dialect,
    rewrite: &'a mut dyn FnMut(&Expr, &Place) -> Option<Expr>,
) -> Query {
    let mut query = query.clone();
    let mut walk = Walk {
        state,
        dialect,
        rewrite,
        relations: Vec::new(),
        own: 0,
        used: Use::Value,
        grouped: false,
        aggregated: false,
        depth: 0,
        with: With { recursive: false, tables: Vec::new() },
        merged: false,
    };
    walk.query(&mut query);
    query
}

struct Walk<'a> {
    state: &'a State,
    dialect: &'a Dialect,
    rewrite: &'a mut dyn FnMut(&Expr, &Place) -> Option<Expr>,
    relations: Vec<Relation>,
    own: usize,
    /// What becomes of the expression, or of the items of the SELECT, that comes next.
    used: Use,
    grouped: bool,
    aggregated: bool,
    depth: usize,
    /// The common tables that can be named, the nearest first.
    with: With,
    /// The SELECT that comes next is an operand of a set operator.
    merged: bool,
}

impl Walk<'_> {
    fn used_as(&mut self, used: Use, expr: &mut Expr) {
        let before = std::mem::replace(&mut self.used, used);
        self.expr(expr);
        self.used = before;
    }

    /// A query whose items are used like this.
    fn query_as(&mut self, used: Use, query: &mut Query) {
        let before = std::mem::replace(&mut self.used, used);
        let merged = std::mem::replace(&mut self.merged, false);
        self.query(query);
        self.used = before;
        self.merged = merged;
    }

    fn ordered_by(&mut self, items: &mut [OrderItem]) {
        items.iter_mut().for_each(|item| self.used_as(Use::Key, &mut item.expr));
    }

    fn arguments(&mut self, aggregate: &mut Aggregate) {
        let is = |names: &[&str]| names.iter().any(|name| aggregate.name.eq_ignore_ascii_case(name));
        let adds_up = is(&["COUNT", "SUM", "AVG", "TOTAL"]) && !aggregate.distinct;
        let used = if adds_up { Use::Value } else { Use::Comparison };
        let grouped = std::mem::replace(&mut self.grouped, false);
        let aggregated = std::mem::replace(&mut self.aggregated, true);
        aggregate.args.iter_mut().for_each(|arg| self.used_as(used, arg));
        self.ordered_by(&mut aggregate.order_by);
        if let Some(filter) = &mut aggregate.filter {
            self.used_as(Use::Truth, filter);
        }
        self.grouped = grouped;
        self.aggregated = aggregated;
    }

    /// What becomes of the operands of an operator, where they are all alike.
    fn used_by(&self, expr: &Expr) -> Use {
        match expr {
            Expr::Unary { op: UnaryOp::Not, .. } => Use::Truth,
            Expr::Binary { op: BinaryOp::And | BinaryOp::Or, .. } => Use::Truth,
            Expr::Is { test: Truth::True | Truth::False, .. } => Use::Truth,
            Expr::Is { test: Truth::Null, .. } => Use::Value,
            Expr::Unary { op: UnaryOp::Minus | UnaryOp::BitNot, .. } => Use::Value,
            Expr::Binary { op, .. } => match op {
                BinaryOp::JsonGet | BinaryOp::JsonGetText => Use::Comparison,
                op if op.is_comparison() => Use::Comparison,
                _ => Use::Value,
            },
            // A plus and a CAST pass a collation on.
            Expr::Unary { op: UnaryOp::Plus, .. } | Expr::Cast { .. } if self.used == Use::Value => {
                Use::Value
            }
            _ => Use::Comparison,
        }
    }

    fn operands(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Case { operand, branches, otherwise } => {
                let when = if operand.is_some() { Use::Comparison } else { Use::Truth };
                let then = if self.used == Use::Truth { Use::Comparison } else { self.used };
                if let Some(operand) = operand {
                    self.used_as(Use::Comparison, operand);
                }
                for branch in branches {
                    self.used_as(when, &mut branch.when);
                    self.used_as(then, &mut branch.then);
                }
                if let Some(otherwise) = otherwise {
                    self.used_as(then, otherwise);
                }
            }
            Expr::Aggregate(aggregate) => self.arguments(aggregate),
            Expr::Window(window) => {
                self.arguments(&mut window.function);
                if let Over::Spec(spec) = &mut window.over {
                    spec.partition_by.iter_mut().for_each(|key| self.used_as(Use::Key, key));
                    self.ordered_by(&mut spec.order_by);
                }
            }
            Expr::Exists { query, .. } => self.query_as(Use::Value, query),
            Expr::Subquery(query) => self.query_as(Use::Comparison, query),
            Expr::InQuery { expr, query, .. } | Expr::Quantified { left: expr, query, .. } => {
                self.used_as(Use::Comparison, expr);
                self.query_as(Use::Comparison, query);
            }
            other => {
                let used = self.used_by(other);
                let before = std::mem::replace(&mut self.used, used);
                edit_expr(self, other);
                self.used = before;
            }
        }
    }
}

impl Editor for Walk<'_> {
    fn query(&mut self, query: &mut Query) {
        let (recursive, tables) = (self.with.recursive, self.with.tables.len());
        if let Some(with) = &mut query.with {
            self.with.recursive |= with.recursive;
            // Of a table that reads itself, one step at a time: nothing is rewritten in it.
            let recursive = with.recursive;
            for table in &mut with.tables {
                if !recursive {
                    let relations = std::mem::take(&mut self.relations);
                    let own = std::mem::replace(&mut self.own, 0);
                    self.query_as(Use::Comparison, &mut table.query);
                    self.relations = relations;
                    self.own = own;
                }
                self.with.tables.insert(0, table.clone());
            }
        }
        self.merged |= matches!(query.body, Body::Compound { .. });
        // Its common tables were seen to above, and its keys may be names of its items.
        let (with, order_by) = (query.with.take(), std::mem::take(&mut query.order_by));
        let (limit, offset) = (query.limit.take(), query.offset.take());
        edit_query(self, query);
        (query.with, query.order_by) = (with, order_by);
        (query.limit, query.offset) = (limit, offset);
        // Its own were put before those around it.
        self.with.tables.drain(..self.with.tables.len() - tables);
        self.with.recursive = recursive;
    }

    fn select(&mut self, select: &mut Select) {
        let used = match self.used {
            _ if select.distinct || self.merged => Use::Comparison,
            used => used,
        };
        let before = (self.relations.len(), self.own, self.used, self.grouped, self.merged);
        let aggregated = std::mem::replace(&mut self.aggregated, false);
        self.own = self.relations.len();
        self.merged = false;
        self.grouped = false;
        self.depth += 1;
        // Every relation can be named in every condition; a derived table sees only those around the query.
        let mut scope = Vec::new();
        for table in &select.from {
            self.state.relations_of(table, Some(&self.with), self.dialect, &mut scope);
        }
        select.from.iter_mut().for_each(|table| self.derived(table));
        let named = |(alias, columns): (Name, Arc<Vec<Column>>)| Relation { alias, columns };
        self.relations.extend(scope.into_iter().map(named));
        select.from.iter_mut().for_each(|table| self.conditions(table));
        if let Some(filter) = &mut select.filter {
            self.used_as(Use::Truth, filter);
        }
        let is_aggregate = |item: &SelectItem| match item {
            SelectItem::Expr { expr, .. } => inspect::has_aggregate(expr),
            _ => false,
        };
        self.grouped =
            !select.group_by.is_empty() || select.having.is_some() || select.items.iter().any(is_aggregate);
        for item in &mut select.items {
            if let SelectItem::Expr { expr, .. } = item {
                // A key is the same expression in the list and in GROUP BY.
                let used = if select.group_by.contains(expr) { Use::Key } else { used };
                self.used_as(used, expr);
            }
        }
        if let Some(having) = &mut select.having {
            self.used_as(Use::Truth, having);
        }
        let length;
        (length, self.own, self.used, self.grouped, self.merged) = before;
        self.aggregated = aggregated;
        self.relations.truncate(length);
        self.depth -= 1;
    }

    fn expr(&mut self, expr: &mut Expr) {
        if self.used == Use::Key {
            return;
        }
        self.operands(expr);
        let place = Place {
            state: self.state,
            dialect: self.dialect,
            relations: &self.relations,
            own: self.own,
            used: self.used,
            grouped: self.grouped,
            aggregated: self.aggregated,
            depth: self.depth.saturating_sub(1),
        };
        if let Some(substitute) = (self.rewrite)(expr, &place) {
            *expr = substitute;
        }
    }
}

impl Walk<'_> {
    fn derived(&mut self, table: &mut TableRef) {
        match table {
            TableRef::Derived { query, lateral, .. } => {
                let own = (!*lateral).then(|| std::mem::take(&mut self.relations));
                let at = std::mem::replace(&mut self.own, 0);
                self.query_as(Use::Comparison, query);
                self.own = at;
                if let Some(relations) = own {
                    self.relations = relations;
                }
            }
            TableRef::Join { left, right, .. } => {
                self.derived(left);
                self.derived(right);
            }
            _ => {}
        }
    }

    fn conditions(&mut self, table: &mut TableRef) {
        if let TableRef::Join { left, right, on, .. } = table {
            self.conditions(left);
            self.conditions(right);
            if let JoinOn::On(condition) = on {
                // Only what is joined here can be named.
                let mut names = Vec::new();
                for side in [left, right] {
                    self.state.relations_of(side, Some(&self.with), self.dialect, &mut names);
                }
                let outer = self.own;
                let is_here = |at: usize, relation: &Relation| {
                    at < outer || names.iter().any(|(name, _)| *name == relation.alias)
                };
                let here = self.relations.iter().enumerate().filter(|(at, relation)| is_here(*at, relation));
                let here = here.map(|(_, relation)| relation.clone()).collect();
                let all = std::mem::replace(&mut self.relations, here);
                self.used_as(Use::Truth, condition);
                self.relations = all;
            }
        }
    }
}
