//! A worker: a child process with one thread and one engine, so that whatever the engine does to its
//! process is seen by the supervisor and suffered by nobody else.
//!
//! The supervisor's side is [`process`]; the rest runs in the child. They share a [`journal`] and speak
//! the [`protocol`].

mod catalog;
mod check;
mod fault;
pub mod hunt;
pub mod journal;
pub mod process;
pub mod protocol;
mod replay;
mod script;
mod shelf;
pub mod tap;

use std::io::{BufRead, StdinLock};
use std::rc::Rc;

use anyhow::Context;
use dissent_core::dialect::Dialect;
use dissent_core::engine::Engine;
use dissent_engine::Source;

use fault::Fault;
use journal::Journal;
use protocol::{Event, Events, Job, Task};

use crate::system;

/// The child's whole life: read the job, do it, say what came of it.
pub fn run() -> anyhow::Result<u8> {
    system::name_process(c"dissent-worker");
    let mut text = String::new();
    let mut input = std::io::stdin().lock();
    input.read_line(&mut text)?;
    let job: Job = serde_json::from_str(&text)
        .context("`dissent worker` is started by Dissent itself, with a job on standard input")?;
    drop(text);
    let mut events = Events::to_stdout();
    match perform(job, input, &mut events) {
        Ok(()) => Ok(crate::WELL),
        Err(error) => {
            events.send(&Event::Trouble(format!("{error:#}")))?;
            Ok(crate::TROUBLE)
        }
    }
}

fn perform(job: Job, input: StdinLock, events: &mut Events) -> anyhow::Result<()> {
    let fault = Fault::from_environment()?;
    if fault == Some(Fault::Early) {
        std::process::abort();
    }
    let journal = Rc::new(Journal::open(&job.journal)?);
    match job.task {
        Task::Probe { source, dialect } => {
            open(&source, &dialect, events)?;
            Ok(())
        }
        Task::Hunt(task) => {
            let (engine, mut dialect) = open(&task.source, &task.dialect, events)?;
            if let Some(path) = &task.catalog {
                dialect.learn(&crate::catalog::read(path)?);
            }
            if fault == Some(Fault::Start) {
                std::process::abort();
            }
            hunt::run(task, engine, dialect, journal, fault, events)
        }
        Task::Catalog(task) => {
            let (engine, dialect) = open(&task.source, &task.dialect, events)?;
            catalog::run(&task, engine, &dialect, journal, events)
        }
        Task::Check(task) => {
            let (engine, dialect) = open(&task.source, &task.dialect, events)?;
            check::run(&task, engine, &dialect, journal, fault, input, events)
        }
        Task::Scripts(task) => {
            let (engine, dialect) = open(&task.source, &task.dialect, events)?;
            script::run(&task, engine, &dialect, journal, fault, events)
        }
        Task::Replay(task) => {
            let (engine, dialect) = open(&task.source, &task.dialect, events)?;
            let replayed = replay::run(&task, engine, &dialect, journal, fault)?;
            Ok(events.send(&Event::Replayed(Box::new(replayed)))?)
        }
    }
}

fn open(source: &Source, dialect: &str, events: &mut Events) -> anyhow::Result<(Box<dyn Engine>, Dialect)> {
    let engine = source.open()?;
    let dialect = Dialect::load(dialect, engine.version())?;
    events.send(&Event::Ready { engine_version: engine.version().to_string() })?;
    Ok((engine, dialect))
}
