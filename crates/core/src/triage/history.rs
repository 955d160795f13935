//! In which versions a finding fails: which ones to check next, and what follows from the results.

use serde::{Deserialize, Serialize};

use crate::dialect::Version;
use crate::finding::History;

/// What a version does with a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It shows the failure.
    Bad,
    /// It does not.
    Good,
    /// It cannot run it: a statement of the setup fails, or the check cannot be made.
    Unknown,
}

/// The versions from the oldest to the newest, with what is known of them.
#[derive(Clone, Debug)]
pub struct Chronicle {
    known: Vec<Option<Status>>,
}

impl Chronicle {
    /// Nothing is known yet of so many versions.
    pub fn new(versions: usize) -> Chronicle {
        Chronicle { known: vec![None; versions] }
    }

    /// Keeps what a version was seen to do.
    pub fn note(&mut self, version: usize, status: Status) {
        self.known[version] = Some(status);
    }

    /// What is known of a version.
    pub fn status(&self, version: usize) -> Option<Status> {
        self.known[version]
    }

    /// The versions to check next: both ends, then the middle between every two neighbours of which one
    /// fails and the other does not, and between those that are far apart, because a bug may have come
    /// and gone in between. Nothing: both sides of every change are known.
    pub fn next(&self) -> Vec<usize> {
        let last = self.known.len().saturating_sub(1);
        let ends: Vec<usize> =
            [0, last].into_iter().filter(|at| self.known.get(*at) == Some(&None)).collect();
        if !ends.is_empty() {
            return ends;
        }
        let checked: Vec<(usize, bool)> = self
            .known
            .iter()
            .enumerate()
            .filter_map(|(at, status)| status.map(|status| (at, status == Status::Bad)))
            .collect();
        let farthest = (self.known.len() / 8).max(2);
        let open = checked.windows(2).filter(|pair| {
            let (apart, changed) = (pair[1].0 - pair[0].0, pair[0].1 != pair[1].1);
            apart > if changed { 1 } else { farthest }
        });
        open.map(|pair| (pair[0].0 + pair[1].0) / 2).collect()
    }

    /// The versions on both sides of every change: the history stands and falls with them.
    pub fn edges(&self) -> Vec<usize> {
        let checked: Vec<usize> = (0..self.known.len()).filter(|at| self.known[*at].is_some()).collect();
        let changes = checked.windows(2).filter(|pair| self.known[pair[0]] != self.known[pair[1]]);
        let mut edges: Vec<usize> = changes.flatten().copied().collect();
        edges.dedup();
        edges
    }

    /// What the answers say; `None` if no version fails.
    pub fn history(&self, names: &[&str]) -> Option<History> {
        let bad = |status: &Option<Status>| *status == Some(Status::Bad);
        let first = self.known.iter().position(bad)?;
        let last = self.known.iter().rposition(bad)?;
        let good =
            |at: usize| (self.known.get(at) == Some(&Some(Status::Good))).then(|| names[at].to_string());
        Some(History {
            last_good: first.checked_sub(1).and_then(good),
            first_bad: names[first].to_string(),
            last_bad: names[last].to_string(),
            first_good: good(last + 1),
            intermittent: self.known[first..last].contains(&Some(Status::Good)),
            checked: self.known.iter().flatten().count(),
        })
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

/// Whether one bug cannot have both histories: it appeared or vanished between other versions. Each says only as much
/// as the versions that were checked, which differ from machine to machine.
pub fn contradict(one: &History, other: &History) -> bool {
    span(one) != span(other) && (are_apart(came(one), came(other)) || are_apart(went(one), went(other)))
}

/// Whether a version is known that does not have the bug: otherwise it is not known to have come or gone at all.
pub fn has_an_end(history: &History) -> bool {
    history.last_good.is_some() || history.first_good.is_some()
}

/// After the first of these versions, and in the second or before; either may not be known.
type Between<'h> = (Option<&'h String>, Option<&'h String>);

fn came(history: &History) -> Between<'_> {
    (history.last_good.as_ref(), Some(&history.first_bad))
}

fn went(history: &History) -> Between<'_> {
    (Some(&history.last_bad), history.first_good.as_ref())
}

fn are_apart(one: Between, other: Between) -> bool {
    let is_before = |(_, until): Between, (after, _): Between| match (until, after) {
        (Some(until), Some(after)) => Version::parse(until) <= Version::parse(after),
        _ => false,
    };
    is_before(one, other) || is_before(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

    /// Searches with one version known at first; gives the history and how many versions were checked.
    fn search(truth: [Status; 10], known: usize) -> (Option<History>, usize) {
        let mut chronicle = Chronicle::new(10);
        chronicle.note(known, truth[known]);
        let mut rounds = 0;
        loop {
            let next = chronicle.next();
            if next.is_empty() {
                break;
            }
            for at in next {
                assert_eq!(chronicle.status(at), None, "{at} was checked twice");
                chronicle.note(at, truth[at]);
            }
            rounds += 1;
            assert!(rounds < 10);
        }
        let history = chronicle.history(&NAMES);
        let checked = chronicle.known.iter().flatten().count();
        (history, checked)
    }

    fn statuses(text: &str) -> [Status; 10] {
        let status = |c| match c {
            'b' => Status::Bad,
            'g' => Status::Good,
            _ => Status::Unknown,
        };
        text.chars().map(status).collect::<Vec<_>>().try_into().unwrap()
    }

    #[test]
    fn both_sides_of_both_changes_are_checked() {
        let (history, checked) = search(statuses("gggbbbbbgg"), 5);
        let history = history.unwrap();
        assert_eq!((history.last_good.as_deref(), history.first_bad.as_str()), (Some("2"), "3"));
        assert_eq!((history.last_bad.as_str(), history.first_good.as_deref()), ("7", Some("8")));
        assert!(!history.intermittent && checked < 10);
    }

    #[test]
    fn ends_that_fail_have_no_good_neighbour() {
        let history = search(statuses("bbbbbbbbbb"), 5).0.unwrap();
        assert_eq!((history.last_good, history.first_good), (None, None));
        let history = search(statuses("ggggbbbbbb"), 5).0.unwrap();
        assert_eq!((history.last_good.as_deref(), history.first_good), (Some("3"), None));
    }

    #[test]
    fn versions_that_cannot_run_it_are_not_called_good() {
        let history = search(statuses("uuuubbbggg"), 5).0.unwrap();
        assert_eq!((history.last_good, history.first_bad.as_str()), (None, "4"));
    }

    #[test]
    fn a_finding_that_came_back_is_intermittent() {
        let history = search(statuses("bbggggbbgg"), 6).0.unwrap();
        assert_eq!((history.first_bad.as_str(), history.last_bad.as_str()), ("0", "7"));
        assert!(history.intermittent);
    }

    #[test]
    fn edges_are_the_checked_versions_beside_a_change() {
        let mut chronicle = Chronicle::new(10);
        for (at, status) in statuses("ggbbbuuggg").into_iter().enumerate().filter(|(at, _)| at % 3 != 1) {
            chronicle.note(at, status);
        }
        assert_eq!(chronicle.edges(), [0, 2, 3, 5, 6, 8]);
    }

    /// What a machine with these versions says of a bug that came in 3 and went in 7.
    fn seen_with(installed: &[usize]) -> History {
        let truth = statuses("gggbbbbggg");
        let mut chronicle = Chronicle::new(installed.len());
        installed.iter().enumerate().for_each(|(at, version)| chronicle.note(at, truth[*version]));
        chronicle.history(&installed.iter().map(|version| NAMES[*version]).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn machines_with_different_versions_do_not_contradict_each_other() {
        let installed: [&[usize]; 6] =
            [&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[4], &[0, 5, 9], &[5, 6, 7], &[2, 3], &[1, 4, 8]];
        for one in installed {
            for other in installed {
                assert!(!contradict(&seen_with(one), &seen_with(other)), "{one:?} {other:?}");
            }
        }
        assert_ne!(span(&seen_with(&[4])), span(&seen_with(&[5, 6, 7])));
    }

    #[test]
    fn what_came_or_went_at_another_time_contradicts() {
        let history = |truth| search(statuses(truth), 5).0.unwrap();
        let one = history("gggbbbbggg");
        assert!(!contradict(&one, &one));
        for other in ["ggggbbbggg", "gggbbbbbgg", "bbbbbbbggg", "gggbbbbbbb"] {
            assert!(contradict(&one, &history(other)) && contradict(&history(other), &one), "{other}");
        }
        // A version that cannot tell leaves both open.
        assert!(!contradict(&one, &history("gguubbbggg")));
    }

    #[test]
    fn no_version_that_fails_is_no_history() {
        assert_eq!(search(statuses("gggggggggg"), 5).0, None);
    }
}
