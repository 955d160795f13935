//! Changes the rows of an INSERT.

use crate::generate::{Generator, Named, choices};
use crate::mutate::Mutation;
use crate::sql::*;

choices! {
    choose enum {
        CHANGE: Change = "mutate.statement.rows" { Drop: 1, Repeat: 1, Strict: 1, Value: 1 },
    }
}

pub(super) struct Rows;

impl Mutation<Statement> for Rows {
    fn applies(&self, statement: &Statement, _: Option<&Statement>) -> bool {
        let Statement::Insert(insert) = statement else { return false };
        matches!(&insert.source, InsertSource::Values(rows) if !rows.is_empty())
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn apply(&self, generator: &mut Generator, statement: &mut Statement, _: Option<&Statement>) {
        let Statement::Insert(insert) = statement else { return };
        let InsertSource::Values(rows) = &mut insert.source else { return };
        let at = generator.rng.below(rows.len());
        let change = generator.choose_where(&CHANGE, |change| match change {
            Change::Drop => rows.len() > 1,
            Change::Strict => insert.or.is_some(),
            Change::Repeat | Change::Value => true,
        });
        match change {
            Change::Drop => drop(rows.remove(at)),
            Change::Repeat => rows.push(rows[at].clone()),
            Change::Strict => insert.or = None,
            Change::Value => other_value(generator, &mut rows[at]),
        }
    }
}

fn other_value(generator: &mut Generator, values: &mut [Expr]) {
    let Some(at) = (!values.is_empty()).then(|| generator.rng.below(values.len())) else { return };
    values[at] = Expr::Literal(match &values[at] {
        Expr::Literal(value) if !value.is_null() => generator.value(value.kind()),
        _ => Value::Null,
    });
}
