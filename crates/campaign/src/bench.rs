//! What Dissent itself costs, on any engine.
//!
//! A worker's hunt runs in this process, journal, counting and all. Then the very same statements, kept as text, go
//! through the bare client: SQLite's C API with nothing around it (prepare, step to the end, finalise), or the driver of
//! another engine, whose answers are dropped. That is the ceiling; the hunt's share of it is what is left after
//! generating, rendering, reading results and judging them.
//!
//! Processor time is that of this process and of all that it started: a private server and its children. A server that
//! somebody else runs is not counted; then the figures say what Dissent costs beside it.

mod against;
mod costs;

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use anyhow::Context;
use dissent_core::confine::Place;
use dissent_core::dialect::Dialect;
use dissent_core::engine::Engine;
use dissent_core::guide;
use dissent_coverage::{Code, Depth};
use dissent_engine::sqlite::SqliteEngine;
use dissent_engine::{Home, Source, Target};

pub use against::{Against, Round, Way};

use crate::catalog;
use crate::config::Config;
use crate::observer::Observer;
use crate::system;
use crate::tested::Tested;
use crate::worker::journal::{self, Journal};
use crate::worker::protocol::{Event, Events, HuntTask, Tally, read_events};
use crate::worker::trace::{TracedEngine, Tracer};
use crate::worker::{Engines, JournalWriter, hunt};

/// A short hunt, and the statements that it runs.
pub struct Bench {
    task: HuntTask,
    source: Source,
    dialect: String,
    steps: Vec<Step>,
    /// Where a hunt that learns keeps what is new.
    corpus: Home,
}

enum Step {
    Reset,
    /// Ends in a NUL.
    Statement(Vec<u8>),
}

/// What a hunt came to.
pub struct Measured {
    /// Processor time, see the module.
    pub cpu_seconds: f64,
    /// Comparisons that came to a verdict.
    pub checks: u64,
    /// The part of the time in which the engine answered questions of checks.
    pub useful: f64,
    tally: Tally,
}

impl Bench {
    /// Hunts once to learn the statements. `config` says what and how; it is hunted by one worker, without a guide unless
    /// it names one.
    pub fn prepare(mut config: Config, cases: u64, observer: &mut dyn Observer) -> anyhow::Result<Bench> {
        config.jobs = 1;
        config.max_cases = Some(cases);
        config.worker_memory = 8 << 30;
        config.settle()?;
        let tested = Tested::obtain(&config, observer)?;
        let catalog = catalog::obtain(&tested, false, observer)?;
        let corpus = Home::scratch("bench")?;
        let task = HuntTask {
            max_cases: config.max_cases,
            stretches: vec![config.stretch(0)],
            shares: false,
            config,
            worker: 0,
            avoid: Default::default(),
            catalog: catalog.map(|kept| kept.path),
            other_catalog: None,
            corpus: corpus.path().to_path_buf(),
            map: None,
        };
        let (source, dialect) = (tested.place.source.clone(), tested.place.dialect.clone());
        let mut bench = Bench { task, source, dialect, steps: Vec::new(), corpus };
        let mut recorder = Recorder::default();
        let engine = bench.source.open()?;
        bench.hunt_on(Box::new(TracedEngine { engine, tracer: &mut recorder }))?;
        bench.steps = recorder.steps;
        Ok(bench)
    }

    /// How many statements the hunt runs.
    pub fn statements(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Statement(_))).count()
    }

    /// Hunts, and measures it.
    pub fn hunt(&self) -> anyhow::Result<Measured> {
        let engine = self.source.open()?;
        let start = system::tree_cpu_seconds();
        let tally = self.hunt_on(engine)?;
        let cpu_seconds = system::tree_cpu_seconds() - start;
        let useful = tally.counts.account.arm_nanos() as f64 / tally.wall_nanos.max(1) as f64;
        Ok(Measured { cpu_seconds, checks: tally.checks(), useful, tally })
    }

    /// The costs of a dialect's file, as this hunt measures them. What EXPLAIN costs, another hunt may have to tell: one
    /// that has a guide.
    pub fn costs(&self, measured: &[Measured], guided: &[Measured]) -> String {
        let [measured, guided] =
            [measured, guided].map(|hunts| hunts.iter().map(|hunt| &hunt.tally).collect::<Vec<_>>());
        costs::table(&self.task.config.oracles, &measured, &guided)
    }

    /// The processor time of the hunt's statements through the bare client.
    pub fn bare(&self) -> anyhow::Result<f64> {
        match self.source.path() {
            _ if self.dialect != "sqlite" => self.replay(self.source.open()?),
            None => self.run(SqliteEngine::bundled()?),
            Some(path) => self.run(SqliteEngine::load(path)?),
        }
    }

    fn run(&self, mut engine: SqliteEngine) -> anyhow::Result<f64> {
        let start = system::own_cpu_seconds();
        for step in &self.steps {
            match step {
                Step::Reset => engine.reset().map_err(anyhow::Error::new)?,
                Step::Statement(text) => engine.run_bare(text),
            }
        }
        Ok(system::own_cpu_seconds() - start)
    }

    fn replay(&self, mut engine: Box<dyn Engine>) -> anyhow::Result<f64> {
        let start = system::tree_cpu_seconds();
        for step in &self.steps {
            match step {
                Step::Reset => engine.reset().map_err(anyhow::Error::new)?,
                Step::Statement(text) => {
                    let text = std::str::from_utf8(&text[..text.len() - 1])?;
                    // A statement prepared through the engine's interface cannot be sent as text.
                    if !text.starts_with("/* prepare") {
                        engine.execute(text).map_err(anyhow::Error::new)?;
                    }
                }
            }
        }
        Ok(system::tree_cpu_seconds() - start)
    }

    /// What a worker does, in this process.
    fn hunt_on(&self, engine: Box<dyn Engine + '_>) -> anyhow::Result<Tally> {
        let memory = system::memory_file(journal::BYTES as u64).context("no memory to share")?;
        let writer = JournalWriter { journal: Rc::new(Journal::new(&memory)?), fault: None };
        let dialect = Dialect::load(&self.dialect, engine.version())?;
        // Every hunt begins with nothing.
        let _ = std::fs::remove_dir_all(self.corpus.path());
        let _ = std::fs::create_dir(self.corpus.path());
        let told = Told::default();
        let mut events = Events::to(Box::new(told.clone()));
        let engines = Engines { engine, other: None, foreign: None };
        hunt::run(&self.task, Place::OwnEngine, engines, dialect, writer, std::io::empty(), &mut events)?;
        let mut tally = Tally::default();
        read_events(told.0.borrow().as_slice(), |event| {
            if let Event::Progress(part) = event {
                tally.add(*part);
            }
        });
        Ok(tally)
    }
}

/// Everything that a hunt tells.
#[derive(Clone, Default)]
struct Told(Rc<RefCell<Vec<u8>>>);

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The bench of a hunt without anything else, on a target and by these oracles.
pub fn bench_config(target: &str, oracles: &[String], seed: u64, guide: guide::Kind) -> Config {
    Config { target: target.to_string(), oracles: oracles.to_vec(), seed, guide, ..Config::default() }
}

/// The places of an engine's code.
pub struct Scanned {
    /// The name of the very build.
    pub target: String,
    /// How many functions it has.
    pub functions: usize,
    /// How many basic blocks.
    pub blocks: usize,
    /// How long it took to find them.
    pub seconds: f64,
}

/// Finds the places of an engine's code anew.
pub fn scan(target: &str, observer: &mut dyn Observer) -> anyhow::Result<Scanned> {
    let mut told = |step: dissent_engine::Step| observer.note(&step.to_string());
    let target = Target::parse(target)?;
    let source = target.obtain_watchable(&mut told)?;
    let (binary, _) = source.code()?;
    let start = system::nanos();
    let code = Code::scan(&binary, Depth::Blocks)?;
    let seconds = (system::nanos() - start) as f64 / 1e9;
    let (functions, blocks) = (code.functions.len(), code.places.len());
    Ok(Scanned { target: target.as_watched(&source), functions, blocks, seconds })
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
