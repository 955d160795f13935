//! Expressions, drawn by the kind of value they should have.

use super::{Drawn, Generator};
use crate::dialect::Feature;
use crate::sql::*;

impl Generator<'_> {
    /// A condition.
    pub fn predicate(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.simple_predicate();
        }
        let subqueries = if self.rules.subqueries { 3 } else { 0 };
        let rows = if self.dialect.can(Feature::RowValues) { 4 } else { 0 };
        // The more there are, the more turns it takes to try them all.
        let operations = match self.dialect.repertoire.entries.len() {
            0 => 0,
            many => 30 + (many / 50).min(40) as u32,
        };
        match self.rng.weighted(&[34, 16, 9, 7, 7, 8, subqueries, subqueries, rows, 22, 4, 2, operations]) {
            0 => self.simple_predicate(),
            1 => self.comparison(depth - 1),
            2 => self.truth_test(depth - 1),
            3 => self.between(depth - 1),
            4 => self.in_list(depth - 1),
            5 => self.pattern_match(depth - 1),
            6 => self.in_query(depth - 1),
            7 => self.exists(depth - 1),
            8 => self.row_comparison(depth - 1),
            9 => self.connective(depth - 1),
            10 if self.dialect.can(Feature::LooseOperands) => self.value_expr(Kind::Any, depth),
            11 => self.case(Kind::Bool, depth - 1),
            12 => self.operation_predicate(depth - 1),
            _ => self.simple_predicate(),
        }
    }

    /// A condition for WHERE and ON, which should keep some rows: a bare one is too often TRUE on none or on
    /// all of them.
    pub fn filter(&mut self, depth: usize) -> Expr {
        match self.rng.below(100) {
            0..30 => self.predicate(depth),
            30..54 => self.splitting_predicate(),
            54..76 => {
                let predicate = self.predicate(depth);
                Expr::binary(BinaryOp::Or, predicate, self.splitting_predicate())
            }
            76..84 => self.predicate(depth).and(self.splitting_predicate()),
            84..90 => self.predicate(depth).negate(),
            // Whatever the first is on all rows, the second divides them.
            _ => {
                let op = if self.rng.chance(50) { BinaryOp::Same } else { BinaryOp::NotSame };
                let predicate = self.predicate(depth);
                Expr::binary(op, predicate, self.splitting_predicate())
            }
        }
    }

    /// A condition that some rows meet and some do not, as far as the data is known.
    fn splitting_predicate(&mut self) -> Expr {
        for _ in 0..4 {
            let Some(drawn) = self.own_column(Kind::Any) else { break };
            let Some((relation, at)) = drawn.column else { break };
            let pool = &self.scope[relation].columns[at].pool;
            if pool.len() < 2 || (self.dialect.is_typed() && drawn.kind == Kind::Any) {
                continue;
            }
            let value = self.rng.pick(pool).clone();
            if value.is_null() {
                let null = drawn.expr.is(Truth::Null);
                return if self.rng.chance(50) { null } else { null.negate() };
            }
            use BinaryOp::*;
            let op = [Eq, Ne, Le, Ge, Lt, Gt][self.rng.weighted(&[30, 20, 15, 15, 10, 10])];
            let constant = self.literal(value, drawn.kind);
            return Expr::binary(op, drawn.expr, constant);
        }
        self.simple_predicate()
    }

    /// The predicate most bugs need: a column against a constant that is in the data.
    fn simple_predicate(&mut self) -> Expr {
        let Some(drawn) = self.column(Kind::Any) else {
            return Expr::Literal(self.some_value(Kind::Bool));
        };
        match self.rng.below(20) {
            0 => drawn.expr.is(Truth::Null),
            1..4 => drawn.expr.is_not(Truth::Null),
            4 if self.dialect.can(Feature::LooseOperands) || drawn.kind == Kind::Bool => drawn.expr,
            // Of what kind its values are is not known: nothing can be compared with them.
            _ if self.dialect.is_typed() && drawn.kind == Kind::Any => drawn.expr.is_not(Truth::Null),
            _ => {
                let constant = self.constant_for(&drawn);
                let column = drawn.expr;
                let op = self.comparison_op();
                if self.rng.chance(85) {
                    Expr::binary(op, column, constant)
                } else {
                    Expr::binary(op, constant, column)
                }
            }
        }
    }

    pub(super) fn comparison_op(&mut self) -> BinaryOp {
        use BinaryOp::*;
        [Eq, Ne, Lt, Le, Gt, Ge, Same, NotSame][self.rng.weighted(&[22, 12, 14, 14, 14, 14, 6, 6])]
    }

    fn comparison(&mut self, depth: usize) -> Expr {
        let kind = self.kind();
        let left = self.value_expr(kind, depth);
        let right = self.value_expr(kind, depth);
        Expr::binary(self.comparison_op(), left, right)
    }

    fn truth_test(&mut self, depth: usize) -> Expr {
        let negated = self.rng.chance(50);
        let (expr, test) = match self.rng.below(3) {
            0 => {
                let kind = self.kind();
                (self.value_expr(kind, depth), Truth::Null)
            }
            1 => (self.predicate(depth), Truth::True),
            _ => (self.predicate(depth), Truth::False),
        };
        Expr::Is { expr: Box::new(expr), test, negated }
    }

    pub(super) fn between(&mut self, depth: usize) -> Expr {
        let kind = self.kind();
        Expr::Between {
            expr: Box::new(self.value_expr(kind, depth)),
            low: Box::new(self.value_expr(kind, depth)),
            high: Box::new(self.value_expr(kind, depth)),
            negated: self.rng.chance(25),
        }
    }

    pub(super) fn in_list(&mut self, depth: usize) -> Expr {
        let left = self.left_operand(depth);
        let list = (0..self.rng.between(1, 4))
            .map(|_| match self.rng.chance(70) {
                true => self.constant_for(&left),
                false => self.value_expr(left.kind, depth),
            })
            .collect();
        Expr::InList { expr: Box::new(left.expr), list, negated: self.rng.chance(35) }
    }

    pub(super) fn pattern_match(&mut self, depth: usize) -> Expr {
        let glob = self.dialect.can(Feature::Glob) && self.rng.chance(35);
        let expr = self.value_expr(Kind::Text, depth);
        let pattern =
            if self.rng.chance(80) { self.pattern(glob) } else { self.value_expr(Kind::Text, depth) };
        let escape = (!glob && self.rng.chance(6)).then(|| Box::new(Expr::text("\\")));
        let negated = self.rng.chance(25);
        let apart = negated && glob && !self.dialect.can(Feature::NotGlob);
        let matched = Expr::Match {
            op: if glob { MatchOp::Glob } else { MatchOp::Like },
            expr: Box::new(expr),
            pattern: Box::new(pattern),
            escape,
            negated: negated && !apart,
        };
        if apart { matched.negate() } else { matched }
    }

    /// A pattern made of a value in the data and wildcards, so that it matches some rows.
    fn pattern(&mut self, glob: bool) -> Expr {
        let known = match self.constant(Kind::Text) {
            Expr::Literal(Value::Text(text)) => text,
            Expr::Literal(Value::Int(i)) => i.to_string(),
            _ => String::from("a"),
        };
        let (many, one) = if glob { ('*', '?') } else { ('%', '_') };
        let mut letters: Vec<char> = known.chars().take(6).collect();
        match self.rng.below(5) {
            0 => letters.push(many),
            1 => letters.insert(0, many),
            2 if !letters.is_empty() => {
                let at = self.rng.below(letters.len());
                letters[at] = one;
            }
            3 => {
                letters.insert(0, many);
                letters.push(many);
            }
            _ => {}
        }
        Expr::text(letters.into_iter().collect::<String>())
    }

    pub(super) fn in_query(&mut self, depth: usize) -> Expr {
        let Drawn { expr, kind, .. } = self.left_operand(depth);
        let query = if self.dialect.can(Feature::CorrelatedIn) {
            self.column_query(kind, depth)
        } else {
            self.isolated(|g| g.column_query(kind, depth))
        };
        Expr::InQuery { expr: Box::new(expr), query: Box::new(query), negated: self.rng.chance(30) }
    }

    pub(super) fn exists(&mut self, depth: usize) -> Expr {
        let query = self.column_query(Kind::Any, depth);
        Expr::Exists { query: Box::new(query), negated: self.rng.chance(30) }
    }

    fn row_comparison(&mut self, depth: usize) -> Expr {
        let width = self.rng.between(2, 3);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for _ in 0..width {
            let operand = self.left_operand(depth);
            right.push(match self.rng.chance(60) {
                true => self.constant_for(&operand),
                false => self.value_expr(operand.kind, depth),
            });
            left.push(operand.expr);
        }
        Expr::binary(self.comparison_op(), Expr::Row(left), Expr::Row(right))
    }

    fn connective(&mut self, depth: usize) -> Expr {
        if self.rng.chance(8)
            && let Some(chain) = self.chain()
        {
            return chain;
        }
        match self.rng.below(9) {
            0..3 => Expr::binary(BinaryOp::And, self.predicate(depth), self.predicate(depth)),
            3..7 => Expr::binary(BinaryOp::Or, self.predicate(depth), self.predicate(depth)),
            _ => self.predicate(depth).negate(),
        }
    }

    /// Two conditions of which an optimizer derives a third: a column equals another one, and one of both is compared
    /// with a constant.
    fn chain(&mut self) -> Option<Expr> {
        let one = self.column(Kind::Any)?;
        if self.dialect.is_typed() && one.kind == Kind::Any {
            return None;
        }
        let other = self.column(one.kind).filter(|other| other.expr != one.expr)?;
        let link = Expr::binary(BinaryOp::Eq, one.expr.clone(), other.expr.clone());
        let end = if self.rng.chance(50) { one } else { other };
        let constant = self.constant_for(&end);
        let op = if self.rng.chance(70) { BinaryOp::Eq } else { self.comparison_op() };
        let bound = Expr::binary(op, end.expr, constant);
        Some(if self.rng.chance(50) { link.and(bound) } else { bound.and(link) })
    }

    /// An expression of the kind, or of one that converts to it.
    pub fn value_expr(&mut self, kind: Kind, depth: usize) -> Expr {
        let kind = if kind == Kind::Any && self.dialect.is_typed() { self.kind() } else { kind };
        if kind == Kind::Bool {
            return self.predicate(depth);
        }
        if depth == 0 || self.rng.chance(45) {
            return self.leaf(kind);
        }
        let depth = depth - 1;
        let subqueries = if self.rules.subqueries { 3 } else { 0 };
        match self.rng.weighted(&[16, 30, 9, 7, 8, subqueries, 6, 6]) {
            0 => self.operator(kind, depth),
            1 => self.function(kind, depth),
            2 => self.cast(kind, depth),
            3 => self.case(kind, depth),
            4 => self.signed(kind, depth),
            5 if self.dialect.aggregates("MIN", kind) => {
                Expr::Subquery(Box::new(self.aggregate_query(kind, depth)))
            }
            6 => self.collated(kind, depth),
            _ if self.dialect.can(Feature::LooseOperands) => self.predicate(depth),
            _ => self.leaf(kind),
        }
    }

    fn leaf(&mut self, kind: Kind) -> Expr {
        if self.rng.chance(68)
            && let Some(column) = self.column(kind)
        {
            return column.expr;
        }
        self.constant(kind)
    }

    /// Something to compare with: mostly a column.
    fn left_operand(&mut self, depth: usize) -> Drawn {
        if self.rng.chance(65)
            && let Some(column) = self.column(Kind::Any)
            && !(self.dialect.is_typed() && column.kind == Kind::Any)
        {
            return column;
        }
        let kind = self.kind();
        Drawn { expr: self.value_expr(kind, depth), kind, column: None }
    }

    /// A column in scope, of the kind if there is one; outer queries' columns now and then.
    pub(crate) fn column(&mut self, kind: Kind) -> Option<Drawn> {
        let from = if self.inner > 0 && self.rng.chance(20) { 0 } else { self.inner };
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
        if self.rng.chance(self.policy.known_constant_share)
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
        if self.rng.chance(self.policy.known_constant_share) && !self.scope.is_empty() {
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
    fn literal(&self, value: Value, kind: Kind) -> Expr {
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
        if self.rng.chance(85)
            && let Some(relation) = self.rng.choose(&self.scope)
            && let Some(column) = self.rng.choose(&relation.columns)
            && !(self.dialect.is_typed() && column.ty.kind == Kind::Any)
        {
            return column.ty.kind;
        }
        *self.rng.pick(&[Kind::Int, Kind::Text, Kind::Real])
    }

    fn operator(&mut self, kind: Kind, depth: usize) -> Expr {
        use BinaryOp::*;
        let typed = self.dialect.is_typed();
        let (op, operands) = match kind {
            Kind::Text => (Concat, Kind::Text),
            Kind::Blob if !typed => (Concat, Kind::Text),
            Kind::Any if self.rng.chance(30) => (Concat, Kind::Text),
            Kind::Int | Kind::Any => (self.integer_op(), Kind::Int),
            Kind::Real | Kind::Decimal if typed => (*self.rng.pick(&[Add, Sub, Mul, Div]), kind),
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
        if !self.dialect.can(Feature::SafeArithmetic) {
            // Sums of what columns hold seldom overflow; products and shifts do.
            let bits = self.dialect.can(Feature::BitOps);
            return *self.rng.pick(if bits { &[Add, Sub, Mod, BitAnd, BitOr] } else { &[Add, Sub, Mod][..] });
        }
        let bits = self.dialect.can(Feature::BitOps);
        let all = [Add, Sub, Mul, Div, Mod, BitAnd, BitOr, ShiftLeft, ShiftRight];
        *self.rng.pick(if bits { &all[..] } else { &all[..5] })
    }

    fn function(&mut self, kind: Kind, depth: usize) -> Expr {
        let dialect = self.dialect;
        if !dialect.repertoire.is_empty()
            && self.rng.chance(75)
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

    fn case(&mut self, kind: Kind, depth: usize) -> Expr {
        let compared = self.rng.chance(35).then(|| self.kind());
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
        let otherwise = self.rng.chance(60).then(|| Box::new(self.value_expr(kind, depth)));
        Expr::Case { operand, branches, otherwise }
    }

    fn signed(&mut self, kind: Kind, depth: usize) -> Expr {
        let numeric = kind.is_numeric() || self.dialect.can(Feature::LooseOperands);
        if !numeric {
            return self.leaf(kind);
        }
        let op = match self.rng.below(4) {
            0 => UnaryOp::Minus,
            1 if self.dialect.can(Feature::BitOps) && (kind == Kind::Int || !self.dialect.is_typed()) => {
                UnaryOp::BitNot
            }
            _ => UnaryOp::Plus,
        };
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
            Some(int) if self.rng.chance(75) => {
                let kind = self.kind();
                let whole = Expr::Cast { expr: Box::new(self.value_expr(kind, depth)), ty: int.ty.clone() };
                Expr::binary(BinaryOp::Mod, whole, Expr::int(1000))
            }
            _ => Expr::function("LENGTH", vec![self.value_expr(Kind::Any, depth)]),
        }
    }
}
