//! A running server, over HTTP or HTTPS. User and password go in headers, never in URLs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dissent_core::engine::SqlError;
use rustls::ClientConfig;
use ureq::Agent;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, TcpConnector};

use super::encrypted::Encryption;
use super::errors;
use super::link::{Link, Question, hang, lost};
use crate::own;
use crate::product::Product;
use crate::url::ServerUrl;

/// The engine's own limit comes first; a server that does not keep it within this time has hung.
const GRACE: Duration = Duration::from_secs(3);
/// A server that somebody restarts is given some time.
const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST_ANSWER: u64 = 256 << 20;
/// Where servers answer to HTTPS; the descriptor knows their port for HTTP.
const HTTPS_PORT: u16 = 8443;

pub struct Remote {
    /// One connection, kept open between requests.
    agent: Agent,
    /// `None`: it is not encrypted.
    tls: Option<Arc<ClientConfig>>,
    address: String,
    user: String,
    password: String,
    /// What the server keeps settings and the database in use under.
    session: String,
    /// Nothing is sent until it is renewed.
    broken: bool,
}

impl Remote {
    /// `Err`: the certificates that it is to trust cannot be read.
    pub fn new(product: &Product, url: &ServerUrl) -> Result<Remote, String> {
        let host = match url.host() {
            host if host.contains(':') => format!("[{host}]"),
            host => host,
        };
        let (protocol, tls, usual_port) = match url.is_https() {
            true => ("https", Some(url.tls().client()?), Some(HTTPS_PORT)),
            false => ("http", None, product.descriptor.port),
        };
        let port = url.port().or(usual_port).unwrap_or_default();
        Ok(Remote {
            agent: agent(tls.clone()),
            tls,
            address: format!("{protocol}://{host}:{port}/"),
            user: url.user().or_else(|| product.descriptor.user.clone()).unwrap_or_default(),
            password: url.password().unwrap_or_default(),
            session: own::fresh_name(None),
            broken: false,
        })
    }

    fn ask(&mut self, question: &Question) -> Result<Vec<u8>, SqlError> {
        let limit = question.limit + GRACE;
        let mut request = self
            .agent
            .post(&self.address)
            .config()
            .timeout_global(Some(limit))
            .build()
            .header("X-ClickHouse-User", &self.user)
            .query("session_id", &self.session)
            .query("session_timeout", "600")
            // An answer is complete before it is sent: its status tells whether the statement succeeded.
            .query("wait_end_of_query", "1")
            .query("buffer_size", "1048576")
            .query("default_format", question.format);
        if !self.password.is_empty() {
            request = request.header("X-ClickHouse-Key", &self.password);
        }
        for (at, value) in question.parameters.iter().enumerate() {
            request = request.query(format!("param_p{}", at + 1), value);
        }
        let answer = request.send(question.sql).and_then(|mut answer| {
            let body = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec()?;
            Ok((answer.status(), body))
        });
        match answer {
            Ok((status, body)) if status.is_success() => Ok(body),
            Ok((_, body)) => Err(errors::error(String::from_utf8_lossy(&body).trim_end().to_string())),
            Err(ureq::Error::Timeout(_)) => Err(hang(limit)),
            Err(error) => Err(lost(error.to_string())),
        }
    }
}

fn agent(tls: Option<Arc<ClientConfig>>) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_idle_connections(1)
        .timeout_connect(Some(PATIENCE))
        // Statements go to the server that was named, and to no proxy.
        .proxy(None)
        .build();
    match tls {
        Some(tls) => {
            let connector = ().chain(TcpConnector::default()).chain(Encryption(tls));
            Agent::with_parts(config, connector, DefaultResolver::default())
        }
        None => config.new_agent(),
    }
}

impl Link for Remote {
    fn query(&mut self, question: &Question) -> Result<Vec<u8>, SqlError> {
        if self.broken {
            return Err(lost("the server is gone".to_string()));
        }
        let answer = self.ask(question);
        self.broken |=
            answer.as_ref().is_err_and(|error| error.class.is_harm() && error.code.parse::<u32>().is_err());
        answer
    }

    /// A session of its own: a statement of the old one may go on in it, and would keep it locked.
    fn renew(&mut self) -> Result<(), String> {
        self.agent = agent(self.tls.clone());
        self.session = own::fresh_name(None);
        let start = Instant::now();
        let hello = Question { sql: "SELECT 1", format: "Null", parameters: &[], limit: GRACE };
        loop {
            match self.ask(&hello) {
                Ok(_) => break,
                Err(error) if start.elapsed() > PATIENCE => return Err(error.message),
                Err(_) => std::thread::sleep(Duration::from_millis(200)),
            }
        }
        self.broken = false;
        Ok(())
    }

    fn is_shared(&self) -> bool {
        true
    }
}

/// The names of all databases of a server.
pub fn databases(product: &Product, url: &ServerUrl) -> Result<Vec<String>, String> {
    own::wait_until_made(|create| {
        let running = format!("SELECT 1 FROM system.processes WHERE query LIKE '{create}%' LIMIT 1");
        ask(product, url, &running).is_ok_and(|rows| !rows.is_empty())
    });
    let names = ask(product, url, "SELECT name FROM system.databases")?;
    Ok(names.lines().map(str::to_string).collect())
}

/// Drops a database. Without the word SYNC, later versions drop it some minutes later; earlier ones do not know it.
pub fn drop_database(product: &Product, url: &ServerUrl, name: &str) -> Result<(), String> {
    let drop = format!("DROP DATABASE IF EXISTS {name}");
    ask(product, url, &format!("{drop} SYNC")).or_else(|_| ask(product, url, &drop)).map(|_| ())
}

fn ask(product: &Product, url: &ServerUrl, sql: &str) -> Result<String, String> {
    let question = Question { sql, format: "TabSeparated", parameters: &[], limit: PATIENCE };
    let answer = Remote::new(product, url)?.query(&question).map_err(|error| error.message)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
