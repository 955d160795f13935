//! How large and how wild: the generator's numbers in one place.

/// Sizes and shares. A share is a percentage.
#[derive(Clone, Debug)]
pub struct Policy {
    pub max_tables: usize,
    pub max_columns: usize,
    /// Rows of most tables: small ones are several times faster and find the same bugs.
    pub few_rows: usize,
    /// Rows of the few large tables, where statistics and page splits matter.
    pub many_rows: usize,
    pub many_rows_share: u32,
    pub max_indexes: usize,
    pub max_views: usize,
    /// Cases that one database serves before the next one is built.
    pub cases_per_database: u64,
    /// Cases that first change the state: DML, DDL, settings.
    pub change_share: u32,
    /// How deep an expression may nest.
    pub depth: usize,
    /// Relations in the FROM of a query under test.
    pub max_relations: usize,
    /// Rows that an unfiltered FROM should stay below: the engine's time is better spent on more queries.
    pub max_product: usize,
    /// Queries that are asked of one pair of tables, where an oracle builds its own.
    pub queries_per_table: usize,
    /// Rows of such a table.
    pub rows_per_table: usize,
    /// Constants drawn from the data rather than at random.
    pub known_constant_share: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            max_tables: 3,
            max_columns: 4,
            few_rows: 6,
            many_rows: 40,
            many_rows_share: 4,
            max_indexes: 4,
            max_views: 2,
            cases_per_database: 80,
            change_share: 10,
            depth: 3,
            max_relations: 3,
            max_product: 100,
            queries_per_table: 50,
            rows_per_table: 100,
            known_constant_share: 70,
        }
    }
}
