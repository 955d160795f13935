//! Queries over a table that has the result of the operation as a column; the operation is put in its place
//! afterwards.

use super::RESULT;
use crate::dialect::Feature;
use crate::generate::{Generator, Rules};
use crate::sql::*;

/// A query about the result, over rows.
pub fn over_rows(g: &mut Generator, result: &Result) -> Option<Query> {
    g.start_over();
    let joined = if g.rng.chance(12) { 2 } else { 1 };
    let from = g.from_clause(joined)?.tables;
    // A derived table may not have the result.
    let has_result = |columns: &[crate::state::Column]| columns.iter().any(|c| c.name == RESULT);
    let places: Vec<Expr> = g
        .relations()
        .iter()
        .filter(|relation| has_result(&relation.columns))
        .map(|relation| Expr::column(relation.alias.clone(), RESULT))
        .collect();
    let column = g.rng.choose(&places).cloned();
    let filter = (g.rng.chance(80)).then(|| condition(g, result, column.as_ref()));
    let column = column.unwrap_or(Expr::int(1));
    match g.rng.weighted(&[58, 10, 14, 12, 6]) {
        0 => {
            let items = items(g, result, &column);
            let keys = g.rng.chance(20).then(|| order_item(g, &column));
            let mut query = g.finish(Select { items, from, filter, ..Select::default() });
            query.order_by.extend(keys);
            Some(query)
        }
        1 => {
            let mut items = g.under(identity(), |g| g.select_items(2));
            items.push(column);
            let items = items.into_iter().map(SelectItem::from).collect();
            Some(g.finish(Select { distinct: true, items, from, filter, ..Select::default() }))
        }
        2 => {
            let counts = aggregate_items(g);
            let key = column;
            let having = g.rng.chance(40).then(|| match g.rng.chance(50) {
                true => about(g, result, &key),
                false => Expr::binary(BinaryOp::Gt, Expr::count_rows(), Expr::int(1)),
            });
            let items = [SelectItem::from(key.clone())].into_iter().chain(counts).collect();
            let group_by = vec![key];
            Some(g.finish(Select { items, from, filter, group_by, having, ..Select::default() }))
        }
        3 => Some(compound(g, result, column, from, filter)),
        _ => {
            let mut items: Vec<SelectItem> = aggregate_items(g);
            for name in ["MIN", "MAX"] {
                if result.identity && g.dialect.aggregates(name, result.kind) {
                    items.push(Expr::aggregate(name, vec![column.clone()]).into());
                }
            }
            items.push(Expr::aggregate("COUNT", vec![column]).into());
            Some(g.finish(Select { items, from, filter, ..Select::default() }))
        }
    }
}

/// A query about the result, over groups: WHERE over keys, HAVING over keys and the result. Drawn with the
/// result as a column of the table.
pub fn over_groups(g: &mut Generator, result: &Result, keys: &[Name]) -> Option<Query> {
    g.start_over();
    let rules = Rules { subqueries: false, ..Rules::default() };
    g.under(rules, |g| {
        let from = g.from_clause(1)?.tables;
        let alias = g.relations().first()?.alias.clone();
        let column = Expr::column(alias.clone(), RESULT);
        let filter = g.rng.chance(40).then(|| key_condition(g, &alias, keys));
        let having = g.rng.chance(75).then(|| match g.rng.below(10) {
            0 => membership(g, &column, keys),
            _ => condition(g, result, Some(&column)),
        });
        let items = items(g, result, &column);
        let group_by = keys.iter().map(|key| Expr::column(alias.clone(), key.clone())).collect();
        let order = g.rng.chance(20).then(|| order_item(g, &column));
        let mut query = g.finish(Select { items, from, filter, group_by, having, ..Select::default() });
        query.order_by.extend(order);
        Some(query)
    })
}

/// What is known of the result.
pub struct Result {
    pub kind: Kind,
    pub identity: bool,
}

fn identity() -> Rules {
    Rules { identity: true, ..Rules::default() }
}

fn items(g: &mut Generator, result: &Result, column: &Expr) -> Vec<SelectItem> {
    let mut items = Vec::new();
    for at in 0..g.rng.between(1, 3) {
        items.push(SelectItem::from(match g.rng.below(10) {
            0..5 if at == 0 => column.clone(),
            0..3 => about(g, result, column),
            3..7 => {
                let kind = g.kind();
                g.value_expr(kind, 2)
            }
            _ => match g.column(Kind::Any) {
                Some(column) => column.expr,
                None => column.clone(),
            },
        }));
    }
    items
}

fn aggregate_items(g: &mut Generator) -> Vec<SelectItem> {
    let mut items: Vec<SelectItem> = vec![Expr::count_rows().into()];
    if let Some(column) = g.under(identity(), |g| g.own_column(Kind::Any))
        && g.dialect.aggregates("MAX", column.kind)
    {
        items.push(Expr::aggregate("MAX", vec![column.expr]).into());
    }
    items
}

fn order_item(g: &mut Generator, column: &Expr) -> OrderItem {
    OrderItem { expr: column.clone(), desc: g.rng.chance(50), nulls: None }
}

/// A condition that looks at the result, or at anything.
fn condition(g: &mut Generator, result: &Result, column: Option<&Expr>) -> Expr {
    let Some(column) = column else { return g.filter(2) };
    match g.rng.below(100) {
        0..55 => about(g, result, column),
        55..65 => about(g, result, column).and(g.predicate(1)),
        65..75 => Expr::binary(BinaryOp::Or, about(g, result, column), g.predicate(1)),
        _ => g.filter(2),
    }
}

/// The result compared with constants, also of other kinds where the engine converts them.
fn about(g: &mut Generator, result: &Result, column: &Expr) -> Expr {
    let loose = !g.dialect.is_typed();
    let tests_truth = loose || result.kind == Kind::Bool;
    let negated = g.rng.chance(20);
    let expr = Box::new(column.clone());
    if g.dialect.is_typed() && result.kind == Kind::Any {
        return Expr::Is { expr, test: Truth::Null, negated };
    }
    match g.rng.below(14) {
        0..5 => {
            use BinaryOp::*;
            let op = *g.rng.pick(&[Eq, Ne, Lt, Le, Gt, Ge, Same, NotSame]);
            Expr::binary(op, column.clone(), constant(g, result))
        }
        5..8 => {
            let (low, high) = (Box::new(constant(g, result)), Box::new(constant(g, result)));
            Expr::Between { expr, low, high, negated }
        }
        8..10 => {
            let list = (0..g.rng.between(1, 3)).map(|_| constant(g, result)).collect();
            Expr::InList { expr, list, negated }
        }
        10 if loose || result.kind == Kind::Text => {
            let pattern = match constant(g, result) {
                Expr::Literal(Value::Text(text)) => format!("{text}%"),
                Expr::Literal(Value::Int(int)) => format!("%{int}%"),
                _ => String::from("_%"),
            };
            let pattern = Box::new(Expr::text(pattern));
            Expr::Match { op: MatchOp::Like, expr, pattern, escape: None, negated }
        }
        11 if tests_truth => column.clone(),
        12 if tests_truth => {
            Expr::Is { expr, test: if g.rng.chance(50) { Truth::True } else { Truth::False }, negated }
        }
        11..13 => match g.column(result.kind) {
            Some(other) => Expr::binary(BinaryOp::Le, column.clone(), other.expr),
            None => Expr::Is { expr, test: Truth::Null, negated },
        },
        _ => Expr::Is { expr, test: Truth::Null, negated },
    }
}

/// A constant to compare the result with.
fn constant(g: &mut Generator, result: &Result) -> Expr {
    if g.dialect.is_typed() {
        return g.constant(result.kind);
    }
    let kind = match g.rng.below(10) {
        0..3 => return g.constant(result.kind),
        3..5 => Kind::Int,
        5 => Kind::Real,
        6 => Kind::Text,
        // What is spelled like a value of the kind: a date as a text.
        7..9 => {
            return Expr::text(match g.some_value(result.kind) {
                Value::Text(text) | Value::Other { text, .. } => text,
                other => other.to_string(),
            });
        }
        _ => Kind::Any,
    };
    Expr::Literal(g.value(kind))
}

fn key_condition(g: &mut Generator, alias: &Name, keys: &[Name]) -> Expr {
    let Some(key) = g.rng.choose(keys).cloned() else { return Expr::int(1).is_not(Truth::Null) };
    let state = g.state;
    let known = state.tables.iter().flat_map(|table| table.columns.iter()).find(|c| c.name == key);
    let column = Expr::column(alias.clone(), key);
    match known.and_then(|known| g.rng.choose(&known.pool)) {
        Some(value) if g.rng.chance(80) && !value.is_null() => {
            let op = *g.rng.pick(&[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Le, BinaryOp::Gt]);
            Expr::binary(op, column, Expr::Literal(value.clone()))
        }
        _ => Expr::Is { expr: Box::new(column), test: Truth::Null, negated: g.rng.chance(70) },
    }
}

/// The result of a group among those of all groups.
fn membership(g: &mut Generator, column: &Expr, keys: &[Name]) -> Expr {
    let Some(table) = g.state.tables.first() else { return column.clone().is_not(Truth::Null) };
    let alias = Name::from("a0");
    let inner = Select {
        items: vec![Expr::column(alias.clone(), RESULT).into()],
        from: vec![TableRef::Table { name: table.name.clone(), alias: Some(alias.clone()), hint: None }],
        filter: g.rng.chance(50).then(|| key_condition(g, &alias, keys)),
        group_by: keys.iter().map(|key| Expr::column(alias.clone(), key.clone())).collect(),
        ..Select::default()
    };
    Expr::InQuery {
        expr: Box::new(column.clone()),
        query: Box::new(Query::select(inner)),
        negated: g.rng.chance(30),
    }
}

/// Two queries of one column under a set operator.
fn compound(
    g: &mut Generator,
    result: &Result,
    column: Expr,
    from: Vec<TableRef>,
    filter: Option<Expr>,
) -> Query {
    let other = match g.rng.chance(60) {
        true => column.clone(),
        false => g.column(result.kind).map_or(column.clone(), |drawn| drawn.expr),
    };
    let right_filter = g.rng.chance(70).then(|| condition(g, result, Some(&column)));
    let side = |item: Expr, filter: Option<Expr>| {
        let items = vec![SelectItem::from(item)];
        Body::Select(Box::new(Select { items, from: from.clone(), filter, ..Select::default() }))
    };
    let (left, right) = (side(column, filter), side(other, right_filter));
    let can = |feature, weight| if g.dialect.can(feature) { weight } else { 0 };
    let weights = [30, 20, can(Feature::Intersect, 25), can(Feature::Except, 25)];
    let (op, all) =
        [(SetOp::Union, true), (SetOp::Union, false), (SetOp::Intersect, false), (SetOp::Except, false)]
            [g.rng.weighted(&weights)];
    let mut query = g.finish(Select::default());
    query.body = Query::compound(op, all, left, right).body;
    query
}
