//! Why a reduced finding fails: the switches that make it vanish, and the versions on this machine that have it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::anyhow;
use dissent_core::engine::Trouble;
use dissent_core::finding::{Class, Finding, History};
use dissent_core::triage::{self, Outcome};

use super::{Answer, Checker, Job, Watcher};
use crate::builds::released_versions;
use crate::config::Config;
use crate::dating::date_with;

impl Job<'_> {
    /// Adds both, as far as the time goes that a reduction may take.
    pub(super) fn localise(
        &self,
        finding: &mut Finding,
        checker: &mut Checker,
        watcher: &mut dyn Watcher,
    ) -> anyhow::Result<()> {
        // A hang costs the hang limit for every switch.
        if finding.evidence.class == Class::Hang {
            return Ok(());
        }
        let deadline = Instant::now() + self.allowance.time;
        let watcher = RefCell::new(watcher);
        let over = || Instant::now() >= deadline || !watcher.borrow_mut().goes_on();
        let evidence = finding.evidence.clone();
        let dear = evidence.class == Class::Crash;
        let mut check = |case: &_| {
            let answer = checker.check(case).map_err(|error| Trouble(format!("{error:#}")))?;
            Ok(match answer {
                Answer::Fails { evidence: now, .. } if triage::is_same_failure(&now, &evidence) => {
                    Outcome::Fails
                }
                Answer::Holds { setup_failures } if setup_failures.is_empty() => Outcome::Vanished,
                Answer::Fails { .. } | Answer::Holds { .. } | Answer::CannotTell { .. } => Outcome::Unclear,
            })
        };
        let cause = triage::find_cause(&finding.case, self.dialect, dear, &over, &mut check);
        finding.triage.cause = Some(cause.map_err(|trouble| anyhow!(trouble))?);
        // Servers take too long to start: `bisect` asks them.
        if self.dialect.engine.port.is_none() && !over() {
            // A version that no longer opens is no reason to lose the finding.
            finding.triage.history = self.history(finding, deadline).unwrap_or_default();
        }
        Ok(())
    }

    /// In which of the versions on this machine it fails; of a change, between which of them the answer changed.
    fn history(&self, finding: &Finding, deadline: Instant) -> anyhow::Result<Option<History>> {
        let versions = released_versions(&finding.dialect, None, true)?;
        let config = Config {
            jobs: 1,
            worker_memory: self.place.memory_bytes,
            hang_limit: self.place.hang_limit,
            ..Config::default()
        };
        let others = match (&finding.triage.against, &self.place.other) {
            (Some(against), Some(other)) => BTreeMap::from([(against.target.clone(), other.clone())]),
            _ => BTreeMap::new(),
        };
        let chronicles =
            date_with(&[finding], &versions, others, &config, Some(deadline), &self.meter, &mut ())?;
        // Some versions less would make another bug of the same one.
        if Instant::now() >= deadline {
            return Ok(None);
        }
        let names: Vec<&str> = versions.iter().map(|version| version.name.as_str()).collect();
        Ok(chronicles.first().and_then(|chronicle| chronicle.history(&names)))
    }
}
