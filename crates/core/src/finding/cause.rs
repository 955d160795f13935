//! What makes a difference go away.

use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::render::to_sql;
use crate::sql::{Name, Statement};

/// One thing that can be changed about a test case without changing what its answers should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// A setting of the engine has another value.
    Setting {
        /// The setting.
        name: String,
        /// The value, as it is written.
        value: String,
        /// The statement that sets it.
        sql: String,
    },
    /// A part of the schema, or what ANALYZE gathers, is left out.
    Without {
        /// What kind of part: `index`, `without-rowid`.
        part: String,
        /// The part as a reader knows it: `UNIQUE of t0.c0`.
        named: String,
    },
    /// Statements are not prepared.
    Unprepared,
}

impl Switch {
    /// A value of a setting.
    pub fn setting(name: &Name, value: &Name, dialect: &Dialect) -> Switch {
        let statement = Statement::Set { name: name.clone(), value: value.clone() };
        Switch::Setting { name: name.to_string(), value: value.to_string(), sql: to_sql(&statement, dialect) }
    }

    /// The name by which findings of one cause are recognised. It does not depend on names in the test case.
    pub fn word(&self) -> String {
        match self {
            Switch::Setting { name, value, .. } => format!("{name}={value}"),
            Switch::Without { part, .. } => format!("without {part}"),
            Switch::Unprepared => "unprepared".to_string(),
        }
    }

    /// Whether it is a setting, which tells more about the place in the engine than a part of the schema does.
    pub fn is_setting(&self) -> bool {
        matches!(self, Switch::Setting { .. })
    }
}

/// The switches that make a finding vanish.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The smallest set of switches with which the answers agree; empty: no switch does that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<Switch>,
    /// Other switches that do so alone, but are less specific.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Switch>,
    /// How many checks that took.
    pub checks: u64,
    /// Everything was tried; false where the time was over first.
    pub complete: bool,
}

impl Cause {
    /// The settings by which findings of one cause are recognised, in a fixed order; none if no setting helps.
    pub fn settings(&self) -> Option<Vec<String>> {
        let known = !self.switches.is_empty() && self.switches.iter().all(Switch::is_setting);
        let mut words: Vec<String> = self.switches.iter().map(Switch::word).collect();
        words.sort();
        known.then_some(words)
    }
}
