//! What else can be said of a difference between two versions: which of them is wrong.

use std::time::Instant;

use dissent_core::database::Database;
use dissent_core::finding::{Class, Finding, WrongVersion};
use dissent_core::oracle::{self, Given};
use dissent_core::sql::Query;
use dissent_core::subject::TestCase;

use super::{Answer, Checker, Job};
use crate::pool::Workplace;
use crate::tested::are_foreign;

/// Questions that other oracles make of one query; some would go on with every setting.
const MOST_QUESTIONS: usize = 100;

impl Job<'_> {
    /// Adds that to a finding that compares two versions, as far as the time goes that a reduction may take.
    pub(super) fn explain_change(&self, finding: &mut Finding) -> anyhow::Result<()> {
        let wrong = self.wrong_version(finding)?;
        finding.triage.against.iter_mut().for_each(|against| against.wrong.clone_from(&wrong));
        Ok(())
    }

    /// The version on which another oracle finds the same query wrong, if it is right on the other.
    fn wrong_version(&self, finding: &Finding) -> anyhow::Result<Option<WrongVersion>> {
        let (Some(against), Some(other)) = (&finding.triage.against, &self.place.other) else {
            return Ok(None);
        };
        let Some(query) = finding.case.subject.query() else { return Ok(None) };
        let here = Workplace { other: None, ..self.place.clone() };
        let mut there = Workplace { source: other.clone(), ..here.clone() };
        if are_foreign(&here.dialect, other.dialect()) {
            there.dialect = other.dialect().to_string();
        }
        let [mut here, mut there] =
            [here, there].map(|place| Checker::new(place, finding.origin, Class::WrongRows, &self.meter));
        let deadline = Instant::now() + self.allowance.time;
        for question in self.questions(&finding.case, query) {
            if Instant::now() >= deadline {
                break;
            }
            let [here, there] = [is_wrong(&mut here, &question)?, is_wrong(&mut there, &question)?];
            let version = match (here, there) {
                (Some(true), Some(false)) => &finding.engine_version,
                (Some(false), Some(true)) => &against.engine_version,
                _ => continue,
            };
            let (engine_version, oracle) = (version.clone(), question.subject.oracle);
            return Ok(Some(WrongVersion { engine_version, oracle }));
        }
        Ok(None)
    }

    /// What other oracles ask about a query.
    fn questions(&self, case: &TestCase, query: &Query) -> Vec<TestCase> {
        let database = Database::of(&case.setup, self.dialect);
        let given = Given { query, state: database.state(), dialect: self.dialect };
        let subjects = oracle::all().iter().flat_map(|oracle| oracle.adopt(&given));
        let question = |subject| TestCase { setup: case.setup.clone(), subject };
        subjects.map(question).take(MOST_QUESTIONS).collect()
    }
}

/// Whether a version answers wrongly; none: that cannot be told.
fn is_wrong(checker: &mut Checker, question: &TestCase) -> anyhow::Result<Option<bool>> {
    Ok(match checker.check(question)? {
        Answer::Fails { evidence, .. } => {
            matches!(evidence.class, Class::WrongRows | Class::WrongValues).then_some(true)
        }
        Answer::Holds { setup_failures } => setup_failures.is_empty().then_some(false),
        Answer::CannotTell { .. } => None,
    })
}
