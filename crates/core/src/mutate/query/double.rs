//! Combines the query with a mutated copy of itself by a set operator.

use crate::dialect::Feature;
use crate::generate::{Generator, Named, choices};
use crate::mutate::{Effect, Mutation};
use crate::sql::*;

choices! {
    odds {
        ALL = "mutate.query.double.all": 60,
    }
    choose {
        OPERATOR: SetOp = "mutate.query.double" { Union: 1, Intersect: 1, Except: 1 },
    }
}

pub(super) struct Double;

impl Mutation<Query> for Double {
    fn applies(&self, query: &Query, _: Option<&Query>) -> bool {
        query.as_select().is_some()
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn effect(&self) -> Effect {
        Effect::Grows
    }

    fn apply(&self, generator: &mut Generator, query: &mut Query, _: Option<&Query>) {
        let mut other = Query::from(query.body.clone());
        super::query(generator, &mut other, None);
        let items = |query: &Query| query.as_select().map(|select| select.items.len());
        if items(&other) != items(query) || !other.order_by.is_empty() || other.limit.is_some() {
            return;
        }
        let dialect = generator.dialect;
        let op = generator.choose_where(&OPERATOR, |op| match op {
            SetOp::Union => true,
            SetOp::Intersect => dialect.can(Feature::Intersect),
            SetOp::Except => dialect.can(Feature::Except),
        });
        let all = op == SetOp::Union && generator.odds(&ALL);
        let left = Box::new(query.body.clone());
        query.body = Body::Compound { op, all, left, right: Box::new(other.body) };
        query.order_by.clear();
        (query.limit, query.offset) = (None, None);
    }
}
