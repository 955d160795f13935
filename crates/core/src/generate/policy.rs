//! The generator's sizes and weights, in one place.

use std::collections::BTreeMap;

use super::Weights;

/// A size that a profile can set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// `max_tables` is `size.max-tables` in a profile.
    pub field: &'static str,
    pub default: u32,
    /// Less would leave nothing to draw.
    pub least: u32,
}

macro_rules! policy {
    ($($(#[$doc:meta])* $field:ident: $ty:ty = $default:literal, least $least:literal;)*) => {
        /// Sizes, and the weights of choices.
        #[derive(Clone, Debug)]
        pub struct Policy {
            $($(#[$doc])* pub $field: $ty,)*
            /// How often each choice is drawn, and was.
            pub weights: Weights,
            /// The share of an oracle in the engine's time, where it is not that of the others.
            pub shares: BTreeMap<String, u32>,
        }

        impl Default for Policy {
            fn default() -> Self {
                Policy { $($field: $default,)* weights: Weights::default(), shares: BTreeMap::new() }
            }
        }

        impl Policy {
            pub(crate) const SIZES: &[Size] =
                &[$(Size { field: stringify!($field), default: $default, least: $least }),*];

            pub(crate) fn set_size(&mut self, field: &str, size: u32) {
                match field {
                    $(stringify!($field) => self.$field = size as $ty,)*
                    _ => {}
                }
            }
        }
    };
}

policy! {
    /// Tables of a database.
    max_tables: usize = 3, least 1;
    /// Columns of a table.
    max_columns: usize = 4, least 1;
    /// Rows of most tables: small ones are several times faster and find the same bugs.
    few_rows: usize = 6, least 1;
    /// Rows of the few large tables, where statistics and page splits matter.
    many_rows: usize = 40, least 1;
    /// Indexes of a database.
    max_indexes: usize = 4, least 0;
    /// Views of a database.
    max_views: usize = 2, least 0;
    /// Cases that one database serves before the next one is built.
    cases_per_database: u64 = 80, least 1;
    /// How deep an expression may nest.
    depth: usize = 3, least 0;
    /// Relations in the FROM of a query under test.
    max_relations: usize = 3, least 1;
    /// Rows that an unfiltered FROM should stay below: the engine's time is better spent on more queries.
    max_product: usize = 100, least 1;
    /// Queries per pair of tables, if an oracle builds its own.
    queries_per_table: usize = 50, least 4;
    /// Rows of such a table.
    rows_per_table: usize = 100, least 30;
}

impl Policy {
    /// The share of an oracle in the engine's time, in proportion to those of the others.
    pub fn share(&self, oracle: &str) -> u32 {
        self.shares.get(oracle).copied().unwrap_or(1)
    }
}
