//! Mutations of the statements that build a database: which ones there are, and in what order.

use super::Mutation;
use crate::generate::{Generator, Stage};
use crate::sql::{ObjectKind, Statement};

mutations! {
    SEQUENCES: Vec<Step> = "mutate.sequence" {
        remove::Remove: 12,
        change::Change: 34,
        draw::Draw: 26,
        splice::Splice: 20,
        swap::Swap: 8,
    }
}

/// A statement to come. Its names are those of its source: 0 is the database that is changed, others gave parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Which database it comes from.
    pub source: usize,
    /// What is to be run.
    pub what: What,
}

/// What a step runs.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A statement as it was.
    Run(Statement),
    /// The same, but changed within.
    Change(Statement),
    /// A new one, drawn over the state by then.
    Draw(Stage),
}

impl Step {
    fn makes_table(&self) -> bool {
        matches!(&self.what, What::Run(Statement::CreateTable(_)))
    }
}

/// Statements that can stand anywhere. What belongs together with others (BEGIN and COMMIT) cannot.
pub fn is_material(statement: &Statement) -> bool {
    !matches!(
        statement,
        Statement::Begin
            | Statement::Commit
            | Statement::Rollback
            | Statement::Savepoint(_)
            | Statement::Release(_)
            | Statement::RollbackTo(_)
            | Statement::Prepare { .. }
            | Statement::Execute { .. }
            | Statement::Deallocate(_)
            | Statement::Query(_)
            | Statement::Explain(_)
            | Statement::Drop { object: ObjectKind::Table | ObjectKind::View, .. }
    )
}

/// A database, changed in one to four places.
pub fn sequence(generator: &mut Generator, base: &[Statement], donor: Option<&[Statement]>) -> Vec<Step> {
    let mut steps = steps(0, base);
    let donor = donor.map(|donor| self::steps(1, donor));
    for _ in 0..generator.rng.between(1, 4) {
        if steps.is_empty() {
            break;
        }
        let applies = |mutation: &dyn Mutation<Vec<Step>>| mutation.applies(&steps, donor.as_ref());
        let mutation = generator.choose_where(&SEQUENCES, applies);
        mutation.apply(generator, &mut steps, donor.as_ref());
    }
    steps
}

fn steps(source: usize, statements: &[Statement]) -> Vec<Step> {
    let material = statements.iter().filter(|statement| is_material(statement));
    material.map(|statement| Step { source, what: What::Run(statement.clone()) }).collect()
}
