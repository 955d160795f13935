//! PLAN: what it does with settings. What it shares with INDEX is tested in [`super::again`].

use dissent_core::engine::ErrorClass;

use super::again::{self, SETUP, assert_agreement, changing};
use super::common::{Fixture, assert_skipped, failed, without_last_row};

#[test]
fn rule_7_1_a_subject_is_a_query_and_settings() {
    let mut case = changing("plan", SETUP, "SELECT c0 FROM t0", "PRAGMA automatic_index = 0");
    case.subject.tests.swap(0, 1);
    assert_skipped(again::lossy().check(&case), "not a query and settings");
}

#[test]
fn rule_7_1_a_setting_that_answers_may_depend_on_is_not_touched() {
    let case = changing("plan", SETUP, "SELECT c0 FROM t0", "PRAGMA case_sensitive_like = 1");
    assert_skipped(again::lossy().check(&case), "setting that answers may depend on");
}

#[test]
fn rule_7_1_what_cannot_be_set_or_set_back_is_not_touched() {
    let case = changing("plan", SETUP, "SELECT c0 FROM t0", "PRAGMA automatic_index = 0");
    let reason = "no setting that can be set and set back";
    // Neither a setting that does not tell its value, nor one that cannot be set; all else goes wrong.
    for refused in ["PRAGMA automatic_index", "PRAGMA automatic_index = 0"] {
        let mut asked = 0;
        let mut fixture = Fixture::tampered(move |sql, reply| {
            asked += u32::from(sql.starts_with("SELECT"));
            match sql == refused {
                true => failed(ErrorClass::Semantic, "no such setting"),
                false if asked > 1 => without_last_row(reply),
                false => reply,
            }
        });
        assert_skipped(fixture.check(&case), reason);
    }
    let nothing = changing("plan", SETUP, "SELECT c0 FROM t0", "");
    assert_skipped(again::lossy().check(&nothing), reason);
}

#[test]
fn sqlite_agrees_with_itself() {
    assert_agreement("sqlite", "plan", 3_000);
}

#[test]
fn duckdb_agrees_with_itself() {
    assert_agreement("duckdb", "plan", 400);
}
