//! Where a server is and who we are to it.

use std::path::PathBuf;
use std::time::Duration;

use mysql::OptsBuilder;
use serde::{Deserialize, Serialize};

use super::Flavour;
use crate::url::{Secret, ServerUrl};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    pub flavour: Flavour,
    pub address: Address,
    user: String,
    password: Option<Secret>,
    /// What the names of our databases contain.
    #[serde(default)]
    pub mark: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    Socket(PathBuf),
    Host { name: String, port: u16 },
}

impl Login {
    /// A server of our own, which trusts whoever reaches its socket.
    pub fn private(flavour: Flavour, socket: PathBuf) -> Login {
        Login {
            flavour,
            address: Address::Socket(socket),
            user: "root".to_string(),
            password: None,
            mark: None,
        }
    }

    /// Somebody's server. Without a password in its address there may be one in the environment, where the
    /// family's own clients look.
    pub fn given(flavour: Flavour, url: &ServerUrl) -> Login {
        let from_environment = || std::env::var("MYSQL_PWD").ok().map(Secret::new);
        let address = if url.host.starts_with('/') {
            Address::Socket(url.host.clone().into())
        } else {
            let port = url.port.unwrap_or_else(|| flavour.default_port());
            Address::Host { name: url.host.clone(), port }
        };
        Login {
            flavour,
            address,
            user: url.user.clone().unwrap_or_else(|| "root".to_string()),
            password: url.password.clone().or_else(from_environment),
            mark: url.mark.clone(),
        }
    }

    /// How to connect; every read is given up after `patience`.
    pub fn options(&self, patience: Duration) -> OptsBuilder {
        let options = OptsBuilder::new()
            .user(Some(&self.user))
            .pass(self.password.as_ref().map(|secret| secret.reveal()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_flavours_port_and_shows_no_password() {
        let url = ServerUrl::parse("tidb://me:hunter2@db.example/").unwrap();
        let login = Login::given(Flavour::Tidb, &url);
        assert_eq!(login.address, Address::Host { name: "db.example".to_string(), port: 4000 });
        assert!(!format!("{login:?}").contains("hunter2"));
    }
}
