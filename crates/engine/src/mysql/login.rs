//! The address of a server, and our login.

use std::path::PathBuf;
use std::time::Duration;

use mysql::OptsBuilder;

use crate::product::Product;
use crate::url::ServerUrl;

/// Never printed: it holds a password.
#[derive(Clone)]
pub struct Login {
    address: Address,
    user: String,
    password: Option<String>,
    /// What the names of our databases contain.
    pub mark: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Address {
    Socket(PathBuf),
    Host { name: String, port: u16 },
}

impl Login {
    /// A server of our own, which trusts whoever reaches its socket.
    pub fn private(socket: PathBuf) -> Login {
        Login { address: Address::Socket(socket), user: "root".to_string(), password: None, mark: None }
    }

    /// Somebody's server.
    pub fn given(product: &Product, url: &ServerUrl) -> Login {
        let (engine, host) = (&product.descriptor, url.host());
        let address = if host.starts_with('/') {
            Address::Socket(host.into())
        } else {
            Address::Host { name: host, port: url.port().or(engine.port).unwrap_or_default() }
        };
        Login {
            address,
            user: url.user().or_else(|| engine.user.clone()).unwrap_or_default(),
            password: url.password(),
            mark: url.mark.clone(),
        }
    }

    /// How to connect; every read is given up after `patience`.
    pub fn options(&self, patience: Duration) -> OptsBuilder {
        let options = OptsBuilder::new()
            .user(Some(&self.user))
            .pass(self.password.as_ref())
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
    use crate::product;

    #[test]
    fn an_address_that_says_little_means_what_is_usual_for_the_engine() {
        let url = ServerUrl::parse("tidb://db.example/").unwrap();
        let login = Login::given(product::by_name("tidb").unwrap(), &url);
        assert_eq!(login.address, Address::Host { name: "db.example".to_string(), port: 4000 });
        assert_eq!(login.user, "root");
    }
}
