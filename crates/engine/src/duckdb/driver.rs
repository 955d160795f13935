//! The versions of DuckDB: libraries from packages.

use std::path::{Path, PathBuf};

use super::api::Api;
use super::{DuckdbEngine, stub};
use crate::EngineError;
use crate::armed::{Arms, Binary};
use crate::driver::{Driver, Opened};
use crate::product::Product;
use crate::store::{Arrival, not_writable};

/// Any library with DuckDB's C interface.
pub(crate) struct Duckdb;

impl Driver for Duckdb {
    fn name(&self) -> &'static str {
        "duckdb"
    }

    fn loads_libraries(&self) -> bool {
        true
    }

    fn opened(&self, kept: &Path) -> PathBuf {
        kept.join("libduckdb.so")
    }

    fn install(&self, arrival: &mut Arrival) -> Result<String, EngineError> {
        let library = self.opened(arrival.kept);
        std::fs::rename(arrival.downloaded, &library).map_err(not_writable(arrival.kept))?;
        stub::make(arrival, &library)?;
        match Api::load(&library)?.version() {
            Some(version) => Ok(version),
            None => Ok(DuckdbEngine::load(&library, Some(arrival.release.version))?.version.clone()),
        }
    }

    fn open_local(
        &self,
        _: &'static Product,
        path: &Path,
        release: Option<&str>,
        arms: Option<&Arms>,
    ) -> Opened {
        if let Some(arms) = arms {
            Api::load(path)?;
            arms.arm(path)?;
        }
        Ok(Box::new(DuckdbEngine::load(path, release)?))
    }

    fn binary(&self, _: &'static Product, path: &Path) -> Option<Binary> {
        Some(Binary::library(path))
    }
}
