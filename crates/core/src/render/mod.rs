//! Prints trees as SQL of a dialect.
//!
//! The text says exactly what the tree says: parentheses follow from precedence, and where dialects disagree about
//! precedence there are parentheses (see `expr`).

mod expr;
mod query;
mod statement;

use crate::dialect::{Dialect, Feature};
use crate::sql::{Expr, Query, Statement};

/// How eagerly to parenthesise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parens {
    /// Only where the tree would be read differently without them.
    Needed,
    /// Around every operator: the reading that precedence cannot change.
    All,
}

/// Appends a statement's text.
pub fn render(statement: &Statement, dialect: &Dialect, out: &mut String) {
    Renderer { dialect, parens: Parens::Needed, out }.statement(statement);
}

/// Appends a query's text.
pub fn render_query(query: &Query, dialect: &Dialect, out: &mut String) {
    Renderer { dialect, parens: Parens::Needed, out }.query(query);
}

/// A statement's text, without a semicolon.
pub fn to_sql(statement: &Statement, dialect: &Dialect) -> String {
    let mut out = String::new();
    render(statement, dialect, &mut out);
    out
}

/// A query's text, with these parentheses.
pub fn query_to_sql(query: &Query, dialect: &Dialect, parens: Parens) -> String {
    let mut out = String::new();
    Renderer { dialect, parens, out: &mut out }.query(query);
    out
}

/// An expression's text.
pub fn expr_to_sql(expr: &Expr, dialect: &Dialect) -> String {
    let mut out = String::new();
    Renderer { dialect, parens: Parens::Needed, out: &mut out }.expr(expr);
    out
}

struct Renderer<'a> {
    dialect: &'a Dialect,
    parens: Parens,
    out: &'a mut String,
}

impl Renderer<'_> {
    fn can(&self, feature: Feature) -> bool {
        self.dialect.can(feature)
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Quoted unless it cannot be a keyword: the generator's names end in a digit, no keyword does.
    fn name(&mut self, name: &str) {
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && (name.ends_with(|c: char| c.is_ascii_digit()) || name == "rowid");
        if plain {
            return self.push(name);
        }
        let quote = self.dialect.quote;
        self.out.push(quote);
        for c in name.chars() {
            if c == quote {
                self.out.push(quote);
            }
            self.out.push(c);
        }
        self.out.push(quote);
    }

    /// Items separated by commas.
    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            each(self, item);
        }
    }

    /// Items in parentheses, separated by commas.
    fn tuple<T>(&mut self, items: &[T], each: impl FnMut(&mut Self, &T)) {
        self.push("(");
        self.list(items, each);
        self.push(")");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{AlterAction, BinaryOp, ColumnConstraint, ColumnDef, DataType, Kind, UnaryOp};

    fn column(name: &str) -> Expr {
        Expr::bare_column(name)
    }

    /// MySQL reads `a AND b || c` as `(a AND b) OR c`, PostgreSQL and DuckDB read `~a + 1` as `~(a + 1)`.
    #[test]
    fn what_dialects_rank_differently_is_in_parentheses() {
        let dialect = Dialect::load("mysql", "9.7").unwrap();
        let either = Expr::operation("{} || {}", vec![column("c1"), column("c2")]);
        let both = column("c0").and(either.clone());
        assert_eq!(expr_to_sql(&both, &dialect), "c0 AND (c1 || c2)");
        assert_eq!(expr_to_sql(&either.negate(), &dialect), "NOT (c1 || c2)");
        let bits = Expr::unary(UnaryOp::BitNot, column("c0"));
        let sum = Expr::binary(BinaryOp::Add, bits, Expr::int(1));
        assert_eq!(expr_to_sql(&sum, &dialect), "(~c0) + 1");
    }

    /// ClickHouse's setting that makes columns Nullable is for CREATE TABLE alone.
    #[test]
    fn a_column_that_is_added_may_be_null_like_any_other() {
        let added = |dialect, ty: &'static str, constraints| {
            let column = ColumnDef { name: "c1".into(), ty: DataType::new(ty, Kind::Int), constraints };
            let action = AlterAction::AddColumn(column);
            let statement = Statement::AlterTable { table: "t0".into(), action };
            to_sql(&statement, &Dialect::load(dialect, "26.9").unwrap())
        };
        let not_null = || vec![ColumnConstraint::NotNull];
        assert_eq!(added("clickhouse", "Int32", Vec::new()), "ALTER TABLE t0 ADD COLUMN c1 Int32 NULL");
        assert_eq!(added("clickhouse", "Int32", not_null()), "ALTER TABLE t0 ADD COLUMN c1 Int32 NOT NULL");
        let wrapped = "LowCardinality(Nullable(String))";
        assert!(added("clickhouse", wrapped, Vec::new()).ends_with(wrapped));
        assert_eq!(added("postgres", "INTEGER", Vec::new()), "ALTER TABLE t0 ADD COLUMN c1 INTEGER");
    }
}
