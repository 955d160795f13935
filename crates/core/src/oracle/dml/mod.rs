//! DML: a statement that changes rows touches the rows that a query with the same condition returns (after DQE: Song et
//! al., "Testing Database Systems via Differential Query Execution", 2023), and what it leaves equals a rebuild.
//!
//! ```sql
//! CREATE TABLE twin0(c0 INT, c1 INT, mark0 INT); INSERT INTO twin0(c0, c1) SELECT c0, c1 FROM t0;
//! SELECT c0, c1 FROM twin0 WHERE c1 > 2;
//! UPDATE twin0 SET mark0 = 1 WHERE c1 > 2;
//! SELECT c0, c1 FROM twin0 WHERE mark0 = 1;    -- the same rows
//! ```
//!
//! All changes are made to a copy of a table of the database ([`copy`](crate::oracle::kit::copy)), which has its
//! constraints and indexes and is dropped afterwards; `mark0` is a column that the copy has besides. The code of the
//! forms is in `forms` and `rebuilt`:
//!
//! | form | what must hold |
//! | --- | --- |
//! | `delete` | the rows that a query returns and those that DELETE leaves are all rows |
//! | `update` | UPDATE marks the rows that a query returns |
//! | `delete-returning`, `update-returning` | RETURNING returns them |
//! | `insert` | INSERT … SELECT stores the rows that the query returns |
//! | `upsert`, `merge` | rows with the keys that a query returns are marked |
//! | `rebuilt` | after changes, queries return the same rows from the copy and from one more copy, made of its rows |
//!
//! Conditions (SOUNDNESS 10):
//! - The query is one SELECT from one table, of rows: nothing grouped, deduplicated, ordered or cut off.
//! - The copy has no trigger and no table refers to it.
//! - Where changes are strict (MySQL family), an error that only a change raises says nothing.
//! - `upsert` and `merge` need a column that is a key.
//! - After changes only queries that deduplicate and sum up nothing are compared: what is stored is not known then.

mod forms;
mod rebuilt;

use crate::dialect::{Dialect, Feature};
use crate::engine::Stop;
use crate::finding::Verdict;
use crate::generate::{Generator, Named, Rules, choices};
use crate::oracle::kit::given::selects_rows;
use crate::oracle::{Given, Oracle};
use crate::session::Session;
use crate::sql::*;
use crate::state::{Relation, Table};
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    odds {
        FILTER = "dml.filter": 92,
    }
    choose {
        FORM: Form = "dml.form" {
            Delete: 20,
            Update: 20,
            DeleteReturning: 10,
            UpdateReturning: 10,
            Insert: 8,
            Upsert: 8,
            Merge: 8,
            Rebuilt: 16,
        },
    }
}

/// See [the module](self).
pub struct Dml;

/// What is done to the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Delete,
    Update,
    DeleteReturning,
    UpdateReturning,
    Insert,
    Upsert,
    Merge,
    Rebuilt,
}

impl Form {
    const ALL: [Form; 8] = [
        Form::Delete,
        Form::Update,
        Form::DeleteReturning,
        Form::UpdateReturning,
        Form::Insert,
        Form::Upsert,
        Form::Merge,
        Form::Rebuilt,
    ];

    fn name(self) -> &'static str {
        match self {
            Form::Delete => "delete",
            Form::Update => "update",
            Form::DeleteReturning => "delete-returning",
            Form::UpdateReturning => "update-returning",
            Form::Insert => "insert",
            Form::Upsert => "upsert",
            Form::Merge => "merge",
            Form::Rebuilt => "rebuilt",
        }
    }

    fn of(subject: &Subject) -> Option<Form> {
        let name = subject.choice(FORM_CHOICE)?;
        Form::ALL.into_iter().find(|form| form.name() == name)
    }

    /// Rows are found by a key.
    fn needs_key(self) -> bool {
        matches!(self, Form::Upsert | Form::Merge)
    }

    fn suits(self, dialect: &Dialect) -> bool {
        match self {
            Form::DeleteReturning => dialect.can(Feature::DeleteReturning),
            Form::UpdateReturning => dialect.can(Feature::UpdateReturning),
            Form::Upsert => dialect.can(Feature::Upsert),
            Form::Merge => dialect.can(Feature::Merge),
            _ => true,
        }
    }
}

const FORM_CHOICE: &str = "form";
const SHAPE: &str = "not rows of a single table";
/// Changes, and queries after them, of one subject about a rebuild.
const MOST_CHANGES: usize = 3;
const QUERIES: usize = 4;
const DRAWS: usize = 3;

impl Oracle for Dml {
    fn name(&self) -> &'static str {
        "dml"
    }

    fn about(&self) -> &'static str {
        "UPDATE, DELETE, INSERT and MERGE change the rows that a query returns, and leave a table that answers like a rebuilt one"
    }

    /// Where changes are mutations in the background, nothing is known about when they happen.
    fn suits(&self, dialect: &Dialect) -> bool {
        !dialect.can(Feature::Mutations)
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let (dialect, state) = (generator.dialect, generator.state);
        let tables: Vec<&Table> = state.base_tables().collect();
        let table = *generator.rng.choose(&tables)?;
        let keyed = table.columns.iter().any(|column| column.is_key());
        let form = generator.choose_where(&FORM, |form| form.suits(dialect) && (keyed || !form.needs_key()));
        match form {
            Form::Rebuilt => self.rebuilt(generator, table),
            _ => Some(self.subject(form, vec![rows_of(generator, table).into()]).into()),
        }
    }

    /// The rows of each SELECT from one table, by every kind of change.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let mut subjects = Vec::new();
        for query in given.selects() {
            let Some((table, _)) = rows_of_one_table(&query) else { continue };
            let Some(table) = given.state.base_tables().find(|base| base.name == *table) else { continue };
            let keyed = table.columns.iter().any(|column| column.is_key());
            let suits = |form: &Form| {
                *form != Form::Rebuilt && form.suits(given.dialect) && (keyed || !form.needs_key())
            };
            let forms = Form::ALL.into_iter().filter(suits);
            subjects.extend(forms.map(|form| self.subject(form, vec![query.clone().into()])));
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        match Form::of(subject) {
            Some(Form::Rebuilt) => rebuilt::check(subject, session),
            Some(form) => forms::check(form, subject, session),
            None => Ok(Verdict::skip(SHAPE)),
        }
    }

    fn complaint(&self, case: &TestCase) -> String {
        match Form::of(&case.subject) {
            Some(Form::Delete | Form::DeleteReturning) => "differs from the rows that DELETE removes",
            Some(Form::Update | Form::UpdateReturning) => "differs from the rows that UPDATE changes",
            Some(Form::Insert) => "differs from the rows that INSERT stores",
            Some(Form::Upsert) => "differs from the rows that INSERT … ON CONFLICT changes",
            Some(Form::Merge) => "differs from the rows that MERGE changes",
            Some(Form::Rebuilt) | None => "depends on whether the table was changed or filled anew",
        }
        .to_string()
    }
}

impl Dml {
    fn subject(&self, form: Form, tests: Vec<Statement>) -> Subject {
        Subject::of(self.name(), tests).with_choice(FORM_CHOICE, form.name())
    }

    /// Changes of a table, and queries that read it.
    fn rebuilt(&self, generator: &mut Generator, table: &Table) -> Option<Proposal> {
        let mut tests = Vec::new();
        for _ in 0..QUERIES * DRAWS {
            generator.start_over();
            if let Some(query) = generator.any_query()
                && generator.state.base_tables_of(&query).iter().any(|read| read.name == table.name)
            {
                tests.push(Statement::from(query));
            }
            if tests.len() == QUERIES {
                break;
            }
        }
        if tests.is_empty() {
            return None;
        }
        for _ in 0..generator.rng.between(1, MOST_CHANGES) {
            generator.start_over();
            tests.extend(generator.change_rows(&table.name));
        }
        let subject = self.subject(Form::Rebuilt, tests);
        Some(subject.with_choice(rebuilt::TABLE, &table.name).into())
    }
}

/// All columns of the rows of a table that meet a condition.
fn rows_of(generator: &mut Generator, table: &Table) -> Query {
    generator.start_over();
    let relation = Relation { alias: table.name.clone(), columns: table.columns.clone() };
    // MySQL does not read the table that it changes.
    let subqueries = !generator.dialect.can(Feature::StrictChanges);
    let depth = generator.policy.depth;
    let filter = generator.odds(&FILTER).then(|| {
        let rules = Rules { subqueries, ..Rules::default() };
        generator.within(vec![relation], |g| g.under(rules, |g| g.filter(depth)))
    });
    let column = |name: &Name| SelectItem::from(Expr::column(table.name.clone(), name.clone()));
    let items = table.columns.iter().map(|stored| column(&stored.name)).collect();
    let from = vec![TableRef::table(table.name.clone())];
    Query::select(Select { items, from, filter, ..Select::default() })
}

/// The table and the condition of a query that returns rows of one table.
fn rows_of_one_table(query: &Query) -> Option<(&Name, Option<&Expr>)> {
    let select = query.as_select().filter(|select| selects_rows(select))?;
    let plain = query.with.is_none() && query.limit.is_none() && query.offset.is_none();
    match select.from.as_slice() {
        [TableRef::Table { name, alias: None, .. }] if plain => Some((name, select.filter.as_ref())),
        _ => None,
    }
}
