//! What is learned from what was run, and what databases are made of it: on the bundled SQLite, and on one that
//! counts the edges of its code.

use std::sync::LazyLock;
use std::time::Instant;

use dissent_core::engine::{Reply, Trouble};
use dissent_core::finding::{Evidence, Origin, Verdict};
use dissent_core::generate::Policy;
use dissent_core::guide::{Entry, Feature, Guide, Plans};
use dissent_core::oracle::{self, Oracle};
use dissent_core::session::{Account, NoJournal, Session};
use dissent_core::sql::{Query, Statement};
use dissent_core::state::State;
use dissent_core::subject::TestCase;
use dissent_core::walk::{Lesson, Trail, Walk, Watcher};
use dissent_engine::Target;

use super::common::{Fixture, sql};

#[derive(Default)]
struct Learning {
    changed: u64,
    changed_ok: u64,
    drawn: u64,
    features: usize,
    kept: Vec<Entry>,
    verdicts: u64,
    findings: Vec<(TestCase, Evidence)>,
    account: Account,
}

impl Watcher for Learning {
    fn case(&mut self, _: u64, _: u64) -> bool {
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
        self.kept.push(entry.clone());
    }
    fn finding(&mut self, _: Origin, case: TestCase, evidence: Evidence) {
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
    fn look(&mut self, query: &Query, session: &mut Session) -> Result<Vec<Feature>, Trouble> {
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

#[test]
fn nothing_but_seeds_is_changed_if_nothing_is_drawn() {
    let mut setup = sql("CREATE TABLE seed (a INT, b TEXT); INSERT INTO seed VALUES (1, 'x'), (2, NULL);
                         CREATE INDEX seed_b ON seed (b); SELECT a FROM seed WHERE b = 'x' OR a > 1;");
    let Some(Statement::Query(query)) = setup.pop() else { panic!("{setup:?}") };
    let mut trail = Trail::new(None);
    trail.changes_only = true;
    trail.corpus.add(Entry { setup, queries: vec![*query], depth: 0, features: Vec::new() });
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
