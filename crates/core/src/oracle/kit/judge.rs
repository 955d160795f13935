//! The one comparison of results: typed multisets over all columns (SOUNDNESS 0.7 to 0.9).

use std::cmp::Ordering;

use crate::engine::{ErrorClass, Reply, Rows, SqlError};
use crate::finding::{Class, Failure, Side, Verdict};
use crate::sql::Value;
use crate::sql::compare::compare_values;

/// How two results differ.
#[derive(Debug, PartialEq)]
pub struct Difference {
    /// What kind of bug it is.
    pub class: Class,
    /// Which rows or values fail, as data.
    pub failure: Failure,
    /// Which part is likely wrong, in one sentence.
    pub explanation: Option<String>,
}

impl Difference {
    /// A difference that explains itself.
    pub fn new(class: Class, failure: Failure) -> Difference {
        Difference { class, failure, explanation: None }
    }
}

/// When two values count as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equality {
    /// Same type and same value. A difference of type alone is of class `representation`.
    Exact,
    /// As the engine compares: 1 and 1.0 are one value. For results that went through DISTINCT, GROUP BY
    /// or a set operator, which may return any of several equal values.
    Engine,
}

/// Compares two results as multisets of rows. `None` if they agree.
pub fn compare(left: &Rows, right: &Rows, equality: Equality) -> Option<Difference> {
    if left.columns == right.columns && left.values.len() == right.values.len() {
        let same = |(a, b): (&Value, &Value)| a == b;
        // Lengths were compared: nothing is dropped here. Most results agree in order, too.
        if std::iter::zip(&left.values, &right.values).all(same) {
            return None;
        }
    }
    if left.columns != right.columns {
        let failure = Failure::Columns { first: left.columns, second: right.columns };
        return Some(Difference::new(Class::WrongValues, failure));
    }
    let (left_sorted, right_sorted) = (sorted(left), sorted(right));
    let (only_left, only_right) = unmatched(&left_sorted, &right_sorted, compare_rows);
    if only_left.is_empty() && only_right.is_empty() {
        return match equality {
            Equality::Engine => None,
            Equality::Exact => representation(&left_sorted, &right_sorted),
        };
    }
    let class = if left.len() != right.len() {
        Class::WrongRows
    } else if spelled_alike(&only_left, &only_right) {
        Class::Representation
    } else {
        Class::WrongValues
    };
    Some(Difference::new(class, row_failure(left.len(), right.len(), &only_left, &only_right)))
}

/// The same rows with floats of nine digits: what a sum in another order of rows may change is gone.
pub fn rounded(rows: &Rows) -> Rows {
    let round = |value: &Value| match value {
        Value::Real(real) => Value::Real(format!("{real:.8e}").parse().unwrap_or(*real)),
        other => other.clone(),
    };
    Rows { columns: rows.columns, values: rows.values.iter().map(round).collect() }
}

/// Removes rows that equal an earlier one as the engine compares: a bag becomes a set.
pub fn distinct(rows: &Rows) -> Rows {
    let mut sorted = sorted(rows);
    sorted.dedup_by(|a, b| compare_rows(a, b) == Ordering::Equal);
    Rows { columns: rows.columns, values: sorted.into_iter().flatten().cloned().collect() }
}

/// The rows that two results have in common, each as often as both have it.
pub fn intersect_all(left: &Rows, right: &Rows) -> Rows {
    let (left_sorted, right_sorted) = (sorted(left), sorted(right));
    let (only_left, _) = unmatched(&left_sorted, &right_sorted, compare_rows);
    let (common, _) = unmatched(&left_sorted, &only_left, compare_rows);
    Rows { columns: left.columns, values: common.into_iter().flatten().cloned().collect() }
}

/// The verdict if not every arm returned rows. `None` if all of them did.
///
/// Errors are never compared by wording. All arms fail: consistent. One arm fails: a skip, unless the
/// caller has validated the error (SOUNDNESS 5).
pub fn settle_errors<'a>(replies: impl IntoIterator<Item = &'a Reply>) -> Option<Verdict> {
    let (mut failed, mut answered) = (None::<&SqlError>, false);
    for reply in replies {
        match reply {
            Reply::Failed(error) => failed = Some(error),
            _ => answered = true,
        }
    }
    let error = failed?;
    Some(Verdict::skip(match (answered, error.class) {
        (false, _) => "all arms fail",
        (true, ErrorClass::Limit) => "one arm exceeds a limit",
        (true, ErrorClass::Runtime) => "one arm fails at run time",
        (true, ErrorClass::Constraint) => "one arm fails on a constraint",
        (true, _) => "one arm is rejected",
    }))
}

fn sorted(rows: &Rows) -> Vec<&[Value]> {
    let mut sorted: Vec<&[Value]> = rows.iter().collect();
    sorted.sort_by(|a, b| compare_rows(a, b));
    sorted
}

/// The rows of either sorted list that have no partner in the other.
fn unmatched<'a>(
    left: &[&'a [Value]],
    right: &[&'a [Value]],
    order: impl Fn(&[Value], &[Value]) -> Ordering,
) -> (Vec<&'a [Value]>, Vec<&'a [Value]>) {
    let (mut only_left, mut only_right) = (Vec::new(), Vec::new());
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        match order(left[l], right[r]) {
            Ordering::Equal => {
                l += 1;
                r += 1;
            }
            Ordering::Less => {
                only_left.push(left[l]);
                l += 1;
            }
            Ordering::Greater => {
                only_right.push(right[r]);
                r += 1;
            }
        }
    }
    only_left.extend(&left[l..]);
    only_right.extend(&right[r..]);
    (only_left, only_right)
}

/// Rows that are equal as the engine compares: do they also have the same types?
fn representation(left: &[&[Value]], right: &[&[Value]]) -> Option<Difference> {
    let by_type = |a: &[Value], b: &[Value]| {
        let kinds = |row: &[Value]| row.iter().map(Value::kind).collect::<Vec<_>>();
        compare_rows(a, b).then_with(|| kinds(a).cmp(&kinds(b)))
    };
    let (mut left, mut right) = (left.to_vec(), right.to_vec());
    left.sort_by(|a, b| by_type(a, b));
    right.sort_by(|a, b| by_type(a, b));
    let (only_left, only_right) = unmatched(&left, &right, by_type);
    if only_left.is_empty() {
        return None;
    }
    let failure = row_failure(left.len(), right.len(), &only_left, &only_right);
    Some(Difference::new(Class::Representation, failure))
}

/// The unmatched rows differ in type only: `'7'` against `7`, text against the same bytes as a blob.
fn spelled_alike(left: &[&[Value]], right: &[&[Value]]) -> bool {
    let spell = |rows: &[&[Value]]| {
        let mut spelled: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(spelling).collect()).collect();
        spelled.sort();
        spelled
    };
    spell(left) == spell(right)
}

fn spelling(value: &Value) -> String {
    match value {
        Value::Null => String::from("\0NULL"),
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Bool(b) => i64::from(*b).to_string(),
        other => other.to_string(),
    }
}

/// How many of the rows that differ are kept as examples.
const EXAMPLES: usize = 3;

fn row_failure(left: usize, right: usize, only_left: &[&[Value]], only_right: &[&[Value]]) -> Failure {
    let side = |rows: usize, only: &[&[Value]]| Side {
        rows,
        only: only.len(),
        examples: only.iter().take(EXAMPLES).map(|row| row.to_vec()).collect(),
    };
    Failure::Rows { first: side(left, only_left), second: side(right, only_right) }
}

fn compare_rows(a: &[Value], b: &[Value]) -> Ordering {
    for (at, value) in a.iter().enumerate() {
        let Some(other) = b.get(at) else { return Ordering::Greater };
        match compare_values(value, other) {
            Ordering::Equal => {}
            unequal => return unequal,
        }
    }
    a.len().cmp(&b.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: usize, values: Vec<Value>) -> Rows {
        Rows { columns, values }
    }

    fn ints(values: &[i64]) -> Rows {
        rows(1, values.iter().map(|i| Value::Int(*i)).collect())
    }

    fn class(left: &Rows, right: &Rows, equality: Equality) -> Option<Class> {
        compare(left, right, equality).map(|difference| difference.class)
    }

    #[test]
    fn order_of_rows_does_not_matter_but_their_number_does() {
        assert_eq!(compare(&ints(&[1, 2, 2]), &ints(&[2, 1, 2]), Equality::Exact), None);
        assert_eq!(class(&ints(&[1, 2, 2]), &ints(&[1, 1, 2]), Equality::Exact), Some(Class::WrongValues));
        assert_eq!(class(&ints(&[1, 2]), &ints(&[1, 2, 2]), Equality::Exact), Some(Class::WrongRows));
    }

    #[test]
    fn a_missing_tail_is_a_difference() {
        let difference = compare(&ints(&[1, 2, 3]), &ints(&[1, 2]), Equality::Engine).unwrap();
        assert_eq!(difference.class, Class::WrongRows);
        let Failure::Rows { first, second } = difference.failure else { panic!("{difference:?}") };
        assert_eq!((first.rows, first.only, second.only), (3, 1, 0));
        assert_eq!(first.examples, [vec![Value::Int(3)]]);
        assert!(compare(&ints(&[]), &ints(&[1]), Equality::Engine).is_some());
    }

    #[test]
    fn all_columns_count() {
        let a = rows(2, vec![Value::Int(1), Value::Int(1)]);
        let b = rows(2, vec![Value::Int(1), Value::Int(2)]);
        assert_eq!(class(&a, &b, Equality::Exact), Some(Class::WrongValues));
    }

    #[test]
    fn one_and_one_point_zero_are_equal_to_the_engine_and_a_matter_of_representation_otherwise() {
        let (int, real) = (ints(&[1]), rows(1, vec![Value::Real(1.0)]));
        assert_eq!(class(&int, &real, Equality::Engine), None);
        assert_eq!(class(&int, &real, Equality::Exact), Some(Class::Representation));
    }

    #[test]
    fn text_against_the_same_bytes_is_representation() {
        let text = rows(1, vec![Value::Text("7".into())]);
        let blob = rows(1, vec![Value::Blob(b"7".to_vec())]);
        assert_eq!(class(&text, &blob, Equality::Engine), Some(Class::Representation));
        assert_eq!(class(&text, &ints(&[7]), Equality::Engine), Some(Class::Representation));
        assert_eq!(class(&text, &ints(&[8]), Equality::Engine), Some(Class::WrongValues));
    }

    #[test]
    fn signed_zeros_are_equal_and_nan_equals_itself() {
        let reals = |r: f64| rows(1, vec![Value::Real(r)]);
        assert_eq!(class(&reals(0.0), &reals(-0.0), Equality::Exact), None);
        assert_eq!(class(&reals(f64::NAN), &reals(f64::NAN), Equality::Exact), None);
        assert!(class(&reals(f64::NAN), &reals(1.0), Equality::Exact).is_some());
    }

    #[test]
    fn a_set_has_each_row_once() {
        let bag = rows(1, vec![Value::Int(1), Value::Real(1.0), Value::Null, Value::Null, Value::Int(2)]);
        assert_eq!(distinct(&bag).len(), 3);
    }

    #[test]
    fn an_intersection_of_bags_counts() {
        let common = intersect_all(&ints(&[1, 1, 1, 2, 3]), &ints(&[1, 1, 3, 3, 4]));
        assert_eq!(common, ints(&[1, 1, 3]));
        assert_eq!(intersect_all(&ints(&[1]), &ints(&[])).len(), 0);
    }

    fn failed(class: ErrorClass) -> Reply {
        Reply::Failed(SqlError { class, code: String::new(), message: String::new() })
    }

    #[test]
    fn errors_in_some_or_all_arms_claim_nothing() {
        let answered = Reply::Rows(ints(&[1]));
        assert_eq!(settle_errors([&answered, &answered]), None);
        let both = [failed(ErrorClass::Runtime), failed(ErrorClass::Runtime)];
        assert_eq!(settle_errors(&both), Some(Verdict::skip("all arms fail")));
        let one = [answered, failed(ErrorClass::Runtime)];
        assert_eq!(settle_errors(&one), Some(Verdict::skip("one arm fails at run time")));
    }
}
