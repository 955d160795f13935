//! The end of a campaign in figures.

use std::collections::BTreeMap;

use dissent_core::finding::Class;
use dissent_core::guide;
use dissent_core::oracle::norec;
use serde::{Deserialize, Serialize};

use super::{Growth, Outcome, Plan};
use crate::worker::protocol::Label;

/// `summary.json`, and what `--summary json` prints.
#[derive(Serialize)]
pub struct Summary {
    pub target: String,
    pub engine_version: String,
    pub seed: u64,
    pub jobs: u64,
    pub wall_seconds: f64,
    /// Processor time of the worker processes, as the kernel counted it when they ended.
    pub worker_cpu_seconds: f64,
    /// The same of the processes in which findings were reduced.
    pub reducer_cpu_seconds: f64,
    /// The engine's part of `worker_cpu_seconds`. A worker measures the wall time it spends inside the
    /// engine (two readings of the clock per statement); asking the kernel for processor time instead
    /// would cost a system call per statement. The share of the worker's wall time is taken as the share
    /// of its processor time: a worker is one thread that hardly ever waits, so both stretch alike when
    /// the machine is busy.
    pub engine_cpu_seconds: f64,
    /// The part of `worker_cpu_seconds` that drew statements, taken in the same way.
    pub generator_cpu_seconds: f64,
    /// What the engine can compute and what of it was used; absent for an engine that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<OperationFigures>,
    pub predicates: PredicateFigures,
    pub databases: u64,
    pub cases: u64,
    pub statements: u64,
    pub statements_ok: u64,
    pub checks: BTreeMap<Label, u64>,
    pub nonempty_checks: u64,
    pub skips: BTreeMap<Label, BTreeMap<Label, u64>>,
    pub errors: BTreeMap<&'static str, u64>,
    /// What oracles counted beside their verdicts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, u64>,
    /// What was learned; absent where nothing was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guide: Option<GuideFigures>,
    pub findings: Vec<FindingLine>,
    pub unstable: u64,
    /// Findings that came while too many were waiting to be reduced; counted only.
    pub not_kept: u64,
    /// Findings on disk that are not reduced and likely bugs of this list.
    pub waiting: u64,
    /// What went wrong with workers for a reason of Dissent's own, in words.
    pub worker_failures: Vec<String>,
}

#[derive(Serialize, Deserialize)]
pub struct OperationFigures {
    pub discovered: usize,
    pub usable: usize,
    /// The different names among the usable ones; older summaries do not tell.
    #[serde(default)]
    pub names: Option<usize>,
    /// Usable ones that were in a case all of whose statements succeeded.
    pub seen: usize,
    /// Usable ones that were drawn and always in a case with a statement that failed.
    pub only_failing: usize,
}

#[derive(Serialize)]
pub struct GuideFigures {
    pub guide: guide::Kind,
    /// What was new was kept and changed, not only counted.
    pub kept_what_was_new: bool,
    pub seeds: usize,
    pub seeds_only: bool,
    pub features: u64,
    pub kept: u64,
    /// How often the entry of the corpus that was changed most often was changed.
    pub deepest: u32,
    pub changed_statements: u64,
    pub changed_statements_ok: u64,
    /// Statements that found out what to keep; they are not counted among the hunt's.
    pub rehearsed_statements: u64,
    pub growth: Vec<Growth>,
}

/// Of NoREC's predicates over relations of several rows: how many keep which part of them.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct PredicateFigures {
    pub none: u64,
    pub some: u64,
    pub all: u64,
}

#[derive(Serialize)]
pub struct FindingLine {
    pub id: String,
    pub oracle: String,
    pub class: Class,
    /// How many findings were this bug.
    pub count: u64,
    pub statements: usize,
    pub tokens: usize,
    pub signature: Option<String>,
    /// The known bug or behaviour it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    pub directory: String,
}

impl Summary {
    pub fn new(plan: &Plan, outcome: &Outcome) -> Summary {
        let Outcome {
            tally,
            bugs,
            unstable,
            not_kept,
            waiting,
            failures,
            wall,
            worker_cpu_seconds,
            reducer_cpu_seconds,
            growth,
        } = outcome;
        let noted = |note: &str| tally.counts.notes.get(note).copied().unwrap_or(0);
        let predicates = PredicateFigures {
            none: noted(norec::SELECTS_NONE),
            some: noted(norec::SELECTS_SOME),
            all: noted(norec::SELECTS_ALL),
        };
        let operations = plan.catalog.as_ref().map(|kept| {
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
        });
        let share = |nanos: u64| (nanos as f64 / (tally.wall_nanos as f64).max(1.0)).min(1.0);
        let engine_share = tally.counts.engine_nanos as f64 / (tally.wall_nanos as f64).max(1.0);
        // An oracle that never came to a verdict is shown with its zero, not left out.
        let mut checks: BTreeMap<Label, u64> =
            plan.oracles.iter().map(|name| (Label::Owned(name.clone()), 0)).collect();
        checks.extend(tally.oracles.iter().map(|(name, oracle)| (name.clone(), oracle.checks)));
        checks.insert(Label::Borrowed("total"), tally.checks());
        Summary {
            target: plan.target.clone(),
            engine_version: plan.engine_version.clone(),
            seed: plan.seed,
            jobs: plan.jobs,
            wall_seconds: milli(wall.as_secs_f64()),
            worker_cpu_seconds: milli(*worker_cpu_seconds),
            reducer_cpu_seconds: milli(*reducer_cpu_seconds),
            engine_cpu_seconds: milli(worker_cpu_seconds * engine_share.min(1.0)),
            generator_cpu_seconds: milli(worker_cpu_seconds * share(tally.counts.generator_nanos)),
            operations,
            predicates,
            databases: tally.databases,
            cases: tally.cases,
            statements: tally.counts.statements,
            statements_ok: tally.counts.statements_ok,
            checks,
            nonempty_checks: tally.nonempty(),
            errors: tally.counts.errors.iter().map(|(class, count)| (class.name(), *count)).collect(),
            notes: tally
                .counts
                .notes
                .iter()
                .filter(|(note, _)| !note.starts_with("predicates "))
                .map(|(note, count)| (note.to_string(), *count))
                .chain(
                    tally.counts.variety.iter().map(|(what, which)| (what.to_string(), which.len() as u64)),
                )
                .collect(),
            skips: tally
                .oracles
                .iter()
                .filter(|(_, oracle)| !oracle.skips.is_empty())
                .map(|(name, oracle)| (name.clone(), oracle.skips.clone()))
                .collect(),
            guide: (plan.guidance.guide != guide::Kind::None).then(|| GuideFigures {
                guide: plan.guidance.guide,
                kept_what_was_new: !plan.guidance.counts_only,
                seeds: plan.guidance.seeds.len(),
                seeds_only: plan.guidance.seeds_only,
                features: tally.learned.features.len() as u64,
                kept: tally.learned.kept,
                deepest: tally.learned.deepest,
                changed_statements: tally.learned.changed,
                changed_statements_ok: tally.learned.changed_ok,
                rehearsed_statements: tally.counts.rehearsed,
                growth: growth.clone(),
            }),
            findings: bugs
                .iter()
                .map(|bug| FindingLine {
                    directory: bug.directory.display().to_string(),
                    id: bug.id.clone(),
                    oracle: bug.oracle.clone(),
                    class: bug.class,
                    count: bug.count,
                    statements: bug.statements,
                    tokens: bug.tokens,
                    signature: bug.signature.as_ref().map(ToString::to_string),
                    known: bug.known.clone(),
                })
                .collect(),
            unstable: *unstable,
            not_kept: *not_kept,
            waiting: *waiting,
            worker_failures: failures.clone(),
        }
    }

    pub fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The bugs that were not known before.
    pub fn new_findings(&self) -> impl Iterator<Item = &FindingLine> {
        self.findings.iter().filter(|finding| finding.known.is_none())
    }
}

/// Milliseconds are as exact as these figures are.
fn milli(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
