//! Which versions show which findings: each version is opened once and checks all findings it is needed for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write as _, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};
use dissent_core::finding::{Class, Finding};
use dissent_core::triage::{Chronicle, Status};

use super::builds::Build;
use crate::args::BisectArgs;
use dissent_campaign::reducer::{Answer, Checker, Place};

/// What each version does with each finding, as far as it had to be asked. What is on this machine is asked in
/// any case; what is not is obtained only where it decides.
///
/// A process answers for many findings. What one of them leaves in memory may speak for the next, if the engine
/// reads what it never wrote: so the versions that decide are asked again in processes of their own, and a finding
/// that answers otherwise there is dated in such processes alone.
pub fn date(args: &BisectArgs, findings: &[&Finding], versions: &[Build]) -> anyhow::Result<Vec<Chronicle>> {
    let mut chronicles = search(args, findings, versions, Processes::Shared)?;
    if findings.len() == 1 {
        return Ok(chronicles);
    }
    let mut deciding: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (finding, chronicle) in chronicles.iter().enumerate() {
        chronicle.edges().into_iter().for_each(|version| deciding.entry(version).or_default().push(finding));
    }
    let answers = ask_all(args, findings, versions, &deciding, Processes::Own)?;
    let differs = |(finding, version, status): Told| {
        (chronicles[finding].status(version) != Some(status)).then_some(finding)
    };
    let doubtful: Vec<usize> =
        answers.into_iter().filter_map(differs).collect::<BTreeSet<_>>().into_iter().collect();
    let alone: Vec<&Finding> = doubtful.iter().map(|at| findings[*at]).collect();
    let again = search(args, &alone, versions, Processes::Own)?;
    for (at, chronicle) in again.into_iter().enumerate() {
        chronicles[doubtful[at]] = chronicle;
    }
    Ok(chronicles)
}

/// Whether a version answers for all findings in one process, or for each in one of its own.
#[derive(Clone, Copy, PartialEq)]
enum Processes {
    Shared,
    Own,
}

fn search(
    args: &BisectArgs,
    findings: &[&Finding],
    versions: &[Build],
    processes: Processes,
) -> anyhow::Result<Vec<Chronicle>> {
    let mut chronicles = vec![Chronicle::new(versions.len()); findings.len()];
    let here: Vec<usize> = (0..versions.len()).filter(|at| versions[*at].here).collect();
    for round in 0.. {
        if round > 64 {
            bail!("the search does not come to an end; please report this");
        }
        let mut wanted: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (finding, chronicle) in chronicles.iter().enumerate() {
            let next = if round == 0 && !here.is_empty() { here.clone() } else { chronicle.next() };
            next.into_iter().for_each(|version| wanted.entry(version).or_default().push(finding));
        }
        if wanted.is_empty() {
            break;
        }
        for (finding, version, status) in ask_all(args, findings, versions, &wanted, processes)? {
            chronicles[finding].note(version, status);
        }
    }
    Ok(chronicles)
}

/// One answer: of which finding, by which version.
type Told = (usize, usize, Status);

/// Versions are asked side by side.
fn ask_all(
    args: &BisectArgs,
    findings: &[&Finding],
    versions: &[Build],
    wanted: &BTreeMap<usize, Vec<usize>>,
    processes: Processes,
) -> anyhow::Result<Vec<Told>> {
    let wanted: Vec<(usize, &[usize])> =
        wanted.iter().map(|(version, findings)| (*version, findings.as_slice())).collect();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let jobs = args.jobs.map_or(cores, |jobs| jobs as usize).min(wanted.len());
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Ok(Vec::new()));
    let bar = Bar::new(wanted.iter().map(|(_, findings)| findings.len()).sum());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((version, asked)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let told = ask(args, findings, asked, &versions[*version], processes, &bar);
                    let mut results = results.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    match (&mut *results, told) {
                        (Ok(results), Ok(told)) => {
                            results.extend(
                                told.into_iter().map(|(finding, status)| (finding, *version, status)),
                            );
                        }
                        // The first trouble is told; nobody begins anything after it.
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
    bar.clear();
    results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn ask(
    args: &BisectArgs,
    findings: &[&Finding],
    asked: &[usize],
    version: &Build,
    processes: Processes,
    bar: &Bar,
) -> anyhow::Result<Vec<(usize, Status)>> {
    let source = version.obtain(&mut |step| bar.note(&step.to_string()))?;
    let mut shared: Option<Checker> = None;
    let mut told = Vec::with_capacity(asked.len());
    for &at in asked {
        let finding = findings[at];
        let class = finding.evidence.class;
        let fresh = || {
            let place = Place {
                source: source.clone(),
                dialect: finding.dialect.clone(),
                memory_bytes: args.worker_memory.saturating_mul(1 << 20),
                hang_limit: args.hang_limit,
            };
            Checker::new(place, finding.origin, class)
        };
        // Memory that one crash broke must not be taken for the next.
        let mut own = (class == Class::Crash || processes == Processes::Own).then(fresh);
        let checker = own.as_mut().unwrap_or_else(|| shared.get_or_insert_with(fresh));
        let answer =
            checker.check(&finding.case).with_context(|| format!("cannot check it on {}", version.name))?;
        let status = match answer {
            Answer::Fails { evidence, .. } if evidence.class == class => Status::Bad,
            Answer::Holds { setup_failures } if setup_failures.is_empty() => Status::Good,
            _ => Status::Unknown,
        };
        told.push((at, status));
        bar.step();
    }
    Ok(told)
}

/// A line on a terminal that says how far a round is.
struct Bar {
    total: usize,
    done: AtomicUsize,
    live: bool,
}

impl Bar {
    fn new(total: usize) -> Bar {
        Bar { total, done: AtomicUsize::new(0), live: stderr().is_terminal() }
    }

    fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.live {
            let filled = 30 * done / self.total.max(1);
            let bar = format!("{}{}", "█".repeat(filled), "░".repeat(30 - filled));
            let _ = write!(stderr(), "\r\x1b[2K{bar} {done} of {} checks", self.total);
            let _ = stderr().flush();
        }
    }

    fn note(&self, text: &str) {
        self.clear();
        let _ = writeln!(stderr(), "dissent: {text}");
    }

    fn clear(&self) {
        if self.live {
            let _ = write!(stderr(), "\r\x1b[2K");
            let _ = stderr().flush();
        }
    }
}
