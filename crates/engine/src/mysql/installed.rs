//! A server program that was obtained: how it is initialised once, and started for each engine.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use mysql::Conn;
use serde::{Deserialize, Serialize};

use super::{Flavour, Login};
use crate::EngineError;
use crate::server::{Conduct, Home, Server, copy_tree};

/// Longest wait for a server to answer; a busy machine is slow.
const START_LIMIT: Duration = Duration::from_secs(60);

/// In the directory of an installed version: the unpacked packages, and a data directory to copy.
const TREE: &str = "tree";
const TEMPLATE: &str = "template";
/// In the tree: a server that came with its libraries and a data directory, as MySQL 5.6 does.
pub const PACKED: &str = "server";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    pub flavour: Flavour,
    pub root: PathBuf,
}

/// A server of our own. What it has is gone with it: it is killed, not asked to end.
pub struct Running {
    pub login: Login,
    server: Server,
    _home: Home,
}

impl Running {
    pub fn has_ended(&mut self) -> bool {
        self.server.ended().is_some()
    }

    /// How it ended, if it does within a moment, and what it said of it.
    pub fn last_words(&mut self) -> Option<String> {
        let status = self.server.wait(Duration::from_secs(3))?;
        let log = self.server.log();
        let telling = |line: &&str| line.contains("ssertion") || line.contains("got signal");
        let words = log.lines().rev().find(telling).map(|line| format!(" ({})", line.trim()));
        Some(format!("{status}{}", words.unwrap_or_default()))
    }
}

impl Installed {
    fn tree(&self) -> PathBuf {
        self.root.join(TREE)
    }

    /// The directory of a server that came packed.
    fn packed(&self) -> Option<PathBuf> {
        Some(self.tree().join(PACKED)).filter(|directory| directory.is_dir())
    }

    /// Complete, and not just begun.
    pub fn is_there(&self) -> bool {
        self.root.join(TEMPLATE).is_dir()
    }

    pub fn start(&self) -> Result<Running, EngineError> {
        let not_started = |reason: String| EngineError::NotStarted { what: self.to_string(), reason };
        let io = |error: io::Error| not_started(error.to_string());
        let home = Home::create(self.flavour.name(), 1 << 30)?;
        let data = home.path().join("data");
        copy_tree(&self.root.join(TEMPLATE), &data, None).map_err(io)?;
        let socket = match self.flavour {
            Flavour::OceanBase => data.join("run/sql.sock"),
            _ => home.path().join("socket"),
        };
        let command = match self.flavour {
            Flavour::OceanBase => self.seekdb(&data),
            _ => self.daemon(&home, &data, &socket)?,
        };
        let conduct = Conduct { user: None, end: libc::SIGKILL, memory: None };
        let mut server = Server::start(command, conduct, &home.path().join("log")).map_err(io)?;
        let login = Login::private(self.flavour, socket);
        let attempt = || match Conn::new(login.options(Duration::from_secs(10))) {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        server.until_ready(START_LIMIT, attempt).map_err(not_started)?;
        if self.flavour == Flavour::OceanBase {
            warm_up(&login);
        }
        Ok(Running { login, server, _home: home })
    }

    /// `mariadbd` or `mysqld` for one engine: no network, small, and careless about its files, which
    /// nobody will read again.
    fn daemon(&self, home: &Home, data: &Path, socket: &Path) -> Result<Command, EngineError> {
        let mut command = self.program()?;
        command.args(self.common(data));
        command.arg(option("--socket=", socket)).arg(option("--pid-file=", &home.path().join("pid")));
        command.arg(option("--tmpdir=", home.path()));
        command.args([
            "--skip-networking",
            "--skip-name-resolve",
            "--local-infile=0",
            "--max-connections=16",
            "--default-time-zone=+00:00",
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-fast-shutdown=2",
            "--innodb-use-native-aio=0",
        ]);
        command.args(match self.flavour {
            Flavour::Mariadb => &["--plugin-maturity=stable", "--log-warnings=1"][..],
            _ if self.packed().is_some() => &["--log-warnings=1"],
            _ => &["--mysqlx=OFF", "--log-error-verbosity=1"][..],
        });
        Ok(command)
    }

    /// Where messages, character sets and scripts are: newer versions of MariaDB go by their own name.
    fn share(&self) -> PathBuf {
        if let Some(packed) = self.packed() {
            return packed.join("share");
        }
        let [old, new] = ["mysql", "mariadb"].map(|name| self.tree().join("usr/share").join(name));
        if old.join("charsets").is_dir() { old } else { new }
    }

    /// Options of every run, also the one that makes the data directory: sizes of files must agree.
    fn common(&self, data: &Path) -> Vec<OsString> {
        let share = self.share();
        let mut options: Vec<OsString> = vec![
            "--no-defaults".into(),
            option("--datadir=", data),
            option("--lc-messages-dir=", &share),
            option("--character-sets-dir=", &share.join("charsets")),
        ];
        let words = [
            "--character-set-server=utf8mb4",
            "--skip-log-bin",
            "--performance-schema=OFF",
            "--innodb-buffer-pool-size=64M",
            "--innodb-doublewrite=0",
        ];
        options.extend(words.map(OsString::from));
        match self.flavour {
            Flavour::Mariadb => options.push("--innodb-log-file-size=4M".into()),
            _ if self.packed().is_some() => options.push("--innodb-log-file-size=4M".into()),
            // Without the second it looks for a directory that is not there and gives up.
            _ => options
                .extend(["--innodb-redo-log-capacity=8M", "--secure-file-priv=NULL"].map(OsString::from)),
        }
        // They refuse root unless they are told by name.
        // SAFETY: takes nothing and cannot fail.
        if unsafe { libc::geteuid() } == 0 {
            options.push("--user=root".into());
        }
        options
    }

    /// The server under the loader of its own tree: neither it nor its libraries are the system's.
    fn program(&self) -> Result<Command, EngineError> {
        let tree = self.tree();
        if let Some(packed) = self.packed() {
            let mut command = Command::new(packed.join("mysqld"));
            command.env("LD_LIBRARY_PATH", &packed);
            return Ok(command);
        }
        let not_there = |what: &str| EngineError::NotStarted {
            what: self.to_string(),
            reason: format!("{what} is missing in {}", tree.display()),
        };
        let mut libraries = Vec::new();
        for parent in [tree.join("lib"), tree.join("usr/lib")] {
            let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
            let triples = entries.filter(|entry| entry.file_name().to_string_lossy().contains("-linux-"));
            libraries.extend(triples.map(|entry| entry.path()));
        }
        let loader = libraries.iter().flat_map(std::fs::read_dir).flatten().flatten();
        let is_loader = |name: &str| name.starts_with("ld-linux") && name.contains(".so");
        let mut loaders = loader.filter(|entry| is_loader(&entry.file_name().to_string_lossy()));
        let loader = loaders.next().ok_or_else(|| not_there("the loader"))?.path();
        let daemon = match self.flavour {
            Flavour::Mariadb => "usr/sbin/mariadbd",
            _ => "usr/sbin/mysqld",
        };
        let path = std::env::join_paths(libraries).map_err(|_| not_there("a directory that can be named"))?;
        let mut command = Command::new(loader);
        command.arg("--library-path").arg(path).arg(tree.join(daemon));
        Ok(command)
    }

    /// OceanBase listens on every interface there is, and wants one besides loopback: it gets a network of
    /// its own, which nothing leads to, and is reached by its socket. Root, or a kernel that lets users make
    /// namespaces, is needed for that.
    fn seekdb(&self, data: &Path) -> Command {
        const NETWORK: &str = "ip link set lo up && ip link add dissent0 type veth peer name dissent1 && \
                               ip addr add 192.0.2.1/24 dev dissent0 && ip link set dissent0 up && exec \"$0\" \"$@\"";
        let mut command = Command::new("unshare");
        // SAFETY: takes nothing and cannot fail.
        if unsafe { libc::geteuid() } != 0 {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--net", "sh", "-c", NETWORK]).arg(self.tree().join("pylibseekdb/seekdb"));
        command.args(["--nodaemon", "--port", "2881", "--log-level", "ERROR", "--base-dir"]).arg(data);
        for parameter in ["datafile_size=256M", "log_disk_size=2G", "memory_limit=2G"] {
            command.args(["--parameter", parameter]);
        }
        command
    }

    /// What the program says its version is.
    pub fn version(&self) -> Result<String, EngineError> {
        let mut command = match self.flavour {
            Flavour::OceanBase => Command::new(self.tree().join("pylibseekdb/seekdb")),
            _ => self.program()?,
        };
        let output =
            command.arg("--version").stdin(Stdio::null()).output().map_err(|error| {
                EngineError::NotStarted { what: self.to_string(), reason: error.to_string() }
            })?;
        // It is the first word with a point between digits.
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
        let words = text.split(|c: char| c.is_whitespace() || "()-".contains(c));
        Ok(words.filter(|word| !word.contains('/')).find(is_version).unwrap_or("unknown").to_string())
    }

    /// Makes the data directory that every start copies.
    pub fn initialise(&self) -> Result<(), EngineError> {
        let template = self.root.join(TEMPLATE);
        let failed = |reason: String| EngineError::NotStarted { what: self.to_string(), reason };
        // Under another name until it is complete.
        let unfinished = self.root.join("unfinished");
        let made = match self.flavour {
            // It makes its own when it starts, as quickly as it could be copied.
            Flavour::OceanBase => std::fs::create_dir(&unfinished).map_err(|error| error.to_string()),
            Flavour::Mariadb => self.bootstrap(&unfinished),
            _ if self.packed().is_some() => {
                let data = self.tree().join(PACKED).join("data/mysql");
                copy_tree(&data, &unfinished, None).map_err(|error| error.to_string())
            }
            _ => {
                let mut command = self.program()?;
                command.args(self.common(&unfinished)).args(["--initialize-insecure", "--mysqlx=OFF"]);
                finish(command, b"")
            }
        };
        made.map_err(failed)?;
        std::fs::rename(&unfinished, &template).map_err(|error| failed(error.to_string()))
    }

    /// What `mariadb-install-db` does, without what only a server that stays needs.
    fn bootstrap(&self, data: &Path) -> Result<(), String> {
        let told = |error: io::Error| error.to_string();
        std::fs::create_dir(data).map_err(told)?;
        let share = self.share();
        let mut script = b"CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n".to_vec();
        for part in ["system_tables.sql", "system_tables_data.sql"] {
            let named = |prefix: &str| std::fs::read(share.join(format!("{prefix}_{part}")));
            script.extend(named("mysql").or_else(|_| named("mariadb")).map_err(told)?);
        }
        let mut command = self.program().map_err(|error| error.to_string())?;
        command.args(self.common(data)).args(["--bootstrap", "--log-warnings=0"]);
        finish(command, &script)
    }
}

impl std::fmt::Display for Installed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.flavour.name())
    }
}

/// The first name that OceanBase does not know takes it five seconds: no statement of a check should be that one.
fn warm_up(login: &Login) {
    use mysql::prelude::Queryable;
    let _ = Conn::new(login.options(START_LIMIT)).and_then(|mut conn| conn.query_drop("SELECT unknown_name"));
}

fn option(name: &str, path: &Path) -> OsString {
    let mut text = OsString::from(name);
    text.push(path);
    text
}

/// Runs a command that reads `input`; its complaint if it fails.
fn finish(mut command: Command, input: &[u8]) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(told)?;
    let mut stdin = child.stdin.take();
    std::thread::scope(|scope| {
        // Beside the wait: it may print before it has read everything.
        scope.spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(input)));
        let output = child.wait_with_output().map_err(told)?;
        if output.status.success() {
            return Ok(());
        }
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        let error =
            complaint.lines().find(|line| line.contains("ERROR")).or_else(|| complaint.lines().last());
        Err(error.map_or_else(|| output.status.to_string(), str::to_string))
    })
}
