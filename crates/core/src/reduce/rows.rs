//! Rows of INSERT statements, and statements that could be one with an INSERT.

use super::sites::{columns_of, statement_mut, statements};
use super::{Edit, Pass};
use crate::sql::{Expr, Insert, InsertSource, Statement};
use crate::subject::Subject;

pub struct Rows;

impl Pass for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn candidates(&self, subject: &Subject) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (at, statement) in statements(subject).enumerate() {
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
    Edit::new(move |subject| match statement_mut(subject, at) {
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

    fn candidates(&self, subject: &Subject) -> Vec<Edit> {
        let count = subject.setup.len();
        let pairs = (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
        let fits = |(first, second): &(usize, usize)| matches!((&subject.setup[*first], &subject.setup[*second]), (Statement::Insert(a), Statement::Insert(b)) if alike(a, b));
        let merge = |(first, second): (usize, usize)| {
            Edit::new(move |subject| {
                if second >= subject.setup.len() {
                    return false;
                }
                let Statement::Insert(later) = subject.setup.remove(second) else { return false };
                let Statement::Insert(earlier) = &mut subject.setup[first] else { return false };
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

    fn candidates(&self, subject: &Subject) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (later, statement) in subject.setup.iter().enumerate() {
            let Statement::Update(update) = statement else { continue };
            if !update.assignments.iter().all(|assignment| matches!(assignment.value, Expr::Literal(_))) {
                continue;
            }
            for earlier in 0..later {
                let Statement::Insert(insert) = &subject.setup[earlier] else { continue };
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
    Edit::new(move |subject| {
        let Some(Statement::Update(update)) = subject.setup.get(later).cloned() else { return false };
        let columns = columns_of(subject, &update.table);
        let Some(Statement::Insert(insert)) = subject.setup.get_mut(earlier) else { return false };
        let named = if insert.columns.is_empty() { &columns } else { &insert.columns };
        let InsertSource::Values(rows) = &mut insert.source else { return false };
        for assignment in update.assignments {
            let Some(at) = named.iter().position(|name| *name == assignment.column) else { return false };
            for row in rows.iter_mut() {
                let Some(value) = row.get_mut(at) else { return false };
                *value = assignment.value.clone();
            }
        }
        subject.setup.remove(later);
        true
    })
}
