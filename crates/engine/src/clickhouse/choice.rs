//! The names users give to versions of ClickHouse, and where those come from.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::api::Api;
use crate::product::{Choice, Product, Rest};
use crate::store::library::LibraryKind;
use crate::store::package::{self, Release};
use crate::store::{Store, existing_file};
use crate::target::Step;
use crate::url::{Secret, ServerUrl};
use crate::{EngineError, Source};

pub(crate) const PRODUCT: Product = Product {
    name: "clickhouse",
    choose: |rest| match rest.strip_prefix("+http") {
        Some(rest) => Some(reach(rest)),
        None => Rest::read(rest).map(choose),
    },
    catalog: |store| store.library_catalog(&KIND, &RELEASES),
};

/// How the address of a server begins.
const SCHEME: &str = "clickhouse+http";

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

/// `://user:password@host:port/`.
fn reach(rest: &str) -> Result<Box<dyn Choice>, EngineError> {
    let malformed = |reason| EngineError::MalformedAddress { engine: SCHEME, reason };
    let url = ServerUrl::parse(&format!("{SCHEME}{rest}")).map_err(malformed)?;
    if url.database.is_some() {
        return Err(malformed("it names a database, and Dissent only uses those that it makes itself"));
    }
    Ok(Box::new(Reachable(url)))
}

#[derive(Debug)]
struct Reachable(ServerUrl);

impl Choice for Reachable {
    fn obtain(&self, _: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        let mut url = self.0.clone();
        if url.password.is_none() {
            // Where ClickHouse's own client looks.
            url.password = std::env::var("CLICKHOUSE_PASSWORD").ok().map(Secret::new);
        }
        Ok(Source::ClickhouseServer(url))
    }

    fn shown(&self) -> Option<String> {
        Some(self.0.to_string())
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
    fn a_server_is_shown_without_its_password() {
        let target = crate::Target::parse("clickhouse+http://me:hunter2@host:8123/").unwrap();
        assert_eq!(
            (target.to_string().as_str(), target.dialect()),
            ("clickhouse+http://me:***@host:8123/", "clickhouse")
        );
        let source = target.obtain(&mut |_| {}).unwrap();
        assert!(!format!("{target:?}{source:?}").contains("hunter2"));
        let refusal = crate::Target::parse("clickhouse+http://host/shop").unwrap_err().to_string();
        assert!(refusal.contains("only uses those that it makes itself"), "{refusal}");
    }

    #[test]
    fn a_start_of_a_version_means_its_newest() {
        let version = |wanted| package::find(&RELEASES, wanted).map(|release| release.version);
        assert_eq!(version("26.7"), Some("26.7.3"));
        assert_eq!(version("26"), Some("26.7.3"));
        assert_eq!(version("25"), None);
    }
}
