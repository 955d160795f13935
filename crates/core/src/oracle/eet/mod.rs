//! EET: an expression of a query, wherever it stands, can be written in another way (Jiang and Su, "Detecting Logic Bugs
//! in Database Engines via Equivalent Expression Transformation", 2024).
//!
//! ```sql
//! SELECT t0.c0 FROM t0 LEFT JOIN t1 ON t0.c0 = t1.c0;                                  -- as it is written
//! SELECT t0.c0 FROM t0 LEFT JOIN t1 ON CASE WHEN t0.c0 = t1.c0 THEN TRUE
//!   WHEN NOT (t0.c0 = t1.c0) THEN FALSE END;                                           -- in another form
//! ```
//!
//! A subject is a query, the name of a [form](FORMS), the number of the place, and a second condition if the form needs
//! one. `check` finds the place again: after an edit it may be another one, which is as good.
//!
//! Conditions (SOUNDNESS 8.2):
//! - A form of truth only stands where an expression is used as a truth: WHERE, ON, HAVING, FILTER, WHEN, operands of AND,
//!   OR, NOT, IS TRUE. Where any number is a truth value, a form keeps its truth and not the number.
//! - A form of values only stands where CASE compares as the expression does. Where types are dynamic, CASE has neither
//!   affinity nor collation: a column, a CAST or a function is only wrapped where it is not compared, sorted, merged or
//!   passed to a function. In the MySQL family only columns of whole numbers are; where types are fixed, nothing that is
//!   made of literals alone, and nothing of unknown type.
//! - Keys of GROUP BY and ORDER BY stay as they are. Outside the aggregates of a grouped query there is no other condition.
//! - The other condition is deterministic (the gate looks at it). If it fails, that is validated like any error.

mod forms;

pub use forms::{FORMS, Form};

use crate::dialect::Dialect;
use crate::engine::Stop;
use crate::finding::Verdict;
use crate::generate::{Generator, Named, Rules, choices};
use crate::oracle::Oracle;
use crate::oracle::kit::forms::{Equals, Words, ask};
use crate::oracle::kit::given::Given;
use crate::oracle::kit::place;
use crate::session::Session;
use crate::sql::*;
use crate::state::{Relation, State};
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    odds {
        /// The other condition may have subqueries.
        SUBQUERIES = "eet.other.subqueries": 20,
    }
}

/// See [the module](self).
pub struct Eet;

const NAME: &str = "eet";

const FORM: &str = "form";
const PLACE: &str = "place";

/// Of one given query no more subjects are made: each costs two queries.
const ADOPTED: usize = 48;
/// How deep the other condition nests.
const DEPTH: usize = 1;
/// Forms that are tried for a query.
const DRAWS: usize = 4;

impl Oracle for Eet {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows if one of its expressions is written in another way"
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let query = generator.any_query()?;
        let relations = relations_of(&query, generator.state, generator.dialect);
        let subqueries = generator.odds(&SUBQUERIES);
        let rules = Rules { subqueries, ..Rules::default() };
        let other = (!relations.is_empty())
            .then(|| generator.under(rules, |g| g.within(relations, |g| g.predicate(DEPTH))));
        for _ in 0..DRAWS {
            let form = generator.rng.pick(FORMS);
            let places = places(form, &query, other.as_ref(), generator.state, generator.dialect);
            if places > 0 {
                let place = generator.rng.below(places);
                return Some(subject(form, query, place, other).into());
            }
        }
        None
    }

    /// Every form in every place, the strongest first.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let alone = given.selects();
        let other = alone.first().and_then(|select| given.predicates(select).pop());
        let mut subjects = Vec::new();
        for form in FORMS {
            let places = places(form, given.query, other.as_ref(), given.state, given.dialect);
            for place in 0..places {
                subjects.push(subject(form, given.query.clone(), place, other.clone()));
            }
        }
        subjects.truncate(ADOPTED);
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let form = subject.choice(FORM).and_then(forms::by_name);
        let place = subject.choice(PLACE).and_then(|place| place.parse::<usize>().ok());
        let (Some(form), Some(place), Some(query)) = (form, place, subject.query()) else {
            return Ok(Verdict::skip("not a query with a form and a place"));
        };
        let (state, dialect) = (session.database().state(), session.dialect());
        let other = subject.exprs.first();
        let places = places(form, query, other, state, dialect);
        if places == 0 {
            return Ok(Verdict::skip("no expression that keeps its meaning in this form"));
        }
        let rewritten = rewritten(form, query, place % places, other, state, dialect);
        let words =
            Words { relation: form.relation.into(), one: "as it is written", other: "in another form" };
        ask(words, [query.clone(), rewritten], Equals::Open, subject, session)
    }

    fn complaint(&self, case: &TestCase) -> String {
        let form = case.subject.choice(FORM).and_then(forms::by_name);
        let relation = form.map_or("an expression and another form of it are the same", |form| form.relation);
        format!("depends on how an expression is written: {relation}")
    }
}

fn subject(form: &Form, query: Query, place: usize, other: Option<Expr>) -> Subject {
    let subject =
        Subject::new(NAME, query).with_choice(FORM, form.name).with_choice(PLACE, &place.to_string());
    match other {
        Some(other) if form.needs_other => subject.with_expr(other),
        _ => subject,
    }
}

/// What the first SELECT of a query has in scope.
fn relations_of(query: &Query, state: &State, dialect: &Dialect) -> Vec<Relation> {
    let mut body = &query.body;
    while let Body::Compound { left, .. } = body {
        body = left;
    }
    let Body::Select(select) = body else { return Vec::new() };
    let mut relations = Vec::new();
    select
        .from
        .iter()
        .for_each(|table| state.relations_of(table, query.with.as_ref(), dialect, &mut relations));
    let named = |(alias, columns)| Relation { alias, columns };
    relations.into_iter().map(named).filter(|relation| !relation.columns.is_empty()).collect()
}

/// In how many places the form keeps the meaning.
fn places(form: &Form, query: &Query, other: Option<&Expr>, state: &State, dialect: &Dialect) -> usize {
    let mut count = 0;
    place::rewrite(query, state, dialect, &mut |expr, place| {
        count += usize::from(form.fits(expr, other, place));
        None
    });
    count
}

fn rewritten(
    form: &Form,
    query: &Query,
    at: usize,
    other: Option<&Expr>,
    state: &State,
    dialect: &Dialect,
) -> Query {
    let unused = Expr::null();
    let other_or_none = other.unwrap_or(&unused);
    let mut count = 0;
    place::rewrite(query, state, dialect, &mut |expr, place| {
        if !form.fits(expr, other, place) {
            return None;
        }
        count += 1;
        (count == at + 1).then(|| (form.make)(expr, other_or_none))
    })
}

#[cfg(test)]
mod tests;
