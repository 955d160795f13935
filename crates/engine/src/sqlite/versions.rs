//! The versions of SQLite that can be obtained, and the packages their source is in.

use std::sync::LazyLock;

use crate::store::package::{self, Release};

static RELEASES: LazyLock<Vec<Release>> =
    LazyLock::new(|| package::parse("sqlite-versions.tsv", include_str!("../../data/sqlite-versions.tsv")));

/// Every version that can be obtained, the oldest first.
pub fn releases() -> &'static [Release] {
    &RELEASES
}

/// The version inside this program.
pub fn bundled() -> &'static str {
    libsqlite3_sys::SQLITE_VERSION.to_str().unwrap_or("unknown")
}

/// The newest release that is `wanted` or begins with it.
pub fn find(wanted: &str) -> Option<&'static Release> {
    package::find(releases(), wanted)
}

/// The releases on both sides of a version there is none of.
pub fn nearest(wanted: &str) -> Vec<&'static str> {
    package::nearest(releases(), wanted)
}

#[cfg(test)]
mod tests {
    use dissent_core::dialect::Version;

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
