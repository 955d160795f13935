//! CONSTRAINTS: a query returns the same rows from a table and from a copy that has fewer constraints, or more
//! (after Radar, which builds a raw copy of a database without its metadata; here in both directions and
//! with any query).
//!
//! ```sql
//! CREATE TABLE t0(c0 INT PRIMARY KEY, c1 INT NOT NULL, c2 INT GENERATED ALWAYS AS (c0 + 1));
//! CREATE TABLE twin0(c0 INT, c1 INT, c2 INT); INSERT INTO twin0 SELECT c0, c1, c2 FROM t0;
//! SELECT c2 FROM t0 WHERE c1 IS NULL OR c0 = 3;
//! SELECT c2 FROM twin0 WHERE c1 IS NULL OR c0 = 3;
//! ```
//!
//! Optimizers believe constraints: they drop IS NULL of a NOT NULL column, DISTINCT over a key, joins on a unique column,
//! conditions that a CHECK excludes. A copy without constraints also has no indexes. The other way round, a copy gets
//! constraints that its rows satisfy: NOT NULL where there is no NULL, UNIQUE where all values differ, CHECK of the range.
//!
//! Conditions (SOUNDNESS 6.6), besides those of every [`twin`]:
//! - The statements of the setup say how the table is defined.
//! - Columns keep their types and collations. All rows are compared first: if they differ, the check is skipped.
//! - The query reads no row addresses (rowid, ctid), which no copy keeps.
//! - Bare columns are refused by the gate; a query that is only valid with a key is rejected on the copy, and skipped.

use std::collections::BTreeSet;

use crate::dialect::{Dialect, Feature};
use crate::engine::{Reply, Rows, Stop};
use crate::features::{Features, hyphenated};
use crate::finding::Verdict;
use crate::generate::{Generator, Named, choices};
use crate::oracle::kit::copy::{self, Copied, Original};
use crate::oracle::kit::twin::{self, Case};
use crate::oracle::{Given, Oracle};
use crate::session::Session;
use crate::sql::*;
use crate::subject::{Proposal, Subject, TestCase};

choices! {
    choose {
        CHANGE: Change = "constraints.change" { Without: 50, NotNull: 10, Unique: 15, Check: 10, More: 15 },
    }
}

/// See [the module](self).
pub struct Constraints;

const TABLE: &str = "table";
const CHANGE_CHOICE: &str = "copy";
/// Queries about one copy, which costs more than each of them.
const QUERIES: usize = 6;
/// Draws for each of them: not every query reads the table.
const DRAWS: usize = 3;

const RELATION: &str = "a query returns the same rows from a table and from a copy with other constraints";

/// How the constraints of the copy differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It has none, nor indexes, and its generated columns are ordinary ones.
    Without,
    /// NOT NULL wherever there is no NULL.
    NotNull,
    /// UNIQUE wherever all values differ.
    Unique,
    /// CHECK that integers are in their range.
    Check,
    /// All of these.
    More,
}

impl Change {
    const ALL: [Change; 5] = [Change::Without, Change::NotNull, Change::Unique, Change::Check, Change::More];

    fn name(self) -> &'static str {
        match self {
            Change::Without => "without constraints",
            Change::NotNull => "with NOT NULL",
            Change::Unique => "with UNIQUE",
            Change::Check => "with CHECK",
            Change::More => "with more constraints",
        }
    }

    fn of(subject: &Subject) -> Option<Change> {
        let name = subject.choice(CHANGE_CHOICE)?;
        Change::ALL.into_iter().find(|change| change.name() == name)
    }

    fn adds(self, one: Change) -> bool {
        self == one || self == Change::More
    }

    fn suits(self, dialect: &Dialect) -> bool {
        match self {
            Change::Unique => dialect.can(Feature::UniqueKeys),
            Change::Check => dialect.can(Feature::CheckConstraints),
            _ => true,
        }
    }
}

impl Oracle for Constraints {
    fn name(&self) -> &'static str {
        "constraints"
    }

    fn about(&self) -> &'static str {
        "a query returns the same rows from a table and from a copy with fewer or more constraints"
    }

    fn choices(&self) -> &'static [&'static dyn Named] {
        CHOICES
    }

    fn propose(&self, generator: &mut Generator) -> Option<Proposal> {
        let dialect = generator.dialect;
        let tables: Vec<Name> = generator.state.stored_tables().map(|table| table.name.clone()).collect();
        let table = generator.rng.choose(&tables)?.clone();
        let change = generator.choose_where(&CHANGE, |change| change.suits(dialect));
        let mut tests = Vec::new();
        for _ in 0..QUERIES * DRAWS {
            generator.start_over();
            if let Some(query) = generator.any_query()
                && generator.state.base_tables_of(&query).iter().any(|read| read.name == table)
            {
                tests.push(Statement::from(query));
            }
            if tests.len() == QUERIES {
                break;
            }
        }
        (!tests.is_empty()).then(|| self.subject(tests, &table, change).into())
    }

    /// Each table that the query reads without constraints, and with more.
    fn adopt(&self, given: &Given) -> Vec<Subject> {
        let read = given.state.base_tables_of(given.query);
        let mut subjects = Vec::new();
        for table in read {
            for change in [Change::Without, Change::More] {
                let test = vec![given.query.clone().into()];
                subjects.push(self.subject(test, &table.name, change));
            }
        }
        subjects
    }

    fn check(&self, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
        let (Some(table), Some(change)) = (subject.choice(TABLE), Change::of(subject)) else {
            return Ok(Verdict::skip("no copy described"));
        };
        let database = session.database();
        if subject.queries().any(|query| copy::reads_addresses(query, database.state())) {
            return Ok(Verdict::skip(ADDRESSES));
        }
        let original = match Original::of(&table.into(), database.built(), session.dialect()) {
            Ok(original) => original,
            Err(reason) => return Ok(Verdict::skip(reason)),
        };
        if original.views.iter().any(|view| copy::reads_addresses(&view.query, database.state())) {
            return Ok(Verdict::skip(ADDRESSES));
        }
        let copied = match change {
            Change::Without => without(&original, session.dialect()),
            _ => match with(&original, change, session)? {
                Some(copied) => copied,
                None => return Ok(Verdict::skip("no constraint to add")),
            },
        };
        let Copied { make, drop, names } = copied;
        let base = original.create.name.clone();
        let case = Case { relation: RELATION, base, names, twin: make, drop, only_filled: false };
        twin::compare(&case, subject, session)
    }

    fn features(&self, case: &TestCase) -> BTreeSet<String> {
        let mut words = Features::default().of(case);
        words.extend(case.subject.choice(CHANGE_CHOICE).map(hyphenated));
        words
    }

    fn complaint(&self, case: &TestCase) -> String {
        match Change::of(&case.subject) {
            Some(Change::NotNull) => "depends on whether a column is NOT NULL",
            Some(Change::Unique) => "depends on whether a column is UNIQUE",
            Some(Change::Check) => "depends on a CHECK that all rows satisfy",
            _ => "depends on the constraints of the table",
        }
        .to_string()
    }
}

const ADDRESSES: &str = "query that reads row addresses";

impl Constraints {
    fn subject(&self, tests: Vec<Statement>, table: &Name, change: Change) -> Subject {
        Subject::of(self.name(), tests).with_choice(TABLE, table).with_choice(CHANGE_CHOICE, change.name())
    }
}

/// A copy that keeps the types and collations of its columns and nothing else.
fn without(original: &Original, dialect: &Dialect) -> Copied {
    let mut create = original.create.clone();
    for column in &mut create.columns {
        column.constraints.retain(|constraint| matches!(constraint, ColumnConstraint::Collate(_)));
    }
    create.constraints.clear();
    copy::plain_options(&mut create, dialect);
    original.copied(create, &[])
}

/// A copy with constraints that its rows satisfy; none if there is nothing to add.
fn with(original: &Original, change: Change, session: &mut Session) -> Result<Option<Copied>, Stop> {
    let written = original.written();
    let Some(facts) = Facts::of(original, &written, session)? else { return Ok(None) };
    let dialect = session.dialect();
    let mut create = original.create.clone();
    let partitioned = create.options.iter().any(|option| dialect.is_partitioning(option));
    let mut added = false;
    for column in create.columns.iter_mut().filter(|column| written.contains(&column.name)) {
        let Some(at) = written.iter().position(|name| *name == column.name) else { continue };
        let mut new = Vec::new();
        if change.adds(Change::NotNull) && facts.has_no_null(at) {
            new.push(ColumnConstraint::NotNull);
        }
        let can_be_key = dialect.can(Feature::UniqueKeys) && dialect.is_key(&column.ty) && !partitioned;
        let is_key = |c: &ColumnConstraint| {
            matches!(c, ColumnConstraint::PrimaryKey { .. } | ColumnConstraint::Unique { .. })
        };
        let keyed = column.constraints.iter().any(is_key);
        if change.adds(Change::Unique) && can_be_key && !keyed && facts.all_differ(at) {
            new.push(ColumnConstraint::Unique { on_conflict: None });
        }
        if change.adds(Change::Check)
            && dialect.can(Feature::CheckConstraints)
            && let Some(check) = facts.range(at, &column.name)
        {
            new.push(ColumnConstraint::Check(check));
        }
        new.retain(|constraint| !column.constraints.contains(constraint));
        added |= !new.is_empty();
        column.constraints.extend(new);
    }
    Ok(added.then(|| original.copied(create, &original.indexes)))
}

/// What is true of the rows of a table, column by column.
struct Facts {
    rows: Rows,
    columns: Vec<ColumnDef>,
}

/// Of each column: how many values, how many different ones, the smallest and the largest.
const PER_COLUMN: usize = 4;

impl Facts {
    fn of(original: &Original, written: &[Name], session: &mut Session) -> Result<Option<Facts>, Stop> {
        let defs = original.create.columns.iter().filter(|column| written.contains(&column.name));
        let columns: Vec<ColumnDef> = defs.cloned().collect();
        let mut items = vec![SelectItem::from(Expr::count_rows())];
        for column in &columns {
            let value = || vec![Expr::bare_column(column.name.clone())];
            let is_int = column.ty.kind == Kind::Int;
            let is_key = session.dialect().is_key(&column.ty);
            let distinct = Aggregate { distinct: is_key, ..Aggregate::new("COUNT", value()) };
            let end = |name: &'static str| match is_int {
                true => Expr::aggregate(name, value()),
                false => Expr::null(),
            };
            let count = Expr::aggregate("COUNT", value());
            let exprs = [count, Expr::Aggregate(Box::new(distinct)), end("MIN"), end("MAX")];
            items.extend(exprs.into_iter().map(SelectItem::from));
        }
        let from = vec![TableRef::table(original.create.name.clone())];
        let question = Query::select(Select { items, from, ..Select::default() });
        Ok(match session.aside(|session| session.query(&question))? {
            Reply::Rows(rows) if rows.len() == 1 => Some(Facts { rows, columns }),
            _ => None,
        })
    }

    fn value(&self, column: usize, which: usize) -> &Value {
        &self.rows.values[1 + column * PER_COLUMN + which]
    }

    fn has_no_null(&self, column: usize) -> bool {
        *self.value(column, 0) == self.rows.values[0]
    }

    fn all_differ(&self, column: usize) -> bool {
        self.value(column, 1) == self.value(column, 0)
    }

    /// `c BETWEEN least AND greatest`, if both are integers.
    fn range(&self, at: usize, column: &Name) -> Option<Expr> {
        let (Value::Int(low), Value::Int(high)) = (self.value(at, 2), self.value(at, 3)) else { return None };
        let is_int = self.columns.get(at).is_some_and(|column| column.ty.kind == Kind::Int);
        // The smallest integer is not written as one literal.
        (is_int && *low > i64::MIN).then(|| {
            let bound =
                |op, bound: i64| Expr::binary(op, Expr::bare_column(column.clone()), Expr::int(bound));
            bound(BinaryOp::Ge, *low).and(bound(BinaryOp::Le, *high))
        })
    }
}
