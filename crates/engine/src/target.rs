//! The names users give to databases: `sqlite`, `sqlite@3.30.1`, `sqlite:path=/usr/lib/libsqlite3.so`.

use std::fmt;
use std::str::FromStr;

use crate::driver::Build;
use crate::product::{self, Choice, Product};
use crate::{EngineError, Source};

/// A database as the user named it.
#[derive(Clone, Debug)]
pub struct Target {
    name: String,
    product: &'static Product,
    choice: Choice,
}

impl Target {
    /// Reads a name. That such an engine is known is all it checks.
    pub fn parse(text: &str) -> Result<Target, EngineError> {
        let text = text.trim();
        let (name, rest) = text.split_at(text.find(['@', ':', '+']).unwrap_or(text.len()));
        let product = product::by_name(name)?;
        let choice = product.choose(rest)?;
        let name = match &choice {
            Choice::Server(url) => url.to_string(),
            _ => text.to_string(),
        };
        Ok(Target { name, product, choice })
    }

    /// The name of the dialect it speaks.
    pub fn dialect(&self) -> &'static str {
        self.product.name()
    }

    /// Whether it is a release that Dissent obtains itself, rather than a library by its path or a server by its
    /// address: those run or reach whatever is there.
    pub fn is_release(&self) -> bool {
        matches!(self.choice, Choice::Bundled | Choice::Release(_))
    }

    /// Whether it is not here and has to be compiled for minutes.
    pub fn takes_long(&self) -> bool {
        self.product.takes_long(&self.choice)
    }

    /// Whether it is a version that is published for trials only, such as a release candidate.
    pub fn is_preview(&self) -> bool {
        matches!(self.choice, Choice::Release(release) if release.is_preview())
    }

    /// Whether it is a server that somebody else runs.
    pub fn is_server(&self) -> bool {
        matches!(self.choice, Choice::Server(_))
    }

    /// As it may stand in a report: of a server, neither who logs in nor where it is; of a library, not where it lies.
    pub fn public(&self) -> String {
        match &self.choice {
            Choice::Server(url) => format!("{}://HOST/", url.scheme()),
            Choice::Library(path) => {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                format!("{}:path={file}", self.dialect())
            }
            _ => self.name.clone(),
        }
    }

    /// Makes sure the engine is on this machine, telling what takes time.
    pub fn obtain(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        self.product.obtain(&self.choice, Build::Plain, progress)
    }

    /// The same, with all that is needed to watch its code: the version inside this program becomes a library.
    pub fn obtain_watchable(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        let source = self.product.obtain_local(&self.choice, progress)?;
        let binary = source.binary()?;
        progress(Step::Scanning { engine: self.product.title().to_string() });
        binary.prepare()?;
        Ok(source)
    }

    /// The name of just what is watched. The version inside this program is another build than the library of it.
    pub fn as_watched(&self, source: &Source) -> String {
        match (&self.choice, source.path()) {
            (Choice::Bundled, Some(path)) => format!("{}:path={}", self.product.name(), path.display()),
            _ => self.name.clone(),
        }
    }

    /// The same engine, instrumented: it counts the edges of its code that are passed.
    pub fn obtain_counting(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        self.product.obtain(&self.choice, Build::Counting, progress)
    }
}

impl FromStr for Target {
    type Err = EngineError;

    fn from_str(text: &str) -> Result<Target, EngineError> {
        Target::parse(text)
    }
}

/// The user's own spelling, without a password.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What obtaining an engine is doing now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A registry is asked which versions of a package there are.
    Asking {
        /// Its name.
        package: String,
    },
    /// A package is on its way.
    Downloading {
        /// Its name and version.
        package: String,
        /// About how much room the engine will take.
        bytes: u64,
    },
    /// A C compiler is at work.
    Compiling {
        /// What is compiled.
        engine: String,
    },
    /// A compiler is at work that tells how far it is.
    Building {
        /// What is built.
        engine: String,
        /// The part that was finished last.
        part: String,
        /// How many parts are finished.
        done: usize,
        /// How many parts there are.
        all: usize,
    },
    /// Looking for the places in its code where breakpoints can be set.
    Scanning {
        /// The engine.
        engine: String,
    },
    /// A server makes the data directory that others are copied from.
    Preparing {
        /// The server.
        engine: String,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Asking { package } => write!(f, "looking for new versions of {package}"),
            Step::Downloading { package, bytes } => {
                write!(f, "downloading {package} (about {} MB when installed)", (bytes >> 20).max(1))
            }
            Step::Building { engine, done, all, .. } => {
                write!(f, "building {engine}: {done} of {all} packages")
            }
            Step::Preparing { engine } => write!(f, "preparing {engine}"),
            Step::Scanning { engine } => write!(f, "reading the code of {engine}"),
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
        let newest = format!("sqlite@{}", crate::sqlite::bundled());
        for name in ["sqlite", "sqlite@bundled", &newest] {
            let mut step = |step: Step| panic!("{step}");
            assert_eq!(Target::parse(name).unwrap().obtain(&mut step).unwrap(), Source::bundled());
        }
    }

    #[test]
    fn a_bad_target_says_what_there_is() {
        let told = refusal("oracle@12");
        assert!(told.starts_with("unknown engine 'oracle'; available: clickhouse, "), "{told}");
        assert!(refusal("").starts_with("unknown engine ''"));
        for (text, told) in [
            (
                "sqlite@3.30.0",
                "SQLite 3.30.0 is not available; nearest: 3.29.0, 3.30.1 (`dissent engines` lists all; or use \
                 sqlite:path=FILE (your own library))",
            ),
            (
                "postgres@16.3",
                "PostgreSQL 16.3 is not available; nearest: 16.2, 16.4 (`dissent engines` lists all; or use \
                 postgres://USER:PASSWORD@HOST:PORT/DATABASE (a running server))",
            ),
            (
                "mysql@8.0",
                "MySQL 8.0 is not available; nearest: 5.6, 9.7 (`dissent engines` lists all; or use \
                 mysql://USER:PASSWORD@HOST:PORT/ (a running server))",
            ),
            (
                "percona",
                "Percona Server cannot be downloaded; use percona://USER:PASSWORD@HOST:PORT/ (a running server)",
            ),
            (
                "postgres://me:s3cret@localhost:port/",
                "invalid server URL (its port is not a number): use \
                 postgres://USER:PASSWORD@HOST:PORT/DATABASE",
            ),
            (
                "mysql://me@host/shop",
                "invalid server URL (it names a database, but Dissent uses only databases that it creates itself): \
                 use mysql://USER:PASSWORD@HOST:PORT/",
            ),
            (
                "clickhouse://host",
                "invalid target 'clickhouse://host': use one of clickhouse, clickhouse@VERSION, \
                 clickhouse:path=FILE, clickhouse+http://USER:PASSWORD@HOST:PORT/, clickhouse+https://USER:PASSWORD@HOST:PORT/",
            ),
        ] {
            assert_eq!(refusal(text), told, "{text}");
        }
        for text in ["sqlite@", "sqlite:", "sqlite:path=", "sqlite:/x.so", "sqlite://host/"] {
            assert_eq!(
                refusal(text),
                format!("invalid target '{text}': use one of sqlite, sqlite@VERSION, sqlite:path=FILE")
            );
        }
    }

    #[test]
    fn a_server_has_the_names_that_other_programs_give_it() {
        let target = Target::parse("postgresql://me@host/?sslmode=require").unwrap();
        assert_eq!((target.dialect(), target.public().as_str()), ("postgres", "postgres://HOST/"));
        assert_eq!(target.to_string(), "postgres://me@host/?sslmode=require");
        let encrypted = Target::parse("clickhouse+https://me@host/").unwrap();
        assert_eq!(encrypted.public(), "clickhouse+https://HOST/");
        assert!(!refusal("clickhouse://me:s3cret@host/").contains("s3cret"));
    }

    #[test]
    fn a_report_does_not_say_where_a_library_lies() {
        let target = Target::parse("sqlite:path=/home/me/builds/libsqlite3.so").unwrap();
        assert_eq!(target.public(), "sqlite:path=libsqlite3.so");
    }

    #[test]
    fn a_missing_library_is_named() {
        let target = Target::parse("sqlite:path=/nowhere/libsqlite3.so").unwrap();
        let error = target.obtain(&mut |_| {}).unwrap_err();
        assert_eq!(error.to_string(), "no such file: /nowhere/libsqlite3.so");
    }

    #[test]
    fn a_password_is_in_nothing_that_can_be_printed() {
        for (name, dialect) in [
            ("postgres://me:s3cret@localhost:5433/", "postgres"),
            ("mariadb://me:s3cret@host:3307/", "mariadb"),
            ("clickhouse+http://me:s3cret@host:8123/", "clickhouse"),
            ("clickhouse+https://me:s3cret@host/", "clickhouse"),
        ] {
            let target = Target::parse(name).unwrap();
            assert_eq!((target.to_string(), target.dialect()), (name.replace(":s3cret", ""), dialect));
            let source = target.obtain(&mut |step| panic!("{step}")).unwrap();
            assert!(!format!("{target:?} {source:?}").contains("s3cret"));
            assert!(serde_json::to_string(&source).unwrap().contains("s3cret"), "it travels");
        }
    }
}
