//! Turso behind Dissent's pipe: a database in memory.

mod serve;

use std::collections::HashMap;

use serde_json::{json, Value as Json};
use tokio::runtime::Runtime;
use turso::{Builder, Connection, Database as Handle, Error, Statement, Value};

use serve::{blob, failure, real, too_many_rows, unhex, unknown, Class, Database, Failure, Limits, Reply};

/// The crate does not tell; the package asks for this one and no other.
const VERSION: &str = "{version}";

struct Turso {
    runtime: Runtime,
    /// A connection lives as long as its database.
    open: Option<(Connection, Handle)>,
    limits: Limits,
    prepared: HashMap<u64, Statement>,
}

impl Database for Turso {
    fn reset(&mut self) -> Result<(), Failure> {
        self.prepared.clear();
        self.open = None;
        let database = self.runtime.block_on(Builder::new_local(":memory:").build()).map_err(told)?;
        let connection = database.connect().map_err(told)?;
        self.open = Some((connection, database));
        Ok(())
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Failure> {
        let mut statement = self.statement(sql)?;
        self.answer(&mut statement, Vec::new())
    }

    fn prepare(&mut self, number: u64, sql: &str) -> Result<(), Failure> {
        let statement = self.statement(sql)?;
        self.prepared.insert(number, statement);
        Ok(())
    }

    fn run(&mut self, number: u64, values: &[Json]) -> Result<Reply, Failure> {
        let mut statement = self.prepared.get(&number).ok_or_else(|| unknown(number))?.clone();
        self.answer(&mut statement, values.iter().map(parameter).collect())
    }

    fn close(&mut self, number: u64) {
        self.prepared.remove(&number);
    }
}

impl Turso {
    fn statement(&self, sql: &str) -> Result<Statement, Failure> {
        let (connection, _) = self.open.as_ref().ok_or_else(|| failure(Class::Internal, "no database"))?;
        self.runtime.block_on(connection.prepare(sql)).map_err(|error| match error {
            // All it says before a row is read is about the statement.
            Error::Error(message) if is_syntax(&message) => failure(Class::Syntax, message),
            Error::Error(message) => failure(Class::Semantic, message),
            error => told(error),
        })
    }

    fn answer(&self, statement: &mut Statement, values: Vec<Value>) -> Result<Reply, Failure> {
        let columns = statement.column_count();
        self.runtime.block_on(async {
            let mut rows = statement.query(values).await.map_err(told)?;
            let mut cells = Vec::new();
            while let Some(row) = rows.next().await.map_err(told)? {
                if columns > 0 && cells.len() / columns >= self.limits.rows {
                    return Err(too_many_rows(self.limits));
                }
                for at in 0..columns {
                    cells.push(cell(row.get_value(at).map_err(told)?));
                }
            }
            drop(rows);
            Ok(match columns {
                0 => Reply::Done { changed: statement.n_change() },
                columns => Reply::Rows { columns, values: cells },
            })
        })
    }
}

fn cell(value: Value) -> Json {
    match value {
        Value::Null => json!("null"),
        Value::Integer(number) => json!({ "int": number }),
        Value::Real(number) => real(number),
        Value::Text(text) => json!({ "text": text }),
        Value::Blob(bytes) => blob(&bytes),
    }
}

fn parameter(value: &Json) -> Value {
    if let Some(truth) = value["bool"].as_bool() {
        Value::Integer(truth.into())
    } else if let Some(number) = value["int"].as_i64() {
        Value::Integer(number)
    } else if let Some(number) = value["real"].as_str().and_then(|digits| digits.parse().ok()) {
        Value::Real(number)
    } else if let Some(digits) = value["blob"].as_str() {
        Value::Blob(unhex(digits))
    } else if let Some(text) = value["text"].as_str() {
        Value::Text(text.to_string())
    } else {
        Value::Null
    }
}

fn is_syntax(message: &str) -> bool {
    ["syntax error", "unexpected token", "Parse error: near", "unrecognized token"]
        .iter()
        .any(|words| message.contains(words))
}

fn told(error: Error) -> Failure {
    let class = match &error {
        Error::Constraint(_) => Class::Constraint,
        Error::Interrupt(_) | Error::Busy(_) | Error::BusySnapshot(_) | Error::DatabaseFull(_) => {
            Class::Limit
        }
        Error::Corrupt(_) | Error::NotAdb(_) => Class::Internal,
        Error::Misuse(_) => Class::Semantic,
        Error::Error(message) if message.contains("nternal error") => Class::Internal,
        _ => Class::Runtime,
    };
    failure(class, error)
}

fn main() {
    let limits = Limits { millis: 5_000, memory_bytes: 256 << 20, rows: 20_000 };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
        return eprintln!("Turso does not start");
    };
    let mut database = Turso { runtime, open: None, limits, prepared: HashMap::new() };
    serve::serve(VERSION, &mut database);
}
