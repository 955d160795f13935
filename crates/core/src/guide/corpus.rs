//! The corpus: databases and queries that showed something new.

use serde::{Deserialize, Serialize};

use super::{FEATURES, Feature};
use crate::rng::Rng;
use crate::sql::{Query, Statement};

/// A database and queries over it: both pools of material in one piece.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The statements that build the state.
    pub setup: Vec<Statement>,
    /// The queries that were asked of it.
    pub queries: Vec<Query>,
    /// How often it was mutated since it was generated or given.
    pub depth: u32,
    /// The features that it was the first to show.
    pub features: Vec<Feature>,
    /// How many databases had been looked at when it was kept.
    #[serde(default)]
    pub found: u32,
}

/// Everything kept, and everything seen.
#[derive(Default)]
pub struct Corpus {
    entries: Vec<Held>,
    /// For every feature up to the highest seen, how many databases showed it.
    shown: Vec<u32>,
    /// How many features were seen at all.
    seen: usize,
    /// Each feature is shown once, by the first database that has it: how many others would is a guess.
    sees_once: bool,
    /// How many databases were looked at.
    databases: u32,
}

struct Held {
    entry: Entry,
    statements: u32,
    /// How often it was chosen.
    chosen: u32,
}

impl Corpus {
    /// One without entries. `sees_once`: each feature is shown once, by the first database that has it.
    pub fn new(sees_once: bool) -> Corpus {
        Corpus { sees_once, ..Corpus::default() }
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was kept yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many features were seen so far.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// How many databases were looked at, here or before the last entry was kept.
    pub fn databases(&self) -> u32 {
        self.databases
    }

    /// Records what one more database showed; returns what is new.
    pub fn note(&mut self, features: &mut Vec<Feature>) -> Vec<Feature> {
        self.databases = self.databases.saturating_add(1);
        self.see(features)
    }

    /// Records what was shown beside databases; returns what is new.
    pub fn see(&mut self, features: &mut Vec<Feature>) -> Vec<Feature> {
        features.sort_unstable();
        features.dedup();
        let mut new = Vec::new();
        for feature in features {
            if self.count(*feature) == 1 {
                new.push(*feature);
            }
        }
        new
    }

    /// One more database shows a feature; gives how many do.
    fn count(&mut self, feature: Feature) -> u32 {
        let at = feature as usize % FEATURES;
        if self.shown.len() <= at {
            self.shown.resize(at + 1, 0);
        }
        let shown = &mut self.shown[at];
        self.seen += usize::from(*shown == 0);
        *shown = shown.saturating_add(1);
        *shown
    }

    /// Whether no database showed a feature so far.
    pub fn is_new(&self, feature: Feature) -> bool {
        self.shown(feature) == 0
    }

    fn shown(&self, feature: Feature) -> u32 {
        self.shown.get(feature as usize % FEATURES).copied().unwrap_or(0)
    }

    /// Keeps an entry; what it shows counts as seen. One that was kept earlier or elsewhere says how many databases it
    /// took: whoever goes on from there does not begin to count anew, or all that was found late would look common.
    pub fn add(&mut self, entry: Entry) {
        self.databases = self.databases.max(entry.found);
        for feature in &entry.features {
            if self.shown(*feature) == 0 {
                self.count(*feature);
            }
        }
        let statements = (entry.setup.len() + entry.queries.len()) as u32;
        self.entries.push(Held { entry, statements, chosen: 0 });
    }

    /// An entry to mutate: preferably one with rare features, and one that was not chosen often.
    pub fn choose(&mut self, rng: &mut Rng) -> Option<&Entry> {
        let weights: Vec<u32> = self.entries.iter().map(|held| self.energy(held)).collect();
        let at = (!weights.is_empty()).then(|| rng.weighted(&weights))?;
        let held = &mut self.entries[at];
        held.chosen += 1;
        Some(&held.entry)
    }

    fn energy(&self, held: &Held) -> u32 {
        let shown = |feature: &Feature| self.shown(*feature);
        // What was given shows nothing of its own yet, and is as good as what few databases show.
        let rarest = held.entry.features.iter().map(shown).min().unwrap_or(8);
        // What took n databases to show up is shown by about one in n.
        let is_guess = self.sees_once && !held.entry.features.is_empty();
        let rarest = if is_guess { self.databases / held.entry.found.max(1) } else { rarest };
        let rarity = 200_000 / (10 + rarest.min(10_000));
        // What is small is quickly made, and leaves room for changes.
        1 + rarity / (1 + held.chosen.min(1_000)) / (10 + held.statements)
    }

    /// Any entry, as material.
    pub fn donor(&self, rng: &mut Rng) -> Option<&Entry> {
        rng.choose(&self.entries).map(|held| &held.entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(features: &[Feature]) -> Entry {
        Entry { features: features.to_vec(), ..Entry::default() }
    }

    fn found(features: &[Feature], found: u32) -> Entry {
        Entry { found, ..entry(features) }
    }

    #[test]
    fn only_the_first_time_is_new() {
        let mut corpus = Corpus::default();
        assert_eq!(corpus.note(&mut vec![3, 1, 3]), [1, 3]);
        assert_eq!(corpus.note(&mut vec![1, 2, 3]), [2]);
        assert_eq!(corpus.seen(), 3);
        corpus.add(entry(&[7]));
        assert_eq!((corpus.note(&mut vec![7]), corpus.seen()), (Vec::new(), 4));
    }

    #[test]
    fn what_was_found_late_is_rare() {
        let late = |corpus: &mut Corpus| {
            let mut rng = Rng::new(1);
            (0..20).filter(|_| corpus.choose(&mut rng).unwrap().features == [2]).count()
        };
        let mut corpus = Corpus::new(true);
        corpus.note(&mut vec![1]);
        corpus.add(found(&[1], corpus.databases()));
        (0..4_000).for_each(|_| drop(corpus.note(&mut Vec::new())));
        corpus.note(&mut vec![2]);
        corpus.add(found(&[2], corpus.databases()));
        assert!(late(&mut corpus) > 14, "{} of 20", late(&mut corpus));

        // A worker that takes another's place knows it from what is on disk.
        let mut next = Corpus::new(true);
        for held in &corpus.entries {
            let text = serde_json::to_string(&held.entry).unwrap();
            next.add(serde_json::from_str(&text).unwrap());
        }
        assert_eq!(next.databases(), 4_002);
        assert!(late(&mut next) > 14, "{} of 20", late(&mut next));
        let old: Entry =
            serde_json::from_str(r#"{"setup":[],"queries":[],"depth":0,"features":[3]}"#).unwrap();
        assert_eq!(old.found, 0);
    }

    #[test]
    fn what_is_rare_and_what_is_young_is_chosen_more_often() {
        let mut corpus = Corpus::default();
        for _ in 0..5_000 {
            corpus.note(&mut vec![1]);
        }
        corpus.note(&mut vec![2]);
        corpus.add(entry(&[1]));
        corpus.add(entry(&[2]));
        let mut rng = Rng::new(1);
        let mut rare = 0;
        for _ in 0..20 {
            rare += u32::from(corpus.choose(&mut rng).unwrap().features == [2]);
        }
        assert!(rare > 14, "{rare} of 20");
        // No entry is chosen forever.
        for _ in 0..2_000 {
            corpus.choose(&mut rng);
        }
        let often = corpus.entries[1].chosen;
        assert!((1_000..2_000).contains(&often), "{often} of 2,020");
        corpus.add(entry(&[2]));
        for _ in 0..10 {
            corpus.choose(&mut rng);
        }
        let young = corpus.entries[2].chosen;
        assert!(young >= 5, "{young} of 10");
    }
}
