//! What statements and subjects cost on an engine, as a dialect's file keeps it (`dissent_core::dialect::Costs`).

use std::fmt::Write;

use dissent_core::session::Spent;

use crate::worker::protocol::Tally;

/// A subject that costs less is counted as if it did not: an oracle that finds nothing to ask would be drawn for ever.
const LEAST_PART_OF_MEDIAN: f64 = 0.25;

/// The table `[costs]` that some hunts come to.
pub fn table<'a>(oracles: &[String], hunts: impl Iterator<Item = &'a Tally>) -> String {
    let (mut all, mut verdicts) = (dissent_core::session::Account::default(), Tally::default());
    for tally in hunts {
        all.add(tally.counts.account.clone());
        verdicts.add_verdicts(&tally.oracles);
    }
    let mut arms = Spent::default();
    let mut subjects = Vec::new();
    for name in oracles {
        let spent = all.checks.get(name.as_str()).copied().unwrap_or_default();
        arms += spent.arms;
        let said = verdicts.oracles.get(name.as_str());
        let drawn = said.map_or(0, |said| said.checks + said.skips.values().sum::<u64>());
        if spent.nanos() > 0 && drawn > 0 {
            subjects.push((name, spent.nanos() as f64 / 1e3 / drawn as f64));
        }
    }
    let least = LEAST_PART_OF_MEDIAN * median(subjects.iter().map(|(_, cost)| *cost).collect());
    let mut table = String::from("[costs]\n");
    for (name, spent) in [("reset", all.reset), ("build", all.build), ("query", arms), ("explain", all.guide)]
    {
        let _ = writeln!(table, "{name} = {:.0}", micros(spent).max(1.0));
    }
    table += "\n[costs.oracles]\n";
    for (name, cost) in &subjects {
        let _ = writeln!(table, "{name} = {:.0}", cost.max(least).max(1.0));
    }
    table
}

fn micros(spent: Spent) -> f64 {
    spent.nanos as f64 / 1e3 / spent.statements.max(1) as f64
}

fn median(mut costs: Vec<f64>) -> f64 {
    costs.sort_by(f64::total_cmp);
    costs.get(costs.len() / 2).copied().unwrap_or(0.0)
}
