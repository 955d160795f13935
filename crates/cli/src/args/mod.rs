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

/// Finds logic bugs in SQL databases: queries that silently return a wrong result.
#[derive(Debug, Parser)]
#[command(name = "dissent", version = VERSION.as_str(), max_term_width = 100, after_help = EXIT_CODES, after_long_help = MORE)]
pub struct Args {
    /// Print only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = 901)]
    pub quiet: bool,

    /// Print more, such as what happens to each finding
    #[arg(short, long, global = true, display_order = 902)]
    pub verbose: bool,

    /// Read settings from this file instead of ./dissent.toml
    ///
    /// It has one table per command, with options under their long names:
    ///
    ///     [hunt]
    ///     target = "duckdb"
    ///     time = "10m"
    ///     oracles = ["norec", "tlp"]
    ///
    /// Options on the command line override the file.
    #[arg(long, global = true, value_name = "FILE", verbatim_doc_comment, display_order = 903)]
    pub config: Option<PathBuf>,

    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Test a database with random queries until Ctrl-C or --time
    Hunt(Box<HuntArgs>),
    /// Check your own scripts: give every query in them to every oracle that can use it
    Check(CheckArgs),
    /// Check a finding again: exit 1 if it still fails, 0 if it no longer does, 2 if Dissent cannot tell
    Replay(ReplayArgs),
    /// Reduce a finding: exit 1 if it still fails (it is then as small as Dissent can make it), 0 if it no longer does
    Reduce(ReduceArgs),
    /// Bisect a finding: find the releases in which it appeared and disappeared
    Bisect(BisectArgs),
    /// List the bugs of a campaign: exit 1 if there are any
    Findings(FindingsArgs),
    /// Show or stop machines that hunt together
    Fleet(FleetArgs),
    /// Merge campaigns from several shards or machines into one: exit 1 if they have bugs
    Merge(MergeArgs),
    /// Write findings as a web page or in a format that other tools read
    Report(ReportArgs),
    /// Serve a campaign as a live web page, with Prometheus metrics
    Serve(ServeArgs),
    /// Open an SQL prompt on any version of any engine, in a scratch database
    Shell(ShellArgs),
    /// List known bugs and accepted behaviours of an engine, or add a finding to them
    Known(KnownArgs),
    /// List, install or remove engines
    Engines(EnginesArgs),
    /// List and drop the databases that Dissent left on a server when it was killed
    Clean(CleanArgs),
    /// List the oracles: the ways to ask the same question twice
    Oracles,
    /// Print tables about campaigns, reductions and oracles
    Stats(StatsArgs),
    /// Measure the overhead of Dissent: a hunt's statements against the same statements through the bare C API
    Bench(BenchArgs),
    /// Print a shell completion script
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
    /// A statement that runs longer than this counts as a hang, which is a finding (at least 3s) [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    hang_limit: Option<Duration>,

    /// The address space limit of a worker process, in MiB
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
