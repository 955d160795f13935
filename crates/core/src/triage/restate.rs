//! One cause shows to several oracles, and to some of them in a roundabout way. Put to NoREC, which names
//! the predicate and says which rows are right, findings of TLP and JoinEquiv become comparable.

use crate::finding::Class;
use crate::sql::{Expr, JoinKind, JoinOn, Query, Select, Statement, TableRef, Truth};
use crate::subject::Subject;

/// The questions to NoREC of which one should fail if a finding is about WHERE: for TLP one for each
/// partition. None where a finding cannot be put that way.
pub fn restatements(subject: &Subject) -> Vec<Subject> {
    if subject.oracle == "joinequiv" {
        return of_join(subject);
    }
    let partitioned =
        matches!(subject.oracle.as_str(), "tlp-where" | "tlp-distinct" | "tlp-group-by" | "tlp-aggregate");
    let ([predicate], Some(query)) = (subject.exprs.as_slice(), subject.query()) else { return Vec::new() };
    if !partitioned || query.as_select().is_none() {
        return Vec::new();
    }
    let partition = |condition: Expr| ask(subject, query, |_| {}, Some(condition));
    vec![
        partition(predicate.clone()),
        partition(predicate.clone().negate()),
        partition(predicate.clone().is(Truth::Null)),
    ]
}

/// An inner join is a WHERE over all pairs of rows; failing that, one of the outer joins loses rows to a
/// WHERE.
fn of_join(subject: &Subject) -> Vec<Subject> {
    let Some(query) = subject.query() else { return Vec::new() };
    let Some([TableRef::Join { left, right, on: JoinOn::On(on), .. }]) =
        query.as_select().map(|select| select.from.as_slice())
    else {
        return Vec::new();
    };
    let pairs = |select: &mut Select| {
        let pairs = TableRef::join(JoinKind::Inner, (**left).clone(), (**right).clone(), JoinOn::Nothing);
        select.from = vec![pairs];
    };
    let outer = |a: &TableRef, b: &TableRef| {
        let join = TableRef::join(JoinKind::Left, a.clone(), b.clone(), JoinOn::On(on.clone()));
        ask(subject, query, |select| select.from = vec![join], None)
    };
    vec![ask(subject, query, pairs, Some(on.clone())), outer(left, right), outer(right, left)]
}

/// NoREC over the rows of a query, with a condition added to its WHERE.
fn ask(subject: &Subject, query: &Query, edit: impl FnOnce(&mut Select), condition: Option<Expr>) -> Subject {
    let mut query = query.clone();
    if let Some(select) = query.as_select_mut() {
        select.items = vec![Expr::int(1).into()];
        select.distinct = false;
        select.group_by.clear();
        edit(select);
        select.filter = match (select.filter.take(), condition) {
            (Some(filter), Some(condition)) => Some(filter.and(condition)),
            (filter, condition) => filter.or(condition),
        };
    }
    Subject {
        oracle: "norec".to_string(),
        setup: subject.setup.clone(),
        tests: vec![Statement::from(query)],
        exprs: Vec::new(),
        choices: Default::default(),
    }
}

/// The class in which a restated finding fails: NoREC counts rows.
pub fn restated_class(class: Class) -> Class {
    if class == Class::WrongValues { Class::WrongRows } else { class }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::sql::render::to_sql;

    fn subject(oracle: &str) -> Subject {
        let query = Query::select(Select {
            distinct: true,
            items: vec![Expr::column("t0", "c0").into()],
            from: vec![TableRef::table("t0")],
            filter: Some(Expr::bare_column("c1")),
            ..Select::default()
        });
        Subject::new(oracle, query).with_expr(Expr::bare_column("c0"))
    }

    #[test]
    fn each_partition_is_a_question() {
        let dialect = Dialect::load("sqlite", "3.30.1").unwrap();
        let questions = restatements(&subject("tlp-distinct"));
        let sql: Vec<String> = questions.iter().map(|subject| to_sql(&subject.tests[0], &dialect)).collect();
        assert_eq!(
            sql,
            [
                "SELECT 1 FROM t0 WHERE c1 AND c0",
                "SELECT 1 FROM t0 WHERE c1 AND NOT c0",
                "SELECT 1 FROM t0 WHERE c1 AND c0 IS NULL",
            ]
        );
    }

    #[test]
    fn groups_and_other_oracles_stay_as_they_are() {
        assert!(restatements(&subject("tlp-having")).is_empty());
        assert!(restatements(&subject("norec")).is_empty());
    }
}
