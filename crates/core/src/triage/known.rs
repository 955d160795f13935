//! Known bugs and accepted behaviours as data: `known/*.toml`, one file per dialect.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{features, signature};
use crate::dialect::{Feature, Version};
use crate::embedded::KNOWN;
use crate::finding::{Cause, Finding, Signature};
use crate::sql::Name;

/// A known bug or an accepted behaviour, and how to recognise its findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The name by which findings refer to it.
    pub id: String,
    /// Whether it is a bug or is meant to be so.
    pub status: Status,
    /// What is wrong and which arm is, or why it is accepted.
    pub reason: String,
    /// Where it was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// When the entry was made: `2026-11-18`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<String>,
    /// A finding that shows it, as a file beside the one with the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// The versions that have it: `10.5..11.8`, either end open; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<String>,
    /// How it fails: the first word of a signature.
    pub fails: String,
    /// Words that the signature of a reduced finding always contains.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub features: BTreeSet<String>,
    /// Words of which it contains at least one, for a bug that many functions have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub one_of: BTreeSet<String>,
    /// Words that it never contains: those of another bug that looks similar.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without: BTreeSet<String>,
    /// The settings that cure it, as findings name them: `disabled_optimizers='common_subplan'`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cause: Vec<String>,
    /// Part of what the engine says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What to generate rarely while the bug exists, so that a hunt moves on.
    #[serde(default, skip_serializing_if = "Avoid::is_empty")]
    pub avoid: Avoid,
}

/// What is thought of something known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It is a bug.
    Bug,
    /// It is as its makers want it; hunts do not report it.
    Accepted,
}

/// Features and functions of a dialect that trigger known bugs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Avoid {
    /// Features of the dialect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Feature>,
    /// Functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Name>,
}

impl Avoid {
    /// Whether there is nothing to avoid.
    pub fn is_empty(&self) -> bool {
        self.features.is_empty() && self.functions.is_empty()
    }

    /// Avoids what the other avoids, too.
    pub fn add(&mut self, other: &Avoid) {
        self.features.extend(&other.features);
        self.functions.extend(other.functions.iter().cloned());
    }
}

/// A file of `known/`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFile {
    /// Its entries.
    #[serde(default)]
    pub known: Vec<Known>,
}

/// The built-in entries of a dialect.
pub fn built_in(dialect: &str) -> Vec<Known> {
    let Some((name, text)) = KNOWN.iter().find(|(name, _)| *name == dialect) else { return Vec::new() };
    match toml::from_str::<KnownFile>(text) {
        Ok(file) => file.known,
        // Each of them is read by a test.
        Err(error) => panic!("known/{name}.toml: {error}"),
    }
}

/// The dialects with a file built in.
pub fn dialects() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, _)| *name)
}

impl Known {
    /// An entry for a reduced finding: what its signature says.
    pub fn of(finding: &Finding, id: String, status: Status, reason: String, link: Option<String>) -> Known {
        Known {
            id,
            status,
            reason,
            link,
            added: None,
            example: None,
            versions: finding.triage.history.as_ref().map(|history| {
                let until = if history.first_good.is_some() { history.last_bad.as_str() } else { "" };
                format!("{}..{until}", if history.last_good.is_some() { &history.first_bad } else { "" })
            }),
            fails: finding.evidence.class.grade().to_string(),
            features: features(&finding.case),
            one_of: BTreeSet::new(),
            without: BTreeSet::new(),
            cause: finding.triage.cause.as_ref().and_then(Cause::settings).unwrap_or_default(),
            message: None,
            avoid: Avoid::default(),
        }
    }

    /// Whether an engine of this version has it.
    pub fn concerns(&self, version: &str) -> bool {
        let Some(range) = &self.versions else { return true };
        let (from, to) = range.split_once("..").unwrap_or((range, range));
        let version = Version::parse(version);
        (from.is_empty() || version >= Version::parse(from))
            && (to.is_empty() || version <= Version::parse(to))
    }

    /// Whether a finding has all of its marks, itself or as it was put to another oracle. Of a finding that is not
    /// reduced this is only likely: what it holds may be chance.
    pub fn marks(&self, finding: &Finding) -> bool {
        let mut held = features(&finding.case);
        let restated = finding.triage.signature.iter();
        held.extend(restated.flat_map(|signature| &signature.features).cloned());
        self.fails == finding.evidence.class.grade()
            && self.concerns(&finding.engine_version)
            && self.features.is_subset(&held)
            && (self.one_of.is_empty() || !self.one_of.is_disjoint(&held))
            && self.without.is_disjoint(&held)
            && self.is_cured_alike(finding)
            && self.message.as_ref().is_none_or(|part| says(finding, part))
    }

    /// A finding on which not every switch was tried may have the cause, if none was found.
    fn is_cured_alike(&self, finding: &Finding) -> bool {
        let may_be_it = |cause: &Cause| match cause.settings() {
            Some(own) => own == self.cause,
            None => !cause.complete && cause.switches.is_empty(),
        };
        self.cause.is_empty() || finding.triage.cause.as_ref().is_none_or(may_be_it)
    }
}

/// Whether a part is in what the engine says of a finding.
fn says(finding: &Finding, part: &str) -> bool {
    finding.evidence.error().is_some_and(|error| error.message.contains(part))
}

/// Whether a bug of this signature could be all there is to a finding: it holds everything that bug needs.
pub fn explains(known: &Signature, finding: &Finding) -> bool {
    let own = signature(&finding.case, &finding.evidence);
    known.fails == own.fails && known.message == own.message && known.features.is_subset(&own.features)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{ErrorClass, SqlError};
    use crate::finding::{Class, Evidence, FINDING_FORMAT, Failure, Origin, Switch};
    use crate::sql::*;
    use crate::subject::{Subject, TestCase};

    fn words(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    fn signed(fails: &str, features: &[&str]) -> Signature {
        Signature { fails: fails.to_string(), message: Vec::new(), features: words(features) }
    }

    fn finding(predicate: Expr, class: Class) -> Finding {
        let query = Query::select(Select {
            items: vec![Expr::int(1).into()],
            filter: Some(predicate),
            ..Select::default()
        });
        Finding {
            format: FINDING_FORMAT,
            target: "mariadb".into(),
            dialect: "mariadb".into(),
            engine_version: "10.11.3".into(),
            case: TestCase { setup: Vec::new(), subject: Subject::new("norec", query) },
            evidence: Evidence {
                class,
                relation: String::new(),
                arms: Vec::new(),
                failure: Failure::Harm {
                    error: SqlError {
                        class: ErrorClass::Internal,
                        code: String::new(),
                        message: "oh".into(),
                    },
                    stack: Vec::new(),
                },
                explanation: None,
            },
            origin: Origin::default(),
            triage: Default::default(),
        }
    }

    fn rows_compared() -> Expr {
        let row = || Expr::Row(vec![Expr::int(1), Expr::null()]);
        Expr::binary(BinaryOp::Eq, row(), row())
    }

    fn known() -> Known {
        let found = finding(rows_compared(), Class::WrongRows);
        Known::of(&found, "row-null".into(), Status::Bug, "why".into(), None)
    }

    #[test]
    fn every_built_in_file_reads_and_names_each_entry_once() {
        for dialect in dialects() {
            let entries = built_in(dialect);
            let ids: BTreeSet<&str> = entries.iter().map(|known| known.id.as_str()).collect();
            assert_eq!(ids.len(), entries.len(), "known/{dialect}.toml");
        }
    }

    /// What an entry says in few and common words would take new bugs for known ones.
    #[test]
    fn every_built_in_entry_is_told_by_more_than_common_words() {
        let common = words(&[
            "and",
            "compare",
            "in-list",
            "in-query",
            "index",
            "insert-select",
            "is-null",
            "not",
            "or",
        ]);
        let generic =
            ["nil pointer", "index out of range", "NullPointerException", "IndexOutOfBounds", "overflow"];
        for dialect in dialects() {
            for entry in built_in(dialect).iter().filter(|entry| entry.cause.is_empty()) {
                let says_nothing = |part: &String| generic.iter().any(|word| part.contains(word));
                let narrowed = match &entry.message {
                    Some(message) => !says_nothing(message) || !entry.features.is_empty(),
                    None => !entry.without.is_empty() || !entry.one_of.is_empty(),
                };
                let special = entry.features.difference(&common).next().is_some();
                assert!(narrowed || special, "known/{dialect}.toml: {} takes too much", entry.id);
            }
        }
    }

    #[test]
    fn a_finding_with_all_marks_is_known_whatever_else_it_holds() {
        let more = finding(rows_compared().negate(), Class::WrongValues);
        assert!(known().marks(&more));
        assert!(!known().marks(&finding(Expr::int(1).negate(), Class::WrongRows)));
        assert!(!known().marks(&finding(rows_compared(), Class::Crash)));
        let other = Known { without: BTreeSet::from(["not".to_string()]), ..known() };
        assert!(!other.marks(&more));
        let family = |words: [&str; 2]| Known { one_of: words.map(String::from).into(), ..known() };
        assert!(family(["quote()", "not"]).marks(&more) && !family(["quote()", "field()"]).marks(&more));
        let restated = Known { features: BTreeSet::from(["is-null".to_string()]), ..known() };
        assert!(!restated.marks(&more));
        let mut put_to_another = more.clone();
        put_to_another.triage.signature = Some(signed("wrong-result", &["compare", "is-null"]));
        assert!(restated.marks(&put_to_another));
        let spoken = Known { message: Some("oh dear".to_string()), ..known() };
        assert!(!spoken.marks(&more));
    }

    #[test]
    fn a_search_for_the_cause_that_was_broken_off_contradicts_no_entry() {
        let entry = Known { cause: vec!["off='a'".to_string()], ..known() };
        let searched = |value: Option<&str>, complete| {
            let setting = |value: &str| Switch::Setting {
                name: "off".into(),
                value: value.to_string(),
                sql: String::new(),
            };
            let mut found = finding(rows_compared(), Class::WrongRows);
            let switches = value.map(setting).into_iter().collect();
            found.triage.cause = Some(Cause { switches, complete, ..Cause::default() });
            entry.marks(&found)
        };
        assert!(searched(Some("'a'"), true) && searched(Some("'a'"), false) && searched(None, false));
        assert!(!searched(None, true) && !searched(Some("'b'"), false));
    }

    #[test]
    fn a_range_of_versions_may_be_open() {
        let within = |range: &str| Known { versions: Some(range.into()), ..known() }.concerns("10.11.3");
        assert!(within("10.5..11.8") && within("10.11.3..") && within("..10.11.3"));
        assert!(!within("11.0..") && !within("..10.6"));
    }

    #[test]
    fn a_bug_explains_what_holds_all_it_needs() {
        let more = finding(rows_compared().negate(), Class::WrongRows);
        assert!(explains(&signed("wrong-result", &["compare", "row-value"]), &more));
        assert!(!explains(&signed("wrong-result", &["compare", "left-join"]), &more));
        assert!(!explains(&signed("crash", &["compare", "row-value"]), &more));
    }

    #[test]
    fn an_entry_survives_its_file() {
        let file = KnownFile { known: vec![known()] };
        let text = toml::to_string(&file).expect("it is plain data");
        assert_eq!(toml::from_str::<KnownFile>(&text).expect("and reads back").known, file.known);
    }
}
