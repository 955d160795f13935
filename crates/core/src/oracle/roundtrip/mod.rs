//! ROUNDTRIP: a database answers as before after it was closed and opened again, or rewritten by maintenance; and so does
//! a newer version that opens it.
//!
//! ```sql
//! SELECT c0 FROM t0 WHERE c1 > 2;
//! VACUUM;                            -- or: close it and open it again, REINDEX, OPTIMIZE TABLE t0
//! SELECT c0 FROM t0 WHERE c1 > 2;    -- the same rows
//! ```
//!
//! The tests of a subject are queries. They, and one for all rows of every table, are asked before and after. The way is
//! the choice `way`: a statement of maintenance that the dialect lists, or [`REOPEN`] where the engine can save
//! its database and open what was saved. With `--against`, the other version reads what this one saved, too.
//!
//! Conditions (SOUNDNESS 15):
//! - The result does not depend on the order of rows, as for [`index`](super::index): rows may be stored in another order.
//! - A way that the engine refuses says nothing.
//! - Nothing that ends with a session is there: no temporary table or view and, where the database is opened again, no
//!   setting that answers may depend on.
//! - No answer depends on the number of a row, which VACUUM may give anew.
//! - What another version answers is compared under the conditions of [`versions`], and is a change.

use crate::dialect::{Dialect, Feature};
use crate::engine::{Reply, Stop};
use crate::finding::Verdict;
use crate::generate::Generator;
use crate::oracle::kit::copy;
use crate::oracle::kit::unchanged::{self, Happened, Words};
use crate::oracle::{Given, Oracle, versions};
use crate::render::to_sql;
use crate::session::Session;
use crate::sql::*;
use crate::subject::{Proposal, Subject, TestCase};

/// See [the module](self).
pub struct Roundtrip;

const WAY: &str = "way";
/// Close the database and open it again.
pub const REOPEN: &str = "reopen";

const QUERIES: usize = 3;

const WORDS: Words = Words {
    relation: "a database answers as before after it was rewritten or opened again",
    before: "before",
    between: "in between",
    after: "after",
};

impl Oracle for Roundtrip {
    fn name(&self) -> &'static str {
        "roundtrip"
    }

    fn about(&self) -> &'static str {
        "a database gives the same answers after VACUUM, REINDEX and the like, and after it is opened again"
    }

    fn suits(&self, dialect: &Dialect) -> bool {
        !ways(dialect).is_empty()
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let ways = ways(generator.dialect);
        let way = generator.rng.choose(&ways)?.clone();
        let mut tests = Vec::new();
        for _ in 0..QUERIES {
            generator.start_over();
            tests.extend(generator.any_query().map(Statement::from));
        }
        (!tests.is_empty()).then(|| Subject::of(self.name(), tests).with_choice(WAY, &way).into())
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let subject = |way: Name| Subject::new(self.name(), given.query.clone()).with_choice(WAY, &way);
        ways(given.dialect).into_iter().map(subject).collect()
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some(way) = subject.choice(WAY) else { return Ok(Verdict::skip("no way given")) };
        let dialect = session.dialect();
        if !ways(dialect).iter().any(|known| **known == *way) {
            return Ok(Verdict::skip("way that may change results"));
        }
        if session.database().state().tables.iter().any(|table| table.temporary) {
            return Ok(Verdict::skip("temporary table"));
        }
        if way == REOPEN && makes_settings(session) {
            return Ok(Verdict::skip("setting that ends with the session"));
        }
        if reads_addresses(subject, session) {
            return Ok(Verdict::skip("query that reads row addresses"));
        }
        let tables: Vec<Name> =
            session.database().state().base_tables().map(|table| table.name.clone()).collect();
        let mut queries: Vec<Query> = tables.iter().map(unchanged::all_rows).collect();
        queries.extend(subject.queries().cloned());
        let verdict =
            unchanged::ask(&queries, &WORDS, subject, session, |session| happen(way, &tables, session))?;
        match verdict {
            Verdict::Pass { .. } if way == REOPEN && session.other_version().is_some() => {
                upgrade(&queries[..tables.len()], subject, session)
            }
            verdict => Ok(verdict),
        }
    }

    fn complaint(&self, case: &TestCase) -> String {
        match case.subject.choice(WAY) {
            Some(REOPEN) => "changes when the database is opened again".to_string(),
            Some(way) => format!("changes after {}", way.replace(" {}", "").trim()),
            None => "changes when the database is rewritten".to_string(),
        }
    }
}

/// All ways of a dialect.
fn ways(dialect: &Dialect) -> Vec<Name> {
    let mut ways: Vec<Name> = dialect.maintenance.iter().chain(&dialect.roundtrips).cloned().collect();
    ways.sort();
    ways.dedup();
    let whole = [
        (Feature::Vacuum, Statement::Vacuum),
        (Feature::Reindex, Statement::Reindex(None)),
        (Feature::Analyze, Statement::Analyze(None)),
    ];
    let whole = whole.into_iter().filter(|(feature, _)| dialect.can(*feature));
    ways.extend(whole.map(|(_, statement)| Name::from(to_sql(&statement, dialect))));
    if dialect.can(Feature::Reopen) {
        ways.push(REOPEN.into());
    }
    ways
}

/// Whether the setup made a setting that is not in the database, and that answers may depend on.
fn makes_settings(session: &Session) -> bool {
    let dialect = session.dialect();
    session.database().setup().iter().any(|statement| match statement {
        Statement::Set { name, .. } => !dialect.varies(name),
        Statement::Raw(text) => {
            text.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("PRAGMA"))
        }
        _ => false,
    })
}

fn reads_addresses(subject: &Subject, session: &Session) -> bool {
    let database = session.database();
    let views = database.views_read(subject);
    let queries = subject.queries().chain(views.iter().map(|view| &view.query));
    queries.into_iter().any(|query| copy::reads_addresses(query, database.state()))
}

/// What happens between the questions: the statement, for every table if it names one; or the database is opened again.
fn happen(way: &str, tables: &[Name], session: &mut Session) -> Result<Happened, Stop> {
    if way == REOPEN {
        return Ok(match session.reopen()? {
            true => Ok(vec!["-- the database is closed and opened again".to_string()]),
            false => Err("database that cannot be saved"),
        });
    }
    let statements: Vec<String> = match way.contains("{}") {
        true => tables.iter().map(|table| way.replace("{}", table)).collect(),
        false => vec![way.to_string()],
    };
    let mut ran = Vec::new();
    for sql in statements {
        if let Reply::Failed(_) = session.scaffold(&Statement::Raw(sql))? {
            continue;
        }
        ran.push(session.last_sql().to_string());
    }
    Ok(if ran.is_empty() { Err("way that the engine refuses") } else { Ok(ran) })
}

/// The other version opens what this one saved, and reads the same rows. What else it answers is a matter of versions.
fn upgrade(queries: &[Query], subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    if !session.hand_over()? {
        return Ok(Verdict::skip("database that cannot be saved"));
    }
    let (mut nonempty, mut unclear) = (false, None);
    for query in queries {
        let here = session.query(query)?;
        let there = session.ask_successor(query)?;
        match versions::compare(query, here, there, &subject.about(query), session)? {
            Verdict::Bug(evidence) => return Ok(Verdict::Bug(evidence)),
            Verdict::Skip(reason) => unclear = Some(Verdict::Skip(reason)),
            Verdict::Pass { nonempty: rows } => nonempty |= rows,
        }
    }
    Ok(unclear.unwrap_or(Verdict::Pass { nonempty }))
}
