//! Tables, indexes and views.

use super::{Generator, Rules, choices};
use crate::dialect::{Feature, Partitioning, TableOption};
use crate::sql::*;
use crate::state::never_negative;
use crate::state::{Column, Relation, Table};

choices! {
    odds {
        PARTITIONED = "schema.partitioned": 12,
        STRICT = "schema.strict": 12,
        WITHOUT_ROWID = "schema.without-rowid": 35,
        TEMPORARY = "schema.temporary": 6,
        TABLE_OPTION = "schema.option": 50,
        ROWID_ALIAS = "schema.column.rowid-alias": 50,
        KEY_DESC = "schema.column.key.desc": 20,
        AUTOINCREMENT = "schema.column.autoincrement": 8,
        GENERATED = "schema.column.generated": 7,
        STORED = "schema.column.generated.stored": 50,
        NOT_NULL = "schema.column.not-null": 22,
        UNIQUE = "schema.column.unique": 14,
        DEFAULT = "schema.column.default": 10,
        NEVER_NEGATIVE = "schema.column.never-negative": 25,
        REFERENCES = "schema.column.references": 3,
        COLLATION = "schema.column.collation": 22,
        ON_CONFLICT = "schema.on-conflict": 8,
        TABLE_UNIQUE = "schema.unique": 8,
        TABLE_CHECK = "schema.check": 6,
        KEY_COLLATION = "schema.index.collation": 15,
        INDEX_DESC = "schema.index.desc": 20,
        /// Of an index for a given query.
        INDEX_UNIQUE = "schema.index.unique": 25,
        EXPRESSION = "schema.index.expression": 25,
        MORE_COLUMNS = "schema.index.more-columns": 40,
        PARTIAL = "schema.index.partial": 25,
        PARTIAL_NOT_NULL = "schema.index.partial.not-null": 50,
        METHOD = "schema.index.method": 30,
    }
    choose {
        CONFLICT: OnConflict = "schema.on-conflict.action" { Ignore: 1, Replace: 1 },
    }
    choose enum {
        KEY: Key = "schema.primary-key" { Column: 40, Composite: 12, None: 48 },
    }
}

/// What may stand in a key, a CHECK or a generated column.
const IN_SCHEMA: Rules =
    Rules { subqueries: false, qualified: false, identity: false, outer: true, indexable: true };

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

impl<'a> Generator<'a> {
    /// The statements that make a table, sometimes one in partitions.
    pub(super) fn create_table(&mut self) -> Vec<Statement> {
        if let Some(create) = self.module_table() {
            return vec![Statement::CreateTable(create)];
        }
        let mut create = self.table();
        let mut made = Vec::new();
        if self.odds_if(!self.dialect.partitions.is_empty(), &PARTITIONED)
            && let Some((partitioning, column)) = self.partitioning(&create)
        {
            create.temporary = false;
            create.options = vec![Name::from(partitioning.form.replace("{column}", &column))];
            let table = |form: &Name| Statement::Raw(form.replace("{table}", &create.name));
            made = partitioning.made.iter().map(table).collect();
        }
        std::iter::once(Statement::CreateTable(create)).chain(made).collect()
    }

    /// How a table can be divided, and by which column; not if it has a key, which would have to hold that column.
    fn partitioning(&mut self, create: &CreateTable) -> Option<(&'a Partitioning, Name)> {
        let plain = |column: &ColumnDef| {
            use ColumnConstraint::*;
            let hinders =
                |c: &ColumnConstraint| matches!(c, PrimaryKey { .. } | Unique { .. } | Generated { .. });
            !column.constraints.iter().any(hinders) && !self.dialect.is_prefixed(&column.ty)
        };
        let keyed =
            |c: &TableConstraint| matches!(c, TableConstraint::PrimaryKey(_) | TableConstraint::Unique(_));
        if !create.columns.iter().all(plain) || create.constraints.iter().any(keyed) {
            return None;
        }
        let column = self.rng.pick(&create.columns);
        let takes = |partitioning: &&Partitioning| {
            partitioning.kinds.is_empty() || partitioning.kinds.contains(&column.ty.kind)
        };
        let ways: Vec<&Partitioning> = self.dialect.partitions.iter().filter(takes).collect();
        self.rng.choose(&ways).map(|way| (*way, column.name.clone()))
    }

    /// A table of any shape.
    pub fn table(&mut self) -> CreateTable {
        let count = self.rng.between(1, self.policy.max_columns);
        let keys = self.dialect.can(Feature::UniqueKeys);
        let applies = |key| keys && (key != Key::Composite || count > 1);
        let primary_key = match self.choose_or(&KEY, Key::None, applies) {
            Key::Column => PrimaryKey::Column(self.rng.below(count)),
            Key::Composite => PrimaryKey::Composite,
            Key::None => PrimaryKey::None,
        };
        let design = Design {
            strict: self.dialect.can(Feature::StrictTables) && self.odds(&STRICT),
            without_rowid: self.dialect.can(Feature::WithoutRowid)
                && primary_key != PrimaryKey::None
                && self.odds(&WITHOUT_ROWID),
            primary_key,
        };
        let name = self.fresh_name('t');
        let mut columns: Vec<ColumnDef> = Vec::with_capacity(count);
        for at in 0..count {
            let column = self.column_def(Name::from(format!("c{at}")), at, &design, &columns);
            columns.push(column);
        }
        let constraints = self.table_constraints(&name, &columns, &design);
        let designed = |option: &&TableOption| {
            (option.keyed && design.without_rowid) || (option.strict && design.strict)
        };
        let designed = self.dialect.table_options.iter().filter(designed);
        let mut options: Vec<Name> = designed.map(|option| option.name.clone()).collect();
        options.extend(self.table_option(&columns));
        let temporary = self.dialect.can(Feature::TempTables) && self.odds(&TEMPORARY);
        CreateTable { name, temporary, columns, constraints, options, module: None, query: None }
    }

    /// How a table of these columns is stored, if not as usual.
    fn table_option(&mut self, columns: &[ColumnDef]) -> Option<Name> {
        let dialect = self.dialect;
        let generated = columns.iter().any(|column| column.constraints.iter().any(is_generated));
        let long = columns.iter().any(|column| dialect.is_prefixed(&column.ty));
        let fits = |option: &TableOption| (option.long_values || !long) && (option.generated || !generated);
        if dialect.table_options.iter().all(|option| option.weight == 0)
            || !(dialect.can(Feature::TableOptionNeeded) || self.odds(&TABLE_OPTION))
        {
            return None;
        }
        let weights: Vec<u32> =
            dialect.table_options.iter().map(|option| if fits(option) { option.weight } else { 0 }).collect();
        let option = &dialect.table_options[self.rng.weighted(&weights)].name;
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
        if key && self.dialect.can(Feature::RowidAlias) && !design.without_rowid && self.odds(&ROWID_ALIAS) {
            // The rowid alias, the most special column SQLite has.
            ty = DataType::new("INTEGER", Kind::Int);
        }
        while key && !self.dialect.is_key(&ty) {
            ty = self.data_type(design.strict);
        }
        let mut constraints = Vec::new();
        if key {
            let ordered = self.dialect.can(Feature::OrderedKeys);
            let desc = self.odds_if(ordered, &KEY_DESC) && ordered;
            let alias = !desc && !design.without_rowid && ty.name.eq_ignore_ascii_case("integer");
            let autoincrement =
                alias && self.dialect.can(Feature::Autoincrement) && self.odds(&AUTOINCREMENT);
            let on_conflict = self.conflict_clause();
            constraints.push(ColumnConstraint::PrimaryKey { desc, autoincrement, on_conflict });
        } else if self.dialect.can(Feature::GeneratedColumns) && at > 0 && self.odds(&GENERATED) {
            // Whatever it computes must fit its type.
            if design.strict {
                ty = DataType::new("ANY", Kind::Any);
            } else if self.dialect.is_typed()
                && let Some(cast) = self.dialect.casts.iter().find(|cast| cast.ty.kind == ty.kind)
            {
                ty = cast.ty.clone();
            }
            let kind = self.dialect.is_typed().then_some(ty.kind);
            let expr = self.generated_expr(before, kind);
            let stored = self.odds(&STORED) || !self.dialect.can(Feature::VirtualColumns);
            constraints.push(ColumnConstraint::Generated { expr, stored });
        } else {
            if self.odds(&NOT_NULL) {
                constraints.push(ColumnConstraint::NotNull);
            }
            if self.dialect.can(Feature::UniqueKeys) && self.odds(&UNIQUE) && self.dialect.is_key(&ty) {
                constraints.push(ColumnConstraint::Unique { on_conflict: self.conflict_clause() });
            }
            if self.odds(&DEFAULT) && !self.dialect.is_prefixed(&ty) {
                let value = self.stored_value(&ty, false);
                constraints.push(ColumnConstraint::Default(Expr::Literal(value)));
            }
            if ty.kind == Kind::Int
                && self.dialect.can(Feature::CheckConstraints)
                && self.odds(&NEVER_NEGATIVE)
            {
                constraints.retain(|constraint| !matches!(constraint, ColumnConstraint::Default(_)));
                constraints.push(ColumnConstraint::Check(never_negative(&name)));
            }
            let can = self.dialect.can(Feature::ForeignKeys);
            let parent = self.state.stored_tables().next().filter(|_| can);
            if self.odds_if(parent.is_some(), &REFERENCES)
                && let Some(parent) = parent
            {
                let (table, column) = (parent.name.clone(), parent.columns[0].name.clone());
                constraints.push(ColumnConstraint::References { table, column });
            }
        }
        let generated = constraints.iter().any(is_generated) && !self.dialect.can(Feature::DynamicTyping);
        let settled = generated || ty.name.contains("COLLATE");
        let collated = self.has_collation(ty.kind) && !settled && self.odds(&COLLATION);
        let collation = if collated { self.rng.choose(&self.dialect.collations).cloned() } else { None };
        if let Some(collation) = collation {
            constraints.push(ColumnConstraint::Collate(collation));
        }
        ColumnDef { name, ty, constraints }
    }

    /// Values of the kind may be collated.
    fn has_collation(&self, kind: Kind) -> bool {
        self.dialect.can(Feature::Collate) && (kind == Kind::Text || self.dialect.can(Feature::DynamicTyping))
    }

    fn conflict_clause(&mut self) -> Option<OnConflict> {
        let wanted = self.dialect.can(Feature::ConflictClauses) && self.odds(&ON_CONFLICT);
        wanted.then(|| self.choose(&CONFLICT))
    }

    /// An expression over the plain columns of a table that is being made; of any kind, or of this one.
    fn generated_expr(&mut self, columns: &[ColumnDef], kind: Option<Kind>) -> Expr {
        let plain: Vec<Column> = columns
            .iter()
            .map(|def| Column::from_def(def, self.dialect))
            .filter(|column| !column.generated)
            .collect();
        let relation = Relation { alias: Name::from(""), columns: plain.into() };
        self.over_table(&relation, IN_SCHEMA, |g| {
            let kind = kind.unwrap_or_else(|| g.kind());
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
        let is_plain = |column: &&Column| !column.generated && self.dialect.has_keys(column.ty.kind);
        let plain: Vec<&Column> = known.iter().filter(is_plain).collect();
        if design.primary_key == PrimaryKey::Composite && !plain.is_empty() {
            constraints.push(TableConstraint::PrimaryKey(self.constraint_keys(&plain)));
        }
        if self.dialect.can(Feature::UniqueKeys) && self.odds(&TABLE_UNIQUE) && !plain.is_empty() {
            constraints.push(TableConstraint::Unique(self.constraint_keys(&plain)));
        }
        if self.dialect.can(Feature::CheckConstraints) && self.odds(&TABLE_CHECK) {
            let relation = Relation { alias: name.clone(), columns: known.clone().into() };
            let check = self.over_table(&relation, IN_SCHEMA, |g| g.predicate(1));
            constraints.push(TableConstraint::Check(check));
        }
        constraints
    }

    fn constraint_keys(&mut self, columns: &[&Column]) -> Vec<IndexKey> {
        let mut keys = self.column_keys(columns);
        if !self.dialect.can(Feature::OrderedKeys) {
            keys.iter_mut().for_each(|key| (key.collation, key.desc) = (None, false));
        }
        keys
    }

    /// One to three different columns as keys.
    fn column_keys(&mut self, columns: &[&Column]) -> Vec<IndexKey> {
        let mut columns: Vec<&Column> = columns.to_vec();
        self.rng.shuffle(&mut columns);
        if !columns.is_empty() {
            columns.truncate(self.rng.between(1, columns.len().min(3)));
        }
        columns
            .iter()
            .map(|column| {
                let (collation, desc) = self.key_modifiers(column.ty.kind);
                let prefix = self.key_prefix(column);
                IndexKey { expr: Expr::bare_column(column.name.clone()), prefix, collation, desc }
            })
            .collect()
    }

    /// How much of a column is the key, if not all.
    fn key_prefix(&mut self, column: &Column) -> Option<u32> {
        self.dialect.is_prefixed(&column.ty).then(|| self.rng.between(1, 5) as u32)
    }

    fn key_modifiers(&mut self, kind: Kind) -> (Option<Name>, bool) {
        let collated =
            self.has_collation(kind) && self.dialect.can(Feature::CollatedKeys) && self.odds(&KEY_COLLATION);
        let collation = if collated { self.rng.choose(&self.dialect.collations).cloned() } else { None };
        (collation, self.dialect.can(Feature::OrderedIndexes) && self.odds(&INDEX_DESC))
    }

    pub(super) fn create_index(&mut self, unique: bool) -> Option<Statement> {
        if !self.dialect.can(Feature::Indexes) || (unique && !self.dialect.can(Feature::UniqueKeys)) {
            return None;
        }
        let fits = |table: &&Table| !unique || (table.rows == 0 && !table.partitioned);
        let tables: Vec<_> = self.state.stored_tables().filter(fits).collect();
        let table = *self.rng.choose(&tables)?;
        self.index_on(table, unique).map(Statement::CreateIndex)
    }

    /// An index on one of the tables that a query reads, also by way of views; a unique one may not be possible.
    pub fn index_for(&mut self, query: &Query) -> Option<CreateIndex> {
        if !self.dialect.can(Feature::Indexes) {
            return None;
        }
        let mut read = self.state.base_tables_of(query);
        read.retain(|table| table.module.is_none());
        let table = *self.rng.choose(&read)?;
        let unique = self.dialect.can(Feature::UniqueKeys) && !table.partitioned && self.odds(&INDEX_UNIQUE);
        self.index_on(table, unique)
    }

    fn index_on(&mut self, table: &Table, unique: bool) -> Option<CreateIndex> {
        let relation = Relation { alias: table.name.clone(), columns: table.columns.clone() };
        let mut keys = Vec::new();
        let method = self.index_method(table, unique);
        if method.is_none() && self.dialect.can(Feature::ExpressionIndexes) && self.odds(&EXPRESSION) {
            let (expr, kind) = self.over_table(&relation, IN_SCHEMA, |g| {
                let kind = g.kind();
                (g.value_expr(kind, 2), kind)
            });
            let (collation, desc) = self.key_modifiers(kind);
            // A text alone, in parentheses or not, would be read as the name of a column.
            let reads_a_column = visit::any_expr(&expr, |inner| matches!(inner, Expr::Column(_)));
            if reads_a_column && self.dialect.has_keys(kind) {
                keys.push(IndexKey { expr, prefix: None, collation, desc });
            }
        }
        if let Some((_, methods_keys)) = &method {
            keys = methods_keys.clone();
        } else if keys.is_empty() || self.odds(&MORE_COLUMNS) {
            let is_key = |column: &&Column| self.dialect.has_keys(column.ty.kind);
            let columns: Vec<&Column> = table.columns.iter().filter(is_key).collect();
            keys.extend(self.column_keys(&columns));
        }
        let filter = (self.dialect.can(Feature::PartialIndexes) && self.odds(&PARTIAL)).then(|| {
            self.over_table(&relation, IN_SCHEMA, |g| match g.column(Kind::Any) {
                Some(column) if g.odds(&PARTIAL_NOT_NULL) => column.expr.is_not(Truth::Null),
                _ => g.predicate(1),
            })
        });
        let name = self.fresh_name('i');
        let table = table.name.clone();
        let method = method.map(|(method, _)| method);
        (!keys.is_empty()).then_some(CreateIndex { name, unique, table, method, keys, filter })
    }

    /// Another kind of index, with keys that it takes.
    fn index_method(&mut self, table: &Table, unique: bool) -> Option<(Name, Vec<IndexKey>)> {
        let dialect = self.dialect;
        if unique || dialect.index_methods.is_empty() || !self.odds(&METHOD) {
            return None;
        }
        let method = self.rng.pick(&dialect.index_methods);
        let fits = |column: &&Column| method.kinds.is_empty() || method.kinds.contains(&column.ty.kind);
        let mut columns: Vec<&Column> = table.columns.iter().filter(fits).collect();
        self.rng.shuffle(&mut columns);
        columns.truncate(if method.single { 1 } else { self.rng.between(1, 3) });
        let key = |column: &&Column| IndexKey {
            expr: Expr::bare_column(column.name.clone()),
            prefix: None,
            collation: None,
            desc: false,
        };
        (!columns.is_empty()).then(|| (method.name.clone(), columns.iter().map(key).collect()))
    }

    pub(super) fn create_view(&mut self) -> Option<Statement> {
        if self.state.tables.is_empty() || !self.dialect.can(Feature::Views) {
            return None;
        }
        let name = self.fresh_name('v');
        let query = self.under(Rules { subqueries: false, ..Rules::default() }, |g| g.relation_query(2));
        self.scope.clear();
        let temporary = crate::state::tables_read(&query)
            .iter()
            .any(|read| self.state.table(read).is_some_and(|table| table.temporary));
        Some(Statement::CreateView(CreateView { name, temporary, columns: Vec::new(), query }))
    }
}

fn is_generated(constraint: &ColumnConstraint) -> bool {
    matches!(constraint, ColumnConstraint::Generated { .. })
}
