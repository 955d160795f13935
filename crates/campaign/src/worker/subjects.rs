//! A worker that checks one subject after the other, as they arrive on standard input.

use std::io::BufRead;

use anyhow::{Context, anyhow};
use dissent_core::confine::Place;
use dissent_core::dialect::Dialect;
use dissent_core::oracle;
use dissent_core::session::Session;
use dissent_core::subject::TestCase;
use dissent_core::walk::{self, Rebuilt};

use super::protocol::{CheckOutcome, Checked, Event, Events, SubjectsTask};
use super::{Engines, JournalWriter, confined};

/// Ends when the input does.
pub fn run(
    task: &SubjectsTask,
    place: Place,
    mut engines: Engines,
    dialect: &Dialect,
    mut writer: JournalWriter,
    subjects: impl BufRead,
    events: &mut Events,
) -> anyhow::Result<()> {
    writer.journal.begin_case(task.origin.database, task.origin.case);
    let mut session = engines.session(dialect, &mut writer);
    for (number, line) in subjects.lines().enumerate() {
        let case: TestCase = serde_json::from_str(&line?)?;
        // Those that follow are made of the first one.
        if number == 0 {
            confined(&case, place, dialect)?;
        }
        let checked = check(task, &case, &mut session)?;
        events.send(&Event::SubjectChecked(Box::new(checked)))?;
    }
    Ok(())
}

fn check(task: &SubjectsTask, case: &TestCase, session: &mut Session) -> anyhow::Result<Checked> {
    let name = &case.subject.oracle;
    let oracle = oracle::by_name(name).with_context(|| {
        format!("the finding needs the oracle '{name}', which this version of Dissent does not have")
    })?;
    let trouble = |trouble| anyhow!("{trouble}");
    let (setup_failures, outcome) = match walk::rebuild(case, session).map_err(trouble)? {
        Rebuilt::Harmed(evidence) => (Vec::new(), CheckOutcome::Differs(evidence)),
        Rebuilt::Whole { failed } if failed.len() > task.setup_failures_allowed => {
            (failed, CheckOutcome::CannotTell("the setup fails".to_string()))
        }
        Rebuilt::Whole { failed } => {
            let verdict = oracle::check(oracle, &case.subject, session).map_err(trouble)?;
            (failed, CheckOutcome::from(verdict))
        }
    };
    if task.look_after {
        // Memory that a statement broke may be noticed only when it is given back.
        session.reset().map_err(trouble)?;
    }
    Ok(Checked { setup_failures, outcome })
}
