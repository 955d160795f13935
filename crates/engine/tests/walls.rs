//! Gives each way out straight to each engine that Dissent runs itself, past the list of refused statements, and prints
//! how it ended: first with the engine's own wall alone, then behind the kernel's wall, too.
//!
//! *refused*: the engine reported an error. *harmless*: it reported none, and nothing was read, written or reached.

mod common;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use dissent_core::engine::{Engine, Reply};
use dissent_engine::{Target, Wall};

/// A way out: its name and its statements. `{loot}` must not be written, `{secret}` not be read, `{port}` not be reached.
type Escape = (&'static str, &'static [&'static str]);

/// What nobody who runs SQL may read.
const SECRET: &str = "4711";

const SQLITE: &[Escape] = &[
    ("attach", &["ATTACH '{loot}' AS a1", "CREATE TABLE a1.t1(c0)"]),
    ("attach a file", &["ATTACH '{secret}' AS a1", "SELECT * FROM a1.sqlite_master"]),
    ("vacuum into", &["VACUUM INTO '{loot}'"]),
    ("load extension", &["SELECT load_extension('{secret}')"]),
    ("temporary files", &["PRAGMA temp_store_directory = '{directory}'"]),
];

const DUCKDB: &[Escape] = &[
    ("copy to file", &["COPY t0 TO '{loot}'"]),
    ("copy from file", &["COPY t0 FROM '{secret}'", "SELECT * FROM t0"]),
    ("read_csv", &["SELECT * FROM read_csv_auto('{secret}')"]),
    ("file as a table", &["SELECT * FROM '{secret}.csv'"]),
    ("list files", &["SELECT * FROM glob('{directory}/*')"]),
    ("attach", &["ATTACH '{loot}' AS a1", "CREATE TABLE a1.t1(c0 INT)"]),
    ("export", &["EXPORT DATABASE '{loot}'"]),
    ("install", &["INSTALL httpfs"]),
    ("load", &["LOAD '{secret}'"]),
    ("open the wall", &["SET enable_external_access = true", "COPY t0 TO '{loot}'"]),
    ("reset the wall", &["RESET enable_external_access", "COPY t0 TO '{loot}'"]),
    ("temporary files", &["SET temp_directory = '{loot}'"]),
    ("query log", &["SET log_query_path = '{loot}'", "SELECT 1"]),
    (
        "profile",
        &[
            "PRAGMA enable_profiling = 'json'",
            "SET profiling_output = '{loot}'",
            "SELECT 1",
            "PRAGMA disable_profiling",
        ],
    ),
];

const POSTGRES: &[Escape] = &[
    ("copy to file", &["COPY t0 TO '{loot}'"]),
    ("copy from file", &["COPY t0 FROM '{secret}'", "SELECT * FROM t0"]),
    ("copy to program", &["COPY t0 TO PROGRAM 'touch {loot}'"]),
    ("copy from program", &["COPY t0 FROM PROGRAM 'cat {secret}'", "SELECT * FROM t0"]),
    ("read file", &["SELECT pg_read_file('{secret}')"]),
    ("list files", &["SELECT pg_ls_dir('{directory}')"]),
    ("large object", &["SELECT lo_export(lo_import('{secret}'), '{loot}')"]),
    ("tablespace", &["CREATE TABLESPACE s1 LOCATION '{directory}'"]),
    ("load", &["LOAD '{secret}'"]),
    ("extension", &["CREATE EXTENSION dblink"]),
    ("file_fdw", &["CREATE EXTENSION file_fdw"]),
    ("function in C", &["CREATE FUNCTION f0() RETURNS INT LANGUAGE c AS '{secret}', 'f0'"]),
    ("alter system", &["ALTER SYSTEM SET log_directory = '{directory}'"]),
    ("become superuser", &["SET SESSION AUTHORIZATION postgres"]),
    ("take the role", &["SET ROLE postgres"]),
    ("take more rights", &["ALTER ROLE CURRENT_USER SUPERUSER"]),
    ("run programs", &["GRANT pg_execute_server_program TO CURRENT_USER"]),
    ("create role", &["CREATE ROLE looter SUPERUSER"]),
    ("change the catalog", &["UPDATE pg_authid SET rolsuper = true"]),
    ("subscription", &["CREATE SUBSCRIPTION s2 CONNECTION 'host=127.0.0.1 port={port}' PUBLICATION p"]),
];

const MYSQL: &[Escape] = &[
    ("into outfile", &["SELECT 1 INTO OUTFILE '{loot}'"]),
    ("into dumpfile", &["SELECT 1 INTO DUMPFILE '{loot}'"]),
    ("load data", &["LOAD DATA INFILE '{secret}' INTO TABLE t0", "SELECT * FROM t0"]),
    ("load data local", &["LOAD DATA LOCAL INFILE '{secret}' INTO TABLE t0", "SELECT * FROM t0"]),
    ("load_file", &["SELECT LOAD_FILE('{secret}')"]),
    ("data directory", &["CREATE TABLE t1 (c0 INT) ENGINE=MyISAM DATA DIRECTORY='{directory}'"]),
    ("data directory, InnoDB", &["CREATE TABLE t2 (c0 INT) ENGINE=InnoDB DATA DIRECTORY='{directory}'"]),
    ("tablespace", &["CREATE TABLESPACE s1 ADD DATAFILE '{loot}.ibd'"]),
    ("general log", &["SET GLOBAL general_log_file = '{loot}'", "SET GLOBAL general_log = 1"]),
    ("slow log", &["SET GLOBAL slow_query_log_file = '{loot}'", "SET GLOBAL slow_query_log = 1"]),
    ("install plugin", &["INSTALL PLUGIN x SONAME '{secret}'"]),
    ("function in C", &["CREATE FUNCTION f0 RETURNS INT SONAME 'x.so'"]),
    ("clone", &["CLONE LOCAL DATA DIRECTORY = '{loot}'"]),
    ("federated", &["CREATE TABLE t3 (c0 INT) ENGINE=FEDERATED CONNECTION='mysql://x@127.0.0.1:{port}/x/x'"]),
    ("replicate", &["CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}", "START SLAVE"]),
    ("take more rights", &["GRANT FILE ON *.* TO CURRENT_USER"]),
    ("change accounts", &["UPDATE mysql.user SET File_priv = 'Y'"]),
    ("set global", &["SET GLOBAL max_connections = 7"]),
    ("shutdown", &["SHUTDOWN"]),
];

const CLICKHOUSE: &[Escape] = &[
    ("write a file", &["INSERT INTO FUNCTION file('{loot}', 'CSV', 'c0 Int64') VALUES (1)"]),
    ("read a file", &["SELECT * FROM file('{secret}', 'CSV', 'c0 Int64')"]),
    ("into outfile", &["SELECT 1 INTO OUTFILE '{loot}'"]),
    (
        "file engine",
        &["CREATE TABLE t1 (c0 Int64) ENGINE = File(CSV, '{loot}')", "INSERT INTO t1 VALUES (1)"],
    ),
    ("backup", &["BACKUP TABLE t0 TO File('{loot}')"]),
    ("SQLite", &["CREATE DATABASE d1 ENGINE = SQLite('{loot}')", "SHOW TABLES FROM d1"]),
    ("executable", &["SELECT * FROM executable('touch {loot}', 'CSV', 'c0 Int64')"]),
    (
        "url",
        &["SELECT * FROM url('http://127.0.0.1:{port}/', 'CSV', 'c0 Int64') SETTINGS http_max_tries = 1"],
    ),
    (
        "remote",
        &[
            "SELECT * FROM remote('127.0.0.1:{port}', system.one) SETTINGS connections_with_failover_max_tries = 1",
        ],
    ),
    (
        "url engine",
        &[
            "CREATE TABLE t2 (c0 Int64) ENGINE = URL('http://127.0.0.1:{port}/', CSV)",
            "INSERT INTO t2 VALUES (1)",
        ],
    ),
    (
        "dictionary",
        &[
            "CREATE DICTIONARY d0 (c0 Int64, c1 Int64) PRIMARY KEY c0 \
             SOURCE(HTTP(URL 'http://127.0.0.1:{port}/' FORMAT 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
            "SELECT dictGet('d0', 'c1', 1)",
        ],
    ),
    ("file as a table", &["SELECT * FROM `{secret}.csv`"]),
];

const H2: &[Escape] = &[
    ("write a file", &["SELECT FILE_WRITE('x', '{loot}')"]),
    ("read a file", &["SELECT FILE_READ('{secret}', 'UTF-8')"]),
    ("csvread", &["SELECT * FROM CSVREAD('{secret}', 'C0')"]),
    ("csvread of a URL", &["SELECT * FROM CSVREAD('http://127.0.0.1:{port}/', 'C0')"]),
    ("csvwrite", &["CALL CSVWRITE('{loot}', 'SELECT 1')"]),
    ("script", &["SCRIPT TO '{loot}'"]),
    ("runscript", &["RUNSCRIPT FROM '{secret}'"]),
    ("backup", &["BACKUP TO '{loot}'"]),
    ("link schema", &["CALL LINK_SCHEMA('S1', '', 'jdbc:h2:{loot}', 'sa', '', 'PUBLIC')"]),
    ("linked table", &["CREATE LINKED TABLE t1('', 'jdbc:h2:tcp://127.0.0.1:{port}/x', 'sa', '', 'T0')"]),
    (
        "Java",
        &[
            "CREATE ALIAS f0 FOR \"org.h2.store.fs.FileUtils.createDirectories(java.lang.String)\"",
            "CALL f0('{loot}')",
        ],
    ),
];

const HYPER: &[Escape] = &[
    ("copy to file", &["COPY t0 TO '{loot}' WITH (FORMAT csv)"]),
    ("copy from file", &["COPY t0 FROM '{secret}' WITH (FORMAT csv)", "SELECT * FROM t0"]),
    ("copy to program", &["COPY t0 TO PROGRAM 'touch {loot}'"]),
    ("external", &["SELECT * FROM external('{secret}', COLUMNS => DESCRIPTOR(c0 INT), FORMAT => 'csv')"]),
    (
        "external table",
        &[
            "CREATE TEMPORARY EXTERNAL TABLE t1(c0 INT) FOR '{secret}' WITH (FORMAT => 'csv')",
            "SELECT * FROM t1",
        ],
    ),
    ("create database", &["CREATE DATABASE \"{loot}\""]),
    ("attach", &["ATTACH DATABASE \"{secret}\" AS a1"]),
    ("load", &["LOAD '{secret}'"]),
];

const FIREBIRD: &[Escape] = &[
    ("write a file", &["CREATE TABLE t1 EXTERNAL '{loot}' (c0 CHAR(4))", "INSERT INTO t1 VALUES ('abcd')"]),
    ("read a file", &["CREATE TABLE t2 EXTERNAL FILE '{secret}' (c0 CHAR(4))", "SELECT * FROM t2"]),
    ("create database", &["CREATE DATABASE '{loot}'"]),
    ("shadow", &["CREATE SHADOW 1 '{loot}'"]),
    ("difference file", &["ALTER DATABASE ADD DIFFERENCE FILE '{loot}'", "ALTER DATABASE BEGIN BACKUP"]),
    (
        "another server",
        &["EXECUTE BLOCK RETURNS (c0 INT) AS BEGIN EXECUTE STATEMENT 'SELECT 1 FROM rdb$database' \
             ON EXTERNAL '127.0.0.1/{port}:x' AS USER 'x' PASSWORD 'x' INTO :c0; SUSPEND; END"],
    ),
];

const TURSO: &[Escape] = &[
    ("attach", &["ATTACH '{loot}' AS a1", "CREATE TABLE a1.t1(c0)"]),
    ("attach a file", &["ATTACH '{secret}' AS a1", "SELECT * FROM a1.sqlite_master"]),
    ("vacuum into", &["VACUUM INTO '{loot}'"]),
    ("load extension", &["SELECT load_extension('{secret}')"]),
    ("csv", &["CREATE VIRTUAL TABLE t1 USING csv(filename='{secret}')", "SELECT * FROM t1"]),
];

const DATAFUSION: &[Escape] = &[
    ("copy to file", &["COPY t0 TO '{loot}' STORED AS CSV"]),
    ("copy of a query", &["COPY (SELECT 1) TO '{loot}' STORED AS CSV"]),
    ("copy behind a comment", &["/* x */ COPY (SELECT 1) TO '{loot}' STORED AS CSV"]),
    ("copy explained", &["EXPLAIN ANALYZE COPY (SELECT 1) TO '{loot}' STORED AS CSV"]),
    (
        "external table",
        &["CREATE EXTERNAL TABLE t1 STORED AS CSV LOCATION '{secret}.csv'", "SELECT * FROM t1"],
    ),
    ("file as a table", &["SELECT * FROM '{secret}.csv'"]),
    (
        "another server",
        &[
            "CREATE EXTERNAL TABLE t1 STORED AS CSV LOCATION 'http://127.0.0.1:{port}/x.csv'",
            "SELECT * FROM t1",
        ],
    ),
];

/// Engines by name, with what they may do without the kernel's help: nothing, where the engine has a wall.
const ENGINES: &[(&str, &[Escape])] = &[
    ("sqlite", SQLITE),
    ("duckdb", DUCKDB),
    ("duckdb@1.1", DUCKDB),
    ("duckdb@0.9", DUCKDB),
    ("duckdb@0.3", DUCKDB),
    ("postgres", POSTGRES),
    ("mariadb", MYSQL),
    ("mysql", MYSQL),
    ("oceanbase", MYSQL),
    ("clickhouse", CLICKHOUSE),
    ("libsql", SQLITE),
    ("turso", TURSO),
    ("firebird", FIREBIRD),
    ("datafusion", DATAFUSION),
    ("hyper", HYPER),
    ("h2", H2),
];

/// Servers that never run as root, whoever starts them.
const SERVERS: [&str; 5] = ["postgres", "mariadb", "mysql", "hyper", "h2"];

/// An engine name, in a process that is to attack it, and whether the kernel's wall is raised there.
const ENGINE: &str = "DISSENT_TEST_WALL_ENGINE";
const KERNEL: &str = "DISSENT_TEST_WALL_KERNEL";

/// A directory that every user of the machine may write to, with a secret in it, and a port. Threads that were there
/// before the wall look at them.
struct Loot {
    directory: String,
    port: u16,
    look: Sender<()>,
    seen: Receiver<Option<&'static str>>,
}

impl Loot {
    fn new(place: &Path) -> Loot {
        let directory = tempfile::Builder::new().prefix("walls").tempdir_in(place).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        for name in ["secret", "secret.csv"] {
            fs::write(directory.path().join(name), format!("{SECRET}\n")).unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (path, port) = (directory.path().display().to_string(), listener.local_addr().unwrap().port());
        let ((look, asked), (told, seen)) = (channel(), channel());
        let reached = Arc::new(AtomicBool::new(false));
        let seen_now = reached.clone();
        std::thread::spawn(move || {
            // Who comes is noticed, and gets no answer that it would have to wait for.
            listener.incoming().for_each(|_| seen_now.store(true, Ordering::SeqCst));
        });
        std::thread::spawn(move || {
            while asked.recv().is_ok() {
                told.send(taken(directory.path(), &reached)).unwrap();
            }
        });
        Loot { directory: path, port, look, seen }
    }

    fn fill(&self, sql: &str) -> String {
        let directory = &self.directory;
        sql.replace("{loot}", &format!("{directory}/loot"))
            .replace("{secret}", &format!("{directory}/secret"))
            .replace("{directory}", directory)
            .replace("{port}", &self.port.to_string())
    }

    /// What was written or reached since the last time.
    fn taken(&self) -> Option<&'static str> {
        self.look.send(()).unwrap();
        self.seen.recv().unwrap()
    }
}

fn taken(directory: &Path, reached: &AtomicBool) -> Option<&'static str> {
    let mut taken = None;
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if !entry.file_name().to_string_lossy().starts_with("secret") {
            let path = entry.path();
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
            taken = Some("WRITTEN");
        }
    }
    if reached.swap(false, Ordering::SeqCst) { Some("REACHED") } else { taken }
}

/// How an escape ended.
fn attempt(engine: &mut dyn Engine, statements: &[&str], loot: &Loot) -> &'static str {
    engine.reset().unwrap();
    let clickhouse = engine.execute("CREATE TABLE t0(c0 Int64) ENGINE = Memory").unwrap();
    if matches!(clickhouse, Reply::Failed(_)) {
        engine.execute("CREATE TABLE t0(c0 INT)").unwrap();
    }
    let mut outcome = "harmless";
    for sql in statements {
        match engine.execute(&loot.fill(sql)).unwrap() {
            Reply::Failed(_) if outcome == "harmless" => outcome = "refused",
            Reply::Rows(rows) if format!("{:?}", rows.values).contains(SECRET) => return "READ",
            Reply::Rows(rows) if format!("{:?}", rows.values).contains("secret") => return "READ",
            _ => {}
        }
    }
    loot.taken().unwrap_or(outcome)
}

/// In a process of its own: attacks one engine, and prints how each escape ended.
#[test]
fn attack_an_engine() {
    let Ok(name) = std::env::var(ENGINE) else { return };
    let behind_kernel = std::env::var(KERNEL).is_ok();
    let outside = std::env::temp_dir();
    if behind_kernel {
        // SAFETY: the only test of its process, which runs it in its only thread (`--test-threads=1`).
        unsafe { dissent_engine::make_room() }.unwrap();
    }
    let loot = Loot::new(&outside);
    let source = Target::parse(&name).unwrap().obtain(&mut |_| {}).unwrap();
    if behind_kernel {
        assert!(Wall::around([&source]).raise().unwrap());
        // Disks and memory are files, too.
        assert!(std::fs::read_dir("/dev").is_err() && std::fs::File::open("/dev/urandom").is_ok());
    }
    let mut engine = source.open().unwrap();
    if SERVERS.contains(&name.as_str()) {
        let users = users_of_children();
        assert!(!users.is_empty() && !users.contains(&0), "{users:?}");
    }
    let escapes = ENGINES.iter().find(|(engine, _)| *engine == name).unwrap().1;
    for (escape, statements) in escapes {
        println!("outcome: {escape}: {}", attempt(&mut *engine, statements, &loot));
    }
    drop(engine);
    dissent_engine::remove_homes();
}

/// As whom the processes run that this one has started.
fn users_of_children() -> Vec<u32> {
    let mut users = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        // Whatever ends meanwhile is not looked at.
        let Ok(status) = fs::read_to_string(process.path().join("status")) else { continue };
        let first = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|line| line.split_whitespace().next()?.parse::<u32>().ok())
        };
        if first("PPid:") == Some(std::process::id()) {
            users.extend(first("Uid:"));
        }
    }
    users
}

/// The outcomes of a process that attacks an engine, one for each escape.
fn attacked(engine: &str, escapes: &[Escape], kernel: bool) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "attack_an_engine", "--nocapture", "--test-threads=1"]).env(ENGINE, engine);
    if kernel {
        command.env(KERNEL, "1");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let outcome = |line: &str| Some(line.split_once("outcome: ")?.1.rsplit_once(": ")?.1.to_string());
    let mut outcomes: Vec<String> = text.lines().filter_map(outcome).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let died_of = escapes.get(outcomes.len()).map_or("ending", |(name, _)| name);
        assert!(may_die(engine, died_of), "{engine}, kernel: {kernel}: died of {died_of}\n{said}");
        outcomes.push("died".to_string());
    }
    // Whoever dies may do so of the last only.
    assert_eq!(outcomes.len(), escapes.len(), "{engine}, kernel: {kernel}\n{said}");
    outcomes
}

/// What an engine does in spite of its own wall, so that only the list and the kernel's wall stop it.
fn has_gap(engine: &str, escape: &str) -> bool {
    match engine {
        // They have none.
        "clickhouse" | "hyper" | "h2" => true,
        "oceanbase" => escape == "into dumpfile",
        "turso" => escape == "vacuum into",
        "firebird" => ["shadow", "difference file", "another server"].contains(&escape),
        _ => engine.starts_with("duckdb@") && ["query log", "profile"].contains(&escape),
    }
}

/// What an engine would rather die of than go on: what it throws when it cannot write its profile, nobody catches.
fn may_die(engine: &str, escape: &str) -> bool {
    engine.starts_with("duckdb@") && escape == "profile"
}

/// A port is the only way to reach these engines, so the kernel's wall lets them connect to others.
fn may_connect(engine: &str) -> bool {
    ["hyper", "h2"].contains(&engine)
}

fn got_out(outcome: &str) -> bool {
    outcome.chars().all(char::is_uppercase)
}

#[test]
fn no_statement_leaves_a_private_engine() {
    let mut out = Vec::new();
    for (engine, escapes) in ENGINES {
        if common::open(engine).is_none() {
            continue;
        }
        let alone = attacked(engine, escapes, false);
        let walled = dissent_engine::wall_is_possible().then(|| attacked(engine, escapes, true));
        println!("\n{engine:<28}{:<12}behind the kernel's", "own wall");
        for (at, (name, _)) in escapes.iter().enumerate() {
            let behind = walled.as_ref().map_or("not tried", |outcomes| outcomes[at].as_str());
            println!("  {name:<26}{:<12}{behind}", alone[at]);
            let got_through = got_out(behind) && !(behind == "REACHED" && may_connect(engine));
            if got_through || (got_out(&alone[at]) && !has_gap(engine, name)) {
                out.push(format!("{engine}: {name}"));
            }
            // Otherwise the kernel's wall was not put to the test.
            if (*engine, *name) == ("clickhouse", "url") {
                assert_eq!(alone[at], "REACHED");
            }
        }
    }
    assert_eq!(out, [""; 0]);
}
