//! Tables, indexes, and ALTER TABLE.

use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

use super::types::squeezed;
use super::{Lower, Lowered, refuse};
use crate::sql::*;

/// Takes out of the making of a table what says nothing about its rows: remarks, names of constraints, that a column may
/// be NULL, and that numbers are found for rows that bring none (where some do, the engine answers otherwise).
pub fn simplify(statement: &mut ast::Statement) {
    let ast::Statement::CreateTable(create) = statement else { return };
    for column in &mut create.columns {
        column.options.iter_mut().for_each(|option| option.name = None);
        column.options.retain(|option| match &option.option {
            ast::ColumnOption::Null | ast::ColumnOption::Comment(_) => false,
            ast::ColumnOption::DialectSpecific(tokens) => {
                !matches!(&tokens[..], [token] if token.to_string().eq_ignore_ascii_case("AUTO_INCREMENT"))
            }
            _ => true,
        });
    }
    for constraint in &mut create.constraints {
        match constraint {
            ast::TableConstraint::PrimaryKey(key) => (key.name, key.index_name) = (None, None),
            ast::TableConstraint::Unique(key) => {
                (key.name, key.index_name) = (None, None);
                key.index_type_display = ast::KeyOrIndexDisplay::None;
            }
            ast::TableConstraint::ForeignKey(key) => (key.name, key.index_name) = (None, None),
            ast::TableConstraint::Check(check) => check.name = None,
            ast::TableConstraint::Index(index) => index.display_as_key = true,
            _ => {}
        }
    }
}

impl Lower<'_> {
    pub fn create_table(&self, create: &ast::CreateTable) -> Lowered<CreateTable> {
        let mut options: Vec<Name> = Vec::new();
        if create.without_rowid {
            options.push("WITHOUT ROWID".into());
        }
        if create.strict {
            options.push("STRICT".into());
        }
        let mut spelled: Vec<String> = match &create.table_options {
            ast::CreateTableOptions::None => Vec::new(),
            ast::CreateTableOptions::Plain(plain) => plain.iter().map(ToString::to_string).collect(),
            _ => return refuse("table options"),
        };
        // ClickHouse's keys stand behind the engine they belong to.
        spelled.extend(create.primary_key.iter().map(|key| format!("PRIMARY KEY {key}")));
        spelled.extend(create.order_by.iter().map(|key| format!("ORDER BY {key}")));
        if !spelled.is_empty() {
            // As one, and as the dialect's file spells them, if it does.
            let spelled = spelled.join(" ");
            let listed = self.dialect.table_options.iter().map(|option| &option.name);
            let listed = listed.into_iter().find(|listed| squeezed(listed) == squeezed(&spelled));
            options.push(listed.cloned().unwrap_or_else(|| Name::from(spelled)));
        }
        Ok(CreateTable {
            name: self.object(&create.name)?,
            temporary: create.temporary,
            columns: create.columns.iter().map(|column| self.column(column)).collect::<Lowered<_>>()?,
            constraints: create.constraints.iter().map(|one| self.constraint(one)).collect::<Lowered<_>>()?,
            options,
            module: None,
            query: create.query.as_ref().map(|query| self.query(query).map(Box::new)).transpose()?,
        })
    }

    fn column(&self, column: &ast::ColumnDef) -> Lowered<ColumnDef> {
        let mut constraints = Vec::new();
        for option in &column.options {
            self.column_option(&option.option, &mut constraints)?;
        }
        Ok(ColumnDef { name: self.name(&column.name), ty: self.data_type(&column.data_type)?, constraints })
    }

    fn column_option(
        &self,
        option: &ast::ColumnOption,
        constraints: &mut Vec<ColumnConstraint>,
    ) -> Lowered<()> {
        use ast::ColumnOption::*;
        constraints.push(match option {
            NotNull => ColumnConstraint::NotNull,
            Default(expr) => ColumnConstraint::Default(self.expr(expr)?),
            PrimaryKey(_) => {
                ColumnConstraint::PrimaryKey { desc: false, autoincrement: false, on_conflict: None }
            }
            Unique(_) => ColumnConstraint::Unique { on_conflict: None },
            Check(check) => ColumnConstraint::Check(self.expr(&check.expr)?),
            Collation(collation) => ColumnConstraint::Collate(Name::from(collation.to_string())),
            Generated { generation_expr: Some(expr), generation_expr_mode, .. } => {
                ColumnConstraint::Generated {
                    expr: self.expr(expr)?,
                    stored: *generation_expr_mode == Some(ast::GeneratedExpressionMode::Stored),
                }
            }
            ForeignKey(key) => match key.referred_columns.as_slice() {
                [column] => ColumnConstraint::References {
                    table: self.object(&key.foreign_table)?,
                    column: self.name(column),
                },
                _ => return refuse("REFERENCES without one column"),
            },
            // What follows a PRIMARY KEY or UNIQUE belongs to it.
            DialectSpecific(tokens) => return follow(tokens, constraints),
            OnConflict(keyword) => return resolve(*keyword, constraints),
            other => return refuse(format!("the column option {other}")),
        });
        Ok(())
    }

    fn constraint(&self, constraint: &ast::TableConstraint) -> Lowered<TableConstraint> {
        Ok(match constraint {
            ast::TableConstraint::PrimaryKey(key) => TableConstraint::PrimaryKey(self.keys(&key.columns)?),
            ast::TableConstraint::Unique(key) => TableConstraint::Unique(self.keys(&key.columns)?),
            ast::TableConstraint::Check(check) => TableConstraint::Check(self.expr(&check.expr)?),
            ast::TableConstraint::ForeignKey(key) => TableConstraint::ForeignKey {
                columns: key.columns.iter().map(|column| self.name(column)).collect(),
                table: self.object(&key.foreign_table)?,
                parents: key.referred_columns.iter().map(|column| self.name(column)).collect(),
            },
            ast::TableConstraint::Index(index) => TableConstraint::Index {
                name: index.name.as_ref().map(|name| self.name(name)),
                keys: self.keys(&index.columns)?,
            },
            other => return refuse(format!("the constraint {other}")),
        })
    }

    pub fn create_index(&self, create: &ast::CreateIndex) -> Lowered<CreateIndex> {
        let Some(name) = &create.name else { return refuse("an index without a name") };
        Ok(CreateIndex {
            name: self.object(name)?,
            unique: create.unique,
            table: self.object(&create.table_name)?,
            method: create.using.as_ref().map(|method| Name::from(method.to_string())),
            keys: self.keys(&create.columns)?,
            filter: self.optional(create.predicate.as_ref())?,
        })
    }

    fn keys(&self, keys: &[ast::IndexColumn]) -> Lowered<Vec<IndexKey>> {
        keys.iter().map(|key| self.key(&key.column)).collect()
    }

    fn key(&self, key: &ast::OrderByExpr) -> Lowered<IndexKey> {
        let desc = match &key.options.sort {
            None | Some(ast::OrderBySort::Asc) => false,
            Some(ast::OrderBySort::Desc) => true,
            Some(_) => return refuse("an operator in a key"),
        };
        let (expr, collation) = match &key.expr {
            ast::Expr::Collate { expr, collation } => (&**expr, Some(Name::from(collation.to_string()))),
            expr => (expr, None),
        };
        // `c0(5)`: where only a prefix of some types can be a key, this is one and no call.
        let has_prefixes = self.dialect.types.iter().any(|entry| entry.prefixed);
        let (expr, prefix) = match (expr, self.expr(expr)?) {
            (ast::Expr::Function(_), Expr::Function { name, args }) if has_prefixes => {
                match args.as_slice() {
                    [Expr::Literal(Value::Int(length))] => {
                        (Expr::bare_column(name), u32::try_from(*length).ok())
                    }
                    _ => (Expr::Function { name, args }, None),
                }
            }
            (_, expr) => (expr, None),
        };
        Ok(IndexKey { expr, prefix, collation, desc })
    }

    pub fn alter_table(&self, alter: &ast::AlterTable) -> Lowered<Statement> {
        let [operation] = alter.operations.as_slice() else { return refuse("several changes to a table") };
        use ast::AlterTableOperation::*;
        let action = match operation {
            RenameTable { table_name: ast::RenameTableNameKind::To(to) } => {
                AlterAction::RenameTable(self.object(to)?)
            }
            RenameColumn { old_column_name, new_column_name } => {
                AlterAction::RenameColumn { from: self.name(old_column_name), to: self.name(new_column_name) }
            }
            AddColumn { column_def, .. } => AlterAction::AddColumn(self.column(column_def)?),
            DropColumn { column_names, .. } => match column_names.as_slice() {
                [column] => AlterAction::DropColumn(self.name(column)),
                _ => return refuse("DROP of several columns"),
            },
            other => return refuse(format!("ALTER TABLE … {other}")),
        };
        Ok(Statement::AlterTable { table: self.object(&alter.name)?, action })
    }
}

/// `DESC` and `AUTOINCREMENT` behind a PRIMARY KEY.
fn follow(tokens: &[Token], constraints: &mut [ColumnConstraint]) -> Lowered<()> {
    for token in tokens {
        let word = token.to_string().to_ascii_uppercase();
        match (word.as_str(), constraints.last_mut()) {
            ("ASC", Some(_)) => {}
            ("DESC", Some(ColumnConstraint::PrimaryKey { desc, .. })) => *desc = true,
            ("AUTOINCREMENT", Some(ColumnConstraint::PrimaryKey { autoincrement, .. })) => {
                *autoincrement = true
            }
            _ => return refuse(format!("the column option {word}")),
        }
    }
    Ok(())
}

/// `ON CONFLICT …` behind a PRIMARY KEY or UNIQUE.
fn resolve(keyword: Keyword, constraints: &mut [ColumnConstraint]) -> Lowered<()> {
    let conflict = match keyword {
        Keyword::ROLLBACK => OnConflict::Rollback,
        Keyword::ABORT => OnConflict::Abort,
        Keyword::FAIL => OnConflict::Fail,
        Keyword::IGNORE => OnConflict::Ignore,
        Keyword::REPLACE => OnConflict::Replace,
        _ => return refuse("ON CONFLICT"),
    };
    match constraints.last_mut() {
        Some(ColumnConstraint::PrimaryKey { on_conflict, .. } | ColumnConstraint::Unique { on_conflict }) => {
            *on_conflict = Some(conflict);
            Ok(())
        }
        _ => refuse("ON CONFLICT without a key"),
    }
}
