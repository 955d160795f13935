//! Which queries are alike: their shape is what a planner decides by, without names and constants. A query whose shape
//! was seen before is planned like the one that had it, so that there is no need to ask for its plan.

use crate::hash::fnv1a;
use crate::sql::visit::{Visitor, walk_body, walk_expr, walk_query, walk_select, walk_table};
use crate::sql::*;
use crate::state::State;

/// The shapes that were seen: a bit each, so that a long hunt takes no more memory than a short one. Of two shapes that
/// share a bit the second is missed.
pub(super) struct Shapes {
    seen: Vec<u64>,
}

/// Bits for shapes: a mebibyte.
const BITS: u64 = 1 << 23;

impl Default for Shapes {
    fn default() -> Self {
        Shapes { seen: vec![0; (BITS / 64) as usize] }
    }
}

impl Shapes {
    /// Whether no query before had this one's shape.
    pub fn is_new(&mut self, query: &Query, state: &State) -> bool {
        let bit = shape(query, state) % BITS;
        let (word, mask) = (&mut self.seen[(bit / 64) as usize], 1 << (bit % 64));
        let is_new = *word & mask == 0;
        *word |= mask;
        is_new
    }
}

/// A number for the shape of a query on a database.
fn shape(query: &Query, state: &State) -> u64 {
    let mut outline = Outline { state, text: Vec::new(), in_value: false };
    outline.query(query);
    // The upper half has mixed best.
    fnv1a(&outline.text).rotate_left(32)
}

/// Writes down what matters for a plan, a byte or two for each part.
struct Outline<'a> {
    state: &'a State,
    text: Vec<u8>,
    /// What is looked at computes a value: of that only what has a plan of its own matters.
    in_value: bool,
}

impl Outline<'_> {
    fn put(&mut self, mark: u8, detail: u8) {
        self.text.extend([mark, detail]);
    }

    /// What an access to a table can go by.
    fn access(&mut self, name: &Name) {
        let Some(table) = self.state.table(name) else { return self.put(b'?', 0) };
        let facts = [table.is_view, table.has_rowid, table.partitioned, table.keyed, table.temporary];
        let bits = facts.iter().fold(0, |bits, fact| bits << 1 | u8::from(*fact));
        self.put(b'T', bits);
        self.put(b'#', table.rows.min(40).checked_ilog2().map_or(0, |log| 1 + log as u8));
        let indexes = self.state.indexes.iter().filter(|index| index.table == *name);
        let mut kinds: Vec<u8> = indexes
            .filter_map(|index| index.definition.as_ref())
            .map(|index| {
                let plain = index.keys.iter().all(|key| matches!(key.expr, Expr::Column(_)));
                let facts = [index.unique, index.filter.is_some(), plain, index.method.is_some()];
                facts.iter().fold(index.keys.len().min(3) as u8, |bits, fact| bits << 1 | u8::from(*fact))
            })
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        self.text.extend(kinds);
    }

    /// An operand: which index it could go by, or that it goes by none.
    fn operand(&self, expr: &Expr) -> u8 {
        match expr {
            Expr::Literal(Value::Null) | Expr::Bound(Value::Null) => 1,
            Expr::Literal(_) | Expr::Bound(_) | Expr::Param(_) => 2,
            Expr::Column(column) => 8 | self.column(column),
            Expr::Subquery(_) => 3,
            Expr::Row(_) => 4,
            Expr::Collate { expr, .. } => 64 | self.operand(expr),
            _ => 5,
        }
    }

    fn column(&self, reference: &ColumnRef) -> u8 {
        let is_key = |expr: &Expr| matches!(expr, Expr::Column(key) if key.column == reference.column);
        let place = |index: &crate::state::Index| {
            index.definition.as_ref()?.keys.iter().position(|key| is_key(&key.expr))
        };
        let places = self.state.indexes.iter().filter_map(place);
        let best = places.min().map_or(0, |at| if at == 0 { 2 } else { 1 });
        let known = self.state.tables.iter().flat_map(|table| table.columns.iter());
        let unique = known.filter(|column| column.name == reference.column).any(|column| column.unique);
        best << 1 | u8::from(unique)
    }
}

impl Visitor for Outline<'_> {
    fn query(&mut self, query: &Query) {
        self.put(b'Q', u8::from(query.limit.is_some()) << 1 | u8::from(query.offset.is_some()));
        let in_value = std::mem::replace(&mut self.in_value, false);
        walk_query(self, query);
        self.in_value = in_value;
        for item in &query.order_by {
            let operand = self.operand(&item.expr);
            self.put(b'O', operand << 1 | u8::from(item.desc));
        }
    }

    fn body(&mut self, body: &Body) {
        match body {
            Body::Compound { op, all, .. } => self.put(b'C', (*op as u8) << 1 | u8::from(*all)),
            Body::Values(_) => self.put(b'V', 0),
            Body::Select(_) | Body::Nested(_) => {}
        }
        walk_body(self, body);
    }

    fn select(&mut self, select: &Select) {
        self.put(b'S', u8::from(select.distinct));
        self.put(b'G', (select.group_by.len().min(3) as u8) << 2 | select.grouping as u8);
        for key in &select.group_by {
            let operand = self.operand(key);
            self.put(b'g', operand);
        }
        walk_select(self, select);
    }

    fn table(&mut self, table: &TableRef) {
        match table {
            TableRef::Table { name, hint, .. } => {
                self.put(b'A', u8::from(hint.is_some()));
                self.access(name);
            }
            TableRef::Derived { lateral, .. } => self.put(b'D', u8::from(*lateral)),
            TableRef::Join { kind, on, .. } => {
                let how = match on {
                    JoinOn::Nothing => 0,
                    JoinOn::Natural => 1,
                    JoinOn::On(_) => 2,
                    JoinOn::Using(_) => 3,
                };
                self.put(b'J', (*kind as u8) << 2 | how);
            }
            TableRef::Function { .. } => self.put(b'F', 0),
        }
        walk_table(self, table);
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::InQuery { .. } | Expr::Exists { .. } | Expr::Quantified { .. } | Expr::Subquery(_) => {
                self.condition(expr);
            }
            Expr::Aggregate(aggregate) => {
                let operand = aggregate.args.first().map_or(0, |arg| self.operand(arg));
                self.put(b'a', operand << 1 | u8::from(aggregate.distinct));
            }
            Expr::Window(_) => self.put(b'v', 0),
            _ if !self.in_value => self.condition(expr),
            _ => {}
        }
        let in_value = self.in_value;
        self.in_value |= !is_logical(expr);
        walk_expr(self, expr);
        self.in_value = in_value;
    }
}

impl Outline<'_> {
    /// Conditions are told apart by what they compare.
    fn condition(&mut self, expr: &Expr) {
        let (mark, detail, operand) = match expr {
            Expr::Binary { op, left, right } => {
                self.put(b'b', *op as u8);
                (b'b', self.operand(left), self.operand(right))
            }
            Expr::Unary { op, .. } => (b'u', *op as u8, 0),
            Expr::Is { expr, test, negated } => {
                (b'i', u8::from(*negated) << 2 | *test as u8, self.operand(expr))
            }
            Expr::Between { expr, negated, .. } => (b'w', u8::from(*negated), self.operand(expr)),
            Expr::InList { expr, negated, .. } => (b'l', u8::from(*negated), self.operand(expr)),
            Expr::InQuery { expr, negated, .. } => (b'q', u8::from(*negated), self.operand(expr)),
            Expr::Exists { negated, .. } => (b'x', u8::from(*negated), 0),
            Expr::Quantified { op, all, left, .. } => {
                (b'y', (*op as u8) << 1 | u8::from(*all), self.operand(left))
            }
            Expr::Match { op, expr, negated, .. } => {
                (b'm', (*op as u8) << 1 | u8::from(*negated), self.operand(expr))
            }
            other => (b'e', 0, self.operand(other)),
        };
        self.put(mark, detail);
        self.text.push(operand);
    }
}

fn is_logical(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Binary { op: BinaryOp::And | BinaryOp::Or, .. } | Expr::Unary { op: UnaryOp::Not, .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::import;

    fn queries(script: &str) -> (State, Vec<Query>) {
        let dialect = Dialect::load("sqlite", "3.50.0").unwrap();
        let (mut state, mut queries) = (State::default(), Vec::new());
        for imported in import::file("test.sql", script, &dialect) {
            match imported.statement {
                Statement::Query(query) => queries.push(*query),
                other => state.apply(&other, &dialect),
            }
        }
        (state, queries)
    }

    const TABLES: &str = "CREATE TABLE t0 (c0 INT, c1 TEXT); CREATE TABLE t1 (c2 INT, c3 TEXT);
                          CREATE INDEX i0 ON t0 (c0); CREATE INDEX i1 ON t1 (c2);";

    fn shapes(script: &str) -> Vec<u64> {
        let (state, queries) = queries(&format!("{TABLES}{script}"));
        assert!(!queries.is_empty());
        queries.iter().map(|query| shape(query, &state)).collect()
    }

    #[test]
    fn names_and_constants_are_no_part_of_a_shape() {
        let like = shapes(
            "SELECT c0 FROM t0 WHERE c0 > 5 AND c1 = 'x'; SELECT c2 FROM t1 WHERE c2 > 7 AND c3 = 'y';
             SELECT c2 FROM t1 WHERE c2 > 0 AND c3 = '';",
        );
        assert!(like.iter().all(|shape| *shape == like[0]), "{like:?}");
    }

    #[test]
    fn what_a_planner_decides_by_is() {
        let unlike = shapes(
            "SELECT c0 FROM t0 WHERE c0 > 5; SELECT c0 FROM t0 WHERE c1 > 5; SELECT c0 FROM t0 WHERE c0 = 5;
             SELECT c0 FROM t0 WHERE c0 + 1 > 5; SELECT DISTINCT c0 FROM t0 WHERE c0 > 5;
             SELECT c0 FROM t0 WHERE c0 > 5 ORDER BY c0; SELECT c0 FROM t0 WHERE c0 > 5 ORDER BY c1;
             SELECT max(c0) FROM t0 WHERE c0 > 5; SELECT c0 FROM t0, t1 WHERE c0 > 5;
             SELECT c0 FROM t0 LEFT JOIN t1 ON c0 = c2; SELECT c0 FROM t0 JOIN t1 ON c0 = c2;
             SELECT c0 FROM t0 WHERE c0 IN (SELECT c2 FROM t1); SELECT c0 FROM t0 WHERE c0 IN (1, 2);
             SELECT c0 FROM t0 WHERE c0 > 5 OR c0 = 3; SELECT c0 FROM t0 WHERE c0 > 5 AND c0 = 3;
             SELECT c0 FROM t0 UNION SELECT c2 FROM t1; SELECT c0 FROM t0 UNION ALL SELECT c2 FROM t1;
             SELECT c0 FROM t0 WHERE c0 > 5 LIMIT 1;",
        );
        for (at, one) in unlike.iter().enumerate() {
            assert!(unlike[..at].iter().all(|other| other != one), "query {at}");
        }
    }

    #[test]
    fn an_index_makes_another_shape() {
        let script = "CREATE TABLE t0 (c0 INT); SELECT c0 FROM t0 WHERE c0 = 1;";
        let (state, without) = queries(script);
        let (indexed, with) = queries(&script.replace(" SELECT", "CREATE INDEX i0 ON t0 (c0); SELECT"));
        assert_ne!(shape(&without[0], &state), shape(&with[0], &indexed));
        let mut shapes = Shapes::default();
        assert!(shapes.is_new(&with[0], &indexed) && !shapes.is_new(&with[0], &indexed));
    }
}
