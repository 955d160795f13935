//! Hunts side by side: which way of hunting finds more bugs in the same processor time, and which bugs only one finds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::numbers::grouped;
use crate::finding::Finding;
use crate::triage::causes;

/// What one campaign came to.
pub struct Run {
    /// How it hunted. Runs of one name differ in their seeds only.
    pub way: String,
    /// What its workers used.
    pub cpu_seconds: f64,
    /// Comparisons that came to a verdict.
    pub checks: u64,
    /// What its guide saw, if it had one.
    pub seen: Option<u64>,
    /// Its bugs, each by its smallest example.
    pub bugs: Vec<Finding>,
}

/// A table of the ways to hunt, and one of the bugs. A bug is what [`causes`] takes for one over all runs: so campaigns
/// are best bisected before.
pub fn compare(runs: &[Run]) -> String {
    let named = Named::of(runs);
    let mut ways: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    runs.iter().enumerate().for_each(|(at, run)| ways.entry(&run.way).or_default().push(at));
    let mut out = String::from(
        "| hunt | runs | CPU-minutes each | checks per CPU-second | seen | bugs each | bugs per CPU-hour | bugs together | only here |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (way, members) in &ways {
        let mine = named.together(members);
        let elsewhere: Vec<usize> = (0..runs.len()).filter(|at| !members.contains(at)).collect();
        let others = named.together(&elsewhere);
        let of = |figure: &dyn Fn(usize) -> f64| spread(members.iter().map(|at| figure(*at)));
        let seen: Vec<f64> = members.iter().filter_map(|at| runs[*at].seen.map(|seen| seen as f64)).collect();
        let bugs = |at: usize| named.bugs[at].len() as f64;
        let _ = writeln!(
            out,
            "| {way} | {} | {} | {} | {} | {} | {} | {} | {} |",
            members.len(),
            of(&|at| runs[at].cpu_seconds / 60.0),
            of(&|at| runs[at].checks as f64 / runs[at].cpu_seconds.max(0.001)),
            if seen.is_empty() { "–".to_string() } else { spread(seen.into_iter()) },
            of(&bugs),
            of(&|at| 3600.0 * bugs(at) / runs[at].cpu_seconds.max(0.001)),
            mine.len(),
            if ways.len() > 1 { mine.difference(&others).count().to_string() } else { "–".to_string() },
        );
    }
    if named.undated > 0 {
        let _ = writeln!(
            out,
            "\nSome bugs are told apart by their features alone ({}): `dissent bisect CAMPAIGN` dates them.",
            named.undated
        );
    }
    named.table(&ways, &mut out);
    out
}

/// The bugs of each run, by the names of their causes.
struct Named {
    bugs: Vec<BTreeSet<String>>,
    /// How many findings have neither versions nor a setting.
    undated: usize,
}

impl Named {
    fn of(runs: &[Run]) -> Named {
        let all: Vec<&Finding> = runs.iter().flat_map(|run| &run.bugs).collect();
        let mut names = causes(&all).into_iter().zip(&all);
        let mut undated = 0;
        let mut name = || {
            let (cause, finding) = names.next()?;
            undated += usize::from(cause.is_none());
            let signature = || finding.triage.signature.as_ref().map(ToString::to_string);
            // What was not reduced is no two times the same.
            Some(
                cause.or_else(signature).unwrap_or_else(|| format!("not reduced: {}", super::id(finding, 6))),
            )
        };
        let bugs = runs.iter().map(|run| run.bugs.iter().filter_map(|_| name()).collect()).collect();
        Named { bugs, undated }
    }

    fn together(&self, runs: &[usize]) -> BTreeSet<&String> {
        runs.iter().flat_map(|at| &self.bugs[*at]).collect()
    }

    /// In how many runs of each way a bug was found; what most runs found comes first.
    fn table(&self, ways: &BTreeMap<&str, Vec<usize>>, out: &mut String) {
        let mut times: BTreeMap<&String, usize> = BTreeMap::new();
        self.bugs.iter().flatten().for_each(|name| *times.entry(name).or_default() += 1);
        if times.is_empty() {
            return;
        }
        let heads: Vec<&str> = ways.keys().copied().collect();
        let _ = writeln!(out, "\n| bug, and the runs that found it | {} |", heads.join(" | "));
        let _ = writeln!(out, "| --- |{}", " ---: |".repeat(heads.len()));
        let mut names: Vec<&String> = times.keys().copied().collect();
        names.sort_by_key(|name| (std::cmp::Reverse(times[*name]), *name));
        for name in names {
            let found = |members: &Vec<usize>| {
                members.iter().filter(|at| self.bugs[**at].contains(name)).count().to_string()
            };
            let found: Vec<String> = ways.values().map(found).collect();
            let _ = writeln!(out, "| {} | {} |", name.replace('|', "\\|"), found.join(" | "));
        }
    }
}

/// The median, and both ends where there are several: `12 (10 to 15)`.
fn spread(values: impl Iterator<Item = f64>) -> String {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let Some(median) = values.get(values.len() / 2).copied() else { return "–".to_string() };
    let median = match values.len() % 2 {
        0 => (median + values[values.len() / 2 - 1]) / 2.0,
        _ => median,
    };
    let text = |value: f64| match value {
        value if value >= 100.0 => grouped(value.round() as u64),
        value if value.fract() == 0.0 => format!("{value:.0}"),
        value => format!("{value:.1}"),
    };
    match (values.first(), values.last()) {
        (Some(least), Some(most)) if values.len() > 1 && least != most => {
            format!("{} ({} to {})", text(median), text(*least), text(*most))
        }
        _ => text(median),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::wrong_rows;

    fn run(way: &str, cpu_seconds: f64, bugs: &[(&str, &str)]) -> Run {
        let bugs = bugs.iter().map(|(features, since)| dated(features, since)).collect();
        Run { way: way.to_string(), cpu_seconds, checks: 6000, seen: None, bugs }
    }

    fn dated(features: &str, since: &str) -> Finding {
        let mut finding = wrong_rows();
        finding.triage.signature = Some(crate::finding::Signature {
            fails: "wrong-result".to_string(),
            message: Vec::new(),
            features: features.split(' ').map(str::to_string).collect(),
        });
        finding.triage.history = Some(crate::finding::History {
            first_bad: since.to_string(),
            last_bad: "2".to_string(),
            ..Default::default()
        });
        finding
    }

    #[test]
    fn ways_are_compared_by_distinct_bugs() {
        let runs = [
            run("none", 60.0, &[("left-join", "1"), ("window", "1")]),
            run("none", 60.0, &[("left-join", "1")]),
            // One bug by the same versions, though another predicate shows it, and one that is its own.
            run("plan", 120.0, &[("left-join not", "1"), ("limit", "2")]),
        ];
        insta::assert_snapshot!(compare(&runs), @r"
        | hunt | runs | CPU-minutes each | checks per CPU-second | seen | bugs each | bugs per CPU-hour | bugs together | only here |
        | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        | none | 2 | 1 | 100 | – | 1.5 (1 to 2) | 90 (60 to 120) | 2 | 1 |
        | plan | 1 | 2 | 50 | – | 2 | 60 | 2 | 1 |

        | bug, and the runs that found it | none | plan |
        | --- | ---: | ---: |
        | wrong-result: left-join (1..=2) | 2 | 1 |
        | wrong-result: limit (2..=2) | 0 | 1 |
        | wrong-result: window (1..=2) | 1 | 0 |
        ");
    }

    #[test]
    fn what_was_not_bisected_is_said() {
        let mut undated = dated("left-join", "1");
        undated.triage.history = None;
        let mut one = run("none", 60.0, &[]);
        one.bugs.push(undated);
        let text = compare(&[one]);
        assert!(
            text.contains("by their features alone (1)") && text.contains("| wrong-result: left-join | 1 |")
        );
    }

    #[test]
    fn a_spread_has_a_middle_and_two_ends() {
        let text = |values: &[f64]| spread(values.iter().copied());
        assert_eq!(text(&[3.0, 1.0, 2.0]), "2 (1 to 3)");
        assert_eq!(text(&[1.0, 2.0]), "1.5 (1 to 2)");
        assert_eq!(text(&[1234.5, 1234.5]), "1,235");
        assert_eq!(text(&[]), "–");
    }
}
