//! `dissent findings`: the bugs of a campaign.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use dissent_campaign::{Bug, record, store};
use dissent_core::dialect::Dialect;
use dissent_core::finding::Finding;
use dissent_core::reduce::Weight;
use dissent_core::report;
use serde::Serialize;

use super::recheck;
use crate::args::{FindingsArgs, SummaryFormat};
use crate::numbers::{counted, times};
use crate::text::plain;

/// One bug, as it is listed.
#[derive(Serialize)]
struct Line {
    id: String,
    class: String,
    oracle: String,
    statements: usize,
    tokens: usize,
    count: u64,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<String>,
    /// What makes it vanish, and since when it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    /// The known bug or behaviour it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<String>,
    /// Whether the campaign lists it as a bug; otherwise it waits to be reduced, and may be one of those.
    #[serde(skip)]
    listed: bool,
}

pub fn run(args: FindingsArgs) -> anyhow::Result<u8> {
    let campaigns = campaigns(args.campaigns)?;
    if args.recheck {
        return recheck::run(&campaigns, args.target.as_deref(), &args.limits, args.format);
    }
    let mut all = Vec::new();
    let mut out = std::io::stdout().lock();
    for campaign in &campaigns {
        let lines = lines(campaign)?;
        if args.format == SummaryFormat::Text {
            // Campaigns come from elsewhere, too.
            let mut listed = Vec::new();
            print(&lines, campaign, &mut listed)?;
            out.write_all(plain(&String::from_utf8_lossy(&listed)).as_bytes())?;
        }
        all.extend(lines);
    }
    if args.format == SummaryFormat::Json {
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
    }
    Ok(if all.iter().all(|line| line.known.is_some()) { crate::NOTHING_FOUND } else { crate::FOUND })
}

/// Those that are named, or the newest.
pub(super) fn campaigns(named: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    let campaigns = if named.is_empty() { vec![store::newest()?] } else { named };
    if let Some(other) = campaigns.iter().find(|campaign| !store::is_campaign(campaign)) {
        bail!("{} is not a campaign of Dissent; give a directory that `dissent hunt` wrote", other.display());
    }
    Ok(campaigns)
}

fn lines(campaign: &Path) -> anyhow::Result<Vec<Line>> {
    let bugs = bugs(campaign)?;
    let mut lines = Vec::new();
    for directory in store::finding_directories(campaign)? {
        lines.push(line(&directory, &bugs)?);
    }
    lines.sort_by(|a, b| (&a.class, b.count, &a.id).cmp(&(&b.class, a.count, &b.id)));
    Ok(lines)
}

fn print(lines: &[Line], campaign: &Path, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{} in {}", tally(lines), campaign.join("findings").display())?;
    for line in lines {
        let versions = line.known.as_deref().or(line.versions.as_deref()).unwrap_or("");
        writeln!(
            out,
            "{:<16} {:<14} {:>14} {:>12}  seen {:<12} {:<11}  {}  {versions}",
            line.class,
            line.oracle,
            counted(line.statements as u64, "statement"),
            counted(line.tokens as u64, "token"),
            times(line.count),
            line.status,
            line.id
        )?;
        if let Some(cause) = &line.cause {
            writeln!(out, "    {cause}")?;
        }
    }
    Ok(())
}

/// `5 bugs, 2 known bugs, 1 finding still to reduce`: the first is what a hunt says, too.
fn tally(lines: &[Line]) -> String {
    let count = |wanted: fn(&&Line) -> bool| lines.iter().filter(wanted).count() as u64;
    let new = count(|line| line.listed && line.known.is_none());
    let known = count(|line| line.known.is_some());
    let waiting = count(|line| !line.listed && line.known.is_none());
    let mut parts = vec![counted(new, "bug")];
    if known > 0 {
        parts.push(counted(known, "known bug"));
    }
    if waiting > 0 {
        parts.push(format!("{} still to reduce", counted(waiting, "finding")));
    }
    parts.join(", ")
}

fn line(directory: &Path, bugs: &BTreeMap<String, Bug>) -> anyhow::Result<Line> {
    let finding = record::read(directory)?;
    let id = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
    Ok(Line {
        class: finding.evidence.class.to_string(),
        oracle: finding.case.subject.oracle.clone(),
        statements: finding.case.setup.len(),
        tokens: Weight::of(&finding.case, &dialect).tokens,
        count: bugs.get(&id).map_or(1, |bug| bug.count),
        listed: bugs.contains_key(&id),
        known: bugs.get(&id).and_then(|bug| bug.known.clone()),
        status: status(&finding, bugs.get(&id)),
        versions: finding.triage.history.as_ref().map(|history| {
            let until = if history.first_good.is_some() { history.last_bad.as_str() } else { "" };
            format!("{}..{until}", if history.last_good.is_some() { &history.first_bad } else { "" })
        }),
        cause: report::cause(&finding, &dialect),
        signature: finding.triage.signature.map(|signature| signature.to_string()),
        id,
    })
}

fn status(finding: &Finding, bug: Option<&Bug>) -> &'static str {
    match &finding.triage.reduction {
        _ if bug.is_some_and(|bug| bug.known.is_some()) => "known",
        None => "as found",
        Some(note) if note.complete => "reduced",
        Some(_) => "in part",
    }
}

fn bugs(campaign: &Path) -> anyhow::Result<BTreeMap<String, Bug>> {
    Ok(store::read_bugs(campaign)?.into_iter().map(|bug| (bug.id.clone(), bug)).collect())
}
