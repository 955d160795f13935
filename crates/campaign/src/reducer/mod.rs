//! Reduction in this process, checks in another: the passes lose nothing when the engine crashes.

mod baseline;
mod cause;
mod changed;
mod checker;

use std::time::Instant;

use anyhow::anyhow;
use dissent_core::dialect::Dialect;
use dissent_core::engine::Trouble;
use dissent_core::finding::{Class, Evidence, Finding, ReductionNote};
use dissent_core::import;
use dissent_core::oracle::{self, crash, norec};
use dissent_core::reduce::{self, Budget, Weight};
use dissent_core::sql::Statement;
use dissent_core::subject::TestCase;
use dissent_core::triage;

use baseline::Asked;
pub use baseline::Baseline;
pub use checker::{Answer, Checker};

use crate::config::Allowance;
use crate::pool::{Meter, Workplace};
use crate::tested::Tested;

/// The result of reducing a finding.
pub enum Reduced {
    /// It fails in the same way in a new process, and this is the smallest form found.
    Confirmed(Box<Finding>),
    /// The baseline shows it, too. It is marked, and not reduced yet: what is new comes first.
    Old(Box<Finding>),
    /// It does not, and this is why.
    Unstable(String),
}

/// Watches a reduction.
pub trait Watcher {
    /// Called before each check; `false` ends the reduction with the best result so far.
    fn goes_on(&mut self) -> bool {
        true
    }

    /// A smaller form was found.
    fn smaller(&mut self, _case: &TestCase, _checks: u64) {}
}

impl Watcher for () {}

/// Confirms a finding in a fresh process and reduces it within the allowance.
pub fn reduce(
    finding: &Finding,
    tested: &Tested,
    allowance: Allowance,
    watcher: &mut dyn Watcher,
) -> anyhow::Result<Reduced> {
    let dialect = tested.dialect()?;
    let (baseline, meter) = (Baseline::of(tested), Meter::default());
    Job { place: &tested.place, baseline, dialect: &dialect, allowance, meter }.run(finding, watcher)
}

pub struct Job<'a> {
    pub place: &'a Workplace,
    /// Decides whether a finding is new.
    pub baseline: Option<Baseline>,
    pub dialect: &'a Dialect,
    pub allowance: Allowance,
    /// What all processes of its reductions spend.
    pub meter: Meter,
}

impl Job<'_> {
    pub fn run(&self, finding: &Finding, watcher: &mut dyn Watcher) -> anyhow::Result<Reduced> {
        let class = finding.evidence.class;
        let checker = &mut Checker::new(self.place.clone(), finding.origin, class, &self.meter);
        let started = Instant::now();
        let confirmed = match self.confirm(finding, checker)? {
            Ok(confirmed) => confirmed,
            Err(why) => return Ok(Reduced::Unstable(why)),
        };
        checker.allow_setup_failures(confirmed.failures_allowed);
        // Of what is marked, the baseline was asked before.
        let baseline = self.baseline.as_ref().filter(|_| finding.triage.also_on.is_none());
        let mut old = baseline.map(|baseline| baseline.ask(finding, confirmed.failures_allowed, &self.meter));
        let mut is_new = false;
        if let Some(old) = &mut old {
            let shown = old.shows(&confirmed.case)?;
            if shown == Some(true) {
                return Ok(Reduced::Old(Box::new(old.mark(finding.clone()))));
            }
            is_new = shown == Some(false);
        }
        // What is new stays new while it gets smaller.
        let kept_new = old.as_mut().filter(|_| is_new);
        let mut smaller = self.shrink(finding, confirmed, started, checker, kept_new, watcher)?;
        // What the baseline could not run may be gone.
        if let Some(old) = old.as_mut().filter(|_| !is_new)
            && old.shows(&smaller.case)? == Some(true)
        {
            smaller = old.mark(smaller);
        }
        let restated = self.restate(&smaller, checker)?;
        smaller.triage.signature = Some(match &restated {
            Some((case, evidence)) => triage::signature(case, evidence),
            None => triage::signature(&smaller.case, &smaller.evidence),
        });
        self.explain_change(&mut smaller)?;
        if smaller.triage.also_on.is_none() {
            self.localise(&mut smaller, checker, watcher)?;
        }
        smaller.triage.with_defaults = self.with_defaults(&smaller, checker)?;
        if let Some(note) = &mut smaller.triage.reduction {
            // A clock tells no more than that.
            note.seconds = Some((started.elapsed().as_secs_f64() * 1e3).round() / 1e3);
        }
        Ok(Reduced::Confirmed(Box::new(smaller)))
    }

    /// Whether it fails with the engine's own settings as well, where Dissent makes others.
    fn with_defaults(&self, finding: &Finding, checker: &mut Checker) -> anyhow::Result<Option<bool>> {
        let defaults = &self.dialect.engine.defaults;
        if defaults.is_empty() {
            return Ok(None);
        }
        let mut case = finding.case.clone();
        let set = |text: &String| import::statement(text, 1, self.dialect).statement;
        case.setup = defaults.iter().map(set).chain(case.setup).collect();
        Ok(match checker.check(&case)? {
            Answer::Fails { evidence, .. } => Some(evidence.class == finding.evidence.class),
            Answer::Holds { setup_failures } if setup_failures.is_empty() => Some(false),
            Answer::Holds { .. } | Answer::CannotTell { .. } => None,
        })
    }

    /// The finding as it fails here, or why it does not: without statements that do nothing, and with trees for
    /// texts, where it still fails so.
    fn confirm(&self, finding: &Finding, checker: &mut Checker) -> anyhow::Result<Result<Confirmed, String>> {
        let class = finding.evidence.class;
        let (evidence, failures) = match checker.check(&finding.case)? {
            Answer::Fails { evidence, setup_failures } if evidence.class == class => {
                (evidence, setup_failures)
            }
            other => return Ok(Err(why_unstable(&other))),
        };
        let mut case = finding.case.clone();
        let mut failures_allowed = failures.len();
        if failures_allowed > 0 {
            // What fails does nothing: without it, no statement of the setup may fail from here on.
            let without = without_statements(&case, &failures);
            if checker.check(&without)?.fails_as(class, 0) {
                case = without;
                failures_allowed = 0;
            }
        }
        let case = read_texts(case, self.dialect, |candidate| {
            Ok(checker.check(candidate)?.fails_as(class, failures_allowed))
        })?;
        Ok(Ok(Confirmed { case, evidence, failures_allowed }))
    }

    /// The smallest form within the allowance, and what that took.
    fn shrink(
        &self,
        finding: &Finding,
        confirmed: Confirmed,
        started: Instant,
        checker: &mut Checker,
        mut old: Option<&mut Asked>,
        watcher: &mut dyn Watcher,
    ) -> anyhow::Result<Finding> {
        let deadline = started + self.allowance.time;
        let over = || Instant::now() >= deadline;
        let budget = Budget { checks: self.allowance.checks, over: &over };
        let (mut best, mut checks, mut goes_on) = (None, 0, true);
        let mut still_fails = |candidate: &TestCase| {
            goes_on = goes_on && watcher.goes_on();
            if !goes_on {
                return Ok(false);
            }
            checks += 1;
            let trouble = |error: anyhow::Error| Trouble(format!("{error:#}"));
            match checker.check(candidate).map_err(trouble)? {
                Answer::Fails { evidence, setup_failures }
                    if triage::is_same_failure(&evidence, &finding.evidence)
                        && setup_failures.len() <= confirmed.failures_allowed =>
                {
                    if let Some(old) = &mut old
                        && old.shows(candidate).map_err(trouble)? != Some(false)
                    {
                        return Ok(false);
                    }
                    best = Some(evidence);
                    watcher.smaller(candidate, checks);
                    Ok(true)
                }
                _ => Ok(false),
            }
        };
        let reduction =
            reduce::reduce(confirmed.case, self.dialect, reduce::all(), &budget, &mut still_fails)
                .map_err(|trouble| anyhow!(trouble))?;
        let mut smaller = finding.clone();
        smaller.evidence = *best.unwrap_or(confirmed.evidence);
        smaller.triage.reduction = Some(ReductionNote {
            checks,
            complete: reduction.complete && goes_on,
            statements_before: finding.case.setup.len(),
            tokens_before: Weight::of(&finding.case, self.dialect).tokens,
            tokens: Weight::of(&reduction.case, self.dialect).tokens,
            seconds: None,
        });
        smaller.case = reduction.case;
        Ok(smaller)
    }

    /// The finding as NoREC sees it, if it does, and small again: what it has in common with others shows
    /// best in one form.
    fn restate(
        &self,
        finding: &Finding,
        checker: &mut Checker,
    ) -> anyhow::Result<Option<(TestCase, Box<Evidence>)>> {
        let class = norec::restate::class(finding.evidence.class);
        let failure = |answer: Answer| match answer {
            Answer::Fails { evidence, setup_failures } => {
                (evidence.class == class && setup_failures.is_empty()).then_some(evidence)
            }
            _ => None,
        };
        let oracle = oracle::by_name(&finding.case.subject.oracle);
        for question in oracle.map(|oracle| oracle.restate(&finding.case)).unwrap_or_default() {
            let Some(mut last) = failure(checker.check(&question)?) else { continue };
            let budget = Budget { checks: self.allowance.checks / 4, over: &|| false };
            let mut still_fails = |candidate: &TestCase| {
                let answer = checker.check(candidate).map_err(|error| Trouble(format!("{error:#}")))?;
                let fails = failure(answer);
                Ok(fails.map(|evidence| last = evidence).is_some())
            };
            let reduction = reduce::reduce(question, self.dialect, reduce::all(), &budget, &mut still_fails)
                .map_err(|trouble| anyhow!(trouble))?;
            return Ok(Some((reduction.case, last)));
        }
        Ok(None)
    }
}

/// A finding that fails in a new process.
struct Confirmed {
    case: TestCase,
    /// What is seen now, which a finding of an earlier version may not hold.
    evidence: Box<Evidence>,
    /// How many statements of its setup may fail.
    failures_allowed: usize,
}

impl Answer {
    fn fails_as(&self, class: Class, most_failures: usize) -> bool {
        matches!(self, Answer::Fails { evidence, setup_failures }
            if evidence.class == class && setup_failures.len() <= most_failures)
    }
}

/// A crash is known by the text that ran. Where that can be parsed and does the same as a tree, its statements can be
/// reduced inside.
fn read_texts(
    case: TestCase,
    dialect: &Dialect,
    mut still_fails: impl FnMut(&TestCase) -> anyhow::Result<bool>,
) -> anyhow::Result<TestCase> {
    if case.subject.oracle != crash::NAME {
        return Ok(case);
    }
    let mut all = case.clone();
    all.setup.iter_mut().chain(&mut all.subject.tests).for_each(|statement| read_text(statement, dialect));
    if all == case || still_fails(&all)? {
        return Ok(all);
    }
    let mut best = case;
    for at in 0..best.setup.len() + best.subject.tests.len() {
        let mut one = best.clone();
        one.setup
            .iter_mut()
            .chain(&mut one.subject.tests)
            .skip(at)
            .take(1)
            .for_each(|text| read_text(text, dialect));
        if one != best && still_fails(&one)? {
            best = one;
        }
    }
    Ok(best)
}

fn read_text(statement: &mut Statement, dialect: &Dialect) {
    if let Statement::Raw(text) = statement {
        *statement = import::statement(text, 1, dialect).statement;
    }
}

fn why_unstable(answer: &Answer) -> String {
    match answer {
        Answer::Fails { evidence, .. } => {
            format!("fails differently in a new process ({})", evidence.class)
        }
        Answer::Holds { .. } => "does not fail in a new process".to_string(),
        Answer::CannotTell { reason } => format!("cannot be checked in a new process: {reason}"),
    }
}

fn without_statements(case: &TestCase, numbers: &[usize]) -> TestCase {
    let mut case = case.clone();
    let mut at = 0;
    case.setup.retain(|_| {
        at += 1;
        !numbers.contains(&(at - 1))
    });
    case
}
