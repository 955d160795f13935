//! The versions of SQLite: one is built in, the others are compiled here.

use std::path::{Path, PathBuf};

use super::api::Api;
use super::{SqliteEngine, build, bundled};
use crate::EngineError;
use crate::armed::{Arms, Binary};
use crate::driver::{Build, Driver, Opened};
use crate::product::Product;
use crate::store::{Arrival, Compiler, Wanted, not_writable};
use crate::target::Step;

/// Any library with SQLite's C interface.
pub(crate) struct Sqlite;

impl Driver for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn how_built(&self) -> String {
        let options: Vec<String> = build::OPTIONS.iter().map(|option| format!("-DSQLITE_{option}")).collect();
        format!("compiled by Dissent with `-O2 {}`", options.join(" "))
    }

    fn loads_libraries(&self) -> bool {
        true
    }

    fn bundled(&self) -> Option<&'static str> {
        Some(bundled())
    }

    /// Other arguments of the compiler never find an old library.
    fn kept_in(&self, _: &str, directory: PathBuf, build: Build) -> Option<PathBuf> {
        Some(directory.join(build::fingerprint(build)))
    }

    fn opened(&self, kept: &Path) -> PathBuf {
        kept.join("libsqlite3.so")
    }

    fn check(&self, wanted: &Wanted, compiler: &Compiler) -> Result<(), EngineError> {
        compiler.check(wanted)
    }

    fn install(&self, arrival: &mut Arrival) -> Result<String, EngineError> {
        (arrival.progress)(Step::Compiling { engine: arrival.wanted.name.clone() });
        let unit =
            build::unit(arrival.build, arrival.downloaded).map_err(not_writable(arrival.downloaded))?;
        let library = self.opened(arrival.kept);
        arrival.compiler.run(&build::arguments(arrival.build), &unit, &library, arrival.wanted)?;
        Ok(Api::inspect(&library)?.version())
    }

    fn open_bundled(&self, _: &'static Product) -> Opened {
        Ok(Box::new(SqliteEngine::bundled()?))
    }

    fn open_local(&self, _: &'static Product, path: &Path, _: Option<&str>, arms: Option<&Arms>) -> Opened {
        if let Some(arms) = arms {
            Api::inspect(path)?;
            arms.arm(path)?;
        }
        Ok(Box::new(SqliteEngine::load(path)?))
    }

    fn binary(&self, _: &'static Product, path: &Path) -> Option<Binary> {
        Some(Binary::library(path))
    }
}
