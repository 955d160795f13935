//! Aggregates, and conditions on groups.

use super::{Generator, Rules, choices};
use crate::dialect::Feature;
use crate::sql::*;

choices! {
    odds {
        /// An operand of HAVING is a key rather than an aggregate.
        KEY = "having.key": 35,
        NOT_BETWEEN = "having.between.not": 30,
        SMALL_COLUMN = "aggregate.small-column": 80,
        FILTER = "aggregate.filter": 12,
        DESC = "aggregate.ordered.desc": 40,
    }
    choose {
        COMPARED: BinaryOp = "having.compare" { Eq: 1, Lt: 1, Ge: 1, Ne: 1 },
        CONNECTED: BinaryOp = "having.connective" { And: 1, Or: 1 },
        ARITHMETIC: BinaryOp = "aggregate.measure.arithmetic" { Add: 1, Sub: 1, Mul: 2 },
    }
    choose enum {
        GROUP_TEST: GroupTest = "having.test" { IsNull: 1, IsNotNull: 1, Greater: 1, Between: 1, Compare: 2 },
        GROUP_SHAPE: GroupShape = "having.shape" { Not: 1, Connective: 1, Plain: 3 },
        EXACT: Exact = "aggregate.exact" { Min: 1, Max: 1, Count: 1, Sum: 1, CountRows: 1 },
        MEASURE: Measure = "aggregate.measure" {
            CountRows: 14,
            Count: 10,
            CountDistinct: 10,
            SumDistinct: 5,
            Max: 17,
            Min: 17,
            Sum: 15,
            Average: 9,
            Variance: 6,
        },
        MEASURE_SHAPE: MeasureShape = "aggregate.measure.shape" { Arithmetic: 1, Minus: 1, Plain: 9 },
    }
}

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
            if g.odds(&KEY) {
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
        // Of what kind its values are is not known: nothing can be compared with them.
        let compares = !(typed && kind == Kind::Any);
        let applies = |test| compares || test == GroupTest::IsNull;
        let simple = match self.choose_or(&GROUP_TEST, GroupTest::IsNotNull, applies) {
            GroupTest::IsNull => left.is(Truth::Null),
            GroupTest::IsNotNull => left.is_not(Truth::Null),
            GroupTest::Greater => Expr::binary(BinaryOp::Gt, left, operand(self)),
            GroupTest::Between => Expr::Between {
                expr: Box::new(left),
                low: Box::new(if typed { self.constant(kind) } else { Expr::int(0) }),
                high: Box::new(operand(self)),
                negated: self.odds(&NOT_BETWEEN),
            },
            GroupTest::Compare => {
                let op = self.choose(&COMPARED);
                Expr::binary(op, left, self.constant(if typed { kind } else { Kind::Int }))
            }
        };
        match self.choose(&GROUP_SHAPE) {
            GroupShape::Not => simple.negate(),
            GroupShape::Connective => {
                let counted = if typed { Expr::count_rows() } else { operand(self) };
                let other = Expr::binary(BinaryOp::Ge, counted, Expr::int(1));
                Expr::binary(self.choose(&CONNECTED), simple, other)
            }
            GroupShape::Plain => simple,
        }
    }

    /// An aggregate whose value is exact and does not depend on the order of rows, how to put its parts
    /// together again, and the kind of its value.
    pub fn exact_aggregate(&mut self) -> (Expr, &'static str, Kind) {
        let column = self.identical(|g| g.own_column(Kind::Any));
        let dialect = self.dialect;
        let of_column = |name| column.as_ref().is_some_and(|column| dialect.aggregates(name, column.kind));
        let applies = |exact| match exact {
            Exact::Min => of_column("MIN"),
            Exact::Max => of_column("MAX"),
            Exact::Count => column.is_some(),
            Exact::Sum | Exact::CountRows => true,
        };
        match (self.choose_or(&EXACT, Exact::CountRows, applies), column) {
            (Exact::Min, Some(column)) => (Expr::aggregate("MIN", vec![column.expr]), "MIN", column.kind),
            (Exact::Max, Some(column)) => (Expr::aggregate("MAX", vec![column.expr]), "MAX", column.kind),
            (Exact::Count, Some(column)) => (Expr::aggregate("COUNT", vec![column.expr]), "SUM", Kind::Int),
            (Exact::Sum, _) => {
                let rules = Rules { subqueries: false, ..self.rules };
                let argument = self.under(rules, |g| g.small_int(1));
                (Expr::aggregate("SUM", vec![argument]), "SUM", Kind::Int)
            }
            _ => (Expr::count_rows(), "SUM", Kind::Int),
        }
    }

    /// An aggregate that takes its values in the order of all that it reads (SOUNDNESS 0.5).
    pub(super) fn ordered_aggregate(&mut self) -> Option<Expr> {
        let dialect = self.dialect;
        let chosen = self.rng.choose(&dialect.ordered_aggregates)?;
        let column = self.identical(|g| g.own_column(chosen.kind))?;
        if column.kind != chosen.kind {
            return None;
        }
        let desc = self.odds(&DESC);
        let order_by = vec![OrderItem { expr: column.expr.clone(), desc, nulls: None }];
        let mut args = vec![column.expr];
        args.extend(chosen.separator.iter().map(|text| Expr::text(text.clone())));
        let name = chosen.name.clone();
        let aggregate = Aggregate { name, distinct: false, args, order_by, filter: None };
        Some(Expr::Aggregate(Box::new(aggregate)))
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
            Some(column) if self.odds(&SMALL_COLUMN) => return column,
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
        let dialect = self.dialect;
        let chosen = self.choose_where(&MEASURE, |measure| match measure {
            Measure::Average => dialect.aggregates("AVG", Kind::Int),
            Measure::Variance => dialect.aggregates("VAR_POP", Kind::Int),
            _ => true,
        });
        let counted = self.identical(|g| g.own_column(Kind::Any)).map(|column| column.expr);
        let (name, args, kind) = match chosen {
            Measure::CountRows => ("COUNT", Vec::new(), Kind::Int),
            Measure::Count | Measure::CountDistinct => ("COUNT", Vec::from_iter(counted), Kind::Int),
            Measure::Max => ("MAX", vec![self.small_number()], Kind::Int),
            Measure::Min => ("MIN", vec![self.small_number()], Kind::Int),
            Measure::Sum | Measure::SumDistinct => ("SUM", vec![self.small_number()], Kind::Int),
            Measure::Average => ("AVG", vec![self.small_number()], Kind::Real),
            Measure::Variance => (*self.rng.pick(VARIANCES), vec![self.small_number()], Kind::Real),
        };
        let filtered = self.dialect.can(Feature::AggregateFilter) && self.inner == 0 && self.odds(&FILTER);
        let rules = Rules { subqueries: false, ..self.rules };
        let filter = filtered.then(|| self.under(rules, |g| g.filter(1)));
        let distinct = matches!(chosen, Measure::CountDistinct | Measure::SumDistinct) && !args.is_empty();
        let aggregate = Aggregate { name: name.into(), distinct, args, order_by: Vec::new(), filter };
        let aggregate = Expr::Aggregate(Box::new(aggregate));
        // Arithmetic on what may be large already could overflow.
        let applies = |shape| match shape {
            MeasureShape::Arithmetic => matches!(name, "COUNT" | "MIN" | "MAX"),
            MeasureShape::Minus => kind == Kind::Int,
            MeasureShape::Plain => true,
        };
        let expr = match self.choose_or(&MEASURE_SHAPE, MeasureShape::Plain, applies) {
            MeasureShape::Arithmetic => {
                let op = self.choose(&ARITHMETIC);
                let by = *self.rng.pick(&[1, 2, 5, -1, -2]);
                Expr::binary(op, aggregate, Expr::int(by))
            }
            MeasureShape::Minus => Expr::unary(UnaryOp::Minus, aggregate),
            MeasureShape::Plain => aggregate,
        };
        (expr, kind)
    }
}
