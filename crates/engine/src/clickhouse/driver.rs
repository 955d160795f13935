//! The versions of ClickHouse: libraries from packages, and servers over HTTP and HTTPS.

use std::path::{Path, PathBuf};

use super::api::Api;
use super::{ClickhouseEngine, remote};
use crate::EngineError;
use crate::armed::Arms;
use crate::driver::{Driver, Opened};
use crate::product::Product;
use crate::store::{Arrival, not_writable};
use crate::url::ServerUrl;

/// Libchdb, or a server.
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

    fn opened(&self, kept: &Path) -> PathBuf {
        kept.join("libchdb.so")
    }

    fn install(&self, arrival: &mut Arrival) -> Result<String, EngineError> {
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
