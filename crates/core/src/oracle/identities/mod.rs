//! IDENTITIES: two ways to write one thing return the same rows.
//!
//! ```sql
//! SELECT t0.c0 FROM t0 WHERE t0.c0 BETWEEN 1 AND 3;             -- as it is written
//! SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1 AND t0.c0 <= 3;         -- by its definition
//! ```
//!
//! The identities are rows of [`TABLE`]: a name, what must hold, what the dialect needs, and the function that gives the
//! other form where its conditions hold. A subject is a query and the name of an identity, so a reduced query is
//! rewritten again.
//!
//! Conditions (SOUNDNESS 8), beside those that each identity has:
//! - Both forms compare the same values by the same rules: where types decide how (a list, a range, a subquery), the
//!   operands are of one type and one collation, or the dialect documents that each is compared on its own.
//! - No name means something else in the other form: what moves into a subquery is qualified, and by other names.
//! - Where equal values are merged they are identical, and sums do not round (SOUNDNESS 0.7 and 0.8), in both forms.
//! - An error in one form only is validated first: one may evaluate what the other does not.

mod exprs;
mod queries;
mod table;

pub use queries::Known;
pub use table::{Identity, Rewrite, TABLE};

use crate::dialect::{Dialect, Feature};
use crate::engine::Stop;
use crate::finding::Verdict;
use crate::generate::Generator;
use crate::oracle::Oracle;
use crate::oracle::kit::forms::{self, Equals, Words};
use crate::oracle::kit::given::Given;
use crate::oracle::kit::place;
use crate::session::Session;
use crate::sql::Query;
use crate::subject::{Proposal, Subject, TestCase};

/// See [the module](self).
pub struct Identities;

const NAME: &str = "identities";

/// The choice that names the identity.
const IDENTITY: &str = "identity";

/// Queries that are drawn to find one for the identity that was chosen.
const DRAWS: usize = 6;

impl Oracle for Identities {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "two ways to write the same thing, such as BETWEEN and two comparisons, return the same rows"
    }

    /// Where NULL in a list is left out, IN is not what others say it is.
    fn suits(&self, dialect: &Dialect) -> bool {
        !dialect.can(Feature::Mutations)
    }

    /// An identity first, then a query for it: some are for shapes that are drawn seldom.
    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let dialect = generator.dialect;
        let usable: Vec<&Identity> =
            TABLE.iter().filter(|identity| queries::can_all(dialect, identity.needs)).collect();
        let wanted = *generator.rng.choose(&usable)?;
        let known = Known { state: generator.state, dialect };
        let mut last = None;
        for _ in 0..DRAWS {
            let Some(query) = generator.any_query() else { continue };
            if both(wanted, &query, known).is_some() {
                return Some(subject(wanted, query).into());
            }
            last = Some(query);
        }
        let query = last?;
        let fitting: Vec<&Identity> =
            usable.into_iter().filter(|identity| both(identity, &query, known).is_some()).collect();
        let identity = generator.rng.choose(&fitting)?;
        Some(subject(identity, query).into())
    }

    /// The query under every identity that applies to it; then its SELECTs by themselves.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let known = Known { state: given.state, dialect: given.dialect };
        let mut queries = vec![given.query.clone()];
        queries.extend(given.selects().into_iter().filter(|select| select != given.query));
        let mut subjects = Vec::new();
        for query in queries {
            for identity in TABLE {
                if both(identity, &query, known).is_some() {
                    subjects.push(subject(identity, query.clone()));
                }
            }
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let identity = subject.choice(IDENTITY).and_then(table::by_name);
        let (Some(identity), Some(query)) = (identity, subject.query()) else {
            return Ok(Verdict::skip("no identity given"));
        };
        let known = Known { state: session.database().state(), dialect: session.dialect() };
        let Some((one, other)) = both(identity, query, known) else {
            return Ok(Verdict::skip("identity that does not apply to the query"));
        };
        let words = Words { relation: identity.relation.into(), one: "one form", other: "the other form" };
        let equals = match identity.rewrite {
            Rewrite::Merged(_) => Equals::Counted,
            _ => Equals::Open,
        };
        forms::ask(words, [one, other], equals, subject, session)
    }

    fn complaint(&self, case: &TestCase) -> String {
        let identity = case.subject.choice(IDENTITY).and_then(table::by_name);
        let relation = identity.map_or("two forms of one query", |identity| identity.relation);
        format!("differs from an equivalent query: {relation}")
    }
}

fn subject(identity: &Identity, query: Query) -> Subject {
    Subject::new(NAME, query).with_choice(IDENTITY, identity.name)
}

/// Both forms of a query under an identity, if it applies.
pub fn both(identity: &Identity, query: &Query, known: Known) -> Option<(Query, Query)> {
    if !queries::can_all(known.dialect, identity.needs) {
        return None;
    }
    match identity.rewrite {
        Rewrite::Whole(rewrite) | Rewrite::Merged(rewrite) => rewrite(query, known),
        Rewrite::Exprs(rewrite) => {
            let mut changed = false;
            let other = place::rewrite(query, known.state, known.dialect, &mut |expr, place| {
                let substitute = rewrite(expr, place);
                changed |= substitute.is_some();
                substitute
            });
            changed.then(|| (query.clone(), other))
        }
    }
}

#[cfg(test)]
mod tests;
