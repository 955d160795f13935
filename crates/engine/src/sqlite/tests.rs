//! Tests of the adapter on the bundled SQLite.

use dissent_core::engine::{Engine, ErrorClass, Limits, Reply, SqlError};
use dissent_core::sql::{Kind, Value};

use super::SqliteEngine;

fn engine() -> SqliteEngine {
    SqliteEngine::bundled().unwrap()
}

fn run(engine: &mut SqliteEngine, sql: &str) -> Reply {
    engine.execute(sql).unwrap()
}

fn must(engine: &mut SqliteEngine, sql: &str) {
    let reply = run(engine, sql);
    assert!(!matches!(reply, Reply::Failed(_)), "{sql}: {reply:?}");
}

fn row(engine: &mut SqliteEngine, sql: &str) -> Vec<Value> {
    match run(engine, sql) {
        Reply::Rows(rows) if rows.len() == 1 => rows.values,
        other => panic!("{sql}: {other:?}"),
    }
}

fn failure(engine: &mut SqliteEngine, sql: &str) -> SqlError {
    match run(engine, sql) {
        Reply::Failed(error) => error,
        other => panic!("{sql}: {other:?}"),
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_string())
}

#[test]
fn values_come_back_with_their_types() {
    let mut db = engine();
    assert_eq!(
        row(&mut db, "SELECT 9223372036854775807, -9223372036854775808, 0.1, 9e999, -9e999, 1.0, NULL"),
        [
            Value::Int(i64::MAX),
            Value::Int(i64::MIN),
            Value::Real(0.1),
            Value::Real(f64::INFINITY),
            Value::Real(f64::NEG_INFINITY),
            Value::Real(1.0),
            Value::Null,
        ]
    );
    assert_eq!(
        row(&mut db, "SELECT '', x'', 'Grüße 🦀', x'00ff10', 'a' || char(0) || 'b', zeroblob(3)"),
        [
            text(""),
            Value::Blob(vec![]),
            text("Grüße 🦀"),
            Value::Blob(vec![0, 255, 16]),
            text("a\0b"),
            Value::Blob(vec![0; 3]),
        ]
    );
}

#[test]
fn text_that_is_no_utf8_stays_distinct() {
    let mut db = engine();
    assert_eq!(
        row(&mut db, "SELECT CAST(x'61ff' AS TEXT), CAST(x'61fe' AS TEXT)"),
        ["text x'61ff'", "text x'61fe'"].map(|t| Value::Other { kind: Kind::Text, text: t.to_string() })
    );
}

#[test]
fn text_is_the_same_in_a_utf16_database() {
    let mut db = engine();
    for encoding in ["UTF-16le", "UTF-16be"] {
        db.reset().unwrap();
        must(&mut db, &format!("PRAGMA encoding = '{encoding}'"));
        must(&mut db, "CREATE TABLE t(a)");
        must(&mut db, "INSERT INTO t VALUES ('Grüße 🦀' || char(0) || 'b')");
        assert_eq!(row(&mut db, "PRAGMA encoding"), [text(encoding)]);
        assert_eq!(row(&mut db, "SELECT a, '' FROM t"), [text("Grüße 🦀\0b"), text("")]);
    }
}

#[test]
fn a_query_gives_rows_even_if_there_are_none() {
    let mut db = engine();
    match run(&mut db, "SELECT 1, 2 WHERE 0") {
        Reply::Rows(rows) => assert_eq!((rows.columns, rows.len()), (2, 0)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_changes_of_the_statement_itself_are_counted() {
    let mut db = engine();
    let none = Reply::Done { changed: 0 };
    assert_eq!(run(&mut db, "CREATE TABLE t(a)"), none);
    assert_eq!(run(&mut db, "INSERT INTO t VALUES (1), (2), (3)"), Reply::Done { changed: 3 });
    assert_eq!(run(&mut db, "CREATE INDEX i ON t(a)"), none);
    assert_eq!(run(&mut db, "UPDATE t SET a = 4 WHERE a > 1"), Reply::Done { changed: 2 });
    assert_eq!(run(&mut db, "UPDATE t SET a = 5 WHERE a > 9"), none);
    assert!(matches!(run(&mut db, "INSERT INTO t VALUES (9) RETURNING a"), Reply::Rows(_)));
    assert_eq!(run(&mut db, "DROP INDEX i"), none);
    assert_eq!(run(&mut db, "DELETE FROM t"), Reply::Done { changed: 4 });
    assert_eq!(run(&mut db, " -- nothing\n"), none);
}

#[test]
fn errors_are_classed_by_code() {
    let mut db = engine();
    for setup in [
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE, c CHECK(c > 0), d NOT NULL DEFAULT 0)",
        "INSERT INTO t VALUES (1, 1, 1, 1)",
        "CREATE TABLE s(a INT) STRICT",
    ] {
        must(&mut db, setup);
    }
    use ErrorClass::*;
    for (sql, class, code) in [
        ("SELEC 1", Syntax, "SQLITE_ERROR"),
        ("SELECT (", Syntax, "SQLITE_ERROR"),
        ("SELECT 1 @", Syntax, "SQLITE_ERROR"),
        ("SELECT 'open", Syntax, "SQLITE_ERROR"),
        ("SELECT 1; SELECT 2", Syntax, "SQLITE_ERROR"),
        ("SELECT 1; bogus", Syntax, "SQLITE_ERROR"),
        ("SELECT 1\0SELECT 2", Syntax, "SQLITE_ERROR"),
        ("SELECT * FROM nowhere", Semantic, "SQLITE_ERROR"),
        ("SELECT a FROM t ORDER BY 7", Semantic, "SQLITE_ERROR"),
        ("SELECT a FROM t ORDER BY a COLLATE nocolour", Semantic, "SQLITE_ERROR_MISSING_COLLSEQ"),
        ("SELECT sum(sum(a)) FROM t", Semantic, "SQLITE_ERROR"),
        ("INSERT INTO t(a) VALUES (1)", Constraint, "SQLITE_CONSTRAINT_PRIMARYKEY"),
        ("INSERT INTO t(b) VALUES (1)", Constraint, "SQLITE_CONSTRAINT_UNIQUE"),
        ("INSERT INTO t(c) VALUES (0)", Constraint, "SQLITE_CONSTRAINT_CHECK"),
        ("INSERT INTO t(d) VALUES (NULL)", Constraint, "SQLITE_CONSTRAINT_NOTNULL"),
        ("INSERT INTO s VALUES ('x')", Constraint, "SQLITE_CONSTRAINT_DATATYPE"),
        ("SELECT abs(-9223372036854775808)", Runtime, "SQLITE_ERROR"),
        ("SELECT sum(9223372036854775807) FROM (SELECT 1 UNION ALL SELECT 2)", Runtime, "SQLITE_ERROR"),
        ("SELECT json('{')", Runtime, "SQLITE_ERROR"),
        ("INSERT INTO t(a) VALUES ('x')", Runtime, "SQLITE_MISMATCH"),
        ("SELECT zeroblob(30001)", Runtime, "SQLITE_TOOBIG"),
    ] {
        let error = failure(&mut db, sql);
        assert_eq!((error.class, error.code.as_str()), (class, code), "{sql}: {}", error.message);
        assert!(!error.message.is_empty());
    }
    assert_eq!(failure(&mut db, "SELECT * FROM nowhere").message, "no such table: nowhere");
    assert_eq!(failure(&mut db, &format!("SELECT {}1", "- ".repeat(5000))).class, Limit);
}

#[test]
fn a_broken_database_is_an_internal_error() {
    let mut db = engine();
    must(&mut db, "CREATE TABLE t(a)");
    must(&mut db, "PRAGMA writable_schema = ON");
    must(&mut db, "UPDATE sqlite_schema SET rootpage = 1");
    must(&mut db, "PRAGMA writable_schema = RESET");
    let error = failure(&mut db, "SELECT * FROM t");
    assert_eq!(error.class, ErrorClass::Internal, "{error:?}");
    assert!(error.code.starts_with("SQLITE_CORRUPT"));
}

#[test]
fn semicolons_blanks_and_comments_may_follow() {
    let mut db = engine();
    for sql in ["SELECT 1;", "SELECT 1 ; ; \n", "SELECT 1; -- more; SELECT 2", "SELECT 1; /* a */ ; -- b\n"] {
        assert_eq!(row(&mut db, sql), [Value::Int(1)], "{sql}");
    }
}

#[test]
fn a_rejected_second_statement_leaves_the_first_undone() {
    let mut db = engine();
    failure(&mut db, "CREATE TABLE t(a); CREATE TABLE u(a)");
    assert_eq!(row(&mut db, "SELECT count(*) FROM sqlite_schema"), [Value::Int(0)]);
}

const ENDLESS: &str =
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c";

#[test]
fn an_endless_statement_stops_at_the_same_step_each_time() {
    let mut db = engine();
    let stop = failure(&mut db, ENDLESS);
    assert_eq!((stop.class, stop.code.as_str()), (ErrorClass::Limit, "SQLITE_INTERRUPT"));
    assert_eq!(stop.message, format!("stopped after {} steps", Limits::default().steps));

    db.set_limits(Limits { steps: 20_000, ..Limits::default() });
    must(&mut db, "CREATE TABLE t(a)");
    let counted = "INSERT INTO t WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 900) SELECT n FROM c";
    must(&mut db, counted);
    for _ in 0..3 {
        let slow = failure(&mut db, &counted.replace("900", "5000"));
        assert_eq!(slow.message, "stopped after 20000 steps");
    }
    // Undone, and the connection is as good as before.
    assert_eq!(row(&mut db, "SELECT count(*) FROM t"), [Value::Int(900)]);
}

#[test]
fn wall_time_is_the_net_under_the_steps() {
    let mut db = engine();
    db.set_limits(Limits { steps: u64::MAX, millis: 20, ..Limits::default() });
    let error = failure(&mut db, ENDLESS);
    assert_eq!((error.class, error.message.as_str()), (ErrorClass::Limit, "stopped after 20 ms"));
}

#[test]
fn too_many_rows_are_a_limit() {
    let mut db = engine();
    db.set_limits(Limits { rows: 3, ..Limits::default() });
    assert!(matches!(run(&mut db, "VALUES (1), (2), (3)"), Reply::Rows(rows) if rows.len() == 3));
    let error = failure(&mut db, "VALUES (1), (2), (3), (4)");
    assert_eq!((error.class, error.message.as_str()), (ErrorClass::Limit, "more than 3 rows"));
}

#[test]
fn too_much_memory_is_a_limit() {
    let mut db = engine();
    db.set_limits(Limits { memory_bytes: 8 << 20, ..Limits::default() });
    // Inside SQLite: a table of sixty megabytes.
    must(&mut db, "CREATE TABLE t(a)");
    let big = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 2000) SELECT zeroblob(29000) FROM c";
    let error = failure(&mut db, &format!("INSERT INTO t {big}"));
    assert_eq!((error.class, error.code.as_str()), (ErrorClass::Limit, "SQLITE_NOMEM"));
    // On our side: the rows of a result.
    let error = failure(&mut db, big);
    assert_eq!((error.class, error.message.as_str()), (ErrorClass::Limit, "more than 8388608 bytes"));
    assert_eq!(row(&mut db, "SELECT count(*) FROM t"), [Value::Int(0)]);
}

#[test]
fn reset_leaves_nothing_behind() {
    let mut db = engine();
    let settings = ["foreign_keys", "recursive_triggers", "page_size", "encoding", "automatic_index"];
    let state = |db: &mut SqliteEngine| {
        let mut state: Vec<Value> =
            settings.iter().flat_map(|setting| row(db, &format!("PRAGMA {setting}"))).collect();
        state.extend(row(db, "PRAGMA hard_heap_limit"));
        state.extend(row(db, "PRAGMA soft_heap_limit"));
        state.extend(row(db, "SELECT 'a' LIKE 'A', count(*) FROM sqlite_schema"));
        state.extend(row(db, "SELECT count(*) FROM pragma_database_list"));
        state
    };
    db.reset().unwrap();
    let fresh = state(&mut db);
    assert_eq!(fresh[0], Value::Int(0), "SQLite itself has foreign keys off");
    for change in [
        "PRAGMA page_size = 1024",
        "PRAGMA encoding = 'UTF-16le'",
        "PRAGMA foreign_keys = ON",
        "PRAGMA recursive_triggers = ON",
        "PRAGMA automatic_index = OFF",
        "PRAGMA case_sensitive_like = ON",
        "PRAGMA hard_heap_limit = 10000000",
        "PRAGMA soft_heap_limit = 9000000",
        "ATTACH ':memory:' AS other",
        "CREATE TEMP TABLE temporary(a)",
        "CREATE TABLE t(a)",
        "BEGIN",
        "INSERT INTO t VALUES (1)",
    ] {
        must(&mut db, change);
    }
    assert_ne!(state(&mut db), fresh);
    db.reset().unwrap();
    assert_eq!(state(&mut db), fresh);
    assert_eq!(failure(&mut db, "SELECT * FROM temporary").message, "no such table: temporary");
    assert_eq!(failure(&mut db, "COMMIT").class, ErrorClass::Runtime);
}

#[test]
fn threads_take_turns() {
    let workers: Vec<_> = (0..4)
        .map(|worker| {
            std::thread::spawn(move || {
                for round in 0..20 {
                    let mut first = engine();
                    let mut second = engine();
                    must(&mut first, "CREATE TABLE t(a)");
                    must(&mut first, &format!("INSERT INTO t VALUES ({worker}), ({round})"));
                    assert_eq!(row(&mut first, "SELECT sum(a) FROM t"), [Value::Int(worker + round)]);
                    failure(&mut second, "SELECT * FROM t");
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
}
