use super::Renderer;
use crate::dialect::Feature;
use crate::sql::*;

impl Renderer<'_> {
    pub(super) fn query(&mut self, query: &Query) {
        if let Some(with) = &query.with {
            self.push(if with.recursive { "WITH RECURSIVE " } else { "WITH " });
            self.list(&with.tables, Self::common_table);
            self.push(" ");
        }
        self.body(&query.body);
        if !query.order_by.is_empty() {
            self.push(" ORDER BY ");
            self.list(&query.order_by, Self::order_item);
        }
        self.limit(query);
        match query.locking {
            Some(Locking::Update) if self.can(Feature::Locking) => self.push(" FOR UPDATE"),
            Some(Locking::Share) if self.can(Feature::ForShare) => self.push(" FOR SHARE"),
            _ => {}
        }
    }

    fn limit(&mut self, query: &Query) {
        let limit = query.limit.as_ref();
        let offset = query.offset.as_ref();
        let parts = match &self.dialect.spelling.limit {
            None => [(" LIMIT {}", limit), (" OFFSET {}", offset)],
            Some(spelling) => [(spelling.offset.as_str(), offset), (spelling.limit.as_str(), limit)],
        };
        for (form, expr) in parts {
            if let (Some((before, after)), Some(expr)) = (form.split_once("{}"), expr) {
                self.push(before);
                self.expr(expr);
                self.push(after);
            }
        }
    }

    pub(super) fn subquery(&mut self, query: &Query) {
        self.push("(");
        self.query(query);
        self.push(")");
    }

    fn common_table(&mut self, table: &CommonTable) {
        self.name(&table.name);
        if !table.columns.is_empty() {
            self.tuple(&table.columns, |r, name| r.name(name));
        }
        self.push(match table.materialized {
            Some(true) if self.can(Feature::CteMaterialized) => " AS MATERIALIZED ",
            Some(false) if self.can(Feature::CteMaterialized) => " AS NOT MATERIALIZED ",
            _ => " AS ",
        });
        self.subquery(&table.query);
    }

    fn body(&mut self, body: &Body) {
        match body {
            Body::Select(select) => self.select(select),
            Body::Values(rows) => {
                self.push("VALUES ");
                self.list(rows, |r, row| r.tuple(row, Self::expr));
            }
            Body::Nested(query) => self.subquery_as_operand(|r| r.query(query)),
            Body::Compound { op, all, left, right } => {
                // SQLite reads compounds strictly from the left and knows no parentheses there;
                // elsewhere INTERSECT binds tighter, so nested compounds are parenthesised.
                if matches!(**left, Body::Compound { .. }) && self.can(Feature::NestedCompounds) {
                    self.subquery_as_operand(|r| r.body(left));
                } else {
                    self.body(left);
                }
                self.push(match op {
                    SetOp::Union => " UNION ",
                    SetOp::Intersect => " INTERSECT ",
                    SetOp::Except => " EXCEPT ",
                });
                if *all {
                    self.push("ALL ");
                }
                match **right {
                    Body::Compound { .. } => self.subquery_as_operand(|r| r.body(right)),
                    _ => self.body(right),
                }
            }
        }
    }

    fn subquery_as_operand(&mut self, inner: impl FnOnce(&mut Self)) {
        self.push(if self.can(Feature::NestedCompounds) { "(" } else { "SELECT * FROM (" });
        inner(self);
        self.push(")");
    }

    fn select(&mut self, select: &Select) {
        self.push(if select.distinct { "SELECT DISTINCT " } else { "SELECT " });
        self.select_items(&select.items);
        if !select.from.is_empty() {
            self.push(" FROM ");
            self.list(&select.from, Self::table_ref);
        } else if let Some(table) = &self.dialect.spelling.from_nothing {
            self.push(" FROM ");
            self.push(table);
        }
        if let Some(filter) = &select.filter {
            self.push(" WHERE ");
            self.expr(filter);
        }
        if !select.group_by.is_empty() {
            self.push(" GROUP BY ");
            self.group_by(select.grouping, &select.group_by);
        }
        if let Some(having) = &select.having {
            self.push(" HAVING ");
            self.expr(having);
        }
        if !select.windows.is_empty() {
            self.push(" WINDOW ");
            self.list(&select.windows, |r, window| {
                r.name(&window.name);
                r.push(" AS ");
                r.window_spec(&window.spec);
            });
        }
    }

    fn group_by(&mut self, grouping: Grouping, keys: &[Expr]) {
        if self.can(Feature::WithRollup) {
            self.list(keys, Self::expr);
            self.push(if grouping.is_plain() { "" } else { " WITH ROLLUP" });
            return;
        }
        match grouping {
            Grouping::Plain => self.list(keys, Self::expr),
            Grouping::Rollup => {
                self.push("ROLLUP ");
                self.tuple(keys, Self::expr);
            }
            Grouping::Cube => {
                self.push("CUBE ");
                self.tuple(keys, Self::expr);
            }
            Grouping::Sets => {
                self.push("GROUPING SETS (");
                for key in keys {
                    self.tuple(std::slice::from_ref(key), Self::expr);
                    self.push(", ");
                }
                self.push("())");
            }
        }
    }

    /// Where no two items may have the same name, one that stands there twice gets another.
    fn select_items(&mut self, items: &[SelectItem]) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            self.select_item(item);
            let nameless = matches!(item, SelectItem::Expr { alias: None, .. });
            if nameless && self.can(Feature::UniqueItems) && items[..at].contains(item) {
                self.push(&format!(" AS again{at}"));
            }
        }
    }

    fn select_item(&mut self, item: &SelectItem) {
        match item {
            SelectItem::Expr { expr, alias } => {
                self.expr(expr);
                if let Some(alias) = alias {
                    self.push(" AS ");
                    self.name(alias);
                }
            }
            SelectItem::Wildcard => self.push("*"),
            SelectItem::TableWildcard(table) => {
                self.name(table);
                self.push(".*");
            }
        }
    }

    pub(super) fn order_item(&mut self, item: &OrderItem) {
        self.expr(&item.expr);
        if item.desc {
            self.push(" DESC");
        }
        if self.can(Feature::NullsOrder) {
            self.push(match item.nulls {
                Some(NullsOrder::First) => " NULLS FIRST",
                Some(NullsOrder::Last) => " NULLS LAST",
                None => "",
            });
        }
    }

    fn table_ref(&mut self, table: &TableRef) {
        match table {
            TableRef::Table { name, alias, hint } => {
                self.name(name);
                if let Some(alias) = alias {
                    self.push(" AS ");
                    self.name(alias);
                }
                match hint {
                    Some(IndexHint::IndexedBy(index)) if self.can(Feature::IndexHints) => {
                        let form = &self.dialect.spelling.indexed_by;
                        let (before, after) = form.split_once("{}").unwrap_or_default();
                        self.push(" ");
                        self.push(before);
                        self.name(index);
                        self.push(after);
                    }
                    Some(IndexHint::NotIndexed) if self.can(Feature::IndexHints) => {
                        self.push(" ");
                        self.push(&self.dialect.spelling.not_indexed);
                    }
                    _ => {}
                }
            }
            TableRef::Derived { query, alias, columns, lateral } => {
                if *lateral {
                    self.push("LATERAL ");
                }
                self.subquery(query);
                self.push(" AS ");
                self.name(alias);
                if !columns.is_empty() {
                    self.tuple(columns, |r, name| r.name(name));
                }
            }
            TableRef::Join { kind, left, right, on } => {
                self.table_ref(left);
                self.push(if matches!(on, JoinOn::Natural) { " NATURAL" } else { "" });
                self.push(match kind {
                    JoinKind::Inner => " JOIN ",
                    JoinKind::Left => " LEFT JOIN ",
                    JoinKind::Right => " RIGHT JOIN ",
                    JoinKind::Full => " FULL JOIN ",
                    JoinKind::Cross => " CROSS JOIN ",
                });
                if matches!(**right, TableRef::Join { .. }) {
                    self.push("(");
                    self.table_ref(right);
                    self.push(")");
                } else {
                    self.table_ref(right);
                }
                match on {
                    JoinOn::Nothing | JoinOn::Natural => {}
                    JoinOn::On(condition) => {
                        self.push(" ON ");
                        self.expr(condition);
                    }
                    JoinOn::Using(columns) => {
                        self.push(" USING ");
                        self.tuple(columns, |r, name| r.name(name));
                    }
                }
            }
            TableRef::Function { name, args, alias, columns } => {
                if name.contains("{}") {
                    self.form(name, args);
                } else {
                    self.push(name);
                    self.tuple(args, Self::expr);
                }
                self.push(" AS ");
                self.name(alias);
                if !columns.is_empty() {
                    self.tuple(columns, |r, name| r.name(name));
                }
            }
        }
    }
}
