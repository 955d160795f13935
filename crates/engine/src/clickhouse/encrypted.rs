//! HTTPS: what the HTTP client sends is encrypted as the connections of the other drivers are, with the same options.

use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport, TransportAdapter,
};

/// Encrypts the connection that the connector before it has made.
#[derive(Debug)]
pub struct Encryption(pub Arc<ClientConfig>);

impl<T: Transport> Connector<T> for Encryption {
    type Out = Encrypted;

    fn connect(&self, details: &ConnectionDetails, plain: Option<T>) -> Result<Option<Encrypted>, Error> {
        let Some(plain) = plain else { return Ok(None) };
        let host = details.uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_string()).map_err(other)?;
        let mut connection = ClientConnection::new(self.0.clone(), name).map_err(other)?;
        let plain: Box<dyn Transport> = Box::new(plain);
        let mut socket = TransportAdapter::new(plain, details.current_time.clone());
        socket.set_timeout(details.timeout);
        // Here, so that a certificate that is refused is told before anything is sent.
        connection.complete_io(&mut socket)?;
        let buffers =
            LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Encrypted { buffers, stream: StreamOwned::new(connection, socket) }))
    }
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Other(Box::new(error))
}

pub struct Encrypted {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl Transport for Encrypted {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.stream.sock.set_timeout(timeout);
        self.stream.write_all(&self.buffers.output()[..amount])?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.sock.set_timeout(timeout);
        let amount = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.sock.get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encrypted({:?})", self.stream.sock.inner())
    }
}
