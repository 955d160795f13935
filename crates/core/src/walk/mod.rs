//! The walk of a hunt: build a database, then propose and check until its test cases are used up. A database is
//! generated, or mutated from one that showed something new ([`trail`]).
//!
//! Pure except for the engine inside the session: the same seed, engine and settings give the same statements in
//! the same order, as long as nothing comes from other workers.

mod changed;
mod keeping;
mod learning;
mod shares;
pub mod trail;

use crate::database::Mark;
use crate::dialect::Dialect;
use crate::engine::{Harm, Reply, Stop, Trouble};
use crate::finding::{Evidence, Origin, Verdict};
use crate::generate::{CHANGE_FIRST, Generator, Luck, Named, Odds, Outcome, Policy};
use crate::guide::{Entry, Feature};
use crate::oracle::{self, Oracle, crash};
use crate::rng::Rng;
use crate::session::{Purpose, Session};
use crate::sql::{Name, ObjectKind, Query, Statement};
use crate::subject::{Proposal, Subject, TestCase};
use keeping::Asked;
use learning::Ended;
use shares::Shares;
pub use trail::{Lesson, Trail};

/// Receives what happens during a walk.
pub trait Watcher {
    /// A case of a database begins (case 0 builds it). `false` ends the walk.
    fn case(&mut self, database: u64, case: u64) -> bool;

    /// Operations of the engine's catalog, by their numbers, were in a case; all its statements succeeded, or
    /// not.
    fn operations(&mut self, _drawn: &[u32], _succeeded: bool) {}

    /// An oracle came to a verdict.
    fn verdict(&mut self, oracle: &'static str, verdict: &Verdict);

    /// What was learned from a finished database.
    fn learned(&mut self, _lesson: &Lesson) {}

    /// A database and queries that are worth keeping.
    fn kept(&mut self, _entry: &Entry) {}

    /// A failure that reproduced on a fresh database.
    fn finding(&mut self, origin: Origin, case: TestCase, evidence: Evidence);

    /// A failure that did not reproduce on a fresh database: saved and counted, never reported.
    fn unstable(&mut self, origin: Origin, case: TestCase, evidence: Evidence);
}

/// Every choice of a walk over databases that are made of others.
pub(crate) fn every_choice() -> impl Iterator<Item = &'static dyn Named> {
    changed::CHOICES.iter().copied()
}

/// How databases and cases are drawn and checked. The same walk over the same engine runs the same statements.
pub struct Walk<'a> {
    /// What the engine understands.
    pub dialect: &'a Dialect,
    /// The dialect without what triggers known bugs, which most databases use.
    pub calm: Option<&'a Dialect>,
    /// The oracles to draw from, each by its cost; one of your own may be among them.
    pub oracles: Vec<&'static dyn Oracle>,
    /// Where all randomness starts.
    pub seed: u64,
    /// The weights of all choices.
    pub policy: Policy,
}

/// The percentage of databases that avoid known bugs; the others may still find them.
const CALM_SHARE: u32 = 90;

impl Walk<'_> {
    /// Draws the database of this number and runs its cases. `Ok(false)`: the watcher ended it.
    pub fn database(
        &self,
        number: u64,
        session: &mut Session,
        watcher: &mut dyn Watcher,
    ) -> Result<bool, Trouble> {
        self.guided(number, &mut Trail::new(None), session, watcher)
    }

    /// The same, where a database may be made of what was kept of others.
    pub fn guided(
        &self,
        number: u64,
        trail: &mut Trail,
        session: &mut Session,
        watcher: &mut dyn Watcher,
    ) -> Result<bool, Trouble> {
        if !watcher.case(number, 0) {
            return Ok(false);
        }
        session.reset()?;
        let dialect = match self.calm {
            Some(calm) if Rng::for_case(self.seed, number, u64::MAX).chance(CALM_SHARE) => calm,
            _ => self.dialect,
        };
        let mut visit = Visit {
            walk: self,
            dialect,
            number,
            case: 0,
            stopped: None,
            depth: 0,
            luck: Luck::default(),
            shares: Shares::new(&self.oracles, &self.policy, &dialect.costs),
            spent: dialect.costs.reset,
            asked: Vec::new(),
            current: None,
            seen: Vec::new(),
            built: Vec::new(),
            began_at: (session.counts.statements, session.failures()),
            is_changed: false,
            ended: None,
            trail,
            session,
            watcher,
        };
        visit.count_rest();
        let mut rng = Rng::for_case(self.seed, number, u64::MAX - 1);
        let walked = match visit.trail.material(&mut rng) {
            Some(entry) => visit.walk_changed(&entry, rng),
            None => visit.walk_drawn(),
        };
        let goes_on = visit.survived(walked)?;
        let learned = visit.take_lesson(goes_on);
        visit.survived(learned.map(|()| true))?;
        visit.count_rest();
        Ok(goes_on)
    }
}

/// One database while it is walked.
struct Visit<'a, 's, 'e> {
    walk: &'a Walk<'a>,
    dialect: &'a Dialect,
    number: u64,
    /// The current test case; 0 while the database is built.
    case: u64,
    /// The check that could not go on.
    stopped: Option<(Subject, &'static dyn Oracle)>,
    /// Changes since it was drawn.
    depth: u32,
    /// What happened to operations on this database.
    luck: Luck,
    /// How often each oracle is drawn.
    shares: Shares,
    /// What it has cost so far, as the dialect knows it.
    spent: u64,
    /// The queries that were asked of it and showed something new.
    asked: Vec<Asked>,
    /// The query of the current case.
    current: Option<Query>,
    /// What all that was run showed.
    seen: Vec<Feature>,
    /// What building it showed for the first time.
    built: Vec<Feature>,
    /// Statements that had been run before this database, and those of them that failed.
    began_at: (u64, u64),
    /// It is made of what was kept of others.
    is_changed: bool,
    /// What it was before a failure that ended it was confirmed.
    ended: Option<Ended>,
    trail: &'s mut Trail,
    session: &'s mut Session<'e>,
    watcher: &'s mut dyn Watcher,
}

/// Whether the walk of this database goes on. After a failure it does not: one bug shows again and again on the
/// state that showed it, so the walk moves on to the next database.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Case,
    Database,
}

impl Visit<'_, '_, '_> {
    /// Records what happened to the operations that were used.
    fn learn(&mut self, drawn: &[u32], succeeded: bool) {
        if !drawn.is_empty() {
            self.luck.note(drawn, succeeded);
            self.watcher.operations(drawn, succeeded);
        }
    }

    /// Counts what became of what was drawn last.
    fn settle(&self, outcome: Outcome) {
        self.walk.policy.weights.settle(outcome);
    }

    fn origin(&self) -> Origin {
        let (seed, database, case) = (self.walk.seed, self.number, self.case);
        Origin { seed, database, case, depth: self.depth, checks: 0 }
    }

    /// `false`: the watcher ended the walk.
    fn begin_case(&mut self, case: u64) -> bool {
        self.case = case;
        self.watcher.case(self.number, case)
    }

    /// A database and cases that are drawn. `false`: the watcher ended it.
    fn walk_drawn(&mut self) -> Result<bool, Stop> {
        self.build()?;
        for case in 1..=self.walk.policy.cases_per_database {
            if !self.begin_case(case) {
                return Ok(false);
            }
            let rng = Rng::for_case(self.walk.seed, self.number, case);
            let mut rng = self.change_now_and_then(rng)?;
            let oracle = self.oracle(&mut rng);
            if self.propose(oracle, rng)? == Next::Database {
                return Ok(true);
            }
            self.end_case();
        }
        Ok(true)
    }

    fn build(&mut self) -> Result<(), Stop> {
        let start = Rng::for_case(self.walk.seed, self.number, 0);
        let (plan, _, mut rng) = self.draw(start, |generator| generator.plan());
        for stage in plan {
            let (statements, drawn);
            (statements, drawn, rng) = self.draw(rng, |generator| generator.stage(stage));
            self.change(statements, &drawn)?;
        }
        Ok(())
    }

    /// Draws over the current state; gives the operations that were drawn, too.
    fn draw<T>(&mut self, rng: Rng, draw: impl FnOnce(&mut Generator) -> T) -> (T, Vec<u32>, Rng) {
        let start = self.session.now();
        let state = self.session.database().state();
        let mut generator = Generator::new(rng, self.dialect, state, &self.walk.policy).with_luck(&self.luck);
        let drawn = draw(&mut generator);
        let (operations, rng) = (generator.drawn_operations, generator.rng);
        self.session.drew_since(start);
        (drawn, operations, rng)
    }

    /// Runs statements that change the state.
    fn change(&mut self, statements: Vec<Statement>, drawn: &[u32]) -> Result<(), Stop> {
        let failures = self.session.failures();
        self.spent += self.dialect.costs.build * statements.len() as u64;
        for statement in statements {
            self.session.build(&statement)?;
        }
        let shown = self.newly_seen();
        self.built.extend(shown);
        let succeeded = self.session.failures() == failures;
        self.learn(drawn, succeeded);
        self.settle(if succeeded { Outcome::Valid } else { Outcome::Invalid });
        Ok(())
    }

    /// Whether something happens that has these odds.
    fn odds(&self, odds: &Odds, rng: &mut Rng) -> bool {
        self.walk.policy.weights.odds(odds, rng)
    }

    /// Some cases first change the state.
    fn change_now_and_then(&mut self, mut rng: Rng) -> Result<Rng, Stop> {
        if self.odds(&CHANGE_FIRST, &mut rng) {
            let (statements, drawn);
            (statements, drawn, rng) = self.draw(rng, |generator| generator.change());
            self.change(statements, &drawn)?;
        }
        Ok(rng)
    }

    /// The oracle of a case.
    fn oracle(&mut self, rng: &mut Rng) -> &'static dyn Oracle {
        let oracle = self.walk.oracles[self.shares.draw(rng)];
        self.spent += self.dialect.costs.subject(oracle.name());
        oracle
    }

    /// A subject that an oracle proposes.
    fn propose(&mut self, oracle: &'static dyn Oracle, rng: Rng) -> Result<Next, Stop> {
        let (proposed, drawn, _) = self.draw(rng, |generator| oracle.propose(generator));
        let Some(Proposal { brings, subject }) = proposed else {
            self.skip(oracle, "nothing to test in this database");
            self.settle(Outcome::Unused);
            return Ok(Next::Case);
        };
        let failures = self.session.failures();
        let mark = (!brings.is_empty()).then(|| self.session.mark());
        let built = self.spending(Purpose::Scaffold(oracle.name()), |visit| visit.bring(&brings))?;
        let before = self.session.database().history().len();
        let verdict = match built {
            true => self.check(&subject, oracle)?,
            false => {
                self.settle(Outcome::Invalid);
                self.skip(oracle, "table that the engine rejects")
            }
        };
        // Where a subject has many queries, some may fail though the operation is what it was tried for.
        let succeeded = self.session.failures() == failures || matches!(verdict, Verdict::Pass { .. });
        self.learn(&drawn, succeeded);
        if let Verdict::Bug(seen) = verdict {
            // Tables that a proposal brings are known by what the setup does to them, which must be done once.
            let before = if brings.is_empty() { before } else { 0 };
            return self.confirm(subject, before, *seen, oracle);
        }
        if let Some(mark) = mark {
            self.spending(Purpose::Scaffold(oracle.name()), |visit| visit.take_down(mark))?;
        }
        if let Some(Statement::Query(query)) = subject.tests.into_iter().next() {
            self.remember(*query)?;
        }
        Ok(Next::Case)
    }

    /// Runs statements for this purpose.
    fn spending<T>(&mut self, purpose: Purpose, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.session.spend_on(purpose);
        let returned = run(self);
        self.session.spend_on(before);
        returned
    }

    fn skip(&mut self, oracle: &dyn Oracle, reason: &'static str) -> Verdict {
        let verdict = Verdict::skip(reason);
        self.watcher.verdict(oracle.name(), &verdict);
        verdict
    }

    /// Builds the tables of a proposal. Rows and indexes that the engine rejects are left out; `false` if it rejects a table.
    fn bring(&mut self, brings: &[Statement]) -> Result<bool, Stop> {
        for statement in brings {
            let reply = self.session.build(statement)?;
            if matches!((statement, reply), (Statement::CreateTable(_), Reply::Failed(_))) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn check(&mut self, subject: &Subject, oracle: &'static dyn Oracle) -> Result<Verdict, Stop> {
        let failures = self.session.failures();
        match self.spending(Purpose::Arm(oracle.name()), |visit| oracle.check(subject, visit.session)) {
            Ok(verdict) => {
                self.settle(match &verdict {
                    Verdict::Pass { nonempty: true } | Verdict::Bug(_) => Outcome::Checked,
                    Verdict::Skip(_) if self.session.failures() > failures => Outcome::Invalid,
                    _ => Outcome::Valid,
                });
                self.watcher.verdict(oracle.name(), &verdict);
                Ok(verdict)
            }
            Err(stop) => {
                self.stopped = Some((subject.clone(), oracle));
                Err(stop)
            }
        }
    }

    /// Leaves the database as it was before the proposal.
    fn take_down(&mut self, mark: Mark) -> Result<(), Stop> {
        let built = self.session.database().since(&mark).iter().rev();
        let tables: Vec<Name> = built
            .filter_map(|statement| match statement {
                Statement::CreateTable(create) => Some(create.name.clone()),
                _ => None,
            })
            .collect();
        for name in tables {
            let object = ObjectKind::Table;
            self.session.scaffold(&Statement::Drop { object, name, on: None, if_exists: true })?;
        }
        self.session.rewind(mark);
        Ok(())
    }

    /// Builds the test case again and checks it again before it counts as a finding (SOUNDNESS 0.1).
    fn confirm(
        &mut self,
        subject: Subject,
        before: usize,
        seen: Evidence,
        oracle: &dyn Oracle,
    ) -> Result<Next, Stop> {
        self.end();
        confirm(self.origin(), subject, before, seen, oracle, self.session, self.watcher)?;
        Ok(Next::Database)
    }

    /// Harm ends a database like a failure of a check.
    fn survived(&mut self, walked: Result<bool, Stop>) -> Result<bool, Trouble> {
        match walked {
            Ok(goes_on) => Ok(goes_on),
            Err(Stop::Harm(harm)) => {
                self.end();
                let stopped = self.stopped.take();
                confirm_harm(self.origin(), *harm, stopped, self.session, self.watcher)?;
                Ok(true)
            }
            Err(Stop::Trouble(trouble)) => Err(trouble),
        }
    }
}

/// Builds a test case again and reports it as a finding if it fails again, otherwise as unstable.
///
/// A database is more than the statements that were meant to make it: an oracle's ANALYZE changes what others are asked
/// by, and an index that was dropped and made again has lost its statistics. So what does not fail on the database's
/// setup is built from all that was run `before` it was checked (so many statements of its history).
pub fn confirm(
    origin: Origin,
    subject: Subject,
    before: usize,
    seen: Evidence,
    oracle: &dyn Oracle,
    session: &mut Session,
    watcher: &mut dyn Watcher,
) -> Result<(), Trouble> {
    let database = session.database();
    let mut cases = vec![(TestCase { setup: database.setup().to_vec(), subject: subject.clone() }, oracle)];
    if before > database.setup().len() {
        cases.push((TestCase { setup: database.history()[..before].to_vec(), subject }, oracle));
    }
    confirm_any(origin, cases, seen, session, watcher)
}

/// The same for a statement that harmed the engine: it is blamed alone, on the database as it was meant or on all
/// that it lived through. Failing that (it may have been prepared), the check that ran it is.
pub fn confirm_harm(
    origin: Origin,
    harm: Harm,
    stopped: Option<(Subject, &'static dyn Oracle)>,
    session: &mut Session,
    watcher: &mut dyn Watcher,
) -> Result<(), Trouble> {
    let setup = session.database().setup().to_vec();
    let mut history = session.database().history().to_vec();
    if history.last() == Some(&harm.statement) {
        history.pop();
    }
    let alone = |setup| TestCase { setup, subject: crash::subject(harm.statement.clone()) };
    let mut cases: Vec<(TestCase, &dyn Oracle)> = vec![(alone(setup.clone()), &crash::Crash)];
    if history.len() > setup.len() {
        cases.push((alone(history), &crash::Crash));
    }
    cases.extend(stopped.map(|(subject, oracle)| (TestCase { setup, subject }, oracle)));
    confirm_any(origin, cases, crash::evidence(harm), session, watcher)
}

/// The first of several test cases that fails is a finding.
fn confirm_any(
    origin: Origin,
    mut cases: Vec<(TestCase, &dyn Oracle)>,
    seen: Evidence,
    session: &mut Session,
    watcher: &mut dyn Watcher,
) -> Result<(), Trouble> {
    for at in 0..cases.len() {
        let (case, oracle) = &cases[at];
        let purpose = session.spend_on(Purpose::Confirm);
        let verdict = replay(case, *oracle, session)?;
        session.spend_on(purpose);
        if let Verdict::Bug(evidence) = verdict {
            watcher.finding(origin, cases.swap_remove(at).0, *evidence);
            return Ok(());
        }
    }
    watcher.unstable(origin, cases.swap_remove(0).0, seen);
    Ok(())
}

/// Builds a test case's database and checks it.
pub fn replay(case: &TestCase, oracle: &dyn Oracle, session: &mut Session) -> Result<Verdict, Trouble> {
    match rebuild(case, session)? {
        Rebuilt::Whole { .. } => oracle::check(oracle, &case.subject, session),
        Rebuilt::Harmed(evidence) => Ok(Verdict::Bug(evidence)),
    }
}

/// The result of building a database again.
pub enum Rebuilt {
    /// It stands; these statements failed, by their numbers.
    Whole {
        /// The places of failed statements in the setup.
        failed: Vec<usize>,
    },
    /// A statement harmed the engine.
    Harmed(Box<Evidence>),
}

/// Builds a test case's database from nothing.
pub fn rebuild(case: &TestCase, session: &mut Session) -> Result<Rebuilt, Trouble> {
    session.reset()?;
    let mut failed = Vec::new();
    for (at, statement) in case.setup.iter().enumerate() {
        match session.build_regardless(statement) {
            Ok(Reply::Failed(_)) => failed.push(at),
            Ok(_) => {}
            Err(Stop::Harm(harm)) => return Ok(Rebuilt::Harmed(Box::new(crash::evidence(*harm)))),
            Err(Stop::Trouble(trouble)) => return Err(trouble),
        }
    }
    Ok(Rebuilt::Whole { failed })
}
