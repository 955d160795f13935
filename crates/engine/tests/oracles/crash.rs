//! CRASH: harm to the engine is told by the one statement that did it, wherever that ran.

use dissent_core::engine::{ErrorClass, Stop};
use dissent_core::finding::{ArmOutcome, Class, Evidence, Failure, Origin};
use dissent_core::oracle::crash;
use dissent_core::render::to_sql;
use dissent_core::sql::Statement;
use dissent_core::subject::{Subject, TestCase};
use dissent_core::walk::{confirm_harm, rebuild};
use dissent_core::{check, import, oracle};

use super::common::{Counting, Fixture, SQLITE, assert_passes, evidence, failed, over, query, sql};

/// SQLite that comes to harm by what holds a text.
fn harmed_by(class: ErrorClass, part: &'static str) -> Fixture {
    Fixture::tampered(move |sql, reply| match sql.contains(part) {
        true => failed(class, "broken"),
        false => reply,
    })
}

/// The test case is the statement alone, and the evidence shows it.
#[track_caller]
fn assert_blamed_alone(case: &TestCase, evidence: &Evidence, part: &str) {
    assert_eq!(case.subject.oracle, "crash");
    let [statement] = case.subject.tests.as_slice() else { panic!("{:?}", case.subject.tests) };
    let text = to_sql(statement, &SQLITE);
    assert!(text.contains(part), "{text}");
    let told: Vec<_> = evidence.arms.iter().map(|arm| (arm.label.as_str(), arm.sql.as_str())).collect();
    assert_eq!(told, [("statement", text.as_str())]);
    assert!(matches!(evidence.arms[0].outcome, ArmOutcome::Error(_)));
    let Failure::Harm { error, .. } = &evidence.failure else { panic!("{:?}", evidence.failure) };
    assert_eq!(error.message, "broken");
}

#[test]
fn a_statement_that_does_no_harm_passes() {
    let case = |test: &str| over("CREATE TABLE t0(c0 INT)", Subject::of("crash", sql(test)));
    assert_passes(Fixture::sqlite().check(&case("SELECT c0 FROM t0")));
    // An ordinary error is none.
    assert_passes(Fixture::sqlite().check(&case("SELECT c9 FROM t0; DELETE FROM t1")));
    for (class, told) in
        [(ErrorClass::Internal, Class::InternalError), (ErrorClass::ConnectionLost, Class::Crash)]
    {
        let case = case("SELECT c0 FROM t0");
        let found = evidence(harmed_by(class, "SELECT c0").check(&case));
        assert_eq!(found.class, told);
        assert_blamed_alone(&case, &found, "SELECT c0 FROM t0");
    }
}

/// In the middle of a check of any oracle: by its second question, by what it changes in between, by what it makes.
#[test]
fn harm_in_the_middle_of_a_check_is_told_by_the_statement() {
    for (name, part) in [
        ("norec", "SELECT SUM(CASE WHEN"),
        ("tlp-where", " IS NULL"),
        ("joinequiv", " RIGHT JOIN "),
        ("index", "DROP INDEX"),
        ("plan", "PRAGMA automatic_index = 0"),
        ("rowid", "CREATE TABLE twin0"),
        ("storage", "FROM twin0"),
        ("edc", "FROM stored0"),
        ("valscope", " DISTINCT "),
    ] {
        for (class, told) in
            [(ErrorClass::Internal, Class::InternalError), (ErrorClass::ConnectionLost, Class::Crash)]
        {
            let (watcher, _) = harmed_by(class, part).walk(oracle::select(name), 2, Counting::cases(400));
            assert!(!watcher.findings.is_empty(), "{name}: no harm");
            for (case, evidence) in &watcher.findings {
                assert_eq!(evidence.class, told, "{name}");
                assert_blamed_alone(case, evidence, part);
            }
            assert!(watcher.unstable.is_empty(), "{name}: {:#?}", watcher.unstable);
        }
    }
}

/// The statement is not yet part of the database that it is tried on.
#[test]
fn harm_while_a_database_is_built_is_told_by_the_statement() {
    for part in ["CREATE INDEX", "INSERT INTO "] {
        let mut fixture = harmed_by(ErrorClass::Internal, part);
        let (watcher, _) = fixture.walk(oracle::select("norec"), 2, Counting::cases(400));
        assert!(!watcher.findings.is_empty(), "{part}: no harm");
        for (case, evidence) in &watcher.findings {
            assert_blamed_alone(case, evidence, part);
            assert!(!case.setup.contains(&case.subject.tests[0]), "{case:#?}");
            assert_blamed_alone(case, &super::common::evidence(fixture.check(case)), part);
        }
    }
}

/// Tables that a proposal brings are there when its statement is tried again.
#[test]
fn harm_by_what_a_proposal_brings_is_told_by_the_statement() {
    let (watcher, _) =
        harmed_by(ErrorClass::Internal, "INSERT INTO e0").walk(oracle::select("edc"), 2, Counting::cases(50));
    assert!(!watcher.findings.is_empty(), "no harm");
    for (case, evidence) in &watcher.findings {
        assert_blamed_alone(case, evidence, "INSERT INTO e0");
        let creates = |statement: &Statement| matches!(statement, Statement::CreateTable(create) if create.name == "e0");
        assert!(case.setup.iter().any(creates), "{case:#?}");
    }
}

/// The statement as it is written does no harm: the whole check is the test case, however many steps it has.
#[test]
fn harm_that_only_shows_prepared_is_told_by_the_check() {
    let prepared_query = |sql: &str| sql.starts_with("/* prepared") && sql.contains("SELECT");
    let mut fixture = Fixture::tampered(move |sql, reply| match prepared_query(sql) {
        true => failed(ErrorClass::Internal, "broken"),
        false => reply,
    });
    let (watcher, _) = fixture.walk(oracle::select("epsc"), 2, Counting::cases(60));
    assert!(!watcher.findings.is_empty(), "no harm");
    for (case, evidence) in &watcher.findings {
        assert_eq!(case.subject.oracle, "epsc");
        assert_eq!(evidence.class, Class::InternalError);
        assert!(matches!(evidence.failure, Failure::Harm { .. }));
        assert!(evidence.arms.len() == 1 && prepared_query(&evidence.arms[0].sql), "{:?}", evidence.arms);
    }
    assert!(watcher.unstable.is_empty(), "{:#?}", watcher.unstable);
}

fn norec() -> TestCase {
    let select = query("SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1");
    over("CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (1)", Subject::new("norec", select))
}

/// Checks on a database that was analysed, and tells what came of the harm.
fn told_after_analyze(fixture: &mut Fixture) -> Counting {
    let (case, norec) = (norec(), oracle::by_name("norec").expect("it exists"));
    let mut watcher = Counting::default();
    fixture.session(|session| {
        rebuild(&case, session).expect("the engine answers");
        session.run(&Statement::Analyze(None)).expect("the engine answers");
        let Err(Stop::Harm(harm)) = norec.check(&case.subject, session) else { panic!("no harm") };
        let check = Some((case.subject.clone(), norec));
        confirm_harm(Origin::default(), *harm, check, session, &mut watcher).expect("the engine answers");
    });
    watcher
}

/// What does no harm on the database as it was meant may do it on all that was run.
#[test]
fn harm_takes_along_what_was_run_before() {
    let mut analysed = false;
    let mut fixture = Fixture::tampered(move |sql, reply| {
        analysed = !sql.starts_with("CREATE TABLE") && (analysed || sql.starts_with("ANALYZE"));
        match analysed && sql.contains(" WHERE ") {
            true => failed(ErrorClass::Internal, "broken"),
            false => reply,
        }
    });
    let told = told_after_analyze(&mut fixture);
    assert_eq!((told.findings.len(), told.unstable.len()), (1, 0));
    let (case, evidence) = &told.findings[0];
    assert_blamed_alone(case, evidence, "SELECT COUNT(*) FROM t0 WHERE t0.c0 >= 1");
    assert_eq!(case.setup, [norec().setup.as_slice(), &[Statement::Analyze(None)]].concat());
}

#[test]
fn harm_that_does_not_show_again_is_unstable() {
    let mut harmed = 0;
    let mut once = Fixture::tampered(move |sql, reply| {
        harmed += u32::from(sql.contains(" WHERE "));
        match harmed == 1 && sql.contains(" WHERE ") {
            true => failed(ErrorClass::ConnectionLost, "broken"),
            false => reply,
        }
    });
    let told = told_after_analyze(&mut once);
    assert_eq!((told.findings.len(), told.unstable.len()), (0, 1));
    let (case, evidence) = &told.unstable[0];
    assert_eq!(evidence.class, Class::Crash);
    assert_blamed_alone(case, evidence, "SELECT COUNT(*) FROM t0 WHERE t0.c0 >= 1");
}

/// Harm by a script's own statements and by what oracles make of its queries; what follows is checked all the same.
#[test]
fn a_script_goes_on_after_harm() {
    let script = "CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (1), (2), (7); CREATE INDEX i0 ON t0(c0);
        SELECT c0 FROM t0 WHERE c0 > 1; SELECT c0 FROM t0 WHERE c0 = 7;";
    let checked = |part: &'static str| {
        let mut fixture = harmed_by(ErrorClass::Internal, part);
        let mut watcher = Counting::default();
        let read = fixture.session(|session| {
            let statements = import::file("s.sql", script, &SQLITE);
            check::script(0, statements, &oracle::select("norec"), session, &mut watcher)
                .expect("the engine answers")
        });
        assert_eq!(read.queries.len(), 2, "{part}");
        watcher
    };
    let by_oracle = checked("> 1) IS TRUE");
    let told = |watcher: &Counting, part: &str| {
        assert!(!watcher.findings.is_empty(), "{part}: no harm");
        watcher.findings.iter().for_each(|(case, evidence)| assert_blamed_alone(case, evidence, part));
    };
    told(&by_oracle, "> 1");
    assert!(by_oracle.passes > 0, "the second query is checked");
    let by_script = checked("CREATE INDEX");
    told(&by_script, "CREATE INDEX");
    assert_eq!(by_script.findings.len(), 1);
    assert!(by_script.passes > by_oracle.passes, "all queries are checked");
}

/// A statement of the setup that harms the engine is told instead of the check that was to follow.
#[test]
fn harm_by_a_setup_ends_a_replay() {
    let found = evidence(harmed_by(ErrorClass::Internal, "INSERT INTO t0").check(&norec()));
    assert_eq!(found.arms[0].sql, "INSERT INTO t0 VALUES (1)");
    assert!(matches!(found.failure, Failure::Harm { .. }));
}

#[test]
fn the_oracle_is_known_by_name_but_not_among_those_that_ask() {
    assert_eq!(oracle::by_name("crash").map(|oracle| oracle.name()), Some(crash::NAME));
    assert!(oracle::select("all").iter().all(|oracle| oracle.name() != crash::NAME));
}
