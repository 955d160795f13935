//! `dissent engines measured`: how valid and how wide the statements of campaigns were, as a table.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use serde::Deserialize;

use crate::progress::{grouped, percent};
use dissent_campaign::store;
use dissent_campaign::summary::{OperationFigures, PredicateFigures};

/// What the table needs of a campaign's `summary.json`.
#[derive(Deserialize)]
struct Measured {
    target: String,
    engine_version: String,
    statements: u64,
    statements_ok: u64,
    #[serde(default)]
    operations: Option<OperationFigures>,
    predicates: PredicateFigures,
    worker_cpu_seconds: f64,
    generator_cpu_seconds: f64,
}

pub fn run(campaigns: &[PathBuf]) -> anyhow::Result<()> {
    let mut table = String::from(HEAD);
    for campaign in campaigns {
        let measured: Measured = store::read_summary(campaign)?;
        table.push_str(&measured.row());
    }
    std::io::stdout().lock().write_all(table.as_bytes())?;
    Ok(())
}

const HEAD: &str = "\
| target | statements | valid | usable operations (names) | seen in valid statements | keep no row / some / all | drawing |
| --- | --- | --- | --- | --- | --- | --- |
";

impl Measured {
    fn row(&self) -> String {
        let target = self.target.split_once('@').map_or(&*self.target, |(engine, _)| engine);
        let (usable, seen) = match &self.operations {
            Some(operations) => {
                let OperationFigures { usable, names, seen, .. } = operations;
                let names = names.map_or(String::new(), |names| format!(" ({})", grouped(names as u64)));
                let share = percent(*seen as u64, *usable as u64);
                (
                    format!("{}{names}", grouped(*usable as u64)),
                    format!("{} ({share})", grouped(*seen as u64)),
                )
            }
            None => ("–".to_string(), "–".to_string()),
        };
        let PredicateFigures { none, some, all } = self.predicates;
        let shares = [none, some, all].map(|part| percent(part, none + some + all).replace(" %", ""));
        let drawing = 100.0 * self.generator_cpu_seconds / self.worker_cpu_seconds.max(0.001);
        let mut row = String::new();
        let _ = writeln!(
            row,
            "| {target} {} | {} | {} | {usable} | {seen} | {} % | {drawing:.1} % of CPU |",
            self.engine_version,
            grouped(self.statements),
            percent(self.statements_ok, self.statements),
            shares.join(" / "),
        );
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(operations: &str) -> Measured {
        let json = format!(
            r#"{{"target": "duckdb@1.5.6", "engine_version": "1.5.6", "statements": 12345, "statements_ok": 12222,
            {operations} "predicates": {{"none": 1, "some": 2, "all": 1}}, "worker_cpu_seconds": 20.0,
            "generator_cpu_seconds": 0.5, "seed": 1}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn a_campaign_is_a_row() {
        let operations = r#""operations": {"discovered": 3000, "usable": 2000, "names": 576, "seen": 1500, "only_failing": 1},"#;
        assert_eq!(
            measured(operations).row(),
            "| duckdb 1.5.6 | 12,345 | 99.0 % | 2,000 (576) | 1,500 (75.0 %) | 25.0 / 50.0 / 25.0 % | 2.5 % of CPU |\n"
        );
        let columns = |row: &str| row.matches('|').count();
        assert!(HEAD.lines().all(|line| columns(line) == columns(&measured(operations).row())));
    }

    #[test]
    fn a_campaign_of_an_engine_that_was_not_asked_has_no_operations() {
        assert!(measured("").row().contains("| 99.0 % | – | – | 25.0"));
    }
}
