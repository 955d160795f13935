//! `dissent reduce`: make a finding small, or all findings of a campaign.

use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::reduce::Weight;
use dissent_core::subject::TestCase;
use dissent_engine::Target;

use super::{check_hang_limit, obtain};
use crate::args::ReduceArgs;
use dissent_campaign::reducer::{Allowance, Job, Observer, Place, Reduced};
use dissent_campaign::{record, store};

pub fn run(args: ReduceArgs) -> anyhow::Result<u8> {
    check_hang_limit(args.hang_limit)?;
    let directories = findings_at(&args.finding)?;
    let single = directories.len() == 1;
    let mut code = crate::NOTHING_FOUND;
    for directory in directories {
        let finding = record::read(&directory)?;
        let done = finding.triage.reduction.as_ref().is_some_and(|reduction| reduction.complete);
        if done && !single && args.target.is_none() {
            code = crate::FOUND;
            continue;
        }
        match reduce(&args, &directory, finding)? {
            Ok(line) => {
                writeln!(std::io::stdout(), "{line}")?;
                code = crate::FOUND;
            }
            Err(why) => writeln!(std::io::stdout(), "{}: {why}", directory.display())?,
        }
    }
    Ok(code)
}

/// One finding, or every finding of a campaign, with those that are kept beside a bug.
fn findings_at(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if store::is_campaign(path) {
        let directories = store::example_directories(path)?;
        if directories.is_empty() {
            bail!("the campaign {} has no findings", path.display());
        }
        return Ok(directories);
    }
    Ok(vec![record::directory_of(path)?])
}

/// What became of it in one line; the inner `Err` says why there is nothing to reduce.
fn reduce(
    args: &ReduceArgs,
    directory: &Path,
    mut finding: Finding,
) -> anyhow::Result<Result<String, String>> {
    let target = Target::parse(args.target.as_deref().unwrap_or(&finding.target))?;
    if target.dialect() != finding.dialect {
        bail!("the finding is in the dialect of {}, which {target} does not speak", finding.dialect);
    }
    let memory_bytes = args.worker_memory.saturating_mul(1 << 20);
    let engine = obtain(&target, memory_bytes, args.hang_limit)?;
    finding.target = target.to_string();
    finding.engine_version = engine.version;
    let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
    let place = Place {
        source: engine.source,
        dialect: finding.dialect.clone(),
        memory_bytes,
        hang_limit: args.hang_limit,
    };
    let allowance = Allowance { checks: args.checks, time: args.time };
    let before = (finding.case.setup.len(), Weight::of(&finding.case, &dialect).tokens);
    let mut line = Line { before, dialect: &dialect, live: stderr().is_terminal(), shown: Instant::now() };
    let job = Job { place: &place, dialect: &dialect, allowance };
    let reduced = job.run(&finding, &mut line);
    line.clear();
    let reduced = match reduced.with_context(|| format!("cannot reduce {}", directory.display()))?.0 {
        Reduced::Confirmed(reduced) => reduced,
        Reduced::Unstable(why) => return Ok(Err(why)),
    };
    record::rewrite(directory, &reduced, &dialect)?;
    let tokens = Weight::of(&reduced.case, &dialect).tokens;
    let (checks, complete) =
        reduced.triage.reduction.as_ref().map_or((0, true), |note| (note.checks, note.complete));
    Ok(Ok(format!(
        "{}: {} → {} statements, {} → {tokens} tokens ({checks} checks{})",
        directory.display(),
        before.0,
        reduced.case.setup.len(),
        before.1,
        if complete { "" } else { ", stopped before the end; --checks and --time allow more" },
    )))
}

/// One line on a terminal that follows the reduction.
struct Line<'a> {
    before: (usize, usize),
    dialect: &'a Dialect,
    live: bool,
    shown: Instant,
}

impl Line<'_> {
    fn clear(&self) {
        if self.live {
            let _ = write!(stderr(), "\r\x1b[2K");
            let _ = stderr().flush();
        }
    }
}

impl Observer for Line<'_> {
    fn goes_on(&mut self) -> bool {
        true
    }

    fn smaller(&mut self, case: &TestCase, checks: u64) {
        if !self.live || self.shown.elapsed() < Duration::from_millis(100) {
            return;
        }
        self.shown = Instant::now();
        let tokens = Weight::of(case, self.dialect).tokens;
        let (statements, before) = self.before;
        let _ = write!(
            stderr(),
            "\r\x1b[2Kreducing: {statements} → {} statements, {before} → {tokens} tokens, {checks} checks",
            case.setup.len()
        );
        let _ = stderr().flush();
    }
}
