//! The names users give to versions of SQLite.

use std::path::PathBuf;

use super::build::Build;
use super::versions;
use crate::product::{Choice, Product, Rest};
use crate::store::package::Release;
use crate::store::{Store, existing_file};
use crate::target::Step;
use crate::{EngineError, Source};

pub(crate) const PRODUCT: Product =
    Product { name: "sqlite", choose: |rest| Rest::read(rest).map(choose), catalog: Store::sqlite_catalog };

#[derive(Clone, Debug)]
enum Chosen {
    Bundled,
    Release(&'static Release),
    Library(PathBuf),
}

fn choose(rest: Rest) -> Result<Box<dyn Choice>, EngineError> {
    Ok(Box::new(match rest {
        Rest::Nothing | Rest::Version("bundled") => Chosen::Bundled,
        Rest::Path(path) => Chosen::Library(PathBuf::from(path)),
        Rest::Version(wanted) => match versions::find(wanted) {
            Some(release) if release.version == versions::bundled() => Chosen::Bundled,
            Some(release) => Chosen::Release(release),
            None => {
                let nearest = versions::nearest(wanted);
                return Err(EngineError::UnknownVersion { wanted: format!("SQLite {wanted}"), nearest });
            }
        },
    }))
}

impl Choice for Chosen {
    fn obtain(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        match self {
            Chosen::Bundled => Ok(Source::Bundled),
            Chosen::Release(release) => Store::of_user()?.obtain_sqlite(release, Build::Plain, progress),
            Chosen::Library(path) => Ok(Source::Library { path: existing_file(path)? }),
        }
    }

    fn obtain_counting(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        let release = match self {
            Chosen::Bundled => versions::find(versions::bundled()),
            Chosen::Release(release) => Some(*release),
            Chosen::Library(_) => None,
        };
        match release {
            Some(release) => Store::of_user()?.obtain_sqlite(release, Build::Counting, progress),
            None => Err(EngineError::NoCoverage { engine: "a library of somebody else's" }),
        }
    }
}
