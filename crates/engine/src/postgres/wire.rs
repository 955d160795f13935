//! One connection: the protocol's simple queries and its prepared statements. Rows come back as text, with the
//! types of their columns.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use bytes::BytesMut;
use dissent_core::engine::{ErrorClass, Reply, Rows, SqlError};
use dissent_core::sql::Value;
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody, Message, RowDescriptionBody};
use postgres_protocol::message::frontend;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use super::sqlstate;
use super::value::{self, TEXT_FORMAT, Written};
use crate::tls::{Mode, Tls};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Socket(PathBuf),
    Tcp { host: String, port: u16 },
}

impl Address {
    /// By the name of a host, or by the directory of a Unix socket.
    pub fn of(host: &str, port: u16) -> Address {
        match host.starts_with('/') {
            true => Address::Socket(PathBuf::from(format!("{host}/.s.PGSQL.{port}"))),
            false => Address::Tcp { host: host.to_string(), port },
        }
    }
}

/// As whom to speak to a server.
#[derive(Clone)]
pub struct Login {
    pub user: String,
    pub password: Option<String>,
    /// The database that is always there.
    pub database: String,
    pub tls: Tls,
    /// By what a server tells its own version that also tells the one it imitates.
    pub version_parameter: Option<String>,
}

/// What every session has set, so that values are written in one way on every server.
const SESSION: [(&str, &str); 7] = [
    ("client_encoding", "UTF8"),
    ("application_name", "dissent"),
    ("client_min_messages", "error"),
    ("DateStyle", "ISO"),
    ("IntervalStyle", "postgres"),
    ("TimeZone", "UTC"),
    ("extra_float_digits", "3"),
];

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    fn connect(address: &Address, tls: &Tls, limit: Duration) -> io::Result<Stream> {
        let (host, port) = match address {
            Address::Socket(path) => return Ok(Stream::Unix(UnixStream::connect(path)?)),
            Address::Tcp { host, port } => (host, *port),
        };
        let plain = || Stream::reach(host, port, limit);
        if tls.mode == Mode::Disable {
            return plain().map(Stream::Tcp);
        }
        match Stream::encrypted(plain()?, host, tls) {
            Ok(stream) => Ok(stream),
            Err(_) if tls.mode == Mode::Prefer => plain().map(Stream::Tcp),
            Err(error) => Err(error),
        }
    }

    fn reach(host: &str, port: u16, limit: Duration) -> io::Result<TcpStream> {
        let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
        for address in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, limit) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(limit))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Asks the server to encrypt the connection. One that cannot and need not goes on without.
    fn encrypted(mut stream: TcpStream, host: &str, tls: &Tls) -> io::Result<Stream> {
        let mut request = BytesMut::new();
        frontend::ssl_request(&mut request);
        stream.write_all(&request)?;
        let mut answer = [0];
        stream.read_exact(&mut answer)?;
        match answer {
            [b'S'] => {}
            [b'N'] if tls.mode == Mode::Prefer => return Ok(Stream::Tcp(stream)),
            _ => return Err(io::Error::other("the server does not support TLS, which sslmode asks for")),
        }
        let name = ServerName::try_from(host.to_string()).map_err(io::Error::other)?;
        let config = tls.client().map_err(io::Error::other)?;
        let mut connection = ClientConnection::new(config, name).map_err(io::Error::other)?;
        // Here, so that a certificate that is refused is told before anything is sent.
        connection.complete_io(&mut stream)?;
        Ok(Stream::Tls(Box::new(StreamOwned::new(connection, stream))))
    }

    fn set_limit(&self, limit: Duration) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_read_timeout(Some(limit)),
            Stream::Tcp(stream) => stream.set_read_timeout(Some(limit)),
            Stream::Tls(stream) => stream.sock.set_read_timeout(Some(limit)),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tcp(stream) => {
                acknowledge_at_once(stream);
                stream.read(buffer)
            }
            Stream::Tls(stream) => {
                acknowledge_at_once(&stream.sock);
                stream.read(buffer)
            }
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.write_all(bytes),
            Stream::Tcp(stream) => stream.write_all(bytes),
            Stream::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }
}

/// A server that sends its answer in pieces, and each piece only once the last one was acknowledged, would wait 40 ms for
/// every piece: H2's does. The kernel forgets this soon, so it is told before every read.
fn acknowledge_at_once(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    {
        let yes: libc::c_int = 1;
        let size = size_of_val(&yes) as libc::socklen_t;
        // SAFETY: the socket is open while it is borrowed, and the kernel reads the number before this returns. A refusal only
        // makes it slow.
        unsafe {
            libc::setsockopt(
                stream.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_QUICKACK,
                (&raw const yes).cast(),
                size,
            );
        }
    }
}

pub struct Wire {
    address: Address,
    tls: Tls,
    stream: Stream,
    limit: Duration,
    incoming: BytesMut,
    outgoing: BytesMut,
    /// The types of the columns of the rows that come.
    types: Vec<u32>,
    /// Process and key by which a statement can be cancelled.
    cancel: Option<(i32, i32)>,
    in_transaction: bool,
    server_version: String,
}

impl Wire {
    /// Connects; otherwise says why not.
    pub fn connect(
        address: &Address,
        login: &Login,
        database: &str,
        limit: Duration,
    ) -> Result<Wire, String> {
        let stream = Stream::connect(address, &login.tls, limit).map_err(|error| error.to_string())?;
        let mut wire = Wire {
            address: address.clone(),
            tls: login.tls.clone(),
            stream,
            limit: Duration::ZERO,
            incoming: BytesMut::with_capacity(16 << 10),
            outgoing: BytesMut::with_capacity(4 << 10),
            types: Vec::new(),
            cancel: None,
            in_transaction: false,
            server_version: String::new(),
        };
        wire.set_limit(limit)
            .and_then(|()| wire.greet(login, database))
            .map_err(|error| error.to_string())?;
        Ok(wire)
    }

    /// How long any answer may keep us waiting.
    pub fn set_limit(&mut self, limit: Duration) -> io::Result<()> {
        if self.limit != limit {
            self.stream.set_limit(limit)?;
            self.limit = limit;
        }
        Ok(())
    }

    pub fn in_transaction(&self) -> bool {
        self.in_transaction
    }

    /// What the server said its version is when it was greeted.
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    fn greet(&mut self, login: &Login, database: &str) -> io::Result<()> {
        let own = [("user", &*login.user), ("database", database)];
        frontend::startup_message(own.into_iter().chain(SESSION), &mut self.outgoing)?;
        self.send()?;
        let mut scram = None;
        loop {
            match self.receive()? {
                Message::AuthenticationOk => {}
                Message::AuthenticationCleartextPassword => {
                    frontend::password_message(password(login)?.as_bytes(), &mut self.outgoing)?;
                    self.send()?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(login.user.as_bytes(), password(login)?.as_bytes(), body.salt());
                    frontend::password_message(hash.as_bytes(), &mut self.outgoing)?;
                    self.send()?;
                }
                Message::AuthenticationSasl(_) => {
                    let exchange =
                        ScramSha256::new(password(login)?.as_bytes(), ChannelBinding::unsupported());
                    frontend::sasl_initial_response(SCRAM_SHA_256, exchange.message(), &mut self.outgoing)?;
                    scram = Some(exchange);
                    self.send()?;
                }
                Message::AuthenticationSaslContinue(body) => {
                    let exchange = scram.as_mut().ok_or_else(out_of_turn)?;
                    exchange.update(body.data())?;
                    frontend::sasl_response(exchange.message(), &mut self.outgoing)?;
                    self.send()?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    scram.as_mut().ok_or_else(out_of_turn)?.finish(body.data())?;
                }
                Message::BackendKeyData(body) => self.cancel = Some((body.process_id(), body.secret_key())),
                Message::ParameterStatus(body) => {
                    let (name, own) = (body.name()?, login.version_parameter.as_deref());
                    let imitated = name == "server_version" && self.server_version.is_empty();
                    if imitated || Some(name) == own {
                        self.server_version = body.value()?.to_string();
                    }
                }
                Message::ErrorResponse(body) => return Err(io::Error::other(error_of(&body).message)),
                Message::ReadyForQuery(_) => return Ok(()),
                Message::NoticeResponse(_) => {}
                _ => {
                    return Err(io::Error::other("the server asks for an unsupported authentication method"));
                }
            }
        }
    }

    /// Runs a statement to its end. `Err`: the connection is of no more use.
    pub fn query(&mut self, sql: &str, most_rows: usize) -> io::Result<Reply> {
        if sql.contains('\0') {
            return Ok(Reply::Failed(with_nul()));
        }
        frontend::query(sql, &mut self.outgoing)?;
        self.answer(most_rows)
    }

    /// Has the server keep a statement by this name, with parameters of these types.
    pub fn prepare(&mut self, name: &str, sql: &str, types: &[u32]) -> io::Result<Reply> {
        if sql.contains('\0') {
            return Ok(Reply::Failed(with_nul()));
        }
        frontend::parse(name, sql, types.iter().copied(), &mut self.outgoing)?;
        frontend::sync(&mut self.outgoing);
        self.answer(0)
    }

    /// Runs what is kept by this name. Results are text, as in simple queries.
    pub fn run_prepared(&mut self, name: &str, values: &[Written], most_rows: usize) -> io::Result<Reply> {
        let written = frontend::bind(
            "",
            name,
            values.iter().map(|value| value.format),
            values,
            |value, buffer| match &value.bytes {
                None => Ok(IsNull::Yes),
                Some(bytes) => {
                    buffer.extend_from_slice(bytes);
                    Ok(IsNull::No)
                }
            },
            [TEXT_FORMAT],
            &mut self.outgoing,
        );
        if written.is_err() {
            self.outgoing.clear();
            let message = "the values are too many or too long for the protocol".to_string();
            return Ok(Reply::Failed(SqlError { class: ErrorClass::Limit, code: String::new(), message }));
        }
        frontend::describe(b'P', "", &mut self.outgoing)?;
        frontend::execute("", 0, &mut self.outgoing)?;
        frontend::sync(&mut self.outgoing);
        self.answer(most_rows)
    }

    pub fn forget(&mut self, name: &str) -> io::Result<Reply> {
        frontend::close(b'S', name, &mut self.outgoing)?;
        frontend::sync(&mut self.outgoing);
        self.answer(0)
    }

    /// Sends what was asked, and reads until the server is ready for the next question.
    fn answer(&mut self, most_rows: usize) -> io::Result<Reply> {
        self.send()?;
        let mut reply = Reply::Done { changed: 0 };
        let mut surplus = false;
        loop {
            match self.receive()? {
                Message::RowDescription(body) => {
                    let rows = Rows { columns: self.describe(&body)?, values: Vec::new() };
                    reply = Reply::Rows(rows);
                }
                Message::DataRow(body) => {
                    let Reply::Rows(rows) = &mut reply else { continue };
                    if rows.len() < most_rows {
                        take_row(&self.types, &body, rows)?;
                    } else if !surplus {
                        surplus = true;
                        self.ask_to_cancel();
                    }
                }
                Message::CommandComplete(body) => {
                    if let Reply::Done { changed } = &mut reply {
                        *changed = changed_rows(body.tag()?);
                    }
                }
                Message::ErrorResponse(body) => {
                    let error = error_of(&body);
                    if error.class == ErrorClass::ConnectionLost {
                        return Err(io::Error::other(error.message));
                    }
                    reply = Reply::Failed(error);
                }
                Message::CopyInResponse(_) => {
                    frontend::copy_fail("COPY is not supported", &mut self.outgoing)?;
                    self.send()?;
                }
                Message::ReadyForQuery(body) => {
                    self.in_transaction = body.status() != b'I';
                    return Ok(if surplus { Reply::Failed(over_rows(most_rows)) } else { reply });
                }
                _ => {}
            }
        }
    }

    fn describe(&mut self, body: &RowDescriptionBody) -> io::Result<usize> {
        self.types.clear();
        let mut fields = body.fields();
        while let Some(field) = fields.next()? {
            self.types.push(field.type_oid());
        }
        Ok(self.types.len())
    }

    /// The statement may be over before this arrives; then it does nothing.
    pub fn ask_to_cancel(&self) {
        let Some((process, key)) = self.cancel else { return };
        let mut request = BytesMut::new();
        frontend::cancel_request(process, key, &mut request);
        if let Ok(mut stream) = Stream::connect(&self.address, &self.tls, self.limit) {
            let _ = stream.write_all(&request);
        }
    }

    fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.outgoing)?;
        self.outgoing.clear();
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = Message::parse(&mut self.incoming)? {
                return Ok(message);
            }
            let mut buffer = [0; 16 << 10];
            match self.stream.read(&mut buffer) {
                Ok(0) => {
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, "the server closed the connection"));
                }
                Ok(count) => self.incoming.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.outgoing.clear();
        frontend::terminate(&mut self.outgoing);
        let _ = self.send();
    }
}

fn password(login: &Login) -> io::Result<&str> {
    login.password.as_deref().ok_or_else(|| io::Error::other("the server wants a password"))
}

fn out_of_turn() -> io::Error {
    io::Error::other("the server sent an invalid authentication message")
}

fn take_row(types: &[u32], body: &DataRowBody, rows: &mut Rows) -> io::Result<()> {
    let buffer = body.buffer();
    let (mut ranges, mut types) = (body.ranges(), types.iter());
    while let (Some(range), Some(type_oid)) = (ranges.next()?, types.next()) {
        rows.values.push(range.map_or(Value::Null, |range| value::read(*type_oid, &buffer[range])));
    }
    Ok(())
}

/// `INSERT 0 3`, `UPDATE 2`, `CREATE TABLE`.
fn changed_rows(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

fn error_of(body: &ErrorResponseBody) -> SqlError {
    let (mut code, mut message) = (String::new(), String::new());
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        let text = String::from_utf8_lossy(field.value_bytes());
        match field.type_() {
            b'C' => code = text.into_owned(),
            b'M' => message = text.into_owned(),
            _ => {}
        }
    }
    SqlError { class: sqlstate::class(&code), code, message }
}

fn with_nul() -> SqlError {
    let message = "a statement cannot contain NUL".to_string();
    SqlError { class: ErrorClass::Syntax, code: String::new(), message }
}

fn over_rows(most: usize) -> SqlError {
    let message = format!("the statement returned more than {most} rows");
    SqlError { class: ErrorClass::Limit, code: String::new(), message }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Instant;

    use super::*;

    #[test]
    fn an_answer_in_two_pieces_is_not_waited_for() {
        const ROUNDS: u32 = 60;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // It keeps its second piece back until the first was acknowledged, like a server that knows nothing of TCP_NODELAY.
        let server = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut question = [0];
            for _ in 0..ROUNDS {
                client.read_exact(&mut question).unwrap();
                client.write_all(b"a").unwrap();
                client.write_all(b"b").unwrap();
            }
        });
        let limit = Duration::from_secs(20);
        let mut stream = Stream::Tcp(Stream::reach("127.0.0.1", port, limit).unwrap());
        // Acknowledgements that are held back come after 40 ms.
        let mut slow = 0;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            stream.write_all(b"?").unwrap();
            let mut answer = [0; 2];
            let mut got = 0;
            while got < answer.len() {
                got += stream.read(&mut answer[got..]).unwrap();
            }
            assert_eq!(&answer, b"ab");
            slow += u32::from(start.elapsed() > Duration::from_millis(35));
        }
        server.join().unwrap();
        assert!(slow < ROUNDS / 2, "{slow} of {ROUNDS}");
    }
}
