//! Changes which rows an UPDATE or DELETE affects.

use crate::generate::{Generator, Named, choices};
use crate::mutate::Mutation;
use crate::sql::*;

choices! {
    odds {
        NEGATED = "mutate.statement.condition.not": 60,
    }
}

pub(super) struct Condition;

impl Mutation<Statement> for Condition {
    fn applies(&self, statement: &Statement, _: Option<&Statement>) -> bool {
        match statement {
            Statement::Update(update) => update.filter.is_some(),
            Statement::Delete(delete) => delete.filter.is_some(),
            _ => false,
        }
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn apply(&self, generator: &mut Generator, statement: &mut Statement, _: Option<&Statement>) {
        let filter = match statement {
            Statement::Update(update) => &mut update.filter,
            Statement::Delete(delete) => &mut delete.filter,
            _ => return,
        };
        let condition = filter.take();
        *filter = condition.filter(|_| generator.odds(&NEGATED)).map(Expr::negate);
    }
}
