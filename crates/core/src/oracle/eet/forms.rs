//! The forms of an expression: what it becomes, and where that keeps its meaning.

use crate::dialect::Feature;
use crate::oracle::edc::is_json;
use crate::oracle::kit::gate::looks_beyond_its_row;
use crate::oracle::kit::place::{Place, Use};
use crate::sql::visit::any_expr;
use crate::sql::*;

/// What an expression becomes.
pub struct Form {
    /// What a subject calls it.
    pub name: &'static str,
    /// What must hold, as a sentence without its full stop.
    pub relation: &'static str,
    /// It keeps the truth of an expression, not its value.
    pub of_truth: bool,
    /// It needs a second condition.
    pub needs_other: bool,
    /// The substitute, of the expression and the other condition.
    pub make: fn(&Expr, &Expr) -> Expr,
}

/// Every form.
pub const FORMS: &[Form] = &[
    Form {
        name: "case-truth",
        relation: "p is CASE WHEN p THEN TRUE WHEN NOT p THEN FALSE END",
        of_truth: true,
        needs_other: false,
        make: |p, _| {
            let truth = |when: Expr, truth| Branch { when, then: Expr::Literal(Value::Bool(truth)) };
            let branches = vec![truth(p.clone(), true), truth(p.clone().negate(), false)];
            Expr::Case { operand: None, branches, otherwise: None }
        },
    },
    Form {
        name: "double-not",
        relation: "p is NOT (NOT p)",
        of_truth: true,
        needs_other: false,
        make: |p, _| p.clone().negate().negate(),
    },
    Form {
        name: "true-and",
        relation: "p is (q OR NOT q OR q IS NULL) AND p",
        of_truth: true,
        needs_other: true,
        make: |p, q| always(q).and(p.clone()),
    },
    Form {
        name: "false-or",
        relation: "p is (q AND NOT q AND q IS NOT NULL) OR p",
        of_truth: true,
        needs_other: true,
        make: |p, q| either(never(q), p.clone()),
    },
    Form {
        name: "absorbed-or",
        relation: "p is p AND (p OR q)",
        of_truth: true,
        needs_other: true,
        make: |p, q| p.clone().and(either(p.clone(), q.clone())),
    },
    Form {
        name: "absorbed-and",
        relation: "p is p OR (p AND q)",
        of_truth: true,
        needs_other: true,
        make: |p, q| either(p.clone(), p.clone().and(q.clone())),
    },
    Form {
        name: "case-always",
        relation: "e is CASE WHEN q OR NOT q OR q IS NULL THEN e ELSE e END",
        of_truth: false,
        needs_other: true,
        make: |e, q| chosen(always(q), e),
    },
    Form {
        name: "case-never",
        relation: "e is CASE WHEN q AND NOT q AND q IS NOT NULL THEN e ELSE e END",
        of_truth: false,
        needs_other: true,
        make: |e, q| chosen(never(q), e),
    },
    Form {
        name: "case-either",
        relation: "e is CASE WHEN q THEN e ELSE e END",
        of_truth: false,
        needs_other: true,
        make: |e, q| chosen(q.clone(), e),
    },
    Form {
        name: "subquery",
        relation: "e is (SELECT e)",
        of_truth: false,
        needs_other: false,
        make: |e, _| {
            let select = Select { items: vec![e.clone().into()], ..Select::default() };
            Expr::Subquery(Box::new(Query::select(select)))
        },
    },
];

/// A form by its name.
pub fn by_name(name: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.name == name)
}

fn either(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Or, left, right)
}

/// TRUE, whatever q is.
fn always(q: &Expr) -> Expr {
    either(either(q.clone(), q.clone().negate()), q.clone().is(Truth::Null))
}

/// FALSE, whatever q is.
fn never(q: &Expr) -> Expr {
    q.clone().and(q.clone().negate()).and(q.clone().is_not(Truth::Null))
}

/// The same value by either way.
fn chosen(when: Expr, value: &Expr) -> Expr {
    let branches = vec![Branch { when, then: value.clone() }];
    Expr::Case { operand: None, branches, otherwise: Some(Box::new(value.clone())) }
}

impl Form {
    /// Whether an expression keeps its meaning in this form where it stands.
    pub fn fits(&self, expr: &Expr, other: Option<&Expr>, place: &Place) -> bool {
        if place.used == Use::Key || matches!(expr, Expr::Row(_) | Expr::Param(_) | Expr::Raw(_)) {
            return false;
        }
        if self.needs_other && !other.is_some_and(|other| is_in_scope(other, place)) {
            return false;
        }
        match self.of_truth {
            // A constant is a truth to some and a number to others.
            true => place.used == Use::Truth && !matches!(expr, Expr::Literal(_)),
            false if self.name == "subquery" => {
                keeps_its_value(expr, place) && !place.grouped && !looks_beyond_its_row(expr)
            }
            false => keeps_its_value(expr, place),
        }
    }
}

/// Whether the other condition can stand here: its relations are in scope, and nothing is grouped. With a column of an
/// enclosing query in it, an aggregate would be that query's.
fn is_in_scope(other: &Expr, place: &Place) -> bool {
    let is_known = |reference: &ColumnRef| {
        reference.table.is_some()
            && place.column(reference).is_some()
            && (!place.aggregated || place.is_own(reference))
    };
    let foreign = any_expr(other, |inner| matches!(inner, Expr::Column(reference) if !is_known(reference)));
    !place.grouped && !foreign
}

/// Whether a CASE or a scalar subquery around an expression compares, sorts and computes as it does.
fn keeps_its_value(expr: &Expr, place: &Place) -> bool {
    let dialect = place.dialect;
    let has = |test: fn(&Expr) -> bool| any_expr(expr, test);
    if place.used == Use::Truth || has(|inner| matches!(inner, Expr::Collate { .. })) {
        return false;
    }
    if dialect.can(Feature::DynamicTyping) {
        return match place.used {
            Use::Value => !has(is_json),
            _ => has_no_affinity(expr) && !has(is_json),
        };
    }
    let column = match expr {
        Expr::Column(reference) => place.column(reference),
        _ => None,
    };
    // Length, precision, character set and coercibility change under CASE.
    if dialect.can(Feature::FoldedText) {
        return column.is_some_and(|column| column.identity && column.ty.kind == Kind::Int);
    }
    // A literal takes the type that its context wants; so may what is made of literals alone.
    place.kind(expr) != Kind::Any && has(|inner| matches!(inner, Expr::Column(_)))
}

/// It compares as a CASE does: without an affinity and a collation of its own.
fn has_no_affinity(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) | Expr::Cast { .. } | Expr::Collate { .. } | Expr::Subquery(_) | Expr::Row(_) => {
            false
        }
        Expr::Unary { op: UnaryOp::Plus, expr } => has_no_affinity(expr),
        // Some pass the affinity of an argument on.
        Expr::Function { .. } | Expr::Operation { .. } => false,
        // What an aggregate or a window finds may be a column's.
        Expr::Aggregate(_) | Expr::Window(_) => false,
        _ => true,
    }
}
