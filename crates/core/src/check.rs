//! `dissent check`: the statements of a script build the database, and each of its queries goes to every oracle
//! that can use a given query.

use serde::{Deserialize, Serialize};

use crate::engine::{Harm, Reply, Stop, Trouble};
use crate::finding::{Origin, Verdict};
use crate::import::{self, Imported};
use crate::oracle::{Given, Oracle};
use crate::session::Session;
use crate::sql::{Name, Query, Statement, With};
use crate::state::tables_named;
use crate::subject::Subject;
use crate::walk::{self, Watcher};

/// A query in which an oracle finds nothing to ask about is counted so.
pub const NO_SUBJECT: &str = "nothing in the query for this oracle";

/// Dissent does not know what the columns of a virtual table mean: some are parameters, which change the result when they
/// are compared (SOUNDNESS 0.11). The same goes for the engine's system tables. Only R-trees are known.
pub const NOT_A_TABLE: &str = "table or view that the script does not create";

/// Whether the words of a statement make an R-tree, whose columns hold what they show: 32-bit floats, read back as such.
fn is_rtree<'w>(words: impl Iterator<Item = &'w str>) -> bool {
    let mut words = words.skip_while(|word| *word != "using");
    matches!(words.nth(1), Some("rtree" | "rtree_i32"))
}

/// What was read of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// How many statements it has.
    pub statements: usize,
    /// How many of them are queries that the engine answers.
    #[serde(default)]
    pub answered: usize,
    /// The lines of the queries that the oracles got.
    pub queries: Vec<usize>,
    /// Statements that fail on this engine: their lines and the errors.
    pub failures: Vec<(usize, String)>,
    /// Statements that stayed text: their lines and why.
    pub refused: Vec<(usize, String)>,
    /// Statements that were left out because they might reach beyond the database ([`crate::confine`]): their lines and
    /// why.
    #[serde(default)]
    pub confined: Vec<(usize, String)>,
    /// Statements that are not to be run, such as those that are to fail: their lines and why.
    #[serde(default)]
    pub left_out: Vec<(usize, String)>,
}

/// Checks a script on an empty database. The number identifies the script to the watcher.
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
    for (imported, reply) in statements.iter().zip(&replies) {
        read.answered +=
            usize::from(matches!(reply, Reply::Rows(_)) && import::reads_as_query(&imported.text));
        if let Reply::Failed(error) = reply {
            read.failures.push((imported.line, error.message.clone()));
        }
        if let Some(why) = &imported.refused {
            read.refused.push((imported.line, why.clone()));
        }
    }
    session.reset()?;
    let mut walk = ScriptWalk { number, case: 0, session, watcher };
    for (imported, reply) in statements.iter().zip(&replies) {
        match imported.query() {
            Some(query) if matches!(reply, Reply::Rows(_)) => {
                read.queries.push(imported.line);
                walk.case = read.queries.len() as u64;
                walk.watcher.case(number, walk.case);
                walk.query(query, reply, oracles)?;
            }
            _ => walk.statement(&imported.statement)?,
        }
    }
    Ok(read)
}

struct ScriptWalk<'s, 'e> {
    number: u64,
    /// The number of the current query.
    case: u64,
    session: &'s mut Session<'e>,
    watcher: &'s mut dyn Watcher,
}

impl ScriptWalk<'_, '_> {
    fn origin(&self) -> Origin {
        Origin { database: self.number, case: self.case, ..Origin::default() }
    }

    /// Also statements that fail are part of the setup: what they leave behind is there.
    fn statement(&mut self, statement: &Statement) -> Result<(), Trouble> {
        match self.session.build_regardless(statement) {
            Ok(_) => Ok(()),
            Err(stop) => self.harmed(stop, None),
        }
    }

    fn query(
        &mut self,
        query: &Query,
        reply: &Reply,
        oracles: &[&'static dyn Oracle],
    ) -> Result<(), Trouble> {
        let dialect = self.session.dialect();
        let mut asked = import::resolved(query, self.session.database().state(), dialect);
        if asked != *query {
            match self.session.query(&asked) {
                Ok(answer) if import::is_same(&answer, reply) => {}
                Ok(_) => asked = query.clone(),
                Err(stop) => return self.harmed(stop, None),
            }
        }
        let with = asked.with.as_ref();
        let opaque = tables_named(&asked).iter().any(|name| !self.is_made(name, with, &mut Vec::new()));
        for oracle in oracles.iter().filter(|oracle| oracle.suits(dialect)) {
            if opaque {
                self.watcher.verdict(oracle.name(), &Verdict::skip(NOT_A_TABLE));
                continue;
            }
            let state = self.session.database().state();
            let subjects = oracle.adopt(&Given { query: &asked, state, dialect });
            if subjects.is_empty() {
                self.watcher.verdict(oracle.name(), &Verdict::skip(NO_SUBJECT));
            }
            for subject in subjects {
                // One disagreement per query and oracle: others would be the same.
                if self.subject(subject, *oracle)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether the script makes a relation, by a statement that is understood or by text.
    fn is_made(&self, name: &Name, with: Option<&With>, seen: &mut Vec<Name>) -> bool {
        // A view can have a common table of its own name.
        if seen.contains(name) {
            return true;
        }
        seen.push(name.clone());
        if with.is_some_and(|with| with.tables.iter().any(|common| common.name == *name)) {
            return true;
        }
        let database = self.session.database();
        if let Some(table) = database.state().table(name) {
            return table.reads.iter().all(|read| self.is_made(read, None, seen));
        }
        database.setup().iter().any(|statement| match statement {
            Statement::Raw(text) => {
                let text = text.to_ascii_lowercase();
                let words =
                    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
                // Of a view that is not understood it is not known whether its rows are defined, and of most virtual
                // tables not what their columns mean. An R-tree has plain columns.
                let kind = |wanted: &str| words.clone().take(5).any(|word| word == wanted);
                let opaque = kind("view") || (kind("virtual") && !is_rtree(words.clone()));
                let makes = words.clone().next() == Some("create") && !opaque;
                makes && words.skip(1).take(8).any(|word| word == name.to_ascii_lowercase())
            }
            _ => false,
        })
    }

    /// `true`: it was a finding.
    fn subject(&mut self, subject: Subject, oracle: &'static dyn Oracle) -> Result<bool, Trouble> {
        let before = self.session.database().history().len();
        let verdict = match oracle.check(&subject, self.session) {
            Ok(verdict) => verdict,
            Err(stop) => return self.harmed(stop, Some((subject, oracle))).map(|()| true),
        };
        self.watcher.verdict(oracle.name(), &verdict);
        let Verdict::Bug(seen) = verdict else { return Ok(false) };
        let origin = self.origin();
        self.confirmed(|session, watcher| {
            walk::confirm(origin, subject, before, *seen, oracle, session, watcher)
        })?;
        Ok(true)
    }

    fn harmed(&mut self, stop: Stop, check: Option<(Subject, &'static dyn Oracle)>) -> Result<(), Trouble> {
        let harm: Harm = match stop {
            Stop::Harm(harm) => *harm,
            Stop::Trouble(trouble) => return Err(trouble),
        };
        let origin = self.origin();
        self.confirmed(|session, watcher| walk::confirm_harm(origin, harm, check, session, watcher))
    }

    /// Confirms a failure (SOUNDNESS 0.1), then builds the script's database again for what follows.
    fn confirmed(
        &mut self,
        confirm: impl FnOnce(&mut Session, &mut dyn Watcher) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let setup = self.session.database().setup().to_vec();
        confirm(self.session, self.watcher)?;
        self.session.reset()?;
        for statement in &setup {
            // Harm to the engine was reported when the script ran first.
            if let Err(Stop::Trouble(trouble)) = self.session.build_regardless(statement) {
                return Err(trouble);
            }
        }
        Ok(())
    }
}
