//! A relation of a query that can be stored: what it holds, and the query over its stored rows.

use super::STORED;
use crate::dialect::{Dialect, Feature};
use crate::oracle::edc::is_json;
use crate::sql::visit::{Editor, any_expr, edit_query, edit_table};
use crate::sql::*;
use crate::state::State;

/// A relation, taken out of its query.
pub struct Site {
    /// The query whose rows are stored.
    pub contents: Query,
    /// The query over the stored rows.
    pub over_stored: Query,
}

const NOT_FOUND: &str = "no relation of this name that can be stored";
const BEHAVES: &str = "relation that compares differently once it is stored";

/// The relations of a query that may be stored: its common tables, the derived tables of its FROM, and views there.
pub fn names(query: &Query, state: &State) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let common = query.with.iter().flat_map(|with| &with.tables);
    names.extend(common.map(|table| table.name.clone()));
    fn add(table: &TableRef, state: &State, names: &mut Vec<Name>) {
        match table {
            TableRef::Derived { alias, lateral: false, .. } => names.push(alias.clone()),
            TableRef::Table { name, .. } if state.table(name).is_some_and(|table| table.view.is_some()) => {
                names.push(name.clone());
            }
            TableRef::Join { left, right, .. } => {
                add(left, state, names);
                add(right, state, names);
            }
            _ => {}
        }
    }
    let select = query.as_select();
    select.iter().flat_map(|select| &select.from).for_each(|table| add(table, state, &mut names));
    let mut unique = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}

impl Site {
    /// The relation of this name, if it can be stored.
    pub fn find(name: &Name, query: &Query, state: &State, dialect: &Dialect) -> Result<Site, &'static str> {
        if !names(query, state).contains(name) {
            return Err(NOT_FOUND);
        }
        let common = query.with.iter().flat_map(|with| &with.tables).find(|table| table.name == *name);
        let view = state.table(name).and_then(|table| table.view.as_ref());
        let named_twice = derived(query, name).is_some() && (common.is_some() || view.is_some());
        if named_twice || is_hidden(query, name) {
            return Err(NOT_FOUND);
        }
        let everything = |name: &Name, with: Option<With>| {
            let items = vec![SelectItem::Wildcard];
            let select = Select { items, from: vec![TableRef::table(name.clone())], ..Select::default() };
            Query { with, ..Query::select(select) }
        };
        let (contents, body, columns) = match (common, view) {
            (Some(table), _) => {
                let contents = everything(name, query.with.clone());
                (contents, table.query.clone(), table.columns.clone())
            }
            (None, Some(view)) => (everything(name, None), view.query.clone(), view.columns.clone()),
            (None, None) => {
                let derived = derived(query, name).ok_or(NOT_FOUND)?;
                let with = derived.with.clone().or_else(|| query.with.clone());
                (Query { with, ..derived.clone() }, derived.clone(), Vec::new())
            }
        };
        let stored = match dialect.can(Feature::DynamicTyping) {
            true => Some(read_as_computed(&body, &columns, query.with.as_ref(), state).ok_or(BEHAVES)?),
            false => None,
        };
        let mut over_stored = query.clone();
        if common.is_some()
            && let Some(with) = &mut over_stored.with
        {
            with.tables.retain(|table| table.name != *name);
            if with.tables.is_empty() {
                over_stored.with = None;
            }
        }
        let mut replace = Replace { name, stored, found: false };
        match common.is_some() || view.is_some() {
            true => replace.query(&mut over_stored),
            // Elsewhere a derived table of this name is another one.
            false => {
                let from = over_stored.as_select_mut().map(|select| &mut select.from);
                from.into_iter().flatten().for_each(|table| replace.derived(table));
            }
        }
        if !replace.found {
            return Err(NOT_FOUND);
        }
        Ok(Site { contents, over_stored })
    }
}

/// Whether a common table of a query further down has the name, too.
fn is_hidden(query: &Query, name: &Name) -> bool {
    struct Below<'a>(&'a Name, usize, bool);
    impl visit::Visitor for Below<'_> {
        fn query(&mut self, query: &Query) {
            let named = query.with.iter().flat_map(|with| &with.tables).any(|table| table.name == *self.0);
            self.2 |= self.1 > 0 && named;
            self.1 += 1;
            visit::walk_query(self, query);
            self.1 -= 1;
        }
    }
    let mut below = Below(name, 0, false);
    visit::Visitor::query(&mut below, query);
    below.2
}

/// The query of a derived table in FROM.
fn derived<'q>(query: &'q Query, wanted: &Name) -> Option<&'q Query> {
    fn within<'q>(table: &'q TableRef, wanted: &Name) -> Option<&'q Query> {
        match table {
            TableRef::Derived { query, alias, columns, lateral: false }
                if alias == wanted && columns.is_empty() =>
            {
                Some(query)
            }
            TableRef::Join { left, right, .. } => within(left, wanted).or_else(|| within(right, wanted)),
            _ => None,
        }
    }
    query.as_select()?.from.iter().find_map(|table| within(table, wanted))
}

/// A query over the stored rows whose columns compare as the computed ones do, where columns have an affinity and a
/// collation and expressions have not.
fn read_as_computed(body: &Query, columns: &[Name], with: Option<&With>, state: &State) -> Option<Query> {
    let select = body.as_select()?;
    if !columns.is_empty() && columns.len() != select.items.len() {
        return None;
    }
    let mut items = Vec::new();
    for (at, item) in select.items.iter().enumerate() {
        let SelectItem::Expr { expr, alias } = item else { return None };
        let own = match (alias, expr) {
            (Some(alias), _) => alias.clone(),
            (None, Expr::Column(reference)) => reference.column.clone(),
            _ if !columns.is_empty() => Name::from(""),
            _ => return None,
        };
        let name = columns.get(at).cloned().unwrap_or(own);
        let stored = Expr::column(STORED, name.clone());
        if any_expr(expr, |inner| matches!(inner, Expr::Collate { .. }) || is_json(inner)) {
            return None;
        }
        let expr = match expr {
            Expr::Column(reference) => {
                is_plain_column(reference, select, body.with.as_ref().or(with), state).then_some(stored)?
            }
            // CREATE TABLE … AS declares the affinity of the type.
            Expr::Cast { expr, .. } if !passes_collation(expr) => stored,
            Expr::Cast { .. } => return None,
            // It may have the affinity of a column in it.
            Expr::Subquery(_) | Expr::Unary { op: UnaryOp::Plus, .. } => return None,
            Expr::Function { name, .. } if passes_affinity(name) => return None,
            _ => Expr::Case {
                operand: None,
                branches: vec![Branch { when: Expr::int(1), then: stored }],
                otherwise: None,
            },
        };
        items.push(SelectItem::Expr { expr, alias: Some(name) });
    }
    let from = vec![TableRef::table(STORED)];
    Some(Query::select(Select { items, from, ..Select::default() }))
}

/// What a CAST takes a collation from.
fn passes_collation(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(_) | Expr::Cast { .. } | Expr::Unary { op: UnaryOp::Plus, .. })
}

/// A hint about its argument, and otherwise the argument itself.
fn passes_affinity(function: &Name) -> bool {
    ["likely", "unlikely", "likelihood"].iter().any(|hint| function.eq_ignore_ascii_case(hint))
}

/// A column of a stored table, without a collation of its own.
fn is_plain_column(reference: &ColumnRef, select: &Select, with: Option<&With>, state: &State) -> bool {
    fn owners<'s>(
        table: &TableRef,
        with: Option<&With>,
        state: &'s State,
        found: &mut Vec<(Name, &'s crate::state::Table)>,
    ) {
        match table {
            TableRef::Table { name, alias, .. } => {
                let common = with.is_some_and(|with| with.tables.iter().any(|table| table.name == *name));
                if let Some(table) = state.table(name).filter(|table| !table.is_view && !common) {
                    found.push((alias.as_ref().unwrap_or(name).clone(), table));
                }
            }
            TableRef::Join { left, right, .. } => {
                owners(left, with, state, found);
                owners(right, with, state, found);
            }
            _ => {}
        }
    }
    let mut tables = Vec::new();
    select.from.iter().for_each(|table| owners(table, with, state, &mut tables));
    let owner = tables.iter().find(|(alias, _)| reference.table.as_ref() == Some(alias));
    owner.is_some_and(|(_, table)| {
        let column = table.columns.iter().find(|column| column.name == reference.column);
        column.is_some_and(|column| column.has_plain_collation() && column.collation.is_none())
    })
}

/// Puts the stored rows in the place of a relation.
struct Replace<'a> {
    name: &'a Name,
    /// How the stored rows are read; none: as they are.
    stored: Option<Query>,
    found: bool,
}

impl Replace<'_> {
    fn derived(&mut self, table: &mut TableRef) {
        match table {
            TableRef::Derived { alias, lateral: false, .. } if alias == self.name => {
                *table = self.stored(alias.clone());
            }
            TableRef::Join { left, right, .. } => {
                self.derived(left);
                self.derived(right);
            }
            _ => {}
        }
    }

    fn stored(&mut self, alias: Name) -> TableRef {
        self.found = true;
        match &self.stored {
            Some(query) => {
                let query = Box::new(query.clone());
                TableRef::Derived { query, alias, columns: Vec::new(), lateral: false }
            }
            None => TableRef::Table { name: STORED.into(), alias: Some(alias), hint: None },
        }
    }
}

impl Editor for Replace<'_> {
    fn query(&mut self, query: &mut Query) {
        edit_query(self, query);
    }

    fn table(&mut self, table: &mut TableRef) {
        match table {
            TableRef::Table { name, alias, .. } if name == self.name => {
                *table = self.stored(alias.clone().unwrap_or_else(|| name.clone()));
            }
            other => edit_table(self, other),
        }
    }
}
