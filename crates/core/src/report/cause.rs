//! The cause of a finding in words.

use super::one_line;
use crate::dialect::Dialect;
use crate::finding::{Finding, History, Switch};
use crate::oracle;
use crate::sql::Name;
use crate::triage::parts_of_value;

/// ``vanishes with `SET disabled_optimizers = 'common_subplan'`; fails since 1.5.0``. None if nothing is known.
pub fn cause(finding: &Finding, dialect: &Dialect) -> Option<String> {
    let switches = finding.triage.cause.as_ref().and_then(|cause| {
        let compared = is_an_arm(finding, dialect);
        let named: Vec<String> =
            cause.switches.iter().map(|switch| in_words(switch, compared, dialect)).collect();
        let together = if named.len() > 1 && !compared { " together" } else { "" };
        let verb = if compared { "depends on" } else { "vanishes" };
        (!named.is_empty()).then(|| format!("{verb} {}{together}", named.join(" and ")))
    });
    let since = finding.triage.history.as_ref().filter(|_| finding.triage.against.is_none()).and_then(since);
    let both: Vec<String> = switches.into_iter().chain(since).collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// Whether the oracle asked with and without the switch: then nobody knows which of the two is right.
fn is_an_arm(finding: &Finding, dialect: &Dialect) -> bool {
    let own = oracle::by_name(&finding.case.subject.oracle)
        .and_then(|oracle| oracle.switch(&finding.case, dialect));
    let cause = finding.triage.cause.iter().flat_map(|cause| &cause.switches);
    own.is_some_and(|own| match own {
        // Its value may have been reduced since.
        Switch::Setting { .. } => true,
        own => cause.into_iter().any(|switch| *switch == own),
    })
}

/// A switch after "depends on", or after "vanishes".
fn in_words(switch: &Switch, compared: bool, dialect: &Dialect) -> String {
    let code = |text: &str| format!("`{}`", one_line(text).replace('`', "'"));
    let (words, preposition) = match switch {
        Switch::Setting { name, value, sql } => match meaning(name, value, dialect) {
            Some(meaning) => (format!("{} ({meaning} off)", code(sql)), "with "),
            None => (code(sql), "with "),
        },
        Switch::Without { named, .. } => (code(named), "without "),
        Switch::Unprepared if compared => ("whether statements are prepared".to_string(), ""),
        Switch::Unprepared => ("if statements are not prepared".to_string(), ""),
    };
    if compared { words } else { format!("{preposition}{words}") }
}

/// What the bits of a mask stand for, where the dialect tells.
fn meaning(name: &str, value: &str, dialect: &Dialect) -> Option<String> {
    let setting = dialect.setting(name)?;
    let parts = parts_of_value(&Name::from(value)).unwrap_or_default();
    let names: Option<Vec<&str>> =
        parts.iter().map(|part| setting.meanings.get(part).map(String::as_str)).collect();
    names.filter(|names| !names.is_empty()).map(|names| names.join(", "))
}

/// Since when it fails, where that is known, and which version no longer does.
fn since(history: &History) -> Option<String> {
    let since = history.last_good.as_ref().map(|_| format!("fails since {}", history.first_bad));
    // Versions between may not be on this machine.
    let good = history.first_good.as_ref().map(|good| format!("good in {good}"));
    let words: Vec<String> = since.into_iter().chain(good).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Cause, Class, Evidence, FINDING_FORMAT, Failure, Origin};
    use crate::sql::{Query, Statement};
    use crate::subject::{Subject, TestCase};

    fn finding(oracle: &str, tests: Vec<Statement>, switches: Vec<Switch>) -> Finding {
        let query = Query::select(Default::default()).into();
        let tests = std::iter::once(query).chain(tests).collect();
        let mut finding = Finding {
            format: FINDING_FORMAT,
            target: "sqlite@3.30.1".to_string(),
            dialect: "sqlite".to_string(),
            engine_version: "3.30.1".to_string(),
            case: TestCase { setup: Vec::new(), subject: Subject::of(oracle, tests) },
            evidence: Evidence {
                class: Class::WrongRows,
                relation: String::new(),
                arms: Vec::new(),
                failure: Failure::Described(String::new()),
                explanation: None,
            },
            origin: Origin::default(),
            triage: Default::default(),
        };
        finding.triage.cause = Some(Cause { switches, complete: true, ..Cause::default() });
        finding
    }

    fn bit(value: &str) -> Switch {
        let dialect = Dialect::load("sqlite", "3.30.1").unwrap();
        Switch::setting(&"optimizations".into(), &value.into(), &dialect)
    }

    #[test]
    fn a_cause_reads_as_a_sentence() {
        let dialect = Dialect::load("sqlite", "3.30.1").unwrap();
        let told = |finding: &Finding| cause(finding, &dialect).unwrap_or_default();
        let mut found = finding("norec", Vec::new(), vec![bit("0x00002000")]);
        found.triage.history = Some(History {
            last_good: Some("3.28.0".to_string()),
            first_bad: "3.29.0".to_string(),
            last_bad: "3.30.1".to_string(),
            first_good: Some("3.31.0".to_string()),
            ..History::default()
        });
        assert_eq!(
            told(&found),
            "vanishes with `.testctrl optimizations 0x00002000` (SimplifyJoin off); fails since 3.29.0, good in 3.31.0"
        );
        let set = Statement::Set { name: "optimizations".into(), value: "0x00000001".into() };
        let asked = finding("plan", vec![set], vec![bit("0x00000001")]);
        assert_eq!(told(&asked), "depends on `.testctrl optimizations 0x00000001` (QueryFlattener off)");
        let prepared = finding("epsc", Vec::new(), vec![Switch::Unprepared]);
        assert_eq!(told(&prepared), "depends on whether statements are prepared");
        let named = "UNIQUE of t0.c0".to_string();
        let unique =
            finding("norec", Vec::new(), vec![Switch::Without { part: "unique".to_string(), named }]);
        assert_eq!(told(&unique), "vanishes without `UNIQUE of t0.c0`");
        assert_eq!(cause(&finding("norec", Vec::new(), Vec::new()), &dialect), None);
    }
}
