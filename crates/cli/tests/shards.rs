//! Shards of one seed, and what `dissent merge` makes of them.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value as Json;
use support::{dissent, run, without_virtual_tables};

/// An old version with bugs that are found in seconds.
const TARGET: &str = "sqlite@3.30.1";

fn hunt(directory: &Path, out: &str, more: &[&str]) -> Json {
    let fixed =
        ["hunt", TARGET, "--seed", "5", "--guide", "none", "--oracles", "norec,tlp", "--max-databases", "48"];
    let plain = without_virtual_tables(directory);
    let said =
        run(dissent(directory).args(fixed).args(plain).args(["--summary", "json", "--out", out]).args(more));
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    said.json()
}

fn signatures(summary: &Json) -> BTreeSet<String> {
    let bugs = summary["findings"].as_array().unwrap();
    let listed: Vec<String> = bugs.iter().map(|bug| bug["signature"].to_string()).collect();
    let signatures: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), signatures.len(), "{listed:?}");
    signatures
}

fn findings(summary: &Json) -> u64 {
    summary["findings"].as_array().unwrap().iter().map(|bug| bug["count"].as_u64().unwrap()).sum()
}

#[test]
fn merged_shards_are_what_one_hunt_would_have_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let whole = hunt(path, "whole", &["--jobs", "3"]);
    let parts = ["1/3", "2/3", "3/3"]
        .map(|shard| hunt(path, &shard.replace('/', "of"), &["--jobs", "1", "--shard", shard]));
    let said = run(dissent(path).args(["merge", "1of3", "2of3", "3of3", "--out", "merged"]));
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let text = std::fs::read_to_string(path.join("merged/summary.json")).unwrap();
    let merged: Json = serde_json::from_str(&text).unwrap();
    for figure in ["databases", "cases", "statements", "statements_ok", "nonempty_checks"] {
        let sum: u64 = parts.iter().map(|part| part[figure].as_u64().unwrap()).sum();
        assert_eq!(merged[figure], sum, "{figure}");
        assert_eq!(merged[figure], whole[figure], "{figure}");
    }
    assert_eq!(merged["databases"], 48);
    assert_eq!(merged["checks"]["total"], whole["checks"]["total"]);
    assert_eq!(signatures(&merged), signatures(&whole));
    assert_eq!(findings(&merged), parts.iter().map(findings).sum::<u64>());
    let last = merged["timeline"].as_array().unwrap().last().unwrap();
    assert_eq!(last["checks"], merged["checks"]["total"]);
    // It is a campaign like any other.
    let listed = run(dissent(path).args(["findings", "merged", "--format", "json"]));
    assert_eq!(listed.code, Some(1), "{}", listed.stderr);
}

/// The features that the entries of a campaign's corpus show, and how many entries there are.
fn corpus(campaign: &Path) -> (BTreeSet<u64>, usize) {
    let (mut features, mut entries) = (BTreeSet::new(), 0);
    for file in std::fs::read_dir(campaign.join("corpus")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let entry: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            features
                .extend(entry["features"].as_array().unwrap().iter().map(|shown| shown.as_u64().unwrap()));
            entries += 1;
        }
    }
    (features, entries)
}

#[test]
fn merged_corpora_show_what_their_parts_show_and_nothing_twice() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let guided =
        ["--seed", "5", "--guide", "plan", "--oracles", "norec", "--max-databases", "24", "--jobs", "1"];
    for (shard, out) in [("1/2", "one"), ("2/2", "other")] {
        let hunt = ["hunt", TARGET, "--no-reduce", "--plain", "--shard", shard, "--out", out];
        let said = run(dissent(path).args(hunt).args(guided));
        assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    }
    let [(one, ones), (other, others)] = ["one", "other"].map(|campaign| corpus(&path.join(campaign)));
    assert!(!one.is_subset(&other) && !other.is_subset(&one));
    for file in std::fs::read_dir(path.join("one/corpus")).unwrap() {
        let file = file.unwrap();
        let name = format!("copy-{}", file.file_name().to_string_lossy());
        std::fs::copy(file.path(), path.join("other/corpus").join(name)).unwrap();
    }
    let said = run(dissent(path).args(["merge", "one", "other", "--out", "merged"]));
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    let (merged, entries) = corpus(&path.join("merged"));
    assert_eq!(merged, one.union(&other).copied().collect());
    assert!(entries > ones && entries <= ones + others, "{ones} and {others} make {entries}");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let short = ["--jobs", "1", "--max-databases", "2", "--oracles", "norec", "--no-reduce", "--plain"];
    for (target, out) in [("sqlite@3.30.1", "a"), ("sqlite", "b")] {
        let said = run(dissent(path).args(["hunt", target, "--seed", "5", "--out", out]).args(short));
        assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    }
    run(dissent(path).args(["merge", "a", "b", "--out", "c"])).refused_with("only campaigns of one version");
    run(dissent(path).args(["merge", "a", "a", "--out", "c"]))
        .refused_with("a and a visited the same databases");
    run(dissent(path).args(["merge", "a", "--out", "b"])).refused_with("already contains a campaign");
    // Parts of one seed in different numbers, and what was merged before.
    for (shard, out) in [("1/2", "half"), ("1/3", "first"), ("2/3", "second"), ("2/4", "other")] {
        let said = run(dissent(path)
            .args(["hunt", "sqlite", "--seed", "5", "--out", out, "--shard", shard])
            .args(short));
        assert!(matches!(said.code, Some(0 | 1)), "{}", said.stderr);
    }
    let merge = |parts: &[&str], out| run(dissent(path).args(["merge", "--out", out]).args(parts));
    let merged = |parts: &[&str], out| assert!(matches!(merge(parts, out).code, Some(0 | 1)), "{parts:?}");
    merge(&["b", "first"], "c").refused_with("b and first visited the same databases");
    merge(&["half", "first"], "c").refused_with("half and first visited the same databases");
    merged(&["half", "other"], "different");
    merged(&["first", "second"], "two");
    merge(&["two", "second"], "c").refused_with("two and second visited the same databases");
    merged(&["two"], "again");
    merge(&["again", "first"], "c").refused_with("again and first visited the same databases");
    assert!(!path.join("c").exists());
    let wrong = run(dissent(path).args(["hunt", "--shard", "4/3"]));
    wrong.refused_with_part("there is no shard '4/3': shards are 1/3 to 3/3");
}
