//! Swaps two statements.

use super::Step;
use crate::generate::Generator;
use crate::mutate::Mutation;

pub(super) struct Swap;

impl Mutation<Vec<Step>> for Swap {
    fn applies(&self, steps: &Vec<Step>, _: Option<&Vec<Step>>) -> bool {
        steps.iter().filter(|step| !step.makes_table()).count() > 1
    }

    fn apply(&self, generator: &mut Generator, steps: &mut Vec<Step>, _: Option<&Vec<Step>>) {
        let movable = |(at, step): (usize, &Step)| (!step.makes_table()).then_some(at);
        let movable: Vec<usize> = steps.iter().enumerate().filter_map(movable).collect();
        steps.swap(*generator.rng.pick(&movable), *generator.rng.pick(&movable));
    }
}
