//! Known bugs, rebuilt as scripts in `bugs/`: each is caught by the oracles that its header names, and by no others.
//! `dissent stats known-bugs bugs` prints what catches them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use dissent_core::finding::{Evidence, Origin, Verdict};
use dissent_core::import::header::{self, Header};
use dissent_core::subject::TestCase;
use dissent_core::walk::Watcher;
use dissent_core::{check, import, oracle};

use super::common::Fixture;

/// The oracles that found something.
#[derive(Default)]
struct Catch(BTreeSet<String>);

impl Watcher for Catch {
    fn case(&mut self, _: u64, _: u64) -> bool {
        true
    }
    fn verdict(&mut self, _: &'static str, _: &Verdict) {}
    fn finding(&mut self, _: Origin, case: TestCase, _: Evidence) {
        self.0.insert(case.subject.oracle);
    }
    fn unstable(&mut self, _: Origin, _: TestCase, _: Evidence) {}
}

struct Bug {
    name: String,
    text: String,
    header: Header,
}

fn bugs(engine: &str) -> Vec<Bug> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bugs").join(engine);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).expect("there are bugs").map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let bug = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("it is text");
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let header = header::read(&text).unwrap_or_else(|| panic!("{name} has no header"));
        Bug { name, text, header }
    };
    paths.into_iter().map(bug).collect()
}

/// Runs the scripts on a target and holds what is caught against what has to be, and nothing else.
#[track_caller]
fn assert_caught(target: &str, bugs: &[Bug], expected: fn(&Header) -> &[String]) {
    assert!(!bugs.is_empty(), "{target}: no script");
    let Some(mut fixture) = Fixture::open(target) else { return };
    let mut wrong = Vec::new();
    for (number, bug) in bugs.iter().enumerate() {
        let mut caught = Catch::default();
        let statements = import::file(&bug.name, &bug.text, &fixture.dialect);
        fixture.session(|session| {
            check::script(number as u64, statements, oracle::all(), session, &mut caught)
                .expect("the engine answers")
        });
        let expected: BTreeSet<String> = expected(&bug.header).iter().cloned().collect();
        if caught.0 != expected {
            wrong.push(format!("{}: {:?}, not {expected:?}", bug.name, caught.0));
        }
    }
    assert!(wrong.is_empty(), "{target}, of {}:\n{}", bugs.len(), wrong.join("\n"));
}

/// This version may crash the process: a test of the built program checks its scripts.
const EARLY: &str = "duckdb@0.1.5";

/// One test for each version, so that they can be run, and fail, apart.
macro_rules! versions {
    ($($test:ident: $target:literal,)*) => {
        $(#[test]
        fn $test() {
            let mut bugs = bugs($target.split('@').next().unwrap_or_default());
            bugs.retain(|bug| bug.header.fails == $target);
            assert_caught($target, &bugs, |header| &header.caught);
        })*

        const TESTED: &[&str] = &[EARLY, $($target),*];
    };
}

versions! {
    sqlite_3_28_0: "sqlite@3.28.0",
    sqlite_3_29_0: "sqlite@3.29.0",
    sqlite_3_30_1: "sqlite@3.30.1",
    sqlite_3_31_1: "sqlite@3.31.1",
    sqlite_3_33_0: "sqlite@3.33.0",
    sqlite_3_54_1: "sqlite@3.54.1",
    duckdb_0_3_4: "duckdb@0.3.4",
    duckdb_0_9_2: "duckdb@0.9.2",
    duckdb_1_0_0: "duckdb@1.0.0",
    duckdb_1_1_2: "duckdb@1.1.2",
    duckdb_1_4_0: "duckdb@1.4.0",
    duckdb_2_0_0: "duckdb@2.0.0",
    tidb_7_5_0: "tidb@7.5.0",
    tidb_8_5_6: "tidb@8.5.6",
}

/// Once a bug is fixed, nothing may differ any more: these scripts look for false alarms, too.
#[test]
fn on_the_newest_sqlite_only_what_is_not_fixed_is_caught() {
    assert_caught("sqlite", &bugs("sqlite"), |header| &header.newest);
}

#[test]
fn on_the_newest_duckdb_only_what_is_not_fixed_is_caught() {
    assert_caught("duckdb", &bugs("duckdb"), |header| &header.newest);
}

#[test]
fn on_the_newest_tidb_only_what_is_not_fixed_is_caught() {
    assert_caught("tidb", &bugs("tidb"), |header| &header.newest);
}

#[test]
fn every_script_says_what_catches_it_or_why_nothing_does_and_is_tested() {
    for Bug { name, header, .. } in bugs("sqlite").iter().chain(&bugs("duckdb")) {
        assert!(!header.link.is_empty(), "{name}");
    }
    for Bug { name, header, .. } in ["sqlite", "duckdb", "tidb"].iter().flat_map(|engine| bugs(engine)) {
        assert!(!header.title.is_empty(), "{name}");
        assert_eq!(header.caught.is_empty(), header.uncaught.is_some(), "{name}");
        assert!(TESTED.contains(&header.fails.as_str()), "{name}: {}", header.fails);
    }
}
