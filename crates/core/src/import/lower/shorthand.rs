//! Short ways to write a query, written out in full before it is lowered: `FROM t`, `ORDER BY ALL`.

use sqlparser::ast;

pub fn spell_out(statement: &mut ast::Statement) {
    if let ast::Statement::Query(query) = statement {
        in_query(query);
    }
}

fn in_query(query: &mut ast::Query) {
    for table in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
        in_query(&mut table.query);
    }
    in_body(&mut query.body);
    let Some(order_by) = &mut query.order_by else { return };
    if let ast::OrderByKind::All(options) = &order_by.kind
        && let Some(columns) = columns(&query.body)
    {
        let key = |number: usize| ast::OrderByExpr {
            expr: ast::Expr::value(ast::Value::Number(number.to_string(), false)),
            options: options.clone(),
            with_fill: None,
        };
        order_by.kind = ast::OrderByKind::Expressions((1..=columns).map(key).collect());
    }
}

fn in_body(body: &mut ast::SetExpr) {
    match body {
        ast::SetExpr::Select(select) => in_select(select),
        ast::SetExpr::Query(query) => in_query(query),
        ast::SetExpr::SetOperation { left, right, .. } => {
            in_body(left);
            in_body(right);
        }
        _ => {}
    }
}

fn in_select(select: &mut ast::Select) {
    if select.flavor == ast::SelectFlavor::FromFirstNoSelect {
        select.projection = vec![ast::SelectItem::Wildcard(ast::WildcardAdditionalOptions::default())];
    }
    select.flavor = ast::SelectFlavor::Standard;
    for table in &mut select.from {
        in_relation(&mut table.relation);
        table.joins.iter_mut().for_each(|join| in_relation(&mut join.relation));
    }
}

fn in_relation(relation: &mut ast::TableFactor) {
    if let ast::TableFactor::Derived { subquery, .. } = relation {
        in_query(subquery);
    }
}

/// How many columns a query has, if its text says so.
fn columns(body: &ast::SetExpr) -> Option<usize> {
    match body {
        ast::SetExpr::Select(select) => {
            let plain = |item: &ast::SelectItem| {
                matches!(item, ast::SelectItem::UnnamedExpr(_) | ast::SelectItem::ExprWithAlias { .. })
            };
            select.projection.iter().all(plain).then_some(select.projection.len())
        }
        ast::SetExpr::Query(query) => columns(&query.body),
        ast::SetExpr::SetOperation { left, .. } => columns(left),
        _ => None,
    }
}
