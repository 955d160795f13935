//! The subcommands, one file each.

mod bench;
mod bisect;
mod check;
mod clean;
mod engines;
mod findings;
#[cfg_attr(not(feature = "fleet"), path = "no_fleet.rs")]
mod fleet;
mod found;
mod hunt;
mod known;
mod merge;
mod oracles;
mod page;
mod probe;
mod recheck;
mod reduce;
mod replay;
mod report;
mod serve;
mod setup;
mod shell;
mod stats;

use std::io::Write as _;

use anyhow::bail;
use dissent_campaign::{Observer, Tested, target_in_file};
use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::oracle;
use dissent_core::render::to_sql;
use dissent_engine::Target;

use crate::args::{Command, LimitArgs};
use crate::text::plain;

/// Gives the exit code.
pub fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Hunt(args) => hunt::run(*args),
        Command::Check(args) => check::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Reduce(args) => reduce::run(args),
        Command::Bisect(args) => bisect::run(args),
        Command::Findings(args) => findings::run(args),
        Command::Fleet(args) => fleet::run(args),
        Command::Merge(args) => merge::run(args),
        Command::Report(args) => report::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Shell(args) => shell::run(args),
        Command::Known(args) => known::run(args),
        Command::Engines(args) => engines::run(args),
        Command::Clean(args) => clean::run(args),
        Command::Oracles => oracles::run(),
        Command::Stats(args) => stats::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Completions { shell } => setup::completions(shell),
        Command::Man { command, out } => setup::man(command.as_deref(), out.as_deref()),
    }
}

/// Says what a finding will run, and where, before it does: it may have come from somebody else.
fn show_script(finding: &Finding, place: &str, dialect: &Dialect) {
    // Without its oracle nothing will run.
    if oracle::by_name(&finding.case.subject.oracle).is_none() {
        return;
    }
    let statements = finding.case.setup.iter().chain(&finding.case.subject.tests);
    announce(place, statements.map(|statement| to_sql(statement, dialect)));
}

/// Says which statements will run, and where.
fn announce(place: &str, statements: impl Iterator<Item = impl std::fmt::Display>) {
    if crate::verbosity::is_quiet() {
        return;
    }
    let mut script = format!("running on {place}:\n");
    statements.for_each(|statement| script += &format!("  {statement};\n"));
    // Nobody listens: no reason not to go on.
    let _ = std::io::stderr().write_all(plain(&script).as_bytes());
}

/// The engine that a finding was made on, or another one that speaks its dialect.
fn obtain_for(
    finding: &Finding,
    target: Option<&str>,
    against: Option<&str>,
    limits: &LimitArgs,
    observer: &mut dyn Observer,
) -> anyhow::Result<Tested> {
    let (named, target) = match target {
        Some(named) => (named, Target::parse(named)?),
        None => (finding.target.as_str(), target_in_file(&finding.target)?),
    };
    if target.dialect() != finding.dialect {
        bail!("the finding is in {}'s dialect, which {target} does not speak", finding.dialect);
    }
    let mut config = limits.config(named);
    config.against = match (against, &finding.triage.against) {
        (Some(typed), Some(_)) => Some(typed.to_string()),
        (Some(_), None) => {
            bail!("the finding does not compare two versions, so --against does not apply to it")
        }
        (None, Some(written)) => Some(target_in_file(&written.target)?.to_string()),
        (None, None) => None,
    };
    Tested::obtain(&config, observer)
}
