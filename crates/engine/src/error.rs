//! Why an engine cannot be had: each message is one sentence for the user that says what to do.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("there is no engine '{0}'; there is: sqlite (see `dissent engines`)")]
    UnknownEngine(String),
    #[error("cannot load {}: {reason}; give the path of a shared library", path.display())]
    NotALibrary { path: PathBuf, reason: String },
    #[error("{} is no SQLite library: it has no function {missing}", path.display())]
    NotSqlite { path: PathBuf, missing: &'static str },
    #[error("SQLite {version} does not open a database in memory: {reason}")]
    NotOpened { version: String, reason: String },
}
