//! The MySQL family: programs from packages, and servers by URL.

use std::path::Path;
use std::time::Duration;

use super::{Installed, Login, MysqlEngine, Starter};
use crate::EngineError;
use crate::armed::{Arms, Binary};
use crate::driver::{Driver, Opened};
use crate::launch::{self, Reach};
use crate::product::Product;
use crate::store::Arrival;
use crate::target::Step;
use crate::url::ServerUrl;

/// How long a server that was just started may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// MySQL's wire.
pub(crate) struct Mysql;

impl Driver for Mysql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn address_suffixes(&self) -> &'static [&'static str] {
        &[""]
    }

    fn install(&self, arrival: &mut Arrival) -> Result<String, EngineError> {
        (arrival.progress)(Step::Preparing { engine: arrival.wanted.name.clone() });
        let product = arrival.product;
        let version = |reach: &Reach| {
            let conn = Login::private(reach, "root").connect(PATIENCE);
            let told = conn.and_then(|mut conn| super::told_version(product, &mut conn));
            told.map(|told| super::version_in(product, &told)).map_err(|error| error.to_string())
        };
        match launch::install(arrival, version) {
            Some(version) => version,
            None => Installed::unpack(arrival),
        }
    }

    fn open_local(
        &self,
        product: &'static Product,
        path: &Path,
        _: Option<&str>,
        arms: Option<&Arms>,
    ) -> Opened {
        Ok(Box::new(MysqlEngine::start(product, Starter::at(product, path, arms)?)?))
    }

    fn binary(&self, product: &'static Product, path: &Path) -> Option<Binary> {
        match Starter::at(product, path, None).ok()? {
            Starter::Installed(installed) => installed.binary(),
            // Not programs of C.
            Starter::Described(_) => None,
        }
    }

    fn connect(&self, product: &'static Product, url: &ServerUrl) -> Opened {
        Ok(Box::new(MysqlEngine::connect_to(product, Login::given(product, url))?))
    }

    fn room(&self) -> u64 {
        super::installed::ROOM
    }

    fn listens(&self, path: &Path) -> bool {
        Installed::at("", path).is_ok_and(|installed| installed.listens())
    }

    fn databases(&self, product: &'static Product, url: &ServerUrl) -> Result<Vec<String>, String> {
        super::databases(&Login::given(product, url))
    }

    fn drop_database(&self, product: &'static Product, url: &ServerUrl, name: &str) -> Result<(), String> {
        super::drop_database(&Login::given(product, url), name)
    }
}
