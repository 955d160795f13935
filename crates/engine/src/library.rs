//! Engines that are shared libraries.

use std::ffi::c_int;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};

use crate::EngineError;

/// Loads a library and finds its functions; `resolve` names the first one that is missing. It stays loaded as long
/// as the process lives: what comes out of it (functions, exit handlers, threads) must never dangle.
pub fn load<T>(
    path: &Path,
    binding: c_int,
    engine: &'static str,
    resolve: impl FnOnce(&Library) -> Result<T, &'static str>,
) -> Result<T, EngineError> {
    // SAFETY: loading runs the library's initialisers, which is what the user named this file for. Its own symbols
    // stay its own (RTLD_LOCAL).
    let library = unsafe { Library::open(Some(path), binding | RTLD_LOCAL) }
        .map_err(|error| EngineError::NotALibrary { path: path.to_path_buf(), reason: error.to_string() })?;
    let functions = resolve(&library).map_err(|missing| EngineError::NotItsLibrary {
        path: path.to_path_buf(),
        engine,
        missing,
    })?;
    std::mem::forget(library);
    Ok(functions)
}

/// Loads a library before it is opened, with all that it needs. What is wrong with it is seen when it is opened.
pub fn preload(path: &Path) {
    // SAFETY: as in `load`.
    if let Ok(library) = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL) } {
        std::mem::forget(library);
    }
}
