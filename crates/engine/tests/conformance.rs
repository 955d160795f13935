//! What every engine must do, whatever it is: one set of tests, one entry per engine at the end.
//!
//! An engine that cannot be obtained here is skipped with a loud line; with `DISSENT_REQUIRE_ENGINES=1` that is a
//! failure.

mod common;

use common::{Counting, rows};
use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, ErrorClass, Limits, Reply};
use dissent_core::generate::Policy;
use dissent_core::oracle;
use dissent_core::session::{NoJournal, Session};
use dissent_core::sql::{Kind, Value};
use dissent_core::walk::Walk;
use dissent_engine::Target;

/// An engine under test, and how it says what all of them must understand.
struct Subject {
    target: &'static str,
    /// Queries of one value, and that value.
    values: Vec<(&'static str, Value)>,
    /// Statements that prepare the errors, and one statement for each class.
    before_errors: &'static [&'static str],
    errors: &'static [(ErrorClass, &'static str)],
    /// Runs for minutes.
    endless: &'static str,
    /// Returns more than a thousand rows.
    long: &'static str,
    /// A setting other than its default, and a query that shows it.
    setting: (&'static str, &'static str),
    create: &'static str,
}

fn open(target: &str) -> Option<(Box<dyn Engine>, Dialect)> {
    let target = Target::parse(target).expect("the target is well formed");
    let opened = target.obtain(&mut |step| eprintln!("{step}")).and_then(|source| source.open());
    match opened {
        Ok(engine) => {
            let dialect = Dialect::load(target.dialect(), engine.version()).expect("its dialect reads");
            Some((engine, dialect))
        }
        Err(error) if std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some_and(|value| value == "1") => {
            panic!("{target} is required here: {error}")
        }
        Err(error) => {
            eprintln!("SKIPPED: {target} cannot be had here: {error}");
            None
        }
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_string())
}

fn decimal(digits: &str) -> Value {
    Value::Decimal(digits.to_string())
}

fn other(kind: Kind, text: &str) -> Value {
    Value::Other { kind, text: text.to_string() }
}

/// NaN is itself here.
fn same(a: &Value, b: &Value) -> bool {
    matches!((a, b), (Value::Real(a), Value::Real(b)) if a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
        || a == b
}

impl Subject {
    fn conforms(&self) {
        let Some((mut engine, dialect)) = open(self.target) else { return };
        let engine = engine.as_mut();
        self.values_arrive_as_they_are(engine);
        self.errors_have_their_class(engine);
        self.limits_hold(engine);
        self.a_reset_forgets_everything(engine);
        self.a_plan_is_told(engine, &dialect);
        self.generated_statements_are_valid(engine, &dialect);
    }

    fn values_arrive_as_they_are(&self, engine: &mut dyn Engine) {
        for (sql, expected) in &self.values {
            let rows = rows(engine.execute(sql).unwrap()).unwrap_or_else(|error| panic!("{sql}: {error}"));
            let value = rows.single().unwrap_or_else(|| panic!("{sql}: {rows:?}"));
            assert!(same(value, expected), "{sql} returns {value:?}, not {expected:?}");
        }
    }

    fn errors_have_their_class(&self, engine: &mut dyn Engine) {
        for sql in self.before_errors {
            let reply = engine.execute(sql).unwrap();
            assert!(!matches!(reply, Reply::Failed(_)), "{sql}: {reply:?}");
        }
        for (class, sql) in self.errors {
            match engine.execute(sql).unwrap() {
                Reply::Failed(error) => assert_eq!(error.class, *class, "{sql}: {error:?}"),
                reply => panic!("{sql} does not fail: {reply:?}"),
            }
        }
        // None of them leaves anything behind that the next answer would hold.
        let [first, ..] = &self.values[..] else { return };
        assert_eq!(rows(engine.execute(first.0).unwrap()).unwrap().single(), Some(&first.1));
    }

    fn limits_hold(&self, engine: &mut dyn Engine) {
        engine.set_limits(Limits { millis: 300, rows: 1000, ..Limits::default() });
        for sql in [self.endless, self.long] {
            match engine.execute(sql).unwrap() {
                Reply::Failed(error) => assert_eq!(error.class, ErrorClass::Limit, "{sql}: {error:?}"),
                reply => panic!("{sql} ends: {reply:?}"),
            }
        }
        engine.set_limits(Limits::default());
        engine.reset().unwrap();
        assert!(rows(engine.execute("SELECT 1").unwrap()).is_ok());
    }

    fn a_reset_forgets_everything(&self, engine: &mut dyn Engine) {
        let (set, show) = self.setting;
        let shown = |engine: &mut dyn Engine| rows(engine.execute(show).unwrap()).unwrap();
        engine.reset().unwrap();
        let usual = shown(engine);
        for sql in [self.create, set] {
            let reply = engine.execute(sql).unwrap();
            assert!(!matches!(reply, Reply::Failed(_)), "{sql}: {reply:?}");
        }
        assert_ne!(shown(engine), usual, "{set} changes nothing");
        for _ in 0..3 {
            engine.reset().unwrap();
            assert_eq!(shown(engine), usual, "a reset keeps what {set} made");
            let reply = engine.execute(self.create).unwrap();
            assert!(!matches!(reply, Reply::Failed(_)), "{reply:?}");
        }
        engine.reset().unwrap();
    }

    fn a_plan_is_told(&self, engine: &mut dyn Engine, dialect: &Dialect) {
        let Some(word) = &dialect.explain else { return };
        let rows = rows(engine.execute(&format!("{word} SELECT 1")).unwrap()).unwrap();
        assert!(!dialect.plan_text(&rows).is_empty());
    }

    fn generated_statements_are_valid(&self, engine: &mut dyn Engine, dialect: &Dialect) {
        let oracles = oracle::select("all");
        let walk = Walk { dialect, oracles, seed: 1, policy: Policy::default() };
        let mut watcher = Counting { cases_left: u64::MAX, ..Counting::default() };
        let mut journal = NoJournal;
        let mut session = Session::new(engine, dialect, &mut journal, || 0);
        for database in 0.. {
            // A few cases of each database: what a schema may hold matters most here.
            watcher.cases_left = 40;
            walk.database(database, &mut session, &mut watcher).expect("the engine answers");
            if session.counts.statements >= 1000 {
                break;
            }
        }
        let counts = session.counts;
        let valid = counts.statements_ok as f64 / counts.statements as f64;
        assert!(valid >= 0.9, "{:.1} % of {} statements succeed", 100.0 * valid, counts.statements);
    }
}

#[test]
fn duckdb() {
    Subject {
        target: "duckdb@1.5.6",
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
        before_errors: &["CREATE TABLE k(a INTEGER PRIMARY KEY)", "INSERT INTO k VALUES (1)"],
        errors: &[
            (ErrorClass::Syntax, "SELEC 1"),
            (ErrorClass::Syntax, "SELECT 1; SELECT 2"),
            (ErrorClass::Semantic, "SELECT nothing"),
            (ErrorClass::Semantic, "SELECT * FROM nowhere"),
            (ErrorClass::Constraint, "INSERT INTO k VALUES (1)"),
            (ErrorClass::Runtime, "SELECT CAST('x' AS INTEGER)"),
            (ErrorClass::Runtime, "SELECT 9223372036854775807 + a FROM k"),
        ],
        endless: "SELECT COUNT(*) FROM range(1000000) AS a, range(1000000) AS b WHERE a.range + b.range = -1",
        long: "SELECT * FROM range(100000)",
        setting: (
            "SET preserve_insertion_order = false",
            "SELECT current_setting('preserve_insertion_order')",
        ),
        create: "CREATE TABLE t(a INTEGER)",
    }
    .conforms();
}

#[test]
fn clickhouse() {
    Subject {
        target: "clickhouse@26.7",
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
        before_errors: &["CREATE TABLE k(a Int32, CONSTRAINT c CHECK a > 0) ENGINE = Memory"],
        errors: &[
            (ErrorClass::Syntax, "SELEC 1"),
            (ErrorClass::Semantic, "SELECT nothing"),
            (ErrorClass::Semantic, "SELECT * FROM nowhere"),
            (ErrorClass::Constraint, "INSERT INTO k VALUES (0)"),
            (ErrorClass::Runtime, "SELECT intDiv(number, 0) FROM numbers(1)"),
            (ErrorClass::Runtime, "SELECT throwIf(number = 1) FROM numbers(2)"),
        ],
        endless: "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1",
        long: "SELECT * FROM numbers(100000)",
        setting: ("SET max_block_size = 7", "SELECT getSetting('max_block_size')"),
        create: "CREATE TABLE t(a Int32) ENGINE = Memory",
    }
    .conforms();
}
