//! A copy that was changed, against one more copy that is made of its rows: indexes and generated columns that were kept
//! up to date equal those that are built anew.

use crate::engine::{Reply, Stop};
use crate::finding::Verdict;
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::copy::{self, Original};
use crate::oracle::kit::twin::{self, Rename, TWIN};
use crate::oracle::kit::{again, gate};
use crate::session::Session;
use crate::sql::visit::Editor;
use crate::sql::*;
use crate::subject::Subject;

/// The table that is copied, by the subject's choice.
pub const TABLE: &str = "table";
const REBUILT: &str = "twin1";

const RELATION: &str =
    "a query returns the same rows from a table that was changed and from one made of its rows";

pub fn check(subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let Some(table) = subject.choice(TABLE) else { return Ok(Verdict::skip("no table")) };
    let database = session.database();
    let original = match Original::of(&table.into(), database.built(), session.dialect()) {
        Ok(original) => original,
        Err(reason) => return Ok(Verdict::skip(reason)),
    };
    let views = original.views.iter().map(|view| &view.query);
    if subject.queries().chain(views).any(|query| copy::reads_addresses(query, database.state())) {
        return Ok(Verdict::skip("query that reads row addresses"));
    }
    let changed = original.copied(original.create.clone(), &original.indexes);
    let mut drops = changed.drop.clone();
    let verdict = match twin::make(&changed.make, session)? {
        None => Verdict::skip("twin table cannot be created"),
        Some(mut made) => {
            change(subject, &changed.names, &mut made, session)?;
            let rebuilt =
                original.copied_from(&TWIN.into(), REBUILT, original.create.clone(), &original.indexes);
            drops.splice(0..0, rebuilt.drop.clone());
            // Indexes are built over the rows, not row by row.
            let (mut make, indexes): (Vec<_>, Vec<_>) = rebuilt
                .make
                .into_iter()
                .partition(|statement| !matches!(statement, Statement::CreateIndex(_)));
            make.extend(indexes);
            match twin::make(&make, session)? {
                None => Verdict::skip("twin table cannot be created"),
                Some(again) => {
                    let pair = Pair { changed: &changed.names, made, rebuilt: &rebuilt.names, again };
                    pair.compared(&original, subject, session)?
                }
            }
        }
    };
    for statement in &drops {
        session.scaffold(statement)?;
    }
    Ok(verdict)
}

/// Changes the copy as the subject says; what is refused leaves it as it is.
fn change(
    subject: &Subject,
    names: &[(Name, Name)],
    made: &mut Vec<String>,
    session: &mut Session,
) -> Result<(), Stop> {
    for test in &subject.tests {
        if !matches!(test, Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_)) {
            continue;
        }
        let mut statement = test.clone();
        Rename { names }.whole(&mut statement);
        if !matches!(session.step(&statement)?, Reply::Failed(_)) {
            made.push(session.last_sql().to_string());
        }
    }
    Ok(())
}

/// Two copies, by the names of what is in them, and what made them.
struct Pair<'a> {
    changed: &'a [(Name, Name)],
    made: Vec<String>,
    rebuilt: &'a [(Name, Name)],
    again: Vec<String>,
}

impl Pair<'_> {
    fn compared(
        &self,
        original: &Original,
        subject: &Subject,
        session: &mut Session,
    ) -> Result<Verdict, Stop> {
        let of = |items: Vec<SelectItem>| {
            let from = vec![TableRef::table(original.create.name.clone())];
            Query::select(Select { items, from, ..Select::default() })
        };
        let written = original.written().into_iter().map(|name| Expr::bare_column(name).into()).collect();
        if !matches!(self.asked(&of(written), subject, session)?, Verdict::Pass { .. }) {
            return Ok(Verdict::skip("twin table has different rows"));
        }
        let all = of(vec![SelectItem::Wildcard]);
        let (mut nonempty, mut unasked) = (None, None);
        for query in std::iter::once(&all).chain(subject.queries()) {
            match self.asked(query, subject, session)? {
                Verdict::Pass { nonempty: rows } => nonempty = Some(nonempty.unwrap_or(false) | rows),
                Verdict::Skip(reason) => unasked = Some(reason),
                // What is stored after the changes is not known: two values may be equal and not identical.
                Verdict::Bug(_) if gate::deduplicates(query, false) => {
                    unasked = Some("equal values that are not identical".into());
                }
                bug => return Ok(bug),
            }
        }
        Ok(match (nonempty, unasked) {
            (Some(nonempty), _) => Verdict::Pass { nonempty },
            (None, Some(reason)) => Verdict::Skip(reason),
            (None, None) => Verdict::skip("no query"),
        })
    }

    fn asked(&self, query: &Query, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let named = |names: &[(Name, Name)]| {
            let mut query = query.clone();
            Rename { names }.query(&mut query);
            query
        };
        let mut arms = Arms::new(RELATION);
        self.made.iter().for_each(|sql| arms.ran("the copy", sql.clone()));
        arms.ask("on the copy that was changed", named(self.changed), session)?;
        self.again.iter().for_each(|sql| arms.ran("the rebuild", sql.clone()));
        arms.ask("on the rebuild", named(self.rebuilt), session)?;
        again::settle(arms, query, subject, session)
    }
}
