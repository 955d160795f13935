//! Catalogs on disk: made once per version of an engine, by workers, because some functions crash or hang.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use dissent_core::catalog::{CATALOG_FORMAT, Catalog, Operation, OperationKind};
use dissent_core::dialect::Dialect;
use dissent_core::hash::fnv1a;
use dissent_core::report::numbers::grouped;
use serde::{Deserialize, Serialize};

use crate::observer::{Observer, Step};
use crate::pool::{self, End, Workplace};
use crate::record;
use crate::tested::Tested;
use crate::worker::hunt::read_catalog;
use crate::worker::protocol::{Event, Task};

/// A statement that the engine's own limits do not end.
const HANG_LIMIT: Duration = Duration::from_secs(15);
/// An engine that crashes on this many of its functions is broken in another way.
const MOST_DEATHS: usize = 200;

/// How often a catalog that is being made is written.
const DRAFT_PAUSE: Duration = Duration::from_secs(5);

/// A catalog and the file that holds it.
#[derive(Debug)]
pub struct KeptCatalog {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub catalog: Catalog,
}

/// What there is of an engine's catalog.
pub(crate) enum Look {
    /// It was made before.
    Kept(Box<KeptCatalog>),
    /// It has to be made.
    Missing,
    /// The dialect has no plan for it.
    Unplanned,
}

/// Looks whether a catalog is kept.
pub(crate) fn look(tested: &Tested) -> anyhow::Result<Look> {
    if tested.dialect()?.catalog.is_empty() {
        return Ok(Look::Unplanned);
    }
    let path = place(tested)?;
    match read_catalog(&path) {
        Ok(catalog) if is_of(&catalog, tested) => Ok(Look::Kept(Box::new(KeptCatalog { path, catalog }))),
        _ => Ok(Look::Missing),
    }
}

fn is_of(catalog: &Catalog, tested: &Tested) -> bool {
    let dialect = tested.dialect_name();
    catalog.is_of(dialect, &tested.engine_version, Dialect::fingerprint(dialect))
}

/// The catalog of an engine: the one that is kept, or a new one. None for a dialect without a plan for it.
pub fn obtain(
    tested: &Tested,
    refresh: bool,
    observer: &mut dyn Observer,
) -> anyhow::Result<Option<KeptCatalog>> {
    match look(tested)? {
        Look::Unplanned => Ok(None),
        Look::Kept(kept) if !refresh => Ok(Some(*kept)),
        _ => Ok(Some(make(tested, refresh, observer)?)),
    }
}

/// Probes the engine, from the beginning or from where an earlier attempt was broken off.
fn make(tested: &Tested, refresh: bool, observer: &mut dyn Observer) -> anyhow::Result<KeptCatalog> {
    let path = place(tested)?;
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
    }
    let mut draft = Draft::open(tested, path.with_extension("part"), refresh);
    probe(tested, &mut draft, observer)?;
    record::replace(&path, &serde_json::to_string(&draft.part.catalog)?)?;
    // What was broken off is complete now; whoever finds it later would not use it anyway.
    let _ = std::fs::remove_file(&draft.path);
    Ok(KeptCatalog { path, catalog: draft.part.catalog })
}

/// A catalog that is being made, written now and then: a hunt may end long before the engine is probed.
struct Draft {
    path: PathBuf,
    part: Part,
    written: Instant,
}

#[derive(Serialize, Deserialize)]
struct Part {
    /// Candidates that were dealt with; each may be several operations.
    done: usize,
    catalog: Catalog,
}

impl Draft {
    fn open(tested: &Tested, path: PathBuf, refresh: bool) -> Draft {
        let read = std::fs::read(&path).ok().filter(|_| !refresh);
        let part = read.and_then(|text| serde_json::from_slice::<Part>(&text).ok());
        let part = part.filter(|part| is_of(&part.catalog, tested)).unwrap_or_else(|| Part {
            done: 0,
            catalog: Catalog {
                format: CATALOG_FORMAT,
                dialect: tested.dialect_name().to_string(),
                engine_version: tested.engine_version.clone(),
                fingerprint: Dialect::fingerprint(tested.dialect_name()),
                types: Vec::new(),
                operations: Vec::new(),
            },
        });
        Draft { path, part, written: Instant::now() }
    }

    fn add(&mut self, operations: Vec<Operation>) {
        self.part.catalog.operations.extend(operations);
        self.part.done += 1;
        if self.written.elapsed() >= DRAFT_PAUSE {
            self.written = Instant::now();
            // Without it the next attempt takes longer, and that is all.
            let text = serde_json::to_string(&self.part).unwrap_or_default();
            let _ = record::replace(&self.path, &text);
        }
    }
}

/// Beside the engines. Two builds of one version may differ in what they can, so a library or server that the
/// user named has a catalog of its own.
fn place(tested: &Tested) -> anyhow::Result<PathBuf> {
    let target = &tested.target;
    let own = target.contains("path=") || target.contains("://");
    let suffix = if own { format!("-{:016x}", fnv1a(target.as_bytes())) } else { String::new() };
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let version: String = tested.engine_version.chars().take(60).map(plain).collect();
    let directory = dissent_engine::cache_directory()?.join("catalogs");
    Ok(directory.join(format!("{}-{version}{suffix}.json", tested.dialect_name())))
}

/// Probes the engine, with a new worker whenever a candidate crashes one.
fn probe(tested: &Tested, draft: &mut Draft, observer: &mut dyn Observer) -> anyhow::Result<()> {
    let target = &tested.target;
    let place = Workplace { hang_limit: HANG_LIMIT, other: None, ..tested.place.clone() };
    let began = Instant::now();
    observer.note(&format!("probing the functions and operators of {target} (once)"));
    for _ in 0..MOST_DEATHS {
        let mut all = usize::MAX;
        let mut current: Option<(String, OperationKind)> = None;
        let ended = pool::run(&place, &Task::Probe { skip: draft.part.done }, |event| match event {
            Event::Listed { candidates, types } => {
                all = candidates;
                draft.part.catalog.types = types;
            }
            Event::Probing { name, kind } => {
                observer.step(&Step { what: "probing", name: &name, done: draft.part.done, all });
                current = Some((name, kind));
            }
            Event::Probed(learned) => {
                draft.add(learned);
                current = None;
            }
            _ => {}
        })?;
        if draft.part.done >= all {
            let seconds = began.elapsed().as_secs_f64();
            let all = grouped(all as u64);
            observer.note(&format!("probed {all} functions and operators of {target} in {seconds:.1} s"));
            return Ok(());
        }
        let Some((name, kind)) = current else {
            return Err(ended.failure(&format!("cannot probe the functions and operators of {target}")));
        };
        let how = if matches!(ended.how, End::Hung { .. }) { "it hangs".to_string() } else { ended.why() };
        let statement = ended.remains.statement.unwrap_or_default();
        draft.add(vec![Operation::fatal(name.into(), kind, format!("{how}: {statement}"))]);
    }
    bail!("too many functions crash {target}")
}

/// A catalog that is made in a thread of its own, while a hunt goes on without it.
pub(crate) struct Probing {
    news: Receiver<News>,
    /// How many candidates are done, of how many.
    pub done: (usize, usize),
}

enum News {
    Step(usize, usize),
    Note(String),
    Over(anyhow::Result<Option<KeptCatalog>>),
}

impl Probing {
    pub fn start(tested: &Tested) -> Probing {
        let (sender, news) = channel();
        let tested = tested.clone();
        // Its workers die with this thread, at the latest with the process: whoever hunts does not wait for it.
        std::thread::spawn(move || {
            let over = obtain(&tested, false, &mut Passing(&sender));
            let _ = sender.send(News::Over(over));
        });
        Probing { news, done: (0, 0) }
    }

    /// What has become of it; the last thing is the catalog, or why there is none.
    pub fn look(&mut self, observer: &mut dyn Observer) -> Option<anyhow::Result<Option<KeptCatalog>>> {
        for news in self.news.try_iter() {
            match news {
                News::Step(done, all) => self.done = (done, all),
                News::Note(text) => observer.note(&text),
                News::Over(result) => return Some(result),
            }
        }
        None
    }
}

struct Passing<'a>(&'a Sender<News>);

impl Observer for Passing<'_> {
    fn note(&mut self, text: &str) {
        let _ = self.0.send(News::Note(text.to_string()));
    }

    fn step(&mut self, step: &Step) {
        let _ = self.0.send(News::Step(step.done, step.all));
    }
}
