//! Conditions.

use super::{Drawn, Generator, choices};
use crate::dialect::Feature;
use crate::sql::*;

choices! {
    odds {
        SPLIT_BY_NULL = "expr.splitting.is-null": 50,
        COLUMN_FIRST = "expr.simple.column-first": 85,
        NOT_TRUTH = "expr.truth.not": 50,
        NOT_BETWEEN = "expr.between.not": 25,
        LISTED_CONSTANT = "expr.in-list.constant": 70,
        NOT_IN_LIST = "expr.in-list.not": 35,
        GLOB = "expr.pattern.glob": 35,
        MADE_PATTERN = "expr.pattern.made": 80,
        ESCAPE = "expr.pattern.escape": 6,
        NOT_LIKE = "expr.pattern.not": 25,
        NOT_IN_QUERY = "expr.in-query.not": 30,
        ROW_IN_QUERY = "expr.in-query.row": 12,
        NOT_EXISTS = "expr.exists.not": 30,
        CONSTANT_IN_ROW = "expr.row.constant": 60,
        /// Two conditions of which an optimizer derives a third.
        CHAIN = "expr.chain": 8,
        CHAIN_ON_FIRST = "expr.chain.on-first": 50,
        CHAIN_OF_EQUALITY = "expr.chain.equality": 70,
        CHAIN_LINK_FIRST = "expr.chain.link-first": 50,
    }
    choose {
        FILTER_SAMENESS: BinaryOp = "expr.filter.sameness" { Same: 50, NotSame: 50 },
        SPLIT_OP: BinaryOp = "expr.splitting.op" { Eq: 30, Ne: 20, Le: 15, Ge: 15, Lt: 10, Gt: 10 },
        COMPARISON_OP: BinaryOp = "expr.comparison.op" {
            Eq: 22,
            Ne: 12,
            Lt: 14,
            Le: 14,
            Gt: 14,
            Ge: 14,
            Same: 6,
            NotSame: 6,
        },
        TRUTH: Truth = "expr.truth" { Null: 1, True: 1, False: 1 },
    }
    choose enum {
        PREDICATE: Predicate = "expr.predicate" {
            Simple: 34,
            Comparison: 16,
            Truth: 9,
            Between: 7,
            InList: 7,
            Pattern: 8,
            InQuery: 3,
            Exists: 3,
            Row: 4,
            Connective: 22,
            Value: 4,
            Case: 2,
            Operation: 30,
        },
        FILTER: Filter = "expr.filter" { Plain: 30, Splitting: 24, Or: 22, And: 8, Not: 6, Sameness: 10 },
        SIMPLE: Simple = "expr.simple" { IsNull: 1, IsNotNull: 3, Bare: 1, Compare: 15 },
        PATTERN: Pattern = "expr.pattern" { Prefix: 1, Suffix: 1, OneLetter: 1, Inside: 1, Exact: 1 },
        CONNECTIVE: Connective = "expr.connective" { And: 3, Or: 4, Not: 2 },
    }
}

impl Generator<'_> {
    /// A condition.
    pub fn predicate(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.simple_predicate();
        }
        let (dialect, subqueries) = (self.dialect, self.rules.subqueries);
        let operations = dialect.repertoire.entries.len();
        let weigh = |predicate, weight| match predicate {
            Predicate::InQuery | Predicate::Exists if !subqueries => 0,
            Predicate::Row if !dialect.can(Feature::RowValues) => 0,
            Predicate::Operation if operations == 0 => 0,
            // The more there are, the more turns it takes to try them all.
            Predicate::Operation if weight > 0 => weight + (operations / 50).min(40) as u32,
            _ => weight,
        };
        let loose = dialect.can(Feature::LooseOperands);
        let instead = |drawn| if drawn == Predicate::Value && !loose { Predicate::Simple } else { drawn };
        match self.choose_instead(&PREDICATE, weigh, instead) {
            Predicate::Simple => self.simple_predicate(),
            Predicate::Comparison => self.comparison(depth - 1),
            Predicate::Truth => self.truth_test(depth - 1),
            Predicate::Between => self.between(depth - 1),
            Predicate::InList => self.in_list(depth - 1),
            Predicate::Pattern => self.pattern_match(depth - 1),
            Predicate::InQuery => self.in_query(depth - 1),
            Predicate::Exists => self.exists(depth - 1),
            Predicate::Row => self.row_comparison(depth - 1),
            Predicate::Connective => self.connective(depth - 1),
            Predicate::Value => self.value_expr(Kind::Any, depth),
            Predicate::Case => self.case(Kind::Bool, depth - 1),
            Predicate::Operation => self.operation_predicate(depth - 1),
        }
    }

    /// A condition for WHERE and ON, which should keep some rows: a bare one is too often TRUE on none or on
    /// all of them.
    pub fn filter(&mut self, depth: usize) -> Expr {
        match self.choose(&FILTER) {
            Filter::Plain => self.predicate(depth),
            Filter::Splitting => self.splitting_predicate(),
            Filter::Or => {
                let predicate = self.predicate(depth);
                Expr::binary(BinaryOp::Or, predicate, self.splitting_predicate())
            }
            Filter::And => self.predicate(depth).and(self.splitting_predicate()),
            Filter::Not => self.predicate(depth).negate(),
            // Whatever the first is on all rows, the second divides them.
            Filter::Sameness => {
                let op = self.choose(&FILTER_SAMENESS);
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
                return if self.odds(&SPLIT_BY_NULL) { null } else { null.negate() };
            }
            let op = self.choose(&SPLIT_OP);
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
        let bare = self.dialect.can(Feature::LooseOperands) || drawn.kind == Kind::Bool;
        // Of what kind its values are is not known: nothing can be compared with them.
        let compares = !(self.dialect.is_typed() && drawn.kind == Kind::Any);
        let instead = |simple| match simple {
            Simple::Bare if bare => Simple::Bare,
            Simple::Bare | Simple::Compare if compares => Simple::Compare,
            Simple::Bare | Simple::Compare => Simple::IsNotNull,
            other => other,
        };
        match self.choose_instead(&SIMPLE, |_, weight| weight, instead) {
            Simple::IsNull => drawn.expr.is(Truth::Null),
            Simple::IsNotNull => drawn.expr.is_not(Truth::Null),
            Simple::Bare => drawn.expr,
            Simple::Compare => {
                let constant = self.constant_for(&drawn);
                let column = drawn.expr;
                let op = self.comparison_op();
                match self.odds(&COLUMN_FIRST) {
                    true => Expr::binary(op, column, constant),
                    false => Expr::binary(op, constant, column),
                }
            }
        }
    }

    pub(super) fn comparison_op(&mut self) -> BinaryOp {
        self.choose(&COMPARISON_OP)
    }

    fn comparison(&mut self, depth: usize) -> Expr {
        let kind = self.kind();
        let left = self.value_expr(kind, depth);
        let right = self.value_expr(kind, depth);
        Expr::binary(self.comparison_op(), left, right)
    }

    fn truth_test(&mut self, depth: usize) -> Expr {
        let negated = self.odds(&NOT_TRUTH);
        let test = self.choose(&TRUTH);
        let expr = match test {
            Truth::Null => {
                let kind = self.kind();
                self.value_expr(kind, depth)
            }
            Truth::True | Truth::False => self.predicate(depth),
        };
        Expr::Is { expr: Box::new(expr), test, negated }
    }

    pub(super) fn between(&mut self, depth: usize) -> Expr {
        let kind = self.kind();
        Expr::Between {
            expr: Box::new(self.value_expr(kind, depth)),
            low: Box::new(self.value_expr(kind, depth)),
            high: Box::new(self.value_expr(kind, depth)),
            negated: self.odds(&NOT_BETWEEN),
        }
    }

    pub(super) fn in_list(&mut self, depth: usize) -> Expr {
        let left = self.left_operand(depth);
        let list = (0..self.rng.between(1, 4))
            .map(|_| match self.odds(&LISTED_CONSTANT) {
                true => self.constant_for(&left),
                false => self.value_expr(left.kind, depth),
            })
            .collect();
        Expr::InList { expr: Box::new(left.expr), list, negated: self.odds(&NOT_IN_LIST) }
    }

    pub(super) fn pattern_match(&mut self, depth: usize) -> Expr {
        let glob = self.dialect.can(Feature::Glob) && self.odds(&GLOB);
        let expr = self.value_expr(Kind::Text, depth);
        let pattern =
            if self.odds(&MADE_PATTERN) { self.pattern(glob) } else { self.value_expr(Kind::Text, depth) };
        let escape = (!glob && self.odds(&ESCAPE)).then(|| Box::new(Expr::text("\\")));
        let negated = self.odds(&NOT_LIKE);
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
        let applies = |pattern| pattern != Pattern::OneLetter || !letters.is_empty();
        match self.choose_or(&PATTERN, Pattern::Exact, applies) {
            Pattern::Prefix => letters.push(many),
            Pattern::Suffix => letters.insert(0, many),
            Pattern::OneLetter => {
                let at = self.rng.below(letters.len());
                letters[at] = one;
            }
            Pattern::Inside => {
                letters.insert(0, many);
                letters.push(many);
            }
            Pattern::Exact => {}
        }
        Expr::text(letters.into_iter().collect::<String>())
    }

    /// `(a, b) IN (SELECT c, d …)`.
    fn row_in_query(&mut self, depth: usize) -> Expr {
        let (first, second) = (self.left_operand(0), self.left_operand(0));
        let kinds = [first.kind, second.kind];
        let query = self.subquery_of(depth, |g, _| {
            let mut item = |kind| match g.own_column(kind) {
                Some(column) if column.kind == kind => column.expr,
                _ => g.constant(kind),
            };
            kinds.map(|kind| SelectItem::from(item(kind))).into()
        });
        let expr = Box::new(Expr::Row(vec![first.expr, second.expr]));
        Expr::InQuery { expr, query: Box::new(query), negated: self.odds(&NOT_IN_QUERY) }
    }

    pub(super) fn in_query(&mut self, depth: usize) -> Expr {
        let rows = self.dialect.can(Feature::RowValues) && self.dialect.can(Feature::CorrelatedIn);
        if rows && self.odds(&ROW_IN_QUERY) {
            return self.row_in_query(depth);
        }
        let Drawn { expr, kind, .. } = self.left_operand(depth);
        let query = if self.dialect.can(Feature::CorrelatedIn) {
            self.column_query(kind, depth)
        } else {
            self.isolated(|g| g.column_query(kind, depth))
        };
        Expr::InQuery { expr: Box::new(expr), query: Box::new(query), negated: self.odds(&NOT_IN_QUERY) }
    }

    pub(super) fn exists(&mut self, depth: usize) -> Expr {
        let query = self.column_query(Kind::Any, depth);
        Expr::Exists { query: Box::new(query), negated: self.odds(&NOT_EXISTS) }
    }

    fn row_comparison(&mut self, depth: usize) -> Expr {
        let width = self.rng.between(2, 3);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for _ in 0..width {
            let operand = self.left_operand(depth);
            right.push(match self.odds(&CONSTANT_IN_ROW) {
                true => self.constant_for(&operand),
                false => self.value_expr(operand.kind, depth),
            });
            left.push(operand.expr);
        }
        Expr::binary(self.comparison_op(), Expr::Row(left), Expr::Row(right))
    }

    fn connective(&mut self, depth: usize) -> Expr {
        if self.odds(&CHAIN)
            && let Some(chain) = self.chain()
        {
            return chain;
        }
        match self.choose(&CONNECTIVE) {
            Connective::And => Expr::binary(BinaryOp::And, self.predicate(depth), self.predicate(depth)),
            Connective::Or => Expr::binary(BinaryOp::Or, self.predicate(depth), self.predicate(depth)),
            Connective::Not => self.predicate(depth).negate(),
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
        let end = if self.odds(&CHAIN_ON_FIRST) { one } else { other };
        let constant = self.constant_for(&end);
        let op = if self.odds(&CHAIN_OF_EQUALITY) { BinaryOp::Eq } else { self.comparison_op() };
        let bound = Expr::binary(op, end.expr, constant);
        Some(if self.odds(&CHAIN_LINK_FIRST) { link.and(bound) } else { bound.and(link) })
    }
}
