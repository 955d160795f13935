//! Known bugs, rebuilt as scripts in `bugs/`: what an oracle catches today it catches tomorrow. Which oracle that is
//! stands in each script's header; `dissent check --markdown bugs` measures it anew.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::{open, with_session};
use dissent_core::check;
use dissent_core::finding::{Evidence, Origin, Verdict};
use dissent_core::import;
use dissent_core::import::header::{self, Header};
use dissent_core::oracle;
use dissent_core::subject::Subject;
use dissent_core::walk::Watcher;

/// The oracles that found something.
#[derive(Default)]
struct Catch(BTreeSet<String>);

impl Watcher for Catch {
    fn case(&mut self, _: u64, _: u64) -> bool {
        true
    }
    fn built(&mut self, _: &str) {}
    fn verdict(&mut self, _: &'static str, _: &Verdict) {}
    fn finding(&mut self, _: Origin, subject: Subject, _: Evidence) {
        self.0.insert(subject.oracle);
    }
    fn unstable(&mut self, _: Origin, _: Subject, _: Evidence) {}
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

/// Runs the scripts on a target and holds what is caught against what has to be.
#[track_caller]
fn assert_caught<'b>(
    target: &str,
    bugs: impl IntoIterator<Item = &'b Bug>,
    expected: fn(&Header) -> &[String],
    exactly: bool,
) {
    let Some((mut engine, dialect)) = open(target) else { return };
    let (mut wrong, mut count) = (Vec::new(), 0);
    with_session(engine.as_mut(), &dialect, |session| {
        for (number, bug) in bugs.into_iter().enumerate() {
            let mut caught = Catch::default();
            let statements = import::file(&bug.name, &bug.text, &dialect);
            check::script(number as u64, statements, oracle::all(), session, &mut caught)
                .expect("the engine answers");
            let expected: BTreeSet<String> = expected(&bug.header).iter().cloned().collect();
            let good = if exactly { caught.0 == expected } else { caught.0.is_superset(&expected) };
            if !good {
                wrong.push(format!("{}: {:?}, not {expected:?}", bug.name, caught.0));
            }
            count += 1;
        }
    });
    assert!(wrong.is_empty() && count > 0, "{target}, of {count}:\n{}", wrong.join("\n"));
}

#[track_caller]
fn stays_caught(target: &str) {
    let all = bugs(target.split('@').next().unwrap_or_default());
    let here = all.iter().filter(|bug| bug.header.fails == target);
    assert_caught(target, here, |header| &header.caught, false);
}

/// One test for each version, so that they can be run, and fail, apart.
macro_rules! versions {
    ($($test:ident: $target:literal,)*) => {
        $(#[test]
        fn $test() {
            stays_caught($target);
        })*

        const TESTED: &[&str] = &[$($target),*];
    };
}

versions! {
    what_is_caught_on_sqlite_3_28_0_stays_caught: "sqlite@3.28.0",
    what_is_caught_on_sqlite_3_29_0_stays_caught: "sqlite@3.29.0",
    what_is_caught_on_sqlite_3_30_1_stays_caught: "sqlite@3.30.1",
    what_is_caught_on_sqlite_3_31_1_stays_caught: "sqlite@3.31.1",
    what_is_caught_on_sqlite_3_33_0_stays_caught: "sqlite@3.33.0",
    what_is_caught_on_sqlite_3_54_1_stays_caught: "sqlite@3.54.1",
    what_is_caught_on_duckdb_0_3_4_stays_caught: "duckdb@0.3.4",
    what_is_caught_on_duckdb_1_1_2_stays_caught: "duckdb@1.1.2",
    what_is_caught_on_duckdb_2_0_0_stays_caught: "duckdb@2.0.0",
}

/// Once a bug is mended, nothing may differ any more: these scripts look for false alarms, too.
#[test]
fn on_the_newest_sqlite_only_what_is_not_mended_is_caught() {
    assert_caught("sqlite", &bugs("sqlite"), |header| &header.newest, true);
}

#[test]
fn on_the_newest_duckdb_only_what_is_not_mended_is_caught() {
    assert_caught("duckdb", &bugs("duckdb"), |header| &header.newest, true);
}

#[test]
fn every_script_says_what_catches_it_or_why_nothing_does() {
    let all: Vec<Bug> = bugs("sqlite").into_iter().chain(bugs("duckdb")).collect();
    for Bug { name, header, .. } in &all {
        assert!(!header.title.is_empty() && !header.link.is_empty(), "{name}");
        assert_eq!(header.caught.is_empty(), header.uncaught.is_some(), "{name}");
        assert!(
            header.caught.is_empty() || TESTED.contains(&header.fails.as_str()),
            "{name}: {}",
            header.fails
        );
    }
    let caught = all.iter().filter(|bug| !bug.header.caught.is_empty()).count();
    assert!(all.len() >= 40, "{caught} of {}", all.len());
}
