//! Findings in the forms that other tools read: one unit each, one line each in [`exporters`].

use std::fmt::Write;

use super::{one_line, report, repro, setup_statements, title};
use crate::dialect::Dialect;
use crate::engine::Rows;
use crate::finding::{ArmOutcome, Class, Finding};
use crate::oracle;
use crate::sql::Value;

/// A finding with its name, and the dialect of the engine that showed it.
pub struct Exported<'a> {
    /// The name of its directory.
    pub id: &'a str,
    /// The finding.
    pub finding: &'a Finding,
    /// The dialect it is written in.
    pub dialect: &'a Dialect,
}

/// A form for many findings at once.
pub trait Exporter: Sync {
    /// The name a user types.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn about(&self) -> &'static str;

    /// All findings as one text.
    fn export(&self, findings: &[Exported]) -> String;
}

/// Every form. A new one joins by one line here.
pub fn exporters() -> &'static [&'static dyn Exporter] {
    &[&Markdown, &Sql, &SqlLogicTest, &Json, &JUnit]
}

struct Markdown;

impl Exporter for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn about(&self) -> &'static str {
        "an issue per finding, ready to paste into a tracker"
    }

    fn export(&self, findings: &[Exported]) -> String {
        joined(findings, |exported| report(exported.finding, exported.dialect))
    }
}

struct Sql;

impl Exporter for Sql {
    fn name(&self) -> &'static str {
        "sql"
    }

    fn about(&self) -> &'static str {
        "a script per finding for the engine's own shell"
    }

    fn export(&self, findings: &[Exported]) -> String {
        joined(findings, |exported| repro(exported.finding, exported.dialect))
    }
}

struct Json;

impl Exporter for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "everything that is known of the findings, as a list"
    }

    fn export(&self, findings: &[Exported]) -> String {
        let list: Vec<serde_json::Value> = findings
            .iter()
            .map(|exported| serde_json::json!({ "id": exported.id, "finding": exported.finding }))
            .collect();
        format!("{:#}\n", serde_json::Value::from(list))
    }
}

/// <https://www.sqlite.org/sqllogictest>: what must hold, as a test that fails until the bug is mended.
struct SqlLogicTest;

impl Exporter for SqlLogicTest {
    fn name(&self) -> &'static str {
        "slt"
    }

    fn about(&self) -> &'static str {
        "sqllogictest records that fail until the bug is mended"
    }

    fn export(&self, findings: &[Exported]) -> String {
        joined(findings, records)
    }
}

fn records(exported: &Exported) -> String {
    let Exported { id, finding, dialect } = exported;
    let evidence = &finding.evidence;
    let mut out = format!("# {id}: {}\n", one_line(&title(finding, dialect)));
    let _ = writeln!(out, "# must hold: {}\n", one_line(&evidence.relation));
    for statement in setup_statements(&finding.case.setup, dialect) {
        let _ = writeln!(out, "statement ok\n{}\n", record_text(statement.trim_end_matches(';')));
    }
    let oracle = oracle::by_name(&finding.case.subject.oracle);
    let expected = oracle.and_then(|oracle| oracle.expected(evidence));
    for (at, arm) in evidence.arms.iter().enumerate() {
        let _ = writeln!(out, "# {}", one_line(&arm.label));
        let sql = record_text(&arm.sql);
        match (&expected, &arm.outcome) {
            (Some(expected), ArmOutcome::Rows(returned)) => {
                let rows = if expected.arm == at { &expected.rows } else { returned };
                let _ = writeln!(out, "query {} rowsort\n{sql}\n----\n{}", types(rows), values(rows));
            }
            // The answers belong together in a way that one record cannot say; none of them may fail.
            _ => {
                let _ = writeln!(out, "statement ok\n{sql}\n");
            }
        }
    }
    out
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

/// A test case per finding, each of them failed: what a build server shows.
struct JUnit;

impl Exporter for JUnit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn about(&self) -> &'static str {
        "JUnit XML, a failed test case per finding"
    }

    fn export(&self, findings: &[Exported]) -> String {
        let harm = |class: Class| matches!(class, Class::Crash | Class::Hang | Class::InternalError);
        let errors = findings.iter().filter(|exported| harm(exported.finding.evidence.class)).count();
        let failures = findings.len() - errors;
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = writeln!(
            out,
            "<testsuite name=\"dissent\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\">",
            findings.len()
        );
        for Exported { id, finding, dialect } in findings {
            let kind = if harm(finding.evidence.class) { "error" } else { "failure" };
            let class = format!("{}.{}", finding.dialect, finding.case.subject.oracle);
            let _ = writeln!(
                out,
                "  <testcase classname=\"{}\" name=\"{}\">\n    <{kind} type=\"{}\" message=\"{}\">{}</{kind}>\n  </testcase>",
                xml(&class),
                xml(id),
                finding.evidence.class,
                xml(&title(finding, dialect)),
                xml(&repro(finding, dialect)),
            );
        }
        out + "</testsuite>\n"
    }
}

/// Text for XML 1.0, which has no way to write most control characters.
fn xml(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() && !"\n\t".contains(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
        out
    })
}

fn joined(findings: &[Exported], text: impl Fn(&Exported) -> String) -> String {
    findings.iter().map(text).collect::<Vec<_>>().join("\n")
}
