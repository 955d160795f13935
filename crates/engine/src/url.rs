//! Servers by URL: `scheme://user:password@host:port/database`. Passwords are never shown.

use std::fmt;

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use url::{ParseError, Url};

use crate::tls::{self, Tls};

/// What stands for a password in print.
const HIDDEN: &str = "***";

/// The options that may follow the database.
const OPTIONS: [&str; 2] = ["sslmode", "sslrootcert"];

/// A server that somebody else runs. It may travel to our own processes with its password, and is printed without.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerUrl {
    address: Url,
    /// What the names of the databases that we make there contain, so that another process can tell whose they are.
    #[serde(default)]
    pub mark: Option<String>,
}

impl ServerUrl {
    /// `Err` says what is wrong, and never repeats the text.
    pub fn parse(text: &str) -> Result<ServerUrl, &'static str> {
        if !text.contains("://") {
            return Err("it has no '://'");
        }
        let address = Url::parse(text).map_err(|error| match error {
            ParseError::InvalidPort => "its port is not a number",
            ParseError::EmptyHost => "it names no host",
            _ => "it is not a URL",
        })?;
        let mut url = ServerUrl { address, mark: None };
        if url.host().is_empty() {
            return Err("it names no host");
        }
        if url.address.path().matches('/').count() > 1 || url.address.fragment().is_some() {
            return Err("nothing but options may follow the database");
        }
        if url.address.query_pairs().any(|(name, _)| !OPTIONS.contains(&&*name)) {
            return Err("its only options are sslmode and sslrootcert");
        }
        url.read_tls()?;
        if url.address.password() == Some(HIDDEN) {
            // Copied from what was printed: the password comes from elsewhere.
            let _ = url.address.set_password(None);
        }
        Ok(url)
    }

    fn option(&self, name: &str) -> Option<String> {
        self.address.query_pairs().find(|(given, _)| given == name).map(|(_, value)| value.into_owned())
    }

    /// Whether and how the connection is encrypted.
    pub fn tls(&self) -> Tls {
        // Read before, when the address was.
        self.read_tls().unwrap_or_default()
    }

    fn read_tls(&self) -> Result<Tls, &'static str> {
        Tls::read(self.scheme(), self.option(OPTIONS[0]).as_deref(), self.option(OPTIONS[1]))
    }

    /// What stands before `://`.
    pub fn scheme(&self) -> &str {
        self.address.scheme()
    }

    pub fn is_https(&self) -> bool {
        tls::is_https(self.scheme())
    }

    /// The same server, with this password unless there is one.
    pub fn or_password(mut self, password: Option<String>) -> ServerUrl {
        if self.address.password().is_none() && password.is_some() {
            // Refused only where there is no host.
            let _ = self.address.set_password(password.as_deref());
        }
        self
    }

    pub fn user(&self) -> Option<String> {
        filled(self.address.username())
    }

    pub fn password(&self) -> Option<String> {
        self.address.password().map(decoded)
    }

    /// A name, an address, or the directory of a Unix socket, its slashes written `%2F`.
    pub fn host(&self) -> String {
        decoded(self.address.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']'))
    }

    pub fn port(&self) -> Option<u16> {
        self.address.port()
    }

    /// The database to log in to; Dissent makes its own.
    pub fn database(&self) -> Option<String> {
        filled(self.address.path().trim_start_matches('/'))
    }
}

fn filled(text: &str) -> Option<String> {
    Some(decoded(text)).filter(|text| !text.is_empty())
}

/// `%40` is an `@`.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// As it may be printed and kept: without the password. Typed again, it takes that from the environment.
impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.address.clone();
        match shown.password().is_some() && shown.set_password(None).is_err() {
            true => Err(fmt::Error),
            false => f.write_str(shown.as_str()),
        }
    }
}

/// A word that may be the address of a server, without what may be its password, whether or not it can be read as one.
pub fn hide_password(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_string() };
    let (login, place) = match rest.rsplit_once('@') {
        Some((login, place)) => (login, format!("@{place}")),
        // Without a host, what follows the colon is a port at best.
        None if rest
            .split_once(':')
            .is_some_and(|(_, port)| port.starts_with(|c: char| !c.is_ascii_digit())) =>
        {
            (rest, String::new())
        }
        None => return word.to_string(),
    };
    match login.split_once(':') {
        Some((user, _)) => format!("{scheme}://{user}:{HIDDEN}{place}"),
        None => word.to_string(),
    }
}

/// A text without the passwords in addresses that it repeats.
pub fn hide_passwords(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || "'\"`<>()".contains(c);
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c| !is_end(c)) {
        let end = rest[start..].find(is_end).map_or(rest.len(), |length| start + length);
        out.push_str(&rest[..start]);
        out.push_str(&hide_password(&rest[start..end]));
        rest = &rest[end..];
    }
    out + rest
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read() {
        let url = ServerUrl::parse("postgres://me:p%40ss:w@db.example:5433/app").unwrap();
        assert_eq!((url.user().as_deref(), url.password().as_deref()), (Some("me"), Some("p@ss:w")));
        assert_eq!((url.host().as_str(), url.port()), ("db.example", Some(5433)));
        assert_eq!(url.database().as_deref(), Some("app"));
        let bare = ServerUrl::parse("mysql://[::1]:3306").unwrap();
        assert_eq!((bare.host().as_str(), bare.port(), bare.user()), ("::1", Some(3306), None));
        let socket = ServerUrl::parse("postgres://me@%2Ftmp%2Fs/").unwrap();
        assert_eq!(
            (socket.host().as_str(), socket.to_string().as_str()),
            ("/tmp/s", "postgres://me@%2Ftmp%2Fs/")
        );
        let bold = ServerUrl::parse("mysql://me:a@b c@h/").unwrap();
        assert_eq!((bold.host().as_str(), bold.password().as_deref()), ("h", Some("a@b c")));
    }

    #[test]
    fn a_password_is_never_shown() {
        let url = ServerUrl::parse("postgres://me:s3cret@localhost/app").unwrap();
        assert_eq!(url.to_string(), "postgres://me@localhost/app");
        assert!(!format!("{url:?}").contains("s3cret"));
        let json = serde_json::to_string(&url).unwrap();
        assert_eq!(serde_json::from_str::<ServerUrl>(&json).unwrap(), url);
        assert_eq!(ServerUrl::parse("postgres://me:***@localhost/app").unwrap().password(), None);
    }

    #[test]
    fn a_password_may_come_from_elsewhere() {
        let given = |text: &str| ServerUrl::parse(text).unwrap().or_password(Some("env:/".to_string()));
        assert_eq!(given("mysql://h/").password().as_deref(), Some("env:/"));
        assert_eq!(given("mysql://h/").to_string(), "mysql://h/");
        assert_eq!(given("mysql://me:***@h/").password().as_deref(), Some("env:/"));
        assert_eq!(given("mysql://me:own@h/").password().as_deref(), Some("own"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, wrong) in [
            ("postgres:/x", "it has no '://'"),
            ("postgres://", "it names no host"),
            ("postgres://h:x/", "its port is not a number"),
            (
                "postgres://h/db?sslmode=perhaps",
                "its sslmode is not disable, prefer, require, verify-ca or verify-full",
            ),
            ("postgres://h/db?sslmode=verify-full", "its sslmode needs sslrootcert=FILE"),
            ("clickhouse+http://h/?sslmode=require", "it is not encrypted: use https, or no sslmode"),
            (
                "clickhouse+https://h/?sslmode=prefer",
                "https is always encrypted: use sslmode require, verify-ca or verify-full",
            ),
            ("postgres://h/db?options=-c", "its only options are sslmode and sslrootcert"),
            ("postgres://h/db/more", "nothing but options may follow the database"),
            ("postgres://a b/", "it is not a URL"),
        ] {
            assert_eq!(ServerUrl::parse(text).unwrap_err(), wrong, "{text}");
        }
    }

    #[test]
    fn a_password_is_hidden_in_what_cannot_be_read() {
        for (text, hidden) in [
            ("postgres://me:s3cret@h:x/", "postgres://me:***@h:x/"),
            ("pg://me:s3/c:r@et@h/", "pg://me:***@h/"),
            ("postgres://me:s3cret", "postgres://me:***"),
            ("postgres://h:5432/", "postgres://h:5432/"),
            ("postgres://me@h:5432/", "postgres://me@h:5432/"),
            ("sqlite@3.30.1", "sqlite@3.30.1"),
        ] {
            assert_eq!(hide_password(text), hidden);
            let told = format!("unexpected argument '{text}' found\n  twice: {text}");
            assert_eq!(hide_passwords(&told), told.replace(text, hidden));
        }
    }
}
