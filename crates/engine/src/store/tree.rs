//! Engines that are kept as a directory of files: servers with their programs.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::package::{Package, Release};
use super::{BUSY, Store, download, first_that_works, not_writable};
use crate::EngineError;
use crate::target::Step;

impl Store {
    /// Where a version is kept, if it is.
    pub(crate) fn tree(&self, engine: &str, version: &str) -> PathBuf {
        self.root.join("engines").join(engine).join(version)
    }

    /// The directory of a release; unless it is there, `install` makes it out of what was unpacked: it is
    /// given the package, the place of what was wanted of it, and an empty directory.
    pub(crate) fn obtain_tree(
        &self,
        engine: &str,
        release: &Release,
        what: &str,
        progress: &mut dyn FnMut(Step),
        install: impl Fn(&Package, &Path, &Path) -> Result<(), EngineError>,
    ) -> Result<PathBuf, EngineError> {
        let directory = self.tree(engine, release.version);
        let _busy = BUSY.lock().unwrap_or_else(PoisonError::into_inner);
        if directory.is_dir() {
            return Ok(directory);
        }
        let above = directory.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(above).map_err(not_writable(above))?;
        // Beside the place where it will stay, so that renaming is all that is left to do; removed if it
        // comes to nothing.
        let unfinished =
            tempfile::Builder::new().prefix("unfinished-").tempdir_in(above).map_err(not_writable(above))?;
        let (package, unpacked) = first_that_works(&release.packages, |package| {
            progress(Step::Downloading { package: package.to_string() });
            download::fetch(package, &unfinished.path().join("work"), what)
        })?;
        progress(Step::Preparing { engine: what.to_string() });
        let kept = unfinished.path().join("kept");
        std::fs::create_dir(&kept).map_err(not_writable(&kept))?;
        install(package, &unpacked, &kept)?;
        match std::fs::rename(&kept, &directory) {
            // Another process was quicker.
            Err(_) if directory.is_dir() => Ok(directory),
            renamed => renamed.map(|()| directory.clone()).map_err(not_writable(&directory)),
        }
    }
}
