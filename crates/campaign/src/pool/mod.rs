//! Worker processes. They are started, watched for stalls, killed and waited for here and nowhere else.

mod process;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::bail;
use dissent_engine::{EngineError, Source};
use serde::Serialize;

use crate::observer::Doing;
use crate::system;
use crate::worker::journal::Pulse;
use crate::worker::protocol::{Event, Task, read_events};
pub use process::{End, Ended, Meter};
use process::{Process, STUCK_LIMIT};

/// How often workers are checked when no report arrives.
pub const TICK: Duration = Duration::from_millis(50);
/// A worker that is asked to stop does so at the next case; statements are cut off after 5 s by their limits.
const STOP_GRACE: Duration = Duration::from_secs(6);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Ends everything that workers do, for a program that is about to end: from now on whoever waits for a worker is told
/// that it was interrupted. May be called from any thread.
pub fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

fn check_interrupted() -> anyhow::Result<()> {
    if INTERRUPTED.load(Ordering::Relaxed) {
        bail!("interrupted");
    }
    Ok(())
}

/// Where workers work: an engine that is on this machine, and what they may use.
#[derive(Clone, Debug)]
pub struct Workplace {
    pub source: Source,
    /// Another version that answers the same questions.
    pub other: Option<Source>,
    pub dialect: String,
    pub memory_bytes: u64,
    pub hang_limit: Duration,
}

impl Workplace {
    /// Drops what workers made on servers that go on without us.
    pub fn leave(&self) -> Result<(), EngineError> {
        self.source.leave()?;
        self.other.as_ref().map_or(Ok(()), Source::leave)
    }
}

/// One process of a pool; no two ever have the same.
pub type WorkerId = u64;

/// What is heard of a worker.
pub enum Report {
    Said(Box<Event>),
    Ended(Box<Ended>),
}

/// Workers on one engine. They die with the *thread* that starts them, so that thread has to live as long as they
/// may (see [`dissent_engine::Confinement`]).
pub struct Pool {
    place: Workplace,
    meter: Meter,
    workers: BTreeMap<WorkerId, Process>,
    started: WorkerId,
    /// `None`: the worker's stream ended, it is dead or about to be.
    sender: Sender<(WorkerId, Option<Event>)>,
    receiver: Receiver<(WorkerId, Option<Event>)>,
    looked: Instant,
    stopping: Option<Instant>,
    paused: bool,
}

impl Pool {
    pub fn new(place: Workplace) -> Pool {
        Pool::metered(place, Meter::default())
    }

    /// A pool whose processor time is counted together with that of others.
    pub fn metered(place: Workplace, meter: Meter) -> Pool {
        let (sender, receiver) = channel();
        let workers = BTreeMap::new();
        let looked = Instant::now();
        Pool { place, meter, workers, started: 0, sender, receiver, looked, stopping: None, paused: false }
    }

    /// Starts a worker.
    pub fn start(&mut self, task: &Task) -> anyhow::Result<WorkerId> {
        check_interrupted()?;
        let (process, stream) = Process::spawn(&self.place, task, self.meter.clone())?;
        process.ask_to_pause(self.paused);
        self.started += 1;
        let id = self.started;
        self.workers.insert(id, process);
        let sender = self.sender.clone();
        std::thread::spawn(move || {
            // Sending fails only when the pool has gone, and then there is nobody to tell.
            read_events(stream, |event| drop(sender.send((id, Some(event)))));
            let _ = sender.send((id, None));
        });
        Ok(id)
    }

    pub fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    /// The processor time of all workers so far, of those that have ended and those that have not.
    pub fn cpu_seconds(&self) -> f64 {
        self.meter.cpu_seconds() + self.workers.values().map(Process::cpu_seconds).sum::<f64>()
    }

    /// Bytes of memory that the workers and what they started hold now.
    pub fn memory(&self) -> u64 {
        system::trees_memory(&self.process_ids())
    }

    fn process_ids(&self) -> Vec<u32> {
        self.workers.values().map(Process::id).collect()
    }

    /// A further line for a worker that reads them. One that is dead cannot; its end is reported soon enough.
    pub fn send(&mut self, worker: WorkerId, line: &impl Serialize) -> anyhow::Result<()> {
        match self.workers.get_mut(&worker) {
            Some(process) => process.send(line),
            None => Ok(()),
        }
    }

    /// What is heard next of any worker; `None` if that is nothing within this time.
    pub fn next(&mut self, patience: Duration) -> anyhow::Result<Option<(WorkerId, Report)>> {
        check_interrupted()?;
        if self.looked.elapsed() >= TICK {
            self.look_for_stalls();
        }
        let Ok((id, event)) = self.receiver.recv_timeout(patience) else { return Ok(None) };
        let Some(process) = self.workers.get_mut(&id) else { return Ok(None) };
        match event {
            Some(Event::Trouble(message)) => {
                process.trouble = Some(message);
                Ok(None)
            }
            Some(event) => Ok(Some((id, Report::Said(Box::new(event))))),
            None => {
                let Some(process) = self.workers.remove(&id) else { return Ok(None) };
                Ok(Some((id, Report::Ended(Box::new(process.end()?)))))
            }
        }
    }

    /// Whether a worker has been killed, whatever it may still have said.
    pub fn is_killed(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_none_or(|process| process.killed.is_some())
    }

    /// Asks all workers to wait before their next case, or to go on; also those that start from now on.
    pub fn pause(&mut self, pause: bool) {
        self.paused = pause;
        self.workers.values().for_each(|process| process.ask_to_pause(pause));
    }

    /// Whether no worker is busy.
    pub fn is_paused(&self) -> bool {
        self.workers.values().all(|process| process.look().0.paused)
    }

    /// What a worker is doing; none for one that has ended.
    pub fn look(&self, worker: WorkerId) -> Option<Doing> {
        let (pulse, still) = self.workers.get(&worker)?.look();
        let Pulse { running, database, case, purpose, statements, statement, .. } = pulse;
        Some(Doing { database, case, purpose, statements, statement, running, still })
    }

    /// Asks all workers to stop. Those that do not within a while are killed.
    pub fn stop(&mut self) {
        self.stopping = Some(Instant::now());
        self.workers.values().for_each(Process::ask_to_stop);
    }

    /// Asks all workers to end at their next case, so that others can take their places.
    pub fn renew(&mut self) {
        self.workers.values().for_each(Process::ask_to_stop);
    }

    /// Ends all workers at once; nothing more is heard of them.
    pub fn clear(&mut self) {
        self.workers.clear();
    }

    fn look_for_stalls(&mut self) {
        self.looked = Instant::now();
        let over_grace = self.stopping.is_some_and(|since| since.elapsed() > STOP_GRACE);
        let after = self.place.hang_limit;
        for process in self.workers.values_mut() {
            match process.stalled() {
                (stalled, true) if stalled > after => process.kill(End::Hung { after }),
                (stalled, false) if stalled > STUCK_LIMIT => process.kill(End::Stuck),
                _ if over_grace => process.kill(End::Stopped),
                _ => {}
            }
        }
    }
}

/// One worker's task from its start to its end; what it says is handed over.
pub fn run(place: &Workplace, task: &Task, mut each: impl FnMut(Event)) -> anyhow::Result<Ended> {
    watch(place, task, |heard| {
        if let Heard::Said(event) = heard {
            each(event);
        }
    })
}

/// What is heard and seen of a single worker.
pub enum Heard {
    Said(Event),
    /// Nothing was said for a while; this is what it is doing.
    Doing(Doing),
}

/// The same, with a look at what the worker is doing whenever it says nothing.
pub fn watch(place: &Workplace, task: &Task, mut each: impl FnMut(Heard)) -> anyhow::Result<Ended> {
    let mut pool = Pool::new(place.clone());
    let worker = pool.start(task)?;
    loop {
        match pool.next(TICK)? {
            Some((_, Report::Said(event))) => each(Heard::Said(*event)),
            Some((_, Report::Ended(ended))) => return Ok(*ended),
            None => pool.look(worker).into_iter().for_each(|doing| each(Heard::Doing(doing))),
        }
    }
}
