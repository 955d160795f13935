//! Campaigns through the library. Workers are processes of this program, so it has a `main` of its own instead of
//! the test harness.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dissent_campaign::{Allowance, Campaign, Config, Observer, Phase, Progress, store};
use dissent_core::guide;

fn main() {
    dissent_campaign::run_worker_if_asked();
    every_option_is_kept_by_resuming();
    a_campaign_of_format_1_is_resumed();
    a_campaign_tells_what_it_does_and_pauses_and_stops_when_asked();
    the_time_of_reductions_is_not_that_of_hunting();
    println!("all campaigns are as they should be");
}

/// No field is left at its default: a new one that is forgotten here does not compile.
fn every_option(directory: &Path) -> Config {
    let script = directory.join("seed.sql");
    std::fs::write(&script, "CREATE TABLE t0(c0 INT);\nINSERT INTO t0 VALUES (1);\nSELECT c0 FROM t0;\n")
        .unwrap();
    let known = directory.join("known.toml");
    std::fs::write(&known, "").unwrap();
    Config {
        target: "sqlite@bundled".to_string(),
        against: Some("sqlite".to_string()),
        baseline: Some("sqlite".to_string()),
        oracles: ["norec", "tlp-where", "versions"].map(String::from).to_vec(),
        repeatable: true,
        shard: Some("2/3".parse().unwrap()),
        seed: 77,
        jobs: if Config::default().jobs == 2 { 3 } else { 2 },
        time: Some(Duration::from_secs(60)),
        cpu_time: Some(Duration::from_secs(30)),
        max_cases: Some(40),
        max_databases: Some(5000),
        max_findings: Some(9),
        hang_limit: Duration::from_secs(7),
        worker_memory: 3 << 30,
        error_validation: false,
        reduce: Some(Allowance { checks: 123, time: Duration::from_secs(4) }),
        keep_duplicates: true,
        guide: guide::Kind::None,
        counts_only: true,
        seeds: vec![script],
        built_in_seeds: true,
        seeds_only: true,
        known: vec![known],
        log_statements: Some(directory.join("log.sql")),
        profile: BTreeMap::from([("query.comma".to_string(), 3)]),
    }
}

fn every_option_is_kept_by_resuming() {
    let directory = tempfile::tempdir().unwrap();
    let (config, out) = (every_option(directory.path()), directory.path().join("out"));
    let default = serde_json::to_value(Config::default()).unwrap();
    for (name, value) in serde_json::to_value(&config).unwrap().as_object().unwrap() {
        assert_ne!(*value, default[name], "{name} is as by default");
    }
    let campaign = Campaign::start(config.clone(), Some(&out), &mut ()).unwrap();
    assert_eq!(campaign.config(), &config);
    // As if it was killed here: nothing but what is on disk is left of it.
    drop(campaign);
    // A log goes on where there is one.
    std::fs::write(directory.path().join("log.sql.0"), "-- reset\n").unwrap();
    let resumed = Campaign::resume(&out, |_| {}, &mut ()).unwrap();
    assert_eq!(resumed.config(), &config);
    let outcome = resumed.run(&mut ()).unwrap();
    assert!(outcome.trouble.is_none() && outcome.summary.cases == 40, "{:?}", outcome.summary);
    assert!(directory.path().join("log.sql.1").is_file());
    // What is changed for one run is not kept for the next.
    let longer = |config: &mut Config| config.time = Some(Duration::from_secs(90));
    assert_eq!(Campaign::resume(&out, longer, &mut ()).unwrap().config().time, Some(Duration::from_secs(90)));
    assert_eq!(store::read_campaign(&out).unwrap().config, config);
}

/// `campaign.json` as the first versions wrote it.
const FORMAT_1: &str = r#"{
  "format": 1, "dissent_version": "0.1.0", "started": "2026-01-02T03:04:05Z", "target": "sqlite@bundled",
  "dialect": "sqlite", "engine_version": "VERSION", "oracles": ["norec"], "seed": 5, "jobs": 1, "time_seconds": 600,
  "max_cases": 3, "max_findings": null, "hang_limit_seconds": 11, "reduce_checks": 50, "keep_duplicates": true,
  "mark": "0badcafe", "guidance": {"guide": "plan", "counts_only": false, "seeds": [], "seeds_only": false}
}"#;

fn a_campaign_of_format_1_is_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let version = {
        let out = directory.path().join("version");
        let config = Config { max_cases: Some(1), jobs: 1, ..Config::default() };
        Campaign::start(config, Some(&out), &mut ()).unwrap().tested().engine_version.clone()
    };
    let old = directory.path().join("old");
    std::fs::create_dir(&old).unwrap();
    std::fs::write(old.join("campaign.json"), FORMAT_1.replace("VERSION", &version)).unwrap();
    let expected = Config {
        target: "sqlite@bundled".to_string(),
        oracles: vec!["norec".to_string()],
        seed: 5,
        jobs: 1,
        time: Some(Duration::from_secs(600)),
        max_cases: Some(3),
        hang_limit: Duration::from_secs(11),
        reduce: Some(Allowance { checks: 50, time: Duration::from_secs(15) }),
        keep_duplicates: true,
        ..Config::default()
    };
    assert_eq!(store::read_campaign(&old).unwrap().config, expected);
    let outcome = Campaign::resume(&old, |_| {}, &mut ()).unwrap().run(&mut ()).unwrap();
    assert_eq!(outcome.summary.cases, 3);

    std::fs::write(old.join("campaign.json"), r#"{"format": 99}"#).unwrap();
    let refusal = format!("{:#}", store::read_campaign(&old).unwrap_err());
    assert!(refusal.contains("it has format 99"), "{refusal}");
    std::fs::write(
        old.join("campaign.json"),
        FORMAT_1.replace("reduce_checks", "x").replace("guidance", "y"),
    )
    .unwrap();
    let older = store::read_campaign(&old).unwrap().config;
    assert_eq!((older.reduce, older.guide), (None, guide::Kind::None));
}

/// Pauses the campaign once it has done something, and stops it when it has done more.
#[derive(Default)]
struct Impatient {
    flags: Option<[std::sync::Arc<std::sync::atomic::AtomicBool>; 2]>,
    /// Since when it is paused, what its clock said then, and what had been checked.
    paused: Option<(Instant, Duration, u64)>,
    resumed_at: Option<u64>,
    /// Databases, statements, valid ones, checks.
    last: [u64; 4],
}

impl Observer for Impatient {
    fn progress(&mut self, progress: &Progress) {
        let Progress { databases, statements, statements_ok, checks, elapsed, phase, .. } = *progress;
        self.last = [databases, statements, statements_ok, checks];
        let Some([stop, pause]) = &self.flags else { return };
        match (self.paused, self.resumed_at) {
            (None, None) if phase == Phase::Paused => self.paused = Some((Instant::now(), elapsed, checks)),
            (None, None) => pause.store(checks > 0, Ordering::Relaxed),
            (Some((since, clock, _)), None) if since.elapsed() > Duration::from_millis(500) => {
                assert!(elapsed < clock + Duration::from_millis(100), "its clock stands still");
                assert!(
                    progress.workers.iter().all(|worker| worker.doing.is_some_and(|doing| !doing.running))
                );
                pause.store(false, Ordering::Relaxed);
                self.resumed_at = Some(checks);
            }
            (_, Some(then)) if checks > then => stop.store(true, Ordering::Relaxed),
            _ => {}
        }
    }
}

fn a_campaign_tells_what_it_does_and_pauses_and_stops_when_asked() {
    let directory = tempfile::tempdir().unwrap();
    let out: PathBuf = directory.path().join("out");
    let mut observer = Impatient::default();
    let config = Config { jobs: 2, ..Config::default() };
    let campaign = Campaign::start(config, Some(&out), &mut observer).unwrap();
    observer.flags = Some([campaign.stop_flag(), campaign.pause_flag()]);
    let outcome = campaign.run(&mut observer).unwrap();
    let [databases, statements, statements_ok, checks] = observer.last;
    assert!(databases > 0 && statements >= statements_ok && checks > 0, "{:?}", observer.last);
    let (_, _, checks_when_paused) = observer.paused.unwrap();
    // What workers did before they waited may be told only then.
    assert!(checks > checks_when_paused);
    assert!(outcome.summary.checks["total"] >= checks);
    assert_eq!(store::read_summary(&out).unwrap().statements, outcome.summary.statements);
}

/// On a server of ours, which dies with the worker that is killed: nobody but us is told what it used.
fn the_time_of_reductions_is_not_that_of_hunting() {
    // SAFETY: the calls read nothing but their arguments. From now on, the servers of dead workers are our children.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    let config = Config {
        target: "postgres".to_string(),
        oracles: ["norec", "tlp-where", "tlp-distinct"].map(String::from).to_vec(),
        // Errors in one arm only are findings, and a reduction sees that they are none.
        error_validation: false,
        guide: guide::Kind::None,
        seed: 3,
        jobs: 1,
        max_cases: Some(400),
        ..Config::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let campaign = match Campaign::start(config, Some(&directory.path().join("out")), &mut ()) {
        Err(error) if std::env::var_os("DISSENT_REQUIRE_ENGINES").is_none() => {
            return println!("SKIPPED: postgres is not available: {error:#}");
        }
        started => started.unwrap(),
    };
    let before = kernel_cpu_seconds();
    let outcome = campaign.run(&mut ()).unwrap();
    let kernel = kernel_cpu_seconds() - before;
    let summary = outcome.summary;
    let [workers, reducer] = [summary.worker_cpu_seconds, summary.reducer_cpu_seconds];
    assert!(summary.unstable > 0 && reducer > 0.0, "nothing was reduced");
    // The clock of /proc, by which a server that is killed is measured, ticks a hundred times a second.
    assert!((kernel - workers - reducer).abs() < 0.25 + 0.15 * kernel, "{kernel} is {workers} and {reducer}");
}

/// What all our children have used, once all of them have ended.
fn kernel_cpu_seconds() -> f64 {
    // SAFETY: nothing is written but the status, which may be null, and the struct that is given, for which zeros are
    // valid.
    let usage = unsafe {
        while libc::waitpid(-1, std::ptr::null_mut(), 0) > 0 {}
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
