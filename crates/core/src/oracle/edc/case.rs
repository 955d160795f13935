//! Reads a subject: the table, the operation, and whether one may stand for the other at all.

use super::RESULT;
use crate::database::Database;
use crate::dialect::{Dialect, Feature, Function};
use crate::oracle::kit::gate::{deduplicates, has_aggregate};
use crate::oracle::kit::place::{cast_type, collated_operand, is_collated};
use crate::render::expr_to_sql;
use crate::sql::visit::{
    Editor, Visitor, any_expr, edit_expr, walk_expr, walk_query, walk_select, walk_table,
};
use crate::sql::*;
use crate::state::{Column, State};
use crate::subject::Subject;

/// What is under test: an operation over the columns of one table.
pub struct Case {
    pub base: CreateTable,
    pub columns: Vec<Column>,
    /// The operation, its columns unqualified.
    pub operation: Expr,
    /// What tells the rows of the table apart; the same for all of them does for a table of one row.
    pub key: Expr,
    /// The grouping columns of an aggregate.
    pub keys: Option<Vec<Name>>,
    /// How the stored column stands for the operation.
    pub stand_in: StandIn,
    /// What is known of the result by the tree.
    pub result: Column,
}

/// How a stored column stands for an operation. Where types are dynamic, a column has an affinity and a collation, and both
/// decide how it is compared: what stands for the operation has those that the operation has (SOUNDNESS 2.4).
#[derive(Debug, PartialEq, Eq)]
pub enum StandIn {
    /// Both: the column as it is.
    Column,
    /// A collation: `+column`.
    Plus,
    /// An affinity: `CAST(CASE WHEN 1 THEN column END AS type)`.
    Cast(DataType),
    /// Neither: `CASE WHEN 1 THEN column END`.
    Case,
}

impl StandIn {
    fn of(operation: &Expr) -> StandIn {
        let is_column = matches!(operation, Expr::Column(_));
        match (cast_type(operation), has_collation(operation)) {
            (None, true) if !is_column => StandIn::Plus,
            (_, true) => StandIn::Column,
            (Some(ty), false) => StandIn::Cast(ty),
            (None, false) => StandIn::Case,
        }
    }
}

impl Case {
    /// The case that a subject describes, or why nothing can be said about it.
    pub fn read(subject: &Subject, database: &Database, dialect: &Dialect) -> Result<Case, &'static str> {
        const SHAPE: &str = "no operation over the columns of one table";
        let first = subject.queries().next().ok_or(SHAPE)?;
        let name = first_table(first).ok_or(SHAPE)?;
        let created = |statement: &Statement| match statement {
            Statement::CreateTable(create) if create.name == name && create.query.is_none() => {
                Some(create.clone())
            }
            _ => None,
        };
        let base = database.built().rev().find_map(created).ok_or(SHAPE)?;
        let operation = subject.exprs.first().map(strip).ok_or(SHAPE)?;
        let columns: Vec<Column> = base.columns.iter().map(|def| Column::from_def(def, dialect)).collect();
        let known = |reference: &ColumnRef| columns.iter().any(|column| column.name == reference.column);
        let mut reads = 0;
        let foreign = any_expr(&operation, |inner| match inner {
            Expr::Column(reference) => {
                reads += 1;
                !known(reference)
            }
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InQuery { .. } | Expr::Quantified { .. } => true,
            Expr::Window(_) | Expr::Param(_) | Expr::Raw(_) => true,
            _ => false,
        });
        let counts_rows = matches!(&operation, Expr::Aggregate(aggregate) if aggregate.args.is_empty());
        if foreign || (reads == 0 && !counts_rows) {
            return Err(SHAPE);
        }
        let keys = match &operation {
            Expr::Aggregate(_) => Some(grouping(first)),
            other if has_aggregate(other) => return Err("aggregate inside the operation"),
            _ => None,
        };
        let result = result_column(database.state(), &base.name, &operation, dialect);
        collations(&base, &operation, subject, dialect)?;
        if any_expr(&operation, |inner| behaves_otherwise(inner, dialect)) {
            return Err("result that compares differently in a column");
        }
        if let Some(keys) = &keys {
            aggregate_conditions(&columns, keys, &operation, dialect)?;
        }
        let stand_in = match dialect.can(Feature::DynamicTyping) {
            true => StandIn::of(&operation),
            false => StandIn::Column,
        };
        // A key that is not a column of the table distinguishes nothing.
        let key = subject.exprs.get(1).map(strip).filter(|key| match key {
            Expr::Column(reference) => known(reference),
            _ => false,
        });
        Ok(Case { base, columns, operation, key: key.unwrap_or(Expr::int(1)), keys, stand_in, result })
    }

    /// Whether a value that the operation or the query reads is a number or bytes by what is done with it:
    /// then a difference of values is one of representation (SOUNDNESS 2).
    pub fn is_dual(&self, query: &Query, dialect: &Dialect) -> bool {
        let mut found = self.reads_dual(dialect);
        visit::each_expr(query, |expr| found |= self.is_dual_column(expr, dialect));
        found
    }

    /// The same of the operation alone.
    pub fn reads_dual(&self, dialect: &Dialect) -> bool {
        any_expr(&self.operation, |inner| self.is_dual_column(inner, dialect))
    }

    fn is_dual_column(&self, expr: &Expr, dialect: &Dialect) -> bool {
        let Expr::Column(reference) = expr else { return false };
        let column = self.columns.iter().find(|column| column.name == reference.column);
        column.and_then(|column| dialect.type_entry(&column.ty)).is_some_and(|entry| entry.dual)
    }

    /// Whether an engine may return any of several equal values for what this query deduplicates, groups or
    /// takes the least of (SOUNDNESS 0.8).
    pub fn has_no_one_representative(&self, query: &Query) -> bool {
        let folds = |expr: &Expr| match expr {
            Expr::Column(c) => self.columns.iter().any(|column| column.name == c.column && !column.identity),
            collated if is_collated(collated) => true,
            other => strip(other) == self.operation && !self.result.identity,
        };
        let mut mentions = !self.result.identity;
        visit::each_expr(query, |expr| mentions |= folds(expr));
        mentions && self.deduplicates(query)
    }

    /// The operation with types for its columns and nothing for its constants: what was tried, whatever the
    /// data.
    pub fn combination(&self, dialect: &Dialect) -> String {
        struct Abstract<'c>(&'c [Column]);
        impl Editor for Abstract<'_> {
            fn expr(&mut self, expr: &mut Expr) {
                match expr {
                    Expr::Column(reference) => {
                        let column = self.0.iter().find(|column| column.name == reference.column);
                        *expr = Expr::Raw(column.map_or("?".into(), |column| column.ty.name.clone()));
                    }
                    Expr::Literal(_) => *expr = Expr::Raw("?".into()),
                    _ => edit_expr(self, expr),
                }
            }
        }
        let mut operation = self.operation.clone();
        Abstract(&self.columns).expr(&mut operation);
        expr_to_sql(&operation, dialect)
    }

    /// Whether the operation adds up floats, or keeps one on its way, though its operands are none: the order
    /// of rows, which is the engine's, then shows in the last digits of a result that is a float.
    pub fn rounds_on_its_way(&self) -> bool {
        const EXACT: [&str; 5] = ["MIN", "MAX", "COUNT", "SUM", "AVG"];
        let exact = |name: &Name| EXACT.iter().any(|exact| name.eq_ignore_ascii_case(exact));
        matches!(&self.operation, Expr::Aggregate(aggregate) if !exact(&aggregate.name))
    }

    /// Whether one of several equal values may stand for all of them.
    pub fn deduplicates(&self, query: &Query) -> bool {
        deduplicates(query, self.keys.is_some())
    }
}

/// The same expression with its columns unqualified.
pub fn strip(expr: &Expr) -> Expr {
    struct Strip;
    impl Editor for Strip {
        fn expr(&mut self, expr: &mut Expr) {
            if let Expr::Column(reference) = expr {
                reference.table = None;
            }
            edit_expr(self, expr);
        }
    }
    let mut expr = expr.clone();
    Strip.expr(&mut expr);
    expr
}

/// Equal values of this kind are identical, whatever type of the dialect they have.
pub fn has_identity(kind: Kind, dialect: &Dialect) -> bool {
    let mut types = dialect.types.iter().filter(|entry| entry.ty.kind == kind && !entry.dual).peekable();
    match kind {
        // 0.0 and -0.0 are equal.
        Kind::Any | Kind::Real => false,
        Kind::Bool => true,
        _ => types.peek().is_some() && types.all(|entry| entry.identity),
    }
}

/// The result as a column, as far as the tree tells.
pub fn result_column(state: &State, base: &Name, operation: &Expr, dialect: &Dialect) -> Column {
    let item = SelectItem::Expr { expr: operation.clone(), alias: Some(RESULT.into()) };
    let from = vec![TableRef::table(base.clone())];
    let query = Query::select(Select { items: vec![item], from, ..Select::default() });
    let def = ColumnDef { name: RESULT.into(), ty: DataType::new("", Kind::Any), constraints: Vec::new() };
    let mut column =
        state.columns_of(&query, dialect).pop().unwrap_or_else(|| Column::from_def(&def, dialect));
    let dual = any_expr(operation, |inner| match inner {
        Expr::Column(reference) => state.table(base).is_some_and(|table| {
            let ty = table.columns.iter().find(|column| column.name == reference.column).map(|c| &c.ty);
            ty.and_then(|ty| dialect.type_entry(ty)).is_some_and(|entry| entry.dual)
        }),
        _ => false,
    });
    column.ty.name = "".into();
    column.identity = has_identity(column.ty.kind, dialect) && !dual;
    column
}

/// A stored column has the collation it is declared with: that of the operation must be no other, also in
/// how strongly it is meant.
fn collations(
    base: &CreateTable,
    operation: &Expr,
    subject: &Subject,
    dialect: &Dialect,
) -> Result<(), &'static str> {
    const LOST: &str = "collation lost or weakened by storing";
    if any_expr(operation, is_collated) {
        return Err(LOST);
    }
    let collated = base
        .columns
        .iter()
        .any(|column| column.constraints.iter().any(|c| matches!(c, ColumnConstraint::Collate(_))));
    let declared =
        dialect.can(Feature::DynamicTyping) || subject.choice(super::TYPES) == Some(super::INFERRED);
    if collated && declared { Err(LOST) } else { Ok(()) }
}

fn aggregate_conditions(
    columns: &[Column],
    keys: &[Name],
    operation: &Expr,
    dialect: &Dialect,
) -> Result<(), &'static str> {
    let Expr::Aggregate(aggregate) = operation else { return Ok(()) };
    let key = |name: &Name| columns.iter().find(|column| column.name == *name);
    if keys.iter().any(|name| key(name).is_none_or(|column| !column.identity || column.ty.kind == Kind::Real))
    {
        return Err("grouping column with equal values that are not identical");
    }
    let is = |names: &[&str]| names.iter().any(|name| aggregate.name.eq_ignore_ascii_case(name));
    if is(&["COUNT"]) && !aggregate.distinct {
        return Ok(());
    }
    let reads = |test: &dyn Fn(&Column) -> bool| {
        let read = |inner: &Expr| matches!(inner, Expr::Column(c) if columns.iter().any(|column| column.name == c.column && test(column)));
        aggregate.args.iter().any(|arg| any_expr(arg, read))
    };
    if is(&["MIN", "MAX", "COUNT"]) {
        return match reads(&|column| !column.identity) {
            true => Err("aggregate over equal values that are not identical"),
            false => Ok(()),
        };
    }
    // The order of additions is the engine's; where any value may stand in any column, floats may too.
    match dialect.can(Feature::DynamicTyping) || reads(&|column| column.ty.kind == Kind::Real) {
        true => Err("float aggregate that depends on row order"),
        false => Ok(()),
    }
}

/// JSON that is made by a function is marked as such where types are dynamic, and the mark is lost by
/// storing: nothing that reads JSON may come to see the difference.
pub fn marks_json(operation: &Expr, dialect: &Dialect) -> bool {
    dialect.can(Feature::DynamicTyping) && any_expr(operation, is_json)
}

/// A function or operator of JSON, by its name.
pub fn is_json(expr: &Expr) -> bool {
    match expr {
        Expr::Function { name, .. } => name.to_ascii_lowercase().starts_with("json"),
        Expr::Aggregate(aggregate) => aggregate.name.to_ascii_lowercase().starts_with("json"),
        Expr::Binary { op, .. } => matches!(op, BinaryOp::JsonGet | BinaryOp::JsonGetText),
        Expr::Operation { form, .. } => form.contains("->"),
        _ => false,
    }
}

/// A part of an operation whose stored result is another thing by its type alone: a literal of bytes is a
/// number where numbers are wanted, in dialects with such types.
fn behaves_otherwise(expr: &Expr, dialect: &Dialect) -> bool {
    match expr {
        Expr::Literal(Value::Blob(_)) => dialect.types.iter().any(|entry| entry.dual),
        Expr::Operation { form, .. } => {
            let names = |function: &Function| {
                !function.storable && form.split([' ', '(', ')']).any(|word| word == &*function.name)
            };
            dialect.functions.iter().any(names)
        }
        Expr::Function { name, .. } => dialect
            .functions
            .iter()
            .any(|function| function.name.eq_ignore_ascii_case(name) && !function.storable),
        _ => false,
    }
}

/// Whether an expression has the collation of a column.
fn has_collation(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(_)) || collated_operand(expr).is_some_and(has_collation)
}

fn first_table(query: &Query) -> Option<Name> {
    struct First(Option<Name>);
    impl Visitor for First {
        fn query(&mut self, query: &Query) {
            walk_query(self, query);
        }
        fn select(&mut self, select: &Select) {
            select.from.iter().for_each(|table| self.table(table));
            walk_select(self, select);
        }
        fn table(&mut self, table: &TableRef) {
            if let TableRef::Table { name, .. } = table {
                self.0.get_or_insert_with(|| name.clone());
            }
            walk_table(self, table);
        }
        fn expr(&mut self, expr: &Expr) {
            walk_expr(self, expr);
        }
    }
    let mut first = First(None);
    first.query(query);
    first.0
}

/// The columns by which the query groups.
fn grouping(query: &Query) -> Vec<Name> {
    let keys = query.as_select().map(|select| select.group_by.as_slice()).unwrap_or_default();
    keys.iter()
        .filter_map(|key| match key {
            Expr::Column(reference) => Some(reference.column.clone()),
            _ => None,
        })
        .collect()
}
