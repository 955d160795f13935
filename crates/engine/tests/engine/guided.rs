//! What is learned from what was run, and what databases are made of it: on the bundled SQLite, and on one that
//! counts the edges of its code.

use std::sync::LazyLock;
use std::time::Instant;

use dissent_core::engine::{ErrorClass, Reply, Stop};
use dissent_core::finding::{Evidence, Origin, Verdict};
use dissent_core::generate::Policy;
use dissent_core::guide::{Code, Counter, Entry, Feature, Guide, Plans};
use dissent_core::oracle::{self, Oracle};
use dissent_core::session::{Account, NoJournal, Session};
use dissent_core::sql::{Query, Statement};
use dissent_core::state::State;
use dissent_core::subject::TestCase;
use dissent_core::walk::{Lesson, Trail, Walk, Watcher};
use dissent_engine::Target;

use super::common::{Fixture, failed, sql};

#[derive(Default)]
struct Learning {
    changed: u64,
    changed_ok: u64,
    drawn: u64,
    features: usize,
    kept: Vec<Entry>,
    verdicts: u64,
    findings: Vec<(TestCase, Evidence)>,
    /// What failed on the present database.
    failed: Option<Statement>,
    /// Entries with the query that ended their database.
    kept_failing: usize,
    account: Account,
}

impl Watcher for Learning {
    fn case(&mut self, _: u64, case: u64) -> bool {
        if case == 0 {
            self.failed = None;
        }
        true
    }
    fn verdict(&mut self, _: &'static str, verdict: &Verdict) {
        self.verdicts += u64::from(matches!(verdict, Verdict::Pass { .. }));
    }
    fn learned(&mut self, lesson: &Lesson) {
        self.features += lesson.new.len();
        match lesson.changed {
            Some((statements, succeeded)) => {
                self.changed += statements;
                self.changed_ok += succeeded;
            }
            None => self.drawn += 1,
        }
    }
    fn kept(&mut self, entry: &Entry) {
        let failed = |query: &Query| self.failed.as_ref() == Some(&Statement::Query(Box::new(query.clone())));
        self.kept_failing += usize::from(entry.queries.iter().any(failed));
        self.kept.push(entry.clone());
    }
    fn finding(&mut self, _: Origin, case: TestCase, evidence: Evidence) {
        self.failed = case.subject.tests.first().cloned();
        self.findings.push((case, evidence));
    }
    fn unstable(&mut self, _: Origin, _: TestCase, _: Evidence) {}
}

/// Their checks run a hundred statements each.
const SLOW: [&str; 2] = ["edc", "epsc"];

fn walk(fixture: &mut Fixture, trail: Trail, seed: u64, databases: u64) -> Learning {
    let quick = |oracle: &&'static dyn Oracle| !SLOW.contains(&oracle.name());
    walk_with(oracle::select("all").into_iter().filter(quick).collect(), fixture, trail, seed, databases)
}

fn walk_with(
    oracles: Vec<&'static dyn Oracle>,
    fixture: &mut Fixture,
    mut trail: Trail,
    seed: u64,
    databases: u64,
) -> Learning {
    let dialect = fixture.dialect.clone();
    let walk = Walk { dialect: &dialect, calm: None, oracles, seed, policy: Policy::default() };
    let mut watcher = Learning::default();
    let mut journal = NoJournal;
    let mut session = Session::new(fixture.engine.as_mut(), &fixture.dialect, &mut journal, nanos);
    for number in 0..databases {
        walk.guided(number, &mut trail, &mut session, &mut watcher).expect("the engine answers");
    }
    watcher.account = session.counts.account;
    watcher
}

fn plan_trail() -> Trail {
    Trail::new(Some(Box::<Plans>::default()))
}

fn nanos() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// What the dialect's file says of costs leads to shares of time that are measured.
#[test]
fn every_oracle_gets_its_share_of_the_engines_time() {
    let oracles = oracle::select("all");
    let trail = plan_trail();
    let account = walk_with(oracles.clone(), &mut Fixture::sqlite(), trail, 3, 300).account;
    let all = (account.arm_nanos() + account.scaffold_nanos()) as f64;
    let shares: Vec<(&str, f64)> = oracles
        .iter()
        .map(|oracle| oracle.name())
        .map(|name| (name, oracles.len() as f64 * account.checks[name].nanos() as f64 / all))
        .collect();
    assert!(shares.iter().all(|(_, share)| (0.5..=2.0).contains(share)), "{shares:?}");
    // Learning keeps to its tenth, as far as costs are known.
    let learning = account.guide.nanos + account.rehearsal.nanos;
    let engine = all as u64 + account.build.nanos + account.reset.nanos + account.confirm.nanos;
    assert!(learning > 0 && learning < engine * 15 / 100, "{learning} of {engine}");
}

/// Looks at every query.
struct Everything(Plans);

impl Guide for Everything {
    fn looks_at_queries(&self) -> bool {
        true
    }
    fn is_promising(&mut self, _: &Query, _: &State) -> bool {
        true
    }
    fn look(&mut self, query: &Query, session: &mut Session) -> Result<Vec<Feature>, Stop> {
        self.0.look(query, session)
    }
}

/// Nothing is kept, so that both walks ask the same queries.
#[test]
fn hardly_a_plan_is_missed_for_a_shape_that_was_seen() {
    let looked = |guide: Box<dyn Guide>| {
        let mut trail = Trail::new(Some(guide));
        (trail.keeps, trail.allowance) = (false, u64::MAX / 2);
        let learned = walk(&mut Fixture::sqlite(), trail, 6, 150);
        (learned.features as f64, learned.account.guide.statements)
    };
    let (all, asked) = looked(Box::new(Everything(Plans::default())));
    let (found, new) = looked(Box::<Plans>::default());
    assert!(all > 300.0 && found >= 0.95 * all, "{found} of {all}");
    assert!(new < asked * 49 / 50, "{new} of {asked} queries were explained");
}

#[test]
fn changed_databases_are_mostly_valid_and_sound() {
    let learned = walk(&mut Fixture::sqlite(), plan_trail(), 9, 400);
    assert!(learned.findings.is_empty(), "{:#?}", learned.findings);
    assert!(learned.changed > 5_000 && learned.drawn > 50, "{} {}", learned.changed, learned.drawn);
    let valid = learned.changed_ok as f64 / learned.changed as f64;
    assert!(valid >= 0.80, "{:.1} % of {} statements succeed", 100.0 * valid, learned.changed);
    assert!(learned.kept.len() > 100 && learned.verdicts > 5_000);
    // What is changed again and again is kept again and again.
    let deepest = learned.kept.iter().map(|entry| entry.depth).max();
    assert!(deepest >= Some(3), "{deepest:?}");
}

#[test]
fn the_same_seed_makes_the_same_changes() {
    let statements = || {
        let (mut recording, log) = Fixture::recording();
        walk(&mut recording, plan_trail(), 4, 40);
        log.take()
    };
    assert_eq!(statements(), statements());
}

#[test]
fn an_entry_shows_what_it_is_kept_for() {
    let mut sqlite = Fixture::sqlite();
    let mut trail = plan_trail();
    trail.allowance = u64::MAX / 2;
    let kept = walk(&mut sqlite, trail, 2, 25).kept;
    let mut guide = Plans::default();
    sqlite.session(|session| {
        for entry in &kept {
            session.reset().expect("the engine answers");
            entry.setup.iter().for_each(|statement| drop(session.run(statement)));
            let look = |query| guide.look(query, session).expect("the engine answers");
            let seen: Vec<u32> = entry.queries.iter().flat_map(look).collect();
            assert!(entry.features.iter().all(|feature| seen.contains(feature)), "{entry:#?}");
        }
    });
    assert!(kept.len() > 5, "{} entries", kept.len());
    // Where there is time to make it small, nothing is left that it could do without.
    let statements: usize = kept.iter().map(|entry| entry.setup.len()).sum();
    assert!(statements <= 12 * kept.len(), "{statements} statements for {} entries", kept.len());
}

/// An engine that shows so many new places each time, in turn.
struct Turns {
    turns: Vec<u32>,
    taken: usize,
    next: u32,
}

impl Counter for Turns {
    fn take(&mut self, new: &mut dyn FnMut(u32)) {
        let count = self.turns[self.taken % self.turns.len()];
        (self.next..self.next + count).for_each(new);
        self.taken += 1;
        self.next += count;
    }
}

fn code_trail(turns: &[u32], least: usize) -> Trail {
    let counter = Turns { turns: turns.to_vec(), taken: 0, next: 0 };
    Trail::new(Some(Box::new(Code::new(Box::new(counter), least))))
}

/// What was seen is never new again: it has to be kept although the database ends early.
#[test]
fn what_is_new_is_kept_if_a_database_ends_with_a_finding() {
    let wrong = |sql: &str, mut reply: Reply| {
        if let (Reply::Rows(rows), true) =
            (&mut reply, sql.starts_with("SELECT COUNT") && sql.len().is_multiple_of(5))
        {
            rows.values = vec![dissent_core::sql::Value::Int(-1)];
        }
        reply
    };
    let broken =
        |sql: &str, reply: Reply| match sql.starts_with("SELECT COUNT") && sql.len().is_multiple_of(5) {
            true => failed(ErrorClass::Internal, "it is broken"),
            false => reply,
        };
    let none = |trail: Trail| walk_with(oracle::select("norec"), &mut Fixture::sqlite(), trail, 5, 40).kept;
    assert_eq!(none(code_trail(&[1], 1)).len(), 40);
    for mut fixture in [Fixture::tampered(wrong), Fixture::tampered(broken)] {
        let learned = walk_with(oracle::select("norec"), &mut fixture, code_trail(&[1], 1), 5, 40);
        assert!(learned.findings.len() > 20, "{} findings", learned.findings.len());
        // Each of them showed something while it was built.
        assert_eq!(learned.kept.len(), 40);
        let queries: usize = learned.kept.iter().map(|entry| entry.queries.len()).sum();
        assert!(queries > 40, "{queries} queries");
        assert_eq!(learned.kept_failing, 0);
    }
    // The same for plans, which are found out by running the database again.
    let learned = walk_with(oracle::select("norec"), &mut Fixture::tampered(wrong), plan_trail(), 5, 60);
    assert!(learned.findings.len() > 30 && learned.kept.len() > 15, "{} kept", learned.kept.len());
}

/// Some engines show a few places whatever they run.
#[test]
fn a_query_is_kept_for_more_than_noise() {
    let quiet = walk_with(oracle::select("norec"), &mut Fixture::sqlite(), code_trail(&[9], 10), 5, 20);
    assert!(quiet.kept.is_empty() && quiet.features > 9 * 1_000, "{} features", quiet.features);
    let turns = [9, 9, 30, 9, 9, 9, 12];
    let some = walk_with(oracle::select("norec"), &mut Fixture::sqlite(), code_trail(&turns, 10), 5, 20);
    assert!(some.kept.len() > 10, "{} kept", some.kept.len());
    let most = some.kept.iter().map(|entry| entry.queries.len()).max();
    assert_eq!(most, Some(20));
    let counted: usize = some.kept.iter().map(|entry| entry.features.len()).sum();
    assert!(counted < some.features && some.kept.iter().all(|entry| entry.features.len().is_multiple_of(6)));
    // Of many queries, those are kept that showed most.
    assert!(some.kept.iter().any(|entry| entry.queries.len() == 20 && entry.features.len() >= 20 * 30));
}

/// Otherwise the next statement would be blamed.
#[test]
fn an_explain_that_harms_the_engine_is_a_finding() {
    let mut fixture = Fixture::tampered(|sql, reply| {
        match sql.starts_with("EXPLAIN QUERY PLAN") && sql.contains("DISTINCT") {
            true => failed(ErrorClass::Internal, "EXPLAIN is broken"),
            false => reply,
        }
    });
    let mut trail = plan_trail();
    trail.allowance = u64::MAX / 2;
    let learned = walk(&mut fixture, trail, 2, 25);
    assert!(learned.findings.len() > 3, "{} findings", learned.findings.len());
    for (case, _) in &learned.findings {
        assert_eq!(case.subject.oracle, "crash");
        assert!(matches!(case.subject.tests[..], [Statement::Explain(_)]), "{:?}", case.subject.tests);
    }
}

#[test]
fn nothing_but_seeds_is_changed_if_nothing_is_drawn() {
    let mut setup = sql("CREATE TABLE seed (a INT, b TEXT); INSERT INTO seed VALUES (1, 'x'), (2, NULL);
                         CREATE INDEX seed_b ON seed (b); SELECT a FROM seed WHERE b = 'x' OR a > 1;");
    let Some(Statement::Query(query)) = setup.pop() else { panic!("{setup:?}") };
    let mut trail = Trail::new(None);
    trail.changes_only = true;
    trail.corpus.add(Entry { setup, queries: vec![*query], ..Entry::default() });
    let (mut recording, log) = Fixture::recording();
    let learned = walk(&mut recording, trail, 1, 30);
    assert_eq!(learned.drawn, 0);
    let statements = log.take();
    let creates = statements.iter().filter(|sql| sql.starts_with("CREATE TABLE \"seed\""));
    assert!(creates.count() > 20, "{:#?}", &statements[..20]);
    assert!(learned.verdicts > 100, "{}", learned.verdicts);
}

#[test]
fn an_instrumented_sqlite_tells_the_edges_that_are_passed() {
    let target = Target::parse("sqlite@3.34.0").expect("a version");
    let source = target.obtain_counting(&mut |step| eprintln!("{step}")).expect("it can be built");
    let mut engine = source.open().expect("it opens");
    let mut edges = |sql: &str| {
        assert!(!matches!(engine.execute(sql), Ok(Reply::Failed(_)) | Err(_)), "{sql}");
        let mut passed = Vec::new();
        let all = engine.take_coverage(&mut |edge| passed.push(edge)).expect("it counts");
        assert!(passed.iter().all(|edge| *edge < all) && all > 20_000, "{all} edges");
        passed
    };
    edges("CREATE TABLE t (a, b)");
    let first = edges("SELECT a FROM t WHERE b > 1");
    let again = edges("SELECT a FROM t WHERE b > 1");
    let window = edges("SELECT sum(a) OVER (ORDER BY b) FROM t");
    assert!(first.len() > 200 && again.len() > 200);
    assert!(window.iter().filter(|edge| !first.contains(edge)).count() > 100);
    // The bundled copy does not count.
    assert_eq!(Fixture::sqlite().engine.take_coverage(&mut |_| {}), None);
}
