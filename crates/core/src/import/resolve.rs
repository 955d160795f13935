//! Qualifies the columns of a given query and expands `*`, because oracles and gates look columns up by both names.
//! The engine confirms that the query still says the same.

use crate::dialect::Dialect;
use crate::sql::visit::{Editor, edit_expr};
use crate::sql::*;
use crate::state::{Column, State};

type Relations = Vec<(Name, std::sync::Arc<Vec<Column>>)>;

/// The query with the columns of its own SELECTs named in full, as far as the state tells what they are.
pub fn resolved(query: &Query, state: &State, dialect: &Dialect) -> Query {
    let mut query = query.clone();
    let with = query.with.clone();
    resolve_body(&mut query.body, &mut query.order_by, with.as_ref(), state, dialect);
    query
}

fn resolve_body(
    body: &mut Body,
    order_by: &mut [OrderItem],
    with: Option<&With>,
    state: &State,
    dialect: &Dialect,
) {
    match body {
        Body::Select(select) => resolve_select(select, order_by, with, state, dialect),
        // The keys of a set operator are names of its columns.
        Body::Compound { left, right, .. } => {
            resolve_body(left, &mut [], with, state, dialect);
            resolve_body(right, &mut [], with, state, dialect);
        }
        Body::Nested(_) | Body::Values(_) => {}
    }
}

fn resolve_select(
    select: &mut Select,
    order_by: &mut [OrderItem],
    with: Option<&With>,
    state: &State,
    dialect: &Dialect,
) {
    let mut relations: Relations = Vec::new();
    select.from.iter().for_each(|table| state.relations_of(table, with, dialect, &mut relations));
    // Of a relation that is not known, any column might be.
    if relations.is_empty() || relations.iter().any(|(_, columns)| columns.is_empty()) {
        return;
    }
    // Under USING and NATURAL a column may be that of two tables.
    let merged = select.from.iter().any(merges);
    if !merged {
        let items = std::mem::take(&mut select.items);
        select.items = items.into_iter().flat_map(|item| expanded(item, &relations)).collect();
    }
    let mut qualifier = Qualifier(&relations);
    for item in &mut select.items {
        if let SelectItem::Expr { expr, .. } = item {
            qualifier.expr(expr);
        }
    }
    select.filter.iter_mut().for_each(|filter| qualifier.expr(filter));
    select.from.iter_mut().for_each(|table| qualify_conditions(table, &mut qualifier));
    for key in select.group_by.iter_mut().filter(|key| matches!(key, Expr::Literal(_))) {
        *key = item_column(key, &select.items).unwrap_or_else(|| key.clone());
    }
    for key in order_by.iter_mut() {
        key.expr = item_column(&key.expr, &select.items).unwrap_or_else(|| key.expr.clone());
    }
    // In an expression, dialects disagree whether a name is that of an item first.
    let keys = select.group_by.iter_mut().chain(&mut select.having);
    keys.chain(order_by.iter_mut().map(|key| &mut key.expr))
        .filter(|key| !inspect::names_alias(key, &select.items))
        .for_each(|key| qualifier.expr(key));
}

/// The column that a key means by the place of an item, or by its name.
fn item_column(key: &Expr, items: &[SelectItem]) -> Option<Expr> {
    let mut exprs = Vec::new();
    for item in items {
        let SelectItem::Expr { expr, alias } = item else { return None };
        exprs.push((expr, alias));
    }
    let meant = match key {
        Expr::Literal(Value::Int(place)) => exprs.get(usize::try_from(*place).ok()?.checked_sub(1)?)?.0,
        Expr::Column(ColumnRef { table: None, column }) => {
            let is_called = |(expr, alias): &&(&Expr, &Option<Name>)| match (alias, expr) {
                (Some(alias), _) => alias.eq_ignore_ascii_case(column),
                (None, Expr::Column(reference)) => reference.column.eq_ignore_ascii_case(column),
                _ => false,
            };
            let mut called = exprs.iter().filter(is_called);
            match (called.next(), called.next()) {
                (Some((expr, _)), None) => expr,
                _ => return None,
            }
        }
        _ => return None,
    };
    matches!(meant, Expr::Column(ColumnRef { table: Some(_), .. })).then(|| meant.clone())
}

fn merges(table: &TableRef) -> bool {
    match table {
        TableRef::Join { left, right, on, .. } => {
            matches!(on, JoinOn::Using(_) | JoinOn::Natural) || merges(left) || merges(right)
        }
        _ => false,
    }
}

fn expanded(item: SelectItem, relations: &Relations) -> Vec<SelectItem> {
    let columns = |(table, columns): &(Name, std::sync::Arc<Vec<Column>>)| {
        columns
            .iter()
            .map(|column| Expr::column(table.clone(), column.name.clone()).into())
            .collect::<Vec<_>>()
    };
    match item {
        SelectItem::Wildcard => relations.iter().flat_map(columns).collect(),
        SelectItem::TableWildcard(table) => {
            relations.iter().filter(|(name, _)| *name == table).flat_map(columns).collect()
        }
        other => vec![other],
    }
}

fn qualify_conditions(table: &mut TableRef, qualifier: &mut Qualifier) {
    if let TableRef::Join { left, right, on, .. } = table {
        qualify_conditions(left, qualifier);
        qualify_conditions(right, qualifier);
        if let JoinOn::On(condition) = on {
            qualifier.expr(condition);
        }
    }
}

/// Names the table of columns that are of exactly one relation. What is in subqueries is theirs.
struct Qualifier<'a>(&'a Relations);

impl Editor for Qualifier<'_> {
    fn query(&mut self, _: &mut Query) {}

    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(ColumnRef { table: table @ None, column }) = expr {
            let has = |(_, columns): &&(Name, std::sync::Arc<Vec<Column>>)| {
                columns.iter().any(|c| c.name == *column)
            };
            let mut owners = self.0.iter().filter(has);
            if let (Some((owner, _)), None) = (owners.next(), owners.next()) {
                *table = Some(owner.clone());
            }
            return;
        }
        edit_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import;
    use crate::render::to_sql;

    /// A query over `t(a, b)` and `u(b, c)`, as it is resolved.
    fn shown(sql: &str) -> String {
        let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
        let mut state = State::default();
        for sql in ["CREATE TABLE t(a INT, b INT)", "CREATE TABLE u(b INT, c INT)"] {
            state.apply(&import::statement(sql, 1, &dialect).statement, &dialect);
        }
        match import::statement(sql, 1, &dialect).statement {
            Statement::Query(query) => {
                to_sql(&Statement::from(resolved(&query, &state, &dialect)), &dialect).replace('"', "")
            }
            other => panic!("{sql}: {other:?}"),
        }
    }

    #[test]
    fn every_clause_names_columns_in_full() {
        for (sql, full) in [
            (
                "SELECT a FROM t WHERE b > 1 ORDER BY a DESC, b + 1 LIMIT 2",
                "SELECT t.a FROM t WHERE t.b > 1 ORDER BY t.a DESC, t.b + 1 LIMIT 2",
            ),
            (
                "SELECT a, COUNT(c) FROM t, u GROUP BY a HAVING a > 1 ORDER BY COUNT(c)",
                "SELECT t.a, COUNT(u.c) FROM t, u GROUP BY t.a HAVING t.a > 1 ORDER BY COUNT(u.c)",
            ),
            ("SELECT * FROM t ORDER BY 2, a", "SELECT t.a, t.b FROM t ORDER BY t.b, t.a"),
            (
                "SELECT b AS a, COUNT(*) FROM t GROUP BY 1 ORDER BY a",
                "SELECT t.b AS a, COUNT(*) FROM t GROUP BY t.b ORDER BY t.b",
            ),
        ] {
            assert_eq!(shown(sql), full);
        }
    }

    #[test]
    fn what_may_be_another_name_for_an_item_stays() {
        for (sql, full) in [
            ("SELECT b + 1 AS a FROM t ORDER BY a, b", "SELECT t.b + 1 AS a FROM t ORDER BY a, t.b"),
            ("SELECT b AS a, a FROM t ORDER BY a", "SELECT t.b AS a, t.a FROM t ORDER BY a"),
            ("SELECT 2, a FROM t ORDER BY 1", "SELECT 2, t.a FROM t ORDER BY 1"),
            ("SELECT b AS a FROM t ORDER BY a + 1", "SELECT t.b AS a FROM t ORDER BY a + 1"),
            (
                "SELECT COUNT(*) AS a FROM t GROUP BY b HAVING a > 1",
                "SELECT COUNT(*) AS a FROM t GROUP BY t.b HAVING a > 1",
            ),
            (
                "SELECT a FROM t UNION SELECT b FROM t ORDER BY a",
                "SELECT t.a FROM t UNION SELECT t.b FROM t ORDER BY a",
            ),
            // Both tables have it.
            ("SELECT a FROM t, u ORDER BY b", "SELECT t.a FROM t, u ORDER BY b"),
        ] {
            assert_eq!(shown(sql), full);
        }
    }
}
