//! Firebird, in our own process.

use dissent_core::engine::ErrorClass;
use dissent_core::sql::{Kind, Value};

use super::suite::{PreparedWords, Suite, decimal, other, text, ty};

/// A query over its table of one row.
macro_rules! one {
    ($items:literal) => {
        concat!("SELECT ", $items, " FROM rdb$database")
    };
}

/// A thousand rows, as deep as recursion goes.
macro_rules! thousand {
    ($query:literal) => {
        concat!(
            "WITH RECURSIVE r(n) AS (SELECT 1 FROM rdb$database UNION ALL SELECT n + 1 FROM r WHERE n < 1000) ",
            $query
        )
    };
}

#[test]
fn firebird_newest() {
    Suite {
        target: "firebird".to_string(),
        one: one!("1"),
        values: vec![
            (one!("NULL"), Value::Null),
            (one!("TRUE"), Value::Bool(true)),
            (one!("CAST(-32768 AS SMALLINT)"), Value::Int(-32768)),
            (one!("9223372036854775807"), Value::Int(i64::MAX)),
            (one!("CAST('-9223372036854775808' AS BIGINT)"), Value::Int(i64::MIN)),
            (one!("CAST(0.1 AS FLOAT)"), Value::Real(f64::from(0.1f32))),
            (one!("1e-1 + 2e-1"), Value::Real(0.1 + 0.2)),
            (one!("1.50"), decimal("1.5")),
            (one!("-0.005"), decimal("-0.005")),
            (one!("18446744073709551616"), decimal("18446744073709551616")),
            (one!("''"), text("")),
            (one!("'it''s \u{e9}\u{1f980} \\'"), text("it's \u{e9}\u{1f980} \\")),
            (one!("x'00ff'"), Value::Blob(vec![0, 255])),
            (one!("CAST('a' AS BLOB SUB_TYPE TEXT)"), text("a")),
            (one!("DATE '2020-02-29'"), other(Kind::Date, "2020-02-29")),
            (one!("TIME '23:59:59.5'"), other(Kind::Time, "23:59:59.5")),
            (one!("TIMESTAMP '1999-12-31 00:00:00'"), other(Kind::Timestamp, "1999-12-31 00:00:00")),
        ],
        stored: vec![
            (ty("BOOLEAN", Kind::Bool), "FALSE", Value::Bool(false)),
            (ty("SMALLINT", Kind::Int), "32767", Value::Int(32767)),
            (ty("INTEGER", Kind::Int), "-2147483648", Value::Int(i32::MIN.into())),
            (ty("BIGINT", Kind::Int), "'-9223372036854775808'", Value::Int(i64::MIN)),
            (ty("BIGINT", Kind::Int), "NULL", Value::Null),
            (ty("DOUBLE PRECISION", Kind::Real), "1.7976931348623157e308", Value::Real(f64::MAX)),
            (ty("NUMERIC(18, 3)", Kind::Decimal), "-123456789012.5", decimal("-123456789012.5")),
            (ty("VARCHAR(20)", Kind::Text), "''", text("")),
            (ty("VARCHAR(20)", Kind::Text), "'it''s \u{e9}\u{1f980} \\'", text("it's \u{e9}\u{1f980} \\")),
            (ty("VARCHAR(10)", Kind::Text), "'a '", text("a ")),
            (ty("CHAR(3)", Kind::Text), "'a'", text("a")),
            (ty("VARBINARY(10)", Kind::Blob), "x'00ff27'", Value::Blob(vec![0, 255, 39])),
            (ty("DATE", Kind::Date), "'0001-01-01'", other(Kind::Date, "0001-01-01")),
            (ty("TIME", Kind::Time), "'23:59:59.9999'", other(Kind::Time, "23:59:59.9999")),
            (
                ty("TIMESTAMP", Kind::Timestamp),
                "'2020-02-29 12:30:00.5'",
                other(Kind::Timestamp, "2020-02-29 12:30:00.5"),
            ),
        ],
        insert: |_| "INSERT INTO r VALUES (?)".to_string(),
        setup: &["CREATE TABLE k(a INTEGER PRIMARY KEY)", "INSERT INTO k VALUES (1)"],
        errors: &[
            ("SELEC 1", ErrorClass::Syntax),
            (one!("nothing"), ErrorClass::Semantic),
            ("SELECT * FROM nowhere", ErrorClass::Semantic),
            ("INSERT INTO k VALUES (1)", ErrorClass::Constraint),
            ("INSERT INTO k VALUES (NULL)", ErrorClass::Constraint),
            (one!("1 / 0"), ErrorClass::Runtime),
            (one!("CAST('x' AS INTEGER)"), ErrorClass::Runtime),
            (one!("9223372036854775807 * 9223372036854775807 * 9223372036854775807"), ErrorClass::Runtime),
        ],
        prepared: PreparedWords {
            create: "CREATE TABLE p(a INTEGER NOT NULL, b VARCHAR(100))",
            insert: "INSERT INTO p VALUES (?, ?)",
            count: "SELECT COUNT(*) FROM p WHERE a > ?",
            types: [ty("INTEGER", Kind::Int), ty("VARCHAR(100)", Kind::Text)],
            wrong: (one!("nothing"), ErrorClass::Semantic),
            unkeyed: Some(Value::Null),
        },
        sql_prepared: &[],
        endless: thousand!("SELECT COUNT(*) FROM r AS q, r AS s, r AS t, r AS u WHERE q.n + s.n + t.n < u.n - 1"),
        boundless: None,
        many_rows: thousand!("SELECT n FROM r"),
        mess: &[
            "SET TIME ZONE '+03:00'",
            "CREATE TABLE left_over(a INTEGER)",
            "INSERT INTO left_over VALUES (1)",
        ],
        setting: (one!("rdb$get_context('SYSTEM', 'SESSION_TIMEZONE')"), text("+00:00")),
        traces: &[
            one!("(SELECT COUNT(*) FROM rdb$relations), (SELECT COUNT(*) FROM rdb$indices), (SELECT COUNT(*) FROM rdb$fields)"),
            one!("rdb$get_context('SYSTEM', 'SESSION_TIMEZONE')"),
        ],
        server: None,
    }
    .run();
}
