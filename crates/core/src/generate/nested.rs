//! What stands inside something else: joins as operands of joins, lists of rows in FROM, and subqueries of every shape.

use std::sync::Arc;

use super::{Drawn, Generator, Rules, choices};
use crate::dialect::Feature;
use crate::sql::*;
use crate::state::Relation;

choices! {
    odds {
        /// The right operand of a join is a join.
        NESTED_JOIN = "query.join.nested": 12,
        VALUES = "query.values": 3,
        NULL_IN_VALUES = "query.values.null": 15,
        SUBQUERY_JOIN = "query.subquery.join": 12,
        SUBQUERY_ALL = "query.subquery.set.all": 50,
        SUBQUERY_DESC = "query.subquery.limit.desc": 40,
        SUBQUERY_OFFSET = "query.subquery.limit.offset": 20,
        SUBQUERY_HAVING = "query.subquery.group.having": 50,
    }
    choose {
        VALUES_KIND: Kind = "query.values.kind" { Int: 3, Text: 2, Real: 1 },
        SUBQUERY_SET: SetOp = "query.subquery.set.op" { Union: 2, Intersect: 1, Except: 1 },
    }
    choose enum {
        SHAPE: Shape = "query.subquery.shape" { Plain: 80, Distinct: 5, Grouped: 5, Limited: 5, Set: 5 },
    }
}

impl Generator<'_> {
    /// Two relations that are joined, as the right operand of a join: their condition knows nothing of what stands
    /// before them.
    pub(super) fn nested_join(&mut self) -> Option<TableRef> {
        let fits = self.dialect.can(Feature::NestedJoins) && self.product <= self.policy.max_product;
        if !fits || !self.odds(&NESTED_JOIN) {
            return None;
        }
        let outer = std::mem::replace(&mut self.inner, self.scope.len());
        let rules = Rules { subqueries: false, outer: false, ..self.rules };
        let joined = self.under(rules, |g| {
            let left = g.relation();
            g.joined(left)
        });
        self.inner = outer;
        Some(joined)
    }

    /// Rows that are written out, as a relation.
    pub(super) fn values(&mut self) -> Option<TableRef> {
        if !self.dialect.can(Feature::ValuesInFrom) || !self.odds(&VALUES) {
            return None;
        }
        let width = self.rng.between(1, 2);
        let kinds: Vec<Kind> = (0..width).map(|_| self.choose(&VALUES_KIND)).collect();
        let count = self.rng.between(1, 3);
        let mut rows = Vec::with_capacity(count);
        for at in 0..count {
            let mut row = Vec::with_capacity(width);
            for kind in &kinds {
                // The first row tells what the others are.
                let null = at > 0 && self.odds(&NULL_IN_VALUES);
                let value = if null { Value::Null } else { self.some_value(*kind) };
                row.push(Expr::Literal(value));
            }
            rows.push(row);
        }
        let named = self.dialect.can(Feature::DerivedColumns);
        let columns =
            if named { (0..width).map(|at| Name::from(format!("c{at}"))).collect() } else { Vec::new() };
        let query = Box::new(Body::Values(rows).into());
        let alias = self.fresh_name('d');
        let table = TableRef::Derived { query, alias, columns, lateral: false };
        let mut relations = Vec::new();
        self.state.relations_of(&table, None, self.dialect, &mut relations);
        self.scope.extend(relations.into_iter().map(|(alias, columns)| Relation { alias, columns }));
        self.product = self.product.saturating_mul(count);
        Some(table)
    }

    /// A subquery of one column, which may look at the rows around it: plain, or of another shape where equal values of
    /// the column are identical.
    pub(super) fn column_query(&mut self, kind: Kind, depth: usize) -> Query {
        let dialect = self.dialect;
        let applies = |shape| match shape {
            // Where types are dynamic, what a column of a compound compares as is not defined.
            Shape::Set => !dialect.can(Feature::DynamicTyping) && kind != Kind::Any,
            Shape::Limited => dialect.can(Feature::LimitInSubquery),
            _ => true,
        };
        let shape = self.choose_or(&SHAPE, Shape::Plain, applies);
        let mut identical = None;
        let query = self.subquery(depth, |g, depth| {
            if shape != Shape::Plain {
                identical = g.under(Rules { identity: true, ..g.rules }, |g| g.own_column(kind));
            }
            SelectItem::from(match (&identical, g.column(kind)) {
                (Some(Drawn { expr, .. }), _) => expr.clone(),
                (None, Some(column)) => column.expr,
                (None, None) => g.value_expr(kind, depth),
            })
        });
        match identical {
            Some(item) => self.shaped(query, item, shape, depth),
            None => query,
        }
    }

    fn shaped(&mut self, mut query: Query, item: Drawn, shape: Shape, depth: usize) -> Query {
        match shape {
            Shape::Plain => {}
            Shape::Distinct => {
                query.as_select_mut().into_iter().for_each(|select| select.distinct = true);
            }
            Shape::Grouped => {
                let most = Expr::int(self.rng.below(3) as i64);
                let having = self.odds(&SUBQUERY_HAVING);
                if let Some(select) = query.as_select_mut() {
                    select.group_by.push(item.expr);
                    select.having = having.then(|| Expr::binary(BinaryOp::Gt, Expr::count_rows(), most));
                }
            }
            Shape::Limited => {
                let desc = self.odds(&SUBQUERY_DESC);
                query.order_by = vec![OrderItem { expr: item.expr, desc, nulls: None }];
                query.limit = Some(Expr::int(self.rng.between(1, 3) as i64));
                query.offset = self.odds(&SUBQUERY_OFFSET).then(|| Expr::int(1));
            }
            Shape::Set => return self.set_with(query, item.kind, depth),
        }
        query
    }

    /// A subquery and another one under a set operator.
    fn set_with(&mut self, query: Query, kind: Kind, depth: usize) -> Query {
        let dialect = self.dialect;
        let all = self.odds(&SUBQUERY_ALL);
        let op = self.choose_or(&SUBQUERY_SET, SetOp::Union, |op| match (op, all) {
            (SetOp::Union, _) => true,
            (SetOp::Intersect, false) => dialect.can(Feature::Intersect),
            (SetOp::Except, false) => dialect.can(Feature::Except),
            (SetOp::Intersect, true) => dialect.can(Feature::IntersectAll),
            (SetOp::Except, true) => dialect.can(Feature::ExceptAll),
        });
        let mut fits = false;
        let other = self.subquery(depth, |g, _| {
            let column = g.under(Rules { identity: true, ..g.rules }, |g| g.own_column(kind));
            let column = column.filter(|column| column.kind == kind);
            fits = column.is_some();
            SelectItem::from(column.map_or_else(Expr::null, |column| column.expr))
        });
        match fits {
            true => Query::compound(op, all, query.body, other.body),
            false => query,
        }
    }

    /// What a subquery reads: one table, sometimes joined to another.
    pub(super) fn subquery_from(&mut self) -> TableRef {
        // Nested FROMs cost the engine most and find least.
        let product = std::mem::replace(&mut self.product, 1);
        let table = self.affordable_table();
        let taken = self.scope.iter().any(|relation| relation.alias == table.name);
        let alias = taken.then(|| self.fresh_name('a'));
        self.scope.push(Relation {
            alias: alias.clone().unwrap_or_else(|| table.name.clone()),
            columns: Arc::clone(&table.columns),
        });
        let mut from = TableRef::Table { name: table.name.clone(), alias, hint: None };
        if self.odds(&SUBQUERY_JOIN) {
            let rules = Rules { subqueries: false, outer: false, ..self.rules };
            from = self.under(rules, |g| g.joined(from));
        }
        self.product = product;
        from
    }
}
