//! How small findings became, what that took, and how well they are told apart: tables in Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::export::Exported;
use crate::finding::{Finding, Signature};
use crate::reduce::{Weight, tokens_beyond_keywords};
use crate::render::{expr_to_sql, to_sql};
use crate::triage::{causes, span};

/// A finding with more statements than this in its setup is named: there must be a reason for it.
pub const MANY_STATEMENTS: usize = 10;

/// The reduced findings of each target, and of all of them.
pub fn reductions(findings: &[Exported]) -> String {
    let (reduced, others): (Vec<&Exported>, Vec<&Exported>) =
        findings.iter().partition(|found| found.finding.triage.reduction.is_some());
    let mut targets: BTreeMap<&str, Vec<&Exported>> = BTreeMap::new();
    for found in &reduced {
        targets.entry(&found.finding.target).or_default().push(found);
    }
    let mut out = String::from(
        "| target | findings | oracles | classes | setup statements: median, 95 %, most | tokens of the whole: median, 95 %, most | tokens of a query: median, 95 %, most | of these beyond keywords and punctuation | checks: median, 95 % | seconds: median, 95 % |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (target, findings) in &targets {
        row(target, findings, &mut out);
    }
    if targets.len() != 1 {
        row("all", &reduced, &mut out);
    }
    out.push('\n');
    if !others.is_empty() {
        let _ = writeln!(out, "Not reduced, and not in the table: {}.\n", others.len());
    }
    let large = reduced.iter().filter(|found| found.finding.case.setup.len() > MANY_STATEMENTS);
    let large: Vec<String> = large.map(|found| of_large(found)).collect();
    match large.as_slice() {
        [] => out.push_str("No finding has more than 10 setup statements.\n"),
        large => {
            let _ = writeln!(out, "More than 10 setup statements:\n\n{}", large.join("\n"));
        }
    }
    out
}

fn row(name: &str, findings: &[&Exported], out: &mut String) {
    let oracles: BTreeSet<&str> =
        findings.iter().map(|found| found.finding.case.subject.oracle.as_str()).collect();
    let classes: BTreeSet<&str> = findings.iter().map(|found| found.finding.evidence.class.name()).collect();
    let notes = || findings.iter().filter_map(|found| found.finding.triage.reduction.as_ref());
    let statements = findings.iter().map(|found| found.finding.case.setup.len() as f64);
    let tokens = findings.iter().map(|found| Weight::of(&found.finding.case, found.dialect).tokens as f64);
    let whole = findings.iter().flat_map(|found| queries(found, crate::reduce::tokens));
    let beyond = findings.iter().flat_map(|found| queries(found, tokens_beyond_keywords));
    let _ = writeln!(
        out,
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        findings.len(),
        list(oracles),
        list(classes),
        Spread::of(statements).three(0),
        Spread::of(tokens).three(0),
        Spread::of(whole).three(0),
        Spread::of(beyond).three(0),
        Spread::of(notes().map(|note| note.checks as f64)).two(0),
        Spread::of(notes().filter_map(|note| note.seconds)).two(2),
    );
}

/// The tokens of what is under test, statement by statement. What an oracle works with beside the query (a
/// predicate to partition by) goes into it.
fn queries(found: &Exported, count: fn(&str) -> usize) -> Vec<f64> {
    let subject = &found.finding.case.subject;
    let beside: usize = subject.exprs.iter().map(|expr| count(&expr_to_sql(expr, found.dialect))).sum();
    let own = subject.tests.iter().map(|test| count(&to_sql(test, found.dialect)));
    own.enumerate().map(|(at, own)| (own + if at == 0 { beside } else { 0 }) as f64).collect()
}

fn of_large(found: &Exported) -> String {
    let finding = found.finding;
    let complete = finding.triage.reduction.as_ref().is_some_and(|note| note.complete);
    format!(
        "- `{}` on {}: {} statements, {}{}",
        found.id,
        finding.target,
        finding.case.setup.len(),
        finding.evidence.class,
        if complete { "" } else { ", stopped before the end" }
    )
}

fn list(names: BTreeSet<&str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// How well signatures tell bugs apart: findings of one cause were there in the same versions. `bugs` is what
/// signature and versions together make of them.
pub fn signatures(findings: &[Exported]) -> String {
    let mut targets: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for found in findings.iter().filter(|found| found.finding.triage.history.is_some()) {
        targets.entry(&found.finding.target).or_default().push(found.finding);
    }
    if targets.is_empty() {
        return "No finding has been bisected; run `dissent bisect` first.\n".to_string();
    }
    let mut out = String::from(
        "| target | findings dated | ranges of versions | signatures | of more than one range | bugs | bugs per range |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut ranges = String::from(
        "\n| target | range of versions | findings | signatures | bugs |\n| --- | --- | --- | --- | --- |\n",
    );
    for (target, findings) in targets {
        let mut by_range: BTreeMap<String, Group> = BTreeMap::new();
        let mut by_signature: BTreeMap<&Signature, BTreeSet<String>> = BTreeMap::new();
        let names = causes(&findings);
        for (at, finding) in findings.iter().enumerate() {
            let Some(range) = finding.triage.history.as_ref().map(span) else { continue };
            let group = by_range.entry(range.clone()).or_default();
            group.findings += 1;
            if let (Some(signature), Some(name)) = (finding.triage.signature.as_ref(), &names[at]) {
                group.signatures.insert(signature);
                group.bugs.insert(name);
                by_signature.entry(signature).or_default().insert(range);
            }
        }
        let bugs: usize = by_range.values().map(|group| group.bugs.len()).sum();
        let _ = writeln!(
            out,
            "| {target} | {} | {} | {} | {} | {bugs} | {:.2} |",
            findings.len(),
            by_range.len(),
            by_signature.len(),
            by_signature.values().filter(|ranges| ranges.len() > 1).count(),
            bugs as f64 / by_range.len().max(1) as f64,
        );
        for (range, group) in &by_range {
            let (signatures, bugs) = (group.signatures.len(), group.bugs.len());
            let _ = writeln!(ranges, "| {target} | {range} | {} | {signatures} | {bugs} |", group.findings);
        }
    }
    out + &ranges
}

/// The findings of one range of versions.
#[derive(Default)]
struct Group<'a> {
    findings: usize,
    signatures: BTreeSet<&'a Signature>,
    bugs: BTreeSet<&'a str>,
}

/// Numbers in order.
struct Spread(Vec<f64>);

impl Spread {
    fn of(numbers: impl Iterator<Item = f64>) -> Spread {
        let mut numbers: Vec<f64> = numbers.collect();
        numbers.sort_by(f64::total_cmp);
        Spread(numbers)
    }

    /// The smallest number that so many of a hundred do not exceed.
    fn percentile(&self, percent: usize) -> Option<f64> {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied()
    }

    fn three(&self, digits: usize) -> String {
        self.show(&[50, 95, 100], digits)
    }

    fn two(&self, digits: usize) -> String {
        self.show(&[50, 95], digits)
    }

    fn show(&self, percents: &[usize], digits: usize) -> String {
        let shown = |percent: &usize| match self.percentile(*percent) {
            Some(number) => format!("{number:.digits$}"),
            None => "–".to_string(),
        };
        percents.iter().map(shown).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_numbers() {
        let spread = Spread::of((1..=20).rev().map(f64::from));
        assert_eq!(spread.three(0), "10, 19, 20");
        assert_eq!(Spread::of([0.25].into_iter()).two(2), "0.25, 0.25");
        assert_eq!(Spread::of([].into_iter()).two(2), "–, –");
    }
}
