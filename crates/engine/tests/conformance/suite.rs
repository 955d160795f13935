//! The tests that every engine passes, and what an engine has to say for them.

use std::time::{Duration, Instant};

use dissent_core::dialect::{Dialect, Files};
use dissent_core::engine::{Engine, ErrorClass, Limits, Prepared, Reply, Rows};
use dissent_core::generate::Policy;
use dissent_core::oracle;
use dissent_core::render::render;
use dissent_core::session::{NoJournal, Session};
use dissent_core::sql::{DataType, Kind, Statement, Value};
use dissent_core::walk::Walk;
use dissent_engine::{Product, products, versions};

use super::common::Counting;
pub use super::common::open;

/// Generated statements that every engine is given, and the share of them that must succeed.
const STATEMENTS: u64 = 1000;
const VALID: f64 = 0.90;

/// The dialects that inherit from another and whose engines cannot be obtained, only reached.
pub fn only_by_address(parent: &'static str) -> impl Iterator<Item = &'static str> {
    let (files, versions) = (Files::built_in(), versions().expect("there is a cache directory"));
    products().map(Product::name).filter(move |name| {
        let is_obtainable = versions.iter().any(|version| version.engine == *name);
        !is_obtainable && files.relative(name).as_deref() == Some(parent)
    })
}

/// How an engine is made to show what it does.
pub struct Suite {
    pub target: String,
    /// A query that returns 1.
    pub one: &'static str,
    /// Queries of one value, and the value.
    pub values: Vec<(&'static str, Value)>,
    /// Types of columns, literals, and the values that a column of that type holds for them. The same values
    /// come back when they are given to a prepared statement.
    pub stored: Vec<(DataType, &'static str, Value)>,
    /// Inserts the only parameter into the only column of a table `r`, which is of this type.
    pub insert: fn(&DataType) -> String,
    /// Statements that set up what the errors need.
    pub setup: &'static [&'static str],
    /// Statements that fail, and how.
    pub errors: &'static [(&'static str, ErrorClass)],
    pub prepared: PreparedWords,
    /// Statements that prepare, execute and forget in SQL; the one that returns 42 is among them.
    pub sql_prepared: &'static [&'static str],
    /// Runs for minutes unless it is cut off.
    pub endless: &'static str,
    /// Takes the engine's own limit away, and then runs for minutes: it is cut off from outside. Absent where
    /// the engine is part of the process: then only the process can be ended, which tests of hunts do.
    pub boundless: Option<[&'static str; 2]>,
    /// Returns more than a hundred rows.
    pub many_rows: &'static str,
    /// Statements that leave a table `left_over`, a changed setting, and an open transaction.
    pub mess: &'static [&'static str],
    /// Asks for the setting, and its default.
    pub setting: (&'static str, Value),
    /// Queries about all that there is and how it is set: after a reset their answers are those of a new engine.
    pub traces: &'static [&'static str],
    /// The process that answers; absent where the engine is part of ours.
    pub server: Option<fn(&mut dyn Engine) -> libc::pid_t>,
}

/// Statements over `p(a INTEGER, b text)`, with the parameters as the dialect spells them.
pub struct PreparedWords {
    pub create: &'static str,
    /// Inserts a row of two parameters.
    pub insert: &'static str,
    /// The number of rows whose `a` is greater than the parameter.
    pub count: &'static str,
    /// Types of `a` and `b`.
    pub types: [DataType; 2],
    /// Cannot be prepared. Where the engine keeps no statements, it fails when it is run.
    pub wrong: (&'static str, ErrorClass),
    /// An insert that fails for its value: a NULL, say; absent if no value does.
    pub unkeyed: Option<Value>,
}

impl PreparedWords {
    /// Prepares, runs and closes statements by the engine's own means.
    pub fn hold(&self, engine: &mut dyn Engine, one: &str) {
        engine.reset().unwrap();
        done(engine, self.create);
        let insert = prepare(engine, self.insert, &self.types);
        let count = prepare(engine, self.count, &self.types[..1]);
        let text = |text: &str| Value::Text(text.to_string());
        for (a, b) in [(1, text("one")), (2, text("it's \u{1F980} \\ % ? $1")), (3, Value::Null)] {
            ran(engine, &insert, &[Value::Int(a), b]);
        }
        let b = value(engine, "SELECT b FROM p WHERE a = 2");
        assert_eq!(b, text("it's \u{1F980} \\ % ? $1"));
        // Again and again, with other values each time, and other statements between.
        for round in 0..8 {
            let greater = |n: i64| (3 - n).clamp(0, 3);
            for n in [0, 2, round, 1, 3] {
                assert_eq!(counted(engine, &count, &[Value::Int(n)]), greater(n), "{n}");
            }
            assert_eq!(counted(engine, &count, &[Value::Null]), 0);
            assert_eq!(value(engine, "SELECT COUNT(*) FROM p").as_int(), Some(3));
        }
        if let Some(unkeyed) = &self.unkeyed {
            let values = [unkeyed.clone(), text("x")];
            assert_eq!(failed(engine, &insert, &values), ErrorClass::Constraint);
            assert_eq!(counted(engine, &count, &[Value::Int(0)]), 3);
        }
        let few = engine.execute_prepared(&insert, &[]).unwrap();
        assert!(matches!(few, Reply::Failed(_)), "{few:?}");
        let (wrong, class) = self.wrong;
        match engine.prepare(wrong, &[]).unwrap() {
            Err(error) => assert_eq!(error.class, class, "{wrong}"),
            Ok(statement) => assert_eq!(failed(engine, &statement, &[]), class, "{wrong}"),
        }
        engine.close_prepared(insert).unwrap();
        assert_eq!(counted(engine, &count, &[Value::Int(1)]), 2, "after another was closed");

        // What was prepared is gone with what it was prepared for.
        engine.reset().unwrap();
        let gone = engine.execute_prepared(&count, &[Value::Int(1)]).unwrap();
        assert!(matches!(gone, Reply::Failed(_)), "{gone:?}");
        assert_eq!(value(engine, one).as_int(), Some(1));
    }
}

impl Suite {
    pub fn run(&self) {
        let Some((mut engine, dialect)) = open(&self.target) else { return };
        self.run_on(engine.as_mut(), &dialect);
    }

    pub fn run_on(&self, engine: &mut dyn Engine, dialect: &Dialect) {
        assert!(engine.version().starts_with(char::is_numeric), "{}", engine.version());
        engine.set_limits(Limits::default());
        let fresh = self.traces(engine);
        self.values_have_their_types(engine);
        self.values_are_kept(engine);
        self.errors_have_their_class(engine);
        self.prepared.hold(engine, self.one);
        self.statements_are_prepared_in_sql(engine);
        self.limits_hold(engine);
        self.explains(engine, dialect);
        self.reset_leaves_nothing(engine, dialect, &fresh);
        self.generated_statements_are_valid(engine, dialect);
        self.a_hang_is_ended(engine);
        self.a_crash_is_noticed(engine);
    }

    fn values_have_their_types(&self, engine: &mut dyn Engine) {
        for (sql, expected) in &self.values {
            assert_same(&value(engine, sql), expected, sql);
        }
    }

    fn values_are_kept(&self, engine: &mut dyn Engine) {
        for (ty, literal, expected) in &self.stored {
            engine.reset().unwrap();
            let what = format!("{literal} in {}", ty.name);
            done(engine, &format!("CREATE TABLE r(a {})", ty.name));
            done(engine, &format!("INSERT INTO r VALUES ({literal})"));
            assert_same(&value(engine, "SELECT a FROM r"), expected, &what);

            engine.reset().unwrap();
            done(engine, &format!("CREATE TABLE r(a {})", ty.name));
            let statement = prepare(engine, &(self.insert)(ty), std::slice::from_ref(ty));
            ran(engine, &statement, std::slice::from_ref(expected));
            assert_same(&value(engine, "SELECT a FROM r"), expected, &format!("{what}, prepared"));
        }
        engine.reset().unwrap();
    }

    fn errors_have_their_class(&self, engine: &mut dyn Engine) {
        self.setup.iter().for_each(|sql| done(engine, sql));
        for (sql, class) in self.errors {
            assert_eq!(failure(engine, sql), *class, "{sql}");
            assert_eq!(value(engine, self.one).as_int(), Some(1), "after {sql}");
        }
    }

    fn statements_are_prepared_in_sql(&self, engine: &mut dyn Engine) {
        let mut answers = 0;
        for sql in self.sql_prepared {
            match engine.execute(sql).unwrap() {
                Reply::Rows(rows) => {
                    assert_eq!(rows.single().and_then(Value::as_int), Some(42), "{sql}");
                    answers += 1;
                }
                Reply::Done { .. } => {}
                Reply::Failed(error) => panic!("{sql}: {error}"),
            }
        }
        assert!(answers > 0 || self.sql_prepared.is_empty());
    }

    fn limits_hold(&self, engine: &mut dyn Engine) {
        engine.set_limits(Limits { millis: 300, rows: 100, ..Limits::default() });
        let start = Instant::now();
        assert_eq!(failure(engine, self.endless), ErrorClass::Limit, "{}", self.endless);
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
        self.come_back(engine);
        assert_eq!(failure(engine, self.many_rows), ErrorClass::Limit, "{}", self.many_rows);
        // A limit outlives the database it was set in.
        engine.reset().unwrap();
        assert_eq!(failure(engine, self.endless), ErrorClass::Limit, "{}", self.endless);
        self.come_back(engine);
        // Prepared statements have no other.
        let many = prepare(engine, self.many_rows, &[]);
        assert_eq!(failed(engine, &many, &[]), ErrorClass::Limit);
        let endless = prepare(engine, self.endless, &[]);
        assert_eq!(failed(engine, &endless, &[]), ErrorClass::Limit);
        engine.set_limits(Limits::default());
        self.come_back(engine);
        assert_eq!(value(engine, self.one).as_int(), Some(1));
    }

    /// Where a statement could only be cut off by ending its process, a reset starts another one.
    fn come_back(&self, engine: &mut dyn Engine) {
        if self.server.is_some() && engine.execute(self.one).unwrap().failure().is_some() {
            engine.reset().unwrap();
        }
    }

    fn reset_leaves_nothing(&self, engine: &mut dyn Engine, dialect: &Dialect, fresh: &[Rows]) {
        for _ in 0..3 {
            engine.reset().unwrap();
            self.mess.iter().for_each(|sql| done(engine, sql));
            assert_ne!(value(engine, self.setting.0), self.setting.1);
            assert_ne!(self.traces(engine), fresh, "the mess is not seen");
        }
        engine.reset().unwrap();
        assert_eq!(failure(engine, "SELECT * FROM left_over"), ErrorClass::Semantic);
        assert_eq!(value(engine, self.setting.0), self.setting.1);
        assert_eq!(self.traces(engine), fresh);

        // All that the oracle `plan` may set; a value that this version does not know changes nothing.
        for at in 0..dialect.settings.iter().map(|setting| setting.values.len()).max().unwrap_or(0) {
            for setting in &dialect.settings {
                let (name, value) = (setting.name.clone(), setting.values[at % setting.values.len()].clone());
                let mut sql = String::new();
                render(&Statement::Set { name, value }, dialect, &mut sql);
                engine.execute(&sql).unwrap();
            }
            engine.reset().unwrap();
            assert_eq!(self.traces(engine), fresh, "after value {at} of every setting");
        }
    }

    fn traces(&self, engine: &mut dyn Engine) -> Vec<Rows> {
        let rows = |sql: &&str| match engine.execute(sql).unwrap() {
            Reply::Rows(rows) => rows,
            other => panic!("{sql}: {other:?}"),
        };
        self.traces.iter().map(rows).collect()
    }

    fn generated_statements_are_valid(&self, engine: &mut dyn Engine, dialect: &Dialect) {
        let policy = Policy::default();
        // As in a hunt: those that cannot test it would only have their tables refused.
        let mut oracles = oracle::select("all");
        oracles.retain(|oracle| oracle.suits(dialect));
        let walk = Walk { dialect, calm: None, oracles, seed: 4, policy };
        let mut watcher = Counting { cases_left: u64::MAX, ..Counting::default() };
        let mut journal = NoJournal;
        let mut session = Session::new(engine, dialect, &mut journal, || 0);
        let mut number = 0;
        while session.counts.statements < STATEMENTS {
            walk.database(number, &mut session, &mut watcher).expect("the engine answers");
            number += 1;
        }
        let counts = &session.counts;
        let valid = counts.statements_ok as f64 / counts.statements as f64;
        let summary = format!("{:.1} % of {} statements succeed", 100.0 * valid, counts.statements);
        println!("{}: {summary}, in {number} databases", self.target);
        assert!(valid >= VALID, "{summary}");
        // Differences are not judged here: some of these engines have bugs that a few hundred cases show.
    }

    fn a_hang_is_ended(&self, engine: &mut dyn Engine) {
        let Some([unlimit, forever]) = self.boundless else { return };
        engine.set_limits(Limits { millis: 300, ..Limits::default() });
        engine.reset().unwrap();
        done(engine, unlimit);
        let start = Instant::now();
        let class = failure(engine, forever);
        // Servers of the MySQL family are asked to end the statement, of others we end the connection.
        assert!(matches!(class, ErrorClass::Limit | ErrorClass::ConnectionLost), "{class:?}");
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
        engine.set_limits(Limits::default());
        engine.reset().unwrap();
        assert_eq!(value(engine, self.one).as_int(), Some(1));
    }

    fn a_crash_is_noticed(&self, engine: &mut dyn Engine) {
        let Some(server) = self.server else { return };
        // Between two statements, and in the middle of one.
        for running in [None, Some(self.endless)] {
            engine.reset().unwrap();
            done(engine, "CREATE TABLE before_crash(a INTEGER)");
            let count = prepare(engine, self.prepared_in_crash(), &[]);
            let pid = server(engine);
            let kill = move || {
                // SAFETY: a signal to a process that the engine has just named as its own.
                assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
            };
            match running {
                None => kill(),
                Some(sql) => {
                    let killer = std::thread::spawn(move || {
                        std::thread::sleep(Duration::from_millis(400));
                        kill();
                    });
                    assert_eq!(failure(engine, sql), ErrorClass::ConnectionLost);
                    killer.join().unwrap();
                }
            }
            assert_eq!(failure(engine, self.one), ErrorClass::ConnectionLost);
            assert_eq!(failed(engine, &count, &[]), ErrorClass::ConnectionLost);
            engine.reset().unwrap();
            assert_eq!(value(engine, self.one).as_int(), Some(1));
            assert_eq!(failure(engine, "SELECT * FROM before_crash"), ErrorClass::Semantic);
        }
    }

    fn prepared_in_crash(&self) -> &'static str {
        "SELECT COUNT(*) FROM before_crash"
    }

    fn explains(&self, engine: &mut dyn Engine, dialect: &Dialect) {
        let explain = dialect.explain.as_deref().expect("every dialect can explain");
        match engine.execute(&format!("{explain} {}", self.one)).unwrap() {
            Reply::Rows(rows) => assert!(!dialect.plan_text(&rows).is_empty()),
            other => panic!("{other:?}"),
        }
    }
}

/// NaN is not equal to itself.
fn assert_same(found: &Value, expected: &Value, what: &str) {
    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{what}");
}

pub fn value(engine: &mut dyn Engine, sql: &str) -> Value {
    match engine.execute(sql).unwrap() {
        Reply::Rows(rows) => rows.single().unwrap_or_else(|| panic!("{sql}: {rows:?}")).clone(),
        other => panic!("{sql}: {other:?}"),
    }
}

/// The child of ours whose program has this name, or whose command names a folder of this name.
pub fn child(name: &str) -> libc::pid_t {
    let us = std::process::id().to_string();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        // `1234 (seekdb) S 1233 …`
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let command = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
        let named = stat.contains(&format!("({name})")) || command.contains(&format!("/{name}/"));
        if named && parent == Some(&us) {
            return entry.file_name().to_string_lossy().parse().unwrap();
        }
    }
    panic!("no child {name}");
}

fn done(engine: &mut dyn Engine, sql: &str) {
    if let Reply::Failed(error) = engine.execute(sql).unwrap() {
        panic!("{sql}: {error}");
    }
}

fn failure(engine: &mut dyn Engine, sql: &str) -> ErrorClass {
    match engine.execute(sql).unwrap() {
        Reply::Failed(error) => {
            // Shown only when a test fails.
            println!("{sql}: {error} ({})", error.code);
            error.class
        }
        other => panic!("{sql}: {other:?}"),
    }
}

fn prepare(engine: &mut dyn Engine, sql: &str, types: &[DataType]) -> Prepared {
    engine.prepare(sql, types).unwrap().unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn ran(engine: &mut dyn Engine, statement: &Prepared, values: &[Value]) {
    if let Reply::Failed(error) = engine.execute_prepared(statement, values).unwrap() {
        panic!("{}: {error}", statement.told_with(values));
    }
}

fn counted(engine: &mut dyn Engine, statement: &Prepared, values: &[Value]) -> i64 {
    match engine.execute_prepared(statement, values).unwrap() {
        Reply::Rows(rows) => rows.single().and_then(Value::as_int).unwrap_or_else(|| panic!("{rows:?}")),
        other => panic!("{}: {other:?}", statement.told_with(values)),
    }
}

fn failed(engine: &mut dyn Engine, statement: &Prepared, values: &[Value]) -> ErrorClass {
    match engine.execute_prepared(statement, values).unwrap() {
        Reply::Failed(error) => error.class,
        other => panic!("{}: {other:?}", statement.told_with(values)),
    }
}

pub fn other(kind: Kind, text: &str) -> Value {
    Value::Other { kind, text: text.to_string() }
}

pub fn decimal(digits: &str) -> Value {
    Value::Decimal(digits.to_string())
}

pub fn text(text: &str) -> Value {
    Value::Text(text.to_string())
}

pub fn ty(name: &'static str, kind: Kind) -> DataType {
    DataType::new(name, kind)
}
