//! The names users give to databases: `sqlite`, `sqlite@3.30.1`, `sqlite:path=/usr/lib/libsqlite3.so`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::mysql::{self, Flavour, Login};
use crate::sqlite::versions::{self, Release};
use crate::store::Store;
use crate::{EngineError, Source};

/// A database as the user named it.
#[derive(Clone, Debug)]
pub struct Target {
    name: String,
    engine: Named,
}

#[derive(Clone, Debug)]
enum Named {
    Bundled,
    Release(&'static Release),
    Library(PathBuf),
    Mysql(&'static mysql::releases::Release),
    MysqlServer(Login),
}

impl Target {
    pub fn parse(text: &str) -> Result<Target, EngineError> {
        let name = text.trim();
        let end = name.find(['@', ':']).unwrap_or(name.len());
        let (engine, rest) = name.split_at(end);
        if let Some(flavour) = Flavour::by_name(engine) {
            return mysql_family(name, flavour, rest);
        }
        if engine != "sqlite" {
            return Err(EngineError::UnknownEngine(engine.to_string()));
        }
        let engine = if let Some(path) = rest.strip_prefix(":path=").filter(|path| !path.is_empty()) {
            Named::Library(PathBuf::from(path))
        } else if rest.is_empty() {
            Named::Bundled
        } else if let Some(version) = rest.strip_prefix('@').filter(|version| !version.is_empty()) {
            by_version(version)?
        } else {
            return Err(EngineError::MalformedTarget(name.to_string()));
        };
        Ok(Target { name: name.to_string(), engine })
    }

    /// The name of the dialect it speaks, as in `dialects/*.toml`.
    pub fn dialect(&self) -> &'static str {
        match &self.engine {
            Named::Mysql(release) => release.flavour.name(),
            Named::MysqlServer(login) => login.flavour.name(),
            _ => "sqlite",
        }
    }

    /// Makes sure the engine is on this machine, telling what takes time.
    pub fn obtain(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        match &self.engine {
            Named::Bundled => Ok(Source::Bundled),
            Named::Release(release) => Store::of_user()?.obtain_sqlite(release, progress),
            Named::Mysql(release) => Store::of_user()?.obtain_mysql(release, progress),
            Named::MysqlServer(login) => Ok(Source::Mysql(mysql::Place::Given(login.clone()))),
            Named::Library(path) => {
                // Absolute: workers may run elsewhere, and a bare name would make the loader search.
                match path.canonicalize() {
                    Ok(path) if path.is_file() => Ok(Source::Library { path }),
                    _ => Err(EngineError::NoSuchFile(path.clone())),
                }
            }
        }
    }
}

/// `mariadb`, `mariadb@10.11` or `mariadb://…`; the name that is kept has no password in it.
fn mysql_family(name: &str, flavour: Flavour, rest: &str) -> Result<Target, EngineError> {
    let engine = match rest.strip_prefix("://") {
        Some(url) => Named::MysqlServer(Login::parse(flavour, url)?),
        None => {
            let version = rest.strip_prefix('@').filter(|version| !version.is_empty());
            if version.is_none() && !rest.is_empty() {
                return Err(EngineError::MalformedTarget(name.to_string()));
            }
            Named::Mysql(mysql::releases::find(flavour, version)?)
        }
    };
    Ok(Target { name: mysql::masked(name), engine })
}

fn by_version(wanted: &str) -> Result<Named, EngineError> {
    if wanted == "bundled" {
        return Ok(Named::Bundled);
    }
    match versions::find(wanted) {
        Some(release) if release.version == versions::bundled() => Ok(Named::Bundled),
        Some(release) => Ok(Named::Release(release)),
        None => Err(EngineError::UnknownVersion {
            wanted: wanted.to_string(),
            nearest: versions::nearest(wanted),
        }),
    }
}

impl FromStr for Target {
    type Err = EngineError;

    fn from_str(text: &str) -> Result<Target, EngineError> {
        Target::parse(text)
    }
}

/// The user's own spelling.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What obtaining an engine is doing now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Downloading { package: String },
    Compiling { engine: String },
    Initialising { engine: String },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Downloading { package } => write!(f, "downloading {package}"),
            Step::Initialising { engine } => write!(f, "initialising {engine}"),
            Step::Compiling { engine } => write!(f, "compiling {engine} (about half a minute)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Target::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_target_keeps_the_name_it_was_given() {
        for name in ["sqlite", "sqlite@bundled", "sqlite@3.30", "sqlite@3.30.1", "sqlite:path=/x/y.so"] {
            let target = Target::parse(name).unwrap();
            assert_eq!((target.to_string().as_str(), target.dialect()), (name, "sqlite"));
        }
    }

    #[test]
    fn the_bundled_version_is_never_compiled_again() {
        let newest = format!("sqlite@{}", versions::bundled());
        for name in ["sqlite", "sqlite@bundled", &newest] {
            let mut step = |step: Step| panic!("{step}");
            assert_eq!(Target::parse(name).unwrap().obtain(&mut step).unwrap(), Source::Bundled);
        }
    }

    #[test]
    fn a_bad_target_says_what_there_is() {
        assert_eq!(
            refusal("oracle@12"),
            "there is no engine 'oracle'; there is: sqlite (`dissent engines` lists all versions)"
        );
        assert_eq!(
            refusal("sqlite@3.30.0"),
            "SQLite 3.30.0 cannot be obtained; the nearest: 3.29.0, 3.30.1 (`dissent engines` lists all, \
             and sqlite:path=FILE takes any library)"
        );
        for text in ["sqlite@", "sqlite:", "sqlite:path=", "sqlite:/x.so"] {
            assert_eq!(
                refusal(text),
                format!("'{text}' is no target: write sqlite, sqlite@VERSION or sqlite:path=FILE")
            );
        }
        assert!(refusal("").starts_with("there is no engine ''"));
    }

    #[test]
    fn a_missing_library_is_named() {
        let target = Target::parse("sqlite:path=/nowhere/libsqlite3.so").unwrap();
        let error = target.obtain(&mut |_| {}).unwrap_err();
        assert_eq!(error.to_string(), "there is no file /nowhere/libsqlite3.so");
    }
}
