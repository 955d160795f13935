use sqlparser::ast;

use super::expr::kind_of;
use super::{Lower, Lowered, refuse};
use crate::sql::*;

/// The beginning of the names that derived tables get which have none.
pub const GIVEN_ALIAS: &str = "derived_";

impl Lower<'_> {
    pub fn query(&self, query: &ast::Query) -> Lowered<Query> {
        let order_by = match &query.order_by {
            None => Vec::new(),
            Some(ast::OrderBy { kind: ast::OrderByKind::Expressions(keys), interpolate: None }) => {
                self.order_by(keys)?
            }
            Some(_) => return refuse("ORDER BY ALL"),
        };
        let (limit, offset) = match &query.limit_clause {
            None => (None, None),
            Some(ast::LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            Some(ast::LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
        };
        let locking = match query.locks.as_slice() {
            [] => None,
            [ast::LockClause { lock_type: ast::LockType::Update, .. }] => Some(Locking::Update),
            [ast::LockClause { lock_type: ast::LockType::Share, .. }] => Some(Locking::Share),
            _ => return refuse("locks of several kinds"),
        };
        Ok(Query {
            with: query.with.as_ref().map(|with| self.with(with)).transpose()?,
            body: self.body(&query.body)?,
            order_by,
            limit: self.optional(limit)?,
            offset: self.optional(offset)?,
            locking,
        })
    }

    fn with(&self, with: &ast::With) -> Lowered<With> {
        let table = |cte: &ast::Cte| {
            Ok(CommonTable {
                name: self.name(&cte.alias.name),
                columns: cte.alias.columns.iter().map(|column| self.name(&column.name)).collect(),
                materialized: cte.materialized.as_ref().map(|m| *m == ast::CteAsMaterialized::Materialized),
                query: self.query(&cte.query)?,
            })
        };
        let tables = with.cte_tables.iter().map(table).collect::<Lowered<_>>()?;
        Ok(With { recursive: with.recursive, tables })
    }

    fn body(&self, body: &ast::SetExpr) -> Lowered<Body> {
        Ok(match body {
            ast::SetExpr::Select(select) => Body::Select(Box::new(self.select(select)?)),
            ast::SetExpr::Values(values) => {
                let row = |row: &ast::Parens<Vec<ast::Expr>>| self.exprs(&row.content);
                Body::Values(values.rows.iter().map(row).collect::<Lowered<_>>()?)
            }
            ast::SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let op = match op {
                    ast::SetOperator::Union => SetOp::Union,
                    ast::SetOperator::Intersect => SetOp::Intersect,
                    ast::SetOperator::Except => SetOp::Except,
                    other => return refuse(format!("the set operator {other}")),
                };
                let all = match set_quantifier {
                    ast::SetQuantifier::All => true,
                    ast::SetQuantifier::None => false,
                    other => return refuse(format!("the set quantifier {other}")),
                };
                Body::Compound {
                    op,
                    all,
                    left: Box::new(self.body(left)?),
                    right: Box::new(self.body(right)?),
                }
            }
            ast::SetExpr::Query(query) => {
                let query = self.query(query)?;
                let bare = query.with.is_none() && query.order_by.is_empty() && query.limit.is_none();
                match query.body {
                    body if bare && query.offset.is_none() && query.locking.is_none() => body,
                    body => Body::Nested(Box::new(Query { body, ..query })),
                }
            }
            _ => return refuse("a change inside a query"),
        })
    }

    fn select(&self, select: &ast::Select) -> Lowered<Select> {
        let distinct = match &select.distinct {
            None => false,
            Some(ast::Distinct::Distinct) => true,
            Some(_) => return refuse("DISTINCT ON"),
        };
        let (grouping, group_by) = self.group_by(&select.group_by)?;
        let window = |ast::NamedWindowDefinition(name, window): &ast::NamedWindowDefinition| match window {
            ast::NamedWindowExpr::WindowSpec(spec) => {
                Ok(NamedWindow { name: self.name(name), spec: self.window_spec(spec)? })
            }
            ast::NamedWindowExpr::NamedWindow(_) => refuse("a window named after another"),
        };
        Ok(Select {
            distinct,
            items: select.projection.iter().map(|item| self.item(item)).collect::<Lowered<_>>()?,
            from: self.from(&select.from)?,
            filter: self.optional(select.selection.as_ref())?,
            group_by,
            grouping,
            having: self.optional(select.having.as_ref())?,
            windows: select.named_window.iter().map(window).collect::<Lowered<_>>()?,
        })
    }

    fn group_by(&self, group_by: &ast::GroupByExpr) -> Lowered<(Grouping, Vec<Expr>)> {
        let ast::GroupByExpr::Expressions(keys, modifiers) = group_by else { return refuse("GROUP BY ALL") };
        let (grouping, sets) = match (keys.as_slice(), modifiers.as_slice()) {
            ([ast::Expr::Rollup(sets)], []) => (Grouping::Rollup, sets.as_slice()),
            ([ast::Expr::Cube(sets)], []) => (Grouping::Cube, sets.as_slice()),
            ([ast::Expr::GroupingSets(sets)], []) => match sets.split_last() {
                Some((last, keys)) if last.is_empty() => (Grouping::Sets, keys),
                _ => return refuse("GROUPING SETS without the empty one at the end"),
            },
            (keys, []) => return Ok((Grouping::Plain, self.exprs(keys)?)),
            (keys, [ast::GroupByWithModifier::Rollup]) => return Ok((Grouping::Rollup, self.exprs(keys)?)),
            _ => return refuse("GROUP BY with more than keys"),
        };
        let alone = |set: &Vec<ast::Expr>| match set.as_slice() {
            [key] => self.expr(key),
            _ => refuse("several keys as one"),
        };
        Ok((grouping, sets.iter().map(alone).collect::<Lowered<_>>()?))
    }

    fn item(&self, item: &ast::SelectItem) -> Lowered<SelectItem> {
        Ok(match item {
            ast::SelectItem::UnnamedExpr(expr) => SelectItem::from(self.expr(expr)?),
            ast::SelectItem::ExprWithAlias { expr, alias } => {
                SelectItem::Expr { expr: self.expr(expr)?, alias: Some(self.name(alias)) }
            }
            ast::SelectItem::Wildcard(_) => SelectItem::Wildcard,
            ast::SelectItem::QualifiedWildcard(
                ast::SelectItemQualifiedWildcardKind::ObjectName(table),
                _,
            ) => SelectItem::TableWildcard(self.object(table)?),
            other => return refuse(format!("a select item of the kind {}", kind_of(other))),
        })
    }

    /// What a SELECT reads. The table that stands where nothing is read is nothing.
    fn from(&self, tables: &[ast::TableWithJoins]) -> Lowered<Vec<TableRef>> {
        let nothing = self.dialect.spelling.from_nothing.as_deref();
        match tables {
            [table] if nothing.is_some_and(|nothing| table.to_string().eq_ignore_ascii_case(nothing)) => {
                Ok(Vec::new())
            }
            tables => tables.iter().map(|table| self.joined(table)).collect(),
        }
    }

    fn joined(&self, tables: &ast::TableWithJoins) -> Lowered<TableRef> {
        let mut left = self.table(&tables.relation)?;
        for join in &tables.joins {
            use ast::JoinOperator::*;
            let (kind, constraint) = match &join.join_operator {
                Join(constraint) | Inner(constraint) => (JoinKind::Inner, constraint),
                Left(constraint) | LeftOuter(constraint) => (JoinKind::Left, constraint),
                Right(constraint) | RightOuter(constraint) => (JoinKind::Right, constraint),
                FullOuter(constraint) => (JoinKind::Full, constraint),
                CrossJoin(constraint) => (JoinKind::Cross, constraint),
                _ => return refuse("a join that is neither inner, outer nor cross"),
            };
            let on = match constraint {
                ast::JoinConstraint::None => JoinOn::Nothing,
                ast::JoinConstraint::Natural => JoinOn::Natural,
                ast::JoinConstraint::On(condition) => JoinOn::On(self.expr(condition)?),
                ast::JoinConstraint::Using(columns) => {
                    JoinOn::Using(columns.iter().map(|column| self.object(column)).collect::<Lowered<_>>()?)
                }
            };
            left = TableRef::join(kind, left, self.table(&join.relation)?, on);
        }
        Ok(left)
    }

    fn index_hint(&self, hints: &[ast::TableIndexHints]) -> Lowered<Option<IndexHint>> {
        use ast::TableIndexHintType::{Force, Use};
        let [hint] = hints else {
            return if hints.is_empty() { Ok(None) } else { refuse("several index hints") };
        };
        match (hint.hint_type, hint.index_names.as_slice(), &hint.for_clause) {
            (Force, [index], None) => Ok(Some(IndexHint::IndexedBy(self.name(index)))),
            (Use, [], None) => Ok(Some(IndexHint::NotIndexed)),
            _ => refuse("an index hint"),
        }
    }

    fn table(&self, table: &ast::TableFactor) -> Lowered<TableRef> {
        let alias = |alias: &ast::TableAlias| self.name(&alias.name);
        Ok(match table {
            ast::TableFactor::Table { name, alias: given, args: None, index_hints, .. } => {
                if given.as_ref().is_some_and(|alias| !alias.columns.is_empty()) {
                    return refuse("a table with column aliases");
                }
                let hint = self.index_hint(index_hints)?;
                TableRef::Table { name: self.object(name)?, alias: given.as_ref().map(alias), hint }
            }
            ast::TableFactor::Table { name, alias: Some(given), args: Some(args), .. } => {
                TableRef::Function {
                    name: self.object(name)?,
                    args: self.arguments(&args.args)?,
                    alias: alias(given),
                    columns: given.columns.iter().map(|column| self.name(&column.name)).collect(),
                }
            }
            // The parser knows this function by its name.
            ast::TableFactor::UNNEST { alias: Some(given), array_exprs, with_offset: false, .. } => {
                TableRef::Function {
                    name: "unnest".into(),
                    args: self.exprs(array_exprs)?,
                    alias: alias(given),
                    columns: given.columns.iter().map(|column| self.name(&column.name)).collect(),
                }
            }
            ast::TableFactor::Derived { lateral, subquery, alias: given, .. } => {
                let query = Box::new(self.query(subquery)?);
                let columns = given.iter().flat_map(|alias| &alias.columns);
                TableRef::Derived {
                    columns: columns.map(|column| self.name(&column.name)).collect(),
                    alias: given.as_ref().map_or_else(|| self.given_alias(subquery), alias),
                    query,
                    lateral: *lateral,
                }
            }
            ast::TableFactor::NestedJoin { table_with_joins, alias: None } => {
                self.joined(table_with_joins)?
            }
            other => return refuse(format!("a relation of the kind {}", kind_of(other))),
        })
    }

    /// A name for a derived table that has none, by where it stands in the text.
    fn given_alias(&self, query: &ast::Query) -> Name {
        use sqlparser::ast::Spanned;
        let start = query.span().start;
        Name::from(format!("{GIVEN_ALIAS}{}_{}", start.line, start.column))
    }

    pub fn order_by(&self, keys: &[ast::OrderByExpr]) -> Lowered<Vec<OrderItem>> {
        keys.iter().map(|key| self.order_item(key)).collect()
    }

    fn order_item(&self, key: &ast::OrderByExpr) -> Lowered<OrderItem> {
        let desc = match &key.options.sort {
            None | Some(ast::OrderBySort::Asc) => false,
            Some(ast::OrderBySort::Desc) => true,
            Some(_) => return refuse("ORDER BY USING"),
        };
        let nulls =
            key.options.nulls_first.map(|first| if first { NullsOrder::First } else { NullsOrder::Last });
        Ok(OrderItem { expr: self.expr(&key.expr)?, desc, nulls })
    }
}
