//! Machines that hunt together, over a real NATS server. `fleet_kills.rs` kills them.

#![cfg(feature = "fleet")]

#[path = "support/machines.rs"]
mod machines;
#[path = "support/nats.rs"]
mod nats;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dissent_campaign::Pulse;
use dissent_campaign::store::{CampaignFile, MOST_DATABASES, read_campaign};
use dissent_core::finding::Finding;
use dissent_fleet::Fleet;
use machines::{TARGET, hunted, join, json, machine, names, signatures, visits, visits_of, wait_all};
use nats::Nats;
use serde_json::Value as Json;
use support::served::Server;
use support::{BINARY, dissent, run, wait_for, without_virtual_tables};

fn status(path: &Path, url: &str) -> Json {
    run(dissent(path).args(["fleet", "status", url, "--format", "json"])).json()
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
    let plain = without_virtual_tables(path);
    let one = run(dissent(path).args(["hunt", TARGET]).args(one).args(plain).args(bounded));
    let report = run(dissent(path).args(["fleet", "report", &url, "--out", "fleet.html", "--keep", "fleet"]));
    assert_eq!(report.code, Some(1), "{}", report.stderr);
    let fleet = json(&path.join("fleet/summary.json"));
    for figure in ["databases", "cases", "statements", "statements_ok"] {
        assert_eq!(fleet[figure], one.json()[figure], "{figure}");
    }
    assert_eq!(signatures(&fleet["findings"]), signatures(&one.json()["findings"]));
    let status = status(path, &url);
    assert_eq!(status["machines"].as_array().unwrap().len(), 4);
    assert_eq!(status["ranges"], 0, "{status}");
}

#[test]
fn a_fleet_is_watched_reported_and_stopped_from_anywhere() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let url = nats.url("watched");
    run(dissent(path).args(["fleet", "status", &url]))
        .refused_with("no machine has joined the campaign watched yet");
    // The engine is built and asked for its functions before anybody waits for a hunt.
    let first = ["--seed", "5", "--max-cases", "5", "--jobs", "1", "--no-reduce", "--out", "first"];
    run(dissent(path).args(["hunt", TARGET]).args(first));
    let names = names(2);
    let mut machines: Vec<Child> =
        names.iter().map(|name| machine(path, name, &url, &["--guide", "none"])).collect();
    let hunting = |state: &str| {
        let status = status(path, &url);
        let machines = status["machines"].as_array().unwrap().iter().cloned();
        machines.filter(|machine| machine["state"] == state).collect::<Vec<Json>>()
    };
    wait_for("two machines join", || path.join("m1/campaign.json").exists().then_some(()));
    wait_for("both hunt and tell how they do", || {
        let hunting = hunting("hunting");
        (hunting.len() == 2 && hunting.iter().all(|machine| machine["pulse"]["checks"] != 0)).then_some(())
    });
    wait_for("they find a bug", || (status(path, &url)["bugs"] != 0).then_some(()));
    let table = run(dissent(path).args(["fleet", "status", &url]));
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    assert!(table.stdout.starts_with(&format!("watched: {TARGET} (version 3.30.1)\n")), "{}", table.stdout);
    assert_eq!(table.stdout.matches(" hunting ").count(), 2, "{}", table.stdout);
    assert!(table.stdout.contains("2 machines hunting; "), "{}", table.stdout);

    let server = Server::start(path, &["--join", &url]);
    let mirror = format!("dissent-server-fleet-{}-", server.process.id());
    let mirrors = || {
        let entries = fs::read_dir(std::env::temp_dir()).unwrap().map(|entry| entry.unwrap().file_name());
        entries.filter(|name| name.to_string_lossy().starts_with(&mirror)).count()
    };
    let bugs = || {
        let served: Json = serde_json::from_str(&server.get("/summary.json")).unwrap();
        served["findings"].as_array().unwrap().len()
    };
    wait_for("the page of the fleet shows its bugs", || (bugs() > 0).then_some(()));
    assert_eq!(mirrors(), 1);
    drop(server);

    let stop = run(dissent(path).args(["fleet", "stop", &url]));
    assert_eq!(
        (stop.code, stop.stdout.as_str()),
        (Some(0), "every machine ends its hunt and reduces what it found\n")
    );
    wait_all(&mut machines, Duration::from_secs(100));
    assert_eq!(hunting("left").len(), 2, "both have said goodbye");
    let late = run(dissent(path).args(["hunt", "--join", &url, "--out", "late", "--jobs", "1"]));
    late.refused_with("the campaign watched was stopped");

    let report = run(dissent(path).args(["fleet", "report", &url, "--out", "fleet.html", "--keep", "fleet"]));
    assert_eq!((report.code, report.stdout.as_str()), (Some(1), ""), "{}", report.stderr);
    assert_eq!(mirrors(), 0, "what the killed one left is there after the next start");
    let listed = json(&path.join("fleet/summary.json"));
    let page = fs::read_to_string(path.join("fleet.html")).unwrap();
    for bug in listed["findings"].as_array().unwrap() {
        assert!(page.contains(bug["id"].as_str().unwrap()), "{bug}");
    }
    let printed: BTreeSet<String> =
        names.iter().flat_map(|name| signatures(&json(&path.join(name).join("bugs.json")))).collect();
    let listed: BTreeSet<String> = signatures(&json(&path.join("fleet/bugs.json"))).into_iter().collect();
    assert_eq!(printed, listed, "what any machine found is in the report");
}

#[test]
fn what_cannot_be_joined_is_one_sentence() {
    let Some(nats) = Nats::start(&["authorization { user: me, password: s3cret }"]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let wrong = format!("nats://me:wrong@127.0.0.1:{}/a", nats.port());
    join(path, &wrong, "sqlite", "a").refused_with("refused the credentials");
    join(path, &nats.url("a"), "sqlite", "a").refused_with("refused the credentials");
    join(path, "nats://127.0.0.1:9/a", "sqlite", "a")
        .refused_with("cannot reach a NATS server at nats://127.0.0.1:9");
    assert!(!path.join("a").exists());
    for action in ["status", "report", "stop"] {
        run(dissent(path).args(["fleet", action, &wrong])).refused_with("refused the credentials");
    }
    let right = format!("nats://me:s3cret@127.0.0.1:{}/a", nats.port());
    let first = join(path, &right, "sqlite", "first");
    hunted(&first);
    join(path, &right, TARGET, "b").refused_with("the fleet's campaign has target = ");
    let all = fs::read_to_string(path.join("first/campaign.json")).unwrap() + &first.stdout + &first.stderr;
    assert!(!all.contains("s3cret"), "{all}");
}

/// The campaign of a machine that hunted, started by a machine of another version.
fn started_by(file: &CampaignFile, url: &str, change: impl FnOnce(&mut CampaignFile)) {
    let mut file = file.clone();
    change(&mut file);
    drop(Fleet::connect(url).unwrap().enter(&file).unwrap());
}

#[test]
fn another_version_is_refused() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    hunted(&join(path, &nats.url("same"), "sqlite", "same"));
    hunted(&join(path, &nats.url("same"), "sqlite", "again"));
    let file = read_campaign(&path.join("same")).unwrap();
    started_by(&file, &nats.url("tool"), |file| file.dissent_version = "0.0.1".to_string());
    join(path, &nats.url("tool"), "sqlite", "a")
        .refused_with("the campaign tool uses Dissent 0.0.1, and this is");
    started_by(&file, &nats.url("engine"), |file| file.engine_version = "3.0.0".to_string());
    join(path, &nats.url("engine"), "sqlite", "b")
        .refused_with("the campaign engine tests sqlite 3.0.0, not sqlite 3.");
    assert!(!path.join("a").exists() && !path.join("b").exists(), "what is refused leaves nothing behind");
}

/// Whoever fills the store hears of it, and keeps what was printed; whoever comes later is refused.
#[test]
fn a_full_store_is_said() {
    let store = "jetstream { store_dir: \"STORE\", max_file: 40K }";
    let Some(nats) = Nats::start(&[store]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    // What a guide keeps fills it.
    let options = [
        "--seed",
        "5",
        "--oracles",
        "norec,tlp",
        "--jobs",
        "1",
        "--time",
        "20s",
        "--plain",
        "--guide",
        "plan",
    ];
    let filled =
        run(dissent(path).args(["hunt", TARGET, "--join", &nats.url("full"), "--out", "full"]).args(options));
    assert_eq!(filled.code, Some(2), "{}\n{}", filled.stdout, filled.stderr);
    let full = "the NATS server's store is full: give JetStream more space";
    assert!(filled.stderr.contains(&format!("{full}; continuing alone")), "{}", filled.stderr);
    assert_eq!(filled.stderr.trim_end().lines().last(), Some(format!("dissent: {full}").as_str()));
    let printed: Vec<&str> =
        filled.stdout.lines().filter_map(|line| line.strip_prefix("full/findings/")).collect();
    assert!(!printed.is_empty(), "{}", filled.stdout);
    for finding in printed {
        let id = finding.split_whitespace().next().unwrap();
        assert!(
            path.join("full/findings").join(id).join("finding.json").exists(),
            "{id} was printed and is lost"
        );
    }
    join(path, &nats.url("another"), "sqlite", "another").refused_with(full);
}

#[test]
fn who_joins_takes_the_guide_of_the_campaign() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    // SQLite is usually hunted without one.
    let first = ["sqlite", "--guide", "plan", "--oracles", "norec", "--out", "first"];
    for options in [&first[..], &["--out", "second"]] {
        let mut hunt = dissent(directory.path());
        hunt.args(["hunt", "--join", &nats.url("guided"), "--jobs", "1", "--time", "3s"]);
        let said = run(hunt.args(options));
        assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    }
}

/// A machine that writes down what it runs; killed when it is dropped, so that its databases stay its own for a while.
struct Logged {
    process: Child,
    log: PathBuf,
    visits: PathBuf,
}

impl Logged {
    fn start(path: &Path, url: &str, guide: &str, name: &str) -> Logged {
        let file = |end: &str| path.join(format!("{guide}-{name}.{end}"));
        let process = Command::new(BINARY)
            .args(["hunt", "sqlite", "--join", url, "--guide", guide, "--seed", "5", "--oracles", "norec"])
            .args(["--no-reduce", "--jobs", "1", "--plain", "--out", &format!("{guide}-{name}")])
            .arg("--log-statements")
            .arg(file("sql"))
            .current_dir(path)
            .env("DISSENT_TEST_VISITS", file("visits"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Logged { process, log: file("sql"), visits: file("visits") }
    }

    /// The long statements that it ran, each of which is unlikely to be drawn twice.
    fn long_statements(&self) -> BTreeSet<String> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().filter(|line| line.len() > 100).map(str::to_string).collect()
    }

    fn databases(&self) -> BTreeSet<String> {
        fs::read_to_string(&self.visits).unwrap_or_default().lines().map(str::to_string).collect()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Two machines visit different databases, so what both run is from the corpus of the first.
#[test]
fn what_one_machine_kept_another_one_uses() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let visits = |machine: &Logged, count| (machine.databases().len() >= count).then_some(());

    let alone = Logged::start(path, &nats.url("none"), "none", "first");
    wait_for("the first machine hunts", || visits(&alone, 20));
    let other = Logged::start(path, &nats.url("none"), "none", "second");
    wait_for("the second machine hunts", || visits(&other, 20));
    let common = alone.long_statements().intersection(&other.long_statements()).count();
    assert_eq!(common, 0, "nothing is run twice by chance");
    drop((alone, other));

    let url = nats.url("plan");
    let mut first = Logged::start(path, &url, "plan", "first");
    wait_for("the first machine hunts", || visits(&first, 1));
    wait_for("it shares what it kept", || (status(path, &url)["corpus"].as_u64()? >= 5).then_some(()));
    first.process.kill().unwrap();
    let second = Logged::start(path, &url, "plan", "second");
    wait_for("another one uses it", || {
        let own = first.long_statements();
        (own.intersection(&second.long_statements()).count() > 0).then_some(())
    });
    assert!(first.databases().is_disjoint(&second.databases()));
    let corpus = fs::read_dir(path.join("plan-second/corpus")).unwrap();
    let names = corpus.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_ne!(names.filter(|name| name.starts_with("fleet-")).count(), 0);
}

#[test]
fn what_joining_costs_is_measured_in_turns() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let options = ["--rounds", "2", "--time", "2s", "--guide", "none", "--seed", "3"];
    let said = run(dissent(path).args(["bench", "sqlite", "--join", &nats.url("cost")]).args(options));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{}", said.stdout);
    assert!(lines[0].starts_with("round 1: joined ") && lines[0].contains(", alone "), "{}", said.stdout);
    assert!(lines[2].starts_with("checks per CPU second: joined "), "{}", said.stdout);
    assert!(lines[3].starts_with("checks per second: joined "), "{}", said.stdout);
    assert_eq!(status(path, &nats.url("cost-1"))["machines"].as_array().unwrap().len(), 1);
}

/// Where a machine that was cut off hunts: far behind the others.
const ALONE: u64 = MOST_DATABASES / 2;

/// It tells what it found when it is back. If it is killed and cut off again, it does not do the same again.
#[test]
fn a_machine_that_is_cut_off_goes_on_alone() {
    let Some(mut nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let url = nats.url("alone");
    let alone =
        || visits_of(path, "m0").into_iter().filter(|database| *database >= ALONE).collect::<Vec<_>>();
    let machine = || machine(path, "m0", &url, &["--guide", "none"]);
    for _ in 0..2 {
        let (mut process, before) = (machine(), (visits_of(path, "m0").len(), alone().len()));
        wait_for("it hunts with the others", || (visits_of(path, "m0").len() > before.0).then_some(()));
        nats.kill();
        wait_for("it hunts alone", || (alone().len() > before.1 + 3).then_some(()));
        nats.restart();
        wait_for("it is back", || {
            let said = fs::read_to_string(path.join("m0.err")).unwrap();
            said.trim_end().ends_with("connected to the fleet again").then_some(())
        });
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let (visited, once) = (alone(), alone().into_iter().collect::<BTreeSet<_>>());
    assert_eq!(visited.len(), once.len(), "{visited:?}");
}

/// A server that hangs keeps its connections open.
#[test]
fn a_machine_whose_server_hangs_goes_on_alone() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut process = machine(path, "m0", &nats.url("hangs"), &["--guide", "none"]);
    wait_for("it hunts with the others", || (!visits_of(path, "m0").is_empty()).then_some(()));
    nats.signal("STOP");
    let is_alone = || visits_of(path, "m0").last().is_some_and(|database| *database >= ALONE);
    wait_for("it hunts alone", || is_alone().then_some(()));
    nats.signal("CONT");
    wait_for("it hunts with the others again", || (!is_alone()).then_some(()));
    process.kill().unwrap();
    process.wait().unwrap();
}

/// What a machine handed over and nobody has reduced when all have left.
#[test]
fn a_finding_that_waits_to_be_reduced_is_in_the_report() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let (path, url) = (directory.path(), nats.url("waits"));
    let options = ["--seed", "5", "--oracles", "norec", "--no-reduce", "--max-findings", "1", "--jobs", "1"];
    assert_eq!(run(dissent(path).args(["hunt", TARGET, "--out", "one"]).args(options)).code, Some(1));
    let found = json(&path.join("one/bugs.json"))[0]["id"].as_str().unwrap().to_string();
    let finding = fs::read(path.join("one/findings").join(&found).join("finding.json")).unwrap();
    let file = read_campaign(&path.join("one")).unwrap();
    let mut machine = Fleet::connect(&url).unwrap().enter(&file).unwrap();
    assert!(machine.hand_over(&Finding::from_json(&finding).unwrap()));

    let report =
        |kept| run(dissent(path).args(["fleet", "report", &url, "--out", "page.html", "--keep", kept]));
    assert_eq!(report("hunting").code, Some(0), "others may still reduce it");
    assert_eq!(json(&path.join("hunting/summary.json"))["waiting"], 1);
    let figures = serde_json::json!({
        "jobs": 1, "counted": json(&path.join("one/counts.json")), "bugs": [], "waiting": 0
    });
    machine.leave(&Pulse::default(), figures.to_string().into_bytes()).unwrap();
    assert_eq!(report("left").code, Some(1));
    let bugs = json(&path.join("left/bugs.json"));
    assert_eq!((bugs.as_array().unwrap().len(), bugs[0]["id"].as_str()), (1, Some(found.as_str())));
}
