//! <https://www.sqlite.org/sqllogictest>: what must hold, as a test that fails until the bug is fixed.

use std::fmt::Write;

use super::{Exported, Exporter, joined};
use crate::engine::Rows;
use crate::finding::{ArmOutcome, Failure};
use crate::oracle::{self, Expected};
use crate::report::{one_line, setup_statements, title};
use crate::sql::Value;

pub struct SqlLogicTest;

impl Exporter for SqlLogicTest {
    fn name(&self) -> &'static str {
        "slt"
    }

    fn about(&self) -> &'static str {
        "Sqllogictest records that fail until the bug is fixed"
    }

    fn export(&self, findings: &[Exported]) -> String {
        joined(findings, records)
    }
}

fn records(exported: &Exported) -> String {
    let Exported { id, finding, dialect, .. } = exported;
    let evidence = &finding.evidence;
    let mut out = format!("# {id}: {}\n", one_line(&title(finding, dialect)));
    let _ = writeln!(out, "# must hold: {}\n", one_line(&evidence.relation));
    for statement in setup_statements(&finding.case.setup, dialect) {
        let _ = writeln!(out, "statement ok\n{}\n", record_text(statement.trim_end_matches(';')));
    }
    let expected = oracle::by_name(&finding.case.subject.oracle).and_then(|oracle| oracle.expected(evidence));
    let common = alike(&evidence.failure).then(|| common_rows(exported)).flatten();
    for (at, arm) in evidence.arms.iter().enumerate() {
        let _ = writeln!(out, "# {}", one_line(&arm.label));
        let sql = record_text(&arm.sql);
        let _ = match (&expected, &common, &arm.outcome) {
            (Some(Expected { arm, rows, .. }), _, ArmOutcome::Rows(returned)) => {
                let rows = if *arm == at { rows } else { returned };
                writeln!(out, "query {} rowsort\n{sql}\n----\n{}", types(rows), values(rows))
            }
            // Which of them is right is not known; that they are the same is what the label says.
            (None, Some(rows), ArmOutcome::Rows(_)) => {
                writeln!(out, "query {} rowsort same\n{sql}\n----\n{}", types(rows), values(rows))
            }
            // A command of a shell, which no runner knows.
            (_, _, ArmOutcome::Done) if sql.starts_with('.') => writeln!(out, "# {sql}\n"),
            // The answers belong together in a way that no record can say; none of them may fail.
            _ => writeln!(out, "statement ok\n{sql}\n"),
        };
    }
    out
}

/// Whether all arms should have returned the same rows.
fn alike(failure: &Failure) -> bool {
    matches!(failure, Failure::Rows { .. })
}

/// What one of exactly two arms returned.
fn common_rows<'a>(exported: &Exported<'a>) -> Option<&'a Rows> {
    let rows = exported.finding.evidence.arms.iter().filter_map(|arm| match &arm.outcome {
        ArmOutcome::Rows(rows) => Some(rows),
        _ => None,
    });
    match rows.collect::<Vec<_>>()[..] {
        [first, second] if first.columns == second.columns || first.is_empty() => Some(second),
        _ => None,
    }
}

/// An empty line ends a record: within a statement it becomes one with a space.
fn record_text(sql: &str) -> String {
    sql.trim_end().replace("\n\n", "\n \n")
}

fn types(rows: &Rows) -> String {
    let letter = |at: usize| match rows.values.get(at) {
        Some(Value::Int(_)) => 'I',
        Some(Value::Real(_) | Value::Decimal(_)) => 'R',
        _ => 'T',
    };
    (0..rows.columns).map(letter).collect()
}

/// One value a line, rows sorted as text.
fn values(rows: &Rows) -> String {
    let cell = |value: &Value| match value {
        Value::Null => "NULL".to_string(),
        Value::Real(real) => format!("{real:.3}"),
        Value::Text(text) if text.is_empty() => "(empty)".to_string(),
        Value::Text(text) => one_line(text),
        other => one_line(&other.to_string()),
    };
    let mut lines: Vec<String> =
        rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("\n") + "\n").collect();
    lines.sort();
    lines.concat()
}
