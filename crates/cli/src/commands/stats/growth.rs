//! `dissent stats growth`: how what the guides of campaigns saw grew.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dissent_campaign::{GuideFigures, record, store};
use dissent_core::report::growth::{self, Curve};

use crate::numbers::{grouped, percent};

/// Prints a table; the drawing goes to the file.
pub fn run(campaigns: &[PathBuf], out: Option<&Path>) -> anyhow::Result<()> {
    let mut curves = Vec::new();
    let mut lines = String::new();
    let mut what = None;
    for campaign in campaigns {
        let summary = store::read_summary(campaign)?;
        let learned = summary.guide.with_context(|| {
            format!("{} had no guide: hunt with --guide coverage or --guide plan", campaign.display())
        })?;
        if *what.get_or_insert(learned.guide) != learned.guide {
            bail!("coverage and plans cannot be compared: give campaigns that used the same guide");
        }
        let name = name(&learned);
        lines.push_str(&format!(
            "| {name} | {}, {} workers | {} ({} valid) | {} | {} | {} ({} valid) |\n",
            summary.target,
            summary.jobs,
            grouped(summary.statements),
            percent(summary.statements_ok, summary.statements),
            grouped(learned.kept),
            learned.deepest,
            grouped(learned.changed_statements),
            percent(learned.changed_statements_ok, learned.changed_statements),
        ));
        let points =
            summary.timeline.samples().iter().map(|moment| (moment.seconds, moment.features)).collect();
        curves.push(Curve { name, points });
    }
    let Some(what) = what else { bail!("name the campaigns to compare") };
    let head = "| hunt | of | statements | kept | most mutations of one | statements of mutated databases |\n\
                | --- | --- | --- | --- | --- | --- |\n";
    let text = format!("{}\n{head}{lines}", growth::table(&curves, what.features()));
    std::io::stdout().lock().write_all(text.as_bytes())?;
    if let Some(path) = out {
        record::replace(path, &growth::svg(&curves, what.features()))?;
    }
    Ok(())
}

fn name(learned: &GuideFigures) -> String {
    let name = if learned.kept_what_was_new { "guided" } else { "unguided" };
    match (learned.seeds_only, learned.seeds) {
        (true, _) => format!("{name}, seeds only"),
        (false, 0) => name.to_string(),
        (false, _) => format!("{name}, with seeds"),
    }
}
