//! Drops whole statements: in halving chunks, one by one, and a table with everything that depends on it.

use super::sites::statements;
use super::{Edit, Pass};
use crate::sql::visit::{Visitor, walk_statement, walk_table};
use crate::sql::*;
use crate::subject::TestCase;

pub struct Statements;

impl Pass for Statements {
    fn name(&self) -> &'static str {
        "statements"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = chunks(case.setup.len(), case.setup.len(), |case| &mut case.setup);
        // At least one thing is under test.
        let tests = case.subject.tests.len();
        if tests > 1 {
            edits.extend(chunks(tests, tests / 2, |case| &mut case.subject.tests));
        }
        edits
    }
}

/// Without a chunk of a list, then of half its size, down to single statements.
fn chunks(count: usize, largest: usize, list: fn(&mut TestCase) -> &mut Vec<Statement>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut size = largest;
    while size > 0 {
        // From the end: what comes later depends on what came before.
        let mut end = count;
        while end > 0 {
            let start = end.saturating_sub(size);
            edits.push(Edit::new(move |case| {
                let list = list(case);
                let there = end <= list.len();
                if there {
                    list.drain(start..end);
                }
                there
            }));
            end = start;
        }
        size /= 2;
    }
    edits
}

/// What is under test first becomes a part of the setup, if the rest shows the difference alone.
pub struct Settle;

impl Pass for Settle {
    fn name(&self) -> &'static str {
        "settle"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let settle = |count: usize| {
            Edit::new(move |case| {
                let there = count < case.subject.tests.len();
                if there {
                    case.setup.extend(case.subject.tests.drain(..count));
                }
                there
            })
        };
        (1..case.subject.tests.len()).rev().map(settle).collect()
    }
}

/// A table or view, and every statement that names it.
pub struct Tables;

impl Pass for Tables {
    fn name(&self) -> &'static str {
        "tables"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let created = statements(case).filter_map(|statement| match statement {
            Statement::CreateTable(create) => Some(create.name.clone()),
            Statement::CreateView(create) => Some(create.name.clone()),
            _ => None,
        });
        let drop_all = |name: Name| {
            Edit::new(move |case| {
                let before = statements(case).count();
                case.setup.retain(|statement| !mentions(statement, &name));
                // At least one thing is under test.
                if !case.subject.tests.iter().all(|statement| mentions(statement, &name)) {
                    case.subject.tests.retain(|statement| !mentions(statement, &name));
                }
                statements(case).count() < before
            })
        };
        created.map(drop_all).collect()
    }
}

/// Whether a statement names a table or view, other than in text nobody reads.
pub(super) fn mentions(statement: &Statement, table: &Name) -> bool {
    struct Mentions<'a> {
        table: &'a Name,
        found: bool,
    }
    impl Visitor for Mentions<'_> {
        fn table(&mut self, table: &TableRef) {
            if let TableRef::Table { name, .. } = table {
                self.found |= name == self.table;
            }
            walk_table(self, table);
        }
    }
    let own = match statement {
        Statement::CreateTable(create) => Some(&create.name),
        Statement::CreateIndex(create) => Some(&create.table),
        Statement::CreateView(create) => Some(&create.name),
        Statement::AlterTable { table, .. } => Some(table),
        Statement::Drop { name, .. } => Some(name),
        Statement::Insert(insert) => Some(&insert.table),
        Statement::Update(update) => Some(&update.table),
        Statement::Delete(delete) => Some(&delete.table),
        Statement::Analyze(name) | Statement::Reindex(name) => name.as_ref(),
        _ => None,
    };
    if own == Some(table) {
        return true;
    }
    let mut mentions = Mentions { table, found: false };
    walk_statement(&mut mentions, statement);
    mentions.found
}
