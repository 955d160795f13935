//! A campaign on disk: `campaign.json`, a directory per finding, `summary.json`.
//!
//! Everything appears by renaming what is complete, so a kill at any moment leaves no half finding.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::report;
use serde::Serialize;

use super::Plan;
use super::bugs::Bug;
use super::record::{self, FINDING_FILE, ORIGINAL_FINDING_FILE, pretty};
use crate::duration::UtcTime;
use crate::system;

pub const CAMPAIGN_FILE: &str = "campaign.json";
const SUMMARY_FILE: &str = "summary.json";
pub const FINDINGS: &str = "findings";
const UNSTABLE: &str = "unstable";
const DUPLICATES: &str = "duplicates";
/// Where campaigns go that the user names no place for.
pub const DEFAULT_PARENT: &str = "dissent-out";
pub const BUGS_FILE: &str = "bugs.json";

/// `campaign.json`: what was run, enough to run it again.
#[derive(Serialize)]
struct CampaignFile<'a> {
    format: u32,
    dissent_version: &'a str,
    started: String,
    target: &'a str,
    dialect: &'a str,
    engine_version: &'a str,
    oracles: &'a [String],
    seed: u64,
    jobs: u64,
    time_seconds: Option<u64>,
    max_cases: Option<u64>,
    max_findings: Option<u64>,
    hang_limit_seconds: u64,
}

pub struct Store {
    root: PathBuf,
    /// Shared with the thread that reduces.
    dialect: Arc<Dialect>,
}

/// A finding that is on disk.
#[derive(Clone, Debug)]
pub struct StoredFinding {
    pub id: String,
    pub directory: PathBuf,
}

/// Refuses a directory that holds anything: nothing of the user's, and no campaign, is ever overwritten.
pub fn check_vacant(directory: &Path) -> anyhow::Result<()> {
    let shown = directory.display();
    let mut entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            bail!("the output directory {shown} is a file; give another path with --out")
        }
        Err(error) => bail!("cannot read the output directory {shown}: {error}"),
    };
    if directory.join(CAMPAIGN_FILE).exists() {
        bail!(
            "{shown} already holds a campaign; give another directory with --out, or remove this one first"
        );
    }
    if entries.next().is_some() {
        bail!("the output directory {shown} is not empty and not Dissent's; give another one with --out");
    }
    Ok(())
}

impl Store {
    /// Makes the directory: the one the user named, or a new one named after the target and the time.
    pub fn create(named: Option<&Path>, plan: &Plan) -> anyhow::Result<Store> {
        let now = UtcTime::now();
        let root = match named {
            Some(directory) => {
                check_vacant(directory)?;
                fs::create_dir_all(directory)
                    .with_context(|| format!("cannot make the output directory {}", directory.display()))?;
                directory.to_path_buf()
            }
            None => create_default(&plan.target, &now)?,
        };
        let store = Store { root, dialect: Arc::new(Dialect::load(&plan.dialect, &plan.engine_version)?) };
        let campaign = CampaignFile {
            format: 1,
            dissent_version: env!("CARGO_PKG_VERSION"),
            started: now.rfc3339(),
            target: &plan.target,
            dialect: &plan.dialect,
            engine_version: &plan.engine_version,
            oracles: &plan.oracles,
            seed: plan.seed,
            jobs: plan.jobs,
            time_seconds: plan.time.map(|time| time.as_secs()),
            max_cases: plan.max_cases,
            max_findings: plan.max_findings,
            hang_limit_seconds: plan.hang_limit.as_secs(),
        };
        store.write(CAMPAIGN_FILE, &pretty(&campaign)?)?;
        Ok(store)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Puts a finding on disk; `None` if it is there already.
    pub fn add_finding(&self, finding: &Finding) -> anyhow::Result<Option<StoredFinding>> {
        let files = record::new_files(finding, &self.dialect)?;
        self.add(FINDINGS, finding, &files)
    }

    /// Keeps a difference that did not hold; `None` if it is there already.
    pub fn add_unstable(&self, finding: &Finding) -> anyhow::Result<Option<StoredFinding>> {
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
            .with_context(|| format!("cannot put {} in the place of {}", other.display(), one.display()))
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
        let parent = self.root.join(kind);
        let to = parent.join(directory.file_name().unwrap_or_default());
        fs::create_dir_all(&parent)
            .and_then(|()| fs::rename(directory, &to))
            .with_context(|| format!("cannot move {} to {}", directory.display(), to.display()))
    }

    /// `bugs.json`: the list of bugs with their counts.
    pub fn write_bugs(&self, bugs: &[Bug]) -> anyhow::Result<()> {
        self.write(BUGS_FILE, &pretty(&bugs)?)
    }

    pub fn write_summary(&self, json: &str) -> anyhow::Result<()> {
        self.write(SUMMARY_FILE, json)
    }

    fn add(
        &self,
        kind: &str,
        finding: &Finding,
        files: &[(&str, String)],
    ) -> anyhow::Result<Option<StoredFinding>> {
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
            return Ok(Some(StoredFinding { id, directory }));
        }
        Ok(None)
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        record::replace(&self.root.join(name), text)
    }
}

/// Whether a directory holds a campaign.
pub fn is_campaign(directory: &Path) -> bool {
    directory.join(CAMPAIGN_FILE).is_file()
}

/// The directories of a campaign's findings, by name.
pub fn finding_directories(campaign: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let parent = campaign.join(FINDINGS);
    let entries = match fs::read_dir(&parent) {
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

/// Half written by a campaign that was killed.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn write_directory(parent: &Path, id: &str, files: &[(&str, String)]) -> std::io::Result<()> {
    let temporary = parent.join(format!(".{id}.tmp"));
    fs::create_dir_all(&temporary)?;
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
        .and_then(|bytes| serde_json::from_slice::<Finding>(&bytes).ok())
        .is_some_and(|stored| stored.subject == finding.subject)
}

/// `dissent-out/sqlite-3.30.1-20240229-235959`; two hunts in one second get a number.
fn create_default(target: &str, now: &UtcTime) -> anyhow::Result<PathBuf> {
    let parent = Path::new(DEFAULT_PARENT);
    fs::create_dir_all(parent)
        .context("cannot make the output directory dissent-out (--out names another place)")?;
    let name = format!("{}-{}", file_name_safe(target), now.compact());
    for attempt in 1..100 {
        let suffix = if attempt == 1 { String::new() } else { format!("-{attempt}") };
        let directory = parent.join(format!("{name}{suffix}"));
        match fs::create_dir(&directory) {
            Ok(()) => return Ok(directory),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => bail!("cannot make the output directory {}: {error}", directory.display()),
        }
    }
    bail!("dissent-out holds too many campaigns of this second; give another directory with --out")
}

fn file_name_safe(target: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' };
    let name: String = target.chars().map(safe).collect();
    // The end of a path says more than its beginning, and file names have a limit.
    let start = name.len().saturating_sub(60);
    name[start..].trim_start_matches(['-', '.']).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissent_core::finding::{Class, Evidence, FINDING_FORMAT, Origin};
    use dissent_core::sql::Statement;
    use dissent_core::subject::Subject;

    fn finding(sql: &str) -> Finding {
        Finding {
            format: FINDING_FORMAT,
            target: "sqlite".to_string(),
            dialect: "sqlite".to_string(),
            engine_version: "3.30.1".to_string(),
            subject: Subject {
                oracle: "norec".to_string(),
                setup: Vec::new(),
                tests: vec![Statement::Raw(sql.to_string())],
                exprs: Vec::new(),
                choices: Default::default(),
            },
            evidence: Evidence {
                class: Class::WrongRows,
                relation: String::new(),
                arms: Vec::new(),
                difference: String::new(),
            },
            origin: Origin { seed: 1, database: 2, case: 3 },
            triage: Default::default(),
        }
    }

    fn store(root: &Path) -> Store {
        Store { root: root.to_path_buf(), dialect: Arc::new(Dialect::load("sqlite", "3.30.1").unwrap()) }
    }

    #[test]
    fn a_finding_is_a_directory_with_four_files_and_appears_once() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let stored = store.add_finding(&finding("SELECT 1")).unwrap().unwrap();
        for name in [FINDING_FILE, "repro.sql", "report.md", "original.sql"] {
            assert!(stored.directory.join(name).is_file(), "{name}");
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
        let long = format!("sqlite:path=/{}/libsqlite3.so", "x".repeat(300));
        assert!(file_name_safe(&long).len() <= 60 && file_name_safe(&long).ends_with("libsqlite3.so"));
    }
}
