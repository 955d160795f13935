//! Changing what was kept or given: sequences of statements, statements, queries. Everything happens on the tree,
//! typed as far as the types are known, and is then bound to the state as it is ([`rebind`]).
//!
//! A changed query is no subject yet. An oracle makes one of it ([`crate::oracle::Oracle::adopt`]) or leaves it: so
//! a case keeps the shape that its oracle needs, whatever was changed.

mod query;
pub mod rebind;
mod sequence;
mod statement;
#[cfg(test)]
mod tests;

pub use query::{loosen, query};
pub use sequence::{Step, What, is_material, sequence};
pub use statement::statement;

/// Every choice of the mutations.
pub(crate) fn choices() -> impl Iterator<Item = &'static dyn crate::generate::Named> {
    std::iter::empty()
}
