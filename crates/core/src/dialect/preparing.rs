//! How a dialect prepares statements: the types of parameters, the syntax, and the error messages where a parameter
//! cannot replace a literal.

use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer};

use super::Setting;
use super::version::Version;
use crate::sql::{DataType, Kind, Name, Value};

/// How statements are prepared, and what may be a parameter of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Preparing {
    /// Versions before this one prepare nothing that can be relied on.
    pub since: Option<String>,
    /// What may be a parameter where the engine's own interface binds it.
    pub types: Vec<ParameterType>,
    /// PREPARE in SQL; absent if there is none, and empty if only the dialect that is inherited from has one.
    #[serde(deserialize_with = "unless_empty")]
    pub sql: Option<PrepareSyntax>,
    /// What may be a parameter there; empty: the same.
    pub sql_types: Vec<ParameterType>,
    /// More than queries and changes of rows can be prepared by the interface.
    pub definitions: bool,
    /// Settings that decide how what is prepared is planned.
    pub settings: Vec<Setting>,
    /// Parts of the messages by which a parameter is refused where a literal is not, and rightly so.
    pub refusals: Vec<Name>,
    /// LIMIT takes a parameter, but no cast of one.
    pub bare_limit: bool,
    /// Functions and operators that are another thing with a parameter than with a literal.
    pub literal_only: Vec<Name>,
}

/// What a parameter is: a literal of a kind, in both arms under a cast to the type if it has a name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterType {
    /// The type as it is written; empty: no cast.
    pub name: Name,
    /// What its literals are.
    pub kind: Kind,
    /// The integers it holds; absent: any.
    #[serde(default)]
    pub range: Option<(i64, i64)>,
}

/// The words for PREPARE in SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrepareSyntax {
    /// `PREPARE p AS …`, `EXECUTE p(1)`.
    As,
    /// `PREPARE p(INTEGER) AS …`.
    TypedAs,
    /// `PREPARE p FROM '…'`, `EXECUTE p USING @p1`.
    FromText,
}

fn unless_empty<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PrepareSyntax>, D::Error> {
    let word = String::deserialize(from)?;
    (!word.is_empty()).then(|| PrepareSyntax::deserialize(word.as_str().into_deserializer())).transpose()
}

impl Preparing {
    /// What a version has of it.
    pub fn at(self, version: &Version) -> Preparing {
        if version.reaches(&self.since) { self } else { Preparing::default() }
    }

    /// Whether anything can be prepared.
    pub fn is_possible(&self) -> bool {
        !self.types.is_empty() || self.sql.is_some()
    }

    /// What may be a parameter, in SQL or by the interface.
    pub fn types(&self, in_sql: bool) -> &[ParameterType] {
        if in_sql && !self.sql_types.is_empty() { &self.sql_types } else { &self.types }
    }
}

impl ParameterType {
    /// The type that a parameter is cast to.
    pub fn data_type(&self) -> DataType {
        DataType::new(self.name.clone(), self.kind)
    }

    /// Whether a value of its kind is the same value as a literal and as a parameter.
    pub fn holds(&self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Int(int) => {
                // The smallest integer is a sign and a number that is too large.
                let (low, high) = self.range.unwrap_or((i64::MIN + 1, i64::MAX));
                self.kind == Kind::Int && (low..=high).contains(int)
            }
            // What every reader of digits comes to.
            Value::Real(real) => {
                self.kind == Kind::Real && real.abs() < 1e9 && (real * 1024.0).fract() == 0.0
            }
            // Not every text literal can hold it.
            Value::Text(text) => self.kind == Kind::Text && !text.contains('\0'),
            other => other.kind() == self.kind,
        }
    }
}
