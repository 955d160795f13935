//! `dissent reduce`: make a finding small, or all findings of a campaign.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dissent_campaign::{Allowance, Reduced, Watcher, record, reduce, store};
use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::reduce::Weight;
use dissent_core::subject::TestCase;

use super::{obtain_for, show_script};
use crate::args::ReduceArgs;
use crate::numbers::{counted, grouped};
use crate::progress::LiveLine;

pub fn run(args: ReduceArgs) -> anyhow::Result<u8> {
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
        match reduce_one(&args, &directory, finding)? {
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
fn reduce_one(
    args: &ReduceArgs,
    directory: &Path,
    mut finding: Finding,
) -> anyhow::Result<Result<String, String>> {
    let mut line = LiveLine::new();
    let tested =
        obtain_for(&finding, args.target.as_deref(), args.against.as_deref(), &args.limits, &mut line)?;
    show_script(&finding, &tested.target, &tested.dialect()?);
    let dialect = tested.dialect()?;
    finding.target = tested.public_target.clone();
    finding.engine_version = tested.engine_version.clone();
    let before = (finding.case.setup.len(), Weight::of(&finding.case, &dialect).tokens);
    let allowance = Allowance { checks: args.checks, time: args.time };
    let reduced = reduce(&finding, &tested, allowance, &mut Shrinking { before, dialect: &dialect, line })
        .with_context(|| format!("cannot reduce {}", directory.display()))?;
    let reduced = match reduced {
        Reduced::Confirmed(reduced) | Reduced::Old(reduced) => reduced,
        Reduced::Unstable(why) => return Ok(Err(why)),
    };
    record::rewrite(directory, &reduced, &dialect)?;
    let tokens = Weight::of(&reduced.case, &dialect).tokens;
    let (checks, complete) =
        reduced.triage.reduction.as_ref().map_or((0, true), |note| (note.checks, note.complete));
    Ok(Ok(format!(
        "{}: {}, {} ({}{})",
        directory.display(),
        shrunk((before.0, reduced.case.setup.len(), "statement")),
        shrunk((before.1, tokens, "token")),
        counted(checks, "check"),
        if complete { "" } else { ", stopped before the end; --checks and --time allow more" },
    )))
}

/// `1,204 → 1 statement`.
fn shrunk((before, now, noun): (usize, usize, &str)) -> String {
    format!("{} → {}", grouped(before as u64), counted(now as u64, noun))
}

/// Shows how small a finding is by now.
struct Shrinking<'a> {
    before: (usize, usize),
    dialect: &'a Dialect,
    line: LiveLine,
}

impl Watcher for Shrinking<'_> {
    fn smaller(&mut self, case: &TestCase, checks: u64) {
        let (statements, before) = self.before;
        self.line.show(|| {
            let tokens = Weight::of(case, self.dialect).tokens;
            let made = [(statements, case.setup.len(), "statement"), (before, tokens, "token")];
            let [statements, tokens] = made.map(shrunk);
            format!("reducing: {statements}, {tokens}, {}", counted(checks, "check"))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_smaller_is_counted_as_people_count() {
        assert_eq!(shrunk((1204, 1, "statement")), "1,204 → 1 statement");
        assert_eq!(shrunk((12000, 1500, "token")), "12,000 → 1,500 tokens");
    }
}
