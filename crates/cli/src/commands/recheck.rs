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
    identity: Option<Identity>,
}

/// Engines that were opened, by what decides which one it is: opening one takes longer than a check.
#[derive(Default)]
struct Engines(BTreeMap<(String, Option<String>), Tested>);

impl Engines {
    /// The newest version of a finding's engine, or the one that the user names.
    fn for_finding(
        &mut self,
        finding: &Finding,
        target: Option<&str>,
        limits: &LimitArgs,
    ) -> anyhow::Result<&Tested> {
        let named = target.unwrap_or(&finding.dialect).to_string();
        let other = finding.triage.against.as_ref().map(|against| against.target.clone());
        let key = (named.clone(), other);
        if !self.0.contains_key(&key) {
            let tested = obtain_for(finding, Some(&named), None, limits, &mut LiveLine::new())?;
            self.0.insert(key.clone(), tested);
        }
        Ok(&self.0[&key])
    }
}

/// Checks every bug of some campaigns again, the oldest campaign first. The exit code is 1 if any still fails.
pub fn run(
    campaigns: &[PathBuf],
    target: Option<&str>,
    limits: &LimitArgs,
    format: SummaryFormat,
) -> anyhow::Result<u8> {
    let (mut engines, mut lines) = (Engines::default(), Vec::<Line>::new());
    for (number, campaign) in campaigns.iter().enumerate() {
        for directory in store::finding_directories(campaign)? {
            let finding = record::read(&directory)?;
            // Campaigns are dated by the versions that were installed at the time, so ranges say nothing here.
            let triage = &finding.triage;
            let identity = triage
                .signature
                .as_ref()
                .map(|signature| Identity::new(signature, triage.cause.as_ref(), None));
            let same = lines.iter_mut().find(|line| match (&line.identity, &identity) {
                (Some(one), Some(other)) => one.is_same_bug(other),
                _ => false,
            });
            if let Some(line) = same {
                line.campaigns += 1;
                line.finding = directory;
                continue;
            }
            let tested = engines.for_finding(&finding, target, limits)?;
            let line = check(finding, directory, number, tested)?;
            lines.push(Line { identity, ..line });
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
    Ok(if lines.iter().any(fails) { crate::FOUND } else { crate::NOTHING_FOUND })
}

fn check(mut finding: Finding, directory: PathBuf, first: usize, tested: &Tested) -> anyhow::Result<Line> {
    let fails = replay(&finding, tested)?.still_fails();
    let version = tested.engine_version.clone();
    let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
    if let Some(fails) = fails {
        finding.triage.newest = Some(Newest { version: version.clone(), fails });
        record::annotate(&directory, &finding, &dialect)?;
    }
    let good = finding.triage.history.as_ref().and_then(|history| history.first_good.clone());
    let now = match fails {
        Some(true) => Now::StillFailing,
        Some(false) => Now::Fixed { version: good.unwrap_or(version) },
        None => Now::Unclear,
    };
    let title = report::title(&finding, &dialect);
    Ok(Line { finding: directory, title, now, campaigns: 1, first, identity: None })
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
            Now::Unclear => "cannot tell".to_string(),
        };
        writeln!(out, "{now:<18} {}\n    {}", line.title, line.finding.display())?;
    }
    let count = |wanted: fn(&Now) -> bool| lines.iter().filter(|line| wanted(&line.now)).count();
    writeln!(
        out,
        "{}: {} new, {} still failing, {} fixed, {} unclear",
        counted(lines.len() as u64, "bug"),
        count(|now| *now == Now::New),
        count(|now| *now == Now::StillFailing),
        count(|now| matches!(now, Now::Fixed { .. })),
        count(|now| *now == Now::Unclear)
    )?;
    Ok(())
}

/// Checks the examples of known bugs. The exit code is 1 if some entry no longer fails and is still there.
pub fn check_known(
    dialects: &[String],
    target: Option<&str>,
    places: &[PathBuf],
    prune: bool,
    limits: &LimitArgs,
) -> anyhow::Result<u8> {
    let (mut engines, mut out) = (Engines::default(), std::io::stdout().lock());
    let mut stale = false;
    for dialect in dialects {
        for entry in known_entries(dialect, places)? {
            let known = &entry.known;
            let fails = match entry.example()? {
                Some(finding) => {
                    let tested = engines.for_finding(&finding, target, limits)?;
                    let fails = replay(&finding, tested)?.still_fails();
                    Some((fails, tested.engine_version.clone()))
                }
                None => None,
            };
            let verdict = match &fails {
                Some((Some(true), version)) => format!("still fails on {version}"),
                Some((Some(false), version)) => format!("no longer fails on {version}"),
                Some((None, version)) => format!("cannot be checked on {version}"),
                None => "has no example to check".to_string(),
            };
            let since = known.added.as_ref().map(|day| format!(", added {day}")).unwrap_or_default();
            let link = known.link.as_ref().map(|link| format!(", {link}")).unwrap_or_default();
            writeln!(out, "{dialect:<11} {:<28} {verdict}{since}{link}", known.id)?;
            if matches!(fails, Some((Some(false), _))) {
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
    Ok(if stale { crate::FOUND } else { crate::NOTHING_FOUND })
}

fn shown(file: Option<&Path>) -> String {
    file.map(|file| file.display().to_string()).unwrap_or_default()
}
