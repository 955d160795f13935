//! One cause shows to several oracles, and to some of them in a roundabout way. Put to NoREC, which names
//! the predicate and says which rows are right, findings of TLP become comparable.

use crate::finding::Class;
use crate::sql::{Expr, Statement, Truth};
use crate::subject::Subject;

/// The questions to NoREC of which one must fail if a finding of TLP is about WHERE: one for each
/// partition. None where a finding cannot be put that way.
pub fn restatements(subject: &Subject) -> Vec<Subject> {
    let partitioned =
        matches!(subject.oracle.as_str(), "tlp-where" | "tlp-distinct" | "tlp-group-by" | "tlp-aggregate");
    let ([predicate], Some(query)) = (subject.exprs.as_slice(), subject.query()) else { return Vec::new() };
    if !partitioned || query.as_select().is_none() {
        return Vec::new();
    }
    let ask = |condition: Expr| {
        let mut query = query.clone();
        if let Some(select) = query.as_select_mut() {
            select.items = vec![Expr::int(1).into()];
            select.distinct = false;
            select.group_by.clear();
            select.filter = Some(match select.filter.take() {
                Some(filter) => filter.and(condition),
                None => condition,
            });
        }
        Subject {
            oracle: "norec".to_string(),
            setup: subject.setup.clone(),
            tests: vec![Statement::from(query)],
            exprs: Vec::new(),
            choices: Default::default(),
        }
    };
    vec![ask(predicate.clone()), ask(predicate.clone().negate()), ask(predicate.clone().is(Truth::Null))]
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
    use crate::sql::{Query, Select, TableRef};

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
