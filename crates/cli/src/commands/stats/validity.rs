//! `dissent stats validity`: how valid and how wide the statements of campaigns were, as a table.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use dissent_campaign::{OperationFigures, PredicateFigures, Summary, store};

use crate::numbers::{grouped, percent};

pub fn run(campaigns: &[PathBuf]) -> anyhow::Result<()> {
    let mut table = String::from(HEAD);
    for campaign in campaigns {
        table.push_str(&row(&store::read_summary(campaign)?));
    }
    std::io::stdout().lock().write_all(table.as_bytes())?;
    Ok(())
}

const HEAD: &str = "\
| target | statements | valid | usable operations (names) | seen in valid statements | keep no row / some / all | drawing |
| --- | --- | --- | --- | --- | --- | --- |
";

fn row(summary: &Summary) -> String {
    let target = summary.target.split_once('@').map_or(&*summary.target, |(engine, _)| engine);
    let (usable, seen) = match &summary.operations {
        Some(operations) => {
            let OperationFigures { usable, names, seen, .. } = operations;
            let names = names.map_or(String::new(), |names| format!(" ({})", grouped(names as u64)));
            let share = percent(*seen as u64, *usable as u64);
            (format!("{}{names}", grouped(*usable as u64)), format!("{} ({share})", grouped(*seen as u64)))
        }
        None => ("–".to_string(), "–".to_string()),
    };
    let PredicateFigures { none, some, all } = summary.predicates;
    let shares = [none, some, all].map(|part| percent(part, none + some + all).replace(" %", ""));
    let drawing = 100.0 * summary.generator_cpu_seconds / summary.worker_cpu_seconds.max(0.001);
    let mut row = String::new();
    let _ = writeln!(
        row,
        "| {target} {} | {} | {} | {usable} | {seen} | {} % | {drawing:.1} % of CPU |",
        summary.engine_version,
        grouped(summary.statements),
        percent(summary.statements_ok, summary.statements),
        shares.join(" / "),
    );
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(operations: &str) -> Summary {
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
            row(&measured(operations)),
            "| duckdb 1.5.6 | 12,345 | 99.0 % | 2,000 (576) | 1,500 (75.0 %) | 25.0 / 50.0 / 25.0 % | 2.5 % of CPU |\n"
        );
        let columns = |row: &str| row.matches('|').count();
        assert!(HEAD.lines().all(|line| columns(line) == columns(&row(&measured(operations)))));
    }

    #[test]
    fn a_campaign_of_an_engine_that_was_not_asked_has_no_operations() {
        assert!(row(&measured("")).contains("| 99.0 % | – | – | 25.0"));
    }
}
