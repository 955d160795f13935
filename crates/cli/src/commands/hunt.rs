//! `dissent hunt`: fill in the configuration, run the campaign, print what came of it.

use std::io::Write;

use anyhow::{Context, bail};
use dissent_campaign::{Campaign, Config, Outcome};
use dissent_core::oracle;
use dissent_core::report::export;
use dissent_engine::Target;

use crate::args::{HuntArgs, SummaryFormat};
use crate::ending;
use crate::numbers::counted;
use crate::progress::HuntProgress;
use crate::screen::{self, Screen};
use crate::summary;
use crate::text::wrapped;
use crate::verbosity;

pub fn run(args: HuntArgs) -> anyhow::Result<u8> {
    let mut progress = HuntProgress::new(args.summary == SummaryFormat::Json);
    let campaign = prepare(&args, &mut progress)?;
    ending::ask_first(campaign.stop_flag());
    introduce(&campaign);
    let directory = campaign.directory().display().to_string();
    let target = named_again(campaign.config())?;
    let outcome = match args.is_live() && screen::is_fit() {
        true => campaign_on_screen(campaign, progress)?,
        false => {
            let outcome = campaign.run(&mut progress)?;
            drop(progress);
            outcome
        }
    };
    print(&outcome, args.summary, &directory, target.as_deref())?;
    if let Some(path) = &args.junit {
        let junit = export::by_name("junit").context("no exporter for JUnit")?;
        super::report::write(directory.as_ref(), junit, path)?;
    }
    let found = outcome.new_bugs().next().is_some();
    let checks = outcome.summary.checks.get("total").copied().unwrap_or(0);
    match outcome.trouble {
        Some(error) => Err(error),
        // Nothing found because nothing was compared is not a clean bill.
        None if checks == 0 && !found => {
            bail!("nothing was checked; give the hunt more time or other oracles")
        }
        None => Ok(if found { crate::FOUND } else { crate::NOTHING_FOUND }),
    }
}

/// The screen is gone when this returns: what follows stays on the terminal.
fn campaign_on_screen(campaign: Campaign, lines: HuntProgress) -> anyhow::Result<Outcome> {
    let mut screen = Screen::open(&campaign, lines).context("cannot draw on this terminal; try --plain")?;
    campaign.run(&mut screen)
}

fn prepare(args: &HuntArgs, progress: &mut HuntProgress) -> anyhow::Result<Campaign> {
    if let Some(address) = &args.join {
        return super::fleet::join(args, address, progress);
    }
    let Some(directory) = &args.resume else {
        return Campaign::start(args.config()?, args.out.as_deref(), progress);
    };
    let mut filled = Ok(());
    let campaign = Campaign::resume(directory, |config| filled = args.fill(config), progress);
    filled.and(campaign)
}

/// A target that its findings do not name, or not so that a replay trusts it.
fn named_again(config: &Config) -> anyhow::Result<Option<String>> {
    let target = Target::parse(&config.target)?;
    Ok((!target.is_release()).then(|| target.to_string()))
}

fn print(
    outcome: &Outcome,
    format: SummaryFormat,
    directory: &str,
    target: Option<&str>,
) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match format {
        SummaryFormat::Json => out.write_all(outcome.summary.json()?.as_bytes())?,
        SummaryFormat::Text => {
            write!(out, "\n{}", summary::text(&outcome.summary, directory, target, page_width()))?
        }
    }
    Ok(out.flush()?)
}

/// As wide as the terminal, within reason; 80 columns elsewhere.
fn page_width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout())
        .map_or(80, |(width, _)| usize::from(width.0).clamp(40, 120))
}

fn introduce(campaign: &Campaign) {
    if verbosity::is_quiet() {
        return;
    }
    let (config, tested) = (campaign.config(), campaign.tested());
    let oracles = match config.oracles.len() {
        all if all == oracle::all().len() => "all oracles".to_string(),
        _ => config.oracles.join(", "),
    };
    let line = format!(
        "hunting {} (version {}){} with {oracles}; seed {}, {}; findings go to {}",
        tested.target,
        tested.engine_version,
        super::check::compared(tested),
        config.seed,
        counted(config.jobs, "worker"),
        campaign.directory().display(),
    );
    for line in wrapped(&line, page_width()) {
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}
