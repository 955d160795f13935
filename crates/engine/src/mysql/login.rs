//! The address of a server, and our login.

use std::path::PathBuf;
use std::time::Duration;

use mysql::{Conn, OptsBuilder, SslOpts};

use crate::launch::{LOOPBACK, Reach};
use crate::product::Product;
use crate::tls::{Mode, Tls};
use crate::url::ServerUrl;

/// Never printed: it holds a password.
#[derive(Clone)]
pub struct Login {
    address: Address,
    user: String,
    password: Option<String>,
    tls: Tls,
    /// What the names of our databases contain.
    pub mark: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Address {
    Socket(PathBuf),
    Host { name: String, port: u16 },
}

impl Login {
    /// A server of our own, which trusts whoever reaches it.
    pub fn private(reach: &Reach, user: &str) -> Login {
        let address = match reach {
            Reach::Socket(path) => Address::Socket(path.clone()),
            Reach::Port(port) => Address::Host { name: LOOPBACK.to_string(), port: *port },
        };
        let tls = Tls { mode: Mode::Disable, root: None };
        Login { address, user: user.to_string(), password: None, tls, mark: None }
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
            tls: url.tls(),
            mark: url.mark.clone(),
        }
    }

    /// Connects; every read is given up after `patience`.
    pub fn connect(&self, patience: Duration) -> mysql::Result<Conn> {
        let options = self.options(patience);
        let encrypted = match (&self.address, self.tls.mode) {
            (Address::Socket(_), _) | (_, Mode::Disable) => return Conn::new(options),
            (_, Mode::VerifyFull) => SslOpts::default(),
            // The client that we use would trust whatever any public authority has signed.
            (_, Mode::VerifyCa) => {
                let unsupported = "sslmode=verify-ca is not supported here; use verify-full";
                return Err(mysql::Error::IoError(std::io::Error::other(unsupported)));
            }
            _ => SslOpts::default().with_danger_accept_invalid_certs(true),
        };
        let root = self.tls.root.clone().map(std::borrow::Cow::Owned);
        match Conn::new(options.clone().ssl_opts(Some(encrypted.with_root_cert_path(root)))) {
            // It cannot, or it can nothing that we can too.
            Err(mysql::Error::DriverError(_) | mysql::Error::TlsError(_))
                if self.tls.mode == Mode::Prefer =>
            {
                Conn::new(options)
            }
            connected => connected,
        }
    }

    /// Whether a server that was just started answers.
    pub fn try_out(&self) -> Result<(), String> {
        self.connect(Duration::from_secs(10)).map(drop).map_err(|error| error.to_string())
    }

    fn options(&self, patience: Duration) -> OptsBuilder {
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
