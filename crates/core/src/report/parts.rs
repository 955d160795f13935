//! What a test case is made of, in the words that a person would use for it in a title.

use crate::dialect::Dialect;
use crate::import;
use crate::sql::visit::*;
use crate::sql::*;
use crate::subject::TestCase;

/// The parts worth naming, each list with the most telling first.
#[derive(Debug, Default)]
pub struct Parts {
    /// What the statement is about: `LEFT JOIN`, `MAX`, `UPDATE`.
    pub heads: Vec<String>,
    /// The operators of its conditions: `BETWEEN`.
    pub operators: Vec<String>,
    /// What it is asked of, after "with": `a partial index`.
    pub with: Vec<String>,
    /// After "on": `a view`.
    pub on: Vec<String>,
    /// Whether a WHERE is part of it.
    pub filters: bool,
}

impl Parts {
    pub fn of(case: &TestCase, dialect: &Dialect) -> Parts {
        let understood = |statement: &Statement| match statement {
            Statement::Raw(text) => import::statement(text, 1, dialect).statement,
            other => other.clone(),
        };
        let mut reader = Reader::default();
        let tests: Vec<Statement> = case.subject.tests.iter().map(understood).collect();
        let queries = tests.iter().filter(|test| matches!(test, Statement::Query(_))).count();
        for test in &tests {
            reader.told_kind(test, queries == 0);
            // An index that is dropped and made again is in the setup as well.
            if !is_standing_index(test, &case.setup) {
                reader.setup(test);
            }
            reader.statement(test);
        }
        case.subject.exprs.iter().for_each(|expr| reader.expr(expr));
        reader.filters |= !case.subject.exprs.is_empty();
        case.setup.iter().for_each(|statement| reader.setup(&understood(statement)));
        reader.finish()
    }
}

fn is_standing_index(test: &Statement, setup: &[Statement]) -> bool {
    let name = |statement: &Statement| match statement {
        Statement::CreateIndex(create) => Some(create.name.clone()),
        _ => None,
    };
    name(test).is_some_and(|index| setup.iter().any(|made| name(made).as_ref() == Some(&index)))
}

/// A phrase and how much it tells: the smallest number is the most.
type Ranked = (u8, String);

/// The rank from which operators are in almost every condition.
const COMMON: u8 = 11;

#[derive(Default)]
struct Reader {
    heads: Vec<Ranked>,
    operators: Vec<Ranked>,
    with: Vec<Ranked>,
    on: Vec<Ranked>,
    filters: bool,
}

impl Reader {
    fn head(&mut self, rank: u8, phrase: impl Into<String>) {
        add(&mut self.heads, rank, phrase);
    }

    fn operator(&mut self, rank: u8, phrase: impl Into<String>) {
        add(&mut self.operators, rank, phrase);
    }

    fn with(&mut self, rank: u8, phrase: impl Into<String>) {
        add(&mut self.with, rank, phrase);
    }

    fn on(&mut self, rank: u8, phrase: impl Into<String>) {
        add(&mut self.on, rank, phrase);
    }

    fn finish(mut self) -> Parts {
        // A comparison goes without saying beside what is rarer.
        if self.operators.iter().any(|(rank, _)| *rank < COMMON) {
            self.operators.retain(|(rank, _)| *rank < COMMON);
        }
        Parts {
            heads: sorted(self.heads),
            operators: sorted(self.operators),
            with: sorted(self.with),
            on: sorted(self.on),
            filters: self.filters,
        }
    }

    /// The kind of a statement that is not a query, unless a query of the same test case says more.
    fn told_kind(&mut self, statement: &Statement, alone: bool) {
        let kind = match statement {
            Statement::Insert(_) => "INSERT",
            Statement::Update(_) => "UPDATE",
            Statement::Delete(_) => "DELETE",
            Statement::CreateTable(_) => "CREATE TABLE",
            Statement::CreateIndex(_) => "CREATE INDEX",
            Statement::CreateView(_) => "CREATE VIEW",
            Statement::AlterTable { .. } => "ALTER TABLE",
            Statement::Drop { .. } => "DROP",
            Statement::Analyze(_) => "ANALYZE",
            Statement::Reindex(_) => "REINDEX",
            Statement::Vacuum => "VACUUM",
            Statement::Raw(text) => return self.told_first_word(text, alone),
            _ => return,
        };
        if alone {
            self.head(1, kind);
        }
    }

    fn told_first_word(&mut self, text: &str, alone: bool) {
        let word = text.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty());
        if let Some(word) = word.filter(|_| alone) {
            self.head(90, word.to_ascii_uppercase());
        }
    }

    fn setup(&mut self, statement: &Statement) {
        match statement {
            Statement::CreateTable(create) => {
                if create.temporary {
                    self.on(7, "a temporary table");
                }
                if let Some(option) = create.module.iter().chain(&create.options).next() {
                    self.on(3, format!("{} {option} table", article(option)));
                }
                create.columns.iter().for_each(|column| self.column(column));
                create.constraints.iter().for_each(|constraint| self.constraint(constraint));
            }
            Statement::CreateIndex(create) => self.index(create),
            Statement::CreateView(_) => self.on(4, "a view"),
            Statement::AlterTable { action: AlterAction::AddColumn(column), .. } => {
                self.with(6, "ADD COLUMN");
                self.column(column);
            }
            Statement::AlterTable { .. } => self.with(6, "ALTER TABLE"),
            Statement::Analyze(_) => self.with(8, "ANALYZE"),
            Statement::Reindex(_) => self.with(8, "REINDEX"),
            _ => {}
        }
    }

    fn column(&mut self, column: &ColumnDef) {
        for constraint in &column.constraints {
            match constraint {
                ColumnConstraint::Generated { .. } => self.on(1, "a generated column"),
                ColumnConstraint::Collate(name) => self.with(5, format!("COLLATE {name}")),
                ColumnConstraint::PrimaryKey { desc: true, .. } => self.on(5, "a descending primary key"),
                ColumnConstraint::PrimaryKey { .. } => self.on(8, "a primary key"),
                ColumnConstraint::Unique { .. } => self.on(6, "a UNIQUE column"),
                ColumnConstraint::Check(_) => self.with(7, "a CHECK constraint"),
                ColumnConstraint::References { .. } => self.with(7, "a foreign key"),
                ColumnConstraint::NotNull | ColumnConstraint::Default(_) => {}
            }
        }
    }

    fn constraint(&mut self, constraint: &TableConstraint) {
        match constraint {
            TableConstraint::PrimaryKey(_) => self.on(8, "a primary key"),
            TableConstraint::Unique(_) => self.on(6, "a UNIQUE key"),
            TableConstraint::Index { .. } => self.on(6, "an indexed column"),
            TableConstraint::Check(_) => self.with(7, "a CHECK constraint"),
            TableConstraint::ForeignKey { .. } => self.with(7, "a foreign key"),
        }
    }

    fn index(&mut self, create: &CreateIndex) {
        let expression = create.keys.iter().any(|key| !matches!(key.expr, Expr::Column(_)));
        let unique = if create.unique { "unique " } else { "" };
        let phrase = match (create.filter.is_some(), expression) {
            (true, _) => format!("a {unique}partial index"),
            (false, true) => format!("{} {unique}index on an expression", article(unique)),
            (false, false) if create.unique => "a unique index".to_string(),
            (false, false) if create.keys.iter().any(|key| key.desc) => "a descending index".to_string(),
            (false, false) => "an index".to_string(),
        };
        self.with(1, phrase);
    }
}

fn add(list: &mut Vec<Ranked>, rank: u8, phrase: impl Into<String>) {
    let phrase = phrase.into();
    if list.iter().all(|(_, known)| *known != phrase) {
        list.push((rank, phrase));
    }
}

/// Equal ranks stay in the order in which they were met.
fn sorted(mut list: Vec<Ranked>) -> Vec<String> {
    list.sort_by_key(|(rank, _)| *rank);
    list.into_iter().map(|(_, phrase)| phrase).collect()
}

fn article(word: &str) -> &'static str {
    match word.chars().next().map(|c| c.to_ascii_lowercase()) {
        Some('a' | 'e' | 'i' | 'o') | None => "an",
        _ => "a",
    }
}

fn not(negated: bool, word: &str) -> String {
    if negated { format!("NOT {word}") } else { word.to_string() }
}

impl Visitor for Reader {
    fn query(&mut self, query: &Query) {
        if query.limit.is_some() {
            self.head(9, "LIMIT");
        }
        if query.with.as_ref().is_some_and(|with| with.recursive) {
            self.head(4, "a recursive WITH");
        }
        walk_query(self, query);
    }

    fn body(&mut self, body: &Body) {
        if let Body::Compound { op, .. } = body {
            self.head(
                1,
                match op {
                    SetOp::Union => "UNION",
                    SetOp::Intersect => "INTERSECT",
                    SetOp::Except => "EXCEPT",
                },
            );
        }
        walk_body(self, body);
    }

    fn select(&mut self, select: &Select) {
        self.filters |= select.filter.is_some();
        match select.grouping {
            Grouping::Plain if !select.group_by.is_empty() => self.head(8, "GROUP BY"),
            Grouping::Plain => {}
            Grouping::Rollup => self.head(4, "ROLLUP"),
            Grouping::Cube => self.head(4, "CUBE"),
            Grouping::Sets => self.head(4, "GROUPING SETS"),
        }
        if select.having.is_some() {
            self.head(7, "HAVING");
        }
        if select.distinct {
            self.head(7, "DISTINCT");
        }
        walk_select(self, select);
    }

    fn table(&mut self, table: &TableRef) {
        match table {
            TableRef::Join { kind: JoinKind::Left, .. } => self.head(2, "LEFT JOIN"),
            TableRef::Join { kind: JoinKind::Right, .. } => self.head(2, "RIGHT JOIN"),
            TableRef::Join { kind: JoinKind::Full, .. } => self.head(2, "FULL JOIN"),
            TableRef::Join { on: JoinOn::Natural, .. } => self.head(10, "NATURAL JOIN"),
            TableRef::Join { .. } => self.head(11, "JOIN"),
            TableRef::Derived { lateral: true, .. } => self.head(4, "LATERAL"),
            TableRef::Derived { .. } => self.on(5, "a derived table"),
            TableRef::Function { name, .. } => self.on(5, format!("{name}()")),
            TableRef::Table { .. } => {}
        }
        walk_table(self, table);
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Aggregate(aggregate) if aggregate.distinct => {
                self.head(5, format!("{}(DISTINCT)", aggregate.name.to_uppercase()));
            }
            Expr::Aggregate(aggregate) => self.head(6, aggregate.name.to_uppercase()),
            Expr::Window(window) => self.head(1, format!("{}() OVER", window.function.name.to_uppercase())),
            Expr::Row(_) => self.operator(1, "a row value"),
            Expr::Quantified { all, .. } => self.operator(1, if *all { "ALL" } else { "ANY" }),
            Expr::Exists { negated, .. } => self.operator(2, not(*negated, "EXISTS")),
            Expr::InQuery { negated, .. } => self.operator(2, not(*negated, "IN (SELECT)")),
            Expr::Subquery(_) => self.operator(3, "a scalar subquery"),
            Expr::InList { negated, .. } => self.operator(4, not(*negated, "IN")),
            Expr::Between { negated, .. } => self.operator(4, not(*negated, "BETWEEN")),
            Expr::Match { op, negated, .. } => self.operator(4, not(*negated, matching(*op))),
            Expr::Case { .. } => self.operator(6, "CASE"),
            Expr::Cast { ty, .. } => self.operator(6, format!("CAST AS {}", ty.name)),
            Expr::Collate { collation, .. } => self.operator(5, format!("COLLATE {collation}")),
            Expr::Function { name, .. } => self.operator(5, format!("{}()", name.to_uppercase())),
            Expr::Operation { form, .. } => self.operator(5, form.replace("{}", "").trim().to_string()),
            Expr::Is { test, negated, .. } => self.operator(7, truth(*test, *negated)),
            Expr::Binary { op, .. } => self.binary(*op),
            Expr::Unary { op: UnaryOp::Not, .. } => self.operator(11, "NOT"),
            Expr::Unary { op: UnaryOp::Minus, .. } => self.operator(9, "unary minus"),
            Expr::Unary { op: UnaryOp::Plus, .. } => self.operator(9, "unary plus"),
            Expr::Unary { op: UnaryOp::BitNot, .. } => self.operator(8, "`~`"),
            Expr::Literal(_) | Expr::Column(_) | Expr::Param(_) | Expr::Bound(_) | Expr::Raw(_) => {}
        }
        walk_expr(self, expr);
    }
}

impl Reader {
    fn binary(&mut self, op: BinaryOp) {
        use BinaryOp::*;
        let (rank, sign) = match op {
            And => (13, "AND"),
            Or => (10, "OR"),
            Eq => (12, "`=`"),
            Ne => (12, "`<>`"),
            Lt => (12, "`<`"),
            Le => (12, "`<=`"),
            Gt => (12, "`>`"),
            Ge => (12, "`>=`"),
            Same => (8, "IS NOT DISTINCT FROM"),
            NotSame => (8, "IS DISTINCT FROM"),
            Add => (9, "`+`"),
            Sub => (9, "`-`"),
            Mul => (9, "`*`"),
            Div => (9, "`/`"),
            Mod => (9, "`%`"),
            Concat => (8, "`||`"),
            BitAnd => (8, "`&`"),
            BitOr => (8, "`|`"),
            ShiftLeft => (8, "`<<`"),
            ShiftRight => (8, "`>>`"),
            JsonGet => (5, "`->`"),
            JsonGetText => (5, "`->>`"),
        };
        self.operator(rank, sign);
    }
}

fn matching(op: MatchOp) -> &'static str {
    match op {
        MatchOp::Like => "LIKE",
        MatchOp::Glob => "GLOB",
        MatchOp::Regexp => "REGEXP",
        MatchOp::SimilarTo => "SIMILAR TO",
        MatchOp::ILike => "ILIKE",
    }
}

fn truth(test: Truth, negated: bool) -> String {
    let word = match test {
        Truth::True => "TRUE",
        Truth::False => "FALSE",
        Truth::Null => "NULL",
    };
    if negated { format!("IS NOT {word}") } else { format!("IS {word}") }
}
