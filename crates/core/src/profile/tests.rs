use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::dialect::Dialect;
use crate::generate::tests::recorded::{learned, statements};
use crate::generate::{Generator, Luck};
use crate::oracle::tests::proposals;
use crate::rng::Rng;
use crate::sql::Statement;
use crate::state::State;

fn profile<'a>(weights: impl IntoIterator<Item = (&'a str, u32)>) -> Policy {
    let profile = weights.into_iter().map(|(name, weight)| (name.to_string(), weight));
    Policy::profile(&profile.collect()).expect("a profile of existing names")
}

/// What is drawn for so many databases, for subjects over them, and for changing what was drawn.
fn draws(dialect: &str, policy: &Policy, databases: u64) -> Draws {
    let dialect = learned(dialect);
    for seed in 0..databases {
        let drawn = statements(&dialect, policy, seed, 5);
        proposals(&dialect, policy, seed, &drawn);
        change(&dialect, policy, seed, &drawn);
    }
    policy.draws()
}

/// Changes what was drawn as a guided hunt does, on a database where every operation has failed.
fn change(dialect: &Dialect, policy: &Policy, seed: u64, drawn: &[Statement]) {
    let mut state = State::default();
    drawn.iter().for_each(|statement| state.apply(statement, dialect));
    let mut luck = Luck::default();
    luck.note(&Vec::from_iter(0..20), false);
    let mut generator = Generator::new(Rng::for_case(seed, 1, 0), dialect, &state, policy).with_luck(&luck);
    mutate::sequence(&mut generator, drawn, Some(drawn));
    let mut donor = None;
    for statement in drawn {
        let mut statement = statement.clone();
        match &mut statement {
            Statement::Query(query) => {
                mutate::query(&mut generator, query, donor.as_ref());
                mutate::loosen(&mut generator, query);
                donor = Some((**query).clone());
            }
            other => mutate::statement(&mut generator, other),
        }
    }
}

#[test]
fn every_choice_has_a_name_of_its_own() {
    let names: BTreeSet<&str> = choices().iter().map(|choice| choice.name.as_str()).collect();
    assert_eq!(names.len(), choices().len());
    let plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-./".contains(letter);
    assert!(names.iter().all(|name| name.chars().all(plain)), "{names:?}");
}

#[test]
fn every_choice_is_drawn() {
    for (dialect, never) in [("sqlite", NEVER_ON_SQLITE), ("postgres", NEVER_ON_POSTGRES)] {
        let draws = draws(dialect, &Policy::default(), 1000);
        let missing: BTreeSet<&str> = draws.missing().map(|choice| choice.name.as_str()).collect();
        let expected = never.iter().chain(NEVER_WITHOUT_AN_ENGINE).flat_map(|(_, names)| *names);
        let expected: BTreeSet<&str> = expected.copied().collect();
        assert_eq!(missing, expected, "never drawn on {dialect}");
    }
}

/// Why a dialect has no room for choices.
type Never = &'static [(&'static str, &'static [&'static str])];

const NEVER_WITHOUT_AN_ENGINE: Never = &[(
    "a walk draws them, depending on answers",
    &["case.change", "changed.drawn-case", "changed.empty", "changed.own-query", "changed.whole-condition"],
)];

const NEVER_ON_SQLITE: Never = &[
    ("it has no MERGE", &["dml.form/merge"]),
    ("it has no such aggregate", &["aggregate.measure/variance"]),
    ("its maintenance has statements of its own", &["change/maintenance"]),
    ("it has no REGEXP", &["compose.condition.regexp", "compose.condition.regexp.not"]),
    (
        "it has no ANY and ALL",
        &[
            "compose.condition/quantified",
            "compose.quantified.all",
            "compose.quantified/measure",
            "compose.quantified/number",
        ],
    ),
    (
        "columns of a compound have no affinity",
        &[
            "compose.from.summary/set",
            "query.relation.distinct",
            "query.relation.set",
            "query.subquery.set.all",
            "query.subquery.set.op/except",
            "query.subquery.set.op/intersect",
            "query.subquery.set.op/union",
            "query.subquery.shape/set",
        ],
    ),
    (
        "it has no grouping sets",
        &["compose.groups.grouping/cube", "compose.groups.grouping/rollup", "compose.groups.grouping/sets"],
    ),
    ("it has no locks of rows", &["compose.rows.lock", "compose.rows.lock.share"]),
    (
        "it has no ALL but that of UNION",
        &["compose.set/except-all", "compose.set/intersect-all", "joinequiv.form/all"],
    ),
    (
        "any operand is converted",
        &[
            "edc.test/column",
            "expr.operator.real/add",
            "expr.operator.real/div",
            "expr.operator.real/mul",
            "expr.operator.real/sub",
            "expr.value/leaf",
        ],
    ),
    ("it has no PREPARE, and no settings for it", &["epsc.by-sql", "epsc.planning"]),
    ("outer joins take any condition", &["query.join.outer-op/eq", "query.join.outer-op/same"]),
    ("it has no LATERAL", &["query.lateral"]),
    ("it stores what others refuse", &["rows.update.ignore"]),
    ("it has one kind of index", &["schema.index.method"]),
    ("how a table is stored are choices of their own", &["schema.option"]),
    ("its tables have no partitions", &["schema.partitioned"]),
];

const NEVER_ON_POSTGRES: Never = &[
    ("an error ends a transaction", &["atomic.by/failure"]),
    (
        "operands are not converted",
        &[
            "cell.shared.any-type",
            "edc.cell.crossing",
            "edc.constant/any",
            "edc.constant/int",
            "edc.constant/of-its-kind",
            "edc.constant/real",
            "edc.constant/spelled",
            "edc.constant/text",
            "edc.function.crossing",
            "edc.function.same-kind",
            "epsc.again.any-kind",
            "epsc.aggregate.and",
            "epsc.aggregate/logic",
            "expr.operator.concat",
            "expr.predicate/value",
            "expr.small-int.remainder",
            "expr.value/predicate",
            "mutate.query.wrap/is-null",
            "mutate.query.wrap/plus",
            "mutate.query.wrap/same",
            "operation.any-kind",
            "operation.condition.opaque",
            "operation.number/decimal",
            "operation.number/int",
            "operation.number/real",
            "update.expression",
            "value.crossing",
            "value.decimal.whole",
            "value.kind/blob",
            "value.kind/int",
            "value.kind/real",
            "value.kind/text",
        ],
    ),
    (
        "only ON CONFLICT forgives a conflict, so every INSERT into a table with keys has it",
        &[
            "change.conflict.replace",
            "insert.do-nothing",
            "mutate.statement.rows/strict",
            "schema.on-conflict",
            "schema.on-conflict.action/ignore",
            "schema.on-conflict.action/replace",
        ],
    ),
    (
        "they are among its maintenance",
        &["change/analyze", "change/reindex", "change/vacuum", "epsc.definition/analyze"],
    ),
    ("it has no REGEXP", &["compose.condition.regexp", "compose.condition.regexp.not"]),
    (
        "overflow is an error",
        &[
            "expr.operator.integer/div",
            "expr.operator.integer/mul",
            "expr.operator.integer/shift-left",
            "expr.operator.integer/shift-right",
        ],
    ),
    ("it has no GLOB", &["expr.pattern.glob"]),
    ("FULL JOIN takes equalities only", &["mutate.query.join.kind/full"]),
    ("outer joins take any condition", &["query.join.outer-op/eq", "query.join.outer-op/same"]),
    ("it has no index hints", &["query.indexed-by", "query.not-indexed"]),
    (
        "it has no modules",
        &["cell.module.whole", "query.module.search", "schema.module", "schema.module.argument"],
    ),
    ("no column stands beside MIN or MAX", &["order.beside"]),
    ("it has no UPDATE IGNORE", &["rows.update.ignore"]),
    (
        "only SQLite stores tables like this",
        &[
            "schema.column.autoincrement",
            "schema.column.key.desc",
            "schema.column.references",
            "schema.column.rowid-alias",
            "schema.strict",
            "schema.without-rowid",
        ],
    ),
    ("it stores tables in one way", &["schema.option"]),
];

#[test]
fn a_weight_of_zero_means_never() {
    let odds = || choices().iter().filter(|choice| !choice.name.contains('/'));
    let joins = ["left", "right", "full", "cross"].map(|kind| format!("query.join.kind/{kind}"));
    let never = odds().map(|choice| choice.name.as_str()).chain(joins.iter().map(String::as_str));
    let never: Vec<&str> = never.collect();
    let draws = draws("sqlite", &profile(never.iter().map(|name| (*name, 0))), 30);
    for name in never {
        assert_eq!(draws.count(name), 0, "{name}");
    }
    assert!(draws.count("query.join.kind/inner") > 0);
}

#[test]
fn a_profile_that_leaves_nothing_is_followed_as_far_as_possible() {
    let set = |name: &&Listed| name.name.starts_with("compose.set/");
    let policy = profile(choices().iter().filter(set).map(|choice| (choice.name.as_str(), 0)));
    assert!(draws("sqlite", &policy, 30).count("compose.set/union-all") > 0);
}

#[test]
fn an_option_with_all_the_weight_is_drawn_alone() {
    let kinds = ["inner", "right", "full", "cross"].map(|kind| format!("query.join.kind/{kind}"));
    let draws = draws("postgres", &profile(kinds.iter().map(|name| (name.as_str(), 0))), 30);
    let joins = draws.iter().filter(|(name, _)| name.starts_with("query.join.kind/"));
    assert_eq!(joins.map(|(name, _)| name).collect::<Vec<_>>(), ["query.join.kind/left"]);
}

/// Whatever is asked for, there is something to draw.
#[test]
fn no_profile_does_harm() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut weight = |most| if rng.chance(30) { 0 } else { rng.below(most as usize + 1) as u32 };
        let weights = choices().iter().map(|choice| (choice.name.clone(), weight(choice.most.min(100))));
        let mut profile: BTreeMap<String, u32> = weights.collect();
        for size in Policy::SIZES {
            profile.insert(size_name(size.field), size.least + weight(size.default));
        }
        let policy = Policy::profile(&profile).expect("a valid profile");
        for dialect in ["sqlite", "postgres", "mysql"] {
            let dialect = learned(dialect);
            let drawn = statements(&dialect, &policy, seed, 3);
            proposals(&dialect, &policy, seed, &drawn);
        }
    }
}

#[test]
fn what_is_wrong_with_a_profile_is_told() {
    let error =
        |name: &str, value| Policy::profile(&[(name.to_string(), value)].into()).unwrap_err().to_string();
    assert_eq!(
        error("query.joins.kind/left", 1),
        "unknown choice 'query.joins.kind/left'; did you mean 'query.join.kind/left'?"
    );
    assert_eq!(
        error("size.max-table", 1),
        "unknown choice 'size.max-table'; did you mean 'size.max-tables'?"
    );
    assert_eq!(error("query.comma", 101), "'query.comma' is 101, but can be at most 100");
    assert_eq!(error("size.max-tables", 0), "'size.max-tables' is 0, but must be at least 1");
}

#[test]
fn sizes_are_set_by_name() {
    assert_eq!(profile([("size.many-rows", 400)]).many_rows, 400);
    let default = Policy::default();
    let sizes: BTreeMap<String, u32> = sizes().collect();
    assert_eq!(sizes["size.depth"], default.depth as u32);
}

#[test]
fn draws_add_up_and_survive_the_wire() {
    let policy = Policy::default();
    let mut sum = draws("sqlite", &policy, 1);
    let first = sum.clone();
    assert_eq!(policy.take_draws().0, first);
    assert!(policy.draws().is_empty());
    sum.add(&first);
    let text = serde_json::to_string(&sum).unwrap();
    assert_eq!(serde_json::from_str::<Draws>(&text).unwrap(), sum);
    assert!(first.iter().all(|(name, count)| sum.count(name) == 2 * count));
}
