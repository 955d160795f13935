//! `dissent bisect`: between which versions a finding appeared and vanished, or every finding of a campaign.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::bail;
use dissent_core::dialect::Dialect;
use dissent_core::finding::{Finding, History};
use dissent_core::triage::{Chronicle, Status};

use super::builds::{self, Build};
use super::{check_hang_limit, dating};
use crate::args::BisectArgs;
use crate::campaign::{record, store};

pub fn run(args: BisectArgs) -> anyhow::Result<u8> {
    check_hang_limit(args.hang_limit)?;
    if store::is_campaign(&args.finding) { of_campaign(&args) } else { of_finding(&args) }
}

fn of_finding(args: &BisectArgs) -> anyhow::Result<u8> {
    let directory = record::directory_of(&args.finding)?;
    let mut finding = record::read(&directory)?;
    let versions = versions(args, &finding.dialect)?;
    let names = names(&versions);
    let Some(chronicle) = dating::date(args, &[&finding], &versions)?.pop() else {
        bail!("the finding was not checked; please report this");
    };
    let history = chronicle.history(&names);
    let text = tell(&chronicle, &names, history.as_ref());
    let failed = history.is_some();
    if failed {
        note(&mut finding, history, &directory)?;
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(if failed { crate::FOUND } else { crate::NOTHING_FOUND })
}

/// Every example that is kept.
fn of_campaign(args: &BisectArgs) -> anyhow::Result<u8> {
    let directories = store::example_directories(&args.finding)?;
    let findings = directories.iter().map(|directory| record::read(directory));
    let mut findings: Vec<Finding> = findings.collect::<anyhow::Result<_>>()?;
    let Some(dialect) = findings.first().map(|finding| finding.dialect.clone()) else {
        bail!("the campaign {} has no findings", args.finding.display());
    };
    let versions = versions(args, &dialect)?;
    let names = names(&versions);
    let chronicles = dating::date(args, &findings.iter().collect::<Vec<_>>(), &versions)?;
    let mut dated = 0;
    let mut out = std::io::stdout().lock();
    for (at, (directory, finding)) in directories.iter().zip(&mut findings).enumerate() {
        let history = chronicles[at].history(&names);
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        let text =
            history.as_ref().map_or("No version that was checked fails.".to_string(), history_in_words);
        writeln!(out, "{name}: {text}")?;
        if history.is_some() {
            note(finding, history, directory)?;
            dated += 1;
        }
    }
    writeln!(out, "\n{dated} of {} findings dated", findings.len())?;
    Ok(if dated > 0 { crate::FOUND } else { crate::NOTHING_FOUND })
}

fn history_in_words(history: &History) -> String {
    dissent_core::report::history(history)
}

fn versions(args: &BisectArgs, dialect: &str) -> anyhow::Result<Vec<Build>> {
    match &args.builds {
        Some(builds) => builds::own(dialect, builds),
        None => builds::released(dialect, args.versions.as_deref(), args.installed),
    }
}

fn names(versions: &[Build]) -> Vec<&str> {
    versions.iter().map(|version| version.name.as_str()).collect()
}

fn note(finding: &mut Finding, history: Option<History>, directory: &Path) -> anyhow::Result<()> {
    finding.triage.history = history;
    let dialect = Dialect::load(&finding.dialect, &finding.engine_version)?;
    record::annotate(directory, finding, &dialect)
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
