//! Where an installed engine is.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use dissent_core::engine::Engine;
use dissent_coverage::{Code, Map};
use serde::{Deserialize, Serialize};

use crate::armed::{Arms, Binary};
use crate::own::{self, Owner};
use crate::url::ServerUrl;
use crate::{EngineError, product, server};

/// Enough to open the engine in any process on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The engine's name, by which its driver and all that is said of it are found.
    pub(crate) engine: String,
    pub(crate) location: Location,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Location {
    /// Inside this program.
    Bundled,
    /// A shared library, or the directory of a server that is started for every engine that is opened.
    Local {
        path: PathBuf,
        /// Of what was obtained; absent: it is the user's own.
        version: Option<String>,
    },
    /// A server that somebody else runs.
    Server(ServerUrl),
}

impl Source {
    /// The SQLite inside this program.
    pub fn bundled() -> Source {
        Source { engine: "sqlite".to_string(), location: Location::Bundled }
    }

    /// The name of the dialect that the engine speaks.
    pub fn dialect(&self) -> &str {
        &self.engine
    }

    /// Has [`leave`](crate::leave) drop what is made on a server that goes on without us. To be called before that is
    /// opened, here or in another process.
    pub fn visit(&self) {
        if matches!(self.location, Location::Server(_)) {
            own::VISITED.lock().unwrap_or_else(PoisonError::into_inner).push(self.clone());
        }
    }

    /// Drops what processes that have ended left on a server that goes on without us.
    pub fn sweep(&self) -> Result<(), EngineError> {
        self.drop_where(|owner| owner == Owner::Ended)
    }

    /// The same, and what this process and its workers made there: none of them may be using it any more.
    pub fn leave(&self) -> Result<(), EngineError> {
        self.drop_where(|owner| matches!(owner, Owner::This | Owner::Ended))
    }

    fn drop_where(&self, whose: impl Fn(Owner) -> bool) -> Result<(), EngineError> {
        let own = self.databases()?.into_iter().filter(|(_, owner)| whose(*owner));
        own.map(|(name, _)| self.drop_database(&name)).fold(Ok(()), Result::and)
    }

    /// The databases that Dissent made on a server that somebody else runs, and whose they are.
    pub fn databases(&self) -> Result<Vec<(String, Owner)>, EngineError> {
        let Location::Server(url) = &self.location else { return Ok(Vec::new()) };
        let product = product::by_name(&self.engine)?;
        let mut names = product.driver.databases(product, url).map_err(not_swept)?;
        names.sort();
        Ok(names.into_iter().filter_map(|name| own::owner(&name).map(|owner| (name, owner))).collect())
    }

    /// Drops one of them.
    pub fn drop_database(&self, name: &str) -> Result<(), EngineError> {
        let (Location::Server(url), Some(_)) = (&self.location, own::owner(name)) else { return Ok(()) };
        let product = product::by_name(&self.engine)?;
        product.driver.drop_database(product, url, name).map_err(not_swept)
    }

    /// What a user should know who wonders why so many of these engines at once are slow: their data is not in memory.
    pub fn slowness(&self, engines: u64) -> Option<String> {
        let Location::Local { .. } = self.location else { return None };
        let product = product::by_name(&self.engine).ok()?;
        let wanted = product.driver.room();
        let (memory, free) = server::free_memory();
        (wanted > 0 && free < wanted.saturating_mul(engines)).then(|| {
            format!(
                "{memory} has only {} MB free, so {} keeps data on disk, which can be several times slower; make it \
                 larger if you can: mount -o remount,size={}G {memory}",
                free >> 20,
                product.title(),
                (wanted.saturating_mul(engines) >> 30) + 1,
            )
        })
    }

    /// Opens the engine; a server that was obtained is started, and ends with the engine.
    pub fn open(&self) -> Result<Box<dyn Engine>, EngineError> {
        let product = product::by_name(&self.engine)?;
        match &self.location {
            Location::Bundled => product.driver.open_bundled(product),
            Location::Local { path, version } => {
                product.driver.open_local(product, path, version.as_deref(), None)
            }
            Location::Server(url) => product.driver.connect(product, url),
        }
    }

    /// The same, where everything that the engine's code does for the first time is noted in a [map](Source::make_map) as
    /// this worker's doing. One engine of a process.
    pub fn open_watched(&self, map: &Path, worker: u32) -> Result<Box<dyn Engine>, EngineError> {
        // What cannot be watched is refused.
        let binary = self.binary()?.path;
        let product = product::by_name(&self.engine)?;
        let Location::Local { path, version } = &self.location else { return self.open() };
        let arms = Arms { map: map.to_path_buf(), worker, binary };
        product.driver.open_local(product, path, version.as_deref(), Some(&arms))
    }

    /// Makes a map in which nothing was seen, unless there is one of the same build; one of another build is refused.
    pub fn make_map(&self, map: &Path) -> Result<(), EngineError> {
        Ok(Map::create(map, &self.binary()?.code()?)?)
    }

    /// Where the engine's code is, and what is known of it.
    pub fn code(&self) -> Result<(PathBuf, Code), EngineError> {
        let binary = self.binary()?;
        let code = binary.code()?;
        Ok((binary.path, code))
    }

    pub(crate) fn binary(&self) -> Result<Binary, EngineError> {
        let product = product::by_name(&self.engine)?;
        let engine = || product.title().to_string();
        let binary = match &self.location {
            Location::Local { path, .. } => product.driver.binary(product, path),
            Location::Server(_) => return Err(EngineError::NotOurs),
            Location::Bundled => None,
        };
        binary.ok_or_else(|| EngineError::NotWatchable { engine: engine() })
    }

    /// Whether it is a server that somebody else runs, on which others may have databases.
    pub fn is_shared(&self) -> bool {
        matches!(self.location, Location::Server(_))
    }

    /// How it was built, as far as that is known: to follow its version in a report.
    pub fn provenance(&self) -> String {
        let how = || product::by_name(&self.engine).map(|product| product.driver.how_built());
        match &self.location {
            Location::Bundled | Location::Local { version: Some(_), .. } => {
                how().unwrap_or_else(|_| "from its published packages".to_string())
            }
            Location::Local { version: None, .. } => "a local build".to_string(),
            Location::Server(_) => "a running server".to_string(),
        }
    }

    /// What is opened on this machine: a shared library, or a directory of a server's programs.
    pub fn path(&self) -> Option<&Path> {
        match &self.location {
            Location::Local { path, .. } => Some(path),
            _ => None,
        }
    }
}

fn not_swept(reason: String) -> EngineError {
    EngineError::NotSwept { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(path: &Path) -> Source {
        let location = Location::Local { path: path.to_path_buf(), version: None };
        Source { engine: "sqlite".to_string(), location }
    }

    #[test]
    fn a_library_that_is_no_sqlite_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("libsqlite3.so");
        std::fs::write(&path, "no library at all").unwrap();
        let refusal = |path: &Path| library(path).open().err().unwrap().to_string();
        let told = refusal(&path);
        assert!(told.starts_with(&format!("{} is not a shared library: ", path.display())), "{told}");
        assert_eq!(
            refusal(Path::new("libc.so.6")),
            "libc.so.6 is not a SQLite library: it has no function sqlite3_libversion"
        );
    }

    #[test]
    fn a_source_travels_between_processes() {
        for source in [Source::bundled(), library(Path::new("/x/libsqlite3.so"))] {
            let json = serde_json::to_string(&source).unwrap();
            assert_eq!(serde_json::from_str::<Source>(&json).unwrap(), source);
        }
    }
}
