//! Which versions show which findings: each version is opened once and checks all findings it is needed for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use anyhow::{Context, bail};
use dissent_core::finding::{Against, Class, Finding};
use dissent_core::triage::{Chronicle, Status};
use dissent_engine::{Source, Target};

use crate::builds::Build;
use crate::config::Config;
use crate::observer::{Observer, Step};
use crate::pool::{Meter, Workplace};
use crate::reducer::{Answer, Checker};
use crate::remembered::Remembered;
use crate::tested::target_in_file;

/// What each version does with each finding, as far as it had to be checked. Installed versions are always checked;
/// others are downloaded only if they decide something. Of the configuration, only the number of jobs and the limits
/// of a worker are used.
///
/// One process checks many findings. If the engine reads memory that it never wrote, one finding may affect the next. So
/// the versions that decide are checked again in processes of their own, and a finding with another result there is
/// dated in such processes only.
pub fn date(
    findings: &[&Finding],
    versions: &[Build],
    config: &Config,
    observer: &mut (dyn Observer + Send),
) -> anyhow::Result<Vec<Chronicle>> {
    config.check_limits()?;
    let others = compared(findings, config, &mut *observer)?;
    date_with(findings, versions, others, config, None, &Meter::default(), observer)
}

/// Dates one finding on builds that take long to make. Builds that are remembered are not made again, and each result
/// is kept as soon as it is known.
pub fn date_builds(
    finding: &Finding,
    builds: &[Build],
    remembered: &Remembered,
    config: &Config,
    observer: &mut (dyn Observer + Send),
) -> anyhow::Result<Chronicle> {
    config.check_limits()?;
    let others = compared(&[finding], config, &mut *observer)?;
    let remembered = Some(remembered);
    let dating = Dating {
        versions: builds,
        config,
        others,
        deadline: None,
        remembered,
        meter: Meter::default(),
        observer: Mutex::new(observer),
    };
    let mut chronicles = dating.search(&[finding], Processes::Own)?;
    chronicles.pop().context("the finding was not checked; please report this")
}

/// The same, where the versions to compare with are at hand, by their names. After the deadline nothing more is checked;
/// what the processes spend goes to the meter.
pub(crate) fn date_with(
    findings: &[&Finding],
    versions: &[Build],
    others: BTreeMap<String, Source>,
    config: &Config,
    deadline: Option<Instant>,
    meter: &Meter,
    observer: &mut (dyn Observer + Send),
) -> anyhow::Result<Vec<Chronicle>> {
    let dating = Dating {
        versions,
        config,
        others,
        deadline,
        remembered: None,
        meter: meter.clone(),
        observer: Mutex::new(observer),
    };
    let mut chronicles = dating.search(findings, Processes::Shared)?;
    if findings.len() == 1 {
        return Ok(chronicles);
    }
    let mut deciding: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (finding, chronicle) in chronicles.iter().enumerate() {
        chronicle.edges().into_iter().for_each(|version| deciding.entry(version).or_default().push(finding));
    }
    let answers = dating.ask_all(findings, &deciding, Processes::Own)?;
    let differs = |(finding, version, status): Told| {
        (chronicles[finding].status(version) != Some(status)).then_some(finding)
    };
    let doubtful: BTreeSet<usize> = answers.into_iter().filter_map(differs).collect();
    let alone: Vec<&Finding> = doubtful.iter().map(|at| findings[*at]).collect();
    let again = dating.search(&alone, Processes::Own)?;
    for (at, chronicle) in doubtful.into_iter().zip(again) {
        chronicles[at] = chronicle;
    }
    Ok(chronicles)
}

/// The versions that findings were compared with, by their names. Each finding is still compared with its own, whatever
/// version it is checked on.
fn compared(
    findings: &[&Finding],
    config: &Config,
    observer: &mut dyn Observer,
) -> anyhow::Result<BTreeMap<String, Source>> {
    let mut others = BTreeMap::new();
    for Against { target: named, .. } in findings.iter().filter_map(|finding| finding.triage.against.as_ref())
    {
        if others.contains_key(named) {
            continue;
        }
        let target = match &config.against {
            Some(typed) => Target::parse(typed)?,
            None => target_in_file(named)?,
        };
        let source = target.obtain(&mut |step| observer.note(&step.to_string()))?;
        others.insert(named.clone(), source);
    }
    Ok(others)
}

/// Whether a version checks all findings in one process, or each in one of its own.
#[derive(Clone, Copy, PartialEq)]
enum Processes {
    Shared,
    Own,
}

/// One result: which finding, which version.
type Told = (usize, usize, Status);

struct Dating<'a> {
    versions: &'a [Build],
    config: &'a Config,
    others: BTreeMap<String, Source>,
    deadline: Option<Instant>,
    remembered: Option<&'a Remembered>,
    meter: Meter,
    observer: Mutex<&'a mut (dyn Observer + Send)>,
}

impl Dating<'_> {
    fn other_of(&self, finding: &Finding) -> Option<Source> {
        finding.triage.against.as_ref().and_then(|against| self.others.get(&against.target)).cloned()
    }

    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn search(&self, findings: &[&Finding], processes: Processes) -> anyhow::Result<Vec<Chronicle>> {
        let versions = self.versions;
        let mut chronicles = vec![Chronicle::new(versions.len()); findings.len()];
        if let Some(remembered) = self.remembered {
            for (at, version) in versions.iter().enumerate() {
                let status = remembered.status(&version.name);
                status.into_iter().for_each(|status| chronicles[0].note(at, status));
            }
        }
        let here: Vec<usize> = (0..versions.len()).filter(|at| versions[*at].here).collect();
        for round in 0.. {
            if round > 64 {
                bail!("the bisection does not finish; please report this");
            }
            let mut wanted: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for (finding, chronicle) in chronicles.iter().enumerate() {
                let next = if round == 0 && !here.is_empty() { here.clone() } else { chronicle.next() };
                next.into_iter().for_each(|version| wanted.entry(version).or_default().push(finding));
            }
            if wanted.is_empty() || self.is_over() {
                break;
            }
            for (finding, version, status) in self.ask_all(findings, &wanted, processes)? {
                chronicles[finding].note(version, status);
            }
        }
        Ok(chronicles)
    }

    /// Versions are checked in parallel.
    fn ask_all(
        &self,
        findings: &[&Finding],
        wanted: &BTreeMap<usize, Vec<usize>>,
        processes: Processes,
    ) -> anyhow::Result<Vec<Told>> {
        let wanted: Vec<(&usize, &Vec<usize>)> = wanted.iter().collect();
        let jobs = (self.config.jobs as usize).min(wanted.len());
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Ok(Vec::new()));
        let round = Round {
            dating: self,
            findings,
            processes,
            all: wanted.iter().map(|(_, asked)| asked.len()).sum(),
            done: AtomicUsize::new(0),
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    while let Some((version, asked)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let told = round.ask(**version, asked);
                        let mut results = lock(&results);
                        match (&mut *results, told) {
                            (Ok(results), Ok(told)) => results.extend(told),
                            // The first error is reported; nothing new starts after it.
                            (Ok(_), Err(error)) => *results = Err(error),
                            (Err(_), _) => {}
                        }
                        if results.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// One round of checks.
struct Round<'a, 'd> {
    dating: &'a Dating<'d>,
    findings: &'a [&'a Finding],
    processes: Processes,
    all: usize,
    done: AtomicUsize,
}

impl Round<'_, '_> {
    fn ask(&self, number: usize, asked: &[usize]) -> anyhow::Result<Vec<Told>> {
        if self.dating.is_over() {
            return Ok(Vec::new());
        }
        let version = &self.dating.versions[number];
        let source = version.obtain(&mut |step| lock(&self.dating.observer).note(&step.to_string()))?;
        let mut shared: Option<Checker> = None;
        let mut told = Vec::with_capacity(asked.len());
        for &at in asked {
            let finding = self.findings[at];
            let class = finding.evidence.class;
            let fresh = |source: Source| {
                let place = Workplace {
                    source,
                    other: self.dating.other_of(finding),
                    dialect: finding.dialect.clone(),
                    memory_bytes: self.dating.config.worker_memory,
                    hang_limit: self.dating.config.hang_limit,
                };
                Checker::new(place, finding.origin, class, &self.dating.meter)
            };
            let status = match source.clone() {
                Some(source) => {
                    // Memory that one crash corrupted must not affect the next check.
                    let alone = class == Class::Crash || self.processes == Processes::Own;
                    let mut own = None;
                    let checker = if alone { &mut own } else { &mut shared };
                    let checker = checker.get_or_insert_with(|| fresh(source));
                    let answer = checker
                        .check(&finding.case)
                        .with_context(|| format!("cannot check it on {}", version.name))?;
                    match answer {
                        Answer::Fails { evidence, .. } if evidence.class == class => Status::Bad,
                        Answer::Holds { setup_failures } if setup_failures.is_empty() => Status::Good,
                        _ => Status::Unknown,
                    }
                }
                None => Status::Unknown,
            };
            if let Some(remembered) = self.dating.remembered {
                remembered.note(&version.name, status)?;
            }
            told.push((at, number, status));
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            let step = Step { what: "checked on", name: &version.name, done, all: self.all };
            lock(&self.dating.observer).step(&step);
        }
        Ok(told)
    }
}

/// The data is still valid if a thread panicked.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
