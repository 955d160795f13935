//! Catalogs on disk: made once for a version of an engine, by workers, since some functions crash or hang.

use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use dissent_core::catalog::{CATALOG_FORMAT, Catalog, Operation, OperationKind, SampleType};
use dissent_core::dialect::Dialect;
use dissent_engine::{Source, Target};

use crate::record;
use crate::worker::process::{STUCK_LIMIT, WorkerProcess};
use crate::worker::protocol::{CatalogTask, Event, Task, read_events};

/// A statement that the engine's own limits do not end.
const HANG_LIMIT: Duration = Duration::from_secs(15);
/// An engine that dies of so many of its functions is broken in another way.
const MOST_DEATHS: usize = 200;

/// A catalog and the file that holds it.
#[derive(Debug)]
pub struct KeptCatalog {
    pub path: PathBuf,
    pub catalog: Catalog,
}

/// The catalog of an engine: the one that is kept, or a new one. None for a dialect without a plan for it.
pub fn obtain(
    target: &Target,
    source: &Source,
    engine_version: &str,
    memory_bytes: u64,
    refresh: bool,
) -> anyhow::Result<Option<KeptCatalog>> {
    let dialect = target.dialect();
    if Dialect::load(dialect, engine_version)?.catalog.is_empty() {
        return Ok(None);
    }
    let fingerprint = Dialect::fingerprint(dialect);
    let path = place(target, engine_version)?;
    if !refresh
        && let Ok(catalog) = read(&path)
        && catalog.is_of(dialect, engine_version, fingerprint)
    {
        return Ok(Some(KeptCatalog { path, catalog }));
    }
    let (types, operations) = probe(target, source, memory_bytes)?;
    let catalog = Catalog {
        format: CATALOG_FORMAT,
        dialect: dialect.to_string(),
        engine_version: engine_version.to_string(),
        fingerprint,
        types,
        operations,
    };
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    }
    record::replace(&path, &serde_json::to_string(&catalog)?)?;
    Ok(Some(KeptCatalog { path, catalog }))
}

pub fn read(path: &Path) -> anyhow::Result<Catalog> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read the catalog {}", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} is no catalog", path.display()))
}

/// Beside the engines. Two builds of one version may differ in what they can, so a library or server that the
/// user named has a catalog of its own.
fn place(target: &Target, version: &str) -> anyhow::Result<PathBuf> {
    let told = target.to_string();
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let own = told.contains("path=") || told.contains("://");
    let hash = told.bytes().fold(0xCBF2_9CE4_8422_2325, mix);
    let suffix = if own { format!("-{hash:016x}") } else { String::new() };
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let version: String = version.chars().take(60).map(plain).collect();
    let directory = dissent_engine::cache_directory()?.join("catalogs");
    Ok(directory.join(format!("{}-{version}{suffix}.json", target.dialect())))
}

/// Asks the engine, with a new worker whenever one dies of a candidate.
fn probe(
    target: &Target,
    source: &Source,
    memory_bytes: u64,
) -> anyhow::Result<(Vec<SampleType>, Vec<Operation>)> {
    let mut told = Progress::new(target);
    let (mut types, mut operations, mut skip) = (Vec::new(), Vec::new(), 0);
    for _ in 0..MOST_DEATHS {
        let dialect = target.dialect().to_string();
        let task = Task::Catalog(CatalogTask { source: source.clone(), dialect, skip });
        let (mut worker, stream) = WorkerProcess::spawn(&task, memory_bytes)?;
        let (sender, receiver) = channel();
        std::thread::spawn(move || read_events(stream, |event| drop(sender.send(event))));
        let (mut hung, mut all, mut trouble) = (false, usize::MAX, None);
        let mut current: Option<(String, OperationKind)> = None;
        loop {
            match receiver.recv_timeout(Duration::from_millis(100)) {
                Ok(Event::Listed { candidates, types: listed }) => {
                    all = candidates;
                    types = listed;
                }
                Ok(Event::Probing { name, kind }) => {
                    told.show(skip, all, &name);
                    current = Some((name, kind));
                }
                Ok(Event::Probed(learned)) => {
                    operations.extend(learned);
                    current = None;
                    skip += 1;
                }
                Ok(Event::Trouble(message)) => trouble = Some(message),
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let (stalled, running) = worker.stalled();
                    if stalled > if running { HANG_LIMIT } else { STUCK_LIMIT } && !hung {
                        hung = true;
                        worker.kill();
                    }
                }
            }
        }
        let dead = worker.bury()?;
        if skip >= all {
            told.done();
            return Ok((types, operations));
        }
        let Some((name, kind)) = current else {
            let words = trouble.unwrap_or_else(|| format!("the process died by {}", dead.cause()));
            bail!("{target} cannot be asked for what it can compute: {words}");
        };
        let how = match (hung, trouble) {
            (true, _) => "it does not end".to_string(),
            (false, Some(trouble)) => trouble,
            (false, None) => dead.cause(),
        };
        let statement = dead.remains.statement.unwrap_or_default();
        operations.push(Operation::fatal(name.into(), kind, format!("{how}: {statement}")));
        skip += 1;
    }
    bail!("{target} dies of too many of its own functions")
}

/// A line that says how far probing is.
struct Progress {
    target: String,
    live: bool,
    began: Instant,
    shown: Option<Instant>,
}

impl Progress {
    fn new(target: &Target) -> Progress {
        let live = stderr().is_terminal();
        if !live {
            let _ = writeln!(stderr(), "dissent: asking {target} what it can compute (once)");
        }
        Progress { target: target.to_string(), live, began: Instant::now(), shown: None }
    }

    fn show(&mut self, done: usize, all: usize, name: &str) {
        if self.live && self.shown.is_none_or(|shown| shown.elapsed() > Duration::from_millis(200)) {
            self.shown = Some(Instant::now());
            let _ = write!(
                stderr(),
                "\r\x1b[2Kasking {} what it can compute (once): {done} of {all}, {name:.40}",
                self.target
            );
            let _ = stderr().flush();
        }
    }

    fn done(&self) {
        if self.live {
            let _ = write!(stderr(), "\r\x1b[2K");
        }
        let seconds = self.began.elapsed().as_secs_f64();
        let _ =
            writeln!(stderr(), "dissent: {} was asked what it can compute in {seconds:.1} s", self.target);
    }
}
