//! The bugs that Dissent found, in bugs/found: on the version that a script names and on the newest one, everything is as
//! the script says, and the pages in docs/bugs are made of the scripts.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use dissent_core::import::found::FoundBug;
use dissent_core::oracle;
use dissent_engine::Target;
use support::{Said, dissent, run};

const SCRIPTS: &str = "bugs/found";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The scripts of an engine by their paths from the root.
fn bugs(engine: &str) -> BTreeMap<String, FoundBug> {
    let directory = format!("{SCRIPTS}/{engine}");
    let entries = fs::read_dir(root().join(&directory)).expect("there are scripts");
    let bug = |entry: fs::DirEntry| {
        let path = format!("{directory}/{}", entry.file_name().to_string_lossy());
        let text = fs::read_to_string(entry.path()).expect("it is text");
        let bug = FoundBug::read(&text).unwrap_or_else(|why| panic!("{path} {why}"));
        (path, bug)
    };
    entries.map(|entry| bug(entry.expect("it can be listed"))).collect()
}

/// Whether an engine can be used here. One that cannot is skipped with a loud line, unless it is required.
fn is_available(target: &str) -> bool {
    let required = std::env::var("DISSENT_REQUIRE_ENGINES").unwrap_or_default();
    let parsed = Target::parse(target).unwrap_or_else(|error| panic!("{target}: {error}"));
    let reason = match parsed.takes_long() && required != "all" {
        true => "it takes minutes to compile".to_string(),
        false => match parsed.obtain(&mut |step| eprintln!("{target}: {step}")) {
            Ok(_) => return true,
            Err(error) => error.to_string(),
        },
    };
    let spared = required.is_empty() || (required != "all" && (parsed.takes_long() || parsed.is_preview()));
    assert!(spared, "{target} is required: {reason}");
    // Not by a macro: the test harness captures what those print.
    let line = format!("SKIPPED, not passed: {target} is not available: {reason}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    false
}

/// What is said of each script, and on which version it ran.
fn replay(args: &[&str]) -> BTreeMap<String, (String, String)> {
    let said = run(dissent(&root()).args(["replay", "--quiet"]).args(args));
    let mut verdicts = BTreeMap::new();
    let mut version = "";
    for line in said.stdout.lines() {
        if let Some((_, after)) = line.split_once(" (version ").filter(|_| line.starts_with("on ")) {
            version = after.trim_end_matches(')');
        } else if let Some((verdict, path)) = line.split_once(&format!(": {SCRIPTS}/")) {
            verdicts.insert(format!("{SCRIPTS}/{path}"), (verdict.to_string(), version.to_string()));
        }
    }
    assert!(!verdicts.is_empty(), "{}", said.stderr);
    verdicts
}

/// Runs the scripts of an engine where they say, and on its newest version.
#[track_caller]
fn assert_as_written(engine: &str) {
    let bugs = bugs(engine);
    let targets: BTreeSet<&str> = bugs.values().map(|bug| bug.on.as_str()).chain([engine]).collect();
    if !targets.into_iter().all(is_available) {
        return;
    }
    let directory = format!("{SCRIPTS}/{engine}");
    let there = replay(&[&directory]);
    let newest = replay(&[&directory, "--target", engine]);
    let mut wrong = Vec::new();
    for (path, bug) in &bugs {
        let (verdict, version) = &there[path];
        if verdict != "still fails" {
            wrong.push(format!("{path}: {verdict} on {}", bug.on));
        }
        let (verdict, newest) = &newest[path];
        match (verdict.as_str(), &bug.fixed) {
            ("still fails", None) if newest == version => {}
            ("still fails", None) => {
                wrong.push(format!("{path}: still fails on {newest}; its header has to say so (`-- on:`)"))
            }
            // A version that refuses the query does not get it wrong.
            ("no longer fails" | "cannot tell", Some(_)) => {}
            ("no longer fails", None) => {
                wrong.push(format!(
                    "{path}: no longer fails on {newest}; its header has to say so (`-- fixed:`)"
                ));
            }
            (verdict, _) => wrong.push(format!("{path}: {verdict} on {newest}")),
        }
    }
    assert!(wrong.is_empty(), "dissent replay SCRIPT shows each:\n{}", wrong.join("\n"));
}

/// One test for each engine, so that they can be run, and fail, apart.
macro_rules! engines {
    ($($engine:ident)*) => {
        $(#[test]
        fn $engine() {
            assert_as_written(stringify!($engine));
        })*

        const TESTED: &[&str] = &[$(stringify!($engine)),*];
    };
}

engines! {
    clickhouse datafusion dolt duckdb firebird h2 hyper mariadb mysql oceanbase postgres sqlite tidb turso
}

#[test]
fn every_script_is_tested_and_names_oracles_that_exist() {
    let entries = fs::read_dir(root().join(SCRIPTS)).expect("there are scripts");
    let engines =
        entries.map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned());
    for engine in engines {
        assert!(TESTED.contains(&engine.as_str()), "{engine}");
        for (path, bug) in bugs(&engine) {
            assert_eq!(bug.engine(), engine, "{path}");
            let unknown = bug.oracles.split(", ").find(|name| oracle::by_name(name).is_none());
            assert_eq!(unknown, None, "{path}");
        }
    }
}

#[test]
fn the_pages_are_what_the_scripts_say() {
    let made = tempfile::tempdir().unwrap();
    let said = run(dissent(&root()).args(["stats", "found-bugs", SCRIPTS, "--out"]).arg(made.path()));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let pages = |directory: &Path| -> BTreeMap<String, String> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
        let page = |entry: fs::DirEntry| {
            (entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path()).unwrap())
        };
        entries.map(page).collect()
    };
    let (made, kept) = (pages(made.path()), pages(&root().join("docs/bugs")));
    for path in made.values().flat_map(|page| page.split("dissent replay ").skip(1)) {
        let path = path.split(['`', '\n']).next().unwrap_or_default();
        assert!(root().join(path).exists(), "{path}");
    }
    let other: Vec<&String> =
        made.keys().chain(kept.keys()).filter(|name| made.get(*name) != kept.get(*name)).collect();
    assert!(
        other.is_empty(),
        "dissent stats found-bugs {SCRIPTS} --out docs/bugs writes other pages: {other:?}"
    );
}

const HEADER: &str = "-- title: One is two\n-- class: wrong result\n-- oracle: norec\n-- on: sqlite@3.54.1\n-- why: It is not.\n\
                      -- second opinion: arithmetic\n-- reports: none found\n\n";

fn replay_script(body: &str, args: &[&str]) -> Said {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("one.sql"), format!("{HEADER}{body}")).unwrap();
    run(dissent(directory.path()).args(["replay", "one.sql"]).args(args))
}

#[test]
fn a_script_says_whether_its_bug_is_there() {
    let still = replay_script("CREATE TABLE t(a);\nSELECT 1;\n-- returns: 1\n-- must be: 2\n", &[]);
    assert_eq!(still.code, Some(1), "{}", still.stderr);
    assert!(
        still.stdout.ends_with("  SELECT 1\n    returns: 1\n    must be: 2\n\nstill fails: one.sql\n\n"),
        "{}",
        still.stdout
    );
    assert!(still.stderr.contains("CREATE TABLE t(a);"), "what runs is said before: {}", still.stderr);

    let gone = replay_script("SELECT 2;\n-- returns: 1\n-- must be: 2\n", &["--target", "sqlite"]);
    assert_eq!(gone.code, Some(0), "{}", gone.stderr);
    assert!(gone.stdout.contains("returns: 2, as it must\n\nno longer fails: one.sql"), "{}", gone.stdout);

    let part = replay_script("SELECT 1;\n-- returns: 1\n-- must be: 2\nSELECT 3;\n-- returns: 4\n", &[]);
    assert_eq!(part.code, Some(1), "{}", part.stderr);
    assert!(
        part.stdout.contains("the script says: 4\n\nstill fails, but not as the script says"),
        "{}",
        part.stdout
    );

    let other = replay_script("SELEC 1;\nSELECT 3;\n-- returns: 1\n-- must be: 2\n", &[]);
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(other.stdout.contains("  SELEC 1\n    returns: error: near"), "{}", other.stdout);
    assert!(other.stdout.contains("cannot tell: one.sql"), "{}", other.stdout);
}

#[test]
fn an_engine_that_does_not_survive_a_script_is_seen() {
    let directory = tempfile::tempdir().unwrap();
    for (name, must_be) in [("a", "2"), ("b", "1")] {
        let body = format!("SELECT 1;\n-- returns: crash\n-- must be: {must_be}\n");
        fs::write(directory.path().join(format!("{name}.sql")), format!("{HEADER}{body}")).unwrap();
    }
    let replay =
        |fault: &str| run(dissent(directory.path()).args(["replay", "."]).env("DISSENT_TEST_FAULT", fault));
    let said = replay("crash@0");
    assert_eq!(said.stdout.matches("still fails: ./").count(), 2, "{}\n{}", said.stdout, said.stderr);
    assert_eq!(said.code, Some(1));
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    replay_script("SELECT 1;\n", &[]).refused_with("does not say what must be otherwise");
    let body = "SELECT 1;\n-- returns: 1\n-- must be: 2\n";
    replay_script(body, &["--against", "sqlite"]).refused_with("--against and --baseline say nothing");
    replay_script(body, &["--target", "duckdb"]).refused_with("one.sql is for sqlite");
    let loading = "SELECT load_extension('elsewhere');\nSELECT 1;\n-- returns: 1\n-- must be: 2\n";
    replay_script(loading, &["--quiet"]).refused_with("refused: load_extension() loads code");
}
