//! LIMIT: a query with LIMIT and a total order returns the first rows of the same query without LIMIT.
//!
//! ```sql
//! SELECT c0, c1 FROM t0 WHERE c1 > 2 ORDER BY c0, c1;           -- all rows
//! SELECT c0, c1 FROM t0 WHERE c1 > 2 ORDER BY c0, c1 LIMIT 3;   -- a heap of three, or an index read until three are found
//! ```
//!
//! Engines do not sort to find the first rows: they use a heap, read an index until there are enough, or push limits
//! into joins and set operators.
//!
//! Conditions (SOUNDNESS 0.4 and 0.8): one SELECT of columns, each of which is a key of its ORDER BY, so rows that tie
//! are identical; equal values are identical, otherwise the last row may be either of two. No OFFSET; the limit is a
//! whole number.

use crate::engine::{Rows, Stop};
use crate::finding::{Evidence, Failure, Verdict};
use crate::generate::{Generator, Named, choices};
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::freedom;
use crate::oracle::kit::given::{Given, names_its_items};
use crate::oracle::kit::judge::{self, Equality};
use crate::oracle::{Expected, Oracle, answers};
use crate::session::Session;
use crate::sql::inspect::orders_every_column;
use crate::sql::*;
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    odds {
        FILTER = "limit.filter": 70,
        DISTINCT = "limit.distinct": 15,
        DESC = "limit.desc": 40,
    }
}

/// See [the module](self).
pub struct Limit;

const SHAPE: &str = "not a single SELECT with LIMIT and a total order";
/// Columns that are returned, and rows at most.
const MOST_COLUMNS: usize = 3;
const MOST_ROWS: usize = 5;
/// Not every table has a column whose equal values are identical: a few draws find one that has.
const DRAWS: usize = 4;

impl Oracle for Limit {
    fn name(&self) -> &'static str {
        "limit"
    }

    fn about(&self) -> &'static str {
        "a query with LIMIT returns the first rows of the same query without it"
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let (from, columns) = (0..DRAWS).find_map(|_| {
            generator.start_over();
            relations_and_columns(generator)
        })?;
        let filter = generator.odds(&FILTER).then(|| generator.filter(generator.policy.depth));
        let distinct = generator.odds(&DISTINCT);
        let items = columns.iter().cloned().map(SelectItem::from).collect();
        let mut query = generator.finish(Select { distinct, items, from, filter, ..Select::default() });
        for expr in columns {
            query.order_by.push(OrderItem { expr, desc: generator.odds(&DESC), nulls: None });
        }
        query.limit = Some(Expr::int(generator.rng.between(1, MOST_ROWS) as i64));
        Some(Subject::new(self.name(), query).into())
    }

    /// A query that is ordered by all it returns, with its own limit or with a few.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let query = given.query;
        let fits = query.as_select().is_some_and(names_its_items) && orders_every_column(query);
        if !fits || query.offset.is_some() {
            return Vec::new();
        }
        let limits = match &query.limit {
            Some(limit) => vec![limit.clone()],
            None => [1, 2, 10].map(Expr::int).to_vec(),
        };
        let limited = |limit| Query { limit: Some(limit), ..query.clone() };
        limits.into_iter().map(|limit| Subject::new(self.name(), limited(limit))).collect()
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let Some((first, count)) = subject.query().and_then(limited) else { return Ok(Verdict::skip(SHAPE)) };
        let all = Query { limit: None, ..first.clone() };
        let mut arms = Arms::new("a query with LIMIT returns the first rows of the same query without it");
        arms.ask("with LIMIT", first.clone(), session)?;
        arms.ask("all rows", all, session)?;
        if let Some(verdict) = arms.unanswered(subject, session)? {
            return Ok(verdict);
        }
        let all = arms.rows(1);
        let kept = (count * all.columns).min(all.values.len());
        let expected = Rows { columns: all.columns, values: all.values[..kept].to_vec() };
        let returned = arms.rows(0).clone();
        match arms.verdict(&returned, &expected, Equality::Exact, subject, session)? {
            Verdict::Bug(_) if is_open(first, session) => {
                Ok(Verdict::skip("equal values that are not identical"))
            }
            verdict => Ok(verdict),
        }
    }

    /// All rows are sorted; the first of them are found by shortcuts. But a row that is not among all of them speaks
    /// against either.
    fn expected(&self, evidence: &Evidence) -> Option<Expected> {
        let [(arm, first), (by, all)] = answers(evidence)[..] else { return None };
        if judge::intersect_all(first, all).len() < first.len() {
            return None;
        }
        let limit = match &evidence.failure {
            Failure::Rows { second, .. } => second.rows,
            _ => return None,
        };
        let values = all.iter().take(limit).flatten().cloned().collect();
        let why = "it is the same query without LIMIT, and returns other rows first";
        Some(Expected { arm, rows: Rows { columns: all.columns, values }, by, why })
    }

    fn complaint(&self, _: &TestCase) -> String {
        "differs from the first rows of the same query without it".to_string()
    }
}

/// A FROM and columns of it whose equal values are identical.
fn relations_and_columns(generator: &mut Generator) -> Option<(Vec<TableRef>, Vec<Expr>)> {
    let from = generator.from_clause(generator.policy.max_relations)?.tables;
    let mut columns: Vec<Expr> = Vec::new();
    for _ in 0..generator.rng.between(1, MOST_COLUMNS) {
        let column = generator.identical(|generator| generator.column(Kind::Any))?.expr;
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Some((from, columns))
}

/// The query and its limit, if the conditions hold.
fn limited(query: &Query) -> Option<(&Query, usize)> {
    let Some(Expr::Literal(Value::Int(count))) = &query.limit else { return None };
    let plain = query.as_select().is_some_and(names_its_items) && query.offset.is_none();
    (plain && orders_every_column(query)).then_some((query, usize::try_from(*count).ok()?))
}

/// Whether rows that tie at the cut may be either of two.
fn is_open(query: &Query, session: &Session) -> bool {
    freedom::left_open(query, session.database().state(), session.dialect()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::dialect::Dialect;
    use crate::import;

    fn query(sql: &str) -> Query {
        let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
        match import::statement(sql, 1, &dialect).statement {
            Statement::Query(query) => *query,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_a_limit_under_a_total_order_is_asked_about() {
        let wanted = |sql: &str| limited(&query(sql)).map(|(_, count)| count);
        assert_eq!(wanted("SELECT a, b FROM t ORDER BY b, a DESC LIMIT 3"), Some(3));
        assert_eq!(wanted("SELECT a, b FROM t ORDER BY a LIMIT 3"), None);
        assert_eq!(wanted("SELECT a FROM t ORDER BY a"), None);
        assert_eq!(wanted("SELECT a FROM t ORDER BY a LIMIT 3 OFFSET 1"), None);
        assert_eq!(wanted("SELECT * FROM t ORDER BY a LIMIT 3"), None);
        assert_eq!(wanted("SELECT a FROM t UNION SELECT b FROM t ORDER BY a LIMIT 3"), None);
    }

    #[test]
    fn a_given_query_keeps_its_own_limit_or_gets_some() {
        let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
        let database = Database::default();
        let adopted = |sql: &str| {
            let query = query(sql);
            Limit.adopt(&Given { query: &query, state: database.state(), dialect: &dialect }).len()
        };
        assert_eq!(adopted("SELECT a FROM t ORDER BY a"), 3);
        assert_eq!(adopted("SELECT a FROM t ORDER BY a LIMIT 7"), 1);
        assert_eq!(adopted("SELECT a FROM t"), 0);
    }
}
