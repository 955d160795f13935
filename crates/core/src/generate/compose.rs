//! Queries with every clause that a dialect has: set operators, groups, aggregates in FROM, subqueries in WHERE.

use std::sync::Arc;

use super::{Generator, choices};
use crate::dialect::Feature;
use crate::sql::*;
use crate::state::Column;

choices! {
    odds {
        PLAIN_FROM = "compose.from.plain": 50,
        JOINED_SUMMARY = "compose.from.join-summary": 40,
        WINDOW = "compose.rows.window": 10,
        ROWS_FILTER = "compose.rows.filter": 80,
        LOCK = "compose.rows.lock": 25,
        LOCK_SHARE = "compose.rows.lock.share": 50,
        ORDERED_FILTER = "compose.ordered.filter": 80,
        DESC = "compose.ordered.desc": 40,
        NULLS = "compose.ordered.nulls": 20,
        ORDERED_DISTINCT = "compose.distinct.order": 20,
        LIMIT = "compose.ordered.limit": 70,
        OFFSET = "compose.ordered.offset": 30,
        NAMED_WINDOW = "compose.rows.window.named": 30,
        ORDERED_AGGREGATE = "compose.groups.ordered-aggregate": 8,
        GROUPS_FILTER = "compose.groups.filter": 65,
        HAVING = "compose.groups.having": 50,
        THIRD_BRANCH = "compose.set.third": 20,
        BRANCH_FILTER = "compose.set.filter": 70,
        NOT_TRUTH = "compose.filter.truth.not": 50,
        NOT_IN_LIST = "compose.condition.in-list.not": 30,
        REGEXP = "compose.condition.regexp": 40,
        NOT_REGEXP = "compose.condition.regexp.not": 25,
        NUMBER_FIRST = "compose.threshold.number-first": 80,
        SUMMARY_OF_NUMBER = "compose.summary.number": 70,
        SUMMARY_LAST = "compose.summary.last": 50,
        ALL = "compose.quantified.all": 50,
        MEASURED_BOUND = "compose.between.measure": 40,
        NOT_BETWEEN = "compose.between.not": 25,
    }
    choose {
        NULLS_ORDER: NullsOrder = "compose.ordered.nulls.order" { First: 1, Last: 1 },
        GROUPING: Grouping = "compose.groups.grouping" { Rollup: 4, Cube: 2, Sets: 2, Plain: 92 },
        ORDER_OP: BinaryOp = "compose.order-op" { Gt: 28, Ge: 28, Lt: 18, Le: 18, Eq: 8 },
        TRUTH: Truth = "compose.filter.truth.of" { True: 1, False: 1 },
    }
    choose enum {
        COMPOSED: Composed = "compose" { Rows: 40, Groups: 38, Set: 22 },
        SUMMARY: Summary = "compose.from.summary" { Groups: 7, Set: 1, Rows: 2 },
        ROWS: Rows = "compose.rows" { Plain: 55, Distinct: 30, Ordered: 15 },
        KEYS: Keys = "compose.groups.keys" { None: 40, One: 50, Two: 10 },
        HAVING_SHAPE: HavingShape = "compose.groups.having.shape" { And: 1, Or: 1, Not: 1, IsTrue: 1, Plain: 4 },
        SET_OPERATOR: SetOperator = "compose.set" {
            UnionAll: 24,
            Union: 24,
            Intersect: 16,
            Except: 24,
            IntersectAll: 6,
            ExceptAll: 6,
        },
        FILTER: Filter = "compose.filter" { And: 4, Or: 5, Not: 2, Truth: 4, Plain: 5 },
        CONDITION: Condition = "compose.condition" {
            Filter: 18,
            Threshold: 24,
            Summary: 22,
            Quantified: 14,
            Exists: 7,
            InQuery: 7,
            InList: 8,
            Pattern: 5,
            Between: 8,
        },
        THRESHOLD: Threshold = "compose.threshold" { Minus: 1, Plain: 11 },
        QUANTIFIED: Quantified = "compose.quantified" { Measure: 1, Number: 2 },
    }
}

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
        match self.choose(&COMPOSED) {
            Composed::Rows => self.composed_rows(),
            Composed::Groups => {
                let select = self.composed_groups()?;
                Some(self.finish(select))
            }
            Composed::Set => self.composed_set(),
        }
    }

    /// FROM: tables, often joined to a summary of others.
    fn composed_from(&mut self) -> Option<Vec<TableRef>> {
        if self.odds(&PLAIN_FROM) || !self.rules.subqueries {
            return Some(self.from_clause(self.policy.max_relations)?.tables);
        }
        let first = self.summary()?;
        Some(vec![if self.odds(&JOINED_SUMMARY) { self.joined(first) } else { first }])
    }

    /// A derived or common table expression: groups and their measures, or rows that a condition lets through.
    fn summary(&mut self) -> Option<TableRef> {
        let body = self.isolated(|g| {
            // Where types are dynamic, what columns of a compound compare as is not defined.
            let dynamic = g.dialect.can(Feature::DynamicTyping);
            let body = match g.choose_or(&SUMMARY, Summary::Rows, |of| of != Summary::Set || !dynamic) {
                Summary::Groups => Body::Select(Box::new(g.named(|g| g.composed_groups())?)),
                Summary::Set => g.set_body()?,
                Summary::Rows => Body::Select(Box::new(g.named(|g| g.plain_rows())?)),
            };
            Some(g.finish_body(body))
        });
        let query = body?;
        let columns: Arc<Vec<Column>> = Arc::new(self.state.columns_of(&query, self.dialect));
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
        if self.dialect.can(Feature::WindowFunctions) && self.odds(&WINDOW) {
            items.extend(self.window());
        }
        let windows = self.named_windows(&mut items);
        let filter = self.odds(&ROWS_FILTER).then(|| self.composed_filter());
        let items = items.into_iter().map(SelectItem::from).collect();
        Some(Select { items, from, filter, windows, ..Select::default() })
    }

    /// Gives a window a name, now and then.
    fn named_windows(&mut self, items: &mut [Expr]) -> Vec<NamedWindow> {
        let Some(Expr::Window(window)) = items.last_mut() else { return Vec::new() };
        if !self.dialect.can(Feature::NamedWindows) || !self.odds(&NAMED_WINDOW) {
            return Vec::new();
        }
        let name = Name::from("w0");
        match std::mem::replace(&mut window.over, Over::Named(name.clone())) {
            Over::Spec(spec) => vec![NamedWindow { name, spec }],
            Over::Named(_) => Vec::new(),
        }
    }

    /// Rows: perhaps distinct, ordered, cut off or locked.
    fn composed_rows(&mut self) -> Option<Query> {
        let shape = self.choose(&ROWS);
        if shape == Rows::Plain {
            let select = self.plain_rows()?;
            let mut query = self.finish(select);
            // What is joined outward, shared or computed cannot be locked.
            let lockable = query.as_select().is_some_and(|select| {
                let is_window =
                    |item: &SelectItem| matches!(item, SelectItem::Expr { expr: Expr::Window(_), .. });
                matches!(&*select.from, [TableRef::Table { .. }]) && !select.items.iter().any(is_window)
            });
            if self.dialect.can(Feature::Locking) && lockable && query.with.is_none() && self.odds(&LOCK) {
                let share = self.dialect.can(Feature::ForShare) && self.odds(&LOCK_SHARE);
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
        let filter = self.odds(&ORDERED_FILTER).then(|| self.composed_filter());
        let order_by = items.iter().map(|item| OrderItem {
            expr: item.clone(),
            desc: self.odds(&DESC),
            nulls: (self.dialect.can(Feature::NullsOrder) && self.odds(&NULLS))
                .then(|| self.choose(&NULLS_ORDER)),
        });
        let order_by: Vec<OrderItem> = order_by.collect();
        let items = items.into_iter().map(SelectItem::from).collect();
        let distinct = shape == Rows::Distinct;
        let mut query = self.finish(Select { distinct, items, from, filter, ..Select::default() });
        if !distinct || self.odds(&ORDERED_DISTINCT) {
            query.order_by = order_by;
        }
        if !distinct && self.odds(&LIMIT) {
            query.limit = Some(Expr::int(self.rng.below(4) as i64));
            query.offset = self.odds(&OFFSET).then(|| Expr::int(self.rng.below(3) as i64));
        }
        Some(query)
    }

    /// Groups and their measures, or measures of all rows.
    fn composed_groups(&mut self) -> Option<Select> {
        let from = self.composed_from()?;
        let filter = self.odds(&GROUPS_FILTER).then(|| self.composed_filter());
        let mut keys: Vec<Expr> = Vec::new();
        let count = match self.choose(&KEYS) {
            Keys::None => 0,
            Keys::One => 1,
            Keys::Two => 2,
        };
        for _ in 0..count {
            let key = self.identical(|g| g.own_column(Kind::Any))?.expr;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let mut items: Vec<Expr> = keys.clone();
        for _ in 0..self.rng.between(1, 2) {
            items.push(self.measure().0);
        }
        if self.odds_if(!self.dialect.ordered_aggregates.is_empty(), &ORDERED_AGGREGATE) {
            items.extend(self.ordered_aggregate());
        }
        let having = (!keys.is_empty() && self.odds(&HAVING)).then(|| self.measured_condition());
        let items = items.into_iter().map(SelectItem::from).collect();
        let grouping = if keys.is_empty() { Grouping::Plain } else { self.grouping() };
        Some(Select { items, from, filter, group_by: keys, grouping, having, ..Select::default() })
    }

    /// Sometimes by subsets of the keys as well.
    fn grouping(&mut self) -> Grouping {
        let dialect = self.dialect;
        let sets = dialect.can(Feature::GroupingSets);
        self.choose_or(&GROUPING, Grouping::Plain, |grouping| match grouping {
            Grouping::Rollup => sets || dialect.can(Feature::WithRollup),
            _ => sets,
        })
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
        let truth = self.dialect.can(Feature::IsTruth);
        let applies = |shape| shape != HavingShape::IsTrue || truth;
        match self.choose_or(&HAVING_SHAPE, HavingShape::Plain, applies) {
            HavingShape::And => simple.and(other(self)),
            HavingShape::Or => Expr::binary(BinaryOp::Or, simple, other(self)),
            HavingShape::Not => simple.negate(),
            HavingShape::IsTrue => simple.is(Truth::True),
            HavingShape::Plain => simple,
        }
    }

    fn order_op(&mut self) -> BinaryOp {
        self.choose(&ORDER_OP)
    }

    pub(super) fn composed_set(&mut self) -> Option<Query> {
        let body = self.set_body()?;
        Some(self.finish_body(body))
    }

    /// Two or three SELECTs under set operators, column by column of one kind.
    fn set_body(&mut self) -> Option<Body> {
        let (first, kinds) = self.branch(None)?;
        // Names of their own: two columns of one name are refused where a compound is a table.
        let first = self.named(|_| Some(first))?;
        let mut body = Body::Select(Box::new(first));
        for _ in 0..if self.odds(&THIRD_BRANCH) { 2 } else { 1 } {
            let (right, _) = self.branch(Some(&kinds))?;
            let (op, all) = self.set_operator();
            let right = Box::new(Body::Select(Box::new(right)));
            body = Body::Compound { op, all, left: Box::new(body), right };
        }
        Some(body)
    }

    fn set_operator(&mut self) -> (SetOp, bool) {
        let dialect = self.dialect;
        let applies = |operator| match operator {
            SetOperator::UnionAll | SetOperator::Union => true,
            SetOperator::Intersect => dialect.can(Feature::Intersect),
            SetOperator::Except => dialect.can(Feature::Except),
            SetOperator::IntersectAll => dialect.can(Feature::IntersectAll),
            SetOperator::ExceptAll => dialect.can(Feature::ExceptAll),
        };
        match self.choose_where(&SET_OPERATOR, applies) {
            SetOperator::UnionAll => (SetOp::Union, true),
            SetOperator::Union => (SetOp::Union, false),
            SetOperator::Intersect => (SetOp::Intersect, false),
            SetOperator::Except => (SetOp::Except, false),
            SetOperator::IntersectAll => (SetOp::Intersect, true),
            SetOperator::ExceptAll => (SetOp::Except, true),
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
        let filter = self.odds(&BRANCH_FILTER).then(|| self.composed_filter());
        Some((Select { items, from, filter, ..Select::default() }, drawn))
    }

    /// A condition for WHERE, rich in what can be widened or narrowed.
    pub(super) fn composed_filter(&mut self) -> Expr {
        match self.search() {
            Some(search) => search.and(self.composed_test()),
            None => self.composed_test(),
        }
    }

    fn composed_test(&mut self) -> Expr {
        let simple = self.composed_condition();
        let truth = self.dialect.can(Feature::IsTruth);
        match self.choose_or(&FILTER, Filter::Plain, |filter| filter != Filter::Truth || truth) {
            Filter::And => simple.and(self.composed_condition()),
            Filter::Or => Expr::binary(BinaryOp::Or, simple, self.composed_condition()),
            Filter::Not => simple.negate(),
            Filter::Truth => {
                Expr::Is { expr: Box::new(simple), test: self.choose(&TRUTH), negated: self.odds(&NOT_TRUTH) }
            }
            Filter::Plain => simple,
        }
    }

    fn composed_condition(&mut self) -> Expr {
        let (dialect, subqueries) = (self.dialect, self.rules.subqueries);
        let applies = |condition| match condition {
            Condition::Quantified => subqueries && dialect.can(Feature::QuantifiedComparison),
            Condition::Summary | Condition::Exists | Condition::InQuery => subqueries,
            _ => true,
        };
        match self.choose_where(&CONDITION, applies) {
            Condition::Filter => self.filter(2),
            Condition::Threshold => self.threshold(),
            Condition::Summary => self.against_summary(),
            Condition::Quantified => self.quantified(),
            Condition::Exists => self.exists(1),
            Condition::InQuery => self.in_query(1),
            Condition::InList => match self.number() {
                Some(number) => {
                    let item = |g: &mut Self| Expr::int(g.rng.below(9) as i64 - 2);
                    let list = (0..self.rng.between(1, 3)).map(|_| item(self)).collect();
                    Expr::InList { expr: Box::new(number), list, negated: self.odds(&NOT_IN_LIST) }
                }
                None => self.in_list(1),
            },
            Condition::Pattern if dialect.can(Feature::Regexp) && self.odds(&REGEXP) => {
                self.regular_expression()
            }
            Condition::Pattern => self.pattern_match(1),
            Condition::Between => self.between_bounds(),
        }
    }

    /// `x REGEXP 'ab'`, of letters and digits only.
    fn regular_expression(&mut self) -> Expr {
        let expr = self.value_expr(Kind::Text, 1);
        let pattern: String =
            (0..self.rng.between(1, 2)).map(|_| *self.rng.pick(&['a', 'b', 'A', '1', '0'])).collect();
        let (expr, pattern) = (Box::new(expr), Box::new(Expr::text(pattern)));
        Expr::Match { op: MatchOp::Regexp, expr, pattern, escape: None, negated: self.odds(&NOT_REGEXP) }
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
        let number = match self.choose(&THRESHOLD) {
            Threshold::Minus => Expr::unary(UnaryOp::Minus, number),
            Threshold::Plain => number,
        };
        let constant = Expr::int(self.rng.below(8) as i64 - 1);
        let op = self.order_op();
        match self.odds(&NUMBER_FIRST) {
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
            Some(number) if self.odds(&SUMMARY_OF_NUMBER) => number,
            _ => constant,
        };
        let op = self.order_op();
        match self.odds(&SUMMARY_LAST) {
            true => Expr::binary(op, number, measure),
            false => Expr::binary(op, measure, number),
        }
    }

    /// `x > ANY (SELECT …)`, `x <= ALL (SELECT …)`.
    fn quantified(&mut self) -> Expr {
        let Some(number) = self.number() else { return self.exists(1) };
        let query = self.subquery(2, |g, _| SelectItem::from(g.small_number()));
        let left = match self.choose(&QUANTIFIED) {
            Quantified::Measure => self.measured_query(),
            Quantified::Number => number,
        };
        let (op, all) = (self.order_op(), self.odds(&ALL));
        Expr::Quantified { op, left: Box::new(left), all, query: Box::new(query) }
    }

    /// BETWEEN, where a bound is sometimes the measure of a table.
    fn between_bounds(&mut self) -> Expr {
        let Some(number) = self.number() else { return self.between(1) };
        let bound = |g: &mut Self, from: i64| match g.rules.subqueries && g.odds(&MEASURED_BOUND) {
            true => g.measured_query(),
            false => Expr::int(from + g.rng.below(4) as i64),
        };
        let (low, high) = (Box::new(bound(self, -1)), Box::new(bound(self, 2)));
        Expr::Between { expr: Box::new(number), low, high, negated: self.odds(&NOT_BETWEEN) }
    }
}
