//! Profiles: what the generator uses more often, less often or never, by name.
//!
//! A profile is a map from names to weights, as a user writes it in a file:
//!
//! ```
//! use dissent_core::generate::Policy;
//!
//! let profile = [("query.join.kind/full", 40), ("expr.case.else", 0), ("size.max-tables", 5)];
//! let policy = Policy::profile(&profile.map(|(name, weight)| (name.to_string(), weight)).into())?;
//! assert_eq!(policy.max_tables, 5);
//! # Ok::<(), dissent_core::profile::ProfileError>(())
//! ```
//!
//! A name with a slash is an option of a choice: it is chosen in proportion to its weight among the options that apply.
//! A name without one is a percentage, a size (`size.…`), or the share of an oracle in the engine's time (`oracle.…`, 1
//! unless a profile says otherwise). Weight 0 means never, unless nothing else applies.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::dialect::{Dialect, common};
use crate::generate::{self, Listed, Policy};
use crate::{mutate, oracle, walk};

/// Every choice with its name and default weight.
pub fn choices() -> &'static [Listed] {
    static ALL: LazyLock<Vec<Listed>> = LazyLock::new(|| {
        let drawn = generate::every_choice().chain(oracle::every_choice());
        let changed = mutate::every_choice().chain(walk::every_choice());
        drawn.chain(changed).flat_map(|choice| choice.listed()).collect()
    });
    &ALL
}

/// Every size with its name and default.
pub fn sizes() -> impl Iterator<Item = (String, u32)> {
    Policy::SIZES.iter().map(|size| (size_name(size.field), size.default))
}

/// Every oracle's share of the engine's time with its name and default.
pub fn shares() -> impl Iterator<Item = (String, u32)> {
    oracle::all().iter().map(|oracle| (format!("{ORACLE}{}", oracle.name()), 1))
}

const ORACLE: &str = "oracle.";

/// Larger shares would leave others less than a thousandth.
const MOST_SHARE: u32 = 1000;

fn size_name(field: &str) -> String {
    format!("size.{}", field.replace('_', "-"))
}

/// What is wrong with a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Nothing has this name.
    #[error("unknown choice '{name}'; did you mean '{closest}'?")]
    Unknown {
        /// As the profile has it.
        name: String,
        /// The name that looks most like it.
        closest: String,
    },
    /// A percentage above 100, or a weight that is out of proportion.
    #[error("'{name}' is {value}, but can be at most {most}")]
    TooLarge {
        /// Of the choice.
        name: String,
        /// As the profile has it.
        value: u32,
        /// The largest value that makes sense.
        most: u32,
    },
    /// A size that leaves nothing to draw.
    #[error("'{name}' is {value}, but must be at least {least}")]
    TooSmall {
        /// Of the size.
        name: String,
        /// As the profile has it.
        value: u32,
        /// The smallest value that makes sense.
        least: u32,
    },
}

impl Policy {
    /// Draws what engines share ([`Dialect::shared_with`]), with the weights and sizes of a profile.
    pub fn for_shared(profile: &BTreeMap<String, u32>, shared: &Dialect) -> Result<Policy, ProfileError> {
        let never = common::NEVER_DRAWN.iter().map(|name| (name.to_string(), 0));
        Policy::for_dialect(&never.chain(profile.clone()).collect(), shared)
    }

    /// The default policy with the weights and sizes of a profile.
    pub fn profile(profile: &BTreeMap<String, u32>) -> Result<Policy, ProfileError> {
        let mut policy = Policy::default();
        for (name, value) in profile {
            policy.set(name, *value)?;
        }
        Ok(policy)
    }

    fn set(&mut self, name: &str, value: u32) -> Result<(), ProfileError> {
        let name = name.to_string();
        if let Some(size) = Policy::SIZES.iter().find(|size| size_name(size.field) == name) {
            if value < size.least {
                return Err(ProfileError::TooSmall { name, value, least: size.least });
            }
            self.set_size(size.field, value);
            return Ok(());
        }
        if let Some(oracle) = name.strip_prefix(ORACLE).filter(|_| shares().any(|(share, _)| share == name)) {
            if value > MOST_SHARE {
                return Err(ProfileError::TooLarge { name, value, most: MOST_SHARE });
            }
            self.shares.insert(oracle.to_string(), value);
            return Ok(());
        }
        let Some(choice) = choices().iter().find(|choice| choice.name == name) else {
            return Err(ProfileError::Unknown { closest: closest(&name), name });
        };
        if value > choice.most {
            return Err(ProfileError::TooLarge { name, value, most: choice.most });
        }
        self.weights.set(choice.slot, value);
        Ok(())
    }

    /// The same for a hunt of this dialect: where the profile does not say how many cases a database serves, the dialect
    /// may.
    pub fn for_dialect(profile: &BTreeMap<String, u32>, dialect: &Dialect) -> Result<Policy, ProfileError> {
        let mut policy = Policy::profile(profile)?;
        if let Some(cases) = dialect.cases_per_database
            && !profile.contains_key(&size_name("cases_per_database"))
        {
            policy.cases_per_database = cases;
        }
        Ok(policy)
    }

    /// How often each choice was drawn by this policy.
    pub fn draws(&self) -> Draws {
        let drawn = |choice: &Listed| (choice.name.clone(), self.weights.drawn(choice.slot));
        Draws(choices().iter().map(drawn).filter(|(_, count)| *count > 0).collect())
    }

    /// In how many cases each choice was, in how many that the engine took, and in how many that came to a check with rows.
    pub fn outcomes(&self) -> Outcomes {
        let count = |at: usize| {
            let outcome = |choice: &Listed| (choice.name.clone(), self.weights.outcome(choice.slot)[at]);
            Draws(choices().iter().map(outcome).filter(|(_, count)| *count > 0).collect())
        };
        Outcomes { run: count(0), valid: count(1), checked: count(2) }
    }

    /// How often each choice was drawn since this was last asked, and what became of it: what a worker sends from time
    /// to time.
    pub fn take_draws(&self) -> (Draws, Outcomes) {
        let taken = (self.draws(), self.outcomes());
        self.weights.forget_drawn();
        taken
    }
}

/// The existing name that is most like this one.
fn closest(name: &str) -> String {
    let others = sizes().chain(shares()).map(|(name, _)| name);
    let names = choices().iter().map(|choice| choice.name.clone()).chain(others);
    names.min_by_key(|known| strsim::damerau_levenshtein(known, name)).unwrap_or_default()
}

/// How often choices were drawn, by name; those that were never drawn are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Draws(BTreeMap<String, u64>);

/// What became of what was drawn. Each case counts once, however often it drew a choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// Cases and changes that were run.
    pub run: Draws,
    /// Those whose statements the engine took.
    pub valid: Draws,
    /// Cases that came to a check whose arms returned rows.
    pub checked: Draws,
}

impl Outcomes {
    /// Adds what another worker counted.
    pub fn add(&mut self, other: &Outcomes) {
        self.run.add(&other.run);
        self.valid.add(&other.valid);
        self.checked.add(&other.checked);
    }
}

impl Draws {
    /// Adds what another worker drew.
    pub fn add(&mut self, other: &Draws) {
        for (name, count) in &other.0 {
            *self.0.entry(name.clone()).or_default() += count;
        }
    }

    /// How often one choice was drawn.
    pub fn count(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// The choices that were drawn, by name, with how often.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// The choices that were never drawn.
    pub fn missing(&self) -> impl Iterator<Item = &'static Listed> {
        choices().iter().filter(|choice| self.count(&choice.name) == 0)
    }

    /// Whether nothing was drawn.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
