//! What a campaign is to do, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dissent_core::guide;
use dissent_core::triage::known::{Avoid, Known};
use dissent_engine::Source;
use serde::{Deserialize, Serialize};

use crate::bugs::Bug;
use crate::catalog::KeptCatalog;
use crate::position::Position;
use crate::reducer::Allowance;
use crate::worker::protocol::{HuntTask, Tally, Task, TrailTask};
/// What a campaign is to do, all questions settled.
#[derive(Clone, Debug)]
pub struct Plan {
    /// As the user named it, without credentials.
    pub target: String,
    pub source: Source,
    pub dialect: String,
    pub engine_version: String,
    /// What the engine can compute, and the file that holds it.
    pub catalog: Option<Arc<KeptCatalog>>,
    pub oracles: Vec<String>,
    pub seed: u64,
    pub jobs: u64,
    pub time: Option<Duration>,
    pub max_cases: Option<u64>,
    /// Errors of one arm only are validated before they are findings.
    pub error_validation: bool,
    pub max_findings: Option<u64>,
    pub hang_limit: Duration,
    pub worker_memory: u64,
    pub log_statements: Option<PathBuf>,
    /// What reducing one finding may cost; none: findings stay as they are found.
    pub reduce: Option<Allowance>,
    /// Keep every example of a bug, not only the smallest.
    pub keep_duplicates: bool,
    /// Bugs and behaviours that are known of this version.
    pub known: Vec<Known>,
    /// Where to go on, if the campaign was there before.
    pub position: Option<Position>,
    /// In the names of the databases that workers make on somebody's server.
    pub mark: String,
    pub guidance: Guidance,
}

/// How a campaign learns from what it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guidance {
    pub guide: guide::Kind,
    /// What is new is only counted.
    #[serde(default)]
    pub counts_only: bool,
    /// Scripts that users gave to start from.
    #[serde(default)]
    pub seeds: Vec<PathBuf>,
    /// Nothing is drawn anew.
    #[serde(default)]
    pub seeds_only: bool,
}

impl Default for Guidance {
    fn default() -> Guidance {
        Guidance { guide: guide::Kind::None, counts_only: false, seeds: Vec::new(), seeds_only: false }
    }
}

impl Plan {
    /// The first database of a worker.
    pub(crate) fn first_database(&self, worker: u64) -> u64 {
        let position = self.position.as_ref();
        position.and_then(|position| position.next_databases.get(worker as usize).copied()).unwrap_or(worker)
    }

    /// The cases of one worker: an even share, the first ones taking what is left over.
    pub(crate) fn share_of_cases(&self, worker: u64) -> Option<u64> {
        if let Some(position) = &self.position {
            return position.cases_left.get(worker as usize).copied().flatten();
        }
        Plan::even_share(self.max_cases, worker, self.jobs)
    }

    pub fn even_share(cases: Option<u64>, worker: u64, jobs: u64) -> Option<u64> {
        cases.map(|cases| cases / jobs + u64::from(worker < cases % jobs))
    }

    pub(crate) fn task(
        &self,
        worker: u64,
        first_database: u64,
        max_cases: Option<u64>,
        corpus: PathBuf,
    ) -> Task {
        let Guidance { guide, counts_only, seeds, seeds_only } = &self.guidance;
        let learns = *guide != guide::Kind::None || !seeds.is_empty();
        let share = seeds.iter().skip(worker as usize).step_by(self.jobs as usize);
        Task::Hunt(HuntTask {
            source: self.source.clone(),
            dialect: self.dialect.clone(),
            oracles: self.oracles.clone(),
            seed: self.seed,
            first_database,
            step: self.jobs,
            max_cases,
            error_validation: self.error_validation,
            avoid: self.avoid(),
            log_statements: self.statement_log(worker),
            catalog: self.catalog.as_ref().map(|kept| kept.path.clone()),
            trail: learns.then(|| TrailTask {
                guide: *guide,
                keeps: !counts_only,
                corpus,
                worker,
                alone: self.jobs == 1,
                seeds: share.cloned().collect(),
                seeds_only: *seeds_only,
            }),
        })
    }

    /// What triggers known bugs, all together.
    fn avoid(&self) -> Avoid {
        let mut avoid = Avoid::default();
        self.known.iter().for_each(|known| avoid.add(&known.avoid));
        avoid
    }

    /// One file per worker: their statements have no common order.
    pub fn statement_log(&self, worker: u64) -> Option<PathBuf> {
        let path = self.log_statements.as_ref()?;
        if self.jobs == 1 {
            return Some(path.clone());
        }
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{worker}"));
        Some(PathBuf::from(name))
    }
}

/// What came of a campaign.
pub struct Outcome {
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
    pub seconds: f64,
    pub statements: u64,
    pub features: u64,
}
