//! Results read out of DuckDB's vectors.

use dissent_core::sql::value::hex;
use dissent_core::sql::{Kind, Value};

use super::api::{Api, Chunks, Handle};
use super::types::Type;
use crate::spell::{self, other};

/// A vector of a chunk that is alive.
#[derive(Clone, Copy)]
pub struct Vector<'a> {
    api: &'a Api,
    chunks: &'a Chunks,
    handle: Handle,
    data: *const u8,
    validity: *const u64,
}

/// A text or blob of up to this many bytes is inside its cell.
const INLINE: usize = 12;

impl<'a> Vector<'a> {
    /// # Safety
    /// `handle` is a vector of this library in a chunk that outlives the value.
    pub unsafe fn new(api: &'a Api, chunks: &'a Chunks, handle: Handle) -> Vector<'a> {
        // SAFETY: a live vector, by the contract.
        let (data, validity) = unsafe {
            (
                (chunks.duckdb_vector_get_data)(handle).cast::<u8>(),
                (chunks.duckdb_vector_get_validity)(handle),
            )
        };
        Vector { api, chunks, handle, data, validity }
    }

    fn is_null(&self, row: usize) -> bool {
        // SAFETY: the mask has a bit for each row of the chunk; it is absent if nothing is NULL.
        !self.validity.is_null() && unsafe { *self.validity.add(row / 64) } >> (row % 64) & 1 == 0
    }

    /// # Safety
    /// The vector's cells have this type, and `row` is in it.
    unsafe fn cell<T: Copy>(&self, row: usize) -> T {
        // SAFETY: by the contract.
        unsafe { self.data.cast::<T>().add(row).read_unaligned() }
    }

    /// # Safety
    /// The vector's cells are integers of this size, and `row` is in it.
    unsafe fn integer(&self, row: usize, bytes: usize, signed: bool) -> Value {
        // SAFETY: by the contract.
        unsafe {
            match (bytes, signed) {
                (1, true) => Value::Int(self.cell::<i8>(row).into()),
                (2, true) => Value::Int(self.cell::<i16>(row).into()),
                (4, true) => Value::Int(self.cell::<i32>(row).into()),
                (8, true) => Value::Int(self.cell::<i64>(row)),
                (1, false) => Value::Int(self.cell::<u8>(row).into()),
                (2, false) => Value::Int(self.cell::<u16>(row).into()),
                (4, false) => Value::Int(self.cell::<u32>(row).into()),
                (8, false) => spell::unsigned(self.cell::<u64>(row).into()),
                (_, false) => spell::unsigned(self.cell::<u128>(row)),
                _ => spell::signed(self.cell::<i128>(row)),
            }
        }
    }

    /// # Safety
    /// The vector's cells are texts or blobs, and `row` is in it.
    unsafe fn bytes(&self, row: usize) -> &[u8] {
        // SAFETY: by the contract a cell is a length and then the bytes, if they fit, or else their first
        // four and a pointer to all of them, which lives as long as the chunk.
        unsafe {
            let cell = self.data.add(row * 16);
            let length = cell.cast::<u32>().read_unaligned() as usize;
            let start =
                if length <= INLINE { cell.add(4) } else { cell.add(8).cast::<*const u8>().read_unaligned() };
            std::slice::from_raw_parts(start, length)
        }
    }

    /// # Safety
    /// The vector is of this type, and `row` is in it.
    pub unsafe fn value(&self, ty: &Type, row: usize) -> Value {
        if self.is_null(row) {
            return Value::Null;
        }
        // SAFETY: by the contract; each type's cells are as DuckDB documents them.
        unsafe {
            match ty {
                Type::Bool => Value::Bool(self.cell::<u8>(row) != 0),
                Type::Int { bytes, signed } => self.integer(row, *bytes, *signed),
                Type::Float => Value::Real(self.cell::<f32>(row).into()),
                Type::Double => Value::Real(self.cell(row)),
                Type::Decimal { bytes, scale } => match self.integer(row, *bytes, true) {
                    Value::Int(number) => spell::decimal(number.into(), *scale),
                    _ => spell::decimal(self.cell::<i128>(row), *scale),
                },
                Type::Text => spell::text(self.bytes(row)),
                Type::Blob => Value::Blob(self.bytes(row).to_vec()),
                Type::Bit => other(Kind::Any, format!("bits x'{}'", hex(self.bytes(row)))),
                Type::Date => other(Kind::Date, spell::date(self.cell(row))),
                Type::Time => other(Kind::Time, spell::time(self.cell(row))),
                Type::TimeTz => {
                    // Micros above, the offset below, counted down from its largest.
                    let both: u64 = self.cell(row);
                    let offset = 57_599 - (both & 0xff_ffff) as i64;
                    other(Kind::Time, format!("{} {offset:+} s", spell::time((both >> 24) as i64)))
                }
                Type::Timestamp { unit, utc } => {
                    other(Kind::Timestamp, spell::timestamp(self.cell(row), *unit, *utc))
                }
                Type::Interval => {
                    let (months, days, micros): (i32, i32, i64) = {
                        let cell = self.data.add(row * 16);
                        (
                            cell.cast::<i32>().read_unaligned(),
                            cell.add(4).cast::<i32>().read_unaligned(),
                            cell.add(8).cast::<i64>().read_unaligned(),
                        )
                    };
                    other(Kind::Interval, spell::interval(months, days, micros))
                }
                // Kept as a signed number, its first bit flipped so that it sorts.
                Type::Uuid => other(Kind::Uuid, spell::uuid(self.cell::<u128>(row) ^ 1 << 127)),
                Type::Enum { bytes, labels } => {
                    let label = match self.integer(row, *bytes, false) {
                        Value::Int(at) => labels.get(at as usize).cloned(),
                        _ => None,
                    };
                    other(Kind::Text, label.unwrap_or_else(|| "no label of the type".to_string()))
                }
                Type::List(inner) => other(Kind::Array, format!("[{}]", self.items(inner, row))),
                Type::Array(inner, size) => other(Kind::Array, self.array(inner, *size, row)),
                Type::Map(entry) => other(Kind::Array, format!("{{{}}}", self.items(entry, row))),
                Type::Struct(fields) => other(Kind::Array, self.fields(fields, row)),
                Type::Unknown(id) => other(Kind::Any, format!("a value of type {id}")),
            }
        }
    }

    /// # Safety
    /// The vector is a list or map of this type, and `row` is in it.
    unsafe fn items(&self, inner: &Type, row: usize) -> String {
        // SAFETY: a cell is where the list begins in the child vector and how long it is.
        unsafe {
            let child =
                Vector::new(self.api, self.chunks, (self.chunks.duckdb_list_vector_get_child)(self.handle));
            let (offset, length): (u64, u64) = (self.cell::<[u64; 2]>(row)[0], self.cell::<[u64; 2]>(row)[1]);
            child.run(inner, offset as usize, length as usize)
        }
    }

    /// # Safety
    /// The vector is an array of this type and length, and `row` is in it.
    unsafe fn array(&self, inner: &Type, size: usize, row: usize) -> String {
        let Some(arrays) = &self.api.arrays else { return "an array".to_string() };
        // SAFETY: the arrays follow each other in the child vector.
        unsafe {
            let child =
                Vector::new(self.api, self.chunks, (arrays.duckdb_array_vector_get_child)(self.handle));
            format!("[{}]", child.run(inner, row * size, size))
        }
    }

    /// # Safety
    /// The vector is of this type, and the rows are in it.
    unsafe fn run(&self, ty: &Type, from: usize, length: usize) -> String {
        // SAFETY: by the contract.
        let spelled = |row| unsafe { self.value(ty, row) }.to_string();
        (from..from + length).map(spelled).collect::<Vec<_>>().join(", ")
    }

    /// # Safety
    /// The vector is a struct of these fields, and `row` is in it.
    unsafe fn fields(&self, fields: &[(String, Type)], row: usize) -> String {
        let mut out = Vec::with_capacity(fields.len());
        for (at, (name, ty)) in fields.iter().enumerate() {
            // SAFETY: the struct has a child vector for each field, with a row for each of its own.
            let value = unsafe {
                let child = (self.chunks.duckdb_struct_vector_get_child)(self.handle, at as u64);
                Vector::new(self.api, self.chunks, child).value(ty, row)
            };
            out.push(format!("'{name}': {value}"));
        }
        format!("{{{}}}", out.join(", "))
    }
}
