//! A finding as an issue: ready to paste into a tracker.

use std::fmt::Write;

use super::script::{ROWS_SHOWN, outcome_lines, setup_statements};
use super::title::capitalised;
use super::{failure, one_line, sentence, table, title};
use crate::dialect::Dialect;
use crate::finding::{ArmOutcome, Finding};

/// A finding as the text of an issue: what must hold, what happens instead, and how to see it.
pub fn report(finding: &Finding, dialect: &Dialect) -> String {
    let evidence = &finding.evidence;
    let mut out = format!("# {}\n\n", title(finding, dialect));
    let _ = writeln!(out, "Must hold: {}\n", sentence(&evidence.relation));
    let _ = writeln!(out, "Instead: {}\n", sentence(&failure(evidence)));

    let setup = setup_statements(&finding.case.setup, dialect);
    if !setup.is_empty() {
        let _ = writeln!(out, "## Script\n\n{}", fenced("sql", &setup.join("\n")));
    }
    for arm in &evidence.arms {
        let _ = writeln!(out, "## {}\n\n{}", one_line(&arm.label), fenced("sql", &format!("{};", arm.sql)));
        let heading = capitalised(&outcome_lines(&arm.outcome, 0)[0]);
        match &arm.outcome {
            ArmOutcome::Rows(rows) if !rows.is_empty() => {
                let _ = writeln!(out, "{heading}\n\n{}", table::markdown(rows, ROWS_SHOWN));
            }
            _ => {
                let _ = writeln!(out, "{heading}\n");
            }
        }
        if let Some(plan) = arm.plan.as_deref().filter(|plan| !plan.trim().is_empty()) {
            let _ = writeln!(out, "{}", plan_section(plan));
        }
    }
    if let Some(history) = &finding.triage.history {
        let _ = writeln!(out, "## Versions\n\n{}\n", super::history(history));
    }
    let origin = &finding.origin;
    let depth = match origin.depth {
        0 => String::new(),
        1 => ", changed once".to_string(),
        depth => format!(", changed {depth} times"),
    };
    let checks = if origin.checks > 0 { format!(", after {} checks", origin.checks) } else { String::new() };
    let _ = writeln!(
        out,
        "---\nFound by Dissent on `{}` (oracle `{}`, seed {}, database {}{depth}, case {}{checks}).",
        finding.target, finding.case.subject.oracle, origin.seed, origin.database, origin.case
    );
    out
}

/// A plan that would push the rest of the report off the screen is folded away.
fn plan_section(plan: &str) -> String {
    let block = fenced("", plan);
    match plan.trim_end().lines().count() {
        0..=PLAN_LINES => format!("Plan:\n\n{block}"),
        lines => format!("<details><summary>Plan ({lines} lines)</summary>\n\n{block}\n</details>\n"),
    }
}

const PLAN_LINES: usize = 15;

/// A code block whose fence is longer than any run of backticks inside.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}
