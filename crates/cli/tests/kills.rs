//! Hunts that are killed at random moments, on every kind of engine. After the next start nothing of them is left: no
//! process, no directory, no segment of shared memory, no database; and no finding that was printed is lost.
//!
//! A test kills each kind once. `DISSENT_KILLS=200 cargo test -p dissent --test kills -- --nocapture` kills two hundred in
//! turn; `DISSENT_KILLS_FROM=50` skips the first fifty.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use dissent_core::rng::Rng;
use support::traces::{Somebodys, Watched};
use support::{BINARY, dissent, run};

/// Engines, and a server that somebody else runs.
const TARGETS: [&str; 8] =
    ["sqlite@3.30.1", "duckdb", "postgres", "mariadb", "clickhouse", "postgres://", "mariadb://", "mysql"];
const SIGNALS: [&[&str]; 4] = [&["KILL"], &["TERM"], &["HUP"], &["INT", "INT"]];

/// What a round kills, and how.
fn round_of(round: usize) -> (&'static str, &'static [&'static str]) {
    let (turn, target) = (round / TARGETS.len(), round % TARGETS.len());
    (TARGETS[target], SIGNALS[(turn + target) % SIGNALS.len()])
}

#[test]
fn every_kind_of_engine_meets_every_signal() {
    let rounds: BTreeSet<_> = (0..TARGETS.len() * SIGNALS.len()).map(round_of).collect();
    assert_eq!(rounds.len(), TARGETS.len() * SIGNALS.len());
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn a_hunt_that_is_killed_leaves_nothing_after_the_next_start() {
    let (all, from) = (number("DISSENT_KILLS", TARGETS.len() as u64), number("DISSENT_KILLS_FROM", 0));
    let mut servers: BTreeMap<&str, Option<Somebodys>> = BTreeMap::new();
    let mut engines: BTreeMap<&str, bool> = BTreeMap::new();
    let (mut left_at_once, mut printed, mut killed) = (0, 0, 0);
    for round in from..from + all {
        let mut rng = Rng::new(round);
        let (target, signals) = round_of(round as usize);
        let engine = target.trim_end_matches("://");
        let available = match target.ends_with("://") {
            true => servers.entry(engine).or_insert_with(|| Somebodys::start(engine)).is_some(),
            false => *engines.entry(engine).or_insert_with(|| Somebodys::start_any(engine).is_some()),
        };
        if !available {
            continue;
        }
        let mut server = servers.get_mut(engine).and_then(Option::as_mut).filter(|_| target.ends_with("://"));
        let address = server.as_ref().map_or(target.to_string(), |server| server.address.clone());
        let after = Duration::from_millis(rng.between(0, 3500) as u64);
        let directory = tempfile::tempdir().unwrap();
        // A server that runs as another user has to pass through.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let scratch = directory.path().join("tmp");
        fs::create_dir(&scratch).unwrap();
        let (hunt, said) = kill_one(directory.path(), &address, signals, after, &mut rng);
        killed += 1;
        // A hunt may find a statement that crashes the server; the next round starts another one.
        if server.as_mut().is_some_and(|server| !server.is_alive()) {
            println!("{round}: {target} {} after {after:?}, the hunt crashed the server", signals.join(" "));
            hunt.assert_gone();
            servers.remove(engine);
            continue;
        }
        let at_once = hunt.left().len() + server.as_mut().map_or(0, |server| server.databases().len());
        left_at_once += u64::from(at_once > 0);

        // The next start: of the same engine, as short as it can be.
        fs::write(directory.path().join("a.sql"), "SELECT 1;").unwrap();
        let mut next = dissent(directory.path());
        let next = run(next.args(["check", "a.sql", "--target", &address]).env("TMPDIR", &scratch));
        assert_eq!(next.code, Some(0), "round {round}, {target}: {}", next.stderr);
        let databases = server.as_mut().map(|server| server.databases()).unwrap_or_default();
        println!("{round}: {target} {} after {after:?}, left at once: {at_once}", signals.join(" "));
        assert_eq!(databases, [""; 0], "round {round}, {target}, {signals:?}");
        hunt.assert_gone();
        let stays: Vec<_> = fs::read_dir(&scratch).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(stays.is_empty(), "round {round}, {target}, {signals:?}: {stays:?}");
        for line in said.lines().filter(|line| line.starts_with("out/findings/")) {
            printed += 1;
            let finding = directory.path().join(line.split_whitespace().next().unwrap());
            assert!(finding.join("finding.json").is_file(), "round {round}: {line} was printed and is lost");
        }
    }
    // So many hunts find something.
    assert!(all < 50 || printed > 0, "no finding was printed, so it is not known whether one is lost");
    println!(
        "{killed} hunts killed; {left_at_once} left something until the next start, none after it; {printed} printed \
         findings, all on disk"
    );
}

/// Gives what was seen of a hunt that has ended, and what it printed.
fn kill_one(
    directory: &Path,
    target: &str,
    signals: &[&str],
    after: Duration,
    rng: &mut Rng,
) -> (Watched, String) {
    let mut command = Command::new(BINARY);
    command.args(["hunt", target, "--jobs", "2", "--plain", "--out", "out"]).current_dir(directory);
    command.env("TMPDIR", directory.join("tmp"));
    command.stdout(fs::File::create(directory.join("said")).unwrap()).stderr(Stdio::null());
    let mut hunt = Watched::start(&mut command);
    hunt.watch(after);
    for signal in signals {
        hunt.look();
        hunt.signal(signal);
        hunt.watch(Duration::from_millis(rng.below(200) as u64));
    }
    hunt.finish();
    (hunt, fs::read_to_string(directory.join("said")).unwrap())
}
