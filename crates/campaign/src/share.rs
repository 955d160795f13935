//! What a campaign shares: with its own workers, or with machines that hunt elsewhere.
//!
//! Nothing here waits for a network for more than a moment: who cannot be reached is told later.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use dissent_core::finding::Finding;
use serde::{Deserialize, Serialize};

use crate::bugs::Bug;
use crate::counted::Counted;
use crate::stretch::Stretch;

/// Databases that only one worker visits, under a number for when they are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its number.
    pub ticket: u64,
    /// The databases.
    pub stretch: Stretch,
}

/// What a worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Visit these databases.
    Visit(Lease),
    /// Ask again later.
    Wait,
    /// There are no more.
    Over,
}

/// A bug with its smallest example.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SharedBug {
    /// The entry in the list.
    pub bug: Bug,
    /// The example.
    pub finding: Finding,
}

/// What comes from elsewhere.
#[derive(Debug)]
pub enum Arrival {
    /// A bug that was found there, or a smaller example of it.
    Bug(Box<SharedBug>),
    /// Something worth coming back to: an entry of the corpus as it is on disk, and a name for it.
    Entry(String, Vec<u8>),
    /// A finding to reduce, under a number for when that is done.
    Reduce(u64, Box<Finding>),
    /// Something to tell the user.
    Note(String),
    /// The whole campaign is to end.
    Stop,
}

/// How a machine is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pulse {
    /// Since it started, without pauses.
    pub seconds: f64,
    /// Its workers.
    pub jobs: u64,
    /// Databases that it visited.
    pub databases: u64,
    /// Statements that it ran.
    pub statements: u64,
    /// Its comparisons that came to a verdict.
    pub checks: u64,
    /// The bugs that it knows of, those of others included.
    pub bugs: u64,
    /// Findings that wait here to be reduced.
    pub waiting: u64,
}

/// Whom a campaign shares with.
pub trait Share {
    /// Whether there may be others.
    fn is_shared(&self) -> bool {
        true
    }

    /// What the next idle worker does.
    fn next(&mut self) -> Next;

    /// The databases of a lease were visited, and what was found in them is on disk.
    fn walked(&mut self, ticket: u64);

    /// Only those from `rest` on were not.
    fn give_back(&mut self, ticket: u64, rest: Stretch);

    /// A bug is on disk here. `false`: others had it first. If that cannot be told now, it counts as first.
    fn publish(&mut self, shared: &SharedBug) -> bool;

    /// An entry of the corpus is on disk here.
    fn keep(&mut self, name: &str, entry: Vec<u8>);

    /// Offers a finding that waits to be reduced. `true`: it is safe elsewhere.
    fn hand_over(&mut self, finding: &Finding) -> bool;

    /// Whether this machine has nothing to reduce and could do so for others.
    fn reduces(&mut self, idle: bool);

    /// What became of a finding from elsewhere is on disk and was published.
    fn reduced(&mut self, ticket: u64);

    /// What came from elsewhere since the last time.
    fn arrivals(&mut self) -> Vec<Arrival>;

    /// Called every few seconds. `counted` makes all figures, which is some work.
    fn beat(&mut self, pulse: &Pulse, counted: &dyn Fn() -> anyhow::Result<Vec<u8>>);

    /// The campaign ends here: whatever others need is sent, within reason. An error is what the user has to know.
    fn leave(&mut self, pulse: &Pulse, counted: Vec<u8>) -> anyhow::Result<()>;
}

/// Held by the supervisor and the intake.
pub(crate) type Sharing = Rc<RefCell<Box<dyn Share>>>;

/// Nobody else: every worker of this machine has its own databases from the start.
pub(crate) struct Alone {
    stretches: VecDeque<Stretch>,
}

impl Alone {
    pub fn visiting(stretches: impl Iterator<Item = Stretch>) -> Alone {
        Alone { stretches: stretches.collect() }
    }
}

/// Nobody else and no databases: for what is not a hunt.
pub(crate) fn alone() -> Sharing {
    Rc::new(RefCell::new(Box::new(Alone::visiting(std::iter::empty()))))
}

impl Share for Alone {
    fn is_shared(&self) -> bool {
        false
    }

    fn next(&mut self) -> Next {
        let stretch = self.stretches.pop_front();
        stretch.map_or(Next::Over, |stretch| Next::Visit(Lease { ticket: 0, stretch }))
    }

    fn walked(&mut self, _: u64) {}

    fn give_back(&mut self, _: u64, _: Stretch) {}

    fn publish(&mut self, _: &SharedBug) -> bool {
        true
    }

    fn keep(&mut self, _: &str, _: Vec<u8>) {}

    fn hand_over(&mut self, _: &Finding) -> bool {
        false
    }

    fn reduces(&mut self, _: bool) {}

    fn reduced(&mut self, _: u64) {}

    fn arrivals(&mut self) -> Vec<Arrival> {
        Vec::new()
    }

    fn beat(&mut self, _: &Pulse, _: &dyn Fn() -> anyhow::Result<Vec<u8>>) {}

    fn leave(&mut self, _: &Pulse, _: Vec<u8>) -> anyhow::Result<()> {
        Ok(())
    }
}

/// All figures of one machine: what [`Share::beat`] sends.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub jobs: u64,
    pub counted: Counted,
    /// The bugs that findings of this machine were, and how many of them.
    pub bugs: Vec<Bug>,
    /// Findings that it left to be reduced.
    pub waiting: u64,
}
