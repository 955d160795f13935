//! Where an installed engine is.

use std::path::{Path, PathBuf};

use dissent_core::engine::Engine;
use serde::{Deserialize, Serialize};

use crate::url::ServerUrl;
use crate::{EngineError, product};

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

    /// The same, with a mark in the names of the databases that are made on a server that goes on without us.
    pub fn marked(mut self, mark: &str) -> Source {
        if let Location::Server(url) = &mut self.location {
            url.mark = Some(mark.to_string());
        }
        self
    }

    /// Drops what processes that were killed left on such a server: the databases with this mark, which nobody
    /// may use any more.
    pub fn sweep(&self) -> Result<(), EngineError> {
        let Location::Server(url) = &self.location else { return Ok(()) };
        let product = product::by_name(&self.engine)?;
        product.driver.sweep(product, url).map_err(|reason| EngineError::NotSwept { reason })
    }

    /// Opens the engine; a server that was obtained is started, and ends with the engine.
    pub fn open(&self) -> Result<Box<dyn Engine>, EngineError> {
        let product = product::by_name(&self.engine)?;
        match &self.location {
            Location::Bundled => product.driver.open_bundled(product),
            Location::Local { path, version } => product.driver.open_local(product, path, version.as_deref()),
            Location::Server(url) => product.driver.connect(product, url),
        }
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
