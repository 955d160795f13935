//! Mutations of what was kept or given: sequences of statements, statements, queries. Everything happens on the
//! tree, typed as far as types are known. The result is then bound to the current state ([`rebind`]).
//!
//! A [`Mutation`] is one way to change one of them: a file, and a line with its weight in the folder's table. It is
//! chosen like every other choice, so a profile can weigh it and a hunt counts it.
//!
//! A mutated query is not a subject yet. An oracle turns it into one (`adopt`) or passes. So a test case keeps the
//! shape that its oracle needs, whatever was mutated.

/// Declares the mutations of a folder: their files, and the choice among them. A mutation is named after its type.
macro_rules! mutations {
    ($list:ident: $target:ty = $name:literal { $($file:ident::$mutation:ident: $weight:literal),* $(,)? }) => {
        $(mod $file;)*

        static $list: $crate::generate::Choice<&dyn $crate::mutate::Mutation<$target>> =
            $crate::generate::Choice::new(
                $name,
                &[$((&$file::$mutation, stringify!($mutation), $weight)),*],
            );

        /// The choice among the mutations of this folder, and what they choose themselves.
        pub(super) fn every_choice() -> impl Iterator<Item = &'static dyn $crate::generate::Named> {
            let own = $list.options().flat_map(|mutation| mutation.choices().iter().copied());
            own.chain([&$list as &dyn $crate::generate::Named])
        }
    };
}

mod query;
pub mod rebind;
mod sequence;
mod statement;
#[cfg(test)]
mod tests;

pub use query::loosen::loosen;
pub use query::query;
pub use sequence::{Step, What, is_material, sequence};
pub use statement::statement;

use crate::generate::{Generator, Named};

/// One way to change a query, a statement or a sequence of statements.
pub trait Mutation<T>: Sync {
    /// Whether there is something for it to change. It may turn out later that there is not: then nothing happens.
    fn applies(&self, target: &T, donor: Option<&T>) -> bool;

    /// Changes one place; parts may come from a donor. The result must be bound to the state.
    fn apply(&self, generator: &mut Generator, target: &mut T, donor: Option<&T>);

    /// What it chooses itself.
    fn choices(&self) -> &'static [&'static dyn Named] {
        &[]
    }

    /// What it does to the size of what it changes.
    fn effect(&self) -> Effect {
        Effect::Keeps
    }
}

/// What a mutation does to the size of what it changes, as a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It adds something.
    Grows,
    /// About as much as before.
    Keeps,
    /// It takes something away.
    Shrinks,
}

/// Every choice of the mutations.
pub(crate) fn every_choice() -> impl Iterator<Item = &'static dyn Named> {
    let loosening = query::loosen::CHOICES.iter().copied();
    query::every_choice().chain(loosening).chain(statement::every_choice()).chain(sequence::every_choice())
}
