//! The table of rules: how each operator changes the relation between its inputs (SOUNDNESS 4).
//!
//! A rule either gives the relation between the operator's results or stops; then nothing is predicted.

use super::relation::{Change, Direction, Nulls, Shift, Span};
use crate::dialect::{Dialect, Feature};
use crate::sql::{BinaryOp, Truth};

/// Why nothing can be predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped(pub &'static str);

/// No rule: one operand goes up, the other down.
pub const OPPOSITE: Stopped = Stopped("changes in opposite directions");

macro_rules! rules {
    ($($rule:ident $note:literal,)*) => {
        /// A row of the table: a rule by which a change passes through a part of a query.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $(#[doc = $note] $rule,)* }

        impl Rule {
            /// All rules.
            pub const ALL: &[Rule] = &[$(Rule::$rule,)*];

            /// What a hunt counts it as.
            pub fn note(self) -> &'static str {
                match self { $(Rule::$rule => concat!("valscope rule: ", $note),)* }
            }
        }
    };
}

rules! {
    Where "where",
    Having "having",
    On "on",
    Filter "filter",
    Not "not",
    And "and",
    Or "or",
    IsTrue "is-true",
    IsFalse "is-false",
    Comparison "comparison",
    NullableComparison "nullable-comparison",
    Between "between",
    Exists "exists",
    In "in",
    Any "any",
    All "all",
    InnerJoin "inner-join",
    OuterJoin "outer-join",
    Derived "derived-table",
    Common "common-table",
    UnionAll "union-all",
    Union "union",
    Intersect "intersect",
    ExceptLeft "except-left",
    ExceptRight "except-right",
    Distinct "distinct",
    OrderBy "order-by",
    GroupBy "group-by",
    CountRows "count-rows",
    CountColumn "count-column",
    CountDistinct "count-distinct",
    Max "max",
    Min "min",
    Sum "sum",
    ChangedValues "aggregate-of-changed-values",
    Sign "sign",
    Addition "addition",
    Multiplication "multiplication",
    Scalar "scalar-subquery",
}

impl Rule {
    /// Whether a dialect has what the rule is about.
    pub fn is_for(self, dialect: &Dialect) -> bool {
        match self {
            Rule::Any | Rule::All => dialect.can(Feature::QuantifiedComparison),
            Rule::Filter => dialect.can(Feature::AggregateFilter),
            Rule::Intersect => dialect.can(Feature::Intersect),
            Rule::ExceptLeft | Rule::ExceptRight => dialect.can(Feature::Except),
            _ => true,
        }
    }
}

/// NOT reverses a strong predicate. TRUE(p) ⊆ TRUE(q) says nothing of where they are FALSE.
pub fn not(shift: Shift) -> Result<Shift, Stopped> {
    match shift {
        Shift::None => Ok(Shift::None),
        Shift::Strong(direction) => Ok(Shift::Strong(direction.reversed())),
        Shift::Weak(_) => Err(Stopped("NOT over a weak predicate")),
    }
}

/// `p IS TRUE` has two values, so a weak relation is strong enough; `p IS FALSE` asks for more.
pub fn is(shift: Shift, test: Truth, negated: bool) -> Result<Shift, Stopped> {
    let Some(direction) = shift.direction() else { return Ok(Shift::None) };
    let direction = match (test, shift) {
        (Truth::True, _) => direction,
        (Truth::False, Shift::Strong(_)) => direction.reversed(),
        (Truth::False, _) => return Err(Stopped("IS FALSE over a weak predicate")),
        (Truth::Null, _) => return Err(Stopped("IS NULL of a changed predicate")),
    };
    Ok(Shift::Strong(if negated { direction.reversed() } else { direction }))
}

/// `left op right`. A NULL is TRUE on neither side, so a value that may be NULL on the smaller side leaves
/// a weak relation, and none if it is on the larger side.
pub fn comparison(op: BinaryOp, left: Change, right: Change) -> Result<Shift, Stopped> {
    if left.is_none() && right.is_none() {
        return Ok(Shift::None);
    }
    let change = match op {
        BinaryOp::Gt | BinaryOp::Ge => left.and(right.negated()),
        BinaryOp::Lt | BinaryOp::Le => left.negated().and(right),
        _ => return Err(Stopped("= or <> of a changed value")),
    };
    let change = change.ok_or(OPPOSITE)?;
    let mismatch = Stopped("comparison with a value that may be NULL on the larger side");
    let smaller = match change.nulls {
        Nulls::Alike => return Ok(change.toward.map_or(Shift::None, Shift::Strong)),
        Nulls::Original => Direction::Up,
        Nulls::Mutated => Direction::Down,
    };
    if change.toward.is_none_or(|toward| toward == smaller) {
        Ok(Shift::Weak(smaller))
    } else {
        Err(mismatch)
    }
}

/// The rows that predicates, inputs and a mutation let through, all at once.
pub fn together(spans: impl IntoIterator<Item = Span>) -> Result<Span, Stopped> {
    spans.into_iter().try_fold(Span::Bijective, |all, span| all.and(span).ok_or(OPPOSITE))
}

/// EXISTS, IN and ANY hold sooner the more rows there are; ALL holds later.
pub fn quantifier(rows: Span, all: bool) -> Shift {
    let direction = match rows {
        Span::Bijective => return Shift::None,
        Span::Grows => Direction::Up,
        Span::Shrinks => Direction::Down,
    };
    Shift::Strong(if all { direction.reversed() } else { direction })
}

/// COUNT of rows; of a column whose values may be NULL on the smaller side only.
pub fn count(rows: Span, nulls: Nulls) -> Result<Change, Stopped> {
    let by_nulls = match nulls {
        Nulls::Alike => Span::Bijective,
        Nulls::Original => Span::Grows,
        Nulls::Mutated => Span::Shrinks,
    };
    Ok(match together([rows, by_nulls])? {
        Span::Bijective => Change::NONE,
        Span::Grows => Change::toward(Direction::Up),
        Span::Shrinks => Change::toward(Direction::Down),
    })
}

/// MAX, MIN or SUM over rows that change: more rows move the value one way only, and may give one where
/// there was none. `upward`: more rows raise it (MAX, and SUM of what is never negative).
pub fn extreme(rows: Span, value: Change, upward: bool) -> Result<Change, Stopped> {
    let wanted = if upward { Direction::Up } else { Direction::Down };
    let growing = |value: Change| {
        let fits = value.toward.is_none_or(|toward| toward == wanted) && value.nulls != Nulls::Mutated;
        fits.then(|| Change::toward(wanted).or_null(Nulls::Original))
    };
    let shrinking = |value: Change| growing(value.reversed()).map(Change::reversed);
    let stop = Stopped("aggregate of values that move the opposite way");
    match rows {
        Span::Grows => growing(value).ok_or(stop),
        Span::Shrinks => shrinking(value).ok_or(stop),
        // Values alone change, some between NULL and not: the same as rows that come and go.
        Span::Bijective => growing(value).or_else(|| shrinking(value)).ok_or(stop),
    }
}

/// The product with a constant.
pub fn times(value: Change, constant: i64) -> Change {
    match constant.signum() {
        1 => value,
        -1 => value.negated(),
        _ => Change { toward: None, ..value },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Down, Up};

    #[test]
    fn not_ends_a_weak_predicate() {
        assert_eq!(not(Shift::Strong(Up)), Ok(Shift::Strong(Down)));
        assert_eq!(not(Shift::Weak(Up)), Err(Stopped("NOT over a weak predicate")));
    }

    #[test]
    fn is_true_makes_a_weak_predicate_strong_and_is_false_ends_it() {
        assert_eq!(is(Shift::Weak(Up), Truth::True, false), Ok(Shift::Strong(Up)));
        assert_eq!(is(Shift::Weak(Up), Truth::True, true), Ok(Shift::Strong(Down)));
        assert_eq!(is(Shift::Strong(Up), Truth::False, false), Ok(Shift::Strong(Down)));
        assert!(is(Shift::Weak(Up), Truth::False, false).is_err());
        assert!(is(Shift::Strong(Up), Truth::Null, false).is_err());
    }

    #[test]
    fn a_comparison_follows_the_value_and_is_weak_where_that_may_be_null() {
        let (same, up) = (Change::NONE, Change::toward(Up));
        assert_eq!(comparison(BinaryOp::Gt, up, same), Ok(Shift::Strong(Up)));
        assert_eq!(comparison(BinaryOp::Gt, same, up), Ok(Shift::Strong(Down)));
        assert_eq!(comparison(BinaryOp::Le, up, same), Ok(Shift::Strong(Down)));
        assert!(comparison(BinaryOp::Eq, up, same).is_err());
        let grown_max = up.or_null(Nulls::Original);
        assert_eq!(comparison(BinaryOp::Ge, grown_max, same), Ok(Shift::Weak(Up)));
        assert!(comparison(BinaryOp::Lt, grown_max, same).is_err());
        let shrunk_max = grown_max.reversed();
        assert_eq!(comparison(BinaryOp::Gt, shrunk_max, same), Ok(Shift::Weak(Down)));
        assert!(comparison(BinaryOp::Lt, shrunk_max, same).is_err());
    }

    #[test]
    fn extremes_follow_rows_and_values_that_go_their_way() {
        let grown = Change::toward(Up).or_null(Nulls::Original);
        assert_eq!(extreme(Span::Grows, Change::NONE, true), Ok(grown));
        assert_eq!(extreme(Span::Shrinks, Change::NONE, true), Ok(grown.reversed()));
        assert_eq!(extreme(Span::Grows, Change::toward(Up), true), Ok(grown));
        assert!(extreme(Span::Grows, Change::toward(Down), true).is_err());
        assert_eq!(extreme(Span::Grows, Change::NONE, false), Ok(grown.negated()));
    }
}
