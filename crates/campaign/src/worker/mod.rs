//! A worker: a child process with one thread and one engine, so that whatever the engine does to its process
//! affects nothing else, and the supervisor sees it.
//!
//! This is the child's side; the other one is the pool. They share a [`journal`] and speak the [`protocol`].

mod corpus;
mod fault;
pub mod hunt;
pub mod journal;
mod probe;
pub mod protocol;
mod replay;
mod scripts;
mod statements;
mod subjects;
pub mod trace;

use std::io::{BufRead, StdinLock, Write};
use std::rc::Rc;

use anyhow::{Context, anyhow, bail};
use dissent_core::confine::{Confinement, Place};
use dissent_core::dialect::{Dialect, Version};
use dissent_core::engine::{Engine, Reply};
use dissent_core::session::{Journal as StatementJournal, Purpose, Session};
use dissent_core::sql::Value;
use dissent_core::subject::TestCase;
use dissent_engine::Wall;

use fault::Fault;
use journal::Journal;
use protocol::{Event, Events, Job, Task};

use crate::system;
use crate::tested::are_foreign;

/// The name by which a process knows that it is a worker.
pub const NAME: &str = "dissent-worker";

/// Exit codes of a worker.
const WELL: i32 = 0;
const TROUBLE: i32 = 2;

/// Whether this process was started to be a worker.
pub fn is_asked() -> bool {
    std::env::args_os().next().is_some_and(|name| name == NAME)
}

/// Makes this process a worker if it was started as one; it then ends here.
///
/// Campaigns run in processes of the same program. So **every program that uses this library must call this first in
/// `main`**, before it reads arguments or starts threads. If it does not, the first campaign fails and says so.
pub fn run_worker_if_asked() {
    if is_asked() {
        report_panics();
        std::process::exit(run().unwrap_or_else(|error| {
            let _ = writeln!(std::io::stderr(), "dissent: {error:#}");
            TROUBLE
        }));
    }
}

/// Panics print one line, like all messages: a supervisor passes on the last line that a worker wrote.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        let payload = panic.payload();
        let literal = payload.downcast_ref::<&str>().copied();
        let what = literal.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        let what = what.replace('\n', " ");
        let _ = writeln!(
            std::io::stderr(),
            "dissent: this is a bug in Dissent{place} ({what}); please report it with this line and the command you ran"
        );
    }));
}

/// The child's whole life: read the job, do it, report the result.
fn run() -> anyhow::Result<i32> {
    system::name_process(c"dissent-worker");
    system::keep_freed_memory();
    let mut text = String::new();
    let mut input = std::io::stdin().lock();
    input.read_line(&mut text)?;
    let job: Job = serde_json::from_str(&text)
        .context("workers are started by Dissent itself, with a job on standard input")?;
    drop(text);
    let mut events = Events::to_stdout();
    let done = perform(job, input, &mut events);
    dissent_engine::remove_homes();
    match done {
        Ok(()) => Ok(WELL),
        Err(error) => {
            events.send(&Event::Trouble(format!("{error:#}")))?;
            Ok(TROUBLE)
        }
    }
}

fn perform(job: Job, input: StdinLock, events: &mut Events) -> anyhow::Result<()> {
    let fault = Fault::from_environment()?;
    if fault == Some(Fault::Early) {
        std::process::abort();
    }
    let writer = JournalWriter { journal: Rc::new(Journal::open(&job.journal)?), fault };
    raise_wall(&job)?;
    let mut engine = match &job.task {
        Task::Hunt(task) => hunt::open(task, &job.source)?,
        _ => job.source.open()?,
    };
    let other = job.other.as_ref().map(|other| other.open()).transpose()?;
    let foreign = foreign_dialect(&job, other.as_deref())?;
    let same_engine = other.as_ref().filter(|_| foreign.is_none());
    let oldest = older(engine.version(), same_engine.map(|other| other.version()));
    let mut dialect = Dialect::load(&job.dialect, oldest)?;
    dialect.discover(&mut engine).map_err(|trouble| anyhow!(trouble))?;
    let (about, settings) = match job.task {
        Task::Open => (about(&mut *engine, &dialect), dialect.settings.clone()),
        _ => (None, Vec::new()),
    };
    let is_shared = job.source.is_shared() || job.other.is_some_and(|other| other.is_shared());
    let place = if is_shared { Place::SharedServer } else { Place::OwnEngine };
    events.send(&Event::Ready { engine_version: engine.version().to_string(), about, settings })?;
    let engines = Engines { engine, other, foreign };
    match job.task {
        Task::Open => Ok(()),
        Task::Hunt(task) => hunt::run(&task, place, engines, dialect, writer, input, events),
        Task::Probe { skip } => probe::run(skip, engines.engine, &dialect, writer, events),
        Task::CheckSubjects(task) => subjects::run(&task, place, engines, &dialect, writer, input, events),
        Task::CheckScripts(task) => scripts::run(&task, place, engines, &dialect, writer, events),
        Task::RunScripts(task) => statements::run(&task, place, engines, &dialect, writer, events),
        Task::Replay { case, origin } => {
            confined(&case, place, &dialect)?;
            replay::run(&case, origin, engines, &dialect, writer, events)
        }
    }
}

/// The dialect of the other engine, if that is not a version of the one under test.
fn foreign_dialect(job: &Job, other: Option<&dyn Engine>) -> anyhow::Result<Option<Dialect>> {
    match (&job.other, other) {
        (Some(source), Some(engine)) if are_foreign(&job.dialect, source.dialect()) => {
            Ok(Some(Dialect::load(source.dialect(), engine.version())?))
        }
        _ => Ok(None),
    }
}

/// Nothing that an engine is asked to do reaches more than the worker itself needs.
fn raise_wall(job: &Job) -> anyhow::Result<()> {
    // SAFETY: a worker has one thread until its engine is opened.
    unsafe { dissent_engine::make_room() }.context("no directory for a worker")?;
    let mut wall = Wall::around(std::iter::once(&job.source).chain(&job.other));
    if let Task::Hunt(task) = &job.task {
        wall = hunt::let_through(task, wall)?;
    }
    wall.raise().context("cannot confine a worker")?;
    Ok(())
}

/// A finding may come from elsewhere: none of its statements may reach beyond the database.
fn confined(case: &TestCase, place: Place, dialect: &Dialect) -> anyhow::Result<()> {
    match Confinement::new(dialect, place).refusal_of_case(case) {
        Some(why) => bail!("a statement of the finding is refused: {why}"),
        None => Ok(()),
    }
}

/// The engine under test, and the one that it is compared with.
pub struct Engines<'a> {
    pub engine: Box<dyn Engine + 'a>,
    pub other: Option<Box<dyn Engine + 'a>>,
    /// The dialect of the other one, if that is another engine.
    pub foreign: Option<Dialect>,
}

impl Engines<'_> {
    pub fn session<'s>(&'s mut self, dialect: &'s Dialect, writer: &'s mut JournalWriter) -> Session<'s> {
        let mut session = Session::new(&mut *self.engine, dialect, writer, system::nanos);
        match (&mut self.other, &self.foreign) {
            (Some(other), Some(foreign)) => session.compare_with_engine(&mut **other, foreign),
            (Some(other), None) => session.compare_with(&mut **other),
            (None, _) => {}
        }
        session
    }
}

/// Of two versions the one whose SQL both understand.
pub fn older<'a>(version: &'a str, other: Option<&'a str>) -> &'a str {
    other.into_iter().fold(version, |oldest, other| {
        if Version::parse(other) < Version::parse(oldest) { other } else { oldest }
    })
}

/// All that an engine says of its version and build.
fn about(engine: &mut dyn Engine, dialect: &Dialect) -> Option<String> {
    match engine.execute(dialect.engine.about.as_deref()?) {
        Ok(Reply::Rows(rows)) => match rows.single() {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Writes statements to the shared journal.
pub struct JournalWriter {
    pub journal: Rc<Journal>,
    pub fault: Option<Fault>,
}

impl StatementJournal for JournalWriter {
    fn before(&mut self, sql: &str) {
        self.journal.begin_statement(sql);
        if let Some(fault) = self.fault {
            fault.strike(self.journal.position());
        }
    }

    fn after(&mut self) {
        self.journal.end_statement();
    }

    fn purpose(&mut self, purpose: Purpose) {
        self.journal.spend_on(purpose);
    }

    fn built(&mut self, sql: &str) {
        self.journal.add_setup(sql);
    }

    fn reset(&mut self) {
        self.journal.start_over();
    }
}
