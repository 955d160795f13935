//! A worker that probes an engine, one candidate after the other.

use anyhow::anyhow;
use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Limits};
use dissent_core::probe::Prober;
use dissent_core::session::Session;

use super::JournalWriter;
use super::protocol::{Event, Events};
use crate::system;

/// A call on six rows that takes longer is of no use to a hunt.
const LIMITS: Limits = Limits { steps: 1_000_000, millis: 2_000, memory_bytes: 256 << 20, rows: 20_000 };

pub fn run(
    skip: usize,
    mut engine: Box<dyn Engine>,
    dialect: &Dialect,
    mut writer: JournalWriter,
    events: &mut Events,
) -> anyhow::Result<()> {
    engine.set_limits(LIMITS);
    writer.fault = None;
    let mut session = Session::new(&mut *engine, dialect, &mut writer, system::nanos);
    let mut prober = Prober::begin(&mut session).map_err(|trouble| anyhow!(trouble))?;
    let candidates = prober.candidates().map_err(|trouble| anyhow!(trouble))?;
    events.send(&Event::Listed { candidates: candidates.len(), types: prober.types().to_vec() })?;
    for candidate in candidates.iter().skip(skip) {
        events.send(&Event::Probing { name: candidate.name.to_string(), kind: candidate.kind })?;
        let operations = prober.probe(candidate).map_err(|trouble| anyhow!(trouble))?;
        events.send(&Event::Probed(operations))?;
    }
    Ok(())
}
