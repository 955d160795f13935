//! An installed server program: initialised once, and started for each engine.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::Login;
use crate::EngineError;
use crate::armed::{Arms, Binary, Equipped};
use crate::confine::{Confinement, User};
use crate::launch::{Launch, Launched, Reach};
use crate::loader::Loader;
use crate::product::Product;
use crate::server::{Home, Server, copy_tree};
use crate::store::{Arrival, not_writable};

/// Longest wait for a server to answer; a busy machine is slow.
const START_LIMIT: Duration = Duration::from_secs(60);

/// What a server may come to need in its directory.
pub const ROOM: u64 = 1 << 30;

/// In the directory of an installed version: the unpacked packages, and a data directory to copy.
const TREE: &str = "tree";
const TEMPLATE: &str = "template";
/// In the tree: a server that came with its libraries and a data directory.
const PACKED: &str = "server";

/// What makes the account that statements under test run as. Reading is not restricted: there is nothing of anybody's to
/// read.
const ACCOUNT: [&str; 3] = [
    "CREATE USER {account}",
    "GRANT ALL ON `dissent\\_%`.* TO {account}",
    "GRANT SELECT, PROCESS ON *.* TO {account}",
];

/// They let every account put a table into any directory; with this they pass over DATA DIRECTORY.
const NO_DIRECTORIES: &str = "--skip-symbolic-links";

/// The programs of the family, by where they are in a tree; how they are initialised and started differs.
const PROGRAMS: [(&str, Program); 6] = [
    ("server/mysqld", Program::Packed),
    ("bin/mariadbd", Program::Mariadbd),
    ("bin/mysqld", Program::Mariadbd),
    ("pylibseekdb/seekdb", Program::Seekdb),
    ("usr/sbin/mariadbd", Program::Mariadbd),
    ("usr/sbin/mysqld", Program::Mysqld),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    Mysqld,
    Mariadbd,
    /// An old `mysqld` with its libraries and a data directory in one folder.
    Packed,
    /// OceanBase as one program.
    Seekdb,
}

/// A server program on this machine, started for every engine that is opened.
pub struct Installed {
    /// What messages call it.
    name: String,
    program: Program,
    /// Where the program is in the tree.
    file: &'static str,
    root: PathBuf,
    /// The directory of the unpacked packages. A server inherits it: it runs as a user who may not be able to reach
    /// the cache by its path.
    tree: File,
    /// Its code is watched.
    arms: Option<Arms>,
}

/// What one run of the program may write to. It belongs to the user that the program runs as.
struct Workplace {
    home: Home,
    user: Option<User>,
}

impl Workplace {
    /// `room`: what the program may come to need, in bytes.
    fn create(room: u64) -> Result<Workplace, EngineError> {
        let place = Workplace { home: Home::create("mysql", room)?, user: User::unprivileged() };
        let made = place.directory("run", 0o700).and_then(|()| fs::create_dir(place.nothing()));
        let closed = || fs::set_permissions(place.nothing(), fs::Permissions::from_mode(0o555));
        made.and_then(|()| closed()).map_err(not_writable(place.home.path()))?;
        Ok(place)
    }

    fn directory(&self, name: &str, mode: u32) -> io::Result<()> {
        let path = self.home.path().join(name);
        fs::create_dir(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        self.user.map_or(Ok(()), |user| user.own(&path))
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// For its socket and temporary files.
    fn run(&self) -> PathBuf {
        self.home.path().join("run")
    }

    /// An empty directory that nobody can write to: the only one that statements may name.
    fn nothing(&self) -> PathBuf {
        self.home.path().join("nothing")
    }
}

/// What a server of our own is started from.
pub enum Starter {
    /// A program of the family.
    Installed(Installed),
    /// One whose dialect's file says how.
    Described(Launch),
}

impl Starter {
    pub fn at(product: &'static Product, root: &Path, arms: Option<&Arms>) -> Result<Starter, EngineError> {
        match Launch::at(product, root) {
            Some(launch) => Ok(Starter::Described(launch)),
            None => {
                let installed = Installed::at(product.title(), root)?;
                Ok(Starter::Installed(Installed { arms: arms.cloned(), ..installed }))
            }
        }
    }

    pub fn start(&self) -> Result<Running, EngineError> {
        match self {
            Starter::Installed(installed) => installed.start(),
            Starter::Described(launch) => {
                let (Launched { server, home, .. }, login) = launch.start(|reach| {
                    let login = Login::private(reach, "root");
                    login.try_out().map(|()| login)
                })?;
                Ok(Running { login, server, _home: home })
            }
        }
    }
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
        let signs = ["ssertion", "got signal", "panic: ", "fatal error: "];
        let telling = |line: &&str| signs.iter().any(|sign| line.contains(sign));
        let words = log.lines().rev().find(telling).map(|line| format!(" ({})", without_place(line)));
        Some(format!("{status}{}", words.unwrap_or_default()))
    }

    /// The frames of the stack that it wrote to its log when it died.
    pub fn stack(&self) -> Vec<String> {
        stack_in(&self.server.log())
    }
}

/// A line of the log without when it was written and where the program lies.
fn without_place(line: &str) -> String {
    let said = line.rsplit_once("] ").map_or(line, |(_, said)| said);
    let words = said.split_whitespace().filter(|word| *word != ";");
    let plain = |word: &str| match word.starts_with('/') {
        true => word.rsplit('/').next().unwrap_or(word).to_string(),
        false => word.to_string(),
    };
    words.map(plain).collect::<Vec<_>>().join(" ")
}

/// Frames that a reader wants.
const MOST_FRAMES: usize = 20;

/// The frames of a stack trace, without where the program lies and where in memory it was: `mariadbd(f()+0x1d)` of
/// `/usr/sbin/mariadbd(f()+0x1d)[0x55d0c8]`, `sql/sql_lex.cc:1(f())` of `sql/sql_lex.cc:1(f())[0x55d0c8]`.
fn stack_in(log: &str) -> Vec<String> {
    let frame = |line: &str| {
        let frame = line.trim().rsplit_once(['[', ' ']).filter(|(_, address)| address.starts_with("0x"))?.0;
        let (program, rest) = frame.trim_end().split_once('(')?;
        let program = if program.starts_with('/') { program.rsplit('/').next()? } else { program };
        Some(format!("{program}({rest}"))
    };
    // How the trace itself is written says nothing.
    let own = ["print_stacktrace", "handle_fatal_signal", "libc", "libpthread", "__restore_rt"];
    let telling = |frame: &String| !own.iter().any(|part| frame.contains(part));
    log.lines().filter_map(frame).filter(telling).take(MOST_FRAMES).collect()
}

impl Installed {
    /// What is in the directory of a version.
    pub fn at(name: &str, root: &Path) -> Result<Installed, EngineError> {
        let path = root.join(TREE);
        let failed = |reason| EngineError::NotStarted { what: name.to_string(), reason };
        let found = PROGRAMS.iter().find(|(file, _)| path.join(file).is_file());
        let (file, program) =
            *found.ok_or_else(|| failed(format!("no server program in {}", path.display())))?;
        let tree = File::open(&path).map_err(|error| failed(error.to_string()))?;
        let root = root.to_path_buf();
        Ok(Installed { name: name.to_string(), program, file, root, tree, arms: None })
    }

    /// Where its code is. OceanBase's is not watched: with breakpoints it ends with SIGTRAP when it starts.
    pub fn binary(&self) -> Option<Binary> {
        (!self.listens()).then(|| Binary::server(self.root.join(TREE).join(self.file)))
    }

    /// Its makers' own build, which brings some libraries and uses the system's for the rest.
    fn is_in_one_tree(&self) -> bool {
        self.file.starts_with("bin/")
    }

    pub fn listens(&self) -> bool {
        self.program == Program::Seekdb
    }

    /// Makes an installation out of what was downloaded. Returns the version that its program says it has.
    pub fn unpack(arrival: &Arrival) -> Result<String, EngineError> {
        let tree = arrival.kept.join(TREE);
        let place = match arrival.downloaded.join("mysqld").is_file() {
            true => tree.join(PACKED),
            false => tree.clone(),
        };
        fs::create_dir_all(place.parent().unwrap_or(&tree))
            .and_then(|()| fs::rename(arrival.downloaded, &place))
            .map_err(not_writable(&tree))?;
        let installed = Installed::at(&arrival.wanted.name, arrival.kept)?;
        // Not every archive keeps what may be run.
        let file = tree.join(installed.file);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).map_err(not_writable(&file))?;
        let found = installed.version()?;
        if arrival.release.is(&found) {
            installed.initialise()?;
        }
        Ok(found)
    }

    /// The unpacked packages, by a path that works here and in every process that inherits the directory.
    fn tree(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.tree.as_raw_fd()))
    }

    fn file(&self) -> PathBuf {
        self.tree().join(self.file)
    }

    /// Never root, if it can be helped.
    fn confinement(&self, user: Option<User>) -> Confinement {
        Confinement { user, inherited: Some(self.tree.as_raw_fd()), ..Confinement::default() }
    }

    fn not_started(&self, reason: impl ToString) -> EngineError {
        EngineError::NotStarted { what: self.name.clone(), reason: reason.to_string() }
    }

    pub fn start(&self) -> Result<Running, EngineError> {
        let io = |error: io::Error| self.not_started(error);
        let place = Workplace::create(ROOM)?;
        let data = place.data();
        copy_tree(&self.root.join(TEMPLATE), &data, place.user).map_err(io)?;
        // Whoever reaches its socket is let in.
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).map_err(io)?;
        let socket = match self.program {
            Program::Seekdb => data.join("run/sql.sock"),
            _ => place.run().join("socket"),
        };
        // What gives OceanBase its network is root's, and drops that itself.
        let (mut command, user) = match self.program {
            Program::Seekdb => (self.seekdb(&place), None),
            _ => (self.daemon(&place, &socket)?, place.user),
        };
        let log = place.home.path().join("log");
        let equipped = self.arms.as_ref().map(|arms| arms.equip(&mut command, &place.home)).transpose()?;
        let map = equipped.as_ref().map(Equipped::descriptor);
        let confinement = Confinement { map, ..self.confinement(user) };
        let mut server = Server::start(command, confinement, &log).map_err(io)?;
        let reach = Reach::Socket(socket);
        let root = Login::private(&reach, "root");
        server.until_ready(START_LIMIT, || root.try_out()).map_err(|reason| self.not_started(reason))?;
        equipped.map_or(Ok(()), |equipped| equipped.check())?;
        if self.program == Program::Seekdb {
            warm_up(&root);
        }
        let login = self.make_account(&root, &reach).map_err(|error| self.not_started(error))?;
        Ok(Running { login, server, _home: place.home })
    }

    /// An account for statements under test: it may not touch files, settings of the server or other accounts.
    fn make_account(&self, root: &Login, reach: &Reach) -> mysql::Result<Login> {
        use mysql::prelude::Queryable;
        let mut conn = root.connect(START_LIMIT)?;
        // To OceanBase, who comes by its socket comes from nowhere.
        let account = if self.program == Program::Seekdb { "dissent@'%'" } else { "dissent@localhost" };
        for sql in ACCOUNT {
            conn.query_drop(sql.replace("{account}", account))?;
        }
        if self.program == Program::Mysqld {
            // Some settings of the session are not for everyone there. Earlier versions do not know the privilege.
            let _ = conn.query_drop("GRANT SESSION_VARIABLES_ADMIN ON *.* TO dissent@localhost");
        }
        Ok(Login::private(reach, "dissent"))
    }

    /// `mariadbd` or `mysqld` for one engine: no network, small, and careless about its files, which
    /// nobody will read again.
    fn daemon(&self, place: &Workplace, socket: &Path) -> Result<Command, EngineError> {
        let mut command = self.program()?;
        command.args(self.common(place));
        command.arg(option("--socket=", socket)).arg(option("--pid-file=", &place.run().join("pid")));
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
        command.args(match self.program {
            Program::Mariadbd => &["--plugin-maturity=stable", "--log-warnings=1", NO_DIRECTORIES][..],
            Program::Packed => &["--log-warnings=1", NO_DIRECTORIES],
            // Threads of their own write the log and read a table to build an index, which at this size costs three
            // times what they do. The second is a setting of the session, which the oracle `plan` draws.
            _ => &[
                "--mysqlx=OFF",
                "--log-error-verbosity=1",
                "--loose-innodb-log-writer-threads=OFF",
                "--loose-innodb-parallel-read-threads=1",
            ],
        });
        Ok(command)
    }

    /// Where messages, character sets and scripts are: newer versions of MariaDB go by their own name.
    fn share(&self) -> PathBuf {
        if self.program == Program::Packed {
            return self.tree().join(PACKED).join("share");
        }
        if self.is_in_one_tree() {
            return self.tree().join("share");
        }
        let [old, new] = ["mysql", "mariadb"].map(|name| self.tree().join("usr/share").join(name));
        if old.join("charsets").is_dir() { old } else { new }
    }

    /// Options of every run, also the one that makes the data directory: sizes of files must agree.
    fn common(&self, place: &Workplace) -> Vec<OsString> {
        let share = self.share();
        let mut options: Vec<OsString> = vec![
            "--no-defaults".into(),
            option("--datadir=", &place.data()),
            option("--tmpdir=", &place.run()),
            option("--plugin-dir=", &place.nothing()),
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
        match self.program {
            // They take NULL for the name of a directory.
            Program::Mariadbd | Program::Packed => options.extend([
                "--innodb-log-file-size=4M".into(),
                option("--secure-file-priv=", &place.nothing()),
            ]),
            _ => options
                .extend(["--innodb-redo-log-capacity=8M", "--secure-file-priv=NULL"].map(OsString::from)),
        }
        options
    }

    /// The server under the loader of its own tree: neither it nor its libraries are the system's.
    fn program(&self) -> Result<Command, EngineError> {
        let tree = self.tree();
        if self.program == Program::Packed {
            let mut command = Command::new(self.file());
            command.env("LD_LIBRARY_PATH", tree.join(PACKED));
            return Ok(command);
        }
        if self.is_in_one_tree() {
            let mut command = Command::new(self.file());
            command.env("LD_LIBRARY_PATH", tree.join("libs"));
            return Ok(command);
        }
        let missing = || self.not_started(format!("the loader is missing in {}", self.root.display()));
        Ok(Loader::of(&tree).ok_or_else(missing)?.run(&self.file()))
    }

    /// OceanBase listens on every interface there is, and wants one besides loopback: it gets a network of
    /// its own, which nothing leads to, and is reached by its socket. Root, or a kernel that lets users make
    /// namespaces, is needed for that.
    fn seekdb(&self, place: &Workplace) -> Command {
        const NETWORK: &str = "ip link set lo up && ip link add dissent0 type veth peer name dissent1 && \
                               ip addr add 192.0.2.1/24 dev dissent0 && ip link set dissent0 up && exec \"$0\" \"$@\"";
        let mut command = Command::new("unshare");
        if place.user.is_none() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--net", "sh", "-c", NETWORK]);
        // It looks for its libraries by its own path, so only a user who can reach that can run it.
        if let Some(user) = place.user.filter(|user| user.reaches(&self.root)) {
            // Another user's processes do not get the signal that ends this one unless they ask for it again.
            command.args(["setpriv", "--clear-groups", "--pdeathsig", "KILL"]).args(user.options());
        }
        command.arg(self.file());
        command
            .args(["--nodaemon", "--port", "2881", "--log-level", "ERROR", "--base-dir"])
            .arg(place.data());
        for parameter in ["datafile_size=256M", "log_disk_size=2G", "memory_limit=2G"] {
            command.args(["--parameter", parameter]);
        }
        command
    }

    /// What the program says its version is.
    fn version(&self) -> Result<String, EngineError> {
        let mut command = match self.program {
            Program::Seekdb => Command::new(self.file()),
            _ => self.program()?,
        };
        command.arg("--version").stdin(Stdio::null());
        let user = User::unprivileged().filter(|user| !self.listens() || user.reaches(&self.root));
        self.confinement(user).apply(&mut command);
        let output = command.output().map_err(|error| self.not_started(error))?;
        // It is the first word with a point between digits.
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
        let words = text.split(|c: char| c.is_whitespace() || "()-".contains(c));
        Ok(words.filter(|word| !word.contains('/')).find(is_version).unwrap_or("unknown").to_string())
    }

    /// Makes the data directory that every start copies.
    fn initialise(&self) -> Result<(), EngineError> {
        let told = |error: io::Error| self.not_started(error);
        let template = self.root.join(TEMPLATE);
        // Under another name until it is complete.
        let unfinished = self.root.join("unfinished");
        match self.program {
            // It makes its own when it starts, as quickly as it could be copied.
            Program::Seekdb => fs::create_dir(&unfinished).map_err(told)?,
            Program::Packed => {
                copy_tree(&self.tree().join(PACKED).join("data/mysql"), &unfinished, None).map_err(told)?;
            }
            Program::Mariadbd | Program::Mysqld => {
                let place = Workplace::create(ROOM)?;
                self.initialise_in(&place).map_err(|reason| self.not_started(reason))?;
                copy_tree(&place.data(), &unfinished, None).map_err(told)?;
            }
        }
        fs::rename(&unfinished, &template).map_err(told)
    }

    fn initialise_in(&self, place: &Workplace) -> Result<(), String> {
        place.directory("data", 0o700).map_err(|error| error.to_string())?;
        let mut command = self.program().map_err(|error| error.to_string())?;
        command.args(self.common(place));
        let script = match self.program {
            Program::Mariadbd => {
                command.args(["--bootstrap", "--log-warnings=0"]);
                self.bootstrap().map_err(|error| error.to_string())?
            }
            _ => {
                command.args(["--initialize-insecure", "--mysqlx=OFF"]);
                Vec::new()
            }
        };
        self.confinement(place.user).apply(&mut command);
        finish(command, &script)
    }

    /// What `mariadb-install-db` does, without what only a server that stays needs.
    fn bootstrap(&self) -> io::Result<Vec<u8>> {
        let share = self.share();
        let mut script = b"CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n".to_vec();
        for part in ["system_tables.sql", "system_tables_data.sql"] {
            let named = |prefix: &str| fs::read(share.join(format!("{prefix}_{part}")));
            script.extend(named("mysql").or_else(|_| named("mariadb"))?);
        }
        Ok(script)
    }
}

/// The first name that OceanBase does not know takes it five seconds: no statement of a check should be that one.
fn warm_up(login: &Login) {
    use mysql::prelude::Queryable;
    let _ = login.connect(START_LIMIT).and_then(|mut conn| conn.query_drop("SELECT unknown_name"));
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

#[cfg(test)]
mod tests {
    use super::{stack_in, without_place};

    #[test]
    fn last_words_name_no_place() {
        let line = "261118  3:01:12 [ERROR] /home/me/mariadbd got signal 11 ;";
        assert_eq!(without_place(line), "mariadbd got signal 11");
        let line = "mariadbd: ./sql/item.cc:7: int f(): Assertion `0' failed.";
        assert_eq!(without_place(line), line);
    }

    #[test]
    fn a_stack_is_read_without_paths_and_addresses() {
        let log = "Thread pointer: 0x7f0c\n\
            /home/me/mariadbd(my_print_stacktrace+0x2e)[0x55d0c8]\n\
            /home/me/mariadbd(handle_fatal_signal+0x485)[0x55d0c9]\n\
            /lib/x86_64-linux-gnu/libc.so.6(+0x3c050)[0x7f0cdd]\n\
            /home/me/mariadbd(_ZN4Item6is_nullEv+0x1d)[0x55d0ca]\n\
            sql/sql_select.cc:77(JOIN::exec())[0x55d0cb]\n\
            Trying to get some variables.\n";
        assert_eq!(
            stack_in(log),
            ["mariadbd(_ZN4Item6is_nullEv+0x1d)", "sql/sql_select.cc:77(JOIN::exec())"]
        );
    }
}
