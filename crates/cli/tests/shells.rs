//! Exported scripts, run by the engines' own shells: they run without an error and print both results.
//!
//! A shell that is not installed is obtained as engines are, from the package registries; one that cannot be obtained is
//! skipped with a loud line, unless `DISSENT_REQUIRE_ENGINES` demands it.

mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use dissent_core::dialect::Dialect;
use dissent_core::engine::Rows;
use dissent_core::finding::{Arm, ArmOutcome, Class, Failure, Finding, Side};
use dissent_core::import;
use dissent_core::report;
use dissent_core::sql::{BinaryOp, Expr, Query, Select, TableRef, Value};
use dissent_core::subject::{Subject, TestCase};
use support::{BINARY, BROKEN_INDEX, norec_finding, wait_for};

fn dialect(name: &str) -> Dialect {
    Dialect::load(name, "99").unwrap()
}

fn arm(label: &str, sql: &str, count: i64) -> Arm {
    let rows = Rows { columns: 1, values: vec![Value::Int(count)] };
    Arm { label: label.to_string(), sql: sql.to_string(), outcome: ArmOutcome::Rows(rows), plan: None }
}

/// NoREC on an index that lacks a row: 0 rows by the index, 1 without.
fn wrong_rows() -> Finding {
    let mut finding = norec_finding(BROKEN_INDEX);
    finding.evidence.arms = vec![
        arm("the predicate in WHERE", "SELECT COUNT(*) FROM t0 WHERE t0.c0 = 1", 0),
        arm(
            "the predicate evaluated for every row",
            "SELECT SUM(CASE WHEN (t0.c0 = 1) IS TRUE THEN 1 ELSE 0 END) FROM t0",
            1,
        ),
    ];
    finding
}

/// EPSC: a table, rows, a query with a number and a text as parameters.
fn prepared(name: &str) -> Finding {
    let dialect = dialect(name);
    let compare = |column: &str, value: Value| {
        Expr::binary(BinaryOp::Eq, Expr::column("t0", column), Expr::Bound(value))
    };
    let filter = compare("c0", Value::Int(1)).and(compare("c1", Value::Text("it's \"so\"".to_string())));
    let query = Query::select(Select {
        items: vec![Expr::column("t0", "c1").into()],
        from: vec![TableRef::table("t0")],
        filter: Some(filter),
        ..Select::default()
    });
    let read = |sql: &str| import::statement(sql, 1, &dialect).statement;
    let steps = vec![
        read("CREATE TABLE t0(c0 INT, c1 VARCHAR(20))"),
        read("INSERT INTO t0 VALUES (1, 'it''s \"so\"'), (2, 'b')"),
        query.into(),
    ];
    let mut finding = wrong_rows();
    finding.dialect = name.to_string();
    finding.target = name.to_string();
    finding.case = TestCase { setup: Vec::new(), subject: Subject::of("epsc", steps) };
    finding.evidence.relation = "a statement and the same one prepared return the same".to_string();
    finding.evidence.class = Class::WrongRows;
    let side = Side { rows: 1, only: 1, examples: Vec::new() };
    finding.evidence.failure = Failure::Rows { first: side.clone(), second: side };
    finding
}

/// What a shell printed; everything that went wrong is a failure.
#[track_caller]
fn printed(command: &mut Command, script: &str) -> String {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stderr.trim().is_empty(), "{script}\n{stdout}\n{stderr}");
    stdout
}

/// The labels, the rows of both queries in order, and what is expected.
#[track_caller]
fn shows(printed: &str, parts: &[&str]) {
    let mut rest = printed;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in its place:\n{printed}"));
        rest = &rest[at + part.len()..];
    }
}

const PREPARED: &[&str] =
    &["1. as it is written", "it's \"so\"", "2. prepared, with parameters", "it's \"so\"", "Expected:"];

/// A program that is installed, or that a package has; `None`, loudly, if there is none.
fn shell(name: &str, obtain: &[&str], found: &str) -> Option<PathBuf> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed =
        std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file());
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shells").join(name);
    let obtained = home.join(found);
    if installed.is_some() {
        return installed;
    }
    if !obtained.is_file() {
        std::fs::create_dir_all(&home).unwrap();
        let script = format!("{} >/dev/null 2>&1", obtain.join(" && "));
        let _ = Command::new("sh").arg("-c").arg(script).current_dir(&home).status();
    }
    let required = std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some();
    assert!(obtained.is_file() || !required, "the shell {name} is required");
    if !obtained.is_file() {
        eprintln!("SKIPPED, not passed: the shell {name} is not installed and cannot be obtained");
        return None;
    }
    Some(obtained)
}

fn from_debian(package: &str) -> [String; 2] {
    [format!("apt-get download {package}"), "for deb in *.deb; do dpkg -x \"$deb\" .; done".to_string()]
}

fn debian_shell(name: &str, package: &str, found: &str) -> Option<PathBuf> {
    let steps = from_debian(package);
    shell(name, &[&steps[0], &steps[1]], found)
}

fn sqlite3() -> Option<PathBuf> {
    debian_shell("sqlite3", "sqlite3", "usr/bin/sqlite3")
}

fn duckdb() -> Option<PathBuf> {
    let download = "pip download --quiet --no-deps duckdb-cli";
    let unpack = "python3 -m zipfile -e *.whl . && chmod +x duckdb_cli/duckdb";
    shell("duckdb", &[download, unpack], "duckdb_cli/duckdb")
}

#[test]
fn sqlite_runs_the_scripts_and_shows_the_bug() {
    let Some(shell) = sqlite3() else { return };
    let run = |finding: &Finding| {
        printed(Command::new(&shell).arg("-bail"), &report::repro(finding, &dialect("sqlite")))
    };
    shows(
        &run(&wrong_rows()),
        &["1. the predicate in WHERE\n0\n", "2. the predicate", "\n1\n", "Expected from query 1: (1)"],
    );
    shows(&run(&prepared("sqlite")), PREPARED);
}

#[test]
fn duckdb_runs_the_scripts() {
    let Some(shell) = duckdb() else { return };
    let script = report::repro(&prepared("duckdb"), &dialect("duckdb"));
    shows(&printed(Command::new(&shell).args(["-bail", "-list"]), &script), PREPARED);
}

/// A private server, kept running by a shell of Dissent that waits for input.
struct Server {
    shell: Child,
}

/// The directories of a process's private servers and temporary files.
fn homes_of(process: u32) -> Vec<PathBuf> {
    let bases = [std::env::temp_dir(), PathBuf::from("/dev/shm")];
    let entries = bases.iter().filter_map(|base| std::fs::read_dir(base).ok()).flatten().flatten();
    // Relatives share the name of their driver.
    let owner = format!("-{process}-");
    let is_home = |name: &str| name.starts_with("dissent-server-") && name.contains(&owner);
    entries.filter(|entry| is_home(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}

impl Server {
    fn of(engine: &str) -> Option<Server> {
        let mut shell = Command::new(BINARY)
            .args(["shell", engine])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        shell.stdin.as_mut().unwrap().write_all(b"SELECT 'ready';\n").unwrap();
        let started = wait_for("a server, or none", || {
            let ended = shell.try_wait().unwrap().is_some();
            (ended || !homes_of(shell.id()).is_empty()).then_some(!ended)
        });
        let required = std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some();
        assert!(started || !required, "{engine} is required");
        if !started {
            eprintln!("SKIPPED, not passed: {engine} cannot be obtained");
            return None;
        }
        let mut line = String::new();
        let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        assert_eq!(line, "ready\n");
        Some(Server { shell })
    }

    /// The socket that it listens on.
    fn socket(&self, name: &str) -> PathBuf {
        wait_for("the server's socket", || {
            let mut left = homes_of(self.shell.id());
            while let Some(directory) = left.pop() {
                for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
                    let path = entry.path();
                    if entry.file_name() == name {
                        return Some(path);
                    }
                    if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                        left.push(path);
                    }
                }
            }
            None
        })
    }
}

impl Drop for Server {
    /// Its input ends, so it does.
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

#[test]
fn psql_runs_the_scripts() {
    let Some(shell) = debian_shell("psql", "postgresql-client-15", "usr/lib/postgresql/15/bin/psql") else {
        return;
    };
    let Some(server) = Server::of("postgres") else { return };
    let socket = server.socket(".s.PGSQL.5432");
    let script = report::repro(&prepared("postgres"), &dialect("postgres"));
    let mut psql = Command::new(&shell);
    psql.args(["-X", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", "postgres", "-h"])
        .arg(socket.parent().unwrap());
    shows(&printed(&mut psql, &script), PREPARED);
}

#[test]
fn mariadb_runs_the_scripts() {
    let Some(shell) = debian_shell("mariadb", "mariadb-client-core", "usr/bin/mariadb") else { return };
    let Some(server) = Server::of("mariadb") else { return };
    let socket = server.socket("socket");
    let script = report::repro(&prepared("mariadb"), &dialect("mariadb"));
    assert!(script.contains("SET sql_mode='ONLY_FULL_GROUP_BY,"), "{script}");
    let script = format!("CREATE DATABASE repro;\nUSE repro;\n{script}");
    let mut client = Command::new(&shell);
    client.args(["--no-defaults", "-u", "root", "-S"]).arg(socket);
    shows(&printed(&mut client, &script), PREPARED);
}

/// Nobody has the shell of an old version: Dissent is one.
#[test]
fn dissent_runs_the_scripts_on_any_version() {
    for target in ["sqlite", "sqlite@3.30.1"] {
        let mut shell = Command::new(BINARY);
        let mut obtained = Command::new(BINARY);
        if !obtained.args(["engines", "install", target]).stderr(Stdio::null()).status().unwrap().success() {
            let required = std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some();
            assert!(!required, "{target} is required");
            eprintln!("SKIPPED, not passed: {target} cannot be obtained");
            continue;
        }
        let script = report::repro(&prepared("sqlite"), &dialect("sqlite"));
        shows(&printed(shell.args(["shell", target]), &script), PREPARED);
    }
    let mut shell = Command::new(BINARY);
    let script = report::repro(&wrong_rows(), &dialect("sqlite"));
    shows(&printed(shell.args(["shell", "sqlite"]), &script), &["1. ", "\n0\n", "2. ", "\n1\n", "Expected"]);
}

#[test]
fn the_shell_says_what_fails_and_goes_on() {
    let mut shell = Command::new(BINARY);
    let mut child =
        shell.args(["shell", "sqlite"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let script = b".frobnicate\nSELEKT 1;\nSELECT 2,\n 'a;b' -- ;\n;\nSELECT 1 WHERE 0;\nSELECT 3";
    child.stdin.take().unwrap().write_all(script).unwrap();
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    shows(
        &stdout,
        &["unknown command .frobnicate", "Error: near \"SELEKT\"", "2 | a;b\n", "(no rows)\n", "3\n"],
    );
    assert_eq!(output.status.code(), Some(2));
}
