//! The end of a campaign as a table for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use dissent_campaign::{GuideFigures, OperationFigures, PredicateFigures, Summary, TimeFigures};
use dissent_core::oracle::epsc;

use crate::numbers::{by_class, clock, grouped, percent, short};

/// What `dissent hunt` prints at its end.
pub fn text(summary: &Summary, out_directory: &str) -> String {
    let mut table = Table::default();
    table.row("target", format!("{} (version {})", summary.target, summary.engine_version));
    table.row("seed", summary.seed.to_string());
    table.row("time", time_line(summary));
    table.row("spent", spent_line(&summary.time));
    table.row("databases", grouped(summary.databases));
    statements(summary, &mut table);
    verdicts(summary, &mut table);
    variety(summary, &mut table);
    if let Some(guide) = &summary.guide {
        table.row("guide", guide_line(guide));
    }
    findings(summary, &mut table);
    table.row("output", out_directory.to_string());
    if let Some(first) = summary.new_findings().next() {
        table.row("next", format!("dissent replay {}", shell_word(&first.directory)));
    }
    table.out
}

/// So many in a second.
fn rate(count: u64, summary: &Summary) -> String {
    short(count as f64 / summary.wall_seconds.max(0.001))
}

fn statements(summary: &Summary, table: &mut Table) {
    let Summary { statements, statements_ok, errors, .. } = summary;
    let valid = percent(*statements_ok, *statements);
    let rate = rate(*statements, summary);
    table.row("statements", format!("{} ({rate}/s, {valid} valid)", grouped(*statements)));
    table.row("errors", counted(errors.iter().map(|(class, count)| (&**class, *count))));
}

fn verdicts(summary: &Summary, table: &mut Table) {
    let total = summary.checks.get("total").copied().unwrap_or(0);
    let nonempty = percent(summary.nonempty_checks, total);
    table.row("checks", format!("{} ({}/s, {nonempty} with rows)", grouped(total), rate(total, summary)));
    for (name, count) in summary.checks.iter().filter(|(name, _)| *name != "total") {
        table.row(&format!("  {name}"), grouped(*count));
    }
    let skipped: u64 = summary.skips.values().flat_map(BTreeMap::values).sum();
    table.row("skips", grouped(skipped));
    for (name, reasons) in &summary.skips {
        let reasons = reasons.iter().map(|(reason, count)| (&**reason, *count));
        table.row(&format!("  {name}"), counted(reasons));
    }
}

/// How different what was drawn is.
fn variety(summary: &Summary, table: &mut Table) {
    if let Some(OperationFigures { discovered, usable, seen, .. }) = &summary.operations {
        let share = percent(*seen as u64, *usable as u64);
        let (usable, discovered) = (grouped(*usable as u64), grouped(*discovered as u64));
        table.row("operations", format!("{seen} seen of {usable} usable ({share}), {discovered} discovered"));
    }
    if !summary.draws.is_empty() {
        let missing = summary.draws.missing().count();
        let all = dissent_core::profile::choices().len();
        table.row("choices", format!("{missing} of {all} never drawn (see `dissent stats drawn`)"));
    }
    let PredicateFigures { none, some, all } = summary.predicates;
    if none + some + all > 0 {
        let [none, some, all] = [none, some, all].map(|part| percent(part, none + some + all));
        table.row("predicates", format!("{none} keep no row, {some} some, {all} all"));
    }
    let noted = |note: &str| summary.notes.get(note).copied().unwrap_or(0);
    let changes = noted(epsc::CHANGES);
    if changes > 0 {
        let share = percent(noted(epsc::CHANGES_PREPARED), changes);
        table.row("prepared", format!("{share} of {} changes of rows", grouped(changes)));
    }
    if !summary.notes.is_empty() {
        table.row("notes", counted(summary.notes.iter().map(|(note, count)| (note.as_str(), *count))));
    }
}

fn findings(summary: &Summary, table: &mut Table) {
    table.row("findings", findings_line(summary));
    for finding in summary.new_findings() {
        let times = times(finding.count);
        let state = if finding.signature.is_some() { "" } else { ", not reduced" };
        let sizes = format!("{} statements, {} tokens{state}", finding.statements, finding.tokens);
        table.row(&format!("  {}", finding.class), format!("{} ({sizes}; seen {times})", finding.id));
    }
    let known = summary.findings.iter().filter_map(|finding| Some((finding.known.as_ref()?, finding.count)));
    for (id, count) in known {
        table.row("known", format!("{id} (seen {})", times(count)));
    }
    if summary.waiting > 0 {
        let words = "findings are not reduced and look like bugs above; --resume reduces them";
        table.row("waiting", format!("{} {words}", grouped(summary.waiting)));
    }
    table.row("unstable", grouped(summary.unstable));
    if !summary.worker_failures.is_empty() {
        table.row("failures", format!("{} (see above)", summary.worker_failures.len()));
    }
}

fn time_line(summary: &Summary) -> String {
    let wall = clock(std::time::Duration::from_secs_f64(summary.wall_seconds));
    let workers =
        if summary.jobs == 1 { "1 worker".to_string() } else { format!("{} workers", summary.jobs) };
    let share = 100.0 * summary.engine_cpu_seconds / summary.worker_cpu_seconds.max(0.001);
    let drawing = 100.0 * summary.generator_cpu_seconds / summary.worker_cpu_seconds.max(0.001);
    format!(
        "{wall} ({workers}, {:.1} s CPU, {share:.0} % of it in the engine, {drawing:.0} % drawing statements)",
        summary.worker_cpu_seconds
    )
}

/// What the workers' time went into, the most useful first.
fn spent_line(time: &TimeFigures) -> String {
    let TimeFigures { useful, scaffolds, build, guide, rehearsal, confirm, generator, rest } = *time;
    let parts = [
        (useful, "questions"),
        (scaffolds, "their tables and settings"),
        (build, "building databases"),
        (guide, "guide"),
        (rehearsal, "rehearsal"),
        (confirm, "confirming"),
        (generator, "drawing"),
        (rest, "the rest"),
    ];
    let parts = parts.iter().filter(|(part, _)| *part >= 0.005);
    let parts: Vec<String> = parts.map(|(part, what)| format!("{:.0} % {what}", 100.0 * part)).collect();
    parts.join(", ")
}

fn findings_line(summary: &Summary) -> String {
    let mut classes = BTreeMap::new();
    for finding in summary.new_findings() {
        *classes.entry(finding.class).or_insert(0) += 1;
    }
    if classes.is_empty() {
        return "none".to_string();
    }
    let seen: u64 = summary.new_findings().map(|finding| finding.count).sum();
    let more = if summary.not_kept > 0 {
        format!(", and {} that came too fast to be kept", grouped(summary.not_kept))
    } else {
        String::new()
    };
    let bugs = summary.new_findings().count();
    let plural = if bugs == 1 { "bug" } else { "bugs" };
    format!("{bugs} {plural}: {} (seen {}{more})", by_class(&classes), times(seen))
}

fn guide_line(learned: &GuideFigures) -> String {
    let seen = format!("{} {} seen", grouped(learned.features), learned.guide.features());
    if !learned.kept_what_was_new {
        return format!("{seen}, nothing learned from them");
    }
    let valid = percent(learned.changed_statements_ok, learned.changed_statements);
    let changed = grouped(learned.changed_statements);
    let kept = grouped(learned.kept);
    let rehearsed = grouped(learned.rehearsed_statements);
    format!(
        "{seen}; {kept} databases kept ({rehearsed} statements), changed up to {} times ({changed} statements, \
         {valid} valid)",
        learned.deepest
    )
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_string() } else { format!("{} times", grouped(count)) }
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
