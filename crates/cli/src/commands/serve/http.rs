//! As much of HTTP as a page on one's own machine needs: GET and HEAD, one request per connection.
//!
//! Written out, because that is less than the glue to a framework would be: nothing is uploaded, there is no TLS, no
//! compression and no keep-alive.

use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The part of a request that matters here.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// Only whether there is something new is asked: the page the asker has.
    pub if_none_match: Option<String>,
    /// Without its query.
    pub path: String,
    is_head: bool,
}

/// What to answer.
#[derive(Debug)]
pub struct Response {
    pub status: &'static str,
    pub content_type: &'static str,
    pub etag: Option<String>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn text(status: &'static str, text: &str) -> Response {
        let content_type = "text/plain; charset=utf-8";
        Response { status, content_type, etag: None, body: text.as_bytes().to_vec() }
    }
}

/// A request is a few hundred bytes; whoever sends more does not mean us.
const LONGEST_HEAD: usize = 16 << 10;
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections at one time.
const MOST_CONNECTIONS: usize = 32;

/// Answers until the process ends, each connection in a thread of its own.
pub fn serve(listener: &TcpListener, answer: impl Fn(&Request) -> Response + Send + Sync + 'static) {
    let (answer, open) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
    for stream in listener.incoming() {
        // A connection that failed before it was accepted is not our trouble; being out of files passes.
        let Ok(stream) = stream else {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let (answer, open) = (answer.clone(), open.clone());
        if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        std::thread::spawn(move || {
            // Whoever went away needs no answer.
            let _ = converse(stream, &*answer);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn converse(mut stream: TcpStream, answer: &dyn Fn(&Request) -> Response) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (is_head, response) = match parse(&read_head(&mut stream)?) {
        Ok(request) => (request.is_head, answer(&request)),
        Err(refusal) => (false, refusal),
    };
    write_response(&mut stream, &response, is_head)
}

/// Everything up to the empty line.
fn read_head(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut part = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() <= LONGEST_HEAD {
        match stream.read(&mut part)? {
            0 => break,
            length => head.extend_from_slice(&part[..length]),
        }
    }
    Ok(head)
}

fn parse(head: &[u8]) -> Result<Request, Response> {
    let bad = || Response::text("400 Bad Request", "not a request that Dissent understands\n");
    let text = std::str::from_utf8(head).map_err(|_| bad())?;
    let text = text.split_once("\r\n\r\n").ok_or_else(bad)?.0;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(bad());
    };
    if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return Err(bad());
    }
    let header = |wanted: &str| {
        let mut fields = lines.clone().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim().to_string())
    };
    // A page of another site whose name was made to point here would name that site.
    if !header("host").is_some_and(|host| is_own(&host)) {
        return Err(Response::text(
            "403 Forbidden",
            "open this page at the address that `dissent serve` printed\n",
        ));
    }
    let is_head = match method {
        "GET" => false,
        "HEAD" => true,
        _ => return Err(Response::text("405 Method Not Allowed", "only GET and HEAD\n")),
    };
    let path = target.split(['?', '#']).next().unwrap_or_default().to_string();
    Ok(Request { if_none_match: header("if-none-match"), path, is_head })
}

/// `localhost` or the digits of an address: no name that somebody else may give to this machine.
fn is_own(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, after)) if after.is_empty() || after.starts_with(':') => name,
            _ => return false,
        },
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

fn write_response(stream: &mut impl Write, response: &Response, is_head: bool) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\n",
        response.status,
        response.content_type,
        response.body.len()
    );
    if response.status.starts_with("405") {
        head.push_str("Allow: GET, HEAD\r\n");
    }
    if let Some(etag) = &response.etag {
        head.push_str(&format!("ETag: {etag}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    if !is_head {
        stream.write_all(&response.body)?;
    }
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(head: &str) -> &'static str {
        parse(head.as_bytes()).map_or_else(|refusal| refusal.status, |_| "200 OK")
    }

    #[test]
    fn a_request_is_read() {
        let head = "HEAD /metrics?x=1 HTTP/1.1\r\nhost: localhost:8765\r\nIf-None-Match: \"a\"\r\n\r\n";
        let request = parse(head.as_bytes()).unwrap();
        let expected =
            Request { if_none_match: Some("\"a\"".to_string()), path: "/metrics".to_string(), is_head: true };
        assert_eq!(request, expected);
    }

    #[test]
    fn names_of_other_sites_are_refused() {
        let host = |host: &str| status(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        for own in ["localhost", "LOCALHOST:1", "127.0.0.1:8765", "127.0.0.1", "[::1]:8765", "192.168.0.7:80"]
        {
            assert_eq!(host(own), "200 OK", "{own}");
        }
        for other in
            ["example.com", "example.com:8765", "localhost.example.com", "127.0.0.1.example.com", "", "[::1"]
        {
            assert_eq!(host(other), "403 Forbidden", "{other}");
        }
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "403 Forbidden");
    }

    #[test]
    fn what_is_not_asked_for_is_refused() {
        assert_eq!(status("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "405 Method Not Allowed");
        for bad in [
            "",
            "GET /",
            "GET / HTTP/1.1\r\nHost: localhost\r\n",
            "\u{16}\u{3}\r\n\r\n",
            "GET http://x/ HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(status(bad), "400 Bad Request", "{bad:?}");
        }
    }

    #[test]
    fn a_head_has_the_length_and_no_body() {
        let mut out = Vec::new();
        write_response(&mut out, &Response::text("200 OK", "four"), true).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("Content-Length: 4\r\n") && out.ends_with("\r\n\r\n"), "{out}");
    }
}
