//! `dissent findings --recheck` and `dissent known check`: what of all that was found still fails.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use dissent_campaign::{Tested, known_entries, record, remove_known, replay, store};
use dissent_core::dialect::Dialect;
use dissent_core::finding::{Finding, Newest};
use dissent_core::report;
use dissent_core::triage::Identity;
use serde::Serialize;

use super::check::compared;
use super::obtain_for;
use crate::args::{LimitArgs, SummaryFormat};
use crate::numbers::counted;
use crate::progress::LiveLine;

/// What became of a bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Now {
    /// Only the last campaign has it, and it fails.
    New,
    /// An earlier campaign has it, and it fails.
    StillFailing,
    /// It no longer fails since this version, or an earlier one after the version that it was found on.
    Fixed { version: String },
    /// The newest version cannot run it.
    Unclear,
    /// It could not be checked.
    Unchecked { why: String },
}

/// A bug, whatever campaigns have it.
#[derive(Serialize)]
struct Line {
    /// Its directory in the last campaign that has it.
    finding: PathBuf,
    title: String,
    now: Now,
    /// How many campaigns have it.
    campaigns: usize,
    #[serde(skip)]
    first: usize,
    #[serde(skip)]
    last: usize,
    #[serde(skip)]
    identity: Option<Identity>,
}

/// Engines that were opened, or why they could not be, by what decides which one it is: opening one takes longer than
/// a check.
struct Engines<'a> {
    /// The one that the user names.
    target: Option<&'a str>,
    limits: &'a LimitArgs,
    opened: BTreeMap<(String, Option<String>), Result<Tested, String>>,
}

impl<'a> Engines<'a> {
    fn new(target: Option<&'a str>, limits: &'a LimitArgs) -> Engines<'a> {
        Engines { target, limits, opened: BTreeMap::new() }
    }

    /// Checks a finding on the newest version of its engine, or on the one that the user names: whether it fails
    /// there (none: that cannot be told), and the version. What compares two versions is checked on the same two, for
    /// the newest one agrees with itself.
    fn check(&mut self, finding: &Finding) -> Result<(Option<bool>, String), String> {
        let against = finding.triage.against.as_ref();
        let newest = against.is_none().then_some(finding.dialect.as_str());
        let target = self.target.or(newest);
        let named = target.unwrap_or(&finding.target).to_string();
        let limits = self.limits;
        let obtain = || {
            let tested = obtain_for(finding, target, None, limits, &mut LiveLine::new());
            tested.map_err(|error| format!("{error:#}"))
        };
        let key = (named, against.map(|against| against.target.clone()));
        let tested = self.opened.entry(key).or_insert_with(obtain).as_ref().map_err(String::clone)?;
        let fails = replay(finding, tested).map_err(|error| format!("{error:#}"))?.still_fails();
        Ok((fails, format!("{}{}", tested.engine_version, compared(tested))))
    }
}

/// Checks every bug of some campaigns again, the oldest campaign first. The exit code is 1 if any still fails.
pub fn run(
    campaigns: &[PathBuf],
    target: Option<&str>,
    limits: &LimitArgs,
    format: SummaryFormat,
) -> anyhow::Result<u8> {
    let (mut engines, mut lines) = (Engines::new(target, limits), Vec::<Line>::new());
    for (number, campaign) in campaigns.iter().enumerate() {
        for directory in store::finding_directories(campaign)? {
            let finding = record::read(&directory)?;
            let identity = Identity::of(&finding);
            // What one campaign lists twice are two bugs.
            let mut earlier = lines.iter_mut().filter(|line| line.last < number);
            let same = earlier.find(|line| match (&line.identity, &identity) {
                (Some(one), Some(other)) => one.is_same_bug(other),
                _ => false,
            });
            if let Some(line) = same {
                line.campaigns += 1;
                line.last = number;
                line.finding = directory;
                continue;
            }
            let (now, title) = check(finding, &directory, &mut engines)?;
            let (first, last) = (number, number);
            lines.push(Line { finding: directory, title, now, campaigns: 1, first, last, identity });
        }
    }
    let last = campaigns.len() - 1;
    for line in lines.iter_mut().filter(|line| line.now == Now::StillFailing) {
        // One campaign alone says nothing about what is new.
        if line.first == last && last > 0 {
            line.now = Now::New;
        }
    }
    print(&lines, format)?;
    let fails = |line: &Line| matches!(line.now, Now::New | Now::StillFailing);
    let unchecked = |line: &Line| matches!(line.now, Now::Unchecked { .. });
    Ok(exit_code(lines.iter().any(fails), lines.iter().any(unchecked)))
}

/// What was found counts more than what could not be checked.
fn exit_code(found: bool, unchecked: bool) -> u8 {
    match (found, unchecked) {
        (true, _) => crate::FOUND,
        (false, true) => crate::TROUBLE,
        (false, false) => crate::NOTHING_FOUND,
    }
}

/// Checks a bug and keeps the result beside it; gives its title, too.
fn check(mut finding: Finding, directory: &Path, engines: &mut Engines) -> anyhow::Result<(Now, String)> {
    let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
    let title = report::title(&finding, &dialect);
    let (fails, version) = match engines.check(&finding) {
        Ok(checked) => checked,
        Err(why) => return Ok((Now::Unchecked { why }, title)),
    };
    // What compares two versions was not checked on the newest one.
    if let Some(fails) = fails.filter(|_| finding.triage.against.is_none()) {
        finding.triage.newest = Some(Newest { version: version.clone(), fails });
        record::annotate(directory, &finding, &dialect)?;
    }
    let good = finding.triage.history.as_ref().and_then(|history| history.first_good.clone());
    let now = match fails {
        Some(true) => Now::StillFailing,
        Some(false) => Now::Fixed { version: good.unwrap_or(version) },
        None => Now::Unclear,
    };
    Ok((now, title))
}

fn print(lines: &[Line], format: SummaryFormat) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if format == SummaryFormat::Json {
        writeln!(out, "{}", serde_json::to_string_pretty(lines)?)?;
        return Ok(());
    }
    for line in lines {
        let now = match &line.now {
            Now::New => "new".to_string(),
            Now::StillFailing => "still fails".to_string(),
            Now::Fixed { version } => format!("fixed in {version}"),
            Now::Unclear => "unclear".to_string(),
            Now::Unchecked { .. } => "not checked".to_string(),
        };
        writeln!(out, "{now:<18} {}\n    {}", line.title, line.finding.display())?;
        if let Now::Unchecked { why } = &line.now {
            writeln!(out, "    cannot be checked: {why}")?;
        }
    }
    let count = |wanted: fn(&Now) -> bool| lines.iter().filter(|line| wanted(&line.now)).count();
    writeln!(
        out,
        "{}: {} new, {} still failing, {} fixed, {} unclear, {} not checked",
        counted(lines.len() as u64, "bug"),
        count(|now| *now == Now::New),
        count(|now| *now == Now::StillFailing),
        count(|now| matches!(now, Now::Fixed { .. })),
        count(|now| *now == Now::Unclear),
        count(|now| matches!(now, Now::Unchecked { .. }))
    )?;
    Ok(())
}

/// Checks the examples of known bugs. The exit code is 1 if some entry no longer fails and is still there, otherwise 2 if
/// some could not be checked.
pub fn check_known(
    dialects: &[String],
    target: Option<&str>,
    places: &[PathBuf],
    prune: bool,
    limits: &LimitArgs,
) -> anyhow::Result<u8> {
    let (mut engines, mut out) = (Engines::new(target, limits), std::io::stdout().lock());
    let (mut stale, mut unchecked) = (false, false);
    for dialect in dialects {
        for entry in known_entries(dialect, places)? {
            let known = &entry.known;
            let checked = entry.example()?.map(|finding| engines.check(&finding));
            let verdict = match &checked {
                Some(Ok((Some(true), version))) => format!("still fails on {version}"),
                Some(Ok((Some(false), version))) => format!("no longer fails on {version}"),
                Some(Ok((None, version))) => format!("unclear on {version}"),
                Some(Err(why)) => format!("cannot be checked: {why}"),
                None => "has no example to check".to_string(),
            };
            unchecked |= matches!(checked, Some(Err(_)));
            let since = known.added.as_ref().map(|day| format!(", added {day}")).unwrap_or_default();
            let link = known.link.as_ref().map(|link| format!(", {link}")).unwrap_or_default();
            writeln!(out, "{dialect:<11} {:<28} {verdict}{since}{link}", known.id)?;
            if matches!(checked, Some(Ok((Some(false), _)))) {
                match prune && entry.file.is_some() {
                    true => {
                        remove_known(&entry)?;
                        writeln!(out, "    removed from {}", shown(entry.file.as_deref()))?;
                    }
                    false => stale = true,
                }
            }
        }
    }
    Ok(exit_code(stale, unchecked))
}

fn shown(file: Option<&Path>) -> String {
    file.map(|file| file.display().to_string()).unwrap_or_default()
}
