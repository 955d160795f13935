//! The versions of ClickHouse: libraries and modules for Python from packages, and servers over HTTP and HTTPS.

use std::path::{Path, PathBuf};

use dissent_core::engine::Engine;

use super::api::Api;
use super::{ClickhouseEngine, piped, remote};
use crate::armed::Arms;
use crate::driver::{Driver, Opened};
use crate::product::Product;
use crate::store::{Arrival, not_writable};
use crate::url::ServerUrl;
use crate::{EngineError, interpreter};

/// In the directory of an installed version: a package for Python.
const PACKAGE: &str = "package";

/// Libchdb, alone or for Python, or a server.
pub(crate) struct Clickhouse;

impl Driver for Clickhouse {
    fn name(&self) -> &'static str {
        "clickhouse"
    }

    fn loads_libraries(&self) -> bool {
        true
    }

    fn address_suffixes(&self) -> &'static [&'static str] {
        &["+http", "+https"]
    }

    fn interpreter(&self, path: &Path) -> Option<&'static str> {
        piped::is_module(path).then_some(interpreter::PYTHON)
    }

    fn runs_programs(&self, path: &Path) -> bool {
        piped::is_module(path)
    }

    fn opened(&self, kept: &Path) -> PathBuf {
        let module = kept.join(PACKAGE).join(piped::MODULE);
        if module.is_file() { module } else { kept.join("libchdb.so") }
    }

    fn install(&self, arrival: &mut Arrival) -> Result<String, EngineError> {
        if arrival.downloaded.is_dir() {
            let package = arrival.kept.join(PACKAGE);
            std::fs::rename(arrival.downloaded, package).map_err(not_writable(arrival.kept))?;
            let engine = ClickhouseEngine::load(arrival.product, &self.opened(arrival.kept))?;
            return Ok(engine.version().to_string());
        }
        let library = self.opened(arrival.kept);
        std::fs::rename(arrival.downloaded, &library).map_err(not_writable(arrival.kept))?;
        Ok(Api::load(&library)?.version().unwrap_or_default())
    }

    fn open_local(
        &self,
        product: &'static Product,
        path: &Path,
        _: Option<&str>,
        _: Option<&Arms>,
    ) -> Opened {
        Ok(Box::new(ClickhouseEngine::load(product, path)?))
    }

    fn connect(&self, product: &'static Product, url: &ServerUrl) -> Opened {
        Ok(Box::new(ClickhouseEngine::connect(product, url)?))
    }

    fn room(&self) -> u64 {
        super::ROOM
    }

    fn databases(&self, product: &'static Product, url: &ServerUrl) -> Result<Vec<String>, String> {
        remote::databases(product, url)
    }

    fn drop_database(&self, product: &'static Product, url: &ServerUrl, name: &str) -> Result<(), String> {
        remote::drop_database(product, url, name)
    }
}
