//! A finding as a script that runs as it is in the engine's own shell and shows both results.

use std::fmt::Write;

use super::{one_line, results, sentence, title};
use crate::dialect::Dialect;
use crate::engine::Rows;
use crate::finding::{ArmOutcome, Evidence, Failure, Finding};
use crate::oracle::{self, Expected, Step};
use crate::render::{expr_to_sql, to_sql};
use crate::sql::{Expr, Statement, Value};

/// How many rows of an arm a reader sees; the rows that differ are always among them.
pub const ROWS_SHOWN: usize = 20;

/// Rows and characters of an expected result that fit into the script's last line.
const ROWS_TOLD: usize = 3;
const MOST_TOLD: usize = 120;

/// The whole finding: settings, state, each query under a label, and what came back as comments.
pub fn repro(finding: &Finding, dialect: &Dialect) -> String {
    let engine = &dialect.engine.title;
    let mut out = format!("-- {}\n-- {engine} {}. ", title(finding, dialect), finding.engine_version);
    out += "Run it in an empty database";
    match &dialect.engine.shell {
        Some(shell) => {
            let _ = writeln!(out, ": {shell}, or dissent shell {}\n", finding.target);
        }
        None => out += ".\n\n",
    }
    out + &Script::of(finding, dialect).text(finding, dialect, true)
}

/// What a script is made of, and which arms it shows, in order.
pub(super) struct Script {
    steps: Vec<Step>,
    /// The arms whose results are shown, by their places in the evidence: query 1, query 2, ….
    pub shown: Vec<usize>,
    pub expected: Option<Expected>,
}

impl Script {
    pub fn of(finding: &Finding, dialect: &Dialect) -> Script {
        let evidence = &finding.evidence;
        let oracle = oracle::by_name(&finding.case.subject.oracle);
        let expected = oracle.and_then(|oracle| oracle.expected(evidence));
        let own = || oracle.and_then(|oracle| oracle.script(&finding.case, evidence, dialect));
        let steps = match (is_harm(evidence), &expected) {
            (true, _) => only_the_last(evidence),
            (false, None) => own().unwrap_or_else(|| as_they_ran(evidence, |_| true)),
            (false, Some(Expected { arm, by, .. })) => as_they_ran(evidence, |at| at == *arm || at == *by),
        };
        let outcome = |step: &Step| match step {
            Step::Outcome(arm) => Some(*arm),
            _ => None,
        };
        // A file may have been edited, so that it lacks an arm.
        let is_there = |arm: &usize| *arm < evidence.arms.len();
        let shown = steps.iter().filter_map(outcome).filter(is_there).collect();
        Script { steps, shown, expected }
    }

    /// The number under which a reader knows an arm.
    pub fn number(&self, arm: usize) -> usize {
        self.shown.iter().position(|shown| *shown == arm).unwrap_or(arm) + 1
    }

    /// The script without its head; with what came back as comments, if wanted.
    pub fn text(&self, finding: &Finding, dialect: &Dialect, outcomes: bool) -> String {
        let mut out = String::new();
        let mut line = |text: &str| {
            out.push_str(text);
            out.push('\n');
        };
        if finding.triage.with_defaults != Some(true) {
            dialect.engine.session.iter().for_each(|set| line(&terminated(set)));
        }
        setup_statements(&finding.case.setup, dialect).iter().for_each(|sql| line(sql));
        let mut number = 0;
        for step in &self.steps {
            match step {
                Step::Label(label) => {
                    number += 1;
                    line("");
                    line(&telling(&format!("{number}. {label}"), "query", dialect));
                }
                Step::Run(sql) => line(&terminated(sql)),
                Step::Bind(number, value) => line(&bound(*number, value, dialect)),
                Step::Outcome(arm) => {
                    let arm = finding.evidence.arms.get(*arm).filter(|_| outcomes);
                    let told = arm.map(|arm| outcome_lines(&arm.outcome, ROWS_SHOWN)).unwrap_or_default();
                    told.iter().for_each(|told| line(&format!("-- {told}")));
                }
            }
        }
        if let Some(verdict) = self.verdict(&finding.evidence) {
            line("");
            line(&telling(&verdict, "verdict", dialect));
        }
        out
    }

    /// What should be seen, in one line. Whether it is seen the reader sees above: to ask the engine would be another
    /// query, which may not show the bug.
    fn verdict(&self, evidence: &Evidence) -> Option<String> {
        match &self.expected {
            _ if is_harm(evidence) => None,
            Some(expected) => {
                let number = self.number(expected.arm);
                Some(format!("Expected from query {number}: {}", told_rows(&expected.rows)))
            }
            None => Some(format!("Expected: {}", sentence(&evidence.relation))),
        }
    }
}

fn told_rows(rows: &Rows) -> String {
    let told: Vec<String> =
        rows.iter().take(ROWS_TOLD).map(|row| format!("({})", results::cells(row, ", "))).collect();
    let told = told.join(", ");
    match rows.len() {
        0 => "no rows".to_string(),
        some if some <= ROWS_TOLD && told.len() <= MOST_TOLD => told,
        1 => "1 row".to_string(),
        many => format!("{many} rows"),
    }
}

/// One statement took the engine down, or made it say that it is broken: nothing is compared.
pub(super) fn is_harm(evidence: &Evidence) -> bool {
    matches!(evidence.failure, Failure::Harm { .. } | Failure::Death { .. } | Failure::Hang { .. })
        || matches!(evidence.class, crate::finding::Class::Crash | crate::finding::Class::Hang)
}

/// The one statement that is to blame: whatever was meant to follow it met no engine.
fn only_the_last(evidence: &Evidence) -> Vec<Step> {
    let lost = |outcome: &ArmOutcome| matches!(outcome, ArmOutcome::Error(error) if error.class.is_harm());
    let at = evidence.arms.iter().position(|arm| lost(&arm.outcome));
    let Some(at) = at.or(evidence.arms.len().checked_sub(1)) else { return Vec::new() };
    vec![Step::Run(evidence.arms[at].sql.clone()), Step::Outcome(at)]
}

/// The arms that are wanted, and all that ran between them.
fn as_they_ran(evidence: &Evidence, wanted: impl Fn(usize) -> bool) -> Vec<Step> {
    let mut steps = Vec::new();
    for (at, arm) in evidence.arms.iter().enumerate() {
        match arm.outcome {
            ArmOutcome::Done => steps.push(Step::Run(arm.sql.clone())),
            ArmOutcome::Rows(_) | ArmOutcome::Error(_) if wanted(at) => {
                steps.push(Step::Label(arm.label.clone()));
                steps.push(Step::Run(arm.sql.clone()));
                steps.push(Step::Outcome(at));
            }
            ArmOutcome::Rows(_) | ArmOutcome::Error(_) => {}
        }
    }
    steps
}

/// A line of text that every shell prints.
fn telling(text: &str, name: &str, dialect: &Dialect) -> String {
    format!("SELECT {} AS {name};", expr_to_sql(&Expr::text(one_line(text)), dialect))
}

fn bound(number: usize, value: &Value, dialect: &Dialect) -> String {
    let value = expr_to_sql(&Expr::Literal(value.clone()), dialect);
    let quoted = format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
    let form = dialect.engine.bind.as_deref().unwrap_or("-- parameter {number}: {value}");
    form.replace("{number}", &number.to_string()).replace("{quoted}", &quoted).replace("{value}", &value)
}

/// The statements that build the state, each with its semicolon.
pub fn setup_statements(setup: &[Statement], dialect: &Dialect) -> Vec<String> {
    setup.iter().map(|statement| terminated(&to_sql(statement, dialect))).collect()
}

/// A command of a shell ends with its line.
fn terminated(sql: &str) -> String {
    if sql.starts_with('.') {
        return sql.to_string();
    }
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
            lines.extend(rows.iter().take(limit).map(|row| format!("  {}", results::cells(row, " | "))));
            if rows.len() > limit {
                lines.push(format!("  … and {} more", rows.len() - limit));
            }
            lines
        }
    }
}
