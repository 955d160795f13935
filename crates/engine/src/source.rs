//! Where an engine is, once it has been obtained.

use std::path::PathBuf;

use dissent_core::engine::Engine;
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::clickhouse::{self, ClickhouseEngine};
use crate::duckdb::DuckdbEngine;
use crate::mysql;
use crate::postgres;
use crate::sqlite::SqliteEngine;
use crate::url::ServerUrl;

/// Enough to open the engine in any process on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The SQLite inside this program.
    Bundled,
    /// A shared library of SQLite.
    Library { path: PathBuf },
    /// A shared library of DuckDB.
    Duckdb { path: PathBuf },
    /// A server that speaks PostgreSQL's protocol.
    Postgres(postgres::Place),
    /// A server of the MySQL family.
    Mysql(mysql::Place),
    /// A libchdb.
    Clickhouse { path: PathBuf },
    /// A ClickHouse server, by HTTP.
    ClickhouseServer(ServerUrl),
}

impl Source {
    /// The same, with a mark in the names of the databases that are made on a server that goes on without us.
    pub fn marked(mut self, mark: &str) -> Source {
        let mark = Some(mark.to_string());
        match &mut self {
            Source::Postgres(postgres::Place::Remote(url)) | Source::ClickhouseServer(url) => url.mark = mark,
            Source::Mysql(mysql::Place::Given(login)) => login.mark = mark,
            _ => {}
        }
        self
    }

    /// Drops what processes that were killed left on such a server: the databases with this mark, which nobody
    /// may use any more.
    pub fn sweep(&self) -> Result<(), EngineError> {
        let swept = match self {
            Source::Postgres(postgres::Place::Remote(url)) => postgres::sweep(url),
            Source::ClickhouseServer(url) => clickhouse::sweep(url),
            Source::Mysql(mysql::Place::Given(login)) => mysql::sweep(login),
            _ => Ok(()),
        };
        swept.map_err(|reason| EngineError::NotSwept { reason })
    }

    pub fn open(&self) -> Result<Box<dyn Engine>, EngineError> {
        Ok(match self {
            Source::Bundled => Box::new(SqliteEngine::bundled()?),
            Source::Library { path } => Box::new(SqliteEngine::load(path)?),
            Source::Duckdb { path } => Box::new(DuckdbEngine::load(path)?),
            Source::Postgres(place) => Box::new(place.open()?),
            Source::Mysql(place) => Box::new(mysql::MysqlEngine::open(place)?),
            Source::Clickhouse { path } => Box::new(ClickhouseEngine::load(path)?),
            Source::ClickhouseServer(url) => Box::new(ClickhouseEngine::connect(url)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_no_sqlite_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("libsqlite3.so");
        std::fs::write(&path, "no library at all").unwrap();
        let refusal = |path: PathBuf| Source::Library { path }.open().err().unwrap().to_string();
        let told = refusal(path.clone());
        assert!(
            told.starts_with(&format!("{} cannot be loaded as a shared library: ", path.display())),
            "{told}"
        );
        assert_eq!(
            refusal(PathBuf::from("libc.so.6")),
            "libc.so.6 is no SQLite library: it has no function sqlite3_libversion"
        );
    }

    #[test]
    fn a_source_travels_between_processes() {
        for source in [Source::Bundled, Source::Library { path: "/x/libsqlite3.so".into() }] {
            let json = serde_json::to_string(&source).unwrap();
            assert_eq!(serde_json::from_str::<Source>(&json).unwrap(), source);
        }
    }
}
