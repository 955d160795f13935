//! Short ways to write a query, written out in full before it is lowered: `FROM t`, `TABLE t`, `t AS x(a, b)`, a function in
//! FROM without a name, `count()`, `GROUP BY ALL`, `ORDER BY ALL`.

use sqlparser::ast;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

/// Writes out what is short. `is_aggregate` tells by its name whether a function is one.
pub fn spell_out(statement: &mut ast::Statement, is_aggregate: &dyn Fn(&str) -> bool) {
    let speller = Speller { is_aggregate };
    match statement {
        ast::Statement::Query(query) => speller.query(query),
        ast::Statement::CreateView(create) => speller.query(&mut create.query),
        ast::Statement::Insert(insert) => insert.source.iter_mut().for_each(|query| speller.query(query)),
        _ => {}
    }
}

struct Speller<'a> {
    is_aggregate: &'a dyn Fn(&str) -> bool,
}

impl Speller<'_> {
    fn query(&self, query: &mut ast::Query) {
        for table in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            self.query(&mut table.query);
        }
        self.body(&mut query.body);
        let Some(order_by) = &mut query.order_by else { return };
        match &mut order_by.kind {
            ast::OrderByKind::Expressions(keys) => keys.iter_mut().for_each(|key| self.expr(&mut key.expr)),
            ast::OrderByKind::All(options) => {
                let Some(columns) = columns(&query.body) else { return };
                let key = |number: usize| ast::OrderByExpr {
                    expr: ast::Expr::value(ast::Value::Number(number.to_string(), false)),
                    options: options.clone(),
                    with_fill: None,
                };
                order_by.kind = ast::OrderByKind::Expressions((1..=columns).map(key).collect());
            }
        }
    }

    fn body(&self, body: &mut ast::SetExpr) {
        match body {
            ast::SetExpr::Select(select) => self.select(select),
            ast::SetExpr::Query(query) => self.query(query),
            ast::SetExpr::SetOperation { left, right, .. } => {
                self.body(left);
                self.body(right);
            }
            ast::SetExpr::Table(table) => {
                let (None, Some(name)) = (&table.schema_name, &table.table_name) else { return };
                // The parser forgets quotes.
                if is_plain_name(name)
                    && let Some(query) = all_of(name)
                {
                    *body = *query.body;
                }
            }
            _ => {}
        }
    }

    fn select(&self, select: &mut ast::Select) {
        if select.flavor == ast::SelectFlavor::FromFirstNoSelect {
            select.projection = vec![ast::SelectItem::Wildcard(ast::WildcardAdditionalOptions::default())];
        }
        select.flavor = ast::SelectFlavor::Standard;
        for table in &mut select.from {
            self.joined(table);
        }
        for item in &mut select.projection {
            if let ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. } = item {
                self.expr(expr);
            }
        }
        select.selection.iter_mut().chain(&mut select.having).for_each(|condition| self.expr(condition));
        if matches!(&select.group_by, ast::GroupByExpr::All(modifiers) if modifiers.is_empty())
            && let Some(keys) = self.keys(&select.projection)
        {
            select.group_by = ast::GroupByExpr::Expressions(keys, Vec::new());
        }
    }

    fn joined(&self, tables: &mut ast::TableWithJoins) {
        self.relation(&mut tables.relation);
        for join in &mut tables.joins {
            self.relation(&mut join.relation);
            use ast::JoinOperator::*;
            if let Join(on) | Inner(on) | Left(on) | LeftOuter(on) | Right(on) | RightOuter(on)
            | FullOuter(on) = &mut join.join_operator
                && let ast::JoinConstraint::On(condition) = on
            {
                self.expr(condition);
            }
        }
    }

    fn relation(&self, relation: &mut ast::TableFactor) {
        match relation {
            ast::TableFactor::Derived { subquery, .. } => self.query(subquery),
            ast::TableFactor::NestedJoin { table_with_joins, .. } => self.joined(table_with_joins),
            // Unless it is named, a function's rows are found under its name.
            ast::TableFactor::Table { name, alias: alias @ None, args: Some(_), .. } => {
                if let [ast::ObjectNamePart::Identifier(name)] = name.0.as_slice() {
                    let name = name.clone();
                    *alias = Some(ast::TableAlias { explicit: true, name, columns: Vec::new(), at: None });
                }
            }
            ast::TableFactor::UNNEST { alias: alias @ None, with_offset: false, .. } => {
                let name = ast::Ident::new("unnest");
                *alias = Some(ast::TableAlias { explicit: true, name, columns: Vec::new(), at: None });
            }
            ast::TableFactor::Table { name, alias: Some(given), args: None, .. }
                if !given.columns.is_empty() =>
            {
                let (name, given) = (name.to_string(), given.clone());
                // A hint, say, would be lost.
                if relation.to_string() == format!("{name} {given}")
                    && let Some(subquery) = all_of(&name)
                {
                    let (lateral, alias) = (false, Some(given));
                    *relation = ast::TableFactor::Derived { lateral, subquery, alias, sample: None };
                }
            }
            _ => {}
        }
    }

    /// The queries in an expression; in rare kinds of it they stay as they are.
    fn expr(&self, expr: &mut ast::Expr) {
        use ast::Expr::*;
        match expr {
            Subquery(query) | Exists { subquery: query, .. } => self.query(query),
            InSubquery { expr, subquery, .. } => {
                self.expr(expr);
                self.query(subquery);
            }
            BinaryOp { left, right, .. } | AnyOp { left, right, .. } | AllOp { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            UnaryOp { expr, .. }
            | Nested(expr)
            | Cast { expr, .. }
            | IsNull(expr)
            | IsNotNull(expr)
            | IsTrue(expr)
            | IsNotTrue(expr)
            | IsFalse(expr)
            | IsNotFalse(expr) => self.expr(expr),
            Between { expr, low, high, .. } => [expr, low, high].into_iter().for_each(|expr| self.expr(expr)),
            InList { expr, list, .. } => {
                self.expr(expr);
                list.iter_mut().for_each(|item| self.expr(item));
            }
            Tuple(items) => items.iter_mut().for_each(|item| self.expr(item)),
            Case { operand, conditions, else_result, .. } => {
                operand.iter_mut().chain(else_result).for_each(|expr| self.expr(expr));
                for when in conditions {
                    self.expr(&mut when.condition);
                    self.expr(&mut when.result);
                }
            }
            Function(function) => {
                let counts = function.name.to_string().eq_ignore_ascii_case("count");
                if let ast::FunctionArguments::List(list) = &mut function.args {
                    if counts && list.args.is_empty() {
                        list.args.push(ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard));
                    }
                    for arg in &mut list.args {
                        if let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) = arg {
                            self.expr(expr);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// The keys that GROUP BY ALL stands for: the items without an aggregate. None if that does not show in the text.
    fn keys(&self, items: &[ast::SelectItem]) -> Option<Vec<ast::Expr>> {
        let mut keys = Vec::new();
        for item in items {
            let (ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. }) = item
            else {
                return None;
            };
            match expr {
                ast::Expr::Function(function)
                    if function.over.is_none() && (self.is_aggregate)(&function.name.to_string()) => {}
                ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_) => keys.push(expr.clone()),
                // A constant would be a column's number.
                expr if self.is_plain(&expr.to_string()) && !matches!(expr, ast::Expr::Value(_)) => {
                    keys.push(expr.clone());
                }
                _ => return None,
            }
        }
        Some(keys)
    }

    /// Neither an aggregate nor a window nor a query.
    fn is_plain(&self, text: &str) -> bool {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        !words.any(|word| (self.is_aggregate)(word) || matches!(word, "OVER" | "SELECT"))
    }
}

/// `TABLE t` as a statement, which sqlparser does not know.
pub fn all_of_table(text: &str) -> Option<String> {
    match text.split_whitespace().collect::<Vec<_>>()[..] {
        [word, name] if word.eq_ignore_ascii_case("table") && is_plain_name(name) => {
            Some(format!("SELECT * FROM {name}"))
        }
        _ => None,
    }
}

fn is_plain_name(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// `SELECT * FROM name`
fn all_of(name: &str) -> Option<Box<ast::Query>> {
    let mut parsed = Parser::parse_sql(&GenericDialect {}, &format!("SELECT * FROM {name}")).ok()?;
    match parsed.pop() {
        Some(ast::Statement::Query(query)) => Some(query),
        _ => None,
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
