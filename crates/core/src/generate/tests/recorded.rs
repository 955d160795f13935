//! A seed gives the same statements as long as nobody changes a default weight or the order of choices.

use super::dialect;
use crate::catalog::{Arg, CATALOG_FORMAT, Catalog, Operation, OperationKind, SampleType, Signature};
use crate::dialect::Dialect;
use crate::generate::{Generator, Policy};
use crate::render::to_sql;
use crate::rng::Rng;
use crate::sql::*;
use crate::state::State;

/// A dialect that has learned a few operations of each kind.
pub(crate) fn learned(name: &str) -> Dialect {
    let ty = |name: &str, kind, values: [&str; 3]| SampleType {
        name: name.into(),
        kind,
        values: values.map(String::from).to_vec(),
        aliases: Vec::new(),
        plain: true,
        literal: None,
        pseudo: false,
        required: false,
        comparable: true,
        ordered: kind != Kind::Bool,
    };
    let arg = |types: &[u16], constant| Arg { types: types.to_vec(), constant };
    let operation = |kind, name: &str, form: Option<&str>, args: Vec<Arg>, returns, fragile| Operation {
        kind,
        name: name.into(),
        form: form.map(Name::from),
        signatures: vec![Signature { args, returns, fragile }],
        indexable: true,
        unusable: None,
    };
    use OperationKind::*;
    let types = vec![
        ty("TEXT", Kind::Text, ["abc", "", "1.5"]),
        ty("INTEGER", Kind::Int, ["3", "-1", "0"]),
        ty("BOOLEAN", Kind::Bool, ["true", "false", "true"]),
    ];
    let operations = vec![
        operation(Function, "upper", None, vec![arg(&[0], false)], Some(0), false),
        operation(Function, "repeat", None, vec![arg(&[0], false), arg(&[1], true)], Some(0), true),
        operation(Function, "starts", None, vec![arg(&[0], false); 2], Some(2), false),
        operation(Function, "opaque", None, vec![arg(&[0, 1, 2], false)], None, false),
        operation(Operator, "+", Some("{} + {}"), vec![arg(&[1], false); 2], Some(1), false),
        operation(Cast, "INTEGER to TEXT", Some("CAST({} AS TEXT)"), vec![arg(&[1], false)], Some(0), false),
        operation(Aggregate, "max", None, vec![arg(&[1], false)], Some(1), false),
        operation(Window, "row_number", None, Vec::new(), Some(1), false),
        operation(Window, "lag", None, vec![arg(&[1], false)], Some(1), false),
    ];
    let mut dialect = dialect(name);
    let (format, fingerprint) = (CATALOG_FORMAT, 0);
    let engine_version = String::from("0");
    let dialect_name = String::from(name);
    dialect.learn(&Catalog { format, dialect: dialect_name, engine_version, fingerprint, types, operations });
    dialect
}

/// The statements that build one database, and one of every kind that is drawn over it in each of its cases.
pub(crate) fn statements(dialect: &Dialect, policy: &Policy, seed: u64, cases: u64) -> Vec<Statement> {
    let mut state = State::default();
    let mut statements = Vec::new();
    let mut rng = Rng::for_case(seed, 0, 0);
    let plan = Generator::new(rng.clone(), dialect, &state, policy).plan();
    for stage in plan {
        let mut generator = Generator::new(rng, dialect, &state, policy);
        let drawn = generator.stage(stage);
        rng = generator.rng;
        drawn.iter().for_each(|statement| state.apply(statement, dialect));
        statements.extend(drawn);
    }
    for case in 1..=cases {
        let mut generator = Generator::new(Rng::for_case(seed, 0, case), dialect, &state, policy);
        let changes = generator.change();
        statements.extend(one_of_each(&mut generator));
        changes.iter().for_each(|statement| state.apply(statement, dialect));
        statements.extend(changes);
    }
    statements
}

fn one_of_each(generator: &mut Generator) -> Vec<Statement> {
    let mut drawn = Vec::new();
    if let Some(query) = generator.any_query() {
        drawn.extend(generator.index_for(&query).map(Statement::CreateIndex));
        drawn.push(query.into());
    }
    generator.start_over();
    drawn.extend(joined(generator).map(Statement::from));
    generator.start_over();
    drawn.extend(grouped(generator).map(Statement::from));
    generator.start_over();
    let alone = generator.lone_table();
    drawn.extend(generator.table_and_rows(alone));
    generator.start_over();
    let table = generator.state.base_tables().next().map(|table| table.name.clone());
    drawn.extend(table.and_then(|table| generator.change_rows(&table)));
    drawn
}

/// Two relations, joined as an oracle about joins does.
fn joined(generator: &mut Generator) -> Option<Query> {
    let left = generator.relation_or_none()?;
    let right = generator.relation_or_none()?;
    let from = vec![TableRef::join(JoinKind::Left, left, right, generator.join_on(1))];
    let items = generator.select_items(2).into_iter().map(SelectItem::from).collect();
    let filter = Some(generator.padding_filter());
    Some(generator.finish(Select { items, from, filter, ..Select::default() }))
}

/// Groups with a condition, as an oracle about groups does.
fn grouped(generator: &mut Generator) -> Option<Query> {
    let from = generator.from_clause(2)?.tables;
    let key = generator.identical(|g| g.column(Kind::Any))?;
    let having = Some(generator.group_predicate(&[(key.expr.clone(), key.kind)]));
    let (items, group_by) = (vec![SelectItem::from(key.expr.clone())], vec![key.expr]);
    Some(generator.finish(Select { items, from, group_by, having, ..Select::default() }))
}

fn recorded(dialect: &Dialect) -> u64 {
    let policy = Policy::default();
    let drawn = (0..20).flat_map(|seed| statements(dialect, &policy, seed, 20));
    hash(drawn.map(|statement| to_sql(&statement, dialect)))
}

pub(crate) fn hash(texts: impl Iterator<Item = String>) -> u64 {
    texts.flat_map(String::into_bytes).fold(0, |hash: u64, byte| {
        (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95)
    })
}

#[test]
fn a_seed_gives_the_statements_that_it_gave_before() {
    let hashes = ["sqlite", "duckdb", "postgres", "mysql", "clickhouse"].map(|name| recorded(&learned(name)));
    assert_eq!(hashes.map(|hash| format!("{hash:016x}")), RECORDED);
}

/// A change here means that every seed users wrote down now stands for other statements. Do it on purpose, and say so
/// in the changelog.
const RECORDED: [&str; 5] =
    ["d142f091804cd243", "f65805357bc8f07a", "c35b268f4582412b", "2a6d9aa074d63fff", "4548fe2c6144ec98"];
