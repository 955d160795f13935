//! A worker's replay: build a finding's state again, check it again, and tell everything that ran.

use std::rc::Rc;

use anyhow::{Context, anyhow};
use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Reply};
use dissent_core::finding::Arm;
use dissent_core::oracle;
use dissent_core::session::Session;
use dissent_core::walk;

use super::fault::Fault;
use super::hunt::Scribe;
use super::journal::Journal;
use super::protocol::{CheckOutcome, ReplayTask, Replayed};
use super::tap::{Listener, Tap};
use crate::system;

pub fn run(
    task: &ReplayTask,
    engine: Box<dyn Engine>,
    dialect: &Dialect,
    journal: Rc<Journal>,
    fault: Option<Fault>,
) -> anyhow::Result<Replayed> {
    journal.begin_case(task.origin.database, task.origin.case);
    let mut recorder = Recorder { setup_left: task.case.setup.len(), ..Recorder::default() };
    let mut tap = Tap { engine, listener: &mut recorder };
    let mut scribe = Scribe { journal, fault };
    let mut session = Session::new(&mut tap, dialect, &mut scribe, system::nanos);
    let outcome = check(task, &mut session)?;
    Ok(Replayed { setup_failures: recorder.setup_failures, ran: recorder.ran, outcome })
}

fn check(task: &ReplayTask, session: &mut Session) -> anyhow::Result<CheckOutcome> {
    let name = &task.case.subject.oracle;
    let oracle = oracle::by_name(name).with_context(|| {
        format!("the finding was made by the oracle '{name}', which this version of Dissent does not have")
    })?;
    let verdict = walk::replay(&task.case, oracle, session).map_err(|trouble| anyhow!(trouble))?;
    // Memory that a statement broke may be noticed only when it is given back.
    session.reset().map_err(|trouble| anyhow!(trouble))?;
    Ok(CheckOutcome::from(verdict))
}

/// Keeps what ran after the setup, and what failed in it.
#[derive(Default)]
struct Recorder {
    setup_left: usize,
    setup_failures: Vec<(String, String)>,
    ran: Vec<Arm>,
}

impl Listener for Recorder {
    fn after(&mut self, sql: &str, reply: &Reply) {
        if self.setup_left > 0 {
            self.setup_left -= 1;
            if let Reply::Failed(error) = reply {
                self.setup_failures.push((sql.to_string(), error.message.clone()));
            }
            return;
        }
        let label = format!("statement {}", self.ran.len() + 1);
        self.ran.push(Arm { label, sql: sql.to_string(), outcome: reply.clone().into(), plan: None });
    }
}
