//! A worker that runs scripts as they are written, with the settings that the engine comes with.

use anyhow::{anyhow, bail};
use dissent_core::confine::{Confinement, Place};
use dissent_core::dialect::Dialect;
use dissent_core::engine::{ErrorClass, Reply};
use dissent_core::session::Session;
use dissent_core::sql::Statement;

use super::protocol::{Event, Events, RunTask};
use super::{Engines, JournalWriter};

pub fn run(
    task: &RunTask,
    place: Place,
    mut engines: Engines,
    dialect: &Dialect,
    mut writer: JournalWriter,
    events: &mut Events,
) -> anyhow::Result<()> {
    let confinement = Confinement::new(dialect, place);
    if let Some(why) = task.scripts.iter().flatten().find_map(|sql| confinement.refusal(sql)) {
        bail!("a statement of the script is refused: {why}");
    }
    let mut session = engines.session(dialect, &mut writer);
    for script in task.scripts.iter().skip(task.skip) {
        session.reset().map_err(|trouble| anyhow!(trouble))?;
        for sql in &dialect.engine.defaults {
            execute(sql, &mut session)?;
        }
        for sql in script {
            let reply = execute(sql, &mut session)?;
            let lost = reply.failure().is_some_and(|error| error.class == ErrorClass::ConnectionLost);
            events.send(&Event::Ran(reply.into()))?;
            if lost {
                break;
            }
        }
        // Memory that a statement broke may be noticed only when it is given back.
        session.reset().map_err(|trouble| anyhow!(trouble))?;
        events.send(&Event::ScriptRan)?;
    }
    Ok(())
}

fn execute(sql: &str, session: &mut Session) -> anyhow::Result<Reply> {
    session.try_run(&Statement::Raw(sql.to_string())).map_err(|trouble| anyhow!(trouble))
}
