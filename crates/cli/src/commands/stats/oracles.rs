//! `dissent stats oracles` and `dissent stats skips`: what each oracle did, and why it did not do more.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use dissent_campaign::{Label, Summary, store};

use crate::commands::findings::campaigns;
use crate::numbers::{grouped, percent};

/// One line per oracle, over all campaigns together.
pub fn run(named: Vec<PathBuf>) -> anyhow::Result<()> {
    print(&verdicts(&figures(named)?))
}

/// One line per reason.
pub fn skips(named: Vec<PathBuf>) -> anyhow::Result<()> {
    print(&reasons(&figures(named)?))
}

fn print(table: &str) -> anyhow::Result<()> {
    Ok(std::io::stdout().lock().write_all(table.as_bytes())?)
}

#[derive(Default)]
struct Figures {
    checks: u64,
    statements: u64,
    engine_seconds: f64,
    bugs: u64,
    seen: u64,
    skips: BTreeMap<Label, u64>,
}

impl Figures {
    fn skipped(&self) -> u64 {
        self.skips.values().sum()
    }

    fn cases(&self) -> u64 {
        self.checks + self.skipped()
    }
}

fn figures(named: Vec<PathBuf>) -> anyhow::Result<BTreeMap<String, Figures>> {
    let mut oracles = BTreeMap::new();
    for campaign in campaigns(named)? {
        add(&mut oracles, store::read_summary(&campaign)?);
    }
    Ok(oracles)
}

fn add(oracles: &mut BTreeMap<String, Figures>, summary: Summary) {
    for (oracle, checks) in summary.checks.into_iter().filter(|(oracle, _)| oracle != "total") {
        oracles.entry(oracle.into_owned()).or_default().checks += checks;
    }
    for (oracle, reasons) in summary.skips {
        let figures = oracles.entry(oracle.into_owned()).or_default();
        reasons.into_iter().for_each(|(reason, count)| *figures.skips.entry(reason).or_insert(0) += count);
    }
    for (oracle, spent) in summary.oracles {
        let figures = oracles.entry(oracle.into_owned()).or_default();
        figures.statements += spent.statements;
        figures.engine_seconds += spent.engine_seconds;
    }
    for bug in summary.findings {
        let figures = oracles.entry(bug.oracle).or_default();
        figures.bugs += 1;
        figures.seen += bug.count;
    }
}

fn verdicts(oracles: &BTreeMap<String, Figures>) -> String {
    let total: f64 = oracles.values().map(|figures| figures.engine_seconds).sum();
    let mut table = String::from(
        "| oracle | time | of all | checks | statements | skipped | of its cases | bugs | seen |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (oracle, figures) in oracles {
        let _ = writeln!(
            table,
            "| {oracle} | {:.1} s | {:.1} % | {} | {} | {} | {} | {} | {} |",
            figures.engine_seconds,
            100.0 * figures.engine_seconds / total.max(0.001),
            grouped(figures.checks),
            grouped(figures.statements),
            grouped(figures.skipped()),
            percent(figures.skipped(), figures.cases()),
            grouped(figures.bugs),
            grouped(figures.seen),
        );
    }
    table
}

/// The most frequent reason of each oracle first.
fn reasons(oracles: &BTreeMap<String, Figures>) -> String {
    let mut table =
        String::from("| oracle | skipped because | cases | of its cases |\n| --- | --- | ---: | ---: |\n");
    for (oracle, figures) in oracles {
        let mut reasons: Vec<(&Label, u64)> =
            figures.skips.iter().map(|(reason, count)| (reason, *count)).collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (reason, count) in reasons {
            let share = percent(count, figures.cases());
            let _ = writeln!(table, "| {oracle} | {reason} | {} | {share} |", grouped(count));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn campaigns_add_up() {
        let summary = || {
            serde_json::from_value(json!({
                "checks": {"norec": 600, "edc": 0, "total": 600},
                "oracles": {"norec": {"statements": 1300, "engine_seconds": 1.25}},
                "skips": {"norec": {"both arms fail": 150, "no rows": 250}},
                "findings": [{
                    "id": "norec-wrong-rows-1", "oracle": "norec", "class": "wrong-rows", "count": 7,
                    "statements": 1, "tokens": 2, "signature": null, "directory": "",
                }],
            }))
            .unwrap()
        };
        let mut oracles = BTreeMap::new();
        add(&mut oracles, summary());
        add(&mut oracles, summary());
        insta::assert_snapshot!(format!("{}\n{}", verdicts(&oracles), reasons(&oracles)));
    }
}
