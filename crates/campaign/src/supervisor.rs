//! The parent of the workers: starts them, listens, sees deaths and hangs, goes on.

use std::process::ChildStdout;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::bail;
use dissent_core::finding::{FINDING_FORMAT, Finding, Origin};
use dissent_core::guide;

use super::desk::Desk;
use super::observer::Observer;
use super::position::Position;
use super::store::Store;
use super::{Growth, Outcome, Plan, death};
use crate::reducer::queue::Done;
use crate::system;
use crate::worker::process::{Dead, STUCK_LIMIT, WorkerProcess};
use crate::worker::protocol::{Difference, Event, Tally, read_events};

/// How often the supervisor looks around when nobody says anything.
const TICK: Duration = Duration::from_millis(100);
/// A worker asked to stop does so at the next case; statements are cut off after 5 s by their limits.
const STOP_GRACE: Duration = Duration::from_secs(6);
/// How often the position of the workers is written.
const NOTE_PAUSE: Duration = Duration::from_secs(5);
/// How long a campaign that is over goes on reducing what it found.
const DRAIN: Duration = Duration::from_secs(30);
/// Workers that end for a reason of our own, one after the other with no database finished between.
const MOST_FAILURES_IN_A_ROW: u32 = 5;

pub struct Supervisor<'a> {
    plan: &'a Plan,
    store: &'a Store,
    desk: Desk<'a>,
    /// When the position was written last.
    noted: Instant,
    progress: &'a mut dyn Observer,
    started: Instant,
    interrupted: Arc<AtomicBool>,
    slots: Vec<Slot>,
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    stopping: Option<Instant>,
    failures_in_a_row: u32,
    /// What children that are none of the workers have used.
    cpu_before: f64,
    tally: Tally,
    failures: Vec<String>,
    growth: Vec<Growth>,
}

/// The place of one worker: processes in it come and go, its share of the databases stays.
struct Slot {
    /// `None` when its work is done.
    process: Option<WorkerProcess>,
    first_database: u64,
    cases_left: Option<u64>,
    /// What its present process told, and the database it is known to have come to.
    databases_told: u64,
    cases_told: u64,
    reached: u64,
    killed: Option<Killed>,
    /// What the worker said was wrong before it ended.
    trouble: Option<String>,
}

impl Slot {
    /// By what the worker told, not by its journal: that may be ahead of findings nobody has read yet.
    fn next_database(&self) -> u64 {
        self.reached.max(self.first_database)
    }

    fn cases_left(&self) -> Option<u64> {
        self.cases_left.map(|cases| cases.saturating_sub(self.cases_told))
    }

    /// The worker told what it did since it told last.
    fn went_on(&mut self, tally: &Tally, step: u64) {
        self.databases_told += tally.databases;
        self.cases_told += tally.cases;
        // The last one may not be finished.
        let current = self.first_database + self.databases_told.saturating_sub(1) * step;
        self.reached = self.reached.max(current);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Killed {
    Hung,
    Stuck,
    Stopped,
}

enum Message {
    Said(usize, Box<Event>),
    /// The worker's stream ended: it is dead or about to be.
    Closed(usize),
    Reduced(Box<Done>),
}

impl<'a> Supervisor<'a> {
    pub fn new(
        plan: &'a Plan,
        store: &'a Store,
        progress: &'a mut dyn Observer,
        interrupted: Arc<AtomicBool>,
    ) -> Self {
        let (sender, receiver) = channel();
        let slot = |worker| Slot {
            process: None,
            first_database: plan.first_database(worker),
            cases_left: plan.share_of_cases(worker),
            databases_told: 0,
            cases_told: 0,
            reached: 0,
            killed: None,
            trouble: None,
        };
        let reduced = sender.clone();
        let desk = Desk::new(plan, store, move |done| drop(reduced.send(Message::Reduced(Box::new(done)))));
        Supervisor {
            plan,
            store,
            desk,
            noted: Instant::now(),
            progress,
            started: Instant::now(),
            interrupted,
            slots: (0..plan.jobs).map(slot).collect(),
            sender,
            receiver,
            stopping: None,
            failures_in_a_row: 0,
            cpu_before: system::ended_children_cpu_seconds(),
            tally: Tally::default(),
            failures: Vec::new(),
            growth: Vec::new(),
        }
    }

    /// Runs the campaign to its end. An error is trouble that no restart would help.
    pub fn run(&mut self) -> anyhow::Result<()> {
        if self.plan.position.is_some() {
            self.desk.reopen(self.progress)?;
        }
        for worker in 0..self.slots.len() {
            self.start(worker)?;
        }
        while self.slots.iter().any(|slot| slot.process.is_some()) {
            self.listen()?;
            self.look_for_stalls();
            self.note_position()?;
            self.stop_if_due();
            self.progress.tick(&self.tally, self.desk.waiting());
        }
        self.write_position()?;
        self.drain()
    }

    /// Writes how far the workers are, now and then.
    fn note_position(&mut self) -> anyhow::Result<()> {
        if self.noted.elapsed() < NOTE_PAUSE {
            return Ok(());
        }
        self.noted = Instant::now();
        self.note_growth();
        self.write_position()
    }

    fn note_growth(&mut self) {
        if self.plan.guidance.guide != guide::Kind::None {
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

    /// The hunt is over: reduce what is left, within reason.
    fn drain(&mut self) -> anyhow::Result<()> {
        let start = Instant::now();
        while self.desk.waiting() > 0 && start.elapsed() < DRAIN && !self.desk.has_all_findings() {
            self.listen()?;
            self.progress.tick(&self.tally, self.desk.waiting());
        }
        self.desk.close(self.progress)
    }

    /// What came of it, also after trouble. Workers that still run end here.
    pub fn outcome(mut self) -> Outcome {
        self.slots.clear();
        self.note_growth();
        self.progress.clear();
        Outcome {
            wall: self.started.elapsed(),
            worker_cpu_seconds: system::ended_children_cpu_seconds()
                - self.cpu_before
                - self.desk.reducer_cpu_seconds,
            reducer_cpu_seconds: self.desk.reducer_cpu_seconds,
            tally: self.tally,
            unstable: self.desk.unstable,
            not_kept: self.desk.not_kept,
            waiting: self.desk.left_waiting,
            bugs: self.desk.into_bugs(),
            failures: self.failures,
            growth: self.growth,
        }
    }

    /// Starts the worker of a slot, unless its cases are used up.
    fn start(&mut self, worker: usize) -> anyhow::Result<()> {
        let slot = &mut self.slots[worker];
        if slot.cases_left == Some(0) {
            return Ok(());
        }
        let corpus = self.store.corpus();
        let task = self.plan.task(worker as u64, slot.first_database, slot.cases_left, corpus);
        let (process, stream) = WorkerProcess::spawn(&task, self.plan.worker_memory)?;
        slot.process = Some(process);
        slot.databases_told = 0;
        slot.cases_told = 0;
        slot.killed = None;
        slot.trouble = None;
        forward(worker, stream, self.sender.clone());
        Ok(())
    }

    /// Waits a tick for a message, then takes those that are there, but not for ever: other duties wait.
    fn listen(&mut self) -> anyhow::Result<()> {
        let Ok(first) = self.receiver.recv_timeout(TICK) else { return Ok(()) };
        self.hear(first)?;
        for _ in 0..1000 {
            let Ok(message) = self.receiver.try_recv() else { break };
            self.hear(message)?;
        }
        Ok(())
    }

    fn hear(&mut self, message: Message) -> anyhow::Result<()> {
        match message {
            Message::Closed(worker) => self.bury(worker)?,
            Message::Reduced(done) => self.desk.deliver(*done, self.progress)?,
            Message::Said(worker, event) => match *event {
                Event::Progress(tally) => {
                    if tally.databases > 0 {
                        self.failures_in_a_row = 0;
                    }
                    self.slots[worker].went_on(&tally, self.plan.jobs);
                    self.tally.add(tally);
                }
                Event::Finding(difference) => {
                    // A worker leaves the database that showed something.
                    let next = difference.origin.database + self.plan.jobs;
                    self.record(*difference)?;
                    self.slots[worker].reached = self.slots[worker].reached.max(next);
                    self.write_position()?;
                }
                Event::Unstable(difference) => {
                    let finding = self.finding(*difference);
                    self.desk.take_in_unstable(&finding)?;
                }
                Event::Trouble(message) => self.slots[worker].trouble = Some(message),
                Event::Unreadable(why) => self.note(format!("what a worker said cannot be read ({why})")),
                Event::Ready { .. }
                | Event::Replayed(_)
                | Event::Checked(_)
                | Event::Script(_)
                | Event::Listed { .. }
                | Event::Probing { .. }
                | Event::Probed(_) => {}
            },
        }
        Ok(())
    }

    fn finding(&self, difference: Difference) -> Finding {
        Finding {
            format: FINDING_FORMAT,
            target: self.plan.target.clone(),
            dialect: self.plan.dialect.clone(),
            engine_version: self.plan.engine_version.clone(),
            case: difference.case,
            evidence: difference.evidence,
            origin: Origin { checks: self.tally.checks(), ..difference.origin },
            triage: Default::default(),
        }
    }

    fn record(&mut self, difference: Difference) -> anyhow::Result<()> {
        let finding = self.finding(difference);
        self.desk.take_in(finding, self.progress)
    }

    fn look_for_stalls(&mut self) {
        let over_grace = self.stopping.is_some_and(|since| since.elapsed() > STOP_GRACE);
        for slot in &mut self.slots {
            let Some(process) = &mut slot.process else { continue };
            let (stalled, running) = process.stalled();
            let reason = match running {
                true if stalled > self.plan.hang_limit => Killed::Hung,
                false if stalled > STUCK_LIMIT => Killed::Stuck,
                _ if over_grace => Killed::Stopped,
                _ => continue,
            };
            if slot.killed.is_none() {
                slot.killed = Some(reason);
                process.kill();
            }
        }
    }

    fn stop_if_due(&mut self) {
        let due = self.interrupted.load(Ordering::Relaxed)
            || self.desk.has_all_findings()
            || self.plan.time.is_some_and(|time| self.started.elapsed() >= time);
        if due && self.stopping.is_none() {
            self.stopping = Some(Instant::now());
            for process in self.slots.iter().filter_map(|slot| slot.process.as_ref()) {
                process.journal.ask_to_stop();
            }
        }
    }

    /// A worker has ended: well, by the engine's fault, or by ours. Unless it ended well, another one
    /// takes its place, behind the database in which it died.
    fn bury(&mut self, worker: usize) -> anyhow::Result<()> {
        let slot = &mut self.slots[worker];
        let Some(process) = slot.process.take() else { return Ok(()) };
        let killed = slot.killed;
        let dead = process.bury()?;
        if dead.finished_well() || killed == Some(Killed::Stopped) {
            return Ok(());
        }
        if dead.remains.statement.is_some() {
            slot.first_database = dead.remains.database + self.plan.jobs;
        }
        slot.cases_left = slot.cases_left.map(|cases| cases.saturating_sub(dead.remains.cases));
        if killed == Some(Killed::Hung) {
            self.record(death::of_hang(&dead, self.plan))?;
        } else if dead.crashed() {
            self.record(death::of_crash(&dead, self.plan))?;
        } else {
            self.note_failure(worker, &dead)?;
        }
        self.write_position()?;
        if self.stopping.is_none() { self.start(worker) } else { Ok(()) }
    }

    /// Trouble of our own ends a campaign only when it keeps coming.
    fn note_failure(&mut self, worker: usize, dead: &Dead) -> anyhow::Result<()> {
        let slot = &self.slots[worker];
        let why = match (&slot.trouble, slot.killed, dead.last_words.as_str()) {
            (Some(trouble), _, _) => trouble.clone(),
            (None, Some(Killed::Stuck), _) => "it ran no statement for a minute".to_string(),
            (None, _, "") => dead.cause(),
            (None, _, words) => format!("{}: {words}", dead.cause()),
        };
        let place = match &dead.remains.statement {
            Some(_) => format!("in database {}, case {}", dead.remains.database, dead.remains.case),
            None => "before the first statement".to_string(),
        };
        self.failures_in_a_row += 1;
        if self.failures_in_a_row >= MOST_FAILURES_IN_A_ROW {
            bail!("workers keep ending {place} ({why}), so the campaign stops");
        }
        self.note(format!("a worker ended {place} ({why})"));
        Ok(())
    }

    fn note(&mut self, failure: String) {
        self.progress.note(&failure);
        self.failures.push(failure);
    }
}

/// Passes a worker's events on until its stream ends.
fn forward(worker: usize, stream: ChildStdout, sender: Sender<Message>) {
    std::thread::spawn(move || {
        // Sending fails only when the supervisor has gone, and then there is nobody to tell.
        read_events(stream, |event| drop(sender.send(Message::Said(worker, Box::new(event)))));
        let _ = sender.send(Message::Closed(worker));
    });
}
