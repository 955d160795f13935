//! Loosens a condition so that more rows pass.

use super::place::relations_of;
use crate::generate::{Generator, choices};
use crate::sql::*;

choices! {
    choose enum {
        LOOSENED: Loosened = "mutate.loosen" { Or: 1, Replace: 1 },
    }
}

/// Lets more rows through, by another condition beside the one that is there or in its place: what was bound to
/// other columns and changed more than once lets none through.
pub fn loosen(generator: &mut Generator, query: &mut Query) {
    let with = query.with.clone();
    let Some(select) = query.as_select_mut() else { return };
    let relations = relations_of(generator, select, with.as_ref());
    let Some(filter) = select.filter.take_if(|_| !relations.is_empty()) else { return };
    select.filter = Some(match generator.choose(&LOOSENED) {
        Loosened::Or => {
            Expr::binary(BinaryOp::Or, filter, generator.within(relations, |inner| inner.filter(0)))
        }
        Loosened::Replace => generator.within(relations, |inner| inner.filter(2)),
    });
}
