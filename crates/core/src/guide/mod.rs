//! Learning from what ran: what counts as new ([`Guide`]), and what is kept of it ([`corpus`]).
//!
//! The guide looks at a database with all its queries at once. If it showed something that no database did before,
//! the smallest part that still shows it is kept. Other databases are made by mutating what was kept
//! ([`crate::mutate`]).

mod code;
pub mod corpus;
mod plans;
mod shape;

use serde::{Deserialize, Serialize};

pub use code::Code;
pub use corpus::{Corpus, Entry};
pub use plans::Plans;

use crate::engine::Trouble;
use crate::session::Session;
use crate::sql::Query;
use crate::state::State;

/// Something that can be new: an edge of the engine's code, a step of a plan. Below [`FEATURES`].
pub type Feature = u32;

/// Enough for every edge of SQLite's code; steps of plans are hashed into it.
pub const FEATURES: usize = 1 << 20;

/// What counts as new.
pub trait Guide {
    /// Whether it looks at queries one by one, rather than at what the engine counted meanwhile.
    fn looks_at_queries(&self) -> bool {
        false
    }

    /// Whether a query may show something new. It is not asked again about one that is like it.
    fn is_promising(&mut self, _query: &Query, _state: &State) -> bool {
        false
    }

    /// What a query shows on the present database.
    fn look(&mut self, _query: &Query, _session: &mut Session) -> Result<Vec<Feature>, Trouble> {
        Ok(Vec::new())
    }

    /// Adds what the engine counted since this was called last; it may name a feature more than once.
    fn take(&mut self, _session: &mut Session, _seen: &mut Vec<Feature>) {}
}

/// The guides by the names that users type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Edges of the engine's code, where it is instrumented.
    Coverage,
    /// Steps of the engine's plans.
    Plan,
    /// Nothing: everything is drawn.
    None,
}

impl Kind {
    /// What looks at databases for it; nothing for [`Kind::None`].
    pub fn guide(self) -> Option<Box<dyn Guide>> {
        match self {
            Kind::Coverage => Some(Box::new(Code)),
            Kind::Plan => Some(Box::new(Plans::default())),
            Kind::None => None,
        }
    }

    /// What its features are called.
    pub fn features(self) -> &'static str {
        match self {
            Kind::Coverage => "code edges",
            Kind::Plan => "plan steps",
            Kind::None => "nothing",
        }
    }
}
