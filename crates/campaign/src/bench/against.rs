//! The same hunt in two ways, in turns, so that a busy machine slows both: by two builds of Dissent, or with and without
//! something.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use dissent_coverage::Map;
use dissent_engine::Home;

use crate::store;
use crate::summary::Summary;
use crate::system;

/// One way to hunt.
pub struct Way {
    /// A build of Dissent.
    pub program: PathBuf,
    /// What it is told besides what all are.
    pub arguments: Vec<String>,
    /// The fleet that it joins. Every round has a campaign of its own, whose name begins like this address.
    pub fleet: Option<String>,
}

impl Way {
    /// By this program.
    pub fn own(arguments: &[&str]) -> Way {
        // What the kernel knows this program by works even if the file was replaced.
        Way::by("/proc/self/exe".into(), arguments)
    }

    /// By another build.
    pub fn by(program: PathBuf, arguments: &[&str]) -> Way {
        Way {
            program,
            arguments: arguments.iter().map(|argument| argument.to_string()).collect(),
            fleet: None,
        }
    }
}

/// A comparison of two ways to hunt.
pub struct Against {
    /// The two.
    pub ways: [Way; 2],
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
    /// How long it lasted.
    pub seconds: f64,
    /// Comparisons that came to a verdict.
    pub checks: u64,
    /// The part of the time in which the engine answered questions; 0 where that build does not tell.
    pub useful: f64,
    /// What its guide saw.
    pub features: u64,
    /// Test cases.
    pub cases: u64,
    /// The most memory that one of its processes had at once, in bytes.
    pub memory: u64,
    /// How long it took to set breakpoints in an engine, if that was done.
    pub arming: Option<Duration>,
}

impl Round {
    /// What one second of processor time buys.
    pub fn checks_per_cpu_second(&self) -> f64 {
        self.checks as f64 / self.cpu_seconds.max(1e-3)
    }

    /// What one second buys, on a machine that has nothing else to do.
    pub fn checks_per_second(&self) -> f64 {
        self.checks as f64 / self.seconds.max(1e-3)
    }
}

impl Against {
    /// The processor time that each way takes until it hunts: that of a hunt which ends with its first case.
    pub fn starts(&self) -> anyhow::Result<[f64; 2]> {
        let start = |way| self.hunt_with(way, 0, &["--max-cases", "1"]).map(|round| round.cpu_seconds);
        let [one, other] = &self.ways;
        Ok([start(one)?, start(other)?])
    }

    /// Hunts in both ways. Each round has a seed of its own, and the other one begins.
    pub fn round(&self, number: u64) -> anyhow::Result<(Round, Round)> {
        let [one, other] = &self.ways;
        if number.is_multiple_of(2) {
            return Ok((self.hunt(one, number)?, self.hunt(other, number)?));
        }
        let other = self.hunt(other, number)?;
        Ok((self.hunt(one, number)?, other))
    }

    fn hunt(&self, way: &Way, number: u64) -> anyhow::Result<Round> {
        self.hunt_with(way, number, &[])
    }

    fn hunt_with(&self, way: &Way, number: u64, more: &[&str]) -> anyhow::Result<Round> {
        let program: &Path = &way.program;
        let campaign = way.fleet.as_ref().map(|address| format!("{address}-{number}"));
        let directory = Home::scratch("bench")?;
        let (out, said) = (directory.path().join("out"), directory.path().join("said"));
        let (complained, file) = (directory.path().join("complained"), |path: &Path| File::create(path));
        let before = system::ended_children_cpu_seconds();
        let failed = || format!("cannot run {}", program.display());
        let hunt = Command::new(program)
            .args(["hunt", &self.target, "--jobs", "1", "--no-reduce", "--summary", "json"])
            .args(["--seed", &(self.seed + number).to_string()])
            .args(["--time", &format!("{}s", self.seconds)])
            .args(["--oracles", &self.oracles.join(",")])
            .args(&way.arguments)
            .args(more)
            .args(campaign.iter().flat_map(|address| ["--join", address]))
            .arg("--out")
            .arg(&out)
            .stdin(Stdio::null())
            .stdout(file(&said)?)
            .stderr(file(&complained)?)
            .spawn()
            .with_context(failed)?;
        let memory = system::wait_with_memory(hunt).with_context(failed)?;
        let cpu_seconds = system::ended_children_cpu_seconds() - before;
        // A hunt that found bugs ends with a code of its own.
        let Ok(summary) = serde_json::from_slice::<Summary>(&fs::read(&said)?) else {
            let told = fs::read(&complained)?;
            let told = String::from_utf8_lossy(&told);
            bail!("{} hunt failed: {}", program.display(), told.lines().last().unwrap_or("no message"));
        };
        let checks = summary.checks.get("total").copied().unwrap_or(0);
        let features = summary.guide.as_ref().map_or(0, |guide| guide.features);
        let seconds = summary.wall_seconds;
        let arming = Map::open(&store::map_in(&out)).ok().and_then(|map| map.arming());
        let (useful, cases) = (summary.time.useful, summary.cases);
        Ok(Round { cpu_seconds, seconds, checks, useful, features, cases, memory, arming })
    }
}
