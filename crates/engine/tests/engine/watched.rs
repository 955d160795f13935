//! Engines with breakpoints in their code. A process can watch one library, so each test runs in a process of its own.

use std::path::PathBuf;
use std::process::Command;

use dissent_core::dialect::Dialect;
use dissent_core::engine::{Engine, Reply};
use dissent_core::finding::{Evidence, Origin, Verdict};
use dissent_core::generate::Policy;
use dissent_core::oracle;
use dissent_core::session::{NoJournal, Session};
use dissent_core::subject::TestCase;
use dissent_core::walk::{Walk, Watcher};
use dissent_coverage::{Map, Reader};
use dissent_engine::{EngineError, Source, Target};

/// Set where a test runs by itself.
const ALONE: &str = "DISSENT_TEST_ALONE";

/// The packages of a preview may be gone tomorrow.
fn is_required(target: &str) -> bool {
    let required = std::env::var("DISSENT_REQUIRE_ENGINES").unwrap_or_default();
    required == "all"
        || !required.is_empty() && !Target::parse(target).is_ok_and(|target| target.is_preview())
}

fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    // Not there: whoever installs a library has loaded it under another name.
    let targets = ["sqlite@3.50.4", "duckdb"].map(|target| Target::parse(target).expect("a target"));
    targets.iter().for_each(|target| drop(target.obtain(&mut |_| {})));
    let mut command = Command::new(std::env::current_exe().expect("the test program"));
    let name = format!("watched::{test}");
    let output = command.args([&name, "--exact", "--nocapture"]).env(ALONE, "1").output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{told}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout)
    );
    // A name that no test has would run none and succeed.
    let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(ran, "no test is called {name}");
    // What was skipped is told.
    eprint!("{told}");
}

/// An engine that is watched.
struct Watched {
    engine: Box<dyn Engine>,
    reader: Reader,
    map: PathBuf,
    _directory: tempfile::TempDir,
}

impl Watched {
    fn open(source: &Source) -> Result<Watched, EngineError> {
        let directory = tempfile::tempdir().expect("a directory");
        let map = directory.path().join("coverage.map");
        source.make_map(&map)?;
        let reader = Reader::new(Map::open(&map)?, 0);
        Ok(Watched { engine: source.open_watched(&map, 0)?, reader, map, _directory: directory })
    }

    /// A release, if it can be had here.
    fn release(target: &str) -> Option<Watched> {
        let obtained = Target::parse(target).and_then(|target| {
            let source = target.obtain_watchable(&mut |step| eprintln!("{target}: {step}"))?;
            Watched::open(&source)
        });
        match obtained {
            Ok(watched) => Some(watched),
            Err(error) if is_required(target) => panic!("{target}: {error}"),
            Err(error) => {
                eprintln!("SKIPPED, not passed: {target} is not available: {error}");
                None
            }
        }
    }

    /// How many places a statement is the first to pass.
    #[track_caller]
    fn new_blocks(&mut self, sql: &str) -> usize {
        let reply = self.engine.execute(sql).expect("the engine answers");
        assert!(!matches!(reply, Reply::Failed(_)), "{sql}: {reply:?}");
        self.taken()
    }

    fn taken(&mut self) -> usize {
        let mut count = 0;
        self.reader.take(&mut |_| count += 1);
        count
    }

    /// How many places were seen, and how many breakpoints met.
    fn counts(&self) -> (u64, u64) {
        let map = Map::open(&self.map).expect("the map");
        (map.hits(), map.traps())
    }

    /// What every engine shows: statements of a new kind are new, repeated ones are not.
    fn shows_what_is_new(&mut self, noise: usize) {
        assert!(self.taken() > 500);
        self.new_blocks("CREATE TABLE t (a INT, b INT)");
        self.new_blocks("INSERT INTO t VALUES (1, 2), (3, 4), (5, NULL)");
        let plain = "SELECT a FROM t WHERE b > 1";
        assert!(self.new_blocks(plain) > 20);
        let again = (0..3).map(|_| self.new_blocks(plain)).min();
        assert!(again <= Some(noise), "{again:?}");
        assert!(self.new_blocks("SELECT sum(a) OVER (ORDER BY b) FROM t") > 100);
        assert!(self.new_blocks("SELECT x.a FROM t AS x LEFT JOIN t AS y ON x.a = y.b") > 50);
    }
}

#[test]
fn sqlite_shows_what_is_new() {
    alone("sqlite_shows_what_is_new", || {
        let Some(mut watched) = Watched::release("sqlite@3.50.4") else { return };
        watched.shows_what_is_new(0);
    });
}

#[test]
fn duckdb_shows_what_is_new_and_may_block_signals() {
    alone("duckdb_shows_what_is_new_and_may_block_signals", || {
        let Some(mut watched) = Watched::release("duckdb") else { return };
        watched.shows_what_is_new(20);
        // Threads of its allocator block all signals.
        watched.new_blocks("SET threads = 4");
        watched.new_blocks("SET allocator_background_threads = true");
        watched.new_blocks("CREATE TABLE big AS SELECT i AS a, i % 97 AS b FROM range(300000) AS r(i)");
        watched.new_blocks("SELECT b, sum(a), count(DISTINCT a) FROM big GROUP BY b ORDER BY 2");
        watched.new_blocks("SET allocator_background_threads = false");
        watched.engine.reset().expect("it can be emptied");
        watched.new_blocks("SELECT 1");
    });
}

#[test]
fn postgres_shows_what_is_new_in_all_its_processes() {
    alone("postgres_shows_what_is_new_in_all_its_processes", || {
        let Some(mut watched) = Watched::release("postgres") else { return };
        watched.shows_what_is_new(0);
        watched.engine.reset().expect("it can be emptied");
        watched.taken();
        // Each reset is a new connection, and so a new process. It begins with what the others have seen: what it meets
        // is new, but for what several processes do at once.
        let (hits, traps) = watched.counts();
        for _ in 0..30 {
            watched.engine.reset().expect("it can be emptied");
            watched.new_blocks("SELECT 1");
        }
        let (new, met) = (watched.counts().0 - hits, watched.counts().1 - traps);
        eprintln!("30 connections: {new} new blocks, {met} breakpoints met");
        assert!(new < 2_000 && met < new + 1_000, "{new} new blocks, {met} breakpoints met");
    });
}

/// Its program is started by a script, under a loader of its own.
#[test]
fn postgres_behind_a_script_shows_what_is_new() {
    alone("postgres_behind_a_script_shows_what_is_new", || {
        let Some(mut watched) = Watched::release("postgres@19") else { return };
        watched.shows_what_is_new(0);
    });
}

#[test]
fn mariadb_shows_what_is_new() {
    alone("mariadb_shows_what_is_new", || {
        let Some(mut watched) = Watched::release("mariadb") else { return };
        watched.shows_what_is_new(20);
        watched.engine.reset().expect("it can be emptied");
        watched.new_blocks("SELECT 1");
    });
}

#[test]
fn mysql_shows_what_is_new() {
    alone("mysql_shows_what_is_new", || {
        let Some(mut watched) = Watched::release("mysql") else { return };
        watched.shows_what_is_new(20);
    });
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let refusal = |target: &str| {
        let target = Target::parse(target).expect("a target");
        target.obtain_watchable(&mut |_| {}).expect_err("it is refused").to_string()
    };
    assert_eq!(
        refusal("postgres://somebody@127.0.0.1:1/db"),
        "a server by URL has no code coverage: only engines that Dissent starts itself have; use --guide plan"
    );
    let bundled = Source::bundled().open_watched("/nowhere".as_ref(), 0).err().map(|error| error.to_string());
    assert_eq!(bundled.as_deref(), Some("Dissent cannot watch the code of SQLite; use --guide plan"));
}

struct Nobody;

impl Watcher for Nobody {
    fn case(&mut self, _: u64, _: u64) -> bool {
        true
    }
    fn verdict(&mut self, _: &'static str, _: &Verdict) {}
    fn finding(&mut self, _: Origin, _: TestCase, _: Evidence) {}
    fn unstable(&mut self, _: Origin, _: TestCase, _: Evidence) {}
}

/// Breakpoints in a library whose compiler counts, too: both are asked what a database showed for the first time.
/// `DISSENT_AGREE=1000` asks about so many databases.
#[test]
fn breakpoints_and_gcc_agree_on_what_is_new() {
    let target = Target::parse("sqlite@3.34.0").expect("a version");
    let source = target.obtain_counting(&mut |step| eprintln!("{step}")).expect("it can be built");
    alone("breakpoints_and_gcc_agree_on_what_is_new", || {
        let mut watched = Watched::open(&source).expect("it opens");
        let dialect = Dialect::load("sqlite", watched.engine.version()).expect("its dialect reads");
        let oracles = ["norec", "tlp"].into_iter().flat_map(oracle::select).collect();
        let walk = Walk { dialect: &dialect, calm: None, oracles, seed: 1, policy: Policy::default() };
        let databases = std::env::var("DISSENT_AGREE").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
        let mut seen = std::collections::BTreeSet::new();
        // By whether breakpoints and the compiler's counters saw something new.
        let mut tally = [[0u32; 2]; 2];
        let mut journal = NoJournal;
        let Watched { engine, reader, .. } = &mut watched;
        let mut session = Session::new(engine.as_mut(), &dialect, &mut journal, || 0);
        for number in 0..databases {
            walk.database(number, &mut session, &mut Nobody).expect("the engine answers");
            let (mut edges, mut blocks) = (false, false);
            session.take_coverage(&mut |edge| edges |= seen.insert(edge));
            reader.take(&mut |_| blocks = true);
            tally[usize::from(blocks)][usize::from(edges)] += 1;
        }
        let [[neither, edges], [blocks, both]] = tally;
        eprintln!(
            "{databases} databases: new to both {both}, to neither {neither}, edges only {edges}, blocks only {blocks}"
        );
        // Two ways into a block are two edges, so edges may be new where blocks are not.
        assert!(both >= 10 && u64::from(both + neither) * 100 >= databases * 60, "{tally:?}");
        assert!(u64::from(blocks) * 100 <= databases * 5, "{tally:?}");
    });
}
