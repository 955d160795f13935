//! From the mutated nodes to the root: how each operator of a query changes the relation below it.
//!
//! A node that no mutation reaches equals itself, so one walk handles one mutation or several. Names carry
//! relations from where they are made, in a derived table or a common table expression, to where they are used.

mod aggregate;
mod predicate;
mod value;

use super::facts::{Cell, Facts, Known};
use super::mutate::{Address, Local, Site, address, is_touched};
use super::relation::{Column, Relation, Shift, Span};
use super::rules::{OPPOSITE, Rule, Stopped, together};
use crate::dialect::Feature;
use crate::oracle::kit::gate::{self, has_aggregate};
use crate::sql::*;

type Outcome<T> = Result<T, Stopped>;

/// What is predicted of a query and its mutation, and the rules that it follows from.
pub fn predict(query: &Query, sites: &[Site], facts: &Facts) -> Result<(Relation, Vec<Rule>), Stopped> {
    let mut walk = Propagation {
        sites,
        facts,
        used: Vec::new(),
        met: Vec::new(),
        scopes: Vec::new(),
        common: Vec::new(),
        in_relation: false,
        queries: 0,
    };
    let rows = walk.query(query)?;
    // What no rule looked at may have changed anything: the number in a LIMIT, a key of ORDER BY.
    if !sites.iter().all(|site| walk.met.contains(&site.address)) {
        return Err(Stopped("mutation that no rule covers"));
    }
    let column =
        |(_, cell): &(Option<Name>, Cell)| Column { change: cell.change, rounded: cell.known.rounded };
    walk.used.sort();
    walk.used.dedup();
    Ok((Relation { span: rows.span, columns: rows.columns.iter().map(column).collect() }, walk.used))
}

/// The result of a query.
#[derive(Clone)]
struct Rows {
    span: Span,
    columns: Vec<(Option<Name>, Cell)>,
}

impl Rows {
    fn is_changed(&self) -> bool {
        self.span != Span::Bijective || self.columns.iter().any(|(_, cell)| !cell.change.is_none())
    }

    fn changes_values(&self) -> bool {
        self.columns.iter().any(|(_, cell)| !cell.change.is_none())
    }
}

/// A table that columns are named of.
struct Source {
    alias: Name,
    /// None: a table function, of whose columns nothing is known.
    columns: Option<Vec<(Name, Cell)>>,
}

impl Source {
    fn is_changed(&self) -> bool {
        self.columns.iter().flatten().any(|(_, cell)| !cell.change.is_none())
    }
}

/// The FROM of one SELECT.
#[derive(Default)]
struct Scope {
    sources: Vec<Source>,
    /// Set while groups are looked at: their keys, the only columns that they have.
    keys: Option<Vec<(Expr, Cell)>>,
    /// The rows that the groups are made of.
    rows: Option<Span>,
}

struct Propagation<'a> {
    sites: &'a [Site],
    facts: &'a Facts<'a>,
    used: Vec<Rule>,
    /// The nodes whose mutation was taken into account.
    met: Vec<Address>,
    scopes: Vec<Scope>,
    common: Vec<(Name, Rows)>,
    /// At the top of a derived or common table expression.
    in_relation: bool,
    /// How deep queries are nested.
    queries: usize,
}

impl Propagation<'_> {
    fn local<T: 'static>(&mut self, node: &T) -> Option<Local> {
        let address = address(node);
        let site = self.sites.iter().find(|site| site.address == address)?;
        self.met.push(address);
        Some(site.local)
    }

    /// The rows of a node whose parts let these through, after its own mutation.
    fn with_local<T: 'static>(&mut self, node: &T, span: Span) -> Outcome<Span> {
        match self.local(node) {
            Some(Local::Rows(local)) => together([span, local]),
            _ => Ok(span),
        }
    }

    /// The query of a derived or common table expression.
    fn relation(&mut self, query: &Query) -> Outcome<Rows> {
        let before = std::mem::replace(&mut self.in_relation, true);
        let rows = self.query(query);
        self.in_relation = before;
        rows
    }

    /// What is deduplicated must have one representative among equal values (SOUNDNESS 0.8), and where
    /// types are dynamic the affinity of a deduplicated relation is not defined (SOUNDNESS 1).
    fn deduplicated(&self, rows: &Rows) -> Outcome<()> {
        if self.in_relation && self.is_dynamic() {
            return Err(Stopped("relation whose column affinity is not defined"));
        }
        match rows.columns.iter().all(|(_, cell)| cell.has_one_representative()) {
            true => Ok(()),
            false => Err(Stopped("deduplicated values that are equal but not identical")),
        }
    }

    /// Where columns have a type, a set operator converts its branches to a common one: a branch alone shows
    /// the same values only if they are of one type. Texts of one kind may be of several: CHAR pads, TEXT does not.
    fn of_one_type(&self, rows: &Rows) -> Outcome<()> {
        let mixed = |(_, cell): &(_, Cell)| {
            cell.known.kind == Kind::Any || (cell.known.kind == Kind::Text && !cell.known.identity)
        };
        match !self.is_dynamic() && rows.columns.iter().any(mixed) {
            true => Err(Stopped("set operator that converts its branches")),
            false => Ok(()),
        }
    }

    fn is_dynamic(&self) -> bool {
        self.facts.dialect.can(Feature::DynamicTyping)
    }

    fn query(&mut self, query: &Query) -> Outcome<Rows> {
        self.queries += 1;
        let rows = self.query_below(query);
        self.queries -= 1;
        rows
    }

    fn query_below(&mut self, query: &Query) -> Outcome<Rows> {
        let before = self.common.len();
        if let Some(with) = &query.with {
            for table in &with.tables {
                let mut rows = self.relation(&table.query)?;
                if with.recursive && rows.is_changed() {
                    return Err(Stopped("recursive common table expression"));
                }
                rename(&mut rows, &table.columns);
                self.common.push((table.name.clone(), rows));
            }
        }
        let mut rows = self.body(&query.body)?;
        self.common.truncate(before);
        if !query.order_by.is_empty() && rows.is_changed() {
            self.used.push(Rule::OrderBy);
        }
        if query.limit.is_some() || query.offset.is_some() {
            if !is_total(query, &rows) {
                return Err(Stopped("LIMIT without a total order"));
            }
            if rows.is_changed() || query.order_by.iter().any(|item| is_touched(&item.expr, self.sites)) {
                return Err(Stopped("LIMIT over changed rows"));
            }
        }
        rows.span = self.with_local(query, rows.span)?;
        Ok(rows)
    }

    fn body(&mut self, body: &Body) -> Outcome<Rows> {
        let mut rows = match body {
            Body::Select(select) => self.select(select)?,
            Body::Nested(query) => self.query(query)?,
            Body::Values(lists) => {
                let mut columns = Vec::new();
                for list in lists {
                    columns.clear();
                    for expr in list {
                        self.unchanged(expr, "changed value in VALUES")?;
                        columns.push((None, Cell::same(Known::NOTHING)));
                    }
                }
                Rows { span: Span::Bijective, columns }
            }
            Body::Compound { op, all, left, right } => {
                let left = self.body(left)?;
                let right = self.body(right)?;
                self.compound(*op, *all, left, right)?
            }
        };
        let span = self.with_local(body, rows.span)?;
        if span != rows.span && matches!(body, Body::Compound { .. }) {
            self.of_one_type(&rows)?;
        }
        rows.span = span;
        Ok(rows)
    }

    fn compound(&mut self, op: SetOp, all: bool, left: Rows, right: Rows) -> Outcome<Rows> {
        if self.is_dynamic() && self.queries > 1 {
            return Err(Stopped("relation whose column affinity is not defined"));
        }
        let changed = left.is_changed() || right.is_changed();
        let right_span = if op == SetOp::Except { right.span.reversed() } else { right.span };
        let span = together([left.span, right_span])?;
        let mut columns = Vec::new();
        for ((name, a), (_, b)) in left.columns.iter().zip(&right.columns) {
            let known = a.known.or(b.known);
            columns.push((name.clone(), Cell { change: a.change.and(b.change).ok_or(OPPOSITE)?, known }));
        }
        let result = Rows { span, columns };
        if op == SetOp::Union && all {
            self.used.extend(changed.then_some(Rule::UnionAll));
            return Ok(result);
        }
        self.deduplicated(&result)?;
        if !changed {
            return Ok(result);
        }
        if result.changes_values() {
            return Err(Stopped("changed value compared by a set operator"));
        }
        if op != SetOp::Except {
            self.used.push(if op == SetOp::Union { Rule::Union } else { Rule::Intersect });
        } else {
            self.used.extend(left.is_changed().then_some(Rule::ExceptLeft));
            self.used.extend(right.is_changed().then_some(Rule::ExceptRight));
        }
        Ok(result)
    }

    fn select(&mut self, select: &Select) -> Outcome<Rows> {
        self.scopes.push(Scope::default());
        let in_relation = std::mem::replace(&mut self.in_relation, false);
        let rows = self.select_in_scope(select);
        self.in_relation = in_relation;
        self.scopes.pop();
        let mut rows = rows?;
        let span = self.with_local(select, rows.span)?;
        if select.distinct || span != rows.span {
            self.deduplicated(&rows)?;
        }
        rows.span = span;
        Ok(rows)
    }

    fn select_in_scope(&mut self, select: &Select) -> Outcome<Rows> {
        let mut span = Span::Bijective;
        for table in &select.from {
            span = together([span, self.table(table)?])?;
        }
        if let Some(filter) = &select.filter {
            span = self.filtered(span, filter, Rule::Where)?;
        }
        let in_items = select.items.iter().any(|item| match item {
            SelectItem::Expr { expr, .. } => has_aggregate(expr),
            _ => false,
        });
        if !select.group_by.is_empty() || in_items || select.having.is_some() {
            if select.group_by.is_empty() && !in_items {
                return Err(Stopped("HAVING without a group"));
            }
            span = self.groups(select, span)?;
        }
        if let Some(having) = &select.having {
            span = self.filtered(span, having, Rule::Having)?;
        }
        let mut columns = Vec::new();
        for item in &select.items {
            let SelectItem::Expr { expr, alias } = item else {
                return Err(Stopped("SELECT * is not analysed"));
            };
            let name = alias.clone().or_else(|| match expr {
                Expr::Column(reference) => Some(reference.column.clone()),
                _ => None,
            });
            columns.push((name, self.value(expr)?));
        }
        let rows = Rows { span, columns };
        if select.distinct && rows.is_changed() {
            if rows.changes_values() {
                return Err(Stopped("DISTINCT over a changed value"));
            }
            self.used.push(Rule::Distinct);
        }
        Ok(rows)
    }

    /// What a condition leaves of rows or groups.
    fn filtered(&mut self, span: Span, condition: &Expr, rule: Rule) -> Outcome<Span> {
        let shift = self.predicate(condition)?;
        if span != Span::Bijective || shift != Shift::None {
            self.used.push(rule);
        }
        together([span, shift.span()])
    }

    /// Groups by keys that are equal: a group goes to the group of the same key. Without keys there is
    /// one group on either side.
    fn groups(&mut self, select: &Select, rows: Span) -> Outcome<Span> {
        if !select.grouping.is_plain() {
            return Err(Stopped("GROUPING SETS"));
        }
        let mut keys = Vec::new();
        for key in &select.group_by {
            let cell = self.value(key)?;
            if !cell.change.is_none() {
                return Err(Stopped("GROUP BY a changed value"));
            }
            if !cell.has_one_representative() {
                return Err(Stopped("GROUP BY equal values that are not identical"));
            }
            keys.push((key.clone(), cell));
        }
        let scope = self.scope();
        let changed = rows != Span::Bijective || scope.sources.iter().any(Source::is_changed);
        scope.keys = Some(keys);
        scope.rows = Some(rows);
        if select.group_by.is_empty() {
            return Ok(Span::Bijective);
        }
        if changed {
            self.used.push(Rule::GroupBy);
        }
        Ok(rows)
    }

    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn source(&mut self, alias: &Name, rows: &Rows) {
        let columns = rows.columns.iter();
        let columns = columns.map(|(name, cell)| (name.clone().unwrap_or_else(|| Name::from("")), *cell));
        let columns = Some(columns.collect());
        self.scope().sources.push(Source { alias: alias.clone(), columns });
    }

    fn table(&mut self, table: &TableRef) -> Outcome<Span> {
        let span = match table {
            TableRef::Table { name, alias, .. } => {
                let alias = alias.as_ref().unwrap_or(name);
                if let Some((_, rows)) = self.common.iter().rev().find(|(common, _)| common == name) {
                    let rows = rows.clone();
                    if rows.is_changed() {
                        self.used.push(Rule::Common);
                    }
                    self.source(alias, &rows);
                    rows.span
                } else {
                    let columns = Some(self.stored_columns(name));
                    self.scope().sources.push(Source { alias: alias.clone(), columns });
                    Span::Bijective
                }
            }
            TableRef::Derived { query, alias, columns, lateral } => {
                let mut rows = self.relation(query)?;
                if rows.is_changed() {
                    if *lateral {
                        return Err(Stopped("LATERAL"));
                    }
                    self.used.push(Rule::Derived);
                }
                rename(&mut rows, columns);
                self.source(alias, &rows);
                rows.span
            }
            TableRef::Function { args, alias, .. } => {
                for arg in args {
                    self.unchanged(arg, "changed argument of a table function")?;
                }
                self.scope().sources.push(Source { alias: alias.clone(), columns: None });
                Span::Bijective
            }
            TableRef::Join { kind, left, right, on } => self.join(*kind, left, right, on)?,
        };
        self.with_local(table, span)
    }

    fn stored_columns(&self, name: &Name) -> Vec<(Name, Cell)> {
        let Some(table) = self.facts.state.table(name) else { return Vec::new() };
        let cell = |column| Cell::same(self.facts.column(table, column));
        table.columns.iter().map(|column| (column.name.clone(), cell(column))).collect()
    }

    fn join(&mut self, kind: JoinKind, left: &TableRef, right: &TableRef, on: &JoinOn) -> Outcome<Span> {
        let first = self.scope().sources.len();
        let left = self.table(left)?;
        let second = self.scope().sources.len();
        let right = self.table(right)?;
        let sources = &self.scope().sources;
        let values =
            [&sources[first..second], &sources[second..]].map(|side| side.iter().any(Source::is_changed));
        let condition = match on {
            JoinOn::On(condition) => self.predicate(condition)?,
            JoinOn::Nothing => Shift::None,
            JoinOn::Natural | JoinOn::Using(_) if values[0] || values[1] => {
                return Err(Stopped("USING or NATURAL over a changed value"));
            }
            JoinOn::Natural | JoinOn::Using(_) => Shift::None,
        };
        let changed = [left, right].map(|span| span != Span::Bijective);
        if !(changed[0] || changed[1] || values[0] || values[1] || condition != Shift::None) {
            return Ok(Span::Bijective);
        }
        let (kept, padded) = match kind {
            JoinKind::Inner | JoinKind::Cross => {
                self.used.push(Rule::InnerJoin);
                if condition != Shift::None {
                    self.used.push(Rule::On);
                }
                return together([left, right, condition.span()]);
            }
            JoinKind::Left => (left, changed[1] || values[1]),
            JoinKind::Right => (right, changed[0] || values[0]),
            JoinKind::Full => return Err(Stopped("FULL JOIN of a changed input")),
        };
        if condition != Shift::None {
            return Err(Stopped("ON of an outer join"));
        }
        if padded {
            return Err(Stopped("padded side of an outer join"));
        }
        self.used.push(Rule::OuterJoin);
        Ok(kept)
    }

    /// A key of the groups that are looked at.
    fn key(&self, expr: &Expr) -> Option<Cell> {
        let keys = self.scopes.last()?.keys.as_ref()?;
        let (_, cell) = keys.iter().find(|(key, _)| key == expr)?;
        // A constant is one anywhere; what holds a mutation is no longer the key.
        let inside = !matches!(expr, Expr::Column(_)) && is_touched(expr, self.sites);
        (!inside).then_some(*cell)
    }

    fn column(&self, reference: &ColumnRef) -> Outcome<Cell> {
        for scope in self.scopes.iter().rev() {
            let owners = scope
                .sources
                .iter()
                .filter(|source| reference.table.as_ref().is_none_or(|t| *t == source.alias));
            let mut unknown = false;
            let mut found = None;
            for source in owners {
                match &source.columns {
                    None => unknown = true,
                    Some(columns) => {
                        let named = columns.iter().find(|(name, _)| *name == reference.column);
                        found = found.or(named.map(|(_, cell)| *cell));
                    }
                }
            }
            let Some(cell) = found.or(unknown.then_some(Cell::same(Known::NOTHING))) else { continue };
            return match &scope.keys {
                None => Ok(cell),
                Some(keys) => {
                    let is_it = |key: &Expr| matches!(key, Expr::Column(column) if column == reference);
                    let key = keys.iter().find(|(key, _)| is_it(key));
                    key.map(|(_, cell)| *cell).ok_or(Stopped("bare column next to an aggregate"))
                }
            };
        }
        Err(Stopped("column of unknown origin"))
    }
}

/// The names that follow an alias.
fn rename(rows: &mut Rows, names: &[Name]) {
    for ((name, _), given) in rows.columns.iter_mut().zip(names) {
        *name = Some(given.clone());
    }
}

/// Every column of the output is a key of ORDER BY, and equal keys are identical (SOUNDNESS 0.4).
fn is_total(query: &Query, rows: &Rows) -> bool {
    gate::orders_every_column(query) && rows.columns.iter().all(|(_, cell)| cell.has_one_representative())
}
