//! What the generator promises, measured on the bundled SQLite.

use dissent_core::oracle;
use dissent_core::session::Counts;

use super::common::{Counting, Fixture};

fn walk(oracles: &str, seed: u64, cases: u64) -> (Counts, Counting, Vec<String>) {
    let (mut recording, log) = Fixture::recording();
    let (watcher, counts) = recording.walk(oracle::select(oracles), seed, Counting::cases(cases));
    (counts, watcher, log.take())
}

#[test]
fn the_same_seed_gives_the_same_statements() {
    let (_, _, first) = walk("all", 11, 600);
    let (_, _, second) = walk("all", 11, 600);
    assert!(first.len() > 1000);
    assert_eq!(first, second);
    let (_, _, other) = walk("all", 12, 600);
    assert_ne!(first, other);
}

#[test]
fn statements_are_valid_and_results_are_not_empty() {
    let (counts, watcher, _) = walk("all", 3, 12_000);
    let valid = counts.statements_ok as f64 / counts.statements as f64;
    assert!(valid >= 0.95, "{:.1} % of {} statements succeed", 100.0 * valid, counts.statements);
    let nonempty = watcher.nonempty as f64 / watcher.passes as f64;
    assert!(nonempty >= 0.60, "{:.1} % of {} compared queries have rows", 100.0 * nonempty, watcher.passes);
    assert!(watcher.skips * 10 < watcher.passes, "{} skips, {} passes", watcher.skips, watcher.passes);
    assert!(watcher.findings.is_empty(), "{:#?}", watcher.findings);
}

/// Every feature of a schema is drawn within some thousand databases' worth of statements.
#[test]
fn every_feature_of_a_schema_is_drawn() {
    let (_, _, statements) = walk("tlp-where", 5, 30_000);
    let text = statements.join("\n");
    for feature in [
        "CREATE TABLE",
        "CREATE TEMP TABLE",
        "CREATE UNIQUE INDEX",
        "CREATE VIEW",
        "WITHOUT ROWID",
        "STRICT",
        "PRIMARY KEY DESC",
        "AUTOINCREMENT",
        "PRIMARY KEY (",
        "UNIQUE (",
        "NOT NULL",
        "CHECK (",
        "DEFAULT ",
        "COLLATE NOCASE",
        "COLLATE RTRIM",
        "GENERATED ALWAYS AS",
        "STORED",
        "VIRTUAL",
        "REFERENCES",
        "ON CONFLICT IGNORE",
        "ON CONFLICT DO NOTHING",
        "DO UPDATE SET",
        "INSERT OR REPLACE",
        "INTO t0(c0) SELECT",
        "UPDATE OR IGNORE",
        "DELETE FROM",
        "ADD COLUMN",
        "RENAME TO",
        "RENAME COLUMN",
        "DROP COLUMN",
        "DROP INDEX",
        "REINDEX",
        "ANALYZE",
        "VACUUM",
        "PRAGMA encoding",
        "PRAGMA reverse_unordered_selects",
        "SAVEPOINT",
        "ROLLBACK",
        "RIGHT JOIN",
        "FULL JOIN",
        "NATURAL",
        "USING (",
        "WITH d",
        "WITH RECURSIVE d",
        "MATERIALIZED",
        "NOT INDEXED",
        "EXISTS (",
        "NOT BETWEEN",
        "GLOB",
        "ESCAPE",
        "CASE",
        "CAST(",
        "IS NOT TRUE",
        ") >= (",
    ] {
        assert!(text.contains(feature), "never drawn: {feature}");
    }
}
