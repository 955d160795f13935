//! Data types: what a dialect spells, and what the generator needs to know of it.

use serde::{Deserialize, Serialize};

use super::name::Name;

/// The family a value belongs to: what the generator and the judge ask about a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// No declared family: a column without a type, an argument that takes anything.
    Any,
    Bool,
    Int,
    Real,
    Decimal,
    Text,
    Blob,
    Date,
    Time,
    Timestamp,
    Interval,
    Json,
    Uuid,
    Array,
}

impl Kind {
    pub fn is_temporal(self) -> bool {
        matches!(self, Kind::Date | Kind::Time | Kind::Timestamp)
    }

    pub fn is_numeric(self) -> bool {
        matches!(self, Kind::Int | Kind::Real | Kind::Decimal)
    }
}

/// A type as a statement spells it, with its family.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DataType {
    /// The spelling, `VARCHAR(10)`; empty for a column declared without a type.
    pub name: Name,
    pub kind: Kind,
}

impl DataType {
    pub fn new(name: impl Into<Name>, kind: Kind) -> Self {
        DataType { name: name.into(), kind }
    }
}
