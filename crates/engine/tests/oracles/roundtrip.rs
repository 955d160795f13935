//! ROUNDTRIP: a database answers as before after maintenance, after it was opened again, and in a newer version.

use dissent_core::engine::Reply;
use dissent_core::finding::{Class, Verdict};
use dissent_core::oracle::roundtrip::Roundtrip;
use dissent_core::session::{NoJournal, Session};
use dissent_core::sql::Statement;
use dissent_core::subject::{Subject, TestCase};
use dissent_core::walk;

use super::again::assert_agreement;
use super::common::{Fixture, assert_passes, assert_reported, assert_skipped, evidence, over, query, sql};

const SETUP: &str = "CREATE TABLE t0(c0 INT, c1 TEXT); CREATE INDEX i0 ON t0(c1);
    INSERT INTO t0 VALUES (1, 'a'), (2, 'b'), (3, NULL)";

#[track_caller]
fn rewritten(way: &str, setup: &str, select: &str) -> TestCase {
    over(setup, Subject::new("roundtrip", query(select)).with_choice("way", way))
}

/// SQLite that loses a row when it rewrites its database.
fn careless() -> Fixture {
    Fixture::rewriting(|sql| match sql {
        "VACUUM" | "REINDEX" | "ANALYZE" => "DELETE FROM t0 WHERE c0 = 2".to_string(),
        other => other.to_string(),
    })
}

#[test]
fn a_row_that_maintenance_loses_is_reported() {
    for way in ["VACUUM", "REINDEX", "ANALYZE"] {
        assert_reported(careless(), &rewritten(way, SETUP, "SELECT c0 FROM t0 WHERE c1 > 'a'"));
    }
}

#[test]
fn saving_and_opening_are_no_arms() {
    // The rows of the table and those of the query, each before and after.
    assert_eq!(Fixture::sqlite().arms(&rewritten("reopen", SETUP, "SELECT c0 FROM t0 WHERE c1 > 'a'")), 4);
}

/// SQLite that does not save the rows of t0: they are in a temporary table, which hides the one that is saved.
fn lossy_once_opened() -> Fixture {
    Fixture::rewriting(|sql| match sql.starts_with("CREATE INDEX i0") {
        true => "CREATE TEMP TABLE t0(c0 INT, c1 TEXT)".to_string(),
        false => sql.to_string(),
    })
}

#[test]
fn an_answer_that_changes_when_the_database_is_opened_again_is_reported() {
    let case = rewritten("reopen", SETUP, "SELECT c0 FROM t0 WHERE c1 > 'a'");
    assert_reported(lossy_once_opened(), &case);
}

#[test]
fn another_version_opens_what_this_one_saved() {
    let Some(mut old) = Fixture::open("sqlite@3.30.1") else { return };
    let handed_over = |old: &mut Fixture, mut new: Fixture, case: &TestCase| {
        let mut journal = NoJournal;
        let mut session = Session::new(old.engine.as_mut(), &old.dialect, &mut journal, || 0);
        session.compare_with(new.engine.as_mut());
        walk::replay(case, &Roundtrip, &mut session).expect("the engines answer")
    };
    let case = rewritten("reopen", SETUP, "SELECT c0 FROM t0 WHERE c1 > 'a'");
    assert_eq!(handed_over(&mut old, Fixture::sqlite(), &case), Verdict::Pass { nonempty: true });
    let blind = Fixture::tampered(|sql, mut reply| {
        if let Reply::Rows(rows) = &mut reply
            && sql.starts_with("SELECT *")
        {
            rows.values.clear();
        }
        reply
    });
    assert_eq!(evidence(handed_over(&mut old, blind, &case)).class, Class::Changed);
}

#[test]
fn rule_15_1_rows_may_be_stored_in_another_order() {
    let cut = rewritten("VACUUM", SETUP, "SELECT c0 FROM t0 LIMIT 1");
    let mut turned = Fixture::rewriting(|sql| match sql {
        "VACUUM" => "PRAGMA reverse_unordered_selects = 1".to_string(),
        other => other.to_string(),
    });
    assert_skipped(turned.check(&cut), "LIMIT without a total order");
}

#[test]
fn rule_15_2_only_ways_that_the_dialect_lists() {
    assert_skipped(
        careless().check(&rewritten("DELETE FROM t0", SETUP, "SELECT 1")),
        "way that may change results",
    );
    let mut refusing = Fixture::rewriting(|sql| sql.replace("VACUUM", "VACUUM nowhere"));
    assert_skipped(refusing.check(&rewritten("VACUUM", SETUP, "SELECT 1")), "way that the engine refuses");
}

#[test]
fn rule_15_3_temporary_tables_end_with_the_session() {
    let table = "CREATE TEMP TABLE t0(c0 INT, c1 TEXT); INSERT INTO t0 VALUES (1, 'a')";
    let view = "CREATE TABLE t1(c0 INT); CREATE TEMP VIEW t0 AS SELECT c0 FROM t1";
    for temporary in [table, view] {
        let case = rewritten("reopen", temporary, "SELECT c0 FROM t0");
        assert_skipped(lossy_once_opened().check(&case), "temporary table");
    }
}

#[test]
fn rule_15_4_row_numbers_may_be_given_anew() {
    let case = rewritten("VACUUM", SETUP, "SELECT rowid FROM t0");
    assert_skipped(careless().check(&case), "query that reads row addresses");
    assert_passes(Fixture::sqlite().check(&rewritten("VACUUM", SETUP, "SELECT c0 FROM t0")));
}

#[test]
fn rule_15_6_what_a_session_was_told_is_forgotten() {
    let reason = "setting that ends with the session";
    let select = "SELECT c0 FROM t0 WHERE c1 LIKE 'A'";
    let set = sql("PRAGMA case_sensitive_like = ON").remove(0);
    let text = Statement::Raw("PRAGMA case_sensitive_like(1)".to_string());
    for told in [set, text] {
        let told_to = |way| {
            let mut case = rewritten(way, SETUP, select);
            case.setup.push(told.clone());
            case
        };
        assert_skipped(Fixture::sqlite().check(&told_to("reopen")), reason);
        assert_passes(Fixture::sqlite().check(&told_to("ANALYZE")));
    }
    let setup = format!("PRAGMA encoding = 'UTF-16le'; {SETUP}; PRAGMA cache_size = 10");
    assert_passes(Fixture::sqlite().check(&rewritten("reopen", &setup, select)));
}

#[test]
fn engines_agree_with_themselves() {
    for (target, quick) in [("sqlite", 1500), ("postgres", 150), ("duckdb", 420), ("mariadb", 150)] {
        assert_agreement(target, "roundtrip", quick);
    }
}
