//! Clauses of queries, items of SELECT lists, and the oracle's choices.

use super::sites::{change_query, change_select, each_query, each_select};
use super::{Edit, Pass};
use crate::sql::*;
use crate::subject::TestCase;

/// A choice an oracle can do without.
pub struct Choices;

impl Pass for Choices {
    fn name(&self) -> &'static str {
        "choices"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let without = |name: String| Edit::new(move |case| case.subject.choices.remove(&name).is_some());
        case.subject.choices.keys().cloned().map(without).collect()
    }
}

pub struct Clauses;

impl Pass for Clauses {
    fn name(&self) -> &'static str {
        "clauses"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = Vec::new();
        each_query(case, |at, query| of_query(at, query, &mut edits));
        each_select(case, |at, select| of_select(at, select, &mut edits));
        edits
    }
}

/// Takes one of a list away, if it is there.
fn remove<T>(list: &mut Vec<T>, at: usize) -> bool {
    let there = at < list.len();
    if there {
        list.remove(at);
    }
    there
}

fn of_query(at: usize, query: &Query, edits: &mut Vec<Edit>) {
    let mut push = |f: fn(&mut Query) -> bool| {
        edits.push(Edit::new(move |case| change_query(case, at, f)));
    };
    if query.with.is_some() {
        push(|query| query.with.take().is_some());
        push(|query| query.with.as_mut().is_some_and(|with| std::mem::take(&mut with.recursive)));
    }
    match &query.body {
        Body::Compound { .. } => {
            push(|query| keep_side(&mut query.body, true));
            push(|query| keep_side(&mut query.body, false));
            push(|query| match &mut query.body {
                Body::Compound { all, .. } => !std::mem::replace(all, true),
                _ => false,
            });
        }
        Body::Nested(_) => push(|query| {
            let Body::Nested(inner) = &query.body else { return false };
            *query = (**inner).clone();
            true
        }),
        _ => {}
    }
    if query.limit.is_some() {
        push(|query| query.limit.take().is_some() | query.offset.take().is_some());
    }
    if query.offset.is_some() {
        push(|query| query.offset.take().is_some());
    }
    if query.locking.is_some() {
        push(|query| query.locking.take().is_some());
    }
    for key in (0..query.order_by.len()).rev() {
        edits.push(Edit::new(move |case| change_query(case, at, |query| remove(&mut query.order_by, key))));
        edits.push(Edit::new(move |case| {
            change_query(case, at, |query| {
                query
                    .order_by
                    .get_mut(key)
                    .is_some_and(|item| std::mem::take(&mut item.desc) | item.nulls.take().is_some())
            })
        }));
    }
    let common = query.with.as_ref().map_or(0, |with| with.tables.len());
    for table in (0..common).rev() {
        edits.push(Edit::new(move |case| {
            change_query(case, at, |query| {
                query
                    .with
                    .as_mut()
                    .is_some_and(|with| with.tables.len() > 1 && remove(&mut with.tables, table))
            })
        }));
        edits.push(Edit::new(move |case| {
            change_query(case, at, |query| {
                let table = query.with.as_mut().and_then(|with| with.tables.get_mut(table));
                table.is_some_and(|table| table.materialized.take().is_some())
            })
        }));
        edits.push(Edit::new(move |case| {
            change_query(case, at, |query| {
                let table = query.with.as_mut().and_then(|with| with.tables.get_mut(table));
                table.is_some_and(|table| !std::mem::take(&mut table.columns).is_empty())
            })
        }));
    }
}

fn keep_side(body: &mut Body, keep_left: bool) -> bool {
    let Body::Compound { left, right, .. } = body else { return false };
    let kept = if keep_left { left } else { right };
    *body = (**kept).clone();
    true
}

fn of_select(at: usize, select: &Select, edits: &mut Vec<Edit>) {
    let mut push = |f: fn(&mut Select) -> bool| {
        edits.push(Edit::new(move |case| change_select(case, at, f)));
    };
    if select.filter.is_some() {
        push(|select| select.filter.take().is_some());
    }
    if select.having.is_some() {
        push(|select| select.having.take().is_some());
    }
    if select.distinct {
        push(|select| std::mem::take(&mut select.distinct));
    }
    if !select.group_by.is_empty() {
        push(|select| !std::mem::take(&mut select.group_by).is_empty() | select.having.take().is_some());
    }
    if !select.grouping.is_plain() {
        push(|select| !std::mem::take(&mut select.grouping).is_plain());
    }
    if !select.windows.is_empty() {
        push(|select| !std::mem::take(&mut select.windows).is_empty());
    }
    for key in (0..select.group_by.len()).rev() {
        // With the items that select the key: some oracles require exactly the keys.
        for with_items in [true, false] {
            edits.push(Edit::new(move |case| {
                change_select(case, at, |select| without_key(select, key, with_items))
            }));
        }
    }
}

fn without_key(select: &mut Select, key: usize, with_items: bool) -> bool {
    if key >= select.group_by.len() {
        return false;
    }
    let key = select.group_by.remove(key);
    if with_items {
        select.items.retain(|item| !matches!(item, SelectItem::Expr { expr, .. } if *expr == key));
    }
    !select.items.is_empty()
}

/// The columns of a compound, by its first SELECT.
fn width(body: &Body) -> usize {
    match body {
        Body::Compound { left, .. } => width(left),
        Body::Select(select) => select.items.len(),
        _ => 0,
    }
}

/// Takes a column away from every SELECT of a compound.
fn without_column(body: &mut Body, at: usize) -> bool {
    match body {
        Body::Compound { left, right, .. } => without_column(left, at) && without_column(right, at),
        Body::Select(select) => select.items.len() > 1 && remove(&mut select.items, at),
        _ => false,
    }
}

pub struct Items;

impl Pass for Items {
    fn name(&self) -> &'static str {
        "items"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = Vec::new();
        each_query(case, |at, query| {
            let Body::Compound { .. } = &query.body else { return };
            for item in (0..width(&query.body)).rev() {
                edits.push(Edit::new(move |case| {
                    change_query(case, at, |query| without_column(&mut query.body, item))
                }));
            }
        });
        each_select(case, |at, select| {
            for item in (0..select.items.len()).rev() {
                if select.items.len() > 1 {
                    edits.push(Edit::new(move |case| {
                        change_select(case, at, |select| {
                            select.items.len() > 1 && remove(&mut select.items, item)
                        })
                    }));
                }
                if let SelectItem::Expr { alias: Some(_), .. } = &select.items[item] {
                    edits.push(Edit::new(move |case| {
                        change_select(case, at, |select| match select.items.get_mut(item) {
                            Some(SelectItem::Expr { alias, .. }) => alias.take().is_some(),
                            _ => false,
                        })
                    }));
                }
            }
        });
        edits
    }
}
