//! What a hunt has learned so far: it says of a database what was new, keeps it, and gives it out to be changed.

use crate::guide::{Corpus, Entry, Feature, Guide};
use crate::rng::Rng;

pub struct Trail {
    /// None: nothing is ever new.
    pub guide: Option<Box<dyn Guide>>,
    /// What is new is kept; otherwise it is only told.
    pub keeps: bool,
    pub corpus: Corpus,
    /// Databases that are drawn anew though there is something to change, in percent.
    pub drawn_share: u32,
    /// Statements that may still be spent on making what is kept small.
    pub(super) allowance: u64,
}

/// Of what a hunt spends on databases, so much of a hundred may go into making them small.
pub(super) const KEEPING_SHARE: u64 = 10;
/// Databases that are drawn anew by default: what is kept is only as good as what it came from.
const DRAWN_SHARE: u32 = 60;

/// What a database has taught.
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
    pub fn new(guide: Option<Box<dyn Guide>>) -> Trail {
        Trail { guide, keeps: true, corpus: Corpus::default(), drawn_share: DRAWN_SHARE, allowance: 0 }
    }

    /// What to make the next database of; nothing: it is drawn.
    pub(super) fn material(&mut self, rng: &mut Rng) -> Option<Entry> {
        if self.corpus.is_empty() || rng.chance(self.drawn_share) {
            return None;
        }
        self.corpus.choose(rng).cloned()
    }
}
