//! What in the figures of a campaign makes its silence worth less than it looks.

use dissent_campaign::{Label, Summary};

use crate::numbers::{counted, grouped, percent};

/// Statements that fail say little about the engine.
const LEAST_VALIDITY: f64 = 0.90;
/// A reason that takes so large a part of an oracle's cases hides something, in the oracle or in the generator.
const LARGE_SKIP: f64 = 0.20;
/// An oracle with less than this part of an even share of the checks has hardly run.
const SMALL_SHARE: f64 = 0.01;
/// Too few cases say nothing about shares.
const ENOUGH: u64 = 100;

/// The worst first: whole lines, without an end mark.
pub fn of(summary: &Summary) -> Vec<String> {
    let mut found = Vec::new();
    if let [first, ..] = summary.worker_failures.as_slice() {
        let failures = summary.worker_failures.len() as u64;
        found.push(format!("{}, such as: {first}", counted(failures, "worker failure")));
    }
    let (valid, all) = (summary.statements_ok, summary.statements);
    if all >= ENOUGH && (valid as f64) < LEAST_VALIDITY * all as f64 {
        found.push(format!("only {} of the statements were valid", percent(valid, all)));
    }
    found.extend(idle_oracles(summary));
    found.extend(large_skips(summary));
    found
}

fn idle_oracles(summary: &Summary) -> Vec<String> {
    let total = summary.checks.get("total").copied().unwrap_or(0);
    let oracles = || summary.checks.iter().filter(|(name, _)| *name != "total");
    let fair = total as f64 / oracles().count().max(1) as f64;
    if summary.cases.max(total) < ENOUGH {
        return Vec::new();
    }
    let mut idle: Vec<(&Label, u64)> = oracles()
        .map(|(name, checks)| (name, *checks))
        .filter(|(_, checks)| *checks == 0 || (*checks as f64) < SMALL_SHARE * fair)
        .collect();
    idle.sort_by_key(|(_, checks)| *checks);
    let line = |(name, checks): (&Label, u64)| match checks {
        0 => format!("{name} never reached a verdict"),
        _ => format!("{name} hardly ran: {} of {}", counted(checks, "check"), grouped(total)),
    };
    idle.into_iter().map(line).collect()
}

/// The largest part first.
fn large_skips(summary: &Summary) -> Vec<String> {
    let mut large = Vec::new();
    for (oracle, reasons) in &summary.skips {
        let cases = summary.checks.get(oracle).copied().unwrap_or(0) + reasons.values().sum::<u64>();
        for (reason, count) in reasons {
            let part = *count as f64 / cases.max(1) as f64;
            if cases >= ENOUGH && part > LARGE_SKIP {
                let share = percent(*count, cases);
                large.push((part, format!("{oracle} skipped {share} of its cases: {reason}")));
            }
        }
    }
    large.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    large.into_iter().map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary(more: serde_json::Value) -> Summary {
        let mut all =
            json!({"statements": 1000, "statements_ok": 990, "checks": {"a": 500, "b": 500, "total": 1000}});
        for (name, value) in more.as_object().unwrap() {
            all[name] = value.clone();
        }
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn what_went_well_is_not_suspicious() {
        assert_eq!(of(&summary(json!({"skips": {"a": {"no rows": 125}}}))), Vec::<String>::new());
        let short = json!({"statements": 99, "statements_ok": 1, "checks": {"a": 9, "b": 0, "total": 9}});
        assert_eq!(of(&summary(short)), Vec::<String>::new());
    }

    #[test]
    fn each_threshold_has_its_line() {
        let bad = json!({
            "statements_ok": 899,
            "checks": {"a": 990, "b": 0, "c": 2, "total": 992},
            "skips": {"a": {"no rows": 300, "odd": 7}, "c": {"rare": 3}},
            "worker_failures": ["exit code 101", "exit code 101"],
        });
        let told = of(&summary(bad));
        let expected = [
            "2 worker failures, such as: exit code 101",
            "only 89.9 % of the statements were valid",
            "b never reached a verdict",
            "c hardly ran: 2 checks of 992",
            "a skipped 23.1 % of its cases: no rows",
        ];
        assert_eq!(told, expected);
    }
}
