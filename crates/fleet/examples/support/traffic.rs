//! What a NATS server says of itself on its monitoring port.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use anyhow::Context;
use serde_json::Value as Json;

/// What a server says that it did.
pub struct Traffic {
    at: Instant,
    told: Json,
}

impl Traffic {
    pub fn read(monitor: &str) -> anyhow::Result<Traffic> {
        let mut stream = TcpStream::connect(monitor).context("no monitoring port")?;
        write!(stream, "GET /varz HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let body = answer.split_once("\r\n\r\n").context("no answer of a server")?.1;
        Ok(Traffic { at: Instant::now(), told: serde_json::from_str(body)? })
    }

    pub fn since(&self, before: &Traffic) -> String {
        let seconds = (self.at - before.at).as_secs_f64();
        let rate = |name: &str| {
            (self.told[name].as_f64().unwrap_or(0.0) - before.told[name].as_f64().unwrap_or(0.0)) / seconds
        };
        format!(
            "{} connections: in {:.0} messages/s, {:.0} kB/s; out {:.0} messages/s, {:.0} kB/s; server {} % of a core, {} MB",
            self.told["connections"],
            rate("in_msgs"),
            rate("in_bytes") / 1e3,
            rate("out_msgs"),
            rate("out_bytes") / 1e3,
            self.told["cpu"],
            self.told["mem"].as_u64().unwrap_or(0) >> 20
        )
    }
}
