//! A database mutated from one that showed something new.

use super::{Next, Visit};
use crate::engine::{Reply, Stop};
use crate::finding::Verdict;
use crate::generate::{Outcome, Stage, choices, cost};
use crate::guide::Entry;
use crate::import;
use crate::mutate::{self, Step, What, rebind};
use crate::oracle::{Given, Oracle};
use crate::rng::Rng;
use crate::session::Purpose;
use crate::sql::{InsertSource, Query, Statement, recursion};
use crate::state::Table;
use crate::subject::Subject;

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

/// Cases of a changed database, in parts of those of a drawn one: it is small and quickly made.
const CASES: (u64, u64) = (3, 8);
/// A query may look at so many times the rows that a FROM is drawn with.
const DEAREST: usize = 8;
/// The most mutations of a query before it runs.
const MOST_CHANGES: usize = 3;
/// So many queries are changed until one is found that the oracle can work on; then it draws a subject of its own.
const MOST_QUERIES: usize = 4;

/// A query that was made of another one.
struct Changed {
    query: Query,
    /// The same with its names as oracles want them.
    asked: Query,
    /// What an oracle can make of it.
    subjects: Vec<Subject>,
    /// The operations that were drawn into it.
    drawn: Vec<u32>,
}

impl Visit<'_, '_, '_> {
    /// A database and cases made of what was kept. `false`: the watcher ended it.
    pub(super) fn walk_changed(&mut self, entry: &Entry, mut rng: Rng) -> Result<bool, Stop> {
        self.is_changed = true;
        self.depth = entry.depth + 1;
        let donor = self.trail.corpus.donor(&mut rng).cloned();
        let donated = donor.as_ref().map(|donor| donor.setup.as_slice());
        let (steps, _, rng) = self.draw(rng, |generator| mutate::sequence(generator, &entry.setup, donated));
        self.build_changed(steps, rng)?;
        if self.session.database().state().tables.is_empty() {
            return Ok(true);
        }
        let cases = (self.walk.policy.cases_per_database * CASES.0).div_ceil(CASES.1);
        for case in 1..=cases {
            if !self.begin_case(case) {
                return Ok(false);
            }
            if self.changed_case(entry)? == Next::Database {
                return Ok(true);
            }
            self.end_case();
        }
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
        let oracle = self.oracle(&mut rng);
        if self.odds(&DRAWN_CASE, &mut rng) {
            return self.propose(oracle, rng);
        }
        let changed;
        (changed, rng) = self.changed_query(entry, oracle, rng);
        match changed {
            Some(changed) => self.try_out(changed, oracle, rng),
            None => self.propose(oracle, rng),
        }
    }

    /// A query that was changed and that the oracle can work on.
    fn changed_query(
        &mut self,
        entry: &Entry,
        oracle: &'static dyn Oracle,
        mut rng: Rng,
    ) -> (Option<Changed>, Rng) {
        for _ in 0..MOST_QUERIES {
            let Some(mut query) = self.query_to_change(entry, &mut rng) else { break };
            let donor =
                self.trail.corpus.donor(&mut rng).and_then(|donor| rng.choose(&donor.queries)).cloned();
            let drawn;
            ((), drawn, rng) = self.draw(rng, |generator| {
                for _ in 0..generator.rng.between(0, MOST_CHANGES) {
                    mutate::query(generator, &mut query, donor.as_ref());
                }
                rebind::query(generator, &mut query);
            });
            if !self.is_affordable(&query) {
                self.settle(Outcome::Unused);
                continue;
            }
            let asked = self.resolved(&query);
            let subjects = self.subjects(&asked, oracle);
            if !subjects.is_empty() {
                return (Some(Changed { query, asked, subjects, drawn }), rng);
            }
        }
        (None, rng)
    }

    /// A recursion that lost what ends it would only be cut off, after long; and joins of joins are asked for long.
    fn is_affordable(&self, query: &Query) -> bool {
        let cost = cost::of_query(query, self.session.database().state());
        cost <= DEAREST * self.walk.policy.max_product && recursion::ends(&query.clone().into())
    }

    /// The query with its names as oracles want them.
    fn resolved(&self, query: &Query) -> Query {
        import::resolved(query, self.session.database().state(), self.dialect)
    }

    fn subjects(&self, query: &Query, oracle: &dyn Oracle) -> Vec<Subject> {
        let state = self.session.database().state();
        oracle.adopt(&Given { query, state, dialect: self.dialect })
    }

    /// Runs a query as it is; if the engine takes it, the oracle asks it in its ways.
    fn try_out(&mut self, changed: Changed, oracle: &'static dyn Oracle, mut rng: Rng) -> Result<Next, Stop> {
        let Changed { mut query, mut asked, mut subjects, drawn } = changed;
        let mut reply = self.tried(&query, &drawn, oracle)?;
        // What lets nothing through says little, and changes only make it worse.
        let filters = query.as_select().is_some_and(|select| select.filter.is_some());
        let is_empty = |reply: &Reply| matches!(reply, Reply::Rows(rows) if rows.is_empty());
        if filters && is_empty(&reply) {
            let drawn;
            ((), drawn, rng) = self.draw(rng, |generator| mutate::loosen(generator, &mut query));
            reply = self.tried(&query, &drawn, oracle)?;
            // Some are asked all the same.
            if is_empty(&reply) && !self.odds(&EMPTY, &mut rng) {
                return Ok(Next::Case);
            }
            asked = self.resolved(&query);
            subjects = self.subjects(&asked, oracle);
        }
        if matches!(reply, Reply::Failed(_)) {
            return Ok(Next::Case);
        }
        if asked != query && !import::is_same(&self.ask_for(&asked, oracle)?, &reply) {
            subjects = self.subjects(&query, oracle);
        }
        self.remember(query)?;
        self.adopt(subjects, oracle, &mut rng)
    }

    fn tried(&mut self, query: &Query, drawn: &[u32], oracle: &dyn Oracle) -> Result<Reply, Stop> {
        let reply = self.ask_for(query, oracle)?;
        self.learn(drawn, !matches!(reply, Reply::Failed(_)));
        Ok(reply)
    }

    /// A question before the oracle's own.
    fn ask_for(&mut self, query: &Query, oracle: &dyn Oracle) -> Result<Reply, Stop> {
        self.spending(Purpose::Scaffold(oracle.name()), |visit| visit.session.query(query))
    }

    fn query_to_change(&mut self, entry: &Entry, rng: &mut Rng) -> Option<Query> {
        let own = if self.odds(&OWN_QUERY, rng) { rng.choose(&entry.queries).cloned() } else { None };
        own.or_else(|| self.trail.corpus.donor(rng).and_then(|donor| rng.choose(&donor.queries)).cloned())
    }

    /// The oracle checks one of the subjects that it made of a query.
    fn adopt(
        &mut self,
        mut subjects: Vec<Subject>,
        oracle: &'static dyn Oracle,
        rng: &mut Rng,
    ) -> Result<Next, Stop> {
        if subjects.is_empty() {
            return Ok(Next::Case);
        }
        // The first is about the whole of its condition, others about parts that may let nothing through.
        let at = if self.odds(&WHOLE_CONDITION, rng) { 0 } else { rng.below(subjects.len()) };
        let subject = subjects.swap_remove(at);
        let before = self.session.database().history().len();
        match self.check(&subject, oracle)? {
            Verdict::Bug(seen) => self.confirm(subject, before, *seen, oracle),
            _ => Ok(Next::Case),
        }
    }
}
