//! Drops a clause.

use super::place::{any_select, in_select};
use crate::generate::{Generator, Named, choices};
use crate::mutate::{Effect, Mutation};
use crate::sql::*;

choices! {
    odds {
        KEEP_LEFT = "mutate.query.drop-clause.left": 50,
    }
    choose enum {
        DROPPED: Dropped = "mutate.query.drop-clause" {
            Order: 1,
            Limit: 1,
            Item: 1,
            Condition: 1,
            Having: 1,
            Distinct: 1,
            Key: 1,
            Relation: 1,
        },
    }
}

pub(super) struct DropClause;

impl Mutation<Query> for DropClause {
    fn applies(&self, query: &Query, _: Option<&Query>) -> bool {
        DROPPED.options().any(|clause| clause.is_in(query))
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn effect(&self) -> Effect {
        Effect::Shrinks
    }

    fn apply(&self, generator: &mut Generator, query: &mut Query, _: Option<&Query>) {
        let clause = generator.choose_where(&DROPPED, |clause| clause.is_in(query));
        match clause {
            Dropped::Order => query.order_by.clear(),
            Dropped::Limit => (query.limit, query.offset) = (None, None),
            Dropped::Item => {
                if let Some(select) = query.as_select_mut() {
                    select.items.remove(generator.rng.below(select.items.len()));
                    query.order_by.clear();
                }
            }
            _ => in_select(
                generator,
                query,
                |select| clause.is_of(select),
                |generator, place| {
                    clause.take_from(place.select, generator);
                },
            ),
        }
    }
}

impl Dropped {
    fn is_in(self, query: &Query) -> bool {
        match self {
            Dropped::Order => !query.order_by.is_empty(),
            Dropped::Limit => query.limit.is_some() || query.offset.is_some(),
            // Operands of set operators and subqueries have as many items as are asked for.
            Dropped::Item => query.as_select().is_some_and(|select| select.items.len() > 1),
            _ => any_select(query, |select| self.is_of(select)),
        }
    }

    fn is_of(self, select: &Select) -> bool {
        match self {
            Dropped::Condition => select.filter.is_some(),
            Dropped::Having => select.having.is_some(),
            Dropped::Distinct => select.distinct,
            Dropped::Key => !select.group_by.is_empty(),
            Dropped::Relation => select.from.len() > 1 || matches!(&*select.from, [TableRef::Join { .. }]),
            Dropped::Order | Dropped::Limit | Dropped::Item => false,
        }
    }

    fn take_from(self, select: &mut Select, generator: &mut Generator) {
        match self {
            // A part of it, where there are two.
            Dropped::Condition => {
                select.filter = match select.filter.take() {
                    Some(Expr::Binary { op: BinaryOp::And | BinaryOp::Or, left, right }) => {
                        Some(if generator.odds(&KEEP_LEFT) { *left } else { *right })
                    }
                    _ => None,
                }
            }
            Dropped::Having => select.having = None,
            Dropped::Distinct => select.distinct = false,
            Dropped::Key => {
                select.grouping = Grouping::Plain;
                select.group_by.pop();
                if select.group_by.is_empty() {
                    select.having = None;
                }
            }
            // One side of a join stays; columns of the other find new owners.
            Dropped::Relation => {
                if let [TableRef::Join { left, .. }] = select.from.as_slice() {
                    select.from = vec![(**left).clone()];
                } else {
                    select.from.remove(generator.rng.below(select.from.len()));
                }
            }
            Dropped::Order | Dropped::Limit | Dropped::Item => {}
        }
    }
}
