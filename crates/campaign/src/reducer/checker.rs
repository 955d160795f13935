//! Checks subjects in a separate process, which is replaced whenever the engine crashes it.

use anyhow::Context;
use dissent_core::finding::{Class, Evidence, Origin};
use dissent_core::subject::TestCase;

use crate::crash;
use crate::pool::{End, Ended, Meter, Pool, Report, TICK, WorkerId, Workplace};
use crate::worker::protocol::{CheckOutcome, Checked, Event, SubjectsTask, Task};

pub struct Checker {
    pool: Pool,
    task: SubjectsTask,
    worker: Option<WorkerId>,
}

/// The result of a check, whatever happened to the process.
#[derive(Debug)]
pub enum Answer {
    /// It fails like this; this many statements of its setup fail.
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
    /// `looking_for` is the class the caller cares about; what its processes spend goes to the meter.
    pub fn new(place: Workplace, origin: Origin, looking_for: Class, meter: &Meter) -> Checker {
        let task = SubjectsTask {
            origin,
            setup_failures_allowed: usize::MAX,
            look_after: looking_for == Class::Crash,
        };
        Checker { pool: Pool::metered(place, meter.clone()), task, worker: None }
    }

    /// From now on a subject with more failing statements than this is not worth a check.
    pub fn allow_setup_failures(&mut self, most: usize) {
        if self.task.setup_failures_allowed != most {
            self.task.setup_failures_allowed = most;
            self.end();
        }
    }

    pub fn check(&mut self, case: &TestCase) -> anyhow::Result<Answer> {
        // A process that was killed from outside says nothing about the subject: another one is started.
        match self.attempt(case)? {
            Some(answer) => Ok(answer),
            None => self.attempt(case)?.context("worker processes keep being killed from outside"),
        }
    }

    /// `None`: the process was ended, and neither by the engine nor by us.
    fn attempt(&mut self, case: &TestCase) -> anyhow::Result<Option<Answer>> {
        let worker = self.worker()?;
        self.pool.send(worker, case)?;
        loop {
            match self.pool.next(TICK)? {
                Some((_, Report::Said(event))) => {
                    if let Event::SubjectChecked(checked) = *event {
                        return Ok(Some(self.answer(worker, *checked)));
                    }
                }
                Some((_, Report::Ended(ended))) => return self.answer_of_end(&ended),
                None => {}
            }
        }
    }

    fn worker(&mut self) -> anyhow::Result<WorkerId> {
        if let Some(worker) = self.worker {
            return Ok(worker);
        }
        let task = Task::CheckSubjects(self.task.clone());
        let worker = self.pool.start(&task).context("cannot start a worker process")?;
        self.worker = Some(worker);
        Ok(worker)
    }

    fn answer(&mut self, worker: WorkerId, checked: Checked) -> Answer {
        if self.pool.is_killed(worker) {
            // It answered just in time: the hang does not count against the next subject.
            self.end();
        }
        let setup_failures = checked.setup_failures;
        match checked.outcome {
            CheckOutcome::Agrees => Answer::Holds { setup_failures },
            CheckOutcome::CannotTell(reason) => Answer::CannotTell { reason },
            CheckOutcome::Differs(evidence) => Answer::Fails { evidence, setup_failures },
        }
    }

    /// The process is gone: that is a result too.
    fn answer_of_end(&mut self, ended: &Ended) -> anyhow::Result<Option<Answer>> {
        self.end();
        match crash::evidence(ended) {
            Some(evidence) => {
                Ok(Some(Answer::Fails { evidence: Box::new(evidence), setup_failures: Vec::new() }))
            }
            None if ended.how == End::FromOutside => Ok(None),
            None => Err(ended.failure("the worker process ended too early")),
        }
    }

    fn end(&mut self) {
        self.pool.clear();
        self.worker = None;
    }
}
