//! A campaign that is killed goes on with `hunt --resume`: nothing that was printed is lost, nothing comes
//! twice.

mod support;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use support::{BINARY, dissent, run};

fn finding_ids(campaign: &Path) -> BTreeSet<String> {
    std::fs::read_dir(campaign.join("findings"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect()
}

/// Hunts until it is killed after a while; gives the directories of the findings it printed.
fn killed_after(directory: &Path, args: &[&str], time: Duration, fault: Option<&str>) -> Vec<String> {
    let mut command = Command::new(BINARY);
    command.arg("hunt").args(args).current_dir(directory).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(fault) = fault {
        command.env("DISSENT_TEST_FAULT", fault);
    }
    let mut child = command.spawn().unwrap();
    std::thread::sleep(time);
    child.kill().unwrap();
    child.wait().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    lines.filter_map(|line| line.split("out/findings/").nth(1).map(str::to_string)).collect()
}

#[test]
fn a_killed_campaign_goes_on_behind_what_it_visited() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut printed = BTreeSet::new();
    // A crash in database 0, once; then kills at different moments.
    let begin = ["--seed", "11", "--jobs", "2", "--out", "out"];
    printed.extend(killed_after(directory.path(), &begin, Duration::from_millis(2500), Some("crash@5")));
    for pause in [300, 700, 1100, 1500] {
        let again = ["--resume", "out"];
        printed.extend(killed_after(directory.path(), &again, Duration::from_millis(pause), Some("crash@5")));
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

#[test]
fn what_cannot_be_resumed_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let resume =
        |more: &[&str]| run(dissent(directory.path()).args(["hunt", "--resume", "nowhere"]).args(more));
    resume(&[]).refused_with("nowhere holds no campaign");
    let said = resume(&["--seed", "4"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("--seed"), "{}", said.stderr);
}
