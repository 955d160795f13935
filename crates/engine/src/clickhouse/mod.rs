//! ClickHouse: the engine inside libchdb, in this process, or a running server.

mod api;
mod binary;
mod driver;
mod errors;
mod link;
mod remote;
mod types;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use dissent_core::engine::{Engine, ErrorClass, Limits, Prepared, Reply, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};

pub(crate) use driver::Clickhouse;

use crate::product::Product;
use crate::server::Home;
use crate::url::ServerUrl;
use crate::{EngineError, own};
use api::Api;
use binary::Unread;
use link::{Library, Link, Question};
use remote::Remote;

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

/// A database of an engine in this process or elsewhere.
pub struct ClickhouseEngine {
    link: Box<dyn Link>,
    version: String,
    limits: Limits,
    /// Those of [`SETTINGS`] that this version knows.
    settings: Vec<(&'static str, &'static str)>,
    /// What the names of our databases begin with, how many were made so far, and the one that is there.
    prefix: String,
    databases: usize,
    made: Option<String>,
    /// Settings that statements have changed since the last reset.
    changed: BTreeSet<String>,
    /// The connection is lost until the next reset.
    lost: bool,
    last_prepared: u64,
}

impl ClickhouseEngine {
    pub fn load(path: &Path) -> Result<ClickhouseEngine, EngineError> {
        let api = Api::load(path)?;
        let what = format!("ClickHouse {}", api.version().unwrap_or_default()).trim_end().to_string();
        let refused = |reason: String| EngineError::NotStarted { what: what.clone(), reason };
        let home = Home::on_disk("clickhouse")?;
        let data = home.path().join("data");
        let connection =
            api.connect(&data).ok_or_else(|| refused("it does not open a connection".to_string()))?;
        ClickhouseEngine::open(Box::new(Library { connection, _home: home }), None).map_err(refused)
    }

    /// A server by its address.
    pub fn connect(product: &Product, url: &ServerUrl) -> Result<ClickhouseEngine, EngineError> {
        let refused = |reason: String| EngineError::NotStarted { what: url.to_string(), reason };
        let link = Box::new(Remote::new(product, url));
        ClickhouseEngine::open(link, url.mark.as_deref()).map_err(refused)
    }

    fn open(link: Box<dyn Link>, mark: Option<&str>) -> Result<ClickhouseEngine, String> {
        let mut engine = ClickhouseEngine {
            link,
            version: String::new(),
            limits: Limits::default(),
            settings: SETTINGS.to_vec(),
            prefix: own::fresh_name(mark),
            databases: 0,
            made: None,
            changed: BTreeSet::new(),
            lost: false,
            last_prepared: 0,
        };
        engine.version =
            engine.single("SELECT version()").map_err(|reason| match reason.contains(binary::FORMAT) {
                true => format!("it is too old: it does not know the format {}", binary::FORMAT),
                false => reason,
            })?;
        let list: Vec<String> = SETTINGS.iter().map(|(name, _)| format!("'{name}'")).collect();
        let known = engine.single(&format!(
            "SELECT arrayStringConcat(groupArray(name), ' ') FROM system.settings WHERE name IN ({})",
            list.join(", ")
        ))?;
        engine.settings.retain(|(name, _)| known.split(' ').any(|word| word == *name));
        engine.reset().map_err(|Trouble(reason)| reason)?;
        Ok(engine)
    }

    fn single(&mut self, sql: &str) -> Result<String, String> {
        match self.run(sql, &[]) {
            Ok(Reply::Rows(rows)) => match rows.single() {
                Some(Value::Text(text)) => Ok(text.clone()),
                _ => Err(format!("it does not answer {sql}")),
            },
            Ok(_) => Err(format!("it does not answer {sql}")),
            Err(error) => Err(error.message),
        }
    }

    /// A statement of our own, which must succeed.
    fn command(&mut self, sql: &str) -> Result<(), Trouble> {
        self.run(sql, &[]).map(drop).map_err(|error| Trouble(format!("{sql}: {}", error.message)))
    }

    fn apply_settings(&mut self) -> Result<(), Trouble> {
        let mut settings: Vec<(&str, String)> =
            self.settings.iter().map(|(name, value)| (*name, value.to_string())).collect();
        settings.push(("max_execution_time", format!("{:.3}", self.limits.millis as f64 / 1000.0)));
        settings.push(("max_memory_usage", self.limits.memory_bytes.to_string()));
        settings.push(("max_result_rows", self.limits.rows.to_string()));
        let list: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        self.command(&format!("SET {}", list.join(", ")))
    }

    fn run(&mut self, sql: &str, parameters: &[String]) -> Result<Reply, SqlError> {
        let limit = Duration::from_millis(self.limits.millis);
        let answer = self.link.query(&Question { sql, format: binary::FORMAT, parameters, limit });
        if let Err(error) = &answer {
            self.lost |= error.class == ErrorClass::ConnectionLost;
        }
        let bytes = answer?;
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

    /// Drops a database that we made.
    fn drop_database(&mut self, database: &str) -> Result<(), Trouble> {
        // Without the word, later versions drop it some minutes later; earlier ones do not know it.
        let at_once = self.command(&format!("DROP DATABASE IF EXISTS {database} SYNC"));
        at_once.or_else(|_| self.command(&format!("DROP DATABASE IF EXISTS {database}")))
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

    /// A new database, with the old settings: reconnecting takes half a second.
    fn reset(&mut self) -> Result<(), Trouble> {
        if std::mem::take(&mut self.lost) {
            self.link.renew().map_err(|reason| Trouble(format!("ClickHouse is gone: {reason}")))?;
            self.changed.clear();
        }
        for name in std::mem::take(&mut self.changed) {
            self.command(&format!("SET {name} = DEFAULT"))?;
        }
        self.apply_settings()?;
        let old = self.made.take();
        self.databases += 1;
        let new = format!("{}_{}", self.prefix, self.databases);
        self.command(&format!("CREATE DATABASE {new}"))?;
        self.made = Some(new.clone());
        self.command(&format!("USE {new}"))?;
        // Not while it is in use: some versions would wait forever.
        old.map_or(Ok(()), |old| self.drop_database(&old))
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        let reply = self.run(sql, &[]).unwrap_or_else(Reply::Failed);
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

    /// ClickHouse keeps no statements: a query with parameters is sent as it is, and its values next to it.
    fn prepare(&mut self, sql: &str, _: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        self.last_prepared += 1;
        Ok(Ok(Prepared { number: self.last_prepared, sql: sql.to_string() }))
    }

    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let parameters: Vec<String> = values.iter().map(link::parameter).collect();
        Ok(self.run(&statement.sql, &parameters).unwrap_or_else(Reply::Failed))
    }

    fn close_prepared(&mut self, _: Prepared) -> Result<(), Trouble> {
        Ok(())
    }
}

/// On a server that goes on without us, what we made is removed.
impl Drop for ClickhouseEngine {
    fn drop(&mut self) {
        if let (true, Some(database)) = (self.link.is_shared(), self.made.take()) {
            let _ = self.drop_database(&database);
        }
    }
}
