//! One change of a copy, against the query that says which rows it should touch.

use super::{Form, SHAPE, rows_of_one_table};
use crate::dialect::Feature;
use crate::engine::{Reply, Rows, Stop};
use crate::finding::Verdict;
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::copy::{Copied, Original};
use crate::oracle::kit::judge::{self, Equality};
use crate::oracle::kit::twin::{self, Rename, TWIN};
use crate::render::{expr_to_sql, to_sql};
use crate::session::Session;
use crate::sql::visit::Editor;
use crate::sql::*;
use crate::subject::Subject;

/// The column by which changed rows are known.
const MARK: &str = "mark0";
const SOURCE: &str = "source0";

const DELETES: &str = "DELETE removes the rows that a query with its condition returns";
const UPDATES: &str = "UPDATE changes the rows that a query with its condition returns";
const RETURNS: &str = "RETURNING returns the rows that a query with its condition returns";
const INSERTS: &str = "INSERT … SELECT stores the rows that its query returns";
const UPSERTS: &str = "INSERT … ON CONFLICT changes the rows whose keys its query returns";
const MERGES: &str = "MERGE changes the rows whose keys its query returns";

const WARNS: &str = "query that warns where a change is strict";
const SELECTED: &str = "the rows that WHERE selects";

/// What a check is about.
struct Change<'a> {
    form: Form,
    original: Original,
    filter: Option<&'a Expr>,
    /// The condition over the copy.
    on_copy: Option<Expr>,
}

/// Makes the copy, changes it and compares.
pub fn check(form: Form, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let Some((table, filter)) = subject.query().and_then(rows_of_one_table) else {
        return Ok(Verdict::skip(SHAPE));
    };
    let database = session.database();
    let known = database.state().base_tables().find(|base| base.name == *table);
    let Some(known) = known else { return Ok(Verdict::skip("no table")) };
    let key = known.columns.iter().find(|column| column.is_key()).map(|column| column.name.clone());
    let mut original = match Original::of(table, database.built(), session.dialect()) {
        Ok(original) => original,
        Err(reason) => return Ok(Verdict::skip(reason)),
    };
    // The definition of the copy says so, too.
    let key = key.filter(|key| original.declares_key(key));
    if form.needs_key() && key.is_none() {
        return Ok(Verdict::skip("no key"));
    }
    original.views.clear();
    let names = [(table.clone(), Name::from(TWIN))];
    let on_copy = filter.cloned().map(|mut filter| {
        Rename { names: &names }.expr(&mut filter);
        filter
    });
    let mut create = original.create.clone();
    create.columns.push(ColumnDef {
        name: MARK.into(),
        ty: DataType::new("INT", Kind::Int),
        constraints: Vec::new(),
    });
    let Copied { mut make, drop, .. } = original.copied(create, &original.indexes);
    if form == Form::Insert {
        make.retain(|statement| !matches!(statement, Statement::Insert(_)));
    }
    let change = Change { form, original, filter, on_copy };
    let verdict = match twin::make(&make, session)? {
        Some(made) => match change.asked(&made, key, subject, session)? {
            Verdict::Bug(_) if change.warns(session)? => Verdict::skip(WARNS),
            verdict => verdict,
        },
        None => Verdict::skip("twin table cannot be created"),
    };
    for statement in &drop {
        session.scaffold(statement)?;
    }
    Ok(verdict)
}

impl Change<'_> {
    fn asked(
        &self,
        made: &[String],
        key: Option<Name>,
        subject: &Subject,
        session: &mut Session,
    ) -> Result<Verdict, Stop> {
        let mut arms = Arms::new(self.relation());
        made.iter().for_each(|sql| arms.ran("the copy", sql.clone()));
        let deletes = matches!(self.form, Form::Delete | Form::DeleteReturning);
        let from_table = matches!(self.form, Form::Insert | Form::Upsert | Form::Merge);
        let selected = match from_table {
            true => self.rows(&self.original.create.name, self.filter.cloned()),
            false => self.rows(&TWIN.into(), self.on_copy.clone()),
        };
        arms.ask(SELECTED, selected, session)?;
        if deletes {
            arms.ask("all rows", self.rows(&TWIN.into(), None), session)?;
        }
        let at = 1 + usize::from(deletes);
        arms.change("the change", self.statement(key, session), session)?;
        if arms.failed(at) && session.dialect().can(Feature::StrictChanges) {
            return Ok(Verdict::skip("one arm avoids the error"));
        }
        let marked = Expr::binary(BinaryOp::Eq, Expr::bare_column(MARK), Expr::int(1));
        let touched = match self.form {
            Form::Delete | Form::DeleteReturning => self.rows(&TWIN.into(), None),
            Form::Insert => self.rows(&TWIN.into(), None),
            _ => self.rows(&TWIN.into(), Some(marked)),
        };
        arms.ask(
            if deletes { "the rows that are left" } else { "the rows that are changed" },
            touched,
            session,
        )?;
        if let Some(verdict) = arms.unanswered(subject, session)? {
            return Ok(verdict);
        }
        let selected = arms.rows(0).clone();
        // MariaDB says nothing of columns if RETURNING returns no row.
        let returned = match arms.rows(at) {
            rows if rows.is_empty() => Rows { columns: selected.columns, values: Vec::new() },
            rows => rows.clone(),
        };
        let touched = arms.rows(at + 1).clone();
        let returns = matches!(self.form, Form::DeleteReturning | Form::UpdateReturning);
        if returns && judge::compare(&selected, &returned, Equality::Exact).is_some() {
            return arms.verdict(&selected, &returned, Equality::Exact, subject, session);
        }
        if deletes {
            let mut both = selected;
            both.values.extend(touched.values);
            let all = arms.rows(1).clone();
            return arms.verdict(&all, &both, Equality::Exact, subject, session);
        }
        arms.verdict(&selected, &touched, Equality::Exact, subject, session)
    }

    /// Where changes are strict, what a query converts with a warning is an error or NULL in a change.
    fn warns(&self, session: &mut Session) -> Result<bool, Stop> {
        if !session.dialect().can(Feature::StrictChanges) {
            return Ok(false);
        }
        let selected = self.rows(&self.original.create.name, self.filter.cloned());
        let warnings = session.aside(|session| {
            session.query(&selected)?;
            session.run(&Statement::Raw("SHOW WARNINGS".to_string()))
        })?;
        Ok(matches!(warnings, Reply::Rows(rows) if !rows.is_empty()))
    }

    fn relation(&self) -> &'static str {
        match self.form {
            Form::Delete => DELETES,
            Form::Update => UPDATES,
            Form::DeleteReturning | Form::UpdateReturning => RETURNS,
            Form::Insert => INSERTS,
            Form::Upsert => UPSERTS,
            Form::Merge | Form::Rebuilt => MERGES,
        }
    }

    /// All columns but the mark.
    fn rows(&self, table: &Name, filter: Option<Expr>) -> Query {
        let columns = self.original.create.columns.iter();
        let items = columns.map(|column| Expr::bare_column(column.name.clone()).into()).collect();
        let from = vec![TableRef::table(table.clone())];
        Query::select(Select { items, from, filter, ..Select::default() })
    }

    fn statement(&self, key: Option<Name>, session: &Session) -> Statement {
        let mark = || vec![Assignment { column: MARK.into(), value: Expr::int(1) }];
        let delete = || Statement::Delete(Delete { table: TWIN.into(), filter: self.on_copy.clone() });
        let update = || {
            let filter = self.on_copy.clone();
            Statement::Update(Update { table: TWIN.into(), or: None, assignments: mark(), filter })
        };
        let key = key.unwrap_or_else(|| MARK.into());
        match self.form {
            Form::Delete => delete(),
            Form::Update => update(),
            Form::DeleteReturning => self.returning(&delete(), session),
            Form::UpdateReturning => self.returning(&update(), session),
            Form::Insert => self.insert(None),
            Form::Upsert => {
                self.insert(Some(Upsert { target: vec![key], assignments: mark(), filter: None }))
            }
            Form::Merge | Form::Rebuilt => self.merge(&key, session),
        }
    }

    fn insert(&self, upsert: Option<Upsert>) -> Statement {
        let columns = self.original.written();
        let items = columns.iter().map(|name| Expr::bare_column(name.clone()).into()).collect();
        let from = vec![TableRef::table(self.original.create.name.clone())];
        let query = Query::select(Select { items, from, filter: self.filter.cloned(), ..Select::default() });
        let source = InsertSource::Query(Box::new(query));
        Statement::Insert(Insert { table: TWIN.into(), or: None, columns, source, upsert })
    }

    fn returning(&self, statement: &Statement, session: &Session) -> Statement {
        let dialect = session.dialect();
        let written = |column: &ColumnDef| expr_to_sql(&Expr::bare_column(column.name.clone()), dialect);
        let columns: Vec<String> = self.original.create.columns.iter().map(written).collect();
        Statement::Raw(format!("{} RETURNING {}", to_sql(statement, dialect), columns.join(", ")))
    }

    fn merge(&self, key: &Name, session: &Session) -> Statement {
        let from = vec![TableRef::table(self.original.create.name.clone())];
        let items = vec![Expr::bare_column(key.clone()).into()];
        let keys = Query::select(Select { items, from, filter: self.filter.cloned(), ..Select::default() });
        let keys = to_sql(&keys.into(), session.dialect());
        let same =
            Expr::binary(BinaryOp::Eq, Expr::column(TWIN, key.clone()), Expr::column(SOURCE, key.clone()));
        let same = expr_to_sql(&same, session.dialect());
        Statement::Raw(format!(
            "MERGE INTO {TWIN} USING ({keys}) AS {SOURCE} ON {same} WHEN MATCHED THEN UPDATE SET {MARK} = 1"
        ))
    }
}
