//! The title of a finding: what is wrong, in plain words, made of the evidence and of the reduced test case.

use super::parts::Parts;
use super::{one_line, results};
use crate::dialect::Dialect;
use crate::engine::{Rows, SqlError};
use crate::finding::{ArmOutcome, Class, Evidence, Failure, Finding};
use crate::import;
use crate::oracle::{self, Expected, crash};
use crate::sql::{Statement, Value};
use crate::subject::TestCase;

/// As long as a title gets.
pub const LONGEST: usize = 90;

/// What is wrong, in at most `LONGEST` characters: `LEFT JOIN with BETWEEN and a partial index loses rows`.
pub fn title(finding: &Finding, dialect: &Dialect) -> String {
    let evidence = &finding.evidence;
    let oracle = oracle::by_name(&finding.case.subject.oracle);
    let expected = oracle.and_then(|oracle| oracle.expected(evidence));
    let parts = Parts::of(&blamed(finding, expected.as_ref(), dialect), dialect);
    match &evidence.failure {
        Failure::Harm { error, .. } if evidence.class == Class::InternalError => {
            told(&parts, &internal_error(error))
        }
        Failure::Harm { .. } => told(&parts, &crash_of(dialect)),
        Failure::Death { out_of_memory: true, .. } => told(&parts, "uses up all memory and crashes"),
        Failure::Death { cause, .. } => told(&parts, &format!("{} ({cause})", crash_of(dialect))),
        Failure::Hang { .. } => told(&parts, "does not finish"),
        Failure::OneSided { error } => told(&parts, &one_sided(error)),
        _ if evidence.class == Class::Crash => told(&parts, &crash_of(dialect)),
        _ => match expected {
            Some(expected) => told(&parts, &wrong(evidence, &expected, &parts)),
            None => {
                let complaint = oracle.map(|oracle| oracle.complaint(&finding.case));
                let complaint =
                    complaint.unwrap_or_else(|| "depends on how the query is written".to_string());
                fitted(&parts, |what| format!("Result of {what} {complaint}"))
            }
        },
    }
}

/// The test case about the one statement that is wrong, where it is known. How an oracle counts or marks rows is not
/// what is wrong.
fn blamed(finding: &Finding, expected: Option<&Expected>, dialect: &Dialect) -> TestCase {
    let mut case = finding.case.clone();
    let harmed = matches!(finding.evidence.failure, Failure::Harm { .. } | Failure::Death { .. });
    let subject = &mut case.subject;
    let arm = match expected {
        _ if subject.oracle == crash::NAME => None,
        _ if harmed => finding.evidence.arms.last(),
        Some(expected) if !counts(&finding.evidence) => finding.evidence.arms.get(expected.arm),
        _ => None,
    };
    let statement = arm.map(|arm| import::statement(&arm.sql, 1, dialect).statement);
    if let Some(statement) = statement.filter(|statement| !matches!(statement, Statement::Raw(_))) {
        subject.tests.retain(|test| !harmed && !matches!(test, Statement::Query(_)));
        subject.tests.push(statement);
        subject.exprs.clear();
    }
    case
}

fn counts(evidence: &Evidence) -> bool {
    matches!(evidence.failure, Failure::Counts { .. })
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

const OWN_WORD: &str = "internal error: ";

/// As much of the engine's words as a title has room for.
fn short_message(error: &SqlError) -> String {
    let message = error.message.trim().lines().next().unwrap_or_default().trim_end_matches('.');
    // Some engines say so themselves.
    let prefix = message.get(..OWN_WORD.len()).filter(|start| start.eq_ignore_ascii_case(OWN_WORD));
    cut(&one_line(&message[prefix.map_or(0, str::len)..]), 44)
}

/// What a likely wrong answer has too much or too little of.
fn wrong(evidence: &Evidence, expected: &Expected, parts: &Parts) -> String {
    let ArmOutcome::Rows(actual) = &evidence.arms[expected.arm].outcome else {
        return "fails".to_string();
    };
    let (lost, extra) = match evidence.failure {
        Failure::Counts { first, second } => (second - first, first - second),
        _ => {
            if let Some(values) = single_values(actual, &expected.rows) {
                return values;
            }
            let count = |rows: &Rows, other: &Rows| {
                results::only_here(rows, other).into_iter().filter(|only| *only).count() as i64
            };
            (count(&expected.rows, actual), count(actual, &expected.rows))
        }
    };
    let filtered = parts.filters && parts.heads.iter().all(|head| head.ends_with("JOIN"));
    let none = actual.is_empty();
    match (lost, extra) {
        (1.., 1..) if evidence.class == Class::Representation => "returns equal values of another type",
        (1.., 1..) if lost == extra => "returns wrong values",
        (1, ..=0) if none => "returns no row instead of one",
        (1, ..=0) => "loses a row",
        (1.., ..=0) => "loses rows",
        (..=0, 1) if filtered => "returns a row that WHERE excludes",
        (..=0, 1..) if filtered => "returns rows that WHERE excludes",
        (..=0, 1) => "returns an extra row",
        (..=0, 1..) => "returns extra rows",
        _ => "returns wrong rows",
    }
    .to_string()
}

/// Two results of one value each.
fn single_values(actual: &Rows, expected: &Rows) -> Option<String> {
    let (actual, expected) = (short_value(actual.single()?), short_value(expected.single()?));
    (actual != expected).then(|| format!("returns {actual} instead of {expected}"))
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
