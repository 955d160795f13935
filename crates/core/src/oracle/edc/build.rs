//! The stored table: built from the base table, and compared with it before any query runs.

use super::case::Case;
use super::rewrite::{qualified, rewrite, stand_in};
use super::{INDEX, INDEXED, INFERRED, RELATION, RESULT, SHAPE, STORAGE, STORED, TYPES};
use crate::dialect::{Dialect, Feature};
use crate::engine::{Reply, Rows, Stop};
use crate::finding::{Class, Verdict};
use crate::oracle::kit::arms::Arms;
use crate::oracle::kit::judge::{self, Difference, Equality};
use crate::oracle::kit::place::cast_type;
use crate::session::Session;
use crate::sql::*;
use crate::subject::Subject;

const CHANGED: &str = "result changed by storing it";
const NOT_ACCEPTED: &str = "operation that rejects these types or values";

/// The statements that built a stored table, as they ran.
pub struct Built {
    pub statements: Vec<String>,
}

/// Builds the stored table, or says why it cannot be.
pub fn build(
    case: &Case,
    subject: &Subject,
    session: &mut Session,
) -> Result<Result<Built, &'static str>, Stop> {
    let mut built = Built { statements: Vec::new() };
    let statements = match subject.choice(TYPES) {
        Some(INFERRED) => declared(case, subject, session)?,
        _ => Some(created_as(case, subject, session.dialect())),
    };
    let Some(statements) = statements else { return Ok(Err(NOT_ACCEPTED)) };
    for statement in statements {
        if let Reply::Failed(_) = session.scaffold(&statement)? {
            drop_stored(session)?;
            return Ok(Err(NOT_ACCEPTED));
        }
        built.statements.push(session.last_sql().to_string());
    }
    if subject.choice(INDEXED).is_some() && session.dialect().can(Feature::Indexes) {
        let key = IndexKey { expr: Expr::bare_column(RESULT), prefix: None, collation: None, desc: false };
        let index = Statement::CreateIndex(CreateIndex {
            name: INDEX.into(),
            unique: false,
            table: STORED.into(),
            method: None,
            keys: vec![key],
            filter: None,
        });
        // Some types cannot be a key.
        if !matches!(session.scaffold(&index)?, Reply::Failed(_)) {
            session.note("edc: table pairs with an index on the result");
            built.statements.push(session.last_sql().to_string());
        }
    }
    Ok(Ok(built))
}

pub fn drop_stored(session: &mut Session) -> Result<(), Stop> {
    let drop = Statement::Drop { object: ObjectKind::Table, name: STORED.into(), on: None, if_exists: true };
    session.scaffold(&drop)?;
    Ok(())
}

/// What the stored table holds: all columns of a row and its result, or the keys of a group and its result.
fn contents(case: &Case) -> Select {
    let copied: Vec<Name> = match &case.keys {
        Some(keys) => keys.clone(),
        None => case.base.columns.iter().map(|column| column.name.clone()).collect(),
    };
    let column = |name: Name| SelectItem::Expr { expr: Expr::bare_column(name), alias: None };
    let result = SelectItem::Expr { expr: case.operation.clone(), alias: Some(RESULT.into()) };
    Select {
        items: copied.into_iter().map(column).chain([result]).collect(),
        from: vec![TableRef::table(case.base.name.clone())],
        group_by: case.keys.iter().flatten().cloned().map(Expr::bare_column).collect(),
        ..Select::default()
    }
}

fn table(subject: &Subject, dialect: &Dialect) -> CreateTable {
    let needed = dialect.can(Feature::TableOptionNeeded).then(|| dialect.table_options.first()).flatten();
    let option = subject.choice(STORAGE).map(Name::from).or(needed.map(|option| option.name.clone()));
    CreateTable {
        name: STORED.into(),
        temporary: false,
        columns: Vec::new(),
        constraints: Vec::new(),
        options: option.into_iter().collect(),
        module: None,
        query: None,
    }
}

/// `CREATE TABLE … AS`. Where a statement that changes rows fails at what a query only warns of, the types
/// come from a query without rows, and the rows after it without that strictness.
fn created_as(case: &Case, subject: &Subject, dialect: &Dialect) -> Vec<Statement> {
    let select = contents(case);
    let create = |select: Select| {
        let query = Some(Box::new(Query::select(select)));
        Statement::CreateTable(CreateTable { query, ..table(subject, dialect) })
    };
    if !dialect.can(Feature::StrictChanges) {
        return vec![create(select)];
    }
    let nothing = Some(Expr::binary(BinaryOp::Eq, Expr::int(1), Expr::int(0)));
    let empty = match &case.keys {
        // An aggregate over no rows is a row, unless HAVING says otherwise.
        Some(_) => Select { having: nothing, ..select.clone() },
        None => Select { filter: nothing, ..select.clone() },
    };
    vec![create(empty), filled(select, dialect)]
}

fn filled(select: Select, dialect: &Dialect) -> Statement {
    Statement::Insert(Insert {
        table: STORED.into(),
        or: dialect.can(Feature::InsertIgnore).then_some(OnConflict::Ignore),
        columns: Vec::new(),
        source: InsertSource::Query(Box::new(Query::select(select))),
        upsert: None,
    })
}

/// A table declared with the types of the base table and the type that the engine infers for the result.
fn declared(case: &Case, subject: &Subject, session: &mut Session) -> Result<Option<Vec<Statement>>, Stop> {
    let Some(ty) = inferred_type(case, session)? else { return Ok(None) };
    let dialect = session.dialect();
    let copied = case.base.columns.iter().filter(|column| match &case.keys {
        Some(keys) => keys.contains(&column.name),
        None => true,
    });
    let column = |name: &Name, ty: &DataType| ColumnDef {
        name: name.clone(),
        ty: ty.clone(),
        constraints: Vec::new(),
    };
    let mut columns: Vec<ColumnDef> = copied.map(|def| column(&def.name, &def.ty)).collect();
    columns.push(column(&RESULT.into(), &ty));
    let create = Statement::CreateTable(CreateTable { columns, ..table(subject, dialect) });
    // In the order of the columns above.
    let mut select = contents(case);
    if let Some(keys) = &case.keys {
        let items = select.items.split_off(keys.len());
        let ordered = case.base.columns.iter().map(|def| &def.name).filter(|name| keys.contains(name));
        select.items = ordered.map(|name| Expr::bare_column(name.clone()).into()).chain(items).collect();
    }
    Ok(Some(vec![create, filled(select, dialect)]))
}

/// The type of the operation as the engine's catalog tells it of a view.
fn inferred_type(case: &Case, session: &mut Session) -> Result<Option<DataType>, Stop> {
    let dialect = session.dialect();
    if dialect.can(Feature::DynamicTyping) {
        // Nothing is converted in a column without a type; a CAST has the affinity of its type.
        return Ok(Some(match &case.operation {
            Expr::Column(reference) => {
                let column = case.columns.iter().find(|column| column.name == reference.column);
                column.map_or(DataType::new("", Kind::Any), |column| column.ty.clone())
            }
            other => cast_type(other).unwrap_or(DataType::new("", Kind::Any)),
        }));
    }
    let Some((before, after)) = dialect.view_type.as_deref().and_then(|text| text.split_once("{}")) else {
        return Ok(None);
    };
    let mut query = contents(case);
    query.items.drain(..query.items.len() - 1);
    let view = Statement::CreateView(CreateView {
        name: SHAPE.into(),
        temporary: false,
        columns: Vec::new(),
        query: Query::select(query),
    });
    if let Reply::Failed(_) = session.scaffold(&view)? {
        return Ok(None);
    }
    let question = Statement::Raw(format!("{before}{SHAPE}{after}"));
    let reply = session.aside(|session| session.run(&question))?;
    session.scaffold(&Statement::Drop {
        object: ObjectKind::View,
        name: SHAPE.into(),
        on: None,
        if_exists: false,
    })?;
    Ok(match reply {
        Reply::Rows(rows) => match rows.single() {
            Some(Value::Text(name)) => Some(DataType::new(name.as_str(), case.result.ty.kind)),
            // Some catalogs are not in any character set.
            Some(Value::Blob(name)) => {
                let name = String::from_utf8_lossy(name).into_owned();
                Some(DataType::new(name, case.result.ty.kind))
            }
            _ => None,
        },
        _ => None,
    })
}

/// Whether what is stored is what is computed: as both are shown and, where that does not tell all, as the
/// engine compares them row by row. A result that the engine calls the same and shows differently is a
/// finding of class `representation`; anything else that differs was changed by storing it.
pub fn verify(case: &Case, session: &mut Session) -> Result<Verdict, Stop> {
    let mut select = contents(case);
    for item in &mut select.items {
        if let SelectItem::Expr { alias, .. } = item {
            *alias = None;
        }
    }
    let query = Query::select(select);
    let stored = match rewrite(&query, case) {
        Ok(stored) => stored,
        Err(reason) => return Ok(Verdict::skip(reason)),
    };
    let subject = Subject::new("edc", query.clone());
    let mut arms = Arms::new(RELATION);
    arms.ask("computed: the operation, over the base table", &query, session)?;
    arms.ask("stored: its result, over the stored table", stored, session)?;
    if let Some(verdict) = arms.unanswered(&subject, session)? {
        return Ok(verdict);
    }
    let is_float = |row: &[Value]| matches!(row.last(), Some(Value::Real(real)) if real.is_finite());
    if case.rounds_on_its_way() && arms.rows(0).iter().any(is_float) {
        return Ok(Verdict::skip("aggregate whose rounding depends on row order"));
    }
    let difference = judge::compare(arms.rows(0), arms.rows(1), Equality::Exact);
    let compares = session.dialect().can(Feature::HiddenDigits);
    let dual = case.reads_dual(session.dialect());
    let shown = Shown::of(arms.rows(0), dual);
    if compares && !same_to_the_engine(case, &shown, session)? {
        return Ok(Verdict::skip(CHANGED));
    }
    let Some(difference) = difference else { return Ok(Verdict::Pass { nonempty: true }) };
    let mild = difference.class == Class::Representation || (difference.class == Class::WrongValues && dual);
    if !compares || !mild {
        return Ok(Verdict::skip(CHANGED));
    }
    arms.differ(Difference { class: Class::Representation, ..difference }, &subject, session)
}

/// What results are, by what is shown of them.
struct Shown {
    /// Exact numbers, with digits behind those that are shown, which a comparison may not look at.
    exact: bool,
    /// Text or bytes, which have a collation; or nothing but NULL.
    collated: bool,
    /// Bytes, which as a column outweigh any text; or nothing but NULL.
    bytes: bool,
}

impl Shown {
    fn of(rows: &Rows, dual: bool) -> Shown {
        let any = |test: fn(&Value) -> bool| rows.iter().filter_map(<[Value]>::last).any(test);
        let numeric = any(|value| !matches!(value, Value::Text(_) | Value::Blob(_) | Value::Null));
        Shown {
            exact: any(|value| matches!(value, Value::Decimal(_))),
            collated: !numeric && !dual,
            bytes: !numeric && !any(|value| matches!(value, Value::Text(_))) && !dual,
        }
    }
}

/// Compares result and operation row by row, or group by group, in the engine.
fn same_to_the_engine(case: &Case, shown: &Shown, session: &mut Session) -> Result<bool, Stop> {
    let (base, stored) = (case.base.name.clone(), Name::from(STORED));
    let result = stand_in(case, Some(&stored));
    let same =
        |key: &Expr| Expr::binary(BinaryOp::Same, qualified(key, Some(&base)), qualified(key, Some(&stored)));
    let differs = |operation: Expr, result: Expr| {
        let differs =
            |of: &dyn Fn(&Expr) -> Expr| Expr::binary(BinaryOp::NotSame, of(&operation), of(&result));
        let mut differences = vec![differs(&Expr::clone)];
        if shown.exact {
            let magnified = |expr: &Expr| Expr::binary(BinaryOp::Mul, expr.clone(), Expr::int(1_000_000_000));
            differences.push(differs(&magnified));
        }
        let traits = [("COLLATION", shown.collated), ("COERCIBILITY", shown.bytes)];
        for (name, _) in traits.iter().filter(|(_, matters)| *matters) {
            differences.push(differs(&|expr| Expr::function(*name, vec![expr.clone()])));
        }
        let either = |left, right| Expr::binary(BinaryOp::Or, left, right);
        differences.into_iter().reduce(either).unwrap_or(Expr::int(0))
    };
    let query = match &case.keys {
        None => {
            let operation = qualified(&case.operation, Some(&base));
            let on = JoinOn::On(same(&case.key));
            let (left, right) = (TableRef::table(base.clone()), TableRef::table(stored.clone()));
            Query::select(Select {
                items: vec![Expr::int(1).into()],
                from: vec![TableRef::join(JoinKind::Inner, left, right, on)],
                filter: Some(differs(operation, result)),
                ..Select::default()
            })
        }
        Some(keys) => {
            // The aggregate itself is compared: in a derived table it would be stored once more.
            let keys: Vec<Expr> = keys.iter().cloned().map(Expr::bare_column).collect();
            let stored = Query::select(Select {
                items: vec![result.into()],
                from: vec![TableRef::table(stored.clone())],
                filter: keys.iter().map(same).reduce(Expr::and),
                ..Select::default()
            });
            let operation = qualified(&case.operation, Some(&base));
            Query::select(Select {
                items: vec![Expr::int(1).into()],
                from: vec![TableRef::table(base.clone())],
                group_by: keys.iter().map(|key| qualified(key, Some(&base))).collect(),
                having: Some(differs(operation, Expr::Subquery(Box::new(stored)))),
                ..Select::default()
            })
        }
    };
    Ok(matches!(session.query(&query)?, Reply::Rows(rows) if rows.is_empty()))
}
