//! `dissent stats counters`: every other figure that a campaign kept.

use std::io::Write;
use std::path::PathBuf;

use dissent_campaign::{GuideFigures, OperationFigures, PredicateFigures, Summary, store};
use dissent_core::oracle::epsc;
use dissent_core::profile;

use crate::commands::findings::campaigns;
use crate::numbers::{grouped, percent};

pub fn run(named: Vec<PathBuf>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for campaign in campaigns(named)? {
        let summary = store::read_summary(&campaign)?;
        writeln!(out, "| {} | |\n| --- | --- |", campaign.display())?;
        for (name, value) in rows(&summary) {
            writeln!(out, "| {name} | {value} |")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn rows(summary: &Summary) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    time(summary, &mut rows);
    variety(summary, &mut rows);
    if let Some(guide) = &summary.guide {
        learned(guide, &mut rows);
    }
    for (class, count) in &summary.errors {
        rows.push((format!("errors: {class}"), grouped(*count)));
    }
    for (note, count) in &summary.notes {
        rows.push((note.clone(), grouped(*count)));
    }
    rows
}

type Rows = Vec<(String, String)>;

fn time(summary: &Summary, rows: &mut Rows) {
    let workers = summary.worker_cpu_seconds;
    let share = |seconds: f64| format!("{seconds:.1} s ({:.0} %)", 100.0 * seconds / workers.max(0.001));
    rows.push(("processor time of workers".to_string(), format!("{workers:.1} s")));
    rows.push(("in the engine".to_string(), share(summary.engine_cpu_seconds)));
    rows.push(("drawing statements".to_string(), share(summary.generator_cpu_seconds)));
    rows.push(("processor time of reductions".to_string(), format!("{:.1} s", summary.reducer_cpu_seconds)));
}

/// How different what was drawn is.
fn variety(summary: &Summary, rows: &mut Rows) {
    if let Some(OperationFigures { discovered, usable, seen, .. }) = &summary.operations {
        let share = percent(*seen as u64, *usable as u64);
        let [seen, usable, discovered] = [seen, usable, discovered].map(|number| grouped(*number as u64));
        let value = format!("{seen} of {usable} usable ({share}); the engine has {discovered}");
        rows.push(("operations used".to_string(), value));
    }
    if !summary.draws.is_empty() {
        let (missing, all) = (summary.draws.missing().count(), profile::choices().len());
        rows.push(("choices never drawn".to_string(), format!("{missing} of {all} (`dissent stats drawn`)")));
    }
    let PredicateFigures { none, some, all } = summary.predicates;
    if none + some + all > 0 {
        let [none, some, all] = [none, some, all].map(|part| percent(part, none + some + all));
        let value = format!("no row: {none}, some: {some}, all: {all}");
        rows.push(("what predicates keep".to_string(), value));
    }
    let noted = |note: &str| summary.notes.get(note).copied().unwrap_or(0);
    let changes = noted(epsc::CHANGES);
    if changes > 0 {
        let share = percent(noted(epsc::CHANGES_PREPARED), changes);
        rows.push(("row changes that ran prepared".to_string(), share));
    }
}

fn learned(guide: &GuideFigures, rows: &mut Rows) {
    let valid = percent(guide.changed_statements_ok, guide.changed_statements);
    rows.push((format!("{} seen", guide.guide.features()), grouped(guide.features)));
    rows.push(("databases kept for mutation".to_string(), grouped(guide.kept)));
    rows.push(("most mutations of one database".to_string(), guide.deepest.to_string()));
    let changed = format!("{} ({valid} valid)", grouped(guide.changed_statements));
    rows.push(("statements of mutated databases".to_string(), changed));
    let rehearsed = grouped(guide.rehearsed_statements);
    rows.push(("statements run to decide what to keep".to_string(), rehearsed));
}
