//! How much is said beside results: `-q` and `-v`.

use std::sync::atomic::{AtomicU8, Ordering};

static LEVEL: AtomicU8 = AtomicU8::new(NORMAL);

const QUIET: u8 = 0;
const NORMAL: u8 = 1;
const VERBOSE: u8 = 2;

/// What was typed holds for the whole process.
pub fn set(quiet: bool, verbose: bool) {
    let level = match (quiet, verbose) {
        (true, _) => QUIET,
        (false, true) => VERBOSE,
        (false, false) => NORMAL,
    };
    LEVEL.store(level, Ordering::Relaxed);
}

/// Only results and errors.
pub fn is_quiet() -> bool {
    LEVEL.load(Ordering::Relaxed) == QUIET
}

/// Also what is of interest when something goes wrong.
pub fn is_verbose() -> bool {
    LEVEL.load(Ordering::Relaxed) == VERBOSE
}
