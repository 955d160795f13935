//! NoREC: compares a predicate in WHERE, where the optimizer can use it, with the same predicate in the
//! select list, where it cannot (Rigger and Su, "Detecting Optimization Bugs in Database Engines via
//! Non-Optimizing Reference Engine Construction", 2020).
//!
//! ```sql
//! SELECT COUNT(*) FROM t0 WHERE t0.c0 > 3;          -- optimised
//! SELECT SUM(CASE WHEN (t0.c0 > 3) IS TRUE THEN 1 ELSE 0 END) FROM t0;   -- every row is looked at
//! ```
//!
//! Beyond the paper, the `rows` form compares the rows themselves and not only their number: the rows of
//! `SELECT x … WHERE p` are those of `SELECT x, p IS TRUE …` that are marked TRUE.
//!
//! Conditions (SOUNDNESS 1): one SELECT with a WHERE; no GROUP BY, HAVING, DISTINCT, set operator, window,
//! aggregate or LIMIT. Truth is asked with IS TRUE, never by a cast: 0.5 is true, CAST(0.5 AS INT) is 0.

pub mod restate;

use crate::engine::{Rows, Stop};
use crate::finding::{Class, Evidence, Failure, Verdict};
use crate::generate::{Generator, Named, choices};
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::gate::looks_beyond_its_row;
use crate::oracle::kit::given::{Given, asking, plain, selects_rows};
use crate::oracle::kit::judge::{Difference, Equality};
use crate::oracle::{Expected, Oracle, answers};
use crate::session::Session;
use crate::sql::visit::any_expr;
use crate::sql::*;
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    odds {
        /// Rows are compared, not their number.
        ROWS = "norec.rows": 40,
    }
}

/// See [the module](self).
pub struct NoRec;

const NAME: &str = "norec";

const FORM: &str = "form";

/// What is counted of predicates over relations of several rows.
pub const SELECTS_NONE: &str = "predicates that select no row";
/// See [`SELECTS_NONE`].
pub const SELECTS_SOME: &str = "predicates that select some rows";
/// See [`SELECTS_NONE`].
pub const SELECTS_ALL: &str = "predicates that select all rows";

impl Oracle for NoRec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "WHERE keeps exactly the rows for which the predicate is TRUE in the select list"
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let from = generator.from_clause(generator.policy.max_relations)?.tables;
        let rows_form = generator.odds(&ROWS);
        let items = if rows_form { generator.select_items(3) } else { vec![Expr::int(1)] };
        let filter = Some(generator.filter(generator.policy.depth));
        let items = items.into_iter().map(SelectItem::from).collect();
        let query = generator.finish(Select { items, from, filter, ..Select::default() });
        let form = if rows_form { "rows" } else { "count" };
        Some(Subject::new(self.name(), query).with_choice(FORM, form).into())
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let mut subjects = Vec::new();
        for query in given.selects() {
            let rows =
                query.as_select().is_some_and(|select| select.filter.is_some() && selects_rows(select));
            if rows {
                subjects.push(Subject::new(self.name(), query.clone()).with_choice(FORM, "rows"));
            }
            for predicate in given.predicates(&query) {
                let counted = asking(&query, |select| {
                    plain(select, vec![Expr::int(1).into()]);
                    select.filter = Some(predicate);
                });
                subjects.push(Subject::new(self.name(), counted).with_choice(FORM, "count"));
            }
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some(query) = subject.query().filter(|query| applies(query)) else {
            return Ok(Verdict::skip("not a single plain SELECT with WHERE"));
        };
        let mut reference = query.clone();
        let Some((select, predicate)) = reference.as_select_mut().and_then(|select| {
            let predicate = select.filter.take()?;
            Some((select, predicate))
        }) else {
            return Ok(Verdict::skip("not a single plain SELECT with WHERE"));
        };
        let marked = predicate.is(Truth::True);
        match subject.choice(FORM) {
            Some("rows") => {
                select.items.push(marked.into());
                compare_rows(query, reference, subject, session)
            }
            _ => {
                // As a number: not every dialect sums truth values.
                let one_or_none = Expr::Case {
                    operand: None,
                    branches: vec![Branch { when: marked, then: Expr::int(1) }],
                    otherwise: Some(Box::new(Expr::int(0))),
                };
                select.items = vec![Expr::aggregate("SUM", vec![one_or_none]).into()];
                let mut optimised = query.clone();
                if let Some(select) = optimised.as_select_mut() {
                    select.items = vec![Expr::count_rows().into()];
                }
                compare_counts(optimised, reference, subject, session)
            }
        }
    }

    /// The reference evaluates the predicate row by row, and nothing is optimised away.
    fn expected(&self, evidence: &Evidence) -> Option<Expected> {
        let [(arm, kept), (by, reference)] = answers(evidence)[..] else { return None };
        // Counted, or each row with a mark.
        let rows = if kept.columns == reference.columns { reference.clone() } else { marked_rows(reference) };
        let why = "it evaluates the same predicate for every row, in the select list, where nothing is optimised away";
        Some(Expected { arm, rows, by, why })
    }

    fn complaint(&self, _: &TestCase) -> String {
        "depends on whether the predicate stands in WHERE or in the select list".to_string()
    }
}

/// The rows whose last column, the mark, is true; without it.
fn marked_rows(all: &Rows) -> Rows {
    let columns = all.columns.saturating_sub(1);
    let marked = all.iter().filter(|row| row.last().and_then(Value::as_int) == Some(1));
    Rows { columns, values: marked.flat_map(|row| row[..columns].iter().cloned()).collect() }
}

/// Whether the conditions hold.
fn applies(query: &Query) -> bool {
    let Some(select) = query.as_select() else { return false };
    let plain = !select.distinct
        && select.group_by.is_empty()
        && select.having.is_none()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.order_by.is_empty()
        && select.items.iter().all(|item| match item {
            SelectItem::Expr { expr, .. } => !looks_beyond_its_row(expr),
            _ => true,
        });
    select.filter.as_ref().is_some_and(|predicate| {
        // Some engines know the names of items in WHERE; in the select list they are other columns, or text.
        let names_items = any_expr(predicate, |expr| names_item(expr, &select.items));
        plain && !names_items && !looks_beyond_its_row(predicate)
    })
}

fn names_item(expr: &Expr, items: &[SelectItem]) -> bool {
    let Expr::Column(ColumnRef { table: None, column }) = expr else { return false };
    let named = |alias: &Name| alias.eq_ignore_ascii_case(column);
    items.iter().any(|item| matches!(item, SelectItem::Expr { alias: Some(alias), .. } if named(alias)))
}

fn compare_counts(
    optimised: Query,
    reference: Query,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let mut arms = Arms::new("WHERE keeps as many rows as make the predicate TRUE");
    arms.ask("the predicate in WHERE", optimised, session)?;
    arms.ask("the predicate evaluated for every row, and counted", reference, session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    // A sum over no rows is NULL.
    let number = |rows: &Rows| match rows.single() {
        Some(Value::Null) => Some(0),
        Some(value) => value.as_int(),
        None => None,
    };
    let (Some(kept), Some(marked)) = (number(arms.rows(0)), number(arms.rows(1))) else {
        return Ok(Verdict::skip("an arm did not return a number"));
    };
    if kept == marked {
        return Ok(Verdict::Pass { nonempty: kept > 0 });
    }
    let failure = Failure::Counts { first: kept, second: marked };
    arms.differ(Difference::new(Class::WrongRows, failure), subject, session)
}

fn compare_rows(
    optimised: &Query,
    reference: Query,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let mut arms = Arms::new("WHERE keeps exactly the rows that make the predicate TRUE");
    arms.ask("the predicate in WHERE", optimised, session)?;
    arms.ask("every row, and whether the predicate is true of it", reference, session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    let all = arms.rows(1);
    let expected = marked_rows(all);
    // How well the generator knows the data: it should select some rows, not none and not all.
    // A single row cannot be divided.
    if all.len() > 1 {
        session.note(match expected.len() {
            0 => SELECTS_NONE,
            some if some == all.len() => SELECTS_ALL,
            _ => SELECTS_SOME,
        });
    }
    arms.verdict_on(0, &expected, Equality::Exact, subject, session)
}
