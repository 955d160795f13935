//! The engines installed on this machine, by version. Missing ones are downloaded and installed once.

mod compile;
mod debian;
mod download;
mod go;
mod maven;
mod newer;
pub(crate) mod package;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::EngineError;
use crate::confine::check;
use crate::driver::{Build, Driver};
use crate::product::{Product, products};
use crate::target::Step;
pub(crate) use compile::Compiler;
pub use newer::{Updated, update};
use package::{Package, Release};

/// One download or build at a time in this process. Other processes wait for a lock, and a version is there complete or
/// not at all.
static BUSY: Mutex<()> = Mutex::new(());

/// What directories are called in which a version is made.
const UNFINISHED: &str = "unfinished-";

/// The directory where engines are kept, and what they are compiled with.
pub(crate) struct Store {
    root: PathBuf,
    compiler: Compiler,
}

/// A version that a user can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    /// The engine's name.
    pub engine: &'static str,
    /// What follows the `@` in a target.
    pub version: &'static str,
    /// Whether it is here.
    pub state: State,
}

/// Whether a version is on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Inside this program.
    Bundled,
    /// It was obtained.
    Installed,
    /// It will be obtained when it is first named.
    Obtainable,
}

/// A version that is being obtained, in messages.
pub(crate) struct Wanted {
    /// `SQLite 3.30.1`.
    pub name: String,
    /// What the user can give in its stead.
    pub instead: String,
}

/// A version that was downloaded, on its way into the store.
pub(crate) struct Arrival<'a> {
    pub product: &'static Product,
    pub wanted: &'a Wanted,
    pub release: &'a Release,
    pub build: Build,
    package: &'a Package,
    /// The file or the directory that was wanted of the package.
    pub downloaded: &'a Path,
    /// An empty directory next to it. Its final content is kept.
    pub kept: &'a Path,
    pub compiler: &'a Compiler,
    pub progress: &'a mut dyn FnMut(Step),
}

/// Every version of every engine, each engine's oldest first.
pub fn versions() -> Result<Vec<Available>, EngineError> {
    let store = Store::of_user()?;
    Ok(products().flat_map(|product| product.versions(&store)).collect())
}

/// How much room the installed versions of an engine take, in bytes.
pub fn installed_bytes(engine: &str) -> Result<u64, EngineError> {
    Ok(bytes_in(&Store::of_user()?.root.join("engines").join(engine)))
}

fn bytes_in(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_in(&entry.path()),
        // Files with holes take less than their length.
        Ok(meta) => meta.blocks() * 512,
        Err(_) => 0,
    };
    entries.map(bytes).sum()
}

/// Removes an installed version; `false` if it was not installed. Obtaining it again downloads it again.
pub fn remove(engine: &str, version: &str) -> Result<bool, EngineError> {
    let directory = Store::of_user()?.directory(engine, version);
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
    pub fn of_user() -> Result<Store, EngineError> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let root = find_cache_directory(variable).ok_or(EngineError::NoCacheDirectory)?;
        // Absolute: workers may run elsewhere.
        let root = std::path::absolute(&root).unwrap_or(root);
        Ok(Store { root, compiler: Compiler::of_user() })
    }

    /// Where everything is kept.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    fn directory(&self, engine: &str, version: &str) -> PathBuf {
        self.root.join("engines").join(engine).join(version)
    }

    fn kept(&self, product: &Product, release: &Release, build: Build) -> Option<PathBuf> {
        let directory = self.directory(product.name(), release.version);
        product.driver.kept_in(product.name(), directory, build)
    }

    /// Whether a version is here.
    pub fn has(&self, product: &Product, release: &Release) -> bool {
        self.kept(product, release, Build::Plain).is_some_and(|kept| product.driver.opened(&kept).exists())
    }

    /// What is opened of a version; unless it is here, it is downloaded and installed.
    pub fn obtain(
        &self,
        product: &'static Product,
        release: &Release,
        build: Build,
        progress: &mut dyn FnMut(Step),
    ) -> Result<PathBuf, EngineError> {
        let no_such_build = || EngineError::NoCoverage { engine: product.title().to_string() };
        let kept = self.kept(product, release, build).ok_or_else(no_such_build)?;
        let opened = product.driver.opened(&kept);
        let _busy = BUSY.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.exists() {
            return Ok(opened);
        }
        let wanted = product.wanted(release.version, build);
        product.driver.check(&wanted, &self.compiler)?;
        let above = kept.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(above).map_err(not_writable(above))?;
        let _lock = lock(&above.join("lock"))?;
        if opened.exists() {
            return Ok(opened);
        }
        // Beside the place where it will stay, so that renaming is all that is left to do; removed if it
        // comes to nothing, or by the next process if this one is killed.
        remove_unfinished(above);
        let unfinished =
            tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(above).map_err(not_writable(above))?;
        let made = unfinished.path().join("kept");
        first_that_works(&release.packages, |package| {
            progress(Step::Downloading { package: package.to_string(), bytes: product.usual_bytes() });
            let work = unfinished.path().join("work");
            let _ = std::fs::remove_dir_all(&work);
            let _ = std::fs::remove_dir_all(&made);
            let downloaded = download::fetch(package, &work, &wanted, progress)?;
            let mut arrival = Arrival {
                product,
                wanted: &wanted,
                release,
                build,
                package,
                downloaded: &downloaded,
                kept: &made,
                compiler: &self.compiler,
                progress: &mut *progress,
            };
            arrival.install(product.driver)
        })?;
        // Packages differ in what is opened of them.
        let opened = |()| product.driver.opened(&kept);
        std::fs::rename(&made, &kept).map(opened).map_err(not_writable(&kept))
    }
}

impl Arrival<'_> {
    /// Has the driver make what it opens; `Err` if that is not what the package promised.
    fn install(&mut self, driver: &dyn Driver) -> Result<(), EngineError> {
        std::fs::create_dir(self.kept).map_err(not_writable(self.kept))?;
        let found = driver.install(self)?;
        match self.release.is(&found) {
            true => Ok(()),
            false => {
                let (package, wanted) = (self.package.to_string(), self.wanted.name.clone());
                Err(EngineError::WrongVersion { package, wanted, found })
            }
        }
    }
}

/// Removes what processes left that were killed. Only who holds the lock may do so.
fn remove_unfinished(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(UNFINISHED)) {
        let _ = std::fs::remove_dir_all(entry.path());
    }
}

/// A directory for what is downloaded or built in parts, which outlives an interruption: nothing is done twice.
fn lasting_directory(name: &str) -> Result<PathBuf, EngineError> {
    let directory = Store::of_user()?.root.join("building").join(name);
    std::fs::create_dir_all(&directory).map_err(not_writable(&directory))?;
    Ok(directory)
}

/// Waits until no other process obtains what this file stands for. The lock ends with the file, or with the process.
fn lock(path: &Path) -> Result<File, EngineError> {
    let file = File::create(path).map_err(not_writable(path))?;
    // SAFETY: the descriptor is open as long as the file.
    check(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) }).map_err(not_writable(path))?;
    Ok(file)
}

/// A file that the user named, by its absolute path: workers may run elsewhere, and a bare name would
/// make the loader search.
pub(crate) fn existing_file(path: &Path) -> Result<PathBuf, EngineError> {
    match path.canonicalize() {
        Ok(path) if path.is_file() => Ok(path),
        _ => Err(EngineError::NoSuchFile(path.to_path_buf())),
    }
}

pub(crate) fn not_writable(path: &Path) -> impl Fn(std::io::Error) -> EngineError {
    move |error| EngineError::NotWritable { path: path.to_path_buf(), error }
}

/// Tries one package after the other; if none works, the preferred one's error tells most.
fn first_that_works(
    packages: &[Package],
    mut attempt: impl FnMut(&Package) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let mut first_error = None;
    for package in packages {
        match attempt(package) {
            Ok(()) => return Ok(()),
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
