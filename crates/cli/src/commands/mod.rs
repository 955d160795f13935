//! The subcommands, one file each.

mod bench;
mod bisect;
mod bug_table;
mod builds;
mod check;
mod dating;
mod engines;
mod findings;
mod growth;
mod hunt;
mod known;
mod measured;
mod oracles;
mod probe;
mod reduce;
mod replay;
mod report;

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, bail};
use dissent_core::oracle;
use dissent_engine::{EngineError, Source, Step, Target};

use crate::args::Command;
use dissent_campaign::worker;
use dissent_campaign::worker::process::{STUCK_LIMIT, run_to_end};
use dissent_campaign::worker::protocol::{Event, Task};

/// Gives the exit code.
pub fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Hunt(args) => hunt::run(args),
        Command::Check(args) => check::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Reduce(args) => reduce::run(args),
        Command::Bisect(args) => bisect::run(args),
        Command::Findings(args) => findings::run(args),
        Command::Report(args) => report::run(args),
        Command::Known(args) => known::run(args),
        Command::Engines(args) => engines::run(args),
        Command::Oracles => oracles::run(),
        Command::Bench(args) => bench::run(args),
        Command::Worker => worker::run(),
    }
}

/// An engine that is on this machine and opens.
struct Obtained {
    source: Source,
    version: String,
}

/// Gets the engine, telling what takes time, and opens it once in a process of its own: a library that
/// crashes when it is loaded takes nothing with it.
fn obtain(target: &Target, memory_bytes: u64, limit: Duration) -> anyhow::Result<Obtained> {
    obtain_with(target, Target::obtain, memory_bytes, limit)
}

/// The same, by another way to get it.
fn obtain_with(
    target: &Target,
    way: impl FnOnce(&Target, &mut dyn FnMut(Step)) -> Result<Source, EngineError>,
    memory_bytes: u64,
    limit: Duration,
) -> anyhow::Result<Obtained> {
    let source = way(target, &mut |step| {
        let _ = writeln!(std::io::stderr(), "dissent: {step}");
    })?;
    let probe = Task::Probe { source: source.clone(), dialect: target.dialect().to_string() };
    let ended = run_to_end(&probe, memory_bytes, limit)?;
    let mut version = None;
    for event in ended.events {
        match event {
            Event::Ready { engine_version } => version = Some(engine_version),
            Event::Trouble(message) => bail!(message),
            _ => {}
        }
    }
    if ended.hung {
        bail!("{target} did not open within {} s", STUCK_LIMIT.as_secs());
    }
    let dead = ended.dead;
    let version = version.with_context(|| {
        let words = if dead.last_words.is_empty() { String::new() } else { format!(": {}", dead.last_words) };
        format!("{target} cannot be opened: the process that tried died by {}{words}", dead.cause())
    })?;
    Ok(Obtained { source, version })
}

/// Names and groups as the user typed them, as names in the order of the list of all.
fn choose_oracles(words: &[String]) -> anyhow::Result<Vec<String>> {
    let mut chosen = Vec::new();
    for word in words {
        let meant = oracle::select(word);
        if meant.is_empty() {
            let names: Vec<&str> = oracle::all().iter().map(|oracle| oracle.name()).collect();
            bail!("there is no oracle '{word}'; there are: {}, tlp (all of tlp-…) and all", names.join(", "));
        }
        chosen.extend(meant.iter().map(|oracle| oracle.name()));
    }
    let all = oracle::all().iter().map(|oracle| oracle.name());
    Ok(all.filter(|name| chosen.contains(name)).map(str::to_string).collect())
}

/// A busy machine can hold up any statement for a second or two; that must not look like a hang.
fn check_hang_limit(limit: Duration) -> anyhow::Result<()> {
    if limit < Duration::from_secs(3) {
        bail!("--hang-limit must be at least 3s: under load a shorter one takes delays for hangs");
    }
    Ok(())
}
