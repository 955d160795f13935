//! An engine of your own, tested in this process.
//!
//! `cargo run -p dissent-engine --example own_engine`
//!
//! Anything that implements [`Engine`] can be tested. This one is the bundled SQLite with a bug: its "optimizer" loses the
//! last row of a query whose WHERE has a BETWEEN. Two oracles notice, and the finding is reduced and printed.

use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Limits, Prepared, Reply, SqlError, Trouble};
use dissent_core::finding::{Evidence, FINDING_FORMAT, Finding, Origin, Verdict};
use dissent_core::generate::Policy;
use dissent_core::reduce::{self, Budget};
use dissent_core::session::{NoJournal, Session};
use dissent_core::sql::{DataType, Value};
use dissent_core::subject::TestCase;
use dissent_core::walk::{Walk, Watcher, replay};
use dissent_core::{oracle, report};
use dissent_engine::sqlite::SqliteEngine;

const CASES: u64 = 400;

struct OwnEngine(SqliteEngine);

impl Engine for OwnEngine {
    fn version(&self) -> &str {
        self.0.version()
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        let mut reply = self.0.execute(sql)?;
        let filtered = sql.split_once(" WHERE ").is_some_and(|(_, filter)| filter.contains(" BETWEEN "));
        if let (true, Reply::Rows(rows)) = (filtered, &mut reply) {
            rows.values.truncate(rows.values.len().saturating_sub(rows.columns));
        }
        Ok(reply)
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        self.0.reset()
    }

    fn set_limits(&mut self, limits: Limits) {
        self.0.set_limits(limits);
    }

    fn prepare(&mut self, sql: &str, types: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        self.0.prepare(sql, types)
    }

    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        self.0.execute_prepared(statement, values)
    }

    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        self.0.close_prepared(statement)
    }
}

/// Ends the hunt with the first finding.
#[derive(Default)]
struct First {
    cases: u64,
    found: Option<(Origin, TestCase, Evidence)>,
}

impl Watcher for First {
    fn case(&mut self, _database: u64, _case: u64) -> bool {
        self.cases += 1;
        self.found.is_none() && self.cases <= CASES
    }

    fn verdict(&mut self, _oracle: &'static str, _verdict: &Verdict) {}

    fn finding(&mut self, origin: Origin, case: TestCase, evidence: Evidence) {
        self.found = Some((origin, case, evidence));
    }

    fn unstable(&mut self, _origin: Origin, _case: TestCase, _evidence: Evidence) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut engine = OwnEngine(SqliteEngine::bundled()?);
    // An engine with a language of its own brings a file of `dialects/`.
    let dialect = Dialect::load("sqlite", engine.version())?;
    let engine_version = engine.version().to_string();
    let mut journal = NoJournal;
    let mut session = Session::new(&mut engine, &dialect, &mut journal, || 0);

    let oracles = [oracle::select("norec"), oracle::select("tlp-where")].concat();
    let walk = Walk { dialect: &dialect, calm: None, oracles, seed: 1, policy: Policy::default() };
    let mut first = First::default();
    for database in 0.. {
        if !walk.database(database, &mut session, &mut first)? {
            break;
        }
    }
    let Some((origin, case, _)) = first.found else { return Err("nothing was found".into()) };
    println!("{} cases, then {} noticed something:\n", first.cases, case.subject.oracle);

    let oracle = oracle::by_name(&case.subject.oracle).ok_or("no such oracle")?;
    let budget = Budget { checks: 2_000, over: &|| false };
    let reduced = reduce::reduce(case, &dialect, reduce::all(), &budget, &mut |candidate| {
        Ok(matches!(replay(candidate, oracle, &mut session)?, Verdict::Bug(_)))
    })?;
    let Verdict::Bug(evidence) = replay(&reduced.case, oracle, &mut session)? else {
        return Err("it does not show again".into());
    };
    let finding = Finding {
        format: FINDING_FORMAT,
        target: "own_engine".to_string(),
        dialect: dialect.name.to_string(),
        engine_version,
        case: reduced.case,
        evidence: *evidence,
        origin,
        triage: Default::default(),
    };
    println!("{}", report::repro(&finding, &dialect));
    Ok(())
}
