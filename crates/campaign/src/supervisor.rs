//! The parent of a hunt's workers: starts them, listens, and replaces those that end too early.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::bail;
use dissent_core::guide;
use dissent_core::triage::known::{Avoid, Known};

use crate::catalog::KeptCatalog;
use crate::config::Config;
use crate::crash;
use crate::intake::Intake;
use crate::observer::{Observer, Progress};
use crate::pool::{End, Ended, Pool, Report, TICK, WorkerId};
use crate::store::{Position, Store};
use crate::summary::{Growth, Results};
use crate::system;
use crate::tested::Tested;
use crate::worker::protocol::{Difference, Event, HuntTask, Tally, Task};

/// How often the position of the workers is written.
const NOTE_PAUSE: Duration = Duration::from_secs(5);
/// How long a campaign keeps reducing its findings after it ended.
const DRAIN: Duration = Duration::from_secs(30);
/// Workers that fail for a reason of our own, one after the other, without finishing a database.
const MOST_FAILURES_IN_A_ROW: u32 = 5;

/// What a campaign does, and what was learned when it started.
pub struct Plan {
    pub config: Config,
    pub tested: Tested,
    /// What the engine can compute, and the file with it.
    pub catalog: Option<KeptCatalog>,
    /// Known bugs and behaviours of this version.
    pub known: Vec<Known>,
    /// Where to continue, if the campaign is resumed.
    pub position: Option<Position>,
}

impl Plan {
    /// The job of a worker, starting at a database.
    fn task(&self, worker: u64, first_database: u64, max_cases: Option<u64>, corpus: PathBuf) -> Task {
        Task::Hunt(Box::new(HuntTask {
            config: self.config.clone(),
            worker,
            first_database,
            max_cases,
            avoid: self.avoid(),
            catalog: self.catalog.as_ref().map(|kept| kept.path.clone()),
            corpus,
        }))
    }

    /// What triggers known bugs, all together.
    fn avoid(&self) -> Avoid {
        let mut avoid = Avoid::default();
        self.known.iter().for_each(|known| avoid.add(&known.avoid));
        avoid
    }
}

pub struct Supervisor<'a> {
    plan: &'a Plan,
    store: &'a Store,
    observer: &'a mut dyn Observer,
    interrupted: &'a AtomicBool,
    pool: Pool,
    intake: Intake<'a>,
    slots: Vec<Slot>,
    started: Instant,
    /// When the position was last written.
    noted: Instant,
    stopping: bool,
    failures_in_a_row: u32,
    /// What child processes other than workers have used.
    cpu_before: f64,
    tally: Tally,
    failures: Vec<String>,
    growth: Vec<Growth>,
}

/// The place of one worker: processes in it come and go, its share of the databases stays.
struct Slot {
    /// `None` when its work is done.
    worker: Option<WorkerId>,
    first_database: u64,
    cases_left: Option<u64>,
    /// What its current process reported, and the database it has reached.
    databases_told: u64,
    cases_told: u64,
    reached: u64,
}

impl Slot {
    /// From the worker's reports, not from its journal, which may be ahead of findings that are not read yet.
    fn next_database(&self) -> u64 {
        self.reached.max(self.first_database)
    }

    fn cases_left(&self) -> Option<u64> {
        self.cases_left.map(|cases| cases.saturating_sub(self.cases_told))
    }

    /// The worker reported what it did since its last report.
    fn went_on(&mut self, tally: &Tally, step: u64) {
        self.databases_told += tally.databases;
        self.cases_told += tally.cases;
        // The last one may not be finished.
        let current = self.first_database + self.databases_told.saturating_sub(1) * step;
        self.reached = self.reached.max(current);
    }
}

impl<'a> Supervisor<'a> {
    pub fn new(
        plan: &'a Plan,
        store: &'a Store,
        observer: &'a mut dyn Observer,
        interrupted: &'a AtomicBool,
    ) -> Self {
        let start = || Position::start(&plan.config);
        let Position { next_databases, cases_left } = plan.position.clone().unwrap_or_else(start);
        let slot = |(first_database, cases_left)| Slot {
            worker: None,
            first_database,
            cases_left,
            databases_told: 0,
            cases_told: 0,
            reached: 0,
        };
        Supervisor {
            plan,
            store,
            observer,
            interrupted,
            pool: Pool::new(plan.tested.place.clone()),
            intake: Intake::new(&plan.config, &plan.tested, &plan.known, store),
            slots: next_databases.into_iter().zip(cases_left).map(slot).collect(),
            started: Instant::now(),
            noted: Instant::now(),
            stopping: false,
            failures_in_a_row: 0,
            cpu_before: system::ended_children_cpu_seconds(),
            tally: Tally::default(),
            failures: Vec::new(),
            growth: Vec::new(),
        }
    }

    /// Runs the campaign to its end. An error is one that no restart would fix.
    pub fn run(&mut self) -> anyhow::Result<()> {
        if self.plan.position.is_some() {
            self.intake.reopen(self.observer)?;
        }
        for slot in 0..self.slots.len() {
            self.start(slot)?;
        }
        while !self.pool.is_empty() {
            self.listen()?;
            self.intake.collect(Duration::ZERO, self.observer)?;
            self.note_position()?;
            self.stop_if_due();
            self.tell_progress();
        }
        self.write_position()?;
        self.drain()
    }

    /// The result, also after an error. Workers that still run end here.
    pub fn results(mut self) -> Results {
        self.pool.clear();
        self.note_growth();
        let reducer_cpu_seconds = self.intake.reducer_cpu_seconds;
        Results {
            wall: self.started.elapsed(),
            worker_cpu_seconds: system::ended_children_cpu_seconds() - self.cpu_before - reducer_cpu_seconds,
            reducer_cpu_seconds,
            tally: self.tally,
            unstable: self.intake.unstable,
            not_kept: self.intake.not_kept,
            waiting: self.intake.left_waiting,
            bugs: self.intake.into_bugs(),
            failures: self.failures,
            growth: self.growth,
        }
    }

    /// Starts the worker of a slot, unless its cases are used up.
    fn start(&mut self, number: usize) -> anyhow::Result<()> {
        let slot = &mut self.slots[number];
        if slot.cases_left != Some(0) {
            let corpus = self.store.corpus();
            let task = self.plan.task(number as u64, slot.first_database, slot.cases_left, corpus);
            slot.worker = Some(self.pool.start(&task)?);
        }
        Ok(())
    }

    /// Waits a tick for a report, then takes all that have arrived, but not forever: other duties wait.
    fn listen(&mut self) -> anyhow::Result<()> {
        let mut patience = TICK;
        for _ in 0..1000 {
            let Some((worker, report)) = self.pool.next(patience)? else { break };
            let slot = self.slots.iter().position(|slot| slot.worker == Some(worker));
            match (slot, report) {
                (Some(slot), Report::Said(event)) => self.hear(slot, *event)?,
                (Some(slot), Report::Ended(ended)) => self.replace(slot, &ended)?,
                (None, _) => {}
            }
            patience = Duration::ZERO;
        }
        Ok(())
    }

    fn hear(&mut self, slot: usize, event: Event) -> anyhow::Result<()> {
        let step = self.plan.config.jobs;
        match event {
            Event::Progress(tally) => {
                if tally.databases > 0 {
                    self.failures_in_a_row = 0;
                }
                self.slots[slot].went_on(&tally, step);
                self.tally.add(*tally);
            }
            Event::Finding(difference) => {
                // A worker leaves a database that showed a difference.
                let next = difference.origin.database + step;
                self.record(*difference)?;
                self.slots[slot].reached = self.slots[slot].reached.max(next);
                self.write_position()?;
            }
            Event::Unstable(difference) => self.intake.take_unstable(*difference, self.tally.checks())?,
            Event::Unreadable(why) => self.note(format!("cannot read a worker's message ({why})")),
            _ => {}
        }
        Ok(())
    }

    fn record(&mut self, difference: Difference) -> anyhow::Result<()> {
        self.intake.take(difference, self.tally.checks(), self.observer)
    }

    /// A worker has ended: normally, by the engine's fault, or by ours. Unless it ended normally, another one
    /// replaces it, after the database in which it died.
    fn replace(&mut self, number: usize, ended: &Ended) -> anyhow::Result<()> {
        let slot = &mut self.slots[number];
        slot.worker = None;
        if matches!(ended.how, End::Well | End::Stopped) {
            return Ok(());
        }
        if ended.remains.statement.is_some() {
            slot.first_database = ended.remains.database + self.plan.config.jobs;
        }
        slot.cases_left = slot.cases_left.map(|cases| cases.saturating_sub(ended.remains.cases));
        (slot.databases_told, slot.cases_told) = (0, 0);
        match crash::difference(ended, self.plan.config.seed) {
            Some(difference) => self.record(difference)?,
            None => self.note_failure(ended)?,
        }
        self.write_position()?;
        if self.stopping { Ok(()) } else { self.start(number) }
    }

    /// Errors of our own end a campaign only if they keep happening.
    fn note_failure(&mut self, ended: &Ended) -> anyhow::Result<()> {
        let (remains, why) = (&ended.remains, ended.why());
        let place = match &remains.statement {
            Some(_) => format!("in database {}, test case {}", remains.database, remains.case),
            None => "before the first statement".to_string(),
        };
        self.failures_in_a_row += 1;
        if self.failures_in_a_row >= MOST_FAILURES_IN_A_ROW {
            bail!("workers keep failing {place} ({why}); stopping");
        }
        self.note(format!("a worker failed {place} ({why})"));
        Ok(())
    }

    fn note(&mut self, failure: String) {
        self.observer.note(&failure);
        self.failures.push(failure);
    }

    fn stop_if_due(&mut self) {
        let due = self.interrupted.load(Ordering::Relaxed)
            || self.intake.has_all_findings()
            || self.plan.config.time.is_some_and(|time| self.started.elapsed() >= time);
        if due && !self.stopping {
            self.stopping = true;
            self.pool.stop();
        }
    }

    /// The hunt is over: reduce what is left, within reason.
    fn drain(&mut self) -> anyhow::Result<()> {
        let start = Instant::now();
        while self.intake.waiting() > 0 && start.elapsed() < DRAIN && !self.intake.has_all_findings() {
            self.intake.collect(TICK, self.observer)?;
            self.tell_progress();
        }
        self.intake.close()
    }

    fn tell_progress(&mut self) {
        self.observer.progress(&Progress {
            elapsed: self.started.elapsed(),
            databases: self.tally.databases,
            statements: self.tally.counts.statements,
            statements_ok: self.tally.counts.statements_ok,
            checks: self.tally.checks(),
            waiting: self.intake.waiting(),
        });
    }

    /// Writes how far the workers are, from time to time.
    fn note_position(&mut self) -> anyhow::Result<()> {
        if self.noted.elapsed() < NOTE_PAUSE {
            return Ok(());
        }
        self.noted = Instant::now();
        self.note_growth();
        self.write_position()
    }

    fn note_growth(&mut self) {
        if self.plan.config.guide != guide::Kind::None {
            self.growth.push(Growth {
                seconds: self.started.elapsed().as_secs_f64(),
                statements: self.tally.counts.statements,
                features: self.tally.learned.features.len() as u64,
            });
        }
    }

    fn write_position(&self) -> anyhow::Result<()> {
        let position = Position {
            next_databases: self.slots.iter().map(Slot::next_database).collect(),
            cases_left: self.slots.iter().map(Slot::cases_left).collect(),
        };
        self.store.write_position(&position)
    }
}
