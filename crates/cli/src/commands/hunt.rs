//! `dissent hunt`: fill in the configuration, run the campaign, print what came of it.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail};
use dissent_campaign::{Campaign, Config, Outcome};
use dissent_core::report::export;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::args::{HuntArgs, SummaryFormat};
use crate::progress::HuntProgress;
use crate::summary;

pub fn run(args: HuntArgs) -> anyhow::Result<u8> {
    let mut progress = HuntProgress::new(args.summary == SummaryFormat::Json);
    let campaign = prepare(&args, &mut progress)?;
    listen_for_signals(&campaign.stop_flag())?;
    introduce(&campaign);
    let directory = campaign.directory().display().to_string();
    let outcome = campaign.run(&mut progress)?;
    drop(progress);
    print(&outcome, args.summary, &directory)?;
    if let Some(path) = &args.junit {
        let junit = export::by_name("junit").context("no exporter for JUnit")?;
        super::report::write(directory.as_ref(), junit, path)?;
    }
    let found = outcome.new_bugs().next().is_some();
    let checks = outcome.summary.checks.get("total").copied().unwrap_or(0);
    match outcome.trouble {
        Some(error) => Err(error),
        // Nothing found because nothing was compared is not a clean bill.
        None if checks == 0 && !found => bail!("no check was made; give the hunt more time or other oracles"),
        None => Ok(if found { crate::FOUND } else { crate::NOTHING_FOUND }),
    }
}

fn prepare(args: &HuntArgs, progress: &mut HuntProgress) -> anyhow::Result<Campaign> {
    let Some(directory) = &args.resume else {
        let mut config = Config::default();
        args.fill(&mut config)?;
        return Campaign::start(config, args.out.as_deref(), progress);
    };
    let mut filled = Ok(());
    let campaign = Campaign::resume(directory, |config| filled = args.fill(config), progress);
    filled.and(campaign)
}

fn print(outcome: &Outcome, format: SummaryFormat, directory: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match format {
        SummaryFormat::Json => out.write_all(outcome.summary.json()?.as_bytes())?,
        SummaryFormat::Text => write!(out, "\n{}", summary::text(&outcome.summary, directory))?,
    }
    Ok(out.flush()?)
}

/// The first Ctrl-C (or SIGTERM) asks the campaign to end, the second ends the process at once; the
/// workers then die with it.
fn listen_for_signals(stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, i32::from(crate::TROUBLE), stop.clone())
            .and_then(|_| flag::register(signal, stop.clone()))
            .context("cannot listen for Ctrl-C")?;
    }
    Ok(())
}

fn introduce(campaign: &Campaign) {
    let (config, tested) = (campaign.config(), campaign.tested());
    let _ = writeln!(
        std::io::stderr(),
        "hunting {} (version {}) with {}; seed {}, {} worker{}; findings go to {}",
        tested.target,
        tested.engine_version,
        config.oracles.join(", "),
        config.seed,
        config.jobs,
        if config.jobs == 1 { "" } else { "s" },
        campaign.directory().display(),
    );
}
