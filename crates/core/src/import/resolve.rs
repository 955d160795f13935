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
    resolve_body(&mut query.body, with.as_ref(), state, dialect);
    query
}

fn resolve_body(body: &mut Body, with: Option<&With>, state: &State, dialect: &Dialect) {
    match body {
        Body::Select(select) => resolve_select(select, with, state, dialect),
        Body::Compound { left, right, .. } => {
            resolve_body(left, with, state, dialect);
            resolve_body(right, with, state, dialect);
        }
        Body::Nested(_) | Body::Values(_) => {}
    }
}

fn resolve_select(select: &mut Select, with: Option<&With>, state: &State, dialect: &Dialect) {
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
    select
        .group_by
        .iter_mut()
        .filter(|key| !names_alias(key, &select.items))
        .for_each(|key| qualifier.expr(key));
}

/// A key that may be another name for an item.
fn names_alias(key: &Expr, items: &[SelectItem]) -> bool {
    let Expr::Column(ColumnRef { table: None, column }) = key else { return false };
    items.iter().any(|item| matches!(item, SelectItem::Expr { alias: Some(alias), .. } if alias == column))
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
