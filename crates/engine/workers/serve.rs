//! What every worker has in common: Dissent's requests, one JSON document on a line each, and an answer to each.
//! Values and errors are spelled as Dissent spells them in its own files.

use std::io::{self, BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use serde_json::{json, Value as Json};

/// One database, which is asked one thing after the other.
pub trait Database {
    /// An empty database with default settings.
    fn reset(&mut self) -> Result<(), Failure>;
    /// The limits for all statements from now on, through resets too.
    fn set_limits(&mut self, limits: Limits);
    /// Runs a statement to its end.
    fn execute(&mut self, sql: &str) -> Result<Reply, Failure>;
    /// Prepares a statement, to be known by this number until it is closed or the database is reset.
    fn prepare(&mut self, number: u64, sql: &str) -> Result<(), Failure>;
    /// Runs a prepared statement with a value for each parameter.
    fn run(&mut self, number: u64, values: &[Json]) -> Result<Reply, Failure>;
    fn close(&mut self, number: u64);
}

#[derive(Clone, Copy)]
pub struct Limits {
    pub millis: u64,
    pub memory_bytes: u64,
    pub rows: usize,
}

pub enum Reply {
    Rows { columns: usize, values: Vec<Json> },
    Done { changed: u64 },
}

/// An error of the engine.
pub struct Failure {
    pub class: Class,
    pub message: String,
}

#[derive(Clone, Copy)]
#[allow(dead_code)] // Each worker has a part of these.
pub enum Class {
    Syntax,
    Semantic,
    Constraint,
    Runtime,
    Limit,
    Internal,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Syntax => "syntax",
            Class::Semantic => "semantic",
            Class::Constraint => "constraint",
            Class::Runtime => "runtime",
            Class::Limit => "limit",
            Class::Internal => "internal",
        }
    }
}

pub fn failure(class: Class, message: impl ToString) -> Failure {
    Failure { class, message: message.to_string() }
}

/// A statement of that number was never prepared, or is closed.
pub fn unknown(number: u64) -> Failure {
    failure(Class::Semantic, format!("there is no prepared statement {number}"))
}

pub fn too_many_rows(limits: Limits) -> Failure {
    failure(Class::Limit, format!("more than {} rows", limits.rows))
}

/// A floating-point number: JSON has no NaN and no infinities.
pub fn real(number: f64) -> Json {
    if number.is_finite() {
        json!({ "real": number })
    } else {
        json!({ "real": number.to_string() })
    }
}

pub fn blob(bytes: &[u8]) -> Json {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "blob": digits })
}

pub fn unhex(digits: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).filter_map(byte).collect()
}

/// Where the last panic was, and what it said.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// A statement that panicked.
pub fn panicked() -> Failure {
    failure(Class::Internal, PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// A file's path from the name of its crate on: what is before that is only this machine's.
fn in_crate(path: &str) -> &str {
    path.split_once("/registry/src/")
        .and_then(|(_, rest)| rest.split_once('/'))
        .map_or(path, |(_, rest)| rest)
}

/// Greets with the engine's version, then answers until the input ends.
pub fn serve(version: &str, database: &mut dyn Database) {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" at {}:{}", in_crate(place.file()), place.line()));
        let words = panic.payload();
        let words = words.downcast_ref::<&str>().map(|words| words.to_string());
        let words = words.or_else(|| panic.payload().downcast_ref::<String>().cloned()).unwrap_or_default();
        let told = format!("panic{}: {words}", place.unwrap_or_default());
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }));
    let mut out = io::stdout().lock();
    let mut say = |answer: Json| writeln!(out, "{answer}").and_then(|()| out.flush());
    if say(json!({ "ready": version })).is_err() {
        return;
    }
    for line in io::stdin().lock().lines() {
        let Ok(request) = line.map_err(drop).and_then(|line| serde_json::from_str(&line).map_err(drop))
        else {
            return;
        };
        let answer = catch_unwind(AssertUnwindSafe(|| answer(&request, database)));
        let told = match answer.unwrap_or_else(|_| Err(panicked())) {
            Ok(Reply::Rows { columns, values }) => {
                json!({ "rows": { "columns": columns, "values": values } })
            }
            Ok(Reply::Done { changed }) => json!({ "done": { "changed": changed } }),
            Err(Failure { class, message }) => {
                json!({ "failed": { "class": class.name(), "code": "", "message": message } })
            }
        };
        if say(told).is_err() {
            return;
        }
    }
}

fn answer(request: &Json, database: &mut dyn Database) -> Result<Reply, Failure> {
    let done = Reply::Done { changed: 0 };
    let text = |name: &str| request[name].as_str().unwrap_or_default();
    let number = request["number"].as_u64().unwrap_or_default();
    match text("do") {
        "reset" => database.reset().map(|()| done),
        "limit" => {
            let field = |name: &str| request["limits"][name].as_u64().unwrap_or(u64::MAX);
            database.set_limits(Limits {
                millis: field("millis"),
                memory_bytes: field("memory_bytes"),
                rows: field("rows") as usize,
            });
            Ok(done)
        }
        "execute" => database.execute(text("sql")),
        "prepare" => database.prepare(number, text("sql")).map(|()| done),
        "run" => database.run(number, request["values"].as_array().map_or(&[], Vec::as_slice)),
        "close" => {
            database.close(number);
            Ok(done)
        }
        other => Err(failure(Class::Internal, format!("the worker cannot '{other}'"))),
    }
}
