//! Where a server is and who we are to it; `mysql://user:password@host:port/`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use mysql::OptsBuilder;
use serde::{Deserialize, Serialize};

use super::Flavour;
use crate::EngineError;

/// The password for a URL without one: what stands on a command line is seen by everybody.
const PASSWORD: &str = "DISSENT_PASSWORD";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    pub flavour: Flavour,
    pub address: Address,
    user: String,
    password: Option<Secret>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    Socket(PathBuf),
    Host { name: String, port: u16 },
}

/// Handed to workers, never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Login {
    /// A server of our own, which trusts whoever reaches its socket.
    pub fn private(flavour: Flavour, socket: PathBuf) -> Login {
        Login { flavour, address: Address::Socket(socket), user: "root".to_string(), password: None }
    }

    /// `rest` is what follows `mysql://`.
    pub fn parse(flavour: Flavour, rest: &str) -> Result<Login, EngineError> {
        let refuse = |why: &str| {
            let (scheme, why) = (flavour.name().to_string(), why.to_string());
            EngineError::MalformedUrl { scheme, why }
        };
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        if !database.is_empty() {
            return Err(refuse("it names a database, and Dissent only uses databases that it makes itself"));
        }
        let (who, server) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = match who.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (who, None),
        };
        let decode = |text: &str| decoded(text).ok_or_else(|| refuse("it has a % without two digits"));
        let password = password.map(decode).transpose()?;
        if password.as_deref() == Some(MASK) {
            return Err(refuse("its password was left out when it was written down: give the URL again"));
        }
        let (name, port) = match server.rsplit_once(':') {
            Some((name, port)) => {
                (name, port.parse().map_err(|_| refuse("what follows the last : is no port"))?)
            }
            None => (server, flavour.default_port()),
        };
        if name.is_empty() {
            return Err(refuse("it names no host"));
        }
        let name = name.trim_start_matches('[').trim_end_matches(']').to_string();
        let user = if user.is_empty() { "root".to_string() } else { decode(user)? };
        let from_environment = || std::env::var(PASSWORD).ok().filter(|password| !password.is_empty());
        let password = password.or_else(from_environment).map(Secret);
        Ok(Login { flavour, address: Address::Host { name, port }, user, password })
    }

    /// How to connect; every read is given up after `patience`.
    pub fn options(&self, patience: Duration) -> OptsBuilder {
        let options = OptsBuilder::new()
            .user(Some(&self.user))
            .pass(self.password.as_ref().map(|secret| secret.0.as_str()))
            .prefer_socket(false)
            // Given, so that it need not be asked for.
            .max_allowed_packet(Some(64 << 20))
            .stmt_cache_size(0)
            .tcp_connect_timeout(Some(Duration::from_secs(10)))
            .read_timeout(Some(patience))
            .write_timeout(Some(patience));
        match &self.address {
            Address::Socket(path) => options.socket(Some(path.to_string_lossy())),
            Address::Host { name, port } => options.ip_or_hostname(Some(name)).tcp_port(*port),
        }
    }
}

const MASK: &str = "***";

/// A URL as it may be shown: without its password.
pub fn masked(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_string() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((who, server)) => {
            let who = who.split_once(':').map_or(who.to_string(), |(user, _)| format!("{user}:{MASK}"));
            format!("{scheme}://{who}@{server}{path}")
        }
        None => url.to_string(),
    }
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let login = Login::parse(Flavour::Mysql, "me:p%40ss:w@db.example:3307/").unwrap();
        assert_eq!(login.address, Address::Host { name: "db.example".to_string(), port: 3307 });
        assert_eq!((login.user.as_str(), &login.password.as_ref().unwrap().0[..]), ("me", "p@ss:w"));
        let login = Login::parse(Flavour::Tidb, "u:p@localhost").unwrap();
        assert_eq!(login.address, Address::Host { name: "localhost".to_string(), port: 4000 });
    }

    #[test]
    fn a_bad_url_is_refused_in_one_sentence() {
        let refusal = |rest| Login::parse(Flavour::Mysql, rest).unwrap_err().to_string();
        assert!(refusal("me@host/shop").contains("only uses databases that it makes itself"));
        assert!(refusal("me@").contains("no host"));
        assert!(refusal("me@host:x").contains("no port"));
        assert!(refusal("me:***@host").contains("was left out"));
    }

    #[test]
    fn no_password_is_ever_shown() {
        let login = Login::parse(Flavour::Mysql, "me:hunter2@host/").unwrap();
        assert!(!format!("{login:?}").contains("hunter2"));
        assert_eq!(masked("mysql://me:hunter2@host:3306/"), "mysql://me:***@host:3306/");
        assert_eq!(masked("mysql://me@host/"), "mysql://me@host/");
        assert_eq!(masked("mysql@9.7"), "mysql@9.7");
    }
}
