//! Generates a subject: an operation, a table with columns for it, rows, and queries about the result.

use std::sync::Arc;

use super::case::{has_identity, result_column, strip};
use super::queries::{self, Result};
use super::rewrite::{inline, qualified};
use super::{INDEXED, INFERRED, RESULT, RESULT_IS, STORAGE, TEMPORAL, TYPES, infers_types};
use crate::dialect::{Feature, TypeEntry};
use crate::generate::{Generator, Rules, choices};
use crate::oracle::kit::place::is_collated;
use crate::sql::visit::{Visitor, any_expr, walk_table};
use crate::sql::*;
use crate::state::State;
use crate::subject::{Proposal, Subject};

choices! {
    odds {
        /// An aggregate is one of the engine's catalog.
        AGGREGATE_OF_CATALOG = "edc.aggregate.catalog": 50,
        /// An argument is of another kind than the function expects.
        CROSSING_ARGUMENT = "edc.function.crossing": 25,
        /// Arguments of any kind are of the same one.
        SAME_KIND = "edc.function.same-kind": 50,
        KNOWN_OPERAND = "edc.operand.known": 15,
        COLUMN_OPERAND = "edc.operand.column": 85,
        EXPRESSION_OF_CATALOG = "edc.expression.catalog": 75,
        CONDITION = "edc.expression.condition": 30,
        DEEP = "edc.expression.deep": 30,
        CROSSING_CELL = "edc.cell.crossing": 50,
        NULL_CELL = "edc.cell.null": 12,
        REPEATED_KEY = "edc.key.repeated": 90,
        REPEATED_CELL = "edc.cell.repeated": 30,
        BASE_INDEX = "edc.base.index": 20,
        INFERRED_TYPES = "edc.stored.inferred": 35,
        STORED_INDEX = "edc.stored.index": 40,
        STORED_OPTION = "edc.stored.option": 20,
    }
    choose enum {
        OPERATION: Operation = "edc.operation" { Aggregate: 22, Function: 40, Expression: 38 },
        ROWS: Rows = "edc.rows" { Few: 6, Some: 3, Many: 1 },
    }
}

const BASE: &str = "e0";

pub fn proposal(oracle: &str, g: &mut Generator) -> Option<Proposal> {
    let mut table = TableInMaking { columns: Vec::new(), keys: 0 };
    let drawn = match g.choose(&OPERATION) {
        Operation::Aggregate => aggregate(g, &mut table),
        Operation::Function => function(g, &mut table),
        Operation::Expression => None,
    };
    let (operation, kind) = match drawn {
        Some(drawn) => drawn,
        None => expression(g, &mut table)?,
    };
    let grouped = matches!(operation, Expr::Aggregate(_));
    let key = if grouped { None } else { Some(table.finish(g)) };
    let keys: Vec<Name> = table.columns[..table.keys].iter().map(|column| column.name.clone()).collect();
    let mut brings = vec![table.create(g)];
    brings.push(table.rows(g));
    brings.extend(base_index(g, &operation, grouped));

    let mut state = State::default();
    brings.iter().for_each(|statement| state.apply(statement, g.dialect));
    let result = with_result(&mut state, &operation, kind, &keys, grouped, g);
    let count = g.policy.queries_per_table;
    let mut inner = Generator::new(g.rng.clone(), g.dialect, &state, g.policy);
    let mut tests = Vec::with_capacity(count);
    for _ in 0..count * 3 {
        if tests.len() == count {
            break;
        }
        let query = match grouped {
            true => queries::over_groups(&mut inner, &result, &keys),
            false => queries::over_rows(&mut inner, &result),
        };
        let Some(mut query) = query else { continue };
        let mut about_result = false;
        visit::each_expr(&query, |expr| {
            about_result |= matches!(expr, Expr::Column(reference) if reference.column == RESULT);
        });
        if about_result && !joins_otherwise(&query) {
            inline(&mut query, &operation);
            tests.push(Statement::from(query));
        }
    }
    g.rng = inner.rng;

    let mut subject = Subject::of(oracle, tests).with_expr(qualified(&operation, Some(&BASE.into())));
    subject.exprs.extend(key.map(|key| Expr::column(BASE, key)));
    if infers_types(g.dialect) && (g.odds(&INFERRED_TYPES) || !g.dialect.can(Feature::CreateTableAs)) {
        subject = subject.with_choice(TYPES, INFERRED);
    }
    if g.dialect.can(Feature::Indexes) && g.odds(&STORED_INDEX) {
        subject = subject.with_choice(INDEXED, "yes");
    }
    if result.kind.is_temporal() || kind.is_temporal() {
        subject = subject.with_choice(RESULT_IS, TEMPORAL);
    }
    if let Some(storage) = storage(g) {
        subject = subject.with_choice(STORAGE, &storage);
    }
    (!subject.tests.is_empty()).then_some(Proposal { brings, subject })
}

/// A join by all common columns, or one that pads: neither can be asked of the stored table.
fn joins_otherwise(query: &Query) -> bool {
    struct Joins(bool);
    impl Visitor for Joins {
        fn table(&mut self, table: &TableRef) {
            if let TableRef::Join { kind, on, .. } = table {
                self.0 |= *on == JoinOn::Natural || !matches!(kind, JoinKind::Inner | JoinKind::Cross);
            }
            walk_table(self, table);
        }
    }
    let mut joins = Joins(false);
    joins.query(query);
    joins.0
}

/// How the stored table is stored, if not as usual; sorted by the result where tables are sorted.
fn storage(g: &mut Generator) -> Option<String> {
    let dialect = g.dialect;
    let options: Vec<_> =
        dialect.table_options.iter().filter(|option| option.long_values && option.weight > 0).collect();
    let wanted = dialect.can(Feature::TableOptionNeeded) || g.odds(&STORED_OPTION);
    if options.is_empty() || !wanted {
        return None;
    }
    Some(g.rng.pick(&options).name.replace("{columns}", RESULT))
}

/// Puts the result into the table that queries are drawn over; from groups nothing but keys can be read.
fn with_result(
    state: &mut State,
    operation: &Expr,
    kind: Kind,
    keys: &[Name],
    grouped: bool,
    g: &Generator,
) -> Result {
    let mut column = result_column(state, &BASE.into(), operation, g.dialect);
    if column.ty.kind == Kind::Any {
        column.ty.kind = kind;
        column.identity = has_identity(kind, g.dialect) && column.identity;
    }
    let result = Result { kind: column.ty.kind, identity: column.identity };
    if let Some(table) = state.tables.first_mut() {
        let columns = Arc::make_mut(&mut table.columns);
        columns.retain(|column| !grouped || keys.contains(&column.name));
        // Values of its operands are often near the result.
        let near = columns.iter().filter(|other| other.ty.kind == column.ty.kind);
        column.pool = near.flat_map(|other| other.pool.iter().cloned()).take(12).collect();
        columns.push(column);
    }
    result
}

/// An aggregate over new columns, and the columns to group by.
fn aggregate(g: &mut Generator, table: &mut TableInMaking) -> Option<(Expr, Kind)> {
    let is_key = |entry: &TypeEntry| entry.identity && entry.ty.kind != Kind::Real && !entry.dual;
    for _ in 0..g.rng.between(1, 3) {
        let ty = draw_type(g, is_key)?;
        table.add(ty);
    }
    table.keys = table.columns.len();
    let discovered = if g.odds(&AGGREGATE_OF_CATALOG) { discovered_aggregate(g, table) } else { None };
    discovered.or_else(|| {
        table.columns.truncate(table.keys);
        plain_aggregate(g, table)
    })
}

/// One of the engine's own aggregates, as its catalog has it.
fn discovered_aggregate(g: &mut Generator, table: &mut TableInMaking) -> Option<(Expr, Kind)> {
    let repertoire = &g.dialect.repertoire;
    if g.dialect.can(Feature::DynamicTyping) {
        return None;
    }
    let entry = g.rng.choose(&repertoire.aggregates)?;
    let signature = g.rng.choose(&entry.signatures).filter(|signature| !signature.fragile)?;
    let mut args = Vec::with_capacity(signature.args.len());
    for arg in &signature.args {
        let wanted = *g.rng.pick(&arg.types);
        if arg.constant {
            args.push(repertoire.types[wanted as usize].value(0));
            continue;
        }
        let ty = draw_type(g, |entry| {
            entry.identity
                && entry.ty.kind != Kind::Real
                && repertoire.type_of_column(&entry.ty.name) == Some(wanted)
        })?;
        args.push(Expr::bare_column(table.add(ty)));
    }
    let reads = args.iter().any(|arg| matches!(arg, Expr::Column(_)));
    let kind = signature.returns.map_or(Kind::Any, |ty| repertoire.types[ty as usize].kind);
    if reads {
        g.drawn_operations.push(entry.number);
    }
    reads.then(|| (Expr::aggregate(entry.name.clone(), args), kind))
}

/// One of the aggregates that every part of the generator knows.
fn plain_aggregate(g: &mut Generator, table: &mut TableInMaking) -> Option<(Expr, Kind)> {
    let dialect = g.dialect;
    let ordered = |name: &Name| dialect.order_dependent.iter().any(|other| other.eq_ignore_ascii_case(name));
    let sums = |name: &str| !["MIN", "MAX", "COUNT"].iter().any(|other| name.eq_ignore_ascii_case(other));
    let usable: Vec<_> = dialect
        .aggregates
        .iter()
        .filter(|function| !ordered(&function.name))
        .filter(|function| !(dialect.can(Feature::DynamicTyping) && sums(&function.name)))
        .collect();
    let function = *g.rng.choose(&usable)?;
    let summed = sums(&function.name);
    let counts = function.name.eq_ignore_ascii_case("COUNT");
    let mut args = Vec::new();
    let mut kind = function.returns;
    for arg in &function.args {
        let ty = draw_type(g, |entry| {
            (*arg == Kind::Any || entry.ty.kind == *arg)
                && (counts || (entry.identity && !(summed && entry.ty.kind == Kind::Real)))
        })?;
        if kind == Kind::Any {
            kind = ty.kind;
        }
        args.push(Expr::bare_column(table.add(ty)));
    }
    Some((Expr::aggregate(function.name.clone(), args), kind))
}

/// One of the dialect's functions over new columns of the types it takes.
fn function(g: &mut Generator, table: &mut TableInMaking) -> Option<(Expr, Kind)> {
    let dialect = g.dialect;
    let function = g.rng.choose(&dialect.functions).filter(|function| function.storable)?;
    // Where types matter, arguments of any kind are of one kind.
    let any = draw_type(g, |_| true)?.kind;
    let more = function.more.map(|kind| (kind, g.rng.below(3)));
    let kinds = function.args.iter().copied();
    let kinds: Vec<Kind> =
        kinds.chain(more.into_iter().flat_map(|(kind, count)| std::iter::repeat_n(kind, count))).collect();
    let mut args = Vec::new();
    for kind in kinds {
        let crossing = !dialect.is_typed() && g.odds(&CROSSING_ARGUMENT);
        let kind = match kind {
            Kind::Any if dialect.is_typed() || g.odds(&SAME_KIND) => any,
            _ if crossing => Kind::Any,
            kind => kind,
        };
        args.push(operand(g, table, kind));
    }
    let kind = if function.returns == Kind::Any { any } else { function.returns };
    let operation = Expr::function(function.name.clone(), args);
    is_operation(&operation).then_some((operation, kind))
}

/// A column of the kind, new or not, or a constant.
fn operand(g: &mut Generator, table: &mut TableInMaking, kind: Kind) -> Expr {
    let fits = |column: &ColumnDef| kind == Kind::Any || column.ty.kind == kind;
    let known: Vec<Name> =
        table.columns.iter().filter(|column| fits(column)).map(|column| column.name.clone()).collect();
    if g.odds(&KNOWN_OPERAND) && !known.is_empty() {
        return Expr::bare_column(g.rng.pick(&known).clone());
    }
    if table.columns.len() < 5 && (g.odds(&COLUMN_OPERAND) || table.columns.is_empty()) {
        let ty = draw_type(g, |entry| kind == Kind::Any || entry.ty.kind == kind);
        let ty = ty.or_else(|| (!g.dialect.is_typed()).then(|| draw_type(g, |_| true)).flatten());
        if let Some(ty) = ty {
            return Expr::bare_column(table.add(ty));
        }
    }
    g.constant(kind)
}

/// Any expression of the generator over a few columns.
fn expression(g: &mut Generator, table: &mut TableInMaking) -> Option<(Expr, Kind)> {
    table.columns.clear();
    table.keys = 0;
    for _ in 0..g.rng.between(1, 3) {
        let ty = draw_type(g, |_| true)?;
        table.add(ty);
    }
    let create = table.create(g);
    let mut state = State::default();
    state.apply(&create, g.dialect);
    let mut inner = Generator::new(g.rng.clone(), g.dialect, &state, g.policy);
    inner.share_luck(g);
    let rules = Rules { subqueries: false, identity: false, ..Rules::default() };
    let drawn = inner.under(rules, |inner| {
        inner.from_clause(1)?;
        let of_catalog = !inner.dialect.repertoire.is_empty() && inner.odds(&EXPRESSION_OF_CATALOG);
        for attempt in 0..60 {
            if of_catalog && attempt < 40 {
                match inner.any_operation(1) {
                    Some((drawn, kind)) if is_operation(&drawn) => return Some((strip(&drawn), kind)),
                    _ => continue,
                }
            }
            let kind = if inner.odds(&CONDITION) { Kind::Bool } else { inner.kind() };
            let depth = if inner.odds(&DEEP) { 2 } else { 1 };
            let drawn = strip(&inner.value_expr(kind, depth));
            if is_operation(&drawn) {
                return Some((drawn, kind));
            }
        }
        None
    });
    g.rng = inner.rng;
    g.drawn_operations.append(&mut inner.drawn_operations);
    drawn
}

/// Something is done with a column, and it may be stored (see the conditions).
fn is_operation(expr: &Expr) -> bool {
    !matches!(expr, Expr::Column(_))
        && any_expr(expr, |inner| matches!(inner, Expr::Column(_)))
        && !any_expr(expr, is_collated)
}

/// An index on the base table, over the operation or what it reads: it changes the plan, not the answer.
fn base_index(g: &mut Generator, operation: &Expr, grouped: bool) -> Option<Statement> {
    if !g.dialect.can(Feature::Indexes) || !g.odds(&BASE_INDEX) {
        return None;
    }
    let mut expr = operation.clone();
    if grouped || !g.dialect.can(Feature::ExpressionIndexes) {
        any_expr(operation, |inner| {
            let found = matches!(inner, Expr::Column(_));
            if found {
                expr = inner.clone();
            }
            found
        });
    }
    let key = IndexKey { expr, prefix: None, collation: None, desc: false };
    Some(Statement::CreateIndex(CreateIndex {
        name: "i0_e0".into(),
        unique: false,
        table: BASE.into(),
        method: None,
        keys: vec![key],
        filter: None,
    }))
}

/// A type that fits, also of those that other oracles leave alone.
fn draw_type(g: &mut Generator, fits: impl Fn(&TypeEntry) -> bool) -> Option<DataType> {
    let types: Vec<&TypeEntry> = g.dialect.types.iter().filter(|entry| fits(entry)).collect();
    if types.is_empty() {
        return None;
    }
    let weights: Vec<u32> = types.iter().map(|entry| entry.weight.clamp(2, 6)).collect();
    Some(types[g.rng.weighted(&weights)].ty.clone())
}

/// The base table while its columns are being decided.
struct TableInMaking {
    columns: Vec<ColumnDef>,
    /// How many of them are grouping columns; those come first.
    keys: usize,
}

impl TableInMaking {
    fn add(&mut self, ty: DataType) -> Name {
        let name = Name::from(format!("c{}", self.columns.len()));
        self.columns.push(ColumnDef { name: name.clone(), ty, constraints: Vec::new() });
        name
    }

    /// Columns the operation does not read, and at the end the one that numbers the rows: its name.
    fn finish(&mut self, g: &mut Generator) -> Name {
        for _ in 0..g.rng.below(4) {
            if let Some(ty) = draw_type(g, |_| true) {
                self.add(ty);
            }
        }
        let number = g.dialect.types.iter().find(|entry| entry.ty.kind == Kind::Int);
        self.add(number.map_or(DataType::new("INT", Kind::Int), |entry| entry.ty.clone()))
    }

    fn create(&self, g: &mut Generator) -> Statement {
        let dialect = g.dialect;
        let needed = dialect.can(Feature::TableOptionNeeded);
        let options: Vec<_> = dialect.table_options.iter().filter(|option| option.weight > 0).collect();
        let option = if needed { g.rng.choose(&options) } else { None };
        let sorted_by = self.columns.first().map_or("tuple()", |column| &*column.name);
        let options = option.map(|option| Name::from(option.name.replace("{columns}", sorted_by)));
        Statement::CreateTable(CreateTable {
            name: BASE.into(),
            temporary: false,
            columns: self.columns.clone(),
            constraints: Vec::new(),
            options: options.into_iter().collect(),
            module: None,
            query: None,
        })
    }

    /// Boundary values, NULLs, values of other kinds; a few values again and again, so that there are groups.
    fn rows(&self, g: &mut Generator) -> Statement {
        let count = match g.choose(&ROWS) {
            Rows::Few => g.rng.between(1, 8),
            Rows::Some => g.rng.between(8, 30),
            Rows::Many => g.rng.between(30, g.policy.rows_per_table),
        };
        let converts = g.dialect.can(Feature::InsertIgnore) || g.dialect.can(Feature::DynamicTyping);
        let value = |g: &mut Generator, ty: &DataType| {
            let plain = matches!(ty.kind, Kind::Int | Kind::Real | Kind::Decimal | Kind::Text | Kind::Any);
            let crossing = converts && plain && g.odds(&CROSSING_CELL);
            if g.odds(&NULL_CELL) { Value::Null } else { g.stored_value(ty, crossing) }
        };
        let pools: Vec<Vec<Value>> =
            self.columns.iter().map(|column| (0..3).map(|_| value(g, &column.ty)).collect()).collect();
        let numbered = self.keys == 0;
        let rows = (0..count)
            .map(|row| {
                let cell = |(at, column): (usize, &ColumnDef)| {
                    if numbered && at + 1 == self.columns.len() {
                        return Expr::int(row as i64);
                    }
                    let repeated = if at < self.keys { &REPEATED_KEY } else { &REPEATED_CELL };
                    Expr::Literal(match g.odds(repeated) {
                        true => g.rng.pick(&pools[at]).clone(),
                        false => value(g, &column.ty),
                    })
                };
                self.columns.iter().enumerate().map(cell).collect()
            })
            .collect();
        Statement::Insert(Insert {
            table: BASE.into(),
            or: g.dialect.can(Feature::InsertIgnore).then_some(OnConflict::Ignore),
            columns: self.columns.iter().map(|column| column.name.clone()).collect(),
            source: InsertSource::Values(rows),
            upsert: None,
        })
    }
}
