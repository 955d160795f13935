//! What a hunt learns and what it starts from, over the built binary and the bundled SQLite.

mod support;

use std::path::{Path, PathBuf};

use support::{dissent, run};

fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/seeds/sqlite")
}

fn entries(campaign: &Path) -> usize {
    let files = std::fs::read_dir(campaign.join("corpus")).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "json")).count()
}

#[test]
fn what_is_new_is_kept_shared_and_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let campaign = directory.path().join("c");
    let hunt = || dissent(directory.path());
    let said = run(hunt()
        .args(["hunt", "--max-cases", "1200", "--jobs", "2", "--seed", "5", "--summary", "json", "--seeds"])
        .arg(seeds())
        .args(["--out", "c"]));
    let summary = said.json();
    assert_eq!(summary["worker_failures"], serde_json::json!([]), "{}", said.stderr);
    let guide = &summary["guide"];
    let given = std::fs::read_dir(seeds()).unwrap().count() as u64;
    assert_eq!((guide["guide"].as_str(), guide["seeds"].as_u64()), (Some("plan"), Some(given)));
    assert!(
        guide["features"].as_u64() > Some(100) && guide["changed_statements"].as_u64() > Some(100),
        "{guide}"
    );
    // Both workers' files, and the seeds among them.
    let kept = entries(&campaign);
    assert_eq!(kept as u64, guide["kept"].as_u64().unwrap() + given);
    let read = |name: &str| {
        let text = std::fs::read(campaign.join("corpus").join(name)).unwrap();
        serde_json::from_slice::<serde_json::Value>(&text).unwrap()
    };
    for worker in ["0", "1"] {
        let seed = read(&format!("{worker}-000000.json"));
        assert_eq!((seed["depth"].as_u64(), seed["features"].as_array().map(Vec::len)), (Some(0), Some(0)));
    }

    let growth = run(hunt().args(["stats", "growth", "c", "--out", "growth.svg"]));
    assert_eq!(growth.code, Some(0), "{}", growth.stderr);
    assert!(growth.stdout.starts_with("| plan steps after | guided, with seeds |\n"), "{}", growth.stdout);
    let drawn = std::fs::read_to_string(directory.path().join("growth.svg")).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.contains("<polyline"), "{drawn}");

    // Nothing is read or kept twice by a campaign that goes on: its cases are used up.
    let resumed = run(hunt().args(["hunt", "--resume", "c"]));
    assert!(resumed.code < Some(2), "{}", resumed.stderr);
    assert_eq!(entries(&campaign), kept);
}

#[test]
fn seeds_alone_are_enough() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(dissent(directory.path())
        .args(["hunt", "--max-cases", "300", "--jobs", "1", "--seed", "5", "--guide", "none", "--seeds-only"])
        .args(["--oracles", "norec,tlp,index", "--log-statements", "log.sql", "--seeds"])
        .arg(seeds().join("shapes.sql")));
    assert!(said.code < Some(2), "{}", said.stderr);
    let log = std::fs::read_to_string(directory.path().join("log.sql")).unwrap();
    let creates = log.lines().filter(|line| line.starts_with("CREATE TABLE"));
    let (own, others): (Vec<&str>, Vec<&str>) =
        creates.partition(|line| ["\"l\"", "\"m\"", "\"n\""].iter().any(|name| line.contains(name)));
    assert!(own.len() > 10 && own.len() > others.len(), "{} and {}", own.len(), others.len());
}

#[test]
fn built_in_seeds_are_those_of_the_target() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(dissent(directory.path())
        .args([
            "hunt",
            "--max-cases",
            "60",
            "--jobs",
            "1",
            "--seed",
            "5",
            "--oracles",
            "norec",
            "--no-reduce",
        ])
        .args(["--seeds", "built-in", "--seeds-only", "--summary", "json", "--out", "c"]));
    let built_in = std::fs::read_dir(seeds()).unwrap().count();
    assert_eq!(said.json()["guide"]["seeds"].as_u64(), Some(built_in as u64), "{}", said.stderr);
    assert!(entries(&directory.path().join("c")) >= built_in);
    let first = std::fs::read_to_string(directory.path().join("c/corpus/0-000000.json")).unwrap();
    assert!(first.contains("\"features\":[]") && first.contains("create-table"), "{first}");
}

#[test]
fn what_cannot_be_is_said_in_one_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let refusal = |args: &[&str]| {
        let said = run(dissent(directory.path()).arg("hunt").args(args));
        assert_eq!(said.code, Some(2), "{args:?}: {}", said.stderr);
        said.stderr
    };
    assert!(refusal(&["mysql://u@127.0.0.1/", "--guide", "coverage"]).contains("use --guide plan"));
    assert!(refusal(&["--count-coverage"]).contains("add --guide none"));
    assert!(refusal(&["--seeds", "."]).contains("no scripts"));
    assert!(refusal(&["--seeds-only"]).contains("--seeds"));
    let growth = run(dissent(directory.path()).args(["stats", "growth"]));
    assert!(growth.code == Some(2) && growth.stderr.contains("<CAMPAIGN>"), "{}", growth.stderr);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
