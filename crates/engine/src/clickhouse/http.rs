//! As much of HTTP/1.1 as a ClickHouse server needs: one connection, one request after the other.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// A line of an answer's head longer than this is none of a server that means well.
const LONGEST_LINE: u64 = 64 << 10;
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

pub struct Client {
    host: String,
    port: u16,
    /// Kept open between requests; absent after trouble.
    stream: Option<BufReader<TcpStream>>,
    most_bytes: u64,
}

pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Client {
    /// Answers longer than `most_bytes` are trouble.
    pub fn new(host: &str, port: u16, most_bytes: u64) -> Client {
        Client { host: host.to_string(), port, stream: None, most_bytes }
    }

    /// Sends a request and reads its answer, each read within `limit`. A connection that the server closed
    /// since the last request is made anew; one that breaks in the middle of this one is an error, since the
    /// statement may have run.
    pub fn post(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        limit: Duration,
    ) -> io::Result<Answer> {
        let mut head = format!("POST {path} HTTP/1.1\r\nHost: {}:{}\r\n", self.host, self.port);
        for (name, value) in headers {
            if value.contains(['\r', '\n']) {
                return Err(io::Error::other(format!("the header {name} would end early")));
            }
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let request = [head.as_bytes(), body].concat();
        let mut stream = match self.stream.take() {
            Some(stream) if is_open(stream.get_ref()) => stream,
            _ => BufReader::new(self.connect()?),
        };
        stream.get_ref().set_read_timeout(Some(limit))?;
        stream.get_mut().write_all(&request)?;
        let (answer, stays) = read_answer(&mut stream, self.most_bytes)?;
        self.stream = stays.then_some(stream);
        Ok(answer)
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_LIMIT) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(CONNECT_LIMIT))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// Whether the other side has neither closed the connection nor sent what nobody asked for.
fn is_open(stream: &TcpStream) -> bool {
    let quiet = |_| matches!(stream.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
    let is_open = stream.set_nonblocking(true).is_ok_and(quiet);
    is_open && stream.set_nonblocking(false).is_ok()
}

/// The answer, and whether the connection can be used again.
fn read_answer(stream: &mut impl BufRead, most_bytes: u64) -> io::Result<(Answer, bool)> {
    let strange = || io::Error::new(ErrorKind::InvalidData, "the answer is no HTTP");
    let status_line = line(stream)?;
    let mut words = status_line.split(' ');
    let version = words.next().filter(|word| word.starts_with("HTTP/1.")).ok_or_else(strange)?;
    let mut stays = version != "HTTP/1.0";
    let status = words.next().and_then(|word| word.parse().ok()).ok_or_else(strange)?;
    let (mut length, mut chunked) = (None, false);
    loop {
        let header = line(stream)?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').ok_or_else(strange)?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = Some(value.parse::<u64>().map_err(|_| strange())?),
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => stays &= !value.eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    match length {
        _ if chunked => read_chunks(stream, &mut body, most_bytes)?,
        Some(length) => take(stream, length, &mut body, most_bytes)?,
        None if status == 204 => {}
        // Until the connection ends.
        None => {
            stays = false;
            stream.take(most_bytes).read_to_end(&mut body)?;
        }
    }
    Ok((Answer { status, body }, stays))
}

fn read_chunks(stream: &mut impl BufRead, body: &mut Vec<u8>, most_bytes: u64) -> io::Result<()> {
    loop {
        let size = line(stream)?;
        // What follows a semicolon is nobody's business.
        let digits = size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(digits, 16)
            .map_err(|_| io::Error::new(ErrorKind::InvalidData, "a chunk has no size"))?;
        if size == 0 {
            break;
        }
        take(stream, size, body, most_bytes)?;
        line(stream)?;
    }
    // Headers after the body, up to an empty line.
    while !line(stream)?.is_empty() {}
    Ok(())
}

fn take(stream: &mut impl BufRead, count: u64, body: &mut Vec<u8>, most_bytes: u64) -> io::Result<()> {
    if count > most_bytes.saturating_sub(body.len() as u64) {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "the answer is too long"));
    }
    let taken = stream.take(count).read_to_end(body)?;
    if taken as u64 == count { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

/// A line without its end.
fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    stream.take(LONGEST_LINE).read_until(b'\n', &mut bytes)?;
    if bytes.pop() != Some(b'\n') {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "a header is no text"))
}

/// `a%20b` for `a b`: what may stand in the query of a URL.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<(Answer, bool)> {
        read_answer(&mut text.as_bytes(), 100)
    }

    #[test]
    fn an_answer_is_read_to_its_end_and_no_further() {
        let mut stream = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 500 No\r\n\
                          transfer-encoding: chunked\r\nConnection: close\r\n\r\n3;x\r\ncde\r\n1\r\nf\r\n0\r\n\r\n"
            .as_bytes();
        let (first, stays) = read_answer(&mut stream, 100).unwrap();
        assert_eq!((first.status, first.body.as_slice(), stays), (200, &b"ab"[..], true));
        let (second, stays) = read_answer(&mut stream, 100).unwrap();
        assert_eq!((second.status, second.body.as_slice(), stays), (500, &b"cdef"[..], false));
    }

    #[test]
    fn what_is_cut_off_or_too_long_is_no_answer() {
        assert!(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab").is_err());
        assert!(read("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\nab").is_err());
        assert!(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n").is_err());
        assert!(read("SSH-2.0\r\n").is_err());
        assert!(read("").is_err());
    }

    #[test]
    fn a_query_of_a_url_is_plain() {
        assert_eq!(encode("a b\\N&ü"), "a%20b%5CN%26%C3%BC");
    }
}
