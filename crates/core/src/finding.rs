//! What a check says, and what is kept of it.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::engine::{Rows, SqlError};
use crate::subject::Subject;

/// The outcome of one check.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// The arms agree. `nonempty`: at least one of them returned something to compare.
    Pass {
        nonempty: bool,
    },
    /// Nothing can be said; counted per reason.
    Skip(Cow<'static, str>),
    Bug(Box<Evidence>),
}

impl Verdict {
    pub fn skip(reason: &'static str) -> Verdict {
        Verdict::Skip(Cow::Borrowed(reason))
    }
}

/// Why a verdict is a bug, as data: rendered only in reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub class: Class,
    /// The relation that failed, in one sentence.
    pub relation: String,
    pub arms: Vec<Arm>,
    /// What differs, in one sentence: which row is missing, which value is other.
    pub difference: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// What this arm stands for: `optimised`, `partition: p IS NULL`.
    pub label: String,
    pub sql: String,
    pub outcome: ArmOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmOutcome {
    Rows(Rows),
    Done,
    Error(SqlError),
}

/// How grave a difference is; the order is the order in lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    WrongRows,
    WrongValues,
    Crash,
    Hang,
    InternalError,
    ErrorDivergence,
    Representation,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Class::WrongRows => "wrong-rows",
            Class::WrongValues => "wrong-values",
            Class::Crash => "crash",
            Class::Hang => "hang",
            Class::InternalError => "internal-error",
            Class::ErrorDivergence => "error-divergence",
            Class::Representation => "representation",
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
    pub engine_version: String,
    pub subject: Subject,
    pub evidence: Evidence,
    /// Where it came from: enough to see it happen again in a hunt.
    pub origin: Origin,
    /// What was done with it since.
    #[serde(default, skip_serializing_if = "Triage::is_empty")]
    pub triage: Triage,
}

pub const FINDING_FORMAT: u32 = 1;

/// What is known of a finding beyond what the hunt saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Triage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduction: Option<ReductionNote>,
    /// Findings with one signature are one bug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Which versions fail, once bisected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
}

impl Triage {
    pub fn is_empty(&self) -> bool {
        *self == Triage::default()
    }
}

/// How a subject came to be as small as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReductionNote {
    pub checks: u64,
    /// Nothing more could be taken away; false where the budget ended first.
    pub complete: bool,
    pub statements_before: usize,
    pub tokens_before: usize,
    pub tokens: usize,
    /// How long it took, confirmation and naming included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// The released versions between which a finding appeared and vanished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The last version before the finding that does not show it; none if the oldest one checked does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_good: Option<String>,
    pub first_bad: String,
    pub last_bad: String,
    /// The first version after it that does not show it; none if the newest one checked still does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_good: Option<String>,
    /// It vanished and came back in between.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub intermittent: bool,
    /// Versions that were checked.
    pub checked: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub seed: u64,
    pub database: u64,
    pub case: u64,
    /// How many times the database had been changed since it was drawn or read from a script; 0: it was drawn.
    #[serde(default)]
    pub depth: u32,
    /// Checks of all workers until then, as of their last report.
    #[serde(default)]
    pub checks: u64,
}
