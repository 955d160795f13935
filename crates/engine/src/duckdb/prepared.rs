//! Prepared statements of the C interface.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use dissent_core::engine::{ErrorClass, Prepared, Reply, SqlError};
use dissent_core::sql::{DataType, Value};

use super::api::{Api, Handle, HugeInt, Preparation, RawResult, null};
use super::{DuckdbEngine, errors};

/// Destroyed when dropped, which must be before the connection goes.
pub struct Statement {
    api: &'static Api,
    handle: Handle,
    types: Vec<DataType>,
}

impl Drop for Statement {
    fn drop(&mut self) {
        if let Some(preparation) = &self.api.preparation {
            // SAFETY: owned, and destroyed only here; also one that could not be prepared is.
            unsafe { (preparation.duckdb_destroy_prepare)(&mut self.handle) };
        }
    }
}

impl DuckdbEngine {
    pub(super) fn compile(&self, sql: &str, types: &[DataType]) -> Result<Statement, SqlError> {
        let (Some(preparation), Ok(text)) = (&self.api.preparation, CString::new(sql)) else {
            return Err(refused("the statement cannot be prepared".to_string()));
        };
        let mut statement = Statement { api: self.api, handle: null(), types: types.to_vec() };
        let (code, interrupted) = self.watched(|connection| {
            // SAFETY: the connection is open, the text a C string; the statement is destroyed when dropped.
            unsafe { (preparation.duckdb_prepare)(connection, text.as_ptr(), &mut statement.handle) }
        });
        if code == 0 {
            return Ok(statement);
        }
        // SAFETY: a statement that could not be prepared tells why, as long as it lives.
        let message = unsafe {
            let message = (preparation.duckdb_prepare_error)(statement.handle);
            if message.is_null() {
                "it printed nothing".to_string()
            } else {
                CStr::from_ptr(message).to_string_lossy().into_owned()
            }
        };
        let mut error = errors::error(0, message);
        if interrupted && !error.class.is_harm() {
            error.class = ErrorClass::Limit;
        }
        Err(error)
    }

    pub(super) fn run_statement(
        &self,
        prepared: &Prepared,
        statement: &Statement,
        values: &[Value],
    ) -> Reply {
        match self.try_statement(prepared, statement, values) {
            Ok(reply) => reply,
            Err(error) => Reply::Failed(error),
        }
    }

    fn try_statement(
        &self,
        prepared: &Prepared,
        statement: &Statement,
        values: &[Value],
    ) -> Result<Reply, SqlError> {
        let Some(preparation) = &self.api.preparation else { return Err(Prepared::lost()) };
        // SAFETY: the statement is alive.
        let wanted = unsafe { (preparation.duckdb_nparams)(statement.handle) } as usize;
        if wanted != values.len() {
            return Err(refused(format!("{} values for {wanted} parameters", values.len())));
        }
        for (at, value) in values.iter().enumerate() {
            if preparation.bind(statement, at, value) != 0 {
                return Err(refused(format!("parameter {} does not accept {value}", at + 1)));
            }
        }
        let mut result = self.answer(|_, result: &mut RawResult| {
            // SAFETY: the statement is alive and its parameters have values; the result is destroyed when
            // dropped.
            unsafe { (preparation.duckdb_execute_prepared)(statement.handle, result) }
        })?;
        self.read(&prepared.sql, &mut result)
    }
}

impl Preparation {
    /// Gives a parameter its value, with its declared type if DuckDB supports that.
    fn bind(&self, statement: &Statement, at: usize, value: &Value) -> c_int {
        let (stmt, number) = (statement.handle, at as u64 + 1);
        let declared = statement.types.get(at).map(|ty| ty.name.to_string()).unwrap_or_default();
        // SAFETY: the statement is alive; bytes are as long as stated, and DuckDB copies them.
        unsafe {
            let text = |text: &str| {
                (self.duckdb_bind_varchar_length)(
                    stmt,
                    number,
                    text.as_ptr().cast::<c_char>(),
                    text.len() as u64,
                )
            };
            match value {
                Value::Null => (self.duckdb_bind_null)(stmt, number),
                Value::Bool(truth) => (self.duckdb_bind_boolean)(stmt, number, *truth),
                Value::Int(int) => self.bind_integer(stmt, number, *int, &declared),
                Value::Real(real) if declared == "FLOAT" || declared == "REAL" => {
                    (self.duckdb_bind_float)(stmt, number, *real as f32)
                }
                Value::Real(real) => (self.duckdb_bind_double)(stmt, number, *real),
                Value::Decimal(digits) => match digits.parse::<i128>() {
                    Ok(whole) => (self.duckdb_bind_hugeint)(stmt, number, huge(whole)),
                    Err(_) => text(digits),
                },
                Value::Text(words) | Value::Other { text: words, .. } => text(words),
                Value::Blob(bytes) => {
                    let start = bytes.as_ptr().cast::<c_void>();
                    (self.duckdb_bind_blob)(stmt, number, start, bytes.len() as u64)
                }
            }
        }
    }

    /// A declared type that does not hold the number is not the number's.
    ///
    /// # Safety
    /// The statement is alive.
    unsafe fn bind_integer(&self, stmt: Handle, number: u64, int: i64, declared: &str) -> c_int {
        // SAFETY: by the contract.
        unsafe {
            match declared {
                "TINYINT" if i8::try_from(int).is_ok() => (self.duckdb_bind_int8)(stmt, number, int as i8),
                "SMALLINT" if i16::try_from(int).is_ok() => {
                    (self.duckdb_bind_int16)(stmt, number, int as i16)
                }
                "INTEGER" | "INT" if i32::try_from(int).is_ok() => {
                    (self.duckdb_bind_int32)(stmt, number, int as i32)
                }
                "HUGEINT" => (self.duckdb_bind_hugeint)(stmt, number, huge(int.into())),
                _ => (self.duckdb_bind_int64)(stmt, number, int),
            }
        }
    }
}

fn huge(number: i128) -> HugeInt {
    HugeInt { lower: number as u64, upper: (number >> 64) as i64 }
}

fn refused(message: String) -> SqlError {
    SqlError { class: ErrorClass::Semantic, code: String::new(), message }
}
