//! `dissent check`: the user's own scripts, each query asked in every way that the oracles know.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::bail;
use dissent_campaign::{Bug, Difference, Observer, ScriptCheck, Step, Tested, read_scripts, store};
use dissent_core::check::Read;
use dissent_core::finding::Finding;
use dissent_core::report;

use crate::args::CheckArgs;
use crate::numbers::{counted, grouped, times};
use crate::progress::LiveLine;
use crate::text::plain;
use crate::verbosity;

pub fn run(args: CheckArgs) -> anyhow::Result<u8> {
    let scripts = read_scripts(&args.scripts)?;
    if let Some(directory) = &args.out {
        store::check_vacant(directory)?;
    }
    let config = args.config();
    let mut line = LiveLine::new();
    let check = ScriptCheck::run(&config, scripts, &mut line)?;
    let mut out = String::new();
    summarise(&check, &mut out);
    let found = match &args.out {
        Some(directory) => {
            let mut observer = Keeping { line, check: &check, out: &mut out };
            let bugs = check.keep(directory, &mut observer)?;
            list_known(&bugs, &mut out);
            bugs.iter().any(|bug| bug.known.is_none())
        }
        None => {
            check.findings.iter().for_each(|found| show(found, &check, &mut out));
            if !check.findings.is_empty() {
                out.push_str("\nnot reduced; use --out DIR to reduce and save findings\n");
            }
            !check.findings.is_empty()
        }
    };
    std::io::stdout().write_all(plain(&out).as_bytes())?;
    // Nothing found because nothing was asked is not a clean bill.
    if !found && check.read.iter().flatten().all(|read| read.queries.is_empty()) {
        bail!("nothing was checked: Dissent understands no query in the scripts");
    }
    if !found && check.oracles().values().all(|tally| tally.checks == 0) {
        bail!("nothing was checked: every oracle skipped every query, for the reasons above");
    }
    Ok(if found { crate::FOUND } else { crate::NOTHING_FOUND })
}

fn summarise(check: &ScriptCheck, out: &mut String) {
    let read = || check.read.iter().flatten();
    let checked = read().map(|read| read.queries.len() as u64).sum();
    let answered = read().map(|read| read.answered as u64).sum::<u64>();
    let _ = writeln!(
        out,
        "{} on {} (version {}){}: {}, {} checked{}",
        counted(check.scripts.len() as u64, "script"),
        check.tested.target,
        check.tested.engine_version,
        compared(&check.tested),
        counted(read().map(|read| read.statements as u64).sum(), "statement"),
        counted(checked, "query"),
        if answered > checked { format!(" of {}", grouped(answered)) } else { String::new() },
    );
    remarks("not run", check, |read| &read.confined, out);
    remarks("left out", check, |read| &read.left_out, out);
    remarks("fails here", check, |read| &read.failures, out);
    remarks("only run, not understood", check, |read| &read.refused, out);
    verdicts(check, out);
    if check.unstable > 0 {
        let unstable = grouped(check.unstable as u64);
        let _ = writeln!(out, "  differences that did not hold on a fresh database: {unstable}");
    }
}

/// ` against duckdb (version 1.5.6)`, where two versions are compared.
pub fn compared(tested: &Tested) -> String {
    tested.other.as_ref().map_or_else(String::new, |other| {
        format!(" against {} (version {})", other.target, other.engine_version)
    })
}

/// So many lines say what is common; `-v` shows the others.
const MOST_REMARKS: usize = 20;

/// One line per remark, with the place of the first statement that it is about: the most common ones first if there are
/// many. `-v` tells each script's apart.
fn remarks(what: &str, check: &ScriptCheck, of: impl Fn(&Read) -> &[(usize, String)], out: &mut String) {
    let mut places: BTreeMap<(usize, String), (usize, usize, u64)> = BTreeMap::new();
    for (script, read) in check.read.iter().enumerate() {
        let group = if verbosity::is_verbose() { script } else { 0 };
        for (line, remark) in read.iter().flat_map(&of) {
            let key = (group, without_place(remark));
            let (first, at, count) = places.entry(key).or_insert((script, *line, 0));
            (*first, *at) = (*first, *at).min((script, *line));
            *count += 1;
        }
    }
    let mut places: Vec<_> = places.into_iter().collect();
    let hidden = match verbosity::is_verbose() {
        true => 0,
        false => places.len().saturating_sub(MOST_REMARKS),
    };
    match hidden {
        0 => places.sort_by_key(|(_, (script, line, _))| (*script, *line)),
        _ => places.sort_by_key(|(_, (script, line, count))| (std::cmp::Reverse(*count), *script, *line)),
    }
    places.truncate(places.len() - hidden);
    for ((_, remark), (script, line, count)) in places {
        let name = &check.scripts[script].name;
        let more =
            if count > 1 { format!(" (and {} more like it)", grouped(count - 1)) } else { String::new() };
        let _ = writeln!(out, "  {what}: {name}:{line}: {remark}{more}");
    }
    if hidden > 0 {
        let others = counted(hidden as u64, "other reason");
        let _ = writeln!(out, "  {what}: {others} (-v lists all)");
    }
}

/// Where in its statement a parser stopped makes one reason many.
fn without_place(remark: &str) -> String {
    remark.split(" at Line: ").next().unwrap_or(remark).to_string()
}

fn verdicts(check: &ScriptCheck, out: &mut String) {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for difference in &check.findings {
        *found.entry(&difference.case.subject.oracle).or_insert(0) += 1;
    }
    let _ = writeln!(out, "\n{:<16}{:>8}{:>10}{:>10}", "oracle", "checks", "findings", "skipped");
    for (oracle, tally) in check.oracles() {
        let skipped: u64 = tally.skips.values().sum();
        let findings = found.get(&**oracle).copied().unwrap_or(0);
        let _ = writeln!(
            out,
            "{oracle:<16}{:>8}{:>10}{:>10}",
            grouped(tally.checks),
            grouped(findings),
            grouped(skipped)
        );
    }
    let mut reasons: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
    for (oracle, tally) in check.oracles() {
        for (reason, count) in &tally.skips {
            reasons.entry(&**reason).or_default().push((&**oracle, *count));
        }
    }
    let _ = writeln!(out);
    for (reason, oracles) in reasons {
        let oracles: Vec<String> =
            oracles.iter().map(|(oracle, count)| format!("{oracle} {}", grouped(*count))).collect();
        let _ = writeln!(out, "  skipped: {reason} ({})", oracles.join(", "));
    }
}

fn show(found: &Difference, check: &ScriptCheck, out: &mut String) {
    let (evidence, oracle) = (&found.evidence, &found.case.subject.oracle);
    let _ = writeln!(out, "\n{}: {} ({oracle})", check.place(&found.origin), evidence.class);
    for arm in &evidence.arms {
        let _ = writeln!(out, "  {}\n    {}", arm.label, arm.sql);
    }
    let _ = writeln!(out, "  must hold: {}\n  but: {}", evidence.relation, report::failure(evidence));
}

/// Writes down each bug as it comes.
struct Keeping<'a> {
    line: LiveLine,
    check: &'a ScriptCheck,
    out: &'a mut String,
}

impl Observer for Keeping<'_> {
    fn note(&mut self, text: &str) {
        self.line.note(text);
    }

    fn step(&mut self, step: &Step) {
        self.line.step(step);
    }

    fn found(&mut self, bug: &Bug, finding: &Finding) {
        let place = self.check.place(&finding.origin);
        let (difference, directory) = (report::failure(&finding.evidence), bug.directory.display());
        let _ = writeln!(self.out, "\n{place}: {} ({}): {difference}\n  {directory}", bug.class, bug.oracle);
    }
}

fn list_known(bugs: &[Bug], out: &mut String) {
    for bug in bugs {
        if let Some(known) = &bug.known {
            let _ =
                writeln!(out, "\nknown: {known} (seen {})\n  {}", times(bug.count), bug.directory.display());
        }
    }
}
