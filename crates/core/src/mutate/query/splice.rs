//! Replaces an expression by one of another query.

use super::place::{in_expr, kind_here};
use crate::generate::Generator;
use crate::mutate::{Effect, Mutation};
use crate::sql::inspect::looks_beyond_its_row;
use crate::sql::visit::each_expr;
use crate::sql::*;

pub(super) struct Splice;

impl Mutation<Query> for Splice {
    fn applies(&self, _: &Query, donor: Option<&Query>) -> bool {
        donor.is_some()
    }

    fn effect(&self) -> Effect {
        Effect::Grows
    }

    fn apply(&self, generator: &mut Generator, query: &mut Query, donor: Option<&Query>) {
        let mut given: Vec<Expr> = Vec::new();
        if let Some(donor) = donor {
            each_expr(donor, |expr| {
                let plain = matches!(expr, Expr::Literal(_) | Expr::Column(_) | Expr::Row(_));
                if !plain && !looks_beyond_its_row(expr) {
                    given.push(expr.clone());
                }
            });
        }
        let Some(given) = generator.rng.choose(&given).cloned() else { return };
        in_expr(generator, query, |generator, expr, relations| {
            let kind = |expr: &Expr| kind_here(generator, expr, &relations);
            if kind(expr).is_some() && (!generator.dialect.is_typed() || kind(expr) == kind(&given)) {
                *expr = given;
            }
        });
    }
}
