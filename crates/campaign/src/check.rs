//! Checking scripts that a user wrote: every query goes to every oracle that can use it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use dissent_core::check::Read;
use dissent_core::finding::Origin;
use dissent_core::guide;
use dissent_core::import;

use crate::bugs::Bug;
use crate::campaign::suitable;
use crate::config::{Allowance, Config};
use crate::crash;
use crate::intake::Intake;
use crate::known::known_of;
use crate::observer::{Doing, Observer, Step};
use crate::pool::{self, Heard};
use crate::scripts;
use crate::share::alone;
use crate::store::{CampaignFile, Store};
use crate::tested::Tested;
use crate::worker::protocol::{Difference, Event, Label, OracleTally, Script, ScriptsTask, Tally, Task};

/// What reducing one finding may cost: whoever checks a script waits for it.
const REDUCTION: Allowance = Allowance { checks: 5_000, time: Duration::from_secs(30) };

/// Scripts by their paths; a file that lists several is as many.
pub fn read_scripts(paths: &[PathBuf]) -> anyhow::Result<Vec<Script>> {
    let mut scripts = Vec::new();
    for path in scripts::files(paths)? {
        let name = match path == Path::new(scripts::STANDARD_INPUT) {
            true => "standard input".to_string(),
            false => path.display().to_string(),
        };
        let texts = import::scripts(&name, &scripts::read(&path)?);
        scripts.extend(texts.into_iter().map(|text| Script { name: name.clone(), text }));
    }
    Ok(scripts)
}

/// How far the worker is with the script that it is at.
#[derive(Default)]
struct UnderWay {
    statements: usize,
    queries: usize,
    /// What its process had run when it came to this script; none: before it has run anything of it.
    ran_before: Option<u64>,
}

impl UnderWay {
    fn begin(&mut self, statements: usize, queries: usize) {
        *self = UnderWay { statements, queries, ran_before: None };
    }

    /// Of several scripts, how many are done. One alone is first run as it is written and as we print it, then its
    /// queries are checked.
    fn tell(&mut self, name: &str, scripts: (usize, usize), doing: &Doing, observer: &mut dyn Observer) {
        let ran = doing.statements - *self.ran_before.get_or_insert(doing.statements);
        let step = match doing.case {
            _ if scripts.1 > 1 => Step { what: "checking scripts", name, done: scripts.0, all: scripts.1 },
            _ if self.statements == 0 => return,
            0 => Step {
                what: "running",
                name,
                done: (ran as usize / 2).min(self.statements),
                all: self.statements,
            },
            case => Step { what: "checking queries", name, done: case as usize - 1, all: self.queries },
        };
        observer.step(&step);
    }
}

/// A check of some scripts, and its result.
pub struct ScriptCheck {
    /// What was checked.
    pub scripts: Vec<Script>,
    /// What was tested.
    pub tested: Tested,
    /// What was read of each; none for one that the engine did not survive.
    pub read: Vec<Option<Read>>,
    /// Differences that held; `Origin::database` is the script's number, `Origin::case` that of the query.
    pub findings: Vec<Difference>,
    /// Differences that were gone on a fresh database.
    pub unstable: usize,
    tally: Tally,
    config: Config,
}

impl ScriptCheck {
    /// Goes through scripts in a process of its own; in another one after each that the engine does not survive.
    /// Of the configuration only what concerns the target, the oracles and the limits of a worker is used.
    pub fn run(
        config: &Config,
        scripts: Vec<Script>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<ScriptCheck> {
        let mut config = Config { seed: 0, jobs: 1, guide: guide::Kind::None, ..config.clone() };
        config.settle()?;
        let tested = Tested::obtain(&config, observer)?;
        config.target = tested.target.clone();
        config.oracles = suitable(&config.oracles, &tested, observer)?;
        config.reduce = Some(REDUCTION);
        let mut check = ScriptCheck {
            scripts,
            tested,
            read: Vec::new(),
            findings: Vec::new(),
            unstable: 0,
            tally: Tally::default(),
            config,
        };
        while check.read.len() < check.scripts.len() {
            check.go_on(observer)?;
        }
        Ok(check)
    }

    /// One worker, from the first script that none has dealt with.
    fn go_on(&mut self, observer: &mut dyn Observer) -> anyhow::Result<()> {
        let task = Task::CheckScripts(ScriptsTask {
            oracles: self.config.oracles.clone(),
            scripts: self.scripts.clone(),
            skip: self.read.len(),
        });
        let mut unreadable = None;
        let mut under_way = UnderWay::default();
        let ended = pool::watch(&self.tested.place.clone(), &task, |heard| match heard {
            Heard::Doing(doing) => {
                let name = self.scripts.get(self.read.len()).map_or("", |script| &script.name);
                let scripts = (self.read.len(), self.scripts.len());
                under_way.tell(name, scripts, &doing, observer);
            }
            Heard::Said(event) => match event {
                Event::ScriptRead { statements, queries } => under_way.begin(statements, queries),
                Event::Progress(tally) => self.tally.add(*tally),
                Event::ScriptChecked(read) => self.read.push(Some(read)),
                Event::Finding(found) => self.findings.push(*found),
                Event::Unstable(_) => self.unstable += 1,
                Event::Unreadable(why) => unreadable = Some(why),
                _ => {}
            },
        })?;
        if let Some(why) = unreadable {
            return Err(anyhow!("cannot read the worker's message ({why})"));
        }
        if self.read.len() < self.scripts.len() {
            let fatal = crash::difference(&ended, 0);
            let fatal = fatal.ok_or_else(|| ended.failure("the worker process ended too early"))?;
            let origin = Origin { database: self.read.len() as u64, ..fatal.origin };
            self.findings.push(Difference { origin, ..fatal });
            self.read.push(None);
        }
        Ok(())
    }

    /// The verdicts of each oracle.
    pub fn oracles(&self) -> &BTreeMap<Label, OracleTally> {
        &self.tally.oracles
    }

    /// `FILE:LINE` of the query that a finding is about; `FILE`, where the whole script is.
    pub fn place(&self, origin: &Origin) -> String {
        let number = origin.database as usize;
        let read = self.read.get(number).and_then(Option::as_ref);
        let line = read.and_then(|read| read.queries.get((origin.case as usize).wrapping_sub(1)));
        let name = self.scripts.get(number).map(|script| script.name.as_str()).unwrap_or_default();
        line.map_or_else(|| name.to_string(), |line| format!("{name}:{line}"))
    }

    /// Puts the findings on disk as a hunt does: reduced, each bug once, what is known marked as such. The directory
    /// must not exist or be empty.
    pub fn keep(&self, out: &Path, observer: &mut dyn Observer) -> anyhow::Result<Vec<Bug>> {
        let known = known_of(self.tested.dialect_name(), &self.tested.engine_version, &self.config.known)?;
        let store = Store::create(Some(out), &CampaignFile::new(&self.config, &self.tested))?;
        let mut intake = Intake::new(&self.config, &self.tested, &known, &store, alone());
        for found in &self.findings {
            intake.take(found.clone(), 0, observer)?;
            while intake.waiting() > 0 {
                intake.collect(pool::TICK, observer)?;
            }
        }
        intake.close()?;
        Ok(intake.into_bugs())
    }
}
