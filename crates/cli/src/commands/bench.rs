//! `dissent bench`: what Dissent itself costs.
//!
//! A worker's hunt runs in this process, journal, counting and all. Then the very same statements, kept
//! as text, go through SQLite's C API with nothing around them: prepare, step to the end, finalise. That
//! is the ceiling; the hunt's share of it is what is left after generating, rendering, reading results
//! and judging them. Both run in turn, round after round, so that a busy machine slows both.

use std::io::Write;
use std::rc::Rc;

use anyhow::{Context, bail};
use dissent_core::dialect::Dialect;
use dissent_core::engine::Engine;
use dissent_engine::sqlite::SqliteEngine;
use dissent_engine::{Source, Target};

use super::choose_oracles;
use super::engines::MEMORY_BYTES;
use crate::args::BenchArgs;
use dissent_campaign::catalog;
use dissent_campaign::system;
use dissent_campaign::worker::hunt;
use dissent_campaign::worker::journal::{self, Journal};
use dissent_campaign::worker::protocol::{Events, HuntTask};
use dissent_campaign::worker::tap::{Listener, Tap};

pub fn run(args: BenchArgs) -> anyhow::Result<u8> {
    let version = SqliteEngine::bundled()?.version().to_string();
    let target = Target::parse("sqlite")?;
    let catalog = catalog::obtain(&target, &Source::Bundled, &version, MEMORY_BYTES, false)?;
    let task = HuntTask {
        source: Source::Bundled,
        dialect: String::from("sqlite"),
        oracles: choose_oracles(&args.oracles)?,
        seed: args.seed,
        first_database: 0,
        step: 1,
        max_cases: Some(args.cases),
        error_validation: true,
        avoid: Default::default(),
        log_statements: None,
        catalog: catalog.map(|kept| kept.path),
        trail: None,
    };
    let mut recording = Recording::default();
    let engine = SqliteEngine::bundled()?;
    hunt_once(&task, Box::new(Tap { engine, listener: &mut recording }))?;
    let steps = recording.steps;
    let statements = steps.iter().filter(|step| matches!(step, Step::Statement(_))).count();

    let mut out = std::io::stdout().lock();
    writeln!(out, "{statements} statements of a hunt with {}", args.oracles.join(","))?;
    if let Some(target) = &args.coverage {
        compare_coverage(target, &steps, args.rounds, &mut out)?;
        return Ok(crate::NOTHING_FOUND);
    }
    let (mut hunting, mut bare) = (0.0, 0.0);
    for round in 1..=args.rounds {
        let start = system::own_cpu_seconds();
        hunt_once(&task, Box::new(SqliteEngine::bundled()?))?;
        let middle = system::own_cpu_seconds();
        run_bare(SqliteEngine::bundled()?, &steps)?;
        let end = system::own_cpu_seconds();
        hunting += middle - start;
        bare += end - middle;
        writeln!(out, "round {round}: hunt at {:.2} of the bare C API", (end - middle) / (middle - start))?;
    }
    writeln!(out, "statements per CPU second: hunt at {:.2} of the bare C API", bare / hunting)?;
    Ok(crate::NOTHING_FOUND)
}

/// What a worker does, in this process.
fn hunt_once(task: &HuntTask, engine: Box<dyn Engine + '_>) -> anyhow::Result<()> {
    let memory = system::memory_file(journal::BYTES as u64).context("no memory to share")?;
    let journal = Rc::new(Journal::new(&memory)?);
    let mut dialect = Dialect::load(&task.dialect, engine.version())?;
    if let Some(path) = &task.catalog {
        dialect.learn(&catalog::read(path)?);
    }
    hunt::run(task.clone(), engine, dialect, journal, None, &mut Events::to_nobody())
}

enum Step {
    Reset,
    /// Ends in a NUL.
    Statement(Vec<u8>),
}

#[derive(Default)]
struct Recording {
    steps: Vec<Step>,
}

impl Listener for Recording {
    fn reset(&mut self) {
        self.steps.push(Step::Reset);
    }

    fn before(&mut self, sql: &str) {
        let mut text = sql.as_bytes().to_vec();
        text.push(0);
        self.steps.push(Step::Statement(text));
    }
}

/// The same statements with counters and without; whoever counts also reads its counters once a database.
fn compare_coverage(target: &str, steps: &[Step], rounds: u32, out: &mut impl Write) -> anyhow::Result<()> {
    let target = Target::parse(target)?;
    let mut told = |step| drop(writeln!(std::io::stderr(), "dissent: {step}"));
    let (plain, counting) = (target.obtain(&mut told)?, target.obtain_counting(&mut told)?);
    let library = |source: &Source| match source {
        Source::Library { path } => Ok(SqliteEngine::load(path)?),
        _ => bail!("name a version other than the bundled one: sqlite@3.34.0"),
    };
    let (mut without, mut with) = (0.0, 0.0);
    for round in 1..=rounds {
        let start = system::own_cpu_seconds();
        run_bare(library(&plain)?, steps)?;
        let middle = system::own_cpu_seconds();
        run_bare(library(&counting)?, steps)?;
        let end = system::own_cpu_seconds();
        without += middle - start;
        with += end - middle;
        writeln!(out, "round {round}: {:.2} times the plain library", (end - middle) / (middle - start))?;
    }
    writeln!(out, "CPU time per statement with coverage: {:.2} times the plain library", with / without)?;
    Ok(())
}

fn run_bare(mut engine: SqliteEngine, steps: &[Step]) -> anyhow::Result<()> {
    for step in steps {
        match step {
            Step::Reset => {
                engine.take_coverage(&mut |_| {});
                engine.reset().map_err(anyhow::Error::new)?;
            }
            Step::Statement(text) => engine.run_bare(text),
        }
    }
    Ok(())
}
