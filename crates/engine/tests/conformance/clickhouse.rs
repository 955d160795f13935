//! ClickHouse: the library, its package for Python, and a server by HTTP and HTTPS.

use std::sync::{Mutex, PoisonError};

use dissent_core::engine::ErrorClass;
use dissent_core::sql::{Kind, Value};
use dissent_engine::Target;

use super::common::certificates;
use super::common::responder::{PASSWORD, Responder};
use super::suite::{PreparedWords, Suite, child, decimal, other, text, ty};

/// Libchdb opens one database directory at a time in a process.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn clickhouse() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    suite("clickhouse@26.7").run();
}

/// Inside its package for Python, in a process of its own.
#[test]
fn clickhouse_newest() {
    Suite { server: Some(|_| child("clickhouse")), ..suite("clickhouse") }.run();
}

/// By HTTP: a server of this test, behind which is the library, so that answers are real ones.
#[test]
fn clickhouse_by_address() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(responder) = Responder::start() else { return };
    let target = format!("clickhouse+http://me:{PASSWORD}@127.0.0.1:{}/", responder.port());
    suite(&target).run();
    assert_eq!(responder.databases(), Vec::<String>::new(), "nothing of ours is left");
    let refused = Target::parse(&target.replace(PASSWORD, "guess")).unwrap().obtain(&mut |_| {}).unwrap();
    let told = refused.open().err().unwrap().to_string();
    assert!(told.contains("516") && !told.contains("guess"), "{told}");
}

/// The same server, encrypted.
#[test]
fn clickhouse_by_encrypted_address() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    if !certificates::make(directory.path()) {
        return;
    }
    let Some(responder) = Responder::encrypted(directory.path()) else { return };
    let root = directory.path().join("ca.pem");
    let place = format!("localhost:{}/?sslrootcert={}", responder.port(), root.display());
    suite(&format!("clickhouse+https://me:{PASSWORD}@{place}")).run();
}

fn suite(target: &str) -> Suite {
    Suite {
        target: target.to_string(),
        one: "SELECT 1",
        values: vec![
            ("SELECT 1", Value::Int(1)),
            ("SELECT NULL", Value::Null),
            ("SELECT true", Value::Bool(true)),
            ("SELECT toInt8(-128)", Value::Int(-128)),
            ("SELECT toInt64(-9223372036854775808)", Value::Int(i64::MIN)),
            ("SELECT toUInt64(18446744073709551615)", decimal("18446744073709551615")),
            (
                "SELECT toInt128('-170141183460469231731687303715884105728')",
                decimal("-170141183460469231731687303715884105728"),
            ),
            ("SELECT CAST(1 AS Nullable(Int32))", Value::Int(1)),
            ("SELECT 0.1", Value::Real(0.1)),
            ("SELECT toFloat32(0.5)", Value::Real(0.5)),
            ("SELECT nan", Value::Real(f64::NAN)),
            ("SELECT -inf", Value::Real(f64::NEG_INFINITY)),
            ("SELECT toDecimal64('-0.05', 3)", decimal("-0.050")),
            ("SELECT 'it''s \u{1F980}'", text("it's \u{1F980}")),
            ("SELECT ''", text("")),
            ("SELECT unhex('FFFE')", other(Kind::Text, "text x'fffe'")),
            ("SELECT toFixedString('ab', 2)", text("ab")),
            ("SELECT toDate('2020-02-29')", other(Kind::Date, "2020-02-29")),
            ("SELECT toDate32('1925-01-01')", other(Kind::Date, "1925-01-01")),
            ("SELECT toDateTime('2020-02-29 12:30:00')", other(Kind::Timestamp, "2020-02-29 12:30:00")),
            (
                "SELECT toDateTime64('2020-02-29 12:30:00.125', 3)",
                other(Kind::Timestamp, "2020-02-29 12:30:00.125"),
            ),
            (
                "SELECT toUUID('6fa459ea-ee8a-3ca4-894e-db77e160355e')",
                other(Kind::Uuid, "6fa459ea-ee8a-3ca4-894e-db77e160355e"),
            ),
            ("SELECT CAST('b' AS Enum8('a' = 1, 'b' = 2))", other(Kind::Text, "b")),
            ("SELECT toLowCardinality('x')", text("x")),
            ("SELECT [[1, NULL], []]", other(Kind::Array, "[[1, NULL], []]")),
            ("SELECT tuple(1, 'a')", other(Kind::Array, "(1, 'a')")),
            ("SELECT map('k', 1)", other(Kind::Array, "{'k': 1}")),
        ],
        stored: vec![
            (ty("Bool", Kind::Bool), "false", Value::Bool(false)),
            (ty("Int8", Kind::Int), "-128", Value::Int(-128)),
            (ty("Int64", Kind::Int), "-9223372036854775808", Value::Int(i64::MIN)),
            (ty("Int64", Kind::Int), "NULL", Value::Null),
            (ty("UInt64", Kind::Int), "18446744073709551615", decimal("18446744073709551615")),
            (ty("Float32", Kind::Real), "0.5", Value::Real(0.5)),
            (ty("Float64", Kind::Real), "1.7976931348623157e308", Value::Real(f64::MAX)),
            (ty("Float64", Kind::Real), "nan", Value::Real(f64::NAN)),
            (ty("Float64", Kind::Real), "-inf", Value::Real(f64::NEG_INFINITY)),
            (
                ty("Decimal(30, 1)", Kind::Decimal),
                "12345678901234567890.5",
                decimal("12345678901234567890.5"),
            ),
            (ty("String", Kind::Text), "''", text("")),
            (
                ty("String", Kind::Text),
                "'it''s \u{e9}\u{1f980} \\\\N\\t'",
                text("it's \u{e9}\u{1f980} \\N\t"),
            ),
            (ty("Date", Kind::Date), "'2020-02-29'", other(Kind::Date, "2020-02-29")),
            (
                ty("DateTime", Kind::Timestamp),
                "'1999-12-31 23:59:59'",
                other(Kind::Timestamp, "1999-12-31 23:59:59"),
            ),
            (
                ty("UUID", Kind::Uuid),
                "'6fa459ea-ee8a-3ca4-894e-db77e160355e'",
                other(Kind::Uuid, "6fa459ea-ee8a-3ca4-894e-db77e160355e"),
            ),
        ],
        insert: |ty| format!("INSERT INTO r SELECT CAST({{p1:Nullable(String)}} AS {})", ty.name),
        setup: &["CREATE TABLE k(a Int32, CONSTRAINT c CHECK a > 0) ENGINE = Memory"],
        errors: &[
            ("SELEC 1", ErrorClass::Syntax),
            ("SELECT nothing", ErrorClass::Semantic),
            ("SELECT * FROM nowhere", ErrorClass::Semantic),
            ("INSERT INTO k VALUES (0)", ErrorClass::Constraint),
            ("SELECT intDiv(number, 0) FROM numbers(1)", ErrorClass::Runtime),
            ("SELECT throwIf(number = 1) FROM numbers(2)", ErrorClass::Runtime),
            (
                "SELECT throwIf(1, 'broken', toInt16(49)) SETTINGS allow_custom_error_code_in_throwif = 1",
                ErrorClass::Internal,
            ),
        ],
        prepared: PreparedWords {
            create: "CREATE TABLE p(a Int32, b String, CONSTRAINT c CHECK a > 0)",
            insert: "INSERT INTO p SELECT {p1:Nullable(Int32)}, {p2:Nullable(String)}",
            count: "SELECT COUNT(*) FROM p WHERE a > {p1:Nullable(Int32)}",
            types: [ty("Int32", Kind::Int), ty("String", Kind::Text)],
            wrong: ("SELECT nothing", ErrorClass::Semantic),
            unkeyed: Some(Value::Int(-1)),
        },
        sql_prepared: &[],
        endless: "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1",
        boundless: None,
        many_rows: "SELECT * FROM numbers(100000)",
        mess: &[
            "SET max_block_size = 7",
            "SET max_rows_in_join = 3, limit = 9",
            "CREATE TABLE left_over(a Int32) ENGINE = Memory",
        ],
        setting: ("SELECT getSetting('max_block_size')", Value::Int(65409)),
        traces: &[
            "SELECT name, value FROM system.settings WHERE changed AND name <> 'database' ORDER BY name",
            "SELECT (SELECT count() FROM system.databases), (SELECT count() FROM system.tables), \
             (SELECT count() FROM system.functions)",
        ],
        server: None,
    }
}
