//! A headless Chromium, driven over a pair of pipes by its own protocol (DevTools): no driver, no library.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

pub struct Browser {
    process: Child,
    say: ChildStdin,
    said: Receiver<Json>,
    calls: u64,
    session: String,
    /// Errors on the console, also of what the page was not allowed to do.
    pub complaints: Vec<String>,
    /// What the page asked for over the network.
    pub requests: Vec<String>,
    loaded: bool,
    _profile: tempfile::TempDir,
}

const PATIENCE: Duration = Duration::from_secs(30);

/// Where Chromium is, if it is installed.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|place| names.map(|name| place.join(name)))
        .find(|file| file.is_file())
}

impl Browser {
    /// None, with a loud line, where Chromium is not installed; with `DISSENT_REQUIRE_ENGINES=1` that is a failure.
    pub fn start() -> Option<Browser> {
        let Some(program) = program() else {
            let required = std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some();
            assert!(!required, "Chromium is required: install the package chromium");
            let line = "SKIPPED, not passed: the page was not opened, because Chromium is not installed\n";
            let _ = std::io::stderr().write_all(line.as_bytes());
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // Chromium reads commands from descriptor 3 and writes answers to 4, each ended by a zero byte.
        let mut process = Command::new("sh")
            .args(["-c", r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#, "sh"])
            .arg(program)
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
            ])
            .args(["--no-first-run", "--disable-background-networking", "--disable-component-update"])
            .args(["--disable-sync", "--disable-dev-shm-usage", "--window-size=1400,900"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, said) = channel();
        let mut answers = BufReader::new(process.stdout.take().unwrap());
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let _ = sender.send(serde_json::from_slice(&message).unwrap());
                message.clear();
            }
        });
        let mut browser = Browser {
            say: process.stdin.take().unwrap(),
            process,
            said,
            calls: 0,
            session: String::new(),
            complaints: Vec::new(),
            requests: Vec::new(),
            loaded: false,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().unwrap().to_string();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Has the browser do something and gives what it answers.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Json) -> Json {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.say.write_all(&bytes).unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let heard = self.hear(deadline).unwrap_or_else(|| panic!("no answer to {method}"));
            if heard["id"] == json!(self.calls) {
                assert!(heard["error"].is_null(), "{method}: {}", heard["error"]);
                return heard["result"].clone();
            }
        }
    }

    fn hear(&mut self, deadline: Instant) -> Option<Json> {
        let heard = self.said.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()?;
        let params = &heard["params"];
        match heard["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.complaints.push(params["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if params["type"] == "error" => {
                self.complaints.push(params["args"].to_string())
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                self.complaints.push(params["entry"]["text"].to_string())
            }
            "Network.requestWillBeSent" => {
                self.requests.push(params["request"]["url"].as_str().unwrap_or_default().to_string())
            }
            "Page.loadEventFired" => self.loaded = true,
            _ => {}
        }
        Some(heard)
    }

    #[track_caller]
    pub fn open(&mut self, url: &str) {
        self.loaded = false;
        self.call("Page.navigate", json!({"url": url}));
        let deadline = Instant::now() + PATIENCE;
        while !self.loaded {
            self.hear(deadline).unwrap_or_else(|| panic!("{url} does not load"));
        }
    }

    pub fn open_file(&mut self, path: &Path) {
        self.open(&format!("file://{}", path.display()));
    }

    /// What an expression of JavaScript gives in the page.
    #[track_caller]
    pub fn ask(&mut self, expression: &str) -> Json {
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Asks until the answer is true.
    #[track_caller]
    pub fn wait(&mut self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.ask(expression) != json!(true) {
            assert!(Instant::now() < deadline, "{expression} does not become true");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Clicks in the middle of the first element that a selector fits, as a reader would.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let place = self.ask(&format!(
            "(() => {{ const element = document.querySelector({}); element.scrollIntoView({{block: 'center'}});\
             const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Moves the pointer to a part of an element, from 0 to 1 of its width.
    #[track_caller]
    pub fn point_at(&mut self, selector: &str, part: f64) {
        let place = self.ask(&format!(
            "(() => {{ const element = document.querySelector({}); element.scrollIntoView({{block: 'center'}});\
             const box = element.getBoundingClientRect(); return [box.x + box.width * {part}, box.y + box.height / 2]; }})()",
            json!(selector)
        ));
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": place[0], "y": place[1]}));
    }

    /// Types text into what has the focus.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
