//! MySQL, MariaDB, OceanBase, and the dialects of other relatives on MySQL.

use dissent_core::engine::ErrorClass;
use dissent_core::sql::{Kind, Value};

use super::suite::{PreparedWords, Suite, child, decimal, only_by_address, open, other, text, ty, value};

/// A thousand rows to join.
macro_rules! thousand {
    ($query:literal) => {
        concat!("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000) ", $query)
    };
}

/// MySQL, MariaDB and their relatives.
fn mysql(target: &str) -> Suite {
    Suite {
        target: target.to_string(),
        one: "SELECT 1",
        values: vec![
            ("SELECT NULL", Value::Null),
            ("SELECT TRUE", Value::Int(1)),
            ("SELECT 9223372036854775807", Value::Int(i64::MAX)),
            ("SELECT -9223372036854775808", Value::Int(i64::MIN)),
            ("SELECT 18446744073709551615", decimal("18446744073709551615")),
            ("SELECT CAST(18446744073709551615 AS UNSIGNED)", decimal("18446744073709551615")),
            ("SELECT 1.50", decimal("1.5")),
            ("SELECT -0.00", decimal("0")),
            ("SELECT 1e300", Value::Real(1e300)),
            ("SELECT 1e-1 + 2e-1", Value::Real(0.1 + 0.2)),
            ("SELECT ''", text("")),
            ("SELECT 'it''s \u{e9}\u{1f980} \\\\'", text("it's \u{e9}\u{1f980} \\")),
            ("SELECT CAST('a' AS BINARY)", Value::Blob(b"a".to_vec())),
            ("SELECT x'00ff'", Value::Blob(vec![0, 255])),
            ("SELECT DATE '2020-02-29'", other(Kind::Date, "2020-02-29")),
            ("SELECT TIME '23:59:59.5'", other(Kind::Time, "23:59:59.5")),
            ("SELECT TIMESTAMP '1999-12-31 00:00:00'", other(Kind::Timestamp, "1999-12-31 00:00:00")),
            ("SELECT COUNT(*) FROM (SELECT 1) AS d", Value::Int(1)),
            ("SELECT SUM(1) FROM (SELECT 1) AS d", decimal("1")),
        ],
        stored: vec![
            (ty("BOOLEAN", Kind::Bool), "TRUE", Value::Int(1)),
            (ty("TINYINT", Kind::Int), "-128", Value::Int(-128)),
            (ty("INT", Kind::Int), "2147483647", Value::Int(i32::MAX.into())),
            (ty("BIGINT", Kind::Int), "-9223372036854775808", Value::Int(i64::MIN)),
            (ty("BIGINT", Kind::Int), "NULL", Value::Null),
            (ty("BIGINT UNSIGNED", Kind::Int), "18446744073709551615", decimal("18446744073709551615")),
            (ty("DOUBLE", Kind::Real), "1.7976931348623157e308", Value::Real(f64::MAX)),
            (ty("DOUBLE", Kind::Real), "-0.1", Value::Real(-0.1)),
            (
                ty("DECIMAL(40, 10)", Kind::Decimal),
                "123456789012345678901234567890.5",
                decimal("123456789012345678901234567890.5"),
            ),
            (ty("VARCHAR(20)", Kind::Text), "''", text("")),
            (ty("VARCHAR(20)", Kind::Text), "'it''s \u{e9}\u{1f980} \\\\'", text("it's \u{e9}\u{1f980} \\")),
            (ty("TEXT", Kind::Text), "'a '", text("a ")),
            (ty("CHAR(3)", Kind::Text), "'a'", text("a")),
            (ty("VARBINARY(20)", Kind::Blob), "x'00ff27'", Value::Blob(vec![0, 255, 39])),
            (ty("BLOB", Kind::Blob), "x''", Value::Blob(vec![])),
            (ty("DATE", Kind::Date), "'2020-02-29'", other(Kind::Date, "2020-02-29")),
            (ty("DATE", Kind::Date), "'9999-12-31'", other(Kind::Date, "9999-12-31")),
            (ty("TIME(1)", Kind::Time), "'-26:03:04.5'", other(Kind::Time, "-26:03:04.5")),
            (
                ty("DATETIME", Kind::Timestamp),
                "'1999-12-31 23:59:59'",
                other(Kind::Timestamp, "1999-12-31 23:59:59"),
            ),
            (
                ty("DATETIME(6)", Kind::Timestamp),
                "'2020-02-29 12:30:00.5'",
                other(Kind::Timestamp, "2020-02-29 12:30:00.5"),
            ),
        ],
        insert: |_| "INSERT INTO r VALUES (?)".to_string(),
        setup: &["CREATE TABLE k(a INTEGER PRIMARY KEY)", "INSERT INTO k VALUES (1)"],
        errors: &[
            ("SELEC 1", ErrorClass::Syntax),
            ("SELECT nothing", ErrorClass::Semantic),
            ("SELECT * FROM nowhere", ErrorClass::Semantic),
            ("SELECT k.a, COUNT(*) FROM k", ErrorClass::Semantic),
            ("INSERT INTO k VALUES (1)", ErrorClass::Constraint),
            ("INSERT INTO k VALUES (NULL)", ErrorClass::Constraint),
            ("INSERT INTO k VALUES (2147483648)", ErrorClass::Runtime),
            ("INSERT INTO k VALUES ('a')", ErrorClass::Runtime),
            ("SELECT 9223372036854775807 + a FROM k", ErrorClass::Runtime),
            ("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1815", ErrorClass::Internal),
        ],
        prepared: PreparedWords {
            create: "CREATE TABLE p(a INTEGER NOT NULL, b VARCHAR(100))",
            insert: "INSERT INTO p VALUES (?, ?)",
            count: "SELECT COUNT(*) FROM p WHERE a > ?",
            types: [ty("INT", Kind::Int), ty("VARCHAR(100)", Kind::Text)],
            wrong: ("SELECT nothing", ErrorClass::Semantic),
            unkeyed: Some(Value::Null),
        },
        sql_prepared: &[
            "PREPARE q FROM 'SELECT ? + 1'",
            "SET @a = 41",
            "EXECUTE q USING @a",
            "DEALLOCATE PREPARE q",
        ],
        endless: thousand!("SELECT COUNT(*) FROM r, r AS s, r AS t, r AS u WHERE r.n + s.n + t.n < u.n - 1"),
        boundless: Some(["SET SESSION max_execution_time = 0", "SELECT SLEEP(100)"]),
        many_rows: thousand!("SELECT n FROM r"),
        mess: &[
            "SET div_precision_increment = 7",
            "CREATE TABLE left_over(a INTEGER)",
            "BEGIN",
            "INSERT INTO left_over VALUES (1)",
        ],
        setting: ("SELECT @@div_precision_increment", Value::Int(4)),
        traces: &[
            "SHOW SESSION VARIABLES WHERE Variable_name NOT IN ('timestamp', 'pseudo_thread_id', 'rand_seed1', \
             'rand_seed2', 'error_count', 'warning_count', 'last_insert_id', 'identity', 'insert_id', \
             'statement_id', 'last_gtid', 'in_transaction', 'tidb_last_ddl_info', 'tidb_last_query_info')",
            "SELECT (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()), (SELECT COUNT(*) \
             FROM information_schema.routines WHERE routine_schema = DATABASE())",
        ],
        server: Some(|engine| {
            let Value::Text(file) = value(engine, "SELECT @@pid_file") else { panic!() };
            std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
        }),
    }
}

#[test]
fn mariadb_10_11() {
    let suite = mysql("mariadb@10.11");
    Suite { boundless: Some(["SET max_statement_time = 0", "SELECT SLEEP(100)"]), ..suite }.run();
}

#[test]
fn mysql_newest() {
    mysql("mysql").run();
}

/// It has no limit of its own for a statement, and knows no WITH.
#[test]
fn mysql_5_6() {
    let suite = mysql("mysql@5.6");
    Suite {
        endless: "SELECT BENCHMARK(1000000000000, MD5('a'))",
        many_rows: "SELECT 1 FROM information_schema.collations, mysql.help_topic",
        boundless: None,
        ..suite
    }
    .run();
}

#[test]
fn oceanbase_newest() {
    let suite = mysql("oceanbase");
    Suite {
        boundless: Some(["SET ob_query_timeout = 1000000000", "SELECT SLEEP(100)"]),
        server: Some(|_| child("seekdb")),
        ..suite
    }
    .run();
}

#[test]
fn tidb_newest() {
    let suite = mysql("tidb");
    // It has no SIGNAL, with which the last one is raised.
    let errors = suite.errors.split_last().expect("there are errors").1;
    Suite { errors, server: Some(|_| child("tidb-server")), ..suite }.run();
}

/// It limits no statement itself, tells literals of dates as text, adds up whole numbers as floats, and its integers wrap
/// around. Its TIME has no number of digits. PREPARE in SQL is answered with what our client cannot read.
#[test]
fn dolt_newest() {
    let mut suite = mysql("dolt");
    let differs = ["SELECT DATE '", "SELECT TIME '", "SELECT TIMESTAMP '", "SELECT SUM(1)"];
    suite.values.retain(|(sql, _)| !differs.iter().any(|start| sql.starts_with(start)));
    suite.values.extend([
        ("SELECT CAST('2020-02-29' AS DATE)", other(Kind::Date, "2020-02-29")),
        ("SELECT CAST('1999-12-31' AS DATETIME)", other(Kind::Timestamp, "1999-12-31 00:00:00")),
        ("SELECT SUM(1) FROM (SELECT 1) AS d", Value::Real(1.0)),
    ]);
    for (ty, ..) in suite.stored.iter_mut().filter(|(ty, ..)| ty.name == "TIME(1)") {
        ty.name = "TIME".into();
    }
    let errors: Vec<_> =
        suite.errors.iter().copied().filter(|(sql, _)| !sql.starts_with("SELECT 92")).collect();
    Suite {
        errors: errors.leak(),
        sql_prepared: &[],
        boundless: None,
        // Variables that are named after the database tell its state.
        traces: &[
            "SHOW SESSION VARIABLES WHERE Variable_name NOT LIKE 'dissent%'",
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()",
        ],
        server: Some(|_| child("dolt")),
        ..suite
    }
    .run();
}

/// A server that somebody else runs, by its address: ours, in this test.
#[test]
fn mysql_by_address() {
    let Some((mut server, _)) = open("mysql") else { return };
    let Value::Text(socket) = value(server.as_mut(), "SELECT @@socket") else { panic!() };
    let databases = "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE 'dissent%'";
    let host = socket.replace('/', "%2F");
    // Relatives that cannot be obtained are tried on it.
    for scheme in only_by_address("mysql").chain(["mysql"]) {
        let suite = mysql(&format!("{scheme}://root@{host}/"));
        Suite { server: None, ..suite }.run();
        assert_eq!(value(server.as_mut(), databases), Value::Int(1), "only the server's own is left");
    }
}
