//! Expressions.

use serde::{Deserialize, Serialize};

use super::{DataType, Name, OrderItem, Query, Value};

/// An expression. There is one kind of tree for all dialects; what a dialect lacks is never put into it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expr {
    /// A constant.
    Literal(Value),
    /// A column.
    Column(ColumnRef),
    /// A parameter of a prepared statement, numbered from 1.
    Param(u32),
    /// A literal that becomes a parameter where its statement is prepared; written out it is the literal.
    Bound(Value),
    /// An operator before its operand.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        expr: Box<Expr>,
    },
    /// An operator between two operands.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `x IS [NOT] TRUE/FALSE/NULL`.
    Is {
        /// What is tested.
        expr: Box<Expr>,
        /// What it is tested for.
        test: Truth,
        /// `IS NOT` in place of `IS`.
        negated: bool,
    },
    /// `expr BETWEEN low AND high`.
    Between {
        /// What is tested.
        expr: Box<Expr>,
        /// The lower bound, which belongs to the range.
        low: Box<Expr>,
        /// The upper bound, which belongs to the range.
        high: Box<Expr>,
        /// `NOT BETWEEN`.
        negated: bool,
    },
    /// `expr IN (list)`.
    InList {
        /// What is looked for.
        expr: Box<Expr>,
        /// Where it is looked for; some dialects take an empty list.
        list: Vec<Expr>,
        /// `NOT IN`.
        negated: bool,
    },
    /// `expr IN (SELECT …)`.
    InQuery {
        /// What is looked for; a [`Expr::Row`] for several columns.
        expr: Box<Expr>,
        /// Where it is looked for.
        query: Box<Query>,
        /// `NOT IN`.
        negated: bool,
    },
    /// `EXISTS (SELECT …)`.
    Exists {
        /// The query whose rows are looked for.
        query: Box<Query>,
        /// `NOT EXISTS`.
        negated: bool,
    },
    /// `x > ANY (SELECT …)`.
    Quantified {
        /// A comparison.
        op: BinaryOp,
        /// The left operand.
        left: Box<Expr>,
        /// `ALL` in place of `ANY`.
        all: bool,
        /// The values it is compared with.
        query: Box<Query>,
    },
    /// A text matched against a pattern: `expr LIKE pattern ESCAPE escape`.
    Match {
        /// The operator, which decides what a pattern is.
        op: MatchOp,
        /// The text.
        expr: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The character of `ESCAPE`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        escape: Option<Box<Expr>>,
        /// `NOT LIKE` and its like.
        negated: bool,
    },
    /// `CASE operand WHEN … THEN … ELSE otherwise END`.
    Case {
        /// What the branches are compared with; absent: each branch has a condition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operand: Option<Box<Expr>>,
        /// The branches; the first that holds gives the value.
        branches: Vec<Branch>,
        /// The value of `ELSE`; absent: NULL.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(expr AS ty)`.
    Cast {
        /// What is cast.
        expr: Box<Expr>,
        /// The type to cast to.
        ty: DataType,
    },
    /// `expr COLLATE collation`.
    Collate {
        /// The text.
        expr: Box<Expr>,
        /// The collation to compare it by.
        collation: Name,
    },
    /// A call of a scalar function.
    Function {
        /// The function.
        name: Name,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// An operator or a function of its own syntax, written as `form` with each `{}` an operand:
    /// `{} @> {}`, `EXTRACT(YEAR FROM {})`.
    Operation {
        /// The text with a `{}` for each operand.
        form: Name,
        /// The operands, in the order of the form.
        args: Vec<Expr>,
    },
    /// A call of an aggregate function.
    Aggregate(Box<Aggregate>),
    /// A call of a window function.
    Window(Box<Window>),
    /// A scalar subquery: `(SELECT …)`.
    Subquery(Box<Query>),
    /// A row of values: `(a, b)`.
    Row(Vec<Expr>),
    /// Text no node describes; only imported statements hold it.
    Raw(Name),
}

/// A column as an expression names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ColumnRef {
    /// The table or alias in front of the dot, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Name>,
    /// The column's own name.
    pub column: Name,
}

/// `WHEN when THEN then`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// A condition, or a value for the operand of CASE.
    pub when: Expr,
    /// The value if it holds.
    pub then: Expr,
}

/// An aggregate call; no arguments means `count(*)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aggregate {
    /// The function: `SUM`.
    pub name: Name,
    /// `DISTINCT` in front of the arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
    /// The arguments.
    pub args: Vec<Expr>,
    /// The order in which values go in, where the function cares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<OrderItem>,
    /// `FILTER (WHERE …)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}

impl Aggregate {
    /// A call with these arguments and nothing else.
    pub fn new(name: impl Into<Name>, args: Vec<Expr>) -> Aggregate {
        Aggregate { name: name.into(), distinct: false, args, order_by: Vec::new(), filter: None }
    }
}

/// A window function, or an aggregate used as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The function with its arguments.
    pub function: Aggregate,
    /// The window that it looks at.
    pub over: Over,
}

/// What follows `OVER`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// A window of the clause WINDOW.
    Named(Name),
    /// A window that is written in place.
    Spec(WindowSpec),
}

/// A window: which rows a window function sees from a row, and in which order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowSpec {
    /// The keys of `PARTITION BY`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partition_by: Vec<Expr>,
    /// The keys of `ORDER BY` within a partition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<OrderItem>,
    /// The frame; absent: what the standard says for a window with or without ORDER BY.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
}

/// `unit BETWEEN start AND end EXCLUDE exclude`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// What the bounds count.
    pub unit: FrameUnit,
    /// Where the frame starts.
    pub start: FrameBound,
    /// Where it ends.
    pub end: FrameBound,
    /// The rows around the current one to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<FrameExclude>,
}

/// What the bounds of a frame count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameUnit {
    /// Rows.
    Rows,
    /// Distances between values of the one key of ORDER BY.
    Range,
    /// Groups of rows that are equal in ORDER BY.
    Groups,
}

/// One end of a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameBound {
    /// `UNBOUNDED PRECEDING`, the start of the partition.
    UnboundedPreceding,
    /// So far before the current row.
    Preceding(Box<Expr>),
    /// `CURRENT ROW`; for RANGE and GROUPS with all its peers.
    CurrentRow,
    /// So far behind the current row.
    Following(Box<Expr>),
    /// `UNBOUNDED FOLLOWING`, the end of the partition.
    UnboundedFollowing,
}

/// Rows that a frame leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameExclude {
    /// The current row.
    CurrentRow,
    /// The current row and its peers.
    Group,
    /// The peers of the current row, but not the row itself.
    Ties,
    /// None, which is the default, spelled out.
    NoOthers,
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnaryOp {
    /// `NOT`.
    Not,
    /// `-`.
    Minus,
    /// `+`, which changes no value.
    Plus,
    /// `~`, all bits inverted.
    BitNot,
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BinaryOp {
    /// `AND`.
    And,
    /// `OR`.
    Or,
    /// `=`.
    Eq,
    /// `<>`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// NULL-safe equality: `IS` in SQLite, `<=>` in MySQL, `IS NOT DISTINCT FROM` elsewhere.
    Same,
    /// Its negation, `IS DISTINCT FROM`.
    NotSame,
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`, of which dialects disagree for integers.
    Div,
    /// The remainder: `%` or `MOD`.
    Mod,
    /// Texts joined: `||`, or `CONCAT` where that means OR.
    Concat,
    /// `&`.
    BitAnd,
    /// `|`.
    BitOr,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `->` and `->>` on JSON.
    JsonGet,
    /// `->>`, which gives the value as text.
    JsonGetText,
}

impl BinaryOp {
    /// Whether it compares its operands and gives a truth value.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge | Same | NotSame)
    }
}

/// What `IS` tests for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Truth {
    /// `IS TRUE`.
    True,
    /// `IS FALSE`.
    False,
    /// `IS NULL`.
    Null,
}

/// An operator that matches a text against a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchOp {
    /// `LIKE`, with `%` and `_`.
    Like,
    /// SQLite's `GLOB`, with `*` and `?`.
    Glob,
    /// A regular expression, as the dialect spells it.
    Regexp,
    /// `SIMILAR TO`, the standard's own kind of regular expression.
    SimilarTo,
    /// `ILIKE`, which ignores case.
    ILike,
}

// Short ways to build trees. Oracles derive their queries with these.

impl Expr {
    /// The literal `NULL`.
    pub fn null() -> Expr {
        Expr::Literal(Value::Null)
    }

    /// A whole number as a literal.
    pub fn int(i: i64) -> Expr {
        Expr::Literal(Value::Int(i))
    }

    /// A text as a literal.
    pub fn text(text: impl Into<String>) -> Expr {
        Expr::Literal(Value::Text(text.into()))
    }

    /// A column of a named table: `table.column`.
    pub fn column(table: impl Into<Name>, column: impl Into<Name>) -> Expr {
        Expr::Column(ColumnRef { table: Some(table.into()), column: column.into() })
    }

    /// A column that is named without its table.
    pub fn bare_column(column: impl Into<Name>) -> Expr {
        Expr::Column(ColumnRef { table: None, column: column.into() })
    }

    /// `op expr`.
    pub fn unary(op: UnaryOp, expr: Expr) -> Expr {
        Expr::Unary { op, expr: Box::new(expr) }
    }

    /// `left op right`.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary { op, left: Box::new(left), right: Box::new(right) }
    }

    /// `NOT self`.
    pub fn negate(self) -> Expr {
        Expr::unary(UnaryOp::Not, self)
    }

    /// `self AND other`.
    pub fn and(self, other: Expr) -> Expr {
        Expr::binary(BinaryOp::And, self, other)
    }

    /// `self IS test`.
    pub fn is(self, test: Truth) -> Expr {
        Expr::Is { expr: Box::new(self), test, negated: false }
    }

    /// `self IS NOT test`.
    pub fn is_not(self, test: Truth) -> Expr {
        Expr::Is { expr: Box::new(self), test, negated: true }
    }

    /// A call of a scalar function.
    pub fn function(name: impl Into<Name>, args: Vec<Expr>) -> Expr {
        Expr::Function { name: name.into(), args }
    }

    /// An [`Expr::Operation`] of this form.
    pub fn operation(form: impl Into<Name>, args: Vec<Expr>) -> Expr {
        Expr::Operation { form: form.into(), args }
    }

    /// A call of an aggregate with these arguments and nothing else.
    pub fn aggregate(name: impl Into<Name>, args: Vec<Expr>) -> Expr {
        Expr::Aggregate(Box::new(Aggregate::new(name, args)))
    }

    /// `COUNT(*)`.
    pub fn count_rows() -> Expr {
        Expr::aggregate("COUNT", Vec::new())
    }
}
