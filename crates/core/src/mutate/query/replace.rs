//! Replaces an expression by a new one.

use super::place::{in_expr, kind_here};
use crate::generate::Generator;
use crate::mutate::Mutation;
use crate::sql::*;

pub(super) struct Replace;

impl Mutation<Query> for Replace {
    fn applies(&self, _: &Query, _: Option<&Query>) -> bool {
        true
    }

    fn apply(&self, generator: &mut Generator, query: &mut Query, _: Option<&Query>) {
        in_expr(generator, query, |generator, expr, relations| {
            let Some(kind) = kind_here(generator, expr, &relations) else { return };
            let depth = generator.rng.below(3);
            *expr = generator.within(relations, |generator| match kind {
                Kind::Bool => generator.filter(depth),
                kind => generator.value_expr(kind, depth),
            });
        });
    }
}
