//! Servers by URL: `scheme://user:password@host:port/database`. Passwords are never shown.

use std::fmt;

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use url::{ParseError, Url};

/// What stands for a password in print.
const HIDDEN: &str = "***";

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
        let url = ServerUrl { address, mark: None };
        if url.host().is_empty() {
            return Err("it names no host");
        }
        if url.address.path().matches('/').count() > 1
            || url.address.query().or(url.address.fragment()).is_some()
        {
            return Err("options and anything after the database are not supported");
        }
        if url.address.password() == Some(HIDDEN) {
            return Err("its password was not saved; give the full URL again");
        }
        Ok(url)
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

/// As it may be printed and kept: without the password.
impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.address.clone();
        match shown.password().is_some() && shown.set_password(Some(HIDDEN)).is_err() {
            true => Err(fmt::Error),
            false => f.write_str(shown.as_str()),
        }
    }
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
        assert_eq!(url.to_string(), "postgres://me:***@localhost/app");
        assert!(!format!("{url:?}").contains("s3cret"));
        let json = serde_json::to_string(&url).unwrap();
        assert_eq!(serde_json::from_str::<ServerUrl>(&json).unwrap(), url);
        assert!(ServerUrl::parse(&url.to_string()).unwrap_err().starts_with("its password was not saved"));
    }

    #[test]
    fn a_password_may_come_from_elsewhere() {
        let given = |text: &str| ServerUrl::parse(text).unwrap().or_password(Some("env:/".to_string()));
        assert_eq!(given("mysql://h/").password().as_deref(), Some("env:/"));
        assert_eq!(given("mysql://h/").to_string(), "mysql://:***@h/");
        assert_eq!(given("mysql://me:own@h/").password().as_deref(), Some("own"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, wrong) in [
            ("postgres:/x", "it has no '://'"),
            ("postgres://", "it names no host"),
            ("postgres://h:x/", "its port is not a number"),
            ("postgres://h/db?sslmode=require", "options and anything after the database are not supported"),
            ("postgres://h/db/more", "options and anything after the database are not supported"),
            ("postgres://a b/", "it is not a URL"),
        ] {
            assert_eq!(ServerUrl::parse(text).unwrap_err(), wrong, "{text}");
        }
    }
}
