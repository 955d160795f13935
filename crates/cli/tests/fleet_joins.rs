//! Who may join a campaign, who decides what it is, and what machines hear from each other.

#![cfg(feature = "fleet")]

#[path = "support/machines.rs"]
mod machines;
#[path = "support/nats.rs"]
mod nats;
mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dissent_campaign::store::{CampaignFile, read_campaign};
use dissent_campaign::{Arrival, Bug, Pulse, Share, SharedBug};
use dissent_core::finding::{Cause, Class, Signature, Switch};
use dissent_fleet::Fleet;
use machines::{TARGET, hunted, join, json, machine, wait_all};
use nats::Nats;
use support::{BINARY, dissent, norec_finding, run, wait_for};

/// A campaign of one machine that hunted for a moment.
fn campaign(path: &Path, url: &str) -> CampaignFile {
    hunted(&join(path, url, "sqlite", "honest"));
    read_campaign(&path.join("honest")).unwrap()
}

fn enter(url: &str, file: &CampaignFile, id: u32) -> Box<dyn Share> {
    let mut file = file.clone();
    file.id = id;
    Fleet::connect(url).unwrap().enter(&file).unwrap()
}

fn bug(tokens: usize, statements: usize) -> SharedBug {
    let signature =
        Signature { fails: "wrong-result".to_string(), message: Vec::new(), features: Default::default() };
    let bug = Bug {
        id: "norec-wrong-rows-000001".to_string(),
        oracle: "norec".to_string(),
        class: Class::WrongRows,
        title: "a bug\u{1b}[2J".to_string(),
        signature: Some(signature),
        cause: None,
        known: None,
        history: None,
        count: 1,
        statements,
        tokens,
        directory: Default::default(),
    };
    SharedBug { bug, finding: norec_finding(&["CREATE TABLE t0(c0 INT)"]) }
}

/// The sizes of the examples that come from elsewhere.
fn sizes(machine: &mut dyn Share) -> Vec<usize> {
    let size = |arrival| match arrival {
        Arrival::Bug(shared) => Some(shared.bug.tokens),
        _ => None,
    };
    machine.arrivals().into_iter().filter_map(size).collect()
}

#[test]
fn a_fleet_chooses_no_library_and_no_server() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let honest = campaign(path, &nats.url("honest"));
    let refused = "files do not choose which library is loaded or which server is reached";
    for (number, named) in ["sqlite:path=/no/such.so", "postgres://me:s3cret@db.example/"].iter().enumerate()
    {
        for option in ["target", "against", "baseline"] {
            let mut file = honest.clone();
            match option {
                "target" => file.config.target = named.to_string(),
                "against" => file.config.against = Some(named.to_string()),
                _ => file.config.baseline = Some(named.to_string()),
            }
            let url = nats.url(&format!("{option}-{number}"));
            drop(enter(&url, &file, 1));
            let target = (option != "target").then_some("sqlite");
            run(dissent(path).args(["hunt", "--join", &url, "--out", "a"]).args(target))
                .refused_with(refused);
        }
    }
    assert!(!path.join("a").exists());
}

#[test]
fn a_machine_that_cannot_start_decides_nothing() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let (path, url) = (directory.path(), nats.url("a"));
    let hunt =
        |options: &[&str]| run(dissent(path).args(["hunt", "--join", &url, "--out", "a"]).args(options));
    hunt(&["sqlite", "--oracles", "astrology"]).refused_with("unknown oracle 'astrology'");
    hunt(&["sqlite:path=/no/such.so"]).refused_with("/no/such.so");
    hunted(&join(path, &url, "sqlite", "b"));
}

/// None of them knows a seed, so all but the first take that of the first.
#[test]
fn machines_that_start_at_once_agree() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let (path, url) = (directory.path(), nats.url("a"));
    let short = ["--time", "2s", "--oracles", "norec,tlp", "--no-reduce", "--jobs", "1", "--plain"];
    let start = |name: &str| {
        let mut command = Command::new(BINARY);
        command.args(["hunt", "sqlite", "--join", &url, "--out", name]).args(short).current_dir(path);
        let said = fs::File::create(path.join(format!("{name}.err"))).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).spawn().unwrap()
    };
    let names = ["m0", "m1", "m2", "m3"];
    let mut all: Vec<Child> = names.iter().map(|name| start(name)).collect();
    wait_all(&mut all, Duration::from_secs(100));
    let seeds = names.map(|name| read_campaign(&path.join(name)).unwrap().config.seed);
    assert!(seeds.iter().all(|seed| *seed == seeds[0]), "{seeds:?}");
}

/// A server that lost its store gets the campaign back from a machine that resumes it.
#[test]
fn a_machine_that_resumes_brings_its_campaign_along() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let before = campaign(path, &nats.url("lost"));
    let resumed = ["hunt", "--resume", "honest", "--time", "1s", "--plain", "--join"];
    hunted(&run(dissent(path).args(resumed).arg(nats.url("new"))));
    hunted(&join(path, &nats.url("new"), "sqlite", "joined"));
    assert_eq!(read_campaign(&path.join("joined")).unwrap().config.seed, before.config.seed);
    // One with another seed is not of this campaign.
    let other = ["hunt", "sqlite", "--seed", "5", "--max-cases", "5", "--oracles", "norec", "--out", "other"];
    hunted(&run(dissent(path).args(other)));
    let other = ["hunt", "--resume", "other", "--time", "1s", "--join"];
    run(dissent(path).args(other).arg(nats.url("new"))).refused_with("the fleet's campaign has ");
}

#[test]
fn a_smaller_example_gets_to_whoever_found_the_bug_first() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let url = nats.url("a");
    let file = campaign(directory.path(), &url);
    let (mut first, mut second) = (enter(&url, &file, 1), enter(&url, &file, 2));
    first.publish(&bug(50, 3));
    wait_for("the other one hears of it", || sizes(&mut *second).contains(&50).then_some(()));
    // Fewer tokens count before fewer statements, as they do on one machine.
    second.publish(&bug(60, 2));
    second.publish(&bug(40, 4));
    let mut heard = Vec::new();
    wait_for("the first one hears of the smaller example", || {
        heard.extend(sizes(&mut *first));
        heard.contains(&40).then_some(())
    });
    assert_eq!(heard, [40]);
}

/// A cause may be found, or change, after a machine has told how often it found a bug.
#[test]
fn findings_are_counted_whatever_is_known_of_the_bug_by_then() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let (path, url) = (directory.path(), nats.url("a"));
    let file = campaign(path, &url);
    let mut machine = enter(&url, &file, 1);
    let found = bug(50, 3);
    let setting = Switch::Setting { name: "a".to_string(), value: "b".to_string(), sql: "SET".to_string() };
    let cause = Cause { switches: vec![setting], ..Cause::default() };
    let explained =
        SharedBug { bug: Bug { cause: Some(cause), ..found.bug.clone() }, finding: found.finding.clone() };
    machine.publish(&explained);
    let count = |kept: &str| {
        let report = ["fleet", "report", &url, "--out", "page.html", "--keep", kept];
        assert_eq!(run(dissent(path).args(report)).code, Some(1));
        json(&path.join(kept).join("bugs.json"))[0]["count"].as_u64().unwrap()
    };
    assert_eq!(count("early"), 1, "before the machine has told its figures");
    let times = Bug { count: 3, ..found.bug };
    let figures = serde_json::json!({
        "jobs": 1, "counted": json(&path.join("honest/counts.json")), "bugs": [times], "waiting": 0
    });
    machine.leave(&Pulse::default(), figures.to_string().into_bytes()).unwrap();
    assert_eq!(count("late"), 3);
}

/// A minute without a sign of life, and others get it.
#[test]
fn a_reduction_of_a_dead_machine_goes_to_another_one() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let url = nats.url("a");
    let file = campaign(directory.path(), &url);
    let fetch = |machine: &mut dyn Share| {
        let start = Instant::now();
        machine.reduces(true);
        loop {
            for arrival in machine.arrivals() {
                if let Arrival::Reduce(ticket, finding) = arrival {
                    return (ticket, *finding);
                }
            }
            assert!(start.elapsed() < Duration::from_secs(180), "nobody gets it");
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let waiting = || Fleet::connect(&url).unwrap().status().unwrap().waiting;
    let mut busy = enter(&url, &file, 1);
    let finding = norec_finding(&["CREATE TABLE t0(c0 INT)"]);
    wait_for("it is handed over", || busy.hand_over(&finding).then_some(()));
    let mut dies = enter(&url, &file, 2);
    assert_eq!(fetch(&mut *dies).1, finding);
    let had = Instant::now();
    drop(dies);
    let mut lives = enter(&url, &file, 3);
    let (ticket, again) = fetch(&mut *lives);
    assert_eq!(again, finding);
    assert!(had.elapsed() > Duration::from_secs(20), "it was with both after {:?}", had.elapsed());
    assert_eq!(waiting(), 1);
    lives.reduced(ticket);
    wait_for("it is done", || (waiting() == 0).then_some(()));
}

#[test]
fn what_others_say_does_nothing_to_a_terminal() {
    let Some(nats) = Nats::start(&[]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let (path, url) = (directory.path(), nats.url("a"));
    let mut hunt = machine(path, "m0", &url, &["--guide", "none"]);
    wait_for("it hunts", || path.join("m0/campaign.json").exists().then_some(()));
    let mut file = read_campaign(&path.join("m0")).unwrap();
    let mut other = enter(&url, &file, 1);
    other.publish(&bug(50, 3));
    let told = || fs::read_to_string(path.join("m0.err")).unwrap();
    wait_for("it hears of a bug", || told().contains("found on another machine: a bug").then_some(()));
    hunt.kill().unwrap();
    hunt.wait().unwrap();
    assert!(told().contains("a bug\\u{1b}[2J") && !told().contains('\u{1b}'), "{}", told());

    let url = nats.url("b");
    file.engine_version = "3\u{1b}[2J".to_string();
    drop(enter(&url, &file, 1));
    let status = run(dissent(path).args(["fleet", "status", &url]));
    assert_eq!(status.code, Some(0), "{}", status.stderr);
    assert!(
        status.stdout.starts_with(&format!("b: {TARGET} (version 3\\u{{1b}}[2J)\n")),
        "{}",
        status.stdout
    );
}
