//! How statements reach ClickHouse and results come back: through the library in this process, or over HTTP.

use std::time::Duration;

use dissent_core::engine::{ErrorClass, SqlError};
use dissent_core::sql::Value;
use dissent_core::sql::value::hex;

use super::api::Connection;
use super::errors;
use crate::server::Home;

/// What an engine needs of the way to it.
pub trait Link {
    /// Runs a statement with values for its parameters; the answer is in the format asked for.
    fn query(&mut self, question: &Question) -> Result<Vec<u8>, SqlError>;

    /// A new connection after the last one was lost, or why there is none.
    fn renew(&mut self) -> Result<(), String>;

    /// Whether what is made there stays there without us.
    fn is_shared(&self) -> bool;
}

pub struct Question<'a> {
    pub sql: &'a str,
    pub format: &'a str,
    /// The parameters `p1`, `p2` and so on, as ClickHouse reads them.
    pub parameters: &'a [String],
    /// What the engine has been given for the statement; beyond it something is wrong.
    pub limit: Duration,
}

/// The library in this process.
pub struct Library {
    /// Closed before its directory goes: fields are dropped in order.
    pub connection: Connection,
    pub _home: Home,
}

impl Link for Library {
    fn query(&mut self, question: &Question) -> Result<Vec<u8>, SqlError> {
        in_session(question, |sql, format| self.connection.query(sql, format).map_err(errors::error))
    }

    /// It is gone only with our process.
    fn renew(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn is_shared(&self) -> bool {
        false
    }
}

/// Asks a library, which keeps the values of parameters in its session.
pub fn in_session(
    question: &Question,
    mut ask: impl FnMut(&str, &str) -> Result<Vec<u8>, SqlError>,
) -> Result<Vec<u8>, SqlError> {
    for (at, value) in question.parameters.iter().enumerate() {
        ask(&format!("SET param_p{} = '{}'", at + 1, quotable(value)), "Null")?;
    }
    ask(question.sql, question.format).inspect_err(|_| {
        // What a query wrote before it failed is otherwise returned by the next one.
        let _ = ask("SELECT 1", "Null");
    })
}

/// A text between quotes.
pub fn quotable(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}

/// A value as ClickHouse reads those of parameters: the text of a cell in a file of columns separated by tabs.
pub fn parameter(value: &Value) -> String {
    match value {
        Value::Null => "\\N".to_string(),
        Value::Real(real) if real.is_nan() => "nan".to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Bool(_) | Value::Int(_) | Value::Decimal(_) => value.to_string(),
        Value::Text(text) | Value::Other { text, .. } => escaped(text),
        Value::Blob(bytes) => {
            let digits = hex(bytes);
            (0..digits.len()).step_by(2).map(|at| format!("\\x{}", &digits[at..at + 2])).collect()
        }
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            other => out.push(other),
        }
    }
    out
}

/// The way to the engine is gone.
pub fn lost(message: String) -> SqlError {
    SqlError { class: ErrorClass::ConnectionLost, code: "server-gone".to_string(), message }
}

/// The engine did not keep its time limit.
pub fn hang(limit: Duration) -> SqlError {
    let message = format!("the statement ran for {} s, beyond its time limit", limit.as_secs());
    SqlError { code: "hang".to_string(), ..lost(message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_parameter_ends_it() {
        assert_eq!(parameter(&Value::Null), "\\N");
        assert_eq!(parameter(&Value::Text("a\tb\\N\n".to_string())), "a\\tb\\\\N\\n");
        assert_eq!(parameter(&Value::Blob(vec![0, 255])), "\\x00\\xff");
        assert_eq!(parameter(&Value::Real(f64::NEG_INFINITY)), "-inf");
    }
}
