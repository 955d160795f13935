//! `dissent engines`: what can be hunted, what is on this machine.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::bail;
use dissent_campaign::{Config, Observer, Tested};
use dissent_core::guide;
use dissent_engine::{
    Available, Product, State, Target, Updated, installed_bytes, products, remove, versions,
};

use super::probe;
use crate::args::{EnginesAction, EnginesArgs};
use crate::progress::LiveLine;

pub fn run(args: EnginesArgs) -> anyhow::Result<u8> {
    match args.action {
        None => overview(),
        Some(EnginesAction::List { engine }) => list(&engine),
        Some(EnginesAction::Install { targets }) => install(&targets),
        Some(EnginesAction::Update { engines }) => update(&engines),
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

/// What is here, what a command brings, and what only an address reaches.
fn overview() -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let engines = by_engine()?;
    let here = |available: &&Available| available.state != State::Obtainable;
    writeln!(out, "Installed:")?;
    for (engine, versions) in &engines {
        let names: Vec<&str> = versions.iter().filter(here).map(|available| available.version).collect();
        if !names.is_empty() {
            writeln!(out, "  {engine:<12} {}  {}", names.join(" "), size(installed_bytes(engine)?))?;
        }
    }
    writeln!(out, "\nAvailable: `dissent hunt NAME@VERSION` or `dissent engines install NAME@VERSION`:")?;
    for product in products() {
        let versions = &engines[product.name()];
        let range = match &versions[..] {
            [] => continue,
            [only] => only.version.to_string(),
            [first, .., last] => format!("{} … {} ({})", first.version, last.version, versions.len()),
        };
        let needs = product.needs().map(|program| format!(", needs {program}")).unwrap_or_default();
        let line =
            format!("  {:<12} {range:<28} {} each{needs}", product.name(), size(product.usual_bytes()));
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out, "\nBy URL only:")?;
    for product in products().filter(|product| engines[product.name()].is_empty()) {
        writeln!(out, "  {:<12} {}", product.name(), product.address().unwrap_or_default())?;
    }
    let addresses: Vec<String> = products().filter_map(Product::address).collect();
    writeln!(out, "\nAll servers by URL: {}", addresses.join(" "))?;
    Ok(())
}

/// `97 MB`, `1 MB` for less.
fn size(bytes: u64) -> String {
    format!("{} MB", (bytes >> 20).max(1))
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

/// Installs the newest version that the registries have of each.
fn update(engines: &[String]) -> anyhow::Result<()> {
    let known = by_engine()?;
    let installed = |name: &str| known[name].iter().any(|available| available.state == State::Installed);
    if let Some(unknown) = engines.iter().find(|name| !known.contains_key(name.as_str())) {
        bail!("unknown engine '{unknown}'; available: {}", known.into_keys().collect::<Vec<_>>().join(", "));
    }
    let chosen = products().filter(|product| match engines {
        [] => installed(product.name()),
        names => names.iter().any(|name| name == product.name()),
    });
    let mut failed = 0;
    for product in chosen {
        let mut line = LiveLine::new();
        let updated = dissent_engine::update(product, &mut |step| line.wait(&step.to_string()));
        line.clear();
        let newest = known[product.name()].last().map(|available| available.version);
        let told = match (updated, newest) {
            (Ok(Updated::To(version)), _) => format!("version {version} is installed"),
            (Ok(Updated::Newest), Some(version)) => format!("nothing newer than {version}"),
            (Ok(_), Some(version)) => {
                format!(
                    "not checked: its packages do not say which version they have; {version} is the newest known"
                )
            }
            (Ok(_), None) => "cannot be downloaded".to_string(),
            (Err(error), _) => {
                failed += 1;
                error.to_string()
            }
        };
        writeln!(std::io::stdout(), "{}: {told}", product.name())?;
    }
    if failed > 0 {
        bail!("not every engine could be updated");
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
