//! The commands that README.md and docs/ show are run, as far as that takes seconds and nothing but the bundled
//! SQLite: targets are replaced by it, hunts end after a few test cases, and paths name what the test has made.
//! A unit test of the binary (`src/documented.rs`) parses all of them, so also those that are not run here: bisecting,
//! code coverage, tables of known bugs (all need other versions), installing engines, benchmarks, and what runs until
//! somebody stops it.

#[path = "support/documented.rs"]
mod commands;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use commands::{Documented, root};
use support::{BROKEN_INDEX, Said, dissent, norec_finding, only_finding, run, write_finding};

/// Subcommands that end within seconds. A test case of a hunt does, too.
const QUICK: &[&str] = &["hunt", "check", "replay", "reduce", "findings", "report", "known", "oracles"];
const QUICK_TABLES: &[&str] = &["validity", "drawn", "growth", "reduction"];

/// A directory with everything that the commands name: scripts, a campaign, its one finding.
fn workplace(directory: &Path) -> String {
    for name in ["bugs", "crates", "docs"] {
        symlink(root().join(name), directory.join(name)).unwrap();
    }
    let script = "CREATE TABLE t0(c0 INT);\nINSERT INTO t0 VALUES (1);\nSELECT c0 FROM t0 WHERE c0 > 0;\n";
    for scripts in ["queries", "my/scripts"] {
        fs::create_dir_all(directory.join(scripts)).unwrap();
        fs::write(directory.join(scripts).join("a.sql"), script).unwrap();
    }
    for file in ["queries.sql", "schema-and-queries.sql"] {
        fs::write(directory.join(file), script).unwrap();
    }
    let hunt = ["hunt", "--seed", "11", "--jobs", "1", "--max-cases", "40", "--guide", "plan"];
    let out = ["--out", "dissent-out/campaign"];
    let said = run(dissent(directory).args(hunt).args(out).env("DISSENT_TEST_FAULT", "crash@5"));
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let finding = only_finding(&directory.join("dissent-out/campaign"));
    // A crash that the test has caused is gone when it is checked again; this one stays.
    write_finding(&finding, &norec_finding(BROKEN_INDEX));
    run(dissent(directory).arg("reduce").arg(&finding));
    finding.strip_prefix(directory).unwrap().display().to_string()
}

/// The command as it is run here; none if it is only parsed.
fn quick(words: &[String], finding: &str, number: usize) -> Option<Vec<String>> {
    let command = words.first()?.as_str();
    let listing = words == ["engines"] || (words.len() > 1 && words[..2] == ["engines", "list"]);
    let probing = words.len() > 2 && words[..2] == ["engines", "probe"];
    let table =
        command == "stats" && words.get(1).is_some_and(|table| QUICK_TABLES.contains(&table.as_str()));
    if !(QUICK.contains(&command) || listing || probing || table) {
        return None;
    }
    // What needs a server of its own is run by the tests of a fleet.
    let needs_more = |word: &String| {
        ["--resume", "--join"].contains(&word.as_str()) || (word.contains("coverage") && !word.contains('/'))
    };
    if words.iter().any(needs_more) {
        return None;
    }
    let mut words: Vec<String> = words.iter().map(|word| replaced(word, finding)).collect();
    for (at, word) in words.clone().iter().enumerate() {
        let option = at.checked_sub(1).map_or("", |before| words[before].as_str());
        let bundled = ["--target", "--against", "--baseline"].contains(&option)
            || probing && at == 2
            || command == "hunt" && at == 1;
        if bundled && !word.starts_with('-') {
            words[at] = "sqlite".to_string();
        }
        // Each has a directory of its own, and docs/ is not overwritten.
        if at > 0 && words[at - 1] == "--out" {
            words[at] = format!("out-{number}");
        }
    }
    if words.len() > 1 && words[..2] == ["known", "add"] && !words.iter().any(|word| word == "--id") {
        words.extend(["--id".to_string(), format!("entry-{number}")]);
    }
    if command == "hunt" {
        let jobs: &[&str] = if words.iter().any(|word| word == "--jobs") { &[] } else { &["--jobs", "1"] };
        words.extend(jobs.iter().chain(&["--max-cases", "40"]).map(|word| word.to_string()));
        // Few cases of some seeds come to no check, which is an error.
        if !words.iter().any(|word| word == "--seed") {
            words.extend(["--seed", "11"].map(str::to_string));
        }
        if !words.iter().any(|word| word == "--out") {
            words.extend(["--out".to_string(), format!("out-{number}")]);
        }
    }
    Some(words)
}

/// What a placeholder stands for.
fn replaced(word: &str, finding: &str) -> String {
    match word {
        "TARGET" | "ENGINE" => "sqlite".to_string(),
        "ORACLE" => "norec".to_string(),
        "CAMPAIGN" | "CAMPAIGN…" | "DIR" | "DIR…" => "dissent-out/campaign".to_string(),
        "FINDING" => finding.to_string(),
        _ if word.contains("/findings/") => finding.to_string(),
        _ => word.replace('…', "example"),
    }
}

#[test]
fn the_commands_in_the_documentation_run() {
    let directory = tempfile::tempdir().unwrap();
    let finding = workplace(directory.path());
    let blocks = commands::all().into_iter().filter(|command| !command.in_text);
    let mut seen = BTreeSet::new();
    for (number, Documented { place, words, .. }) in blocks.enumerate() {
        let Some(words) = quick(&words, &finding, number) else { continue };
        let but_for_out: Vec<&String> = words.iter().filter(|word| !word.starts_with("out-")).collect();
        if !seen.insert(format!("{but_for_out:?}")) {
            continue;
        }
        let Said { code, stdout, stderr } = run(dissent(directory.path()).args(&words));
        // 1 says that there are findings, which for some commands there must be.
        assert!(matches!(code, Some(0 | 1)), "{place}: {words:?}\n{stdout}\n{stderr}");
    }
    assert!(seen.len() >= 20, "only {} commands were run", seen.len());
}

/// The example of docs/check.md, line by line.
#[test]
fn the_output_in_the_documentation_is_what_is_printed() {
    let page = fs::read_to_string(root().join("docs/check.md")).unwrap();
    let block = page.split("    $ dissent ").nth(1).expect("docs/check.md shows a command and its output");
    let (command, output) = block.split_once('\n').unwrap();
    let shown = output.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    let shown: Vec<&str> = shown.filter_map(|line| line.strip_prefix("    ")).collect();
    let said = run(dissent(&root()).args(command.split(' ')));
    if said.code == Some(2) && std::env::var_os("DISSENT_REQUIRE_ENGINES").is_none() {
        eprintln!("SKIPPED, not passed: {}", said.stderr);
        return;
    }
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let printed: Vec<&str> = said.stdout.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(printed, shown);
}
