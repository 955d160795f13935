//! ClickHouse: the engine inside libchdb, in this process; inside its package for Python; or a running server.

mod api;
mod binary;
mod driver;
mod encrypted;
mod errors;
mod link;
mod piped;
mod remote;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use dissent_core::engine::{Engine, ErrorClass, Limits, Prepared, Reply, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};

pub(crate) use driver::Clickhouse;

use crate::product::Product;
use crate::server::Home;
use crate::url::ServerUrl;
use crate::{EngineError, own, settings};
use api::Api;
use binary::Unread;
use link::{Library, Link, Question};
use piped::Piped;
use remote::Remote;

/// Settings for speed, and for one thread at a time. Those that change results stand in the dialect (`session`).
const SETTINGS: &[(&str, &str)] = &[
    ("max_threads", "1"),
    // Handing a few rows to threads that write or read them takes as long as the query.
    ("output_format_parallel_formatting", "0"),
    ("input_format_parallel_parsing", "0"),
    ("result_overflow_mode", "'throw'"),
];

/// What the library itself is told. A mutation that cannot begin at once, because its part is being merged, would be looked
/// at again only after a second or so of sleep.
const PACE: &[&str] = &[
    "background_processing_pool_task_sleep_seconds_when_no_work_random_part=0",
    "background_processing_pool_thread_sleep_seconds_if_nothing_to_do=0.001",
];

/// What every session starts with: [`SETTINGS`], and those of the dialect, which are written `SET name = value`.
fn session_settings(product: &Product) -> Vec<(String, String)> {
    let written =
        product.descriptor.session.iter().filter_map(|set| set.strip_prefix("SET ")?.split_once(" = "));
    let all = SETTINGS.iter().copied().chain(written);
    all.map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

/// The settings that are not as ClickHouse has them by default, each on a line with its value.
const CHANGED: &str = "SELECT arrayStringConcat(groupArray(concat(name, '=', value)), '\\n') FROM system.settings WHERE \
                       changed";

/// What the library may come to need in its directory. It syncs what it writes for each CREATE and DROP.
const ROOM: u64 = 1 << 30;

/// A database of an engine in this process or elsewhere.
pub struct ClickhouseEngine {
    link: Box<dyn Link>,
    version: String,
    limits: Limits,
    /// What was changed before we came: by the library itself, or for the user of a server.
    initial: BTreeMap<String, String>,
    /// What every session starts with, as far as this version knows it.
    settings: Vec<(String, String)>,
    /// What the names of our databases contain, and the one that is there.
    mark: Option<String>,
    made: Option<String>,
    /// Settings that statements have changed since the last reset.
    changed: BTreeSet<String>,
    /// Others may have been changed too.
    changed_more: bool,
    /// The connection is lost until the next reset.
    lost: bool,
    last_prepared: u64,
}

impl ClickhouseEngine {
    pub fn load(product: &Product, path: &Path) -> Result<ClickhouseEngine, EngineError> {
        if piped::is_module(path) {
            let refused = |reason| EngineError::NotStarted { what: "ClickHouse".to_string(), reason };
            let link = Box::new(Piped::start(path)?);
            return ClickhouseEngine::open(product, link, None).map_err(refused);
        }
        let api = Api::load(path)?;
        let what = format!("ClickHouse {}", api.version().unwrap_or_default()).trim_end().to_string();
        let refused = |reason: String| EngineError::NotStarted { what: what.clone(), reason };
        let home = Home::create("clickhouse", ROOM)?;
        let data = home.path().join("data");
        let connection = api
            .connect(&data, PACE)
            .or_else(|| api.connect(&data, &[]))
            .ok_or_else(|| refused("it does not open a connection".to_string()))?;
        ClickhouseEngine::open(product, Box::new(Library { connection, _home: home }), None).map_err(refused)
    }

    /// A server by its address.
    pub fn connect(product: &Product, url: &ServerUrl) -> Result<ClickhouseEngine, EngineError> {
        let refused = |reason: String| EngineError::NotStarted { what: url.to_string(), reason };
        let link = Box::new(Remote::new(product, url).map_err(refused)?);
        ClickhouseEngine::open(product, link, url.mark.as_deref()).map_err(refused)
    }

    fn open(product: &Product, link: Box<dyn Link>, mark: Option<&str>) -> Result<ClickhouseEngine, String> {
        let mut engine = ClickhouseEngine {
            link,
            version: String::new(),
            limits: Limits::default(),
            initial: BTreeMap::new(),
            settings: session_settings(product),
            mark: mark.map(str::to_string),
            made: None,
            changed: BTreeSet::new(),
            changed_more: false,
            lost: false,
            last_prepared: 0,
        };
        engine.version =
            engine.single("SELECT version()").map_err(|reason| match reason.contains(binary::FORMAT) {
                true => format!("it is too old: it does not know the format {}", binary::FORMAT),
                false => reason,
            })?;
        let list: Vec<String> = engine.settings.iter().map(|(name, _)| format!("'{name}'")).collect();
        let known = engine.single(&format!(
            "SELECT arrayStringConcat(groupArray(name), ' ') FROM system.settings WHERE name IN ({})",
            list.join(", ")
        ))?;
        engine.settings.retain(|(name, _)| known.split(' ').any(|word| word == name));
        engine.initial = engine.changed_settings()?;
        engine.reset().map_err(|Trouble(reason)| reason)?;
        Ok(engine)
    }

    fn changed_settings(&mut self) -> Result<BTreeMap<String, String>, String> {
        let list = self.single(CHANGED)?;
        let pairs = list.lines().filter_map(|line| line.split_once('='));
        Ok(pairs.map(|(name, value)| (name.to_string(), value.to_string())).collect())
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
            self.settings.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
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

impl Engine for ClickhouseEngine {
    fn version(&self) -> &str {
        &self.version
    }

    /// A new database, with the old settings: reconnecting takes half a second.
    fn reset(&mut self) -> Result<(), Trouble> {
        if std::mem::take(&mut self.lost) {
            self.link.renew().map_err(|reason| Trouble(format!("ClickHouse is gone: {reason}")))?;
            (self.changed, self.changed_more) = (BTreeSet::new(), false);
        }
        if std::mem::take(&mut self.changed_more) {
            let more = self.changed_settings().map_err(Trouble)?;
            self.changed.extend(more.into_keys());
        }
        for name in std::mem::take(&mut self.changed) {
            let value = self.initial.get(&name).map(|value| format!("'{}'", link::quotable(value)));
            self.command(&format!("SET {name} = {}", value.as_deref().unwrap_or("DEFAULT")))?;
        }
        self.apply_settings()?;
        let old = self.made.take();
        let new = own::fresh_name(self.mark.as_deref());
        self.command(&format!("CREATE DATABASE {new}"))?;
        self.made = Some(new.clone());
        self.command(&format!("USE {new}"))?;
        // Not while it is in use: some versions would wait forever.
        old.map_or(Ok(()), |old| self.drop_database(&old))
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        let reply = self.run(sql, &[]).unwrap_or_else(Reply::Failed);
        match settings::changed_by(sql) {
            Some(name) if reply.failure().is_none() => drop(self.changed.insert(name.to_string())),
            None if settings::is_set(sql) => self.changed_more = true,
            _ => {}
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
