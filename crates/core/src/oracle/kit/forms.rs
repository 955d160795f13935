//! Asks two forms of one question, and compares what neither leaves open.

use std::borrow::Cow;

use super::arms::Arms;
use super::judge::{self, Difference, Equality};
use super::{freedom, gate};
use crate::engine::Stop;
use crate::finding::{Class, Failure, Verdict};
use crate::session::Session;
use crate::sql::Query;
use crate::subject::Subject;

/// The words for two forms.
pub struct Words {
    /// What must hold between them.
    pub relation: Cow<'static, str>,
    /// The label of the first.
    pub one: &'static str,
    /// The label of the second.
    pub other: &'static str,
}

/// What may be said of rows that are equal without being identical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equals {
    /// Nothing: either may be returned.
    Open,
    /// Their number: both forms merge them at the top, and nothing below is open.
    Counted,
}

/// Asks both forms and compares their rows.
pub fn ask(
    words: Words,
    forms: [Query; 2],
    equals: Equals,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let mut arms = Arms::new(words.relation);
    arms.ask(words.one, &forms[0], session)?;
    arms.ask(words.other, &forms[1], session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    settle(arms, [&forms[0], &forms[1]], equals, subject, session)
}

/// The verdict on two forms that were asked: what either leaves open is not compared.
pub fn settle(
    mut arms: Arms,
    forms: [&Query; 2],
    equals: Equals,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let merges = forms.iter().any(|form| gate::deduplicates(form, false));
    let equality = if merges { Equality::Engine } else { Equality::Exact };
    let (one, other) = (arms.rows(0), arms.rows(1));
    let Some(difference) = judge::compare(one, other, equality) else {
        return Ok(Verdict::Pass { nonempty: !one.is_empty() || !other.is_empty() });
    };
    if judge::compare(&judge::rounded(one), &judge::rounded(other), equality).is_none() {
        return Ok(Verdict::skip("floats differ only by rounding"));
    }
    let (state, dialect) = (session.database().state(), session.dialect());
    let open = forms.iter().find_map(|form| freedom::left_open(form, state, dialect));
    let open_below = || forms.iter().find_map(|form| freedom::left_open_below(form, state, dialect));
    let difference = match open {
        None => difference,
        // Whichever of several equal rows is returned, it is one.
        Some(_) if equals == Equals::Counted && one.len() != other.len() && open_below().is_none() => {
            let failure = Failure::Counts { first: one.len() as i64, second: other.len() as i64 };
            Difference::new(Class::WrongRows, failure)
        }
        Some(reason) => return Ok(Verdict::skip(reason)),
    };
    arms.differ(difference, subject, session)
}
