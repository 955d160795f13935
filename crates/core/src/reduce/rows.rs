//! Drops rows of INSERT statements, and merges other statements into an INSERT.

use super::sites::{columns_of, statement_mut, statements};
use super::{Edit, Pass};
use crate::sql::{Expr, Insert, InsertSource, Statement};
use crate::subject::TestCase;

pub struct Rows;

impl Pass for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (at, statement) in statements(case).enumerate() {
            let Statement::Insert(Insert { source: InsertSource::Values(rows), .. }) = statement else {
                continue;
            };
            let count = rows.len();
            let mut size = count / 2;
            while size > 0 {
                for start in (0..count).step_by(size) {
                    edits.push(without_rows(at, start, (start + size).min(count)));
                }
                size /= 2;
            }
        }
        edits
    }
}

fn without_rows(at: usize, start: usize, end: usize) -> Edit {
    Edit::new(move |case| match statement_mut(case, at) {
        Some(Statement::Insert(Insert { source: InsertSource::Values(rows), .. }))
            if end <= rows.len() && end - start < rows.len() =>
        {
            rows.drain(start..end);
            true
        }
        _ => false,
    })
}

/// Rows of a later INSERT join those of an earlier one into the same table.
pub struct Merge;

impl Pass for Merge {
    fn name(&self) -> &'static str {
        "merge-inserts"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let count = case.setup.len();
        let pairs = (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
        let fits = |(first, second): &(usize, usize)| matches!((&case.setup[*first], &case.setup[*second]), (Statement::Insert(a), Statement::Insert(b)) if alike(a, b));
        let merge = |(first, second): (usize, usize)| {
            Edit::new(move |case| {
                if second >= case.setup.len() {
                    return false;
                }
                let Statement::Insert(later) = case.setup.remove(second) else { return false };
                let Statement::Insert(earlier) = &mut case.setup[first] else { return false };
                match (&mut earlier.source, later.source) {
                    (InsertSource::Values(rows), InsertSource::Values(more)) => rows.extend(more),
                    _ => return false,
                }
                true
            })
        };
        pairs.filter(fits).map(merge).collect()
    }
}

fn alike(a: &Insert, b: &Insert) -> bool {
    let plain = |insert: &Insert| insert.upsert.is_none() && matches!(insert.source, InsertSource::Values(_));
    a.table == b.table && a.columns == b.columns && a.or == b.or && plain(a) && plain(b)
}

/// Rows come as an UPDATE leaves them.
pub struct Updates;

impl Pass for Updates {
    fn name(&self) -> &'static str {
        "merge-updates"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (later, statement) in case.setup.iter().enumerate() {
            let Statement::Update(update) = statement else { continue };
            if !update.assignments.iter().all(|assignment| matches!(assignment.value, Expr::Literal(_))) {
                continue;
            }
            for earlier in 0..later {
                let Statement::Insert(insert) = &case.setup[earlier] else { continue };
                if insert.table == update.table {
                    edits.push(as_left(earlier, later));
                }
            }
        }
        edits
    }
}

/// Every row gets the values; whether the UPDATE would have chosen it, a check tells.
fn as_left(earlier: usize, later: usize) -> Edit {
    Edit::new(move |case| {
        let Some(Statement::Update(update)) = case.setup.get(later).cloned() else { return false };
        let columns = columns_of(case, &update.table);
        let Some(Statement::Insert(insert)) = case.setup.get_mut(earlier) else { return false };
        let named = if insert.columns.is_empty() { &columns } else { &insert.columns };
        let InsertSource::Values(rows) = &mut insert.source else { return false };
        for assignment in update.assignments {
            let Some(at) = named.iter().position(|name| *name == assignment.column) else { return false };
            for row in rows.iter_mut() {
                let Some(value) = row.get_mut(at) else { return false };
                *value = assignment.value.clone();
            }
        }
        case.setup.remove(later);
        true
    })
}
