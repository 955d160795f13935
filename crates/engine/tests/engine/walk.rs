//! The walk over databases: what is confirmed, what a finding takes along, and what becomes of the tables that a
//! proposal brings.

use dissent_core::engine::{ErrorClass, Reply};
use dissent_core::finding::{Origin, Verdict};
use dissent_core::oracle;
use dissent_core::sql::{Statement, Value};
use dissent_core::subject::{Subject, TestCase};
use dissent_core::walk::{confirm, rebuild, replay};

use super::common::{Counting, Fixture, assert_passes, evidence, failed, over, query, raw};

fn norec() -> TestCase {
    let select = query("SELECT t0.c0 FROM t0 WHERE t0.c0 >= 1");
    over("CREATE TABLE t0(c0 INT); INSERT INTO t0 VALUES (1), (2)", Subject::new("norec", select))
}

/// Wrong once in a while, and never when the same database is built again.
#[test]
fn rule_0_1_a_difference_that_does_not_hold_on_a_fresh_database_is_unstable() {
    let mut asked = 0;
    let mut fixture = Fixture::tampered(move |sql, mut reply| {
        asked += 1;
        if let (Reply::Rows(rows), true) = (&mut reply, sql.starts_with("SELECT COUNT") && asked % 97 == 0) {
            rows.values = vec![Value::Int(-1)];
        }
        reply
    });
    let (watcher, _) = fixture.walk(oracle::select("norec"), 1, Counting::cases(3000));
    assert!(watcher.unstable.len() > 5, "{} unstable", watcher.unstable.len());
    assert!(watcher.unstable.iter().all(|(case, _)| case.subject.oracle == "norec"));
    assert_eq!(watcher.findings.len(), 0);
}

/// Between the statements of a setup and a check, oracles run statements of their own.
#[test]
fn rule_0_1_a_fresh_database_is_built_by_all_that_was_run() {
    let case = norec();
    let oracle = oracle::by_name("norec").unwrap();
    let told = |analyzed_before_the_check: bool| {
        let mut analysed = false;
        let mut fixture = Fixture::tampered(move |sql, mut reply| {
            analysed = !sql.starts_with("CREATE TABLE") && (analysed || sql.starts_with("ANALYZE"));
            if let (Reply::Rows(rows), true) = (&mut reply, analysed && sql.contains(" WHERE ")) {
                rows.values = vec![Value::Int(-1)];
            }
            reply
        });
        let mut watcher = Counting::default();
        fixture.session(|session| {
            rebuild(&case, session).expect("the engine answers");
            let before = session.database().history().len() + usize::from(analyzed_before_the_check);
            session.run(&Statement::Analyze(None)).expect("the engine answers");
            let seen = evidence(oracle.check(&case.subject, session).expect("the engine answers"));
            confirm(Origin::default(), case.subject.clone(), before, seen, oracle, session, &mut watcher)
                .expect("the engine answers");
        });
        watcher
    };
    let lived = told(true);
    assert_eq!((lived.findings.len(), lived.unstable.len()), (1, 0));
    assert_eq!(lived.findings[0].0.setup, [case.setup.as_slice(), &[Statement::Analyze(None)]].concat());
    // What the check itself did is not part of the database.
    let alone = told(false);
    assert_eq!((alone.findings.len(), alone.unstable.len()), (0, 1));
}

/// 3.34.0 writes a float otherwise into an index that is made anew, as INDEX makes it: what NoREC finds then needs both
/// statements that INDEX ran, though no setup has them.
#[test]
fn what_another_oracle_left_behind_is_part_of_a_finding() {
    let Some(mut old) = Fixture::open("sqlite@3.34.0") else { return };
    let setup = raw(&[
        "CREATE TABLE t0(c0 REAL, c1 TEXT)",
        "CREATE INDEX i1 ON t0(+c0, c0)",
        "INSERT INTO t0 VALUES (0, 0)",
    ]);
    let again = raw(&["DROP INDEX i1", "CREATE INDEX i1 ON t0(+c0, c0)"]);
    let subject = Subject::new("norec", query("SELECT * FROM t0 WHERE +c0 LIKE 0"));
    let case = TestCase { setup: setup.clone(), subject: subject.with_choice("form", "count") };
    let oracle = oracle::by_name("norec").expect("it exists");
    let mut watcher = Counting::default();
    old.session(|session| {
        assert_passes(replay(&case, oracle, session).expect("the engine answers"));
        for statement in &again {
            session.run(statement).expect("the engine answers");
        }
        let before = session.database().history().len();
        let seen = evidence(oracle.check(&case.subject, session).expect("the engine answers"));
        confirm(Origin::default(), case.subject.clone(), before, seen, oracle, session, &mut watcher)
            .expect("the engine answers");
    });
    assert_eq!((watcher.findings.len(), watcher.unstable.len()), (1, 0));
    assert_eq!(watcher.findings[0].0.setup, [setup, again].concat());
}

/// The oracles that bring a table, and its name.
const BRINGS: &[(&str, &str)] = &[("rowid", "s0"), ("storage", "s0"), ("edc", "e0")];

/// Nothing can be asked of a table that is not there, and nothing is put into it.
#[test]
fn a_table_that_the_engine_refuses_is_skipped() {
    for (name, table) in BRINGS {
        let (create, insert) = (format!(" TABLE {table}("), format!("INSERT INTO {table}"));
        let mut fixture = Fixture::tampered(move |sql, reply| {
            assert!(!sql.starts_with(&insert), "{sql}");
            match sql.contains(&create) {
                true => failed(ErrorClass::Semantic, "not here"),
                false => reply,
            }
        });
        let (watcher, _) = fixture.walk(oracle::select(name), 3, Counting::cases(300));
        let skipped = watcher.reasons.get("table that the engine rejects").copied().unwrap_or(0);
        let proposed =
            watcher.skips - watcher.reasons.get("nothing to test in this database").copied().unwrap_or(0);
        assert!(skipped > 100 && skipped == proposed, "{name}: {:?}", watcher.reasons);
        assert_eq!((watcher.passes, watcher.findings.len(), watcher.unstable.len()), (0, 0, 0), "{name}");
    }
}

/// Rows that the engine does not take are left out: the others are asked about.
#[test]
fn rows_that_the_engine_refuses_are_left_out() {
    let mut rows = 0;
    // Most tables are filled by several statements.
    let mut fixture = Fixture::tampered(move |sql, reply| {
        rows += usize::from(sql.starts_with("INSERT INTO s0"));
        match sql.starts_with("INSERT INTO s0") && rows % 3 == 0 {
            true => failed(ErrorClass::Constraint, "not this one"),
            false => reply,
        }
    });
    let (watcher, _) = fixture.walk(oracle::select("storage"), 3, Counting::cases(300));
    assert!(watcher.passes > 100 && watcher.findings.is_empty(), "{:?}", watcher.reasons);
}

/// What a proposal brings is gone when its check is over, and what the check derived of it.
#[test]
fn tables_that_a_proposal_brings_are_dropped_again() {
    for (name, table) in BRINGS {
        let mut sqlite = Fixture::sqlite();
        let (watcher, _) = sqlite.walk(oracle::select(name), 3, Counting::cases(30));
        assert!(watcher.passes > 5, "{name}: {} passes", watcher.passes);
        let left =
            format!("SELECT name FROM sqlite_schema WHERE tbl_name IN ('{table}', 'twin0', 'stored0')");
        assert!(sqlite.rows(&left).unwrap().is_empty(), "{name}");
        let any = sqlite.rows("SELECT name FROM sqlite_schema").unwrap();
        assert!(!any.is_empty(), "the database of the walk is still there");
    }
}

/// They are part of what a finding is built from.
#[test]
fn tables_that_a_proposal_brings_are_part_of_a_finding() {
    for (name, table) in BRINGS {
        let mut fixture = Fixture::tampered(|sql, mut reply| {
            let derived = sql.contains("FROM twin0") || sql.contains("FROM stored0");
            if let (Reply::Rows(rows), true) = (&mut reply, derived && sql.contains(" WHERE ")) {
                rows.values.clear();
            }
            reply
        });
        let (watcher, _) = fixture.walk(oracle::select(name), 3, Counting::cases(300).until_found());
        let (case, seen) = watcher.findings.first().unwrap_or_else(|| panic!("{name}: nothing is found"));
        let creates = |statement: &&Statement| matches!(statement, Statement::CreateTable(create) if *create.name == **table);
        assert_eq!(case.setup.iter().filter(creates).count(), 1, "{name}");
        let again = fixture.check(case);
        assert!(matches!(&again, Verdict::Bug(found) if found.class == seen.class), "{name}: {again:?}");
    }
}
