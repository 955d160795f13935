//! Tables, indexes and views.

use super::{Column, Generator, Relation, Rules};
use crate::dialect::Feature;
use crate::sql::*;

/// What may stand in a key, a CHECK or a generated column.
const IN_SCHEMA: Rules = Rules { subqueries: false, qualified: false, identity: false };

/// What a table is going to be, decided before its columns are drawn.
struct Design {
    strict: bool,
    without_rowid: bool,
    primary_key: PrimaryKey,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PrimaryKey {
    None,
    Column(usize),
    Composite,
}

impl Generator<'_> {
    pub(super) fn create_table(&mut self) -> Statement {
        let count = self.rng.between(1, self.policy.max_columns);
        let primary_key = match self.rng.below(100) {
            _ if !self.dialect.can(Feature::UniqueKeys) => PrimaryKey::None,
            0..40 => PrimaryKey::Column(self.rng.below(count)),
            40..52 if count > 1 => PrimaryKey::Composite,
            _ => PrimaryKey::None,
        };
        let design = Design {
            strict: self.dialect.can(Feature::StrictTables) && self.rng.chance(12),
            without_rowid: self.dialect.can(Feature::WithoutRowid)
                && primary_key != PrimaryKey::None
                && self.rng.chance(35),
            primary_key,
        };
        let name = self.fresh_name('t');
        let mut columns: Vec<ColumnDef> = Vec::with_capacity(count);
        for at in 0..count {
            let column = self.column_def(Name::from(format!("c{at}")), at, &design, &columns);
            columns.push(column);
        }
        let constraints = self.table_constraints(&name, &columns, &design);
        let mut options = Vec::new();
        if design.without_rowid {
            options.push(Name::from("WITHOUT ROWID"));
        }
        if design.strict {
            options.push(Name::from("STRICT"));
        }
        options.extend(self.table_option(&columns));
        let temporary = self.dialect.can(Feature::TempTables) && self.rng.chance(6);
        Statement::CreateTable(CreateTable { name, temporary, columns, constraints, options, query: None })
    }

    fn table_option(&mut self, columns: &[ColumnDef]) -> Option<Name> {
        let option = self.rng.choose(&self.dialect.table_options)?.clone();
        let mut names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
        self.rng.shuffle(&mut names);
        names.truncate(self.rng.between(1, 2));
        Some(Name::from(option.replace("{columns}", &names.join(", "))))
    }

    fn data_type(&mut self, strict: bool) -> DataType {
        let types = &self.dialect.types;
        let usable = |at: usize| !strict || types[at].strict;
        let total: u32 = (0..types.len()).filter(|&at| usable(at)).map(|at| types[at].weight).sum();
        let mut left = self.rng.below(total as usize) as u32;
        for entry in types.iter().filter(|entry| !strict || entry.strict) {
            if left < entry.weight {
                return entry.ty.clone();
            }
            left -= entry.weight;
        }
        types[0].ty.clone()
    }

    fn column_def(&mut self, name: Name, at: usize, design: &Design, before: &[ColumnDef]) -> ColumnDef {
        let key = design.primary_key == PrimaryKey::Column(at);
        let mut ty = self.data_type(design.strict);
        if key && self.dialect.can(Feature::RowidAlias) && !design.without_rowid && self.rng.chance(50) {
            // The rowid alias, the most special column SQLite has.
            ty = DataType::new("INTEGER", Kind::Int);
        }
        let mut constraints = Vec::new();
        if key {
            let desc = self.dialect.can(Feature::OrderedConstraints) && self.rng.chance(20);
            let alias = !desc && !design.without_rowid && ty.name.eq_ignore_ascii_case("integer");
            let autoincrement = alias && self.dialect.can(Feature::Autoincrement) && self.rng.chance(8);
            let on_conflict = self.conflict_clause();
            constraints.push(ColumnConstraint::PrimaryKey { desc, autoincrement, on_conflict });
        } else if self.dialect.can(Feature::GeneratedColumns) && at > 0 && self.rng.chance(7) {
            let expr = self.generated_expr(before);
            if design.strict {
                // Whatever it computes must fit its type.
                ty = DataType::new("ANY", Kind::Any);
            }
            constraints.push(ColumnConstraint::Generated { expr, stored: self.rng.chance(50) });
        } else {
            if self.rng.chance(14) {
                constraints.push(ColumnConstraint::NotNull);
            }
            if self.dialect.can(Feature::UniqueKeys) && self.rng.chance(14) {
                constraints.push(ColumnConstraint::Unique { on_conflict: self.conflict_clause() });
            }
            if self.rng.chance(10) {
                let value = self.stored_value(&ty, false);
                constraints.push(ColumnConstraint::Default(Expr::Literal(value)));
            }
            if self.rng.chance(3)
                && let Some(parent) = self.state.base_tables().next()
                && self.dialect.can(Feature::ForeignKeys)
            {
                let (table, column) = (parent.name.clone(), parent.columns[0].name.clone());
                constraints.push(ColumnConstraint::References { table, column });
            }
        }
        let has_collation = self.dialect.can(Feature::LooseOperands) || ty.kind == Kind::Text;
        let collation = if self.dialect.can(Feature::Collate) && has_collation && self.rng.chance(22) {
            self.rng.choose(&self.dialect.collations).cloned()
        } else {
            None
        };
        if let Some(collation) = collation {
            constraints.push(ColumnConstraint::Collate(collation));
        }
        ColumnDef { name, ty, constraints }
    }

    fn conflict_clause(&mut self) -> Option<OnConflict> {
        let wanted = self.dialect.can(Feature::ConflictClauses) && self.rng.chance(8);
        wanted.then(|| *self.rng.pick(&[OnConflict::Ignore, OnConflict::Replace]))
    }

    /// An expression over the plain columns of a table that is being made.
    fn generated_expr(&mut self, columns: &[ColumnDef]) -> Expr {
        let plain: Vec<Column> = columns
            .iter()
            .map(|def| Column::from_def(def, self.dialect))
            .filter(|column| !column.generated)
            .collect();
        let relation = Relation { alias: Name::from(""), columns: plain.into() };
        self.over_table(&relation, IN_SCHEMA, |g| {
            let kind = g.kind();
            g.value_expr(kind, 2)
        })
    }

    fn table_constraints(
        &mut self,
        name: &Name,
        columns: &[ColumnDef],
        design: &Design,
    ) -> Vec<TableConstraint> {
        let mut constraints = Vec::new();
        let known: Vec<Column> = columns.iter().map(|def| Column::from_def(def, self.dialect)).collect();
        let plain: Vec<&Column> = known.iter().filter(|column| !column.generated).collect();
        if design.primary_key == PrimaryKey::Composite {
            constraints.push(TableConstraint::PrimaryKey(self.constraint_keys(&plain)));
        }
        if self.dialect.can(Feature::UniqueKeys) && self.rng.chance(8) {
            constraints.push(TableConstraint::Unique(self.constraint_keys(&plain)));
        }
        if self.dialect.can(Feature::CheckConstraints) && self.rng.chance(6) {
            let relation = Relation { alias: name.clone(), columns: known.clone().into() };
            let check = self.over_table(&relation, IN_SCHEMA, |g| g.predicate(1));
            constraints.push(TableConstraint::Check(check));
        }
        constraints
    }

    fn constraint_keys(&mut self, columns: &[&Column]) -> Vec<IndexKey> {
        let mut keys = self.column_keys(columns);
        if !self.dialect.can(Feature::OrderedConstraints) {
            keys.iter_mut().for_each(|key| key.desc = false);
        }
        keys
    }

    /// One to three different columns as keys.
    fn column_keys(&mut self, columns: &[&Column]) -> Vec<IndexKey> {
        let mut columns: Vec<&Column> = columns.to_vec();
        self.rng.shuffle(&mut columns);
        let count = self.rng.between(1, columns.len().min(3));
        columns[..count]
            .iter()
            .map(|column| {
                let (collation, desc) = self.key_modifiers();
                IndexKey { expr: Expr::bare_column(column.name.clone()), collation, desc }
            })
            .collect()
    }

    fn key_modifiers(&mut self) -> (Option<Name>, bool) {
        let collated = self.dialect.can(Feature::Collate) && self.rng.chance(15);
        let collation = if collated { self.rng.choose(&self.dialect.collations).cloned() } else { None };
        (collation, self.dialect.can(Feature::OrderedIndexes) && self.rng.chance(20))
    }

    pub(super) fn create_index(&mut self, unique: bool) -> Option<Statement> {
        if !self.dialect.can(Feature::Indexes) || (unique && !self.dialect.can(Feature::UniqueKeys)) {
            return None;
        }
        let tables: Vec<_> = self.state.base_tables().filter(|table| !unique || table.rows == 0).collect();
        let table = *self.rng.choose(&tables)?;
        let relation = Relation { alias: table.name.clone(), columns: table.columns.clone() };
        let mut keys = Vec::new();
        if self.dialect.can(Feature::ExpressionIndexes) && self.rng.chance(25) {
            let expr = self.over_table(&relation, IN_SCHEMA, |g| {
                let kind = g.kind();
                g.value_expr(kind, 2)
            });
            let (collation, desc) = self.key_modifiers();
            // A text alone, in parentheses or not, would be read as the name of a column.
            if visit::any_expr(&expr, |inner| matches!(inner, Expr::Column(_))) {
                keys.push(IndexKey { expr, collation, desc });
            }
        }
        if keys.is_empty() || self.rng.chance(40) {
            let columns: Vec<&Column> = table.columns.iter().collect();
            keys.extend(self.column_keys(&columns));
        }
        let filter = (self.dialect.can(Feature::PartialIndexes) && self.rng.chance(25)).then(|| {
            self.over_table(&relation, IN_SCHEMA, |g| match g.column(Kind::Any) {
                Some(column) if g.rng.chance(50) => column.expr.is_not(Truth::Null),
                _ => g.predicate(1),
            })
        });
        let name = self.fresh_name('i');
        let table = table.name.clone();
        Some(Statement::CreateIndex(CreateIndex { name, unique, table, method: None, keys, filter }))
    }

    pub(super) fn create_view(&mut self) -> Option<Statement> {
        if self.state.tables.is_empty() {
            return None;
        }
        let name = self.fresh_name('v');
        let query = self.under(Rules { subqueries: false, ..Rules::default() }, |g| g.relation_query(2));
        self.scope.clear();
        let temporary = super::resolve::tables_read(&query)
            .iter()
            .any(|read| self.state.table(read).is_some_and(|table| table.temporary));
        Some(Statement::CreateView(CreateView { name, temporary, columns: Vec::new(), query }))
    }
}
