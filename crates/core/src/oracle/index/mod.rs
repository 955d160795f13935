//! INDEX: a query returns the same rows with and without an index (Liang, Liu and Hu, "Detecting Logical Bugs
//! of DBMS with Coverage-based Guidance", 2022).
//!
//! ```sql
//! SELECT DISTINCT c0 FROM t0 WHERE c0 = 9;              -- without the index
//! CREATE UNIQUE INDEX i0 ON t0(c0) WHERE c0 = 1;
//! SELECT DISTINCT c0 FROM t0 WHERE c0 = 9;              -- with it
//! ```
//!
//! The tests of a subject are the query and the CREATE INDEX statements. Depending on the choice `indexes`, the indexes
//! are added between the two queries, or they exist already, are dropped between the queries and created again. Beyond
//! the paper, whole results are compared instead of row counts, and unique indexes are used too: they are built after
//! all rows are inserted, or not at all.
//!
//! Conditions (SOUNDNESS 6):
//! - The result does not depend on the order of rows: no LIMIT without a total order, no order-dependent aggregate or
//!   window, no bare column, no deduplicated values that are equal but not identical, no sum that rounds.
//! - An index that cannot be built (a unique one over repeated values) is in neither arm.
//! - An error in one arm only is validated first: with an index, the engine may never read the row that raises it.

use crate::dialect::{Dialect, Feature};
use crate::engine::Stop;
use crate::finding::{Switch, Verdict};
use crate::generate::{Generator, Named, choices};
use crate::oracle::kit::again::{self, Change, Words};
use crate::oracle::{Given, Oracle};
use crate::render::to_sql;
use crate::session::Session;
use crate::sql::{CreateIndex, Expr, IndexKey, Name, ObjectKind, Query, Statement};
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    odds {
        /// Indexes that are there are dropped.
        DROP_STANDING = "index.dropped": 25,
    }
    choose enum {
        ADDED: Added = "index.added" { One: 3, Two: 1, Three: 1 },
    }
}

/// See [the module](self).
pub struct Index;

/// Whether the indexes are there before the first question and gone before the second.
const INDEXES: &str = "indexes";
const DROPPED: &str = "dropped";

const RELATION: &str = "a query returns the same rows with an index and without it";

impl Index {
    fn drawn(&self, generator: &mut Generator) -> Option<Proposal> {
        let query = generator.any_query()?;
        let standing = standing_indexes(generator, &query);
        let dropped = !standing.is_empty() && generator.odds(&DROP_STANDING);
        let indexes = match dropped {
            true => standing,
            false => {
                let count = match generator.choose(&ADDED) {
                    Added::One => 1,
                    Added::Two => 2,
                    Added::Three => 3,
                };
                (0..count).filter_map(|_| generator.index_for(&query)).collect()
            }
        };
        if indexes.is_empty() {
            return None;
        }
        let mut subject = Subject::new(self.name(), query);
        subject.tests.extend(indexes.into_iter().map(Statement::CreateIndex));
        let subject = if dropped { subject.with_choice(INDEXES, DROPPED) } else { subject };
        Some(subject.into())
    }
}

impl Oracle for Index {
    fn name(&self) -> &'static str {
        "index"
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows when an index is added or dropped"
    }

    /// A query may read nothing that can have an index, such as a function in FROM: then another.
    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        (0..3).find_map(|_| self.drawn(generator))
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    /// With the indexes that the script made dropped, all of them and each alone; and with one on each column added.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let read = given.state.base_tables_of(given.query);
        let reads = |index: &CreateIndex| read.iter().any(|table| table.name == index.table);
        let standing: Vec<CreateIndex> =
            given.state.indexes.iter().filter_map(|index| index.definition.clone()).filter(reads).collect();
        let subject = |indexes: &[CreateIndex]| {
            let mut subject = Subject::new(self.name(), given.query.clone());
            subject.tests.extend(indexes.iter().cloned().map(Statement::CreateIndex));
            subject
        };
        let mut subjects: Vec<Subject> = standing
            .iter()
            .map(|index| subject(std::slice::from_ref(index)).with_choice(INDEXES, DROPPED))
            .collect();
        if standing.len() > 1 {
            subjects.insert(0, subject(&standing).with_choice(INDEXES, DROPPED));
        }
        if given.dialect.can(Feature::Indexes) {
            let added = read.iter().flat_map(|table| {
                let columns = table.columns.iter().filter(|column| given.dialect.is_key(&column.ty));
                columns.map(|column| index_on(&table.name, &column.name)).collect::<Vec<_>>()
            });
            subjects.extend(added.take(MOST_ADDED).map(|index| subject(&[index])));
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let [Statement::Query(query), rest @ ..] = subject.tests.as_slice() else {
            return Ok(Verdict::skip("not a query followed by indexes"));
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
        let unchanged = "no index can be built";
        let words = Words { relation: RELATION, before, change, after, unchanged, may_raise: false };
        again::ask(query, &changes, &words, subject, session)
    }

    fn switch(&self, case: &TestCase, dialect: &Dialect) -> Option<Switch> {
        let created = |test: &&Statement| matches!(test, Statement::CreateIndex(_));
        let index = case.subject.tests.iter().rev().find(created)?;
        Some(Switch::Without { part: "index".to_string(), named: to_sql(index, dialect) })
    }

    fn complaint(&self, _: &TestCase) -> String {
        "depends on whether there is an index".to_string()
    }
}

/// Of a given query no more indexes are tried.
const MOST_ADDED: usize = 12;

fn index_on(table: &Name, column: &Name) -> CreateIndex {
    let key =
        IndexKey { expr: Expr::bare_column(column.clone()), prefix: None, collation: None, desc: false };
    CreateIndex {
        name: format!("added_{table}_{column}").into(),
        unique: false,
        table: table.clone(),
        method: None,
        keys: vec![key],
        filter: None,
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
