//! Private servers by description: `[engine.server]` of a dialect's file says how one is started.

use std::fs::{File, Permissions};
use std::io;
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dissent_core::dialect::ServerProgram;

use crate::confine::{Confinement, User};
use crate::product::Product;
use crate::server::{Home, Server, copy_tree};
use crate::store::{Arrival, not_writable};
use crate::{EngineError, interpreter};

/// Where servers listen that have no socket.
pub const LOOPBACK: &str = "127.0.0.1";
/// What a server may come to need in its directory.
pub const ROOM: u64 = 1 << 30;
/// Longest wait for a server to answer; a busy machine is slow.
const START_LIMIT: Duration = Duration::from_secs(120);
/// A port that was free may be taken by the time the server asks for it.
const ATTEMPTS: u32 = 3;

/// In the directory of an installed version: the package, and the data directory that servers begin with.
const PACKAGE: &str = "tree";
const TEMPLATE: &str = "template";

/// An installed package whose server is started for every engine that is opened.
pub struct Launch {
    /// What messages call it.
    name: String,
    engine: &'static str,
    program: &'static ServerProgram,
    root: PathBuf,
}

/// Where a server of our own listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    Socket(PathBuf),
    /// On loopback.
    Port(u16),
}

/// A server of our own. It ends before its directory is removed: fields go in this order.
pub struct Launched {
    pub server: Server,
    pub home: Home,
    pub reach: Reach,
}

/// Makes an installation of a package whose server is described. `version` asks a running server for its own. `None`: it
/// is not described.
pub fn install(
    arrival: &Arrival,
    version: impl Fn(&Reach) -> Result<String, String>,
) -> Option<Result<String, EngineError>> {
    let launch = Launch::at(arrival.product, arrival.kept)?;
    Some(launch.install(arrival, version))
}

impl Launch {
    /// What is in the directory of a version. `None`: its server is not described.
    pub fn at(product: &'static Product, root: &Path) -> Option<Launch> {
        let program = product.descriptor.server.as_ref()?;
        let name = product.title().to_string();
        Some(Launch { name, engine: product.name(), program, root: root.to_path_buf() })
    }

    fn install(
        &self,
        arrival: &Arrival,
        version: impl Fn(&Reach) -> Result<String, String>,
    ) -> Result<String, EngineError> {
        let package = self.root.join(PACKAGE);
        std::fs::rename(arrival.downloaded, &package).map_err(not_writable(&package))?;
        if let Some(file) = self.program.program.strip_prefix("{package}/") {
            // Not every archive keeps what may be run.
            let file = package.join(file);
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).map_err(not_writable(&file))?;
        }
        let (Launched { server, home, .. }, found) = self.start_until(libc::SIGTERM, version)?;
        // Asked to end, it writes what the others begin with.
        drop(server);
        if arrival.release.is(&found) {
            let template = self.root.join(TEMPLATE);
            copy_tree(&data_in(&home), &template, None).map_err(not_writable(&template))?;
        }
        Ok(found)
    }

    /// Starts a server with a directory of its own; it is ready once `attempt` succeeds.
    pub fn start<T>(
        &self,
        attempt: impl Fn(&Reach) -> Result<T, String>,
    ) -> Result<(Launched, T), EngineError> {
        self.start_until(libc::SIGKILL, attempt)
    }

    /// The same, with the signal that ends it.
    fn start_until<T>(
        &self,
        end: libc::c_int,
        attempt: impl Fn(&Reach) -> Result<T, String>,
    ) -> Result<(Launched, T), EngineError> {
        let mut last = self.try_start(end, &attempt);
        for _ in 1..ATTEMPTS {
            match &last {
                Err(_) if self.program.socket.is_none() => last = self.try_start(end, &attempt),
                _ => break,
            }
        }
        last
    }

    fn try_start<T>(
        &self,
        end: libc::c_int,
        attempt: &impl Fn(&Reach) -> Result<T, String>,
    ) -> Result<(Launched, T), EngineError> {
        let io = |error: io::Error| self.not_started(error.to_string());
        let home = Home::create(self.engine, ROOM)?;
        let user = User::unprivileged();
        let own = |path: &Path| user.map_or(Ok(()), |user| user.own(path));
        let (run, data, template) = (run_in(&home), data_in(&home), self.root.join(TEMPLATE));
        std::fs::create_dir(&run).and_then(|()| own(&run)).map_err(io)?;
        std::fs::set_permissions(&run, Permissions::from_mode(0o700)).map_err(io)?;
        match template.is_dir() {
            true => copy_tree(&template, &data, user),
            false => std::fs::create_dir(&data).and_then(|()| own(&data)),
        }
        .map_err(io)?;
        // A server inherits it: it runs as a user who may not be able to reach the cache by its path.
        let package = File::open(self.root.join(PACKAGE)).map_err(io)?;
        // A worker behind its wall may not even ask for a port, unless its server needs one.
        let port = if self.program.socket.is_some() { 0 } else { free_port().map_err(io)? };
        let place = Place { package: format!("/proc/self/fd/{}", package.as_raw_fd()), home: &run, port };
        for (name, content) in &self.program.files {
            let file = run.join(name);
            for directory in missing(&file) {
                std::fs::create_dir(directory).and_then(|()| own(directory)).map_err(io)?;
            }
            std::fs::write(&file, place.fill(content)).and_then(|()| own(&file)).map_err(io)?;
        }
        let mut command = Command::new(place.fill(&self.program.program));
        command.args(self.program.arguments.iter().map(|argument| place.fill(argument)));
        command.env("HOME", &run).env("TMPDIR", &run);
        command.envs(self.program.environment.iter().map(|(name, value)| (name, place.fill(value))));
        command.current_dir(&data);
        interpreter::put_first(&self.program.program, &mut command);
        let reach = match &self.program.socket {
            Some(socket) => Reach::Socket(place.fill(socket).into()),
            None => Reach::Port(place.port),
        };
        let inherited = Some(package.as_raw_fd());
        let confinement = Confinement { end, user, inherited, ..Confinement::default() };
        let mut server = match Server::start(command, confinement, &home.path().join("log")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(
                    self.not_started(format!("it needs {}, which is not installed", self.program.program))
                );
            }
            started => started.map_err(io)?,
        };
        let ready =
            server.until_ready(START_LIMIT, || attempt(&reach)).map_err(|reason| self.not_started(reason))?;
        // Whoever answers at a port need not be the one we started.
        if server.ended().is_some() {
            return Err(self.not_started("it ended at once".to_string()));
        }
        Ok((Launched { server, home, reach }, ready))
    }

    fn not_started(&self, reason: String) -> EngineError {
        EngineError::NotStarted { what: self.name.clone(), reason }
    }
}

/// The directory that a description calls its home. Ours above it holds the lock that shows whose it is.
fn run_in(home: &Home) -> PathBuf {
    home.path().join("run")
}

fn data_in(home: &Home) -> PathBuf {
    run_in(home).join("data")
}

/// The directories above a file that are not there yet, the outermost first.
fn missing(file: &Path) -> Vec<&Path> {
    let mut missing: Vec<&Path> = file.ancestors().skip(1).take_while(|above| !above.exists()).collect();
    missing.reverse();
    missing
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((LOOPBACK, 0))?.local_addr()?.port())
}

/// What a description's words in braces stand for.
struct Place<'a> {
    package: String,
    home: &'a Path,
    port: u16,
}

impl Place<'_> {
    fn fill(&self, text: &str) -> String {
        text.replace("{package}", &self.package)
            .replace("{data}", &self.home.join("data").to_string_lossy())
            .replace("{home}", &self.home.to_string_lossy())
            .replace("{port}", &self.port.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_filled_in() {
        let place = Place { package: "/cache/tree".into(), home: Path::new("/home"), port: 4711 };
        assert_eq!(place.fill("{package}/run"), "/cache/tree/run");
        assert_eq!(place.fill("--at={home}/socket:{port} {data}"), "--at=/home/socket:4711 /home/data");
    }
}
