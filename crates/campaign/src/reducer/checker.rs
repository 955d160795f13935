//! Checks subjects in a process of its own, which is replaced whenever the engine takes it down.

use std::io::Write;
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, bail};
use dissent_core::finding::{Class, Evidence, Origin};
use dissent_core::subject::TestCase;
use dissent_engine::Source;

use crate::death;
use crate::worker::process::{STUCK_LIMIT, WorkerProcess};
use crate::worker::protocol::{CheckOutcome, CheckTask, Event, Task, read_events};

/// Where and under which limits subjects are checked.
#[derive(Clone)]
pub struct Place {
    pub source: Source,
    pub dialect: String,
    pub memory_bytes: u64,
    pub hang_limit: Duration,
}

pub struct Checker {
    place: Place,
    task: CheckTask,
    running: Option<Running>,
    /// Processor time of processes that have ended, as far as they told.
    cpu_before: f64,
}

struct Running {
    process: WorkerProcess,
    events: Receiver<Event>,
    cpu_seconds: f64,
}

/// What a check came to, whatever became of the process.
#[derive(Debug)]
pub enum Answer {
    /// It fails like this; so many statements of its setup do not work.
    Fails {
        evidence: Box<Evidence>,
        setup_failures: Vec<usize>,
    },
    /// The arms agree, on a state in which these statements failed.
    Holds {
        setup_failures: Vec<usize>,
    },
    CannotTell {
        reason: String,
    },
}

impl Checker {
    /// `looking_for` is the class the caller cares about.
    pub fn new(place: Place, origin: Origin, looking_for: Class) -> Checker {
        let task = CheckTask {
            source: place.source.clone(),
            dialect: place.dialect.clone(),
            origin,
            setup_failures_allowed: usize::MAX,
            look_after: looking_for == Class::Crash,
        };
        Checker { place, task, running: None, cpu_before: 0.0 }
    }

    /// From now on a subject with more failing statements than this is not worth a check.
    pub fn allow_setup_failures(&mut self, most: usize) {
        if self.task.setup_failures_allowed != most {
            self.task.setup_failures_allowed = most;
            self.end();
        }
    }

    /// Processor time of all processes so far.
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu_before + self.running.as_ref().map_or(0.0, |running| running.cpu_seconds)
    }

    pub fn check(&mut self, case: &TestCase) -> anyhow::Result<Answer> {
        // A process that somebody else ended says nothing about the subject: another one is asked.
        match self.attempt(case)? {
            Some(answer) => Ok(answer),
            None => self.attempt(case)?.context("the processes that check keep being ended from outside"),
        }
    }

    /// `None`: the process was ended, and neither by the engine nor by us.
    fn attempt(&mut self, case: &TestCase) -> anyhow::Result<Option<Answer>> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let mut line = serde_json::to_vec(case)?;
        line.push(b'\n');
        if let Some(input) = &mut running.process.input {
            // A process that is dead cannot read; its death is seen below.
            let _ = input.write_all(&line).and_then(|()| input.flush());
        }
        let mut hung = false;
        loop {
            match running.events.recv_timeout(Duration::from_millis(50)) {
                Ok(Event::Checked(checked)) => {
                    running.cpu_seconds = checked.cpu_seconds;
                    self.running = Some(running);
                    let setup_failures = checked.setup_failures;
                    return Ok(Some(match checked.outcome {
                        CheckOutcome::Agrees => Answer::Holds { setup_failures },
                        CheckOutcome::CannotTell(reason) => Answer::CannotTell { reason },
                        CheckOutcome::Differs(evidence) => Answer::Fails { evidence, setup_failures },
                    }));
                }
                Ok(Event::Trouble(message)) => bail!(message),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let (stalled, in_statement) = running.process.stalled();
                    let limit = if in_statement { self.place.hang_limit } else { STUCK_LIMIT };
                    if stalled > limit && !hung {
                        hung = true;
                        running.process.kill();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return self.mourn(running, hung),
            }
        }
    }

    /// The process is gone: that is an answer too.
    fn mourn(&mut self, running: Running, hung: bool) -> anyhow::Result<Option<Answer>> {
        self.cpu_before += running.cpu_seconds;
        let dead = running.process.bury()?;
        let evidence = match hung {
            true if !dead.remains.running => {
                bail!("a check ran no statement for a minute; please report this")
            }
            true => death::evidence_of_hang(&dead, self.place.hang_limit),
            false if dead.crashed() => death::evidence_of_crash(&dead),
            false if dead.was_ended_from_outside() => return Ok(None),
            false => bail!("a check ended by {}: {}", dead.cause(), dead.last_words),
        };
        Ok(Some(Answer::Fails { evidence: Box::new(evidence), setup_failures: Vec::new() }))
    }

    fn start(&self) -> anyhow::Result<Running> {
        let task = Task::Check(self.task.clone());
        let (process, stream) = WorkerProcess::spawn(&task, self.place.memory_bytes)
            .context("cannot start a process to check in")?;
        Ok(Running { process, events: listen(stream), cpu_seconds: 0.0 })
    }

    fn end(&mut self) {
        if let Some(running) = self.running.take() {
            self.cpu_before += running.cpu_seconds;
        }
    }
}

fn listen(stream: ChildStdout) -> Receiver<Event> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || read_events(stream, |event| drop(sender.send(event))));
    receiver
}
