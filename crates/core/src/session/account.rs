//! What a hunt spends its statements and the engine's time on.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// What a statement is run for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Building a database, or changing it between checks.
    #[default]
    Build,
    /// Emptying it before that.
    Reset,
    /// A question of this oracle: one whose answer is compared.
    Arm(&'static str),
    /// Whatever else a check of this oracle runs: tables of its own, indexes, ANALYZE, looking into an error, evidence.
    Scaffold(&'static str),
    /// Looking for something new: EXPLAIN.
    Guide,
    /// Finding the part of a database that is worth keeping.
    Rehearsal,
    /// Building a failure's database again.
    Confirm,
}

impl Purpose {
    /// The same check, but not one of its questions.
    pub(super) fn aside(self) -> Purpose {
        match self {
            Purpose::Arm(oracle) => Purpose::Scaffold(oracle),
            other => other,
        }
    }
}

/// Statements, and the time the engine took for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// How many there were.
    pub statements: u64,
    /// The engine's time in nanoseconds.
    pub nanos: u64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.statements += other.statements;
        self.nanos += other.nanos;
    }
}

/// What was spent on the checks of an oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checking {
    /// The questions whose answers are compared.
    pub arms: Spent,
    /// Everything else that the checks ran.
    pub scaffolds: Spent,
}

impl Checking {
    /// The engine's time for all of it.
    pub fn nanos(&self) -> u64 {
        self.arms.nanos + self.scaffolds.nanos
    }
}

/// What was spent, by purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Emptying databases; each counts as a statement.
    #[serde(default)]
    pub reset: Spent,
    /// Building databases, and changing them between checks.
    pub build: Spent,
    /// By oracle.
    pub checks: BTreeMap<Cow<'static, str>, Checking>,
    /// Looking for something new.
    pub guide: Spent,
    /// Finding the parts of databases that are worth keeping.
    pub rehearsal: Spent,
    /// Building the databases of failures again.
    pub confirm: Spent,
}

impl Account {
    pub(super) fn charge(&mut self, purpose: Purpose, spent: Spent) {
        *match purpose {
            Purpose::Reset => &mut self.reset,
            Purpose::Build => &mut self.build,
            Purpose::Arm(oracle) => &mut self.checking(oracle.into()).arms,
            Purpose::Scaffold(oracle) => &mut self.checking(oracle.into()).scaffolds,
            Purpose::Guide => &mut self.guide,
            Purpose::Rehearsal => &mut self.rehearsal,
            Purpose::Confirm => &mut self.confirm,
        } += spent;
    }

    fn checking(&mut self, oracle: Cow<'static, str>) -> &mut Checking {
        self.checks.entry(oracle).or_default()
    }

    /// Time that the engine spent on arms: what a hunt is for.
    pub fn arm_nanos(&self) -> u64 {
        self.checks.values().map(|checking| checking.arms.nanos).sum()
    }

    /// Time that the engine spent on what checks run besides their arms.
    pub fn scaffold_nanos(&self) -> u64 {
        self.checks.values().map(|checking| checking.scaffolds.nanos).sum()
    }

    /// Adds what was spent elsewhere or later.
    pub fn add(&mut self, other: Account) {
        self.reset += other.reset;
        self.build += other.build;
        self.guide += other.guide;
        self.rehearsal += other.rehearsal;
        self.confirm += other.confirm;
        for (oracle, spent) in other.checks {
            let mine = self.checking(oracle);
            mine.arms += spent.arms;
            mine.scaffolds += spent.scaffolds;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_is_charged_to_its_purpose_and_adds_up() {
        let spent = |statements, nanos| Spent { statements, nanos };
        let mut account = Account::default();
        account.charge(Purpose::Build, spent(1, 10));
        account.charge(Purpose::Arm("norec"), spent(1, 20));
        account.charge(Purpose::Arm("norec").aside(), spent(1, 5));
        account.charge(Purpose::Rehearsal.aside(), spent(1, 7));
        let mut twice = account.clone();
        twice.add(account);
        assert_eq!((twice.build, twice.rehearsal), (spent(2, 20), spent(2, 14)));
        assert_eq!((twice.arm_nanos(), twice.scaffold_nanos()), (40, 10));
        assert_eq!(twice.checks["norec"].nanos(), 50);
    }
}
