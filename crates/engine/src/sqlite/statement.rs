//! A prepared statement: finalised when dropped, its cells read as typed values.

use std::ffi::c_int;
use std::ptr::NonNull;

use dissent_core::sql::value::hex;
use dissent_core::sql::{Kind, Value};

use super::api::{Api, sqlite3_stmt};

const INTEGER: c_int = 1;
const FLOAT: c_int = 2;
const TEXT: c_int = 3;
const BLOB: c_int = 4;

pub struct Statement<'a> {
    api: &'a Api,
    stmt: NonNull<sqlite3_stmt>,
}

/// SQLite had no memory left to hand out the cell.
pub struct OutOfMemory;

impl<'a> Statement<'a> {
    /// # Safety
    /// `stmt` was prepared by this library and belongs to no other `Statement`.
    pub unsafe fn own(api: &'a Api, stmt: NonNull<sqlite3_stmt>) -> Self {
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

impl Drop for Statement<'_> {
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
