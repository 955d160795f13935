//! Checks whether two results are in the predicted relation.
//!
//! Rows are grouped by the columns that must be equal. Within a group the other columns decide: a single one by
//! sorting, several by a matching.

use std::cmp::Ordering;

use super::relation::{Column, Direction, Nulls, Relation, Span};
use crate::engine::Rows;
use crate::finding::{Class, Failure};
use crate::oracle::kit::judge::{Difference, rounded};
use crate::sql::Value;
use crate::sql::compare::{at_most, compare_values};

/// Whether results that violate the relation would not if floats had nine digits.
pub fn is_rounding(relation: &Relation, original: &Rows, mutated: &Rows) -> bool {
    violation(relation, &rounded(original), &rounded(mutated)).is_none()
}

/// How the results break the relation, naming a row without a partner. `None`: they do not.
pub fn violation(relation: &Relation, original: &Rows, mutated: &Rows) -> Option<Difference> {
    let columns = relation.columns.len();
    if (original.columns, mutated.columns) != (columns, columns) {
        let failure = Failure::Columns { first: original.columns, second: mutated.columns };
        return Some(Difference::new(Class::WrongValues, failure));
    }
    if relation.span == Span::Bijective && original.len() != mutated.len() {
        let failure = Failure::Lengths { first: original.len(), second: mutated.len() };
        return Some(Difference::new(Class::WrongRows, failure));
    }
    let forward = relation.span != Span::Shrinks;
    let pairing = Pairing { relation, forward };
    let (smaller, larger) = if forward { (original, mutated) } else { (mutated, original) };
    let lost = pairing.without_partner(smaller, larger)?;
    let equal = |row: &&[Value]| pairing.order(lost, row) == Ordering::Equal;
    let directed = relation.columns.iter().any(|column| !is_equal(column));
    let class = match directed && larger.iter().any(|row| equal(&row)) {
        true => Class::WrongValues,
        false => Class::WrongRows,
    };
    let (row, first, second) = (lost.to_vec(), original.len(), mutated.len());
    Some(Difference::new(class, Failure::Unpaired { in_first: forward, row, first, second }))
}

fn is_equal(column: &Column) -> bool {
    column.change.toward.is_none() && column.change.nulls == Nulls::Alike
}

struct Pairing<'a> {
    relation: &'a Relation,
    /// The smaller result is the original.
    forward: bool,
}

impl Pairing<'_> {
    /// The order by the columns that are equal.
    fn order(&self, a: &[Value], b: &[Value]) -> Ordering {
        let columns = self.relation.columns.iter().enumerate().filter(|(_, column)| is_equal(column));
        let mut orders = columns.map(|(at, _)| compare_values(&a[at], &b[at]));
        orders.find(|order| *order != Ordering::Equal).unwrap_or(Ordering::Equal)
    }

    /// A row of the smaller result that no partner is left for.
    fn without_partner<'r>(&self, smaller: &'r Rows, larger: &'r Rows) -> Option<&'r [Value]> {
        let sorted = |rows: &'r Rows| {
            let mut sorted: Vec<&[Value]> = rows.iter().collect();
            sorted.sort_by(|a, b| self.order(a, b));
            sorted
        };
        let (smaller, larger) = (sorted(smaller), sorted(larger));
        let mut rest = larger.as_slice();
        for group in smaller.chunk_by(|a, b| self.order(a, b) == Ordering::Equal) {
            let before = rest.partition_point(|row| self.order(row, group[0]) == Ordering::Less);
            let after = rest.partition_point(|row| self.order(row, group[0]) != Ordering::Greater);
            if let Some(lost) = self.without_partner_in(group, &rest[before..after]) {
                return Some(lost);
            }
            rest = &rest[after..];
        }
        None
    }

    fn without_partner_in<'r>(&self, smaller: &[&'r [Value]], larger: &[&'r [Value]]) -> Option<&'r [Value]> {
        let columns = self.relation.columns.iter().enumerate();
        let directed: Vec<usize> =
            columns.filter(|(_, column)| !is_equal(column)).map(|(at, _)| at).collect();
        match directed.as_slice() {
            [] => smaller.get(larger.len()).copied(),
            [at] if self.relation.columns[*at].change.nulls == Nulls::Alike => {
                self.greedy(*at, smaller, larger)
            }
            _ => self.matching(smaller, larger),
        }
    }

    /// A value and its partner, whichever is the original's.
    fn fits_at(&self, at: usize, small: &Value, large: &Value) -> bool {
        let (original, mutated) = if self.forward { (small, large) } else { (large, small) };
        let Column { change, rounded } = self.relation.columns[at];
        match (original.is_null(), mutated.is_null()) {
            (true, true) => true,
            (true, false) => change.nulls == Nulls::Original,
            (false, true) => change.nulls == Nulls::Mutated,
            (false, false) => match change.toward {
                None => compare_values(original, mutated) == Ordering::Equal,
                Some(Direction::Up) => at_most(original, mutated, rounded),
                Some(Direction::Down) => at_most(mutated, original, rounded),
            },
        }
    }

    /// One directed column: the value that is hardest to place takes the best partner.
    fn greedy<'r>(&self, at: usize, smaller: &[&'r [Value]], larger: &[&'r [Value]]) -> Option<&'r [Value]> {
        let upward = (self.relation.columns[at].change.toward == Some(Direction::Up)) == self.forward;
        let sorted = |rows: &[&'r [Value]]| {
            let mut rows = rows.to_vec();
            rows.sort_by(|a, b| {
                let order = compare_values(&a[at], &b[at]);
                // NULLs go with NULLs, so they stand apart, at the end.
                let nulls = a[at].is_null().cmp(&b[at].is_null());
                nulls.then(if upward { order.reverse() } else { order })
            });
            let values = rows.iter().take_while(|row| !row[at].is_null()).count();
            (rows, values)
        };
        let ((smaller, few), (larger, many)) = (sorted(smaller), sorted(larger));
        let values =
            smaller[..few].iter().zip(larger[..many].iter().map(Some).chain(std::iter::repeat(None)));
        for (row, partner) in values {
            if !partner.is_some_and(|partner| self.fits_at(at, &row[at], &partner[at])) {
                return Some(row);
            }
        }
        smaller[few..].get(larger.len() - many).copied()
    }

    /// Several directed columns: a matching that leaves no row of the smaller result out, by augmenting
    /// paths.
    fn matching<'r>(&self, smaller: &[&'r [Value]], larger: &[&'r [Value]]) -> Option<&'r [Value]> {
        let fits = |a: &[Value], b: &[Value]| (0..a.len()).all(|at| self.fits_at(at, &a[at], &b[at]));
        let mut taken: Vec<Option<usize>> = vec![None; larger.len()];
        for (at, row) in smaller.iter().enumerate() {
            let mut tried = vec![false; larger.len()];
            if !augment(at, smaller, larger, &fits, &mut taken, &mut tried) {
                return Some(row);
            }
        }
        None
    }
}

fn augment(
    at: usize,
    smaller: &[&[Value]],
    larger: &[&[Value]],
    fits: &dyn Fn(&[Value], &[Value]) -> bool,
    taken: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for to in 0..larger.len() {
        if tried[to] || !fits(smaller[at], larger[to]) {
            continue;
        }
        tried[to] = true;
        let free = match taken[to] {
            None => true,
            Some(other) => augment(other, smaller, larger, fits, taken, tried),
        };
        if free {
            taken[to] = Some(at);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::relation::Change;
    use super::*;

    fn rows(columns: usize, values: &[Option<i64>]) -> Rows {
        let value = |value: &Option<i64>| value.map_or(Value::Null, Value::Int);
        Rows { columns, values: values.iter().map(value).collect() }
    }

    fn relation(span: Span, changes: &[Change]) -> Relation {
        let column = |change: &Change| Column { change: *change, rounded: false };
        Relation { span, columns: changes.iter().map(column).collect() }
    }

    const UP: Change = Change { toward: Some(Direction::Up), nulls: Nulls::Alike };

    #[test]
    fn equal_columns_are_inclusion_of_multisets() {
        let grows = relation(Span::Grows, &[Change::NONE]);
        let (few, many) = (rows(1, &[Some(1), None]), rows(1, &[None, Some(2), Some(1)]));
        assert_eq!(violation(&grows, &few, &many), None);
        let lost = violation(&grows, &many, &few).expect("2 is missing");
        let row = vec![Value::Int(2)];
        assert_eq!(lost.failure, Failure::Unpaired { in_first: true, row, first: 3, second: 2 });
        assert_eq!(lost.class, Class::WrongRows);
        assert_eq!(violation(&relation(Span::Shrinks, &[Change::NONE]), &many, &few), None);
        assert!(violation(&grows, &rows(1, &[Some(1), Some(1)]), &rows(1, &[Some(1)])).is_some());
    }

    /// MySQL's VAR_POP over the same rows by two plans.
    #[test]
    fn floats_of_another_order_of_rows_are_told_by_nine_digits() {
        let same = relation(Span::Bijective, &[Change::NONE]);
        let reals = |real: f64| Rows { columns: 1, values: vec![Value::Real(real)] };
        let (one, other) = (reals(0.16), reals(0.15999999999999998));
        assert!(violation(&same, &one, &other).is_some() && is_rounding(&same, &one, &other));
        assert!(!is_rounding(&same, &one, &reals(0.1600001)));
    }

    #[test]
    fn one_directed_column_is_paired_in_order() {
        let up = relation(Span::Grows, &[UP]);
        let few = rows(1, &[Some(5), Some(1)]);
        assert_eq!(violation(&up, &few, &rows(1, &[Some(1), Some(0), Some(6)])), None);
        assert!(violation(&up, &few, &rows(1, &[Some(0), Some(0), Some(6)])).is_some());
        assert!(violation(&up, &rows(1, &[None]), &rows(1, &[Some(1)])).is_some());
        assert_eq!(violation(&up, &rows(1, &[None]), &rows(1, &[None])), None);
        let down = relation(Span::Shrinks, &[UP.negated()]);
        assert_eq!(violation(&down, &rows(1, &[Some(1), Some(0), Some(6)]), &few), None);
    }

    #[test]
    fn a_null_may_become_anything_where_rows_are_added() {
        let grown_max = relation(Span::Bijective, &[UP.or_null(Nulls::Original)]);
        assert_eq!(violation(&grown_max, &rows(1, &[None]), &rows(1, &[Some(-7)])), None);
        assert!(violation(&grown_max, &rows(1, &[Some(-7)]), &rows(1, &[None])).is_some());
    }

    /// Greedy in either column fails here; a matching exists.
    #[test]
    fn several_directed_columns_need_a_matching() {
        let both = relation(Span::Bijective, &[UP, UP.negated()]);
        let (a, b) =
            (rows(2, &[Some(1), Some(5), Some(1), Some(9)]), rows(2, &[Some(2), Some(9), Some(1), Some(4)]));
        assert_eq!(violation(&both, &a, &b), None);
        let c = rows(2, &[Some(2), Some(9), Some(1), Some(6)]);
        let wrong = violation(&both, &a, &c).expect("5 has nothing below it");
        assert_eq!(wrong.class, Class::WrongValues);
    }
}
