//! The names users give to databases: `sqlite`.

use std::fmt;

use crate::{EngineError, Source};

/// A database as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    name: String,
}

impl Target {
    pub fn parse(text: &str) -> Result<Target, EngineError> {
        match text {
            "sqlite" | "sqlite@bundled" => Ok(Target { name: text.to_string() }),
            _ => Err(EngineError::UnknownEngine(text.to_string())),
        }
    }

    /// The name of the dialect it speaks, as in `dialects/*.toml`.
    pub fn dialect(&self) -> &'static str {
        "sqlite"
    }

    /// Makes sure the engine is on this machine, telling what takes time.
    pub fn obtain(&self, _progress: &mut dyn FnMut(Step)) -> Result<Source, EngineError> {
        Ok(Source::Bundled)
    }
}

/// What obtaining an engine is doing now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Downloading { package: String },
    Compiling { engine: String },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Downloading { package } => write!(f, "downloading {package}"),
            Step::Compiling { engine } => write!(f, "compiling {engine} (about half a minute)"),
        }
    }
}

/// The user's own spelling.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
