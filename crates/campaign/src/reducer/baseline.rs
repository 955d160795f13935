//! A version that is known: what it shows, too, is not new.

use dissent_core::finding::{Class, Finding};
use dissent_core::subject::TestCase;

use super::{Answer, Checker};
use crate::pool::{Meter, Workplace};
use crate::tested::Tested;

/// A version to judge by.
#[derive(Clone, Debug)]
pub struct Baseline {
    name: String,
    place: Workplace,
}

impl Baseline {
    /// The baseline of what is tested, if it has one.
    pub fn of(tested: &Tested) -> Option<Baseline> {
        let baseline = tested.baseline.as_ref()?;
        let name = format!("{} (version {})", baseline.public_target, baseline.engine_version);
        Some(Baseline { name, place: baseline.place.clone() })
    }

    /// A process in which forms of a finding are checked, of whose setup so many statements may fail.
    pub fn ask(&self, finding: &Finding, failures_allowed: usize, meter: &Meter) -> Asked {
        let class = finding.evidence.class;
        let checker = Checker::new(self.place.clone(), finding.origin, class, meter);
        Asked { name: self.name.clone(), class, failures_allowed, checker }
    }
}

/// A baseline that is asked about one finding.
pub struct Asked {
    name: String,
    class: Class,
    failures_allowed: usize,
    checker: Checker,
}

impl Asked {
    /// The finding as one that the baseline shows.
    pub fn mark(&self, mut finding: Finding) -> Finding {
        finding.triage.also_on = Some(self.name.clone());
        finding
    }

    /// Whether the baseline fails in the same way; none if it cannot run what the case needs.
    pub fn shows(&mut self, case: &TestCase) -> anyhow::Result<Option<bool>> {
        Ok(match self.checker.check(case)? {
            Answer::Fails { evidence, .. } => Some(evidence.class.grade() == self.class.grade()),
            Answer::Holds { setup_failures } => {
                (setup_failures.len() <= self.failures_allowed).then_some(false)
            }
            Answer::CannotTell { .. } => None,
        })
    }
}
