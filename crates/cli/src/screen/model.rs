//! What the live view knows: the latest figures, how they got there, and the findings with their stages.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use dissent_campaign::{Campaign, OracleTally, Phase, Progress, Stage, Staged, WorkerView};
use dissent_core::guide;

use super::history::{Growth, Rate};

/// Findings that are remembered; of more, the oldest that are no bugs of their own are forgotten.
const MOST_ENTRIES: usize = 300;

/// Everything that is drawn.
pub struct Model {
    pub target: String,
    pub limit: Option<Duration>,
    /// What the guide counts: `plans`, `blocks`; none without a guide.
    pub features: Option<&'static str>,
    pub figures: Figures,
    pub oracles: Vec<OracleLine>,
    pub workers: Vec<WorkerView>,
    pub checks: Rate,
    pub statements: Rate,
    pub growth: Growth,
    pub last_new: Option<Duration>,
    pub notes: Vec<String>,
    pub selected: Option<String>,
    pub page: Option<Page>,
    entries: Vec<Entry>,
    arrived: u64,
    /// How many findings came to which end.
    ends: BTreeMap<&'static str, u64>,
}

/// As in [`Progress`].
#[derive(Clone, Copy)]
pub struct Figures {
    pub elapsed: Duration,
    pub phase: Phase,
    pub databases: u64,
    pub statements: u64,
    pub statements_ok: u64,
    pub checks: u64,
    pub waiting: usize,
    pub features: u64,
    pub kept: u64,
    pub probing: Option<(usize, usize)>,
}

/// One oracle.
pub struct OracleLine {
    pub name: String,
    pub checks: u64,
    pub skips: u64,
    /// Differences it reported, whatever became of them.
    pub alarms: u64,
    /// New bugs.
    pub bugs: u64,
    /// Its part of the time that the engine spends on checks.
    pub share: f64,
}

/// One finding.
pub struct Entry {
    pub id: String,
    pub state: State,
    pub title: String,
    oracle: String,
    directory: PathBuf,
    arrived: u64,
}

/// The stage of a finding.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    Reducing,
    Confirming,
    New,
    Waiting,
    Known(String),
    Duplicate(String),
    Unstable,
}

impl State {
    fn of(stage: Stage) -> State {
        match stage {
            Stage::Waiting => State::Waiting,
            Stage::Confirming => State::Confirming,
            Stage::Reducing => State::Reducing,
            Stage::New => State::New,
            Stage::Duplicate(of) => State::Duplicate(of.to_string()),
            Stage::Known(id) => State::Known(id.to_string()),
            Stage::Unstable => State::Unstable,
        }
    }

    fn is_end(&self) -> bool {
        !matches!(self, State::Waiting | State::Confirming | State::Reducing)
    }

    /// The place in the list: what is over and led to nothing new comes last.
    fn rank(&self) -> u8 {
        match self {
            State::Reducing | State::Confirming => 0,
            State::New => 1,
            State::Waiting => 2,
            State::Known(_) | State::Duplicate(_) | State::Unstable => 3,
        }
    }
}

/// The report of a bug, being read.
pub struct Page {
    pub title: String,
    pub text: String,
    pub scroll: u16,
}

impl Model {
    pub fn new(campaign: &Campaign) -> Model {
        let (config, tested) = (campaign.config(), campaign.tested());
        let line = |name: &String| OracleLine {
            name: name.clone(),
            checks: 0,
            skips: 0,
            alarms: 0,
            bugs: 0,
            share: 0.0,
        };
        Model {
            target: format!("{} (version {})", tested.target, tested.engine_version),
            limit: config.time,
            features: match config.guide {
                guide::Kind::Plan => Some("plans"),
                guide::Kind::Coverage => Some("blocks"),
                guide::Kind::None => None,
            },
            figures: Figures::default(),
            oracles: config.oracles.iter().map(line).collect(),
            workers: Vec::new(),
            checks: Rate::default(),
            statements: Rate::default(),
            growth: Growth::default(),
            last_new: None,
            notes: Vec::new(),
            selected: None,
            page: None,
            entries: Vec::new(),
            arrived: 0,
            ends: BTreeMap::new(),
        }
    }

    pub fn take(&mut self, progress: &Progress) {
        let Progress { elapsed, phase, databases, statements, statements_ok, checks, waiting, .. } =
            *progress;
        let Progress { features, kept, probing, .. } = *progress;
        self.figures = Figures {
            elapsed,
            phase,
            databases,
            statements,
            statements_ok,
            checks,
            waiting,
            features,
            kept,
            probing,
        };
        self.workers.clear();
        self.workers.extend_from_slice(progress.workers);
        self.checks.take(checks, elapsed);
        self.statements.take(statements, elapsed);
        self.growth.take(features, elapsed);
        let all = progress.account.arm_nanos() + progress.account.scaffold_nanos();
        for line in &mut self.oracles {
            let Some(tally) = progress.oracles.get(line.name.as_str()) else { continue };
            let OracleTally { checks, alarms, skips, .. } = tally;
            (line.checks, line.alarms, line.skips) = (*checks, *alarms, skips.values().sum());
            let spent = progress.account.checks.get(line.name.as_str());
            line.share = spent.map_or(0.0, |spent| spent.nanos() as f64 / all.max(1) as f64);
        }
    }

    pub fn stage(&mut self, staged: &Staged) {
        let state = State::of(staged.stage);
        if state == State::New {
            self.last_new = Some(self.figures.elapsed);
        }
        if state.is_end() {
            *self.ends.entry(state.word()).or_insert(0) += 1;
        }
        let line = self.oracles.iter_mut().find(|line| line.name == staged.oracle);
        let known = self.entries.iter_mut().find(|entry| entry.id == staged.id);
        if let Some(line) = line {
            line.bugs += u64::from(state == State::New);
        }
        let title = staged.title.to_string();
        match known {
            Some(entry) => (entry.state, entry.title) = (state, title),
            None => {
                self.arrived += 1;
                let (id, oracle) = (staged.id.to_string(), staged.oracle.to_string());
                let directory = staged.directory.to_path_buf();
                self.entries.push(Entry { id, state, title, oracle, directory, arrived: self.arrived });
            }
        }
        self.entries.sort_by_key(|entry| (entry.state.rank(), std::cmp::Reverse(entry.arrived)));
        self.entries.truncate(MOST_ENTRIES);
    }

    /// Findings: those under way first, then new bugs, then the rest; the newest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many findings came to an end of this kind.
    pub fn ended(&self, word: &str) -> u64 {
        self.ends.get(word).copied().unwrap_or(0)
    }

    /// The place of the selected finding in the list.
    pub fn selection(&self) -> usize {
        let at = self.selected.as_ref().and_then(|id| self.entries.iter().position(|entry| entry.id == *id));
        at.unwrap_or(0)
    }

    /// Selects the finding so many places further down.
    pub fn select(&mut self, by: isize) {
        let last = self.entries.len().saturating_sub(1);
        let at = self.selection().saturating_add_signed(by).min(last);
        self.selected = self.entries.get(at).map(|entry| entry.id.clone());
    }

    /// Opens the report of the selected finding, or of the bug that it is.
    pub fn open(&mut self) {
        let Some(entry) = self.entries.get(self.selection()) else { return };
        let of = match &entry.state {
            State::Duplicate(id) => self.entries.iter().find(|other| other.id == *id).unwrap_or(entry),
            _ => entry,
        };
        self.selected = Some(entry.id.clone());
        let path = of.directory.join("report.md");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|_| {
            format!("{} has no report: it was not confirmed, or is counted only.", entry.id)
        });
        let title = format!("{} ({}, {})", of.directory.display(), of.oracle, entry.state.word());
        self.page = Some(Page { title, text, scroll: 0 });
    }
}

impl State {
    pub fn word(&self) -> &'static str {
        match self {
            State::Reducing => "reducing",
            State::Confirming => "confirming",
            State::New => "new",
            State::Waiting => "waiting",
            State::Known(_) => "known",
            State::Duplicate(_) => "duplicate",
            State::Unstable => "unstable",
        }
    }
}

impl Default for Figures {
    fn default() -> Figures {
        Figures {
            elapsed: Duration::ZERO,
            phase: Phase::Hunting,
            databases: 0,
            statements: 0,
            statements_ok: 0,
            checks: 0,
            waiting: 0,
            features: 0,
            kept: 0,
            probing: None,
        }
    }
}
