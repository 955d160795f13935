//! Running a campaign from a program: configure, start or resume, run to the end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, bail};
use dissent_core::{oracle, seeds};
use dissent_engine::Target;

use crate::bugs::Bug;
use crate::catalog::{self, Look};
use crate::config::Config;
use crate::counted::Counted;
use crate::known::known_of;
use crate::observer::Observer;
use crate::share::{Alone, Share};
use crate::store::{self, CampaignFile, Position, Store};
use crate::summary::Summary;
use crate::supervisor::{Controls, Plan, Supervisor};
use crate::tested::{Tested, target_in_file};
use crate::worker::hunt::LogFile;

/// A campaign that is ready to run: many workers hunting in one database, findings on disk.
///
/// The engine is installed and opens, and the output directory exists. Workers are processes of the current program, so
/// it must call [`run_worker_if_asked`](crate::run_worker_if_asked) first in `main`.
///
/// ```no_run
/// use std::time::Duration;
/// use dissent_campaign::Campaign;
///
/// fn main() -> anyhow::Result<()> {
///     dissent_campaign::run_worker_if_asked();
///     let outcome = Campaign::builder()
///         .target("sqlite@3.30.1")
///         .oracles(["norec", "tlp"])
///         .time(Duration::from_secs(60))
///         .run()?;
///     for bug in outcome.new_bugs() {
///         println!("{} found by {}: {}", bug.class, bug.oracle, bug.directory.display());
///     }
///     Ok(())
/// }
/// ```
pub struct Campaign {
    plan: Plan,
    store: Store,
    controls: Controls,
    share: Option<Box<dyn Share>>,
}

/// How a campaign joins others: it is told what would be hunted, under a target that names no server's address, and may
/// refuse.
pub type Join<'a> = &'a mut dyn FnMut(&CampaignFile) -> anyhow::Result<Box<dyn Share>>;

impl Campaign {
    /// A campaign with the options of [`Config::default`], to be changed one by one.
    pub fn builder() -> Builder {
        Builder { config: Config::default(), out: None }
    }

    /// Prepares a campaign. Everything that can be wrong with its configuration is found here, before anything is
    /// written. Findings go to `out`, which must not exist or be empty; without it to a new directory in `dissent-out`.
    pub fn start(
        config: Config,
        out: Option<&Path>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Campaign> {
        Campaign::start_joined(config, out, None, observer)
    }

    /// The same, perhaps as one of several machines.
    pub fn start_joined(
        mut config: Config,
        out: Option<&Path>,
        join: Option<Join>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Campaign> {
        config.settle()?;
        if let Some(directory) = out {
            store::check_vacant(directory)?;
        }
        let tested = Tested::obtain(&config, observer)?;
        config.target = tested.target.clone();
        config.against = tested.other.as_ref().map(|other| other.target.clone());
        config.baseline = tested.baseline.as_ref().map(|baseline| baseline.target.clone());
        config.oracles = suitable(&config.oracles, &tested, observer)?;
        let plan = prepare(config, tested, None, observer)?;
        let file = CampaignFile::new(&plan.config, &plan.tested);
        let share = joined(&plan, &file, join)?;
        let file = CampaignFile { joined: share.is_some(), ..file };
        let store = Store::create(out, &file)?;
        // Workers append to their logs, because a replacement continues the log: start empty.
        for path in (0..plan.config.jobs).filter_map(|worker| plan.config.statement_log(worker)) {
            File::create(&path).with_context(|| format!("cannot write statements to {}", path.display()))?;
        }
        Ok(Campaign::new(plan, store, share))
    }

    /// Prepares to resume a campaign that was killed or has ended, after the databases it has visited and with all its
    /// options, except those that are changed here for this run. A library by path and a server by address must be given
    /// again.
    pub fn resume(
        directory: &Path,
        change: impl FnOnce(&mut Config),
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Campaign> {
        Campaign::resume_joined(directory, change, None, observer)
    }

    /// The same, perhaps as one of several machines.
    pub fn resume_joined(
        directory: &Path,
        change: impl FnOnce(&mut Config),
        join: Option<Join>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Campaign> {
        let shown = directory.display();
        let file = store::read_campaign(directory)?;
        // The file alone may only name a release.
        let mut config =
            Config { target: String::new(), against: None, baseline: None, ..file.config.clone() };
        config.check_shares()?;
        // A campaign from elsewhere may not have us write to any file: a log goes on only where there is one.
        let logs = (0..config.jobs).filter_map(|worker| config.statement_log(worker));
        let logs: Vec<LogFile> = logs.map(|path| LogFile::at(&path)).collect();
        if logs.contains(&LogFile::Other) || !logs.contains(&LogFile::Log) {
            config.log_statements = None;
        }
        change(&mut config);
        let compared = same_as_before(&config.against, &file.config.against, &shown, "compares with")?;
        let baseline = same_as_before(&config.baseline, &file.config.baseline, &shown, "has the baseline")?;
        config.against = config.against.take().or(compared.clone());
        config.baseline = config.baseline.take().or(baseline.clone());
        let hunted = &file.config.target;
        let target = match config.target.is_empty() {
            true => target_in_file(hunted)?.to_string(),
            false => Target::parse(&config.target)?.to_string(),
        };
        if config.target.is_empty() {
            config.target = target.clone();
        }
        config.settle()?;
        if target != *hunted {
            bail!("the campaign in {shown} tests {hunted}, not {target}");
        }
        let tested = Tested::obtain(&config, observer)?;
        let (version, then) = (&tested.engine_version, &file.engine_version);
        if version != then {
            bail!(
                "the campaign in {shown} tested {target} version {then}, which is now version {version}; start a new hunt"
            );
        }
        config.target = target;
        (config.against, config.baseline) = (compared, baseline);
        let store = Store::reopen(directory, &file)?;
        // Killed before it had one: start from the beginning.
        let position = store::read_position(directory, config.jobs)?;
        let position = position.unwrap_or_else(|| Position::start(&config));
        let earlier = store::read_counts(directory)?;
        let plan = prepare(config, tested, Some(position), observer)?;
        let share = joined(&plan, &file, join)?;
        Ok(Campaign::new(Plan { earlier, ..plan }, store, share))
    }

    fn new(plan: Plan, store: Store, share: Option<Box<dyn Share>>) -> Campaign {
        Campaign { plan, store, controls: Controls::default(), share }
    }

    /// Its configuration.
    pub fn config(&self) -> &Config {
        &self.plan.config
    }

    /// The engine it tests.
    pub fn tested(&self) -> &Tested {
        &self.plan.tested
    }

    /// Where its findings go.
    pub fn directory(&self) -> &Path {
        self.store.root()
    }

    /// A flag that ends the campaign, with all its figures, when a signal handler or another thread sets it.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.controls.stop.clone()
    }

    /// A flag that pauses the campaign as long as it is set. Workers finish their cases and wait; the time that a
    /// campaign has stands still.
    pub fn pause_flag(&self) -> Arc<AtomicBool> {
        self.controls.pause.clone()
    }

    /// Hunts until it is time to stop, then reduces what is left for a while and writes `summary.json`.
    ///
    /// # Errors
    ///
    /// If the campaign could not run. An error that ends it later is part of its outcome.
    pub fn run(self, observer: &mut dyn Observer) -> anyhow::Result<Outcome> {
        let share =
            self.share.unwrap_or_else(|| Box::new(Alone::visiting(self.plan.stretches().into_iter())));
        let mut supervisor = Supervisor::new(&self.plan, &self.store, observer, &self.controls, share);
        let ended = supervisor.run();
        let results = supervisor.results();
        if let Err(error) = self.plan.tested.place.leave() {
            observer.note(&error.to_string());
        }
        match ended {
            Err(error) if results.counted.tally.counts.statements == 0 => Err(error),
            // An error after a night of hunting must not lose the night's figures.
            ended => {
                let Plan { config, tested, .. } = &self.plan;
                let summary = Summary::new(config, &tested.into(), &results);
                let written = self.store.write_counts(&results.counted);
                let written = written.and(self.store.write_summary(&summary));
                Ok(Outcome { bugs: results.bugs, summary, trouble: ended.and(written).err() })
            }
        }
    }
}

/// Joins others, if it is to.
fn joined(plan: &Plan, file: &CampaignFile, join: Option<Join>) -> anyhow::Result<Option<Box<dyn Share>>> {
    let Some(join) = join else { return Ok(None) };
    let mut shared = CampaignFile { id: file.id, ..CampaignFile::new(&plan.config, &plan.tested) };
    shared.config.target = plan.tested.public_target.clone();
    join(&shared).map(Some)
}

/// Another version of a campaign that is resumed: as it is typed, or as the file names it.
fn same_as_before(
    typed: &Option<String>,
    written: &Option<String>,
    shown: &std::path::Display,
    what: &str,
) -> anyhow::Result<Option<String>> {
    let named = match (typed, written) {
        (Some(typed), _) => Some(Target::parse(typed)?.to_string()),
        (None, Some(written)) => Some(target_in_file(written)?.to_string()),
        (None, None) => None,
    };
    if named != *written {
        let name = |target: &Option<String>| target.clone().unwrap_or_else(|| "no other version".to_string());
        bail!("the campaign in {shown} {what} {}, not {}", name(written), name(&named));
    }
    Ok(named)
}

/// The oracles that apply to this engine; the others are named and left out.
pub(crate) fn suitable(
    oracles: &[String],
    tested: &Tested,
    observer: &mut dyn Observer,
) -> anyhow::Result<Vec<String>> {
    let dialect = tested.dialect()?;
    let suits = |name: &&String| oracle::by_name(name).is_none_or(|oracle| oracle.suits(&dialect));
    let (suiting, others): (Vec<&String>, Vec<&String>) = oracles.iter().partition(suits);
    if others.is_empty() {
        return Ok(oracles.to_vec());
    }
    let others: Vec<&str> = others.iter().map(|name| name.as_str()).collect();
    let (others, title) = (others.join(", "), &dialect.engine.title);
    if suiting.is_empty() {
        bail!("{others} cannot test {title}; `dissent oracles` lists all oracles");
    }
    observer.note(&format!("leaving out {others}, which cannot test {title}"));
    Ok(suiting.into_iter().cloned().collect())
}

/// Gets the engine's catalog (without it, a hunt uses the functions of the dialect's file) and its known bugs.
fn prepare(
    config: Config,
    tested: Tested,
    position: Option<Position>,
    observer: &mut dyn Observer,
) -> anyhow::Result<Plan> {
    if config.built_in_seeds && seeds::of(tested.dialect_name()).next().is_none() {
        bail!("there are no built-in seeds for {}; give --seeds a path", tested.dialect_name());
    }
    if let Some(why) = tested.place.source.slowness(config.jobs) {
        observer.note(&why);
    }
    let known = known_of(tested.dialect_name(), &tested.engine_version, &config.known)?;
    // In what two engines share there is nothing of a catalog.
    let looked = match tested.compares_engines() {
        true => Ok(Look::Unplanned),
        false => catalog::look(&tested),
    };
    // What both versions can compute is known only when both are probed.
    let waits = config.repeatable || config.max_cases.is_some() || tested.other.is_some();
    let probe_beside = matches!(looked, Ok(Look::Missing)) && !waits;
    let catalog = match looked {
        Ok(Look::Kept(kept)) => Ok(Some(*kept)),
        Ok(Look::Missing) if !probe_beside => catalog::obtain(&tested, false, observer),
        other => other.map(|_| None),
    };
    let catalog = catalog.unwrap_or_else(|error| {
        observer.note(&format!("using only the dialect's own functions: {error:#}"));
        None
    });
    let (mut catalog, mut other_catalog) = (catalog, None);
    if let (Some(kept), Some(other)) = (&mut catalog, &tested.other) {
        let other = catalog::obtain(other, false, observer)?;
        other.iter().for_each(|other| kept.catalog.keep_common(&other.catalog));
        other_catalog = other.map(|other| other.path);
    }
    Ok(Plan {
        config,
        tested,
        catalog,
        other_catalog,
        probe_beside,
        known,
        position,
        earlier: Counted::default(),
    })
}

/// The outcome of a campaign.
#[derive(Debug)]
pub struct Outcome {
    /// Its bugs, including known ones; each has a directory with a script and a report.
    pub bugs: Vec<Bug>,
    /// Its figures, as in `summary.json`.
    pub summary: Summary,
    /// The error that ended it early.
    pub trouble: Option<anyhow::Error>,
}

impl Outcome {
    /// The bugs that were not known before.
    pub fn new_bugs(&self) -> impl Iterator<Item = &Bug> {
        self.bugs.iter().filter(|bug| bug.known.is_none())
    }
}

/// Builds a campaign; see [`Campaign::builder`].
#[derive(Clone, Debug)]
pub struct Builder {
    config: Config,
    out: Option<PathBuf>,
}

impl Builder {
    /// The database to test: `sqlite`, `duckdb@1.5.6`, the URL of a server.
    pub fn target(mut self, target: impl Into<String>) -> Builder {
        self.config.target = target.into();
        self
    }

    /// The oracles to use, by names or groups.
    pub fn oracles<I: IntoIterator<Item: Into<String>>>(mut self, names: I) -> Builder {
        self.config.oracles = names.into_iter().map(Into::into).collect();
        self
    }

    /// When to stop.
    pub fn time(mut self, time: Duration) -> Builder {
        self.config.time = Some(time);
        self
    }

    /// Where all randomness starts.
    pub fn seed(mut self, seed: u64) -> Builder {
        self.config.seed = seed;
        self.config.repeatable = true;
        self
    }

    /// How many worker processes hunt.
    pub fn jobs(mut self, jobs: u64) -> Builder {
        self.config.jobs = jobs;
        self
    }

    /// The directory for findings; must not exist or be empty.
    pub fn out(mut self, directory: impl Into<PathBuf>) -> Builder {
        self.out = Some(directory.into());
        self
    }

    /// Any other option.
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Builder {
        change(&mut self.config);
        self
    }

    /// Runs the campaign to its end, without an observer.
    pub fn run(self) -> anyhow::Result<Outcome> {
        self.run_with(&mut ())
    }

    /// Runs the campaign to its end.
    pub fn run_with(self, observer: &mut dyn Observer) -> anyhow::Result<Outcome> {
        Campaign::start(self.config, self.out.as_deref(), observer)?.run(observer)
    }
}
