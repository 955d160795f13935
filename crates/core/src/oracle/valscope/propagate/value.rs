//! Values: how a value relates to its mutation, and what is known about both.

use super::super::facts::{ANY_WHOLE, Cell, Known};
use super::super::mutate::{Local, Needs};
use super::super::relation::{Change, Direction, Shift, Span};
use super::super::rules::{self, OPPOSITE, Rule, Stopped};
use super::predicate::{is_condition, is_connective};
use super::{Outcome, Propagation};
use crate::sql::*;

/// The operands of a product, where they are constants.
type Factors = (Option<i64>, Option<i64>);

impl Propagation<'_> {
    /// An expression that must not change.
    pub(super) fn unchanged(&mut self, expr: &Expr, otherwise: &'static str) -> Outcome<Cell> {
        let cell = self.value(expr)?;
        if cell.change.is_none() { Ok(cell) } else { Err(Stopped(otherwise)) }
    }

    /// How a value relates to its mutation.
    pub(super) fn value(&mut self, expr: &Expr) -> Outcome<Cell> {
        let cell = self.value_below(expr)?;
        let (change, needs) = match self.local(expr) {
            None => return Ok(cell),
            Some(Local::Value(change, needs)) => (change, needs),
            Some(Local::Predicate(..)) => return Err(Stopped("changed condition used as a value")),
            Some(Local::Rows(_)) => return Err(Stopped("rows used as a value")),
        };
        let change = cell.change.and(change).ok_or(OPPOSITE)?;
        let mut known = cell.known;
        match needs {
            Needs::Nothing => {}
            Needs::Numbers | Needs::OneKind if !cell.is_number() => {
                return Err(Stopped("aggregate of non-numbers"));
            }
            Needs::Numbers | Needs::OneKind => {}
            Needs::Small(_) if !cell.is_small() => {
                return Err(Stopped("arithmetic that may overflow or round"));
            }
            Needs::Small(by) => {
                if let Some((low, high)) = known.whole.as_mut() {
                    (*low, *high) = (low.saturating_sub(by.into()), high.saturating_add(by.into()));
                }
                // Which way is known: a value that only grows does not become negative.
                if change.toward == Some(Direction::Up)
                    && let Some((low, _)) = known.whole.as_mut()
                {
                    *low = low.saturating_add(by.into());
                }
            }
            Needs::Average => {
                let Expr::Aggregate(aggregate) = expr else { return Err(Stopped("not an aggregate")) };
                for arg in &aggregate.args {
                    if !self.in_rows(|walk| walk.value(arg))?.is_small() {
                        return Err(Stopped("average that may overflow or round"));
                    }
                }
                known = Known { rounded: true, ..Known::of_kind(Kind::Real) };
            }
        }
        Ok(Cell { change, known })
    }

    pub(super) fn value_below(&mut self, expr: &Expr) -> Outcome<Cell> {
        if let Some(cell) = self.key(expr) {
            return Ok(cell);
        }
        match expr {
            Expr::Literal(value) => Ok(Cell::same(self.facts.literal(value))),
            Expr::Column(reference) => self.column(reference),
            Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            Expr::Unary { op: op @ (UnaryOp::Minus | UnaryOp::Plus), expr } => {
                let cell = self.value(expr)?;
                if !cell.change.is_none() {
                    self.numbers(&[cell])?;
                    self.used.push(Rule::Sign);
                }
                if *op == UnaryOp::Plus {
                    return Ok(cell);
                }
                let known = Known {
                    whole: cell.known.whole.map(|(a, b)| (b.saturating_neg(), a.saturating_neg())),
                    ..cell.known
                };
                Ok(Cell { change: cell.change.negated(), known })
            }
            Expr::Binary { op, left, right } if !op.is_comparison() && !is_connective(*op) => {
                let factors = (constant(left), constant(right));
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.arithmetic(*op, left, right, factors)
            }
            Expr::Cast { expr, ty } => {
                self.unchanged(expr, "CAST of a changed value")?;
                Ok(Cell::same(match ty.kind {
                    Kind::Int => Known::whole(ANY_WHOLE),
                    kind => Known::of_kind(kind),
                }))
            }
            Expr::Subquery(query) => {
                let rows = self.query(query)?;
                let one_row = query.as_select().is_some_and(|select| {
                    select.group_by.is_empty() && select.having.is_none() && query.limit.is_none()
                });
                let [(_, cell)] = rows.columns.as_slice() else {
                    return Err(Stopped("subquery of several columns"));
                };
                if rows.is_changed() {
                    if !one_row || rows.span != Span::Bijective {
                        return Err(Stopped("scalar subquery without an aggregate"));
                    }
                    self.used.push(Rule::Scalar);
                }
                Ok(*cell)
            }
            Expr::Function { name, args } => {
                for arg in args {
                    self.unchanged(arg, "function of a changed value")?;
                }
                Ok(Cell::same(self.facts.function(name, args.len())))
            }
            Expr::Operation { args, .. } => {
                for arg in args {
                    self.unchanged(arg, "function of a changed value")?;
                }
                Ok(Cell::same(Known::NOTHING))
            }
            Expr::Collate { expr, .. } => {
                self.unchanged(expr, "COLLATE of a changed value")?;
                Ok(Cell::same(Known::NOTHING))
            }
            Expr::Case { operand, branches, otherwise } => {
                const CASE: &str = "CASE over a changed value";
                if let Some(operand) = operand {
                    self.unchanged(operand, CASE)?;
                }
                for branch in branches {
                    let compared = operand.is_some();
                    let shift = if compared { Shift::None } else { self.predicate(&branch.when)? };
                    if compared {
                        self.unchanged(&branch.when, CASE)?;
                    }
                    if shift != Shift::None {
                        return Err(Stopped(CASE));
                    }
                    self.unchanged(&branch.then, CASE)?;
                }
                if let Some(otherwise) = otherwise {
                    self.unchanged(otherwise, CASE)?;
                }
                Ok(Cell::same(Known::NOTHING))
            }
            Expr::Row(items) => {
                for item in items {
                    self.unchanged(item, "row with a changed value")?;
                }
                Ok(Cell::same(Known::NOTHING))
            }
            Expr::Unary { op: UnaryOp::BitNot, expr } => {
                self.unchanged(expr, "bit operation on a changed value")?;
                Ok(Cell::same(Known::NOTHING))
            }
            Expr::Is { expr, test: Truth::Null, .. } => {
                // A condition may stand here as well as a value.
                let changed = match is_condition(expr) {
                    true => self.predicate(expr)? != Shift::None,
                    false => !self.value(expr)?.change.is_none(),
                };
                if changed {
                    Err(Stopped("IS NULL of a changed operand"))
                } else {
                    Ok(Cell::same(Known::of_kind(Kind::Bool)))
                }
            }
            condition if is_condition(condition) => match self.predicate_below(condition)? {
                Shift::None => Ok(Cell::same(Known::of_kind(Kind::Bool))),
                _ => Err(Stopped("changed condition used as a value")),
            },
            Expr::Window(_) => Err(Stopped("window")),
            _ => Err(Stopped("SQL that Dissent cannot parse")),
        }
    }

    pub(super) fn arithmetic(
        &mut self,
        op: BinaryOp,
        left: Cell,
        right: Cell,
        factors: Factors,
    ) -> Outcome<Cell> {
        let known = self.facts.computed(op, left.known, right.known);
        if left.change.is_none() && right.change.is_none() {
            return Ok(Cell { change: Change::NONE, known });
        }
        if !left.is_small() || !right.is_small() {
            return Err(Stopped("arithmetic that may overflow or round"));
        }
        let change = match op {
            BinaryOp::Add => left.change.and(right.change),
            BinaryOp::Sub => left.change.and(right.change.negated()),
            // A mutated constant does not count as one.
            BinaryOp::Mul => match factors {
                (_, Some(factor)) if right.change.is_none() => Some(rules::times(left.change, factor)),
                (Some(factor), _) if left.change.is_none() => Some(rules::times(right.change, factor)),
                _ => return Err(Stopped("changed value multiplied by a non-constant")),
            },
            _ => return Err(Stopped("function of a changed value")),
        };
        self.used.push(if op == BinaryOp::Mul { Rule::Multiplication } else { Rule::Addition });
        Ok(Cell { change: change.ok_or(OPPOSITE)?, known })
    }
}

fn constant(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(Value::Int(int)) => Some(*int),
        _ => None,
    }
}
