//! Why an engine cannot be had: each message is one sentence for the user that says what to do.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("there is no engine '{0}'; there is: sqlite (`dissent engines` lists all versions)")]
    UnknownEngine(String),

    #[error("'{0}' is no target: write sqlite, sqlite@VERSION or sqlite:path=FILE")]
    MalformedTarget(String),

    #[error(
        "SQLite {wanted} cannot be obtained; the nearest: {} (`dissent engines` lists all, and \
         sqlite:path=FILE takes any library)",
        nearest.join(", ")
    )]
    UnknownVersion { wanted: String, nearest: Vec<&'static str> },

    #[error("{engine}:// cannot be used: {why}", engine = scheme)]
    MalformedUrl { scheme: String, why: String },

    #[error(
        "{engine}{wanted} cannot be obtained{} give a server by {engine}://USER:PASSWORD@HOST:PORT/",
        only(engine, there)
    )]
    NoSuchSeries { engine: &'static str, wanted: String, there: Vec<&'static str> },

    #[error("the package {package} was to hold {wanted} but holds {found}; it was not kept")]
    OtherVersion { package: String, wanted: String, found: String },

    #[error("{client} is needed to obtain {what}: install it, or give a server by URL")]
    NoClient { client: String, what: String },

    #[error("there is no file {}", .0.display())]
    NoSuchFile(PathBuf),

    #[error("{} cannot be loaded as a shared library: {reason}", path.display())]
    NotALibrary { path: PathBuf, reason: String },

    #[error("{} is no SQLite library: it has no function {missing}", path.display())]
    NotSqlite { path: PathBuf, missing: &'static str },

    #[error("SQLite {version} does not start: {reason}")]
    NotOpened { version: String, reason: String },

    #[error("{what} does not start: {reason}")]
    NotStarted { what: String, reason: String },

    #[error("{client} is needed to obtain {what}: install it, or give a library by sqlite:path=FILE")]
    MissingClient { client: String, what: String },

    #[error("{client} could not get {package}: {reason}")]
    NotDownloaded { client: String, package: String, reason: String },

    #[error(
        "no C compiler '{compiler}' to build {what}: install one (or name it in CC), or give a library \
         by sqlite:path=FILE"
    )]
    NoCompiler { compiler: String, what: String },

    #[error("{compiler} could not compile {what}: {reason}")]
    NotCompiled { compiler: String, what: String, reason: String },

    #[error("the package {package} was to hold SQLite {wanted} but holds {found}; it was not kept")]
    WrongVersion { package: String, wanted: String, found: String },

    #[error("there is no place to keep engines: set DISSENT_CACHE to a directory")]
    NoCacheDirectory,

    #[error("{} cannot be written to: {error}; DISSENT_CACHE may name another directory", path.display())]
    NotWritable { path: PathBuf, error: std::io::Error },
}

fn only(engine: &str, there: &[&str]) -> String {
    match there {
        [] => String::from(";"),
        series => {
            let named: Vec<String> = series.iter().map(|series| format!("{engine}@{series}")).collect();
            format!(", only {}; or", named.join(", "))
        }
    }
}
