//! The bugs of a campaign: findings with the same signature, of which the smallest example is kept.

use std::path::{Path, PathBuf};

use dissent_core::dialect::Dialect;
use dissent_core::finding::{Cause, Class, Finding, History, Signature};
use dissent_core::reduce::Weight;
use dissent_core::report;
use dissent_core::triage::known::Known;
use dissent_core::triage::{Identity, span};
use serde::{Deserialize, Serialize};

/// One entry of `bugs.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bug {
    /// The name of its directory.
    pub id: String,
    /// The oracle that found its smallest example.
    pub oracle: String,
    /// How severe it is.
    pub class: Class,
    /// What is wrong, in a few words; empty in lists of older campaigns.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What its findings have in common; none for a finding that was not reduced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// What makes its smallest example vanish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The known bug or behaviour it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// The versions that have it, once bisected: bugs of one signature may have different ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// How many findings were this bug.
    pub count: u64,
    /// The statements in the setup of its smallest example.
    pub statements: usize,
    /// The tokens of its smallest example.
    pub tokens: usize,
    /// `findings/ID` of the campaign, wherever that is now.
    #[serde(skip)]
    pub directory: PathBuf,
}

impl Bug {
    /// What a finding shows, seen once.
    pub(crate) fn of(finding: &Finding, directory: &Path, dialect: &Dialect, known: &[Known]) -> Bug {
        // Only a reduced finding can be identified.
        let entry = known.iter().find(|known| finding.triage.signature.is_some() && known.marks(finding));
        Bug {
            id: id(directory),
            oracle: finding.case.subject.oracle.clone(),
            class: finding.evidence.class,
            title: report::title(finding, dialect),
            signature: finding.triage.signature.clone(),
            cause: finding.triage.cause.clone(),
            known: entry.map(|known| known.id.clone()).or_else(|| old(finding)),
            history: finding.triage.history.clone(),
            count: 1,
            statements: finding.case.setup.len(),
            tokens: Weight::of(&finding.case, dialect).tokens,
            directory: directory.to_path_buf(),
        }
    }

    /// What decides whether a finding is this bug; none before it is reduced.
    fn identity(&self) -> Option<Identity> {
        let signature = self.signature.as_ref()?;
        Some(Identity::new(signature, self.cause.as_ref(), self.history.as_ref()))
    }

    /// `3.24.0..3.31.0`: the versions that have it, if they are known.
    pub fn versions(&self) -> Option<String> {
        self.history.as_ref().map(span)
    }

    fn kind(&self) -> (&str, Class) {
        (&self.oracle, self.class)
    }

    /// How large its smallest example is.
    pub fn size(&self) -> (usize, usize) {
        (self.tokens, self.statements)
    }
}

/// What the baseline shows as well is known; each such bug is listed under its own name.
fn old(finding: &Finding) -> Option<String> {
    let baseline = finding.triage.also_on.as_ref()?;
    let signature = finding.triage.signature.as_ref().map(|signature| format!(": {signature}"));
    Some(format!("also on {baseline}{}", signature.unwrap_or_default()))
}

impl Bug {
    /// A name for it wherever it was found: two bugs never have the same, though one bug may have several.
    pub fn key(&self) -> String {
        match (&self.known, &self.signature) {
            (Some(known), _) => format!("known {known}"),
            (None, Some(signature)) => {
                let settings = self.cause.as_ref().and_then(Cause::settings);
                serde_json::json!([signature, settings, self.versions()]).to_string()
            }
            (None, None) => format!("finding {} {} {}", self.id, self.tokens, self.statements),
        }
    }
}

/// The name of a finding that is on disk.
pub fn id(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[derive(Debug, Default)]
pub struct Bugs {
    list: Vec<Bug>,
}

/// What a finding means for the list.
pub enum Sorted {
    New,
    /// The bug of this number, again; its example is smaller than the one that is kept.
    Smaller(usize),
    Again(usize),
}

impl Bugs {
    pub fn list(&self) -> &[Bug] {
        &self.list
    }

    pub fn into_list(self) -> Vec<Bug> {
        self.list
    }

    pub fn sort(&self, bug: &Bug) -> Sorted {
        let identity = bug.identity();
        let is_same = |other: &Bug| match (&identity, other.identity()) {
            (Some(one), Some(other)) => one.is_same_bug(&other),
            _ => false,
        };
        let same = |other: &Bug| match &bug.known {
            Some(_) => other.known == bug.known,
            None => other.known.is_none() && is_same(other),
        };
        match self.list.iter().position(same) {
            None => Sorted::New,
            // Its directory is named after both, and that name was shown.
            Some(at) if bug.kind() == self.list[at].kind() && bug.size() < self.list[at].size() => {
                Sorted::Smaller(at)
            }
            Some(at) => Sorted::Again(at),
        }
    }

    /// Bugs that were not known.
    pub fn new_ones(&self) -> impl Iterator<Item = &Bug> {
        self.list.iter().filter(|bug| bug.known.is_none())
    }

    pub fn add(&mut self, bug: Bug) {
        self.list.push(bug);
    }

    /// The bug was found again so many times, perhaps by a smaller example in the place of the one that was kept.
    pub fn count(&mut self, at: usize, times: u64, smaller: Option<&Bug>) -> &Bug {
        let known = &mut self.list[at];
        known.count += times;
        if let Some(smaller) = smaller {
            (known.oracle, known.class) = (smaller.oracle.clone(), smaller.class);
            known.title.clone_from(&smaller.title);
            (known.signature, known.cause) = (smaller.signature.clone(), smaller.cause.clone());
            known.history = smaller.history.clone().or(known.history.take());
            (known.statements, known.tokens) = (smaller.statements, smaller.tokens);
        }
        known
    }

    /// What is listed was found, though whoever found it did not yet say how often.
    pub fn count_all_once(&mut self) {
        self.list.iter_mut().for_each(|bug| bug.count = bug.count.max(1));
    }
}

#[cfg(test)]
mod tests {
    use dissent_core::finding::Switch;

    use super::*;

    fn bug(signature: Option<&str>, tokens: usize) -> Bug {
        Bug {
            id: "norec-wrong-rows-000000".to_string(),
            oracle: "norec".to_string(),
            class: Class::WrongRows,
            title: String::new(),
            signature: signature.map(|fails| Signature {
                fails: fails.to_string(),
                message: Vec::new(),
                features: Default::default(),
            }),
            cause: None,
            known: None,
            history: None,
            count: 1,
            statements: 2,
            tokens,
            directory: PathBuf::from("findings/norec-wrong-rows-000000"),
        }
    }

    #[test]
    fn one_signature_is_one_bug_with_its_smallest_example() {
        let mut bugs = Bugs::default();
        bugs.add(bug(Some("a"), 40));
        assert!(matches!(bugs.sort(&bug(Some("b"), 10)), Sorted::New));
        assert!(matches!(bugs.sort(&bug(Some("a"), 40)), Sorted::Again(0)));
        let smaller = bug(Some("a"), 30);
        assert!(matches!(bugs.sort(&smaller), Sorted::Smaller(0)));
        let kept = bugs.count(0, 1, Some(&smaller));
        assert_eq!((kept.count, kept.tokens), (2, 30));
    }

    #[test]
    fn an_example_keeps_the_oracle_that_its_directory_is_named_after() {
        let mut bugs = Bugs::default();
        bugs.add(bug(Some("a"), 40));
        let other = Bug { oracle: "tlp".to_string(), ..bug(Some("a"), 10) };
        assert!(matches!(bugs.sort(&other), Sorted::Again(0)));
    }

    #[test]
    fn two_bugs_have_two_names_though_their_signatures_are_the_same() {
        let cured_by = |name: &str| {
            let [name, value, sql] = [name, "off", "SET"].map(str::to_string);
            let cause = Cause { switches: vec![Switch::Setting { name, value, sql }], ..Cause::default() };
            Bug { cause: Some(cause), ..bug(Some("a"), 40) }
        };
        let (one, other) = (cured_by("one"), cured_by("other"));
        let mut bugs = Bugs::default();
        bugs.add(one.clone());
        assert!(matches!(bugs.sort(&other), Sorted::New));
        assert_ne!(one.key(), other.key());
    }

    #[test]
    fn findings_that_were_not_reduced_are_never_the_same() {
        let mut bugs = Bugs::default();
        bugs.add(bug(None, 40));
        assert!(matches!(bugs.sort(&bug(None, 40)), Sorted::New));
    }
}
