//! ORDER: a query with a total order returns its rows in that order, however they are found.
//!
//! ```sql
//! SELECT c0, c1 FROM t0 WHERE c1 > 2 ORDER BY c0, c1;                    -- all rows, sorted
//! SELECT c0, c1 FROM t0 WHERE c1 > 2 ORDER BY c0, c1 LIMIT 3 OFFSET 1;   -- a heap, or an index read until there are enough
//! SELECT c0, c1 FROM t0 WHERE c1 > 2 ORDER BY c0 DESC, c1 DESC;          -- the same rows, backwards
//! SELECT MIN(c0) FROM t0 WHERE c1 > 2;                                   -- the first c0
//! ```
//!
//! Engines do not sort to find the first rows: they use a heap, read an index until there are enough, or push limits
//! into joins and set operators. A subject names one of these forms (the code is in `forms`):
//!
//! | form | compared with the query |
//! | --- | --- |
//! | `limit` | the rows that LIMIT and OFFSET cut out of all rows |
//! | `row-number` | the rows whose ROW_NUMBER() is within LIMIT and OFFSET |
//! | `reversed` | the same query in the opposite order |
//! | `unordered` | the same query without ORDER BY, as a multiset |
//! | `places` | for each row, how many rows are smaller by `<`: that never falls from row to row |
//! | `ends` | MIN is the first of the ordered values and MAX the last; on SQLite a column beside them is of that row |
//! | `beyond` | nothing is smaller than MIN or larger than MAX |
//!
//! Conditions (SOUNDNESS 7.3): one SELECT of expressions, each of which is a key of its ORDER BY, so rows that tie are
//! identical (0.4); equal values are identical, otherwise either of two may come first (0.8). Limits are whole numbers.

mod forms;

use crate::dialect::{Dialect, Feature};
use crate::engine::{Rows, Stop};
use crate::finding::{Evidence, Failure, Verdict};
use crate::generate::{Generator, Named, choices};
use crate::oracle::kit::given::{Given, asking, names_its_items, selects_rows};
use crate::oracle::kit::judge;
use crate::oracle::{Expected, Oracle, answers};
use crate::session::Session;
use crate::sql::inspect::orders_every_column;
use crate::sql::*;
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    odds {
        FILTER = "order.filter": 70,
        DISTINCT = "order.distinct": 15,
        DESC = "order.desc": 40,
        NULLS = "order.nulls": 15,
        OFFSET = "order.offset": 35,
        /// A key that is not returned, and may be any column.
        OTHER_KEY = "order.other-key": 25,
        MAX = "order.max": 50,
        /// A column beside MIN or MAX.
        BESIDE = "order.beside": 30,
    }
    choose {
        NULLS_ORDER: NullsOrder = "order.nulls.order" { First: 1, Last: 1 },
        FORM: Form = "order.form" {
            Limit: 30,
            RowNumber: 15,
            Reversed: 15,
            Unordered: 10,
            Places: 10,
            Ends: 15,
            Beyond: 5,
        },
    }
}

/// See [the module](self).
pub struct Order;

/// What the query is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Limit,
    RowNumber,
    Reversed,
    Unordered,
    Places,
    Ends,
    Beyond,
}

impl Form {
    const ALL: [Form; 7] = [
        Form::Limit,
        Form::RowNumber,
        Form::Reversed,
        Form::Unordered,
        Form::Places,
        Form::Ends,
        Form::Beyond,
    ];

    fn name(self) -> &'static str {
        match self {
            Form::Limit => "limit",
            Form::RowNumber => "row-number",
            Form::Reversed => "reversed",
            Form::Unordered => "unordered",
            Form::Places => "places",
            Form::Ends => "ends",
            Form::Beyond => "beyond",
        }
    }

    /// The form that a subject names.
    fn of(subject: &Subject) -> Option<Form> {
        let name = subject.choice(FORM_CHOICE)?;
        Form::ALL.into_iter().find(|form| form.name() == name)
    }

    /// Asks about MIN or MAX, not about ORDER BY.
    fn is_about_ends(self) -> bool {
        matches!(self, Form::Ends | Form::Beyond)
    }

    fn suits(self, dialect: &Dialect) -> bool {
        match self {
            Form::RowNumber => dialect.can(Feature::WindowFunctions),
            Form::Places => dialect.can(Feature::CorrelatedIn),
            _ => true,
        }
    }
}

const FORM_CHOICE: &str = "form";
/// Columns that are returned, and rows at most.
const MOST_COLUMNS: usize = 3;
const MOST_ROWS: usize = 5;
/// Not every table has a column whose equal values are identical: a few draws find one that has.
const DRAWS: usize = 4;
/// Limits that a query without one is given: LIMIT and OFFSET.
const LIMITS: [(i64, Option<i64>); 3] = [(1, None), (2, Some(1)), (10, None)];

impl Oracle for Order {
    fn name(&self) -> &'static str {
        "order"
    }

    fn about(&self) -> &'static str {
        "rows come in the order that ORDER BY asks for, LIMIT returns the first of them, and MIN and MAX are the two ends"
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let dialect = generator.dialect;
        let form = generator.choose_where(&FORM, |form| form.suits(dialect));
        let query = match form.is_about_ends() {
            true => end(form, generator)?,
            false => ordered(form, generator)?,
        };
        Some(subject(form, query).into())
    }

    /// An ordered query in every form; a query of rows ordered by all that it returns; MIN and MAX by their ends.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let mut subjects = Vec::new();
        let fits =
            |query: &Query| query.as_select().is_some_and(names_its_items) && orders_every_column(query);
        if fits(given.query) {
            subjects.extend(in_every_form(given.query, given.dialect));
        }
        for query in given.selects() {
            let Some(select) = query.as_select() else { continue };
            for form in [Form::Ends, Form::Beyond] {
                subjects.extend(forms::extreme(&query).map(|_| subject(form, query.clone())));
            }
            let ordered =
                given.query.order_by.is_empty().then(|| in_order_of_items(&query, select)).flatten();
            subjects.extend(ordered.iter().flat_map(|query| in_every_form(query, given.dialect)));
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let (Some(query), Some(form)) = (subject.query(), Form::of(subject)) else {
            return Ok(Verdict::skip(forms::SHAPE));
        };
        let has_total_order = names_items(query) && orders_every_column(query);
        if !form.is_about_ends() && !has_total_order {
            return Ok(Verdict::skip(forms::SHAPE));
        }
        match form {
            Form::Limit => forms::limit(query, subject, session),
            Form::RowNumber => forms::row_number(query, subject, session),
            Form::Reversed => forms::reversed(query, subject, session),
            Form::Unordered => forms::unordered(query, subject, session),
            Form::Places => forms::places(query, subject, session),
            Form::Ends => forms::ends(query, subject, session),
            Form::Beyond => forms::beyond(query, subject, session),
        }
    }

    /// All rows are sorted; the first of them are found by shortcuts. But a row that is not among all of them speaks
    /// against either.
    fn expected(&self, evidence: &Evidence) -> Option<Expected> {
        let [(arm, first), (by, all)] = answers(evidence)[..] else { return None };
        if evidence.relation != forms::LIMIT || judge::intersect_all(first, all).len() < first.len() {
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

    fn complaint(&self, case: &TestCase) -> String {
        match Form::of(&case.subject) {
            Some(Form::Limit) => "differs from the first rows of the same query without it",
            Some(Form::RowNumber) => "differs from the rows that ROW_NUMBER counts first",
            Some(Form::Reversed) => "differs in the opposite order",
            Some(Form::Unordered) => "depends on ORDER BY",
            Some(Form::Places) => "is not in the order of its values",
            Some(Form::Ends | Form::Beyond) => "is not the end of the ordered values",
            None => "depends on the order of rows",
        }
        .to_string()
    }
}

fn subject(form: Form, query: Query) -> Subject {
    Subject::new(Order.name(), query).with_choice(FORM_CHOICE, form.name())
}

fn names_items(query: &Query) -> bool {
    query.as_select().is_some_and(names_its_items)
}

/// A FROM and columns of it whose equal values are identical.
fn relations_and_columns(generator: &mut Generator, relations: usize) -> Option<(Vec<TableRef>, Vec<Expr>)> {
    let from = generator.from_clause(relations)?.tables;
    let mut columns: Vec<Expr> = Vec::new();
    for _ in 0..generator.rng.between(1, MOST_COLUMNS) {
        let column = generator.identical(|generator| generator.column(Kind::Any))?.expr;
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Some((from, columns))
}

/// A query that is ordered by all that it returns.
fn ordered(form: Form, generator: &mut Generator) -> Option<Query> {
    // How many are smaller is counted anew for each row: a join would take long.
    let relations = if form == Form::Places { 1 } else { generator.policy.max_relations };
    let (from, columns) = (0..DRAWS).find_map(|_| {
        generator.start_over();
        relations_and_columns(generator, relations)
    })?;
    let filter = generator.odds(&FILTER).then(|| generator.filter(generator.policy.depth));
    let distinct = form != Form::RowNumber && generator.odds(&DISTINCT);
    let mut keys = columns.clone();
    if !distinct && generator.odds(&OTHER_KEY) {
        keys.splice(0..0, generator.column(Kind::Any).map(|column| column.expr));
    }
    let items = columns.into_iter().map(SelectItem::from).collect();
    let mut query = generator.finish(Select { distinct, items, from, filter, ..Select::default() });
    for expr in keys {
        let said = generator.dialect.can(Feature::NullsOrder) && generator.odds(&NULLS);
        let nulls = said.then(|| generator.choose(&NULLS_ORDER));
        query.order_by.push(OrderItem { expr, desc: generator.odds(&DESC), nulls });
    }
    if matches!(form, Form::Limit | Form::RowNumber) {
        query.limit = Some(Expr::int(generator.rng.between(1, MOST_ROWS) as i64));
        query.offset = generator.odds(&OFFSET).then(|| Expr::int(generator.rng.between(1, MOST_ROWS) as i64));
    }
    Some(query)
}

/// MIN or MAX of a column.
fn end(form: Form, generator: &mut Generator) -> Option<Query> {
    let (from, columns) = (0..DRAWS).find_map(|_| {
        generator.start_over();
        relations_and_columns(generator, generator.policy.max_relations)
    })?;
    let filter = generator.odds(&FILTER).then(|| generator.filter(generator.policy.depth));
    let name = if generator.odds(&MAX) { "MAX" } else { "MIN" };
    let mut items = vec![SelectItem::from(Expr::aggregate(name, vec![columns[0].clone()]))];
    if form == Form::Ends && generator.dialect.can(Feature::RowOfExtreme) && generator.odds(&BESIDE) {
        items.extend(columns.into_iter().skip(1).map(SelectItem::from));
    }
    Some(generator.finish(Select { items, from, filter, ..Select::default() }))
}

/// Rows, ordered by all that is returned.
fn in_order_of_items(query: &Query, select: &Select) -> Option<Query> {
    let is_column = |item: &SelectItem| matches!(item, SelectItem::Expr { expr: Expr::Column(_), .. });
    if !selects_rows(&asking(query, |select| select.distinct = false).as_select()?.clone())
        || !select.items.iter().all(is_column)
    {
        return None;
    }
    let key = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => Some(OrderItem { expr: expr.clone(), desc: false, nulls: None }),
        _ => None,
    };
    let order_by = select.items.iter().filter_map(key).collect();
    Some(Query { order_by, limit: None, offset: None, locking: None, ..query.clone() })
}

/// An ordered query with its own limit or with a few, and without one.
fn in_every_form(query: &Query, dialect: &Dialect) -> Vec<Subject> {
    let limited: Vec<Query> = match &query.limit {
        Some(_) => vec![query.clone()],
        None => LIMITS
            .map(|(limit, offset)| Query {
                limit: Some(Expr::int(limit)),
                offset: offset.map(Expr::int),
                ..query.clone()
            })
            .to_vec(),
    };
    let all = Query { limit: None, offset: None, ..query.clone() };
    let mut subjects = Vec::new();
    for form in Form::ALL.into_iter().filter(|form| form.suits(dialect)) {
        match form {
            Form::Limit | Form::RowNumber => {
                subjects.extend(limited.iter().cloned().map(|query| subject(form, query)));
            }
            Form::Reversed | Form::Unordered | Form::Places => subjects.push(subject(form, all.clone())),
            Form::Ends | Form::Beyond => {}
        }
    }
    subjects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::import;

    fn query(sql: &str) -> Query {
        let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
        match import::statement(sql, 1, &dialect).statement {
            Statement::Query(query) => *query,
            other => panic!("{other:?}"),
        }
    }

    fn adopted(sql: &str) -> Vec<String> {
        let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
        let database = Database::default();
        let query = query(sql);
        let subjects = Order.adopt(&Given { query: &query, state: database.state(), dialect: &dialect });
        subjects.iter().filter_map(|subject| subject.choice(FORM_CHOICE)).map(str::to_string).collect()
    }

    #[test]
    fn a_given_query_keeps_its_own_limit_or_gets_some() {
        let count = |sql: &str, form: &str| adopted(sql).iter().filter(|name| *name == form).count();
        assert_eq!(count("SELECT a FROM t ORDER BY a", "limit"), 3);
        assert_eq!(count("SELECT a FROM t ORDER BY a LIMIT 7", "limit"), 1);
        assert_eq!(count("SELECT a FROM t ORDER BY a LIMIT 7", "reversed"), 1);
    }

    #[test]
    fn rows_are_ordered_by_all_that_is_returned_and_extremes_compared_with_the_ends() {
        assert!(adopted("SELECT a, b FROM t WHERE a > 1").contains(&"row-number".to_string()));
        assert_eq!(adopted("SELECT MIN(a) FROM t"), ["ends", "beyond"]);
        assert!(adopted("SELECT a + 1 FROM t").is_empty());
        assert!(adopted("SELECT COUNT(*) FROM t").is_empty());
        assert!(adopted("SELECT * FROM t").is_empty());
    }
}
