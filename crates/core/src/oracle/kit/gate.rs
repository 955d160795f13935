//! The gate that every difference passes before it counts as a bug: is the result defined at all?
//!
//! The generator avoids such queries; a reduced, mutated or imported subject may contain one. The gate only looks
//! at differences, so it costs a hunt nothing.

use super::freedom;
use crate::database::Database;
use crate::dialect::{Dialect, Feature};
pub use crate::sql::inspect::{deduplicates, has_aggregate, looks_beyond_its_row, orders_every_column};
use crate::sql::inspect::{has_bare_column, is_ordered};
use crate::sql::visit::{Visitor, any_expr, walk_expr, walk_query, walk_select};
use crate::sql::*;
use crate::state::State;
use crate::subject::Subject;

/// Why a difference is not a bug, if it is not.
pub fn undefined(subject: &Subject, database: &Database, dialect: &Dialect) -> Option<&'static str> {
    let state = database.state();
    let mut gate = Gate {
        dialect,
        state,
        keys: Vec::new(),
        windows: Vec::new(),
        functions: Vec::new(),
        scope: None,
        reason: None,
        in_relation: false,
    };
    for test in &subject.tests {
        gate.statement(test);
    }
    for expr in &subject.exprs {
        gate.expr(expr);
    }
    for view in database.views_read(subject) {
        gate.relation(&view.query);
    }
    gate.reason.or_else(|| ambiguous_below(subject, database, dialect))
}

/// Rules 0.7 and 0.8 for what the queries read: an oracle knows what its own query deduplicates and sums up, not what a
/// derived table, a subquery or a view does.
fn ambiguous_below(subject: &Subject, database: &Database, dialect: &Dialect) -> Option<&'static str> {
    let state = database.state();
    let below = |query: &Query| {
        freedom::left_open_below(query, state, dialect).or_else(|| freedom::ties(query, state, dialect))
    };
    // What an expression of the subject names is what its query reads.
    let query = subject.query();
    let from = query.and_then(Query::as_select).map(|select| select.from.clone()).unwrap_or_default();
    let in_expr = |expr: &Expr| {
        let select = Select { from: from.clone(), filter: Some(expr.clone()), ..Select::default() };
        below(&Query { with: query.and_then(|query| query.with.clone()), ..Query::select(select) })
    };
    let views = database.views_read(subject).into_iter();
    let mut reasons = subject
        .queries()
        .map(below)
        .chain(subject.exprs.iter().map(in_expr))
        .chain(views.map(|view| freedom::left_open(&view.query, state, dialect)));
    reasons.find_map(|reason| reason)
}

/// Whether what a query deduplicates or groups holds a column whose equal values need not be identical:
/// the engine may then return any of them (SOUNDNESS 0.8).
pub fn has_no_one_representative(subject: &Subject, state: &State, dialect: &Dialect) -> bool {
    let Some(select) = subject.query().and_then(Query::as_select) else { return false };
    let mut relations = Vec::new();
    let with = subject.query().and_then(|query| query.with.as_ref());
    select.from.iter().for_each(|table| state.relations_of(table, with, dialect, &mut relations));
    let folds = |reference: &ColumnRef| {
        let owner = |alias: &Name| reference.table.as_ref().is_none_or(|table| table == alias);
        let columns =
            relations.iter().filter(|(alias, _)| owner(alias)).flat_map(|(_, columns)| columns.iter());
        columns.filter(|column| column.name == reference.column).any(|column| !column.identity)
    };
    let folds_in = |expr: &Expr| {
        any_expr(expr, |inner| match inner {
            Expr::Column(column) => folds(column),
            Expr::Cast { ty, .. } => !dialect.is_identical(ty),
            _ => false,
        })
    };
    select.group_by.iter().any(folds_in)
        || select.items.iter().any(|item| match item {
            SelectItem::Expr { expr, .. } => folds_in(expr),
            _ => false,
        })
}

struct Gate<'a> {
    dialect: &'a Dialect,
    state: &'a State,
    /// Of each relation of the SELECT being read: its name, and its columns that are keys.
    keys: Vec<(Name, Vec<Name>)>,
    /// The windows that it names.
    windows: Vec<NamedWindow>,
    /// The functions in FROM that it and the queries around it can name, with the columns that the dialect lists. (A
    /// function may have more: they are left out where they follow from how the engine works.)
    functions: Vec<(Name, Vec<Name>)>,
    /// What it can name; nothing outside of any SELECT.
    scope: Option<Scope>,
    reason: Option<&'static str>,
    /// Inside a view, a derived table or a common table expression.
    in_relation: bool,
}

/// What a SELECT can name of its own.
struct Scope {
    relations: Vec<Name>,
    /// The columns of all of them, if they are known.
    columns: Option<Vec<Name>>,
}

impl Scope {
    fn has(&self, reference: &ColumnRef) -> bool {
        let is_column = |column: &Name| column.eq_ignore_ascii_case(&reference.column);
        match &reference.table {
            Some(table) => self.relations.contains(table),
            None if self.relations.is_empty() => false,
            None => self.columns.as_ref().is_none_or(|columns| columns.iter().any(is_column)),
        }
    }
}

impl Gate<'_> {
    fn refuse(&mut self, reason: &'static str) {
        self.reason.get_or_insert(reason);
    }

    fn relation(&mut self, query: &Query) {
        let before = std::mem::replace(&mut self.in_relation, true);
        self.query(query);
        self.in_relation = before;
    }

    /// The relations that a FROM item names, with the columns that no two of their rows have in common.
    fn keys_of(&self, table: &TableRef, keys: &mut Vec<(Name, Vec<Name>)>) {
        match table {
            TableRef::Table { name, alias, .. } => {
                let stored = self.state.table(name).filter(|table| !table.is_view);
                let columns = stored.iter().flat_map(|table| table.columns.iter());
                let own =
                    columns.filter(|column| column.is_key()).map(|column| column.name.clone()).collect();
                keys.push((alias.as_ref().unwrap_or(name).clone(), own));
            }
            TableRef::Derived { alias, .. } | TableRef::Function { alias, .. } => {
                keys.push((alias.clone(), Vec::new()));
            }
            TableRef::Join { left, right, .. } => {
                self.keys_of(left, keys);
                self.keys_of(right, keys);
            }
        }
    }

    fn functions_of(&self, table: &TableRef, functions: &mut Vec<(Name, Vec<Name>)>) {
        match table {
            // Those that the query renames are all listed.
            TableRef::Function { name, alias, columns, .. } if columns.is_empty() => {
                let listed = self.dialect.table_function(name).into_iter().flat_map(|known| &known.columns);
                functions.push((alias.clone(), listed.map(|column| column.name.clone()).collect()));
            }
            TableRef::Join { left, right, .. } => {
                self.functions_of(left, functions);
                self.functions_of(right, functions);
            }
            _ => {}
        }
    }

    /// Whether this may be a column of a function in FROM that the dialect does not list.
    fn is_unlisted(&self, reference: &ColumnRef) -> bool {
        let lists =
            |columns: &[Name]| columns.iter().any(|name| name.eq_ignore_ascii_case(&reference.column));
        match &reference.table {
            Some(table) => {
                let function = self.functions.iter().rev().find(|(alias, _)| alias == table);
                function.is_some_and(|(_, columns)| !lists(columns))
            }
            None if self.functions.iter().any(|(_, columns)| lists(columns)) => false,
            None => {
                let known = |scope: &Scope| scope.columns.as_ref().is_some_and(|columns| lists(columns));
                !self.functions.is_empty() && !self.scope.as_ref().is_some_and(known)
            }
        }
    }

    fn scope_of(&self, select: &Select, relations: Vec<Name>) -> Scope {
        let mut known = Vec::new();
        for table in &select.from {
            self.state.relations_of(table, None, self.dialect, &mut known);
        }
        let all = known.len() == relations.len() && known.iter().all(|(_, columns)| !columns.is_empty());
        let columns = known.iter().flat_map(|(_, columns)| columns.iter().map(|column| column.name.clone()));
        Scope { relations, columns: all.then(|| columns.collect()) }
    }

    /// What a window function looks at.
    fn spec_of<'w>(&'w self, window: &'w Window) -> Option<&'w WindowSpec> {
        match &window.over {
            Over::Spec(spec) => Some(spec),
            Over::Named(name) => {
                self.windows.iter().find(|window| window.name == *name).map(|window| &window.spec)
            }
        }
    }

    /// Whether no two rows are alike for a window: it orders or divides them by a key of every table.
    fn has_total_order(&self, spec: &WindowSpec) -> bool {
        let terms = || spec.order_by.iter().map(|item| &item.expr).chain(&spec.partition_by);
        let names = |alias: &Name, key: &Name, expr: &Expr| match expr {
            Expr::Column(reference) => {
                let owner = match &reference.table {
                    Some(table) => table == alias,
                    None => self.keys.len() == 1,
                };
                owner && reference.column == *key
            }
            _ => false,
        };
        let ordered = |(alias, keys): &(Name, Vec<Name>)| {
            keys.iter().any(|key| terms().any(|expr| names(alias, key, expr)))
        };
        !self.keys.is_empty() && self.keys.iter().all(ordered)
    }

    /// An aggregate over columns of an enclosing query alone is that query's, wherever it stands, and makes it one row.
    fn is_of_an_enclosing_query(&self, aggregate: &Aggregate) -> bool {
        let Some(scope) = &self.scope else { return false };
        let (mut own, mut others) = (false, false);
        for arg in &aggregate.args {
            any_expr(arg, |inner| {
                if let Expr::Column(reference) = inner {
                    own |= scope.has(reference);
                    others |= !scope.has(reference);
                }
                false
            });
        }
        others && !own
    }

    fn lists(names: &[Name], name: &str) -> bool {
        names.iter().any(|listed| listed.eq_ignore_ascii_case(name))
    }
}

impl Visitor for Gate<'_> {
    fn query(&mut self, query: &Query) {
        // Rule 0.4. Where an ORDER BY has every column of the output, ties are alike.
        if (query.limit.is_some() || query.offset.is_some()) && !orders_every_column(query) {
            self.refuse("LIMIT without a total order");
        }
        // Rule 0.6.
        if let Some(select) = query.as_select().filter(|select| aggregates(select)) {
            let named = relation_names(select);
            if query.order_by.iter().any(|key| has_bare_column(&key.expr, &select.group_by, &named)) {
                self.refuse(BARE_COLUMN);
            }
        }
        // Rule 1: a compound's columns have no defined affinity where types are dynamic.
        if self.in_relation
            && self.dialect.can(Feature::DynamicTyping)
            && matches!(query.body, Body::Compound { .. })
        {
            self.refuse("relation whose column affinity is not defined");
        }
        let before = std::mem::replace(&mut self.in_relation, false);
        if let Some(with) = &query.with {
            for table in &with.tables {
                let recursion = table.recursion().filter(|_| with.recursive);
                match recursion.is_some_and(|recursion| recursion.is_of_one_affinity()) {
                    // A compound, but its columns are those of its first SELECT.
                    true => self.query(&table.query),
                    false => self.relation(&table.query),
                }
            }
        }
        self.in_relation = before;
        walk_query(self, query);
    }

    fn select(&mut self, select: &Select) {
        // Rule 1.
        if self.in_relation && select.distinct && self.dialect.can(Feature::DynamicTyping) {
            self.refuse("relation whose column affinity is not defined");
        }
        // Rule 0.6.
        if aggregates(select) {
            let named = relation_names(select);
            let bare = |expr: &Expr| has_bare_column(expr, &select.group_by, &named);
            let items = select.items.iter().any(|item| match item {
                SelectItem::Expr { expr, .. } => bare(expr),
                _ => true,
            });
            if items || select.having.as_ref().is_some_and(bare) {
                self.refuse(BARE_COLUMN);
            }
        }
        let before = std::mem::replace(&mut self.in_relation, false);
        let mut keys = Vec::new();
        select.from.iter().for_each(|table| self.keys_of(table, &mut keys));
        let scope = self.scope_of(select, keys.iter().map(|(alias, _)| alias.clone()).collect());
        // Groups are other rows than those of the tables.
        if !select.group_by.is_empty() {
            keys.clear();
        }
        let outer = std::mem::replace(&mut self.keys, keys);
        let windows = std::mem::replace(&mut self.windows, select.windows.clone());
        let outer_scope = self.scope.replace(scope);
        let outer_functions = self.functions.len();
        let mut functions = Vec::new();
        select.from.iter().for_each(|table| self.functions_of(table, &mut functions));
        // Rule 0.3.
        if select.items.iter().any(|item| match item {
            SelectItem::Expr { .. } => false,
            SelectItem::Wildcard => !functions.is_empty(),
            SelectItem::TableWildcard(name) => functions.iter().any(|(alias, _)| alias == name),
        }) {
            self.refuse(UNLISTED);
        }
        self.functions.append(&mut functions);
        walk_select(self, select);
        self.functions.truncate(outer_functions);
        self.keys = outer;
        self.windows = windows;
        self.scope = outer_scope;
        self.in_relation = before;
    }

    fn table(&mut self, table: &TableRef) {
        match table {
            TableRef::Derived { query, .. } => self.relation(query),
            // Rule 0.3: it may read the clock, a file or the catalog.
            TableRef::Function { name, .. } if self.dialect.table_function(name).is_none() => {
                self.refuse("function in FROM that Dissent does not know");
            }
            other => visit::walk_table(self, other),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            // Rule 0.3.
            Expr::Column(reference) if self.is_unlisted(reference) => self.refuse(UNLISTED),
            Expr::Function { name, .. } if Self::lists(&self.dialect.volatile, name) => {
                self.refuse("volatile function");
            }
            Expr::Function { name, args } if args.len() < self.dialect.least_args(name) => {
                self.refuse("volatile function");
            }
            Expr::Literal(Value::Text(text)) if is_clock(text) => {
                self.refuse("text that may mean the current time");
            }
            // Rule 0.5.
            Expr::Aggregate(aggregate)
                if !is_ordered(aggregate) && Self::lists(&self.dialect.order_dependent, &aggregate.name) =>
            {
                self.refuse("order-dependent aggregate");
            }
            Expr::Function { name, .. } if Self::lists(&self.dialect.order_dependent, name) => {
                self.refuse("order-dependent aggregate");
            }
            // Rule 0.5: rows that a window cannot tell apart have one value only under some functions.
            Expr::Window(window)
                if !self.spec_of(window).is_some_and(|spec| {
                    is_alike_for_peers(&window.function, spec) || self.has_total_order(spec)
                }) =>
            {
                self.refuse("window without a total order");
            }
            Expr::Subquery(query) => {
                let one_value = query.as_select().is_some_and(|select| {
                    select.group_by.is_empty()
                        && matches!(&select.items[..], [SelectItem::Expr { expr, .. }] if has_aggregate(expr))
                });
                if !one_value {
                    self.refuse("scalar subquery that may return several rows");
                }
            }
            Expr::Aggregate(aggregate) if self.is_of_an_enclosing_query(aggregate) => {
                self.refuse("aggregate of an enclosing query");
            }
            Expr::Raw(_) => self.refuse("SQL that Dissent cannot parse"),
            _ => {}
        }
        walk_expr(self, expr);
    }
}

const UNLISTED: &str = "column of a function in FROM that Dissent does not know";

const BARE_COLUMN: &str = "bare column next to an aggregate";

/// Whether a SELECT makes one row of several.
fn aggregates(select: &Select) -> bool {
    !select.group_by.is_empty()
        || select.having.is_some()
        || select.items.iter().any(|item| match item {
            SelectItem::Expr { expr, .. } => has_aggregate(expr),
            _ => false,
        })
}

/// The names by which columns of a FROM are qualified.
fn relation_names(select: &Select) -> Vec<Name> {
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
    select.from.iter().for_each(|table| add(table, &mut names));
    names
}

/// Whether a window gives one value to rows that its ORDER BY cannot tell apart, whichever comes first.
fn is_alike_for_peers(function: &Aggregate, spec: &WindowSpec) -> bool {
    let by_peers = spec.frame.as_ref().is_none_or(|frame| frame.unit != FrameUnit::Rows);
    let Aggregate { name, args, .. } = function;
    let is = |names: &[&str]| names.iter().any(|listed| name.eq_ignore_ascii_case(listed));
    let of_key = matches!((&args[..], &spec.order_by[..]), ([arg], [key]) if *arg == key.expr);
    by_peers
        && (is(&["COUNT", "MIN", "MAX", "SUM", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"])
            || (is(&["FIRST_VALUE", "LAST_VALUE"]) && of_key))
}

/// A word that date functions read as the current time.
fn is_clock(text: &str) -> bool {
    ["now", "today", "tomorrow", "yesterday", "localtime", "utc"]
        .iter()
        .any(|word| text.trim().eq_ignore_ascii_case(word))
}
