//! Servers by address: `scheme://user:password@host:port/database`. Passwords are never shown.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A text that may travel to our own processes and is never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

/// What stands for a password in print.
const HIDDEN: &str = "***";

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// A server that somebody else runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerUrl {
    pub scheme: String,
    pub user: Option<String>,
    pub password: Option<Secret>,
    /// A name, an address, or the directory of a Unix socket, its slashes written `%2F`.
    pub host: String,
    pub port: Option<u16>,
    /// The database to log in to; Dissent makes its own.
    pub database: Option<String>,
    /// What the names of those contain, so that another process can tell whose they are.
    #[serde(default)]
    pub mark: Option<String>,
}

impl ServerUrl {
    /// `Err` says what is wrong, and never repeats the text.
    pub fn parse(text: &str) -> Result<ServerUrl, &'static str> {
        let (scheme, rest) = text.split_once("://").ok_or("it has no '://'")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if path.contains(['?', '#', '/']) || authority.contains(['?', '#']) {
            return Err("nothing may follow the database, and options are not known");
        }
        // A password may hold an '@'; a host cannot.
        let (login, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = match login.split_once(':') {
            Some((user, password)) => (user, Some(Secret(decode(password)?))),
            None => (login, None),
        };
        if password.as_ref().is_some_and(|password| password.0 == HIDDEN) {
            return Err("its password was not kept; give the whole address again");
        }
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') && !port.contains(']') => {
                (host, Some(port.parse().map_err(|_| "its port is no number")?))
            }
            _ => (host, None),
        };
        let host = decode(host.trim_start_matches('[').trim_end_matches(']'))?;
        if host.is_empty() {
            return Err("it names no host");
        }
        let filled = |text: String| Some(text).filter(|text| !text.is_empty());
        Ok(ServerUrl {
            scheme: scheme.to_string(),
            user: filled(decode(user)?),
            password,
            host,
            port,
            database: filled(decode(path)?),
            mark: None,
        })
    }
}

/// As it may be printed and kept: without the password.
impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme)?;
        if let Some(user) = &self.user {
            f.write_str(user)?;
            if self.password.is_some() {
                write!(f, ":{HIDDEN}")?;
            }
            f.write_str("@")?;
        }
        if self.host.contains('/') {
            f.write_str(&self.host.replace('/', "%2F"))?;
        } else if self.host.contains(':') {
            write!(f, "[{}]", self.host)?;
        } else {
            f.write_str(&self.host)?;
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", self.database.as_deref().unwrap_or_default())
    }
}

/// `%40` is an `@`.
fn decode(text: &str) -> Result<String, &'static str> {
    const WRONG: &str = "a '%' in it is not followed by two hexadecimal digits";
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let digits = part.get(..2).ok_or(WRONG)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| WRONG)?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read() {
        let url = ServerUrl::parse("postgres://me:p%40ss:w@db.example:5433/app").unwrap();
        assert_eq!(url.user.as_deref(), Some("me"));
        assert_eq!(url.password.as_ref().unwrap().reveal(), "p@ss:w");
        assert_eq!((url.host.as_str(), url.port), ("db.example", Some(5433)));
        assert_eq!(url.database.as_deref(), Some("app"));
        let bare = ServerUrl::parse("mysql://[::1]:3306").unwrap();
        assert_eq!((bare.host.as_str(), bare.port, bare.user), ("::1", Some(3306), None));
        let socket = ServerUrl::parse("postgres://me@%2Ftmp%2Fs/").unwrap();
        assert_eq!(
            (socket.host.as_str(), socket.to_string().as_str()),
            ("/tmp/s", "postgres://me@%2Ftmp%2Fs/")
        );
    }

    #[test]
    fn a_password_is_never_shown() {
        let url = ServerUrl::parse("postgres://me:s3cret@localhost/app").unwrap();
        assert_eq!(url.to_string(), "postgres://me:***@localhost/app");
        assert!(!format!("{url:?}").contains("s3cret"));
        let json = serde_json::to_string(&url).unwrap();
        assert_eq!(serde_json::from_str::<ServerUrl>(&json).unwrap(), url);
        assert!(ServerUrl::parse(&url.to_string()).unwrap_err().starts_with("its password was not kept"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, wrong) in [
            ("postgres:/x", "it has no '://'"),
            ("postgres://", "it names no host"),
            ("postgres://h:x/", "its port is no number"),
            ("postgres://h/db?sslmode=require", "nothing may follow the database, and options are not known"),
            ("postgres://u%4@h/", "a '%' in it is not followed by two hexadecimal digits"),
        ] {
            assert_eq!(ServerUrl::parse(text).unwrap_err(), wrong, "{text}");
        }
    }
}
