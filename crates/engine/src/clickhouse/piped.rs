//! ClickHouse inside its package for Python. It exports nothing that could be called from here, so a script in a process of
//! its own passes statements to it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dissent_core::engine::{ErrorClass, SqlError};
use dissent_core::sql::value::unhex;
use serde::Deserialize;

use super::errors;
use super::link::{Link, Question, hang, in_session, lost};
use crate::server::Home;
use crate::worker::pipe::{Lost, Pipe};
use crate::{EngineError, interpreter};

/// The module for Python, in the directory of an unpacked package.
pub const MODULE: &str = "chdb/_chdb.abi3.so";
const SCRIPT: &str = include_str!("piped.py");
/// The engine's own limit comes first; if it does not keep it within this time, it has hung.
const GRACE: Duration = Duration::from_secs(3);
/// How long it may take to start.
const START: Duration = Duration::from_secs(60);

/// Whether a library is the module of a package for Python.
pub fn is_module(library: &Path) -> bool {
    library.ends_with(MODULE)
}

pub struct Piped {
    /// The directory of the module.
    package: PathBuf,
    /// `None` once it is gone, until it is renewed.
    running: Option<Running>,
}

struct Running {
    /// Ended before its directory goes: fields are dropped in order.
    pipe: Pipe,
    _home: Home,
}

/// What the script says.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Answer(String),
    Error(String),
}

impl Piped {
    pub fn start(module: &Path) -> Result<Piped, EngineError> {
        let package = module.parent().unwrap_or(module).to_path_buf();
        let running = Some(Running::start(&package)?);
        Ok(Piped { package, running })
    }

    fn ask(&mut self, sql: &str, format: &str, limit: Duration) -> Result<Vec<u8>, SqlError> {
        let gone = || lost("the process is gone".to_string());
        let answer = self.running.as_mut().ok_or_else(gone)?.ask(sql, format, limit);
        let error = match answer {
            Ok(Answer::Answer(digits)) => return Ok(unhex(&digits).unwrap_or_default()),
            Ok(Answer::Error(message)) => return Err(errors::error(message)),
            Err(Lost::Late) => hang(limit),
            Err(Lost::Memory(message)) => SqlError { class: ErrorClass::Limit, code: String::new(), message },
            Err(Lost::Crashed(words)) => lost(format!("the process ended: {words}")),
        };
        self.running = None;
        Err(error)
    }
}

impl Running {
    fn start(package: &Path) -> Result<Running, EngineError> {
        let paced = format!("?{}", super::PACE.join("&"));
        Running::start_with(package, &paced).or_else(|_| Running::start_with(package, ""))
    }

    /// Settings follow the directory as they do in an address.
    fn start_with(package: &Path, settings: &str) -> Result<Running, EngineError> {
        let home = Home::create("clickhouse", super::ROOM)?;
        let mut command = Command::new(interpreter::PYTHON);
        // Nothing of the user's own is read.
        let mut data = home.path().join("data").into_os_string();
        data.push(settings);
        command.args(["-IB", "-c", SCRIPT]).arg(package).arg(data);
        interpreter::put_first(interpreter::PYTHON, &mut command);
        let refused = |reason| EngineError::NotStarted { what: "ClickHouse".to_string(), reason };
        let pipe = Pipe::start(command)
            .map_err(|error| refused(format!("it needs {}: {error}", interpreter::PYTHON)))?;
        let mut running = Running { pipe, _home: home };
        running.ask("SELECT 1", "Null", START).map_err(|lost| refused(lost.to_string()))?;
        Ok(running)
    }

    fn ask(&mut self, sql: &str, format: &str, limit: Duration) -> Result<Answer, Lost> {
        let question = serde_json::json!({ "sql": sql, "format": format }).to_string();
        let line = self.pipe.ask(&question, limit)?;
        serde_json::from_str(&line).map_err(|error| Lost::Crashed(format!("it says {line}: {error}")))
    }
}

impl Link for Piped {
    fn query(&mut self, question: &Question) -> Result<Vec<u8>, SqlError> {
        in_session(question, |sql, format| self.ask(sql, format, question.limit + GRACE))
    }

    fn renew(&mut self) -> Result<(), String> {
        self.running = Some(Running::start(&self.package).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn is_shared(&self) -> bool {
        false
    }
}
