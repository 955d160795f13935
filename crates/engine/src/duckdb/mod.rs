//! DuckDB: any shared library that exports its C interface.

mod api;
mod cells;
mod driver;
mod early;
mod errors;
mod prepared;
mod stub;
#[cfg(test)]
mod tests;
mod types;
mod vector;
mod watchdog;

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CString, c_int};
use std::path::Path;
use std::time::Duration;

use dissent_core::engine::{Engine, ErrorClass, Limits, Prepared, Reply, Rows, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};

pub(crate) use driver::Duckdb;

use crate::server::Home;
use crate::{EngineError, settings};
use api::{Api, Chunks, Handle, RawResult, Results, null};
use types::{Numbering, Type};
use vector::Vector;
use watchdog::Watchdog;

/// Databases attached one after the other before everything is opened again: whatever they leave behind is
/// then forgotten.
const MOST_ATTACHED: usize = 500;

/// What it is opened with: `RESET` would give these the defaults of DuckDB.
const OWN_SETTINGS: [&str; 4] = ["threads", "memory_limit", "temp_directory", "max_temp_directory_size"];

/// The wall: with these off, no statement reaches files, the network or code, and none can set the first to true again.
const WALL: [&str; 4] = [
    "enable_external_access",
    "autoinstall_known_extensions",
    "autoload_known_extensions",
    "allow_community_extensions",
];

/// What queries may write to their temporary directory, in bytes.
const ROOM: u64 = 1 << 30;

/// A database in memory, run by one thread.
pub struct DuckdbEngine {
    api: &'static Api,
    version: String,
    numbering: Numbering,
    database: Handle,
    connection: Handle,
    /// Where queries put what does not fit into memory.
    home: Home,
    limits: Limits,
    watchdog: Option<Watchdog>,
    /// Databases attached since the whole was opened; the last one is in use.
    attached: usize,
    can_attach: bool,
    /// A statement ran that may have changed more than the database in use and single settings.
    altered: bool,
    /// Settings that statements changed since the last reset.
    changed: BTreeSet<String>,
    /// By number; destroyed before the connection goes.
    prepared: HashMap<u64, prepared::Statement>,
    last_prepared: u64,
}

impl DuckdbEngine {
    /// `release`: the version that it was installed as, which early ones cannot tell.
    pub fn load(path: &Path, release: Option<&str>) -> Result<DuckdbEngine, EngineError> {
        DuckdbEngine::new(Api::load(path)?, release)
    }

    fn new(api: &'static Api, release: Option<&str>) -> Result<DuckdbEngine, EngineError> {
        let mut engine = DuckdbEngine {
            api,
            version: api.version().unwrap_or_default(),
            numbering: Numbering::default(),
            database: null(),
            connection: null(),
            home: Home::create("duckdb", ROOM)?,
            limits: Limits::default(),
            watchdog: api.interrupt.map(Watchdog::new),
            attached: 0,
            can_attach: true,
            altered: false,
            changed: BTreeSet::new(),
            prepared: HashMap::new(),
            last_prepared: 0,
        };
        engine.start(release).map_err(|Trouble(reason)| {
            let what = format!("DuckDB {}", engine.version);
            EngineError::NotStarted { what: what.trim_end().to_string(), reason }
        })?;
        Ok(engine)
    }

    /// Opens it for the first time and finds out what it is.
    fn start(&mut self, release: Option<&str>) -> Result<(), Trouble> {
        self.reopen()?;
        match &self.api.results {
            Results::Early(early) => self.numbering = self.early_numbering(early),
            Results::Cells(..) => {}
            Results::Chunks(..) => {
                self.varchar_number().into_iter().for_each(|id| self.numbering = Numbering::with_varchar(id))
            }
        }
        if self.version.is_empty() {
            let told = match self.run("SELECT library_version FROM pragma_version()") {
                Reply::Rows(rows) => match rows.single() {
                    Some(Value::Text(version)) => version.trim_start_matches('v').to_string(),
                    _ => String::new(),
                },
                _ => String::new(),
            };
            // What early ones tell is no version.
            let telling = told.starts_with(|first: char| first.is_ascii_digit()).then_some(told);
            let known = telling.or(release.map(str::to_string));
            self.version = known.ok_or_else(|| Trouble("it does not report its version".to_string()))?;
        }
        self.can_attach = self.attach();
        Ok(())
    }

    fn varchar_number(&mut self) -> Option<u32> {
        let mut result = self.query("SELECT 'a'").ok()?;
        let chunks = self.api.chunks()?;
        // SAFETY: a result of one column; its type is asked for its number and destroyed.
        unsafe {
            let mut ty = (chunks.duckdb_column_logical_type)(&mut result.raw, 0);
            let id = (chunks.duckdb_get_type_id)(ty);
            (chunks.duckdb_destroy_logical_type)(&mut ty);
            Some(id)
        }
    }

    fn close(&mut self) {
        self.prepared.clear();
        // SAFETY: DuckDB ignores what is null, and sets what it closes to null; no result is alive.
        unsafe {
            (self.api.common.duckdb_disconnect)(&mut self.connection);
            (self.api.common.duckdb_close)(&mut self.database);
        }
        self.connection = null();
        self.database = null();
    }

    fn reopen(&mut self) -> Result<(), Trouble> {
        self.close();
        let settings = [("threads", "1".to_string()), ("memory_limit", self.memory_limit())];
        let (database, connection) =
            self.api.open(&settings).map_err(|error| Trouble(format!("cannot open a database: {error}")))?;
        (self.database, self.connection) = (database, connection);
        self.raise_wall();
        (self.attached, self.altered) = (0, false);
        self.changed.clear();
        Ok(())
    }

    /// Not by the configuration that it is opened with: old versions crash if that has a setting they do not know, but
    /// only refuse the statement.
    fn raise_wall(&self) {
        let spills = self.home.path().join("spills").display().to_string().replace('\'', "''");
        // The directory cannot be chosen behind the wall.
        self.run(&format!("SET temp_directory = '{spills}'"));
        self.run(&format!("SET max_temp_directory_size = '{}MB'", ROOM >> 20));
        for name in WALL {
            self.run(&format!("SET {name} = false"));
        }
    }

    fn memory_limit(&self) -> String {
        format!("{}MB", (self.limits.memory_bytes >> 20).max(1))
    }

    /// A fresh connection to a fresh database, which replaces the old one, with the settings as they were: about twenty
    /// times faster than opening again. Versions before 0.7 cannot do this.
    fn attach(&mut self) -> bool {
        self.prepared.clear();
        let before = self.attached;
        let next = before + 1;
        let mut connection = null();
        // SAFETY: the database is open; the old connection has no result alive.
        unsafe {
            if (self.api.common.duckdb_connect)(self.database, &mut connection) != 0 {
                return false;
            }
            (self.api.common.duckdb_disconnect)(&mut self.connection);
        }
        self.connection = connection;
        // A setting of the connection is gone with it; one of the whole is not.
        let changed = std::mem::take(&mut self.changed);
        let done = |sql: String| !matches!(self.run(&sql), Reply::Failed(_));
        let fresh = changed.iter().all(|name| done(format!("RESET {name}")));
        let fresh = fresh
            && done(format!("ATTACH ':memory:' AS dissent_{next}"))
            && done(format!("USE dissent_{next}"));
        let fresh = fresh && (before == 0 || done(format!("DETACH dissent_{before}")));
        self.attached = next;
        fresh
    }

    fn query(&self, sql: &str) -> Result<QueryResult, SqlError> {
        let Ok(text) = CString::new(sql) else {
            let message = "a statement cannot contain NUL".to_string();
            return Err(SqlError { class: ErrorClass::Syntax, code: String::new(), message });
        };
        self.answer(|connection, result| {
            // SAFETY: the connection is open, the text a C string; the result is destroyed when dropped,
            // whatever the query came to.
            unsafe { (self.api.common.duckdb_query)(connection, text.as_ptr(), result) }
        })
    }

    /// Runs something of this connection for as long as a statement may take; also says whether it was
    /// interrupted.
    fn watched<T>(&self, run: impl FnOnce(Handle) -> T) -> (T, bool) {
        if let Some(watchdog) = &self.watchdog {
            watchdog.start(self.connection, Duration::from_millis(self.limits.millis));
        }
        let returned = run(self.connection);
        (returned, self.watchdog.as_ref().is_some_and(Watchdog::stop))
    }

    /// Has a result filled, or tells the error that is in it instead.
    fn answer(&self, fill: impl FnOnce(Handle, &mut RawResult) -> c_int) -> Result<QueryResult, SqlError> {
        let mut result = QueryResult { api: self.api, raw: RawResult::default() };
        let (code, interrupted) = self.watched(|connection| fill(connection, &mut result.raw));
        if code == 0 {
            return Ok(result);
        }
        // SAFETY: the result of a failed query tells its error, which lives as long as the result.
        let (message, number) = unsafe {
            let message = self.api.error(&mut result.raw).unwrap_or("it printed nothing".to_string());
            (message, self.api.error_type.map_or(0, |error_type| error_type(&mut result.raw)))
        };
        let mut error = errors::error(number, message);
        if interrupted && !error.class.is_harm() {
            error.class = ErrorClass::Limit;
        }
        Err(error)
    }

    fn run(&self, sql: &str) -> Reply {
        let result = self.refuse_several(sql).and_then(|()| self.query(sql));
        match result.and_then(|mut result| self.read(sql, &mut result)) {
            Ok(reply) => reply,
            Err(error) => Reply::Failed(error),
        }
    }

    /// DuckDB would run them all and answer the last.
    fn refuse_several(&self, sql: &str) -> Result<(), SqlError> {
        let (Some(extraction), true) =
            (&self.api.extraction, sql.trim_end_matches([';', ' ', '\n']).contains(';'))
        else {
            return Ok(());
        };
        let Ok(text) = CString::new(sql) else { return Ok(()) };
        let mut extracted = null();
        // SAFETY: the connection is open, the text a C string, and what was extracted destroyed.
        let count = unsafe {
            let count =
                (extraction.duckdb_extract_statements)(self.connection, text.as_ptr(), &mut extracted);
            (extraction.duckdb_destroy_extracted)(&mut extracted);
            count
        };
        if count <= 1 {
            return Ok(());
        }
        let message = "more than one statement".to_string();
        Err(SqlError { class: ErrorClass::Syntax, code: "Parser".to_string(), message })
    }

    fn read(&self, sql: &str, result: &mut QueryResult) -> Result<Reply, SqlError> {
        const CHANGED_ROWS: i32 = 1;
        const NOTHING: i32 = 2;
        let has_rows = match self.api.return_type {
            // SAFETY: the result of a query that succeeded.
            Some(return_type) => !matches!(unsafe { return_type(result.raw) }, CHANGED_ROWS | NOTHING),
            None => returns_rows(sql),
        };
        if !has_rows {
            // SAFETY: the result of a query that succeeded.
            let changed = unsafe { self.api.changed(&mut result.raw) };
            return Ok(Reply::Done { changed });
        }
        // SAFETY: as above.
        let columns = unsafe { self.api.columns(&mut result.raw) };
        let values = match &self.api.results {
            Results::Early(early) => early.read(self, &result.raw)?,
            Results::Cells(_, cells) => cells.read(self, &mut result.raw, columns)?,
            Results::Chunks(_, chunks) => self.read_chunks(chunks, result, columns)?,
        };
        Ok(Reply::Rows(Rows { columns, values }))
    }

    fn read_chunks(
        &self,
        chunks: &Chunks,
        result: &mut QueryResult,
        columns: usize,
    ) -> Result<Vec<Value>, SqlError> {
        // SAFETY: each column's type is a new one, destroyed by reading it.
        let types: Vec<Type> = (0..columns as u64)
            .map(|column| unsafe {
                let ty = (chunks.duckdb_column_logical_type)(&mut result.raw, column);
                self.numbering.read(self.api, ty)
            })
            .collect();
        let mut values = Vec::new();
        // SAFETY: the result is alive, and it is materialised: its chunks have numbers.
        for number in 0..unsafe { (chunks.duckdb_result_chunk_count)(result.raw) } {
            // SAFETY: as above.
            let handle = unsafe { (chunks.duckdb_result_get_chunk)(result.raw, number) };
            let chunk = Chunk { chunks, handle };
            if chunk.handle.is_null() {
                break;
            }
            // SAFETY: the chunk is alive until the end of this turn.
            let rows = unsafe { (chunks.duckdb_data_chunk_get_size)(chunk.handle) } as usize;
            self.check_rows(values.len() / columns.max(1) + rows)?;
            // SAFETY: as above, and so are its vectors; there is one for each column.
            let vectors: Vec<Vector> = (0..columns as u64)
                .map(|column| unsafe {
                    let vector = (chunks.duckdb_data_chunk_get_vector)(chunk.handle, column);
                    Vector::new(self.api, chunks, vector)
                })
                .collect();
            for row in 0..rows {
                for (vector, ty) in std::iter::zip(&vectors, &types) {
                    // SAFETY: the row is in the chunk, and the vector of its column's type.
                    values.push(unsafe { vector.value(ty, row) });
                }
            }
        }
        Ok(values)
    }

    /// Remembers whether the next reset has to be a thorough one.
    fn note(&mut self, sql: &str, reply: &Reply) {
        match settings::changed_by(sql) {
            Some(name) if !OWN_SETTINGS.iter().chain(&WALL).any(|own| own.eq_ignore_ascii_case(name)) => {
                self.changed.insert(name.to_string());
            }
            _ => self.altered |= !stays_inside(sql),
        }
        // After an internal error nothing answers any more.
        self.altered |= matches!(reply, Reply::Failed(error) if error.class.is_harm());
    }

    fn check_rows(&self, rows: usize) -> Result<(), SqlError> {
        if rows <= self.limits.rows {
            return Ok(());
        }
        let message = format!("more than {} rows", self.limits.rows);
        Err(SqlError { class: ErrorClass::Limit, code: String::new(), message })
    }
}

/// Where the library does not tell: by the statement's first word.
fn returns_rows(sql: &str) -> bool {
    matches!(
        first_word(sql).as_str(),
        "SELECT" | "WITH" | "VALUES" | "EXPLAIN" | "PRAGMA" | "SHOW" | "EXECUTE"
    )
}

/// Whether all that a statement changes is the database it runs in.
fn stays_inside(sql: &str) -> bool {
    let word = match first_word(sql).as_str() {
        // Other things that can be forced reach further: FORCE INSTALL.
        "FORCE" => first_word(&sql.trim_start()["FORCE".len()..]),
        word => word.to_string(),
    };
    matches!(
        word.as_str(),
        "SELECT"
            | "WITH"
            | "VALUES"
            | "EXPLAIN"
            | "CREATE"
            | "DROP"
            | "ALTER"
            | "INSERT"
            | "UPDATE"
            | "DELETE"
            | "MERGE"
            | "CHECKPOINT"
            | "ANALYZE"
            | "BEGIN"
            | "COMMIT"
            | "ROLLBACK"
            | "VACUUM"
            // They belong to the connection, which a reset replaces.
            | "PREPARE"
            | "EXECUTE"
            | "DEALLOCATE"
    )
}

fn first_word(sql: &str) -> String {
    let start = sql.trim_start_matches([' ', '(', '\n']);
    let end = start.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(start.len());
    start[..end].to_ascii_uppercase()
}

/// Destroyed when dropped.
struct QueryResult {
    api: &'static Api,
    raw: RawResult,
}

impl Drop for QueryResult {
    fn drop(&mut self) {
        // SAFETY: filled by a query or all zero, and destroyed only here.
        unsafe { (self.api.common.duckdb_destroy_result)(&mut self.raw) };
    }
}

/// Destroyed when dropped.
struct Chunk<'a> {
    chunks: &'a Chunks,
    handle: Handle,
}

impl Drop for Chunk<'_> {
    fn drop(&mut self) {
        // SAFETY: owned, and destroyed only here.
        unsafe { (self.chunks.duckdb_destroy_data_chunk)(&mut self.handle) };
    }
}

impl Engine for DuckdbEngine {
    fn version(&self) -> &str {
        &self.version
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        let quick =
            self.can_attach && !self.altered && self.attached < MOST_ATTACHED && !self.connection.is_null();
        if quick && self.attach() {
            return Ok(());
        }
        self.reopen()?;
        if self.can_attach && !self.attach() {
            return Err(Trouble("a new database cannot be attached".to_string()));
        }
        Ok(())
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        if self.connection.is_null() {
            return Err(Trouble("the DuckDB connection is closed: its last reset failed".to_string()));
        }
        let reply = self.run(sql);
        self.note(sql, &reply);
        Ok(reply)
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        // The next reset opens it with the new limit; for the time until then.
        self.altered = true;
        self.run(&format!("SET memory_limit = '{}'", self.memory_limit()));
    }

    fn prepare(&mut self, sql: &str, types: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        if self.connection.is_null() {
            return Err(Trouble("the DuckDB connection is closed: its last reset failed".to_string()));
        }
        let statement = match self.compile(sql, types) {
            Ok(statement) => statement,
            Err(error) => return Ok(Err(error)),
        };
        self.last_prepared += 1;
        self.prepared.insert(self.last_prepared, statement);
        Ok(Ok(Prepared { number: self.last_prepared, sql: sql.to_string() }))
    }

    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let reply = match self.prepared.get(&statement.number) {
            Some(compiled) => self.run_statement(statement, compiled, values),
            None => Reply::Failed(Prepared::lost()),
        };
        self.note(&statement.sql, &reply);
        Ok(reply)
    }

    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        self.prepared.remove(&statement.number);
        Ok(())
    }
}

impl Drop for DuckdbEngine {
    fn drop(&mut self) {
        self.close();
    }
}
