//! Restates a failure of another oracle for NoREC, which names the predicate and says which rows are right. This
//! makes findings of different oracles comparable.

use super::NAME;
use crate::finding::Class;
use crate::sql::{Expr, Query, Select, Truth};
use crate::subject::{Subject, TestCase};

/// One question for each of the three partitions of a query by a predicate.
pub fn partitions(case: &TestCase) -> Vec<TestCase> {
    let ([predicate], Some(query)) = (case.subject.exprs.as_slice(), case.subject.query()) else {
        return Vec::new();
    };
    if query.as_select().is_none() {
        return Vec::new();
    }
    let partition = |condition: Expr| rows(case, query, |_| {}, Some(condition));
    vec![
        partition(predicate.clone()),
        partition(predicate.clone().negate()),
        partition(predicate.clone().is(Truth::Null)),
    ]
}

/// About the rows of a query, with a condition added to its WHERE.
pub fn rows(
    case: &TestCase,
    query: &Query,
    edit: impl FnOnce(&mut Select),
    condition: Option<Expr>,
) -> TestCase {
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
    TestCase { setup: case.setup.clone(), subject: Subject::new(NAME, query) }
}

/// The class in which a restated finding fails: NoREC counts rows.
pub fn class(class: Class) -> Class {
    if class == Class::WrongValues { Class::WrongRows } else { class }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::oracle;
    use crate::render::to_sql;
    use crate::sql::TableRef;

    fn restated(oracle: &str) -> Vec<TestCase> {
        let query = Query::select(Select {
            distinct: true,
            items: vec![Expr::column("t0", "c0").into()],
            from: vec![TableRef::table("t0")],
            filter: Some(Expr::bare_column("c1")),
            ..Select::default()
        });
        let subject = Subject::new(oracle, query).with_expr(Expr::bare_column("c0"));
        oracle::by_name(oracle).unwrap().restate(&TestCase { setup: Vec::new(), subject })
    }

    #[test]
    fn each_partition_is_a_question() {
        let dialect = Dialect::load("sqlite", "3.30.1").unwrap();
        let questions = restated("tlp-distinct");
        let sql: Vec<String> =
            questions.iter().map(|case| to_sql(&case.subject.tests[0], &dialect)).collect();
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
        assert!(restated("tlp-having").is_empty());
        assert!(restated("norec").is_empty());
    }
}
