//! MySQL and engines that speak its protocol: a private server of an installed version, or a running server, where
//! Dissent only uses databases that it created.

mod binary;
mod codes;
mod driver;
mod installed;
mod login;
mod values;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::time::Duration;

use dissent_core::engine::{Engine, ErrorClass, Limits, Prepared, Reply, Rows, SqlError, Trouble};
use dissent_core::sql::{DataType, Value};
use mysql::prelude::{Protocol, Queryable};
use mysql::{Conn, Params, QueryResult};

use crate::product::{self, Product};
use crate::{EngineError, own};
pub(crate) use driver::Mysql;
use installed::{Installed, Running, Starter};
use login::Login;

/// What a server may take beyond a statement's limit before it is interrupted from outside.
const GRACE: Duration = Duration::from_secs(2);

/// One connection, one database of its own.
pub struct MysqlEngine {
    product: &'static Product,
    login: Login,
    /// Our own server, and what it is started from. Ended after the connection.
    running: Option<Running>,
    starter: Option<Starter>,
    /// Absent after it broke, until the next reset.
    conn: Option<Conn>,
    version: String,
    limits: Limits,
    database: String,
    /// The database is there, and by our doing.
    made: bool,
    /// By number, as long as the connection lasts.
    prepared: HashMap<u64, mysql::Statement>,
    last_prepared: u64,
}

impl MysqlEngine {
    /// On a server of our own.
    fn start(product: &'static Product, starter: Starter) -> Result<MysqlEngine, EngineError> {
        let running = starter.start()?;
        MysqlEngine::open(product, running.login.clone(), Some(running), Some(starter))
    }

    /// On somebody's server; only databases that we made ourselves are touched.
    fn connect_to(product: &'static Product, login: Login) -> Result<MysqlEngine, EngineError> {
        MysqlEngine::open(product, login, None, None)
    }

    fn open(
        product: &'static Product,
        login: Login,
        running: Option<Running>,
        starter: Option<Starter>,
    ) -> Result<MysqlEngine, EngineError> {
        let database = own::fresh_name(login.mark.as_deref());
        let mut engine = MysqlEngine {
            product,
            login,
            running,
            starter,
            conn: None,
            version: String::new(),
            limits: Limits::default(),
            database,
            made: false,
            prepared: HashMap::new(),
            last_prepared: 0,
        };
        let unusable = |error: mysql::Error| product.not_started(told(&error));
        let mut conn = engine.connect().map_err(unusable)?;
        let version = told_version(product, &mut conn).map_err(unusable)?;
        if let Some(mistake) = mistaken(product, &version).filter(|_| engine.running.is_none()) {
            return Err(product.not_started(mistake));
        }
        engine.version = version_in(product, &version);
        engine.conn = Some(conn);
        engine.reset().map_err(|Trouble(reason)| product.not_started(reason))?;
        Ok(engine)
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(self.limits.millis) + GRACE
    }

    fn connect(&self) -> mysql::Result<Conn> {
        self.login.connect(self.patience())
    }

    /// A connection as if it had just been made, to a server that runs.
    fn fresh_connection(&mut self) -> Result<Conn, Trouble> {
        if let Some(mut conn) = self.conn.take()
            && conn.reset().is_ok()
        {
            return Ok(conn);
        }
        if self.running.as_mut().is_some_and(Running::has_ended) {
            self.restart()?;
        }
        let refused = match self.connect() {
            Ok(conn) => return Ok(conn),
            Err(error) => trouble(&error),
        };
        // It lives and does not answer: it would not answer to anything else either.
        if self.running.is_none() {
            return Err(refused);
        }
        self.restart()?;
        self.connect().map_err(|error| trouble(&error))
    }

    fn restart(&mut self) -> Result<(), Trouble> {
        if let Some(starter) = &self.starter {
            // The old one's memory first.
            self.running = None;
            let running = starter.start().map_err(|error| Trouble(error.to_string()))?;
            self.login = running.login.clone();
            self.running = Some(running);
            self.made = false;
        }
        Ok(())
    }

    /// An empty database.
    fn prepare(&mut self, conn: &mut Conn) -> mysql::Result<()> {
        let database = &self.database;
        if self.made {
            conn.query_drop(format!("DROP DATABASE IF EXISTS {database}"))?;
        }
        // Fails if there is such a database: then it is somebody else's.
        conn.query_drop(format!("CREATE DATABASE {database} CHARACTER SET utf8mb4"))?;
        self.made = true;
        self.settle(conn)
    }

    /// The session that every check begins with, in our own database.
    fn settle(&self, conn: &mut Conn) -> mysql::Result<()> {
        conn.select_db(&self.database)?;
        let descriptor = &self.product.descriptor;
        let limit = descriptor.time_limit(self.limits.millis, &self.version);
        let limit = limit.map(|limit| format!("SET {limit}"));
        descriptor.session.iter().chain(&limit).try_for_each(|set| conn.query_drop(set))
    }

    /// Asks the server something; what it fails with is a value.
    fn ask<T>(
        &mut self,
        ask: impl FnOnce(&mut Conn, &Limits) -> mysql::Result<T>,
    ) -> Result<Result<T, SqlError>, Trouble> {
        let Some(conn) = &mut self.conn else {
            let error = mysql::Error::IoError(ErrorKind::NotConnected.into());
            return Ok(Err(self.lost(&error)));
        };
        match ask(conn, &self.limits) {
            Ok(answer) => Ok(Ok(answer)),
            Err(mysql::Error::MySqlError(error)) => {
                let failure = codes::failure(error, &self.product.descriptor);
                if failure.class == ErrorClass::ConnectionLost {
                    self.conn = None;
                }
                Ok(Err(failure))
            }
            Err(error) if is_late(&error) => self.interrupt().map(Err),
            Err(error) => Ok(Err(self.lost(&error))),
        }
    }

    /// The statement did not end when its time was over: interrupted over another connection; if that does
    /// not help, our own server is killed and started again, without the tables it had.
    fn interrupt(&mut self) -> Result<SqlError, Trouble> {
        self.prepared.clear();
        let stuck = self.conn.take().map(|conn| conn.connection_id());
        let killed = self.connect().and_then(|mut conn| match stuck {
            Some(id) => conn.query_drop(format!("KILL {id}")).map(|()| conn),
            None => Ok(conn),
        });
        match killed {
            Ok(mut conn) => {
                if self.settle(&mut conn).is_ok() {
                    self.conn = Some(conn);
                }
            }
            Err(_) => {
                self.restart()?;
                self.reset()?;
            }
        }
        Ok(over_limit(format!("no result after {} ms", self.patience().as_millis())))
    }

    /// The connection broke: our own server tells how it ended.
    fn lost(&mut self, error: &mysql::Error) -> SqlError {
        self.conn = None;
        let message = match self.running.as_mut().and_then(Running::last_words) {
            Some(words) => format!("the server died: {words}"),
            None => format!("the connection broke: {}", told(error)),
        };
        SqlError { class: ErrorClass::ConnectionLost, code: "2013".to_string(), message }
    }
}

/// What is wrong with taking a server that says this is its version for this product.
fn mistaken(product: &Product, version: &str) -> Option<String> {
    let says =
        |product: &Product| product.descriptor.version_says.as_deref().map(|word| version.contains(word));
    let other = |other: &&Product| other.descriptor.version_says != product.descriptor.version_says;
    if let Some(other) = product::products().filter(other).find(|other| says(other) == Some(true)) {
        let address = other.address().unwrap_or_default();
        return Some(format!("the server is {} ({version}); use {address}", other.title()));
    }
    (says(product) == Some(false)).then(|| format!("the server is not {} ({version})", product.title()))
}

/// The names of all databases of a server that this login sees.
fn databases(login: &Login) -> Result<Vec<String>, String> {
    let names = login.connect(GRACE + GRACE).and_then(|mut conn| {
        own::wait_until_made(|create| {
            let running =
                format!("SELECT 1 FROM information_schema.processlist WHERE info LIKE '{create}%' LIMIT 1");
            matches!(conn.query_first::<u8, _>(running), Ok(Some(_)))
        });
        conn.query("SHOW DATABASES")
    });
    names.map_err(|error| told(&error))
}

fn drop_database(login: &Login, name: &str) -> Result<(), String> {
    let dropped = login
        .connect(GRACE + GRACE)
        .and_then(|mut conn| conn.query_drop(format!("DROP DATABASE IF EXISTS {name}")));
    dropped.map_err(|error| told(&error))
}

/// What a server says its version is.
fn told_version(product: &Product, conn: &mut Conn) -> mysql::Result<String> {
    let query = product.descriptor.version_query.as_deref().unwrap_or("SELECT VERSION()");
    Ok(conn.query_first(query)?.unwrap_or_default())
}

/// The engine's own number in what `VERSION()` returns.
fn version_in(product: &Product, told: &str) -> String {
    let told = product.descriptor.own_version(told);
    told.split(['-', '+', ' ']).next().unwrap_or(told).to_string()
}

/// Reads an answer to its end.
fn read<P: Protocol>(
    mut result: QueryResult<'_, '_, '_, P>,
    product: &Product,
    limits: &Limits,
) -> mysql::Result<Reply> {
    let columns = result.columns();
    let columns = columns.as_ref();
    if columns.is_empty() {
        return Ok(Reply::Done { changed: result.affected_rows() });
    }
    let mut columns = columns.to_vec();
    if product.descriptor.hides_digits {
        columns = columns.into_iter().map(binary::with_all_digits).collect();
    }
    let (mut values, mut room) = (Vec::new(), limits.memory_bytes);
    // What is left of the result when it is dropped is read and thrown away.
    for row in result.by_ref() {
        if values.len() / columns.len() >= limits.rows {
            return Ok(Reply::Failed(over_limit(format!("more than {} rows", limits.rows))));
        }
        for (cell, column) in std::iter::zip(row?.unwrap_raw(), &columns) {
            let cell = cell.and_then(|cell| binary::spelled(cell, column));
            let size = cell.as_ref().map_or(0, |bytes| bytes.len() as u64);
            if size > room {
                return Ok(Reply::Failed(over_limit(format!("more than {} bytes", limits.memory_bytes))));
            }
            room -= size;
            values.push(values::value(cell, column));
        }
    }
    Ok(Reply::Rows(Rows { columns: columns.len(), values }))
}

/// A result that we, not the server, have no time or room for: it has no number of the server's.
fn over_limit(message: String) -> SqlError {
    SqlError { class: ErrorClass::Limit, code: String::new(), message }
}

fn told(error: &mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(error) => error.message.clone(),
        other => other.to_string(),
    }
}

/// Nothing came within the time that a read may take.
fn is_late(error: &mysql::Error) -> bool {
    let cause = match error {
        mysql::Error::IoError(error) => Some(error),
        mysql::Error::CodecError(error) => {
            std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<std::io::Error>())
        }
        _ => None,
    };
    cause.is_some_and(|cause| matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

fn trouble(error: &mysql::Error) -> Trouble {
    Trouble(format!("cannot use the server: {}", told(error)))
}

impl Engine for MysqlEngine {
    fn version(&self) -> &str {
        &self.version
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        self.prepared.clear();
        let mut conn = self.fresh_connection()?;
        self.prepare(&mut conn).map_err(|error| trouble(&error))?;
        self.conn = Some(conn);
        Ok(())
    }

    fn execute(&mut self, sql: &str) -> Result<Reply, Trouble> {
        let product = self.product;
        let answer = self.ask(|conn, limits| read(conn.query_iter(sql)?, product, limits))?;
        Ok(answer.unwrap_or_else(Reply::Failed))
    }

    fn set_limits(&mut self, limits: Limits) {
        let before = std::mem::replace(&mut self.limits, limits);
        if before.millis == limits.millis {
            return;
        }
        // The patience of a connection is set when it is made.
        self.prepared.clear();
        self.conn = self.connect().and_then(|mut conn| self.settle(&mut conn).map(|()| conn)).ok();
    }

    /// The types of parameters are those of the values.
    fn stack(&self) -> Vec<String> {
        self.running.as_ref().map(Running::stack).unwrap_or_default()
    }

    fn prepare(&mut self, sql: &str, _: &[DataType]) -> Result<Result<Prepared, SqlError>, Trouble> {
        let statement = match self.ask(|conn, _| conn.prep(sql))? {
            Ok(statement) => statement,
            Err(error) => return Ok(Err(error)),
        };
        self.last_prepared += 1;
        self.prepared.insert(self.last_prepared, statement);
        Ok(Ok(Prepared { number: self.last_prepared, sql: sql.to_string() }))
    }

    fn execute_prepared(&mut self, statement: &Prepared, values: &[Value]) -> Result<Reply, Trouble> {
        let Some(statement) = self.prepared.get(&statement.number).cloned() else {
            return Ok(Reply::Failed(Prepared::lost()));
        };
        let wanted = usize::from(statement.num_params());
        if wanted != values.len() {
            let message = format!("{} values for {wanted} parameters", values.len());
            let (class, code) = (ErrorClass::Semantic, String::new());
            return Ok(Reply::Failed(SqlError { class, code, message }));
        }
        let values = match values {
            [] => Params::Empty,
            values => Params::Positional(values.iter().map(binary::bound).collect()),
        };
        let product = self.product;
        let answer = self.ask(|conn, limits| read(conn.exec_iter(&statement, values)?, product, limits))?;
        Ok(answer.unwrap_or_else(Reply::Failed))
    }

    fn close_prepared(&mut self, statement: Prepared) -> Result<(), Trouble> {
        if let Some(statement) = self.prepared.remove(&statement.number) {
            // It is fine if this fails: the next reset drops everything.
            let _ = self.ask(|conn, _| conn.close(statement))?;
        }
        Ok(())
    }
}

impl Drop for MysqlEngine {
    fn drop(&mut self) {
        // Our own server goes with all it has.
        if let (None, Some(conn), true) = (&self.running, &mut self.conn, self.made) {
            let _ = conn.query_drop(format!("DROP DATABASE IF EXISTS {}", self.database));
        }
    }
}
