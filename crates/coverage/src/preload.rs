//! Breakpoints in a server that we start: a small library of our own (`preload.c`) that is loaded before it.
//!
//! It is compiled when it is first needed, by the C compiler of this machine.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// The source of the library.
pub const SOURCE: &str = include_str!("preload.c");

/// What the compiler is told, besides the names of files: no C library, and no symbols but its own.
pub const ARGUMENTS: [&str; 10] = [
    "-shared",
    "-fPIC",
    "-O2",
    "-ffreestanding",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fvisibility=hidden",
    "-nostdlib",
    "-Wl,-z,noexecstack",
    "-Wl,--as-needed",
];

/// The environment of a server that is to load the library and to inherit the map of its campaign.
pub fn environment(library: &Path, map: &File, worker: u32) -> io::Result<[(&'static str, OsString); 2]> {
    let told = format!("{} {worker} {}", map.as_raw_fd(), map.metadata()?.len());
    Ok([("LD_PRELOAD", library.into()), ("DISSENT_COVERAGE", told.into())])
}
