//! Recursive common table expressions: `WITH RECURSIVE d AS (anchor UNION ALL step)`.

use super::visit::{Visitor, walk_query, walk_table};
use super::*;

/// Rounds that a recursion may surely take.
const ROUNDS: i64 = 100;

/// A common table expression of two SELECTs of which the second reads the table itself.
pub struct Recursion<'a> {
    table: &'a CommonTable,
    /// The SELECT that the recursion starts from.
    pub anchor: &'a Select,
    /// The SELECT that is repeated over the rows it gave last.
    pub step: &'a Select,
}

impl CommonTable {
    /// The table's recursion, if it is one and of the usual form.
    pub fn recursion(&self) -> Option<Recursion<'_>> {
        let Body::Compound { op: SetOp::Union, left, right, .. } = &self.query.body else { return None };
        let (Body::Select(anchor), Body::Select(step)) = (&**left, &**right) else { return None };
        let reads_itself = step.from.iter().any(|table| reads(table, &self.name));
        reads_itself.then_some(Recursion { table: self, anchor, step })
    }

    /// Whether its query names the table itself.
    pub fn reads_itself(&self) -> bool {
        struct Reads<'a>(&'a Name, bool);
        impl Visitor for Reads<'_> {
            fn query(&mut self, query: &Query) {
                walk_query(self, query);
            }
            fn table(&mut self, table: &TableRef) {
                self.1 |= matches!(table, TableRef::Table { name, .. } if name == self.0);
                walk_table(self, table);
            }
        }
        let mut found = Reads(&self.name, false);
        found.query(&self.query);
        found.1
    }

    /// What its column at this place is called outside: by its list of names, or by the first SELECT.
    pub fn column_name(&self, at: usize) -> Option<&Name> {
        if !self.columns.is_empty() {
            return self.columns.get(at);
        }
        let mut body = &self.query.body;
        while let Body::Compound { left, .. } = body {
            body = left;
        }
        let Body::Select(select) = body else { return None };
        match select.items.get(at)? {
            SelectItem::Expr { alias: Some(name), .. } => Some(name),
            SelectItem::Expr { expr: Expr::Column(reference), .. } => Some(&reference.column),
            _ => None,
        }
    }
}

fn reads(table: &TableRef, name: &Name) -> bool {
    match table {
        TableRef::Table { name: read, .. } => read == name,
        TableRef::Join { left, right, .. } => reads(left, name) || reads(right, name),
        _ => false,
    }
}

fn item(select: &Select, at: usize) -> Option<&Expr> {
    match select.items.get(at)? {
        SelectItem::Expr { expr, .. } => Some(expr),
        _ => None,
    }
}

impl Recursion<'_> {
    /// Whether an expression is the table's own column at this place.
    fn is_own_column(&self, expr: &Expr, at: usize) -> bool {
        let Expr::Column(reference) = expr else { return false };
        Some(&reference.column) == self.table.column_name(at)
            && reference.table.as_ref().is_none_or(|table| *table == self.table.name)
    }

    /// Every value of this column is one of the anchor's column: it is handed on from row to row, or read
    /// again from where the anchor has it.
    pub fn keeps(&self, at: usize) -> bool {
        let (Some(first), Some(next)) = (item(self.anchor, at), item(self.step, at)) else { return false };
        let same_tables = self.anchor.from.iter().all(|table| self.step.from.contains(table));
        self.is_own_column(next, at) || (matches!(first, Expr::Column(_)) && first == next && same_tables)
    }

    /// Both SELECTs compute this column: it is of no stored type.
    fn computes(&self, at: usize) -> bool {
        let is_computed = |select| {
            item(select, at).is_some_and(|expr| {
                !matches!(
                    expr,
                    Expr::Column(_) | Expr::Cast { .. } | Expr::Collate { .. } | Expr::Subquery(_)
                )
            })
        };
        is_computed(self.anchor) && is_computed(self.step)
    }

    /// Where types are dynamic: whether all rows have columns of the same affinities.
    pub fn is_of_one_affinity(&self) -> bool {
        let columns = self.anchor.items.len();
        columns == self.step.items.len() && (0..columns).all(|at| self.keeps(at) || self.computes(at))
    }

    /// The column by which it surely ends, and soon: where it stands, the number it counts from, and the last
    /// that it may reach.
    pub fn counter(&self) -> Option<(usize, i64, i64)> {
        let mut conditions = Vec::new();
        conjuncts(self.step.filter.as_ref(), &mut conditions);
        (0..self.step.items.len()).find_map(|at| {
            let from = item(self.anchor, at).and_then(small)?;
            let counts = matches!(
                item(self.step, at),
                Some(Expr::Binary { op: BinaryOp::Add, left, right })
                    if self.is_own_column(left, at) && small(right) == Some(1)
            );
            let bound = |condition: &&Expr| match condition {
                Expr::Binary { op: BinaryOp::Lt, left, right } if self.is_own_column(left, at) => {
                    small(right)
                }
                _ => None,
            };
            let to = conditions.iter().filter_map(bound).min()?;
            counts.then_some((at, from, to.max(from)))
        })
    }
}

fn small(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(Value::Int(number)) => (0..=ROUNDS).contains(number).then_some(*number),
        _ => None,
    }
}

fn conjuncts<'a>(condition: Option<&'a Expr>, found: &mut Vec<&'a Expr>) {
    match condition {
        Some(Expr::Binary { op: BinaryOp::And, left, right }) => {
            conjuncts(Some(left), found);
            conjuncts(Some(right), found);
        }
        Some(other) => found.push(other),
        None => {}
    }
}

/// Whether everything that a statement defines recursively surely ends.
pub fn ends(statement: &Statement) -> bool {
    struct Ends(bool);
    impl Visitor for Ends {
        fn query(&mut self, query: &Query) {
            for table in query.with.iter().filter(|with| with.recursive).flat_map(|with| &with.tables) {
                self.0 &= !table.reads_itself()
                    || table.recursion().is_some_and(|recursion| recursion.counter().is_some());
            }
            walk_query(self, query);
        }
    }
    let mut found = Ends(true);
    found.statement(statement);
    found.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(column: &str) -> Expr {
        Expr::column("d0", column)
    }

    /// `d0 AS (SELECT 1 AS c0, t0.x AS c1 FROM t0 UNION ALL SELECT d0.c0 + 1, next FROM d0 WHERE d0.c0 < 3)`.
    fn counting(next: Expr) -> CommonTable {
        let named = |expr, name: &str| SelectItem::Expr { expr, alias: Some(name.into()) };
        let anchor = Select {
            items: vec![named(Expr::int(1), "c0"), named(Expr::column("t0", "x"), "c1")],
            from: vec![TableRef::table("t0")],
            ..Select::default()
        };
        let step = Select {
            items: vec![Expr::binary(BinaryOp::Add, own("c0"), Expr::int(1)).into(), next.into()],
            from: vec![TableRef::table("d0")],
            filter: Some(Expr::binary(BinaryOp::Lt, own("c0"), Expr::int(3)).and(own("c1").is(Truth::Null))),
            ..Select::default()
        };
        let select = |select| Body::Select(Box::new(select));
        let query = Query::compound(SetOp::Union, true, select(anchor), select(step));
        CommonTable { name: "d0".into(), columns: Vec::new(), materialized: None, query }
    }

    fn change(table: &CommonTable, change: impl FnOnce(&mut Select)) -> CommonTable {
        let mut table = table.clone();
        let Body::Compound { right, .. } = &mut table.query.body else { unreachable!() };
        let Body::Select(step) = &mut **right else { unreachable!() };
        change(step);
        table
    }

    #[test]
    fn a_recursion_ends_that_counts_up_to_a_bound() {
        let ends = |table: &CommonTable| table.recursion().unwrap().counter().is_some();
        let table = counting(own("c1"));
        assert_eq!(table.recursion().unwrap().counter(), Some((0, 1, 3)));
        assert!(!ends(&change(&table, |step| step.filter = None)));
        assert!(!ends(&change(&table, |step| step.items[0] = own("c0").into())));
        assert!(!ends(&change(&table, |step| {
            step.filter = Some(Expr::binary(BinaryOp::Lt, own("c1"), Expr::int(3)));
        })));
        assert!(!ends(&change(&table, |step| {
            step.filter = Some(Expr::binary(BinaryOp::Lt, own("c0"), Expr::int(100_000)));
        })));
        // What does not read itself is no recursion.
        assert!(change(&table, |step| step.from = vec![TableRef::table("t0")]).recursion().is_none());
    }

    #[test]
    fn a_column_that_is_handed_on_is_the_anchors() {
        let table = counting(own("c1"));
        let recursion = table.recursion().unwrap();
        assert!(recursion.keeps(1) && !recursion.keeps(0));
        assert!(recursion.is_of_one_affinity());
        // Computed from a stored column: another affinity.
        let table = counting(Expr::binary(BinaryOp::Add, own("c1"), Expr::int(1)));
        assert!(!table.recursion().unwrap().is_of_one_affinity());
        // The same column again, of the same table; and of another by that name.
        let table = counting(Expr::column("t0", "x"));
        assert!(!table.recursion().unwrap().keeps(1));
        let again = change(&table, |step| step.from.push(TableRef::table("t0")));
        assert!(again.recursion().unwrap().keeps(1));
    }
}
