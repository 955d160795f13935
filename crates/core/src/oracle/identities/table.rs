//! The identities as data. A new one is one more row; the tests take it from here.

use crate::dialect::Feature;
use crate::sql::{Expr, Query};

use super::queries::{Forms, Known};
use super::{exprs, queries};
use crate::oracle::kit::place::Place;

/// Two ways to write one thing.
pub struct Identity {
    /// What a subject calls it.
    pub name: &'static str,
    /// What must hold, as a sentence without its full stop.
    pub relation: &'static str,
    /// What the dialect must have for the other form.
    pub needs: &'static [Feature],
    /// How one form becomes the other, under which conditions.
    pub rewrite: Rewrite,
    /// A query and its other form, in SQLite's words.
    pub example: (&'static str, &'static str),
    /// Queries that look alike but break a condition.
    pub refused: &'static [&'static str],
}

/// What an identity rewrites.
pub enum Rewrite {
    /// Every expression that has another form.
    Exprs(fn(&Expr, &Place) -> Option<Expr>),
    /// The query as a whole.
    Whole(fn(&Query, Known) -> Forms),
    /// The same, for what merges equal rows: where those need not be identical, only their number is compared.
    Merged(fn(&Query, Known) -> Forms),
}

use Rewrite::{Exprs, Merged, Whole};

/// Every identity. Examples are over `t(a INT, b TEXT, n TEXT COLLATE NOCASE)`, `u(a INT, b TEXT)` and the view
/// `v(x) AS SELECT t.a FROM t`.
pub const TABLE: &[Identity] = &[
    Identity {
        name: "between",
        relation: "x BETWEEN a AND b is x >= a AND x <= b",
        needs: &[],
        rewrite: Exprs(exprs::between),
        example: (
            "SELECT t.a FROM t WHERE t.a BETWEEN 1 AND 2",
            "SELECT t.a FROM t WHERE t.a >= 1 AND t.a <= 2",
        ),
        refused: &[],
    },
    Identity {
        name: "in-list",
        relation: "x IN (a, b) is x = a OR x = b",
        needs: &[],
        rewrite: Exprs(exprs::in_list),
        example: (
            "SELECT t.a FROM t WHERE t.a IN (1, t.b)",
            "SELECT t.a FROM t WHERE t.a = 1 OR t.a = CASE WHEN 1 THEN t.b END",
        ),
        refused: &[
            // Rows of values have rules of their own.
            "SELECT t.a FROM t WHERE (t.a, t.b) IN ((1, 2))",
            // IN takes no collation from its list, a comparison would.
            "SELECT t.b FROM t WHERE t.b IN ('A' COLLATE NOCASE, 'x')",
        ],
    },
    Identity {
        name: "simple-case",
        relation: "CASE x WHEN a is CASE WHEN x = a",
        needs: &[],
        rewrite: Exprs(exprs::simple_case),
        example: (
            "SELECT CASE t.a WHEN 1 THEN t.b END FROM t",
            "SELECT CASE WHEN t.a = 1 THEN t.b END FROM t",
        ),
        refused: &[],
    },
    Identity {
        name: "coalesce",
        relation: "COALESCE(a, b) is CASE WHEN a IS NOT NULL THEN a ELSE b END",
        needs: &[],
        rewrite: Exprs(exprs::coalesce),
        example: (
            "SELECT COALESCE(t.a, 7) FROM t",
            "SELECT CASE WHEN t.a IS NOT NULL THEN t.a ELSE 7 END FROM t",
        ),
        // The collation of an operand passes through in either form, but not from the same one.
        refused: &["SELECT COALESCE(t.b COLLATE NOCASE, 'a') FROM t"],
    },
    Identity {
        name: "nullif",
        relation: "NULLIF(a, b) is CASE WHEN a = b THEN NULL ELSE a END",
        needs: &[],
        rewrite: Exprs(exprs::nullif),
        example: ("SELECT NULLIF(t.a, 1) FROM t", "SELECT CASE WHEN t.a = 1 THEN NULL ELSE t.a END FROM t"),
        // NULLIF applies no affinity.
        refused: &["SELECT NULLIF(t.b, 1) FROM t", "SELECT NULLIF(t.a, t.b) FROM t"],
    },
    Identity {
        name: "row-comparison",
        relation: "(a, b) < (c, d) is a < c OR (a = c AND b < d)",
        needs: &[Feature::RowValues],
        rewrite: Exprs(exprs::row_comparison),
        example: (
            "SELECT t.a FROM t WHERE (t.a, t.b) <= (1, 'b')",
            "SELECT t.a FROM t WHERE t.a < 1 OR (t.a = 1 AND t.b <= 'b')",
        ),
        refused: &[],
    },
    Identity {
        name: "exists",
        relation: "EXISTS is 0 < (SELECT COUNT(*))",
        needs: &[],
        rewrite: Exprs(exprs::exists),
        example: (
            "SELECT t.a FROM t WHERE EXISTS (SELECT u.a FROM u WHERE u.a = t.a)",
            "SELECT t.a FROM t WHERE 0 < (SELECT COUNT(*) FROM u WHERE u.a = t.a)",
        ),
        // One row of an aggregate is a row, whatever it counts.
        refused: &[
            "SELECT t.a FROM t WHERE EXISTS (SELECT MAX(u.a) FROM u)",
            "SELECT t.a FROM t WHERE EXISTS (SELECT u.a FROM u LIMIT 0)",
            "SELECT t.a FROM t WHERE EXISTS (SELECT u.a FROM u GROUP BY u.a)",
        ],
    },
    Identity {
        name: "in-query",
        relation: "x IN (SELECT y) is x = y for some row, or NULL if x = y is NULL for one",
        needs: &[],
        rewrite: Exprs(exprs::in_query),
        example: (
            "SELECT t.a FROM t WHERE t.a IN (SELECT u.a FROM u)",
            "SELECT t.a FROM t WHERE CASE WHEN EXISTS (SELECT 1 FROM u WHERE t.a = u.a) THEN TRUE \
             WHEN EXISTS (SELECT 1 FROM u WHERE (t.a = u.a) IS NULL) THEN NULL ELSE FALSE END",
        ),
        refused: &[
            // On SQLite the left side has to be a column.
            "SELECT t.a FROM t WHERE 'a' IN (SELECT u.b FROM u)",
            // Inside, `t` is another table.
            "SELECT t.a FROM t WHERE t.a IN (SELECT t.a FROM t)",
            "SELECT t.a FROM t WHERE t.a IN (SELECT COUNT(*) FROM u)",
        ],
    },
    Identity {
        name: "quantified",
        relation: "x > ANY (SELECT y) is x > y for some row, or NULL if x > y is NULL for one",
        needs: &[Feature::QuantifiedComparison],
        rewrite: Exprs(exprs::quantified),
        example: ("", ""),
        refused: &[],
    },
    Identity {
        name: "negated-comparison",
        relation: "a < b is NOT (a >= b)",
        needs: &[],
        rewrite: Exprs(exprs::negated_comparison),
        example: ("SELECT t.a FROM t WHERE t.a <> 1", "SELECT t.a FROM t WHERE NOT (t.a = 1)"),
        refused: &[],
    },
    Identity {
        name: "flipped-comparison",
        relation: "a < b is b > a",
        needs: &[],
        rewrite: Exprs(exprs::flipped),
        example: ("SELECT t.a FROM t WHERE t.n <= 'x'", "SELECT t.a FROM t WHERE 'x' >= t.n"),
        // The collation of the left side decides.
        refused: &["SELECT t.a FROM t WHERE t.b = t.n", "SELECT t.a FROM t WHERE t.b = 'x' COLLATE NOCASE"],
    },
    Identity {
        name: "sameness",
        relation: "a IS NOT DISTINCT FROM b is a = b, or whether both are NULL",
        needs: &[],
        rewrite: Exprs(exprs::sameness),
        example: (
            "SELECT t.a FROM t WHERE t.a IS t.b",
            "SELECT t.a FROM t WHERE CASE WHEN t.a IS NULL THEN t.b IS NULL WHEN t.b IS NULL THEN FALSE \
             ELSE t.a = t.b END",
        ),
        refused: &["SELECT t.a FROM t WHERE t.a IS TRUE"],
    },
    Identity {
        name: "de-morgan",
        relation: "p AND q is NOT (NOT p OR NOT q)",
        needs: &[],
        rewrite: Exprs(exprs::de_morgan),
        example: (
            "SELECT t.a FROM t WHERE t.a AND t.b",
            "SELECT t.a FROM t WHERE NOT ((NOT t.a) OR (NOT t.b))",
        ),
        refused: &[],
    },
    Identity {
        name: "aggregate-filter",
        relation: "SUM(x) FILTER (WHERE p) is SUM(CASE WHEN p THEN x END)",
        needs: &[Feature::AggregateFilter],
        rewrite: Exprs(exprs::aggregate_filter),
        example: (
            "SELECT SUM(t.a) FILTER (WHERE t.b > 'a') FROM t",
            "SELECT SUM(CASE WHEN t.b > 'a' THEN t.a END) FROM t",
        ),
        refused: &[
            // CASE has no collation.
            "SELECT MAX(t.n) FILTER (WHERE t.a > 0) FROM t",
            "SELECT json_group_array(t.a) FILTER (WHERE t.a > 0) FROM t",
        ],
    },
    Identity {
        name: "count",
        relation: "COUNT(x) is SUM(CASE WHEN x IS NOT NULL THEN 1 ELSE 0 END)",
        needs: &[],
        rewrite: Whole(queries::count),
        example: (
            "SELECT COUNT(t.a) FROM t",
            "SELECT COALESCE(SUM(CASE WHEN t.a IS NOT NULL THEN 1 ELSE 0 END), 0) FROM t",
        ),
        refused: &[
            "SELECT COUNT(DISTINCT t.a) FROM t",
            // A sum may have another type than a count, which a function may show.
            "SELECT typeof(COUNT(*)) FROM t",
            "SELECT typeof(COUNT(*) + 1) FROM t",
            "SELECT COUNT(*) / 2 FROM t",
        ],
    },
    Identity {
        name: "join-condition",
        relation: "JOIN … ON p is CROSS JOIN … WHERE p",
        needs: &[],
        rewrite: Whole(queries::join_condition),
        example: (
            "SELECT t.a FROM t JOIN u ON t.a = u.a WHERE t.b > 'a'",
            "SELECT t.a FROM t CROSS JOIN u WHERE t.a = u.a AND t.b > 'a'",
        ),
        // The condition of an outer join decides what is padded.
        refused: &["SELECT t.a FROM t LEFT JOIN u ON t.a = u.a"],
    },
    Identity {
        name: "left-join",
        relation: "LEFT JOIN is the inner join UNION ALL the left rows without a match",
        needs: &[],
        rewrite: Whole(queries::left_join),
        example: (
            "SELECT t.a, u.b FROM t LEFT JOIN u ON t.a = u.a WHERE t.a > 0",
            "SELECT t.a, u.b FROM t JOIN u ON t.a = u.a WHERE t.a > 0 UNION ALL SELECT t.a, u.b FROM t LEFT JOIN u \
             ON 1 = 0 WHERE t.a > 0 AND NOT EXISTS (SELECT 1 FROM u AS other0 WHERE t.a = other0.a)",
        ),
        refused: &[
            "SELECT COUNT(*) FROM t LEFT JOIN u ON t.a = u.a",
            "SELECT t.a FROM t LEFT JOIN u ON t.a IN (SELECT u.a FROM u)",
            "SELECT t.a FROM t LEFT JOIN u ON t.a = u.a ORDER BY t.a LIMIT 1",
        ],
    },
    Identity {
        name: "right-join",
        relation: "A RIGHT JOIN B is B LEFT JOIN A",
        needs: &[Feature::RightJoin],
        rewrite: Whole(queries::right_join),
        example: (
            "SELECT t.a, u.b FROM t RIGHT JOIN u ON t.a = u.a",
            "SELECT t.a, u.b FROM u LEFT JOIN t ON t.a = u.a",
        ),
        // The order of columns is that of the tables.
        refused: &["SELECT * FROM t RIGHT JOIN u ON t.a = u.a"],
    },
    Identity {
        name: "full-join",
        relation: "FULL JOIN is the left join UNION ALL the right rows without a match",
        needs: &[Feature::FullJoin],
        rewrite: Whole(queries::full_join),
        example: (
            "SELECT t.a, u.b FROM t FULL JOIN u ON t.a = u.a",
            "SELECT t.a, u.b FROM t LEFT JOIN u ON t.a = u.a UNION ALL SELECT t.a, u.b FROM u LEFT JOIN t ON 1 = 0 \
             WHERE NOT EXISTS (SELECT 1 FROM t AS other0 WHERE other0.a = u.a)",
        ),
        refused: &[
            "SELECT t.a FROM t FULL JOIN u ON t.a = (SELECT MAX(u.a) FROM u)",
            // The order of columns is that of the tables.
            "SELECT * FROM t FULL JOIN u ON t.a = u.a",
        ],
    },
    Identity {
        name: "disjunction",
        relation: "WHERE p OR q is WHERE p UNION ALL WHERE q AND p IS NOT TRUE",
        needs: &[],
        rewrite: Whole(queries::disjunction),
        example: (
            "SELECT t.a FROM t WHERE t.a > 1 OR t.b = 'x'",
            "SELECT t.a FROM t WHERE t.a > 1 UNION ALL SELECT t.a FROM t WHERE t.b = 'x' AND (t.a > 1) IS NOT TRUE",
        ),
        refused: &[
            "SELECT SUM(t.a) FROM t WHERE t.a > 1 OR t.b = 'x'",
            "SELECT DISTINCT t.a FROM t WHERE t.a > 1 OR t.b = 'x'",
        ],
    },
    Identity {
        name: "distinct",
        relation: "DISTINCT is GROUP BY all columns",
        needs: &[],
        rewrite: Merged(queries::distinct),
        example: ("SELECT DISTINCT t.a, t.b FROM t", "SELECT t.a, t.b FROM t GROUP BY t.a, t.b"),
        // A number in GROUP BY is a position.
        refused: &["SELECT DISTINCT t.a, 2 FROM t", "SELECT DISTINCT COUNT(*) FROM t"],
    },
    Identity {
        name: "except-itself",
        relation: "Q EXCEPT Q has no rows",
        needs: &[Feature::Except],
        rewrite: Whole(queries::except_itself),
        example: ("SELECT t.a FROM t EXCEPT SELECT t.a FROM t", "SELECT t.a FROM t LIMIT 0"),
        refused: &["SELECT t.a FROM t ORDER BY t.a LIMIT 1"],
    },
    Identity {
        name: "intersect-itself",
        relation: "Q INTERSECT Q is SELECT DISTINCT",
        needs: &[Feature::Intersect],
        rewrite: Merged(queries::intersect_itself),
        example: ("SELECT t.a FROM t INTERSECT SELECT t.a FROM t", "SELECT DISTINCT t.a FROM t"),
        refused: &["SELECT t.a FROM t ORDER BY t.a LIMIT 1"],
    },
    Identity {
        name: "union",
        relation: "UNION is DISTINCT over UNION ALL",
        needs: &[],
        rewrite: Merged(queries::union),
        example: (
            "SELECT t.a FROM t UNION SELECT u.a FROM u",
            "SELECT DISTINCT * FROM (SELECT t.a AS c0 FROM t UNION ALL SELECT u.a AS c0 FROM u) AS other0",
        ),
        refused: &[
            "SELECT t.a FROM t UNION ALL SELECT u.a FROM u",
            // UNION compares by the collation of the first operand that has one, a derived table has that of the first.
            "SELECT 'a' UNION SELECT t.n FROM t",
            "SELECT t.n || '' FROM t UNION SELECT t.n FROM t",
            "SELECT t.b FROM t UNION SELECT 'A' COLLATE NOCASE",
        ],
    },
    Identity {
        name: "set-operator",
        relation: "INTERSECT is DISTINCT WHERE EXISTS, EXCEPT is DISTINCT WHERE NOT EXISTS",
        needs: &[],
        rewrite: Merged(queries::set_operator),
        example: (
            "SELECT t.a FROM t INTERSECT SELECT u.a FROM u",
            "SELECT DISTINCT t.a FROM t WHERE EXISTS (SELECT 1 FROM u AS other0 WHERE t.a IS other0.a)",
        ),
        // A set operator applies no affinity and has one collation.
        refused: &[
            "SELECT t.a FROM t INTERSECT SELECT u.b FROM u",
            "SELECT t.n FROM t EXCEPT SELECT u.b FROM u",
            "SELECT t.a FROM t INTERSECT SELECT 1 FROM u",
        ],
    },
    Identity {
        name: "common-table",
        relation: "WITH d AS (Q) is Q in place of d",
        needs: &[Feature::Cte],
        rewrite: Whole(queries::common_table),
        example: (
            "WITH d AS (SELECT t.a FROM t) SELECT d.a FROM d",
            "SELECT d.a FROM (SELECT t.a FROM t) AS d",
        ),
        refused: &[
            "WITH RECURSIVE d(a) AS (SELECT 1 UNION ALL SELECT d.a + 1 FROM d WHERE d.a < 3) SELECT d.a FROM d",
        ],
    },
    Identity {
        name: "view",
        relation: "a view is the same as its query in its place",
        needs: &[],
        rewrite: Whole(queries::view),
        example: ("SELECT v.x FROM v", "SELECT v.x FROM (SELECT t.a AS x FROM t) AS v"),
        refused: &["WITH v AS (SELECT u.a AS x FROM u) SELECT v.x FROM v"],
    },
    Identity {
        name: "materialized",
        relation: "MATERIALIZED and NOT MATERIALIZED return the same rows",
        needs: &[Feature::CteMaterialized],
        rewrite: Whole(queries::materialized),
        example: (
            "WITH d AS MATERIALIZED (SELECT t.a FROM t) SELECT d.a FROM d",
            "WITH d AS NOT MATERIALIZED (SELECT t.a FROM t) SELECT d.a FROM d",
        ),
        refused: &["SELECT t.a FROM t"],
    },
    Identity {
        name: "order-by",
        relation: "ORDER BY without LIMIT changes no rows",
        needs: &[],
        rewrite: Whole(queries::order_by),
        example: ("SELECT t.a FROM t ORDER BY t.b", "SELECT t.a FROM t"),
        refused: &["SELECT t.a FROM t ORDER BY t.a LIMIT 1"],
    },
    Identity {
        name: "having",
        relation: "HAVING is WHERE over a derived table of the groups",
        needs: &[],
        rewrite: Whole(queries::having),
        example: (
            "SELECT t.a, COUNT(*) FROM t GROUP BY t.a HAVING COUNT(*) > 1",
            "SELECT other0.c0, other0.c1 FROM (SELECT t.a AS c0, COUNT(*) AS c1, COUNT(*) > 1 AS kept0 FROM t \
             GROUP BY t.a) AS other0 WHERE other0.kept0",
        ),
        refused: &[
            "SELECT DISTINCT COUNT(*) FROM t GROUP BY t.a HAVING COUNT(*) > 1",
            // A window over the groups sees only those that HAVING keeps.
            "SELECT t.a, RANK() OVER (ORDER BY COUNT(*)) FROM t GROUP BY t.a HAVING COUNT(*) > 1",
            "SELECT t.a, 1 + COUNT(*) OVER w FROM t GROUP BY t.a HAVING COUNT(*) > 1 WINDOW w AS ()",
        ],
    },
    Identity {
        name: "window",
        relation: "an aggregate OVER (PARTITION BY) is a correlated subquery",
        needs: &[Feature::WindowFunctions],
        rewrite: Whole(queries::window),
        example: (
            "SELECT t.a, MAX(t.b) OVER (PARTITION BY t.a) FROM t WHERE t.a > 0",
            "SELECT t.a, (SELECT MAX(other0.b) FROM t AS other0 WHERE other0.a > 0 AND other0.a IS t.a) FROM t \
             WHERE t.a > 0",
        ),
        refused: &[
            "SELECT MAX(t.b) OVER (ORDER BY t.a) FROM t",
            "SELECT RANK() OVER (PARTITION BY t.a) FROM t",
            "SELECT MAX(t.b) OVER (PARTITION BY t.a) FROM t, u",
        ],
    },
    Identity {
        name: "grouping-sets",
        relation: "ROLLUP, CUBE and GROUPING SETS are one GROUP BY for each set",
        needs: &[Feature::GroupingSets],
        rewrite: Whole(queries::grouping_sets),
        example: ("", ""),
        refused: &["SELECT t.a, COUNT(*) FROM t GROUP BY t.a"],
    },
    Identity {
        name: "derived-filter",
        relation: "a WHERE condition can move into a derived table",
        needs: &[],
        rewrite: Whole(queries::derived_filter),
        example: (
            "SELECT t.a FROM t WHERE t.a > 0 AND t.n = 'x'",
            "SELECT t.a FROM (SELECT t.a AS a, t.b AS b, t.n AS n FROM t WHERE t.a > 0) AS t WHERE t.n = 'x'",
        ),
        // A derived table has no rowid.
        refused: &["SELECT t.a FROM t WHERE t.rowid > 1", "SELECT t.a FROM t, u WHERE t.a > 0"],
    },
];

/// An identity by its name.
pub fn by_name(name: &str) -> Option<&'static Identity> {
    TABLE.iter().find(|identity| identity.name == name)
}
