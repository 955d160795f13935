//! The names users give to the MySQL family.

use super::releases::{self, RELEASES, Release};
use super::{Flavour, Login, Place};
use crate::product::{Choice, Product, Rest};
use crate::store::{Available, State, Store};
use crate::target::Step;
use crate::url::ServerUrl;
use crate::{EngineError, Source};

pub(crate) const MYSQL: Product = Product {
    name: Flavour::Mysql.name(),
    choose: |rest| choose(Flavour::Mysql, rest),
    catalog: |store| catalog(Flavour::Mysql, store),
};

pub(crate) const MARIADB: Product = Product {
    name: Flavour::Mariadb.name(),
    choose: |rest| choose(Flavour::Mariadb, rest),
    catalog: |store| catalog(Flavour::Mariadb, store),
};

/// Cannot be obtained, only reached.
pub(crate) const PERCONA: Product = Product {
    name: Flavour::Percona.name(),
    choose: |rest| choose(Flavour::Percona, rest),
    catalog: |_| Vec::new(),
};

/// Cannot be obtained, only reached.
pub(crate) const TIDB: Product = Product {
    name: Flavour::Tidb.name(),
    choose: |rest| choose(Flavour::Tidb, rest),
    catalog: |_| Vec::new(),
};

pub(crate) const OCEANBASE: Product = Product {
    name: Flavour::OceanBase.name(),
    choose: |rest| choose(Flavour::OceanBase, rest),
    catalog: |store| catalog(Flavour::OceanBase, store),
};

type Chosen = Option<Result<Box<dyn Choice>, EngineError>>;

fn choose(flavour: Flavour, rest: &str) -> Chosen {
    if rest.starts_with("://") {
        return Some(
            given(flavour, rest)
                .map_err(|reason| EngineError::MalformedAddress { engine: flavour.name(), reason }),
        );
    }
    let wanted = match Rest::read(rest)? {
        Rest::Nothing => None,
        Rest::Version(wanted) => Some(wanted),
        Rest::Path(_) => return None,
    };
    Some(releases::find(flavour, wanted).map(|release| Box::new(Installable(release)) as Box<dyn Choice>))
}

fn given(flavour: Flavour, rest: &str) -> Result<Box<dyn Choice>, &'static str> {
    let url = ServerUrl::parse(&format!("{}{rest}", flavour.name()))?;
    if url.database.is_some() {
        return Err("it names a database, and Dissent only uses those that it makes itself");
    }
    Ok(Box::new(Reachable(flavour, url)))
}

#[derive(Debug)]
struct Installable(&'static Release);

impl Choice for Installable {
    fn obtain(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        let installed = self.0.obtain(&Store::of_user()?, progress)?;
        Ok(Source::Mysql(Place::Installed(installed)))
    }
}

#[derive(Debug)]
struct Reachable(Flavour, ServerUrl);

impl Choice for Reachable {
    fn obtain(&self, _: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        Ok(Source::Mysql(Place::Given(Login::given(self.0, &self.1))))
    }

    fn shown(&self) -> Option<String> {
        Some(self.1.to_string())
    }
}

fn catalog(flavour: Flavour, store: &Store) -> Vec<Available> {
    let own = RELEASES.iter().filter(|release| release.flavour == flavour);
    let state = |release: &Release| match release.installed(store).is_there() {
        true => State::Installed,
        false => State::Obtainable,
    };
    let available = |release: &'static Release| Available {
        engine: flavour.name(),
        version: release.series,
        state: state(release),
    };
    own.map(available).collect()
}

#[cfg(test)]
mod tests {
    use crate::Target;

    #[test]
    fn a_server_is_shown_without_its_password() {
        let target = Target::parse("mariadb://me:hunter2@host:3307/").unwrap();
        assert_eq!(
            (target.to_string().as_str(), target.dialect()),
            ("mariadb://me:***@host:3307/", "mariadb")
        );
        assert!(!format!("{target:?}").contains("hunter2"));
        let source = target.obtain(&mut |_| {}).unwrap();
        assert!(!format!("{source:?}").contains("hunter2"));
    }

    #[test]
    fn somebody_elses_database_is_refused() {
        let refusal = Target::parse("mysql://me@host/shop").unwrap_err().to_string();
        assert!(refusal.contains("only uses those that it makes itself"), "{refusal}");
    }
}
