//! Asks queries, lets something happen that must leave the database as it is, and asks them again.

use super::again;
use super::arms::Arms;
use super::judge::Difference;
use crate::engine::{ErrorClass, Reply, Stop};
use crate::finding::{Class, Failure, Verdict};
use crate::session::Session;
use crate::sql::{Name, Query, Select, SelectItem, TableRef};
use crate::subject::Subject;

/// The words for what is compared.
pub struct Words {
    /// What must hold.
    pub relation: &'static str,
    /// The label of a question before it happened.
    pub before: &'static str,
    /// The label of each statement that made it happen.
    pub between: &'static str,
    /// The label of the question after it.
    pub after: &'static str,
}

/// What happened: the statements, or why nothing can be said.
pub type Happened = Result<Vec<String>, &'static str>;

/// All rows of a table.
pub fn all_rows(table: &Name) -> Query {
    let from = vec![TableRef::table(table.clone())];
    Query::select(Select { items: vec![SelectItem::Wildcard], from, ..Select::default() })
}

/// Asks the queries, lets it happen, and asks them again. Whatever the answers are, everything happens. Queries that
/// fail before it say nothing.
pub fn ask(
    queries: &[Query],
    words: &Words,
    subject: &Subject,
    session: &mut Session,
    happen: impl FnOnce(&mut Session) -> Result<Happened, Stop>,
) -> Result<Verdict, Stop> {
    let mut asked: Vec<(&Query, Reply)> = Vec::new();
    for query in queries {
        let reply = session.query(query)?;
        if matches!(reply, Reply::Rows(_)) {
            asked.push((query, reply));
        }
    }
    if asked.is_empty() {
        return Ok(Verdict::skip("all arms fail"));
    }
    let ran = match happen(session)? {
        Ok(ran) => ran,
        Err(reason) => return Ok(Verdict::skip(reason)),
    };
    let nonempty = asked.iter().any(|(_, reply)| matches!(reply, Reply::Rows(rows) if !rows.is_empty()));
    let mut unclear = None;
    for (query, before) in asked {
        let after = session.query(query)?;
        if again::same(query, &before, &after) {
            continue;
        }
        let rejected = after
            .failure()
            .filter(|error| matches!(error.class, ErrorClass::Syntax | ErrorClass::Semantic))
            .cloned();
        let mut arms = Arms::new(words.relation);
        arms.answered(words.before, query, before);
        ran.iter().for_each(|sql| arms.ran(words.between, sql.clone()));
        arms.answered(words.after, query, after);
        let verdict = match rejected {
            // The same text on the same database: something that it names is gone.
            Some(error) => {
                let difference = Difference::new(Class::ErrorDivergence, Failure::OneSided { error });
                arms.differ(difference, &subject.about(query), session)?
            }
            None => again::settle(arms, query, subject, session)?,
        };
        match verdict {
            Verdict::Bug(evidence) => return Ok(Verdict::Bug(evidence)),
            Verdict::Skip(reason) => unclear = Some(Verdict::Skip(reason)),
            Verdict::Pass { .. } => {}
        }
    }
    Ok(unclear.unwrap_or(Verdict::Pass { nonempty }))
}
