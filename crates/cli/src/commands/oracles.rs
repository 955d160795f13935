//! `dissent oracles`: what there is to choose from.

use std::io::Write;

use dissent_core::oracle::{self, crash};

pub fn run() -> anyhow::Result<u8> {
    let mut out = std::io::stdout().lock();
    for oracle in oracle::all() {
        writeln!(out, "{:<16} {}", oracle.name(), oracle.about())?;
    }
    let versions = &oracle::versions::Versions as &dyn oracle::Oracle;
    writeln!(out, "\nWith --against:\n{:<16} {}", versions.name(), versions.about())?;
    writeln!(out, "\nAlways on:\n{:<16} {}", crash::NAME, crash::RELATION)?;
    Ok(crate::NOTHING_FOUND)
}
