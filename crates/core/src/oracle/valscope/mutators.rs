//! The mutators: each says what it does to a node and how the result relates to the original.

use super::mutate::{Local, Needs, Node, Proposals, Substitute, address};
use super::relation::Direction::{Down, Up};
use super::relation::{Change, Nulls, Shift, Span};
use crate::dialect::{Dialect, Feature};
use crate::sql::*;

/// A kind of local change whose effect on the expression's value is known.
pub struct Mutator {
    /// Its name in subjects.
    pub name: &'static str,
    /// What a hunt counts it as.
    pub note: &'static str,
    /// Adds the changes that it has for a node.
    pub propose: fn(Node, &mut Proposals),
}

impl std::fmt::Debug for Mutator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! mutators {
    ($($name:literal $propose:expr,)*) => {
        /// Every mutator. A new one joins by one line here.
        pub const ALL: &[Mutator] = &[$(Mutator {
            name: $name,
            note: concat!("valscope mutator: ", $name),
            propose: $propose,
        },)*];
    };
}

mutators! {
    "distinct-off" distinct_off,
    "distinct-on" distinct_on,
    "union-to-all" union_to_all,
    "all-to-union" all_to_union,
    "drop-branch" drop_branch,
    "set-operator-to-left" set_operator_to_left,
    "join-more-outer" join_more_outer,
    "join-less-outer" join_less_outer,
    "limit-more" limit_more,
    "condition-true" |node, out| condition(node, out, true),
    "condition-false" |node, out| condition(node, out, false),
    "drop-conjunct" drop_conjunct,
    "drop-disjunct" drop_disjunct,
    "comparison-wider" comparison_wider,
    "comparison-narrower" comparison_narrower,
    "pattern-wider" pattern_wider,
    "in-list-shorter" in_list_shorter,
    "in-list-longer" in_list_longer,
    "between-wider" between_wider,
    "count-all-values" count_all_values,
    "count-distinct-values" count_distinct_values,
    "count-rows" count_rows,
    "max-to-min" |node, out| aggregate_to(node, out, "MAX", "MIN", Change::toward(Down), Needs::Numbers),
    "min-to-max" |node, out| aggregate_to(node, out, "MIN", "MAX", Change::toward(Up), Needs::Numbers),
    "min-to-avg" |node, out| aggregate_to(node, out, "MIN", "AVG", Change::toward(Up), Needs::Average),
    "max-to-avg" |node, out| aggregate_to(node, out, "MAX", "AVG", Change::toward(Down), Needs::Average),
    "avg-to-min" |node, out| aggregate_to(node, out, "AVG", "MIN", Change::toward(Down), Needs::Average),
    "avg-to-max" |node, out| aggregate_to(node, out, "AVG", "MAX", Change::toward(Up), Needs::Average),
    "sample-variance" |node, out| aggregate_to(node, out, "VAR_POP", "VAR_SAMP", SAMPLE, Needs::Average),
    "sample-deviation" |node, out| aggregate_to(node, out, "STDDEV_POP", "STDDEV_SAMP", SAMPLE, Needs::Average),
    "add-constant" |node, out| shift_value(node, out, BinaryOp::Add, Up),
    "subtract-constant" |node, out| shift_value(node, out, BinaryOp::Sub, Down),
}

/// Mutations that look right and are not, with the reason.
pub const REFUSED: &[(&str, &str)] = &[("stddev-to-var", "STDDEV exceeds VAR below 1")];

/// A sample of one value has no variance.
const SAMPLE: Change = Change { toward: Some(Up), nulls: Nulls::Mutated };

/// The mutator of this name.
pub fn by_name(name: &str) -> Option<&'static Mutator> {
    ALL.iter().find(|mutator| mutator.name == name)
}

/// `SELECT DISTINCT` keeps one row of several: without it there are more.
fn distinct_off(node: Node, out: &mut Proposals) {
    if let Node::Select(select) = node
        && select.distinct
    {
        let all = Select { distinct: false, ..select.clone() };
        out.push(Local::Rows(Span::Grows), Substitute::Select(all));
    }
}

fn distinct_on(node: Node, out: &mut Proposals) {
    if let Node::Select(select) = node
        && !select.distinct
    {
        let distinct = Select { distinct: true, ..select.clone() };
        out.push(Local::Rows(Span::Shrinks), Substitute::Select(distinct));
    }
}

fn union_to_all(node: Node, out: &mut Proposals) {
    if let Node::Body(Body::Compound { op: SetOp::Union, all: false, left, right }) = node {
        let (left, right) = (left.clone(), right.clone());
        let all = Body::Compound { op: SetOp::Union, all: true, left, right };
        out.push(Local::Rows(Span::Grows), Substitute::Body(all));
    }
}

fn all_to_union(node: Node, out: &mut Proposals) {
    if let Node::Body(Body::Compound { op: SetOp::Union, all: true, left, right }) = node {
        let (left, right) = (left.clone(), right.clone());
        let union = Body::Compound { op: SetOp::Union, all: false, left, right };
        out.push(Local::Rows(Span::Shrinks), Substitute::Body(union));
    }
}

/// A branch of UNION ALL has a part of the rows.
fn drop_branch(node: Node, out: &mut Proposals) {
    if let Node::Body(Body::Compound { op: SetOp::Union, all: true, left, right }) = node {
        out.push(Local::Rows(Span::Shrinks), Substitute::Body((**left).clone()));
        if let Some(right) = named_like(left, right) {
            out.push(Local::Rows(Span::Shrinks), Substitute::Body(right));
        }
    }
}

/// A branch under the names of the first one, which are those of the compound.
fn named_like(first: &Body, other: &Body) -> Option<Body> {
    let mut names = first;
    while let Body::Compound { left, .. } = names {
        names = left;
    }
    let (Body::Select(first), Body::Select(other)) = (names, other) else { return None };
    let mut other = other.clone();
    if first.items.len() != other.items.len() {
        return None;
    }
    for (at, (item, named)) in other.items.iter_mut().zip(&first.items).enumerate() {
        let SelectItem::Expr { alias, .. } = item else { return None };
        *alias = Some(match named {
            SelectItem::Expr { alias: Some(name), .. } => name.clone(),
            SelectItem::Expr { expr: Expr::Column(reference), .. } => reference.column.clone(),
            // A name that nothing asks for, and not the branch's own.
            _ => Name::from(format!("unnamed{at}")),
        });
    }
    Some(Body::Select(other))
}

/// What INTERSECT and EXCEPT return is among the rows of their left side, once each unless ALL.
fn set_operator_to_left(node: Node, out: &mut Proposals) {
    if let Node::Body(Body::Compound { op: SetOp::Intersect | SetOp::Except, all, left, .. }) = node
        && let Body::Select(select) = &**left
    {
        let side = Select { distinct: select.distinct || !all, ..(**select).clone() };
        out.push(Local::Rows(Span::Grows), Substitute::Body(Body::Select(Box::new(side))));
    }
}

/// An outer join has the rows of the inner one and padded ones.
fn join_more_outer(node: Node, out: &mut Proposals) {
    use JoinKind::*;
    let Node::Table(TableRef::Join { kind, left, right, on: on @ JoinOn::On(_) }) = node else {
        return;
    };
    let wider: &[JoinKind] = match kind {
        Inner => &[Left, Right, Full],
        Left | Right => &[Full],
        Full | Cross => &[],
    };
    for wider in wider.iter().filter(|kind| joins(**kind, on, out.dialect)) {
        let join = TableRef::Join { kind: *wider, left: left.clone(), right: right.clone(), on: on.clone() };
        out.push(Local::Rows(Span::Grows), Substitute::Table(join));
    }
}

fn joins(kind: JoinKind, on: &JoinOn, dialect: &Dialect) -> bool {
    let equality = match on {
        JoinOn::On(Expr::Binary { op: BinaryOp::Eq, left, right }) => {
            matches!((&**left, &**right), (Expr::Column(_), Expr::Column(_)))
        }
        _ => false,
    };
    let outer = equality || dialect.can(Feature::OuterJoinConditions);
    match kind {
        JoinKind::Left => outer && dialect.can(Feature::LeftJoin),
        JoinKind::Right => outer && dialect.can(Feature::RightJoin),
        JoinKind::Full => {
            outer && dialect.can(Feature::FullJoin) && (equality || dialect.can(Feature::FullJoinAnyhow))
        }
        JoinKind::Inner | JoinKind::Cross => true,
    }
}

fn join_less_outer(node: Node, out: &mut Proposals) {
    use JoinKind::*;
    let Node::Table(TableRef::Join { kind, left, right, on: on @ JoinOn::On(_) }) = node else {
        return;
    };
    let narrower: &[JoinKind] = match kind {
        Left | Right => &[Inner],
        Full => &[Left, Right, Inner],
        Inner | Cross => &[],
    };
    for kind in narrower {
        let join = TableRef::Join { kind: *kind, left: left.clone(), right: right.clone(), on: on.clone() };
        out.push(Local::Rows(Span::Shrinks), Substitute::Table(join));
    }
}

/// Under a total order the first n + k rows begin with the first n.
fn limit_more(node: Node, out: &mut Proposals) {
    if let Node::Query(query) = node
        && let Some(Expr::Literal(Value::Int(limit @ 0..1_000_000))) = &query.limit
    {
        let longer = Query { limit: Some(Expr::int(limit + 2)), ..query.clone() };
        out.push(Local::Rows(Span::Grows), Substitute::Query(longer));
    }
}

/// A condition of WHERE, HAVING or ON against TRUE or FALSE: above or below whatever it is.
fn condition(node: Node, out: &mut Proposals, truth: bool) {
    let constant = match out.dialect.can(Feature::BoolLiterals) {
        true => Expr::Literal(Value::Bool(truth)),
        false => Expr::int(i64::from(truth)),
    };
    let local = Local::Predicate(Shift::Strong(if truth { Up } else { Down }), Needs::Nothing);
    match node {
        Node::Select(select) => {
            if let Some(filter) = &select.filter {
                let select = Select { filter: Some(constant.clone()), ..select.clone() };
                out.push_at(address(filter), local, Substitute::Select(select));
            }
            if let Some(having) = &select.having {
                let select = Select { having: Some(constant), ..select.clone() };
                out.push_at(address(having), local, Substitute::Select(select));
            }
        }
        Node::Table(TableRef::Join { kind, left, right, on: JoinOn::On(on) }) => {
            let (left, right) = (left.clone(), right.clone());
            let join = TableRef::Join { kind: *kind, left, right, on: JoinOn::On(constant) };
            out.push_at(address(on), local, Substitute::Table(join));
        }
        _ => {}
    }
}

/// `p AND q` against p: the relation that adding a conjunct has, read backwards.
fn drop_conjunct(node: Node, out: &mut Proposals) {
    if let Node::Expr(Expr::Binary { op: BinaryOp::And, left, right }) = node {
        for side in [left, right] {
            let local = Local::Predicate(Shift::Strong(Up), Needs::Nothing);
            out.push(local, Substitute::Expr((**side).clone()));
        }
    }
}

/// `p OR q` against p.
fn drop_disjunct(node: Node, out: &mut Proposals) {
    if let Node::Expr(Expr::Binary { op: BinaryOp::Or, left, right }) = node {
        for side in [left, right] {
            let local = Local::Predicate(Shift::Strong(Down), Needs::Nothing);
            out.push(local, Substitute::Expr((**side).clone()));
        }
    }
}

fn comparison_to(node: Node, out: &mut Proposals, shift: Shift, to: fn(BinaryOp) -> &'static [BinaryOp]) {
    if let Node::Expr(Expr::Binary { op, left, right }) = node
        && !matches!(**left, Expr::Row(_))
    {
        for op in to(*op) {
            let compared = Expr::Binary { op: *op, left: left.clone(), right: right.clone() };
            out.push(Local::Predicate(shift, Needs::OneKind), Substitute::Expr(compared));
        }
    }
}

/// What is greater or equal is so too under the wider comparison; a NULL makes both NULL.
fn comparison_wider(node: Node, out: &mut Proposals) {
    use BinaryOp::*;
    comparison_to(node, out, Shift::Strong(Up), |op| match op {
        Gt => &[Ge],
        Lt => &[Le],
        Eq => &[Ge, Le],
        _ => &[],
    });
}

fn comparison_narrower(node: Node, out: &mut Proposals) {
    use BinaryOp::*;
    comparison_to(node, out, Shift::Strong(Down), |op| match op {
        Ge => &[Gt, Eq],
        Le => &[Lt, Eq],
        _ => &[],
    });
}

/// A letter of a pattern gives way to a wildcard for any text. Escapes and character classes make letters
/// mean something else: such patterns are left alone.
fn pattern_wider(node: Node, out: &mut Proposals) {
    let Node::Expr(Expr::Match { op, expr, pattern, escape: None, negated }) = node else { return };
    let Expr::Literal(Value::Text(text)) = &**pattern else { return };
    let wildcard = match op {
        MatchOp::Like | MatchOp::ILike => "%",
        MatchOp::Glob => "*",
        MatchOp::Regexp => ".*",
        MatchOp::SimilarTo => return,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || (*op != MatchOp::Regexp && "%_*? ".contains(c));
    if text.is_empty() || !text.chars().all(plain) {
        return;
    }
    let letters: Vec<char> = text.chars().collect();
    let direction = if *negated { Down } else { Up };
    for at in [0, letters.len() - 1] {
        let mut wider: String = letters[..at].iter().collect();
        wider.push_str(wildcard);
        wider.extend(&letters[at + 1..]);
        let matched = Expr::Match {
            op: *op,
            expr: expr.clone(),
            pattern: Box::new(Expr::text(wider)),
            escape: None,
            negated: *negated,
        };
        out.push(Local::Predicate(Shift::Strong(direction), Needs::Nothing), Substitute::Expr(matched));
    }
}

/// The literals of a list, if they are all of one kind: of several, some dialects make one kind first.
fn is_of_one_kind(list: &[Expr]) -> bool {
    let kind = |item: &Expr| match item {
        Expr::Literal(value) if !value.is_null() => Some(value.kind()),
        _ => None,
    };
    list.first().and_then(kind).is_some_and(|first| list.iter().all(|item| kind(item) == Some(first)))
}

fn in_list_shorter(node: Node, out: &mut Proposals) {
    if let Node::Expr(Expr::InList { expr, list, negated }) = node
        && list.len() > 1
        && is_of_one_kind(list)
    {
        let list = list[1..].to_vec();
        let shift = Shift::Strong(if *negated { Up } else { Down });
        let shorter = Expr::InList { expr: expr.clone(), list, negated: *negated };
        out.push(Local::Predicate(shift, Needs::Nothing), Substitute::Expr(shorter));
    }
}

fn in_list_longer(node: Node, out: &mut Proposals) {
    if let Node::Expr(Expr::InList { expr, list, negated }) = node
        && is_of_one_kind(list)
        && let Some(Expr::Literal(Value::Int(int @ -1000..1000))) = list.last()
    {
        let mut list = list.clone();
        list.push(Expr::int(int + 1));
        let shift = Shift::Strong(if *negated { Down } else { Up });
        let longer = Expr::InList { expr: expr.clone(), list, negated: *negated };
        out.push(Local::Predicate(shift, Needs::Nothing), Substitute::Expr(longer));
    }
}

/// A bound moved outward, among numbers.
fn between_wider(node: Node, out: &mut Proposals) {
    let Node::Expr(Expr::Between { expr, low, high, negated }) = node else { return };
    let local = Local::Predicate(Shift::Strong(if *negated { Down } else { Up }), Needs::Numbers);
    let moved = |bound: &Expr, by: i64| match bound {
        Expr::Literal(Value::Int(int @ -1_000_000..=1_000_000)) => Some(Box::new(Expr::int(int + by))),
        _ => None,
    };
    let (expr, negated) = (expr.clone(), *negated);
    if let Some(low) = moved(low, -2) {
        let wider = Expr::Between { expr: expr.clone(), low, high: high.clone(), negated };
        out.push(local, Substitute::Expr(wider));
    }
    if let Some(high) = moved(high, 2) {
        out.push(local, Substitute::Expr(Expr::Between { expr, low: low.clone(), high, negated }));
    }
}

/// `COUNT(DISTINCT c)` ≤ `COUNT(c)`.
fn count_all_values(node: Node, out: &mut Proposals) {
    if let Node::Expr(Expr::Aggregate(aggregate)) = node
        && aggregate.name.eq_ignore_ascii_case("count")
        && aggregate.distinct
    {
        let all = Aggregate { distinct: false, ..(**aggregate).clone() };
        let substitute = Substitute::Expr(Expr::Aggregate(Box::new(all)));
        out.push(Local::Value(Change::toward(Up), Needs::Nothing), substitute);
    }
}

fn count_distinct_values(node: Node, out: &mut Proposals) {
    if let Node::Expr(Expr::Aggregate(aggregate)) = node
        && aggregate.name.eq_ignore_ascii_case("count")
        && !aggregate.distinct
        && aggregate.args.len() == 1
    {
        let distinct = Aggregate { distinct: true, ..(**aggregate).clone() };
        let substitute = Substitute::Expr(Expr::Aggregate(Box::new(distinct)));
        out.push(Local::Value(Change::toward(Down), Needs::Nothing), substitute);
    }
}

/// `COUNT(c)` ≤ `COUNT(*)`.
fn count_rows(node: Node, out: &mut Proposals) {
    if let Node::Expr(Expr::Aggregate(aggregate)) = node
        && aggregate.name.eq_ignore_ascii_case("count")
        && !aggregate.args.is_empty()
    {
        let rows = Aggregate { distinct: false, args: Vec::new(), ..(**aggregate).clone() };
        let substitute = Substitute::Expr(Expr::Aggregate(Box::new(rows)));
        out.push(Local::Value(Change::toward(Up), Needs::Nothing), substitute);
    }
}

/// MIN ≤ AVG ≤ MAX, each NULL where the others are; the variance of a sample is the larger one.
fn aggregate_to(node: Node, out: &mut Proposals, from: &str, to: &str, change: Change, needs: Needs) {
    if let Node::Expr(Expr::Aggregate(aggregate)) = node
        && aggregate.name.eq_ignore_ascii_case(from)
        && aggregate.args.len() == 1
        && !aggregate.distinct
        && (to == "MIN" || to == "MAX" || out.dialect.aggregates(to, Kind::Int))
    {
        let other = Aggregate { name: Name::from(to), ..(**aggregate).clone() };
        out.push(Local::Value(change, needs), Substitute::Expr(Expr::Aggregate(Box::new(other))));
    }
}

/// `x + k` and `x - k` for k > 0, where x is a number of which that is known.
fn shift_value(node: Node, out: &mut Proposals, op: BinaryOp, direction: super::relation::Direction) {
    const BY: i64 = 3;
    let Node::Expr(expr) = node else { return };
    let number = match expr {
        Expr::Column(_) | Expr::Literal(Value::Int(-1_000_000..=1_000_000)) => true,
        Expr::Aggregate(aggregate) => {
            ["COUNT", "MIN", "MAX", "SUM"].iter().any(|name| aggregate.name.eq_ignore_ascii_case(name))
        }
        _ => false,
    };
    if number {
        let shifted = Expr::binary(op, expr.clone(), Expr::int(BY));
        let local = Local::Value(Change::toward(direction), Needs::Small(BY));
        out.push(local, Substitute::Expr(shifted));
    }
}
