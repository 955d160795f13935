//! Two builds of Dissent in turns on the same hunt, so that a busy machine slows both.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use crate::summary::Summary;
use crate::system;

/// A comparison of this program with another build of it.
pub struct Against {
    /// The other program.
    pub other: PathBuf,
    /// The database to hunt.
    pub target: String,
    /// The oracles, by their names or by groups.
    pub oracles: Vec<String>,
    /// The seed of the first round.
    pub seed: u64,
    /// How long a hunt lasts.
    pub seconds: u64,
}

/// What one hunt came to.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Processor time of the hunt and of all that it started and ended.
    pub cpu_seconds: f64,
    /// Comparisons that came to a verdict.
    pub checks: u64,
    /// The part of the time in which the engine answered questions; 0 where that build does not tell.
    pub useful: f64,
}

impl Round {
    /// What one second of processor time buys.
    pub fn checks_per_cpu_second(&self) -> f64 {
        self.checks as f64 / self.cpu_seconds.max(1e-3)
    }
}

impl Against {
    /// Hunts by this program, then by the other. Each round has a seed of its own.
    pub fn round(&self, number: u64) -> anyhow::Result<(Round, Round)> {
        // What the kernel knows this program by works even if the file was replaced.
        let own = self.hunt(Path::new("/proc/self/exe"), number)?;
        Ok((own, self.hunt(&self.other, number)?))
    }

    fn hunt(&self, program: &Path, number: u64) -> anyhow::Result<Round> {
        let directory = tempfile::tempdir().context("no directory for a hunt")?;
        let before = system::ended_children_cpu_seconds();
        let output = Command::new(program)
            .args(["hunt", &self.target, "--jobs", "1", "--no-reduce", "--summary", "json"])
            .args(["--seed", &(self.seed + number).to_string()])
            .args(["--time", &format!("{}s", self.seconds)])
            .args(["--oracles", &self.oracles.join(",")])
            .arg("--out")
            .arg(directory.path().join("out"))
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {}", program.display()))?;
        let cpu_seconds = system::ended_children_cpu_seconds() - before;
        // A hunt that found bugs ends with a code of its own.
        let Ok(summary) = serde_json::from_slice::<Summary>(&output.stdout) else {
            let told = String::from_utf8_lossy(&output.stderr);
            bail!("{} hunt failed: {}", program.display(), told.lines().last().unwrap_or("no message"));
        };
        let checks = summary.checks.get("total").copied().unwrap_or(0);
        Ok(Round { cpu_seconds, checks, useful: summary.time.useful })
    }
}
