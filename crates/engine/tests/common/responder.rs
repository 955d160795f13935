//! A small HTTP or HTTPS server before libchdb: what a ClickHouse server answers, without one.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use dissent_engine::Target;
use libloading::os::unix::{Library, Symbol};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

pub const PASSWORD: &str = "s3cret pass";

pub struct Responder {
    port: u16,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Responder {
    /// Answers until it is dropped. `None`: there is no library.
    pub fn start() -> Option<Responder> {
        Responder::answering(None)
    }

    /// The same with the certificate `server.pem` and the key `server.key` of a directory, and only to who encrypts.
    pub fn encrypted(certificates: &Path) -> Option<Responder> {
        Responder::answering(Some(encryption(certificates)))
    }

    fn answering(tls: Option<Arc<ServerConfig>>) -> Option<Responder> {
        // If there is none, the test of the library itself says so loudly.
        let source = Target::parse("clickhouse@26.7").unwrap().obtain(&mut |_| {}).ok()?;
        let path = source.path()?.to_path_buf();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let over = Arc::new(AtomicBool::new(false));
        let seen = over.clone();
        let thread = std::thread::spawn(move || {
            let data = tempfile::tempdir().unwrap();
            // It has one session: clients may come at the same time, but only one of them works.
            let engine = Mutex::new(Engine::load(&path, data.path()));
            std::thread::scope(|scope| {
                for stream in listener.incoming().flatten() {
                    if seen.load(Ordering::Relaxed) {
                        return;
                    }
                    let (engine, tls) = (&engine, tls.clone());
                    scope.spawn(move || match tls {
                        Some(tls) => {
                            let connection = ServerConnection::new(tls).unwrap();
                            converse(engine, StreamOwned::new(connection, stream));
                        }
                        None => converse(engine, stream),
                    });
                }
            });
        });
        Some(Responder { port, over, thread: Some(thread) })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The databases of ours that are there.
    pub fn databases(&self) -> Vec<String> {
        let sql = "SELECT name FROM system.databases WHERE name LIKE 'dissent%'";
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "POST /?default_format=TabSeparated HTTP/1.1\r\nX-ClickHouse-Key: {PASSWORD}\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{sql}",
            sql.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        body.lines().map(str::to_string).collect()
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // A connection wakes it up.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn encryption(place: &Path) -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_file(place.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(place.join("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    Arc::new(config.unwrap())
}

/// Answers one request after the other until the client is gone.
fn converse(engine: &Mutex<Engine>, stream: impl Read + Write) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = Request::read(&mut reader) {
        let (status, body) = match request.answer(&engine.lock().unwrap()) {
            Ok(body) => ("200 OK", body),
            Err(message) => ("500 Internal Server Error", message.into_bytes()),
        };
        let end = if request.closes { "Connection: close\r\n" } else { "" };
        // In pieces, as the real one sends them.
        let mut answer = format!("HTTP/1.1 {status}\r\n{end}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
        if request.closes {
            answer = format!("HTTP/1.1 {status}\r\n{end}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
            answer.extend_from_slice(&body);
        } else {
            for piece in body.chunks(1000) {
                answer.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
                answer.extend_from_slice(piece);
                answer.extend_from_slice(b"\r\n");
            }
            answer.extend_from_slice(b"0\r\n\r\n");
        }
        let stream = reader.get_mut();
        if stream.write_all(&answer).and_then(|()| stream.flush()).is_err() || request.closes {
            return;
        }
    }
}

struct Request {
    /// The names and values behind the `?`.
    query: Vec<(String, String)>,
    key: String,
    closes: bool,
    sql: String,
}

impl Request {
    fn read(reader: &mut impl BufRead) -> Option<Request> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end().to_string();
            if line.is_empty() {
                break;
            }
            lines.push(line);
        }
        let path = lines.first()?.split(' ').nth(1)?.to_string();
        assert!(!path.contains("s3cret"), "the password is in an address: {path}");
        let header = |name: &str| {
            let is = |line: &&String| line.to_ascii_lowercase().starts_with(&format!("{name}:"));
            lines.iter().find(is).map(|line| line[name.len() + 1..].trim().to_string())
        };
        let mut body = vec![0; header("content-length")?.parse().ok()?];
        reader.read_exact(&mut body).ok()?;
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let pair = |text: &str| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            (name.to_string(), decoded(value))
        };
        Some(Request {
            query: query.split('&').map(pair).collect(),
            key: header("x-clickhouse-key").unwrap_or_default(),
            closes: header("connection").is_some_and(|word| word == "close"),
            sql: String::from_utf8(body).ok()?,
        })
    }

    fn answer(&self, engine: &Engine) -> Result<Vec<u8>, String> {
        if self.key != PASSWORD {
            return Err("Code: 516. DB::Exception: me: Authentication failed".to_string());
        }
        for (name, value) in self.query.iter().filter(|(name, _)| name.starts_with("param_")) {
            let value = value.replace('\\', "\\\\").replace('\'', "\\'");
            engine.query(&format!("SET {name} = '{value}'"), "Null")?;
        }
        let format = self.query.iter().find(|(name, _)| name == "default_format");
        let answer = engine.query(&self.sql, format.map_or("Null", |(_, format)| format));
        if answer.is_err() {
            // What a query wrote before it failed is otherwise returned by the next one.
            let _ = engine.query("SELECT 1", "Null");
        }
        answer
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next().unwrap(), rest.next().unwrap()];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.close();
    }
}

// SAFETY: libchdb's connections belong to no thread.
unsafe impl Send for Engine {}

/// Libchdb, as raw as the server needs it.
struct Engine {
    /// Never unloaded: it has threads of its own.
    library: &'static Library,
    connection: *mut *mut c_void,
}

impl Engine {
    fn load(path: &Path, data: &Path) -> Engine {
        // SAFETY: the library is libchdb, and its functions have the signatures that are stated here and below.
        unsafe {
            let library: &'static Library = Box::leak(Box::new(Library::new(path).unwrap()));
            let connect: Symbol<unsafe extern "C" fn(c_int, *mut *mut c_char) -> *mut *mut c_void> =
                library.get(b"chdb_connect\0").unwrap();
            let place = CString::new(format!("--path={}", data.display())).unwrap();
            let mut arguments = [c"clickhouse".as_ptr().cast_mut(), place.as_ptr().cast_mut()];
            let connection = connect(2, arguments.as_mut_ptr());
            assert!(!connection.is_null() && !(*connection).is_null());
            Engine { library, connection }
        }
    }

    fn close(&self) {
        let close: Symbol<unsafe extern "C" fn(*mut *mut c_void)> = self.function(b"chdb_close_conn\0");
        // SAFETY: open, and closed only when the value is dropped.
        unsafe { close(self.connection) };
    }

    fn function<T>(&self, name: &[u8]) -> Symbol<T> {
        // SAFETY: as in `load`.
        unsafe { self.library.get(name).unwrap() }
    }

    fn query(&self, sql: &str, format: &str) -> Result<Vec<u8>, String> {
        type Query =
            unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize) -> *mut c_void;
        let query: Symbol<Query> = self.function(b"chdb_query_n\0");
        let error: Symbol<unsafe extern "C" fn(*mut c_void) -> *const c_char> =
            self.function(b"chdb_result_error\0");
        let buffer: Symbol<unsafe extern "C" fn(*mut c_void) -> *const u8> =
            self.function(b"chdb_result_buffer\0");
        let length: Symbol<unsafe extern "C" fn(*mut c_void) -> usize> =
            self.function(b"chdb_result_length\0");
        let destroy: Symbol<unsafe extern "C" fn(*mut c_void)> =
            self.function(b"chdb_destroy_query_result\0");
        // SAFETY: the connection is open, the texts are as long as stated, and the result is read before it
        // is destroyed.
        unsafe {
            let result =
                query(*self.connection, sql.as_ptr().cast(), sql.len(), format.as_ptr().cast(), format.len());
            let told = error(result);
            let answer = if told.is_null() {
                let start = buffer(result);
                let bytes =
                    if start.is_null() { &[] } else { std::slice::from_raw_parts(start, length(result)) };
                Ok(bytes.to_vec())
            } else {
                Err(CStr::from_ptr(told).to_string_lossy().into_owned())
            };
            destroy(result);
            answer
        }
    }
}
