//! Drawing a subject: tables of its own, then changes of rows and queries, some of them again with other
//! values, with definitions and settings in between.

use super::case::{Case, Road};
use super::places::{Place, each_literal, fits};
use super::{ROAD, SQL};
use crate::dialect::{Dialect, Feature, ParameterType};
use crate::generate::Generator;
use crate::oracle::Given;
use crate::sql::*;
use crate::state::State;
use crate::subject::{Proposal, Subject};

pub fn proposal(oracle: &str, g: &mut Generator) -> Option<Proposal> {
    let road = g.dialect.preparing.sql.filter(|_| g.rng.chance(40)).map_or(Road::Interface, Road::Sql);
    let mut draft = Draft {
        road,
        state: g.state.clone(),
        own: Vec::new(),
        steps: Vec::new(),
        share: *g.rng.pick(&[25, 50, 80, 100]),
    };
    let planning = &g.dialect.preparing.settings;
    if !planning.is_empty() && g.rng.chance(80) {
        draft.steps.extend(g.pick_setting(planning));
    }
    // Queries alone need no tables of their own.
    let own = if g.state.tables.is_empty() { g.rng.between(1, 2) } else { g.rng.weighted(&[25, 55, 20]) };
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

    /// Draws over the present state.
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
        if g.rng.chance(35)
            && let Some(index) = self.index(g)
        {
            self.push(index, g);
        }
        // An empty table now and then: what is aggregated over no rows is a row all the same.
        for _ in 0..g.rng.weighted(&[15, 60, 25]) {
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
        let drawn = match (g.rng.below(100), own) {
            (0..22, Some(table)) => self.draw(g, |g| g.change_rows(&table)),
            (22..46, _) => return self.again(g),
            (46..52, Some(_)) => self.definition(g),
            (52..56, _) => self.draw(g, |g| g.setting()),
            (56..76, _) => self.draw(g, plain_query).map(Statement::from),
            _ => self.draw(g, |g| g.composed_query()).map(Statement::from),
        };
        if let Some(statement) = drawn {
            self.push(statement, g);
        }
    }

    /// Something that statements stay open across.
    fn definition(&self, g: &mut Generator) -> Option<Statement> {
        match g.rng.below(4) {
            0 => self.index(g),
            1 if g.dialect.can(Feature::Analyze) => Some(Statement::Analyze(None)),
            1 | 2 if !g.dialect.maintenance.is_empty() => self.draw(g, |g| g.maintenance()),
            3 => {
                let table = g.rng.choose(&self.own)?.clone();
                let entry =
                    g.dialect.types.iter().find(|entry| entry.weight > 0 && entry.ty.kind == Kind::Int)?;
                let name = Name::from(format!("a{}", self.steps.len()));
                let column = ColumnDef { name, ty: entry.ty.clone(), constraints: Vec::new() };
                Some(Statement::AlterTable { table, action: AlterAction::AddColumn(column) })
            }
            _ => None,
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
                && g.rng.chance(60)
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
    if g.rng.chance(20) {
        // What is computed of aggregates, over rows that may be none.
        let predicate = g.predicate(1);
        let measure = g.exact_aggregate().0;
        items = vec![match g.rng.below(3) {
            0 if !g.dialect.is_typed() => {
                let constant = Expr::int(g.rng.below(2) as i64);
                match g.rng.chance(50) {
                    true => measure.and(constant),
                    false => Expr::binary(BinaryOp::Or, measure, constant),
                }
            }
            1 => Expr::Case {
                operand: None,
                branches: vec![Branch {
                    when: measure.is(Truth::Null),
                    then: Expr::int(g.rng.below(3) as i64),
                }],
                otherwise: Some(Box::new(Expr::int(g.rng.below(3) as i64))),
            },
            _ => measure,
        }];
        let filter = g.rng.chance(60).then_some(predicate);
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
    if g.rng.chance(12) {
        return Value::Null;
    }
    let kind = match place.cast.filter(|cast| types.iter().any(|ty| ty.data_type() == **cast)) {
        Some(cast) => cast.kind,
        None if value.is_null() => Kind::Int,
        // What is bound as it is may be anything the next time.
        None if g.dialect.can(Feature::DynamicTyping) && g.rng.chance(20) => Kind::Any,
        None => value.kind(),
    };
    let other = if kind == Kind::Bool && !matches!(value, Value::Int(_)) {
        Value::Bool(g.rng.chance(50))
    } else {
        g.some_value(kind)
    };
    if fits(&other, &place, types) { other } else { value.clone() }
}
