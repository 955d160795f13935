//! The result of a check, and what is saved of it.

mod cause;
mod format;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::engine::{Reply, Rows, SqlError};
use crate::sql::Value;
use crate::subject::TestCase;

pub use cause::{Cause, Switch};
pub use format::FormatError;

/// The outcome of one check.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// The arms agree. `nonempty`: at least one of them returned something to compare.
    Pass {
        /// Whether any arm returned a row.
        nonempty: bool,
    },
    /// No conclusion is possible; counted by reason.
    Skip(Cow<'static, str>),
    /// The relation between the arms does not hold.
    Bug(Box<Evidence>),
}

impl Verdict {
    /// No conclusion is possible, for this reason.
    pub fn skip(reason: &'static str) -> Verdict {
        Verdict::Skip(Cow::Borrowed(reason))
    }

    /// The verdict on results that may differ in nothing but what is empty.
    pub fn pass(rows: &Rows) -> Verdict {
        Verdict::Pass { nonempty: !rows.is_empty() }
    }
}

/// Why a verdict is a bug, as data: only reports turn it into text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// How severe it is.
    pub class: Class,
    /// The relation that should hold between the arms, in one sentence.
    pub relation: String,
    /// What ran, in order.
    pub arms: Vec<Arm>,
    /// How the relation fails.
    pub failure: Failure,
    /// Which part is likely wrong, in one sentence, where the oracle can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

impl Evidence {
    /// The engine's message, if the failure is an error.
    pub fn error(&self) -> Option<&SqlError> {
        match &self.failure {
            Failure::OneSided { error } | Failure::Harm { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// How a relation between arms fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// Two results that should have the same rows do not.
    Rows {
        /// The result of the first query.
        first: Side,
        /// That of the second.
        second: Side,
    },
    /// Two results have a different number of columns.
    Columns {
        /// Of the first.
        first: usize,
        /// Of the second.
        second: usize,
    },
    /// Two queries that should count the same rows do not.
    Counts {
        /// The first count.
        first: i64,
        /// The second.
        second: i64,
    },
    /// Two results should have the same number of rows.
    Lengths {
        /// Rows of the first.
        first: usize,
        /// Rows of the second.
        second: usize,
    },
    /// Each row of one result should have a partner in the other, and this one has none.
    Unpaired {
        /// Whether it is a row of the first result.
        in_first: bool,
        /// The row.
        row: Vec<Value>,
        /// Rows of the first result.
        first: usize,
        /// Rows of the second.
        second: usize,
    },
    /// The same rows, but not in the order in which they should be.
    Order {
        /// The first place at which they differ, counted from 1.
        place: usize,
        /// The row that is there.
        returned: Vec<Value>,
        /// The row that should be.
        expected: Vec<Value>,
    },
    /// One arm fails, another does not.
    OneSided {
        /// The error.
        error: SqlError,
    },
    /// The engine reports that it is broken, or the connection to it is lost.
    Harm {
        /// What it said last.
        error: SqlError,
        /// Where it was when it died, the innermost function first, if its log tells.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stack: Vec<String>,
    },
    /// The process with the engine died.
    Death {
        /// `SIGSEGV`.
        cause: String,
        /// It died while the statement ran, not after it.
        running: bool,
        /// It was out of memory.
        out_of_memory: bool,
        /// The last line on its standard error.
        last_words: String,
    },
    /// A statement had to be killed.
    Hang {
        /// After this many seconds.
        seconds: u64,
    },
    /// A finding of an earlier version of Dissent, as text.
    Described(String),
}

/// One of two results, as far as a reader needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// How many rows it has.
    pub rows: usize,
    /// How many of them the other one lacks.
    pub only: usize,
    /// Some of these.
    pub examples: Vec<Vec<Value>>,
}

/// One way of asking, and the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// What this arm stands for: `the predicate in WHERE`, `rows where p IS NULL`.
    pub label: String,
    /// The statement as it was sent.
    pub sql: String,
    /// What the engine said.
    pub outcome: ArmOutcome,
    /// The engine's plan for it, where it could be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

/// An answer as evidence keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmOutcome {
    /// A result set.
    Rows(Rows),
    /// Done, without a result set.
    Done,
    /// An error.
    Error(SqlError),
}

impl From<Reply> for ArmOutcome {
    fn from(reply: Reply) -> ArmOutcome {
        match reply {
            Reply::Rows(rows) => ArmOutcome::Rows(rows),
            Reply::Done { .. } => ArmOutcome::Done,
            Reply::Failed(error) => ArmOutcome::Error(error),
        }
    }
}

/// How severe a difference is; lists use this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Rows are missing, or there are too many.
    WrongRows,
    /// As many rows, but other values.
    WrongValues,
    /// The engine's process ended.
    Crash,
    /// A statement did not end in time.
    Hang,
    /// The engine says itself that something is wrong inside.
    InternalError,
    /// One arm raises an error from which no condition spares the other.
    ErrorDivergence,
    /// Equal values that are spelled or typed in different ways.
    Representation,
    /// Two versions answer differently; which of them is right, if only one is, the difference does not say.
    Changed,
}

impl Class {
    /// The word for it in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Class::WrongRows => "wrong-rows",
            Class::WrongValues => "wrong-values",
            Class::Crash => "crash",
            Class::Hang => "hang",
            Class::InternalError => "internal-error",
            Class::ErrorDivergence => "error-divergence",
            Class::Representation => "representation",
            Class::Changed => "changed",
        }
    }
}

impl Class {
    /// How it fails, as a cause is named: a wrong row shows as a wrong value where the query counts rows.
    pub fn grade(self) -> &'static str {
        match self {
            Class::WrongRows | Class::WrongValues => "wrong-result",
            other => other.name(),
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The contents of `finding.json`: the truth about a finding, enough to replay it without a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The version of this format.
    pub format: u32,
    /// The target as the user named it, without credentials: `sqlite@3.30.1`.
    pub target: String,
    /// The dialect: `sqlite`.
    pub dialect: String,
    /// The version that failed.
    pub engine_version: String,
    /// The test case that fails.
    pub case: TestCase,
    /// What the arms answered and how their relation fails.
    pub evidence: Evidence,
    /// Where it came from: enough to see it happen again in a hunt.
    pub origin: Origin,
    /// What was learned about it since.
    #[serde(default, skip_serializing_if = "Triage::is_empty")]
    pub triage: Triage,
}

/// The other of two versions or engines that were compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Against {
    /// The target as the user named it, without credentials.
    pub target: String,
    /// Its engine as its makers write it, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The version that it says it has.
    pub engine_version: String,
    /// Which of the two is wrong, where another oracle shows that on one of them alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<WrongVersion>,
}

/// The wrong one of two versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongVersion {
    /// That version.
    pub engine_version: String,
    /// The oracle that disagrees with itself there, and not on the other.
    pub oracle: String,
}

/// The version of `finding.json` that is written. Format 1 is read as well.
pub const FINDING_FORMAT: u32 = 2;

/// What is known about a finding beyond what the hunt saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Triage {
    /// How it was reduced, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduction: Option<ReductionNote>,
    /// Findings with one signature are one bug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// What makes it vanish, once that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Which versions fail, once bisected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// Whether the newest version fails, once it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<Newest>,
    /// Whether it fails with the settings that the engine comes with, where Dissent tests with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_defaults: Option<bool>,
    /// What is known of the engine that was tested beyond its version.
    #[serde(default, skip_serializing_if = "EngineNote::is_empty")]
    pub engine: EngineNote,
    /// The version that it was compared with, of a finding of class `changed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// The baseline, if that shows it as well: then it is not new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also_on: Option<String>,
}

/// What an engine says of itself, and where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineNote {
    /// Its full version, with the source or the compiler if it tells: `3.30.1 2019-10-10 20:19:45 18db032d…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// How it was built: `compiled by Dissent with -O2 -DSQLITE_ENABLE_STAT4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<String>,
}

impl EngineNote {
    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == EngineNote::default()
    }
}

/// A replay on the newest version of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Newest {
    /// That version.
    pub version: String,
    /// It fails there too.
    pub fails: bool,
}

/// What a reduced finding has in common with others of the same cause.
///
/// Shown as `wrong-result: left-join row-value`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Signature {
    /// How it fails: the name of a class, or `wrong-result` for wrong rows and wrong values alike.
    pub fails: String,
    /// The words of the engine's message that do not depend on the example.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub message: Vec<String>,
    /// The SQL features that it needs.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub features: BTreeSet<String>,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.message.iter().chain(&self.features).map(String::as_str).collect();
        write!(f, "{}: {}", self.fails, words.join(" "))
    }
}

impl Triage {
    /// Whether nothing has been done with it yet.
    pub fn is_empty(&self) -> bool {
        *self == Triage::default()
    }
}

/// How a subject was reduced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReductionNote {
    /// How many smaller forms were tried.
    pub checks: u64,
    /// Nothing more could be taken away; false where the budget ended first.
    pub complete: bool,
    /// Statements of the test case as it was found.
    pub statements_before: usize,
    /// Tokens of the test case as it was found.
    pub tokens_before: usize,
    /// Tokens that are left.
    pub tokens: usize,
    /// How long it took, confirmation and naming included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// The released versions between which a finding appeared and disappeared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The last version before the finding that does not show it; none if the oldest one checked does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_good: Option<String>,
    /// The first version that shows it.
    pub first_bad: String,
    /// The last version that shows it.
    pub last_bad: String,
    /// The first version after it that does not show it; none if the newest one checked still does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_good: Option<String>,
    /// It disappeared and came back in between.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub intermittent: bool,
    /// Versions that were checked.
    pub checked: usize,
}

/// Where in a hunt something was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The campaign's seed.
    pub seed: u64,
    /// The number of the database.
    pub database: u64,
    /// The number of the case on it; 0 while it was built.
    pub case: u64,
    /// How many times the database was mutated since it was generated or read from a script; 0 if it was generated.
    #[serde(default)]
    pub depth: u32,
    /// Checks of all workers until then, as of their last report.
    #[serde(default)]
    pub checks: u64,
}
