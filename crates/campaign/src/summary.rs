//! A campaign in figures: so far while it runs, in the end once it has ended.

mod time;

use std::collections::BTreeMap;

use dissent_core::finding::Class;
use dissent_core::guide;
use dissent_core::oracle::norec;
use dissent_core::profile::{Draws, Outcomes};
use dissent_core::report::timeline::Timeline;
use serde::{Deserialize, Serialize};

use crate::bugs::Bug;
use crate::catalog::KeptCatalog;
use crate::config::Config;
use crate::counted::Counted;
use crate::system;
use crate::tested::Tested;
use crate::worker::protocol::{Label, Tally};
pub use time::{OracleFigures, TimeFigures};

/// `summary.json`, and what `--summary json` prints. What an older one lacks is zero or absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// The database as the user named it.
    pub target: String,
    /// The version that the engine said it has.
    pub engine_version: String,
    /// The process that runs the campaign; absent once it has ended. What a killed one left here is no longer true:
    /// ask [`is_running`](Summary::is_running).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<Running>,
    /// Where all randomness started.
    pub seed: u64,
    /// How many workers hunted.
    pub jobs: u64,
    /// How long the campaign took, all of its runs together.
    pub wall_seconds: f64,
    /// CPU time of the worker processes and of what they started, as the kernel counts it.
    pub worker_cpu_seconds: f64,
    /// The same of the processes in which findings were reduced.
    pub reducer_cpu_seconds: f64,
    /// The engine's part of `worker_cpu_seconds`. A worker measures the wall time it spends inside the
    /// engine (two readings of the clock per statement); asking the kernel for CPU time instead
    /// would cost a system call per statement. The share of the worker's wall time is taken as the share
    /// of its CPU time: a worker is one thread that hardly ever waits, so both stretch alike when
    /// the machine is busy.
    pub engine_cpu_seconds: f64,
    /// The part of `worker_cpu_seconds` that drew statements, taken in the same way.
    pub generator_cpu_seconds: f64,
    /// What the workers' time was spent on.
    pub time: TimeFigures,
    /// The result of each oracle, and what it took.
    pub oracles: BTreeMap<Label, OracleFigures>,
    /// What the engine can compute and what of it was used; absent for an engine that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<OperationFigures>,
    /// What NoREC's predicates keep.
    pub predicates: PredicateFigures,
    /// Databases that were built.
    pub databases: u64,
    /// Cases that were proposed on them.
    pub cases: u64,
    /// Statements that were run.
    pub statements: u64,
    /// Those of them that succeeded.
    pub statements_ok: u64,
    /// Comparisons that came to a verdict, by oracle and in `total`.
    pub checks: BTreeMap<Label, u64>,
    /// Comparisons in which at least one arm returned a row.
    pub nonempty_checks: u64,
    /// Comparisons that came to none, by oracle and reason.
    pub skips: BTreeMap<Label, BTreeMap<Label, u64>>,
    /// Statements that failed, by class of error.
    pub errors: BTreeMap<Label, u64>,
    /// What oracles counted besides their verdicts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, u64>,
    /// How often each choice of the generator was drawn; what was never drawn is left out.
    #[serde(skip_serializing_if = "Draws::is_empty")]
    pub draws: Draws,
    /// What became of what was drawn.
    #[serde(default)]
    pub outcomes: Outcomes,
    /// What was learned; absent where nothing was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guide: Option<GuideFigures>,
    /// The bugs, also those that were known.
    pub findings: Vec<FindingLine>,
    /// Differences that did not hold on a fresh database or in another process.
    pub unstable: u64,
    /// Findings that came while too many were waiting to be reduced; counted only.
    pub not_kept: u64,
    /// Findings on disk that are not reduced and likely bugs of this list.
    pub waiting: u64,
    /// Errors of Dissent itself that ended workers, in words.
    pub worker_failures: Vec<String>,
    /// How it went, moment by moment.
    #[serde(skip_serializing_if = "Timeline::is_empty")]
    pub timeline: Timeline,
}

/// The process that runs a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Its number.
    pub process: u32,
    /// When it started, in clock ticks since the machine did: numbers are used again.
    pub process_start: u64,
    /// When this was written.
    pub written: String,
}

impl Running {
    /// This process, now.
    pub(crate) fn here() -> Option<Running> {
        let process = std::process::id();
        Some(Running {
            process,
            process_start: dissent_engine::process_start(process)?,
            written: system::now(),
        })
    }
}

/// Of the functions, operators, casts and aggregates of an engine: how many were used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationFigures {
    /// Those the engine has.
    pub discovered: usize,
    /// Those that statements are drawn from.
    pub usable: usize,
    /// The different names among the usable ones; older summaries do not tell.
    #[serde(default)]
    pub names: Option<usize>,
    /// Usable ones that were in a case all of whose statements succeeded.
    pub seen: usize,
    /// Usable ones that were drawn and always in a case with a statement that failed.
    pub only_failing: usize,
}

/// What a guide saw and what was made of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GuideFigures {
    /// The guide.
    pub guide: guide::Kind,
    /// What was new was kept and changed, not only counted.
    pub kept_what_was_new: bool,
    /// Scripts to start from, those built in included.
    pub seeds: usize,
    /// No database was generated.
    pub seeds_only: bool,
    /// Edges or steps of plans that were seen.
    pub features: u64,
    /// Databases that were kept because they showed something new.
    pub kept: u64,
    /// How often the entry of the corpus that was changed most often was changed.
    pub deepest: u32,
    /// Statements of databases that were made by changing others.
    pub changed_statements: u64,
    /// Those of them that succeeded.
    pub changed_statements_ok: u64,
    /// Statements that found out what to keep; they are not counted among the hunt's.
    #[serde(default)]
    pub rehearsed_statements: u64,
    /// Where summaries before there was a timeline kept how what was seen grew; moved there when they are read.
    #[serde(default, skip_serializing)]
    pub(crate) growth: Timeline,
}

/// Of NoREC's predicates over relations of several rows: how many keep which part of them.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct PredicateFigures {
    /// Those that keep no row.
    pub none: u64,
    /// Those that keep some rows and drop others.
    pub some: u64,
    /// Those that keep every row.
    pub all: u64,
}

/// A bug in a summary.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FindingLine {
    /// The name of its directory.
    pub id: String,
    /// The oracle that found its smallest example.
    pub oracle: String,
    /// How severe it is.
    pub class: Class,
    /// What is wrong, in a few words; older summaries do not tell.
    #[serde(default)]
    pub title: String,
    /// How many findings were this bug.
    pub count: u64,
    /// The statements in the setup of its smallest example.
    pub statements: usize,
    /// The tokens of its smallest example.
    pub tokens: usize,
    /// What its findings have in common; none for a finding that was not reduced.
    pub signature: Option<String>,
    /// The known bug or behaviour it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Where it is.
    pub directory: String,
}

/// What was tested.
pub(crate) struct About {
    /// As reports name it.
    pub target: String,
    pub engine_version: String,
    pub dialect: String,
}

impl From<&Tested> for About {
    fn from(tested: &Tested) -> About {
        About {
            target: tested.public_target.clone(),
            engine_version: tested.engine_version.clone(),
            dialect: tested.dialect_name().to_string(),
        }
    }
}

/// What came of a campaign, or of what has been run of it.
pub(crate) struct Results {
    /// None for an engine that was not probed.
    pub operations: Option<OperationFigures>,
    pub counted: Counted,
    pub bugs: Vec<Bug>,
    /// Findings that are on disk and wait to be reduced; likely bugs that are listed.
    pub waiting: u64,
    pub running: Option<Running>,
}

impl Summary {
    pub(crate) fn new(config: &Config, about: &About, results: &Results) -> Summary {
        let Counted { tally, worker_cpu_seconds, .. } = &results.counted;
        let share = |nanos: u64| (nanos as f64 / (tally.wall_nanos as f64).max(1.0)).min(1.0);
        Summary {
            target: about.target.clone(),
            engine_version: about.engine_version.clone(),
            running: results.running.clone(),
            seed: config.seed,
            jobs: config.jobs,
            wall_seconds: milli(results.counted.wall_seconds),
            worker_cpu_seconds: milli(*worker_cpu_seconds),
            reducer_cpu_seconds: milli(results.counted.reducer_cpu_seconds),
            engine_cpu_seconds: milli(worker_cpu_seconds * share(tally.counts.engine_nanos)),
            generator_cpu_seconds: milli(worker_cpu_seconds * share(tally.counts.generator_nanos)),
            time: TimeFigures::new(tally),
            oracles: time::oracles(config, tally),
            operations: results.operations.clone(),
            predicates: PredicateFigures::new(tally),
            databases: tally.databases,
            cases: tally.cases,
            statements: tally.counts.statements,
            statements_ok: tally.counts.statements_ok,
            checks: checks(config, tally),
            nonempty_checks: tally.nonempty(),
            skips: skips(tally),
            errors: tally.counts.errors.iter().map(|(class, count)| (class.name().into(), *count)).collect(),
            notes: notes(tally),
            draws: tally.draws.clone(),
            outcomes: tally.outcomes.clone(),
            guide: GuideFigures::new(config, &about.dialect, tally),
            findings: results.bugs.iter().map(FindingLine::new).collect(),
            unstable: results.counted.unstable,
            not_kept: results.counted.not_kept,
            waiting: results.waiting,
            worker_failures: results.counted.failures.clone(),
            timeline: results.counted.timeline.clone(),
        }
    }

    /// Reads one of this or an earlier version.
    pub(crate) fn from_json(bytes: &[u8]) -> serde_json::Result<Summary> {
        let mut summary: Summary = serde_json::from_slice(bytes)?;
        if let Some(guide) = &mut summary.guide
            && summary.timeline.is_empty()
        {
            summary.timeline = std::mem::take(&mut guide.growth);
        }
        Ok(summary)
    }

    /// Whether the campaign is running at this moment, on this machine. A campaign that was killed is not, though its
    /// summary was written while it ran.
    pub fn is_running(&self) -> bool {
        self.running.as_ref().is_some_and(|running| {
            dissent_engine::process_start(running.process) == Some(running.process_start)
        })
    }

    /// As it is on disk.
    pub fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The bugs that were not known before.
    pub fn new_findings(&self) -> impl Iterator<Item = &FindingLine> {
        self.findings.iter().filter(|finding| finding.known.is_none())
    }
}

/// An oracle that never came to a verdict is shown with its zero, not left out.
fn checks(config: &Config, tally: &Tally) -> BTreeMap<Label, u64> {
    let mut checks: BTreeMap<Label, u64> =
        config.oracles.iter().map(|name| (Label::Owned(name.clone()), 0)).collect();
    checks.extend(tally.oracles.iter().map(|(name, oracle)| (name.clone(), oracle.checks)));
    checks.insert(Label::Borrowed("total"), tally.checks());
    checks
}

fn skips(tally: &Tally) -> BTreeMap<Label, BTreeMap<Label, u64>> {
    let skipping = tally.oracles.iter().filter(|(_, oracle)| !oracle.skips.is_empty());
    skipping.map(|(name, oracle)| (name.clone(), oracle.skips.clone())).collect()
}

fn notes(tally: &Tally) -> BTreeMap<String, u64> {
    let counted = tally.counts.notes.iter().filter(|(note, _)| !note.starts_with("predicates "));
    let counted = counted.map(|(note, count)| (note.to_string(), *count));
    let varied = tally.counts.variety.iter().map(|(what, which)| (what.to_string(), which.len() as u64));
    counted.chain(varied).collect()
}

impl OperationFigures {
    pub(crate) fn new(kept: &KeptCatalog, tally: &Tally) -> OperationFigures {
        let usable = |number: &u32| {
            kept.catalog.operations.get(*number as usize).is_some_and(|operation| operation.is_usable())
        };
        let drawn = || tally.operations.iter().filter(|(number, _)| usable(number));
        OperationFigures {
            discovered: kept.catalog.operations.len(),
            usable: kept.catalog.usable().count(),
            names: Some(kept.catalog.usable_names()),
            seen: drawn().filter(|(_, (_, valid))| *valid > 0).count(),
            only_failing: drawn().filter(|(_, (_, valid))| *valid == 0).count(),
        }
    }
}

impl PredicateFigures {
    fn new(tally: &Tally) -> PredicateFigures {
        let noted = |note: &str| tally.counts.notes.get(note).copied().unwrap_or(0);
        PredicateFigures {
            none: noted(norec::SELECTS_NONE),
            some: noted(norec::SELECTS_SOME),
            all: noted(norec::SELECTS_ALL),
        }
    }
}

impl GuideFigures {
    fn new(config: &Config, dialect: &str, tally: &Tally) -> Option<GuideFigures> {
        let learned = &tally.learned;
        (config.guide != guide::Kind::None).then(|| GuideFigures {
            guide: config.guide,
            kept_what_was_new: !config.counts_only,
            seeds: config.all_seeds(dialect).count(),
            seeds_only: config.seeds_only,
            features: learned.features.len() as u64,
            kept: learned.kept,
            deepest: learned.deepest,
            changed_statements: learned.changed,
            changed_statements_ok: learned.changed_ok,
            rehearsed_statements: tally.counts.rehearsed,
            growth: Timeline::default(),
        })
    }
}

impl FindingLine {
    fn new(bug: &Bug) -> FindingLine {
        FindingLine {
            directory: bug.directory.display().to_string(),
            id: bug.id.clone(),
            oracle: bug.oracle.clone(),
            class: bug.class,
            title: bug.title.clone(),
            count: bug.count,
            statements: bug.statements,
            tokens: bug.tokens,
            signature: bug.signature.as_ref().map(ToString::to_string),
            known: bug.known.clone(),
        }
    }
}

/// Milliseconds are as exact as these figures are.
fn milli(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_written_before_there_was_a_timeline_is_read() {
        let old = r#"{"target": "sqlite", "statements": 9, "guide": {"guide": "plan", "kept_what_was_new": true,
            "seeds": 0, "seeds_only": false, "features": 7, "kept": 1, "deepest": 2, "changed_statements": 0,
            "changed_statements_ok": 0, "growth": [{"seconds": 5.0, "statements": 9, "features": 7}]}}"#;
        let summary = Summary::from_json(old.as_bytes()).unwrap();
        let sample = summary.timeline.last();
        assert_eq!((sample.seconds, sample.statements, sample.features), (5.0, 9, 7));
        assert!(!summary.is_running());
        let written = summary.json().unwrap();
        assert!(!written.contains("growth") && !written.contains("running"), "{written}");
        assert_eq!(Summary::from_json(written.as_bytes()).unwrap().timeline, summary.timeline);
    }

    #[test]
    fn only_the_process_that_wrote_it_makes_a_campaign_a_running_one() {
        let here = Running::here().unwrap();
        let running = |running| Summary { running: Some(running), ..Summary::default() }.is_running();
        assert!(running(here.clone()));
        // The number was given to another process since.
        assert!(!running(Running { process_start: here.process_start + 1, ..here.clone() }));
        assert!(!running(Running { process: u32::MAX, ..here }));
    }
}
