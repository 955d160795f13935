//! SQLite: the bundled copy, or any shared library of it.

pub(crate) mod api;
mod build;
mod codes;
mod coverage;
mod driver;
mod meter;
mod saved;
mod statement;
mod switch;
#[cfg(test)]
mod tests;
mod turn;
mod wall;

use std::collections::HashMap;
use std::ffi::{CStr, c_int};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::rc::Rc;

use dissent_core::engine::{Engine, ErrorClass, Limits, Prepared, Reply, Rows, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};

use crate::EngineError;
pub(crate) use driver::Sqlite;

use api::{Api, sqlite3, sqlite3_stmt};
use codes::Stage;
use coverage::Counters;
use meter::{Meter, Over};
use statement::{OutOfMemory, Statement};
use turn::Turn;

const OPEN_READWRITE_CREATE: c_int = 0x2 | 0x4;
const LIMIT_LENGTH: c_int = 0;
const DBCONFIG_LOOKASIDE: c_int = 1001;
const DBCONFIG_ENABLE_FKEY: c_int = 1002;

/// The longest string, blob or row: several pages. The default, a gigabyte, would let `zeroblob` and `replace` eat the
/// machine long before they fail; and a hunt that learns comes back to what spills into files, a hundred times slower.
const LONGEST_VALUE: c_int = 30_000;

/// The version inside this program.
pub fn bundled() -> &'static str {
    libsqlite3_sys::SQLITE_VERSION.to_str().unwrap_or("unknown")
}

/// The small blocks that a connection keeps for itself: their size, which is SQLite's own, and their number, which is many
/// times its own. Preparing a statement takes more of them than SQLite has by default, and the others come from the C
/// library, which costs a hunt a fifteenth of its time.
const LOOKASIDE: (c_int, c_int) = (1200, 500);

/// A database in memory.
///
/// While a thread has one open, other threads that open one wait: SQLite runs without mutexes here.
pub struct SqliteEngine {
    api: &'static Api,
    is_bundled: bool,
    version: String,
    db: *mut sqlite3,
    limits: Limits,
    /// SQLite's progress handler points at it: neither moved nor freed while `db` is open.
    meter: Rc<Meter>,
    /// The current statement with a NUL behind it, which spares SQLite a copy.
    text: Vec<u8>,
    /// By number; `None` is a text without a statement. Finalised before `db` is closed.
    prepared: HashMap<u64, Option<Statement>>,
    last_prepared: u64,
    /// Of an instrumented library.
    counters: Option<Counters>,
    _turn: Turn,
}

impl SqliteEngine {
    /// The copy inside this program.
    pub fn bundled() -> Result<SqliteEngine, EngineError> {
        let turn = Turn::take();
        SqliteEngine::new(Api::bundled(), true, turn)
    }

    /// A `libsqlite3.so`.
    pub fn load(path: &Path) -> Result<SqliteEngine, EngineError> {
        let turn = Turn::take();
        SqliteEngine::new(Api::load(path)?, false, turn)
    }

    fn new(api: &'static Api, is_bundled: bool, turn: Turn) -> Result<SqliteEngine, EngineError> {
        let mut engine = SqliteEngine {
            api,
            is_bundled,
            version: api.version(),
            db: ptr::null_mut(),
            limits: Limits::default(),
            meter: Rc::default(),
            text: Vec::new(),
            prepared: HashMap::new(),
            last_prepared: 0,
            counters: Counters::of(api),
            _turn: turn,
        };
        engine.meter.set(&engine.limits);
        match engine.reset() {
            Ok(()) => Ok(engine),
            Err(Trouble(reason)) => {
                Err(EngineError::NotStarted { what: format!("SQLite {}", engine.version), reason })
            }
        }
    }

    fn close(&mut self) {
        self.prepared.clear();
        if !self.db.is_null() {
            // SAFETY: open, and closed only here; every statement has been finalised.
            unsafe { (self.api.sqlite3_close)(self.db) };
            self.db = ptr::null_mut();
        }
    }

    fn open(&mut self) -> Result<(), Trouble> {
        let api = self.api;
        // A pragma may have changed the limit, and it outlives connections.
        api.limit_memory(self.limits.memory_bytes);
        // SAFETY: `:memory:` is a C string; SQLite writes a handle to `db` even when it fails, so
        // that the error can be read and the handle closed.
        let code = unsafe {
            (api.sqlite3_open_v2)(c":memory:".as_ptr(), &mut self.db, OPEN_READWRITE_CREATE, ptr::null())
        };
        if code != codes::OK || self.db.is_null() {
            let reason = if self.db.is_null() { "no memory".to_string() } else { self.message() };
            self.close();
            return Err(Trouble(format!("cannot open an in-memory database: {reason}")));
        }
        // SAFETY: the connection is open; the meter lives as long as `self`, which closes it first.
        unsafe {
            (api.sqlite3_extended_result_codes)(self.db, 1);
            (api.sqlite3_limit)(self.db, LIMIT_LENGTH, LONGEST_VALUE);
            // Refused without harm where a library was built without them.
            let (size, number) = LOOKASIDE;
            (api.sqlite3_db_config)(self.db, DBCONFIG_LOOKASIDE, ptr::null_mut::<u8>(), size, number);
            (api.sqlite3_progress_handler)(
                self.db,
                meter::EVERY,
                Some(meter::tick),
                Rc::as_ptr(&self.meter).cast_mut().cast(),
            );
            if self.is_bundled {
                // The package that carries it turns foreign keys on; SQLite itself has them off.
                let previous: *mut c_int = ptr::null_mut();
                (api.sqlite3_db_config)(self.db, DBCONFIG_ENABLE_FKEY, 0 as c_int, previous);
            }
        }
        Ok(())
    }

    fn switch_off(&self, mask: u32) -> Reply {
        // SAFETY: the connection is open.
        if unsafe { switch::switch_off(self.api, self.db, mask) } {
            return Reply::Done { changed: 0 };
        }
        let message = "this library cannot switch optimizations off".to_string();
        Reply::Failed(SqlError { class: ErrorClass::Semantic, code: String::new(), message })
    }

    fn message(&self) -> String {
        // SAFETY: the connection is open; SQLite returns a C string, copied before the next call.
        unsafe { CStr::from_ptr((self.api.sqlite3_errmsg)(self.db)) }.to_string_lossy().into_owned()
    }

    fn failure(&self, code: c_int, stage: Stage) -> SqlError {
        let message = match self.meter.over() {
            Some(Over::Steps(steps)) if code == codes::INTERRUPT => format!("stopped after {steps} steps"),
            Some(Over::Time(millis)) if code == codes::INTERRUPT => format!("stopped after {millis} ms"),
            _ => self.message(),
        };
        SqlError { class: codes::class(code, stage, &message), code: codes::name(code), message }
    }

    /// Prepares what starts at byte `from` of the current text; also says where the next statement
    /// would start. Nothing but blanks and comments is no statement.
    fn compile(&self, from: usize) -> Result<(Option<Statement>, usize), SqlError> {
        let text = &self.text[from..];
        let Ok(length) = c_int::try_from(text.len()) else {
            return Err(SqlError {
                class: ErrorClass::Limit,
                code: codes::name(codes::TOOBIG),
                message: "statement too long".to_string(),
            });
        };
        let mut stmt: *mut sqlite3_stmt = ptr::null_mut();
        let mut tail = ptr::null();
        // SAFETY: the connection is open; `text` ends in a NUL and is as long as stated. SQLite sets
        // `tail` to somewhere inside it.
        let code = unsafe {
            (self.api.sqlite3_prepare_v2)(self.db, text.as_ptr().cast(), length, &mut stmt, &mut tail)
        };
        if code != codes::OK {
            return Err(self.failure(code, Stage::Prepare));
        }
        // SAFETY: a statement that was just prepared, by this library.
        let statement = NonNull::new(stmt).map(|stmt| unsafe { Statement::own(self.api, stmt) });
        Ok((statement, tail as usize - self.text.as_ptr() as usize))
    }

    /// Whether anything but blanks, semicolons and comments comes after the first statement.
    fn has_more(&self, mut from: usize) -> bool {
        let end = self.text.len() - 1;
        loop {
            let rest = &self.text[from..end];
            let skipped = rest.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b';').count();
            if skipped == rest.len() {
                return false;
            }
            // Rare: only SQLite knows where a comment ends.
            match self.compile(from + skipped) {
                Ok((None, next)) if next > from + skipped => from = next,
                _ => return true,
            }
        }
    }

    /// Takes a text in.
    fn read(&mut self, sql: &str) -> Result<(), Trouble> {
        if self.db.is_null() {
            return Err(Trouble("the SQLite connection is closed: its last reset failed".to_string()));
        }
        self.text.clear();
        self.text.extend_from_slice(sql.as_bytes());
        self.text.push(0);
        self.meter.start();
        Ok(())
    }

    /// Prepares the current text, which is one statement or none.
    fn compile_one(&self) -> Result<Option<Statement>, SqlError> {
        let (statement, tail) = self.compile(0)?;
        if self.has_more(tail) {
            return Err(SqlError {
                class: ErrorClass::Syntax,
                code: "SQLITE_ERROR".to_string(),
                message: "more than one statement".to_string(),
            });
        }
        Ok(statement)
    }

    fn run(&self) -> Result<Reply, SqlError> {
        match self.compile_one()? {
            None => Ok(Reply::Done { changed: 0 }),
            Some(mut statement) => self.run_statement(&mut statement),
        }
    }

    fn run_statement(&self, statement: &mut Statement) -> Result<Reply, SqlError> {
        match statement.columns() {
            0 => self.run_to_end(statement),
            _ => self.fetch(statement),
        }
    }

    fn run_prepared(&self, statement: &mut Statement, values: &[Value]) -> Result<Reply, SqlError> {
        let wanted = statement.parameters();
        if wanted != values.len() {
            let message = format!("{} values for {wanted} parameters", values.len());
            return Err(SqlError { class: ErrorClass::Semantic, code: "SQLITE_RANGE".to_string(), message });
        }
        for (at, value) in values.iter().enumerate() {
            let code = statement.bind(at + 1, value);
            if code != codes::OK {
                return Err(self.failure(code, Stage::Step));
            }
        }
        self.run_statement(statement)
    }

    /// Prepares, steps to the end and finalises, looking at nothing: the least that running a statement
    /// can cost. `text` ends in a NUL. The limits hold, so that what a hunt cuts short is cut short here.
    pub fn run_bare(&mut self, text: &[u8]) {
        self.meter.start();
        let mut stmt: *mut sqlite3_stmt = ptr::null_mut();
        let length = c_int::try_from(text.len()).unwrap_or(0);
        // SAFETY: the connection is open; `text` is as long as stated; SQLite takes no tail.
        let code = unsafe {
            (self.api.sqlite3_prepare_v2)(self.db, text.as_ptr().cast(), length, &mut stmt, ptr::null_mut())
        };
        if let (codes::OK, Some(stmt)) = (code, NonNull::new(stmt)) {
            // SAFETY: a statement that was just prepared, by this library.
            let mut statement = unsafe { Statement::own(self.api, stmt) };
            while statement.step() == codes::ROW {}
        }
    }

    fn run_to_end(&self, statement: &mut Statement) -> Result<Reply, SqlError> {
        // SAFETY: the connection is open.
        let total = || unsafe { (self.api.sqlite3_total_changes)(self.db) };
        let before = total();
        loop {
            match statement.step() {
                codes::ROW => {}
                codes::DONE => break,
                code => return Err(self.failure(code, Stage::Step)),
            }
        }
        // SQLite's count is that of the last INSERT, UPDATE or DELETE, which may be long ago.
        let changed = if total() == before {
            0
        } else {
            // SAFETY: the connection is open.
            unsafe { (self.api.sqlite3_changes)(self.db) }
        };
        Ok(Reply::Done { changed: changed as u64 })
    }

    fn fetch(&self, statement: &mut Statement) -> Result<Reply, SqlError> {
        let (mut columns, mut values) = (0, Vec::new());
        let mut room = self.limits.memory_bytes;
        loop {
            let code = statement.step();
            if columns == 0 {
                // The first step may find that tables have changed since the statement was prepared.
                columns = statement.columns();
            }
            match code {
                codes::ROW => {}
                codes::DONE => return Ok(Reply::Rows(Rows { columns, values })),
                code => return Err(self.failure(code, Stage::Step)),
            }
            if values.len() / columns >= self.limits.rows {
                return Err(over_limit(format!("more than {} rows", self.limits.rows)));
            }
            for column in 0..columns {
                let value = match statement.value(column) {
                    Ok(value) => value,
                    Err(OutOfMemory) => return Err(self.failure(codes::NOMEM, Stage::Step)),
                };
                let size = heap_size(&value);
                if size > room {
                    return Err(over_limit(format!("more than {} bytes", self.limits.memory_bytes)));
                }
                room -= size;
                values.push(value);
            }
        }
    }
}

/// A result that we, not SQLite, have no room for: it has no code of SQLite's.
fn over_limit(message: String) -> SqlError {
    SqlError { class: ErrorClass::Limit, code: String::new(), message }
}

fn heap_size(value: &Value) -> u64 {
    let bytes = match value {
        Value::Text(text) | Value::Decimal(text) | Value::Other { text, .. } => text.len(),
        Value::Blob(bytes) => bytes.len(),
        _ => 0,
    };
    bytes as u64
}

impl Engine for SqliteEngine {
    fn version(&self) -> &str {
        &self.version
    }

    /// Closing and opening is the quickest way to an empty database, and forgets every pragma.
    fn reset(&mut self) -> Result<(), Trouble> {
        self.close();
        self.open()
    }

    fn save(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        // SAFETY: the connection is open.
        Ok(unsafe { saved::bytes_of(self.api, self.db) })
    }

    fn open_saved(&mut self, saved: &[u8]) -> Result<bool, Trouble> {
        self.reset()?;
        // SAFETY: the connection was just opened.
        Ok(unsafe { saved::open(self.api, self.db, saved) })
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        self.read(sql)?;
        if let Some(mask) = switch::mask(sql) {
            return Ok(self.switch_off(mask));
        }
        Ok(self.walled(sql, SqliteEngine::run).unwrap_or_else(Reply::Failed))
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.meter.set(&limits);
        self.api.limit_memory(limits.memory_bytes);
    }

    /// SQLite's parameters have no types but those of the values.
    fn prepare(&mut self, sql: &str, _: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        self.read(sql)?;
        let statement = match self.walled(sql, SqliteEngine::compile_one) {
            Ok(statement) => statement,
            Err(error) => return Ok(Err(error)),
        };
        self.last_prepared += 1;
        self.prepared.insert(self.last_prepared, statement);
        Ok(Ok(Prepared { number: self.last_prepared, sql: sql.to_string() }))
    }

    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let (number, sql, lost) = (statement.number, &statement.sql, Reply::Failed(Prepared::lost()));
        let Some(mut kept) = self.prepared.remove(&number) else { return Ok(lost) };
        self.meter.start();
        let reply = match &mut kept {
            None => Reply::Done { changed: 0 },
            Some(statement) => {
                let run = |engine: &SqliteEngine| engine.run_prepared(statement, values);
                let reply = self.walled(sql, run).unwrap_or_else(Reply::Failed);
                statement.rewind();
                reply
            }
        };
        self.prepared.insert(number, kept);
        Ok(reply)
    }

    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        self.prepared.remove(&statement.number);
        Ok(())
    }

    fn take_coverage(&mut self, passed: &mut dyn FnMut(u32)) -> Option<u32> {
        self.counters.as_mut().map(|counters| counters.take(passed))
    }
}

impl Drop for SqliteEngine {
    fn drop(&mut self) {
        self.close();
    }
}
