//! Conditions: how a condition relates to its mutation on a row and on the row's partner.

use super::super::facts::Cell;
use super::super::mutate::{Local, Needs};
use super::super::relation::{Change, Shift};
use super::super::rules::{self, OPPOSITE, Rule, Stopped};
use super::{Outcome, Propagation};
use crate::sql::*;

impl Propagation<'_> {
    /// How a condition relates to its mutation.
    pub(super) fn predicate(&mut self, expr: &Expr) -> Outcome<Shift> {
        let shift = self.predicate_below(expr)?;
        match self.local(expr) {
            Some(Local::Predicate(local, needs)) => {
                self.require(needs, expr)?;
                shift.and(local).ok_or(OPPOSITE)
            }
            Some(_) => Err(Stopped("changed value used as a condition")),
            None => Ok(shift),
        }
    }

    pub(super) fn predicate_below(&mut self, expr: &Expr) -> Outcome<Shift> {
        match expr {
            Expr::Unary { op: UnaryOp::Not, expr } => {
                let shift = self.predicate(expr)?;
                self.apply(Rule::Not, shift, rules::not)
            }
            Expr::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
                let shift = self.predicate(left)?.and(self.predicate(right)?).ok_or(OPPOSITE)?;
                self.apply(if *op == BinaryOp::And { Rule::And } else { Rule::Or }, shift, Ok)
            }
            Expr::Binary { op, left, right } if op.is_comparison() => self.comparison(*op, left, right),
            Expr::Is { expr, test, negated } if *test != Truth::Null => {
                let shift = self.predicate(expr)?;
                let rule = if *test == Truth::True { Rule::IsTrue } else { Rule::IsFalse };
                self.apply(rule, shift, |shift| rules::is(shift, *test, *negated))
            }
            Expr::Between { expr, low, high, negated } => {
                let value = self.value(expr)?;
                let (low, high) = (self.value(low)?, self.value(high)?);
                if !value.change.is_none() {
                    return Err(Stopped("BETWEEN of a changed value"));
                }
                if low.change.is_none() && high.change.is_none() {
                    return Ok(Shift::None);
                }
                self.numbers(&[value, low, high])?;
                let above = rules::comparison(BinaryOp::Ge, value.change, low.change)?;
                let below = rules::comparison(BinaryOp::Le, value.change, high.change)?;
                let shift = above.and(below).ok_or(OPPOSITE)?;
                let shift = if *negated { rules::not(shift)? } else { shift };
                self.apply(Rule::Between, shift, Ok)
            }
            Expr::Exists { query, negated } => {
                let rows = self.query(query)?;
                let shift = rules::quantifier(rows.span, *negated);
                self.apply(Rule::Exists, shift, Ok)
            }
            Expr::InQuery { expr, query, negated } => {
                let value = self.value(expr)?;
                let rows = self.query(query)?;
                if !value.change.is_none() || rows.changes_values() {
                    return Err(Stopped("IN of a changed value"));
                }
                self.apply(Rule::In, rules::quantifier(rows.span, *negated), Ok)
            }
            Expr::Quantified { op, left, all, query } => self.quantified(*op, left, *all, query),
            Expr::InList { expr, list, .. } => {
                self.unchanged(expr, "IN of a changed value")?;
                for item in list {
                    self.unchanged(item, "IN of a changed value")?;
                }
                Ok(Shift::None)
            }
            Expr::Match { expr, pattern, .. } => {
                self.unchanged(expr, "pattern match of a changed value")?;
                self.unchanged(pattern, "pattern match of a changed value")?;
                Ok(Shift::None)
            }
            other => {
                let cell = self.value_below(other)?;
                if cell.change.is_none() {
                    Ok(Shift::None)
                } else {
                    Err(Stopped("changed value used as a condition"))
                }
            }
        }
    }

    /// Counts a rule that has something to say.
    pub(super) fn apply(
        &mut self,
        rule: Rule,
        shift: Shift,
        transfer: impl FnOnce(Shift) -> Outcome<Shift>,
    ) -> Outcome<Shift> {
        if shift == Shift::None {
            return Ok(Shift::None);
        }
        let shift = transfer(shift)?;
        self.used.push(rule);
        Ok(shift)
    }

    pub(super) fn comparison(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Outcome<Shift> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        let shift = rules::comparison(op, left.change, right.change)?;
        if shift == Shift::None {
            return Ok(shift);
        }
        self.numbers(&[left, right])?;
        let strong = matches!(shift, Shift::Strong(_));
        self.apply(if strong { Rule::Comparison } else { Rule::NullableComparison }, shift, Ok)
    }

    /// ANY and ALL: by the rows to compare with, or by what is compared with them.
    pub(super) fn quantified(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        all: bool,
        query: &Query,
    ) -> Outcome<Shift> {
        let left = self.value(left)?;
        let rows = self.query(query)?;
        if rows.changes_values() {
            return Err(Stopped("ANY or ALL of changed values"));
        }
        let by_value = rules::comparison(op, left.change, Change::NONE)?;
        if by_value != Shift::None {
            let numbers: Vec<Cell> = rows.columns.iter().map(|(_, cell)| *cell).chain([left]).collect();
            self.numbers(&numbers)?;
            if !matches!(by_value, Shift::Strong(_)) {
                return Err(Stopped("ANY or ALL of a value that may be NULL"));
            }
        }
        let shift = by_value.and(rules::quantifier(rows.span, all)).ok_or(OPPOSITE)?;
        self.apply(if all { Rule::All } else { Rule::Any }, shift, Ok)
    }

    pub(super) fn numbers(&self, cells: &[Cell]) -> Outcome<()> {
        match cells.iter().all(Cell::is_number) {
            true => Ok(()),
            false => Err(Stopped("changed value compared with a non-number")),
        }
    }

    /// What a mutated predicate asks of its operands.
    pub(super) fn require(&mut self, needs: Needs, expr: &Expr) -> Outcome<()> {
        let operands: Vec<&Expr> = match expr {
            _ if needs == Needs::Nothing => return Ok(()),
            Expr::Binary { left, right, .. } => vec![left, right],
            Expr::Between { expr, low, high, .. } => vec![expr, low, high],
            _ => Vec::new(),
        };
        let mut cells = Vec::new();
        for operand in operands {
            cells.push(self.value(operand)?);
        }
        if needs == Needs::Numbers {
            return self.numbers(&cells);
        }
        // Where types are dynamic, one order over all values serves every comparison.
        let kinds: Vec<Kind> = cells.iter().map(|cell| cell.known.kind).collect();
        let alike = |kind: &Kind| *kind == kinds[0] || (kind.is_numeric() && kinds[0].is_numeric());
        if self.is_dynamic() || kinds.is_empty() || (kinds[0] != Kind::Any && kinds.iter().all(alike)) {
            Ok(())
        } else {
            Err(Stopped("comparison of different kinds"))
        }
    }
}

pub(super) fn is_connective(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or)
}

pub(super) fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::Unary { op: UnaryOp::Not, .. }
        | Expr::Is { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::InQuery { .. }
        | Expr::Exists { .. }
        | Expr::Quantified { .. }
        | Expr::Match { .. } => true,
        Expr::Binary { op, .. } => op.is_comparison() || is_connective(*op),
        _ => false,
    }
}
