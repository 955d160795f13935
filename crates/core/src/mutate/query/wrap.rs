//! Wraps an expression in another one.

use super::place::{in_expr, kind_here};
use crate::generate::{Generator, Named, choices};
use crate::mutate::{Effect, Mutation};
use crate::sql::*;

choices! {
    choose enum {
        AROUND: Around = "mutate.query.wrap" {
            Not: 1,
            And: 1,
            Or: 1,
            IsNotNull: 1,
            Case: 1,
            Cast: 1,
            Plus: 1,
            IsNull: 1,
            Same: 1,
        },
    }
}

pub(super) struct Wrap;

impl Mutation<Query> for Wrap {
    fn applies(&self, _: &Query, _: Option<&Query>) -> bool {
        true
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn effect(&self) -> Effect {
        Effect::Grows
    }

    fn apply(&self, generator: &mut Generator, query: &mut Query, _: Option<&Query>) {
        in_expr(generator, query, |generator, expr, relations| {
            let Some(kind) = kind_here(generator, expr, &relations) else { return };
            let inner = std::mem::replace(expr, Expr::null());
            *expr = generator.within(relations, |generator| wrapped(generator, inner, kind));
        });
    }
}

fn wrapped(generator: &mut Generator, inner: Expr, kind: Kind) -> Expr {
    let dialect = generator.dialect;
    let types: Vec<&DataType> =
        dialect.types.iter().map(|entry| &entry.ty).filter(|ty| ty.kind == kind).collect();
    let around = generator.choose_where(&AROUND, |around| match around {
        Around::Not | Around::And | Around::Or | Around::IsNotNull => kind == Kind::Bool,
        Around::Case => true,
        Around::Cast => !types.is_empty(),
        Around::Plus | Around::IsNull | Around::Same => kind != Kind::Bool && !dialect.is_typed(),
    });
    match around {
        Around::Not => inner.negate(),
        Around::And => inner.and(generator.filter(1)),
        Around::Or => Expr::binary(BinaryOp::Or, inner, generator.filter(1)),
        Around::IsNotNull => inner.is_not(Truth::Null),
        Around::Case => Expr::Case {
            operand: None,
            branches: vec![Branch { when: generator.predicate(1), then: inner.clone() }],
            otherwise: Some(Box::new(inner)),
        },
        Around::Cast => {
            let ty = (*generator.rng.pick(&types)).clone();
            Expr::Cast { expr: Box::new(inner), ty }
        }
        Around::Plus => Expr::unary(UnaryOp::Plus, inner),
        Around::IsNull => inner.is(Truth::Null),
        Around::Same => Expr::binary(BinaryOp::Same, inner, generator.value_expr(Kind::Any, 0)),
    }
}
