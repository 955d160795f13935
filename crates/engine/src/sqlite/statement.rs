//! A prepared statement: finalised when dropped, its cells read as typed values.

use std::ffi::c_int;
use std::ptr::NonNull;

use dissent_core::sql::value::hex;
use dissent_core::sql::{Kind, Value};

use super::api::{Api, SQLITE_TRANSIENT, sqlite3_stmt};

const INTEGER: c_int = 1;
const FLOAT: c_int = 2;
const TEXT: c_int = 3;
const BLOB: c_int = 4;

pub struct Statement {
    api: &'static Api,
    stmt: NonNull<sqlite3_stmt>,
}

/// SQLite had no memory left to hand out the cell.
pub struct OutOfMemory;

impl Statement {
    /// # Safety
    /// `stmt` was prepared by this library and belongs to no other `Statement`.
    pub unsafe fn own(api: &'static Api, stmt: NonNull<sqlite3_stmt>) -> Self {
        Statement { api, stmt }
    }

    pub fn columns(&self) -> usize {
        // SAFETY: the statement is alive as long as `self`.
        let count = unsafe { (self.api.sqlite3_column_count)(self.stmt.as_ptr()) };
        count as usize
    }

    /// Runs to the next row: a result code.
    pub fn step(&mut self) -> c_int {
        // SAFETY: the statement is alive as long as `self`.
        unsafe { (self.api.sqlite3_step)(self.stmt.as_ptr()) }
    }

    /// Back to before its first step, whatever came of the last one.
    pub fn rewind(&mut self) {
        // SAFETY: the statement is alive as long as `self`. The code repeats the last step's.
        unsafe { (self.api.sqlite3_reset)(self.stmt.as_ptr()) };
    }

    pub fn parameters(&self) -> usize {
        // SAFETY: the statement is alive as long as `self`.
        let count = unsafe { (self.api.sqlite3_bind_parameter_count)(self.stmt.as_ptr()) };
        count as usize
    }

    /// Gives the parameter of this number, from 1 on, its value: a result code. Only before the first step.
    pub fn bind(&mut self, number: usize, value: &Value) -> c_int {
        let (api, stmt, at) = (self.api, self.stmt.as_ptr(), number as c_int);
        // SAFETY: the statement is alive; bytes are as long as stated, and SQLite copies them at once.
        unsafe {
            let text = |text: &str| match c_int::try_from(text.len()) {
                Ok(length) => {
                    (api.sqlite3_bind_text)(stmt, at, text.as_ptr().cast(), length, SQLITE_TRANSIENT())
                }
                Err(_) => super::codes::TOOBIG,
            };
            match value {
                Value::Null => (api.sqlite3_bind_null)(stmt, at),
                Value::Bool(truth) => (api.sqlite3_bind_int64)(stmt, at, i64::from(*truth)),
                Value::Int(int) => (api.sqlite3_bind_int64)(stmt, at, *int),
                Value::Real(real) => (api.sqlite3_bind_double)(stmt, at, *real),
                // Digits that no integer holds are a float, as they are in a statement's text.
                Value::Decimal(digits) => match digits.parse() {
                    Ok(real) => (api.sqlite3_bind_double)(stmt, at, real),
                    Err(_) => text(digits),
                },
                Value::Text(words) => text(words),
                Value::Blob(bytes) => match c_int::try_from(bytes.len()) {
                    // An empty vector has an address, so this is an empty blob and not NULL.
                    Ok(length) => {
                        (api.sqlite3_bind_blob)(stmt, at, bytes.as_ptr().cast(), length, SQLITE_TRANSIENT())
                    }
                    Err(_) => super::codes::TOOBIG,
                },
                Value::Other { text: words, .. } => text(words),
            }
        }
    }

    /// A cell of the current row. Only valid after a step that gave a row.
    pub fn value(&self, column: usize) -> Result<Value, OutOfMemory> {
        let (api, stmt, at) = (self.api, self.stmt.as_ptr(), column as c_int);
        // SAFETY: the statement is alive; the type is asked before any conversion could change it.
        let kind = unsafe { (api.sqlite3_column_type)(stmt, at) };
        Ok(match kind {
            // SAFETY: as above.
            INTEGER => Value::Int(unsafe { (api.sqlite3_column_int64)(stmt, at) }),
            // SAFETY: as above.
            FLOAT => Value::Real(unsafe { (api.sqlite3_column_double)(stmt, at) }),
            TEXT => {
                // SAFETY: as above.
                let start = unsafe { (api.sqlite3_column_text)(stmt, at) };
                // SAFETY: `start` is this column's, just converted to UTF-8.
                text(unsafe { self.bytes(start, column) }.ok_or(OutOfMemory)?)
            }
            BLOB => {
                // SAFETY: as above.
                let start = unsafe { (api.sqlite3_column_blob)(stmt, at) };
                // SAFETY: `start` is this column's. An empty blob has no address.
                Value::Blob(unsafe { self.bytes(start.cast(), column) }.unwrap_or_default().to_vec())
            }
            _ => Value::Null,
        })
    }

    /// # Safety
    /// `start` is what SQLite just returned for this column of the current row: the bytes live until
    /// the next call on this column.
    unsafe fn bytes(&self, start: *const u8, column: usize) -> Option<&[u8]> {
        if start.is_null() {
            return None;
        }
        // SAFETY: the length is asked after the conversion, as SQLite wants it, and counts the bytes
        // behind `start`.
        unsafe {
            let length = (self.api.sqlite3_column_bytes)(self.stmt.as_ptr(), column as c_int);
            Some(std::slice::from_raw_parts(start, length as usize))
        }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: owned, and finalised only here. The code repeats the last step's.
        unsafe { (self.api.sqlite3_finalize)(self.stmt.as_ptr()) };
    }
}

/// SQLite keeps any bytes as text; what is no UTF-8 must still compare equal only to itself.
fn text(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_string()),
        Err(_) => Value::Other { kind: Kind::Text, text: format!("text x'{}'", hex(bytes)) },
    }
}
