//! INDEX: a query gives the same rows with an index and without it (Liang, Liu and Hu, "Detecting Logical Bugs
//! of DBMS with Coverage-based Guidance", 2022).
//!
//! ```sql
//! SELECT DISTINCT c0 FROM t0 WHERE c0 = 9;              -- without the index
//! CREATE UNIQUE INDEX i0 ON t0(c0) WHERE c0 = 1;
//! SELECT DISTINCT c0 FROM t0 WHERE c0 = 9;              -- with it
//! ```
//!
//! The tests of a subject are the query and the CREATE INDEX statements. By the choice `indexes` they are added
//! between the questions, or are there already, dropped between the questions and made again. Beyond the paper
//! whole results are compared, not numbers of rows, and unique indexes are not left out: they are built
//! once all rows are in, or not at all.
//!
//! Conditions (SOUNDNESS 6):
//! - The answer does not depend on the order of rows: no LIMIT without a total order, no order-dependent
//!   aggregate or window, no bare column, one representative for what is deduplicated, no sum that rounds.
//! - What cannot be built (a unique index over values that repeat) is not there in either arm.
//! - An error of one arm claims nothing: an index may spare the engine the row that raises it.

use super::Oracle;
use super::again::{self, Change, Words};
use crate::dialect::Feature;
use crate::engine::Trouble;
use crate::finding::Verdict;
use crate::generate::Generator;
use crate::session::Session;
use crate::sql::{CreateIndex, ObjectKind, Query, Statement};
use crate::subject::Subject;

pub struct Index;

/// Whether the indexes are there before the first question and gone before the second.
const INDEXES: &str = "indexes";
const DROPPED: &str = "dropped";

const RELATION: &str = "a query returns the same rows with an index and without it";

impl Oracle for Index {
    fn name(&self) -> &'static str {
        "index"
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows when an index is added or dropped"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Subject> {
        let query = generator.composed_query()?;
        let standing = standing_indexes(generator, &query);
        let dropped = !standing.is_empty() && generator.rng.chance(25);
        let indexes = match dropped {
            true => standing,
            false => {
                let wanted = [1, 1, 1, 2, 3];
                let count = *generator.rng.pick(&wanted);
                (0..count).filter_map(|_| generator.index_for(&query)).collect()
            }
        };
        if indexes.is_empty() {
            return None;
        }
        let mut subject = Subject::new(self.name(), query);
        subject.tests.extend(indexes.into_iter().map(Statement::CreateIndex));
        Some(if dropped { subject.with_choice(INDEXES, DROPPED) } else { subject })
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Trouble> {
        let [Statement::Query(query), rest @ ..] = subject.tests.as_slice() else {
            return Ok(Verdict::skip("not a query and indexes"));
        };
        let dropped = subject.choice(INDEXES) == Some(DROPPED);
        let on_table = session.dialect().can(Feature::DropIndexOn);
        let changes: Vec<Change> = rest
            .iter()
            .filter_map(|statement| match statement {
                Statement::CreateIndex(index) => Some((statement.clone(), drop_index(index, on_table))),
                _ => None,
            })
            .map(|(create, drop)| match dropped {
                true => Change { make: drop, back: create },
                false => Change { make: create, back: drop },
            })
            .collect();
        let (before, change, after) = match dropped {
            true => ("with the index", "the index is dropped", "without the index"),
            false => ("without the index", "the index is added", "with the index"),
        };
        let words =
            Words { relation: RELATION, before, change, after, unchanged: "no index that can be built" };
        again::ask(query, &changes, &words, subject, session)
    }
}

fn drop_index(index: &CreateIndex, on_table: bool) -> Statement {
    let on = on_table.then(|| index.table.clone());
    Statement::Drop { object: ObjectKind::Index, name: index.name.clone(), on, if_exists: false }
}

/// The indexes on tables that the query reads, as they could be made again.
fn standing_indexes(generator: &Generator, query: &Query) -> Vec<CreateIndex> {
    let read = generator.state.base_tables_of(query);
    let reads = |index: &CreateIndex| read.iter().any(|table| table.name == index.table);
    generator.state.indexes.iter().filter_map(|index| index.definition.clone()).filter(reads).collect()
}
