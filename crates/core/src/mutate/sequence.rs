//! Changing the statements that build a database: which of them there are, and in what order.

use crate::generate::Stage;
use crate::rng::Rng;
use crate::sql::{ObjectKind, Statement};

/// A statement to come. Its names are those of its source: 0 is the database that is changed, others gave parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub source: usize,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Run(Statement),
    /// The same, but changed within.
    Change(Statement),
    /// A new one, drawn over the state by then.
    Draw(Stage),
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

/// Drawn into what is there: what only stands at the beginning is left out.
const STAGES: [Stage; 7] =
    [Stage::Index, Stage::Index, Stage::Rows(0), Stage::View, Stage::Change, Stage::Analyze, Stage::Setting];

/// A database, changed in one to four places.
pub fn sequence(rng: &mut Rng, base: &[Statement], donor: Option<&[Statement]>) -> Vec<Step> {
    let step = |source| move |statement: &Statement| Step { source, what: What::Run(statement.clone()) };
    let mut steps: Vec<Step> = base.iter().filter(|one| is_material(one)).map(step(0)).collect();
    for _ in 0..rng.between(1, 4) {
        let places = steps.len();
        if places == 0 {
            break;
        }
        let at = rng.below(places);
        match rng.weighted(&[12, 34, 26, 20, 8]) {
            0 => {
                let makes_table = matches!(&steps[at].what, What::Run(Statement::CreateTable(_)));
                if !makes_table || rng.chance(15) {
                    steps.remove(at);
                }
            }
            1 => {
                if let What::Run(statement) = &steps[at].what {
                    steps[at].what = What::Change(statement.clone());
                }
            }
            2 => {
                let what = What::Draw(*rng.pick(&STAGES));
                steps.insert(at + 1, Step { source: 0, what });
            }
            3 => {
                let given: Vec<&Statement> =
                    donor.unwrap_or_default().iter().filter(|one| is_material(one)).collect();
                if given.is_empty() {
                    continue;
                }
                // All of it, so that its tables come along, or a few statements about the tables that are here.
                let (from, count) = match rng.chance(25) {
                    true => (0, given.len()),
                    false => (rng.below(given.len()), rng.between(1, 3)),
                };
                let spliced = given.into_iter().skip(from).take(count).map(step(1));
                let spliced: Vec<Step> = spliced.collect();
                steps.splice(at + 1..at + 1, spliced);
            }
            _ => {
                let other = rng.below(places);
                let makes_table = |at: usize| matches!(&steps[at].what, What::Run(Statement::CreateTable(_)));
                if !makes_table(at) && !makes_table(other) {
                    steps.swap(at, other);
                }
            }
        }
    }
    steps
}
