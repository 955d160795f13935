//! Queries over a table that has the operation's result as a column; the operation is substituted for the column
//! afterwards.

use super::RESULT;
use crate::dialect::Feature;
use crate::generate::{Generator, Rules, choices};
use crate::sql::*;
use crate::state::Column;

choices! {
    odds {
        JOINED = "edc.query.joined": 12,
        FILTER = "edc.query.filter": 80,
        ORDER = "edc.query.order": 20,
        HAVING = "edc.query.having": 40,
        HAVING_RESULT = "edc.query.having.result": 50,
        FILTER_OF_GROUPS = "edc.groups.filter": 40,
        HAVING_OF_GROUPS = "edc.groups.having": 75,
        HAVING_MEMBER = "edc.groups.having.member": 10,
        ORDER_OF_GROUPS = "edc.groups.order": 20,
        DESC = "edc.order.desc": 50,
        NOT = "edc.test.not": 20,
        IS_TRUE = "edc.test.is.true": 50,
        KEY_COMPARED = "edc.key.compared": 80,
        KEY_NOT_NULL = "edc.key.not-null": 70,
        MEMBER_FILTER = "edc.member.filter": 50,
        NOT_MEMBER = "edc.member.not": 30,
        COMPOUND_OF_RESULT = "edc.compound.result": 60,
        COMPOUND_FILTER = "edc.compound.filter": 70,
    }
    choose {
        FIRST_ITEM: Item = "edc.item.first" { Result: 5, Expression: 2, Column: 3 },
        ITEM: Item = "edc.item" { Test: 3, Expression: 4, Column: 3 },
        TEST_OP: BinaryOp = "edc.test.op" { Eq: 1, Ne: 1, Lt: 1, Le: 1, Gt: 1, Ge: 1, Same: 1, NotSame: 1 },
        KEY_OP: BinaryOp = "edc.key.op" { Eq: 1, Ne: 1, Le: 1, Gt: 1 },
    }
    choose enum {
        QUERY: Shape = "edc.query" { Rows: 58, Distinct: 10, Groups: 14, Compound: 12, Aggregate: 6 },
        CONDITION: Condition = "edc.condition" { Test: 55, And: 10, Or: 10, Any: 25 },
        /// What the result is compared with.
        TEST: Test = "edc.test" {
            Constant: 5,
            Between: 3,
            In: 2,
            Like: 1,
            Column: 2,
            Truth: 1,
            Is: 1,
            Null: 1,
        },
        CONSTANT: Constant = "edc.constant" { OfItsKind: 3, Int: 2, Real: 1, Text: 1, Spelled: 2, Any: 1 },
        COMPOUND: Compound = "edc.compound" { UnionAll: 30, Union: 20, Intersect: 25, Except: 25 },
    }
}

/// What is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Result,
    /// The result compared with something.
    Test,
    Expression,
    Column,
}

/// A query about the result, over rows.
pub fn over_rows(g: &mut Generator, result: &Result) -> Option<Query> {
    g.start_over();
    let joined = if g.odds(&JOINED) { 2 } else { 1 };
    let from = g.from_clause(joined)?.tables;
    // A derived table may not have the result.
    let has_result = |columns: &[Column]| columns.iter().any(|c| c.name == RESULT);
    let places: Vec<Expr> = g
        .relations()
        .iter()
        .filter(|relation| has_result(&relation.columns))
        .map(|relation| Expr::column(relation.alias.clone(), RESULT))
        .collect();
    let column = g.rng.choose(&places).cloned();
    let filter = g.odds(&FILTER).then(|| condition(g, result, column.as_ref()));
    let column = column.unwrap_or(Expr::int(1));
    match g.choose(&QUERY) {
        Shape::Rows => {
            let items = items(g, result, &column);
            let keys = g.odds(&ORDER).then(|| order_item(g, &column));
            let mut query = g.finish(Select { items, from, filter, ..Select::default() });
            query.order_by.extend(keys);
            Some(query)
        }
        Shape::Distinct => {
            let mut items = g.under(identity(), |g| g.select_items(2));
            items.push(column);
            let items = items.into_iter().map(SelectItem::from).collect();
            Some(g.finish(Select { distinct: true, items, from, filter, ..Select::default() }))
        }
        Shape::Groups => {
            let counts = aggregate_items(g);
            let key = column;
            let having = g.odds(&HAVING).then(|| match g.odds(&HAVING_RESULT) {
                true => test(g, result, &key),
                false => Expr::binary(BinaryOp::Gt, Expr::count_rows(), Expr::int(1)),
            });
            let items = [SelectItem::from(key.clone())].into_iter().chain(counts).collect();
            let group_by = vec![key];
            Some(g.finish(Select { items, from, filter, group_by, having, ..Select::default() }))
        }
        Shape::Compound => Some(compound(g, result, column, from, filter)),
        Shape::Aggregate => {
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
        let filter = g.odds(&FILTER_OF_GROUPS).then(|| key_condition(g, &alias, keys));
        let having = g.odds(&HAVING_OF_GROUPS).then(|| match g.odds(&HAVING_MEMBER) {
            true => membership(g, &column, keys),
            false => condition(g, result, Some(&column)),
        });
        let items = items(g, result, &column);
        let group_by = keys.iter().map(|key| Expr::column(alias.clone(), key.clone())).collect();
        let order = g.odds(&ORDER_OF_GROUPS).then(|| order_item(g, &column));
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
        items.push(SelectItem::from(match g.choose(if at == 0 { &FIRST_ITEM } else { &ITEM }) {
            Item::Result => column.clone(),
            Item::Test => test(g, result, column),
            Item::Expression => {
                let kind = g.kind();
                g.value_expr(kind, 2)
            }
            Item::Column => match g.column(Kind::Any) {
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
    OrderItem { expr: column.clone(), desc: g.odds(&DESC), nulls: None }
}

/// A condition that looks at the result, or at anything.
fn condition(g: &mut Generator, result: &Result, column: Option<&Expr>) -> Expr {
    let Some(column) = column else { return g.filter(2) };
    match g.choose(&CONDITION) {
        Condition::Test => test(g, result, column),
        Condition::And => test(g, result, column).and(g.predicate(1)),
        Condition::Or => Expr::binary(BinaryOp::Or, test(g, result, column), g.predicate(1)),
        Condition::Any => g.filter(2),
    }
}

/// The result compared with constants, also of other kinds where the engine converts them.
fn test(g: &mut Generator, result: &Result, column: &Expr) -> Expr {
    let loose = !g.dialect.is_typed();
    let tests_truth = loose || result.kind == Kind::Bool;
    let negated = g.odds(&NOT);
    let expr = Box::new(column.clone());
    if g.dialect.is_typed() && result.kind == Kind::Any {
        return Expr::Is { expr, test: Truth::Null, negated };
    }
    let weigh = |test, weight| match test {
        Test::Truth | Test::Is if !tests_truth => 0,
        Test::Column if tests_truth => 0,
        _ => weight,
    };
    let is_text = loose || result.kind == Kind::Text;
    let instead = |test| if test == Test::Like && !is_text { Test::Null } else { test };
    match g.choose_instead(&TEST, weigh, instead) {
        Test::Constant => {
            let op = g.choose(&TEST_OP);
            Expr::binary(op, column.clone(), constant(g, result))
        }
        Test::Between => {
            let (low, high) = (Box::new(constant(g, result)), Box::new(constant(g, result)));
            Expr::Between { expr, low, high, negated }
        }
        Test::In => {
            let list = (0..g.rng.between(1, 3)).map(|_| constant(g, result)).collect();
            Expr::InList { expr, list, negated }
        }
        Test::Like => {
            let pattern = match constant(g, result) {
                Expr::Literal(Value::Text(text)) => format!("{text}%"),
                Expr::Literal(Value::Int(int)) => format!("%{int}%"),
                _ => String::from("_%"),
            };
            let pattern = Box::new(Expr::text(pattern));
            Expr::Match { op: MatchOp::Like, expr, pattern, escape: None, negated }
        }
        Test::Truth => column.clone(),
        Test::Is => {
            let test = if g.odds(&IS_TRUE) { Truth::True } else { Truth::False };
            Expr::Is { expr, test, negated }
        }
        Test::Column => match g.column(result.kind) {
            Some(other) => Expr::binary(BinaryOp::Le, column.clone(), other.expr),
            None => Expr::Is { expr, test: Truth::Null, negated },
        },
        Test::Null => Expr::Is { expr, test: Truth::Null, negated },
    }
}

/// A constant to compare the result with.
fn constant(g: &mut Generator, result: &Result) -> Expr {
    if g.dialect.is_typed() {
        return g.constant(result.kind);
    }
    let kind = match g.choose(&CONSTANT) {
        Constant::OfItsKind => return g.constant(result.kind),
        Constant::Int => Kind::Int,
        Constant::Real => Kind::Real,
        Constant::Text => Kind::Text,
        // What is spelled like a value of the kind: a date as a text.
        Constant::Spelled => {
            return Expr::text(match g.some_value(result.kind) {
                Value::Text(text) | Value::Other { text, .. } => text,
                other => other.to_string(),
            });
        }
        Constant::Any => Kind::Any,
    };
    Expr::Literal(g.value(kind))
}

fn key_condition(g: &mut Generator, alias: &Name, keys: &[Name]) -> Expr {
    let Some(key) = g.rng.choose(keys).cloned() else { return Expr::int(1).is_not(Truth::Null) };
    let state = g.state;
    let known = state.tables.iter().flat_map(|table| table.columns.iter()).find(|c| c.name == key);
    let column = Expr::column(alias.clone(), key);
    match known.and_then(|known| g.rng.choose(&known.pool)) {
        Some(value) if g.odds(&KEY_COMPARED) && !value.is_null() => {
            let op = g.choose(&KEY_OP);
            Expr::binary(op, column, Expr::Literal(value.clone()))
        }
        _ => Expr::Is { expr: Box::new(column), test: Truth::Null, negated: g.odds(&KEY_NOT_NULL) },
    }
}

/// The result of a group among those of all groups.
fn membership(g: &mut Generator, column: &Expr, keys: &[Name]) -> Expr {
    let Some(table) = g.state.tables.first() else { return column.clone().is_not(Truth::Null) };
    let alias = Name::from("a0");
    let inner = Select {
        items: vec![Expr::column(alias.clone(), RESULT).into()],
        from: vec![TableRef::Table { name: table.name.clone(), alias: Some(alias.clone()), hint: None }],
        filter: g.odds(&MEMBER_FILTER).then(|| key_condition(g, &alias, keys)),
        group_by: keys.iter().map(|key| Expr::column(alias.clone(), key.clone())).collect(),
        ..Select::default()
    };
    Expr::InQuery {
        expr: Box::new(column.clone()),
        query: Box::new(Query::select(inner)),
        negated: g.odds(&NOT_MEMBER),
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
    let other = match g.odds(&COMPOUND_OF_RESULT) {
        true => column.clone(),
        false => g.column(result.kind).map_or(column.clone(), |drawn| drawn.expr),
    };
    let right_filter = g.odds(&COMPOUND_FILTER).then(|| condition(g, result, Some(&column)));
    let side = |item: Expr, filter: Option<Expr>| {
        let items = vec![SelectItem::from(item)];
        Body::Select(Box::new(Select { items, from: from.clone(), filter, ..Select::default() }))
    };
    let (left, right) = (side(column, filter), side(other, right_filter));
    let dialect = g.dialect;
    let applies = |compound| match compound {
        Compound::Intersect => dialect.can(Feature::Intersect),
        Compound::Except => dialect.can(Feature::Except),
        Compound::UnionAll | Compound::Union => true,
    };
    let (op, all) = match g.choose_where(&COMPOUND, applies) {
        Compound::UnionAll => (SetOp::Union, true),
        Compound::Union => (SetOp::Union, false),
        Compound::Intersect => (SetOp::Intersect, false),
        Compound::Except => (SetOp::Except, false),
    };
    let mut query = g.finish(Select::default());
    query.body = Query::compound(op, all, left, right).body;
    query
}
