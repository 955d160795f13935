//! Which package carries which version of an engine: tables in `data/*.tsv`.

use std::fmt;

use dissent_core::dialect::Version;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registry {
    Crate,
    Npm,
    /// A source distribution.
    Pypi,
    /// A wheel for this CPython: `311`.
    Wheel(&'static str),
}

/// A package that carries a version, and the file in it that is wanted.
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

/// Reads a table; `name` is its file's, for messages.
pub fn parse(name: &str, table: &'static str) -> Vec<Release> {
    let mut releases: Vec<Release> = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [version, registry, package, package_version, path] = fields[..] else {
            panic!("{name}: five columns are wanted in: {line}");
        };
        let registry = match (registry, registry.strip_prefix("cp")) {
            ("crate", _) => Registry::Crate,
            ("npm", _) => Registry::Npm,
            ("pypi", _) => Registry::Pypi,
            (_, Some(python)) => Registry::Wheel(python),
            (other, None) => panic!("{name}: unknown registry {other}"),
        };
        let package = Package { registry, name: package, version: package_version, path };
        match releases.last_mut() {
            Some(last) if last.version == version => last.packages.push(package),
            _ => releases.push(Release { version, packages: vec![package] }),
        }
    }
    releases
}

/// The newest release that is `wanted` or, where that is only the start of a version, begins with it.
pub fn find(releases: &'static [Release], wanted: &str) -> Option<&'static Release> {
    let begins = |version: &str| {
        version.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let exact = || releases.iter().find(|release| release.version == wanted);
    exact().or_else(|| releases.iter().rev().find(|release| begins(release.version)))
}

/// The releases on both sides of a version there is none of.
pub fn nearest(releases: &'static [Release], wanted: &str) -> Vec<&'static str> {
    let wanted = Version::parse(wanted);
    let after = releases.partition_point(|release| Version::parse(release.version) < wanted);
    let near = &releases[after.saturating_sub(1)..releases.len().min(after + 1)];
    near.iter().map(|release| release.version).collect()
}
