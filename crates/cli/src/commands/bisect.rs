//! `dissent bisect`: between which versions a finding appeared and vanished, or every finding of a campaign.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::bail;
use dissent_campaign::{
    Build, Config, Observer as _, Remembered, date, date_builds, known_of, own_builds, record, regroup,
    released_versions, store,
};
use dissent_core::dialect::Dialect;
use dissent_core::finding::{Finding, History};
use dissent_core::triage::{Chronicle, Status};

use super::show_script;
use crate::args::BisectArgs;
use crate::numbers::{counted, grouped};
use crate::progress::LiveLine;

pub fn run(args: BisectArgs) -> anyhow::Result<u8> {
    if store::is_campaign(&args.finding) { of_campaign(&args) } else { of_finding(&args) }
}

fn of_finding(args: &BisectArgs) -> anyhow::Result<u8> {
    let directory = record::directory_of(&args.finding)?;
    let mut finding = record::read(&directory)?;
    let versions = versions(args, &finding.dialect)?;
    let names = names(&versions);
    show(&finding, args)?;
    // Files in a directory may be other builds next time; a revision stays what it is.
    let by_revision = args.builds.as_ref().is_some_and(|builds| !Path::new(builds).is_dir());
    let chronicle = match by_revision {
        true => on_revisions(&finding, &directory, &versions, args)?,
        false => match date(&[&finding], &versions, &config(args), &mut LiveLine::new())?.pop() {
            Some(chronicle) => chronicle,
            None => bail!("the finding was not checked; please report this"),
        },
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

/// Builds take long: what they did is kept beside the finding, and not asked again.
fn on_revisions(
    finding: &Finding,
    directory: &Path,
    builds: &[Build],
    args: &BisectArgs,
) -> anyhow::Result<Chronicle> {
    let remembered = Remembered::of(finding, directory)?;
    let mut line = LiveLine::new();
    if remembered.count() > 0 {
        line.note(&format!("{} checked already", counted(remembered.count() as u64, "build")));
    }
    date_builds(finding, builds, &remembered, &config(args), &mut line)
}

/// Dates every example that is kept, and sorts them anew: what has different versions is not one bug.
fn of_campaign(args: &BisectArgs) -> anyhow::Result<u8> {
    let campaign = &args.finding;
    let about = store::read_campaign(campaign)?;
    let directories = store::example_directories(campaign)?;
    if directories.is_empty() {
        bail!("the campaign {} has no findings", campaign.display());
    }
    let findings = directories.iter().map(|directory| record::read(directory));
    let mut findings: Vec<Finding> = findings.collect::<anyhow::Result<_>>()?;
    let versions = versions(args, &about.dialect)?;
    let names = names(&versions);
    findings.iter().try_for_each(|finding| show(finding, args))?;
    let dated: Vec<&Finding> = findings.iter().collect();
    let chronicles = date(&dated, &versions, &config(args), &mut LiveLine::new())?;
    let mut dated = 0;
    for (at, finding) in findings.iter_mut().enumerate() {
        if let Some(history) = chronicles[at].history(&names) {
            note(finding, Some(history), &directories[at])?;
            dated += 1;
        }
    }
    let known = known_of(&about.dialect, &about.engine_version, &[])?;
    let bugs = regroup(campaign, about.config.keep_duplicates, &directories, &findings, &known)?;
    let mut out = std::io::stdout().lock();
    for bug in &bugs {
        let signature = bug.signature.as_ref().map(ToString::to_string);
        let name = bug.known.as_deref().or(signature.as_deref()).unwrap_or("not reduced");
        let versions = bug.versions().unwrap_or_else(|| "not dated".to_string());
        writeln!(out, "{:<28} seen {:>5}  {versions:<18}  {name}", bug.id, bug.count)?;
    }
    writeln!(
        out,
        "\n{} of {} dated; {} to look at; {}",
        grouped(dated),
        counted(findings.len() as u64, "finding"),
        counted(versions.len() as u64, "version"),
        counted(bugs.len() as u64, "bug"),
    )?;
    Ok(if dated > 0 { crate::FOUND } else { crate::NOTHING_FOUND })
}

/// What is about to run.
fn show(finding: &Finding, args: &BisectArgs) -> anyhow::Result<()> {
    let place = match args.builds {
        Some(_) => "your builds".to_string(),
        None => format!("versions of {}", finding.dialect),
    };
    show_script(finding, &place, &Dialect::load(&finding.dialect, &finding.engine_version)?);
    Ok(())
}

fn config(args: &BisectArgs) -> Config {
    let mut config = Config::default();
    config.jobs = args.jobs.map_or(config.jobs, u64::from);
    config.against = args.against.clone();
    args.limits.fill(&mut config);
    config
}

fn versions(args: &BisectArgs, dialect: &str) -> anyhow::Result<Vec<Build>> {
    match &args.builds {
        Some(builds) => own_builds(dialect, builds),
        None => released_versions(dialect, args.versions.as_deref(), args.installed),
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
        let checked = counted(run.len() as u64, "version");
        let _ = writeln!(out, "{word:<12} {range}  ({checked} checked)");
    }
    let Some(history) = history else {
        let _ = writeln!(out, "\nno version that was checked fails");
        return out;
    };
    let _ = writeln!(out, "\n{}", dissent_core::report::history(history));
    out
}
