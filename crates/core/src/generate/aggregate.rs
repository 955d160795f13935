//! Aggregates, and conditions on groups.

use super::{Generator, Rules};
use crate::dialect::Feature;
use crate::sql::*;

/// Sums of numbers up to this overflow nowhere.
const SMALL: i64 = 1_000_000;

impl Generator<'_> {
    /// Draws columns and expressions whose equal values are identical, to be deduplicated or grouped by.
    pub fn identical<T>(&mut self, draw: impl FnOnce(&mut Self) -> T) -> T {
        self.under(Rules { identity: true, ..Rules::default() }, draw)
    }

    /// A condition on a group: over its keys and aggregates of it.
    pub fn group_predicate(&mut self, keys: &[(Expr, Kind)]) -> Expr {
        let typed = self.dialect.is_typed();
        let any_operand = |g: &mut Generator| {
            if g.rng.chance(35) {
                return g.rng.pick(keys).clone();
            }
            let (aggregate, _, kind) = g.exact_aggregate();
            (aggregate, kind)
        };
        let (left, kind) = any_operand(self);
        // Where operands are not converted, what is compared is of one kind.
        let operand = |g: &mut Generator| match kind {
            _ if !typed => any_operand(g).0,
            Kind::Int => Expr::count_rows(),
            kind => g.constant(kind),
        };
        let simple = match self.rng.below(6) {
            0 => left.is(Truth::Null),
            1 => left.is_not(Truth::Null),
            _ if typed && kind == Kind::Any => left.is_not(Truth::Null),
            2 => Expr::binary(BinaryOp::Gt, left, operand(self)),
            3 => Expr::Between {
                expr: Box::new(left),
                low: Box::new(if typed { self.constant(kind) } else { Expr::int(0) }),
                high: Box::new(operand(self)),
                negated: self.rng.chance(30),
            },
            _ => {
                let op = *self.rng.pick(&[BinaryOp::Eq, BinaryOp::Lt, BinaryOp::Ge, BinaryOp::Ne]);
                Expr::binary(op, left, self.constant(if typed { kind } else { Kind::Int }))
            }
        };
        match self.rng.below(5) {
            0 => simple.negate(),
            1 => {
                let counted = if typed { Expr::count_rows() } else { operand(self) };
                let other = Expr::binary(BinaryOp::Ge, counted, Expr::int(1));
                Expr::binary(*self.rng.pick(&[BinaryOp::And, BinaryOp::Or]), simple, other)
            }
            _ => simple,
        }
    }

    /// An aggregate whose value is exact and does not depend on the order of rows, how to put its parts
    /// together again, and the kind of its value.
    pub fn exact_aggregate(&mut self) -> (Expr, &'static str, Kind) {
        let column = self.identical(|g| g.own_column(Kind::Any));
        let dialect = self.dialect;
        match (self.rng.below(5), column) {
            (0, Some(column)) if dialect.aggregates("MIN", column.kind) => {
                (Expr::aggregate("MIN", vec![column.expr]), "MIN", column.kind)
            }
            (1, Some(column)) if dialect.aggregates("MAX", column.kind) => {
                (Expr::aggregate("MAX", vec![column.expr]), "MAX", column.kind)
            }
            (2, Some(column)) => (Expr::aggregate("COUNT", vec![column.expr]), "SUM", Kind::Int),
            (3, _) => {
                let rules = Rules { subqueries: false, ..self.rules };
                let argument = self.under(rules, |g| g.small_int(1));
                (Expr::aggregate("SUM", vec![argument]), "SUM", Kind::Int)
            }
            _ => (Expr::count_rows(), "SUM", Kind::Int),
        }
    }

    /// A column of the innermost query that holds small whole numbers, as far as the state tells.
    pub(super) fn small_column(&mut self) -> Option<Expr> {
        let mut small = Vec::new();
        for relation in self.relations() {
            for column in relation.columns.iter() {
                let bounded = column.whole.is_some_and(|(low, high)| low >= -SMALL && high <= SMALL);
                if column.ty.kind == Kind::Int && bounded && !column.rowid_alias {
                    small.push(self.column_expr(relation, column));
                }
            }
        }
        self.rng.choose(&small).cloned()
    }

    /// A small whole number of the innermost query: a column that holds nothing else, or a remainder.
    pub(super) fn small_number(&mut self) -> Expr {
        match self.small_column() {
            Some(column) if self.rng.chance(80) => return column,
            // An aggregate of outer columns alone would be one of the outer query.
            _ if self.inner == 0 => {
                return self.under(Rules { subqueries: false, ..self.rules }, |g| g.small_int(1));
            }
            _ => {}
        }
        let whole =
            match (self.own_column(Kind::Int), self.dialect.casts.iter().find(|c| c.ty.kind == Kind::Int)) {
                (Some(column), _) if self.dialect.is_typed() => column.expr,
                (Some(column), Some(cast)) => Expr::Cast { expr: Box::new(column.expr), ty: cast.ty.clone() },
                _ => return Expr::int(1),
            };
        Expr::binary(BinaryOp::Mod, whole, Expr::int(1000))
    }

    /// A number of each group, and its kind: any aggregate that is exact, or nearly.
    pub(super) fn measure(&mut self) -> (Expr, Kind) {
        const VARIANCES: &[&str] = &["VAR_POP", "STDDEV_POP"];
        let variances = if self.dialect.aggregates("VAR_POP", Kind::Int) { 6 } else { 0 };
        let average = if self.dialect.aggregates("AVG", Kind::Int) { 9 } else { 0 };
        let chosen = self.rng.weighted(&[14, 10, 10, 17, 17, 15, average, variances]);
        let counted = self.identical(|g| g.own_column(Kind::Any)).map(|column| column.expr);
        let (name, args, kind) = match chosen {
            1 | 2 if counted.is_some() => ("COUNT", counted.into_iter().collect(), Kind::Int),
            3 => ("MAX", vec![self.small_number()], Kind::Int),
            4 => ("MIN", vec![self.small_number()], Kind::Int),
            5 => ("SUM", vec![self.small_number()], Kind::Int),
            6 => ("AVG", vec![self.small_number()], Kind::Real),
            7 => (*self.rng.pick(VARIANCES), vec![self.small_number()], Kind::Real),
            _ => ("COUNT", Vec::new(), Kind::Int),
        };
        let filtered = self.dialect.can(Feature::AggregateFilter) && self.inner == 0 && self.rng.chance(12);
        let rules = Rules { subqueries: false, ..self.rules };
        let filter = filtered.then(|| self.under(rules, |g| g.filter(1)));
        let distinct = chosen == 2 && name == "COUNT" && !args.is_empty();
        let aggregate = Aggregate { name: name.into(), distinct, args, order_by: Vec::new(), filter };
        let aggregate = Expr::Aggregate(Box::new(aggregate));
        // Arithmetic on what may be large already could overflow.
        let expr = match self.rng.below(11) {
            0 if matches!(name, "COUNT" | "MIN" | "MAX") => {
                let op = *self.rng.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Mul]);
                let by = *self.rng.pick(&[1, 2, 5, -1, -2]);
                Expr::binary(op, aggregate, Expr::int(by))
            }
            1 if kind == Kind::Int => Expr::unary(UnaryOp::Minus, aggregate),
            _ => aggregate,
        };
        (expr, kind)
    }
}
