use super::Renderer;
use crate::dialect::{Feature, PrepareSyntax};
use crate::sql::*;

impl Renderer<'_> {
    pub(super) fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::CreateTable(create) => self.create_table(create),
            Statement::CreateIndex(create) => self.create_index(create),
            Statement::CreateView(create) => {
                self.push(if create.temporary { "CREATE TEMP VIEW " } else { "CREATE VIEW " });
                self.name(&create.name);
                if !create.columns.is_empty() {
                    self.tuple(&create.columns, |r, name| r.name(name));
                }
                self.push(" AS ");
                self.query(&create.query);
            }
            Statement::AlterTable { table, action: AlterAction::RenameTable(to) }
                if self.can(Feature::RenameTableStatement) =>
            {
                self.word_and_name("RENAME TABLE", &Some(table.clone()));
                self.word_and_name(" TO", &Some(to.clone()));
            }
            Statement::AlterTable { table, action } => {
                self.push("ALTER TABLE ");
                self.name(table);
                self.alter_action(action);
            }
            Statement::Drop { object, name, on, if_exists: true }
                if self.dialect.spelling.drop_if_exists.is_some() =>
            {
                let plain =
                    Statement::Drop { object: *object, name: name.clone(), on: on.clone(), if_exists: false };
                let form = self.dialect.spelling.drop_if_exists.as_deref().unwrap_or("{}");
                self.filled(form, &super::to_sql(&plain, self.dialect).replace('\'', "''"));
            }
            Statement::Drop { object, name, on, if_exists } => {
                self.push(match object {
                    ObjectKind::Table => "DROP TABLE ",
                    ObjectKind::Index => "DROP INDEX ",
                    ObjectKind::View => "DROP VIEW ",
                });
                if *if_exists {
                    self.push("IF EXISTS ");
                }
                self.name(name);
                if on.is_some() {
                    self.word_and_name(" ON", on);
                }
            }
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) if self.can(Feature::Mutations) => {
                self.word_and_name("ALTER TABLE", &Some(update.table.clone()));
                self.push(" UPDATE ");
                self.list(&update.assignments, Self::assignment);
                self.mutation_filter(&update.filter);
            }
            Statement::Delete(delete) if self.can(Feature::Mutations) => {
                self.word_and_name("ALTER TABLE", &Some(delete.table.clone()));
                self.push(" DELETE");
                self.mutation_filter(&delete.filter);
            }
            Statement::Update(update) => {
                self.push("UPDATE ");
                self.or_conflict(if self.can(Feature::InsertIgnore) { "" } else { "OR " }, update.or);
                self.name(&update.table);
                self.push(" SET ");
                self.list(&update.assignments, Self::assignment);
                self.filter(&update.filter);
            }
            Statement::Delete(delete) => {
                self.push("DELETE FROM ");
                self.name(&delete.table);
                self.filter(&delete.filter);
            }
            Statement::Analyze(table) => self.word_and_name("ANALYZE", table),
            Statement::Reindex(name) => self.word_and_name("REINDEX", name),
            Statement::Vacuum => self.push("VACUUM"),
            Statement::Set { name, value } => {
                if let Some(form) = self.dialect.setting(name).and_then(|setting| setting.written.as_ref()) {
                    return self.push(&form.replace("{}", value));
                }
                self.push(if self.can(Feature::Pragma) { "PRAGMA " } else { "SET " });
                self.push(name);
                self.push(" = ");
                self.push(value);
            }
            Statement::Begin => self.push("BEGIN"),
            Statement::Commit => self.push("COMMIT"),
            Statement::Rollback => self.push("ROLLBACK"),
            Statement::Savepoint(name) => self.word_and_name("SAVEPOINT", &Some(name.clone())),
            Statement::Release(name) => self.word_and_name("RELEASE SAVEPOINT", &Some(name.clone())),
            Statement::RollbackTo(name) => self.word_and_name("ROLLBACK TO SAVEPOINT", &Some(name.clone())),
            Statement::Prepare { name, statement, .. } if self.prepares_text() => {
                self.word_and_name("PREPARE", &Some(name.clone()));
                let mut text = String::new();
                super::render(statement, self.dialect, &mut text);
                self.push(" FROM ");
                // Read as a text first and as a statement then: whatever is escaped in it is escaped again.
                self.quoted_text(&text);
            }
            Statement::Execute { name, args } if self.prepares_text() => {
                self.word_and_name("EXECUTE", &Some(name.clone()));
                if !args.is_empty() {
                    self.push(" USING ");
                    self.list(args, Self::expr);
                }
            }
            Statement::Deallocate(name) if self.prepares_text() => {
                self.word_and_name("DEALLOCATE PREPARE", &Some(name.clone()));
            }
            Statement::Prepare { name, types, statement } => {
                self.word_and_name("PREPARE", &Some(name.clone()));
                if !types.is_empty() {
                    self.tuple(types, |r, ty| r.push(&ty.name));
                }
                self.push(" AS ");
                self.statement(statement);
            }
            Statement::Execute { name, args } => {
                self.word_and_name("EXECUTE", &Some(name.clone()));
                if !args.is_empty() {
                    self.tuple(args, Self::expr);
                }
            }
            Statement::Deallocate(name) => self.word_and_name("DEALLOCATE", &Some(name.clone())),
            Statement::Query(query) => self.query(query),
            Statement::Explain(statement) => {
                let word = self.dialect.explain.as_deref().unwrap_or("EXPLAIN");
                self.out.push_str(word);
                self.push(" ");
                self.statement(statement);
            }
            Statement::Raw(text) => self.push(text),
        }
    }

    fn prepares_text(&self) -> bool {
        self.dialect.preparing.sql == Some(PrepareSyntax::FromText)
    }

    fn word_and_name(&mut self, word: &str, name: &Option<Name>) {
        self.push(word);
        if let Some(name) = name {
            self.push(" ");
            self.name(name);
        }
    }

    fn filter(&mut self, filter: &Option<Expr>) {
        if let Some(filter) = filter {
            self.push(" WHERE ");
            self.expr(filter);
        }
    }

    /// A mutation always says which rows it means.
    fn mutation_filter(&mut self, filter: &Option<Expr>) {
        match filter {
            Some(_) => self.filter(filter),
            None => self.push(" WHERE 1"),
        }
    }

    fn or_conflict(&mut self, word: &str, conflict: Option<OnConflict>) {
        let Some(conflict) = conflict else { return };
        self.push(word);
        self.push(match conflict {
            OnConflict::Abort => "ABORT ",
            OnConflict::Fail => "FAIL ",
            OnConflict::Ignore => "IGNORE ",
            OnConflict::Replace => "REPLACE ",
            OnConflict::Rollback => "ROLLBACK ",
        });
    }

    fn create_table(&mut self, create: &CreateTable) {
        if let Some(module) = &create.module {
            return self.create_virtual_table(module, create);
        }
        self.push(if create.temporary { "CREATE TEMP TABLE " } else { "CREATE TABLE " });
        self.name(&create.name);
        if let Some(query) = &create.query {
            self.table_options(&create.options);
            self.push(" AS ");
            return self.query(query);
        }
        self.push("(");
        self.list(&create.columns, Self::column_def);
        for constraint in &create.constraints {
            self.push(", ");
            self.table_constraint(constraint);
        }
        self.push(")");
        self.table_options(&create.options);
    }

    /// Columns as their module wants them, then its arguments.
    fn create_virtual_table(&mut self, module: &Name, create: &CreateTable) {
        self.push("CREATE VIRTUAL TABLE ");
        self.name(&create.name);
        self.push(" USING ");
        self.push(module);
        self.push("(");
        let known = self.dialect.module(module);
        for (at, column) in create.columns.iter().enumerate() {
            self.push(if at == 0 { "" } else { ", " });
            let form = known.and_then(|module| module.column(at)).map_or("{}", |column| &column.form);
            let (before, after) = form.split_once("{}").unwrap_or_default();
            self.push(before);
            self.name(&column.name);
            self.push(after);
        }
        for option in &create.options {
            self.push(", ");
            self.push(option);
        }
        self.push(")");
    }

    fn table_options(&mut self, options: &[Name]) {
        for (at, option) in options.iter().enumerate() {
            self.push(if at == 0 { " " } else { ", " });
            self.push(option);
        }
    }

    fn column_def(&mut self, column: &ColumnDef) {
        self.name(&column.name);
        if !column.ty.name.is_empty() {
            self.push(" ");
            self.push(&column.ty.name);
        }
        for constraint in &column.constraints {
            self.push(" ");
            match constraint {
                ColumnConstraint::NotNull => self.push("NOT NULL"),
                ColumnConstraint::PrimaryKey { desc, autoincrement, on_conflict } => {
                    self.push("PRIMARY KEY");
                    if *desc {
                        self.push(" DESC");
                    }
                    self.on_conflict(*on_conflict);
                    if *autoincrement {
                        self.push(" AUTOINCREMENT");
                    }
                }
                ColumnConstraint::Unique { on_conflict } => {
                    self.push("UNIQUE");
                    self.on_conflict(*on_conflict);
                }
                ColumnConstraint::Check(expr) => self.parenthesised("CHECK ", expr),
                ColumnConstraint::Default(Expr::Literal(value)) => {
                    self.push("DEFAULT ");
                    self.literal(value);
                }
                ColumnConstraint::Default(expr) => self.parenthesised("DEFAULT ", expr),
                ColumnConstraint::Collate(collation) => {
                    self.push("COLLATE ");
                    self.push(collation);
                }
                ColumnConstraint::Generated { expr, stored } => {
                    self.parenthesised("GENERATED ALWAYS AS ", expr);
                    self.push(if *stored { " STORED" } else { " VIRTUAL" });
                }
                ColumnConstraint::References { table, column } => {
                    self.push("REFERENCES ");
                    self.name(table);
                    self.tuple(std::slice::from_ref(column), |r, name| r.name(name));
                }
            }
        }
    }

    fn on_conflict(&mut self, conflict: Option<OnConflict>) {
        if conflict.is_some() {
            self.or_conflict(" ON CONFLICT ", conflict);
            self.out.pop();
        }
    }

    fn parenthesised(&mut self, word: &str, expr: &Expr) {
        self.push(word);
        self.push("(");
        self.expr(expr);
        self.push(")");
    }

    fn table_constraint(&mut self, constraint: &TableConstraint) {
        match constraint {
            TableConstraint::PrimaryKey(keys) => {
                self.push("PRIMARY KEY ");
                self.tuple(keys, Self::index_key);
            }
            TableConstraint::Unique(keys) => {
                self.push("UNIQUE ");
                self.tuple(keys, Self::index_key);
            }
            TableConstraint::Check(expr) => self.parenthesised("CHECK ", expr),
            TableConstraint::ForeignKey { columns, table, parents } => {
                self.push("FOREIGN KEY ");
                self.tuple(columns, |r, name| r.name(name));
                self.push(" REFERENCES ");
                self.name(table);
                self.tuple(parents, |r, name| r.name(name));
            }
            TableConstraint::Index { name, keys } => {
                self.push("KEY ");
                if let Some(name) = name {
                    self.name(name);
                    self.push(" ");
                }
                self.tuple(keys, Self::index_key);
            }
        }
    }

    fn index_key(&mut self, key: &IndexKey) {
        // An expression key must be parenthesised in most dialects; a column must not be in some.
        if matches!(key.expr, Expr::Column(_)) {
            self.expr(&key.expr);
        } else {
            self.parenthesised("", &key.expr);
        }
        if let Some(length) = key.prefix {
            self.push(&format!("({length})"));
        }
        if let Some(collation) = &key.collation {
            self.push(" COLLATE ");
            self.push(collation);
        }
        if key.desc {
            self.push(" DESC");
        }
    }

    fn create_index(&mut self, create: &CreateIndex) {
        self.push(if create.unique { "CREATE UNIQUE INDEX " } else { "CREATE INDEX " });
        self.name(&create.name);
        self.push(" ON ");
        self.name(&create.table);
        if let Some(method) = &create.method {
            self.push(" USING ");
            self.push(method);
        }
        self.tuple(&create.keys, Self::index_key);
        self.filter(&create.filter);
    }

    fn alter_action(&mut self, action: &AlterAction) {
        match action {
            AlterAction::RenameTable(to) => self.word_and_name(" RENAME TO", &Some(to.clone())),
            AlterAction::RenameColumn { from, to } => {
                self.word_and_name(" RENAME COLUMN", &Some(from.clone()));
                self.word_and_name(" TO", &Some(to.clone()));
            }
            AlterAction::AddColumn(column) => {
                self.push(" ");
                self.push(&self.dialect.spelling.add_column);
                self.push(" ");
                self.column_def(&self.added(column));
            }
            AlterAction::DropColumn(column) => self.word_and_name(" DROP COLUMN", &Some(column.clone())),
        }
    }

    /// A new column of a table that is there, which may be NULL wherever one of CREATE TABLE may.
    fn added(&self, column: &ColumnDef) -> ColumnDef {
        let mut column = column.clone();
        let can_be_told = self.dialect.type_entry(&column.ty).is_some_and(|entry| !entry.nullable);
        if let (Some(word), true) = (&self.dialect.spelling.added_nullable, can_be_told)
            && !column.constraints.contains(&ColumnConstraint::NotNull)
        {
            column.ty.name = format!("{} {word}", column.ty.name).into();
        }
        column
    }

    fn insert(&mut self, insert: &Insert) {
        if let (InsertSource::Values(rows), Some(block)) = (&insert.source, &self.dialect.spelling.block)
            && rows.len() > 1
        {
            let single = |row: &Vec<Expr>| {
                let source = InsertSource::Values(vec![row.clone()]);
                let insert = Insert { source, ..insert.clone() };
                super::to_sql(&Statement::Insert(insert), self.dialect) + ";"
            };
            let statements: Vec<String> = rows.iter().map(single).collect();
            return self.filled(block, &statements.join(" "));
        }
        self.push("INSERT ");
        self.or_conflict(if self.can(Feature::InsertIgnore) { "" } else { "OR " }, insert.or);
        self.push("INTO ");
        self.name(&insert.table);
        if !insert.columns.is_empty() {
            self.tuple(&insert.columns, |r, name| r.name(name));
        }
        match &insert.source {
            InsertSource::Defaults => self.push(" DEFAULT VALUES"),
            InsertSource::Values(rows) => {
                self.push(" VALUES ");
                self.list(rows, |r, row| r.tuple(row, Self::expr));
            }
            // Without a WHERE the parser would take ON CONFLICT for a join condition.
            InsertSource::Query(query) if insert.upsert.is_some() => {
                self.push(" SELECT * FROM (");
                self.query(query);
                self.push(") AS s0 WHERE 1 = 1");
            }
            InsertSource::Query(query) => {
                self.push(" ");
                self.query(query);
            }
        }
        if let Some(upsert) = &insert.upsert {
            self.push(" ON CONFLICT ");
            if !upsert.target.is_empty() {
                self.tuple(&upsert.target, |r, name| r.name(name));
                self.push(" ");
            }
            if upsert.assignments.is_empty() {
                self.push("DO NOTHING");
            } else {
                self.push("DO UPDATE SET ");
                self.list(&upsert.assignments, Self::assignment);
                self.filter(&upsert.filter);
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.name(&assignment.column);
        self.push(" = ");
        self.expr(&assignment.value);
    }
}
