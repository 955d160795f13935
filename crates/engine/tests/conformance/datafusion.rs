//! DataFusion, in its worker.

use dissent_core::engine::ErrorClass;
use dissent_core::sql::{DataType, Kind, Value};

use super::suite::{PreparedWords, Suite, child, decimal, other, text, ty};

#[test]
fn datafusion() {
    Suite {
        target: "datafusion".to_string(),
        one: "SELECT 1",
        values: vec![
            ("SELECT 1", Value::Int(1)),
            ("SELECT NULL", Value::Null),
            ("SELECT TRUE", Value::Bool(true)),
            ("SELECT CAST(-128 AS TINYINT)", Value::Int(-128)),
            ("SELECT CAST(255 AS TINYINT UNSIGNED)", Value::Int(255)),
            ("SELECT CAST('-9223372036854775808' AS BIGINT)", Value::Int(i64::MIN)),
            ("SELECT 18446744073709551615", decimal("18446744073709551615")),
            ("SELECT CAST(0.1 AS DOUBLE)", Value::Real(0.1)),
            ("SELECT CAST(0.5 AS FLOAT)", Value::Real(0.5)),
            ("SELECT CAST('nan' AS DOUBLE)", Value::Real(f64::NAN)),
            ("SELECT CAST('-inf' AS DOUBLE)", Value::Real(f64::NEG_INFINITY)),
            ("SELECT CAST(-0.05 AS DECIMAL(4, 3))", decimal("-0.050")),
            ("SELECT 'it''s \u{1F980}'", text("it's \u{1F980}")),
            ("SELECT 'more than twelve bytes'", text("more than twelve bytes")),
            ("SELECT ''", text("")),
            ("SELECT X'00FF'", Value::Blob(vec![0, 255])),
            ("SELECT DATE '2020-02-29'", other(Kind::Date, "2020-02-29")),
            ("SELECT TIME '12:30:00.5'", other(Kind::Time, "12:30:00.5")),
            (
                "SELECT TIMESTAMP '1969-12-31 23:59:59.999999'",
                other(Kind::Timestamp, "1969-12-31 23:59:59.999999"),
            ),
            ("SELECT [1, NULL]", other(Kind::Array, "[1, NULL]")),
        ],
        stored: stored(),
        insert: |ty| format!("INSERT INTO r SELECT CAST($1 AS {})", ty.name),
        setup: &["CREATE TABLE k(a INT NOT NULL)"],
        errors: &[
            ("SELEC 1", ErrorClass::Syntax),
            ("SELECT nothing", ErrorClass::Semantic),
            ("SELECT * FROM nowhere", ErrorClass::Semantic),
            ("SELECT 1 / x FROM (VALUES (0)) AS t(x)", ErrorClass::Runtime),
            ("COPY k TO '/tmp/dissent-must-not-write.csv'", ErrorClass::Semantic),
            ("CREATE EXTERNAL TABLE e STORED AS CSV LOCATION '/etc/passwd'", ErrorClass::Semantic),
        ],
        prepared: PreparedWords {
            create: "CREATE TABLE p(a INT NOT NULL, b VARCHAR)",
            insert: "INSERT INTO p SELECT CAST($1 AS INT), CAST($2 AS VARCHAR)",
            count: "SELECT COUNT(*) FROM p WHERE a > CAST($1 AS INT)",
            types: [ty("INT", Kind::Int), ty("VARCHAR", Kind::Text)],
            wrong: ("SELECT nothing", ErrorClass::Semantic),
            unkeyed: None,
        },
        sql_prepared: &["PREPARE again(INT) AS SELECT $1 + 40", "EXECUTE again(2)", "DEALLOCATE again"],
        endless: "SELECT COUNT(*) FROM generate_series(1, 10000000) AS a, generate_series(1, 1000000) AS b",
        boundless: None,
        many_rows: "SELECT * FROM generate_series(1, 1000)",
        mess: &[
            "CREATE TABLE left_over(a INT)",
            "INSERT INTO left_over VALUES (1)",
            "CREATE VIEW seen AS SELECT * FROM left_over",
            "SET datafusion.execution.batch_size = 7",
        ],
        setting: (
            "SELECT value FROM information_schema.df_settings WHERE name = 'datafusion.execution.batch_size'",
            text("8192"),
        ),
        traces: &[
            "SELECT name, value FROM information_schema.df_settings ORDER BY name",
            "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2",
        ],
        server: Some(|_| child("datafusion")),
    }
    .run();
}

fn stored() -> Vec<(DataType, &'static str, Value)> {
    vec![
        (ty("BOOLEAN", Kind::Bool), "FALSE", Value::Bool(false)),
        (ty("TINYINT", Kind::Int), "-128", Value::Int(-128)),
        (ty("INT", Kind::Int), "2147483647", Value::Int(i32::MAX.into())),
        (ty("BIGINT", Kind::Int), "9223372036854775807", Value::Int(i64::MAX)),
        (ty("BIGINT", Kind::Int), "NULL", Value::Null),
        (ty("BIGINT UNSIGNED", Kind::Int), "18446744073709551615", decimal("18446744073709551615")),
        (ty("FLOAT", Kind::Real), "0.1", Value::Real(f64::from(0.1f32))),
        (ty("DOUBLE", Kind::Real), "1.7976931348623157e308", Value::Real(f64::MAX)),
        (ty("DOUBLE", Kind::Real), "CAST('nan' AS DOUBLE)", Value::Real(f64::NAN)),
        (ty("DOUBLE", Kind::Real), "CAST('-inf' AS DOUBLE)", Value::Real(f64::NEG_INFINITY)),
        (
            ty("DECIMAL(30, 1)", Kind::Decimal),
            "CAST('12345678901234567890.5' AS DECIMAL(30, 1))",
            decimal("12345678901234567890.5"),
        ),
        (ty("VARCHAR", Kind::Text), "''", text("")),
        (ty("VARCHAR", Kind::Text), "'it''s \u{e9}\u{1f980} \\'", text("it's \u{e9}\u{1f980} \\")),
        (ty("BYTEA", Kind::Blob), "X'00FF27'", Value::Blob(vec![0, 255, 39])),
        (ty("DATE", Kind::Date), "'2020-02-29'", other(Kind::Date, "2020-02-29")),
        (ty("TIME", Kind::Time), "'23:59:59.5'", other(Kind::Time, "23:59:59.5")),
        (
            ty("TIMESTAMP", Kind::Timestamp),
            "'1999-12-31 23:59:59'",
            other(Kind::Timestamp, "1999-12-31 23:59:59"),
        ),
    ]
}
