//! Learning from what ran: what counts as new ([`Guide`]), and what is kept of it ([`corpus`]).
//!
//! If a database with its queries shows something that none did before, the part of it that does is kept. Other databases
//! are made by mutating what was kept ([`crate::mutate`]).

mod code;
pub mod corpus;
mod plans;
mod shape;

use serde::{Deserialize, Serialize};

pub use code::{Code, Counter};
pub use corpus::{Corpus, Entry};
pub use plans::Plans;

use crate::engine::Stop;
use crate::session::Session;
use crate::sql::Query;
use crate::state::State;

/// Something that can be new: a place in the engine's code, a step of a plan. Below [`FEATURES`].
pub type Feature = u32;

/// Enough for every basic block of the largest engine.
pub const FEATURES: usize = 1 << 24;

/// What counts as new. There are two kinds of guides: those that look at queries, and those that see what the engine did
/// meanwhile. The latter see everything only once, so what is new is known right after the statement that made it, and
/// running that again would not show it.
pub trait Guide {
    /// Whether it looks at queries one by one, rather than at what the engine did meanwhile.
    fn looks_at_queries(&self) -> bool {
        false
    }

    /// Whether a query may show something new. It is not asked again about one that is like it.
    fn is_promising(&mut self, _query: &Query, _state: &State) -> bool {
        false
    }

    /// What a query shows on the present database. What it runs to find out may harm the engine like any statement.
    fn look(&mut self, _query: &Query, _session: &mut Session) -> Result<Vec<Feature>, Stop> {
        Ok(Vec::new())
    }

    /// Adds what the engine showed for the first time since this was called last.
    fn take(&mut self, _seen: &mut Vec<Feature>) {}

    /// A query or a change with fewer new features is not kept for them: that many show whatever is run.
    fn least(&self) -> usize {
        1
    }
}

/// The guides by the names that users type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Places in the engine's code.
    Coverage,
    /// Steps of the engine's plans.
    Plan,
    /// Nothing: everything is drawn.
    None,
}

impl Kind {
    /// What its features are called.
    pub fn features(self) -> &'static str {
        match self {
            Kind::Coverage => "code blocks",
            Kind::Plan => "plan steps",
            Kind::None => "nothing",
        }
    }
}
