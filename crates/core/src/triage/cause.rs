//! Finds the cause of a reduced finding: the smallest, most specific switches that make it vanish.
//!
//! A switch that changes the whole plan may hide many different bugs by accident, so single optimizations are tried
//! first, then other settings, then what switches everything off, reduced to the parts that are needed. Only if no
//! setting helps are parts of the schema left out. An oracle whose one arm is a switch names that
//! ([`Oracle::switch`](crate::oracle::Oracle::switch)).

use super::switches::{self, Trial};
use crate::dialect::{Dialect, Setting};
use crate::engine::Trouble;
use crate::finding::{Cause, Switch};
use crate::oracle;
use crate::sql::{Name, Statement};
use crate::subject::TestCase;

/// What a test case does under a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It fails as before.
    Fails,
    /// Its answers agree.
    Vanished,
    /// It cannot be checked so, or fails in another way.
    Unclear,
}

/// More switches than these together say nothing.
const MOST_TOGETHER: usize = 3;

/// A setting with a value.
type Made = (Name, Name);

/// Looks for the cause of a test case that fails, until the time is over. Where a failure is `dear`, as a crash is that
/// takes a process with it, settings are tried one by one only if all of them together help.
pub fn find_cause(
    case: &TestCase,
    dialect: &Dialect,
    dear: bool,
    over: &dyn Fn() -> bool,
    check: &mut dyn FnMut(&TestCase) -> Result<Outcome, Trouble>,
) -> Result<Cause, Trouble> {
    let mut search = Search { dialect, dear, over, check, checks: 0, broken_off: false };
    let (switches, also) = search.run(case)?;
    Ok(Cause { switches, also, checks: search.checks, complete: !search.broken_off })
}

struct Search<'a> {
    dialect: &'a Dialect,
    dear: bool,
    over: &'a dyn Fn() -> bool,
    check: &'a mut dyn FnMut(&TestCase) -> Result<Outcome, Trouble>,
    checks: u64,
    broken_off: bool,
}

impl Search<'_> {
    /// The switches, and others that are less specific.
    fn run(&mut self, case: &TestCase) -> Result<(Vec<Switch>, Vec<Switch>), Trouble> {
        if let Some(own) = self.own_settings(case)? {
            return Ok((own, Vec::new()));
        }
        let all = self.strongest();
        if !self.dear || self.vanishes(&switches::with_settings(case, &all))? {
            let mut cures = self.single_settings(case)?;
            if !cures.is_empty() {
                return Ok((vec![cures.remove(0)], cures));
            }
            let together = self.settings_together(case, all)?;
            if !together.is_empty() {
                return Ok((together, Vec::new()));
            }
        }
        if let Some(switch) = self.oracles_switch(case) {
            return Ok((vec![switch], Vec::new()));
        }
        let mut cures = Vec::new();
        for Trial { switch, case } in switches::without_parts(case, self.dialect) {
            if self.vanishes(&case)? && !cures.contains(&switch) {
                cures.push(switch);
            }
        }
        Ok(if cures.is_empty() { (cures, Vec::new()) } else { (vec![cures.remove(0)], cures) })
    }

    fn oracles_switch(&self, case: &TestCase) -> Option<Switch> {
        oracle::by_name(&case.subject.oracle)?.switch(case, self.dialect)
    }

    fn outcome(&mut self, case: &TestCase) -> Result<Outcome, Trouble> {
        if self.broken_off || (self.over)() {
            self.broken_off = true;
            return Ok(Outcome::Unclear);
        }
        self.checks += 1;
        (self.check)(case)
    }

    fn vanishes(&mut self, case: &TestCase) -> Result<bool, Trouble> {
        Ok(self.outcome(case)? == Outcome::Vanished)
    }

    /// Where the test case itself is about settings (`plan`), these are the cause, each with as few parts as it takes.
    fn own_settings(&mut self, case: &TestCase) -> Result<Option<Vec<Switch>>, Trouble> {
        if !self.oracles_switch(case).is_some_and(|switch| switch.is_setting()) {
            return Ok(None);
        }
        let mut case = case.clone();
        for at in 0..case.subject.tests.len() {
            let Statement::Set { name, value } = case.subject.tests[at].clone() else { continue };
            let Some(parts) = switches::parts(&value) else { continue };
            let mut with = |search: &mut Self, some: &[Name]| {
                let mut fewer = case.clone();
                fewer.subject.tests[at] =
                    Statement::Set { name: name.clone(), value: switches::joined(some) };
                Ok(search.outcome(&fewer)? == Outcome::Fails)
            };
            let needed = self.fewest(parts, &mut with)?;
            case.subject.tests[at] = Statement::Set { name, value: switches::joined(&needed) };
        }
        let made = |test: &Statement| match test {
            Statement::Set { name, value } => Some(Switch::setting(name, value, self.dialect)),
            _ => None,
        };
        Ok(Some(case.subject.tests.iter().filter_map(made).collect()))
    }

    /// The values that make it vanish alone, the most specific first.
    fn single_settings(&mut self, case: &TestCase) -> Result<Vec<Switch>, Trouble> {
        let mut cures = Vec::new();
        for setting in self.by_rank() {
            for value in setting.values.iter().filter(|value| !switches::is_strong(value)) {
                let made = (setting.name.clone(), value.clone());
                let switch = Switch::setting(&made.0, &made.1, self.dialect);
                if !cures.contains(&switch) && self.vanishes(&switches::with_settings(case, &[made]))? {
                    cures.push(switch);
                }
            }
        }
        Ok(cures)
    }

    /// The fewest settings that make it vanish together, if they are few: parts of one setting, or several settings.
    fn settings_together(&mut self, case: &TestCase, all: Vec<Made>) -> Result<Vec<Switch>, Trouble> {
        for setting in self.by_rank() {
            let strong = setting.values.iter().find(|value| switches::is_strong(value));
            let Some(parts) = strong.and_then(switches::parts) else { continue };
            let make = |some: &[Name]| vec![(setting.name.clone(), switches::joined(some))];
            if !self.vanishes(&switches::with_settings(case, &make(&parts)))? {
                continue;
            }
            let needed = self.fewest(parts, &mut |search: &mut Self, some: &[Name]| {
                search.vanishes(&switches::with_settings(case, &make(some)))
            })?;
            if needed.len() <= MOST_TOGETHER {
                let made = make(&needed);
                return Ok(made
                    .iter()
                    .map(|(name, value)| Switch::setting(name, value, self.dialect))
                    .collect());
            }
        }
        if all.is_empty() || !self.vanishes(&switches::with_settings(case, &all))? {
            return Ok(Vec::new());
        }
        let needed = self.fewest(all, &mut |search: &mut Self, some: &[Made]| {
            search.vanishes(&switches::with_settings(case, some))
        })?;
        let few =
            needed.len() <= MOST_TOGETHER && !needed.iter().any(|(_, value)| switches::is_strong(value));
        let made = needed.iter().map(|(name, value)| Switch::setting(name, value, self.dialect));
        Ok(if few { made.collect() } else { Vec::new() })
    }

    /// Every setting with the value that switches off most.
    fn strongest(&self) -> Vec<Made> {
        let strongest = |setting: &Setting| Some((setting.name.clone(), setting.values.first()?.clone()));
        self.by_rank().iter().filter_map(strongest).collect()
    }

    /// Settings with the most telling ones first.
    fn by_rank(&self) -> Vec<Setting> {
        let mut settings: Vec<Setting> = self.dialect.settings.clone();
        settings.sort_by_key(|setting| switches::rank(setting, self.dialect));
        settings
    }

    /// A smallest part of a list for which something holds that holds for all of it: none of them can be left out.
    fn fewest<T: Clone>(
        &mut self,
        mut all: Vec<T>,
        mut holds: impl FnMut(&mut Self, &[T]) -> Result<bool, Trouble>,
    ) -> Result<Vec<T>, Trouble> {
        let mut size = all.len().div_ceil(2);
        while all.len() > 1 {
            let mut at = 0;
            while at < all.len() && all.len() > 1 {
                let mut fewer = all.clone();
                fewer.drain(at..(at + size).min(all.len()));
                match !fewer.is_empty() && holds(self, &fewer)? {
                    true => all = fewer,
                    false => at += size,
                }
            }
            if size == 1 {
                break;
            }
            size = size.div_ceil(2);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Query;
    use crate::subject::Subject;

    fn case(oracle: &str, tests: Vec<Statement>) -> TestCase {
        let query = Query::select(Default::default()).into();
        let tests = std::iter::once(query).chain(tests).collect();
        TestCase { setup: Vec::new(), subject: Subject::of(oracle, tests) }
    }

    fn made(case: &TestCase) -> Vec<(String, String)> {
        let statements = case.setup.iter().chain(&case.subject.tests);
        let set = |statement: &Statement| match statement {
            Statement::Set { name, value } => Some((name.to_string(), value.to_string())),
            _ => None,
        };
        statements.filter_map(set).collect()
    }

    fn mask(case: &TestCase) -> u32 {
        let masks = made(case).into_iter().filter(|(name, _)| name == "optimizations");
        masks.map(|(_, value)| u32::from_str_radix(&value[2..], 16).unwrap()).fold(0, |all, mask| all | mask)
    }

    /// The words of the cause of a test case that vanishes where `cured` says so.
    fn words(case: &TestCase, dialect: &Dialect, cured: impl Fn(&TestCase) -> bool) -> (Vec<String>, Cause) {
        let mut check = |case: &TestCase| Ok(if cured(case) { Outcome::Vanished } else { Outcome::Fails });
        let cause = find_cause(case, dialect, false, &|| false, &mut check).unwrap();
        (cause.switches.iter().map(Switch::word).collect(), cause)
    }

    #[test]
    fn one_optimization_is_named_by_its_bit() {
        let sqlite = Dialect::load("sqlite", "3.30.1").unwrap();
        let (found, cause) = words(&case("norec", Vec::new()), &sqlite, |case| mask(case) & 0x2000 != 0);
        assert_eq!(found, ["optimizations=0x00002000"]);
        assert!(cause.complete && cause.also.is_empty());
    }

    #[test]
    fn two_optimizations_are_found_where_neither_alone_helps() {
        let sqlite = Dialect::load("sqlite", "3.30.1").unwrap();
        let both = |case: &TestCase| mask(case) & 0x2100 == 0x2100;
        assert_eq!(words(&case("norec", Vec::new()), &sqlite, both).0, ["optimizations=0x00002100"]);
    }

    #[test]
    fn a_single_optimization_is_preferred_to_other_settings() {
        let sqlite = Dialect::load("sqlite", "3.30.1").unwrap();
        let cured = |case: &TestCase| {
            mask(case) & 4 != 0 || made(case).iter().any(|(name, _)| name == "automatic_index")
        };
        let (found, cause) = words(&case("norec", Vec::new()), &sqlite, cured);
        assert_eq!(found, ["optimizations=0x00000004"]);
        assert!(cause.also.iter().any(|switch| switch.word() == "automatic_index=0"));
    }

    #[test]
    fn what_only_everything_together_cures_has_no_setting_as_its_cause() {
        let sqlite = Dialect::load("sqlite", "3.30.1").unwrap();
        let (found, cause) = words(&case("norec", Vec::new()), &sqlite, |case| mask(case).count_ones() > 20);
        assert!(found.is_empty() && cause.settings().is_none());
    }

    #[test]
    fn the_setting_under_which_plan_asks_is_the_cause_without_parts_that_it_does_not_need() {
        let duckdb = Dialect::load("duckdb", "2.0.0").unwrap();
        let set = Statement::Set { name: "disabled_optimizers".into(), value: "'a,top_n,b'".into() };
        let shows = |case: &TestCase| !made(case).iter().any(|(_, value)| value.contains("top_n"));
        let (found, _) = words(&case("plan", vec![set]), &duckdb, shows);
        assert_eq!(found, ["disabled_optimizers='top_n'"]);
    }

    #[test]
    fn without_a_setting_a_part_of_the_schema_is_the_cause() {
        let sqlite = Dialect::load("sqlite", "3.30.1").unwrap();
        let mut case = case("norec", Vec::new());
        case.setup.push(Statement::Analyze(None));
        let (found, cause) = words(&case, &sqlite, |case| case.setup.is_empty());
        assert_eq!(found, ["without analyze"]);
        assert!(cause.settings().is_none());
    }

    #[test]
    fn nothing_is_tried_once_the_time_is_over() {
        let sqlite = Dialect::load("sqlite", "3.30.1").unwrap();
        let mut check = |_: &TestCase| -> Result<Outcome, Trouble> { panic!("the time is over") };
        let cause = find_cause(&case("norec", Vec::new()), &sqlite, false, &|| true, &mut check).unwrap();
        assert!(!cause.complete && cause.switches.is_empty());
    }
}
