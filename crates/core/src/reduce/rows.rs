//! Rows of INSERT statements, and INSERT statements that could be one.

use super::sites::{statement_mut, statements};
use super::{Edit, Pass};
use crate::sql::{Insert, InsertSource, Statement};
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
