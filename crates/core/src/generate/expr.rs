//! Expressions, generated for the kind of value they should have.

use super::{Drawn, Generator, choices};
use crate::dialect::Feature;
use crate::sql::*;

choices! {
    odds {
        LEAF = "expr.leaf": 45,
        LEAF_COLUMN = "expr.leaf.column": 68,
        LEFT_COLUMN = "expr.left-operand.column": 65,
        OUTER_COLUMN = "expr.outer-column": 20,
        /// A constant that is in the data.
        KNOWN_CONSTANT = "expr.known-constant": 70,
        KIND_IN_SCOPE = "expr.kind-in-scope": 85,
        CONCAT = "expr.operator.concat": 30,
        OF_CATALOG = "expr.function.catalog": 75,
        CASE_OPERAND = "expr.case.operand": 35,
        CASE_ELSE = "expr.case.else": 60,
        SMALL_BY_REMAINDER = "expr.small-int.remainder": 75,
    }
    choose {
        OTHER_KIND: Kind = "expr.kind" { Int: 1, Text: 1, Real: 1 },
        REAL_OP: BinaryOp = "expr.operator.real" { Add: 1, Sub: 1, Mul: 1, Div: 1 },
        INTEGER_OP: BinaryOp = "expr.operator.integer" {
            Add: 1,
            Sub: 1,
            Mul: 1,
            Div: 1,
            Mod: 1,
            BitAnd: 1,
            BitOr: 1,
            ShiftLeft: 1,
            ShiftRight: 1,
        },
        SIGN: UnaryOp = "expr.signed" { Minus: 1, BitNot: 1, Plus: 2 },
    }
    choose enum {
        VALUE: ValueExpr = "expr.value" {
            Operator: 16,
            Function: 30,
            Cast: 9,
            Case: 7,
            Signed: 8,
            Subquery: 3,
            Collated: 6,
            Predicate: 6,
            Leaf: 0,
        },
    }
}

impl Generator<'_> {
    /// An expression of the kind, or of one that converts to it.
    pub fn value_expr(&mut self, kind: Kind, depth: usize) -> Expr {
        let kind = if kind == Kind::Any && self.dialect.is_typed() { self.kind() } else { kind };
        if kind == Kind::Bool {
            return self.predicate(depth);
        }
        if depth == 0 || self.odds(&LEAF) {
            return self.leaf(kind);
        }
        let depth = depth - 1;
        let (dialect, subqueries) = (self.dialect, self.rules.subqueries);
        let weigh = |value, weight| if value == ValueExpr::Subquery && !subqueries { 0 } else { weight };
        let loose = dialect.can(Feature::LooseOperands);
        let instead = |value| match value {
            ValueExpr::Subquery if dialect.aggregates("MIN", kind) => value,
            ValueExpr::Subquery | ValueExpr::Predicate if loose => ValueExpr::Predicate,
            ValueExpr::Subquery | ValueExpr::Predicate => ValueExpr::Leaf,
            other => other,
        };
        match self.choose_instead(&VALUE, weigh, instead) {
            ValueExpr::Operator => self.operator(kind, depth),
            ValueExpr::Function => self.function(kind, depth),
            ValueExpr::Cast => self.cast(kind, depth),
            ValueExpr::Case => self.case(kind, depth),
            ValueExpr::Signed => self.signed(kind, depth),
            ValueExpr::Subquery => Expr::Subquery(Box::new(self.aggregate_query(kind, depth))),
            ValueExpr::Collated => self.collated(kind, depth),
            ValueExpr::Predicate => self.predicate(depth),
            ValueExpr::Leaf => self.leaf(kind),
        }
    }

    fn leaf(&mut self, kind: Kind) -> Expr {
        if self.odds(&LEAF_COLUMN)
            && let Some(column) = self.column(kind)
        {
            return column.expr;
        }
        self.constant(kind)
    }

    /// Something to compare with: mostly a column.
    pub(super) fn left_operand(&mut self, depth: usize) -> Drawn {
        if self.odds(&LEFT_COLUMN)
            && let Some(column) = self.column(Kind::Any)
            && !(self.dialect.is_typed() && column.kind == Kind::Any)
        {
            return column;
        }
        let kind = self.kind();
        Drawn { expr: self.value_expr(kind, depth), kind, column: None }
    }

    /// A column in scope, of the kind if there is one; sometimes a column of an outer query.
    pub(crate) fn column(&mut self, kind: Kind) -> Option<Drawn> {
        let from =
            if self.inner > 0 && self.rules.outer && self.odds(&OUTER_COLUMN) { 0 } else { self.inner };
        self.column_from(from, kind)
    }

    /// A column of the innermost query: an aggregate over an outer column belongs to the outer query.
    pub(crate) fn own_column(&mut self, kind: Kind) -> Option<Drawn> {
        self.column_from(self.inner, kind)
    }

    fn column_from(&mut self, from: usize, kind: Kind) -> Option<Drawn> {
        let crossing = kind == Kind::Any || self.dialect.can(Feature::LooseOperands);
        let alike = |column: Kind| column == kind || (kind == Kind::Real && column.is_numeric());
        if from == self.scope.len() {
            return None;
        }
        // A few draws find a fitting column almost always; then the first fitting one.
        for attempt in 0..4 {
            let relation = from + self.rng.below(self.scope.len() - from);
            let columns = &self.scope[relation].columns;
            if columns.is_empty() {
                continue;
            }
            let at = self.rng.below(columns.len());
            let column = &columns[at];
            let fits = alike(column.ty.kind) || (crossing && attempt >= 1) || kind == Kind::Any;
            if fits && (!self.rules.identity || column.identity) {
                return Some(self.drawn_column(relation, at));
            }
        }
        let places = (from..self.scope.len())
            .flat_map(|relation| (0..self.scope[relation].columns.len()).map(move |at| (relation, at)));
        let mut fitting = places.filter(|(relation, at)| {
            let column = &self.scope[*relation].columns[*at];
            (crossing || alike(column.ty.kind)) && (!self.rules.identity || column.identity)
        });
        let (relation, at) = fitting.next()?;
        Some(self.drawn_column(relation, at))
    }

    fn drawn_column(&self, relation: usize, at: usize) -> Drawn {
        let column = &self.scope[relation].columns[at];
        let expr = self.column_expr(&self.scope[relation], column);
        Drawn { expr, kind: column.ty.kind, column: Some((relation, at)) }
    }

    /// A constant to compare with: mostly one that the column compared has held.
    pub(super) fn constant_for(&mut self, drawn: &Drawn) -> Expr {
        if self.odds(&KNOWN_CONSTANT)
            && let Some((relation, at)) = drawn.column
            && let Some(value) = self.rng.choose(&self.scope[relation].columns[at].pool)
        {
            let value = value.clone();
            return self.literal(value, drawn.kind);
        }
        self.constant(drawn.kind)
    }

    /// A constant, mostly one that some column in scope has held.
    pub(crate) fn constant(&mut self, kind: Kind) -> Expr {
        // Where operands are not converted, only NULL goes with a value of which no kind is known.
        if kind == Kind::Any && self.dialect.is_typed() {
            return Expr::null();
        }
        if self.odds(&KNOWN_CONSTANT) && !self.scope.is_empty() {
            for _ in 0..3 {
                let relation = self.rng.pick(&self.scope);
                if let Some(column) = self.rng.choose(&relation.columns)
                    && (kind == Kind::Any || column.ty.kind == kind)
                    && let Some(value) = self.rng.choose(&column.pool)
                {
                    let value = value.clone();
                    return self.literal(value, kind);
                }
            }
        }
        let value = self.value(kind);
        self.literal(value, kind)
    }

    /// A value where one of this kind is wanted: a bare NULL has no type, which matters where types do.
    pub(super) fn literal(&self, value: Value, kind: Kind) -> Expr {
        let named = |ty: &&DataType| ty.kind == kind;
        let types = self.dialect.casts.iter().map(|cast| &cast.ty);
        let mut types = types.chain(self.dialect.types.iter().map(|entry| &entry.ty));
        match types.find(named) {
            Some(ty) if value.is_null() && self.dialect.is_typed() => {
                Expr::Cast { expr: Box::new(Expr::null()), ty: ty.clone() }
            }
            _ => Expr::Literal(value),
        }
    }

    /// A kind to compare in: one that some column in scope has.
    pub(crate) fn kind(&mut self) -> Kind {
        if self.odds(&KIND_IN_SCOPE)
            && let Some(relation) = self.rng.choose(&self.scope)
            && let Some(column) = self.rng.choose(&relation.columns)
            && !(self.dialect.is_typed() && column.ty.kind == Kind::Any)
        {
            return column.ty.kind;
        }
        self.choose(&OTHER_KIND)
    }

    fn operator(&mut self, kind: Kind, depth: usize) -> Expr {
        use BinaryOp::*;
        let typed = self.dialect.is_typed();
        let (op, operands) = match kind {
            Kind::Text => (Concat, Kind::Text),
            Kind::Blob if !typed => (Concat, Kind::Text),
            Kind::Any if self.odds(&CONCAT) => (Concat, Kind::Text),
            Kind::Int | Kind::Any => (self.integer_op(), Kind::Int),
            Kind::Real | Kind::Decimal if typed => (self.choose(&REAL_OP), kind),
            kind if !typed => (self.integer_op(), kind),
            kind => return self.leaf(kind),
        };
        if op == Concat && !self.dialect.can(Feature::ConcatOp) {
            return self.leaf(kind);
        }
        let left = self.value_expr(operands, depth);
        let right = self.value_expr(operands, depth);
        let right = match op {
            Div | Mod if !self.dialect.can(Feature::SafeDivision) => {
                Expr::function("NULLIF", vec![right, Expr::int(0)])
            }
            _ => right,
        };
        Expr::binary(op, left, right)
    }

    fn integer_op(&mut self) -> BinaryOp {
        use BinaryOp::*;
        let bits = self.dialect.can(Feature::BitOps);
        // Sums of column values rarely overflow; products and shifts do.
        let safe = self.dialect.can(Feature::SafeArithmetic);
        self.choose_where(&INTEGER_OP, |op| match op {
            Mul | Div => safe,
            BitAnd | BitOr => bits,
            ShiftLeft | ShiftRight => bits && safe,
            _ => true,
        })
    }

    fn function(&mut self, kind: Kind, depth: usize) -> Expr {
        let dialect = self.dialect;
        if !dialect.repertoire.is_empty()
            && self.odds(&OF_CATALOG)
            && let Some(operation) = self.operation_of_kind(kind, depth)
        {
            return operation;
        }
        let typed = dialect.is_typed();
        for attempt in 0..6 {
            let Some(function) = self.rng.choose(&dialect.functions) else { break };
            let fits = kind == Kind::Any || function.returns == kind || function.returns == Kind::Any;
            if !(fits || attempt >= 2 && !typed) || (self.rules.indexable && !function.indexable) {
                continue;
            }
            // Where types matter, arguments of any kind are of one kind.
            let any = match function.returns {
                Kind::Any => kind,
                _ if typed => self.kind(),
                _ => Kind::Any,
            };
            let concrete = |kind: Kind| if kind == Kind::Any { any } else { kind };
            let mut args = Vec::with_capacity(function.args.len());
            for arg in &function.args {
                args.push(self.value_expr(concrete(*arg), depth));
            }
            if let Some(more) = function.more {
                for _ in 0..self.rng.below(3) {
                    args.push(self.value_expr(concrete(more), depth));
                }
            }
            return Expr::function(function.name.clone(), args);
        }
        self.leaf(kind)
    }

    fn cast(&mut self, kind: Kind, depth: usize) -> Expr {
        let dialect = self.dialect;
        let cast = match dialect.casts.iter().find(|cast| cast.ty.kind == kind) {
            Some(cast) => cast,
            None if dialect.is_typed() => return self.leaf(kind),
            None => match self.rng.choose(&dialect.casts) {
                Some(cast) => cast,
                None => return self.leaf(kind),
            },
        };
        let source = match self.rng.choose(&cast.from) {
            Some(source) => *source,
            None => self.kind(),
        };
        Expr::Cast { expr: Box::new(self.value_expr(source, depth)), ty: cast.ty.clone() }
    }

    pub(super) fn case(&mut self, kind: Kind, depth: usize) -> Expr {
        let compared = self.odds(&CASE_OPERAND).then(|| self.kind());
        let operand = compared.map(|kind| Box::new(self.value_expr(kind, depth)));
        let branches = (0..self.rng.between(1, 2))
            .map(|_| Branch {
                when: match compared {
                    Some(kind) => self.value_expr(kind, depth),
                    None => self.predicate(depth),
                },
                then: self.value_expr(kind, depth),
            })
            .collect();
        let otherwise = self.odds(&CASE_ELSE).then(|| Box::new(self.value_expr(kind, depth)));
        Expr::Case { operand, branches, otherwise }
    }

    fn signed(&mut self, kind: Kind, depth: usize) -> Expr {
        let numeric = kind.is_numeric() || self.dialect.can(Feature::LooseOperands);
        if !numeric {
            return self.leaf(kind);
        }
        let bits = self.dialect.can(Feature::BitOps) && (kind == Kind::Int || !self.dialect.is_typed());
        let op = self.choose_or(&SIGN, UnaryOp::Plus, |op| op != UnaryOp::BitNot || bits);
        Expr::unary(op, self.value_expr(kind, depth))
    }

    fn collated(&mut self, kind: Kind, depth: usize) -> Expr {
        let dialect = self.dialect;
        let fits = dialect.can(Feature::Collate)
            && !self.rules.identity
            && (kind == Kind::Text || dialect.can(Feature::DynamicTyping));
        match self.rng.choose(&dialect.collations) {
            Some(collation) if fits => {
                Expr::Collate { expr: Box::new(self.value_expr(kind, depth)), collation: collation.clone() }
            }
            _ => self.leaf(kind),
        }
    }

    /// A small whole number, never an overflow when summed: what SUM may be drawn over (SOUNDNESS 1).
    pub fn small_int(&mut self, depth: usize) -> Expr {
        let int = self.dialect.casts.iter().find(|cast| cast.ty.kind == Kind::Int);
        if self.dialect.is_typed() {
            return match self.own_column(Kind::Int) {
                Some(column) => Expr::binary(BinaryOp::Mod, column.expr, Expr::int(1000)),
                None => Expr::int(1),
            };
        }
        match int {
            Some(int) if self.odds(&SMALL_BY_REMAINDER) => {
                let kind = self.kind();
                let whole = Expr::Cast { expr: Box::new(self.value_expr(kind, depth)), ty: int.ty.clone() };
                Expr::binary(BinaryOp::Mod, whole, Expr::int(1000))
            }
            _ => Expr::function("LENGTH", vec![self.value_expr(Kind::Any, depth)]),
        }
    }
}
