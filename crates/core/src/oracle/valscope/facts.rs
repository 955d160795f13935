//! What is known about the values of a query's parts: their kind, their range, and whether equal values are
//! identical. It comes from the state of the database.

use super::relation::Change;
use crate::dialect::{Dialect, Feature, Function};
use crate::sql::*;
use crate::state::{Column, State, Table};

/// Whole numbers from here to there.
pub type Range = (i128, i128);

/// Whole numbers of any type.
pub const ANY_WHOLE: Range = (-(1 << 100), 1 << 100);

/// As many rows as no query of a hunt has.
pub const MANY_ROWS: i128 = 1_000_000_000;

/// Sums of a few such numbers overflow nowhere, not even summed over many rows.
const SMALL: i128 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// `Any` where values may be of several.
    pub kind: Kind,
    /// Set if all values are whole numbers, or NULL, in both arms.
    pub whole: Option<Range>,
    /// Values that compare equal are identical (SOUNDNESS 0.8).
    pub identity: bool,
    /// A quotient: exact only up to rounding.
    pub rounded: bool,
}

impl Known {
    pub const NOTHING: Known = Known { kind: Kind::Any, whole: None, identity: false, rounded: false };

    pub fn whole(range: Range) -> Known {
        Known { kind: Kind::Int, whole: Some(range), identity: true, rounded: false }
    }

    pub fn of_kind(kind: Kind) -> Known {
        Known { kind, ..Known::NOTHING }
    }

    /// What holds of the values of both.
    pub fn or(self, other: Known) -> Known {
        let whole = match (self.whole, other.whole) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            _ => None,
        };
        Known {
            kind: if self.kind == other.kind { self.kind } else { Kind::Any },
            whole,
            identity: self.identity && other.identity && self.kind == other.kind,
            rounded: self.rounded || other.rounded,
        }
    }
}

/// A value: how it relates to its partner, and what is known of both.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub change: Change,
    pub known: Known,
}

impl Cell {
    pub const fn same(known: Known) -> Cell {
        Cell { change: Change::NONE, known }
    }

    pub fn is_number(&self) -> bool {
        self.known.kind.is_numeric()
    }

    /// Whole numbers that no sum of a few overflows.
    pub fn is_small(&self) -> bool {
        self.range_is(|(low, high)| low >= -SMALL && high <= SMALL)
    }

    pub fn is_never_negative(&self) -> bool {
        self.range_is(|(low, _)| low >= 0)
    }

    fn range_is(&self, test: impl Fn(Range) -> bool) -> bool {
        self.known.whole.is_some_and(test)
    }

    pub fn has_one_representative(&self) -> bool {
        self.known.identity
    }
}

/// Where facts come from.
pub struct Facts<'a> {
    pub dialect: &'a Dialect,
    pub state: &'a State,
}

impl Facts<'_> {
    /// What is known of a stored column.
    pub fn column(&self, table: &Table, column: &Column) -> Known {
        // Bits are a number where they are computed with, and bytes where they are shown.
        if self.dialect.type_entry(&column.ty).is_some_and(|entry| entry.dual) {
            return Known::NOTHING;
        }
        let dynamic = self.dialect.can(Feature::DynamicTyping);
        let declared = column.ty.kind == Kind::Int && (!dynamic || table.strict || column.rowid_alias);
        let whole = match column.whole {
            Some((low, high)) if column.ty.kind == Kind::Int && !column.rowid_alias => {
                Some((i128::from(low), i128::from(high)))
            }
            _ if declared => Some(ANY_WHOLE),
            _ => None,
        };
        let kind = match column.ty.kind {
            kind if !dynamic => kind,
            _ if whole.is_some() => Kind::Int,
            _ => Kind::Any,
        };
        Known { kind, whole, identity: column.identity, rounded: false }
    }

    /// What is known of a computed value, by what is known of its operands.
    pub fn computed(&self, op: BinaryOp, left: Known, right: Known) -> Known {
        let (Some(a), Some(b)) = (left.whole, right.whole) else {
            let numeric = left.kind == right.kind && left.kind.is_numeric();
            return Known::of_kind(if numeric { left.kind } else { Kind::Any });
        };
        let corners = |f: fn(i128, i128) -> i128| {
            let all = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
            let [w, x, y, z] = all;
            Some((w.min(x).min(y).min(z), w.max(x).max(y).max(z)))
        };
        let whole = match op {
            BinaryOp::Add => corners(i128::saturating_add),
            BinaryOp::Sub => corners(i128::saturating_sub),
            BinaryOp::Mul => corners(i128::saturating_mul),
            BinaryOp::Mod if b.0 == b.1 && b.0 > 0 => Some((if a.0 < 0 { 1 - b.0 } else { 0 }, b.0 - 1)),
            _ => None,
        };
        match whole {
            Some(range) => Known::whole(range),
            None => Known::of_kind(Kind::Any),
        }
    }

    pub fn function(&self, name: &str, args: usize) -> Known {
        if name.eq_ignore_ascii_case("length") {
            return Known::whole((0, 1_000_000));
        }
        let fits = |f: &&Function| f.name.eq_ignore_ascii_case(name) && f.args.len() <= args;
        match self.dialect.functions.iter().find(fits) {
            Some(function) if !self.dialect.can(Feature::DynamicTyping) => Known::of_kind(function.returns),
            _ => Known::NOTHING,
        }
    }

    pub fn literal(&self, value: &Value) -> Known {
        match value {
            Value::Int(int) => Known::whole((i128::from(*int), i128::from(*int))),
            // NULL compares with everything, and is of the kind of what it stands beside.
            Value::Null => Known { identity: true, ..Known::NOTHING },
            other => Known { identity: !matches!(other, Value::Real(_)), ..Known::of_kind(other.kind()) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import;

    #[test]
    fn nothing_is_known_of_bits() {
        let dialect = Dialect::load("mysql", "9.7").unwrap();
        let mut state = State::default();
        let create = import::statement("CREATE TABLE t(b BIT(8), i INT)", 1, &dialect);
        state.apply(&create.statement, &dialect);
        let facts = Facts { dialect: &dialect, state: &state };
        let table = state.table("t").unwrap();
        let known: Vec<Known> = table.columns.iter().map(|column| facts.column(table, column)).collect();
        assert_eq!(known[0], Known::NOTHING);
        assert!(known[1].whole.is_some());
    }
}
