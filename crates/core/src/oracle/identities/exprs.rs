//! Identities of expressions: each function gives the other form of an expression, if it has one where it stands.

use crate::dialect::{Dialect, Feature};
use crate::oracle::kit::gate::{has_aggregate, looks_beyond_its_row};
use crate::oracle::kit::given::selects_rows;
use crate::oracle::kit::place::{Place, collated_operand, is_collated};
use crate::sql::visit::any_expr;
use crate::sql::*;

use super::queries::{names_of, qualifiers};

/// `x BETWEEN a AND b` by two comparisons.
pub fn between(expr: &Expr, place: &Place) -> Option<Expr> {
    let Expr::Between { expr, low, high, negated } = expr else { return None };
    // SQLite documents that BETWEEN is two comparisons, each with an affinity and a collation of its own.
    if !place.dialect.can(Feature::DynamicTyping) && !one_type(place, &[expr, low, high]) {
        return None;
    }
    let compared = |op, bound: &Expr| Expr::binary(op, (**expr).clone(), bound.clone());
    Some(match negated {
        false => compared(BinaryOp::Ge, low).and(compared(BinaryOp::Le, high)),
        true => Expr::binary(BinaryOp::Or, compared(BinaryOp::Lt, low), compared(BinaryOp::Gt, high)),
    })
}

/// `x IN (a, b)` by `x = a OR x = b`.
pub fn in_list(expr: &Expr, place: &Place) -> Option<Expr> {
    let Expr::InList { expr, list, negated } = expr else { return None };
    if list.is_empty() || is_row(expr) || list.iter().any(is_row) {
        return None;
    }
    let dynamic = place.dialect.can(Feature::DynamicTyping);
    let all: Vec<&Expr> = list.iter().chain([&**expr]).collect();
    if !dynamic && !one_type(place, &all) {
        return None;
    }
    // Nothing hides an explicit collation from a comparison.
    if dynamic && list.iter().any(mentions_collation) {
        return None;
    }
    // SQLite documents that what is listed has no affinity, and that only the left side has a collation.
    let listed = |item: &Expr| if dynamic { neutral(item) } else { item.clone() };
    let (op, join) = match negated {
        false => (BinaryOp::Eq, BinaryOp::Or),
        true => (BinaryOp::Ne, BinaryOp::And),
    };
    let compared = list.iter().map(|item| Expr::binary(op, (**expr).clone(), listed(item)));
    compared.reduce(|left, right| Expr::binary(join, left, right))
}

/// `CASE x WHEN a THEN …` by `CASE WHEN x = a THEN …`.
pub fn simple_case(expr: &Expr, place: &Place) -> Option<Expr> {
    let Expr::Case { operand: Some(operand), branches, otherwise } = expr else { return None };
    let compared: Vec<&Expr> = branches.iter().map(|branch| &branch.when).chain([&**operand]).collect();
    if !place.dialect.can(Feature::DynamicTyping) && !one_type(place, &compared) {
        return None;
    }
    let searched = |branch: &Branch| Branch {
        when: Expr::binary(BinaryOp::Eq, (**operand).clone(), branch.when.clone()),
        then: branch.then.clone(),
    };
    let branches = branches.iter().map(searched).collect();
    Some(Expr::Case { operand: None, branches, otherwise: otherwise.clone() })
}

/// `COALESCE(a, b)` by CASE.
pub fn coalesce(expr: &Expr, place: &Place) -> Option<Expr> {
    let args = call(expr, &["COALESCE", "IFNULL"])?;
    let (last, first) = args.split_last()?;
    // A NULL literal as the only other value would decide the type.
    let all: Vec<&Expr> = args.iter().collect();
    let dynamic = place.dialect.can(Feature::DynamicTyping);
    if first.is_empty() || mentions_collation(expr) || (!dynamic && !one_type(place, &all)) {
        return None;
    }
    let branch = |arg: &Expr| Branch { when: arg.clone().is_not(Truth::Null), then: arg.clone() };
    let branches = first.iter().map(branch).collect();
    Some(Expr::Case { operand: None, branches, otherwise: Some(Box::new(last.clone())) })
}

/// `NULLIF(a, b)` by CASE.
pub fn nullif(expr: &Expr, place: &Place) -> Option<Expr> {
    let [a, b] = call(expr, &["NULLIF"])? else { return None };
    // NULLIF applies no affinity, an equality does.
    if !one_type(place, &[a, b]) || is_null(a) {
        return None;
    }
    let equal = Expr::binary(BinaryOp::Eq, a.clone(), b.clone());
    let branches = vec![Branch { when: equal, then: Expr::null() }];
    Some(Expr::Case { operand: None, branches, otherwise: Some(Box::new(a.clone())) })
}

/// `(a, b) < (c, d)` by `a < c OR (a = c AND b < d)`.
pub fn row_comparison(expr: &Expr, place: &Place) -> Option<Expr> {
    let Expr::Binary { op, left, right } = expr else { return None };
    let (Expr::Row(left), Expr::Row(right)) = (&**left, &**right) else { return None };
    // Elsewhere a row of values is a value of its own, in which NULL is equal to NULL.
    if !place.dialect.can(Feature::LooseOperands) || left.len() != right.len() || left.len() < 2 {
        return None;
    }
    let pairs: Vec<(&Expr, &Expr)> = std::iter::zip(left, right).collect();
    if pairs.iter().any(|(a, b)| is_row(a) || is_row(b)) {
        return None;
    }
    let by = |op: BinaryOp| pairs.iter().map(move |(a, b)| Expr::binary(op, (*a).clone(), (*b).clone()));
    match op {
        BinaryOp::Eq | BinaryOp::Same => by(*op).reduce(Expr::and),
        BinaryOp::Ne | BinaryOp::NotSame => by(*op).reduce(either),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            let strict = match op {
                BinaryOp::Lt | BinaryOp::Le => BinaryOp::Lt,
                _ => BinaryOp::Gt,
            };
            let mut comparisons: Vec<Expr> = by(strict).collect();
            let (a, b) = pairs.last()?;
            let last = comparisons.last_mut()?;
            *last = Expr::binary(*op, (*a).clone(), (*b).clone());
            let equalities: Vec<Expr> = by(BinaryOp::Eq).collect();
            let mut all = comparisons.into_iter().rev();
            let mut whole = all.next()?;
            for (comparison, equality) in all.zip(equalities.into_iter().rev().skip(1)) {
                whole = either(comparison, equality.and(whole));
            }
            Some(whole)
        }
        _ => None,
    }
}

/// `EXISTS (SELECT … )` by `0 < (SELECT COUNT(*) …)`.
pub fn exists(expr: &Expr, _: &Place) -> Option<Expr> {
    let Expr::Exists { query, negated } = expr else { return None };
    let select = rows_of(query)?;
    let counted = Select { items: vec![Expr::count_rows().into()], ..select.clone() };
    let count = Expr::Subquery(Box::new(Query { with: query.with.clone(), ..Query::select(counted) }));
    let op = if *negated { BinaryOp::Eq } else { BinaryOp::Lt };
    Some(Expr::binary(op, Expr::int(0), count))
}

/// `x IN (SELECT y …)` by two EXISTS: whether some y equals x, and whether that is not known of some y.
pub fn in_query(expr: &Expr, place: &Place) -> Option<Expr> {
    let Expr::InQuery { expr: left, query, negated } = expr else { return None };
    let found = some_of(left, BinaryOp::Eq, query, place)?;
    Some(if *negated { found.negate() } else { found })
}

/// `x < ANY (SELECT y …)` in the same way, and ALL as its negation.
pub fn quantified(expr: &Expr, place: &Place) -> Option<Expr> {
    let Expr::Quantified { op, left, all, query } = expr else { return None };
    match all {
        false => some_of(left, *op, query, place),
        // For all y: for no y the opposite.
        true => Some(some_of(left, opposite(*op)?, query, place)?.negate()),
    }
}

/// TRUE if the comparison is TRUE of some row, else NULL if it is NULL of some, else FALSE.
fn some_of(left: &Expr, op: BinaryOp, query: &Query, place: &Place) -> Option<Expr> {
    let select = rows_of(query)?;
    let [SelectItem::Expr { expr: item, .. }] = &select.items[..] else { return None };
    let own = names_of(&select.from);
    // No name of the left side may mean something else inside the subquery.
    let foreign = qualifiers(left)?;
    if is_row(left) || is_row(item) || foreign.iter().any(|name| own.contains(name)) {
        return None;
    }
    let has_subquery = any_expr(left, |inner| matches!(inner, Expr::Subquery(_) | Expr::Exists { .. }));
    if has_subquery || looks_beyond_its_row(left) {
        return None;
    }
    match place.dialect.can(Feature::DynamicTyping) {
        // A column has an affinity and a collation, which count in either form unless the query says COLLATE: then that
        // counts in both.
        true if !matches!(left, Expr::Column(_)) => return None,
        true => {}
        false => {
            let mut relations = place.relations.to_vec();
            let mut scope = Vec::new();
            for table in &select.from {
                place.state.relations_of(table, query.with.as_ref(), place.dialect, &mut scope);
            }
            relations
                .extend(scope.into_iter().map(|(alias, columns)| crate::state::Relation { alias, columns }));
            let inside = Place { relations: &relations, ..*place };
            if !one_type(&inside, &[left, item]) {
                return None;
            }
        }
    }
    let compared = Expr::binary(op, left.clone(), item.clone());
    let any = |test: Expr| {
        let filter = match &select.filter {
            Some(filter) => filter.clone().and(test),
            None => test,
        };
        let asked = Select { items: vec![Expr::int(1).into()], filter: Some(filter), ..select.clone() };
        let query = Query { with: query.with.clone(), ..Query::select(asked) };
        Expr::Exists { query: Box::new(query), negated: false }
    };
    let truth = |truth| Expr::Literal(Value::Bool(truth));
    Some(Expr::Case {
        operand: None,
        branches: vec![
            Branch { when: any(compared.clone()), then: truth(true) },
            Branch { when: any(compared.is(Truth::Null)), then: Expr::null() },
        ],
        otherwise: Some(Box::new(truth(false))),
    })
}

/// A comparison by the negation of its opposite.
pub fn negated_comparison(expr: &Expr, place: &Place) -> Option<Expr> {
    let Expr::Binary { op, left, right } = expr else { return None };
    if is_row(left) || is_row(right) {
        return None;
    }
    // Where NaN is neither less nor greater nor equal, the opposite is not the negation.
    if !place.dialect.can(Feature::LooseOperands) && !one_type(place, &[left, right]) {
        return None;
    }
    Some(Expr::binary(opposite(*op)?, (**left).clone(), (**right).clone()).negate())
}

/// `a < b` by `b > a`.
pub fn flipped(expr: &Expr, place: &Place) -> Option<Expr> {
    let Expr::Binary { op, left, right } = expr else { return None };
    let op = match op {
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Same | BinaryOp::NotSame => *op,
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        _ => return None,
    };
    if is_row(left) || is_row(right) || mentions_collation(expr) || is_truth(left) || is_truth(right) {
        return None;
    }
    // The left side's collation outranks the right one's.
    if place.dialect.can(Feature::DynamicTyping) {
        let (left, right) = (collation(left, place)?, collation(right, place)?);
        if matches!((left, right), (Some(left), Some(right)) if !left.eq_ignore_ascii_case(&right)) {
            return None;
        }
    }
    Some(Expr::binary(op, (**right).clone(), (**left).clone()))
}

/// `a IS NOT DISTINCT FROM b` by CASE.
pub fn sameness(expr: &Expr, _: &Place) -> Option<Expr> {
    let Expr::Binary { op: op @ (BinaryOp::Same | BinaryOp::NotSame), left, right } = expr else {
        return None;
    };
    let literal = |side: &Expr| matches!(side, Expr::Literal(Value::Null | Value::Bool(_)));
    if is_row(left) || is_row(right) || literal(left) || literal(right) {
        return None;
    }
    let (left, right) = (&**left, &**right);
    let same = Expr::Case {
        operand: None,
        branches: vec![
            Branch { when: left.clone().is(Truth::Null), then: right.clone().is(Truth::Null) },
            Branch { when: right.clone().is(Truth::Null), then: Expr::Literal(Value::Bool(false)) },
        ],
        otherwise: Some(Box::new(Expr::binary(BinaryOp::Eq, left.clone(), right.clone()))),
    };
    Some(if *op == BinaryOp::Same { same } else { same.negate() })
}

/// `p AND q` by `NOT (NOT p OR NOT q)`, and OR likewise.
pub fn de_morgan(expr: &Expr, _: &Place) -> Option<Expr> {
    let Expr::Binary { op, left, right } = expr else { return None };
    let other = match op {
        BinaryOp::And => BinaryOp::Or,
        BinaryOp::Or => BinaryOp::And,
        _ => return None,
    };
    Some(Expr::binary(other, (**left).clone().negate(), (**right).clone().negate()).negate())
}

/// `SUM(x) FILTER (WHERE p)` by `SUM(CASE WHEN p THEN x END)`.
pub fn aggregate_filter(expr: &Expr, place: &Place) -> Option<Expr> {
    let Expr::Aggregate(aggregate) = expr else { return None };
    let filter = aggregate.filter.as_ref()?;
    let is = |names: &[&str]| names.iter().any(|name| aggregate.name.eq_ignore_ascii_case(name));
    // Others see NULLs.
    if !is(&["COUNT", "SUM", "MIN", "MAX", "AVG"]) || !aggregate.order_by.is_empty() {
        return None;
    }
    let arg = match &aggregate.args[..] {
        [] => Expr::int(1),
        [arg] => arg.clone(),
        _ => return None,
    };
    // What is compared must keep its collation.
    let compares = aggregate.distinct || is(&["MIN", "MAX"]);
    let plain =
        |place: &Place| matches!(collation(&arg, place), Some(None)) || has_plain_collation(&arg, place);
    if compares && place.dialect.can(Feature::DynamicTyping) && !plain(place) {
        return None;
    }
    let branches = vec![Branch { when: filter.clone(), then: arg }];
    let args = vec![Expr::Case { operand: None, branches, otherwise: None }];
    Some(Expr::Aggregate(Box::new(Aggregate { args, filter: None, ..(**aggregate).clone() })))
}

/// `COUNT(x)` by `COALESCE(SUM(CASE WHEN x IS NOT NULL THEN 1 ELSE 0 END), 0)`.
pub fn count(expr: &Expr) -> Option<Expr> {
    let Expr::Aggregate(aggregate) = expr else { return None };
    if !aggregate.name.eq_ignore_ascii_case("COUNT") || aggregate.distinct {
        return None;
    }
    let one = match &aggregate.args[..] {
        [] => Expr::int(1),
        [arg] => {
            let branches = vec![Branch { when: arg.clone().is_not(Truth::Null), then: Expr::int(1) }];
            Expr::Case { operand: None, branches, otherwise: Some(Box::new(Expr::int(0))) }
        }
        _ => return None,
    };
    let sum = Aggregate { name: "SUM".into(), args: vec![one], ..(**aggregate).clone() };
    Some(Expr::function("coalesce", vec![Expr::Aggregate(Box::new(sum)), Expr::int(0)]))
}

/// A query of rows: one SELECT that groups, cuts off and deduplicates nothing. Under EXISTS a DISTINCT means nothing.
fn rows_of(query: &Query) -> Option<&Select> {
    let plain = query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none();
    let select = query.as_select().filter(|_| plain)?;
    (selects_rows(&Select { distinct: false, ..select.clone() }) && !select.distinct).then_some(select)
}

fn call<'e>(expr: &'e Expr, names: &[&str]) -> Option<&'e [Expr]> {
    match expr {
        Expr::Function { name, args } if names.iter().any(|known| name.eq_ignore_ascii_case(known)) => {
            Some(args)
        }
        _ => None,
    }
}

fn either(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Or, left, right)
}

fn is_row(expr: &Expr) -> bool {
    matches!(expr, Expr::Row(_))
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Value::Null))
}

/// `x IS TRUE` asks for truth, `TRUE IS x` does not.
fn is_truth(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Value::Bool(_)))
}

fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Gt,
        _ => return None,
    })
}

/// An expression without affinity and collation, where a column has both.
pub fn neutral(expr: &Expr) -> Expr {
    match expr {
        Expr::Literal(_) => expr.clone(),
        other => Expr::Case {
            operand: None,
            branches: vec![Branch { when: Expr::int(1), then: other.clone() }],
            otherwise: None,
        },
    }
}

fn mentions_collation(expr: &Expr) -> bool {
    any_expr(expr, is_collated)
}

/// The collation that an expression brings into a comparison where types are dynamic; `None` if that is not known.
fn collation(expr: &Expr, place: &Place) -> Option<Option<Name>> {
    let Some(reference) = collated_column(expr)? else { return Some(None) };
    let column = place.column(reference)?;
    Some(Some(column.collation.clone().unwrap_or_else(|| "BINARY".into())))
}

/// The column whose collation an expression brings into a comparison where types are dynamic; `None` if a collation is
/// explicit.
pub fn collated_column(expr: &Expr) -> Option<Option<&ColumnRef>> {
    match expr {
        Expr::Column(reference) => Some(Some(reference)),
        other if mentions_collation(other) => None,
        other => collated_operand(other).map_or(Some(None), collated_column),
    }
}

fn has_plain_collation(expr: &Expr, place: &Place) -> bool {
    matches!(collation(expr, place), Some(Some(name)) if name.eq_ignore_ascii_case("binary"))
}

/// Values that an engine compares as they are, whichever of them it compares: nothing is converted, and there is one
/// collation. A NULL literal goes with anything.
pub fn one_type(place: &Place, exprs: &[&Expr]) -> bool {
    let typed: Vec<&Expr> = exprs.iter().copied().filter(|expr| !is_null(expr)).collect();
    let Some(kind) = typed.first().map(|expr| place.kind(expr)) else { return false };
    let leaf = |expr: &Expr| matches!(expr, Expr::Literal(_) | Expr::Column(_));
    let leaves = || typed.iter().all(|expr| leaf(expr));
    if typed.iter().any(|expr| place.kind(expr) != kind || mentions_collation(expr) || has_aggregate(expr)) {
        return false;
    }
    let folded = |dialect: &Dialect| dialect.can(Feature::FoldedText);
    match kind {
        _ if place.dialect.can(Feature::DynamicTyping) => {
            matches!(kind, Kind::Int | Kind::Real | Kind::Text) && leaves() && one_collation(&typed, place)
        }
        Kind::Int | Kind::Bool => true,
        Kind::Text => leaves() && one_collation(&typed, place),
        Kind::Date | Kind::Timestamp => !folded(place.dialect),
        _ => false,
    }
}

fn one_collation(exprs: &[&Expr], place: &Place) -> bool {
    let mut columns = exprs.iter().filter_map(|expr| match expr {
        Expr::Column(reference) => Some(place.column(reference)),
        _ => None,
    });
    let Some(first) = columns.next() else { return true };
    let of = |column: Option<&crate::state::Column>| {
        column.map(|column| (column.ty.clone(), column.collation.clone()))
    };
    let first = of(first);
    // A computed column may have any collation.
    let known = first.as_ref().is_some_and(|(ty, _)| !ty.name.is_empty() || place.dialect.is_typed());
    known && columns.all(|column| of(column) == first)
}
