//! Inlines views and common table expressions where they are used, and derived tables into what they read.

use super::sites::{change_select, change_table, each_select, each_table, replace_in_tests};
use super::{Edit, Pass};
use crate::sql::*;
use crate::subject::TestCase;

pub struct Inline;

impl Pass for Inline {
    fn name(&self) -> &'static str {
        "inline"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = Vec::new();
        let views: Vec<CreateView> = case
            .setup
            .iter()
            .filter_map(|statement| match statement {
                Statement::CreateView(view) if view.columns.is_empty() => Some(view.clone()),
                _ => None,
            })
            .collect();
        let common = common_tables(case);
        each_table(case, |at, table| {
            let TableRef::Table { name, alias, .. } = table else { return };
            let alias = alias.as_ref().unwrap_or(name).clone();
            if let Some(view) = views.iter().find(|view| view.name == *name) {
                let (view, alias) = (view.clone(), alias);
                edits.push(Edit::new(move |case| {
                    let used = change_table(case, at, |table| {
                        *table = derived(&view.query, &alias);
                        true
                    });
                    case.setup.retain(|statement| {
                        !matches!(statement, Statement::CreateView(other) if other.name == view.name)
                    });
                    used
                }));
            } else if let Some(table) = common.iter().find(|table| table.name == *name) {
                let (query, alias) = (table.query.clone(), alias);
                edits.push(Edit::new(move |case| {
                    let used = change_table(case, at, |table| {
                        *table = derived(&query, &alias);
                        true
                    });
                    for test in &mut case.subject.tests {
                        if let Statement::Query(query) = test {
                            query.with = None;
                        }
                    }
                    used
                }));
            }
        });
        each_select(case, |at, select| {
            for relation in 0..select.from.len() {
                if matches!(select.from[relation], TableRef::Derived { .. }) {
                    edits.push(Edit::new(move |case| dissolve(case, at, relation)));
                }
            }
        });
        each_table(case, |at, table| {
            if let TableRef::Join { left, right, .. } = table {
                for (side, inner) in [(true, left), (false, right)] {
                    if matches!(**inner, TableRef::Derived { .. }) {
                        edits.push(Edit::new(move |case| dissolve_in_join(case, at, side)));
                    }
                }
            }
        });
        edits
    }
}

fn common_tables(case: &TestCase) -> Vec<CommonTable> {
    let queries = case.subject.tests.iter().filter_map(|test| match test {
        Statement::Query(query) => query.with.as_ref(),
        _ => None,
    });
    let plain = |table: &&CommonTable| table.columns.is_empty() && !table.reads_itself();
    queries.flat_map(|with| with.tables.iter()).filter(plain).cloned().collect()
}

fn derived(query: &Query, alias: &Name) -> TableRef {
    TableRef::Derived {
        query: Box::new(query.clone()),
        alias: alias.clone(),
        columns: Vec::new(),
        lateral: false,
    }
}

/// What a derived table is made of, if it is a plain selection from one relation: that relation, the
/// expressions its columns stand for, and its WHERE.
struct Parts {
    alias: Name,
    relation: TableRef,
    columns: Vec<(Name, Expr)>,
    filter: Option<Expr>,
}

fn parts(table: &TableRef) -> Option<Parts> {
    let TableRef::Derived { query, alias, columns, .. } = table else { return None };
    let select = query.as_select()?;
    let plain = query.with.is_none()
        && query.limit.is_none()
        && columns.is_empty()
        && !select.distinct
        && select.group_by.is_empty()
        && select.having.is_none();
    let [relation] = select.from.as_slice() else { return None };
    let column = |item: &SelectItem| match item {
        SelectItem::Expr { expr, alias: Some(name) } => Some((name.clone(), expr.clone())),
        SelectItem::Expr { expr: Expr::Column(column), alias: None } => {
            Some((column.column.clone(), Expr::Column(column.clone())))
        }
        _ => None,
    };
    let columns = select.items.iter().map(column).collect::<Option<Vec<_>>>()?;
    plain.then(|| Parts {
        alias: alias.clone(),
        relation: relation.clone(),
        columns,
        filter: select.filter.clone(),
    })
}

/// A derived table of a FROM list, its WHERE joined to that of the query.
fn dissolve(case: &mut TestCase, at: usize, relation: usize) -> bool {
    let mut found = None;
    let changed = change_select(case, at, |select| {
        let Some(parts) = select.from.get(relation).and_then(parts) else { return false };
        select.from[relation] = parts.relation.clone();
        if let Some(filter) = parts.filter.clone() {
            select.filter = Some(match select.filter.take() {
                Some(outer) => filter.and(outer),
                None => filter,
            });
        }
        found = Some(parts);
        true
    });
    changed && found.is_some_and(|parts| resolve(case, &parts))
}

/// A derived table in a join; its WHERE is left out, because where it belongs depends on the join.
fn dissolve_in_join(case: &mut TestCase, at: usize, left_side: bool) -> bool {
    let mut found = None;
    let changed = change_table(case, at, |table| {
        let TableRef::Join { left, right, .. } = table else { return false };
        let side = if left_side { left } else { right };
        let Some(parts) = parts(side) else { return false };
        **side = parts.relation.clone();
        found = Some(parts);
        true
    });
    changed && found.is_some_and(|parts| resolve(case, &parts))
}

/// Columns of the derived table become what they stand for.
fn resolve(case: &mut TestCase, parts: &Parts) -> bool {
    replace_in_tests(case, |expr| match expr {
        Expr::Column(ColumnRef { table: Some(table), column }) if *table == parts.alias => {
            let stands_for = parts.columns.iter().find(|(name, _)| name == column);
            stands_for.map(|(_, expr)| expr.clone())
        }
        _ => None,
    });
    true
}
