//! From the mutated nodes to the root: what every operator of a query makes of the relation below it.
//!
//! A node that no mutation reaches is related to itself by equality, so one walk serves one mutation or
//! several. Names bring relations from where they are made, in a derived table or a common one, to where
//! they are used.

use super::facts::{ANY_WHOLE, Cell, Facts, Known, MANY_ROWS};
use super::mutate::{Address, Local, Needs, Site, address, is_touched};
use super::relation::{Change, Column, Direction, Nulls, Relation, Shift, Span};
use super::rules::{self, OPPOSITE, Rule, Stop, together};
use crate::dialect::Feature;
use crate::oracle::gate::{self, has_aggregate};
use crate::sql::*;

type Outcome<T> = Result<T, Stop>;

/// The operands of a product, where they are constants.
type Factors = (Option<i64>, Option<i64>);

/// What is predicted of a query and its mutation, and the rules that it follows from.
pub fn predict(query: &Query, sites: &[Site], facts: &Facts) -> Result<(Relation, Vec<Rule>), Stop> {
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
        return Err(Stop("mutation that no rule is about"));
    }
    let column = |(_, cell): &(Option<Name>, Cell)| Column {
        change: cell.change,
        rounded: cell.known.is_none_or(|known| known.rounded),
    };
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
    /// None: a stored table of which nothing is known.
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
    /// At the top of a derived or common table.
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

    /// The query of a derived or common table.
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
            return Err(Stop("relation whose column affinity is not defined"));
        }
        match rows.columns.iter().all(|(_, cell)| cell.has_one_representative()) {
            true => Ok(()),
            false => Err(Stop("values without one representative are deduplicated")),
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
                    return Err(Stop("recursive common table"));
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
                return Err(Stop("LIMIT without a total order"));
            }
            if rows.is_changed() || query.order_by.iter().any(|item| is_touched(&item.expr, self.sites)) {
                return Err(Stop("LIMIT over changed rows"));
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
        rows.span = self.with_local(body, rows.span)?;
        Ok(rows)
    }

    fn compound(&mut self, op: SetOp, all: bool, left: Rows, right: Rows) -> Outcome<Rows> {
        if self.is_dynamic() && self.queries > 1 {
            return Err(Stop("relation whose column affinity is not defined"));
        }
        let changed = left.is_changed() || right.is_changed();
        let right_span = if op == SetOp::Except { right.span.reversed() } else { right.span };
        let span = together([left.span, right_span])?;
        let mut columns = Vec::new();
        for ((name, a), (_, b)) in left.columns.iter().zip(&right.columns) {
            let known = a.known.zip(b.known).map(|(a, b)| a.or(b));
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
            return Err(Stop("changed value in what a set operator compares"));
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
                return Err(Stop("HAVING without a group"));
            }
            span = self.groups(select, span)?;
        }
        if let Some(having) = &select.having {
            span = self.filtered(span, having, Rule::Having)?;
        }
        let mut columns = Vec::new();
        for item in &select.items {
            let SelectItem::Expr { expr, alias } = item else {
                return Err(Stop("SELECT * is not looked into"));
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
                return Err(Stop("DISTINCT over a changed value"));
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
        let mut keys = Vec::new();
        for key in &select.group_by {
            let cell = self.value(key)?;
            if !cell.change.is_none() {
                return Err(Stop("GROUP BY a changed value"));
            }
            if !cell.has_one_representative() {
                return Err(Stop("GROUP BY values without one representative"));
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
                    let columns = self.stored_columns(name);
                    self.scope().sources.push(Source { alias: alias.clone(), columns });
                    Span::Bijective
                }
            }
            TableRef::Derived { query, alias, columns, lateral } => {
                let mut rows = self.relation(query)?;
                if rows.is_changed() {
                    if *lateral {
                        return Err(Stop("LATERAL"));
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

    fn stored_columns(&self, name: &Name) -> Option<Vec<(Name, Cell)>> {
        let state = self.facts.state?;
        let Some(table) = state.table(name) else { return Some(Vec::new()) };
        let cell = |column| Cell::same(self.facts.column(table, column));
        Some(table.columns.iter().map(|column| (column.name.clone(), cell(column))).collect())
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
                return Err(Stop("USING or NATURAL over a changed value"));
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
            JoinKind::Full => return Err(Stop("FULL JOIN of a changed input")),
        };
        if condition != Shift::None {
            return Err(Stop("ON of an outer join"));
        }
        if padded {
            return Err(Stop("padded side of an outer join"));
        }
        self.used.push(Rule::OuterJoin);
        Ok(kept)
    }

    /// How a condition relates to its mutation.
    fn predicate(&mut self, expr: &Expr) -> Outcome<Shift> {
        let shift = self.predicate_below(expr)?;
        match self.local(expr) {
            Some(Local::Predicate(local, needs)) => {
                self.require(needs, expr)?;
                shift.and(local).ok_or(OPPOSITE)
            }
            Some(_) => Err(Stop("changed value as a condition")),
            None => Ok(shift),
        }
    }

    fn predicate_below(&mut self, expr: &Expr) -> Outcome<Shift> {
        match expr {
            Expr::Unary { op: UnaryOp::Not, expr } => {
                let shift = self.predicate(expr)?;
                self.apply(Rule::Not, shift, rules::not)
            }
            Expr::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
                let shift = self.predicate(left)?.and(self.predicate(right)?).ok_or(OPPOSITE)?;
                self.apply(if *op == BinaryOp::And { Rule::And } else { Rule::Or }, shift, Ok)
            }
            Expr::Binary { op, left, right } if op.is_comparison() => self.comparison(*op, left, right),
            Expr::Is { expr, test, negated } if *test != Truth::Null => {
                let shift = self.predicate(expr)?;
                let rule = if *test == Truth::True { Rule::IsTrue } else { Rule::IsFalse };
                self.apply(rule, shift, |shift| rules::is(shift, *test, *negated))
            }
            Expr::Between { expr, low, high, negated } => {
                let value = self.value(expr)?;
                let (low, high) = (self.value(low)?, self.value(high)?);
                if !value.change.is_none() {
                    return Err(Stop("BETWEEN of a changed value"));
                }
                if low.change.is_none() && high.change.is_none() {
                    return Ok(Shift::None);
                }
                self.numbers(&[value, low, high])?;
                let above = rules::comparison(BinaryOp::Ge, value.change, low.change)?;
                let below = rules::comparison(BinaryOp::Le, value.change, high.change)?;
                let shift = above.and(below).ok_or(OPPOSITE)?;
                let shift = if *negated { rules::not(shift)? } else { shift };
                self.apply(Rule::Between, shift, Ok)
            }
            Expr::Exists { query, negated } => {
                let rows = self.query(query)?;
                let shift = rules::quantifier(rows.span, *negated);
                self.apply(Rule::Exists, shift, Ok)
            }
            Expr::InQuery { expr, query, negated } => {
                let value = self.value(expr)?;
                let rows = self.query(query)?;
                if !value.change.is_none() || rows.changes_values() {
                    return Err(Stop("IN of a changed value"));
                }
                self.apply(Rule::In, rules::quantifier(rows.span, *negated), Ok)
            }
            Expr::Quantified { op, left, all, query } => self.quantified(*op, left, *all, query),
            Expr::InList { expr, list, .. } => {
                self.unchanged(expr, "IN of a changed value")?;
                for item in list {
                    self.unchanged(item, "IN of a changed value")?;
                }
                Ok(Shift::None)
            }
            Expr::Match { expr, pattern, .. } => {
                self.unchanged(expr, "match of a changed value")?;
                self.unchanged(pattern, "match of a changed value")?;
                Ok(Shift::None)
            }
            other => {
                let cell = self.value_below(other)?;
                if cell.change.is_none() {
                    Ok(Shift::None)
                } else {
                    Err(Stop("changed value as a condition"))
                }
            }
        }
    }

    /// Counts a rule that has something to say.
    fn apply(
        &mut self,
        rule: Rule,
        shift: Shift,
        transfer: impl FnOnce(Shift) -> Outcome<Shift>,
    ) -> Outcome<Shift> {
        if shift == Shift::None {
            return Ok(Shift::None);
        }
        let shift = transfer(shift)?;
        self.used.push(rule);
        Ok(shift)
    }

    fn comparison(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Outcome<Shift> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        let shift = rules::comparison(op, left.change, right.change)?;
        if shift == Shift::None {
            return Ok(shift);
        }
        self.numbers(&[left, right])?;
        let strong = matches!(shift, Shift::Strong(_));
        self.apply(if strong { Rule::Comparison } else { Rule::NullableComparison }, shift, Ok)
    }

    /// ANY and ALL: by the rows to compare with, or by what is compared with them.
    fn quantified(&mut self, op: BinaryOp, left: &Expr, all: bool, query: &Query) -> Outcome<Shift> {
        let left = self.value(left)?;
        let rows = self.query(query)?;
        if rows.changes_values() {
            return Err(Stop("ANY or ALL of changed values"));
        }
        let by_value = rules::comparison(op, left.change, Change::NONE)?;
        if by_value != Shift::None {
            let numbers: Vec<Cell> = rows.columns.iter().map(|(_, cell)| *cell).chain([left]).collect();
            self.numbers(&numbers)?;
            if !matches!(by_value, Shift::Strong(_)) {
                return Err(Stop("ANY or ALL of a value that may be NULL"));
            }
        }
        let shift = by_value.and(rules::quantifier(rows.span, all)).ok_or(OPPOSITE)?;
        self.apply(if all { Rule::All } else { Rule::Any }, shift, Ok)
    }

    fn numbers(&self, cells: &[Cell]) -> Outcome<()> {
        match cells.iter().all(Cell::is_number) {
            true => Ok(()),
            false => Err(Stop("changed value compared with what is no number")),
        }
    }

    /// What a mutated predicate asks of its operands.
    fn require(&mut self, needs: Needs, expr: &Expr) -> Outcome<()> {
        let operands: Vec<&Expr> = match expr {
            _ if needs == Needs::Nothing => return Ok(()),
            Expr::Binary { left, right, .. } => vec![left, right],
            Expr::Between { expr, low, high, .. } => vec![expr, low, high],
            _ => Vec::new(),
        };
        let mut cells = Vec::new();
        for operand in operands {
            cells.push(self.value(operand)?);
        }
        if needs == Needs::Numbers {
            return self.numbers(&cells);
        }
        // Where types are dynamic, one order over all values serves every comparison.
        let kinds: Vec<Kind> = cells.iter().filter_map(|cell| cell.known).map(|known| known.kind).collect();
        let alike = |kind: &Kind| *kind == kinds[0] || (kind.is_numeric() && kinds[0].is_numeric());
        if self.is_dynamic() || kinds.is_empty() || (kinds[0] != Kind::Any && kinds.iter().all(alike)) {
            Ok(())
        } else {
            Err(Stop("comparison of several kinds"))
        }
    }

    /// An expression that must not change.
    fn unchanged(&mut self, expr: &Expr, otherwise: &'static str) -> Outcome<Cell> {
        let cell = self.value(expr)?;
        if cell.change.is_none() { Ok(cell) } else { Err(Stop(otherwise)) }
    }

    /// How a value relates to its mutation.
    fn value(&mut self, expr: &Expr) -> Outcome<Cell> {
        let cell = self.value_below(expr)?;
        let (change, needs) = match self.local(expr) {
            None => return Ok(cell),
            Some(Local::Value(change, needs)) => (change, needs),
            Some(Local::Predicate(..)) => return Err(Stop("changed condition as a value")),
            Some(Local::Rows(_)) => return Err(Stop("rows as a value")),
        };
        let change = cell.change.and(change).ok_or(OPPOSITE)?;
        let mut known = cell.known;
        match needs {
            Needs::Nothing => {}
            Needs::Numbers | Needs::OneKind if !cell.is_number() => {
                return Err(Stop("aggregate of what are no numbers"));
            }
            Needs::Numbers | Needs::OneKind => {}
            Needs::Small(_) if !cell.is_small() => return Err(Stop("arithmetic that may overflow or round")),
            Needs::Small(by) => {
                if let Some((low, high)) = known.as_mut().and_then(|known| known.whole.as_mut()) {
                    (*low, *high) = (*low - i128::from(by), *high + i128::from(by));
                }
                // Which way is known: a value that only grows does not become negative.
                if change.toward == Some(Direction::Up)
                    && let Some((low, _)) = known.as_mut().and_then(|known| known.whole.as_mut())
                {
                    *low += i128::from(by);
                }
            }
            Needs::Average => {
                let Expr::Aggregate(aggregate) = expr else { return Err(Stop("average of nothing")) };
                for arg in &aggregate.args {
                    if !self.in_rows(|walk| walk.value(arg))?.is_small() {
                        return Err(Stop("average that may overflow or round"));
                    }
                }
                known = known.map(|_| Known { rounded: true, ..Known::of_kind(Kind::Real) });
            }
        }
        Ok(Cell { change, known })
    }

    fn value_below(&mut self, expr: &Expr) -> Outcome<Cell> {
        if let Some(cell) = self.key(expr) {
            return Ok(cell);
        }
        match expr {
            Expr::Literal(value) => Ok(Cell::same(self.facts.literal(value))),
            Expr::Column(reference) => self.column(reference),
            Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            Expr::Unary { op: op @ (UnaryOp::Minus | UnaryOp::Plus), expr } => {
                let cell = self.value(expr)?;
                if !cell.change.is_none() {
                    self.numbers(&[cell])?;
                    self.used.push(Rule::Sign);
                }
                if *op == UnaryOp::Plus {
                    return Ok(cell);
                }
                let known =
                    cell.known.map(|known| Known { whole: known.whole.map(|(a, b)| (-b, -a)), ..known });
                Ok(Cell { change: cell.change.negated(), known })
            }
            Expr::Binary { op, left, right } if !op.is_comparison() && !is_connective(*op) => {
                let factors = (constant(left), constant(right));
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.arithmetic(*op, left, right, factors)
            }
            Expr::Cast { expr, ty } => {
                self.unchanged(expr, "CAST of a changed value")?;
                Ok(Cell::same(match ty.kind {
                    Kind::Int => Known::whole(ANY_WHOLE),
                    kind => Known::of_kind(kind),
                }))
            }
            Expr::Subquery(query) => {
                let rows = self.query(query)?;
                let one_row = query.as_select().is_some_and(|select| {
                    select.group_by.is_empty() && select.having.is_none() && query.limit.is_none()
                });
                let [(_, cell)] = rows.columns.as_slice() else {
                    return Err(Stop("subquery of several columns"));
                };
                if rows.is_changed() {
                    if !one_row || rows.span != Span::Bijective {
                        return Err(Stop("scalar subquery without an aggregate"));
                    }
                    self.used.push(Rule::Scalar);
                }
                Ok(*cell)
            }
            Expr::Function { name, args } => {
                for arg in args {
                    self.unchanged(arg, "function of a changed value")?;
                }
                Ok(Cell::same(self.facts.function(name, args.len())))
            }
            Expr::Collate { expr, .. } => {
                self.unchanged(expr, "COLLATE of a changed value")?;
                Ok(Cell::same(Known::NOTHING))
            }
            Expr::Case { operand, branches, otherwise } => {
                const CASE: &str = "CASE over a change";
                if let Some(operand) = operand {
                    self.unchanged(operand, CASE)?;
                }
                for branch in branches {
                    let compared = operand.is_some();
                    let shift = if compared { Shift::None } else { self.predicate(&branch.when)? };
                    if compared {
                        self.unchanged(&branch.when, CASE)?;
                    }
                    if shift != Shift::None {
                        return Err(Stop(CASE));
                    }
                    self.unchanged(&branch.then, CASE)?;
                }
                if let Some(otherwise) = otherwise {
                    self.unchanged(otherwise, CASE)?;
                }
                Ok(Cell::same(Known::NOTHING))
            }
            Expr::Row(items) => {
                for item in items {
                    self.unchanged(item, "row with a changed value")?;
                }
                Ok(Cell::same(Known::NOTHING))
            }
            Expr::Unary { op: UnaryOp::BitNot, expr } => {
                self.unchanged(expr, "bits of a changed value")?;
                Ok(Cell::same(Known::NOTHING))
            }
            Expr::Is { expr, test: Truth::Null, .. } => {
                // A condition may stand here as well as a value.
                let changed = match is_condition(expr) {
                    true => self.predicate(expr)? != Shift::None,
                    false => !self.value(expr)?.change.is_none(),
                };
                if changed {
                    Err(Stop("IS NULL of a change"))
                } else {
                    Ok(Cell::same(Known::of_kind(Kind::Bool)))
                }
            }
            condition if is_condition(condition) => match self.predicate_below(condition)? {
                Shift::None => Ok(Cell::same(Known::of_kind(Kind::Bool))),
                _ => Err(Stop("changed condition as a value")),
            },
            Expr::Window(_) => Err(Stop("window")),
            _ => Err(Stop("text that is not understood")),
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, left: Cell, right: Cell, factors: Factors) -> Outcome<Cell> {
        let known = left.known.zip(right.known).map(|(a, b)| self.facts.computed(op, a, b));
        if left.change.is_none() && right.change.is_none() {
            return Ok(Cell { change: Change::NONE, known });
        }
        if !left.is_small() || !right.is_small() {
            return Err(Stop("arithmetic that may overflow or round"));
        }
        let change = match op {
            BinaryOp::Add => left.change.and(right.change),
            BinaryOp::Sub => left.change.and(right.change.negated()),
            // A constant that is mutated itself is none.
            BinaryOp::Mul => match factors {
                (_, Some(factor)) if right.change.is_none() => Some(rules::times(left.change, factor)),
                (Some(factor), _) if left.change.is_none() => Some(rules::times(right.change, factor)),
                _ => return Err(Stop("product of a changed value and no constant")),
            },
            _ => return Err(Stop("function of a changed value")),
        };
        self.used.push(if op == BinaryOp::Mul { Rule::Multiplication } else { Rule::Addition });
        Ok(Cell { change: change.ok_or(OPPOSITE)?, known })
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
            let mut presumed = false;
            let mut found = None;
            for source in owners {
                match &source.columns {
                    None => presumed = true,
                    Some(columns) => {
                        let named = columns.iter().find(|(name, _)| *name == reference.column);
                        found = found.or(named.map(|(_, cell)| *cell));
                    }
                }
            }
            let Some(cell) = found.or(presumed.then_some(Cell::PRESUMED)) else { continue };
            return match &scope.keys {
                None => Ok(cell),
                Some(keys) => {
                    let is_it = |key: &Expr| matches!(key, Expr::Column(column) if column == reference);
                    let key = keys.iter().find(|(key, _)| is_it(key));
                    key.map(|(_, cell)| *cell).ok_or(Stop("bare column beside an aggregate"))
                }
            };
        }
        Err(Stop("column of unknown origin"))
    }

    /// Looks at the rows that the groups in scope are made of.
    fn in_rows<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let keys = self.scope().keys.take();
        let seen = look(self);
        self.scope().keys = keys;
        seen
    }

    fn aggregate(&mut self, aggregate: &Aggregate) -> Outcome<Cell> {
        let Some(mut rows) = self.scope().rows else { return Err(Stop("aggregate outside a group")) };
        let mut args = Vec::new();
        for arg in &aggregate.args {
            args.push(self.in_rows(|walk| walk.value(arg))?);
        }
        if let Some(filter) = &aggregate.filter {
            let shift = self.in_rows(|walk| walk.predicate(filter))?;
            if shift != Shift::None {
                self.used.push(Rule::Filter);
            }
            rows = together([rows, shift.span()])?;
        }
        let name = aggregate.name.to_ascii_uppercase();
        if args.iter().any(|cell| !cell.is_number() && !cell.has_one_representative())
            && matches!(name.as_str(), "MIN" | "MAX")
        {
            return Err(Stop("MIN or MAX of values without one representative"));
        }
        let known = aggregated(&name, args.first().copied());
        let arg = args.first().map_or(Change::NONE, |cell| cell.change);
        if args.len() > 1 || !aggregate.order_by.is_empty() {
            let changed = rows != Span::Bijective || args.iter().any(|cell| !cell.change.is_none());
            return if changed {
                Err(Stop("aggregate that is not known"))
            } else {
                Ok(Cell { change: arg, known })
            };
        }
        if rows == Span::Bijective && arg.is_none() {
            return Ok(Cell { change: Change::NONE, known });
        }
        let change = self.aggregate_change(&name, aggregate.distinct, rows, arg, args.first())?;
        Ok(Cell { change, known })
    }

    /// The aggregates' rows of the table.
    fn aggregate_change(
        &mut self,
        name: &str,
        distinct: bool,
        rows: Span,
        arg: Change,
        cell: Option<&Cell>,
    ) -> Outcome<Change> {
        let values_alone = rows == Span::Bijective && arg.nulls == Nulls::Alike;
        let (rule, change) = match (name, cell) {
            ("COUNT", None) => (Rule::CountRows, rules::count(rows, Nulls::Alike)?),
            ("COUNT", Some(_)) if distinct && !arg.is_none() => {
                return Err(Stop("COUNT(DISTINCT) of a changed value"));
            }
            ("COUNT", Some(_)) if distinct => (Rule::CountDistinct, rules::count(rows, Nulls::Alike)?),
            ("COUNT", Some(_)) => (Rule::CountColumn, rules::count(rows, arg.nulls)?),
            ("SUM" | "AVG", _) if distinct => return Err(Stop("DISTINCT in an aggregate of what changes")),
            ("MIN" | "MAX", Some(cell)) if !cell.is_number() => {
                return Err(Stop("aggregate of what are no numbers"));
            }
            ("SUM" | "AVG", Some(cell)) if !cell.is_small() => {
                return Err(Stop("sum that may overflow or round"));
            }
            ("MIN" | "MAX" | "SUM" | "AVG", _) if values_alone => (Rule::ChangedValues, arg),
            ("MAX", _) => (Rule::Max, rules::extreme(rows, arg, true)?),
            ("MIN", _) => (Rule::Min, rules::extreme(rows, arg, false)?),
            ("SUM", Some(cell)) if !cell.is_never_negative() => {
                return Err(Stop("SUM of values that may be negative"));
            }
            ("SUM", _) => (Rule::Sum, rules::extreme(rows, arg, true)?),
            ("AVG", _) => return Err(Stop("AVG of a changed set")),
            _ => return Err(Stop("variance or other aggregate of a changed set")),
        };
        self.used.push(rule);
        Ok(change)
    }
}

/// What is known of an aggregate's value.
fn aggregated(name: &str, arg: Option<Cell>) -> Option<Known> {
    let known = match arg {
        Some(cell) => cell.known?,
        None => Known::NOTHING,
    };
    Some(match name {
        "COUNT" => Known::whole((0, MANY_ROWS)),
        "MIN" | "MAX" => Known { rounded: known.rounded, ..known },
        "SUM" => match known.whole {
            Some((low, high)) => {
                Known::whole((low.saturating_mul(MANY_ROWS).min(0), high.saturating_mul(MANY_ROWS).max(0)))
            }
            None => Known::of_kind(known.kind),
        },
        "AVG" | "VAR_POP" | "VAR_SAMP" | "STDDEV_POP" | "STDDEV_SAMP" => {
            Known { rounded: true, ..Known::of_kind(Kind::Real) }
        }
        _ => Known::NOTHING,
    })
}

fn constant(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(Value::Int(int)) => Some(*int),
        _ => None,
    }
}

fn is_connective(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or)
}

fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::Unary { op: UnaryOp::Not, .. }
        | Expr::Is { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::InQuery { .. }
        | Expr::Exists { .. }
        | Expr::Quantified { .. }
        | Expr::Match { .. } => true,
        Expr::Binary { op, .. } => op.is_comparison() || is_connective(*op),
        _ => false,
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
