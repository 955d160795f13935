//! Which of three partitions is wrong: each alone, against the predicate evaluated for every row.

use super::PARTS;
use crate::engine::{Reply, Rows, Stop};
use crate::finding::{ArmOutcome, Evidence, Failure};
use crate::oracle::Expected;
use crate::oracle::kit::judge::{self, Equality};
use crate::session::Session;
use crate::sql::{Branch, Expr, Query, SelectItem, Truth, Value};

/// The label of the arm that has every row, and which of the three conditions is true of it.
const REFERENCE: &str = "every row, and whether p, NOT p and p IS NULL are true of it";

/// Asks what the predicate is on every row. If a partition has other rows, both queries are added to the evidence.
pub fn look_for(
    evidence: &mut Evidence,
    whole: &Query,
    predicate: &Expr,
    parts: [(&'static str, Query); 3],
    as_sets: bool,
    session: &mut Session,
) -> Result<(), Stop> {
    let (Failure::Rows { .. }, Some(reference)) = (&evidence.failure, marked(whole, predicate)) else {
        return Ok(());
    };
    let Reply::Rows(rows) = session.query(&reference)? else { return Ok(()) };
    for (number, (label, query)) in parts.into_iter().enumerate() {
        let asked = evidence.arms.iter().find(|arm| arm.label == label);
        let answer = match asked.map(|arm| &arm.outcome) {
            Some(ArmOutcome::Rows(rows)) => rows.clone(),
            Some(_) => continue,
            None => match session.query(&query)? {
                Reply::Rows(rows) => rows,
                _ => continue,
            },
        };
        if same(&answer, &marked_rows(&rows, number), as_sets) {
            continue;
        }
        if asked.is_none() {
            let plan = session.explain(&query)?;
            evidence.arms.push(session.arm(label, &query.into(), Reply::Rows(answer), plan));
        }
        let plan = session.explain(&reference)?;
        evidence.arms.push(session.arm(REFERENCE, &reference.into(), Reply::Rows(rows), plan));
        return Ok(());
    }
    Ok(())
}

/// The label of the arm that has the aggregate over the rows of one partition without a WHERE.
const REFERENCE_AGGREGATE: &str = "the same aggregate, with the predicate evaluated for every row";

/// The same for an aggregate: over the rows of a partition, and over all rows with NULL for those that are not in it.
pub fn look_for_aggregate(
    evidence: &mut Evidence,
    whole: &Query,
    predicate: &Expr,
    parts: [(&'static str, Query); 3],
    session: &mut Session,
) -> Result<(), Stop> {
    let Failure::Rows { .. } = &evidence.failure else { return Ok(()) };
    for ((label, query), condition) in parts.into_iter().zip(conditions(predicate)) {
        let Some(reference) = only_where(whole, condition) else { return Ok(()) };
        let (Reply::Rows(answer), Reply::Rows(rows)) = (session.query(&query)?, session.query(&reference)?)
        else {
            continue;
        };
        if same(&answer, &rows, true) {
            continue;
        }
        let plans = (session.explain(&query)?, session.explain(&reference)?);
        evidence.arms.push(session.arm(label, &query.into(), Reply::Rows(answer), plans.0));
        evidence.arms.push(session.arm(REFERENCE_AGGREGATE, &reference.into(), Reply::Rows(rows), plans.1));
        return Ok(());
    }
    Ok(())
}

/// The partition that `look_for_aggregate` found, if it did.
pub fn expected_aggregate(evidence: &Evidence) -> Option<Expected> {
    let [.., wrong, reference] = evidence.arms.as_slice() else { return None };
    match &reference.outcome {
        ArmOutcome::Rows(rows)
            if reference.label == REFERENCE_AGGREGATE && PARTS.contains(&wrong.label.as_str()) =>
        {
            let by = evidence.arms.len() - 1;
            Some(Expected { arm: by - 1, rows: rows.clone(), by, why: WHY })
        }
        _ => None,
    }
}

/// An aggregate over all rows, with NULL in place of its argument where a condition is not true.
fn only_where(whole: &Query, condition: Expr) -> Option<Query> {
    let mut reference = whole.clone();
    let select = reference.as_select_mut()?;
    let [SelectItem::Expr { expr: Expr::Aggregate(aggregate), .. }] = select.items.as_mut_slice() else {
        return None;
    };
    let then = match aggregate.args.as_slice() {
        [] => Expr::int(1),
        [argument] => argument.clone(),
        _ => return None,
    };
    let branches = vec![Branch { when: condition.is(Truth::True), then }];
    aggregate.args = vec![Expr::Case { operand: None, branches, otherwise: None }];
    Some(reference)
}

fn conditions(predicate: &Expr) -> [Expr; 3] {
    [predicate.clone(), predicate.clone().negate(), predicate.clone().is(Truth::Null)]
}

const WHY: &str =
    "it evaluates the same predicate for every row, in the select list, where nothing is optimised away";

/// The partition that `look_for` found, if it did.
pub fn expected(evidence: &Evidence, as_sets: bool) -> Option<Expected> {
    let arm = |label: &str| {
        let at = evidence.arms.iter().position(|arm| arm.label == label)?;
        match &evidence.arms[at].outcome {
            ArmOutcome::Rows(rows) => Some((at, rows)),
            _ => None,
        }
    };
    let (by, reference) = arm(REFERENCE)?;
    PARTS.iter().enumerate().find_map(|(number, label)| {
        let (arm, answer) = arm(label)?;
        let rows = marked_rows(reference, number);
        let rows = if as_sets { judge::distinct(&rows) } else { rows };
        (!same(answer, &rows, as_sets)).then_some(Expected { arm, rows, by, why: WHY })
    })
}

fn same(answer: &Rows, expected: &Rows, as_sets: bool) -> bool {
    match as_sets {
        true => {
            judge::compare(&judge::distinct(answer), &judge::distinct(expected), Equality::Engine).is_none()
        }
        false => judge::compare(answer, expected, Equality::Exact).is_none(),
    }
}

/// The rows of a query with a mark for each of the three conditions.
fn marked(whole: &Query, predicate: &Expr) -> Option<Query> {
    let mut reference = whole.clone();
    let select = reference.as_select_mut()?;
    select.distinct = false;
    select.group_by.clear();
    select.items.extend(conditions(predicate).map(|condition| condition.is(Truth::True).into()));
    Some(reference)
}

/// The rows that have the mark of this number, without their marks.
fn marked_rows(all: &Rows, number: usize) -> Rows {
    let columns = all.columns.saturating_sub(PARTS.len());
    let is_marked = |row: &&[Value]| row.get(columns + number).and_then(Value::as_int) == Some(1);
    let marked = all.iter().filter(is_marked);
    Rows { columns, values: marked.flat_map(|row| row[..columns].iter().cloned()).collect() }
}
