//! Changes the kind of a join, adds a relation, or replaces a table by a derived table.

use std::sync::Arc;

use super::place::{Place, any_select, in_select};
use crate::dialect::Feature;
use crate::generate::{Generator, Named, choices};
use crate::mutate::{Effect, Mutation};
use crate::sql::*;
use crate::state::{Column, Relation};

choices! {
    odds {
        DERIVED_FILTER = "mutate.query.join.derived.filter": 50,
    }
    choose {
        KIND: JoinKind = "mutate.query.join.kind" { Inner: 2, Left: 3, Right: 2, Full: 2 },
    }
    choose enum {
        REJOINED: Rejoined = "mutate.query.join" { Kind: 1, Relation: 1, Derived: 1 },
    }
}

pub(super) struct Join;

impl Mutation<Query> for Join {
    fn applies(&self, query: &Query, _: Option<&Query>) -> bool {
        any_select(query, |select| !select.from.is_empty())
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn effect(&self) -> Effect {
        Effect::Grows
    }

    fn apply(&self, generator: &mut Generator, query: &mut Query, _: Option<&Query>) {
        let fits = |rejoined: Rejoined| move |select: &Select| rejoined.fits(select);
        let chosen = generator.choose_where(&REJOINED, |rejoined| any_select(query, fits(rejoined)));
        in_select(generator, query, fits(chosen), |generator, place| {
            let Place { select, relations } = place;
            if let Some(table) = select.from.pop() {
                select.from.push(chosen.changed(generator, table, relations));
            }
        });
    }
}

impl Rejoined {
    fn fits(self, select: &Select) -> bool {
        match (self, select.from.last()) {
            (Rejoined::Kind, Some(TableRef::Join { on: JoinOn::On(_), .. })) => true,
            (Rejoined::Derived, Some(TableRef::Table { .. })) => true,
            (Rejoined::Relation, last) => last.is_some(),
            _ => false,
        }
    }

    fn changed(self, generator: &mut Generator, table: TableRef, relations: Vec<Relation>) -> TableRef {
        match (self, table) {
            (Rejoined::Kind, TableRef::Join { left, right, on, .. }) => {
                let dialect = generator.dialect;
                let kind = generator.choose_where(&KIND, |kind| match kind {
                    JoinKind::Left => dialect.can(Feature::LeftJoin),
                    JoinKind::Right => dialect.can(Feature::RightJoin),
                    JoinKind::Full => dialect.can(Feature::FullJoin) && dialect.can(Feature::FullJoinAnyhow),
                    _ => true,
                });
                TableRef::join(kind, *left, *right, on)
            }
            (Rejoined::Derived, TableRef::Table { name, alias, .. }) => derived(generator, name, alias),
            (_, table) if (1..generator.policy.max_relations).contains(&relations.len()) => {
                generator.within(relations, |generator| generator.joined(table))
            }
            (_, table) => table,
        }
    }
}

/// The rows of a table, by way of a derived table.
fn derived(generator: &mut Generator, name: Name, alias: Option<Name>) -> TableRef {
    let state = generator.state;
    let Some(table) = state.table(&name) else { return TableRef::Table { name, alias, hint: None } };
    let item = |column: &Column| SelectItem::Expr {
        expr: Expr::column(name.clone(), column.name.clone()),
        alias: Some(column.name.clone()),
    };
    let relation = Relation { alias: name.clone(), columns: Arc::clone(&table.columns) };
    let filtered = generator.odds(&DERIVED_FILTER);
    let filter = filtered.then(|| generator.within(vec![relation], |inner| inner.filter(1)));
    let items = table.columns.iter().map(item).collect();
    let from = vec![TableRef::table(name.clone())];
    let query = Box::new(Query::select(Select { items, from, filter, ..Select::default() }));
    TableRef::Derived { query, alias: alias.unwrap_or(name), columns: Vec::new(), lateral: false }
}
