use serde::{Deserialize, Serialize};

use super::Version;

/// What a dialect may be able to do. A feature exists because a generator, a renderer or an oracle asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    // Types and expressions
    /// Any value may stand in any column.
    DynamicTyping,
    /// Any operator takes any operand, converting it.
    LooseOperands,
    /// A statement that changes rows fails where a query would convert a value and warn, unless it is told to
    /// IGNORE that.
    StrictChanges,
    /// Text that is not declared otherwise compares by a collation that folds: equal texts differ.
    FoldedText,
    /// Arithmetic never raises an error: it widens, wraps or gives NULL.
    SafeArithmetic,
    /// Dividing by zero gives NULL or infinity, not an error.
    SafeDivision,
    /// A number has more digits while it is computed with than when it is shown or stored.
    HiddenDigits,
    /// A backslash in a text literal escapes what follows.
    BackslashEscapes,
    /// TRUE and FALSE are words.
    BoolLiterals,
    /// `x IS TRUE`.
    IsTruth,
    /// `x IS y` for any two expressions is NULL-safe equality.
    IsAnything,
    /// `x IS [NOT] DISTINCT FROM y`.
    IsDistinctFrom,
    /// `<=>`.
    Spaceship,
    /// `x GLOB y`.
    Glob,
    /// `x NOT GLOB y`.
    NotGlob,
    /// `x REGEXP y`.
    Regexp,
    /// `(a, b) = (1, 2)`.
    RowValues,
    /// `&`, `|`, `~`, `<<`, `>>`.
    BitOps,
    /// `||` concatenates.
    ConcatOp,
    /// `x -> y` and `x ->> y` on JSON.
    JsonArrows,
    /// `x COLLATE c`.
    Collate,
    /// Whole numbers, plain text, joins, groups and sets mean the same as on other engines that have this: what
    /// `--against` another engine compares.
    CommonSql,
    // Queries
    /// `LEFT JOIN`.
    LeftJoin,
    /// `RIGHT JOIN`.
    RightJoin,
    /// `FULL JOIN`.
    FullJoin,
    /// A FULL JOIN on any condition, not on an equality of columns only.
    FullJoinAnyhow,
    /// `NATURAL JOIN`.
    NaturalJoin,
    /// `JOIN … USING (…)`.
    JoinUsing,
    /// Subqueries in the ON of an outer join.
    OuterJoinSubqueries,
    /// The ON of an outer join may be any condition, not only an equality between the two sides.
    OuterJoinConditions,
    /// The subquery of an IN may name columns of the query around it.
    CorrelatedIn,
    /// `CREATE TABLE … AS SELECT …`.
    CreateTableAs,
    /// `WITH … AS (…)`.
    Cte,
    /// `WITH RECURSIVE`.
    RecursiveCte,
    /// UNION between the parts of a recursive common table expression, not UNION ALL only.
    RecursiveUnion,
    /// A recursive common table expression may have its columns named by its first part alone.
    RecursionUnlisted,
    /// `AS [NOT] MATERIALIZED`.
    CteMaterialized,
    /// `INTERSECT`.
    Intersect,
    /// `EXCEPT`.
    Except,
    /// The right operand of a join may be a join in parentheses.
    NestedJoins,
    /// `(VALUES (…)) AS d` in FROM.
    ValuesInFrom,
    /// `(…) AS d(c0, c1)`: a derived table may name its columns.
    DerivedColumns,
    /// LIMIT in a subquery of IN, ANY and ALL.
    LimitInSubquery,
    /// Parentheses around an operand of a set operator.
    NestedCompounds,
    /// `INTERSECT ALL`.
    IntersectAll,
    /// `EXCEPT ALL`.
    ExceptAll,
    /// `f(…) OVER (…)`.
    WindowFunctions,
    /// `WINDOW w AS (…)`.
    NamedWindows,
    /// `GROUPS` in the frame of a window.
    FrameGroups,
    /// `RANGE 1 PRECEDING` in the frame of a window.
    FrameOffsets,
    /// `EXCLUDE` in the frame of a window.
    WindowExclude,
    /// `GROUP BY ROLLUP (…)`, `CUBE (…)`, `GROUPING SETS (…)`.
    GroupingSets,
    /// `GROUP BY … WITH ROLLUP`.
    WithRollup,
    /// `COUNT(*) FILTER (WHERE …)`.
    AggregateFilter,
    /// `ORDER BY x NULLS FIRST`.
    NullsOrder,
    /// Unless it is said where, NULLs are on the same side in either direction.
    NullsStay,
    /// A column beside MIN or MAX comes from a row that has it.
    RowOfExtreme,
    /// A table in FROM may say which index to use.
    IndexHints,
    /// No two items of a SELECT may have the same name; an expression is its own name.
    UniqueItems,
    /// `LATERAL (SELECT …)`.
    Lateral,
    /// `x > ALL (SELECT …)`, `x = ANY (SELECT …)`.
    QuantifiedComparison,
    /// `FOR UPDATE`.
    Locking,
    /// `FOR SHARE`.
    ForShare,
    // Tables and statements
    /// PRAGMA instead of SET.
    Pragma,
    /// `CREATE VIEW`.
    Views,
    /// `CREATE TEMPORARY TABLE`.
    TempTables,
    /// PRIMARY KEY and UNIQUE: keys that no two rows share.
    UniqueKeys,
    /// `CHECK (…)`.
    CheckConstraints,
    /// `CREATE INDEX`.
    Indexes,
    /// A table cannot do without one of the dialect's options.
    TableOptionNeeded,
    /// A table may have its primary key for the place of a row: SQLite's `WITHOUT ROWID`.
    WithoutRowid,
    /// `INTEGER PRIMARY KEY` is another name for the rowid.
    RowidAlias,
    /// A column of a PRIMARY KEY may be NULL.
    NullableKeys,
    /// DESC in the key of an index.
    OrderedIndexes,
    /// A table may have its types enforced: SQLite's `STRICT`.
    StrictTables,
    /// `GENERATED ALWAYS AS (…)`.
    GeneratedColumns,
    /// Generated columns that are computed when they are read.
    VirtualColumns,
    /// ASC, DESC and COLLATE in the keys of PRIMARY KEY and UNIQUE, and `PRIMARY KEY DESC`.
    OrderedKeys,
    /// COLLATE in the key of an index.
    CollatedKeys,
    /// `DROP INDEX i ON t`.
    DropIndexOn,
    /// `CREATE INDEX … WHERE …`.
    PartialIndexes,
    /// Expressions as keys of an index.
    ExpressionIndexes,
    /// `INSERT OR IGNORE`, `UPDATE OR REPLACE`, `ON CONFLICT` in constraints.
    ConflictClauses,
    /// `INSERT IGNORE`.
    InsertIgnore,
    /// A key that counts itself.
    Autoincrement,
    /// `REFERENCES`, `FOREIGN KEY`.
    ForeignKeys,
    /// SAVEPOINT outside a transaction begins one.
    BareSavepoints,
    /// `INSERT … ON CONFLICT … DO …`.
    Upsert,
    /// UPDATE and DELETE take subqueries, also ones that read the table that is changed.
    ChangesWithSubqueries,
    /// `DELETE … RETURNING`.
    DeleteReturning,
    /// `UPDATE … RETURNING`.
    UpdateReturning,
    /// `MERGE INTO … USING … WHEN MATCHED …`.
    Merge,
    /// `ALTER TABLE … RENAME COLUMN`.
    RenameColumn,
    /// `ALTER TABLE … DROP COLUMN`.
    DropColumn,
    /// ALTER TABLE of a table that has an index.
    AlterIndexed,
    /// `BEGIN`, `COMMIT`, `ROLLBACK`.
    Transactions,
    /// `SAVEPOINT`.
    Savepoints,
    /// `RENAME TABLE a TO b` instead of an action of ALTER TABLE.
    RenameTableStatement,
    /// UPDATE and DELETE are actions of ALTER TABLE.
    Mutations,
    /// `REINDEX`.
    Reindex,
    /// `ANALYZE`.
    Analyze,
    /// `VACUUM`.
    Vacuum,
    /// Transactions also undo changes of the schema; elsewhere such a statement commits first.
    TransactionalSchema,
    /// After an error, a transaction can only be rolled back.
    ErrorsEndTransactions,
    /// A database can be saved, and opened again.
    Reopen,
}

/// A set of features.
#[derive(Clone, Copy, Default)]
pub struct Features(u128);

impl Features {
    /// Whether a feature is among them.
    pub fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    /// Takes a feature out.
    pub fn remove(&mut self, feature: Feature) {
        self.0 &= !(1 << feature as u32);
    }
}

impl FromIterator<Feature> for Features {
    fn from_iter<T: IntoIterator<Item = Feature>>(features: T) -> Self {
        Features(features.into_iter().fold(0, |set, feature| set | 1 << feature as u32))
    }
}

impl std::fmt::Debug for Features {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Features({:#x})", self.0)
    }
}

/// `feature = true` or `feature = "3.39.0"`, the first version that has it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Since {
    Always(bool),
    Version(String),
}

impl Since {
    pub fn reached(&self, version: &Version) -> bool {
        match self {
            Since::Always(yes) => *yes,
            Since::Version(since) => *version >= Version::parse(since),
        }
    }
}
