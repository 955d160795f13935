//! What things cost on an engine, so that a hunt can share out the engine's time without looking at a clock: seconds
//! differ from run to run, and a seed must give the same statements everywhere.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::sql::Name;

/// The table `[costs]` of a dialect's file, in microseconds: as `dissent bench NAME --costs` measures and prints them. Only
/// their proportions matter. A relative that measured nothing has those of the dialect it inherits from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Costs {
    /// Emptying the database.
    pub reset: u64,
    /// A statement that builds a database.
    pub build: u64,
    /// A query.
    pub query: u64,
    /// EXPLAIN of a query.
    pub explain: u64,
    /// One subject of an oracle, by its name, from the first statement to the last, skipped ones among them.
    pub oracles: BTreeMap<Name, u64>,
}

impl Default for Costs {
    /// Nothing was measured: all statements and all subjects cost the same.
    fn default() -> Self {
        Costs { reset: 100, build: 100, query: 100, explain: 100, oracles: BTreeMap::new() }
    }
}

impl Costs {
    /// What a subject of this oracle costs; an oracle that was not measured counts as the middle one of those that were.
    pub fn subject(&self, oracle: &str) -> u64 {
        let known = self.oracles.get(oracle).copied();
        known.unwrap_or_else(|| self.median()).max(1)
    }

    fn median(&self) -> u64 {
        let mut costs: Vec<u64> = self.oracles.values().copied().collect();
        costs.sort_unstable();
        costs.get(costs.len() / 2).copied().unwrap_or(2 * self.query)
    }

    /// What it costs to build a database again and ask its queries, each with its plan.
    pub fn rehearsal(&self, statements: usize, queries: usize) -> u64 {
        self.reset + self.build * statements as u64 + (self.query + self.explain) * queries as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_costs_what_others_do() {
        let costs: Costs = toml::from_str("query = 5\n[oracles]\nnorec = 10\nindex = 30\nedc = 900").unwrap();
        assert_eq!((costs.subject("edc"), costs.subject("new")), (900, 30));
        assert_eq!((costs.query, costs.reset), (5, 100));
        assert_eq!(Costs::default().subject("norec"), Costs::default().subject("edc"));
    }
}
