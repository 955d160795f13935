//! Engines that are libraries for Rust or Python: a small program of ours around the library answers over its standard
//! input and output. Its source is in `workers/`; see [`package`].

mod driver;
pub(crate) mod package;
pub(crate) mod pipe;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dissent_core::engine::{Engine, ErrorClass, Limits, Prepared, Reply, Rows, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};
use serde::{Deserialize, Serialize};

pub(crate) use driver::Worker;

use crate::interpreter;
use pipe::{Lost, Pipe};

/// How long a worker may take to start, and to do what takes no time.
const START: Duration = Duration::from_secs(120);
/// What a worker that watches the time itself has beyond a statement's limit before it is ended. Some look once a second.
const GRACE: Duration = Duration::from_millis(1500);

/// What a worker is asked.
#[derive(Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Request<'a> {
    Reset,
    Limit { limits: Limits },
    Execute { sql: &'a str },
    Prepare { number: u64, sql: &'a str },
    Run { number: u64, values: Vec<serde_json::Value> },
    Close { number: u64 },
}

/// What a worker says.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    /// First of all: the engine's version.
    Ready(String),
    Rows(Rows),
    Done {
        changed: u64,
    },
    Failed(SqlError),
}

/// A database in a process of its own, which is started again when it is gone.
pub struct WorkerEngine {
    program: PathBuf,
    version: String,
    limits: Limits,
    state: State,
    last_prepared: u64,
}

enum State {
    Running(Pipe),
    /// It ended by itself: a crash. Until the next reset.
    Crashed(String),
    /// We ended it because a statement took too long.
    Ended,
}

impl WorkerEngine {
    pub fn start(program: &Path) -> Result<WorkerEngine, String> {
        let (pipe, version) = greet(program)?;
        let mut engine = WorkerEngine {
            program: program.to_path_buf(),
            version,
            limits: Limits::default(),
            state: State::Running(pipe),
            last_prepared: 0,
        };
        engine.reset().map_err(|Trouble(reason)| reason)?;
        Ok(engine)
    }

    fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, Trouble> {
        let pipe = match &mut self.state {
            State::Running(pipe) => pipe,
            State::Crashed(words) => return Ok(crashed(words)),
            State::Ended => return Ok(Reply::Failed(Prepared::lost())),
        };
        let line = serde_json::to_string(request).map_err(|error| Trouble(error.to_string()))?;
        match pipe.ask(&line, limit) {
            Ok(answer) => understood(&answer),
            Err(Lost::Late) => {
                self.state = State::Ended;
                let message = "it took too long".to_string();
                Ok(Reply::Failed(SqlError { class: ErrorClass::Limit, code: String::new(), message }))
            }
            Err(Lost::Memory(message)) => {
                self.state = State::Ended;
                Ok(Reply::Failed(SqlError { class: ErrorClass::Limit, code: String::new(), message }))
            }
            Err(Lost::Crashed(words)) => {
                let reply = crashed(&words);
                self.state = State::Crashed(words);
                Ok(reply)
            }
        }
    }

    fn statement(&mut self, request: &Request) -> Result<Reply, Trouble> {
        self.ask(request, Duration::from_millis(self.limits.millis) + GRACE)
    }

    /// What must succeed.
    fn command(&mut self, request: &Request) -> Result<(), Trouble> {
        match self.ask(request, START)? {
            Reply::Failed(error) => Err(Trouble(format!("the worker fails: {}", error.message))),
            _ => Ok(()),
        }
    }
}

fn greet(program: &Path) -> Result<(Pipe, String), String> {
    let mut command = Command::new(program);
    if package::is_script(program) {
        interpreter::put_first(interpreter::PYTHON, &mut command);
    }
    let mut pipe = Pipe::start(command).map_err(|error| error.to_string())?;
    let line = pipe.read(START).map_err(|lost| lost.to_string())?;
    match serde_json::from_str(&line) {
        Ok(Answer::Ready(version)) => Ok((pipe, version)),
        _ => Err("it does not speak the worker protocol".to_string()),
    }
}

fn understood(line: &str) -> Result<Reply, Trouble> {
    match serde_json::from_str(line) {
        Ok(Answer::Rows(rows)) => Ok(Reply::Rows(rows)),
        Ok(Answer::Done { changed }) => Ok(Reply::Done { changed }),
        Ok(Answer::Failed(error)) => Ok(Reply::Failed(error)),
        Ok(Answer::Ready(_)) => Err(Trouble("the worker sent its greeting twice".to_string())),
        Err(error) => Err(Trouble(format!("cannot read what the worker sent: {error}"))),
    }
}

/// A value as JSON. A float is text: not every reader of JSON reads all its digits.
fn sent(value: &Value) -> serde_json::Value {
    match value {
        Value::Real(number) => serde_json::json!({ "real": format!("{number:?}") }),
        value => serde_json::to_value(value).unwrap_or_default(),
    }
}

fn crashed(words: &str) -> Reply {
    let message = format!("the process ended: {words}");
    Reply::Failed(SqlError { class: ErrorClass::ConnectionLost, code: String::new(), message })
}

impl Engine for WorkerEngine {
    fn version(&self) -> &str {
        &self.version
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        if !matches!(self.state, State::Running(_)) {
            let (pipe, _) = greet(&self.program).map_err(Trouble)?;
            self.state = State::Running(pipe);
        }
        self.command(&Request::Limit { limits: self.limits })?;
        self.command(&Request::Reset)
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        self.statement(&Request::Execute { sql })
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        // A reset reports what may go wrong here.
        let _ = self.command(&Request::Limit { limits });
    }

    fn prepare(&mut self, sql: &str, _: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        self.last_prepared += 1;
        let number = self.last_prepared;
        Ok(match self.statement(&Request::Prepare { number, sql })? {
            Reply::Failed(error) => Err(error),
            _ => Ok(Prepared { number, sql: sql.to_string() }),
        })
    }

    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let values = values.iter().map(sent).collect();
        self.statement(&Request::Run { number: statement.number, values })
    }

    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        // If the worker is gone, so is the statement.
        self.statement(&Request::Close { number: statement.number }).map(drop)
    }
}
