//! From sqlparser's trees to ours: one function per kind of node. Everything else is refused, with a word on what
//! it is.
//!
//! sqlparser's nodes have many parts, most of them for other databases. A part that this code ignores would be lost
//! silently. So the result is printed and parsed again, and must then say the same as the original.

mod definition;
mod expr;
mod plain;
mod query;
mod shorthand;
mod types;

use sqlparser::ast::{self, Statement as Parsed};
use sqlparser::tokenizer::{Token, Tokenizer};

use super::reading::Reading;
use crate::dialect::Dialect;
use crate::render::to_sql;
use crate::sql::*;

type Lowered<T> = Result<T, String>;

fn refuse<T>(what: impl Into<String>) -> Lowered<T> {
    Err(what.into())
}

pub fn statement(text: &str, dialect: &Dialect) -> Lowered<Statement> {
    if let Some(statement) = plain::statement(text, dialect) {
        return Ok(statement);
    }
    if code(text).any(has_hexadecimal_number) {
        return refuse("a hexadecimal number, which sqlparser reads as bytes");
    }
    // The tree has no place for it, and comments are not compared below.
    if code(text).any(|code| code.contains("/*+")) {
        return refuse("an optimizer hint");
    }
    let reading = Reading::of(dialect);
    let mut parsed = match shorthand::all_of_table(text) {
        Some(query) => reading.parse(&query)?,
        None => reading.parse(text)?,
    };
    definition::simplify(&mut parsed);
    let lower = Lower { dialect, folds_names: reading.folds_names };
    shorthand::spell_out(&mut parsed, &|name: &str| lower.is_aggregate(name, 1));
    let statement = lower.statement(&parsed)?;
    let rendered = to_sql(&statement, dialect);
    let again =
        reading.parse(&rendered).map_err(|why| format!("Dissent's rendering of it does not parse: {why}"))?;
    let (said, says) = (words(&parsed), words(&again));
    match said == says {
        true => Ok(statement),
        false => {
            let lost =
                said.iter().zip(&says).find(|(said, says)| said != says).map(|(said, _)| said.as_str());
            refuse(format!("Dissent's rendering of it differs at {}", lost.unwrap_or("its end")))
        }
    }
}

/// What is outside quotes.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('\'').step_by(2)
}

/// `0x1F`
fn has_hexadecimal_number(code: &str) -> bool {
    let bytes = code.as_bytes();
    bytes.windows(2).enumerate().any(|(at, pair)| {
        let begins = at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        begins && pair[0] == b'0' && pair[1].eq_ignore_ascii_case(&b'x')
    })
}

/// What our printer writes or leaves out at will: no meaning hangs on it. (`x::INT` is `CAST(x AS INT)`.)
const NOISE: &[&str] = &[
    "AS",
    "INNER",
    "OUTER",
    "ASC",
    "VIRTUAL",
    "GENERATED",
    "ALWAYS",
    "COLUMN",
    "TEMPORARY",
    "TEMP",
    "CAST",
    "::",
];

/// A statement as its words and signs, without parentheses and quotes.
fn words(statement: &Parsed) -> Vec<String> {
    let text = statement.to_string();
    let tokens = Tokenizer::new(&sqlparser::dialect::GenericDialect {}, &text).tokenize().unwrap_or_default();
    let word = |token: Token| match token {
        Token::Whitespace(_) | Token::LParen | Token::RParen | Token::SemiColon => None,
        Token::Word(word) if word.value.starts_with(query::GIVEN_ALIAS) => None,
        Token::Word(word) => Some(word.value.to_ascii_uppercase()),
        other => Some(other.to_string().to_ascii_uppercase()),
    };
    let words = tokens.into_iter().filter_map(word).filter(|word| !NOISE.contains(&word.as_str()));
    with_short_frames(words.collect())
}

/// `ROWS 1 PRECEDING` for `ROWS BETWEEN 1 PRECEDING AND CURRENT ROW`.
fn with_short_frames(words: Vec<String>) -> Vec<String> {
    let mut short: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let unit = short.last().is_some_and(|last| matches!(&**last, "ROWS" | "RANGE" | "GROUPS"));
        if unit && word == "BETWEEN" {
            continue;
        }
        short.push(word);
        if short.ends_with(&["AND", "CURRENT", "ROW"].map(str::to_string)) {
            short.truncate(short.len() - 3);
        }
    }
    short
}

/// What lowering needs to know.
struct Lower<'a> {
    dialect: &'a Dialect,
    folds_names: bool,
}

impl Lower<'_> {
    fn name(&self, ident: &ast::Ident) -> Name {
        match ident.quote_style {
            None if self.folds_names => Name::from(ident.value.to_ascii_lowercase()),
            _ => Name::from(ident.value.as_str()),
        }
    }

    /// The name of an object in the one schema there is.
    fn object(&self, object: &ast::ObjectName) -> Lowered<Name> {
        match object.0.as_slice() {
            [ast::ObjectNamePart::Identifier(ident)] => Ok(self.name(ident)),
            _ => refuse("a name in another schema"),
        }
    }

    fn statement(&self, statement: &Parsed) -> Lowered<Statement> {
        Ok(match statement {
            Parsed::Query(query) => Statement::from(self.query(query)?),
            Parsed::CreateTable(create) => Statement::CreateTable(self.create_table(create)?),
            Parsed::CreateIndex(create) => Statement::CreateIndex(self.create_index(create)?),
            Parsed::CreateView(create) => Statement::CreateView(CreateView {
                name: self.object(&create.name)?,
                temporary: create.temporary,
                columns: create.columns.iter().map(|column| self.name(&column.name)).collect(),
                query: self.query(&create.query)?,
            }),
            Parsed::AlterTable(alter) => self.alter_table(alter)?,
            Parsed::Drop { object_type, if_exists, names, table, .. } => {
                let object = match object_type {
                    ast::ObjectType::Table => ObjectKind::Table,
                    ast::ObjectType::Index => ObjectKind::Index,
                    ast::ObjectType::View => ObjectKind::View,
                    other => return refuse(format!("DROP {other}")),
                };
                let [name] = names.as_slice() else { return refuse("DROP of several") };
                let on = table.as_ref().map(|table| self.object(table)).transpose()?;
                Statement::Drop { object, name: self.object(name)?, on, if_exists: *if_exists }
            }
            Parsed::Insert(insert) => Statement::Insert(self.insert(insert)?),
            Parsed::Update(update) => Statement::Update(Update {
                table: self.only_table(&update.table)?,
                or: update.or.map(conflict),
                assignments: self.assignments(&update.assignments)?,
                filter: self.optional(update.selection.as_ref())?,
            }),
            Parsed::Delete(delete) => {
                let (ast::FromTable::WithFromKeyword(from) | ast::FromTable::WithoutKeyword(from)) =
                    &delete.from;
                let [table] = from.as_slice() else { return refuse("DELETE from several tables") };
                let table = self.only_table(table)?;
                Statement::Delete(Delete { table, filter: self.optional(delete.selection.as_ref())? })
            }
            other => {
                let text = other.to_string();
                let word = text.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
                return refuse(format!("a statement of the kind {word}"));
            }
        })
    }

    /// The table of a statement that changes one, by its name.
    fn only_table(&self, table: &ast::TableWithJoins) -> Lowered<Name> {
        match (&table.relation, table.joins.is_empty()) {
            (ast::TableFactor::Table { name, alias: None, .. }, true) => self.object(name),
            _ => refuse("a change of a table with another name, or of several tables"),
        }
    }

    fn insert(&self, insert: &ast::Insert) -> Lowered<Insert> {
        let ast::TableObject::TableName(table) = &insert.table else { return refuse("INSERT into no table") };
        let source = match &insert.source {
            None => InsertSource::Defaults,
            Some(query) => match self.query(query)? {
                Query { with: None, body: Body::Values(rows), order_by, limit: None, .. }
                    if order_by.is_empty() =>
                {
                    InsertSource::Values(rows)
                }
                query => InsertSource::Query(Box::new(query)),
            },
        };
        let or = match insert.or {
            Some(or) => Some(conflict(or)),
            None => insert.ignore.then_some(OnConflict::Ignore),
        };
        let upsert = match &insert.on {
            None => None,
            Some(ast::OnInsert::OnConflict(on)) => Some(self.upsert(on)?),
            Some(_) => return refuse("ON DUPLICATE KEY"),
        };
        Ok(Insert {
            table: self.object(table)?,
            or,
            columns: insert.columns.iter().map(|column| self.object(column)).collect::<Lowered<_>>()?,
            source,
            upsert,
        })
    }

    fn upsert(&self, on: &ast::OnConflict) -> Lowered<Upsert> {
        let target = match &on.conflict_target {
            None => Vec::new(),
            Some(ast::ConflictTarget::Columns(columns)) => {
                columns.iter().map(|column| self.name(column)).collect()
            }
            Some(_) => return refuse("ON CONFLICT ON CONSTRAINT"),
        };
        let (assignments, filter) = match &on.action {
            ast::OnConflictAction::DoNothing => (Vec::new(), None),
            ast::OnConflictAction::DoUpdate(update) => {
                (self.assignments(&update.assignments)?, self.optional(update.selection.as_ref())?)
            }
        };
        Ok(Upsert { target, assignments, filter })
    }

    fn assignments(&self, assignments: &[ast::Assignment]) -> Lowered<Vec<Assignment>> {
        let lower = |assignment: &ast::Assignment| match &assignment.target {
            ast::AssignmentTarget::ColumnName(column) => {
                Ok(Assignment { column: self.object(column)?, value: self.expr(&assignment.value)? })
            }
            ast::AssignmentTarget::Tuple(_) => refuse("an assignment to several columns"),
        };
        assignments.iter().map(lower).collect()
    }
}

fn conflict(conflict: ast::SqliteOnConflict) -> OnConflict {
    match conflict {
        ast::SqliteOnConflict::Rollback => OnConflict::Rollback,
        ast::SqliteOnConflict::Abort => OnConflict::Abort,
        ast::SqliteOnConflict::Fail => OnConflict::Fail,
        ast::SqliteOnConflict::Ignore => OnConflict::Ignore,
        ast::SqliteOnConflict::Replace => OnConflict::Replace,
    }
}
