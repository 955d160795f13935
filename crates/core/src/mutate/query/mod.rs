//! Mutations of a query: an expression, a clause, a join, the whole.

pub(super) mod loosen;
mod place;

use super::Effect;
use crate::generate::Generator;
use crate::sql::Query;
use crate::sql::visit::each_expr;

mutations! {
    QUERIES: Query = "mutate.query" {
        replace::Replace: 30,
        splice::Splice: 16,
        wrap::Wrap: 14,
        constant::Constant: 10,
        drop_clause::DropClause: 10,
        add_clause::AddClause: 10,
        join::Join: 8,
        shift::Shift: 8,
        double::Double: 3,
    }
}

/// Generated queries rarely have more expressions.
const MANY_EXPRESSIONS: usize = 50;

/// Changes one place of a query; parts may come from another one. The result must be bound.
pub fn query(generator: &mut Generator, query: &mut Query, donor: Option<&Query>) {
    // There is nothing to draw from.
    if generator.state.tables.is_empty() {
        return;
    }
    let mut expressions = 0;
    each_expr(query, |_| expressions += 1);
    // What has grown large is made smaller: it costs the engine more than it shows.
    let large = expressions >= MANY_EXPRESSIONS;
    let mutation = generator.choose_weighed(&QUERIES, |mutation, weight| match mutation.effect() {
        _ if !mutation.applies(query, donor) => 0,
        Effect::Grows if large => 0,
        Effect::Shrinks if large => weight * 4,
        _ => weight,
    });
    if mutation.applies(query, donor) {
        mutation.apply(generator, query, donor);
    }
}
