//! Catalogs: what an engine can compute, as it tells itself and as probing shows.
//!
//! [`Plan`] (in the dialect's file) says which questions to ask, [`crate::probe`] asks them and turns replies into
//! [`Signature`]s, [`Repertoire`] is the form the generator draws from. A [`Catalog`] is data: it is made
//! once for a version of an engine and kept.

mod plan;
mod repertoire;
mod sample;

use serde::{Deserialize, Serialize};

pub use plan::{Denial, Plan};
pub use repertoire::{Entry, Repertoire};
pub use sample::{SampleType, plain_name};

use crate::sql::Name;

/// Raised whenever a catalog written before would be read or made differently.
pub const CATALOG_FORMAT: u32 = 4;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    pub format: u32,
    pub dialect: String,
    pub engine_version: String,
    /// Of the dialect's file: another plan makes another catalog.
    pub fingerprint: u64,
    pub types: Vec<SampleType>,
    pub operations: Vec<Operation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    Function,
    Operator,
    Cast,
    Aggregate,
    Window,
}

impl OperationKind {
    pub const ALL: [OperationKind; 5] = [
        OperationKind::Function,
        OperationKind::Operator,
        OperationKind::Aggregate,
        OperationKind::Window,
        OperationKind::Cast,
    ];

    pub fn name(self) -> &'static str {
        match self {
            OperationKind::Function => "functions",
            OperationKind::Operator => "operators",
            OperationKind::Cast => "casts",
            OperationKind::Aggregate => "aggregates",
            OperationKind::Window => "window functions",
        }
    }
}

/// One thing to compute: a name with one number of arguments, or one overload where the engine lists them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    pub kind: OperationKind,
    pub name: Name,
    /// How it is written if not as a call: `{} @> {}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Name>,
    /// The ways it can be used; none if `unusable`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<Signature>,
    /// May stand in an index, a CHECK or a generated column.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indexable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<Unusable>,
}

impl Operation {
    pub fn is_usable(&self) -> bool {
        self.unusable.is_none()
    }

    /// Something that took the whole process down while it was probed.
    pub fn fatal(name: Name, kind: OperationKind, detail: String) -> Operation {
        let unusable = Some(Unusable { why: Why::Crashes, detail });
        Operation { kind, name, form: None, signatures: Vec::new(), indexable: false, unusable }
    }
}

/// Why an operation is not used, and in which words that was learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unusable {
    pub why: Why,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The dialect's file says so; the detail is its reason.
    Denied,
    /// The engine says that its answer is no matter of its arguments alone.
    Volatile,
    /// Two answers to one question.
    Unsteady,
    /// An aggregate whose answer depends on the order of rows, or may (floats).
    OrderDependent,
    /// It takes or gives something of which no value is known.
    UnknownType,
    /// Nothing that was tried was accepted.
    Fails,
    Crashes,
    /// The generator has no place for it.
    NotDrawn,
}

impl Why {
    pub fn text(self) -> &'static str {
        match self {
            Why::Denied => "denied by the dialect's file",
            Why::Volatile => "volatile by the engine's own word",
            Why::Unsteady => "gives two answers to one question",
            Why::OrderDependent => "its answer may depend on the order of rows",
            Why::UnknownType => "takes a type of which no value is known",
            Why::Fails => "no arguments tried were accepted",
            Why::Crashes => "crashes the engine",
            Why::NotDrawn => "the generator has no place for it",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    pub args: Vec<Arg>,
    /// The number of its type among the catalog's; none: one the generator cannot name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<u16>,
    /// Runs on typical values and raises an error on others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fragile: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arg {
    /// The numbers of the types it takes; any of them goes with any of the other arguments'.
    pub types: Vec<u16>,
    /// Only a constant is accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub constant: bool,
}

impl Catalog {
    pub fn usable(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| operation.is_usable())
    }

    /// How many different names the usable operations have.
    pub fn usable_names(&self) -> usize {
        self.usable().map(|operation| &*operation.name).collect::<std::collections::BTreeSet<&str>>().len()
    }

    /// Whether it was made for this engine, by this version of Dissent.
    pub fn is_of(&self, dialect: &str, engine_version: &str, fingerprint: u64) -> bool {
        self.format == CATALOG_FORMAT
            && self.dialect == dialect
            && self.engine_version == engine_version
            && self.fingerprint == fingerprint
    }
}
