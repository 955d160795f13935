//! The names users give to versions of ClickHouse, and where those come from.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::api::Api;
use crate::product::{Choice, Product, Rest};
use crate::store::library::LibraryKind;
use crate::store::package::{self, Release};
use crate::store::{Store, existing_file};
use crate::target::Step;
use crate::{EngineError, Source};

pub(crate) const PRODUCT: Product = Product {
    name: "clickhouse",
    choose: |rest| Rest::read(rest).map(choose),
    catalog: |store| store.library_catalog(&KIND, &RELEASES),
};

const KIND: LibraryKind =
    LibraryKind { name: "clickhouse", title: "ClickHouse", file: "libchdb.so", inspect: version_of };

static RELEASES: LazyLock<Vec<Release>> = LazyLock::new(|| {
    package::parse("clickhouse-versions.tsv", include_str!("../../data/clickhouse-versions.tsv"))
});

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
            Err(EngineError::UnknownVersion { wanted: format!("ClickHouse {wanted}"), nearest })
        }
        (None, _) => Err(EngineError::UnknownEngine("clickhouse".to_string())),
    }
}

impl Choice for Chosen {
    fn obtain(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        let path = match self {
            Chosen::Release(release) => Store::of_user()?.obtain_library(&KIND, release, progress)?,
            Chosen::Library(path) => existing_file(path)?,
        };
        Ok(Source::Clickhouse { path })
    }
}

/// What a library says its version is.
fn version_of(_: &Store, library: &Path) -> Result<String, EngineError> {
    Ok(Api::load(library)?.version().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_of_a_version_means_its_newest() {
        let version = |wanted| package::find(&RELEASES, wanted).map(|release| release.version);
        assert_eq!(version("26.7"), Some("26.7.3"));
        assert_eq!(version("26"), Some("26.7.3"));
        assert_eq!(version("25"), None);
    }
}
