//! The interface for watching a campaign.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use dissent_core::finding::{Class, Finding};
use dissent_core::session::Account;

use crate::bugs::Bug;
use crate::worker::protocol::{Label, OracleTally};

/// What a campaign tells while it runs. Nothing has to be done about any of it: `()` is an observer too.
pub trait Observer {
    /// A line for the user: an engine is being downloaded, a worker failed.
    fn note(&mut self, _text: &str) {}

    /// Something that may take a while begins: a download, a compilation. It is over when anything else is told.
    fn wait(&mut self, what: &str) {
        self.note(what);
    }

    /// A part of something that takes a while is done: probing an engine, which the first hunt of a version does, or
    /// checking findings on many versions.
    fn step(&mut self, _step: &Step) {}

    /// Called several times a second.
    fn progress(&mut self, _progress: &Progress) {}

    /// A finding got further on its way from a difference to a bug.
    fn stage(&mut self, _staged: &Staged) {}

    /// A bug that was not known. It is on disk, where more findings of it are only counted.
    fn found(&mut self, _bug: &Bug, _finding: &Finding) {}
}

impl Observer for () {}

/// How far something is.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// What is done: `probing`, `checked on`.
    pub what: &'a str,
    /// With what: a function, a version.
    pub name: &'a str,
    /// How many of them are done.
    pub done: usize,
    /// How many there are.
    pub all: usize,
}

/// What has been done so far, by all workers together.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Since the campaign started or was resumed, without pauses.
    pub elapsed: Duration,
    /// What the campaign is doing.
    pub phase: Phase,
    /// Databases that were built.
    pub databases: u64,
    /// Statements that were run.
    pub statements: u64,
    /// Those of them that the engine did not refuse.
    pub statements_ok: u64,
    /// Comparisons that came to a verdict.
    pub checks: u64,
    /// Findings that wait to be reduced.
    pub waiting: usize,
    /// Edges of the engine's code or steps of plans that were seen.
    pub features: u64,
    /// Databases that were kept because they showed something new.
    pub kept: u64,
    /// The verdicts of each oracle that came to any.
    pub oracles: &'a BTreeMap<Label, OracleTally>,
    /// What the engine's time was spent on.
    pub account: &'a Account,
    /// While the engine's functions are being probed: how many are done, of how many.
    pub probing: Option<(usize, usize)>,
    /// What each worker is doing.
    pub workers: &'a [WorkerView],
}

/// What a campaign is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Workers hunt.
    Hunting,
    /// It was asked to pause, and some worker has not come to the end of its case.
    Pausing,
    /// Every worker waits.
    Paused,
    /// It is over; workers finish their cases.
    Stopping,
    /// Workers have ended; what was found is being reduced.
    Reducing,
}

/// A look at one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerView {
    /// Its number.
    pub number: usize,
    /// None: its process has ended, or the next one has not started.
    pub doing: Option<Doing>,
}

/// What a worker's process is doing, as it was a moment ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doing {
    /// The database it is at.
    pub database: u64,
    /// The case it is at; 0 while the database is built.
    pub case: u64,
    /// What it runs statements for: an oracle by its name, `building`, `learning`, `trimming` (finding the part of a
    /// database that is worth keeping), `confirming`.
    pub purpose: &'static str,
    /// How many statements it has begun.
    pub statements: u64,
    /// How its present or last statement begins: `SELECT`, `INSERT I`. Of eight bytes, the rest is zero.
    pub statement: [u8; 8],
    /// The engine runs it.
    pub running: bool,
    /// For how long nothing has changed.
    pub still: Duration,
}

/// A finding and how far it is.
#[derive(Clone, Debug)]
pub struct Staged<'a> {
    /// The name of its directory.
    pub id: &'a str,
    /// Where it is, or was.
    pub directory: &'a Path,
    /// The oracle that found it.
    pub oracle: &'a str,
    /// How grave it is.
    pub class: Class,
    /// What is wrong, in a few words.
    pub title: &'a str,
    /// How far it is.
    pub stage: Stage<'a>,
}

/// How far a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage<'a> {
    /// It is on disk and waits for the reducer.
    Waiting,
    /// It is being checked in a process of its own.
    Confirming,
    /// It fails there too, and smaller forms of it are tried.
    Reducing,
    /// A bug that was not known.
    New,
    /// The bug of this name, again.
    Duplicate(&'a str),
    /// The known bug or behaviour of this name.
    Known(&'a str),
    /// A difference that did not hold.
    Unstable,
}
