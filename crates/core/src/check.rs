//! The walk of a script: its statements build the state, and each of its queries is handed to every oracle that can
//! work on a given query, over the state at that point.

use serde::{Deserialize, Serialize};

use crate::engine::{Reply, Trouble};
use crate::finding::{Evidence, Origin, Verdict};
use crate::generate::{State, tables_named};
use crate::import::{self, Imported};
use crate::oracle::{Given, Oracle, health};
use crate::session::Session;
use crate::sql::{Name, Query, Statement, With};
use crate::subject::Subject;
use crate::walk::{self, Watcher};

/// A query in which an oracle finds nothing to ask about is counted so.
pub const NO_SUBJECT: &str = "nothing in the query for this oracle";

/// Of a virtual table it is not known what its columns are: some are parameters, which change the answer when they
/// are compared with something, and R-trees keep 32-bit floats (SOUNDNESS 1). So it is with tables of the engine's own.
pub const NOT_A_TABLE: &str = "a relation that is neither a table nor a view of the script";

/// What was read of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    pub statements: usize,
    /// The lines of the queries that were handed to the oracles.
    pub queries: Vec<usize>,
    /// Statements that fail on this engine: their lines and what it says.
    pub failures: Vec<(usize, String)>,
    /// Statements that were kept as text: their lines and why.
    pub refused: Vec<(usize, String)>,
}

/// Checks a script on an empty database. The number tells scripts apart in what the watcher is told.
pub fn script(
    number: u64,
    mut statements: Vec<Imported>,
    oracles: &[&'static dyn Oracle],
    session: &mut Session,
    watcher: &mut dyn Watcher,
) -> Result<Read, Trouble> {
    let mut read = Read { statements: statements.len(), ..Read::default() };
    watcher.case(number, 0);
    let replies = import::verify(&mut statements, session)?;
    // The state is built anew from here on.
    watcher.case(number, 0);
    for (imported, reply) in statements.iter().zip(&replies) {
        if let Reply::Failed(error) = reply {
            read.failures.push((imported.line, error.message.clone()));
        }
        if let Some(why) = &imported.refused {
            read.refused.push((imported.line, why.clone()));
        }
    }
    let mut walk = ScriptWalk { number, state: State::default(), setup: Vec::new(), session, watcher };
    for (imported, reply) in statements.iter().zip(&replies) {
        match imported.query() {
            Some(query) if matches!(reply, Reply::Rows(_)) => {
                read.queries.push(imported.line);
                let case = read.queries.len() as u64;
                walk.watcher.case(number, case);
                walk.query(case, query, reply, oracles)?;
            }
            _ => walk.statement(&imported.statement)?,
        }
    }
    Ok(read)
}

struct ScriptWalk<'s, 'e> {
    number: u64,
    state: State,
    /// The statements so far, also those that failed: what they left behind is part of the state.
    setup: Vec<Statement>,
    session: &'s mut Session<'e>,
    watcher: &'s mut dyn Watcher,
}

impl ScriptWalk<'_, '_> {
    fn statement(&mut self, statement: &Statement) -> Result<(), Trouble> {
        let before = self.session.history().len();
        match self.session.run(statement)? {
            Reply::Failed(error) if error.class.is_harm() => {
                let seen = health::evidence(self.session.last_sql().to_string(), error);
                let subject = health::subject(self.setup.clone(), statement.clone());
                self.confirm(0, subject, before, seen, &health::Health)?;
            }
            Reply::Failed(_) => {}
            _ => self.state.apply(statement, self.session.dialect()),
        }
        self.watcher.built(self.session.last_sql());
        self.setup.push(statement.clone());
        Ok(())
    }

    fn query(
        &mut self,
        case: u64,
        query: &Query,
        reply: &Reply,
        oracles: &[&'static dyn Oracle],
    ) -> Result<(), Trouble> {
        let dialect = self.session.dialect();
        let mut asked = import::resolved(query, &self.state, dialect);
        if asked != *query && !import::is_same(&self.session.query(&asked)?, reply) {
            asked = query.clone();
        }
        let opaque = tables_named(&asked).iter().any(|name| !self.is_made(name, asked.with.as_ref()));
        for oracle in oracles {
            if opaque {
                self.watcher.verdict(oracle.name(), &Verdict::skip(NOT_A_TABLE));
                continue;
            }
            let subjects = oracle.adopt(&Given { query: &asked, state: &self.state, dialect });
            if subjects.is_empty() {
                self.watcher.verdict(oracle.name(), &Verdict::skip(NO_SUBJECT));
            }
            for subject in subjects {
                // One disagreement per query and oracle: others would be the same.
                if self.subject(case, subject, *oracle)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether the script makes a relation, by a statement that is understood or by text.
    fn is_made(&self, name: &Name, with: Option<&With>) -> bool {
        if with.is_some_and(|with| with.tables.iter().any(|common| common.name == *name)) {
            return true;
        }
        if let Some(table) = self.state.table(name) {
            return table.reads.iter().all(|read| self.is_made(read, None));
        }
        self.setup.iter().any(|statement| match statement {
            Statement::Raw(text) => {
                let text = text.to_ascii_lowercase();
                let mut words =
                    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
                let makes = words.next() == Some("create") && words.clone().next() != Some("virtual");
                makes && words.take(8).any(|word| word == name.to_ascii_lowercase())
            }
            _ => false,
        })
    }

    /// `true`: it was a finding.
    fn subject(&mut self, case: u64, mut subject: Subject, oracle: &dyn Oracle) -> Result<bool, Trouble> {
        // Some conditions are known only of a subject that has its setup.
        subject.setup = self.setup.clone();
        let before = self.session.history().len();
        let verdict = oracle.check(&subject, self.session)?;
        self.watcher.verdict(oracle.name(), &verdict);
        let Verdict::Bug(seen) = verdict else { return Ok(false) };
        self.confirm(case, subject, before, *seen, oracle)?;
        Ok(true)
    }

    /// Builds the subject anew and checks it again (SOUNDNESS 0.1); then the script's state, for what follows.
    fn confirm(
        &mut self,
        case: u64,
        subject: Subject,
        before: usize,
        seen: Evidence,
        oracle: &dyn Oracle,
    ) -> Result<(), Trouble> {
        let origin = Origin { database: self.number, case, ..Origin::default() };
        walk::confirm(origin, subject, before, seen, oracle, self.session, self.watcher)?;
        self.session.reset()?;
        for statement in &self.setup {
            self.session.run(statement)?;
        }
        Ok(())
    }
}
