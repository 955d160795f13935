use sqlparser::ast;

use super::{Lower, Lowered, refuse};
use crate::sql::value::unhex;
use crate::sql::*;

/// Aggregates that no dialect's file lists; whatever is not known to be one is a function.
const AGGREGATES: &[&str] = &[
    "any_value",
    "approx_count_distinct",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "corr",
    "count",
    "count_if",
    "covar_pop",
    "covar_samp",
    "every",
    "first",
    "group_concat",
    "histogram",
    "json_agg",
    "json_group_array",
    "json_group_object",
    "jsonb_agg",
    "kurtosis",
    "last",
    "list",
    "mad",
    "max",
    "median",
    "min",
    "mode",
    "product",
    "quantile",
    "quantile_cont",
    "quantile_disc",
    "skewness",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "total",
    "uniq",
    "var_pop",
    "var_samp",
    "variance",
];

/// What stands before an operator that binds tighter than NOT.
fn first_operand(expr: &ast::Expr) -> Option<&ast::Expr> {
    use ast::BinaryOperator::{And, Or, Xor};
    use ast::Expr::*;
    match expr {
        BinaryOp { op: And | Or | Xor, .. } => None,
        BinaryOp { left, .. } | AnyOp { left, .. } | AllOp { left, .. } => Some(left),
        IsTrue(first)
        | IsNotTrue(first)
        | IsFalse(first)
        | IsNotFalse(first)
        | IsNull(first)
        | IsNotNull(first)
        | IsDistinctFrom(first, _)
        | IsNotDistinctFrom(first, _) => Some(first),
        InList { expr, .. }
        | InSubquery { expr, .. }
        | Between { expr, .. }
        | Like { expr, .. }
        | ILike { expr, .. }
        | SimilarTo { expr, .. }
        | RLike { expr, .. } => Some(expr),
        _ => None,
    }
}

impl Lower<'_> {
    pub fn optional(&self, expr: Option<&ast::Expr>) -> Lowered<Option<Expr>> {
        expr.map(|expr| self.expr(expr)).transpose()
    }

    pub fn exprs(&self, exprs: &[ast::Expr]) -> Lowered<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    /// `INTERVAL '90' DAY`, MySQL's `INTERVAL x DAY`.
    fn interval_of(&self, interval: &ast::Interval) -> Lowered<Expr> {
        let ast::Interval {
            value,
            leading_field: Some(field),
            leading_precision: None,
            last_field: None,
            fractional_seconds_precision: None,
        } = interval
        else {
            return refuse("an INTERVAL with a precision or two units");
        };
        Ok(match &**value {
            // It has to be a literal in some dialects.
            ast::Expr::Value(value) if !value.to_string().contains(['{', '}']) => {
                Expr::operation(format!("INTERVAL {value} {field}"), Vec::new())
            }
            value => Expr::operation(format!("INTERVAL {{}} {field}"), vec![self.expr(value)?]),
        })
    }

    fn boxed(&self, expr: &ast::Expr) -> Lowered<Box<Expr>> {
        self.expr(expr).map(Box::new)
    }

    fn subquery(&self, query: &ast::Query) -> Lowered<Box<Query>> {
        self.query(query).map(Box::new)
    }

    pub fn expr(&self, expr: &ast::Expr) -> Lowered<Expr> {
        use ast::Expr::*;
        let is = |expr: &ast::Expr, test, negated| -> Lowered<Expr> {
            Ok(Expr::Is { expr: self.boxed(expr)?, test, negated })
        };
        if matches!(first_operand(expr), Some(Exists { negated: true, .. })) {
            return refuse("NOT EXISTS before an operator, which sqlparser reads as if it bound tighter");
        }
        Ok(match expr {
            Nested(inner) => self.expr(inner)?,
            Identifier(column) => Expr::Column(ColumnRef { table: None, column: self.name(column) }),
            CompoundIdentifier(path) => match path.as_slice() {
                [table, column] => Expr::column(self.name(table), self.name(column)),
                _ => return refuse("a column of another schema"),
            },
            Value(value) => self.value(&value.value)?,
            TypedString(typed) => self.typed(typed)?,
            Interval(interval) if interval.leading_field.is_none() => self.interval(interval)?,
            Interval(interval) => self.interval_of(interval)?,
            Extract { field, syntax: ast::ExtractSyntax::From, expr } => {
                Expr::operation(format!("EXTRACT({field} FROM {{}})"), vec![self.expr(expr)?])
            }
            IsTrue(inner) => is(inner, Truth::True, false)?,
            IsNotTrue(inner) => is(inner, Truth::True, true)?,
            IsFalse(inner) => is(inner, Truth::False, false)?,
            IsNotFalse(inner) => is(inner, Truth::False, true)?,
            IsNull(inner) => is(inner, Truth::Null, false)?,
            IsNotNull(inner) => is(inner, Truth::Null, true)?,
            IsNotDistinctFrom(left, right) => self.same(left, right, false)?,
            IsDistinctFrom(left, right) => self.same(left, right, true)?,
            InList { expr, list, negated } => {
                Expr::InList { expr: self.boxed(expr)?, list: self.exprs(list)?, negated: *negated }
            }
            // `x IN ((SELECT …))` is a list of one value.
            InSubquery { expr, subquery, negated } if matches!(*subquery.body, ast::SetExpr::Query(_)) => {
                let list = vec![Expr::Subquery(self.subquery(subquery)?)];
                Expr::InList { expr: self.boxed(expr)?, list, negated: *negated }
            }
            InSubquery { expr, subquery, negated } => {
                Expr::InQuery { expr: self.boxed(expr)?, query: self.subquery(subquery)?, negated: *negated }
            }
            Between { expr, negated, low, high } => Expr::Between {
                expr: self.boxed(expr)?,
                low: self.boxed(low)?,
                high: self.boxed(high)?,
                negated: *negated,
            },
            Like { negated, any: false, expr, pattern, escape_char } => {
                self.matches(MatchOp::Like, *negated, expr, pattern, escape_char.as_deref())?
            }
            ILike { negated, any: false, expr, pattern, escape_char } => {
                self.matches(MatchOp::ILike, *negated, expr, pattern, escape_char.as_deref())?
            }
            SimilarTo { negated, expr, pattern, escape_char } => {
                self.matches(MatchOp::SimilarTo, *negated, expr, pattern, escape_char.as_deref())?
            }
            RLike { negated, expr, pattern, regexp: true } => {
                self.matches(MatchOp::Regexp, *negated, expr, pattern, None)?
            }
            UnaryOp { op, expr } => self.unary(*op, expr)?,
            BinaryOp { left, op, right } => self.binary(left, op, right)?,
            AnyOp { left, compare_op, right, is_some: false } => {
                self.quantified(left, compare_op, false, right)?
            }
            AllOp { left, compare_op, right } => self.quantified(left, compare_op, true, right)?,
            Cast {
                kind: ast::CastKind::Cast | ast::CastKind::DoubleColon,
                expr,
                data_type,
                format: None,
            } => match self.spelled_value(expr, data_type) {
                Some(value) => Expr::Literal(value),
                None => Expr::Cast { expr: self.boxed(expr)?, ty: self.data_type(data_type)? },
            },
            Collate { expr, collation } => {
                Expr::Collate { expr: self.boxed(expr)?, collation: Name::from(collation.to_string()) }
            }
            Case { operand, conditions, else_result, .. } => {
                let branch = |when: &ast::CaseWhen| {
                    Ok(Branch { when: self.expr(&when.condition)?, then: self.expr(&when.result)? })
                };
                Expr::Case {
                    operand: self.optional(operand.as_deref())?.map(Box::new),
                    branches: conditions.iter().map(branch).collect::<Lowered<_>>()?,
                    otherwise: self.optional(else_result.as_deref())?.map(Box::new),
                }
            }
            Exists { subquery, negated } => {
                Expr::Exists { query: self.subquery(subquery)?, negated: *negated }
            }
            Subquery(query) => Expr::Subquery(self.subquery(query)?),
            Tuple(items) => Expr::Row(self.exprs(items)?),
            Function(function) => self.function(function)?,
            // sqlparser has nodes of their own for some functions.
            Ceil { expr, field: ast::CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime) } => {
                self.call("ceil", vec![self.expr(expr)?])
            }
            Floor { expr, field: ast::CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime) } => {
                self.call("floor", vec![self.expr(expr)?])
            }
            Substring { expr, substring_from, substring_for, special: true, shorthand } => {
                let name = if *shorthand { "substr" } else { "substring" };
                let mut args = vec![self.expr(expr)?];
                args.extend(self.optional(substring_from.as_deref())?);
                args.extend(self.optional(substring_for.as_deref())?);
                self.call(name, args)
            }
            Trim { trim_where: None, trim_what: None, expr, trim_characters } => {
                let mut args = vec![self.expr(expr)?];
                args.extend(self.exprs(trim_characters.as_deref().unwrap_or_default())?);
                self.call("trim", args)
            }
            Array(array) => {
                let (opens, places) = (if array.named { "ARRAY[" } else { "[" }, places(array.elem.len()));
                Expr::operation(format!("{opens}{places}]"), self.exprs(&array.elem)?)
            }
            CompoundFieldAccess { root, access_chain } => {
                access_chain.iter().try_fold(self.expr(root)?, |of, access| match access {
                    ast::AccessExpr::Subscript(ast::Subscript::Index { index }) => {
                        Ok(Expr::operation("{}[{}]", vec![of, self.expr(index)?]))
                    }
                    _ => refuse("a slice, or a field of a value"),
                })?
            }
            other => return refuse(format!("an expression of the kind {}", kind_of(other))),
        })
    }

    fn value(&self, value: &ast::Value) -> Lowered<Expr> {
        Ok(match value {
            ast::Value::Null => Expr::null(),
            ast::Value::Boolean(truth) => Expr::Literal(Value::Bool(*truth)),
            ast::Value::Number(digits, false) => Expr::Literal(number(digits)),
            ast::Value::SingleQuotedString(text) => Expr::text(text.as_str()),
            ast::Value::HexStringLiteral(digits) => match unhex(digits) {
                Some(bytes) => Expr::Literal(Value::Blob(bytes)),
                None => return refuse("bytes with an odd number of digits"),
            },
            other => return refuse(format!("a literal of the kind {}", kind_of(other))),
        })
    }

    /// `DATE '2020-02-29'`, as far as the dialect spells values of that kind so.
    fn typed(&self, typed: &ast::TypedString) -> Lowered<Expr> {
        let ast::Value::SingleQuotedString(text) = &typed.value.value else {
            return refuse("a typed literal");
        };
        let spelled = format!("{} '{{}}'", typed.data_type);
        self.value_spelled(&spelled, text).map_or_else(|| opaque(typed), |value| Ok(Expr::Literal(value)))
    }

    /// `INTERVAL '2 hours'`.
    fn interval(&self, interval: &ast::Interval) -> Lowered<Expr> {
        let spelled = match &*interval.value {
            ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::SingleQuotedString(text), .. }) => {
                self.value_spelled("INTERVAL '{}'", text)
            }
            _ => None,
        };
        spelled.map_or_else(|| opaque(interval), |value| Ok(Expr::Literal(value)))
    }

    /// `'…'::UUID`, `CAST('…' AS DATE)` or `[…]::INTEGER[]`, where that is how the dialect spells a value.
    fn spelled_value(&self, expr: &ast::Expr, ty: &ast::DataType) -> Option<Value> {
        match expr {
            ast::Expr::Value(value) => {
                let ast::Value::SingleQuotedString(text) = &value.value else { return None };
                let cast = || self.value_spelled(&format!("CAST('{{}}' AS {ty})"), text);
                self.value_spelled(&format!("'{{}}'::{ty}"), text).or_else(cast)
            }
            ast::Expr::Array(array) if array.elem.iter().all(|item| matches!(item, ast::Expr::Value(_))) => {
                let items: Vec<String> = array.elem.iter().map(ToString::to_string).collect();
                let named = if array.named { "ARRAY" } else { "" };
                self.value_spelled(&format!("{named}{{}}::{ty}"), &format!("[{}]", items.join(", ")))
            }
            _ => None,
        }
    }

    fn value_spelled(&self, spelled: &str, text: &str) -> Option<Value> {
        let spelling = &self.dialect.spelling;
        let literal = spelling.literals.iter().find(|(_, template)| template.eq_ignore_ascii_case(spelled));
        if let Some((kind, _)) = literal {
            return Some(Value::Other { kind: *kind, text: text.to_string() });
        }
        let (before, after) = spelling.blob.split_once("{}")?;
        let (opens, closes) = spelled.split_once("{}")?;
        if !after.eq_ignore_ascii_case(closes) || !before.starts_with(opens) {
            return None;
        }
        let digits = text.strip_prefix(&before[opens.len()..])?;
        let digits = digits.replace(spelling.byte.trim_end_matches("{}"), "");
        unhex(&digits).map(Value::Blob)
    }

    fn matches(
        &self,
        op: MatchOp,
        negated: bool,
        expr: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
    ) -> Lowered<Expr> {
        let escape = self.optional(escape)?.map(Box::new);
        Ok(Expr::Match { op, expr: self.boxed(expr)?, pattern: self.boxed(pattern)?, escape, negated })
    }

    fn unary(&self, op: ast::UnaryOperator, expr: &ast::Expr) -> Lowered<Expr> {
        let op = match op {
            ast::UnaryOperator::Minus => {
                if let ast::Expr::Value(value) = expr
                    && let ast::Value::Number(digits, false) = &value.value
                {
                    return Ok(Expr::Literal(number(&format!("-{digits}"))));
                }
                UnaryOp::Minus
            }
            ast::UnaryOperator::Plus => UnaryOp::Plus,
            ast::UnaryOperator::Not => UnaryOp::Not,
            ast::UnaryOperator::BitwiseNot => UnaryOp::BitNot,
            other => return Ok(Expr::operation(format!("{other}{{}}"), vec![self.expr(expr)?])),
        };
        let inner = self.expr(expr)?;
        match (expr, inner) {
            // This is how `x NOT GLOB y` is read.
            (
                ast::Expr::Nested(nested),
                Expr::Match { op: MatchOp::Glob, expr, pattern, escape, negated: false },
            ) if op == UnaryOp::Not && matches!(**nested, ast::Expr::Nested(_)) => {
                Ok(Expr::Match { op: MatchOp::Glob, expr, pattern, escape, negated: true })
            }
            (_, inner) => Ok(Expr::unary(op, inner)),
        }
    }

    fn binary(&self, left: &ast::Expr, op: &ast::BinaryOperator, right: &ast::Expr) -> Lowered<Expr> {
        let own = match op {
            ast::BinaryOperator::Glob => return self.matches(MatchOp::Glob, false, left, right, None),
            ast::BinaryOperator::Regexp => return self.matches(MatchOp::Regexp, false, left, right, None),
            op => operator(op),
        };
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        Ok(match own {
            Some(op) => Expr::binary(op, left, right),
            None => Expr::operation(format!("{{}} {op} {{}}"), vec![left, right]),
        })
    }

    fn same(&self, left: &ast::Expr, right: &ast::Expr, negated: bool) -> Lowered<Expr> {
        let op = if negated { BinaryOp::NotSame } else { BinaryOp::Same };
        Ok(Expr::binary(op, self.expr(left)?, self.expr(right)?))
    }

    fn quantified(
        &self,
        left: &ast::Expr,
        op: &ast::BinaryOperator,
        all: bool,
        right: &ast::Expr,
    ) -> Lowered<Expr> {
        let Some(own) = operator(op) else { return refuse("ANY or ALL with an operator of its own") };
        let ast::Expr::Subquery(query) = right else {
            let word = if all { "ALL" } else { "ANY" };
            return Ok(Expr::operation(
                format!("{{}} {op} {word}({{}})"),
                vec![self.expr(left)?, self.expr(right)?],
            ));
        };
        let op = own;
        Ok(Expr::Quantified { op, left: self.boxed(left)?, all, query: self.subquery(query)? })
    }

    /// A call by the dialect's own spelling of the name.
    fn call(&self, name: &str, args: Vec<Expr>) -> Expr {
        let listed = self.dialect.functions.iter().find(|function| function.name.eq_ignore_ascii_case(name));
        Expr::Function {
            name: listed.map_or_else(|| Name::from(name), |function| function.name.clone()),
            args,
        }
    }

    fn function(&self, function: &ast::Function) -> Lowered<Expr> {
        let [ast::ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else {
            return refuse("a function in a schema");
        };
        let ast::FunctionArguments::List(list) = &function.args else {
            return refuse("a function of a query, or without parentheses");
        };
        let distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
        let mut order_by = Vec::new();
        for clause in &list.clauses {
            match clause {
                ast::FunctionArgumentClause::OrderBy(keys) => order_by = self.order_by(keys)?,
                other => return refuse(format!("a clause of the kind {} inside a call", kind_of(other))),
            }
        }
        let args = self.arguments(&list.args)?;
        let filter = self.optional(function.filter.as_deref())?;
        // Only aggregates have these.
        let shows = distinct || filter.is_some() || !order_by.is_empty() || function.over.is_some();
        if !shows && !self.is_aggregate(&name.value, args.len()) {
            return Ok(self.call(&name.value, args));
        }
        let listed =
            self.dialect.aggregates.iter().find(|listed| listed.name.eq_ignore_ascii_case(&name.value));
        let name = listed.map_or_else(|| Name::from(name.value.as_str()), |listed| listed.name.clone());
        let aggregate = Aggregate { name, distinct, args, order_by, filter };
        Ok(match &function.over {
            None => Expr::Aggregate(Box::new(aggregate)),
            Some(ast::WindowType::NamedWindow(name)) => {
                Expr::Window(Box::new(Window { function: aggregate, over: Over::Named(self.name(name)) }))
            }
            Some(ast::WindowType::WindowSpec(spec)) => {
                let over = Over::Spec(self.window_spec(spec)?);
                Expr::Window(Box::new(Window { function: aggregate, over }))
            }
        })
    }

    /// Of MIN and MAX, SQLite has a form for rows and one for several values.
    pub fn is_aggregate(&self, name: &str, args: usize) -> bool {
        let is = |listed: &str| listed.eq_ignore_ascii_case(name);
        let listed = self.dialect.aggregates.iter().any(|listed| is(&listed.name))
            || self.dialect.order_dependent.iter().any(|listed| is(listed))
            || AGGREGATES.iter().any(|listed| is(listed));
        listed && !(args > 1 && (is("min") || is("max")))
    }

    /// The arguments of a call; `*` is none.
    pub fn arguments(&self, args: &[ast::FunctionArg]) -> Lowered<Vec<Expr>> {
        if let [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard)] = args {
            return Ok(Vec::new());
        }
        let argument = |arg: &ast::FunctionArg| match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => self.expr(expr),
            _ => refuse("an argument with a name"),
        };
        args.iter().map(argument).collect()
    }

    pub fn window_spec(&self, spec: &ast::WindowSpec) -> Lowered<WindowSpec> {
        if spec.window_name.is_some() {
            return refuse("a window based on another");
        }
        Ok(WindowSpec {
            partition_by: self.exprs(&spec.partition_by)?,
            order_by: self.order_by(&spec.order_by)?,
            frame: spec.window_frame.as_ref().map(|frame| self.frame(frame)).transpose()?,
        })
    }

    fn frame(&self, frame: &ast::WindowFrame) -> Lowered<Frame> {
        let unit = match frame.units {
            ast::WindowFrameUnits::Rows => FrameUnit::Rows,
            ast::WindowFrameUnits::Range => FrameUnit::Range,
            ast::WindowFrameUnits::Groups => FrameUnit::Groups,
        };
        let end = frame.end_bound.as_ref().map_or(Ok(FrameBound::CurrentRow), |end| self.bound(end))?;
        Ok(Frame { unit, start: self.bound(&frame.start_bound)?, end, exclude: None })
    }

    fn bound(&self, bound: &ast::WindowFrameBound) -> Lowered<FrameBound> {
        Ok(match bound {
            ast::WindowFrameBound::CurrentRow => FrameBound::CurrentRow,
            ast::WindowFrameBound::Preceding(None) => FrameBound::UnboundedPreceding,
            ast::WindowFrameBound::Following(None) => FrameBound::UnboundedFollowing,
            ast::WindowFrameBound::Preceding(Some(expr)) => FrameBound::Preceding(self.boxed(expr)?),
            ast::WindowFrameBound::Following(Some(expr)) => FrameBound::Following(self.boxed(expr)?),
        })
    }
}

/// What a node of sqlparser is called: a reason that names the text would be another one for each.
pub fn kind_of(node: &impl std::fmt::Debug) -> String {
    let text = format!("{node:?}");
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_string()
}

/// `{}, {}`
fn places(count: usize) -> String {
    vec!["{}"; count].join(", ")
}

/// A constant that the dialect's file does not list, as it was written.
fn opaque(literal: &impl std::fmt::Display) -> Lowered<Expr> {
    let text = literal.to_string();
    // Without a number it may be the present: `DATE 'today'`.
    match text.contains(['{', '}']) || !text.contains(|c: char| c.is_ascii_digit()) {
        true => refuse("a literal of a type that the dialect does not list"),
        false => Ok(Expr::operation(text, Vec::new())),
    }
}

/// A number as it was written: one that our printer would spell otherwise keeps its digits.
fn number(digits: &str) -> Value {
    if let Ok(int) = digits.parse::<i64>()
        && int.to_string() == digits
    {
        return Value::Int(int);
    }
    match digits.parse::<f64>() {
        Ok(real) if format!("{real:?}") == digits => Value::Real(real),
        _ => Value::Decimal(digits.to_string()),
    }
}

/// The operators that have a node of their own.
fn operator(op: &ast::BinaryOperator) -> Option<BinaryOp> {
    use ast::BinaryOperator as Theirs;
    Some(match op {
        Theirs::And => BinaryOp::And,
        Theirs::Or => BinaryOp::Or,
        Theirs::Eq => BinaryOp::Eq,
        Theirs::NotEq => BinaryOp::Ne,
        Theirs::Lt => BinaryOp::Lt,
        Theirs::LtEq => BinaryOp::Le,
        Theirs::Gt => BinaryOp::Gt,
        Theirs::GtEq => BinaryOp::Ge,
        Theirs::Spaceship => BinaryOp::Same,
        Theirs::Plus => BinaryOp::Add,
        Theirs::Minus => BinaryOp::Sub,
        Theirs::Multiply => BinaryOp::Mul,
        Theirs::Divide => BinaryOp::Div,
        Theirs::Modulo => BinaryOp::Mod,
        Theirs::StringConcat => BinaryOp::Concat,
        Theirs::BitwiseAnd => BinaryOp::BitAnd,
        Theirs::BitwiseOr => BinaryOp::BitOr,
        Theirs::PGBitwiseShiftLeft => BinaryOp::ShiftLeft,
        Theirs::PGBitwiseShiftRight => BinaryOp::ShiftRight,
        Theirs::Arrow => BinaryOp::JsonGet,
        Theirs::LongArrow => BinaryOp::JsonGetText,
        _ => return None,
    })
}
