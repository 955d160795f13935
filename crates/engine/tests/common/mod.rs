//! Databases to test against, behind a session.

#![allow(dead_code)] // Each test file uses a part of this.

use std::io::Write;

use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Limits, Reply, Rows, Trouble};
use dissent_core::finding::{Evidence, Origin, Verdict};
use dissent_core::oracle;
use dissent_core::session::{NoJournal, Session};
use dissent_core::sql::Statement;
use dissent_core::subject::Subject;
use dissent_core::walk::{Watcher, replay};
use dissent_engine::{Source, Target};

/// The methods by which an engine around an `engine` passes prepared statements on to it.
#[macro_export]
macro_rules! pass_on_prepared {
    () => {
        fn prepare(
            &mut self,
            sql: &str,
            types: &[dissent_core::sql::DataType],
        ) -> Result<
            Result<dissent_core::engine::Prepared, dissent_core::engine::SqlError>,
            dissent_core::engine::Trouble,
        > {
            self.engine.prepare(sql, types)
        }
        fn execute_prepared(
            &mut self,
            statement: &dissent_core::engine::Prepared,
            values: &[dissent_core::sql::Value],
        ) -> Result<dissent_core::engine::Reply, dissent_core::engine::Trouble> {
            self.engine.execute_prepared(statement, values)
        }
        fn close_prepared(
            &mut self,
            statement: dissent_core::engine::Prepared,
        ) -> Result<(), dissent_core::engine::Trouble> {
            self.engine.close_prepared(statement)
        }
    };
}

pub fn sqlite() -> (Box<dyn Engine>, Dialect) {
    let engine = Source::bundled().open().expect("the bundled SQLite opens");
    let dialect = Dialect::load("sqlite", engine.version()).expect("its dialect reads");
    (engine, dialect)
}

/// An engine by its target's name. One that cannot be had is skipped with a loud line, unless
/// `DISSENT_REQUIRE_ENGINES=1`.
pub fn open(target: &str) -> Option<(Box<dyn Engine>, Dialect)> {
    let opened = Target::parse(target).and_then(|target| {
        let engine = target.obtain(&mut |step| eprintln!("{target}: {step}"))?.open()?;
        Ok((engine, target.dialect()))
    });
    match opened {
        Ok((engine, dialect)) => {
            let dialect = Dialect::load(dialect, engine.version()).expect("its dialect reads");
            Some((engine, dialect))
        }
        Err(error) if std::env::var("DISSENT_REQUIRE_ENGINES").as_deref() == Ok("1") => {
            panic!("{target} is required: {error}")
        }
        Err(error) => {
            // Not by a macro: the test harness captures what those print.
            let line = format!("SKIPPED, not passed: {target} cannot be had: {error}\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
            None
        }
    }
}

/// Runs `f` with a session over an engine.
pub fn with_session<T>(engine: &mut dyn Engine, dialect: &Dialect, f: impl FnOnce(&mut Session) -> T) -> T {
    f(&mut Session::new(engine, dialect, &mut NoJournal, || 0))
}

/// Checks a subject on a fresh bundled SQLite.
pub fn check(subject: &Subject) -> Verdict {
    let (mut engine, dialect) = sqlite();
    check_on(engine.as_mut(), &dialect, subject)
}

pub fn check_on(engine: &mut dyn Engine, dialect: &Dialect, subject: &Subject) -> Verdict {
    let oracle = oracle::by_name(&subject.oracle).expect("the subject's oracle exists");
    with_session(engine, dialect, |session| replay(subject, oracle, session).expect("the engine answers"))
}

pub fn raw(statements: &[&str]) -> Vec<Statement> {
    statements.iter().map(|sql| Statement::Raw(sql.to_string())).collect()
}

pub fn rows(reply: Reply) -> Result<Rows, String> {
    match reply {
        Reply::Rows(rows) => Ok(rows),
        Reply::Done { .. } => Err(String::from("no result set")),
        Reply::Failed(error) => Err(error.message),
    }
}

/// Passes everything on and keeps the text.
pub struct Recording {
    pub engine: Box<dyn Engine>,
    pub statements: Vec<String>,
}

impl Engine for Recording {
    fn version(&self) -> &str {
        self.engine.version()
    }
    fn reset(&mut self) -> Result<(), Trouble> {
        self.engine.reset()
    }
    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        self.statements.push(sql.to_string());
        self.engine.execute(sql)
    }
    fn set_limits(&mut self, limits: Limits) {
        self.engine.set_limits(limits);
    }
    pass_on_prepared!();
}

/// Counts what a walk tells, for a number of cases.
#[derive(Default)]
pub struct Counting {
    pub cases_left: u64,
    pub passes: u64,
    pub nonempty: u64,
    pub skips: u64,
    pub reasons: std::collections::BTreeMap<String, u64>,
    pub findings: Vec<(Subject, Evidence)>,
    pub unstable: u64,
    /// Operations of the engine's catalog that were in a case all of whose statements succeeded.
    pub operations: std::collections::BTreeSet<u32>,
}

impl Watcher for Counting {
    fn case(&mut self, _: u64, _: u64) -> bool {
        self.cases_left = self.cases_left.saturating_sub(1);
        self.cases_left > 0
    }

    fn built(&mut self, _: &str) {}

    fn operations(&mut self, drawn: &[u32], succeeded: bool) {
        if succeeded {
            self.operations.extend(drawn);
        }
    }

    fn verdict(&mut self, _: &'static str, verdict: &Verdict) {
        match verdict {
            Verdict::Pass { nonempty } => {
                self.passes += 1;
                self.nonempty += u64::from(*nonempty);
            }
            Verdict::Skip(reason) => {
                self.skips += 1;
                *self.reasons.entry(reason.to_string()).or_insert(0) += 1;
            }
            Verdict::Bug(_) => {}
        }
    }

    fn finding(&mut self, _: Origin, subject: Subject, evidence: Evidence) {
        self.findings.push((subject, evidence));
    }

    fn unstable(&mut self, _: Origin, _: Subject, _: Evidence) {
        self.unstable += 1;
    }
}
