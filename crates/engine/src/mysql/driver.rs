//! The MySQL family: programs from packages, and servers by URL.

use std::path::Path;

use super::{Installed, Login, MysqlEngine};
use crate::EngineError;
use crate::driver::{Driver, Opened};
use crate::product::Product;
use crate::store::Arrival;
use crate::target::Step;
use crate::url::ServerUrl;

/// MySQL's wire.
pub(crate) struct Mysql;

impl Driver for Mysql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn address_suffix(&self) -> Option<&'static str> {
        Some("")
    }

    fn install(&self, arrival: &mut Arrival) -> Result<String, EngineError> {
        (arrival.progress)(Step::Preparing { engine: arrival.wanted.name.clone() });
        Installed::unpack(arrival)
    }

    fn open_local(&self, product: &'static Product, path: &Path, _: Option<&str>) -> Opened {
        Ok(Box::new(MysqlEngine::start(product, Installed::at(product.title(), path)?)?))
    }

    fn connect(&self, product: &'static Product, url: &ServerUrl) -> Opened {
        Ok(Box::new(MysqlEngine::connect_to(product, Login::given(product, url))?))
    }

    fn room(&self) -> u64 {
        super::installed::ROOM
    }

    fn databases(&self, product: &'static Product, url: &ServerUrl) -> Result<Vec<String>, String> {
        super::databases(&Login::given(product, url))
    }

    fn drop_database(&self, product: &'static Product, url: &ServerUrl, name: &str) -> Result<(), String> {
        super::drop_database(&Login::given(product, url), name)
    }
}
