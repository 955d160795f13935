//! The end of a campaign in figures: a table for people, JSON for programs.

use std::collections::BTreeMap;
use std::fmt::Write;

use dissent_core::finding::Class;
use dissent_core::guide;
use dissent_core::oracle::{epsc, norec};
use serde::{Deserialize, Serialize};

use super::progress::{by_class, grouped, percent, short};
use super::{Growth, Outcome, Plan};
use crate::duration;
use crate::worker::protocol::Label;

/// `summary.json`, and what `--summary json` prints.
#[derive(Serialize)]
pub struct Summary {
    target: String,
    engine_version: String,
    seed: u64,
    jobs: u64,
    wall_seconds: f64,
    /// Processor time of the worker processes, as the kernel counted it when they ended.
    worker_cpu_seconds: f64,
    /// The same of the processes in which findings were reduced.
    reducer_cpu_seconds: f64,
    /// The engine's part of `worker_cpu_seconds`. A worker measures the wall time it spends inside the
    /// engine (two readings of the clock per statement); asking the kernel for processor time instead
    /// would cost a system call per statement. The share of the worker's wall time is taken as the share
    /// of its processor time: a worker is one thread that hardly ever waits, so both stretch alike when
    /// the machine is busy.
    engine_cpu_seconds: f64,
    /// The part of `worker_cpu_seconds` that drew statements, taken in the same way.
    generator_cpu_seconds: f64,
    /// What the engine can compute and what of it was used; absent for an engine that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<OperationFigures>,
    predicates: PredicateFigures,
    databases: u64,
    cases: u64,
    statements: u64,
    statements_ok: u64,
    checks: BTreeMap<Label, u64>,
    nonempty_checks: u64,
    skips: BTreeMap<Label, BTreeMap<Label, u64>>,
    errors: BTreeMap<&'static str, u64>,
    /// What oracles counted beside their verdicts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    notes: BTreeMap<String, u64>,
    /// What was learned; absent where nothing was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    guide: Option<GuideFigures>,
    findings: Vec<FindingLine>,
    unstable: u64,
    /// Findings that came while too many were waiting to be reduced; counted only.
    not_kept: u64,
    /// Findings on disk that are not reduced and likely bugs of this list.
    waiting: u64,
    /// What went wrong with workers for a reason of Dissent's own, in words.
    worker_failures: Vec<String>,
}

#[derive(Serialize, Deserialize)]
pub struct OperationFigures {
    discovered: usize,
    pub usable: usize,
    /// The different names among the usable ones; older summaries do not tell.
    #[serde(default)]
    pub names: Option<usize>,
    /// Usable ones that were in a case all of whose statements succeeded.
    pub seen: usize,
    /// Usable ones that were drawn and always in a case with a statement that failed.
    only_failing: usize,
}

#[derive(Serialize)]
struct GuideFigures {
    guide: guide::Kind,
    /// What was new was kept and changed, not only counted.
    kept_what_was_new: bool,
    seeds: usize,
    seeds_only: bool,
    features: u64,
    kept: u64,
    /// How often the entry of the corpus that was changed most often was changed.
    deepest: u32,
    changed_statements: u64,
    changed_statements_ok: u64,
    /// Statements that found out what to keep; they are not counted among the hunt's.
    rehearsed_statements: u64,
    growth: Vec<Growth>,
}

/// Of NoREC's predicates over relations of several rows: how many keep which part of them.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct PredicateFigures {
    pub none: u64,
    pub some: u64,
    pub all: u64,
}

#[derive(Serialize)]
struct FindingLine {
    id: String,
    oracle: String,
    class: Class,
    /// How many findings were this bug.
    count: u64,
    statements: usize,
    tokens: usize,
    signature: Option<String>,
    /// The known bug or behaviour it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<String>,
    directory: String,
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
                    signature: bug.signature.clone(),
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

    pub fn text(&self, out_directory: &str) -> String {
        let mut table = Table::default();
        let wall = self.wall_seconds.max(0.001);
        let rate = |count: u64| short(count as f64 / wall);
        let total = self.checks.get("total").copied().unwrap_or(0);

        table.row("target", format!("{} (version {})", self.target, self.engine_version));
        table.row("seed", self.seed.to_string());
        table.row("time", self.time_line());
        table.row("databases", grouped(self.databases));
        let valid = percent(self.statements_ok, self.statements);
        table.row(
            "statements",
            format!("{} ({}/s, {valid} valid)", grouped(self.statements), rate(self.statements)),
        );
        table.row("errors", counted(self.errors.iter().map(|(class, count)| (*class, *count))));
        let nonempty = percent(self.nonempty_checks, total);
        table.row("checks", format!("{} ({}/s, {nonempty} with rows)", grouped(total), rate(total)));
        for (name, count) in self.checks.iter().filter(|(name, _)| *name != "total") {
            table.row(&format!("  {name}"), grouped(*count));
        }
        let skipped: u64 = self.skips.values().flat_map(BTreeMap::values).sum();
        table.row("skips", grouped(skipped));
        for (name, reasons) in &self.skips {
            let reasons = reasons.iter().map(|(reason, count)| (&**reason, *count));
            table.row(&format!("  {name}"), counted(reasons));
        }
        if let Some(OperationFigures { discovered, usable, seen, .. }) = &self.operations {
            let share = percent(*seen as u64, *usable as u64);
            let (usable, discovered) = (grouped(*usable as u64), grouped(*discovered as u64));
            table.row(
                "operations",
                format!("{seen} seen of {usable} usable ({share}), {discovered} discovered"),
            );
        }
        let PredicateFigures { none, some, all } = self.predicates;
        if none + some + all > 0 {
            let share = |part| percent(part, none + some + all);
            let shares = (share(none), share(some), share(all));
            table.row("predicates", format!("{} keep no row, {} some, {} all", shares.0, shares.1, shares.2));
        }
        let noted = |note: &str| self.notes.get(note).copied().unwrap_or(0);
        let changes = noted(epsc::CHANGES);
        if changes > 0 {
            let share = percent(noted(epsc::CHANGES_PREPARED), changes);
            table.row("prepared", format!("{share} of {} changes of rows", grouped(changes)));
        }
        if !self.notes.is_empty() {
            table.row("notes", counted(self.notes.iter().map(|(note, count)| (note.as_str(), *count))));
        }
        if let Some(guide) = &self.guide {
            table.row("guide", guide.line());
        }
        table.row("findings", self.findings_line());
        for finding in self.new_findings() {
            let times = times(finding.count);
            let state = if finding.signature.is_some() { "" } else { ", not reduced" };
            let sizes = format!("{} statements, {} tokens{state}", finding.statements, finding.tokens);
            table.row(&format!("  {}", finding.class), format!("{} ({sizes}; seen {times})", finding.id));
        }
        let known = self.findings.iter().filter_map(|finding| Some((finding.known.as_ref()?, finding.count)));
        for (id, count) in known {
            table.row("known", format!("{id} (seen {})", times(count)));
        }
        if self.waiting > 0 {
            let words = "findings are not reduced and look like bugs above; --resume goes on with them";
            table.row("waiting", format!("{} {words}", grouped(self.waiting)));
        }
        table.row("unstable", grouped(self.unstable));
        if !self.worker_failures.is_empty() {
            table.row("failures", format!("{} (see above)", self.worker_failures.len()));
        }
        table.row("output", out_directory.to_string());
        if let Some(first) = self.new_findings().next() {
            table.row("next", format!("dissent replay {}", shell_word(&first.directory)));
        }
        table.out
    }

    fn time_line(&self) -> String {
        let wall = duration::clock(std::time::Duration::from_secs_f64(self.wall_seconds));
        let workers = if self.jobs == 1 { "1 worker".to_string() } else { format!("{} workers", self.jobs) };
        let share = 100.0 * self.engine_cpu_seconds / self.worker_cpu_seconds.max(0.001);
        let drawing = 100.0 * self.generator_cpu_seconds / self.worker_cpu_seconds.max(0.001);
        format!(
            "{wall} ({workers}, {:.1} s CPU, {share:.0} % of it in the engine, {drawing:.0} % drawing statements)",
            self.worker_cpu_seconds
        )
    }

    /// The bugs that were not known before.
    fn new_findings(&self) -> impl Iterator<Item = &FindingLine> {
        self.findings.iter().filter(|finding| finding.known.is_none())
    }

    fn findings_line(&self) -> String {
        let mut classes = BTreeMap::new();
        for finding in self.new_findings() {
            *classes.entry(finding.class).or_insert(0) += 1;
        }
        if classes.is_empty() {
            return "none".to_string();
        }
        let seen: u64 = self.new_findings().map(|finding| finding.count).sum();
        let more = if self.not_kept > 0 {
            format!(", and {} that came too fast to be kept", grouped(self.not_kept))
        } else {
            String::new()
        };
        let bugs = self.new_findings().count();
        let plural = if bugs == 1 { "bug" } else { "bugs" };
        format!("{bugs} {plural}: {} (seen {}{more})", by_class(&classes), times(seen))
    }
}

impl GuideFigures {
    fn line(&self) -> String {
        let seen = format!("{} {} seen", grouped(self.features), self.guide.features());
        if !self.kept_what_was_new {
            return format!("{seen}, nothing learned from them");
        }
        let valid = percent(self.changed_statements_ok, self.changed_statements);
        let changed = grouped(self.changed_statements);
        let kept = grouped(self.kept);
        let rehearsed = grouped(self.rehearsed_statements);
        format!(
            "{seen}; {kept} databases kept ({rehearsed} statements), changed up to {} times ({changed} statements, \
             {valid} valid)",
            self.deepest
        )
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_string() } else { format!("{} times", grouped(count)) }
}

/// Milliseconds are as exact as these figures are.
fn milli(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// `constraint 1,203, limit 3`: the most frequent first.
fn counted<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> String {
    let mut counts: Vec<(&str, u64)> = counts.collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let parts: Vec<String> =
        counts.iter().map(|(name, count)| format!("{name} {}", grouped(*count))).collect();
    if parts.is_empty() { "none".to_string() } else { parts.join(", ") }
}

/// A path that can be pasted into a shell.
fn shell_word(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:=,".contains(c);
    if path.chars().all(plain) { path.to_string() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[derive(Default)]
struct Table {
    out: String,
}

impl Table {
    fn row(&mut self, name: &str, value: String) {
        let _ = writeln!(self.out, "{name:<16} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_comes_first() {
        let counts = [("limit", 3), ("constraint", 1203), ("runtime", 3)];
        assert_eq!(counted(counts.into_iter()), "constraint 1,203, limit 3, runtime 3");
        assert_eq!(counted([].into_iter()), "none");
    }

    #[test]
    fn paths_can_be_pasted_into_a_shell() {
        assert_eq!(shell_word("dissent-out/sqlite-1/findings/x"), "dissent-out/sqlite-1/findings/x");
        assert_eq!(shell_word("my out/it's"), "'my out/it'\\''s'");
    }
}
