//! The walk of a test case: build a database, then propose and check until its cases are used up. A database is
//! drawn anew, or made of one that showed something new ([`trail`]).
//!
//! Pure but for the engine inside the session: the same seed, engine and settings give the same
//! statements in the same order, as long as nothing comes from other workers.

mod changed;
mod keeping;
pub mod trail;

use crate::dialect::Dialect;
use crate::engine::{Reply, Trouble};
use crate::finding::{Evidence, Origin, Verdict};
use crate::generate::{Generator, Luck, Policy, State};
use crate::guide::Entry;
use crate::oracle::{Oracle, health};
use crate::rng::Rng;
use crate::session::Session;
use crate::sql::{ObjectKind, Query, Statement};
use crate::subject::Subject;
pub use trail::{Lesson, Trail};

/// What a walk tells while it goes.
pub trait Watcher {
    /// A case of a database begins (case 0 builds it). `false` ends the walk.
    fn case(&mut self, database: u64, case: u64) -> bool;

    /// A statement became part of the database's state.
    fn built(&mut self, sql: &str);

    /// Operations of the engine's catalog, by their numbers, were in a case; all its statements succeeded, or
    /// not.
    fn operations(&mut self, _drawn: &[u32], _succeeded: bool) {}

    /// An oracle came to a verdict.
    fn verdict(&mut self, oracle: &'static str, verdict: &Verdict);

    /// The state of the present database is built anew from here on.
    fn rebuilt(&mut self) {}

    /// What a database has taught, when it is done.
    fn learned(&mut self, _lesson: &Lesson) {}

    /// A database and queries that are worth coming back to.
    fn kept(&mut self, _entry: &Entry) {}

    /// A difference that held when the subject was built again on a fresh database.
    fn finding(&mut self, origin: Origin, subject: Subject, evidence: Evidence);

    /// A difference that did not hold on a fresh database: kept and counted, never reported.
    fn unstable(&mut self, origin: Origin, subject: Subject, evidence: Evidence);
}

pub struct Walk<'a> {
    pub dialect: &'a Dialect,
    /// The dialect without what triggers known bugs: most databases are drawn from it.
    pub calm: Option<&'a Dialect>,
    pub oracles: Vec<&'static dyn Oracle>,
    pub seed: u64,
    pub policy: Policy,
}

/// The percentage of databases that leave known bugs alone: they are still met, now and then.
const CALM_SHARE: u32 = 90;

impl Walk<'_> {
    /// One of the oracles; each comes to about as many statements as the others.
    fn oracle(&self, rng: &mut Rng) -> &'static dyn Oracle {
        let shares: Vec<u32> = self.oracles.iter().map(|oracle| SHARE / oracle.cost().max(1)).collect();
        self.oracles[rng.weighted(&shares)]
    }

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
            depth: 0,
            state: State::default(),
            luck: Luck::default(),
            setup: Vec::new(),
            asked: Vec::new(),
            began_at: session.counts.statements,
            trail,
            session,
            watcher,
        };
        let mut rng = Rng::for_case(self.seed, number, u64::MAX - 1);
        let goes_on = match visit.trail.material(&mut rng) {
            Some(entry) => visit.walk_changed(&entry, rng)?,
            None => visit.walk_drawn()?,
        };
        Ok(goes_on)
    }
}

/// What is shared out among the oracles of a hunt in proportion to how cheap their checks are.
const SHARE: u32 = 10_000;

/// One database while it is walked.
struct Visit<'a, 's, 'e> {
    walk: &'a Walk<'a>,
    dialect: &'a Dialect,
    number: u64,
    /// Changes since it was drawn.
    depth: u32,
    state: State,
    /// What became of operations on this database.
    luck: Luck,
    /// The statements that made the state.
    setup: Vec<Statement>,
    /// The queries that were asked of it.
    asked: Vec<Query>,
    /// Statements that had been run before this database.
    began_at: u64,
    trail: &'s mut Trail,
    session: &'s mut Session<'e>,
    watcher: &'s mut dyn Watcher,
}

impl Visit<'_, '_, '_> {
    /// Keeps what became of the operations that were drawn.
    fn learn(&mut self, drawn: &[u32], succeeded: bool) {
        if !drawn.is_empty() {
            self.luck.note(drawn, succeeded);
            self.watcher.operations(drawn, succeeded);
        }
    }

    fn origin(&self, case: u64) -> Origin {
        Origin { seed: self.walk.seed, database: self.number, case, depth: self.depth, checks: 0 }
    }

    /// A database and cases that are drawn. `false`: the watcher ended it.
    fn walk_drawn(&mut self) -> Result<bool, Trouble> {
        if !self.build()? {
            return Ok(true);
        }
        for case in 1..=self.walk.policy.cases_per_database {
            if !self.watcher.case(self.number, case) {
                return Ok(false);
            }
            // One bug shows again and again on the state that showed it: on to the next database.
            if !self.case(case)? {
                return Ok(true);
            }
        }
        self.learn_from(None)?;
        Ok(true)
    }

    /// `false`: building it was itself a finding.
    fn build(&mut self) -> Result<bool, Trouble> {
        let start = Rng::for_case(self.walk.seed, self.number, 0);
        let (plan, _, mut rng) = self.draw(start, |generator| generator.plan());
        for stage in plan {
            let (statements, drawn);
            (statements, drawn, rng) = self.draw(rng, |generator| generator.stage(stage));
            if !self.change(0, statements, &drawn)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Draws over the present state; gives the operations that were drawn, too.
    fn draw<T>(&mut self, rng: Rng, draw: impl FnOnce(&mut Generator) -> T) -> (T, Vec<u32>, Rng) {
        let mut generator =
            Generator::new(rng, self.dialect, &self.state, &self.walk.policy).with_luck(&self.luck);
        let drawn = self.session.drawing(|| draw(&mut generator));
        (drawn, generator.drawn_operations, generator.rng)
    }

    /// Runs statements that change the state. `false`: one of them was a finding.
    fn change(&mut self, case: u64, statements: Vec<Statement>, drawn: &[u32]) -> Result<bool, Trouble> {
        let failures = self.session.failures();
        let unharmed = self.run_changes(case, statements)?;
        self.learn(drawn, self.session.failures() == failures);
        Ok(unharmed)
    }

    fn run_changes(&mut self, case: u64, statements: Vec<Statement>) -> Result<bool, Trouble> {
        for statement in statements {
            let before = self.session.history().len();
            match self.session.run(&statement)? {
                Reply::Failed(error) if error.class.is_harm() => {
                    let seen = health::evidence(self.session.last_sql().to_string(), error);
                    let subject = health::subject(self.setup.clone(), statement);
                    self.confirm(case, subject, before, seen, &health::Health)?;
                    return Ok(false);
                }
                Reply::Failed(_) => {}
                reply => {
                    self.state.apply(&statement, self.dialect);
                    if let Reply::Done { changed } = reply {
                        self.state.count(&statement, changed);
                    }
                    self.watcher.built(self.session.last_sql());
                    self.setup.push(statement);
                }
            }
        }
        Ok(true)
    }

    /// `false`: there was a finding.
    fn case(&mut self, case: u64) -> Result<bool, Trouble> {
        let rng = Rng::for_case(self.walk.seed, self.number, case);
        match self.change_now_and_then(case, rng)? {
            Some(rng) => self.propose(case, rng),
            None => Ok(false),
        }
    }

    /// Some cases first change the state. `None`: that was a finding.
    fn change_now_and_then(&mut self, case: u64, mut rng: Rng) -> Result<Option<Rng>, Trouble> {
        if rng.chance(self.walk.policy.change_share) {
            let (statements, drawn);
            (statements, drawn, rng) = self.draw(rng, |generator| generator.change());
            if !self.change(case, statements, &drawn)? {
                return Ok(None);
            }
        }
        Ok(Some(rng))
    }

    /// A subject that an oracle proposes. `false`: it was a finding.
    fn propose(&mut self, case: u64, mut rng: Rng) -> Result<bool, Trouble> {
        let oracle = self.walk.oracle(&mut rng);
        let (proposed, drawn, _) = self.draw(rng, |generator| oracle.propose(generator));
        let Some(mut subject) = proposed else {
            self.watcher.verdict(oracle.name(), &Verdict::skip("no subject for this database"));
            return Ok(true);
        };
        let failures = self.session.failures();
        if !self.prepare(case, &mut subject)? {
            return Ok(false);
        }
        let before = self.session.history().len();
        let verdict = oracle.check(&subject, self.session)?;
        // Where a subject has many queries, some may fail though the operation is what it was tried for.
        let succeeded = self.session.failures() == failures || matches!(verdict, Verdict::Pass { .. });
        self.learn(&drawn, succeeded);
        self.watcher.verdict(oracle.name(), &verdict);
        let Verdict::Bug(seen) = verdict else {
            self.tidy(&subject)?;
            if let [Statement::Query(query), ..] = subject.tests.as_slice() {
                self.remember((**query).clone())?;
            }
            return Ok(true);
        };
        // Tables that a subject brings along are known by what its setup does to them, which must be done once.
        let before = if subject.setup.is_empty() { before } else { 0 };
        subject.setup.splice(0..0, self.setup.iter().cloned());
        self.confirm(case, subject, before, *seen, oracle)?;
        Ok(false)
    }

    /// Builds what a subject wants beside the database; what the engine does not take is left out of it.
    /// `false`: one of the statements was a finding.
    fn prepare(&mut self, case: u64, subject: &mut Subject) -> Result<bool, Trouble> {
        for statement in std::mem::take(&mut subject.setup) {
            let before = self.session.history().len();
            match self.session.build(&statement)? {
                Reply::Failed(error) if error.class.is_harm() => {
                    let seen = health::evidence(self.session.last_sql().to_string(), error);
                    let setup = self.setup.iter().chain(&subject.setup).cloned().collect();
                    self.confirm(case, health::subject(setup, statement), before, seen, &health::Health)?;
                    return Ok(false);
                }
                Reply::Failed(_) => {}
                _ => subject.setup.push(statement),
            }
        }
        Ok(true)
    }

    /// Leaves the database as it was before the subject.
    fn tidy(&mut self, subject: &Subject) -> Result<(), Trouble> {
        for statement in subject.setup.iter().rev() {
            if let Statement::CreateTable(create) = statement {
                let object = ObjectKind::Table;
                let drop = Statement::Drop { object, name: create.name.clone(), on: None, if_exists: true };
                self.session.build(&drop)?;
            }
        }
        Ok(())
    }

    /// Builds the subject anew and checks it again before it is called a finding (SOUNDNESS 0.1).
    fn confirm(
        &mut self,
        case: u64,
        subject: Subject,
        before: usize,
        seen: Evidence,
        oracle: &dyn Oracle,
    ) -> Result<(), Trouble> {
        confirm(self.origin(case), subject, before, seen, oracle, self.session, self.watcher)
    }
}

/// Builds a subject anew and tells of it as a finding if it differs again, or as unstable.
///
/// A database is more than the statements that were meant to make it: an oracle's ANALYZE changes what others are asked
/// by, and an index that was dropped and made again has lost its statistics. So what does not differ on the subject's
/// setup is built from all that was run `before` it was checked (so many statements of the session's history).
pub fn confirm(
    origin: Origin,
    subject: Subject,
    before: usize,
    seen: Evidence,
    oracle: &dyn Oracle,
    session: &mut Session,
    watcher: &mut dyn Watcher,
) -> Result<(), Trouble> {
    let history: Vec<Statement> = session.history().iter().take(before).cloned().collect();
    if let Verdict::Bug(evidence) = replay(&subject, oracle, session)? {
        watcher.finding(origin, subject, *evidence);
        return Ok(());
    }
    if history.len() > subject.setup.len() {
        let lived = Subject { setup: history, ..subject.clone() };
        if let Verdict::Bug(evidence) = replay(&lived, oracle, session)? {
            watcher.finding(origin, lived, *evidence);
            return Ok(());
        }
    }
    watcher.unstable(origin, subject, seen);
    Ok(())
}

/// Builds a subject's state on an empty database and checks it.
pub fn replay(subject: &Subject, oracle: &dyn Oracle, session: &mut Session) -> Result<Verdict, Trouble> {
    rebuild(subject, session)?;
    oracle.check(subject, session)
}

/// Builds a subject's state on an empty database; gives the numbers of the statements that failed.
pub fn rebuild(subject: &Subject, session: &mut Session) -> Result<Vec<usize>, Trouble> {
    session.reset()?;
    let mut failed = Vec::new();
    for (at, statement) in subject.setup.iter().enumerate() {
        if let Reply::Failed(_) = session.run(statement)? {
            failed.push(at);
        }
    }
    Ok(failed)
}
