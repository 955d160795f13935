//! A dialect is data: what a DBMS can do and how it writes it, read from `dialects/*.toml`.
//!
//! Generators and oracles ask what a dialect *can* do ([`Dialect::can`]), never which one it *is*.

pub mod common;
mod confines;
mod costs;
mod descriptor;
mod discovery;
mod features;
mod file;
mod module;
mod preparing;
mod version;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

pub use confines::{Confines, Escape};
pub use costs::Costs;
pub use descriptor::{Databases, Descriptor, ServerProgram, TimeLimit};
pub use discovery::Discovery;
pub use features::{Feature, Features};
pub use file::{DialectError, Files};
pub use module::{FunctionColumn, Module, ModuleColumn, Search, TableArgument, TableFunction};
pub use preparing::{ParameterType, PrepareSyntax, Preparing};
pub use version::Version;

use crate::catalog::{self, Catalog, Repertoire};
use crate::engine::Rows;
use crate::sql::{DataType, Kind, Name, Value};

/// A dialect at one version of its engine: what came later is not in it.
#[derive(Clone, Debug)]
pub struct Dialect {
    /// As its file and its targets are called: `postgres`.
    pub name: Name,
    /// What its engine is and how to reach it.
    pub engine: Descriptor,
    /// What it can do.
    pub features: Features,
    /// Around names.
    pub quote: char,
    /// The word before a query that makes the engine explain it.
    pub explain: Option<String>,
    /// The column of the explanation that a reader wants; absent: all of them.
    pub explain_column: Option<usize>,
    /// The query for the type of a view's only column as it can be declared; `{}` is where its name goes.
    pub view_type: Option<String>,
    /// How values and parameters are written.
    pub spelling: Spelling,
    /// The types of columns.
    pub types: Vec<TypeEntry>,
    /// The types that CAST may name.
    pub casts: Vec<Cast>,
    /// What COLLATE may name.
    pub collations: Vec<Name>,
    /// Scalar functions that are always drawn; the catalog has more.
    pub functions: Vec<Function>,
    /// Aggregates that are always drawn.
    pub aggregates: Vec<AggregateFunction>,
    /// Aggregates that take an ORDER BY and depend on it.
    pub ordered_aggregates: Vec<OrderedAggregate>,
    /// Functions whose answer is not a matter of their arguments alone (SOUNDNESS 0.3).
    pub volatile: Vec<Name>,
    /// Aggregates whose answer depends on the order of rows (SOUNDNESS 0.5).
    pub order_dependent: Vec<Name>,
    /// Settings a hunt may vary; no answer may depend on them.
    pub settings: Vec<Setting>,
    /// How the engine is asked for more of them.
    pub discovery: Discovery,
    /// The query for what a setting is set to; `{}` is where its name goes.
    pub setting_value: Option<String>,
    /// Settings that must be made before the first table (encodings, page sizes).
    pub initial_settings: Vec<Setting>,
    /// Statements that change how a table is stored or what is known of it, never what it holds; `{}` is
    /// where its name goes.
    pub maintenance: Vec<Name>,
    /// More statements after which a database answers as before, for the oracle `roundtrip` alone.
    pub roundtrips: Vec<Name>,
    /// Ways to write statistics that are false.
    pub statistics: Vec<WrittenStatistics>,
    /// The kinds of indexes besides the default one.
    pub index_methods: Vec<IndexMethod>,
    /// What may follow a table's columns: how it is stored; `{columns}` stands for some of its columns.
    pub table_options: Vec<TableOption>,
    /// How a table without keys is divided into partitions.
    pub partitions: Vec<Partitioning>,
    /// The modules that can hold a table.
    pub modules: Vec<Module>,
    /// The functions that can stand in FROM.
    pub table_functions: Vec<TableFunction>,
    /// Functions that read the clock when they are called with fewer arguments than these.
    pub clock: BTreeMap<String, usize>,
    /// How statements are prepared, and what may be a parameter of them.
    pub preparing: Preparing,
    /// What statements and checks cost.
    pub costs: Costs,
    /// Cases that one database serves, where building one is dear or cheap.
    pub cases_per_database: Option<u64>,
    /// How SQL from outside could get out of its database.
    pub confines: Confines,
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
    /// The table that a SELECT without FROM reads, where it cannot do without one.
    #[serde(default)]
    pub from_nothing: Option<String>,
    /// Around the numbers of rows that a query returns and leaves out; where it is absent, LIMIT and OFFSET say so.
    #[serde(default)]
    pub limit: Option<LimitSpelling>,
    /// Around several statements that run as one, where an INSERT has only one row.
    #[serde(default)]
    pub block: Option<String>,
    /// Around a DROP in a text that does nothing if there is nothing to drop, where there is no IF EXISTS.
    #[serde(default)]
    pub drop_if_exists: Option<String>,
    /// The function that takes the place of the operator `%`.
    #[serde(default)]
    pub modulo: Option<String>,
    /// The words before a new column in ALTER TABLE.
    #[serde(default = "Spelling::add_column")]
    pub add_column: String,
    /// What follows the type of such a column that may be NULL, where it could not be otherwise.
    #[serde(default)]
    pub added_nullable: Option<String>,
    /// Around the name of the index that a table in FROM is to be read by.
    #[serde(default = "Spelling::indexed_by")]
    pub indexed_by: String,
    /// Says that a table in FROM is to be read without an index.
    #[serde(default = "Spelling::not_indexed")]
    pub not_indexed: String,
}

/// How the number of rows is written where there is no LIMIT. OFFSET comes first there.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSpelling {
    /// Around how many rows are left out.
    pub offset: String,
    /// Around how many rows are returned.
    pub limit: String,
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

    fn add_column() -> String {
        String::from("ADD COLUMN")
    }

    fn indexed_by() -> String {
        String::from("INDEXED BY {}")
    }

    fn not_indexed() -> String {
        String::from("NOT INDEXED")
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
            from_nothing: None,
            limit: None,
            block: None,
            drop_if_exists: None,
            modulo: None,
            add_column: Spelling::add_column(),
            added_nullable: None,
            indexed_by: Spelling::indexed_by(),
            not_indexed: Spelling::not_indexed(),
        }
    }
}

/// A type that a column may be declared with.
#[derive(Debug, Clone)]
pub struct TypeEntry {
    /// Its spelling and its kind.
    pub ty: DataType,
    /// How often it is drawn; 0: only where an operation is looked at on its own.
    pub weight: u32,
    /// May be declared in a table whose types are enforced (SQLite's STRICT).
    pub strict: bool,
    /// Values that compare equal are the same value (SOUNDNESS 0.8).
    pub identity: bool,
    /// The integers it holds; absent: any.
    pub range: Option<(i64, i64)>,
    /// The longest text it holds; absent: any.
    pub length: Option<usize>,
    /// Only a prefix of it can be a key, and a literal cannot be its default.
    pub prefixed: bool,
    /// No part of it can be a key.
    pub keyless: bool,
    /// A number or bytes (or a word) by what is done with it: BIT, ENUM, YEAR.
    pub dual: bool,
    /// The type itself says that it can be NULL, so NOT NULL next to it means nothing.
    pub nullable: bool,
}

/// A type that CAST may name, and the kinds it takes without raising an error; none named: all.
#[derive(Debug, Clone, Deserialize)]
pub struct Cast {
    /// Its spelling and its kind.
    #[serde(flatten)]
    pub ty: DataType,
    /// The kinds it takes.
    #[serde(default)]
    pub from: Vec<Kind>,
}

/// A scalar function as the generator calls it. Nothing volatile is ever listed (SOUNDNESS 0.3).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// As it is called.
    pub name: Name,
    /// The kinds of the arguments that it must have.
    pub args: Vec<Kind>,
    /// The kind of any number of further arguments.
    #[serde(default)]
    pub more: Option<Kind>,
    /// The kind of its result.
    pub returns: Kind,
    /// The first version that has it; absent: all.
    #[serde(default)]
    pub since: Option<String>,
    /// May stand in an index, a CHECK or a generated column.
    #[serde(default = "yes")]
    pub indexable: bool,
    /// A column of its result's type is compared as the result is.
    #[serde(default = "yes")]
    pub storable: bool,
    /// How often it is drawn.
    #[serde(default = "one")]
    pub weight: u32,
}

/// An aggregate as the generator calls it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregateFunction {
    /// As it is called.
    pub name: Name,
    /// The kinds of its arguments.
    pub args: Vec<Kind>,
    /// The kind of its result.
    pub returns: Kind,
    /// How partial results over a partition are put together again; absent: they cannot be.
    #[serde(default)]
    pub combine: Option<Combine>,
    /// The first version that has it; absent: all.
    #[serde(default)]
    pub since: Option<String>,
}

/// An aggregate that depends on the order of its values: `string_agg(c0, ',' ORDER BY c0)`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderedAggregate {
    /// As it is called.
    pub name: Name,
    /// The kind of its values.
    pub kind: Kind,
    /// What its second argument is.
    #[serde(default)]
    pub separator: Option<String>,
    /// The first version that has it; absent: all.
    #[serde(default)]
    pub since: Option<String>,
}

/// A kind of index: `USING hash`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexMethod {
    /// The word behind USING.
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
    /// What follows the columns; `{columns}` stands for some of them.
    pub name: Name,
    /// How often it is drawn; 0: only where a table is compared with a twin that is stored otherwise.
    #[serde(default = "one")]
    pub weight: u32,
    /// Its name is not what follows the columns.
    #[serde(default)]
    pub unwritten: bool,
    /// The table is a temporary one.
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
    /// The types of columns are enforced.
    #[serde(default)]
    pub strict: bool,
    /// Divides the table into partitions.
    #[serde(default)]
    pub partitions: bool,
    /// No key that no two rows share.
    #[serde(default)]
    pub keyless: bool,
    /// The types of columns that it takes; none named: all.
    #[serde(default)]
    pub types: Vec<Name>,
    /// The first version that has it; absent: all.
    #[serde(default)]
    pub since: Option<String>,
    /// Takes columns whose types need a prefix as keys.
    #[serde(default = "yes")]
    pub long_values: bool,
    /// Takes generated columns.
    #[serde(default = "yes")]
    pub generated: bool,
    /// Transactions undo changes of the table.
    #[serde(default = "yes")]
    pub transactional: bool,
}

/// How the results of an aggregate over the parts of a table become the result over the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// The smallest of them.
    Min,
    /// The largest of them.
    Max,
    /// Their sum.
    Sum,
}

/// Statements that write statistics of a table, which need not be true: no answer depends on them, plans do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenStatistics {
    /// In order; `{}` is where the table's name goes.
    pub statements: Vec<Name>,
    /// The first version that takes them; absent: all.
    #[serde(default)]
    pub since: Option<String>,
}

/// Something that SET or PRAGMA changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// As it is called.
    pub name: Name,
    /// What it may be set to, as it is written.
    pub values: Vec<Name>,
    /// The first version that has it; absent: all.
    #[serde(default)]
    pub since: Option<String>,
    /// How often the oracle `plan` draws it.
    #[serde(default = "one")]
    pub weight: u32,
    /// How it is set where SET or PRAGMA does not do it; `{}` is where the value goes.
    #[serde(default)]
    pub written: Option<Name>,
    /// What it is at first, for a setting that cannot be read.
    #[serde(default)]
    pub initial: Option<Name>,
    /// Only changed between two questions, never while a database is built: with the optimizer off, most oracles
    /// would have nothing left to test.
    #[serde(default)]
    pub between_questions: bool,
    /// What its values stand for, where they are not words.
    #[serde(default)]
    pub meanings: BTreeMap<Name, String>,
}

impl Setting {
    /// A setting of which nothing but values is known.
    pub fn new(name: Name, values: Vec<Name>) -> Setting {
        Setting {
            name,
            values,
            since: None,
            weight: 1,
            written: None,
            initial: None,
            between_questions: false,
            meanings: BTreeMap::new(),
        }
    }
}

/// Later than every version.
const NEWEST: &str = "999999";

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

impl Dialect {
    /// A built-in dialect as an engine of this version speaks it.
    pub fn load(name: &str, version: &str) -> Result<Dialect, DialectError> {
        Files::built_in().load(name, version)
    }

    /// A number that changes with what a built-in dialect says of what its engine computes.
    pub fn fingerprint(name: &str) -> u64 {
        Files::built_in().fingerprint(name)
    }

    /// Takes in what the engine can compute: the generator draws from it.
    pub fn learn(&mut self, catalog: &Catalog) {
        let types = self.types.iter().map(|entry| &entry.ty).chain(self.casts.iter().map(|cast| &cast.ty));
        self.repertoire = Repertoire::new(catalog, types);
    }

    /// A setting that a hunt may vary, by its name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == *name)
    }

    /// The fewest arguments with which a function's answer is a matter of them alone.
    pub fn least_args(&self, name: &str) -> usize {
        self.clock.iter().find(|(clock, _)| clock.eq_ignore_ascii_case(name)).map_or(0, |(_, least)| *least)
    }

    /// Whether it has a feature.
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
        let made = self.partitions.iter().flat_map(|partitioning| &partitioning.made);
        let written = self.statistics.iter().flat_map(|statistics| &statistics.statements);
        self.maintenance.iter().chain(written).any(|form| is_of_form(text, form, "{}"))
            || made.into_iter().any(|form| is_of_form(text, form, "{table}"))
    }

    /// What is said of a table by what is written behind its columns.
    pub fn table_option(&self, written: &str) -> Option<&TableOption> {
        self.table_options.iter().find(|option| is_of_form(written, &option.name, "{columns}"))
    }

    /// Whether a hunt may change a setting, on which no answer may depend.
    pub fn varies(&self, setting: &str) -> bool {
        let all = self.settings.iter().chain(&self.initial_settings);
        all.into_iter().any(|known| known.name.eq_ignore_ascii_case(setting))
    }

    /// Whether what is written behind a table's columns divides it into partitions.
    pub fn is_partitioning(&self, written: &str) -> bool {
        self.partitions.iter().any(|way| is_of_form(written, &way.form, "{column}"))
            || self.table_option(written).is_some_and(|option| option.partitions)
    }

    /// What is known of the module of a table.
    pub fn module(&self, name: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.name.eq_ignore_ascii_case(name))
    }

    /// What is known of a function in FROM.
    pub fn table_function(&self, name: &str) -> Option<&TableFunction> {
        self.table_functions.iter().find(|function| function.name.eq_ignore_ascii_case(name))
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

/// Whether an option of a table makes the primary key the place of a row, in whichever dialect has such an option.
/// For those who see a statement and not its dialect.
pub fn is_keyed(option: &Name) -> bool {
    static KEYED: LazyLock<Vec<Name>> = LazyLock::new(|| {
        let files = Files::built_in();
        let dialects = files.names().filter_map(|name| files.load(name, NEWEST).ok());
        let options = dialects.flat_map(|dialect| dialect.table_options);
        options.filter(|option| option.keyed).map(|option| option.name).collect()
    });
    KEYED.contains(option)
}

/// Whether a text is what comes of a form when something is put in its place, or places.
fn is_of_form(text: &str, form: &str, place: &str) -> bool {
    let mut parts = form.split(place);
    let (first, last) = (parts.next().unwrap_or_default(), parts.last());
    text.starts_with(first) && last.map_or(text == first, |last| text.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_behind_columns_is_known_by_its_form() {
        let dialect = Dialect::load("clickhouse", NEWEST).unwrap();
        let ordered = "ENGINE = MergeTree ORDER BY (c1, c0) SETTINGS allow_nullable_key = 1";
        assert_eq!(
            dialect.table_option(ordered).unwrap().name,
            "ENGINE = MergeTree ORDER BY ({columns}) SETTINGS allow_nullable_key = 1"
        );
        assert_eq!(dialect.table_option("ENGINE = Memory").unwrap().name, "ENGINE = Memory");
        assert!(dialect.table_option("ENGINE = MemoryToo").is_none());
        assert!(is_keyed(&Name::from("WITHOUT ROWID")) && !is_keyed(&Name::from("STRICT")));
    }

    #[test]
    fn what_divides_a_table_says_so() {
        let files = Files::built_in();
        for name in files.names() {
            let dialect = files.load(name, NEWEST).unwrap();
            let options = dialect.table_options.iter().map(|option| option.name.replace("{columns}", "c0"));
            let forms = dialect.partitions.iter().map(|way| way.form.replace("{column}", "c0"));
            for written in options.chain(forms) {
                assert_eq!(dialect.is_partitioning(&written), written.contains("PARTITION BY"), "{written}");
            }
        }
    }
}
