//! Machines that hunt together while they, their workers and reducers, and the NATS server are killed.
//!
//! `DISSENT_FLEET_KILLS=50 cargo test -p dissent --test fleet_kills -- --nocapture` kills fifty times instead of six.

#![cfg(feature = "fleet")]

#[path = "support/machines.rs"]
mod machines;
#[path = "support/nats.rs"]
mod nats;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use dissent_campaign::Bug;
use dissent_campaign::store::read_campaign;
use dissent_core::rng::Rng;
use dissent_core::triage::Identity;
use dissent_fleet::Fleet;
use machines::{machine, names, visits, visits_of};
use nats::Nats;
use support::{children_of, dissent, run, try_kill};

/// How long nothing may happen. How long it takes in all depends on what else the computer does.
const PATIENCE: Duration = Duration::from_secs(120);

/// Everything that happens to a fleet, and which databases may therefore be visited again.
struct Chaos<'a> {
    path: &'a Path,
    url: String,
    names: Vec<String>,
    more: Vec<&'a str>,
    /// None: dead.
    machines: Vec<Option<Child>>,
    /// How often somebody died who had a database.
    deaths: BTreeMap<u64, usize>,
}

/// Which of a machine's children a kill is aimed at.
#[derive(Clone, Copy, PartialEq)]
enum Aim {
    /// A worker that hunts.
    Worker,
    /// A process that checks a finding for the reducer.
    Reducer,
}

impl<'a> Chaos<'a> {
    fn start(path: &'a Path, url: String, more: Vec<&'a str>) -> Chaos<'a> {
        let names = names(4);
        let machines = names.iter().map(|_| None).collect();
        let mut chaos = Chaos { path, url, names, more, machines, deaths: BTreeMap::new() };
        (0..4).for_each(|at| chaos.revive(at));
        chaos
    }

    fn revive(&mut self, at: usize) {
        let started = || machine(self.path, &self.names[at], &self.url, &self.more);
        self.machines[at].get_or_insert_with(started);
    }

    /// What a dead machine had is what the server says that it had.
    fn kill_machine(&mut self, at: usize) {
        let Some(mut machine) = self.machines[at].take() else { return };
        machine.kill().unwrap();
        machine.wait().unwrap();
        let directory = self.path.join(&self.names[at]);
        // One that did not join yet had nothing.
        let Ok(file) = read_campaign(&directory) else { return };
        let leased = Fleet::connect(&self.url).unwrap().leased(&file).unwrap();
        self.died_with(leased.into_iter().flatten());
    }

    fn died_with(&mut self, databases: impl Iterator<Item = u64>) {
        for database in databases.collect::<BTreeSet<u64>>() {
            *self.deaths.entry(database).or_default() += 1;
        }
    }

    /// Whether there was one. A worker that dies before its first statement leaves the database that it was about to visit to
    /// the next one, which may have begun another one by now.
    fn kill_child(&mut self, at: usize, aim: Aim) -> bool {
        let Some(machine) = &self.machines[at] else { return false };
        let (workers, others) = hunting_children(machine.id());
        let victim = match aim {
            Aim::Worker => workers.first(),
            // Before a machine hunts, its children open the engine.
            Aim::Reducer => others.first().filter(|_| !workers.is_empty()),
        };
        let Some(victim) = victim else { return false };
        let visited = || visits_of(self.path, &self.names[at]);
        let before = visited().len();
        let killed = try_kill(*victim);
        let since = visited().split_off(before.saturating_sub(1));
        if aim == Aim::Worker {
            self.died_with(since.into_iter());
        }
        killed
    }

    /// Kills what some machine's reducer runs, beginning with one machine, if there is anything soon.
    fn kill_reducer(&mut self, first: usize) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(3) {
            for at in 0..self.machines.len() {
                if self.kill_child((first + at) % self.machines.len(), Aim::Reducer) {
                    return true;
                }
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Waits until all databases are visited. A machine that could not join because the server was down at that moment
    /// says so, and is started again.
    fn finish(&mut self) {
        (0..self.names.len()).for_each(|at| self.revive(at));
        for at in 0..self.names.len() {
            loop {
                self.revive(at);
                let mut machine = self.machines[at].take().unwrap();
                let code = self.wait(&mut machine);
                if matches!(code, Some(0 | 1)) {
                    break;
                }
                let errors = fs::read_to_string(self.path.join(format!("{}.err", self.names[at]))).unwrap();
                let last = errors.lines().last().unwrap_or_default();
                assert!(code == Some(2) && last.contains(" NATS server "), "{code:?}: {last}");
            }
        }
    }

    /// The exit code of a machine, which ends some time after the last database was visited.
    fn wait(&self, machine: &mut Child) -> Option<i32> {
        let (mut visited, mut since) = (0, Instant::now());
        loop {
            if let Some(status) = machine.try_wait().unwrap() {
                return status.code();
            }
            let now = visits(self.path, &self.names).len();
            if now != visited {
                (visited, since) = (now, Instant::now());
            }
            assert!(since.elapsed() < PATIENCE, "a machine does not end after {visited} visits");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Every finding that was printed is in the report once. Gives how many were printed.
    fn check_findings(&self) -> usize {
        let reported = bugs_in(&self.path.join("fleet"));
        let mut printed = 0;
        for name in &self.names {
            let said = fs::read_to_string(self.path.join(format!("{name}.said"))).unwrap();
            let bugs = bugs_in(&self.path.join(name));
            for line in said.lines().filter_map(|line| line.strip_prefix(&format!("{name}/findings/"))) {
                let id = line.split_whitespace().next().unwrap();
                let here: Vec<&Bug> = bugs.iter().filter(|bug| bug.id == id).collect();
                let [here] = here[..] else { panic!("{name}: {id} was printed and is lost") };
                // It may be there by an example of another machine that looks otherwise.
                let is_it = |bug: &Bug| match (identity(bug), identity(here)) {
                    (Some(there), Some(here)) => there.is_same_bug(&here),
                    _ => bug.key() == here.key(),
                };
                assert!(reported.iter().any(is_it), "{name}: {id} {} is not in the report", here.title);
                printed += 1;
            }
        }
        printed
    }

    /// No database is lost, and none is visited again more often than somebody died who had it. Gives how many visits were
    /// not the first.
    fn check_visits(&self, databases: u64) -> usize {
        let mut visits_to: BTreeMap<u64, usize> = BTreeMap::new();
        for database in visits(self.path, &self.names) {
            *visits_to.entry(database).or_default() += 1;
        }
        assert!(visits_to.keys().copied().eq(0..databases), "lost");
        for (database, visits) in &visits_to {
            let deaths = self.deaths.get(database).copied().unwrap_or(0);
            assert!(*visits <= 1 + deaths, "{visits} visits to {database}, which {deaths} who died had");
        }
        visits_to.values().map(|visits| visits - 1).sum()
    }
}

/// The children of a machine that hunt, and the others. Only a worker that hunts is told things later on: its machine
/// keeps the other end of what it reads.
fn hunting_children(machine: u32) -> (Vec<u32>, Vec<u32>) {
    let ends = |process: u32| {
        let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().filter_map(Result::ok);
        files.filter_map(|file| fs::read_link(file.path()).ok()).collect::<BTreeSet<_>>()
    };
    let kept = ends(machine);
    let is_told =
        |child: &u32| fs::read_link(format!("/proc/{child}/fd/0")).is_ok_and(|end| kept.contains(&end));
    children_of(machine).into_iter().partition(is_told)
}

fn bugs_in(campaign: &Path) -> Vec<Bug> {
    serde_json::from_str(&fs::read_to_string(campaign.join("bugs.json")).unwrap()).unwrap()
}

fn identity(bug: &Bug) -> Option<Identity> {
    Some(Identity::new(bug.signature.as_ref()?, bug.cause.as_ref(), bug.history.as_ref()))
}

#[test]
fn nothing_is_lost_whoever_is_killed() {
    let Some(mut nats) = Nats::start(&[]) else { return };
    let kills: u64 =
        std::env::var("DISSENT_FLEET_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let directory = tempfile::tempdir().unwrap();
    let databases = 60 + kills * 40;
    let (limit, mut rng) = (databases.to_string(), Rng::new(kills));
    let more = vec!["--max-databases", limit.as_str(), "--guide", "none"];
    let mut chaos = Chaos::start(directory.path(), nats.url("chaos"), more);
    // Each kind once in any four.
    let mut kinds = Vec::new();
    let (mut dead, mut servers, mut workers, mut reducers) = (0, 0, 0, 0);
    for _ in 0..kills {
        std::thread::sleep(Duration::from_millis(rng.between(200, 2500) as u64));
        let at = rng.below(4);
        if kinds.is_empty() {
            kinds = vec![0, 1, 2, 3];
            rng.shuffle(&mut kinds);
        }
        match kinds.pop().unwrap() {
            // Some come back at once, some only when others have taken over what they had.
            0 if chaos.machines[at].is_some() => {
                chaos.kill_machine(at);
                dead += 1;
                if rng.below(2) == 0 {
                    chaos.revive(at);
                }
            }
            1 => {
                nats.kill();
                std::thread::sleep(Duration::from_millis(rng.between(100, 1500) as u64));
                nats.restart();
                servers += 1;
            }
            2 => reducers += usize::from(chaos.kill_reducer(at)),
            _ => workers += usize::from(chaos.kill_child(at, Aim::Worker)),
        }
        let missing = (0..4).find(|at| chaos.machines[*at].is_none());
        if let Some(at) = missing.filter(|_| rng.below(8) == 0) {
            chaos.revive(at);
        }
    }
    chaos.finish();
    let path = directory.path();
    run(dissent(path).args(["fleet", "report", &chaos.url, "--out", "fleet.html", "--keep", "fleet"]));
    let listed = bugs_in(&path.join("fleet"));
    // Two bugs may have one signature: then other settings cure them, or other versions have them.
    let identities: Vec<Identity> = listed.iter().filter_map(identity).collect();
    for (at, one) in identities.iter().enumerate() {
        let again = identities[at + 1..].iter().find(|other| one.is_same_bug(other));
        assert!(again.is_none(), "{one:?} and {again:?}");
    }
    let printed = chaos.check_findings();
    let again = chaos.check_visits(databases);
    let killed =
        format!("{dead} of machines, {servers} of the server, {workers} of workers, {reducers} of reducers");
    println!(
        "{kills} kills ({killed}): {databases} databases, all visited, {again} visits were not the first, each after the \
         death of a machine or worker that had the database; {printed} printed findings, {} bugs, each once",
        listed.len()
    );
    assert!(printed > 0 && dead > 0 && servers > 0, "{printed} findings; {killed}");
    // A short run may come when nothing is reduced.
    assert!(kills < 50 || (workers > 0 && reducers > 0), "{killed}");
}
