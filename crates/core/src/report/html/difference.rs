//! Which rows and which lines of plans to mark, because the other side lacks them.

use std::collections::BTreeMap;

use crate::engine::Rows;
use crate::finding::{Arm, ArmOutcome, Evidence, Failure, Side};
use crate::sql::Value;

/// For each arm, whether each of its rows is part of the difference.
pub fn marked_rows(evidence: &Evidence) -> Vec<Vec<bool>> {
    let none = || evidence.arms.iter().map(|arm| vec![false; rows(arm).map_or(0, Rows::len)]).collect();
    match &evidence.failure {
        Failure::Rows { first, second } => {
            unmatched(&evidence.arms, first, second).unwrap_or_else(|| like(&evidence.arms, first, second))
        }
        Failure::Unpaired { in_first, row, .. } => {
            let side = |mine: bool| Side {
                rows: 0,
                only: 1,
                examples: if mine { vec![row.clone()] } else { Vec::new() },
            };
            like(&evidence.arms, &side(*in_first), &side(!in_first))
        }
        // What is compared is one value each: it differs.
        Failure::Counts { .. } | Failure::Lengths { .. } => {
            evidence.arms.iter().map(|arm| vec![is_single(arm); rows(arm).map_or(0, Rows::len)]).collect()
        }
        _ => none(),
    }
}

fn rows(arm: &Arm) -> Option<&Rows> {
    match &arm.outcome {
        ArmOutcome::Rows(rows) => Some(rows),
        _ => None,
    }
}

fn is_single(arm: &Arm) -> bool {
    rows(arm).is_some_and(|rows| rows.single().is_some())
}

fn spelled(row: &[Value]) -> String {
    row.iter().map(Value::to_string).collect::<Vec<_>>().join("\u{1f}")
}

/// The rows of the first arm without a partner in the others, and the other way round. None if that is not what the
/// oracle compared, which shows in the numbers.
fn unmatched(arms: &[Arm], first: &Side, second: &Side) -> Option<Vec<Vec<bool>>> {
    let (head, tail) = arms.split_first()?;
    let mut surplus: BTreeMap<String, i64> = BTreeMap::new();
    rows(head)?.iter().for_each(|row| *surplus.entry(spelled(row)).or_insert(0) += 1);
    tail.iter()
        .filter_map(rows)
        .flat_map(Rows::iter)
        .for_each(|row| *surplus.entry(spelled(row)).or_insert(0) -= 1);
    let only = |sign: i64| surplus.values().map(|count| (count * sign).max(0)).sum::<i64>();
    if (only(1), only(-1)) != (first.only as i64, second.only as i64) {
        return None;
    }
    let mut mark = |arm: &Arm, sign: i64| -> Vec<bool> {
        let Some(rows) = rows(arm) else { return Vec::new() };
        let mut is_surplus = |row: &[Value]| {
            let count = surplus.entry(spelled(row)).or_insert(0);
            let only = *count * sign > 0;
            *count -= if only { sign } else { 0 };
            only
        };
        rows.iter().map(&mut is_surplus).collect()
    };
    let mut marks = vec![mark(head, 1)];
    marks.extend(tail.iter().map(|arm| mark(arm, -1)));
    Some(marks)
}

/// The rows that look like the examples of a difference.
fn like(arms: &[Arm], first: &Side, second: &Side) -> Vec<Vec<bool>> {
    let spelled_all = |side: &Side| side.examples.iter().map(|row| spelled(row)).collect::<Vec<_>>();
    let (in_first, in_second) = (spelled_all(first), spelled_all(second));
    let mark = |(at, arm): (usize, &Arm)| {
        let examples = if at == 0 { &in_first } else { &in_second };
        rows(arm)
            .map_or_else(Vec::new, |rows| rows.iter().map(|row| examples.contains(&spelled(row))).collect())
    };
    arms.iter().enumerate().map(mark).collect()
}

/// The lines of a plan, each with whether no other plan has it.
pub fn marked_lines<'a>(plan: &'a str, others: &[&str]) -> Vec<(&'a str, bool)> {
    let has = |line: &str| others.iter().any(|other| other.lines().any(|its| its.trim() == line.trim()));
    plan.trim_end()
        .lines()
        .map(|line| (line, !others.is_empty() && !line.trim().is_empty() && !has(line)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Class;

    fn arm(values: &[i64]) -> Arm {
        let values = values.iter().copied().map(Value::Int).collect();
        let outcome = ArmOutcome::Rows(Rows { columns: 1, values });
        Arm { label: String::new(), sql: String::new(), outcome, plan: None }
    }

    fn side(rows: usize, only: &[i64], shown: usize) -> Side {
        let examples = only.iter().take(shown).map(|value| vec![Value::Int(*value)]).collect();
        Side { rows, only: only.len(), examples }
    }

    fn marks(arms: Vec<Arm>, failure: Failure) -> Vec<Vec<bool>> {
        let evidence =
            Evidence { class: Class::WrongRows, relation: String::new(), arms, failure, explanation: None };
        marked_rows(&evidence)
    }

    #[test]
    fn rows_without_a_partner_are_marked_as_often_as_they_lack_one() {
        let failure = Failure::Rows { first: side(4, &[2, 3], 1), second: side(3, &[5], 1) };
        let marks = marks(vec![arm(&[1, 2, 2, 3]), arm(&[1, 2]), arm(&[5])], failure);
        assert_eq!(marks, [vec![false, true, false, true], vec![false, false], vec![true]]);
    }

    #[test]
    fn where_something_else_was_compared_the_examples_are_marked() {
        let failure = Failure::Rows { first: side(9, &[2], 1), second: side(9, &[], 0) };
        assert_eq!(marks(vec![arm(&[1, 2]), arm(&[7])], failure), [vec![false, true], vec![false]]);
        let failure = Failure::Unpaired { in_first: false, row: vec![Value::Int(7)], first: 2, second: 1 };
        assert_eq!(marks(vec![arm(&[7, 2]), arm(&[7])], failure), [vec![false, false], vec![true]]);
    }

    #[test]
    fn counts_differ_as_a_whole() {
        let failure = Failure::Counts { first: 1, second: 2 };
        assert_eq!(marks(vec![arm(&[1]), arm(&[2])], failure), [vec![true], vec![true]]);
    }

    #[test]
    fn lines_of_one_plan_alone_are_marked() {
        let lines = marked_lines("SEARCH t0\n  SCAN t1\n", &["SCAN t0\nSCAN t1"]);
        assert_eq!(lines, [("SEARCH t0", true), ("  SCAN t1", false)]);
        assert_eq!(marked_lines("SCAN t0", &[]), [("SCAN t0", false)]);
    }
}
