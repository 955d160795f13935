//! How many rows a query reads, as far as the state tells, assuming that no condition filters any.

use super::State;
use crate::sql::visit::{Visitor, walk_select, walk_table};
use crate::sql::*;

/// The rows that a query looks at.
pub fn of_query(query: &Query, state: &State) -> usize {
    Cost { state, common: Vec::new() }.query(query)
}

struct Cost<'a> {
    state: &'a State,
    /// Common table expressions around what is being looked at.
    common: Vec<(Name, usize)>,
}

impl Cost<'_> {
    fn query(&mut self, query: &Query) -> usize {
        let around = self.common.len();
        for table in query.with.iter().flat_map(|with| &with.tables) {
            let rows = self.query(&table.query);
            self.common.push((table.name.clone(), rows));
        }
        let rows = self.body(&query.body);
        self.common.truncate(around);
        rows
    }

    fn body(&mut self, body: &Body) -> usize {
        match body {
            Body::Select(select) => {
                let rows = select.from.iter().map(|table| self.table(table));
                let rows = rows.fold(1, usize::saturating_mul);
                // What stands in an expression may be asked for every row.
                let inside =
                    subqueries(select).iter().map(|query| self.query(query)).fold(1, usize::saturating_add);
                rows.saturating_mul(inside)
            }
            Body::Compound { left, right, .. } => self.body(left).saturating_add(self.body(right)),
            Body::Values(rows) => rows.len(),
            Body::Nested(query) => self.query(query),
        }
    }

    fn table(&mut self, table: &TableRef) -> usize {
        let rows = match table {
            TableRef::Table { name, .. } => match self.common.iter().rev().find(|common| common.0 == *name) {
                Some((_, rows)) => *rows,
                None => self.state.table(name).map_or(1, |table| table.rows),
            },
            TableRef::Derived { query, .. } => self.query(query),
            TableRef::Join { left, right, .. } => self.table(left).saturating_mul(self.table(right)),
            TableRef::Function { .. } => 1,
        };
        rows.max(1)
    }
}

/// Those in its expressions, not those in its FROM.
fn subqueries(select: &Select) -> Vec<Query> {
    struct Direct(Vec<Query>);
    impl Visitor for Direct {
        fn query(&mut self, query: &Query) {
            self.0.push(query.clone());
        }
        fn table(&mut self, table: &TableRef) {
            if !matches!(table, TableRef::Derived { .. }) {
                walk_table(self, table);
            }
        }
    }
    let mut direct = Direct(Vec::new());
    walk_select(&mut direct, select);
    direct.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn joins_and_subqueries_multiply_and_set_operators_add() {
        let dialect = Dialect::load("sqlite", "3.54.1").unwrap();
        let mut state = State::default();
        let row = vec![Expr::int(1)];
        let source = InsertSource::Values(vec![row; 10]);
        let columns = vec![ColumnDef {
            name: "c0".into(),
            ty: DataType::new("INT", Kind::Int),
            constraints: Vec::new(),
        }];
        let create = CreateTable {
            name: "t0".into(),
            temporary: false,
            columns,
            constraints: Vec::new(),
            options: Vec::new(),
            module: None,
            query: None,
        };
        state.apply(&Statement::CreateTable(create), &dialect);
        let insert = Insert { table: "t0".into(), or: None, columns: Vec::new(), source, upsert: None };
        state.apply(&Statement::Insert(insert), &dialect);
        let select = |tables: usize| Select {
            items: vec![SelectItem::Wildcard],
            from: vec![TableRef::table("t0"); tables],
            ..Select::default()
        };
        let cost = |select: Select| of_query(&Query::select(select), &state);
        assert_eq!(cost(select(1)), 10);
        assert_eq!(cost(select(3)), 1000);
        let exists = Expr::Exists { query: Box::new(Query::select(select(1))), negated: false };
        assert_eq!(cost(Select { filter: Some(exists), ..select(2) }), 1100);
        let branch = |tables: usize| Box::new(Body::Select(Box::new(select(tables))));
        let (left, right) = (branch(1), branch(2));
        let both = Body::Compound { op: SetOp::Union, all: false, left, right };
        let both = Query { body: both, ..Query::select(select(1)) };
        assert_eq!(of_query(&both, &state), 110);
        let derived = TableRef::Derived {
            query: Box::new(both),
            alias: "d0".into(),
            columns: Vec::new(),
            lateral: false,
        };
        assert_eq!(cost(Select { from: vec![derived, TableRef::table("t0")], ..select(0) }), 1100);
    }
}
