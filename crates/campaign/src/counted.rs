//! Everything a campaign has counted, over all its runs.

use dissent_core::report::timeline::{Sample, Timeline};
use serde::{Deserialize, Serialize};

use crate::worker::protocol::Tally;

/// `counts.json`: written now and then, so that a campaign that is resumed goes on counting where it was.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub wall_seconds: f64,
    pub worker_cpu_seconds: f64,
    pub reducer_cpu_seconds: f64,
    pub unstable: u64,
    /// Findings that came while too many were waiting to be reduced.
    pub not_kept: u64,
    /// What went wrong with workers for a reason of our own, in words.
    pub failures: Vec<String>,
    pub timeline: Timeline,
    pub tally: Tally,
}

impl Counted {
    /// What this run has counted, on top of the runs before it. The timeline is whole already.
    pub fn with(&self, run: Counted) -> Counted {
        let mut tally = self.tally.clone();
        tally.add(run.tally);
        Counted {
            wall_seconds: self.wall_seconds + run.wall_seconds,
            worker_cpu_seconds: self.worker_cpu_seconds + run.worker_cpu_seconds,
            reducer_cpu_seconds: self.reducer_cpu_seconds + run.reducer_cpu_seconds,
            unstable: self.unstable + run.unstable,
            not_kept: self.not_kept + run.not_kept,
            failures: [self.failures.as_slice(), run.failures.as_slice()].concat(),
            timeline: run.timeline,
            tally,
        }
    }

    /// A moment of this run as one of the whole campaign.
    pub fn moment(&self, run: &Sample) -> Sample {
        let earlier = self.timeline.last();
        Sample {
            seconds: self.wall_seconds + run.seconds,
            statements: earlier.statements + run.statements,
            valid: earlier.valid + run.valid,
            checks: earlier.checks + run.checks,
            // These are counted over the whole campaign, or at one moment.
            features: run.features,
            bugs: run.bugs,
            memory: run.memory,
        }
    }
}
