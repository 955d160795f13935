//! FROM clauses and whole queries.

use std::sync::Arc;

use super::{Drawn, Generator, Rules, choices};
use crate::dialect::Feature;
use crate::sql::*;
use crate::state::{Column, Index, Relation, Table};

choices! {
    odds {
        /// Relations of a FROM are separated by commas rather than joined.
        COMMA = "query.comma": 30,
        LATERAL = "query.lateral": 12,
        ON_SHARED = "query.join-on.shared": 15,
        PADDED = "query.padding-filter.is-null": 60,
        DERIVED = "query.derived": 9,
        NOT_INDEXED = "query.not-indexed": 3,
        INDEXED_BY = "query.indexed-by": 2,
        TABLE_FUNCTION = "query.table-function": 4,
        RECURSIVE = "query.derived.recursive": 20,
        COMMON_TABLE = "query.derived.cte": 35,
        MATERIALIZATION = "query.cte.materialization": 40,
        MATERIALIZED = "query.cte.materialized": 50,
        SHARED_COLUMNS = "query.join.shared": 10,
        NATURAL = "query.join.natural": 40,
        MATCHING = "query.join.matching": 65,
        SELECTED_COLUMN = "query.item.column": 75,
        GROUPED = "query.relation.grouped": 15,
        /// A view or derived table is DISTINCT or a compound.
        DISTINCT_RELATION = "query.relation.distinct": 7,
        SET_RELATION = "query.relation.set": 7,
        WINDOW = "query.relation.window": 7,
        RELATION_COLUMN = "query.relation.column": 75,
        RELATION_FILTER = "query.relation.filter": 25,
        AGGREGATE_OF_CATALOG = "query.scalar.catalog": 50,
        SUBQUERY_FILTER = "query.subquery.filter": 60,
    }
    choose {
        JOIN_KIND: JoinKind = "query.join.kind" { Inner: 45, Left: 30, Right: 10, Full: 8, Cross: 8 },
        OUTER_OP: BinaryOp = "query.join.outer-op" { Eq: 80, Same: 20 },
        MATCHING_OP: BinaryOp = "query.join.matching.op" { Eq: 55, Ne: 10, Lt: 10, Ge: 10, Same: 15 },
    }
    choose enum {
        RELATIONS: Relations = "query.relations" { One: 5, Two: 4, Most: 1 },
        JOIN_ON: Condition = "query.join-on" { Selective: 6, Any: 2, OneTable: 2 },
        SELECTIVE: Selective = "query.join-on.selective" { And: 1, Or: 1, Plain: 8 },
        UNMATCHED: Unmatched = "query.join.unmatched" { Constant: 1, True: 2, Filter: 7, OneTable: 4 },
        SCALAR: Scalar = "query.scalar" { Min: 1, Max: 1, Count: 1 },
    }
}

/// A FROM clause, whose relations are in the generator's scope.
pub struct From {
    /// What stands in it, separated by commas.
    pub tables: Vec<TableRef>,
}

impl<'a> Generator<'a> {
    /// A FROM of one to the policy's number of relations; they stay in scope for what is drawn next.
    /// `None` if the database has no table.
    pub fn from_clause(&mut self, max_relations: usize) -> Option<From> {
        if self.state.tables.is_empty() {
            return None;
        }
        let count = match self.choose(&RELATIONS) {
            Relations::One => 1,
            Relations::Two => 2.min(max_relations),
            Relations::Most => max_relations,
        };
        let first = self.relation();
        let comma = self.odds(&COMMA);
        let mut tables = vec![first];
        for _ in 1..count {
            if self.product > self.policy.max_product {
                break;
            }
            if comma && self.rules.subqueries && self.dialect.can(Feature::Lateral) && self.odds(&LATERAL) {
                tables.push(self.lateral());
            } else if comma
                && self.odds_if(self.has_table_functions(), &TABLE_FUNCTION)
                && let Some(function) = self.table_function(true)
            {
                tables.push(function);
            } else if comma {
                tables.push(self.relation());
            } else if let Some(left) = tables.pop() {
                tables.push(self.joined(left));
            }
        }
        Some(From { tables })
    }

    /// One more relation in scope; none if the database has no table.
    pub fn relation_or_none(&mut self) -> Option<TableRef> {
        (!self.state.tables.is_empty()).then(|| self.relation())
    }

    /// What joins the newest relation to the `before` ones before it.
    pub fn join_on(&mut self, before: usize) -> JoinOn {
        if before == 1
            && self.odds(&ON_SHARED)
            && let Some(shared) = self.shared_columns()
        {
            return shared;
        }
        JoinOn::On(match self.choose(&JOIN_ON) {
            Condition::Selective => self.selective_condition(before).unwrap_or_else(|| self.join_condition()),
            Condition::Any => self.join_condition(),
            Condition::OneTable => self.one_table_condition(),
        })
    }

    /// Whether the newest relation can be joined to the `before` ones before it so that some rows match and
    /// some do not.
    pub fn has_selective_condition(&self, before: usize) -> bool {
        !self.selective_pairs(before).is_empty()
    }

    /// A condition that some pairs of rows meet and some do not, as far as the data is known.
    pub(super) fn selective_condition(&mut self, before: usize) -> Option<Expr> {
        let pairs = self.selective_pairs(before);
        let (a, b) = self.rng.choose(&pairs)?.clone();
        let equal = Expr::binary(BinaryOp::Eq, a, b);
        Some(match self.choose(&SELECTIVE) {
            Selective::And => equal.and(self.filter(1)),
            Selective::Or => Expr::binary(BinaryOp::Or, equal, self.predicate(1)),
            Selective::Plain => equal,
        })
    }

    /// Columns of the newest relation and of the `before` ones before it that share a value and also hold
    /// others; on both sides, if there are such.
    fn selective_pairs(&self, before: usize) -> Vec<(Expr, Expr)> {
        let relations = &self.scope[self.inner..];
        let Some(right) = relations.get(before) else { return Vec::new() };
        let typed = self.dialect.is_typed();
        let (mut both, mut one) = (Vec::new(), Vec::new());
        for left in &relations[..before] {
            for a in left.columns.iter() {
                for b in right.columns.iter().filter(|b| !typed || b.ty.kind == a.ty.kind) {
                    let common = |value: &&Value| !value.is_null() && b.pool.contains(value);
                    let shared = a.pool.iter().filter(common).count();
                    let pair = || (self.column_expr(left, a), self.column_expr(right, b));
                    match (shared < a.pool.len(), shared < b.pool.len()) {
                        _ if shared == 0 => {}
                        (true, true) => both.push(pair()),
                        (true, false) | (false, true) => one.push(pair()),
                        (false, false) => {}
                    }
                }
            }
        }
        if both.is_empty() { one } else { both }
    }

    /// A column of the relation at this place that is never NULL, if that is a base table.
    pub fn never_null_column(&mut self, at: usize) -> Option<Expr> {
        let relation = &self.relations()[at];
        let base = self
            .state
            .tables
            .iter()
            .any(|table| !table.is_view && std::sync::Arc::ptr_eq(&table.columns, &relation.columns));
        let identity = self.rules.identity;
        let fits = |column: &&Column| column.is_never_null() && (!identity || column.identity);
        let tags: Vec<Expr> =
            relation.columns.iter().filter(fits).map(|column| self.column_expr(relation, column)).collect();
        if base { self.rng.choose(&tags).cloned() } else { None }
    }

    /// A condition that sometimes keeps rows padded with NULL.
    pub fn padding_filter(&mut self) -> Expr {
        let filter = self.filter(2);
        match self.column(Kind::Any) {
            Some(column) if self.odds(&PADDED) => {
                Expr::binary(BinaryOp::Or, filter, column.expr.is(Truth::Null))
            }
            _ => filter,
        }
    }

    /// Puts one more relation in scope.
    pub(super) fn relation(&mut self) -> TableRef {
        if self.rules.subqueries && self.odds(&DERIVED) {
            return self.derived();
        }
        if self.odds_if(self.has_table_functions(), &TABLE_FUNCTION)
            && let Some(function) = self.table_function(false)
        {
            return function;
        }
        if let Some(values) = self.values() {
            return values;
        }
        let table = self.affordable_table();
        let taken = self.scope.iter().any(|relation| relation.alias == table.name);
        let alias = taken.then(|| self.fresh_name('a'));
        let hint = self.index_hint(table);
        self.scope.push(Relation {
            alias: alias.clone().unwrap_or_else(|| table.name.clone()),
            columns: table.columns.clone(),
        });
        TableRef::Table { name: table.name.clone(), alias, hint }
    }

    /// Which index to use, where a query may say that. A partial index cannot be used for every query.
    fn index_hint(&mut self, table: &Table) -> Option<IndexHint> {
        if table.is_view || table.module.is_some() || !self.dialect.can(Feature::IndexHints) {
            return None;
        }
        if self.odds(&NOT_INDEXED) {
            return Some(IndexHint::NotIndexed);
        }
        if !self.odds(&INDEXED_BY) {
            return None;
        }
        let whole = |index: &&Index| {
            let definition = index.definition.as_ref();
            index.table == table.name && definition.is_some_and(|index| index.filter.is_none())
        };
        let usable: Vec<&Index> = self.state.indexes.iter().filter(whole).collect();
        self.rng.choose(&usable).map(|index| IndexHint::IndexedBy(index.name.clone()))
    }

    /// A table, a small one if the FROM being generated is large already.
    pub(super) fn affordable_table(&mut self) -> &'a Table {
        let state = self.state;
        let mut table = self.rng.pick(&state.tables);
        for _ in 0..4 {
            let other = self.rng.pick(&state.tables);
            if self.product.saturating_mul(table.rows) <= self.policy.max_product {
                break;
            }
            if other.rows < table.rows {
                table = other;
            }
        }
        self.product = self.product.saturating_mul(table.rows.max(1));
        table
    }

    fn derived(&mut self) -> TableRef {
        if self.dialect.can(Feature::RecursiveCte) && self.odds(&RECURSIVE) {
            return self.recursive();
        }
        let query = self.isolated(|g| g.relation_query(1));
        let columns = Arc::new(self.state.columns_of(&query, self.dialect));
        self.derived_from(query, columns)
    }

    /// A derived table that looks at the relations before it.
    fn lateral(&mut self) -> TableRef {
        let query = self.subquery(1, |g, depth| {
            let expr = match g.column(Kind::Any) {
                Some(column) => column.expr,
                None => g.value_expr(Kind::Int, depth),
            };
            SelectItem::Expr { expr, alias: Some("c0".into()) }
        });
        let columns = Arc::new(self.state.columns_of(&query, self.dialect));
        let alias = self.fresh_name('d');
        self.scope.push(Relation { alias: alias.clone(), columns });
        TableRef::Derived { query: Box::new(query), alias, columns: Vec::new(), lateral: true }
    }

    /// A query as a relation in scope: a derived table or a common one.
    pub(super) fn derived_from(&mut self, query: Query, columns: Arc<Vec<Column>>) -> TableRef {
        let alias = self.fresh_name('d');
        self.scope.push(Relation { alias: alias.clone(), columns });
        if self.dialect.can(Feature::Cte) && self.odds(&COMMON_TABLE) {
            // Where there is no word for it, it is drawn but not written.
            let can = self.dialect.can(Feature::CteMaterialized);
            let materialized = self.odds_if(can, &MATERIALIZATION).then(|| self.odds_if(can, &MATERIALIZED));
            self.common_tables.push(CommonTable {
                name: alias.clone(),
                columns: Vec::new(),
                materialized,
                query,
            });
            return TableRef::table(alias);
        }
        TableRef::Derived { query: Box::new(query), alias, columns: Vec::new(), lateral: false }
    }

    /// Draws a query that sees nothing of the present scope.
    pub(super) fn isolated<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> T {
        let scope = std::mem::take(&mut self.scope);
        let inner = std::mem::replace(&mut self.inner, 0);
        let common_tables = std::mem::take(&mut self.common_tables);
        let drawn = self.under(Rules { subqueries: false, ..Rules::default() }, draw);
        self.scope = scope;
        self.inner = inner;
        self.common_tables = common_tables;
        drawn
    }

    /// A relation joined to one more.
    pub fn joined(&mut self, left: TableRef) -> TableRef {
        let natural_possible = self.relations().len() == 1;
        let nested = self.nested_join();
        let is_nested = nested.is_some();
        let right = nested.unwrap_or_else(|| self.relation());
        let dialect = self.dialect;
        let can = |feature| dialect.can(feature);
        use JoinKind::*;
        let mut kind = self.choose_where(&JOIN_KIND, |kind| match kind {
            Left => can(Feature::LeftJoin),
            Right => can(Feature::RightJoin),
            Full => can(Feature::FullJoin),
            Inner | Cross => true,
        });
        if kind == Full && is_nested && !can(Feature::FullJoinAnyhow) {
            kind = Left;
        }
        if kind == Cross {
            return TableRef::join(kind, left, right, JoinOn::Nothing);
        }
        if natural_possible
            && self.odds(&SHARED_COLUMNS)
            && let Some(on) = self.shared_columns()
        {
            return TableRef::join(kind, left, right, on);
        }
        if kind == Full && !can(Feature::FullJoinAnyhow) {
            let newest = self.relations().len() - 1;
            match self.matching_columns(newest) {
                Some((a, b)) => {
                    let on = Expr::binary(BinaryOp::Eq, a, b);
                    return TableRef::join(kind, left, right, JoinOn::On(on));
                }
                None => kind = Left,
            }
        }
        if !matches!(kind, Inner) && !can(Feature::OuterJoinConditions) {
            let newest = self.relations().len() - 1;
            match self.matching_columns(newest) {
                Some((a, b)) => {
                    let op = self.choose(&OUTER_OP);
                    return TableRef::join(kind, left, right, JoinOn::On(Expr::binary(op, a, b)));
                }
                None => kind = Inner,
            }
        }
        let subqueries = self.rules.subqueries && (kind == Inner || can(Feature::OuterJoinSubqueries));
        let on = self.under(Rules { subqueries, ..self.rules }, |g| g.join_condition());
        TableRef::join(kind, left, right, JoinOn::On(on))
    }

    /// NATURAL or USING for the two relations in scope, if they have comparable columns of one name.
    fn shared_columns(&mut self) -> Option<JoinOn> {
        let [left, right] = self.relations() else { return None };
        let typed = self.dialect.is_typed();
        let mut shared = Vec::new();
        for column in left.columns.iter() {
            let twin = right.columns.iter().find(|twin| twin.name == column.name);
            let Some(twin) = twin else { continue };
            shared.push((column.name.clone(), !typed || column.ty.kind == twin.ty.kind));
        }
        let comparable = !shared.is_empty() && shared.iter().all(|(_, comparable)| *comparable);
        if self.dialect.can(Feature::NaturalJoin) && comparable && self.odds(&NATURAL) {
            return Some(JoinOn::Natural);
        }
        let (name, comparable) = self.rng.choose(&shared)?;
        (self.dialect.can(Feature::JoinUsing) && *comparable).then(|| JoinOn::Using(vec![name.clone()]))
    }

    /// What joins the newest relation to those before it: often an equality that some rows meet.
    fn join_condition(&mut self) -> Expr {
        let newest = self.relations().len() - 1;
        if self.odds(&MATCHING)
            && let Some((a, b)) = self.matching_columns(newest)
        {
            return Expr::binary(self.choose(&MATCHING_OP), a, b);
        }
        match self.choose(&UNMATCHED) {
            Unmatched::Constant => Expr::Literal(self.some_value(Kind::Bool)),
            Unmatched::True if self.dialect.is_typed() => Expr::Literal(Value::Bool(true)),
            Unmatched::True => Expr::int(1),
            Unmatched::Filter => self.filter(2),
            Unmatched::OneTable => self.one_table_condition(),
        }
    }

    /// A condition on one of the relations alone.
    fn one_table_condition(&mut self) -> Expr {
        let relation = self.rng.pick(&self.scope[self.inner..]).clone();
        let rules = Rules { subqueries: false, ..self.rules };
        self.within(vec![relation], |g| g.under(rules, |g| g.filter(1)))
    }

    /// A column of the newest relation and one before it, if a few draws find any: such as share a value.
    fn matching_columns(&mut self, newest: usize) -> Option<(Expr, Expr)> {
        let mut drawn = None;
        for _ in 0..4 {
            let left = self.rng.pick(&self.scope[self.inner..self.inner + newest]);
            let right = &self.scope[self.inner + newest];
            let (Some(a), Some(b)) = (self.rng.choose(&left.columns), self.rng.choose(&right.columns)) else {
                continue;
            };
            if self.dialect.is_typed() && (a.ty.kind != b.ty.kind || a.ty.kind == Kind::Any) {
                continue;
            }
            drawn = Some((self.column_expr(left, a), self.column_expr(right, b)));
            if a.pool.iter().any(|value| !value.is_null() && b.pool.contains(value)) {
                break;
            }
        }
        drawn
    }

    /// Expressions to select, at least one.
    pub fn select_items(&mut self, most: usize) -> Vec<Expr> {
        (0..self.rng.between(1, most))
            .map(|_| {
                if self.odds(&SELECTED_COLUMN)
                    && let Some(column) = self.column(Kind::Any)
                {
                    return column.expr;
                }
                if self.rules.identity && self.dialect.can(Feature::FoldedText) {
                    return Expr::int(1);
                }
                let kind = self.kind();
                self.value_expr(kind, 2)
            })
            .collect()
    }

    /// The query as it stands, with the common table expressions that its parts name.
    pub fn finish(&mut self, select: Select) -> Query {
        let tables = std::mem::take(&mut self.common_tables);
        let recursive = tables.iter().any(|table| table.recursion().is_some());
        let with = (!tables.is_empty()).then_some(With { recursive, tables });
        Query { with, ..Query::select(select) }
    }

    /// A query for a view or a derived table, its items named. Where types are dynamic never a compound and
    /// never DISTINCT: the affinity of their columns is not defined (SOUNDNESS 1).
    pub(super) fn relation_query(&mut self, max_relations: usize) -> Query {
        let typed = !self.dialect.can(Feature::DynamicTyping);
        if typed
            && self.odds(&SET_RELATION)
            && let Some(query) = self.composed_set()
        {
            return query;
        }
        self.scope.truncate(self.inner);
        let from = self.from_clause(max_relations).map(|from| from.tables).unwrap_or_default();
        if self.odds(&GROUPED) && !from.is_empty() {
            return self.grouped_relation(from);
        }
        if typed && self.odds(&DISTINCT_RELATION) {
            return self.distinct_relation(from);
        }
        let mut items = Vec::new();
        for at in 0..self.rng.between(1, 3) {
            let windowed = self.dialect.can(Feature::WindowFunctions) && !from.is_empty();
            let window = if windowed && self.odds(&WINDOW) { self.window() } else { None };
            let expr = match (window, self.column(Kind::Any)) {
                (Some(window), _) => window,
                (None, Some(column)) if self.odds(&RELATION_COLUMN) => column.expr,
                _ => {
                    let kind = self.kind();
                    let expr = self.value_expr(kind, 1);
                    self.unmarked(expr)
                }
            };
            items.push(SelectItem::Expr { expr, alias: Some(Name::from(format!("c{at}"))) });
        }
        let filter = self.odds(&RELATION_FILTER).then(|| self.filter(1));
        self.finish(Select { items, from, filter, ..Select::default() })
    }

    fn distinct_relation(&mut self, from: Vec<TableRef>) -> Query {
        let mut items = Vec::new();
        for at in 0..self.rng.between(1, 2) {
            let column = self.identical(|g| g.own_column(Kind::Any));
            let expr = column.map_or_else(|| Expr::int(1), |column| column.expr);
            items.push(SelectItem::Expr { expr, alias: Some(Name::from(format!("c{at}"))) });
        }
        let filter = self.odds(&RELATION_FILTER).then(|| self.filter(1));
        self.finish(Select { distinct: true, items, from, filter, ..Select::default() })
    }

    fn grouped_relation(&mut self, from: Vec<TableRef>) -> Query {
        let key = self.under(Rules { identity: true, ..self.rules }, |g| g.column(Kind::Any));
        let mut items = vec![SelectItem::Expr { expr: Expr::count_rows(), alias: Some("c0".into()) }];
        let mut group_by = Vec::new();
        if let Some(key) = key {
            items.push(SelectItem::Expr { expr: key.expr.clone(), alias: Some("c1".into()) });
            group_by.push(key.expr);
        }
        self.finish(Select { items, from, group_by, ..Select::default() })
    }

    /// A subquery of one value: always an aggregate, since which row a plain one returns is not defined.
    pub(super) fn aggregate_query(&mut self, kind: Kind, depth: usize) -> Query {
        self.subquery(depth, |g, _| {
            let rules = Rules { identity: true, ..g.rules };
            if g.odds(&AGGREGATE_OF_CATALOG)
                && let Some(aggregate) = g.under(rules, |g| g.aggregate_of_kind(kind))
            {
                return SelectItem::from(aggregate);
            }
            let column = g.under(rules, |g| g.own_column(kind));
            let counts = !g.dialect.is_typed() || matches!(kind, Kind::Any | Kind::Int);
            let ordered = |column: &Drawn| g.dialect.aggregates("MIN", column.kind);
            let column = column.filter(ordered);
            let scalar = g.choose_or(&SCALAR, Scalar::Max, |scalar| scalar != Scalar::Count || counts);
            SelectItem::from(match (column, scalar) {
                (Some(column), Scalar::Count) => Expr::aggregate("COUNT", vec![column.expr]),
                (Some(column), Scalar::Min) => Expr::aggregate("MIN", vec![column.expr]),
                (Some(column), Scalar::Max) => Expr::aggregate("MAX", vec![column.expr]),
                (None, _) if counts => Expr::count_rows(),
                (None, _) => Expr::aggregate("MAX", vec![g.constant(kind)]),
            })
        })
    }

    pub(super) fn subquery(
        &mut self,
        depth: usize,
        item: impl FnOnce(&mut Self, usize) -> SelectItem,
    ) -> Query {
        self.subquery_of(depth, |g, depth| vec![item(g, depth)])
    }

    /// A subquery of these items over a FROM of its own, which may look at the rows around it.
    pub(super) fn subquery_of(
        &mut self,
        depth: usize,
        items: impl FnOnce(&mut Self, usize) -> Vec<SelectItem>,
    ) -> Query {
        let depth = depth.saturating_sub(1);
        let outer = self.scope.len();
        let inner = std::mem::replace(&mut self.inner, outer);
        let from = vec![self.subquery_from()];
        let items = items(self, depth);
        let filter = self.odds(&SUBQUERY_FILTER).then(|| self.predicate(depth));
        self.scope.truncate(outer);
        self.inner = inner;
        Query::select(Select { items, from, filter, ..Select::default() })
    }
}
