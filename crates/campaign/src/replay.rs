//! Checks a finding again, in a new process.

use anyhow::anyhow;
use dissent_core::finding::Finding;

use crate::pool::{self, End};
use crate::tested::Tested;
use crate::worker::protocol::{CheckOutcome, Event, Replayed, Task};

/// The result of a replay.
pub enum Replay {
    /// The process lived to tell.
    Checked(Box<Replayed>),
    /// The engine did not survive it.
    Fatal {
        /// The statement in which that happened.
        statement: String,
        /// What happened, in words.
        how: String,
    },
}

impl Replay {
    /// Whether the finding still fails; none if this target cannot tell.
    pub fn still_fails(&self) -> Option<bool> {
        let Replay::Checked(replayed) = self else { return Some(true) };
        match &replayed.outcome {
            CheckOutcome::Differs(_) => Some(true),
            // Statements that worked where the finding was made and fail here leave another state: agreement on it says
            // nothing about the finding.
            _ if !replayed.setup_failures.is_empty() => None,
            CheckOutcome::Agrees => Some(false),
            CheckOutcome::CannotTell(_) => None,
        }
    }
}

/// Checks a finding again.
pub fn replay(finding: &Finding, tested: &Tested) -> anyhow::Result<Replay> {
    let task = Task::Replay { case: Box::new(finding.case.clone()), origin: finding.origin };
    let (mut replayed, mut unreadable) = (None, None);
    let ended = pool::run(&tested.place, &task, |event| match event {
        Event::Replayed(what) => replayed = Some(what),
        Event::Unreadable(why) => unreadable = Some(why),
        _ => {}
    })?;
    if let Some(why) = unreadable {
        return Err(anyhow!("cannot read the worker's message ({why})"));
    }
    let how = match (ended.how, ended.last_words.as_str()) {
        (End::Hung { .. }, _) => "the last statement hangs".to_string(),
        (End::Crashed, "") => format!("the process crashes with {}", ended.cause()),
        (End::Crashed, words) => format!("the process crashes with {} ({words})", ended.cause()),
        _ => {
            return replayed
                .map(Replay::Checked)
                .ok_or_else(|| ended.failure("the worker process ended too early"));
        }
    };
    Ok(Replay::Fatal { statement: ended.remains.statement.unwrap_or_default(), how })
}
