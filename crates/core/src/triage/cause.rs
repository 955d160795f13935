//! Groups findings into bugs when the versions in which they fail are known.
//!
//! Features alone may be too fine, because one cause shows in several predicates, and too coarse, because two
//! causes show in one. Versions help with both: findings that appeared or disappeared at different times are
//! different bugs, and findings that appeared and disappeared together need less in common.

use std::collections::BTreeSet;

use super::signature::STORAGE;
use crate::finding::{Finding, History, Signature};
use crate::oracle::joinequiv::ANY_JOIN;

/// For each finding the name of its bug: `wrong-result: left-join row-value (3.24.0..3.31.0)`, the features of
/// its plainest finding and the versions that first fail and first do not. None without a signature or a history.
///
/// Two findings are one bug if they have the same versions and the same features but for those that only say
/// how rows are found and chosen: any predicate shows a row that is wrong.
pub fn causes(findings: &[&Finding]) -> Vec<Option<String>> {
    let mut keys: Vec<Option<Key>> = findings.iter().map(|finding| Key::of(finding)).collect();
    settle_joins(&mut keys);
    let name = |key: &Key| {
        let same = keys.iter().flatten().filter(|other| other.is_same_bug(key));
        // The fewest words that any of them needed.
        let plainest = same.min_by_key(|other| (other.words, other.signature));
        plainest.map(|plainest| format!("{} ({})", plainest.signature, key.versions))
    };
    keys.iter().map(|key| name(key.as_ref()?)).collect()
}

/// A join whose inner and outer forms disagree may be wrong in either. It is the outer one if other findings of
/// the same versions say so.
fn settle_joins(keys: &mut [Option<Key>]) {
    for at in 0..keys.len() {
        let Some(key) = keys[at].as_ref().filter(|key| key.any_join) else { continue };
        let mut telling = key.telling.clone();
        let outer = telling.as_mut().is_some_and(|telling| telling.insert("left-join"));
        let says_so =
            |other: &Key| !other.any_join && other.versions == key.versions && other.telling == telling;
        if outer && keys.iter().flatten().any(says_so) {
            keys[at].as_mut().into_iter().for_each(|key| key.telling = telling.clone());
        }
    }
}

/// `3.24.0..3.31.0`: the first version that fails, and the first after it that does not.
pub fn span(history: &History) -> String {
    // Where the next version could not tell, the last one that fails has to do.
    let until = match &history.first_good {
        Some(good) => good.clone(),
        None => format!("={}", history.last_bad),
    };
    format!("{}..{until}", history.first_bad)
}

struct Key<'a> {
    signature: &'a Signature,
    versions: String,
    /// How many features it names.
    words: usize,
    /// Those that are not left to chance; none if only the same signature is the same bug.
    telling: Option<BTreeSet<&'a str>>,
    any_join: bool,
}

impl<'a> Key<'a> {
    fn of(finding: &'a Finding) -> Option<Key<'a>> {
        let signature = finding.triage.signature.as_ref()?;
        let words = features_of(signature);
        let is_chance = |word: &&str| CHOOSES_ROWS.contains(word) || FINDS_ROWS.contains(word);
        let count = words.as_ref().map_or(0, BTreeSet::len);
        let any_join = words.as_ref().is_some_and(|words| words.contains(ANY_JOIN));
        let telling = words.map(|words| {
            // A table that is stored wrongly is read wrongly by any query.
            let stored: BTreeSet<&str> =
                words.iter().copied().filter(|word| STORAGE.contains(word)).collect();
            if stored.len() > 1 {
                return stored;
            }
            // The index over an expression matters, rarely what the expression computes.
            let over_expression = words.contains("index-expression");
            let is_computed = |word: &str| over_expression && word.ends_with("()");
            words
                .into_iter()
                .filter(|word| !is_chance(word) && *word != ANY_JOIN && !is_computed(word))
                .collect()
        });
        let versions = span(finding.triage.history.as_ref()?);
        Some(Key { signature, versions, words: count, telling, any_join })
    }

    fn is_same_bug(&self, other: &Key) -> bool {
        let same = match (&self.telling, &other.telling) {
            (Some(one), Some(other)) => one == other,
            _ => self.signature == other.signature,
        };
        same && self.versions == other.versions
    }
}

/// The features of a failure that is known by them. A broken table shows as a wrong result or by the engine's
/// complaint that the file is malformed.
fn features_of(signature: &Signature) -> Option<BTreeSet<&str>> {
    let by_features = match signature.fails.as_str() {
        "wrong-result" | "representation" => true,
        "internal-error" => signature.message.iter().any(|word| word == "malformed"),
        _ => false,
    };
    by_features.then(|| signature.features.iter().map(String::as_str).collect())
}

/// Predicates; what gives their operands is not chance, for it may have a type of its own.
const CHOOSES_ROWS: &[&str] = &[
    "and",
    "or",
    "not",
    "compare",
    "is-null",
    "is-true",
    "between",
    "in-list",
    "in-query",
    "arithmetic",
    "bits",
    "case",
    "concat",
    "having",
];

/// An engine makes an index where it has none. What is special about one (partial, over an expression) stays.
const FINDS_ROWS: &[&str] = &["index", "primary-key"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Class, Evidence, FINDING_FORMAT, Failure, Origin, Triage};
    use crate::sql::Query;
    use crate::subject::{Subject, TestCase};

    /// `wrong-result: left-join`, or `internal-error: is malformed | left-join` where there is a message.
    fn signature(text: &str) -> Signature {
        let (fails, words) = text.split_once(": ").unwrap();
        let (message, features) = words.split_once(" | ").unwrap_or(("", words));
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        Signature {
            fails: fails.to_string(),
            message: words(message),
            features: words(features).into_iter().collect(),
        }
    }

    fn finding(text: &str, first_bad: &str, first_good: Option<&str>) -> Finding {
        let history = History {
            first_bad: first_bad.to_string(),
            last_bad: "3.30.1".to_string(),
            first_good: first_good.map(str::to_string),
            ..History::default()
        };
        Finding {
            format: FINDING_FORMAT,
            target: "sqlite@3.30.1".to_string(),
            dialect: "sqlite".to_string(),
            engine_version: "3.30.1".to_string(),
            case: TestCase {
                setup: Vec::new(),
                subject: Subject::new("norec", Query::select(Default::default())),
            },
            evidence: Evidence {
                class: Class::WrongRows,
                relation: String::new(),
                arms: Vec::new(),
                failure: Failure::Described(String::new()),
                explanation: None,
            },
            origin: Origin::default(),
            triage: Triage { signature: Some(signature(text)), history: Some(history), ..Triage::default() },
        }
    }

    fn names(findings: &[Finding]) -> Vec<String> {
        causes(&findings.iter().collect::<Vec<_>>()).into_iter().flatten().collect()
    }

    #[test]
    fn versions_part_what_features_do_not() {
        let same = "wrong-result: compare left-join";
        let names = names(&[
            finding(same, "3.24.0", Some("3.31.0")),
            finding(same, "3.24.0", Some("3.32.0")),
            finding(same, "3.24.0", None),
        ]);
        assert_eq!(
            names,
            [
                "wrong-result: compare left-join (3.24.0..3.31.0)",
                "wrong-result: compare left-join (3.24.0..3.32.0)",
                "wrong-result: compare left-join (3.24.0..=3.30.1)",
            ]
        );
    }

    #[test]
    fn what_came_and_went_together_is_one_bug_whatever_predicate_shows_it() {
        let of = |signature| finding(signature, "3.24.0", Some("3.31.0"));
        let names = names(&[
            of("wrong-result: compare left-join not"),
            of("wrong-result: is-true left-join"),
            of("internal-error: database disk image is malformed | left-join"),
            of("wrong-result: is-true left-join row-value"),
            of("crash: left-join"),
            of("wrong-result: add-column collate in-list without-rowid"),
            of("internal-error: database disk image is malformed | add-column type-text without-rowid"),
            of("representation: compare index index-expression likely()"),
            of("wrong-result: in-list index index-expression unlikely()"),
        ]);
        assert!(names[..3].iter().all(|name| *name == names[2]), "{names:?}");
        assert_eq!(names[3], "wrong-result: is-true left-join row-value (3.24.0..3.31.0)");
        assert_eq!(names[4], "crash: left-join (3.24.0..3.31.0)");
        assert_eq!(names[5], names[6]);
        assert_eq!(names[7], names[8]);
    }

    #[test]
    fn a_join_of_any_kind_goes_with_the_outer_ones_if_there_are_any() {
        let of = |signature, since| finding(signature, since, Some("3.31.0"));
        let (any, outer) =
            ("wrong-result: any-join constant-column", "wrong-result: constant-column left-join");
        let inner = "wrong-result: compare constant-column";
        let names = names(&[
            of(any, "3.24.0"),
            of(outer, "3.24.0"),
            of(inner, "3.24.0"),
            of(any, "3.9.2"),
            of(inner, "3.9.2"),
        ]);
        assert!(names[0] == names[1] && names[1] != names[2] && names[3] == names[4], "{names:?}");
    }

    #[test]
    fn what_was_not_dated_has_no_name() {
        let mut undated = finding("wrong-result: compare", "3.24.0", None);
        undated.triage.history = None;
        assert_eq!(causes(&[&undated]), [None]);
    }
}
