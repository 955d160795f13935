//! A lowered statement is trusted only if an engine gives the same answer to the original and to our rendering.

use super::Imported;
use crate::engine::{ErrorClass, Reply, Rows, Trouble};
use crate::oracle::kit::judge::{self, Equality};
use crate::session::Session;
use crate::sql::{Name, Query, Select, SelectItem, Statement, TableRef};

/// Why a statement is kept as text though it was lowered.
pub const ANSWERED_OTHERWISE: &str = "the engine gives another answer to Dissent's rendering of it";

/// How often a script is run again without a statement that behaves differently, before all statements stay text.
const PASSES: usize = 8;

/// Runs a script as it was written and as we render it, each on an empty database, and keeps as text what was
/// answered otherwise. Gives what the engine replied to each statement as it was written. The database is empty
/// afterwards.
pub fn verify(script: &mut [Imported], session: &mut Session) -> Result<Vec<Reply>, Trouble> {
    session.reset()?;
    let (mut replies, mut before) = (Vec::new(), Vec::new());
    for imported in script.iter() {
        replies.push(run_next(Statement::Raw(imported.text.clone()), &mut before, session)?);
    }
    let tables = tables(script);
    let state = contents(&tables, session)?;
    let mut agrees = false;
    for _ in 0..PASSES {
        session.reset()?;
        agrees = rendered_pass(script, &replies, session)?;
        if agrees {
            agrees = state.iter().zip(contents(&tables, session)?).all(|(one, other)| is_same(one, &other));
            break;
        }
    }
    if !agrees {
        // It is unknown which of them behaves differently.
        script.iter_mut().filter(|one| one.query().is_none()).for_each(|one| one.refuse(ANSWERED_OTHERWISE));
    }
    session.reset()?;
    Ok(replies)
}

/// `false`: a statement that may have changed something was answered otherwise; what came after it says nothing.
fn rendered_pass(
    script: &mut [Imported],
    originals: &[Reply],
    session: &mut Session,
) -> Result<bool, Trouble> {
    let mut before = Vec::new();
    for (imported, original) in script.iter_mut().zip(originals) {
        let reply = run_next(imported.statement.clone(), &mut before, session)?;
        if imported.refused.is_none() && !is_same(original, &reply) {
            let is_query = imported.query().is_some();
            imported.refuse(ANSWERED_OTHERWISE);
            if !is_query {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Runs a statement on what those before it built. If a server does not survive it, only this statement is to blame: those
/// that follow get a new server, with all that was there before.
fn run_next(
    statement: Statement,
    before: &mut Vec<Statement>,
    session: &mut Session,
) -> Result<Reply, Trouble> {
    // Should our own process go down, it is known what was there by then.
    let reply = session.try_build(&statement)?;
    if reply.failure().is_none_or(|error| error.class != ErrorClass::ConnectionLost) {
        before.push(statement);
        return Ok(reply);
    }
    session.reset()?;
    for statement in before.iter() {
        session.try_build(statement)?;
    }
    Ok(reply)
}

/// Every table and view that the script makes, as a query for all of it.
fn tables(script: &[Imported]) -> Vec<Statement> {
    let name = |imported: &Imported| match &imported.statement {
        Statement::CreateTable(create) => Some(create.name.clone()),
        Statement::CreateView(create) => Some(create.name.clone()),
        _ => None,
    };
    let all = |name: Name| {
        let (items, from) = (vec![SelectItem::Wildcard], vec![TableRef::table(name)]);
        Query::select(Select { items, from, ..Select::default() }).into()
    };
    script.iter().filter_map(name).map(all).collect()
}

fn contents(tables: &[Statement], session: &mut Session) -> Result<Vec<Reply>, Trouble> {
    tables.iter().map(|table| session.try_run(table)).collect()
}

/// Two replies that say the same; rows as multisets.
pub fn is_same(one: &Reply, other: &Reply) -> bool {
    match (one, other) {
        (Reply::Rows(one), Reply::Rows(other)) => same_rows(one, other),
        (Reply::Done { changed: one }, Reply::Done { changed: other }) => one == other,
        (Reply::Failed(one), Reply::Failed(other)) => one.class == other.class,
        _ => false,
    }
}

fn same_rows(one: &Rows, other: &Rows) -> bool {
    one.columns == other.columns && judge::compare(one, other, Equality::Exact).is_none()
}
