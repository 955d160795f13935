//! A worker that checks one subject after the other, as they come in on standard input.

use std::io::BufRead;
use std::rc::Rc;

use anyhow::{Context, anyhow};
use dissent_core::dialect::Dialect;
use dissent_core::engine::Engine;
use dissent_core::finding::Verdict;
use dissent_core::oracle;
use dissent_core::session::Session;
use dissent_core::subject::Subject;
use dissent_core::walk;

use super::fault::Fault;
use super::hunt::Scribe;
use super::journal::Journal;
use super::protocol::{CheckOutcome, CheckTask, Checked, Event, Events};
use crate::system;

/// Ends when the input does.
pub fn run(
    task: &CheckTask,
    mut engine: Box<dyn Engine>,
    dialect: &Dialect,
    journal: Rc<Journal>,
    fault: Option<Fault>,
    subjects: impl BufRead,
    events: &mut Events,
) -> anyhow::Result<()> {
    journal.begin_case(task.origin.database, task.origin.case);
    let mut scribe = Scribe { journal, fault };
    let mut session = Session::new(&mut *engine, dialect, &mut scribe, system::nanos);
    for line in subjects.lines() {
        let subject: Subject = serde_json::from_str(&line?)?;
        let checked = check(task, &subject, &mut session)?;
        events.send(&Event::Checked(Box::new(checked)))?;
    }
    Ok(())
}

fn check(task: &CheckTask, subject: &Subject, session: &mut Session) -> anyhow::Result<Checked> {
    let name = &subject.oracle;
    let oracle = oracle::by_name(name).with_context(|| {
        format!("the finding was made by the oracle '{name}', which this version of Dissent does not have")
    })?;
    let trouble = |trouble| anyhow!("{trouble}");
    let setup_failures = walk::rebuild(subject, session).map_err(trouble)?;
    let outcome = match setup_failures.len() {
        failures if failures > task.setup_failures_allowed => {
            CheckOutcome::CannotTell("the setup fails".to_string())
        }
        _ => match oracle.check(subject, session).map_err(trouble)? {
            Verdict::Pass { .. } => CheckOutcome::Agrees,
            Verdict::Skip(reason) => CheckOutcome::CannotTell(reason.into_owned()),
            Verdict::Bug(evidence) => CheckOutcome::Differs(evidence),
        },
    };
    if task.look_after {
        // Memory that a statement broke may be noticed only when it is given back.
        session.reset().map_err(trouble)?;
    }
    Ok(Checked { setup_failures, outcome, cpu_seconds: system::own_cpu_seconds() })
}
