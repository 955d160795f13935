//! What a hunt and a check of scripts take.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::ValueEnum;
use dissent_campaign::{Config, Shard, read_profile};
use dissent_core::guide;
use dissent_core::oracle::versions;

use super::{DEFAULT_TARGET, LimitArgs, SummaryFormat, set};
use crate::help::TARGETS;
use crate::numbers::duration;
use crate::verbosity;

/// What `hunt` is told; an option that is not given leaves the configuration as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = TARGETS)]
pub struct HuntArgs {
    /// The database to test: an engine, a version, a library, or the URL of a server [default: sqlite]
    pub target: Option<String>,

    /// Another version of the same engine, to compare with: run the same statements on it, and report different answers as
    /// changed. Uses the oracle `versions` alone unless --oracles names others
    #[arg(long, value_name = "TARGET")]
    pub against: Option<String>,

    /// Another version of the same engine, as a baseline: list findings that it also shows as known, and exit with 1 only
    /// for findings that it does not show
    #[arg(long, value_name = "TARGET")]
    pub baseline: Option<String>,

    /// Stop after this time: 30s, 10m, 2h [default: until Ctrl-C]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    time: Option<Duration>,

    /// Stop when the workers and the servers they started have used this much processor time, for comparisons on
    /// a busy machine
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    cpu_time: Option<Duration>,

    /// How many worker processes to run [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,

    /// The random seed; the same seed gives the same databases and queries. The first hunt of a version
    /// then waits until the functions of that version are probed [default: random]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Visit one part of the databases: 2/8 is the second of eight. Shards of one --seed never visit the same database.
    /// `auto` asks the CI service which one this is, `auto/8` a Kubernetes Indexed Job
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,

    /// Hunt together with other machines that join the same campaign, nats://HOST/CAMPAIGN: they share databases, bugs,
    /// corpus and reductions through a NATS server with JetStream
    #[arg(long, value_name = "URL", conflicts_with_all = ["shard", "max_cases"])]
    pub join: Option<String>,

    /// The oracles to use: names or groups (see `dissent oracles`), separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    oracles: Option<Vec<String>>,

    /// The directory for findings; must be new or empty [default: dissent-out/TARGET-TIME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Resume the campaign in this directory, killed or ended, with all its options, after the databases it has already
    /// visited (name the target again if its address contains a password, which is not stored)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["jobs", "seed", "shard", "max_databases", "oracles", "out", "max_cases", "log_statements", "no_reduce", "reduce_checks", "keep_duplicates", "no_error_validation", "guide", "count_coverage", "seeds", "seeds_only", "profile"])]
    pub resume: Option<PathBuf>,

    /// Stop after this many bugs (with --no-reduce: findings)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_findings: Option<u64>,

    /// Stop after this many cases, shared evenly among the workers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_cases: Option<u64>,

    /// Stop when this many databases were visited, by all shards and workers together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_databases: Option<u64>,

    /// Report every error that only one arm raises, without checking whether the other arm merely avoided it; use this to
    /// measure what error validation is worth
    #[arg(long)]
    no_error_validation: bool,

    /// Keep findings as they are found: do not reduce them or group them into bugs
    #[arg(long)]
    no_reduce: bool,

    /// How many smaller forms of a finding to try [default: 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    reduce_checks: Option<u64>,

    /// Keep every example of a bug in duplicates/, not only the smallest
    #[arg(long)]
    keep_duplicates: bool,

    /// What to learn from: plan shapes, on every engine; code coverage, on engines that Dissent starts itself; or
    /// nothing. Databases that show something new are kept, and mutated to make others [default: plan; on
    /// SQLite none unless there are seeds, because it finds more in the same time]
    #[arg(long, value_name = "GUIDE")]
    guide: Option<GuideName>,

    /// Count code coverage without learning from it, for comparison (with --guide none)
    #[arg(long)]
    count_coverage: bool,

    /// Scripts to start from (.sql, .test, .slt, .tcl, .jsonl), or directories of them; the hunt mutates the databases
    /// and queries in them. `built-in` stands for the scripts that come with Dissent for this database
    #[arg(long, value_name = "PATH|built-in")]
    seeds: Vec<PathBuf>,

    /// Generate no databases from scratch: make all of them from seeds
    #[arg(long, requires = "seeds")]
    seeds_only: bool,

    /// Directories or files of known bugs and accepted behaviours, in addition to the built-in ones and ./known
    #[arg(long, value_name = "PATH")]
    known: Vec<PathBuf>,

    /// Weights of the generator's choices (TOML); `dissent stats drawn` lists their names
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,

    /// Print lines instead of the live view
    #[arg(long)]
    plain: bool,

    /// The format of the summary; with json, only the summary goes to standard output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub summary: SummaryFormat,

    /// Write the new bugs to this file as JUnit XML when the hunt ends
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Write every statement to this file as it runs (with several workers: FILE.0, FILE.1, …)
    #[arg(long, value_name = "FILE")]
    log_statements: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitArgs,
}

/// What `--seeds` takes in place of a path; a directory of that name is `./built-in`.
const BUILT_IN: &str = "built-in";

impl HuntArgs {
    /// A new configuration of what was typed; what was not is as usual for its target.
    pub fn config(&self) -> anyhow::Result<Config> {
        let mut config = Config::default();
        self.fill(&mut config)?;
        if self.guide.is_none() {
            config.guide = config.usual_guide();
        }
        Ok(config)
    }

    /// Puts what was typed into a configuration: a new one, or that of a campaign to resume.
    pub fn fill(&self, config: &mut Config) -> anyhow::Result<()> {
        set(&mut config.target, &self.target);
        config.against = self.against.clone().or(config.against.take());
        config.baseline = self.baseline.clone().or(config.baseline.take());
        set(&mut config.oracles, &oracles_for(self.oracles.clone(), self.against.is_some()));
        set(&mut config.seed, &self.seed);
        config.repeatable |= self.seed.is_some() || self.log_statements.is_some();
        config.shard = self.shard.or(config.shard);
        set(&mut config.jobs, &self.jobs.map(u64::from));
        config.time = self.time.or(config.time);
        config.cpu_time = self.cpu_time.or(config.cpu_time);
        config.max_cases = self.max_cases.or(config.max_cases);
        config.max_databases = self.max_databases.or(config.max_databases);
        config.max_findings = self.max_findings.or(config.max_findings);
        config.error_validation &= !self.no_error_validation;
        config.reduce = config.reduce.filter(|_| !self.no_reduce);
        if let (Some(allowance), Some(checks)) = (&mut config.reduce, self.reduce_checks) {
            allowance.checks = checks;
        }
        config.keep_duplicates |= self.keep_duplicates;
        for seeds in &self.seeds {
            match seeds.as_os_str() == BUILT_IN {
                true => config.built_in_seeds = true,
                false => config.seeds.push(seeds.clone()),
            }
        }
        config.seeds_only |= self.seeds_only;
        self.fill_guide(config)?;
        config.known.extend(self.known.iter().cloned());
        config.log_statements = self.log_statements.clone().or(config.log_statements.take());
        if let Some(path) = &self.profile {
            config.profile.extend(read_profile(path)?);
        }
        self.limits.fill(config);
        Ok(())
    }

    /// Whether the hunt may be drawn.
    pub fn is_live(&self) -> bool {
        !self.plain && !verbosity::is_quiet()
    }

    fn fill_guide(&self, config: &mut Config) -> anyhow::Result<()> {
        match (self.guide, self.count_coverage) {
            (None, false) => {}
            (Some(GuideName::Coverage), false) => config.guide = guide::Kind::Coverage,
            (Some(GuideName::Plan), false) => config.guide = guide::Kind::Plan,
            (Some(GuideName::None), false) => config.guide = guide::Kind::None,
            (Some(GuideName::None), true) => {
                (config.guide, config.counts_only) = (guide::Kind::Coverage, true)
            }
            (_, true) => {
                bail!("--count-coverage is for comparing with a hunt that learns nothing: add --guide none")
            }
        }
        Ok(())
    }
}

/// Whoever compares two versions wants to know what changed, and nothing else unless it is named.
fn oracles_for(typed: Option<Vec<String>>, against: bool) -> Option<Vec<String>> {
    typed.or_else(|| against.then(|| vec![versions::NAME.to_string()]))
}

fn shard(text: &str) -> anyhow::Result<Shard> {
    Shard::read(text, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GuideName {
    Coverage,
    Plan,
    None,
}

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Scripts (.sql, dumps, .test and .tcl of sqllogictest and SQLite), directories of them, or - for standard input
    #[arg(required = true, value_name = "SCRIPT")]
    pub scripts: Vec<PathBuf>,

    /// The database to run them on
    #[arg(long, value_name = "TARGET", default_value = DEFAULT_TARGET)]
    pub target: String,

    /// Another version of the same engine, to compare with: run every query on it, too, and report different answers
    /// as changed. Uses the oracle `versions` alone unless --oracles names others
    #[arg(long, value_name = "TARGET")]
    pub against: Option<String>,

    /// Another version of the same engine, as a baseline: list findings that it also shows as known, and exit with 1 only
    /// for findings that it does not show
    #[arg(long, value_name = "TARGET", requires = "out")]
    pub baseline: Option<String>,

    /// The oracles to use: names or groups (see `dissent oracles`), separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    oracles: Option<Vec<String>>,

    /// Save findings in this directory, reduced, as a hunt does; must be new or empty
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Directories or files of known bugs and accepted behaviours, in addition to the built-in ones and ./known
    #[arg(long, value_name = "PATH", requires = "out")]
    pub known: Vec<PathBuf>,

    #[command(flatten)]
    pub limits: LimitArgs,
}

impl CheckArgs {
    pub fn config(&self) -> Config {
        let mut config = self.limits.config(&self.target);
        config.against = self.against.clone();
        config.baseline = self.baseline.clone();
        set(&mut config.oracles, &oracles_for(self.oracles.clone(), self.against.is_some()));
        config.known = self.known.clone();
        config
    }
}
