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
    /// The finding: its directory, its finding.json, or its name if it is in the newest campaign; or a script that says what
    /// its queries return and must return, like those in bugs/found, or a directory of such scripts
    #[arg(value_name = "DIR", value_parser = finding_path)]
    pub finding: PathBuf,

    /// Another database to check it on [default: the one it was found on]
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,

    /// For a finding of class changed: another version to compare with [default: the one it was compared with]
    #[arg(long, value_name = "TARGET")]
    pub against: Option<String>,

    /// Another version of the same engine, as a baseline: exit 0 if the finding fails there, too
    #[arg(long, value_name = "TARGET")]
    pub baseline: Option<String>,

    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Debug, clap::Args)]
pub struct ReduceArgs {
    /// The finding: its directory, its finding.json, or its name if it is in the newest campaign; or a campaign's
    /// directory, for all of its findings
    ///
    /// Its finding.json, repro.sql and report.md are rewritten; original.sql and finding.original.json
    /// keep what was found.
    #[arg(value_name = "DIR", value_parser = finding_path)]
    pub finding: PathBuf,

    /// Another database to reduce it on [default: the one it was found on]
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,

    /// For a finding of class changed: another version to compare with [default: the one it was compared with]
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
    /// The finding: its directory, its finding.json, or its name if it is in the newest campaign; or a campaign's
    /// directory, for all of its findings
    ///
    /// The results are written to each finding and its report.md. The findings of a campaign are then regrouped:
    /// examples of one bug that affect different versions become separate bugs, and bugs that appeared and disappeared
    /// together and need the same features become one.
    #[arg(value_name = "DIR", value_parser = finding_path)]
    pub finding: PathBuf,

    /// The versions to check: 3.20.0..3.34.0, 3.20.0.., ..3.34.0 [default: all that are available]
    #[arg(long, value_name = "A..B")]
    pub versions: Option<String>,

    /// Check only installed versions; download nothing
    #[arg(long)]
    pub installed: bool,

    /// Check your own builds instead: a directory of them, or a command that lists revisions, oldest
    /// first, and builds the one it is given, printing its path on the last line
    #[arg(long, value_name = "DIR|COMMAND", conflicts_with_all = ["versions", "installed"])]
    pub builds: Option<String>,

    /// For findings of class changed: another version to compare with [default: the one they were compared with]
    #[arg(long, value_name = "TARGET")]
    pub against: Option<String>,

    /// How many versions to check in parallel [default: the number of cores]
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

    /// The format
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    pub format: Format,

    /// First replay each finding on the newest version of its engine; the report then says whether it fails there, too
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

    /// Show only entries for this engine, such as mariadb
    pub engine: Option<String>,

    /// Directories or files of known bugs, in addition to the built-in ones and ./known
    #[arg(long, value_name = "PATH")]
    pub known: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum KnownAction {
    /// Add an entry for a reduced finding: from then on, hunts count it but do not report it
    Add {
        /// The finding: its directory, its finding.json, or its name if it is in the newest campaign
        #[arg(value_name = "FINDING", value_parser = finding_path)]
        finding: PathBuf,

        /// What is wrong and in which arm, or why it is accepted
        #[arg(long)]
        reason: String,

        /// Where it was reported
        #[arg(long, value_name = "URL")]
        link: Option<String>,

        /// Mark it as accepted behaviour that will not change, rather than a bug
        #[arg(long)]
        accepted: bool,

        /// The entry's name [default: the finding's]
        #[arg(long, value_name = "NAME")]
        id: Option<String>,

        /// The file to add it to [default: known/DIALECT.toml]
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Check the finding of each entry again on the newest version, and list the entries that no longer fail
    Check {
        /// Check only entries for this engine, such as mariadb
        engine: Option<String>,

        /// Check on this version or build instead of the newest version
        #[arg(long, value_name = "TARGET", requires = "engine")]
        target: Option<String>,

        /// Directories or files of known bugs, in addition to the built-in ones and ./known
        #[arg(long, value_name = "PATH")]
        known: Vec<PathBuf>,

        /// Remove entries that no longer fail, unless they are built in
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

    /// The format of the list
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
