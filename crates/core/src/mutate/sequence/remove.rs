//! Removes a statement.

use super::Step;
use crate::generate::{Generator, Named, choices};
use crate::mutate::Mutation;

choices! {
    odds {
        TABLE = "mutate.sequence.remove.table": 15,
    }
}

pub(super) struct Remove;

impl Mutation<Vec<Step>> for Remove {
    fn applies(&self, steps: &Vec<Step>, _: Option<&Vec<Step>>) -> bool {
        !steps.is_empty()
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn apply(&self, generator: &mut Generator, steps: &mut Vec<Step>, _: Option<&Vec<Step>>) {
        let at = generator.rng.below(steps.len());
        if !steps[at].makes_table() || generator.odds(&TABLE) {
            steps.remove(at);
        }
    }
}
