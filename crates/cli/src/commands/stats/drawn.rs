//! `dissent stats drawn`: what the generator chose, and what it never did.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use dissent_campaign::{Summary, store};
use dissent_core::profile::{Draws, Outcomes, choices, shares, sizes};

use crate::numbers::grouped;

pub fn run(campaigns: &[PathBuf]) -> anyhow::Result<()> {
    let (mut draws, mut outcomes) = (Draws::default(), Outcomes::default());
    for campaign in campaigns {
        let summary: Summary = store::read_summary(campaign)?;
        draws.add(&summary.draws);
        outcomes.add(&summary.outcomes);
    }
    let text = if campaigns.is_empty() { weights() } else { counts(&draws, &outcomes) };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Everything that a profile can set.
fn weights() -> String {
    let mut table = String::from("| choice | weight |\n| --- | --- |\n");
    for choice in choices() {
        let _ = writeln!(table, "| {} | {} |", choice.name, choice.weight);
    }
    for (name, size) in sizes().chain(shares()) {
        let _ = writeln!(table, "| {name} | {size} |");
    }
    table
}

/// In the order of the code; what was never drawn is listed again at the end. `cases` counts the cases with the choice,
/// `valid` those that the engine took, `checked` those that came to a check with rows.
fn counts(draws: &Draws, outcomes: &Outcomes) -> String {
    let mut table = String::from(
        "| choice | weight | drawn | cases | valid | checked |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for choice in choices() {
        let counts = [draws, &outcomes.run, &outcomes.valid, &outcomes.checked];
        let counts = counts.map(|counts| grouped(counts.count(&choice.name))).join(" | ");
        let _ = writeln!(table, "| {} | {} | {counts} |", choice.name, choice.weight);
    }
    let missing: Vec<&str> = draws.missing().map(|choice| choice.name.as_str()).collect();
    let _ = match missing.as_slice() {
        [] => writeln!(table, "\nEvery choice was drawn."),
        names => writeln!(table, "\nNever drawn ({}): {}.", names.len(), names.join(", ")),
    };
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_drawn_is_named() {
        let draws: Draws = serde_json::from_str(r#"{"query.comma": 1234}"#).unwrap();
        let outcomes: Outcomes = serde_json::from_str(
            r#"{"run": {"query.comma": 15}, "valid": {"query.comma": 12}, "checked": {"query.comma": 3}}"#,
        )
        .unwrap();
        let table = counts(&draws, &outcomes);
        assert!(table.contains("| query.comma | 30 | 1,234 | 15 | 12 | 3 |"), "{table}");
        let missing = table.lines().last().unwrap();
        assert!(missing.starts_with("Never drawn (") && !missing.contains(" query.comma,"), "{missing}");
    }
}
