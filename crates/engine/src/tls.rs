//! Encrypted connections to servers that somebody else runs, by the options that PostgreSQL's own clients have.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Whether a connection is encrypted, and whom it trusts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    pub mode: Mode,
    /// A file of certificates in PEM: what these have signed is trusted, instead of what the machine trusts.
    pub root: Option<PathBuf>,
}

/// `sslmode`, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    Disable,
    /// Encrypted if the server can do that.
    #[default]
    Prefer,
    /// Encrypted, whoever the server is.
    Require,
    /// And its certificate is signed by one that is trusted.
    VerifyCa,
    /// And it is that of the host.
    VerifyFull,
}

const MODES: [(&str, Mode); 5] = [
    ("disable", Mode::Disable),
    ("prefer", Mode::Prefer),
    ("require", Mode::Require),
    ("verify-ca", Mode::VerifyCa),
    ("verify-full", Mode::VerifyFull),
];

/// Whether an address that begins so is one of HTTP inside TLS.
pub fn is_https(scheme: &str) -> bool {
    scheme.ends_with("+https")
}

impl Tls {
    /// By the options of an address, and by what it begins with.
    pub fn read(scheme: &str, mode: Option<&str>, root: Option<String>) -> Result<Tls, &'static str> {
        let known = |mode: &str| MODES.iter().find(|(name, _)| *name == mode).map(|(_, mode)| *mode);
        let mode = match mode {
            Some(mode) => {
                known(mode).ok_or("its sslmode is not disable, prefer, require, verify-ca or verify-full")?
            }
            // As browsers do.
            None if is_https(scheme) => Mode::VerifyFull,
            None => Mode::default(),
        };
        if is_https(scheme) {
            if mode < Mode::Require {
                return Err("https is always encrypted: use sslmode require, verify-ca or verify-full");
            }
        } else if scheme.ends_with("+http") && mode > Mode::Prefer {
            return Err("it is not encrypted: use https, or no sslmode");
        } else if mode >= Mode::VerifyCa && root.is_none() {
            return Err("its sslmode needs sslrootcert=FILE");
        }
        Ok(Tls { mode, root: root.map(PathBuf::from) })
    }

    /// For a connection that is encrypted; otherwise says what is wrong with the certificates that are trusted.
    pub fn client(&self) -> Result<Arc<ClientConfig>, String> {
        let provider = Arc::new(ring::default_provider());
        let verifier =
            Verifier { roots: self.roots(&provider)?, mode: self.mode, provider: provider.clone() };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Arc::new(config))
    }

    fn roots(&self, provider: &Arc<CryptoProvider>) -> Result<Option<Arc<WebPkiServerVerifier>>, String> {
        if self.mode < Mode::VerifyCa {
            return Ok(None);
        }
        let place = match &self.root {
            Some(file) => format!("in {}", file.display()),
            None => "of this machine (name others by sslrootcert=FILE)".to_string(),
        };
        let unusable = |error: String| format!("cannot use the certificates {place}: {error}");
        let mut store = RootCertStore::empty();
        match &self.root {
            Some(file) => {
                let read =
                    CertificateDer::pem_file_iter(file).map_err(|error| unusable(error.to_string()))?;
                for certificate in read {
                    let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
                    store.add(certificate).map_err(|error| unusable(error.to_string()))?;
                }
            }
            // Some machines keep old ones that nobody can read; what is left is good.
            None => drop(store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone());
        verifier.build().map(Some).map_err(|error| unusable(error.to_string()))
    }
}

/// Looks at a server's certificate as closely as the mode asks for.
#[derive(Debug)]
struct Verifier {
    roots: Option<Arc<WebPkiServerVerifier>>,
    mode: Mode,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(roots) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        let is_name = |error: &CertificateError| {
            matches!(
                error,
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
            )
        };
        match roots.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is looked at last: all else is as it should be.
            Err(Error::InvalidCertificate(error)) if self.mode == Mode::VerifyCa && is_name(&error) => {
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
