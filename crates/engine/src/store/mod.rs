//! Engines kept on this machine, by version: found, or downloaded and compiled once.

mod compile;
pub(crate) mod debian;
pub(crate) mod download;
pub(crate) mod library;
pub(crate) mod package;
mod tree;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::product::PRODUCTS;
use crate::sqlite::build::Build;
use crate::sqlite::{self, versions};
use crate::target::Step;
use crate::{EngineError, Source};
pub(crate) use compile::Compiler;
use package::{Package, Release};

/// One download or build at a time in this process. Other processes are kept apart by renaming: a
/// library is there complete or not at all.
static BUSY: Mutex<()> = Mutex::new(());

pub struct Store {
    root: PathBuf,
    compiler: Compiler,
}

/// A version that a user can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    pub engine: &'static str,
    pub version: &'static str,
    pub state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Bundled,
    Installed,
    Obtainable,
}

/// Every engine and version there is, the oldest first.
pub fn catalog() -> Result<Vec<Available>, EngineError> {
    let store = Store::of_user()?;
    Ok(PRODUCTS.iter().flat_map(|product| (product.catalog)(&store)).collect())
}

/// Removes what is kept of a version; `false` if nothing was. Obtaining it again downloads it anew.
pub fn remove(engine: &str, version: &str) -> Result<bool, EngineError> {
    let directory = Store::of_user()?.root.join("engines").join(engine).join(version);
    match std::fs::remove_dir_all(&directory) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(EngineError::NotWritable { path: directory, error }),
    }
}

/// Where Dissent keeps what it made or obtained once: `DISSENT_CACHE`, or the user's cache directory.
pub fn cache_directory() -> Result<PathBuf, EngineError> {
    Ok(Store::of_user()?.root)
}

impl Store {
    /// The user's own: `DISSENT_CACHE`, or `dissent` in the user's cache directory; compiles with `CC`,
    /// or `cc`.
    pub(crate) fn of_user() -> Result<Store, EngineError> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let root = find_cache_directory(variable).ok_or(EngineError::NoCacheDirectory)?;
        // Absolute: workers may run elsewhere.
        let root = std::path::absolute(&root).unwrap_or(root);
        Ok(Store { root, compiler: Compiler::of_user() })
    }

    pub(crate) fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    pub(crate) fn sqlite_catalog(&self) -> Vec<Available> {
        let state = |release: &Release| match release.version {
            version if version == versions::bundled() => State::Bundled,
            version if self.sqlite_library(version, Build::Plain).is_file() => State::Installed,
            _ => State::Obtainable,
        };
        let available = |release: &'static Release| Available {
            engine: "sqlite",
            version: release.version,
            state: state(release),
        };
        versions::releases().iter().map(available).collect()
    }

    fn sqlite_library(&self, version: &str, build: Build) -> PathBuf {
        let directory = self.root.join("engines/sqlite").join(version);
        directory.join(build.fingerprint()).join("libsqlite3.so")
    }

    pub(crate) fn obtain_sqlite(
        &self,
        release: &Release,
        build: Build,
        progress: &mut dyn FnMut(Step),
    ) -> Result<Source, EngineError> {
        let path = self.sqlite_library(release.version, build);
        let _busy = BUSY.lock().unwrap_or_else(PoisonError::into_inner);
        if path.is_file() {
            return Ok(Source::Library { path });
        }
        let what = match build {
            Build::Plain => format!("SQLite {}", release.version),
            Build::Counting => format!("SQLite {} with coverage", release.version),
        };
        // Before the download, which would be for nothing.
        self.compiler.check(&what)?;
        let directory = path.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(directory).map_err(not_writable(directory))?;
        let work = tempfile::tempdir().map_err(not_writable(&std::env::temp_dir()))?;
        let (package, source) = first_that_works(&release.packages, |package| {
            progress(Step::Downloading { package: package.to_string() });
            download::fetch(package, work.path(), &what)
        })?;
        progress(Step::Compiling { engine: what });
        self.install_sqlite(release.version, build, package, &source)?;
        Ok(Source::Library { path })
    }

    /// Compiles, and keeps the library only if it is what the package promised.
    fn install_sqlite(
        &self,
        version: &str,
        build: Build,
        package: &Package,
        source: &Path,
    ) -> Result<(), EngineError> {
        let library = self.sqlite_library(version, build);
        let directory = library.parent().unwrap_or(&self.root);
        // In the directory where it will stay, so that renaming is all that is left to do; removed
        // if it comes to nothing.
        let unfinished = tempfile::Builder::new()
            .prefix("unfinished-")
            .suffix(".so")
            .tempfile_in(directory)
            .map_err(not_writable(directory))?
            .into_temp_path();
        let unit = build.unit(source).map_err(not_writable(source))?;
        self.compiler.run(&build.arguments(), &unit, &unfinished, &format!("SQLite {version}"))?;
        let found = sqlite::version_of(&unfinished)?;
        if found != version {
            let (package, wanted) = (package.to_string(), format!("SQLite {version}"));
            return Err(EngineError::WrongVersion { package, wanted, found });
        }
        unfinished.persist(&library).map_err(|error| not_writable(directory)(error.error))
    }
}

/// A file that the user named, by its absolute path: workers may run elsewhere, and a bare name would
/// make the loader search.
pub(crate) fn existing_file(path: &Path) -> Result<PathBuf, EngineError> {
    match path.canonicalize() {
        Ok(path) if path.is_file() => Ok(path),
        _ => Err(EngineError::NoSuchFile(path.to_path_buf())),
    }
}

fn not_writable(path: &Path) -> impl Fn(std::io::Error) -> EngineError {
    move |error| EngineError::NotWritable { path: path.to_path_buf(), error }
}

/// Tries one package after the other; if none works, the preferred one's error tells most.
fn first_that_works<T>(
    packages: &[Package],
    mut attempt: impl FnMut(&Package) -> Result<T, EngineError>,
) -> Result<(&Package, T), EngineError> {
    let mut first_error = None;
    for package in packages {
        match attempt(package) {
            Ok(found) => return Ok((package, found)),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.expect("a release has at least one package"))
}

fn find_cache_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let own = variable("DISSENT_CACHE").map(PathBuf::from);
    let user = || variable("XDG_CACHE_HOME").map(|directory| PathBuf::from(directory).join("dissent"));
    let home = || variable("HOME").map(|home| PathBuf::from(home).join(".cache/dissent"));
    own.or_else(user).or_else(home)
}

#[cfg(test)]
mod tests;
