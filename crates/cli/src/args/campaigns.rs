//! What the commands about campaigns take: serve, stats, bench, fleet, merge.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;

use super::{DEFAULT_TARGET, GuideName, LimitArgs, SummaryFormat};
use crate::numbers::duration;

#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// The database to measure: sqlite, duckdb, postgres@18.4
    #[arg(default_value = DEFAULT_TARGET)]
    pub target: String,

    /// The oracles to use: names or groups (see `dissent oracles`), separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "norec")]
    pub oracles: Vec<String>,

    /// The random seed
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub seed: u64,

    /// How many cases each round runs
    #[arg(long, value_name = "N", default_value = "40000", value_parser = clap::value_parser!(u64).range(1..))]
    pub cases: u64,

    /// How many rounds, alternating between hunt and bare API; use more on a noisy machine
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,

    /// Compare with another build of Dissent instead: hunts of this program and of that one, alternating in each
    /// round, counting every process that they start
    #[arg(long, value_name = "PROGRAM", group = "turns", conflicts_with_all = ["cases", "coverage", "costs"])]
    pub against: Option<PathBuf>,

    /// Measure what joining a fleet costs instead: hunts as the only machine of a campaign nats://HOST/CAMPAIGN-ROUND, and
    /// hunts without a fleet, alternating in each round
    #[arg(long, value_name = "URL", group = "turns", conflicts_with_all = ["cases", "coverage", "costs"])]
    pub join: Option<String>,

    /// How long each hunt of such a comparison lasts
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration, requires = "turns")]
    pub time: Duration,

    /// What the hunts of such a comparison learn from [default: as hunts of the target do]
    #[arg(long, value_name = "GUIDE", requires = "turns")]
    pub guide: Option<GuideName>,

    /// Print what each oracle's statements and subjects cost on this engine, in the format of a dialect's file (`[costs]`)
    #[arg(long, conflicts_with = "coverage")]
    pub costs: bool,

    /// Instead, compare hunts that count code coverage with hunts that do not, alternating in each round
    #[arg(long, group = "turns", conflicts_with = "cases")]
    pub coverage: bool,
}

#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The directories of campaigns [default: the newest one in dissent-out]
    #[arg(value_name = "DIR")]
    pub campaigns: Vec<PathBuf>,

    /// Serve the campaign of a fleet instead
    #[arg(long, value_name = "nats://HOST/CAMPAIGN", conflicts_with = "campaigns")]
    pub join: Option<String>,

    /// The port to listen on, or 0 for any free port
    #[arg(long, value_name = "N", default_value = "8765")]
    pub port: u16,

    /// The address to listen on; anyone who can reach it can read the campaign
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
    /// How many statements of campaigns were valid, and how much of SQL they covered
    Validity {
        /// Directories of campaigns that ended
        #[arg(required = true, value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,
    },
    /// How often each choice of the generator was drawn, and what was never drawn
    Drawn {
        /// Directories of campaigns that ended; without any, list all choices with their weights
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
    /// How much of the engine's code or plans campaigns had seen over time
    Growth {
        /// Directories of campaigns that ended and had a guide
        #[arg(required = true, value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,

        /// Also write a chart (SVG) to this file
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Which functions of the engine a hunt with --guide coverage reached, by group, starting with the groups it missed most
    Coverage {
        /// The directory of the campaign
        #[arg(value_name = "CAMPAIGN")]
        campaign: PathBuf,

        /// The library that was tested, if it was given by path
        #[arg(long, value_name = "TARGET")]
        target: Option<String>,

        /// List the functions of this group
        #[arg(long, value_name = "NAME")]
        group: Option<String>,
    },
    /// How small findings became and how long that took, and how well signatures tell apart bugs with different
    /// histories (see `dissent bisect`), over every example kept
    Reduction {
        /// The directories of campaigns [default: the newest one in dissent-out]
        #[arg(value_name = "CAMPAIGN")]
        campaigns: Vec<PathBuf>,
    },
    /// The bugs that Dissent found, from their scripts: an index by engine and kind, and one page per engine
    FoundBugs {
        /// Scripts, or directories of them
        #[arg(required = true, value_name = "SCRIPT")]
        scripts: Vec<PathBuf>,

        /// The directory to write the pages to
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Which oracles catch known bugs: run each script whose header says which version fails on that
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

        /// Also keep the campaign in this directory; must be new or empty
        #[arg(long, value_name = "DIR")]
        keep: Option<PathBuf>,
    },
    /// End the campaign on every machine
    Stop {
        /// The campaign
        #[arg(value_name = "nats://HOST/CAMPAIGN")]
        fleet: String,
    },
    /// Remove a campaign that nobody hunts in from the server, with everything that it has there
    Remove {
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

    /// The directory for the new campaign; must be new or empty
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}
