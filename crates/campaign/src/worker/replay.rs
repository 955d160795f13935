//! A worker's replay: builds a finding's state again, checks it again, and reports everything that ran.

use anyhow::{Context, anyhow};
use dissent_core::dialect::Dialect;
use dissent_core::engine::Reply;
use dissent_core::finding::{Arm, Origin};
use dissent_core::oracle;
use dissent_core::session::Session;
use dissent_core::subject::TestCase;
use dissent_core::walk;

use super::protocol::{CheckOutcome, Event, Events, Replayed};
use super::trace::{TracedEngine, Tracer};
use super::{Engines, JournalWriter};

pub fn run(
    case: &TestCase,
    origin: Origin,
    engines: Engines,
    dialect: &Dialect,
    mut writer: JournalWriter,
    events: &mut Events,
) -> anyhow::Result<()> {
    writer.journal.begin_case(origin.database, origin.case);
    let mut recorder = Recorder { setup_left: case.setup.len(), ..Recorder::default() };
    let traced = Box::new(TracedEngine { engine: engines.engine, tracer: &mut recorder });
    let mut engines = Engines { engine: traced, ..engines };
    let outcome = check(case, &mut engines.session(dialect, &mut writer))?;
    drop(engines);
    let replayed = Replayed { setup_failures: recorder.setup_failures, ran: recorder.ran, outcome };
    Ok(events.send(&Event::Replayed(Box::new(replayed)))?)
}

fn check(case: &TestCase, session: &mut Session) -> anyhow::Result<CheckOutcome> {
    let name = &case.subject.oracle;
    let oracle = oracle::by_name(name).with_context(|| {
        format!("the finding needs the oracle '{name}', which this version of Dissent does not have")
    })?;
    let verdict = walk::replay(case, oracle, session).map_err(|trouble| anyhow!(trouble))?;
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

impl Tracer for Recorder {
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
