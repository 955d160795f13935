//! Identities of queries: each function gives both forms of a query, if it has two.

use crate::dialect::{Dialect, Feature};
use crate::oracle::kit::gate::has_aggregate;
use crate::oracle::kit::given::{names_its_items, selects_rows};
use crate::sql::visit::{Editor, any_expr, edit_query, edit_table, replace_exprs};
use crate::sql::*;
use crate::state::{Column, State};

use super::exprs::{self, collated_column};

/// What is known of the database that a query is about.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The database.
    pub state: &'a State,
    /// The dialect.
    pub dialect: &'a Dialect,
}

/// Two queries that must return the same rows.
pub type Forms = Option<(Query, Query)>;

/// The relation that a rewritten query reads in place of another, by a name that nothing else has.
const OTHER: &str = "other0";

/// `A JOIN B ON p` by `A CROSS JOIN B WHERE p`.
pub fn join_condition(query: &Query, _: Known) -> Forms {
    fn pull(table: &mut TableRef, pulled: &mut Vec<Expr>) {
        let TableRef::Join { kind, left, right, on } = table else { return };
        match (*kind, &on) {
            (JoinKind::Inner, JoinOn::On(condition)) => {
                let condition = condition.clone();
                pull(left, pulled);
                pull(right, pulled);
                pulled.push(condition);
                (*kind, *on) = (JoinKind::Cross, JoinOn::Nothing);
            }
            (JoinKind::Inner | JoinKind::Cross, JoinOn::Nothing) => {
                pull(left, pulled);
                pull(right, pulled);
            }
            // What is filtered before it is padded could be filtered after.
            (JoinKind::Left, _) => pull(left, pulled),
            _ => {}
        }
    }
    let mut other = query.clone();
    let select = other.as_select_mut()?;
    let mut pulled = Vec::new();
    select.from.iter_mut().for_each(|table| pull(table, &mut pulled));
    if pulled.is_empty() {
        return None;
    }
    select.filter = pulled.into_iter().chain(select.filter.take()).reduce(Expr::and);
    Some((query.clone(), other))
}

/// `A LEFT JOIN B ON p` by the pairs that meet p, and the rows of A that have no partner.
pub fn left_join(query: &Query, _: Known) -> Forms {
    let select = plain_rows(query)?;
    let [TableRef::Join { kind: JoinKind::Left, left, right, on: JoinOn::On(on) }] = &select.from[..] else {
        return None;
    };
    let matched =
        TableRef::join(JoinKind::Inner, (**left).clone(), (**right).clone(), JoinOn::On(on.clone()));
    let padded = padded(select, left, right, on)?;
    Some((query.clone(), both(query, Select { from: vec![matched], ..select.clone() }, padded)))
}

/// `A RIGHT JOIN B ON p` by `B LEFT JOIN A ON p`.
pub fn right_join(query: &Query, _: Known) -> Forms {
    let select = query.as_select()?;
    let [TableRef::Join { kind: JoinKind::Right, left, right, on: JoinOn::On(on) }] = &select.from[..] else {
        return None;
    };
    let is_join = matches!(**left, TableRef::Join { .. });
    let lateral = |side: &TableRef| matches!(side, TableRef::Derived { lateral: true, .. });
    if is_join || !names_its_items(select) || lateral(left) || lateral(right) {
        return None;
    }
    let swapped = TableRef::join(JoinKind::Left, (**right).clone(), (**left).clone(), JoinOn::On(on.clone()));
    Some((query.clone(), with_select(query, Select { from: vec![swapped], ..select.clone() })))
}

/// `A FULL JOIN B ON p` by the left join, and the rows of B that have no partner.
pub fn full_join(query: &Query, _: Known) -> Forms {
    let select = plain_rows(query).filter(|select| names_its_items(select))?;
    let [TableRef::Join { kind: JoinKind::Full, left, right, on: JoinOn::On(on) }] = &select.from[..] else {
        return None;
    };
    let matched = TableRef::join(JoinKind::Left, (**left).clone(), (**right).clone(), JoinOn::On(on.clone()));
    let padded = padded(select, right, left, on)?;
    Some((query.clone(), both(query, Select { from: vec![matched], ..select.clone() }, padded)))
}

/// The rows of one side without a partner on the other, padded.
fn padded(select: &Select, kept: &TableRef, other: &TableRef, on: &Expr) -> Option<Select> {
    let TableRef::Table { name, alias, .. } = other else { return None };
    if has_subquery(on) || !is_qualified(on) || is_lateral(kept) {
        return None;
    }
    let called = alias.as_ref().unwrap_or(name);
    let again = TableRef::Table { name: name.clone(), alias: Some(OTHER.into()), hint: None };
    let partners = Query::select(Select {
        items: vec![Expr::int(1).into()],
        from: vec![again],
        filter: Some(renamed(on, called, &OTHER.into())),
        ..Select::default()
    });
    let lonely = Expr::Exists { query: Box::new(partners), negated: true };
    let never = JoinOn::On(Expr::binary(BinaryOp::Eq, Expr::int(1), Expr::int(0)));
    let from = vec![TableRef::join(JoinKind::Left, kept.clone(), other.clone(), never)];
    let filter = select.filter.iter().cloned().chain([lonely]).reduce(Expr::and);
    Some(Select { from, filter, ..select.clone() })
}

/// `WHERE p OR q` by the rows of p, and those of q that p does not have.
pub fn disjunction(query: &Query, _: Known) -> Forms {
    let select = plain_rows(query)?;
    let Some(Expr::Binary { op: BinaryOp::Or, left, right }) = &select.filter else { return None };
    let rest = (**right).clone().and((**left).clone().is_not(Truth::True));
    let first = Select { filter: Some((**left).clone()), ..select.clone() };
    Some((query.clone(), both(query, first, Select { filter: Some(rest), ..select.clone() })))
}

/// DISTINCT by GROUP BY all that is returned.
pub fn distinct(query: &Query, _: Known) -> Forms {
    let select = query.as_select().filter(|select| select.distinct && is_whole(query))?;
    if !selects_rows(&Select { distinct: false, ..select.clone() }) {
        return None;
    }
    let mut keys: Vec<Expr> = Vec::new();
    for item in &select.items {
        let SelectItem::Expr { expr, .. } = item else { return None };
        // A number in GROUP BY is a position.
        let is_constant = !any_expr(expr, |inner| matches!(inner, Expr::Column(_)));
        if is_constant || has_subquery(expr) {
            return None;
        }
        if !keys.contains(expr) {
            keys.push(expr.clone());
        }
    }
    Some((query.clone(), with_select(query, Select { distinct: false, group_by: keys, ..select.clone() })))
}

/// A query EXCEPT itself has no rows.
pub fn except_itself(query: &Query, _: Known) -> Forms {
    let select = query.as_select().filter(|_| is_whole(query))?;
    let body = || Body::Select(Box::new(select.clone()));
    let difference = Query::compound(SetOp::Except, false, body(), body());
    let nothing = Query { limit: Some(Expr::int(0)), ..query.clone() };
    Some((Query { with: query.with.clone(), ..difference }, nothing))
}

/// A query INTERSECT itself has its distinct rows.
pub fn intersect_itself(query: &Query, _: Known) -> Forms {
    let select = query.as_select().filter(|_| is_whole(query))?;
    let body = || Body::Select(Box::new(select.clone()));
    let common = Query::compound(SetOp::Intersect, false, body(), body());
    let common = Query { with: query.with.clone(), ..common };
    Some((common, with_select(query, Select { distinct: true, ..select.clone() })))
}

/// UNION by DISTINCT over UNION ALL.
pub fn union(query: &Query, known: Known) -> Forms {
    let Body::Compound { op: SetOp::Union, all: false, left, right } = &query.body else { return None };
    let (Body::Select(left), Body::Select(right)) = (&**left, &**right) else { return None };
    if !is_whole(query) || (known.dialect.can(Feature::DynamicTyping) && !collates_first(left, right)) {
        return None;
    }
    let all = Query::compound(
        SetOp::Union,
        true,
        Body::Select(Box::new(labelled(left)?)),
        Body::Select(Box::new(labelled(right)?)),
    );
    let from = vec![derived(all)];
    let distinct = Select { distinct: true, items: vec![SelectItem::Wildcard], from, ..Select::default() };
    Some((query.clone(), Query { with: query.with.clone(), ..Query::select(distinct) }))
}

/// A collation in either of two SELECTs is that of the first, where types are dynamic: UNION takes the first that there is,
/// a derived table that of the first SELECT.
fn collates_first(left: &Select, right: &Select) -> bool {
    // None if it is explicit.
    let has_one = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => Some(collated_column(expr)?.is_some()),
        _ => None,
    };
    std::iter::zip(&left.items, &right.items).all(|(left, right)| match (has_one(left), has_one(right)) {
        (Some(left), Some(right)) => left || !right,
        _ => false,
    })
}

/// INTERSECT by EXISTS, EXCEPT by NOT EXISTS.
pub fn set_operator(query: &Query, known: Known) -> Forms {
    let Body::Compound { op: op @ (SetOp::Intersect | SetOp::Except), all: false, left, right } = &query.body
    else {
        return None;
    };
    let (Body::Select(left), Body::Select(right)) = (&**left, &**right) else { return None };
    if !is_whole(query) || !selects_rows(left) || !selects_rows(right) {
        return None;
    }
    let (left, right) = ((**left).clone(), renamed_relations(right)?);
    if left.items.len() != right.items.len() {
        return None;
    }
    let mut condition = right.filter.clone();
    for (one, other) in std::iter::zip(&left.items, &right.items) {
        let (SelectItem::Expr { expr: one, .. }, SelectItem::Expr { expr: other, .. }) = (one, other) else {
            return None;
        };
        let with = query.with.as_ref();
        let columns = [column_of(one, &left, with, known)?, column_of(other, &right, with, known)?];
        // A set operator compares values as they are; so does a comparison of two columns that are declared alike.
        let [a, b] = columns.map(|column| (column.ty, column.collation));
        if a != b || a.0.name.is_empty() {
            return None;
        }
        let same = Expr::binary(BinaryOp::Same, one.clone(), other.clone());
        condition = condition.into_iter().chain([same]).reduce(Expr::and);
    }
    let partners = Select { items: vec![Expr::int(1).into()], filter: condition, ..right };
    let query_of = |select| Box::new(Query::select(select));
    let partner = Expr::Exists { query: query_of(partners), negated: *op == SetOp::Except };
    let filter = left.filter.iter().cloned().chain([partner]).reduce(Expr::and);
    Some((query.clone(), with_select(query, Select { distinct: true, filter, ..left })))
}

/// A common table by its query in place.
pub fn common_table(query: &Query, _: Known) -> Forms {
    let with = query.with.as_ref().filter(|with| !with.recursive)?;
    let mut tables: Vec<CommonTable> = with.tables.clone();
    let mut other = Query { with: None, ..query.clone() };
    // From the last to the first: each may read those before it.
    while let Some(table) = tables.pop() {
        let body = Query { with: None, ..named(&table.query, &table.columns)? };
        if table.query.with.is_some() {
            return None;
        }
        let mut inline = Inline { name: &table.name, body: &body, fits: true, found: false };
        inline.query(&mut other);
        tables.iter_mut().for_each(|earlier| inline.fits &= !reads(&earlier.query, &table.name));
        if !inline.fits {
            return None;
        }
    }
    Some((query.clone(), other))
}

/// A view by its query in place; its order is not that of what reads it.
pub fn view(query: &Query, known: Known) -> Forms {
    let mut other = query.clone();
    let mut inlined = false;
    let common = query.with.iter().flat_map(|with| &with.tables).map(|table| &table.name);
    let common: Vec<&Name> = common.collect();
    for table in known.state.tables.iter().filter(|table| table.is_view && !common.contains(&&table.name)) {
        let Some(view) = &table.view else { continue };
        if !reads(&other, &table.name) {
            continue;
        }
        let mut body = named(&view.query, &view.columns)?;
        if body.limit.is_none() && body.offset.is_none() {
            body.order_by.clear();
        }
        let shadowed = common.iter().any(|name| reads(&body, name));
        let mut inline = Inline { name: &table.name, body: &body, fits: !shadowed, found: false };
        inline.query(&mut other);
        if !inline.fits {
            return None;
        }
        inlined |= inline.found;
    }
    inlined.then(|| (query.clone(), other))
}

/// MATERIALIZED by NOT MATERIALIZED.
pub fn materialized(query: &Query, _: Known) -> Forms {
    query.with.as_ref().filter(|with| !with.recursive)?;
    let hinted = |hint: bool| {
        let mut query = query.clone();
        let tables = query.with.iter_mut().flat_map(|with| &mut with.tables);
        tables.for_each(|table| table.materialized = Some(hint));
        query
    };
    Some((hinted(true), hinted(false)))
}

/// An ORDER BY without LIMIT changes no rows, at any depth.
pub fn order_by(query: &Query, _: Known) -> Forms {
    struct Unordered(bool);
    impl Editor for Unordered {
        fn query(&mut self, query: &mut Query) {
            if query.limit.is_none() && query.offset.is_none() && !query.order_by.is_empty() {
                query.order_by.clear();
                self.0 = true;
            }
            edit_query(self, query);
        }
    }
    let mut other = query.clone();
    let mut unordered = Unordered(false);
    unordered.query(&mut other);
    unordered.0.then(|| (query.clone(), other))
}

/// HAVING by WHERE over the groups.
pub fn having(query: &Query, _: Known) -> Forms {
    let select = query.as_select().filter(|_| is_whole(query))?;
    let having = select.having.as_ref().filter(|_| !select.distinct)?;
    let aggregates = |item: &SelectItem| matches!(item, SelectItem::Expr { expr, .. } if has_aggregate(expr));
    if select.group_by.is_empty() && !select.items.iter().any(aggregates) {
        return None;
    }
    // A window sees the groups that HAVING keeps.
    let mut has_window = !select.windows.is_empty();
    visit::each_expr(query, |expr| has_window |= matches!(expr, Expr::Window(_)));
    if has_window {
        return None;
    }
    let mut groups = Select { having: None, ..labelled(select)? };
    let outer = |at: usize| SelectItem::from(Expr::column(OTHER, label(at)));
    let items = (0..groups.items.len()).map(outer).collect();
    let kept = Name::from("kept0");
    groups.items.push(SelectItem::Expr { expr: having.clone(), alias: Some(kept.clone()) });
    let filter = Some(Expr::column(OTHER, kept));
    let from = vec![derived(Query::select(groups))];
    Some((query.clone(), with_select(query, Select { items, from, filter, ..Select::default() })))
}

/// COUNT by SUM, where nothing can show that a sum has another type: returned as it is, or computed or compared with in
/// ways that are the same for all whole numbers.
pub fn count(query: &Query, _: Known) -> Forms {
    fn summed(expr: &mut Expr) -> bool {
        if let Some(sum) = exprs::count(expr) {
            *expr = sum;
            return true;
        }
        match expr {
            Expr::Binary { op, left, right }
                if op.is_comparison() || matches!(op, Add | Sub | Mul | And | Or) =>
            {
                summed(left) | summed(right)
            }
            Expr::Unary { op: UnaryOp::Not | UnaryOp::Minus, expr } | Expr::Is { expr, .. } => summed(expr),
            _ => false,
        }
    }
    use BinaryOp::{Add, And, Mul, Or, Sub};
    let mut other = query.clone();
    let select = other.as_select_mut()?;
    let mut found = false;
    for item in &mut select.items {
        if let SelectItem::Expr { expr, .. } = item {
            found |= summed(expr);
        }
    }
    select.having.iter_mut().for_each(|having| found |= summed(having));
    found.then(|| (query.clone(), other))
}

/// A window over whole partitions by a correlated aggregate.
pub fn window(query: &Query, _: Known) -> Forms {
    let select = query.as_select().filter(|_| is_whole(query))?;
    let [TableRef::Table { name, alias, .. }] = &select.from[..] else { return None };
    let called = alias.as_ref().unwrap_or(name);
    let grouped = !select.group_by.is_empty() || select.having.is_some();
    if grouped || select.filter.as_ref().is_some_and(|filter| has_subquery(filter) || !is_qualified(filter)) {
        return None;
    }
    let correlated = |window: &Window| {
        let Over::Spec(spec @ WindowSpec { partition_by, .. }) = &window.over else { return None };
        let function = &window.function;
        let plain = !function.distinct && function.filter.is_none() && sees_the_whole(spec);
        let known =
            ["COUNT", "SUM", "MIN", "MAX"].iter().any(|name| function.name.eq_ignore_ascii_case(name));
        let simple = |expr: &Expr| !has_subquery(expr) && is_qualified(expr);
        let columns = partition_by.iter().all(|key| matches!(key, Expr::Column(_)));
        if !plain || !known || !columns || !function.args.iter().chain(partition_by).all(simple) {
            return None;
        }
        let there = |expr: &Expr| renamed(expr, called, &OTHER.into());
        let same = partition_by.iter().map(|key| Expr::binary(BinaryOp::Same, there(key), key.clone()));
        let filter = select.filter.iter().map(there).chain(same).reduce(Expr::and);
        let args = function.args.iter().map(there).collect();
        let from = vec![TableRef::Table { name: name.clone(), alias: Some(OTHER.into()), hint: None }];
        let items = vec![Expr::aggregate(function.name.clone(), args).into()];
        Some(Expr::Subquery(Box::new(Query::select(Select { items, from, filter, ..Select::default() }))))
    };
    let mut other = query.clone();
    let mut found = false;
    for item in &mut other.as_select_mut()?.items {
        if let SelectItem::Expr { expr: expr @ Expr::Window(_), .. } = item
            && let Expr::Window(window) = &*expr
            && let Some(aggregate) = correlated(window)
        {
            *expr = aggregate;
            found = true;
        }
    }
    found.then(|| (query.clone(), other))
}

/// Every row sees its whole partition.
fn sees_the_whole(spec: &WindowSpec) -> bool {
    use FrameBound::{UnboundedFollowing, UnboundedPreceding};
    match &spec.frame {
        None => spec.order_by.is_empty(),
        Some(Frame { start: UnboundedPreceding, end: UnboundedFollowing, exclude: None, .. }) => true,
        Some(_) => false,
    }
}

/// ROLLUP, CUBE and GROUPING SETS by one GROUP BY for each.
pub fn grouping_sets(query: &Query, _: Known) -> Forms {
    let select = query.as_select().filter(|select| is_whole(query) && !select.distinct)?;
    let keys = &select.group_by;
    let subsets: Vec<Vec<Expr>> = match select.grouping {
        Grouping::Plain => return None,
        Grouping::Rollup => (0..=keys.len()).rev().map(|length| keys[..length].to_vec()).collect(),
        Grouping::Sets => keys.iter().map(|key| vec![key.clone()]).chain([Vec::new()]).collect(),
        Grouping::Cube => {
            let of = |bits: usize| keys.iter().enumerate().filter(move |(at, _)| bits & (1 << at) != 0);
            let subset = |bits| of(bits).map(|(_, key)| key.clone()).collect();
            (0..1usize << keys.len()).rev().map(subset).collect()
        }
    };
    let is_key = |expr: &Expr| keys.contains(expr);
    let exprs: Option<Vec<&Expr>> = select
        .items
        .iter()
        .map(|item| match item {
            SelectItem::Expr { expr, .. } => Some(expr),
            _ => None,
        })
        .collect();
    let exprs = exprs?;
    // Outside its aggregates nothing but an item by itself names a key.
    let is_aggregate = |expr: &Expr| matches!(expr, Expr::Aggregate(_));
    let having_names_keys = select
        .having
        .as_ref()
        .is_some_and(|having| inspect::has_bare_column(having, &[], &[]) || has_subquery(having));
    if having_names_keys
        || !exprs.iter().all(|expr| is_key(expr) || is_aggregate(expr))
        || !exprs.iter().any(|expr| is_aggregate(expr))
        || exprs.iter().any(|expr| has_subquery(expr))
    {
        return None;
    }
    let grouped = |subset: Vec<Expr>| {
        let mut branch = select.clone();
        for item in &mut branch.items {
            if let SelectItem::Expr { expr, .. } = item
                && is_key(expr)
                && !subset.contains(expr)
            {
                *expr = Expr::null();
            }
        }
        Body::Select(Box::new(Select { group_by: subset, grouping: Grouping::Plain, ..branch }))
    };
    let all = |left, right| Body::Compound {
        op: SetOp::Union,
        all: true,
        left: Box::new(left),
        right: Box::new(right),
    };
    let body = subsets.into_iter().map(grouped).reduce(all)?;
    Some((query.clone(), Query { with: query.with.clone(), ..body.into() }))
}

/// A part of WHERE in a derived table.
pub fn derived_filter(query: &Query, known: Known) -> Forms {
    let select = query.as_select()?;
    let [TableRef::Table { name, alias, hint: None }] = &select.from[..] else { return None };
    let common = query.with.iter().flat_map(|with| &with.tables).any(|table| table.name == *name);
    let table = known.state.table(name).filter(|table| !table.is_view && !common)?;
    let called = alias.as_ref().unwrap_or(name);
    let (inside, outside) = match select.filter.clone()? {
        Expr::Binary { op: BinaryOp::And, left, right } => (*left, Some(*right)),
        whole => (whole, None),
    };
    let column = |column: &Column| SelectItem::Expr {
        expr: Expr::column(called.clone(), column.name.clone()),
        alias: Some(column.name.clone()),
    };
    // A rowid is not among the columns.
    let is_known = |reference: &ColumnRef| {
        table.columns.iter().any(|column| column.name == reference.column) && reference.table.is_some()
    };
    let mut all_known = names_its_items(select) && query.locking.is_none();
    visit::each_expr(query, |expr| {
        if let Expr::Column(reference) = expr {
            all_known &=
                reference.table.as_ref() != Some(called) && reference.table.is_some() || is_known(reference);
        }
    });
    if !all_known || table.columns.is_empty() {
        return None;
    }
    let inner = Select {
        items: table.columns.iter().map(column).collect(),
        from: select.from.clone(),
        filter: Some(inside),
        ..Select::default()
    };
    let query_box = Box::new(Query::select(inner));
    let from =
        TableRef::Derived { query: query_box, alias: called.clone(), columns: Vec::new(), lateral: false };
    Some((query.clone(), with_select(query, Select { from: vec![from], filter: outside, ..select.clone() })))
}

/// The one SELECT of a query that returns rows as they are: nothing is grouped, ordered, cut off or locked.
fn plain_rows(query: &Query) -> Option<&Select> {
    query.as_select().filter(|select| is_whole(query) && selects_rows(select) && select.windows.is_empty())
}

/// Nothing is ordered, cut off or locked.
fn is_whole(query: &Query) -> bool {
    query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none() && query.locking.is_none()
}

fn with_select(query: &Query, select: Select) -> Query {
    Query { body: Body::Select(Box::new(select)), ..query.clone() }
}

/// The rows of two SELECTs.
fn both(query: &Query, left: Select, right: Select) -> Query {
    let (left, right) = (Body::Select(Box::new(left)), Body::Select(Box::new(right)));
    Query { with: query.with.clone(), ..Query::compound(SetOp::Union, true, left, right) }
}

fn derived(query: Query) -> TableRef {
    TableRef::Derived { query: Box::new(query), alias: OTHER.into(), columns: Vec::new(), lateral: false }
}

fn label(at: usize) -> Name {
    Name::from(format!("c{at}"))
}

/// The same SELECT with a name for each item.
fn labelled(select: &Select) -> Option<Select> {
    let mut select = select.clone();
    for (at, item) in select.items.iter_mut().enumerate() {
        let SelectItem::Expr { alias, .. } = item else { return None };
        *alias = Some(label(at));
    }
    Some(select)
}

/// A query whose items have these names; where there are none, they keep their own.
fn named(query: &Query, columns: &[Name]) -> Option<Query> {
    let mut query = query.clone();
    if columns.is_empty() {
        return Some(query);
    }
    let select = query.as_select_mut().filter(|select| select.items.len() == columns.len())?;
    for (item, column) in std::iter::zip(&mut select.items, columns) {
        let SelectItem::Expr { alias, .. } = item else { return None };
        *alias = Some(column.clone());
    }
    Some(query)
}

/// Puts a query in the place of a table.
struct Inline<'a> {
    name: &'a Name,
    body: &'a Query,
    fits: bool,
    found: bool,
}

impl Editor for Inline<'_> {
    fn query(&mut self, query: &mut Query) {
        // A common table of the same name would hide it.
        let tables = query.with.iter().flat_map(|with| &with.tables);
        self.fits &= !tables.into_iter().any(|table| table.name == *self.name);
        edit_query(self, query);
    }

    fn table(&mut self, table: &mut TableRef) {
        match table {
            TableRef::Table { name, alias, .. } if name == self.name => {
                let alias = alias.clone().unwrap_or_else(|| name.clone());
                let query = Box::new(self.body.clone());
                *table = TableRef::Derived { query, alias, columns: Vec::new(), lateral: false };
                self.found = true;
            }
            other => edit_table(self, other),
        }
    }
}

fn reads(query: &Query, name: &Name) -> bool {
    crate::state::tables_named(query).contains(name)
}

/// The names of the relations of a FROM.
pub fn names_of(from: &[TableRef]) -> Vec<Name> {
    fn add(table: &TableRef, names: &mut Vec<Name>) {
        match table {
            TableRef::Table { name, alias, .. } => names.push(alias.as_ref().unwrap_or(name).clone()),
            TableRef::Derived { alias, .. } | TableRef::Function { alias, .. } => names.push(alias.clone()),
            TableRef::Join { left, right, .. } => {
                add(left, names);
                add(right, names);
            }
        }
    }
    let mut names = Vec::new();
    from.iter().for_each(|table| add(table, &mut names));
    names
}

/// The relations that an expression names; `None` if a column is named without one.
pub fn qualifiers(expr: &Expr) -> Option<Vec<Name>> {
    let mut names = Vec::new();
    let bare = any_expr(expr, |inner| match inner {
        Expr::Column(ColumnRef { table: Some(table), .. }) => {
            names.push(table.clone());
            false
        }
        Expr::Column(_) | Expr::Raw(_) => true,
        _ => false,
    });
    (!bare).then_some(names)
}

fn is_qualified(expr: &Expr) -> bool {
    qualifiers(expr).is_some()
}

fn is_lateral(table: &TableRef) -> bool {
    match table {
        TableRef::Derived { lateral, .. } => *lateral,
        TableRef::Join { left, right, .. } => is_lateral(left) || is_lateral(right),
        _ => false,
    }
}

pub fn has_subquery(expr: &Expr) -> bool {
    any_expr(expr, |inner| {
        matches!(
            inner,
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InQuery { .. } | Expr::Quantified { .. }
        )
    })
}

/// The same expression over a relation of another name.
fn renamed(expr: &Expr, from: &Name, to: &Name) -> Expr {
    let mut query = Query::select(Select { items: vec![expr.clone().into()], ..Select::default() });
    replace_exprs(&mut query, |inner| match inner {
        Expr::Column(ColumnRef { table: Some(table), column }) if table == from => {
            Some(Expr::column(to.clone(), column.clone()))
        }
        _ => None,
    });
    match query.as_select_mut().and_then(|select| select.items.pop()) {
        Some(SelectItem::Expr { expr, .. }) => expr,
        _ => expr.clone(),
    }
}

/// The same SELECT over one table of another name; none if it has more, or a subquery.
fn renamed_relations(select: &Select) -> Option<Select> {
    let [TableRef::Table { name, alias, .. }] = &select.from[..] else { return None };
    let called = alias.as_ref().unwrap_or(name);
    let other = Name::from(OTHER);
    let plain = |expr: &Expr| !has_subquery(expr) && is_qualified(expr);
    let mut renaming = select.clone();
    renaming.from = vec![TableRef::Table { name: name.clone(), alias: Some(other.clone()), hint: None }];
    for item in &mut renaming.items {
        let SelectItem::Expr { expr, .. } = item else { return None };
        if !plain(expr) {
            return None;
        }
        *expr = renamed(expr, called, &other);
    }
    if let Some(filter) = &mut renaming.filter {
        if !plain(filter) {
            return None;
        }
        *filter = renamed(filter, called, &other);
    }
    Some(renaming)
}

/// The column that an expression is, if it is one.
fn column_of(expr: &Expr, select: &Select, with: Option<&With>, known: Known) -> Option<Column> {
    let Expr::Column(reference) = expr else { return None };
    let query = Query { with: with.cloned(), ..Query::select(select.clone()) };
    known.state.column_of(reference, &query, known.dialect)
}

/// Whether a dialect has everything that an identity is written with.
pub fn can_all(dialect: &Dialect, features: &[Feature]) -> bool {
    features.iter().all(|feature| dialect.can(*feature))
}
