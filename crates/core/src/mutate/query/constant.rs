//! Changes a constant.

use super::place::in_select;
use crate::generate::{Generator, Named, choices};
use crate::mutate::Mutation;
use crate::sql::visit::{Editor, each_expr, edit_expr};
use crate::sql::*;

choices! {
    odds {
        NEIGHBOUR = "mutate.query.constant.neighbour": 50,
        NEXT = "mutate.query.constant.next": 50,
    }
}

pub(super) struct Constant;

impl Mutation<Query> for Constant {
    fn applies(&self, query: &Query, _: Option<&Query>) -> bool {
        let mut found = false;
        each_expr(query, |expr| found |= matches!(expr, Expr::Literal(value) if !value.is_null()));
        found
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn apply(&self, generator: &mut Generator, query: &mut Query, _: Option<&Query>) {
        in_select(
            generator,
            query,
            |_| true,
            |generator, mut place| {
                let mut count = 0;
                each_literal(place.roots(), |_| count += 1);
                let mut left = generator.rng.below(count.max(1));
                each_literal(place.roots(), |value| {
                    if left == 0 {
                        *value = other(generator, value);
                    }
                    left = left.wrapping_sub(1);
                });
            },
        );
    }
}

fn other(generator: &mut Generator, value: &Value) -> Value {
    match value {
        Value::Int(int) if generator.odds(&NEIGHBOUR) => {
            Value::Int(if generator.odds(&NEXT) { int.wrapping_add(1) } else { int.wrapping_neg() })
        }
        other => generator.value(other.kind()),
    }
}

/// Calls `f` on every constant of these expressions that is not NULL, without those of subqueries.
fn each_literal<'a>(roots: impl IntoIterator<Item = &'a mut Expr>, f: impl FnMut(&mut Value)) {
    struct Each<F>(F);
    impl<F: FnMut(&mut Value)> Editor for Each<F> {
        fn expr(&mut self, expr: &mut Expr) {
            match expr {
                Expr::Literal(value) if !value.is_null() => (self.0)(value),
                // What escapes is one letter, and any other is as good.
                Expr::Match { expr, pattern, .. } => {
                    self.expr(expr);
                    self.expr(pattern);
                }
                _ => edit_expr(self, expr),
            }
        }
        fn query(&mut self, _: &mut Query) {}
    }
    let mut each = Each(f);
    roots.into_iter().for_each(|root| each.expr(root));
}
