//! Data types: how a dialect writes them, and what the generator needs to know about them.

use serde::{Deserialize, Serialize};

use super::name::Name;

/// The family a value belongs to: what the generator and the judge ask about a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// No declared family: a column without a type, an argument that takes anything.
    Any,
    /// Truth values.
    Bool,
    /// Whole numbers of any width.
    Int,
    /// Floating-point numbers.
    Real,
    /// Exact numbers with a fraction.
    Decimal,
    /// Texts, which have a collation.
    Text,
    /// Bytes.
    Blob,
    /// Days of the calendar.
    Date,
    /// Times of the day.
    Time,
    /// A day and a time together.
    Timestamp,
    /// Spans of time.
    Interval,
    /// JSON documents.
    Json,
    /// UUIDs.
    Uuid,
    /// Lists of values.
    Array,
}

impl Kind {
    /// Whether it tells a point in time or a time of day.
    pub fn is_temporal(self) -> bool {
        matches!(self, Kind::Date | Kind::Time | Kind::Timestamp)
    }

    /// Whether arithmetic is done with it.
    pub fn is_numeric(self) -> bool {
        matches!(self, Kind::Int | Kind::Real | Kind::Decimal)
    }
}

/// A type as a statement spells it, with its family.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DataType {
    /// The spelling, `VARCHAR(10)`; empty for a column declared without a type.
    pub name: Name,
    /// The family of its values.
    pub kind: Kind,
}

impl DataType {
    /// A type of this spelling and family.
    pub fn new(name: impl Into<Name>, kind: Kind) -> Self {
        DataType { name: name.into(), kind }
    }
}
