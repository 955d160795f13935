//! Results read cell by cell, for versions from 0.2.9 to 0.3.3.

use dissent_core::engine::SqlError;
use dissent_core::sql::{Kind, Value};

use super::DuckdbEngine;
use super::api::{Api, Cells, RawResult};
use super::types::Type;
use crate::spell::{self, other};

impl Cells {
    pub fn read(
        &self,
        engine: &DuckdbEngine,
        result: &mut RawResult,
        columns: usize,
    ) -> Result<Vec<Value>, SqlError> {
        // SAFETY: the result of a query that succeeded, which has so many columns.
        let (rows, types) = unsafe {
            let rows = (self.duckdb_row_count)(result);
            let ids = (0..columns as u64).map(|column| (self.duckdb_column_type)(result, column));
            (rows, ids.map(|id| engine.numbering.simple(id)).collect::<Vec<_>>())
        };
        engine.check_rows(rows as usize)?;
        let mut values = Vec::with_capacity(rows as usize * columns);
        for row in 0..rows {
            for (column, ty) in types.iter().enumerate() {
                // SAFETY: the cell is in the result.
                values.push(unsafe { self.cell(engine.api, result, column as u64, row, ty) });
            }
        }
        Ok(values)
    }

    /// # Safety
    /// The cell is in the result, and its column of this type.
    unsafe fn cell(&self, api: &Api, result: &mut RawResult, column: u64, row: u64, ty: &Type) -> Value {
        // SAFETY: by the contract; what DuckDB allocates is freed.
        unsafe {
            if (self.duckdb_value_is_null)(result, column, row) {
                return Value::Null;
            }
            match ty {
                Type::Bool => Value::Bool((self.duckdb_value_boolean)(result, column, row)),
                Type::Int { bytes: 16, .. } => {
                    let huge = (self.duckdb_value_hugeint)(result, column, row);
                    spell::signed(i128::from(huge.upper) << 64 | i128::from(huge.lower))
                }
                Type::Int { bytes: 8, signed: false } => {
                    spell::unsigned((self.duckdb_value_uint64)(result, column, row).into())
                }
                Type::Int { .. } => Value::Int((self.duckdb_value_int64)(result, column, row)),
                Type::Float | Type::Double => Value::Real((self.duckdb_value_double)(result, column, row)),
                Type::Blob => {
                    let blob = (self.duckdb_value_blob)(result, column, row);
                    if blob.data.is_null() {
                        return Value::Blob(Vec::new());
                    }
                    let bytes =
                        std::slice::from_raw_parts(blob.data.cast::<u8>(), blob.size as usize).to_vec();
                    api.free(blob.data);
                    Value::Blob(bytes)
                }
                ty => {
                    let bytes = api.owned_text((self.duckdb_value_varchar)(result, column, row));
                    spelled(ty, &bytes.unwrap_or_default())
                }
            }
        }
    }
}

/// What DuckDB spelled for us. A type that this interface does not know (a DECIMAL, a UUID) is text.
pub(super) fn spelled(ty: &Type, bytes: &[u8]) -> Value {
    let kind = match ty {
        Type::Date => Kind::Date,
        Type::Time => Kind::Time,
        Type::Timestamp { .. } => Kind::Timestamp,
        Type::Interval => Kind::Interval,
        _ => return spell::text(bytes),
    };
    other(kind, String::from_utf8_lossy(bytes).into_owned())
}
