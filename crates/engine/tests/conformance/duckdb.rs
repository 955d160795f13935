//! DuckDB: the newest, and what older versions of its C interface can.

use dissent_core::engine::ErrorClass;
use dissent_core::sql::{DataType, Kind, Value};

use super::suite::{PreparedWords, Suite, decimal, other, text, ty};

#[test]
fn duckdb() {
    Suite {
        target: "duckdb@1.5.6".to_string(),
        one: "SELECT 1",
        values: vec![
            ("SELECT 1", Value::Int(1)),
            ("SELECT NULL", Value::Null),
            ("SELECT TRUE", Value::Bool(true)),
            ("SELECT (-128)::TINYINT", Value::Int(-128)),
            ("SELECT 255::UTINYINT", Value::Int(255)),
            ("SELECT (-9223372036854775808)::BIGINT", Value::Int(i64::MIN)),
            ("SELECT 18446744073709551615::UBIGINT", decimal("18446744073709551615")),
            ("SELECT 5::HUGEINT", Value::Int(5)),
            (
                "SELECT (-170141183460469231731687303715884105728)::HUGEINT",
                decimal("-170141183460469231731687303715884105728"),
            ),
            (
                "SELECT 340282366920938463463374607431768211455::UHUGEINT",
                decimal("340282366920938463463374607431768211455"),
            ),
            ("SELECT 0.1::DOUBLE", Value::Real(0.1)),
            ("SELECT 0.5::FLOAT", Value::Real(0.5)),
            ("SELECT 'nan'::DOUBLE", Value::Real(f64::NAN)),
            ("SELECT '-inf'::DOUBLE", Value::Real(f64::NEG_INFINITY)),
            ("SELECT -0.05::DECIMAL(4, 3)", decimal("-0.050")),
            ("SELECT 12345678901234567890.5::DECIMAL(30, 1)", decimal("12345678901234567890.5")),
            ("SELECT 'it''s \u{1F980}'", text("it's \u{1F980}")),
            ("SELECT 'more than twelve bytes'", text("more than twelve bytes")),
            ("SELECT ''", text("")),
            (r"SELECT '\x00\xFF'::BLOB", Value::Blob(vec![0, 255])),
            ("SELECT DATE '2020-02-29'", other(Kind::Date, "2020-02-29")),
            ("SELECT TIME '12:30:00.5'", other(Kind::Time, "12:30:00.5")),
            (
                "SELECT TIMESTAMP '1969-12-31 23:59:59.999999'",
                other(Kind::Timestamp, "1969-12-31 23:59:59.999999"),
            ),
            ("SELECT INTERVAL '1 month 2 days'", other(Kind::Interval, "1 months 2 days 0 us")),
            (
                "SELECT '6fa459ea-ee8a-3ca4-894e-db77e160355e'::UUID",
                other(Kind::Uuid, "6fa459ea-ee8a-3ca4-894e-db77e160355e"),
            ),
            ("SELECT 'b'::ENUM ('a', 'b')", other(Kind::Text, "b")),
            ("SELECT [[1, NULL], []]", other(Kind::Array, "[[1, NULL], []]")),
            ("SELECT [1, 2]::INTEGER[2]", other(Kind::Array, "[1, 2]")),
            ("SELECT {'a': 1, 'b': 'x'}", other(Kind::Array, "{'a': 1, 'b': 'x'}")),
            ("SELECT MAP {'k': 1}", other(Kind::Array, "{{'key': 'k', 'value': 1}}")),
        ],
        stored: stored(),
        insert: |_| "INSERT INTO r VALUES ($1)".to_string(),
        setup: &["CREATE TABLE k(a INTEGER PRIMARY KEY)", "INSERT INTO k VALUES (1)"],
        errors: &[
            ("SELEC 1", ErrorClass::Syntax),
            ("SELECT 1; SELECT 2", ErrorClass::Syntax),
            ("SELECT nothing", ErrorClass::Semantic),
            ("SELECT * FROM nowhere", ErrorClass::Semantic),
            ("INSERT INTO k VALUES (1)", ErrorClass::Constraint),
            ("SELECT CAST('x' AS INTEGER)", ErrorClass::Runtime),
            ("SELECT 9223372036854775807 + a FROM k", ErrorClass::Runtime),
        ],
        prepared: words(),
        sql_prepared: &["PREPARE q AS SELECT $1 + 1", "EXECUTE q(41)", "DEALLOCATE q"],
        endless: "SELECT COUNT(*) FROM range(1000000) AS a, range(1000000) AS b WHERE a.range + b.range = -1",
        boundless: None,
        many_rows: "SELECT * FROM range(100000)",
        mess: &[
            "SET preserve_insertion_order = false",
            "CREATE TABLE left_over(a INTEGER)",
            "CREATE TEMP TABLE left_too(a INTEGER)",
            "CREATE SEQUENCE left_sequence",
            "CREATE SCHEMA left_schema",
            "CREATE TYPE left_type AS ENUM ('a')",
            "CREATE MACRO left_macro(a) AS a + 1",
            "PREPARE left_statement AS SELECT 1",
            "BEGIN",
            "INSERT INTO left_over VALUES (1)",
        ],
        setting: ("SELECT current_setting('preserve_insertion_order')", Value::Bool(true)),
        traces: &[
            // Each database has a name of its own.
            "SELECT name, value FROM duckdb_settings() WHERE name <> 'search_path' ORDER BY name",
            "SELECT (SELECT COUNT(*) FROM duckdb_databases()), (SELECT COUNT(*) FROM duckdb_schemas()), (SELECT \
             COUNT(*) FROM duckdb_tables()), (SELECT COUNT(*) FROM duckdb_views()), (SELECT COUNT(*) FROM \
             duckdb_indexes()), (SELECT COUNT(*) FROM duckdb_sequences()), (SELECT COUNT(*) FROM duckdb_types()), \
             (SELECT COUNT(*) FROM duckdb_functions()), (SELECT COUNT(*) FROM duckdb_prepared_statements())",
        ],
        server: None,
    }
    .run();
}

fn stored() -> Vec<(DataType, &'static str, Value)> {
    vec![
        (ty("BOOLEAN", Kind::Bool), "FALSE", Value::Bool(false)),
        (ty("TINYINT", Kind::Int), "-128", Value::Int(-128)),
        (ty("INTEGER", Kind::Int), "2147483647", Value::Int(i32::MAX.into())),
        (ty("BIGINT", Kind::Int), "-9223372036854775808", Value::Int(i64::MIN)),
        (ty("BIGINT", Kind::Int), "NULL", Value::Null),
        (ty("HUGEINT", Kind::Int), "18446744073709551616", decimal("18446744073709551616")),
        (ty("FLOAT", Kind::Real), "0.1", Value::Real(f64::from(0.1f32))),
        (ty("DOUBLE", Kind::Real), "1.7976931348623157e308", Value::Real(f64::MAX)),
        (ty("DOUBLE", Kind::Real), "'nan'", Value::Real(f64::NAN)),
        (ty("DOUBLE", Kind::Real), "'-inf'", Value::Real(f64::NEG_INFINITY)),
        (ty("DECIMAL(30, 1)", Kind::Decimal), "12345678901234567890.5", decimal("12345678901234567890.5")),
        (ty("VARCHAR", Kind::Text), "''", text("")),
        (ty("VARCHAR", Kind::Text), "'it''s \u{e9}\u{1f980} \\'", text("it's \u{e9}\u{1f980} \\")),
        (ty("BLOB", Kind::Blob), r"'\x00\xFF\x27'", Value::Blob(vec![0, 255, 39])),
        (ty("DATE", Kind::Date), "'2020-02-29'", other(Kind::Date, "2020-02-29")),
        (ty("TIME", Kind::Time), "'23:59:59.5'", other(Kind::Time, "23:59:59.5")),
        (
            ty("TIMESTAMP", Kind::Timestamp),
            "'1999-12-31 23:59:59'",
            other(Kind::Timestamp, "1999-12-31 23:59:59"),
        ),
        (
            ty("UUID", Kind::Uuid),
            "'6fa459ea-ee8a-3ca4-894e-db77e160355e'",
            other(Kind::Uuid, "6fa459ea-ee8a-3ca4-894e-db77e160355e"),
        ),
    ]
}

fn words() -> PreparedWords {
    PreparedWords {
        create: "CREATE TABLE p(a INTEGER NOT NULL, b VARCHAR)",
        insert: "INSERT INTO p VALUES ($1, $2)",
        count: "SELECT COUNT(*) FROM p WHERE a > $1",
        types: [ty("INTEGER", Kind::Int), ty("VARCHAR", Kind::Text)],
        wrong: ("SELECT nothing", ErrorClass::Semantic),
        unkeyed: Some(Value::Null),
    }
}

/// The first version with a C interface that is spoken to, one that came before results in vectors, and one
/// in between.
#[test]
fn older_versions_keep_prepared_statements_too() {
    for version in ["0.3.0", "0.6.1", "0.10.2"] {
        let target = format!("duckdb@{version}");
        let Some((mut engine, _)) = super::suite::open(&target) else { continue };
        words().hold(engine.as_mut(), "SELECT 1");
    }
}
