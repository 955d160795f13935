//! DuckDB's types: numbers in the C interface, trees here.

use super::api::{Api, Handle};
use crate::spell::Unit;

#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    Bool,
    Int {
        bytes: usize,
        signed: bool,
    },
    Float,
    Double,
    Decimal {
        bytes: usize,
        scale: usize,
    },
    Text,
    Blob,
    Bit,
    Date,
    Time,
    TimeTz,
    Timestamp {
        unit: Unit,
        utc: bool,
    },
    Interval,
    Uuid,
    Enum {
        bytes: usize,
        labels: Vec<String>,
    },
    List(Box<Type>),
    Array(Box<Type>, usize),
    Struct(Vec<(String, Type)>),
    Map(Box<Type>),
    /// A type whose values are not read.
    Unknown(u32),
}

/// How a version numbers its types: those of 0.10.0 and 0.10.1 put UHUGEINT in the middle, and those before 0.2.9 are asked.
#[derive(Clone, Debug, Default)]
pub struct Numbering {
    shifted: bool,
    learned: Option<Vec<(u32, Type)>>,
}

const VARCHAR: u32 = 17;
const UHUGEINT: u32 = 32;

impl Numbering {
    /// From the number of VARCHAR.
    pub fn with_varchar(id: u32) -> Numbering {
        Numbering { shifted: id == VARCHAR + 1, learned: None }
    }

    /// All that is known.
    pub fn learned(known: Vec<(u32, Type)>) -> Numbering {
        Numbering { shifted: false, learned: Some(known) }
    }

    fn usual(&self, id: u32) -> u32 {
        match id {
            VARCHAR if self.shifted => UHUGEINT,
            id if self.shifted && id > VARCHAR => id - 1,
            id => id,
        }
    }

    /// A type that is all in its number.
    pub fn simple(&self, id: u32) -> Type {
        if let Some(known) = &self.learned {
            let found = known.iter().find(|(number, _)| *number == id);
            return found.map_or(Type::Unknown(id), |(_, ty)| ty.clone());
        }
        let int = |bytes, signed| Type::Int { bytes, signed };
        match self.usual(id) {
            1 => Type::Bool,
            2 => int(1, true),
            3 => int(2, true),
            4 => int(4, true),
            5 => int(8, true),
            6 => int(1, false),
            7 => int(2, false),
            8 => int(4, false),
            9 => int(8, false),
            10 => Type::Float,
            11 => Type::Double,
            12 => Type::Timestamp { unit: Unit::Micros, utc: false },
            13 => Type::Date,
            14 => Type::Time,
            15 => Type::Interval,
            16 => int(16, true),
            VARCHAR => Type::Text,
            18 => Type::Blob,
            20 => Type::Timestamp { unit: Unit::Seconds, utc: false },
            21 => Type::Timestamp { unit: Unit::Millis, utc: false },
            22 => Type::Timestamp { unit: Unit::Nanos, utc: false },
            27 => Type::Uuid,
            29 => Type::Bit,
            30 => Type::TimeTz,
            31 => Type::Timestamp { unit: Unit::Micros, utc: true },
            UHUGEINT => int(16, false),
            other => Type::Unknown(other),
        }
    }

    /// Reads a logical type and destroys it.
    ///
    /// # Safety
    /// `ty` is a logical type of this library that nobody else destroys.
    pub unsafe fn read(&self, api: &Api, mut ty: Handle) -> Type {
        let Some(chunks) = api.chunks() else { return Type::Unknown(0) };
        if ty.is_null() {
            return Type::Unknown(0);
        }
        let text = |text| String::from_utf8_lossy(&api.owned_text(text).unwrap_or_default()).into_owned();
        // SAFETY: the type lives until it is destroyed below; each function is asked about a type of its
        // kind; what it returns is handed on to be destroyed or freed.
        unsafe {
            let id = (chunks.duckdb_get_type_id)(ty);
            let bytes = |id: u32| match self.simple(id) {
                Type::Int { bytes, .. } => bytes,
                _ => 0,
            };
            let read = match (self.usual(id), &api.arrays) {
                (19, _) => Type::Decimal {
                    bytes: bytes((chunks.duckdb_decimal_internal_type)(ty)),
                    scale: (chunks.duckdb_decimal_scale)(ty).into(),
                },
                (23, _) => Type::Enum {
                    bytes: bytes((chunks.duckdb_enum_internal_type)(ty)),
                    labels: (0..(chunks.duckdb_enum_dictionary_size)(ty))
                        .map(|at| text((chunks.duckdb_enum_dictionary_value)(ty, at.into())))
                        .collect(),
                },
                (24, _) => Type::List(Box::new(self.read(api, (chunks.duckdb_list_type_child_type)(ty)))),
                (25, _) => Type::Struct(
                    (0..(chunks.duckdb_struct_type_child_count)(ty))
                        .map(|at| {
                            let name = text((chunks.duckdb_struct_type_child_name)(ty, at));
                            (name, self.read(api, (chunks.duckdb_struct_type_child_type)(ty, at)))
                        })
                        .collect(),
                ),
                // A list of structs of key and value.
                (26, _) => Type::Map(Box::new(self.read(api, (chunks.duckdb_list_type_child_type)(ty)))),
                (33, Some(arrays)) => Type::Array(
                    Box::new(self.read(api, (arrays.duckdb_array_type_child_type)(ty))),
                    (arrays.duckdb_array_type_array_size)(ty) as usize,
                ),
                _ => self.simple(id),
            };
            (chunks.duckdb_destroy_logical_type)(&mut ty);
            read
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shifted_numbering_means_the_same_types() {
        let shifted = Numbering::with_varchar(18);
        assert_eq!(shifted.simple(18), Type::Text);
        assert_eq!(shifted.simple(17), Type::Int { bytes: 16, signed: false });
        assert_eq!(shifted.simple(28), Type::Uuid);
        assert_eq!(Numbering::with_varchar(17).simple(17), Type::Text);
    }
}
