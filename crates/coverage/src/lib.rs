//! Code coverage of binaries as they are: no source, no rebuild.
//!
//! A one-byte breakpoint is put at the start of every basic block of an engine's code. Whoever runs into one is stopped
//! by a signal; its handler puts the original byte back, notes the place, and goes on. So each place costs one signal,
//! once, and what has been seen costs nothing. What this shows is what is new, not what a single statement covers.
//!
//! - [`Code`]: where the blocks of a binary are ([`scan`](Code::scan), kept by build)
//! - [`Map`]: the memory that all processes of a campaign share: which places were seen, and in which order
//! - [`arm`]: breakpoints in a library that this process has loaded
//! - [`preload`]: the same in a server, by a small library that is loaded before it
//! - [`Symbols`]: what the functions of a binary are called
//!
//! All of this is for Linux on x86-64; [`is_possible`] says whether it can work here.

#![warn(missing_docs)]

mod arm;
mod map;
pub mod preload;
mod scan;
mod signals;
mod symbols;

use std::io;
use std::path::{Path, PathBuf};

pub use arm::arm;
pub use map::{Map, Reader};
pub use scan::{Code, Depth};
pub use symbols::Symbols;

/// Whether breakpoints can be set here at all.
pub const fn is_possible() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64", target_pointer_width = "64"))
}

/// Why there is no coverage.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are the words of the messages")]
pub enum CoverageError {
    /// Another processor or operating system.
    #[error("code coverage needs Linux on x86-64")]
    NotHere,

    /// The file is no program or library that can be read.
    #[error("cannot find the functions of {}: {reason}", path.display())]
    NotScanned { path: PathBuf, reason: String },

    /// Breakpoints could not be set.
    #[error("cannot set breakpoints in {}: {reason}", path.display())]
    NotArmed { path: PathBuf, reason: String },

    /// What is at the engine's path is not what a campaign has watched so far.
    #[error("this campaign watched another build of the engine: put that back, or start a new campaign")]
    OtherBuild,

    /// A file of ours could not be read or written.
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
}

impl CoverageError {
    fn file(path: &Path) -> impl Fn(io::Error) -> CoverageError + '_ {
        move |error| CoverageError::File { path: path.to_path_buf(), error }
    }
}
