//! Where a fleet meets, and how a machine logs in there.

use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, bail};
use async_nats::ConnectOptions;
use percent_encoding::percent_decode_str;
use url::Url;

/// `nats://HOST/CAMPAIGN`, or `tls://`.
#[derive(Clone)]
pub struct Address {
    url: Url,
    /// The name of the campaign.
    pub campaign: String,
}

impl Address {
    /// Reads an address. Passwords may stand in it; tokens and files are named by the environment, as other clients of
    /// NATS read it.
    pub fn parse(text: &str) -> anyhow::Result<Address> {
        let hidden = || "write it as nats://HOST/CAMPAIGN";
        let mut url =
            Url::parse(text).with_context(|| format!("invalid address of a fleet; {}", hidden()))?;
        if !matches!(url.scheme(), "nats" | "tls") || url.host_str().is_none_or(str::is_empty) {
            bail!("invalid address of a fleet; {}", hidden());
        }
        if !url.username().is_empty() && url.password().is_none() {
            bail!("the address of the fleet has a user and no password; a token goes into NATS_TOKEN");
        }
        let campaign = url.path().trim_matches('/').to_string();
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if campaign.is_empty() || campaign.len() > 64 || !campaign.chars().all(fits) {
            bail!(
                "the fleet's address ends with the name of the campaign, of letters, digits, - and _; {}",
                hidden()
            );
        }
        url.set_path("");
        Ok(Address { url, campaign })
    }

    /// The server, without user and password.
    pub fn shown(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        format!("{}://{host}:{}", self.url.scheme(), self.url.port().unwrap_or(4222))
    }

    /// How to log in: what the environment says, and on top of it the address.
    pub(crate) async fn options(&self) -> anyhow::Result<ConnectOptions> {
        let options = Address::options_of_environment().await?;
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        Ok(match self.url.password() {
            Some(password) => options.user_and_password(decoded(self.url.username()), decoded(password)),
            None => options,
        })
    }

    async fn options_of_environment() -> anyhow::Result<ConnectOptions> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let mut options = ConnectOptions::new();
        if let Some(token) = variable("NATS_TOKEN") {
            options = options.token(token);
        }
        match (variable("NATS_USER"), variable("NATS_PASSWORD")) {
            (Some(user), Some(password)) => options = options.user_and_password(user, password),
            (None, None) => {}
            _ => bail!("NATS_USER and NATS_PASSWORD must be set together"),
        }
        if let Some(seed) = variable("NATS_NKEY") {
            options = options.nkey(seed);
        }
        if let Some(path) = variable("NATS_CREDS") {
            let read = options.credentials_file(&path).await;
            options = read.with_context(|| format!("cannot use the credentials in {path}"))?;
        }
        let file = |name: &str| -> anyhow::Result<Option<PathBuf>> {
            let Some(path) = variable(name).map(PathBuf::from) else { return Ok(None) };
            let read = File::open(&path).map(drop);
            read.with_context(|| format!("cannot read {}, which {name} names", path.display()))?;
            Ok(Some(path))
        };
        if let Some(path) = file("NATS_CA")? {
            options = options.add_root_certificates(path);
        }
        match (file("NATS_CERT")?, file("NATS_KEY")?) {
            (Some(certificate), Some(key)) => options = options.add_client_certificate(certificate, key),
            (None, None) => {}
            (Some(_), None) => bail!("NATS_CERT needs NATS_KEY, the file of its key"),
            (None, Some(_)) => bail!("NATS_KEY needs NATS_CERT, the file of its certificate"),
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_server_and_a_campaign() {
        let address = Address::parse("nats://me:s3cret@host/nightly").unwrap();
        assert_eq!((address.shown().as_str(), address.campaign.as_str()), ("nats://host:4222", "nightly"));
        for wrong in
            ["host/nightly", "http://host/a", "nats://host", "nats://host/a.b", "nats://token@host/a"]
        {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
