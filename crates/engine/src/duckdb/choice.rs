//! The names users give to versions of DuckDB, and where those come from.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::{DuckdbEngine, api::Api, stub};
use crate::product::{Choice, Product, Rest};
use crate::store::library::LibraryKind;
use crate::store::package::{self, Release};
use crate::store::{Store, existing_file};
use crate::target::Step;
use crate::{EngineError, Source};

pub(crate) const PRODUCT: Product = Product {
    name: "duckdb",
    choose: |rest| Rest::read(rest).map(choose),
    catalog: |store| store.library_catalog(&KIND, &RELEASES),
};

const KIND: LibraryKind =
    LibraryKind { name: "duckdb", title: "DuckDB", file: "libduckdb.so", inspect: version_of };

static RELEASES: LazyLock<Vec<Release>> =
    LazyLock::new(|| package::parse("duckdb-versions.tsv", include_str!("../../data/duckdb-versions.tsv")));

#[derive(Clone, Debug)]
enum Chosen {
    Release(&'static Release),
    Library(PathBuf),
}

fn choose(rest: Rest) -> Result<Box<dyn Choice>, EngineError> {
    let newest = || RELEASES.last().map(Chosen::Release);
    let chosen = match rest {
        Rest::Path(path) => Some(Chosen::Library(PathBuf::from(path))),
        Rest::Nothing => newest(),
        Rest::Version(wanted) => package::find(&RELEASES, wanted).map(Chosen::Release),
    };
    match (chosen, rest) {
        (Some(chosen), _) => Ok(Box::new(chosen)),
        (None, Rest::Version(wanted)) => {
            let nearest = package::nearest(&RELEASES, wanted);
            Err(EngineError::UnknownVersion { wanted: format!("DuckDB {wanted}"), nearest })
        }
        (None, _) => Err(EngineError::UnknownEngine("duckdb".to_string())),
    }
}

impl Choice for Chosen {
    fn obtain(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        let path = match self {
            Chosen::Release(release) => Store::of_user()?.obtain_library(&KIND, release, progress)?,
            Chosen::Library(path) => existing_file(path)?,
        };
        Ok(Source::Duckdb { path })
    }
}

/// What a library says its version is, once it can be loaded.
fn version_of(store: &Store, library: &Path) -> Result<String, EngineError> {
    stub::make(store, library, "DuckDB")?;
    match Api::load(library)?.version() {
        Some(version) => Ok(version),
        None => Ok(DuckdbEngine::load(library)?.version.clone()),
    }
}

#[cfg(test)]
mod tests {
    use dissent_core::dialect::Version;

    use super::*;

    #[test]
    fn the_table_is_in_order() {
        let versions: Vec<Version> = RELEASES.iter().map(|release| Version::parse(release.version)).collect();
        assert!(versions.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_start_of_a_version_means_its_newest() {
        let version = |wanted| package::find(&RELEASES, wanted).map(|release| release.version);
        assert_eq!(version("1.5.6"), Some("1.5.6"));
        assert_eq!(version("1.5"), Some("1.5.6"));
        assert_eq!(version("0.3"), Some("0.3.4"));
        assert_eq!(version("0.2"), None);
        let refusal = choose(Rest::Version("0.2")).unwrap_err().to_string();
        assert_eq!(
            refusal,
            "DuckDB 0.2 cannot be obtained; the nearest: 0.3.0 (`dissent engines` lists all, and \
             duckdb:path=FILE takes any library)"
        );
    }
}
