//! ClickHouse: the engine inside libchdb, in this process.

mod api;
mod binary;
mod choice;
mod errors;
mod home;
mod types;

use std::collections::BTreeSet;
use std::path::Path;

use dissent_core::engine::{Engine, ErrorClass, Limits, Reply, SqlError, Trouble};
use dissent_core::sql::Value;

pub(crate) use choice::PRODUCT;

use crate::EngineError;
use api::{Api, Connection};
use binary::Unread;
use home::Home;

/// What makes ClickHouse answer as SQL does, where its own ways differ, and one thread at a time.
const SETTINGS: &[(&str, &str)] = &[
    ("max_threads", "1"),
    ("join_use_nulls", "1"),
    ("data_type_default_nullable", "1"),
    ("cast_keep_nullable", "1"),
    // Without it the smallest of no numbers is 0.
    ("aggregate_functions_null_for_empty", "1"),
    ("union_default_mode", "'DISTINCT'"),
    ("intersect_default_mode", "'DISTINCT'"),
    ("except_default_mode", "'DISTINCT'"),
    ("prefer_column_name_to_alias", "1"),
    ("default_table_engine", "'MergeTree'"),
    ("create_table_empty_primary_key_by_default", "1"),
    // A change is done when the statement that asked for it is.
    ("mutations_sync", "2"),
    ("session_timezone", "'UTC'"),
    ("result_overflow_mode", "'throw'"),
];

/// A database of an engine in this process.
pub struct ClickhouseEngine {
    /// Closed before its directory goes: fields are dropped in order.
    connection: Connection,
    _home: Home,
    version: String,
    limits: Limits,
    /// Databases made so far; the last one is in use.
    databases: usize,
    /// Settings that statements have changed since the last reset.
    changed: BTreeSet<String>,
}

impl ClickhouseEngine {
    pub fn load(path: &Path) -> Result<ClickhouseEngine, EngineError> {
        let api = Api::load(path)?;
        let what = format!("ClickHouse {}", api.version().unwrap_or_default()).trim_end().to_string();
        let refused = |reason: String| EngineError::NotStarted { what: what.clone(), reason };
        let home = Home::new().map_err(|error| refused(format!("no directory for its data: {error}")))?;
        let connection =
            api.connect(home.path()).ok_or_else(|| refused("it opens no connection".to_string()))?;
        let mut engine = ClickhouseEngine {
            connection,
            _home: home,
            version: String::new(),
            limits: Limits::default(),
            databases: 0,
            changed: BTreeSet::new(),
        };
        engine.start().map_err(|Trouble(reason)| refused(reason))?;
        Ok(engine)
    }

    fn start(&mut self) -> Result<(), Trouble> {
        match self.run("SELECT version()") {
            Ok(Reply::Rows(rows)) => match rows.single() {
                Some(Value::Text(version)) => self.version = version.clone(),
                _ => return Err(Trouble("it does not tell its version".to_string())),
            },
            Ok(_) => return Err(Trouble("it does not tell its version".to_string())),
            Err(error) => return Err(Trouble(error.message)),
        }
        self.reset()
    }

    /// A statement of our own, which must succeed.
    fn command(&self, sql: &str) -> Result<(), Trouble> {
        self.run(sql).map(drop).map_err(|error| Trouble(format!("{sql}: {}", error.message)))
    }

    fn apply_settings(&self) -> Result<(), Trouble> {
        let mut settings: Vec<(&str, String)> =
            SETTINGS.iter().map(|(name, value)| (*name, value.to_string())).collect();
        settings.push(("max_execution_time", format!("{:.3}", self.limits.millis as f64 / 1000.0)));
        settings.push(("max_memory_usage", self.limits.memory_bytes.to_string()));
        settings.push(("max_result_rows", self.limits.rows.to_string()));
        let list: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        self.command(&format!("SET {}", list.join(", ")))
    }

    fn run(&self, sql: &str) -> Result<Reply, SqlError> {
        let bytes = match self.connection.query(sql, binary::FORMAT) {
            Ok(bytes) => bytes,
            Err(message) => {
                // What a query wrote before it failed is otherwise returned by the next one.
                let _ = self.connection.query("SELECT 1", "Null");
                return Err(errors::error(message));
            }
        };
        if bytes.is_empty() {
            return Ok(Reply::Done { changed: 0 });
        }
        let strange = |class, message| Err(SqlError { class, code: String::new(), message });
        match binary::read(&bytes, self.limits.rows) {
            Ok(rows) => Ok(Reply::Rows(rows)),
            Err(Unread::TooLong) => {
                strange(ErrorClass::Limit, format!("more than {} rows", self.limits.rows))
            }
            Err(Unread::Strange(what)) => strange(ErrorClass::Semantic, format!("unreadable result: {what}")),
        }
    }
}

/// The name of the setting that a statement changes.
fn setting(sql: &str) -> Option<&str> {
    let (word, rest) = sql.trim_start().split_at_checked(4)?;
    if !word.eq_ignore_ascii_case("SET ") {
        return None;
    }
    Some(rest.split_once('=')?.0.trim())
}

impl Engine for ClickhouseEngine {
    fn version(&self) -> &str {
        &self.version
    }

    /// A new database, and the settings as they were: connecting anew takes half a second.
    fn reset(&mut self) -> Result<(), Trouble> {
        for name in std::mem::take(&mut self.changed) {
            self.command(&format!("SET {name} = DEFAULT"))?;
        }
        self.apply_settings()?;
        let (old, new) = (self.databases, self.databases + 1);
        self.command(&format!("CREATE DATABASE dissent_{new}"))?;
        self.command(&format!("USE dissent_{new}"))?;
        self.databases = new;
        if old > 0 {
            self.command(&format!("DROP DATABASE dissent_{old} SYNC"))?;
        }
        Ok(())
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        let reply = self.run(sql).unwrap_or_else(Reply::Failed);
        if let Some(name) = setting(sql)
            && !matches!(reply, Reply::Failed(_))
        {
            self.changed.insert(name.to_string());
        }
        Ok(reply)
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        // A reset reports what may go wrong here.
        let _ = self.apply_settings();
    }
}
