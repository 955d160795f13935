//! Whoever watches a campaign.

use crate::bugs::Bug;
use crate::worker::protocol::Tally;

/// What a campaign tells while it runs.
pub trait Observer {
    /// Called often, with everything counted so far and how many findings wait to be reduced.
    fn tick(&mut self, tally: &Tally, waiting: usize);

    /// A bug that nobody knew; it is on disk.
    fn finding(&mut self, bug: &Bug);

    /// Something worth a line.
    fn note(&mut self, text: &str);

    /// The campaign has nothing more to show.
    fn clear(&mut self);
}
