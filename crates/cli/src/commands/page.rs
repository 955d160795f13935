//! Campaigns and findings on disk as the page that `report --format html` writes and `serve` serves.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use dissent_campaign::store::CampaignFile;
use dissent_campaign::{Bug, Summary, record, store};
use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::report::html;

use crate::text::shell_word;

/// What is read from disk for a page.
#[derive(Default)]
pub struct Contents {
    campaigns: Vec<html::Campaign>,
    bugs: Vec<Read>,
    /// Reading a dialect's file takes longer than reading a finding.
    dialects: BTreeMap<(String, String), Rc<Dialect>>,
}

/// A bug with what the page borrows.
struct Read {
    campaign: Option<usize>,
    finding: Finding,
    dialect: Rc<Dialect>,
    listed: Option<Bug>,
    directory: PathBuf,
}

impl Contents {
    /// Directories of campaigns, or of single findings.
    pub fn read(directories: &[PathBuf]) -> anyhow::Result<Contents> {
        let mut contents = Contents::default();
        for directory in directories {
            match store::is_campaign(directory) {
                true => contents.add_campaign(directory)?,
                false => contents.add_finding(directory)?,
            }
        }
        contents.bugs.sort_by_key(|read| {
            let (is_known, count) =
                read.listed.as_ref().map_or((false, 1), |bug| (bug.known.is_some(), bug.count));
            (is_known, read.finding.evidence.class, std::cmp::Reverse(count), name(&read.directory))
        });
        Ok(contents)
    }

    /// Whether there is a bug that was not known.
    pub fn has_new_bugs(&self) -> bool {
        self.bugs.iter().any(|read| read.listed.as_ref().is_none_or(|bug| bug.known.is_none()))
    }

    fn add_campaign(&mut self, directory: &Path) -> anyhow::Result<()> {
        let file = store::read_campaign(directory)?;
        // None yet in the first seconds of a hunt.
        let summary = store::read_summary(directory).unwrap_or_default();
        let listed = store::read_bugs(directory)?;
        let number = self.campaigns.len();
        let mut waiting = 0;
        for path in store::finding_directories(directory)? {
            let Some(bug) = listed.iter().find(|bug| bug.id == name(&path)) else {
                waiting += 1;
                continue;
            };
            // While a hunt runs, a finding may be gone a moment after it was listed.
            match record::read(&path) {
                Ok(finding) => self.add(Some(number), finding, Some(bug.clone()), &path)?,
                Err(_) if !path.exists() => {}
                Err(error) => return Err(error),
            }
        }
        let dialect = self.dialect(&file.dialect, &file.engine_version)?;
        let mut page = campaign(directory, &file, summary, &dialect, waiting);
        // Crashes and internal errors are found whichever oracles were chosen.
        for bug in &listed {
            if page.oracles.iter().all(|oracle| oracle.name != bug.oracle) {
                page.oracles.push(html::Oracle { name: bug.oracle.clone(), ..html::Oracle::default() });
            }
        }
        self.campaigns.push(page);
        Ok(())
    }

    fn add_finding(&mut self, path: &Path) -> anyhow::Result<()> {
        let finding = record::read(path)?;
        let directory = if path.is_file() { path.parent().unwrap_or(Path::new(".")) } else { path };
        self.add(None, finding, None, directory)
    }

    fn add(
        &mut self,
        campaign: Option<usize>,
        finding: Finding,
        listed: Option<Bug>,
        directory: &Path,
    ) -> anyhow::Result<()> {
        let dialect = self.dialect(&finding.dialect, &finding.engine_version)?;
        let directory = directory.to_path_buf();
        self.bugs.push(Read { campaign, finding, dialect, listed, directory });
        Ok(())
    }

    fn dialect(&mut self, name: &str, version: &str) -> anyhow::Result<Rc<Dialect>> {
        let key = (name.to_string(), version.to_string());
        if let Some(dialect) = self.dialects.get(&key) {
            return Ok(dialect.clone());
        }
        let dialect = Rc::new(Dialect::load(name, version)?);
        self.dialects.insert(key, dialect.clone());
        Ok(dialect)
    }

    /// The page. `nonce` is something nobody can guess; a live page asks its server for fresh figures.
    pub fn page(self, nonce: &str, live: bool) -> String {
        let several = self.campaigns.len() > 1;
        let bugs = self.bugs.iter().map(|read| bug(read, several)).collect();
        let written = format!("Dissent {}, {}", env!("CARGO_PKG_VERSION"), dissent_campaign::now());
        html::page(&html::Page { campaigns: self.campaigns, bugs, nonce, written, live })
    }
}

/// A number that nobody can guess.
pub fn nonce() -> String {
    (0..2).map(|_| format!("{:016x}", RandomState::new().build_hasher().finish())).collect()
}

fn bug(read: &Read, several: bool) -> html::Bug<'_> {
    let id = name(&read.directory);
    let known = read.listed.as_ref().and_then(|bug| bug.known.clone());
    html::Bug {
        anchor: match read.campaign {
            Some(number) if several => format!("{}-{id}", number + 1),
            _ => id.clone(),
        },
        id,
        campaign: read.campaign,
        finding: &read.finding,
        dialect: &read.dialect,
        state: match (known, &read.finding.triage.reduction) {
            (Some(known), _) => html::State::Known(known),
            (None, None) => html::State::NotReduced,
            (None, Some(_)) => html::State::New,
        },
        count: read.listed.as_ref().map_or(1, |bug| bug.count),
        replay: format!("dissent replay {}", shell_word(&read.directory.display().to_string())),
    }
}

fn campaign(
    directory: &Path,
    file: &CampaignFile,
    summary: Summary,
    dialect: &Dialect,
    waiting: u64,
) -> html::Campaign {
    let progress = match &summary.running {
        _ if summary.is_running() => html::Progress::Running,
        Some(_) => html::Progress::Interrupted,
        None => html::Progress::Ended,
    };
    let oracle = |name: &String| html::Oracle {
        name: name.clone(),
        time: summary.oracles.get(name.as_str()).map(|figures| figures.share),
        checks: summary.checks.get(name.as_str()).copied().unwrap_or(0),
        skips: summary
            .skips
            .get(name.as_str())
            .into_iter()
            .flatten()
            .map(|(why, count)| (why.to_string(), *count))
            .collect(),
    };
    html::Campaign {
        name: name(directory),
        target: file.config.target.clone(),
        engine: dialect.engine.title.clone(),
        version: file.engine_version.clone(),
        started: file.started.clone(),
        progress,
        seed: file.config.seed,
        jobs: file.config.jobs,
        wall_seconds: summary.wall_seconds,
        databases: summary.databases,
        statements: summary.statements,
        statements_ok: summary.statements_ok,
        checks: summary.checks.get("total").copied().unwrap_or(0),
        features: summary.guide.as_ref().map(|guide| (guide.guide.features(), guide.features)),
        oracles: file.config.oracles.iter().map(oracle).collect(),
        waiting,
        failures: summary.worker_failures,
        timeline: summary.timeline,
    }
}

fn name(directory: &Path) -> String {
    let whole = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
