//! Everything a user can type, each flag defined in one place.

mod campaigns;
mod engines;
mod findings;
mod hunt;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use dissent_campaign::{Config, store};
use dissent_core::guide;

pub use self::campaigns::*;
pub use self::engines::*;
pub use self::findings::*;
pub use self::hunt::*;
use crate::help::{EXIT_CODES, MORE, VERSION};
use crate::numbers::duration;

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
pub enum SummaryFormat {
    Text,
    Json,
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
