//! A campaign on disk: `campaign.json`, a directory per finding, `summary.json`.
//!
//! Files appear by renaming complete ones, so a kill at any moment leaves no partial finding.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::guide;
use dissent_core::report;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::bugs::Bug;
use crate::config::{self, Config};
use crate::counted::Counted;
use crate::record::{self, FINDING_FILE, ORIGINAL_FINDING_FILE, pretty};
use crate::stretch::Shard;
use crate::summary::Summary;
use crate::system;
use crate::tested::Tested;

pub(crate) const CAMPAIGN_FILE: &str = "campaign.json";
const SUMMARY_FILE: &str = "summary.json";
const LOCK_FILE: &str = ".lock";
pub(crate) const FINDINGS: &str = "findings";
const UNSTABLE: &str = "unstable";
pub(crate) const DUPLICATES: &str = "duplicates";
/// Where campaigns go that the user names no place for.
const DEFAULT_PARENT: &str = "dissent-out";
/// A campaign that was killed while it started a worker is locked until that runs and notices.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const BUGS_FILE: &str = "bugs.json";
const POSITION_FILE: &str = "position.json";
const COUNTS_FILE: &str = "counts.json";
/// More than are visited in a thousand years, and few enough to count on from there. The upper half is for machines that
/// were cut off from a fleet.
pub const MOST_DATABASES: u64 = 1 << 60;

/// `campaign.json`: what was run, enough to run it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CampaignFile {
    pub(crate) format: u32,
    /// A number of its own: machines that share a campaign tell each other apart by it.
    #[serde(default)]
    pub id: u32,
    /// The version of Dissent that started it.
    pub dissent_version: String,
    /// When it was started.
    pub started: String,
    /// The dialect of the engine that was tested.
    pub dialect: String,
    /// The version that the engine said it has.
    pub engine_version: String,
    /// The engine's functions were probed while the campaign was hunting: for each worker the database from which on
    /// it drew them. None: it knew them from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog_from: Option<Vec<u64>>,
    /// The campaigns that it was made of; what it says of seeds and databases is about what follows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// It began as a machine of a fleet: which databases of its seed it visited only the fleet knows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joined: bool,
    /// What the campaign was to do.
    pub config: Config,
}

/// A campaign that is part of another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// When it was started.
    pub started: String,
    /// Where its randomness started.
    pub seed: u64,
    /// Which databases of this seed it visited; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl Part {
    /// Whether there are databases that both visit.
    pub(crate) fn overlaps(&self, other: &Part) -> bool {
        let whole = Shard { index: 0, count: 1 };
        self.seed == other.seed && self.shard.unwrap_or(whole).overlaps(other.shard.unwrap_or(whole))
    }
}

impl CampaignFile {
    pub(crate) fn new(config: &Config, tested: &Tested) -> CampaignFile {
        CampaignFile {
            format: 2,
            id: config::random() as u32,
            dissent_version: env!("CARGO_PKG_VERSION").to_string(),
            started: system::now(),
            dialect: tested.dialect_name().to_string(),
            engine_version: tested.engine_version.clone(),
            catalog_from: None,
            parts: Vec::new(),
            joined: false,
            config: config.clone(),
        }
    }

    /// The campaigns that were not made of others: those that it was made of, or it alone.
    pub(crate) fn all_parts(&self) -> Vec<Part> {
        let Config { seed, shard, .. } = self.config;
        match self.parts.is_empty() {
            true => vec![Part { started: self.started.clone(), seed, shard }],
            false => self.parts.clone(),
        }
    }

    fn parse(json: Json) -> anyhow::Result<CampaignFile> {
        match json["format"].as_u64() {
            Some(1) => Ok(serde_json::from_value(from_format_1(json))?),
            Some(2) => Ok(serde_json::from_value(json)?),
            Some(format) => {
                bail!("it has format {format}, but this version of Dissent reads formats 1 and 2")
            }
            None => bail!("it has no format number"),
        }
    }
}

/// Format 1 had no configuration: most options stood beside the rest, some under other names, some were not kept.
fn from_format_1(old: Json) -> Json {
    let seconds = |field: &str| old[field].as_u64().map(|seconds| json!(Duration::from_secs(seconds)));
    let mut config = old.clone();
    config["time"] = json!(seconds("time_seconds"));
    config["hang_limit"] = json!(seconds("hang_limit_seconds"));
    let time = Config::default().reduce.map(|allowance| allowance.time);
    config["reduce"] =
        old["reduce_checks"].as_u64().map_or(Json::Null, |checks| json!({"checks": checks, "time": time}));
    config["guide"] = json!(guide::Kind::None);
    for (name, value) in old["guidance"].as_object().into_iter().flatten() {
        config[name] = value.clone();
    }
    let mut new = old;
    new["config"] = config;
    new
}

/// `position.json`: how far a campaign is. Written after each finding and from time to time in between. Every finding
/// that is on disk comes from a database before these, so none is found twice; what a kill loses is work without
/// findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// For each worker the database it comes to next.
    pub next_databases: Vec<u64>,
    /// For each worker the cases it may still run, if that is limited.
    pub cases_left: Vec<Option<u64>>,
}

impl Position {
    /// Of a campaign that has not begun.
    pub fn start(config: &Config) -> Position {
        Position {
            next_databases: (0..config.jobs).map(|worker| config.stretch(worker).first).collect(),
            cases_left: (0..config.jobs).map(|worker| config.share_of_cases(worker)).collect(),
        }
    }
}

/// Where a campaign notes what was seen of the engine's code.
pub fn map_in(directory: &Path) -> PathBuf {
    directory.join("coverage.map")
}

/// Reads what a campaign was to do.
pub fn read_campaign(directory: &Path) -> anyhow::Result<CampaignFile> {
    let shown = directory.display();
    if !is_campaign(directory) {
        bail!("{shown} is not a campaign of Dissent; give a directory that `dissent hunt` wrote");
    }
    let text = fs::read(directory.join(CAMPAIGN_FILE)).with_context(|| format!("cannot read {shown}"))?;
    let parsed = serde_json::from_slice(&text).map_err(anyhow::Error::new).and_then(CampaignFile::parse);
    parsed.with_context(|| format!("cannot use {shown}/{CAMPAIGN_FILE}"))
}

/// How far a campaign of so many workers was; none if it was killed before it began.
pub(crate) fn read_position(directory: &Path, workers: u64) -> anyhow::Result<Option<Position>> {
    let path = directory.join(POSITION_FILE);
    let position: Option<Position> = read_optional(&path)?;
    if let Some(Position { next_databases, cases_left }) = &position {
        let shown = path.display();
        if [next_databases.len(), cases_left.len()].iter().any(|count| *count as u64 != workers) {
            bail!("{shown} is damaged: it does not match {workers} workers");
        }
        if next_databases.iter().any(|database| *database > MOST_DATABASES) {
            bail!("{shown} is damaged: no campaign can get that far");
        }
    }
    Ok(position)
}

/// What a campaign had counted; nothing if it was killed before it began, or by a version that did not keep it.
pub(crate) fn read_counts(directory: &Path) -> anyhow::Result<Counted> {
    Ok(read_optional(&directory.join(COUNTS_FILE))?.unwrap_or_default())
}

/// The bugs a campaign has listed.
pub fn read_bugs(directory: &Path) -> anyhow::Result<Vec<Bug>> {
    Ok(read_optional(&directory.join(BUGS_FILE))?.unwrap_or_default())
}

/// What a campaign wrote of itself last: every few seconds while it runs, and when it ended.
pub fn read_summary(directory: &Path) -> anyhow::Result<Summary> {
    let path = directory.join(SUMMARY_FILE);
    let shown = path.display();
    match fs::read(&path) {
        Ok(bytes) => Summary::from_json(&bytes).map_err(|error| anyhow!("{shown} is damaged: {error}")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("{} has no summary yet: its campaign has not run long enough", directory.display())
        }
        Err(error) => bail!("cannot read {shown}: {error}"),
    }
}

fn read_optional<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Option<T>> {
    let shown = path.display();
    match fs::read(path) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map(Some).map_err(|error| anyhow!("{shown} is damaged: {error}"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => bail!("cannot read {shown}: {error}"),
    }
}

pub(crate) struct Store {
    root: PathBuf,
    /// Held while this is: a campaign has one owner.
    _lock: File,
    /// Shared with the thread that reduces.
    dialect: Arc<Dialect>,
}

/// Makes this process the owner of a campaign until the lock is dropped or the process ends, however it ends.
fn lock(root: &Path) -> anyhow::Result<File> {
    let path = root.join(LOCK_FILE);
    let file = system::open_no_link(File::options().write(true).create(true), &path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    let start = Instant::now();
    while !system::lock(&file).with_context(|| format!("cannot lock {}", path.display()))? {
        if start.elapsed() < LOCK_PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
            continue;
        }
        bail!("another dissent is working on {}; wait until it ends, or stop it first", root.display());
    }
    Ok(file)
}

/// Refuses a directory that holds anything: nothing of the user's, and no campaign, is ever overwritten.
pub fn check_vacant(directory: &Path) -> anyhow::Result<()> {
    let shown = directory.display();
    let mut entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            bail!("the output directory {shown} is a file; choose another with --out")
        }
        Err(error) => bail!("cannot read the output directory {shown}: {error}"),
    };
    if directory.join(CAMPAIGN_FILE).exists() {
        bail!("{shown} already contains a campaign; choose another directory with --out, or remove this one");
    }
    if entries.next().is_some() {
        bail!("the output directory {shown} is not empty; choose another with --out");
    }
    Ok(())
}

impl Store {
    /// Makes the directory: the one the user named, or a new one named after the target and the time.
    pub fn create(named: Option<&Path>, campaign: &CampaignFile) -> anyhow::Result<Store> {
        let root = match named {
            Some(directory) => {
                check_vacant(directory)?;
                fs::create_dir_all(directory)
                    .with_context(|| format!("cannot create the output directory {}", directory.display()))?;
                directory.to_path_buf()
            }
            None => create_default(&campaign.config.target)?,
        };
        let store = Store::at(&root, campaign)?;
        store.write(CAMPAIGN_FILE, &pretty(&campaign)?)?;
        Ok(store)
    }

    fn at(root: &Path, campaign: &CampaignFile) -> anyhow::Result<Store> {
        let dialect = Arc::new(Dialect::load(&campaign.dialect, &campaign.engine_version)?);
        Ok(Store { root: root.to_path_buf(), _lock: lock(root)?, dialect })
    }

    /// Opens the directory of a campaign that goes on, and clears away what a kill left half done.
    pub fn reopen(root: &Path, campaign: &CampaignFile) -> anyhow::Result<Store> {
        let store = Store::at(root, campaign)?;
        for kind in [FINDINGS, UNSTABLE] {
            let entries = fs::read_dir(root.join(kind)).into_iter().flatten().filter_map(Result::ok);
            for path in entries.map(|entry| entry.path()).filter(|path| is_hidden(path)) {
                restore_or_remove(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        Ok(store)
    }

    pub fn write_position(&self, position: &Position) -> anyhow::Result<()> {
        self.write(POSITION_FILE, &pretty(position)?)
    }

    /// Notes from which databases on workers know the engine's functions.
    pub fn note_catalog(&self, from: Vec<u64>) -> anyhow::Result<()> {
        let campaign = CampaignFile { catalog_from: Some(from), ..read_campaign(&self.root)? };
        self.write(CAMPAIGN_FILE, &pretty(&campaign)?)
    }

    /// What workers keep to come back to.
    pub fn corpus(&self) -> PathBuf {
        self.absolute().join("corpus")
    }

    /// What was seen of the engine's code, if that is watched.
    pub fn map(&self) -> PathBuf {
        map_in(&self.absolute())
    }

    fn absolute(&self) -> PathBuf {
        std::path::absolute(&self.root).unwrap_or_else(|_| self.root.clone())
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Puts a finding on disk; `None` if it is there already.
    pub fn add_finding(&self, finding: &Finding) -> anyhow::Result<Option<PathBuf>> {
        let files = record::new_files(finding, &self.dialect)?;
        self.add(FINDINGS, finding, &files)
    }

    /// Keeps a difference that did not hold; `None` if it is there already.
    pub fn add_unstable(&self, finding: &Finding) -> anyhow::Result<Option<PathBuf>> {
        self.add(UNSTABLE, finding, &[(FINDING_FILE, pretty(finding)?)])
    }

    pub fn dialect(&self) -> &Arc<Dialect> {
        &self.dialect
    }

    /// Puts a reduced form in the place of a finding.
    pub fn rewrite(&self, directory: &Path, finding: &Finding) -> anyhow::Result<()> {
        record::rewrite(directory, finding, &self.dialect)
    }

    /// Two findings change places; at no moment is one of them missing.
    pub fn exchange(&self, one: &Path, other: &Path) -> anyhow::Result<()> {
        system::exchange(one, other)
            .with_context(|| format!("cannot replace {1} by {0}", other.display(), one.display()))
    }

    /// Takes a finding away.
    pub fn discard(&self, directory: &Path) -> anyhow::Result<()> {
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        // Hidden first: it is there or not, never in part.
        let hidden = directory.with_file_name(format!(".{name}.gone"));
        fs::rename(directory, &hidden)
            .and_then(|()| fs::remove_dir_all(&hidden))
            .with_context(|| format!("cannot remove {}", directory.display()))
    }

    pub fn move_to_unstable(&self, directory: &Path) -> anyhow::Result<()> {
        self.move_to(UNSTABLE, directory)
    }

    pub fn move_to_duplicates(&self, directory: &Path) -> anyhow::Result<()> {
        self.move_to(DUPLICATES, directory)
    }

    fn move_to(&self, kind: &str, directory: &Path) -> anyhow::Result<()> {
        move_within(&self.root, kind, directory).map(drop)
    }

    pub fn write_bugs(&self, bugs: &[Bug]) -> anyhow::Result<()> {
        write_bugs(&self.root, bugs)
    }

    /// Not for people, and it may be large.
    pub fn write_counts(&self, counted: &Counted) -> anyhow::Result<()> {
        self.write(COUNTS_FILE, &serde_json::to_string(counted)?)
    }

    pub fn write_summary(&self, summary: &Summary) -> anyhow::Result<()> {
        self.write(SUMMARY_FILE, &summary.json()?)
    }

    /// Copies a finding of another campaign with all its files; `None` if it is there already.
    pub fn copy_finding(&self, from: &Path, finding: &Finding) -> anyhow::Result<Option<PathBuf>> {
        let files = files_in(from)?;
        let files: Vec<(&str, String)> =
            files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
        self.add(FINDINGS, finding, &files)
    }

    /// Copies what another campaign kept besides its bugs.
    pub fn copy_others(&self, campaign: &Path) -> anyhow::Result<()> {
        for kind in [UNSTABLE, DUPLICATES] {
            for from in directories_in(&campaign.join(kind))? {
                let files = files_in(&from)?;
                let files: Vec<(&str, String)> =
                    files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
                self.add(kind, &record::read(&from)?, &files)?;
            }
        }
        Ok(())
    }

    fn add(
        &self,
        kind: &str,
        finding: &Finding,
        files: &[(&str, String)],
    ) -> anyhow::Result<Option<PathBuf>> {
        let parent = self.root.join(kind);
        for digits in [6, 8, 12, 16] {
            let id = report::id(finding, digits);
            let directory = parent.join(&id);
            if directory.exists() {
                if holds_subject(&directory, finding) {
                    return Ok(None);
                }
                continue;
            }
            write_directory(&parent, &id, files)
                .with_context(|| format!("cannot write the finding {}", directory.display()))?;
            return Ok(Some(directory));
        }
        Ok(None)
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        record::replace(&self.root.join(name), text)
    }
}

/// `bugs.json`: the list of bugs with their counts.
pub(crate) fn write_bugs(campaign: &Path, bugs: &[Bug]) -> anyhow::Result<()> {
    record::replace(&campaign.join(BUGS_FILE), &pretty(&bugs)?)
}

/// Moves a finding to where the campaign keeps those of another kind.
pub(crate) fn move_within(campaign: &Path, kind: &str, directory: &Path) -> anyhow::Result<PathBuf> {
    let parent = campaign.join(kind);
    let to = parent.join(directory.file_name().unwrap_or_default());
    fs::create_dir_all(&parent)
        .and_then(|()| fs::rename(directory, &to))
        .with_context(|| format!("cannot move {} to {}", directory.display(), to.display()))?;
    Ok(to)
}

/// Whether a directory holds a campaign.
pub fn is_campaign(directory: &Path) -> bool {
    directory.join(CAMPAIGN_FILE).is_file()
}

/// The campaign that began last, of those in the default place.
pub fn newest() -> anyhow::Result<PathBuf> {
    let parent = Path::new(DEFAULT_PARENT);
    let entries = fs::read_dir(parent).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let started = |path: &PathBuf| path.join(CAMPAIGN_FILE).metadata().and_then(|meta| meta.modified()).ok();
    let campaigns = entries.filter(|path| is_campaign(path));
    campaigns
        .max_by_key(|path| (started(path), path.clone()))
        .with_context(|| format!("no campaign in {}; give its directory", parent.display()))
}

/// The directories of a campaign's findings, by name.
pub fn finding_directories(campaign: &Path) -> anyhow::Result<Vec<PathBuf>> {
    directories_in(&campaign.join(FINDINGS))
}

/// The directories of its findings and of all further examples that were kept.
pub fn example_directories(campaign: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut directories = finding_directories(campaign)?;
    directories.extend(directories_in(&campaign.join(DUPLICATES))?);
    Ok(directories)
}

fn directories_in(parent: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => bail!("cannot read {}: {error}", parent.display()),
    };
    let mut directories: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join(FINDING_FILE).is_file() && !is_hidden(path))
        .collect();
    directories.sort();
    Ok(directories)
}

/// What was put aside for a moment goes back where it belongs; everything else hidden is half written or
/// half removed.
fn restore_or_remove(path: &Path) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let home = name.strip_prefix('.').and_then(|name| name.strip_suffix(".aside"));
    match home.map(|home| path.with_file_name(home)) {
        Some(home) if !home.exists() => fs::rename(path, home),
        _ => fs::remove_dir_all(path),
    }
}

/// Half written by a campaign that was killed.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// The files of a finding, by name.
fn files_in(directory: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let read = || -> std::io::Result<Vec<(String, String)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_file() && !is_hidden(&path) {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.push((name, fs::read_to_string(&path)?));
            }
        }
        Ok(files)
    };
    read().with_context(|| format!("cannot read {}", directory.display()))
}

fn write_directory(parent: &Path, id: &str, files: &[(&str, String)]) -> std::io::Result<()> {
    let temporary = parent.join(format!(".{id}.tmp"));
    // Half written by a campaign that was killed, or a link to somewhere else.
    match fs::remove_dir_all(&temporary) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir_all(&temporary)?,
    }
    for (name, text) in files {
        fs::write(temporary.join(name), text)?;
    }
    fs::rename(&temporary, parent.join(id))
}

fn holds_subject(directory: &Path, finding: &Finding) -> bool {
    let original = directory.join(ORIGINAL_FINDING_FILE);
    let file = if original.exists() { original } else { directory.join(FINDING_FILE) };
    fs::read(file)
        .ok()
        .and_then(|bytes| Finding::from_json(&bytes).ok())
        .is_some_and(|stored| stored.case == finding.case)
}

/// `dissent-out/sqlite-3.30.1-20240229-235959`; two hunts in one second get a number.
fn create_default(target: &str) -> anyhow::Result<PathBuf> {
    let parent = Path::new(DEFAULT_PARENT);
    fs::create_dir_all(parent)
        .context("cannot create the output directory dissent-out (--out chooses another)")?;
    let name = format!("{}-{}", file_name_safe(target), jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S"));
    for attempt in 1..100 {
        let suffix = if attempt == 1 { String::new() } else { format!("-{attempt}") };
        let directory = parent.join(format!("{name}{suffix}"));
        match fs::create_dir(&directory) {
            Ok(()) => return Ok(directory),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => bail!("cannot create the output directory {}: {error}", directory.display()),
        }
    }
    bail!("too many campaigns started in this second; choose a directory with --out")
}

/// What is no letter or digit becomes a dash, but never several in a row. Of a server, only what it is: directories are
/// shown to others, who need not know its host and user.
pub(crate) fn file_name_safe(target: &str) -> String {
    if let Some((engine, _)) = target.split_once("://") {
        return format!("{}-server", file_name_safe(engine));
    }
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' };
    let mut name: String = target.chars().map(safe).collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    // The end of a path says more than its beginning, and file names have a limit.
    let start = name.len().saturating_sub(60);
    name[start..].trim_matches(['-', '.']).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissent_core::finding::{Class, Evidence, FINDING_FORMAT, Failure, Origin};
    use dissent_core::sql::Statement;
    use dissent_core::subject::{Subject, TestCase};

    fn finding(sql: &str) -> Finding {
        Finding {
            format: FINDING_FORMAT,
            target: "sqlite".to_string(),
            dialect: "sqlite".to_string(),
            engine_version: "3.30.1".to_string(),
            case: TestCase {
                setup: Vec::new(),
                subject: Subject::of("norec", vec![Statement::Raw(sql.to_string())]),
            },
            evidence: Evidence {
                class: Class::WrongRows,
                relation: String::new(),
                arms: Vec::new(),
                failure: Failure::Counts { first: 1, second: 0 },
                explanation: None,
            },
            origin: Origin { seed: 1, database: 2, case: 3, ..Origin::default() },
            triage: Default::default(),
        }
    }

    fn store(root: &Path) -> Store {
        Store {
            root: root.to_path_buf(),
            _lock: lock(root).unwrap(),
            dialect: Arc::new(Dialect::load("sqlite", "3.30.1").unwrap()),
        }
    }

    #[test]
    fn a_finding_is_a_directory_with_four_files_and_appears_once() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let stored = store.add_finding(&finding("SELECT 1")).unwrap().unwrap();
        for name in [FINDING_FILE, "repro.sql", "report.md", "original.sql"] {
            assert!(stored.join(name).is_file(), "{name}");
        }
        assert!(store.add_finding(&finding("SELECT 1")).unwrap().is_none());
        assert!(store.add_finding(&finding("SELECT 2")).unwrap().is_some());
        assert_eq!(fs::read_dir(directory.path().join("findings")).unwrap().count(), 2);
    }

    #[test]
    fn what_a_killed_campaign_left_half_written_is_no_obstacle() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let id = report::id(&finding("SELECT 1"), 6);
        fs::create_dir_all(directory.path().join(format!("findings/.{id}.tmp"))).unwrap();
        assert!(store.add_finding(&finding("SELECT 1")).unwrap().is_some());
    }

    #[test]
    fn targets_become_file_names() {
        assert_eq!(file_name_safe("sqlite@3.30.1"), "sqlite-3.30.1");
        assert_eq!(file_name_safe("../../etc"), "etc");
        assert_eq!(file_name_safe("postgres://me@host:5433/"), "postgres-server");
        assert_eq!(file_name_safe("clickhouse+http://host/"), "clickhouse-http-server");
        let long = format!("sqlite:path=/{}/libsqlite3.so", "x".repeat(300));
        assert!(file_name_safe(&long).len() <= 60 && file_name_safe(&long).ends_with("libsqlite3.so"));
    }
}
