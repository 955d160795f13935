//! A finding as a script for the engine's own shell, with what came back as comments.

use std::fmt::Write;

use super::{failure, one_line, sentence, title};
use crate::dialect::Dialect;
use crate::finding::{ArmOutcome, Finding};
use crate::render::to_sql;
use crate::sql::Statement;

/// How many rows of an arm a reader sees; the difference itself is always said in words.
pub const ROWS_SHOWN: usize = 20;

/// The whole finding: the state, then each arm and what it returned.
pub fn repro(finding: &Finding, dialect: &Dialect) -> String {
    let evidence = &finding.evidence;
    let mut out = format!("-- {} (oracle: {}).\n", title(finding, dialect), finding.case.subject.oracle);
    let _ = writeln!(out, "-- Must hold: {}", sentence(&evidence.relation));
    let _ = writeln!(out, "-- Instead: {}\n", sentence(&failure(evidence)));
    for statement in setup_statements(&finding.case.setup, dialect) {
        out.push_str(&statement);
        out.push('\n');
    }
    for arm in &evidence.arms {
        let _ = write!(out, "\n-- {}\n{}\n", one_line(&arm.label), terminated(&arm.sql));
        for line in outcome_lines(&arm.outcome, ROWS_SHOWN) {
            let _ = writeln!(out, "-- {line}");
        }
    }
    out
}

/// The statements that build the state, each with its semicolon.
pub fn setup_statements(setup: &[Statement], dialect: &Dialect) -> Vec<String> {
    setup.iter().map(|statement| terminated(&to_sql(statement, dialect))).collect()
}

fn terminated(sql: &str) -> String {
    format!("{};", sql.trim_end().trim_end_matches(';'))
}

/// What an arm returned, in lines: a heading, then its first rows.
pub fn outcome_lines(outcome: &ArmOutcome, limit: usize) -> Vec<String> {
    match outcome {
        ArmOutcome::Done => vec!["succeeded".to_string()],
        ArmOutcome::Error(error) => {
            vec![format!("failed: {} ({})", one_line(&error.message), one_line(&error.code))]
        }
        ArmOutcome::Rows(rows) if rows.is_empty() => vec!["returned no rows".to_string()],
        ArmOutcome::Rows(rows) => {
            let plural = if rows.len() == 1 { "row" } else { "rows" };
            let mut lines = vec![format!("returned {} {plural}:", rows.len())];
            lines.extend(rows.iter().take(limit).map(|row| {
                let cells: Vec<String> = row.iter().map(|value| one_line(&value.to_string())).collect();
                format!("  {}", cells.join(" | "))
            }));
            if rows.len() > limit {
                lines.push(format!("  … and {} more", rows.len() - limit));
            }
            lines
        }
    }
}
