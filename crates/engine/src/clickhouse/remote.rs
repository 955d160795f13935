//! A server that somebody else runs, by HTTP. User and password go in headers; addresses hold neither.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use dissent_core::engine::SqlError;

use super::errors;
use super::http::{Client, encode};
use super::link::{Link, Question, lost};
use crate::own;
use crate::url::ServerUrl;

/// The engine's own limit comes first; a server that does not keep it within this time has hung.
const GRACE: Duration = Duration::from_secs(3);
/// A server that somebody restarts is given some time.
const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST_ANSWER: u64 = 256 << 20;

pub struct Remote {
    url: ServerUrl,
    client: Client,
    /// What the server keeps settings and the database in use under.
    session: String,
    /// Nothing is sent until it is renewed.
    broken: bool,
}

impl Remote {
    pub fn new(url: &ServerUrl) -> Remote {
        let client = Client::new(&url.host, url.port.unwrap_or(8123), LONGEST_ANSWER);
        Remote { url: url.clone(), client, session: own::fresh_name(None), broken: false }
    }

    fn path(&self, question: &Question) -> String {
        // An answer is complete before it is sent: its status tells whether the statement succeeded.
        let mut path = format!(
            "/?session_id={}&session_timeout=600&wait_end_of_query=1&buffer_size=1048576&default_format={}",
            self.session, question.format
        );
        for (at, value) in question.parameters.iter().enumerate() {
            path.push_str(&format!("&param_p{}={}", at + 1, encode(value)));
        }
        path
    }

    fn ask(&mut self, question: &Question) -> Result<Vec<u8>, SqlError> {
        let path = self.path(question);
        let mut headers = vec![("X-ClickHouse-User", self.url.user.as_deref().unwrap_or("default"))];
        if let Some(password) = &self.url.password {
            headers.push(("X-ClickHouse-Key", password.reveal()));
        }
        let limit = question.limit + GRACE;
        match self.client.post(&path, &headers, question.sql.as_bytes(), limit) {
            Ok(answer) if answer.status == 200 => Ok(answer.body),
            Ok(answer) => Err(errors::error(String::from_utf8_lossy(&answer.body).trim_end().to_string())),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let seconds = limit.as_secs();
                let mut error = lost(format!("the statement went on for {seconds} s, beyond its time limit"));
                error.code = "hang".to_string();
                Err(error)
            }
            Err(error) => Err(lost(error.to_string())),
        }
    }
}

impl Link for Remote {
    fn query(&mut self, question: &Question) -> Result<Vec<u8>, SqlError> {
        if self.broken {
            return Err(lost("the server is gone".to_string()));
        }
        let answer = self.ask(question);
        self.broken |=
            answer.as_ref().is_err_and(|error| error.class.is_harm() && error.code.parse::<u32>().is_err());
        answer
    }

    /// A session of its own: a statement of the old one may go on in it, and would keep it locked.
    fn renew(&mut self) -> Result<(), String> {
        self.client = Client::new(&self.url.host, self.url.port.unwrap_or(8123), LONGEST_ANSWER);
        self.session = own::fresh_name(None);
        let start = Instant::now();
        let hello = Question { sql: "SELECT 1", format: "Null", parameters: &[], limit: GRACE };
        loop {
            match self.ask(&hello) {
                Ok(_) => break,
                Err(error) if start.elapsed() > PATIENCE => return Err(error.message),
                Err(_) => std::thread::sleep(Duration::from_millis(200)),
            }
        }
        self.broken = false;
        Ok(())
    }

    fn is_shared(&self) -> bool {
        true
    }
}
