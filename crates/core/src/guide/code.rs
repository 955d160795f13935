//! Code coverage: places of the engine's code that nobody has seen before.

use super::{FEATURES, Feature, Guide};

/// Tells which places of the engine's code were passed for the first time, by any worker of the campaign.
pub trait Counter {
    /// Names those that are new since this was asked last. Each place is named once.
    fn take(&mut self, new: &mut dyn FnMut(u32));
}

/// The guide that reads a [`Counter`].
pub struct Code {
    counter: Box<dyn Counter>,
    least: usize,
}

impl Code {
    /// Queries that show fewer new places than `least` are not worth keeping: on an engine with threads of its own, clocks
    /// and the like show some whatever is asked.
    pub fn new(counter: Box<dyn Counter>, least: usize) -> Code {
        Code { counter, least }
    }
}

impl Guide for Code {
    fn take(&mut self, seen: &mut Vec<Feature>) {
        self.counter.take(&mut |place| {
            if (place as usize) < FEATURES {
                seen.push(place);
            }
        });
    }

    fn least(&self) -> usize {
        self.least
    }
}
