//! Replaces an expression by one of its parts, a column in it, or a constant; shortens lists.

use super::sites::{change_expr, children, each_expr, replace_in_tests};
use super::{Edit, Pass};
use crate::sql::visit::any_expr;
use crate::sql::*;
use crate::subject::TestCase;

/// One expression at a time.
pub struct Expressions;

impl Pass for Expressions {
    fn name(&self) -> &'static str {
        "expressions"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut edits = Vec::new();
        each_expr(case, |at, expr| {
            for simpler in simpler(expr) {
                edits.push(Edit::new(move |case| {
                    change_expr(case, at, |expr| {
                        *expr = simpler.clone();
                        true
                    })
                }));
            }
        });
        edits
    }
}

/// Every occurrence of an expression under test at once: a key and the item that selects it, or a
/// predicate and its copy in an index, only make sense together.
pub struct Together;

impl Pass for Together {
    fn name(&self) -> &'static str {
        "together"
    }

    fn candidates(&self, case: &TestCase) -> Vec<Edit> {
        let mut met: Vec<(Expr, bool)> = Vec::new();
        each_expr(case, |_, expr| {
            if matches!(expr, Expr::Literal(_) | Expr::Bound(_)) {
                return;
            }
            match met.iter_mut().find(|(known, _)| known == expr) {
                Some((_, again)) => *again = true,
                None => met.push((expr.clone(), false)),
            }
        });
        let mut edits = Vec::new();
        for (expr, _) in met.into_iter().filter(|(_, again)| *again) {
            for simpler in simpler(&expr) {
                let expr = expr.clone();
                edits.push(Edit::new(move |case| {
                    replace_in_tests(case, |other| (*other == expr).then(|| simpler.clone()))
                }));
            }
        }
        edits
    }
}

/// What could stand in the place of an expression, the biggest saving first.
fn simpler(expr: &Expr) -> Vec<Expr> {
    // Constants have a pass of their own.
    if matches!(expr, Expr::Literal(_) | Expr::Bound(_) | Expr::Param(_) | Expr::Raw(_)) {
        return Vec::new();
    }
    let mut options = vec![Expr::int(1), Expr::int(0), Expr::null()];
    if !matches!(expr, Expr::Column(_)) {
        options.push(Expr::text(""));
        options.extend(columns_in(expr, 3));
        let children = children(expr);
        options.extend(children.iter().filter(|child| !matches!(child, Expr::Literal(_))).cloned());
        options.extend(shorter(expr));
        // A level further down: what is wrapped twice.
        for child in &children {
            options.extend(sub_children(child).into_iter().filter(|expr| !matches!(expr, Expr::Literal(_))));
        }
    }
    let mut distinct: Vec<Expr> = Vec::with_capacity(options.len());
    for option in options {
        if !distinct.contains(&option) {
            distinct.push(option);
        }
    }
    distinct
}

fn sub_children(expr: &Expr) -> Vec<Expr> {
    if matches!(expr, Expr::Column(_) | Expr::Literal(_) | Expr::Bound(_)) {
        Vec::new()
    } else {
        children(expr)
    }
}

/// The first few columns that an expression reads.
fn columns_in(expr: &Expr, most: usize) -> Vec<Expr> {
    let mut columns: Vec<Expr> = Vec::new();
    any_expr(expr, |inner| {
        if matches!(inner, Expr::Column(_)) && !columns.contains(inner) {
            columns.push(inner.clone());
        }
        columns.len() >= most
    });
    columns
}

/// The same operation with less to it.
fn shorter(expr: &Expr) -> Vec<Expr> {
    let mut options = Vec::new();
    let mut push = |change: &mut dyn FnMut(&mut Expr) -> bool| {
        let mut changed = expr.clone();
        if change(&mut changed) {
            options.push(changed);
        }
    };
    match expr {
        Expr::InList { list, negated, .. } => {
            for at in 0..list.len() {
                push(&mut |expr| match expr {
                    Expr::InList { list, .. } if list.len() > 1 => {
                        list.remove(at);
                        true
                    }
                    _ => false,
                });
            }
            if *negated {
                push(&mut positive);
            }
        }
        Expr::Case { branches, .. } => {
            for at in 0..branches.len() {
                push(&mut |expr| match expr {
                    Expr::Case { branches, .. } if branches.len() > 1 => {
                        branches.remove(at);
                        true
                    }
                    _ => false,
                });
            }
            push(&mut |expr| match expr {
                Expr::Case { otherwise, .. } => otherwise.take().is_some(),
                _ => false,
            });
            push(&mut |expr| match expr {
                Expr::Case { operand, .. } => operand.take().is_some(),
                _ => false,
            });
        }
        Expr::Function { args, .. } => {
            for at in (0..args.len()).rev() {
                push(&mut |expr| match expr {
                    Expr::Function { args, .. } => {
                        args.remove(at);
                        true
                    }
                    _ => false,
                });
            }
        }
        Expr::Binary { left, right, .. } => {
            if let (Expr::Row(left), Expr::Row(right)) = (&**left, &**right)
                && left.len() == right.len()
            {
                (0..left.len()).for_each(|at| push(&mut |expr| shorter_rows(expr, at)));
            }
        }
        Expr::Between { expr: inner, low, high, .. } => {
            options.push(Expr::binary(BinaryOp::Ge, (**inner).clone(), (**low).clone()));
            options.push(Expr::binary(BinaryOp::Le, (**inner).clone(), (**high).clone()));
        }
        Expr::Match { escape: Some(_), .. } => push(&mut |expr| match expr {
            Expr::Match { escape, .. } => escape.take().is_some(),
            _ => false,
        }),
        Expr::Aggregate(_) => push(&mut |expr| match expr {
            Expr::Aggregate(aggregate) => {
                std::mem::take(&mut aggregate.distinct)
                    | aggregate.filter.take().is_some()
                    | !std::mem::take(&mut aggregate.order_by).is_empty()
            }
            _ => false,
        }),
        _ => push(&mut positive),
    }
    if let Expr::InQuery { expr, .. } = expr {
        options.push(Expr::InList { expr: expr.clone(), list: vec![Expr::int(1)], negated: false });
    }
    options
}

/// One place less on both sides of a comparison of row values.
fn shorter_rows(expr: &mut Expr, at: usize) -> bool {
    let Expr::Binary { left, right, .. } = expr else { return false };
    for side in [left, right] {
        let Expr::Row(row) = &mut **side else { return false };
        row.remove(at);
        if let [only] = row.as_slice() {
            **side = only.clone();
        }
    }
    true
}

/// Without its NOT.
fn positive(expr: &mut Expr) -> bool {
    match expr {
        Expr::InList { negated, .. }
        | Expr::InQuery { negated, .. }
        | Expr::Is { negated, .. }
        | Expr::Between { negated, .. }
        | Expr::Exists { negated, .. }
        | Expr::Match { negated, .. } => std::mem::take(negated),
        _ => false,
    }
}
