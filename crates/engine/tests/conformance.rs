//! What every engine must do, whichever it is. A test per target says in that target's words how to bring
//! each thing about; an engine that cannot be obtained is skipped with a loud line, unless
//! `DISSENT_REQUIRE_ENGINES=1`.

mod common;

use common::{Counting, open};
use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, ErrorClass, Limits, Reply};
use dissent_core::generate::Policy;
use dissent_core::oracle;
use dissent_core::session::{NoJournal, Session};
use dissent_core::sql::{Kind, Value};
use dissent_core::walk::Walk;

/// How an engine is made to show what it does.
struct Suite {
    target: String,
    /// Queries of one value, and the value.
    values: Vec<(&'static str, Value)>,
    /// Statements that set up what the errors need.
    setup: &'static [&'static str],
    /// Statements that fail, and how.
    errors: &'static [(&'static str, ErrorClass)],
    /// Runs for minutes unless it is cut off.
    endless: &'static str,
    /// Returns more than a hundred rows.
    many_rows: &'static str,
    /// Statements that leave a table `left_over`, a changed setting, and an open transaction.
    mess: &'static [&'static str],
    /// Asks for the setting, and its default.
    setting: (&'static str, Value),
    /// Takes the server down; absent where the engine is part of the process.
    crash: Option<fn(&mut dyn Engine)>,
}

impl Suite {
    fn run(&self) {
        let Some((mut engine, dialect)) = open(&self.target) else { return };
        let engine = engine.as_mut();
        assert!(engine.version().starts_with(char::is_numeric), "{}", engine.version());
        self.values_have_their_types(engine);
        self.errors_have_their_class(engine);
        self.limits_hold(engine);
        explains(engine, &dialect);
        self.reset_leaves_nothing(engine);
        self.generated_statements_are_valid(engine, &dialect);
        self.a_crash_is_noticed(engine);
    }

    fn values_have_their_types(&self, engine: &mut dyn Engine) {
        for (sql, expected) in &self.values {
            let found = value(engine, sql);
            // NaN is not equal to itself.
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{sql}");
        }
    }

    fn errors_have_their_class(&self, engine: &mut dyn Engine) {
        self.setup.iter().for_each(|sql| done(engine, sql));
        for (sql, class) in self.errors {
            assert_eq!(failure(engine, sql), *class, "{sql}");
            assert_eq!(value(engine, "SELECT 1").as_int(), Some(1), "after {sql}");
        }
    }

    fn limits_hold(&self, engine: &mut dyn Engine) {
        engine.set_limits(Limits { millis: 300, rows: 100, ..Limits::default() });
        let start = std::time::Instant::now();
        assert_eq!(failure(engine, self.endless), ErrorClass::Limit, "{}", self.endless);
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
        assert_eq!(failure(engine, self.many_rows), ErrorClass::Limit, "{}", self.many_rows);
        // A limit outlives the database it was set in.
        engine.reset().unwrap();
        assert_eq!(failure(engine, self.endless), ErrorClass::Limit, "{}", self.endless);
        engine.set_limits(Limits::default());
        assert_eq!(value(engine, "SELECT 1").as_int(), Some(1));
    }

    fn reset_leaves_nothing(&self, engine: &mut dyn Engine) {
        for _ in 0..3 {
            engine.reset().unwrap();
            self.mess.iter().for_each(|sql| done(engine, sql));
            assert_ne!(value(engine, self.setting.0), self.setting.1);
        }
        engine.reset().unwrap();
        assert_eq!(failure(engine, "SELECT * FROM left_over"), ErrorClass::Semantic);
        assert_eq!(value(engine, self.setting.0), self.setting.1);
    }

    fn generated_statements_are_valid(&self, engine: &mut dyn Engine, dialect: &Dialect) {
        let policy = Policy::default();
        let walk = Walk { dialect, calm: None, oracles: oracle::select("all"), seed: 4, policy };
        let mut watcher = Counting { cases_left: 400, ..Counting::default() };
        let mut journal = NoJournal;
        let mut session = Session::new(engine, dialect, &mut journal, || 0);
        let mut number = 0;
        while walk.database(number, &mut session, &mut watcher).expect("the engine answers") {
            number += 1;
        }
        let counts = &session.counts;
        let valid = counts.statements_ok as f64 / counts.statements as f64;
        assert!(counts.statements > 300, "{counts:?}");
        assert!(valid >= 0.90, "{:.1} % of {} statements succeed", 100.0 * valid, counts.statements);
        // Differences are not judged here: some of these engines have bugs that a few hundred cases show.
    }

    fn a_crash_is_noticed(&self, engine: &mut dyn Engine) {
        let Some(crash) = self.crash else { return };
        engine.reset().unwrap();
        done(engine, "CREATE TABLE before_crash(a INTEGER)");
        crash(engine);
        assert_eq!(failure(engine, "SELECT 1"), ErrorClass::ConnectionLost);
        assert_eq!(failure(engine, "SELECT 1"), ErrorClass::ConnectionLost);
        engine.reset().unwrap();
        assert_eq!(value(engine, "SELECT 1").as_int(), Some(1));
        assert_eq!(failure(engine, "SELECT * FROM before_crash"), ErrorClass::Semantic);
    }
}

fn explains(engine: &mut dyn Engine, dialect: &Dialect) {
    let Some(explain) = dialect.explain.as_deref() else { return };
    match engine.execute(&format!("{explain} SELECT 1")).unwrap() {
        Reply::Rows(rows) => assert!(!dialect.plan_text(&rows).is_empty()),
        other => panic!("{other:?}"),
    }
}

fn value(engine: &mut dyn Engine, sql: &str) -> Value {
    match engine.execute(sql).unwrap() {
        Reply::Rows(rows) => rows.single().unwrap_or_else(|| panic!("{sql}: {rows:?}")).clone(),
        other => panic!("{sql}: {other:?}"),
    }
}

fn done(engine: &mut dyn Engine, sql: &str) {
    if let Reply::Failed(error) = engine.execute(sql).unwrap() {
        panic!("{sql}: {error}");
    }
}

fn failure(engine: &mut dyn Engine, sql: &str) -> ErrorClass {
    match engine.execute(sql).unwrap() {
        Reply::Failed(error) => error.class,
        other => panic!("{sql}: {other:?}"),
    }
}

fn other(kind: Kind, text: &str) -> Value {
    Value::Other { kind, text: text.to_string() }
}

fn postgres(target: &str) -> Suite {
    let decimal = |digits: &str| Value::Decimal(digits.to_string());
    let text = |text: &str| Value::Text(text.to_string());
    Suite {
        target: target.to_string(),
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
        ],
        endless: "SELECT pg_sleep(100)",
        many_rows: "SELECT generate_series(1, 1000000)",
        mess: &[
            "SET enable_seqscan = off",
            "CREATE TABLE left_over(a INTEGER)",
            "CREATE TEMP TABLE left_too(a INTEGER)",
            "PREPARE p(INTEGER) AS SELECT $1 + 1",
            "EXECUTE p(1)",
            "BEGIN",
            "INSERT INTO left_over VALUES (1)",
        ],
        setting: ("SHOW enable_seqscan", Value::Text("on".to_string())),
        crash: Some(|engine| {
            let pid = value(engine, "SELECT pg_backend_pid()").as_int().unwrap();
            // SAFETY: a signal to a process that the engine has just named as its own.
            assert_eq!(unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) }, 0);
        }),
    }
}

#[test]
fn postgres_newest() {
    postgres("postgres").run();
}

#[test]
fn postgres_16() {
    postgres("postgres@16").run();
}

/// A server that somebody else runs, by its address: ours, in this test.
#[test]
fn postgres_by_address() {
    let Some((mut server, _)) = open("postgres") else { return };
    let Value::Text(directory) = value(server.as_mut(), "SHOW unix_socket_directories") else { panic!() };
    let databases = "SELECT count(*) FROM pg_database WHERE datname LIKE 'dissent%'";
    let host = directory.replace('/', "%2F");
    // CockroachDB cannot be obtained; its dialect is tried on its relative.
    for target in
        [format!("postgres://postgres@{host}/"), format!("cockroachdb://postgres@{host}:5432/postgres")]
    {
        let suite = Suite { crash: None, ..postgres(&target) };
        suite.run();
        assert_eq!(value(server.as_mut(), databases), Value::Int(1), "only the server's own is left");
    }
}

/// A thousand rows to join.
macro_rules! thousand {
    ($query:literal) => {
        concat!("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000) ", $query)
    };
}

/// MySQL, MariaDB and their relatives.
fn mysql(target: &str) -> Suite {
    let decimal = |digits: &str| Value::Decimal(digits.to_string());
    let text = |text: &str| Value::Text(text.to_string());
    Suite {
        target: target.to_string(),
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
        ],
        endless: thousand!("SELECT COUNT(*) FROM r, r AS s, r AS t, r AS u WHERE r.n + s.n + t.n < u.n - 1"),
        many_rows: thousand!("SELECT n FROM r"),
        mess: &[
            "SET div_precision_increment = 7",
            "CREATE TABLE left_over(a INTEGER)",
            "BEGIN",
            "INSERT INTO left_over VALUES (1)",
        ],
        setting: ("SELECT @@div_precision_increment", Value::Int(4)),
        crash: Some(|engine| {
            let Value::Text(file) = value(engine, "SELECT @@pid_file") else { panic!() };
            let pid: libc::pid_t = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
            // SAFETY: a signal to a process that the engine has just named as its own.
            assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
        }),
    }
}

#[test]
fn mariadb_10_11() {
    mysql("mariadb@10.11").run();
}

#[test]
fn mysql_newest() {
    mysql("mysql").run();
}

#[test]
fn oceanbase_newest() {
    let suite = mysql("oceanbase");
    Suite { crash: Some(|_| kill_child("seekdb")), ..suite }.run();
}

/// Kills the child of ours that goes by this name.
fn kill_child(name: &str) {
    let us = std::process::id().to_string();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        // `1234 (seekdb) S 1233 …`
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
        if stat.contains(&format!("({name})")) && parent == Some(&us) {
            let pid = entry.file_name().to_string_lossy().parse().unwrap();
            // SAFETY: a signal to a child that has not been waited for.
            assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
            return;
        }
    }
    panic!("no child {name}");
}

/// A server that somebody else runs, by its address: ours, in this test.
#[test]
fn mysql_by_address() {
    let Some((mut server, _)) = open("mysql") else { return };
    let Value::Text(socket) = value(server.as_mut(), "SELECT @@socket") else { panic!() };
    let databases = "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE 'dissent%'";
    let host = socket.replace('/', "%2F");
    // Percona Server and TiDB cannot be obtained; their dialects are tried on their relative.
    for scheme in ["mysql", "percona", "tidb"] {
        let suite = mysql(&format!("{scheme}://root@{host}/"));
        Suite { crash: None, ..suite }.run();
        assert_eq!(value(server.as_mut(), databases), Value::Int(1), "only the server's own is left");
    }
}

#[test]
fn duckdb() {
    let decimal = |digits: &str| Value::Decimal(digits.to_string());
    let text = |text: &str| Value::Text(text.to_string());
    Suite {
        target: "duckdb@1.5.6".to_string(),
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
        endless: "SELECT COUNT(*) FROM range(1000000) AS a, range(1000000) AS b WHERE a.range + b.range = -1",
        many_rows: "SELECT * FROM range(100000)",
        mess: &[
            "SET preserve_insertion_order = false",
            "CREATE TABLE left_over(a INTEGER)",
            "CREATE TEMP TABLE left_too(a INTEGER)",
            "BEGIN",
            "INSERT INTO left_over VALUES (1)",
        ],
        setting: ("SELECT current_setting('preserve_insertion_order')", Value::Bool(true)),
        crash: None,
    }
    .run();
}

#[test]
fn clickhouse() {
    let decimal = |digits: &str| Value::Decimal(digits.to_string());
    let text = |text: &str| Value::Text(text.to_string());
    Suite {
        target: "clickhouse@26.7".to_string(),
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
        setup: &["CREATE TABLE k(a Int32, CONSTRAINT c CHECK a > 0) ENGINE = Memory"],
        errors: &[
            ("SELEC 1", ErrorClass::Syntax),
            ("SELECT nothing", ErrorClass::Semantic),
            ("SELECT * FROM nowhere", ErrorClass::Semantic),
            ("INSERT INTO k VALUES (0)", ErrorClass::Constraint),
            ("SELECT intDiv(number, 0) FROM numbers(1)", ErrorClass::Runtime),
            ("SELECT throwIf(number = 1) FROM numbers(2)", ErrorClass::Runtime),
        ],
        endless: "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1",
        many_rows: "SELECT * FROM numbers(100000)",
        mess: &["SET max_block_size = 7", "CREATE TABLE left_over(a Int32) ENGINE = Memory"],
        setting: ("SELECT getSetting('max_block_size')", Value::Int(65409)),
        crash: None,
    }
    .run();
}
