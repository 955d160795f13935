//! Tries every way out of the database, on every engine, by every road that foreign SQL can take: a script (`check`), a
//! seed (`hunt --seeds`), a finding (`replay`) and the prompt (`shell`). Prints a matrix of how each ended.
//!
//! *refused*: Dissent did not run it. *confined*: the engine got it, and had no way to do it. *ran*: the engine did it, as
//! it must with the one statement that is harmless. *not refused*: nothing tells how a statement of a seed ended, but
//! nothing was written. What a hunt generates itself is not tried: no generated statement is of these kinds.
//! `crates/engine/tests/walls.rs` tries the engines' own walls.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use dissent_core::engine::{Engine, Reply};
use dissent_core::sql::Value;
use dissent_engine::Target;
use support::{dissent, norec_finding, run};

/// A way out: its name, and the statement. `{loot}` is a file that must not be written, `{secret}` one that must not be
/// read.
type Escape = (&'static str, &'static str);

/// What every engine runs: otherwise a road would tell nothing of what it refuses.
const HARMLESS: Escape = ("harmless", "INSERT INTO t0 VALUES (2)");

const ROADS: [&str; 4] = ["script", "seed", "finding", "shell"];

/// How an escape ended on a road.
type Outcomes = BTreeMap<&'static str, [&'static str; 4]>;

const MYSQL_SERVER: &[Escape] = &[
    ("use", "USE precious"),
    ("drop database", "DROP DATABASE precious"),
    ("create database", "CREATE DATABASE looted"),
    ("delete elsewhere", "DELETE FROM precious.gold"),
    ("insert elsewhere", "INSERT precious.gold VALUES (2)"),
    ("rename away", "ALTER TABLE t0 RENAME TO precious.t0"),
    ("view elsewhere", "CREATE VIEW precious.v0 AS SELECT 1"),
    ("several statements", "SELECT 1; DELETE FROM precious.gold"),
    ("comment that runs", "SELECT 1 /*! INTO OUTFILE '{loot}' */"),
    ("prepared text", "PREPARE p0 FROM 'DROP DATABASE precious'"),
    ("into outfile", "SELECT 1 INTO OUTFILE '{loot}'"),
    ("load data", "LOAD DATA INFILE '{secret}' INTO TABLE t0"),
    ("load_file", "CREATE TABLE t1 AS SELECT LOAD_FILE('{secret}') AS c0"),
    ("data directory", "CREATE TABLE t1 (c0 INT) ENGINE=MyISAM DATA DIRECTORY='{loot}'"),
    ("set global", "SET GLOBAL max_connections = 7"),
    ("create user", "CREATE USER looter"),
    ("grant", "GRANT ALL ON precious.* TO CURRENT_USER"),
    ("kill", "KILL 1"),
    ("flush", "FLUSH TABLES"),
    ("shutdown", "SHUTDOWN"),
    ("procedure", "CREATE PROCEDURE p1() DELETE FROM precious.gold"),
    ("event", "CREATE EVENT e0 ON SCHEDULE EVERY 1 SECOND DO DELETE FROM precious.gold"),
    ("install", "INSTALL PLUGIN x SONAME 'x.so'"),
    ("federated", "CREATE TABLE t1 (c0 INT) ENGINE=FEDERATED CONNECTION='mysql://x@192.0.2.1/x/x'"),
];

const POSTGRES_SERVER: &[Escape] = &[
    ("drop database", "DROP DATABASE precious"),
    ("create database", "CREATE DATABASE looted"),
    ("shared catalog", "UPDATE pg_database SET datallowconn = false WHERE datname = 'precious'"),
    ("copy to file", "COPY t0 TO '{loot}'"),
    ("copy from file", "COPY t0 FROM '{secret}'"),
    ("copy to program", "COPY t0 TO PROGRAM 'touch {loot}'"),
    ("several statements", "SELECT 1; DROP DATABASE precious"),
    ("read file", "CREATE TABLE t1 AS SELECT \"pg_read_file\"('{secret}') AS c0"),
    ("large object", "SELECT lo_export(lo_import('{secret}'), '{loot}')"),
    ("query as text", "SELECT query_to_xml('SELECT pg_reload_conf()', true, true, '')"),
    ("end sessions", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'precious'"),
    ("alter system", "ALTER SYSTEM SET max_connections = 7"),
    ("create role", "CREATE ROLE looter SUPERUSER"),
    ("grant", "GRANT ALL ON DATABASE precious TO PUBLIC"),
    ("extension", "CREATE EXTENSION dblink"),
    ("foreign server", "CREATE SERVER s0 FOREIGN DATA WRAPPER postgres_fdw"),
    ("do", "DO 'BEGIN EXECUTE ''CREATE ROLE looter''; END'"),
    ("function", "CREATE FUNCTION f0() RETURNS INT LANGUAGE sql AS 'SELECT 1'"),
    ("set role", "SET ROLE pg_read_all_data"),
    ("set_config", "SELECT set_config('log_statement', 'all', false)"),
    ("tablespace", "CREATE TABLESPACE s1 LOCATION '{loot}'"),
    ("load", "LOAD '{secret}'"),
];

/// Ways out of engines of our own: those on Dissent's list, and some that only the engine itself stops.
const SQLITE: &[Escape] = &[
    ("attach", "ATTACH '{loot}' AS a1"),
    ("vacuum into", "VACUUM INTO '{loot}'"),
    ("load extension", "SELECT load_extension('{secret}')"),
    ("temporary files", "PRAGMA temp_store_directory = '{loot}'"),
];

const DUCKDB: &[Escape] = &[
    ("copy to file", "COPY t0 TO '{loot}'"),
    ("copy from file", "COPY t0 FROM '{secret}'"),
    ("read_csv", "CREATE TABLE t1 AS SELECT * FROM read_csv_auto('{secret}')"),
    ("file as a table", "CREATE TABLE t1 AS SELECT * FROM '{secret}'"),
    ("attach", "ATTACH '{loot}' AS a1"),
    ("export", "EXPORT DATABASE '{loot}'"),
    ("install", "INSTALL httpfs"),
    ("open the wall", "SET enable_external_access = true"),
    ("query log", "SET log_query_path = '{loot}'"),
];

const POSTGRES: &[Escape] = &[
    ("copy to file", "COPY t0 TO '{loot}'"),
    ("copy from file", "COPY t0 FROM '{secret}'"),
    ("copy to program", "COPY t0 TO PROGRAM 'touch {loot}'"),
    ("read file", "CREATE TABLE t1 AS SELECT \"pg_read_file\"('{secret}') AS c0"),
    ("large object", "SELECT lo_export(lo_import('{secret}'), '{loot}')"),
    ("extension", "CREATE EXTENSION dblink"),
    ("alter system", "ALTER SYSTEM SET log_directory = '{loot}'"),
    ("become superuser", "SET SESSION AUTHORIZATION postgres"),
    ("tablespace", "CREATE TABLESPACE s1 LOCATION '{loot}'"),
];

const MYSQL: &[Escape] = &[
    ("into outfile", "SELECT 1 INTO OUTFILE '{loot}'"),
    ("load data", "LOAD DATA INFILE '{secret}' INTO TABLE t0"),
    ("load_file", "CREATE TABLE t1 (c0 BLOB NOT NULL) AS SELECT LOAD_FILE('{secret}') AS c0"),
    ("data directory", "CREATE TABLE t1 (c0 INT) ENGINE=MyISAM DATA DIRECTORY='{loot}'"),
    ("install", "INSTALL PLUGIN x SONAME 'x.so'"),
    ("general log", "SET GLOBAL general_log_file = '{loot}'"),
    ("take more rights", "GRANT FILE ON *.* TO CURRENT_USER"),
];

const CLICKHOUSE: &[Escape] = &[
    ("write a file", "INSERT INTO FUNCTION file('{loot}', 'CSV', 'c0 Int64') VALUES (1)"),
    ("read a file", "INSERT INTO t0 SELECT * FROM file('{secret}', 'CSV', 'c0 Int64')"),
    ("into outfile", "SELECT 1 INTO OUTFILE '{loot}'"),
    ("file engine", "CREATE TABLE t1 (c0 Int64) ENGINE = File(CSV, '{loot}')"),
    ("backup", "BACKUP TABLE t0 TO File('{loot}')"),
    ("url", "INSERT INTO t0 SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'c0 Int64')"),
];

const TURSO: &[Escape] = &[
    ("attach", "ATTACH '{loot}' AS a1"),
    ("vacuum into", "VACUUM INTO '{loot}'"),
    ("load extension", "SELECT load_extension('{secret}')"),
    ("csv", "CREATE VIRTUAL TABLE t1 USING csv(filename='{secret}')"),
];

const FIREBIRD: &[Escape] = &[
    ("external table", "CREATE TABLE t1 EXTERNAL '{loot}' (c0 CHAR(4))"),
    ("create database", "CREATE DATABASE '{loot}'"),
    ("shadow", "CREATE SHADOW 1 '{loot}'"),
    (
        "another server",
        "EXECUTE BLOCK AS BEGIN EXECUTE STATEMENT 'SELECT 1' ON EXTERNAL '127.0.0.1/1:x'; END",
    ),
];

const DATAFUSION: &[Escape] = &[
    ("copy to file", "COPY t0 TO '{loot}' STORED AS CSV"),
    ("copy explained", "EXPLAIN ANALYZE COPY t0 TO '{loot}' STORED AS CSV"),
    ("external table", "CREATE EXTERNAL TABLE t1 STORED AS CSV LOCATION '{secret}'"),
    ("file as a table", "CREATE TABLE t1 AS SELECT * FROM '{secret}'"),
];

const HYPER: &[Escape] = &[
    ("copy to file", "COPY t0 TO '{loot}' WITH (FORMAT csv)"),
    ("external", "CREATE TABLE t1 AS SELECT * FROM external('{secret}', FORMAT => 'csv')"),
    ("external table", "CREATE TEMPORARY EXTERNAL TABLE t1(c0 INT) FOR '{secret}' WITH (FORMAT => 'csv')"),
    ("create database", "CREATE DATABASE \"{loot}\""),
    ("attach", "ATTACH DATABASE \"{secret}\" AS a1"),
];

const H2: &[Escape] = &[
    ("Java", "CREATE ALIAS f0 FOR \"java.lang.System.getProperty\""),
    ("write a file", "CALL FILE_WRITE('x', '{loot}')"),
    ("read a file", "CREATE TABLE t1 AS SELECT FILE_READ('{secret}') AS c0"),
    ("csvread", "CREATE TABLE t1 AS SELECT * FROM CSVREAD('{secret}')"),
    ("csvwrite", "CALL CSVWRITE('{loot}', 'SELECT 1')"),
    ("script", "SCRIPT TO '{loot}'"),
    ("runscript", "RUNSCRIPT FROM '{secret}'"),
    ("link schema", "CALL LINK_SCHEMA('S1', '', 'jdbc:h2:{loot}', 'sa', '', 'PUBLIC')"),
    ("linked table", "CREATE LINKED TABLE t1('', 'jdbc:h2:{loot}', 'sa', '', 'T0')"),
];

const TIDB: &[Escape] = &[
    ("into outfile", "SELECT 1 INTO OUTFILE '{loot}'"),
    ("load data", "LOAD DATA INFILE '{secret}' INTO TABLE t0"),
    ("import", "IMPORT INTO t0 FROM '{secret}'"),
    ("backup", "BACKUP DATABASE * TO 'local://{loot}'"),
    ("trace", "TRACE PLAN SELECT 1"),
];

const DOLT: &[Escape] = &[
    ("into outfile", "SELECT 1 INTO OUTFILE '{loot}'"),
    ("load data", "LOAD DATA INFILE '{secret}' INTO TABLE t0"),
    ("clone", "CALL DOLT_CLONE('http://127.0.0.1:1/x')"),
    ("remote", "CALL DOLT_REMOTE('add', 'r0', 'http://127.0.0.1:1/x')"),
    ("backup", "CALL DOLT_BACKUP('sync-url', 'file://{loot}')"),
];

fn home() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("escapes").tempdir().unwrap()
}

/// What must not be read or written, in a directory that every user of the machine may write to.
struct Loot {
    directory: tempfile::TempDir,
}

impl Loot {
    fn new() -> Loot {
        use std::os::unix::fs::PermissionsExt;
        let directory = home();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        fs::write(directory.path().join("secret"), "41\n").unwrap();
        Loot { directory }
    }

    fn fill(&self, escape: &str) -> String {
        let place = |name: &str| self.directory.path().join(name).display().to_string();
        escape.replace("{loot}", &place("loot")).replace("{secret}", &place("secret"))
    }

    fn is_safe(&self) -> bool {
        fs::read_dir(self.directory.path()).unwrap().count() == 1
    }
}

/// An engine under attack.
struct Attack<'a> {
    target: &'a str,
    dialect: &'a str,
    table: &'a str,
    /// The harmless statement and the ways out.
    escapes: Vec<Escape>,
    loot: Loot,
    place: tempfile::TempDir,
}

impl<'a> Attack<'a> {
    fn new(target: &'a str, dialect: &'a str, escapes: &'a [Escape]) -> Attack<'a> {
        let table = match dialect {
            "clickhouse" => "CREATE TABLE t0(c0 Int64) ENGINE = Memory",
            _ => "CREATE TABLE t0(c0 INT)",
        };
        let escapes: Vec<Escape> = [HARMLESS].iter().chain(escapes).copied().collect();
        let attack = Attack { target, dialect, table, escapes, loot: Loot::new(), place: home() };
        fs::create_dir(attack.scripts()).unwrap();
        for (at, (_, escape)) in attack.escapes.iter().enumerate() {
            let escape = attack.loot.fill(escape);
            let text =
                format!("{table};\nINSERT INTO t0 VALUES (1);\n{escape};\nSELECT * FROM t0 WHERE c0 = 1;\n");
            fs::write(attack.scripts().join(script(at)), text).unwrap();
        }
        attack
    }

    fn scripts(&self) -> PathBuf {
        self.place.path().join("scripts")
    }

    /// By every road; only the harmless statement may run.
    fn run(&self) -> Outcomes {
        let (scripts, seeds, shell) = (self.by_script(), self.by_seed(), self.by_shell());
        let findings = self.by_findings();
        let roads = |at: usize| [scripts[at], seeds[at], findings[at], shell[at]];
        let mut outcomes: Outcomes =
            self.escapes.iter().enumerate().map(|(at, (name, _))| (*name, roads(at))).collect();
        assert_eq!(
            outcomes.remove(HARMLESS.0),
            Some(["ran", "not refused", "ran", "ran"]),
            "{}",
            self.target
        );
        for (name, roads) in &outcomes {
            assert!(!roads.contains(&"ran"), "{}: {name} got out: {roads:?}", self.target);
        }
        outcomes
    }

    fn by_script(&self) -> Vec<&'static str> {
        let args = ["check", "-v", "scripts", "--oracles", "norec", "--target", self.target];
        let said = run(dissent(self.place.path()).args(args));
        let checked = said.stdout.contains(" scripts on ");
        assert!(checked && matches!(said.code, Some(0 | 2)), "{}\n{}", said.stdout, said.stderr);
        assert!(self.loot.is_safe(), "{}: a script wrote a file\n{}", self.target, said.stdout);
        let told = |at: usize| {
            let place = format!("scripts/{}:3: ", script(at));
            let remark = |what: &str| {
                let start = format!("{what}: {place}");
                said.stdout.lines().find(|line| line.trim_start().starts_with(&start))
            };
            match (remark("not run"), remark("fails here")) {
                (Some(_), _) => "refused",
                (_, Some(line)) => self.confined(line),
                // The comments of a script are not part of its statements.
                _ if self.escapes[at].1.contains("/*") => "left out",
                _ => "ran",
            }
        };
        (0..self.escapes.len()).map(told).collect()
    }

    fn by_seed(&self) -> Vec<&'static str> {
        // A worker reads all of its seeds before its first database.
        let args = ["hunt", self.target, "--seeds", "scripts", "--seeds-only", "--max-databases", "1"];
        let rest = ["--jobs", "1", "--oracles", "norec", "--out", "out"];
        let mut hunt = dissent(self.place.path());
        let said = run(hunt.args(args).args(rest).timeout(Duration::from_secs(300)));
        // There may be nothing to check in one database.
        assert!(matches!(said.code, Some(0..=2)), "{}", said.stderr);
        let read = |name: &str| fs::read_to_string(self.place.path().join("out").join(name)).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).unwrap();
        let seeds = summary["guide"]["seeds"].as_u64().unwrap();
        let all_read = read("corpus/0-seeds").trim() == seeds.to_string();
        assert!(all_read && seeds >= self.escapes.len() as u64, "{}: {}", self.target, said.stderr);
        assert!(self.loot.is_safe(), "{}: a seed wrote a file", self.target);
        let told = |at: usize| match said.stderr.contains(&format!("not run: {}:3: ", script(at))) {
            true => "refused",
            false if self.escapes[at].1.contains("/*") => "left out",
            false => "not refused",
        };
        (0..self.escapes.len()).map(told).collect()
    }

    /// Each in a process of its own, two at a time.
    fn by_findings(&self) -> Vec<&'static str> {
        let mut outcomes = Vec::new();
        for pair in self.escapes.chunks(2) {
            let ended: Vec<_> = std::thread::scope(|scope| {
                let started: Vec<_> =
                    pair.iter().map(|(name, escape)| scope.spawn(|| self.by_finding(name, escape))).collect();
                started.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            outcomes.extend(ended);
            assert!(self.loot.is_safe(), "{}: {pair:?}", self.target);
        }
        outcomes
    }

    fn by_finding(&self, name: &str, escape: &str) -> &'static str {
        let escape = self.loot.fill(escape);
        let mut finding = norec_finding(&[self.table, "INSERT INTO t0 VALUES (1)", &escape]);
        (finding.target, finding.dialect) = (self.dialect.to_string(), self.dialect.to_string());
        let place = self.place.path().join(name.replace(' ', "-"));
        fs::create_dir(&place).unwrap();
        let path = support::write_finding(&place, &finding);
        let said = run(dissent(&place).arg("replay").arg(path).args(["--target", self.target]));
        match said.code {
            Some(2) if said.stderr.contains("a statement of the finding is refused") => "refused",
            Some(2) if said.stdout.contains("fails here: ") => self.confined(&said.stdout),
            Some(0) => "ran",
            _ => panic!("{}: {escape}\n{}\n{}", self.target, said.stdout, said.stderr),
        }
    }

    /// All in one shell, each between two lines that tell them apart.
    fn by_shell(&self) -> Vec<&'static str> {
        let mut typed = format!("{};\nINSERT INTO t0 VALUES (1);\n", self.table);
        for (_, escape) in &self.escapes {
            // Not every engine can select from nothing.
            typed += &format!("SELECT MIN('next') FROM t0;\n{};\n", self.loot.fill(escape));
        }
        let said = run(dissent(self.place.path()).args(["shell", self.target]).write_stdin(typed));
        assert!(self.loot.is_safe(), "{}: the shell wrote a file\n{}", self.target, said.stdout);
        let parts: Vec<&str> = said.stdout.split("next").skip(1).collect();
        assert_eq!(parts.len(), self.escapes.len(), "{}\n{}", said.stdout, said.stderr);
        let told = |part: &&str| match part.lines().find(|line| line.starts_with("Error: ")) {
            Some(line) if line.contains("not run: ") => "refused",
            Some(line) => self.confined(line),
            None => "ran",
        };
        parts.iter().map(told).collect()
    }

    /// The outcome of what an engine did not do, for a reason that has to do with it.
    fn confined(&self, said: &str) -> &'static str {
        let said = said.split_once("fails here: ").map_or(said, |(_, said)| said);
        assert!(!said.to_lowercase().contains("syntax"), "{}: not understood: {said}", self.target);
        "confined"
    }
}

fn script(at: usize) -> String {
    format!("s{at:02}.sql")
}

fn print(title: &str, outcomes: &Outcomes) {
    let row = |cells: &[&str]| cells.iter().map(|cell| format!("{cell:<13}")).collect::<String>();
    let mut table = format!("\n{title:<28}{}", row(&ROADS));
    for (name, roads) in outcomes {
        table += &format!("\n  {name:<26}{}", row(roads));
    }
    println!("{table}");
}

/// A server of ours that passes for somebody else's; if the engine cannot be had here, says so loudly.
fn server(engine: &str) -> Option<Box<dyn Engine>> {
    let target = Target::parse(engine).unwrap();
    let required = std::env::var("DISSENT_REQUIRE_ENGINES").unwrap_or_default();
    if required != "all" && target.takes_long() {
        eprintln!("SKIPPED, not passed: {engine} is not available: it takes minutes to compile");
        return None;
    }
    match target.obtain(&mut |_| {}) {
        Ok(source) => Some(source.open().unwrap()),
        Err(error) => {
            assert!(required.is_empty(), "{engine} is required: {error}");
            eprintln!("SKIPPED, not passed: {engine} is not available: {error}");
            None
        }
    }
}

fn ask(server: &mut dyn Engine, sql: &str) -> Vec<Value> {
    match server.execute(sql).unwrap() {
        Reply::Rows(rows) => rows.values,
        Reply::Done { .. } => Vec::new(),
        Reply::Failed(error) => panic!("{sql}: {error}"),
    }
}

fn encoded(path: &str) -> String {
    path.replace('/', "%2F")
}

/// The address by which root reaches a server of ours.
fn root(engine: &str, server: &mut dyn Engine) -> String {
    let socket = ask(server, "SELECT @@socket");
    let [Value::Text(socket)] = &socket[..] else { panic!("{socket:?}") };
    format!("{engine}://root@{}/", encoded(socket))
}

fn mysql_family(engine: &str) {
    let Some(mut private) = server(engine) else { return };
    let address = root(engine, &mut *private);
    let mut server = Target::parse(&address).unwrap().obtain(&mut |_| {}).unwrap().open().unwrap();
    for sql in [
        "CREATE DATABASE precious",
        "CREATE TABLE precious.gold (c0 INT)",
        "INSERT INTO precious.gold VALUES (1)",
    ] {
        ask(&mut *server, sql);
    }
    let mut state = || {
        let users = "SELECT user FROM mysql.user ORDER BY 1";
        let databases = "SELECT schema_name FROM information_schema.schemata ORDER BY 1";
        let inside =
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'precious' ORDER BY 1";
        let rest = "SELECT c0, @@global.max_connections FROM precious.gold";
        [users, databases, inside, rest].map(|sql| ask(&mut *server, sql))
    };
    let before = state();
    let outcomes = Attack::new(&address, engine, MYSQL_SERVER).run();
    print(&format!("{engine} by URL"), &outcomes);
    assert_eq!(state(), before);
    assert!(
        outcomes.values().flatten().all(|outcome| ["refused", "left out"].contains(outcome)),
        "Dissent itself stops all of them"
    );
}

#[test]
fn nothing_leaves_a_database_on_a_mariadb_server() {
    mysql_family("mariadb");
}

#[test]
fn nothing_leaves_a_database_on_a_mysql_server() {
    mysql_family("mysql");
}

#[test]
fn nothing_leaves_a_database_on_a_postgres_server() {
    let Some(mut server) = server("postgres") else { return };
    let sockets = ask(&mut *server, "SHOW unix_socket_directories");
    let [Value::Text(place)] = &sockets[..] else { panic!("{sockets:?}") };
    let address = format!("postgres://postgres@{}/", encoded(place));
    let superuser = Target::parse(&address).unwrap().obtain(&mut |_| {}).unwrap();
    let mut superuser = superuser.open().unwrap();
    ask(&mut *superuser, "CREATE DATABASE precious");
    let mut state = || {
        let databases = "SELECT datname, datallowconn, datacl FROM pg_database ORDER BY 1";
        let roles = "SELECT rolname, rolsuper FROM pg_roles ORDER BY 1";
        let settings = "SELECT sourcefile, name, setting FROM pg_file_settings ORDER BY 1, 2";
        let spaces = "SELECT spcname FROM pg_tablespace ORDER BY 1";
        [databases, roles, settings, spaces].map(|sql| ask(&mut *superuser, sql))
    };
    let before = state();
    let outcomes = Attack::new(&address, "postgres", POSTGRES_SERVER).run();
    print("postgres by URL", &outcomes);
    assert_eq!(state(), before);
    assert!(
        outcomes.values().flatten().all(|outcome| ["refused", "left out"].contains(outcome)),
        "Dissent itself stops all of them"
    );
}

/// On an engine of our own, what Dissent does not refuse the engine itself does.
fn private(engine: &'static str, escapes: &'static [Escape]) {
    if server(engine).is_none() {
        return;
    }
    let dialect = engine.split('@').next().unwrap();
    print(engine, &Attack::new(engine, dialect, escapes).run());
}

#[test]
fn nothing_leaves_a_private_sqlite() {
    private("sqlite", SQLITE);
}

#[test]
fn nothing_leaves_a_private_duckdb() {
    private("duckdb", DUCKDB);
}

#[test]
fn nothing_leaves_a_private_postgres() {
    private("postgres", POSTGRES);
}

#[test]
fn nothing_leaves_a_private_mariadb() {
    private("mariadb", MYSQL);
}

#[test]
fn nothing_leaves_a_private_mysql() {
    private("mysql", MYSQL);
}

#[test]
fn nothing_leaves_a_private_clickhouse() {
    private("clickhouse", CLICKHOUSE);
}

#[test]
fn nothing_leaves_a_private_oceanbase() {
    private("oceanbase", MYSQL);
}

#[test]
fn nothing_leaves_a_private_libsql() {
    private("libsql", SQLITE);
}

#[test]
fn nothing_leaves_a_private_turso() {
    private("turso", TURSO);
}

#[test]
fn nothing_leaves_a_private_firebird() {
    private("firebird", FIREBIRD);
}

#[test]
fn nothing_leaves_a_private_datafusion() {
    private("datafusion", DATAFUSION);
}

#[test]
fn nothing_leaves_a_private_hyper() {
    private("hyper", HYPER);
}

#[test]
fn nothing_leaves_a_private_h2() {
    private("h2", H2);
}

#[test]
fn nothing_leaves_a_private_tidb() {
    private("tidb", TIDB);
}

#[test]
fn nothing_leaves_a_private_dolt() {
    private("dolt", DOLT);
}

/// The accounts of docs/servers.md: they may do what a hunt needs, and no more.
#[test]
fn the_smallest_account_is_enough() {
    let hunt = |address: &str| {
        let place = home();
        let args = [
            "hunt",
            address,
            "--jobs",
            "1",
            "--max-cases",
            "60",
            "--seed",
            "1",
            "--oracles",
            "norec,plan",
            "--guide",
            "none",
        ];
        let said =
            run(dissent(place.path()).args(args).args(["--no-reduce", "--out", "out", "--summary", "json"]));
        assert!(matches!(said.code, Some(0 | 1)), "{address}: {}", said.stderr);
        assert!(said.json()["statements"].as_u64().unwrap() > 100, "{address}: {}", said.stdout);
    };
    for engine in ["mariadb", "mysql"] {
        let Some(mut server) = server(engine) else { continue };
        let address = root(engine, &mut *server);
        let mut root = Target::parse(&address).unwrap().obtain(&mut |_| {}).unwrap().open().unwrap();
        ask(&mut *root, "CREATE USER tester@localhost");
        ask(&mut *root, "GRANT ALL ON `dissent\\_%`.* TO tester@localhost");
        hunt(&address.replace("root@", "tester@"));
    }
    let Some(mut server) = server("postgres") else { return };
    let sockets = ask(&mut *server, "SHOW unix_socket_directories");
    let [Value::Text(place)] = &sockets[..] else { panic!("{sockets:?}") };
    let address = |user: &str| format!("postgres://{user}@{}/", encoded(place));
    let superuser = Target::parse(&address("postgres")).unwrap().obtain(&mut |_| {}).unwrap();
    ask(&mut *superuser.open().unwrap(), "CREATE ROLE tester LOGIN CREATEDB");
    hunt(&address("tester"));
}
