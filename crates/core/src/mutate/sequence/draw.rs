//! Inserts a new statement.

use super::{Step, What};
use crate::generate::{Generator, Named, Stage, choices};
use crate::mutate::Mutation;

choices! {
    choose enum {
        /// What only stands at the beginning is left out.
        DRAWN: Drawn = "mutate.sequence.draw" { Index: 2, Rows: 1, View: 1, Change: 1, Analyze: 1, Setting: 1 },
    }
}

pub(super) struct Draw;

impl Mutation<Vec<Step>> for Draw {
    fn applies(&self, _: &Vec<Step>, _: Option<&Vec<Step>>) -> bool {
        true
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn apply(&self, generator: &mut Generator, steps: &mut Vec<Step>, _: Option<&Vec<Step>>) {
        let at = generator.rng.below(steps.len());
        let stage = match generator.choose(&DRAWN) {
            Drawn::Index => Stage::Index,
            Drawn::Rows => Stage::Rows(0),
            Drawn::View => Stage::View,
            Drawn::Change => Stage::Change,
            Drawn::Analyze => Stage::Analyze,
            Drawn::Setting => Stage::Setting,
        };
        steps.insert(at + 1, Step { source: 0, what: What::Draw(stage) });
    }
}
