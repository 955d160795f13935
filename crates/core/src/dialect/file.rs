//! The files that dialects are read from.
//!
//! A dialect can inherit from another one (`inherits = "postgres"`) and list the differences. There is no list of
//! files: every file in `dialects/` when this crate is built is a dialect.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Feature;
use super::features::Since;
use super::{
    AggregateFunction, Cast, Confines, Costs, Descriptor, Dialect, Discovery, Function, IndexMethod, Module,
    OrderedAggregate, Partitioning, Preparing, Setting, Spelling, TableFunction, TableOption, TypeEntry,
    Version, WrittenStatistics, one, yes,
};
use crate::catalog::{self, Repertoire};
use crate::sql::{DataType, Kind, Name};
use crate::{embedded, hash};

/// Why there is no such dialect.
#[derive(Debug, thiserror::Error)]
pub enum DialectError {
    /// No file has this name.
    #[error("unknown dialect '{0}'")]
    Unknown(String),
    /// The file lacks a required key or has an unknown one.
    #[error("dialects/{name}.toml: {error}")]
    Malformed {
        /// The dialect.
        name: String,
        /// What is wrong and where.
        error: toml::de::Error,
    },
}

/// Parts of a file that say nothing about what probing an engine finds.
const NOT_PROBED: [&str; 16] = [
    "engine",
    "confine",
    "types",
    "table_options",
    "partitions",
    "modules",
    "ordered_aggregates",
    "table_functions",
    "index_methods",
    "maintenance",
    "roundtrips",
    "statistics",
    "settings",
    "discovery",
    "costs",
    "cases_per_database",
];

/// Dialects' files by name: those built into Dissent, and more in tests.
#[derive(Clone, Debug)]
pub struct Files<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Files<'a> {
    /// Every file of `dialects/`.
    pub fn built_in() -> Files<'static> {
        Files(embedded::DIALECTS.to_vec())
    }

    /// The same and one more.
    pub fn with(mut self, name: &'a str, text: &'a str) -> Files<'a> {
        self.0.push((name, text));
        self
    }

    /// The names of all, in order.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + use<'a, '_> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// A dialect as an engine of this version speaks it.
    pub fn load(&self, name: &str, version: &str) -> Result<Dialect, DialectError> {
        let version = Version::parse(version);
        let mut whole = self.whole(name)?;
        if let Some(toml::Value::Table(older)) = whole.remove("before") {
            for (bound, differs) in older {
                if let toml::Value::Table(differs) = differs
                    && version < Version::parse(&bound)
                {
                    lay_over(&mut whole, differs);
                }
            }
        }
        let file = File::deserialize(whole).map_err(malformed(name))?;
        Ok(file.at(&version))
    }

    /// What is said of a dialect's engine: the table `[engine]`.
    pub fn descriptor(&self, name: &str) -> Result<Descriptor, DialectError> {
        let engine = self.whole(name)?.remove("engine").unwrap_or_else(|| toml::Table::new().into());
        Descriptor::deserialize(engine).map_err(malformed(name))
    }

    /// The dialect that another inherits from.
    pub fn relative(&self, name: &str) -> Option<String> {
        self.own(name).ok()?.remove("inherits").and_then(|relative| relative.as_str().map(String::from))
    }

    /// A number that changes with what a dialect's file says of what its engine computes.
    pub fn fingerprint(&self, name: &str) -> u64 {
        let mut table = self.whole(name).unwrap_or_default();
        for part in NOT_PROBED {
            table.remove(part);
        }
        hash::fnv1a(table.to_string().as_bytes())
    }

    /// What a file itself says.
    fn own(&self, name: &str) -> Result<toml::Table, DialectError> {
        let text = self.0.iter().find(|(file, _)| *file == name).map(|(_, text)| text);
        toml::from_str(text.ok_or_else(|| DialectError::Unknown(name.to_string()))?).map_err(malformed(name))
    }

    /// A file laid over that of the relative it inherits from: tables are merged, everything else that the
    /// file says replaces what the relative says. But for the lists of `[confine]`: a relative's ways out stay listed.
    fn whole(&self, name: &str) -> Result<toml::Table, DialectError> {
        let mut file = self.own(name)?;
        let Some(toml::Value::String(relative)) = file.remove("inherits") else { return Ok(file) };
        let mut whole = self.whole(&relative)?;
        // Relatives count their versions otherwise, and have a name of their own.
        whole.remove("before");
        if let Some(toml::Value::Table(engine)) = whole.get_mut("engine") {
            engine.remove("title");
        }
        if let (Some(toml::Value::Table(below)), Some(toml::Value::Table(above))) =
            (whole.get("confine"), file.get_mut("confine"))
        {
            add_to(below, above);
        }
        lay_over(&mut whole, file);
        Ok(whole)
    }
}

fn malformed(name: &str) -> impl Fn(toml::de::Error) -> DialectError {
    move |error| DialectError::Malformed { name: name.to_string(), error }
}

/// Puts what the lists of one table hold before what those of another do.
fn add_to(below: &toml::Table, above: &mut toml::Table) {
    for (key, value) in above {
        if let (Some(toml::Value::Array(inherited)), toml::Value::Array(own)) = (below.get(key), value) {
            own.splice(..0, inherited.iter().cloned());
        }
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

/// `dialects/NAME.toml` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Name,
    engine: Descriptor,
    quote: char,
    explain: Option<String>,
    explain_column: Option<usize>,
    view_type: Option<String>,
    features: BTreeMap<Feature, Since>,
    #[serde(default)]
    spelling: Spelling,
    types: Vec<TypeLine>,
    casts: Vec<Cast>,
    collations: Vec<Name>,
    functions: Vec<Function>,
    aggregates: Vec<AggregateFunction>,
    #[serde(default)]
    ordered_aggregates: Vec<OrderedAggregate>,
    volatile: Vec<Name>,
    order_dependent: Vec<Name>,
    settings: Vec<Setting>,
    #[serde(default)]
    discovery: Discovery,
    setting_value: Option<String>,
    #[serde(default)]
    initial_settings: Vec<Setting>,
    #[serde(default)]
    maintenance: Vec<Name>,
    #[serde(default)]
    roundtrips: Vec<Name>,
    #[serde(default)]
    statistics: Vec<WrittenStatistics>,
    #[serde(default)]
    index_methods: Vec<IndexMethod>,
    #[serde(default)]
    table_options: Vec<TableOption>,
    #[serde(default)]
    partitions: Vec<Partitioning>,
    #[serde(default)]
    modules: Vec<Module>,
    #[serde(default)]
    table_functions: Vec<TableFunction>,
    #[serde(default)]
    clock: BTreeMap<String, usize>,
    #[serde(default)]
    preparing: Preparing,
    #[serde(default)]
    costs: Costs,
    cases_per_database: Option<u64>,
    #[serde(default)]
    confine: Confines,
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
    fn at(self, version: &Version) -> Dialect {
        let features = self
            .features
            .iter()
            .filter(|(_, since)| since.reached(version))
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
            engine: self.engine,
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
            ordered_aggregates: {
                let reached = |aggregate: &OrderedAggregate| version.reaches(&aggregate.since);
                self.ordered_aggregates.into_iter().filter(reached).collect()
            },
            volatile: self.volatile,
            order_dependent: self.order_dependent,
            settings: settings(self.settings),
            discovery: self.discovery,
            initial_settings: settings(self.initial_settings),
            maintenance: self.maintenance,
            roundtrips: self.roundtrips,
            statistics: {
                let reached = |statistics: &WrittenStatistics| version.reaches(&statistics.since);
                self.statistics.into_iter().filter(reached).collect()
            },
            index_methods: self.index_methods,
            table_options: {
                let reached = |option: &TableOption| version.reaches(&option.since);
                self.table_options.into_iter().filter(reached).collect()
            },
            partitions: self.partitions,
            modules: self.modules.into_iter().filter(|module| version.reaches(&module.since)).collect(),
            table_functions: {
                let reached = |function: &TableFunction| version.reaches(&function.since);
                self.table_functions.into_iter().filter(reached).collect()
            },
            clock: self.clock,
            preparing: self.preparing.at(version),
            costs: self.costs,
            cases_per_database: self.cases_per_database,
            confines: self.confine,
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
        let files = Files::built_in();
        for name in files.names() {
            let dialect = files.load(name, "999").unwrap();
            assert_eq!(dialect.name, *name);
            assert_eq!(dialect.engine, files.descriptor(name).unwrap());
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
    fn a_relative_adds_to_the_ways_out() {
        let text = "inherits = \"postgres\"\nname = \"yellowbase\"\n\
                    [engine]\ntitle = \"YellowBase\"\n\
                    [confine]\nmachine = [{ reason = \"reads files\", functions = [\"slurp\"] }]";
        let files = Files::built_in().with("yellowbase", text);
        let refused = |dialect: &str, function: &str| {
            let dialect = files.load(dialect, "1.0").unwrap();
            dialect.confines.machine.iter().any(|escape| escape.has_function(function))
        };
        assert!(refused("yellowbase", "slurp") && refused("yellowbase", "lo_import"));
        assert!(!refused("postgres", "slurp"));
    }

    /// Everything that a relative needs is in its one file.
    #[test]
    fn a_relative_is_one_file() {
        let text = "inherits = \"postgres\"\nname = \"yellowbase\"\nmaintenance = []\n\
                    [engine]\ntitle = \"YellowBase\"\nport = 5433\n[features]\nlateral = false";
        let files = Files::built_in().with("yellowbase", text);
        let (dialect, parent) =
            (files.load("yellowbase", "18").unwrap(), files.load("postgres", "18").unwrap());
        assert_eq!((&*dialect.engine.title, &*dialect.engine.driver), ("YellowBase", "postgres"));
        assert_eq!((dialect.engine.port, &dialect.engine.user), (Some(5433), &parent.engine.user));
        assert!(parent.can(Feature::Lateral) && !dialect.can(Feature::Lateral));
        assert_eq!(files.relative("yellowbase").as_deref(), Some("postgres"));
        assert_eq!(dialect.functions.len(), parent.functions.len());
    }

    #[test]
    fn a_relative_has_a_title_of_its_own() {
        let files = Files::built_in().with("copy", "inherits = \"mysql\"\nname = \"copy\"");
        let refusal = files.load("copy", "1").unwrap_err().to_string();
        assert!(refusal.starts_with("dialects/copy.toml: missing field `title`"), "{refusal}");
    }

    /// What was learned of an engine stays valid while its descriptor and its tables change.
    #[test]
    fn a_fingerprint_is_of_what_probing_depends_on() {
        let print = |text: &str| Files::built_in().with("copy", text).fingerprint("copy");
        let plain = print("inherits = \"mysql\"");
        assert_eq!(plain, print("inherits = \"mysql\"\nsettings = []\n[engine]\nport = 1"));
        assert_ne!(plain, print("inherits = \"mysql\"\nexplain = \"DESCRIBE\""));
    }
}
