//! A campaign with all questions settled, and what came of it.

use std::path::PathBuf;
use std::time::Duration;

use dissent_core::triage::known::{Avoid, Known};
use serde::{Deserialize, Serialize};

use crate::bugs::Bug;
use crate::catalog::KeptCatalog;
use crate::config::Config;
use crate::tested::Tested;
use crate::worker::protocol::{HuntTask, Tally, Task};

/// What a campaign is to do, and what was found out when it started.
pub struct Plan {
    pub config: Config,
    pub tested: Tested,
    /// What the engine can compute, and the file that holds it.
    pub catalog: Option<KeptCatalog>,
    /// Bugs and behaviours that are known of this version.
    pub known: Vec<Known>,
    /// Where to go on, if the campaign was there before.
    pub position: Option<Position>,
}

/// `position.json`: how far a campaign is. Written after each finding and now and then in between. Every finding
/// that is on disk comes from a database before these, so none is found twice; what a kill loses is work without
/// findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// For each worker the database it comes to next.
    pub next_databases: Vec<u64>,
    /// For each worker the cases it may still run, if that is limited.
    pub cases_left: Vec<Option<u64>>,
}

impl Position {
    /// Of a campaign that has not begun.
    pub fn start(config: &Config) -> Position {
        Position {
            next_databases: (0..config.jobs).collect(),
            cases_left: (0..config.jobs).map(|worker| config.share_of_cases(worker)).collect(),
        }
    }
}

impl Plan {
    /// What a worker is to do from a database on.
    pub(crate) fn task(
        &self,
        worker: u64,
        first_database: u64,
        max_cases: Option<u64>,
        corpus: PathBuf,
    ) -> Task {
        Task::Hunt(Box::new(HuntTask {
            config: self.config.clone(),
            worker,
            first_database,
            max_cases,
            avoid: self.avoid(),
            catalog: self.catalog.as_ref().map(|kept| kept.path.clone()),
            corpus,
        }))
    }

    /// What triggers known bugs, all together.
    fn avoid(&self) -> Avoid {
        let mut avoid = Avoid::default();
        self.known.iter().for_each(|known| avoid.add(&known.avoid));
        avoid
    }
}

/// What came of a campaign, counted.
pub struct Results {
    pub tally: Tally,
    pub bugs: Vec<Bug>,
    pub unstable: u64,
    /// Findings that came while too many were waiting to be reduced.
    pub not_kept: u64,
    /// Findings that are on disk and wait to be reduced; likely bugs that are listed.
    pub waiting: u64,
    /// What went wrong with workers for a reason of our own, in words.
    pub failures: Vec<String>,
    pub wall: Duration,
    pub worker_cpu_seconds: f64,
    pub reducer_cpu_seconds: f64,
    pub growth: Vec<Growth>,
}

/// How much the guide had seen at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Since the campaign started.
    pub seconds: f64,
    /// Statements that were run by then.
    pub statements: u64,
    /// Edges or steps of plans that were seen by then.
    pub features: u64,
}
