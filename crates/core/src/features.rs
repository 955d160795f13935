//! The features of a test case, without names and values.
//!
//! Also left out is what a reduced test case contains for other reasons than the bug: the aggregate or exact type
//! that the oracle asks for, a view or derived table that stands for a table of one row, an inner join, the
//! literals (which reduction has made as plain as possible).

use std::collections::BTreeSet;

use crate::dialect;
use crate::sql::visit::*;
use crate::sql::*;
use crate::subject::TestCase;

/// What an oracle requires of every subject, so it says nothing about a bug.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// The types of columns may matter. Not to oracles that compare groups or distinct values: they want columns
    /// whose equal values are identical, and so types, whatever the bug is.
    pub types_matter: bool,
    /// The oracle asks for a primary key.
    pub key_is_wanted: bool,
    /// It is not the rows that are wrong, or NoREC would have seen it.
    pub aggregates_matter: bool,
}

impl Default for Features {
    fn default() -> Features {
        Features { types_matter: true, key_is_wanted: false, aggregates_matter: false }
    }
}

impl Features {
    /// The features of the setup and of what is under test, as words.
    pub fn of(self, case: &TestCase) -> BTreeSet<String> {
        let mut reader = Reader::new(self);
        case.setup.iter().for_each(|statement| reader.setup(statement));
        case.subject.tests.iter().for_each(|test| reader.test(test));
        case.subject.exprs.iter().for_each(|expr| reader.expr(expr));
        reader.words
    }

    /// The features of the setup alone.
    pub fn of_setup(self, setup: &[Statement]) -> BTreeSet<String> {
        let mut reader = Reader::new(self);
        setup.iter().for_each(|statement| reader.setup(statement));
        reader.words
    }

    /// The features of statements under test alone.
    pub fn of_tests(self, tests: &[Statement]) -> BTreeSet<String> {
        let mut reader = Reader::new(self);
        tests.iter().for_each(|test| reader.statement(test));
        reader.words
    }
}

struct Reader {
    wants: Features,
    words: BTreeSet<String>,
}

impl Reader {
    fn new(wants: Features) -> Reader {
        Reader { wants, words: BTreeSet::new() }
    }

    fn add(&mut self, word: impl Into<String>) {
        self.words.insert(word.into());
    }

    fn add_if(&mut self, condition: bool, word: &str) {
        if condition {
            self.add(word);
        }
    }

    /// An index, a setting: what is changed between two questions is there as if the setup had it.
    fn test(&mut self, test: &Statement) {
        if !matches!(test, Statement::Query(_)) {
            self.setup(test);
        }
        self.statement(test);
    }

    /// What a statement of the setup adds; that there are tables and rows goes without saying.
    fn setup(&mut self, statement: &Statement) {
        match statement {
            Statement::CreateTable(create) => {
                self.add_if(create.temporary, "temporary");
                self.add_if(create.query.is_some(), "create-as");
                if let Some(module) = &create.module {
                    self.add(hyphenated(module));
                }
                for option in &create.options {
                    self.add(hyphenated(option));
                }
                // The key of such a table is not an additional index.
                let key_is_wanted = self.wants.key_is_wanted;
                self.wants.key_is_wanted |= create.options.iter().any(dialect::is_keyed);
                create.columns.iter().for_each(|column| self.column(column));
                for constraint in &create.constraints {
                    match constraint {
                        TableConstraint::PrimaryKey(keys) => self.keys(!self.wants.key_is_wanted, keys),
                        TableConstraint::Unique(keys) | TableConstraint::Index { keys, .. } => {
                            self.keys(true, keys);
                        }
                        TableConstraint::Check(_) => self.add("check"),
                        TableConstraint::ForeignKey { .. } => self.add("foreign-key"),
                    }
                }
                self.wants.key_is_wanted = key_is_wanted;
            }
            Statement::CreateIndex(create) => {
                self.keys(true, &create.keys);
                self.add_if(create.unique, "index-unique");
                self.add_if(create.filter.is_some(), "index-partial");
            }
            Statement::CreateView(view) => self.relation(&view.query),
            Statement::AlterTable { action, .. } => match action {
                AlterAction::RenameTable(_) => self.add("rename-table"),
                AlterAction::RenameColumn { .. } => self.add("rename-column"),
                AlterAction::AddColumn(column) => {
                    self.add("add-column");
                    self.column(column);
                }
                AlterAction::DropColumn(_) => self.add("drop-column"),
            },
            Statement::Drop { .. } => self.add("drop"),
            Statement::Insert(insert) => {
                self.add_if(insert.or.is_some(), "or-conflict");
                self.add_if(insert.upsert.is_some(), "upsert");
                match &insert.source {
                    InsertSource::Query(_) => self.add("insert-select"),
                    InsertSource::Values(rows) => {
                        for expr in rows.iter().flatten() {
                            if let Expr::Literal(value) = expr {
                                self.literal(value);
                            }
                        }
                    }
                    _ => {}
                }
            }
            Statement::Update(update) => {
                self.add("update");
                self.add_if(update.or.is_some(), "or-conflict");
            }
            Statement::Delete(_) => self.add("delete"),
            Statement::Analyze(_) => self.add("analyze"),
            Statement::Reindex(_) => self.add("reindex"),
            Statement::Vacuum => self.add("vacuum"),
            Statement::Set { name, value } => self.add(format!("{name}={value}")),
            Statement::Raw(_) => self.add("raw"),
            _ => {}
        }
    }

    fn column(&mut self, column: &ColumnDef) {
        for constraint in &column.constraints {
            match constraint {
                ColumnConstraint::NotNull => self.add("not-null"),
                ColumnConstraint::PrimaryKey { desc, .. } => {
                    // A whole number may be the row's own number rather than in an index.
                    let word = if column.ty.kind == Kind::Int { "primary-key" } else { "index" };
                    self.add_if(!self.wants.key_is_wanted, word);
                    self.add_if(*desc, "key-desc");
                }
                ColumnConstraint::Unique { .. } => self.add("index"),
                ColumnConstraint::Check(_) => self.add("check"),
                ColumnConstraint::Default(_) => {}
                ColumnConstraint::Collate(_) => self.add("collate"),
                ColumnConstraint::Generated { .. } => self.add("generated"),
                ColumnConstraint::References { .. } => self.add("foreign-key"),
            }
        }
        // A whole number is what a column becomes whose type does not matter.
        if self.wants.types_matter && !column.ty.name.is_empty() && column.ty.kind != Kind::Int {
            self.add(format!("type-{}", kind(column.ty.kind)));
        }
    }

    /// A query that stands for a table. A column of it that is computed of nothing is a constant to the
    /// optimizer, however it is written.
    fn relation(&mut self, query: &Query) {
        let mut query = query.clone();
        for item in query.as_select_mut().into_iter().flat_map(|select| &mut select.items) {
            let SelectItem::Expr { expr, .. } = item else { continue };
            let varies = |inner: &Expr| {
                matches!(inner, Expr::Column(_) | Expr::Aggregate(_) | Expr::Window(_) | Expr::Subquery(_))
            };
            if !matches!(expr, Expr::Literal(_) | Expr::Bound(_)) && !any_expr(expr, varies) {
                self.add("constant-column");
                *expr = Expr::int(0);
            }
        }
        self.query(&query);
    }

    /// A whole number that floating-point numbers cannot tell from its neighbours is not there by chance: a
    /// smaller one did not do.
    fn literal(&mut self, value: &Value) {
        const MOST: f64 = (1_u64 << 53) as f64;
        let beyond = match value {
            Value::Int(int) => int.unsigned_abs() > 1 << 53,
            Value::Real(real) => real.abs() > MOST,
            Value::Text(text) => text.parse().is_ok_and(|real: f64| real.is_finite() && real.abs() >= MOST),
            _ => false,
        };
        self.add_if(beyond, "beyond-2^53");
    }

    /// A constraint makes an index too.
    fn keys(&mut self, index: bool, keys: &[IndexKey]) {
        self.add_if(index, "index");
        for key in keys {
            self.add_if(!matches!(key.expr, Expr::Column(_)), "index-expression");
            self.add_if(key.collation.is_some(), "collate");
            self.add_if(key.desc, "key-desc");
        }
    }
}

/// Several words as one.
pub fn hyphenated(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase()
}

/// An operation that an engine lists, by the word of the node that means the same, if there is one.
fn operation(form: &str) -> String {
    let unary = form.matches("{}").count() == 1;
    let bare = hyphenated(&form.replace("{}", " ").replace(['(', ')', ','], " "));
    let word = match bare.strip_prefix("not-").unwrap_or(&bare) {
        "not" => "not",
        "and" | "or" => return bare,
        "is-true" | "is-false" | "is-unknown" | "is-not-true" | "is-not-false" | "is-not-unknown" => {
            "is-true"
        }
        "isnull" | "notnull" | "is-null" | "is-not-null" => "is-null",
        "=" | "==" | "<>" | "!=" | "<" | "<=" | ">" | ">=" | "<=>" | "is" | "is-not" => "compare",
        "is-distinct-from" | "is-not-distinct-from" => "compare",
        "between-and" => "between",
        "in" => "in-list",
        "+" | "-" if unary => "sign",
        "+" | "-" | "*" | "/" | "%" => "arithmetic",
        "||" => "concat",
        "&" | "|" | "<<" | ">>" | "~" | "#" | "^" => "bits",
        "->" | "->>" => "json",
        other if other.starts_with("collate-") => "collate",
        other if other.starts_with("case-") => "case",
        other if other.starts_with("like-escape") => "like",
        other => return other.replace("cast-as-integer", "cast-int").replace("cast-as-", "cast-"),
    };
    word.to_string()
}

fn kind(kind: Kind) -> String {
    format!("{kind:?}").to_lowercase()
}

impl Visitor for Reader {
    fn query(&mut self, query: &Query) {
        self.add_if(matches!(query.body, Body::Compound { .. }), "compound");
        self.add_if(query.limit.is_some(), "limit");
        walk_query(self, query);
    }

    fn table(&mut self, table: &TableRef) {
        if let TableRef::Join { kind, .. } = table {
            match kind {
                JoinKind::Inner | JoinKind::Cross => {}
                JoinKind::Left | JoinKind::Right => self.add("left-join"),
                JoinKind::Full => self.add("full-join"),
            }
        }
        match table {
            TableRef::Derived { query, .. } => self.relation(query),
            _ => walk_table(self, table),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        use BinaryOp::*;
        match expr {
            Expr::Literal(value) | Expr::Bound(value) => self.literal(value),
            Expr::Column(_) | Expr::Param(_) => {}
            Expr::Unary { op, .. } => self.add(match op {
                UnaryOp::Not => "not",
                UnaryOp::Minus | UnaryOp::Plus => "sign",
                UnaryOp::BitNot => "bits",
            }),
            Expr::Binary { op, .. } => self.add(match op {
                And => "and",
                Or => "or",
                op if op.is_comparison() => "compare",
                Add | Sub | Mul | Div | Mod => "arithmetic",
                Concat => "concat",
                JsonGet | JsonGetText => "json",
                _ => "bits",
            }),
            Expr::Is { test, .. } => self.add(if *test == Truth::Null { "is-null" } else { "is-true" }),
            Expr::Between { .. } => self.add("between"),
            Expr::InList { .. } => self.add("in-list"),
            Expr::InQuery { .. } => self.add("in-query"),
            Expr::Exists { .. } => self.add("exists"),
            Expr::Quantified { .. } => self.add("quantified"),
            Expr::Match { op, .. } => self.add(format!("{op:?}").to_lowercase()),
            Expr::Case { .. } => self.add("case"),
            Expr::Cast { ty, .. } => self.add(format!("cast-{}", kind(ty.kind))),
            Expr::Collate { .. } => self.add("collate"),
            Expr::Function { name, .. } => self.add(format!("{}()", name.to_lowercase())),
            Expr::Operation { form, .. } => self.add(operation(form)),
            Expr::Aggregate(aggregate) => {
                self.add_if(aggregate.distinct, "aggregate-distinct");
                let is_end = matches!(aggregate.name.to_uppercase().as_str(), "MIN" | "MAX");
                self.add_if(is_end && self.wants.aggregates_matter, "min-max");
            }
            Expr::Window(_) => self.add("window"),
            Expr::Subquery(_) => self.add("subquery"),
            Expr::Row(_) => self.add("row-value"),
            Expr::Raw(_) => self.add("raw"),
        }
        walk_expr(self, expr);
    }
}
