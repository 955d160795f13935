//! What the commands about findings take: replay, reduce, bisect, report, known, findings.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Subcommand, ValueEnum};
use dissent_core::report::export::{Exporter, exporters};

use super::{LimitArgs, SummaryFormat, finding_path};
use crate::numbers::duration;

#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The finding: its directory, its finding.json, or its name if the newest campaign has it; or a script that says what
    /// its queries return and must return, as those in bugs/found, or a directory of them
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
