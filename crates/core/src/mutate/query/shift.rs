//! Moves a part of WHERE into the ON of a join, or a part of ON into WHERE. Optimizers move conditions across joins
//! too, and must know which ones an outer join does not let pass. The generator rarely writes one-table conditions
//! in ON.

use super::place::{any_select, conditions, in_select};
use crate::generate::{Generator, Named, choices};
use crate::mutate::Mutation;
use crate::sql::*;

choices! {
    odds {
        FIRST_PART = "mutate.query.shift.first-part": 50,
    }
    choose enum {
        SHIFTED: Shifted = "mutate.query.shift" { IntoOn: 2, IntoWhere: 1 },
    }
}

pub(super) struct Shift;

impl Mutation<Query> for Shift {
    fn applies(&self, query: &Query, _: Option<&Query>) -> bool {
        any_select(query, has_condition)
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn apply(&self, generator: &mut Generator, query: &mut Query, _: Option<&Query>) {
        in_select(generator, query, has_condition, |generator, place| {
            let Select { from, filter, .. } = place.select;
            let mut on = Vec::new();
            from.iter_mut().for_each(|table| conditions(table, &mut on));
            let at = generator.rng.below(on.len());
            let on = &mut *on[at];
            let filtered = filter.is_some();
            match generator.choose_where(&SHIFTED, |shifted| shifted == Shifted::IntoWhere || filtered) {
                Shifted::IntoOn => move_part(generator, filter, |part| *on = on.clone().and(part)),
                Shifted::IntoWhere => {
                    let mut left = Some(on.clone());
                    move_part(generator, &mut left, |part| {
                        *filter = Some(match filter.take() {
                            Some(filter) => filter.and(part),
                            None => part,
                        });
                    });
                    *on = left.unwrap_or_else(|| truth(generator));
                }
            }
        });
    }
}

/// One of its joins has a condition.
fn has_condition(select: &Select) -> bool {
    fn joined(table: &TableRef) -> bool {
        match table {
            TableRef::Join { left, right, on, .. } => {
                matches!(on, JoinOn::On(_)) || joined(left) || joined(right)
            }
            _ => false,
        }
    }
    select.from.iter().any(joined)
}

/// Takes one of two parts that AND connects, or all of it.
fn move_part(generator: &mut Generator, from: &mut Option<Expr>, put: impl FnOnce(Expr)) {
    match from.take() {
        Some(Expr::Binary { op: BinaryOp::And, left, right }) => {
            let (part, rest) = if generator.odds(&FIRST_PART) { (left, right) } else { (right, left) };
            *from = Some(*rest);
            put(*part);
        }
        Some(whole) => put(whole),
        None => {}
    }
}

fn truth(generator: &Generator) -> Expr {
    if generator.dialect.is_typed() { Expr::Literal(Value::Bool(true)) } else { Expr::int(1) }
}

#[cfg(test)]
mod tests {
    use crate::mutate::tests::changed_by;

    #[test]
    fn a_condition_moves_between_where_and_on() {
        let context = "CREATE TABLE t0 (c0 INT); CREATE TABLE t1 (c0 INT)";
        let base = "SELECT t0.c0 FROM t0 LEFT JOIN t1 ON t0.c0 = t1.c0 WHERE t1.c0 > 1";
        assert_eq!(
            Vec::from_iter(changed_by("shift", context, base)),
            [
                "SELECT t0.c0 FROM t0 LEFT JOIN t1 ON 1 WHERE t1.c0 > 1 AND t0.c0 = t1.c0",
                "SELECT t0.c0 FROM t0 LEFT JOIN t1 ON t0.c0 = t1.c0 AND t1.c0 > 1",
            ]
        );
    }
}
