//! Queries and expressions.

use serde::{Deserialize, Serialize};

use super::{DataType, Name, Value};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Query {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<With>,
    pub body: Body,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<OrderItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Expr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Expr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locking: Option<Locking>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct With {
    pub recursive: bool,
    pub tables: Vec<CommonTable>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommonTable {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Name>,
    /// `AS MATERIALIZED`, `AS NOT MATERIALIZED`, or neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub materialized: Option<bool>,
    pub query: Query,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Locking {
    Update,
    Share,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    Select(Box<Select>),
    Compound {
        op: SetOp,
        all: bool,
        left: Box<Body>,
        right: Box<Body>,
    },
    Values(Vec<Vec<Expr>>),
    /// A parenthesised query inside a compound, where the dialect has it.
    Nested(Box<Query>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Select {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
    pub items: Vec<SelectItem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<TableRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<Expr>,
    #[serde(default, skip_serializing_if = "Grouping::is_plain")]
    pub grouping: Grouping,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub having: Option<Expr>,
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
    pub fn is_plain(&self) -> bool {
        *self == Grouping::Plain
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedWindow {
    pub name: Name,
    pub spec: WindowSpec,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelectItem {
    Expr {
        expr: Expr,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alias: Option<Name>,
    },
    Wildcard,
    TableWildcard(Name),
}

impl From<Expr> for SelectItem {
    fn from(expr: Expr) -> Self {
        SelectItem::Expr { expr, alias: None }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableRef {
    Table {
        name: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alias: Option<Name>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<IndexHint>,
    },
    Derived {
        query: Box<Query>,
        alias: Name,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        columns: Vec<Name>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lateral: bool,
    },
    Join {
        kind: JoinKind,
        left: Box<TableRef>,
        right: Box<TableRef>,
        on: JoinOn,
    },
    /// A table-valued function: `generate_series(1, 3) AS g`.
    Function {
        name: Name,
        args: Vec<Expr>,
        alias: Name,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexHint {
    IndexedBy(Name),
    NotIndexed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    Cross,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinOn {
    Nothing,
    Natural,
    On(Expr),
    Using(Vec<Name>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderItem {
    pub expr: Expr,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desc: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nulls: Option<NullsOrder>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NullsOrder {
    First,
    Last,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expr {
    Literal(Value),
    Column(ColumnRef),
    /// A parameter of a prepared statement, numbered from 1.
    Param(u32),
    /// A literal that becomes a parameter where its statement is prepared; written out it is the literal.
    Bound(Value),
    Unary {
        op: UnaryOp,
        expr: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `x IS [NOT] TRUE/FALSE/NULL`.
    Is {
        expr: Box<Expr>,
        test: Truth,
        negated: bool,
    },
    Between {
        expr: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        negated: bool,
    },
    InList {
        expr: Box<Expr>,
        list: Vec<Expr>,
        negated: bool,
    },
    InQuery {
        expr: Box<Expr>,
        query: Box<Query>,
        negated: bool,
    },
    Exists {
        query: Box<Query>,
        negated: bool,
    },
    /// `x > ANY (SELECT …)`.
    Quantified {
        op: BinaryOp,
        left: Box<Expr>,
        all: bool,
        query: Box<Query>,
    },
    Match {
        op: MatchOp,
        expr: Box<Expr>,
        pattern: Box<Expr>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        escape: Option<Box<Expr>>,
        negated: bool,
    },
    Case {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operand: Option<Box<Expr>>,
        branches: Vec<Branch>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<Box<Expr>>,
    },
    Cast {
        expr: Box<Expr>,
        ty: DataType,
    },
    Collate {
        expr: Box<Expr>,
        collation: Name,
    },
    Function {
        name: Name,
        args: Vec<Expr>,
    },
    /// An operator or a function of its own syntax, written as `form` with each `{}` an operand:
    /// `{} @> {}`, `EXTRACT(YEAR FROM {})`.
    Operation {
        form: Name,
        args: Vec<Expr>,
    },
    Aggregate(Box<Aggregate>),
    Window(Box<Window>),
    Subquery(Box<Query>),
    Row(Vec<Expr>),
    /// Text no node describes; only imported statements hold it.
    Raw(Name),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ColumnRef {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Name>,
    pub column: Name,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    pub when: Expr,
    pub then: Expr,
}

/// An aggregate call; no arguments means `count(*)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aggregate {
    pub name: Name,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
    pub args: Vec<Expr>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<OrderItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}

impl Aggregate {
    pub fn new(name: impl Into<Name>, args: Vec<Expr>) -> Aggregate {
        Aggregate { name: name.into(), distinct: false, args, order_by: Vec::new(), filter: None }
    }
}

/// A window function, or an aggregate used as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    pub function: Aggregate,
    pub over: Over,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    Named(Name),
    Spec(WindowSpec),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowSpec {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partition_by: Vec<Expr>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<OrderItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    pub unit: FrameUnit,
    pub start: FrameBound,
    pub end: FrameBound,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<FrameExclude>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameUnit {
    Rows,
    Range,
    Groups,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Box<Expr>),
    CurrentRow,
    Following(Box<Expr>),
    UnboundedFollowing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameExclude {
    CurrentRow,
    Group,
    Ties,
    NoOthers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnaryOp {
    Not,
    Minus,
    Plus,
    BitNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BinaryOp {
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// NULL-safe equality: `IS` in SQLite, `<=>` in MySQL, `IS NOT DISTINCT FROM` elsewhere.
    Same,
    /// Its negation, `IS DISTINCT FROM`.
    NotSame,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Concat,
    BitAnd,
    BitOr,
    ShiftLeft,
    ShiftRight,
    /// `->` and `->>` on JSON.
    JsonGet,
    JsonGetText,
}

impl BinaryOp {
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge | Same | NotSame)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Truth {
    True,
    False,
    Null,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchOp {
    Like,
    Glob,
    Regexp,
    SimilarTo,
    ILike,
}

// Short ways to build trees. Oracles derive their queries with these.

impl Expr {
    pub fn null() -> Expr {
        Expr::Literal(Value::Null)
    }

    pub fn int(i: i64) -> Expr {
        Expr::Literal(Value::Int(i))
    }

    pub fn text(text: impl Into<String>) -> Expr {
        Expr::Literal(Value::Text(text.into()))
    }

    pub fn column(table: impl Into<Name>, column: impl Into<Name>) -> Expr {
        Expr::Column(ColumnRef { table: Some(table.into()), column: column.into() })
    }

    pub fn bare_column(column: impl Into<Name>) -> Expr {
        Expr::Column(ColumnRef { table: None, column: column.into() })
    }

    pub fn unary(op: UnaryOp, expr: Expr) -> Expr {
        Expr::Unary { op, expr: Box::new(expr) }
    }

    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary { op, left: Box::new(left), right: Box::new(right) }
    }

    pub fn negate(self) -> Expr {
        Expr::unary(UnaryOp::Not, self)
    }

    pub fn and(self, other: Expr) -> Expr {
        Expr::binary(BinaryOp::And, self, other)
    }

    pub fn is(self, test: Truth) -> Expr {
        Expr::Is { expr: Box::new(self), test, negated: false }
    }

    pub fn is_not(self, test: Truth) -> Expr {
        Expr::Is { expr: Box::new(self), test, negated: true }
    }

    pub fn function(name: impl Into<Name>, args: Vec<Expr>) -> Expr {
        Expr::Function { name: name.into(), args }
    }

    pub fn operation(form: impl Into<Name>, args: Vec<Expr>) -> Expr {
        Expr::Operation { form: form.into(), args }
    }

    pub fn aggregate(name: impl Into<Name>, args: Vec<Expr>) -> Expr {
        Expr::Aggregate(Box::new(Aggregate::new(name, args)))
    }

    pub fn count_rows() -> Expr {
        Expr::aggregate("COUNT", Vec::new())
    }
}

impl Query {
    pub fn select(select: Select) -> Query {
        Body::Select(Box::new(select)).into()
    }

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
    pub fn table(name: impl Into<Name>) -> TableRef {
        TableRef::Table { name: name.into(), alias: None, hint: None }
    }

    pub fn join(kind: JoinKind, left: TableRef, right: TableRef, on: JoinOn) -> TableRef {
        TableRef::Join { kind, left: Box::new(left), right: Box::new(right), on }
    }
}
