//! The interface for watching a campaign.

use std::time::Duration;

use dissent_core::finding::Finding;

use crate::bugs::Bug;

/// What a campaign tells while it runs. Nothing has to be done about any of it: `()` is an observer too.
pub trait Observer {
    /// A line for the user: an engine is being downloaded, a worker failed.
    fn note(&mut self, _text: &str) {}

    /// A part of something that takes a while is done: probing an engine, which the first hunt of a version does, or
    /// checking findings on many versions.
    fn step(&mut self, _step: &Step) {}

    /// Called several times a second.
    fn progress(&mut self, _progress: &Progress) {}

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
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Since the campaign started or was resumed.
    pub elapsed: Duration,
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
}
