//! Adds a clause.

use super::place::{Place, any_select, in_select};
use crate::generate::{Generator, Named, choices};
use crate::mutate::{Effect, Mutation};
use crate::sql::*;

choices! {
    odds {
        DESC = "mutate.query.add-clause.desc": 50,
        /// Conditions upon conditions would soon let nothing through.
        AND = "mutate.query.add-clause.and": 30,
    }
    choose enum {
        ADDED: Added = "mutate.query.add-clause" {
            Order: 5,
            Limit: 5,
            Distinct: 7,
            Condition: 14,
            Groups: 7,
            Item: 7,
        },
    }
}

pub(super) struct AddClause;

impl Mutation<Query> for AddClause {
    fn applies(&self, query: &Query, _: Option<&Query>) -> bool {
        ADDED.options().any(|clause| clause.fits(query))
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn effect(&self) -> Effect {
        Effect::Grows
    }

    fn apply(&self, generator: &mut Generator, query: &mut Query, _: Option<&Query>) {
        let clause = generator.choose_where(&ADDED, |clause| clause.fits(query));
        match clause {
            Added::Order => query.order_by = whole_order(generator, query),
            Added::Limit => query.limit = Some(Expr::int(generator.rng.between(1, 5) as i64)),
            _ => in_select(
                generator,
                query,
                |select| clause.fits_into(select),
                |generator, place| {
                    clause.put_into(place, generator);
                },
            ),
        }
    }
}

/// By all columns, so that a limit keeps the same rows each time.
fn whole_order(generator: &mut Generator, query: &Query) -> Vec<OrderItem> {
    let columns = query.as_select().map_or(0, |select| select.items.len());
    let desc = generator.odds(&DESC);
    (1..=columns).map(|at| OrderItem { expr: Expr::int(at as i64), desc, nulls: None }).collect()
}

impl Added {
    fn fits(self, query: &Query) -> bool {
        match self {
            Added::Order => query.as_select().is_some() && query.order_by.is_empty(),
            Added::Limit => query.limit.is_none() && !query.order_by.is_empty(),
            _ => any_select(query, |select| self.fits_into(select)),
        }
    }

    fn fits_into(self, select: &Select) -> bool {
        let is_column = |item: &SelectItem| matches!(item, SelectItem::Expr { expr: Expr::Column(_), .. });
        match self {
            Added::Distinct => !select.distinct,
            Added::Condition => true,
            Added::Groups => {
                select.group_by.is_empty() && !select.items.is_empty() && select.items.iter().all(is_column)
            }
            Added::Item => select.items.iter().any(|item| matches!(item, SelectItem::Expr { .. })),
            Added::Order | Added::Limit => false,
        }
    }

    fn put_into(self, place: Place, generator: &mut Generator) {
        let Place { select, relations } = place;
        match self {
            Added::Distinct => select.distinct = true,
            Added::Condition => {
                let condition = generator.within(relations, |generator| generator.filter(2));
                select.filter = Some(match select.filter.take() {
                    Some(filter) if generator.odds(&AND) => filter.and(condition),
                    Some(filter) => Expr::binary(BinaryOp::Or, filter, condition),
                    None => condition,
                });
            }
            Added::Groups => select.group_by = exprs(select).cloned().collect(),
            // In the place of another: parts of a set operator have as many columns as each other.
            Added::Item => {
                let items = generator.within(relations, |generator| generator.select_items(1));
                let at = generator.rng.below(select.items.len());
                if let (SelectItem::Expr { expr, .. }, Some(item)) =
                    (&mut select.items[at], items.into_iter().next())
                {
                    *expr = item;
                }
            }
            Added::Order | Added::Limit => {}
        }
    }
}

fn exprs(select: &Select) -> impl Iterator<Item = &Expr> {
    select.items.iter().filter_map(|item| match item {
        SelectItem::Expr { expr, .. } => Some(expr),
        _ => None,
    })
}
