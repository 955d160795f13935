//! Relations in queries: a join becomes one of its sides; hints, aliases and conditions are dropped.

use super::sites::{change_select, change_table, each_select, each_table, replace_in_tests};
use super::statements::mentions;
use super::{Edit, Pass};
use crate::sql::*;
use crate::subject::TestCase;

/// One table in the place of another, which is then not needed.
pub struct OneTable;

impl Pass for OneTable {
    fn name(&self) -> &'static str {
        "one-table"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let tables: Vec<Name> = case
            .setup
            .iter()
            .filter_map(|statement| match statement {
                Statement::CreateTable(create) => Some(create.name.clone()),
                _ => None,
            })
            .collect();
        let pairs = tables.iter().flat_map(|gone| tables.iter().map(move |kept| (gone, kept)));
        pairs
            .filter(|(gone, kept)| gone != kept)
            .map(|(gone, kept)| {
                let (gone, kept) = (gone.clone(), kept.clone());
                Edit::new(move |case| use_instead(case, &gone, &kept))
            })
            .collect()
    }
}

/// Queries read `kept` under the name of `gone`; what builds `gone` goes.
fn use_instead(case: &mut TestCase, gone: &Name, kept: &Name) -> bool {
    let mut places = Vec::new();
    each_table(case, |at, table| {
        if matches!(table, TableRef::Table { name, .. } if name == gone) {
            places.push(at);
        }
    });
    // The name itself could be taken for the other table's, so it becomes an alias of its own.
    let alias = Name::from(format!("a{}", gone.as_str()));
    let mut qualified = false;
    for at in &places {
        change_table(case, *at, |table| {
            *table = match table {
                TableRef::Table { alias: Some(alias), .. } => {
                    TableRef::Table { name: kept.clone(), alias: Some(alias.clone()), hint: None }
                }
                _ => {
                    qualified = true;
                    TableRef::Table { name: kept.clone(), alias: Some(alias.clone()), hint: None }
                }
            };
            true
        });
    }
    if qualified {
        replace_in_tests(case, |expr| match expr {
            Expr::Column(column) if column.table.as_ref() == Some(gone) => {
                Some(Expr::column(alias.clone(), column.column.clone()))
            }
            _ => None,
        });
    }
    case.setup.retain(|statement| !mentions(statement, gone));
    !places.is_empty()
}

pub struct Joins;

/// What takes the place of columns whose relation is gone.
#[derive(Clone, Copy)]
enum Orphans {
    Left,
    Null,
    One,
}

const ORPHANS: [Orphans; 3] = [Orphans::Left, Orphans::Null, Orphans::One];

impl Pass for Joins {
    fn name(&self) -> &'static str {
        "joins"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = Vec::new();
        each_select(case, |at, select| {
            for relation in (0..select.from.len()).rev() {
                let gone = names_of(&select.from[relation]);
                for orphans in ORPHANS {
                    let gone = gone.clone();
                    edits.push(Edit::new(move |case| {
                        let removed = change_select(case, at, |select| {
                            let there = relation < select.from.len();
                            if there {
                                select.from.remove(relation);
                            }
                            there
                        });
                        removed && adopt(case, &gone, orphans)
                    }));
                }
            }
        });
        each_table(case, |at, table| of_table(at, table, &mut edits));
        edits
    }
}

fn of_table(at: usize, table: &TableRef, edits: &mut Vec<Edit>) {
    let mut push = |f: fn(&mut TableRef) -> bool| {
        edits.push(Edit::new(move |case| change_table(case, at, f)));
    };
    match table {
        TableRef::Join { left, right, kind, on } => {
            if *kind != JoinKind::Inner {
                push(|table| match table {
                    TableRef::Join { kind, .. } => {
                        std::mem::replace(kind, JoinKind::Inner) != JoinKind::Inner
                    }
                    _ => false,
                });
            }
            if *on != JoinOn::Nothing {
                push(|table| match table {
                    TableRef::Join { on, .. } => std::mem::replace(on, JoinOn::Nothing) != JoinOn::Nothing,
                    _ => false,
                });
            }
            for (keep_left, gone) in [(true, names_of(right)), (false, names_of(left))] {
                for orphans in ORPHANS {
                    let gone = gone.clone();
                    edits.push(Edit::new(move |case| {
                        change_table(case, at, |table| keep_side(table, keep_left))
                            && adopt(case, &gone, orphans)
                    }));
                }
            }
        }
        TableRef::Table { hint, alias, .. } => {
            if hint.is_some() {
                push(|table| match table {
                    TableRef::Table { hint, .. } => hint.take().is_some(),
                    _ => false,
                });
            }
            if alias.is_some() {
                edits.push(Edit::new(move |case| without_alias(case, at)));
            }
        }
        TableRef::Derived { columns, lateral, .. } => {
            if !columns.is_empty() {
                push(|table| match table {
                    TableRef::Derived { columns, .. } => !std::mem::take(columns).is_empty(),
                    _ => false,
                });
            }
            if *lateral {
                push(|table| match table {
                    TableRef::Derived { lateral, .. } => std::mem::take(lateral),
                    _ => false,
                });
            }
        }
        TableRef::Function { .. } => {}
    }
}

fn keep_side(table: &mut TableRef, keep_left: bool) -> bool {
    let TableRef::Join { left, right, .. } = table else { return false };
    let kept = if keep_left { left } else { right };
    *table = (**kept).clone();
    true
}

/// The relation under its own name, and columns named after it.
fn without_alias(case: &mut TestCase, at: usize) -> bool {
    let (mut from, mut to) = (None, None);
    change_table(case, at, |table| {
        if let TableRef::Table { name, alias, .. } = table {
            (from, to) = (alias.take(), Some(name.clone()));
        }
        true
    });
    let (Some(from), Some(to)) = (from, to) else { return false };
    replace_in_tests(case, |expr| match expr {
        Expr::Column(column) if column.table.as_ref() == Some(&from) => {
            Some(Expr::column(to.clone(), column.column.clone()))
        }
        _ => None,
    });
    true
}

/// The names by which columns of a FROM item are qualified.
fn names_of(table: &TableRef) -> Vec<Name> {
    match table {
        TableRef::Table { name, alias, .. } => vec![alias.as_ref().unwrap_or(name).clone()],
        TableRef::Derived { alias, .. } | TableRef::Function { alias, .. } => vec![alias.clone()],
        TableRef::Join { left, right, .. } => {
            let mut names = names_of(left);
            names.extend(names_of(right));
            names
        }
    }
}

/// Gives the columns of relations that are gone a substitute.
fn adopt(case: &mut TestCase, gone: &[Name], orphans: Orphans) -> bool {
    let substitute = match orphans {
        Orphans::Left => return true,
        Orphans::Null => Expr::null(),
        Orphans::One => Expr::int(1),
    };
    // Without orphans this is the edit that leaves them, which has been tried.
    replace_in_tests(case, |expr| match expr {
        Expr::Column(ColumnRef { table: Some(table), .. }) if gone.contains(table) => {
            Some(substitute.clone())
        }
        _ => None,
    })
}
