//! A campaign that is killed goes on with `hunt --resume`: nothing that was printed is lost, nothing comes
//! twice.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dissent_core::rng::Rng;
use support::{BINARY, children_of, dissent, kill, run, wait_for};

fn finding_ids(campaign: &Path) -> BTreeSet<String> {
    std::fs::read_dir(campaign.join("findings"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect()
}

/// The finding whose directory a line begins with.
fn printed_id(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("out/findings/")?;
    rest.split_whitespace().next().map(str::to_string)
}

/// Hunts until it is killed, when `waited` returns; gives the directories of the findings it printed.
fn killed(directory: &Path, args: &[&str], waited: impl FnOnce(), fault: Option<&str>) -> Vec<String> {
    let mut command = Command::new(BINARY);
    command.arg("hunt").args(args).current_dir(directory).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(fault) = fault {
        command.env("DISSENT_TEST_FAULT", fault);
    }
    let mut child = command.spawn().unwrap();
    waited();
    child.kill().unwrap();
    child.wait().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    lines.filter_map(|line| printed_id(&line)).collect()
}

#[test]
fn a_killed_campaign_goes_on_behind_what_it_visited() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut printed = BTreeSet::new();
    // A crash in database 0, once; then kills at different moments.
    let begin = ["--seed", "11", "--jobs", "2", "--out", "out"];
    let crashed = || {
        let listed = || std::fs::read_to_string(out.join("bugs.json")).unwrap_or_default();
        wait_for("the crash is listed", || listed().contains("crash-").then_some(()));
    };
    printed.extend(killed(directory.path(), &begin, crashed, Some("crash@5")));
    for pause in [300, 700, 1100, 1500] {
        let again = ["--resume", "out"];
        let waited = || std::thread::sleep(Duration::from_millis(pause));
        printed.extend(killed(directory.path(), &again, waited, Some("crash@5")));
        let there = finding_ids(&out);
        assert!(printed.is_subset(&there), "printed {printed:?}, there {there:?}");
    }
    let said =
        run(dissent(directory.path()).args(["hunt", "--resume", "out", "--time", "2s", "--summary", "json"]));
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    let there = finding_ids(&out);
    assert!(printed.is_subset(&there), "printed {printed:?}, there {there:?}");
    let crashes: Vec<&String> = there.iter().filter(|id| id.starts_with("crash-")).collect();
    assert_eq!(crashes.len(), 1, "{there:?}");
    let bugs = said.json();
    let listed = bugs["findings"].as_array().unwrap();
    assert_eq!(listed.len(), there.len(), "{bugs}");
    assert!(listed.iter().all(|bug| bug["count"] == 1 || bug["class"] != "crash"), "{bugs}");
}

/// The findings whose directories a hunt prints while it runs.
fn printed_by(hunt: &mut Child) -> JoinHandle<Vec<String>> {
    let lines = BufReader::new(hunt.stdout.take().unwrap()).lines().map_while(Result::ok);
    std::thread::spawn(move || lines.filter_map(|line| printed_id(&line)).collect())
}

/// Kills at random moments: the supervisor, a worker, the reducer. Fifty times with
/// `DISSENT_FULL_PROPERTIES=1`.
#[test]
fn nothing_printed_is_lost_and_nothing_comes_twice_whoever_is_killed() {
    let full = std::env::var("DISSENT_FULL_PROPERTIES").as_deref() == Ok("1");
    let mut kills_left = if full { 50 } else { 8 };
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut rng = Rng::new(7);
    let mut printed = BTreeSet::new();
    let mut killed = BTreeMap::new();
    while kills_left > 0 {
        let resumed = out.join("campaign.json").exists();
        let begin: &[&str] =
            &["sqlite@3.30.1", "--oracles", "norec,tlp", "--seed", "5", "--jobs", "2", "--out", "out"];
        let args = if resumed { &["--resume", "out"] } else { begin };
        let mut hunt = Command::new(BINARY)
            .arg("hunt")
            .args(args)
            .current_dir(directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = printed_by(&mut hunt);
        // Before that there is nothing to go on with.
        while !out.join("campaign.json").exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
        // Before there is a bug nothing is printed that could be lost.
        let patience = Instant::now() + Duration::from_secs(60);
        while !out.join("bugs.json").exists() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(20));
        }
        loop {
            std::thread::sleep(Duration::from_millis(rng.between(100, 1500) as u64));
            let children = children_of(hunt.id());
            let victim =
                *rng.choose(&children).filter(|_| kills_left > 1 && rng.chance(70)).unwrap_or(&hunt.id());
            kill(victim);
            kills_left -= 1;
            let who = if victim == hunt.id() { "supervisor" } else { "child" };
            *killed.entry(who).or_insert(0) += 1;
            if victim == hunt.id() {
                break;
            }
        }
        hunt.wait().unwrap();
        printed.extend(lines.join().unwrap());
        let there = finding_ids(&out);
        assert!(printed.is_subset(&there), "printed {printed:?}, there {there:?}");
    }
    let said =
        run(dissent(directory.path()).args(["hunt", "--resume", "out", "--time", "5s", "--summary", "json"]));
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let there = finding_ids(&out);
    assert!(printed.is_subset(&there), "printed {printed:?}, there {there:?}");
    // What different switches cure are different bugs, however alike they look.
    let listed: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("bugs.json")).unwrap()).unwrap();
    let listed = listed.as_array().unwrap();
    let reduced = listed.iter().filter(|bug| bug["signature"].is_object());
    let bugs: Vec<String> =
        reduced.map(|bug| format!("{} {}", bug["signature"], bug["cause"]["switches"])).collect();
    let distinct: BTreeSet<&String> = bugs.iter().collect();
    assert_eq!(distinct.len(), bugs.len(), "{bugs:#?}");
    println!("killed: {killed:?}; printed {}, there {}, bugs {}", printed.len(), there.len(), distinct.len());
    assert!(!printed.is_empty());
}

/// Everything that can be typed, kept over a kill.
#[test]
fn a_resumed_campaign_has_every_option_it_was_given() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    std::fs::write(place.join("seed.sql"), "CREATE TABLE t0(c0 INT);\nINSERT INTO t0 VALUES (1);\n").unwrap();
    std::fs::write(place.join("own.toml"), "").unwrap();
    let mut hunt = Command::new(BINARY)
        .args([
            "hunt",
            "sqlite@bundled",
            "--time",
            "1h",
            "--jobs",
            "1",
            "--seed",
            "3",
            "--oracles",
            "norec,tlp",
        ])
        .args([
            "--max-findings",
            "5",
            "--max-cases",
            "1000000",
            "--no-error-validation",
            "--reduce-checks",
            "77",
        ])
        .args([
            "--keep-duplicates",
            "--guide",
            "none",
            "--seeds",
            "seed.sql",
            "--seeds",
            "built-in",
            "--seeds-only",
        ])
        .args(["--known", "own.toml", "--log-statements", "log.sql", "--hang-limit", "20s"])
        .args(["--worker-memory", "2048", "--out", "out", "--summary", "json"])
        .current_dir(place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let length = || std::fs::metadata(place.join("log.sql")).map_or(0, |log| log.len());
    wait_for("statements are run", || (length() > 0).then_some(()));
    hunt.kill().unwrap();
    hunt.wait().unwrap();
    let written = || std::fs::read_to_string(place.join("out/campaign.json")).unwrap();
    let before = written();
    let config = serde_json::from_str::<serde_json::Value>(&before).unwrap()["config"].take();
    let seconds = |seconds: u64| serde_json::json!(Duration::from_secs(seconds));
    let expected = serde_json::json!({
        "target": "sqlite@bundled", "seed": 3, "repeatable": true, "jobs": 1, "time": seconds(3600), "max_cases": 1_000_000,
        "oracles": ["norec", "tlp-where", "tlp-having", "tlp-aggregate", "tlp-distinct", "tlp-group-by"],
        "max_findings": 5, "hang_limit": seconds(20), "worker_memory": 2_u64 << 30, "error_validation": false,
        "reduce": {"checks": 77, "time": seconds(15)}, "keep_duplicates": true, "guide": "none",
        "counts_only": false, "seeds": [place.join("seed.sql")], "built_in_seeds": true, "seeds_only": true,
        "known": [place.join("own.toml")], "log_statements": place.join("log.sql"), "profile": {},
    });
    assert_eq!(config, expected);

    // From elsewhere, and for a moment: the log goes on where it was.
    let (elsewhere, logged) = (tempfile::tempdir().unwrap(), length());
    let mut again = dissent(elsewhere.path());
    let said = run(again.args(["hunt", "--time", "1s", "--resume"]).arg(place.join("out")));
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    assert!(said.stderr.contains("with norec, tlp-where") && said.stderr.contains("seed 3, 1 worker;"));
    assert!(length() > logged, "{} after {logged}", length());
    assert_eq!(written(), before);
}

#[test]
fn what_cannot_be_resumed_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let resume =
        |more: &[&str]| run(dissent(directory.path()).args(["hunt", "--resume", "nowhere"]).args(more));
    resume(&[]).refused_with("nowhere is not a campaign");
    let said = resume(&["--seed", "4"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("--seed"), "{}", said.stderr);
}
