//! Questions that the shape of a tree answers.

use super::visit::{Visitor, any_expr, walk_expr, walk_query, walk_select};
use super::*;

/// Whether one of several equal values may stand for all of them; groups may be the table's own.
pub fn deduplicates(query: &Query, groups_belong: bool) -> bool {
    struct Found {
        groups_belong: bool,
        found: bool,
    }
    impl Visitor for Found {
        fn query(&mut self, query: &Query) {
            self.found |= merges(&query.body);
            walk_query(self, query);
        }
        fn select(&mut self, select: &Select) {
            self.found |= select.distinct || (!self.groups_belong && !select.group_by.is_empty());
            walk_select(self, select);
        }
        fn expr(&mut self, expr: &Expr) {
            if let Expr::Aggregate(aggregate) = expr {
                self.found |= aggregate.distinct || !aggregate.name.eq_ignore_ascii_case("COUNT");
            }
            walk_expr(self, expr);
        }
    }
    fn merges(body: &Body) -> bool {
        match body {
            Body::Compound { op, all, left, right } => {
                !all || *op != SetOp::Union || merges(left) || merges(right)
            }
            _ => false,
        }
    }
    let mut found = Found { groups_belong, found: false };
    found.query(query);
    found.found
}

/// Every column that a query returns is also a key of its ORDER BY. Under DISTINCT there is no other key: rows that are
/// returned as one may differ in it.
pub fn orders_every_column(query: &Query) -> bool {
    let is_key = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => query.order_by.iter().any(|key| key.expr == *expr),
        _ => false,
    };
    let is_returned = |select: &Select, key: &OrderItem| {
        select.items.iter().any(|item| matches!(item, SelectItem::Expr { expr, .. } if *expr == key.expr))
    };
    query.as_select().is_some_and(|select| {
        let no_other_key = || query.order_by.iter().all(|key| is_returned(select, key));
        select.items.iter().all(is_key) && (!select.distinct || no_other_key())
    })
}

/// A key that may be another name for an item, or be made of one.
pub fn names_alias(key: &Expr, items: &[SelectItem]) -> bool {
    let is_alias = |name: &Name| {
        items.iter().any(|item| match item {
            SelectItem::Expr { alias: Some(alias), .. } => alias.eq_ignore_ascii_case(name),
            _ => false,
        })
    };
    any_expr(
        key,
        |inner| matches!(inner, Expr::Column(ColumnRef { table: None, column }) if is_alias(column)),
    )
}

/// An aggregate of this query, not of a subquery.
pub fn has_aggregate(expr: &Expr) -> bool {
    any_of_this_query(expr, &|expr| matches!(expr, Expr::Aggregate(_)))
}

/// An aggregate or a window of this query: its value changes with the rows beside its own, so it is not to be
/// split or filtered with them.
pub fn looks_beyond_its_row(expr: &Expr) -> bool {
    any_of_this_query(expr, &|expr| matches!(expr, Expr::Aggregate(_) | Expr::Window(_)))
}

fn any_of_this_query(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    match expr {
        expr if test(expr) => true,
        Expr::Subquery(_) | Expr::Exists { .. } => false,
        Expr::InQuery { expr, .. } | Expr::Quantified { left: expr, .. } => any_of_this_query(expr, test),
        other => {
            let mut found = false;
            each_child(other, |child| found |= any_of_this_query(child, test));
            found
        }
    }
}

/// Whether an aggregate's rows are ordered by all that it reads: rows that tie are then alike to it.
pub fn is_ordered(aggregate: &Aggregate) -> bool {
    let is_key =
        |arg: &Expr| matches!(arg, Expr::Literal(_)) || aggregate.order_by.iter().any(|key| key.expr == *arg);
    !aggregate.order_by.is_empty() && aggregate.args.iter().all(is_key)
}

/// A column outside every aggregate that is not a grouping key. `named` are the relations of the query.
pub fn has_bare_column(expr: &Expr, keys: &[Expr], named: &[Name]) -> bool {
    if keys.contains(expr) {
        return false;
    }
    match expr {
        Expr::Column(_) => true,
        Expr::Aggregate(_) => false,
        // A subquery may take columns of this query.
        Expr::Subquery(_) | Expr::Exists { .. } => takes_bare_column(expr, keys, named),
        Expr::InQuery { expr: left, .. } | Expr::Quantified { left, .. } => {
            has_bare_column(left, keys, named) || takes_bare_column(expr, keys, named)
        }
        other => {
            let mut found = false;
            each_child(other, |child| found |= has_bare_column(child, keys, named));
            found
        }
    }
}

/// Whether a subquery uses a column of one of these relations, or an unqualified one, that is not a grouping key.
fn takes_bare_column(expr: &Expr, keys: &[Expr], named: &[Name]) -> bool {
    any_expr(expr, |inner| match inner {
        Expr::Column(reference) => {
            reference.table.as_ref().is_none_or(|table| named.contains(table)) && !keys.contains(inner)
        }
        _ => false,
    })
}

fn each_child(expr: &Expr, f: impl FnMut(&Expr)) {
    struct Children<F>(F);
    impl<F: FnMut(&Expr)> Visitor for Children<F> {
        fn expr(&mut self, expr: &Expr) {
            (self.0)(expr);
        }
        fn query(&mut self, _: &Query) {}
    }
    walk_expr(&mut Children(f), expr);
}
