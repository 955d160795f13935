//! Recursive common table expressions, with few iterations and few rows.

use std::sync::Arc;

use super::{Generator, choices};
use crate::dialect::Feature;
use crate::sql::*;
use crate::state::{Column, Relation};

choices! {
    odds {
        UNION_ALL = "recursion.union-all": 60,
        FROM_TABLE = "recursion.from-table": 80,
        FILTER = "recursion.filter": 40,
        /// From row to row of a table, rather than the same rows with another number.
        WALK = "recursion.walk": 40,
        LISTED_COLUMNS = "recursion.listed-columns": 40,
        STEP_FILTER = "recursion.step.filter": 50,
    }
}

impl Generator<'_> {
    /// A common table expression that reads itself, as a relation in scope: rows that are repeated with a number, a walk
    /// from row to row of one table, or only a number. The number ends it.
    pub(super) fn recursive(&mut self) -> TableRef {
        let name = self.fresh_name('d');
        let common = self.isolated(|g| g.recursion(name.clone()));
        let columns = Arc::new(self.state.columns_of_common(&common, self.dialect));
        self.common_tables.push(common);
        self.scope.push(Relation { alias: name.clone(), columns });
        TableRef::table(name)
    }

    fn recursion(&mut self, name: Name) -> CommonTable {
        let all = !self.dialect.can(Feature::RecursiveUnion) || self.odds(&UNION_ALL);
        let mut anchor = Select { items: vec![Expr::int(1).into()], ..Select::default() };
        let mut width = 1;
        let before = self.product;
        if self.odds(&FROM_TABLE) {
            let table = self.affordable_table();
            self.scope.push(self.relation_of(table));
            anchor.from.push(TableRef::table(table.name.clone()));
            for _ in 0..self.rng.between(1, 2) {
                // What UNION deduplicates needs one representative.
                let column = match all {
                    true => self.own_column(Kind::Any),
                    false => self.identical(|g| g.own_column(Kind::Any)),
                };
                anchor.items.extend(column.map(|column| SelectItem::from(column.expr)));
            }
            width = anchor.items.len();
            if self.odds(&FILTER) {
                anchor.filter = Some(self.filter(1));
            }
        }
        let rows = self.product / before.max(1);
        let walks = width > 1 && rows <= 8 && self.odds(&WALK);
        let rounds = match (walks, all) {
            (true, true) => 2,
            (true, false) => self.rng.between(2, 3),
            _ => self.rng.between(2, 5),
        };
        let times = if walks { rows.saturating_add(1) } else { rounds };
        self.product = before.saturating_mul(rows.saturating_mul(times));
        let names: Vec<Name> = (0..width).map(|at| Name::from(format!("c{at}"))).collect();
        let step = self.step(&name, &names, &anchor, rounds as i64, walks);
        let listed = self.odds(&LISTED_COLUMNS) || !self.dialect.can(Feature::RecursionUnlisted);
        if !listed {
            for (item, name) in std::iter::zip(&mut anchor.items, &names) {
                if let SelectItem::Expr { alias, .. } = item {
                    *alias = Some(name.clone());
                }
            }
        }
        let body = |select| Body::Select(Box::new(select));
        let query = Query::compound(SetOp::Union, all, body(anchor), body(step));
        let columns = if listed { names } else { Vec::new() };
        CommonTable { name, columns, materialized: None, query }
    }

    /// The SELECT that is repeated: rows of the common table expression, or such of the anchor's table as go with them.
    fn step(&mut self, name: &Name, names: &[Name], anchor: &Select, rounds: i64, walks: bool) -> Select {
        let own = |at: usize| Expr::column(name.clone(), names[at].clone());
        let mut items = vec![SelectItem::from(Expr::binary(BinaryOp::Add, own(0), Expr::int(1)))];
        let mut filter = Expr::binary(BinaryOp::Lt, own(0), Expr::int(rounds));
        let mut from = vec![TableRef::table(name.clone())];
        // What is known of the anchor's columns holds for those of the table.
        let columns = self.own_columns(names, anchor);
        let read = std::mem::replace(&mut self.scope, vec![Relation { alias: name.clone(), columns }]);
        if walks {
            self.scope.extend(read);
            from.extend(anchor.from.iter().cloned());
            filter = filter.and(match self.has_selective_condition(1) {
                true => self.selective_condition(1).unwrap_or_else(|| self.filter(1)),
                false => self.filter(1),
            });
            items.extend(anchor.items.iter().skip(1).cloned());
        } else {
            items.extend((1..names.len()).map(|at| SelectItem::from(own(at))));
            if self.odds(&STEP_FILTER) {
                filter = filter.and(self.filter(1));
            }
        }
        Select { items, from, filter: Some(filter), ..Select::default() }
    }

    fn own_columns(&self, names: &[Name], anchor: &Select) -> Arc<Vec<Column>> {
        let mut named = anchor.clone();
        for (item, name) in std::iter::zip(&mut named.items, names) {
            if let SelectItem::Expr { alias, .. } = item {
                *alias = Some(name.clone());
            }
        }
        Arc::new(self.state.columns_of(&Query::select(named), self.dialect))
    }
}
