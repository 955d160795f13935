//! EDC: compares an operation over the columns of a row, or an aggregate over a group, with its result stored in a
//! second table (equivalent data construction). Queries must return the same rows either way.
//!
//! ```sql
//! CREATE TABLE e0(c0 DATETIME, c1 INT); INSERT INTO e0 …;                     -- the base table
//! CREATE TABLE stored0 AS SELECT c0, c1, ADDDATE(c0, c1) AS result0 FROM e0;  -- the stored one
//! SELECT ADDDATE(e0.c0, e0.c1) FROM e0 WHERE ADDDATE(e0.c0, e0.c1) > 5;       -- computed
//! SELECT stored0.result0 FROM stored0 WHERE stored0.result0 > 5;              -- stored
//! ```
//!
//! A proposal brings its base table. `exprs` is the operation and, for rows, the column that identifies them. The
//! tests are the queries, all run on one pair of tables. Every check derives the stored table again, so no edit can
//! make the two differ.
//!
//! Conditions (SOUNDNESS 2), each a skip with its reason:
//! - What is stored is what was computed. Every check first reads all rows of both tables; if an engine computes with
//!   more digits than it shows, the engine compares them too. What storing cut, rounded or converted says nothing
//!   about the engine.
//! - The stored column behaves like the operation. Where a column has an affinity and a collation, what stands for the
//!   operation has those that the operation has (`case::StandIn`). No COLLATE in the operation (its strength is lost),
//!   and none in the table where storing drops it. No function that reads JSON around one that gives its result the
//!   JSON subtype, where storing loses it.
//! - Only groups of an aggregate's table are queried: grouped by all the keys, WHERE over keys only, HAVING over keys
//!   and the operation, no other aggregate; keys of types whose equal values are identical (no floats, no text that
//!   folds case); no sum or mean of floats, and no aggregate whose rounding depends on row order (STDDEV). Without
//!   keys there is no WHERE: an aggregate over no rows is still a row.
//! - A column of the result's type compares like the result: no bytes literal in the operation where it also acts as
//!   a number, no function whose result has a type that columns read differently (YEAR).
//! - A row that an outer join pads has no stored result, but the operation may have one: no such join of the base
//!   table. No NATURAL JOIN and no `*`: the stored table has one more column.
//! - Operands that act as a number or as bytes depending on context (BIT, ENUM, YEAR …) give findings of class
//!   `representation`, unless the number of rows differs.
//! - Equal values that are deduplicated, grouped or used by MIN or MAX are identical (SOUNDNESS 0.8).
//! - No statement changes either table once it is built. An error in one arm is validated (SOUNDNESS 5).

mod build;
mod case;
mod draw;
mod queries;
mod rewrite;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::dialect::{Dialect, Feature};
use crate::engine::Stop;
use crate::features::Features;
use crate::finding::{Arm, ArmOutcome, Class, Evidence, Verdict};
use crate::generate::{Generator, Named};
use crate::oracle::Oracle;
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::judge::{self, Equality};
use crate::session::Session;
use crate::sql::visit::{Editor, each_expr, edit_expr};
use crate::sql::{Expr, Query};
use crate::subject::{Proposal, Subject, TestCase};

use build::Built;
use case::Case;
pub(crate) use case::is_json;

/// See [the module](self).
pub struct Edc;

/// The stored table, its column that holds the result, and what else is made for it.
const STORED: &str = "stored0";
const RESULT: &str = "result0";
const SHAPE: &str = "shape0";
const INDEX: &str = "key0";

/// How the stored table comes to its types: by `CREATE TABLE … AS` unless they are inferred and declared.
const TYPES: &str = "types";
const INFERRED: &str = "inferred";
/// What the result is, where that explains a difference better than the operation that gave it.
const RESULT_IS: &str = "result";
const TEMPORAL: &str = "temporal";
/// Whether the stored column has an index.
const INDEXED: &str = "index";
/// The option that the stored table is created with.
const STORAGE: &str = "storage";

const RELATION: &str = "a query over an operation and one over its stored result return the same rows";

/// Whether a stored table can be declared with the types that the engine has for what it stores.
fn infers_types(dialect: &Dialect) -> bool {
    dialect.view_type.is_some() || dialect.can(Feature::DynamicTyping)
}

impl Oracle for Edc {
    fn name(&self) -> &'static str {
        "edc"
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows whether an operation is computed or read from a stored column"
    }

    fn suits(&self, dialect: &Dialect) -> bool {
        dialect.can(Feature::CreateTableAs) || infers_types(dialect)
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        draw::proposal(self.name(), generator)
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        static ALL: LazyLock<Vec<&dyn Named>> = LazyLock::new(|| [draw::CHOICES, queries::CHOICES].concat());
        &ALL
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let case = match Case::read(subject, session.database(), session.dialect()) {
            Ok(case) => case,
            Err(reason) => return Ok(Verdict::skip(reason)),
        };
        let built = match build::build(&case, subject, session)? {
            Ok(built) => built,
            Err(reason) => return Ok(Verdict::skip(reason)),
        };
        session.note("edc: table pairs");
        session
            .note_which("edc: combinations of an operation and types", case.combination(session.dialect()));
        let verdict = ask(&case, &built, subject, session)?;
        if !matches!(verdict, Verdict::Bug(_)) {
            build::drop_stored(session)?;
        }
        Ok(verdict)
    }

    fn complaint(&self, _: &TestCase) -> String {
        "depends on whether an operation is computed or stored".to_string()
    }

    /// How a point in time is compared does not depend on the operation that gave it, or on its operands.
    fn features(&self, case: &TestCase) -> BTreeSet<String> {
        let subject = &case.subject;
        let (Some(TEMPORAL), Some(operation)) = (subject.choice(RESULT_IS), subject.exprs.first()) else {
            return Features::default().of(case);
        };
        let mut tests = subject.tests.clone();
        tests.iter_mut().for_each(|test| Forget(operation).statement(test));
        let mut words = Features::default().of_setup(&case.setup);
        words.retain(|word| !word.starts_with("type-"));
        words.extend(Features::default().of_tests(&tests));
        words.insert("temporal-result".to_string());
        words
    }
}

/// Leaves an operation out, wherever it stands; its columns may be qualified or not.
struct Forget<'a>(&'a Expr);

impl Editor for Forget<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if case::strip(expr) == case::strip(self.0) {
            *expr = Expr::int(0);
        }
        edit_expr(self, expr);
    }
}

/// Verifies the pair of tables, then asks every query of both.
fn ask(case: &Case, built: &Built, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    match session.aside(|session| build::verify(case, session))? {
        Verdict::Pass { .. } => {}
        other => return Ok(told(other, built)),
    }
    let mut milder = None;
    let (mut compared, mut nonempty) = (0, false);
    let mut unasked = "no query ran on both tables";
    for query in subject.queries() {
        match compare(case, query, subject, session)? {
            Verdict::Pass { nonempty: rows } => {
                compared += 1;
                nonempty |= rows;
                session.note("edc: pairs compared");
            }
            Verdict::Skip(std::borrow::Cow::Borrowed(reason)) => {
                unasked = reason;
                session.note(match reason {
                    "all arms fail" => "edc: pairs where both fail",
                    reason if reason.starts_with("one arm") => "edc: pairs where one fails",
                    _ => "edc: pairs that are not applicable",
                });
            }
            // A query that loses rows says more than one that shows them differently.
            Verdict::Bug(evidence) if evidence.class == Class::Representation => {
                session.note("edc: pairs compared");
                milder.get_or_insert(evidence);
            }
            other => {
                session.note("edc: pairs compared");
                return Ok(told(other, built));
            }
        }
    }
    Ok(match milder {
        Some(evidence) => told(Verdict::Bug(evidence), built),
        None if compared == 0 => Verdict::skip(unasked),
        None => Verdict::Pass { nonempty },
    })
}

/// One query, of the base table and of the stored one.
fn compare(case: &Case, query: &Query, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let stored = match rewrite::rewrite(query, case) {
        Ok(stored) => stored,
        Err(reason) => return Ok(Verdict::skip(reason)),
    };
    let dialect = session.dialect();
    if case::marks_json(&case.operation, dialect) {
        let mut read = false;
        each_expr(&stored, |expr| read |= case::is_json(expr));
        if read {
            return Ok(Verdict::skip("JSON whose subtype is lost by storing it"));
        }
    }
    // The gate looks at this query, not at the others.
    let mut arms = Arms::new(RELATION);
    arms.ask("computed: the operation, over the base table", query, session)?;
    arms.ask("stored: its result, over the stored table", stored, session)?;
    if let Some(verdict) = arms.unanswered(&subject.about(query), session)? {
        return Ok(verdict);
    }
    let ambiguous = case.has_no_one_representative(query);
    // An integer that is wide by its type is narrow in a table, so set operators and functions that widen
    // come to another type of the same number.
    let widens = dialect.can(Feature::HiddenDigits);
    let equality = if case.deduplicates(query) || widens { Equality::Engine } else { Equality::Exact };
    let (computed, stored) = (arms.rows(0).clone(), arms.rows(1).clone());
    let Some(difference) = judge::compare(&computed, &stored, equality) else {
        return Ok(Verdict::pass(&computed));
    };
    if ambiguous {
        return Ok(Verdict::skip("equal values that are not identical"));
    }
    let mut verdict = arms.differ(difference, &subject.about(query), session)?;
    if let Verdict::Bug(evidence) = &mut verdict
        && evidence.class == Class::WrongValues
        && case.is_dual(query, dialect)
    {
        evidence.class = Class::Representation;
    }
    Ok(verdict)
}

/// The verdict with the statements that built the stored table before its arms.
fn told(verdict: Verdict, built: &Built) -> Verdict {
    let Verdict::Bug(mut evidence) = verdict else { return verdict };
    let steps = built.statements.iter().map(|sql| Arm {
        label: String::from("the stored table"),
        sql: sql.clone(),
        outcome: ArmOutcome::Done,
        plan: None,
    });
    let arms: Vec<Arm> = steps.chain(std::mem::take(&mut evidence.arms)).collect();
    Verdict::Bug(Box::new(Evidence { arms, ..*evidence }))
}
