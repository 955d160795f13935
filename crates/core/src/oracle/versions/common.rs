//! The part of SQL on which engines agree: where a difference between two of them is one that neither documents.
//!
//! Whole numbers and text without collations; tables of those; joins, groups, sets and subqueries over them. What is
//! left out, engines do differently: division, LIKE, casts, rows as values, LIMIT where NULLs are, floats.
//!
//! Operands must be of one kind that is known. SQLite compares 1 and '1' by affinity, DuckDB converts the text, and
//! PostgreSQL takes a bare literal for whatever it stands beside.

use crate::database::Database;
use crate::dialect::Dialect;
use crate::dialect::common::{AGGREGATES, FUNCTIONS, is_shared_type};
use crate::engine::Rows;
use crate::oracle::kit::place::{self, Place};
use crate::sql::visit::{Visitor, walk_body, walk_query, walk_select, walk_table};
use crate::sql::*;
use crate::state::{Relation, State, kind_within};

type Refusal = Option<&'static str>;

const STATEMENT: &str = "statement that engines may take differently";
const CLAUSE: &str = "clause that engines may take differently";
const OPERATION: &str = "operation that engines may compute differently";
const MIXED: &str = "operands that engines may convert";
const LARGE: &str = "number that engines may compute differently";

/// A larger literal is of another type on some engines, which computes with more digits.
const LARGEST_LITERAL: u64 = 1_000_000_000;

/// Why two engines may answer differently, if they may.
pub fn outside(query: &Query, database: &Database, dialect: &Dialect) -> Refusal {
    let state = database.state();
    let setup = database.setup().iter().find_map(|statement| of_statement(statement, state, dialect));
    setup.or_else(|| of_query(query, state, dialect))
}

fn of_statement(statement: &Statement, state: &State, dialect: &Dialect) -> Refusal {
    match statement {
        Statement::CreateTable(create) => {
            let plain = !create.temporary && create.options.is_empty() && create.query.is_none();
            let columns = create.columns.iter().all(is_plain_column);
            let keys = create.constraints.iter().all(|constraint| match constraint {
                TableConstraint::PrimaryKey(keys) | TableConstraint::Unique(keys) => {
                    keys.iter().all(is_plain_key)
                }
                _ => false,
            });
            (!(plain && columns && keys)).then_some(STATEMENT)
        }
        Statement::CreateIndex(index) => {
            let plain =
                index.method.is_none() && index.filter.is_none() && index.keys.iter().all(is_plain_key);
            (!plain).then_some(STATEMENT)
        }
        Statement::CreateView(view) => match view.temporary {
            true => Some(STATEMENT),
            false => of_query(&view.query, state, dialect),
        },
        Statement::Insert(insert) => of_insert(insert, state),
        Statement::Update(update) => {
            let table = state.table(&update.table)?;
            let fits = update.assignments.iter().all(|assignment| {
                let column = table.columns.iter().find(|column| column.name == assignment.column);
                column.is_some_and(|column| fits(&assignment.value, column.ty.kind))
            });
            let plain = update.or.is_none() && fits;
            if !plain {
                Some(STATEMENT)
            } else {
                of_filter(&update.table, update.filter.as_ref(), state, dialect)
            }
        }
        Statement::Delete(delete) => of_filter(&delete.table, delete.filter.as_ref(), state, dialect),
        Statement::Drop { .. } | Statement::Begin | Statement::Commit | Statement::Rollback => None,
        _ => Some(STATEMENT),
    }
}

fn is_plain_column(column: &ColumnDef) -> bool {
    let plain = |constraint: &ColumnConstraint| match constraint {
        ColumnConstraint::NotNull => true,
        ColumnConstraint::PrimaryKey { desc, autoincrement, on_conflict } => {
            !desc && !autoincrement && on_conflict.is_none()
        }
        ColumnConstraint::Unique { on_conflict } => on_conflict.is_none(),
        ColumnConstraint::Default(value) => fits(value, column.ty.kind),
        _ => false,
    };
    is_shared_type(&column.ty) && column.constraints.iter().all(plain)
}

fn is_plain_key(key: &IndexKey) -> bool {
    matches!(key.expr, Expr::Column(_)) && key.prefix.is_none() && key.collation.is_none()
}

/// A literal that a column of this kind holds as it is.
fn fits(value: &Expr, kind: Kind) -> bool {
    matches!(value, Expr::Literal(value) if value.is_null() || value.kind() == kind && !has_nul(value))
}

/// PostgreSQL's text has no NUL, and SQLite's functions end at it.
fn has_nul(value: &Value) -> bool {
    matches!(value, Value::Text(text) if text.contains('\0'))
}

fn of_insert(insert: &Insert, state: &State) -> Refusal {
    // Of a table that is gone nothing is left to compare.
    let table = state.table(&insert.table)?;
    let nothing = |upsert: &Upsert| upsert.assignments.is_empty() && upsert.filter.is_none();
    let InsertSource::Values(rows) = &insert.source else { return Some(STATEMENT) };
    let kinds: Vec<Option<Kind>> = match insert.columns.is_empty() {
        true => table.columns.iter().map(|column| Some(column.ty.kind)).collect(),
        false => {
            let kind = |name: &Name| table.columns.iter().find(|column| column.name == *name);
            insert.columns.iter().map(|name| kind(name).map(|column| column.ty.kind)).collect()
        }
    };
    let row_fits = |row: &Vec<Expr>| {
        row.len() == kinds.len()
            && row.iter().zip(&kinds).all(|(value, kind)| kind.is_some_and(|kind| fits(value, kind)))
    };
    let plain = insert.or.is_none() && insert.upsert.iter().all(nothing) && rows.iter().all(row_fits);
    (!plain).then_some(STATEMENT)
}

/// The condition of a statement that changes rows is that of a query over its table.
fn of_filter(table: &Name, filter: Option<&Expr>, state: &State, dialect: &Dialect) -> Refusal {
    state.table(table)?;
    let from = vec![TableRef::table(table.clone())];
    let select =
        Select { items: vec![SelectItem::Wildcard], from, filter: filter.cloned(), ..Select::default() };
    of_query(&Query::select(select), state, dialect)
}

fn of_query(query: &Query, state: &State, dialect: &Dialect) -> Refusal {
    let mut shapes = Shapes { state, dialect, with: Vec::new(), refusal: None };
    shapes.query(query);
    let mut refusal = shapes.refusal;
    place::rewrite(query, state, dialect, &mut |expr, place| {
        refusal = refusal.or_else(|| of_expr(expr, place));
        None
    });
    refusal
}

/// Looks at clauses; expressions are looked at where their columns are known.
struct Shapes<'a> {
    state: &'a State,
    dialect: &'a Dialect,
    /// The common tables that can be named.
    with: Vec<CommonTable>,
    refusal: Refusal,
}

impl Shapes<'_> {
    fn refuse_unless(&mut self, shared: bool) {
        if !shared {
            self.refusal = self.refusal.or(Some(CLAUSE));
        }
    }

    /// The kinds of what a body returns; none: they are not known.
    fn kinds(&self, body: &Body) -> Option<Vec<Kind>> {
        let Body::Select(select) = body else { return None };
        let with = With { recursive: false, tables: self.with.clone() };
        let mut relations = Vec::new();
        select.from.iter().for_each(|table| {
            self.state.relations_of(table, Some(&with), self.dialect, &mut relations);
        });
        let relations: Vec<Relation> =
            relations.into_iter().map(|(alias, columns)| Relation { alias, columns }).collect();
        let kind = |item: &SelectItem| match item {
            // A bare literal takes the type of what it meets.
            SelectItem::Expr { expr: Expr::Literal(_), .. } => None,
            SelectItem::Expr { expr, .. } => Some(kind_within(expr, &relations, self.dialect)),
            _ => None,
        };
        select.items.iter().map(|item| kind(item).filter(|kind| *kind != Kind::Any)).collect()
    }
}

impl Visitor for Shapes<'_> {
    fn query(&mut self, query: &Query) {
        let recursive = query.with.as_ref().is_some_and(|with| with.recursive);
        let cut = query.limit.is_some() || query.offset.is_some() || query.locking.is_some();
        self.refuse_unless(!recursive && !cut);
        let known = self.with.len();
        self.with.extend(query.with.iter().flat_map(|with| with.tables.clone()));
        walk_query(self, query);
        self.with.truncate(known);
    }

    /// Engines disagree on which of two set operators binds more tightly, so there is one.
    fn body(&mut self, body: &Body) {
        match body {
            Body::Select(_) => {}
            Body::Compound { left, right, .. } => {
                let (left, right) = (self.kinds(left), self.kinds(right));
                self.refuse_unless(left.is_some() && left == right);
            }
            Body::Values(_) | Body::Nested(_) => self.refuse_unless(false),
        }
        walk_body(self, body);
    }

    fn select(&mut self, select: &Select) {
        let keys = select.group_by.iter().all(|key| matches!(key, Expr::Column(_)));
        self.refuse_unless(keys && select.grouping.is_plain() && select.windows.is_empty());
        walk_select(self, select);
    }

    fn table(&mut self, table: &TableRef) {
        let shared = match table {
            TableRef::Table { hint, .. } => hint.is_none(),
            TableRef::Derived { lateral, .. } => !lateral,
            // Columns of one name may be of two kinds.
            TableRef::Join { on, .. } => matches!(on, JoinOn::On(_) | JoinOn::Nothing),
            TableRef::Function { .. } => false,
        };
        self.refuse_unless(shared);
        walk_table(self, table);
    }
}

/// What an expression does itself; its operands were looked at before.
fn of_expr(expr: &Expr, place: &Place) -> Refusal {
    let one_kind = |operands: &[&Expr]| if is_one_kind(operands, place) { None } else { Some(MIXED) };
    let is = |expr: &Expr, kind: Kind| matches!(expr, Expr::Literal(Value::Null)) || place.kind(expr) == kind;
    let all = |operands: &[&Expr], kind: Kind| match operands.iter().all(|operand| is(operand, kind)) {
        true => None,
        false => Some(MIXED),
    };
    match expr {
        Expr::Literal(value) => of_literal(value),
        Expr::Column(reference) => match place.column(reference).map(|column| column.ty.kind) {
            Some(Kind::Int | Kind::Text | Kind::Bool) => None,
            _ => Some(MIXED),
        },
        Expr::Unary { op: UnaryOp::Not, expr } => all(&[expr], Kind::Bool),
        Expr::Unary { op: UnaryOp::Minus | UnaryOp::Plus, expr } => all(&[expr], Kind::Int),
        Expr::Binary { op, left, right } => match op {
            BinaryOp::And | BinaryOp::Or => all(&[left, right], Kind::Bool),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mod => all(&[left, right], Kind::Int),
            BinaryOp::Concat => all(&[left, right], Kind::Text),
            op if op.is_comparison() => one_kind(&[left, right]),
            _ => Some(OPERATION),
        },
        Expr::Is { test: Truth::Null, .. } => None,
        Expr::Is { expr, .. } => all(&[expr], Kind::Bool),
        Expr::Between { expr, low, high, .. } => one_kind(&[expr, low, high]),
        Expr::InList { expr, list, .. } => {
            let operands: Vec<&Expr> = std::iter::once(&**expr).chain(list).collect();
            if list.is_empty() { Some(OPERATION) } else { one_kind(&operands) }
        }
        Expr::InQuery { expr, query, .. } | Expr::Quantified { left: expr, query, .. } => {
            match single_item(query).filter(|item| !matches!(item, Expr::Literal(_))) {
                Some(item) => within(query, place, |inner| {
                    let (left, right) = (place.kind(expr), inner.kind(item));
                    (left == Kind::Any || left != right).then_some(MIXED)
                }),
                None => Some(MIXED),
            }
        }
        Expr::Exists { .. } => None,
        Expr::Case { operand, branches, otherwise } => {
            let values: Vec<&Expr> =
                branches.iter().map(|branch| &branch.then).chain(otherwise.as_deref()).collect();
            let tests: Vec<&Expr> = branches.iter().map(|branch| &branch.when).collect();
            one_kind(&values).or_else(|| match operand {
                Some(operand) => one_kind(&[&[&**operand], tests.as_slice()].concat()),
                None => all(&tests, Kind::Bool),
            })
        }
        Expr::Cast { expr, ty } => match is_shared_type(ty) {
            true => all(&[expr], ty.kind),
            false => Some(OPERATION),
        },
        Expr::Function { name, args } => match FUNCTIONS.iter().any(|known| name.eq_ignore_ascii_case(known))
        {
            true => one_kind(&args.iter().collect::<Vec<_>>()),
            false => Some(OPERATION),
        },
        Expr::Aggregate(aggregate) => of_aggregate(aggregate, place),
        // A scalar subquery of more than one row fails, or not.
        Expr::Subquery(query) => match single_item(query) {
            Some(Expr::Aggregate(_)) if is_one_row(query) => None,
            _ => Some(OPERATION),
        },
        _ => Some(OPERATION),
    }
}

/// Values that are compared as they are. A NULL goes with anything.
fn is_one_kind(operands: &[&Expr], place: &Place) -> bool {
    let mut kinds = operands.iter().filter(|operand| !matches!(operand, Expr::Literal(Value::Null)));
    let Some(first) = kinds.next().map(|operand| place.kind(operand)) else { return false };
    matches!(first, Kind::Int | Kind::Text | Kind::Bool) && kinds.all(|operand| place.kind(operand) == first)
}

fn of_literal(value: &Value) -> Refusal {
    match value {
        Value::Null | Value::Bool(_) => None,
        Value::Int(number) if number.unsigned_abs() <= LARGEST_LITERAL => None,
        Value::Int(_) => Some(LARGE),
        Value::Text(_) if !has_nul(value) => None,
        _ => Some(OPERATION),
    }
}

fn of_aggregate(aggregate: &Aggregate, place: &Place) -> Refusal {
    let is = |name: &str| aggregate.name.eq_ignore_ascii_case(name);
    let known = AGGREGATES.iter().any(|known| is(known)) && aggregate.args.len() <= 1;
    if !known || !aggregate.order_by.is_empty() {
        return Some(OPERATION);
    }
    match aggregate.args.first() {
        None => None,
        Some(arg) if is("SUM") => (!is_remainder(arg)).then_some(LARGE),
        Some(arg) if is("COUNT") => (place.kind(arg) == Kind::Any).then_some(MIXED),
        // PostgreSQL has no order of truth values here.
        Some(arg) => (!matches!(place.kind(arg), Kind::Int | Kind::Text)).then_some(MIXED),
    }
}

/// A sum of such cannot overflow.
fn is_remainder(expr: &Expr) -> bool {
    let small =
        |expr: &Expr| matches!(expr, Expr::Literal(Value::Int(number)) if number.unsigned_abs() <= 1000);
    match expr {
        Expr::Binary { op: BinaryOp::Mod, right, .. } => small(right),
        other => small(other),
    }
}

fn single_item(query: &Query) -> Option<&Expr> {
    match query.as_select()?.items.as_slice() {
        [SelectItem::Expr { expr, .. }] => Some(expr),
        _ => None,
    }
}

fn is_one_row(query: &Query) -> bool {
    query.as_select().is_some_and(|select| select.group_by.is_empty() && select.having.is_none())
}

/// Asks something about an expression of a subquery, with the columns in scope there.
fn within(query: &Query, place: &Place, ask: impl FnOnce(&Place) -> Refusal) -> Refusal {
    let Some(select) = query.as_select().filter(|_| query.with.is_none()) else { return Some(MIXED) };
    let mut own = Vec::new();
    select.from.iter().for_each(|table| place.state.relations_of(table, None, place.dialect, &mut own));
    let own = own.into_iter().map(|(alias, columns)| Relation { alias, columns });
    let relations: Vec<Relation> = place.relations.iter().cloned().chain(own).collect();
    ask(&Place { relations: &relations, own: place.relations.len(), depth: place.depth + 1, ..*place })
}

/// The same rows with truth values and sums as whole numbers, as some engines return them; none: it holds a number that is
/// not whole, which says that something overflowed.
pub fn as_whole_numbers(rows: &Rows) -> Option<Rows> {
    let value = |value: &Value| match value {
        Value::Bool(_) | Value::Decimal(_) => value.as_int().map(Value::Int),
        Value::Real(_) => None,
        other => Some(other.clone()),
    };
    let values = rows.values.iter().map(value).collect::<Option<Vec<_>>>()?;
    Some(Rows { values, ..rows.clone() })
}
