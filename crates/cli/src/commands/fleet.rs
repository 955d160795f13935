//! `dissent fleet`: machines that hunt together.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use dissent_campaign::store::CampaignFile;
use dissent_campaign::{Campaign, Config, Observer, record, target_in_file};
use dissent_engine::Home;
use dissent_fleet::{Differs, Fleet, Status};

use super::page::{Contents, nonce};
use crate::args::{FleetAction, FleetArgs, HuntArgs, SummaryFormat};
use crate::numbers::{counted, grouped};
use crate::text::plain;

/// How often a fleet is looked at.
const PAUSE: Duration = Duration::from_secs(3);

pub fn run(args: FleetArgs) -> anyhow::Result<u8> {
    match args.action {
        FleetAction::Status { fleet, format, watch } => status(&Fleet::connect(&fleet)?, format, watch),
        FleetAction::Report { fleet, out, keep } => {
            report(&Fleet::connect(&fleet)?, out.as_deref(), keep.as_deref())
        }
        FleetAction::Stop { fleet } => {
            Fleet::connect(&fleet)?.stop()?;
            writeln!(std::io::stdout(), "every machine ends its hunt and reduces what it found")?;
            Ok(crate::NOTHING_FOUND)
        }
        FleetAction::Remove { fleet } => {
            Fleet::connect(&fleet)?.remove()?;
            writeln!(std::io::stdout(), "nothing of the campaign is left on the server")?;
            Ok(crate::NOTHING_FOUND)
        }
    }
}

/// Prepares a hunt as one of several machines.
pub fn join(args: &HuntArgs, address: &str, observer: &mut dyn Observer) -> anyhow::Result<Campaign> {
    let fleet = Fleet::connect(address)?;
    let Some(directory) = &args.resume else {
        let there = fleet.config()?;
        let is_first = there.is_none();
        return match start(args, fleet, there, observer) {
            // Another machine was faster, and decided what was not typed here.
            Err(error) if is_first && error.is::<Differs>() => {
                let fleet = Fleet::connect(address)?;
                let there = fleet.config()?;
                start(args, fleet, there, observer)
            }
            started => started,
        };
    };
    let (mut fleet, mut filled) = (Some(fleet), Ok(()));
    let mut enter = |file: &CampaignFile| fleet.take().context("joins once")?.enter(file);
    let fill = |config: &mut Config| filled = args.fill(config);
    let campaign = Campaign::resume_joined(directory, fill, Some(&mut enter), observer);
    filled.and(campaign)
}

/// Starts a campaign as a machine of a fleet, if there are others with what they have in common.
fn start(
    args: &HuntArgs,
    fleet: Fleet,
    there: Option<Config>,
    observer: &mut dyn Observer,
) -> anyhow::Result<Campaign> {
    let config = match there {
        Some(common) => in_fleet(args, common)?,
        None => Config { repeatable: true, ..args.config()? },
    };
    let mut fleet = Some(fleet);
    let mut enter = |file: &CampaignFile| fleet.take().context("joins once")?.enter(file);
    Campaign::start_joined(config, args.out.as_deref(), Some(&mut enter), observer)
}

/// What was typed, on top of what the machines of a fleet have in common; both must agree. The server does not choose
/// which library is loaded here or which server is reached.
fn in_fleet(args: &HuntArgs, common: Config) -> anyhow::Result<Config> {
    let named = [
        (&args.target, Some(&common.target)),
        (&args.against, common.against.as_ref()),
        (&args.baseline, common.baseline.as_ref()),
    ];
    for (typed, there) in named {
        if let (None, Some(there)) = (typed, there) {
            target_in_file(there).context("the fleet's campaign names a library or a server")?;
        }
    }
    let mut joined = Config { jobs: Config::default().jobs, ..common.clone() };
    args.fill(&mut joined)?;
    // Which oracles are meant is known only with the engine.
    let typed = Config { oracles: common.oracles.clone(), ..joined.common()? };
    Differs::check(&typed, &common)?;
    Ok(joined)
}

fn status(fleet: &Fleet, format: SummaryFormat, watch: bool) -> anyhow::Result<u8> {
    let mut out = std::io::stdout().lock();
    let mut above = String::new();
    loop {
        let status = fleet.status()?;
        let shown = match format {
            SummaryFormat::Text => text(&status),
            SummaryFormat::Json => serde_json::to_string_pretty(&status)? + "\n",
        };
        write!(out, "{above}{shown}")?;
        out.flush()?;
        if !watch {
            return Ok(crate::NOTHING_FOUND);
        }
        if out.is_terminal() {
            above = back_over(&shown);
        }
        std::thread::sleep(PAUSE);
    }
}

/// What makes a terminal write over lines that it shows.
fn back_over(shown: &str) -> String {
    format!("\x1b[{}A\x1b[J", shown.lines().count())
}

/// A line per machine, and one for all of them.
fn text(status: &Status) -> String {
    let Status { campaign, target, engine_version, machines, .. } = status;
    let mut text = plain(&format!("{campaign}: {target} (version {engine_version})\n"));
    let _ = writeln!(
        text,
        "{:<8}  {:<24} {:<8} {:>7} {:>10} {:>12} {:>9}",
        "machine", "host", "state", "workers", "databases", "checks", "checks/s"
    );
    for machine in machines {
        let pulse = &machine.pulse;
        let rate = pulse.checks as f64 / pulse.seconds.max(1.0);
        let _ = writeln!(
            text,
            "{:<8}  {:<24} {:<8} {:>7} {:>10} {:>12} {:>9.1}",
            plain(&machine.id),
            plain(&machine.host),
            machine.state,
            pulse.jobs,
            grouped(pulse.databases),
            grouped(pulse.checks),
            rate
        );
    }
    let hunting = machines.iter().filter(|machine| machine.state == "hunting").count() as u64;
    let _ = writeln!(
        text,
        "{} hunting; {}, {}; {} in the corpus, {} to reduce, {} under way",
        counted(hunting, "machine"),
        counted(status.bugs, "new bug"),
        counted(status.known, "known bug"),
        counted(status.corpus, "entry"),
        counted(status.waiting, "finding"),
        counted(status.ranges, "range"),
    );
    text
}

fn report(fleet: &Fleet, out: Option<&Path>, keep: Option<&Path>) -> anyhow::Result<u8> {
    let scratch = Home::scratch("fleet")?;
    let directory = keep.map_or_else(|| scratch.path().join("fleet"), Path::to_path_buf);
    fleet.gather(&directory, &mut ())?;
    let contents = Contents::read(std::slice::from_ref(&directory))?;
    let found = contents.has_new_bugs();
    let page = contents.page(&nonce(), false);
    match out {
        Some(path) => record::replace(path, &page)?,
        None => std::io::stdout().lock().write_all(page.as_bytes())?,
    }
    Ok(if found { crate::FOUND } else { crate::NOTHING_FOUND })
}

/// A fleet's campaign as a directory that follows it.
pub struct Mirror {
    scratch: Home,
}

impl Mirror {
    pub fn start(fleet: &str) -> anyhow::Result<Mirror> {
        let mirror = Mirror { scratch: Home::scratch("fleet")? };
        let (fleet, directory) = (Fleet::connect(fleet)?, mirror.directory());
        fleet.gather(&directory, &mut ())?;
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(PAUSE);
                // Whoever reads while one takes the other's place reads again a moment later.
                let next = directory.with_extension("next");
                if fleet.gather(&next, &mut ()).is_ok() {
                    let _ = std::fs::remove_dir_all(&directory);
                    let _ = std::fs::rename(&next, &directory);
                }
                let _ = std::fs::remove_dir_all(&next);
            }
        });
        Ok(mirror)
    }

    pub fn directory(&self) -> PathBuf {
        self.scratch.path().join("fleet")
    }
}
