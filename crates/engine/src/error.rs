//! Why an engine cannot be had: each message is one sentence for the user that says what to do.

use std::path::PathBuf;

use crate::product;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(
        "there is no engine '{}'; there is: {} (`dissent engines` lists all versions)",
        .0,
        product::names()
    )]
    UnknownEngine(String),

    #[error("'{target}' is no target: write {engine}, {engine}@VERSION or {engine}:path=FILE")]
    MalformedTarget { target: String, engine: &'static str },

    #[error("this is no address of a server ({reason}): write {engine}://USER:PASSWORD@HOST:PORT/")]
    MalformedAddress { engine: &'static str, reason: &'static str },

    #[error(
        "{wanted} cannot be obtained; the nearest: {} (`dissent engines` lists all, and {})",
        nearest.join(", "),
        any_other(wanted)
    )]
    UnknownVersion { wanted: String, nearest: Vec<&'static str> },

    #[error(
        "{engine}{wanted} cannot be obtained{} give a server by {engine}://USER:PASSWORD@HOST:PORT/",
        only(engine, there)
    )]
    NoSuchSeries { engine: &'static str, wanted: String, there: Vec<&'static str> },

    #[error("{client} is needed to obtain {what}: install it, or give a server by URL")]
    NoClient { client: String, what: String },

    #[error("{engine} cannot be built with code coverage; --guide plan works everywhere")]
    NoCoverage { engine: &'static str },

    #[error("there is no file {}", .0.display())]
    NoSuchFile(PathBuf),

    #[error("{} cannot be loaded as a shared library: {reason}", path.display())]
    NotALibrary { path: PathBuf, reason: String },

    #[error("{} is no {engine} library: it has no function {missing}", path.display())]
    NotItsLibrary { path: PathBuf, engine: &'static str, missing: &'static str },

    #[error("SQLite {version} does not start: {reason}")]
    NotOpened { version: String, reason: String },

    #[error("{what} does not start: {reason}")]
    NotStarted { what: String, reason: String },

    #[error("databases that were left on the server cannot be dropped: {reason}")]
    NotSwept { reason: String },

    #[error("{client} is needed to obtain {what}: install it, or give {}", instead(what))]
    MissingClient { client: String, what: String },

    #[error("{client} could not get {package}: {reason}")]
    NotDownloaded { client: String, package: String, reason: String },

    #[error(
        "no C compiler '{compiler}' to build {what}: install one (or name it in CC), or give {}",
        instead(what)
    )]
    NoCompiler { compiler: String, what: String },

    #[error("{compiler} could not compile {what}: {reason}")]
    NotCompiled { compiler: String, what: String, reason: String },

    #[error("the package {package} was to hold {wanted} but holds {found}; it was not kept")]
    WrongVersion { package: String, wanted: String, found: String },

    #[error("there is no place to keep engines: set DISSENT_CACHE to a directory")]
    NoCacheDirectory,

    #[error("{} cannot be written to: {error}; DISSENT_CACHE may name another directory", path.display())]
    NotWritable { path: PathBuf, error: std::io::Error },
}

/// `sqlite` for `SQLite 3.30.1`.
fn name_of(what: &str) -> String {
    what.split(' ').next().unwrap_or_default().to_lowercase()
}

/// Engines that are reached rather than loaded.
const SERVERS: [&str; 4] = ["postgres", "mysql", "mariadb", "oceanbase"];

/// What a user can give where an engine cannot be obtained.
fn instead(what: &str) -> String {
    match name_of(what) {
        name if SERVERS.contains(&name.as_str()) => format!("a server by {name}://USER:PASSWORD@HOST:PORT/"),
        name => format!("a library by {name}:path=FILE"),
    }
}

fn any_other(what: &str) -> String {
    match name_of(what) {
        name if SERVERS.contains(&name.as_str()) => format!("{name}://… takes any server"),
        name => format!("{name}:path=FILE takes any library"),
    }
}

/// `, only mysql@9.7; or`; nothing but a semicolon if there is none.
fn only(engine: &str, there: &[&str]) -> String {
    match there {
        [] => String::from(";"),
        series => {
            let named: Vec<String> = series.iter().map(|series| format!("{engine}@{series}")).collect();
            format!(", only {}; or", named.join(", "))
        }
    }
}
