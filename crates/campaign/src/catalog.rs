//! Catalogs on disk: made once per version of an engine, by workers, because some functions crash or hang.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use dissent_core::catalog::{CATALOG_FORMAT, Catalog, Operation, OperationKind, SampleType};
use dissent_core::dialect::Dialect;
use dissent_core::hash::fnv1a;

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

/// A catalog and the file that holds it.
#[derive(Debug)]
pub struct KeptCatalog {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub catalog: Catalog,
}

/// The catalog of an engine: the one that is kept, or a new one. None for a dialect without a plan for it.
pub fn obtain(
    tested: &Tested,
    refresh: bool,
    observer: &mut dyn Observer,
) -> anyhow::Result<Option<KeptCatalog>> {
    if tested.dialect()?.catalog.is_empty() {
        return Ok(None);
    }
    let (dialect, version) = (tested.dialect_name(), tested.engine_version.as_str());
    let fingerprint = Dialect::fingerprint(dialect);
    let path = place(tested)?;
    if !refresh
        && let Ok(catalog) = read_catalog(&path)
        && catalog.is_of(dialect, version, fingerprint)
    {
        return Ok(Some(KeptCatalog { path, catalog }));
    }
    let (types, operations) = probe(tested, observer)?;
    let catalog = Catalog {
        format: CATALOG_FORMAT,
        dialect: dialect.to_string(),
        engine_version: version.to_string(),
        fingerprint,
        types,
        operations,
    };
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
    }
    record::replace(&path, &serde_json::to_string(&catalog)?)?;
    Ok(Some(KeptCatalog { path, catalog }))
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
fn probe(tested: &Tested, observer: &mut dyn Observer) -> anyhow::Result<(Vec<SampleType>, Vec<Operation>)> {
    let target = &tested.target;
    let place = Workplace { hang_limit: HANG_LIMIT, ..tested.place.clone() };
    let began = Instant::now();
    observer.note(&format!("probing the functions and operators of {target} (once)"));
    let (mut types, mut operations, mut done) = (Vec::new(), Vec::new(), 0);
    for _ in 0..MOST_DEATHS {
        let mut all = usize::MAX;
        let mut current: Option<(String, OperationKind)> = None;
        let ended = pool::run(&place, &Task::Probe { skip: done }, |event| match event {
            Event::Listed { candidates, types: listed } => {
                all = candidates;
                types = listed;
            }
            Event::Probing { name, kind } => {
                observer.step(&Step { what: "probing", name: &name, done, all });
                current = Some((name, kind));
            }
            Event::Probed(learned) => {
                operations.extend(learned);
                current = None;
                done += 1;
            }
            _ => {}
        })?;
        if done >= all {
            let seconds = began.elapsed().as_secs_f64();
            observer.note(&format!("probed {all} functions and operators of {target} in {seconds:.1} s"));
            return Ok((types, operations));
        }
        let Some((name, kind)) = current else {
            return Err(ended.failure(&format!("cannot probe the functions and operators of {target}")));
        };
        let how = if matches!(ended.how, End::Hung { .. }) { "it hangs".to_string() } else { ended.why() };
        let statement = ended.remains.statement.unwrap_or_default();
        operations.push(Operation::fatal(name.into(), kind, format!("{how}: {statement}")));
        done += 1;
    }
    bail!("too many functions crash {target}")
}
