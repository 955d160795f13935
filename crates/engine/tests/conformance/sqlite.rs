//! SQLite: the bundled copy, an older library, a fork, and an engine that imitates it.

use dissent_core::engine::ErrorClass;
use dissent_core::sql::{Kind, Value};

use super::suite::{PreparedWords, Suite, child, text, ty};

#[test]
fn sqlite_bundled() {
    suite("sqlite").run();
}

#[test]
fn sqlite_3_30() {
    suite("sqlite@3.30.1").run();
}

#[test]
fn libsql() {
    suite("libsql").run();
}

/// In its worker. Text that is not UTF-8 does not come back as it was, so such values are left out, and of pragmas it has
/// some.
#[test]
fn turso() {
    let like_sqlite = suite("turso");
    let is_utf8 = |(sql, _): &(&str, Value)| !sql.contains("x'ff'");
    Suite {
        values: like_sqlite.values.into_iter().filter(is_utf8).collect(),
        mess: &[
            "CREATE TABLE left_over(a INTEGER)",
            "PRAGMA cache_size = 7",
            "BEGIN",
            "INSERT INTO left_over VALUES (1)",
        ],
        traces: &["SELECT type, name FROM sqlite_master", "SELECT cache_size FROM pragma_cache_size"],
        server: Some(|_| child("turso")),
        ..like_sqlite
    }
    .run();
}

fn suite(target: &str) -> Suite {
    Suite {
        target: target.to_string(),
        one: "SELECT 1",
        values: vec![
            ("SELECT NULL", Value::Null),
            ("SELECT TRUE", Value::Int(1)),
            ("SELECT 9223372036854775807", Value::Int(i64::MAX)),
            ("SELECT -9223372036854775808", Value::Int(i64::MIN)),
            ("SELECT 9223372036854775808", Value::Real(9223372036854775808.0)),
            ("SELECT 0.1 + 0.2", Value::Real(0.1 + 0.2)),
            ("SELECT -9e999", Value::Real(f64::NEG_INFINITY)),
            // It has no NaN.
            ("SELECT 9e999 - 9e999", Value::Null),
            ("SELECT 'it''s \u{e9}\u{1f980} \\'", text("it's \u{e9}\u{1f980} \\")),
            ("SELECT ''", text("")),
            ("SELECT 'a' || char(0) || 'b'", text("a\0b")),
            ("SELECT CAST(x'ff' AS TEXT)", super::suite::other(Kind::Text, "text x'ff'")),
            ("SELECT x'00ff'", Value::Blob(vec![0, 255])),
            ("SELECT x''", Value::Blob(vec![])),
            ("SELECT date('2020-02-29')", text("2020-02-29")),
        ],
        stored: vec![
            (ty("INTEGER", Kind::Int), "-9223372036854775808", Value::Int(i64::MIN)),
            (ty("INTEGER", Kind::Int), "NULL", Value::Null),
            (ty("REAL", Kind::Real), "1.7976931348623157e308", Value::Real(f64::MAX)),
            (ty("REAL", Kind::Real), "-9e999", Value::Real(f64::NEG_INFINITY)),
            (ty("TEXT", Kind::Text), "''", text("")),
            (ty("TEXT", Kind::Text), "'it''s \u{e9}\u{1f980} \\'", text("it's \u{e9}\u{1f980} \\")),
            (ty("TEXT", Kind::Text), "'a' || char(0)", text("a\0")),
            (ty("BLOB", Kind::Blob), "x'00ff27'", Value::Blob(vec![0, 255, 39])),
            (ty("BLOB", Kind::Blob), "x''", Value::Blob(vec![])),
            (ty("", Kind::Any), "'7'", text("7")),
        ],
        insert: |_| "INSERT INTO r VALUES (?1)".to_string(),
        setup: &["CREATE TABLE k(a INTEGER PRIMARY KEY, b NOT NULL)", "INSERT INTO k VALUES (1, 1)"],
        errors: &[
            ("SELEC 1", ErrorClass::Syntax),
            ("SELECT 1; SELECT 2", ErrorClass::Syntax),
            ("SELECT no_such_column", ErrorClass::Semantic),
            ("SELECT * FROM nowhere", ErrorClass::Semantic),
            ("INSERT INTO k VALUES (1, 1)", ErrorClass::Constraint),
            ("INSERT INTO k VALUES (2, NULL)", ErrorClass::Constraint),
            ("SELECT abs(-9223372036854775808)", ErrorClass::Runtime),
            ("SELECT json('{')", ErrorClass::Runtime),
        ],
        prepared: PreparedWords {
            create: "CREATE TABLE p(a INTEGER NOT NULL, b TEXT)",
            insert: "INSERT INTO p VALUES (?1, ?2)",
            count: "SELECT COUNT(*) FROM p WHERE a > ?1",
            types: [ty("INTEGER", Kind::Int), ty("TEXT", Kind::Text)],
            wrong: ("SELECT no_such_column", ErrorClass::Semantic),
            unkeyed: Some(Value::Null),
        },
        sql_prepared: &[],
        endless: "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",
        boundless: None,
        many_rows: "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 1000) SELECT n FROM r",
        mess: &[
            "PRAGMA case_sensitive_like = ON",
            "PRAGMA cache_size = 7",
            "CREATE TABLE left_over(a INTEGER)",
            "CREATE TEMP TABLE left_too(a INTEGER)",
            "BEGIN",
            "INSERT INTO left_over VALUES (1)",
        ],
        setting: ("SELECT cache_size FROM pragma_cache_size", Value::Int(-2000)),
        traces: &[
            "SELECT type, name FROM sqlite_master UNION ALL SELECT type, name FROM sqlite_temp_master",
            "SELECT (SELECT cache_size FROM pragma_cache_size), (SELECT recursive_triggers FROM \
             pragma_recursive_triggers), (SELECT automatic_index FROM pragma_automatic_index), \
             (SELECT foreign_keys FROM pragma_foreign_keys), (SELECT encoding FROM pragma_encoding), 'a' LIKE 'A'",
        ],
        server: None,
    }
}

/// The engine's own word that it is broken is an internal error.
#[test]
fn a_malformed_database_is_an_internal_error() {
    use dissent_core::engine::{Engine, Reply};
    let Some((mut engine, _)) = super::suite::open("sqlite") else { return };
    for sql in [
        "CREATE TABLE k(a)",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET rootpage = 999 WHERE name = 'k'",
        "PRAGMA writable_schema = RESET",
    ] {
        engine.execute(sql).unwrap();
    }
    match engine.execute("SELECT * FROM k").unwrap() {
        Reply::Failed(error) => assert_eq!(error.class, ErrorClass::Internal, "{error}"),
        other => panic!("{other:?}"),
    }
}
