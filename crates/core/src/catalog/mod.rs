//! Catalogs: what an engine can compute, as the engine reports it and as probing shows.
//!
//! [`Plan`] (in the dialect's file) says which queries to run, [`crate::probe`] runs them and turns the replies
//! into [`Signature`]s, and [`Repertoire`] is the form that the generator uses. A [`Catalog`] is data: it is made
//! once per version of an engine and cached.

mod plan;
mod repertoire;
mod sample;

use serde::{Deserialize, Serialize};

pub(crate) use plan::covered;
pub use plan::{Denial, Plan};
pub use repertoire::{Entry, Repertoire};
pub use sample::{SampleType, plain_name};

use crate::sql::Name;

/// Raised whenever a catalog written before would be read or made differently.
pub const CATALOG_FORMAT: u32 = 4;

/// What an engine can compute: its types and operations, each tried. It is written to disk and read by later
/// hunts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// [`CATALOG_FORMAT`] of the version that wrote it.
    pub format: u32,
    /// The dialect whose plan was followed.
    pub dialect: String,
    /// The version that was asked.
    pub engine_version: String,
    /// Of the dialect's file: another plan makes another catalog.
    pub fingerprint: u64,
    /// The types that values were tried of.
    pub types: Vec<SampleType>,
    /// Everything that was found, usable or not.
    pub operations: Vec<Operation>,
}

/// What sort of thing is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    /// A scalar function.
    Function,
    /// An operator, or a function with a syntax of its own.
    Operator,
    /// A cast from one type to another.
    Cast,
    /// An aggregate function.
    Aggregate,
    /// A window function that is not an aggregate.
    Window,
}

impl OperationKind {
    /// All kinds, in the order in which tables list them.
    pub const ALL: [OperationKind; 5] = [
        OperationKind::Function,
        OperationKind::Operator,
        OperationKind::Aggregate,
        OperationKind::Window,
        OperationKind::Cast,
    ];

    /// What tables call many of them.
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
    /// What sort of thing it is.
    pub kind: OperationKind,
    /// Its name as the engine lists it.
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
    /// Why it is never drawn; absent: it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<Unusable>,
}

impl Operation {
    /// Whether the generator may draw it.
    pub fn is_usable(&self) -> bool {
        self.unusable.is_none()
    }

    /// Whether it is the same thing to compute, in another catalog.
    fn is_like(&self, other: &Operation) -> bool {
        self.kind == other.kind && self.name == other.name && self.form == other.form
    }

    /// Something that crashed the whole process while it was probed.
    pub fn fatal(name: Name, kind: OperationKind, detail: String) -> Operation {
        let unusable = Some(Unusable { why: Why::Crashes, detail });
        Operation { kind, name, form: None, signatures: Vec::new(), indexable: false, unusable }
    }
}

/// Why an operation is not used, and in which words that was learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unusable {
    /// The reason.
    pub why: Why,
    /// The engine's message or the file's own words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Reasons not to use an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The dialect's file says so; the detail is its reason.
    Denied,
    /// The engine says that its result depends on more than its arguments.
    Volatile,
    /// Two answers to one question.
    Unsteady,
    /// An aggregate whose answer depends on the order of rows, or may (floats).
    OrderDependent,
    /// It takes or gives something of which no value is known.
    UnknownType,
    /// Nothing that was tried was accepted.
    Fails,
    /// It took the engine down when it was tried.
    Crashes,
    /// The generator has no place for it.
    NotDrawn,
}

impl Why {
    /// The reason in words, for a table.
    pub fn text(self) -> &'static str {
        match self {
            Why::Denied => "denied by the dialect's file",
            Why::Volatile => "volatile, according to the engine",
            Why::Unsteady => "gives different results for the same arguments",
            Why::OrderDependent => "its result may depend on the order of rows",
            Why::UnknownType => "takes a type without known values",
            Why::Fails => "no arguments tried were accepted",
            Why::Crashes => "crashes the engine",
            Why::NotDrawn => "the generator does not support it",
        }
    }
}

/// Arguments that an operation takes together, and what it gives for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    /// The arguments in order.
    pub args: Vec<Arg>,
    /// The number of its type among the catalog's; none: one the generator cannot name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<u16>,
    /// Runs on typical values and raises an error on others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fragile: bool,
}

/// What an argument may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arg {
    /// The numbers of the types it takes; any of them goes with any of the other arguments'.
    pub types: Vec<u16>,
    /// Only a constant is accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub constant: bool,
}

impl Catalog {
    /// The operations that may be drawn.
    pub fn usable(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| operation.is_usable())
    }

    /// How many different names the usable operations have.
    pub fn usable_names(&self) -> usize {
        self.usable().map(|operation| &*operation.name).collect::<std::collections::BTreeSet<&str>>().len()
    }

    /// Draws only what another engine can compute, too. Operations keep their numbers.
    pub fn keep_common(&mut self, other: &Catalog) {
        for operation in self.operations.iter_mut().filter(|operation| operation.is_usable()) {
            if !other.usable().any(|theirs| theirs.is_like(operation)) {
                let detail = format!("not in {}", other.engine_version);
                operation.unusable = Some(Unusable { why: Why::NotDrawn, detail });
            }
        }
    }

    /// Whether it was made for this engine, by this version of Dissent.
    pub fn is_of(&self, dialect: &str, engine_version: &str, fingerprint: u64) -> bool {
        self.format == CATALOG_FORMAT
            && self.dialect == dialect
            && self.engine_version == engine_version
            && self.fingerprint == fingerprint
    }
}
