//! What a hunt has learned so far: it decides what was new about a database, keeps it, and hands it out for
//! mutation.

use crate::guide::{Corpus, Entry, Feature, Guide};
use crate::rng::Rng;

/// What a hunt has learned, and how it goes on from there.
pub struct Trail {
    /// None: nothing is ever new.
    pub guide: Option<Box<dyn Guide>>,
    /// New features are kept; otherwise they are only reported.
    pub keeps: bool,
    /// What was kept, to make databases of.
    pub corpus: Corpus,
    /// No database is generated while there is something to mutate.
    pub changes_only: bool,
    drawn: Yield,
    changed: Yield,
    /// What may still be spent on EXPLAIN and on minimizing entries, in the costs of the dialect.
    pub allowance: u64,
}

/// The percentage of what a hunt spends that may go into learning: EXPLAIN, and minimizing entries.
const LEARNING_SHARE: u64 = 10;
/// The least percentage of databases that are generated, and that are mutated.
const LEAST_SHARE: f64 = 20.0;

/// What generating or mutating databases has found lately.
#[derive(Default)]
struct Yield {
    news: f64,
    statements: f64,
}

impl Yield {
    /// Older results count less and less.
    const FADING: f64 = 0.99;
    /// Many new features at once are rarely as many discoveries.
    const MOST_NEWS: usize = 5;

    fn note(&mut self, news: usize, statements: u64) {
        self.news = self.news * Yield::FADING + news.min(Yield::MOST_NEWS) as f64;
        self.statements = self.statements * Yield::FADING + statements as f64;
    }

    /// New features per statement; optimistic about what was hardly tried.
    fn rate(&self) -> f64 {
        (self.news + 0.5) / (self.statements + 500.0)
    }
}

/// What was learned from a database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// What was seen for the first time.
    pub new: Vec<Feature>,
    /// How often what it is made of was changed; 0: it was drawn.
    pub depth: u32,
    /// Of a changed one: its statements, and those of them that the engine accepted.
    pub changed: Option<(u64, u64)>,
}

impl Trail {
    /// A hunt that has learned nothing yet.
    pub fn new(guide: Option<Box<dyn Guide>>) -> Trail {
        let sees_once = guide.as_ref().is_some_and(|guide| !guide.looks_at_queries());
        Trail {
            guide,
            keeps: true,
            corpus: Corpus::new(sees_once),
            changes_only: false,
            drawn: Yield::default(),
            changed: Yield::default(),
            allowance: 0,
        }
    }

    /// Whether what is new is found by looking at queries, one by one; otherwise it is known as soon as they ran.
    pub(super) fn looks_at_queries(&self) -> bool {
        self.guide.as_ref().is_none_or(|guide| guide.looks_at_queries())
    }

    /// Fewer new features than this are noise.
    pub(super) fn least(&self) -> usize {
        self.guide.as_ref().map_or(1, |guide| guide.least())
    }

    /// Adds what the engine showed for the first time since this was called last.
    pub(super) fn take_seen(&mut self, seen: &mut Vec<Feature>) {
        if let Some(guide) = &mut self.guide {
            guide.take(seen);
        }
    }

    /// A database that cost so much was gone through: a part of it may be spent on learning.
    pub(super) fn earn(&mut self, cost: u64) {
        self.allowance = self.allowance.saturating_add(cost * LEARNING_SHARE / 100);
    }

    /// What to make the next database of; nothing: it is drawn. The way that brings more news by statement is taken
    /// more often.
    pub(super) fn material(&mut self, rng: &mut Rng) -> Option<Entry> {
        if self.corpus.is_empty() {
            return None;
        }
        let (drawn, changed) = (self.drawn.rate(), self.changed.rate());
        let share = (100.0 * changed / (drawn + changed)).clamp(LEAST_SHARE, 100.0 - LEAST_SHARE);
        (self.changes_only || rng.chance(share as u32)).then(|| self.corpus.choose(rng).cloned())?
    }

    /// A database that took so many statements is done; `news` of what it showed is more than noise.
    pub(super) fn note(&mut self, news: usize, is_changed: bool, statements: u64) {
        let way = if is_changed { &mut self.changed } else { &mut self.drawn };
        way.note(news, statements);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_that_brings_more_is_taken_more_often() {
        let mut trail = Trail::new(None);
        trail.corpus.add(Entry::default());
        let mut rng = Rng::new(1);
        let mut changed =
            |trail: &mut Trail| (0..1000).filter(|_| trail.material(&mut rng).is_some()).count();
        for _ in 0..50 {
            trail.note(2, false, 1000);
            trail.note(0, true, 100);
        }
        let few = changed(&mut trail);
        for _ in 0..200 {
            trail.note(0, false, 1000);
            trail.note(1, true, 100);
        }
        let many = changed(&mut trail);
        assert!((150..400).contains(&few) && (700..850).contains(&many), "{few} {many}");
        trail.changes_only = true;
        assert_eq!(changed(&mut trail), 1000);
    }
}
