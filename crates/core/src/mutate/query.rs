//! Changing a query: an expression, a clause, a join, the whole.

use std::sync::Arc;

use crate::dialect::Feature;
use crate::generate::{Generator, Relation, kind_within};
use crate::sql::inspect::looks_beyond_its_row;
use crate::sql::visit::*;
use crate::sql::*;

/// Changes one place of a query; parts may come from another one. The result wants to be bound.
pub fn query(generator: &mut Generator, query: &mut Query, donor: Option<&Query>) {
    // There is nothing to draw from.
    if generator.state.tables.is_empty() {
        return;
    }
    let spliced = if donor.is_some() { 16 } else { 0 };
    // What has grown large is made smaller: it costs the engine more than it shows.
    let weights = match expressions(query) {
        0..MANY_EXPRESSIONS => [30, spliced, 14, 10, 10, 10, 8, 3],
        _ => [10, 0, 0, 10, 40, 0, 0, 0],
    };
    match generator.rng.weighted(&weights) {
        0 => in_select(generator, query, replace),
        1 => in_select(generator, query, |generator, place| splice(generator, place, donor)),
        2 => in_select(generator, query, wrap),
        3 => in_select(generator, query, other_constant),
        4 => drop_clause(generator, query),
        5 => add_clause(generator, query),
        6 => in_select(generator, query, rejoin),
        _ => double(generator, query),
    }
}

/// Lets more rows through, by another condition beside the one that is there or in its place: what was bound to
/// other columns and changed more than once lets none through.
pub fn loosen(generator: &mut Generator, query: &mut Query) {
    let state = generator.state;
    let with = query.with.clone();
    let Some(select) = query.as_select_mut() else { return };
    let Some(filter) = select.filter.take() else { return };
    let mut relations = Vec::new();
    for table in &select.from {
        state.relations_of(table, with.as_ref(), generator.dialect, &mut relations);
    }
    let known = relations.into_iter().filter(|(_, columns)| !columns.is_empty());
    let known: Vec<Relation> = known.map(|(alias, columns)| Relation { alias, columns }).collect();
    select.filter = Some(match generator.rng.below(2) {
        _ if known.is_empty() => filter,
        0 => Expr::binary(BinaryOp::Or, filter, generator.within(known, |inner| inner.filter(0))),
        _ => generator.within(known, |inner| inner.filter(2)),
    });
}

/// Queries that are drawn have seldom more.
const MANY_EXPRESSIONS: usize = 50;

fn expressions(query: &Query) -> usize {
    let mut count = 0;
    each_expr(query, |_| count += 1);
    count
}

/// A SELECT somewhere in the query, with the relations of its FROM.
struct Place<'a> {
    select: &'a mut Select,
    relations: Vec<Relation>,
}

/// Works on one of the SELECTs of a query.
fn in_select(generator: &mut Generator, query: &mut Query, work: impl FnOnce(&mut Generator, Place)) {
    struct Count(usize);
    impl Visitor for Count {
        fn select(&mut self, select: &Select) {
            self.0 += 1;
            walk_select(self, select);
        }
    }
    struct Nth<F> {
        left: usize,
        work: Option<F>,
    }
    impl<F: FnOnce(&mut Select)> Editor for Nth<F> {
        fn select(&mut self, select: &mut Select) {
            if self.left > 0 {
                self.left -= 1;
                edit_select(self, select);
            } else if let Some(work) = self.work.take() {
                work(select);
            }
        }
    }
    let mut count = Count(0);
    count.query(query);
    if count.0 == 0 {
        return;
    }
    let left = generator.rng.below(count.0);
    let with = query.with.clone();
    let work = |select: &mut Select| {
        let mut relations = Vec::new();
        for table in &select.from {
            generator.state.relations_of(table, with.as_ref(), generator.dialect, &mut relations);
        }
        // Of what is not known nothing can be drawn.
        let relations = relations.into_iter().filter(|(_, columns)| !columns.is_empty());
        let relations = relations.map(|(alias, columns)| Relation { alias, columns }).collect();
        work(generator, Place { select, relations });
    };
    Nth { left, work: Some(work) }.query(query);
}

impl Place<'_> {
    /// What is computed here: items, conditions, keys.
    fn roots(&mut self) -> Vec<&mut Expr> {
        let mut roots: Vec<&mut Expr> = Vec::new();
        for item in &mut self.select.items {
            if let SelectItem::Expr { expr, .. } = item {
                roots.push(expr);
            }
        }
        roots.extend(&mut self.select.filter);
        roots.extend(&mut self.select.having);
        self.select.from.iter_mut().for_each(|table| conditions(table, &mut roots));
        roots
    }

    /// Works on one of the expressions here; those of subqueries have places of their own.
    fn in_expr(
        mut self,
        generator: &mut Generator,
        work: impl FnOnce(&mut Generator, &mut Expr, Vec<Relation>),
    ) {
        let relations = std::mem::take(&mut self.relations);
        let mut roots = self.roots();
        if roots.is_empty() {
            return;
        }
        let at = generator.rng.below(roots.len());
        let root = roots.swap_remove(at);
        let node = generator.rng.below(size(root));
        nth(root, node, |expr| work(generator, expr, relations));
    }
}

fn conditions<'a>(table: &'a mut TableRef, found: &mut Vec<&'a mut Expr>) {
    if let TableRef::Join { left, right, on, .. } = table {
        conditions(left, found);
        conditions(right, found);
        if let JoinOn::On(condition) = on {
            found.push(condition);
        }
    }
}

/// How many expressions an expression is, itself among them, without its subqueries.
fn size(expr: &Expr) -> usize {
    struct Size(usize);
    impl Visitor for Size {
        fn expr(&mut self, expr: &Expr) {
            self.0 += 1;
            walk_expr(self, expr);
        }
        fn query(&mut self, _: &Query) {}
    }
    let mut size = Size(0);
    size.expr(expr);
    size.0
}

fn nth(expr: &mut Expr, at: usize, work: impl FnOnce(&mut Expr)) {
    struct Nth<F> {
        left: usize,
        work: Option<F>,
    }
    impl<F: FnOnce(&mut Expr)> Editor for Nth<F> {
        fn expr(&mut self, expr: &mut Expr) {
            if self.left > 0 {
                self.left -= 1;
                edit_expr(self, expr);
            } else if let Some(work) = self.work.take() {
                work(expr);
            }
        }
        fn query(&mut self, _: &mut Query) {}
    }
    Nth { left: at, work: Some(work) }.expr(expr);
}

/// The kind of an expression here; where types matter and it is not known, nothing should take its place.
fn kind_here(generator: &Generator, expr: &Expr, relations: &[Relation]) -> Option<Kind> {
    let kind = kind_within(expr, relations, generator.dialect);
    let replaceable = kind != Kind::Any || !generator.dialect.is_typed();
    // A row stands where nothing else may.
    (replaceable && !matches!(expr, Expr::Row(_))).then_some(kind)
}

/// Another expression in the place of one.
fn replace(generator: &mut Generator, place: Place) {
    place.in_expr(generator, |generator, expr, relations| {
        let Some(kind) = kind_here(generator, expr, &relations) else { return };
        let depth = generator.rng.below(3);
        *expr = generator.within(relations, |generator| match kind {
            Kind::Bool => generator.filter(depth),
            kind => generator.value_expr(kind, depth),
        });
    });
}

/// An expression of another query in the place of one.
fn splice(generator: &mut Generator, place: Place, donor: Option<&Query>) {
    let mut given: Vec<Expr> = Vec::new();
    if let Some(donor) = donor {
        each_expr(donor, |expr| {
            let plain = matches!(expr, Expr::Literal(_) | Expr::Column(_) | Expr::Row(_));
            if !plain && !looks_beyond_its_row(expr) {
                given.push(expr.clone());
            }
        });
    }
    let Some(given) = generator.rng.choose(&given).cloned() else { return };
    place.in_expr(generator, |generator, expr, relations| {
        let kind = |expr: &Expr| kind_here(generator, expr, &relations);
        if kind(expr).is_some() && (!generator.dialect.is_typed() || kind(expr) == kind(&given)) {
            *expr = given;
        }
    });
}

/// An expression with something around it.
fn wrap(generator: &mut Generator, place: Place) {
    place.in_expr(generator, |generator, expr, relations| {
        let Some(kind) = kind_here(generator, expr, &relations) else { return };
        let inner = std::mem::replace(expr, Expr::null());
        let typed = generator.dialect.is_typed();
        *expr = generator.within(relations, |generator| match (kind, generator.rng.below(6)) {
            (Kind::Bool, 0) => inner.negate(),
            (Kind::Bool, 1) => inner.and(generator.filter(1)),
            (Kind::Bool, 2) => Expr::binary(BinaryOp::Or, inner, generator.filter(1)),
            (Kind::Bool, 3) => inner.is_not(Truth::Null),
            (_, 4) => Expr::Case {
                operand: None,
                branches: vec![Branch { when: generator.predicate(1), then: inner.clone() }],
                otherwise: Some(Box::new(inner)),
            },
            (_, 5) => {
                let alike = inner.clone();
                let cast = |ty: &DataType| Expr::Cast { expr: Box::new(inner), ty: ty.clone() };
                let types: Vec<&DataType> = generator
                    .dialect
                    .types
                    .iter()
                    .map(|entry| &entry.ty)
                    .filter(|ty| ty.kind == kind)
                    .collect();
                let cast = generator.rng.choose(&types).map(|ty| cast(ty));
                cast.unwrap_or(alike)
            }
            _ if !typed => match generator.rng.below(3) {
                0 => Expr::unary(UnaryOp::Plus, inner),
                1 => inner.is(Truth::Null),
                _ => Expr::binary(BinaryOp::Same, inner, generator.value_expr(Kind::Any, 0)),
            },
            _ => inner,
        });
    });
}

/// Another constant.
fn other_constant(generator: &mut Generator, mut place: Place) {
    let mut literals: Vec<&mut Value> = Vec::new();
    for root in place.roots() {
        literals_in(root, &mut literals);
    }
    if literals.is_empty() {
        return;
    }
    let at = generator.rng.below(literals.len());
    let literal = literals.swap_remove(at);
    *literal = match &*literal {
        Value::Int(int) if generator.rng.chance(50) => {
            Value::Int(if generator.rng.chance(50) { int.wrapping_add(1) } else { int.wrapping_neg() })
        }
        other if other.is_null() => return,
        other => {
            let kind = other.kind();
            generator.value(kind)
        }
    };
}

fn literals_in<'a>(expr: &'a mut Expr, found: &mut Vec<&'a mut Value>) {
    match expr {
        Expr::Literal(value) => found.push(value),
        Expr::Unary { expr, .. }
        | Expr::Is { expr, .. }
        | Expr::Cast { expr, .. }
        | Expr::Collate { expr, .. } => {
            literals_in(expr, found);
        }
        Expr::Binary { left, right, .. } => {
            literals_in(left, found);
            literals_in(right, found);
        }
        Expr::Between { expr, low, high, .. } => {
            [expr, low, high].into_iter().for_each(|part| literals_in(part, found));
        }
        Expr::InList { expr, list, .. } => {
            literals_in(expr, found);
            list.iter_mut().for_each(|item| literals_in(item, found));
        }
        Expr::Function { args, .. } | Expr::Row(args) => {
            args.iter_mut().for_each(|arg| literals_in(arg, found));
        }
        _ => {}
    }
}

/// A clause less.
fn drop_clause(generator: &mut Generator, query: &mut Query) {
    match generator.rng.below(8) {
        0 => query.order_by.clear(),
        1 => (query.limit, query.offset) = (None, None),
        // Operands of set operators and subqueries have as many items as are asked for.
        2 => {
            if let Some(select) = query.as_select_mut().filter(|select| select.items.len() > 1) {
                select.items.remove(generator.rng.below(select.items.len()));
                query.order_by.clear();
            }
        }
        _ => in_select(generator, query, |generator, place| {
            let select = place.select;
            match generator.rng.below(5) {
                // A part of the condition, or all of it.
                0 => {
                    select.filter = match select.filter.take() {
                        Some(Expr::Binary { op: BinaryOp::And | BinaryOp::Or, left, right }) => {
                            Some(if generator.rng.chance(50) { *left } else { *right })
                        }
                        _ => None,
                    }
                }
                1 => select.having = None,
                2 => select.distinct = false,
                3 => {
                    select.grouping = Grouping::Plain;
                    select.group_by.pop();
                    if select.group_by.is_empty() {
                        select.having = None;
                    }
                }
                _ => {
                    // One side of a join stays; columns of the other find new owners.
                    if let [TableRef::Join { left, .. }] = select.from.as_slice() {
                        select.from = vec![(**left).clone()];
                    } else if select.from.len() > 1 {
                        select.from.remove(generator.rng.below(select.from.len()));
                    }
                }
            }
        }),
    }
}

/// A clause more.
fn add_clause(generator: &mut Generator, query: &mut Query) {
    match generator.rng.below(9) {
        // The whole order, so that a limit keeps the same rows each time.
        0 => {
            let columns = query.as_select().map_or(0, |select| select.items.len());
            let desc = generator.rng.chance(50);
            query.order_by =
                (1..=columns).map(|at| OrderItem { expr: Expr::int(at as i64), desc, nulls: None }).collect();
        }
        1 if !query.order_by.is_empty() => query.limit = Some(Expr::int(generator.rng.between(1, 5) as i64)),
        _ => in_select(generator, query, |generator, place| {
            let (select, relations) = (place.select, place.relations);
            match generator.rng.below(5) {
                0 => select.distinct = true,
                1 | 2 => {
                    let condition = generator.within(relations, |generator| generator.filter(2));
                    select.filter = Some(match select.filter.take() {
                        // Conditions upon conditions would soon let nothing through.
                        Some(filter) if generator.rng.chance(30) => filter.and(condition),
                        Some(filter) => Expr::binary(BinaryOp::Or, filter, condition),
                        None => condition,
                    });
                }
                3 if select.group_by.is_empty() && !select.items.is_empty() => {
                    let keys = select.items.iter().filter_map(|item| match item {
                        SelectItem::Expr { expr: expr @ Expr::Column(_), .. } => Some(expr.clone()),
                        _ => None,
                    });
                    let keys: Vec<Expr> = keys.collect();
                    if keys.len() == select.items.len() {
                        select.group_by = keys;
                    }
                }
                _ => {
                    let items = generator.within(relations, |generator| generator.select_items(1));
                    // Parts of a set operator have as many columns as each other.
                    let at = generator.rng.below(select.items.len().max(1));
                    if let (Some(item), Some(expr)) = (select.items.get_mut(at), items.into_iter().next())
                        && let SelectItem::Expr { expr: old, .. } = item
                    {
                        *old = expr;
                    }
                }
            }
        }),
    }
}

/// Another kind of join, one more relation, or a derived table in the place of a table.
fn rejoin(generator: &mut Generator, place: Place) {
    let (select, relations) = (place.select, place.relations);
    let Some(table) = select.from.pop() else { return };
    let table = match (generator.rng.below(3), table) {
        (0, TableRef::Join { left, right, on: JoinOn::On(condition), .. }) => {
            let can = |feature, weight| if generator.dialect.can(feature) { weight } else { 0 };
            let weights = [
                2,
                can(Feature::LeftJoin, 3),
                can(Feature::RightJoin, 2),
                can(Feature::FullJoinAnyhow, if generator.dialect.can(Feature::FullJoin) { 2 } else { 0 }),
            ];
            use JoinKind::*;
            let kind = [Inner, Left, Right, Full][generator.rng.weighted(&weights)];
            TableRef::join(kind, *left, *right, JoinOn::On(condition))
        }
        (1, table) if (1..generator.policy.max_relations).contains(&relations.len()) => {
            generator.within(relations, |generator| generator.joined(table))
        }
        (_, TableRef::Table { name, alias, .. }) => derived(generator, name, alias),
        (_, table) => table,
    };
    select.from.push(table);
}

/// The rows of a table, by way of a derived table.
fn derived(generator: &mut Generator, name: Name, alias: Option<Name>) -> TableRef {
    let state = generator.state;
    let Some(table) = state.table(&name) else { return TableRef::Table { name, alias, hint: None } };
    let item = |column: &crate::generate::Column| SelectItem::Expr {
        expr: Expr::column(name.clone(), column.name.clone()),
        alias: Some(column.name.clone()),
    };
    let relation = Relation { alias: name.clone(), columns: Arc::clone(&table.columns) };
    let filter = generator.rng.chance(50).then(|| generator.within(vec![relation], |inner| inner.filter(1)));
    let items = table.columns.iter().map(item).collect();
    let from = vec![TableRef::table(name.clone())];
    let query = Box::new(Query::select(Select { items, from, filter, ..Select::default() }));
    TableRef::Derived { query, alias: alias.unwrap_or(name), columns: Vec::new(), lateral: false }
}

/// The query and itself, changed, by a set operator.
fn double(generator: &mut Generator, whole: &mut Query) {
    if whole.as_select().is_none() {
        return;
    }
    let mut other = Query::from(whole.body.clone());
    let items = |query: &Query| query.as_select().map(|select| select.items.len());
    let wanted = items(whole);
    query(generator, &mut other, None);
    if items(&other) != wanted || !other.order_by.is_empty() || other.limit.is_some() {
        return;
    }
    let op = *generator.rng.pick(&[SetOp::Union, SetOp::Intersect, SetOp::Except]);
    let all = op == SetOp::Union && generator.rng.chance(60);
    let left = whole.body.clone();
    whole.body = Body::Compound { op, all, left: Box::new(left), right: Box::new(other.body) };
    whole.order_by.clear();
    (whole.limit, whole.offset) = (None, None);
}
