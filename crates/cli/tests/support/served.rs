//! `dissent serve`, as a browser or a scraper meets it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::BINARY;

/// `dissent serve` and its address; ended when it is dropped.
pub struct Server {
    pub process: Child,
    pub address: String,
}

impl Server {
    pub fn start(place: &Path, args: &[&str]) -> Server {
        let mut process = Command::new(BINARY)
            .args(["serve", "--port", "0"])
            .args(args)
            .current_dir(place)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}"));
        Server { process, address: address.trim_end().trim_end_matches('/').to_string() }
    }

    /// What a request is answered, head and body.
    pub fn ask(&self, request: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        (head.to_string(), body.to_string())
    }

    pub fn get(&self, path: &str) -> String {
        let (head, body) = self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        body
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
