use std::fmt::Write;

use super::{Parens, Renderer};
use crate::dialect::Feature;
use crate::sql::*;

/// How tightly an expression binds. Only what all dialects agree on is told apart: logic below
/// comparison below arithmetic; everything dialects rank differently (bits, `||`, COLLATE) is
/// `Special`, which is parenthesised inside any other operator and parenthesises what it holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Not,
    Comparison,
    Special,
    Sum,
    Product,
    Sign,
    Atom,
}

fn binding(expr: &Expr) -> Binding {
    match expr {
        Expr::Binary { op, .. } => operator_binding(*op),
        Expr::Unary { op: UnaryOp::Not, .. } => Binding::Not,
        // A sign to some dialects, below sums to others.
        Expr::Unary { op: UnaryOp::BitNot, .. } => Binding::Special,
        Expr::Unary { .. } => Binding::Sign,
        Expr::Is { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::InQuery { .. }
        | Expr::Quantified { .. }
        | Expr::Match { .. } => Binding::Comparison,
        // Dialects differ in whether `NOT EXISTS` is one operator or two.
        Expr::Exists { negated: true, .. } => Binding::Not,
        Expr::Collate { .. } => Binding::Special,
        // What is open at either end takes its operands from there, and may bind as loosely as OR.
        Expr::Operation { form, .. } if form.starts_with("{}") || form.ends_with("{}") => Binding::Or,
        Expr::Literal(value) | Expr::Bound(value) if is_negative(value) => Binding::Sign,
        Expr::Raw(_) => Binding::Or,
        _ => Binding::Atom,
    }
}

fn is_negative(value: &Value) -> bool {
    match value {
        Value::Int(int) => *int < 0,
        Value::Real(real) => real.is_sign_negative(),
        Value::Decimal(digits) => digits.starts_with('-'),
        _ => false,
    }
}

fn operator_binding(op: BinaryOp) -> Binding {
    match op {
        BinaryOp::Or => Binding::Or,
        BinaryOp::And => Binding::And,
        BinaryOp::Add | BinaryOp::Sub => Binding::Sum,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => Binding::Product,
        op if op.is_comparison() => Binding::Comparison,
        _ => Binding::Special,
    }
}

impl Renderer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) {
        self.operand(expr, Binding::Or);
    }

    /// A form with each `{}` an operand.
    pub(super) fn form(&mut self, form: &str, args: &[Expr]) {
        let mut args = args.iter();
        for (at, part) in form.split("{}").enumerate() {
            if at > 0
                && let Some(arg) = args.next()
            {
                self.operand(arg, Binding::Atom);
            }
            self.push(part);
        }
    }

    /// Prints an operand of an operator that needs its operands to bind at least this tightly.
    fn operand(&mut self, expr: &Expr, least: Binding) {
        let own = binding(expr);
        if own < least || (self.parens == Parens::All && own < Binding::Atom) {
            self.push("(");
            self.bare(expr);
            self.push(")");
        } else {
            self.bare(expr);
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match expr {
            Expr::Literal(value) | Expr::Bound(value) => self.literal(value),
            Expr::Column(ColumnRef { table, column }) => {
                if let Some(table) = table {
                    self.name(table);
                    self.push(".");
                }
                self.name(column);
            }
            Expr::Param(number) => self.filled(&self.dialect.spelling.param, &number.to_string()),
            Expr::Unary { op, expr } => self.unary(*op, expr),
            Expr::Binary { op, left, right } => self.binary(*op, left, right),
            Expr::Is { expr, test, negated } => self.is(expr, *test, *negated),
            Expr::Between { expr, low, high, negated } => {
                self.operand(expr, Binding::Sum);
                self.push(if *negated { " NOT BETWEEN " } else { " BETWEEN " });
                self.operand(low, Binding::Sum);
                self.push(" AND ");
                self.operand(high, Binding::Sum);
            }
            Expr::InList { expr, list, negated } => {
                self.operand(expr, Binding::Sum);
                self.push(if *negated { " NOT IN " } else { " IN " });
                self.tuple(list, Self::expr);
            }
            Expr::InQuery { expr, query, negated } => {
                self.operand(expr, Binding::Sum);
                self.push(if *negated { " NOT IN " } else { " IN " });
                self.subquery(query);
            }
            Expr::Exists { query, negated } => {
                self.push(if *negated { "NOT EXISTS " } else { "EXISTS " });
                self.subquery(query);
            }
            Expr::Quantified { op, left, all, query } => {
                self.operand(left, Binding::Sum);
                self.push(operator(*op));
                self.push(if *all { "ALL " } else { "ANY " });
                self.subquery(query);
            }
            Expr::Match { op, expr, pattern, escape, negated } => {
                self.operand(expr, Binding::Sum);
                self.push(if *negated { " NOT " } else { " " });
                self.push(match op {
                    MatchOp::Like => "LIKE ",
                    MatchOp::Glob => "GLOB ",
                    MatchOp::Regexp => "REGEXP ",
                    MatchOp::SimilarTo => "SIMILAR TO ",
                    MatchOp::ILike => "ILIKE ",
                });
                self.operand(pattern, Binding::Sum);
                if let Some(escape) = escape {
                    self.push(" ESCAPE ");
                    self.operand(escape, Binding::Sum);
                }
            }
            Expr::Case { operand, branches, otherwise } => {
                self.push("CASE");
                if let Some(operand) = operand {
                    self.push(" ");
                    self.expr(operand);
                }
                for Branch { when, then } in branches {
                    self.push(" WHEN ");
                    self.expr(when);
                    self.push(" THEN ");
                    self.expr(then);
                }
                if let Some(otherwise) = otherwise {
                    self.push(" ELSE ");
                    self.expr(otherwise);
                }
                self.push(" END");
            }
            Expr::Cast { expr, ty }
                if matches!(**expr, Expr::Param(_)) && self.dialect.spelling.typed_param.is_some() =>
            {
                if let (Expr::Param(number), Some(form)) = (&**expr, &self.dialect.spelling.typed_param) {
                    self.push(&form.replacen("{}", &number.to_string(), 1).replacen("{}", &ty.name, 1));
                }
            }
            Expr::Cast { expr, ty } => {
                self.push("CAST(");
                self.expr(expr);
                self.push(" AS ");
                self.push(&ty.name);
                self.push(")");
            }
            Expr::Collate { expr, collation } => {
                self.operand(expr, Binding::Atom);
                self.push(" COLLATE ");
                self.push(collation);
            }
            Expr::Function { name, args } => {
                self.push(name);
                self.tuple(args, Self::expr);
            }
            Expr::Operation { form, args } => self.form(form, args),
            Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            Expr::Window(window) => {
                self.aggregate(&window.function);
                self.push(" OVER ");
                match &window.over {
                    Over::Named(name) => self.name(name),
                    Over::Spec(spec) => self.window_spec(spec),
                }
            }
            Expr::Subquery(query) => self.subquery(query),
            Expr::Row(items) => self.tuple(items, Self::expr),
            Expr::Raw(text) => self.push(text),
        }
    }

    fn unary(&mut self, op: UnaryOp, expr: &Expr) {
        match op {
            UnaryOp::Not => {
                self.push("NOT ");
                // `NOT NOT x` is well defined, `NOT x` around a comparison is in every dialect.
                self.operand(expr, Binding::Not);
            }
            // A sign before another sign would read as a comment: `--`.
            UnaryOp::Minus => {
                self.push("-");
                self.operand(expr, Binding::Atom);
            }
            UnaryOp::Plus => {
                self.push("+");
                self.operand(expr, Binding::Atom);
            }
            UnaryOp::BitNot => {
                self.push("~");
                self.operand(expr, Binding::Atom);
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        let (left_least, right_least) = match operator_binding(op) {
            Binding::Or => (Binding::Or, Binding::And),
            Binding::And => (Binding::And, Binding::Not),
            // Comparisons never chain, and dialects rank them among each other differently.
            Binding::Comparison => (Binding::Sum, Binding::Sum),
            Binding::Sum => (Binding::Sum, Binding::Product),
            Binding::Product => (Binding::Product, Binding::Sign),
            _ => (Binding::Atom, Binding::Atom),
        };
        if matches!(op, BinaryOp::Same | BinaryOp::NotSame) && !self.can(Feature::IsAnything) {
            return self.same(op == BinaryOp::NotSame, left, right);
        }
        if let (BinaryOp::Mod, Some(function)) = (op, &self.dialect.spelling.modulo) {
            self.push(function);
            return self.tuple(&[left, right], |r, operand| r.expr(operand));
        }
        self.operand(left, left_least);
        self.push(operator(op));
        match right {
            // `x IS TRUE` asks for truth; here the tree says: the same value as TRUE.
            Expr::Literal(Value::Bool(b)) | Expr::Bound(Value::Bool(b))
                if matches!(op, BinaryOp::Same | BinaryOp::NotSame) =>
            {
                self.push(if *b { "1" } else { "0" });
            }
            _ => self.operand(right, right_least),
        }
    }

    fn same(&mut self, negated: bool, left: &Expr, right: &Expr) {
        if self.can(Feature::Spaceship) {
            self.push(if negated { "NOT (" } else { "(" });
            self.operand(left, Binding::Sum);
            self.push(" <=> ");
            self.operand(right, Binding::Sum);
            self.push(")");
        } else {
            self.operand(left, Binding::Sum);
            self.push(if negated { " IS DISTINCT FROM " } else { " IS NOT DISTINCT FROM " });
            self.operand(right, Binding::Sum);
        }
    }

    fn is(&mut self, expr: &Expr, test: Truth, negated: bool) {
        if test != Truth::Null && !self.can(Feature::IsTruth) {
            // The same truth table in words every SQL has.
            self.push("CASE WHEN ");
            if test == Truth::False {
                self.push("NOT ");
            }
            self.operand(expr, Binding::Atom);
            let bools = self.can(Feature::BoolLiterals);
            return self.push(match (negated, bools) {
                (false, false) => " THEN 1 ELSE 0 END",
                (true, false) => " THEN 0 ELSE 1 END",
                (false, true) => " THEN TRUE ELSE FALSE END",
                (true, true) => " THEN FALSE ELSE TRUE END",
            });
        }
        self.operand(expr, Binding::Sum);
        self.push(if negated { " IS NOT " } else { " IS " });
        self.push(match test {
            Truth::True => "TRUE",
            Truth::False => "FALSE",
            Truth::Null => "NULL",
        });
    }

    fn aggregate(&mut self, aggregate: &Aggregate) {
        self.push(&aggregate.name);
        self.push("(");
        if aggregate.distinct {
            self.push("DISTINCT ");
        }
        if aggregate.args.is_empty() && aggregate.name.eq_ignore_ascii_case("count") {
            self.push("*");
        }
        self.list(&aggregate.args, Self::expr);
        if !aggregate.order_by.is_empty() {
            self.push(" ORDER BY ");
            self.list(&aggregate.order_by, Self::order_item);
        }
        self.push(")");
        if let Some(filter) = &aggregate.filter {
            self.push(" FILTER (WHERE ");
            self.expr(filter);
            self.push(")");
        }
    }

    pub(super) fn window_spec(&mut self, spec: &WindowSpec) {
        self.push("(");
        let mut gap = "";
        if !spec.partition_by.is_empty() {
            self.push("PARTITION BY ");
            self.list(&spec.partition_by, Self::expr);
            gap = " ";
        }
        if !spec.order_by.is_empty() {
            self.push(gap);
            self.push("ORDER BY ");
            self.list(&spec.order_by, Self::order_item);
            gap = " ";
        }
        if let Some(frame) = &spec.frame {
            self.push(gap);
            self.push(match frame.unit {
                FrameUnit::Rows => "ROWS BETWEEN ",
                FrameUnit::Range => "RANGE BETWEEN ",
                FrameUnit::Groups => "GROUPS BETWEEN ",
            });
            self.frame_bound(&frame.start);
            self.push(" AND ");
            self.frame_bound(&frame.end);
            self.push(match frame.exclude {
                None => "",
                Some(FrameExclude::CurrentRow) => " EXCLUDE CURRENT ROW",
                Some(FrameExclude::Group) => " EXCLUDE GROUP",
                Some(FrameExclude::Ties) => " EXCLUDE TIES",
                Some(FrameExclude::NoOthers) => " EXCLUDE NO OTHERS",
            });
        }
        self.push(")");
    }

    fn frame_bound(&mut self, bound: &FrameBound) {
        match bound {
            FrameBound::UnboundedPreceding => self.push("UNBOUNDED PRECEDING"),
            FrameBound::Preceding(expr) => {
                self.expr(expr);
                self.push(" PRECEDING");
            }
            FrameBound::CurrentRow => self.push("CURRENT ROW"),
            FrameBound::Following(expr) => {
                self.expr(expr);
                self.push(" FOLLOWING");
            }
            FrameBound::UnboundedFollowing => self.push("UNBOUNDED FOLLOWING"),
        }
    }

    pub(super) fn literal(&mut self, value: &Value) {
        match value {
            Value::Bool(b) if self.can(Feature::BoolLiterals) => self.push(if *b { "TRUE" } else { "FALSE" }),
            Value::Bool(b) => self.push(if *b { "1" } else { "0" }),
            Value::Int(i) => {
                let _ = write!(self.out, "{i}");
            }
            // No SQL has a literal for NaN; the smallest overflowing exponent is infinity everywhere.
            Value::Real(r) if r.is_nan() => self.push("NULL"),
            Value::Real(r) if r.is_infinite() => self.push(if *r > 0.0 { "9e999" } else { "-9e999" }),
            Value::Real(r) => {
                let _ = write!(self.out, "{r:?}");
            }
            Value::Text(text) if text.contains('\0') && self.can(Feature::ConcatOp) => {
                // A text literal ends at the first NUL.
                self.push("(");
                for (at, part) in text.split('\0').enumerate() {
                    if at > 0 {
                        self.push(" || char(0) || ");
                    }
                    self.quoted_text(part);
                }
                self.push(")");
            }
            Value::Text(text) => self.quoted_text(text),
            Value::Blob(bytes) => {
                let spelling = &self.dialect.spelling;
                let digits = match spelling.byte.as_str() {
                    "{}" => value::hex(bytes),
                    byte => bytes.iter().map(|b| byte.replace("{}", &value::hex(&[*b]))).collect(),
                };
                self.filled(&spelling.blob, &digits);
            }
            Value::Other { kind, text } => match self.dialect.spelling.literals.get(kind) {
                Some(template) => self.filled(template, text),
                None => self.quoted_text(text),
            },
            Value::Null | Value::Decimal(_) => {
                let _ = write!(self.out, "{value}");
            }
        }
    }

    /// A template with `{}` replaced.
    pub(super) fn filled(&mut self, template: &str, text: &str) {
        match template.split_once("{}") {
            Some((before, after)) => {
                self.push(before);
                self.push(text);
                self.push(after);
            }
            None => self.push(template),
        }
    }

    pub(super) fn quoted_text(&mut self, text: &str) {
        self.push("'");
        for (at, part) in text.split('\'').enumerate() {
            if at > 0 {
                self.push("''");
            }
            if self.can(Feature::BackslashEscapes) && part.contains('\\') {
                self.push(&part.replace('\\', "\\\\"));
            } else {
                self.push(part);
            }
        }
        self.push("'");
    }
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::And => " AND ",
        BinaryOp::Or => " OR ",
        BinaryOp::Eq => " = ",
        BinaryOp::Ne => " <> ",
        BinaryOp::Lt => " < ",
        BinaryOp::Le => " <= ",
        BinaryOp::Gt => " > ",
        BinaryOp::Ge => " >= ",
        BinaryOp::Same => " IS ",
        BinaryOp::NotSame => " IS NOT ",
        BinaryOp::Add => " + ",
        BinaryOp::Sub => " - ",
        BinaryOp::Mul => " * ",
        BinaryOp::Div => " / ",
        BinaryOp::Mod => " % ",
        BinaryOp::Concat => " || ",
        BinaryOp::BitAnd => " & ",
        BinaryOp::BitOr => " | ",
        BinaryOp::ShiftLeft => " << ",
        BinaryOp::ShiftRight => " >> ",
        BinaryOp::JsonGet => " -> ",
        BinaryOp::JsonGetText => " ->> ",
    }
}
