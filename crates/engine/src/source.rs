//! Where an engine is, once it has been obtained.

use std::path::PathBuf;

use dissent_core::engine::Engine;
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::sqlite::SqliteEngine;

/// Enough to open the engine in any process on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The SQLite inside this program.
    Bundled,
    /// A shared library of SQLite.
    Library { path: PathBuf },
}

impl Source {
    pub fn open(&self) -> Result<Box<dyn Engine>, EngineError> {
        Ok(match self {
            Source::Bundled => Box::new(SqliteEngine::bundled()?),
            Source::Library { path } => Box::new(SqliteEngine::load(path)?),
        })
    }
}
