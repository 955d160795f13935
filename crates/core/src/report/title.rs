//! The title of a finding: what is wrong, in plain words, made of the evidence and of the reduced test case.

use super::one_line;
use super::parts::Parts;
use crate::dialect::Dialect;
use crate::engine::{Rows, SqlError};
use crate::finding::{Class, Evidence, Failure, Finding, Side};
use crate::import;
use crate::oracle::{self, crash};
use crate::sql::{Statement, Value};
use crate::subject::TestCase;

/// As long as a title gets.
pub const LONGEST: usize = 90;

/// What is wrong, in at most `LONGEST` characters: `LEFT JOIN with BETWEEN and a partial index loses rows`.
pub fn title(finding: &Finding, dialect: &Dialect) -> String {
    let evidence = &finding.evidence;
    let parts = Parts::of(&blamed(finding, dialect), dialect);
    let oracle = oracle::by_name(&finding.case.subject.oracle);
    match &evidence.failure {
        Failure::Harm { error } if evidence.class == Class::InternalError => {
            told(&parts, &internal_error(error))
        }
        Failure::Harm { .. } => told(&parts, &crash_of(dialect)),
        Failure::Death { out_of_memory: true, .. } => told(&parts, "uses up all memory and crashes"),
        Failure::Death { cause, .. } => told(&parts, &format!("{} ({cause})", crash_of(dialect))),
        Failure::Hang { .. } => told(&parts, "does not finish"),
        Failure::OneSided { error } => told(&parts, &one_sided(error)),
        _ if evidence.class == Class::Crash => told(&parts, &crash_of(dialect)),
        _ => match oracle.and_then(|oracle| oracle.expected(evidence)) {
            Some(expected) => told(&parts, &wrong(evidence, expected.arm, &expected.rows, &parts)),
            None => {
                let complaint = oracle.map(|oracle| oracle.complaint(&finding.case));
                let complaint =
                    complaint.unwrap_or_else(|| "depends on how the query is written".to_string());
                fitted(&parts, |what| format!("Result of {what} {complaint}"))
            }
        },
    }
}

/// The test case, but where one statement did all the harm it is about that one.
fn blamed(finding: &Finding, dialect: &Dialect) -> TestCase {
    let mut case = finding.case.clone();
    let harmed = matches!(finding.evidence.failure, Failure::Harm { .. } | Failure::Death { .. });
    if harmed
        && case.subject.oracle != crash::NAME
        && let Some(arm) = finding.evidence.arms.last()
    {
        let statement = import::statement(&arm.sql, 1, dialect).statement;
        if !matches!(statement, Statement::Raw(_)) {
            case.subject = crash::subject(statement);
        }
    }
    case
}

fn crash_of(dialect: &Dialect) -> String {
    match dialect.engine.port {
        Some(_) => "crashes the server".to_string(),
        None => format!("crashes {}", dialect.engine.title),
    }
}

fn internal_error(error: &SqlError) -> String {
    format!("raises an internal error: {}", short_message(error))
}

fn one_sided(error: &SqlError) -> String {
    format!("fails in one of two equivalent forms: {}", short_message(error))
}

/// As much of the engine's words as a title has room for.
fn short_message(error: &SqlError) -> String {
    cut(&one_line(error.message.trim().trim_end_matches('.')), 48)
}

/// What a likely wrong answer has too much or too little of.
fn wrong(evidence: &Evidence, arm: usize, expected: &Rows, parts: &Parts) -> String {
    let (lost, extra) = match &evidence.failure {
        Failure::Counts { first, second } => (second - first, first - second),
        Failure::Rows { first, second } => {
            // The sides are in the order of the arms that returned rows.
            let is_first = evidence.arms[..arm].iter().all(|before| !before.returned_rows());
            let (mine, other) = if is_first { (first, second) } else { (second, first) };
            if let Some(values) = single_values(mine, other) {
                return values;
            }
            (other.only as i64, mine.only as i64)
        }
        _ => (0, 0),
    };
    let filtered = parts.filters && parts.heads.iter().all(|head| head.ends_with("JOIN"));
    match (lost, extra) {
        (1.., 1..) if evidence.class == Class::Representation => {
            "returns equal values of another type".to_string()
        }
        (1.., 1..) if lost == extra => "returns wrong values".to_string(),
        (1, ..=0) if expected.len() > 1 => "loses a row".to_string(),
        (1, ..=0) => "returns no row instead of one".to_string(),
        (1.., ..=0) => "loses rows".to_string(),
        (..=0, 1) if filtered => "returns a row that WHERE excludes".to_string(),
        (..=0, 1..) if filtered => "returns rows that WHERE excludes".to_string(),
        (..=0, 1) => "returns an extra row".to_string(),
        (..=0, 1..) => "returns extra rows".to_string(),
        _ => "returns wrong rows".to_string(),
    }
}

/// Two results of one value each.
fn single_values(mine: &Side, other: &Side) -> Option<String> {
    let single = |side: &Side| match (side.rows, side.examples.as_slice()) {
        (1, [row]) => match row.as_slice() {
            [value] => Some(short_value(value)),
            _ => None,
        },
        _ => None,
    };
    let (mine, other) = (single(mine)?, single(other)?);
    (mine != other).then(|| format!("returns {mine} instead of {other}"))
}

fn short_value(value: &Value) -> String {
    cut(&one_line(&value.to_string()), 18)
}

/// `WHERE with BETWEEN loses rows`.
fn told(parts: &Parts, verb: &str) -> String {
    capitalised(&fitted(parts, |what| format!("{what} {verb}")))
}

/// The sentence with as much of what it is about as there is room for.
fn fitted(parts: &Parts, sentence: impl Fn(&str) -> String) -> String {
    let room = [(2, 2, 1), (1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 0, 0)];
    let fits = |text: &String| text.chars().count() <= LONGEST;
    let phrased = room.map(|(operators, with, on)| sentence(&phrase(parts, operators, with, on)));
    let last = phrased[phrased.len() - 1].clone();
    phrased.into_iter().find(fits).unwrap_or_else(|| cut(&last, LONGEST))
}

fn phrase(parts: &Parts, operators: usize, with: usize, on: usize) -> String {
    let head = match parts.heads.first() {
        Some(head) => head.as_str(),
        None if parts.filters => "WHERE",
        None => "SELECT",
    };
    let telling = parts.operators.iter().take(operators);
    let with: Vec<&str> = telling.chain(parts.with.iter().take(with)).map(String::as_str).collect();
    let on: Vec<&str> = parts.on.iter().take(on).map(String::as_str).collect();
    let mut phrase = head.to_string();
    if !with.is_empty() {
        phrase += &format!(" with {}", listed(&with));
    }
    if !on.is_empty() {
        phrase += &format!(" on {}", listed(&on));
    }
    phrase
}

/// `a`, `a and b`, `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => one.to_string(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_string();
    }
    let kept: String = text.chars().take(longest - 1).collect();
    format!("{}…", kept.trim_end())
}

pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
