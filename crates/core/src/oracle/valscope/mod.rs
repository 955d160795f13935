//! ValScope: compares a query with a mutation of it that can only return more rows, or fewer, or larger values, or
//! smaller ones ("ValScope", and "PINOLO" which it extends; the relation is our own, see below).
//!
//! ```sql
//! SELECT MAX(c0) FROM t0 WHERE c1 < 100;
//! SELECT MAX(c0) FROM t0 WHERE c1 < 100 OR c2 = 1;   -- not smaller; NULL above may become anything
//! ```
//!
//! One relation instead of the paper's two: an injective map from the rows of the smaller result to those of
//! the larger one, along which every column is equal or moves one way, with or without NULLs ([`relation`]).
//! A mutator states it for one node ([`mutators`]), a table of rules carries it to the root ([`rules`],
//! `propagate`), and the results are checked against it ([`compare`]). A mutation that a rule stops is not
//! used: multiplying signs, as the paper does, loses NULLs and fails in its own figure 3.
//!
//! Conditions (SOUNDNESS 4), each a rule that stops:
//! - NOT and IS FALSE are over strong predicates only (pointwise in FALSE < NULL < TRUE).
//! - The ON and the padded side of an outer join do not change.
//! - Values that are grouped, deduplicated or compared by a set operator do not change, and equal ones are
//!   identical (SOUNDNESS 0.8).
//! - SUM over a changed set needs small numbers that are never negative; AVG and variances over one are not supported.
//!   Values that change are numbers, and arithmetic on them uses small whole numbers.
//! - Comparison mutators need operands of one kind. With dynamic types, all comparisons share one order over all
//!   values, which works too.
//! - LIMIT needs an ORDER BY of every column, over rows that do not change.
//! - Floats may be rounded differently if rows come in another order (SOUNDNESS 0.7): a difference that disappears
//!   with nine digits does not count.
//! - An error in one arm only is validated first (SOUNDNESS 5).

pub mod compare;
mod facts;
mod mutate;
pub mod mutators;
mod propagate;
pub mod relation;
pub mod rules;

use facts::Facts;
use mutate::{Site, mutated, sites};
use propagate::predict;
use relation::Relation;
use rules::{Rule, Stopped};

use crate::dialect::Dialect;
use crate::engine::Stop;
use crate::finding::Verdict;
use crate::generate::{Generator, Named, choices};
use crate::oracle::Oracle;
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::given::Given;
use crate::session::Session;
use crate::sql::Query;
use crate::state::State;
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    odds {
        /// A query is mutated in two places.
        TWO_SITES = "valscope.two-sites": 20,
    }
}

/// See [the module](self).
pub struct ValScope;

/// The names of the choices that say what is mutated: `mutation-1 = "drop-conjunct 0"`.
const MUTATION: &str = "mutation";

/// Queries drawn before a database is given up.
const DRAWS: usize = 8;

/// Of a given query no more mutations are tried.
const MOST_SITES: usize = 40;

/// What `check` derives from a subject.
pub struct Derived {
    /// The query with the mutation.
    pub mutated: Query,
    /// What must hold between the two results.
    pub relation: Relation,
    /// The rules by which that follows.
    pub rules: Vec<Rule>,
    /// The mutators that were applied.
    pub mutators: Vec<&'static str>,
}

/// The mutation that a subject names and what is predicted of it, or why nothing is.
pub fn derive(subject: &Subject, state: &State, dialect: &Dialect) -> Result<Derived, Stopped> {
    let query = subject.query().ok_or(Stopped("not a single query"))?;
    let all = sites(query, dialect);
    let mut chosen: Vec<Site> = Vec::new();
    for (_, choice) in subject.choices.iter().filter(|(name, _)| name.starts_with(MUTATION)) {
        let (name, number) = choice.split_once(' ').unwrap_or((choice, "0"));
        if let Some((_, reason)) = mutators::REFUSED.iter().find(|(refused, _)| *refused == name) {
            return Err(Stopped(reason));
        }
        let mutator = mutators::by_name(name).ok_or(Stopped("unknown mutator"))?;
        let number = number.parse().unwrap_or(usize::MAX);
        let is_it = |site: &&Site| site.mutator.name == mutator.name && site.number == number;
        chosen.push(all.iter().find(is_it).ok_or(Stopped("unknown mutation site"))?.clone());
    }
    if chosen.is_empty() {
        return Err(Stopped("no mutation chosen"));
    }
    let (relation, rules) = predict(query, &chosen, &Facts { dialect, state })?;
    let mutators = chosen.iter().map(|site| site.mutator.note).collect();
    Ok(Derived { mutated: mutated(query, &chosen), relation, rules, mutators })
}

impl Oracle for ValScope {
    fn name(&self) -> &'static str {
        "valscope"
    }

    fn about(&self) -> &'static str {
        "a mutated query returns more or fewer rows, larger or smaller values, as predicted"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        for _ in 0..DRAWS {
            generator.start_over();
            let Some(query) = generator.composed_query() else { continue };
            let chosen = choose(&query, generator);
            if chosen.is_empty() {
                continue;
            }
            let mut subject = Subject::new(self.name(), query);
            for (at, site) in chosen.iter().enumerate() {
                let choice = format!("{} {}", site.mutator.name, site.number);
                subject = subject.with_choice(&format!("{MUTATION}-{}", at + 1), &choice);
            }
            return Some(subject.into());
        }
        None
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let facts = Facts { dialect: given.dialect, state: given.state };
        let mut queries = given.selects();
        if !queries.contains(given.query) {
            queries.insert(0, given.query.clone());
        }
        let mut subjects = Vec::new();
        for query in queries {
            let all = sites(&query, given.dialect);
            let holds = |site: &&Site| predict(&query, std::slice::from_ref(*site), &facts).is_ok();
            for site in all.iter().filter(holds).take(MOST_SITES) {
                let choice = format!("{} {}", site.mutator.name, site.number);
                subjects.push(
                    Subject::new(self.name(), query.clone()).with_choice(&format!("{MUTATION}-1"), &choice),
                );
            }
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let derived = match derive(subject, session.database().state(), session.dialect()) {
            Ok(derived) => derived,
            Err(Stopped(reason)) => return Ok(Verdict::skip(reason)),
        };
        derived.mutators.iter().for_each(|note| session.note(note));
        derived.rules.iter().for_each(|rule| session.note(rule.note()));
        let Some(query) = subject.query() else { return Ok(Verdict::skip("not a single query")) };
        let mut arms = Arms::new(derived.relation.text());
        arms.ask("original", query, session)?;
        arms.ask("mutation", derived.mutated, session)?;
        if let Some(verdict) = arms.unanswered(subject, session)? {
            return Ok(verdict);
        }
        let (original, mutated) = (arms.rows(0), arms.rows(1));
        let nonempty = !original.is_empty() || !mutated.is_empty();
        match compare::violation(&derived.relation, original, mutated) {
            None => Ok(Verdict::Pass { nonempty }),
            Some(_) if compare::is_rounding(&derived.relation, original, mutated) => {
                Ok(Verdict::skip("floats differ only by rounding"))
            }
            Some(difference) => arms.differ(difference, subject, session),
        }
    }

    fn complaint(&self, _: &TestCase) -> String {
        "changes the wrong way when a condition is changed".to_string()
    }
}

/// A site that the rules carry to the root, sometimes with a second one.
fn choose(query: &Query, generator: &mut Generator) -> Vec<Site> {
    let facts = Facts { dialect: generator.dialect, state: generator.state };
    let mut left = sites(query, generator.dialect);
    let mut chosen: Vec<Site> = Vec::new();
    let wanted = if generator.odds(&TWO_SITES) { 2 } else { 1 };
    let mut present: Vec<&'static str> = left.iter().map(|site| site.mutator.name).collect();
    present.sort_unstable();
    present.dedup();
    while chosen.len() < wanted && !left.is_empty() {
        // Mutators take turns: some have a site at every node, others rarely have one.
        let turn = generator.rng.below(present.len());
        let places: Vec<usize> =
            (0..left.len()).filter(|at| left[*at].mutator.name == present[turn]).collect();
        let site = left.swap_remove(*generator.rng.pick(&places));
        if places.len() == 1 {
            present.remove(turn);
        }
        chosen.push(site);
        if predict(query, &chosen, &facts).is_err() || hides_another(query, &chosen) {
            chosen.pop();
        }
    }
    chosen
}

/// One mutation undoes another: the query is as with one of them alone.
fn hides_another(query: &Query, chosen: &[Site]) -> bool {
    let [_, _] = chosen else { return false };
    let both = mutated(query, chosen);
    chosen.iter().any(|site| mutated(query, std::slice::from_ref(site)) == both)
}
