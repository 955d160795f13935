//! Error validation: if one arm fails, did the other merely avoid the error?
//!
//! An optimizer may skip what need not be evaluated, and the errors it would raise. It may never introduce an error. So
//! if one arm fails and another does not, every part of every expression of the statement is evaluated on its own, in a
//! select list, over all rows that its clause might have seen:
//!
//! ```sql
//! SELECT c0 FROM t0 WHERE 10 / c0 > 1 OR TRUE;    -- returns rows
//! SELECT c0 FROM t0 WHERE 10 / c0 > 1 OR $1;      -- prepared, with (TRUE): division by zero
//! SELECT 10 / c0 FROM t0;                         -- forced: the same error, so there is no finding
//! ```
//!
//! Clauses are tried from the last one executed to the first. An UPDATE or DELETE is evaluated over the rows of its
//! table, an INSERT over its values, and the constraints of the table over the rows that the statement would write.
//! Errors over relations that are queries are not reported: the optimizer pushes conditions into them, to rows that
//! they never return. (After algorithms 1 and 2 of the EPSC paper, but over more rows than the clause got, because
//! filters are moved.)

use std::collections::HashSet;

use super::gate::has_aggregate;
use crate::dialect::Feature;
use crate::engine::{ErrorClass, Reply, SqlError, Stop};
use crate::render::{Parens, query_to_sql};
use crate::session::Session;
use crate::sql::visit::{Visitor, any_expr, walk_expr};
use crate::sql::*;

/// Beyond so many questions an error is taken for one that was spared.
const MOST_PROBES: usize = 300;

/// Whether a part of the statement, forced, fails like this. `since` are statements of a check's own that define
/// tables and views, beside those of the database. The rows of a table that the statement changes may be others
/// afterwards.
pub fn is_spared(
    statement: &Statement,
    error: &SqlError,
    since: &[Statement],
    session: &mut Session,
) -> Result<bool, Stop> {
    // A change of rows fails where a query only warns, so that no query can show it.
    let strict = session.dialect().can(Feature::StrictChanges) && !matches!(statement, Statement::Query(_));
    if strict && error.class == ErrorClass::Runtime {
        return Ok(true);
    }
    session.note("errors of one arm, validated");
    let known: Vec<&Statement> = session.database().setup().iter().chain(since).collect();
    let dialect_types = session.dialect().is_typed();
    let mut probes =
        Probes { known: &known, dialect_types, nested: false, inside: Vec::new(), list: Vec::new() };
    probes.statement(statement);
    // A condition is pushed into a view or a derived table, to rows that it never returns; and a set operator
    // converts what its branches return, to a type that no expression shows.
    if probes.nested && error.class == ErrorClass::Runtime {
        return Ok(true);
    }
    let mut asked = HashSet::new();
    for probe in probes.list {
        let sql = query_to_sql(&probe, session.dialect(), Parens::Needed);
        if !asked.insert(sql) {
            continue;
        }
        if asked.len() > MOST_PROBES {
            return Ok(true);
        }
        match session.aside(|session| session.query(&probe))? {
            Reply::Failed(found) if is_same(&found, error) => return Ok(true),
            _ => {}
        }
    }
    is_spared_conversion(statement, error, session)
}

/// What an assignment converts silently or not at all no cast does: a value is written as a new row.
fn is_spared_conversion(
    statement: &Statement,
    error: &SqlError,
    session: &mut Session,
) -> Result<bool, Stop> {
    let (table, written): (&Name, Vec<(&Name, &Expr)>) = match statement {
        Statement::Update(update) => {
            let written = update.assignments.iter().map(|assignment| (&assignment.column, &assignment.value));
            (&update.table, written.collect())
        }
        Statement::Insert(Insert { table, columns, source: InsertSource::Query(query), .. }) => {
            let items = query.as_select().map(|select| select.items.as_slice()).unwrap_or_default();
            let written = std::iter::zip(columns, items).filter_map(|(column, item)| match item {
                SelectItem::Expr { expr, .. } => Some((column, expr)),
                _ => None,
            });
            (table, written.collect())
        }
        _ => return Ok(false),
    };
    for (column, value) in written {
        let reads = any_expr(value, |inner| matches!(inner, Expr::Column(_)));
        let source = match (reads, statement) {
            (false, _) => InsertSource::Values(vec![vec![value.clone()]]),
            (true, Statement::Update(_)) => {
                let from = vec![TableRef::table(table.clone())];
                let items = vec![value.clone().into()];
                InsertSource::Query(Box::new(Query::select(Select { items, from, ..Select::default() })))
            }
            _ => continue,
        };
        let (table, columns) = (table.clone(), vec![column.clone()]);
        let insert = Statement::Insert(Insert { table, or: None, columns, source, upsert: None });
        match session.aside(|session| session.run(&insert))? {
            Reply::Failed(found) if is_same(&found, error) => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}

/// Errors that values raise are alike: which of several is met first is not defined. What a statement's form
/// raises must be the same error: a question may be malformed in a way of its own.
fn is_same(found: &SqlError, error: &SqlError) -> bool {
    found.class == error.class
        && (error.class == ErrorClass::Runtime
            || (found.code == error.code && found.words() == error.words()))
}

/// The questions that force the parts of a statement.
struct Probes<'a> {
    known: &'a [&'a Statement],
    dialect_types: bool,
    /// It reads relations that are queries themselves, or puts several together.
    nested: bool,
    /// The views that are being taken apart.
    inside: Vec<Name>,
    list: Vec<Query>,
}

impl Probes<'_> {
    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(query) => self.query(query, &[], None),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => {
                let from = [TableRef::table(update.table.clone())];
                let values = update.assignments.iter().map(|assignment| &assignment.value);
                self.forced(values.chain(&update.filter), &from, None);
                self.constraints(&update.table, |column| {
                    update.assignments.iter().find(|a| a.column == *column).map(|a| a.value.clone())
                });
            }
            Statement::Delete(delete) => {
                self.forced(delete.filter.iter(), &[TableRef::table(delete.table.clone())], None);
            }
            Statement::CreateTable(CreateTable { query: Some(query), .. }) => self.query(query, &[], None),
            _ => {}
        }
    }

    fn insert(&mut self, insert: &Insert) {
        match &insert.source {
            InsertSource::Query(query) => self.query(query, &[], None),
            InsertSource::Values(rows) => {
                self.forced(rows.iter().flatten(), &[], None);
                let named = self.columns_of(&insert.table);
                let filled = if insert.columns.is_empty() { named } else { insert.columns.clone() };
                for row in rows {
                    self.constraints(&insert.table, |column| {
                        let at = filled.iter().position(|name| name == column);
                        Some(at.and_then(|at| row.get(at)).cloned().unwrap_or(Expr::null()))
                    });
                }
            }
            InsertSource::Defaults => {}
        }
    }

    fn created(&self, table: &Name) -> Option<&CreateTable> {
        self.known.iter().find_map(|statement| match statement {
            Statement::CreateTable(create) if create.name == *table => Some(create),
            _ => None,
        })
    }

    fn columns_of(&self, table: &Name) -> Vec<Name> {
        let columns = self.created(table).into_iter().flat_map(|create| &create.columns);
        columns.map(|column| column.name.clone()).collect()
    }

    /// Whatever is computed when a row is written, over the row as it would be; `value` is what a column gets,
    /// `None` what it has.
    fn constraints(&mut self, table: &Name, value: impl Fn(&Name) -> Option<Expr>) {
        let Some(create) = self.created(table).cloned() else { return };
        let mut computed = checks(&create);
        let mut items = Vec::new();
        let mut kept = false;
        for column in &create.columns {
            let generated = column.constraints.iter().find_map(|constraint| match constraint {
                ColumnConstraint::Generated { expr, .. } => Some(expr.clone()),
                _ => None,
            });
            let expr = match generated {
                Some(expr) => {
                    computed.push(expr);
                    continue;
                }
                None => value(&column.name),
            };
            kept |= expr.is_none();
            let expr = match expr {
                Some(expr) if self.dialect_types => {
                    Expr::Cast { expr: Box::new(expr), ty: column.ty.clone() }
                }
                Some(expr) => expr,
                None => Expr::bare_column(column.name.clone()),
            };
            items.push(SelectItem::Expr { expr, alias: Some(column.name.clone()) });
        }
        for statement in self.known {
            if let Statement::CreateIndex(index) = statement
                && index.table == *table
            {
                computed.extend(index.keys.iter().map(|key| key.expr.clone()).chain(index.filter.clone()));
            }
        }
        let from = if kept { vec![TableRef::table(table.clone())] } else { Vec::new() };
        let row = Query::select(Select { items, from, ..Select::default() });
        self.list.push(row.clone());
        let rows = TableRef::Derived {
            query: Box::new(row),
            alias: table.clone(),
            columns: Vec::new(),
            lateral: false,
        };
        self.forced(computed.iter(), &[rows], None);
    }

    /// The parts of a query; `outer` are the relations around it, `around` the common tables that it sees besides its own.
    fn query(&mut self, query: &Query, outer: &[TableRef], around: Option<&With>) {
        let with = query.with.as_ref().or(around);
        let bounds = query.limit.iter().chain(&query.offset);
        self.forced(bounds, &[], with);
        if let Some(select) = query.as_select() {
            let keys: Vec<Expr> = query.order_by.iter().map(|item| item.expr.clone()).collect();
            self.in_select(keys.iter(), select, outer, with);
        }
        self.body(&query.body, outer, with);
        // Those around it were taken apart where they stand: one of them may hold this query.
        for table in query.with.iter().flat_map(|with| &with.tables) {
            let inner = Query { with: query.with.clone(), ..table.query.clone() };
            let inner = if table.query.with.is_some() { table.query.clone() } else { inner };
            self.list.push(inner.clone());
            self.body(&inner.body, outer, inner.with.as_ref());
        }
    }

    fn body(&mut self, body: &Body, outer: &[TableRef], with: Option<&With>) {
        match body {
            Body::Select(select) => self.select(select, outer, with),
            Body::Compound { left, right, .. } => {
                self.nested = true;
                self.body(left, outer, with);
                self.body(right, outer, with);
            }
            Body::Values(rows) => self.forced(rows.iter().flatten(), &[], with),
            Body::Nested(query) => self.query(query, outer, with),
        }
    }

    /// In reverse order of execution: the list, HAVING, GROUP BY, WHERE, FROM.
    fn select(&mut self, select: &Select, outer: &[TableRef], with: Option<&With>) {
        let items = select.items.iter().filter_map(|item| match item {
            SelectItem::Expr { expr, .. } => Some(expr),
            _ => None,
        });
        self.in_select(items, select, outer, with);
        self.in_select(select.having.iter(), select, outer, with);
        self.in_select(select.group_by.iter().chain(&select.filter), select, outer, with);
        let mut conditions = Vec::new();
        let mut inner = Vec::new();
        let mut names = Vec::new();
        for table in &select.from {
            conditions_of(table, &mut conditions);
            leaves(table, &mut inner);
        }
        self.in_select(conditions.iter(), select, outer, with);
        for table in inner {
            match table {
                TableRef::Derived { query, lateral, .. } => {
                    self.nested = true;
                    let outer = if lateral { outer } else { &[] };
                    self.query(&query, outer, with);
                }
                TableRef::Table { name, .. } => names.push(name),
                _ => {}
            }
        }
        // A column may be computed whenever it is read, and a CHECK may be asked whether there can be rows at all.
        for name in &names {
            let from = vec![TableRef::table(name.clone())];
            let checks = self.created(name).map(checks).unwrap_or_default();
            self.forced(checks.iter(), &from, None);
            let all = Select { items: vec![SelectItem::Wildcard], from, ..Select::default() };
            self.list.push(Query::select(all));
        }
        let views: Vec<(Name, Query)> = self
            .known
            .iter()
            .filter_map(|statement| match statement {
                Statement::CreateView(view) if names.contains(&view.name) => {
                    Some((view.name.clone(), view.query.clone()))
                }
                _ => None,
            })
            .collect();
        self.nested |= !views.is_empty() || with.is_some();
        for (name, query) in views {
            // Views that came and went may each have read the other.
            if !self.inside.contains(&name) {
                self.inside.push(name);
                self.query(&query, &[], None);
                self.inside.pop();
            }
        }
    }

    /// Expressions of a clause of a SELECT: over its FROM as it is, over the relations they name, and, if they
    /// aggregate, over its groups with and without what WHERE keeps out.
    fn in_select<'e>(
        &mut self,
        exprs: impl Iterator<Item = &'e Expr>,
        select: &Select,
        outer: &[TableRef],
        with: Option<&With>,
    ) {
        let mut around: Vec<TableRef> = outer.to_vec();
        select.from.iter().for_each(|table| leaves(table, &mut around));
        for part in exprs.flat_map(parts) {
            if has_aggregate(&part) {
                // A count raises nothing: over the rows that are kept it would only be the query again.
                let filters = if only_counts(&part) { vec![None] } else { vec![select.filter.clone(), None] };
                for filter in filters {
                    let items = vec![part.clone().into()];
                    let grouped = Select {
                        items,
                        from: select.from.clone(),
                        filter,
                        group_by: select.group_by.clone(),
                        ..Select::default()
                    };
                    self.list.push(Query { with: with.cloned(), ..Query::select(grouped) });
                }
                continue;
            }
            if outer.is_empty() {
                self.forced([&part].into_iter(), &select.from, with);
            }
            let named = around.iter().filter(|table| names(&part, table)).cloned().collect::<Vec<_>>();
            self.forced([&part].into_iter(), &named, with);
            // A column without its table may be any one's.
            if any_expr(&part, |inner| matches!(inner, Expr::Column(reference) if reference.table.is_none()))
            {
                for table in &around {
                    self.forced([&part].into_iter(), std::slice::from_ref(table), with);
                }
            }
            self.subqueries(&part, &around, with);
        }
    }

    /// Subqueries right inside an expression, over what is around them as well.
    fn subqueries(&mut self, expr: &Expr, around: &[TableRef], with: Option<&With>) {
        struct Direct(Vec<Query>);
        impl Visitor for Direct {
            fn query(&mut self, query: &Query) {
                self.0.push(query.clone());
            }
        }
        let mut direct = Direct(Vec::new());
        walk_expr(&mut direct, expr);
        for query in direct.0 {
            self.query(&query, around, with);
        }
    }

    /// `SELECT part FROM …` for every part of some expressions.
    fn forced<'e>(&mut self, exprs: impl Iterator<Item = &'e Expr>, from: &[TableRef], with: Option<&With>) {
        for part in exprs.flat_map(parts) {
            let alone = !from.is_empty() && !any_expr(&part, |inner| matches!(inner, Expr::Column(_)));
            let select = Select { items: vec![part.into()], from: from.to_vec(), ..Select::default() };
            // What reads no row may be evaluated where there is none.
            if alone {
                self.list.push(Query::select(Select { from: Vec::new(), ..select.clone() }));
            }
            self.list.push(Query { with: with.cloned(), ..Query::select(select) });
        }
    }
}

/// What every row of a table must satisfy.
fn checks(create: &CreateTable) -> Vec<Expr> {
    let of_columns = create.columns.iter().flat_map(|column| &column.constraints);
    let of_columns = of_columns.filter_map(|constraint| match constraint {
        ColumnConstraint::Check(expr) => Some(expr),
        _ => None,
    });
    let of_table = create.constraints.iter().filter_map(|constraint| match constraint {
        TableConstraint::Check(expr) => Some(expr),
        _ => None,
    });
    of_columns.chain(of_table).cloned().collect()
}

/// An expression and all below it, the smallest last; what stands in subqueries is looked at over their own
/// relations. Nothing is raised by a literal or a column.
fn parts(expr: &Expr) -> Vec<Expr> {
    struct Parts(Vec<Expr>);
    impl Visitor for Parts {
        fn expr(&mut self, expr: &Expr) {
            if !matches!(expr, Expr::Literal(_) | Expr::Bound(_) | Expr::Column(_) | Expr::Row(_)) {
                self.0.push(expr.clone());
            }
            walk_expr(self, expr);
        }
        fn query(&mut self, _: &Query) {}
    }
    let mut parts = Parts(Vec::new());
    parts.expr(expr);
    parts.0
}

/// Whether nothing but counts and extremes is aggregated.
fn only_counts(expr: &Expr) -> bool {
    let raises = |inner: &Expr| match inner {
        Expr::Aggregate(aggregate) => {
            !["count", "min", "max"].iter().any(|name| aggregate.name.eq_ignore_ascii_case(name))
        }
        _ => false,
    };
    !any_expr(expr, raises)
}

/// Whether an expression may read a relation.
fn names(expr: &Expr, table: &TableRef) -> bool {
    let alias = match table {
        TableRef::Table { name, alias, .. } => alias.as_ref().unwrap_or(name),
        TableRef::Derived { alias, .. } | TableRef::Function { alias, .. } => alias,
        TableRef::Join { .. } => return true,
    };
    any_expr(expr, |inner| match inner {
        Expr::Column(reference) => reference.table.as_ref().is_none_or(|table| table == alias),
        _ => false,
    })
}

/// The relations of a FROM, without what joins them.
fn leaves(table: &TableRef, list: &mut Vec<TableRef>) {
    match table {
        TableRef::Join { left, right, .. } => {
            leaves(left, list);
            leaves(right, list);
        }
        other => list.push(other.clone()),
    }
}

fn conditions_of(table: &TableRef, list: &mut Vec<Expr>) {
    if let TableRef::Join { left, right, on, .. } = table {
        conditions_of(left, list);
        conditions_of(right, list);
        if let JoinOn::On(condition) = on {
            list.push(condition.clone());
        }
    }
}
