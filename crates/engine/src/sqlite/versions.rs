//! The versions of SQLite that can be obtained, and the packages their source is in.

use std::fmt;
use std::sync::LazyLock;

use dissent_core::dialect::Version;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registry {
    Crate,
    Npm,
    Pypi,
}

/// A package that carries a version's `sqlite3.c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub registry: Registry,
    pub name: &'static str,
    pub version: &'static str,
    /// Path in the package; what is inside another archive comes after that archive and a `!`.
    pub path: &'static str,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

#[derive(Debug)]
pub struct Release {
    pub version: &'static str,
    /// The preferred one first.
    pub packages: Vec<Package>,
}

static RELEASES: LazyLock<Vec<Release>> =
    LazyLock::new(|| parse(include_str!("../../data/sqlite-versions.tsv")));

/// Every version that can be obtained, the oldest first.
pub fn releases() -> &'static [Release] {
    &RELEASES
}

/// The version inside this program.
pub fn bundled() -> &'static str {
    libsqlite3_sys::SQLITE_VERSION.to_str().unwrap_or("unknown")
}

/// The newest release that is `wanted` or, where that is only the start of a version, begins with it.
pub fn find(wanted: &str) -> Option<&'static Release> {
    let begins = |version: &str| {
        version.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let exact = || releases().iter().find(|release| release.version == wanted);
    exact().or_else(|| releases().iter().rev().find(|release| begins(release.version)))
}

/// The releases on both sides of a version there is none of.
pub fn nearest(wanted: &str) -> Vec<&'static str> {
    let wanted = Version::parse(wanted);
    let after = releases().partition_point(|release| Version::parse(release.version) < wanted);
    let near = &releases()[after.saturating_sub(1)..releases().len().min(after + 1)];
    near.iter().map(|release| release.version).collect()
}

fn parse(table: &'static str) -> Vec<Release> {
    let mut releases: Vec<Release> = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [version, registry, name, package_version, path] = fields[..] else {
            panic!("sqlite-versions.tsv: five columns are wanted in: {line}");
        };
        let registry = match registry {
            "crate" => Registry::Crate,
            "npm" => Registry::Npm,
            "pypi" => Registry::Pypi,
            other => panic!("sqlite-versions.tsv: unknown registry {other}"),
        };
        let package = Package { registry, name, version: package_version, path };
        match releases.last_mut() {
            Some(last) if last.version == version => last.packages.push(package),
            _ => releases.push(Release { version, packages: vec![package] }),
        }
    }
    releases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_ends_with_the_bundled_version() {
        let versions: Vec<Version> =
            releases().iter().map(|release| Version::parse(release.version)).collect();
        assert!(versions.is_sorted_by(|a, b| a < b));
        assert_eq!(versions.len(), 87);
        assert_eq!(releases().last().unwrap().version, bundled());
    }

    #[test]
    fn a_start_of_a_version_means_its_newest() {
        let version = |wanted| find(wanted).map(|release| release.version);
        assert_eq!(version("3.30.1"), Some("3.30.1"));
        assert_eq!(version("3.30"), Some("3.30.1"));
        assert_eq!(version("3.39"), Some("3.39.4"));
        assert_eq!(version("3.8"), Some("3.8.11.1"));
        assert_eq!(version("3.3"), None);
        assert_eq!(version("3.30.0"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn neighbours_of_a_missing_version() {
        assert_eq!(nearest("3.30.0"), ["3.29.0", "3.30.1"]);
        assert_eq!(nearest("3.1.0"), ["3.8.6"]);
        assert_eq!(nearest("4.0.0"), [bundled()]);
    }
}
