//! Written statistics: every statement that a dialect's file lists is accepted, plans follow, and answers do not.

use dissent_core::session::Session;
use dissent_core::sql::Statement;

use super::common::Fixture;

/// Three rows; a condition that an index can answer. Gives the plans under each way to write statistics.
fn plans(target: &str, index: &str, question: &str) -> Option<(usize, Vec<String>)> {
    let mut fixture = Fixture::open(target)?;
    let ways = fixture.dialect.statistics.clone();
    assert!(!ways.is_empty(), "{target} has none");
    let query = fixture.query(question);
    let plans = fixture.session(|session| {
        let run = |session: &mut Session, sql: &str| {
            let reply = session.build(&Statement::Raw(sql.to_string())).expect("the engine answers");
            assert!(reply.failure().is_none(), "{target}: {sql}: {reply:?}");
        };
        run(session, "CREATE TABLE t0(c0 INT, c1 INT)");
        run(session, index);
        run(session, "INSERT INTO t0 VALUES (1, 1), (2, 2), (3, NULL)");
        let mut plans = vec![session.explain(&query).unwrap().expect("it has EXPLAIN")];
        let before = session.query(&query).unwrap();
        for way in &ways {
            for form in &way.statements {
                let sql = form.replace("{}", "t0");
                assert!(session.dialect().is_maintenance(&sql), "{sql}");
                run(session, &sql);
            }
            plans.push(session.explain(&query).unwrap().expect("it has EXPLAIN"));
            assert_eq!(session.query(&query).unwrap(), before, "{target}: {way:?}");
        }
        plans
    });
    Some((ways.len(), plans))
}

#[test]
fn sqlite_believes_what_is_written() {
    let index = "CREATE INDEX i0 ON t0(c0)";
    let (_, plans) = plans("sqlite", index, "SELECT c1 FROM t0 WHERE c0 > 1 ORDER BY c1").unwrap();
    assert!(plans.iter().any(|plan| *plan != plans[0]), "{plans:#?}");
}

#[test]
fn postgres_believes_what_is_written() {
    let index = "CREATE INDEX i0 ON t0(c0)";
    let Some((ways, plans)) = plans("postgres", index, "SELECT c1 FROM t0 WHERE c0 = 2") else { return };
    assert_eq!(plans.len(), ways + 1);
    assert!(plans[1].contains("i0") && !plans[2].contains("i0"), "{plans:#?}");
}
