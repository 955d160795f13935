//! What two dialects share: the SQL in which two engines can be asked the same question.

use super::{Cast, Dialect, Feature, Features, TypeEntry};
use crate::catalog::Repertoire;
use crate::sql::{DataType, Kind, Name};

/// Functions that every engine with [`Feature::CommonSql`] computes alike, of whole numbers and of text.
pub const FUNCTIONS: &[&str] = &["coalesce", "nullif"];

/// Aggregates that they compute alike.
pub const AGGREGATES: &[&str] = &["COUNT", "SUM", "MIN", "MAX"];

/// What may be drawn if both can do it. Everything else is left out: engines differ in it, or nobody has looked.
const FEATURES: &[Feature] = &[
    Feature::AggregateFilter,
    Feature::BoolLiterals,
    Feature::CommonSql,
    Feature::ConcatOp,
    Feature::CorrelatedIn,
    Feature::Cte,
    Feature::CteMaterialized,
    Feature::Except,
    Feature::ExceptAll,
    Feature::FullJoin,
    Feature::FullJoinAnyhow,
    Feature::Indexes,
    Feature::Intersect,
    Feature::IntersectAll,
    Feature::IsTruth,
    Feature::LeftJoin,
    Feature::OuterJoinConditions,
    Feature::OuterJoinSubqueries,
    Feature::RightJoin,
    Feature::Transactions,
    Feature::UniqueKeys,
    Feature::Upsert,
    Feature::Views,
];

/// What is drawn without asking a dialect, and engines do differently: names and weights of a profile.
pub const NEVER_DRAWN: &[&str] = &[
    "change/alter",
    "change/setting",
    "compose.condition/pattern",
    "compose.ordered.limit",
    "compose.set.third",
    "expr.kind/real",
    "expr.predicate/pattern",
    "insert.from-query",
    "query.derived.recursive",
    "query.join.shared",
    "query.subquery.shape/limited",
    "update.expression",
];

impl Dialect {
    /// What this dialect shares with another one, in its own spelling: columns of whole numbers and of text, with no
    /// collation, no setting and no way to store a table.
    pub fn shared_with(&self, other: &Dialect) -> Dialect {
        let is_listed = |name: &Name, list: &[&str]| list.iter().any(|one| name.eq_ignore_ascii_case(one));
        let mut shared = self.clone();
        let both = FEATURES.iter().copied().filter(|feature| self.can(*feature) && other.can(*feature));
        shared.features = Features::from_iter(both);
        shared.types = TYPES.iter().map(Shared::entry).collect();
        shared.casts = TYPES.iter().map(Shared::cast).collect();
        shared.functions.retain(|function| is_listed(&function.name, FUNCTIONS));
        shared.aggregates.retain(|aggregate| is_listed(&aggregate.name, AGGREGATES));
        shared.repertoire = Repertoire::default();
        shared.collations.clear();
        shared.settings.clear();
        shared.initial_settings.clear();
        shared.maintenance.clear();
        shared.roundtrips.clear();
        shared.statistics.clear();
        shared.index_methods.clear();
        shared.table_options.clear();
        shared.partitions.clear();
        shared.modules.clear();
        shared.table_functions.clear();
        shared
    }
}

/// A type that every engine with [`Feature::CommonSql`] has: it holds the same values and compares them alike.
struct Shared {
    name: &'static str,
    kind: Kind,
    range: Option<(i64, i64)>,
    weight: u32,
}

const TYPES: &[Shared] = &[
    Shared { name: "BIGINT", kind: Kind::Int, range: None, weight: 4 },
    Shared { name: "INTEGER", kind: Kind::Int, range: Some((-2147483648, 2147483647)), weight: 8 },
    Shared { name: "TEXT", kind: Kind::Text, range: None, weight: 6 },
];

impl Shared {
    fn data_type(&self) -> DataType {
        DataType { name: self.name.into(), kind: self.kind }
    }

    fn cast(&self) -> Cast {
        Cast { ty: self.data_type(), from: vec![self.kind] }
    }

    fn entry(&self) -> TypeEntry {
        TypeEntry {
            ty: self.data_type(),
            weight: self.weight,
            strict: true,
            identity: true,
            range: self.range,
            length: None,
            prefixed: false,
            keyless: false,
            dual: false,
            nullable: false,
        }
    }
}

/// Whether a type is one that all engines have.
pub fn is_shared_type(ty: &DataType) -> bool {
    TYPES.iter().any(|shared| ty.name.eq_ignore_ascii_case(shared.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_spelled_alike_and_typed() {
        let [sqlite, duckdb, postgres] = [("sqlite", "3.54.1"), ("duckdb", "2.0.0"), ("postgres", "18.4")]
            .map(|(name, version)| Dialect::load(name, version).unwrap());
        for (one, other) in
            [(&sqlite, &duckdb), (&duckdb, &sqlite), (&sqlite, &postgres), (&postgres, &duckdb)]
        {
            let shared = one.shared_with(other);
            let kinds: Vec<Kind> = shared.types.iter().map(|entry| entry.ty.kind).collect();
            assert!(kinds.contains(&Kind::Int) && kinds.contains(&Kind::Text), "{} {}", one.name, other.name);
            assert!(kinds.iter().all(|kind| matches!(kind, Kind::Int | Kind::Text)));
            assert!(shared.is_typed() && shared.collations.is_empty() && shared.settings.is_empty());
            assert!(shared.can(Feature::FullJoin) && !shared.can(Feature::WindowFunctions));
        }
    }
}
