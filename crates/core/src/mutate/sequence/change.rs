//! Mutates one statement.

use super::{Step, What};
use crate::generate::Generator;
use crate::mutate::Mutation;

pub(super) struct Change;

impl Mutation<Vec<Step>> for Change {
    fn applies(&self, steps: &Vec<Step>, _: Option<&Vec<Step>>) -> bool {
        !steps.is_empty()
    }

    fn apply(&self, generator: &mut Generator, steps: &mut Vec<Step>, _: Option<&Vec<Step>>) {
        let at = generator.rng.below(steps.len());
        if let What::Run(statement) = &steps[at].what {
            steps[at].what = What::Change(statement.clone());
        }
    }
}
