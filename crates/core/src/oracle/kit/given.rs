//! Takes apart a query that a user wrote: its SELECTs, and predicates for the oracles.

use crate::dialect::{Dialect, Feature};
use crate::oracle::kit::gate::looks_beyond_its_row;
use crate::sql::*;
use crate::state::{Column, State};

/// A query over a state that is known as far as its statements were understood.
pub struct Given<'a> {
    /// The query.
    pub query: &'a Query,
    /// What is known of its database.
    pub state: &'a State,
    /// The dialect it is for.
    pub dialect: &'a Dialect,
}

/// Of one SELECT no more predicates are tried: each costs several queries.
const PREDICATES: usize = 12;
/// Values of a column that predicates are made of where the query has none.
const VALUES: usize = 3;

impl Given<'_> {
    /// The SELECTs that can stand alone, without order and limit: the query itself, the operands of its set
    /// operators, its derived tables.
    pub fn selects(&self) -> Vec<Query> {
        let mut found = Vec::new();
        self.selects_in(self.query, self.query.with.as_ref(), &mut found);
        found
    }

    fn selects_in(&self, query: &Query, with: Option<&With>, found: &mut Vec<Query>) {
        let with = query.with.as_ref().or(with);
        self.selects_of(&query.body, with, found);
    }

    fn selects_of(&self, body: &Body, with: Option<&With>, found: &mut Vec<Query>) {
        match body {
            Body::Select(select) => {
                let alone = Query { with: with.cloned(), ..Query::select((**select).clone()) };
                if !found.contains(&alone) {
                    found.push(alone);
                }
                select.from.iter().for_each(|table| self.selects_under(table, with, found));
            }
            Body::Compound { left, right, .. } => {
                self.selects_of(left, with, found);
                self.selects_of(right, with, found);
            }
            Body::Nested(query) => self.selects_in(query, with, found),
            Body::Values(_) => {}
        }
    }

    fn selects_under(&self, table: &TableRef, with: Option<&With>, found: &mut Vec<Query>) {
        match table {
            TableRef::Derived { query, lateral: false, .. } => self.selects_in(query, with, found),
            TableRef::Join { left, right, .. } => {
                self.selects_under(left, with, found);
                self.selects_under(right, with, found);
            }
            _ => {}
        }
    }

    /// Predicates over the relations of a SELECT: those it has, in WHERE, ON and among its items; where it has
    /// none, comparisons of its columns with values that are in them.
    pub fn predicates(&self, query: &Query) -> Vec<Expr> {
        let Some(select) = query.as_select() else { return Vec::new() };
        let mut found = Vec::new();
        let mut add = |expr: &Expr| {
            if !looks_beyond_its_row(expr) && !found.contains(expr) {
                found.push(expr.clone());
            }
        };
        if let Some(filter) = &select.filter {
            add(filter);
            parts(filter, &mut add);
        }
        for item in &select.items {
            if let SelectItem::Expr { expr, .. } = item
                && self.is_predicate(expr)
            {
                add(expr);
            }
        }
        select.from.iter().for_each(|table| inner_conditions(table, &mut add));
        if found.is_empty() {
            found = self.comparisons(query, select);
        }
        found.truncate(PREDICATES);
        found
    }

    /// Where any value is a truth value, whatever is computed is a predicate.
    fn is_predicate(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Binary { op: BinaryOp::And | BinaryOp::Or, .. } | Expr::Unary { op: UnaryOp::Not, .. } => {
                true
            }
            Expr::Binary { op, .. } if op.is_comparison() => true,
            Expr::Is { .. }
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::InQuery { .. }
            | Expr::Exists { .. }
            | Expr::Quantified { .. }
            | Expr::Match { .. } => true,
            Expr::Literal(_) | Expr::Column(_) => false,
            _ => self.dialect.can(Feature::LooseOperands),
        }
    }

    /// The columns that the FROM of a SELECT brings into scope, by the names of their relations.
    pub fn columns(&self, query: &Query, from: &[TableRef]) -> Vec<(Name, Column)> {
        let mut relations = Vec::new();
        for table in from {
            self.state.relations_of(table, query.with.as_ref(), self.dialect, &mut relations);
        }
        let of = |(name, columns): (Name, std::sync::Arc<Vec<Column>>)| {
            columns.iter().map(|column| (name.clone(), column.clone())).collect::<Vec<_>>()
        };
        relations.into_iter().flat_map(of).collect()
    }

    fn comparisons(&self, query: &Query, select: &Select) -> Vec<Expr> {
        let mut found = Vec::new();
        for (relation, column) in self.columns(query, &select.from) {
            let reference = || Expr::column(relation.clone(), column.name.clone());
            for value in column.pool.iter().filter(|value| !value.is_null()).take(VALUES) {
                found.push(Expr::binary(BinaryOp::Ge, reference(), Expr::Literal(value.clone())));
            }
            found.push(reference().is(Truth::Null));
        }
        found
    }
}

/// What a predicate is put together of by AND, OR and NOT.
fn parts(expr: &Expr, add: &mut impl FnMut(&Expr)) {
    match expr {
        Expr::Binary { op: BinaryOp::And | BinaryOp::Or, left, right } => {
            for part in [left, right] {
                add(part);
                parts(part, add);
            }
        }
        Expr::Unary { op: UnaryOp::Not, expr } => {
            add(expr);
            parts(expr, add);
        }
        _ => {}
    }
}

/// The conditions of inner joins that no outer join pads: they could as well stand in WHERE.
fn inner_conditions(table: &TableRef, add: &mut impl FnMut(&Expr)) {
    if let TableRef::Join { kind: JoinKind::Inner | JoinKind::Cross, left, right, on } = table {
        inner_conditions(left, add);
        inner_conditions(right, add);
        if let JoinOn::On(condition) = on {
            add(condition);
        }
    }
}

/// The same SELECT, asking for other things.
pub fn asking(query: &Query, edit: impl FnOnce(&mut Select)) -> Query {
    let mut query = query.clone();
    if let Some(select) = query.as_select_mut() {
        edit(select);
    }
    query
}

/// A SELECT of rows: nothing is grouped, deduplicated or aggregated.
pub fn selects_rows(select: &Select) -> bool {
    !select.distinct
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.items.iter().all(|item| match item {
            SelectItem::Expr { expr, .. } => !looks_beyond_its_row(expr),
            _ => true,
        })
}

/// Takes away what groups, deduplicates and orders: the rows of the FROM, with the WHERE.
pub fn plain(select: &mut Select, items: Vec<SelectItem>) {
    select.items = items;
    select.distinct = false;
    select.group_by.clear();
    select.grouping = Grouping::Plain;
    select.having = None;
    select.windows.clear();
}

/// Whether every item is an expression: of a wildcard it is not known what it stands for.
pub fn names_its_items(select: &Select) -> bool {
    select.items.iter().all(|item| matches!(item, SelectItem::Expr { .. }))
}
