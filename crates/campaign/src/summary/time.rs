//! What a campaign spent its time on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::milli;
use crate::config::Config;
use crate::worker::protocol::{Label, Tally};

/// Where the workers' time went, in parts of one. A worker is one thread: it waits for the engine or works itself, so
/// these are parts of its wall time, which for an engine in its own process is as good as CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeFigures {
    /// The engine answered questions of checks: the useful share.
    pub useful: f64,
    /// The engine ran what checks need besides their queries: tables of their own, indexes, ANALYZE, EXPLAIN of a
    /// failure.
    pub scaffolds: f64,
    /// The engine built databases and changed them.
    pub build: f64,
    /// The engine explained queries to see what is new.
    pub guide: f64,
    /// The engine ran parts of databases again to find what is worth keeping.
    pub rehearsal: f64,
    /// The engine ran failures again on a fresh database.
    pub confirm: f64,
    /// Dissent drew statements.
    pub generator: f64,
    /// Dissent did everything else: write statements out, read and compare answers, keep count.
    pub rest: f64,
}

impl TimeFigures {
    pub(super) fn new(tally: &Tally) -> TimeFigures {
        let account = &tally.counts.account;
        let share = |nanos: u64| part(nanos, tally.wall_nanos);
        let outside = tally.wall_nanos.saturating_sub(tally.counts.engine_nanos);
        TimeFigures {
            useful: share(account.arm_nanos()),
            scaffolds: share(account.scaffold_nanos()),
            build: share(account.reset.nanos + account.build.nanos),
            guide: share(account.guide.nanos),
            rehearsal: share(account.rehearsal.nanos),
            confirm: share(account.confirm.nanos),
            generator: share(tally.counts.generator_nanos),
            rest: share(outside.saturating_sub(tally.counts.generator_nanos)),
        }
    }
}

/// An oracle in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OracleFigures {
    /// Comparisons that came to a verdict.
    pub checks: u64,
    /// Comparisons that came to none.
    pub skips: u64,
    /// Comparisons that failed; those that failed again on a fresh database became findings.
    pub alarms: u64,
    /// Statements of its checks.
    pub statements: u64,
    /// The engine's time for these statements.
    pub engine_seconds: f64,
    /// Its part of the time that the engine spent on checks of all oracles, in parts of one.
    pub share: f64,
}

pub(super) fn oracles(config: &Config, tally: &Tally) -> BTreeMap<Label, OracleFigures> {
    let account = &tally.counts.account;
    let all = account.arm_nanos() + account.scaffold_nanos();
    let figures = |name: &String| {
        let (spent, said) = (account.checks.get(name.as_str()), tally.oracles.get(name.as_str()));
        let spent = spent.copied().unwrap_or_default();
        let figures = OracleFigures {
            checks: said.map_or(0, |said| said.checks),
            skips: said.map_or(0, |said| said.skips.values().sum()),
            alarms: said.map_or(0, |said| said.alarms),
            statements: spent.arms.statements + spent.scaffolds.statements,
            engine_seconds: milli(spent.nanos() as f64 / 1e9),
            share: part(spent.nanos(), all),
        };
        (Label::Owned(name.clone()), figures)
    };
    config.oracles.iter().map(figures).collect()
}

/// A part of one, to four digits.
fn part(some: u64, all: u64) -> f64 {
    (10_000.0 * some as f64 / all.max(1) as f64).round() / 10_000.0
}
