//! Probing: which arguments an operation takes, what it returns, and whether it returns the same twice.
//!
//! Two sample tables have a column per type and rows of typical values, boundary values, NULLs, two mixed rows, and
//! the typical values again. The second table has the rows in the opposite order. One SELECT over them shows
//! whether a call works on all rows, and what it returns.

mod listing;
mod order;
mod search;

pub use listing::Candidate;

use listing::Volatility;
use order::Order;

use crate::catalog::{Arg, Catalog, Operation, OperationKind, Plan, SampleType, Signature, Why, plain_name};
use crate::dialect::{Dialect, Feature};
use crate::engine::{Reply, Rows, SqlError, Trouble};
use crate::session::Session;
use crate::sql::compare::compare_values;
use crate::sql::*;

pub(super) const TABLE: &str = "probe";
/// The same rows in the opposite order.
pub(super) const REVERSED: &str = "probe_reversed";
/// The number of a row, and of the last one, which is the first again.
const KEY: &str = "k";
const ROWS: usize = 6;
/// Signatures kept of one operation.
pub(super) const MOST_SIGNATURES: usize = 12;

/// Asks an engine what it can compute, by the plan of its dialect.
pub struct Prober<'s, 'e> {
    pub(super) session: &'s mut Session<'e>,
    pub(super) dialect: &'e Dialect,
    pub(super) plan: &'e Plan,
    pub(super) types: Vec<SampleType>,
}

/// An argument to try: the number of its type, and whether it is a constant.
pub(super) type Tried = (u16, bool);

/// Why an aggregate of floats is not used.
const ROUNDED: &str = "it rounds at each step";

/// Rows of the tables of samples.
#[derive(Clone, Copy)]
pub(super) enum These {
    All,
    /// The first and the last, which are alike.
    Typical,
    /// The first two, which are not.
    Different,
}

/// The result of one call.
pub(super) enum Outcome {
    Works { rows: Rows, fragile: bool },
    Fails(SqlError),
    Unusable(Why, String),
}

impl<'s, 'e> Prober<'s, 'e> {
    /// Finds out which types the engine has, and builds the tables.
    pub fn begin(session: &'s mut Session<'e>) -> Result<Prober<'s, 'e>, Trouble> {
        let dialect = session.dialect();
        let mut prober = Prober { session, dialect, plan: &dialect.catalog, types: Vec::new() };
        prober.session.reset()?;
        for line in &prober.plan.types {
            let mut ty = SampleType::new(line);
            if prober.holds(&mut ty)? {
                prober.types.push(ty);
            }
        }
        prober.build()?;
        for at in 0..prober.types.len() {
            let two = |op| Expr::binary(op, column(at as u16), column(at as u16));
            prober.types[at].comparable = prober.is_accepted(two(BinaryOp::Eq))?;
            prober.types[at].ordered = prober.is_accepted(two(BinaryOp::Lt))?;
        }
        Ok(prober)
    }

    /// The types that the engine takes, with what it does with their values.
    pub fn types(&self) -> &[SampleType] {
        &self.types
    }

    /// What is going to be probed, in a fixed order.
    pub fn candidates(&mut self) -> Result<Vec<Candidate>, Trouble> {
        listing::candidates(self.plan, &self.types, self.session)
    }

    /// Everything at once, for engines that nothing takes down.
    pub fn catalog(mut self, fingerprint: u64) -> Result<Catalog, Trouble> {
        let mut operations = Vec::new();
        for candidate in self.candidates()? {
            operations.extend(self.probe(&candidate)?);
        }
        Ok(Catalog {
            format: crate::catalog::CATALOG_FORMAT,
            dialect: self.dialect.name.to_string(),
            engine_version: self.session.engine_version().to_string(),
            fingerprint,
            types: self.types,
            operations,
        })
    }

    /// What can be said of a candidate: an operation for each number of arguments it takes.
    pub fn probe(&mut self, candidate: &Candidate) -> Result<Vec<Operation>, Trouble> {
        let unusable = |why, detail: &str| Ok(vec![candidate.unusable(why, detail)]);
        if let Some(reason) = self.plan.denied(&candidate.name) {
            return unusable(Why::Denied, reason);
        }
        if lists(&self.dialect.volatile, &candidate.name) {
            return unusable(
                Why::Denied,
                "reads the time, the session or how values are stored, or is random",
            );
        }
        if candidate.kind == OperationKind::Aggregate && lists(&self.dialect.order_dependent, &candidate.name)
        {
            return unusable(Why::OrderDependent, "");
        }
        match (candidate.kind, candidate.volatility) {
            (_, Some(Volatility::Volatile)) => return unusable(Why::Volatile, ""),
            // Which of several peers comes first is not defined (SOUNDNESS 0.5).
            (OperationKind::Window, _) if !self.dialect.can(Feature::UniqueKeys) => {
                return unusable(Why::NotDrawn, "tables have no key to give their rows a total order");
            }
            (OperationKind::Window, _) if !self.dialect.can(Feature::WindowFunctions) => {
                return unusable(Why::NotDrawn, "the dialect has no window functions");
            }
            _ => {}
        }
        let operations = match &candidate.params {
            Some(params) if !params.iter().any(|param| param == "?") => self.declared(candidate, params)?,
            Some(params) => self.search(candidate, params.len(), params.len())?,
            None => self.search(candidate, self.dialect.least_args(&candidate.name), self.plan.max_args)?,
        };
        // A server that could only be stopped by ending it has lost the tables: nothing else would be accepted.
        if !operations.iter().any(Operation::is_usable) && !self.is_accepted(Expr::int(1))? {
            self.session.reset()?;
            self.build()?;
        }
        Ok(operations)
    }

    /// An operation whose types the engine tells.
    fn declared(&mut self, candidate: &Candidate, params: &[String]) -> Result<Vec<Operation>, Trouble> {
        let steps = params.iter().map(|param| self.meanings(param)).max().unwrap_or(1);
        let mut tuples: Vec<Vec<u16>> = Vec::new();
        for step in 0..steps {
            let mut tuple = Vec::new();
            for param in params {
                match self.type_at(param, step) {
                    Some(ty) => tuple.push(ty),
                    None => return Ok(vec![candidate.unusable(Why::UnknownType, param.clone())]),
                }
            }
            // An operator's form has places for just these.
            if let (true, Some(&last)) = (candidate.more && candidate.form.is_none(), tuple.last()) {
                let longer = [tuple.clone(), vec![last]].concat();
                tuples.push(longer);
            }
            tuples.push(tuple);
        }
        tuples.dedup();
        let mut found = Found::default();
        let constant_tries = constant_tries(candidate, params.len());
        for constants in constant_tries {
            for tuple in &tuples {
                let tried: Vec<Tried> = tuple
                    .iter()
                    .enumerate()
                    .map(|(at, ty)| (*ty, is_constant(*constants, at, tuple)))
                    .collect();
                self.note(candidate, &tried, &mut found)?;
                if found.signatures.len() >= MOST_SIGNATURES || found.fatal {
                    break;
                }
            }
            // The average of a constant is rounded as well, though two orders of its rows cannot show it.
            let rounds = found.reason.as_ref().is_some_and(|(_, detail)| detail == ROUNDED);
            if !found.signatures.is_empty() || found.fatal || rounds {
                break;
            }
        }
        let operation = self.operation(candidate, found);
        // A cast that the engine does not list does not count as an operation.
        let none = candidate.kind == OperationKind::Cast
            && operation.unusable.as_ref().is_some_and(|unusable| unusable.why == Why::Fails);
        Ok(if none { Vec::new() } else { vec![operation] })
    }

    /// Tries one call and keeps what was learned.
    pub(super) fn note(
        &mut self,
        candidate: &Candidate,
        tried: &[Tried],
        found: &mut Found,
    ) -> Result<bool, Trouble> {
        match self.attempt(candidate, tried)? {
            Outcome::Works { rows, fragile } => {
                let returns = self.returned(candidate, tried, &rows)?;
                let args = tried.iter().map(|(ty, constant)| Arg { types: vec![*ty], constant: *constant });
                found.signatures.push(Signature { args: args.collect(), returns, fragile });
                return Ok(true);
            }
            Outcome::Fails(error) => found.error = Some(error),
            Outcome::Unusable(why, detail) => {
                found.fatal |= match why {
                    Why::OrderDependent => self.dialect.can(Feature::DynamicTyping),
                    why => matches!(why, Why::Crashes | Why::Unsteady),
                };
                found.reason = Some((why, detail));
            }
        }
        Ok(false)
    }

    pub(super) fn operation(&self, candidate: &Candidate, found: Found) -> Operation {
        let Found { mut signatures, error, reason, fatal } = found;
        // What crashed the engine, or gave different results, is not used with other arguments either.
        if let (true, Some((why, detail))) = (fatal, &reason) {
            return candidate.unusable(*why, detail.clone());
        }
        if signatures.is_empty() {
            let (why, detail) = match (reason, error) {
                (Some(reason), _) => reason,
                (None, Some(error)) => (Why::Fails, first_line(&error.message)),
                (None, None) => (Why::Fails, String::new()),
            };
            return candidate.unusable(why, detail);
        }
        if signatures.iter().any(|signature| !signature.fragile) {
            signatures.sort_by_key(|signature| signature.fragile);
        }
        Operation {
            kind: candidate.kind,
            name: candidate.name.clone(),
            form: candidate.form.clone(),
            signatures,
            indexable: candidate.volatility == Some(Volatility::Immutable),
            unusable: None,
        }
    }

    /// Runs a call on all rows, or else on the typical ones; twice, and an aggregate also in the other order.
    pub(super) fn attempt(&mut self, candidate: &Candidate, tried: &[Tried]) -> Result<Outcome, Trouble> {
        let aggregate = candidate.kind == OperationKind::Aggregate;
        let window = candidate.kind == OperationKind::Window;
        let call = self.call(candidate, tried);
        let mut fragile = false;
        let rows = match self.ask(&call, TABLE, These::All, aggregate)? {
            Reply::Rows(rows) => rows,
            Reply::Failed(error) if error.class.is_harm() => return self.harmed(&error),
            Reply::Failed(_) => {
                fragile = true;
                match self.ask(&call, TABLE, These::Typical, aggregate)? {
                    Reply::Rows(rows) => rows,
                    Reply::Failed(error) if error.class.is_harm() => return self.harmed(&error),
                    Reply::Failed(error) => return Ok(Outcome::Fails(error)),
                    Reply::Done { .. } => return Ok(Outcome::Unusable(Why::NotDrawn, "no rows".into())),
                }
            }
            Reply::Done { .. } => return Ok(Outcome::Unusable(Why::NotDrawn, "no rows".into())),
        };
        let expected = match (aggregate, fragile) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => ROWS,
        };
        if rows.len() != expected || rows.columns != 1 {
            return Ok(Outcome::Unusable(Why::NotDrawn, "returns a set of rows".into()));
        }
        let these = if fragile { These::Typical } else { These::All };
        let again = match self.ask(&call, TABLE, these, aggregate)? {
            Reply::Rows(rows) => rows,
            _ => return Ok(Outcome::Unusable(Why::Unsteady, "it fails the second time".into())),
        };
        let twin = |rows: &Rows| {
            aggregate || window || same(&rows.values[..1], &rows.values[rows.values.len() - 1..])
        };
        if !same(&rows.values, &again.values) || !twin(&rows) {
            return Ok(Outcome::Unusable(Why::Unsteady, String::new()));
        }
        if aggregate {
            let detail = match self.order(candidate, &call, &rows, tried, fragile)? {
                Order::Nothing => None,
                Order::Matters => Some(""),
                Order::Rounds => Some(ROUNDED),
            };
            if let Some(detail) = detail {
                return Ok(Outcome::Unusable(Why::OrderDependent, detail.to_string()));
            }
        }
        // A window sees its rows in the order of their key, whatever order they are stored in.
        if window {
            match self.ask(&call, REVERSED, these, false)? {
                Reply::Rows(other) if same(&rows.values, &other.values) => {}
                _ => return Ok(Outcome::Unusable(Why::OrderDependent, String::new())),
            }
        }
        Ok(Outcome::Works { rows, fragile })
    }

    pub(super) fn harmed(&mut self, error: &SqlError) -> Result<Outcome, Trouble> {
        let message = first_line(&error.message);
        self.session.reset()?;
        self.build()?;
        Ok(Outcome::Unusable(Why::Crashes, format!("{}: {message}", error.class.name())))
    }

    pub(super) fn call(&self, candidate: &Candidate, tried: &[Tried]) -> Expr {
        let arg = |(ty, constant): &Tried| match constant {
            true => self.types[*ty as usize].value(0),
            false => column(*ty),
        };
        let args: Vec<Expr> = tried.iter().map(arg).collect();
        match (&candidate.form, candidate.kind) {
            (Some(form), _) => Expr::operation(form.clone(), args),
            (None, OperationKind::Aggregate) => Expr::aggregate(candidate.name.clone(), args),
            (None, OperationKind::Window) => {
                let key = OrderItem { expr: Expr::bare_column(KEY), desc: false, nulls: None };
                let spec = WindowSpec { order_by: vec![key], ..WindowSpec::default() };
                let function = Aggregate::new(candidate.name.clone(), args);
                Expr::Window(Box::new(Window { function, over: Over::Spec(spec) }))
            }
            (None, _) => Expr::function(candidate.name.clone(), args),
        }
    }

    pub(super) fn ask(
        &mut self,
        call: &Expr,
        table: &str,
        these: These,
        aggregate: bool,
    ) -> Result<Reply, Trouble> {
        let key = || Expr::bare_column(KEY);
        let last = || Expr::int(ROWS as i64 - 1);
        let filter = match these {
            These::All => None,
            These::Typical => {
                let list = vec![Expr::int(0), last()];
                Some(Expr::InList { expr: Box::new(key()), list, negated: false })
            }
            These::Different => Some(Expr::binary(BinaryOp::Lt, key(), Expr::int(2))),
        };
        let select = Select {
            items: vec![call.clone().into()],
            from: vec![TableRef::table(table)],
            filter,
            ..Select::default()
        };
        let mut query = Query::select(select);
        if !aggregate {
            query.order_by = vec![OrderItem { expr: key(), desc: false, nulls: None }];
        }
        self.session.try_query(&query)
    }

    fn is_accepted(&mut self, expr: Expr) -> Result<bool, Trouble> {
        match self.ask(&expr, TABLE, These::All, false)? {
            Reply::Failed(error) if error.class.is_harm() => self.harmed(&error).map(|_| false),
            reply => Ok(matches!(reply, Reply::Rows(_))),
        }
    }

    /// The type of a call's answer, if it is one of ours.
    fn returned(
        &mut self,
        candidate: &Candidate,
        tried: &[Tried],
        rows: &Rows,
    ) -> Result<Option<u16>, Trouble> {
        for (ty, names) in &self.plan.returns {
            if names.iter().any(|name| name.eq_ignore_ascii_case(&candidate.name)) {
                return Ok(self.type_named(ty));
            }
        }
        if let Some(ty) = candidate.returns.as_deref().and_then(|name| self.type_named(name)) {
            return Ok(Some(ty));
        }
        let Some(word) = &self.plan.type_of else { return Ok(self.by_kind(&rows.values)) };
        let call = Expr::operation(word.clone(), vec![self.call(candidate, tried)]);
        let aggregate = candidate.kind == OperationKind::Aggregate;
        Ok(match self.ask(&call, TABLE, These::Typical, aggregate)? {
            Reply::Rows(rows) => match rows.values.first() {
                Some(Value::Text(name)) => self.type_named(name),
                _ => None,
            },
            _ => None,
        })
    }

    /// The first type of the kind that all answers have, where kinds are all there is.
    pub(super) fn by_kind<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> Option<u16> {
        let mut kinds = values.into_iter().filter(|value| !value.is_null()).map(Value::kind);
        let kind = kinds.next()?;
        let plain = |ty: &SampleType| ty.kind == kind && !ty.pseudo;
        if kinds.any(|other| other != kind) {
            return None;
        }
        self.types.iter().position(plain).map(|at| at as u16)
    }

    pub(super) fn type_named(&self, name: &str) -> Option<u16> {
        let plain = plain_name(name);
        self.types.iter().position(|ty| ty.is_called(&plain)).map(|at| at as u16)
    }

    /// Whether values of the type are accepted as constants only.
    pub(super) fn is_fixed(&self, ty: u16) -> bool {
        let name = &self.types[ty as usize].name;
        self.plan.types.iter().any(|line| line.constant && line.name == *name)
    }

    /// How many types a word of the engine's catalog stands for.
    fn meanings(&self, param: &str) -> usize {
        let plain = plain_name(param);
        self.plan.groups.iter().find(|group| group.name == plain).map_or(1, |group| group.types.len())
    }

    fn type_at(&self, param: &str, step: usize) -> Option<u16> {
        let plain = plain_name(param);
        match self.plan.groups.iter().find(|group| group.name == plain) {
            Some(group) => self.type_named(&group.types[step % group.types.len()]),
            None => self.type_named(&plain),
        }
    }

    /// Whether the engine has the type; boundaries it does not take are left out.
    fn holds(&mut self, ty: &mut SampleType) -> Result<bool, Trouble> {
        let name = Name::from("probe_type");
        let mut values = Vec::new();
        for at in 0..ty.values.len() {
            let create = self.create(name.clone(), vec![self.column_of(ty, "c".into())]);
            let insert = insert(name.clone(), vec![ty.value(at)]);
            let mut taken = true;
            for statement in [create, insert] {
                if let Reply::Failed(error) = self.session.try_run(&statement)? {
                    taken = false;
                    if error.class.is_harm() {
                        self.session.reset()?;
                    }
                }
            }
            let drop =
                Statement::Drop { object: ObjectKind::Table, name: name.clone(), on: None, if_exists: true };
            self.session.try_run(&drop)?;
            match taken {
                true => values.push(ty.values[at].clone()),
                false if at == 0 => return Ok(false),
                false => {}
            }
        }
        ty.values = values;
        Ok(true)
    }

    /// The two tables of samples.
    fn build(&mut self) -> Result<(), Trouble> {
        for reversed in [false, true] {
            let name = Name::from(if reversed { REVERSED } else { TABLE });
            let mut columns =
                vec![ColumnDef { name: KEY.into(), ty: self.key_type(), constraints: Vec::new() }];
            columns.extend(
                self.types.iter().enumerate().map(|(at, ty)| self.column_of(ty, format!("p{at}").into())),
            );
            let create = self.create(name.clone(), columns);
            let order: Vec<usize> = if reversed { (0..ROWS).rev().collect() } else { (0..ROWS).collect() };
            let rows = order.into_iter().map(|row| insert(name.clone(), self.row(row)));
            for statement in std::iter::once(create).chain(rows).collect::<Vec<_>>() {
                if let Reply::Failed(error) = self.session.try_run(&statement)? {
                    return Err(Trouble(format!("cannot create the sample table: {error}")));
                }
            }
        }
        Ok(())
    }

    fn row(&self, row: usize) -> Vec<Expr> {
        let value = |at: usize, ty: &SampleType| match row {
            2 if !ty.required => ty.null(self.dialect.is_typed()),
            1 => ty.value(1),
            3 => ty.value(at % 3),
            4 if at.is_multiple_of(2) && !ty.required => ty.null(self.dialect.is_typed()),
            4 => ty.value(2),
            _ => ty.value(0),
        };
        let key = Expr::int(row as i64);
        let values = self.types.iter().enumerate().map(|(at, ty)| value(at, ty));
        std::iter::once(key).chain(values).collect()
    }

    fn key_type(&self) -> DataType {
        let int = self.types.iter().find(|ty| ty.kind == Kind::Int && !ty.pseudo);
        int.map_or(DataType::new("INTEGER", Kind::Int), |ty| self.column_of(ty, KEY.into()).ty)
    }

    /// What is a way to use another type stands in a column of that.
    fn column_of(&self, ty: &SampleType, name: Name) -> ColumnDef {
        let base = self.types.iter().find(|base| ty.pseudo && !base.pseudo && base.kind == ty.kind);
        let ty = base.unwrap_or(ty);
        let declared = self.plan.types.iter().find(|line| line.name == ty.name);
        let spelled = declared.and_then(|line| line.column.clone()).unwrap_or_else(|| ty.name.clone());
        let constraints = if ty.required { vec![ColumnConstraint::NotNull] } else { Vec::new() };
        ColumnDef { name, ty: DataType::new(spelled, ty.kind), constraints }
    }

    fn create(&self, name: Name, columns: Vec<ColumnDef>) -> Statement {
        let suffix = Some(&self.plan.table_suffix).filter(|suffix| !suffix.is_empty());
        Statement::CreateTable(CreateTable {
            name,
            temporary: false,
            columns,
            constraints: Vec::new(),
            options: suffix.map(|suffix| Name::from(suffix.as_str())).into_iter().collect(),
            module: None,
            query: None,
        })
    }
}

/// What was learned of a candidate so far.
#[derive(Default)]
pub(super) struct Found {
    pub signatures: Vec<Signature>,
    pub error: Option<SqlError>,
    pub reason: Option<(Why, String)>,
    /// Nothing more is to be tried.
    pub fatal: bool,
}

fn insert(table: Name, row: Vec<Expr>) -> Statement {
    let source = InsertSource::Values(vec![row]);
    Statement::Insert(Insert { table, or: None, columns: Vec::new(), source, upsert: None })
}

/// Whether arguments are columns at first and then, if nothing comes of that, constants.
pub(super) fn constant_tries(candidate: &Candidate, arity: usize) -> &'static [bool] {
    let only_one = arity == 1 && candidate.kind == OperationKind::Window;
    if arity > 1 || only_one { &[false, true] } else { &[false] }
}

/// The first of several arguments stays a column.
pub(super) fn is_constant(constants: bool, at: usize, tuple: &[u16]) -> bool {
    constants && (at > 0 || tuple.len() == 1)
}

fn column(ty: u16) -> Expr {
    Expr::bare_column(format!("p{ty}"))
}

pub(super) fn lists(names: &[Name], name: &str) -> bool {
    names.iter().any(|listed| listed.eq_ignore_ascii_case(name))
}

pub(super) fn same(left: &[Value], right: &[Value]) -> bool {
    left.len() == right.len()
        && std::iter::zip(left, right).all(|(a, b)| {
            a == b || (a.kind() == b.kind() && compare_values(a, b) == std::cmp::Ordering::Equal)
        })
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().chars().take(120).collect()
}
