//! Everything a user can type, each flag defined in one place.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::bail;
use clap::builder::PossibleValue;
use clap::{Parser, Subcommand, ValueEnum};
use dissent_campaign::{Config, Shard, read_profile, store};
use dissent_core::guide;
use dissent_core::oracle::versions;
use dissent_core::report::export::{Exporter, exporters};

use crate::help::{EXIT_CODES, MORE, TARGETS, VERSION};
use crate::numbers::duration;
use crate::verbosity;

/// Finds logic bugs in SQL databases: queries that return a wrong answer and say nothing.
#[derive(Debug, Parser)]
#[command(name = "dissent", version = VERSION.as_str(), max_term_width = 100, after_help = EXIT_CODES, after_long_help = MORE)]
pub struct Args {
    /// Print results and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = 901)]
    pub quiet: bool,

    /// Print more: what becomes of every finding
    #[arg(short, long, global = true, display_order = 902)]
    pub verbose: bool,

    /// Read settings from this file instead of ./dissent.toml
    ///
    /// It has a table per command with its options by their long names, as in
    ///
    ///     [hunt]
    ///     target = "duckdb"
    ///     time = "10m"
    ///     oracles = ["norec", "tlp"]
    ///
    /// What is typed wins.
    #[arg(long, global = true, value_name = "FILE", verbatim_doc_comment, display_order = 903)]
    pub config: Option<PathBuf>,

    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Test a database with random queries until Ctrl-C or --time
    Hunt(Box<HuntArgs>),
    /// Check your own scripts: every query in them is asked in every way that the oracles know
    Check(CheckArgs),
    /// Check a finding again: exit 1 if it still fails, 0 if it no longer does, 2 if that cannot be told
    Replay(ReplayArgs),
    /// Make a finding small: exit 1 if it fails (and is now as small as it gets), 0 if it no longer does
    Reduce(ReduceArgs),
    /// Date a finding: between which released versions it appeared and vanished
    Bisect(BisectArgs),
    /// List the bugs of a campaign: exit 1 if there are any
    Findings(FindingsArgs),
    /// Look at machines that hunt together, or stop them
    Fleet(FleetArgs),
    /// Make one campaign of several, from shards or several machines: exit 1 if they have bugs
    Merge(MergeArgs),
    /// Write findings as a web page, or in a form that other tools read
    Report(ReportArgs),
    /// Serve a campaign as a web page that follows it while it runs, with metrics for Prometheus
    Serve(ServeArgs),
    /// A prompt for SQL on any version of any engine, over a scratch database
    Shell(ShellArgs),
    /// List what is known of an engine's bugs and behaviours, or add a finding to it
    Known(KnownArgs),
    /// List, install or remove engines
    Engines(EnginesArgs),
    /// List the databases that Dissent left on a server when it was killed, and drop them
    Clean(CleanArgs),
    /// List the oracles: the ways to ask one question twice
    Oracles,
    /// Print tables of what campaigns, reductions and oracles achieve
    Stats(StatsArgs),
    /// Measure what Dissent itself costs: a hunt's statements against the same ones through the bare C API
    Bench(BenchArgs),
    /// Print a script that completes commands and options in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of a command, or write all of them
    Man {
        /// The command [default: dissent itself]
        command: Option<String>,

        /// Write the pages of all commands into this directory
        #[arg(long, value_name = "DIR", conflicts_with = "command")]
        out: Option<PathBuf>,
    },
}

/// What is tested if nothing is named.
const DEFAULT_TARGET: &str = "sqlite";

/// What `hunt` is told; an option that is not given leaves the configuration as it is.
#[derive(Debug, clap::Args)]
#[command(after_help = TARGETS)]
pub struct HuntArgs {
    /// The database to test: an engine, a version of it, a library, the URL of a server [default: sqlite]
    pub target: Option<String>,

    /// Another version of the same engine: the same statements run there, and what it answers differently is reported as
    /// changed. Uses the oracle `versions` alone unless --oracles names others
    #[arg(long, value_name = "TARGET")]
    pub against: Option<String>,

    /// Another version of the same engine to judge by: what it shows as well is listed as known, and only what it does
    /// not show is a reason to exit with 1
    #[arg(long, value_name = "TARGET")]
    pub baseline: Option<String>,

    /// Stop after this time: 30s, 10m, 2h [default: until Ctrl-C]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    time: Option<Duration>,

    /// Stop when the workers, with the servers that they started, have used this much processor time: for comparisons on
    /// a busy machine
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    cpu_time: Option<Duration>,

    /// How many worker processes to run [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,

    /// Where all randomness starts; the same seed gives the same databases and queries. The first hunt of a version
    /// then waits until its functions are probed [default: random]
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

    /// The directory for findings; must not exist or be empty [default: dissent-out/TARGET-TIME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Resume the campaign in this directory, killed or ended, with all its options, behind the databases it has
    /// visited (name the target again if its address holds a password: that is not kept)
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

    /// Take every error of one arm only for a finding, without asking whether the other was merely spared it: to
    /// see what error validation is worth
    #[arg(long)]
    no_error_validation: bool,

    /// Keep findings as they are found; neither reduce them nor tell which of them are one bug
    #[arg(long)]
    no_reduce: bool,

    /// How many smaller forms of a finding to try [default: 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    reduce_checks: Option<u64>,

    /// Keep every example of a bug, in duplicates/, not only the smallest
    #[arg(long)]
    keep_duplicates: bool,

    /// What to learn from: shapes of plans, on every engine; code coverage, on engines that Dissent starts itself; or
    /// nothing. What shows something new is kept, and other databases are made of it by changing it [default: plan; on
    /// SQLite none, which finds more in the same time, unless there are seeds]
    #[arg(long, value_name = "GUIDE")]
    guide: Option<GuideName>,

    /// Count code coverage though nothing is learned from it, to compare (with --guide none)
    #[arg(long)]
    count_coverage: bool,

    /// Scripts to start from (.sql, .test, .slt, .tcl, .jsonl), or directories of them: databases are made by
    /// changing what they build and ask. `built-in` stands for the scripts that come with Dissent for this database
    #[arg(long, value_name = "PATH|built-in")]
    seeds: Vec<PathBuf>,

    /// Draw no database anew: make all of them from seeds
    #[arg(long, requires = "seeds")]
    seeds_only: bool,

    /// Directories or files of known bugs and accepted behaviours, beside those built in and ./known
    #[arg(long, value_name = "PATH")]
    known: Vec<PathBuf>,

    /// Weights of the generator's choices (TOML); `dissent stats drawn` lists their names
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,

    /// Print lines instead of drawing on the terminal
    #[arg(long)]
    plain: bool,

    /// How to print the summary; with json it alone goes to standard output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub summary: SummaryFormat,

    /// Write the bugs that are not known to this file when the hunt ends, as JUnit XML
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

/// A finding of the newest campaign may be named without the way to it.
fn finding_path(text: &str) -> Result<PathBuf, std::convert::Infallible> {
    let path = PathBuf::from(text);
    let newest = || store::newest().ok().map(|campaign| campaign.join("findings").join(text));
    let named = (!path.exists() && !text.contains('/')).then(newest).flatten();
    Ok(named.filter(|found| found.is_dir()).unwrap_or(path))
}

fn set<T: Clone>(option: &mut T, typed: &Option<T>) {
    if let Some(typed) = typed {
        *option = typed.clone();
    }
}

/// What a worker process may use.
#[derive(Debug, clap::Args)]
pub struct LimitArgs {
    /// A statement that runs longer than this hangs, which is a finding (at least 3s) [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    hang_limit: Option<Duration>,

    /// The address space of a worker process in MiB
    #[arg(long, hide = true, value_name = "MIB")]
    worker_memory: Option<u64>,
}

impl LimitArgs {
    pub fn fill(&self, config: &mut Config) {
        set(&mut config.hang_limit, &self.hang_limit);
        set(&mut config.worker_memory, &self.worker_memory.map(|mib| mib.saturating_mul(1 << 20)));
    }

    /// For commands that need nothing but a target and these limits.
    pub fn config(&self, target: &str) -> Config {
        let mut config = Config { target: target.to_string(), guide: guide::Kind::None, ..Config::default() };
        self.fill(&mut config);
        config
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GuideName {
    Coverage,
    Plan,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SummaryFormat {
    Text,
    Json,
}

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Scripts (.sql, dumps, sqllogictest's and SQLite's .test, .tcl), directories of them, or - for standard input
    #[arg(required = true, value_name = "SCRIPT")]
    pub scripts: Vec<PathBuf>,

    /// The database to run them on
    #[arg(long, value_name = "TARGET", default_value = DEFAULT_TARGET)]
    pub target: String,

    /// Another version of the same engine: every query is asked there, too, and what it answers differently is reported
    /// as changed. Uses the oracle `versions` alone unless --oracles names others
    #[arg(long, value_name = "TARGET")]
    pub against: Option<String>,

    /// Another version of the same engine to judge by: what it shows as well is listed as known, and only what it does
    /// not show is a reason to exit with 1
    #[arg(long, value_name = "TARGET", requires = "out")]
    pub baseline: Option<String>,

    /// The oracles to use: names or groups (see `dissent oracles`), separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    oracles: Option<Vec<String>>,

    /// Keep what was found in this directory, reduced, as a hunt does; must not exist or be empty
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Directories or files of known bugs and accepted behaviours, beside those built in and ./known
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

#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The finding: its directory, its finding.json, or its name if the newest campaign has it
    #[arg(value_name = "DIR", value_parser = finding_path)]
    pub finding: PathBuf,

    /// Another database to check it on [default: the one it was found on]
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,

    /// Another version to compare with, of a finding of class changed [default: the one it was compared with]
    #[arg(long, value_name = "TARGET")]
    pub against: Option<String>,

    /// Another version of the same engine to judge by: exit 0 if it fails there, too
    #[arg(long, value_name = "TARGET")]
    pub baseline: Option<String>,

    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Debug, clap::Args)]
pub struct EnginesArgs {
    #[command(subcommand)]
    pub action: Option<EnginesAction>,
}

#[derive(Debug, Subcommand)]
pub enum EnginesAction {
    /// List every version of an engine, and which of them are installed
    List {
        /// The engine: sqlite, duckdb, postgres, …
        engine: String,
    },
    /// Obtain engines now, so that hunts need no network: duckdb@1.5.6 postgres@16
    Install {
        #[arg(required = true, value_name = "TARGET")]
        targets: Vec<String>,
    },
    /// Look for versions that are newer than all known ones, and install them: what `postgres` means from then on
    Update {
        /// The engines to update: postgres, duckdb, …; without any, those that are installed
        #[arg(value_name = "ENGINE")]
        engines: Vec<String>,
    },
    /// Show the functions and operators of an engine, which is probed once
    Probe {
        /// The database to probe: sqlite, duckdb@1.5.6, postgres@16
        target: String,

        /// Probe again
        #[arg(long)]
        refresh: bool,

        /// List every operation with its signatures, or why it is not used
        #[arg(long)]
        list: bool,
    },
    /// Remove engines that were obtained: sqlite@3.30.1
    Remove {
        #[arg(required = true, value_name = "ENGINE@VERSION")]
        targets: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// The database to measure: sqlite, duckdb, postgres@18.4
    #[arg(default_value = DEFAULT_TARGET)]
    pub target: String,

    /// The oracles to use: names or groups (see `dissent oracles`), separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "norec")]
    pub oracles: Vec<String>,

    /// Where all randomness starts
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub seed: u64,

    /// How many cases one round hunts through
    #[arg(long, value_name = "N", default_value = "40000", value_parser = clap::value_parser!(u64).range(1..))]
    pub cases: u64,

    /// How many rounds, hunt and bare API in turn; a noisy machine wants more
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,

    /// Compare with another build of Dissent instead: hunts of this and of that program, one after the other in each
    /// round, with everything that they start counted
    #[arg(long, value_name = "PROGRAM", group = "turns", conflicts_with_all = ["cases", "coverage", "costs"])]
    pub against: Option<PathBuf>,

    /// Measure what joining a fleet costs instead: hunts as the only machine of a campaign nats://HOST/CAMPAIGN-ROUND, and
    /// hunts without a fleet, one after the other in each round
    #[arg(long, value_name = "URL", group = "turns", conflicts_with_all = ["cases", "coverage", "costs"])]
    pub join: Option<String>,

    /// How long each hunt of such a comparison lasts
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration, requires = "turns")]
    pub time: Duration,

    /// What the hunts of such a comparison learn from [default: plan]
    #[arg(long, value_name = "GUIDE", requires = "turns")]
    pub guide: Option<GuideName>,

    /// Print what statements and subjects of each oracle cost on this engine, as a dialect's file keeps it (`[costs]`)
    #[arg(long, conflicts_with = "coverage")]
    pub costs: bool,

    /// Compare hunts that count code coverage with hunts that do not instead, one after the other in each round
    #[arg(long, group = "turns", conflicts_with = "cases")]
    pub coverage: bool,
}

#[derive(Debug, clap::Args)]
pub struct ReduceArgs {
    /// The finding: its directory, its finding.json, or its name if the newest campaign has it; or a campaign's
    /// directory, for all of its findings
    ///
    /// Its finding.json, repro.sql and report.md are rewritten; original.sql and finding.original.json
    /// keep what was found.
    #[arg(value_name = "DIR", value_parser = finding_path)]
    pub finding: PathBuf,

    /// Another database to reduce it on [default: the one it was found on]
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,

    /// Another version to compare with, of a finding of class changed [default: the one it was compared with]
    #[arg(long, value_name = "TARGET")]
    pub against: Option<String>,

    /// How many smaller forms to try
    #[arg(long, value_name = "N", default_value = "20000", value_parser = clap::value_parser!(u64).range(1..))]
    pub checks: u64,

    /// How long to try
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub time: Duration,

    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Debug, clap::Args)]
pub struct CleanArgs {
    /// The URL of the server
    #[arg(value_name = "URL")]
    pub server: String,

    /// Drop them without asking
    #[arg(long)]
    pub yes: bool,

    /// Drop also what was made on other machines, or before this one was restarted: make sure that no hunt of theirs
    /// is running
    #[arg(long)]
    pub elsewhere: bool,
}

#[derive(Debug, clap::Args)]
pub struct BisectArgs {
    /// The finding: its directory, its finding.json, or its name if the newest campaign has it; or a campaign's
    /// directory, for all of its findings
    ///
    /// What is learned is written to each of them and its report.md. The findings of a campaign are sorted anew by
    /// it: examples of one bug that have different versions become bugs of their own, and bugs that came and went
    /// together and need the same become one.
    #[arg(value_name = "DIR", value_parser = finding_path)]
    pub finding: PathBuf,

    /// The versions to look at: 3.20.0..3.34.0, 3.20.0.., ..3.34.0 [default: all that can be obtained]
    #[arg(long, value_name = "A..B")]
    pub versions: Option<String>,

    /// Look only at versions that are on this machine; obtain nothing
    #[arg(long)]
    pub installed: bool,

    /// Look at builds of your own instead: a directory of them, or a command that lists revisions, the oldest
    /// first, and builds the one it is given, saying in its last line where
    #[arg(long, value_name = "DIR|COMMAND", conflicts_with_all = ["versions", "installed"])]
    pub builds: Option<String>,

    /// Another version to compare with, of findings of class changed [default: the one they were compared with]
    #[arg(long, value_name = "TARGET")]
    pub against: Option<String>,

    /// How many versions to check side by side [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,

    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Findings, or campaigns for all of their bugs [default: the newest campaign in dissent-out]
    #[arg(value_name = "DIR", value_parser = finding_path)]
    pub directories: Vec<PathBuf>,

    /// The form
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    pub format: Format,

    /// First replay each finding on the newest version of its engine; its report then says whether that fails too
    #[arg(long)]
    pub check_newest: bool,

    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// A form of findings.
#[derive(Clone, Copy)]
pub enum Format {
    /// A page, which shows campaigns too.
    Page,
    /// What this exporter writes.
    Export(&'static dyn Exporter),
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Format] {
        static ALL: LazyLock<Vec<Format>> =
            LazyLock::new(|| exporters().iter().copied().map(Format::Export).chain([Format::Page]).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Format::Page => {
                PossibleValue::new("html").help("a self-contained web page with figures, charts and bugs")
            }
            Format::Export(exporter) => PossibleValue::new(exporter.name()).help(exporter.about()),
        })
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Page => "html",
            Format::Export(exporter) => exporter.name(),
        })
    }
}

#[derive(Debug, clap::Args)]
pub struct ShellArgs {
    /// The database: sqlite@3.30.1, duckdb, postgres@16, mariadb
    ///
    /// SQL is read from standard input and runs in a scratch database that is gone when the shell ends. A finding's
    /// repro.sql runs as it is: dissent shell sqlite@3.30.1 < repro.sql
    #[arg(value_name = "TARGET")]
    pub target: String,
}

#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The directories of campaigns [default: the newest one in dissent-out]
    #[arg(value_name = "DIR")]
    pub campaigns: Vec<PathBuf>,

    /// Serve the campaign of a fleet instead
    #[arg(long, value_name = "nats://HOST/CAMPAIGN", conflicts_with = "campaigns")]
    pub join: Option<String>,

    /// The port to listen on; 0 for any free one
    #[arg(long, value_name = "N", default_value = "8765")]
    pub port: u16,

    /// The address to listen on; whoever can reach it can read the campaign
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub address: IpAddr,
}

#[derive(Debug, clap::Args)]
pub struct StatsArgs {
    #[command(subcommand)]
    pub table: StatsTable,
}

/// Tables in Markdown.
#[derive(Debug, Subcommand)]
pub enum StatsTable {
    /// What each oracle did: checks, skipped cases, bugs
    Oracles {
        /// Directories of campaigns that ended [default: the newest one in dissent-out]
        #[arg(value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,
    },
    /// Why oracles skipped cases
    Skips {
        /// Directories of campaigns that ended [default: the newest one in dissent-out]
        #[arg(value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,
    },
    /// Every other counter: processor time, errors by class, variety, what was learned
    Counters {
        /// Directories of campaigns that ended [default: the newest one in dissent-out]
        #[arg(value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,
    },
    /// How valid and how wide the statements of campaigns were
    Validity {
        /// Directories of campaigns that ended
        #[arg(required = true, value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,
    },
    /// How often each choice of the generator was drawn, and what was never drawn
    Drawn {
        /// Directories of campaigns that ended; without any, all choices with their weights
        #[arg(value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,
    },
    /// Hunts side by side: distinct bugs per hour of processor time, and which bugs only one way of hunting found. Campaigns
    /// that differ only in their seeds are runs of one way. Bisect them first (`dissent bisect CAMPAIGN`)
    Compare {
        /// Directories of campaigns that ended
        #[arg(required = true, value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,
    },
    /// How much of the engine's code or plans campaigns had seen when
    Growth {
        /// Directories of campaigns that ended and had a guide
        #[arg(required = true, value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,

        /// Also draw it: the file to write (SVG)
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Which functions of the engine a hunt with --guide coverage reached, by groups; what it missed most comes first
    Coverage {
        /// The directory of the campaign
        #[arg(value_name = "CAMPAIGN")]
        campaign: PathBuf,

        /// The library that was hunted in, if it was one by its path
        #[arg(long, value_name = "TARGET")]
        target: Option<String>,

        /// List the functions of this group
        #[arg(long, value_name = "NAME")]
        group: Option<String>,
    },
    /// How small findings became and what that took, and how well signatures tell bugs apart that have different
    /// histories (see `dissent bisect`), over every example that is kept
    Reduction {
        /// The directories of campaigns [default: the newest one in dissent-out]
        #[arg(value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,
    },
    /// Which oracles catch known bugs: each script that says in its header which version fails is run on that
    /// version and on the newest
    KnownBugs {
        /// Scripts, or directories of them
        #[arg(required = true, value_name = "SCRIPT")]
        scripts: Vec<PathBuf>,

        /// The oracles to use: names or groups (see `dissent oracles`), separated by commas
        #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
        oracles: Vec<String>,

        #[command(flatten)]
        limits: LimitArgs,
    },
}

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct KnownArgs {
    #[command(subcommand)]
    pub action: Option<KnownAction>,

    /// Show only what is known of this engine: mariadb
    pub engine: Option<String>,

    /// Directories or files of known bugs, beside those built in and ./known
    #[arg(long, value_name = "PATH")]
    pub known: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum KnownAction {
    /// Write an entry for a reduced finding: hunts count it from then on and no longer report it
    Add {
        /// The finding: its directory, its finding.json, or its name if the newest campaign has it
        #[arg(value_name = "FINDING", value_parser = finding_path)]
        finding: PathBuf,

        /// What is wrong and which arm is, or why it is accepted
        #[arg(long)]
        reason: String,

        /// Where it was reported
        #[arg(long, value_name = "URL")]
        link: Option<String>,

        /// A behaviour that is not going to change, rather than a bug
        #[arg(long)]
        accepted: bool,

        /// The entry's name [default: the finding's]
        #[arg(long, value_name = "NAME")]
        id: Option<String>,

        /// The file to add it to [default: known/DIALECT.toml]
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Check the finding of each entry again on the newest version, and name the entries that no longer fail
    Check {
        /// Check only what is known of this engine: mariadb
        engine: Option<String>,

        /// Check on this version or build instead of the newest version
        #[arg(long, value_name = "TARGET", requires = "engine")]
        target: Option<String>,

        /// Directories or files of known bugs, beside those built in and ./known
        #[arg(long, value_name = "PATH")]
        known: Vec<PathBuf>,

        /// Remove entries that no longer fail, if they are not built in
        #[arg(long)]
        prune: bool,

        #[command(flatten)]
        limits: LimitArgs,
    },
}

#[derive(Debug, clap::Args)]
pub struct FleetArgs {
    #[command(subcommand)]
    pub action: FleetAction,
}

#[derive(Debug, Subcommand)]
pub enum FleetAction {
    /// Show the machines, what they do and what they found
    Status {
        /// The campaign
        #[arg(value_name = "nats://HOST/CAMPAIGN")]
        fleet: String,

        /// How to print it
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: SummaryFormat,

        /// Print it again every few seconds, until Ctrl-C
        #[arg(long)]
        watch: bool,
    },
    /// Write the page of the whole campaign: exit 1 if there are bugs
    Report {
        /// The campaign
        #[arg(value_name = "nats://HOST/CAMPAIGN")]
        fleet: String,

        /// The file to write [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,

        /// Keep the campaign in this directory as well; must not exist or be empty
        #[arg(long, value_name = "DIR")]
        keep: Option<PathBuf>,
    },
    /// End the campaign on every machine
    Stop {
        /// The campaign
        #[arg(value_name = "nats://HOST/CAMPAIGN")]
        fleet: String,
    },
}

#[derive(Debug, clap::Args)]
pub struct MergeArgs {
    /// The directories of campaigns that tested the same version of an engine
    #[arg(required = true, value_name = "DIR")]
    pub campaigns: Vec<PathBuf>,

    /// The directory for the new campaign; must not exist or be empty
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct FindingsArgs {
    /// The directories of campaigns [default: the newest one in dissent-out]
    #[arg(value_name = "DIR")]
    pub campaigns: Vec<PathBuf>,

    /// How to print the list
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: SummaryFormat,

    /// Check every bug of the campaigns again on the newest version: which are new in the last campaign, which still
    /// fail, which are fixed
    #[arg(long)]
    pub recheck: bool,

    /// Check them on this version or build instead of the newest version
    #[arg(long, value_name = "TARGET", requires = "recheck")]
    pub target: Option<String>,

    #[command(flatten)]
    pub limits: LimitArgs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Args::command().debug_assert();
    }
}
