//! `dissent engines`: what can be hunted, what is on this machine.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::bail;
use dissent_campaign::{Config, Tested};
use dissent_core::guide;
use dissent_engine::{Available, Product, State, Target, products, remove, versions};

use super::probe;
use crate::args::{EnginesAction, EnginesArgs};
use crate::progress::LiveLine;

pub fn run(args: EnginesArgs) -> anyhow::Result<u8> {
    match args.action {
        None => overview(),
        Some(EnginesAction::List { engine }) => list(&engine),
        Some(EnginesAction::Install { targets }) => install(&targets),
        Some(EnginesAction::Probe { target, refresh, list }) => probe::run(&target, refresh, list),
        Some(EnginesAction::Remove { targets }) => uninstall(&targets),
    }?;
    Ok(crate::NOTHING_FOUND)
}

fn by_engine() -> anyhow::Result<BTreeMap<&'static str, Vec<Available>>> {
    let mut engines: BTreeMap<&'static str, Vec<Available>> =
        products().map(|product| (product.name(), Vec::new())).collect();
    for available in versions()? {
        engines.entry(available.engine).or_default().push(available);
    }
    Ok(engines)
}

fn overview() -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<12} {:<28} installed", "engine", "available")?;
    for (engine, versions) in by_engine()? {
        let range = match (versions.first(), versions.last()) {
            (Some(first), Some(last)) if versions.len() > 1 => {
                format!("{} … {} ({})", first.version, last.version, versions.len())
            }
            (Some(only), _) => only.version.to_string(),
            _ => String::from("none: give a server by URL"),
        };
        let here: Vec<&str> = versions
            .iter()
            .filter(|available| available.state != State::Obtainable)
            .map(|available| available.version)
            .collect();
        let here = if here.is_empty() { String::from("–") } else { here.join(" ") };
        writeln!(out, "{engine:<12} {range:<28} {here}")?;
    }
    writeln!(
        out,
        "\nA version is obtained when it is first named; `dissent engines install` does it ahead."
    )?;
    let addresses: Vec<String> = products().filter_map(Product::address).collect();
    writeln!(out, "Servers by URL: {}", addresses.join(" "))?;
    Ok(())
}

fn list(engine: &str) -> anyhow::Result<()> {
    let engines = by_engine()?;
    let Some(versions) = engines.get(engine).filter(|versions| !versions.is_empty()) else {
        let obtainable = engines.iter().filter(|(_, versions)| !versions.is_empty());
        let names: Vec<&str> = obtainable.map(|(name, _)| *name).collect();
        bail!("unknown engine '{engine}'; available: {}", names.join(", "));
    };
    let mut out = std::io::stdout().lock();
    for available in versions {
        let state = match available.state {
            State::Bundled => "built in",
            State::Installed => "installed",
            State::Obtainable => "",
        };
        writeln!(out, "{}", format!("{engine}@{:<12} {state}", available.version).trim_end())?;
    }
    Ok(())
}

/// Obtains each and opens it once: what is called installed has answered.
fn install(targets: &[String]) -> anyhow::Result<()> {
    targets.iter().try_for_each(|target| Target::parse(target).map(drop))?;
    for target in targets {
        let Tested { target, engine_version, .. } = obtain(target, &mut LiveLine::new())?;
        writeln!(std::io::stdout(), "{target}: version {engine_version} is installed")?;
    }
    Ok(())
}

/// With more memory than a hunt gives its workers: what an engine needs at most is not known yet.
pub(super) fn obtain(target: &str, line: &mut LiveLine) -> anyhow::Result<Tested> {
    let config = Config {
        target: target.to_string(),
        guide: guide::Kind::None,
        worker_memory: 8 << 30,
        ..Config::default()
    };
    Tested::obtain(&config, line)
}

fn uninstall(targets: &[String]) -> anyhow::Result<()> {
    let installed: Vec<Available> =
        versions()?.into_iter().filter(|available| available.state == State::Installed).collect();
    let mut chosen = Vec::new();
    for target in targets {
        let named = |available: &&Available| format!("{}@{}", available.engine, available.version) == *target;
        match installed.iter().find(named) {
            Some(available) => chosen.push(available),
            None => bail!("{target} is not installed; `dissent engines` lists what is"),
        }
    }
    for available in chosen {
        remove(available.engine, available.version)?;
        writeln!(std::io::stdout(), "{}@{} removed", available.engine, available.version)?;
    }
    Ok(())
}
