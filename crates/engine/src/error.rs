//! Why an engine is not available. Each message is one sentence that tells the user what to do.

use std::path::PathBuf;

/// What can go wrong before an engine answers its first statement.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are the words of the messages")]
pub enum EngineError {
    /// A target begins with a word that is no engine's name.
    #[error("unknown engine '{name}'; available: {available} (`dissent engines` lists all versions)")]
    UnknownEngine { name: String, available: String },

    /// What follows the engine's name makes no sense.
    #[error("invalid target '{target}': use one of {forms}")]
    MalformedTarget { target: String, forms: String },

    /// The address of a server makes no sense. It is not repeated: it may hold a password.
    #[error("invalid server URL ({reason}): use {form}")]
    MalformedAddress { reason: &'static str, form: String },

    /// No package has this version.
    #[error(
        "{wanted} is not available; nearest: {} (`dissent engines` lists all; or use {instead})",
        nearest.join(", ")
    )]
    UnknownVersion { wanted: String, nearest: Vec<&'static str>, instead: String },

    /// No package has any version.
    #[error("{engine} cannot be downloaded; use {instead}")]
    NotObtainable { engine: String, instead: String },

    /// Breakpoints cannot be set in this engine.
    #[error("Dissent cannot watch the code of {engine}; use --guide plan")]
    NotWatchable { engine: String },

    /// They can only be set in what we start ourselves.
    #[error(
        "a server by URL has no code coverage: only engines that Dissent starts itself have; use --guide plan"
    )]
    NotOurs,

    /// Setting breakpoints failed.
    #[error("{0}; use --guide plan")]
    NoPlaces(#[from] dissent_coverage::CoverageError),

    /// There is no instrumented build of this engine.
    #[error("{engine} cannot be built with code coverage; use --guide plan")]
    NoCoverage { engine: String },

    /// The user named a library that is not there.
    #[error("no such file: {}", .0.display())]
    NoSuchFile(PathBuf),

    /// The loader refuses a file.
    #[error("{} is not a shared library: {reason}", path.display())]
    NotALibrary { path: PathBuf, reason: String },

    /// A library of something else.
    #[error("{} is not a {engine} library: it has no function {missing}", path.display())]
    NotItsLibrary { path: PathBuf, engine: &'static str, missing: &'static str },

    /// The engine is there and cannot be used.
    #[error("cannot start {what}: {reason}")]
    NotStarted { what: String, reason: String },

    /// Databases of ours stay on somebody's server.
    #[error("cannot drop databases left on the server: {reason}")]
    NotSwept { reason: String },

    /// A program that downloads packages is not installed.
    #[error("{client} is needed to download {what}: install it, or use {instead}")]
    MissingClient { client: String, what: String, instead: String },

    /// A download failed.
    #[error("{client} could not download {package}: {reason}")]
    NotDownloaded { client: String, package: String, reason: String },

    /// No C compiler is installed.
    #[error("no C compiler '{compiler}' to build {what}: install one (or set CC), or use {instead}")]
    NoCompiler { compiler: String, what: String, instead: String },

    /// The C compiler refused the engine's source.
    #[error("{compiler} could not compile {what}: {reason}")]
    NotCompiled { compiler: String, what: String, reason: String },

    /// A package does not hold what its name says.
    #[error(
        "package {package} should contain {wanted} but contains {found}; it was discarded (`dissent engines update` looks for what is published now)"
    )]
    WrongVersion { package: String, wanted: String, found: String },

    /// The environment names no directory for caches.
    #[error("no cache directory for engines: set DISSENT_CACHE")]
    NoCacheDirectory,

    /// The directory for caches, or for the data of a server, is read-only or full.
    #[error("cannot write to {}: {error}; set DISSENT_CACHE to use another directory", path.display())]
    NotWritable { path: PathBuf, error: std::io::Error },
}
