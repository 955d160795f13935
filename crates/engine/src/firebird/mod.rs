//! Firebird, embedded: the engine in this process, by its C interface.

mod api;
mod area;
mod driver;
mod errors;

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_short, c_ushort};
use std::path::Path;

use dissent_core::engine::{Engine, ErrorClass, Limits, Prepared, Reply, Rows, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};

use crate::EngineError;
use crate::server::Home;
use crate::spell;
use api::{Api, Handle, Quad, Started, Status};
use area::{Area, Cell, Row};
pub(crate) use driver::Firebird;

/// What a database and temporary files may come to need, in bytes.
const ROOM: u64 = 1 << 30;

/// Version, user, character set, dialect 3; writes wait for no disk, and the cache is small.
const LOGIN: &[u8] = b"\x01\x1c\x06SYSDBA\x30\x04UTF8\x3f\x04\x03\0\0\0\x18\x04\0\0\0\0\x05\x04\0\x04\0\0";
/// The same, and the character set of columns.
const CREATION: &[u8] =
    b"\x01\x1c\x06SYSDBA\x30\x04UTF8\x3f\x04\x03\0\0\0\x18\x04\0\0\0\0\x05\x04\0\x04\0\0\x44\x04UTF8";
/// Version, write, read committed, record versions; wait five seconds for a lock: the engine's own thread that removes old
/// rows holds one for a moment.
const TRANSACTION: &[u8] = &[3, 9, 15, 17, 6, 21, 1, 5];
const DIALECT: c_ushort = 3;

/// What every session begins with: results that have a type of our own.
const SESSION: [&str; 3] =
    ["SET BIND OF DECFLOAT TO VARCHAR", "SET BIND OF TIME ZONE TO VARCHAR", "SET TIME ZONE '+00:00'"];

/// How a plan is asked for: Firebird has no statement for it.
const EXPLAIN: &str = "EXPLAIN ";

/// Of `isc_dsql_sql_info`.
const INFO_KIND: u8 = 21;
const INFO_COUNTS: u8 = 23;
const INFO_PLAN: u8 = 26;
const INFO_END: u8 = 1;
const KIND_SELECT: u32 = 1;
const KIND_PROCEDURE: u32 = 8;
const KIND_SELECT_FOR_UPDATE: u32 = 12;
/// Rows inserted, updated and deleted.
const CHANGES: std::ops::RangeInclusive<u8> = 14..=16;

/// What a fetch returns after the last row.
const NO_MORE_ROWS: isize = 100;
/// What reading a blob returns after the last part, and in the middle of one.
const BLOB_END: isize = 335_544_367;
const BLOB_PART: isize = 335_544_366;

/// A database in a file of our own. Every statement is a transaction.
pub struct FirebirdEngine {
    api: &'static Api,
    version: String,
    home: Home,
    database: Handle,
    limits: Limits,
    /// By number; freed with the database.
    prepared: HashMap<u64, Statement>,
    last_prepared: u64,
}

/// A statement that was prepared, and the row that it fills.
struct Statement {
    handle: Handle,
    kind: u32,
    row: Row,
}

impl FirebirdEngine {
    pub fn load(library: &Path) -> Result<FirebirdEngine, EngineError> {
        let home = Home::create("firebird", ROOM)?;
        let api = Api::load(library, home.path())?;
        let mut engine = FirebirdEngine {
            api,
            version: String::new(),
            home,
            database: 0,
            limits: Limits::default(),
            prepared: HashMap::new(),
            last_prepared: 0,
        };
        let started =
            engine.make_template().and_then(|()| engine.reset()).and_then(|()| engine.ask_version());
        let failed = |Trouble(reason)| EngineError::NotStarted { what: "Firebird".to_string(), reason };
        engine.version = started.map_err(failed)?;
        Ok(engine)
    }

    fn ask_version(&mut self) -> Result<String, Trouble> {
        let asked = self.run("SELECT rdb$get_context('SYSTEM', 'ENGINE_VERSION') FROM rdb$database");
        match asked.map(|reply| if let Reply::Rows(rows) = reply { rows.single().cloned() } else { None }) {
            Ok(Some(Value::Text(version))) => Ok(version),
            Ok(_) => Err(Trouble("it does not report its version".to_string())),
            Err(error) => Err(Trouble(error.message)),
        }
    }

    fn file(&self, name: &str) -> Result<CString, Trouble> {
        let path = self.home.path().join(name).to_string_lossy().into_owned();
        CString::new(path).map_err(|error| Trouble(error.to_string()))
    }

    /// The empty database that every reset copies: faster by far than to make one.
    fn make_template(&mut self) -> Result<(), Trouble> {
        let file = self.file("template")?;
        let mut handle = 0;
        self.call(|api, status| {
            // SAFETY: the name is a C string, the login as long as stated.
            unsafe {
                let length = CREATION.len() as c_short;
                (api.isc_create_database)(status, 0, file.as_ptr(), &mut handle, length, CREATION.as_ptr(), 0)
            }
        })
        .map_err(|error| Trouble(error.message))?;
        // SAFETY: the database was just made.
        let closed = self.call(|api, status| unsafe { (api.isc_detach_database)(status, &mut handle) });
        closed.map_err(|error| Trouble(error.message))
    }

    fn close(&mut self) {
        for (_, mut statement) in std::mem::take(&mut self.prepared) {
            self.free(&mut statement);
        }
        let mut handle = std::mem::take(&mut self.database);
        if handle != 0 {
            // SAFETY: it is open, and no statement or transaction is. If it cannot be closed it is left behind.
            let _ = self.call(|api, status| unsafe { (api.isc_detach_database)(status, &mut handle) });
        }
    }

    /// Calls the interface; what it complains about is an error of SQL.
    fn call(&self, call: impl FnOnce(&Api, &mut Status) -> isize) -> Result<(), SqlError> {
        let mut status: Status = [0; 20];
        match call(self.api, &mut status) {
            0 => Ok(()),
            _ => Err(errors::error(self.api.told(&status))),
        }
    }

    /// Does something within a transaction that is kept if it succeeds.
    fn within<T>(&self, work: impl FnOnce(&mut Handle) -> Result<T, SqlError>) -> Result<T, SqlError> {
        let (mut database, mut transaction) = (self.database, 0);
        self.call(|api, status| {
            let mut started = Started {
                database: &mut database,
                length: TRANSACTION.len() as _,
                options: TRANSACTION.as_ptr(),
            };
            // SAFETY: the database is open, the options are as long as stated.
            unsafe { (api.isc_start_multiple)(status, &mut transaction, 1, &mut started) }
        })?;
        let done = work(&mut transaction);
        // SAFETY: the transaction is active; whether it ends well or not, its handle is not used again.
        let ended = self.call(|api, status| unsafe {
            match done {
                Ok(_) => (api.isc_commit_transaction)(status, &mut transaction),
                Err(_) => (api.isc_rollback_transaction)(status, &mut transaction),
            }
        });
        if transaction != 0 {
            // SAFETY: it could not be committed, and is still there.
            let _ =
                self.call(|api, status| unsafe { (api.isc_rollback_transaction)(status, &mut transaction) });
        }
        done.and_then(|done| ended.map(|()| done))
    }

    fn run(&self, sql: &str) -> Result<Reply, SqlError> {
        if let Some(explained) = sql.trim_start().strip_prefix(EXPLAIN) {
            return self.explain(explained);
        }
        self.within(|transaction| {
            let mut statement = self.compile(sql, transaction)?;
            let reply = self.execute_in(&mut statement, &[], transaction);
            self.free(&mut statement);
            reply
        })
    }

    fn explain(&self, sql: &str) -> Result<Reply, SqlError> {
        let plan = self.within(|transaction| {
            let mut statement = self.compile(sql, transaction)?;
            let plan = self.info(&mut statement, INFO_PLAN);
            self.free(&mut statement);
            plan
        })?;
        let lines = String::from_utf8_lossy(&plan).into_owned();
        let lines = lines.lines().filter(|line| !line.trim().is_empty());
        Ok(Reply::Rows(Rows {
            columns: 1,
            values: lines.map(|line| Value::Text(line.to_string())).collect(),
        }))
    }

    fn compile(&self, sql: &str, transaction: &mut Handle) -> Result<Statement, SqlError> {
        let Ok(text) = CString::new(sql) else {
            let message = "a statement cannot contain NUL".to_string();
            return Err(SqlError { class: ErrorClass::Syntax, code: String::new(), message });
        };
        let Ok(length) = c_ushort::try_from(sql.len()) else {
            let message = "a statement cannot be longer than 65535 bytes".to_string();
            return Err(SqlError { class: ErrorClass::Limit, code: String::new(), message });
        };
        let mut database = self.database;
        let mut statement = Statement { handle: 0, kind: 0, row: Row::with_room(16) };
        self.call(|api, status| {
            // SAFETY: the database is open.
            unsafe { (api.isc_dsql_allocate_statement)(status, &mut database, &mut statement.handle) }
        })?;
        let compiled = self.describe(&mut statement, &text, length, transaction);
        if compiled.is_err() {
            self.free(&mut statement);
        }
        compiled.map(|()| statement)
    }

    fn describe(
        &self,
        statement: &mut Statement,
        text: &CString,
        length: c_ushort,
        transaction: &mut Handle,
    ) -> Result<(), SqlError> {
        self.call(|api, status| {
            let (handle, area) = (&mut statement.handle, statement.row.area());
            // SAFETY: the statement was allocated, the text is as long as stated, the area has the room that it says.
            unsafe {
                (api.isc_dsql_prepare)(status, transaction, handle, length, text.as_ptr(), DIALECT, area)
            }
        })?;
        let columns = statement.row.columns();
        if columns > statement.row.room() {
            statement.row = Row::with_room(columns);
            self.call(|api, status| {
                // SAFETY: the statement is prepared, the area has room for all columns.
                unsafe { (api.isc_dsql_describe)(status, &mut statement.handle, 1, statement.row.area()) }
            })?;
        }
        let kind = self.info(statement, INFO_KIND)?;
        statement.kind = kind.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
        statement.row.prepare_for_output();
        Ok(())
    }

    /// One thing that can be known of a statement.
    fn info(&self, statement: &mut Statement, item: u8) -> Result<Vec<u8>, SqlError> {
        let (items, mut buffer) = ([item], vec![0u8; 32_000]);
        self.call(|api, status| {
            // SAFETY: the statement is prepared; items and buffer are as long as stated.
            unsafe {
                let room = buffer.len() as c_short;
                (api.isc_dsql_sql_info)(
                    status,
                    &mut statement.handle,
                    1,
                    items.as_ptr(),
                    room,
                    buffer.as_mut_ptr(),
                )
            }
        })?;
        if buffer[0] != item {
            return Ok(Vec::new());
        }
        let length = usize::from(u16::from_le_bytes([buffer[1], buffer[2]]));
        Ok(buffer[3..3 + length].to_vec())
    }

    fn free(&self, statement: &mut Statement) {
        const DROP: c_ushort = 2;
        if statement.handle != 0 {
            // SAFETY: it was allocated, and is not used again. It is fine if this fails.
            let _ = self.call(|api, status| unsafe {
                (api.isc_dsql_free_statement)(status, &mut statement.handle, DROP)
            });
        }
    }

    fn execute_in(
        &self,
        statement: &mut Statement,
        values: &[Value],
        transaction: &mut Handle,
    ) -> Result<Reply, SqlError> {
        let mut input = self.bind(statement, values)?;
        let input: *mut Area = input.as_mut().map_or(std::ptr::null_mut(), Row::area);
        let columns = statement.row.columns();
        let returns_one = statement.kind == KIND_PROCEDURE && columns > 0;
        self.call(|api, status| {
            let handle = &mut statement.handle;
            // SAFETY: the statement is prepared, the values are where the input says, and the output has memory for a row.
            unsafe {
                match returns_one {
                    true => {
                        (api.isc_dsql_execute2)(status, transaction, handle, 1, input, statement.row.area())
                    }
                    false => (api.isc_dsql_execute)(status, transaction, handle, 1, input),
                }
            }
        })?;
        let mut values = Vec::new();
        if returns_one {
            self.read_row(statement, transaction, &mut values)?;
        } else if matches!(statement.kind, KIND_SELECT | KIND_SELECT_FOR_UPDATE) {
            let fetched = self.fetch(statement, transaction, &mut values);
            self.close_cursor(statement);
            fetched?;
        } else {
            return Ok(Reply::Done { changed: self.changed(statement)? });
        }
        Ok(Reply::Rows(Rows { columns, values }))
    }

    /// The values of parameters, if there are any.
    fn bind(&self, statement: &mut Statement, values: &[Value]) -> Result<Option<Row>, SqlError> {
        let mut input = Row::with_room(values.len());
        self.call(|api, status| {
            // SAFETY: the statement is prepared, the area has the room that it says.
            unsafe { (api.isc_dsql_describe_bind)(status, &mut statement.handle, 1, input.area()) }
        })?;
        let wanted = input.columns();
        if wanted != values.len() {
            let message = format!("{} values for {wanted} parameters", values.len());
            return Err(SqlError { class: ErrorClass::Semantic, code: String::new(), message });
        }
        if let Some(message) = area::too_long(values) {
            return Err(SqlError { class: ErrorClass::Limit, code: String::new(), message });
        }
        input.fill(values);
        Ok((wanted > 0).then_some(input))
    }

    fn fetch(
        &self,
        statement: &mut Statement,
        transaction: &mut Handle,
        values: &mut Vec<Value>,
    ) -> Result<(), SqlError> {
        let over = |message| Err(SqlError { class: ErrorClass::Limit, code: String::new(), message });
        let mut bytes = 0;
        for _ in 0..=self.limits.rows {
            // The rows are in this process: if its memory ran out, that would look like a crash of the engine.
            if bytes > self.limits.memory_bytes {
                return over(format!("more than {} bytes", self.limits.memory_bytes));
            }
            let before = values.len();
            let mut status: Status = [0; 20];
            // SAFETY: the cursor is open, and the output has memory for a row.
            let fetched = unsafe {
                (self.api.isc_dsql_fetch)(&mut status, &mut statement.handle, 1, statement.row.area())
            };
            match fetched {
                0 => self.read_row(statement, transaction, values)?,
                NO_MORE_ROWS => return Ok(()),
                _ => return Err(errors::error(self.api.told(&status))),
            }
            bytes += values[before..].iter().map(size).sum::<u64>();
        }
        over(format!("more than {} rows", self.limits.rows))
    }

    fn close_cursor(&self, statement: &mut Statement) {
        const CLOSE: c_ushort = 1;
        // SAFETY: the statement is alive; it is fine if its cursor is closed already.
        let _ = self.call(|api, status| unsafe {
            (api.isc_dsql_free_statement)(status, &mut statement.handle, CLOSE)
        });
    }

    fn read_row(
        &self,
        statement: &mut Statement,
        transaction: &mut Handle,
        values: &mut Vec<Value>,
    ) -> Result<(), SqlError> {
        for at in 0..statement.row.columns() {
            values.push(match statement.row.cell(at) {
                Cell::Value(value) => value,
                Cell::Blob { id, is_text } => {
                    let bytes = self.read_blob(id, transaction)?;
                    if is_text { spell::text(&bytes) } else { Value::Blob(bytes) }
                }
            });
        }
        Ok(())
    }

    fn read_blob(&self, mut id: Quad, transaction: &mut Handle) -> Result<Vec<u8>, SqlError> {
        let (mut database, mut blob) = (self.database, 0);
        self.call(|api, status| {
            // SAFETY: the blob is one of a row that was fetched in this transaction.
            unsafe {
                (api.isc_open_blob2)(
                    status,
                    &mut database,
                    transaction,
                    &mut blob,
                    &mut id,
                    0,
                    std::ptr::null(),
                )
            }
        })?;
        let (mut bytes, mut part) = (Vec::new(), vec![0u8; 16_384]);
        let read = loop {
            let (mut status, mut length): (Status, c_ushort) = ([0; 20], 0);
            // SAFETY: the blob is open, the buffer as long as stated.
            let code = unsafe {
                (self.api.isc_get_segment)(
                    &mut status,
                    &mut blob,
                    &mut length,
                    part.len() as c_ushort,
                    part.as_mut_ptr(),
                )
            };
            bytes.extend_from_slice(&part[..length.into()]);
            match code {
                0 | BLOB_PART => {}
                BLOB_END => break Ok(()),
                _ => break Err(errors::error(self.api.told(&status))),
            }
        };
        // SAFETY: the blob is open, and not used again.
        let _ = self.call(|api, status| unsafe { (api.isc_close_blob)(status, &mut blob) });
        read.map(|()| bytes)
    }

    /// How many rows a statement changed: `item, length, number` for each kind of change.
    fn changed(&self, statement: &mut Statement) -> Result<u64, SqlError> {
        let told = self.info(statement, INFO_COUNTS)?;
        let (mut at, mut changed) = (0, 0);
        while at + 3 <= told.len() && told[at] != INFO_END {
            let (item, length) = (told[at], usize::from(u16::from_le_bytes([told[at + 1], told[at + 2]])));
            let bytes = told.get(at + 3..at + 3 + length).unwrap_or_default();
            if CHANGES.contains(&item) {
                changed += bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
            }
            at += 3 + length;
        }
        Ok(changed)
    }

    /// The session that every check begins with.
    fn settle(&self) -> Result<(), SqlError> {
        SESSION.iter().try_for_each(|sql| self.run(sql).map(drop))?;
        self.run(&format!("SET STATEMENT TIMEOUT {} MILLISECOND", self.limits.millis)).map(drop)
    }
}

impl Engine for FirebirdEngine {
    fn version(&self) -> &str {
        &self.version
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        self.close();
        let [template, database] = ["template", "database"].map(|name| self.home.path().join(name));
        // Not the same file again: something of it may still be known.
        let _ = std::fs::remove_file(&database);
        std::fs::copy(template, &database).map_err(|error| Trouble(error.to_string()))?;
        let file = self.file("database")?;
        let mut handle = 0;
        let attached = self.call(|api, status| {
            let name: *const c_char = file.as_ptr();
            // SAFETY: the name is a C string, the login as long as stated.
            unsafe {
                (api.isc_attach_database)(
                    status,
                    0,
                    name,
                    &mut handle,
                    LOGIN.len() as c_short,
                    LOGIN.as_ptr(),
                )
            }
        });
        self.database = handle;
        attached.and_then(|()| self.settle()).map_err(|error| Trouble(error.message))
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        Ok(self.run(sql).unwrap_or_else(Reply::Failed))
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        // If it fails, the next reset sets it.
        let _ = self.settle();
    }

    fn prepare(&mut self, sql: &str, _: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        Ok(self.within(|transaction| self.compile(sql, transaction)).map(|statement| {
            self.last_prepared += 1;
            self.prepared.insert(self.last_prepared, statement);
            Prepared { number: self.last_prepared, sql: sql.to_string() }
        }))
    }

    fn execute_prepared(&mut self, prepared: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let Some(mut statement) = self.prepared.remove(&prepared.number) else {
            return Ok(Reply::Failed(Prepared::lost()));
        };
        let reply = self.within(|transaction| self.execute_in(&mut statement, values, transaction));
        self.prepared.insert(prepared.number, statement);
        Ok(reply.unwrap_or_else(Reply::Failed))
    }

    fn close_prepared(&mut self, prepared: Prepared) -> Result<(), Trouble> {
        if let Some(mut statement) = self.prepared.remove(&prepared.number) {
            self.free(&mut statement);
        }
        Ok(())
    }
}

impl Drop for FirebirdEngine {
    fn drop(&mut self) {
        self.close();
    }
}

/// About what a value takes.
fn size(value: &Value) -> u64 {
    match value {
        Value::Text(text) => text.len() as u64,
        Value::Blob(bytes) => bytes.len() as u64,
        _ => size_of::<Value>() as u64,
    }
}
