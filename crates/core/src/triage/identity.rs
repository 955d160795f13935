//! Which findings are one bug.
//!
//! Features alone may be too fine, because one cause shows in several predicates, and too coarse, because two
//! causes show in one. Switches and versions help with both: findings that a different setting cures, or that appeared
//! or disappeared at different times, are different bugs; those that the same setting cures, or that appeared and
//! disappeared together, need less in common.

use std::collections::BTreeSet;

use super::history::{contradict, has_an_end, span};
use super::signature::STORAGE;
use crate::finding::{Cause, Finding, History, Signature};
use crate::oracle::joinequiv::ANY_JOIN;

/// For each finding the name of its bug: `wrong-result: left-join row-value (3.24.0..3.31.0)`, the features of
/// its plainest finding, the setting that cures it, and the versions that first fail and first do not. None without a
/// signature, or if neither is known.
pub fn causes(findings: &[&Finding]) -> Vec<Option<String>> {
    let of = |finding: &&Finding| {
        let known = finding.triage.history.is_some() || finding.triage.cause.is_some();
        Identity::of(finding).filter(|_| known)
    };
    let mut all: Vec<Option<Identity>> = findings.iter().map(of).collect();
    settle_joins(&mut all);
    let name = |identity: &Identity| {
        let same = all.iter().flatten().filter(|other| other.is_same_bug(identity));
        // The fewest words that any of them needed.
        let plainest = same.min_by_key(|other| (other.signature.features.len(), &other.signature));
        plainest.unwrap_or(identity).name()
    };
    all.iter().map(|identity| identity.as_ref().map(name)).collect()
}

/// A join whose inner and outer forms disagree may be wrong in either. It is the outer one if other findings of
/// the same versions say so.
fn settle_joins(all: &mut [Option<Identity>]) {
    for at in 0..all.len() {
        let Some(identity) = all[at].as_ref().filter(|identity| identity.any_join) else { continue };
        let mut telling = identity.telling.clone();
        let outer = telling.as_mut().is_some_and(|telling| telling.insert("left-join".to_string()));
        let says_so = |other: &Identity| {
            !other.any_join && other.versions() == identity.versions() && other.telling == telling
        };
        if outer && all.iter().flatten().any(says_so) {
            all[at].as_mut().into_iter().for_each(|identity| identity.telling = telling.clone());
        }
    }
}

/// What decides which bug a reduced finding is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    signature: Signature,
    /// The settings that cure it; none if no setting does.
    settings: Option<Vec<String>>,
    /// Whether all settings were tried.
    tried: bool,
    /// The versions that have it, if they are known.
    history: Option<History>,
    /// The features that are not left to chance; none if only the same signature is the same bug.
    telling: Option<BTreeSet<String>>,
    any_join: bool,
}

impl Identity {
    /// That of a finding; none before it is reduced.
    pub fn of(finding: &Finding) -> Option<Identity> {
        let signature = finding.triage.signature.as_ref()?;
        Some(Identity::new(signature, finding.triage.cause.as_ref(), finding.triage.history.as_ref()))
    }

    /// The same from its parts.
    pub fn new(signature: &Signature, cause: Option<&Cause>, history: Option<&History>) -> Identity {
        let words = features_of(signature);
        let any_join = words.as_ref().is_some_and(|words| words.contains(ANY_JOIN));
        Identity {
            settings: cause.and_then(Cause::settings),
            tried: cause.is_some_and(|cause| cause.complete),
            history: history.cloned(),
            telling: words.map(telling),
            any_join,
            signature: signature.clone(),
        }
    }

    /// Two findings are one bug if the same settings cure them, the same versions have them, and their features do not
    /// contradict: but for those that only say how rows are found and chosen (any predicate shows a row that is wrong)
    /// they are the same, or, if a setting says where in the engine they fail, one needs no other features than the
    /// other has.
    pub fn is_same_bug(&self, other: &Identity) -> bool {
        if !self.may_share_versions(other) {
            return false;
        }
        match (&self.settings, &other.settings) {
            (Some(one), Some(two)) => one == two && self.resembles(other),
            (None, None) => self.looks_like(other),
            // The time was over before a setting was found: the rest has to do.
            (None, Some(_)) => !self.tried && self.looks_like(other),
            (Some(_), None) => !other.tried && self.looks_like(other),
        }
    }

    /// Whether one bug may have failed in the versions of both, where both are dated. What a version makes of a table that
    /// is stored wrongly differs from version to version.
    fn may_share_versions(&self, other: &Identity) -> bool {
        match (&self.history, &other.history) {
            (Some(one), Some(two)) => {
                !contradict(one, two) || self.is_stored_wrongly() && other.is_stored_wrongly()
            }
            _ => true,
        }
    }

    fn is_stored_wrongly(&self) -> bool {
        let stored = |word: &String| STORAGE.contains(&word.as_str());
        self.telling.as_ref().is_some_and(|telling| telling.len() > 1 && telling.iter().all(stored))
    }

    /// Fails alike, and the features of one are among those of the other.
    fn resembles(&self, other: &Identity) -> bool {
        match (&self.telling, &other.telling) {
            // Nothing tells: without versions, this would be among the features of everything.
            (Some(one), Some(two)) if one.is_empty() || two.is_empty() => {
                self.is_dated_like(other) || self.signature == other.signature
            }
            (Some(one), Some(two)) => one.is_subset(two) || two.is_subset(one),
            (None, None) => {
                let (one, two) = (&self.signature, &other.signature);
                let within = one.features.is_subset(&two.features) || two.features.is_subset(&one.features);
                one.fails == two.fails && one.message == two.message && within
            }
            _ => false,
        }
    }

    /// Has the same features, of which less count where the versions are known to be the same.
    fn looks_like(&self, other: &Identity) -> bool {
        match (&self.telling, &other.telling) {
            (Some(one), Some(two)) if self.is_dated_like(other) => one == two,
            _ => self.signature == other.signature,
        }
    }

    /// Whether they came and went together, as far as versions were checked. That is not enough if features tell nothing
    /// and every version that was checked fails.
    fn is_dated_like(&self, other: &Identity) -> bool {
        let tells =
            |identity: &Identity| identity.telling.as_ref().is_some_and(|telling| !telling.is_empty());
        match (&self.history, &other.history) {
            (Some(one), Some(two)) => {
                let together = span(one) == span(two) && (tells(self) && tells(other) || has_an_end(one));
                together || self.is_stored_wrongly() && other.is_stored_wrongly()
            }
            _ => false,
        }
    }

    fn versions(&self) -> Option<String> {
        self.history.as_ref().map(span)
    }

    fn name(&self) -> String {
        let settings = self.settings.as_ref().map(|settings| format!(" [{}]", settings.join(", ")));
        let versions = self.versions().map(|versions| format!(" ({versions})"));
        format!("{}{}{}", self.signature, settings.unwrap_or_default(), versions.unwrap_or_default())
    }
}

/// The features that say what is wrong.
fn telling(words: BTreeSet<&str>) -> BTreeSet<String> {
    let is_chance = |word: &str| CHOOSES_ROWS.contains(&word) || FINDS_ROWS.contains(&word);
    // A table that is stored wrongly is read wrongly by any query.
    let stored: BTreeSet<String> =
        words.iter().filter(|word| STORAGE.contains(word)).map(|word| word.to_string()).collect();
    if stored.len() > 1 {
        return stored;
    }
    // The index over an expression matters, rarely what the expression computes.
    let over_expression = words.contains("index-expression");
    let is_computed = |word: &str| over_expression && word.ends_with("()");
    let matters = |word: &&str| !is_chance(word) && *word != ANY_JOIN && !is_computed(word);
    words.into_iter().filter(matters).map(str::to_string).collect()
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
    use crate::finding::{Class, Evidence, FINDING_FORMAT, Failure, Origin, Switch, Triage};
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

    /// Found on 3.30.1, where every version was checked.
    fn finding(text: &str, first_bad: &str, first_good: Option<&str>) -> Finding {
        const ALL: &[&str] =
            &["3.8.5", "3.8.6", "3.9.2", "3.23.0", "3.24.0", "3.30.1", "3.31.0", "3.32.0", "3.36.0"];
        let before = |version: &str| {
            let at = ALL.iter().position(|known| *known == version).unwrap();
            ALL[at - 1].to_string()
        };
        let history = History {
            last_good: Some(before(first_bad)),
            first_bad: first_bad.to_string(),
            last_bad: first_good.map_or_else(|| "3.36.0".to_string(), before),
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
                "wrong-result: compare left-join (3.24.0..=3.36.0)",
            ]
        );
    }

    #[test]
    fn a_table_that_is_stored_wrongly_is_one_bug_however_versions_read_it() {
        let names = names(&[
            finding("wrong-result: add-column collate without-rowid", "3.24.0", Some("3.31.0")),
            finding("wrong-result: add-column in-list without-rowid", "3.8.6", Some("3.36.0")),
            finding("wrong-result: in-list without-rowid", "3.8.6", Some("3.31.0")),
        ]);
        assert!(names[0] == names[1] && names[0] != names[2], "{names:?}");
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

    /// A finding that a setting cures, or none if it is empty.
    fn cured(text: &str, value: &str) -> Finding {
        let mut finding = finding(text, "3.24.0", None);
        let switch = Switch::Setting { name: "off".into(), value: value.into(), sql: String::new() };
        let switches = if value.is_empty() { Vec::new() } else { vec![switch] };
        finding.triage.cause = Some(Cause { switches, complete: true, ..Cause::default() });
        finding
    }

    #[test]
    fn what_one_setting_cures_is_one_bug_unless_features_contradict() {
        let names = names(&[
            cured("wrong-result: compare left-join", "a"),
            cured("wrong-result: is-true left-join limit", "a"),
            cured("wrong-result: compare left-join", "b"),
            cured("wrong-result: compare left-join", ""),
            cured("wrong-result: window", "a"),
            cured("crash: left-join", "a"),
        ]);
        assert_eq!(names[0], names[1]);
        let different: BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), 5, "{names:?}");
        assert_eq!(names[0], "wrong-result: compare left-join [off=a] (3.24.0..=3.36.0)");
    }

    #[test]
    fn features_that_say_nothing_swallow_no_other_bug() {
        let same = |one: &Finding, two: &Finding| {
            let [one, two] = [one, two].map(|finding| Identity::of(finding).unwrap());
            assert_eq!(one.is_same_bug(&two), two.is_same_bug(&one));
            one.is_same_bug(&two)
        };
        let dated = ["wrong-result: compare", "wrong-result: compare window"].map(|text| cured(text, "a"));
        assert!(same(&dated[0], &dated[1]));
        let [plain, window] = dated.map(|mut finding| {
            finding.triage.history = None;
            finding
        });
        assert!(!same(&plain, &window) && same(&plain, &plain));
        // One version that fails, and no other, dates nothing.
        let only_here = |finding: &Finding| {
            let version = || "3.30.1".to_string();
            let history = History { first_bad: version(), last_bad: version(), ..History::default() };
            let mut finding = finding.clone();
            finding.triage.history = Some(history);
            finding
        };
        assert!(!same(&only_here(&plain), &only_here(&window)));
    }

    #[test]
    fn a_machine_with_other_versions_finds_the_same_bug() {
        let all = finding("wrong-result: compare left-join", "3.24.0", Some("3.31.0"));
        let mut few = all.clone();
        few.triage.history = Some(History {
            first_bad: "3.30.1".to_string(),
            last_bad: "3.30.1".to_string(),
            first_good: Some("3.36.0".to_string()),
            ..History::default()
        });
        let names = names(&[all.clone(), few]);
        assert_eq!(names[0], names[1]);
    }

    #[test]
    fn a_search_that_was_broken_off_leaves_the_rest_to_decide() {
        let whole = cured("wrong-result: compare left-join", "a");
        let mut broken_off = cured("wrong-result: compare left-join", "");
        let same = |one: &Finding, two: &Finding| {
            Identity::of(one).unwrap().is_same_bug(&Identity::of(two).unwrap())
        };
        assert!(!same(&whole, &broken_off));
        broken_off.triage.cause.as_mut().unwrap().complete = false;
        assert!(same(&whole, &broken_off) && same(&broken_off, &whole));
    }

    #[test]
    fn what_was_not_dated_has_no_name() {
        let mut undated = finding("wrong-result: compare", "3.24.0", None);
        undated.triage.history = None;
        assert_eq!(causes(&[&undated]), [None]);
    }
}
