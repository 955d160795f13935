//! What the generator and the oracles can choose is chosen: a choice that a dialect allows and that is never drawn would
//! be a bug that nobody sees.
//!
//! Nothing runs here. The snapshot lists what a dialect never draws; a line that is added to it must have a reason, such
//! as a feature that the engine lacks.

use std::collections::{BTreeMap, BTreeSet};

use dissent_core::dialect::{Dialect, Files};
use dissent_core::generate::{Generator, Policy};
use dissent_core::oracle;
use dissent_core::profile;
use dissent_core::rng::Rng;
use dissent_core::state::State;

const DATABASES: u64 = 400;
const CASES: u64 = 30;
/// Choices that need more than a generator: a corpus, a walk, or the catalog of an engine.
const MADE_ELSEWHERE: &[&str] = &[
    "mutate.",
    "changed.",
    "case.change",
    "operation.",
    "edc.expression.catalog",
    "expr.function.catalog",
    "expr.predicate/operation",
];

/// The names of the choices that are never made in many databases and their cases.
fn never_drawn(dialect: &Dialect) -> BTreeSet<String> {
    let policy = Policy::default();
    let oracles: Vec<_> = oracle::all().iter().filter(|oracle| oracle.suits(dialect)).collect();
    for number in 0..DATABASES {
        let mut state = State::default();
        let mut rng = Rng::for_case(1, number, 0);
        let mut generator = Generator::new(rng, dialect, &state, &policy);
        let plan = generator.plan();
        rng = generator.rng;
        for stage in plan {
            let mut generator = Generator::new(rng, dialect, &state, &policy);
            let statements = generator.stage(stage);
            rng = generator.rng;
            statements.iter().for_each(|statement| state.apply(statement, dialect));
        }
        for case in 1..=CASES {
            let mut generator = Generator::new(Rng::for_case(1, number, case), dialect, &state, &policy);
            let oracle = *generator.rng.choose(&oracles).expect("an oracle");
            oracle.propose(&mut generator);
            generator.any_query();
            generator.change();
        }
    }
    let drawn = policy.draws();
    let unseen =
        profile::choices().iter().filter(|choice| choice.weight > 0 && drawn.count(&choice.name) == 0);
    let made_elsewhere = |name: &str| MADE_ELSEWHERE.iter().any(|prefix| name.starts_with(prefix));
    unseen.map(|choice| choice.name.clone()).filter(|name| !made_elsewhere(name)).collect()
}

#[test]
fn every_choice_that_a_dialect_allows_is_drawn() {
    let mut never: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let names: Vec<String> = Files::built_in().names().map(str::to_string).collect();
    for name in &names {
        let dialect = Dialect::load(name, "999999").unwrap();
        for choice in never_drawn(&dialect) {
            never.entry(choice).or_default().push(name.clone());
        }
    }
    let nowhere: Vec<&String> =
        never.iter().filter(|(_, by)| by.len() == names.len()).map(|(choice, _)| choice).collect();
    assert!(nowhere.is_empty(), "no dialect draws {nowhere:?}");
    let lines = never.iter().map(|(choice, by)| format!("{choice}: {}\n", by.join(", ")));
    insta::assert_snapshot!(lines.collect::<String>());
}
