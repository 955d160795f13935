//! PostgreSQL and engines that speak its protocol: a private server of an installed version, or a running server,
//! where Dissent only uses databases that it created.

mod debian;
mod driver;
mod install;
mod private;
mod sqlstate;
mod value;
mod wire;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dissent_core::dialect::Databases;
use dissent_core::engine::{Engine, ErrorClass, Limits, Prepared, Reply, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};

use crate::armed::Arms;
use crate::product::Product;
use crate::url::ServerUrl;
use crate::{EngineError, own};
use private::Private;
use value::Written;
use wire::{Address, Login, Wire};

pub(crate) use driver::Postgres;

/// The engine's own limit comes first; a server that does not keep it within this time has hung.
const GRACE: Duration = Duration::from_secs(3);
/// There is no limit by steps, and most statements take less than a millisecond.
const MILLIS: u64 = 2_000;
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Emptying a database leaves dead rows in the server's catalogs: so sometimes a new one is created.
const RESETS_PER_DATABASE: u32 = 200;

/// A server, and how to log in to it.
struct Host {
    product: &'static Product,
    /// The server in messages.
    name: String,
    ownership: Ownership,
    address: Address,
    /// Makes and drops databases.
    login: Login,
    /// Uses them: on a server of ours a role that can do no more than that.
    user: Login,
    /// What the names of our databases contain.
    mark: Option<String>,
}

enum Ownership {
    /// Started by us, and what from.
    Private { private: Box<Private>, installation: PathBuf, version: String, arms: Option<Arms> },
    /// Somebody else's.
    Remote,
}

impl Host {
    /// A server of our own.
    fn start(
        product: &'static Product,
        installation: &Path,
        version: &str,
        arms: Option<&Arms>,
    ) -> Result<Host, EngineError> {
        let name = format!("{} {version}", product.title());
        let private = Private::start(product, installation, &name, version, arms)?;
        let (address, login, user) =
            (private.address().clone(), private::login(product), private.user(product));
        let ownership = Ownership::Private {
            private: Box::new(private),
            installation: installation.to_path_buf(),
            version: version.to_string(),
            arms: arms.cloned(),
        };
        Ok(Host { product, name, ownership, address, login, user, mark: None })
    }

    /// Somebody else's server.
    fn reach(product: &'static Product, url: &ServerUrl) -> Host {
        let descriptor = &product.descriptor;
        let login = Login {
            user: url.user().or_else(|| descriptor.user.clone()).unwrap_or_default(),
            password: url.password(),
            database: url.database().or_else(|| descriptor.database.clone()).unwrap_or_default(),
            tls: url.tls(),
            version_parameter: descriptor.version_parameter.clone(),
        };
        let address = Address::of(&url.host(), url.port().or(descriptor.port).unwrap_or_default());
        let (name, mark) = (url.to_string(), url.mark.clone());
        let user = login.clone();
        Host { product, name, ownership: Ownership::Remote, address, login, user, mark }
    }

    fn restart(&mut self) -> Result<(), EngineError> {
        if let Ownership::Private { private, installation, version, arms } = &mut self.ownership {
            **private = Private::start(self.product, installation, &self.name, version, arms.as_ref())?;
            self.address = private.address().clone();
        }
        Ok(())
    }

    fn is_remote(&self) -> bool {
        matches!(self.ownership, Ownership::Remote)
    }

    /// Connects to the database to make others from.
    fn connect(&self) -> Result<Wire, String> {
        Wire::connect(&self.address, &self.login, &self.login.database, CONNECT_LIMIT)
    }

    /// Connects to a database that was made, to use it.
    fn connect_to(&self, name: &str) -> Result<Wire, String> {
        let database = match &self.databases().address {
            Some(address) => address.replace("{name}", name),
            None => name.to_string(),
        };
        Wire::connect(&self.address, &self.user, &database, CONNECT_LIMIT)
    }

    fn databases(&self) -> &'static Databases {
        &self.product.descriptor.databases
    }

    /// Makes a database; nothing is to be done where connecting to it does so.
    fn create(&self, wire: &mut Wire, name: &str) -> Result<(), String> {
        match self.databases().create.as_deref().unwrap_or_default() {
            "" => return Ok(()),
            create => told(wire.query(&create.replace("{name}", name), 0))?,
        }
        if self.user.user == self.login.user {
            return Ok(());
        }
        let role = &self.user.user;
        told(wire.query(&format!("ALTER DATABASE {name} OWNER TO {role}"), 0))?;
        // Before version 15 the schema does not belong to the owner of the database.
        let mut inside = Wire::connect(&self.address, &self.login, name, CONNECT_LIMIT)?;
        told(inside.query(&format!("ALTER SCHEMA public OWNER TO {role}"), 0))
    }

    fn drop(&self, wire: &mut Wire, name: &str) -> Result<(), String> {
        // Our last connection may need a moment to go.
        let mut last = Ok(());
        for attempt in 0..50 {
            let ways = &self.databases().drop;
            let Some(way) = ways.get(attempt).or(ways.last()) else { break };
            last = told(wire.query(&way.replace("{name}", name), 0));
            if last.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        last
    }

    /// What a server says its own version is.
    fn version(&self, wire: &mut Wire) -> Result<String, String> {
        own_version(self.product, wire)
    }
}

/// One connection, one database of its own.
pub struct PostgresEngine {
    host: Host,
    version: String,
    limits: Limits,
    /// `None` once the connection is lost.
    wire: Option<Wire>,
    /// The database that we made, on the server as it is now.
    database: Option<String>,
    resets: u32,
    last_prepared: u64,
}

impl PostgresEngine {
    fn open(host: Host) -> Result<PostgresEngine, EngineError> {
        let mut engine = PostgresEngine {
            host,
            version: String::new(),
            limits: Limits { millis: MILLIS, ..Limits::default() },
            wire: None,
            database: None,
            resets: 0,
            last_prepared: 0,
        };
        match engine.renew(false) {
            Ok(()) => Ok(engine),
            Err(reason) => Err(EngineError::NotStarted { what: engine.host.name.clone(), reason }),
        }
    }

    /// A new database and a new connection to it; if it is asked for, on a new server, where that is ours.
    fn renew(&mut self, restart: bool) -> Result<(), String> {
        self.wire = None;
        if restart && !self.host.is_remote() {
            self.host.restart().map_err(|error| error.to_string())?;
            self.database = None;
        }
        let mut first = self.connect_patiently()?;
        self.version = self.host.version(&mut first)?;
        if let Some(old) = self.database.take() {
            let _ = self.host.drop(&mut first, &old);
        }
        let name = own::fresh_name(self.host.mark.as_deref());
        self.host.create(&mut first, &name)?;
        self.database = Some(name);
        self.wire = Some(self.settled()?);
        self.resets = 0;
        Ok(())
    }

    /// A connection to our database with the session that every check begins with.
    fn settled(&self) -> Result<Wire, String> {
        let mut wire = self.host.connect_to(self.database.as_deref().unwrap_or_default())?;
        self.settle(&mut wire)?;
        Ok(wire)
    }

    fn settle(&self, wire: &mut Wire) -> Result<(), String> {
        let session = &self.host.product.descriptor.session;
        session.iter().chain(&self.time_limit()).try_for_each(|set| told(wire.query(set, 0)))
    }

    /// A server that somebody restarts is given some time.
    fn connect_patiently(&self) -> Result<Wire, String> {
        let start = Instant::now();
        loop {
            match self.host.connect() {
                Err(_) if self.is_waited_for() && start.elapsed() < CONNECT_LIMIT => {
                    std::thread::sleep(Duration::from_millis(200));
                }
                connected => return connected,
            }
        }
    }

    /// It was there, and only somebody else can start it again.
    fn is_waited_for(&self) -> bool {
        self.database.is_some() && self.host.is_remote()
    }

    /// The statement that limits the time of those after it. `None`: they are interrupted from outside.
    fn time_limit(&self) -> Option<String> {
        let limit = self.host.product.descriptor.time_limit(self.limits.millis, &self.version);
        limit.map(|limit| format!("SET {limit}"))
    }

    /// Empties the database that we made and forgets the session's settings. `Err`: it cannot be done.
    fn empty(&mut self) -> Result<(), String> {
        let mut wire = self.wire.take().ok_or("the connection is lost")?;
        let statements = &self.host.databases().empty;
        wire.set_limit(CONNECT_LIMIT).map_err(|error| error.to_string())?;
        if wire.in_transaction() {
            told(wire.query("ROLLBACK", 0))?;
        }
        statements.iter().try_for_each(|statement| told(wire.query(statement, 0)))?;
        self.settle(&mut wire)?;
        self.wire = Some(wire);
        Ok(())
    }

    /// Asks the server something that returns so many rows at most, within the limits.
    fn ask(&mut self, ask: impl FnOnce(&mut Wire, usize) -> io::Result<Reply>) -> Reply {
        // Where the engine keeps no limit of its own, there is none to wait for.
        let grace = if self.time_limit().is_some() { GRACE } else { Duration::ZERO };
        let limit = Duration::from_millis(self.limits.millis) + grace;
        let Some(wire) = self.wire.as_mut() else {
            let (class, code) = (ErrorClass::ConnectionLost, "server-gone".to_string());
            return Reply::Failed(SqlError { class, code, message: "the server is gone".to_string() });
        };
        match wire.set_limit(limit).and_then(|()| ask(wire, self.limits.rows)) {
            Ok(Reply::Failed(error)) => Reply::Failed(self.classed(error)),
            Ok(reply) => reply,
            Err(error) if is_late(&error) && self.time_limit().is_none() => Reply::Failed(self.interrupt()),
            Err(error) => Reply::Failed(self.lost(error)),
        }
    }

    /// The statement did not end when its time was over, which the server does not watch: another connection goes on.
    fn interrupt(&mut self) -> SqlError {
        if let Some(wire) = self.wire.take() {
            wire.ask_to_cancel();
        }
        self.wire = self.settled().ok();
        let message = format!("no result after {} ms", self.limits.millis);
        SqlError { class: ErrorClass::Limit, code: String::new(), message }
    }

    /// An error by what the engine's descriptor says of its code, where it does.
    fn classed(&self, error: SqlError) -> SqlError {
        let class = self.host.product.descriptor.error_class(&error.code, &error.message);
        SqlError { class: class.unwrap_or(error.class), ..error }
    }

    fn lost(&mut self, error: io::Error) -> SqlError {
        let hung = is_late(&error);
        self.wire = None;
        let (code, message) = match &mut self.host.ownership {
            _ if hung => {
                let seconds = (Duration::from_millis(self.limits.millis) + GRACE).as_secs();
                ("hang", format!("the statement ran for {seconds} s, beyond its time limit"))
            }
            Ownership::Private { private, .. } => {
                let words = private.last_words();
                ("server-gone", words.unwrap_or_else(|| error.to_string()))
            }
            Ownership::Remote => ("server-gone", error.to_string()),
        };
        SqlError { class: ErrorClass::ConnectionLost, code: code.to_string(), message }
    }
}

impl Engine for PostgresEngine {
    fn version(&self) -> &str {
        &self.version
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        self.resets += 1;
        let worn = self.resets >= RESETS_PER_DATABASE || self.host.databases().empty.is_empty();
        let renewed = match self.wire.is_some() {
            true if !worn && self.empty().is_ok() => return Ok(()),
            // The server may go in the middle of this too.
            true if worn => self.renew(false).or_else(|_| self.renew(true)),
            _ => self.renew(true),
        };
        renewed.map_err(|reason| Trouble(format!("cannot reset {}: {reason}", self.host.name)))
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        Ok(self.ask(|wire, rows| wire.query(sql, rows)))
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        if let (Some(limit), Some(wire)) = (self.time_limit(), self.wire.as_mut()) {
            // If this fails the connection is lost, which the next statement will see.
            let _ = wire.query(&limit, 0);
        }
    }

    fn prepare(&mut self, sql: &str, types: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        self.last_prepared += 1;
        let prepared = Prepared { number: self.last_prepared, sql: sql.to_string() };
        let types: Vec<u32> = types.iter().map(value::oid_of).collect();
        Ok(match self.ask(|wire, _| wire.prepare(&name_of(&prepared), sql, &types)) {
            Reply::Failed(error) => Err(error),
            _ => Ok(prepared),
        })
    }

    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let values: Vec<Written> = values.iter().map(value::write).collect();
        Ok(self.ask(|wire, rows| wire.run_prepared(&name_of(statement), &values, rows)))
    }

    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        self.ask(|wire, _| wire.forget(&name_of(&statement)));
        Ok(())
    }
}

/// What the server knows a prepared statement by. A number is never used again, so that a statement that is
/// gone with its connection is not taken for another.
fn name_of(statement: &Prepared) -> String {
    format!("dissent_{}", statement.number)
}

/// On a server that goes on without us, what we made is removed.
impl Drop for PostgresEngine {
    fn drop(&mut self) {
        self.wire = None;
        if let (true, Some(database)) = (self.host.is_remote(), self.database.take())
            && let Ok(mut wire) = self.host.connect()
        {
            let _ = self.host.drop(&mut wire, &database);
        }
    }
}

/// The names of all databases of a server.
fn databases(product: &'static Product, url: &ServerUrl) -> Result<Vec<String>, String> {
    let mut wire = Host::reach(product, url).connect()?;
    // Of a process that was killed in the middle of it. Relatives may not know the view, and need not.
    own::wait_until_made(|create| {
        let running = format!(
            "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '{create}%' LIMIT 1"
        );
        matches!(wire.query(&running, 1), Ok(Reply::Rows(rows)) if !rows.is_empty())
    });
    let text = |value| match value {
        Value::Text(name) => Some(name),
        _ => None,
    };
    match wire.query("SELECT datname FROM pg_database", usize::MAX) {
        Ok(Reply::Rows(rows)) => Ok(rows.values.into_iter().filter_map(text).collect()),
        other => told(other).map(|()| Vec::new()),
    }
}

/// `Err` for every statement that did not succeed.
fn told(reply: io::Result<Reply>) -> Result<(), String> {
    match reply {
        Ok(Reply::Failed(error)) => Err(error.message),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Nothing came within the time that an answer may take.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// What a server says the engine's own version is.
fn own_version(product: &Product, wire: &mut Wire) -> Result<String, String> {
    let Some(query) = &product.descriptor.version_query else { return Ok(version_in(wire.server_version())) };
    match wire.query(query, 1) {
        Ok(Reply::Rows(rows)) => match rows.single() {
            Some(Value::Text(told)) => Ok(version_in(product.descriptor.own_version(told))),
            other => Err(format!("its version is {other:?}")),
        },
        other => told(other).map(|()| String::new()),
    }
}

/// `17.10` out of `17.10 (Debian …)`, `19-rc1` out of `19rc1 (Debian …)`, `23.1.11` out of `Relative CCL v23.1.11 (…)`.
fn version_in(told: &str) -> String {
    let word =
        told.split_whitespace().find(|word| word.trim_start_matches('v').starts_with(char::is_numeric));
    let version = word.unwrap_or(told).trim_start_matches('v');
    // A preview has no point: `19rc1`. Written so, it is a version by its numbers.
    match version.find(|c: char| !c.is_ascii_digit()) {
        Some(end) if end > 0 && version[end..].starts_with(char::is_alphabetic) => {
            format!("{}-{}", &version[..end], &version[end..])
        }
        _ => version.to_string(),
    }
}
