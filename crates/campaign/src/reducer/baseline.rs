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

    /// A process in which forms of a finding are checked.
    pub fn ask(&self, finding: &Finding, meter: &Meter) -> Asked {
        let class = finding.evidence.class;
        let checker = Checker::new(self.place.clone(), finding.origin, class, meter);
        Asked { name: self.name.clone(), class, checker }
    }
}

/// A baseline that is asked about one finding.
pub struct Asked {
    pub name: String,
    class: Class,
    checker: Checker,
}

impl Asked {
    /// Whether the baseline fails in the same way.
    pub fn shows(&mut self, case: &TestCase) -> anyhow::Result<bool> {
        let answer = self.checker.check(case)?;
        Ok(matches!(answer, Answer::Fails { evidence, .. } if evidence.class.grade() == self.class.grade()))
    }
}
