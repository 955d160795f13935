//! A database to test against: the bundled SQLite behind a session.

#![allow(dead_code)] // Each test file uses a part of this.

use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Limits, Reply, Rows, Trouble};
use dissent_core::finding::{Evidence, Origin, Verdict};
use dissent_core::oracle;
use dissent_core::session::{NoJournal, Session};
use dissent_core::sql::Statement;
use dissent_core::subject::Subject;
use dissent_core::walk::{Watcher, replay};
use dissent_engine::Source;

pub fn sqlite() -> (Box<dyn Engine>, Dialect) {
    let engine = Source::Bundled.open().expect("the bundled SQLite opens");
    let dialect = Dialect::load("sqlite", engine.version()).expect("its dialect reads");
    (engine, dialect)
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
}

/// Counts what a walk tells, for a number of cases.
#[derive(Default)]
pub struct Counting {
    pub cases_left: u64,
    pub passes: u64,
    pub nonempty: u64,
    pub skips: u64,
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
            Verdict::Skip(_) => self.skips += 1,
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
