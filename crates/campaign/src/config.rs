//! What a campaign does: one value that flags fill in, `campaign.json` stores and every worker gets.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use dissent_core::dialect::Files;
use dissent_core::generate::Policy;
use dissent_core::guide;
use dissent_core::oracle::{self, versions};
use dissent_core::seeds;
use dissent_engine::Target;
use serde::{Deserialize, Serialize};

use crate::scripts::{self, Seed};
use crate::stretch::{Shard, Stretch};

/// Everything a campaign is to do. What is learned when it starts (the engine's version, its functions,
/// its known bugs) is not part of this.
///
/// The default tests the bundled SQLite with every oracle, a random seed and a worker per core, until it is stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// The database to test: `sqlite`, `duckdb@1.5.6`, the URL of a server. A password in it is never written to disk.
    pub target: String,
    /// Another version of the same engine: the same statements run there, too, and a different answer is a finding of
    /// class `changed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// A version or build to judge by: a finding that it shows, too, is not new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The oracles, by their names or by groups: `norec`, `tlp`, `all`.
    pub oracles: Vec<String>,
    /// Where all randomness starts: the same seed gives the same databases and queries.
    pub seed: u64,
    /// Wait until the engine's functions are known, so that the seed alone decides what is drawn. Without this, and
    /// without `max_cases`, the first hunt of a version begins while they are probed.
    pub repeatable: bool,
    /// The part of the databases that is visited here, if others visit the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// How many worker processes hunt.
    pub jobs: u64,
    /// When to stop; none: when interrupted.
    pub time: Option<Duration>,
    /// When to stop by the processor time of the workers and of the servers that they started: what a busy machine does
    /// besides does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_time: Option<Duration>,
    /// Stop after this many cases, shared evenly among the workers.
    pub max_cases: Option<u64>,
    /// Visit only the databases with smaller numbers than this: all shards and workers together visit so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_databases: Option<u64>,
    /// Stop after this many bugs that are not known.
    pub max_findings: Option<u64>,
    /// A statement that runs longer is a finding of class hang; at least three seconds.
    pub hang_limit: Duration,
    /// The address space of a worker in bytes.
    pub worker_memory: u64,
    /// Whether an error of one arm only is looked into before it is a finding.
    pub error_validation: bool,
    /// What reducing one finding may cost; none: findings stay as they are found, each a bug of its own.
    pub reduce: Option<Allowance>,
    /// Keep every example of a bug, not only the smallest.
    pub keep_duplicates: bool,
    /// What to learn from.
    pub guide: guide::Kind,
    /// Count what the guide sees and learn nothing from it.
    pub counts_only: bool,
    /// Scripts to start from, or directories of them.
    pub seeds: Vec<PathBuf>,
    /// Start from the scripts that are built in for the target's dialect, too.
    pub built_in_seeds: bool,
    /// Make every database from seeds; draw none.
    pub seeds_only: bool,
    /// Files or directories of known bugs, in addition to those built in and `./known`.
    pub known: Vec<PathBuf>,
    /// Write every statement to this file as it runs; with several workers to `FILE.0`, `FILE.1` and so on.
    pub log_statements: Option<PathBuf>,
    /// Weights of the generator's choices by their names; a choice that is not named keeps its own.
    pub profile: BTreeMap<String, u32>,
}

/// What reducing one finding may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// How many smaller forms are tried.
    pub checks: u64,
    /// How long that may take.
    pub time: Duration,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            target: "sqlite".to_string(),
            against: None,
            baseline: None,
            oracles: vec!["all".to_string()],
            seed: random(),
            repeatable: false,
            shard: None,
            jobs: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64),
            time: None,
            cpu_time: None,
            max_cases: None,
            max_databases: None,
            max_findings: None,
            hang_limit: Duration::from_secs(10),
            worker_memory: 4 << 30,
            error_validation: true,
            reduce: Some(Allowance { checks: 2000, time: Duration::from_secs(15) }),
            keep_duplicates: false,
            guide: guide::Kind::Plan,
            counts_only: false,
            seeds: Vec::new(),
            built_in_seeds: false,
            seeds_only: false,
            known: Vec::new(),
            log_statements: None,
            profile: BTreeMap::new(),
        }
    }
}

/// A busy machine can hold up any statement for a second or two; that must not look like a hang.
const LEAST_HANG_LIMIT: Duration = Duration::from_secs(3);
/// Clocks can be this far ahead.
const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 3600);
/// More processes than any machine runs at once.
const MOST_WORKERS: u64 = 4096;

impl Config {
    /// Finds what is wrong with it before anything is obtained or written. Groups of oracles become names,
    /// directories the scripts in them, and paths absolute: workers and later runs may have another directory.
    pub(crate) fn settle(&mut self) -> anyhow::Result<()> {
        self.check_limits()?;
        self.check_shares()?;
        if self.baseline.is_some() && self.reduce.is_none() {
            bail!("--baseline compares findings when they are reduced: leave out --no-reduce");
        }
        self.oracles = choose_oracles(&self.oracles, self.against.is_some())?;
        Policy::profile(&self.profile).context("invalid profile")?;
        self.seeds = scripts::files(&self.seeds)?;
        let paths = self.seeds.iter_mut().chain(&mut self.known).chain(&mut self.log_statements);
        paths.for_each(|path| *path = absolute(path));
        Ok(())
    }

    /// What hunts of this target learn from unless they are told. Whoever gives seeds wants them changed and kept.
    pub fn usual_guide(&self) -> guide::Kind {
        let dialect = Target::parse(&self.target).map(|target| target.dialect().to_string());
        let engine = dialect.ok().and_then(|dialect| Files::built_in().descriptor(&dialect).ok());
        match engine {
            Some(engine) if !engine.guided && self.seeds.is_empty() && !self.built_in_seeds => {
                guide::Kind::None
            }
            _ => guide::Kind::Plan,
        }
    }

    /// Who does what, in numbers that can be counted with: the file of a campaign may come from elsewhere.
    pub(crate) fn check_shares(&self) -> anyhow::Result<()> {
        if self.jobs == 0 {
            bail!("a campaign needs at least one worker");
        }
        if self.jobs > MOST_WORKERS {
            bail!("a campaign has at most {MOST_WORKERS} workers, not {}", self.jobs);
        }
        if let Some(Shard { index, count }) = self.shard
            && (index >= count || count > u64::from(u32::MAX))
        {
            bail!("there is no shard {index} of {count}");
        }
        Ok(())
    }

    pub(crate) fn check_limits(&self) -> anyhow::Result<()> {
        let times =
            [Some(self.hang_limit), self.time, self.cpu_time, self.reduce.map(|allowance| allowance.time)];
        if times.into_iter().flatten().any(|time| time > LONGEST) {
            bail!("no limit may be longer than a hundred years");
        }
        if self.hang_limit < LEAST_HANG_LIMIT {
            let least = LEAST_HANG_LIMIT.as_secs();
            bail!(
                "the hang limit must be at least {least}s: on a busy machine a shorter one mistakes delays for hangs"
            );
        }
        Ok(())
    }

    /// What all machines of a fleet have in common; the rest is each machine's own affair. What a database is must not
    /// depend on what a machine knows of the engine.
    pub fn common(&self) -> anyhow::Result<Config> {
        let own = Config::default();
        let public = |named: &String| anyhow::Ok(Target::parse(named)?.public());
        Ok(Config {
            target: public(&self.target)?,
            against: self.against.as_ref().map(public).transpose()?,
            baseline: self.baseline.as_ref().map(public).transpose()?,
            repeatable: true,
            jobs: 1,
            time: None,
            cpu_time: None,
            hang_limit: own.hang_limit,
            worker_memory: own.worker_memory,
            keep_duplicates: false,
            seeds: Vec::new(),
            known: Vec::new(),
            log_statements: None,
            ..self.clone()
        })
    }

    /// The first option in which it differs from another, as `campaign.json` names it, with both values.
    pub fn difference(&self, other: &Config) -> Option<(String, String, String)> {
        let fields = |config: &Config| match serde_json::json!(config) {
            serde_json::Value::Object(fields) => fields,
            _ => Default::default(),
        };
        let (ours, theirs) = (fields(self), fields(other));
        let names = ours.keys().chain(theirs.keys());
        let mut differing = names.filter(|name| ours.get(*name) != theirs.get(*name));
        let shown = |value: Option<&serde_json::Value>| value.map_or("none".to_string(), ToString::to_string);
        differing.next().map(|name| (name.clone(), shown(ours.get(name)), shown(theirs.get(name))))
    }

    /// Whether databases may be made of what others taught.
    pub(crate) fn learns(&self) -> bool {
        self.guide != guide::Kind::None || self.built_in_seeds || !self.seeds.is_empty()
    }

    /// The seeds for a target of this dialect: those built in, if they are wanted, then the files.
    pub(crate) fn all_seeds(&self, dialect: &str) -> impl Iterator<Item = Seed<'_>> {
        let built_in = self.built_in_seeds.then(|| seeds::of(dialect)).into_iter().flatten();
        built_in
            .map(|(name, text)| Seed::BuiltIn { name, text })
            .chain(self.seeds.iter().map(|path| Seed::File(path)))
    }

    /// The seeds that one worker reads.
    pub(crate) fn share_of_seeds(&self, worker: u64, dialect: &str) -> Vec<Seed<'_>> {
        self.all_seeds(dialect).skip(worker as usize).step_by(self.jobs as usize).collect()
    }

    /// The cases of one worker: an even share, the first ones taking what is left over.
    pub(crate) fn share_of_cases(&self, worker: u64) -> Option<u64> {
        self.max_cases.map(|cases| cases / self.jobs + u64::from(worker < cases % self.jobs))
    }

    /// The databases of one worker of this machine.
    pub(crate) fn stretch(&self, worker: u64) -> Stretch {
        let Shard { index, count } = self.shard.unwrap_or(Shard { index: 0, count: 1 });
        Stretch { first: index + count * worker, step: count * self.jobs, end: self.max_databases }
    }

    /// One file per worker: their statements have no common order.
    pub(crate) fn statement_log(&self, worker: u64) -> Option<PathBuf> {
        let path = self.log_statements.as_ref()?;
        if self.jobs == 1 {
            return Some(path.clone());
        }
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{worker}"));
        Some(PathBuf::from(name))
    }
}

/// Names and groups of oracles as names, in the order of [`oracle::all`]. Where two versions are compared, the oracle that
/// does so is the last of them.
pub fn choose_oracles(words: &[String], against: bool) -> anyhow::Result<Vec<String>> {
    let mut chosen = Vec::new();
    for word in words {
        if word == versions::NAME {
            if !against {
                bail!("the oracle '{word}' compares two versions: name the other one with --against");
            }
            continue;
        }
        let meant = oracle::select(word);
        if meant.is_empty() {
            let names: Vec<&str> = oracle::all().iter().map(|oracle| oracle.name()).collect();
            bail!("unknown oracle '{word}'; available: {}, tlp (all of tlp-…) and all", names.join(", "));
        }
        chosen.extend(meant.iter().map(|oracle| oracle.name()));
    }
    let all = oracle::all().iter().map(|oracle| oracle.name());
    let all = all.filter(|name| chosen.contains(name)).chain(against.then_some(versions::NAME));
    Ok(all.map(str::to_string).collect())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Nine or ten digits: enough never to meet twice, short enough to type.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_written_is_as_by_default() {
        let config: Config = serde_json::from_str(r#"{"seed": 7, "jobs": 2}"#).unwrap();
        assert_eq!(config, Config { seed: 7, jobs: 2, ..Config::default() });
    }

    #[test]
    fn cases_and_seeds_are_shared_out_whole() {
        let config = Config { jobs: 3, max_cases: Some(8), ..Config::default() };
        assert_eq!([0, 1, 2].map(|worker| config.share_of_cases(worker)), [Some(3), Some(3), Some(2)]);
        let config = Config { seeds: ["a", "b", "c", "d"].map(PathBuf::from).to_vec(), ..config };
        let names = |config: &Config, worker| -> Vec<String> {
            config.share_of_seeds(worker, "sqlite").iter().map(|seed| seed.name().into_owned()).collect()
        };
        assert_eq!(names(&config, 0), ["a", "d"]);
        assert_eq!(names(&config, 2), ["c"]);
        let config = Config { built_in_seeds: true, ..config };
        let mut all: Vec<String> = [0, 1, 2].iter().flat_map(|worker| names(&config, *worker)).collect();
        all.sort();
        let mut expected: Vec<&str> = seeds::of("sqlite").map(|(name, _)| name).collect();
        expected.extend(["a", "b", "c", "d"]);
        expected.sort();
        assert_eq!(all, expected);
    }

    /// Whatever number of workers each has.
    #[test]
    fn shards_of_one_seed_never_visit_the_same_database() {
        let shard = |index, jobs| Config {
            shard: Some(Shard { index, count: 3 }),
            jobs,
            max_databases: Some(100),
            ..Config::default()
        };
        let shards = [shard(0, 1), shard(1, 4), shard(2, 2)];
        let workers =
            |config: &Config| (0..config.jobs).flat_map(|worker| config.stretch(worker)).collect::<Vec<_>>();
        let mut visited: Vec<u64> = shards.iter().flat_map(workers).collect();
        visited.sort();
        assert_eq!(visited, (0..100).collect::<Vec<_>>());
        // Four machines with one worker visit what one machine with four does.
        let one = Config { jobs: 4, ..Config::default() };
        let four = |index| Config { shard: Some(Shard { index, count: 4 }), jobs: 1, ..Config::default() };
        assert!((0..4).all(|at| one.stretch(at) == four(at).stretch(0)));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refusal = |config: Config| config.clone().settle().unwrap_err().to_string();
        let short = Config { hang_limit: Duration::from_secs(1), ..Config::default() };
        assert!(refusal(short).contains("at least 3s"));
        let crowded = Config { jobs: u64::MAX, ..Config::default() };
        assert!(refusal(crowded).contains("at most 4096 workers"));
        let endless = Config { time: Some(Duration::MAX), ..Config::default() };
        assert!(refusal(endless).contains("a hundred years"));
        let nowhere = Config { shard: Some(Shard { index: 3, count: 3 }), ..Config::default() };
        assert!(refusal(nowhere).contains("no shard 3 of 3"));
        let unknown = Config { oracles: vec!["astrology".to_string()], ..Config::default() };
        assert!(refusal(unknown).starts_with("unknown oracle 'astrology'; available: norec, "));
        let misspelled = Config { profile: [("query.coma".to_string(), 1)].into(), ..Config::default() };
        let told = format!("{:#}", misspelled.clone().settle().unwrap_err());
        assert_eq!(told, "invalid profile: unknown choice 'query.coma'; did you mean 'query.comma'?");
        assert!(Config::default().settle().is_ok());
    }
}
