//! ATOMIC: what is rolled back leaves nothing behind, and neither does a statement that fails.
//!
//! ```sql
//! SELECT * FROM t0;
//! BEGIN; INSERT INTO t0 VALUES (1); CREATE INDEX i1 ON t0(c0); ROLLBACK;
//! SELECT * FROM t0;    -- the same rows
//! ```
//!
//! The tests of a subject are queries and changes. The queries, and one for all rows of every table that is changed, are
//! asked before and after the changes were made and undone. How they are undone is the choice `by`:
//!
//! | by | what is undone |
//! | --- | --- |
//! | `rollback` | the changes between BEGIN and ROLLBACK |
//! | `savepoint` | those between SAVEPOINT and ROLLBACK TO, in a transaction that is committed |
//! | `failure` | a statement that fails, in a transaction that goes on; queries are asked inside it |
//!
//! Conditions (SOUNDNESS 14):
//! - The dialect has transactions, and every statement is one that they undo: changes of rows, and of the schema where
//!   the dialect's transactions cover it (not in the MySQL family, where such a statement commits first).
//! - Every table that is changed is known to be transactional: not one of MyISAM, Aria or MEMORY.
//! - No `OR FAIL` and no `OR ROLLBACK`, in a statement or in a constraint: they are defined to keep rows, or to end the
//!   transaction.
//! - Only rows are compared, never the next value of a sequence or of AUTO_INCREMENT, which no rollback takes back.
//! - The result does not depend on the order of rows, as for [`index`](super::index): rows that come and go move others.

use std::collections::BTreeSet;

use crate::dialect::{Dialect, Feature};
use crate::engine::{Reply, Stop};
use crate::finding::Verdict;
use crate::generate::{Generator, Named, choices};
use crate::oracle::kit::unchanged::{self, Happened, Words};
use crate::oracle::{Given, Oracle};
use crate::session::Session;
use crate::sql::*;
use crate::state::State;
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    choose {
        BY: By = "atomic.by" { Rollback: 4, Savepoint: 4, Failure: 2 },
    }
}

/// See [the module](self).
pub struct Atomic;

/// How changes are undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Rollback,
    Savepoint,
    Failure,
}

const BY_CHOICE: &str = "by";
const SAVEPOINT: &str = "atomic0";
const MOST_CHANGES: usize = 3;
/// Not every change can be undone, so some are drawn for nothing.
const DRAWS: usize = 12;

const WORDS: Words = Words {
    relation: "what is undone leaves every table as it was",
    before: "before",
    between: "made and undone",
    after: "after it was undone",
};

impl By {
    const ALL: [By; 3] = [By::Rollback, By::Savepoint, By::Failure];

    fn name(self) -> &'static str {
        match self {
            By::Rollback => "rollback",
            By::Savepoint => "savepoint",
            By::Failure => "failure",
        }
    }

    fn of(subject: &Subject) -> Option<By> {
        let name = subject.choice(BY_CHOICE)?;
        By::ALL.into_iter().find(|by| by.name() == name)
    }

    fn suits(self, dialect: &Dialect) -> bool {
        match self {
            By::Savepoint => dialect.can(Feature::Savepoints),
            By::Failure => !dialect.can(Feature::ErrorsEndTransactions),
            By::Rollback => true,
        }
    }
}

impl Oracle for Atomic {
    fn name(&self) -> &'static str {
        "atomic"
    }

    fn about(&self) -> &'static str {
        "ROLLBACK, ROLLBACK TO and a failed statement leave nothing behind"
    }

    fn suits(&self, dialect: &Dialect) -> bool {
        dialect.can(Feature::Transactions)
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let dialect = generator.dialect;
        let by = generator.choose_where(&BY, |by| by.suits(dialect));
        let mut tests: Vec<Statement> = generator.any_query().map(Statement::from).into_iter().collect();
        let queries = tests.len();
        let count = if by == By::Failure { 1 } else { generator.rng.between(1, MOST_CHANGES) };
        for _ in 0..DRAWS {
            generator.start_over();
            let drawn = generator.change().into_iter();
            tests.extend(drawn.filter(|statement| suits(statement, by, generator.state, dialect)));
            if tests.len() >= queries + count {
                break;
            }
        }
        if by == By::Failure {
            tests.truncate(queries + 1);
            tests.iter_mut().for_each(spoil);
        }
        let changes = tests.len() > queries;
        changes.then(|| Subject::of(self.name(), tests).with_choice(BY_CHOICE, by.name()).into())
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    /// All rows of the tables that a query reads are deleted, and come back.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let read = given.state.base_tables_of(given.query);
        let deletes =
            read.iter().map(|table| Statement::Delete(Delete { table: table.name.clone(), filter: None }));
        let mut tests: Vec<Statement> = vec![given.query.clone().into()];
        tests.extend(deletes);
        if tests.len() == 1 {
            return Vec::new();
        }
        let ways = [By::Rollback, By::Savepoint].into_iter().filter(|by| by.suits(given.dialect));
        ways.map(|by| Subject::of(self.name(), tests.clone()).with_choice(BY_CHOICE, by.name())).collect()
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let dialect = session.dialect();
        let Some(by) = By::of(subject).filter(|by| by.suits(dialect)) else {
            return Ok(Verdict::skip("no way to undo changes"));
        };
        let changes: Vec<&Statement> =
            subject.tests.iter().filter(|test| !matches!(test, Statement::Query(_))).collect();
        if changes.is_empty() {
            return Ok(Verdict::skip("nothing is changed"));
        }
        let mut tables = BTreeSet::new();
        for change in &changes {
            match changed_table(change, dialect) {
                Ok(table) => drop(tables.insert(table.clone())),
                Err(reason) => return Ok(Verdict::skip(reason)),
            }
        }
        if let Some(reason) = not_transactional(&tables, session) {
            return Ok(Verdict::skip(reason));
        }
        let mut queries: Vec<Query> = tables.iter().map(unchanged::all_rows).collect();
        queries.extend(subject.queries().cloned());
        match by {
            By::Rollback | By::Savepoint => {
                unchanged::ask(&queries, &WORDS, subject, session, |session| undo(by, &changes, session))
            }
            By::Failure => fail(&queries, &changes, subject, session),
        }
    }

    fn complaint(&self, case: &TestCase) -> String {
        match By::of(&case.subject) {
            Some(By::Failure) => "changes after a statement that failed",
            _ => "changes after ROLLBACK",
        }
        .to_string()
    }
}

/// Makes the changes and undoes them. What fails on the way does not matter: it is undone, too.
fn undo(by: By, changes: &[&Statement], session: &mut Session) -> Result<Happened, Stop> {
    let mut ran = Vec::new();
    if is_refused(&Statement::Begin, &mut ran, session)? {
        return Ok(Err("no transaction can be opened"));
    }
    let savepoint = Name::from(SAVEPOINT);
    let marked =
        by == By::Savepoint && !is_refused(&Statement::Savepoint(savepoint.clone()), &mut ran, session)?;
    for change in changes {
        is_refused(change, &mut ran, session)?;
    }
    let undone = marked && !is_refused(&Statement::RollbackTo(savepoint), &mut ran, session)?;
    let end = if undone { Statement::Commit } else { Statement::Rollback };
    let mut refused = is_refused(&end, &mut ran, session)?;
    if refused && undone {
        refused = is_refused(&Statement::Rollback, &mut ran, session)?;
    }
    Ok(match refused {
        true => Err("transaction that the engine ended itself"),
        false if by == By::Savepoint && !undone => Err("no way to undo changes"),
        false => Ok(ran),
    })
}

/// A statement that fails inside a transaction. Queries are asked before and after it, and the transaction is rolled
/// back whatever they return.
fn fail(
    queries: &[Query],
    changes: &[&Statement],
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let mut begun = Vec::new();
    if is_refused(&Statement::Begin, &mut begun, session)? {
        return Ok(Verdict::skip("no transaction can be opened"));
    }
    let verdict = unchanged::ask(queries, &WORDS, subject, session, |session| {
        let mut ran = std::mem::take(&mut begun);
        for change in changes {
            if !is_refused(change, &mut ran, session)? {
                return Ok(Err("no statement fails"));
            }
        }
        Ok(Ok(ran))
    });
    // Also after harm: a server that is gone has forgotten the transaction.
    let ended = session.scaffold(&Statement::Rollback);
    let verdict = verdict?;
    ended?;
    Ok(verdict)
}

/// Runs a statement; whether it failed.
fn is_refused(statement: &Statement, ran: &mut Vec<String>, session: &mut Session) -> Result<bool, Stop> {
    let reply = session.scaffold(statement)?;
    ran.push(session.last_sql().to_string());
    Ok(matches!(reply, Reply::Failed(_)))
}

const NOT_UNDONE: &str = "statement that a transaction does not undo";

/// The table that a statement changes, if a transaction undoes that.
fn changed_table<'s>(statement: &'s Statement, dialect: &Dialect) -> Result<&'s Name, &'static str> {
    let schema = dialect.can(Feature::TransactionalSchema);
    let (table, or) = match statement {
        Statement::Insert(insert) => (&insert.table, insert.or),
        Statement::Update(update) => (&update.table, update.or),
        Statement::Delete(delete) => (&delete.table, None),
        Statement::CreateIndex(create) if schema => (&create.table, None),
        Statement::AlterTable { table, .. } if schema => (table, None),
        _ => return Err(NOT_UNDONE),
    };
    match or {
        Some(OnConflict::Fail | OnConflict::Rollback) => Err(NOT_UNDONE),
        _ => Ok(table),
    }
}

/// Whether a statement is worth trying: one that should fail has something to violate.
fn suits(statement: &Statement, by: By, state: &State, dialect: &Dialect) -> bool {
    let violable = |table: &Name| {
        let stores = matches!(statement, Statement::Insert(_) | Statement::Update(_));
        stores && state.table(table).is_some_and(|table| table.constrained)
    };
    changed_table(statement, dialect).is_ok_and(|table| by != By::Failure || violable(table))
}

/// Why a rollback may leave something in these tables.
fn not_transactional(tables: &BTreeSet<Name>, session: &Session) -> Option<&'static str> {
    let dialect = session.dialect();
    for statement in session.database().setup() {
        match statement {
            Statement::CreateTable(create) => {
                let constraints = create.columns.iter().flat_map(|column| &column.constraints);
                if constraints.clone().any(keeps_or_ends) {
                    return Some(NOT_UNDONE);
                }
                let plain =
                    |option: &Name| dialect.table_option(option).is_some_and(|option| option.transactional);
                let divided = |option: &Name| dialect.is_partitioning(option);
                if tables.contains(&create.name)
                    && !create.options.iter().all(|option| plain(option) || divided(option))
                {
                    return Some("table that is not transactional");
                }
            }
            // It may have made a table, or changed how one is stored.
            Statement::Raw(text) if makes_tables(text) => return Some("SQL that Dissent cannot parse"),
            _ => {}
        }
    }
    None
}

fn makes_tables(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("engine") || text.contains("conflict") || text.contains("trigger")
}

fn keeps_or_ends(constraint: &ColumnConstraint) -> bool {
    let on_conflict = match constraint {
        ColumnConstraint::PrimaryKey { on_conflict, .. } | ColumnConstraint::Unique { on_conflict } => {
            on_conflict
        }
        _ => &None,
    };
    matches!(on_conflict, Some(OnConflict::Fail | OnConflict::Rollback))
}

/// Lets a change fail where it can: nothing forgives a violation, and a row that was inserted comes once more.
fn spoil(statement: &mut Statement) {
    match statement {
        Statement::Insert(insert) => {
            (insert.or, insert.upsert) = (None, None);
            if let InsertSource::Values(rows) = &mut insert.source
                && let Some(first) = rows.first().cloned()
            {
                rows.push(first);
            }
        }
        Statement::Update(update) => update.or = None,
        _ => {}
    }
}
