//! ValScope: every rule is held against real engines, and stops where it must.

mod common;

use std::collections::BTreeMap;

use common::{Counting, open, with_session};
use dissent_core::dialect::Dialect;
use dissent_core::engine::Engine;
use dissent_core::finding::Class;
use dissent_core::generate::Policy;
use dissent_core::oracle;
use dissent_core::oracle::valscope::rules::Rule;
use dissent_core::walk::Walk;

type Notes = BTreeMap<String, u64>;

fn walk(engine: &mut dyn Engine, dialect: &Dialect, seed: u64, checks: u64) -> (Counting, Notes) {
    let walk = Walk { dialect, oracles: oracle::select("valscope"), seed, policy: Policy::default() };
    let mut watcher = Counting { cases_left: u64::MAX, ..Counting::default() };
    let notes = with_session(engine, dialect, |session| {
        for number in 0.. {
            // What an engine itself calls an internal error is a bug of its own, not of a rule.
            watcher.findings.retain(|(_, evidence)| evidence.class != Class::InternalError);
            if !watcher.findings.is_empty() || watcher.passes >= checks {
                break;
            }
            walk.database(number, session, &mut watcher).expect("the engine answers");
        }
        session.counts.notes.iter().map(|(note, count)| (note.to_string(), *count)).collect()
    });
    (watcher, notes)
}

/// How many subjects a property is tried on; all of them with `DISSENT_FULL_PROPERTIES=1`.
fn subjects(few: u64, all: u64) -> u64 {
    if std::env::var("DISSENT_FULL_PROPERTIES").as_deref() == Ok("1") { all } else { few }
}

/// The rules as a property: the predicted relation holds on a correct engine, and every rule is used.
fn every_rule_holds(target: &str, checks: u64) {
    let Some((mut engine, dialect)) = open(target) else { return };
    let (watcher, notes) = walk(engine.as_mut(), &dialect, 7, checks);
    if let Some((subject, evidence)) = watcher.findings.first() {
        let json = serde_json::to_string(subject).unwrap_or_default();
        panic!("{target}: {evidence:#?}\n{:?}\n{json}", subject.choices);
    }
    println!(
        "{target}: {} passes ({} not empty), {} skips, {} unstable",
        watcher.passes, watcher.nonempty, watcher.skips, watcher.unstable
    );
    println!("{:#?}", watcher.reasons);
    notes.iter().for_each(|(note, count)| println!("{count:8}  {note}"));
    assert!(watcher.nonempty * 2 > watcher.passes, "too many subjects without a row");
    let count = |rule: &Rule| notes.get(rule.note()).copied().unwrap_or(0);
    let least = if checks < 5_000 { 1 } else { 100.min(checks / 200) };
    let seldom: Vec<_> = Rule::ALL.iter().filter(|r| r.is_for(&dialect) && count(r) < least).collect();
    assert!(seldom.is_empty(), "used less than {least} times: {seldom:?}");
}

#[test]
fn every_rule_holds_on_sqlite() {
    every_rule_holds("sqlite", subjects(20_000, 100_000));
}

#[test]
fn every_rule_holds_on_duckdb() {
    every_rule_holds("duckdb", subjects(2_000, 10_000));
}

#[test]
fn every_rule_holds_on_postgres() {
    every_rule_holds("postgres", subjects(4_000, 10_000));
}
