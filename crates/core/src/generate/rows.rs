//! Statements that change the rows of one table, with expressions wherever they are allowed.

use super::change::IN_CHANGE;
use super::{Generator, choices};
use crate::sql::*;
use crate::state::{Column, Table};

choices! {
    odds {
        LITERAL_CELL = "rows.insert.literal": 40,
        LITERAL_UPDATE = "rows.update.literal": 40,
        FILTER = "rows.update.filter": 85,
        IGNORE = "rows.update.ignore": 70,
    }
    choose enum {
        CHANGE: Change = "rows" { Insert: 30, InsertComputed: 12, InsertSelected: 10, Update: 32, Delete: 16 },
    }
}

impl<'a> Generator<'a> {
    /// A generator over another state that goes on drawing where this one is.
    pub fn over<'b>(&self, state: &'b super::State) -> Generator<'b>
    where
        'a: 'b,
    {
        let mut over = Generator::new(self.rng.clone(), self.dialect, state, self.policy);
        over.luck = self.luck;
        over
    }

    /// A table that nothing else depends on and that depends on nothing else.
    pub fn lone_table(&mut self) -> CreateTable {
        let mut create = self.table();
        for column in &mut create.columns {
            let depends =
                |constraint: &ColumnConstraint| matches!(constraint, ColumnConstraint::References { .. });
            column.constraints.retain(|constraint| !depends(constraint));
        }
        create.constraints.retain(|constraint| !matches!(constraint, TableConstraint::ForeignKey { .. }));
        create
    }

    /// An index on one of the tables.
    pub fn any_index(&mut self) -> Option<Statement> {
        self.create_index(false)
    }

    /// A statement that changes rows of a table.
    pub fn change_rows(&mut self, table: &Name) -> Option<Statement> {
        let table = self.state.table(table)?;
        match self.choose(&CHANGE) {
            Change::Insert => self.insert_rows(&table.name),
            Change::InsertComputed => self.insert_computed(table),
            Change::InsertSelected => self.insert_selected(table),
            Change::Update => self.update_computed(table),
            Change::Delete => {
                let relation = self.relation_of(table);
                let filter = self.over_table(&relation, IN_CHANGE, |g| g.predicate(2));
                Some(Statement::Delete(Delete { table: table.name.clone(), filter: Some(filter) }))
            }
        }
    }

    fn written_columns(table: &Table) -> Vec<&Column> {
        table.columns.iter().filter(|column| !column.generated).collect()
    }

    /// Rows whose values are computed.
    fn insert_computed(&mut self, table: &Table) -> Option<Statement> {
        let columns = Self::written_columns(table);
        let rows = (0..self.rng.between(1, 3))
            .map(|_| {
                let mut value = |column: &&Column| {
                    if column.rowid_alias
                        || column.counts
                        || column.range.is_some()
                        || self.odds(&LITERAL_CELL)
                    {
                        return Expr::Literal(self.cell(table, column));
                    }
                    self.value_expr(column.ty.kind, 2)
                };
                columns.iter().map(&mut value).collect()
            })
            .collect();
        self.start_over();
        Some(Statement::Insert(Insert {
            table: table.name.clone(),
            or: self.conflict_policy(table),
            columns: columns.iter().map(|column| column.name.clone()).collect(),
            source: InsertSource::Values(rows),
            upsert: None,
        }))
    }

    /// Rows of a query, into a table without keys: which of two comes first would be open.
    fn insert_selected(&mut self, table: &Table) -> Option<Statement> {
        if table.keyed || table.columns.iter().any(|column| column.unique || column.rowid_alias) {
            return self.insert_rows(&table.name);
        }
        let columns = Self::written_columns(table);
        let from = self.from_clause(1)?.tables;
        let items = columns.iter().map(|column| self.value_expr(column.ty.kind, 1).into()).collect();
        let filter = Some(self.filter(1));
        let query = self.finish(Select { items, from, filter, ..Select::default() });
        self.start_over();
        Some(Statement::Insert(Insert {
            table: table.name.clone(),
            or: self.conflict_policy(table),
            columns: columns.iter().map(|column| column.name.clone()).collect(),
            source: InsertSource::Query(Box::new(query)),
            upsert: None,
        }))
    }

    /// An UPDATE of columns that are no keys.
    fn update_computed(&mut self, table: &Table) -> Option<Statement> {
        let columns: Vec<&Column> =
            Self::written_columns(table).into_iter().filter(|c| !c.unique && !c.rowid_alias).collect();
        let column = *self.rng.choose(&columns)?;
        let relation = self.relation_of(table);
        let value = if column.counts || column.range.is_some() || self.odds(&LITERAL_UPDATE) {
            Expr::Literal(self.cell(table, column))
        } else {
            self.over_table(&relation, IN_CHANGE, |g| g.value_expr(column.ty.kind, 2))
        };
        let filter = self.odds(&FILTER).then(|| self.over_table(&relation, IN_CHANGE, |g| g.predicate(2)));
        let strict = self.dialect.can(crate::dialect::Feature::StrictChanges) && self.odds(&IGNORE);
        let or = if strict { Some(OnConflict::Ignore) } else { self.conflict_policy(table) };
        let assignments = vec![Assignment { column: column.name.clone(), value }];
        Some(Statement::Update(Update { table: table.name.clone(), or, assignments, filter }))
    }
}
