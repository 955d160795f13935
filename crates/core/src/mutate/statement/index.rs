//! Changes the keys or the rows of an index.

use crate::generate::{Generator, Named, choices};
use crate::mutate::Mutation;
use crate::sql::*;

choices! {
    choose enum {
        CHANGE: Change = "mutate.statement.index" {
            Unique: 1,
            Desc: 1,
            DropKey: 1,
            RepeatKey: 1,
            DropFilter: 1,
            Reverse: 1,
        },
    }
}

pub(super) struct Index;

impl Mutation<Statement> for Index {
    fn applies(&self, statement: &Statement, _: Option<&Statement>) -> bool {
        matches!(statement, Statement::CreateIndex(create) if !create.keys.is_empty())
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn apply(&self, generator: &mut Generator, statement: &mut Statement, _: Option<&Statement>) {
        let Statement::CreateIndex(create) = statement else { return };
        let at = generator.rng.below(create.keys.len());
        let several = create.keys.len() > 1;
        let change = generator.choose_where(&CHANGE, |change| match change {
            Change::Unique | Change::Desc => true,
            Change::DropKey | Change::Reverse => several,
            Change::RepeatKey => !several,
            Change::DropFilter => create.filter.is_some(),
        });
        match change {
            Change::Unique => create.unique = !create.unique,
            Change::Desc => create.keys[at].desc = !create.keys[at].desc,
            Change::DropKey => drop(create.keys.remove(at)),
            Change::RepeatKey => create.keys.push(create.keys[at].clone()),
            Change::DropFilter => create.filter = None,
            Change::Reverse => create.keys.reverse(),
        }
    }
}
