//! Results before 0.2.9: a structure that holds everything, column by column, as arrays of C. The numbers of types changed
//! with almost every release, so they are learned from the types of constants.

use std::ffi::{CStr, c_char, c_void};

use dissent_core::engine::SqlError;
use dissent_core::sql::Value;
use libloading::os::unix::Library;

use super::api::{Api, RawResult};
use super::types::{Numbering, Type};
use super::{DuckdbEngine, cells};
use crate::spell::{self, Unit};

type ValueText = unsafe extern "C" fn(*const RawResult, u64, u64) -> *mut c_char;

pub struct Early {
    /// `duckdb_value_varchar`: any value as text.
    value_text: ValueText,
    /// Results say how many rows were changed, before the cells: in 0.2.8.
    counts_changes: bool,
}

/// What `duckdb_result` has in all of these versions.
struct Told {
    columns: u64,
    rows: u64,
    cells: *const Column,
    error: *const c_char,
}

#[repr(C)]
struct Column {
    data: *const c_void,
    is_null: *const bool,
    ty: u32,
    name: *const c_char,
}

impl Told {
    /// # Safety
    /// The result of a query that succeeded, which has this column; it is not destroyed meanwhile.
    unsafe fn column(&self, at: u64) -> &Column {
        // SAFETY: by the contract.
        unsafe { &*self.cells.add(at as usize) }
    }
}

/// Constants of types that can be told apart by their numbers.
const SAMPLES: [(&str, Type); 12] = [
    ("CAST(1 AS BOOLEAN)", Type::Bool),
    ("CAST(1 AS TINYINT)", Type::Int { bytes: 1, signed: true }),
    ("CAST(1 AS SMALLINT)", Type::Int { bytes: 2, signed: true }),
    ("CAST(1 AS INTEGER)", Type::Int { bytes: 4, signed: true }),
    ("CAST(1 AS BIGINT)", Type::Int { bytes: 8, signed: true }),
    ("CAST(1 AS HUGEINT)", Type::Int { bytes: 16, signed: true }),
    ("CAST(1 AS REAL)", Type::Float),
    ("CAST(1 AS DOUBLE)", Type::Double),
    ("'a'", Type::Text),
    ("CAST('2020-01-01' AS DATE)", Type::Date),
    ("CAST('2020-01-01 00:00:00' AS TIMESTAMP)", Type::Timestamp { unit: Unit::Micros, utc: false }),
    ("INTERVAL '1' DAY", Type::Interval),
];

impl DuckdbEngine {
    /// What the numbers of types mean. A type that this version does not have has none.
    pub(super) fn early_numbering(&self, early: &Early) -> Numbering {
        let number = |constant: &str| {
            let result = self.query(&format!("SELECT {constant}")).ok()?;
            // SAFETY: the query succeeded and has one column; its result is alive.
            Some(unsafe { early.told(&result.raw).column(0).ty })
        };
        let known = SAMPLES.iter().filter_map(|(constant, ty)| Some((number(constant)?, ty.clone())));
        Numbering::learned(known.collect())
    }
}

impl Early {
    pub fn resolve(library: &Library) -> Result<Early, &'static str> {
        const NAME: &str = "duckdb_value_varchar";
        // SAFETY: a symbol of DuckDB's name has the signature that it had in its time; that this is an early library is
        // known by what it lacks.
        let value_text = unsafe { library.get::<ValueText>(NAME.as_bytes()) }.map_err(|_| NAME)?;
        // SAFETY: only asked whether it is there. It came with the number of changed rows.
        let counts_changes = unsafe { library.get::<*const c_void>(b"duckdb_open_ext\0") }.is_ok();
        Ok(Early { value_text: *value_text, counts_changes })
    }

    fn told(&self, result: &RawResult) -> Told {
        let [columns, rows, rest @ ..] = result.0;
        let [cells, error, ..] = if self.counts_changes { [rest[1], rest[2]] } else { [rest[0], rest[1]] };
        Told { columns, rows, cells: cells as *const Column, error: error as *const c_char }
    }

    pub fn error(&self, result: &RawResult) -> *const c_char {
        self.told(result).error
    }

    pub fn columns(&self, result: &RawResult) -> usize {
        self.told(result).columns as usize
    }

    /// A statement that changes rows returns their number, as a BIGINT.
    ///
    /// # Safety
    /// The result of a statement that succeeded and is no query.
    pub unsafe fn changed(&self, result: &RawResult) -> u64 {
        let told = self.told(result);
        if (told.columns, told.rows) != (1, 1) {
            return 0;
        }
        // SAFETY: by the contract, and there is one row.
        unsafe {
            let column = told.column(0);
            if *column.is_null { 0 } else { *column.data.cast::<i64>() as u64 }
        }
    }

    pub fn read(&self, engine: &DuckdbEngine, result: &RawResult) -> Result<Vec<Value>, SqlError> {
        let told = self.told(result);
        engine.check_rows(told.rows as usize)?;
        let mut values = Vec::with_capacity((told.rows * told.columns) as usize);
        for row in 0..told.rows {
            for at in 0..told.columns {
                // SAFETY: the cell is in the result of a query that succeeded.
                values.push(unsafe { self.cell(engine, result, told.column(at), at, row) });
            }
        }
        Ok(values)
    }

    /// # Safety
    /// The cell is in the result, and in this column of it.
    unsafe fn cell(
        &self,
        engine: &DuckdbEngine,
        result: &RawResult,
        column: &Column,
        at: u64,
        row: u64,
    ) -> Value {
        let (data, place) = (column.data, row as usize);
        // SAFETY: by the contract; the array holds values of the column's type, and texts are C strings.
        unsafe {
            if *column.is_null.add(place) {
                return Value::Null;
            }
            match &engine.numbering.simple(column.ty) {
                Type::Bool => Value::Bool(*data.cast::<u8>().add(place) != 0),
                Type::Int { bytes: 1, .. } => Value::Int((*data.cast::<i8>().add(place)).into()),
                Type::Int { bytes: 2, .. } => Value::Int((*data.cast::<i16>().add(place)).into()),
                Type::Int { bytes: 4, .. } => Value::Int((*data.cast::<i32>().add(place)).into()),
                Type::Int { bytes: 8, .. } => Value::Int(*data.cast::<i64>().add(place)),
                Type::Float => Value::Real((*data.cast::<f32>().add(place)).into()),
                Type::Double => Value::Real(*data.cast::<f64>().add(place)),
                Type::Text => {
                    spell::text(CStr::from_ptr(*data.cast::<*const c_char>().add(place)).to_bytes())
                }
                ty => told_as_text(ty, engine.api, (self.value_text)(result, at, row)),
            }
        }
    }
}

fn told_as_text(ty: &Type, api: &Api, text: *mut c_char) -> Value {
    let bytes = api.owned_text(text).unwrap_or_default();
    match ty {
        Type::Int { .. } => match String::from_utf8_lossy(&bytes).parse() {
            Ok(number) => spell::signed(number),
            Err(_) => spell::text(&bytes),
        },
        ty => cells::spelled(ty, &bytes),
    }
}
