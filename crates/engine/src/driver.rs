//! The drivers: each is a wire protocol or a library. A dialect's file names the one it needs.

use std::path::{Path, PathBuf};

use dissent_core::engine::Engine;

use crate::armed::{Arms, Binary};
use crate::product::Product;
use crate::store::{Arrival, Compiler, Wanted};
use crate::url::ServerUrl;
use crate::{EngineError, clickhouse, duckdb, firebird, mysql, postgres, sqlite, worker};

/// Every driver there is. A new one is a module and its line here.
const DRIVERS: &[&dyn Driver] = &[
    &clickhouse::Clickhouse,
    &duckdb::Duckdb,
    &firebird::Firebird,
    &mysql::Mysql,
    &postgres::Postgres,
    &sqlite::Sqlite,
    &worker::Worker,
];

/// An engine, or why it cannot be opened.
pub(crate) type Opened = Result<Box<dyn Engine>, EngineError>;

/// How the engines that share a wire or a library are named, obtained, opened and cleaned up after. What differs
/// between those engines is in their descriptors.
pub(crate) trait Driver: Sync {
    /// What dialects' files call it.
    fn name(&self) -> &'static str;

    /// Whether it loads a shared library of the user's own: `NAME:path=FILE`.
    fn loads_libraries(&self) -> bool {
        false
    }

    /// What may follow the engine's name in the address of a server, the usual one first; empty: it reaches none.
    fn address_suffixes(&self) -> &'static [&'static str] {
        &[]
    }

    /// The version that is inside this program.
    fn bundled(&self) -> Option<&'static str> {
        None
    }

    /// Where a version of the engine is kept that was built in this way; `directory` is the version's own. `None`: it
    /// cannot be built so.
    fn kept_in(&self, _engine: &str, directory: PathBuf, build: Build) -> Option<PathBuf> {
        (build == Build::Plain).then_some(directory)
    }

    /// What is opened of a version that is kept: a library in the directory, or the directory itself.
    fn opened(&self, kept: &Path) -> PathBuf {
        kept.to_path_buf()
    }

    /// Whether a version could be installed, asked before it is downloaded.
    fn check(&self, _wanted: &Wanted, _compiler: &Compiler) -> Result<(), EngineError> {
        Ok(())
    }

    /// Makes what is opened out of what was downloaded. Returns the version that the engine says it has.
    fn install(&self, arrival: &mut Arrival) -> Result<String, EngineError>;

    /// How a version that was obtained came to be, for those who want to have the same one.
    fn how_built(&self) -> String {
        "from its published packages".to_string()
    }

    /// Opens the engine inside this program.
    fn open_bundled(&self, product: &'static Product) -> Opened {
        Err(product.not_started("it is not built in"))
    }

    /// Opens what is on this machine: what was installed of a version, or a library of the user's own. With `arms` its
    /// code is watched, where that is possible.
    fn open_local(
        &self,
        product: &'static Product,
        path: &Path,
        version: Option<&str>,
        arms: Option<&Arms>,
    ) -> Opened;

    /// Where the engine's code is, of what is on this machine. `None`: it cannot be watched.
    fn binary(&self, _product: &'static Product, _path: &Path) -> Option<Binary> {
        None
    }

    /// Opens an engine on a server that somebody else runs: with databases that we make ourselves.
    fn connect(&self, product: &'static Product, _url: &ServerUrl) -> Opened {
        Err(product.not_started("it has no servers"))
    }

    /// What an engine that is opened here may come to need in a directory, best one in memory.
    fn room(&self) -> u64 {
        0
    }

    /// Whether what is opened here listens on the network, if only on one of its own.
    fn listens(&self, _path: &Path) -> bool {
        false
    }

    /// The [program](crate::interpreter) of this machine that runs what is opened.
    fn interpreter(&self, _path: &Path) -> Option<&'static str> {
        None
    }

    /// Whether what is opened is a program, which needs whatever it needs.
    fn runs_programs(&self, _path: &Path) -> bool {
        false
    }

    /// The names of all databases on a server.
    fn databases(&self, _product: &'static Product, _url: &ServerUrl) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Drops a database, whoever is connected to it.
    fn drop_database(&self, _product: &'static Product, _url: &ServerUrl, _name: &str) -> Result<(), String> {
        Ok(())
    }
}

/// A way to build one and the same version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    Plain,
    /// With a counter on every edge of the code.
    Counting,
}

pub(crate) fn by_name(name: &str) -> Option<&'static dyn Driver> {
    DRIVERS.iter().copied().find(|driver| driver.name() == name)
}
