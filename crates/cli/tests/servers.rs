//! Servers that a hunt starts: they end with it, however it ends, and nothing of them stays.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dissent_core::engine::Reply;
use dissent_core::sql::Value;
use support::{BINARY, dissent, run, wait_for};

const TARGET: &str = "postgres";

/// Whether the engine can be had here; if not, says so loudly.
fn obtained(directory: &Path) -> bool {
    let args = ["hunt", TARGET, "--jobs", "1", "--max-cases", "40", "--out", "first"];
    let said = run(dissent(directory).args(args));
    let required = std::env::var_os("DISSENT_REQUIRE_ENGINES").is_some();
    assert!(said.code == Some(0) || !required, "{TARGET} is required: {}", said.stderr);
    if said.code != Some(0) {
        eprintln!("SKIPPED, not passed: {TARGET} is not available: {}", said.stderr);
    }
    said.code == Some(0)
}

/// Processes by number, with their parent and the directory they work in.
fn processes() -> Vec<(u32, u32, PathBuf)> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        // What waits to be buried runs no more.
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let place = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        (state != "Z").then_some((pid, parent, place))
    })
    .collect()
}

/// The processes that work in the home of a server that this process owns.
fn servers_of(owner: u32) -> Vec<(u32, PathBuf)> {
    // Of a confined worker it is inside the worker's own.
    let homes = [format!("/dissent-server-{TARGET}-{owner}-"), format!("/dissent-server-worker-{owner}-")];
    let all = processes().into_iter();
    all.filter(|(_, _, place)| homes.iter().any(|home| place.to_string_lossy().contains(home)))
        .map(|(pid, _, place)| (pid, place))
        .collect()
}

/// A long hunt, ended with the test.
struct Hunt(Child);

impl Hunt {
    /// Its worker at this moment, and the home of that worker's server.
    fn worker(&self) -> (u32, PathBuf) {
        wait_for("a worker uses its server", || {
            let workers = processes().into_iter().filter(|(_, parent, _)| *parent == self.0.id());
            workers.map(|(worker, ..)| worker).find_map(|worker| {
                let (_, place) = servers_of(worker).into_iter().find(|(pid, _)| serves(*pid))?;
                Some((worker, place.parent()?.to_path_buf()))
            })
        })
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Hunt {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whether the process answers statements: it then has the name of the database in its title.
fn serves(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|title| title.contains(" dissent_"))
}

/// One whose worker has begun: the first worker only tells the version, and one whose server dies while it starts is
/// replaced.
fn hunting(directory: &Path) -> Hunt {
    let mut command = hunt_of(directory, TARGET, "second");
    let hunt = Hunt(command.args(["--log-statements", "log.sql"]).spawn().unwrap());
    let log = directory.join("log.sql");
    wait_for("the hunt begins", || log.metadata().is_ok_and(|log| log.len() > 0).then_some(()));
    hunt
}

fn starting(directory: &Path, target: &str, out: &str) -> Hunt {
    Hunt(hunt_of(directory, target, out).spawn().unwrap())
}

fn hunt_of(directory: &Path, target: &str, out: &str) -> Command {
    let mut command = Command::new(BINARY);
    command.args(["hunt", target, "--jobs", "1", "--time", "10m", "--seed", "1", "--out", out]);
    command.current_dir(directory).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Goes on with a campaign for a moment; gives the summary.
fn resumed(directory: &Path, target: &str, out: &str) -> serde_json::Value {
    let args = ["hunt", target, "--resume", out, "--time", "3s", "--summary", "json"];
    let said = run(dissent(directory).args(args));
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    said.json()
}

fn kill(pid: u32) {
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(killed.success());
}

#[test]
fn no_server_outlives_its_worker_or_the_hunt() {
    let directory = tempfile::tempdir().unwrap();
    if !obtained(directory.path()) {
        return;
    }
    let mut hunt = hunting(directory.path());
    let (worker, home) = hunt.worker();

    // Another worker takes the place of the one that was killed, with a server of its own.
    kill(worker);
    wait_for("the server ends with its worker", || servers_of(worker).is_empty().then_some(()));
    let (next, _) = hunt.worker();
    assert!(!home.exists(), "the next server removes what the dead one left");

    hunt.kill();
    wait_for("nothing outlives the hunt", || servers_of(next).is_empty().then_some(()));
    let summary = resumed(directory.path(), TARGET, "second");
    assert!(summary["statements"].as_u64().unwrap() > 0, "{summary}");
}

/// However far a server has come when everything above it is killed.
#[test]
fn no_server_outlives_a_hunt_that_is_killed_while_it_starts() {
    let directory = tempfile::tempdir().unwrap();
    if !obtained(directory.path()) {
        return;
    }
    for (round, delay) in [0, 5, 15, 30, 60, 100].into_iter().enumerate() {
        let mut hunt = starting(directory.path(), TARGET, &format!("out{round}"));
        let worker = wait_for("a worker starts a server", || {
            let workers = processes().into_iter().filter(|(_, parent, _)| *parent == hunt.0.id());
            workers.map(|(worker, ..)| worker).find(|worker| !servers_of(*worker).is_empty())
        });
        std::thread::sleep(Duration::from_millis(delay));
        hunt.kill();
        wait_for("nothing outlives the hunt", || servers_of(worker).is_empty().then_some(()));
    }
}

#[test]
fn a_server_that_is_killed_is_started_again() {
    let directory = tempfile::tempdir().unwrap();
    if !obtained(directory.path()) {
        return;
    }
    let mut hunt = hunting(directory.path());
    let (worker, home) = hunt.worker();
    let server = wait_for("the server's first process is there", || {
        let all = processes().into_iter();
        let mut own = all.filter(|(_, parent, place)| *parent == worker && place.starts_with(&home));
        own.next().map(|(pid, ..)| pid)
    });
    kill(server);
    wait_for("the worker starts another server", || {
        servers_of(worker).iter().any(|(_, place)| !place.starts_with(&home)).then_some(())
    });
    hunt.kill();
}

/// On a server that somebody else runs: ours, in this test.
#[test]
fn what_killed_workers_made_on_a_given_server_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    if !obtained(directory.path()) {
        return;
    }
    let target = dissent_engine::Target::parse(TARGET).unwrap();
    let mut server = target.obtain(&mut |_| {}).unwrap().open().unwrap();
    let mut ask = |sql: &str| match server.execute(sql).unwrap() {
        Reply::Rows(rows) => rows.values,
        other => panic!("{sql}: {other:?}"),
    };
    let sockets = ask("SHOW unix_socket_directories");
    let [Value::Text(place)] = &sockets[..] else { panic!("{sockets:?}") };
    let address = format!("postgres://postgres@{}/", place.replace('/', "%2F"));
    // The server's own is one of them.
    let mut ours = || ask("SELECT datname FROM pg_database WHERE datname LIKE 'dissent%'").len();
    assert_eq!(ours(), 1);

    // A worker that is killed: another takes its place, and the hunt clears up at its end.
    let mut hunt = starting(directory.path(), &address, "out");
    wait_for("the hunt begins", || directory.path().join("out").exists().then_some(()));
    wait_for("a worker makes its database", || (ours() == 2).then_some(()));
    let workers = processes().into_iter().filter(|(_, parent, _)| *parent == hunt.0.id());
    workers.for_each(|(worker, ..)| kill(worker));
    wait_for("another worker makes another", || (ours() == 3).then_some(()));
    let asked = Command::new("kill").args(["-INT", &hunt.0.id().to_string()]).status().unwrap();
    assert!(asked.success());
    hunt.0.wait().unwrap();
    assert_eq!(ours(), 1, "the hunt drops what the killed worker left");

    // The hunt itself is killed: whatever is started next cleans up.
    let mut hunt = starting(directory.path(), &address, "killed");
    wait_for("the hunt begins", || directory.path().join("killed").exists().then_some(()));
    wait_for("a worker makes its database", || (ours() == 2).then_some(()));
    hunt.kill();
    assert_eq!(ours(), 2);
    resumed(directory.path(), &address, "killed");
    assert_eq!(ours(), 1);
}
