//! Runs scripts as they are written, to see what each statement returns.

use anyhow::anyhow;
use dissent_core::finding::ArmOutcome;

use crate::crash;
use crate::pool;
use crate::tested::Tested;
use crate::worker::protocol::{Event, RunTask, Task};

/// What the statements of each script return, on an empty database with the engine's default settings, in a process of
/// its own; the scripts after one that the engine does not survive run in another one. The statement that the engine does
/// not survive is the last one of its script that has an outcome.
pub fn run_scripts(scripts: Vec<Vec<String>>, tested: &Tested) -> anyhow::Result<Vec<Vec<ArmOutcome>>> {
    let mut done: Vec<Vec<ArmOutcome>> = Vec::new();
    while done.len() < scripts.len() {
        let task = Task::RunScripts(RunTask { scripts: scripts.clone(), skip: done.len() });
        let mut outcomes = Vec::new();
        let mut unreadable = None;
        let ended = pool::run(&tested.place, &task, |event| match event {
            Event::Ran(outcome) => outcomes.push(outcome),
            Event::ScriptRan => done.push(std::mem::take(&mut outcomes)),
            Event::Unreadable(why) => unreadable = Some(why),
            _ => {}
        })?;
        if let Some(why) = unreadable {
            return Err(anyhow!("cannot read the worker's message ({why})"));
        }
        if let Some(script) = scripts.get(done.len()) {
            let fatal = crash::evidence(&ended).and_then(|evidence| evidence.arms.into_iter().next());
            let fatal = fatal.ok_or_else(|| ended.failure("the worker process ended too early"))?;
            // What is noticed only after the last statement is the last statement's fault.
            outcomes.truncate(script.len().saturating_sub(1));
            outcomes.push(fatal.outcome);
            done.push(outcomes);
        }
    }
    Ok(done)
}
