//! The parent of a hunt's workers: starts them, listens, and replaces those that end too early.

mod sharing;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::bail;
use dissent_core::guide;
use dissent_core::report::numbers::counted;
use dissent_core::report::timeline::{Sample, Timeline};
use dissent_core::triage::known::{Avoid, Known};
use dissent_coverage::{Map, Reader};

use crate::catalog::{KeptCatalog, Probing};
use crate::config::Config;
use crate::counted::Counted;
use crate::crash;
use crate::intake::Intake;
use crate::observer::{Observer, Phase, Progress, WorkerView};
use crate::pool::{End, Ended, Pool, Report, TICK, WorkerId};
use crate::share::{Lease, Next, Share, Sharing};
use crate::store::{Position, Store};
use crate::stretch::Stretch;
use crate::summary::{OperationFigures, Results, Running, Summary};
use crate::tested::Tested;
use crate::worker::protocol::{Difference, Event, HuntTask, Tally, Task};
use sharing::Shared;

/// How often what a resumed campaign needs is written: the position of the workers and what was counted.
const NOTE_PAUSE: Duration = Duration::from_secs(5);
/// How often a sample is taken and the summary is written, for whoever looks at it while the campaign runs.
const SAMPLE_PAUSE: Duration = Duration::from_secs(2);
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
    /// The file of the version that is compared with.
    pub other_catalog: Option<PathBuf>,
    /// It is not known yet, and to be found out while the hunt goes on.
    pub probe_beside: bool,
    /// Known bugs and behaviours of this version.
    pub known: Vec<Known>,
    /// Where to continue, if the campaign is resumed.
    pub position: Option<Position>,
    /// What it had counted by then.
    pub earlier: Counted,
}

impl Plan {
    /// Where the workers begin.
    pub fn position(&self) -> Position {
        self.position.clone().unwrap_or_else(|| Position::start(&self.config))
    }

    /// The databases of each worker.
    pub fn stretches(&self) -> Vec<Stretch> {
        let next = self.position().next_databases.into_iter();
        next.zip(0..).map(|(first, worker)| self.config.stretch(worker).from(first)).collect()
    }

    /// The job of a worker.
    fn task(&self, worker: u64, slot: &Slot, shares: bool, catalog: Option<PathBuf>, store: &Store) -> Task {
        Task::Hunt(Box::new(HuntTask {
            config: self.config.clone(),
            worker,
            stretches: slot.leases.iter().map(|lease| lease.stretch).collect(),
            shares,
            max_cases: slot.cases_left,
            avoid: self.avoid(),
            catalog,
            other_catalog: self.other_catalog.clone(),
            corpus: store.corpus(),
            map: self.watches().then(|| store.map()),
        }))
    }

    /// Whether the engine's code is watched.
    fn watches(&self) -> bool {
        self.config.guide == guide::Kind::Coverage
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
    controls: &'a Controls,
    share: Sharing,
    pool: Pool,
    probing: Option<Probing>,
    /// The catalog that was made while hunting.
    catalog: Option<KeptCatalog>,
    intake: Intake<'a>,
    sharing: Shared,
    slots: Vec<Slot>,
    clock: Clock,
    /// When the position was last written.
    noted: Instant,
    /// When the summary was.
    sampled: Instant,
    stopping: bool,
    /// A worker has nothing to do yet.
    waits: bool,
    pausing: bool,
    failures_in_a_row: u32,
    /// What workers had used when that was last looked up, in seconds.
    cpu_used: f64,
    /// Of this run; only what the guide saw is that of the whole campaign.
    tally: Tally,
    failures: Vec<String>,
    timeline: Timeline,
    /// What is seen of the engine's code, if that is watched.
    reader: Option<Reader>,
}

/// What others may ask of a campaign while it runs, from another thread or a signal handler.
#[derive(Debug, Default)]
pub struct Controls {
    pub stop: Arc<AtomicBool>,
    pub pause: Arc<AtomicBool>,
}

/// The time of a campaign, which stands still while it is paused.
struct Clock {
    started: Instant,
    held: Duration,
    since: Option<Instant>,
}

impl Clock {
    fn start() -> Clock {
        Clock { started: Instant::now(), held: Duration::ZERO, since: None }
    }

    fn hold(&mut self, hold: bool) {
        match (hold, self.since) {
            (true, None) => self.since = Some(Instant::now()),
            (false, Some(since)) => {
                self.held += since.elapsed();
                self.since = None;
            }
            _ => {}
        }
    }

    fn elapsed(&self) -> Duration {
        let now = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.started.elapsed().saturating_sub(self.held + now)
    }
}

/// The place of one worker: processes in it come and go, what they visit is theirs in turn.
struct Slot {
    /// `None` when it has nothing to do.
    worker: Option<WorkerId>,
    /// What is visited here; the first one is under way.
    leases: VecDeque<Lease>,
    /// Where a campaign that is resumed goes on if nothing is under way.
    behind: u64,
    cases_left: Option<u64>,
    /// What its current process reported of the first lease, and the database it has reached.
    databases_told: u64,
    cases_told: u64,
    reached: u64,
    /// Its process was asked to end, so that the next one knows the engine's functions.
    renewing: bool,
    /// It was told that nothing follows.
    dismissed: bool,
}

impl Slot {
    fn new((behind, cases_left): (u64, Option<u64>)) -> Slot {
        Slot {
            worker: None,
            leases: VecDeque::new(),
            behind,
            cases_left,
            databases_told: 0,
            cases_told: 0,
            reached: 0,
            renewing: false,
            dismissed: false,
        }
    }

    /// From the worker's reports, not from its journal, which may be ahead of findings that are not read yet.
    fn next_database(&self) -> u64 {
        self.leases.front().map_or(self.behind, |lease| self.reached.max(lease.stretch.first))
    }

    fn cases_left(&self) -> Option<u64> {
        self.cases_left.map(|cases| cases.saturating_sub(self.cases_told))
    }

    /// The worker reported what it did since its last report.
    fn went_on(&mut self, tally: &Tally) {
        self.databases_told += tally.databases;
        self.cases_told += tally.cases;
        // The last one may not be finished.
        if let Some(Lease { stretch, .. }) = self.leases.front() {
            let current = stretch.first + self.databases_told.saturating_sub(1) * stretch.step;
            self.reached = self.reached.max(current);
        }
    }

    /// The worker leaves a database for the one behind it.
    fn leaves(&mut self, database: u64) {
        if let Some(Lease { stretch, .. }) = self.leases.front() {
            self.reached = self.reached.max(database + stretch.step);
        }
    }

    /// The first lease is behind the worker.
    fn walked(&mut self) -> Option<Lease> {
        let lease = self.leases.pop_front()?;
        let Stretch { first, step, end } = lease.stretch;
        self.behind =
            end.map_or(first, |end| first.max(first + end.saturating_sub(first).div_ceil(step) * step));
        (self.databases_told, self.reached) = (0, 0);
        Some(lease)
    }

    /// Its process has ended in a database, which the next one does not visit again.
    fn died_in(&mut self, database: u64) {
        if let Some(lease) = self.leases.front_mut().filter(|lease| lease.stretch.contains(database)) {
            lease.stretch = lease.stretch.from(database + lease.stretch.step);
        }
    }
}

impl<'a> Supervisor<'a> {
    pub fn new(
        plan: &'a Plan,
        store: &'a Store,
        observer: &'a mut dyn Observer,
        controls: &'a Controls,
        share: Box<dyn Share>,
    ) -> Self {
        let share = Rc::new(RefCell::new(share));
        let Position { next_databases, cases_left } = plan.position();
        let mut tally = Tally::default();
        tally.learned.features.clone_from(&plan.earlier.tally.learned.features);
        Supervisor {
            plan,
            store,
            observer,
            controls,
            pool: Pool::new(plan.tested.place.clone()),
            probing: None,
            catalog: None,
            intake: Intake::new(&plan.config, &plan.tested, &plan.known, store, share.clone()),
            share,
            sharing: Shared::default(),
            slots: next_databases.into_iter().zip(cases_left).map(Slot::new).collect(),
            clock: Clock::start(),
            noted: Instant::now(),
            sampled: Instant::now(),
            stopping: false,
            waits: false,
            pausing: false,
            failures_in_a_row: 0,
            cpu_used: 0.0,
            tally,
            failures: Vec::new(),
            timeline: plan.earlier.timeline.clone(),
            reader: None,
        }
    }

    /// Runs the campaign to its end. An error is one that no restart would fix.
    pub fn run(&mut self) -> anyhow::Result<()> {
        if self.plan.position.is_some() {
            self.intake.reopen(self.observer)?;
        }
        self.watch()?;
        self.occupy()?;
        self.probing = self.plan.probe_beside.then(|| Probing::start(&self.plan.tested));
        while !self.pool.is_empty() || self.waits {
            self.listen()?;
            self.take_news()?;
            self.read_map();
            self.occupy()?;
            self.intake.collect(Duration::ZERO, self.observer)?;
            self.note_position()?;
            self.note_summary()?;
            self.take_up_catalog();
            self.stop_if_due();
            self.pause_if_asked();
            self.tell_progress();
        }
        self.write_position()?;
        self.give_back();
        self.drain()?;
        let figures = self.figures()?;
        self.share.borrow_mut().leave(&self.pulse(), figures)
    }

    /// Makes the map of the engine's code, if that is watched, or goes on with the one that is there.
    fn watch(&mut self) -> anyhow::Result<()> {
        if self.plan.watches() {
            let map = self.store.map();
            self.plan.tested.place.source.make_map(&map)?;
            self.reader = Some(Reader::of_all(Map::open(&map)?));
        }
        Ok(())
    }

    /// Counts what workers have seen of the code, also those that died before they could tell.
    fn read_map(&mut self) {
        if let Some(reader) = &mut self.reader {
            let features = &mut self.tally.learned.features;
            reader.take(&mut |place| {
                features.insert(place);
            });
        }
    }

    /// The result, also after an error. Workers that still run end here.
    pub fn results(mut self) -> Results {
        self.pool.clear();
        self.read_map();
        self.sample();
        Results { running: None, ..self.results_so_far() }
    }

    fn results_so_far(&self) -> Results {
        let counted = self.counted();
        let catalog = self.catalog.as_ref().or(self.plan.catalog.as_ref());
        Results {
            operations: catalog.map(|kept| OperationFigures::new(kept, &counted.tally)),
            counted,
            bugs: self.intake.bugs().to_vec(),
            waiting: self.intake.left_waiting,
            running: Running::here(),
        }
    }

    /// What was counted, earlier runs of the campaign included.
    fn counted(&self) -> Counted {
        self.plan.earlier.with(Counted {
            wall_seconds: self.clock.elapsed().as_secs_f64(),
            worker_cpu_seconds: self.pool.cpu_seconds(),
            reducer_cpu_seconds: self.intake.reducer_cpu_seconds(),
            unstable: self.intake.unstable,
            not_kept: self.intake.not_kept,
            failures: self.failures.clone(),
            timeline: self.timeline.clone(),
            tally: self.tally.clone(),
        })
    }

    /// Gives every slot something to do, and the one after that.
    fn occupy(&mut self) -> anyhow::Result<()> {
        self.waits = false;
        for number in 0..self.slots.len() {
            while !self.stopping && self.lacks_work(number) {
                match self.share.borrow_mut().next() {
                    Next::Visit(lease) => self.slots[number].leases.push_back(lease),
                    Next::Wait => {
                        self.waits = true;
                        break;
                    }
                    Next::Over => break,
                }
                self.send_work(number)?;
            }
            self.start_or_dismiss(number)?;
        }
        Ok(())
    }

    /// Where databases are shared with others, asking takes a while: workers have one lease in advance.
    fn lacks_work(&self, number: usize) -> bool {
        let slot = &self.slots[number];
        let wanted = if self.share.borrow().is_shared() { 2 } else { 1 };
        !slot.dismissed && slot.cases_left != Some(0) && slot.leases.len() < wanted
    }

    /// A worker that is already running hears of its next lease.
    fn send_work(&mut self, number: usize) -> anyhow::Result<()> {
        let slot = &self.slots[number];
        match (slot.worker, slot.leases.back()) {
            (Some(worker), Some(lease)) => self.pool.send(worker, &lease.stretch),
            _ => Ok(()),
        }
    }

    /// A worker without work is not left waiting: it ends, and another one starts when there is some.
    fn start_or_dismiss(&mut self, number: usize) -> anyhow::Result<()> {
        let slot = &mut self.slots[number];
        match slot.worker {
            None if !slot.leases.is_empty() && !self.stopping => self.start(number),
            Some(worker) if !slot.dismissed && (slot.leases.is_empty() || self.stopping) => {
                slot.dismissed = true;
                self.pool.send(worker, &Stretch::between(0, 0))
            }
            _ => Ok(()),
        }
    }

    /// Starts the worker of a slot, unless its cases are used up.
    fn start(&mut self, number: usize) -> anyhow::Result<()> {
        let slot = &mut self.slots[number];
        slot.dismissed = false;
        if slot.cases_left != Some(0) {
            let shares = self.share.borrow().is_shared();
            let catalog = self.catalog.as_ref().or(self.plan.catalog.as_ref()).map(|kept| kept.path.clone());
            let task = self.plan.task(number as u64, slot, shares, catalog, self.store);
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
        match event {
            Event::Progress(tally) => {
                if tally.databases > 0 {
                    self.failures_in_a_row = 0;
                }
                self.slots[slot].went_on(&tally);
                self.tally.add(*tally);
            }
            Event::Finding(difference) => {
                let database = difference.origin.database;
                self.record(*difference)?;
                // A worker leaves a database that showed a difference.
                self.slots[slot].leaves(database);
                self.write_position()?;
            }
            Event::Walked => {
                if let Some(lease) = self.slots[slot].walked() {
                    self.share.borrow_mut().walked(lease.ticket);
                }
            }
            Event::Unstable(difference) => {
                self.intake.take_unstable(*difference, self.tally.checks(), self.observer)?;
            }
            Event::Remark(remark) => self.note(remark),
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
        let renewing = std::mem::take(&mut slot.renewing);
        let dismissed = std::mem::take(&mut slot.dismissed);
        if matches!(ended.how, End::Well | End::Stopped) && (!renewing || self.stopping) {
            // One whose cases are used up has work left and will not do it.
            if !dismissed {
                slot.cases_left = slot.cases_left.map(|_| 0);
            }
            return Ok(());
        }
        slot.cases_left = slot.cases_left.map(|cases| cases.saturating_sub(ended.remains.cases));
        (slot.databases_told, slot.cases_told) = (0, 0);
        if ended.remains.statement.is_some() {
            slot.died_in(ended.remains.database);
        }
        if ended.how == End::Well {
            self.write_position()?;
            return self.start(number);
        }
        match crash::difference(ended, self.plan.config.seed) {
            Some(difference) => self.record(difference)?,
            None => self.note_failure(ended)?,
        }
        self.write_position()?;
        if self.stopping { Ok(()) } else { self.start(number) }
    }

    /// Once the engine's functions are known, workers end at their next case, and others that know them go on behind.
    fn take_up_catalog(&mut self) {
        let Some(over) = self.probing.as_mut().and_then(|probing| probing.look(self.observer)) else {
            return;
        };
        self.probing = None;
        match over {
            Ok(Some(kept)) if !self.stopping => {
                self.catalog = Some(kept);
                for slot in &mut self.slots {
                    slot.renewing = slot.worker.is_some();
                }
                self.pool.renew();
                let from = self.slots.iter().map(Slot::next_database).collect();
                if let Err(error) = self.store.note_catalog(from) {
                    self.observer.note(&format!("{error:#}"));
                }
            }
            Ok(_) => {}
            Err(error) => self.observer.note(&format!("using only the dialect's own functions: {error:#}")),
        }
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
        let config = &self.plan.config;
        let due = self.controls.stop.load(Ordering::Relaxed)
            || self.intake.has_all_findings()
            || config.time.is_some_and(|time| self.clock.elapsed() >= time)
            || config.cpu_time.is_some_and(|time| self.cpu_used >= time.as_secs_f64());
        if due && !self.stopping {
            self.stopping = true;
            self.pool.stop();
        }
    }

    /// Workers wait before their next case; a campaign that stops no longer waits.
    fn pause_if_asked(&mut self) {
        let pause = self.controls.pause.load(Ordering::Relaxed) && !self.stopping;
        if pause != self.pausing {
            self.pausing = pause;
            self.pool.pause(pause);
            self.intake.pause(pause, self.observer);
        }
        self.clock.hold(pause && self.pool.is_paused());
    }

    /// The hunt is over: reduce what is left, within reason.
    fn drain(&mut self) -> anyhow::Result<()> {
        let start = Instant::now();
        let waiting = self.intake.waiting();
        if waiting > 0 && !self.intake.has_all_findings() {
            let Config { time, cpu_time, .. } = &self.plan.config;
            let is_late = time.is_some_and(|time| self.clock.elapsed() >= time)
                || cpu_time.is_some_and(|time| self.cpu_used >= time.as_secs_f64());
            let why = match self.controls.stop.load(Ordering::Relaxed) {
                true => "stopping",
                false if is_late => "time is up",
                false => "the hunt is over",
            };
            self.observer.note(&format!("{why}, finishing {}", counted(waiting as u64, "reduction")));
        }
        while self.intake.waiting() > 0 && start.elapsed() < DRAIN && !self.intake.has_all_findings() {
            self.intake.collect(TICK, self.observer)?;
            self.note_summary()?;
            self.tell_progress();
        }
        self.intake.close()
    }

    fn tell_progress(&mut self) {
        let workers: Vec<WorkerView> = self
            .slots
            .iter()
            .enumerate()
            .map(|(number, slot)| WorkerView { number, doing: slot.worker.and_then(|id| self.pool.look(id)) })
            .collect();
        self.observer.progress(&Progress {
            elapsed: self.clock.elapsed(),
            phase: self.phase(),
            databases: self.tally.databases,
            statements: self.tally.counts.statements,
            statements_ok: self.tally.counts.statements_ok,
            checks: self.tally.checks(),
            waiting: self.intake.waiting(),
            features: self.tally.learned.features.len() as u64,
            kept: self.tally.learned.kept,
            oracles: &self.tally.oracles,
            account: &self.tally.counts.account,
            workers: &workers,
            probing: self.probing.as_ref().map(|probing| probing.done),
        });
    }

    fn phase(&self) -> Phase {
        match () {
            () if self.pool.is_empty() => Phase::Reducing,
            () if self.stopping => Phase::Stopping,
            () if self.pausing && self.pool.is_paused() => Phase::Paused,
            () if self.pausing => Phase::Pausing,
            () => Phase::Hunting,
        }
    }

    /// Writes what a resumed campaign needs, now and then.
    fn note_position(&mut self) -> anyhow::Result<()> {
        if self.noted.elapsed() < NOTE_PAUSE {
            return Ok(());
        }
        self.noted = Instant::now();
        self.store.write_counts(&self.counted())?;
        self.write_position()
    }

    /// Writes the figures so far, now and then.
    fn note_summary(&mut self) -> anyhow::Result<()> {
        if self.sampled.elapsed() < SAMPLE_PAUSE {
            return Ok(());
        }
        self.sampled = Instant::now();
        self.cpu_used = self.pool.cpu_seconds();
        self.sample();
        let Plan { config, tested, .. } = self.plan;
        self.store.write_summary(&Summary::new(config, &tested.into(), &self.results_so_far()))
    }

    fn sample(&mut self) {
        let counts = &self.tally.counts;
        self.timeline.push(self.plan.earlier.moment(&Sample {
            seconds: self.clock.elapsed().as_secs_f64(),
            statements: counts.statements,
            valid: counts.statements_ok,
            checks: self.tally.checks(),
            features: self.tally.learned.features.len() as u64,
            bugs: self.intake.new_bugs(),
            memory: self.pool.memory(),
        }));
    }

    fn write_position(&self) -> anyhow::Result<()> {
        let position = Position {
            next_databases: self.slots.iter().map(Slot::next_database).collect(),
            cases_left: self.slots.iter().map(Slot::cases_left).collect(),
        };
        self.store.write_position(&position)
    }
}
