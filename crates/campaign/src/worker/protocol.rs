//! The messages between supervisor and worker: one job in, as JSON on standard input; events out, as JSON lines on
//! standard output. (The current statement is not a message; it is in the journal.)

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use dissent_core::catalog::{Operation, OperationKind, SampleType};
use dissent_core::check::Read as ScriptRead;
use dissent_core::dialect::Setting;
use dissent_core::finding::{Arm, ArmOutcome, Evidence, Origin, Verdict};
use dissent_core::profile::{Draws, Outcomes};
use dissent_core::session::Counts;
use dissent_core::subject::TestCase;
use dissent_core::triage::known::Avoid;
use dissent_engine::Source;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::stretch::Stretch;

/// Everything a worker gets when it starts.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    /// Where the worker finds its journal.
    pub journal: String,
    pub source: Source,
    /// Another version to compare with.
    pub other: Option<Source>,
    pub dialect: String,
    pub task: Task,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Task {
    /// Only open the engine and report its version.
    Open,
    Hunt(Box<HuntTask>),
    /// Probe what the engine can compute.
    Probe {
        /// Candidates that earlier workers have finished, or that crashed them.
        skip: usize,
    },
    /// Check a finding again and report everything that ran.
    Replay {
        case: Box<TestCase>,
        origin: Origin,
    },
    /// For the reducer: check subjects, one on each further line of the input.
    CheckSubjects(SubjectsTask),
    /// For `dissent check`: check the queries of scripts.
    CheckScripts(ScriptsTask),
    /// Run scripts as they are written, and report what each statement returns.
    RunScripts(RunTask),
}

impl Task {
    /// Whether further lines follow the job.
    pub fn takes_more(&self) -> bool {
        match self {
            Task::CheckSubjects(_) => true,
            Task::Hunt(task) => task.shares,
            _ => false,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HuntTask {
    pub config: Config,
    /// The number of this worker; all workers together visit each database once.
    pub worker: u64,
    /// The databases to visit, in this order.
    pub stretches: Vec<Stretch>,
    /// What the campaign shares with others comes in while it runs: further stretches, one on each line of the input (an
    /// empty one is the last), and entries of the corpus.
    pub shares: bool,
    pub max_cases: Option<u64>,
    /// What to generate rarely, because it triggers known bugs.
    pub avoid: Avoid,
    /// The file with the engine's catalog; without it, the dialect's own functions are used.
    pub catalog: Option<PathBuf>,
    /// The same of the version that it is compared with.
    pub other_catalog: Option<PathBuf>,
    /// Where what is new is kept.
    pub corpus: PathBuf,
    /// The map of the engine's code, if that is watched.
    pub map: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubjectsTask {
    pub origin: Origin,
    /// With more failing statements than these in its setup, a subject is not checked.
    pub setup_failures_allowed: usize,
    /// Close the database before answering: corrupted memory may show only then.
    pub look_after: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScriptsTask {
    pub oracles: Vec<String>,
    pub scripts: Vec<Script>,
    /// Scripts that earlier workers have finished, or that crashed them.
    pub skip: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunTask {
    /// The statements of each script.
    pub scripts: Vec<Vec<String>>,
    /// Scripts that earlier workers have finished, or that crashed them.
    pub skip: usize,
}

/// A script to check.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Script {
    /// Its name, which tells what kind it is: `.sql`, `.test`, `.jsonl` …
    pub name: String,
    /// Its text.
    pub text: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum Event {
    /// The engine is open.
    Ready {
        engine_version: String,
        /// All that it says of its version and build, for a task that asks for nothing else.
        about: Option<String>,
        /// The settings that no answer may depend on, those that it lists itself among them; for the same task.
        settings: Vec<Setting>,
    },
    /// What happened since the last of these.
    Progress(Box<Tally>),
    Finding(Box<Difference>),
    /// The first of the stretches is behind it.
    Walked,
    /// A difference that was gone on a fresh database.
    Unstable(Box<Difference>),
    Replayed(Box<Replayed>),
    /// What is going to be probed: how much, and with values of which types.
    Listed {
        candidates: usize,
        types: Vec<SampleType>,
    },
    /// The next candidate is being probed; its name and kind are used if it crashes the worker.
    Probing {
        name: String,
        kind: OperationKind,
    },
    /// What was learned of it.
    Probed(Vec<Operation>),
    SubjectChecked(Box<Checked>),
    /// The next script was read: so many statements, so many of them queries.
    ScriptRead {
        statements: usize,
        queries: usize,
    },
    /// The next script was gone through; what it made the oracles say was counted in a `Progress` before.
    ScriptChecked(ScriptRead),
    /// What the next statement of a script returned.
    Ran(ArmOutcome),
    /// The script was run as far as the engine was there for it.
    ScriptRan,
    /// Something that the user should know about the seeds.
    Remark(String),
    /// An error of our own; the worker ends after it.
    Trouble(String),
    /// A line that is not an event: made by the reader, so that nothing a worker wrote is lost silently.
    Unreadable(String),
}

/// A difference that an oracle saw.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Difference {
    /// Where it was seen.
    pub origin: Origin,
    /// What was checked.
    pub case: TestCase,
    /// How it failed.
    pub evidence: Evidence,
}

/// Names of oracles and reasons: written by the worker from constants, read by the supervisor as text.
pub type Label = Cow<'static, str>;

/// Everything that is counted while hunting.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    pub counts: Counts,
    pub databases: u64,
    pub cases: u64,
    pub oracles: BTreeMap<Label, OracleTally>,
    /// By their numbers in the catalog: how often operations were in a case, and in one all of whose
    /// statements succeeded.
    #[serde(default)]
    pub operations: BTreeMap<u32, (u64, u64)>,
    /// How often choices of the generator were drawn.
    #[serde(default)]
    pub draws: Draws,
    /// What became of what was drawn.
    #[serde(default)]
    pub outcomes: Outcomes,
    #[serde(default)]
    pub learned: Learned,
    /// How long the worker has lived; the engine's share of it is `counts.engine_nanos`.
    pub wall_nanos: u64,
}

/// What the guide saw.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Learned {
    pub features: BTreeSet<u32>,
    /// Databases with queries that were kept.
    pub kept: u64,
    /// How often the one that was changed most often was changed.
    pub deepest: u32,
    /// Statements of changed databases, and those of them that succeeded.
    pub changed: u64,
    pub changed_ok: u64,
}

impl Learned {
    pub fn add(&mut self, other: Learned) {
        self.features.extend(other.features);
        self.kept += other.kept;
        self.deepest = self.deepest.max(other.deepest);
        self.changed += other.changed;
        self.changed_ok += other.changed_ok;
    }
}

/// The verdicts of an oracle.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OracleTally {
    /// Comparisons that came to a verdict.
    pub checks: u64,
    /// Comparisons in which at least one arm returned a row.
    pub nonempty: u64,
    /// Comparisons that failed, before any of them was confirmed.
    #[serde(default)]
    pub alarms: u64,
    /// Comparisons that came to none, by reason.
    pub skips: BTreeMap<Label, u64>,
}

impl OracleTally {
    pub(crate) fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Skip(reason) => *self.skips.entry(reason.clone()).or_insert(0) += 1,
            Verdict::Pass { nonempty } => {
                self.checks += 1;
                self.nonempty += u64::from(*nonempty);
            }
            Verdict::Bug(_) => {
                self.checks += 1;
                self.nonempty += 1;
                self.alarms += 1;
            }
        }
    }
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.counts.add(other.counts);
        self.learned.add(other.learned);
        self.draws.add(&other.draws);
        self.outcomes.add(&other.outcomes);
        for (operation, (drawn, valid)) in other.operations {
            let mine = self.operations.entry(operation).or_insert((0, 0));
            *mine = (mine.0 + drawn, mine.1 + valid);
        }
        self.databases += other.databases;
        self.cases += other.cases;
        self.wall_nanos += other.wall_nanos;
        self.add_verdicts(&other.oracles);
    }

    /// Adds what oracles said elsewhere or later.
    pub fn add_verdicts(&mut self, oracles: &BTreeMap<Label, OracleTally>) {
        for (oracle, tally) in oracles {
            let mine = self.oracles.entry(oracle.clone()).or_default();
            mine.checks += tally.checks;
            mine.nonempty += tally.nonempty;
            mine.alarms += tally.alarms;
            for (reason, count) in &tally.skips {
                *mine.skips.entry(reason.clone()).or_insert(0) += count;
            }
        }
    }

    pub fn checks(&self) -> u64 {
        self.oracles.values().map(|tally| tally.checks).sum()
    }

    pub fn nonempty(&self) -> u64 {
        self.oracles.values().map(|tally| tally.nonempty).sum()
    }
}

/// The result of a replay whose process lived.
#[derive(Debug, Serialize, Deserialize)]
pub struct Replayed {
    /// Statements of the setup that failed, with the engine's message.
    pub setup_failures: Vec<(String, String)>,
    /// Every statement the check ran after the setup.
    pub ran: Vec<Arm>,
    /// What the oracle said.
    pub outcome: CheckOutcome,
}

/// What an oracle said of a subject.
#[derive(Debug, Serialize, Deserialize)]
pub enum CheckOutcome {
    /// The arms agree.
    Agrees,
    /// It does not apply, for this reason.
    CannotTell(String),
    /// The arms differ.
    Differs(Box<Evidence>),
}

impl From<Verdict> for CheckOutcome {
    fn from(verdict: Verdict) -> CheckOutcome {
        match verdict {
            Verdict::Pass { .. } => CheckOutcome::Agrees,
            Verdict::Skip(reason) => CheckOutcome::CannotTell(reason.into_owned()),
            Verdict::Bug(evidence) => CheckOutcome::Differs(evidence),
        }
    }
}

/// The result of a check whose process lived.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checked {
    /// The numbers of the statements of the setup that failed.
    pub setup_failures: Vec<usize>,
    pub outcome: CheckOutcome,
}

/// The worker's end of the event stream.
pub struct Events {
    out: BufWriter<Box<dyn Write>>,
}

impl Events {
    pub fn to_stdout() -> Self {
        Events { out: BufWriter::new(Box::new(io::stdout())) }
    }

    /// To somebody else: a benchmark listens to itself.
    pub fn to(listener: Box<dyn Write>) -> Self {
        Events { out: BufWriter::new(listener) }
    }

    pub fn send(&mut self, event: &Event) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, event)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

/// The supervisor's end: hands over each event until the worker closes the stream.
pub fn read_events(stream: impl Read, mut each: impl FnMut(Event)) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    while stream.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        match serde_json::from_slice(&line) {
            Ok(event) => each(event),
            Err(error) if line.ends_with(b"\n") => each(Event::Unreadable(error.to_string())),
            // A worker that dies in the middle of a line leaves a torn one, which says nothing.
            Err(_) => {}
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissent_core::engine::ErrorClass;

    #[test]
    fn tallies_add_up_and_survive_the_pipe() {
        let mut tally = Tally { databases: 1, cases: 5, wall_nanos: 7, ..Tally::default() };
        tally.counts.statements = 10;
        tally.counts.errors.insert(ErrorClass::Constraint, 2);
        let oracle = tally.oracles.entry(Cow::Borrowed("norec")).or_default();
        oracle.checks = 3;
        oracle.nonempty = 2;
        oracle.skips.insert(Cow::Borrowed("both arms fail"), 1);

        let mut lines = Vec::new();
        for _ in 0..2 {
            serde_json::to_writer(&mut lines, &Event::Progress(Box::new(std::mem::take(&mut tally))))
                .unwrap();
            lines.push(b'\n');
            tally.databases = 1;
        }
        lines.extend_from_slice(b"nonsense\n{\"Progress\":{\"torn");
        let (mut total, mut unreadable) = (Tally::default(), 0);
        read_events(lines.as_slice(), |event| match event {
            Event::Progress(tally) => total.add(*tally),
            Event::Unreadable(_) => unreadable += 1,
            other => panic!("{other:?}"),
        });
        assert_eq!(unreadable, 1);
        assert_eq!((total.databases, total.cases, total.checks(), total.nonempty()), (2, 5, 3, 2));
        assert_eq!(total.counts.errors[&ErrorClass::Constraint], 2);
        assert_eq!(total.oracles["norec"].skips["both arms fail"], 1);
    }
}
