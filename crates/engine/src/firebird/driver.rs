//! The versions of Firebird: libraries from packages.

use std::path::{Path, PathBuf};

use super::FirebirdEngine;
use crate::EngineError;
use crate::armed::Arms;
use crate::driver::{Driver, Opened};
use crate::product::Product;
use crate::store::{Arrival, not_writable};

/// Firebird's embedded engine.
pub(crate) struct Firebird;

impl Driver for Firebird {
    fn name(&self) -> &'static str {
        "firebird"
    }

    fn loads_libraries(&self) -> bool {
        true
    }

    fn opened(&self, kept: &Path) -> PathBuf {
        kept.join("libfbclient.so.2")
    }

    fn install(&self, arrival: &mut Arrival) -> Result<String, EngineError> {
        std::fs::remove_dir(arrival.kept)
            .and_then(|()| std::fs::rename(arrival.downloaded, arrival.kept))
            .map_err(not_writable(arrival.kept))?;
        Ok(FirebirdEngine::load(&self.opened(arrival.kept))?.version.clone())
    }

    fn open_local(&self, _: &'static Product, path: &Path, _: Option<&str>, _: Option<&Arms>) -> Opened {
        Ok(Box::new(FirebirdEngine::load(path)?))
    }
}
