//! The forms in which an order is checked: each runs the query and a second one, and compares them.

use crate::dialect::Feature;
use crate::engine::{Rows, Stop};
use crate::finding::{Class, Failure, Verdict};
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::given::asking;
use crate::oracle::kit::judge::{self, Difference, Equality};
use crate::oracle::kit::{freedom, gate};
use crate::session::Session;
use crate::sql::compare::compare_values;
use crate::sql::*;
use crate::subject::Subject;

pub const SHAPE: &str = "not a single SELECT with a total order";
const LIMITLESS: &str = "no whole number of rows in LIMIT";
const NOT_AN_END: &str = "not a single MIN or MAX";
const NOT_A_COLUMN: &str = "first key is not a column that compares as it is sorted";
const OPEN: &str = "equal values that are not identical";

pub const LIMIT: &str = "LIMIT and OFFSET cut the rows out of all rows of the same query";
const ROW_NUMBER: &str = "LIMIT and OFFSET return the rows that ROW_NUMBER counts to them";
const REVERSED: &str = "the opposite order returns the same rows backwards";
const UNORDERED: &str = "ORDER BY changes nothing but the order of rows";
const PLACES: &str = "a row never comes before a smaller one";
const ENDS: &str = "MIN is the first and MAX the last of the ordered values";
const BESIDE: &str = "a column beside MIN or MAX is of a row that was read";
const BEYOND: &str = "no value is smaller than MIN or larger than MAX";

/// The relations of the arms that are added, and their columns.
const NUMBERED: &str = "numbered";
const PLACE: &str = "place";
const SMALLER: &str = "smaller";

/// The number of rows that LIMIT and OFFSET name; OFFSET may be absent.
fn cut(query: &Query) -> Option<(usize, usize)> {
    let number = |expr: &Expr| match expr {
        Expr::Literal(Value::Int(count)) => usize::try_from(*count).ok(),
        _ => None,
    };
    let offset = query.offset.as_ref().map_or(Some(0), number)?;
    Some((offset, number(query.limit.as_ref()?)?))
}

fn uncut(query: &Query) -> Query {
    Query { limit: None, offset: None, ..query.clone() }
}

/// With LIMIT against all rows.
pub fn limit(query: &Query, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let Some((offset, limit)) = cut(query) else { return Ok(Verdict::skip(LIMITLESS)) };
    let mut arms = Arms::new(LIMIT);
    arms.ask("with LIMIT", query, session)?;
    arms.ask("all rows", uncut(query), session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    let all = arms.rows(1);
    let values = all.iter().skip(offset).take(limit).flatten().cloned().collect();
    let expected = Rows { columns: all.columns, values };
    let returned = arms.rows(0).clone();
    in_order(arms, &returned, &expected, query, subject, session)
}

/// With LIMIT against a condition on ROW_NUMBER.
pub fn row_number(query: &Query, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let Some((offset, limit)) = cut(query) else { return Ok(Verdict::skip(LIMITLESS)) };
    let Some(numbered) = numbered(query, offset, limit) else { return Ok(Verdict::skip(SHAPE)) };
    let mut arms = Arms::new(ROW_NUMBER);
    arms.ask("with LIMIT", query, session)?;
    arms.ask("by ROW_NUMBER", numbered, session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    let (cut, numbered) = (arms.rows(0).clone(), arms.rows(1).clone());
    let verdict = arms.verdict(&cut, &numbered, Equality::Engine, subject, session)?;
    Ok(settled(verdict, query, session))
}

/// `SELECT c0 FROM (SELECT items, ROW_NUMBER() OVER (ORDER BY keys) AS place …) AS numbered WHERE place …`.
fn numbered(query: &Query, offset: usize, limit: usize) -> Option<Query> {
    // DISTINCT would count rows before they are merged.
    let mut select = query.as_select().filter(|select| !select.distinct)?.clone();
    // Inside OVER a number does not mean a position, nor a name an alias.
    let is_alias = |key: &Expr| inspect::names_alias(key, &select.items);
    if query.order_by.iter().any(|key| matches!(key.expr, Expr::Literal(_)) || is_alias(&key.expr)) {
        return None;
    }
    let name = |at: usize| Name::from(format!("c{at}"));
    for (at, item) in select.items.iter_mut().enumerate() {
        if let SelectItem::Expr { alias, .. } = item {
            *alias = Some(name(at));
        }
    }
    let items = (0..select.items.len()).map(|at| Expr::column(NUMBERED, name(at)).into()).collect();
    let spec = WindowSpec { order_by: query.order_by.clone(), ..WindowSpec::default() };
    let function = Aggregate::new("ROW_NUMBER", Vec::new());
    let window = Expr::Window(Box::new(Window { function, over: Over::Spec(spec) }));
    select.items.push(SelectItem::Expr { expr: window, alias: Some(PLACE.into()) });
    let rows = TableRef::Derived {
        query: Box::new(Query::select(select)),
        alias: NUMBERED.into(),
        columns: Vec::new(),
        lateral: false,
    };
    let bound = |op, bound: usize| {
        Expr::binary(op, Expr::column(NUMBERED, PLACE), Expr::int(i64::try_from(bound).unwrap_or(i64::MAX)))
    };
    let filter = bound(BinaryOp::Gt, offset).and(bound(BinaryOp::Le, offset.saturating_add(limit)));
    let outer = Select { items, from: vec![rows], filter: Some(filter), ..Select::default() };
    Some(Query { with: query.with.clone(), ..Query::select(outer) })
}

/// One order against the opposite.
pub fn reversed(query: &Query, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let mut forward = uncut(query);
    let mut backward = forward.clone();
    // Where NULLs do not change sides with the others, their side has to be said.
    let said = session.dialect().can(Feature::NullsStay);
    for (key, opposite) in forward.order_by.iter_mut().zip(&mut backward.order_by) {
        if said && key.nulls.is_none() {
            key.nulls = Some(NullsOrder::Last);
        }
        opposite.desc = !key.desc;
        opposite.nulls = key.nulls.map(|nulls| match nulls {
            NullsOrder::First => NullsOrder::Last,
            NullsOrder::Last => NullsOrder::First,
        });
    }
    let mut arms = Arms::new(REVERSED);
    arms.ask("in order", forward, session)?;
    arms.ask("in the opposite order", backward, session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    let returned = arms.rows(0).clone();
    let backward: Vec<&[Value]> = arms.rows(1).iter().collect();
    let values = backward.into_iter().rev().flatten().cloned().collect();
    let expected = Rows { columns: returned.columns, values };
    in_order(arms, &returned, &expected, query, subject, session)
}

/// Ordered against not ordered, as multisets.
pub fn unordered(query: &Query, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let ordered = uncut(query);
    let unordered = Query { order_by: Vec::new(), ..ordered.clone() };
    let mut arms = Arms::new(UNORDERED);
    arms.ask("ordered", ordered, session)?;
    arms.ask("not ordered", unordered, session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    let (ordered, unordered) = (arms.rows(0).clone(), arms.rows(1).clone());
    let equality = if gate::deduplicates(query, false) { Equality::Engine } else { Equality::Exact };
    let verdict = arms.verdict(&ordered, &unordered, equality, subject, session)?;
    Ok(settled(verdict, query, session))
}

/// The first key, each value with the number of smaller ones as `<` sees them.
pub fn places(query: &Query, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let Some(select) = query.as_select() else { return Ok(Verdict::skip(SHAPE)) };
    let Some(key) = query.order_by.first().filter(|key| compares_as_sorted(key, query, session)) else {
        return Ok(Verdict::skip(NOT_A_COLUMN));
    };
    let there = key.expr.clone().is_not(Truth::Null);
    let filter = select.filter.clone().map_or(there.clone(), |filter| filter.and(there));
    let item = SelectItem::Expr { expr: key.expr.clone(), alias: Some("c0".into()) };
    let values = |alias: &str| TableRef::Derived {
        query: Box::new(Query::select(Select {
            distinct: false,
            items: vec![item.clone()],
            filter: Some(filter.clone()),
            ..select.clone()
        })),
        alias: alias.into(),
        columns: Vec::new(),
        lateral: false,
    };
    let own = Expr::column(PLACE, "c0");
    let smaller = Select {
        items: vec![Expr::count_rows().into()],
        from: vec![values(SMALLER)],
        filter: Some(Expr::binary(BinaryOp::Lt, Expr::column(SMALLER, "c0"), own.clone())),
        ..Select::default()
    };
    let place = Expr::Subquery(Box::new(Query::select(smaller)));
    let outer = Select {
        items: vec![own.clone().into(), place.into()],
        from: vec![values(PLACE)],
        ..Select::default()
    };
    let order_by = vec![OrderItem { expr: own, desc: key.desc, nulls: None }];
    let counted = Query { with: query.with.clone(), order_by, ..Query::select(outer) };
    let mut arms = Arms::new(PLACES);
    arms.ask("each value with the number of smaller ones", counted, session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    let returned = arms.rows(0).clone();
    let mut sorted: Vec<&[Value]> = returned.iter().collect();
    sorted.sort_by(|a, b| match key.desc {
        true => compare_values(&b[1], &a[1]),
        false => compare_values(&a[1], &b[1]),
    });
    let values = sorted.into_iter().flatten().cloned().collect();
    let expected = Rows { columns: returned.columns, values };
    match first_out_of_order(&returned, &expected) {
        Some(difference) => arms.differ(difference, subject, session),
        None => Ok(Verdict::pass(&returned)),
    }
}

/// A column that `<` compares as ORDER BY does. NaN is beyond all numbers in one and beside them in the other on some
/// engines; where texts fold, so do ENUM and BIT, which are sorted as numbers.
fn compares_as_sorted(key: &OrderItem, query: &Query, session: &Session) -> bool {
    let Expr::Column(reference) = &key.expr else { return false };
    let dialect = session.dialect();
    if dialect.can(Feature::DynamicTyping) {
        return true;
    }
    let mut relations = Vec::new();
    for table in query.as_select().into_iter().flat_map(|select| &select.from) {
        session.database().state().relations_of(table, query.with.as_ref(), dialect, &mut relations);
    }
    let owner = |alias: &Name| reference.table.as_ref().is_none_or(|table| table == alias);
    let named = relations.iter().filter(|(alias, _)| owner(alias)).flat_map(|(_, columns)| columns.iter());
    let mut named = named.filter(|column| column.name == reference.column);
    named.next().is_some_and(|column| {
        column.ty.kind != Kind::Real && (column.identity || !dialect.can(Feature::FoldedText))
    })
}

/// What a query of one MIN or MAX is about.
pub struct Extreme {
    /// The place of the aggregate in the list.
    at: usize,
    /// What it is the smallest or largest of.
    of: Expr,
    /// It is the largest.
    max: bool,
    /// Other columns stand beside it.
    beside: bool,
}

/// The only aggregate of a query without groups, if that is MIN or MAX of a column.
pub fn extreme(query: &Query) -> Option<Extreme> {
    let select = query.as_select().filter(|select| {
        select.group_by.is_empty() && select.having.is_none() && !select.distinct && select.windows.is_empty()
    })?;
    if query.limit.is_some() || query.offset.is_some() || !query.order_by.is_empty() {
        return None;
    }
    let mut found = None;
    for (at, item) in select.items.iter().enumerate() {
        match item {
            SelectItem::Expr { expr: Expr::Aggregate(aggregate), .. } if found.is_none() => {
                let max = aggregate.name.eq_ignore_ascii_case("MAX");
                let plain = aggregate.filter.is_none() && aggregate.order_by.is_empty();
                let [of @ Expr::Column(_)] = &aggregate.args[..] else { return None };
                if !plain || !(max || aggregate.name.eq_ignore_ascii_case("MIN")) {
                    return None;
                }
                found = Some(Extreme { at, of: of.clone(), max, beside: select.items.len() > 1 });
            }
            SelectItem::Expr { expr: Expr::Column(_), .. } => {}
            _ => return None,
        }
    }
    found
}

impl Extreme {
    /// `SELECT x … WHERE x IS NOT NULL ORDER BY x`.
    fn ordered(&self, query: &Query) -> Query {
        let mut ordered = asking(query, |select| {
            let there = self.of.clone().is_not(Truth::Null);
            select.items = vec![self.of.clone().into()];
            select.filter = Some(match select.filter.take() {
                Some(filter) => filter.and(there),
                None => there,
            });
        });
        ordered.order_by = vec![OrderItem { expr: self.of.clone(), desc: self.max, nulls: None }];
        ordered
    }
}

/// MIN or MAX against the first of the ordered values; a column beside it against the rows.
pub fn ends(query: &Query, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let Some(extreme) = extreme(query) else { return Ok(Verdict::skip(NOT_AN_END)) };
    if extreme.beside {
        return beside(&extreme, query, subject, session);
    }
    let mut arms = Arms::new(ENDS);
    let ordered = extreme.ordered(query);
    arms.ask(if extreme.max { "MAX" } else { "MIN" }, query, session)?;
    arms.ask("the values in order", &ordered, session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    let returned = arms.rows(0).clone();
    let first = arms.rows(1).values.first().cloned().unwrap_or(Value::Null);
    let expected = Rows { columns: 1, values: vec![first] };
    let verdict = arms.verdict(&returned, &expected, Equality::Engine, subject, session)?;
    Ok(settled(verdict, &ordered, session))
}

/// The columns beside MIN or MAX are those of a row that has it: SQLite says so of its bare columns.
fn beside(
    extreme: &Extreme,
    query: &Query,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    if !session.dialect().can(Feature::RowOfExtreme) {
        return Ok(Verdict::skip("bare column next to an aggregate"));
    }
    let rows = asking(query, |select| select.items[extreme.at] = extreme.of.clone().into());
    let mut arms = Arms::new(BESIDE);
    arms.ask("MIN or MAX and what is beside it", query, session)?;
    arms.ask("all rows", &rows, session)?;
    // The gate would refuse the columns beside MIN.
    let about_rows = subject.about(&rows);
    if let Some(verdict) = arms.unanswered(&about_rows, session)? {
        return Ok(verdict);
    }
    let (returned, all) = (arms.rows(0).clone(), arms.rows(1).clone());
    if all.is_empty() || judge::intersect_all(&returned, &all).len() == returned.len() {
        return Ok(Verdict::pass(&all));
    }
    let row = returned.iter().next().map(<[Value]>::to_vec).unwrap_or_default();
    let failure = Failure::Unpaired { in_first: true, row, first: returned.len(), second: all.len() };
    arms.differ(Difference::new(Class::WrongValues, failure), &about_rows, session)
}

/// No value beyond MIN or MAX, as the engine compares: also where equal values are not identical.
pub fn beyond(query: &Query, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let Some(extreme) = extreme(query).filter(|extreme| !extreme.beside) else {
        return Ok(Verdict::skip(NOT_AN_END));
    };
    let key = OrderItem { expr: extreme.of.clone(), desc: false, nulls: None };
    if !compares_as_sorted(&key, query, session) {
        return Ok(Verdict::skip(NOT_A_COLUMN));
    }
    let op = if extreme.max { BinaryOp::Gt } else { BinaryOp::Lt };
    let end = Query { with: None, ..query.clone() };
    let outside = Expr::binary(op, extreme.of.clone(), Expr::Subquery(Box::new(end)));
    let outside = asking(query, |select| {
        select.items = vec![extreme.of.clone().into()];
        select.filter = Some(match select.filter.take() {
            Some(filter) => filter.and(outside),
            None => outside,
        });
    });
    let mut arms = Arms::new(BEYOND);
    arms.ask(if extreme.max { "MAX" } else { "MIN" }, query, session)?;
    arms.ask("values beyond it", outside, session)?;
    if let Some(verdict) = arms.unanswered(subject, session)? {
        return Ok(verdict);
    }
    let beyond = arms.rows(1).clone();
    let none = Rows { columns: beyond.columns, values: Vec::new() };
    match arms.verdict(&beyond, &none, Equality::Engine, subject, session)? {
        Verdict::Pass { .. } => Ok(Verdict::Pass { nonempty: true }),
        verdict => Ok(verdict),
    }
}

/// Two results that should be the same rows in the same order.
fn in_order(
    mut arms: Arms,
    returned: &Rows,
    expected: &Rows,
    query: &Query,
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    // Of two values that tie, 1 and 1.0, either may be cut off.
    let difference = judge::compare(returned, expected, Equality::Engine);
    let Some(difference) = difference.or_else(|| first_out_of_order(returned, expected)) else {
        return Ok(Verdict::Pass { nonempty: !returned.is_empty() || !expected.is_empty() });
    };
    let verdict = arms.differ(difference, subject, session)?;
    Ok(settled(verdict, query, session))
}

/// The first place at which two results of the same rows differ.
fn first_out_of_order(returned: &Rows, expected: &Rows) -> Option<Difference> {
    let same = |a: &[Value], b: &[Value]| {
        a.iter().zip(b).all(|(a, b)| compare_values(a, b) == std::cmp::Ordering::Equal)
    };
    let at = returned.iter().zip(expected.iter()).position(|(a, b)| !same(a, b))?;
    let row = |rows: &Rows| rows.iter().nth(at).map(<[Value]>::to_vec).unwrap_or_default();
    let failure = Failure::Order { place: at + 1, returned: row(returned), expected: row(expected) };
    Some(Difference::new(Class::WrongValues, failure))
}

/// Not a bug if rows that tie may be either of two.
fn settled(verdict: Verdict, query: &Query, session: &Session) -> Verdict {
    let cut = Query { limit: Some(Expr::int(1)), ..query.clone() };
    let open = || freedom::left_open(&cut, session.database().state(), session.dialect()).is_some();
    match verdict {
        Verdict::Bug(_) if open() => Verdict::skip(OPEN),
        verdict => verdict,
    }
}
