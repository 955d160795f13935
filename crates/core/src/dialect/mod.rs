//! A dialect is data: what a DBMS can do and how it spells it, read from `dialects/*.toml`.
//!
//! Generators and oracles ask what a dialect *can* ([`Dialect::can`]), never which one it *is*.

mod features;
mod preparing;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use features::{Feature, Features};
pub use preparing::{ParameterType, PrepareSyntax, Preparing};

use crate::catalog::{self, Catalog, Repertoire};
use crate::engine::Rows;
use crate::sql::{DataType, Kind, Name, Value};

/// A dialect at one version of its engine: what came later is not in it.
#[derive(Clone, Debug)]
pub struct Dialect {
    pub name: Name,
    pub features: Features,
    pub quote: char,
    /// The word before a query that makes the engine explain it.
    pub explain: Option<String>,
    /// The column of the explanation that a reader wants; absent: all of them.
    pub explain_column: Option<usize>,
    /// The query for the type of a view's only column as it can be declared; `{}` is where its name goes.
    pub view_type: Option<String>,
    pub spelling: Spelling,
    pub types: Vec<TypeEntry>,
    pub casts: Vec<Cast>,
    pub collations: Vec<Name>,
    pub functions: Vec<Function>,
    pub aggregates: Vec<AggregateFunction>,
    /// Functions whose answer is not a matter of their arguments alone (SOUNDNESS 0.3).
    pub volatile: Vec<Name>,
    /// Aggregates whose answer depends on the order of rows (SOUNDNESS 0.5).
    pub order_dependent: Vec<Name>,
    /// Settings a hunt may vary; no answer may depend on them.
    pub settings: Vec<Setting>,
    /// The query for what a setting is set to; `{}` is where its name goes.
    pub setting_value: Option<String>,
    /// Settings that must be made before the first table (encodings, page sizes).
    pub initial_settings: Vec<Setting>,
    /// Statements that change how a table is stored or what is known of it, never what it holds; `{}` is
    /// where its name goes.
    pub maintenance: Vec<Name>,
    /// The kinds of index beside the usual one.
    pub index_methods: Vec<IndexMethod>,
    /// What may follow a table's columns: how it is stored; `{columns}` stands for some of its columns.
    pub table_options: Vec<TableOption>,
    /// How a table without keys is divided into partitions.
    pub partitions: Vec<Partitioning>,
    /// Functions that read the clock when they are called with fewer arguments than these.
    pub clock: BTreeMap<String, usize>,
    /// How statements are prepared, and what may be a parameter of them.
    pub preparing: Preparing,
    /// How to ask the engine what it can compute.
    pub catalog: catalog::Plan,
    /// What the engine can compute, once that is known.
    pub repertoire: Repertoire,
}

/// How values and parameters are written where dialects differ; `{}` is where the text goes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spelling {
    /// Around the hexadecimal digits of a blob.
    #[serde(default = "Spelling::blob")]
    pub blob: String,
    /// Around each of its bytes.
    #[serde(default = "Spelling::byte")]
    pub byte: String,
    /// Around the text of a value that is neither number, text nor blob, by its kind.
    #[serde(default)]
    pub literals: BTreeMap<Kind, String>,
    /// Around the number of a parameter; without `{}` parameters are positional.
    #[serde(default = "Spelling::param")]
    pub param: String,
    /// Around the number and the type of a parameter under a cast, where both are one.
    #[serde(default)]
    pub typed_param: Option<String>,
}

impl Spelling {
    fn blob() -> String {
        String::from("x'{}'")
    }

    fn byte() -> String {
        String::from("{}")
    }

    fn param() -> String {
        String::from("?{}")
    }
}

impl Default for Spelling {
    fn default() -> Self {
        Spelling {
            blob: Spelling::blob(),
            byte: Spelling::byte(),
            literals: Default::default(),
            param: Spelling::param(),
            typed_param: None,
        }
    }
}

/// A type that a column may be declared with.
#[derive(Debug, Clone)]
pub struct TypeEntry {
    pub ty: DataType,
    /// How often it is drawn; 0: only where an operation is looked at on its own.
    pub weight: u32,
    /// May be declared in a table whose types are enforced (SQLite's STRICT).
    pub strict: bool,
    /// Values that compare equal are the same value (SOUNDNESS 0.8).
    pub identity: bool,
    /// The integers it holds, the longest text it holds; absent: any.
    pub range: Option<(i64, i64)>,
    pub length: Option<usize>,
    /// Only a prefix of it can be a key, and a literal cannot be its default.
    pub prefixed: bool,
    /// No part of it can be a key.
    pub keyless: bool,
    /// A number or bytes (or a word) by what is done with it: BIT, ENUM, YEAR.
    pub dual: bool,
    /// Says itself that it can be NULL, so that NOT NULL beside it means nothing.
    pub nullable: bool,
}

/// A type that CAST may name, and the kinds it takes without raising an error; none named: all.
#[derive(Debug, Clone, Deserialize)]
pub struct Cast {
    #[serde(flatten)]
    pub ty: DataType,
    #[serde(default)]
    pub from: Vec<Kind>,
}

/// A scalar function as the generator calls it. Nothing volatile is ever listed (SOUNDNESS 0.3).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    pub name: Name,
    pub args: Vec<Kind>,
    /// The kind of any number of further arguments.
    #[serde(default)]
    pub more: Option<Kind>,
    pub returns: Kind,
    #[serde(default)]
    pub since: Option<String>,
    /// May stand in an index, a CHECK or a generated column.
    #[serde(default = "yes")]
    pub indexable: bool,
    /// A column of its result's type is compared as the result is.
    #[serde(default = "yes")]
    pub storable: bool,
    #[serde(default = "one")]
    pub weight: u32,
}

/// An aggregate as the generator calls it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregateFunction {
    pub name: Name,
    pub args: Vec<Kind>,
    pub returns: Kind,
    /// How partial results over a partition are put together again; absent: they cannot be.
    #[serde(default)]
    pub combine: Option<Combine>,
    #[serde(default)]
    pub since: Option<String>,
}

/// A kind of index: `USING hash`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexMethod {
    pub name: Name,
    /// The kinds of keys it takes; none named: all.
    #[serde(default)]
    pub kinds: Vec<Kind>,
    /// One key only.
    #[serde(default)]
    pub single: bool,
}

/// A way to divide a table: `PARTITION BY HASH ({column})`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partitioning {
    /// What follows the columns; `{column}` is the one that rows are divided by.
    pub form: Name,
    /// The kinds of column it takes; none named: all.
    #[serde(default)]
    pub kinds: Vec<Kind>,
    /// The statements that make the partitions of `{table}`, where they are tables of their own.
    #[serde(default)]
    pub made: Vec<Name>,
}

/// A way to store a table: `ENGINE=MEMORY`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableOption {
    pub name: Name,
    /// How often it is drawn; 0: only where a table is compared with a twin that is stored otherwise.
    #[serde(default = "one")]
    pub weight: u32,
    /// Its name is not what follows the columns.
    #[serde(default)]
    pub unwritten: bool,
    #[serde(default)]
    pub temporary: bool,
    /// Statements after the table is created and before it has rows; `{table}` is where its name goes.
    #[serde(default)]
    pub made: Vec<Name>,
    /// Statements after everything was done to the table.
    #[serde(default)]
    pub filled: Vec<Name>,
    /// The primary key is the place of a row: no table without one, and no part of it is NULL.
    #[serde(default)]
    pub keyed: bool,
    /// No key that no two rows share.
    #[serde(default)]
    pub keyless: bool,
    /// The types of columns that it takes; none named: all.
    #[serde(default)]
    pub types: Vec<Name>,
    #[serde(default)]
    pub since: Option<String>,
    /// Takes columns whose types need a prefix as keys.
    #[serde(default = "yes")]
    pub long_values: bool,
    /// Takes generated columns.
    #[serde(default = "yes")]
    pub generated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    Min,
    Max,
    Sum,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub name: Name,
    pub values: Vec<Name>,
    #[serde(default)]
    pub since: Option<String>,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

#[derive(Debug, thiserror::Error)]
pub enum DialectError {
    #[error("there is no dialect '{0}'")]
    Unknown(String),
    #[error("dialects/{name}.toml: {error}")]
    Malformed { name: String, error: toml::de::Error },
}

/// The dialects built into Dissent.
const FILES: &[(&str, &str)] = &[
    ("clickhouse", include_str!("../../../../dialects/clickhouse.toml")),
    ("cockroachdb", include_str!("../../../../dialects/cockroachdb.toml")),
    ("duckdb", include_str!("../../../../dialects/duckdb.toml")),
    ("mariadb", include_str!("../../../../dialects/mariadb.toml")),
    ("mysql", include_str!("../../../../dialects/mysql.toml")),
    ("oceanbase", include_str!("../../../../dialects/oceanbase.toml")),
    ("percona", include_str!("../../../../dialects/percona.toml")),
    ("postgres", include_str!("../../../../dialects/postgres.toml")),
    ("sqlite", include_str!("../../../../dialects/sqlite.toml")),
    ("tidb", include_str!("../../../../dialects/tidb.toml")),
];

/// A dialect's file, laid over that of the relative it inherits from: tables are merged, everything
/// else that the file says replaces what the relative says.
fn written(name: &str) -> Result<toml::Table, DialectError> {
    let (_, text) =
        FILES.iter().find(|(n, _)| *n == name).ok_or_else(|| DialectError::Unknown(name.to_string()))?;
    let mut file: toml::Table =
        toml::from_str(text).map_err(|error| DialectError::Malformed { name: name.to_string(), error })?;
    match file.remove("inherits") {
        Some(toml::Value::String(relative)) => {
            let mut whole = written(&relative)?;
            // Relatives count their versions otherwise.
            whole.remove("before");
            lay_over(&mut whole, file);
            Ok(whole)
        }
        _ => Ok(file),
    }
}

fn lay_over(below: &mut toml::Table, above: toml::Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

impl Dialect {
    /// The dialect as an engine of this version speaks it.
    pub fn load(name: &str, version: &str) -> Result<Dialect, DialectError> {
        let malformed = |error| DialectError::Malformed { name: name.to_string(), error };
        let version = Version::parse(version);
        let mut whole = written(name)?;
        if let Some(toml::Value::Table(older)) = whole.remove("before") {
            for (bound, differs) in older {
                if let toml::Value::Table(differs) = differs
                    && version < Version::parse(&bound)
                {
                    lay_over(&mut whole, differs);
                }
            }
        }
        let file = File::deserialize(whole).map_err(malformed)?;
        Ok(file.at(version))
    }

    /// A number that changes with what the dialect's file says, except of tables, which probing does not make.
    pub fn fingerprint(name: &str) -> u64 {
        let mut table = written(name).unwrap_or_default();
        for part in ["types", "table_options", "partitions", "index_methods", "maintenance", "settings"] {
            table.remove(part);
        }
        let text = table.to_string();
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        text.bytes().fold(0xCBF2_9CE4_8422_2325, mix)
    }

    /// Takes in what the engine can compute: the generator draws from it.
    pub fn learn(&mut self, catalog: &Catalog) {
        self.repertoire = Repertoire::new(catalog, self);
    }

    /// The fewest arguments with which a function's answer is a matter of them alone.
    pub fn least_args(&self, name: &str) -> usize {
        self.clock.iter().find(|(clock, _)| clock.eq_ignore_ascii_case(name)).map_or(0, |(_, least)| *least)
    }

    pub fn can(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }

    /// The dialect without some of what it can do.
    pub fn without(&self, features: &[Feature], functions: &[Name]) -> Dialect {
        let mut less = self.clone();
        features.iter().for_each(|feature| less.features.remove(*feature));
        let left_out = |name: &Name| functions.iter().any(|other| other.eq_ignore_ascii_case(name));
        less.functions.retain(|function| !left_out(&function.name));
        less.aggregates.retain(|function| !left_out(&function.name));
        less.repertoire.forget(left_out);
        less
    }

    /// Operators and functions take operands of their own kind only.
    pub fn is_typed(&self) -> bool {
        !self.can(Feature::LooseOperands)
    }

    /// Whether an aggregate takes values of a kind.
    pub fn aggregates(&self, name: &str, kind: Kind) -> bool {
        let takes = |function: &AggregateFunction| {
            function.args.first().is_none_or(|arg| *arg == kind || *arg == Kind::Any)
        };
        self.aggregates.iter().any(|function| function.name.eq_ignore_ascii_case(name) && takes(function))
    }

    /// A statement's text that is one of maintenance, with some table's name in it.
    pub fn is_maintenance(&self, text: &str) -> bool {
        let fits = |form: &Name| {
            let (before, after) = form.split_once("{}").unwrap_or((form, ""));
            text.starts_with(before) && text.ends_with(after)
        };
        let divides = |form: &Name| {
            let mut parts = form.split("{table}");
            text.starts_with(parts.next().unwrap_or("")) && text.ends_with(parts.last().unwrap_or(""))
        };
        let made = self.partitions.iter().flat_map(|partitioning| &partitioning.made);
        self.maintenance.iter().any(fits) || made.into_iter().any(divides)
    }

    /// A type of which only a prefix can be a key.
    pub fn is_prefixed(&self, ty: &DataType) -> bool {
        self.type_entry(ty).is_some_and(|entry| entry.prefixed)
    }

    /// A kind whose values can be keys, in part at least.
    pub fn has_keys(&self, kind: Kind) -> bool {
        !self.types.iter().any(|entry| entry.ty.kind == kind && entry.keyless)
    }

    /// A type whose values can be keys as they are.
    pub fn is_key(&self, ty: &DataType) -> bool {
        self.has_keys(ty.kind) && !self.is_prefixed(ty)
    }

    /// What is known of a type by its spelling.
    pub fn type_entry(&self, ty: &DataType) -> Option<&TypeEntry> {
        self.types.iter().find(|entry| entry.ty.name == ty.name)
    }

    /// Whether equal values of a type are the same value: no padding, no folding, no second zero.
    pub fn is_identical(&self, ty: &DataType) -> bool {
        match self.type_entry(ty) {
            Some(entry) => entry.identity,
            // A type of somebody else's is as those of its kind are.
            None => {
                let mut alike = self.types.iter().filter(|entry| entry.ty.kind == ty.kind).peekable();
                ty.kind != Kind::Any && alike.peek().is_some() && alike.all(|entry| entry.identity)
            }
        }
    }

    /// An explanation's rows as text.
    pub fn plan_text(&self, rows: &Rows) -> String {
        let text = |value: &Value| match value {
            Value::Text(text) => text.clone(),
            other => other.to_string(),
        };
        let lines: Vec<String> = rows
            .iter()
            .map(|row| match self.explain_column.and_then(|at| row.get(at)) {
                Some(value) => text(value),
                None => row.iter().map(text).collect::<Vec<_>>().join(" | "),
            })
            .collect();
        lines.join("\n")
    }
}

/// A version number, compared part by part; what is no number counts as 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Vec<u64>);

impl Version {
    pub fn parse(text: &str) -> Version {
        Version(text.split(['.', '-', '+', ' ']).map(|part| part.parse().unwrap_or(0)).collect())
    }

    fn reaches(&self, since: &Option<String>) -> bool {
        since.as_deref().is_none_or(|since| *self >= Version::parse(since))
    }
}

/// `dialects/NAME.toml` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Name,
    quote: char,
    explain: Option<String>,
    explain_column: Option<usize>,
    view_type: Option<String>,
    features: BTreeMap<Feature, features::Since>,
    #[serde(default)]
    spelling: Spelling,
    types: Vec<TypeLine>,
    casts: Vec<Cast>,
    collations: Vec<Name>,
    functions: Vec<Function>,
    aggregates: Vec<AggregateFunction>,
    volatile: Vec<Name>,
    order_dependent: Vec<Name>,
    settings: Vec<Setting>,
    setting_value: Option<String>,
    #[serde(default)]
    initial_settings: Vec<Setting>,
    #[serde(default)]
    maintenance: Vec<Name>,
    #[serde(default)]
    index_methods: Vec<IndexMethod>,
    #[serde(default)]
    table_options: Vec<TableOption>,
    #[serde(default)]
    partitions: Vec<Partitioning>,
    #[serde(default)]
    clock: BTreeMap<String, usize>,
    #[serde(default)]
    preparing: Preparing,
    #[serde(default)]
    catalog: catalog::Plan,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypeLine {
    name: Name,
    kind: Kind,
    #[serde(default = "one")]
    weight: u32,
    #[serde(default)]
    strict: bool,
    #[serde(default = "yes")]
    identity: bool,
    #[serde(default)]
    range: Option<(i64, i64)>,
    #[serde(default)]
    length: Option<usize>,
    #[serde(default)]
    prefixed: bool,
    #[serde(default)]
    keyless: bool,
    #[serde(default)]
    dual: bool,
    #[serde(default)]
    nullable: bool,
    #[serde(default)]
    since: Option<String>,
}

impl File {
    fn at(self, version: Version) -> Dialect {
        let features = self
            .features
            .iter()
            .filter(|(_, since)| since.reached(&version))
            .map(|(feature, _)| *feature)
            .collect();
        let mut catalog = self.catalog;
        catalog.types.retain(|line| version.reaches(&line.since));
        let settings = |mut list: Vec<Setting>| {
            list.retain(|setting| version.reaches(&setting.since));
            list
        };
        Dialect {
            name: self.name,
            features,
            quote: self.quote,
            explain: self.explain,
            explain_column: self.explain_column,
            setting_value: self.setting_value,
            view_type: self.view_type,
            spelling: self.spelling,
            types: self
                .types
                .into_iter()
                .filter(|line| version.reaches(&line.since))
                .map(|line| TypeEntry {
                    ty: DataType { name: line.name, kind: line.kind },
                    weight: line.weight,
                    strict: line.strict,
                    identity: line.identity,
                    range: line.range,
                    length: line.length,
                    prefixed: line.prefixed,
                    keyless: line.keyless,
                    dual: line.dual,
                    nullable: line.nullable,
                })
                .collect(),
            casts: self.casts,
            collations: self.collations,
            functions: self.functions.into_iter().filter(|f| version.reaches(&f.since)).collect(),
            aggregates: self.aggregates.into_iter().filter(|f| version.reaches(&f.since)).collect(),
            volatile: self.volatile,
            order_dependent: self.order_dependent,
            settings: settings(self.settings),
            initial_settings: settings(self.initial_settings),
            maintenance: self.maintenance,
            index_methods: self.index_methods,
            table_options: {
                let reached = |option: &TableOption| version.reaches(&option.since);
                self.table_options.into_iter().filter(reached).collect()
            },
            partitions: self.partitions,
            clock: self.clock,
            preparing: self.preparing,
            catalog,
            repertoire: Repertoire::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_dialect_reads() {
        for (name, _) in FILES {
            let dialect = Dialect::load(name, "999").unwrap();
            assert_eq!(dialect.name, *name);
        }
    }

    #[test]
    fn what_came_later_is_absent_from_an_older_version() {
        let old = Dialect::load("sqlite", "3.30.1").unwrap();
        let new = Dialect::load("sqlite", "3.54.1").unwrap();
        assert!(!old.can(Feature::RightJoin) && new.can(Feature::RightJoin));
        assert!(old.can(Feature::Upsert));
        assert!(old.functions.len() < new.functions.len());
    }

    #[test]
    fn what_older_versions_do_otherwise_is_not_the_relatives() {
        let can = |name, version| Dialect::load(name, version).unwrap().can(Feature::Cte);
        assert!(!can("mysql", "5.6.24") && can("mysql", "8.0.36"));
        assert!(can("tidb", "7.5.0") && can("oceanbase", "4.3.5"));
    }

    #[test]
    fn a_relative_is_laid_over_what_it_inherits_from() {
        let mut below: toml::Table = toml::from_str("a = 1\nb = [1, 2]\n[t]\nx = 1\ny = 1").unwrap();
        let above: toml::Table = toml::from_str("b = [3]\n[t]\ny = 2\nz = 2").unwrap();
        lay_over(&mut below, above);
        let expected: toml::Table = toml::from_str("a = 1\nb = [3]\n[t]\nx = 1\ny = 2\nz = 2").unwrap();
        assert_eq!(below, expected);
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(Version::parse("3.9.2") < Version::parse("3.30.1"));
        assert!(Version::parse("3.8.11.1") > Version::parse("3.8.11"));
    }
}
