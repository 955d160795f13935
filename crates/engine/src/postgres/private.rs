//! A private PostgreSQL server, started from an installation and its ready-made data directory.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::told;
use super::wire::{Address, Login, Wire};
use crate::EngineError;
use crate::armed::{Arms, Equipped};
use crate::confine::{Confinement, User};
use crate::launch::{LOOPBACK, Launch, Launched, Reach};
use crate::product::Product;
use crate::server::{Home, Server, copy_tree};
use crate::tls::{Mode, Tls};

/// The superuser of private servers, who may log in without a password.
const SUPERUSER: &str = "postgres";
/// As whom statements under test run on PostgreSQL. It owns the databases that are made for it, and may do nothing else.
const ROLE: &str = "dissent";
/// Where an installation keeps its programs, and the data directory that servers begin with.
pub const PROGRAMS: &str = "native";
pub const TEMPLATE: &str = "template";
/// Among the programs.
const PROGRAM: &str = "bin/postgres";

/// What a server may come to need in its directory: data, temporary files, a copy of the programs.
pub const ROOM: u64 = 1 << 30;
/// Address space of each of its processes. Beyond it, statements fail with out of memory.
const MEMORY: u64 = 4 << 30;
const START_LIMIT: Duration = Duration::from_secs(60);

/// Nothing survives a crash, nothing is logged but the server's own troubles, and no helper changes
/// statistics behind our back. After a crash the server stays down, so that it is seen and a fresh one
/// takes its place.
const SETTINGS: &[&str] = &[
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "max_connections=8",
    "shared_buffers=16MB",
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_wal_size=64MB",
    "min_wal_size=32MB",
    "autovacuum=off",
    "jit=off",
    "dynamic_shared_memory_type=mmap",
    "temp_file_limit=256MB",
    "restart_after_crash=off",
    "logging_collector=off",
    "log_min_messages=log",
    "log_min_error_statement=panic",
    "log_checkpoints=off",
    "lc_messages=C",
    "timezone=UTC",
];

/// Settings that came with a version.
const LATER_SETTINGS: &[(u32, &str)] = &[(11, "jit=off")];

/// The signal ends the server and all its processes at once.
fn confinement(user: Option<User>) -> Confinement {
    Confinement { user, end: libc::SIGQUIT, memory_bytes: Some(MEMORY), ..Confinement::default() }
}

/// As whom to log in to a private server.
pub fn login(product: &Product) -> Login {
    let engine = &product.descriptor;
    Login {
        user: engine.user.clone().unwrap_or_default(),
        password: engine.password.clone(),
        database: engine.database.clone().unwrap_or_default(),
        tls: Tls { mode: Mode::Disable, root: None },
        version_parameter: engine.version_parameter.clone(),
    }
}

/// Connects to a server that may just have been started.
pub fn knock(product: &Product, reach: &Reach) -> Result<Wire, String> {
    let login = login(product);
    Wire::connect(&address(reach), &login, &login.database, START_LIMIT)
}

fn address(reach: &Reach) -> Address {
    match reach {
        Reach::Socket(path) => Address::Socket(path.clone()),
        Reach::Port(port) => Address::Tcp { host: LOOPBACK.to_string(), port: *port },
    }
}

/// The server's program in an installation.
pub fn program(installation: &Path) -> PathBuf {
    installation.join(PROGRAMS).join(PROGRAM)
}

/// What a server of this name does wrong when it is started.
fn not_started(name: &str) -> impl Fn(String) -> EngineError {
    move |reason| EngineError::NotStarted { what: name.to_string(), reason }
}

pub struct Private {
    /// Ended before its directory is removed: fields go in this order.
    server: Server,
    _home: Home,
    address: Address,
    role: Option<&'static str>,
}

impl Private {
    /// Starts a server of this version; `name` is what messages call it.
    pub fn start(
        product: &'static Product,
        installation: &Path,
        name: &str,
        version: &str,
        arms: Option<&Arms>,
    ) -> Result<Private, EngineError> {
        if let Some(launch) = Launch::at(product, installation) {
            let (Launched { server, home, reach }, _) = launch.start(|reach| knock(product, reach))?;
            return Ok(Private { server, _home: home, address: address(&reach), role: None });
        }
        let failed = not_started(name);
        let home = Home::create("postgres", ROOM)?;
        let user = User::unprivileged();
        let programs = programs_for(user, installation, &home).map_err(|error| failed(error.to_string()))?;
        let data = home.path().join("data");
        copy_tree(&installation.join(TEMPLATE), &data, user).map_err(|error| failed(error.to_string()))?;
        let mut command = Command::new(programs.join(PROGRAM));
        command.arg("-D").arg(&data).arg("-k").arg(&data).args(settings(version));
        command.current_dir(&data).env_remove("PGDATA").env_remove("PGOPTIONS");
        let log = home.path().join("log");
        let equipped = arms.map(|arms| arms.equip(&mut command, &home)).transpose()?;
        let map = equipped.as_ref().map(Equipped::descriptor);
        let confinement = Confinement { map, ..confinement(user) };
        let mut server =
            Server::start(command, confinement, &log).map_err(|error| failed(error.to_string()))?;
        let reach = Reach::Socket(data.join(".s.PGSQL.5432"));
        let mut wire = server.until_ready(START_LIMIT, || knock(product, &reach)).map_err(&failed)?;
        equipped.map_or(Ok(()), |equipped| equipped.check())?;
        // The settings of a server that nobody else uses are no secret.
        let create = format!("CREATE ROLE {ROLE} LOGIN IN ROLE pg_read_all_settings");
        told(wire.query(&create, 0)).map_err(failed)?;
        Ok(Private { server, _home: home, address: address(&reach), role: Some(ROLE) })
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    /// As whom statements under test run.
    pub fn user(&self, product: &Product) -> Login {
        let login = login(product);
        Login { user: self.role.map_or(login.user.clone(), str::to_string), ..login }
    }

    /// Why the server is gone, in its own words, if it has any.
    pub fn last_words(&mut self) -> Option<String> {
        self.server.wait(Duration::from_secs(2))?;
        let log = self.server.log();
        let telling = |line: &&str| {
            ["terminated by signal", "PANIC: ", "TRAP: "].iter().any(|sign| line.contains(sign))
        };
        let line = log.lines().find(telling)?;
        let words = line.split_once(":  ").map_or(line, |(_, words)| words);
        Some(without_process_number(words))
    }
}

fn settings(version: &str) -> Vec<String> {
    let major: u32 = version.split(['.', '-']).next().and_then(|major| major.parse().ok()).unwrap_or(0);
    let missing =
        |setting: &&&str| LATER_SETTINGS.iter().any(|(since, name)| name == *setting && major < *since);
    let known = SETTINGS.iter().filter(|setting| !missing(setting));
    known.flat_map(|setting| ["-c".to_string(), setting.to_string()]).collect()
}

/// `server process (PID 123) was terminated` is the same as the one with another number.
fn without_process_number(words: &str) -> String {
    match (words.find(" (PID "), words.find(')')) {
        (Some(start), Some(end)) if start < end => format!("{}{}", &words[..start], &words[end + 1..]),
        _ => words.to_string(),
    }
}

/// The installation's programs, where the user of the server can reach them: those of root's private
/// cache are copied.
fn programs_for(user: Option<User>, installation: &Path, home: &Home) -> io::Result<PathBuf> {
    let programs = installation.join(PROGRAMS);
    if user.is_none_or(|user| user.reaches(&programs)) {
        return Ok(programs);
    }
    let copy = home.path().join(PROGRAMS);
    copy_tree(&programs, &copy, None)?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
    Ok(copy)
}

/// Makes the data directory that servers of this installation begin with, inside it.
pub fn make_template(installation: &Path, name: &str) -> Result<(), EngineError> {
    let failed = not_started(name);
    let trouble = |error: io::Error| failed(error.to_string());
    let home = Home::create("postgres", ROOM)?;
    let user = User::unprivileged();
    let programs = programs_for(user, installation, &home).map_err(trouble)?;
    let data = home.path().join("data");
    fs::create_dir(&data).map_err(trouble)?;
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).map_err(trouble)?;
    if let Some(user) = user {
        user.own(&data).map_err(trouble)?;
    }
    let mut command = Command::new(programs.join("bin/initdb"));
    command.arg("-D").arg(&data).args(["-U", SUPERUSER, "-A", "trust", "--no-locale", "-E", "UTF8", "-N"]);
    command.current_dir(&data);
    let log = home.path().join("log");
    let mut initdb = Server::start(command, confinement(user), &log).map_err(trouble)?;
    match initdb.wait(START_LIMIT) {
        Some(status) if status.success() => {}
        Some(status) => {
            let log = initdb.log();
            let words = log.lines().find(|line| line.contains("error")).unwrap_or("it printed nothing");
            return Err(failed(format!("initdb: {words} ({status})")));
        }
        None => return Err(failed(format!("initdb did not finish within {} s", START_LIMIT.as_secs()))),
    }
    copy_tree(&data, &installation.join(TEMPLATE), None).map_err(trouble)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_obituary_is_the_same_every_time() {
        let words = "server process (PID 17) was terminated by signal 11: Segmentation fault";
        assert_eq!(
            without_process_number(words),
            "server process was terminated by signal 11: Segmentation fault"
        );
    }

    #[test]
    fn an_old_server_is_not_told_what_it_does_not_know() {
        assert!(settings("18.4").contains(&"jit=off".to_string()));
        assert!(settings("19-rc1").contains(&"jit=off".to_string()));
        assert!(!settings("10.20").contains(&"jit=off".to_string()));
    }
}
