//! A database mutated from one that showed something new, and what is learned from a database.

use super::keeping::Rehearsal;
use super::trail::KEEPING_SHARE;
use super::{Lesson, Next, Visit};
use crate::engine::{Reply, Stop};
use crate::finding::Verdict;
use crate::generate::{Stage, choices, cost};
use crate::guide::Entry;
use crate::import;
use crate::mutate::{self, Step, What, rebind};
use crate::oracle::Given;
use crate::rng::Rng;
use crate::session::Purpose;
use crate::sql::{InsertSource, Query, Statement, recursion};
use crate::state::Table;

choices! {
    odds {
        /// A test case uses a generated query.
        DRAWN_CASE = "changed.drawn-case": 10,
        /// A mutated query comes from the same entry.
        OWN_QUERY = "changed.own-query": 65,
        /// A query that returns nothing although its condition was loosened is run anyway.
        EMPTY = "changed.empty": 10,
        /// A subject is about the whole of a query's condition.
        WHOLE_CONDITION = "changed.whole-condition": 80,
    }
}

/// Test cases per mutated database: it is small and quickly built.
const CASES: u64 = 30;
/// A query may look at so many times the rows that a FROM is drawn with.
const DEAREST: usize = 8;
/// The most mutations of a query before it runs.
const MOST_CHANGES: usize = 3;

impl Visit<'_, '_, '_> {
    /// A database and cases made of what was kept. `false`: the watcher ended it.
    pub(super) fn walk_changed(&mut self, entry: &Entry, mut rng: Rng) -> Result<bool, Stop> {
        self.depth = entry.depth + 1;
        let failures = self.session.failures();
        let donor = self.trail.corpus.donor(&mut rng).cloned();
        let donated = donor.as_ref().map(|donor| donor.setup.as_slice());
        let (steps, _, rng) = self.draw(rng, |generator| mutate::sequence(generator, &entry.setup, donated));
        self.build_changed(steps, rng)?;
        if self.session.database().state().tables.is_empty() {
            return Ok(true);
        }
        for case in 1..=CASES {
            if !self.begin_case(case) {
                return Ok(false);
            }
            if self.changed_case(entry)? == Next::Database {
                return Ok(true);
            }
        }
        let ran = self.session.counts.statements - self.began_at;
        let failed = self.session.failures() - failures;
        self.learn_from(Some((ran, ran - failed)))?;
        Ok(true)
    }

    /// Statement by statement, each bound to the state that those before it left.
    fn build_changed(&mut self, steps: Vec<Step>, mut rng: Rng) -> Result<(), Stop> {
        let mut renames = [rebind::Renames::new(), rebind::Renames::new()];
        for step in steps {
            let renames = &mut renames[step.source];
            let (statements, drawn);
            (statements, drawn, rng) = self.draw(rng, |generator| match step.what {
                What::Draw(stage) => generator.stage(stage),
                What::Run(statement) => {
                    rebind::statement(generator, renames, statement).into_iter().collect()
                }
                What::Change(mut statement) => {
                    mutate::statement(generator, &mut statement);
                    rebind::statement(generator, renames, statement).into_iter().collect()
                }
            });
            if statements.iter().any(|statement| self.overfills(statement)) {
                continue;
            }
            self.change(statements, &drawn)?;
        }
        // What is new about a plan needs no rows, but answers do.
        let empty = |(_, table): &(usize, &Table)| table.rows == 0;
        let tables = self.session.database().state().base_tables();
        let empty: Vec<usize> = tables.enumerate().filter(empty).map(|(at, _)| at).collect();
        for at in empty {
            let (statements, drawn);
            (statements, drawn, rng) = self.draw(rng, |generator| generator.stage(Stage::Rows(at)));
            self.change(statements, &drawn)?;
        }
        Ok(())
    }

    /// Whether a statement fills a table beyond what is generated: otherwise mutations that only add rows, and tables
    /// that are filled from each other, would soon take all the time.
    fn overfills(&self, statement: &Statement) -> bool {
        let Statement::Insert(insert) = statement else { return false };
        let (policy, state) = (&self.walk.policy, self.session.database().state());
        let rows = state.table(&insert.table).map_or(0, |table| table.rows);
        let more = match &insert.source {
            InsertSource::Query(query) => cost::of_query(query, state),
            _ => 0,
        };
        rows > policy.many_rows || more > policy.max_product
    }

    fn changed_case(&mut self, entry: &Entry) -> Result<Next, Stop> {
        let rng = Rng::for_case(self.walk.seed, self.number, self.case);
        let mut rng = self.change_now_and_then(rng)?;
        let material = match self.odds(&DRAWN_CASE, &mut rng) {
            true => None,
            false => self.query_to_change(entry, &mut rng),
        };
        let Some(mut query) = material else { return self.propose(rng) };
        let donor = self.trail.corpus.donor(&mut rng).and_then(|donor| rng.choose(&donor.queries)).cloned();
        let ((), drawn, rng) = self.draw(rng, |generator| {
            for _ in 0..generator.rng.between(0, MOST_CHANGES) {
                mutate::query(generator, &mut query, donor.as_ref());
            }
            rebind::query(generator, &mut query);
        });
        // A recursion that lost what ends it would only be cut off, after long; and joins of joins are asked for long.
        let cost = cost::of_query(&query, self.session.database().state());
        if !recursion::ends(&query.clone().into()) || cost > DEAREST * self.walk.policy.max_product {
            return self.propose(rng);
        }
        let reply = self.session.query(&query)?;
        self.learn(&drawn, !matches!(reply, Reply::Failed(_)));
        // A query that returns nothing says little, and mutations only make it worse.
        let filters = query.as_select().is_some_and(|select| select.filter.is_some());
        if !filters || !matches!(&reply, Reply::Rows(rows) if rows.is_empty()) {
            return self.ask(query, reply, rng);
        }
        let ((), drawn, mut rng) = self.draw(rng, |generator| mutate::loosen(generator, &mut query));
        let reply = self.session.query(&query)?;
        self.learn(&drawn, !matches!(reply, Reply::Failed(_)));
        // Some are run anyway.
        if matches!(&reply, Reply::Rows(rows) if rows.is_empty()) && !self.odds(&EMPTY, &mut rng) {
            return Ok(Next::Case);
        }
        self.ask(query, reply, rng)
    }

    fn query_to_change(&mut self, entry: &Entry, rng: &mut Rng) -> Option<Query> {
        let own = if self.odds(&OWN_QUERY, rng) { rng.choose(&entry.queries).cloned() } else { None };
        own.or_else(|| self.trail.corpus.donor(rng).and_then(|donor| rng.choose(&donor.queries)).cloned())
    }

    /// Gives a query that ran to an oracle that can use it.
    fn ask(&mut self, query: Query, reply: Reply, mut rng: Rng) -> Result<Next, Stop> {
        if matches!(reply, Reply::Failed(_)) {
            return Ok(Next::Case);
        }
        let mut asked = import::resolved(&query, self.session.database().state(), self.dialect);
        if asked != query && !import::is_same(&self.session.query(&asked)?, &reply) {
            asked = query.clone();
        }
        self.remember(query)?;
        self.adopt(&asked, &mut rng)
    }

    /// The first oracle that finds something to work on in a query makes a subject of it.
    fn adopt(&mut self, query: &Query, rng: &mut Rng) -> Result<Next, Stop> {
        let mut oracles = vec![self.walk.oracle(rng)];
        let mut others = self.walk.oracles.clone();
        rng.shuffle(&mut others);
        oracles.append(&mut others);
        for oracle in oracles {
            let state = self.session.database().state();
            let given = Given { query, state, dialect: self.dialect };
            let mut subjects = oracle.adopt(&given);
            if subjects.is_empty() {
                continue;
            }
            // The first is about the whole of its condition, others about parts that may let nothing through.
            let at = if self.odds(&WHOLE_CONDITION, rng) { 0 } else { rng.below(subjects.len()) };
            let subject = subjects.swap_remove(at);
            let before = self.session.database().history().len();
            return match self.check(&subject, oracle)? {
                Verdict::Bug(seen) => self.confirm(subject, before, *seen, oracle),
                _ => Ok(Next::Case),
            };
        }
        Ok(Next::Case)
    }

    /// A query was asked of this database.
    pub(super) fn remember(&mut self, query: Query) -> Result<(), Stop> {
        if let Some(guide) = &mut self.trail.guide {
            let purpose = self.session.spend_on(Purpose::Guide);
            guide.asked(&query, self.session)?;
            self.session.spend_on(purpose);
            if self.trail.keeps {
                self.asked.push(query);
            }
        }
        Ok(())
    }

    /// Sees what the database showed that none before it did, and keeps the part of it that does.
    pub(super) fn learn_from(&mut self, changed: Option<(u64, u64)>) -> Result<(), Stop> {
        let depth = self.depth;
        let mut seen = self.trail.take_seen(self.session);
        let new = self.trail.corpus.note(&mut seen);
        self.trail.allowance += (self.session.counts.statements - self.began_at) * KEEPING_SHARE / 100;
        let lesson = Lesson { new, depth, changed };
        self.trail.note(&lesson, self.session.counts.statements - self.began_at);
        self.watcher.learned(&lesson);
        if lesson.new.is_empty() || !self.trail.keeps {
            return Ok(());
        }
        let setup = self.session.database().setup().to_vec();
        let kept = self.session.rehearsed(|session| {
            let mut rehearsal = Rehearsal { trail: self.trail, session };
            rehearsal.smallest(setup, std::mem::take(&mut self.asked), lesson.new, depth)
        })?;
        if let Some(entry) = kept {
            self.watcher.kept(&entry);
            self.trail.corpus.add(entry);
        }
        Ok(())
    }
}
