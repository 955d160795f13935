//! The columns of a query, derived from its tree, for views and derived tables alike.

use std::sync::Arc;

use super::{Column, POOL_SIZE, Relation, State, Table};
use crate::dialect::{Dialect, FunctionColumn};
use crate::sql::visit::{Visitor, walk_query, walk_table};
use crate::sql::*;

impl State {
    /// The columns of a query's result, by the names of its items. An item that is a column keeps what
    /// is known of it; anything else is computed.
    pub fn columns_of(&self, query: &Query, dialect: &Dialect) -> Vec<Column> {
        self.columns_of_body(&query.body, query.with.as_ref(), dialect).into_iter().flatten().collect()
    }

    /// The columns of a body by their places; none where an item has no name.
    fn columns_of_body(&self, body: &Body, with: Option<&With>, dialect: &Dialect) -> Vec<Option<Column>> {
        match body {
            Body::Select(select) => self.columns_of_select(select, with, dialect),
            Body::Nested(query) => self.columns_of(query, dialect).into_iter().map(Some).collect(),
            Body::Values(rows) => listed(rows).into_iter().map(Some).collect(),
            // Named by the first part; what is known of both parts is known.
            Body::Compound { left, right, .. } => {
                let mut columns = self.columns_of_body(left, with, dialect);
                let mut right = right;
                // The items of other parts need no names.
                let named;
                if let Body::Select(select) = &**right {
                    named = Box::new(Body::Select(Box::new(with_names(select))));
                    right = &named;
                }
                let others = self.columns_of_body(right, with, dialect);
                for (at, column) in columns.iter_mut().enumerate() {
                    let Some(column) = column else { continue };
                    let other = others.get(at).cloned().flatten();
                    column.whole = None;
                    column.identity &= other.as_ref().is_some_and(|other| other.identity);
                    let kind = other.as_ref().map_or(Kind::Any, |other| other.ty.kind);
                    if kind != column.ty.kind {
                        column.ty = DataType::new("", Kind::Any);
                    }
                    column.pool.extend(other.into_iter().flat_map(|other| other.pool));
                    column.pool.truncate(POOL_SIZE);
                }
                columns
            }
        }
    }

    fn columns_of_select(
        &self,
        select: &Select,
        with: Option<&With>,
        dialect: &Dialect,
    ) -> Vec<Option<Column>> {
        let mut relations = Vec::new();
        for table in &select.from {
            self.relations_of(table, with, dialect, &mut relations);
        }
        let known = |reference: &ColumnRef| {
            relations
                .iter()
                .filter(|(alias, _)| reference.table.as_ref().is_none_or(|table| table == alias))
                .find_map(|(_, columns)| columns.iter().find(|column| column.name == reference.column))
        };
        let kind_of_column =
            |reference: &ColumnRef| known(reference).map_or(Kind::Any, |column| column.ty.kind);
        let column = |item: &SelectItem| {
            let SelectItem::Expr { expr, alias: Some(name) } = item else { return None };
            Some(match expr {
                Expr::Column(reference) => match known(reference) {
                    // An outer join may pad it, a join may repeat it.
                    Some(column) => {
                        Column { name: name.clone(), not_null: false, unique: false, ..column.clone() }
                    }
                    None => computed(name.clone(), Kind::Any),
                },
                other => computed(name.clone(), kind_of(other, dialect, &kind_of_column)),
            })
        };
        select.items.iter().map(column).collect()
    }

    /// The columns of a common table expression. Of one that reads itself they are the anchor's, as far as its step keeps
    /// them; the counter by which it ends is known, the rest is computed.
    pub fn columns_of_common(&self, common: &CommonTable, dialect: &Dialect) -> Vec<Column> {
        let Some(recursion) = common.recursion() else { return self.columns_of(&common.query, dialect) };
        let mut anchor = recursion.anchor.clone();
        for (at, item) in anchor.items.iter_mut().enumerate() {
            let SelectItem::Expr { alias, .. } = item else { return Vec::new() };
            *alias = common.column_name(at).cloned();
            if alias.is_none() {
                return Vec::new();
            }
        }
        let mut columns = self.columns_of(&Query::select(anchor), dialect);
        for (at, column) in columns.iter_mut().enumerate() {
            if !recursion.keeps(at) {
                *column = computed(column.name.clone(), column.ty.kind);
            }
        }
        if let Some((at, from, to)) = recursion.counter()
            && let Some(counter) = columns.get_mut(at)
        {
            counter.identity = true;
            counter.whole = Some((0, to));
            counter.pool = (from..=to).take(POOL_SIZE).map(Value::Int).collect();
        }
        columns
    }

    /// The column that a SELECT's expression names, as far as its FROM tells.
    pub fn column_of(&self, reference: &ColumnRef, query: &Query, dialect: &Dialect) -> Option<Column> {
        let mut relations = Vec::new();
        for table in &query.as_select()?.from {
            self.relations_of(table, query.with.as_ref(), dialect, &mut relations);
        }
        let is_owner = |alias: &Name| reference.table.as_ref().is_none_or(|table| table == alias);
        let mut columns =
            relations.iter().filter(|(alias, _)| is_owner(alias)).flat_map(|(_, columns)| columns.iter());
        columns.find(|column| column.name == reference.column).cloned()
    }

    /// The tables a query reads, also by way of views, each once.
    pub fn base_tables_of(&self, query: &Query) -> Vec<&Table> {
        let mut names = tables_read(query);
        let mut at = 0;
        while let Some(name) = names.get(at) {
            let reads = self.table(name).map(|table| table.reads.clone()).unwrap_or_default();
            for read in reads {
                if !names.contains(&read) {
                    names.push(read);
                }
            }
            at += 1;
        }
        self.base_tables().filter(|table| names.contains(&table.name)).collect()
    }

    /// The relations a FROM item brings into scope, by the name their columns are qualified with.
    pub fn relations_of(
        &self,
        table: &TableRef,
        with: Option<&With>,
        dialect: &Dialect,
        relations: &mut Vec<(Name, Arc<Vec<Column>>)>,
    ) {
        match table {
            TableRef::Table { name, alias, .. } => {
                let common = with.and_then(|with| with.tables.iter().find(|table| table.name == *name));
                let columns = match common {
                    Some(common) => Arc::new(self.columns_of_common(common, dialect)),
                    None => self.table(name).map(|table| table.columns.clone()).unwrap_or_default(),
                };
                relations.push((alias.as_ref().unwrap_or(name).clone(), columns));
            }
            TableRef::Derived { query, alias, columns: names, .. } => {
                let mut columns = self.columns_of(query, dialect);
                columns.iter_mut().zip(names).for_each(|(column, name)| column.name = name.clone());
                relations.push((alias.clone(), Arc::new(columns)));
            }
            TableRef::Join { left, right, .. } => {
                self.relations_of(left, with, dialect, relations);
                self.relations_of(right, with, dialect, relations);
            }
            TableRef::Function { name, alias, columns, .. } => {
                let Some(function) = dialect.table_function(name) else { return };
                let named = |(at, column): (usize, &FunctionColumn)| {
                    let name = columns.get(at).unwrap_or(&column.name).clone();
                    Column { identity: column.identity, ..computed(name, column.kind) }
                };
                let columns = function.columns.iter().enumerate().map(named).collect();
                relations.push((alias.clone(), Arc::new(columns)));
            }
        }
    }
}

/// The tables a query names anywhere, each once.
pub fn tables_read(query: &Query) -> Vec<Name> {
    let mut tables = tables_named(query);
    tables.sort();
    tables.dedup();
    tables
}

/// The tables a query names anywhere, as often as it does.
pub fn tables_named(query: &Query) -> Vec<Name> {
    struct Tables(Vec<Name>);
    impl Visitor for Tables {
        fn query(&mut self, query: &Query) {
            walk_query(self, query);
        }
        fn table(&mut self, table: &TableRef) {
            if let TableRef::Table { name, .. } = table {
                self.0.push(name.clone());
            }
            walk_table(self, table);
        }
    }
    let mut tables = Tables(Vec::new());
    tables.query(query);
    tables.0
}

/// A SELECT whose items all have names.
fn with_names(select: &Select) -> Select {
    let mut select = select.clone();
    for item in &mut select.items {
        if let SelectItem::Expr { alias, .. } = item {
            alias.get_or_insert_with(|| "c".into());
        }
    }
    select
}

/// The columns of rows that are written out, by the names that SQL gives them.
fn listed(rows: &[Vec<Expr>]) -> Vec<Column> {
    let width = rows.first().map_or(0, Vec::len);
    let column = |at: usize| {
        let values: Vec<&Value> = rows
            .iter()
            .filter_map(|row| match row.get(at) {
                Some(Expr::Literal(value)) => Some(value),
                _ => None,
            })
            .collect();
        let kind = values.iter().find(|value| !value.is_null()).map_or(Kind::Any, |value| value.kind());
        let mut column = computed(Name::from(format!("column{}", at + 1)), kind);
        let ints =
            values.iter().filter_map(|value| if let Value::Int(int) = value { Some(*int) } else { None });
        if kind == Kind::Int && values.len() == rows.len() {
            column.identity = true;
            column.whole = Some(ints.fold((0, 0), |(low, high), int| (low.min(int), high.max(int))));
        }
        column.pool = values.into_iter().cloned().collect();
        column
    };
    (0..width).map(column).collect()
}

/// A column that is an expression: no affinity, no one representative among equal values.
fn computed(name: Name, kind: Kind) -> Column {
    Column {
        name,
        ty: DataType::new("", kind),
        not_null: false,
        unique: false,
        generated: false,
        rowid_alias: false,
        collation: None,
        pinned: false,
        identity: false,
        counts: false,
        range: None,
        follows: false,
        whole: None,
        pool: Vec::new(),
    }
}

fn aggregated(aggregate: &Aggregate, kind: &dyn Fn(&Expr) -> Kind) -> Kind {
    match (&*aggregate.name.to_ascii_uppercase(), aggregate.args.first()) {
        ("COUNT" | "SUM" | "RANK" | "DENSE_RANK" | "ROW_NUMBER" | "NTILE", _) => Kind::Int,
        ("PERCENT_RANK" | "CUME_DIST", _) => Kind::Real,
        ("MIN" | "MAX" | "FIRST_VALUE" | "LAST_VALUE" | "NTH_VALUE" | "LAG" | "LEAD", Some(arg)) => kind(arg),
        _ => Kind::Any,
    }
}

/// The kind of an expression over these relations, `Any` where it is not known.
pub fn kind_within(expr: &Expr, relations: &[Relation], dialect: &Dialect) -> Kind {
    let kind_of_column = |reference: &ColumnRef| {
        let named =
            |relation: &&Relation| reference.table.as_ref().is_none_or(|table| *table == relation.alias);
        let column = |relation: &Relation| {
            relation
                .columns
                .iter()
                .find(|column| column.name == reference.column)
                .map(|column| column.ty.kind)
        };
        relations.iter().filter(named).find_map(column).unwrap_or(Kind::Any)
    };
    kind_of(expr, dialect, &kind_of_column)
}

/// The kind of an expression's values, `Any` where the tree does not tell.
fn kind_of(expr: &Expr, dialect: &Dialect, column: &dyn Fn(&ColumnRef) -> Kind) -> Kind {
    let kind = |expr: &Expr| kind_of(expr, dialect, column);
    match expr {
        Expr::Column(reference) => column(reference),
        Expr::Literal(value) => value.kind(),
        Expr::Cast { ty, .. } => ty.kind,
        Expr::Collate { expr, .. } => kind(expr),
        Expr::Unary { op: UnaryOp::Not, .. } => Kind::Bool,
        Expr::Unary { expr, .. } => kind(expr),
        Expr::Binary { op: BinaryOp::Concat, .. } => Kind::Text,
        Expr::Binary { op: BinaryOp::And | BinaryOp::Or, .. } => Kind::Bool,
        Expr::Binary { op, .. } if op.is_comparison() => Kind::Bool,
        Expr::Binary { left, right, .. } if kind(left) == kind(right) => kind(left),
        Expr::Is { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::InQuery { .. }
        | Expr::Exists { .. }
        | Expr::Match { .. } => Kind::Bool,
        Expr::Case { branches, .. } => branches.first().map_or(Kind::Any, |branch| kind(&branch.then)),
        Expr::Aggregate(aggregate) => aggregated(aggregate, &kind),
        Expr::Window(window) => aggregated(&window.function, &kind),
        Expr::Function { name, args } => {
            let function = dialect.functions.iter().find(|f| f.name == *name && f.args.len() <= args.len());
            match function {
                // Where types matter, arguments of any kind are of the kind that is returned.
                Some(function) if function.returns == Kind::Any && dialect.is_typed() => {
                    let any =
                        std::iter::zip(&function.args, args).filter(|(declared, _)| **declared == Kind::Any);
                    any.map(|(_, arg)| kind(arg)).find(|kind| *kind != Kind::Any).unwrap_or(Kind::Any)
                }
                Some(function) => function.returns,
                None => Kind::Any,
            }
        }
        _ => Kind::Any,
    }
}
