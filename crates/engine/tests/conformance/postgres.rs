//! PostgreSQL, and the dialects of its relatives on it.

use dissent_core::engine::ErrorClass;
use dissent_core::sql::{Kind, Value};

use super::suite::{PreparedWords, Suite, child, decimal, only_by_address, open, other, text, ty, value};

fn postgres(target: &str) -> Suite {
    Suite {
        target: target.to_string(),
        one: "SELECT 1",
        values: vec![
            ("SELECT NULL", Value::Null),
            ("SELECT TRUE", Value::Bool(true)),
            ("SELECT CAST(-32768 AS SMALLINT)", Value::Int(-32768)),
            ("SELECT 9223372036854775807", Value::Int(i64::MAX)),
            ("SELECT CAST('-9223372036854775808' AS BIGINT)", Value::Int(i64::MIN)),
            ("SELECT CAST(0.1 AS REAL)", Value::Real(f64::from(0.1f32))),
            ("SELECT CAST('5e-324' AS DOUBLE PRECISION)", Value::Real(5e-324)),
            ("SELECT CAST(0.1 AS DOUBLE PRECISION) + 0.2", Value::Real(0.1 + 0.2)),
            ("SELECT CAST('NaN' AS DOUBLE PRECISION)", Value::Real(f64::NAN)),
            ("SELECT CAST('-Infinity' AS DOUBLE PRECISION)", Value::Real(f64::NEG_INFINITY)),
            ("SELECT 1.50", decimal("1.5")),
            ("SELECT 18446744073709551616", decimal("18446744073709551616")),
            ("SELECT CAST('NaN' AS NUMERIC)", Value::Real(f64::NAN)),
            ("SELECT ''", text("")),
            ("SELECT 'it''s \u{e9}\u{1f980} \\'", text("it's \u{e9}\u{1f980} \\")),
            ("SELECT CAST('a' AS CHAR(3))", text("a  ")),
            ("SELECT '\\x00ff'::bytea", Value::Blob(vec![0, 255])),
            ("SELECT DATE '2020-02-29'", other(Kind::Date, "2020-02-29")),
            ("SELECT TIME '23:59:59.5'", other(Kind::Time, "23:59:59.5")),
            ("SELECT TIMESTAMP '1999-12-31 00:00:00'", other(Kind::Timestamp, "1999-12-31 00:00:00")),
            ("SELECT TIMESTAMPTZ '2020-01-01 12:00:00+02'", other(Kind::Timestamp, "2020-01-01 10:00:00+00")),
            ("SELECT INTERVAL '1 month 2 days'", other(Kind::Interval, "1 mon 2 days")),
            (
                "SELECT UUID '6fa459ea-ee8a-3ca4-894e-db77e160355e'",
                other(Kind::Uuid, "6fa459ea-ee8a-3ca4-894e-db77e160355e"),
            ),
            ("SELECT JSONB '{\"b\": 1, \"a\": [null]}'", other(Kind::Json, "{\"a\": [null], \"b\": 1}")),
            ("SELECT ARRAY[1, NULL]", other(Kind::Array, "{1,NULL}")),
        ],
        stored: vec![
            (ty("BOOLEAN", Kind::Bool), "FALSE", Value::Bool(false)),
            (ty("SMALLINT", Kind::Int), "32767", Value::Int(32767)),
            (ty("INTEGER", Kind::Int), "-2147483648", Value::Int(i32::MIN.into())),
            (ty("BIGINT", Kind::Int), "'-9223372036854775808'", Value::Int(i64::MIN)),
            (ty("BIGINT", Kind::Int), "NULL", Value::Null),
            (ty("REAL", Kind::Real), "0.1", Value::Real(f64::from(0.1f32))),
            (ty("DOUBLE PRECISION", Kind::Real), "1.7976931348623157e308", Value::Real(f64::MAX)),
            (ty("DOUBLE PRECISION", Kind::Real), "'NaN'", Value::Real(f64::NAN)),
            (ty("DOUBLE PRECISION", Kind::Real), "'-Infinity'", Value::Real(f64::NEG_INFINITY)),
            (
                ty("NUMERIC", Kind::Decimal),
                "123456789012345678901234567890.5",
                decimal("123456789012345678901234567890.5"),
            ),
            (ty("TEXT", Kind::Text), "''", text("")),
            (ty("TEXT", Kind::Text), "'it''s \u{e9}\u{1f980} \\'", text("it's \u{e9}\u{1f980} \\")),
            (ty("VARCHAR(10)", Kind::Text), "'a '", text("a ")),
            (ty("CHAR(3)", Kind::Text), "'a'", text("a  ")),
            (ty("BYTEA", Kind::Blob), "'\\x00ff27'", Value::Blob(vec![0, 255, 39])),
            (ty("DATE", Kind::Date), "'0001-01-01'", other(Kind::Date, "0001-01-01")),
            (ty("DATE", Kind::Date), "'infinity'", other(Kind::Date, "infinity")),
            (ty("TIME", Kind::Time), "'23:59:59.999999'", other(Kind::Time, "23:59:59.999999")),
            (
                ty("TIMESTAMP", Kind::Timestamp),
                "'2020-02-29 12:30:00.5'",
                other(Kind::Timestamp, "2020-02-29 12:30:00.5"),
            ),
            (ty("INTERVAL", Kind::Interval), "'-1 month'", other(Kind::Interval, "-1 mons")),
            (
                ty("UUID", Kind::Uuid),
                "'6fa459ea-ee8a-3ca4-894e-db77e160355e'",
                other(Kind::Uuid, "6fa459ea-ee8a-3ca4-894e-db77e160355e"),
            ),
            (ty("JSONB", Kind::Json), "'{\"a\": null}'", other(Kind::Json, "{\"a\": null}")),
        ],
        insert: |_| "INSERT INTO r VALUES ($1)".to_string(),
        setup: &["CREATE TABLE k(a INTEGER PRIMARY KEY)", "INSERT INTO k VALUES (1)"],
        errors: &[
            ("SELEC 1", ErrorClass::Syntax),
            ("SELECT nothing", ErrorClass::Semantic),
            ("SELECT 1 + TRUE", ErrorClass::Semantic),
            ("INSERT INTO k VALUES (1)", ErrorClass::Constraint),
            ("INSERT INTO k VALUES (NULL)", ErrorClass::Constraint),
            ("SELECT 1 / 0", ErrorClass::Runtime),
            ("SELECT 2147483647 + 1", ErrorClass::Runtime),
            ("SELECT 'a\0b'", ErrorClass::Syntax),
            ("DO $$ BEGIN RAISE EXCEPTION 'broken' USING ERRCODE = 'XX000'; END $$", ErrorClass::Internal),
        ],
        prepared: PreparedWords {
            create: "CREATE TABLE p(a INTEGER NOT NULL, b TEXT)",
            insert: "INSERT INTO p VALUES ($1, $2)",
            count: "SELECT COUNT(*) FROM p WHERE a > $1",
            types: [ty("INTEGER", Kind::Int), ty("TEXT", Kind::Text)],
            wrong: ("SELECT nothing", ErrorClass::Semantic),
            unkeyed: Some(Value::Null),
        },
        sql_prepared: &["PREPARE q(INTEGER) AS SELECT $1 + 1", "EXECUTE q(41)", "DEALLOCATE q"],
        endless: "SELECT pg_sleep(100)",
        boundless: Some(["SET statement_timeout = 0", "SELECT pg_sleep(100)"]),
        many_rows: "SELECT generate_series(1, 1000000)",
        mess: &[
            "SET enable_seqscan = off",
            "CREATE TABLE left_over(a INTEGER)",
            "CREATE TEMP TABLE left_too(a INTEGER)",
            "PREPARE p(INTEGER) AS SELECT $1 + 1",
            "EXECUTE p(1)",
            "CREATE SEQUENCE left_sequence",
            "CREATE STATISTICS left_statistics ON a, (a + 1) FROM left_over",
            "ANALYZE left_over",
            "BEGIN",
            "INSERT INTO left_over VALUES (1)",
        ],
        setting: ("SHOW enable_seqscan", Value::Text("on".to_string())),
        traces: &[
            // Those of the language come when it is first used.
            "SELECT name, setting FROM pg_settings WHERE name NOT LIKE 'plpgsql.%' ORDER BY name",
            "SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_%' ORDER BY 1",
            "SELECT (SELECT COUNT(*) FROM pg_class), (SELECT COUNT(*) FROM pg_proc), (SELECT COUNT(*) FROM pg_type), \
             (SELECT COUNT(*) FROM pg_operator), (SELECT COUNT(*) FROM pg_stats), (SELECT COUNT(*) FROM \
             pg_statistic_ext), (SELECT COUNT(*) FROM pg_prepared_statements)",
        ],
        server: Some(|engine| value(engine, "SELECT pg_backend_pid()").as_int().unwrap() as libc::pid_t),
    }
}

#[test]
fn postgres_newest() {
    postgres("postgres").run();
}

#[test]
fn postgres_preview() {
    postgres("postgres@19").run();
}

#[test]
fn postgres_16() {
    postgres("postgres@16").run();
}

/// The suite without what names one of these.
fn without(target: &str, lacks: &[&str]) -> Suite {
    let mut suite = postgres(target);
    suite.values.retain(|(sql, _)| !lacks.iter().any(|word| sql.contains(word)));
    suite.stored.retain(|(ty, literal, _)| {
        !lacks.iter().any(|word| literal.contains(word) || ty.name.split('(').next() == Some(word))
    });
    suite
}

/// It has no indexes and no statement that waits.
#[test]
fn hyper_newest() {
    let lacks = [
        "NaN",
        "nfinity",
        "18446744073709551616",
        "JSONB",
        "ARRAY",
        "TIMESTAMPTZ",
        "INTERVAL",
        "NUMERIC",
        "UUID",
        "REAL",
    ];
    Suite {
        setup: &["CREATE TABLE k(a INTEGER NOT NULL)", "INSERT INTO k VALUES (1)"],
        errors: &[
            ("SELEC 1", ErrorClass::Syntax),
            ("SELECT nothing", ErrorClass::Semantic),
            ("INSERT INTO k VALUES (NULL)", ErrorClass::Constraint),
            ("SELECT 1 / 0", ErrorClass::Runtime),
        ],
        endless: "SELECT COUNT(*) FROM generate_series(1, 100000) AS a(x), generate_series(1, 100000) AS b(y), \
                  generate_series(1, 1000) AS c(z) WHERE x + y < z",
        boundless: None,
        many_rows: "SELECT * FROM generate_series(1, 1000000)",
        mess: &[
            "SET extra_float_digits = 0",
            "CREATE TABLE left_over(a INTEGER)",
            "BEGIN",
            "INSERT INTO left_over VALUES (1)",
        ],
        setting: ("SHOW extra_float_digits", text("3")),
        traces: &["SELECT COUNT(*) FROM pg_class"],
        server: None,
        ..without("hyper", &lacks)
    }
    .run();
}

/// It has no statement that waits, and our client speaks no PREPARE of its SQL. Its server tells UUID as text, a TIME without
/// digits has no parts of a second, and 0.1 + 0.2 of a float and a literal is a NUMERIC.
#[test]
fn h2_newest() {
    let lacks = [
        "nfinity",
        "JSONB",
        "ARRAY",
        "TIMESTAMPTZ",
        "INTERVAL",
        "bytea",
        "BYTEA",
        "NUMERIC",
        "UUID",
        "23:59:59.999999",
    ];
    let mut suite = without("h2", &lacks);
    suite.values.push(("SELECT X'005cff61'", Value::Blob(vec![0, 0x5c, 0xff, b'a'])));
    suite.values.push((
        "SELECT CAST('1e-1' AS DOUBLE PRECISION) + CAST('2e-1' AS DOUBLE PRECISION)",
        Value::Real(0.1 + 0.2),
    ));
    suite.values.retain(|(sql, _)| !sql.contains("CAST(0.1 AS DOUBLE PRECISION) + 0.2"));
    suite.stored.push((ty("VARBINARY", Kind::Blob), "X'00ff27'", Value::Blob(vec![0, 255, 39])));
    suite.stored.push((ty("NUMERIC(20, 3)", Kind::Decimal), "1.5", decimal("1.5")));
    Suite {
        errors: &[
            ("SELEC 1", ErrorClass::Syntax),
            ("SELECT nothing", ErrorClass::Semantic),
            ("INSERT INTO k VALUES (1)", ErrorClass::Constraint),
            ("INSERT INTO k VALUES (NULL)", ErrorClass::Constraint),
            ("SELECT 1 / 0", ErrorClass::Runtime),
            ("SELECT 2147483647 + 1", ErrorClass::Runtime),
        ],
        sql_prepared: &[],
        endless: "SELECT COUNT(*) FROM SYSTEM_RANGE(1, 100000) AS a(x), SYSTEM_RANGE(1, 100000) AS b(y), \
                  SYSTEM_RANGE(1, 1000) AS c(z) WHERE x + y < z",
        boundless: None,
        many_rows: "SELECT * FROM SYSTEM_RANGE(1, 1000000)",
        mess: &[
            "SET LOCK_TIMEOUT 77",
            "CREATE TABLE left_over(a INTEGER)",
            "BEGIN",
            "INSERT INTO left_over VALUES (1)",
        ],
        setting: ("SELECT LOCK_TIMEOUT()", Value::Int(2000)),
        traces: &["SELECT COUNT(*) FROM information_schema.tables"],
        server: Some(|_| child("java")),
        ..suite
    }
    .run();
}

/// A server that somebody else runs, by its address: ours, in this test.
#[test]
fn postgres_by_address() {
    let Some((mut server, _)) = open("postgres") else { return };
    let Value::Text(directory) = value(server.as_mut(), "SHOW unix_socket_directories") else { panic!() };
    let databases = "SELECT count(*) FROM pg_database WHERE datname LIKE 'dissent%'";
    let host = directory.replace('/', "%2F");
    // Relatives that cannot be obtained are tried on it.
    let relatives = only_by_address("postgres").map(|name| format!("{name}://postgres@{host}:5432/postgres"));
    for target in relatives.chain([format!("postgres://postgres@{host}/")]) {
        let suite = Suite { server: None, ..postgres(&target) };
        suite.run();
        assert_eq!(value(server.as_mut(), databases), Value::Int(1), "only the server's own is left");
    }
}
