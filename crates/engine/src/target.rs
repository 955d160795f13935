//! The names users give to databases: `sqlite`, `sqlite@3.30.1`, `sqlite:path=/usr/lib/libsqlite3.so`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::product::{self, Choice};
use crate::{EngineError, Source};

/// A database as the user named it.
#[derive(Clone, Debug)]
pub struct Target {
    name: String,
    dialect: &'static str,
    choice: Arc<dyn Choice>,
}

impl Target {
    pub fn parse(text: &str) -> Result<Target, EngineError> {
        let name = text.trim();
        let end = name.find(['@', ':', '+']).unwrap_or(name.len());
        let (engine, rest) = name.split_at(end);
        let product = product::by_name(engine)?;
        let malformed = || EngineError::MalformedTarget { target: name.to_string(), engine: product.name };
        let choice = (product.choose)(rest).ok_or_else(malformed)??;
        let name = choice.shown().unwrap_or_else(|| name.to_string());
        Ok(Target { name, dialect: product.name, choice: choice.into() })
    }

    /// The name of the dialect it speaks, as in `dialects/*.toml`.
    pub fn dialect(&self) -> &'static str {
        self.dialect
    }

    /// Makes sure the engine is on this machine, telling what takes time.
    pub fn obtain(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        self.choice.obtain(progress)
    }

    /// The same engine, instrumented: it counts the edges of its code that are passed.
    pub fn obtain_counting(&self, progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        self.choice.obtain_counting(progress)
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
    Downloading { package: String },
    Compiling { engine: String },
    Preparing { engine: String },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Downloading { package } => write!(f, "downloading {package}"),
            Step::Preparing { engine } => write!(f, "preparing {engine}"),
            Step::Compiling { engine } => write!(f, "compiling {engine} (about half a minute)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::versions;

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
            format!(
                "there is no engine 'oracle'; there is: {} (`dissent engines` lists all versions)",
                product::names()
            )
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
