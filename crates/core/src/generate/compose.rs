//! Queries of every clause a dialect has: set operators, groups, summaries in FROM, subqueries in WHERE.

use std::sync::Arc;

use super::{Column, Generator};
use crate::dialect::Feature;
use crate::sql::*;

impl Generator<'_> {
    /// A query of any shape, by several attempts where its columns do not allow every shape.
    pub fn any_query(&mut self) -> Option<Query> {
        (0..8).find_map(|_| {
            self.start_over();
            self.composed_query()
        })
    }

    /// A query of any shape. `None` if the database has no table.
    pub fn composed_query(&mut self) -> Option<Query> {
        if self.state.tables.is_empty() {
            return None;
        }
        let select = match self.rng.below(100) {
            0..40 => return self.composed_rows(),
            40..78 => self.composed_groups()?,
            _ => return self.composed_set(),
        };
        Some(self.finish(select))
    }

    /// FROM: tables, often joined to a summary of others.
    fn composed_from(&mut self) -> Option<Vec<TableRef>> {
        if self.rng.chance(50) || !self.rules.subqueries {
            return Some(self.from_clause(self.policy.max_relations)?.tables);
        }
        let first = self.summary()?;
        Some(vec![if self.rng.chance(40) { self.joined(first) } else { first }])
    }

    /// A derived or common table: groups and their measures, or rows that a condition lets through.
    fn summary(&mut self) -> Option<TableRef> {
        let body = self.isolated(|g| {
            let body = match g.rng.below(10) {
                0..7 => Body::Select(Box::new(g.named(|g| g.composed_groups())?)),
                // Where types are dynamic, what such columns compare as is not defined.
                7 if !g.dialect.can(Feature::DynamicTyping) => g.set_body()?,
                _ => Body::Select(Box::new(g.named(|g| g.plain_rows())?)),
            };
            Some(g.finish_body(body))
        });
        let query = body?;
        let mut first = &query.body;
        while let Body::Compound { left, .. } = first {
            first = left;
        }
        let shape = Query { with: query.with.clone(), ..first.clone().into() };
        let columns: Arc<Vec<Column>> = Arc::new(self.state.columns_of(&shape, self.dialect));
        Some(self.derived_from(query, columns))
    }

    fn finish_body(&mut self, body: Body) -> Query {
        let Query { with, .. } = self.finish(Select::default());
        Query { with, ..body.into() }
    }

    /// A SELECT whose items have names.
    fn named(&mut self, draw: impl FnOnce(&mut Self) -> Option<Select>) -> Option<Select> {
        let mut select = draw(self)?;
        for (at, item) in select.items.iter_mut().enumerate() {
            if let SelectItem::Expr { alias, .. } = item {
                *alias = Some(Name::from(format!("c{at}")));
            }
        }
        Some(select)
    }

    fn plain_rows(&mut self) -> Option<Select> {
        let from = self.composed_from()?;
        let mut items = self.select_items(2);
        if let Some(small) = self.small_column() {
            items.push(small);
        }
        if self.dialect.can(Feature::WindowFunctions) && self.rng.chance(10) {
            items.extend(self.window());
        }
        let filter = self.rng.chance(80).then(|| self.composed_filter());
        let items = items.into_iter().map(SelectItem::from).collect();
        Some(Select { items, from, filter, ..Select::default() })
    }

    /// Rows: perhaps distinct, ordered, cut off or locked.
    fn composed_rows(&mut self) -> Option<Query> {
        let shape = self.rng.below(100);
        if shape < 55 {
            let select = self.plain_rows()?;
            let mut query = self.finish(select);
            // What is joined outward, shared or computed cannot be locked.
            let lockable = query.as_select().is_some_and(|select| {
                let is_window =
                    |item: &SelectItem| matches!(item, SelectItem::Expr { expr: Expr::Window(_), .. });
                matches!(&*select.from, [TableRef::Table { .. }]) && !select.items.iter().any(is_window)
            });
            if self.dialect.can(Feature::Locking) && lockable && query.with.is_none() && self.rng.chance(25) {
                let share = self.dialect.can(Feature::ForShare) && self.rng.chance(50);
                query.locking = Some(if share { Locking::Share } else { Locking::Update });
            }
            return Some(query);
        }
        let from = self.composed_from()?;
        let mut items: Vec<Expr> = Vec::new();
        for _ in 0..self.rng.between(1, 2) {
            let column = self.identical(|g| g.own_column(Kind::Any))?.expr;
            if !items.contains(&column) {
                items.push(column);
            }
        }
        let filter = self.rng.chance(80).then(|| self.composed_filter());
        let order_by = items.iter().map(|item| OrderItem {
            expr: item.clone(),
            desc: self.rng.chance(40),
            nulls: (self.dialect.can(Feature::NullsOrder) && self.rng.chance(20))
                .then(|| *self.rng.pick(&[NullsOrder::First, NullsOrder::Last])),
        });
        let order_by: Vec<OrderItem> = order_by.collect();
        let items = items.into_iter().map(SelectItem::from).collect();
        let distinct = shape < 85;
        let mut query = self.finish(Select { distinct, items, from, filter, ..Select::default() });
        if !distinct || self.rng.chance(20) {
            query.order_by = order_by;
        }
        if !distinct && self.rng.chance(70) {
            query.limit = Some(Expr::int(self.rng.below(4) as i64));
        }
        Some(query)
    }

    /// Groups and their measures, or measures of all rows.
    fn composed_groups(&mut self) -> Option<Select> {
        let from = self.composed_from()?;
        let filter = self.rng.chance(65).then(|| self.composed_filter());
        let mut keys: Vec<Expr> = Vec::new();
        for _ in 0..self.rng.weighted(&[40, 50, 10]) {
            let key = self.identical(|g| g.own_column(Kind::Any))?.expr;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let mut items: Vec<Expr> = keys.clone();
        for _ in 0..self.rng.between(1, 2) {
            items.push(self.measure().0);
        }
        let having = (!keys.is_empty() && self.rng.chance(50)).then(|| self.measured_condition());
        let items = items.into_iter().map(SelectItem::from).collect();
        let grouping = if keys.is_empty() { Grouping::Plain } else { self.grouping() };
        Some(Select { items, from, filter, group_by: keys, grouping, having, ..Select::default() })
    }

    /// Now and then by subsets of the keys as well.
    fn grouping(&mut self) -> Grouping {
        let sets = self.dialect.can(Feature::GroupingSets);
        match self.rng.below(100) {
            0..4 if sets || self.dialect.can(Feature::WithRollup) => Grouping::Rollup,
            4..6 if sets => Grouping::Cube,
            6..8 if sets => Grouping::Sets,
            _ => Grouping::Plain,
        }
    }

    /// A condition on a group's measure, one that some groups meet.
    fn measured_condition(&mut self) -> Expr {
        let (measure, _) = self.measure();
        let op = self.order_op();
        let simple = Expr::binary(op, measure, Expr::int(self.rng.below(5) as i64));
        let other = |g: &mut Self| {
            let op = g.order_op();
            Expr::binary(op, Expr::count_rows(), Expr::int(g.rng.below(3) as i64))
        };
        match self.rng.below(8) {
            0 => simple.and(other(self)),
            1 => Expr::binary(BinaryOp::Or, simple, other(self)),
            2 => simple.negate(),
            3 if self.dialect.can(Feature::IsTruth) => simple.is(Truth::True),
            _ => simple,
        }
    }

    fn order_op(&mut self) -> BinaryOp {
        use BinaryOp::*;
        [Gt, Ge, Lt, Le, Eq][self.rng.weighted(&[28, 28, 18, 18, 8])]
    }

    fn composed_set(&mut self) -> Option<Query> {
        let body = self.set_body()?;
        Some(self.finish_body(body))
    }

    /// Two or three SELECTs under set operators, column by column of one kind.
    fn set_body(&mut self) -> Option<Body> {
        let (first, kinds) = self.branch(None)?;
        // Names of their own: two columns of one name are refused where a compound is a table.
        let first = self.named(|_| Some(first))?;
        let mut body = Body::Select(Box::new(first));
        for _ in 0..if self.rng.chance(20) { 2 } else { 1 } {
            let (right, _) = self.branch(Some(&kinds))?;
            let (op, all) = self.set_operator();
            let right = Box::new(Body::Select(Box::new(right)));
            body = Body::Compound { op, all, left: Box::new(body), right };
        }
        Some(body)
    }

    fn set_operator(&mut self) -> (SetOp, bool) {
        let can = |feature, weight| if self.dialect.can(feature) { weight } else { 0 };
        let weights = [
            24,
            24,
            can(Feature::Intersect, 16),
            can(Feature::Except, 24),
            can(Feature::IntersectAll, 6),
            can(Feature::ExceptAll, 6),
        ];
        match self.rng.weighted(&weights) {
            0 => (SetOp::Union, true),
            1 => (SetOp::Union, false),
            2 => (SetOp::Intersect, false),
            3 => (SetOp::Except, false),
            4 => (SetOp::Intersect, true),
            _ => (SetOp::Except, true),
        }
    }

    /// One SELECT of a compound: columns, of these kinds if any are given.
    fn branch(&mut self, kinds: Option<&[Kind]>) -> Option<(Select, Vec<Kind>)> {
        self.scope.truncate(self.inner);
        self.product = 1;
        let from = self.composed_from()?;
        let mut columns = Vec::new();
        for relation in self.relations() {
            for column in relation.columns.iter().filter(|column| column.identity) {
                columns.push((self.column_expr(relation, column), column.ty.kind));
            }
        }
        let mut items = Vec::new();
        let mut drawn = Vec::new();
        let wanted: Vec<Option<Kind>> = match kinds {
            Some(kinds) => kinds.iter().map(|kind| Some(*kind)).collect(),
            None => vec![None; self.rng.between(1, 2)],
        };
        for kind in wanted {
            let fitting: Vec<_> =
                columns.iter().filter(|(_, k)| kind.is_none_or(|kind| kind == *k)).collect();
            let (expr, kind) = match (self.rng.choose(&fitting), kind) {
                (Some((expr, kind)), _) => (expr.clone(), *kind),
                (None, Some(kind)) => (self.constant(kind), kind),
                (None, None) => return None,
            };
            items.push(SelectItem::from(expr));
            drawn.push(kind);
        }
        let filter = self.rng.chance(70).then(|| self.composed_filter());
        Some((Select { items, from, filter, ..Select::default() }, drawn))
    }

    /// A condition for WHERE, rich in what can be widened or narrowed.
    pub(super) fn composed_filter(&mut self) -> Expr {
        let simple = self.composed_condition();
        match self.rng.below(20) {
            0..4 => simple.and(self.composed_condition()),
            4..9 => Expr::binary(BinaryOp::Or, simple, self.composed_condition()),
            9..11 => simple.negate(),
            11..15 if self.dialect.can(Feature::IsTruth) => Expr::Is {
                expr: Box::new(simple),
                test: *self.rng.pick(&[Truth::True, Truth::False]),
                negated: self.rng.chance(50),
            },
            _ => simple,
        }
    }

    fn composed_condition(&mut self) -> Expr {
        let sub = |weight| if self.rules.subqueries { weight } else { 0 };
        let quantified = if self.dialect.can(Feature::QuantifiedComparison) { sub(14) } else { 0 };
        match self.rng.weighted(&[18, 24, sub(22), quantified, sub(7), sub(7), 8, 5, 8]) {
            0 => self.filter(2),
            1 => self.threshold(),
            2 => self.against_summary(),
            3 => self.quantified(),
            4 => self.exists(1),
            5 => self.in_query(1),
            6 => match self.number() {
                Some(number) => {
                    let item = |g: &mut Self| Expr::int(g.rng.below(9) as i64 - 2);
                    let list = (0..self.rng.between(1, 3)).map(|_| item(self)).collect();
                    Expr::InList { expr: Box::new(number), list, negated: self.rng.chance(30) }
                }
                None => self.in_list(1),
            },
            7 if self.dialect.can(Feature::Regexp) && self.rng.chance(40) => self.regular_expression(),
            7 => self.pattern_match(1),
            _ => self.between_bounds(),
        }
    }

    /// `x REGEXP 'ab'`, of letters and digits only.
    fn regular_expression(&mut self) -> Expr {
        let expr = self.value_expr(Kind::Text, 1);
        let pattern: String =
            (0..self.rng.between(1, 2)).map(|_| *self.rng.pick(&['a', 'b', 'A', '1', '0'])).collect();
        let (expr, pattern) = (Box::new(expr), Box::new(Expr::text(pattern)));
        Expr::Match { op: MatchOp::Regexp, expr, pattern, escape: None, negated: self.rng.chance(25) }
    }

    /// A column of whole numbers in scope: stored, or computed in a summary.
    fn number(&mut self) -> Option<Expr> {
        let dynamic = self.dialect.can(Feature::DynamicTyping);
        let mut numbers = Vec::new();
        for relation in self.relations() {
            for column in relation.columns.iter().filter(|column| column.ty.kind == Kind::Int) {
                if !dynamic || column.whole.is_some() || column.ty.name.is_empty() {
                    numbers.push(self.column_expr(relation, column));
                }
            }
        }
        self.rng.choose(&numbers).cloned()
    }

    /// A number against a small constant.
    fn threshold(&mut self) -> Expr {
        let Some(number) = self.number() else { return self.filter(1) };
        let number = match self.rng.below(12) {
            0 => Expr::unary(UnaryOp::Minus, number),
            _ => number,
        };
        let constant = Expr::int(self.rng.below(8) as i64 - 1);
        let op = self.order_op();
        match self.rng.chance(80) {
            true => Expr::binary(op, number, constant),
            false => Expr::binary(op, constant, number),
        }
    }

    /// One measure of a table, as a value; it may look at the rows around it.
    fn measured_query(&mut self) -> Expr {
        let query = self.subquery(2, |g, _| SelectItem::from(g.measure().0));
        Expr::Subquery(Box::new(query))
    }

    /// A number against the measure of a table.
    fn against_summary(&mut self) -> Expr {
        let measure = self.measured_query();
        let constant = Expr::int(self.rng.below(6) as i64);
        let number = match self.number() {
            Some(number) if self.rng.chance(70) => number,
            _ => constant,
        };
        let op = self.order_op();
        match self.rng.chance(50) {
            true => Expr::binary(op, number, measure),
            false => Expr::binary(op, measure, number),
        }
    }

    /// `x > ANY (SELECT …)`, `x <= ALL (SELECT …)`.
    fn quantified(&mut self) -> Expr {
        let Some(number) = self.number() else { return self.exists(1) };
        let query = self.subquery(2, |g, _| SelectItem::from(g.small_number()));
        let left = match self.rng.below(3) {
            0 => self.measured_query(),
            _ => number,
        };
        let (op, all) = (self.order_op(), self.rng.chance(50));
        Expr::Quantified { op, left: Box::new(left), all, query: Box::new(query) }
    }

    /// BETWEEN, a bound of it now and then the measure of a table.
    fn between_bounds(&mut self) -> Expr {
        let Some(number) = self.number() else { return self.between(1) };
        let bound = |g: &mut Self, from: i64| match g.rules.subqueries && g.rng.chance(40) {
            true => g.measured_query(),
            false => Expr::int(from + g.rng.below(4) as i64),
        };
        let (low, high) = (Box::new(bound(self, -1)), Box::new(bound(self, 2)));
        Expr::Between { expr: Box::new(number), low, high, negated: self.rng.chance(25) }
    }
}
