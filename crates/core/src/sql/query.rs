//! Queries.

use serde::{Deserialize, Serialize};

use super::{Expr, Name, WindowSpec};

/// A query: a body, and the clauses that stand around it whether it is a SELECT, a set operation or VALUES.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// `WITH …`, the tables that are named in front of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<With>,
    /// What is computed before anything is ordered or cut off.
    pub body: Body,
    /// The keys of `ORDER BY`; none: the order of rows means nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<OrderItem>,
    /// `LIMIT`, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Expr>,
    /// `OFFSET`, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Expr>,
    /// `FOR UPDATE` or `FOR SHARE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locking: Option<Locking>,
}

/// The clause `WITH`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct With {
    /// `WITH RECURSIVE`: a table may refer to itself.
    pub recursive: bool,
    /// In the order written; each may use those before it.
    pub tables: Vec<CommonTable>,
}

/// A table that `WITH` names: `name(columns) AS (query)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommonTable {
    /// The name that the query below it uses.
    pub name: Name,
    /// New names for its columns; empty: those of its query.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Name>,
    /// `AS MATERIALIZED`, `AS NOT MATERIALIZED`, or neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub materialized: Option<bool>,
    /// What it holds.
    pub query: Query,
}

/// What a query does to the rows it reads, in dialects that have locking reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Locking {
    /// `FOR UPDATE`.
    Update,
    /// `FOR SHARE`.
    Share,
}

/// What a query computes, without its ORDER BY and LIMIT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// A plain `SELECT`.
    Select(Box<Select>),
    /// Two bodies joined by a set operator: `left UNION ALL right`.
    Compound {
        /// The operator.
        op: SetOp,
        /// Whether duplicates stay (`ALL`).
        all: bool,
        /// The first operand, which also gives the names of columns.
        left: Box<Body>,
        /// The second operand.
        right: Box<Body>,
    },
    /// `VALUES (…), (…)`, a list of rows.
    Values(Vec<Vec<Expr>>),
    /// A parenthesised query inside a compound, where the dialect has it.
    Nested(Box<Query>),
}

/// A set operator. Whether it is `ALL` is said by [`Body::Compound`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetOp {
    /// Rows of either side.
    Union,
    /// Rows that both sides have.
    Intersect,
    /// Rows of the left side that the right side does not have.
    Except,
}

/// One `SELECT`, from its list to its named windows. The default is empty and not yet a query: it has no items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Select {
    /// `SELECT DISTINCT`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
    /// The select list.
    pub items: Vec<SelectItem>,
    /// The operands of FROM, separated by commas; none: a query without FROM.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<TableRef>,
    /// The condition of `WHERE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
    /// The keys of `GROUP BY`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<Expr>,
    /// How the keys of GROUP BY are combined.
    #[serde(default, skip_serializing_if = "Grouping::is_plain")]
    pub grouping: Grouping,
    /// The condition of `HAVING`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub having: Option<Expr>,
    /// `WINDOW name AS (…)`, which window functions may refer to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<NamedWindow>,
}

/// By which subsets of the keys of GROUP BY rows are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// By all of them.
    #[default]
    Plain,
    /// By all, all but the last, and so on down to none.
    Rollup,
    /// By every subset.
    Cube,
    /// By each key alone, and by none.
    Sets,
}

impl Grouping {
    /// Whether it is GROUP BY as everyone knows it, without ROLLUP or its like.
    pub fn is_plain(&self) -> bool {
        *self == Grouping::Plain
    }
}

/// An entry of the clause `WINDOW`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedWindow {
    /// What `OVER` calls it.
    pub name: Name,
    /// Its definition.
    pub spec: WindowSpec,
}

/// An element of a select list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelectItem {
    /// An expression, and perhaps a name for it.
    Expr {
        /// What is computed.
        expr: Expr,
        /// `AS alias`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alias: Option<Name>,
    },
    /// `*`.
    Wildcard,
    /// `table.*`.
    TableWildcard(Name),
}

impl From<Expr> for SelectItem {
    fn from(expr: Expr) -> Self {
        SelectItem::Expr { expr, alias: None }
    }
}

/// An operand of FROM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableRef {
    /// A table or view by its name.
    Table {
        /// Its name in the schema.
        name: Name,
        /// What the query calls it instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alias: Option<Name>,
        /// Which index to use, where the dialect lets a query say that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<IndexHint>,
    },
    /// A subquery in FROM: `(query) AS alias`.
    Derived {
        /// The subquery.
        query: Box<Query>,
        /// What the query around it calls it.
        alias: Name,
        /// New names for its columns; empty: those of the subquery.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        columns: Vec<Name>,
        /// `LATERAL`: it may use the operands before it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lateral: bool,
    },
    /// Two operands joined.
    Join {
        /// The kind of join.
        kind: JoinKind,
        /// The left operand.
        left: Box<TableRef>,
        /// The right operand, often itself only a table.
        right: Box<TableRef>,
        /// The join's condition.
        on: JoinOn,
    },
    /// A table-valued function: `generate_series(1, 3) AS g`.
    Function {
        /// The function, or a form with a `{}` for each argument.
        name: Name,
        /// Its arguments.
        args: Vec<Expr>,
        /// What the query calls its rows.
        alias: Name,
        /// New names for its columns; empty: those of the function.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        columns: Vec<Name>,
    },
}

/// What a query says on the use of indexes, in SQLite's words. Others have others: `FORCE INDEX (name)`, `USE INDEX ()`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexHint {
    /// `INDEXED BY name`.
    IndexedBy(Name),
    /// `NOT INDEXED`.
    NotIndexed,
}

/// The kind of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinKind {
    /// Pairs that meet the condition.
    Inner,
    /// Also rows of the left operand without a partner.
    Left,
    /// Also rows of the right operand without a partner.
    Right,
    /// Also rows of either operand without a partner.
    Full,
    /// All pairs; there is no condition.
    Cross,
}

/// What a join compares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinOn {
    /// No condition is written.
    Nothing,
    /// `NATURAL`: all columns of equal names.
    Natural,
    /// `ON condition`.
    On(Expr),
    /// `USING (columns)`.
    Using(Vec<Name>),
}

/// A key of ORDER BY.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderItem {
    /// What is ordered by.
    pub expr: Expr,
    /// `DESC`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desc: bool,
    /// Where NULL goes; absent: where the dialect puts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nulls: Option<NullsOrder>,
}

/// The place of NULL in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NullsOrder {
    /// `NULLS FIRST`.
    First,
    /// `NULLS LAST`.
    Last,
}

// Short ways to build trees. Oracles derive their queries with these.

impl Query {
    /// A query that is this SELECT and nothing else.
    pub fn select(select: Select) -> Query {
        Body::Select(Box::new(select)).into()
    }

    /// `left op right`, with `ALL` or without.
    pub fn compound(op: SetOp, all: bool, left: Body, right: Body) -> Query {
        Body::Compound { op, all, left: Box::new(left), right: Box::new(right) }.into()
    }

    /// The query's only SELECT, if it is not a compound.
    pub fn as_select(&self) -> Option<&Select> {
        match &self.body {
            Body::Select(select) => Some(select),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn as_select_mut(&mut self) -> Option<&mut Select> {
        match &mut self.body {
            Body::Select(select) => Some(select),
            _ => None,
        }
    }
}

impl From<Body> for Query {
    fn from(body: Body) -> Query {
        Query { with: None, body, order_by: Vec::new(), limit: None, offset: None, locking: None }
    }
}

impl TableRef {
    /// A table by its name alone.
    pub fn table(name: impl Into<Name>) -> TableRef {
        TableRef::Table { name: name.into(), alias: None, hint: None }
    }

    /// `left kind JOIN right on`.
    pub fn join(kind: JoinKind, left: TableRef, right: TableRef, on: JoinOn) -> TableRef {
        TableRef::Join { kind, left: Box::new(left), right: Box::new(right), on }
    }
}
