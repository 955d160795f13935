//! What Dissent itself costs.
//!
//! A worker's hunt runs in this process, with journal and counting. Then the same statements, saved as text, go
//! through SQLite's C API with nothing around them: prepare, step to the end, finalise. That is the ceiling. The
//! hunt's share of it is what is left after generating, rendering, reading results and comparing them.

use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context, bail};
use dissent_core::dialect::Dialect;
use dissent_core::engine::Engine;
use dissent_core::guide;
use dissent_engine::sqlite::SqliteEngine;
use dissent_engine::{Source, Target};

use crate::catalog;
use crate::config::Config;
use crate::observer::Observer;
use crate::system;
use crate::tested::Tested;
use crate::worker::journal::{self, Journal};
use crate::worker::protocol::{Events, HuntTask};
use crate::worker::trace::{TracedEngine, Tracer};
use crate::worker::{JournalWriter, hunt};

/// A short hunt of the bundled SQLite, and the statements that it runs.
pub struct Bench {
    task: HuntTask,
    steps: Vec<Step>,
}

enum Step {
    Reset,
    /// Ends in a NUL.
    Statement(Vec<u8>),
}

/// A library of SQLite.
pub struct Library(PathBuf);

impl Bench {
    /// Hunts once to learn the statements.
    pub fn prepare(
        oracles: &[String],
        seed: u64,
        cases: u64,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Bench> {
        let mut config = Config {
            oracles: oracles.to_vec(),
            seed,
            jobs: 1,
            max_cases: Some(cases),
            guide: guide::Kind::None,
            worker_memory: 8 << 30,
            ..Config::default()
        };
        config.settle()?;
        let tested = Tested::obtain(&config, observer)?;
        let catalog = catalog::obtain(&tested, false, observer)?;
        let task = HuntTask {
            max_cases: config.max_cases,
            config,
            worker: 0,
            first_database: 0,
            avoid: Default::default(),
            catalog: catalog.map(|kept| kept.path),
            corpus: PathBuf::new(),
        };
        let mut recorder = Recorder::default();
        let engine = SqliteEngine::bundled()?;
        hunt_once(&task, Box::new(TracedEngine { engine, tracer: &mut recorder }))?;
        Ok(Bench { task, steps: recorder.steps })
    }

    /// How many statements the hunt runs.
    pub fn statements(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Statement(_))).count()
    }

    /// The CPU time of the hunt.
    pub fn hunt(&self) -> anyhow::Result<f64> {
        let start = system::own_cpu_seconds();
        hunt_once(&self.task, Box::new(SqliteEngine::bundled()?))?;
        Ok(system::own_cpu_seconds() - start)
    }

    /// The CPU time of its statements through the bare C API.
    pub fn bare(&self) -> anyhow::Result<f64> {
        self.run(SqliteEngine::bundled()?)
    }

    /// The same with another library. Whoever counts coverage also reads its counters once a database.
    pub fn bare_with(&self, library: &Library) -> anyhow::Result<f64> {
        self.run(SqliteEngine::load(&library.0)?)
    }

    fn run(&self, mut engine: SqliteEngine) -> anyhow::Result<f64> {
        let start = system::own_cpu_seconds();
        for step in &self.steps {
            match step {
                Step::Reset => {
                    engine.take_coverage(&mut |_| {});
                    engine.reset().map_err(anyhow::Error::new)?;
                }
                Step::Statement(text) => engine.run_bare(text),
            }
        }
        Ok(system::own_cpu_seconds() - start)
    }
}

/// A version of SQLite as a plain library, and as one that counts coverage.
pub fn plain_and_counting(target: &str, observer: &mut dyn Observer) -> anyhow::Result<(Library, Library)> {
    let target = Target::parse(target)?;
    let mut told = |step: dissent_engine::Step| observer.note(&step.to_string());
    let library = |source: Source| match source.path() {
        Some(path) => Ok(Library(path.to_path_buf())),
        None => bail!("choose a version other than the bundled one, such as sqlite@3.34.0"),
    };
    Ok((library(target.obtain(&mut told)?)?, library(target.obtain_counting(&mut told)?)?))
}

/// What a worker does, in this process.
fn hunt_once(task: &HuntTask, engine: Box<dyn Engine + '_>) -> anyhow::Result<()> {
    let memory = system::memory_file(journal::BYTES as u64).context("no memory to share")?;
    let writer = JournalWriter { journal: Rc::new(Journal::new(&memory)?), fault: None };
    let dialect = Dialect::load(&task.config.target, engine.version())?;
    hunt::run(task, engine, dialect, writer, &mut Events::to_nobody())
}

#[derive(Default)]
struct Recorder {
    steps: Vec<Step>,
}

impl Tracer for Recorder {
    fn reset(&mut self) {
        self.steps.push(Step::Reset);
    }

    fn before(&mut self, sql: &str) {
        let mut text = sql.as_bytes().to_vec();
        text.push(0);
        self.steps.push(Step::Statement(text));
    }
}
