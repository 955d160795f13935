//! Passwords, users and hosts stay where they were typed; connections are encrypted as the address says.

#[path = "../../engine/tests/common/responder.rs"]
mod responder;
mod support;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use responder::{PASSWORD, Responder};
use support::traces::{Somebodys, Watched};
use support::{BINARY, certificates, children_of, dissent, run, shell, wait_for};

const SECRET: &str = "s3cret";

/// `postgres://USER:SECRET@…` out of `postgres://postgres@…`.
fn with_login(address: &str, login: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap();
    format!("{scheme}://{login}@{}", rest.split_once('@').unwrap().1)
}

#[test]
fn a_password_is_not_repeated_in_errors() {
    let directory = tempfile::tempdir().unwrap();
    for url in [
        "postgres://me:s3cret@host:port/",
        "clickhouse://me:s3cret@host/",
        "postgres://me:s3cret",
        "nosuch://me:s3cret@host/",
        "mysql://me:s3cret@host/shop",
        "postgres://me:s3cret@host/?sslmode=never",
    ] {
        for args in [
            &["hunt", url][..],
            &["hunt", "sqlite", url],
            &["check", "a.sql", "--target", url],
            &["clean", url],
        ] {
            let said = run(dissent(directory.path()).args(args));
            assert_eq!(said.code, Some(2), "{args:?}");
            assert!(!format!("{}{}", said.stdout, said.stderr).contains(SECRET), "{}", said.stderr);
        }
    }
}

#[test]
fn a_hunt_on_a_server_keeps_its_login_to_itself() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut server) = Somebodys::start("postgres") else { return };
    server.execute("CREATE ROLE s0mebody SUPERUSER LOGIN");
    let address = with_login(&server.address, &format!("s0mebody:{SECRET}"));
    let mut command = Command::new(BINARY);
    command.args(["hunt", &address, "--jobs", "1", "--max-cases", "300", "--no-reduce", "--out", "out"]);
    command.current_dir(directory.path()).env("DISSENT_TEST_FAULT", "crash@7");
    command.stdout(fs::File::create(directory.path().join("said")).unwrap());
    command.stderr(fs::File::create(directory.path().join("told")).unwrap());
    let mut hunt = Watched::start(&mut command);
    wait_for("the hunt begins", || directory.path().join("out").exists().then_some(()));
    hunt.look();
    for process in &hunt.processes {
        let line = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        assert!(!line.contains(SECRET), "{line}");
    }
    assert_eq!(
        hunt.finish().code(),
        Some(1),
        "{}",
        fs::read_to_string(directory.path().join("told")).unwrap()
    );

    let host = server.address.rsplit('@').next().unwrap().trim_end_matches('/').replace("%2F", "/");
    let mut reports = 0;
    for path in files(&directory.path().join("out")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(SECRET), "{}", path.display());
        // What a user passes on. The campaign's own file says where to go on.
        if path.components().any(|part| part.as_os_str() == "findings") || path.ends_with("summary.json") {
            reports += 1;
            assert!(!text.contains("s0mebody") && !text.contains(&host), "{}: {text}", path.display());
        }
    }
    assert!(reports >= 4, "{reports}");

    // As it is printed, and in its words.
    let said = fs::read_to_string(directory.path().join("said")).unwrap();
    assert!(!said.contains(SECRET));
    let replay = said.lines().find(|line| line.trim_start().starts_with("dissent replay")).expect(&said);
    let program = Path::new(BINARY).parent().unwrap().display();
    let again = format!("PATH={program}:$PATH; {}", replay.trim());
    let output = Command::new("sh").args(["-c", &again]).current_dir(directory.path()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    // Nothing crashes without the fault.
    assert!(told.contains("no longer fails"), "{replay}: {told}{}", String::from_utf8_lossy(&output.stderr));
}

/// Statements of strangers run in workers and in the servers that these start.
#[test]
fn a_worker_does_not_know_the_passwords_of_the_environment() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(BINARY);
    command.args(["hunt", "sqlite", "--jobs", "1", "--plain", "--out", "out"]).current_dir(directory.path());
    for name in ["PGPASSWORD", "MYSQL_PWD", "CLICKHOUSE_PASSWORD"] {
        command.env(name, SECRET);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut hunt = Watched::start(&mut command);
    let of = |process: u32, file: &str| {
        String::from_utf8_lossy(&fs::read(format!("/proc/{process}/{file}")).unwrap_or_default()).into_owned()
    };
    let environment = wait_for("a worker runs", || {
        let workers = children_of(hunt.child.id());
        // Before it has a name of its own, a process is a copy of its parent.
        let worker =
            workers.into_iter().find(|process| of(*process, "cmdline").starts_with("dissent-worker"))?;
        Some(of(worker, "environ")).filter(|environment| !environment.is_empty())
    });
    assert!(environment.contains("RUST_BACKTRACE=0"), "{environment}");
    assert!(!environment.contains(SECRET), "{environment}");
    hunt.look();
    hunt.signal("TERM");
    hunt.finish();
    hunt.assert_gone();
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_server_of_another_kind_is_named() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.sql"), "SELECT 1;").unwrap();
    if let Some(server) = Somebodys::start("mariadb") {
        let address = server.address.replace("mariadb://", "mysql://");
        let said = run(dissent(directory.path()).args(["check", "a.sql", "--target", &address]));
        assert!(said.stderr.contains("the server is MariaDB ("), "{}", said.stderr);
        assert!(said.stderr.contains("; use mariadb://"), "{}", said.stderr);
    }
    if let Some(server) = Somebodys::start("postgres") {
        let address = server.address.replace("postgres://", "postgresql://");
        let said = run(dissent(directory.path()).args(["check", "a.sql", "--target", &address]));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
    }
}

/// A server that only takes encrypted connections, on a port of this machine.
struct Encrypted {
    child: Child,
    directory: tempfile::TempDir,
    port: u16,
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `/proc/self/fd/7` as the path that it stands for in this process.
fn without_descriptor(word: &str, process: u32) -> String {
    let Some((before, rest)) = word.split_once("/proc/self/fd/") else { return word.to_string() };
    let (number, after) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = fs::read_link(format!("/proc/{process}/fd/{number}")).unwrap();
    without_descriptor(&format!("{before}{}{after}", path.display()), process)
}

/// Starts the same program as a private server of this engine does, with other options.
fn encrypted(name: &str) -> Option<Encrypted> {
    let server = Somebodys::start(name)?;
    let directory = tempfile::tempdir().unwrap();
    if !certificates::make(directory.path()) {
        return None;
    }
    let home = server.address.rsplit('@').next().unwrap().replace("%2F", "/");
    let home = home.split('/').find(|part| part.starts_with("dissent-server-")).unwrap().to_string();
    let words = |process: &u32| {
        let line = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        line.split('\0').map(str::to_string).collect::<Vec<_>>()
    };
    let process = children_of(std::process::id())
        .into_iter()
        .find(|process| words(process).iter().any(|word| word.contains(&home)))
        .expect("the private server runs");
    let mut line: Vec<String> = words(&process).into_iter().filter(|word| !word.is_empty()).collect();
    let at =
        line.iter().find_map(|word| Some(&word[word.find('/')?..word.find(&home)? + home.len()])).unwrap();
    let (at, place) = (at.to_string(), directory.path().display().to_string());
    // The programs of MySQL's family are in a directory that only ourselves may reach and that it inherited.
    line.iter_mut().for_each(|word| *word = without_descriptor(word, process));
    let owner = match name {
        "postgres" => fs::metadata(format!("{at}/data")).unwrap(),
        _ => fs::metadata("/proc/self").unwrap(),
    };
    let (uid, gid) = (owner.uid(), owner.gid());
    let source = dissent_engine::Target::parse(name).unwrap().obtain(&mut |_| {}).unwrap();
    let template = source.path().unwrap().join("template");
    shell(&format!(
        "chmod 755 {place}; mkdir {place}/run {place}/nothing; [ -d {at}/native ] && cp -a {at}/native {place}/; cp -a {} {place}/data; chmod 600 {place}/server.key
         chown -R {uid}:{gid} {place}",
        template.display()
    ));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    line.iter_mut().for_each(|word| *word = word.replace(&at, &place));
    line.retain(|word| word != "--skip-networking");
    let (cert, key) = (format!("{place}/server.pem"), format!("{place}/server.key"));
    if name == "postgres" {
        fs::write(
            directory.path().join("data/pg_hba.conf"),
            "local all all trust\nhostssl all all all trust\n",
        )
        .unwrap();
        let options = [
            "listen_addresses=127.0.0.1".to_string(),
            format!("port={port}"),
            "ssl=on".to_string(),
            format!("ssl_cert_file={cert}"),
            format!("ssl_key_file={key}"),
        ];
        line.extend(options.into_iter().flat_map(|option| ["-c".to_string(), option]));
    } else {
        line.extend([
            format!("--port={port}"),
            "--bind-address=127.0.0.1".to_string(),
            format!("--ssl-cert={cert}"),
            format!("--ssl-key={key}"),
            "--require-secure-transport=ON".to_string(),
            "--user=root".to_string(),
        ]);
    }
    let mut command = Command::new(&line[0]);
    command.args(&line[1..]).current_dir(directory.path().join("data")).uid(uid).gid(gid);
    let log = fs::File::create(directory.path().join("log")).unwrap();
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    let child = command.spawn().unwrap();
    let encrypted = Encrypted { child, directory, port };
    if name != "postgres" {
        let socket = format!("{place}/run/socket").replace('/', "%2F");
        let socket = format!("{name}://root@{socket}/");
        let mut engine = wait_for("the server answers", || {
            dissent_engine::Target::parse(&socket).unwrap().obtain(&mut |_| {}).unwrap().open().ok()
        });
        for sql in ["CREATE USER somebody@'127.0.0.1'", "GRANT ALL ON *.* TO somebody@'127.0.0.1'"] {
            let reply = engine.execute(sql).unwrap();
            assert!(reply.failure().is_none(), "{reply:?}");
        }
    }
    wait_for("the server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    std::thread::sleep(Duration::from_millis(500));
    Some(encrypted)
}

/// Whether a script can be checked there, and what is said if not.
fn checks(server: &Encrypted, start: &str, host: &str, options: &str) -> Result<(), String> {
    checks_at(server.directory.path(), server.port, start, host, options)
}

fn checks_at(place: &Path, port: u16, start: &str, host: &str, options: &str) -> Result<(), String> {
    fs::write(place.join("a.sql"), "SELECT 1;").unwrap();
    let options = options.replace("DIR", &place.display().to_string());
    let address = format!("{start}@{host}:{port}/{options}");
    let said = run(dissent(place).args(["check", "a.sql", "--target", &address]));
    if said.code == Some(0) { Ok(()) } else { Err(said.stderr) }
}

#[test]
fn postgres_is_reached_over_tls() {
    let Some(server) = encrypted("postgres") else { return };
    let checks = |host: &str, options: &str| checks(&server, "postgres://postgres", host, options);
    assert_eq!(checks("127.0.0.1", ""), Ok(()), "preferred");
    assert_eq!(checks("127.0.0.1", "?sslmode=require"), Ok(()));
    assert_eq!(checks("127.0.0.1", "?sslmode=verify-ca&sslrootcert=DIR/ca.pem"), Ok(()));
    assert_eq!(checks("localhost", "?sslmode=verify-full&sslrootcert=DIR/ca.pem"), Ok(()));
    for (host, options, why) in [
        ("127.0.0.1", "?sslmode=disable", "no encryption"),
        ("127.0.0.1", "?sslmode=verify-ca&sslrootcert=DIR/other.pem", "certificate"),
        ("127.0.0.1", "?sslmode=verify-full&sslrootcert=DIR/ca.pem", "certificate"),
        ("localhost", "?sslmode=verify-full&sslrootcert=DIR/none.pem", "none.pem"),
    ] {
        let told = checks(host, options).unwrap_err();
        assert!(told.contains(why), "{options}: {told}");
    }
}

#[test]
fn mysql_and_mariadb_are_reached_over_tls() {
    for name in ["mariadb", "mysql"] {
        let Some(server) = encrypted(name) else { continue };
        let start = format!("{name}://somebody");
        let checks = |host: &str, options: &str| checks(&server, &start, host, options);
        assert_eq!(checks("127.0.0.1", ""), Ok(()), "{name} preferred");
        assert_eq!(checks("127.0.0.1", "?sslmode=require"), Ok(()), "{name}");
        assert_eq!(checks("localhost", "?sslmode=verify-full&sslrootcert=DIR/ca.pem"), Ok(()), "{name}");
        for (host, options, why) in [
            ("127.0.0.1", "?sslmode=disable", "insecure transport"),
            ("127.0.0.1", "?sslmode=verify-full&sslrootcert=DIR/ca.pem", "ertificate"),
            ("localhost", "?sslmode=verify-full&sslrootcert=DIR/other.pem", "ertificate"),
            ("localhost", "?sslmode=verify-ca&sslrootcert=DIR/ca.pem", "use verify-full"),
        ] {
            let told = checks(host, options).unwrap_err();
            assert!(told.contains(why), "{name} {options}: {told}");
        }
    }
}

#[test]
fn clickhouse_is_reached_over_tls() {
    let directory = tempfile::tempdir().unwrap();
    if !certificates::make(directory.path()) {
        return;
    }
    let Some(server) = Responder::encrypted(directory.path()) else { return };
    let start = format!("clickhouse+https://me:{PASSWORD}");
    let checks =
        |host: &str, options: &str| checks_at(directory.path(), server.port(), &start, host, options);
    assert_eq!(checks("127.0.0.1", "?sslmode=require"), Ok(()));
    assert_eq!(checks("127.0.0.1", "?sslmode=verify-ca&sslrootcert=DIR/ca.pem"), Ok(()));
    assert_eq!(checks("localhost", "?sslmode=verify-full&sslrootcert=DIR/ca.pem"), Ok(()));
    assert_eq!(checks("localhost", "?sslrootcert=DIR/ca.pem"), Ok(()), "verify-full is the default");
    for (host, options, why) in [
        // Nobody whom this machine trusts has signed it.
        ("localhost", "", "certificate"),
        ("127.0.0.1", "?sslrootcert=DIR/ca.pem", "certificate"),
        ("localhost", "?sslrootcert=DIR/other.pem", "certificate"),
        ("127.0.0.1", "?sslmode=verify-ca&sslrootcert=DIR/other.pem", "certificate"),
        ("localhost", "?sslrootcert=DIR/none.pem", "none.pem"),
        ("localhost", "?sslmode=prefer", "https is always encrypted"),
    ] {
        let told = checks(host, options).unwrap_err();
        assert!(told.contains(why), "{options}: {told}");
    }
    let plain = start.replace("+https", "+http");
    let told = checks_at(directory.path(), server.port(), &plain, "localhost", "").unwrap_err();
    assert!(!told.contains(PASSWORD), "{told}");
}
