//! A second engine beside the one under test: another version or build, or another engine. It gets the same statements,
//! each in its own spelling.

use super::{Session, Spent};
use crate::dialect::Dialect;
use crate::engine::{Engine, Reply, Trouble};
use crate::render::{render, render_query};
use crate::sql::Query;

/// The other engine and how far its database is.
pub(super) struct Other<'a> {
    engine: &'a mut dyn Engine,
    /// What statements are written in for it.
    dialect: &'a Dialect,
    /// What it shares with the one under test, if that is another engine.
    shared: Option<Box<Dialect>>,
    /// How many statements of the setup it has run; none: it still holds another database.
    built: Option<usize>,
    /// Its database is not the same, for this reason.
    apart: Option<&'static str>,
}

impl Other<'_> {
    /// The database under test is empty again.
    pub(super) fn start_over(&mut self) {
        (self.built, self.apart) = (None, None);
    }
}

/// An answer of the other engine, or why it has none that can be compared.
pub type FromOther = Result<Reply, &'static str>;

const NOBODY: &str = "no other version to compare with";
const ONE_SIDED: &str = "statement that only one version accepts";
const HARMED: &str = "the other version does not survive the setup";

impl<'a> Session<'a> {
    /// Gives it another version or build to compare with. It builds the same database when an oracle asks it something.
    pub fn compare_with(&mut self, engine: &'a mut dyn Engine) {
        self.compare_with_engine(engine, self.dialect);
    }

    /// The same with an engine that speaks another dialect.
    pub fn compare_with_engine(&mut self, engine: &'a mut dyn Engine, dialect: &'a Dialect) {
        let foreign = dialect.name != self.dialect.name;
        let shared = foreign.then(|| Box::new(self.dialect.shared_with(dialect)));
        self.other = Some(Other { engine, dialect, shared, built: None, apart: None });
    }

    /// What both engines mean by SQL, if they are two.
    pub fn shared_dialect(&self) -> Option<&Dialect> {
        self.other.as_ref()?.shared.as_deref()
    }

    /// The name of the other engine, as its makers write it.
    pub fn other_title(&self) -> &'a str {
        &self.other_dialect().engine.title
    }

    fn other_dialect(&self) -> &'a Dialect {
        self.other.as_ref().map_or(self.dialect, |other| other.dialect)
    }

    /// The version of the other engine, if there is one.
    pub fn other_version(&self) -> Option<&str> {
        self.other.as_ref().map(|other| other.engine.version())
    }

    /// Asks the other engine a query, on a database that the same statements built.
    pub fn ask_other(&mut self, query: &Query) -> Result<FromOther, Trouble> {
        if let Err(reason) = self.aside(Session::follow)? {
            return Ok(Err(reason));
        }
        let mut sql = String::new();
        render_query(query, self.other_dialect(), &mut sql);
        let reply = self.run_on_other(&sql)?;
        if reply.failure().is_some_and(|error| error.class.is_harm()) {
            self.part(HARMED);
        }
        Ok(Ok(reply))
    }

    /// Lets the other engine open the database of this one, as its file would hold it. `false`: there is none, or it
    /// cannot.
    pub fn hand_over(&mut self) -> Result<bool, Trouble> {
        let Some(saved) = self.save()? else { return Ok(false) };
        let Some(other) = &mut self.other else { return Ok(false) };
        // From now on it holds a database that it did not build.
        other.start_over();
        other.engine.open_saved(&saved)
    }

    /// Asks the engine that the database was handed over to.
    pub fn ask_successor(&mut self, query: &Query) -> Result<Reply, Trouble> {
        let mut sql = String::new();
        render_query(query, self.other_dialect(), &mut sql);
        self.run_on_other(&sql)
    }

    /// The other engine's plan for a query. Only evidence needs it.
    pub fn explain_on_other(&mut self, query: &Query) -> Result<Option<String>, Trouble> {
        let dialect = self.other_dialect();
        let Some(prefix) = dialect.explain.as_deref() else { return Ok(None) };
        if self.other.as_ref().is_none_or(|other| other.apart.is_some()) {
            return Ok(None);
        }
        let mut sql = format!("{prefix} ");
        render_query(query, dialect, &mut sql);
        Ok(match self.aside(|session| session.run_on_other(&sql))? {
            Reply::Rows(rows) => Some(dialect.plan_text(&rows)),
            _ => None,
        })
    }

    /// Runs what the other engine has not run of the setup. A statement that only one of the two accepts leaves two
    /// databases that cannot be compared.
    fn follow(&mut self) -> Result<Result<(), &'static str>, Trouble> {
        let Some(other) = &mut self.other else { return Ok(Err(NOBODY)) };
        if let Some(reason) = other.apart {
            return Ok(Err(reason));
        }
        let whole = self.database.setup().len();
        let other_dialect = other.dialect;
        let mut built = match other.built.filter(|built| *built <= whole) {
            Some(built) => built,
            None => {
                other.engine.reset()?;
                0
            }
        };
        while built < whole {
            let mut sql = String::new();
            render(&self.database.setup()[built], other_dialect, &mut sql);
            let reply = self.run_on_other(&sql)?;
            let reason = match reply.failure() {
                Some(error) if error.class.is_harm() => Some(HARMED),
                failure if failure.is_some() != self.database.has_failed(built) => Some(ONE_SIDED),
                _ => None,
            };
            if let Some(reason) = reason {
                self.part(reason);
                return Ok(Err(reason));
            }
            built += 1;
        }
        self.other.iter_mut().for_each(|other| other.built = Some(built));
        Ok(Ok(()))
    }

    /// From now on, until the database is empty again, nothing can be compared.
    fn part(&mut self, reason: &'static str) {
        self.other.iter_mut().for_each(|other| other.apart = Some(reason));
    }

    /// Like a statement of the engine under test, in the journal as one of the other.
    fn run_on_other(&mut self, sql: &str) -> Result<Reply, Trouble> {
        let Some(other) = &mut self.other else { return Err(Trouble(NOBODY.to_string())) };
        self.journal.before(&format!("/* on {} */ {sql}", other.engine.version()));
        let start = (self.clock)();
        let reply = other.engine.execute(sql);
        let nanos = (self.clock)() - start;
        self.journal.after();
        self.counts.engine_nanos += nanos;
        self.counts.account.charge(self.purpose, Spent { statements: 1, nanos });
        let reply = reply?;
        self.count_reply(&reply);
        Ok(reply)
    }
}
