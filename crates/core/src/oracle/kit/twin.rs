//! A table and its twin: created by the same statements, stored differently, and read by the same queries.
//!
//! The table is the last one that the database's setup creates; the subject names the twin's storage option. Every
//! check creates the twin again, under its own name, with the statements of the setup that are about the table. So no
//! edit can make the two differ.
//!
//! Conditions, each a skip with its reason:
//! - Everything that was done to the table can be done to the twin.
//! - Both contain the same rows: all rows are compared before anything else. If only literal rows were inserted, a
//!   difference is a finding; if rows were changed or conflicts resolved, the check is skipped.
//! - If one of the two stores rows by primary key, that key is declared NOT NULL and is not an alias of the rowid, and
//!   every INSERT has a value for each column.
//! - A storage option that compares values of some types differently is not used with them (the dialect says which).
//! - Nothing else in a query goes by the table's name: which of the two is meant would depend on where it stands.
//! - The result does not depend on the order of rows, as for [`index`](crate::oracle::index).
//! - An error in one arm only is validated first.

use std::collections::BTreeSet;

use super::again;
use super::arms::Arms;
use crate::dialect::{Dialect, Feature, TableOption};
use crate::engine::{Reply, Stop};
use crate::features::{Features, hyphenated};
use crate::finding::{Class, Switch, Verdict};
use crate::generate::Generator;
use crate::session::Session;
use crate::sql::visit::{Editor, Visitor, edit_expr, edit_select, edit_table, walk_query, walk_table};
use crate::sql::*;
use crate::state::State;
use crate::subject::{Proposal, Subject, TestCase};

/// The twin's way of storing, by the name of the dialect's option; PLAIN: by none.
const STORAGE: &str = "storage";
const PLAIN: &str = "plain";

const BASE: &str = "s0";
/// The name of every twin.
pub const TWIN: &str = "twin0";

const RELATION: &str =
    "a query returns the same rows from a table and from its twin that is stored differently";

/// Tables drawn until one fits both ways of storing.
const DRAWS: usize = 20;

/// How something is stored: by an option, or by none.
type Way<'a> = Option<&'a TableOption>;

/// A table in two ways of storing it that `wanted` accepts, and a query over it.
pub fn propose(oracle: &str, g: &mut Generator, wanted: impl Fn(&TableOption) -> bool) -> Option<Proposal> {
    let dialect = g.dialect;
    let mut ways: Vec<Way> = dialect.table_options.iter().filter(|option| wanted(option)).map(Some).collect();
    if !dialect.can(Feature::TableOptionNeeded) {
        ways.push(None);
    }
    if ways.len() < 2 {
        return None;
    }
    g.rng.shuffle(&mut ways);
    // What takes more than CREATE TABLE is a way for twins only.
    let simple = |way: &Way| way.is_none_or(|option| option.made.is_empty() && option.filled.is_empty());
    let base = ways.remove(ways.iter().position(simple)?);
    let twin = ways[0];
    let create = (0..DRAWS).find_map(|_| {
        let create = shaped(g.table(), base, twin);
        [base, twin].iter().all(|way| misfit(&create, *way, dialect).is_none()).then_some(create)
    })?;
    // Drawn as if it were stored both ways: its rows fit both.
    let mut both = stored(create.clone(), base);
    both.options.extend(stored(create.clone(), twin).options);
    let columns = create.columns.clone();
    let mut brings = g.table_and_rows(both);
    brings[0] = Statement::CreateTable(stored(create, base));
    if keyed(base) || keyed(twin) {
        brings.retain(|statement| !leaves_values_out(statement, &columns));
    }
    let tests = queries(g, &brings);
    if tests.is_empty() {
        return None;
    }
    let name = twin.map_or(PLAIN, |option| &option.name);
    Some(Proposal { brings, subject: Subject::of(oracle, tests).with_choice(STORAGE, name) })
}

/// How the twin is stored tells bugs apart; that there is a key where one is wanted does not.
pub fn features(case: &TestCase, key_is_wanted: bool) -> BTreeSet<String> {
    let mut words = Features { key_is_wanted, ..Features::default() }.of(case);
    words.extend(case.subject.choice(STORAGE).filter(|storage| *storage != PLAIN).map(hyphenated));
    if key_is_wanted {
        words.remove("not-null");
    }
    words
}

/// Queries that read the table, sometimes with one of the database's.
fn queries(g: &mut Generator, brings: &[Statement]) -> Vec<Statement> {
    let mut state = State::default();
    brings.iter().for_each(|statement| state.apply(statement, g.dialect));
    let others: Vec<_> = g.state.stored_tables().cloned().collect();
    state.tables.extend(g.rng.choose(&others).cloned());
    let count = g.policy.queries_per_table / 4;
    let mut tests = Vec::with_capacity(count);
    let mut inner = Generator::new(g.rng.clone(), g.dialect, &state, g.policy);
    for _ in 0..count * 3 {
        if tests.len() == count {
            break;
        }
        inner.start_over();
        if let Some(query) = inner.composed_query()
            && reads(&query, &BASE.into())
        {
            tests.push(Statement::from(query));
        }
    }
    g.drawn_operations.append(&mut inner.drawn_operations);
    g.rng = inner.rng;
    tests
}

fn reads(query: &Query, table: &Name) -> bool {
    struct Reads<'a>(&'a Name, bool);
    impl Visitor for Reads<'_> {
        fn table(&mut self, table: &TableRef) {
            self.1 |= matches!(table, TableRef::Table { name, .. } if name == self.0);
            walk_table(self, table);
        }
    }
    let mut reads = Reads(table, false);
    reads.query(query);
    reads.1
}

fn keyed(way: Way) -> bool {
    way.is_some_and(|option| option.keyed)
}

/// A drawn table with a name of its own and without what only some ways of storing have.
fn shaped(mut create: CreateTable, base: Way, twin: Way) -> CreateTable {
    create.name = BASE.into();
    for column in &mut create.columns {
        column.constraints.retain(|constraint| !matches!(constraint, ColumnConstraint::References { .. }));
    }
    if keyed(base) || keyed(twin) {
        let mut keys = key_columns(&create);
        if keys.is_empty()
            && let Some(column) = create.columns.first_mut()
        {
            let (desc, autoincrement, on_conflict) = (false, false, None);
            column.constraints.insert(0, ColumnConstraint::PrimaryKey { desc, autoincrement, on_conflict });
            keys.push(column.name.clone());
        }
        for column in create.columns.iter_mut().filter(|column| keys.contains(&column.name)) {
            if keys.len() == 1 && column.ty.name.eq_ignore_ascii_case("integer") {
                column.ty = DataType::new("INT", Kind::Int);
            }
            column.constraints.iter_mut().for_each(|constraint| {
                if let ColumnConstraint::PrimaryKey { autoincrement, .. } = constraint {
                    *autoincrement = false;
                }
            });
            if !column.constraints.contains(&ColumnConstraint::NotNull) {
                column.constraints.push(ColumnConstraint::NotNull);
            }
        }
    }
    create
}

/// The columns of the primary key.
fn key_columns(create: &CreateTable) -> Vec<Name> {
    let is_key = |constraint: &ColumnConstraint| matches!(constraint, ColumnConstraint::PrimaryKey { .. });
    let alone = create.columns.iter().filter(|column| column.constraints.iter().any(is_key));
    let mut keys: Vec<Name> = alone.map(|column| column.name.clone()).collect();
    for constraint in &create.constraints {
        let TableConstraint::PrimaryKey(parts) = constraint else { continue };
        keys.extend(parts.iter().filter_map(|part| match &part.expr {
            Expr::Column(reference) => Some(reference.column.clone()),
            _ => None,
        }));
    }
    keys
}

/// The table as it is stored in one way.
fn stored(mut create: CreateTable, way: Way) -> CreateTable {
    create.options.clear();
    create.temporary = false;
    let Some(option) = way else { return create };
    create.temporary = option.temporary;
    if !option.unwritten {
        // A column that is not computed and has no type that cannot be sorted by.
        let plain = |column: &&ColumnDef| {
            !column.constraints.iter().any(|c| matches!(c, ColumnConstraint::Generated { .. }))
        };
        let column = create.columns.iter().find(plain).map_or("", |column| &*column.name);
        create.options.push(Name::from(option.name.replace("{columns}", column)));
    }
    create
}

/// Why a table cannot be stored in one way, or would not be the same table.
fn misfit(create: &CreateTable, way: Way, dialect: &Dialect) -> Option<&'static str> {
    let option = way?;
    let any = |test: &dyn Fn(&ColumnConstraint) -> bool| {
        create.columns.iter().flat_map(|column| &column.constraints).any(test)
    };
    let unique = any(&|constraint| {
        matches!(constraint, ColumnConstraint::PrimaryKey { .. } | ColumnConstraint::Unique { .. })
    }) || create
        .constraints
        .iter()
        .any(|constraint| matches!(constraint, TableConstraint::PrimaryKey(_) | TableConstraint::Unique(_)));
    let takes = |column: &ColumnDef| option.types.is_empty() || option.types.contains(&column.ty.name);
    if !create.columns.iter().all(takes) {
        return Some("type that this storage compares differently");
    }
    if (option.keyless && unique)
        || (!option.generated && any(&|constraint| matches!(constraint, ColumnConstraint::Generated { .. })))
        || (!option.long_values && create.columns.iter().any(|column| dialect.is_prefixed(&column.ty)))
    {
        return Some("table that this storage does not support");
    }
    None
}

/// Why a primary key cannot be the place of a row.
fn unplaced(create: &CreateTable) -> Option<&'static str> {
    let keys = key_columns(create);
    if keys.is_empty() {
        return Some("no primary key");
    }
    let mut parts = create.columns.iter().filter(|column| keys.contains(&column.name));
    if !parts.clone().all(|column| column.constraints.contains(&ColumnConstraint::NotNull)) {
        return Some("primary key may be NULL");
    }
    let alias = keys.len() == 1 && parts.any(|column| column.ty.name.eq_ignore_ascii_case("integer"));
    alias.then_some("primary key is the rowid")
}

/// An INSERT that does not give every column a value.
fn leaves_values_out(statement: &Statement, columns: &[ColumnDef]) -> bool {
    let Statement::Insert(insert) = statement else { return false };
    let generated = |column: &ColumnDef| {
        column.constraints.iter().any(|constraint| matches!(constraint, ColumnConstraint::Generated { .. }))
    };
    let named = |column: &ColumnDef| insert.columns.is_empty() || insert.columns.contains(&column.name);
    !matches!(insert.source, InsertSource::Values(_))
        || !columns.iter().all(|column| generated(column) || named(column))
}

/// What is made of a subject: the table, and what makes its twin.
pub struct Case {
    /// What must hold.
    pub relation: &'static str,
    /// The table.
    pub base: Name,
    /// The table, and views that are twins with it, each with the name of its twin.
    pub names: Vec<(Name, Name)>,
    /// What makes the twin.
    pub twin: Vec<Statement>,
    /// What removes it.
    pub drop: Vec<Statement>,
    /// Nothing but rows of literals were put in.
    pub only_filled: bool,
}

fn read(subject: &Subject, setup: &[Statement], dialect: &Dialect) -> Result<Case, &'static str> {
    let way = way_of(subject, dialect)?;
    let created = |statement: &Statement| matches!(statement, Statement::CreateTable(_));
    let at = setup.iter().rposition(created).ok_or("no table")?;
    let Statement::CreateTable(create) = &setup[at] else { return Err("no table") };
    if create.query.is_some() {
        return Err("table with unknown columns");
    }
    let is_way = |option: &&TableOption| create.options.contains(&option.name);
    let by_key = keyed(way) || dialect.table_options.iter().filter(is_way).any(|option| option.keyed);
    if by_key {
        unplaced(create).map_or(Ok(()), Err)?;
    }
    let base = create.name.clone();
    let hook = |form: &Name| Statement::Raw(form.replace("{table}", TWIN));
    let (made, filled) = way.map_or((&[][..], &[][..]), |option| (&option.made[..], &option.filled[..]));
    let mut twin = vec![Statement::CreateTable(stored(create.clone(), way))];
    twin.extend(made.iter().map(hook));
    let mut life = Life { base: &base, by_key, columns: create.columns.clone(), only_filled: true };
    for statement in &setup[at + 1..] {
        if life.concerns(statement, dialect)? {
            twin.push(statement.clone());
        }
    }
    twin.extend(filled.iter().map(hook));
    let Life { columns, only_filled, .. } = life;
    // Also by the columns that were added.
    let grown = CreateTable { columns, ..create.clone() };
    for way in [way, dialect.table_options.iter().find(is_way)] {
        misfit(&grown, way, dialect).map_or(Ok(()), Err)?;
    }
    let names = vec![(base.clone(), Name::from(TWIN))];
    let mut rename = Rename { names: &names };
    twin.iter_mut().for_each(|statement| rename.whole(statement));
    let drop = Statement::Drop { object: ObjectKind::Table, name: TWIN.into(), on: None, if_exists: true };
    Ok(Case { relation: RELATION, base, names, twin, drop: vec![drop], only_filled })
}

/// How the twin is stored, or the table, where the twin is a plain one.
fn special_storage(case: &TestCase) -> Option<&str> {
    match case.subject.choice(STORAGE) {
        Some(PLAIN) | None => case.setup.iter().rev().find_map(|statement| match statement {
            Statement::CreateTable(create) if create.temporary => Some("TEMPORARY"),
            Statement::CreateTable(create) => create.options.first().map(|option| &**option),
            _ => None,
        }),
        way => way,
    }
}

/// One arm reads a table that is stored in the special way, the other one that is not.
pub fn switch(case: &TestCase) -> Option<Switch> {
    let way = special_storage(case)?;
    Some(Switch::Without { part: hyphenated(way), named: way.to_string() })
}

/// The title, where nobody can tell which of the two is wrong.
pub fn complaint(case: &TestCase) -> String {
    special_storage(case).map_or("depends on how the table is stored".to_string(), |way| {
        format!("depends on whether the table is {way}")
    })
}

/// The other way to store the table that a subject names.
fn way_of<'d>(subject: &Subject, dialect: &'d Dialect) -> Result<Way<'d>, &'static str> {
    match subject.choice(STORAGE) {
        Some(PLAIN) => Ok(None),
        Some(name) => {
            let option = dialect.table_options.iter().find(|option| &*option.name == name);
            option.map(Some).ok_or("unknown storage option")
        }
        None => Err("no storage option given"),
    }
}

/// What becomes of a table after it is made.
struct Life<'a> {
    base: &'a Name,
    /// Its rows, or its twin's, are placed by their key.
    by_key: bool,
    columns: Vec<ColumnDef>,
    only_filled: bool,
}

impl Life<'_> {
    /// Whether a statement concerns the table, so that its twin needs it, too; or why there can be no twin.
    fn concerns(&mut self, statement: &Statement, dialect: &Dialect) -> Result<bool, &'static str> {
        match statement {
            Statement::Insert(insert) if insert.table == *self.base => {
                if self.by_key && leaves_values_out(statement, &self.columns) {
                    return Err("INSERT that omits values");
                }
                self.only_filled &= insert.or.is_none()
                    && insert.upsert.is_none()
                    && matches!(insert.source, InsertSource::Values(_));
            }
            Statement::CreateIndex(index) if index.table == *self.base => {}
            Statement::AlterTable { table, action } if table == self.base => self.alter(action)?,
            Statement::Update(Update { table, .. }) | Statement::Delete(Delete { table, .. })
                if table == self.base =>
            {
                self.only_filled = false;
            }
            Statement::Drop { object: ObjectKind::Table, name, .. } if name == self.base => {
                return Err("no table");
            }
            Statement::Raw(text) if !dialect.is_maintenance(text) => {
                return Err("SQL that Dissent cannot parse");
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn alter(&mut self, action: &AlterAction) -> Result<(), &'static str> {
        match action {
            AlterAction::RenameTable(_) => return Err("renamed table"),
            AlterAction::AddColumn(column) => self.columns.push(column.clone()),
            AlterAction::RenameColumn { from, to } => {
                let renamed = self.columns.iter_mut().filter(|column| column.name == *from);
                renamed.for_each(|column| column.name = to.clone());
            }
            AlterAction::DropColumn(name) => self.columns.retain(|column| column.name != *name),
        }
        Ok(())
    }
}

/// Fills the twin with the same rows, asks both the same query and compares.
pub fn check(subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    match read(subject, session.database().setup(), session.dialect()) {
        Ok(case) => compare(&case, subject, session),
        Err(reason) => Ok(Verdict::skip(reason)),
    }
}

/// Asks a table and its twin the queries of a subject.
pub fn compare(case: &Case, subject: &Subject, session: &mut Session) -> Result<Verdict, Stop> {
    let views = case.twin.iter().filter_map(|statement| match statement {
        Statement::CreateView(view) => Some(&view.query),
        _ => None,
    });
    if subject.queries().chain(views).any(|query| hides(query, &case.names)) {
        return Ok(Verdict::skip(HIDDEN));
    }
    let from = vec![TableRef::table(case.base.clone())];
    let all = Query::select(Select { items: vec![SelectItem::Wildcard], from, ..Select::default() });
    // Before the twin is made: that may make the engine forget what was wrong with the table.
    let mut asked = Vec::new();
    for query in std::iter::once(&all).chain(subject.queries()) {
        asked.push(Asked { query, reply: session.query(query)? });
    }
    let verdict = match make(&case.twin, session)? {
        Some(made) => ask_twin(asked, case, &made, subject, session)?,
        None => Verdict::skip("twin table cannot be created"),
    };
    for statement in &case.drop {
        session.scaffold(statement)?;
    }
    Ok(verdict)
}

/// The statements that made the twin, as they ran. `None`: the engine does not take one of them.
pub fn make(twin: &[Statement], session: &mut Session) -> Result<Option<Vec<String>>, Stop> {
    let mut made = Vec::new();
    for statement in twin {
        if let Reply::Failed(_) = session.scaffold(statement)? {
            return Ok(None);
        }
        made.push(session.last_sql().to_string());
    }
    Ok(Some(made))
}

/// What the table answered.
struct Asked<'a> {
    query: &'a Query,
    reply: Reply,
}

/// Asks the twin what the table was asked: first for all its rows.
fn ask_twin(
    asked: Vec<Asked>,
    case: &Case,
    made: &[String],
    subject: &Subject,
    session: &mut Session,
) -> Result<Verdict, Stop> {
    let (mut milder, mut unasked, mut nonempty) = (None, None, None);
    for (number, Asked { query, reply }) in asked.into_iter().enumerate() {
        let mut of_twin = query.clone();
        Rename { names: &case.names }.query(&mut of_twin);
        let mut arms = Arms::new(case.relation);
        arms.answered("on the table", query, reply);
        made.iter().for_each(|sql| arms.ran("the twin", sql.clone()));
        arms.ask("on its twin", of_twin, session)?;
        match again::settle(arms, query, subject, session)? {
            Verdict::Pass { .. } if number == 0 => {}
            Verdict::Bug(_) if number == 0 && !case.only_filled => {
                return Ok(Verdict::skip("twin table has different rows"));
            }
            other if number == 0 => return Ok(other),
            Verdict::Pass { nonempty: rows } => nonempty = Some(nonempty.unwrap_or(false) | rows),
            Verdict::Skip(reason) => unasked = Some(reason),
            // A query that loses rows says more than one that shows them differently.
            Verdict::Bug(evidence) if evidence.class == Class::Representation => {
                milder.get_or_insert(Verdict::Bug(evidence));
            }
            bug => return Ok(bug),
        }
    }
    Ok(match (milder, nonempty, unasked) {
        (Some(bug), _, _) => bug,
        (None, Some(nonempty), _) => Verdict::Pass { nonempty },
        (None, None, Some(reason)) => Verdict::Skip(reason),
        (None, None, None) => Verdict::skip("no query"),
    })
}

const HIDDEN: &str = "alias or common table with the name of the table";

/// Whether something else in a query goes by one of the names that are replaced.
fn hides(query: &Query, names: &[(Name, Name)]) -> bool {
    struct Hidden<'a> {
        names: &'a [(Name, Name)],
        found: bool,
    }
    impl Hidden<'_> {
        fn called(&mut self, other: &Name) {
            self.found |= self.names.iter().any(|(name, _)| name.eq_ignore_ascii_case(other));
        }
    }
    impl Visitor for Hidden<'_> {
        fn query(&mut self, query: &Query) {
            query.with.iter().flat_map(|with| &with.tables).for_each(|table| self.called(&table.name));
            walk_query(self, query);
        }
        fn table(&mut self, table: &TableRef) {
            match table {
                TableRef::Table { alias: Some(alias), .. }
                | TableRef::Derived { alias, .. }
                | TableRef::Function { alias, .. } => self.called(alias),
                TableRef::Table { .. } | TableRef::Join { .. } => {}
            }
            walk_table(self, table);
        }
    }
    let mut hidden = Hidden { names, found: false };
    hidden.query(query);
    hidden.found
}

/// Other names for tables and views, in statements and queries alike.
pub struct Rename<'a> {
    /// Each with its new name; the table first.
    pub names: &'a [(Name, Name)],
}

impl Rename<'_> {
    /// A statement, and what it is about.
    pub fn whole(&mut self, statement: &mut Statement) {
        match statement {
            Statement::CreateTable(CreateTable { name, .. })
            | Statement::CreateView(CreateView { name, .. })
            | Statement::AlterTable { table: name, .. }
            | Statement::Insert(Insert { table: name, .. })
            | Statement::Update(Update { table: name, .. })
            | Statement::Delete(Delete { table: name, .. }) => self.name(name),
            Statement::CreateIndex(index) => {
                self.name(&mut index.table);
                index.name = Name::from(format!("{}_{}", index.name, index.table));
            }
            _ => {}
        }
        self.statement(statement);
    }

    fn name(&self, name: &mut Name) {
        if let Some((_, new)) = self.names.iter().find(|(old, _)| old == name) {
            *name = new.clone();
        }
    }
}

impl Editor for Rename<'_> {
    fn select(&mut self, select: &mut Select) {
        for item in &mut select.items {
            if let SelectItem::TableWildcard(table) = item {
                self.name(table);
            }
        }
        edit_select(self, select);
    }

    fn table(&mut self, table: &mut TableRef) {
        if let TableRef::Table { name, .. } = table {
            self.name(name);
        }
        edit_table(self, table);
    }

    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(ColumnRef { table: Some(table), .. }) = expr {
            self.name(table);
        }
        edit_expr(self, expr);
    }
}
