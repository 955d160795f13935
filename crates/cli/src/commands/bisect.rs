//! `dissent bisect`: between which versions a finding appeared and vanished.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};
use dissent_core::dialect::Dialect;
use dissent_core::finding::{Finding, History};
use dissent_core::triage::{Chronicle, Status};

use super::builds::{self, Build};
use super::check_hang_limit;
use crate::args::BisectArgs;
use crate::campaign::record;
use crate::reducer::{Answer, Checker, Place};

pub fn run(args: BisectArgs) -> anyhow::Result<u8> {
    check_hang_limit(args.hang_limit)?;
    let directory = record::directory_of(&args.finding)?;
    let mut finding = record::read(&directory)?;
    let versions = match &args.builds {
        Some(builds) => builds::own(&finding.dialect, builds)?,
        None => builds::released(&finding.dialect, args.versions.as_deref(), args.installed)?,
    };
    let names: Vec<&str> = versions.iter().map(|version| version.name.as_str()).collect();

    let chronicle = search(&args, &finding, &versions)?;
    let history = chronicle.history(&names);
    let text = tell(&chronicle, &names, history.as_ref());
    let failed = history.is_some();
    if failed {
        finding.triage.history = history;
        let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
        record::annotate(&directory, &finding, &dialect)?;
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(if failed { crate::FOUND } else { crate::NOTHING_FOUND })
}

/// What is on this machine is checked in any case; what is not is obtained only where it decides.
fn search(args: &BisectArgs, finding: &Finding, versions: &[Build]) -> anyhow::Result<Chronicle> {
    let mut chronicle = Chronicle::new(versions.len());
    let here = |at: &usize| versions[*at].here;
    let mut next: Vec<usize> = (0..versions.len()).filter(here).collect();
    if next.is_empty() {
        next = chronicle.next();
    }
    let mut rounds = 0;
    while !next.is_empty() {
        for (at, status) in check_all(args, finding, versions, &next)? {
            chronicle.note(at, status);
        }
        rounds += 1;
        next = chronicle.next();
        if rounds > 64 {
            bail!("the search does not come to an end; please report this");
        }
    }
    Ok(chronicle)
}

/// Checks versions side by side, each in a process of its own.
fn check_all(
    args: &BisectArgs,
    finding: &Finding,
    versions: &[Build],
    wanted: &[usize],
) -> anyhow::Result<Vec<(usize, Status)>> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let jobs = args.jobs.map_or(cores, |jobs| jobs as usize).min(wanted.len());
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(Vec::new());
    let bar = Bar::new(wanted.len());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(&at) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let status = check(args, finding, &versions[at], &bar);
                    results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((at, status));
                    bar.show(done.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    bar.clear();
    let results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.into_iter().map(|(at, status)| Ok((at, status?))).collect()
}

fn check(args: &BisectArgs, finding: &Finding, version: &Build, bar: &Bar) -> anyhow::Result<Status> {
    let source = version.obtain(&mut |step| bar.note(&step.to_string()))?;
    let place = Place {
        source,
        dialect: finding.dialect.clone(),
        memory_bytes: args.worker_memory.saturating_mul(1 << 20),
        hang_limit: args.hang_limit,
    };
    let class = finding.evidence.class;
    let mut checker = Checker::new(place, finding.origin, class);
    let answer =
        checker.check(&finding.subject).with_context(|| format!("cannot check it on {}", version.name))?;
    Ok(match answer {
        Answer::Fails { evidence, .. } if evidence.class == class => Status::Bad,
        Answer::Holds { setup_failures } if setup_failures.is_empty() => Status::Good,
        _ => Status::Unknown,
    })
}

fn tell(chronicle: &Chronicle, names: &[&str], history: Option<&History>) -> String {
    let mut out = String::new();
    let checked: Vec<(&str, Status)> =
        names.iter().enumerate().filter_map(|(at, name)| Some((*name, chronicle.status(at)?))).collect();
    for run in checked.chunk_by(|a, b| a.1 == b.1) {
        let word = match run[0].1 {
            Status::Bad => "fails",
            Status::Good => "holds",
            Status::Unknown => "cannot tell",
        };
        let (first, last) = (run[0].0, run[run.len() - 1].0);
        let range = if first == last { first.to_string() } else { format!("{first} … {last}") };
        let plural = if run.len() == 1 { "version" } else { "versions" };
        let _ = writeln!(out, "{word:<12} {range}  ({} {plural} checked)", run.len());
    }
    let Some(history) = history else {
        let _ = writeln!(out, "\nno version that was checked fails");
        return out;
    };
    let _ = writeln!(out, "\n{}", dissent_core::report::history(history));
    out
}

/// A line on a terminal that says how far a round is.
struct Bar {
    total: usize,
    live: bool,
}

impl Bar {
    fn new(total: usize) -> Bar {
        Bar { total, live: stderr().is_terminal() }
    }

    fn show(&self, done: usize) {
        if self.live {
            let filled = 30 * done / self.total.max(1);
            let bar = format!("{}{}", "█".repeat(filled), "░".repeat(30 - filled));
            let _ = write!(stderr(), "\r\x1b[2K{bar} {done} of {} versions", self.total);
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
