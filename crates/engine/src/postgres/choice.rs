//! The names users give to PostgreSQL and its relatives.

use std::sync::LazyLock;

use super::{Place, install};
use crate::product::{Choice, Product, Rest};
use crate::store::package::{self, Release};
use crate::store::{Available, State, Store};
use crate::target::Step;
use crate::url::{Secret, ServerUrl};
use crate::{EngineError, Source};

pub(crate) const POSTGRES: Product =
    Product { name: "postgres", choose: |rest| choose("postgres", rest), catalog };

/// Cannot be obtained, only reached.
pub(crate) const COCKROACHDB: Product =
    Product { name: "cockroachdb", choose: |rest| remote("cockroachdb", rest), catalog: |_| Vec::new() };

static RELEASES: LazyLock<Vec<Release>> = LazyLock::new(|| {
    package::parse("postgres-versions.tsv", include_str!("../../data/postgres-versions.tsv"))
});

pub fn default_port(scheme: &str) -> u16 {
    if scheme == "cockroachdb" { 26257 } else { 5432 }
}

pub fn default_user(scheme: &str) -> &'static str {
    if scheme == "cockroachdb" { "root" } else { "postgres" }
}

pub fn default_database(scheme: &str) -> &'static str {
    if scheme == "cockroachdb" { "defaultdb" } else { "postgres" }
}

type Chosen = Option<Result<Box<dyn Choice>, EngineError>>;

fn choose(engine: &'static str, rest: &str) -> Chosen {
    let wanted = match Rest::read(rest) {
        Some(Rest::Nothing) => RELEASES.last().map_or("", |newest| newest.version),
        Some(Rest::Version(wanted)) => wanted,
        Some(Rest::Path(_)) | None => return remote(engine, rest),
    };
    Some(match package::find(&RELEASES, wanted) {
        Some(release) => Ok(Box::new(Installable(release))),
        None => {
            let nearest = package::nearest(&RELEASES, wanted);
            Err(EngineError::UnknownVersion { wanted: format!("Postgres {wanted}"), nearest })
        }
    })
}

/// `://user:password@host:port/database` behind the name of the engine.
fn remote(engine: &'static str, rest: &str) -> Chosen {
    if !rest.starts_with("://") {
        return Some(Err(EngineError::MalformedAddress { engine, reason: "it has no '://'" }));
    }
    Some(match ServerUrl::parse(&format!("{engine}{rest}")) {
        Ok(url) => Ok(Box::new(Reachable(url))),
        Err(reason) => Err(EngineError::MalformedAddress { engine, reason }),
    })
}

#[derive(Debug)]
struct Installable(&'static Release);

impl Choice for Installable {
    fn obtain(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        let Installable(release) = self;
        let what = format!("Postgres {}", release.version);
        let store = Store::of_user()?;
        let installation =
            store.obtain_tree(POSTGRES.name, release, &what, progress, |package, unpacked, into| {
                install::install(package, unpacked, into, release.version)
            })?;
        Ok(Source::Postgres(Place::Private { installation, version: release.version.to_string() }))
    }
}

#[derive(Debug)]
struct Reachable(ServerUrl);

impl Choice for Reachable {
    fn obtain(&self, _: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        let mut url = self.0.clone();
        if url.password.is_none() {
            url.password = std::env::var("PGPASSWORD").ok().map(Secret::new);
        }
        Ok(Source::Postgres(Place::Remote(url)))
    }

    fn shown(&self) -> Option<String> {
        Some(self.0.to_string())
    }
}

fn catalog(store: &Store) -> Vec<Available> {
    let state = |release: &Release| match store.tree(POSTGRES.name, release.version).is_dir() {
        true => State::Installed,
        false => State::Obtainable,
    };
    let available = |release: &'static Release| Available {
        engine: POSTGRES.name,
        version: release.version,
        state: state(release),
    };
    RELEASES.iter().map(available).collect()
}

#[cfg(test)]
mod tests {
    use crate::Target;

    fn refusal(text: &str) -> String {
        Target::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_password_is_in_nothing_that_can_be_printed() {
        for name in ["postgres://me:s3cret@localhost:5433/", "cockroachdb://me:s3cret@localhost/app"] {
            let target = Target::parse(name).unwrap();
            assert_eq!(target.to_string(), name.replace("s3cret", "***"));
            let source = target.obtain(&mut |step| panic!("{step}")).unwrap();
            assert!(!format!("{target:?} {source:?}").contains("s3cret"));
        }
        assert_eq!(Target::parse("cockroachdb://localhost/").unwrap().dialect(), "cockroachdb");
    }

    #[test]
    fn a_bad_name_says_what_to_write() {
        assert_eq!(
            refusal("postgres@16.3"),
            "Postgres 16.3 cannot be obtained; the nearest: 16.2, 16.4 (`dissent engines` lists all, and \
             postgres://… takes any server)"
        );
        assert_eq!(
            refusal("postgres://me:s3cret@localhost:port/"),
            "this is no address of a server (its port is no number): write \
             postgres://USER:PASSWORD@HOST:PORT/"
        );
        assert!(refusal("cockroachdb@23").starts_with("this is no address of a server (it has no '://')"));
    }
}
