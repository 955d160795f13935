//! A worker's hunt: walks through its share of the databases and reports what happens.

use std::fs::File;
use std::io::{BufRead, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

use anyhow::{Context, anyhow};
use dissent_core::catalog::Catalog;
use dissent_core::confine::Place;
use dissent_core::dialect::Dialect;
use dissent_core::engine::Engine;
use dissent_core::finding::{Evidence, Origin, Verdict};
use dissent_core::generate::Policy;
use dissent_core::guide::{self, Code, Counter, Entry, Guide, Plans};
use dissent_core::oracle::{self, Oracle};
use dissent_core::session::Counts;
use dissent_core::subject::TestCase;
use dissent_core::walk::{Lesson, Trail, Walk, Watcher};
use dissent_coverage::{Map, Reader};
use dissent_engine::{EngineError, Source, Wall};

use super::corpus::CorpusStore;
use super::fault::{self, Fault};
use super::journal::Journal;
use super::protocol::{Difference, Event, Events, HuntTask, Label, Tally};
use super::trace::{TracedEngine, Tracer};
use super::{Engines, JournalWriter};
use crate::stretch::Stretch;
use crate::system;

/// Four times a second is often enough for a progress line and costs nothing.
const PROGRESS_NANOS: u64 = 250_000_000;

/// Makes the files that a hunt writes to, and lets them through the wall, with those that it reads.
pub fn let_through(task: &HuntTask, mut wall: Wall) -> anyhow::Result<Wall> {
    for path in task.catalog.iter().chain(&task.other_catalog).chain(&task.config.seeds) {
        wall = wall.reading(path);
    }
    if task.config.learns() {
        std::fs::create_dir_all(&task.corpus)
            .with_context(|| format!("cannot create the corpus {}", task.corpus.display()))?;
        wall = wall.writing(&task.corpus);
    }
    if let Some(path) = task.config.statement_log(task.worker) {
        StatementLog::append(&path)?;
        wall = wall.writing(path);
    }
    if let Some(map) = &task.map {
        wall = wall.writing(map);
    }
    if let Some((path, _)) = fault::visits() {
        wall = wall.writing(path);
    }
    Ok(wall)
}

/// Opens the engine, watched if the hunt learns from its code.
pub fn open(task: &HuntTask, source: &Source) -> Result<Box<dyn Engine>, EngineError> {
    match &task.map {
        Some(map) => source.open_watched(map, task.worker as u32),
        None => source.open(),
    }
}

/// The places of the engine's code that this worker is the first to see.
struct Places(Reader);

impl Counter for Places {
    fn take(&mut self, new: &mut dyn FnMut(u32)) {
        self.0.take(new);
    }
}

fn guide(task: &HuntTask, dialect: &Dialect) -> anyhow::Result<Option<Box<dyn Guide>>> {
    Ok(match (task.config.guide, &task.map) {
        (guide::Kind::Plan, _) => Some(Box::<Plans>::default()),
        (guide::Kind::Coverage, Some(map)) => {
            let places = Places(Reader::new(Map::open(map)?, task.worker as u32));
            Some(Box::new(Code::new(Box::new(places), dialect.engine.coverage_noise + 1)))
        }
        _ => None,
    })
}

pub fn run(
    task: &HuntTask,
    place: Place,
    engines: Engines,
    mut dialect: Dialect,
    writer: JournalWriter,
    input: impl BufRead,
    events: &mut Events,
) -> anyhow::Result<()> {
    if let Some(path) = &task.catalog {
        let mut catalog = read_catalog(path)?;
        if let Some(other) = &task.other_catalog {
            catalog.keep_common(&read_catalog(other)?);
        }
        dialect.learn(&catalog);
    }
    if writer.fault == Some(Fault::Start) {
        std::process::abort();
    }
    let Some(path) = task.config.statement_log(task.worker) else {
        return walk(task, place, engines, &dialect, writer, input, events);
    };
    let mut log = StatementLog::append(&path)?;
    let traced = Box::new(TracedEngine { engine: engines.engine, tracer: &mut log });
    walk(task, place, Engines { engine: traced, ..engines }, &dialect, writer, input, events)?;
    log.finish().with_context(|| format!("cannot write statements to {}", path.display()))
}

fn walk(
    task: &HuntTask,
    place: Place,
    mut engines: Engines,
    dialect: &Dialect,
    mut writer: JournalWriter,
    input: impl BufRead,
    events: &mut Events,
) -> anyhow::Result<()> {
    let config = &task.config;
    let journal = writer.journal.clone();
    // Two engines are asked in the SQL that they share.
    let shared = engines.foreign.as_ref().map(|foreign| dialect.shared_with(foreign));
    let drawn = shared.as_ref().unwrap_or(dialect);
    let mut session = engines.session(dialect, &mut writer);
    session.validates_errors = config.error_validation;
    let oracles = oracles(&config.oracles)?;
    let calm = (!task.avoid.is_empty()).then(|| drawn.without(&task.avoid.features, &task.avoid.functions));
    let calm = calm.as_ref();
    let walk = Walk {
        dialect: drawn,
        calm,
        oracles,
        seed: config.seed,
        policy: match &shared {
            Some(shared) => Policy::for_shared(&config.profile, shared)?,
            None => Policy::for_dialect(&config.profile, dialect)?,
        },
    };
    let mut corpus = config.learns().then(|| CorpusStore::open(task, place));
    let mut trail = Trail::new(guide(task, dialect)?);
    if let Some(corpus) = &mut corpus {
        trail.keeps = !config.counts_only;
        trail.changes_only = config.seeds_only;
        let mut refused = |remark: String| events.send(&Event::Remark(remark));
        let seeds = corpus.read_seeds(dialect, &mut session, &mut refused)?;
        seeds.into_iter().for_each(|entry| trail.corpus.add(entry));
    }
    let mut reporter = Reporter {
        journal: &journal,
        corpus,
        events,
        max_cases: task.max_cases.unwrap_or(u64::MAX),
        tally: Tally::default(),
        told: system::nanos(),
        lost: None,
        not_kept: None,
    };
    let walked = 'walk: {
        for stretch in stretches(task, input) {
            for database in stretch {
                let arrived = reporter.corpus.as_mut().map(|corpus| corpus.arrivals(dialect));
                arrived.into_iter().flatten().for_each(|entry| trail.corpus.add(entry));
                match walk.guided(database, &mut trail, &mut session, &mut reporter) {
                    Ok(true) if !reporter.over() => {}
                    Ok(_) => break 'walk Ok(()),
                    Err(trouble) => break 'walk Err(anyhow!(trouble)),
                }
                reporter.tell(&mut session.counts, &walk.policy, PROGRESS_NANOS);
            }
            reporter.tell(&mut session.counts, &walk.policy, 0);
            reporter.send(Event::Walked);
        }
        Ok(())
    };
    reporter.tell(&mut session.counts, &walk.policy, 0);
    match reporter.not_kept {
        Some(error) => walked.and(Err(error).context("cannot write to the campaign's corpus")),
        None => walked,
    }
}

/// The stretches of the task, then those that come in, up to an empty one or the end of the input.
fn stretches(task: &HuntTask, input: impl BufRead) -> impl Iterator<Item = Stretch> {
    let further = input.lines().map_while(|line| serde_json::from_str(&line.ok()?).ok());
    let further = further.take_while(|stretch: &Stretch| !stretch.is_empty());
    let shares = task.shares;
    task.stretches.clone().into_iter().chain(further.take_while(move |_| shares))
}

/// What was found out about an engine earlier.
pub fn read_catalog(path: &Path) -> anyhow::Result<Catalog> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read the catalog {}", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} is not a valid catalog", path.display()))
}

pub fn oracles(names: &[String]) -> anyhow::Result<Vec<&'static dyn Oracle>> {
    let find = |name: &String| oracle::by_name(name).with_context(|| format!("unknown oracle '{name}'"));
    names.iter().map(find).collect()
}

/// Counts what the walk does, and passes findings on at once.
struct Reporter<'a> {
    journal: &'a Journal,
    /// Where what is worth coming back to is kept.
    corpus: Option<CorpusStore<'a>>,
    events: &'a mut Events,
    max_cases: u64,
    tally: Tally,
    /// When the last tally was sent.
    told: u64,
    /// The supervisor no longer listens.
    lost: Option<std::io::Error>,
    /// Something worth coming back to could not be written.
    not_kept: Option<std::io::Error>,
}

impl Reporter<'_> {
    fn over(&self) -> bool {
        self.lost.is_some()
            || self.not_kept.is_some()
            || self.journal.asked_to_stop()
            || self.journal.cases() >= self.max_cases
    }

    fn send(&mut self, event: Event) {
        if let Err(error) = self.events.send(&event) {
            self.lost = Some(error);
        }
    }

    /// Sends what was counted, unless the last time is less than `pause` ago.
    fn tell(&mut self, counts: &mut Counts, policy: &Policy, pause: u64) {
        let now = system::nanos();
        if now - self.told < pause {
            return;
        }
        let mut tally = std::mem::take(&mut self.tally);
        tally.counts = std::mem::take(counts);
        (tally.draws, tally.outcomes) = policy.take_draws();
        tally.wall_nanos = now - self.told;
        self.told = now;
        self.send(Event::Progress(Box::new(tally)));
    }
}

impl Watcher for Reporter<'_> {
    fn case(&mut self, database: u64, case: u64) -> bool {
        // Time spent waiting is not time spent hunting.
        self.told += self.journal.wait_while_paused();
        if self.over() {
            return false;
        }
        self.journal.begin_case(database, case);
        if case == 0 {
            fault::note_visit(database);
            self.tally.databases += 1;
        } else {
            self.tally.cases += 1;
        }
        true
    }

    fn operations(&mut self, drawn: &[u32], succeeded: bool) {
        for operation in drawn {
            let (drawn, valid) = self.tally.operations.entry(*operation).or_insert((0, 0));
            *drawn += 1;
            *valid += u64::from(succeeded);
        }
    }

    fn verdict(&mut self, oracle: &'static str, verdict: &Verdict) {
        self.tally.oracles.entry(Label::Borrowed(oracle)).or_default().count(verdict);
    }

    fn learned(&mut self, lesson: &Lesson) {
        let learned = &mut self.tally.learned;
        learned.features.extend(&lesson.new);
        if let Some((statements, succeeded)) = lesson.changed {
            learned.changed += statements;
            learned.changed_ok += succeeded;
        }
    }

    fn kept(&mut self, entry: &Entry) {
        let learned = &mut self.tally.learned;
        learned.kept += 1;
        learned.deepest = learned.deepest.max(entry.depth);
        if let Some(Err(error)) = self.corpus.as_mut().map(|corpus| corpus.keep(entry)) {
            self.not_kept.get_or_insert(error);
        }
    }

    fn finding(&mut self, origin: Origin, case: TestCase, evidence: Evidence) {
        self.send(Event::Finding(Box::new(Difference { origin, case, evidence })));
    }

    fn unstable(&mut self, origin: Origin, case: TestCase, evidence: Evidence) {
        self.send(Event::Unstable(Box::new(Difference { origin, case, evidence })));
    }
}

/// What is where a [`StatementLog`] would go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFile {
    /// One that was begun.
    Log,
    /// Nothing: its worker was killed before it wrote anything.
    Nothing,
    /// Something else, or a link to anything.
    Other,
}

impl LogFile {
    pub fn at(path: &Path) -> LogFile {
        let mut start = Vec::new();
        let read = system::open_no_link(File::options().read(true), path)
            .and_then(|file| file.take(RESET.len() as u64).read_to_end(&mut start));
        match read {
            Ok(0) => LogFile::Nothing,
            Ok(_) if start == RESET.as_bytes() => LogFile::Log,
            Err(error) if error.kind() == ErrorKind::NotFound => LogFile::Nothing,
            _ => LogFile::Other,
        }
    }
}

/// Every log begins with it.
const RESET: &str = "-- reset\n";

/// Every statement in a file, in the order the engine saw them; `-- reset` where a new database starts.
struct StatementLog {
    out: BufWriter<File>,
    failure: Option<std::io::Error>,
}

impl StatementLog {
    /// A worker that follows one that died continues its log.
    fn append(path: &Path) -> anyhow::Result<StatementLog> {
        let file = File::options().create(true).append(true).open(path);
        let file = file.with_context(|| format!("cannot write statements to {}", path.display()))?;
        Ok(StatementLog { out: BufWriter::new(file), failure: None })
    }

    fn write(&mut self, line: std::fmt::Arguments) {
        if let Err(error) = self.out.write_fmt(line) {
            self.failure.get_or_insert(error);
        }
    }

    fn finish(mut self) -> std::io::Result<()> {
        self.out.flush()?;
        self.failure.map_or(Ok(()), Err)
    }
}

impl Tracer for StatementLog {
    fn reset(&mut self) {
        self.write(format_args!("{RESET}"));
    }

    fn before(&mut self, sql: &str) {
        self.write(format_args!("{sql};\n"));
    }
}
