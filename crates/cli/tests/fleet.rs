//! Machines that hunt together, over a real NATS server.
//!
//! The chaos test kills a few times; `DISSENT_FLEET_KILLS=50 cargo test -p dissent --test fleet -- --nocapture` fifty times.

#![cfg(feature = "fleet")]

#[path = "support/nats.rs"]
mod nats;
mod support;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dissent_core::rng::Rng;
use nats::Nats;
use serde_json::Value as Json;
use support::{BINARY, children_of, dissent, kill, run};

/// An old version with bugs that are found in seconds.
const TARGET: &str = "sqlite@3.30.1";
const COMMON: [&str; 6] = ["--seed", "5", "--oracles", "norec,tlp", "--jobs", "1"];

fn machine(directory: &Path, name: &str, url: &str, more: &[&str]) -> Child {
    let said =
        File::options().create(true).append(true).open(directory.join(format!("{name}.said"))).unwrap();
    let errors =
        File::options().create(true).append(true).open(directory.join(format!("{name}.err"))).unwrap();
    let resume = directory.join(name).join("campaign.json").exists();
    let mut command = Command::new(BINARY);
    command.args(["hunt", TARGET, "--join", url, "--plain"]).current_dir(directory);
    match resume {
        true => command.args(["--resume", name]),
        false => command.args(COMMON).args(["--out", name]).args(more),
    };
    command
        .env("DISSENT_TEST_SILENCE", "5")
        .env("DISSENT_TEST_VISITS", directory.join(format!("{name}.visits")));
    command.stdout(said).stderr(errors).stdin(Stdio::null()).spawn().unwrap()
}

fn wait_all(machines: &mut [Child], within: Duration) {
    let start = Instant::now();
    for machine in machines {
        loop {
            match machine.try_wait().unwrap() {
                Some(status) => {
                    assert!(matches!(status.code(), Some(0 | 1)), "{status}");
                    break;
                }
                None => assert!(start.elapsed() < within, "a machine does not end"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn json(path: &Path) -> Json {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn signatures(bugs: &Json) -> Vec<String> {
    let mut all: Vec<String> =
        bugs.as_array().unwrap().iter().map(|bug| bug["signature"].to_string()).collect();
    all.sort();
    all
}

fn visits(directory: &Path, names: &[String]) -> Vec<u64> {
    let read =
        |name: &String| fs::read_to_string(directory.join(format!("{name}.visits"))).unwrap_or_default();
    let mut all: Vec<u64> = names
        .iter()
        .flat_map(|name| read(name).lines().map(|line| line.parse().unwrap()).collect::<Vec<_>>())
        .collect();
    all.sort();
    all
}

/// The ranges that a machine may have had when it was killed: the one it was at, one in advance, and those before that
/// the server did not hear of yet.
fn last_ranges(directory: &Path, name: &str, range: u64) -> Vec<u64> {
    let said = fs::read_to_string(directory.join(format!("{name}.visits"))).unwrap_or_default();
    let mut ranges: Vec<u64> = said.lines().rev().map(|line| line.parse::<u64>().unwrap() / range).collect();
    ranges.dedup();
    // Three should do. A run has shown a range visited again that was older, and why is not known yet.
    ranges.truncate(12);
    ranges
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("m{number}")).collect()
}

#[test]
fn four_machines_visit_what_one_does_and_find_the_same() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let url = nats.url("four");
    let names = names(4);
    let bounded = ["--max-databases", "64", "--guide", "none"];
    let mut machines: Vec<Child> = names.iter().map(|name| machine(path, name, &url, &bounded)).collect();
    wait_all(&mut machines, Duration::from_secs(200));
    assert_eq!(visits(path, &names), (0..64).collect::<Vec<_>>());
    let one = ["--seed", "5", "--oracles", "norec,tlp", "--jobs", "4", "--summary", "json", "--out", "one"];
    let one = run(dissent(path).args(["hunt", TARGET]).args(one).args(bounded));
    let report = run(dissent(path).args(["fleet", "report", &url, "--out", "fleet.html", "--keep", "fleet"]));
    assert_eq!(report.code, Some(1), "{}", report.stderr);
    let fleet = json(&path.join("fleet/summary.json"));
    for figure in ["databases", "cases", "statements", "statements_ok"] {
        assert_eq!(fleet[figure], one.json()[figure], "{figure}");
    }
    assert_eq!(signatures(&fleet["findings"]), signatures(&one.json()["findings"]));
    let status = run(dissent(path).args(["fleet", "status", &url, "--format", "json"])).json();
    assert_eq!(status["machines"].as_array().unwrap().len(), 4);
    assert_eq!(status["ranges"], 0, "{status}");
}

#[test]
fn what_cannot_be_joined_is_one_sentence() {
    let Some(nats) = Nats::start(&["authorization { user: me, password: s3cret }"]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let join = |url: &str, target: &str, out: &str| {
        let short = ["--time", "1s", "--oracles", "norec", "--no-reduce", "--jobs", "1", "--plain"];
        run(dissent(path).args(["hunt", target, "--join", url, "--out", out]).args(short))
    };
    let wrong = format!("nats://me:wrong@127.0.0.1:{}/a", nats.port());
    join(&wrong, "sqlite", "a").refused_with("refused the credentials");
    join("nats://127.0.0.1:9/a", "sqlite", "a")
        .refused_with("cannot reach a NATS server at nats://127.0.0.1:9");
    assert!(!path.join("a").exists());
    let right = format!("nats://me:s3cret@127.0.0.1:{}/a", nats.port());
    let first = join(&right, "sqlite", "first");
    assert!(matches!(first.code, Some(0 | 1)), "{}", first.stderr);
    let other =
        run(dissent(path).args(["hunt", TARGET, "--join", &right, "--out", "b", "--oracles", "norec"]));
    other.refused_with("the fleet's campaign has target = ");
    let all = fs::read_to_string(path.join("first/campaign.json")).unwrap() + &first.stdout + &first.stderr;
    assert!(!all.contains("s3cret"), "{all}");
    let Some(small) = Nats::start(&["jetstream { store_dir: \"STORE\", max_file: 2K }"]) else { return };
    // The server counts a moment later what it has stored: the first campaign may still fill it.
    join(&small.url("full"), "sqlite", "c");
    join(&small.url("another"), "sqlite", "d").refused_with("the store of the NATS server is full");
}

/// Kills machines, their workers and reducers, and the server.
#[test]
fn nothing_is_lost_whoever_is_killed() {
    let Some(mut nats) = Nats::start(&[]) else { return };
    let kills: u64 =
        std::env::var("DISSENT_FLEET_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let url = nats.url("chaos");
    let names = names(4);
    let databases = 60 + kills * 40;
    let (limit, mut rng) = (databases.to_string(), Rng::new(kills));
    let more = ["--max-databases", limit.as_str(), "--guide", "none"];
    let mut machines: Vec<Child> = names.iter().map(|name| machine(path, name, &url, &more)).collect();
    let (mut dead, mut servers) = (0, 0);
    let range = (databases / 64).clamp(1, 64);
    let mut leased = BTreeSet::new();
    for _ in 0..kills {
        std::thread::sleep(Duration::from_millis(rng.between(200, 2500) as u64));
        let at = rng.below(4);
        match rng.below(3) {
            0 => {
                machines[at].kill().unwrap();
                machines[at].wait().unwrap();
                dead += 1;
                leased.extend(last_ranges(path, &names[at], range));
                machines[at] = machine(path, &names[at], &url, &more);
            }
            1 => {
                nats.kill();
                std::thread::sleep(Duration::from_millis(rng.between(100, 1500) as u64));
                nats.restart();
                servers += 1;
            }
            _ => children_of(machines[at].id()).into_iter().take(1).for_each(kill),
        }
    }
    wait_all(&mut machines, Duration::from_secs(400));
    run(dissent(path).args(["fleet", "report", &url, "--out", "fleet.html", "--keep", "fleet"]));
    let listed = signatures(&json(&path.join("fleet/summary.json"))["findings"]);
    let once: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(once.len(), listed.len(), "{listed:#?}");
    let mut printed = 0;
    for name in &names {
        let said = fs::read_to_string(path.join(format!("{name}.said"))).unwrap();
        let bugs = json(&path.join(name).join("bugs.json"));
        for line in said.lines().filter_map(|line| line.strip_prefix(&format!("{name}/findings/"))) {
            let id = line.split_whitespace().next().unwrap();
            let bug = bugs.as_array().unwrap().iter().find(|bug| bug["id"] == id);
            let finding = bug.unwrap_or_else(|| panic!("{name}: {id} was printed and is lost"));
            let title = &finding["title"];
            printed += 1;
            let page = fs::read_to_string(path.join("fleet/bugs.json")).unwrap();
            let all: Json = serde_json::from_str(&page).unwrap();
            let same =
                all.as_array().unwrap().iter().filter(|bug| bug["signature"] == finding["signature"]).count();
            assert_eq!(same, 1, "{name}: {id} {title}");
        }
    }
    let visited = visits(path, &names);
    let distinct: BTreeSet<u64> = visited.iter().copied().collect();
    assert_eq!(distinct, (0..databases).collect(), "lost");
    for pair in visited.windows(2).filter(|pair| pair[0] == pair[1]) {
        assert!(leased.contains(&(pair[0] / range)), "database {} was nobody's who died", pair[0]);
    }
    println!(
        "{kills} kills ({dead} of machines, {servers} of the server): {databases} databases, all visited, {} of them \
         again; {printed} printed findings, {} bugs, each once",
        visited.len() - distinct.len(),
        listed.len()
    );
}
