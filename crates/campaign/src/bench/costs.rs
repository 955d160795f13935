//! What statements and subjects cost on an engine, as a dialect's file keeps it (`dissent_core::dialect::Costs`).

use std::fmt::Write;

use dissent_core::session::{Account, Spent};

use crate::worker::protocol::Tally;

/// A subject that costs less is counted as if it did not: an oracle that finds nothing to ask would be drawn for ever.
const LEAST_PART_OF_MEDIAN: f64 = 0.25;

/// The table `[costs]` that some hunts come to; `explain` is that of others, as well.
pub fn table(oracles: &[String], hunts: &[&Tally], guided: &[&Tally]) -> String {
    let (mut all, mut verdicts) = (Account::default(), Tally::default());
    for tally in hunts {
        all.add(tally.counts.account.clone());
        verdicts.add_verdicts(&tally.oracles);
    }
    guided.iter().for_each(|tally| all.guide += tally.counts.account.guide);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::protocol::OracleTally;
    use dissent_core::session::Checking;

    #[test]
    fn only_explain_is_taken_from_a_guided_hunt() {
        let spent = |statements, micros: u64| Spent { statements, nanos: micros * 1000 };
        let hunt = |build, guide| {
            let mut tally = Tally::default();
            tally.counts.account = Account { build: spent(10, build), guide, ..Account::default() };
            let arms = Checking { arms: spent(4, 400), scaffolds: Spent::default() };
            tally.counts.account.checks.insert("norec".into(), arms);
            tally.oracles.insert("norec".into(), OracleTally { checks: 2, ..OracleTally::default() });
            tally
        };
        let (plain, guided) = (hunt(100, Spent::default()), hunt(9000, spent(2, 14)));
        let table = table(&["norec".to_string()], &[&plain], &[&guided]);
        assert_eq!(
            table,
            "[costs]\nreset = 1\nbuild = 10\nquery = 100\nexplain = 7\n\n[costs.oracles]\nnorec = 200\n"
        );
    }
}
