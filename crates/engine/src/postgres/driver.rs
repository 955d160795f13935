//! PostgreSQL and engines that speak its protocol: programs from packages, and servers by URL.

use std::path::Path;

use super::{Host, PostgresEngine, debian, install, private};
use crate::EngineError;
use crate::armed::{Arms, Binary};
use crate::driver::{Driver, Opened};
use crate::launch::{self, Launch, Reach};
use crate::product::Product;
use crate::store::Arrival;
use crate::target::Step;
use crate::url::ServerUrl;

/// PostgreSQL's wire.
pub(crate) struct Postgres;

impl Driver for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn address_suffixes(&self) -> &'static [&'static str] {
        &[""]
    }

    fn install(&self, arrival: &mut Arrival) -> Result<String, EngineError> {
        (arrival.progress)(Step::Preparing { engine: arrival.wanted.name.clone() });
        let product = arrival.product;
        let version = |reach: &Reach| super::own_version(product, &mut private::knock(product, reach)?);
        match launch::install(arrival, version) {
            Some(version) => version,
            None => install::install(arrival),
        }
    }

    fn open_local(
        &self,
        product: &'static Product,
        path: &Path,
        version: Option<&str>,
        arms: Option<&Arms>,
    ) -> Opened {
        let host = Host::start(product, path, version.unwrap_or_default(), arms)?;
        Ok(Box::new(PostgresEngine::open(host)?))
    }

    fn binary(&self, product: &'static Product, path: &Path) -> Option<Binary> {
        // Other servers of the protocol are not programs of C.
        let is_program = Launch::at(product, path).is_none();
        is_program.then(|| Binary::server(debian::real(&private::program(path))))
    }

    fn connect(&self, product: &'static Product, url: &ServerUrl) -> Opened {
        Ok(Box::new(PostgresEngine::open(Host::reach(product, url))?))
    }

    fn room(&self) -> u64 {
        super::private::ROOM
    }

    fn databases(&self, product: &'static Product, url: &ServerUrl) -> Result<Vec<String>, String> {
        super::databases(product, url)
    }

    fn drop_database(&self, product: &'static Product, url: &ServerUrl, name: &str) -> Result<(), String> {
        let host = Host::reach(product, url);
        host.drop(&mut host.connect()?, name)
    }
}
