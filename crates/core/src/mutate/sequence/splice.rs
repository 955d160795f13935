//! Inserts statements of another database.

use super::Step;
use crate::generate::{Generator, Named, choices};
use crate::mutate::Mutation;

choices! {
    odds {
        /// All of it, so that its tables come along, rather than a few statements about the tables that are here.
        WHOLE = "mutate.sequence.splice.whole": 25,
    }
}

pub(super) struct Splice;

impl Mutation<Vec<Step>> for Splice {
    fn applies(&self, _: &Vec<Step>, donor: Option<&Vec<Step>>) -> bool {
        donor.is_some_and(|donor| !donor.is_empty())
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn apply(&self, generator: &mut Generator, steps: &mut Vec<Step>, donor: Option<&Vec<Step>>) {
        let Some(given) = donor else { return };
        let at = generator.rng.below(steps.len());
        let (from, count) = match generator.odds(&WHOLE) {
            true => (0, given.len()),
            false => (generator.rng.below(given.len()), generator.rng.between(1, 3)),
        };
        steps.splice(at + 1..at + 1, given.iter().skip(from).take(count).cloned());
    }
}
