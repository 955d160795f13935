//! Generates a subject: its own tables, then changes of rows and queries, some of them repeated with other values,
//! with DDL and settings in between.

use super::case::{Case, Road};
use super::places::{Place, each_literal, fits};
use super::{ROAD, SQL};
use crate::dialect::{Dialect, Feature, ParameterType};
use crate::generate::{Generator, choices};
use crate::oracle::Given;
use crate::sql::*;
use crate::state::State;
use crate::subject::{Proposal, Subject};

choices! {
    odds {
        /// Statements are prepared by SQL, not by the interface.
        BY_SQL = "epsc.by-sql": 40,
        PLANNING = "epsc.planning": 80,
        INDEX = "epsc.index": 35,
        OTHER_VALUE = "epsc.again.value": 60,
        NULL = "epsc.again.null": 12,
        OF_ANY_KIND = "epsc.again.any-kind": 20,
        AGGREGATE = "epsc.plain.aggregate": 20,
        AGGREGATE_FILTER = "epsc.aggregate.filter": 60,
        AND = "epsc.aggregate.and": 50,
    }
    choose enum {
        /// Queries alone need no tables of their own.
        TABLES: Tables = "epsc.tables" { None: 25, One: 55, Two: 20 },
        /// Sometimes an empty table: an aggregate over no rows is still a row.
        INSERTS: Inserts = "epsc.inserts" { None: 15, One: 60, Two: 25 },
        STEP: Step = "epsc.step" { Change: 22, Again: 24, Definition: 6, Setting: 4, Plain: 20, Composed: 24 },
        DEFINITION: Definition = "epsc.definition" { Index: 1, Analyze: 1, Maintenance: 1, AddColumn: 1 },
        /// What is computed of an aggregate.
        COMPUTED: Computed = "epsc.aggregate" { Logic: 1, Case: 1, Nothing: 1 },
    }
}

pub fn proposal(oracle: &str, g: &mut Generator) -> Option<Proposal> {
    let road = g.dialect.preparing.sql.filter(|_| g.odds(&BY_SQL)).map_or(Road::Interface, Road::Sql);
    let mut draft = Draft {
        road,
        state: g.state.clone(),
        own: Vec::new(),
        steps: Vec::new(),
        share: *g.rng.pick(&[25, 50, 80, 100]),
    };
    let planning = &g.dialect.preparing.settings;
    if !planning.is_empty() && g.odds(&PLANNING) {
        draft.steps.extend(g.pick_setting(planning));
    }
    let own = if g.state.tables.is_empty() { g.rng.between(1, 2) } else { g.choose(&TABLES) as usize };
    for _ in 0..own {
        draft.table(g);
    }
    for _ in 0..g.rng.between(4, 12) {
        draft.step(g);
    }
    let mut subject = Subject::of(oracle, draft.steps);
    if road != Road::Interface {
        subject = subject.with_choice(ROAD, SQL);
    }
    Case::read(&subject, g.dialect).is_ok().then(|| subject.into())
}

/// A given query with every literal that may be one as a parameter, by each road.
pub fn adopted(oracle: &str, given: &Given) -> Vec<Subject> {
    let roads = [Some(Road::Interface), given.dialect.preparing.sql.map(Road::Sql)];
    let mut subjects = Vec::new();
    for road in roads.into_iter().flatten() {
        let by_sql = road != Road::Interface;
        let mut test = Statement::from(given.query.clone());
        bind(&mut test, given.dialect.preparing.types(by_sql), given.dialect, || true);
        let mut subject = Subject::new(oracle, given.query.clone());
        subject.tests = vec![test];
        if by_sql {
            subject = subject.with_choice(ROAD, SQL);
        }
        if Case::read(&subject, given.dialect).is_ok() {
            subjects.push(subject);
        }
    }
    subjects
}

struct Draft {
    road: Road,
    /// The database with the tables that the steps make.
    state: State,
    own: Vec<Name>,
    steps: Vec<Statement>,
    /// Of a hundred literals so many become parameters.
    share: u32,
}

impl Draft {
    fn types<'a>(&self, g: &Generator<'a>) -> &'a [ParameterType] {
        g.dialect.preparing.types(self.road != Road::Interface)
    }

    /// Draws over the current state.
    fn draw<T>(&self, g: &mut Generator, draw: impl FnOnce(&mut Generator) -> T) -> T {
        let mut over = g.over(&self.state);
        let drawn = draw(&mut over);
        g.rng = over.rng;
        g.drawn_operations.append(&mut over.drawn_operations);
        drawn
    }

    /// Takes a statement in, with parameters.
    fn push(&mut self, statement: Statement, g: &mut Generator) {
        self.state.apply(&statement, g.dialect);
        let mut bound = statement;
        let (types, share) = (self.types(g), self.share);
        bind(&mut bound, types, g.dialect, || g.rng.chance(share));
        self.admit(bound, g);
    }

    /// Keeps a step that meets the conditions.
    fn admit(&mut self, step: Statement, g: &Generator) {
        self.steps.push(step);
        let case = Case::of(&self.steps, self.road);
        if self.steps.last().is_some_and(|step| case.admit(step, g.dialect).is_err()) {
            self.steps.pop();
        }
    }

    fn table(&mut self, g: &mut Generator) {
        let create = self.draw(g, |g| g.lone_table());
        let name = create.name.clone();
        self.own.push(name.clone());
        self.push(Statement::CreateTable(create), g);
        if g.odds(&INDEX)
            && let Some(index) = self.index(g)
        {
            self.push(index, g);
        }
        for _ in 0..g.choose(&INSERTS) as usize {
            if let Some(insert) = self.draw(g, |g| g.insert_rows(&name)) {
                self.push(insert, g);
            }
        }
    }

    /// An index on a table of our own.
    fn index(&self, g: &mut Generator) -> Option<Statement> {
        let index = self.draw(g, |g| g.any_index())?;
        matches!(&index, Statement::CreateIndex(create) if self.own.contains(&create.table)).then_some(index)
    }

    fn step(&mut self, g: &mut Generator) {
        let own = g.rng.choose(&self.own).cloned();
        let applies = |step| own.is_some() || !matches!(step, Step::Change | Step::Definition);
        let drawn = match g.choose_or(&STEP, Step::Composed, applies) {
            Step::Change => own.and_then(|table| self.draw(g, |g| g.change_rows(&table))),
            Step::Again => return self.again(g),
            Step::Definition => self.definition(g),
            Step::Setting => self.draw(g, |g| g.setting()),
            Step::Plain => self.draw(g, plain_query).map(Statement::from),
            Step::Composed => self.draw(g, |g| g.composed_query()).map(Statement::from),
        };
        if let Some(statement) = drawn {
            self.push(statement, g);
        }
    }

    /// Something that statements stay open across.
    fn definition(&self, g: &mut Generator) -> Option<Statement> {
        let dialect = g.dialect;
        let applies = |definition| definition != Definition::Analyze || dialect.can(Feature::Analyze);
        match g.choose_or(&DEFINITION, Definition::Maintenance, applies) {
            Definition::Index => self.index(g),
            Definition::Analyze => Some(Statement::Analyze(None)),
            Definition::Maintenance if dialect.maintenance.is_empty() => None,
            Definition::Maintenance => self.draw(g, |g| g.maintenance()),
            Definition::AddColumn => {
                let table = g.rng.choose(&self.own)?.clone();
                let entry =
                    dialect.types.iter().find(|entry| entry.weight > 0 && entry.ty.kind == Kind::Int)?;
                let name = Name::from(format!("a{}", self.steps.len()));
                let column = ColumnDef { name, ty: entry.ty.clone(), constraints: Vec::new() };
                Some(Statement::AlterTable { table, action: AlterAction::AddColumn(column) })
            }
        }
    }

    /// An earlier query or change with other values.
    fn again(&mut self, g: &mut Generator) {
        let types = self.types(g);
        let has_values = |step: &&Statement| {
            let mut found = false;
            each_literal(&mut (*step).clone(), g.dialect, |expr, _| found |= matches!(expr, Expr::Bound(_)));
            found
        };
        let candidates: Vec<Statement> = self.steps.iter().filter(has_values).cloned().collect();
        let Some(earlier) = g.rng.choose(&candidates).cloned() else { return };
        let mut statement = earlier;
        let dialect = g.dialect;
        each_literal(&mut statement, dialect, |expr, place| {
            if let Expr::Bound(value) = expr
                && g.odds(&OTHER_VALUE)
            {
                *value = other_value(value, place, types, g);
            }
        });
        self.admit(statement, g);
    }
}

/// A plain SELECT with a WHERE of any depth.
fn plain_query(g: &mut Generator) -> Option<Query> {
    let from = g.from_clause(g.policy.max_relations)?.tables;
    let mut items = g.select_items(3);
    if g.odds(&AGGREGATE) {
        // What is computed of aggregates, over rows that may be none.
        let predicate = g.predicate(1);
        let measure = g.exact_aggregate().0;
        let typed = g.dialect.is_typed();
        let applies = |computed| computed != Computed::Logic || !typed;
        items = vec![match g.choose_or(&COMPUTED, Computed::Nothing, applies) {
            Computed::Logic => {
                let constant = Expr::int(g.rng.below(2) as i64);
                match g.odds(&AND) {
                    true => measure.and(constant),
                    false => Expr::binary(BinaryOp::Or, measure, constant),
                }
            }
            Computed::Case => Expr::Case {
                operand: None,
                branches: vec![Branch {
                    when: measure.is(Truth::Null),
                    then: Expr::int(g.rng.below(3) as i64),
                }],
                otherwise: Some(Box::new(Expr::int(g.rng.below(3) as i64))),
            },
            Computed::Nothing => measure,
        }];
        let filter = g.odds(&AGGREGATE_FILTER).then_some(predicate);
        let items = items.into_iter().map(SelectItem::from).collect();
        return Some(g.finish(Select { items, from, filter, ..Select::default() }));
    }
    let filter = Some(g.filter(g.policy.depth));
    let items = items.into_iter().map(SelectItem::from).collect();
    Some(g.finish(Select { items, from, filter, ..Select::default() }))
}

/// Makes some of a statement's literals parameters, under a cast where they need one.
fn bind(
    statement: &mut Statement,
    types: &[ParameterType],
    dialect: &Dialect,
    mut chosen: impl FnMut() -> bool,
) {
    each_literal(statement, dialect, |expr, place| {
        let Expr::Literal(value) = expr else { return };
        if !place.free || !chosen() {
            return;
        }
        let Some(ty) = types.iter().find(|ty| ty.holds(value) && (!value.is_null() || ty.name.is_empty()))
        else {
            return;
        };
        let bound = Expr::Bound(value.clone());
        *expr = match place.cast {
            _ if ty.name.is_empty() || place.bare => bound,
            Some(cast) if *cast == ty.data_type() => bound,
            _ => Expr::Cast { expr: Box::new(bound), ty: ty.data_type() },
        };
    });
}

/// Another value that the parameter may have.
fn other_value(value: &Value, place: Place, types: &[ParameterType], g: &mut Generator) -> Value {
    if place.bare {
        return Value::Int(g.rng.below(6) as i64);
    }
    if g.odds(&NULL) {
        return Value::Null;
    }
    let kind = match place.cast.filter(|cast| types.iter().any(|ty| ty.data_type() == **cast)) {
        Some(cast) => cast.kind,
        None if value.is_null() => Kind::Int,
        // What is bound as it is may be anything the next time.
        None if g.dialect.can(Feature::DynamicTyping) && g.odds(&OF_ANY_KIND) => Kind::Any,
        None => value.kind(),
    };
    let other = if kind == Kind::Bool && !matches!(value, Value::Int(_)) {
        Value::Bool(g.rng.chance(50))
    } else {
        g.some_value(kind)
    };
    if fits(&other, &place, types) { other } else { value.clone() }
}
