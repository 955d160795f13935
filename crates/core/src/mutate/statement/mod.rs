//! Mutations of one statement that builds a database.

use super::Mutation;
use crate::generate::Generator;
use crate::sql::Statement;

mutations! {
    STATEMENTS: Statement = "mutate.statement" {
        table::Table: 1,
        index::Index: 1,
        view::View: 1,
        rows::Rows: 1,
        condition::Condition: 1,
        setting::Setting: 1,
    }
}

/// Changes one thing in a statement; the current state is the one it is going to meet.
pub fn statement(generator: &mut Generator, statement: &mut Statement) {
    let applies = |mutation: &&dyn Mutation<Statement>| mutation.applies(statement, None);
    if STATEMENTS.options().any(applies) {
        let mutation = generator.choose_where(&STATEMENTS, |mutation| mutation.applies(statement, None));
        mutation.apply(generator, statement, None);
    }
}
