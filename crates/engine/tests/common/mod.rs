//! Engines to test on, SQL as trees, and what tests ask again and again.

#![allow(dead_code)] // Each test binary uses a part of this.

pub mod certificates;
pub mod responder;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::rc::Rc;
use std::sync::LazyLock;

use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, ErrorClass, Reply, Rows, SqlError};
use dissent_core::finding::{Class, Evidence, Origin, Verdict};
use dissent_core::generate::Policy;
use dissent_core::import;
use dissent_core::oracle::{self, Oracle};
use dissent_core::session::{Counts, NoJournal, Purpose, Session};
use dissent_core::sql::{Expr, Query, SelectItem, Statement};
use dissent_core::subject::{Subject, TestCase};
use dissent_core::walk::{self, Walk, Watcher};
use dissent_engine::fake::Tampered;
use dissent_engine::{Source, Target};

/// An engine and the dialect it speaks.
pub struct Fixture {
    pub engine: Box<dyn Engine>,
    pub dialect: Dialect,
}

impl Fixture {
    /// The bundled SQLite.
    pub fn sqlite() -> Fixture {
        let engine = Source::bundled().open().expect("the bundled SQLite opens");
        let dialect = Dialect::load("sqlite", engine.version()).expect("its dialect reads");
        Fixture { engine, dialect }
    }

    /// The bundled SQLite with a bug: each reply goes through a closure.
    pub fn tampered(tamper: impl FnMut(&str, Reply) -> Reply + 'static) -> Fixture {
        Fixture::sqlite().with_bug(tamper)
    }

    /// The bundled SQLite with a bug: it runs other statements than it is asked to.
    pub fn rewriting(rewrite: impl FnMut(&str) -> String + 'static) -> Fixture {
        let Fixture { engine, dialect } = Fixture::sqlite();
        Fixture { engine: Box::new(Tampered::rewriting(engine, rewrite)), dialect }
    }

    /// The bundled SQLite, and every statement that it is given from now on.
    pub fn recording() -> (Fixture, Rc<RefCell<Vec<String>>>) {
        let log = Rc::new(RefCell::new(Vec::new()));
        let statements = Rc::clone(&log);
        let fixture = Fixture::rewriting(move |sql| {
            statements.borrow_mut().push(sql.to_string());
            sql.to_string()
        });
        (fixture, log)
    }

    /// An engine by its target's name, if it is available: see [`open`].
    pub fn open(target: &str) -> Option<Fixture> {
        open(target).map(|(engine, dialect)| Fixture { engine, dialect })
    }

    pub fn with_bug(self, tamper: impl FnMut(&str, Reply) -> Reply + 'static) -> Fixture {
        Fixture { engine: Box::new(Tampered::new(self.engine, tamper)), dialect: self.dialect }
    }

    /// Runs `f` with a session over the engine as it is.
    pub fn session<T>(&mut self, f: impl FnOnce(&mut Session) -> T) -> T {
        f(&mut Session::new(self.engine.as_mut(), &self.dialect, &mut NoJournal, || 0))
    }

    /// Builds a test case's database and checks its subject.
    pub fn check(&mut self, case: &TestCase) -> Verdict {
        let oracle = oracle::by_name(&case.subject.oracle).expect("the subject's oracle exists");
        self.session(|session| walk::replay(case, oracle, session).expect("the engine answers"))
    }

    /// How many of the statements that check a case are questions whose answers are compared. It must pass.
    pub fn arms(&mut self, case: &TestCase) -> u64 {
        let oracle = oracle::by_name(&case.subject.oracle).expect("the subject's oracle exists");
        self.session(|session| {
            walk::rebuild(case, session).expect("the engine answers");
            session.spend_on(Purpose::Arm(oracle.name()));
            assert_passes(oracle::check(oracle, &case.subject, session).expect("the engine answers"));
            session.counts.account.checks[oracle.name()].arms.statements
        })
    }

    /// Walks databases until the watcher has seen enough.
    pub fn walk(
        &mut self,
        oracles: Vec<&'static dyn Oracle>,
        seed: u64,
        mut watcher: Counting,
    ) -> (Counting, Counts) {
        let dialect = self.dialect.clone();
        let walk = Walk { dialect: &dialect, calm: None, oracles, seed, policy: Policy::default() };
        let counts = self.session(|session| {
            let mut number = 0;
            while walk.database(number, session, &mut watcher).expect("the engine answers") {
                number += 1;
            }
            session.counts.clone()
        });
        (watcher, counts)
    }

    /// The rows of a query, or what the engine says.
    pub fn rows(&mut self, sql: &str) -> Result<Rows, String> {
        rows(self.engine.execute(sql).expect("the engine answers"))
    }

    /// The statements of a script in this dialect, as trees. `bound(7)` is a literal that is prepared as a parameter.
    #[track_caller]
    pub fn sql(&self, text: &str) -> Vec<Statement> {
        parsed(text, &self.dialect)
    }

    #[track_caller]
    pub fn query(&self, text: &str) -> Query {
        only_query(self.sql(text))
    }

    #[track_caller]
    pub fn expr(&self, text: &str) -> Expr {
        only_item(self.query(&format!("SELECT {text}")))
    }
}

/// An engine by its target's name. One that cannot be obtained is skipped with a loud line, unless
/// `DISSENT_REQUIRE_ENGINES=1`; one that would have to be compiled for minutes, or whose packages may be gone tomorrow, is,
/// unless `DISSENT_REQUIRE_ENGINES=all`.
pub fn open(target: &str) -> Option<(Box<dyn Engine>, Dialect)> {
    let required = std::env::var("DISSENT_REQUIRE_ENGINES").unwrap_or_default();
    if required != "all" && Target::parse(target).is_ok_and(|target| target.takes_long()) {
        skip(target, "it takes minutes to compile");
        return None;
    }
    let is_preview = Target::parse(target).is_ok_and(|target| target.is_preview());
    let opened = Target::parse(target).and_then(|target| {
        let engine = target.obtain(&mut |step| eprintln!("{target}: {step}"))?.open()?;
        Ok((engine, target.dialect()))
    });
    match opened {
        Ok((engine, dialect)) => {
            let dialect = Dialect::load(dialect, engine.version()).expect("its dialect reads");
            Some((engine, dialect))
        }
        Err(error) if required == "all" || required == "1" && !is_preview => {
            panic!("{target} is required: {error}")
        }
        Err(error) => {
            skip(target, &error.to_string());
            None
        }
    }
}

fn skip(target: &str, reason: &str) {
    // Not by a macro: the test harness captures what those print.
    let line = format!("SKIPPED, not passed: {target} is not available: {reason}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The dialect of the bundled SQLite. No engine is opened for it: one thread would wait for its turn at SQLite, and the
/// thread whose turn it is for this.
pub static SQLITE: LazyLock<Dialect> =
    LazyLock::new(|| Dialect::load("sqlite", dissent_engine::sqlite::bundled()).expect("its dialect reads"));

/// The statements of a script in SQLite's words, as trees.
#[track_caller]
pub fn sql(text: &str) -> Vec<Statement> {
    parsed(text, &SQLITE)
}

#[track_caller]
pub fn query(text: &str) -> Query {
    only_query(sql(text))
}

#[track_caller]
pub fn expr(text: &str) -> Expr {
    only_item(query(&format!("SELECT {text}")))
}

#[track_caller]
fn parsed(text: &str, dialect: &Dialect) -> Vec<Statement> {
    let mut statements = Vec::new();
    for imported in import::file("test.sql", text, dialect) {
        assert_eq!(imported.refused, None, "{}", imported.text);
        let mut statement = imported.statement;
        bind(&mut statement);
        statements.push(statement);
    }
    statements
}

#[track_caller]
fn only_query(mut statements: Vec<Statement>) -> Query {
    match (statements.pop(), statements.pop()) {
        (Some(Statement::Query(query)), None) => *query,
        other => panic!("not one query: {other:?}"),
    }
}

#[track_caller]
fn only_item(query: Query) -> Expr {
    match query.as_select().map(|select| select.items.as_slice()) {
        Some([SelectItem::Expr { expr, alias: None }]) => expr.clone(),
        other => panic!("not one expression: {other:?}"),
    }
}

fn bind(statement: &mut Statement) {
    use dissent_core::sql::visit::{Editor, edit_expr};
    struct Bind;
    impl Editor for Bind {
        fn expr(&mut self, expr: &mut Expr) {
            edit_expr(self, expr);
            if let Expr::Function { name, args } = expr
                && **name == *"bound"
                && let [Expr::Literal(value)] = args.as_slice()
            {
                *expr = Expr::Bound(value.clone());
            }
        }
    }
    Bind.statement(statement);
}

/// Statements of which nothing is known but their text.
pub fn raw(statements: &[&str]) -> Vec<Statement> {
    statements.iter().map(|sql| Statement::Raw(sql.to_string())).collect()
}

/// A subject about the database of a script.
#[track_caller]
pub fn over(setup: &str, subject: Subject) -> TestCase {
    TestCase { setup: sql(setup), subject }
}

pub fn rows(reply: Reply) -> Result<Rows, String> {
    match reply {
        Reply::Rows(rows) => Ok(rows),
        Reply::Done { .. } => Err(String::from("no result set")),
        Reply::Failed(error) => Err(error.message),
    }
}

pub fn failed(class: ErrorClass, message: &str) -> Reply {
    Reply::Failed(SqlError { class, code: String::from("code"), message: message.to_string() })
}

/// What most engines with a bug do: they lose the last row.
pub fn without_last_row(mut reply: Reply) -> Reply {
    if let Reply::Rows(rows) = &mut reply {
        rows.values.truncate(rows.values.len().saturating_sub(rows.columns));
    }
    reply
}

/// Checks on the bundled SQLite.
pub fn check(case: &TestCase) -> Verdict {
    Fixture::sqlite().check(case)
}

#[track_caller]
pub fn evidence(verdict: Verdict) -> Evidence {
    match verdict {
        Verdict::Bug(evidence) => *evidence,
        other => panic!("no finding: {other:?}"),
    }
}

#[track_caller]
pub fn assert_passes(verdict: Verdict) {
    assert!(matches!(verdict, Verdict::Pass { .. }), "{verdict:?}");
}

#[track_caller]
pub fn assert_skipped(verdict: Verdict, reason: &str) {
    assert_eq!(verdict, Verdict::Skip(reason.to_string().into()));
}

/// An engine with a bug is reported, and without the bug it agrees with itself.
#[track_caller]
pub fn assert_reported(mut with_bug: Fixture, case: &TestCase) -> Evidence {
    let found = evidence(with_bug.check(case));
    assert_passes(check(case));
    found
}

/// How many cases, or checks, a property is tried on: `DISSENT_CASES`, or what is quick enough for every run.
pub fn cases(quick: u64) -> u64 {
    std::env::var("DISSENT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(quick)
}

/// Counts what a walk tells, until it has seen enough.
#[derive(Default)]
pub struct Counting {
    /// The walk ends after so many cases.
    pub cases_left: u64,
    /// The walk ends once so many checks have passed.
    pub wanted: Option<u64>,
    /// The walk ends at the first finding; what the engine itself calls broken is not one.
    pub until_found: bool,
    pub passes: u64,
    pub nonempty: u64,
    pub skips: u64,
    pub reasons: BTreeMap<String, u64>,
    pub findings: Vec<(TestCase, Evidence)>,
    pub unstable: Vec<(TestCase, Evidence)>,
    /// Operations of the engine's catalog that were in a case all of whose statements succeeded.
    pub operations: BTreeSet<u32>,
}

impl Counting {
    pub fn cases(cases_left: u64) -> Counting {
        Counting { cases_left, ..Counting::default() }
    }

    pub fn passes(wanted: u64) -> Counting {
        Counting { wanted: Some(wanted), ..Counting::cases(u64::MAX) }
    }

    pub fn until_found(self) -> Counting {
        Counting { until_found: true, ..self }
    }
}

impl Watcher for Counting {
    fn case(&mut self, _: u64, _: u64) -> bool {
        self.cases_left = self.cases_left.saturating_sub(1);
        self.cases_left > 0
            && self.wanted.is_none_or(|wanted| self.passes < wanted)
            && (self.findings.is_empty() || !self.until_found)
    }

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

    fn finding(&mut self, _: Origin, case: TestCase, evidence: Evidence) {
        if !(self.until_found && evidence.class == Class::InternalError) {
            self.findings.push((case, evidence));
        }
    }

    fn unstable(&mut self, _: Origin, case: TestCase, evidence: Evidence) {
        self.unstable.push((case, evidence));
    }
}
